"""Random mechanisms of everything that the package has obey the laws of mechanics, whichever formulation carries them.

The kinds are dealt like cards, so that a few systems hold all: every joint, curve, surface, coupling, driver and force, in trees and
in loops that close by construction. Rows of velocities go to one hand of each deck, so that every formulation carries the others.
NEXDYN_RANDOM is how many decks are dealt.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import random_systems as made

import nexdyn as nx
from nexdyn.assembly.report import AssemblyReport
from nexdyn.forces import FORCES
from nexdyn.integrate.methods import METHODS, Method
from nexdyn.joints import JOINTS
from nexdyn.model import curves, surfaces
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.driver import DRIVERS

DECKS = int(os.environ.get("NEXDYN_RANDOM", "1"))
"""How often all kinds are dealt; NEXDYN_RANDOM=50 for a long run."""
HANDS = 4
"""Systems that a deck makes."""
DEALT = [(deck, hand) for deck in range(DECKS) for hand in range(HANDS)]
CORE = ("force plane_contact", "force position_actuator", "force point_spring", "curve SplineCurve")
"""What every hand has besides: with the same parts present the same kernels serve all."""
DT, T = 1e-3, 0.1
STEPS = (DT, DT / 4, DT / 16)
"""Where a mechanism passes near a singular pose, the reference says which of these steps resolves it."""
FASTEST = 20.0
"""Speeds [m/s] from which on a mechanism starts too near a singular pose for any step, and its hand is dealt anew: one in eighty."""


class Carrier(NamedTuple):
    """A formulation with a step: how far it may end from `nx.Projection` [m], what its energy balance may miss, its |C|."""

    method: Callable[[float], Method]
    apart: float
    balance: float
    violation: float


EXACT = Carrier(nx.Projection, 0.0, 2e-5, 1e-11)
CARRIERS = {
    "minimal coordinates": Carrier(nx.RungeKutta4, 1e-6, 1e-4, 1e-11),
    "adaptive": Carrier(lambda _: nx.DormandPrince(rtol=1e-9), 1e-5, 1e-3, 1e-11),
    "of low order": Carrier(lambda _: nx.BogackiShampine32(rtol=1e-8), 1e-5, 1e-3, 1e-11),
    "of high order": Carrier(lambda _: nx.DOP853(rtol=1e-9), 1e-5, 1e-3, 1e-11),
    "partitioned": Carrier(nx.Partitioning, 1e-4, 1e-3, 1e-11),
    "Baumgarte": Carrier(nx.Baumgarte, 1e-4, 0.1, 1e-4),
    "HHT": Carrier(lambda dt: nx.HHT(dt=dt), 1e-3, 0.03, 1e-8),
    "potential": Carrier(lambda dt: nx.ImplicitEuler(dt, bdf2=True), 3e-3, 0.03, 1e-8),
}
REFUSES = {
    name: rf"is nonholonomic, which nx\.{type(CARRIERS[name].method(DT)).__name__}\(.*\) does not carry"
    for name in ("partitioned", "potential")
}
"""Formulations that carry no rows of velocities, and what they say."""


@cache
def dealt(deck: int, hand: int, afloat: bool = False) -> nx.System:
    """The system of one hand of a deck."""
    left_out = made.EXTERNAL if afloat else ()
    slipping = [f"joint {kind}" for kind in made.NONHOLONOMIC]
    kinds = [kind for kind in made.KINDS if kind not in (*left_out, *slipping)]
    random.Random(deck).shuffle(kinds)
    hands = [kinds[k::HANDS] for k in range(HANDS)]
    hands[0] = [*hands[0], *slipping]
    for again in range(10):
        rng = np.random.default_rng((deck, hand, afloat, again) if again else (deck, hand, afloat))
        system = made.system_of(rng, [*CORE, *hands[hand]], afloat)
        if np.linalg.norm(nx.assemble(system).v[:, 3:], axis=1).max() < FASTEST:
            break
    return system


def is_nonholonomic(system: nx.System) -> bool:
    return any(joint.kind in made.NONHOLONOMIC for joint in system.joints.values())


def violation(report: AssemblyReport, result: nx.Result) -> float:
    """The largest |C| at the samples, from the poses alone."""
    model, q, worst = report.model, report.model.q.copy(), 0.0
    seen = [
        np.stack([getattr(result, x)(b).values for b in result.system.bodies], 1) for x in ("orientation", "position")
    ]
    for n, t in enumerate(result.recording.t):
        q[1:, :4], q[1:, 4:] = seen[0][n], seen[1][n]
        worst = max(worst, float(np.abs(model.residual(q, float(t))).max(initial=0.0)))
    return worst


def positions(result: nx.Result) -> np.ndarray:
    """Of all bodies at the end (bodies, 3)."""
    return np.stack([result.position(name)[-1].values for name in result.system.bodies])


def balance(result: nx.Result) -> float:
    """Largest change of T + V + U − ∫ P dt, beside the energy that moved; what the quadrature may miss is taken off."""
    energies = {name: result.observed.energies[f"{name}_energy"] for name in ("kinetic", "total")}
    work, missed = made.work(result)
    moved = max(float(np.ptp(x)) for x in (energies["kinetic"], energies["total"], work)) + float(
        energies["kinetic"].max()
    )
    return max(0.0, float(np.ptp(energies["total"] - work)) - missed) / max(moved, 1e-2)


def check_invariants(name: str, carrier: Carrier, report: AssemblyReport, result: nx.Result) -> None:
    quaternions = result.orientation().values
    assert np.abs(np.linalg.norm(quaternions, axis=-1) - 1.0).max() < 1e-12, name
    assert violation(report, result) < carrier.violation, name
    assert balance(result) < carrier.balance, name


# --- the deck -------------------------------------------------------------------------------------------------------


def public(module: Any, base: type) -> set[str]:
    """The classes of a module that derive from `base`."""
    return {
        name
        for name, cls in vars(module).items()
        if isinstance(cls, type) and issubclass(cls, base) and cls is not base
    }


def test_no_type_of_the_package_is_left_out() -> None:
    """A new joint, curve, surface, coupling, driver, force or method belongs into `random_systems` or `CARRIERS`."""
    of_shapes = {"point_on_curve", "point_on_surface"}  # one card a shape
    assert set(made.CONSTRAINTS) | set(made.TREE) | of_shapes == set(JOINTS)
    assert set(made.CURVES) == public(curves, curves.Curve)
    assert set(made.SURFACES) == public(surfaces, surfaces.Surface)
    assert (set(made.COUPLINGS), set(made.DRIVERS), set(made.FORCES)) == (set(COUPLINGS), set(DRIVERS), set(FORCES))
    assert set(made.POWER) == set(FORCES)
    of_order_1 = {nx.ExplicitEuler, nx.SemiImplicitEuler}
    assert {type(c.method(DT)) for c in CARRIERS.values()} | of_order_1 | {nx.Projection} == set(METHODS.values())


def test_the_deck_holds_every_type() -> None:
    held: set[str] = set()
    for hand in range(HANDS):
        system = dealt(0, hand)
        for section, what in (
            ("joints", "joint"),
            ("couplings", "coupling"),
            ("drivers", "driver"),
            ("forces", "force"),
        ):
            held |= {f"{what} {element.kind}" for element in getattr(system, section).values()}
        for joint in system.joints.values():
            held |= {
                f"{what} {type(vars(joint)[what]).__name__}" for what in ("curve", "surface") if what in vars(joint)
            }
    assert held >= set(made.KINDS)


# --- the laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("deck", "hand"), DEALT)
def test_random_systems_keep_their_laws_in_every_formulation(deck: int, hand: int) -> None:
    system = dealt(deck, hand)
    report = nx.assemble(system)
    assert report.redundancy.dof > 0 and np.abs(report.model.residual(report.model.q)).max() < 1e-9
    for dt in STEPS:
        exact = nx.simulate(system, T, nx.Projection(dt), initial=report)
        if balance(exact) < EXACT.balance:
            break
    check_invariants("projection", EXACT, report, exact)
    end = positions(exact)
    for name, carrier in CARRIERS.items():
        if name in REFUSES and is_nonholonomic(system):
            with pytest.raises(nx.InputError, match=REFUSES[name]):
                nx.simulate(system, T, carrier.method(dt), initial=report)
            continue
        try:
            check_carrier(name, carrier, dt, report, end)
        except AssertionError:  # what a step that is too long misses, a shorter one does not
            check_carrier(name, carrier, dt / 4, report, end)


def check_carrier(name: str, carrier: Carrier, dt: float, report: AssemblyReport, end: np.ndarray) -> None:
    """A formulation keeps the laws with the step dt, and brings the bodies to `end`."""
    result = nx.simulate(report.model.system, T, carrier.method(dt), initial=report)
    check_invariants(name, carrier, report, result)
    assert np.abs(positions(result) - end).max() < carrier.apart, name


@pytest.mark.parametrize("deck", range(DECKS))
def test_open_trees_under_all_forces_move_alike_however_accelerations_are_found(deck: int) -> None:
    rng = np.random.default_rng((deck, 7))
    system = made.system_of(rng, [f"force {kind}" for kind in rng.permutation(list(made.FORCES))])
    results = [nx.simulate(system, T, nx.RungeKutta4(DT), dynamics=way) for way in ("aba", "crba", "cfa")]  # type: ignore[call-overload]
    for result in results:
        assert balance(result) < 1e-4
        np.testing.assert_allclose(positions(result), positions(results[0]), atol=1e-9)


@pytest.mark.filterwarnings("ignore:contact .* starts")  # afloat, some points are dealt below the plane
@pytest.mark.parametrize(("deck", "hand"), DEALT)
def test_what_floats_keeps_its_momentum_whatever_acts_inside(deck: int, hand: int) -> None:
    system = dealt(deck, hand, afloat=True)
    report = nx.assemble(system)
    for method, kept in ((nx.RungeKutta4(DT), 1e-7), (nx.Projection(DT), 1e-7), (nx.HHT(dt=DT), 1e-4)):
        result = nx.simulate(system, T, method, initial=report)
        linear, angular = momenta(result)
        size = 1.0 + np.abs(linear).max() + np.abs(angular).max()
        for momentum in (linear, angular):
            assert np.abs(momentum - momentum[0]).max() < kept * size, method


def momenta(result: nx.Result) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the world's origin (N, 3)."""
    linear, angular = np.zeros((2, len(result.recording.t), 3))
    for name, body in result.system.bodies.items():
        solid = body.resolved(result.system.values)
        R, w = result.rotation(name).values, result.angular_velocity(name).values
        arm = R @ solid.com
        p, v = result.position(name).values + arm, result.velocity(name).values + np.cross(w, arm)
        linear += solid.mass * v
        angular += np.cross(p, solid.mass * v) + np.einsum("nij,jk,nlk,nl->ni", R, solid.inertia, R, w)
    return linear, angular


@pytest.mark.parametrize(("deck", "hand"), DEALT)
def test_rows_said_twice_change_no_motion(deck: int, hand: int) -> None:
    plain = dealt(deck, hand)
    rng = np.random.default_rng((deck, hand, 3))
    more = dealt.__wrapped__(deck, hand)
    twice = [name for name, joint in plain.joints.items() if joint.kind != "free"]
    for name in rng.choice(twice, 3, replace=False):
        more.add_joint(made.again(plain, str(name)))
    reports = [nx.assemble(plain)]
    start = nx.simulate(plain, DT, nx.Projection(DT), initial=reports[0])  # rows chosen otherwise would start otherwise
    moving = [name for name, joint in plain.joints.items() if joint.nv]
    reports.append(nx.assemble(more, v0={name: start.joint_velocity(name)[0].values for name in moving}))
    rows = [report.redundancy for report in reports]
    assert rows[0].dof == rows[1].dof
    assert len(rows[1].redundant) - len(rows[0].redundant) == rows[1].constraints - rows[0].constraints > 0
    for method, apart in ((nx.HHT(dt=DT), 1e-6), (nx.Projection(DT), 1e-8), (nx.RungeKutta4(DT), 1e-8)):
        results = [nx.simulate(s, T, method, initial=r) for s, r in zip((plain, more), reports, strict=True)]
        np.testing.assert_allclose(positions(results[0]), positions(results[1]), atol=apart)

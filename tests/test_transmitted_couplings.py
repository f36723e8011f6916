"""What a joint transmits holds the effort of what ties it: of every coupling of the registry, on trees and on loops, under every method.

The oracle is Newton's and Euler's law of each body: m (a_C − g) and the rate of its angular momentum are the sums of what its joints
transmit. It holds only where efforts of couplings count in the joints that they tie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from systems import solid, somewhere, unit

import nexdyn as nx
from nexdyn.joints import JOINTS
from nexdyn.model.coupling import COUPLINGS

DT, T_END = 1e-3, 0.02
WITH_COORDINATES = {kind: cls for kind, cls in JOINTS.items() if cls.coordinates}
METHODS = {
    "rk4": nx.RungeKutta4(DT), "explicit": nx.ExplicitEuler(DT), "semi-implicit": nx.SemiImplicitEuler(DT),
    "dopri": nx.DormandPrince(rtol=1e-8), "hht": nx.HHT(dt=DT), "adaptive": nx.HHT(rtol=1e-6), "euler": nx.ImplicitEuler(DT),
    "bdf2": nx.ImplicitEuler(DT, bdf2=True), "projection": nx.Projection(dt=DT), "baumgarte": nx.Baumgarte(dt=DT),
    "partitioning": nx.Partitioning(dt=DT),
}  # fmt: skip
MISSED = {"hht": 1e-6, "adaptive": 1e-5, "euler": 2e-2, "bdf2": 2e-2}
"""By what part of the largest load the law is missed; 1e-8 of the others, whose accelerations are those of the efforts told."""


def every_coordinate(system: nx.System, *joints: str) -> dict[tuple[str, int], float]:
    """Coefficients of all coordinates of joints."""
    found = [(name, freedom) for name in joints for freedom in range(len(system.joint(name).coordinates))]
    return {place: (-1) ** n * (0.6 + 0.2 * n) for n, place in enumerate(found)}


def tied(system: nx.System, kind: str, first: str, other: str) -> None:
    """Tie two joints by a coupling of this kind."""
    if kind == "sum":
        system.add_coupling(nx.Coupling("tie", every_coordinate(system, first, other)))
    elif kind == "gear":
        system.add_coupling(nx.Gear("tie", first, other, ratio=-1.5))
    elif kind == "rack_and_pinion":
        system.add_coupling(nx.RackAndPinion("tie", first, other, radius=0.4))
    else:
        assert kind == "mimic"


KINDS = {"sum": "universal", "gear": "revolute", "rack_and_pinion": "prismatic", "mimic": "helical"}
"""Each kind of coupling, and one of joint that it ties to a revolute one."""
assert set(KINDS) == {*COUPLINGS, "mimic"}, "a kind of coupling that is not here"


def body(system: nx.System, rng: np.random.Generator, name: str) -> nx.Body:
    return system.add_body(name, **solid(rng), **somewhere(rng))


def join(
    system: nx.System, rng: np.random.Generator, kind: str, name: str, parent: Any, child: Any, **options: Any
) -> None:
    where = {"at": rng.normal(size=3), "axis": unit(rng, 3), "reference": unit(rng, 3)}
    own: dict[str, Any] = {"pitch": 0.3} if kind == "helical" else {}
    if kind == "revolute_prismatic":
        own = {"slide": unit(rng, 3)}
    system.add_joint(JOINTS[kind](name, parent, child, **where, **own, **options))


def tree(coupling: str) -> nx.System:
    """A chain whose second and fourth joint are tied, or all of one of all kinds of joints."""
    rng = np.random.default_rng(5)
    system = nx.System(f"tree, {coupling}", gravity=(1.0, -9.0, 3.0))
    kinds = ["revolute", KINDS[coupling], "prismatic", "revolute"]
    if coupling == "sum":
        kinds = [kind for kind, cls in WITH_COORDINATES.items() if cls.tree]
    before: Any = system.ground
    for i, kind in enumerate(kinds):
        child = body(system, rng, f"b{i}")
        mimic = {"mimic": nx.Mimic("j3", multiplier=-0.7)} if coupling == "mimic" and i == 1 else {}
        follower = 1 if coupling == "mimic" else 3
        speed = {} if coupling == "sum" or i == follower else {"v0": 0.3 + 0.1 * i}
        join(system, rng, kind, f"j{i}", before, child, **mimic, **speed)
        before = child
    if coupling == "sum":
        system.add_coupling(nx.Coupling("tie", every_coordinate(system, *system.joints)))
    else:
        tied(system, coupling, "j3", "j1")
    return system


def loop(closer: str, coupling: str = "sum", cut: str = "closer") -> nx.System:
    """Seven joints of one degree of freedom in a ring that another joint closes, which is tied to the first. Joints point towards `cut`
    from both sides."""
    rng = np.random.default_rng(7)
    system = nx.System(f"loop, {closer}, {coupling}", gravity=(1.0, -9.0, 3.0))
    bodies = [system.ground, *(body(system, rng, f"b{i}") for i in range(7))]
    kinds = ("revolute", "revolute", "prismatic", "revolute", "revolute", "helical", "revolute")
    backward = False
    for i, kind in enumerate(kinds):
        ends = bodies[i : i + 2]
        join(system, rng, kind, f"j{i}", *(reversed(ends) if backward else ends))
        backward = backward or cut == f"j{i}"
    mimic = {"mimic": nx.Mimic("j0", multiplier=-0.7)} if coupling == "mimic" else {}
    join(system, rng, closer, "closer", system.ground, bodies[-1], **mimic)
    tied(system, coupling, "j0", "closer")
    return system


def laws_hold(result: nx.Result, part: float) -> None:
    """Newton's and Euler's, of all bodies at all samples."""
    system = result.system
    left, right = [], []
    for name, one in system.bodies.items():
        own = one.resolved(system.values)
        R, w, w_dot = (
            getattr(result, x)(name).values for x in ("rotation", "angular_velocity", "angular_acceleration")
        )
        r = R @ np.asarray(own.com)
        a = result.acceleration(name).values + np.cross(w_dot, r) + np.cross(w, np.cross(w, r))
        J = R @ np.asarray(own.inertia).reshape(3, 3) @ R.transpose(0, 2, 1)
        L_dot = np.einsum("nij,nj->ni", J, w_dot) + np.cross(w, np.einsum("nij,nj->ni", J, w))
        force = float(own.mass) * (a - np.asarray(system.gravity))
        left.append(np.hstack([force, L_dot + np.cross(r, force)]))
        loads = [
            result.transmitted(joint.name, on=name, at=name, frame="world").values
            for joint in system.joints.values()
            if name in (joint.parent.name, joint.child.name)
        ]
        right.append(np.sum(loads, axis=0))
    size = max(np.abs(right).max(), np.abs(left).max())
    assert_allclose(right, left, atol=part * size)


def alike(found: nx.Result, wanted: nx.Result, part: float) -> None:
    """What the joints transmit and react with at the start."""
    for joint in found.system.joints:
        for told in ("transmitted", "reaction"):
            here, there = (getattr(result, told)(joint).values[0] for result in (found, wanted))
            assert_allclose(
                here, there, atol=part * np.abs(wanted.transmitted().values[0]).max(), err_msg=f"{told} {joint}"
            )


def effort_counts(result: nx.Result, *joints: str) -> None:
    for joint in joints:
        assert np.abs(result.transmitted(joint) - result.reaction(joint)).max() > 1e-3


def told_by_report(system: nx.System, wanted: nx.Result) -> None:
    report = nx.assemble(system)
    size = np.abs(wanted.transmitted().values[0]).max()
    for joint in system.joints:
        assert_allclose(
            np.concatenate(report.transmitted(joint)),
            wanted.transmitted(joint).values[0],
            atol=1e-8 * size,
            err_msg=joint,
        )


@pytest.mark.parametrize("coupling", KINDS)
def test_on_trees_all_methods_tell_the_same(coupling: str) -> None:
    wanted = nx.simulate(tree(coupling), T_END, METHODS["rk4"])
    effort_counts(wanted, *(["j1", "j3"] if coupling != "sum" else wanted.system.joints))
    told_by_report(wanted.system, wanted)
    for name, method in METHODS.items():
        found = nx.simulate(tree(coupling), T_END, method)
        laws_hold(found, MISSED.get(name, 1e-8))
        alike(found, wanted, 2e-2 if name in ("euler", "bdf2") else 1e-6)


LOOPS = [("sum", kind) for kind in WITH_COORDINATES] + [(kind, joint) for kind, joint in KINDS.items() if kind != "sum"]


@pytest.mark.parametrize(("coupling", "closer"), LOOPS)
def test_on_loops_it_is_the_same_wherever_they_are_cut(coupling: str, closer: str) -> None:
    for cut in ("closer", "j0", "j3") if JOINTS[closer].tree else ("closer",):
        system = loop(closer, coupling, cut)
        wanted = nx.simulate(system, T_END, nx.Projection(dt=DT))
        laws_hold(wanted, 1e-8)
        effort_counts(wanted, "j0", "closer")
        told_by_report(system, wanted)
        found = nx.simulate(system, T_END, nx.RungeKutta4(DT), loops=nx.Loops(cut=[cut]))
        assert found.recording.settings["cut"] == [cut]
        laws_hold(found, 1e-8)
        alike(found, wanted, 1e-8)


@pytest.mark.parametrize("closer", ["cylindrical", "revolute_prismatic"])
def test_on_loops_all_methods_tell_the_same(closer: str) -> None:
    wanted = nx.simulate(loop(closer), T_END, METHODS["rk4"])
    for name, method in METHODS.items():
        found = nx.simulate(loop(closer), T_END, method)
        laws_hold(found, MISSED.get(name, 1e-8))
        alike(found, wanted, 2e-2 if name in ("euler", "bdf2") else 1e-6)

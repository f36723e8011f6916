"""nx.ImplicitEuler: the wrench −Cqᵀ λ/dt² of every joint, and the efforts of couplings and drivers, beside HHT-α as dt → 0."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.joints import JOINTS

WITH_NUMBERS = {
    "point_on_curve", "point_on_surface", "user_constraint", "rolling_disk", "rolling_sphere", "knife_edge", "velocity_constraint",
}  # fmt: skip
"""Joints whose rows read numbers of their own: curves, surfaces, functions (below); or hold velocities, which potentials cannot."""
KINDS = [kind for kind in JOINTS if JOINTS[kind].rows and kind not in WITH_NUMBERS]


def all_joints() -> nx.System:
    """For every joint a tilted pendulum that carries a body by it; gears, a rack and a driver beside."""
    rng = np.random.default_rng(11)
    system = nx.System("all joints", gravity=(1.0, -9.81, 2.0))
    for i, kind in enumerate(KINDS):
        away = np.array([0.0, 0.0, 3.0 * i])
        a = system.add_body(f"a {kind}", position=away + np.array([0.4, 0, 0]), **systems.solid(rng))
        b = system.add_body(f"b {kind}", position=away + np.array([1.0, 0.1, 0.2]), **systems.solid(rng))
        system.add_joint(nx.Revolute(f"hinge {kind}", "ground", a, at=away, axis=(0.1, 0.2, 1)))
        where = {"at": away + np.array([0.7, 0, 0]), "axis": systems.unit(rng, 3), "reference": systems.unit(rng, 3)}
        if kind == "revolute_spherical":
            where = {"anchor_a": (0.3, 0.1, 0), "anchor_b": (-0.2, 0, 0.1), "axis_a": (1, 0.2, 3)}
        elif kind == "rod":
            where = {"anchor_a": (0.3, 0.1, 0), "anchor_b": (-0.2, 0, 0.1)}
        elif kind == "perpendicular":
            axis = systems.unit(rng, 3)
            where = {"axis_a": axis, "axis_b": np.cross(axis, systems.unit(rng, 3))}
        elif kind == "helical":
            where["pitch"] = 0.2
        elif kind == "general":
            where["free"] = ("y", "rx", "rz")
        elif kind == "revolute_prismatic":
            where["slide"] = (1, 2, 3)
        system.add_joint(JOINTS[kind](kind, a, b, **where))
    for i, cls in enumerate((nx.Revolute, nx.Revolute, nx.Prismatic, nx.Cylindrical)):
        at = (0.0, 3.0 + i, 0.0)
        body = system.add_body(f"wheel{i}", position=(0.2, 3.0 + i, 0.0), **systems.solid(rng))
        system.add_joint(cls(f"axle{i}", "ground", body, at=at, axis=(1, 0, 1) if i == 2 else (0, 0.1, 1)))
    system.add_coupling(nx.Gear("gear", "axle0", "axle1", ratio=-2.0))
    system.add_coupling(nx.RackAndPinion("rack", "axle1", "axle2", radius=0.3))
    system.add_coupling(nx.Coupling("screw", {("axle3", 0): 0.1, ("axle3", 1): 1.0}))
    system.add_driver(nx.Driver("motor", f"hinge {KINDS[0]}", nx.Harmonic(0.2, 3.0)))
    return system


def loads(result: nx.Result) -> dict[str, np.ndarray]:
    """What every joint, coupling and driver carries at the end."""
    found = {name: result.reaction(name).values[-1] for name in result.system.joints}
    return found | {
        name: result.effort(name).values[-1:] for name in [*result.system.couplings, *result.system.drivers]
    }


def beside(found: dict[str, np.ndarray], exact: dict[str, np.ndarray]) -> dict[str, float]:
    """The largest difference of each load, beside its size."""
    return {k: float(np.abs(found[k] - x).max() / max(1.0, np.abs(x).max())) for k, x in exact.items()}


def tracks() -> nx.System:
    """A bead on a circle that swings itself, one on a ball, one on a row of the user's that moves by the time."""
    rng = np.random.default_rng(5)
    system = nx.System("tracks", gravity=(1.0, -2.0, -9.81))
    ring = nx.ExpressionCurve("=0.5*sin(s)", 0.0, "=-0.5*cos(s)", "=-pi", "=pi", closed=True)
    a, b, c, d = (system.add_body(n, position=p, **systems.solid(rng)) for n, p in zip(
        "abcd", ((0, 0, -0.3), (0.5 * math.sin(1.0), 0, -0.5 * math.cos(1.0)), (2.4, 0, 0.3), (4.2, 0, 0)), strict=True
    ))  # fmt: skip
    system.add_joint(nx.Revolute("hinge", system.ground, a, at=(0, 0, 0), axis=(0.2, 1, 0.1)))
    system.add_joint(nx.PointOnCurve("curve", a, b, curve=ring, anchor_a=(0, 0, 0.3)))
    system.add_joint(nx.PointOnSurface("surface", "ground", c, surface=nx.SphereSurface(0.5), anchor_a=(2, 0, 0)))
    row = numba.njit(lambda t, x, R: x[0] - 0.2 - 0.3 * np.sin(2 * t) + 0.4 * x[1] * x[2])
    system.add_joint(nx.UserConstraint("user", "ground", d, row, anchor_a=(4, 0, 0)))
    return system


def in_their_order(system: nx.System, wanted: set[str]) -> None:
    """What joints carry after 0.1 s tends to what HHT finds, in order 1, and 2 with BDF2."""
    coarse, exact = (loads(nx.simulate(system, 0.1, nx.HHT(dt=dt), output_every=10**9)) for dt in (4e-4, 2e-4))
    doubt = beside(coarse, exact)
    carried = [name for name, load in exact.items() if np.abs(load).max() > 1e-3]
    assert wanted <= set(carried)
    for bdf2, order, off in ((False, 1, 0.1), (True, 2, 2e-3)):
        runs = (nx.simulate(system, 0.1, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=10**9) for dt in (2e-3, 1e-3))
        before, after = (beside(loads(run), exact) for run in runs)
        seen = [name for name in carried if after[name] > 10 * doubt[name] + 1e-7]
        assert len(seen) > len(carried) // 2
        for name in carried:
            assert after[name] < off + doubt[name], name
        for name in seen:
            assert math.log2(before[name] / after[name]) == pytest.approx(order, abs=0.3), name


def test_every_joint_carries_what_it_carries_in_absolute_coordinates_in_the_order_of_the_method() -> None:
    in_their_order(all_joints(), set(KINDS) | {"gear", "rack", "screw", "motor"})


@pytest.mark.slow  # kernels with these rows are compiled apart
def test_curves_surfaces_and_rows_of_users_carry_what_they_carry_in_absolute_coordinates() -> None:
    in_their_order(tracks(), {"hinge", "curve", "surface", "user"})


# --- where steps change -------------------------------------------------------------------------------------------------


def pendulum() -> nx.System:
    """1 kg, 2 m from a hinge about y, that swings at once."""
    system = nx.System("pendulum")
    body = system.add_body("b", mass=1.0, inertia=(0.04, 0.1, 0.1), position=(2, 0, 0))
    system.add_joint(nx.Revolute("j", "ground", body, at=(0, 0, 0), axis=(0, 1, 0), v0=3.0))
    return system


def errors_of(result: nx.Result) -> tuple[np.ndarray, np.ndarray]:
    """(N,) of the reaction and (N,) of the acceleration, in parts of what they are at most."""
    exact = nx.simulate(result.system, result.t[-1], nx.DormandPrince(1e-11, 1e-13), output_times=result.t)
    miss = []
    for what, name in (("reaction", "j"), ("acceleration", "b")):
        expected, found = getattr(exact, what)(name).values, getattr(result, what)(name).values
        miss.append(np.abs(found - expected).max(axis=1) / np.abs(expected).max())
    return miss[0], miss[1]


@pytest.mark.parametrize(("bdf2", "factor"), [(False, 8.0), (True, 60.0)], ids=["Euler", "BDF2"])
@pytest.mark.parametrize("where", ["off the grid", "first steps", "after an event"])
def test_what_a_step_of_another_length_records_converges(bdf2: bool, factor: float, where: str) -> None:
    worst = []
    for dt in (1e-2, 1e-3):
        system = pendulum()
        if where == "after an event":
            system.add_event(nx.Event("look", time=0.12345))
        times = np.linspace(0.0, 1.0, 11) * 0.99973 if where == "off the grid" else None
        result = nx.simulate(
            system, 1.0 if times is not None else 0.3, nx.ImplicitEuler(dt, bdf2=bdf2), output_times=times
        )
        worst.append([float(miss.max()) for miss in errors_of(result)])
    for coarse, fine in zip(*worst, strict=True):
        assert fine < coarse / factor, worst
        # BDF2 begins again at an event, so that its error depends on where the steps that locate it lie
        assert fine < (1.2e-4 if bdf2 else 0.03), worst

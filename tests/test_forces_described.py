"""Forces on their way into kernels: descriptions checked, tables, lanes, the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from forces_lab import IN_LANES, Bench, Motion, X, Y, act, act_in_joint, stored, tables_of, two_bodies

from nexdyn.errors import InputError, UnknownNameError
from nexdyn.forces import (
    FORCES,
    AppliedForce,
    Bushing,
    ForceTable,
    JointForce,
    PointSpring,
    TorsionSpring,
    UserForce,
    UserJointForce,
)
from nexdyn.forces.kinds import JOINT_FORCE
from nexdyn.model.force import Force
from nexdyn.model.functions import Harmonic
from nexdyn.spatial.lanes import LANES, LaneTable, LaneVector

# --- descriptions -------------------------------------------------------------------------------------------------


def test_every_force_is_registered_under_its_kind() -> None:
    assert list(FORCES) == ["applied", "joint_force", "point_spring", "torsion_spring", "bushing", "force_table",
                            "plane_contact", "sphere_contact", "user", "user_joint_force", "position_actuator", "velocity_actuator",
                            "torque_actuator", "controller", "joint_stop", "joint_friction", "point_gravity", "gravity_field"]  # fmt: skip


def test_parameters_change_a_force_without_rebuilding() -> None:
    system = two_bodies()
    system.parameter("k", 2.0)
    system.add_force(PointSpring("spring", "a", "b", stiffness="=10*k", length=1.0))
    system.add_force(JointForce("motor", "turn", "=k*sin(t)"))
    system.add_force(AppliedForce("push", "a", ("=k", 0, 0)))
    changed = system.with_parameters({"k": 3.0, "spring.length": 0.5, "push.torque": (1, "=k*t", 0)})
    assert system.force("spring").data(system.values) == [20.0, 0.0, 1.0, 0.0]
    assert changed.force("spring").data(changed.values) == [30.0, 0.0, 0.5, 0.0]
    assert changed.force("push").data(changed.values)[:4] == [1.0, 0.0, 1.0, 3.0]
    motor = Bench(JointForce("other", "turn", "=k*sin(t)"), changed)
    assert motor.in_joint(0.0, t=0.5)[0] == 3.0 * np.sin(0.5)


def bad(make: Callable[[], Force], message: str, error: type[InputError] = InputError) -> Any:
    return pytest.param(make, message, error, id=message)


ONES = ((1.0,) * 6,) * 6


@pytest.mark.parametrize(("make", "message", "error"), [
    bad(lambda: PointSpring("f", "a", "bb"), "force 'f': no marker or body 'bb'; did you mean 'b'?", UnknownNameError),
    bad(lambda: PointSpring("f", "a", "a"), "force 'f' acts from body 'a' on itself"),
    bad(lambda: PointSpring("f", "a", "b", damping=-1), "damping of force 'f' is -1; it must be 0 or more"),
    bad(lambda: PointSpring("f", "a", "b", length=-1), "length of force 'f' is -1"),
    bad(lambda: PointSpring("f", "a", "b", stiffness=float("nan")), "stiffness of force 'f' is nan"),
    bad(lambda: PointSpring("f", "a", "b", stiffness="1e3"), "stiffness of force 'f' is the text"),
    bad(lambda: PointSpring("f", "a", "b", anchor_a=(0, 0)), "anchor_a of force 'f' has 2 components"),
    bad(lambda: PointSpring("f", "a", "b", anchor_b=(0, 0, 0), at_b=(0, 0, 0)), "anchor_b (in the body) and at_b"),
    bad(lambda: PointSpring("f", "a", 3), "3 is neither an element of the system nor the name of one"),
    bad(lambda: TorsionSpring("f", "a", "b", stiffness="=K"), "no parameter 'K'", UnknownNameError),
    bad(lambda: Bushing("f", "a", "b", stiffness=1.0), "stiffness of force 'f' is 1.0; six numbers or a 6×6 matrix"),
    bad(lambda: Bushing("f", "a", "b", stiffness=(1.0,) * 5), "has 5 entries"),
    bad(lambda: Bushing("f", "a", "b", stiffness=(1, 1, 1, 1, 1, -1)), "must be 0 or more"),
    bad(lambda: Bushing("f", "a", "b", stiffness=np.triu(ONES)), "not symmetric: [0][1] is 1, [1][0] is 0"),
    bad(lambda: Bushing("f", "a", "b", stiffness=ONES, damping=-np.array(ONES)), "it would create energy"),
    bad(lambda: AppliedForce("f", "c", (1, 0, 0)), "force 'f': no marker or body 'c'", UnknownNameError),
    bad(lambda: AppliedForce("f", "a", (1, 0)), "force of force 'f' has 2 components; 3 are needed"),
    bad(lambda: AppliedForce("f", "a", 1.0), "force of force 'f' is 1.0; three components are needed"),
    bad(lambda: AppliedForce("f", "a", (0, 0, "t")), "component 2"),
    bad(lambda: AppliedForce("f", "a", (0, 0, "=q*t")), "no parameter 'q'", UnknownNameError),
    bad(lambda: AppliedForce("f", "a", expressed_in="wrld"), "did you mean 'world'", UnknownNameError),
    bad(lambda: AppliedForce("f", "a", at=(0, 0, float("inf"))), "at of force 'f'"),
    bad(lambda: JointForce("f", "trun"), "force 'f': no joint 'trun'; did you mean 'turn'?", UnknownNameError),
    bad(lambda: JointForce("f", "turn", freedom=1), "freedom of force 'f' is 1; joint 'turn', revolute, has degree of freedom 0"),
    bad(lambda: JointForce("f", "free a", freedom=True), "freedom of force 'f' is True"),
    bad(lambda: JointForce("f", "turn", "=1/0"), "effort of force 'f'"),
    bad(lambda: ForceTable("f", "a", deflections=(0, 1), forces=(0, 1)), "give a and b, or joint"),
    bad(lambda: ForceTable("f", "a", "b", joint="turn", deflections=(0, 1), forces=(0, 1)), "give a and b, or joint"),
    bad(lambda: ForceTable("f", "a", "b", deflections=(0, 1, 1), forces=(0, 1, 2)), "but [2] = 1 follows [1] = 1"),
    bad(lambda: ForceTable("f", "a", "b", deflections=(0, 1), forces=(0, 1, 2)), "2 deflections and 3 forces"),
    bad(lambda: ForceTable("f", "a", "b", deflections=(0,), forces=(0,)), "2 or more, are needed"),
    bad(lambda: ForceTable("f", "a", "b", deflections=(0, 1), forces=(0, "x")), "forces of force 'f'[1]"),
    bad(lambda: ForceTable("f", "a", "b", deflections=(0, 1), forces=(0, 1), interpolation="c"), "interpolation of"),
    bad(lambda: ForceTable("f", joint="free a", deflections=(0, 1), forces=(0, 1)), "it turns by a quaternion"),
    bad(lambda: ForceTable("f", joint="turn", deflections=(0, 1), forces=(0, 1), at_a=(0, 0, 0)), "has no points"),
    bad(lambda: UserForce("f", "a", function=3), "function of force 'f' is 3; a function (t, A, B, out) is needed"),
    bad(lambda: UserJointForce("f", "turn", None), "function of force 'f' is None; a function (t, q, v) is needed"),
    bad(lambda: UserJointForce("f", "free b", abs), "it turns by a quaternion"),
])  # fmt: skip
def test_a_wrong_description_is_refused_by_name(
    make: Callable[[], Force], message: str, error: type[InputError]
) -> None:
    system = two_bodies()
    with pytest.raises(error) as raised:
        system.add_force(make())
    assert message in str(raised.value)
    assert not system.forces


# --- tables, lanes, interpreted -----------------------------------------------------------------------------------


def test_tables_say_who_acts_where() -> None:
    system = two_bodies()
    system.add_force(PointSpring("spring", "b", "ground", stiffness=3.0, length=1.0, anchor_a=(1, 2, 3)))
    system.add_force(JointForce("motor", "free b", 5.0, freedom=2))
    system.add_force(AppliedForce("push", "a", (1, 2, 3)))
    tables = tables_of(system)
    assert tables.index[:, 1:3].tolist() == [[2, 0], [0, 0], [1, 0]]
    assert tables.index[1].tolist() == [JOINT_FORCE, 0, 0, 4, 3, 8, 9, 0, 0, 0, 0]
    assert tables.index[[0, 2], 5].tolist() == [-1, -1]
    first, count = tables.index[2, 3:5]
    assert first + count == len(tables.data)
    assert tables.data[first:].tolist() == [1.0, 0, 1, 1, 0, 1, 2, 0, 1, 3, 0, 1, 0, 0, 1, 0, 0, 1, 0]
    assert tables.frames[0].tolist() == [*np.eye(3).ravel(), 1, 2, 3, *np.eye(3).ravel(), 0, 0, 0]


def test_a_system_without_forces_has_empty_tables() -> None:
    tables = tables_of(two_bodies())
    assert (tables.index.shape, tables.frames.shape, tables.data.shape) == ((0, 11), (0, 24), (0,))


@pytest.mark.parametrize("make", IN_LANES.values(), ids=IN_LANES.keys())
def test_eight_lanes_agree_with_one_system_after_the_other(make: Callable[[], Force], rng: np.random.Generator) -> None:
    bench = Bench(make())
    motions = [Motion.random(rng) for _ in range(LANES)]
    motions[0] = motions[0]._replace(p=0.0 * motions[0].p)  # coincident, in one lane
    lanes = LaneTable.of(np.array([m.row() for m in motions]))
    out, energy = LaneTable.of(np.zeros((2, 6))), LaneTable.of(np.zeros((1, 1)))
    act(bench.tables, 0, 0.7, lanes, out)
    stored(bench.tables, 0, lanes, energy)
    for m, F, U in zip(motions, out.systems(), energy.systems(), strict=True):
        expected = bench.forces(m, t=0.7)
        assert np.abs(F - expected).max() < 1e-12 * (1.0 + np.abs(expected).max())
        assert U[0, 0] == pytest.approx(bench.energy(m), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("make", [
    lambda: JointForce("f", "turn", Harmonic(1.0, 2.0)),
    lambda: ForceTable("f", joint="turn", deflections=X, forces=Y, interpolation="natural", damping=0.4),
])  # fmt: skip
def test_eight_lanes_agree_in_joints(make: Callable[[], Force], rng: np.random.Generator) -> None:
    bench, states = Bench(make()), rng.normal(size=(LANES, 1, 2))
    out = LaneTable.of(np.zeros((1, 2)))
    act_in_joint(bench.tables, 0, 0.7, LaneTable.of(states), out)
    for (q, v), F in zip(states[:, 0], out.systems(), strict=True):
        assert F[0] == pytest.approx(bench.in_joint(q, v, t=0.7), rel=1e-12, abs=1e-12)


def test_user_forces_see_one_lane_after_another(rng: np.random.Generator) -> None:
    @numba.njit
    def of_motion(t, A, B, out):  # type: ignore[no-untyped-def]
        if A[0] < -10.0:
            raise ValueError("too far")
        for m in range(6):
            out[m] = t * A[m] - A[12 + m] * B[m]

    bench = Bench(UserForce("f", "a", "b", function=of_motion))
    motions = [Motion.random(rng) for _ in range(LANES)]
    rows = np.array([m.row() for m in motions])
    out = LaneTable.of(np.zeros((2, 6)))
    act(bench.tables, 0, 0.7, LaneTable.of(rows), out)
    for m, F in zip(motions, out.systems(), strict=True):
        expected = bench.forces(m, t=0.7)
        assert np.abs(F - expected).max() < 1e-12 * (1.0 + np.abs(expected).max())


def test_user_efforts_see_one_lane_after_another(rng: np.random.Generator) -> None:
    @numba.njit
    def of_state(t, q, v):  # type: ignore[no-untyped-def]
        return t - q * v

    bench, states = Bench(UserJointForce("f", "turn", of_state)), rng.normal(size=(LANES, 1, 2))
    out = LaneTable.of(np.zeros((1, 2)))
    act_in_joint(bench.tables, 0, 0.7, LaneTable.of(states), out)
    for (q, v), F in zip(states[:, 0], out.systems(), strict=True):
        assert F[0, 0] == pytest.approx(0.7 - q * v, rel=1e-12, abs=1e-12)


def test_lanes_may_have_functions_of_time_of_their_own(rng: np.random.Generator) -> None:
    benches = [Bench(JointForce("f", "turn", Harmonic(1.0 + s, 2.0, phase=0.1 * s))) for s in range(LANES)]
    together = benches[0].tables._replace(data=LaneVector.of([bench.tables.data for bench in benches]))
    states, out = rng.normal(size=(LANES, 1, 2)), LaneTable.of(np.zeros((1, 2)))
    act_in_joint(together, 0, 0.7, LaneTable.of(states), out)
    for bench, (q, v), F in zip(benches, states[:, 0], out.systems(), strict=True):
        assert F[0] == pytest.approx(bench.in_joint(q, v, t=0.7), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("make", IN_LANES.values(), ids=IN_LANES.keys())
def test_lanes_may_have_data_of_their_own(make: Callable[[], Force], rng: np.random.Generator) -> None:
    bench = Bench(make())
    together = bench.tables._replace(
        frames=LaneTable.of(bench.tables.frames), data=LaneVector.of(np.repeat(bench.tables.data[None], LANES, axis=0))
    )
    motions = [Motion.random(rng) for _ in range(LANES)]
    out = LaneTable.of(np.zeros((2, 6)))
    act(together, 0, 0.7, LaneTable.of(np.array([m.row() for m in motions])), out)
    for m, F in zip(motions, out.systems(), strict=True):
        expected = bench.forces(m, t=0.7)
        assert np.abs(F - expected).max() < 1e-12 * (1.0 + np.abs(expected).max())


def test_the_kernels_say_the_same_interpreted(rng: np.random.Generator) -> None:
    code = """
import sys, warnings, numpy as np
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
from forces_lab import IN_LANES, Bench, Motion
from nexdyn.forces import UserForce
rng = np.random.default_rng(3)
def user(t, A, B, out): out[:] = A[:6] * t - B[12:]
makes = [*IN_LANES.values(), lambda: UserForce("f", "a", "b", function=user)]
for make in makes:
    bench, motion = Bench(make()), Motion.random(rng)
    print(*bench.forces(motion, 0.7).ravel(), bench.energy(motion))
"""
    here = str(Path(__file__).parent)
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, here], env={**os.environ, "NUMBA_DISABLE_JIT": flag},
            capture_output=True, text=True, check=True,
        )
        for flag in "01"
    ]  # fmt: skip
    compiled, interpreted = (np.array([line.split() for line in run.stdout.splitlines()], float) for run in runs)
    assert compiled.shape == (len(IN_LANES) + 1, 13)
    assert np.allclose(compiled, interpreted, rtol=1e-12, atol=1e-12)

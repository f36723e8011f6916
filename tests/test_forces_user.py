"""User functions as forces: compiled or plain Python, called by address, their failures kept."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from forces_lab import Bench, Motion, act, act_in_joint, at

from nexdyn.errors import InputError, NexDynWarning, SolveError
from nexdyn.forces import AppliedForce, JointForce, UserForce, UserJointForce
from nexdyn.model.callbacks import BODIES, callback_of, failure


def compiled(f: Any) -> Any:
    return numba.njit(f)


def plain(f: Any) -> Any:
    return f


BOTH = pytest.mark.parametrize("decorate", [compiled, plain])


@pytest.fixture(autouse=True)
def quiet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it had been said already that Python is slow."""
    monkeypatch.setattr("nexdyn.model.callbacks._said_that_python_is_slow", "loud" not in request.fixturenames)


def everything(t, A, B, out):  # type: ignore[no-untyped-def]
    """Reads all that is given: a torque 2 A.w, a force t (p_B − p_A) + R_A e_x − R_B e_y − B.v."""
    for i in range(3):
        out[i] = 2.0 * A[12 + i]
        out[3 + i] = t * (B[i] - A[i]) + A[3 + 3 * i] - B[4 + 3 * i] - B[15 + i]


@BOTH
def test_a_user_force_is_given_the_motion_and_gives_the_force_on_a(decorate: Any, rng: np.random.Generator) -> None:
    bench = Bench(UserForce("f", "a", "b", function=decorate(everything)))
    for _ in range(10):
        motion = Motion.random(rng)
        (R_A, R_B), (p_A, p_B), (w_A, _), (_, v_B) = motion
        F = bench.forces(motion, t=0.7)
        assert np.allclose(F[0], [*2 * w_A, *(0.7 * (p_B - p_A) + R_A[:, 0] - R_B[:, 1] - v_B)], rtol=1e-14)
    assert bench.energy(motion) == 0.0


def test_the_reaction_on_b_balances_force_and_moment(rng: np.random.Generator) -> None:
    bench, motion = Bench(UserForce("f", "a", "b", function=everything)), Motion.random(rng)
    F = bench.forces(motion, t=0.7)
    moments = F[:, :3] + np.cross(motion.p, F[:, 3:])
    assert np.allclose(F[0, 3:], -F[1, 3:])
    assert np.allclose(moments[0], -moments[1])


@BOTH
def test_a_user_effort_is_its_function_of_time_coordinate_and_velocity(decorate: Any) -> None:
    def swing(t: float, q: float, v: float) -> float:
        return 10.0 * t - 3.0 * q - 0.5 * v

    bench = Bench(UserJointForce("f", "turn", decorate(swing)))
    assert bench.in_joint(0.3, 0.2, t=2.0) == (10.0 * 2.0 - 3.0 * 0.3 - 0.5 * 0.2, 0.0)


@BOTH
def test_user_functions_of_time_drive_applied_and_joint_forces(decorate: Any) -> None:
    def ramp(t: float) -> float:
        return 3.0 * t

    assert Bench(AppliedForce("f", "a", (0, decorate(ramp), 0))).forces(at(), t=2.0)[0].tolist() == [0, 0, 0, 0, 6, 0]
    assert Bench(JointForce("f", "turn", decorate(ramp))).in_joint(0.0, t=2.0)[0] == 6.0


# --- speed ----------------------------------------------------------------------------------------------------------


def python_called(bench: Bench) -> set[str]:
    """The Python functions that run while the kernel does."""
    names: set[str] = set()

    def count(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            names.add(frame.f_code.co_name)

    row, out = at().row(), np.zeros((2, 6))
    sys.setprofile(count)
    try:
        act(bench.tables, 0, 0.0, row, out)
    finally:
        sys.setprofile(None)
    return names


def test_a_compiled_user_force_runs_by_its_address_without_python() -> None:
    bench = Bench(UserForce("f", "a", "b", function=compiled(everything)))
    (callback,) = bench.force.callbacks()
    assert bench.tables.data.tolist() == [callback.address]
    bench.forces(at())
    assert not python_called(bench) & {"everything", "_call"}
    slow = Bench(UserForce("f", "a", "b", function=everything))
    assert python_called(slow) >= {"everything", "_call"}


def test_kernels_are_not_compiled_again_for_another_user_function() -> None:
    Bench(UserForce("f", "a", function=compiled(everything))).forces(at())
    before = [len(kernel.signatures) for kernel in (act, act_in_joint)]

    def other(t, A, B, out):  # type: ignore[no-untyped-def]
        out[5] = 1.0

    for decorate in (compiled, plain):
        assert Bench(UserForce("f", "a", function=decorate(other))).forces(at())[0, 5] == 1.0
    assert [len(kernel.signatures) for kernel in (act, act_in_joint)] == before


@pytest.mark.usefixtures("loud")
def test_that_python_is_slow_is_said_once() -> None:
    with pytest.warns(NexDynWarning, match=r"user function 'everything' is plain Python: .*numba.njit") as said:
        Bench(UserForce("f", "a", function=everything))
        Bench(UserForce("g", "a", function=lambda t, A, B, out: None))
    assert len(said) == 1


@pytest.fixture
def loud() -> None:
    """Marks the test that wants to hear it."""


def test_forces_share_the_machine_code_of_a_function_which_lives_as_long_as_the_function() -> None:
    function = compiled(lambda t, A, B, out: None)
    first, second = (UserForce(name, "a", function=function) for name in "12")
    assert first.data({}) == second.data({})
    (callback,) = first.callbacks()
    assert second.callbacks() == (callback,)
    gone = weakref.ref(callback)
    del first, second, callback
    gc.collect()
    assert UserForce("3", "a", function=function).data({}) == [gone().address]
    del function
    gc.collect()
    assert gone() is None


# --- failures -------------------------------------------------------------------------------------------------------


def test_a_description_neither_compiles_nor_calls_the_function() -> None:
    def never(t, A, B, out):  # type: ignore[no-untyped-def]
        raise AssertionError

    from forces_lab import two_bodies

    force = two_bodies().add_force(UserForce("f", "a", function=never))
    assert force.callbacks() == ()


@BOTH
def test_what_a_user_force_raises_stops_the_kernel_and_is_kept_with_force_and_time(decorate: Any) -> None:
    def late(t, A, B, out):  # type: ignore[no-untyped-def]
        if t > 1.0:
            raise ValueError("too late")
        out[3] = 1.0

    bench = Bench(UserForce("wind", "a", function=decorate(late)))
    assert bench.forces(at(), t=0.5)[0, 3] == 1.0
    assert bench.attempt(at(), t=1.25)[0] == 1
    error = failure(bench.force, 1.25, bench.force.callbacks())
    assert str(error) == "force 'wind' raised ValueError: too late at t = 1.25 s"
    assert isinstance(error, SolveError)
    assert (error.time, error.where) == (1.25, "wind")
    assert isinstance(error.__cause__, ValueError)


@BOTH
def test_what_a_user_effort_raises_is_kept(decorate: Any) -> None:
    bench = Bench(UserJointForce("motor", "turn", decorate(lambda t, q, v: 1 / q)))
    assert bench.in_joint(0.5)[0] == 2.0
    assert bench.attempt_in_joint(0.0)[0] == 1
    assert "force 'motor' raised ZeroDivisionError" in str(failure(bench.force, 0.0, bench.force.callbacks()))


@BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_user_force_that_is_not_finite_is_told(decorate: Any, value: float) -> None:
    def wild(t, A, B, out):  # type: ignore[no-untyped-def]
        out[4] = value

    bench = Bench(UserForce("wind", "a", function=decorate(wild)))
    assert bench.attempt(at())[0] == 1
    error = failure(bench.force, 0.5, bench.force.callbacks())
    assert str(error) == "force 'wind' gives a value that is not finite at t = 0.5 s"


def test_a_function_of_time_without_value_is_told() -> None:
    bench = Bench(AppliedForce("push", "a", (0, 0, "=log(1 - t)")))
    assert bench.attempt(at(), t=0.5)[0] == 0
    assert bench.attempt(at(), t=1.5)[0] == 1


def test_motion_that_is_not_finite_is_not_blamed_on_the_force() -> None:
    bench = Bench(UserForce("f", "a", function=everything))
    for motion in (at(p_b=(np.nan, 0, 0)), at(v_b=(0, np.inf, 0))):
        status, F = bench.attempt(motion)
        assert status == 0
        assert not np.isfinite(F).all()


def test_ctrl_c_inside_a_user_function_is_raised_as_it_is() -> None:
    def interrupted(t, A, B, out):  # type: ignore[no-untyped-def]
        raise KeyboardInterrupt

    bench = Bench(UserForce("f", "a", function=interrupted))
    assert bench.attempt(at())[0] == 1
    with pytest.raises(KeyboardInterrupt):
        failure(bench.force, 0.0, bench.force.callbacks())


@BOTH
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t, A, B, out: out, "must fill out and return nothing"),
        (lambda t, A: None, "'<lambda>'"),
    ],
)
def test_a_function_of_another_shape_is_refused(decorate: Any, function: Callable[..., Any], message: str) -> None:
    if decorate is compiled:
        with pytest.raises(InputError, match="force 'f': user function '<lambda>'") as raised:
            Bench(UserForce("f", "a", function=decorate(function)))
        error: Exception = raised.value
    else:
        bench = Bench(UserForce("f", "a", function=function))
        assert bench.attempt(at())[0] == 1
        error = failure(bench.force, 0.0, bench.force.callbacks())
        assert "TypeError" in str(error)
    assert message in str(error) or "positional argument" in str(error)


def test_what_a_plain_function_is_given_is_its_own_copy() -> None:
    kept = []

    def keeps(t, A, B, out):  # type: ignore[no-untyped-def]
        kept.append((A, out))

    bench = Bench(UserForce("f", "a", "b", function=keeps))
    bench.forces(at())
    bench.forces(at(p_b=(1, 2, 3)))
    assert not kept[0][0].flags.writeable
    assert kept[0][1] is not kept[1][1]


def test_a_force_with_its_callback_can_be_sent_to_another_process() -> None:
    force = UserForce("f", "a", function=everything)
    force.data({})
    twin = pickle.loads(pickle.dumps(force))
    assert twin.callbacks() == (callback_of(everything, BODIES),)

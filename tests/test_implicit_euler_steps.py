"""nx.ImplicitEuler at steps from 10 ms to 1 µs: no run stops because rounding is all that is left of a step."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from mechanisms import three_cranks
from scipy.integrate import solve_ivp
from step_problems import PROBLEMS, table_oscillator

import nexdyn as nx
from nexdyn.problems.bricard import bricard
from nexdyn.problems.four_bars import four_bars
from nexdyn.problems.governor import governor

FEW = 1500


@pytest.mark.filterwarnings("ignore:passes near a singular pose:nexdyn.NexDynWarning")
@pytest.mark.parametrize("bdf2", [False, True], ids=["implicit Euler", "BDF2"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_step_is_too_short(name: str, bdf2: bool) -> None:
    build, t_end = PROBLEMS[name]
    for dt in (1e-2, 1e-3, 1e-4, 1e-6):
        steps = min(FEW, round(t_end / dt))
        run = nx.simulate(build(), steps * dt, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=100)
        assert run.t.values[-1] == pytest.approx(steps * dt)
        assert run.recording.violation.max() < 1e-9


@pytest.mark.filterwarnings("ignore:passes near a singular pose:nexdyn.NexDynWarning")
@pytest.mark.parametrize("bdf2", [False, True], ids=["implicit Euler", "BDF2"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_step_is_too_short_wherever_a_run_begins(name: str, bdf2: bool) -> None:
    """From where a run with longer steps is, at three moments."""
    build, t_end = PROBLEMS[name]
    system = build()
    for moment in (0.3, 0.6, 0.9):
        start = nx.simulate(system, moment * t_end, nx.ImplicitEuler(1e-3, bdf2=True), output_every=10**6)
        for dt in (5e-4, 5e-5, 2e-5, 1e-5):
            end = float(start.t.values[-1]) + 200 * dt
            run = nx.simulate(system, end, nx.ImplicitEuler(dt, bdf2=bdf2), initial=start, output_every=50)
            assert run.t.values[-1] == pytest.approx(end)
            assert run.recording.violation.max() < 1e-9


@pytest.mark.filterwarnings("ignore:passes near a singular pose:nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("dt", "bdf2"),
    [
        *itertools.product((1e-3, 5e-4, 1e-4, 5e-5, 2e-5), (False, True)),
        pytest.param(1e-5, False, marks=pytest.mark.slow),
        pytest.param(1e-5, True, marks=pytest.mark.slow),
    ],
)
def test_two_four_bars_pass_the_flat_pose_in_steps_of_any_length(dt: float, bdf2: bool) -> None:
    """They lie flat at 0.714 s."""
    run = nx.simulate(four_bars(), 0.75, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=10)
    assert run.t.values[-1] == pytest.approx(0.75)
    assert run.recording.violation.max() < 1e-9


@pytest.mark.parametrize(("dt", "bdf2"), [(1e-3, True), (5e-4, True), (1e-3, False)])
def test_the_governor_turns_to_the_end(dt: float, bdf2: bool) -> None:
    run = nx.simulate(governor(), 10.0, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=100)
    assert run.recording.violation.max() < 1e-10


@pytest.mark.filterwarnings("ignore:passes near a singular pose:nexdyn.NexDynWarning")
@pytest.mark.parametrize(("dt", "bdf2"), [*itertools.product((1e-3, 5e-4, 2.5e-4), (False, True))])
def test_parallel_cranks_pass_their_flat_poses_at_speed(dt: float, bdf2: bool) -> None:
    run = nx.simulate(three_cranks(14.0), 3.0, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=100)
    angles = run.joint_position().values.reshape(len(run.t), -1)
    assert np.isfinite(angles).all() and run.recording.violation.max() < 1e-9


def four_bars_at(n: int, times: np.ndarray) -> np.ndarray:
    """The tip B0 of n four-bars that stay parallelograms, one pendulum of n + 1 standing rods and n lying ones."""
    g = 9.81 * ((n + 1) / 2.0 + n) / ((n + 1) / 3.0 + n)
    angle = solve_ivp(
        lambda t, y: (y[1], g * np.sin(y[0])), (0.0, times[-1]), (0.0, 1.0), "DOP853", times, rtol=1e-12, atol=1e-12
    ).y[0]
    return np.column_stack([np.sin(angle), np.cos(angle)])


TIMES = np.array([0.25, 0.5, 0.75, 1.0])
"""The four-bars lie flat at 0.71 to 0.72 s, the cranks every 0.22 s."""
KNOWN: dict[str, tuple[Callable[[], nx.System], str, Callable[[], np.ndarray], float, tuple[float, float]]] = {
    "two four-bars": (four_bars, "B0", lambda: four_bars_at(2, TIMES), 1e-3, (5e-3, 4e-5)),
    "forty four-bars": (lambda: four_bars(40), "B0", lambda: four_bars_at(40, TIMES), 1e-3, (5e-3, 4e-5)),
    "three cranks": (
        lambda: three_cranks(14.0), "crank2",
        lambda: np.column_stack([2.0 - 0.5 * np.sin(14.0 * TIMES), 0.5 * np.cos(14.0 * TIMES)]), 2e-4, (0.1, 1e-3),
    ),
    "governor": (
        governor, "right rod",
        lambda: nx.simulate(governor(), 1.0, nx.HHT(rtol=1e-8), output_times=TIMES).position("right rod").values[:, :2],
        1e-3, (0.1, 2e-4),
    ),
}  # fmt: skip
"""A system, a point of it, where that is at `TIMES`, a step, and what half of it may be off by, of implicit Euler and of BDF2."""


@pytest.mark.filterwarnings("ignore:passes near a singular pose:nexdyn.NexDynWarning")
@pytest.mark.parametrize("bdf2", [False, True], ids=["implicit Euler", "BDF2"])
@pytest.mark.parametrize("what", KNOWN)
def test_what_is_stiff_or_passes_singular_poses_keeps_its_order(what: str, bdf2: bool) -> None:
    build, point, exact, dt, off = KNOWN[what]
    known, errors = exact(), []
    for h in (dt, 0.5 * dt):
        run = nx.simulate(build(), 1.0, nx.ImplicitEuler(h, bdf2=bdf2), output_times=TIMES)
        errors.append(np.abs(run.position(point).values[:, :2] - known).max(axis=1))
    assert errors[1].max() < off[bdf2]
    assert (np.log2(errors[0] / errors[1]) > (1.9 if bdf2 else 0.9)).all(), errors


def test_forty_four_bars_pass_the_flat_pose() -> None:
    run = nx.simulate(four_bars(40), 8.0, nx.ImplicitEuler(1e-3, bdf2=True), output_every=1000)
    assert run.recording.violation.max() < 1e-9


@pytest.mark.parametrize("bdf2", [False, True])
def test_reactions_of_rows_that_repeat_others_do_not_grow(bdf2: bool) -> None:
    """Bricard's hinges share one row too many: the equations leave its reactions open, and rounding adds to them at each step."""
    run = nx.simulate(bricard(), 8.0, nx.ImplicitEuler(1e-3, bdf2=bdf2), output_every=10)
    sizes = np.array([np.linalg.norm(run.reaction(f"P{i}").values, axis=1).max() for i in range(1, 7)])
    assert sizes.max() < 200.0  # five rods of 1 kg at less than 10 rad/s


def swung(w: float, dt: float, steps: int, bdf2: bool) -> np.ndarray:
    """q of q̈ + w² q = 0 from q = 0, q̇ = 1, by the method itself: implicit Euler, or BDF2 behind one step of it."""
    q, v, before = 0.0, 1.0, None
    out = [q]
    for _ in range(steps):
        if before is None or not bdf2:
            from_q, from_v, h = q, v, dt
        else:
            from_q, from_v, h = (4 * q - before[0]) / 3, (4 * v - before[1]) / 3, 2 * dt / 3
        before = (q, v)
        v = (from_v - h * w**2 * from_q) / (1 + (h * w) ** 2)  # v = from_v − h w² q, q = from_q + h v
        q = from_q + h * v
        out.append(q)
    return np.array(out)


@pytest.mark.parametrize(("dt", "bdf2"), [*itertools.product((5e-3, 5e-4, 5e-5), (False, True))])
def test_a_force_table_swings_for_ever(dt: float, bdf2: bool) -> None:
    """As the linear spring that it is within its ends, to what Newton's method leaves."""
    run = nx.simulate(table_oscillator(), 4000 * dt, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=10)
    q, w = run.joint_position("hinge").values.ravel(), float(np.sqrt(2.0 / 0.1))
    np.testing.assert_allclose(q, swung(w, dt, 4000, bdf2)[::10], rtol=0, atol=1e-9)
    if bdf2:
        t = run.t.values  # the phase lags by (w dt)²/3 w t
        assert (np.abs(q - np.sin(w * t) / w) < (w * dt) ** 2 * (0.5 * t + 1.0)).all()


SKEW = (1.0, 2.0, -0.7)
FAR = 2000.0
"""Where bodies slide to [m]: a position has lost digits there beside the size of the bodies."""


def slid(kind: str) -> nx.System:
    """A body that slides without force, 200 m/s or rad/s along or about an axis askew, or a rack on a pinion."""
    system = nx.System("slid", gravity=(0.0, 0.0, 0.0))
    system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    if kind == "driven prismatic":
        system.add_joint(nx.Prismatic("j", "ground", "b", axis=SKEW))
        system.add_driver(nx.Driver("pull", "j", "=200*t"))
    elif kind == "prismatic":
        system.add_joint(nx.Prismatic("j", "ground", "b", axis=SKEW, v0=200.0))
    elif kind == "helical":
        system.add_joint(nx.Helical("j", "ground", "b", axis=SKEW, v0=200.0, pitch=1.0))
    elif kind == "cylindrical":
        system.add_joint(nx.Cylindrical("j", "ground", "b", axis=SKEW, v0=(200.0, 200.0)))
    else:
        system.add_body("rack", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, -1.0, 0.0))
        system.add_joint(nx.Revolute("j", "ground", "b", axis=(0, 0, 1), v0=200.0))
        system.add_joint(nx.Prismatic("p", "ground", "rack", axis=(1, 0, 0), v0=200.0))
        system.add_coupling(nx.RackAndPinion("mesh", "j", "p", radius=1.0))
    return system


@pytest.mark.parametrize("bdf2", [False, True], ids=["euler", "bdf2"])
@pytest.mark.parametrize("kind", ["prismatic", "driven prismatic", "helical", "cylindrical", "rack"])
def test_bodies_slide_as_far_as_they_like(kind: str, bdf2: bool) -> None:
    result = nx.simulate(slid(kind), FAR / 200.0, nx.ImplicitEuler(0.02, bdf2=bdf2), output_every=10**9)
    q = result.observed.of_joint("joint_position", "j")[-1]
    np.testing.assert_allclose(q, FAR, rtol=1e-9)

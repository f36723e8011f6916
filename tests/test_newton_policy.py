"""The policy of HHT's Newton iteration and of its steps, without a mechanism: corrections are made up."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from nexdyn.absolute.motion import newton, step_control
from nexdyn.absolute.motion.newton import DONE, LOST, ON, Memory
from nexdyn.tree.described import in_python

H = 1e-3
begin, corrected, note_refactored, remember, verdict, is_worn, weights = (
    in_python(f)
    for f in (
        newton.begin, newton.corrected, newton.note_refactored, newton.remember, newton.newton_verdict, newton.is_worn, newton.weights,
    )
)  # fmt: skip
fitted, after_acceptance, after_rejection = (
    in_python(f) for f in (step_control.fitted, step_control.after_acceptance, step_control.after_rejection)
)


def corrections(memory: Memory, sizes: Iterable[float], error: float = 1.0, weight: float = 0.0) -> list[int]:
    """The verdicts on corrections of these sizes, until one is not ON; new matrices are made as they are asked for."""
    found: list[int] = []
    for size in sizes:
        if memory.assemble > 0.0:
            note_refactored(memory, H)
        part = memory.part
        corrected(memory)
        found.append(verdict(memory, part * size, error, 0.0, weight, 1.0, 1.0))
        if found[-1] != ON:
            break
    return found


def started() -> Memory:
    memory = Memory(newton.new_memory(0.0, 1.0))
    begin(memory, H)
    return memory


@pytest.mark.parametrize("theta", [0.003, 0.03, 0.2])
def test_the_iteration_ends_where_what_a_geometric_series_leaves_is_small_enough(theta: float) -> None:
    sizes = 1e-5 * theta ** np.arange(40)
    verdicts = corrections(started(), sizes)
    left = sizes * theta / (1.0 - theta)  # Σ of all later corrections
    assert verdicts[-1] == DONE and left[len(verdicts) - 1] <= newton.TOLERANCE < left[len(verdicts) - 2]


def test_the_iteration_goes_down_with_the_error_of_the_step() -> None:
    sizes = 1e-6 * 0.1 ** np.arange(40)
    counts = [len(corrections(started(), sizes, error)) for error in (1e-6, 1e-8, 1e-10)]
    assert counts[0] < counts[1] < counts[2]


def test_slow_corrections_get_a_new_matrix_and_then_a_whole_one() -> None:
    memory = started()
    memory.made_for, memory.age, memory.theta_new = H, 1.0, 0.01
    begin(memory, H)
    assert memory.assemble == 0.0
    assert corrections(memory, [1e-3, 5e-4]) == [ON, ON]
    assert memory.assemble == 1.0 and memory.whole == 0.0
    assert corrections(memory, [1e-4, 5e-5]) == [ON, ON]
    assert memory.factorisations == 1.0 and memory.whole == 1.0


def test_a_matrix_ages_until_it_is_worn() -> None:
    memory = started()
    assert corrections(memory, 1e-8 * 0.01 ** np.arange(9))[-1] == DONE
    assert memory.theta_new == pytest.approx(0.01) and memory.age == 1.0 and not is_worn(memory)
    for step in range(1, 20):
        begin(memory, H)
        if memory.assemble > 0.0:
            break
        theta = 0.01 + 0.02 * step
        assert corrections(memory, 1e-8 * theta ** np.arange(12))[-1] == DONE
        assert memory.theta_growth == pytest.approx(0.02)
    assert 0.01 + 0.02 * step > newton.REUSE >= 0.01 + 0.02 * (step - 1)


@pytest.mark.parametrize("h, serves", [(0.51 * H, True), (1.99 * H, True), (0.49 * H, False), (2.01 * H, False)])
def test_a_matrix_serves_steps_about_its_own(h: float, serves: bool) -> None:
    memory = started()
    memory.made_for, memory.theta_new = H, 0.01
    begin(memory, h)
    assert (memory.assemble == 0.0) == serves


def test_a_matrix_that_needed_one_correction_serves_on_though_its_contraction_is_not_known() -> None:
    memory = started()
    assert memory.theta_new > newton.REUSE and is_worn(memory)
    for k, worn in ((1.0, False), (2.0, True)):
        memory.k_last = k
        assert is_worn(memory) == worn


def test_corrections_that_go_to_and_fro_are_shortened_and_grow_again() -> None:
    memory = started()
    assert corrections(memory, [1e-3, 1e-3, 1e-3, 1e-3]) == [ON] * 4 and memory.part == 0.25
    assert corrections(memory, [1e-5, 1e-7]) == [ON, ON] and memory.part == 1.0


def test_an_iteration_without_end_is_lost() -> None:
    memory = started()
    memory.made_for = H
    verdicts = corrections(memory, 1e-3 * 0.75 ** np.arange(60))
    assert verdicts[-1] == LOST and len(verdicts) == newton.MOST_ITERATIONS and memory.made_for == 0.0
    assert corrections(started(), [1e-3, np.nan])[-1] == LOST and corrections(started(), [3.0]) == [LOST]


def test_what_rounding_leaves_is_learnt_and_ends_the_next_step() -> None:
    memory = started()
    assert corrections(memory, [1e-5, 1e-9, 1e-13, 0.7e-13], 1e-14) == [ON, ON, ON, DONE]
    assert memory.floor == pytest.approx(0.35e-13)
    begin(memory, H)
    assert memory.assemble == 0.0
    assert corrections(memory, [1e-5, 1e-9, 0.5e-13], 1e-14) == [ON, ON, DONE]


def test_at_rest_what_is_small_beside_gravity_and_in_no_position_is_rounding() -> None:
    for weight, ends in ((0.0, ON), (1e-7, ON), (1.0, DONE)):  # 2e-11 |g| is less than 1e-16, and more
        assert corrections(started(), [1e-15, 0.9e-16], 1e-20, weight) == [ON, ends]


def test_the_predictor_takes_polynomials_of_the_past_as_far_as_it_went_smoothly() -> None:
    memory = started()
    for h in (1.0, 2.0):
        remember(memory, h)
    for smooth, degree in ((0.0, 0), (1.0, 1), (2.0, 2), (newton.CAUTIOUS, 0)):
        memory.smooth = smooth
        c, d = weights(memory, 3.0)
        # samples of x = tⁿ at 0, 1, 3, the next at 6
        for n in range(degree + 1):
            x = [t**n for t in (0.0, 1.0, 3.0)] if n else [1.0] * 3
            first = x[2] - x[1]
            assert x[2] + c * first + d * (first - 2.0 * (x[1] - x[0])) == pytest.approx(6.0**n if n else 1.0)


def test_a_state_that_was_changed_forgets_all_but_what_is_counted() -> None:
    vector = np.arange(1.0, Memory.columns + 1.0)
    before, memory = Memory(vector.copy()), Memory(vector)
    newton.forget(vector)
    kept = {
        "iterations", "factorisations", "grain", "turned", "independence", "best_independence", "length", "moved", "home",
        "least",
    }  # fmt: skip
    for name in Memory.fields:
        value = getattr(memory, name)
        assert (
            value == getattr(before, name)
            if name in kept
            else value == (newton.UNKNOWN if name == "theta_new" else 0.0)
        ), name


def test_steps_end_at_their_target_without_a_short_one() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        t, h = 0.0, float(rng.uniform(0.01, 1.0))
        target, taken = float(rng.uniform(2.0, 5.0)), list[float]()
        while t < target:
            taken.append(fitted(t, h, target))
            t = target if taken[-1] == target - t else t + taken[-1]
        assert max(taken) <= step_control.STRETCH * h + 1e-12 and min(taken) >= 0.5 * h
        assert sum(taken) == pytest.approx(target)


def test_steps_follow_the_cubic_error() -> None:
    for error in (0.3, 0.5, 0.7):
        h = after_acceptance(1.0, 1.0, error, 10.0)
        assert error * h**3 == pytest.approx(step_control.SAFETY**3) or (h == 1.0 and error > 0.47)
    assert after_acceptance(1.0, 1.0, 0.0, 10.0) == step_control.GROWTH and after_acceptance(1.0, 1.0, 0.0, 1.5) == 1.5
    assert after_acceptance(1.0, 0.1, 0.9, 10.0) == 1.0  # one that was cut proposes nothing
    assert 8.0 * after_rejection(1.0, 8.0, False) ** 3 == pytest.approx(step_control.SAFETY**3)
    assert after_rejection(1.0, 1e9, False) == step_control.SHRINKING and after_rejection(1.0, 4.0, True) == 0.25

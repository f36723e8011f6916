"""A user's function that keeps a state is asked for it, and told it where a run goes on; one that keeps it to itself is refused by name."""

from __future__ import annotations

import functools
import logging
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from continuing_lab import (
    ADAPTIVE,
    DT,
    END,
    FIXED,
    HALF,
    Counter,
    Telling,
    arm,
    controlled,
    state,
)

import nexdyn as nx
from nexdyn.integrate.methods import METHODS, PAIRS
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.fingerprint import held_by
from nexdyn.simulation.users import tells_state


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("method", "tolerance"),
    [*((method, 0.0) for method in FIXED.values()), *ADAPTIVE.values()],
    ids=[*FIXED, *(f"{name} adaptive" for name in ADAPTIVE)],
)
def test_a_controller_is_asked_for_its_state_and_told_it(method: Any, tolerance: float, tmp_path: Path) -> None:
    whole = state(nx.simulate(controlled(Telling()), END, method))
    half = nx.simulate(controlled(Telling()), HALF, method)
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        rest = nx.simulate(controlled(Telling()), END, method, initial=initial)
        np.testing.assert_allclose(state(rest), whole, rtol=0, atol=tolerance * np.abs(whole).max())


def test_every_method_has_a_run_that_goes_on() -> None:
    assert {method.name for method in FIXED.values()} == set(METHODS) - set(PAIRS)
    adaptive = {name for name, cls in METHODS.items() if "rtol" in cls.__dataclass_fields__}
    assert {method.name for method, _ in ADAPTIVE.values()} == adaptive


class Latch:
    """Whether it was asked while 30 ms to 60 ms of a run had passed: nothing that a run from `HALF` sees."""

    def __init__(self) -> None:
        self.on = False

    def look(self, t: float) -> None:
        self.on = self.on or 0.03 < t < 0.06

    def save_state(self) -> dict[str, bool]:
        return {"on": self.on}

    def load_state(self, state: dict[str, bool]) -> None:
        self.on = state["on"]


class Push(Latch):
    """A force in x, and a torque, from the time on that it was armed at."""

    def __call__(self, t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        self.look(t)
        out[2] = 5.0 * self.on
        out[3] = 2.0 * self.on


class Ramp(Latch):
    """0 until 0.2 s, then 50 (t − 0.2)³, where it was armed."""

    def f(self, t: float) -> float:
        self.look(t)
        return 50.0 * self.on * max(0.0, t - 0.2) ** 3

    def df(self, t: float) -> float:
        return 150.0 * self.on * max(0.0, t - 0.2) ** 2

    def ddf(self, t: float) -> float:
        return 300.0 * self.on * max(0.0, t - 0.2)


class Forgetful:
    """Takes no state: what a run would do that did not tell it."""

    def load_state(self, state: dict[str, bool]) -> None:
        pass


class ForgetfulPush(Forgetful, Push):
    pass


class ForgetfulRamp(Forgetful, Ramp):
    pass


def pushed(latch: Any) -> nx.System:
    system = nx.System("pushed", gravity=(0, 0, 0))
    system.add_body("sled", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_joint(nx.Planar("floor", "ground", "sled", axis=(0, 0, 1), v0=(0.1, 0.2, 0.3)))
    system.add_force(nx.UserForce("push", "sled", "ground", function=latch))
    return system


def led(latch: Any) -> nx.System:
    system = nx.System("led", gravity=(0, -9.81, 0))
    system.add_body("cart", mass=1.0, inertia=(1.0, 1.0, 2.0))
    system.add_body("bob", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(0.3, -0.4, 0))
    system.add_joint(nx.Prismatic("rail", "ground", "cart", axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("hinge", "cart", "bob", at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_driver(nx.Driver("path", "rail", nx.UserFunction(latch.f, latch.df, latch.ddf)))
    return system


LATCHED: dict[str, tuple[Callable[[Any], nx.System], Any, Any]] = {
    "user force": (pushed, Push, ForgetfulPush),
    "driver": (led, Ramp, ForgetfulRamp),
}


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize("what", LATCHED)
@pytest.mark.parametrize("name", ["rk4", "hht", "projection", "bdf2"])
def test_a_user_force_and_a_driver_are_asked_for_their_state_and_told_it(name: str, what: str, tmp_path: Path) -> None:
    (build, kind, forgetful), method = LATCHED[what], FIXED[name]
    whole = state(nx.simulate(build(kind()), END, method))
    half = nx.simulate(build(kind()), HALF, method)
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        np.testing.assert_array_equal(state(nx.simulate(build(kind()), END, method, initial=initial)), whole)
        forgot = nx.simulate(build(forgetful()), END, method, initial=initial)
        assert np.abs(state(forgot) - whole).max() > 1e-3


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_a_controller_that_keeps_its_state_to_itself_is_refused_by_name(tmp_path: Path) -> None:
    method = FIXED["rk4"]
    whole = state(nx.simulate(controlled(Counter()), END, method))
    same = Counter()
    half = nx.simulate(controlled(same), HALF, method)
    with pytest.raises(nx.InputError, match=r"force 'count' \(function\) had a state of its own.*save_state"):
        nx.simulate(controlled(Counter()), END, method, initial=half)
    assert np.array_equal(state(nx.simulate(controlled(same), END, method, initial=half)), whole)
    with pytest.raises(nx.InputError, match="save_state"):  # it has counted on since
        nx.simulate(controlled(same), END, method, initial=half)
    simulation = simulation_of(controlled(Counter()), method)
    simulation.run(HALF)
    assert np.array_equal(state(simulation.run(END)), whole)


def in_closure() -> Any:
    n = 0

    def control(t: float, q: float, v: float) -> float:
        nonlocal n
        n += 1
        return 0.1 * n

    return control


def in_a_cell() -> Any:
    kept = {"n": 0}

    def control(t: float, q: float, v: float) -> float:
        kept["n"] += 1
        return 0.1 * kept["n"]

    return control


def around_an_object() -> Any:
    counter = Counter()
    return lambda t, q, v: counter(t, q, v)


def in_a_default() -> Any:
    def control(t: float, q: float, v: float, kept: list[int] = [0]) -> float:  # noqa: B006
        kept[0] += 1
        return 0.1 * kept[0]

    return control


calls_so_far = 0


def counts_in_a_global(t: float, q: float, v: float) -> float:
    global calls_so_far
    calls_so_far += 1
    return 0.1 * calls_so_far


def in_a_global() -> Any:
    global calls_so_far
    calls_so_far = 0
    return counts_in_a_global


def in_a_global_of_a_helper() -> Any:
    in_a_global()
    return lambda t, q, v: counts_in_a_global(t, q, v)


def counts_in(kept: Any, t: float, q: float, v: float) -> float:
    kept.append(t)
    return 0.1 * len(kept)


def in_a_partial() -> Any:
    return functools.partial(counts_in, [])


def partial_of_an_object() -> Any:
    return functools.partial(Counter())


def partial_of_a_method() -> Any:
    return functools.partial(Counter().__call__)


def in_an_attribute() -> Any:
    def control(t: float, q: float, v: float) -> float:
        control.n += 1  # type: ignore[attr-defined]
        return 0.1 * control.n  # type: ignore[attr-defined, no-any-return]

    control.n = 0  # type: ignore[attr-defined]
    return control


def in_a_generator() -> Any:
    numbers = (0.1 * n for n in range(1, 10**6))
    return lambda t, q, v: next(numbers)


def in_an_iterator() -> Any:
    numbers = iter([0.1 * n for n in range(1, 1000)])
    return lambda t, q, v: next(numbers)


def in_a_random_generator() -> Any:
    rng = np.random.default_rng(7)
    return lambda t, q, v: rng.normal()


class Slotted:
    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0

    def control(self, t: float, q: float, v: float) -> float:
        self.n += 1
        return 0.1 * self.n


def in_a_slot() -> Any:
    return Slotted().control


class OfTheClass:
    n = 0

    def __call__(self, t: float, q: float, v: float) -> float:
        type(self).n += 1
        return 0.1 * self.n


def in_a_class() -> Any:
    OfTheClass.n = 0
    return OfTheClass()


SILENT: dict[str, tuple[Callable[[], Any], str]] = {
    make.__name__: (make, what)
    for make, what in (
        (in_closure, "variable 'n'"),
        (in_a_cell, "variable 'kept'"),
        (around_an_object, "variable 'counter'"),
        (in_a_default, "default of 'kept'"),
        (in_a_global, "global 'calls_so_far'"),
        (in_a_global_of_a_helper, "global 'counts_in_a_global'"),
        (in_a_partial, "argument 1 of its partial"),
        (partial_of_an_object, "attribute 'calls' of Counter"),
        (partial_of_a_method, "attribute 'calls' of Counter"),
        (in_an_attribute, "attribute 'n'"),
        (in_a_generator, "variable 'numbers'"),
        (in_an_iterator, "variable 'numbers'"),
        (in_a_random_generator, "variable 'rng'"),
        (in_a_slot, "attribute 'n' of Slotted"),
        (in_a_class, "class OfTheClass"),
    )
}
"""Controllers that count their samples, and what it is called where they do."""


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize("where", SILENT)
def test_a_state_is_found_and_named_wherever_a_function_keeps_it(where: str, tmp_path: Path) -> None:
    make, what = SILENT[where]
    same = make()
    half = nx.simulate(controlled(same), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    whole = nx.simulate(controlled(same), END, FIXED["rk4"], initial=half)  # it still is where it was
    assert float(whole.t[-1]) == END
    refused = f"force 'count' \\(function\\) had a state of its own.*{what}.*had changed.*save_state"
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        with pytest.raises(nx.InputError, match=refused):
            nx.simulate(controlled(make()), END, FIXED["rk4"], initial=initial)


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_what_a_function_records_goes_on_in_the_process_where_nobody_touched_it() -> None:
    """Making the second simulation calls the function already: what counts is what it held before."""
    seen: list[float] = []

    def pull(t: float, q: float, v: float) -> float:
        seen.append(t)
        return -2.0 * q

    system = nx.System("recorded")
    body = system.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_joint(nx.Prismatic("guide", system.ground, body, axis=(1.0, 0.0, 0.0), q0=0.3))
    system.add_force(nx.UserJointForce("spring", "guide", pull))
    half = nx.simulate(system, 0.05, nx.RungeKutta4(1e-2))
    assert float(nx.simulate(system, 0.1, nx.RungeKutta4(1e-2), initial=half).t[-1]) == 0.1
    seen.append(-1.0)
    with pytest.raises(nx.InputError, match=r"variable .seen. had changed.*what only records may tell None"):
        nx.simulate(system, 0.2, nx.RungeKutta4(1e-2), initial=half)


def test_what_cannot_be_looked_into_and_what_is_large_ends_no_run() -> None:
    class Closed:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError("no")

    closed, table, many = Closed(), np.arange(3_000_000.0), [0.5] * 50_000

    def pull(t: float, q: float, v: float) -> float:
        return -2.0 * q + 0.0 * (table[0] + many[0] + (closed is None))

    before = held_by([pull], tells_state)[0]
    assert held_by([pull], tells_state)[0] == before
    table[1_234_567] += 1.0
    many[-1] = 0.25
    after = held_by([pull], tells_state)[0]
    assert [what for what in before if before[what] != after[what]] == ["variable 'many'", "variable 'table'"]


def telling_in_closure() -> Any:
    counter, gains = Telling(), [0.5, 2.0]
    return lambda t, q, v: gains[0] * gains[1] * counter(t, q, v)


def telling_in_a_partial() -> Any:
    return functools.partial(lambda counter, t, q, v: counter(t, q, v), Telling())


def telling_method() -> Any:
    return Telling().__call__


def telling_by_attributes() -> Any:
    """A plain function, which has the two functions as attributes."""
    n = 0

    def control(t: float, q: float, v: float) -> float:
        nonlocal n
        n += 1
        return 0.1 * n

    def load_state(state: dict[str, int]) -> None:
        nonlocal n
        n = state["n"]

    control.save_state = lambda: {"n": n}  # type: ignore[attr-defined]
    control.load_state = load_state  # type: ignore[attr-defined]
    return control


def two_that_tell() -> Any:
    a, b = Telling(), Telling()
    return lambda t, q, v: a(t, q, v) if t < 0.04 else a(t, q, v) + b(t, q, v)


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    "make", [telling_in_closure, telling_in_a_partial, telling_method, telling_by_attributes, two_that_tell]
)
def test_what_tells_its_state_is_asked_wherever_a_function_holds_it(make: Any, tmp_path: Path) -> None:
    whole = state(nx.simulate(controlled(make()), END, FIXED["rk4"]))
    half = nx.simulate(controlled(make()), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        assert np.array_equal(state(nx.simulate(controlled(make()), END, FIXED["rk4"], initial=initial)), whole)
        with pytest.raises(nx.InputError, match=r"force 'count' \(function\), saved by save_state"):
            nx.simulate(controlled(lambda t, q, v: 0.0), END, FIXED["rk4"], initial=initial)


GAIN = {"p": 3.0, "table": np.linspace(0.0, 1.0, 7)}


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
def test_functions_that_hold_constants_go_on(tmp_path: Path) -> None:
    tree = nx.Tree(arm(calm=True))
    log, lock = logging.getLogger("nexdyn.test"), threading.Lock()

    def make() -> Any:
        k, offsets = 2.0, [0.1, 0.2]

        def helper(q: float) -> float:
            return float(np.interp(q, np.arange(7), GAIN["table"]))

        def control(t: float, q: float, v: float, scale: float = 0.5) -> float:
            with lock:
                log.debug("t = %g", t)
            mass = float(tree.crba(np.array([q, v]))[0, 0])
            return -k * scale * GAIN["p"] * q + offsets[0] - 1e-3 * mass + helper(q)

        return control

    whole = state(nx.simulate(controlled(make()), END, FIXED["rk4"]))
    half = nx.simulate(controlled(make()), HALF, FIXED["rk4"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        assert np.array_equal(state(nx.simulate(controlled(make()), END, FIXED["rk4"], initial=initial)), whole)


def silent_push() -> Any:
    kept = {"on": False}

    def push(t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        kept["on"] = kept["on"] or 0.03 < t < 0.06
        out[2] = 5.0 * kept["on"]

    return push


def silent_ramp() -> nx.UserFunction:
    kept = {"on": False}

    def f(t: float) -> float:
        kept["on"] = kept["on"] or 0.03 < t < 0.06
        return 50.0 * kept["on"] * max(0.0, t - 0.2) ** 3

    return nx.UserFunction(f, lambda t: 0.0, lambda t: 0.0)


def pushed_in_silence() -> nx.System:
    return pushed(silent_push())


def led_in_silence() -> nx.System:
    system = led(Ramp()).with_parameters({})
    system.add_driver(nx.Driver("turn", "hinge", silent_ramp()))
    return system


def acted_on_in_silence() -> nx.System:
    n = 0

    def action(state: Any) -> None:
        nonlocal n
        n += 1
        state.velocity["h1"] = 0.1 * n * state.velocity["h1"]

    return arm(calm=True, events=[nx.Event("knock", time=0.05, action=action)])


def watched_in_silence() -> nx.System:
    seen: list[float] = []

    def level(t: float, q: np.ndarray, v: np.ndarray) -> float:
        seen.append(t)
        return float(q[1]) - 1e3 + 1e-9 * len(seen)

    return arm(calm=True, events=[nx.Event("seen", function=level)])


@pytest.mark.filterwarnings("ignore::nexdyn.NexDynWarning")
@pytest.mark.parametrize(
    ("build", "whose"),
    [
        (pushed_in_silence, "force 'push'"),
        (led_in_silence, "driver 'turn'"),
        (acted_on_in_silence, "event 'knock' (action)"),
        (watched_in_silence, "event 'seen' (function)"),
    ],
)
def test_user_forces_drivers_and_events_that_keep_a_state_to_themselves_are_refused_by_name(
    build: Callable[[], nx.System], whose: str, tmp_path: Path
) -> None:
    half = nx.simulate(build(), HALF, FIXED["hht"])
    half.save(tmp_path / "half.nc")
    for initial in (half, nx.open_result(tmp_path / "half.nc")):
        with pytest.raises(nx.InputError, match=re.escape(whose) + ".*had a state of its own"):
            nx.simulate(build(), END, FIXED["hht"], initial=initial)


def test_a_state_that_steps_taken_again_meet_twice_is_told() -> None:
    def counted(controller: Any) -> nx.System:
        system = controlled(controller)
        system.add_event(nx.Event("turned", joint="axle", value=1e-3))
        return system

    with pytest.warns(nx.NexDynWarning) as said:
        result = nx.simulate(counted(in_closure()), END, FIXED["rk4"])
    assert len([w for w in said if "keeps a state to itself (variable 'n' changed)" in str(w.message)]) == 1
    assert [w["where"] for w in result.warnings if w["kind"] == "state"] == ["force 'count' (function)"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Python.*")
        told = nx.simulate(counted(telling_in_closure()), END, FIXED["rk4"])
    assert not told.warnings
    assert state(told) == pytest.approx(state(nx.simulate(controlled(Telling()), END, FIXED["rk4"])), abs=1e-9)


SEVERAL: dict[str, Any] = {
    "rk4": (nx.RungeKutta4(DT), None),
    "hht": (nx.HHT(dt=DT), None),
    "dopri5": (nx.DormandPrince(), [HALF, END]),
    "dop853": (nx.DOP853(), [HALF, END]),
}


@pytest.mark.filterwarnings("ignore:.*Python.*")
@pytest.mark.parametrize("name", SEVERAL)
def test_members_of_a_batch_begin_with_the_states_that_functions_had(name: str) -> None:
    method, times = SEVERAL[name]
    speeds = [0.0, 1.0, 2.0]
    alone = [state(nx.simulate(controlled(Telling()), END, method, v0={"axle": v}, output_times=times)) for v in speeds]
    batch = nx.simulate(controlled(Telling()), END, method, batch={"v0": {"axle": speeds}}, output_times=times)
    for m, end in enumerate(alone):
        np.testing.assert_array_equal(state(batch.member(m)), end)
    with pytest.warns(
        nx.NexDynWarning, match=r"force 'count' \(function\) keeps a state to itself .*next of several runs"
    ):
        nx.simulate(controlled(in_closure()), END, method, batch={"v0": {"axle": speeds}}, output_times=times)


def test_lanes_leave_out_functions_that_tell_a_state() -> None:
    """A force in Python goes in lanes, where calls for all members mix, unless it has a state."""

    def build(latch: Any) -> nx.System:
        system = nx.System("pushed", gravity=(0, 0, 0))
        system.add_body("sled", mass=1.0, inertia=(1.0, 1.0, 2.0))
        system.add_joint(nx.Prismatic("rail", "ground", "sled", axis=(1, 0, 0)))
        system.add_force(nx.UserForce("push", "sled", "ground", function=latch))
        return system

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Python.*")
        batch = nx.simulate(build(Tired()), END, nx.RungeKutta4(DT), batch={"v0": {"rail": [1.0, 2.0]}})
        alone = [nx.simulate(build(Tired()), END, nx.RungeKutta4(DT), v0={"rail": v}) for v in (1.0, 2.0)]
    for m, one in enumerate(alone):
        np.testing.assert_array_equal(state(batch.member(m)), state(one))


class Tired:
    """Pushes less with every call."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, t: float, A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
        self.calls += 1
        out[3] = 10.0 / self.calls

    def save_state(self) -> int:
        return self.calls

    def load_state(self, state: int) -> None:
        self.calls = state


@pytest.mark.filterwarnings("ignore:.*Python.*")
def test_second_runs_of_studies_begin_with_the_states_that_functions_had() -> None:
    method = nx.RungeKutta4(DT)
    plain = nx.simulate(controlled(Telling()), END, method, error_estimate=True)
    assert plain.error_estimate is not None
    # steps end at samples, of which the controller alone depends: both runs have the same efforts
    assert float(plain.error_estimate.errors["joint_position"].max()) < 1e-12
    with pytest.warns(nx.NexDynWarning, match="keeps a state to itself"):
        nx.simulate(controlled(in_closure()), END, method, error_estimate=True)
    found = nx.sensitivity(controlled(Telling()), END, ["wheel.mass"], method=method)
    with pytest.warns(nx.NexDynWarning, match="keeps a state to itself"):
        nx.sensitivity(controlled(in_closure()), END, ["wheel.mass"], method=method)
    # of a wheel on an axle nothing depends on the mass
    assert float(np.abs(found.of("joint_position.axle").values).max()) < 1e-9

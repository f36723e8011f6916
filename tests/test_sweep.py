"""Sweeps: designs, processes, a Dask cluster that loses a worker, folders that go on, members that fail, the command line."""

from __future__ import annotations

import collections
import enum
import functools
import importlib
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.integrate.fixed import march
from nexdyn.results.result import Result

RK4 = nx.RungeKutta4(1e-2)
GIVEN: dict[str, Any] = {"t_end": 0.5, "method": RK4}
EXITED, GAVE_NOTHING = "SystemExit: enough", "measure 'x' returned None; a number, an array or a DataArray is needed"
TEXTS = ["max joint_position.slide", "final joint_velocity.slide"]


def oscillator() -> nx.System:
    system = nx.System("oscillator", gravity=(0, 0, 0))
    m, k = system.parameter("m", 2.0), system.parameter("k", 9.0)
    block = system.add_body("block", mass=m)
    system.add_joint(
        nx.Prismatic("slide", system.ground, block, at=(0, 0, 0), axis=(0, 0, 1), stiffness=k, damping=0.2, q0=0.3)
    )
    return system


def final(result: Result) -> Any:
    return result.joint_position("slide")[-1].drop_vars(["time", "coordinate"])


def inside(result: Result) -> list[float]:
    """Threads, time loops compiled, and taken from the cache, and the process."""
    import numba

    compiled, cached = (float(sum(x.values())) for x in (march.stats.cache_misses, march.stats.cache_hits))
    return [float(numba.get_num_threads()), compiled, cached, float(os.getpid())]


def dies_exits_or_gives_nothing(result: Result) -> float | None:
    k = result.system.values["k"]
    if k == 3.0:
        os.kill(os.getpid(), signal.SIGKILL)
    if k == 5.0:
        sys.exit("enough")
    return None if k == 6.0 else float(result.recording.q[-1, 0])


# --- designs ----------------------------------------------------------------------------------------------------------


def test_a_grid_has_an_axis_a_parameter_and_the_numbers_of_single_runs() -> None:
    system = oscillator()
    data = nx.sweep(system, {"m": [1.0, 2.0, 3.0], "k": [5.0, 9.0]}, measure=TEXTS, jobs=1, **GIVEN)
    assert data["status"].dims == ("m", "k") and data.sizes == {"m": 3, "k": 2}
    assert (data["status"] == "finished").all() and (data["cause"] == "").all() and data.attrs["failed"] == 0
    assert data[TEXTS[0]].attrs["units"] == "m" and data[TEXTS[1]].attrs["units"] == "m/s"
    for m in (1.0, 2.0, 3.0):
        for k in (5.0, 9.0):
            alone = nx.simulate(system.with_parameters({"m": m, "k": k}), **GIVEN)
            assert float(data[TEXTS[1]].sel(m=m, k=k)) == alone.joint_velocity("slide")[-1]


def test_a_list_sets_values_side_by_side() -> None:
    data = nx.sweep(
        oscillator(),
        {"m": [1.0, 2.0], "block.com": [[0, 0, 0], [0, 0, 1]]},
        measure={"x": final},
        design="list",
        jobs=1,
        **GIVEN,
    )
    assert data["x"].dims == ("member",) and data["m"].to_numpy().tolist() == [1.0, 2.0]
    assert data["block.com"].to_numpy().tolist() == ["(0, 0, 0)", "(0, 0, 1)"]


def test_a_latin_hypercube_meets_each_part_of_each_range_once() -> None:
    given: dict[str, Any] = {"measure": TEXTS[0], "design": "latin-hypercube", "samples": 10, "jobs": 1, **GIVEN}
    data = nx.sweep(oscillator(), {"m": (1.0, 3.0), "k": {"loguniform": (1.0, 100.0)}}, seed=4, **given)
    parts_m = np.floor((data["m"].to_numpy() - 1.0) / 2.0 * 10)
    parts_k = np.floor(np.log10(data["k"].to_numpy()) / 2.0 * 10)
    assert sorted(parts_m) == sorted(parts_k) == list(range(10))
    again = nx.sweep(oscillator(), {"m": (1.0, 3.0), "k": {"loguniform": (1.0, 100.0)}}, seed=4, **given)
    assert again.identical(data)
    other = nx.sweep(oscillator(), {"m": (1.0, 3.0), "k": {"loguniform": (1.0, 100.0)}}, seed=5, **given)
    assert not np.array_equal(other["m"], data["m"])


def test_monte_carlo_draws_from_the_distributions() -> None:
    from scipy import stats

    from nexdyn.studies.sweep_design import make_design

    given = {"a": {"normal": (2.0, 0.5)}, "b": {"lognormal": (3.0, 0.2)}, "c": stats.gamma(2.0), "d": (0.0, 1.0)}
    design = make_design(given, "monte-carlo", 4000, 1)
    expected = [stats.norm(2.0, 0.5), stats.lognorm(0.2, scale=3.0), stats.gamma(2.0), stats.uniform()]
    for k, distribution in enumerate(expected):
        drawn = [member[k] for member in design.members]
        assert stats.kstest(drawn, distribution.cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameters": {"mm": [1.0]}}, "did you mean 'm'"),
        ({"parameters": {"slide.stifness": [1.0]}}, "did you mean 'stiffness'"),
        ({"parameters": {}}, "a mapping like"),
        ({"parameters": {"m": []}}, "'m' has no values, so the sweep has no members"),
        ({"parameters": {"m": 1.0}}, "a list is needed"),
        ({"parameters": {"m": [1.0, 2.0], "k": [1.0]}, "design": "list"}, "there are m 2, k 1"),
        ({"design": "gird"}, "did you mean 'grid'"),
        ({"samples": 5}, "samples is for latin-hypercube and monte-carlo"),
        ({"design": "monte-carlo", "parameters": {"m": (1.0, 2.0)}}, "samples is None"),
        ({"design": "monte-carlo", "samples": 0, "parameters": {"m": (1.0, 2.0)}}, "samples is 0"),
        ({"design": "monte-carlo", "samples": 2, "parameters": {"m": {"norml": (1.0, 2.0)}}}, "did you mean 'normal'"),
        (
            {"design": "monte-carlo", "samples": 2, "parameters": {"m": (2.0, 1.0)}},
            "the first must be below the second",
        ),
        ({"design": "monte-carlo", "samples": 2, "parameters": {"m": (1.0, 2.0)}, "seed": -1}, "seed is -1"),
        ({"measure": "joint_position.slide"}, "is no single number; begin with one of final"),
        ({"measure": []}, "text like 'max reaction.hinge1.fx'"),
        ({"measure": {"status": "max total_energy"}}, "cannot be called 'status'"),
        ({"jobs": 0}, "jobs is 0"),
        ({"t_end": -1.0}, "t_end"),
        ({"jobs": 2, "cluster": "tcp://127.0.0.1:1"}, "leave them out where a cluster is named"),
        ({"cluster": "127.0.0.1:1", "jobs": None}, "like tcp://host:8786"),
    ],
)
def test_what_cannot_be_swept_is_refused_with_reason_before_anything_runs(changes: Any, said: str) -> None:
    given = {"parameters": {"m": [1.0, 2.0]}, "measure": TEXTS[0], "jobs": 1, **GIVEN} | changes
    with pytest.raises(nx.InputError) as caught:
        nx.sweep(oscillator(), **given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("module", "options", "said"),
    [
        ("joblib", {"jobs": 2}, "several processes need joblib: pip install 'nexdyn[sweep]', or say jobs=1"),
        (
            "distributed",
            {"jobs": None, "cluster": "tcp://127.0.0.1:1"},
            "a cluster needs Dask: pip install 'nexdyn[dask]'",
        ),
    ],
)
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, module: str, options: Any, said: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(nx.InputError) as caught:
        nx.sweep(oscillator(), {"m": [1.0, 2.0, 3.0]}, measure=TEXTS[0], **(GIVEN | options))
    assert said in str(caught.value)


# --- members ----------------------------------------------------------------------------------------------------------


def test_members_that_fail_are_told_by_index_and_cause_and_do_not_stop_the_rest() -> None:
    data = nx.sweep(oscillator(), {"m": [1.0, 0.0, 3.0], "k": [5.0, 9.0]}, measure=TEXTS, jobs=1, **GIVEN)
    assert data["status"].to_numpy().tolist() == [["finished"] * 2, ["failed"] * 2, ["finished"] * 2]
    assert data.attrs["failed"] == 2 and "joint 'slide' moves no inertia" in str(data["cause"].sel(m=0.0, k=5.0).item())
    assert np.isnan(data[TEXTS[0]].sel(m=0.0)).all() and np.isfinite(data[TEXTS[0]].sel(m=[1.0, 3.0])).all()


def test_a_measure_may_be_a_function_that_gives_a_number_or_labelled_arrays() -> None:
    def whole(result: Result) -> Any:
        return result.position("block")[-1].drop_vars(["time", "body"])

    data = nx.sweep(
        oscillator(), {"m": [1.0, 2.0]}, measure={"whole": whole, "plain": lambda r: [1.0, 2.0]}, jobs=1, **GIVEN
    )
    assert data["whole"].dims == ("m", "axis") and data["axis"].to_numpy().tolist() == ["x", "y", "z"]
    assert data["whole"].attrs["units"] == "m"
    assert data["plain"].dims == ("m", "plain_0") and data["plain"].to_numpy().tolist() == [[1.0, 2.0]] * 2


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("max joint_position.slid", "no joint or body 'slid'; did you mean 'slide'"),
        ("final position.blok.z", "no body or marker 'blok'; did you mean 'block'"),
        ("peak reactions.slide.fx", "no quantity 'reactions'; did you mean 'reaction'"),
    ],
)
def test_a_measure_that_names_nothing_is_refused_before_anything_runs(measure: str, told: str) -> None:
    started: list[int] = []
    with pytest.raises(nx.UnknownNameError, match=told):
        nx.sweep(oscillator(), {"m": [1.0]}, measure=measure, progress=lambda *_: started.append(1), jobs=1, **GIVEN)
    assert not started


# --- a folder that goes on --------------------------------------------------------------------------------------------


def test_a_sweep_that_was_stopped_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    given: dict[str, Any] = {"measure": TEXTS, "jobs": 1, "folder": tmp_path / "study", **GIVEN}
    axes = {"m": [1.0, 2.0, 3.0], "k": [5.0, 0.0]}

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nx.sweep(oscillator(), axes, progress=stop, **given)
    files = sorted((tmp_path / "study" / "members").glob("*.json"))
    assert len(files) == 4
    files[1].write_text('{"torn')  # counts as none
    seen: list[int] = []
    data = nx.sweep(oscillator(), axes, progress=lambda done, _: seen.append(done), **given)
    assert seen == [3, 4, 5, 6]
    assert data.identical(nx.sweep(oscillator(), axes, **(given | {"folder": None})))
    seen.clear()
    assert nx.sweep(oscillator(), axes, progress=lambda done, _: seen.append(done), **given).identical(data)
    assert seen == [6]


@pytest.mark.parametrize(
    "changes",
    [{"t_end": 0.6}, {"measure": TEXTS[1]}, {"parameters": {"m": [1.0, 5.0]}}, {"method": nx.RungeKutta4(0.02)}],
)
def test_a_folder_of_another_study_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    given = {"parameters": {"m": [1.0, 2.0]}, "measure": TEXTS[0], "jobs": 1, "folder": tmp_path, **GIVEN}
    nx.sweep(oscillator(), **given)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match="holds another study"):
        nx.sweep(oscillator(), **(given | changes))
    with pytest.raises(nx.InputError, match="holds another study"):
        nx.sweep(oscillator().with_parameters({"slide.damping": 0.3}), **given)  # type: ignore[arg-type]


def test_the_mark_of_a_study_is_the_same_in_another_process(tmp_path: Path) -> None:
    given: dict[str, Any] = {"measure": TEXTS[0], "jobs": 1, **GIVEN}
    nx.sweep(oscillator(), {"m": [1.0, 2.0]}, folder=tmp_path, **given)
    code = (
        "import nexdyn as nx; from test_sweep import *; seen = []; "
        "nx.sweep(oscillator(), {'m': [1.0, 2.0]}, measure=TEXTS[0], jobs=1, folder=r'" + str(tmp_path) + "', "
        "progress=lambda d, _: seen.append(d), **GIVEN); assert seen == [2], seen"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    )


# --- what a study depends on ------------------------------------------------------------------------------------------


def times_two(x: float) -> float:
    return 2.0 * x


class Scaled:
    """A measure with a constant of its own."""

    def __init__(self, k: float) -> None:
        self._k = k

    def __call__(self, result: Result) -> float:
        return self._k * float(result.recording.q[-1, 0])

    def method(self, result: Result) -> float:
        return self._k


def constant(k: float) -> Any:
    return lambda result: k * float(result.recording.q[-1, 0])


def powered(result: Result, k: float = 1.0, *, factor: float = 1.0) -> float:
    return factor * k * float(result.recording.q[-1, 0])


def pushed(k: float, name: str = "push") -> nx.System:
    """The oscillator with a force of the user's, which holds a constant."""
    system = oscillator()
    system.add_force(nx.UserJointForce(name, "slide", lambda t, q, v: k * t))
    return system


def with_event(k: float) -> nx.System:
    system = oscillator()
    system.add_event(nx.Event("push", time=0.1, action=lambda state: state.velocity.update(slide=[k])))
    return system


def scaled_globally(k: float) -> Any:
    """A function that names a number of its module."""
    space: dict[str, Any] = {"K": k}
    exec("def f(result):\n    return K * result.recording.q[-1, 0]", space)
    return space["f"]


def of_module(k: float, of: str = "M.c") -> Any:
    """A function that takes a number, or a function, from another module of the user's."""
    inner, outer = types.ModuleType("inner"), types.ModuleType("outer")
    exec(f"c = {k}\ndef g():\n    return c", inner.__dict__)
    outer.__dict__["sub"] = inner
    space: dict[str, Any] = {"M": inner, "outer": outer}
    exec(f"def f(result):\n    return {of}", space)
    return space["f"]


def of_class(value: Any) -> Any:
    """An object whose number is one of its class."""
    return type("Held", (), {"held": value, "__call__": lambda self, result: float(np.sum(self.held))})()


def of_member(value: float) -> Any:
    member = enum.Enum("Way", {"A": value}).A  # type: ignore[attr-defined]
    return lambda result: member.value


class Gains(dict[str, float]):
    """A mapping with an attribute."""

    k: float

    @classmethod
    def of(cls, k: float) -> Gains:
        found = cls()
        found.k = k
        return found


def of_default(k: float) -> Any:
    gains = collections.defaultdict(lambda: k)
    return lambda *given: gains.default_factory()  # type: ignore[misc]


def of_attribute(k: float) -> Any:
    gains = Gains.of(k)
    return lambda *given: gains.k


def of_missing(k: float) -> Any:
    gains = type("Missing", (collections.UserDict,), {"__missing__": lambda self, key: k})()
    return lambda *given: gains["a"]


def of_random_numbers(seed: int) -> Any:
    numbers = random.Random(seed)
    return lambda *given: random.Random(repr(numbers.getstate())).random()


def pushed_by(function: Any) -> nx.System:
    system = oscillator()
    system.add_force(nx.UserJointForce("push", "slide", function))
    return system


def started(v: float) -> Result:
    return nx.simulate(oscillator(), 0.02, RK4, v0=[v])


THIRD = np.array([1.0 / 3.0])
OTHERS: dict[str, tuple[Any, Any]] = {
    "constant of a measure": ({"measure": lambda r: 1.0}, {"measure": lambda r: 2.0}),
    "attribute name": ({"measure": lambda r: r.recording.q[-1, 0]}, {"measure": lambda r: r.recording.v[-1, 0]}),
    "closure of a measure": ({"measure": constant(1.0)}, {"measure": constant(1.0 + 1e-15)}),
    "partial": (
        {"measure": {"x": functools.partial(powered, k=1.0)}},
        {"measure": {"x": functools.partial(powered, k=2.0)}},
    ),
    "default": ({"measure": lambda r, k=1.0: k}, {"measure": lambda r, k=2.0: k}),
    "callable object": ({"measure": {"x": Scaled(1.0)}}, {"measure": {"x": Scaled(2.0)}}),
    "bound method": ({"measure": {"x": Scaled(1.0).method}}, {"measure": {"x": Scaled(2.0).method}}),
    "global number": ({"measure": {"x": scaled_globally(1.0)}}, {"measure": {"x": scaled_globally(2.0)}}),
    "nested function": (
        {"measure": lambda r: (lambda x: x + 1.0)(0.0)},
        {"measure": lambda r: (lambda x: x + 2.0)(0.0)},
    ),
    "number of another module": ({"measure": {"x": of_module(1.0)}}, {"measure": {"x": of_module(2.0)}}),
    "function of another module": (
        {"measure": {"x": of_module(1.0, "M.g()")}},
        {"measure": {"x": of_module(2.0, "M.g()")}},
    ),
    "module of a module": (
        {"measure": {"x": of_module(1.0, "outer.sub.c")}},
        {"measure": {"x": of_module(2.0, "outer.sub.c")}},
    ),
    "list of a class": ({"measure": {"x": of_class([1.0])}}, {"measure": {"x": of_class([2.0])}}),
    "array of a class": ({"measure": {"x": of_class(THIRD)}}, {"measure": {"x": of_class(2.0 * THIRD)}}),
    "member of an enumeration": ({"measure": {"x": of_member(1.0)}}, {"measure": {"x": of_member(2.0)}}),
    "default of a mapping": ({"measure": {"x": of_default(1.0)}}, {"measure": {"x": of_default(2.0)}}),
    "attribute of a mapping": ({"measure": {"x": of_attribute(1.0)}}, {"measure": {"x": of_attribute(2.0)}}),
    "what a mapping gives": ({"measure": {"x": of_missing(1.0)}}, {"measure": {"x": of_missing(2.0)}}),
    "seed": ({"measure": {"x": of_random_numbers(1)}}, {"measure": {"x": of_random_numbers(2)}}),
    "default of a force": ({"system": pushed_by(of_default(1.0))}, {"system": pushed_by(of_default(2.0))}),
    "seed of a force": ({"system": pushed_by(of_random_numbers(1))}, {"system": pushed_by(of_random_numbers(2))}),
    "name of a measure": ({"measure": {"x": TEXTS[0]}}, {"measure": {"y": TEXTS[0]}}),
    "constant of a force": ({"system": pushed(1.0)}, {"system": pushed(2.0)}),
    "constant of an action": ({"system": with_event(1.0)}, {"system": with_event(2.0)}),
    "another force": ({"system": pushed(1.0)}, {"system": oscillator()}),
    "tenth digit of an array": ({"q0": THIRD}, {"q0": THIRD + 1e-10}),
    "last bit of a number": ({"t_end": 0.5}, {"t_end": np.nextafter(0.5, 1.0)}),
    "velocity by name": ({"v0": {"slide": 1.0}}, {"v0": {"slide": 1.5}}),
    "another initial": ({"initial": started(0.0)}, {"initial": started(1e-12)}),
    "method": ({"method": RK4}, {"method": nx.RungeKutta4(2e-2)}),
    "tolerance": ({"method": nx.DormandPrince(rtol=1e-6)}, {"method": nx.DormandPrince(rtol=1e-7)}),
    "dynamics": ({"dynamics": "aba"}, {"dynamics": "crba"}),
    "output": ({"output_every": 1}, {"output_every": 2}),
    "values": ({"parameters": {"m": [1.0, 2.0]}}, {"parameters": {"m": [1.0, 2.0 + 1e-15]}}),
    "gravity": (
        {"system": oscillator()},
        {"system": oscillator().with_parameters({"gravity": (0.0, 0.0, 1e-9)})},
    ),
    "another parameter's law": (
        {"system": oscillator().with_parameters({"k": 9.0})},
        {"system": oscillator().with_parameters({"k": "=4.5*m"})},
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:user function")
@pytest.mark.parametrize("what", OTHERS)
def test_a_folder_is_refused_to_a_study_that_differs_in_anything(tmp_path: Path, what: str) -> None:
    given = {"system": oscillator(), "parameters": {"m": [1.0, 2.0]}, "measure": TEXTS[0], "jobs": 1, **GIVEN}
    first, second = (given | changes | {"folder": tmp_path} for changes in OTHERS[what])
    data = nx.sweep(**first)
    seen: list[int] = []
    again = nx.sweep(**(first | {"progress": lambda done, _: seen.append(done)}))
    assert seen == [2] and again.identical(data)
    with pytest.raises(nx.InputError, match="holds another study"):
        nx.sweep(**second)


def test_a_folder_is_refused_where_a_module_that_a_measure_imports_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def imported(result: Result) -> float:
        import nexdyn_test_helpers

        return float(nexdyn_test_helpers.c)

    monkeypatch.syspath_prepend(str(tmp_path))
    given = {
        "parameters": {"m": [1.0, 2.0]},
        "measure": {"x": imported},
        "jobs": 1,
        "folder": tmp_path / "study",
        **GIVEN,
    }
    for k in (1.0, 2.0):
        (tmp_path / "nexdyn_test_helpers.py").write_text(
            f"c = {k}\n\n" * int(k)
        )  # of another length, so that it is read anew
        monkeypatch.delitem(sys.modules, "nexdyn_test_helpers", raising=False)
        importlib.invalidate_caches()
        if k == 1.0:
            nx.sweep(oscillator(), **given)  # type: ignore[arg-type]
            continue
        with pytest.raises(nx.InputError, match="holds another study"):
            nx.sweep(oscillator(), **given)  # type: ignore[arg-type]


def test_a_study_whose_parts_cannot_be_told_apart_is_not_gone_on_with(tmp_path: Path) -> None:
    given = {"parameters": {"m": [1.0, 2.0]}, "jobs": 1, "folder": tmp_path, **GIVEN}
    nx.sweep(oscillator(), measure={"x": constant(threading.Lock() and 1.0)}, **given)  # type: ignore[arg-type]
    lock = threading.Lock()
    locked = {"measure": {"x": lambda result: 1.0 if lock else 0.0}}
    nx.sweep(oscillator(), **(given | locked | {"folder": tmp_path / "locked"}))
    with pytest.raises(nx.InputError, match=r"cannot be said: <unlocked _thread\.lock"):
        nx.sweep(oscillator(), **(given | locked | {"folder": tmp_path / "locked"}))


def test_a_study_with_a_measure_that_counts_is_refused_in_words(tmp_path: Path) -> None:
    counting = itertools.count()
    given = {"measure": {"x": lambda result: float(next(counting))}, "jobs": 1, "folder": tmp_path, **GIVEN}
    assert list(nx.sweep(oscillator(), {"m": [1.0, 2.0]}, **given)["x"].values) == [0.0, 1.0]  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match=r"holds another study|holds a study already"):
        nx.sweep(oscillator(), {"m": [1.0, 2.0]}, **given)  # type: ignore[arg-type]


def test_a_measure_that_exits_or_gives_nothing_fails_its_member_alone() -> None:
    def leaves(result: Result) -> Any:
        if result.system.values["k"] == 2.0:
            sys.exit("enough")
        return None if result.system.values["k"] == 3.0 else 1.0

    data = nx.sweep(oscillator(), {"k": [1.0, 2.0, 3.0, 4.0]}, measure={"x": leaves}, jobs=1, **GIVEN)
    assert data["status"].to_numpy().tolist() == ["finished", "failed", "failed", "finished"]
    assert data["cause"].to_numpy().tolist()[1:3] == [
        EXITED,
        "InputError: " + GAVE_NOTHING,
    ]


# --- processes --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_processes_give_the_same_bits_on_one_thread_each_and_compile_nothing() -> None:
    axes = {"m": [1.0, 2.0, 3.0], "k": [4.0, 5.0, 9.0]}
    alone = nx.sweep(oscillator(), axes, measure={"x": TEXTS[0]}, jobs=1, **GIVEN)
    seen: list[int] = []
    data = nx.sweep(
        oscillator(),
        axes,
        measure={"x": TEXTS[0], "inside": inside},
        jobs=2,
        progress=lambda done, _: seen.append(done),
        **GIVEN,
    )
    assert seen == list(range(10)) and data.attrs["failed"] == 0
    np.testing.assert_array_equal(data["x"], alone["x"])
    threads, compiled, cached, process = np.moveaxis(
        data["inside"].to_numpy().reshape(9, 4)[1:], 1, 0
    )  # the first ran here
    assert (threads == 1).all() and (compiled == 0).all() and (cached == 1).all() and os.getpid() not in process


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A worker stopped")  # joblib's word for what is done to it here
def test_a_member_whose_process_dies_or_whose_measure_exits_is_named_and_the_rest_finish() -> None:
    k = np.arange(1.0, 9.0)
    data = nx.sweep(oscillator(), {"k": k}, measure={"x": dies_exits_or_gives_nothing}, jobs=2, **GIVEN)
    status = dict(zip(k, data["status"].to_numpy().tolist(), strict=True))
    assert {x for x in k if status[x] == "failed"} == {3.0, 5.0, 6.0} and set(status.values()) == {"failed", "finished"}
    assert "its process died" in str(data["cause"].sel(k=3.0).item())
    assert data["cause"].sel(k=[5.0, 6.0]).to_numpy().tolist() == [EXITED, "InputError: " + GAVE_NOTHING]


# --- a cluster --------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler and its two workers, each a process."""
    pytest.importorskip("distributed")
    file, log = tmp_path / "scheduler.json", (tmp_path / "dask.log").open("wb")
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    dask = [sys.executable, "-m", "dask"]
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "120s"}
    options: dict[str, Any] = {"stdout": log, "stderr": log, "env": environment, "cwd": tmp_path}
    scheduler = subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *common], **options)
    workers = []
    try:
        while not file.exists() or not file.read_text().strip():
            assert scheduler.poll() is None, (tmp_path / "dask.log").read_text()
            time.sleep(0.1)
        one = [*dask, "worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", *common]
        workers = [subprocess.Popen(one, **options) for _ in range(2)]
        address = json.loads(file.read_text())["address"]
        from distributed import Client

        with Client(address, set_as_default=False, timeout=120) as client:
            client.wait_for_workers(2, timeout=300)
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        log.close()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_loses_no_member(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nexdyn.studies.sweep.ANSWER", 300.0)  # of a machine that has much else to do
    address, workers = cluster
    axes = {"m": [1.0, 2.0, 3.0, 4.0], "k": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]}
    killed_at: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if done and not killed_at:
            killed_at.append(done)
            workers[0].kill()

    data = nx.sweep(oscillator(), axes, measure=TEXTS, cluster=address, progress=kill_one, **GIVEN)
    assert killed_at and killed_at[0] < 32
    assert workers[0].wait() != 0 and workers[1].poll() is None
    assert data.attrs["failed"] == 0
    alone = nx.sweep(oscillator(), axes, measure=TEXTS, jobs=1, **GIVEN)
    for text in TEXTS:
        np.testing.assert_array_equal(data[text], alone[text])


@pytest.mark.slow
def test_a_member_that_kills_its_worker_takes_no_other_along(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nexdyn.studies.sweep.ANSWER", 300.0)
    address, _ = cluster
    from distributed import Client

    with Client(address, set_as_default=False, timeout=120) as client:  # the first worker that it kills is one too many
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))

    def dies(result: Result) -> float:
        if result.system.values["k"] == 3.0:
            os.kill(os.getpid(), signal.SIGKILL)
        return float(result.recording.q[-1, 0])

    values = [1.0, 2.0, 4.0, 5.0, 6.0, 3.0]  # the last worker is left to the others
    data = nx.sweep(oscillator(), {"k": values}, measure={"x": dies}, cluster=address, **GIVEN)
    status = dict(zip(values, data["status"].to_numpy().tolist(), strict=True))
    assert [k for k, told in status.items() if told == "failed"] == [3.0]
    assert "its worker died" in str(data["cause"].sel(k=3.0).item())


def test_a_scheduler_that_is_not_there_is_told_soon() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(nx.InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1 within 5 s"):
        nx.sweep(oscillator(), {"m": [1.0, 2.0]}, measure=TEXTS[0], cluster="tcp://127.0.0.1:1", **GIVEN)


# --- the command line -------------------------------------------------------------------------------------------------

STUDY = """\
model: scene.yaml
t_end: 0.2
method: rk4
dt: 0.01
parameters:
  m: [1.0, 2.0]
  k: [5.0, 9.0]
measure:
  - max joint_position.slide
  - energy_drift
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    nx.save_scene(oscillator(), tmp_path / "scene.yaml")
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path / "study.yaml"


def test_a_study_is_run_from_the_command_line_and_goes_on(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "study.yaml", "--jobs", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == 4 and told["failed"] == 0 and told["files_written"] == ["study.nc"]
    with xr.open_dataset("study.nc", engine="h5netcdf") as data:
        assert data["max joint_position.slide"].dims == ("m", "k") and (data["status"] == "finished").all()
        assert float(data["max joint_position.slide"].max()) == told["measures"]["max joint_position.slide"]["max"]
    kept = {path: path.stat().st_mtime_ns for path in Path("study.sweep/members").iterdir()}
    assert len(kept) == 4
    assert main(["sweep", "study.yaml", "--jobs", "1"]) == 0
    assert "4 of 4 runs finished" in capsys.readouterr().out
    assert kept == {path: path.stat().st_mtime_ns for path in Path("study.sweep/members").iterdir()}


def test_a_study_with_failed_runs_ends_with_3_and_keeps_the_rest(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.write_text(STUDY.replace("[1.0, 2.0]", "[1.0, 0.0]"))
    assert main(["sweep", "study.yaml", "--jobs", "1"]) == 3
    said = capsys.readouterr()
    assert "2 of 4 runs finished" in said.out and "2 of 4 runs failed; the first: SingularError" in said.err
    assert Path("study.nc").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STUDY.replace("measure:", "mesure:"), "did you mean 'measure'"),
        (STUDY.replace("model: scene.yaml\n", ""), "has no 'model'"),
        (STUDY.replace("  m:", "  mm:"), "did you mean 'm'"),
        (STUDY.replace("scene.yaml", "scne.yaml"), "scne.yaml"),
        (STUDY.replace("method: rk4", "method: rk5"), "rk5"),
        ("- 1\n", "is no study"),
        ("model: [\n", "study.yaml"),
    ],
)
def test_a_study_that_is_wrong_is_refused_with_reason(
    study: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    study.write_text(text)
    assert main(["sweep", "study.yaml", "--jobs", "1"]) == 2
    assert said in capsys.readouterr().err


def test_help_teaches_by_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--help"]) == 0
    said = capsys.readouterr().out
    assert "nexdyn sweep study.yaml --cluster tcp://host:8786" in said and "latin-hypercube" in said

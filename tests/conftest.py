"""What all tests share: a kernel cache of their own, reproducible random numbers, Hypothesis without deadlines.

Files run in any order, on any worker, so none may leave a trace: what a process shares is looked at after every file.
"""

from __future__ import annotations

import collections
import os
import secrets
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from nexdyn import variants

MEMORY_OF_A_WORKER = 2e9
"""Bytes; a worker that compiles a tenth of all kernels takes 1 GB."""

USUAL = 0.22
"""How long `LOOP` takes on a machine where all tests take 25 minutes, cold [s]."""

FAILURE_AT_ONCE = 4000
"""Characters, the last, of a failure that are printed when it happens."""

# A first example may compile a kernel: no deadline. In CI the examples are the same in every run.
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_configure(config: pytest.Config) -> None:
    """Keep kernels from run to run, away from the user's; `pytest --cache-clear` starts cold."""
    if "NEXDYN_CACHE_DIR" not in os.environ:
        os.environ["NEXDYN_CACHE_DIR"] = str(config.cache.mkdir("nexdyn-kernels"))
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # of workers, and of commands that tests start: they share the cores
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Workers must collect the same tests in the same order, sets included. Each run draws another seed; give one to repeat a run.
    if os.environ.get("PYTHONHASHSEED", "random") == "random":
        os.environ["PYTHONHASHSEED"] = str(secrets.randbelow(2**32))
    if "NEXDYN_TURNS" not in os.environ:
        of_all = config.args_source is pytest.Config.ArgsSource.TESTPATHS  # plain `pytest`: no file or test is named
        os.environ["NEXDYN_TURNS"] = str(turns()) if of_all and not config.getoption("--long") else "1"


LOOP = """
import time
began = time.perf_counter()
def rounds():
    total = 0
    for k in range(10**7):
        total += k
rounds()
print(time.perf_counter() - began)
"""


def turns() -> int:
    """In how many runs of the tests each case of those alike has its turn: 1 where all cores at once are as fast as usual or up to 1.4
    times as slow, then 2, from 2.2 times on 3. Else a slow machine would not come to the end in half an hour."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    command = [sys.executable, "-c", LOOP]
    loops = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(cores)]
    times = sum(float(loop.communicate()[0]) for loop in loops) / cores / USUAL
    return 1 if times < 1.4 else 2 if times < 2.2 else 3


def pytest_report_header() -> str:
    """What repeats a run that failed by the order of a set, or by what had its turn."""
    turns = os.environ["NEXDYN_TURNS"]
    left = f": a slow machine; one in {turns} of cases alike and of tests that draw is tried" if turns != "1" else ""
    return f"PYTHONHASHSEED={os.environ['PYTHONHASHSEED']} NEXDYN_TURNS={turns}{left}"


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say at once what failed: a run that is stopped never comes to its summary."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\n── {report.when} of {report.nodeid} failed\n{report.longreprtext[-FAILURE_AT_ONCE:]}", flush=True)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Workers of `-n auto`: one a core as far as memory goes; a single file needs none."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    files = {argument.split("::")[0] for argument in config.args}
    if len(files) == 1 and Path(*files).is_file():
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return cores
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(cores, int(memory / MEMORY_OF_A_WORKER)))


LONGEST_FIRST = (
    "test_matrix", "test_batch", "test_register_joint", "test_matrix_pairs", "test_turns", "test_units", "test_random_systems",
    "test_documents", "test_examples", "test_verify", "test_matrix_runs", "test_shipped_kernels", "test_variants", "test_view_page",
    "test_batch_alone", "test_cli", "test_view", "test_kernel_cache", "test_view_ask", "test_cli_process", "test_view_moments",
    "test_continuing", "test_continuing_killed", "test_sweep",
)  # fmt: skip
"""Files by what they take, cold; the others follow, those with the most tests first. What is long and last keeps one core busy alone.
Lanes, in test_batch and test_turns, share no kernel with the matrix: two workers that begin with the same compile all of it twice."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests marked `long`, too: an hour more")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without --long no test that is marked so; files in their order."""
    if not config.getoption("--long"):
        left = [item for item in items if item.get_closest_marker("long") is not None]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item.get_closest_marker("long") is None]
    if (turns := int(os.environ["NEXDYN_TURNS"])) > 1:
        from turns import of_this_turn  # reads the seed when it is imported

        drawn = ["browser" in getattr(item, "fixturenames", ()) for item in items]
        kept = of_this_turn([item.nodeid for item in items], drawn, turns)
        config.hook.pytest_deselected(items=[item for item, stays in zip(items, kept, strict=True) if not stays])
        items[:] = [item for item, stays in zip(items, kept, strict=True) if stays]
    in_order(items)


def in_order(items: list[pytest.Item]) -> None:
    """Files in the order in which workers shall take them up; the order within a file stays."""
    tests = collections.Counter(item.path.stem for item in items)
    rank = {name: k for k, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: (rank.get(item.path.stem, len(rank)), -tests[item.path.stem], item.path.stem))


def shared_by_the_process() -> dict[str, Any]:
    """What tests share that run in one process: settings of the process, and tables of the package."""
    shared: dict[str, Any] = {f"os.environ[{name!r}]": value for name, value in os.environ.items()}
    shared.pop("os.environ['PYTEST_CURRENT_TEST']", None)
    shared["os.getcwd()"] = os.getcwd()
    shared["numpy.geterr()"] = np.geterr()
    shared["numpy.get_printoptions()"] = str(np.get_printoptions())
    shared["signal.getsignal(signal.SIGINT)"] = signal.getsignal(signal.SIGINT)
    for module_name, module in list(sys.modules.items()):
        if module is None or module_name.partition(".")[0] != "nexdyn":
            continue
        for name, value in vars(module).items():
            if not name.isupper() or name.startswith("_"):
                continue
            if isinstance(value, dict):
                shared[f"{module_name}.{name}"] = list(value.items())
            else:
                shared[f"{module_name}.{name}"] = list(value) if isinstance(value, (list, set)) else value
    return shared


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names of what differs, and of what is gone; new variables of the environment that steer the package, too."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return np.array_equal(a, b)
        return a is b or bool(a == b)

    steering = tuple(f"os.environ['{prefix}" for prefix in ("NEXDYN", "NUMBA", "PYTHON"))
    new = [name for name in after if name.startswith(steering) and name not in before]
    return new + [name for name, value in before.items() if name not in after or not same(value, after[name])]


@pytest.fixture(scope="module", autouse=True)
def no_trace() -> Iterator[None]:
    """A file of tests leaves what others share as it found it."""
    before = shared_by_the_process()
    yield
    changed = changes(before, shared_by_the_process())
    assert not changed, f"tests of this file leave changed: {', '.join(changed)}"


OF_WHAT_THEY_HAVE = ("test_kernel_cache", "test_kernel_memory", "test_variants")
"""Files whose mechanisms get kernels of what they have, as a user's do. In all others they share those of the richest: each of the two
hundred combinations that they have would be compiled else, for an hour. `test_variants` holds the two against each other."""


OF_COMMANDS = (
    "test_benchmarks", "test_ci", "test_cli_process", "test_constraint_curves", "test_forces_described", "test_interpreted",
    "test_shipped_kernels", "test_start_notices", "test_stills", "test_terminal", "test_view_cli",
)  # fmt: skip
"""Files whose commands compile what a user's do. Commands of all other files share the kernels of the tests, so that those printed in the
documents do not compile kernels of their own."""


@pytest.fixture(scope="module", autouse=True)
def one_for_all(request: pytest.FixtureRequest) -> Iterator[None]:
    """Mechanisms share kernels, in this process and in the commands that it starts."""
    before, shared = variants.one_for_all, request.path.stem not in OF_WHAT_THEY_HAVE
    variants.one_for_all = before or shared
    with pytest.MonkeyPatch.context() as patch:
        if shared and request.path.stem not in OF_COMMANDS:
            patch.setenv("NEXDYN_ONE_FOR_ALL", "1")
        yield
    variants.one_for_all = before


@pytest.fixture(autouse=True)
def own_pages() -> Iterator[None]:
    """Pages that a test registers are gone after it."""
    yield
    if "nexdyn.pages.registering" in sys.modules:
        from nexdyn.forces import FORCES
        from nexdyn.joints import JOINTS
        from nexdyn.pages.registering import BASES, forget

        known: list[type] = [*FORCES.values(), *JOINTS.values()]
        for page in [cls for cls in known if issubclass(cls, BASES)]:
            forget(page)


@pytest.fixture(autouse=True)
def said_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once a process counts as said, whichever test comes first; a test that wants to hear it resets it."""
    monkeypatch.setattr("nexdyn.model.callbacks._said_that_python_is_slow", True)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name only."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))

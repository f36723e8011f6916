"""The hook that compiles kernels as a wheel is built: how long, with which versions, and what it puts into the wheel."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from nexdyn import kernel_folders

ROOT = Path(__file__).parents[1]
REQUIRED = ["numpy>=2", "scipy>=1.13", "numba>=0.62"]


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """hatch_build.py, with a builder that does nothing."""
    for name in (
        "hatchling", "hatchling.builders", "hatchling.builders.hooks", "hatchling.builders.hooks.plugin",
        "hatchling.builders.hooks.plugin.interface",
    ):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["hatchling.builders.hooks.plugin.interface"].BuildHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.delenv("NEXDYN_BUILD_KERNELS", raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hook(build: ModuleType) -> Any:
    made = build.KernelHook()
    made.root, said = str(ROOT), []
    made.app = SimpleNamespace(display_info=said.append, display_warning=said.append, said=said)
    made.metadata = SimpleNamespace(core=SimpleNamespace(dependencies=REQUIRED))
    return made


def initialized(made: Any, version: str = "standard") -> dict[str, Any]:
    """What the hook tells the builder."""
    data: dict[str, Any] = {"force_include": {}}
    made.initialize(version, data)
    return data


def warm(ready: bool, code: int = 0) -> Callable[..., Any]:
    """In the place of `nexdyn warm`: notes how it is called, and leaves a folder if it is ready."""

    def run(command: list[str], **options: Any) -> Any:
        run.calls.append(command)  # type: ignore[attr-defined]
        place = Path(command[command.index("--into") + 1])
        if ready:
            place.mkdir()
            (place / kernel_folders.MADE).write_text("{}")
        return SimpleNamespace(returncode=code, stdout="2 of 2 commands are ready", stderr="nexdyn run x ended with 1")

    run.calls = []  # type: ignore[attr-defined]
    return run


def test_kernels_go_into_the_wheel_after_ninety_seconds_at_most(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: Any = warm(ready=True)
    monkeypatch.setattr(subprocess, "run", run)
    made = hook(build)
    data = initialized(made)
    (command,) = run.calls
    assert command[1] == "-c" and repr(str(ROOT / "src")) in command[2]
    assert command[3] == "warm" and command[-2:] == ["--limit", "90.0"]
    ((place, inside),) = data["force_include"].items()
    assert inside == "nexdyn/kernels" and (Path(place) / kernel_folders.MADE).is_file()
    assert data["infer_tag"] and not data["pure_python"], "the wheel is of this Python and machine"
    made.finalize("standard", data, "nexdyn.whl")
    assert not Path(place).exists()


@pytest.mark.parametrize(("given", "limit"), [("30", "30.0"), ("600", "600.0"), ("", "90.0")])
def test_a_variable_says_how_long(build: ModuleType, monkeypatch: pytest.MonkeyPatch, given: str, limit: str) -> None:
    run: Any = warm(ready=False)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("NEXDYN_BUILD_KERNELS", given)
    made = hook(build)
    assert initialized(made) == {"force_include": {}}, "nothing was made, so it is a pure wheel"
    made.finalize("standard", {}, "nexdyn.whl")
    assert run.calls[0][-1] == limit


def test_zero_and_an_editable_install_compile_nothing(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    run: Any = warm(ready=True)
    monkeypatch.setattr(subprocess, "run", run)
    assert initialized(hook(build), "editable") == {"force_include": {}}
    monkeypatch.setenv("NEXDYN_BUILD_KERNELS", "0")
    assert initialized(hook(build)) == {"force_include": {}} and hook(build).dependencies() == []
    assert run.calls == []


def test_a_command_that_fails_is_told_and_the_others_go_along(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", warm(ready=True, code=3))
    made = hook(build)
    assert initialized(made)["force_include"]
    made.finalize("standard", {}, "nexdyn.whl")
    assert made.app.said[0] == "some kernels compile as they are needed: nexdyn run x ended with 1"


@pytest.mark.slow
def test_the_build_itself_stops_at_its_limit(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real `nexdyn warm`, which has time for nothing: the wheel says that it holds no command."""
    monkeypatch.setenv("NEXDYN_BUILD_KERNELS", "0.01")
    made = hook(build)
    data = initialized(made)
    assert made.app.said[0].startswith("0 of ")
    made.finalize("standard", data, "nexdyn.whl")


def test_the_build_runs_what_generates_code_as_it_is_installed(build: ModuleType) -> None:
    """Kernels of other versions would be of no use where the wheel is installed."""
    here = build.installed()
    wanted = kernel_folders.versions()
    assert here == {"numpy": wanted["NumPy"], "llvmlite": wanted["llvmlite"], "numba": wanted["Numba"]}
    assert hook(build).dependencies() == [*REQUIRED, *(f"{name}=={version}" for name, version in here.items())]


def test_what_is_not_installed_or_too_old_there_is_not_pinned(build: ModuleType) -> None:
    assert build.pinned(REQUIRED, {}) == REQUIRED
    assert build.pinned(REQUIRED, {"numpy": "1.26.4", "numba": "0.63.1"}) == [*REQUIRED, "numba==0.63.1"]
    assert build.pinned(REQUIRED, {"llvmlite": "0.43.0", "numba": "0.1.0"}) == REQUIRED  # which go together
    assert build.pinned(["numpy>=2", "numpydoc>=99"], {"numpy": "2.1.0"})[-1] == "numpy==2.1.0"

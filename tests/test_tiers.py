"""Kernels that a release carries for tiers of processors: which of them serve where, and what a result says of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_kernel_cache import PROGRAM, Place

import nexdyn as nx
from nexdyn import kernel_folders
from nexdyn.cli import main
from nexdyn.compiler import tiers

V3, V4 = (next(tier for tier in tiers.TIERS["x86_64"] if tier.name == name) for name in ("x86-64-v3", "x86-64-v4"))
needs_v3 = pytest.mark.skipif(V3 not in tiers.that_run(), reason="this processor has no AVX2")
SAYS = PROGRAM.replace("import nexdyn\n", "import nexdyn\nfrom nexdyn.compiler.tiers import served\n").replace(
    '"file":', '"served": served(), "file":'
)
QEMU = shutil.which("qemu-x86_64")


@pytest.fixture
def shipped(tmp_path: Path) -> Place:
    """A copy of the package with the kernel of a program for two tiers in it, as far as they run here, and an empty cache."""
    place = Place(tmp_path)
    place.program = place.package / "program.py"  # a kernel of the package
    place.program.write_text(SAYS)
    made = [tier for tier in (V3, V4) if tier in tiers.that_run()]
    for tier in made:
        said = place.run(**tier.environment)
        assert (said["misses"], said["served"]) == (1, tier.name)
    shutil.move(place.kernels, place.package / "kernels")
    told = {"versions": kernel_folders.versions(), "commands": [], "tiers": [tier.name for tier in made]}
    (place.package / "kernels" / kernel_folders.MADE).write_text(json.dumps(told))
    return place


@needs_v3
def test_kernels_of_the_best_tier_serve_and_nothing_is_compiled(shipped: Place) -> None:
    said = shipped.run()
    best = next(tier.name for tier in tiers.that_run() if tier in (V3, V4))
    assert (said["hits"], said["misses"], said["q"], said["served"]) == (1, 0, [0.0, 0.0, 1.0, 0.0], best)
    assert shipped.files() == {}


@needs_v3
def test_kernels_of_a_tier_that_the_package_does_not_name_do_not_serve(shipped: Place) -> None:
    told = shipped.package / "kernels" / kernel_folders.MADE
    told.write_text(json.dumps(json.loads(told.read_text()) | {"tiers": []}))
    said = shipped.run()
    assert (said["hits"], said["misses"]) == (0, 1)
    assert said["served"] not in ("", V3.name, V4.name)  # the name of this processor
    assert shipped.run()["served"] == said["served"]  # from the user's cache


@needs_v3
@pytest.mark.skipif(QEMU is None, reason="qemu-x86_64 is not installed (Debian: qemu-user)")
def test_a_processor_without_avx_512_takes_the_kernels_of_the_tier_that_it_has(shipped: Place) -> None:
    environment = os.environ | {"PYTHONPATH": str(shipped.root / "lib"), "NEXDYN_CACHE_DIR": str(shipped.kernels)}
    command = [str(QEMU), "-cpu", "Haswell", sys.executable, str(shipped.program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    assert (said["hits"], said["misses"], said["served"]) == (1, 0, V3.name)
    assert said["q"] == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("machine", ["x86_64", "AMD64", "aarch64", "arm64", "riscv64"])
def test_tiers_are_of_one_kind_of_machine(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    names = [tier.name for tier in tiers.of_machine()]
    expected = {"x": ["x86-64-v4", "x86-64-v3"], "a": ["arm64"], "r": []}
    assert names == expected["x" if machine in ("x86_64", "AMD64") else machine[0]]


def test_a_tier_serves_where_all_its_instructions_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that lacks, makes it none: code of it would end the process."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")

    def run_with(*missing: str) -> list[str]:
        has = {name: name not in missing for name in V4.instructions}
        monkeypatch.setattr(tiers.llvm, "get_host_cpu_features", lambda: has)
        return [tier.name for tier in tiers.that_run.__wrapped__()]

    assert run_with() == ["x86-64-v4", "x86-64-v3"]
    for name in set(V4.instructions) - set(V3.instructions):
        assert run_with(name) == ["x86-64-v3"]
    for name in V3.instructions:
        assert run_with(name) == []


def test_a_result_and_its_file_say_what_kernels_were_made_for(tmp_path: Path) -> None:
    system = nx.System("one")
    system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", "ground", "rod", at=(0, 0, 0), axis=(0, 1, 0)))
    result = nx.simulate(system, 0.01, nx.RungeKutta4(1e-3))
    said = result.recording.settings["kernels"]
    assert said == tiers.served() != ""
    result.save(tmp_path / "one.nc")
    read = nx.open_result(tmp_path / "one.nc")
    assert read.recording.settings["kernels"] == said
    assert read.summary()["kernels"] == said
    of_lanes = nx.simulate(system, 0.01, nx.RungeKutta4(1e-3), batch=nx.Batch(q0=np.zeros((9, 1))))
    assert of_lanes.to_dataset().attrs["kernels"] == of_lanes.member(3).recording.settings["kernels"] == tiers.served()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--tiers", "x86-64-v3"], "give the folder that they go --into"),
        (["--into", "kernels", "--tiers", "x86-64-v33"], "no tier 'x86-64-v33'; did you mean"),
        (["--into", "kernels", "--tiers", "x86-64-v4"], "this processor cannot; it runs x86-64-v3"),
    ],
)
def test_tiers_that_cannot_be_made_are_named(
    given: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(tiers, "that_run", lambda: (V3,))
    assert main(["warm", *given]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@needs_v3
def test_warm_makes_a_folder_for_tiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command once for each tier, as the environment of the commands says."""
    from nexdyn.cli import warm

    seen: list[Any] = []
    run = warm.subprocess.run
    monkeypatch.setattr(warm, "COMMANDS", ("demos",))
    monkeypatch.setattr(
        warm.subprocess, "run", lambda *a, env, **k: (seen.append(env["NUMBA_CPU_NAME"]), run(*a, env=env, **k))[1]
    )
    assert main(["warm", "--into", str(tmp_path), "--tiers", "x86-64-v3"]) == 0
    assert seen == ["x86-64-v3"]
    assert capsys.readouterr().out.startswith("1 of 1 commands are ready")
    assert json.loads((tmp_path / kernel_folders.MADE).read_text())["tiers"] == ["x86-64-v3"]
    monkeypatch.setattr(kernel_folders, "SHIPPED", tmp_path)
    monkeypatch.setattr(kernel_folders, "other_versions", lambda: "")
    assert main(["warm", "--check"]) == 0
    assert "for processors of the tiers x86-64-v3" in capsys.readouterr().out

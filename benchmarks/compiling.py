"""What first commands cost in compiling: processor seconds by stage, each in a process of its own with an empty cache.

typing: Numba's front end, from byte code to types. lowering: to LLVM's language. linking: of bitcode, and its parsing. optimising: LLVM's
passes. machine code: its emission. parts: all that LLVM does for formulas that have machine code of their own. rest: all else, imports and
the run itself among it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Effort, Report, Row
from nexdyn.cli import warm

COMMANDS = tuple(line for line in warm.COMMANDS if not {"view", "robot.urdf"} & {*line.split()})
STAGES = ("typing", "lowering", "linking", "optimising", "machine code", "parts")


def run(effort: Effort) -> Report:
    report = Report("compiling", "processor seconds of first commands with an empty cache, by stage")
    whole: Counter[str] = Counter()
    for command in COMMANDS[:1] if effort.smoke else COMMANDS:
        found = measured(command.split())
        whole.update(found)
        told = ", ".join(f"{stage} {found[stage]:.1f}" for stage in (*STAGES, "rest"))
        report.rows.append(Row(f"nexdyn {command}", "s", found["all"]))
        report.notes.append(f"{command}: {told}")
    report.rows.append(Row("all of them", "s", whole["all"]))
    report.notes.append("all of them: " + ", ".join(f"{stage} {whole[stage]:.1f}" for stage in (*STAGES, "rest")))
    return report


def measured(command: list[str]) -> dict[str, float]:
    """Processor seconds of `nexdyn COMMAND`, by stage, and "all"."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(__file__).resolve().parents[1]
        environment = os.environ | {
            "NEXDYN_CACHE_DIR": str(Path(folder) / "kernels"),
            "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]),
        }
        told = Path(folder) / "stages.json"
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.compiling", str(told), *command],
            env=environment, cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not told.exists():
            raise SystemExit(f"nexdyn {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        found: dict[str, float] = json.loads(told.read_text())
        return found


class Clock:
    """Processor seconds of stages; of one within another only the inner counts."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inner: list[float] = []

    def of(self, owner: Any, name: str, stage: str) -> None:
        """Count what `owner.name` takes."""
        call: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            began = time.process_time()
            self._inner.append(0.0)
            try:
                return call(*arguments, **options)
            finally:
                took = time.process_time() - began
                self.seconds[stage] += took - self._inner.pop()
                if self._inner:
                    self._inner[-1] += took

        setattr(owner, name, timed)


def watch_stages() -> Clock:
    """A clock on Numba's passes and on LLVM."""
    import llvmlite.binding as llvm
    from numba.core import codegen as numba_codegen
    from numba.core import compiler_machinery, object_mode_passes, typed_passes, untyped_passes

    from nexdyn.compiler import codegen, machine_code

    clock = Clock()
    for module in (untyped_passes, typed_passes, object_mode_passes):
        for name, found in list(vars(module).items()):
            if (
                isinstance(found, type)
                and issubclass(found, compiler_machinery.CompilerPass)
                and "run_pass" in vars(found)
            ):
                clock.of(found, "run_pass", "lowering" if "Lower" in name else "typing")
    for name in ("parse_assembly", "parse_bitcode"):
        clock.of(llvm, name, "linking")
    clock.of(numba_codegen.CPUCodeLibrary, "finalize", "linking")
    clock.of(numba_codegen.CPUCodeLibrary, "add_ir_module", "linking")
    clock.of(codegen._Library, "_optimize_functions", "optimising")
    clock.of(machine_code, "_made", "parts")
    for library in (codegen.BitcodeLibrary, codegen.EntryLibrary):
        clock.of(library, "_optimize_final_module", "optimising")
        clock.of(library, "_finalize_final_module", "machine code" if library is codegen.EntryLibrary else "linking")
    return clock


def main() -> int:
    """`python -m benchmarks.compiling FILE COMMAND …`: run the command and write its seconds by stage."""
    file, command = Path(sys.argv[1]), sys.argv[2:]
    clock = watch_stages()
    from nexdyn.cli import main as nexdyn

    try:
        nexdyn(command)
    except SystemExit as ended:
        if ended.code not in (0, None):
            raise
    everything = time.process_time()
    found = {stage: clock.seconds[stage] for stage in STAGES}
    file.write_text(json.dumps(found | {"rest": everything - sum(found.values()), "all": everything}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

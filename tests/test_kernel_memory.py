"""What compiling leaves in the process: machine code, bitcode as bytes, and little else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import gc
import json
import numpy as np
from llvmlite.binding.module import ModuleRef
from numba.core import ir
from nexdyn.kernel import kernel
from nexdyn.spatial.algebra import cross, to_child
from nexdyn.spatial.table import MotionRows, PoseRows

def megabytes():
    # bytes in use, not the peak; the allocator's free lists and arenas are in it
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

def carried_on(factor):
    @kernel
    def carried(poses, motions):
        X, V = PoseRows(poses, 0), MotionRows(motions, 0)
        for i in range(len(poses)):
            a, b = X[i], V[i]
            for _ in range(3):
                b = to_child(a @ a, b) + factor * cross(b, to_child(a, b))
            V[i] = b

    return carried

poses, motions = np.ones((2, 12)), np.ones((2, 6))
entries = [carried_on(1.0 + k) for k in range(20)]
used = []
for entry in entries:
    entry(poses, motions)
    gc.collect()
    used.append(megabytes())

modules = [x for x in gc.get_objects() if isinstance(x, ModuleRef) and not x.closed]
stubs = "{\\n  ret void\\n}"
bodies = [str(f) for m in modules for f in m.functions if not f.is_declaration and stubs not in str(f)]
ours = [f for entry in entries for f in (entry, entry.inner)]
made = [result for f in ours for result in f.overloads.values()]
print(json.dumps({
    "used": used,
    "bodies": [body[:300] for body in bodies if "nexdyn" in body or "carried" in body],
    "kept": sum(bool(r.type_annotation or r.metadata or r.fndesc.typemap or r.fndesc.calltypes) for r in made),
    "code": sum(hasattr(r.library, "object_code") for r in made),
    "entries": len(made),
}))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process says that compiled the same entry for twenty constants."""
    place = tmp_path_factory.mktemp("memory")
    (place / "program.py").write_text(PROGRAM)
    env = {**os.environ, "NEXDYN_CACHE_DIR": str(place / "kernels")}
    done = subprocess.run([sys.executable, place / "program.py"], env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_no_code_of_the_compilers_stays(said: Any) -> None:
    assert said["entries"] == 40
    assert said["bodies"] == []
    assert said["kept"] == said["code"] == 0


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_an_entry_leaves_less_than_half_a_megabyte(said: Any) -> None:
    first, last = said["used"][9], said["used"][-1]
    assert last - first < 10 * 0.5, said["used"]


def test_modules_and_contexts_that_are_garbage_together_are_freed_once() -> None:
    # a context frees its modules, and Python may free it first: in a process of its own, which must live
    program = """
import gc
import nexdyn.compiler.codegen
from llvmlite import binding as llvm

class Library:
    pass

for i in range(100):
    library = Library()
    if i % 2:
        library.context = llvm.create_context()
        library.module = llvm.parse_assembly("define void @f() { ret void }", library.context)
    else:
        context = llvm.create_context()
        library.module, library.context = llvm.parse_assembly("define void @f() { ret void }", context), context
    library.itself = library
    library = context = None
    gc.collect()
print("lives")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "lives\n"), done.stderr[-2000:]

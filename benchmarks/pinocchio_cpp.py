"""Builds and loads Pinocchio's C++ headers, which the wheel `pin` carries, compiled for this machine.

Needs a C++ compiler and Eigen's headers (`pip install cmeel-eigen`, or Debian's libeigen3-dev). The library is kept beside
NexDyn's cache folder.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import nexdyn as nx
from benchmarks.models import RandomTree
from nexdyn.joints.kinds import FREE, PRISMATIC, REVOLUTE
from nexdyn.tree.core.tables import Rigids

SOURCE = Path(__file__).with_name("pinocchio_aba.cpp")
FLAGS = (
    "-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-shared", "-fPIC", "-w",
    "-fvisibility=hidden", "-fno-gnu-unique",  # apart from the wheel's own library in this process
    # as pinocchio's CMake targets define
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)  # fmt: skip


def load(build: bool) -> tuple[ctypes.CDLL | None, str]:
    """The library, or None and the reason why there is none."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    pinocchio = header_folder("pinocchio/algorithm/aba.hpp", "cmeel.prefix/include")
    eigen = header_folder("Eigen/Core", "cmeel.prefix/include/eigen3")
    if not compiler:
        return None, "there is no C++ compiler"
    if not pinocchio or not eigen:
        return None, f"headers of {'Eigen (pip install cmeel-eigen)' if pinocchio else 'Pinocchio'} are missing"
    command = [compiler, *FLAGS, f"-I{pinocchio}", f"-I{eigen}", str(SOURCE)]
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    key = hashlib.sha256(" ".join([*command[:-1], version("pin"), said, SOURCE.read_text()]).encode()).hexdigest()[:16]
    from nexdyn.kernel_folders import cache_root

    # beside the caches of kernels, which go when newer ones come
    library = cache_root().with_name(f"{cache_root().name}-benchmarks") / f"pinocchio-{key}.so"
    if not library.exists():
        if not build:
            return None, "it is not built yet, and a smoke run does not take the minutes for it"
        print(f"building Pinocchio's C++ (two minutes, once): {' '.join(command)}", file=sys.stderr)
        library.parent.mkdir(parents=True, exist_ok=True)
        unfinished = library.with_suffix(f".{os.getpid()}")
        done = subprocess.run([*command, "-o", str(unfinished)], capture_output=True, text=True, check=False)
        if done.returncode:
            return None, f"the compiler said: {done.stderr.strip().splitlines()[0] if done.stderr else done.returncode}"
        unfinished.replace(library)
    return ctypes.CDLL(str(library)), ""


def header_folder(header: str, prefix: str) -> str | None:
    """The folder below an installed package, or of the system, that holds `header`."""
    folders = [Path(entry) / prefix for entry in sys.path] + [
        Path("/usr/include/eigen3"),
        Path("/usr/local/include/eigen3"),
    ]
    return next((str(folder) for folder in folders if (folder / header).exists()), None)


def aba(library: ctypes.CDLL, model: RandomTree, q: Any, v: Any, tau: Any) -> tuple[Callable[[int], None], np.ndarray]:
    """Work that calls Pinocchio's aba at one state, and the array that takes the acceleration."""
    tree, a = _tree(library, model), np.zeros(model.n)
    library.tree_aba.argtypes = [ctypes.c_void_p, ctypes.c_int, *[_DOUBLES] * 4]
    library.tree_aba.restype = None
    return lambda repeat: library.tree_aba(tree, repeat, q, v, tau, a), a


def derivatives(
    library: ctypes.CDLL, name: str, model: RandomTree, q: Any, v: Any, x: Any
) -> tuple[Callable[[int], None], np.ndarray]:
    """Work that calls Pinocchio's derivatives of "aba" or "rnea" at one state, and the matrices (3, n, n) transposed."""
    tree, out, f = _tree(library, model), np.zeros((3, model.n, model.n)), getattr(library, f"tree_{name}_derivatives")
    f.argtypes = [ctypes.c_void_p, ctypes.c_int, *[_DOUBLES] * 6]
    f.restype = None
    return lambda repeat: f(tree, repeat, q, v, x, *out), out


ALGORITHMS = {"aba": 0, "rnea": 1, "crba": 2}
KINDS = {REVOLUTE: 0, PRISMATIC: 1, FREE: 2}


def of_tables(
    library: ctypes.CDLL, name: str, tree: nx.Tree, q: Any, v: Any, x: Any, world: bool = False
) -> tuple[Callable[[int], None], Callable[[], np.ndarray]]:
    """Work that calls one of ALGORITHMS at one state of a tree, and what gives its last result as NexDyn orders it.

    world: by Pinocchio's formulas in world axes; otherwise in those of the bodies. The tree has revolute, prismatic and free
    joints only.
    """
    model = tree.compiled.model
    topology, body = model.topology, Rigids(model.body.table[1:])
    mass = body.I.m.copy()
    com = body.I.h.numbers / np.where(mass > 0.0, mass, 1.0)[:, None]
    I = body.I.I.numbers[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    I = I - mass[:, None, None] * (
        np.einsum("ni,ni->n", com, com)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :]
    )
    longs = np.ctypeslib.ndpointer(np.int64, flags="C")
    library.tree_of_kinds.argtypes = [ctypes.c_int, longs, longs, *[_DOUBLES] * 6]
    library.tree_of_kinds.restype = ctypes.c_void_p
    library.tree_run.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, *[_DOUBLES] * 4]
    library.tree_run.restype = None
    made = library.tree_of_kinds(
        len(body), np.ascontiguousarray(topology.parent[1:] - 1),
        np.array([KINDS[kind] for kind in topology.kind[1:].tolist()], dtype=np.int64),
        *map(np.ascontiguousarray, (body.X_PJ.R.numbers, body.X_PJ.p.numbers, mass, com, I, model.body.table[0, :3])),
    )  # fmt: skip
    # a free joint: (w x y z, p), (ω, v) here; (p, x y z w), (v, ω) there
    of_q, of_v = np.arange(tree.nq), np.arange(tree.nv)
    for i in np.flatnonzero(topology.kind == FREE).tolist():
        k, j = int(topology[i].iq), int(topology[i].iv)
        of_q[k : k + 7] = k + np.array([4, 5, 6, 1, 2, 3, 0])
        of_v[j : j + 6] = j + np.array([3, 4, 5, 0, 1, 2])
    state = [np.ascontiguousarray(a) for a in (q[of_q], v[of_v], x[of_v])]
    out = np.zeros((tree.nv, tree.nv) if name == "crba" else tree.nv)

    def result() -> np.ndarray:
        found = np.zeros_like(out)
        if name == "crba":
            upper = np.triu(out.T)
            found[np.ix_(of_v, of_v)] = upper + np.triu(upper, 1).T
        else:
            found[of_v] = out
        return found

    return lambda repeat: library.tree_run(made, repeat, ALGORITHMS[name], int(world), *state, out), result


_DOUBLES = np.ctypeslib.ndpointer(np.float64, flags="C")


def _tree(library: ctypes.CDLL, model: RandomTree) -> Any:
    longs = np.ctypeslib.ndpointer(np.int64, flags="C")
    library.tree_new.argtypes = [ctypes.c_int, longs, *[_DOUBLES] * 5]
    library.tree_new.restype = ctypes.c_void_p
    return library.tree_new(
        model.n,
        np.ascontiguousarray(model.parent),
        *map(np.ascontiguousarray, (model.R, model.p, model.mass, model.com, model.inertia)),
    )

"""Builds and loads Pinocchio's C++ headers, which the wheel `pin` carries, compiled for this machine.

Needs a C++ compiler and Eigen's headers (`pip install cmeel-eigen`, or Debian's libeigen3-dev). The library is kept in
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

from benchmarks.models import RandomTree

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
    key = hashlib.sha256(" ".join([*command, version("pin"), said, SOURCE.read_text()]).encode()).hexdigest()[:16]
    from nexdyn.kernel import cache_root

    library = cache_root() / "benchmarks" / f"pinocchio-{key}.so"
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

"""Kernels run interpreted (NUMBA_DISABLE_JIT=1, how coverage and debuggers see them) and bounds-checked, and agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import systems

import nexdyn
from nexdyn.tree.cfa.solve import SOLVERS

PATHS = [Path(__file__).parent, Path(nexdyn.__file__).parents[1]]

PROGRAM = """
import json
import numpy as np
from numba import config
import systems
from test_interpreted import answers

assert (config.DISABLE_JIT, config.BOUNDSCHECK) == {settings}
print(json.dumps({{name: answers(name) for name in {names}}}, default=np.ndarray.tolist))
"""
NAMES = ["every joint", "mimic"]


def answers(name: str) -> dict[str, Any]:
    """What every algorithm says of a random system in one state."""
    tree = systems.trees()[name]
    q, v, a, tau = systems.state(tree, 1)
    body = tree.body_names[-1]
    moving = [joint for joint in tree.joint_names if joint in tree.system.joints]
    forces: dict[str, Any] = {}
    for solver in SOLVERS if tree.coupling is None else ():
        acceleration, force = tree.cfa(q, v, tau, solver=solver)
        forces |= {f"{solver} cfa": acceleration, f"{solver} constraint forces": force.array}
    return {
        **forces,
        "aba": tree.aba(q, v, tau),
        "rnea": tree.rnea(q, v, a),
        "crba": tree.crba(q),
        "factored": tree.forward_dynamics(q, v, tau, "crba"),
        "coriolis": tree.coriolis(q, v),
        "poses": tree.pose(q)[1],
        "twists": np.concatenate(tree.velocity(q, v)),
        "jacobian": tree.jacobian(q, body, "local"),
        "jacobian_rate": tree.jacobian_rate(q, v, body),
        "energies": np.array([tree.kinetic_energy(q, v), tree.potential_energy(q)]),
        "momentum": tree.centroidal_momentum(q, v),
        "momentum_matrix": tree.centroidal_momentum_matrix(q),
        "subtree": tree.center_of_mass_jacobian(q, body),
        "integrate": tree.integrate(q, v),
        "H": np.concatenate([tree.motion_subspace(joint, q) for joint in moving], axis=1),
        "W": np.concatenate([tree.constraint_subspace(joint, q) for joint in tree.system.joints], axis=1),
        "wrenches": np.stack(list(tree.joint_wrenches(q, v, a).values())),
    }


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A Python program in a process of its own, with these variables."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PATHS)), **environment},
        capture_output=True,
        text=True,
        timeout=500,
    )


def check(settings: tuple[int, Any], names: list[str], **environment: str) -> None:
    """A process with these settings gives the answers of this one."""
    done = run(PROGRAM.format(settings=settings, names=names), **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    others = json.loads(done.stdout)
    for name in names:
        for what, expected in answers(name).items():
            found = np.array(others[name][what])
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * scale, err_msg=f"{what} of {name}")


def test_interpreted_kernels_give_what_compiled_ones_give() -> None:
    check((1, None), NAMES, NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_bounds_checked_kernels_give_what_the_others_give() -> None:
    check((0, 1), ["every joint"], NUMBA_BOUNDSCHECK="1")


OVERRUN = """
import numpy as np
from nexdyn.kernel import kernel
from nexdyn.spatial.algebra import Vec3
from nexdyn.spatial.lanes import LaneTable
from nexdyn.spatial.table import Vec3Rows

@kernel
def read(table, i, first):
    return Vec3Rows(table, first)[i].x

@kernel
def write(table, i, first):
    Vec3Rows(table, first)[i] = Vec3(1.0, 2.0, 3.0)

table = np.zeros((4, 6))
for f, t in ((read, table), (write, table), (write, LaneTable.of(table))):
    f(t, 3, 3)
    for i, first in ((4, 0), (-1, 0), (0, 4), (0, -1)):
        try:
            f(t, i, first)
        except IndexError:
            continue
        raise SystemExit(f"{f.__name__} at {i}, {first} was not seen")
"""


def test_rows_past_the_end_of_a_table_are_seen_when_bounds_are_checked() -> None:
    done = run(OVERRUN, NUMBA_BOUNDSCHECK="1")
    assert done.returncode == 0, done.stderr[-3000:]


def test_value_types_have_their_operators_interpreted() -> None:
    program = """
from nexdyn.spatial.algebra import *
from nexdyn.spatial.algebra import Force, Motion, Vec3
import numpy as np

a, b = Vec3(1.0, 2.0, 3.0), Vec3(-1.0, 0.5, 2.0)
assert a + b == Vec3(0.0, 2.5, 5.0) and -a == Vec3(-1.0, -2.0, -3.0) and a @ b == 6.0
assert 2.0 * a == np.float64(2.0) * a == Vec3(2.0, 4.0, 6.0)
assert cross(a, b) == Vec3(2.5, -5.0, 2.5)
V, F = Motion(a, b), Force(b, a)
assert F @ V == 12.0 and 2.0 * ABOUT_Z == TurnZ(2.0)
try:
    cross(a, V)
except TypeError as error:
    assert "cross is not defined for Vec3, Motion" in str(error)
else:
    raise SystemExit("cross of a vector and a motion has no meaning")
try:
    a @ 2.0
except TypeError:
    pass
else:
    raise SystemExit("a vector times a number on the right has no meaning")
"""
    done = run(program, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr[-3000:]

"""A box on the ground, as users write it, that rocks from face to edge to face, and tips over an edge onto its next face: it keeps its
place under every method, at points, over areas and as a mesh.

A tall box, 0.1 m × 0.2 m × 0.3 m, tipped by 5° and let go, rocks on its two lower edges until it stands. An impact turns it, and its edges
slip a little while they are lightly loaded: it ends 6 µm (corners) or 36 µm (areas) from where it stood. That is the motion of the model:
it goes with the root of what the ground gives, and each method comes to it with its steps.

A cube of 0.1 m that is pushed over an edge stands one width further, but for what it hops and slides where it lands.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
from sticking_lab import STEPS
from turns import in_turns

import nexdyn as nx
from nexdyn.problems import recast

MASS, STIFF = 2.0, 1e6
"""Of the boxes [kg]; of each of four corners [N/m], and of as much area together."""
TALL, CUBE = (0.1, 0.2, 0.3), (0.1, 0.1, 0.1)
KINDS = ("corners", "areas", "mesh")
MESHES = ("rk4", "hht", "hht dt", "euler", "bdf2")
"""Methods under which the mesh runs, which does as the box does over its areas."""
ROCKED = {
    "rk4": 1e-7, "semi-implicit": 6e-6, "dopri": 1e-7, "bs32": 1e-7, "dop853": 1e-7,
    "hht": 4e-7, "hht dt": 4e-7, "baumgarte": 1e-7, "projection": 1e-7,
    "partitioning": 1e-7, "euler": 1.4e-5, "bdf2": 2e-6,
}  # fmt: skip
TUMBLED = {
    "rk4": 4e-4, "semi-implicit": 1.5e-2, "dopri": 2e-6, "bs32": 2e-6, "dop853": 2e-6,
    "hht": 4e-6, "hht dt": 1.5e-3, "baumgarte": 4e-4, "projection": 4e-4,
    "partitioning": 4e-4, "euler": 2e-3, "bdf2": 2.5e-3,
}  # fmt: skip
"""How far from the motion of the model a method ends with its steps or tolerances [m]; with a quarter of these, a quarter of it. The cube
lands at 0.8 m/s on ground that it touches for 3 ms: there steps count."""
FINER = {"euler": 0.1, "bdf2": 0.5}
"""Steps of implicit methods of constant ones, of those that what stands needs."""
SLOW = {("areas", x) for x in ("euler", "bdf2", "baumgarte", "projection", "partitioning")} | {
    ("mesh", x) for x in MESHES if x != "hht"
}
"""What takes longer than ten seconds."""


def finer(name: str, by: float) -> Any:
    """A method with steps, or tolerances, that are `by` of what they are."""
    method = STEPS[name]
    if getattr(method, "dt", None):
        return dataclasses.replace(method, dt=by * method.dt * FINER.get(name, 1.0))
    given = {key: by * getattr(method, key) for key in ("rtol", "atol") if getattr(method, key, None)}
    return dataclasses.replace(method, **given)


def box(
    size: tuple[float, float, float], kind: str, tilt: float, push: float, friction: float, damping: float,
    stiff: float = STIFF,
) -> nx.System:  # fmt: skip
    """A box on its lower edge at −x, turned by `tilt` about it, which turns at `push` about the one at +x."""
    x, y, z = size
    corners = np.array([(i, j, k) for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * size
    solid = recast.mesh_of(corners, recast.triangles_about(corners)) if kind == "mesh" else nx.Box(size)
    c, s = math.cos(tilt), math.sin(tilt)
    centre = (0.5 * (x * c - z * s - x), 0.0, 0.5 * (z * c + x * s))
    system = nx.System("rocker")
    inertia = [MASS / 12.0 * (p * p + q * q) for p, q in ((y, z), (x, z), (x, y))]
    turned = (math.cos(0.5 * tilt), 0.0, -math.sin(0.5 * tilt), 0.0)
    system.add_body("box", mass=MASS, inertia=inertia, position=centre, orientation=turned, collision=[solid])
    system.add_joint(nx.Free("free", "ground", "box", v0=(0.0, push, 0.0, 0.5 * push * z, 0.0, 0.5 * push * x)))
    law: dict[str, Any] = {"stiffness": stiff, "exponent": 1.0}
    if kind != "corners":
        law = {"foundation_b": 4.0 * stiff / (x * y)}
    system.add_contact(nx.Contact("floor", "box", friction=friction, damping=damping, **law))
    return system


def rocked(kind: str, method: Any, stiff: float = STIFF) -> tuple[np.ndarray, np.ndarray]:
    """Place (N, 3) and lean (N,) of the tall box."""
    t = np.linspace(0.0, 4.0, 801)
    result = nx.simulate(box(TALL, kind, math.radians(5.0), 0.0, 0.8, 100.0, stiff), t[-1], method, output_times=t)
    q = result.orientation("box").values
    return np.asarray(result.position("box").values), 2.0 * np.arctan2(q[:, 2], q[:, 0])


def tumbled(kind: str, method: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same of the cube."""
    t = np.linspace(0.0, 1.2, 121)
    result = nx.simulate(box(CUBE, kind, 0.0, 8.2, 1.0, 20.0), t[-1], method, output_times=t)
    q = result.orientation("box").values
    return np.asarray(result.position("box").values), 2.0 * np.arctan2(q[:, 2], q[:, 0])


@functools.cache
def known(moves: Any, kind: str) -> float:
    """Where the motion ends along x, of a method of high order and a tight tolerance."""
    return float(moves("areas" if kind == "mesh" else kind, nx.DormandPrince(rtol=1e-10, atol=1e-13))[0][-1, 0])


WAYS = [
    pytest.param(kind, name, marks=[pytest.mark.long] if (kind, name) in SLOW else [])
    for kind in KINDS
    for name in (MESHES if kind == "mesh" else STEPS)
]


@pytest.mark.parametrize(("kind", "name"), in_turns(WAYS))
def test_a_tall_box_that_rocks_from_edge_to_edge_stands_where_it_stood(kind: str, name: str) -> None:
    for by in (1.0, 0.25):
        place, lean = rocked(kind, finer(name, by))
        sides = np.sign(lean[np.abs(lean) > 1e-5])
        assert np.count_nonzero(np.diff(sides)) >= 12  # from edge to edge
        assert abs(place[-1, 2] - 0.5 * TALL[2] + MASS * 9.81 / (4.0 * STIFF)) < 1e-8 and abs(lean[-1]) < 1e-8
        assert np.abs(place[:, 1]).max() < 1e-12
        assert abs(place[-1, 0] - known(rocked, kind)) < by * ROCKED[name], (by, place[-1, 0])
        assert np.abs(place[-81:] - place[-1]).max() < 1e-8  # and stays
    assert abs(known(rocked, kind)) < (4e-5 if kind != "corners" else 8e-6)


@pytest.mark.parametrize("kind", ["corners", "areas"])
def test_the_stiffer_the_ground_the_less_it_moves(kind: str) -> None:
    ends = [abs(rocked(kind, nx.HHT(rtol=1e-5), stiff)[0][-1, 0]) for stiff in (4e6, 6.4e7)]
    assert ends[1] < 0.3 * ends[0], ends


@pytest.mark.parametrize(("kind", "name"), WAYS)
def test_a_cube_that_tips_onto_its_next_face_stands_one_width_further(kind: str, name: str) -> None:
    for by in (1.0, 0.25):
        place, lean = tumbled(kind, finer(name, by))
        assert lean[-1] == pytest.approx(0.5 * math.pi, abs=1e-6) and np.abs(place[:, 1]).max() < 1e-12
        assert abs(place[-1, 2] - 0.5 * CUBE[2] + MASS * 9.81 / (4.0 * STIFF)) < 1e-7
        assert abs(place[-1, 0] - known(tumbled, kind)) < by * TUMBLED[name], (by, place[-1, 0])
        assert np.abs(place[-11:] - place[-1]).max() < 1e-6
    assert abs(known(tumbled, kind) - CUBE[0]) < (2e-4 if kind != "corners" else 3e-3)

"""Slopes of contact forces as HHT takes them, compared with central differences of its residual: where friction sticks, where it slides,
and over areas; and what is left out of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.motion import hht
from nexdyn.absolute.motion.equations import residual
from nexdyn.absolute.motion.force_states import Steps
from nexdyn.linalg.solvers import Pattern, unknowns
from nexdyn.problems import recast
from nexdyn.simulation.marches.bodies import BodySimulation

G, ALPHA, H = 9.81, -0.1, 2e-4
BRICK = (0.3, 0.2, 0.1)


def slopes(system: nx.System, until: float, whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The iteration matrix of one body, as HHT has it and by central differences of the residual by its accelerations, after a run;
    `whole`: of areas it is made by differences, too."""
    simulation = BodySimulation(system, nx.HHT(alpha=ALPHA, dt=H))
    simulation.run(until)
    tables, acts, s = simulation.tables, simulation.acts, simulation.state
    beta, gamma, scale = 0.25 * (1 - ALPHA) ** 2, 0.5 - ALPHA, 1 / (1 + ALPHA)
    nb, places = len(s.q1) - 1, unknowns(tables.plan)
    a, lam = s.a0.copy(), s.lam0.copy()
    Steps(acts.step).h, Steps(acts.step).whole = H, float(whole)

    def found(x: np.ndarray, assemble: bool = False) -> np.ndarray:
        moved = np.zeros_like(s.x)
        moved.reshape(-1)[places] = x
        s.a1[1:], s.lam1[:] = a[1:] + moved[:nb], lam + moved[nb:]
        hht.new_motion(s, H, ALPHA, False, tables.length)
        residual(tables, acts, s, simulation.t + H, scale, gamma * H, beta * H * H, assemble)
        return -s.x.reshape(-1)[places].copy()

    n = len(places)
    found(np.zeros(n), True)
    matrix = Pattern(tables.plan).matrix(s.upper, s.lower).toarray()
    step = 1e-2
    expected = np.array([found(step * e) - found(-step * e) for e in np.eye(n)]).T / (2 * step)
    return matrix, expected


def placed(shape: nx.Shape, height: float, law: dict[str, Any], lean: float = 0.0, v0: Any = (0.0,) * 6) -> nx.System:
    """A body of 1 kg over the ground, which leans."""
    system = nx.System("placed", gravity=(G * math.sin(lean), 0.0, -G * math.cos(lean)))
    system.add_body("body", mass=1.0, inertia=(2e-3, 3e-3, 4e-3), position=(0.0, 0.0, height), collision=[shape])
    system.add_joint(nx.Free("free", "ground", "body", v0=v0))
    system.add_contact(nx.Contact("floor", "body", **law))
    return system


CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
K, STIFF, SPEED = 1e8, 1e6, 1.0
BOX, BALL, LYING = (
    nx.Box(BRICK),
    nx.Sphere(0.1),
    nx.Cylinder(0.1, 0.3, orientation=(math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)),
)
SLIDES = (0.0, 0.0, 0.0, SPEED, 0.0, 0.0)
FLAT = 0.05 - G / (K * BRICK[0] * BRICK[1])
POINT: dict[str, Any] = {"stiffness": STIFF, "exponent": 1.0, "damping": 20.0, "friction": 0.5}
CURVED: dict[str, Any] = {"stiffness": 1e8, "damping": 1.0, "friction": 0.5}
AREA: dict[str, Any] = {"foundation_b": K, "damping": 20.0, "friction": 0.5}
SMOOTH: dict[str, Any] = {"foundation_b": 1e7, "damping": 20.0, "friction": 0.0}


def brick() -> nx.Shape:
    """The box as a mesh."""
    return recast.mesh_of(CORNERS * BRICK, recast.triangles_about(CORNERS))


def exact(case: str) -> tuple[np.ndarray, np.ndarray]:
    """Where nothing is left out: friction that sticks on a level place, and none; with the whole matrix of areas also on a slope, and where
    it slides."""
    match case:
        case "corners stick on a slope":
            return slopes(placed(BOX, 0.05 - G / (4.0 * STIFF), POINT, lean=0.2), 0.02)
        case "ball sticks":
            return slopes(placed(BALL, 0.1 - (G / 1e8) ** (2.0 / 3.0), CURVED), 0.02)
        case "area sticks":
            return slopes(placed(BOX, FLAT, AREA), 0.02)
        case "mesh sticks":
            return slopes(placed(brick(), FLAT, AREA), 0.02)
        case "ball falls on an area":
            return slopes(placed(BALL, 0.098, SMOOTH, v0=(0.0, 0.0, 0.0, 0.3, 0.0, -0.01)), 0.002)
        case "cylinder falls on an area":
            return slopes(placed(LYING, 0.0995, SMOOTH, v0=(0.0, 0.0, 0.0, 0.3, 0.0, -0.01)), 0.002)
        case "area sticks on a slope, whole":
            return slopes(placed(BOX, FLAT, AREA, lean=0.2), 0.02, whole=True)
    return slopes(placed(BOX, FLAT, AREA, v0=SLIDES), 0.002, whole=True)


@pytest.mark.parametrize(
    "case",
    ["corners stick on a slope", "ball sticks", "area sticks", "mesh sticks", "ball falls on an area", "cylinder falls on an area",
     "area sticks on a slope, whole", "area slides, whole"],
)  # fmt: skip
def test_slopes_are_those_of_the_forces(case: str) -> None:
    matrix, expected = exact(case)
    assert np.abs(matrix - expected).max() < 5e-6 * np.abs(expected).max()
    free = 1.0 / (1.0 + ALPHA)
    assert expected[5, 5] > 1.005 * free  # the contact does count


@pytest.mark.parametrize("law", ["point", "area"])
def test_where_it_slides_friction_has_its_secant_and_does_not_follow_the_normal_force(law: str) -> None:
    """f = −μ f_n v/|v|: what is left out is the part of the secant along v, and μ times the slope of f_n. Across v, and along the normal,
    slopes are exact."""
    if law == "point":
        mu = 0.3
        matrix, expected = slopes(placed(BALL, 0.1 - G / STIFF, {**POINT, "friction": mu}, v0=SLIDES), 0.002)
    else:
        mu = 0.5
        matrix, expected = slopes(placed(BOX, FLAT, AREA, v0=SLIDES), 0.002)
    off, size, free = matrix - expected, np.abs(expected).max(), 1.0 / (1.0 + ALPHA)
    along, across, normal = 3, 4, 5
    assert np.abs(off[[across, normal], :]).max() < 5e-6 * size
    assert off[along, normal] == pytest.approx(mu * (expected[normal, normal] - free), rel=2e-3)
    assert off[along, along] == pytest.approx(expected_secant(mu), rel=0.05)


def expected_secant(mu: float) -> float:
    """γ h μ m g/|v|, v where the run has slowed it down."""
    return (0.5 - ALPHA) * H * mu * G / (SPEED - mu * G * 0.002)


def test_on_a_slope_friction_over_an_area_does_not_follow_the_centre_of_pressure() -> None:
    """It moves as the box leans, and with it the line on which friction acts: a part of 1e-4 of the matrix."""
    matrix, expected = slopes(placed(BOX, FLAT, AREA, lean=0.2), 0.02)
    off = np.abs(matrix - expected)
    assert off[2, 0] > 1e-5 * np.abs(expected).max()
    assert off.max() < 1e-4 * np.abs(expected).max()

"""The spring of friction survives where contact goes from feature to feature: patches whose polygons gain and lose corners, a plank that
tips over an edge, a ball that rolls from a face over an edge and past a corner."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from turns import in_turns

import nexdyn as nx
from nexdyn.problems import recast

G, EDGE = 9.81, 0.1
METHODS: dict[str, Any] = {
    "rk4": nx.RungeKutta4(2e-4), "hht": nx.HHT(rtol=1e-6), "hht dt": nx.HHT(dt=5e-4), "bdf2": nx.ImplicitEuler(5e-4, bdf2=True),
    "euler": nx.ImplicitEuler(5e-4),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", METHODS)


def solid(
    size: tuple[float, float, float], mesh: bool, position: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> nx.Shape:
    """A box, or its mesh."""
    if not mesh:
        return nx.Box(size, position=position)
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size + position
    return recast.mesh_of(corners, recast.triangles_about(corners))


# --- patches ----------------------------------------------------------------------------------------------------------

K, WEIGHT = 1e8, 1.0 * G


def stacked(below: float, height: float, mesh: bool = False) -> nx.System:
    """A cube on another of a side `below`, of which the upper is pulled round in each second, at a height over where they touch."""
    system = nx.System("stack")
    system.add_body(
        "low", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[solid((below, below, EDGE), mesh, (0.0, 0.0, -0.05))]
    )
    system.add_joint(nx.Fixed("stands", "ground", "low"))
    z, inertia = 0.5 * EDGE - WEIGHT / (K * EDGE**2), EDGE**2 / 6.0
    system.add_body(
        "cube", mass=1.0, inertia=(inertia,) * 3, position=(0.0, 0.0, z), collision=[solid((EDGE,) * 3, mesh)]
    )
    system.add_joint(nx.Free("free", "ground", "cube"))
    turns = 2.0 * math.pi
    pull = (f"=2*(1-cos({turns!r}*t))/2", f"=1.5*sin({turns!r}*t)*(1-cos({turns!r}*t))/2", 0)
    system.add_force(nx.AppliedForce("pull", "cube", force=pull, anchor=(0.0, 0.0, -0.5 * EDGE + height)))
    law: dict[str, Any] = {"foundation_a": 2.0 * K, "foundation_b": 2.0 * K, "damping": 300.0, "friction": 0.5}
    system.add_contact(nx.Contact("on", "cube", "low", **law))
    return system


@pytest.mark.parametrize(("mesh", "name"), in_turns((mesh, name) for mesh in (False, True) for name in METHODS))
def test_a_cube_on_its_equal_holds_as_on_a_wide_one_and_comes_back(mesh: bool, name: str) -> None:
    """As it gives, its corners leave those below: a square becomes one with other sides, up to eight of them."""
    t = np.linspace(0.0, 3.0, 61)
    runs = [nx.simulate(stacked(below, 0.0, mesh), 3.0, METHODS[name], output_times=t) for below in (EDGE, 2.0 * EDGE)]
    same, wide = (result.position("cube").values[:, :2] for result in runs)
    give = np.abs(wide).max()
    assert 1e-6 < give < 1e-5  # F/(ρ k A), and what it leans
    np.testing.assert_allclose(same, wide, rtol=0, atol=5e-3 * give)
    assert np.linalg.norm(same[60] - same[40]) < 1e-3 * give
    assert (runs[0].contacts("on").sticks.values[1:] == 1.0).all()


@EVERY
def test_a_cube_that_is_rocked_round_on_its_equal_comes_back(name: str) -> None:
    """Pulled above its middle: a side of it lifts, and the patch loses corners and a part of its area, while friction holds."""
    t = np.linspace(0.0, 3.0, 61)
    result = nx.simulate(stacked(EDGE, 0.12), 3.0, METHODS[name], output_times=t)
    area = result.contacts("on").area.values[:, 0]
    assert area[20:].min() < 0.9 * EDGE**2 and area[40] == pytest.approx(EDGE**2, rel=1e-3)
    p = result.position("cube").values
    give = np.abs(p[20:, :2]).max()
    assert 1e-6 < give < 1e-4
    assert (
        np.linalg.norm(p[60] - p[40]) < 0.03 * give
    )  # a fiftieth of what it gives: a third of a micrometre in a turn of the load


# --- an edge ------------------------------------------------------------------------------------------------------------

LONG, THICK, BEYOND = 0.4, 0.02, 0.05
"""A plank, and how far its middle is beyond the edge [m]."""


@EVERY
@pytest.mark.parametrize("mesh", [False, True], ids=["box", "mesh"])
@pytest.mark.filterwarnings("ignore:steps of dt:nexdyn.NexDynWarning")  # for all of its area, on which it does not stay
def test_a_plank_tips_over_an_edge_without_slipping(mesh: bool, name: str) -> None:
    """θ̈ = m g (d cos θ + ½ h sin θ)/(J + m (d² + ¼ h²)) about the edge, on which it stays until it is steep."""
    system = nx.System("plank")
    system.add_body(
        "bench", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[solid((0.6, 0.2, 0.2), mesh, (-0.3, 0.0, -0.1))]
    )
    system.add_joint(nx.Fixed("stands", "ground", "bench"))
    J = (LONG**2 + THICK**2) / 12.0
    place = (BEYOND, 0.0, 0.5 * THICK)
    system.add_body(
        "plank", mass=1.0, inertia=(1e-3, J, J), position=place, collision=[solid((LONG, 0.1, THICK), mesh)]
    )
    system.add_joint(nx.Free("free", "ground", "plank"))
    system.add_contact(
        nx.Contact("on", "plank", "bench", foundation_a=2e10, foundation_b=2e10, damping=20.0, friction=1.0)
    )
    t = np.linspace(0.0, 0.25, 26)
    result = nx.simulate(system, t[-1], METHODS[name], output_times=t)
    q, p = result.orientation("plank").values, result.position("plank").values
    lean = 2.0 * np.arctan2(q[:, 2], q[:, 0])

    def rates(_: float, y: Any) -> tuple[float, float]:
        turn = G * (BEYOND * math.cos(y[0]) + 0.5 * THICK * math.sin(y[0]))
        return y[1], turn / (J + BEYOND**2 + 0.25 * THICK**2)

    known = solve_ivp(rates, (0.0, t[-1]), (0.0, 0.0), t_eval=t, rtol=1e-10, atol=1e-12).y[0]
    assert 0.4 < known[-1] < 1.0
    np.testing.assert_allclose(lean[7:], known[7:], rtol=0.04)
    # the point of the plank that lay on the edge
    edge = p[:, 0] - BEYOND * np.cos(lean) - 0.5 * THICK * np.sin(lean)
    steep = np.flatnonzero(lean > 0.3)[0]
    assert np.abs(edge[:steep]).max() < 5e-5
    assert (result.contacts("on").sticks.values[2:steep] == 1.0).all()


# --- corners ------------------------------------------------------------------------------------------------------------

HALF, R, PULL, SOFT = 0.02, 0.1, 100.0, 0.05
"""Half of a cube, radius of a ball [m], what pulls it to the middle of the cube [N]; stiffness along the surfaces by that across."""
FINE: dict[str, Any] = {
    "rk4": nx.RungeKutta4(1e-4),
    "hht": nx.HHT(rtol=1e-6),
    "hht dt": nx.HHT(dt=1e-4),
    "bdf2": nx.ImplicitEuler(1e-4, bdf2=True),
}
"""Methods with steps whose errors are below what the spring stores."""


@pytest.mark.filterwarnings("ignore:contact .* starts:nexdyn.NexDynWarning")
@pytest.mark.parametrize("name", FINE)
@pytest.mark.parametrize("kind", ["points", "areas"])
@pytest.mark.parametrize("aside", [1.0, 0.93], ids=["corner", "edge"])
def test_a_ball_rolls_over_an_edge_and_past_a_corner_with_all_its_energy(aside: float, kind: str, name: str) -> None:
    """Its spring of friction is soft, and stores a part of the energy that would be missing if it were dropped on the way."""
    system = nx.System("cube", gravity=(0.0, 0.0, 0.0))
    system.add_body("cube", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[solid((2.0 * HALF,) * 3, False)])
    system.add_joint(nx.Fixed("stands", "ground", "cube"))
    J, speed = 0.4 * R * R, 1.7
    stiff = 1e6
    law: dict[str, Any] = {"stiffness": stiff, "exponent": 1.0} if kind == "points" else {"foundation_a": 1e9}
    depth = PULL / stiff if kind == "points" else math.sqrt(PULL / (1e9 * math.pi * R))
    way = np.array([1.0, aside, 0.0]) / math.hypot(1.0, aside)
    v, w = speed * way, speed / (R - depth) * np.array([-way[1], way[0], 0.0])
    system.add_body(
        "ball", mass=1.0, inertia=(J, J, J), position=(0.0, 0.0, HALF + R - depth), collision=[nx.Sphere(R)]
    )
    system.add_joint(nx.Free("free", "ground", "ball", v0=(*w, *v)))
    system.add_force(nx.PointSpring("pull", "cube", "ball", force=PULL))
    given = {"friction": 2.0, "friction_stiffness": SOFT, "friction_damping": 0.0}
    system.add_contact(nx.Contact("on", "ball", "cube", **given, **law))
    t = np.linspace(0.0, 0.15, 151)
    result = nx.simulate(system, t[-1], FINE[name], output_times=t)
    touch = result.contacts("on")
    at = np.abs(touch.point.values[:, 0])
    edges = np.sum(at > HALF - 1.5e-3, axis=1)
    assert set(edges[1:]) >= ({1, 2} if aside < 1.0 else {1, 3}), edges
    assert (touch.sticks.values[1:] == 1.0).all()
    energy = result.energy().total.values - PULL * (HALF + R - depth)
    stored = (touch.tangential.values[:, 0] ** 2 / (2.0 * SOFT * stiff)).max()
    off = np.abs(energy - energy[0]).max()
    assert off < 1e-4 * energy[0] and off < 0.1 * stored, (off, stored)

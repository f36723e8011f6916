"""What rolls freely keeps its energy to the order of the method, and what is carried on a body that turns does not slip: at points and over
areas, on half-spaces, boxes and balls."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from sticking_lab import STEPS
from turns import in_turns

import nexdyn as nx
from nexdyn.problems import areas, recast

G, K, LAYER = 9.81, 1e6, 1e8
"""Gravity; stiffness of points after Hertz [N/m^1.5]; foundation [N/m³]."""
LAWS: dict[str, dict[str, Any]] = {"points": {"stiffness": K, "exponent": 1.5}, "areas": {"foundation_b": LAYER}}
ORDER = {
    "rk4": 4,
    "semi-implicit": 1,
    "hht dt": 2,
    "baumgarte": 4,
    "projection": 4,
    "partitioning": 4,
    "euler": 1,
    "bdf2": 2,
}
"""Of the methods of constant steps."""
EVERY = pytest.mark.parametrize("name", STEPS)
EACH = pytest.mark.parametrize("kind", LAWS)

# --- what rolls -----------------------------------------------------------------------------------------------------


@EACH
@EVERY
@pytest.mark.parametrize(
    "top", [nx.Box((8.0, 1.0, 0.4), position=(0.0, 0.0, -0.2)), nx.HalfSpace()], ids=["box", "half-space"]
)
def test_a_ball_that_rolls_straight_keeps_its_energy(top: nx.Shape, kind: str, name: str) -> None:
    R, m, v = 0.1, 2.0, 1.4
    depth = (m * G / K) ** (2.0 / 3.0) if kind == "points" else areas.sunk(m * G, LAYER, R)
    system = nx.System("roll")
    J = 0.4 * m * R * R
    system.add_body("ball", mass=m, inertia=(J, J, J), position=(0.0, 0.0, R - depth), collision=[nx.Sphere(R)])
    system.add_joint(nx.Free("free", "ground", "ball", v0=(0.0, v / (R - depth), 0.0, v, 0.0, 0.0)))
    system.add_body("table", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[top])
    system.add_joint(nx.Fixed("stands", "ground", "table"))
    system.add_contact(nx.Contact("on", "ball", "table", friction=0.3, **LAWS[kind]))
    method, off = STEPS[name], 1e-8
    if name == "semi-implicit":  # of order 1: in steps in which it turns by a three-thousandth
        method, off = nx.SemiImplicitEuler(2e-5), 2.5e-3
    result = nx.simulate(system, 1.0, method, output_times=np.linspace(0.0, 1.0, 11))
    energy = result.energy().total.values
    assert np.abs(energy - energy[0]).max() < off * energy[0]
    assert result.position("ball").values[-1, 0] == pytest.approx(v, rel=off + 1e-6)
    assert (result.contacts("on").sticks.values[1:] == 1.0).all()


SUN, MOON, PULL, RATE = 0.1, 0.05, 50.0, 4.0
"""Radii of a ball that stands and one that rolls round it [m], what pulls them together [N], how fast it goes round [rad/s]."""


def round_it(kind: str, swapped: bool, apart: float, lever: float = MOON) -> nx.System:
    """A ball that rolls round another, with its middle `apart` from the other's and `lever` from where they touch."""
    system = nx.System("planet", gravity=(0.0, 0.0, 0.0))
    J = 0.4 * MOON**2
    system.add_body("sun", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[nx.Sphere(SUN)])
    system.add_joint(nx.Fixed("stands", "ground", "sun"))
    system.add_body("moon", mass=1.0, inertia=(J, J, J), position=(apart, 0.0, 0.0), collision=[nx.Sphere(MOON)])
    v0 = (0.0, 0.0, RATE * apart / lever, 0.0, RATE * apart, 0.0)
    system.add_joint(nx.Free("free", "ground", "moon", v0=v0))
    system.add_force(nx.PointSpring("pull", "sun", "moon", force=PULL))
    law, sides = LAWS[kind], ("moon", "sun")
    if swapped:
        law = {"foundation_a" if key == "foundation_b" else key: x for key, x in law.items()}
        sides = ("sun", "moon")
    system.add_contact(nx.Contact("on", *sides, friction=0.3, **law))
    return system


@functools.cache
def rolls_round(kind: str, swapped: bool) -> nx.System:
    """The same, which neither slips at the start nor rises or sinks: N = F − m ω² r."""

    def touch(apart: float) -> Any:
        return nx.simulate(round_it(kind, swapped, apart), 0.0, nx.HHT(dt=1e-3)).contacts("on").isel(time=0, contact=0)

    both = SUN + MOON
    apart = float(brentq(lambda x: float(touch(x).normal) - (PULL - RATE**2 * x), both - 4e-3, both - 1e-7, xtol=1e-15))
    return round_it(kind, swapped, apart, apart - float(np.linalg.norm(touch(apart).point.values)))


def finer(method: Any, by: float) -> dict[str, float]:
    """Its step, or its tolerances, times `by`."""
    names = ("dt",) if getattr(method, "dt", None) else ("rtol", "atol")
    return {name: by * getattr(method, name) for name in names if hasattr(method, name)}


@pytest.mark.filterwarnings("ignore:contact .* starts:nexdyn.NexDynWarning")
@EACH
@pytest.mark.parametrize("swapped", [False, True])
@EVERY
def test_a_ball_that_rolls_round_a_ball_keeps_its_energy_to_the_order_of_the_method(
    name: str, swapped: bool, kind: str
) -> None:
    method, off = STEPS[name], []
    for by in (1.0, 0.5):
        given = finer(method, by)
        times = np.linspace(0.0, 1.0, 51)
        result = nx.simulate(rolls_round(kind, swapped), 1.0, dataclasses.replace(method, **given), output_times=times)
        energy = result.energy().total.values
        off.append(float(np.abs(energy - energy[0]).max() / energy[0]))
        assert (result.contacts("on").sticks.values[1:] == 1.0).all()
    assert off[0] < 1e-3
    if name in ORDER:
        assert off[0] > 0.9 * 2.0 ** ORDER[name] * off[1] or off[0] < 1e-11, off
    else:
        assert off[0] < 2e-6, off


# --- what is carried ------------------------------------------------------------------------------------------------


SLIPS = {
    "euler": (0.0, 8e-9),
    "hht": (0.0, 5e-7),
    "dopri": (0.0, 5e-7),
    "bdf2": (0.0, 2e-8),
    "semi-implicit": (2e-5, 2e-9),
}
"""By how much a brick slips at most, and in a turn of the plate there and back [m], in steps or with tolerances as they are; a part of
these in a part of the steps."""


def carried(kind: str, plate: str) -> nx.System:
    """A brick that is pulled onto a plate, which turns by a whole turn about a level axis and back again, in gravity."""
    size, deep = (0.1, 0.08, 0.04), 0.5
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    mesh = kind == "mesh"
    brick: nx.Shape = recast.mesh_of(corners, recast.triangles_about(corners)) if mesh else nx.Box(size)
    stiff, pull = 1e6, 200.0
    system = nx.System("tumbler")
    top = nx.HalfSpace() if plate == "half-space" else nx.Box((0.4, 0.4, deep), position=(0.0, 0.0, -0.5 * deep))
    system.add_body("plate", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[top])
    system.add_joint(nx.Revolute("turns", "ground", "plate", axis=(0.6, 0.8, 0.0)))
    system.add_driver(nx.Driver("drive", "turns", f"={math.pi!r}*(1 - cos({math.pi!r}*t))"))
    place = (0.05, 0.02, 0.5 * size[2] - (pull + 2.0 * G) / (4.0 * stiff))
    system.add_body("brick", mass=2.0, inertia=(2e-3, 2e-3, 3e-3), position=place, collision=[brick])
    system.add_joint(nx.Free("free", "ground", "brick"))
    system.add_force(nx.PointSpring("pull", "brick", "plate", force=pull, at_a=place, at_b=(0.05, 0.02, -0.4)))
    law: dict[str, Any] = {"stiffness": stiff, "exponent": 1.0}
    if kind != "points":
        law = {"foundation_b": 4.0 * stiff / (size[0] * size[1])}
    system.add_contact(nx.Contact("on", "brick", "plate", friction=0.5, damping=20.0, **law))
    return system


CARRIED = [("points", "half-space"), ("areas", "half-space"), ("areas", "box"), ("mesh", "box")]
QUICK = ("rk4", "hht")
WAYS = [
    pytest.param(kind, plate, name, marks=[pytest.mark.long] if kind != "points" and name not in QUICK else [])
    for kind, plate in CARRIED
    for name in (("rk4", "hht", "euler") if kind == "mesh" else STEPS)
]
"""Over areas most of them take longer than ten seconds."""


@pytest.mark.parametrize(("kind", "plate", "name"), in_turns(WAYS))
def test_a_brick_on_a_plate_that_tumbles_does_not_slip(kind: str, plate: str, name: str) -> None:
    """It gives by 11 µm, what its springs along the plate bear, and after each turn there and back it is where it was."""
    most, back = SLIPS.get(name, (2e-5, 1e-10))
    for by in (1.0,) if kind == "mesh" else (1.0, 0.25):
        given = finer(STEPS[name], by)
        method = dataclasses.replace(STEPS[name], **given)
        result = nx.simulate(carried(kind, plate), 4.0, method, output_times=np.linspace(0.0, 4.0, 41))
        R = result.rotation("plate").values
        seen = np.einsum("nji,nj->ni", R, result.position("brick").values)
        assert np.abs(R[5] - R[20]).max() > 0.5  # it did turn
        if by == 1.0 or name in ("semi-implicit", "euler"):
            assert np.abs(seen - seen[0]).max() < 2e-5 + by * most
        assert np.linalg.norm(seen[40] - seen[20]) < 1e-10 + by * back

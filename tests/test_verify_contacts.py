"""References of contact that have no closed form: integrated here from equations of their own, with scipy; and how runs approach them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import nexdyn as nx
from nexdyn.problems import contact_machines as machines
from nexdyn.problems import contacts, impacts, slopes, tippe_top, transmissions, wheels
from nexdyn.problems.problem import Problem, Run

G = 9.81


def motion(rates: Callable[[float, Any], Any], start: Sequence[float], problem: Problem, **options: Any) -> np.ndarray:
    """States at the times of the reference (N, n)."""
    times = list(problem.reference)
    found = solve_ivp(
        rates, (0.0, times[-1]), start, t_eval=times, **{"method": "DOP853", "rtol": 1e-11, "atol": 1e-13, **options}
    )
    assert found.success
    return np.asarray(found.y.T)


def references(problem: Problem) -> np.ndarray:
    return np.array(list(problem.reference.values()))


def test_a_pin_in_a_hole_by_equations_of_its_own() -> None:
    def rates(_: float, y: Any) -> list[float]:
        r = math.hypot(y[0], y[1])
        push = -1e8 * max(0.0, r - impacts.CLEARANCE) ** 1.5 / 0.1 / r
        return [y[2], y[3], push * y[0], push * y[1]]

    found = motion(rates, [0.5 * impacts.CLEARANCE, 0.0, *impacts.FAST], impacts.HOLE, max_step=1e-4)
    np.testing.assert_allclose(1e3 * found[:, :2], references(impacts.HOLE)[:, :2], rtol=0, atol=2e-8)


def test_a_block_tips_as_a_pendulum_about_its_edge() -> None:
    w, h = slopes.NARROW, slopes.TALL
    r, beyond = 0.5 * math.hypot(w, h), slopes.SLOPE - math.atan(w / h)
    found = motion(
        lambda _, y: [y[1], G * r * math.sin(beyond + y[0]) / ((w * w + h * h) / 12.0 + r * r)],
        [0.0, 0.0],
        slopes.TIPPING,
    )
    np.testing.assert_allclose(found[:, 0], references(slopes.TIPPING)[:, 0], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("problem", "load"), [(slopes.CARDS, 0.0), (slopes.LOADED, 1.0)])
def test_cards_slip_apart_as_rigid_ones(problem: Problem, load: float) -> None:
    # one card against its mirror image: the lower end slides, the middle is half a card from where the mirror and the floor meet; a load
    # P = load W on its upper end
    L, mu = slopes.LONG, 0.95 * math.tan(slopes.LEAN) * (0.5 + load) / (1.0 + load)

    def rates(_: float, y: Any) -> list[float]:
        s, c = math.sin(y[0]), math.cos(y[0])
        rubs = mu * L * c
        turns = (0.5 + load) * G * L * s - rubs * ((1.0 + load) * G - 0.5 * L * c * y[1] ** 2)
        return [y[1], turns / (L * L / 3.0 - 0.5 * rubs * L * s)]

    found = motion(rates, [slopes.LEAN, 0.0], problem)
    np.testing.assert_allclose(found[:, 0], references(problem)[:, 1], rtol=0, atol=1e-10)


def test_the_rod_of_painleve_by_equations_of_its_own() -> None:
    reach, mu = slopes.REACH, slopes.ROUGH
    c, s = math.cos(slopes.STEEP), math.sin(slopes.STEEP)
    assert 1.0 + 3.0 * c * c - 3.0 * mu * s * c < 0.0  # a rigid rod has no motion

    def rates(_: float, y: Any) -> list[float]:
        _, z, turned, u, w, spin = y
        x, low = reach * math.cos(turned), -reach * math.sin(turned)
        normal = slopes.STIFF * max(0.0, -(z + low))
        slides = u - spin * z  # at the plane, z below the middle
        rubs = -mu * normal * slides / math.hypot(slides, 0.01)
        return [u, w, spin, rubs, normal - G, (-rubs * z - normal * x) / (reach * reach / 3.0)]

    start = [0.0, reach * s, slopes.STEEP, 1.0, 0.0, 0.0]
    found = motion(rates, start, slopes.ROD, method="Radau", max_step=1e-3)
    np.testing.assert_allclose(found[:, 3:], references(slopes.ROD), rtol=0, atol=1e-9)


def top_rates(friction: float) -> Callable[[float, Any], np.ndarray]:
    """Quaternion, place and velocity of the centre of mass, angular velocity in the axes of the top."""
    J = np.array([tippe_top.ACROSS, tippe_top.ACROSS, tippe_top.ALONG])
    damping = 50.0 if friction else 0.0

    def rates(_: float, y: Any) -> np.ndarray:
        a, b, c, d = y[:4] / np.linalg.norm(y[:4])
        R = np.array([[1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)],
                      [2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)],
                      [2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)]])  # fmt: skip
        v, spin = y[7:10], y[10:]
        middle = tippe_top.LOW * R[:, 2]
        lowest = np.array([middle[0], middle[1], -y[6]])
        depth = max(0.0, tippe_top.R - y[6] - middle[2])
        u = v + np.cross(R @ spin, lowest)
        normal = tippe_top.STIFF * depth * max(0.0, 1.0 - damping * u[2])
        rubs = -friction * normal * u / math.sqrt(u[0] ** 2 + u[1] ** 2 + 0.01)
        force = np.array([rubs[0], rubs[1], normal])
        turning = (R.T @ np.cross(lowest, force) - np.cross(spin, J * spin)) / J
        x, y_, z = spin
        quaternion = 0.5 * np.array(
            [-b * x - c * y_ - d * z, a * x + c * z - d * y_, a * y_ + d * x - b * z, a * z + b * y_ - c * x]
        )
        return np.concatenate([quaternion, v, force / tippe_top.M - [0.0, 0.0, G], turning])

    return rates


@pytest.mark.parametrize(("problem", "friction"), [(tippe_top.TURNS, 0.3), (tippe_top.NODS, 0.0)])
def test_a_tippe_top_by_equations_of_its_own(problem: Problem, friction: float) -> None:
    half, height = 0.5 * tippe_top.TILT, tippe_top.R - tippe_top.LOW * math.cos(tippe_top.TILT)
    start = [
        math.cos(half),
        math.sin(half),
        0,
        0,
        0,
        0,
        height - tippe_top.M * G / tippe_top.STIFF,
        0,
        0,
        0,
        0,
        0,
        tippe_top.SPIN,
    ]
    found = motion(top_rates(friction), start, problem, rtol=1e-9, atol=1e-11)
    q = found[:, :4] / np.linalg.norm(found[:, :4], axis=1)[:, None]
    tilt = np.degrees(np.arccos(1.0 - 2.0 * (q[:, 1] ** 2 + q[:, 2] ** 2)))
    np.testing.assert_allclose(tilt, references(problem)[:, 0], rtol=0, atol=1e-5)
    if friction:
        np.testing.assert_allclose(1e3 * found[:, 6], references(problem)[:, 1], rtol=0, atol=1e-6)


# --- how runs approach them -----------------------------------------------------------------------------------------


def off(problem: Problem, method: nx.Method) -> float:
    """The error of a run."""
    return problem.check(Run("", method, 1.0)).error


def test_the_rod_of_painleve_converges_with_the_step() -> None:
    errors = [off(slopes.ROD, nx.ImplicitEuler(dt, bdf2=True)) for dt in (4e-5, 2e-5, 1e-5)]
    assert errors[0] > 2.5 * errors[1] > 6.0 * errors[2], errors


def test_what_is_stiffer_is_nearer_to_the_rigid_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    # what springs gain until they bear goes with the root of what they give: half at four times the stiffness
    for problem in (slopes.TIPPING, slopes.CARDS):
        errors = []
        for stiffness in (2.5e7, 1e8):
            monkeypatch.setattr(slopes, "STIFFER", stiffness)
            found = off(replace(problem, scale=(1.0, 1.0)), nx.HHT(rtol=1e-7))
            errors.append(found)
        assert errors[0] == pytest.approx(2.0 * errors[1], rel=0.2), problem.name


ROUND = -2.0 / 3.0
"""Of what a ball gives."""
LATE = {"corners": -1 / 2, "ball": -1 / 3, "area": -1 / 3}
"""Of the speed that is gained until springs of friction bear: as the root of what these give."""
BY_STIFFNESS: dict[str, tuple[Problem, Callable[[float], nx.System], tuple[float, ...]]] = {
    "sliding": (contacts.SLIDING, lambda k: contacts.block(contacts.STEEP, contacts.MU, harder=k), (LATE["corners"],)),
    "conveyor": (contacts.CONVEYOR, lambda k: contacts.conveyor(k), (0.0, -1.0, ROUND)),
    "rolling": (contacts.ROLLING, lambda k: contacts.ball(contacts.FLAT, (0, 0, 0), damping=1.0, stiffness=1e9 * k), (ROUND,)),
    "bowling": (contacts.BOWLING, lambda k: contacts.ball(0.0, (2, 0, 0), damping=1.0, stiffness=1e9 * k), (ROUND,)),
    "skidding": (impacts.SKIDDING, lambda k: impacts.skidding(1e9 * k), (LATE["ball"], LATE["ball"])),
    "wheel": (wheels.WHEEL, lambda k: wheels.wheels(wheels.SOFT * k), (0.0, LATE["area"], LATE["area"])),
}  # fmt: skip
"""Problems whose answers are those of rigid bodies, by times their stiffness, and the power of it with which each quantity is off; 0 where
it is not."""


@pytest.mark.parametrize("name", BY_STIFFNESS)
def test_answers_of_rigid_bodies_are_off_by_a_power_of_the_stiffness(name: str) -> None:
    problem, build, powers = BY_STIFFNESS[name]
    t, off_by = sorted(problem.reference), []
    for k in (1.0, 8.0, 64.0):
        known = (
            {x: tuple(x * gain for gain in wheels.gains(wheels.SOFT * k)) for x in t}
            if name == "wheel"
            else problem.reference
        )
        result = nx.simulate(build(k), t[-1], nx.HHT(rtol=1e-9), output_times=[0.0, *t])
        off_by.append(np.abs(problem.observe(result)[1:] - [known[x] for x in t]).max(axis=0))
    for power, errors in zip(powers, np.transpose(off_by), strict=True):
        if power == 0.0:
            assert errors.max() < 1e-9
        else:
            # a ball that spins up also turns on less than R: 11 % at first
            assert errors[:-1] / errors[1:] == pytest.approx(8.0**-power, rel=0.12), (power, errors)


def test_what_turns_in_a_bearing_tends_to_the_rigid_answer() -> None:
    rigid = 0.5 * machines.SPEED * (1.0 - machines.BALL / (machines.RACE + machines.BALL))
    assert rigid == pytest.approx(machines.CAGE, rel=machines.TIGHT / machines.RACE)


def angular(alpha: float, count: int = 6) -> nx.System:
    """A bearing with a contact angle: balls in a cage between an inner race that turns at once and an outer one that stands, spheres about
    one centre on the shaft; the lines on which balls are pressed lean by α."""
    system, on = nx.System("angular", gravity=(0.0, 0.0, 0.0)), machines.RACE + machines.BALL - machines.TIGHT
    around, up = on * math.cos(alpha), on * math.sin(alpha)
    system.add_body("race", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), collision=[nx.Sphere(machines.RACE)])
    system.add_joint(nx.Revolute("turns", "ground", "race", axis=(0, 0, 1)))
    system.add_driver(nx.Driver("drive", "turns", f"={machines.SPEED}*t"))
    system.add_body("cage", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), position=(0.0, 0.0, up))
    system.add_joint(nx.Revolute("goes round", "ground", "cage", axis=(0, 0, 1), at=(0.0, 0.0, up)))
    inertia = (0.4 * machines.WEIGHT * machines.BALL**2,) * 3
    law: dict[str, Any] = {"stiffness": machines.STIFF, "exponent": 1.0, "damping": 1.0, "friction": 0.3}
    outer = {
        "radius_a": machines.BALL,
        "radius_b": machines.RACE + 2.0 * (machines.BALL - machines.TIGHT),
        "hollow": True,
    }
    for i in range(count):
        angle = 2.0 * math.pi * i / count
        place, name = (around * math.cos(angle), around * math.sin(angle), up), f"ball{i}"
        system.add_body(
            name, mass=machines.WEIGHT, inertia=inertia, position=place, collision=[nx.Sphere(machines.BALL)]
        )
        system.add_joint(nx.Spherical(f"pocket{i}", "cage", name, at=place))
        system.add_force(nx.SphereContact(f"outer{i}", name, "ground", **outer, **law))
    system.add_contact(nx.Contact("inner", "ball*", "race", **law))
    return system


@pytest.mark.filterwarnings("ignore:contact .* starts:nexdyn.NexDynWarning")
@pytest.mark.parametrize("degrees", [0.0, 30.0])
@pytest.mark.parametrize(
    "method", [nx.DormandPrince(rtol=1e-8, atol=1e-11), nx.HHT(rtol=1e-6), nx.ImplicitEuler(5e-5, bdf2=True)],
    ids=["explicit", "hht", "bdf2"],
)  # fmt: skip
def test_the_cage_of_a_bearing_with_a_contact_angle_goes_round_as_harris_says(
    method: nx.Method, degrees: float
) -> None:
    """½ ω (1 − d/D cos α), D the diameter on which the balls go round."""
    alpha = math.radians(degrees)
    result = nx.simulate(angular(alpha), 0.05, method, output_times=[0.0, 0.03, 0.05])
    d, D = 2.0 * machines.BALL, 2.0 * (machines.RACE + machines.BALL) * math.cos(alpha)
    known = 0.5 * machines.SPEED * (1.0 - d / D * math.cos(alpha))
    rates = result.angular_velocity("cage").values[:, 2]
    # balls that give by 1 µm roll on a little less
    np.testing.assert_allclose(rates[1:], known, rtol=3.0 * machines.TIGHT / machines.BALL)
    assert (result.contacts("inner").sticks.values[-1] == 1.0).all()


# --- gears and a Geneva drive ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", [nx.DormandPrince(rtol=1e-8, atol=1e-11), nx.ImplicitEuler(2e-4, bdf2=True)], ids=["explicit", "bdf2"]
)
def test_a_wheel_with_slots_tends_to_its_closed_form_as_one_by_the_stiffness(method: nx.Method) -> None:
    engaged = {t: x for t, x in transmissions.GENEVA.reference.items() if t < 0.25}
    errors = []
    for hard in (1.25e6, 5e6, 2e7):
        problem = replace(transmissions.GENEVA, reference=engaged, build=lambda hard=hard: transmissions.geneva(hard))
        errors.append(off(problem, method))
    assert errors[0] == pytest.approx(4.0 * errors[1], rel=0.02), errors
    assert errors[1] == pytest.approx(4.0 * errors[2], rel=0.02), errors


def test_a_geneva_drive_is_the_same_with_its_bodies_swapped() -> None:
    run = Run("", nx.HHT(rtol=1e-7), 1.0)
    swapped = replace(transmissions.GENEVA, build=lambda: transmissions.geneva(swapped=True))
    np.testing.assert_allclose(swapped.found(run), transmissions.GENEVA.found(run), rtol=0, atol=1e-10)


MESHES = Run("", nx.ImplicitEuler(transmissions.PERIOD / transmissions.SAMPLES / 8, bdf2=True), 1.0)
"""The method that is cheapest of two gears."""


def given(soft: float, t: np.ndarray) -> np.ndarray:
    """How far teeth give along the line of action: Σ k w 4/3 √(2 R δ) δ of the pairs on it is the load, 1/R = 1/ρ₁ + 1/ρ₂, ρ = r_b u."""
    g = transmissions
    last, half = math.sqrt((g.TIP / g.BASE) ** 2 - 1.0), 0.5 * math.pi / g.TEETH * (1.0 - g.PLAY)
    first = half + math.tan(g.PRESSURE) + g.RATE * t[:, None] + g.STEP * np.arange(-4, 5)
    second = 2.0 * math.tan(g.PRESSURE) - first
    bears = (first < last) & (second < last)
    R = np.where(bears, g.BASE * first * second / (first + second), 0.0)
    stiffness = np.sum(0.5 * soft * g.WIDTH * 4.0 / 3.0 * np.sqrt(2.0 * R), axis=1)
    return np.asarray((g.TORQUE / g.BASE / stiffness) ** (2.0 / 3.0))


def mesh(
    soft: float = transmissions.SOFT, points: int = transmissions.FLANK
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far teeth of two gears give along the line of action [m], as found and as given; what the problem observes."""
    g = transmissions
    result = replace(g.GEARS, build=lambda: g.gears(soft, points)).motion(MESHES)
    t = result.recording.t[g.LEAD :]
    return g.BASE * (g.turned(result)[g.LEAD :] + g.RATE * t), given(soft, t), g.meshed(result)[-1]


def ripple(depth: np.ndarray) -> float:
    """The line at z ω/2π."""
    return float(np.abs(np.fft.rfft(depth[:-1]))[transmissions.COUNT])


def test_the_ripple_of_gears_falls_with_their_stiffness_and_facets_count_by_their_sag() -> None:
    soft, hard, coarse = mesh(1.25e12), mesh(1e13), mesh(1e13, 12)
    for found, expected, _ in (soft, hard):
        assert ripple(found) == pytest.approx(ripple(expected), rel=0.06)
    assert ripple(soft[0]) == pytest.approx(4.0 * ripple(hard[0]), rel=0.06)  # δ goes with k^(−2/3)
    sags = [float(np.mean(found - expected)) for found, expected, _ in (hard, coarse)]  # chords are inside of arcs
    assert sags[1] == pytest.approx((23 / 11) ** 2 * sags[0], rel=0.05), sags
    askew = [observed[4] - 1.0 for _, _, observed in (hard, coarse)]
    assert askew[1] == pytest.approx(23 / 11 * askew[0], rel=0.1), askew


def wheel(file: Path, width: float, middle: float) -> nx.Mesh:
    """A whole gear as one closed mesh that is not convex: teeth with both flanks, one in the direction `middle`, on a disc."""
    g = transmissions
    half = 0.5 * math.pi / g.TEETH * (1.0 - g.PLAY) + math.tan(g.PRESSURE) - g.PRESSURE
    u = np.linspace(0.0, math.sqrt((g.TIP / g.BASE) ** 2 - 1.0), g.FLANK)
    radii, sides = np.r_[g.ROOT, g.BASE * np.sqrt(1.0 + u * u)], np.r_[half, half - u + np.arctan(u)]
    k, outline, flat = len(radii), [], []
    hub = 2 * k * g.TEETH
    for i in range(g.TEETH):
        angles = middle + i * g.STEP + np.r_[-sides, sides[::-1]]
        outline += zip(
            np.r_[radii, radii[::-1]] * np.cos(angles), np.r_[radii, radii[::-1]] * np.sin(angles), strict=True
        )
        first, after = 2 * k * i, 2 * k * ((i + 1) % g.TEETH)
        for n in range(k - 1):
            a, b, c, d = first + n, first + n + 1, first + 2 * k - 2 - n, first + 2 * k - 1 - n
            flat += [(a, b, c), (a, c, d)]
        flat += [(hub, first, first + 2 * k - 1), (hub, first + 2 * k - 1, after)]
    spots = [*outline, (0.0, 0.0)]
    n = len(spots)
    corners = [(*spot, z) for z in (-0.5 * width, 0.5 * width) for spot in spots]
    triangles = [(c, b, a) for a, b, c in flat] + [(n + a, n + b, n + c) for a, b, c in flat]
    for i in range(n - 1):
        j = (i + 1) % (n - 1)
        triangles += [(i, j, n + j), (i, n + j, n + i)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    file.write_text("\n".join(lines))
    return nx.Mesh(str(file))


def test_gears_as_whole_meshes_turn_as_those_of_teeth(tmp_path: Path) -> None:
    """Two meshes of 4,000 triangles, as one has them from a drawing: the same ratio, ripple and force, tooth after tooth."""
    g = transmissions
    one = wheel(tmp_path / "one.obj", g.WIDTH, 0.0)
    other = wheel(tmp_path / "other.obj", 1.2 * g.WIDTH, math.pi + 0.5 * g.STEP)
    found = replace(g.GEARS, build=lambda: g.gears(whole=([one], [other]))).check(MESHES)
    assert found.holds, found


def test_gears_are_the_same_with_their_bodies_swapped() -> None:
    swapped = replace(transmissions.GEARS, build=lambda: transmissions.gears(swapped=True))
    np.testing.assert_allclose(swapped.found(MESHES), transmissions.GEARS.found(MESHES), rtol=0, atol=1e-8)

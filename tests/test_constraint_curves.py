"""Points on curves and surfaces, and rows of the user's own: derivatives, what they measure and hold, and their ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mechanisms
import numba
import numpy as np
import pytest
from curve_lab import CURVES, LAWS, SLOW, SURFACES, TURN, bead_on, hills, hills_first, hills_second, point, ring
from numpy.testing import assert_allclose
from systems import solid, somewhere

import nexdyn as nx
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.constraints import curve
from nexdyn.spatial.rotations import rotation_about, rotation_matrix


def sides(rng: np.random.Generator) -> dict[str, Any]:
    where = {f"anchor_{s}": rng.normal(size=3) * 0.3 for s in "ab"}
    return where | {"axis_a": rng.normal(size=3), "reference_a": rng.normal(size=3)}


def between(joint: Callable[[np.random.Generator], nx.Joint], seed: int) -> AbsoluteModel:
    """Two bodies anywhere with a joint."""
    rng = np.random.default_rng(seed)
    system = nx.System("pair")
    for name in "ab":
        system.add_body(name, **solid(rng), **{**somewhere(rng), "position": rng.normal(size=3) * 0.4})
    system.add_joint(joint(rng))
    return absolute_model(system)


def check_derivatives(model: AbsoluteModel, t: float = 0.3, loose: float = 1.0) -> None:
    """Cq, ν, γ and the curvature against differences of C, at poses that do not satisfy C = 0."""
    rng = np.random.default_rng(0)
    q = model.q
    near = model.near(q, t)

    def C(h: float, step: np.ndarray, dt: float = 0.0) -> np.ndarray:
        return model.residual(model.moved(q, h * step), t + dt, near.copy())

    def twice(f: Callable[[float], Any], h: float = 5e-4) -> Any:
        return (-f(2 * h) + 16 * f(h) - 30 * f(0) + 16 * f(-h) - f(-2 * h)) / (12 * h * h)

    assert np.abs(C(0, np.zeros(model.nv))).min() > 1e-4
    h = 1e-6
    J = np.stack([(C(h, e) - C(-h, e)) / (2 * h) for e in np.eye(model.nv)], axis=1)
    assert_allclose(np.asarray(model.jacobian(q, t, near)), J, atol=3e-9 * loose)
    still = np.zeros(model.nv)
    assert_allclose(model.nu(t, q), -(C(0, still, 1e-5) - C(0, still, -1e-5)) / 2e-5, atol=1e-9)
    v = np.zeros((model.nb + 1, 6))
    # at rest γ is −C_tt
    assert_allclose(model.gamma(q, v, t, near), -twice(lambda x: C(0, still, x)), atol=1e-8 * loose)
    v[1:] = rng.normal(size=(model.nb, 6))
    step = v[1:].reshape(-1)
    assert_allclose(model.gamma(q, v, t, near), -twice(lambda x: C(x, step, x)), atol=1e-8 * loose, rtol=1e-8 * loose)
    weight = rng.normal(size=model.nc)
    H = np.asarray(model.curvature(q, weight, t, near))
    expected = twice(lambda x: weight @ C(x, step))
    assert step @ H @ step == pytest.approx(expected, abs=2e-8 * loose, rel=2e-8 * loose)
    assert np.array_equal(H, H.T)


@SLOW
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CURVES)
def test_rows_of_a_point_on_a_curve_have_their_derivatives(name: str, seed: int) -> None:
    model = between(lambda rng: nx.PointOnCurve("j", "a", "b", curve=CURVES[name](rng), **sides(rng)), seed)
    check_derivatives(model, loose=30.0 if name in ("no derivative", "Python") else 1.0)


@SLOW
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SURFACES)
def test_the_row_of_a_point_on_a_surface_has_its_derivatives(name: str, seed: int) -> None:
    model = between(lambda rng: nx.PointOnSurface("j", "a", "b", surface=SURFACES[name](), **sides(rng)), seed)
    check_derivatives(
        model, loose=30.0 if name in ("implicit, F alone", "parametric, S alone", "parametric, Python") else 1.0
    )


@SLOW
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", LAWS)
def test_a_row_of_the_user_has_its_derivatives(name: str, seed: int) -> None:
    model = between(
        lambda rng: nx.UserConstraint("j", "a", "b", **LAWS[name], **sides(rng), axis_b=rng.normal(size=3)), seed
    )
    check_derivatives(model, loose=30.0 if name in ("function", "Python") else 1.0)


def test_the_pages_run_interpreted_too() -> None:
    program = (
        "from test_constraint_curves import *\n"
        "assert numba.config.DISABLE_JIT\n"
        "for name in ('spline', 'plane', 'compiled'):\n"
        "    test_rows_of_a_point_on_a_curve_have_their_derivatives(name, 0)\n"
        "for name in ('torus', 'ellipsoid', 'implicit', 'parametric'):\n"
        "    test_the_row_of_a_point_on_a_surface_has_its_derivatives(name, 0)\n"
        "for name in ('hessian', 'gradient'):\n"
        "    test_a_row_of_the_user_has_its_derivatives(name, 0)\n"
    )
    paths = [str(Path(__file__).parent), str(Path(nx.__file__).parents[1])]
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- what they measure ------------------------------------------------------------------------------------------------


def test_beside_a_plane_curve_the_rows_are_the_distances_in_and_from_its_plane() -> None:
    circle = nx.ExpressionCurve("=0.5*cos(s)", "=0.5*sin(s)", 0.1, 0, "=2*pi", closed=True)
    model = absolute_model(bead_on(nx.PointOnCurve("track", "ground", "bead", curve=circle), position=(0.6, 0, 0)))
    for angle in np.linspace(0, 20, 60):
        C = model.residual(point(model, 0.7 * np.cos(angle), 0.7 * np.sin(angle), 0.4))
        assert_allclose(np.abs(C), (0.2, 0.3), atol=1e-12)


@pytest.mark.parametrize("name", ["spline", "closed spline", "expressions", "compiled"])
def test_the_rows_measure_the_distance_from_the_nearest_point(name: str, rng: np.random.Generator) -> None:
    given = CURVES[name](rng)
    data = np.array(given.row({}))
    curve.prepared(data, 0, np.zeros(3), "the curve")
    s = np.linspace(data[1], data[2], 4001)
    c, t = np.empty((len(s), 3)), np.empty((len(s), 3))
    curve.tangents(data, 0, s, c, t)
    for _ in range(20):
        i = rng.integers(100, 3900)
        x = c[i] + np.cross(t[i], rng.normal(size=3)) * 0.02
        model = absolute_model(bead_on(nx.PointOnCurve("track", "ground", "bead", curve=given), position=x))
        expected = np.linalg.norm(c - x, axis=1).min()
        assert np.linalg.norm(model.residual(model.q)) == pytest.approx(expected, rel=1e-3)


def test_a_spline_goes_through_its_points_and_keeps_two_derivatives(rng: np.random.Generator) -> None:
    points = rng.normal(size=(7, 3))
    for closed in (False, True):
        data = np.array(nx.SplineCurve(points, closed=closed).row({}))
        n = int(data[curve.HEAD])
        s = data[curve.HEAD + 1 : curve.HEAD + 1 + n]
        for i, at in enumerate(s):
            jets = [curve.jet(data, 0, at + side * 1e-9) for side in (-1, 1)]
            assert_allclose(jets[0][0], points[i % 7], atol=1e-7)
            if closed or 0 < i < n - 1:
                assert_allclose(jets[0], jets[1], atol=1e-5)


def test_a_point_is_followed_along_its_own_branch() -> None:
    # a figure of eight crosses itself in the middle: the branch is the one that the motion is on
    eight = nx.ExpressionCurve("=sin(s)", "=sin(s)*cos(s)", 0.0, "=-pi", "=pi", closed=True)
    model = absolute_model(bead_on(nx.PointOnCurve("track", "ground", "bead", curve=eight), position=(-0.2, -0.2, 0)))
    near = model.near(model.q)
    for s in np.linspace(-0.2, 0.2, 21):
        C = model.residual(point(model, np.sin(s), np.sin(s) * np.cos(s), 0.0), 0.0, near)
        assert_allclose(C, 0.0, atol=1e-12)
        assert near[0] == pytest.approx(s, abs=1e-9)


def test_laps_are_counted_on_a_closed_curve() -> None:
    circle = nx.ExpressionCurve("=cos(s)", "=sin(s)", 0.0, 0, "=2*pi", closed=True)
    model = absolute_model(bead_on(nx.PointOnCurve("track", "ground", "bead", curve=circle), position=(1, 0, 0)))
    near = model.near(model.q)
    start = near[0]
    for s in np.linspace(0, 15, 80):
        model.residual(point(model, np.cos(s), np.sin(s), 0.0), 0.0, near)
    assert near[0] - start == pytest.approx(15.0, abs=1e-9)
    assert model.beyond_ends(model.q, 0.0, near) == []


@SLOW
@pytest.mark.parametrize("name", SURFACES)
def test_points_of_a_surface_satisfy_its_row(name: str, rng: np.random.Generator) -> None:
    given, a = SURFACES[name](), rng.normal(size=3)
    on = {
        "sphere": lambda: 0.7 * a / np.linalg.norm(a),
        "cylinder": lambda: np.array([0.5 * np.cos(a[0]), 0.5 * np.sin(a[0]), a[1]]),
        "plane": lambda: np.array([a[0], a[1], 0.0]),
        "ellipsoid": lambda: a / np.linalg.norm(a / (0.5, 1.0, 0.8)),
        "torus": lambda: np.array(ring(a[0], a[1])),
        "implicit": lambda: np.array([a[0], a[1], (1.5 - a[0] * a[1] - np.exp(0.3 * a[0])) / a[1] ** 2]),
        "parametric": lambda: np.array(hills(a[0], a[1])),
        "parametric, Python": lambda: np.array(ring(a[0], a[1])),
    }.get(name if name.endswith("Python") else name.split(",")[0])
    assert on is not None
    x = on()
    model = absolute_model(bead_on(nx.PointOnSurface("floor", "ground", "bead", surface=given), position=x))
    assert_allclose(model.residual(model.q), 0.0, atol=1e-9)


def test_the_distance_from_a_parametric_torus_is_that_of_the_ready_one(rng: np.random.Generator) -> None:
    given = nx.ParametricSurface(numba.njit(ring_of_floats), (0, TURN), (0, TURN), closed_u=True, closed_w=True)
    ready = nx.TorusSurface(1.0, 0.3)
    for _ in range(10):
        x = rng.normal(size=3)
        C = [
            absolute_model(bead_on(nx.PointOnSurface("f", "ground", "bead", surface=of), position=x))
            for of in (given, ready)
        ]
        found, expected = (float(model.residual(model.q)[0]) for model in C)
        assert abs(found) == pytest.approx(abs(expected), abs=1e-9)


def ring_of_floats(u: float, w: float) -> tuple[float, float, float]:
    return (1 + 0.3 * np.cos(w)) * np.cos(u), (1 + 0.3 * np.cos(w)) * np.sin(u), 0.3 * np.sin(w)


# --- mechanisms -------------------------------------------------------------------------------------------------------


CIRCLES = {
    "expression": nx.ExpressionCurve("=0.5*sin(s)", 0.0, "=-0.5*cos(s)", "=-pi", "=pi", closed=True),
    "spline": nx.SplineCurve([(0.5 * np.sin(a), 0, -0.5 * np.cos(a)) for a in np.linspace(0, TURN, 201)[:-1]], closed=True),
    "surfaces": None,
}  # fmt: skip


@pytest.mark.parametrize("angle", [0.0, 22 * TURN / 200, 64 * TURN / 200])
@pytest.mark.parametrize("name", CIRCLES)
def test_the_multiplier_of_a_bead_on_a_circle_is_the_normal_force(name: str, angle: float) -> None:
    m, r, speed, g = 2.0, 0.5, 3.0, 9.81
    outward, along = np.array([np.sin(angle), 0, -np.cos(angle)]), np.array([np.cos(angle), 0, np.sin(angle)])
    given = CIRCLES[name]
    if given is not None:
        system = bead_on(nx.PointOnCurve("track", "ground", "bead", curve=given), position=r * outward)
    else:
        sphere = nx.PointOnSurface("track", "ground", "bead", surface=nx.SphereSurface(r))
        system = bead_on(sphere, position=r * outward)
        system.add_joint(nx.PointOnSurface("plane", "ground", "bead", surface=nx.PlaneSurface(), axis_a=(0, 1, 0)))
    system.add_joint(nx.Free("start", system.ground, system.body("bead"), v0=(0, 0, 0, *(speed * along))))
    report = nx.assemble(system)
    loose = 1e-4 * m * speed**2 / r / 1e-9 if name == "spline" else 1.0  # its curvature is off by h²/12, h = 2π/200
    normal = m * (g * np.cos(angle) + speed**2 / r)
    assert_allclose(report.reaction("track").force, -normal * outward, atol=1e-9 * loose)
    assert np.abs(report.multipliers[0]).max() == pytest.approx(normal, abs=1e-9 * loose)
    expected = -(speed**2) / r * outward + g * np.sin(-angle) * along
    assert_allclose(report.acceleration("bead"), expected, atol=1e-9 * loose)


@numba.njit
def circle(t: float, x: np.ndarray, R: np.ndarray) -> float:
    return np.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2) - 0.5


def test_a_row_of_the_user_bears_what_a_rod_bears() -> None:
    def pendulum(joint: nx.Joint) -> nx.AssemblyReport:  # type: ignore[name-defined]
        system = bead_on(joint, position=(0.3, 0.0, -0.4), com=(0.1, 0, 0))
        system.add_joint(nx.Free("start", "ground", "bead", v0=(1.0, 2.0, 0.5, 0.8, 0.3, 0.6)))
        return nx.assemble(system)

    own = pendulum(nx.UserConstraint("rod", "ground", "bead", circle))
    rod = pendulum(nx.Rod("rod", "ground", "bead"))
    assert_allclose(own.acceleration("bead"), rod.acceleration("bead"), atol=1e-6)
    assert_allclose(own.reaction("rod").force, rod.reaction("rod").force, atol=1e-6)


def test_a_row_that_depends_on_the_time_drives() -> None:
    """x = 0.2 + 0.3 sin(2 t) of the origin: position, velocity and acceleration follow it."""

    @numba.njit
    def slide(t: float, x: np.ndarray, R: np.ndarray) -> float:
        return x[0] - 0.2 - 0.3 * np.sin(2 * t)

    system = bead_on(nx.UserConstraint("motor", "ground", "bead", slide, priority=3), position=(0, 0, 0))
    report = nx.assemble(system, t=0.4)
    assert report.position("bead")[0] == pytest.approx(0.2 + 0.3 * np.sin(0.8), abs=1e-10)
    assert report.velocity("bead")[0] == pytest.approx(0.6 * np.cos(0.8), abs=1e-9)
    assert report.acceleration("bead")[0] == pytest.approx(-1.2 * np.sin(0.8), abs=1e-7)
    assert report.reaction("motor").force[0] == pytest.approx(-2.4 * np.sin(0.8), abs=1e-6)


@pytest.mark.parametrize("turn", [0.4, 1.3, 2.9])
def test_a_cam_lifts_its_follower_as_its_profile_says(turn: float) -> None:
    """A translating knife-edge follower over the axis of a cam ρ(φ) = 0.2 + 0.05 cos φ that turns at ω."""
    speed = 7.0
    system = nx.System("cam", gravity=(0, -9.81, 0))
    cam = system.add_body("cam", mass=1.0, inertia=mechanisms.INERTIA)
    follower = system.add_body("follower", mass=0.4, inertia=mechanisms.INERTIA, position=(0, 0.25, 0))
    system.add_joint(nx.Revolute("shaft", system.ground, cam, at=(0, 0, 0)))
    system.add_joint(nx.Prismatic("guide", system.ground, follower, axis=(0, 1, 0)))
    profile = nx.ExpressionCurve(
        "=(0.2+0.05*cos(s))*cos(s)", "=(0.2+0.05*cos(s))*sin(s)", 0.0, "=-pi", "=pi", closed=True
    )
    system.add_joint(nx.PointOnCurve("contact", cam, follower, curve=profile))
    system.add_driver(nx.Driver("motor", "shaft", f"={turn}+{speed}*t"))
    report = nx.assemble(system)
    # the edge is above the axis: φ = π/2 − θ, φ̇ = −ω
    phi = np.pi / 2 - turn
    assert_allclose(report.position("follower"), (0, 0.2 + 0.05 * np.cos(phi), 0), atol=1e-9)
    assert_allclose(report.velocity("follower"), (0, 0.05 * speed * np.sin(phi), 0), atol=1e-9)
    assert_allclose(report.acceleration("follower"), (0, -0.05 * speed**2 * np.cos(phi), 0), atol=1e-8)
    lift = 0.4 * (9.81 - 0.05 * speed**2 * np.cos(phi))
    # the contact's force is across the profile; its part along the guide carries the follower
    slope, rho = -0.05 * np.sin(phi), 0.2 + 0.05 * np.cos(phi)
    R = rotation_about((0, 0, 1), turn)
    force = R @ report.reaction("contact").force
    assert force[1] == pytest.approx(lift, abs=1e-8)
    tangent = R @ (slope * np.array([np.cos(phi), np.sin(phi), 0]) + rho * np.array([-np.sin(phi), np.cos(phi), 0]))
    assert force @ tangent == pytest.approx(0.0, abs=1e-9)
    # the motor's power is that which the follower takes
    torque = -report.multipliers[report.model.drivers[0].row]
    assert torque * speed == pytest.approx(lift * 0.05 * speed * np.sin(phi), abs=1e-7)


@pytest.mark.parametrize("name", ["closed spline", "compiled", "plane"])
def test_a_point_beside_its_curve_is_assembled_onto_it(name: str, rng: np.random.Generator) -> None:
    joint = nx.PointOnCurve("track", "ground", "bead", curve=CURVES[name](rng), anchor_b=(0.1, 0.2, 0.05))
    report = nx.assemble(bead_on(joint, position=(0.8, 0.3, 0.2)))
    x = report.position("bead") + rotation_matrix(report.orientation("bead")) @ (0.1, 0.2, 0.05)
    data = np.array(joint.curve.row({}))
    s = curve.prepared(data, 0, x, "the curve")
    assert_allclose(curve.jet(data, 0, s)[0], x, atol=1e-9)
    assert report.redundancy.dof == 4


# --- ends -------------------------------------------------------------------------------------------------------------


def test_leaving_an_open_curve_is_reported_by_name() -> None:
    track = nx.SplineCurve([(0, 0, 0), (1, 0, 0), (2, 0, 0.5)])
    system = bead_on(nx.PointOnCurve("track", "ground", "bead", curve=track), position=(0.5, 0, 0))
    model = absolute_model(system)
    assert model.beyond_ends(model.q) == []
    ((name, what),) = model.beyond_ends(point(model, -0.3, 0, 0))
    assert name == "track" and what.startswith("has left its curve: s = -0.2")
    far = bead_on(nx.PointOnCurve("track", "ground", "bead", curve=track), position=(-1.0, 0.2, 0))
    with pytest.raises(nx.AssemblyError, match=r"joint 'track' has left its curve: s = -\S+ is not within 0 and"):
        nx.assemble(far)


def test_leaving_a_parametric_surface_is_reported_by_name() -> None:
    patch = nx.ParametricSurface(hills, (-1, 1), (-1, 1), hills_first, hills_second)
    system = bead_on(nx.PointOnSurface("floor", "ground", "bead", surface=patch), position=(0.5, 0, 0))
    model = absolute_model(system)
    ((name, what),) = model.beyond_ends(point(model, 1.6, 0, 0))
    assert name == "floor" and "has left its surface: u = 1." in what


def test_an_open_curve_goes_on_straight(rng: np.random.Generator) -> None:
    data = np.array(nx.SplineCurve(rng.normal(size=(4, 3))).row({}))
    c, dc, ddc = (np.array([*x]) for x in curve.jet(data, 0, data[2]))
    ahead = [[*x] for x in curve.jet(data, 0, data[2] + 0.7)]
    assert_allclose(ahead, (c + 0.7 * dc, dc, np.zeros(3)), atol=1e-13)
    assert np.abs(ddc).max() > 0.0

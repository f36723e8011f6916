"""What is drawn beside bodies: motors, gears, racks, springs and what rolls stand where the mechanism has them."""

from __future__ import annotations

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.view.geometry import pieces
from nexdyn.view.links import Placing, links
from nexdyn.view.motion import Motion
from nexdyn.view.parts import driven, pitch_radii, stroke
from nexdyn.view.placing import turned
from nexdyn.view.server import LOOPBACK, free_port
from nexdyn.view.surfaces import Piece
from nexdyn.view.viewer import Viewer


def in_world(system: nx.System, piece: Piece) -> np.ndarray:
    """The vertices (n, 3) [m] of a piece as described."""
    R, p = system.body(piece.body).pose(system.values)
    return (piece.surface.vertices @ piece.R_BS.T + piece.p_BS) @ R.T + p


def named(system: nx.System, name: str) -> list[Piece]:
    return [piece for piece in pieces(system) if piece.name == name]


def arm() -> nx.System:
    system = nx.System("arm")
    system.add_body("link", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "link", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system


def test_a_motor_and_a_driver_of_one_joint_are_one_arrow_about_its_axis() -> None:
    system = arm()
    assert named(system, "motor") == []
    system.add_force(nx.TorqueActuator("motor", "hinge", target=1.0))
    system.add_driver(nx.Driver("drive", "hinge", "=t"))
    assert [one.name for one in driven(system)] == ["motor"]
    (arrow,) = named(system, "motor")
    assert arrow.body == "ground" and np.allclose(arrow.R_BS[:, 2], (0.0, 1.0, 0.0))
    v = in_world(system, arrow)
    away = np.hypot(v[:, 0], v[:, 2])
    assert away.min() > 0.05 and abs(v[:, 1]).max() < 0.5 * away.max()  # around the axis, and flat


def test_the_arrow_of_a_motor_tells_the_positive_sense() -> None:
    system = arm()
    system.add_force(nx.TorqueActuator("motor", "hinge", target=1.0))
    (arrow,) = named(system, "motor")
    v = arrow.surface.vertices  # about z
    first, last, later = v[:40], v[-190:], v[80:120]
    assert np.ptp(last[:, 2]) > 2.0 * np.ptp(first[:, 2])  # the head is at the end …
    turn = np.cross(first.mean(axis=0), later.mean(axis=0))
    assert turn[2] > 0.0  # … of a way that begins with a positive turn


@pytest.mark.parametrize("load", ["force", "driver"])
def test_the_rod_of_what_slides_lengthens_as_its_joint_does(load: str) -> None:
    system = nx.System("cylinder")
    system.add_body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    system.add_joint(nx.Prismatic("guide", "ground", "slider", at=(1.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    if load == "force":
        system.add_force(nx.JointForce("piston", "guide", 1.0))
    else:
        system.add_driver(nx.Driver("piston", "guide", "=0.1*t"))
    (tube,) = named(system, "piston")
    assert tube.body == "ground"
    (link,) = [link for link in links(system) if link.name == "piston"]
    motion = Motion.still(system)
    row = {name: k for k, name in enumerate([*motion.bodies, "ground"])}
    placing = Placing.of([link], row)
    frame = motion.at(0.0)
    assert link.length == pytest.approx(float(np.linalg.norm(placing.ends(frame)[1] - placing.ends(frame)[0])))
    moved = frame._replace(position=frame.position + np.array([[0.3, 0.0, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    assert placing.at(moved)[2][0] * link.length == pytest.approx(link.length + 0.3, rel=1e-5)
    assert link.length > 0.9 * stroke(0.05)


@pytest.mark.parametrize("ratio", [-2.0, -0.5, -1.0, 3.0, 0.25])
def test_pitch_circles_touch_and_run_at_one_speed(ratio: float) -> None:
    z, between = np.array((0.0, 0.0, 1.0)), np.array((0.6, 0.8, 0.3))
    r_a, r_b = pitch_radii(z, z, between, ratio, 1.0)
    assert (r_a + r_b if ratio < 0.0 else abs(r_a - r_b)) == pytest.approx(1.0)
    assert abs(ratio) * r_a == pytest.approx(r_b)  # ω_a r_a = ω_b r_b
    other = pitch_radii(z, -z, between, -ratio, 1.0)  # the other axis the other way round: the same wheels
    assert other == pytest.approx((r_a, r_b))


def test_bevel_gears_have_the_ratio_of_their_radii() -> None:
    z, x = np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.0, 0.0))
    for ratio in (2.0, -0.5):
        r_a, r_b = pitch_radii(z, x, np.zeros(3), ratio, 0.4)
        assert r_b / r_a == pytest.approx(abs(ratio)) and max(r_a, r_b) == pytest.approx(0.4)


def test_gears_turn_with_their_bodies_in_one_plane() -> None:
    system = nx.System("gears")
    for name, at in (("a", (0.0, 0.0, 0.0)), ("b", (1.5, 0.2, 0.0))):
        system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=at)
        system.add_joint(nx.Revolute(f"hinge_{name}", "ground", name, at=at, axis=(0.0, 1.0, 0.0)))
    system.add_coupling(nx.Gear("gear", "hinge_a", "hinge_b", ratio=-2.0))
    a, b = named(system, "gear")
    assert (a.body, b.body) == ("a", "b")
    wheels = [in_world(system, piece) for piece in (a, b)]
    assert np.ptp(wheels[0][:, 0]) / 2 == pytest.approx(0.5, rel=1e-2)
    assert np.ptp(wheels[1][:, 0]) / 2 == pytest.approx(1.0, rel=1e-2)
    assert wheels[0][:, 1].mean() == pytest.approx(wheels[1][:, 1].mean(), abs=1e-3)


@pytest.mark.parametrize("radius", [0.5, -0.5])
def test_a_rack_moves_as_the_pitch_circle_does_where_they_touch(radius: float) -> None:
    system = nx.System("rack")
    system.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0.0, -2.0))
    system.add_joint(nx.Revolute("hinge", "ground", "wheel", axis=(0.0, 1.0, 0.0)))
    system.add_joint(nx.Prismatic("guide", "ground", "bar", at=(0.3, 0.0, -2.0), axis=(1.0, 0.0, 0.0)))
    system.add_coupling(nx.RackAndPinion("rack", "hinge", "guide", radius=radius))
    _, bar = named(system, "rack")
    v = in_world(system, bar)
    nearest = v[:, 2].min() if abs(v[:, 2].min()) < abs(v[:, 2].max()) else v[:, 2].max()
    assert abs(nearest) == pytest.approx(0.5)
    touching = np.array((0.0, 0.0, nearest))
    velocity = np.cross((0.0, 1.0, 0.0), touching)  # of the wheel at ω = 1 about its axis
    assert velocity[0] == pytest.approx(radius)  # as the law has it: v = radius ω along the guide


@pytest.mark.parametrize("tube", [0.0, 0.1])
def test_a_body_without_shapes_rolls_on_a_wheel_that_touches_its_plane(tube: float) -> None:
    def wheel(shapes: list[nx.Box]) -> nx.System:
        system = nx.System("wheel")
        system.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0.0, 0.0, 0.5 + tube), shapes=shapes)
        system.add_joint(nx.RollingDisk("rolls", "ground", "wheel", radius=0.5, tube=tube, axis_b=(0.0, 1.0, 0.0)))
        return system

    system = wheel([])
    drawn = pieces(system)
    assert {piece.body for piece in drawn} == {"wheel"}  # and no block where it touches
    assert min(in_world(system, piece)[:, 2].min() for piece in drawn) == pytest.approx(0.0, abs=1e-3)
    assert [piece.name for piece in pieces(wheel([nx.Box((0.2, 0.2, 0.2))]))] == ["box0"]


def test_a_body_without_shapes_rolls_on_a_sphere_of_its_radius() -> None:
    system = nx.System("ball")
    system.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.3))
    system.add_joint(nx.RollingSphere("rolls", "ground", "ball", radius=0.3))
    assert min(in_world(system, piece)[:, 2].min() for piece in pieces(system)) == pytest.approx(0.0, abs=1e-5)


def test_torsion_springs_and_bushings_stand_at_their_frames() -> None:
    system = arm()
    system.add_force(nx.TorsionSpring("spiral", "ground", "link", stiffness=1.0))
    system.add_force(
        nx.Bushing("rubber", "link", "ground", stiffness=(1.0,) * 6, at_a=(1.0, 0.0, 0.0), at_b=(1.0, 0.0, 0.0))
    )
    (spiral,), (rubber,) = named(system, "spiral"), named(system, "rubber")
    assert spiral.body == "ground" and np.ptp(in_world(system, spiral)[:, 2]) < 0.2 * np.ptp(
        in_world(system, spiral)[:, 0]
    )
    assert rubber.body == "link" and np.allclose(in_world(system, rubber).mean(axis=0), (1.0, 0.0, 0.0))


# --- drivers of points and of orientations ----------------------------------------------------------------------------


def led() -> nx.System:
    """A box whose point is led along x, while it yaws and rolls as seen from a turned stand."""
    system = nx.System("led", gravity=(0, 0, 0))
    system.add_body("stand", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -2))
    system.add_joint(nx.Revolute("turn", "ground", "stand", at=(0, 0, -2), axis=(1, 0, 0)))
    system.add_body("box", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0), shapes=[nx.Box((0.4, 0.6, 0.2))])
    system.add_marker("corner", "box", position=(0.2, 0.3, 0.1))
    system.add_driver(nx.Driver("tilt", "turn", "=0.5*t"))
    system.add_driver(nx.PointDriver("lead", "corner", "x", "=1.2+0.3*t"))
    for angle, rate in (("yaw", 0.8), ("pitch", 0.4), ("roll", -0.6)):
        system.add_driver(nx.OrientationDriver(angle, "box", angle, f"={rate}*t", seen_from="stand"))
    return system


def test_drivers_of_points_and_angles_are_arrows_along_what_they_drive() -> None:
    result = nx.simulate(led(), t_end=0.8, method=nx.HHT(dt=2e-3), output_every=20)
    motion, drawn = Motion.of(result), [link for link in links(result.system) if link.along]
    assert [link.name for link in drawn] == ["lead", "yaw", "pitch", "roll"]
    placing = Placing.of(drawn, {name: i for i, name in enumerate([*motion.bodies, "ground"])})
    for k in (0, 9, len(motion.times) - 1):
        a, q, stretch = placing.at(motion.at(float(motion.times[k])))
        R = {name: result.rotation(name).values[k] for name in ("stand", "box")}
        p = result.position("box").values[k]
        np.testing.assert_allclose(a[0], p + R["box"] @ (0.2, 0.3, 0.1), atol=1e-5)
        np.testing.assert_allclose(a[1:], np.tile(p, (3, 1)), atol=1e-5)
        np.testing.assert_allclose(stretch, 1.0, atol=1e-6)
        yaw = np.arctan2(*(R["stand"].T @ R["box"])[[1, 0], 0])
        axes = [(1, 0, 0), R["stand"][:, 2], R["stand"] @ (-np.sin(yaw), np.cos(yaw), 0), R["box"][:, 0]]
        for turn, axis in zip(q, axes, strict=True):
            np.testing.assert_allclose(turned(turn[None], np.array([[0.0, 0.0, 1.0]]))[0], axis, atol=1e-5)
    half = {"lead": 0.0, "yaw": 0.1, "pitch": 0.3, "roll": 0.2}  # of the box along each axis at the start
    for link in drawn:
        assert link.surface.vertices[:, 2].max() > half[link.name] + 0.02  # it is not hidden in the box
        ring = np.hypot(*link.surface.vertices[:, :2].T)
        assert (ring.min() > 0.01) == (link.name != "lead")


def test_a_driver_of_a_whole_orientation_is_a_ring_about_each_axis_of_its_frame() -> None:
    system = nx.System("posed", gravity=(0, 0, 0))
    system.add_body("box", mass=1.0, inertia=(0.1, 0.2, 0.3), shapes=[nx.Box((0.4, 0.6, 0.2))])
    system.add_driver(nx.OrientationDriver("pose", "box", rotation_vector=("=0.3*t", "=0.2*t", 0.0)))
    drawn = links(system)
    assert [link.name for link in drawn] == ["pose"] * 3
    np.testing.assert_array_equal([link.along[0][1] for link in drawn], np.eye(3))
    with Viewer(system, port=free_port(LOOPBACK, 18730)) as viewer:
        assert len(viewer._desk.stage.links) == 3

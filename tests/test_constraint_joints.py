"""Joints that are constraints only: rows, derivatives, what they hold, and what is refused."""

from __future__ import annotations

from typing import Any

import mechanisms
import numpy as np
import pytest
from systems import solid, somewhere, unit

import nexdyn as nx
from nexdyn.absolute.model.model import AbsoluteModel, absolute_model
from nexdyn.joints import JOINTS
from nexdyn.spatial.rotations import rotation_matrix

OTHERS = (  # test_constraint_curves and test_rolling have them
    "point_on_curve", "point_on_surface", "user_constraint", "rolling_disk", "rolling_sphere", "knife_edge",
    "velocity_constraint",
)  # fmt: skip
CONSTRAINTS = [kind for kind, cls in JOINTS.items() if not cls.tree and kind not in OTHERS]
every = pytest.mark.parametrize("kind", CONSTRAINTS)


def two_bodies(rng: np.random.Generator, kind: str) -> nx.System:
    """Two bodies anywhere, joined by anchors and axes that do not meet."""
    system = nx.System("pair")
    a, b = (system.add_body(name, **solid(rng), **somewhere(rng)) for name in "ab")
    sides: dict[str, Any] = {f"anchor_{s}": rng.normal(size=3) for s in "ab"}
    sides |= {f"axis_{s}": unit(rng, 3) for s in "ab"} | ({"length": 0.7} if kind == "rod" else {})
    if kind == "revolute_spherical":
        sides |= {"axis_b": None, "length": 0.7, "along": 0.2}
    sides |= (
        {"free": ("x", "rz")}
        if kind in ("general", "clamp")
        else {"slide": (1, 2, 3)}
        if kind == "revolute_prismatic"
        else {}
    )
    system.add_joint(JOINTS[kind]("joint", a, b, **sides))
    return system


def moved(model: AbsoluteModel, step: np.ndarray, h: float) -> np.ndarray:
    return model.residual(model.moved(model.q, h * step))


@every
def test_the_jacobian_of_a_joint_is_the_derivative_of_its_rows(kind: str, rng: np.random.Generator) -> None:
    model = absolute_model(two_bodies(rng, kind))
    h = 1e-6
    found = np.stack([(moved(model, e, h) - moved(model, e, -h)) / (2 * h) for e in np.eye(model.nv)], axis=1)
    np.testing.assert_allclose(found, model.jacobian(model.q), atol=2e-8)


@every
def test_gamma_of_a_joint_is_minus_the_second_derivative_along_a_steady_motion(
    kind: str, rng: np.random.Generator
) -> None:
    model = absolute_model(two_bodies(rng, kind))
    v, h = np.zeros((3, 6)), 1e-4
    v[1:] = rng.normal(size=(2, 6))
    ahead, here, behind = (moved(model, v[1:].reshape(-1), s * h) for s in (1, 0, -1))
    np.testing.assert_allclose((ahead - 2 * here + behind) / h**2, -model.gamma(model.q, v), atol=1e-5)


def test_rows_come_with_the_priorities_of_the_table(rng: np.random.Generator) -> None:
    expected = {
        "point_on_line": [("DX", 1), ("DY", 1)], "point_on_plane": [("DZ", 1)], "rod": [("Distance", 1)],
        "parallel": [("DotZX", 0), ("DotZY", 0)], "perpendicular": [("DotZZ", 0)],
        "general": [("DY", 1), ("DZ", 1), ("DotZX", 0), ("DotZY", 0)],
        "clamp": [("DY", 1), ("DZ", 1), ("DotZX", 0), ("DotZY", 0)], "revolute_spherical": [("DZ", 1), ("Distance", 1)],
        "revolute_prismatic": [("DotZX", 0), ("DotZY", 0), ("SlotY", 1), ("SlotZ", 1)],
    }  # fmt: skip
    found = {kind: absolute_model(two_bodies(rng, kind)).rows for kind in CONSTRAINTS}
    assert {kind: [(row.equation, row.priority) for row in rows] for kind, rows in found.items()} == expected


@pytest.mark.parametrize("seed", range(3))
@every
def test_an_assembled_joint_holds_what_it_says(kind: str, seed: int) -> None:
    system = two_bodies(np.random.default_rng(seed), kind)
    report = nx.assemble(system)
    frames = system.joint("joint").frames({})
    R_A, R_B = (
        rotation_matrix(report.orientation(n)) @ R for n, R in zip("ab", (frames.R_AJ, frames.R_BJ), strict=True)
    )
    p_A, p_B = (
        report.position(n) + rotation_matrix(report.orientation(n)) @ p
        for n, p in zip("ab", (frames.p_AJ, frames.p_BJ), strict=True)
    )
    d, cosine = R_A.T @ (p_B - p_A), R_A[:, 2] @ R_B[:, 2]
    slide = R_B @ frames.R_BJ.T @ np.array([1, 2, 3]) / np.sqrt(14)
    held = {
        "point_on_line": np.hypot(d[0], d[1]), "point_on_plane": d[2], "rod": np.linalg.norm(d) - 0.7,
        "parallel": cosine - 1.0, "perpendicular": cosine, "general": np.linalg.norm([d[1], d[2], cosine - 1.0]),
        "clamp": np.linalg.norm([d[1], d[2], cosine - 1.0]), "revolute_spherical": np.linalg.norm([d[2] - 0.2, np.linalg.norm(d) - 0.7]),
        "revolute_prismatic": np.linalg.norm([*np.cross(p_B - p_A, slide), cosine - 1.0]),
    }  # fmt: skip
    assert abs(held[kind]) < 1e-9
    assert report.redundancy.dof == 12 - len(system.joint("joint").rows)


def pendulum(*joints: tuple[type[nx.Joint], dict[str, Any]]) -> nx.System:
    """A body hung off its centre, whose joints all lie at the origin."""
    system = nx.System("pendulum", gravity=(1.0, -2.0, -9.0))
    body = system.add_body("body", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.1, 0.2, 0.0), position=(0.5, 0.2, -0.3))
    for cls, options in joints:
        system.add_joint(cls(cls.kind, system.ground, body, **options))
    return system


AT, AXIS = {"at": (0, 0, 0)}, (0, 0.6, 0.8)
ACROSS = {"axis_a": (0, 0.6, 0.8), "axis_b": (1, 0, 0)}


@pytest.mark.parametrize(
    ("one", "others"),
    [
        (nx.Revolute, [(nx.Spherical, AT), (nx.Parallel, {"axis": AXIS})]),
        (nx.Cylindrical, [(nx.PointOnLine, {**AT, "axis": AXIS}), (nx.Parallel, {"axis": AXIS})]),
        (nx.Planar, [(nx.PointOnPlane, {**AT, "axis": AXIS}), (nx.Parallel, {"axis": AXIS})]),
        (nx.Universal, [(nx.Spherical, AT), (nx.Perpendicular, ACROSS)]),
    ],
)
def test_constraints_together_are_the_joint_that_they_make_up(
    one: type[nx.Joint], others: list[tuple[type[nx.Joint], dict[str, Any]]]
) -> None:
    axis = {"axis": AXIS, "reference": (1, 0, 0)}
    whole, parts = nx.assemble(pendulum((one, {**AT, **axis}))), nx.assemble(pendulum(*others))
    np.testing.assert_allclose(parts.acceleration("body"), whole.acceleration("body"), atol=1e-12)
    np.testing.assert_allclose(parts.angular_acceleration("body"), whole.angular_acceleration("body"), atol=1e-12)
    assert parts.redundancy.dof == whole.redundancy.dof


# --- forces that they carry -------------------------------------------------------------------------------------------


def stool(feet: int) -> nx.System:
    """A top of 8 kg, its centre off the middle, on feet that slide on the ground."""
    system = nx.System("stool")
    top = system.add_body("top", mass=8.0, inertia=(1, 1, 2), position=(0.1, 0.2, 1))
    for i, (x, y) in enumerate(((1, 1), (1, -1), (-1, -1), (-1, 1))[:feet]):
        system.add_joint(nx.PointOnPlane(f"foot{i}", system.ground, top, at=(x, y, 0)))
    return system


def test_of_four_feet_one_is_redundant_and_only_their_sum_is_known() -> None:
    report = nx.assemble(stool(4))
    assert [str(row) for row in report.redundancy.redundant] == ["foot3.DZ"]
    reactions = [report.reaction(f"foot{i}") for i in range(4)]
    assert not any(r.unique[2] for r in reactions)
    assert all(r.unique[[0, 1, 3, 4, 5]].all() for r in reactions)
    points = np.array([(1, 1, 0), (1, -1, 0), (-1, -1, 0), (-1, 1, 0)])
    for choice in ("force", "least_force"):
        forces = np.array([getattr(r, choice) for r in reactions])
        np.testing.assert_allclose(forces.sum(axis=0), (0, 0, 8 * 9.81), atol=1e-10)
        about_centre = np.cross(points - (0.1, 0.2, 0), forces).sum(axis=0)
        np.testing.assert_allclose(about_centre, 0.0, atol=1e-10)


def test_three_feet_carry_what_statics_says() -> None:
    report = nx.assemble(stool(3))
    assert report.redundancy.redundant == [] and report.redundancy.dof == 3
    carried = [report.reaction(f"foot{i}").force[2] for i in range(3)]
    # Σ f = m g, moments about the middle: x: f0 + f1 − f2 = 0.1 m g, y: f0 − f1 − f2 = 0.2 m g
    expected = np.linalg.solve([[1, 1, 1], [1, 1, -1], [1, -1, -1]], 8 * 9.81 * np.array([1, 0.1, 0.2]))
    np.testing.assert_allclose(carried, expected, atol=1e-10)


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
def test_a_bead_on_a_circle_pulls_with_its_weight_along_the_rod_and_its_centripetal_force(angle: float) -> None:
    m, r, speed, g = 2.0, 0.5, 3.0, 9.81
    outward, along = np.array([np.sin(angle), 0, -np.cos(angle)]), np.array([np.cos(angle), 0, np.sin(angle)])
    system = nx.System("bead", gravity=(0, 0, -g))
    bead = system.add_body("bead", mass=m, inertia=(0.01, 0.01, 0.01), position=r * outward)
    system.add_joint(nx.Rod("rod", system.ground, bead))
    system.add_joint(nx.Free("start", system.ground, bead, v0=(0, 0, 0, *(speed * along))))
    report = nx.assemble(system)
    np.testing.assert_allclose(report.velocity("bead"), speed * along, atol=1e-12)
    tension = m * (g * np.cos(angle) + speed**2 / r)
    np.testing.assert_allclose(report.reaction("rod").force, -tension * outward, atol=1e-9)


def test_a_rod_stands_for_the_coupler_of_a_four_bar() -> None:
    system = nx.System("four-bar", gravity=(0, -9.81, 0))
    crank = system.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.5, 0))
    rocker = system.add_body("rocker", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.75, 0.7, 0))
    for name, body, at in (("A", crank, (0, 0, 0)), ("D", rocker, (2, 0, 0))):
        system.add_joint(nx.Revolute(name, system.ground, body, at=at))
    system.add_joint(nx.Rod("coupler", crank, rocker, anchor_a=(0, 0.5, 0), anchor_b=(-0.25, 0.7, 0)))
    report = nx.assemble(system)
    assert (report.redundancy.dof, report.redundancy.redundant) == (1, [])
    # the same with a coupler whose mass is next to nothing
    bar = nx.System("bar", gravity=(0, -9.81, 0))
    for body in (crank, rocker):
        bar.add_body(body.name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=body.position)
    bar.add_body("coupler", mass=1e-9, inertia=(1e-10, 1e-10, 1e-10), position=(0.75, 1.2, 0))
    for name, parent, child, at in (
        ("A", "ground", "crank", (0, 0, 0)), ("D", "ground", "rocker", (2, 0, 0)), ("B", "crank", "coupler", (0, 1, 0)),
        ("C", "coupler", "rocker", (1.5, 1.4, 0)),
    ):  # fmt: skip
        bar.add_joint(nx.Revolute(name, parent, child, at=at))
    np.testing.assert_allclose(
        report.acceleration("rocker"), nx.assemble(bar).acceleration("rocker"), rtol=1e-6, atol=1e-6
    )


# --- what is refused --------------------------------------------------------------------------------------------------


def on_a_rod(**options: Any) -> nx.System:
    """A lever about the origin whose end, at 1 m, a rod holds from the point (3, 0, 0)."""
    system = nx.System("lever")
    lever = system.add_body("lever", mass=1.0, inertia=mechanisms.INERTIA, position=(0, 0, 0))
    system.add_joint(nx.Revolute("pivot", system.ground, lever, at=(0, 0, 0)))
    system.add_joint(nx.Rod("rod", system.ground, lever, **{"anchor_a": (3, 0, 0), "anchor_b": (0, 1, 0), **options}))
    return system


def test_a_rod_is_as_long_as_described_where_nothing_else_is_said() -> None:
    assert nx.assemble(on_a_rod()).iterations == 0
    closed = nx.assemble(on_a_rod(length="=2+1"))
    end = rotation_matrix(closed.orientation("lever")) @ (0, 1, 0)
    assert np.linalg.norm(end - (3, 0, 0)) == pytest.approx(3.0, abs=1e-10)


def test_a_rod_too_short_is_refused_with_its_gap() -> None:
    with pytest.raises(nx.AssemblyError, match="cannot be assembled") as caught:
        nx.assemble(on_a_rod(length=1.5))
    gaps = {gap.joint: gap.distance for gap in caught.value.report.gaps}
    assert gaps.keys() <= {"rod", "pivot"} and 0.1 < sum(gaps.values()) < 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0.0}, r"length of joint 'rod' is 0; it must be greater than 0"),
        ({"length": -1.0}, r"length of joint 'rod' is -1"),
        ({"length": np.nan}, r"length of joint 'rod' is nan"),
        ({"anchor_a": (0, 1, 0)}, r"its two points coincide"),
        ({"at": (0, 0, 0)}, r"has two points, not one at=.*give anchor_a and anchor_b"),
        ({"damping": 1.0}, r"is a constraint only, so it takes no damping"),
        ({"q0": 0.0}, r"takes no q0"),
        ({"limits": (0, 1)}, r"takes no limits"),
    ],
)
def test_a_rod_that_means_nothing_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        on_a_rod(**options)


def test_perpendicular_wants_both_axes() -> None:
    with pytest.raises(nx.InputError, match="needs two directions: axis_a in the parent, axis_b in the child"):
        pendulum((nx.Perpendicular, {"axis": (0, 0, 1)}))


@every
def test_an_open_tree_refuses_it(kind: str, rng: np.random.Generator) -> None:
    with pytest.raises(nx.InputError, match=rf"joint 'joint' \({kind}\) is a constraint only.*nx\.assemble"):
        nx.Tree(two_bodies(rng, kind))


# --- priorities of single rows ----------------------------------------------------------------------------------------


def with_priority(priority: Any) -> AbsoluteModel:
    return absolute_model(pendulum((nx.Revolute, {**AT, "priority": priority})))


def test_a_priority_may_be_given_to_single_rows() -> None:
    of = {row.equation: row.priority for row in with_priority({"DotZX": 2, "DX": 0}).rows}
    assert of == {"DX": 0, "DY": 1, "DZ": 1, "DotZX": 2, "DotZY": 0}
    assert {row.priority for row in with_priority(7).rows} == {7}


def test_the_row_that_matters_least_is_the_one_dropped() -> None:
    system = nx.System("door")
    leaf = system.add_body("leaf", mass=20.0, inertia=(4.0, 3.0, 1.5), position=(0.5, 0, 1))
    system.add_joint(nx.Revolute("lower", system.ground, leaf, at=(0, 0, 0), priority={"DZ": 0}))
    system.add_joint(nx.Revolute("upper", system.ground, leaf, at=(0, 0, 2)))
    dropped = {str(row) for row in nx.assemble(system).redundancy.redundant}
    assert "lower.DZ" in dropped and "upper.DZ" not in dropped


@pytest.mark.parametrize(
    ("priority", "message"),
    [
        ({"DotsZX": 1}, r"no equation 'DotsZX'; did you mean 'DotZ[XY]'\? equations: DX, DY, DZ, DotZX, DotZY"),
        ({"DX": -1}, "priority of DX of joint 'revolute' is -1; a whole number, 0 or more"),
        ({"DX": 1.5}, "priority of DX of joint 'revolute' is 1.5"),
        (-2, "priority of joint 'revolute' is -2"),
    ],
)
def test_a_priority_that_means_nothing_is_refused(priority: Any, message: str) -> None:
    with pytest.raises(nx.InputError, match=message):
        with_priority(priority)

"""nx.Contact: contact between all the bodies that names and patterns choose, by their collision shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import nexdyn as nx
from nexdyn.assembly.contact_steps import poses_of, surface_gaps
from nexdyn.checked_calls import signature_of
from nexdyn.describe import from_dict, to_dict
from nexdyn.forces.contact import ContactForce, beyond_reach
from nexdyn.forces.contact_law import DIRECTIONS, LAW, VELOCITIES
from nexdyn.forces.foundations import RESISTANCES
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.studies.outputs import value_of
from nexdyn.view.floor import contact_plane
from nexdyn.view.geometry import pieces

G = 9.81
LAW_GIVEN: dict[str, Any] = {"stiffness": 2e4, "damping": 0.5, "friction": 0.6}
METHOD = nx.RungeKutta4(1e-3)


def crowd(*shapes: nx.Shape, tilt: float = 0.0, height: float = 0.0) -> nx.System:
    """A body for each shape, free, side by side `height` above a floor that leans by `tilt` about y."""
    system = nx.System("crowd")
    q = (math.cos(0.5 * tilt), 0.0, math.sin(0.5 * tilt), 0.0)
    system.add_body("floor", mass=1.0, collision=[nx.HalfSpace(position=(0.0, 0.0, -0.3), orientation=q)])
    system.add_joint(nx.Fixed("held", "ground", "floor"))
    for i, shape in enumerate(shapes):
        at = (0.7 * i, 0.1 * i, height)
        system.add_body(f"b{i}", mass=1.0 + i, inertia=(0.02, 0.03, 0.025), position=at, collision=[shape])
        system.add_joint(nx.Free(f"free{i}", "ground", f"b{i}", v0=(0.3, 0.5, 0.2, 0.4, 0.1, 0.0)))
    return system


def spheres(n: int) -> list[nx.Shape]:
    return [nx.Sphere(0.2)] * n


# --- which bodies ---------------------------------------------------------------------------------------------------


def names(system: nx.System, a: Any, b: Any) -> list[tuple[str, str]]:
    contact = system.add_contact(nx.Contact("c", a, b, stiffness=1e4))
    return [(x.name, y.name) for x, y in contact.pairs(system)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("b0", "floor", [("b0", "floor")]),
        ("floor", "b0", [("floor", "b0")]),
        ("b*", "floor", [("b0", "floor"), ("b1", "floor"), ("b2", "floor")]),
        ("b*", "b*", [("b0", "b1"), ("b0", "b2"), ("b1", "b2")]),
        (["b2", "b0"], ["floor", "b1"], [("b2", "floor"), ("b2", "b1"), ("b0", "floor"), ("b0", "b1")]),
        ("b[02]", "ground", [("b0", "ground"), ("b2", "ground")]),
        (["b0", "b0", "b?"], "floor", [("b0", "floor"), ("b1", "floor"), ("b2", "floor")]),
    ],
)
def test_names_and_patterns_choose_pairs_each_once_and_in_order(
    a: Any, b: Any, expected: list[tuple[str, str]]
) -> None:
    assert names(crowd(*spheres(3)), a, b) == expected


def test_bodies_may_be_given_themselves() -> None:
    system = crowd(*spheres(2))
    assert names(system, [system.body("b0"), system.body("b1")], system.body("floor")) == [
        ("b0", "floor"),
        ("b1", "floor"),
    ]


def test_what_a_joint_joins_and_no_collision_names_is_left_out_but_where_both_are_named_in_full() -> None:
    def chain() -> nx.System:
        system = nx.System("chain")
        before = "ground"
        for name in ("upper", "lower", "foot"):
            system.add_body(
                name, mass=1.0, collision=[nx.Sphere(0.1)], no_collision=["foot"] if name == "upper" else ()
            )
            system.add_joint(nx.Revolute(f"to {name}", before, name, axis=(0, 1, 0)))
            before = name
        system.add_body("plate", mass=1.0, collision=[nx.HalfSpace()])
        system.add_joint(nx.Fixed("screwed", "ground", "plate"))
        return system

    assert names(chain(), "*", "ground") == [("upper", "ground"), ("lower", "ground"), ("foot", "ground")]
    assert names(chain(), "foot", ["upper", "lower"]) == [("foot", "upper"), ("foot", "lower")]
    with pytest.raises(nx.InputError, match="contact 'c' chooses no pair of bodies: joints or no_collision keep apart"):
        names(chain(), "*er", "foot*")


def test_a_pattern_never_matches_the_ground() -> None:
    assert names(crowd(*spheres(2)), "*", "*") == [("floor", "b0"), ("floor", "b1"), ("b0", "b1")]


def test_bodies_joints_and_markers_that_come_later_count_as_those_that_came_before() -> None:
    system = crowd(*spheres(2))
    system.add_contact(nx.Contact("c", "b*", ["b*", "floor"], stiffness=1e4))
    system.add_force(nx.AppliedForce("push", "b0", force=(1, 0, 0)))
    assert list(system.forces) == ["push", "c b0 b1", "c b0 floor", "c b1 floor"]
    system.add_body("b2", mass=1.0, collision=[nx.Sphere(0.1)])
    system.add_joint(nx.Revolute("hinge", "b1", "b2", axis=(0, 1, 0)))
    system.add_marker("b1", "b1")  # a marker of the same name
    assert list(system.forces) == ["push", "c b0 b1", "c b0 b2", "c b0 floor", "c b1 floor", "c b2 floor"]
    assert to_dict(from_dict(to_dict(system))) == to_dict(system)
    assert list(from_dict(to_dict(system)).forces) == list(system.forces)
    assert list(system.with_parameters({"b0.mass": 2.0}).forces) == list(system.forces)
    with pytest.raises(
        nx.InputError, match="contact between Cone of body 'b3' and HalfSpace of body 'floor' is not supported"
    ):
        system.add_body("b3", mass=1.0, collision=[nx.Cone(0.1, 0.2)])
    assert "b3" not in system.bodies and len(system.forces) == 6


def test_places_with_one_name_are_refused_and_shapes_of_one_name_are_numbered() -> None:
    system = nx.System("names")
    system.add_body(
        "foot", mass=1.0, collision=[nx.Sphere(0.1, name="toe"), nx.Sphere(0.1, position=(1, 0, 0), name="toe")]
    )
    system.add_body(
        "hand", mass=1.0, collision=[nx.Sphere(0.1, name="palm"), nx.Sphere(0.1, position=(1, 0, 0), name="thumb")]
    )
    system.add_contact(nx.Contact("c", "*", "ground", stiffness=1e4))
    assert list(system.forces) == ["c foot.1 ground", "c foot.2 ground", "c hand.palm ground", "c hand.thumb ground"]
    other = nx.System("names")
    for name in ("a", "a b", "b c", "c"):
        other.add_body(name, mass=1.0, collision=[nx.Sphere(0.1)])
    with pytest.raises(nx.InputError, match="contact 'x' would make two forces named 'x a b c'"):
        other.add_contact(nx.Contact("x", "a*", ["b c", "c"], stiffness=1e4))
    assert not other.forces


def test_a_hull_that_a_parameter_changes_keeps_its_points() -> None:
    system = nx.System("hull")
    system.parameter("h", 0.1)
    points = [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.3], [0.1, 0.1, "=h"]]
    system.add_body("b", mass=1.0, collision=[nx.Hull(points)])
    system.add_contact(nx.Contact("c", "b", stiffness=1e4))
    for h in (0.8, 0.05, 0.1):
        assert len(system.with_parameters({"h": h}).forces) == 5


def test_a_description_without_a_joint_in_python_has_the_same_pairs() -> None:
    system = crowd(*spheres(3))
    system.add_joint(nx.UserConstraint("python", "b0", "b1", lambda t, x, R: x[0] - 0.7))
    system.add_contact(nx.Contact("c", "b*", ["b*", "floor"], stiffness=1e4, friction=0.5))
    assert "c b0 b1" not in system.forces
    with pytest.warns(nx.NexDynWarning, match="leaves out what is written in Python: joint 'python'"):
        again = from_dict(to_dict(system, lossy=True))
    assert list(again.forces) == list(system.forces)


def test_a_floor_of_a_fixed_body_is_the_floor_of_the_viewer() -> None:
    system = crowd(*spheres(1), tilt=0.1)
    system.add_contact(nx.Contact("c", "b0", "floor", stiffness=1e4))
    floor = contact_plane(system, np.array([0.0, 0.0, 1.0]))
    assert floor is not None
    np.testing.assert_allclose(floor.point, (0.0, 0.0, -0.3), atol=1e-15)
    np.testing.assert_allclose(floor.normal, (math.sin(0.1), 0.0, math.cos(0.1)), atol=1e-15)
    ball = nx.System("seen")
    for name, shapes in (("floor", {"collision": [nx.HalfSpace()]}), ("ball", {"shapes": [nx.Sphere(0.1)]})):
        ball.add_body(name, mass=1.0, **shapes)
    assert {piece.body for piece in pieces(ball)} == {"ball"}


def test_a_number_of_a_contact_that_is_not_given_has_its_default_in_studies() -> None:
    system = crowd(*spheres(1))
    system.add_contact(nx.Contact("c", "b0", "floor", stiffness=1e4))
    assert [value_of(system, f"c.{x}") for x in ("stiffness", "friction", "friction_stiffness")] == [1e4, 0.0, 0.82]


def test_one_typing_error_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(
        "bodies:\n  ball: {mass: 1, shapes: [{type: sphare, radius: 0.1}]}\ncontacts:\n  c: {a: bal*, stiffness: 1e4}\n",
        encoding="utf-8",
    )
    with pytest.raises(nx.InputError) as told:
        nx.load(file)
    assert "sphare" in str(told.value) and "matches no body" not in str(told.value)


def test_every_attribute_of_a_contact_is_one_of_its_law() -> None:
    own, plane, sphere = (set(signature_of(cls).parameters) for cls in (nx.Contact, nx.PlaneContact, nx.SphereContact))
    law, places = {*LAW, *VELOCITIES, *DIRECTIONS}, {"material_a", "material_b", "foundation_a", "foundation_b"}
    assert own - {"name", "a", "b", *places, *RESISTANCES} == law
    assert law <= plane and law <= sphere


# --- forces of shapes ------------------------------------------------------------------------------------------------------


def by_hand(system: nx.System) -> None:
    """What nx.Contact("c", "b*", "floor") makes of a sphere, a capsule, a box and a hull, in its order."""
    n, p = system.body("floor").collision[0], (0.0, 0.0, -0.3)  # type: ignore[index]
    w, _, y, _ = n.orientation
    plane = {"anchor_b": p, "normal": (2.0 * w * y, 0.0, w * w - y * y), **LAW_GIVEN}
    system.add_force(nx.PlaneContact("0", "b0", "floor", radius=0.2, anchor_a=(0.01, 0.0, 0.02), **plane))
    system.add_force(nx.PlaneContact("1", "b1", "floor", radius=0.1, length=0.4, axis=(0, -1, 0), **plane))
    for k in range(8):
        corner = [0.5 * (1 if k >> (2 - i) & 1 else -1) * x for i, x in enumerate((0.3, 0.4, 0.35))]
        system.add_force(nx.PlaneContact(f"2 {k}", "b2", "floor", anchor_a=corner, **plane))
    for k, corner in enumerate(HULL):
        system.add_force(nx.PlaneContact(f"3 {k}", "b3", "floor", anchor_a=corner, **plane))


TETRAHEDRON = [[0.3, 0.0, -0.2], [-0.2, 0.25, -0.2], [-0.2, -0.25, -0.2], [0.0, 0.0, 0.3]]
HULL = [*TETRAHEDRON, [0.0, 0.0, 0.0]]
SHAPES = (
    nx.Sphere(0.2, position=(0.01, 0.0, 0.02)),
    nx.Capsule(0.1, 0.4, orientation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)),
    nx.Box((0.3, 0.4, 0.35)),
    nx.Hull(HULL),
)


def test_contacts_of_shapes_are_the_forces_that_one_would_write() -> None:
    written, chosen = (crowd(*SHAPES, tilt=0.2) for _ in range(2))
    by_hand(written)
    chosen.add_contact(nx.Contact("c", "b*", "floor", **LAW_GIVEN))
    assert len(chosen.forces) == len(written.forces) == 1 + 1 + 8 + 5
    for one, other in zip(written.forces.values(), chosen.forces.values(), strict=True):
        np.testing.assert_allclose(other.data_in(chosen), one.data_in(written), rtol=1e-14, atol=1e-15)
        for F, H in zip(one.frames(written), other.frames(chosen), strict=True):
            assert F.body == H.body
            np.testing.assert_allclose(F.R_BF[:, 2], H.R_BF[:, 2], atol=1e-15)
            np.testing.assert_allclose(F.p_BF, H.p_BF, atol=1e-15)
    p, q = (nx.simulate(system, 0.3, METHOD).recording.q[-1] for system in (written, chosen))
    assert np.abs(p - q).max() < 1e-11


def test_the_order_of_bodies_says_nothing_but_whose_force_is_told() -> None:
    ends, told = [], []
    for a, b in (("b*", "floor"), ("floor", "b*")):
        system = crowd(*SHAPES[:3], tilt=0.1)
        system.add_contact(nx.Contact("c", a, b, **LAW_GIVEN))
        result = nx.simulate(system, 0.3, METHOD)
        ends.append(result.recording.q[-1])
        told.append(result.contact_load("floor").force.values)
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(told[0], told[1]) and np.abs(told[0]).max() > 1.0


@pytest.mark.parametrize(("friction", "apart"), [(0.0, 1e-12), (0.6, 1e-6)])
def test_spheres_named_in_either_order_move_alike(friction: float, apart: float) -> None:
    # what friction holds turns with b: where the spheres spin differently about their normal, it is another for the other order
    ends, forces = [], []
    for a, b in (("b0", "b1"), ("b1", "b0")):
        system = crowd(nx.Sphere(0.35), nx.Sphere(0.4))
        system.add_contact(nx.Contact("c", a, b, **{**LAW_GIVEN, "friction": friction}))
        result = nx.simulate(system, 0.3, METHOD)
        ends.append(result.recording.q[-1])
        forces.append(result.contact_load("b0").force.values)
    assert np.abs(ends[0] - ends[1]).max() < apart and np.abs(forces[0]).max() > 1.0


def test_spheres_meet_each_other_and_momentum_stays() -> None:
    system = nx.System("balls", gravity=(0, 0, 0))
    for i in range(3):
        system.add_body(
            f"ball{i}", mass=1.0 + i, inertia=(0.01,) * 3, position=(0.45 * i, 0.03 * i, 0), shapes=[nx.Sphere(0.2)]
        )
        system.add_joint(nx.Free(f"f{i}", "ground", f"ball{i}", v0=(0, 0, 0, 1.0 - i, 0, 0)))
    system.add_contact(nx.Contact("balls", "ball*", "ball*", **LAW_GIVEN))
    result = nx.simulate(system, 1.0, nx.RungeKutta4(2.5e-4))
    m = np.array([1.0, 2.0, 3.0])
    momentum = np.einsum("i,tix->tx", m, result.velocity().values)
    assert np.abs(momentum - momentum[0]).max() < 1e-10
    assert result.not_conservative == ["contact 'balls'"]
    assert [(one["a"], one["b"]) for one in result.touches("balls")][:2] == [("ball0", "ball1"), ("ball1", "ball2")]


def test_the_ground_is_the_plane_z_0_of_the_world() -> None:
    system = nx.System("box on the ground")
    system.add_body("box", mass=3.0, inertia=(0.02,) * 3, position=(0, 0, 0.1), shapes=[nx.Box((0.4, 0.3, 0.2))])
    system.add_joint(nx.Free("free", "ground", "box"))
    system.add_contact(nx.Contact("stands", "box", stiffness=1e4, exponent=1.0, damping=5.0, friction=0.5))
    found = nx.equilibrium(system)
    np.testing.assert_allclose(found.position("box"), (0.0, 0.0, 0.1 - 3.0 * G / 4e4), atol=1e-9)
    result = nx.simulate(system, 2.0, METHOD)
    load = result.contact_load("box")
    np.testing.assert_allclose(load.force.values[-1], (0.0, 0.0, 3.0 * G), atol=1e-4)
    np.testing.assert_allclose(load.moment.values[-1], 0.0, atol=1e-5)
    np.testing.assert_allclose(result.contact_load("ground").force.values, -load.force.values, atol=1e-12)
    bear = result.contacts("stands").normal.values[-1]
    np.testing.assert_allclose(np.sort(bear), [0.0] * 4 + [0.75 * G] * 4, atol=1e-4)


# --- what results tell ----------------------------------------------------------------------------------------------


def on_a_slope(phi: float) -> nx.Result:
    q = (math.cos(0.5 * phi), 0.0, math.sin(0.5 * phi), 0.0)
    system = nx.System("slope")
    system.add_body("slope", mass=1.0, collision=[nx.HalfSpace(orientation=q)])
    system.add_joint(nx.Fixed("held", "ground", "slope"))
    depth = 1.0 * G * math.cos(phi) / 4e5
    x = np.array([math.sin(phi), 0.0, math.cos(phi)]) * (0.05 - depth)
    system.add_body("block", mass=1.0, inertia=(1e-3,) * 3, position=x, orientation=q, shapes=[nx.Box((0.1, 0.1, 0.1))])
    system.add_joint(nx.Free("free", "ground", "block"))
    system.add_contact(nx.Contact("rests", "block", "slope", stiffness=1e5, exponent=1.0, damping=2.0, friction=0.5))
    return nx.simulate(system, 0.5, nx.RungeKutta4(2e-4), output_every=50)


def test_a_contact_tells_its_normal_how_it_slides_and_that_it_sticks() -> None:
    phi = math.atan(0.8)
    result = on_a_slope(phi)
    told = result.contacts("rests")
    bears = told.normal.values[-1] > 0.0
    assert bears.sum() in (2, 3, 4)
    np.testing.assert_allclose(
        told.direction.values[-1, bears], [[math.sin(phi), 0.0, math.cos(phi)]] * bears.sum(), atol=1e-9
    )
    # what the motion of the body says: v + ω × r, less what goes along the normal
    v, w, x = (getattr(result, name)("block").values[-1] for name in ("velocity", "angular_velocity", "position"))
    n = told.direction.values[-1]
    along = v + np.cross(w, told.point.values[-1] - x)
    along -= np.einsum("ki,ki->k", along, n)[:, None] * n
    np.testing.assert_allclose(told.sliding.values[-1], along, atol=1e-13)
    # it rocks a little on its corners still
    np.testing.assert_allclose(np.linalg.norm(v), G * (math.sin(phi) - 0.5 * math.cos(phi)) * 0.5, rtol=5e-3)
    assert not told.sticks.values[-1].any()
    np.testing.assert_allclose(told.tangential.values[-1, bears], 0.5 * told.normal.values[-1, bears], rtol=1e-9)
    stuck = on_a_slope(math.atan(0.3)).contacts("rests")
    assert np.array_equal(stuck.sticks.values[-1] == 1.0, stuck.normal.values[-1] > 0.0)
    assert np.abs(stuck.sliding.values[-1, stuck.normal.values[-1] > 0.0]).max() < 1e-4
    assert {str(x) for x in stuck.of.values} == {"rests"}
    assert {str(x) for x in stuck.a.values} == {"block"} and {str(x) for x in stuck.b.values} == {"slope"}
    assert [stuck[x].attrs["units"] for x in ("force", "sliding", "direction", "sticks")] == ["N", "m/s", "1", "1"]


def bouncing(**law: float) -> nx.System:
    system = nx.System("bounces")
    for i, height in enumerate((0.3, 0.6)):
        system.add_body(f"b{i}", mass=1.0, inertia=(0.01,) * 3, position=(i, 0, height), shapes=[nx.Sphere(0.1)])
        system.add_joint(nx.Free(f"f{i}", "ground", f"b{i}"))
    system.add_contact(nx.Contact("balls", "b*", **(law or {"stiffness": 1e5})))
    return system


def test_touches_tell_who_touched_whom_and_when() -> None:
    result = nx.simulate(bouncing(), 0.45, METHOD)
    touches = result.touches()
    fall = [math.sqrt(2.0 * h / G) for h in (0.2, 0.5)]
    firsts = {one["a"]: one for one in reversed(touches)}
    assert {one["b"] for one in touches} == {"ground"} and {one["contact"] for one in touches} == {"balls"}
    for name, t in zip(("b0", "b1"), fall, strict=True):
        assert 0.0 <= firsts[name]["begin"] - t <= 1e-3 + 1e-9
        # Hertz: 2.943 δ/v, δ = (5/4 m v²/k)^0.4
        v = G * t
        last = 2.943 * (1.25 * v * v / 1e5) ** 0.4 / v
        assert abs(firsts[name]["end"] - firsts[name]["begin"] - last) < 2e-3
        # ½ m v² + m g δ = k δ^2.5 / 2.5, F = k δ^1.5
        depth = brentq(lambda d, v=v: 0.5 * v * v + G * d - 1e5 * d**2.5 / 2.5, 0.005, 0.1)
        assert abs(firsts[name]["peak"] / (1e5 * depth**1.5) - 1.0) < 2e-3
    assert result.touches("balls b1 ground") == [one for one in touches if one["a"] == "b1"]


# --- what is changed, kept and switched -----------------------------------------------------------------------------


def described() -> nx.System:
    system = nx.System("described")
    for name, value in (("mu", 0.4), ("r", 0.1)):
        system.parameter(name, value)
    for i in range(2):
        system.add_body(f"b{i}", mass=1.0, inertia=(0.01,) * 3, position=(i, 0, 0.2), shapes=[nx.Sphere("=r")])
        system.add_joint(nx.Free(f"f{i}", "ground", f"b{i}", v0=(0, 0, 0, 1, 0, 0)))
    system.add_contact(nx.Contact("feet", "b*", stiffness=1e4, friction="=mu", damping=1.0))
    system.add_force(nx.AppliedForce("push", "b0", force=(0.1, 0, 0)))
    return system


def test_a_changed_contact_changes_all_its_forces() -> None:
    system = described()
    changed = system.with_parameters({"mu": 0.7, "feet.stiffness": 3e4, "r": 0.15})
    for force in (changed.forces[f"feet b{i} ground"] for i in range(2)):
        data = force.data(changed.values)
        assert (data[0], data[3], data[5]) == (3e4, 0.7, 0.15)
    assert list(changed.forces) == list(system.forces) == ["push", "feet b0 ground", "feet b1 ground"]
    assert system.forces["feet b0 ground"].data(system.values)[0] == 1e4
    with pytest.raises(nx.InputError, match=r"contact 'feet' sets what 'feet b0 ground' has; write 'feet.friction'"):
        system.with_parameters({"feet b0 ground.friction": 0.1})


def test_batches_take_numbers_of_contacts() -> None:
    system, frictions = described(), [0.0, 0.3, 0.6]
    together = nx.simulate(
        system, 0.4, METHOD, batch=nx.Batch(parameters={"feet.friction": frictions, "feet.damping": [2.0] * 3})
    )
    for k, friction in enumerate(frictions):
        alone = nx.simulate(system.with_parameters({"feet.friction": friction, "feet.damping": 2.0}), 0.4, METHOD)
        assert np.abs(together.member(k).recording.q[-1] - alone.recording.q[-1]).max() < 1e-12


def test_sensitivities_to_numbers_of_contacts_are_those_of_differences() -> None:
    system = described()
    system.add_measure(nx.PointPosition("seen", "b1"))
    slope = nx.sensitivity(system, 0.3, ["feet.stiffness", "feet.damping"], method=METHOD).of("seen.z")
    for k, (name, h) in enumerate((("feet.stiffness", 1.0), ("feet.damping", 1e-4))):
        x = []
        for sign in (-1.0, 1.0):
            changed = system.with_parameters({name: value_of(system, name) + sign * h})
            x.append(nx.simulate(changed, 0.3, METHOD).measure("seen").values[-1, 2])
        expected = (x[1] - x[0]) / (2.0 * h)
        assert abs(slope[-1, k] - expected) < 1e-4 * abs(expected)


def test_a_description_holds_the_contact_and_not_its_forces() -> None:
    system = described()
    data = to_dict(system)
    assert list(data["forces"]) == ["push"]
    assert data["contacts"] == {"feet": {"a": "b*", "stiffness": 1e4, "friction": "=mu", "damping": 1.0}}
    again = from_dict(data)
    assert to_dict(again) == data and list(again.forces) == list(system.forces)


def test_a_scene_has_a_section_of_contacts(tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(
        "bodies:\n  ball: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, 0, 1], shapes: [{type: sphere, radius: 0.1}]}\n"
        "joints:\n  free: {type: free, parent: ground, child: ball}\n"
        "contacts:\n  bounce: {a: ball, stiffness: 1e5}\n",
        encoding="utf-8",
    )
    assert list(nx.load(file).forces) == ["bounce ball ground"]
    file.write_text(file.read_text(encoding="utf-8").replace("a: ball", "a: bal*x"), encoding="utf-8")
    with pytest.raises(nx.InputError, match=r"scene.yaml:6:15: a of contact 'bounce': 'bal\*x' matches no body"):
        nx.load(file)


def test_a_result_file_keeps_contacts(tmp_path: Path) -> None:
    result = nx.simulate(described(), 0.2, METHOD)
    result.save(tmp_path / "feet.nc")
    again = nx.open_result(tmp_path / "feet.nc")
    assert list(again.system.contacts) == ["feet"] and list(again.system.forces) == list(result.system.forces)
    for name, values in result.contacts("feet").items():
        np.testing.assert_allclose(again.contacts("feet")[name].values, values.values, rtol=1e-12, atol=1e-12)
    further = nx.simulate(again.system, 0.4, METHOD, initial=again)
    whole = nx.simulate(described(), 0.4, METHOD)
    assert np.abs(further.recording.q[-1] - whole.recording.q[-1]).max() < 1e-12


def test_an_event_switches_a_whole_contact() -> None:
    system = bouncing()
    system.add_event(nx.Event("through", time=0.1, off="balls"))
    result = nx.simulate(system, 0.45, METHOD)
    assert result.touches() == []
    np.testing.assert_allclose(result.position("b0").values[-1], (0, 0, 0.3 - 0.5 * G * 0.45**2), atol=1e-9)


WATCHED: list[nx.Method] = [
    METHOD, nx.DormandPrince(rtol=1e-9), nx.HHT(dt=5e-4), nx.HHT(rtol=1e-5), nx.Baumgarte(1e-3), nx.Projection(1e-3), nx.Partitioning(1e-3),
    nx.ImplicitEuler(2e-4), nx.ImplicitEuler(2e-4, bdf2=True),
]  # fmt: skip
LAYER = 2e7
"""Foundation of the ground [N/m³]."""
LAWS: dict[str, tuple[dict[str, float], Callable[[float], float]]] = {
    "points": ({"stiffness": 1e5}, lambda x: 0.4e5 * x**2.5),
    "areas": ({"foundation_b": LAYER}, lambda x: LAYER * math.pi * x**3 * (0.1 / 3.0 - x / 12.0)),
}
"""What a contact is made of, and what it stores at a depth [J]."""


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", WATCHED, ids=str)
def test_events_tell_when_a_contact_begins_and_ends(method: Any, law: str) -> None:
    given, stored = LAWS[law]
    system = bouncing(**given)
    system.add_event(nx.Event("lands", contact="balls", direction="falling"))
    system.add_event(nx.Event("leaves", contact="balls b0 ground", direction="rising"))
    system.add_event(nx.Event("higher", contact="balls", value=0.01, direction="falling", once=True))
    result = nx.simulate(system, 0.26, method)
    happened = {event["name"]: event["time"] for event in reversed(result.events)}
    t = math.sqrt(2.0 * 0.2 / G)
    first = isinstance(method, nx.ImplicitEuler) and not method.bdf2
    # implicit Euler is of first order: it falls by ½ g dt t farther
    off = 1.5 * method.dt if first else 2e-5
    assert abs(happened["lands"] - t) < off
    assert abs(happened["higher"] - math.sqrt(2.0 * 0.19 / G)) < off
    lasts = happened["leaves"] - happened["lands"]
    assert abs(lasts / impact(G * t, stored) - 1.0) < (2e-2 if first else 2e-3)


def impact(v: float, stored: Callable[[float], float]) -> float:
    """How long 1 kg that falls at v presses on what stores so much: 2 ∫ dδ/√(v² + 2 g δ − 2 U), with δ = d (1 − s²)."""

    def left(x: float) -> float:
        return v * v + 2.0 * G * x - 2.0 * stored(x)

    d = brentq(left, 0.001, 0.1)
    return float(quad(lambda s: 4.0 * d * s / math.sqrt(left(d * (1.0 - s * s))), 1e-9, 1.0)[0])


def test_an_event_tells_when_a_contact_slips() -> None:
    def pushed() -> nx.System:
        system = nx.System("pushed")
        system.add_body(
            "crate",
            mass=2.0,
            inertia=(0.02,) * 3,
            position=(0, 0, 0.1 - 2.0 * G / 4e5),
            shapes=[nx.Box((0.4, 0.4, 0.2))],
        )
        system.add_joint(nx.Free("free", "ground", "crate"))
        system.add_contact(nx.Contact("floor", "crate", stiffness=1e5, exponent=1.0, damping=2.0, friction=0.5))
        system.add_force(nx.AppliedForce("push", "crate", force=("=40*t", 0, 0), at=(0, 0, 0)))
        return system

    system = pushed()
    system.add_event(nx.Event("slips", contact="floor", of="velocity", value=1e-2, direction="rising", stop=True))
    result = nx.simulate(system, 1.0, nx.RungeKutta4(2e-4))
    (event,) = result.events
    # it breaks away at 40 t = μ m g, and has 1e-2 m/s after √(2 m v/40)
    starts = 0.5 * 2.0 * G / 40.0
    assert abs(event["time"] - starts - math.sqrt(2.0 * 2.0 * 1e-2 / 40.0)) < 2e-3
    assert result.t[-1] == event["time"] or abs(result.t[-1] - event["time"]) < 1e-12
    wrong = pushed()
    for contact, told in (
        ("push", "'push', a force that is no contact"),
        ("flor", "no force or contact 'flor'; did you mean 'floor'"),
    ):
        with pytest.raises(nx.InputError, match=told):
            wrong.add_event(nx.Event("e", contact=contact))


def test_hht_and_implicit_euler_meet_what_a_contact_chose() -> None:
    for method in (nx.HHT(dt=1e-3), nx.ImplicitEuler(1e-3)):
        result = nx.simulate(described(), 0.3, method)
        np.testing.assert_allclose(
            result.recording.t[-1], 0.3, atol=1e-12
        )  # comes to its end, and stands as the explicit run does
        assert abs(result.position("b0").values[-1, 2] - 0.1) < 0.02
        assert result.touches("feet")


# --- what is refused ------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], nx.Contact], str]] = {
    "name": (lambda: nx.Contact("c", "b9", stiffness=1), "a of contact 'c': no body 'b9'; did you mean 'b2'"),
    "pattern": (
        lambda: nx.Contact("c", "b*", "x*", stiffness=1),
        r"b of contact 'c': 'x\*' matches no body; bodies: ground, floor",
    ),
    "itself": (
        lambda: nx.Contact("c", "b0", "b0", stiffness=1),
        "a and b of contact 'c' are the same body, 'b0'; two are needed",
    ),
    "number": (lambda: nx.Contact("c", 3, stiffness=1), "a of contact 'c' is 3; a body, its name, a pattern"),
    "stiffness": (
        lambda: nx.Contact("c", "b0", stiffness=-1),
        "stiffness of contact 'c' is -1; it must be greater than 0",
    ),
    "friction": (
        lambda: nx.Contact("c", "b0", stiffness=1, friction=-0.1),
        "friction of contact 'c' is -0.1; it must be 0 or more",
    ),
    "shapes": (
        lambda: nx.Contact("c", "b2", "floor", stiffness=1),
        "contact between Cone of body 'b2' and HalfSpace of body 'floor' is not supported",
    ),
    "no shapes": (lambda: nx.Contact("c", "bare", stiffness=1), "body 'bare' has no shapes that could touch"),
    "same name": (
        lambda: nx.Contact("push", "b0", stiffness=1),
        "force 'push' exists already; a contact and a force need",
    ),
    "argument": (
        lambda: nx.Contact("c", "b0", stifness=1),
        "Contact has no argument 'stifness'; did you mean 'stiffness'",
    ),
    "no law": (lambda: nx.Contact("c", "b0"), "contact 'c' has no stiffness; give one, or material_a and material_b"),
    "half a law": (
        lambda: nx.Contact("c", "b0", material_a="steel"),
        "contact 'c' has a material of one side; give material_b as well",
    ),
    "two laws": (
        lambda: nx.Contact("c", "b0", stiffness=1, material_a="steel", material_b="steel"),
        "contact 'c' has a stiffness, and a material, from which one follows",
    ),
    "material": (
        lambda: nx.Contact("c", "b0", material_a="steal", material_b="steel"),
        "material_a of contact 'c': no material 'steal'; did you mean 'steel'",
    ),
    "corner": (
        lambda: nx.Contact("c", "boxed", material_a="steel", material_b="steel", friction=0.1),
        "Box of body 'boxed' and the ground's HalfSpace have no radius for the law of Hertz, for corners have none",
    ),
    "exponent": (
        lambda: nx.Contact("c", "b0", material_a="steel", material_b="steel", exponent=1.0),
        "exponent of contact 'c' is 1.0; between materials it is 1.5, by Hertz",
    ),
    "nan": (lambda: nx.Contact("c", "b0", stiffness=math.nan), "stiffness of contact 'c' is nan"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_and_leaves_nothing(case: str) -> None:
    make, told = REFUSED[case]
    system = crowd(nx.Sphere(0.2), nx.Sphere(0.2), nx.Cone(0.1, 0.2))
    system.add_body("bare", mass=1.0)
    system.add_body("boxed", mass=1.0, shapes=[nx.Box((0.1, 0.1, 0.1))])
    system.add_force(nx.AppliedForce("push", "b0", force=(1, 0, 0)))
    with pytest.raises(nx.InputError, match=told):
        system.add_contact(make())
    assert list(system.forces) == ["push"] and not system.contacts


def test_unknown_names_of_contacts_are_told_with_those_there_are() -> None:
    result = nx.simulate(bouncing(), 0.01, METHOD)
    for ask in (result.contacts, result.touches):
        with pytest.raises(nx.UnknownNameError, match="no contact 'bals'; did you mean 'balls'"):
            ask("bals")
    with pytest.raises(nx.UnknownNameError, match="no body 'b7'"):
        result.contact_load("b7")


def test_gaps_of_many_surfaces_are_those_of_each() -> None:
    dice = np.random.default_rng(3)
    shapes = [nx.Sphere(0.1), nx.Capsule(0.05, 0.2), nx.Box((0.1, 0.2, 0.1)), nx.Hull(0.1 * dice.normal(size=(9, 3)))]
    shapes += [nx.Cylinder(0.1, 0.1), nx.Ellipsoid((0.1, 0.2, 0.1))]
    system, poses = nx.System("many"), {"ground": (np.eye(3), np.zeros(3))}
    for i, shape in enumerate(shapes):
        system.add_body(f"b{i}", mass=1.0, shapes=[shape])
        poses[f"b{i}"] = unit_rotation(dice), dice.normal(size=3)
    system.add_contact(nx.Contact("points", "b*", stiffness=1e4))
    system.add_contact(nx.Contact("areas", "b*", "b*", foundation_a=1e6))
    contacts = [force for force in system.forces.values() if isinstance(force, ContactForce)]
    found = surface_gaps(contacts, system, poses.__getitem__)
    one_by_one = [beyond_reach(x.numbers(system.values), *poses_of(x, system, poses.__getitem__)) for x in contacts]
    assert len(found) > 30 and (found > 0.0).any() and (found < 0.0).any()
    np.testing.assert_allclose(found, one_by_one, rtol=0.0, atol=1e-14)


def unit_rotation(dice: np.random.Generator) -> np.ndarray:
    q = dice.normal(size=4)
    return rotation_matrix(q / np.linalg.norm(q))

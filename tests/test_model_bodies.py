"""Bodies and shapes: which inertias are physical, and what a body is in numbers."""

import math
import warnings

import numpy as np
import pytest

from nexdyn.errors import InputError, NexDynWarning, UnknownNameError
from nexdyn.model.body import Body, unphysical
from nexdyn.model.parameters import Parameter
from nexdyn.model.placement import frame, rotation
from nexdyn.model.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from nexdyn.model.system import System
from nexdyn.spatial import rotations, solids

L = Parameter("L", 2.0)
SQUARE = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
"""A quarter turn about z."""


def six(I):
    return (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])


def random_inertia(rng, flat=0.0):
    """The inertia of random point masses; `flat` presses them into a plane, turned at random."""
    r = rng.normal(size=(6, 3)) * (1.0, 1.0, 1.0 - flat) @ rotation(tuple(rotations.normalized(rng.normal(size=4))))
    m = rng.uniform(0.1, 1.0, 6)
    return sum(m[i] * (r[i] @ r[i] * np.eye(3) - np.outer(r[i], r[i])) for i in range(6))


# --- what is physical -----------------------------------------------------------------------------------------------


def test_every_inertia_of_point_masses_is_physical(rng):
    for k in range(300):
        assert unphysical(1.0, six(random_inertia(rng, flat=k % 2))) is None


def test_an_inertia_is_physical_exactly_where_the_largest_moment_is_at_most_the_sum_of_the_others(rng):
    for _ in range(500):
        principal = rng.uniform(-0.2, 1.0, 3)
        A, B, C = sorted(principal)
        if abs(A + B - C) < 1e-6:
            continue
        R = rotation(tuple(rotations.normalized(rng.normal(size=4))))
        fault = unphysical(1.0, six(R @ np.diag(principal) @ R.T))
        assert (fault is None) == (A + B > C)


@pytest.mark.parametrize(
    "inertia", [(1, 1, 2), (1, 1, 0), (0, 0, 0), (2, 1, 1, 0, 0, 0), (1e-12, 1e-12, 2e-12), (1e9, 1e9, 2e9)]
)
def test_the_border_is_physical(inertia):
    System().add_body("flat", mass=1.0, inertia=inertia)


@pytest.mark.parametrize(
    ("mass", "inertia", "message"),
    [
        (
            1.0,
            (1, 2, 5),
            "body 'link': principal moments (1, 2, 5) kg m²: 1 + 2 < 5; of every rigid body the sum of two",
        ),
        (1.0, (-1, 2, 2), "principal moments (-1, 2, 2) kg m²: -1 is negative"),
        (1.0, (1, 1, 1, 2, 0, 0), "body 'link': principal moments (-1, 1, 3)"),
        (-1.0, (1, 1, 1), "body 'link': mass -1 kg is negative; it must be 0 or more"),
        (0.0, (1, 1, 1), "body 'link': its mass is 0 but its inertia is not"),
    ],
)
def test_an_unphysical_body_is_refused_or_warned_about_by_name(mass, inertia, message):
    with pytest.raises(InputError) as error:
        System().add_body("link", mass=mass, inertia=inertia)
    assert message in str(error.value)
    with pytest.warns(NexDynWarning) as caught:
        body = System().add_body("link", mass=mass, inertia=inertia, strict=False)
    assert message in str(caught[0].message)
    assert body.resolved({}).mass == mass


def test_a_matrix_that_is_not_symmetric_is_refused_even_if_not_strict():
    I = [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]
    with pytest.raises(InputError, match=r"inertia of body 'a' is not symmetric by 0.1; I\[i\]\[j\] must equal"):
        System().add_body("a", mass=1, inertia=I, strict=False)


# --- what a body is -------------------------------------------------------------------------------------------------


def test_three_forms_of_inertia_say_the_same():
    I = np.array([[3.0, -0.1, 0.2], [-0.1, 2.5, 0.3], [0.2, 0.3, 2.0]])
    six_components = Body("a", 1.0, (3.0, 2.5, 2.0, -0.1, 0.2, 0.3)).resolved({}).inertia
    assert (six_components == I).all()
    assert (Body("a", 1.0, I).resolved({}).inertia == I).all()
    assert (Body("a", 1.0, (3.0, 2.5, 2.0)).resolved({}).inertia == np.diag([3.0, 2.5, 2.0])).all()
    assert (Body("a", 1.0).resolved({}).inertia == 0.0).all()


def test_a_body_resolves_to_its_pose_and_mass(rng):
    q = rotations.normalized(rng.normal(size=4))
    body = Body("a", 2.0, (1, 1, 1), position=(1, 2, 3), orientation=q, com=(0.1, 0, 0)).resolved({})
    assert np.allclose(body.R, rotations.rotation_matrix(q), atol=1e-15)
    assert body.p.tolist() == [1.0, 2.0, 3.0]
    assert body.com.tolist() == [0.1, 0.0, 0.0]
    for array in (body.R, body.p, body.com, body.inertia):
        assert array.dtype == np.float64


def test_single_frames_are_those_of_the_array_functions(rng):
    for _ in range(50):
        z, x, q = rng.normal(size=3), rng.normal(size=3), rotations.normalized(rng.normal(size=4))
        unit = tuple((z / np.linalg.norm(z)).tolist())
        assert np.allclose(frame(unit), rotations.frame_from_z(z), atol=1e-14)
        assert np.allclose(frame(unit, tuple(x.tolist())), rotations.frame_from_z(z, x), atol=1e-14)
        assert np.allclose(rotation(tuple(q)), rotations.rotation_matrix(q), atol=1e-15)
    assert (frame((0.0, 0.0, 1.0)) == np.eye(3)).all()


def test_quantities_stay_as_given_and_follow_the_parameters():
    system = System()
    length = system.parameter("L", 2.0)
    body = system.add_body("a", mass="=3*L", inertia=(length, "=L", 2.0), position=[length, 0, 0])
    assert body.mass == "=3*L"
    assert body.position == (length, 0, 0)
    assert body.resolved(system.values).mass == 6.0
    assert body.resolved({"L": 4.0}).p.tolist() == [4.0, 0.0, 0.0]


def test_arrays_are_copied():
    position = np.array([1.0, 2.0, 3.0])
    body = System().add_body("a", position=position)
    position[0] = 9.0
    assert body.position == (1.0, 2.0, 3.0)


def test_a_quaternion_is_normalised_within_the_tolerance():
    body = Body("a", orientation=(1 + 5e-7, 0, 0, 0)).resolved({})
    assert (body.R == np.eye(3)).all()


# --- shapes ---------------------------------------------------------------------------------------------------------


def test_a_single_solid_gives_inertia_and_centre_of_mass():
    shape = Capsule(0.1, 0.5, position=(0, 0, 0.25), orientation=SQUARE)
    body = Body("a", mass=2.0, shapes=[shape]).resolved({})
    assert np.allclose(body.inertia, solids.capsule(2.0, 0.1, 0.5), atol=1e-15)
    assert body.com.tolist() == [0.0, 0.0, 0.25]
    box = Box((1, 2, 3), orientation=SQUARE)
    assert np.allclose(box.inertia(2.0), solids.box(2.0, (2, 1, 3)), atol=1e-15)
    assert np.allclose(Sphere(0.5).inertia(2.0), solids.sphere(2.0, 0.5))
    assert np.allclose(Cylinder(0.5, 2.0).inertia(2.0), solids.cylinder(2.0, 0.5, 2.0))
    skin = Mesh("skin.stl", scale=(1e-3, 1e-3, 1e-3))
    assert Body("a", mass=2.0, shapes=[skin, Sphere(0.5)]).resolved({}).inertia[0, 0] == pytest.approx(0.2)


def test_the_size_of_a_shape_may_be_a_parameter():
    system = System()
    system.parameter("r", 0.5)
    body = system.add_body("a", mass=2.0, shapes=Sphere("=r"))
    assert body.resolved(system.values).inertia[0, 0] == pytest.approx(0.2)
    assert body.resolved({"r": 1.0}).inertia[0, 0] == pytest.approx(0.8)
    with pytest.raises(InputError, match="body 'a': radius of Sphere is -1; it must be greater than 0"):
        system.with_parameters({"r": -1.0})


def test_shapes_that_leave_the_inertia_open_are_refused():
    with pytest.raises(InputError, match="body 'a' has 2 solid shapes and no inertia; give its inertia"):
        System().add_body("a", mass=1.0, shapes=[Sphere(1.0), Box((1, 1, 1))])
    with pytest.raises(InputError, match="is not the centre"):
        System().add_body("a", mass=1.0, com=(1, 0, 0), shapes=[Sphere(1.0)])
    with pytest.raises(InputError, match="body 'a' has 3 among its shapes; Box, Sphere"):
        Body("a", shapes=[3])
    assert System().add_body("a", shapes=[Sphere(1.0), Sphere(2.0)]).resolved({}).mass == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box((1, 0, 1)), "size[1] of Box is 0; it must be greater than 0"),
        (lambda: Box((1, 1)), "size of Box has 2 components; 3 are needed"),
        (lambda: Box(1.0), "3 numbers are needed"),
        (lambda: Sphere(-1.0), "radius of Sphere is -1"),
        (lambda: Sphere(math.nan, name="tip"), "radius of Sphere 'tip' is nan"),
        (lambda: Cylinder(1.0, 0.0), "length of Cylinder is 0"),
        (lambda: Capsule("wide", 1.0), "radius of Capsule is the text 'wide'"),
        (lambda: Mesh(""), "path of a mesh is ''"),
        (lambda: Mesh("a.stl", scale=(1, 0, 1)), "no component may be 0"),
        (lambda: Sphere(1.0, orientation=(1, 1, 0, 0)), "orientation of Sphere is (1, 1, 0, 0) with norm 1.41421"),
        (lambda: Sphere(1.0, position=(0, math.inf, 0)), "position of Sphere[1] is inf"),
        (lambda: Sphere(1.0, color=(1, 2, 3)), "between 0 and 1"),
        (lambda: Sphere(1.0, color="red"), "color of Sphere"),
        (lambda: Mesh("a.stl").inertia(1.0), "no solid whose inertia is known"),
    ],
)
def test_a_bad_shape_is_refused(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"mass": math.nan}, "mass of body 'a' is nan"),
        ({"mass": "1e-3"}, "mass of body 'a' is the text '1e-3'; write the number 1e-3 without quotes"),
        ({"mass": None}, "mass of body 'a' is None; a number"),
        ({"mass": "=2*l"}, "mass of body 'a' = 2.0*l: no parameter 'l'"),
        ({"mass": "=__import__('os')"}, "mass of body 'a': no function '__import__'"),
        ({"mass": "=9**9**9**9"}, "mass of body 'a' = 9.0**9.0**9.0**9.0 has no value: the result is too large"),
        ({"mass": "=t"}, "mass of body 'a' = t depends on the time t"),
        ({"mass": 1, "inertia": (1, 1)}, "inertia of body 'a' has 2 entries; 3 principal moments, 6 components"),
        ({"mass": 1, "inertia": 1.0}, "inertia of body 'a' is 1.0; 3 principal moments"),
        ({"mass": 1, "inertia": (1, math.nan, 1)}, "inertia of body 'a'[1] is nan"),
        ({"mass": 1, "inertia": np.eye(2)}, "inertia of body 'a' has 2 entries"),
        ({"mass": 1, "inertia": [[1, 0], [0, 1], [0, 0]]}, "inertia of body 'a'[0] has 2 components"),
        ({"mass": 1, "inertia": [1, 2, [3, 4, 5]]}, "inertia of body 'a'[0] is 1; 3 numbers are needed"),
        ({"position": (0, 0)}, "position of body 'a' has 2 components; 3 are needed"),
        ({"position": (0, 0, "up")}, "position of body 'a'[2] is the text 'up'"),
        ({"com": (0, math.inf, 0)}, "com of body 'a'[1] is inf"),
        (
            {"orientation": (1, 0, 0)},
            "orientation of body 'a' has 3 components; a unit quaternion (w, x, y, z) is needed",
        ),
        (
            {"orientation": (1, 0, 0, 0.1)},
            "orientation of body 'a' is (1, 0, 0, 0.1) with norm 1.00499; a unit quaternion",
        ),
        ({"orientation": (0, 0, 0, 0)}, "no rotation is (1, 0, 0, 0)"),
        ({"orientation": (math.nan, 0, 0, 0)}, "orientation of body 'a'[0] is nan"),
    ],
)
def test_a_bad_attribute_is_refused_by_name(attributes, message):
    system = System()
    with pytest.raises(InputError) as error:
        system.add_body("a", **attributes)
    assert message in str(error.value)
    assert not system.bodies


@pytest.mark.parametrize("name", ["", "  ", None, 3, "a\nb", "=a"])
def test_a_name_is_printable_text(name):
    with pytest.raises(InputError, match="cannot name a body"):
        System().add_body(name)


def test_an_unknown_parameter_is_an_unknown_name():
    system = System()
    system.parameter("length", 1.0)
    with pytest.raises(UnknownNameError, match=r"no parameter 'lenght'; did you mean 'length'\?"):
        system.add_body("a", position=("=lenght", 0, 0))


def test_a_sound_body_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        System().add_body("a", mass=1, inertia=(1, 1, 1), strict=False)

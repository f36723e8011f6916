"""A system: what belongs to it, how it is changed, and what is refused."""

import copy
import math
import pickle

import numpy as np
import pytest

from nexdyn.errors import InputError, UnknownNameError
from nexdyn.joints import Revolute
from nexdyn.model.body import Body
from nexdyn.model.element import name_of
from nexdyn.model.force import Force
from nexdyn.model.functions import Harmonic, as_function
from nexdyn.model.joint import Joint, Mimic
from nexdyn.model.marker import Marker
from nexdyn.model.measure import Distance
from nexdyn.model.parameters import floats
from nexdyn.model.system import System


class Hinge(Joint):
    kind, nq, nv = "revolute", 1, 1


class Ball(Joint):
    kind, nq, nv = "spherical", 4, 3


class Pull(Force):
    kind = "pull"

    def __init__(self, name, body, force, size=1.0):
        super().__init__(name)
        self.body, self.force, self.size = name_of(body), force, size

    def bodies(self):
        return (self.body,)

    def data(self, values):
        size = as_function(self.size, f"size of {self}").resolved(values)
        return [*floats(self.force, 3, values, f"force of {self}"), float(size.value(0.25))]

    def check_in(self, system):
        if system.body(self.body).mass == 0.0:
            raise InputError(f"{self} pulls at a body without mass")


def crank_and_rod():
    system = System("engine")
    L = system.parameter("L", 0.5)
    system.parameter("m", "=2*L")
    crank = system.add_body("crank", mass="=m", inertia=(1, 1, 1), position=(L / 2, 0, 0))
    rod = system.add_body("rod.left", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    system.add_joint(Hinge("pin", system.ground, crank, at=(0, 0, 0), damping=0.1))
    system.add_joint(Hinge("rod.left", crank, rod, at=("=L", 0, 0)))
    system.add_marker("tip", rod, position=(0.5, 0, 0))
    system.add_force(Pull("wind", rod, (1, 0, "=m"), Harmonic("=L", 1.0)))
    system.add_measure(Distance("reach", "ground", "tip"))
    return system


# --- what belongs to it ---------------------------------------------------------------------------------------------


def test_elements_are_found_by_name_in_the_order_they_were_added():
    system = crank_and_rod()
    assert list(system.bodies) == ["crank", "rod.left"]
    assert list(system.joints) == ["pin", "rod.left"]
    assert system.joint("pin").parent is system.ground is system.body("ground")
    assert system.joint("rod.left").child is system.body("rod.left")
    assert system.marker("tip").body is system.body("rod.left")
    assert system.force("wind").bodies() == ("rod.left",)
    assert system.measure("reach").b == "tip"
    assert system.values == {"L": 0.5, "m": 1.0}
    assert system.ground.is_ground
    assert not system.body("crank").is_ground
    assert repr(system) == "System('engine': 2 bodies, 2 joints, 1 force)"
    assert repr(system.joint("pin")) == "Hinge('pin', 'ground' → 'crank')"


def test_bodies_may_be_named_or_given():
    system = System()
    b = system.add_body(Body("b"))
    a = system.add_body("a")
    assert system.add_joint(Hinge("h", "a", b)).parent is a
    assert system.add_joint(Hinge("g", "ground", "a")).parent is system.ground


def test_mappings_are_for_reading():
    system = crank_and_rod()
    with pytest.raises(TypeError):
        system.bodies["x"] = Body("x")
    system.values["L"] = 3.0
    assert system.values["L"] == 0.5


def test_gravity_is_numbers_and_may_be_a_parameter():
    assert System().gravity.tolist() == [0.0, 0.0, -9.81]
    system = System(gravity=(0, "=-g", 0))
    with pytest.raises(UnknownNameError, match=r"gravity\[1\] = -g: no parameter 'g'"):
        system.gravity  # noqa: B018
    system.parameter("g", 1.62)
    assert system.gravity.tolist() == [0.0, -1.62, 0.0]
    assert system.with_parameters({"g": 3.7}).gravity.tolist() == [0.0, -3.7, 0.0]
    assert system.with_parameters({"gravity": (0, 0, 1)}).gravity.tolist() == [0.0, 0.0, 1.0]
    for gravity in ((0, 0), 9.81, (0, 0, math.nan), "down"):
        with pytest.raises(InputError, match="gravity"):
            System(gravity=gravity)
        with pytest.raises(InputError, match="gravity"):
            system.with_parameters({"gravity": gravity})


def test_an_added_element_is_fixed():
    system = crank_and_rod()
    with pytest.raises(InputError, match=r"body 'crank' is part of system 'engine' and fixed there; .*'crank.mass'"):
        system.body("crank").mass = 3.0
    free = Body("b", mass=1.0)
    free.mass = 2.0
    assert system.add_body(free).resolved({}).mass == 2.0


# --- how it is changed ----------------------------------------------------------------------------------------------


def test_a_changed_system_has_the_new_values_and_the_old_one_keeps_its_own():
    system = crank_and_rod()
    changed = system.with_parameters(
        {
            "L": 2.0,
            "crank.position": (9, 0, 0),
            "joint:rod.left.damping": 0.3,
            "tip.position": ("=L", 0, 0),
            "wind.size": 4,
        }
    )
    assert changed.values == {"L": 2.0, "m": 4.0}
    assert changed.body("crank").resolved(changed.values).mass == 4.0
    assert changed.body("crank").position == (9, 0, 0)
    assert changed.joint("rod.left").damping == 0.3
    assert changed.joint("rod.left").frames(changed.values).p_AJ.tolist() == [-7.0, 0.0, 0.0]
    assert changed.marker("tip").frame(changed.values)[1].tolist() == [2.0, 0.0, 0.0]
    assert changed.force("wind").data(changed.values) == [1.0, 0.0, 4.0, 4.0]
    assert changed.measure("reach").a == "ground"
    assert system.values == {"L": 0.5, "m": 1.0}
    assert system.body("crank").resolved(system.values).mass == 1.0
    assert system.joint("rod.left").damping == 0.0
    assert system.marker("tip").position == (0.5, 0, 0)


def test_a_changed_system_shares_nothing_with_the_old_one():
    system = crank_and_rod()
    changed = system.with_parameters({})
    for kind in ("bodies", "joints", "forces", "markers", "measures"):
        old, new = getattr(system, kind), getattr(changed, kind)
        assert list(old) == list(new)
        assert all(old[name] is not new[name] for name in old)
    for joint in changed.joints.values():
        assert joint.parent is changed.body(joint.parent.name)
        assert joint.child is changed.body(joint.child.name)
    assert changed.marker("tip").body is changed.body("rod.left")
    changed.add_joint(Hinge("third", "crank", "rod.left"))
    assert "third" not in system.joints
    with pytest.raises(InputError, match="fixed there"):
        changed.body("crank").mass = 3.0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda system: pickle.loads(pickle.dumps(system))])
def test_a_system_can_be_copied_and_sent_to_another_process(duplicate):
    system = crank_and_rod()
    again = duplicate(system)
    assert again.values == system.values
    assert again.joint("pin").child is again.body("crank")
    assert again.body("crank").resolved(again.values).mass == 1.0
    assert again.with_parameters({"L": 1.0}).values["m"] == 2.0


def test_a_parameter_may_become_an_expression_of_earlier_ones():
    changed = crank_and_rod().with_parameters({"m": "=10*L"})
    assert changed.values["m"] == 5.0


def test_changed_values_are_checked_where_they_are_used():
    system = crank_and_rod()
    with pytest.raises(InputError, match="body 'crank': mass -2 kg is negative"):
        system.with_parameters({"L": -1.0})
    with pytest.raises(InputError, match="body 'crank': principal moments"):
        system.with_parameters({"crank.inertia": (1, 1, 9)})
    with pytest.raises(InputError, match="damping of joint 'pin' is nan"):
        system.with_parameters({"pin.damping": math.nan})
    with pytest.raises(InputError, match="force of force 'wind' has 2 components"):
        system.with_parameters({"wind.force": (1, 2)})
    with pytest.raises(InputError, match="force 'wind' pulls at a body without mass"):
        system.with_parameters({"rod.left.mass": 0.0, "rod.left.inertia": None, "wind.size": 2.0})
    with pytest.raises(InputError, match="parameter 'L' is nan"):
        system.with_parameters({"L": math.nan})
    with pytest.raises(UnknownNameError, match="parameter 'm': no parameter 'k'"):
        system.with_parameters({"m": "=k"})


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("K", "no parameter or attribute 'K'; valid: L, m, crank.…, rod.left.…, pin.…"),
        ("crnk.mass", "no parameter or attribute 'crnk.mass'; did you mean 'crank.…'?"),
        (
            "crank.mas",
            "'crank.mas': body 'crank' has no attribute 'mas'; did you mean 'mass'? attributes: mass, inertia",
        ),
        ("pin.parent", "joint 'pin' has no attribute 'parent'"),
        ("crank.name", "no attribute 'name'"),
        ("ground.mass", "no parameter or attribute 'ground.mass'"),
        ("body:pin.damping", "no parameter or attribute 'pin.damping'"),
        (3, "no parameter or attribute 3"),
    ],
)
def test_an_unknown_path_names_what_is_valid(path, message):
    with pytest.raises(UnknownNameError) as error:
        crank_and_rod().with_parameters({path: 1.0})
    assert message in str(error.value)


def test_an_ambiguous_path_says_how_to_be_clear():
    system = System()
    system.add_body("a", mass=1.0)
    system.add_marker("a", "a", position=(1, 0, 0))
    with pytest.raises(InputError, match=r"'a.position' is ambiguous: 'a' is a body and a marker; write 'body:"):
        system.with_parameters({"a.position": (0, 0, 1)})
    changed = system.with_parameters({"marker:a.position": (0, 0, 1), "a.mass": 2.0})
    assert changed.marker("a").position == (0, 0, 1)
    assert changed.body("a").position == (0.0, 0.0, 0.0)
    assert changed.body("a").mass == 2.0


def test_the_longest_name_wins():
    system = System()
    system.add_body("arm", mass=1.0)
    system.add_body("arm.left", mass=1.0)
    changed = system.with_parameters({"arm.left.mass": 2.0, "arm.mass": 3.0})
    assert changed.body("arm.left").mass == 2.0
    assert changed.body("arm").mass == 3.0


# --- bad input ------------------------------------------------------------------------------------------------------


def refused(action, message, kind=InputError):
    system = crank_and_rod()
    before = {k: list(getattr(system, k)) for k in ("bodies", "joints", "forces", "markers", "measures", "parameters")}
    with pytest.raises(kind) as error:
        action(system)
    assert message in str(error.value)
    assert before == {k: list(getattr(system, k)) for k in before}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda s: s.add_body("crank"), "a body 'crank' exists already; every body needs its own name"),
        (lambda s: s.add_joint(Hinge("pin", "crank", "rod.left")), "a joint 'pin' exists already"),
        (lambda s: s.add_force(Pull("wind", "crank", (0, 0, 0))), "a force 'wind' exists already"),
        (lambda s: s.add_marker("tip", "crank"), "a marker 'tip' exists already"),
        (lambda s: s.add_measure(Distance("reach", "tip", "crank")), "a measure 'reach' exists already"),
        (lambda s: s.parameter("L", 1.0), "a parameter 'L' exists already; with_parameters changes its value"),
        (lambda s: s.add_body("ground"), "the name 'ground' is that of the fixed world; give the body"),
        (lambda s: s.add_marker("ground", "crank"), "the name 'ground' is that of the fixed world"),
        (
            lambda s: s.add_joint(Hinge("h", "crank", "crank")),
            "joint 'h' joins body 'crank' to itself; parent and child",
        ),
        (lambda s: s.add_joint(Hinge("h", "ground", "ground")), "joint 'h' joins body 'ground' to itself"),
        (
            lambda s: s.add_joint(Hinge("h", Body("x"), "crank")),
            "parent of joint 'h': body 'x' belongs to no system; add it",
        ),
        (
            lambda s: s.add_joint(Hinge("h", "crank", crank_and_rod().body("crank"))),
            "child of joint 'h': body 'crank' belongs to another system; give its name",
        ),
        (
            lambda s: s.add_joint(Hinge("h", None, "crank")),
            "parent of joint 'h' is None; a body of the system or its name",
        ),
        (lambda s: s.add_joint(Joint("h", "ground", "crank")), "joint 'h' is of no kind; use Revolute"),
        (lambda s: s.add_joint(s.joint("pin")), "joint 'pin' is part of system 'engine' already"),
        (lambda s: s.add_joint(s.body("crank")), "is no joint; add_joint takes one"),
        (lambda s: s.add_body(Body("x"), mass=3.0), "give either a Body, or a name and attributes"),
        (lambda s: s.add_marker("x"), "marker 'x' has no body"),
        (lambda s: s.add_marker(Marker("x", "crank"), "crank"), "give either a Marker, or a name and attributes"),
        (lambda s: s.add_marker("x", 3), "body of marker 'x' is 3; a body of the system or its name is needed"),
        (lambda s: s.add_force(Pull("f", "crank", (0, math.nan, 0))), "force of force 'f'[1] is nan"),
        (lambda s: s.add_force(Pull("f", 3, (0, 0, 0))), "3 is neither an element of the system nor the name of one"),
        (lambda s: s.add_measure(Marker("m", "crank")), "is no measure; add_measure takes one"),
        (lambda s: s.parameter("K", math.nan), "parameter 'K' is nan"),
        (lambda s: s.parameter("K", "1e-3"), "parameter 'K' is the text '1e-3'"),
        (lambda s: s.parameter("K", "=1/0"), "parameter 'K' = 1.0/0.0 has no value: float division by zero"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_the_system_as_it_was(action, message):
    refused(action, message)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda s: s.body("crnk"), "no body 'crnk'; did you mean 'crank'? bodies: crank, rod.left"),
        (lambda s: s.joint("pim"), "no joint 'pim'; did you mean 'pin'? joints: pin, rod.left"),
        (lambda s: s.force("wnd"), "no force 'wnd'; did you mean 'wind'?"),
        (lambda s: s.marker("tp"), "no marker 'tp'; did you mean 'tip'?"),
        (lambda s: s.measure("rech"), "no measure 'rech'; did you mean 'reach'?"),
        (lambda s: s.add_joint(Hinge("h", "crnk", "rod.left")), "joint 'h': no body 'crnk'; did you mean 'crank'?"),
        (lambda s: s.add_marker("x", "crnk"), "marker 'x': no body 'crnk'; did you mean 'crank'?"),
        (lambda s: s.add_force(Pull("f", "crnk", (0, 0, 0))), "force 'f': no body 'crnk'; did you mean 'crank'?"),
        (
            lambda s: s.add_measure(Distance("d", "tpi", "crank")),
            "measure 'd': no marker or body 'tpi'; did you mean 'tip'?",
        ),
        (
            lambda s: s.add_joint(Hinge("h", "crank", "rod.left", damping="=c")),
            "damping of joint 'h' = c: no parameter 'c'",
        ),
        (lambda s: s.parameter("K", "=2*l2"), "parameter 'K': no parameter 'l2'"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(action, message):
    refused(action, message, UnknownNameError)


def test_a_name_that_a_marker_and_a_body_share_needs_a_prefix_in_a_measure():
    system = System()
    system.add_body("a", position=(1, 0, 0))
    system.add_marker("a", "ground", position=(3, 0, 0))
    with pytest.raises(InputError, match="measure 'd': 'a' is a marker and a body; write 'marker:a' or 'body:a'"):
        system.add_measure(Distance("d", "ground", "a"))
    system.add_measure(Distance("d", "ground", "marker:a"))
    assert system.frame("marker:a")[0] is system.ground
    assert system.frame("body:a")[0] is system.body("a")


def test_nan_in_an_attribute_that_no_check_reads_is_refused():
    class Idle(Force):
        def __init__(self, name, numbers):
            super().__init__(name)
            self.numbers = numbers

    for numbers in (math.nan, (1.0, (2.0, math.nan)), np.array([math.nan])):
        with pytest.raises(InputError, match="numbers of force 'f' is nan"):
            System().add_force(Idle("f", numbers))
    with pytest.raises(UnknownNameError, match="numbers of force 'f': no parameter 'k'"):
        System().add_force(Idle("f", (1.0, "=k")))


def test_a_mimic_of_a_missing_joint_is_found_once_all_is_added():
    system = crank_and_rod()
    system.add_body("c")
    system.add_joint(Hinge("finger", "crank", "c", mimic=Mimic("pim")))
    with pytest.raises(UnknownNameError, match=r"joint 'finger': no joint 'pim'; did you mean 'pin'\?"):
        system.check()
    system = crank_and_rod()
    system.add_body("c")
    system.add_joint(Ball("ball", "crank", "c"))
    system.add_body("d")
    system.add_joint(Hinge("finger", "crank", "d", mimic=Mimic("ball")))
    with pytest.raises(
        InputError, match="joint 'finger' mimics joint 'ball', which has 3 degrees of freedom; one is needed"
    ):
        system.check()


def test_names_that_look_alike_are_one_name() -> None:
    """An é of one character and one of two, a letter and its accent."""
    one, two = "caf\u00e9", "cafe\u0301"
    system = System("names")
    system.add_body(one, mass=1.0)
    with pytest.raises(InputError, match="exists already"):
        system.add_body(two, mass=1.0)
    joint = system.add_joint(Revolute(two, "ground", two, axis=(0.0, 1.0, 0.0)))
    assert (joint.name, joint.child.name) == (one, one)
    with pytest.raises(UnknownNameError, match=f"spelt with combining characters; write '{one}'"):
        system.body(two)

"""Natural mistakes get an answer that names what is meant: names of other tools, arguments in the wrong place, classes for methods."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.checked_calls import ITEMS, SETTING, WAYS
from nexdyn.errors import nearest
from nexdyn.integrate.methods import METHODS, method_of
from nexdyn.synonyms import _TABLE, meant, plain


def chain() -> nx.System:
    return nx.load("hinge-chain")


def test_every_hint_leads_to_a_name_of_the_public_face_and_no_word_but_ball_to_two() -> None:
    words = [word for text in _TABLE.values() for word in text.split()]
    assert set(_TABLE) <= set(nx.__all__)
    assert {word for word in words if words.count(word) > 1} == {"ball"}, "a joint in its place, else a shape"
    assert all(word == plain(word) for word in words)
    assert not {plain(name) for name in nx.__all__} & set(words)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("RK4", "RungeKutta4"), ("Hinge", "Revolute"), ("TranslationalSpring", "PointSpring"), ("TSDA", "PointSpring"),
        ("RSDA", "TorsionSpring"), ("CartesianSpringDamper", "Bushing"), ("RigidBodySpringDamper", "Bushing"),
        ("BallJoint", "Spherical"), ("Weld", "Fixed"), ("Backward_Euler", "ImplicitEuler"), ("Revolut", "Revolute"),
        ("GenericJoint", "GeneralJoint"), ("Model", "System"), ("World", "System"), ("Link", "Body"), ("load_urdf", "load"),
        ("read", "load"), ("animate", "record"), ("Damper", "PointSpring"), ("Ball", "Spherical"), ("solve", "simulate"),
        ("Trimesh", "Mesh"), ("Sliderr", "Prismatic"),
    ],
)  # fmt: skip
def test_a_name_of_another_tool_gets_the_name_here(typed: str, name: str) -> None:
    with pytest.raises(AttributeError, match=f"did you mean '{name}'"):
        getattr(nx, typed)


def test_kinds_in_scenes_and_names_of_methods_get_theirs() -> None:
    kinds = ["revolute", "prismatic", "spherical", "universal", "fixed", "point_spring", "torsion_spring"]
    for typed, kind in (
        ("hinge", "revolute"),
        ("slider", "prismatic"),
        ("ball", "spherical"),
        ("tsda", "point_spring"),
    ):
        assert meant(typed, kinds) == kind
    assert meant("ball", ["box", "sphere", "hull"]) == "sphere"
    assert nearest("sping", ["bushing", "point_spring"]) == "point_spring"
    assert nearest("Revolute", kinds) == "revolute"
    for typed, name in (
        ("rk45", "dopri5"),
        ("RungeKutta4", "rk4"),
        ("generalized_alpha", "hht"),
        ("bdf2", "implicit-euler"),
    ):
        assert meant(typed, list(METHODS)) == name
    assert meant("hinge", ["prismatic"]) is None
    scene = """
name: arm
bodies: {arm: {mass: 1.0, inertia: [1, 1, 1]}}
joints: {pivot: {type: hinge, parent: ground, child: arm}}
"""
    from nexdyn.io.scene import read_scene

    with pytest.raises(nx.InputError, match="did you mean 'revolute'"):
        read_scene_text(scene, read_scene)


def read_scene_text(text: str, read: Callable[[Any], Any]) -> Any:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.yaml"
        path.write_text(text)
        return read(path)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: nx.simulate(chain(), 0.01, dt=1e-3),
            "nx.simulate has no argument 'dt'; the step belongs to the method",
        ),
        (lambda: nx.simulate(chain(), 0.01, solver="rk4"), "did you mean 'method'"),
        (lambda: nx.simulate(chain(), 0.01, timestep=1e-3), "no argument 'timestep'; the step belongs to the method"),
        (lambda: nx.simulate(chain(), 0.01, tol=1e-3), "no argument 'tol'; the tolerance belongs to the method"),
        (lambda: nx.simulate(chain(), 0.01, t_eval=[0, 1]), "did you mean 'output_times'"),
        (lambda: nx.simulate(chain(), t_final=0.01), "no argument 't_final'; did you mean 't_end'"),
        (lambda: nx.simulate(chain(), 0.01, n_steps=10), "no argument 'n_steps'; the steps belong to the method"),
        (lambda: nx.simulate(chain(), 0.01, record=5), "no argument 'record'; arguments: system, t_end"),
        (lambda: nx.simulate(chain(), 0.01, controller=5), r"'controller'; a controller .*nx.Controller\(…\)"),
        (lambda: nx.System("s", g=9.81), "System has no argument 'g'; did you mean 'gravity'"),
        (lambda: nx.Revolute("a", "b", "c", initial=1.0), "Revolute has no argument 'initial'; did you mean 'q0'"),
        (lambda: nx.simulate(chain(), 0.01, progress=5), "progress is 5; a function is needed, or None"),
        (lambda: nx.Tree("x"), "system is 'x'; a System is needed"),
        (lambda: nx.ClosedTree("x"), "system is 'x'; a System is needed"),
        (lambda: nx.Simulation("x"), "system is 'x'; a System is needed"),
        (lambda: nx.Session(system="x"), "system is 'x'; a System is needed"),
        (lambda: nx.save_scene("x", "a.yaml"), "system is 'x'; a System is needed"),
        (lambda: nx.save_urdf("x", "a.urdf"), "system is 'x'; a System is needed"),
        (lambda: nx.kinematics("x", [0.0]), "system is 'x'; a System is needed"),
        (lambda: nx.save_still(5, "a.png"), "5 cannot be viewed; a Result, a System or a Simulation can"),
        (lambda: nx.save_video(5, "a.gif"), "5 cannot be viewed; a Result, a System or a Simulation can"),
        (lambda: chain().bodies["link11"], "no body 'link11'; did you mean 'link1'"),
        (lambda: chain().joints["hing1"], "no joint 'hing1'; did you mean 'hinge1'"),
        (
            lambda: chain().add_joint(nx.Revolute),
            r"joint is the class Revolute; give one made of it, like nx.Revolute\(…\)",
        ),
        (lambda: chain().add_body(nx.Body), r"body is the class Body; give one made of it"),
        (lambda: chain().add_marker(nx.Marker), r"marker is the class Marker; give one made of it"),
        (
            lambda: chain().add_joint(nx.Fixed("j", "world", "link1")),
            "joint 'j': no body 'world'; the fixed world is 'ground'",
        ),
        (
            lambda: nx.System("s").add_body("b", mass="1,5"),
            "mass of body 'b' is the text '1,5'; write the number 1.5, with a point",
        ),
        (lambda: nx.System("s").add_body("b", mass="1 kg"), r"the text '1 kg'; write the number alone, in SI units"),
        (
            lambda: chain().with_parameters({"hinge1.q0": "90deg"}),
            r"the text '90deg'; write '=90\*pi/180', since angles are in rad",
        ),
        (lambda: chain().with_parameters({"hinge1.q0": "pi/2"}), "the text 'pi/2'; write '=pi/2' for an expression"),
        (lambda: nx.simulate(chain()), "missing a required argument: 't_end'"),
        (lambda: nx.simulate(chain(), 0.01, nx.HHT), r"the class HHT; give one made of it, like nx.HHT\(\)"),
        (lambda: nx.simulate(chain(), 0.01, 4), "method is 4; one of nx.RungeKutta4"),
        (lambda: nx.simulate(chain(), 0.01, "rk5"), "no method 'rk5'.*methods: rk4, euler"),
        (lambda: nx.assemble(chain(), tol=1e-3), "nx.assemble has no argument 'tol'; did you mean 'tolerance'"),
        (
            lambda: nx.Revolute("a", "b", "c", location=(0, 0, 0)),
            "Revolute has no argument 'location'; did you mean 'at'",
        ),
        (lambda: nx.Revolute("a", "b"), "Revolute: missing a required argument: 'child'"),
        (lambda: nx.Revolute("a", "b", "c", dampng=1.0), "Revolute has no argument 'dampng'; did you mean 'damping'"),
        (
            lambda: nx.System("s").add_body("b", location=(0, 0, 0)),
            "Body has no argument 'location'; did you mean 'position'",
        ),
        (lambda: nx.System("s").add_body("b", mass=1.0, rotation=(1, 0, 0, 0)), "did you mean 'orientation'"),
        (lambda: nx.System("s").add_body("b", orientation=(0, 0, 1)), r"a unit quaternion \(w, x, y, z\) is needed"),
        (
            lambda: nx.System("s").add_body("b", orientation=np.eye(3)),
            r"orientation of body 'b' is a matrix; .*from_matrix",
        ),
        (lambda: nx.Box((1, 1, 1), orientation=np.eye(3)).check({}), r"orientation of Box is a matrix"),
        (lambda: nx.PointSpring("s", "a", "b", k=3.0), "did you mean 'stiffness'"),
        (lambda: nx.RungeKutta4(step=1e-3), "RungeKutta4 has no argument 'step'; did you mean 'dt'"),
        (lambda: nx.HHT(tolerance=1e-3), "HHT has no argument 'tolerance'; did you mean 'rtol'"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_meant(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(nx.InputError, match=told):
        call()


@pytest.fixture(scope="module")
def result() -> nx.Result:
    return nx.simulate(chain(), 0.01)


@pytest.mark.parametrize(
    ("of", "typed", "told"),
    [
        ("System", "simulate", r"nx.simulate is a function: nx.simulate\(system, …\)"),
        ("System", "linearize", "nx.linearize is a function"),
        ("System", "sweep", "nx.sweep is a function"),
        ("System", "add", "add_body, add_joint, add_force"),
        ("System", "add_link", "add_body adds a body"),
        ("System", "add_hinge", r"add_joint\(nx.Revolute\(…\)\) adds one"),
        ("System", "add_spring", r"add_force\(nx.PointSpring\(…\)\) adds one"),
        ("System", "add_motor", r"add_force\(nx.JointForce\(…\)\) adds one"),
        ("System", "bodis", "did you mean 'bodies'"),
        ("System", "link1", r"bodies\['link1'\] is it"),
        ("System", "hinge1", r"joints\['hinge1'\] is it"),
        ("System", "L", r"parameters\['L'\] is it"),
        ("Result", "positions", r"position\('BODY'\) is a place"),
        ("Result", "q", r"joint_position\(\) is q"),
        ("Result", "time", "t are the times"),
        ("Result", "view", r"nx.view is a function: nx.view\(result, …\)"),
        ("Result", "animate", r"nx.view\(result\) plays it"),
        ("Result", "to_dataframe", r"to_csv\(path\) writes a table"),
        ("Result", "kinetic_energy", "did you mean 'energy'"),
        ("Tree", "mass_matrix", r"crba\(q\) is the mass matrix"),
        ("Tree", "abba", "did you mean 'aba'"),
        ("Body", "mas", "did you mean 'mass'"),
        ("RungeKutta4", "step", "did you mean 'dt'"),
    ],
)
def test_a_wrong_attribute_gets_what_serves(result: nx.Result, of: str, typed: str, told: str) -> None:
    system = chain()
    owners = (system, result, nx.Tree(system), system.bodies["link1"], nx.RungeKutta4(1e-3))
    owner = next(one for one in owners if type(one).__name__ == of)
    with pytest.raises(AttributeError, match=f"^'{of}' object has no attribute '{typed}'; {told}"):
        getattr(owner, typed)


def test_what_serves_in_place_of_an_attribute_or_an_item_is_there(result: nx.Result) -> None:
    four_bar = nx.load("four-bar")
    made = (chain(), result, nx.Tree(chain()), nx.Simulation(chain()), nx.assemble(four_bar), nx.equilibrium(four_bar))
    assert {type(one).__name__ for one in made} == set(WAYS) >= {*ITEMS, *SETTING}
    for owner in made:
        of = type(owner).__name__
        for typed, way in WAYS[of].items():
            assert typed == plain(typed) and not hasattr(owner, typed), f"{of}.{typed} is there: no hint is needed"
            named = re.search(r"nx\.(\w+)|(?<![\w'.(])([a-z]\w*)", way)
            assert named is not None
            assert named[1] in nx.__all__ if named[1] else hasattr(owner, named[2]), f"{of}.{typed}: {way}"


def test_a_missing_attribute_is_none_to_what_asks_for_it(result: nx.Result) -> None:
    """`hasattr`, copies, pickles and arrays of objects ask for attributes that are not there."""
    system = chain()
    assert not hasattr(system, "nothing") and getattr(result, "__array__", None) is None
    assert (
        copy.deepcopy(system).bodies.keys() == pickle.loads(pickle.dumps(system)).bodies.keys() == system.bodies.keys()
    )
    assert np.array([system, system]).shape == (2,)
    with pytest.raises(AttributeError) as caught:
        system.bodis  # noqa: B018
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(TypeError, match="not iterable"):
        list(result)  # type: ignore[call-overload]


def test_python_adds_no_second_hint_to_that_for_a_name() -> None:
    for owner, typed in ((nx, "Revolut"), (chain(), "bodis")):
        try:
            getattr(owner, typed)
        except AttributeError:
            assert traceback.format_exc().casefold().count("did you mean") == 1


def test_items_of_systems_and_results_are_refused_with_what_serves(result: nx.Result) -> None:
    for owner, key, told in (
        (chain(), "link1", r"bodies\['NAME'\]"),
        (result, "x", r"position\('BODY'\)"),
        (result, 0, "t are"),
    ):
        with pytest.raises(nx.InputError, match=f"a {type(owner).__name__} has no item {key!r}; .*{told}"):
            owner[key]  # type: ignore[index]


def test_gravity_of_a_system_is_not_set_and_the_error_says_what_serves() -> None:
    system = chain()
    with pytest.raises(
        nx.InputError, match=r"gravity of a System cannot be set; .*with_parameters\(\{'gravity': …\}\)"
    ):
        system.gravity = (0, 0, 0)  # type: ignore[misc]
    assert system.with_parameters({"gravity": (0, 0, 0)}).gravity.tolist() == [0, 0, 0]


def test_what_a_function_of_the_user_raises_is_not_taken_for_a_wrong_argument() -> None:
    def progress(t: float) -> None:
        """One argument too few."""

    with pytest.raises(TypeError, match="progress"):
        nx.simulate(chain(), 0.01, progress=progress)  # type: ignore[arg-type]


def test_methods_that_are_compared_may_be_given_by_their_names() -> None:
    found = nx.compare(chain(), ["rk4", nx.ExplicitEuler(1e-3)], 0.01)
    assert list(found.methods) == ["RungeKutta4(dt=0.001)", "ExplicitEuler(dt=0.001)"]
    for given, told in (
        (["rk4", "rk5"], "no method 'rk5'; did you mean 'rk4'"),
        ("rk4", r"methods is 'rk4'; a list of methods is needed, like .* or \["),
        ([nx.HHT, nx.HHT()], r"method is the class HHT; give one made of it, like nx.HHT\(\)"),
        ([5], "a list of methods is needed"),
    ):
        with pytest.raises(nx.InputError, match=told):
            nx.compare(chain(), given, 0.01)  # type: ignore[arg-type]


def test_an_element_may_be_given_to_a_result_and_what_is_no_name_is_refused(result: nx.Result) -> None:
    body, joint = result.system.bodies["link1"], result.system.joints["hinge1"]
    np.testing.assert_array_equal(result.position(body), result.position("link1"))  # type: ignore[arg-type]
    np.testing.assert_array_equal(result.joint_position(joint), result.joint_position("hinge1"))  # type: ignore[arg-type]
    np.testing.assert_array_equal(result.reaction(joint), result.reaction("hinge1"))  # type: ignore[arg-type]
    asks: tuple[Callable[[Any], Any], ...] = (
        result.position, result.velocity, result.joint_position, result.reaction, result.measure, result.force,
    )  # fmt: skip
    for ask in asks:
        for given in (5, ["link1", "link2"]):
            with pytest.raises(nx.InputError, match=r"is no name; that of one .* is needed"):
                ask(given)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_may_be_given_by_its_name(name: str) -> None:
    method = method_of(name)
    assert type(method) is METHODS[name]
    assert getattr(method, "dt", None) in (None, 1e-3)


def test_simulate_takes_the_name_of_a_method() -> None:
    result = nx.simulate(chain(), 0.01, "rk4")
    assert result.recording.method == "RungeKutta4(dt=0.001)"


MADE_BY_ANALYSES = (
    "AgainstPeer", "Agreement", "BatchResult", "Calibration", "Comparison", "Efforts", "Equilibrium", "Integrability",
    "Linearization", "Mode", "Posture", "Recording", "Result", "Sensitivity", "SparseLinearization", "StabilitySweep",
    "Verification",
)  # fmt: skip
"""Results, which nobody makes by hand: a function of the public face returns them."""


def called_by_users() -> list[str]:
    """What a user calls of the public face: all but exceptions and results."""

    def error(name: str) -> bool:
        value = getattr(nx, name)
        return isinstance(value, type) and issubclass(value, Exception)

    return [name for name in nx.__all__ if not error(name) and name not in MADE_BY_ANALYSES]


@pytest.mark.parametrize("name", called_by_users())
def test_every_function_and_class_names_an_argument_it_has_not(name: str) -> None:
    with pytest.raises(nx.InputError, match="has no argument 'nonsense'"):
        getattr(nx, name)(nonsense=1)


def takes_options_for_simulate(name: str) -> bool:
    """Whether a function passes its options on to `simulate`, which names a wrong one once it is called."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(getattr(nx, name)).parameters.values())


@pytest.mark.parametrize("name", [name for name in called_by_users() if not takes_options_for_simulate(name)])
def test_a_wrong_argument_is_named_beside_all_that_must_be_given(name: str) -> None:
    parameters = inspect.signature(getattr(nx, name)).parameters.values()
    needed = {p.name: None for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL}
    with pytest.raises(nx.InputError, match="has no argument 'nonsense'"):
        getattr(nx, name)(**needed, nonsense=1)


def test_no_class_takes_options_that_help_does_not_list() -> None:
    passed_on = {name for name in called_by_users() if takes_options_for_simulate(name)}
    assert not {name for name in passed_on if isinstance(getattr(nx, name), type)}


@pytest.mark.parametrize("name", called_by_users())
def test_every_function_and_class_refuses_too_many_arguments_by_name(name: str) -> None:
    with pytest.raises(nx.InputError, match=rf"{name}: too many positional arguments; "):
        getattr(nx, name)(*[None] * 40)


@pytest.mark.parametrize("name", called_by_users())
def test_every_function_and_class_shows_its_arguments_to_help_and_editors(name: str) -> None:
    assert "given" not in inspect.signature(getattr(nx, name)).parameters


def _public_classes() -> dict[str, type]:
    """The classes of the public face, and those of what its functions return; errors and tuples, which have no methods, left out."""
    classes = {name: x for name in nx.__all__ if inspect.isclass(x := getattr(nx, name))}
    for name in nx.__all__:
        f = inspect.unwrap(getattr(nx, name))
        if inspect.isfunction(f):
            found = vars(inspect.getmodule(f)) | vars(nx.results) | vars(nx.assembly)
            for word in re.findall(r"\w+", str(inspect.signature(f).return_annotation)):
                if inspect.isclass(found.get(word)) and found[word].__module__.startswith("nexdyn."):
                    classes[word] = found[word]
    return {name: cls for name, cls in classes.items() if not issubclass(cls, BaseException | tuple)}


def test_a_wrong_argument_of_any_method_of_the_public_face_is_named() -> None:
    classes, tried = _public_classes(), 0
    assert {
        "Result",
        "AssemblyReport",
        "Tree",
        "ClosedTree",
        "BatchResult",
        "Session",
        "System",
        "Linearization",
    } <= classes.keys()
    for cls in classes.values():
        for name, x in inspect.getmembers(cls):
            method = x if inspect.isfunction(x) or inspect.ismethod(x) else None
            if name[0] == "_" or method is None or not method.__module__.startswith("nexdyn."):
                continue
            if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(method).parameters.values()):
                continue
            bound = (
                ()
                if inspect.ismethod(x) or isinstance(inspect.getattr_static(cls, name), staticmethod)
                else (object.__new__(cls),)
            )
            tried += 1
            with pytest.raises(nx.InputError, match=rf"{name}.* has no argument 'nonsense'"):
                method(*bound, nonsense=1)
    assert tried > 300

"""Rigid models of Exudyn's own test suite.

Parameters and curves are kept in `data/exudyn`: what the models of `main/pythonDev/TestModels` in github.com/jgerstmayr/EXUDYN
describe, and the motion that Exudyn 1.11.0 computes of them. Each model reproduced the value that its test suite publishes. Curves are of
all bodies that move: position and velocity of the origin, angular velocity, in the world. Objects that are not supported and act on no
other body are left out, which each case says.

    own error = |x(h) − x(h/64)| of each quantity, scaled as distances are        of Exudyn, at its own step h
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.problems.against import exudyn_live
from nexdyn.problems.against.case import Case, Curves, Reference, Scene
from nexdyn.problems.against.exudyn_items import Builder
from nexdyn.problems.against.exudyn_tree import tree_of
from nexdyn.problems.against.formulations import LIMIT, closed, free, rk4, rolling
from nexdyn.problems.against.kept import DATA, kept
from nexdyn.problems.problem import Run
from nexdyn.results.result import Result

SOURCE = "Exudyn 1.11.0; github.com/jgerstmayr/EXUDYN, main/pythonDev/TestModels"


@dataclass(frozen=True)
class Model:
    """A model of the suite: its file, what it is, of what kind ("tree", "loop", "rolling"), our step, our tolerance of trees.

    left_out: objects that are not supported and act on no other body. loose: joints whose rate follows from the others. without: words of
    formulations that do not support it.
    """

    file: str
    title: str
    kind: str = "tree"
    dt: float = 5e-4
    rtol: float = 1e-10
    left_out: frozenset[int] = frozenset()
    loose: frozenset[int] = frozenset()
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.file).stem


def parameters(name: str) -> Mapping[str, Any]:
    """The parameters of a model's items."""
    found: Mapping[str, Any] = json.loads((DATA / "exudyn" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def describe(model: Model) -> System:
    """Our description of a model."""
    items = parameters(model.name)["items"]
    trees = {i for i, o in enumerate(items["objects"]) if o["objectType"] == "KinematicTree"} - model.left_out
    if trees:
        return tree_of(model.name, items, min(trees) if len(trees) == 1 else None)
    return Builder(model.name, items, model.left_out, model.loose).build()


def observe(result: Result) -> Curves:
    """Motion of all bodies, and coordinates of what moves in one dimension."""
    curves: dict[str, np.ndarray] = {}
    for body in result.system.bodies:
        if body.startswith(("RigidBody", "MassPoint")):
            curves[f"{body} position"] = result.position(body).values
            curves[f"{body} velocity"] = result.velocity(body).values
            curves[f"{body} angular velocity"] = result.angular_velocity(body).values
    trees: dict[str, list[str]] = {}
    for joint in result.system.joints:
        word, _, number = joint.partition(" ")
        if word == "axis" and " " in number:
            trees.setdefault(number.split()[0], []).append(joint)
        elif word == "axis":
            turns = result.system.joint(joint).kind == "revolute"
            names = ("angle", "angular velocity") if turns else ("slide position", "slide velocity")
            for name, values in zip(names, (result.joint_position(joint), result.joint_velocity(joint)), strict=True):
                curves[f"{joint} {name}"] = values.values.reshape(len(result.t), 1)
    for number, joints in trees.items():
        curves[f"tree {number} coordinates"] = np.column_stack([result.joint_position(j).values for j in joints])
        curves[f"tree {number} rates"] = np.column_stack([result.joint_velocity(j).values for j in joints])
    return curves


def runs_of(model: Model) -> tuple[Run, ...]:
    """The formulations that support a model."""
    kinds: Mapping[str, Callable[[float], tuple[Run, ...]]] = {
        "tree": partial(free, rtol=model.rtol),
        "loop": closed,
        "rolling": rolling,
    }
    runs = (*kinds[model.kind](model.dt), *rk4(model.dt))
    return tuple(run for run in runs if not any(word in run.formulation for word in model.without))


def case_of(model: Model) -> Case:
    """A case with the kept curves, or those that Exudyn computes now."""
    runs = runs_of(model)
    read = partial(reference, model)
    return Case(
        model.name,
        model.title,
        f"{SOURCE}, {model.file}",
        read,
        (Scene(partial(describe, model), runs),),
        observe,
        LIMIT,
        runs[0],
    )


def reference(model: Model, folder: Path | None) -> Reference:
    """The kept curves; with a copy of the repository, those that Exudyn computes of the model there."""
    if folder is None:
        return kept("exudyn", model.name)
    return exudyn_live.reference(model.file, folder, model.left_out)


MINI = "MiniExamples/Object"
HEAVY = ("constraint forces",)
"""Masses are too far apart for the constraint force algorithm."""
LONG = "bdf2"
"""After 145 revolutions BDF2 is within LIMIT with 2.5 million steps, which take longer than all the rest."""
MODELS = (
    Model("MiniExamples/LoadMassProportional.py", "falling point mass"),
    Model(f"{MINI}ConnectorCartesianSpringDamper.py", "point mass on springs along the axes"),
    Model(f"{MINI}ConnectorCoordinate.py", "point mass, one coordinate driven", "loop"),
    Model(f"{MINI}ConnectorCoordinateSpringDamper.py", "point mass on a cubic spring"),
    Model(f"{MINI}ConnectorDistance.py", "point mass at a constant distance", "loop"),
    Model(f"{MINI}ConnectorGravity.py", "two masses that attract each other", without=HEAVY),
    Model(f"{MINI}ConnectorLinearSpringDamper.py", "body on a slide with spring and damper"),
    Model(f"{MINI}ConnectorRigidBodySpringDamper.py", "body on a bushing without stiffness in rotation"),
    Model(f"{MINI}ConnectorSpringDamper.py", "point mass on a spring and damper"),
    Model(f"{MINI}ConnectorTorsionalSpringDamper.py", "body on a hinge with spring and damper"),
    Model(f"{MINI}JointRevoluteZ.py", "body on a hinge under a torque"),
    Model(f"{MINI}KinematicTree.py", "pendulum as a kinematic tree"),
    Model(f"{MINI}Mass1D.py", "mass in one dimension"),
    Model(f"{MINI}MassPoint.py", "point mass that moves on"),
    Model(f"{MINI}MassPoint2D.py", "point mass in a plane"),
    Model(f"{MINI}RigidBody2D.py", "body in a plane that moves on"),
    Model(f"{MINI}RotationalMass1D.py", "rotor that turns on"),
    Model("bricardMechanism.py", "Bricard's mechanism", "loop"),
    Model("compareFullModifiedNewton.py", "planar pendulum at long steps"),
    Model("createKinematicTreeTest.py", "two links, controlled", dt=2.5e-4, left_out=frozenset({4})),
    Model("deleteItemsTest.py", "two point masses on rods", "loop"),
    Model("heavyTop.py", "heavy top at 150 rad/s", dt=2e-5),
    Model("jointArgsTest.py", "four bodies on hinges"),
    Model("kinematicTreeTest.py", "five links with turned axes as a kinematic tree"),
    Model("rigidBody2Dtest.py", "bodies in the plane on springs"),
    Model("rigidBodyAsUserFunctionTest.py", "falling body that spins", left_out=frozenset({2, 3})),
    Model("rigidBodyCOMtest.py", "chain of bodies with centres of mass off their origins", "loop"),
    Model("rollingCoinTest.py", "rolling coin", "rolling"),
    Model("sphericalJointTest.py", "chain of four bodies on balls", "loop"),
    Model("stiffFlyballGovernor.py", "flyball governor on stiff springs", dt=5e-5),
    Model("symbolicUserFunctionTest.py", "point mass on a spring of fractional power"),
    Model("springDamperUserFunctionTest.py", "point mass on a cubic spring under a swept sine", dt=1.25e-4),
    Model(
        "connectorGravityTest.py",
        "planet and satellites that attract each other",
        dt=3.125,
        rtol=1e-12,
        without=(*HEAVY, LONG),
    ),
    Model(
        "explicitLieGroupIntegratorTest.py", "spinning body under a force, by the explicit midpoint rule", dt=3.125e-5
    ),
    Model("velocityVerletTest.py", "point mass on a spring"),
)
CASES = {model.name: case_of(model) for model in MODELS}

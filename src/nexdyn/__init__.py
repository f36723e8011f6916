"""NexDyn: assemble, check and simulate multibody systems.

    import nexdyn as nx

    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    rod = system.add_body("rod", mass=1.0, inertia=(0.083, 0.083, 0.001), position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), q0=0.5))
    result = nx.simulate(system, t_end=3.0, method=nx.RungeKutta4(dt=1e-3))

Every name below is imported when it is first used, so that `import nexdyn` is cheap.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nexdyn.integrate.pairs import PAGES
from nexdyn.shown import drawn_by

__version__ = "0.1.0"

_HOMES = {
    "nexdyn.errors": (
        "AssemblyError", "FileError", "InputError", "NexDynError", "NexDynWarning", "SingularError", "SolveError", "UnknownNameError",
    ),
    "nexdyn.model.system": ("System",),
    "nexdyn.model.body": ("Body",),
    "nexdyn.model.joint": ("Joint", "Mimic"),
    "nexdyn.model.coupling": ("Coupling", "Gear", "RackAndPinion"),
    "nexdyn.model.curves": ("ExpressionCurve", "SplineCurve", "UserCurve"),
    "nexdyn.model.surfaces": (
        "CylinderSurface", "EllipsoidSurface", "ImplicitSurface", "ParametricSurface", "PlaneSurface", "SphereSurface",
        "TorusSurface",
    ),
    "nexdyn.model.driver": ("Driver", "OrientationDriver", "PointDriver"),
    "nexdyn.model.event": ("Event",),
    "nexdyn.model.marker": ("Marker",),
    "nexdyn.model.force": ("Force",),
    "nexdyn.model.materials": ("Material", "materials"),
    "nexdyn.model.parameters": ("Parameter",),
    "nexdyn.model.shapes": (
        "Box", "Capsule", "Cone", "Cylinder", "Ellipsoid", "HalfSpace", "HeightField", "Hull", "Mesh", "Sphere",
    ),
    "nexdyn.model.measure": (
        "Angle", "Direction", "Displacement", "Distance", "Measure", "PointPosition", "PointVelocity",
    ),
    "nexdyn.model.functions": (
        "Constant", "Harmonic", "Linear", "Polynomial", "Step5", "StepChange", "Table", "TimeExpression", "UserFunction",
    ),
    "nexdyn.joints": (
        "Cartesian", "Clamp", "Cylindrical", "Fixed", "Free", "GeneralJoint", "Helical", "KnifeEdge", "Parallel", "Perpendicular",
        "Planar", "PointOnCurve", "PointOnLine", "PointOnPlane", "PointOnSurface", "Prismatic", "Revolute", "RevolutePrismatic",
        "RevoluteSpherical", "Rod", "RollingDisk",
        "RollingSphere", "Spherical", "Universal", "UserConstraint", "VelocityConstraint", "add_rotor",
    ),
    "nexdyn.forces": (
        "AppliedForce", "Bushing", "Contact", "Controller", "ForceTable", "Gravity", "GravityField", "JointForce", "JointFriction",
        "JointStop", "PlaneContact", "SphereContact", "PointGravity", "PointSpring", "PositionActuator", "TorqueActuator", "TorsionSpring",
        "UserForce", "UserJointForce", "VelocityActuator",
    ),
    "nexdyn.integrate.methods": (
        "Baumgarte", "ExplicitEuler", "HHT", "ImplicitEuler", "IndexOne", "Loops", "Partitioning",
        "Projection", "RungeKutta4", "SemiImplicitEuler",
    ),
    **{f"nexdyn.integrate.pairs.{page}": (method,) for page, method in PAGES.values()},
    "nexdyn.pages": ("EffortPage", "ForcePage", "JointPage", "register"),
    "nexdyn.tree.loops.closed": ("ClosedTree",),
    "nexdyn.tree.tree": ("Tree",),
    "nexdyn.front": ("simulate",),
    "nexdyn.simulation.marches.tree": ("Simulation",),
    "nexdyn.simulation.session": ("Session",),
    "nexdyn.assembly.assemble": ("assemble",),
    "nexdyn.studies.calibration": ("Calibration", "Combination", "calibrate"),
    "nexdyn.batch.members": ("Batch",),
    "nexdyn.studies.agreement": ("Agreement", "agreement"),
    "nexdyn.simulation.kinematics": ("kinematics",),
    "nexdyn.studies.compare": ("Comparison", "compare"),
    "nexdyn.studies.sensitivities": ("Sensitivity", "sensitivity"),
    "nexdyn.geometry.convex_parts": ("convex_parts",),
    "nexdyn.statics.distance": ("Separation", "clearance", "distance"),
    "nexdyn.statics.interferences": ("Interference", "Interferences", "interferences"),
    "nexdyn.statics.mass_properties": ("MassProperties", "mass_properties"),
    "nexdyn.statics.equilibrium": ("Equilibrium", "equilibrium"),
    "nexdyn.statics.inverse_dynamics": ("Efforts", "inverse_dynamics"),
    "nexdyn.statics.inverse_kinematics": ("Posture", "inverse_kinematics"),
    "nexdyn.studies.sweep": ("sweep",),
    "nexdyn.statics.hertz": ("HertzLine", "HertzPoint", "hertz", "hertz_line"),
    "nexdyn.statics.integrable": ("Integrability", "integrable"),
    "nexdyn.statics.linearize": ("Linearization", "linearize"),
    "nexdyn.statics.sparse_linearize": ("SparseLinearization",),
    "nexdyn.statics.modes": ("Mode",),
    "nexdyn.statics.stability": ("StabilitySweep", "stability"),
    "nexdyn.results.result": ("Result", "open_result"),
    "nexdyn.results.batch": ("BatchResult",),
    "nexdyn.io.loader": ("demos", "load"),
    "nexdyn.io.scene": ("save_scene",),
    "nexdyn.view.shot": ("Shot",),
    "nexdyn.view.stills": ("save_still", "save_video"),
    "nexdyn.io.urdf_writer": ("save_urdf",),
    "nexdyn.problems.verify": ("Verification", "verify"),
    "nexdyn.problems.against.verify": ("AgainstPeer", "verify_against"),
    "nexdyn.view": ("view",),
    "nexdyn.view.viewer": ("Viewer",),
    "nexdyn.view.recording": ("Recording", "record"),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def _of_view(page: str, name: str) -> Callable[..., Any]:
    """A function of `nexdyn.view`, imported when it is first called."""

    def draw(*arguments: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(f"{__name__}.view.{page}"), name)(*arguments, **options)

    return draw


drawn_by(
    system=_of_view("notebook", "system_html"),
    report=_of_view("notebook", "report_html"),
    result=_of_view("notebook", "result_html"),
    plot=_of_view("plots", "plot"),
    differences=_of_view("differences", "plot"),
)


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        if "numba" in sys.modules:  # and kernels may be compiled from now on
            importlib.import_module("nexdyn.assembly.compile_notice").announce_compiling()
        return value
    from nexdyn.errors import nearest

    near = None if name.startswith("_") else nearest(name, __all__, cutoff=0.6)
    hint = f"; did you mean {near!r}?" if near else ""
    message = f"module 'nexdyn' has no attribute {name!r}{hint}"
    raise AttributeError(message, name=name, obj=None)  # with obj Python adds its own hint


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if TYPE_CHECKING:
    from nexdyn.assembly.assemble import assemble
    from nexdyn.batch.members import Batch
    from nexdyn.errors import (
        AssemblyError,
        FileError,
        InputError,
        NexDynError,
        NexDynWarning,
        SingularError,
        SolveError,
        UnknownNameError,
    )
    from nexdyn.forces import (
        AppliedForce,
        Bushing,
        Contact,
        Controller,
        ForceTable,
        Gravity,
        GravityField,
        JointForce,
        JointFriction,
        JointStop,
        PlaneContact,
        PointGravity,
        PointSpring,
        PositionActuator,
        SphereContact,
        TorqueActuator,
        TorsionSpring,
        UserForce,
        UserJointForce,
        VelocityActuator,
    )
    from nexdyn.front import simulate
    from nexdyn.geometry.convex_parts import convex_parts
    from nexdyn.integrate.methods import (
        HHT,
        Baumgarte,
        ExplicitEuler,
        ImplicitEuler,
        IndexOne,
        Loops,
        Partitioning,
        Projection,
        RungeKutta4,
        SemiImplicitEuler,
    )
    from nexdyn.integrate.pairs.bogacki_shampine import BogackiShampine32
    from nexdyn.integrate.pairs.dop853 import DOP853
    from nexdyn.integrate.pairs.dormand_prince import DormandPrince
    from nexdyn.io.loader import demos, load
    from nexdyn.io.scene import save_scene
    from nexdyn.io.urdf_writer import save_urdf
    from nexdyn.joints import (
        Cartesian,
        Cylindrical,
        Fixed,
        Free,
        GeneralJoint,
        Helical,
        KnifeEdge,
        Parallel,
        Perpendicular,
        Planar,
        PointOnCurve,
        PointOnLine,
        PointOnPlane,
        PointOnSurface,
        Prismatic,
        Revolute,
        RevolutePrismatic,
        RevoluteSpherical,
        Rod,
        RollingDisk,
        RollingSphere,
        Spherical,
        Universal,
        UserConstraint,
        VelocityConstraint,
        add_rotor,
    )
    from nexdyn.model.body import Body
    from nexdyn.model.coupling import Coupling, Gear, RackAndPinion
    from nexdyn.model.curves import ExpressionCurve, SplineCurve, UserCurve
    from nexdyn.model.driver import Driver, OrientationDriver, PointDriver
    from nexdyn.model.event import Event
    from nexdyn.model.force import Force
    from nexdyn.model.functions import (
        Constant,
        Harmonic,
        Linear,
        Polynomial,
        Step5,
        StepChange,
        Table,
        TimeExpression,
        UserFunction,
    )
    from nexdyn.model.joint import Joint, Mimic
    from nexdyn.model.marker import Marker
    from nexdyn.model.materials import Material, materials
    from nexdyn.model.measure import (
        Angle,
        Direction,
        Displacement,
        Distance,
        Measure,
        PointPosition,
        PointVelocity,
    )
    from nexdyn.model.parameters import Parameter
    from nexdyn.model.shapes import (
        Box,
        Capsule,
        Cone,
        Cylinder,
        Ellipsoid,
        HalfSpace,
        HeightField,
        Hull,
        Mesh,
        Sphere,
    )
    from nexdyn.model.surfaces import (
        CylinderSurface,
        EllipsoidSurface,
        ImplicitSurface,
        ParametricSurface,
        PlaneSurface,
        SphereSurface,
        TorusSurface,
    )
    from nexdyn.model.system import System
    from nexdyn.pages import EffortPage, ForcePage, JointPage, register
    from nexdyn.problems.against.verify import AgainstPeer, verify_against
    from nexdyn.problems.verify import Verification, verify
    from nexdyn.results.batch import BatchResult
    from nexdyn.results.result import Result, open_result
    from nexdyn.simulation.kinematics import kinematics
    from nexdyn.simulation.marches.tree import Simulation
    from nexdyn.statics.distance import Separation, clearance, distance
    from nexdyn.statics.equilibrium import Equilibrium, equilibrium
    from nexdyn.statics.hertz import HertzLine, HertzPoint, hertz, hertz_line
    from nexdyn.statics.integrable import Integrability, integrable
    from nexdyn.statics.interferences import Interference, Interferences, interferences
    from nexdyn.statics.inverse_dynamics import Efforts, inverse_dynamics
    from nexdyn.statics.inverse_kinematics import Posture, inverse_kinematics
    from nexdyn.statics.linearize import Linearization, linearize
    from nexdyn.statics.mass_properties import MassProperties, mass_properties
    from nexdyn.statics.modes import Mode
    from nexdyn.statics.sparse_linearize import SparseLinearization
    from nexdyn.statics.stability import StabilitySweep, stability
    from nexdyn.studies.agreement import Agreement, agreement
    from nexdyn.studies.calibration import Calibration, Combination, calibrate
    from nexdyn.studies.compare import Comparison, compare
    from nexdyn.studies.sensitivities import Sensitivity, sensitivity
    from nexdyn.studies.sweep import sweep
    from nexdyn.tree.loops.closed import ClosedTree
    from nexdyn.tree.tree import Tree
    from nexdyn.view.recording import Recording, record
    from nexdyn.view.shot import Shot
    from nexdyn.view.stills import save_still, save_video
    from nexdyn.view.viewer import Viewer, view

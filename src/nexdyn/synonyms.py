"""What users of other tools call the things that NexDyn has, for hints: a wrong name gets the right one.

Names are compared without case, "-", "_" and spaces. A value is a name of the public face; the same thing in a scene or on the
command line carries its `kind` or `name`, and is found by that.
"""

from __future__ import annotations

_TABLE = {
    # joints
    "Revolute": "hinge hingejoint revolutejoint pin pinjoint rotational rotationaljoint turning turn",
    "Prismatic": "slider sliderjoint prismaticjoint translational translationaljoint linearjoint slide sliding",
    "Spherical": "ball balljoint ballandsocket sphericaljoint socket",
    "Universal": "cardan hooke hookejoint cardanjoint universaljoint ujoint",
    "Helical": "screw screwjoint helicaljoint",
    "Fixed": "weld weldjoint fixedjoint rigid rigidjoint bracket",
    "Free": "freejoint floating floatingbase floatingjoint sixdof 6dof bushingjoint",
    "Planar": "planarjoint",
    "Cylindrical": "cylindricaljoint",
    "Cartesian": "cartesianjoint translation3d",
    "Rod": "distanceconstraint distancejoint rigidlink universalspherical sphericalspherical compositelink",
    "Clamp": "brake clutch gripper latch lock lockjoint switchedjoint activejoint equality weldable",
    "GeneralJoint": "genericjoint generic generaljointlock linklock sixdofjoint",
    "RevoluteSpherical": "revolutesphericaljoint revsph",
    "RevolutePrismatic": "revolutetranslational revoluteprismaticjoint prismaticrevolute pinslot pininslot slot",
    # methods
    "RungeKutta4": "rk rk4 rungekutta explicitmidpoint44",
    "DormandPrince": "rk45 dopri dopri45 dormandprince45 ode45 solveivp rkdp",
    "BogackiShampine32": "rk23 bs23 bs3 ode23 bogackishampine bogackishampine23",
    "DOP853": "dopri8 dopri853 rk8 ode78 ode89 rk87 dormandprince853",
    "ExplicitEuler": "forwardeuler",
    "SemiImplicitEuler": "symplecticeuler semiimplicit",
    "HHT": "generalizedalpha newmark hilberhughestaylor alpha dae index3 gstiff i3",
    "ImplicitEuler": "backwardeuler bdf bdf1 bdf2 incrementalpotential",
    # forces
    "PointSpring": "damper dashpot spring springdamper tsda translationalspring translationalspringdamper linkedspring linearspring",
    "TorsionSpring": "rsda rotationalspring torsionalspring torsionspringdamper rotationalspringdamper",
    "Bushing": "rigidbodyspringdamper cartesianspringdamper bushingelement field bushingforce sixdofspring",
    "Contact": "contactpair generalcontact collision collisionpair",
    "PlaneContact": "groundcontact",
    "SphereContact": "balljointclearance ballcontact",
    "PointGravity": "newtoniangravity centralgravity gravitation inversesquare",
    "GravityField": "gravityfunction",
    "Gravity": "gravityonall gravitygroup pointgravityonall",
    "AppliedForce": "pointforce wrench pointload",
    "JointForce": "motor torque jointtorque loadjoint generalizedforce jointload",
    "JointStop": "bumpstop limitstop endstop",
    "JointFriction": "lugre stiction coulombfriction drag",
    # couplings, drivers, measures
    "Gear": "gearbox gearjoint coupler transmission",
    "OrientationDriver": "orientationmotion angledriver attitudedriver",
    "Driver": "motion jointmotion prescribedmotion actuatedjoint coordinatedriver",
    # systems, bodies, shapes
    "System": "model world multibodysystem multibodyplant maincontainer mbs plant assemblymodel mechanism",
    "Body": "link rigidbody objectrigidbody part",
    "Sphere": "ball spheregeometry",
    "Box": "cube cuboid brick block",
    "Mesh": "trimesh trianglemesh stl obj",
    "HalfSpace": "plane ground floor",
    "HeightField": "hfield heightmap terrain",
    # analyses
    "load": "loadscene loadmodel loadurdf loadxml loadmjcf fromurdf fromxmlpath urdf read readurdf open parse import",
    "open_result": "loadresult readresult",
    "simulate": "solve run integrate simulatedynamics step",
    "assemble": "initialpositions kinematicassembly closeloops",
    "equilibrium": "statics static staticanalysis computestaticequilibrium",
    "linearize": "eigen eigenvalues modes modal computelinearizedsystem",
    "inverse_dynamics": "rnea",
    "view": "show visualize visualizer render solutionviewer",
    "record": "animate animation",
    "save_video": "video movie",
    "save_still": "screenshot picture image",
}


def plain(name: object) -> str:
    """A name as it is compared."""
    return "".join(character for character in str(name).casefold() if character not in "-_ ")


_MEANT: dict[str, list[str]] = {}
"""What a word may stand for, the first that is valid; things themselves come before what they are called elsewhere."""
for _name in _TABLE:
    _MEANT[plain(_name)] = [_name]
for _name, _words in _TABLE.items():
    for _word in _words.split():
        _MEANT.setdefault(_word, []).append(_name)


def meant(name: object, valid: list[str]) -> str | None:
    """The valid name that `name` stands for elsewhere; None where there is none."""
    targets = _MEANT.get(plain(name))
    if targets is None:
        return None
    named = {plain(known): known for known in reversed(valid)}
    return next((known for target in targets if (known := _among(target, named)) is not None), None)


def words_for(valid: list[str]) -> dict[str, str]:
    """What other tools call valid names, where that is a word with letters enough to be spelt wrong: the name of each word."""
    found: dict[str, str] = {}
    named = {plain(known): known for known in reversed(valid)}
    for target, words in _TABLE.items():
        if (known := _among(target, named)) is not None:
            found |= dict.fromkeys((word for word in words.split() if len(word) > 4), known)
    return found


def _among(target: str, named: dict[str, str]) -> str | None:
    """Of names by how they are compared, that of a target of `_TABLE`."""
    return next((named[word] for word in (plain(target), *_SHORT.get(target, ())) if word in named), None)


_SHORT = {
    "RungeKutta4": ("rk4",), "ExplicitEuler": ("euler",), "SemiImplicitEuler": ("semiimplicit",), "DormandPrince": ("dopri5",),
    "BogackiShampine32": ("bs32",), "Driver": ("jointdriver",), "JointDriver": ("driver",),
}  # fmt: skip
"""What else the same thing is called in scenes and on the command line, beyond its name in words."""

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
    "PointSpring": "spring springdamper tsda translationalspring translationalspringdamper linkedspring linearspring",
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
}


def plain(name: object) -> str:
    """A name as it is compared."""
    return "".join(character for character in str(name).casefold() if character not in "-_ ")


_MEANT = {plain(name): name for name in _TABLE} | {
    word: name for name, words in _TABLE.items() for word in words.split()
}


def meant(name: object, valid: list[str]) -> str | None:
    """The valid name that `name` stands for elsewhere; None where there is none."""
    target = _MEANT.get(plain(name))
    if target is None:
        return None
    wanted = {plain(target), *_SHORT.get(target, ())}
    return next((known for known in valid if plain(known) in wanted), None)


_SHORT = {
    "RungeKutta4": ("rk4",), "ExplicitEuler": ("euler",), "SemiImplicitEuler": ("semiimplicit",), "DormandPrince": ("dopri5",),
    "BogackiShampine32": ("bs32",), "Driver": ("jointdriver",), "JointDriver": ("driver",),
}  # fmt: skip
"""What else the same thing is called in scenes and on the command line, beyond its name in words."""

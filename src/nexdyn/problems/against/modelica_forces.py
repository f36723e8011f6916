"""More examples of ModelicaTest and of Modelica's MultiBody library: forces, and closed loops. See `modelica_models`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nexdyn.joints import Revolute, Spherical
from nexdyn.problems.against.modelica_models import EXAMPLE_LOOPS, MODELS, QUARTER, TEST, model
from nexdyn.problems.against.modelica_parts import Frame, Parts, Vector, turned

__all__ = ["MODELS"]

# --- ModelicaTest: forces -------------------------------------------------------------------------------------------

SIDE = turned((0, 0, 1), 45)


def arm(m: Parts, height: float, *hinges: tuple[str, Vector]) -> Frame:
    """The end of a cylinder of 1 m on hinges in a row."""
    frame = m.fixed(m.world, (0, height, 0))
    for name, n in hinges:
        frame = m.revolute(name, frame, n)
    return m.cylinder(frame, (1, 0, 0))


Y, Z = (0, 1, 0), (0, 0, 1)


@model(f"{TEST}/Forces/Force", "forces on cylinders on two hinges")
def force() -> Parts:
    m = Parts("Force")
    m.load("force1", arm(m, 0.5, ("Revolute3", Z), ("Revolute1", Y)), (0, 500, 0), within="body")
    m.load("force2", arm(m, -0.5, ("Revolute4", Z), ("Revolute2", Y)), SIDE @ (0, 500, 0))
    return m


@model(f"{TEST}/Forces/ForcesAndTorques", "forces and torques on cylinders on two hinges")
def forces_and_torques() -> Parts:
    m = Parts("ForcesAndTorques")
    m.load("load1", arm(m, 0.5, ("Revolute3", Z), ("Revolute1", Y)), (0, 500, 0), (-100, 100, 0), "body")
    m.load("load2", arm(m, -0.5, ("Revolute4", Z), ("Revolute2", Y)), SIDE @ (0, 500, 0), SIDE @ (-100, 100, 0))
    return m


@model(f"{TEST}/Forces/FrameForces", "forces on cylinders on a hinge")
def frame_forces() -> Parts:
    m = Parts("FrameForces")
    m.load("force1", arm(m, 0.5, ("Revolute1", Z)), (0, 500, 0), within="body")
    m.load("force2", arm(m, -0.5, ("Revolute2", Z)), SIDE @ (0, 500, 0))
    return m


@model(f"{TEST}/Forces/WorldForces", "force, torque and both, in world axes")
def world_forces() -> Parts:
    m = Parts("WorldForces")
    m.load("force", arm(m, 0.5, ("Revolute1", Z)), (0, 500, 0))
    m.load("torque", arm(m, -0.5, ("Revolute2", Y)), torque=(100, 100, 100))
    m.load("both", arm(m, -1.0, ("Revolute3", Z), ("Revolute4", Y)), (0, 500, 0), (100, 100, 100))
    return m


@model(f"{TEST}/Forces/WorldForces2", "constant and sinusoidal forces")
def world_forces2() -> Parts:
    m = Parts("WorldForces2")
    for i in (1, 2):
        m.load(f"force{i}", arm(m, 0.5, (f"Revolute{i}", Z)), (0, 500, 0))
    m.load("force3", arm(m, 0.5, ("Revolute3", Z)), (0, "=500*sin(2*pi*t/0.403)", 0), within="body")
    return m


@model(f"{TEST}/Forces/WorldTorques", "constant and sinusoidal torques")
def world_torques() -> Parts:
    m = Parts("WorldTorques")
    for i in (1, 2):
        m.load(f"torque{i}", arm(m, -0.5, (f"Revolute{i}", Y)), torque=(100, 100, 100))
    m.load("torque3", arm(m, 0.5, ("Revolute3", Y)), torque=("=100*sin(10*pi*t)",) * 3, within="body")
    return m


@model(f"{TEST}/Forces/WorldForceAndTorque", "force and torque in world and in body axes")
def world_force_and_torque() -> Parts:
    m = Parts("WorldForceAndTorque")
    for first, second, axes in (
        ("Revolute3", "Revolute4", "world"),
        ("Revolute1", "Revolute2", "world"),
        ("Revolute5", "Revolute6", "body"),
    ):
        m.load(f"load {first}", arm(m, -1.0, (first, Z), (second, Y)), (0, 500, 0), (100, 100, 100), axes)
    return m


@model(f"{TEST}/Forces/Spring2", "free bodies on springs")
def spring2() -> Parts:
    m = Parts("Spring2")
    anchors = {"body": m.fixed(m.world, (1, 0, 0)), "body1": m.world}
    starts = {
        "body": ((1, -1, -0.4), (0, 0, 0), (0.001,) * 3),
        "body1": ((-0.1, -0.2, -0.15), (1, 0.4, 0.5), (1, 0.3, 0.5)),
    }
    for name, (r, v, inertia) in starts.items():
        frame = m.free(f"link {name}", r, v)
        m.body(frame, 1.0, inertia=inertia)
        m.spring(f"spring {name}", anchors[name], frame, 10.0, 0.1)
        m.watch(name, frame)
    return m


@model(f"{TEST}/Forces/Spring", "slide on a spring")
def spring() -> Parts:
    m = Parts("Spring")
    body = m.body(m.prismatic("prismatic", m.world, (0, 1, 0), -1.0), 1.0)
    m.spring("spring", m.world, body, 10.0, 0.1)
    return m


@model(f"{TEST}/Forces/Damper", "slides on dampers under a sinusoidal force")
def damper() -> Parts:
    m = Parts("Damper")
    for name in ("prismatic", "prismatic1"):
        body = m.body(m.prismatic(name, m.world, s=0.5, v=-0.1), 5.0)
        m.spring(f"damper of {name}", m.world, body, d=10.0)
        m.load(f"force of {name}", body, ("=50*sin(4*pi*t)", 0, 0))
    return m


@model(f"{TEST}/Forces/SpringDamperParallel", "spherical pendulum on a spring and damper")
def spring_damper_parallel() -> Parts:
    m = Parts("SpringDamperParallel")
    cross = m.universal("universal", m.world, phi=(0, QUARTER))
    body = m.body(m.prismatic("prismatic", cross, s=0.1, v=0.1), 5.0, inertia=(0, 0, 0))
    m.spring("spring", m.world, body, 100.0, 0.2, 10.0)
    return m


# --- loops ----------------------------------------------------------------------------------------------------------


@model(f"{EXAMPLE_LOOPS}/PlanarFourbar", "planar four-bar with a damper", loop=True)
def planar_fourbar() -> Parts:
    m = Parts("PlanarFourbar")
    width = 0.05
    ends = np.array([0.4, 0, 0]), np.array([0.1, 1.1, 0]), np.array([-0.15, 1.0, 0])
    a = m.box(m.revolute("revolute1", m.world, damping=0.1), ends[0], width)
    b = m.box(m.revolute("revolute2", a, w=None), ends[1], width)
    fixed = m.fixed(m.world, ends[2])
    c = m.box(m.revolute("revolute3", fixed, w=None), ends[0] + ends[1] - ends[2], width)
    m.close(Revolute, "revolute4", c, b)
    return m


def fourbar(name: str, couple: Callable[[Parts, Frame, Frame], None]) -> Parts:
    """A crank about x, a slide along x that starts 1 m from the crank, and what couples them."""
    m = Parts(name)
    crank = m.cylinder(m.revolute("j1", m.world, (1, 0, 0), w=5.235987755982989), (0, 0.5, 0.1), 0.05)
    slide = m.prismatic("slide", m.fixed(m.world, (1, 0, 0)), v=None)
    couple(m, crank, m.cylinder(slide, (0, 0.2, 0), 0.05))
    return m


def by_rod(m: Parts, crank: Frame, slide: Frame) -> None:
    """A rod without mass."""
    m.rod("rod", slide, crank, float(np.sqrt(1 + 0.3**2 + 0.1**2)))


@model(f"{EXAMPLE_LOOPS}/Fourbar2", "spatial four-bar with a rod without mass", loop=True)
def fourbar2() -> Parts:
    return fourbar("Fourbar2", by_rod)


@model(
    f"{TEST}/FourbarVariants/UniversalSpherical", "spatial four-bar with a universal and a spherical joint", loop=True
)
def fourbar_universal_spherical() -> Parts:
    return fourbar("UniversalSpherical", by_rod)


@model(f"{TEST}/FourbarVariants/SphericalAndUniversal", "spatial four-bar, ball and cross apart", loop=True)
def fourbar_ball_and_cross() -> Parts:
    return fourbar("SphericalAndUniversal", by_rod)


def rod_on(m: Parts, slide: Frame, first: Vector, second: Vector) -> Frame:
    """A rod whose turn about itself follows from a universal joint."""
    return m.universal("rod", slide, first, second, w=None)


ROD = np.array((-1, 0.3, 0.1))


@model(f"{TEST}/FourbarVariants/SphericalSpherical", "spatial four-bar with a mass in the middle of its rod", loop=True)
def fourbar_two_balls() -> Parts:
    def couple(m: Parts, crank: Frame, slide: Frame) -> None:
        rod = m.body(rod_on(m, slide, Z, Y), 1.0, ROD / 2, (0, 0, 0))
        m.close(Spherical, "ball", m.fixed(rod, ROD), crank)

    return fourbar("SphericalSpherical", couple)


def slide_and_crank(name: str, v: float, damping: float) -> tuple[Parts, Frame, Frame]:
    """A slide that moves a crank without a body of its own, on a damper."""
    m = Parts(name)
    slide = m.cylinder(m.prismatic("j2", m.fixed(m.world, (1, 0, 0)), v=v), (0, 0.2, 0), 0.05)
    return m, slide, m.revolute("crank", m.world, (1, 0, 0), w=None, damping=damping)


@model(f"{TEST}/FourbarVariants/JointSSR", "slide, rod on two balls and damped crank", loop=True)
def fourbar_of_slide() -> Parts:
    m, slide, crank = slide_and_crank("JointSSR", -0.2, 0.5)
    end = m.body(m.fixed(m.body(crank, 0.1, (0, 0.25, 0.05)), (0, 0.5, 0.1)), 0.1)
    rod = m.body(rod_on(m, slide, Z, Y), 0.1, ROD / 2, (0, 0, 0))
    m.close(Spherical, "ball", m.fixed(rod, ROD), end)
    return m


@model(f"{TEST}/FourbarVariants/JointUSR", "slide, rod on a universal joint and a ball, damped crank", loop=True)
def fourbar_of_slide_and_cross() -> Parts:
    m, slide, crank = slide_and_crank("JointUSR", -0.4, 0.1)
    inertia = (0.1, 0.1, 0.1)
    end = m.body(m.fixed(m.body(crank, 1.0, (0.01, 0, 0), inertia), (0, 0.5, 0.1)), 1.0, inertia=inertia)
    rod = m.body(rod_on(m, slide, Y, np.cross(Y, ROD)), 1.0, ROD / np.linalg.norm(ROD) / 2, inertia)
    m.close(Spherical, "ball", m.fixed(rod, ROD), end)
    return m


@model(f"{EXAMPLE_LOOPS}/Fourbar1", "spatial four-bar of hinges", loop=True)
def fourbar1() -> Parts:
    def couple(m: Parts, crank: Frame, slide: Frame) -> None:
        cross = m.revolute("rev1", m.revolute("rev", slide, (0, 1, 0), w=None), w=None)
        m.close(Spherical, "ball", m.cylinder(cross, (-1, 0.3, 0.1), 0.05), crank)

    return fourbar("Fourbar1", couple)


def fourbar1_as_written() -> Parts:
    """The ball as three hinges in a row, whose carriers have no mass."""

    def couple(m: Parts, crank: Frame, slide: Frame) -> None:
        cross = m.revolute("rev1", m.revolute("rev", slide, (0, 1, 0), w=None), w=None)
        end = m.cylinder(cross, (-1, 0.3, 0.1), 0.05)
        carrier = m.revolute("j4", m.revolute("j3", crank, (1, 0, 0), w=None), (0, 1, 0), w=None)
        m.close(Revolute, "j5", carrier, end)

    return fourbar("Fourbar1", couple)

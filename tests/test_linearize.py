"""Linearizations: closed forms, a published bicycle, another engine's differences, what is refused."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import mechanisms
import numpy as np
import pytest
from matrix_elements import ELEMENTS
from matrix_laws import Probe, lowest_are_eigenvalues

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.errors import InputError
from nexdyn.statics.differences import derivative

G = 9.81
BICYCLE = [
    -0.77534188219585 + 4.46486771378823j, -0.77534188219585 - 4.46486771378823j, -0.32286642900409,
    -14.07838969279822,
]  # fmt: skip
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837


def pendulum(damping: float = 0.0, q0: float = 0.0) -> nx.System:
    system = nx.System("pendulum", gravity=(0, 0, -G))
    rod = system.add_body("rod", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0, 0, -0.5))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=damping, q0=q0))
    return system


def cart_pole() -> nx.System:
    system = nx.System("cart-pole", gravity=(0, 0, -G))
    cart = system.add_body("cart", mass=3.0, inertia=(1, 1, 1))
    pole = system.add_body("pole", mass=0.5, inertia=(0.02, 0.03, 0.01), position=(0, 0, 0.4))
    system.add_joint(nx.Prismatic("rail", system.ground, cart, axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("pivot", cart, pole, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add_measure(nx.PointPosition("tip", system.add_marker("end", pole, position=(0, 0, 0.4))))
    return system


def test_a_damped_pendulum_has_the_eigenvalues_of_its_equation() -> None:
    J, k = 0.2 + 2 * 0.25, 2 * G * 0.5
    lin = nx.linearize(pendulum(0.3), inputs=["hinge"])
    assert lin.states == ["hinge", "hinge.rate"]
    assert lin.A == pytest.approx(np.array([[0, 1], [-k / J, -0.3 / J]]), abs=1e-11)
    assert lin.B == pytest.approx(np.array([[0], [1 / J]]), abs=1e-12)
    assert lin.C == pytest.approx(np.eye(2)) and lin.D.shape == (2, 1)
    (mode,) = lin.modes
    assert mode.natural_frequency == pytest.approx(np.sqrt(k / J) / (2 * np.pi), rel=1e-11)
    assert mode.damping_ratio == pytest.approx(0.3 / (2 * np.sqrt(k * J)), rel=1e-10)
    assert mode.shape["hinge"] == pytest.approx(1.0) and lin.stable and lin.error < 1e-10
    up = nx.linearize(pendulum(), q0={"hinge": np.pi})
    assert not up.stable and up.eigenvalues[0] == pytest.approx(np.sqrt(k / J), rel=1e-10)


def test_a_cart_pole_is_that_of_the_textbook() -> None:
    m, M, l, J = 0.5, 3.0, 0.4, 0.03 + 0.5 * 0.16
    lin = nx.linearize(cart_pole(), inputs=["rail", "pole.fx"], outputs=["rail", "tip.x", "pivot.rate", "tip"])
    D = (M + m) * J - (m * l) ** 2
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2, 1], A[3, 1] = -((m * l) ** 2) * G / D, (M + m) * m * G * l / D
    assert lin.states == ["rail", "pivot", "rail.rate", "pivot.rate"] and lin.ignored == []
    assert lin.A == pytest.approx(A, abs=1e-10)
    assert lin.B[:, 0] == pytest.approx(np.array([0, 0, J, -m * l]) / D, abs=1e-11)
    force = np.array([1.0, l])  # on cart and pivot, of a force at the pole's origin
    assert lin.B[2:, 1] == pytest.approx(np.linalg.solve([[M + m, m * l], [m * l, J]], force), abs=1e-11)
    assert lin.outputs == ["rail", "tip.x", "pivot.rate", "tip.x", "tip.y", "tip.z"]
    assert lin.C[1] == pytest.approx([1, 0.8, 0, 0], abs=1e-11)
    assert lin.C[2] == pytest.approx([0, 0, 0, 1], abs=1e-11)


def test_a_driver_that_is_an_input_is_led_by_its_acceleration() -> None:
    """A crane: θ̈ = −g θ/l − u/l, beside the motion of its trolley; and a crank led through a closed loop."""
    system = nx.System("crane", gravity=(0, -9.81, 0))
    trolley = system.add_body("trolley", mass=3.0, inertia=(0.1, 0.1, 0.1))
    load = system.add_body("load", mass=1.0, inertia=(1e-12, 1e-12, 1e-12), position=(0, -2, 0))
    system.add_joint(nx.Prismatic("rail", system.ground, trolley, axis=(1, 0, 0)))
    system.add_joint(nx.Revolute("rope", trolley, load, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_driver(nx.Driver("motor", "rail", 0.0))
    lin = nx.linearize(system, inputs=["motor", "load.fx"], outputs=["rope", "rail"])
    assert lin.states == ["rope", "motor", "rope.rate", "motor.rate"]
    np.testing.assert_allclose(lin.A, [[0, 0, 1, 0], [0, 0, 0, 1], [-9.81 / 2, 0, 0, 0], [0, 0, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(lin.B, [[0, 0], [0, 0], [-0.5, 0.5], [1, 0]], atol=1e-9)
    np.testing.assert_allclose(lin.C, [[1, 0, 0, 0], [0, 1, 0, 0]], atol=1e-12)
    assert lin.motion(0).position("load").shape[1] == 3

    # a loop that its driver determines: what it does follows from the driver alone
    def driven(angle: float) -> nx.System:
        bars = mechanisms.four_bar()
        bars.add_driver(nx.Driver("motor", "A", angle))
        return bars

    led = nx.linearize(driven(0.1), inputs=["motor"], outputs=["D"])
    assert led.states == ["motor", "motor.rate"]
    h = 1e-4
    before, after = (float(nx.equilibrium(driven(angle)).joint("D")[0]) for angle in (0.1 - h, 0.1 + h))
    assert led.C[0, 0] == pytest.approx((after - before) / (2 * h), rel=1e-6)


def test_a_loop_and_its_open_twin_are_the_same_pendulum() -> None:
    # two bars of a parallelogram that carry a third: one degree of freedom
    system = nx.System("swing", gravity=(0, 0, -G))
    left, right = (
        system.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, -0.5))
        for name, x in (("left", 0), ("right", 2))
    )
    seat = system.add_body("seat", mass=3.0, inertia=(0.2, 0.7, 0.5), position=(1, 0, -1))
    y = {"axis": (0, 1, 0)}
    system.add_joint(nx.Revolute("A", system.ground, left, at=(0, 0, 0), **y))
    system.add_joint(nx.Revolute("B", left, seat, at=(0, 0, -1), **y))
    system.add_joint(nx.Revolute("C", right, seat, at=(2, 0, -1), **y))
    system.add_joint(nx.Revolute("D", system.ground, right, at=(2, 0, 0), **y))
    lin = nx.linearize(system, inputs=["D"])
    J, k = 2 * (0.1 + 0.25) + 3.0, (2 * 0.5 + 3.0) * G
    assert lin.eigenvalues.imag == pytest.approx([np.sqrt(k / J), -np.sqrt(k / J)], rel=1e-9)
    assert abs(lin.B).max() == pytest.approx(1 / J, rel=1e-9)


def test_a_tree_agrees_with_the_derivatives_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    system = nx.System("chain", gravity=(0, 0, -G))
    model, parent, body = pin.Model(), 0, system.ground
    model.gravity.linear = np.array([0, 0, -G])
    axes = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    place = np.zeros(3)
    for i, axis in enumerate(axes):
        link = system.add_body(
            f"link{i}", mass=1.0 + i, inertia=(0.1, 0.2, 0.15), position=place + np.array([0.0, 0.2, -0.3])
        )
        system.add_joint(nx.Revolute(f"joint{i}", body, link, at=place, axis=axis, damping=0.1))
        at = np.zeros(3) if i == 0 else np.array([0.1, 0.0, -0.6])
        joint = pin.JointModelRevoluteUnaligned(np.array(axis))
        parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), at), f"joint{i}")
        inertia = pin.Inertia(1.0 + i, np.array([0, 0.2, -0.3]), np.diag([0.1, 0.2, 0.15]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        body, place = link, place + np.array([0.1, 0.0, -0.6])
    q, v = np.array([0.3, -0.4, 0.2]), np.array([0.5, 1.0, -0.7])
    data = model.createData()
    pin.computeABADerivatives(model, data, q, v, -0.1 * v)
    names = [f"joint{i}" for i in range(3)]
    lin = nx.linearize(
        system, q0=dict(zip(names, q, strict=True)), v0=dict(zip(names, v, strict=True)), inputs=names, frozen=True,
        ignore=False,
    )  # fmt: skip
    assert lin.A[3:, :3] == pytest.approx(data.ddq_dq, abs=1e-9)
    assert lin.A[3:, 3:] == pytest.approx(data.ddq_dv - 0.1 * data.Minv, abs=1e-9)
    assert lin.B[3:] == pytest.approx(data.Minv, abs=1e-10)


@pytest.fixture(scope="module")
def bicycle() -> nx.Linearization:
    return nx.linearize(nx.load("bicycle"), outputs=["steer"])


def test_the_bicycle_has_the_published_eigenvalues(bicycle: nx.Linearization) -> None:
    for expected in BICYCLE:
        assert np.abs(bicycle.eigenvalues - expected).min() < 1e-9
    assert bicycle.states == ["ride.rx", "steer", "ride.wx", "rear-hub.rate", "steer.rate"]
    assert bicycle.ignored == ["ride.rz", "ride.px", "ride.py", "rear-hub", "front-hub"]
    assert bicycle.stable and bicycle.error < 1e-9
    assert np.abs(bicycle.eigenvalues).min() < 1e-9  # another speed is another steady motion


def test_a_mode_is_a_motion_that_can_be_seen(bicycle: nx.Linearization) -> None:
    (weave,) = [k for k, mode in enumerate(bicycle.modes) if mode.frequency > 0.0]
    result = bicycle.motion(weave, amplitude=0.05, periods=1.0, samples=24)
    steer = result.joint_position("steer").values
    assert len(result.t) == 25 and float(result.t[-1]) == pytest.approx(1 / bicycle.modes[weave].frequency)
    assert np.abs(steer).max() == pytest.approx(0.05, rel=1e-6)
    assert steer[0] == pytest.approx(steer[-1], abs=1e-9)
    x = result.position("frame").values[:, 0]
    assert x[-1] - x[0] == pytest.approx(5.0 * float(result.t[-1]), rel=1e-2)
    floor = result.rolling("front-tyre").point.values[:, 2]
    assert np.abs(floor).max() < 1e-10
    with pytest.raises(InputError, match=r"mode 9 does not exist"):
        bicycle.motion(9)


@pytest.mark.slow
def test_the_bicycle_gets_stable_and_unstable_at_the_published_speeds() -> None:
    swept = nx.stability(nx.load("bicycle"), "speed", [2.0, 4.0, 5.0, 7.0])
    weave, capsize = swept.limits
    assert weave.value == pytest.approx(WEAVE, abs=1e-9) and weave.gets_stable and weave.eigenvalue.imag > 1.0
    assert capsize.value == pytest.approx(CAPSIZE, abs=1e-9) and not capsize.gets_stable
    assert "oscillation" in str(swept) and swept.eigenvalues.shape[0] == 4


@pytest.mark.parametrize(("kind", "factor"), [("disk", 1 / 3), ("hoop", 1 / 4)])
def test_a_disk_that_rolls_upright_falls_below_the_published_speed(kind: str, factor: float) -> None:
    r, m = 0.3, 2.0
    axial = m * r**2 * (0.5 if kind == "disk" else 1.0)
    system = nx.System(kind, gravity=(0, 0, -G))
    system.parameter("speed", 1.0)
    body = system.add_body("disk", mass=m, inertia=(axial / 2, axial, axial / 2), position=(0, 0, r))
    speed = f"=speed/{r}"
    system.add_joint(nx.Free("free", system.ground, body, v0=(0, speed, 0, "=speed", 0, 0)))
    system.add_joint(nx.RollingDisk("edge", system.ground, body, radius=r, axis_b=(0, 1, 0)))
    critical = np.sqrt(G * r * factor)
    for x, stable in ((0.97 * critical, False), (1.03 * critical, True)):
        lin = nx.linearize(system.with_parameters({"speed": x}))
        assert lin.stable is stable
    (limit,) = nx.stability(system, "speed", [0.5 * critical, 1.5 * critical]).limits
    assert limit.value == pytest.approx(critical, rel=1e-9) and limit.gets_stable


def test_a_run_can_be_linearized_about_its_end() -> None:
    system = pendulum(3.0, q0=0.2)
    result = nx.simulate(system, 30.0, nx.DormandPrince())
    assert nx.linearize(system, result).A == pytest.approx(nx.linearize(pendulum(3.0)).A, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q0": {"hinge": 0.3}}, r"'pendulum' is no equilibrium: hinge\.rate changes by"),
        ({"v0": {"hinge": 0.3}}, r"'pendulum' is no steady motion: "),
        ({"inputs": ["hing"]}, r"no input 'hing'; did you mean 'hinge'"),
        ({"outputs": ["tip"]}, r"no output 'tip'.* hinge"),
        ({"at": 3}, r"at is 3; the report of nx\.assemble, an Equilibrium, or a Result, is needed"),
    ],
)
def test_what_cannot_be_linearized_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        nx.linearize(pendulum(), **options)


def test_frozen_takes_a_state_that_moves_on() -> None:
    J, k = 0.2 + 2 * 0.25, 2 * G * 0.5
    lin = nx.linearize(pendulum(), q0={"hinge": 0.3}, frozen=True)
    assert lin.A[1, 0] == pytest.approx(-k / J * np.cos(0.3), rel=1e-10)


def test_the_command_says_the_eigenvalues(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["linearize", "bicycle", "--speed", "5", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    found = np.array([complex(*pair) for pair in said["eigenvalues"]])
    for expected in BICYCLE:
        assert np.abs(found - expected).min() < 1e-9
    assert said["stable"] is True and "steer" in said["states"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cart", "--speed", "5"], "speed"),
        (["bicycle", "--sweep", "speed=5"], "write PARAMETER=FROM:TO:COUNT"),
        (["bicycle", "--sweep", "sped=1:2:3"], "did you mean 'speed'"),
        (["bicycle", "--input", "ster"], "did you mean 'steer'"),
    ],
)
def test_the_command_names_what_it_cannot_use(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["linearize", *arguments]) == 2
    assert message in capsys.readouterr().err


# --- differences ----------------------------------------------------------------------------------------------------


def test_differences_go_no_farther_than_there_are_states() -> None:
    def bounded(x: np.ndarray) -> np.ndarray:
        if abs(x[0]) > 1e-3:
            raise nx.SolveError("there is no such pose")
        return np.array([np.sin(3.0 * x[0])])

    J, error = derivative(bounded, 1, np.ones(1))
    assert J[0, 0] == pytest.approx(3.0, rel=1e-10)
    assert error < 1e-9

    def nowhere(x: np.ndarray) -> np.ndarray:
        raise nx.SolveError("there is no such pose")

    with pytest.raises(nx.SolveError, match="there is no such pose"):
        derivative(nowhere, 1, np.ones(1))


def test_a_loop_that_soon_comes_near_its_ends_is_linearized() -> None:
    """A hundredth of a radian of its independent coordinates moves the others by half a radian, or to another branch."""
    element = ELEMENTS["joint universal"]
    system = element.system("ring", element.change("stiffness"))
    rest = nx.equilibrium(system)
    dense, sparse = nx.linearize(system, rest).eigenvalues, nx.linearize(system, rest, modes=4).eigenvalues
    assert np.abs(sparse[:, None] - dense).min(axis=1).max() < 1e-7 * np.abs(dense).max()


def test_friction_that_has_begun_to_slip_has_two_slopes_and_that_is_told() -> None:
    """Held off its rest by gravity, the bristle yields on with the load and springs back against it."""
    system = nx.System("arm", gravity=(0.0, 0.0, -9.81))
    system.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "arm", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add_force(
        nx.JointFriction("dry", "hinge", sliding=5.0, static=6.0, stiffness=2000.0, damping=5.0, elastic=0.1)
    )
    rest = nx.equilibrium(system)
    with pytest.warns(
        nx.NexDynWarning, match=r"has two slopes over hinge.rate where 'arm' is, .* friction that has slipped"
    ):
        found = nx.linearize(system, rest)
    rates = found.states.index("dry.deflection"), found.states.index("hinge.rate")
    assert 0.5 < found.A[rates] < 0.999
    firm = system.with_parameters({"dry.static": 60.0, "dry.sliding": 50.0})
    assert nx.linearize(firm, nx.equilibrium(firm)).A[rates] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize(
    ("axis", "pivot"), [((1.3, 0.9, -0.7), (-0.4, -0.5, 0.2)), ((-2.3, 0.4, -0.6), (1.0, 0.1, 0.4))]
)
def test_a_free_joint_on_tilted_axes_has_the_modes_of_one_on_upright_ones(axis: Any, pivot: Any) -> None:
    """Its coordinates count along the axes of the parent, its velocities along those of the child: which of them depend on others is
    another question for each."""

    def eigenvalues(axis: Any) -> np.ndarray:
        system, place = nx.System("held", gravity=(0.6, -1.1, -3.0)), (0.9, 0.15, 0.2)
        system.add_body("hand", mass=0.8, inertia=(0.03, 0.025, 0.02), position=place)
        frames = {"anchor_a": place, "anchor_b": (0.0, 0.0, 0.0), "axis_a": (0.0, 0.0, 1.0), "axis_b": axis}
        system.add_joint(nx.Free("free", "ground", "hand", **frames))
        system.add_joint(nx.Rod("rod", "ground", "hand", anchor_a=pivot, anchor_b=(0.1, 0.0, 0.1)))
        stiff, damp = (np.diag(x).tolist() for x in ([3.0, 2.5, 2.0, 30.0, 40.0, 50.0], [0.1] * 6))
        spring = nx.Bushing("spring", "ground", "hand", at_a=place, at_b=place, stiffness=stiff, damping=damp)
        system.add_force(spring)
        found = nx.linearize(system, nx.equilibrium(system)).eigenvalues
        return found[np.argsort(found.imag)]

    upright = eigenvalues((0.0, 0.0, 1.0))
    np.testing.assert_allclose(eigenvalues(axis), upright, rtol=0, atol=1e-7 * np.abs(upright).max())


@pytest.mark.parametrize("armature", [0.0, 0.5, (0.0, 0.0, 0.0, 0.3, 0.4, 0.5)])
def test_the_armature_of_a_free_joint_in_a_loop_counts(armature: Any) -> None:
    """The free joint is cut open and leaves no constraint equations; sparse matrices in absolute coordinates cut none."""
    free = {"armature": armature, "damping": 0.0, "friction": 0.0}
    assert lowest_are_eigenvalues(Probe(lambda: ELEMENTS["joint free"].system("ring", free))) < 1e-6


def test_friction_at_rest_is_a_damper_of_its_slope_next_to_a_singular_pose_too() -> None:
    """There the mechanism goes no farther than a short step, in which joints turn so fast that friction saturates."""

    def eigenvalues(damping: float, **friction: float) -> np.ndarray:
        system = Probe(lambda: ELEMENTS["joint universal"].system("ring", {"damping": damping, **friction})).held
        return np.sort_complex(nx.linearize(system, nx.equilibrium(system)).eigenvalues)

    damped = eigenvalues(0.6 + 0.05 / 0.3, friction=0.0)
    np.testing.assert_allclose(eigenvalues(0.6, friction=0.05, friction_speed=0.3), damped, rtol=1e-6)


@pytest.mark.parametrize("on", ["ground", "block"])
def test_a_contact_that_just_touches_is_refused_with_its_pair(on: str) -> None:
    """A linear contact at depth 0: it presses one way and not the other."""
    system = nx.System("touching", gravity=(0, 0, 0))
    if on == "block":
        system.add_body("block", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.1), shapes=[nx.Box((1, 1, 0.2))])
        system.add_joint(nx.Fixed("stands", "ground", "block"))
    system.add_body("ball", mass=1.0, inertia=(0.004,) * 3, position=(0, 0, 0.1), shapes=[nx.Sphere(0.1)])
    system.add_contact(nx.Contact("touch", "ball", on, stiffness=1e4, exponent=1.0, friction=0.0))
    with pytest.raises(nx.InputError, match=rf"contact 'touch' between 'ball' and '{on}' just touches"):
        nx.linearize(system)


def test_a_stiff_contact_that_presses_a_little_is_linearized() -> None:
    """Its depth is a hundredth of the first steps of the differences, which lift it: it does not just touch."""
    system = nx.System("box")
    system.add_body("box", mass=2.0, inertia=(0.02, 0.02, 0.02), position=(0, 0, 0.1), shapes=[nx.Box((0.3, 0.2, 0.2))])
    system.add_contact(nx.Contact("feet", "box", stiffness=1e6, exponent=1.0, friction=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nx.NexDynWarning)
        found = nx.linearize(system, nx.equilibrium(system))
    heave = math.sqrt(4e6 / 2.0) / (2.0 * math.pi)
    assert min(abs(mode.frequency - heave) for mode in found.modes) < 1e-3 * heave

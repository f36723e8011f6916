"""The variational equation along a run: beside differences of whole runs, laws, and where those differences fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import systems

import nexdyn as nx
from nexdyn.studies import sensitivities

RK4 = nx.RungeKutta4(1e-3)
EQUATION, DIFFERENCES = sensitivities.VARIATIONAL, sensitivities.DIFFERENCES


def by_differences(monkeypatch: pytest.MonkeyPatch, *args: Any, **given: Any) -> nx.Sensitivity:
    """The same by runs."""
    with monkeypatch.context() as patch:
        patch.setattr(sensitivities, "obeys_equation", lambda *_: False)
        return nx.sensitivity(*args, **given)


def sprung() -> nx.System:
    """A floating body with a hinged arm, a spring, a bushing, an effort and a force that change with time."""
    system = nx.System("sprung", gravity=(0, 0, -9.81))
    top = system.add_body("top", mass=1.0, inertia=(1, 2, 3))
    arm = system.add_body("arm", mass=0.5, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0))
    system.add_joint(
        nx.Revolute("h", top, arm, at=(0.5, 0.1, 0), axis=(0, 1, 1), damping=0.1, friction=0.2, friction_speed=0.5)
    )
    system.add_force(
        nx.PointSpring("s", system.ground, arm, anchor_a=(0, 0, 1), anchor_b=(0.1, 0, 0), stiffness=30, damping=0.5)
    )
    stiff, damp = (np.diag(x).tolist() for x in ([5.0, 6, 7, 20, 30, 40], [0.1, 0.2, 0.3, 1, 2, 3]))
    system.add_force(nx.Bushing("b", top, arm, at_a=(0.7, 0, 0), at_b=(0.7, 0, 0), stiffness=stiff, damping=damp))
    system.add_force(nx.JointForce("push", "h", "=0.3*sin(9*t)"))
    system.add_force(nx.AppliedForce("wind", arm, force=("=2*cos(5*t)", 0.0, 1.0), expressed_in="body"))
    return system


def ball() -> nx.System:
    """A rod on a ball joint with a spring."""
    system = nx.System("ball", gravity=(0, 0, -9.81))
    rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0, 0, -0.5))
    system.add_joint(nx.Spherical("j", system.ground, rod, at=(0, 0, 0), stiffness=4.0, damping=0.1))
    return system


def arms() -> nx.System:
    return systems.random_system(5, ["spherical", "revolute", "universal", "planar"], reach=2)


CASES: dict[str, tuple[Any, list[str], dict[str, Any], list[str]]] = {
    "chain": (
        lambda: nx.load("hinge-chain"), ["L", "link1.mass", "hinge1.damping", "gravity[2]"], {"method": RK4},
        ["joint_position.hinge1", "position.link6.z", "reaction.hinge1.fx", "total_energy"],
    ),
    "semi-implicit": (
        lambda: nx.load("hinge-chain"), ["L", "hinge1.damping"], {"method": nx.SemiImplicitEuler(1e-3)},
        ["joint_velocity.hinge2"],
    ),
    "explicit Euler, a shorter last step, every seventh sample": (
        lambda: nx.load("hinge-chain"), ["L"], {"method": nx.ExplicitEuler(1e-3), "output_every": 7},
        ["joint_position.hinge1", "joint_acceleration.hinge3"],
    ),
    "ball joint with a spring": (
        ball, ["rod.mass", "j.stiffness", "rod.com[0]"], {"method": RK4, "v0": {"j": [1.0, 0.5, 0.3]}}, ["position.rod.x"],
    ),
    "balls and planes": (
        arms, ["gravity[2]"], {"method": RK4, "v0": np.linspace(-1.0, 1.0, 9)}, ["total_energy"],
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:joint")
@pytest.mark.parametrize("case", CASES)
def test_the_variational_equation_gives_what_differences_of_runs_give(case: str, monkeypatch: Any) -> None:
    make, parameters, given, texts = CASES[case]
    system, t_end = make(), 0.2005
    found = nx.sensitivity(system, t_end, parameters, initial_state=True, **given)
    assert set(found.ways.values()) == {EQUATION}
    runs = by_differences(monkeypatch, system, t_end, parameters, initial_state=True, **given)
    assert set(runs.ways.values()) == {DIFFERENCES} and runs.names == found.names
    for text in texts:
        mine, theirs = found.of(text), runs.of(text)
        size = np.maximum(np.abs(theirs).max("time"), 1e-2 * float(np.abs(theirs).max()))
        assert float((np.abs(mine - theirs) / size).max()) < 1e-8, text
        np.testing.assert_array_equal(mine["time"], found.result.t)


def test_forces_in_the_variational_equation_give_what_differences_of_runs_give(monkeypatch: Any) -> None:
    names = ["top.mass", "arm.com[1]", "h.damping", "h.friction", "s.stiffness", "s.length"]
    given: dict[str, Any] = {"method": RK4, "v0": {"top": [1, 2, 3, 0.1, 0.2, 0.3]}}
    found = nx.sensitivity(sprung(), 0.3, names, initial_state=True, **given)
    assert set(found.ways.values()) == {EQUATION}
    runs = by_differences(monkeypatch, sprung(), 0.3, names, initial_state=True, **given)
    for text in ("position.arm.x", "velocity.arm.z", "joint_position.h", "reaction.h.fx"):
        mine, theirs = found.of(text), runs.of(text)
        assert float(np.abs(mine - theirs).max()) < 1e-8 * max(1.0, float(np.abs(theirs).max())), text


def test_a_damped_pendulum_started_at_rest_follows_its_linear_closed_form() -> None:
    # θ'' = −(c/J) θ' − (m g l/J) sin θ near θ = 0:  ∂θ/∂θ₀ = e^{−at} (cos wt + (a/w) sin wt), ∂θ/∂ω₀ = e^{−at} sin(wt)/w
    m, l, I, c = 2.0, 0.7, 0.3, 0.4
    system = nx.System("pendulum", gravity=(0, 0, -9.81))
    rod = system.add_body("rod", mass=m, inertia=(I, I, I), position=(0, 0, -l))
    system.add_joint(nx.Revolute("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=c))
    x = nx.sensitivity(system, 3.0, ["hinge.q0", "rod.mass"], initial_state=True, method=RK4).of("joint_position.hinge")
    J, t = I + m * l * l, x["time"].to_numpy()
    a = c / (2 * J)
    w = np.sqrt(m * 9.81 * l / J - a * a)
    by_angle, by_speed = np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t)), np.exp(-a * t) * np.sin(w * t) / w
    for name, expected in {
        "q0.hinge": by_angle,
        "hinge.q0": by_angle,
        "v0.hinge": by_speed,
        "rod.mass": 0.0 * t,
    }.items():
        np.testing.assert_allclose(x.sel(parameter=name), expected, rtol=0, atol=1e-10)


def test_a_flow_without_damping_keeps_the_volume_of_phase_space() -> None:
    # Liouville, in (q, p = M v): det ∂(q, v)(t)/∂(q, v)(0) · det M(t)/det M(0) = 1, also where the motion is chaotic
    system = nx.load("double-pendulum")
    found = nx.sensitivity(system, 4.0, initial_state=True, method=RK4, q0=[2.5, 1.0])
    rows = [found.of(f"{what}.hinge{j}").to_numpy() for what in ("joint_position", "joint_velocity") for j in (1, 2)]
    S, tree = np.stack(rows, axis=1), nx.Tree(system)
    volume = (
        np.linalg.det(S) * np.linalg.det(tree.crba(found.result.recording.q)) / np.linalg.det(tree.crba([2.5, 1.0]))
    )
    assert float(np.abs(S[-1]).max()) > 100.0
    np.testing.assert_allclose(volume, 1.0, rtol=0, atol=1e-6)


def test_neighbouring_motions_part_as_the_variational_equation_says_where_differences_of_runs_do_not_reach(
    monkeypatch: Any,
) -> None:
    # along a chaotic motion a step of 1e-3 leaves what is linear; the tangent is that of two runs 1e-9 apart
    given: dict[str, Any] = {"method": RK4, "v0": [0.0, 0.0]}
    system, q0, e = nx.load("double-pendulum"), np.array([2.5, 1.0]), np.array([1e-9, 0.0])
    found = nx.sensitivity(system, 10.0, initial_state=True, q0=q0, **given).of("joint_position.hinge1")[-1, 0]
    ends = [nx.simulate(system, 10.0, q0=q0 + s * e, **given).recording.q[-1, 0] for s in (1, -1)]
    assert float(found) == pytest.approx((ends[0] - ends[1]) / 2e-9, rel=1e-3)
    runs = by_differences(monkeypatch, system, 10.0, initial_state=True, q0=q0, **given).of("joint_position.hinge1")[
        -1, 0
    ]
    assert abs(float(runs / found) - 1.0) > 0.1


def test_a_parameter_of_value_0_is_differentiated_from_above() -> None:
    system = nx.load("hinge-chain").with_parameters({"hinge1.damping": 0.0})
    found = nx.sensitivity(system, 0.1, ["hinge1.damping"], method=RK4)
    assert found.ways == {"hinge1.damping": EQUATION} and set(found.variations[0].runs) == {0, 1, 2, 3, 4}
    near = nx.sensitivity(system.with_parameters({"hinge1.damping": 1e-5}), 0.1, ["hinge1.damping"], method=RK4)
    for text in ("joint_position.hinge1", "reaction.hinge2.fy"):
        a, b = found.of(text), near.of(text)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * float(np.abs(b).max()))


TIMES = np.linspace(0.0, 0.1, 5)
OTHER_WAYS: dict[str, tuple[Any, str, str, dict[str, Any]]] = {
    "adaptive steps": (ball, "rod.mass", "position.rod.x", {"method": nx.DormandPrince(), "output_times": TIMES}),
    "absolute coordinates": (ball, "rod.mass", "position.rod.x", {"method": nx.HHT(dt=1e-2)}),
    "a closed loop": (lambda: nx.load("four-bar"), "rocker.mass", "position.rocker.x", {"method": RK4}),
    "quaternions under semi-implicit Euler": (
        ball,
        "rod.mass",
        "position.rod.x",
        {"method": nx.SemiImplicitEuler(1e-2)},
    ),
}


@pytest.mark.parametrize("case", OTHER_WAYS)
def test_what_has_no_variational_equation_goes_by_differences_of_runs_and_says_so(case: str) -> None:
    make, parameter, text, given = OTHER_WAYS[case]
    found = nx.sensitivity(make(), 0.1, [parameter], **given)
    assert found.ways == {parameter: DIFFERENCES}
    assert np.isfinite(found.of(text)).all()


def test_a_function_in_python_is_never_asked_beside_the_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    # it may keep what it is told: differences of runs begin anew each time
    monkeypatch.setattr("nexdyn.model.callbacks._said_that_python_is_slow", False)
    system = nx.load("hinge-chain")
    system.add_force(nx.UserJointForce("own", "hinge1", function=lambda t, q, v: -0.1 * q))
    with pytest.warns(nx.NexDynWarning, match="plain Python"):
        found = nx.sensitivity(system, 0.01, ["hinge1.damping"], method=RK4)
    assert found.ways == {"hinge1.damping": DIFFERENCES}


def test_derivatives_of_an_adaptive_run_are_those_at_fixed_times() -> None:
    """Each run chooses its own steps; values of one sample belong to different times."""
    system = nx.System("pendulum", gravity=(0.0, 0.0, -9.81))
    system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0.5, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "ground", "rod", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    names = ["rod.mass", "rod.com[0]", "gravity[2]"]
    chosen = nx.sensitivity(system, 1.0, names, method=nx.DormandPrince(1e-9, 1e-11)).of("joint_position.hinge")
    times = chosen.time.values
    fixed = nx.sensitivity(system, 1.0, names, method=nx.RungeKutta4(1e-4)).of("joint_position.hinge")
    wanted = np.stack([np.interp(times, fixed.time.values, x) for x in fixed.values.T], axis=1)
    assert len(times) > 20
    assert np.abs(chosen.values - wanted).max() < 2e-6 * np.abs(wanted).max()


@pytest.mark.parametrize(
    "method", [RK4, nx.DormandPrince(1e-10, 1e-12), nx.DOP853(1e-10, 1e-12)], ids=lambda method: method.name
)
def test_a_run_through_an_event_is_differentiated_by_where_and_when_it_happens(method: Any) -> None:
    """A cart at speed v is pushed by F/m until x = c:  x(t) = c + s (t − t_c),  s² = v² + 2 F c/m,  t_c = (s − v) m/F."""
    system = nx.System("cart", gravity=(0.0, 0.0, 0.0))
    system.add_body("cart", mass=2.0, inertia=(1.0, 1.0, 1.0))
    system.add_joint(nx.Prismatic("slide", system.ground, "cart", axis=(1.0, 0.0, 0.0), v0=0.5))
    system.add_force(nx.JointForce("motor", "slide", effort=3.0))
    system.add_event(nx.Event("there", joint="slide", value=0.2, off=["motor"]))
    found = nx.sensitivity(system, 1.0, ["there.value", "motor.effort", "cart.mass", "slide.v0"], method=method)
    x = found.of("joint_position.slide")

    def position(c: float, force: float, mass: float, v: float) -> float:
        a = force / mass
        s = np.sqrt(v * v + 2.0 * a * c)
        return float(c + s * (1.0 - (s - v) / a))

    at, h = np.array([0.2, 3.0, 2.0, 0.5]), 1e-5
    wanted = [(position(*(at + h * e)) - position(*(at - h * e))) / (2.0 * h) for e in np.eye(4)]
    assert x.values[-1] == pytest.approx(wanted, rel=1e-7)
    event = found.result.events[0]["time"]
    assert np.abs(x.time.values - event).min() > 1e-4, "the state has a kink at the event"
    before = x.sel(time=slice(0.0, event), parameter="there.value")
    assert len(before) > 3
    assert np.abs(before.values).max() < 1e-9, "what comes before does not depend on where"

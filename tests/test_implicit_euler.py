"""nx.ImplicitEuler: the published example, orders, laws, agreement with the other formulations, what is refused."""

from __future__ import annotations

import json
import math

import mechanisms
import numba
import numpy as np
import published
import pytest
import systems
from test_cli_process import call

import nexdyn as nx
from nexdyn.joints import JOINTS
from nexdyn.problems.four_bars import four_bars
from nexdyn.simulation.marches.potential import PotentialSimulation

CLOSED = 1e-9
PUBLISHED = {"mu": 1000.0, "updates": 10}
TREE_KINDS = [kind for kind in systems.MOVING if kind != "free"]


def double_pendulum() -> nx.System:
    return nx.load("implicit-euler")


def at(result: nx.Result, name: str, what: str, k: int = -1) -> np.ndarray:
    return getattr(result, what)(name).values[k]


# --- the published example ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fixed", [PUBLISHED, {}], ids=["published", "adaptive"])
def test_the_published_double_pendulum(fixed: dict) -> None:
    result = nx.simulate(double_pendulum(), 3.0, nx.ImplicitEuler(0.01, **fixed))
    assert result.recording.violation.max() < CLOSED
    first = [(-9.675e-4, -3.1104871, 0.0), (-1.98655e-3, -6.9387792, 0.0)]
    for name, a in zip(("link1", "link2"), first, strict=True):
        np.testing.assert_allclose(at(result, name, "acceleration", 1), a, rtol=0, atol=1e-6)
    # before the first step the accelerations are exact
    np.testing.assert_allclose(at(result, "link1", "acceleration", 0), (0, -3.1104878049, 0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(at(result, "link2", "acceleration", 0), (0, -6.9387804878, 0), rtol=0, atol=1e-9)
    end = {
        ("link1", "position"): (0.40104968, -0.29859530, 0), ("link1", "velocity"): (-0.14322074, -0.19333218, 0),
        ("link1", "acceleration"): (-2.3166936, -2.9761086, 0), ("link2", "position"): (0.93728972, -1.07856733, 0),
        ("link2", "velocity"): (-2.18170893, -0.95965349, 0), ("link2", "acceleration"): (-6.3504886, 1.7645872, 0),
    }  # fmt: skip
    for (name, what), expected in end.items():
        np.testing.assert_allclose(at(result, name, what), expected, rtol=0, atol=1e-6)


def test_the_published_example_runs_from_the_command_line(tmp_path) -> None:
    done = call("run", "implicit-euler", "--json", "--out", "a.nc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "finished"
    result = nx.open_result(tmp_path / "a.nc")
    np.testing.assert_allclose(at(result, "link2", "position"), (0.93728972, -1.07856733, 0), rtol=0, atol=1e-6)
    command = ("run", "double-pendulum", "--t-end", "0.1", "--out", "b.nc", "--method", "implicit-euler", "--bdf2")
    assert call(*command, cwd=tmp_path).returncode == 0
    expected = nx.simulate(nx.load("double-pendulum"), 0.1, nx.ImplicitEuler(1e-3, bdf2=True))
    np.testing.assert_array_equal(nx.open_result(tmp_path / "b.nc").position().values, expected.position().values)
    for wrong in (("--dt", "0"), ("--dt", "nan"), ("--mu", "0"), ("--mu", "nan"), ("--updates", "0")):
        refused = call("run", "implicit-euler", *wrong, cwd=tmp_path)
        assert refused.returncode == 2 and f"{wrong[0][2:]} of ImplicitEuler is" in refused.stderr
    refused = call("run", "implicit-euler", "--method", "rk4", "--bdf2", cwd=tmp_path)
    assert refused.returncode == 2 and "--bdf2 is for implicit-euler, not for rk4" in refused.stderr


# --- order ----------------------------------------------------------------------------------------------------------


def errors(
    method, steps: tuple[float, ...], reference: np.ndarray, look, system: nx.System, t_end: float
) -> list[float]:
    found = [look(nx.simulate(system, t_end, method(dt), output_every=10**9)) for dt in steps]
    return [float(np.abs(x - reference).max()) for x in found]


@pytest.mark.parametrize("bdf2", [False, True])
def test_order_1_and_with_bdf2_order_2(bdf2: bool) -> None:
    system = double_pendulum()

    def look(result: nx.Result) -> np.ndarray:
        return np.concatenate(
            [at(result, name, what) for name in ("link1", "link2") for what in ("position", "velocity")]
        )

    exact = look(nx.simulate(system, 1.0, nx.RungeKutta4(1e-3), output_every=10**9))
    steps = (0.01, 0.005, 0.0025, 0.00125)
    e = errors(lambda dt: nx.ImplicitEuler(dt, bdf2=bdf2), steps, exact, look, system, 1.0)
    assert math.log2(e[-2] / e[-1]) == pytest.approx(2 if bdf2 else 1, abs=0.1)


@pytest.mark.parametrize("bdf2", [False, True])
def test_the_heavy_top_in_its_order(bdf2: bool) -> None:
    system = nx.System("top", gravity=(0, 0, -9.81))
    top = system.add_body("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), com=(0, 1, 0))
    system.add_joint(nx.Spherical("pivot", system.ground, top, at=(0, 0, 0), v0=(0, 150, -4.61538)))
    expected = np.array([0.4212966589, 0.8945719743, -0.1491647006])

    def look(result: nx.Result) -> np.ndarray:
        return at(result, "top", "rotation") @ [0.0, 1.0, 0.0]

    e = errors(lambda dt: nx.ImplicitEuler(dt, bdf2=bdf2), (2.5e-4, 1.25e-4), expected, look, system, 0.1)
    assert math.log2(e[0] / e[1]) == pytest.approx(2 if bdf2 else 1, abs=0.1)
    assert e[1] < (2e-5 if bdf2 else 3e-3)


def free_body(w0) -> nx.System:
    system = nx.System("free", gravity=(0, 0, 0))
    body = system.add_body("body", mass=1.0, inertia=(1, 2, 3))
    system.add_joint(nx.Free("free", system.ground, body, v0=(*w0, 0, 0, 0)))
    return system


def body_rate(result: nx.Result, k: int = -1) -> np.ndarray:
    return at(result, "body", "rotation", k).T @ at(result, "body", "angular_velocity", k)


def test_a_torque_free_asymmetric_body_converges_with_order_1() -> None:
    expected = np.array([0.976782616339, 0.214466128838, -0.563916152036])
    e = errors(nx.ImplicitEuler, (0.005, 0.0025), expected, body_rate, free_body((0.01, 1.0, 0.0)), 10.0)
    assert math.log2(e[0] / e[1]) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("dt", [0.01, 1.0, 20.0])
def test_a_torque_free_body_keeps_its_momentum_and_gains_no_energy_at_any_step(dt: float) -> None:
    result = nx.simulate(free_body((0.01, 1.0, 0.3)), 100 * dt, nx.ImplicitEuler(dt))
    I = np.array([1.0, 2.0, 3.0])
    R, w = result.rotation("body").values, result.angular_velocity("body").values
    rates = np.einsum("nji,nj->ni", R, w)
    size = np.linalg.norm(I * rates, axis=1)
    assert np.abs(size - size[0]).max() < 1e-10 * size[0]
    assert (np.diff((I * rates**2).sum(axis=1)) < 1e-12).all()


# --- stability ------------------------------------------------------------------------------------------------------


def test_a_stiff_chain_at_a_long_step_loses_energy_and_never_gains_any() -> None:
    system = nx.System("stiff chain", gravity=(0, -9.81, 0))
    parent = system.ground
    for i in range(10):
        link = system.add_body(f"link{i}", mass=1.0, inertia=(0.01, 1 / 12, 1 / 12), position=(i + 0.5, 0, 0))
        system.add_joint(
            nx.Revolute(f"hinge{i}", parent, link, at=(i, 0, 0), axis=(0, 0, 1), stiffness=1e6 if i % 3 else 0)
        )
        parent = link
    result = nx.simulate(system, 30.0, nx.ImplicitEuler(0.1))
    total = result.energy()["total"].values
    assert (np.diff(total[1:]) < 1e-6 * abs(total).max()).all()
    assert np.isfinite(total).all() and total[-1] < -100.0
    assert result.recording.violation.max() < CLOSED


# --- agreement ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TREE_KINDS)
def test_every_joint_moves_and_reacts_as_in_minimal_coordinates_in_the_order_of_the_method(kind: str) -> None:
    rng = np.random.default_rng(7)
    system = nx.System(kind, gravity=(1.0, -9.81, 2.0))
    parent = system.ground
    for i in range(2):
        body = system.add_body(f"body{i}", position=(0.5 * i, 0.1 * i, 0), **systems.solid(rng))
        options = {"pitch": 0.2} if kind == "helical" else {}
        place = {"at": (0.5 * i - 0.2, 0, 0), "axis": systems.unit(rng, 3), "reference": systems.unit(rng, 3)}
        system.add_joint(JOINTS[kind](f"joint{i}", parent, body, **place, **options))
        parent = body
    exact = nx.simulate(system, 0.2, nx.RungeKutta4(5e-4), output_every=10**9)
    for bdf2, order, off, off_reaction in ((False, 1, 2e-3, 0.1), (True, 2, 1e-5, 5e-4)):
        e, r = [], []
        for dt in (2e-3, 1e-3):
            found = nx.simulate(system, 0.2, nx.ImplicitEuler(dt, bdf2=bdf2), output_every=10**9)
            e.append(np.abs(found.position().values[-1] - exact.position().values[-1]).max())
            joints = ("joint0", "joint1")
            r.append(max(np.abs(at(found, name, "reaction") - at(exact, name, "reaction")).max() for name in joints))
        assert e[1] < off and math.log2(e[0] / e[1]) == pytest.approx(order, abs=0.05)
        assert r[1] < off_reaction
        if r[1] > 1e-7:  # between bodies that only shift, these joints carry nothing
            assert math.log2(r[0] / r[1]) == pytest.approx(order, abs=0.05)


def test_reactions_tend_to_those_of_the_other_formulations() -> None:
    system = double_pendulum()
    exact = nx.simulate(system, 0.5, nx.RungeKutta4(1e-3), output_every=10**9)
    e = []
    for dt in (2e-3, 1e-3):
        found = nx.simulate(system, 0.5, nx.ImplicitEuler(dt), output_every=10**9)
        e.append(max(np.abs(at(found, j, "reaction") - at(exact, j, "reaction")).max() for j in ("joint1", "joint2")))
    assert e[1] < 0.1 and e[0] / e[1] == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("build", [mechanisms.four_bar, mechanisms.bricard])
def test_redundant_rows_do_no_harm(build) -> None:
    system = build()
    assert nx.assemble(system).redundancy.redundant
    expected = nx.simulate(system, 0.3, nx.HHT(dt=1e-3), output_every=10**9)
    for fixed in ({}, {"mu": 1e5, "updates": 10}):
        found = nx.simulate(system, 0.3, nx.ImplicitEuler(1e-3, bdf2=True, **fixed), output_every=10**9)
        np.testing.assert_allclose(found.position().values[-1], expected.position().values[-1], rtol=0, atol=1e-4)
        assert found.recording.violation.max() < CLOSED


@pytest.mark.filterwarnings("ignore:passes near a singular pose:nexdyn.NexDynWarning")
def test_two_four_bars_pass_the_flat_pose_on_their_branch() -> None:
    """A02: at 0.71 s one degree of freedom becomes three, and rounding of C moves the bodies by more than the rest of a step."""
    run = nx.simulate(four_bars(), 1.0, nx.ImplicitEuler(1e-3, bdf2=True))
    tip = np.hstack([run.position("B0").values[-1, :2], run.velocity("B0").values[-1, :2]])
    np.testing.assert_allclose(tip, (-0.1950203019, -0.9807992057, -6.6766780369, 1.3275783252), rtol=0, atol=1e-3)
    apart = run.position("standing2").values - run.position("standing0").values
    assert np.abs(apart - (2, 0, 0)).max() < 1e-8


def test_springs_dampers_friction_and_loads_act_as_in_minimal_coordinates() -> None:
    system = nx.System("loaded", gravity=(0, -9.81, 0))
    a = system.add_body("a", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    b = system.add_body("b", mass=1.5, inertia=(0.2, 0.2, 0.1), position=(1.5, 0, 0))
    own = {"stiffness": 5.0, "damping": 0.3, "friction": 0.2, "friction_speed": 0.1}
    system.add_joint(nx.Revolute("hinge", system.ground, a, at=(0, 0, 0), axis=(0, 0.2, 1), **own))
    system.add_joint(nx.Spherical("ball", a, b, at=(1, 0, 0), stiffness=3.0, damping=0.2))
    system.add_force(
        nx.PointSpring("spring", system.ground, b, stiffness=40.0, damping=1.0, length=1.0, at_a=(1, 1, 1))
    )
    system.add_force(nx.AppliedForce("push", b, force=(0.0, nx.Harmonic(3.0, 5.0), 1.0), expressed_in="body"))
    system.add_force(nx.JointForce("motor", "hinge", nx.Linear(0.5, 1.0)))
    system.add_force(nx.UserJointForce("own", "hinge", numba.njit(lambda t, q, v: -0.4 * v)))
    expected = nx.simulate(system, 0.5, nx.RungeKutta4(5e-4), output_every=10**9)
    e = []
    for dt in (2e-3, 1e-3):
        found = nx.simulate(system, 0.5, nx.ImplicitEuler(dt, bdf2=True), output_every=10**9)
        e.append(np.abs(found.position().values[-1] - expected.position().values[-1]).max())
    assert e[1] < 1e-4 and e[0] / e[1] > 3.0


def test_a_driver_turns_its_joint_many_times() -> None:
    system = nx.System("driven", gravity=(0, -9.81, 0))
    crank = system.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    system.add_joint(nx.Revolute("hinge", system.ground, crank, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_driver(nx.Driver("motor", "hinge", nx.Linear(0.0, 10.0)))
    result = nx.simulate(system, 2.0, nx.ImplicitEuler(0.01))
    angle = np.arctan2(*at(result, "crank", "position")[1::-1])
    assert math.remainder(angle - 20.0, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_a_point_mass_on_a_massless_bar() -> None:
    result = nx.simulate(published.pendulum(), 1.0, nx.ImplicitEuler(1e-3, bdf2=True), output_every=10**9)
    np.testing.assert_allclose(at(result, "mass", "position")[:2], published.A01[1], rtol=0, atol=2e-4)


def test_a_run_in_pieces_is_the_run_with_bdf2_too() -> None:
    whole, pieces = (PotentialSimulation(double_pendulum(), nx.ImplicitEuler(0.01, bdf2=True)) for _ in range(2))
    whole.march_by(0.01, 12, 0, lambda: None)
    for _ in range(12):
        pieces.march_by(0.01, 1, 0, lambda: None)
    np.testing.assert_array_equal(pieces._motion.q, whole._motion.q)


@pytest.mark.parametrize("softer", [1e-10, 1e-14])
def test_a_penalty_that_is_too_soft_grows_until_the_joints_close(softer: float) -> None:
    stiff, soft = (PotentialSimulation(double_pendulum(), nx.ImplicitEuler(0.01)) for _ in range(2))
    soft._motion.mu[:] *= softer
    soft._motion.run[0] *= softer
    start = soft._motion.mu.copy()
    for run in (stiff, soft):
        run.march_by(0.01, 5, 0, lambda: None)
    assert (soft._motion.mu >= 99 * start).all() and soft._motion.run[3] < CLOSED
    np.testing.assert_allclose(soft._motion.q, stiff._motion.q, rtol=0, atol=1e-12)


def test_a_run_goes_on_from_a_result() -> None:
    system, method = double_pendulum(), nx.ImplicitEuler(0.01)
    half = nx.simulate(system, 0.5, method)
    found = nx.simulate(system, 1.0, method, initial=half)
    whole = nx.simulate(system, 1.0, method)
    np.testing.assert_allclose(at(found, "link2", "position"), at(whole, "link2", "position"), rtol=0, atol=1e-9)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dt": 0.0}, "dt of ImplicitEuler"), ({"dt": -1.0}, "dt of ImplicitEuler"), ({"dt": math.nan}, "dt of"),
        ({"dt": 0.01, "mu": 0.0}, "mu of ImplicitEuler"), ({"dt": 0.01, "mu": -5.0}, "mu of ImplicitEuler"),
        ({"dt": 0.01, "mu": math.nan}, "mu of"), ({"dt": 0.01, "updates": 0}, "updates of"),
        ({"dt": 0.01, "updates": 2.5}, "updates of"), ({"dt": 0.01, "bdf2": 1}, "bdf2 of"),
    ],
)  # fmt: skip
def test_what_the_method_refuses(options: dict, says: str) -> None:
    with pytest.raises(nx.InputError, match=says):
        nx.ImplicitEuler(**options)


def test_a_system_without_bodies_is_refused() -> None:
    with pytest.raises(nx.InputError, match="no bodies that move"):
        nx.simulate(nx.System("empty"), 1.0, nx.ImplicitEuler(0.01))


def test_a_driver_beyond_reach_stops_the_run_with_what_was_reached() -> None:
    system = nx.System("reach", gravity=(0, 0, 0))
    a = system.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    b = system.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0.5, 0))
    system.add_joint(nx.Revolute("shoulder", system.ground, a, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("elbow", a, b, at=(1, 0, 0), axis=(0, 0, 1)))
    system.add_marker("hand", b, position=(0, 0.5, 0))
    system.add_driver(nx.PointDriver("pull", "hand", "x", nx.Linear(1.0, 1.0)))
    with pytest.raises(nx.SolveError) as caught:
        nx.simulate(system, 3.0, nx.ImplicitEuler(0.01))
    assert caught.value.time is not None and 0.5 < caught.value.time < 1.2  # it reaches 2 m, at 1 s
    assert caught.value.result.status == "failed"

"""Motion against closed forms, published values, and MuJoCo."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj

import nexdyn as nx
from nexdyn.problems import pendulum
from nexdyn.problems.double_pendulum import POINTS, RODS
from nexdyn.problems.heavy_top import HEAVY_TOP
from nexdyn.spatial.rotations import quaternion, rotation_matrix
from nexdyn.tree.observe import observe_motion

TIGHT = nx.DormandPrince(rtol=1e-12, atol=1e-13)
G = (0.0, -9.81, 0.0)


def at_times(system: nx.System, times: list[float], method: Any = TIGHT, **start: Any) -> Any:
    """The recording at exactly these times."""
    r = nx.simulate(system, times[-1], method, output_times=times, **start).recording
    np.testing.assert_array_equal(r.t, times)
    return r


def total_energy(system: nx.System, r: Any) -> np.ndarray:
    seen = observe_motion(nx.Tree(system), r.t, r.q, r.v, r.a)
    return seen.kinetic + seen.gravitational + seen.elastic


# --- simple pendulum (IFToMM A01) -------------------------------------------------------------------------------------


simple_pendulum = pendulum.pendulum


@pytest.mark.parametrize(
    ("method", "tolerance"), [(TIGHT, 2e-10), (nx.RungeKutta4(1e-3), 1e-8), (nx.DormandPrince(1e-8, 1e-10), 1e-4)]
)
def test_simple_pendulum_stands_where_iftomm_has_it_up_to_100_s(method: Any, tolerance: float) -> None:
    system = simple_pendulum()
    tree = nx.Tree(system)
    sim = nx.Simulation(system, method)
    for t, place in pendulum.A01.reference.items():
        sim.run(t)
        np.testing.assert_allclose(tree.pose(sim.q, "mass")[1], [*place, 0.0], atol=tolerance)


def test_simple_pendulum_has_its_period() -> None:
    period = 2.3678419475762
    r = at_times(simple_pendulum(), [period, 10 * period])
    np.testing.assert_allclose(r.q, 0.0, atol=1e-9)


# --- double pendulum --------------------------------------------------------------------------------------------------


def double_pendulum(**link: Any) -> nx.System:
    """Links of 1 kg and 1 m that hang straight down as described, and start horizontal."""
    system = nx.System("double pendulum", gravity=G)
    one = system.add_body("one", mass=1.0, position=(0, -1, 0), **link)
    two = system.add_body("two", mass=1.0, position=(0, -2, 0), **link)
    system.add_joint(nx.Revolute("hinge1", system.ground, one, at=(0, 0, 0), axis=(0, 0, 1), q0=math.pi / 2))
    system.add_joint(nx.Revolute("hinge2", one, two, at=(0, -1, 0), axis=(0, 0, 1)))
    return system


ROD = {"com": (0, 0.5, 0), "inertia": (1 / 12, 0, 1 / 12)}


@pytest.mark.parametrize(
    ("link", "angles"),
    [
        ({}, list(POINTS.reference.values())),
        (ROD, list(RODS.reference.values())),
    ],
    ids=["point masses", "uniform rods"],
)
@pytest.mark.parametrize(("method", "tolerance"), [(TIGHT, 2e-10), (nx.RungeKutta4(1e-3), 1e-8)])
def test_double_pendulum_swings_as_published(link: Any, angles: Any, method: Any, tolerance: float) -> None:
    sim = nx.Simulation(double_pendulum(**link), method)
    for t, expected in zip((0.5, 1.0, 2.0), angles, strict=True):
        sim.run(t)
        np.testing.assert_allclose(np.cumsum(sim.q), expected, atol=tolerance)


def test_double_pendulum_of_unit_inertia_starts_with_the_exact_accelerations() -> None:
    system = nx.System("double pendulum", gravity=G)
    one = system.add_body("link1", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    two = system.add_body("link2", mass=1.0, inertia=(1, 1, 1), position=(1.5, 0, 0))
    system.add_joint(nx.Revolute("hinge1", system.ground, one, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add_joint(nx.Revolute("hinge2", one, two, at=(1, 0, 0), axis=(0, 0, 1)))
    r = nx.simulate(system, 0.0).recording
    seen = observe_motion(nx.Tree(system), r.t, r.q, r.v, r.a)
    np.testing.assert_allclose(seen.acceleration[0], [[0, -3.1104878049, 0], [0, -6.9387804878, 0]], atol=1e-10)


# --- bodies that turn -------------------------------------------------------------------------------------------------


def test_asymmetric_body_tumbles_as_jacobi_has_it() -> None:
    """Dzhanibekov's motion: ω = (1.00005 dn u, sn u, 0.57735 cn u), u = τ t + K."""
    system = nx.System("wing nut", gravity=(0, 0, 0))
    system.add_body("nut", mass=1.0, inertia=(1.0, 2.0, 3.0))
    half = 20.7546097648
    times = sorted([*np.linspace(0.0, 60.0, 121), half / 2, 1.5 * half, 2.5 * half])
    tau, K, m = 0.577379135881, 5.99163932678, 0.999900009999
    for method, tolerance in ((TIGHT, 1e-9), (nx.DormandPrince(1e-8, 1e-10), 1e-4)):
        r = at_times(system, times, method, v0=(0.01, 1.0, 0.0, 0.0, 0.0, 0.0))
        # sn, cn, dn have the period 4K; u beyond K + 2K is taken back into it
        sn, cn, dn, _ = ellipj(np.mod(tau * r.t + K, 4 * K), m)
        exact = np.stack([0.01 / np.sqrt(1 - m) * dn, sn, 0.57735026919 * cn], axis=1)
        np.testing.assert_allclose(r.v[:, :3], exact, atol=max(tolerance, 3e-8))
        ten = r.v[times.index(10.0), :3]
        np.testing.assert_allclose(np.abs(ten), [0.976782616339, 0.214466128838, 0.563916152036], atol=tolerance)
    crossings = [times.index(t) for t in (half / 2, 1.5 * half, 2.5 * half)]
    np.testing.assert_allclose(r.v[crossings, 1], 0.0, atol=1e-3)


def test_torque_free_body_keeps_energy_and_momentum() -> None:
    system = nx.System("wing nut", gravity=(0, 0, 0))
    system.add_body("nut", mass=1.0, inertia=(1.0, 2.0, 3.0))
    r = at_times(system, list(np.linspace(0.0, 60.0, 121)), v0=(0.01, 1.0, 0.0, 0.1, 0.2, 0.3))
    tree = nx.Tree(system)
    h = tree.centroidal_momentum(r.q, r.v)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=1e-10)
    np.testing.assert_allclose(total_energy(system, r), 1.0001 - 0.00005 + 0.07, atol=1e-10)


def test_heavy_top_nutates_as_published() -> None:
    """Géradin & Cardona's top."""
    system = nx.System("heavy top")
    top = system.add_body("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), com=(0, 1, 0))
    system.add_joint(nx.Spherical("tip", system.ground, top, at=(0, 0, 0), v0=(0, 150, -4.61538)))
    for method, tolerance in ((TIGHT, 1e-8), (nx.RungeKutta4(1e-4), 1e-6)):
        sim = nx.Simulation(system, method, output_every=100)
        for t, com in HEAVY_TOP.reference.items():
            r = sim.run(t).recording
            np.testing.assert_allclose(rotation_matrix(sim.q) @ [0, 1, 0], com, atol=tolerance)
        np.testing.assert_allclose(total_energy(system, r), 5435.696790866, rtol=1e-8)


def test_helical_joint_falls_like_a_screw() -> None:
    """(m + I/h²) z̈ = −m g."""
    m, I, h, g = 2.0, 0.3, 0.25, 9.81
    system = nx.System("screw", gravity=(0, 0, -g))
    nut = system.add_body("nut", mass=m, inertia=(0.2, 0.2, I))
    system.add_joint(nx.Helical("screw", system.ground, nut, pitch=h, at=(0, 0, 0), axis=(0, 0, 1)))
    r = at_times(system, [0.5, 1.0, 2.0])
    a = -m * g / (m + I / h**2)
    np.testing.assert_allclose(r.q[:, 0] * h, 0.5 * a * r.t**2, rtol=1e-10)


# --- MuJoCo -----------------------------------------------------------------------------------------------------------

mujoco = pytest.importorskip("mujoco", reason="an extra: pip install nexdyn[bench]")

MJ = """<mujoco>
  <compiler angle="radian" inertiafromgeom="false" autolimits="false"/>
  <option timestep="{dt}" integrator="RK4" gravity="{g}">
    <flag contact="disable" energy="enable"/>
  </option>
  <worldbody>{bodies}</worldbody>
</mujoco>"""


def text(x: Any) -> str:
    return " ".join(repr(float(c)) for c in np.atleast_1d(x))


class Oracle:
    """The same mechanism in MuJoCo, its state in NexDyn's coordinates."""

    def __init__(self, system: nx.System, dt: float) -> None:
        self.tree = nx.Tree(system)
        self.system, self.kinds = system, {j.child.name: j for j in system.joints.values()}
        children: dict[str, list[str]] = {}
        for joint in system.joints.values():
            children.setdefault(joint.parent.name, []).append(joint.child.name)
        bodies = "".join(self.body(name, children) for name in children["ground"])
        self.model = mujoco.MjModel.from_xml_string(MJ.format(dt=dt, g=text(system.gravity), bodies=bodies))
        self.data = mujoco.MjData(self.model)

    def body(self, name: str, children: dict[str, list[str]]) -> str:
        body, joint = self.system.body(name), self.kinds[name]
        R, p = body.pose(self.system.values)
        R_P, p_P = joint.parent.pose(self.system.values)
        m, com, inertia, _, _ = body.resolved(self.system.values)
        q = quaternion(R_P.T @ R)
        I = text(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        frames = joint.frames(self.system.values)
        kind = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}[joint.kind]
        numbers = joint.resolved(self.system.values)
        given = ""
        if kind != "free":
            given = f'pos="{text(frames.p_BJ)}" stiffness="{numbers.stiffness[0]}" damping="{numbers.damping[0]}" '
            given += f'armature="{numbers.armature[0]}" '
        if kind in ("hinge", "slide"):
            given += f'axis="{text(frames.R_BJ[:, 2])}" springref="{numbers.rest[0]}"'
        inner = "".join(self.body(child, children) for child in children.get(name, []))
        return (
            f'<body name="{name}" pos="{text(R_P.T @ (p - p_P))}" quat="{text(q)}">'
            f'<inertial pos="{text(com)}" mass="{m}" fullinertia="{I}"/>'
            f'<joint name="{joint.name}" type="{kind}" {given}/>{inner}</body>'
        )

    def set(self, q: np.ndarray, v: np.ndarray) -> None:
        for name, place in self.tree.coordinates.items():
            joint, own_q, own_v = self.data.joint(name), q[place.q].copy(), v[place.v].copy()
            if self.system.joint(name).kind == "free":  # there pose in the world, velocity in the world, ω in the body
                R_WJ, p_WJ, _, _ = self.system.joint(name).frames(self.system.values)
                R = R_WJ @ rotation_matrix(own_q[:4])
                own_q = np.concatenate([p_WJ + R_WJ @ own_q[4:], quaternion(R)])
                own_v = np.concatenate([R @ own_v[3:], own_v[:3]])
            joint.qpos, joint.qvel = own_q, own_v

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        q, v = np.zeros(self.tree.nq), np.zeros(self.tree.nv)
        for name, place in self.tree.coordinates.items():
            joint = self.data.joint(name)
            own_q, own_v = joint.qpos.copy(), joint.qvel.copy()
            if self.system.joint(name).kind == "free":
                R_WJ, p_WJ, _, _ = self.system.joint(name).frames(self.system.values)
                R = rotation_matrix(own_q[3:] / np.linalg.norm(own_q[3:]))
                own_q = np.concatenate([quaternion(R_WJ.T @ R), R_WJ.T @ (own_q[:3] - p_WJ)])
                own_v = np.concatenate([own_v[3:], R.T @ own_v[:3]])
            q[place.q], v[place.v] = own_q, own_v
        return q, v

    def run(self, q0: np.ndarray, v0: np.ndarray, steps: int, every: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and energy at every `every`-th step, the start included."""
        self.set(q0, v0)
        rows = []
        for k in range(steps + 1):
            if k % every == 0:
                mujoco.mj_forward(self.model, self.data)
                rows.append((*self.state(), self.data.energy.sum()))
            mujoco.mj_step(self.model, self.data)
        q, v, E = zip(*rows, strict=True)
        return np.array(q), np.array(v), np.array(E)


def compare(system: nx.System, q0: np.ndarray, v0: np.ndarray, dt: float, t_end: float, tolerance: float) -> None:
    steps = round(t_end / dt)
    every = steps // 20
    q, v, E = Oracle(system, dt).run(q0, v0, steps, every)
    r = nx.simulate(system, steps * dt, nx.RungeKutta4(dt), q0=q0, v0=v0, output_every=every).recording
    tree = nx.Tree(system)
    for place in tree.coordinates.values():  # the double cover
        if place.q.stop - place.q.start > place.v.stop - place.v.start:
            four = slice(place.q.start, place.q.start + 4)
            q[:, four] *= np.sign((q[:, four] * r.q[:, four]).sum(axis=1, keepdims=True))
    assert np.abs(r.v).max() > 0.5
    np.testing.assert_allclose(r.q, q, atol=tolerance * max(1.0, np.abs(q).max()))
    np.testing.assert_allclose(r.v, v, atol=tolerance * max(1.0, np.abs(v).max()))
    energy = total_energy(system, r)
    np.testing.assert_allclose(energy - energy[0], E - E[0], atol=10 * tolerance * max(1.0, np.ptp(E), np.abs(E).max()))


def test_hinge_chain_is_mujocos() -> None:
    """Six capsules, damping 0.5, RK4 of 1 ms, z up."""
    system = nx.load("hinge-chain")
    tree = nx.Tree(system)
    q0 = tree.described()
    assert q0[0] == pytest.approx(math.pi / 2)
    compare(system, q0, np.zeros(6), 1e-3, 1.0, 1e-10)


def chain(kinds: list[str], seed: int) -> tuple[nx.System, np.ndarray, np.ndarray]:
    """A branching tree of hinges, slides, balls and free bodies with springs, dampers and armatures, and a state."""
    rng = np.random.default_rng(seed)
    system = nx.System("random", gravity=(1.0, -2.0, -9.0))
    bodies = [system.ground]
    unit = lambda n: (x := rng.normal(size=n)) / np.linalg.norm(x)  # noqa: E731
    for i, kind in enumerate(kinds):
        A = rng.normal(size=(3, 3)) * 0.3
        where = {"position": rng.normal(size=3), "orientation": unit(4)}
        inertia = np.trace(A @ A.T) * np.eye(3) - A @ A.T
        mass = {"mass": rng.uniform(0.5, 2), "com": 0.2 * rng.normal(size=3), "inertia": inertia}
        child = system.add_body(f"b{i}", **where, **mass)
        parent = system.ground if kind == "free" else bodies[rng.integers(max(0, len(bodies) - 3), len(bodies))]
        options: dict[str, Any] = {"damping": rng.uniform(0, 0.5), "armature": rng.uniform(0, 0.3)}
        options["stiffness"] = rng.uniform(0, 5)
        if kind in ("revolute", "prismatic"):
            options |= {"axis": unit(3), "rest": rng.normal() * 0.2}
        at = {} if kind == "free" else {"at": rng.normal(size=3)}
        system.add_joint(nx.joints.JOINTS[kind](f"j{i}", parent, child, **at, **({} if kind == "free" else options)))
        bodies.append(child)
    tree = nx.Tree(system)
    return system, tree.described() if "free" in kinds else 0.2 * rng.normal(size=tree.nq), rng.normal(size=tree.nv)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_trees_of_hinges_and_slides_are_mujocos(seed: int) -> None:
    system, q0, v0 = chain(["revolute", "prismatic", "revolute", "revolute", "prismatic", "revolute"], seed)
    compare(system, q0, v0, 1e-3, 1.0, 1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_trees_with_ball_and_free_joints_are_mujocos_to_the_order_of_its_method(seed: int) -> None:
    system, q0, v0 = chain(["free", "revolute", "spherical", "free", "prismatic", "spherical"], seed)
    compare(system, q0, v0, 1e-4, 0.5, 1e-8)

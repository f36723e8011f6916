"""Pinocchio as an oracle: the same random trees built in both, every algorithm to 1e-10 of its largest entry.

    v_pin = B(q) v,   a_pin = B a + Ḃ v,   τ = Bᵀ τ_pin,   M = Bᵀ M_pin B,   J = J_pin B

B is the identity but for a planar joint, whose velocity is in the child's axes in pin and along the parent's here, and
a free joint, which has its linear part first. Quaternions are (x, y, z, w) in pin and follow the position; the angle of
a planar joint is (cos, sin). Welds are merged into the body that carries them. Planar joints have no armature here:
that of pin turns with the child.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import systems

from nexdyn.joints import Fixed
from nexdyn.spatial.rotations import rotation_about
from nexdyn.tree.tree import Tree

pin = pytest.importorskip("pinocchio")

SEEDS = range(6)


def pin_joint(kind: str, pitch: float) -> Any:
    """Pinocchio's model of a moving joint, axis z."""
    match kind:
        case "helical":
            return pin.JointModelHZ(pitch)
        case "universal":
            return pin.JointModelUniversal(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
        case "cylindrical":
            joint = pin.JointModelComposite(pin.JointModelRZ())
            joint.addJoint(pin.JointModelPZ())
            return joint
        case _:
            return {
                "revolute": pin.JointModelRZ,
                "prismatic": pin.JointModelPZ,
                "spherical": pin.JointModelSpherical,
                "planar": pin.JointModelPlanar,
                "cartesian": pin.JointModelTranslation,
                "free": pin.JointModelFreeFlyer,
            }[kind]()


class Pin:
    """A system in Pinocchio, in NexDyn's coordinates, one state at a time."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.system = tree, tree.system
        self.model = pin.Model()
        self.model.gravity.linear = self.system.gravity
        # where each body stands: pin's joint that carries it, and its frame in that joint's child side
        self.on: dict[str, tuple[int, Any]] = {"ground": (0, pin.SE3.Identity())}
        carriers = {joint.child.name: joint for joint in self.system.joints.values()}
        for body in tree.body_names:
            self._add(body, carriers.get(body))
        self.data = self.model.createData()

    def _add(self, body: str, joint: Any) -> None:
        m, c, I, *_ = self.system.body(body).resolved({})
        if joint is None:
            parent, X_PJ, X_BJ, kind, armature = 0, pin.SE3.Identity(), pin.SE3.Identity(), "free", np.zeros(6)
        else:
            R_PJ, p_PJ, R_BJ, p_BJ = joint.frames({})
            parent, X_LP = self.on[joint.parent.name]
            X_PJ, X_BJ = X_LP * pin.SE3(R_PJ, p_PJ), pin.SE3(R_BJ, p_BJ)
            kind, armature = joint.kind, joint.resolved({}).armature
        if isinstance(joint, Fixed):
            self.on[body] = parent, X_PJ * X_BJ.inverse()
        else:
            model = pin_joint(kind, getattr(joint, "pitch", 0.0))
            i = self.model.addJoint(parent, model, X_PJ, body if joint is None else joint.name)
            j = self.model.joints[i].idx_v
            self.model.armature[j : j + len(armature)] = [*armature[3:], *armature[:3]] if kind == "free" else armature
            self.on[body] = i, X_BJ.inverse()
        i, X = self.on[body]
        self.model.appendBodyToJoint(i, pin.Inertia(m, c, I), X)
        self.model.addFrame(pin.Frame(body, i, X, pin.FrameType.BODY))

    # --- the map ------------------------------------------------------------------------------------------------------

    def _joints(self) -> Any:
        for name, place in self.tree.coordinates.items():
            model = self.model.joints[self.model.getJointId(name)]
            joint = self.system.joints.get(name)
            yield "free" if joint is None else joint.kind, place, model.idx_q, model.idx_v

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.empty(self.model.nq)
        for kind, place, k, _ in self._joints():
            own = q[place.q]
            if kind in ("spherical", "free"):
                w, x, y, z, *p = own
                own = np.array([*p, x, y, z, w])
            elif kind == "planar":
                own = np.array([own[0], own[1], np.cos(own[2]), np.sin(own[2])])
            out[k : k + len(own)] = own
        return out

    def B(self, q: np.ndarray) -> np.ndarray:
        B = np.zeros((self.model.nv, self.tree.nv))
        for kind, place, _, j in self._joints():
            block = np.eye(place.v.stop - place.v.start)
            if kind == "planar":
                block = rotation_about((0, 0, 1), q[place.q][2]).T
            elif kind == "free":
                block = np.roll(block, 3, axis=0)
            B[j : j + len(block), place.v] = block
        return B

    def B_dot(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.zeros((self.model.nv, self.tree.nv))
        for kind, place, _, j in self._joints():
            if kind == "planar":
                spin = np.cross(np.eye(3), [0, 0, v[place.v][2]])  # −ω ×, on columns
                out[j : j + 3, place.v] = spin.T @ rotation_about((0, 0, 1), q[place.q][2]).T
        return out


@functools.cache
def both(seed: int, without: str = "") -> tuple[Tree, Pin]:
    """A random tree of all joints, in both."""
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.permutation([*systems.KINDS, "fixed", "revolute", "prismatic", "spherical"])]
    kinds = [kind for kind in kinds if kind != without]
    system = systems.random_system(100 + seed, kinds, roots=2, floating=seed % 2, reach=1 + seed)
    planar = [name for name, joint in system.joints.items() if joint.kind == "planar"]
    tree = Tree(system.with_parameters({f"{name}.armature": 0.0 for name in planar}))
    return tree, Pin(tree)


def agree(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10 * max(1.0, np.abs(expected).max()))


def state_in_both(seed: int, without: str = "") -> Any:
    """Tree, oracle, state in both coordinates, B and Ḃ."""
    tree, oracle = both(seed, without)
    q, v, a, tau = systems.state(tree, seed)
    return tree, oracle, q, v, a, tau, oracle.q(q), oracle.B(q), oracle.B_dot(q, v)


@pytest.fixture(params=SEEDS)
def case(request: pytest.FixtureRequest) -> Any:
    return state_in_both(request.param)


@pytest.fixture(params=SEEDS)
def case_without_universal(request: pytest.FixtureRequest) -> Any:
    """pin 4.1 leaves Ḣ of universal joints out of J̇ and C: its J̇ is not the rate of its J, its C v + g not its h."""
    return state_in_both(request.param, without="universal")


def test_inverse_dynamics_are_those_of_pin(case: Any) -> None:
    tree, o, q, v, a, _, q_pin, B, B_dot = case
    agree(tree.rnea(q, v, a), B.T @ pin.rnea(o.model, o.data, q_pin, B @ v, B @ a + B_dot @ v))
    agree(tree.gravity(q), B.T @ pin.computeGeneralizedGravity(o.model, o.data, q_pin))


def test_mass_matrix_is_that_of_pin(case: Any) -> None:
    tree, o, q, *_, q_pin, B, _ = case
    M = np.triu(pin.crba(o.model, o.data, q_pin))
    agree(tree.crba(q), B.T @ (M + np.triu(M, 1).T) @ B)


@pytest.mark.parametrize("dynamics", ["aba", "crba"])
def test_forward_dynamics_are_those_of_pin(case: Any, dynamics: Any) -> None:
    tree, o, q, v, _, tau, q_pin, B, B_dot = case
    a_pin = pin.aba(o.model, o.data, q_pin, B @ v, np.linalg.solve(B.T, tau))
    agree(tree.forward_dynamics(q, v, tau, dynamics), np.linalg.solve(B, a_pin - B_dot @ v))


def test_coriolis_matrix_times_v_is_that_of_pin(case_without_universal: Any) -> None:
    # many C have M a + C v + g = τ and Ṁ − 2C skew; C v is the same
    tree, o, q, v, *_, q_pin, B, B_dot = case_without_universal
    C = pin.computeCoriolisMatrix(o.model, o.data, q_pin, B @ v)
    M = np.triu(pin.crba(o.model, o.data, q_pin))
    M = M + np.triu(M, 1).T
    agree(tree.coriolis(q, v) @ v, B.T @ (C @ (B @ v) + M @ (B_dot @ v)))


@pytest.mark.parametrize(
    ("reference", "frame"), [("local", "LOCAL"), ("world", "WORLD"), ("world_aligned", "LOCAL_WORLD_ALIGNED")]
)
def test_jacobians_and_their_rates_are_those_of_pin(case_without_universal: Any, reference: Any, frame: str) -> None:
    tree, o, q, v, *_, q_pin, B, B_dot = case_without_universal
    pin.computeJointJacobiansTimeVariation(o.model, o.data, q_pin, B @ v)
    pin.updateFramePlacements(o.model, o.data)
    angular_first = [3, 4, 5, 0, 1, 2]
    for body in tree.body_names:
        f = o.model.getFrameId(body)
        J = pin.getFrameJacobian(o.model, o.data, f, getattr(pin.ReferenceFrame, frame))[angular_first]
        J_dot = pin.getFrameJacobianTimeVariation(o.model, o.data, f, getattr(pin.ReferenceFrame, frame))[angular_first]
        agree(tree.jacobian(q, body, reference), J @ B)
        agree(tree.jacobian_rate(q, v, body, reference), J_dot @ B + J @ B_dot)


def test_poses_are_those_of_pin(case: Any) -> None:
    tree, o, q, *_, q_pin, _, _ = case
    pin.framesForwardKinematics(o.model, o.data, q_pin)
    for body in tree.body_names:
        X = o.data.oMf[o.model.getFrameId(body)]
        R, p = tree.pose(q, body)
        agree(R, X.rotation)
        agree(p, X.translation)


def test_centroidal_momentum_and_centre_of_mass_are_those_of_pin(case: Any) -> None:
    tree, o, q, v, *_, q_pin, B, _ = case
    h = pin.computeCentroidalMomentum(o.model, o.data, q_pin, B @ v)
    agree(tree.centroidal_momentum(q, v), [*h.angular, *h.linear])
    agree(tree.center_of_mass(q), pin.centerOfMass(o.model, o.data, q_pin))
    pin.ccrba(o.model, o.data, q_pin, B @ v)
    agree(tree.centroidal_momentum_matrix(q), o.data.Ag[[3, 4, 5, 0, 1, 2]] @ B)
    agree(tree.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(o.model, o.data, q_pin) @ B)


def test_energies_are_those_of_pin(case: Any) -> None:
    tree, o, q, v, *_, q_pin, B, _ = case
    agree(tree.kinetic_energy(q, v), pin.computeKineticEnergy(o.model, o.data, q_pin, B @ v))
    agree(tree.potential_energy(q), pin.computePotentialEnergy(o.model, o.data, q_pin))

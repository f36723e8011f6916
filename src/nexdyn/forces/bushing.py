"""Bushing: stiffness and damping in all six directions between the frames A and B.

    x = (φ, p),   φ = log(R_WAᵀ R_WB),   p = R_WAᵀ (p_WB − p_WA)            B as A sees it, angular part first
    φ̇ = J_l⁻¹(φ) ω,   ω = R_WAᵀ (ω_B − ω_A);   ṗ = R_WAᵀ (v_B − v_A − ω_A × r),   r = p_WB − p_WA
    s = −K x − D ẋ                                                            what the bushing does along x
    on B:  f = R_WA s_p,  n = R_WA J_l⁻ᵀ(φ) s_φ;   on A:  −f,  −n − r × f;   U = ½ xᵀ K x

The power of these forces is s · ẋ by construction, hence −U̇ without damping, at any angle. With J_r the right Jacobian
of the rotation vector, J_l⁻ᵀ(φ) = J_r⁻¹(φ) and J_l⁻¹(φ) = J_r⁻¹(−φ). The rotation vector has |φ| ≤ π: at half a turn
it, and with it the torque, changes sign.

With angles="xyz" φ = (α, β, γ) are the Tait–Bryan angles of B in A, about x, then the turned y, then the twice turned z,

    R = R_WAᵀ R_WB = R_x(α) R_y(β) R_z(γ),   α = atan2(−R_yz, R_zz),  β = atan2(R_xz, c),  γ = atan2(−R_xy, R_xx)
    c = cos β = √(R_yz² + R_zz²)
    ω = α̇ e_x + β̇ (0, cos α, sin α) + γ̇ (R_xz, R_yz, R_zz) = J φ̇,    Jᵀ n = s_φ
    γ̇ = (ω_z cos α − ω_y sin α)/c,   β̇ = ω_y cos α + ω_z sin α,   α̇ = ω_x − R_xz γ̇
    n_x = s_α,   n_y cos α + n_z sin α = s_β,   n_z cos α − n_y sin α = (s_γ − R_xz s_α)/c
                                                    (Shabana, Dynamics of Multibody Systems, on Euler angles; n is the dual of the rates)

so that here too the power is s · φ̇, at any angle. (Many codes take n = s_φ, which is right for small angles only.) At β = ±90° the first
axis and the third coincide, and the angles are not defined. Within 5° of it (c < sin 5°, where n is up to 11 times s) they are NaN, and the
run stops with an error that names the bushing. With a bound on c instead, α and γ would jump by half a turn there, and energy would be
created without a warning. α and γ change sign at half a turn, as the rotation vector does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nexdyn.errors import InputError, unknown
from nexdyn.forces.between import PairForce, reaction
from nexdyn.forces.kinds import BUSHING, BUSHING_XYZ
from nexdyn.forces.page import ALL_LANES, BY_DIFFERENCES, TREE_LANES, Between
from nexdyn.kernel import formula
from nexdyn.model.element import Element
from nexdyn.model.force import Force as ForceElement
from nexdyn.model.parameters import floats, sequence
from nexdyn.spatial.algebra import (
    Force,
    Quat,
    T,
    Vec3,
    cross,
    log_quaternion,
    normalized,
    quaternion_if_less,
    right_jacobian_inverse_times,
)
from nexdyn.spatial.lanes import all_less, atan2, if_less, sqrt, zero

ANGLES = ("rotation_vector", "xyz")
NOTHING = 1e-300
"""What is smaller than this is nothing."""
LEAST = math.sin(math.radians(5.0))
"""cos β below which Tait–Bryan angles are NaN."""


class Bushing(PairForce):
    """Stiffness and damping between frame `a` and frame `b`, on all six relative coordinates, in the axes of `a`.

    stiffness, damping: six numbers (the diagonal), a symmetric 6×6, or 0 for none, in the order rotation about x, y, z, then
        displacement along x, y, z [N m/rad, N m/rad, N m/rad, N/m, N/m, N/m; with s for damping]. The damping must be
        positive semidefinite. The bushing is relaxed where the two frames coincide.
    angles: what the three rotations are: "rotation_vector" [rad], or "xyz", the Tait–Bryan angles of `b` in `a` about x, y and z in turn
        [rad], as many other codes have them. These are singular where the second is ±90°: a run that comes within 5° of it stops with
        a SolveError.
    a, b, anchor_a, anchor_b, at_a, at_b: where (:class:`PairForce`).
    """

    kind, codes = "bushing", (BUSHING, BUSHING_XYZ)
    stiffness: Any
    damping: Any
    angles: str
    structural = ForceElement.structural | {"angles"}

    def __init__(
        self,
        name: str,
        a: Element | str,
        b: Element | str,
        *,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        angles: str = "rotation_vector",
        anchor_a: Any = None,
        anchor_b: Any = None,
        at_a: Any = None,
        at_b: Any = None,
    ) -> None:
        super().__init__(name, a, b, anchor_a=anchor_a, anchor_b=anchor_b, at_a=at_a, at_b=at_b)
        self._store(stiffness=stiffness, damping=damping, angles=angles)

    @property
    def code(self) -> int:  # type: ignore[override]
        """BUSHING or BUSHING_XYZ."""
        return BUSHING_XYZ if self.angles == "xyz" else BUSHING

    @property
    def not_finite(self) -> str:  # type: ignore[override]
        if self.angles == "rotation_vector":
            return super().not_finite
        return (
            "is turned to within 5° of ±90° about its second axis, where the angles xyz are singular (take "
            "angles='rotation_vector', or frames whose z is the axis of the large turn),"
        )

    def check(self, values: Mapping[str, float]) -> None:
        if self.angles not in ANGLES:
            raise unknown(f"angles of {self}", self.angles, ANGLES, plural="valid")
        super().check(values)

    def data(self, values: Mapping[str, float]) -> list[float]:
        """K and D, row by row."""
        K, D = self.matrix("stiffness", values), self.matrix("damping", values)
        largest = np.abs(D).max()
        if largest > 0.0 and np.linalg.eigvalsh(D / largest)[0] < -1e-12:
            raise InputError(f"damping of {self} has a negative eigenvalue: it would create energy")
        return [*K.ravel().tolist(), *D.ravel().tolist()]

    def matrix(self, attribute: str, values: Mapping[str, float]) -> np.ndarray:
        """`stiffness` or `damping` as a symmetric matrix, (6, 6)."""
        what, x = f"{attribute} of {self}", self.__dict__[attribute]
        if isinstance(x, int | float) and x == 0.0:
            return np.zeros((6, 6))
        rows = sequence(x, what, "six numbers or a 6×6 matrix")
        if len(rows) != 6:
            raise InputError(f"{what} has {len(rows)} entries; six numbers or six rows of six are needed")
        if not isinstance(rows[0], tuple):
            diagonal = floats(rows, 6, values, what)
            if min(diagonal) < 0.0:
                raise InputError(f"{what} is {diagonal}; its numbers must be 0 or more")
            return np.diag(diagonal)
        M = np.array([floats(row, 6, values, f"{what}, row {i}") for i, row in enumerate(rows)])
        if np.abs(M - M.T).max() > 1e-9 * np.abs(M).max():
            i, j = np.unravel_index(np.abs(M - M.T).argmax(), M.shape)
            raise InputError(f"{what} is not symmetric: [{i}][{j}] is {M[i, j]:g}, [{j}][{i}] is {M[j, i]:g}")
        return 0.5 * (M + M.T)


@formula
def rotation_vector(R):
    """φ = log R, |φ| ≤ π: by the quaternion, from that of its four expressions whose leading entry is largest."""
    trace = R.xx + R.yy + R.zz
    w, x = 1.0 + trace, 1.0 + 2.0 * R.xx - trace
    y, z = 1.0 + 2.0 * R.yy - trace, 1.0 + 2.0 * R.zz - trace
    qx, qy, qz = R.zy - R.yz, R.xz - R.zx, R.yx - R.xy
    xy, xz, yz = R.xy + R.yx, R.xz + R.zx, R.yz + R.zy
    q, largest = Quat(w, qx, qy, qz), w
    q, largest = quaternion_if_less(largest, x, Quat(qx, x, xy, xz), q), if_less(largest, x, x, largest)
    q, largest = quaternion_if_less(largest, y, Quat(qy, xy, y, yz), q), if_less(largest, y, y, largest)
    return log_quaternion(normalized(quaternion_if_less(largest, z, Quat(qz, xz, yz, z), q)))


@formula
def row_times(data, i, phi, p):
    """The row of six numbers at i times (φ, p)."""
    angular = data[i] * phi.x + data[i + 1] * phi.y + data[i + 2] * phi.z
    return angular + data[i + 3] * p.x + data[i + 4] * p.y + data[i + 5] * p.z


@formula
def matrix_times(data, k, phi, p):
    """The 6×6 matrix at k times (φ, p), as two vectors."""
    angular = Vec3(row_times(data, k, phi, p), row_times(data, k + 6, phi, p), row_times(data, k + 12, phi, p))
    linear = Vec3(row_times(data, k + 18, phi, p), row_times(data, k + 24, phi, p), row_times(data, k + 30, phi, p))
    return angular, linear


@formula
def tait_bryan(R):
    """α, β, γ, and c = cos β; β and c are NaN within 5° of β = ±90°."""
    c = sqrt(R.yz * R.yz + R.zz * R.zz)
    c = if_less(c, zero(c) + LEAST, zero(c) + math.nan, c)
    return Vec3(atan2(-R.yz, R.zz), atan2(R.xz, c), atan2(-R.xy, R.xx)), c


@formula
def pulls(data, k, phi, phi_rate, p, p_rate):
    """s = −K x − D ẋ."""
    K_phi, K_p = matrix_times(data, k, phi, p)
    D_phi, D_p = matrix_times(data, k + 36, phi_rate, p_rate)
    return -(K_phi + D_phi), -(K_p + D_p)


@formula
def wrench(data, k, X_WA, V_A, X_WB, V_B):
    """Forces on A and on B, each at its origin, in the world."""
    Rt, r = T(X_WA.R), X_WB.p - X_WA.p
    # x = (φ, p) and its rate
    phi, p = rotation_vector(Rt @ X_WB.R), Rt @ r
    phi_rate = right_jacobian_inverse_times(-phi, Rt @ (V_B.w - V_A.w))
    p_rate = Rt @ (V_B.v - V_A.v - cross(V_A.w, r))
    s_phi, s_p = pulls(data, k, phi, phi_rate, p, p_rate)
    # n = R J_l⁻ᵀ s_φ,  f = R s_p
    F_B = Force(X_WA.R @ right_jacobian_inverse_times(phi, s_phi), X_WA.R @ s_p)
    return reaction(F_B, -r), F_B


@formula
def wrench_xyz(data, k, X_WA, V_A, X_WB, V_B):
    """The same by Tait–Bryan angles."""
    Rt, r = T(X_WA.R), X_WB.p - X_WA.p
    R, p, w = Rt @ X_WB.R, Rt @ r, Rt @ (V_B.w - V_A.w)
    phi, c = tait_bryan(R)
    cosine, sine = R.zz / c, -R.yz / c  # of α
    # φ̇ = J⁻¹ ω
    third = (cosine * w.z - sine * w.y) / c
    phi_rate = Vec3(w.x - R.xz * third, cosine * w.y + sine * w.z, third)
    p_rate = Rt @ (V_B.v - V_A.v - cross(V_A.w, r))
    s_phi, s_p = pulls(data, k, phi, phi_rate, p, p_rate)
    # n = R J⁻ᵀ s_φ,  f = R s_p
    across = (s_phi.z - R.xz * s_phi.x) / c
    n = Vec3(s_phi.x, cosine * s_phi.y - sine * across, sine * s_phi.y + cosine * across)
    F_B = Force(X_WA.R @ n, X_WA.R @ s_p)
    return reaction(F_B, -r), F_B


@formula
def energy(data, k, X_WA, X_WB):
    """U = ½ xᵀ K x."""
    Rt = T(X_WA.R)
    phi, p = rotation_vector(Rt @ X_WB.R), Rt @ (X_WB.p - X_WA.p)
    K_phi, K_p = matrix_times(data, k, phi, p)
    return 0.5 * (phi @ K_phi + p @ K_p)


@formula
def energy_xyz(data, k, X_WA, X_WB):
    """The same by Tait–Bryan angles."""
    Rt = T(X_WA.R)
    phi, _ = tait_bryan(Rt @ X_WB.R)
    p = Rt @ (X_WB.p - X_WA.p)
    K_phi, K_p = matrix_times(data, k, phi, p)
    return 0.5 * (phi @ K_phi + p @ K_p)


@formula
def axis_entry(R, i, m):
    """Entry (i, m) of diag(R, R)."""
    if (i < 3) != (m < 3):
        return zero(R.xx)
    r, c = i % 3, m % 3
    if r == 0:
        return R.xx if c == 0 else (R.xy if c == 1 else R.xz)
    if r == 1:
        return R.yx if c == 0 else (R.yy if c == 1 else R.yz)
    return R.zx if c == 0 else (R.zy if c == 1 else R.zz)


@formula
def slopes(data, k, X_WA, gh, bh2, K):
    """K and D in the axes of A."""
    for i in range(6):
        for j in range(6):
            for m in range(6):
                for n in range(6):
                    c = bh2 * data[k + 6 * m + n] + gh * data[k + 36 + 6 * m + n]
                    if not all_less(abs(c), NOTHING):
                        K[i, j] += c * axis_entry(X_WA.R, i, m) * axis_entry(X_WA.R, j, n)
    return True


PAGE = Between(BUSHING, "Bushing", wrench, energy, slopes, ALL_LANES)
PAGE_XYZ = Between(BUSHING_XYZ, "Bushing by Tait–Bryan angles", wrench_xyz, energy_xyz, BY_DIFFERENCES, TREE_LANES)

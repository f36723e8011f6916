"""Curves, surfaces and laws of the user's own that tests put points on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.absolute.model.model import AbsoluteModel

SLOW = pytest.mark.filterwarnings("ignore:user function .* is plain Python")


@numba.njit
def helix(s: float) -> tuple[float, float, float]:
    return 0.7 * np.cos(s), 0.7 * np.sin(s), 0.2 * s


@numba.njit
def helix_first(s: float) -> tuple[float, float, float]:
    return -0.7 * np.sin(s), 0.7 * np.cos(s), 0.2


@numba.njit
def helix_second(s: float) -> tuple[float, float, float]:
    return -0.7 * np.cos(s), -0.7 * np.sin(s), 0.0


@numba.njit
def bowl(x: float, y: float, z: float) -> float:
    return np.exp(0.3 * x) + y * y * z - 1.5 + x * y


@numba.njit
def bowl_gradient(x: float, y: float, z: float) -> tuple[float, float, float]:
    return 0.3 * np.exp(0.3 * x) + y, 2 * y * z + x, y * y


@numba.njit
def bowl_hessian(x: float, y: float, z: float) -> tuple[float, float, float, float, float, float]:
    return 0.09 * np.exp(0.3 * x), 2 * z, 0.0, 1.0, 0.0, 2 * y


@numba.njit
def hills(u: float, w: float) -> tuple[float, float, float]:
    return u, w, 0.4 * np.sin(u) * np.cos(w)


@numba.njit
def hills_first(u: float, w: float) -> tuple[float, float, float, float, float, float]:
    return 1.0, 0.0, 0.4 * np.cos(u) * np.cos(w), 0.0, 1.0, -0.4 * np.sin(u) * np.sin(w)


@numba.njit
def hills_second(u: float, w: float):  # type: ignore[no-untyped-def]
    z, mixed = -0.4 * np.sin(u) * np.cos(w), -0.4 * np.cos(u) * np.sin(w)
    return 0.0, 0.0, z, 0.0, 0.0, mixed, 0.0, 0.0, z


def ring(u: float, w: float) -> list[float]:
    return [(1 + 0.3 * np.cos(w)) * np.cos(u), (1 + 0.3 * np.cos(w)) * np.sin(u), 0.3 * np.sin(w)]


@numba.njit
def law(t: float, x: np.ndarray, R: np.ndarray) -> float:
    return x[0] * x[1] * np.sin(t) + R[0, 1] * x[2] + R[2, 2] * t * t - 0.3


@numba.njit
def law_gradient(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
    # R exp(θ) e_j = R (e_j + θ × e_j + …)
    out[0], out[1], out[2] = x[1] * np.sin(t), x[0] * np.sin(t), R[0, 1]
    out[3], out[4] = R[0, 2] * x[2] - R[2, 1] * t * t, R[2, 0] * t * t
    out[5] = -R[0, 0] * x[2]
    out[6] = x[0] * x[1] * np.cos(t) + 2 * t * R[2, 2]


@numba.njit
def law_hessian(t: float, x: np.ndarray, R: np.ndarray, out: np.ndarray) -> None:
    out[0, 1] = out[1, 0] = np.sin(t)
    out[0, 6] = out[6, 0] = x[1] * np.cos(t)
    out[1, 6] = out[6, 1] = x[0] * np.cos(t)
    out[2, 3] = out[3, 2] = R[0, 2]
    out[2, 5] = out[5, 2] = -R[0, 0]
    out[4, 6] = out[6, 4] = 2 * t * R[2, 0]
    out[3, 6] = out[6, 3] = -2 * t * R[2, 1]
    out[6, 6] = -x[0] * x[1] * np.sin(t) + 2 * R[2, 2]
    # R θ × (θ' × e_j), made symmetric: ½ (θ (θ'·e) + θ' (θ·e)) − e (θ·θ')
    for i in range(3):
        for j in range(3):
            of_01 = 0.5 * (R[0, j] * (i == 1) + R[0, i] * (j == 1)) - R[0, 1] * (i == j)
            of_22 = 0.5 * (R[2, j] * (i == 2) + R[2, i] * (j == 2)) - R[2, 2] * (i == j)
            out[3 + i, 3 + j] = of_01 * x[2] + of_22 * t * t


def plain(function: Any) -> Any:
    """The Python function of a compiled one, also where nothing is compiled."""
    return getattr(function, "py_func", function)


RING = [(np.cos(a), np.sin(a), 0.2 * np.cos(3 * a)) for a in np.linspace(0, 2 * np.pi, 12)[:-1]]
TURN = 2 * np.pi
CURVES: dict[str, Callable[[np.random.Generator], Any]] = {
    "spline": lambda rng: nx.SplineCurve(rng.normal(size=(6, 3))),
    "closed spline": lambda _: nx.SplineCurve(RING, closed=True),
    "expressions": lambda _: nx.ExpressionCurve("=cos(s)", "=2*sin(s)", "=0.1*s**2", -3, 3),
    "plane": lambda _: nx.ExpressionCurve("=cos(s)", "=2*sin(s)", 0.0, 0, "=2*pi", closed=True),
    "functions of time": lambda _: nx.ExpressionCurve(nx.Harmonic(1.0, 0.1), nx.Linear(0.0, 0.2), 0.3, -5, 5),
    "compiled": lambda _: nx.UserCurve(helix, -9, 9, helix_first, helix_second),
    "first derivative": lambda _: nx.UserCurve(helix, -9, 9, helix_first),
    "no derivative": lambda _: nx.UserCurve(helix, -9, 9),
    "Python": lambda _: nx.UserCurve(lambda s: [0.7 * np.cos(s), 0.7 * np.sin(s), 0.2 * s], -9, 9),
}
SURFACES: dict[str, Callable[[], Any]] = {
    "sphere": lambda: nx.SphereSurface(0.7),
    "cylinder": lambda: nx.CylinderSurface(0.5),
    "plane": lambda: nx.PlaneSurface(),
    "ellipsoid": lambda: nx.EllipsoidSurface((0.5, 1.0, 0.8)),
    "torus": lambda: nx.TorusSurface(1.0, 0.3),
    "implicit": lambda: nx.ImplicitSurface(bowl, bowl_gradient, bowl_hessian),
    "implicit, gradient": lambda: nx.ImplicitSurface(bowl, bowl_gradient),
    "implicit, F alone": lambda: nx.ImplicitSurface(bowl),
    "parametric": lambda: nx.ParametricSurface(hills, (-3, 3), (-3, 3), hills_first, hills_second),
    "parametric, first": lambda: nx.ParametricSurface(hills, (-3, 3), (-3, 3), hills_first),
    "parametric, S alone": lambda: nx.ParametricSurface(hills, (-3, 3), (-3, 3)),
    "parametric, Python": lambda: nx.ParametricSurface(ring, (0, TURN), (0, TURN), closed_u=True, closed_w=True),
}
LAWS: dict[str, dict[str, Any]] = {
    "hessian": {"function": law, "gradient": law_gradient, "hessian": law_hessian},
    "gradient": {"function": law, "gradient": law_gradient},
    "function": {"function": law},
    "Python": {"function": lambda t, x, R: float(plain(law)(t, x, R))},
    "Python, gradient": {"function": plain(law), "gradient": plain(law_gradient)},
}


def point(model: AbsoluteModel, *x: float) -> np.ndarray:
    """The pose in which the body stands at x."""
    q = model.q.copy()
    q[1, 4:] = x
    return q


def bead_on(joint: nx.Joint, **body: Any) -> nx.System:
    system = nx.System("bead", gravity=(0, 0, -9.81))
    system.add_body("bead", **{"mass": 2.0, "inertia": (0.01, 0.01, 0.01), **body})
    system.add_joint(joint)
    return system

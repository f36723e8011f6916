"""The Whipple bicycle: two wheels that roll, a frame with its rider, a fork; ridden upright at a constant speed v.

    M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0,   q = (lean, steer)

Meijaard, Papadopoulos, Ruina & Schwab, Proc. R. Soc. A 463 (2007), 1955–1982: these matrices, the eigenvalues at 5 m/s,
the speed at which the weave gets stable, and that at which the capsize does not stay so. `BICYCLE` linearizes the whole
mechanism; `RIDE` moves it, hardly leaning, under every formulation beside the linear motion.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from nexdyn.io.loader import load
from nexdyn.model.system import System
from nexdyn.problems.problem import Problem, Run, closed, index1, index3
from nexdyn.results.result import Result
from nexdyn.statics.linearize import linearize
from nexdyn.statics.stability import stability

M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
G, SPEED = 9.81, 5.0
RATE = 1e-3
"""Rate of the lean at the start [rad/s], so small that what is not linear is of its square."""


def bicycle() -> System:
    """The demo `bicycle`."""
    return load("bicycle")


def linear(v: float) -> np.ndarray:
    """ẋ = A x of x = (q, q̇) at the speed v (4, 4)."""
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:] = -np.linalg.solve(M, np.hstack([G * K0 + v**2 * K2, v * C1]))
    return A


def eigenvalues_and_limits(system: System) -> np.ndarray:
    """Weave, capsize and caster at 5 m/s; the speeds at which weave and capsize change (1, 6)."""
    found = linearize(system).eigenvalues
    weave = found[found.imag.argmax()]
    capsize, caster = (found[np.abs(found - near).argmin()].real for near in (-0.3, -14.0))
    limits = [limit.value for limit in stability(system, "speed", [2.0, 4.0, 5.0, 7.0]).limits]
    return np.array([[weave.real, weave.imag, capsize, caster, *limits]])


BICYCLE = Problem(
    "bicycle", "Whipple's bicycle, eigenvalues", "Meijaard et al. 2007", bicycle,
    {"weave, Re": "1/s", "weave, Im": "1/s", "capsize": "1/s", "caster": "1/s", "weave speed": "m/s", "capsize speed": "m/s"},
    {SPEED: (-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822, 4.29238253634111, 6.02426201538837)},
    eigenvalues_and_limits, (Run("minimal coordinates, linearized", None, 1e-9),),
    at="m/s",
)  # fmt: skip


def leaning() -> System:
    """The bicycle, upright, as it begins to lean about the line on which its wheels stand; nobody pushes it."""
    return bicycle().with_parameters({"push": 0.0, "lean_rate": RATE})


def lean_and_steer(result: Result) -> np.ndarray:
    """Lean to the right, steer to the right (N, 2) [rad]; the joint's axis points upwards."""
    return np.stack(
        [np.arcsin(result.rotation("frame").values[:, 2, 1]), -result.joint_position("steer").values], axis=1
    )


def linear_motion(t: float) -> tuple[float, ...]:
    """(lean, steer) of the linear motion after t."""
    return tuple(float(x) for x in (scipy.linalg.expm(t * linear(SPEED)) @ [0.0, 0.0, RATE, 0.0])[:2])


RIDE = Problem(
    "ride", "Whipple's bicycle, hardly leaning", "Meijaard et al. 2007", leaning, {"lean": "rad", "steer": "rad"},
    {t: linear_motion(t) for t in (0.5, 1.0, 2.0)},
    lean_and_steer,
    (*closed(1e-5), *index3(1e-3, dt=1e-3), *index1(1e-5, nonholonomic=True)),
    scale=(RATE, RATE),
)  # fmt: skip

"""Modes of a linearization: eigenvectors of A, and the motions that they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from nexdyn.absolute.model.initial import accelerations
from nexdyn.absolute.motion.observe import BodyMotion
from nexdyn.assembly.loads import generalized_forces
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.results.recording import BodyRecording
from nexdyn.results.result import Result

if TYPE_CHECKING:
    from nexdyn.statics.linearize import Linearization


@dataclass(frozen=True)
class Mode(metaclass=CheckedCalls):
    """An eigenvalue [1/s] and its shape: {state: complex}, the largest position, or else the largest part, being 1."""

    eigenvalue: complex
    shape: dict[str, complex]

    @property
    def frequency(self) -> float:
        """Frequency of the oscillation [Hz]; 0 where there is none."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def natural_frequency(self) -> float:
        """|λ| / 2π [Hz]."""
        return abs(self.eigenvalue) / (2.0 * math.pi)

    @property
    def damping_ratio(self) -> float:
        """ζ = −Re λ / |λ|; 0 for λ = 0."""
        return -self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue != 0.0 else 0.0

    def __str__(self) -> str:
        lam = self.eigenvalue
        lam = lam if abs(lam.real) > 1e-12 * abs(lam) else complex(0.0, lam.imag)  # what is left is rounding
        parts = sorted(self.shape.items(), key=lambda item: -abs(item[1]))[:4]
        shape = ", ".join(f"{name} {abs(x):.3g}∠{_degrees(x)}°" for name, x in parts)
        real = f"{lam.real:+.6g}" if lam.real else "0"
        what = f"{real} ± {abs(lam.imag):.6g}i" if lam.imag else real
        more = f"  {self.frequency:.4g} Hz, ζ = {-lam.real / abs(lam) + 0.0:.4g}" if lam.imag else ""
        return f"{what}{more}  ({shape})"


def _degrees(x: complex) -> int:
    """The angle of x, above −180° and up to 180°."""
    angle = round(math.degrees(math.atan2(x.imag, x.real)))
    return 180 if angle == -180 else angle


def in_order(values: np.ndarray) -> np.ndarray:
    """Eigenvalues, those of largest real part first."""
    return values[np.lexsort((-values.imag, -np.round(values.real, 9)))]


def instants(lam: complex, amplitude: float, periods: float, samples: int) -> tuple[np.ndarray, complex, float]:
    """Times [s], the rate of the motion that is shown, and its size at first: an oscillation keeps it, others die or grow."""
    if not (amplitude > 0.0 and periods > 0.0 and samples >= 2):
        raise InputError("amplitude and periods must be greater than 0, samples 2 or more")
    if lam.imag:
        end, rate = periods * 2.0 * math.pi / abs(lam.imag), 1j * lam.imag
    else:
        end, rate = periods / max(abs(lam.real), 1e-9) if lam.real else periods, complex(min(lam.real, 0.0))
        amplitude *= 1.0 if lam.real <= 0.0 else math.exp(-1.0)
    return np.linspace(0.0, end, max(2, round(samples * periods) + 1)), rate, amplitude


def played(lin: Linearization, mode: Mode, amplitude: float, periods: float, samples: int) -> Result:
    """See `Linearization.motion`."""
    reduced, lam = lin.reduced, mode.eigenvalue
    t, rate, size = instants(lam, amplitude, periods, samples)
    full = np.zeros(reduced.size, dtype=complex)
    if abs(lam) > 1e-9:
        values, vectors = scipy.linalg.eig(lin.A_full)
        full = vectors[:, int(np.abs(values - lam).argmin())]
    else:
        full[[lin.full_states.index(name) for name in lin.states]] = list(mode.shape.values())
    nz = reduced.nz
    shown = [i for i, name in enumerate(lin.full_states[:nz]) if name in lin.states] or list(range(nz))
    largest = shown[int(np.abs(full[shown]).argmax())] if nz else 0
    full = size * full / (full[largest] if abs(full[largest]) > 1e-12 else np.abs(full).max())
    model = reduced.model
    q, v, a = (np.zeros((len(t), model.nb, k)) for k in (7, 6, 6))
    z = np.zeros((len(t), len(reduced.forces0)))
    lam_rows = np.zeros((len(t), model.nc))
    kept = np.zeros(model.nc, dtype=bool)
    kept[reduced.kept_rows] = True
    for k, time in enumerate(t.tolist()):
        along = reduced.ahead(time) if np.abs(reduced.v0).max(initial=0.0) > 1e-9 else reduced
        motion = along.motion((full * np.exp(rate * time)).real)
        poses, V = along.bodies(motion.q), along.body_velocities(motion.q, motion.v)
        gamma = model.gamma(poses, V, reduced.t)
        acceleration, lam_rows[k], _ = accelerations(
            model, poses, generalized_forces(model, poses, V, reduced.t, motion.forces), kept, gamma, t=reduced.t
        )
        q[k], v[k], a[k], z[k] = poses[1:], V[1:], acceleration[1:], motion.forces
    recording = BodyRecording(
        t, q, v, a, method=f"mode {lam:.6g} of nx.linearize", steps=0, settings={"coordinates": "bodies"},
        multipliers=lam_rows, violation=np.zeros(len(t)), z=z,
    )  # fmt: skip
    return Result(lin.system, recording, tree=BodyMotion(lin.system, model))  # type: ignore[arg-type]

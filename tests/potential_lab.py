"""The incremental potential on the bench: its energies at any increments, and runs without the front."""

from __future__ import annotations

import numpy as np

import nexdyn as nx
from nexdyn.absolute.model.model import absolute_model
from nexdyn.kernel import kernel
from nexdyn.potential.compile import new_state, new_work, potential_model
from nexdyn.potential.elements import springs_and_loads
from nexdyn.potential.minimum import evaluate, hessian
from nexdyn.potential.step import begin, march


@kernel
def start(model, state, work, t, dt):  # type: ignore[no-untyped-def]
    return begin(model, state, work, t, dt, t > 1e9)


@kernel
def energy_at(model, state, work, t, dt):  # type: ignore[no-untyped-def]
    return evaluate(model, state.lam, state.mu, t, dt, work)


@kernel
def hessian_at(model, state, work, t, dt, curved):  # type: ignore[no-untyped-def]
    hessian(model, state.lam, state.mu, state.mu, t, dt, work, curved, True, False)


class Bench:
    """A system at increments x (nb, 6) of a step from its described state, with given multipliers."""

    def __init__(self, system: nx.System, dt: float = 0.1, t: float = 0.3) -> None:
        self.system, self.dt, self.t = system, dt, t
        absolute = absolute_model(system)
        hinges = [k for k, joint in enumerate(system.joints.values()) if joint.kind == "revolute"]
        springs, loads, contacts = springs_and_loads(system, absolute.body_index)
        functions = [driver.function for driver in absolute.drivers]
        self.model = potential_model(
            absolute.mass, system.gravity, absolute.tables, hinges, functions, 1.0, springs, loads, contacts
        )
        self.absolute = absolute
        self.state = new_state(self.model, absolute.mass, absolute.q, absolute.v, absolute.near(absolute.q))
        self.work = new_work(self.model, self.state)

    def begin(self) -> None:
        start(self.model, self.state, self.work, self.t, self.dt)

    def energy(self, x: np.ndarray) -> float:
        self.work.x[1:] = x
        return float(energy_at(self.model, self.state, self.work, self.t, self.dt)[0])

    def gradient(self, x: np.ndarray) -> np.ndarray:
        self.energy(x)
        return self.work.gradient[:, :6].copy().reshape(-1)

    def hessian(self, x: np.ndarray, curved: bool = True) -> np.ndarray:
        """(6 nb, 6 nb)."""
        from nexdyn.linalg.solvers import sparse_matrix

        self.energy(x)
        hessian_at(self.model, self.state, self.work, self.t, self.dt, curved)
        return sparse_matrix(self.model.plan, self.work.blocks).toarray()

    def differences(self, x: np.ndarray, h: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian by central differences of E and of its gradient."""
        n = x.size
        g, H = np.empty(n), np.empty((n, n))
        for i, e in enumerate(np.eye(n)):
            step = h * e.reshape(x.shape)
            g[i] = (self.energy(x + step) - self.energy(x - step)) / (2 * h)
            H[i] = (self.gradient(x + step) - self.gradient(x - step)) / (2 * h)
        return g, H

    def run(self, steps: int, updates: int | None = None, bdf2: bool = False) -> tuple:
        """March; (status, steps, …) of ``step.march``."""
        out = np.empty((0, 1 + 19 * (len(self.state.q) - 1) + len(self.state.lam)))
        return march(self.model, self.state, self.work, 0.0, self.dt, 0, steps, 0, updates, bdf2, out)

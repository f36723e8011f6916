"""How far a run is from its constraints: a bound on C and on its rate, for every formulation alike.

    c = max_r |C_r| / L_r,    ċ = max_r |(Cq v − ν)_r| / L_r,    L_r the size of the mechanism for lengths, 1 for directions
    s = the largest |ω|, |v| / L so far, and √(g / L) or 1e-9/s at least; ċ of two states that follow each other, the less of both

    told     c > b  or  ċ > (b + d) s,      b = min(APART, APART_OF_RTOL rtol)
    lost     c > LOST  or  ċ > (LOST + d) s

d = h s of methods of order 1: velocities of implicit Euler's are differences of positions, and those of Baumgarte's stabilisation under
explicit Euler's are left to themselves for a step; 0 elsewhere. To it comes of rows that are driven what ν changes by in a step, over s,
for implicit Euler's ε / (h s), ε what |C| is solved to, and for Baumgarte's κ c / s, with the largest c of the row so far: a violation that
dies at a rate κ (``integrate.stabilised``) moves what is at rest. Where a driver's rate jumps, one state alone may miss it: so there are
two.

All formulations are looked at through the bodies' poses and velocities and the equations of the description, so that no method judges
itself: the present state, every so many steps, and states of what is recorded. Methods that project, and Baumgarte's
stabilisation in absolute coordinates, look at C after every step besides (``absolute.motion.index1``, ``tree.loops.motion``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.integrate.methods import ExplicitEuler, ImplicitEuler, IndexOne, SemiImplicitEuler
from nexdyn.integrate.stabilised import PACE, Damping

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel
    from nexdyn.integrate.methods import Method

APART, APART_OF_RTOL, LOST = 1e-3, 1e4, 1e-2
"""From where on violations are told, with adaptive steps no more than so many rtol; and where the motion has left its constraints."""
FIRST_ORDER = (ImplicitEuler, ExplicitEuler, SemiImplicitEuler)
"""Methods whose velocities may miss the constraints by a part of a step."""
AT_REST = 1e-9
"""s [1/s] at least: what moves more slowly is at rest, but for rounding."""
SOLVED_TO = 1e-9
"""|C| that is left of a step of implicit Euler's at most."""
LOOKED_AT, EQUATIONS = 16, 4000
"""How many recorded states are looked at when a run has ended, and about how many constraint equations in all."""


class Poses(NamedTuple):
    """States (N,) of bodies, ground first: t, q (N, nb + 1, 7), v (N, nb + 1, 6), near (N, nk): where angles are."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    near: np.ndarray | None
    violation: np.ndarray | None = None
    """c (N,) where the march has it in these units."""


class Apart(NamedTuple):
    """How far a state is from its constraints: c, ċ / s and d as above, the equation that is worst, and when that is."""

    position: float
    rate: float
    explained: float
    where: str
    joint: str | None
    t: float

    @property
    def beyond(self) -> float:
        """The larger of c and ċ / s − d."""
        return max(self.position, self.rate - self.explained)

    def __str__(self) -> str:
        """How far it is, in words."""
        if self.position >= self.rate - self.explained:
            return f"the constraints are violated by {self.position:.2g} of the mechanism's size by t = {self.t:g} s"
        step = f", where the step explains {self.explained:.2g}" if self.explained else ""
        return f"velocities miss the constraints by {self.rate:.2g} of the largest speed by t = {self.t:g} s{step}"


def bound_of(method: Method) -> float:
    """b of a method, from its tolerance where it has one."""
    steps = method.integrator if isinstance(method, IndexOne) else method
    rtol = getattr(steps, "rtol", math.inf) if getattr(method, "dt", None) is None else math.inf
    return min(APART, APART_OF_RTOL * rtol)


class Keeper:
    """Looks at states of a run."""

    def __init__(self, model: AbsoluteModel, method: Method, damping: np.ndarray | None = None) -> None:
        """damping: of Baumgarte's stabilisation, as kernels take it."""
        from nexdyn.absolute.model.configuration import position_units, row_units
        from nexdyn.assembly.assemble import mechanism_length

        self.model, self.method, self.length, self._damping = model, method, mechanism_length(model), damping
        self._violated = np.zeros(model.nc)
        """The largest c of each row so far."""
        self.of_rates, self.of_positions = row_units(model, self.length), position_units(model, self.length)
        self.speed = max(math.sqrt(float(np.linalg.norm(model.system.gravity)) / self.length), AT_REST)
        """s"""
        self._last: Apart | None = None
        """What was looked at last."""

    def some(self, violation: np.ndarray) -> np.ndarray:
        """Which of the states to look at whose largest |C| (N,) is recorded: where that is largest, and as many of the others, evenly, as
        may take that long."""
        most, n = min(LOOKED_AT, max(2, EQUATIONS // max(self.model.nc, 1))), len(violation)
        worst = int(np.argmax(np.nan_to_num(violation, nan=np.inf)))
        return np.unique([worst, *np.linspace(0, n - 1, most).astype(int)])

    def look(self, states: Poses) -> Apart:
        """At states of one run, in order of time, after those that were looked at before: the worst of them."""
        self.speed = max(
            self.speed, float(np.abs(states.v[:, :, :3]).max()), float(np.abs(states.v[:, :, 3:]).max()) / self.length
        )
        seen = [
            self._at(t, states.q[k], states.v[k], None if states.near is None else states.near[k].copy())
            for k, t in enumerate(states.t.tolist())
        ]
        if states.violation is not None:
            seen = [apart._replace(position=float(x)) for apart, x in zip(seen, states.violation, strict=True)]
        before, self._last = [self._last, *seen[:-1]], seen[-1]
        after = [*seen[1:], None]
        worst = Apart(-1.0, -1.0, 0.0, "", None, math.nan)
        for here, one, other in zip(seen, before, after, strict=True):
            beside = max((x.rate - x.explained for x in (one, other) if x is not None and x.t != here.t), default=0.0)
            apart = (
                here if beside >= here.rate - here.explained else here._replace(rate=here.explained + max(beside, 0.0))
            )
            if not apart.beyond <= worst.beyond:
                worst = apart
        return worst

    def _closing(self) -> float:
        """κ [1/s]: how fast Baumgarte's stabilisation may move what is at rest."""
        if self._damping is None:
            return 0.0
        damping = Damping(self._damping)
        usual = min(PACE * self.speed, damping.at_most)
        return max(float(x) if x >= 0.0 else usual for x in (damping.alpha, damping.beta))

    def _explained(self, t: float, q: np.ndarray) -> np.ndarray:
        """d (nc,)."""
        method, model, speed = self.method, self.model, max(self.speed, 1e-300)
        closing = self._closing() * self._violated / speed
        if not isinstance(method, FIRST_ORDER):
            return closing
        h = method.dt
        changes = np.abs(model.nu(t, q) - model.nu(t - h, q)) if model.drivers or model.explicit else 0.0
        solved = SOLVED_TO / h if isinstance(method, ImplicitEuler) else 0.0
        return np.asarray(closing + h * speed + (self.of_rates * changes + solved) / speed)

    def _at(self, t: float, q: np.ndarray, v: np.ndarray, near: np.ndarray | None) -> Apart:
        model = self.model
        near = model.near(q, t) if near is None else near
        C = self.of_positions * np.abs(model.residual(q, t, near.copy()))
        rate = self.of_rates * np.abs(model.jacobian(q, t, near) @ v[1:].reshape(-1) - model.nu(t, q))
        C, rate = (np.nan_to_num(x, nan=np.inf) for x in (C, rate / max(self.speed, 1e-300)))
        self._violated = np.maximum(self._violated, np.minimum(C, LOST))
        explained = self._explained(t, q)
        at, worst = int(np.argmax(rate - explained)), int(np.argmax(np.maximum(C, rate - explained)))
        row = model.rows[worst]
        return Apart(float(C.max()), float(rate[at]), float(explained[at]), str(row), row.joint, t)


def verdict(apart: Apart, method: Method) -> str:
    """ "lost", "told" or "" of what was seen."""
    return "lost" if apart.beyond > LOST else "told" if apart.beyond > bound_of(method) else ""


def ground_first(x: np.ndarray, rest: Any) -> np.ndarray:
    """States (N, nb, …) of bodies behind those of the ground."""
    return np.concatenate([np.broadcast_to(np.asarray(rest, dtype=float), (len(x), 1, x.shape[2])), x], axis=1)

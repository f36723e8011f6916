"""A large mechanism to first order about a pose at rest, with sparse matrices: its lowest modes and its response.

    ẋ = v                                        x = (θ, δ) of every body, s: states of forces
    M v̇ = −K x + ∂Q/∂v v + ∂Q/∂s s − Cqᵀ λ + F u
    ṡ = ∂ṡ/∂x x + ∂ṡ/∂v v + ∂ṡ/∂s s
    0 = Cq x − δ,   0 = Cq_v v                   rows of positions, with δ of drivers that are inputs, δ̈ = u; rows of velocities

K = −∂Q/∂x + Σ λ C_xx over rows of positions; Q has what rows of velocities exert. With w = (x, v, δ, δ̇, s, λ) that is a pencil,
E ẇ = A w + B u, y = C w; it has eigenvalues at infinity for the rows. The modes nearest to a shift σ are by Arnoldi's method on
(A − σE)⁻¹ E, from a start that three applications have brought among the finite ones (Meerbergen & Spence 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from nexdyn.absolute.model.configuration import feasible_pose, row_units
from nexdyn.absolute.model.initial import accelerations
from nexdyn.absolute.model.redundancy import find_redundancy
from nexdyn.absolute.motion.observe import BodyMotion
from nexdyn.assembly.assemble import mechanism_length
from nexdyn.assembly.force_states import own_states, slipping_contacts
from nexdyn.assembly.loads import Loads, SlippingLoads, velocity_rows
from nexdyn.assembly.report import AssemblyReport
from nexdyn.assembly.start_velocity import tree_state
from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, SolveError, counted, unknown
from nexdyn.model.system import System
from nexdyn.model.topology import open_forest
from nexdyn.results.recording import BodyRecording
from nexdyn.results.result import Result
from nexdyn.spatial.rotations import cross_product, quaternion, rotation_matrix
from nexdyn.statics.linear_names import COMPONENTS, freedoms
from nexdyn.statics.load_derivatives import LoadGraph, turned_stiffness
from nexdyn.statics.modes import Mode, instants
from nexdyn.tree.tree import Tree

SHIFT = 0.7390851332151607
"""σ [1/s], in parts of √(g/L), or of the slowest spring's rate: on the real axis, off all that comes to mind."""
ZERO = 1e-6
"""Eigenvalues below this part of σ are 0: a double one is told to the root of rounding."""
SEED = 1
STEP = 1e-6
"""Of the differences of measures [rad, L]."""
NOTHING = 1e-12
"""Part of the largest stiffness relative to inertia below which there is none."""
NONE = 1e-300
SHOWN = 20
"""States of a shape that are told as text and as JSON, the largest."""


@dataclass(repr=False)
class SparseLinearization(metaclass=CheckedCalls):
    """E ẇ = A w + B u, y = C w, sparse, about a pose at rest; w = (x, v, δ, δ̇, s, λ), see the page.

    `modes`: as many as were asked for, the lowest first, their shapes by the names of joints' coordinates and rates, as of `Linearization`.
    `inputs`, `outputs` name the columns of B and the rows of C; `dof`: degrees of freedom; `error`: an estimate of that of A.
    """

    system: System
    E: sp.csc_matrix
    A: sp.csc_matrix
    B: sp.csc_matrix
    C: sp.csr_matrix
    inputs: list[str]
    outputs: list[str]
    modes: list[Mode]
    dof: int
    error: float
    report: AssemblyReport
    motions: np.ndarray
    """Of every mode w (…, modes), the largest coordinate of a joint being 1."""
    tree: Tree
    """A spanning tree, and its velocities (nv, 6 nb) from those of the bodies."""
    of_bodies: sp.csr_matrix

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.modes), 'mode')}, {counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}"
        return f"SparseLinearization({self.system.name!r}: {sizes})"

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues [1/s] of the modes; of a pair of conjugates the one with positive frequency."""
        return np.array([mode.eigenvalue for mode in self.modes])

    def response(self, frequencies: Any) -> np.ndarray:
        """C (iωE − A)⁻¹ B (frequencies, outputs, inputs) at frequencies [Hz]: amplitudes of outputs for inputs of 1."""
        at = np.atleast_1d(np.asarray(frequencies, dtype=float))
        if at.ndim != 1 or not np.isfinite(at).all():
            raise InputError(f"frequencies is {frequencies!r}; frequencies in Hz are needed")
        B = self.B.toarray().astype(complex)
        found = []
        for f in at.tolist():
            try:
                factors = spla.splu(sp.csc_matrix(2j * np.pi * f * self.E - self.A))
            except RuntimeError:
                raise InputError(f"the response at {f:g} Hz has no end: that is a mode without damping") from None
            found.append(self.C @ factors.solve(B))
        return np.array(found)

    def motion(
        self, mode: int | Mode = 0, *, amplitude: float = 0.1, periods: float = 3.0, samples: int = 40
    ) -> Result:
        """The motion of a mode as a Result, for `nx.view`; arguments as of `Linearization.motion`."""
        k = self.modes.index(mode) if isinstance(mode, Mode) and mode in self.modes else mode
        if not isinstance(k, int) or not -len(self.modes) <= k < len(self.modes):
            raise InputError(f"mode {mode} does not exist; there are {len(self.modes)}, from 0")
        return _played(self, k, float(amplitude), float(periods), int(samples))

    def to_dict(self) -> dict[str, Any]:
        """The modes as JSON has them; of shapes the largest parts. Complex numbers are [real, imaginary]."""
        return {
            "system": self.system.name, "dof": self.dof, "inputs": self.inputs, "outputs": self.outputs,
            "eigenvalues": [[float(x.real), float(x.imag)] for x in self.eigenvalues],
            "modes": [
                {
                    "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag], "frequency": mode.frequency,
                    "natural_frequency": mode.natural_frequency, "damping_ratio": mode.damping_ratio,
                    "shape": {
                        name: [x.real, x.imag]
                        for name, x in sorted(mode.shape.items(), key=lambda item: -abs(item[1]))[:SHOWN]
                    },
                }
                for mode in self.modes
            ],
            "error": self.error,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"{self.system.name}: {counted(self.dof, 'degree of freedom')}, the {counted(len(self.modes), 'lowest mode')}"
        ]
        return "\n".join([*lines, *(f"  {mode}" for mode in self.modes), f"  error of A about {self.error:.1e}"])


class Pencil:
    """E and A about the pose at rest of a report, and what the numbers of w are called; `a`: its accelerations."""

    def __init__(self, report: AssemblyReport, inputs: Sequence[str], outputs: Sequence[str] | None) -> None:
        self.report, self.inputs, self.wanted = report, list(inputs), outputs
        model = self.model = report.model
        self.system, self.q, self.t = model.system, report.q, report.t
        self.length = mechanism_length(model)
        self.still = np.zeros((model.nb + 1, 6))
        loads = Loads(model)
        states = loads.described.copy() if report.states is None else report.states.copy()
        bound = loads.bound(self.q, self.still, self.t, states)
        sliding, self.at_limit = slipping_contacts(self.system, states, bound, loads.rate, report.states is None)
        self.own = own_states(self.system, bound)
        self.loads = SlippingLoads(model, sliding, self.q, self.still, self.t, states)
        self.states = self.loads.settled
        self.loads(self.q, self.still, self.t, self.states)
        self.own_rate = self.loads.rate[[state.place for state in self.own]].copy()
        self.near = model.near(self.q, self.t)
        self._rows()
        self._matrices()
        self._names()

    def _rows(self) -> None:
        """Rows that are kept: those of positions, then those of velocities."""
        model = self.model
        kept = find_redundancy(model, self.q, self.t).kept
        self.kept = kept
        self.held, self.slips = np.flatnonzero(kept & model.positional), np.flatnonzero(kept & ~model.positional)
        row_of = {driver.name: driver.row for driver in model.drivers}
        self.led = [name for name in self.inputs if name in row_of]
        self.led_rows = [row_of[name] for name in self.led]

    def _matrices(self) -> None:
        model, q, t = self.model, self.q, self.t
        n, ns, nd = model.nv, len(self.own), len(self.led)
        force = self.loads(q, self.still, t, self.states)
        gamma = model.gamma(q, self.still, t, self.near.copy())
        self.a, lam, _ = accelerations(model, q, force, self.kept, gamma, t=t)
        own, slips = self.own, self.slips
        graph = LoadGraph(self.loads, [s.place for s in own], [s.little for s in own], self.length, slips, lam[slips])
        M = sp.csr_matrix(model.mass_matrix(q))
        self._rates(graph.by_poses(q, self.still, t, self.states, careful=False), M)
        d = graph.derivatives(q, self.still, t, self.states, self.rate)
        self.error = d.error
        Cq = sp.csr_matrix(model.jacobian(q, t, self.near.copy()))
        of_positions = np.where(model.positional, lam, 0.0)
        curved = sp.csr_matrix(model.curvature(q, of_positions, t, self.near.copy()))
        force = force - Cq[slips].T @ lam[slips]
        torque = np.where(np.tile([True] * 3 + [False] * 3, model.nb), force, 0.0)
        self.K = sp.csr_matrix(curved - d.Q_x + turned_stiffness(torque))
        held, slips = Cq[self.held], Cq[self.slips]
        m = len(self.held) + len(self.slips)
        C = sp.vstack([held, slips]).tocsr()
        at = {row: k for k, row in enumerate(self.held.tolist())}
        missing = [name for name, row in zip(self.led, self.led_rows, strict=True) if row not in at]
        if missing:
            raise InputError(f"driver {missing[0]!r} repeats what the constraints do; it cannot be an input")
        lead = sp.csr_matrix(
            (-np.ones(nd), ([at[row] for row in self.led_rows], range(nd))), shape=(len(self.held), nd)
        )
        one, none = sp.identity(n), sp.csr_matrix((n, n))
        rows = [
            [none, one, None, None, None, None],
            [-self.K, d.Q_v, None, None, d.Q_s, -C.T],
            [None, None, None, sp.identity(nd), None, None],
            [None, None, None, sp.csr_matrix((nd, nd)), None, None],
            [d.s_x, d.s_v, None, None, d.s_s, None],
            [held, None, lead, None, None, None],
            [None, slips, None, None, None, sp.csr_matrix((len(self.slips), m))],
        ]
        sizes = np.cumsum([0, n, n, nd, nd, ns, m])
        self.part = {
            name: slice(sizes[k], sizes[k + 1]) for k, name in enumerate(("x", "v", "led", "led_rate", "s", "rows"))
        }
        self.A = _stacked(rows, [n, n, nd, nd, ns, len(self.held), len(self.slips)], [n, n, nd, nd, ns, m])
        self.E = sp.csc_matrix(sp.block_diag([one, M, sp.identity(2 * nd + ns), sp.csr_matrix((m, m))], format="csc"))
        self.size = int(sizes[-1])

    def _rates(self, Q_x: sp.csr_matrix, M: sp.csr_matrix) -> None:
        """How fast the mechanism moves by itself [1/s], and how slowly: by gravity, or by the springs on its bodies; 1 where there is
        neither."""
        of_gravity = float(np.linalg.norm(self.system.gravity)) / self.length
        m, k = M.diagonal(), np.abs(Q_x.diagonal())
        of_springs = k[m > 0.0] / m[m > 0.0]
        of_springs = of_springs[of_springs > NOTHING * of_springs.max(initial=0.0)]
        self.rate = max(of_gravity, float(of_springs.max(initial=0.0))) ** 0.5 or 1.0
        self.slow = (of_gravity or float(of_springs.min(initial=self.rate**2))) ** 0.5

    @property
    def velocities(self) -> np.ndarray:
        """Of the bodies (nb, 6), lengths relative to that of the mechanism [1/s]."""
        return self._in_lengths(self.report.v)

    @property
    def accelerations(self) -> np.ndarray:
        """Likewise [1/s²]."""
        return self._in_lengths(self.a)

    def _in_lengths(self, of_bodies: np.ndarray) -> np.ndarray:
        return np.asarray(of_bodies[1:] / [1.0, 1.0, 1.0, self.length, self.length, self.length])

    def _names(self) -> None:
        """S (degrees of freedom, 6 nb): the positions, or the rates, of all joints from the motion of the bodies."""
        model = self.model
        tree = self.tree = Tree(self.system, open_forest(self.system))
        self.names = freedoms(tree)
        entries: list[tuple[int, int, np.ndarray]] = []
        moves: list[tuple[int, int, np.ndarray]] = []
        for name, place in tree.coordinates.items():
            j = place.v.start
            joint = self.system.joints.get(name)
            if joint is None:
                i = model.body_index[tree.carried_body(name).name]
                turned, back = np.eye(6), np.eye(6)
                back[3:, 3:] = rotation_matrix(self.q[i, :4]).T
                entries.append((j, i, turned))
                moves.append((j, i, back))
                continue
            ends = (model.body_index[joint.parent.name], model.body_index[joint.child.name])
            for i, rows in zip(ends, velocity_rows(model, joint, self.q), strict=True):
                if i:
                    entries.append((j, i, rows))
                    moves.append((j, i, rows))
        self.S_x, self.S_v = (self._of_bodies(part, tree.nv) for part in (entries, moves))

    def _of_bodies(self, parts: list[tuple[int, int, np.ndarray]], count: int) -> sp.csr_matrix:
        rows, columns, numbers = [], [], []
        for j, i, block in parts:
            r, c = np.meshgrid(j + np.arange(len(block)), 6 * (i - 1) + np.arange(6), indexing="ij")
            rows.append(r.ravel())
            columns.append(c.ravel())
            numbers.append(block.ravel())
        joined = [np.concatenate(x) if x else np.zeros(0) for x in (numbers, rows, columns)]
        shape = (count, self.model.nv)
        return sp.csr_matrix((joined[0], (joined[1].astype(int), joined[2].astype(int))), shape=shape)

    # --- what goes in and comes out -----------------------------------------------------------------------------------

    def input_column(self, name: str) -> np.ndarray:
        """A column of B."""
        out = np.zeros(self.size)
        model, system = self.model, self.system
        if name in self.led:
            out[self.part["led_rate"].start + self.led.index(name)] = 1.0
            return out
        rates = {rate.removesuffix(".rate"): i for i, (_, rate, _) in enumerate(self.names)}
        bodies = {f"{body}.{part}": (body, i) for body in system.bodies for i, part in enumerate(COMPONENTS)}
        if name in rates and name.partition(".")[0] in system.joints:
            out[self.part["v"]] = self.S_v[[rates[name]]].toarray()[0]
            return out
        if name in bodies:
            body, i = bodies[name]
            b = model.body_index[body]
            wrench = np.zeros((model.nb, 6))
            if i < 3:
                wrench[b - 1, 3 + i] = 1.0
            else:
                wrench[b - 1, :3] = rotation_matrix(self.q[b, :4])[i - 3]
            out[self.part["v"]] = wrench.reshape(-1)
            return out
        known = [rate for rate in rates if rate.partition(".")[0] in system.joints]
        raise unknown("input", name, [*known, *system.drivers, *bodies][:200], plural="inputs")

    def output_rows(self, name: str) -> tuple[list[str], sp.csr_matrix]:
        """Names and rows of C of an output."""
        positions = {position: i for i, (position, _, _) in enumerate(self.names)}
        velocities = {velocity: i for i, (_, velocity, _) in enumerate(self.names)}
        own = {state.label: k for k, state in enumerate(self.own)}
        if name in self.led or name.removesuffix(".rate") in self.led:
            part = "led" if name in self.led else "led_rate"
            place = self.led.index(name.removesuffix(".rate"))
            return [name], self._placed(sp.csr_matrix(([1.0], ([0], [place])), shape=(1, len(self.led))), part)
        for found, matrix, part in ((positions, self.S_x, "x"), (velocities, self.S_v, "v")):
            if name in found:
                return [name], self._placed(matrix[[found[name]]], part)
        if name in own:
            return [name], self._placed(sp.csr_matrix(([1.0], ([0], [own[name]])), shape=(1, len(own))), "s")
        measures = self.system.measures
        whole, _, axis = name.rpartition(".")
        measure = measures.get(name) or measures.get(whole)
        if measure is None or (measure.name != name and axis not in measure.axes):
            raise unknown(
                "output", name, [*list(positions)[:100], *list(velocities)[:100], *own, *measures], plural="outputs"
            )
        axes = measure.axes or ("",)
        chosen = slice(None) if measure.name == name else slice(axes.index(axis), axes.index(axis) + 1)
        labels = [f"{measure.name}.{part}" if part else measure.name for part in axes][chosen]
        bodies = sorted(
            {self.model.body_index[self.system.frame(frame)[0].name] for frame in (measure.a, measure.b)} - {0}
        )
        gradient = np.zeros((len(labels), 2 * self.model.nv))
        for i in bodies:
            for c in range(6):
                k, unit = 6 * (i - 1) + c, 1.0 if c < 3 else self.length
                for which in (0, 1):
                    sides = []
                    for sign in (STEP, -STEP):
                        step = np.zeros(self.model.nv)
                        step[k] = sign * unit
                        q = self.model.moved(self.q, step) if which == 0 else self.q
                        v = self.still.copy()
                        v[1:] += step.reshape(-1, 6) if which else 0.0
                        frames = [self._frame(q, v, frame) for frame in (measure.a, measure.b)]
                        sides.append(np.atleast_1d(measure.evaluate(*frames[0], *frames[1]))[chosen])
                    gradient[:, which * self.model.nv + k] = (sides[0] - sides[1]) / (2.0 * STEP * unit)
        wide = sp.csr_matrix(gradient)
        return labels, sp.csr_matrix(sp.hstack([wide, sp.csr_matrix((len(labels), self.size - wide.shape[1]))]))

    def _placed(self, matrix: Any, part: str) -> sp.csr_matrix:
        at, rows = self.part[part], matrix.shape[0]
        after = sp.csr_matrix((rows, self.size - at.stop))
        return sp.csr_matrix(sp.hstack([sp.csr_matrix((rows, at.start)), matrix, after]))

    def _frame(self, q: np.ndarray, v: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """R, p and (ω, v) of a body or marker in the world."""
        body, R_BF, p_BF = self.system.frame(name)
        if body.is_ground:
            return R_BF, p_BF, np.zeros(6)
        i = self.model.body_index[body.name]
        R = rotation_matrix(q[i, :4])
        w, arm = R @ v[i, :3], R @ p_BF
        return R @ R_BF, q[i, 4:] + arm, np.concatenate([w, v[i, 3:] + cross_product(w, arm)])

    # --- modes --------------------------------------------------------------------------------------------------------

    @cached_property
    def dof(self) -> int:
        """Degrees of freedom, of velocities."""
        return self.model.nv - len(self.held) - len(self.slips)

    def linearization(self, count: int) -> SparseLinearization:
        """With so many of the lowest modes."""
        if self.wanted is None:
            outputs = [position for position, _, _ in self.names]
            C = self._placed(self.S_x, "x")
        else:
            rows = [self.output_rows(name) for name in self.wanted]
            outputs = [label for labels, _ in rows for label in labels]
            C = sp.csr_matrix(sp.vstack([row for _, row in rows])) if rows else sp.csr_matrix((0, self.size))
        columns = [self.input_column(name) for name in self.inputs]
        B = sp.csc_matrix(np.array(columns).T) if columns else sp.csc_matrix((self.size, 0))
        values, vectors = self.eigenpairs(count)
        shapes = []
        for k in range(len(values)):
            w = vectors[:, k]
            x, v = self.S_x @ w[self.part["x"]], self.S_v @ w[self.part["v"]]
            parts = {position: z for (position, _, _), z in zip(self.names, x.tolist(), strict=True)}
            largest = max(parts.values(), key=abs, default=0.0)
            parts |= {rate: z for (_, rate, _), z in zip(self.names, v.tolist(), strict=True)}
            parts |= dict(zip(self.led, w[self.part["led"]].tolist(), strict=True))
            parts |= {f"{n}.rate": z for n, z in zip(self.led, w[self.part["led_rate"]].tolist(), strict=True)}
            parts |= {state.label: z for state, z in zip(self.own, w[self.part["s"]].tolist(), strict=True)}
            if abs(largest) <= 1e-9 * max(map(abs, parts.values()), default=0.0):
                largest = max(parts.values(), key=abs)
            vectors[:, k] /= largest
            shapes.append(Mode(complex(values[k]), {name: z / largest for name, z in parts.items()}))
        return SparseLinearization(
            self.system, self.E, self.A, B, C, self.inputs, outputs, shapes, self.dof, self.error, self.report, vectors,
            self.tree, self.S_v,
        )  # fmt: skip

    def eigenpairs(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The modes nearest to 0, of pairs of conjugates one, in order."""
        positions = self.model.nv + len(self.led) - len(self.held)
        finite = 2 * positions - len(self.slips) + len(self.own)
        shift = SHIFT * self.slow
        A, E, units = self._in_units(shift)
        try:
            factors = spla.splu(sp.csc_matrix(A - shift * E))
        except RuntimeError:
            raise SolveError(
                f"the equations of {self.system.name!r} are singular; check masses and constraints", time=self.t
            ) from None

        def inverse(x: np.ndarray) -> np.ndarray:
            return np.asarray(factors.solve(E @ x))

        wanted = min(2 * count + 2, finite)
        if wanted + 2 >= self.size or 3 * wanted >= self.size:
            theta, vectors = scipy.linalg.eig(inverse(np.eye(self.size)))
        else:
            operator = spla.LinearOperator((self.size,) * 2, inverse, dtype=float)
            start = np.random.default_rng(SEED).standard_normal(self.size)
            for _ in range(3):
                start = inverse(start)
                start /= np.linalg.norm(start)
            theta, vectors = spla.eigs(
                operator, wanted, v0=start, ncv=min(self.size - 1, max(2 * wanted + 20, 40)), tol=1e-13
            )
        order = np.argsort(-np.abs(theta))[:wanted]
        values, vectors = shift + 1.0 / theta[order], vectors[:, order]
        values[np.abs(values) < ZERO * shift] = 0.0
        values.real[np.abs(values.real) < 1e-12 * np.abs(values)] = 0.0
        values.imag[np.abs(values.imag) < 1e-9 * np.maximum(ZERO * shift, np.abs(values))] = 0.0
        upper = np.flatnonzero(values.imag >= 0.0)
        upper = upper[np.argsort(np.abs(values[upper]), kind="stable")][:count]
        for k in upper.tolist():
            w, lam = vectors[:, k], values[k]
            size = max(float(np.abs(A @ w).max()), shift * float(np.abs(E @ w).max()), 1e-300)
            off = np.abs(A @ w - lam * (E @ w)).max() / size
            if not off < 1e-4:
                light = [
                    name for name, m in zip(self.model.bodies[1:], self.model.mass[1:, 0], strict=True) if m == 0.0
                ]
                advice = (
                    f"bodies without mass ({', '.join(light[:5])}) carry others: give them some, or leave out modes"
                    if light
                    else "ask for fewer"
                )
                raise SolveError(f"the modes of {self.system.name!r} do not converge; {advice}", time=self.t)
        return values[upper], units[:, None] * vectors[:, upper]

    def _in_units(self, shift: float) -> tuple[sp.csc_matrix, sp.csc_matrix, np.ndarray]:
        """A and E as of numbers, and D, of which w has these many: 1 rad, the mechanism's length, what moves them at `shift`, what of
        states is little; of rows and multipliers, what makes their largest entries 1."""
        units = np.ones(self.size)
        of_bodies = np.tile([1.0] * 3 + [self.length] * 3, self.model.nb)
        led = 1.0 / row_units(self.model, self.length)[self.led_rows]
        for part, of_part in (
            ("x", of_bodies), ("v", shift * of_bodies), ("led", led), ("led_rate", shift * led),
            ("s", [state.little for state in self.own]),
        ):  # fmt: skip
            units[self.part[part]] = of_part
        size = (abs(self.A) + shift * abs(self.E)) @ sp.diags(units)
        plain = np.ones(self.size, dtype=bool)
        plain[self.part["rows"]] = False
        rows = 1.0 / np.maximum(size[:, plain].max(axis=1).toarray().ravel(), NONE)
        units[~plain] /= np.maximum((sp.diags(rows) @ size)[:, ~plain].max(axis=0).toarray().ravel(), NONE)
        A, E = (sp.csc_matrix(sp.diags(rows) @ X @ sp.diags(units)) for X in (self.A, self.E))
        return A, E, units


def _stacked(rows: list[list[Any]], heights: list[int], widths: list[int]) -> sp.csc_matrix:
    """Blocks, None for zeros, of given sizes, some of which may be 0."""
    filled = [
        [sp.csr_matrix((h, w)) if block is None else sp.csr_matrix(block) for block, w in zip(row, widths, strict=True)]
        for row, h in zip(rows, heights, strict=True)
    ]
    return sp.csc_matrix(sp.vstack([sp.hstack(row, format="csr") for row in filled], format="csc"))


def _played(lin: SparseLinearization, k: int, amplitude: float, periods: float, samples: int) -> Result:
    """See `SparseLinearization.motion`: joints of the tree moved along the mode, loops closed again."""
    lam, model = lin.modes[k].eigenvalue, lin.report.model
    n, q0, t0 = model.nv, lin.report.q, lin.report.t
    t, rate, grown = instants(lam, amplitude, periods, samples)
    length = mechanism_length(model)
    weights = np.tile([1.0] * 3 + [length**-2.0] * 3, model.nb)
    x = grown * lin.motions[:, k]
    q, v, a = (np.zeros((len(t), model.nb, c)) for c in (7, 6, 6))
    start, _ = tree_state(lin.tree, model, q0, np.zeros_like(q0[:, :6]))
    place = np.array([model.body_index[name] for name in lin.tree.body_names], dtype=int)
    for i, time in enumerate(t.tolist()):
        z = x * np.exp(rate * time)
        R, p = lin.tree.pose(lin.tree.integrate(start, lin.of_bodies @ z[:n].real))
        poses = q0.copy()
        poses[place, :4], poses[place, 4:] = quaternion(R), p
        q[i] = feasible_pose(model, poses, weights, length, t=t0).q[1:]
        v[i], a[i] = (rate * z[:n]).real.reshape(-1, 6), (rate**2 * z[:n]).real.reshape(-1, 6)
    states = np.zeros((len(t), 0))
    if model.system.forces:
        held = Loads(model).described if lin.report.states is None else lin.report.states
        states = np.repeat(held[None], len(t), axis=0)
    recording = BodyRecording(
        t, q, v, a, method=f"mode {lam:.6g} of nx.linearize", steps=0, settings={"coordinates": "bodies"},
        multipliers=np.zeros((len(t), model.nc)), violation=np.zeros(len(t)), z=states,
    )  # fmt: skip
    return Result(lin.system, recording, tree=BodyMotion(lin.system, model))  # type: ignore[arg-type]

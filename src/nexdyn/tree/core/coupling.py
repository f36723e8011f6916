"""Joints that mimic others or are coupled with them: the tree's own coordinates from the independent ones.

    q_tree = G q + g₀,   v_tree = G v,   τ = Gᵀ τ_tree,   M = Gᵀ M_tree G

Every row of G has one entry, so G is a column index and a factor a row. A mimic of a mimic is followed to its
root; of the joints that couplings tie together, the first in the order of the tree keeps its coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nexdyn.errors import InputError, counted, unknown
from nexdyn.model.coupling import Coupling as Linked
from nexdyn.model.system import System
from nexdyn.tree.core.compile import Compiled

AGREE = 1e-9
"""Parts of themselves by which start values of joints that follow each other may differ."""


class Follows(NamedTuple):
    """q = factor · q of `leader` + offset."""

    leader: str
    factor: float
    offset: float


@dataclass(frozen=True)
class Coupling:
    """G and g₀ for positions and velocities."""

    q_column: np.ndarray
    q_factor: np.ndarray
    q_offset: np.ndarray
    v_column: np.ndarray
    v_factor: np.ndarray
    nq: int
    nv: int
    follows: dict[str, Follows]
    """What each follower follows in the end."""

    @property
    def leaders(self) -> dict[str, str]:
        """The joint that each follower follows in the end."""
        return {name: follow.leader for name, follow in self.follows.items()}

    def led(self, given: Mapping[str, np.ndarray], what: str) -> dict[str, np.ndarray]:
        """Coordinates (`what` "q0") or velocities ("v0") of joints, with those of followers turned into values of their leaders.
        InputError names two that cannot both hold."""
        found = {name: x for name, x in given.items() if name not in self.follows}
        told_by = {name: name for name in found}
        for name in given.keys() & self.follows.keys():
            leader, factor, offset = self.follows[name]
            x, offset = float(given[name][0]), offset if what == "q0" else 0.0
            if leader not in found and factor != 0.0:
                found[leader], told_by[leader] = np.array([(x - offset) / factor]), name
                continue
            led = factor * float(found[leader][0]) if leader in found else 0.0
            if abs(led + offset - x) > AGREE * (abs(led) + abs(offset) + abs(x)):
                by = f"; the {what} of joint {told_by[leader]!r} makes it" if leader in told_by else " and is"
                raise InputError(
                    f"{what} of joint {name!r} is {x:.9g}, but it follows {leader!r}{by} {led + offset:.9g}"
                )
        return found

    def full_q(self, q: np.ndarray) -> np.ndarray:
        """Coordinates (…, nq) of the tree from the independent ones."""
        return q[..., self.q_column] * self.q_factor + self.q_offset

    def full_v(self, v: np.ndarray) -> np.ndarray:
        """Velocities or accelerations (…, nv) of the tree."""
        return v[..., self.v_column] * self.v_factor

    def reduced(self, tau: np.ndarray) -> np.ndarray:
        """Gᵀ τ for the last axis of `tau`."""
        out = np.zeros((*tau.shape[:-1], self.nv))
        np.add.at(out, (..., self.v_column), tau * self.v_factor)  # type: ignore[arg-type]
        return out

    def matrix(self) -> np.ndarray:
        """G, (nv of the tree, nv)."""
        G = np.zeros((len(self.v_column), self.nv))
        G[np.arange(len(self.v_column)), self.v_column] = self.v_factor
        return G


def find_coupling(system: System, compiled: Compiled) -> Coupling | None:
    """How the joints of a system follow each other; None where none does.

    InputError for an unknown or circular mimic, and for a coupling that minimal coordinates do not support.
    """
    arcs = compiled.forest.arcs
    place = {arc.name: a for a, arc in enumerate(arcs) if arc.joint is not None}
    follows = _mimics(system, place)
    if system.couplings:
        follows = _coupled(system, follows, place)
    if not follows:
        return None
    q_column, v_column = np.arange(compiled.nq), np.arange(compiled.nv)
    q_factor, q_offset, v_factor = np.ones(compiled.nq), np.zeros(compiled.nq), np.ones(compiled.nv)
    for name, (leader, factor, offset) in follows.items():
        a, b = place[name], place[leader]
        k, j = compiled.first_q[a], compiled.first_v[a]
        q_column[k], q_factor[k], q_offset[k] = compiled.first_q[b], factor, offset
        v_column[j], v_factor[j] = compiled.first_v[b], factor
    return _renumbered(q_column, q_factor, q_offset, v_column, v_factor, follows)


def _mimics(system: System, place: Mapping[str, int]) -> dict[str, Follows]:
    """What every mimic joint follows in the end."""
    values, found = system.values, {}
    for name in place:
        factor, offset, root, seen = 1.0, 0.0, name, [name]
        while system.joint(root).mimic is not None:
            mimic = system.joint(root).resolved(values).mimic
            assert mimic is not None
            if mimic.joint not in place:
                raise InputError(f"joint {root!r} mimics: {unknown('joint', mimic.joint, place)}")
            # q = f (m q' + o) + offset
            factor, offset, root = factor * mimic.multiplier, factor * mimic.offset + offset, mimic.joint
            if root in seen:
                raise InputError(f"joints mimic each other in a circle: {' → '.join([*seen, root])}")
            seen.append(root)
        if root == name:
            continue
        if system.joint(root).nv != 1:
            raise InputError(
                f"joint {name!r} mimics {root!r}, a joint of {counted(system.joint(root).nv, 'degree of freedom')}; one is needed"
            )
        found[name] = Follows(root, factor, offset)
    return found


def _coupled(system: System, mimics: dict[str, Follows], place: Mapping[str, int]) -> dict[str, Follows]:
    """What every joint follows with couplings too: of those that hang together, the first in the tree leads.

    InputError for a coupling that is not about two joints of one freedom, or that closes a ring of such.
    """
    follows: dict[str, Follows] = {}
    together: dict[str, list[str]] = {}
    for name, follow in mimics.items():
        together.setdefault(follow.leader, [follow.leader]).append(name)
        follows[name], follows[follow.leader] = follow, Follows(follow.leader, 1.0, 0.0)
    for coupling in system.couplings.values():
        terms, offset = coupling.law(system.values)
        _refuse_uncarried(system, coupling, len(terms))
        for term in terms:
            follows.setdefault(term.joint, Follows(term.joint, 1.0, 0.0))
            together.setdefault(follows[term.joint].leader, [term.joint])
        # c_a q_a + c_b q_b = offset with q = f q_leader + o:  q_b's leader by q_a's
        (a, f_a, o_a), (b, f_b, o_b) = (follows[term.joint] for term in terms)
        c_a, c_b = terms[0].coefficient, terms[1].coefficient
        if a == b or f_a == 0.0 or f_b == 0.0:
            raise InputError(
                f"{coupling} joins {terms[0].joint!r} and {terms[1].joint!r}, which other couplings or mimics hold "
                f"already; leave it out, or analyse the ring with nx.assemble"
            )
        if len(together[a]) < len(together[b]):
            (a, f_a, o_a, c_a), (b, f_b, o_b, c_b) = (b, f_b, o_b, c_b), (a, f_a, o_a, c_a)
        factor, rest = -c_a * f_a / (c_b * f_b), (offset - c_a * o_a - c_b * o_b) / (c_b * f_b)
        for name in together.pop(b):
            _, f, o = follows[name]
            follows[name] = Follows(a, f * factor, f * rest + o)
            together[a].append(name)
    led = {}
    for names in together.values():
        first = min((name for name in names if name not in mimics), key=lambda name: place[name])
        _, f_first, o_first = follows[first]
        for name in names:
            _, f, o = follows[name]
            if name != first:
                led[name] = Follows(first, f / f_first, o - f * o_first / f_first)
    return led


def _refuse_uncarried(system: System, coupling: Linked, count: int) -> None:
    if count != 2:
        raise InputError(
            f"{coupling} has {count} terms; minimal coordinates support couplings of two joints, absolute coordinates any: "
            f"see nx.assemble"
        )
    for name in coupling.joints():
        joint = system.joint(name)
        if joint.nv != 1:
            raise InputError(
                f"{coupling}: {joint} ({joint.kind}) has {counted(joint.nv, 'degree of freedom')}; minimal coordinates couple joints "
                f"of one, absolute coordinates any: see nx.assemble"
            )


def _renumbered(
    q_column: np.ndarray, q_factor: np.ndarray, q_offset: np.ndarray, v_column: np.ndarray, v_factor: np.ndarray,
    follows: dict[str, Follows],
) -> Coupling:  # fmt: skip
    """Columns counted among the independent coordinates."""
    q_kept, q_new = np.unique(q_column, return_inverse=True)
    v_kept, v_new = np.unique(v_column, return_inverse=True)
    return Coupling(q_new, q_factor, q_offset, v_new, v_factor, len(q_kept), len(v_kept), follows)

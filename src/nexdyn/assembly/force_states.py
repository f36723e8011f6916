"""The states of forces beside a motion: where a run starts from them, which move by themselves, and how along a given motion.

ż = f(t, q, v, z)      of filters, integrals and bristles; what a digital controller holds jumps at its samples instead
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nexdyn.absolute.motion.force_states import HELD, BegunStates, Steps, freedom_at_end, states_accepted
from nexdyn.errors import InputError
from nexdyn.forces import ContactForce, JointFriction, UserForce
from nexdyn.forces.actuator import Actuator, Drive, DriveStates
from nexdyn.forces.contact import seen_in
from nexdyn.forces.foundations import Foundations
from nexdyn.forces.joint_friction import Bristle
from nexdyn.forces.kinds import SURFACE
from nexdyn.forces.states import next_sample, sample_forces, state_labels
from nexdyn.forces.surface_contact import ONE
from nexdyn.forces.tables import MOST_STATES, ForceEntries, ForceTables
from nexdyn.forces.user import Stated
from nexdyn.kernel import kernel
from nexdyn.model.callbacks import failure
from nexdyn.model.force import Force
from nexdyn.model.system import System
from nexdyn.spatial.rotations import rotation_matrix

LOCAL, NOTHING = 1e-9, 1e-14
"""Error of a step of the states along a motion: in parts of the largest that they have been, and as they are."""
SHORTEST = 1e-6
"""Of the time between two samples: steps that are taken whatever their error."""
GROWS = 1.9


class _Along(NamedTuple):
    """Forces, and as in ``absolute.motion.elements`` the step, the one before, the states at their starts, and slopes of users' states."""

    forces: Any
    step: Any
    began: Any
    slopes: Any


@kernel
def move_along(acts, turns, i, t, q, v, now, at, rate):
    """States at the end `now` of the step, between samples i − 1 and i; returns the force that failed, or −1."""
    entries, h = ForceEntries(acts.forces.index), t[i] - t[i - 1]
    s = (now - t[i - 1]) / h
    for e in range(len(entries)):
        force = entries[e]
        if force.states > 0:
            c, j = force.coordinate, force.dof
            if turns[e]:  # no coordinate whose rate is v
                rate[j] = (1.0 - s) * v[i - 1, j] + s * v[i, j]
            else:
                # Hermite's cubic
                d = q[i, c] - q[i - 1, c]
                curved = (1.0 - s) * (h * v[i - 1, j] - d) - s * (h * v[i, j] - d)
                at[c] = q[i - 1, c] + s * d + s * (1.0 - s) * curved
                bend = (1.0 - 2.0 * s) * curved - s * (1.0 - s) * (h * v[i - 1, j] + h * v[i, j] - 2.0 * d)
                rate[j] = (d + bend) / h
            status, _ = freedom_at_end(acts, e, now, at[c], rate[j])
            if status != 0:
                return e
    return -1


@kernel
def march_along(acts, turns, t, q, v, at, rate, size, whole, past, out):
    """Fill out (N, nz) with the states at t (N,), from those that stand at t[0]; q (N, nq), v (N, nv) by degree of freedom; at, rate:
    those of the first. A step is taken whole and in halves, is judged by the difference, and ends where something is sampled.

    turns (nf,): whether a force acts in a degree of freedom without coordinate. Scratch: size, whole (nz,); past (nz, 3), states at
    the start of a step, half of the one before earlier, and all of it. Returns the sample and the force that failed, or −1, −1."""
    tables, began, step, count = acts.forces, BegunStates(acts.began), Steps(acts.step), len(acts.forces.z)
    sample_forces(tables, t[0], at, rate, tables.z, 0)
    for m in range(count):
        past[m, 0] = out[0, m] = tables.z[m]
    h, last = (0.05 * (t[1] - t[0]) if len(t) > 1 else 0.0), 0.0
    for i in range(1, len(t)):
        span, now = t[i] - t[i - 1], t[i - 1]
        while now < t[i]:
            due = max(next_sample(tables), now + 1e-9 * span)
            end = min(now + h, due, t[i])
            if (due >= t[i] and t[i] - end < 1e-6 * span) or not end > now:
                end = t[i]
            taken = end - now
            for m in range(count):
                began[m].z, began[m].before = past[m, 0], past[m, 2]
            step.h, step.before = taken, last
            e = move_along(acts, turns, i, t, q, v, end, at, rate)
            if e >= 0:
                return i, e
            for m in range(count):
                whole[m], began[m].before = tables.z[m], past[m, 1]
            step.h, step.before = 0.5 * taken, 0.5 * last
            e = move_along(acts, turns, i, t, q, v, now + 0.5 * taken, at, rate)
            if e >= 0:
                return i, e
            states_accepted(acts)
            step.h = 0.5 * taken
            e = move_along(acts, turns, i, t, q, v, end, at, rate)
            if e >= 0:
                return i, e
            # the halves err by a third of the difference, by all of it in a first step, of order 1
            error, share = 0.0, 3.0 if last > 0.0 else 1.0
            for m in range(count):
                size[m] = max(size[m], abs(tables.z[m]))
                error = max(error, abs(tables.z[m] - whole[m]) / (share * (LOCAL * size[m] + NOTHING)))
            factor = min(GROWS, 0.9 / max(error, 1e-9) ** (1.0 / 3.0))
            if error > 1.0 and taken > SHORTEST * span:
                h = max(0.2, factor) * taken
                continue
            # a step that was cut short says nothing against a longer one
            h = max(SHORTEST * span, factor * taken, h if factor > 1.0 else 0.0)
            now, last = end, taken
            if sample_forces(tables, now, at, rate, tables.z, 0) > 0:
                last = 0.0
            for m in range(count):
                past[m, 2], past[m, 1], past[m, 0] = past[m, 0], began[m].z, tables.z[m]
        for m in range(count):
            out[i, m] = tables.z[m]
    return -1, -1


def turning_forces(system: System) -> np.ndarray:
    """(nf,) whether each force acts in a degree of freedom of a spherical or free joint, which has no coordinate."""
    return np.array(
        [
            force.joint_name is not None and system.joints[force.joint_name].kind in ("spherical", "free")
            for force in system.forces.values()
        ],
        dtype=np.bool_,
    )


def without_states(force: Force) -> str:
    """What makes a contact that sticks one without states."""
    rolls = isinstance(force, Foundations) and force.resists
    return "give the contact a friction_speed" + (", and no resistance against rolling and turning" if rolls else "")


def states_along(system: System, forces: ForceTables, t: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """States (N, nz) at t (N,) along coordinates q (N, nq) and velocities v (N, nv) as `forces` number them, from those described on.
    SolveError where a force fails; InputError for friction of a contact that sticks."""
    for force in system.forces.values():
        if isinstance(force, ContactForce) and force.sticks and not force.is_off:
            raise InputError(
                f"{force} sticks, and how far it has slid is not told by a motion that is given; simulate the mechanism, or "
                f"{without_states(force)}"
            )
        if isinstance(force, UserForce) and force.states(system.values) and not force.is_off:
            raise InputError(
                f"{force} has states of its own, which are not followed along a motion that is given; simulate the mechanism, or "
                f"put them into a UserJointForce"
            )
    nz = len(forces.z)
    out = np.zeros((len(t), nz))
    own = forces._replace(z=forces.z.copy(), rate=np.zeros(nz))
    acts = _Along(own, np.zeros(2), np.zeros((nz, 2)), np.zeros((nz, MOST_STATES)))
    motion = [np.ascontiguousarray(x) for x in (t, q, v)]
    scratch = q[0].copy(), v[0].copy(), np.zeros(nz), np.zeros(nz), np.zeros((nz, 3))
    failed, e = march_along(acts, turning_forces(system), *motion, *scratch, out)  # type: ignore[call-arg]
    if failed >= 0:
        force = list(system.forces.values())[e]
        raise failure(force, float(t[failed]), force.callbacks())
    return out


class OwnState(NamedTuple):
    """A state of a force that moves by itself: its place in z, "servo.integral", its unit, and what of it is little."""

    place: int
    label: str
    unit: str
    little: float


def with_states(system: System) -> list[tuple[Force, int]]:
    """The forces that have states, and the first of each in z."""
    found, first = [], 0
    for force in system.forces.values():
        count = len(force.states(system.values))
        if count:
            found.append((force, first))
        first += count
    return found


SLIDES = 1e-6
"""The part of its bound [1/s] by which a spring changes where its contact slides, beyond rounding."""


def slipping_contacts(
    system: System, states: np.ndarray, bound: np.ndarray, rate: np.ndarray, described: bool
) -> tuple[list[slice], str]:
    """Where in z the springs are of contacts that slide in the state at hand, of friction that sticks and of what resists rolling: each
    holds as much as it may, and would hold more; where states are those `described`, springs that nothing has stretched yet, each whose
    surfaces move. And that less load would let one stick that holds so much and does not slide, more load slide, with the pair; or ""."""
    found, at_limit = list[slice](), ""
    for force, first in with_states(system):
        if not isinstance(force, ContactForce) or force.is_off:
            continue
        together = ONE if force.code == SURFACE else 3
        for k in range(first, first + len(force.states(system.values)), together):
            y, of_y = (x[k : k + together] for x in (states, rate))
            if not bound[k] > 0.0:
                continue
            moves = of_y @ of_y > (SLIDES * bound[k]) ** 2
            if y @ y < HELD * bound[k] ** 2:
                if described and moves:
                    found.append(slice(k, k + together))
            elif moves:
                if y @ of_y > 0.0:
                    found.append(slice(k, k + together))
            else:
                told = str(force) if force.part_of is None else f"contact {force.part_of!r}"
                bodies = " and ".join(repr(frame.body) for frame in force.frames(system))
                at_limit = at_limit or (
                    f"{told} between {bodies} holds as much as friction can in the state of {system.name!r}, and does not slide: it has "
                    "one slope where it sticks and another where it slides; load it less, let it slide, or give it more friction"
                )
    return found, at_limit


def touching_contact(system: System, place: Mapping[str, int], poses: np.ndarray, within: float) -> str:
    """A contact whose surfaces touch to `within` [m] at the poses (nb + 1, 7) of the bodies, each at its `place`, in words with its bodies;
    "" where there is none."""
    R, p = rotation_matrix(poses[:, :4]), poses[:, 4:]
    for force in system.forces.values():
        if not isinstance(force, ContactForce) or force.is_off:
            continue
        A, B = force.frames(system)
        at_a, at_b = (
            np.concatenate([(R[i] @ frame.R_BF).ravel(), p[i] + R[i] @ frame.p_BF, np.zeros(6)])[None]
            for frame, i in ((A, place[A.body]), (B, place[B.body]))
        )
        depths = seen_in(force.motion_table(force.data_in(system), at_a, at_b, np.zeros((1, 0)))).depth
        if np.abs(depths).min() <= within:
            told = str(force) if force.part_of is None else f"contact {force.part_of!r}"
            return f"{told} between {A.body!r} and {B.body!r}"
    return ""


def own_states(system: System, bound: np.ndarray) -> list[OwnState]:
    """States of forces that move by themselves, of contacts those that press; `bound` (nz,) as the tables of forces have it at the
    state at hand. InputError for a digital controller, whose output jumps."""
    labels, found = state_labels(system), []
    for force, first in with_states(system):
        if force.is_off:
            continue
        numbers = force.data_in(system)
        if isinstance(force, Stated):
            sizes = force.state_efforts(system.values, 1.0)
            found += [OwnState(first + i, *labels[first + i], size) for i, (_, _, size) in enumerate(sizes)]
        elif isinstance(force, Actuator):
            drive = Drive(numbers)
            if drive.sample:
                raise InputError(
                    f"{force} is sampled every {drive.sample:g} s, and nx.linearize is of continuous time; take it without "
                    f"sample_time, with a time_constant of half of it for the delay"
                )
            most = drive.most if drive.most > 0.0 else 1.0
            sizes_of = {"integral": most / drive.k_i if drive.k_i else 0.0, "lagged": most if drive.lag else 0.0}
            for state, size in sizes_of.items():
                if size:
                    place = first + DriveStates.fields[state].first
                    found.append(OwnState(place, labels[place][0], "", size))
        elif isinstance(force, JointFriction):
            own = Bristle(numbers)
            found.append(OwnState(first, labels[first][0], "", max(own.elastic, 0.1) * own.sliding / own.stiffness))
        elif isinstance(force, ContactForce):
            places = [first + i for i in range(len(force.states(system.values))) if bound[first + i] > 0.0]
            found += [OwnState(place, *labels[place], 0.1 * float(bound[place])) for place in places]
    return found

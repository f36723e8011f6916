"""What a run says of its start: gaps that assembly closed, coordinates outside limits, contacts pressed in.

A gap of a few millimetres is a rounded drawing, one of 50 mm a wrong number. Both are closed, by moving bodies; that it was
done is said. A contact of stiffness k that starts δ deep starts with the energy k δᵉ⁺¹ / (e + 1), whatever the drawing meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nexdyn.assembly.contact_steps import Speeds, constant_step, fastest, limit_of, poses_of, surface_gaps
from nexdyn.errors import AssemblyError, InputError, counted, is_one_of, warn
from nexdyn.forces.contact import ContactForce, Seen, fixed_to, seen_in
from nexdyn.forces.mesh_solid import drawn_meshes
from nexdyn.model.joint import Joint
from nexdyn.model.once import unchanged
from nexdyn.results.contacts import contacts_of
from nexdyn.results.recording import BodyRecording
from nexdyn.spatial.rotations import rotation_matrix
from nexdyn.tree.described import coordinates_between

if TYPE_CHECKING:
    from nexdyn.absolute.model.model import AbsoluteModel
    from nexdyn.assembly.closing import Closing
    from nexdyn.assembly.report import AssemblyReport
    from nexdyn.integrate.methods import Method
    from nexdyn.model.between_bodies import BetweenBodies
    from nexdyn.model.body import Body
    from nexdyn.model.joint import Joint
    from nexdyn.model.system import System

MOVED = 1e-6
"""Gaps and moves from which on they are told, in parts of the mechanism's size, and in rad."""
PRESSED = 10.0
"""A contact is reported whose force at the start exceeds the weight of the connected bodies by this factor."""
ROUNDED = 1e-12
"""Part of the places of bodies that a penetration must exceed to be more than rounding."""
SHOWN = 5
ON_GAP = ("warn", "error", "accept")
REFUSED = ("gap", "limit", "start", "contact")
"""Kinds of notices that `on_gap="error"` refuses: a start that is not the described one, or that cannot be meant."""
DIVERGES = "unstable"
"""The kind that is refused but with `on_gap="accept"`: a run that would diverge."""

Pairs = Mapping[str, Sequence[tuple["Body", "Body"]]]
"""Pairs of bodies of each contact."""


class Notice(NamedTuple):
    """kind: "gap", "limit", "start", "contact", "drawn", "shared", "step", "unstable", "degrees", "violation", "singular", "energy",
    "state", "event" or "file"; where: the joint, contact, body, spring, event, file, or whose function; value: the gap [m], what is beyond
    the limit [m, rad], by how much the start was moved [m, rad, m/s, rad/s], the force [N], the triangles of a mesh that is drawn and
    stands in for a collision shape, the pairs of bodies that two contacts share, the longest step [s], the violation in parts of the
    mechanism's size, the energy that has grown [J], or when it is [s]; angle: the misalignment of a gap [rad]; text: all of it in words."""

    kind: str
    where: str
    value: float
    units: str
    angle: float
    text: str


def gaps_of(model: AbsoluteModel, q: np.ndarray, how: Closing) -> list[Notice]:
    """The joints that stay open in the pose as described, the widest first, and what was moved to close them at q."""
    from nexdyn.absolute.model.configuration import difference
    from nexdyn.assembly.closing import joint_gaps

    open_ = [
        gap
        for gap in joint_gaps(model, model.q, how)
        if gap.kind == "joint" and (gap.distance > MOVED * how.length or gap.angle > MOVED)
    ]
    if not open_:
        return []
    away = difference(q, model.q)
    turns, shifts = np.linalg.norm(away[:, :3], axis=1), np.linalg.norm(away[:, 3:], axis=1)
    i, k = int(shifts.argmax()), int(turns.argmax())
    moved = f"closed by moving {model.bodies[1 + i]!r} by {shifts[i]:.3g} m"
    moved += f" and {model.bodies[1 + k]!r} by {turns[k]:.3g} rad" if turns[k] > MOVED else ""
    return [
        Notice("gap", gap.joint, gap.distance, "m", gap.angle, f"{_open(gap.joint, gap.distance, gap.angle)}; {moved}")
        for gap in open_
    ]


def gaps_of_tree(found: Mapping[str, tuple[float, float]]) -> list[Notice]:
    """The same where minimal coordinates close {joint: (gap [m], misalignment [rad])}."""
    closed = "closed by moving the child"
    return [
        Notice("gap", name, gap, "m", turn, f"{_open(name, gap, turn)}; {closed}")
        for name, (gap, turn) in found.items()
    ]


def _open(joint: str, gap: float, turn: float) -> str:
    return f"joint {joint!r} stays open by {gap:.3g} m and {turn:.3g} rad as described"


def start_notices(simulation: Any, gaps: list[Notice]) -> list[Notice]:
    """The gaps, and what is to be said of the state that the simulation starts from."""
    with unchanged():
        system: System = simulation.system
        found = [*gaps, *_described(system)]
        if not looked_at(system):
            return found
        return found + notices_of_pose(
            system, simulation.method, poses_at_start(simulation), speeds=speeds_at_start(simulation)
        )


def looked_at(system: System) -> bool:
    """Whether a pose may be odd: whether there are limits or contacts."""
    return bool(_limited(system) or _touching(system))


def _limited(system: System) -> list[Joint]:
    return [joint for joint in system.joints.values() if joint.limits is not None and joint.nv]


def _touching(system: System) -> list[ContactForce]:
    return [contact for contact in contacts_of(system) if not contact.is_off]


def described_notices(system: System) -> list[Notice]:
    """What is odd about contacts, whatever the pose: meshes that stand in for collision shapes, pairs of bodies in several contacts."""
    with unchanged():
        return _described(system)


def notices_of_pose(
    system: System, method: Any, pose: Pose, steps: bool = True, speeds: Speeds | None = None
) -> list[Notice]:
    """Joints outside their limits, contacts pressed in, and, with `steps`, a constant step that is too long for a contact; speeds: those of
    bodies (``contact_steps.fastest``)."""
    limited, contacts, found = _limited(system), _touching(system), list[Notice]()
    for joint in limited:
        found += _beyond(joint, system.values, pose)
    near = [contacts[k] for k in np.flatnonzero(surface_gaps(contacts, system, pose) <= 0.0)]
    pressed = [deep for contact in near if (deep := _pressed(contact, system, pose)) is not None]
    weights = _weights(system, [deep.contact for deep in pressed]) if pressed else {}
    for deep in pressed:
        found += _too_deep(deep, system, max(weights.get(frame.body, 0.0) for frame in deep.contact.frames(system)))
    return found + long_steps(system, method, pose, speeds) if steps else found


def _described(system: System) -> list[Notice]:
    pairs = {contact.name: contact.pairs(system) for contact in system.contacts.values()}
    return [*_drawn(system, pairs), *_shared(system, pairs)]


def _drawn(system: System, pairs: Pairs) -> list[Notice]:
    """The meshes that are drawn, and stand in for collision shapes of bodies that contacts name."""
    named = {body.name: name for name, found in pairs.items() for pair in found for body in pair}
    found = {name: drawn_meshes(system.bodies[name], system.values) for name in named if name in system.bodies}
    return [
        Notice(
            "drawn", name, float(count), "1", 0.0,
            f"contact {named[name]!r}: body {name!r} has no collision shapes; {shape}, as drawn, stands in with {count} triangles; "
            "give the body collision=[…] of fewer, or of simple shapes",
        )
        for name, meshes in found.items() for shape, count in meshes
    ]  # fmt: skip


def _shared(system: System, pairs: Pairs) -> list[Notice]:
    """Pairs of bodies that two contacts act between, where a pattern of one of them chooses the pair: the forces of both add."""
    acting = {contact.part_of for contact in _touching(system)}
    of: dict[frozenset[str], list[str]] = {}
    both: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name in (name for name in pairs if name in acting):
        for a, b in ((a.name, b.name) for a, b in pairs[name]):
            others = of.setdefault(frozenset((a, b)), [])
            for other in others:
                if not all(_named_in_full(system.contacts[one], a, b) for one in (other, name)):
                    both.setdefault((other, name), []).append((a, b))
            others.append(name)
    return [
        Notice(
            "shared", name, float(len(between)), "1", 0.0,
            f"contacts {other!r} and {name!r} both act between {between[0][0]!r} and {between[0][1]!r}"
            + f", and between {counted(len(between) - 1, 'other pair')}" * (len(between) > 1)
            + ": their forces add; leave these bodies out of one of them, or name both in full if that is meant",
        )
        for (other, name), between in both.items()
    ]  # fmt: skip


def _named_in_full(contact: BetweenBodies, one: str, other: str) -> bool:
    """Whether a contact names both bodies, each on its side, and no pattern chooses them."""
    a, b = ((given,) if isinstance(given, str) else given for given in (contact.a, contact.b))
    return (one in a and other in b) or (one in b and other in a)


def file_notices(paths: Sequence[str]) -> list[Notice]:
    """The files that hold something else than in the run to go on from."""
    return [
        Notice(
            "file", path, 0.0, "1", 0.0,
            f"the mesh {path!r} has changed since the run to go on from; from here on bodies touch by what it holds now",
        )
        for path in paths
    ]  # fmt: skip


def long_steps(system: System, method: Method, pose: Pose, speeds: Speeds | None = None) -> list[Notice]:
    """A constant explicit step that is too long for a contact: "unstable" where that is sure, else "step" (``contact_steps``)."""
    dt = constant_step(method)
    if dt is None or not any(not contact.is_off for contact in contacts_of(system)):
        return []
    limit = limit_of(method)
    told, sure = fastest(system, pose, speeds)
    for kind, (fast, name, omega) in ((DIVERGES, sure), ("step", told)):
        if fast * dt > limit:
            most = limit / omega
            text = (
                f"steps of dt = {dt:g} s are too long for contact {name!r}: by its stiffness and the masses that it presses, it takes "
                f"{most:.2g} s at most once it presses; take less, or HHT or DormandPrince, which choose their steps"
            )
            return [Notice(kind, name, most, "s", 0.0, text)]
    return []


def moved_starts(
    system: System, name: str, given: Mapping[str, Array], now: Mapping[str, Array], length: float
) -> list[Notice]:
    """What was given as "q0" or "v0", by joint, and had to be moved by more than `MOVED` to keep the loops closed: the joint that is
    moved most, the mechanism's size being `length` [m]. Velocities are compared with the largest one."""
    rates = name == "v0"
    best, largest = (0.0, "", 0, ""), 0.0
    for joint, asked in given.items():
        directions = system.joints[joint].directions if joint in system.joints else ()
        for m, (x, y) in enumerate(zip(asked.tolist(), now[joint].tolist(), strict=True)):
            slides = m < len(directions) and directions[m][0] != "turn"
            size = length if slides else 1.0
            best = max(best, (abs(y - x) / size, joint, m, "m" if slides else "rad"))
            largest = max(largest, abs(x) / size, abs(y) / size)
    miss, joint, m, unit = best
    if miss <= MOVED * (largest if rates else 1.0):
        return []
    unit += "/s" * rates
    x, y = float(given[joint][m]), float(now[joint][m])
    which = f" of joint {joint!r}" + f" in degree of freedom {m + 1}" * (len(given[joint]) > 1)
    text = f"{name}{which} is given as {x:.6g} {unit}; the loops allow {y:.6g} {unit}, with which the run starts"
    return [Notice("start", joint, abs(y - x), unit, 0.0, text)]


def degrees_notices(system: System, q0: Any) -> list[Notice]:
    """Angles that joints are given, in the system or in `q0` by joint, that look like degrees: beyond a turn, and multiples of 5; of limits
    multiples of 15, up to two turns."""
    given = {name: joint.resolved(system.values).q0 for name, joint in system.joints.items() if joint.q0 is not None}
    given |= dict(q0) if isinstance(q0, Mapping) else {}
    found = []
    for name, values in given.items():
        joint = system.joints.get(name)
        if joint is None or joint.nq != joint.nv:
            continue
        for (kind, _, _), x in zip(joint.directions, np.atleast_1d(np.asarray(values)).tolist(), strict=False):
            if kind == "turn" and isinstance(x, int | float) and abs(x) > 2.0 * np.pi and x % 5 == 0.0:
                turns = abs(x) / (2.0 * np.pi)
                text = f"q0 of joint {name!r} is {x:g} rad, {turns:.3g} turns; if degrees are meant, it is {np.deg2rad(x):.6g}"
                found.append(Notice("degrees", name, float(x), "rad", 0.0, text))
    return found + [notice for joint in system.joints.values() for notice in _limits_in_degrees(system, joint)]


def _limits_in_degrees(system: System, joint: Joint) -> list[Notice]:
    """At most one a joint."""
    if joint.limits is None or joint.nq != joint.nv:
        return []
    given = joint.resolved(system.values)
    for (kind, _, _), *ends in zip(joint.directions, given.lower, given.upper, strict=False):
        for x in map(float, ends):
            if kind == "turn" and 2.0 * np.pi < abs(x) <= 720.0 and x % 15 == 0.0:
                turns, here = abs(x) / (2.0 * np.pi), np.deg2rad(x)
                text = f"a limit of joint {joint.name!r} is {x:g} rad, {turns:.3g} turns; if degrees are meant, it is {here:.6g}"
                return [Notice("degrees", joint.name, x, "rad", 0.0, text)]
    return []


Array = np.ndarray
Pose = Callable[[str], tuple[np.ndarray, np.ndarray]]


def poses_at_start(simulation: Any) -> Pose:
    """R (3, 3) and p (3,) of a body where the simulation stands."""
    result = simulation.latest()
    if isinstance(result.recording, BodyRecording):
        names, q = list(simulation.model.bodies)[1:], result.recording.q[-1]
        R, p = rotation_matrix(q[:, :4]), q[:, 4:]
    else:
        return pose_of(simulation.tree.body_names, *simulation.tree.pose(simulation.q))
    return pose_of(names, R, p)


def speeds_at_start(simulation: Any) -> Speeds:
    """ω and v (3,) of a body where the simulation stands, looked at when it is first asked for."""
    known: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def speeds(body: str) -> tuple[np.ndarray, np.ndarray]:
        if not known:
            seen = simulation.latest().observed
            w, v = (seen.take(name)[-1] for name in ("angular_velocity", "velocity"))
            known.update(zip(seen.labels.dims["body"], zip(w, v, strict=True), strict=True))
        return known.get(body, (np.zeros(3), np.zeros(3)))

    return speeds


def pose_of(names: Sequence[str], R: np.ndarray, p: np.ndarray) -> Pose:
    """Bodies in the order of `names` at R (bodies, 3, 3), p (bodies, 3); ground in the origin."""
    found = {name: (R[i], p[i]) for i, name in enumerate(names)}
    return lambda name: found.get(name, (np.eye(3), np.zeros(3)))


def _beyond(joint: Joint, values: dict[str, float], pose: Pose) -> list[Notice]:
    """The degrees of freedom of a joint that start outside its limits. Angles are known up to whole turns: the best one counts."""
    given = joint.resolved(values)
    q, _, _ = coordinates_between(joint, values, pose(joint.parent.name), pose(joint.child.name))
    if len(q) != len(given.lower) or not (np.isfinite(given.lower).any() or np.isfinite(given.upper).any()):
        return []
    found = []
    for m, (x, lower, upper) in enumerate(zip(q.tolist(), given.lower.tolist(), given.upper.tolist(), strict=True)):
        turning = joint.directions[m][0] == "turn"
        turns = 2.0 * np.pi * np.arange(-1, 2) if turning and not joint.advances else np.zeros(1)
        beyond, x = min((max(lower - (x + k), x + k - upper, 0.0), x + k) for k in turns.tolist())
        if beyond > MOVED:
            unit = "rad" if turning else "m"
            which = f" {m + 1}" if len(q) > 1 else ""
            text = f"joint {joint.name!r} starts at {x:.6g} {unit}{which and f' in degree of freedom{which}'}"
            text += f", outside its limits {lower:g} to {upper:g} {unit}"
            found.append(Notice("limit", joint.name, beyond, unit, 0.0, text))
    return found


class Pressed(NamedTuple):
    """A contact that starts pressed in: the poses (12,) of its frames, how deep [m], the normal force [N], the normal (3,) from B to A, 0
    where there is none, and whether it is over an area."""

    contact: ContactForce
    frames: Sequence[np.ndarray]
    depth: float
    force: float
    normal: np.ndarray
    over_area: bool


def _pressed(contact: ContactForce, system: System, pose: Pose) -> Pressed | None:
    """A contact where it presses at the start, by more than rounding; None of one that does not."""
    data, frames = contact.numbers(system.values), poses_of(contact, system, pose)
    depth, force = contact.pressed(system.values, *frames)
    if force <= 0.0 or depth <= ROUNDED * float(sum(np.linalg.norm(frame[9:]) for frame in frames)):
        return None
    a, b = (np.concatenate([frame, np.zeros(6)])[None] for frame in frames)
    rows = contact.motion_table(data, a, b, np.zeros((1, 0)))[0]
    row = Seen(rows[int(seen_in(rows).depth.argmax())])
    return Pressed(contact, frames, depth, force, np.array(row.normal), bool(row.area > 0.0))


def _weights(system: System, pressed: Sequence[ContactForce]) -> dict[str, float]:
    """The weight [N] of each moving body together with all bodies connected to it by joints, forces and pressing contacts."""
    moving = [name for name in system.bodies if name != "ground" and "ground" not in fixed_to(system, name)]
    acting = [force for force in system.forces.values() if not isinstance(force, ContactForce)]
    tied = [(joint.parent.name, joint.child.name) for joint in system.joints.values()]
    tied += [(frames[0].body, frames[-1].body) for force in (*acting, *pressed) if (frames := force.frames(system))]
    of = {name: name for name in moving}

    def group(name: str) -> str:
        while of[name] != name:
            of[name] = name = of[of[name]]
        return name

    for one, other in tied:
        if one in of and other in of:
            of[group(one)] = group(other)
    gravity = float(np.linalg.norm(system.gravity))
    weight = dict.fromkeys(moving, 0.0)
    for name in moving:
        weight[group(name)] += gravity * system.bodies[name].resolved(system.values).mass
    return {name: weight[group(name)] for name in moving}


def _too_deep(deep: Pressed, system: System, weight: float) -> list[Notice]:
    """What is said of a contact that starts with more than `weight` can explain."""
    contact = deep.contact
    if deep.force <= PRESSED * weight:
        return []
    one, other = (frame.body for frame in contact.frames(system))
    text = f"contact {contact.name!r} starts {deep.depth:.3g} m deep, {one!r} in {other!r}, with "
    if not deep.normal.any():
        text += f"the centre of one in that of the other: nothing presses until they part; move body {one!r} away, or {other!r}"
        return [Notice("contact", contact.name, 0.0, "N", 0.0, text)]
    text += f"{deep.force:.3g} N"
    if (exponent := contact.numbers(system.values)[1]) > 0.0:
        text += f" and {deep.force * deep.depth / (exponent + 1.0):.3g} J"
    if weight:
        text += f" (the connected bodies weigh {weight:.3g} N)"
    body, n = (other, -deep.normal) if "ground" in fixed_to(system, one) else (one, deep.normal)
    x, y, z = (float(f"{component:.3g}") + 0.0 for component in n)
    about = "about " if deep.over_area else ""
    text += f"; moved by {about}{deep.depth:.3g} m along ({x:g}, {y:g}, {z:g}), body {body!r} just touches"
    return [Notice("contact", contact.name, deep.force, "N", 0.0, text)]


def tell(notices: list[Notice], on_gap: str, report: AssemblyReport | None) -> list[Notice]:
    """Say them as warnings; with on_gap="error" those of `REFUSED` are an AssemblyError, and but with "accept" what diverges is an
    InputError. The notices, for the result."""
    if not is_one_of(on_gap, ON_GAP):
        raise InputError(f"on_gap is {on_gap!r}; {' or '.join(map(repr, ON_GAP))} is needed")
    for notice in notices:
        if notice.kind == DIVERGES and on_gap != "accept":
            raise InputError(_refusal(DIVERGES, notice.text))
    gaps = [notice for notice in notices if notice.kind == "gap"]
    said = [(notice.kind, notice.text) for notice in notices if notice.kind != "gap"]
    if gaps:
        said = [("gap", text_of_gaps(gaps)), *said]
    refused = [text for kind, text in said if kind in REFUSED]
    if on_gap == "error" and refused:
        raise AssemblyError("; ".join(refused), report=report)
    for _, text in said:
        warn(text)
    return notices


def text_of_gaps(gaps: list[Notice]) -> str:
    """All of them in words."""
    *others, last = gaps[:SHOWN]
    more = f"; and {len(gaps) - SHOWN} more" if len(gaps) > SHOWN else ""
    return "; ".join([*(_open(gap.where, gap.value, gap.angle) for gap in others), last.text]) + more


def _refusal(kind: str, text: str) -> str:
    return f"{text}; on_gap='accept' runs it all the same" if kind == DIVERGES else text


def tell_of_members(notices: Mapping[int, list[Notice]], on_gap: str, count: int) -> dict[int, str]:
    """The same of members of a batch, `count` in all: each kind at each place is said once, with its members. Why members are refused."""
    if not is_one_of(on_gap, ON_GAP):
        raise InputError(f"on_gap is {on_gap!r}; {' or '.join(map(repr, ON_GAP))} is needed")
    refused: dict[int, str] = {}
    said: dict[tuple[str, str], tuple[str, list[int]]] = {}
    for m, found in notices.items():
        gaps = [notice for notice in found if notice.kind == "gap"]
        texts = [("gap", "", text_of_gaps(gaps))] if gaps else []
        texts += [(notice.kind, notice.where, notice.text) for notice in found if notice.kind != "gap"]
        refuses = (*(REFUSED if on_gap == "error" else ()), *(() if on_gap == "accept" else (DIVERGES,)))
        if why := [_refusal(kind, text) for kind, _, text in texts if kind in refuses]:
            refused[m] = "; ".join(why)
            continue
        for kind, where, text in texts:
            said.setdefault((kind, where), (text, []))[1].append(m)
    for text, members in said.values():
        more = f" and {len(members) - 1} more of {count}" if len(members) > 1 else ""
        warn(text if len(members) == count else f"member {members[0]}{more}: {text}")
    return refused


def kept_notices(notices: list[Notice] | None) -> dict[str, Any]:
    """They, as a part of a recording's settings."""
    return {"warnings": [notice._asdict() for notice in notices]} if notices else {}

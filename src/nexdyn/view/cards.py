"""What the page says of the selected body or joint: numbers with units at the shown time, as HTML.

    body    mass, moments and products of inertia, centre of mass; place, attitude, velocities; reactions of its joints; the sum of
            the forces of contacts on it, for each body that it may touch
    joint   kind, bodies; coordinates and their rates; force and moment of its reaction on its child

Between samples numbers are those of the two samples by weight, as poses are (motion.py).
"""

from __future__ import annotations

import contextlib
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nexdyn.errors import NexDynError
from nexdyn.results.contacts import contact_points
from nexdyn.view.acting import parts as others
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.units import SI, Units
from nexdyn.view.words import Words

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.result import Result


TOUCHING = "contact force"
MOST_TOUCHED = 12
"""Bodies that a card tells the contact forces of: those that press most."""


OF_BODY = (
    ("position", "position", "m"), ("quaternion", "orientation", "1"), ("velocity", "velocity", "m/s"),
    ("angular velocity", "angular_velocity", "rad/s"),
)  # fmt: skip
"""Quantities of a body on its card: the label, the quantity of a result, the unit."""


class Row(NamedTuple):
    """A quantity: its name, its components and their unit."""

    name: str
    values: np.ndarray
    unit: str


Curve = tuple[str, np.ndarray, str]
"""Name, values (N, components) and unit."""


def of_coordinates(result: Result, joint: str) -> list[Curve]:
    """Coordinates and velocities of a joint; a fixed one has none. Not as labelled arrays: these take half a second to import."""
    found: list[Curve] = []
    for what, quantity in (("q", "joint_position"), ("v", "joint_velocity")):
        with contextlib.suppress(NexDynError):
            found += [(what, x[:, None], unit) for _, x, unit in result.observed.joint_columns(quantity, joint)]
    return found


def of_reactions(result: Result, joints: Sequence[str]) -> dict[str, list[Curve]]:
    """Force and moment of the reactions of joints, of those that have one here."""
    observed, having = result.observed, result.observed.labels.dims["joint"]
    wanted = [joint for joint in joints if joint in having] if observed.knows("reaction") else []
    if not wanted:
        return {}
    wrenches = observed.take("reaction", [having.index(joint) for joint in wanted])
    return {
        joint: [(f"force|{joint}", wrenches[:, k, :3], "N"), (f"moment|{joint}", wrenches[:, k, 3:], "N m")]
        for k, joint in enumerate(wanted)
    }


class Card:
    """The numbers of one body or joint of a motion."""

    def __init__(self, motion: Motion, kind: str, name: str, words: Words) -> None:
        self.motion, self.name, self._words = motion, name, words
        self.key, self.is_joint = f"{kind}:{name}", kind == "joint"
        system = motion.system
        self.joints = [name] if self.is_joint else joints_of(system, name)
        self._fixed = [] if self.is_joint else of_matter(system, name)
        self._curves: list[tuple[str, np.ndarray, str]] = []
        result = motion.result
        if result is None:
            return
        if self.is_joint:
            self._curves += of_coordinates(result, name)
        else:
            self._curves += [(what, result.observed.at_frame(key, name), unit) for what, key, unit in OF_BODY]
        for curves in of_reactions(result, self.joints).values():
            self._curves += curves
        if not self.is_joint:
            self._curves += touching(result).get(name, [])
        self._t = result.recording.t

    def rows(self, t: float, frame: Frame | None = None) -> list[Row]:
        """All numbers at the time `t` [s]; with `frame`, of a pose, those that a pose has."""
        rows = list(self._fixed)
        if frame is not None or not self._curves:
            if not self.is_joint:
                f, i = frame or self.motion.at(t), self.motion.body(self.name)
                rows += [Row("position", f.position[i], "m"), Row("quaternion", f.quaternion[i], "1")]
            return rows
        k, s = 0, 0.0
        if len(self._t) > 1:
            k = int(np.clip(np.searchsorted(self._t, t, side="right") - 1, 0, len(self._t) - 2))
            s = float(np.clip((t - self._t[k]) / (self._t[k + 1] - self._t[k]), 0.0, 1.0))
        for name, values, unit in self._curves:
            now = (1.0 - s) * values[k] + s * values[min(k + 1, len(values) - 1)]
            if name == "quaternion":
                now = now / np.linalg.norm(now)
            rows.append(Row(name, now, unit))
            if "|" in name:
                rows.append(Row(f"|{name}", np.array([np.linalg.norm(now)]), unit))
        return rows

    def text(self, t: float, frame: Frame | None = None, units: Units = SI) -> str:
        """The same as an HTML table."""
        w, lines, last = self._words, [], ""
        for row in self.rows(t, frame):
            name, _, joint = row.name.removeprefix("|").partition("|")
            if joint and joint != last:
                of = w("contact with" if name == TOUCHING else "reaction of")
                lines.append(f'<tr><th colspan="3" scope="rowgroup">{of} {html.escape(joint)}</th></tr>')
                last = joint
            label = f"|{w(name)}|" if row.name.startswith("|") else w(name)
            lines.append(table_row(label, row.values, row.unit, units))
        title, key = html.escape(self.name), html.escape(self.key, quote=True)
        return f'<table class="nexdyn-card" data-nexdyn-of="{key}"><caption>{title}</caption>{"".join(lines)}</table>'


def touching(result: Result) -> dict[str, list[tuple[str, np.ndarray, str]]]:
    """By body the forces (N, 3) of contacts on it in the world [N], summed for each body that it may touch."""
    points = contact_points(result.system) if result.observed.knows("contact_force") else []
    if not points:
        return {}
    forces, sums = result.observed.take("contact_force"), dict[str, dict[str, np.ndarray]]()
    for k, point in enumerate(points):
        for body, other, sign in ((point.a, point.b, 1.0), (point.b, point.a, -1.0)):
            own = sums.setdefault(body, {})
            own[other] = own.get(other, 0.0) + sign * forces[:, k]
    return {
        body: [
            (f"{TOUCHING}|{other}", own[other], "N")
            for other in sorted(own, key=lambda x: -np.abs(own[x]).max())[:MOST_TOUCHED]
        ]
        for body, own in sums.items()
    }


def table_row(label: str, values: np.ndarray, unit: str, units: Units) -> str:
    """A quantity as a row of an HTML table."""
    values, unit = units.of(values, unit)
    numbers = " ".join(f"<span>{number(x)}</span>" for x in values)
    return f'<tr><th scope="row">{label}</th><td>{numbers}</td><td>{unit}</td></tr>'


def number(x: float) -> str:
    """Four digits; what rounding leaves of nothing is 0."""
    if not np.isfinite(x):
        return "–"
    if abs(x) < 1e-12:
        return "0"
    text = f"{x:#.4g}" if 1e-3 <= abs(x) < 1e3 else f"{x:.4g}"
    return text.replace("-", "−")


def joints_of(system: System, body: str) -> list[str]:
    """The joints that a body has: those that carry it first."""
    joints = system.joints.values()
    carrying = [joint.name for joint in joints if joint.carried.name == body]
    return carrying + [joint.name for joint in joints if joint.carrier.name == body]


def of_matter(system: System, name: str) -> list[Row]:
    """Mass, inertia about the centre of mass, and that centre, of a body."""
    body = system.bodies[name].resolved(system.values)
    tensor = body.inertia
    rows = [
        Row("mass", np.array([body.mass]), "kg"),
        Row("Ixx Iyy Izz", np.diag(tensor), "kg m^2"),
    ]
    products = np.array([tensor[0, 1], tensor[0, 2], tensor[1, 2]])
    if np.abs(products).max() > 1e-12 * max(np.abs(tensor).max(), 1e-300):
        rows.append(Row("Ixy Ixz Iyz", products, "kg m^2"))
    rows.append(Row("centre of mass", body.com, "m"))
    return rows


def tree(system: System, words: Words) -> str:
    """The bodies and joints of a model as an HTML tree: each joint below its parent, its child below it; then all else (parts.py).

    A joint that closes a loop stands below its parent too and names its child, which stands where it came first.
    """
    joints: dict[str, list[str]] = {}
    for joint in system.joints.values():
        joints.setdefault(joint.carrier.name, []).append(joint.name)
    seen: set[str] = set()
    parts: list[str] = []
    for root in ("ground", *system.bodies):
        if root in seen:
            continue
        todo: list[tuple[str, str, int]] = [("body", root, 1)]  # depth first, without recursion: chains may be long
        levels: list[int] = []
        while todo:
            kind, name, level = todo.pop()
            while levels and levels[-1] >= level:
                levels.pop()
                parts.append("</ul></li>")
            if kind == "body":
                seen.add(name)
                label, below = (
                    words("ground") if name == "ground" else name,
                    [("joint", j) for j in joints.get(name, [])],
                )
            else:
                joint = system.joints[name]
                child = joint.carried.name
                label = f"{name} ({words(joint.kind)})" + (f" → {child}" if child in seen else "")
                below = [] if child in seen else [("body", child)]
            key = html.escape(f"{kind}:{name}", quote=True)
            parts.append(
                f'<li role="none"><span role="treeitem" tabindex="{0 if name == "ground" else -1}" aria-selected="false" '
                f'aria-level="{level}" class="nexdyn-{kind}" data-nexdyn="{key}">{html.escape(label)}</span>'
            )
            if below:
                parts.append('<ul role="group">')
                levels.append(level)
                todo += [(k, n, level + 1) for k, n in reversed(below)]
            else:
                parts.append("</li>")
        parts += ["</ul></li>"] * len(levels)
    parts.append(others(system, words))
    return f'<ul role="tree" class="nexdyn-tree" aria-label="{html.escape(words("model"))}">{"".join(parts)}</ul>'

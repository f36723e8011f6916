"""Another result of the same mechanism, laid over the shown one as a ghost, and how far apart the two are.

    difference of a body at the time t:  |p_ghost(t) − p(t)| [m],   φ = 2 acos |q_ghost(t) · q(t)| [rad]

Each motion is taken between its own samples (motion.py); outside its time a ghost stands at its ends.
"""

from __future__ import annotations

import html
from collections import defaultdict
from typing import Any

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.system import System
from nexdyn.view.cards import table_row
from nexdyn.view.charts import MOST, Line, Panel
from nexdyn.view.geometry import pieces
from nexdyn.view.marks import Marks
from nexdyn.view.motion import Frame, Motion
from nexdyn.view.placing import linear
from nexdyn.view.surfaces import Piece
from nexdyn.view.units import Units
from nexdyn.view.words import Words

COLOR, OPACITY = (90, 110, 235), 0.35
MOST_SAMPLES = 2000
"""Times at which the difference is plotted."""
_SHOWN = 5


class Ghost:
    """The bodies of a motion, all in one colour that one sees through."""

    def __init__(self, scene: Any, motion: Motion, t: float) -> None:
        self.motion = motion
        row = {name: i for i, name in enumerate(motion.bodies)}
        by_surface: dict[int, list[Piece]] = defaultdict(list)
        for piece in pieces(motion.system):
            if piece.body in row:
                by_surface[id(piece.surface)].append(piece)
        self.groups: list[Marks] = []
        f = motion.at(t)
        for k, group in enumerate(by_surface.values()):
            marks = Marks([row[p.body] for p in group], [p.R_BS for p in group], [p.p_BS for p in group])
            at, q = marks.at(f)
            marks.handle = scene.add_batched_meshes_simple(
                f"/motion/ghost{k}", group[0].surface.vertices, group[0].surface.faces, q, at,
                batched_colors=linear(np.array(COLOR) / 255.0), opacity=OPACITY, lod="off", cast_shadow=False,
                flat_shading=not group[0].surface.smooth,
            )  # fmt: skip
            self.groups.append(marks)

    def show(self, t: float, _: Frame) -> None:
        """Put it where its bodies are at the time `t` [s]."""
        f = self.motion.at(t)
        for marks in self.groups:
            marks.show(f)

    def remove(self) -> None:
        """Take it away."""
        for marks in self.groups:
            marks.handle.remove()


def same(system: System, other: System) -> bool:
    """Whether both have the same bodies and joints, so that one may be laid over the other."""
    try:
        check_same(system, other)
    except InputError:
        return False
    return True


def check_same(system: System, ghost: System) -> None:
    """InputError, naming what differs, unless both have the same bodies, and joints of the same kinds between them."""
    faults = []
    for what, own, other in (
        ("bodies", list(system.bodies), list(ghost.bodies)),
        ("joints", list(system.joints), list(ghost.joints)),
    ):
        for of, names in (("the shown result", set(own) - set(other)), ("the ghost", set(other) - set(own))):
            if names:
                shown = sorted(names)
                more = f", … ({len(shown)} in all)" if len(shown) > _SHOWN else ""
                faults.append(f"only {of} has {what} {', '.join(shown[:_SHOWN])}{more}")
    for name in system.joints:
        if name in ghost.joints:
            own_is, other_is = _of(system, name), _of(ghost, name)
            if own_is != other_is:
                faults.append(f"joint {name!r} is {own_is} in the shown result, {other_is} in the ghost")
    if faults:
        raise InputError(
            f"the ghost {ghost.name!r} is of another mechanism than {system.name!r}: {'; '.join(faults[:_SHOWN])}; "
            "a ghost is a result of the same bodies and joints"
        )


def _of(system: System, joint: str) -> str:
    j = system.joints[joint]
    return f"{j.kind} from {j.parent.name!r} to {j.child.name!r}"


def apart(motion: Motion, ghost: Motion, t: float) -> tuple[np.ndarray, np.ndarray]:
    """How far each body of `motion` (nb,) is from where the ghost has it: distance [m], and angle [rad]."""
    rows = [ghost.body(name) for name in motion.bodies]
    f, g = motion.at(t), ghost.at(t)
    distance = np.linalg.norm(f.position[:-1].astype(float) - g.position[rows].astype(float), axis=1)
    a, b = f.quaternion[:-1].astype(float), g.quaternion[rows].astype(float)
    b = b * np.sign(np.sum(a * b, axis=1, keepdims=True) + 1e-300)
    # 2 acos |a·b| loses small angles: |a − b| = 2 sin φ/4
    return distance, 4.0 * np.arcsin(np.minimum(np.linalg.norm(a - b, axis=1) / 2.0, 1.0))


def differences(motion: Motion, ghost: Motion) -> Panel | None:
    """The distance of each body over the time that both have, of those that part most; None where they have no time in common."""
    low, high = max(motion.start, ghost.start), min(motion.end, ghost.end)
    if not high > low:
        return None
    times = motion.times[(motion.times >= low) & (motion.times <= high)]
    times = times[:: max(1, len(times) // MOST_SAMPLES)]
    if len(times) < 2:
        return None
    distance = np.array([apart(motion, ghost, float(t))[0] for t in times])
    most = np.argsort(-distance.max(axis=0), kind="stable")[:MOST]
    lines = [Line(motion.bodies[k], times, distance[:, k]) for k in sorted(most.tolist())]
    return Panel("difference from the ghost", "time [s]", "distance [m]", lines)


def text(motion: Motion, ghost: Motion, t: float, body: str, units: Units, words: Words) -> str:
    """What the page tells: the body that is farthest off, and the selected one, as an HTML table."""
    distance, angle = apart(motion, ghost, t)
    k = int(np.argmax(distance)) if len(distance) else 0
    chosen = [k] if body not in motion.bodies or motion.bodies[k] == body else [k, motion.body(body)]
    rows = []
    for i in chosen if len(distance) else []:
        name = html.escape(motion.bodies[i])
        far = f" ({words('farthest')})" if i == k else ""
        rows.append(f'<tr><th colspan="3" scope="rowgroup">{name}{far}</th></tr>')
        rows.append(table_row(words("distance"), distance[i : i + 1], "m", units))
        rows.append(table_row(words("angle"), angle[i : i + 1], "rad", units))
    title = html.escape(words("Difference from the ghost"))
    return f'<table class="nexdyn-card nexdyn-ghost"><caption>{title}</caption>{"".join(rows)}</table>'

"""A motion, a pose, or the members of a batch, as one HTML file: scene, player and plots on one page that opens without a server.

    recorded time τ = (t − t_0) / speed,  which the player on the page runs through; the plots' cursor is at t

viser's own page plays the scene, and a node of the scene that is not seen tells t. What the viewer's server does for its page, the
file's own script does (record.js), with numbers from the file (numbers.py). The plots are plotly's, whose program lies compressed in
the file. Of a batch each member lies in the file as a recording of its own; the page that is loaded anew shows another.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls, checked_call
from nexdyn.errors import InputError, SolveError
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.results.batch import BatchResult
from nexdyn.simulation.quiet import quiet
from nexdyn.view import server as page
from nexdyn.view.camera import up_of
from nexdyn.view.client import script, with_ours
from nexdyn.view.extras import need
from nexdyn.view.ghost import Ghost, check_same
from nexdyn.view.members import first_of, labels
from nexdyn.view.motion import Motion, motion_of
from nexdyn.view.numbers import MANY, Numbers, knowledge, sized
from nexdyn.view.posing import posing
from nexdyn.view.recorded_plots import recorded_plots
from nexdyn.view.section import NODE as SECTION
from nexdyn.view.sizes import sizes_of, system_at
from nexdyn.view.stage import CLOCK, LAYERS, SHOWN_AT_FIRST, Look, Stage
from nexdyn.view.words import Words

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.result import Result

SUFFIXES = (".html", ".htm")
FPS = 30.0
SHORTEST, LONGEST = 2.0, 120.0
"""Seconds [of the recording] between which a speed of 1 is kept."""
MOST_FRAMES = 6000
MOST_MEMBERS = 20
"""Members of a batch that are recorded where none are chosen."""


@checked_call
def record(
    result: Result | BatchResult | System,
    path: PathLike | None = None,
    *,
    speed: float | None = None,
    layers: frozenset[str] | set[str] = SHOWN_AT_FIRST,
    follow: str = "",
    opacity: float = 1.0,
    section: tuple[str, float] | None = None,
    ghost: Result | None = None,
    language: str = "en",
    members: Sequence[int] | None = None,
) -> Recording:
    """The motion of a result as one HTML page, written to `path` (.html) where that is given; of a batch its members, one of which is
    chosen from a list; of a system the pose in which a run would start. Where parameters change sizes on the way, each moment has its own.

    speed: times real time; None: 1, or what makes it last 2 s at least and 2 min at most.
    layers: what is seen at first, of "shapes", "grid", "shadows", "joint axes", "body frames", "reaction forces",
        "reaction moments", "contact forces", "contact pressure", "trails", "inertia", "centres of mass", "joint frames", "names",
        "collision shapes". follow: a body that stays in the middle.
    opacity: of the bodies, above 0 and at most 1. section: ("y", 0.1) takes away what of the bodies has y > 0.1 m, ("-y", 0.1) y < 0.1 m.
    ghost: another result of the same bodies and joints, laid over it, with their difference. language: of the labels, "en" or "zh".
    members: numbers of those members of a batch that are recorded, the first of them shown at first; None: the first 20 that have a motion.

    Raises InputError for bad input or where the extra `view` is not installed, FileError where it cannot be written.
    """
    target = None if path is None else file_path(path, SUFFIXES, "a recording")
    words = Words(language)
    taken = members_of(result, members, words) if isinstance(result, BatchResult) else None
    if members is not None and taken is None:
        raise InputError("members are of a batch; this result is of one system: leave members out")
    motion = motion_of(result) if taken is None else taken.motions[taken.first]
    unknown = set(layers) - set(LAYERS)
    if unknown:
        raise InputError(f"no layer {', '.join(sorted(unknown))}; layers: {', '.join(LAYERS)}")
    if speed is not None and not motion.moves:
        raise InputError("speed is of a motion; this is one pose: leave speed out")
    if follow and follow not in motion.bodies:
        motion.system.body(follow)  # raises the error that names the nearest
    over = None if ghost is None else motion_of(ghost)
    if over is not None:
        check_same(motion.system, over.system)
    setting = Setting(_speed(motion, speed), words, over, members=taken)
    look = Look(frozenset(layers), follow=follow, opacity=opacity, section=section)
    recording = Recording(page_of(motion, look, setting))
    if target is not None:
        recording.save(target)
    return recording


@dataclass(frozen=True)
class Members:
    """What is recorded of a batch: motions of members by number, a label of each, which is shown first, and how many are left out."""

    labels: list[str]
    motions: dict[int, Motion]
    first: int
    others: int


def _members(batch: BatchResult, motions: dict[int, Motion], first: int, words: Words) -> Members:
    return Members(labels(batch, words, motions), motions, first, batch.members - len(motions))


def members_of(batch: BatchResult, wanted: Sequence[int] | None, words: Words) -> Members:
    """The `wanted` members of a batch; None: the first ones that have a motion. SolveError, with the cause, where one has none."""
    if wanted is not None:
        numbers = [int(m) for m in wanted]
        if not numbers:
            raise InputError("members is empty; the numbers of one member or more are needed")
        motions = {m: motion_of(batch.member(m)) for m in numbers}
    else:
        motions = {}
        for m in range(batch.members):
            with contextlib.suppress(SolveError):  # it could not start
                motions[m] = motion_of(batch.member(m))
            if len(motions) == MOST_MEMBERS:
                break
        if not motions:
            first_of(batch)  # raises the cause
    return _members(batch, motions, next(iter(motions)), words)


def shown_among(batch: BatchResult, shown: Motion, number: int, words: Words) -> Members:
    """The members that are recorded where none are chosen: as many, with the one that is shown, which is shown first."""
    found = members_of(batch, None, words)
    others = {m: motion for m, motion in found.motions.items() if m != number}
    taken = dict(sorted([(number, shown), *list(others.items())[: MOST_MEMBERS - 1]]))
    return _members(batch, taken, number, words)


@dataclass(frozen=True)
class Setting:
    """How a motion is recorded and how its page is at first.

    speed: times real time. camera: eye and target (3,) [m], height of what is seen, as an angle [rad], and whether
    it is seen without perspective; None: all in sight.
    dark, si: whether the page is dark, and tells m and rad. progress: called with the time [s] that is recorded.
    members: of a batch, of which the motion is the first one.
    """

    speed: float = 1.0
    words: Words = field(default_factory=Words)
    ghost: Motion | None = None
    camera: tuple[np.ndarray, np.ndarray, float, bool] | None = None
    dark: bool = False
    si: bool = True
    progress: Callable[[float], None] | None = None
    members: Members | None = None


@dataclass(frozen=True)
class Recording(metaclass=CheckedCalls):
    """A page as text. In a notebook it shows itself."""

    text: str

    def __repr__(self) -> str:
        return f"Recording({len(self.text) / 2**20:.1f} MiB of HTML)"

    def save(self, path: PathLike) -> None:
        """Write it (.html), whole or not at all."""
        target = file_path(path, SUFFIXES, "a recording")
        with written(target) as temporary:
            Path(temporary).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        whole = html.escape(self.text, quote=True)
        return f'<iframe srcdoc="{whole}" width="100%" height="520" style="border:1px solid #ddd"></iframe>'


# --- inside ---------------------------------------------------------------------------------------------------------


def _speed(motion: Motion, given: float | None) -> float:
    span = motion.end - motion.start
    if given is not None:
        if not isinstance(given, int | float) or not 0.0 < given < math.inf:
            raise InputError(f"speed is {given!r}; a number greater than 0 is needed, 1 is real time")
        return float(given)
    if not span or SHORTEST <= span <= LONGEST:
        return 1.0
    nice = [m * 10.0**e for e in range(-9, 7) for m in (1.0, 2.0, 5.0)]
    if span < SHORTEST:
        return max((s for s in nice if span / s >= SHORTEST), default=nice[0])
    return min((s for s in nice if span / s <= LONGEST), default=nice[-1])


def page_of(motion: Motion, look: Look, setting: Setting) -> str:
    """The page, as text."""
    plotly = need("plotly.offline", "a recording")
    speed, words, name, members = setting.speed, setting.words, motion.system.name, setting.members
    if members is None:
        scene, kept = _part(motion, look, setting)
    else:
        scene, kept = _parts(members, look, setting)
    scene = scene.replace('<html lang="en">', f'<html lang="{words.language}">', 1)
    head, body, tail = with_ours(scene, name).partition('<div id="root"></div>')
    aside = _ASIDE.format(name=html.escape(name), said=html.escape(_said(motion, speed, words)))
    program = _kept("text/plain", "nexdyn-plotly", base64.b64encode(_compressed(plotly.get_plotlyjs())).decode())
    ours = "".join(f'<script type="module">{script(file)}</script>' for file in ("record.js", "page.js"))
    return f"{head}{body}{aside}{kept}{program}{ours}{tail}"


def _part(motion: Motion, look: Look, setting: Setting, number: int | None = None) -> tuple[str, str]:
    """viser's page with the scene of a motion, and what the file keeps of it for our script, under its `number` among members."""
    numbers = Numbers(motion, setting.ghost)
    with quiet():  # of a port that is in use
        server = page.start_server().server
    try:
        scene, known = _played(server, motion, look, setting, numbers)
    finally:
        page.stop_server(server)
    decimals = max(0, 3 - math.floor(math.log10(motion.end - motion.start))) if motion.moves else 0
    data = known | {
        "start": motion.start, "end": motion.end, "speed": setting.speed, "decimals": decimals, "clock": CLOCK, "name": motion.system.name,
        "step": (motion.end - motion.start) / max(1, _frames(motion, setting.speed)), "dark": setting.dark, "si": setting.si,
        "plots": recorded_plots(motion, setting.ghost, setting.words, numbers),
    }  # fmt: skip
    of = "" if number is None else f"-{number}"
    kept = _kept("application/json", f"nexdyn-data{of}", _json(data))
    return scene, kept + _kept("text/plain", f"nexdyn-numbers{of}", numbers.packed())


def _parts(members: Members, look: Look, setting: Setting) -> tuple[str, str]:
    """The same of several members: the page without a scene, and the scenes beside it, one of which a script gives to viser."""
    kept, without = [], ""
    for k, (number, motion) in enumerate(members.motions.items()):
        scene, part = _part(
            motion, look, replace(setting, progress=_share(setting.progress, members, motion, k)), number
        )
        before, _, rest = scene.partition(_SCENE)
        own, _, after = rest.partition('"')
        without = without or before + after.removeprefix(";")
        kept += [part, _kept("text/plain", f"nexdyn-scene-{number}", own)]
    told = {
        "members": list(zip(members.motions, members.labels, strict=True)),
        "others": members.others,
        "first": members.first,
    }
    kept.append(_kept("application/json", "nexdyn-members", _json(told)))
    return without, f"{''.join(kept)}<script>{script('members.js')}</script>"


def _share(
    progress: Callable[[float], None] | None, members: Members, motion: Motion, k: int
) -> Callable[[float], None] | None:
    """Of one member: the part of all of them, as a time of the first."""
    if progress is None:
        return None
    first, span = members.motions[members.first], max(motion.end - motion.start, 1e-300)
    whole = (first.end - first.start) / len(members.motions)
    return lambda t: progress(first.start + whole * (k + (t - motion.start) / span))


def _kept(kind: str, name: str, text: str) -> str:
    return f'<script type="{kind}" id="{name}">{text}</script>'


def _played(server: Any, motion: Motion, look: Look, setting: Setting, numbers: Numbers) -> tuple[str, dict[str, Any]]:
    """viser's page with the scene and all its moments, and what our script knows of them."""
    stages, since, groups = _stages(server, motion, look, setting)
    stage = stages[0]
    if setting.camera is not None:
        camera, (eye, target, field, parallel) = server.initial_camera, setting.camera
        camera.position, camera.look_at, camera.fov = tuple(eye.tolist()), tuple(target.tolist()), field
        for one in stages:
            one.lens(parallel)
    if len(motion.bodies) <= MANY:
        for one in stages:
            one.look = replace(one.look, layers=frozenset(LAYERS))  # all of it, seen or not
    known = knowledge(stage, numbers, setting.words, look.layers, stage.look.layers)
    if setting.camera is not None:  # where Reset brings the camera back to
        for views in known["views"].values():
            views[""] = [x.tolist() for x in setting.camera[:2]]
    known |= {"shared": setting.camera is not None, "drawn": [sized(one) for one in stages], "sizes": since}
    known["posing"] = None if motion.moves or setting.ghost is not None or len(motion.bodies) > MANY else posing(stage)
    seen = since[0][1]
    for k, group in enumerate(groups):
        group.visible = k == seen
    stages[seen].show(motion.start)
    length, count = (motion.end - motion.start) / setting.speed, _frames(motion, setting.speed)
    serializer = server.get_scene_serializer()
    for k in range(1, count + 1):
        serializer.insert_sleep(length / count)
        t = motion.start + (motion.end - motion.start) * k / count
        if setting.progress is not None:
            setting.progress(t)
        if (now := since[system_at(since, t)][1]) != seen:
            groups[seen].visible, groups[now].visible, seen = False, True, now
        stages[seen].show(t)
    return str(serializer.as_html(dark_mode=setting.dark)), known


class _Groups:
    """The scene of a recording with a group of nodes for each of the sizes that bodies have: `begin` begins another one.

    The player loses nodes that go and come again under their old name, so all are there from the start, and one group is seen."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        self._kept: dict[str, Any] = {}  # nodes of all groups
        self.frames: list[Any] = []

    def begin(self) -> None:
        """Put what is added from now on into a group of its own."""
        self.frames.append(self._scene.add_frame(f"/motion/sizes{len(self.frames)}", show_axes=False, visible=False))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._scene, name)
        if not name.startswith("add_"):
            return found

        def add(node: str, *given: Any, **named: Any) -> Any:
            if node.startswith("/motion/") and node != SECTION:
                return found(node.replace("/motion", self.frames[-1].name, 1), *given, **named)
            if node not in self._kept:
                self._kept[node] = found(node, *given, **named)
            return self._kept[node]

        return add


def _stages(
    server: Any, motion: Motion, look: Look, setting: Setting
) -> tuple[list[Stage], list[tuple[float, int]], list[Any]]:
    """A stage for each of the sizes that bodies have, from which time [s] on each is seen, and the nodes by which it is."""
    ghost = setting.ghost
    make: Any = None if ghost is None else lambda scene, _: Ghost(scene, ghost, motion.start)
    systems, since = sizes_of(motion, up_of(motion.system))
    groups = _Groups(server.scene)
    stages: list[Stage] = []
    for system in systems:
        if len(systems) > 1:
            groups.begin()
        scene = groups if len(systems) > 1 else None
        like = stages[0] if stages else None
        with quiet():  # of meshes that are missing it was said before
            stage = Stage(server, replace(motion, system=system), look, setting.dark, like=like, scene=scene)
        look = stage.look  # what travels is followed
        stage.carry("ghost", make)
        stages.append(stage)
    return stages, since, groups.frames


def _frames(motion: Motion, speed: float) -> int:
    """Moments after the first one."""
    return min(MOST_FRAMES, math.ceil((motion.end - motion.start) / speed * FPS)) if motion.moves else 0


@lru_cache(maxsize=1)
def _compressed(program: str) -> bytes:
    return gzip.compress(program.encode(), 6, mtime=0)


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _said(motion: Motion, speed: float, words: Words) -> str:
    if not motion.moves:
        return words("a pose")
    said = words("shown at {} × real time").format(f"{speed:g}") if speed != 1.0 else words("shown in real time")
    return said if motion.result is None else f"{said}, {motion.result.recording.method}"


_SCENE = 'window.__VISER_EMBED_DATA__="'
_ASIDE = """<aside id="nexdyn"><h1>{name}</h1><p>{said}</p></aside>"""

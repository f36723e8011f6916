"""A motion as one HTML file: scene, player and plots on one page that opens without a server and without a network.

    recorded time τ = (t − t_0) / speed,  which the player on the page runs through; the plots' cursor is at t

viser's own page plays the scene, and a node of the scene that is not seen tells t. What the viewer's server does for its page, the
file's own script does (record.js), with numbers from the file (numbers.py). The plots are plotly's, whose program lies compressed in
the file.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.simulation.quiet import quiet
from nexdyn.view import server as page
from nexdyn.view.client import script, with_ours
from nexdyn.view.extras import need
from nexdyn.view.ghost import Ghost, check_same
from nexdyn.view.motion import Motion, motion_of
from nexdyn.view.numbers import MANY, Numbers, knowledge
from nexdyn.view.recorded_plots import recorded_plots
from nexdyn.view.stage import CLOCK, FIELD, LAYERS, SHOWN_AT_FIRST, Look, Stage
from nexdyn.view.words import Words

if TYPE_CHECKING:
    from nexdyn.results.result import Result

SUFFIXES = (".html", ".htm")
FPS = 30.0
SHORTEST, LONGEST = 2.0, 120.0
"""Seconds [of the recording] between which a speed of 1 is kept."""
MOST_FRAMES = 6000


@checked_call
def record(
    result: Result,
    path: PathLike | None = None,
    *,
    speed: float | None = None,
    layers: frozenset[str] | set[str] = SHOWN_AT_FIRST,
    follow: str = "",
    opacity: float = 1.0,
    section: tuple[str, float] | None = None,
    ghost: Result | None = None,
    language: str = "en",
) -> Recording:
    """The motion of a result as one HTML page, written to `path` (.html) where that is given.

    speed: times real time; None: 1, or what makes it last 2 s at least and 2 min at most.
    layers: what is seen at first, of "shapes", "grid", "shadows", "joint axes", "body frames", "reaction forces",
        "reaction moments", "contact forces", "contact pressure", "trails", "inertia", "centres of mass", "joint frames", "names",
        "collision shapes". follow: a body that stays in the middle.
    opacity: of the bodies, above 0 and at most 1. section: ("y", 0.1) takes away what of the bodies has y > 0.1 m, ("-y", 0.1) y < 0.1 m.
    ghost: another result of the same bodies and joints, laid over it, with their difference. language: of the labels, "en" or "zh".

    Raises InputError for bad input or where the extra `view` is not installed, FileError where it cannot be written.
    """
    target = None if path is None else file_path(path, SUFFIXES, "a recording")
    motion = motion_of(result)
    unknown = set(layers) - set(LAYERS)
    if unknown:
        raise InputError(f"no layer {', '.join(sorted(unknown))}; layers: {', '.join(LAYERS)}")
    if follow and follow not in motion.bodies:
        motion.system.body(follow)  # raises the error that names the nearest
    over = None if ghost is None else motion_of(ghost)
    if over is not None:
        check_same(motion.system, over.system)
    setting = Setting(_speed(motion, speed), Words(language), over)
    look = Look(frozenset(layers), follow=follow, opacity=opacity, section=section)
    recording = Recording(page_of(motion, look, setting))
    if target is not None:
        recording.save(target)
    return recording


@dataclass(frozen=True)
class Setting:
    """How a motion is recorded and how its page is at first.

    speed: times real time. camera: eye and target (3,) [m] and height of what is seen, as an angle [rad]; None: all in sight.
    dark, si: whether the page is dark, and tells m and rad. progress: called with the time [s] that is recorded.
    """

    speed: float = 1.0
    words: Words = field(default_factory=Words)
    ghost: Motion | None = None
    camera: tuple[np.ndarray, np.ndarray, float] | None = None
    dark: bool = False
    si: bool = True
    progress: Callable[[float], None] | None = None


@dataclass(frozen=True)
class Recording:
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
    speed, words = setting.speed, setting.words
    numbers = Numbers(motion, setting.ghost)
    with quiet():  # of a port that is in use
        server = page.start_server().server
    try:
        scene, known = _played(server, motion, look, setting, numbers)
    finally:
        page.stop_server(server)
    decimals = max(0, 3 - math.floor(math.log10(motion.end - motion.start))) if motion.moves else 0
    data = known | {
        "start": motion.start, "end": motion.end, "speed": speed, "decimals": decimals, "clock": CLOCK, "name": motion.system.name,
        "step": (motion.end - motion.start) / max(1, _frames(motion, speed)), "dark": setting.dark, "si": setting.si,
        "plots": recorded_plots(motion, setting.ghost, words, numbers),
    }  # fmt: skip
    name = motion.system.name
    scene = scene.replace('<html lang="en">', f'<html lang="{words.language}">', 1)
    head, body, tail = with_ours(scene, name).partition('<div id="root"></div>')
    said = words("shown at {} × real time").format(f"{speed:g}") if speed != 1.0 else words("shown in real time")
    aside = _ASIDE.format(name=html.escape(name), said=html.escape(said), method=html.escape(_method(motion)))
    parts = (
        ("application/json", "nexdyn-data", _json(data)),
        ("text/plain", "nexdyn-numbers", numbers.packed()),
        ("text/plain", "nexdyn-plotly", base64.b64encode(_compressed(plotly.get_plotlyjs())).decode()),
    )
    kept = "".join(f'<script type="{kind}" id="{of}">{text}</script>' for kind, of, text in parts)
    ours = "".join(f'<script type="module">{script(file)}</script>' for file in ("record.js", "page.js"))
    return f"{head}{body}{aside}{kept}{ours}{tail}"


def _played(server: Any, motion: Motion, look: Look, setting: Setting, numbers: Numbers) -> tuple[str, dict[str, Any]]:
    """viser's page with the scene and all its moments, and what our script knows of them."""
    stage, ghost = Stage(server, motion, look, setting.dark), setting.ghost
    if ghost is not None:
        stage.carry("ghost", lambda scene, _: Ghost(scene, ghost, motion.start))
    if setting.camera is not None:
        camera, (eye, target, field) = server.initial_camera, setting.camera
        camera.position, camera.look_at, camera.fov = tuple(eye.tolist()), tuple(target.tolist()), field
        if field < FIELD:
            camera.near = 0.5 * stage.size  # as cameras.py has it
    if len(motion.bodies) <= MANY:
        stage.look = replace(stage.look, layers=frozenset(LAYERS))  # all of it, seen or not
    known = knowledge(stage, numbers, setting.words, look.layers, stage.look.layers)
    if setting.camera is not None:  # where Reset brings the camera back to: as far away as the usual lens needs
        eye, target, field = setting.camera
        known["views"][""] = [
            (target + math.tan(field / 2) / math.tan(FIELD / 2) * (eye - target)).tolist(),
            target.tolist(),
        ]
    known["shared"] = setting.camera is not None
    length, count = (motion.end - motion.start) / setting.speed, _frames(motion, setting.speed)
    serializer = server.get_scene_serializer()
    for k in range(1, count + 1):
        serializer.insert_sleep(length / count)
        t = motion.start + (motion.end - motion.start) * k / count
        if setting.progress is not None:
            setting.progress(t)
        stage.show(t)
    return str(serializer.as_html(dark_mode=setting.dark)), known


def _frames(motion: Motion, speed: float) -> int:
    """Moments after the first one."""
    return min(MOST_FRAMES, math.ceil((motion.end - motion.start) / speed * FPS)) if motion.moves else 0


@lru_cache(maxsize=1)
def _compressed(program: str) -> bytes:
    return gzip.compress(program.encode(), 6, mtime=0)


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _method(motion: Motion) -> str:
    return motion.result.recording.method if motion.result is not None else ""


_ASIDE = """<aside id="nexdyn"><h1>{name}</h1><p>{said}, {method}</p></aside>"""

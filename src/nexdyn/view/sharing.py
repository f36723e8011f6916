"""The folder "Share" of the page: what is shown as one HTML file, a film (MP4, GIF) or a picture (PNG), for the browser that asks.

The files are those of `nx.record`, `nx.save_video` and `nx.save_still`, with the camera of that browser and what the page shows of the
bodies. Each is made on a thread of its own, one at a time; its browser alone is told how far it is and gets it. A browser that has gone,
or a viewer that ends, ends the making.
"""

from __future__ import annotations

import tempfile
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import InputError, NexDynError
from nexdyn.view.cameras import told
from nexdyn.view.motion import Motion
from nexdyn.view.stage import LONG, Look
from nexdyn.view.units import SI

if TYPE_CHECKING:
    from nexdyn.results.batch import BatchResult
    from nexdyn.view.desk import Desk
    from nexdyn.view.shot import Shot

KINDS = {"HTML": ".html", "MP4": ".mp4", "GIF": ".gif", "Picture": ".png"}
FILM = 540 * 960
"""Pixels of a film, about."""
LEAST, MOST = 64, 3840
"""Pixels of an edge."""
TELL = 0.3
"""Seconds between what is told of a file that is being made."""
NOTHING_MOVES = "nothing moves here, so there is no film: save HTML or a picture, or wait until the run has ended"


class _LeftError(Exception):
    """Nobody waits for the file any longer."""


@dataclass(frozen=True)
class _Moment:
    """What is shown as somebody asks for a file: a copy, for the page goes on."""

    motion: Motion
    ghost: Motion | None
    look: Look
    t: float
    speed: float
    eye: np.ndarray
    target: np.ndarray
    field: float
    parallel: bool
    size: tuple[int, int]
    dark: bool
    si: bool
    member: tuple[BatchResult, int] | None
    selected: str
    points: tuple[tuple[str, tuple[float, float, float]], ...]


class Sharing:
    """The folder, and what is made for it."""

    def __init__(self, desk: Desk, gui: Any) -> None:
        self._desk, self._words = desk, desk.words
        self._turn, self._lock = threading.Lock(), threading.Lock()
        self.making: set[int] = set()  # the browsers that wait for a file
        w = self._words
        kinds = {w(kind): kind for kind in KINDS}
        with gui.add_folder(w("Share")):
            hint = w("a page that plays without a server, a film or a picture, as this browser sees it")
            buttons = gui.add_button_group(w("save as"), tuple(kinds), hint=hint)

        @buttons.on_click
        def _(event: Any) -> None:
            if event.client is not None:
                given = (event.client, kinds[buttons.value])
                threading.Thread(target=self.make, args=given, name="nexdyn sharing", daemon=True).start()

    def make(self, client: Any, kind: str) -> None:
        """Make a file of this kind (one of KINDS) and send it to a browser; what fails is said there."""
        w, of = self._words, client.client_id
        name = self._desk.system.name.replace(" ", "-").replace("/", "-") + KINDS[kind]
        with self._lock:
            waits = of in self.making
            self.making.add(of)
        if waits:
            self._say(client, name, w("another file is being made for this page"))
            return
        try:
            with told(client):
                note = client.add_notification(name, w("is being made"), loading=True, with_close_button=False)
            try:
                moment = self._moment(client)
                with self._turn:
                    if not self.waited_for(client):
                        raise _LeftError
                    content = self._content(kind, moment, _Progress(self, client, note, moment, kind))
                with told(client):
                    client.send_file_download(name, content, save_immediately=True)
            finally:
                with told(client):
                    note.remove()
        except _LeftError:
            pass
        except NexDynError as error:
            self._say(client, name, w.error(error))
        except Exception as error:  # whatever it is, the viewer goes on
            traceback.print_exc()
            self._say(client, name, w.error(f"{type(error).__name__}: {error}"))
        finally:
            with self._lock:
                self.making.discard(of)

    def waited_for(self, client: Any) -> bool:
        """Whether there is still a browser for the file."""
        return not self._desk.viewer.ended and client.client_id in self._desk.server.get_clients()

    def _say(self, client: Any, name: str, text: str) -> None:
        if self.waited_for(client):
            with told(client):
                client.add_notification(name, text, color="red", auto_close_seconds=None)

    def _moment(self, client: Any) -> _Moment:
        desk, camera = self._desk, client.camera
        with desk.lock:
            motion, f, t = desk.motion, desk.frame, desk.t
            batch, shown = desk.batch, desk.member if f is None else None
            if f is not None:  # a pose, or a run that goes on
                motion, t = (
                    Motion(
                        motion.system,
                        np.array([t]),
                        motion.bodies,
                        f.position[None, :-1],
                        f.quaternion[None, :-1],
                        joints=motion.joints,
                        wrench=None if f.wrench is None else f.wrench[None],
                        contact=None if f.contact is None else f.contact[None],
                        press=None if f.press is None else f.press[None],
                    ),
                    t,
                )
            drift = (
                desk.stage.drift if motion.moves else desk.stage.shift
            )  # a click lets bodies stay where they are seen
            return _Moment(
                motion, desk.ghost, desk.look, t, desk.time.speed, np.array(camera.position, dtype=float) - drift,
                np.array(camera.look_at, dtype=float) - drift, float(camera.fov), desk.cameras.parallel,
                (int(camera.image_width), int(camera.image_height)),
                desk.dark, desk.units == SI, None if batch is None or shown is None else (batch, shown),
                desk.inquiry.key, desk.inquiry.points,
            )  # fmt: skip

    def _content(self, kind: str, moment: _Moment, progress: _Progress) -> bytes:
        if kind in ("MP4", "GIF") and not moment.motion.moves:
            raise InputError(NOTHING_MOVES)
        if kind == "HTML":
            from nexdyn.view.recording import Setting, page_of, shown_among

            m = moment
            members = None if m.member is None else shown_among(m.member[0], m.motion, m.member[1], self._words)
            setting = Setting(
                m.speed, self._words, m.ghost, (m.eye, m.target, m.field, m.parallel), m.dark, m.si, progress, members
            )
            return page_of(m.motion, m.look, setting).encode()
        from nexdyn.view.stills import save_still, save_video

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"out{KINDS[kind]}"
            if kind == "Picture":
                save_still(moment.motion, path, moment.t, shot_of(moment, film=False), moment.ghost)
            else:
                shot = shot_of(moment, film=True)
                save_video(moment.motion, path, speed=moment.speed, shot=shot, progress=progress, ghost=moment.ghost)
            return path.read_bytes()


class _Progress:
    """Tells a browser how far its file is; _LeftError where it has left."""

    def __init__(self, sharing: Sharing, client: Any, note: Any, moment: _Moment, kind: str) -> None:
        self._sharing, self._client, self._note, self._moment = sharing, client, note, moment
        self._said = time.monotonic()

    def __call__(self, t: float) -> None:
        if not self._sharing.waited_for(self._client):
            raise _LeftError
        now = time.monotonic()
        if now - self._said > TELL:
            self._said, m = now, self._moment.motion
            share = 100.0 * (t - m.start) / max(m.end - m.start, 1e-30)
            with told(self._client):
                self._note.body = f"{self._sharing._words('is being made')}: {share:.0f} %"


def shot_of(moment: _Moment, film: bool) -> Shot:
    """How the page's view is drawn: by its camera, with what pictures have of its layers."""
    from nexdyn.view.shot import PICTURED, VIDEO_SAMPLES, Shot

    look, layers = moment.look, moment.look.layers
    field = LONG if moment.parallel else moment.field  # of a long lens the eye is far away
    eye = moment.target + np.tan(moment.field / 2) / np.tan(field / 2) * (moment.eye - moment.target)
    width, height = (max(1, n) for n in moment.size)
    scale = np.sqrt(FILM / (width * height)) if film else 1.0
    scale *= min(1.0, MOST / (scale * max(width, height)))
    size = tuple(max(LEAST, 2 * round(scale * n / 2)) for n in (width, height))
    seen: dict[str, Any] = {"samples": VIDEO_SAMPLES} if film else {}
    return Shot(
        (size[0], size[1]), follow=look.follow or None, trails=look.trail if "trails" in layers else 0.0, opacity=look.opacity,
        section=look.section, eye=tuple(eye.tolist()), target=tuple(moment.target.tolist()), field=field,
        arrows=look.arrows, dark=moment.dark, selected=moment.selected, points=moment.points,
        **{flag: layer in layers for layer, flag in PICTURED.items()}, **seen,
    )  # fmt: skip

"""Where the browsers look from: each has its own camera; all draw with perspective, or all without (scene.js).

Without it a browser's camera stands where it stood, and what is at its target is as large as before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.simulation.quiet import quiet

if TYPE_CHECKING:
    from nexdyn.view.desk import Desk


class Cameras:
    """The cameras of a viewer's browsers; `new` are those that have come and whose page is being built."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self.parallel = desk, False
        self.new: list[Any] = []
        self._aimed: dict[int, tuple[float, np.ndarray]] = {}  # for how narrow a canvas each looks from where

    def lens(self, parallel: bool) -> None:
        """With perspective, or without."""
        self.parallel = parallel
        self._desk.stage.lens(parallel)

    def aim(self, client: Any, side: str = "") -> None:
        """All of the motion in sight of a browser, whose canvas may be narrow."""
        aspect = client.camera.aspect
        stage = self._desk.stage
        seen = stage.camera(max(0.2, aspect), side)
        eye = seen.eye + stage.drift
        self._aimed[client.client_id] = (min(1.0, aspect), eye) if not side else (1.0, np.full(3, np.inf))
        with told(client):
            client.camera.position = eye
            client.camera.look_at, client.camera.up_direction = seen.target + stage.drift, seen.up

    def aim_new(self) -> None:
        """Step back in browsers that have come, where their canvas is narrow, and go where a click has left the scene, or see all of other
        sizes, where the camera has not been moved."""
        stage = self._desk.stage
        for client in self.new:
            with contextlib.suppress(Exception):  # it may be gone again
                away = np.linalg.norm(np.array(client.camera.position) - stage.eye)
                if (client.camera.aspect < 1.0 or stage.outgrown or stage.drift.any()) and away < 1e-2 * stage.size:
                    self.aim(client)
        self.new.clear()

    def reframe(self, client: Any) -> None:
        """Aim again where the canvas has become narrower or wider, as panels open and close, and the camera is where it was put."""
        aspect, eye = self._aimed.get(client.client_id, (1.0, self._desk.stage.eye))
        with contextlib.suppress(Exception):  # it may be gone again
            away = np.linalg.norm(np.array(client.camera.position) - eye)
            if abs(min(1.0, client.camera.aspect) - aspect) > 0.05 and away < 1e-2 * self._desk.stage.size:
                self.aim(client)


@contextlib.contextmanager
def told(client: Any) -> Iterator[None]:
    """What is said to one browser at once; to one that has just gone nothing is said, and no warning given."""
    with quiet(UserWarning), client.atomic():  # viser's: what is queued on a closed connection
        yield

"""Where the browsers look from: each has its own camera, all have one lens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.simulation.quiet import quiet
from nexdyn.view.stage import FIELD, LONG

if TYPE_CHECKING:
    from nexdyn.view.viewer import Viewer


class Cameras:
    """The cameras of a viewer's browsers; `new` are those that have come and whose page is being built."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer, self.field = viewer, FIELD
        self.new: list[Any] = []
        self._aimed: dict[int, tuple[float, np.ndarray]] = {}  # for how narrow a canvas each looks from where

    def lens(self, parallel: bool) -> None:
        """Another lens, from so far away that what is looked at is as large as before."""
        before, self.field = self.field, LONG if parallel else FIELD
        farther = np.tan(before / 2) / np.tan(self.field / 2)
        for client in self._viewer.server.get_clients().values():
            target = np.array(client.camera.look_at)
            eye = target + farther * (np.array(client.camera.position) - target)
            with told(client):
                self._set_lens(client)
                client.camera.position, client.camera.look_at = eye, target

    def aim(self, client: Any, side: str = "") -> None:
        """All of the motion in sight of a browser, whose canvas may be narrow."""
        aspect = client.camera.aspect
        seen = self._viewer._stage.camera(max(0.2, aspect), side, self.field)
        self._aimed[client.client_id] = (min(1.0, aspect), seen.eye) if not side else (1.0, np.full(3, np.inf))
        with told(client):
            self._set_lens(client)
            client.camera.position = seen.eye
            client.camera.look_at, client.camera.up_direction = seen.target, seen.up

    def aim_new(self) -> None:
        """Step back in browsers that have come, where their canvas is narrow and the camera has not been moved."""
        stage = self._viewer._stage
        for client in self.new:
            with contextlib.suppress(Exception):  # it may be gone again
                away = np.linalg.norm(np.array(client.camera.position) - stage.eye)
                if self.field != FIELD or (client.camera.aspect < 1.0 and away < 1e-2 * stage.size):
                    self.aim(client)
        self.new.clear()

    def reframe(self, client: Any) -> None:
        """Aim again where the canvas has become narrower or wider, as panels open and close, and the camera is where it was put."""
        aspect, eye = self._aimed.get(client.client_id, (1.0, self._viewer._stage.eye))
        with contextlib.suppress(Exception):  # it may be gone again
            away = np.linalg.norm(np.array(client.camera.position) - eye)
            if abs(min(1.0, client.camera.aspect) - aspect) > 0.05 and away < 1e-2 * self._viewer._stage.size:
                self.aim(client)

    def _set_lens(self, client: Any) -> None:
        client.camera.fov = self.field
        client.camera.near = (1e-3 if self.field == FIELD else 0.5) * self._viewer._stage.size


@contextlib.contextmanager
def told(client: Any) -> Iterator[None]:
    """What is said to one browser at once; to one that has just gone nothing is said, and no warning given."""
    with quiet(UserWarning), client.atomic():  # viser's: what is queued on a closed connection
        yield

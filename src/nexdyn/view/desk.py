"""What the parts of a viewer's page share: what is shown and how, and the parts themselves.

The viewer makes it, and hands it to each part. Whoever changes what is on it, or reads more than one thing of it, holds `lock`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nexdyn.view.stage import Look
from nexdyn.view.units import SI, Units

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.batch import BatchResult
    from nexdyn.simulation.session import Session
    from nexdyn.view.camera import Camera
    from nexdyn.view.cameras import Cameras
    from nexdyn.view.controls import Controls
    from nexdyn.view.inquiry import Inquiry
    from nexdyn.view.motion import Frame, Motion
    from nexdyn.view.pace import Calm, Pace
    from nexdyn.view.playback import Playback
    from nexdyn.view.stage import Stage
    from nexdyn.view.touch import Touch
    from nexdyn.view.viewer import Viewer
    from nexdyn.view.words import Words


class Desk:
    """Of one viewer."""

    server: Any
    """viser's."""
    # what is shown
    motion: Motion
    frame: Frame | None = None
    """The shown moment, where it is not `motion` at `time`: a pose by sliders, or the last of a run that goes on."""
    time: Playback
    session: Session | None = None
    batch: BatchResult | None = None
    member: int | None = None
    """Which member of the batch is shown; None: what is shown is none."""
    ghost: Motion | None = None
    # how
    look: Look = Look()
    first_look: Look = Look()
    home: Camera | None = None
    words: Words
    units: Units = SI
    dark = False
    # the parts
    stage: Stage
    cameras: Cameras
    controls: Controls
    inquiry: Inquiry
    touch: Touch | None = None
    """What lets a system run on the page, while one does."""
    pace: Pace
    calm: Calm
    writes_state: Callable[[Session], None] | None = None
    """Writes the state of what runs into the file of the model, where there is one."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.lock = threading.RLock()

    @property
    def system(self) -> System:
        """The system that is shown."""
        return self.motion.system

    @property
    def t(self) -> float:
        """The shown time [s]."""
        return self.time.t

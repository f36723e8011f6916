"""How a picture is taken: from where, how large, and what of a mechanism is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError
from nexdyn.view.camera import FIELD
from nexdyn.view.section import opacity_of, section_of

SIZE, VIDEO_SIZE = (1280, 720), (960, 540)
LARGEST = 8192
"""Pixels of an edge."""
PICTURED = {
    "shapes": "shapes", "grid": "grid", "shadows": "shadows", "joint axes": "axes", "body frames": "frames", "names": "names",
    "reaction forces": "reactions", "reaction moments": "moments", "contact forces": "contacts", "contact pressure": "pressure",
    "inertia": "inertia", "centres of mass": "centers", "joint frames": "joint_frames", "collision shapes": "collision",
}  # fmt: skip
"""What of a `Shot` says whether a layer of the page is in the picture; trails have a length."""
STILL_SAMPLES, VIDEO_SAMPLES = 3, 2
"""Samples across a pixel, whose mean it is."""


@dataclass(frozen=True)
class Shot(metaclass=CheckedCalls):
    """How pictures are taken.

    size: pixels. azimuth, elevation: of the camera [deg], see `camera.look`. follow: a body that the camera goes along
    with; without one it stands ("ground"), or goes along with all that travels far.
    trails: seconds of the paths behind the ends of the mechanism; 0 for none. clock: whether the time is shown.
    contacts: whether arrows show the forces of contacts. pressure: whether contacts over areas are discs in the colour of their
    pressure, with its scale. collision: whether the collision shapes are drawn too.
    opacity: of the bodies, above 0 and at most 1. section: ("y", 0.1) takes away what of the bodies has y > 0.1 m, ("-y", 0.1) y < 0.1 m.
    eye, target: where the camera stands and what it looks at (3,) [m], instead of azimuth and elevation; field: height of what it sees, as
    an angle [rad].
    reactions, moments: whether arrows show the forces and the moments that joints transmit; axes: whether arrows show the axes of joints;
    arrows: how many times as long as usual those of forces and moments are. dark: a dark background, behind dark bodies a grey one.
    frames, joint_frames: whether the axes of bodies and of joints are shown; names: those of joints and bodies, the first hundred;
    inertia, centers: whether the ellipsoids of inertia and the centres of mass are. shapes, grid, shadows: whether the bodies, the lines of
    the floor and shadows are. selected: a body that has an outline, or a joint that has axes, by its name, "body:NAME" or "joint:NAME".
    points: up to three points, each a body and its x, y, z [m] in it, that are marked and joined as A, B, C.
    """

    size: tuple[int, int] = SIZE
    azimuth: float | None = None
    elevation: float = 18.0
    follow: str | None = None
    trails: float = 0.0
    clock: bool = True
    contacts: bool = True
    samples: int = STILL_SAMPLES
    pressure: bool = True
    collision: bool = False
    opacity: float = 1.0
    section: tuple[str, float] | None = None
    eye: tuple[float, float, float] | None = None
    target: tuple[float, float, float] | None = None
    field: float = FIELD
    reactions: bool = False
    moments: bool = False
    axes: bool = False
    arrows: float = 1.0
    dark: bool = False
    frames: bool = False
    joint_frames: bool = False
    names: bool = False
    inertia: bool = False
    centers: bool = False
    shapes: bool = True
    grid: bool = True
    shadows: bool = True
    selected: str = ""
    points: tuple[tuple[str, tuple[float, float, float]], ...] = ()

    def __post_init__(self) -> None:
        opacity_of(self.opacity)
        section_of(self.section)
        _check_camera(self.eye, self.target, self.field)
        if not (np.isfinite(self.arrows) and self.arrows > 0.0):
            raise InputError(f"arrows is {self.arrows!r}; a factor of their length above 0 is needed")
        size = self.size
        if len(size) != 2 or not all(isinstance(n, int | np.integer) and 16 <= n <= LARGEST for n in size):
            raise InputError(
                f"size is {size}; width and height in pixels, 16 to {LARGEST}, are needed, like (1280, 720)"
            )
        if not -89.0 <= self.elevation <= 89.0:
            raise InputError(
                f"elevation is {self.elevation:g}; an angle above the horizon, -89 to 89 degrees, is needed"
            )


def _check_camera(eye: Any, target: Any, field: float) -> None:
    """InputError unless a camera stands and looks somewhere, or nothing is said of it."""
    if (eye is None) != (target is None):
        raise InputError(
            "eye and target are given together, or neither: azimuth and elevation say from where one looks then"
        )
    for name, point in (("eye", eye), ("target", target)):
        if point is not None and (np.shape(point) != (3,) or not np.isfinite(np.asarray(point, dtype=float)).all()):
            raise InputError(f"{name} is {point!r}; a point (x, y, z) [m] is needed")
    if eye is not None and not np.linalg.norm(np.subtract(eye, target)) > 0.0:
        raise InputError(f"eye and target are both {tuple(eye)!r}; the camera looks from one point at another")
    if not 0.0 < field < np.pi:
        raise InputError(f"field is {field!r}; an angle above 0 and below π rad is needed")

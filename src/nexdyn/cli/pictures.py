"""Stills and video that `nexdyn view` writes instead of showing anything."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.cli.files import check_writable
from nexdyn.cli.looks import LOOKS_PLAINLY, Looks
from nexdyn.cli.options import option
from nexdyn.cli.progress import progress_bar
from nexdyn.cli.units import seconds
from nexdyn.errors import InputError

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.results.result import Result

PICTURES = Group("Pictures instead of a page, drawn without a display", sort_key=6)
Number = float | None
TRAILS = 2.0
"""Seconds of the trails that are asked for."""


@Parameter(name="*")
@dataclass(frozen=True)
class Pictures:
    """Which pictures are written, and how they are taken; what is None is the default of `nx.Shot`, `nx.save_video`."""

    png: Annotated[Path | None, option("Write a still.", PICTURES)] = None
    gif: Annotated[Path | None, option("Write a video as GIF.", PICTURES)] = None
    mp4: Annotated[Path | None, option("Write a video as MP4; needs nexdyn[video].", PICTURES)] = None
    time: Annotated[Number, option("Moment of the still [s]; default: the end.", PICTURES, converter=seconds)] = None
    size: Annotated[str | None, option("Pixels; default 1280x720 of a still, 960x540 of a video.", PICTURES)] = None
    azimuth: Annotated[Number, option("Camera azimuth about the vertical axis, from +x [deg].", PICTURES)] = None
    elevation: Annotated[Number, option("Camera elevation above the horizon [deg]; default 18.", PICTURES)] = None
    fps: Annotated[Number, option("Pictures per second; default 20 of a GIF, 30 of an MP4.", PICTURES)] = None

    @property
    def wanted(self) -> list[tuple[str, Path]]:
        """Option and file of all that is to be written."""
        files = (("--png", self.png), ("--gif", self.gif), ("--mp4", self.mp4))
        return [(name, path) for name, path in files if path is not None]

    def check(self, source: Path, still: bool) -> None:
        """InputError, before anything is simulated, for options that exclude each other and files that cannot be written."""
        for name, path in self.wanted:
            check_writable(name, path, (f".{name[2:]}",), {"the model": source})
        if still and (self.gif is not None or self.mp4 is not None):
            raise InputError("--still has no motion to film; leave --still out, or write a --png")
        if self.time is not None and (self.png is None or still):
            raise InputError("--time is the moment of a still of a motion; add --png out.png, without --still")
        if self.fps is not None and self.gif is None and self.mp4 is None:
            raise InputError("--fps is of a video; add --gif out.gif or --mp4 out.mp4")
        for name in ("size", "azimuth", "elevation"):
            if getattr(self, name) is not None and not self.wanted:
                raise InputError(f"--{name} is of pictures; add --png out.png or --gif out.gif")
        if self.size is not None:
            _size(self.size)


PICTURES_PLAINLY = Pictures()


def write_pictures(
    of: Result | System, pictures: Pictures, *, speed: float = 1.0, looks: Looks = LOOKS_PLAINLY
) -> list[str]:
    """Write all that is wanted; the names of the files. `speed`, `looks`: see `nx.save_video`, `nx.Shot`."""
    from nexdyn.view.shot import PICTURED, SIZE, VIDEO_SAMPLES, VIDEO_SIZE, Shot
    from nexdyn.view.stills import save_still, save_video

    size = None if pictures.size is None else _size(pictures.size)
    elevation = 18.0 if pictures.elevation is None else pictures.elevation
    seen: dict[str, Any] = looks.of_pictures | {"follow": looks.follow or None}
    seen |= {PICTURED[layer]: True for layer in looks.show if layer in PICTURED}
    trails = TRAILS if "trails" in looks.show else 0.0
    if pictures.png is not None:
        shot = Shot(size or SIZE, azimuth=pictures.azimuth, elevation=elevation, trails=trails, **seen)
        save_still(of, pictures.png, pictures.time, shot)
    for video in (pictures.gif, pictures.mp4):
        if video is not None:
            shot = Shot(
                size or VIDEO_SIZE, azimuth=pictures.azimuth, elevation=elevation, trails=trails or 1.0,
                samples=VIDEO_SAMPLES, **seen,
            )  # fmt: skip
            t = of.recording.t  # type: ignore[union-attr]
            with progress_bar(video.name, show=True) as bar:
                progress = functools.partial(bar.at, t_start=float(t[0]), t_end=float(t[-1]))
                save_video(of, video, speed=speed, fps=pictures.fps, shot=shot, progress=progress)  # type: ignore[arg-type]
    return [str(path) for _, path in pictures.wanted]


def _size(text: str) -> tuple[int, int]:
    """1280x720 → (1280, 720)."""
    width, _, height = text.lower().replace("×", "x").partition("x")
    if not (width.strip().isdigit() and height.strip().isdigit()):
        raise InputError(f"--size is {text!r}; width and height in pixels are needed, like 1280x720")
    return int(width), int(height)

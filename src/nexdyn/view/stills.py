"""Stills (PNG) and video (GIF, MP4) of a motion, as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError
from nexdyn.model.system import System
from nexdyn.results.atomic import PathLike, file_path, written
from nexdyn.view import raster
from nexdyn.view.extras import need
from nexdyn.view.ghost import check_same
from nexdyn.view.motion import Motion, motion_of
from nexdyn.view.shot import VIDEO_SAMPLES, VIDEO_SIZE, Shot
from nexdyn.view.studio import Studio

if TYPE_CHECKING:
    from nexdyn.results.result import Result

MOST_FRAMES = 20_000
GREYS = {"light": (170, 255), "grey": (40, 125), "dark": (35, 120)}
"""Greys of each background that a GIF has colours for, of 255."""
BACKDROP = 44
"""Of the 256 colours of a GIF those for the background."""
DITHER = 6.0
"""Height of the pattern that is added to the colours of a GIF, of 255."""

Progress = Callable[[float], None]


def picture(
    of: Result | System | Motion,
    time: float | None = None,
    shot: Shot | None = None,
    ghost: Result | Motion | None = None,
) -> np.ndarray:
    """A result at `time` [s] (its end by default), or a system as described: bytes of sRGB (height, width, 3).

    ghost: see `save_still`."""
    motion = _motion(of)
    t = motion.end if time is None else _within(motion, time)
    return Studio(motion, shot or Shot(), t, _over(motion, ghost)).picture(t)


@checked_call
def save_still(
    of: Result | System | Motion, path: PathLike, time: float | None = None, shot: Shot | None = None,
    ghost: Result | Motion | None = None,
) -> None:  # fmt: skip
    """Write a PNG, whole or not at all; `time` [s] is the end by default. ghost: another result of the same bodies, laid over it.

    Raises InputError where a ghost is of others."""
    target = file_path(path, (".png",), "a still")
    need("PIL", "a still")
    from PIL import Image

    image = Image.fromarray(picture(of, time, shot, ghost))
    with written(target) as temporary:
        image.save(temporary, format="PNG")


@checked_call
def save_video(
    of: Result | Motion,
    path: PathLike,
    *,
    start: float | None = None,
    end: float | None = None,
    speed: float = 1.0,
    fps: float | None = None,
    shot: Shot | None = None,
    progress: Progress | None = None,
    ghost: Result | Motion | None = None,
) -> None:
    """Write a GIF or an MP4, whole or not at all.

    start, end: times [s] of the motion that are shown, all by default. speed: seconds of motion a second of video.
    fps: pictures a second; 20 of a GIF (whose pictures last whole hundredths of a second), 30 of an MP4. progress: called
    with the time [s] that is drawn. ghost: another result of the same bodies and joints, laid over it. MP4 needs nexdyn[video].
    """
    target = file_path(path, (".gif", ".mp4"), "a video")
    gif = target.suffix.lower() == ".gif"
    need("PIL", "a video")
    if not gif:
        need("imageio_ffmpeg", "an MP4 (a GIF does without)", "video")
    motion = _motion(of)
    shot = shot or Shot(size=VIDEO_SIZE, samples=VIDEO_SAMPLES, trails=1.0)
    rate, times = _times(motion, start, end, speed, fps, gif)
    studio = Studio(motion, shot, ghost=_over(motion, ghost))

    def frames() -> Iterator[np.ndarray]:
        for t in times:
            if progress is not None:
                progress(t)
            yield studio.picture(t)

    with written(target) as temporary:
        (_write_gif if gif else _write_mp4)(temporary, frames(), rate, studio, times)


def _motion(of: Result | System | Motion) -> Motion:
    """What is drawn as a motion; a system as described. InputError for something else."""
    return Motion.still(of) if isinstance(of, System) else motion_of(of)


def _over(motion: Motion, ghost: Result | Motion | None) -> Motion | None:
    """What is laid over a motion."""
    if ghost is None:
        return None
    found = _motion(ghost)
    check_same(motion.system, found.system)
    return found


def _within(motion: Motion, t: float) -> float:
    """A time of the motion; InputError beyond it."""
    if not motion.start - 1e-9 <= t <= motion.end + 1e-9:
        raise InputError(f"time is {t:g} s; the motion is from {motion.start:g} to {motion.end:g} s")
    return float(np.clip(t, motion.start, motion.end))


def _times(
    motion: Motion, start: float | None, end: float | None, speed: float, fps: float | None, gif: bool
) -> tuple[float, list[float]]:
    """Pictures a second, and the moments that they show."""
    rate = (20.0 if gif else 30.0) if fps is None else fps
    for what, x in (("speed", speed), ("fps", rate)):
        if not (0.0 < x < np.inf):
            raise InputError(f"{what} is {x:g}; it must be greater than 0")
    if gif:
        rate = 100.0 / max(2, round(100.0 / rate))
    first = motion.start if start is None else _within(motion, start)
    last = motion.end if end is None else _within(motion, end)
    if last < first:
        raise InputError(f"start is {first:g} s and end {last:g} s; the end comes after the start")
    count = int(np.floor((last - first) * rate / speed + 1e-9)) + 1
    if count > MOST_FRAMES:
        raise InputError(
            f"{count} pictures would be drawn, {MOST_FRAMES} at most are; show a part (start, end), or raise speed"
        )
    return rate, [first + k * speed / rate for k in range(count)]


MOST_OF_GIF = 5e8
"""Pixels of a GIF: it is made in memory, a byte each and more."""


def _write_gif(path: Any, frames: Iterator[np.ndarray], rate: float, studio: Studio, times: list[float]) -> None:
    """One palette for all pictures, made of some of them and of the greys of the background, so that colours do not flicker."""
    from PIL import Image

    if len(times) * studio.shot.size[0] * studio.shot.size[1] > MOST_OF_GIF:
        raise InputError(
            f"{len(times)} pictures of {studio.shot.size[0]}×{studio.shot.size[1]} are too many for a GIF; an MP4 takes them"
        )
    some = [studio.picture(t)[::2, ::2] for t in times[:: max(1, len(times) // 6)]]
    found = Image.fromarray(np.concatenate(some)).quantize(256 - BACKDROP, Image.Quantize.MEDIANCUT)
    colors = np.array(found.getpalette()).reshape(-1, 3)[: 256 - BACKDROP]
    low, high = GREYS[studio.backdrop]
    greys = np.arange(low, high + 1, 2)[:, None].repeat(3, axis=1)
    palette = Image.new("P", (1, 1))
    entries = np.concatenate([colors, greys]).astype(np.uint8).tobytes()
    palette.putpalette(entries)
    step = int(greys[1, 0] - greys[0, 0])
    # a fixed pattern breaks up the bands that few colours leave, and does not flicker as diffused errors do
    rows, columns = studio.shot.size[1], studio.shot.size[0]
    pattern = np.tile(raster.THRESHOLDS - 0.5, (rows // 4 + 1, columns // 4 + 1))[:rows, :columns]

    def indexed(image: np.ndarray) -> Any:
        """A picture of palette colours; Pillow tells greys apart by four levels only, so they are counted here."""
        own = np.clip(image + DITHER * pattern[..., None], 0, 255).round().astype(np.uint8)
        flat = Image.fromarray(own).quantize(palette=palette, dither=Image.Dither.NONE)
        index = np.array(flat)
        grey = (np.ptp(image, axis=-1) < 3) & (image.min(axis=-1) >= low) & (image.max(axis=-1) <= high)
        level = np.clip(np.round((image[..., 1] - low) / step + pattern), 0, len(greys) - 1).astype(np.uint8)
        index[grey] = len(colors) + level[grey]
        out = Image.fromarray(index, "P")
        out.putpalette(entries)
        return out

    flat = (indexed(x) for x in frames)
    with open(path, "wb") as stream:
        next(flat).save(
            stream,
            format="GIF",
            save_all=True,
            append_images=flat,
            duration=round(1000.0 / rate),
            loop=0,
            optimize=False,
        )


def _write_mp4(path: Any, frames: Iterator[np.ndarray], rate: float, studio: Studio, times: list[float]) -> None:
    """H.264 in the form that every player shows; an odd row or column is left out, for H.264 takes none."""
    import imageio_ffmpeg

    width, height = (n - n % 2 for n in studio.shot.size)
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), fps=rate, codec="libx264", pix_fmt_out="yuv420p", macro_block_size=2,
        output_params=["-f", "mp4", "-crf", "20", "-preset", "medium", "-movflags", "+faststart"], ffmpeg_log_level="error",
    )  # fmt: skip
    writer.send(None)
    try:
        for image in frames:
            writer.send(np.ascontiguousarray(image[:height, :width]))
    finally:
        writer.close()

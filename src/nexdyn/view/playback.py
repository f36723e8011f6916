"""The shown time as it runs: t ← t + speed · (time that passed), from the start to the end and, repeated, from the start again."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_LEAP = 0.5
"""What passes at most between two moments [s]: after a longer pause of the machine the motion goes on where it was."""


@dataclass
class Playback:
    """t [s] between start and end; whether it runs, how many times as fast as real time, and whether it begins again."""

    start: float
    end: float
    t: float = 0.0
    playing: bool = False
    speed: float = 1.0
    repeats: bool = True

    def __post_init__(self) -> None:
        self.cover(self.start, self.end)

    def cover(self, start: float, end: float) -> None:
        """Stand at the start of another motion, and play it if it is one."""
        self.start, self.end, self.t, self.playing = start, end, start, end > start

    def seek(self, t: float) -> None:
        """Stop at a time, or at the end that is nearest to it."""
        self.playing, self.t = False, float(min(max(t, self.start), self.end))

    def play(self, speed: float | None = None) -> None:
        """Run; from the start where it stood at the end."""
        self.speed = self.speed if speed is None else float(speed)
        self.playing = self.end > self.start
        if self.t >= self.end:
            self.t = self.start

    def advance(self, passed: float) -> None:
        """Let `passed` [s] of real time go by: the end is shown before the start comes again."""
        if not self.playing:
            return
        t = self.t + min(passed, LONGEST_LEAP) * self.speed
        if t > self.end:
            t = self.start if self.repeats and self.t >= self.end else self.end
            self.playing = self.repeats
        self.t = t

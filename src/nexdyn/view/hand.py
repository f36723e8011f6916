"""The hand that pulls a body on the page: a line from the point that it holds to where it is, and an arrow of its force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nexdyn.view.cards import number
from nexdyn.view.motion import Frame
from nexdyn.view.words import Words

COLOR = (240, 140, 20)
LONGEST = 0.25
"""Length of the arrow of the largest force, of the size of the scene."""
FAR = 1e4


class HandMark:
    """What is seen of a hand; `told` gives a ``session.Handling``, or None."""

    def __init__(self, scene: Any, told: Callable[[], Any], size: float, words: Words) -> None:
        self._scene, self._told, self._size, self._words = scene, told, size, words
        away = np.full((1, 2, 3), FAR * size, dtype=np.float32)
        self._line = scene.add_line_segments("/motion/hand", away, COLOR, thickness=3.0, thickness_units="screen")
        thick = 0.005 * size
        self._arrow = scene.add_arrows(
            "/motion/hand force", away, COLOR, shaft_radius=thick, head_radius=2.5 * thick, head_length=6.0 * thick
        )
        self._label: Any = None

    def show(self, _: float, f: Frame) -> None:
        """Put it where it is."""
        hand = self._told()
        if hand is None:
            if self._label is not None:
                away = np.full((1, 2, 3), FAR * self._size, dtype=np.float32)
                self._line.points = self._arrow.points = away
                self._label.remove()
                self._label = None
            return
        force = float(np.linalg.norm(hand.force))
        along = hand.force / force if force > 0.0 else np.zeros(3)
        length = LONGEST * self._size * (1.0 if hand.limited else force / hand.most)
        self._line.points = np.array([[hand.point, hand.target]], dtype=np.float32)
        self._arrow.points = np.array([[hand.point, hand.point + length * along]], dtype=np.float32)
        text = f"{number(force)} N" + (f" ({self._words('at its limit')})" if hand.limited else "")
        if self._label is None:
            self._label = self._scene.add_label("/motion/hand label", text, position=hand.target)
        else:
            self._label.text, self._label.position = text, hand.target

    def remove(self) -> None:
        """Take it away."""
        for part in (self._line, self._arrow, self._label):
            if part is not None:
                part.remove()

"""The names of methods on the command line, known without what they are made of, which takes a third of a second to import."""

from __future__ import annotations

from nexdyn.integrate.pairs import PAGES

NAMES = (
    "rk4", "euler", "semi-implicit", *PAGES, "hht", "implicit-euler", "baumgarte", "projection", "partitioning",
)  # fmt: skip
PAIRS = ", ".join(PAGES)
"""Those of embedded pairs."""

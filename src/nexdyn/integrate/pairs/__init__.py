"""Embedded Runge–Kutta pairs, one a page: coefficients as a `Pair`, and the method that a user chooses.

`PAGES` is the table of them. A pair is added by its page, its line here, and its line for type checkers in ``nexdyn/__init__.py``;
see ``pair.py`` for what a page has.
"""

from __future__ import annotations

PAGES: dict[str, tuple[str, str]] = {
    "dopri5": ("dormand_prince", "DormandPrince"),
    "bs32": ("bogacki_shampine", "BogackiShampine32"),
    "dop853": ("dop853", "DOP853"),
}
"""By the name of a method in scenes and on the command line: its page and its class."""

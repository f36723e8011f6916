"""Curves of peers, thinned and kept as data with their origin: `data/SUITE/CASE.csv`.

    # origin: where the curves were published
    # sampling: which samples were kept
    # own error: the peer's own, scaled as distances are, where it is known; the largest
    # energy drift: the largest change of the curves' energy over their largest kinetic energy, where it is known
    # own error of QUANTITY: of each quantity, where it is known
    t,position,position,position,…        columns of one name are the components of one quantity

`python -m nexdyn.problems.against.thin SUITE COPY` writes them anew from a copy of what the peer published.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nexdyn.problems.against.case import Curves, Reference

DATA = Path(__file__).parent / "data"
DIGITS = 9
OWN = "own error of "
DRIFT = "energy drift"


def path_of(suite: str, name: str) -> Path:
    """The file of a case."""
    return DATA / suite / f"{name}.csv"


def kept(suite: str, name: str, folder: Path | None = None) -> Reference:
    """The kept curves of a case. folder: not used; what is kept needs no copy of the peer's files."""
    said, t, curves = read_curves(path_of(suite, name))
    own = {key.removeprefix(OWN): float(text) for key, text in said.items() if key.startswith(OWN)}
    if DRIFT in said:
        return Reference(t, curves, float(said[DRIFT]))
    return Reference(t, curves, float(said.get("own error", "nan")), scaled_alike=True, own_errors=own)


def origin_of(suite: str, name: str) -> str:
    """Where the curves of a case were published."""
    return read_curves(path_of(suite, name))[0]["origin"]


def read_curves(path: Path) -> tuple[dict[str, str], np.ndarray, Curves]:
    """What a file says above its table, t (N,) and {quantity: values (N, n)}."""
    said = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                header = line.strip().split(",")
                break
            key, _, text = line[1:].partition(":")
            said[key.strip()] = text.strip()
        values = np.loadtxt(lines, delimiter=",", ndmin=2)
    names = list(dict.fromkeys(header[1:]))
    curves = {name: values[:, [k for k, other in enumerate(header) if other == name]] for name in names}
    return said, values[:, 0], curves


def write_curves(path: Path, said: Mapping[str, str], t: np.ndarray, curves: Curves) -> None:
    """Write such a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = ["t", *(name for name, values in curves.items() for _ in range(values.shape[1]))]
    table = np.column_stack([t, *curves.values()])
    rows = [",".join(f"{x:.{DIGITS}g}" for x in row) for row in table]
    text = [*(f"# {key}: {value}" for key, value in said.items()), ",".join(header), *rows, ""]
    path.write_text("\n".join(text), encoding="utf-8")


def sampled(t: np.ndarray, samples: int = 50) -> np.ndarray:
    """Which of the samples at t are kept: about so many, equally spaced in their number, of strictly growing times."""
    every = max(1, (len(t) - 1) // samples)
    chosen = np.arange(0, len(t), every)
    later = np.concatenate([[True], np.diff(t[chosen]) > 0])
    return np.asarray(chosen[later])

"""The double pendulum that RecurDyn computed.

Two links of 1 kg and 1 m, of inertia 1 kg m² about each axis, from horizontal and at rest, on hinges about z, in gravity of
9.80665 m/s² along −y. Curves of the links' centres over 3 s are published in `assets/reference_data/double_pendulum` of
github.com/W-Moorer/NexDynIPC; every 50th sample, 51 ms apart, is kept in `data/recurdyn`.

    own error = max |v(0) + ∫ a dt − v| / max |v|      of its own accelerations and velocities, all samples, the larger of both links
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from nexdyn.errors import InputError
from nexdyn.joints import Revolute
from nexdyn.model.system import System
from nexdyn.problems.against.case import Case, Curves, Reference, Scene, scaled
from nexdyn.problems.against.formulations import LIMIT, TREE, free, rk4
from nexdyn.problems.against.kept import kept
from nexdyn.results.result import Result

CLONE = "git clone --depth 1 https://github.com/W-Moorer/NexDynIPC"
ORIGIN = "RecurDyn; github.com/W-Moorer/NexDynIPC, assets/reference_data/double_pendulum"
NAME = "double_pendulum"
G = 9.80665
KINDS = {"Pos": "position", "Vel": "velocity", "Acc": "acceleration"}
EVERY = 50


def double_pendulum() -> System:
    """Two equal links in a row."""
    system = System(NAME, gravity=(0, -G, 0))
    parent = system.ground
    for i in (0, 1):
        link = system.add_body(f"link{i + 1}", mass=1.0, inertia=(1, 1, 1), position=(i + 0.5, 0, 0))
        system.add_joint(Revolute(f"hinge{i + 1}", parent, link, at=(i, 0, 0), axis=(0, 0, 1)))
        parent = link
    return system


def observe(result: Result) -> Curves:
    """Motion of both centres."""
    links = {f"link{i} {kind}": getattr(result, kind)(f"link{i}").values for i in (1, 2) for kind in KINDS.values()}
    return {name: links[name] for name in sorted(links)}


def copied(folder: Path, every: int = EVERY) -> Reference:
    """The curves in a copy of the repository. Raises InputError where the files are not below the folder."""
    curves, t = {}, np.zeros(0)
    for i in (1, 2):
        for key, kind in KINDS.items():
            found = sorted(folder.rglob(f"double_pendulum/Link{i}_{key}.csv"))
            if not found:
                raise InputError(
                    f"no double_pendulum/Link{i}_{key}.csv below {str(folder)!r}; get the curves with `{CLONE}`"
                )
            table = np.loadtxt(found[0], delimiter=",", skiprows=1)[::every]
            t, curves[f"link{i} {kind}"] = table[:, 0], table[:, 1:]
    return Reference(t, {name: curves[name] for name in sorted(curves)})


def own_error(folder: Path) -> float:
    """How far the peer's velocities are from what its own accelerations integrate to, scaled as distances are."""
    found = copied(folder, every=1)
    misses = []
    for link in ("link1", "link2"):
        v, a = found.curves[f"{link} velocity"], found.curves[f"{link} acceleration"]
        gained = CubicSpline(found.t, a).antiderivative()(found.t)
        misses.append(scaled("velocity", v[0] + gained, v, v))
    return max(misses)


def read(folder: Path | None) -> Reference:
    """The curves, kept or in a copy, with the peer's own error."""
    if folder is None:
        return kept("recurdyn", NAME)
    found = copied(folder)
    return Reference(found.t, found.curves, own_error(folder), scaled_alike=True)


CASES = {
    NAME: Case(
        NAME, "two links on hinges", ORIGIN, read, (Scene(double_pendulum, (*free(), *rk4(1e-3))),), observe, LIMIT, TREE
    )
}  # fmt: skip

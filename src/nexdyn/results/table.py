"""A result in a few lines: status, energy, peaks of the reactions; as a dict for programs and as text for people.

    energy drift = max |E − E₀| / max(max T, max |U − U₀|)       E = T + U, U of gravity and springs

The drift is measured at the samples, against the energy that moves about in the run; it is 0 where nothing moves. It
tells of the integration only where nothing but gravity and springs does work; what else does is named in
`not_conservative`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.model.system import System
from nexdyn.results.observed import Observed
from nexdyn.results.rolling import rolling_at_end, rolling_joints

if TYPE_CHECKING:
    from nexdyn.results.result import Result

EVENTS = 6
"""Events that the text shows."""
ROUNDING = 64.0 * np.finfo(float).eps


def energy_drift(observed: Observed) -> float:
    """The drift as defined above."""
    E = observed.energies
    T, E_total = E["kinetic_energy"], E["total_energy"]
    U = E["gravitational_energy"] + E["elastic_energy"]
    size = T + np.abs(E["gravitational_energy"]) + np.abs(E["elastic_energy"])
    moved = max(float(T.max()), float(np.abs(U - U[0]).max()))
    if moved <= ROUNDING * len(observed.tree.body_names) * size.max():
        return 0.0
    return float(np.abs(E_total - E_total[0]).max()) / moved


def not_conservative(system: System) -> list[str]:
    """What does work other than gravity and springs: "damping of joint 'hinge'", "force 'push'"."""
    values, found = system.values, []
    for joint in system.joints.values():
        numbers = joint.resolved(values)
        acting = [what for what in ("damping", "friction") if getattr(numbers, what).any()]
        if acting:
            found.append(f"{' and '.join(acting)} of {joint}")
    found += [str(driver) for driver in system.drivers.values()]
    found += dict.fromkeys(what for force in system.forces.values() if (what := force.working(values)))
    return found


def summary(result: Result, peaks: int) -> dict[str, Any]:
    """See `Result.summary`."""
    r, observed = result.recording, result.observed
    E = observed.energies["total_energy"]
    working = list(result.not_conservative)
    found: dict[str, Any] = {
        "system": result.system.name,
        "bodies": len(result.system.bodies),
        "joints": len(result.system.joints),
        "method": r.method,
        "status": r.status,
        "message": r.message,
        "steps": int(r.steps),
        "samples": len(r.t),
        "t_start": float(r.t[0]),
        "t_end": float(r.t[-1]),
        "wall_time": float(r.wall_time),
        "kernels": r.settings.get("kernels", ""),
        "energy_start": float(E[0]),
        "energy_end": float(E[-1]),
        "energy_drift": None if working else energy_drift(observed),
        "not_conservative": working,
        "peak_reactions": _largest(observed, peaks),
        "peaks_of": observed.peaks_of,
    }
    if rolling_joints(result.system) and observed.knows("reaction"):
        found["rolling_end"] = rolling_at_end(result)
    if r.settings.get("coordinates") == "loops":
        violation = getattr(r, "violation", np.zeros(0))
        found["loops"] = {key: r.settings[key] for key in ("cut", "redundant", "stabilise")} | {
            "violation": float(violation.max(initial=0.0)) if np.isfinite(violation).all() else None
        }
    if events := result.events:
        found["events"] = events
    if warnings := result.warnings:
        found["warnings"] = warnings
    return {key: None if isinstance(x, float) and not math.isfinite(x) else x for key, x in found.items()}


def _largest(observed: Observed, count: int) -> list[dict[str, Any]]:
    """The peaks of the joints with the largest forces."""
    if not observed.knows("reaction"):
        return []
    peaks, joints = observed.peaks, observed.labels.dims["joint"]
    order = np.argsort(-peaks.force, kind="stable")[:count]
    return [{"joint": joints[k]} | {name: float(x[k]) for name, x in peaks._asdict().items()} for k in order]


def summary_text(found: dict[str, Any]) -> str:
    """The summary as a few lines."""
    lines = [
        f"{found['system']}: {found['status']} at t = {found['t_end']:g} s"
        + (f" ({found['message']})" if found["message"] else ""),
        f"  steps    {found['steps']} of {found['method']}, {found['samples']} samples",
        f"  time     {found['wall_time']:.3g} s",
        f"  energy   {_energy(found)}",
    ]
    if "loops" in found:
        lines.append(f"  loops    {_loops(found['loops'])}")
    if events := found.get("events"):
        shown = [f"{event['name']} at {event['time']:.6g} s" for event in events[:EVENTS]]
        more = f" … ({len(events)} in all)" if len(events) > EVENTS else ""
        lines.append(f"  events   {', '.join(shown)}{more}")
    rows = found["peak_reactions"]
    if rows:
        columns = [[row[key] for row in rows] for key in ("force", "force_time", "moment", "moment_time")]
        of = " of the samples; those between were not looked at (peaks=True does)" * (
            found.get("peaks_of") == "samples"
        )
        lines.append(f"  largest reactions{of}")
        lines += ["    " + line for line in peak_lines([row["joint"] for row in rows], columns)]
    return "\n".join(lines)


def _loops(found: dict[str, Any]) -> str:
    cut = f"cut open at {', '.join(found['cut'])}" if found["cut"] else "none; driven or coupled"
    redundant = f"; redundant {', '.join(found['redundant'])}" if found["redundant"] else ""
    kept = {"projection": "projected", "baumgarte": "stabilised after Baumgarte", None: "not stabilised"}
    violation = f", |C| ≤ {found['violation']:.2g}" if found["violation"] is not None else ""
    return f"{cut}{redundant}; {kept[found['stabilise']]}{violation}"


def _energy(found: dict[str, Any]) -> str:
    start, end, drift, working = (
        found[key] for key in ("energy_start", "energy_end", "energy_drift", "not_conservative")
    )
    if start is None or end is None:
        return "not finite"
    moved = f"{start:.6g} J → {end:.6g} J"
    if not working:
        return moved + ("" if drift is None else f", drift {drift:.2g}")
    more = f" and {len(working) - 2} more" if len(working) > 2 else ""
    return f"{moved}; work by {', '.join(working[:2])}{more}"


def peak_lines(joints: Sequence[str], columns: Sequence[Sequence[float]], most: int = 20) -> list[str]:
    """Force, its time, moment and its time of each joint as a table of at most `most` rows."""
    head = ("joint", "force [N]", "at t [s]", "moment [N m]", "at t [s]")
    rows = [
        (str(joint), *(f"{x:.6g}" for x in numbers))
        for joint, *numbers in list(zip(joints, *columns, strict=True))[:most]
    ]
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(5)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))])
        for row in [head, *rows]
    ]
    return lines if len(joints) <= most else [*lines, f"… ({len(joints)} joints in all)"]

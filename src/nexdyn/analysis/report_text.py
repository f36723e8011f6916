"""The report in words, for a mechanic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nexdyn.analysis.report import AssemblyReport, RedundantRow

BODIES_SHOWN = 30


def report_text(report: AssemblyReport) -> str:
    """All of a report as text."""
    model, found = report.model, report.redundancy
    lines = [f"System {model.system.name!r}: {model.nb} bodies, {len(model.system.joints)} joints"]
    lines += [f"  ! {warning}" for warning in report.warnings]
    if report.gaps:
        lines += ["", "It cannot be assembled:", *(f"  {gap}" for gap in report.gaps)]
    if found is not None:
        lines += [
            "",
            "1  Constraints",
            f"   {found.constraints} equations, {found.independent} independent, {len(found.redundant)} redundant; "
            f"{found.dof} degrees of freedom (Grübler's count says {found.grubler})",
        ]
        for row in found.redundant:
            lines += _redundant_row(row)
        lines += _advice(report)
    if not report.a.size:
        return "\n".join(lines)
    away = np.linalg.norm(report.q[1:, 4:] - model.q[1:, 4:], axis=1).max(initial=0.0)
    lines += [
        "",
        "2  Configuration",
        f"   assembled in {report.iterations} iterations; bodies moved by up to {away:.3g} m",
    ]
    lines += ["", "3  Velocity and 4  acceleration"]
    for name in model.bodies[1 : 1 + BODIES_SHOWN]:
        lines.append(
            f"   {name:<14} v {_vector(report.velocity(name))} m/s   a {_vector(report.acceleration(name))} m/s²"
        )
    if model.nb > BODIES_SHOWN:
        lines.append(f"   … {model.nb - BODIES_SHOWN} more bodies")
    lines += ["", "   Reactions on the child, in the parent-side joint frame (* one choice among many)"]
    for name in list(model.system.joints)[:BODIES_SHOWN]:
        r = report.reaction(name)
        force = _vector(r.force, r.unique[:3])
        moment = _vector(r.moment, r.unique[3:])
        lines.append(f"   {name:<14} force {force} N   moment {moment} N m")
    return "\n".join(lines)


def _redundant_row(row: RedundantRow) -> list[str]:
    where = {
        True: "at every pose",
        False: "only in this pose",
        None: "nothing moves, so it cannot be told whether always",
    }
    state = (
        "consistent"
        if row.consistent
        else f"IN CONFLICT by {row.conflict[0]:.3g} in position, {row.conflict[1]:.3g} in velocity"
    )
    terms = " ".join(f"{c:+.3g} {name}" for name, c in list(row.depends_on.items())[:6])
    more = " …" if len(row.depends_on) > 6 else ""
    return [f"   redundant: {row} ({row.direction}), {state}, {where[row.structural]}", f"      = {terms}{more}"]


_INSTEAD = {
    ("revolute", frozenset({"DotZX", "DotZY"})): "a spherical joint",
    ("revolute", frozenset({"DotZX"})): "a universal joint",
    ("revolute", frozenset({"DotZY"})): "a universal joint",
    ("revolute", frozenset({"DZ"})): "a cylindrical joint",
    ("revolute", frozenset({"DZ", "DotZX", "DotZY"})): "a joint that only keeps its point on the axis",
    ("fixed", frozenset({"DotZX", "DotZY", "DotXY"})): "a spherical joint",
}


def _advice(report: AssemblyReport) -> list[str]:
    """Which joint, changed, would remove the redundancy."""
    dropped: dict[str, set[str]] = {}
    for row in report.redundancy.redundant:
        dropped.setdefault(row.joint, set()).add(row.equation)
    lines = []
    for joint, equations in dropped.items():
        kind = report.model.system.joints[joint].kind
        instead = _INSTEAD.get((kind, frozenset(equations)))
        all_rows = {equation for equation, _ in report.model.system.joints[joint].rows}
        if equations == all_rows:
            lines.append(f"   advice: joint {joint!r} adds nothing; leave it out")
        elif instead:
            lines.append(f"   advice: make {joint!r} {instead}")
    return lines


def _vector(x: np.ndarray, unique: np.ndarray | None = None) -> str:
    marks = ["" if unique is None or u else "*" for u in (unique if unique is not None else [True] * 3)]
    return (
        "("
        + ", ".join(f"{(0.0 if abs(value) < 5e-13 else value):.5g}{mark}" for value, mark in zip(x, marks, strict=True))
        + ")"
    )

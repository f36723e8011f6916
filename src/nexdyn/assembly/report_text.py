"""The report in words, for a mechanic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nexdyn.errors import counted

if TYPE_CHECKING:
    from nexdyn.assembly.report import AssemblyReport, RedundancyReport, RedundantRow

BODIES_SHOWN = 30
ROWS_SHOWN = 30
MOTIONS_SHOWN = 12


def report_text(report: AssemblyReport) -> str:
    """All of a report as text."""
    model, found = report.model, report.redundancy
    lines = [f"System {model.system.name!r}: {counted(model.nb, 'body')}, {counted(len(model.system.joints), 'joint')}"]
    lines += [f"  ! {warning}" for warning in report.warnings]
    if report.gaps:
        lines += ["", "It cannot be assembled:", *(f"  {gap} ({', '.join(gap.rows)})" for gap in report.gaps)]
    if found is not None:
        lines += [
            "",
            "1  Constraints",
            f"   {counted(found.constraints, 'equation')}, {found.independent} independent, {len(found.redundant)} redundant; "
            f"{counted(found.dof, 'degree of freedom')} (Grübler's count says {found.grubler})",
        ]
        if found.redundant and np.isfinite(found.rank_gap):
            lines.append(
                f"   the last independent row stands out from the first redundant one by a factor of {found.rank_gap:.1e}"
            )
        for row in found.redundant[:ROWS_SHOWN]:
            lines += _redundant_row(row)
        if len(found.redundant) > ROWS_SHOWN:
            lines.append(f"   … {len(found.redundant) - ROWS_SHOWN} more redundant rows")
        lines += _advice(report)
        lines += _motions(found)
    if not report.a.size:
        return "\n".join(lines)
    away = np.linalg.norm(report.q[1:, 4:] - model.q[1:, 4:], axis=1).max(initial=0.0)
    lines += [
        "",
        "2  Configuration",
        f"   assembled in {counted(report.iterations, 'iteration')}; bodies moved by up to {away:.3g} m",
    ]
    lines += ["", "3  Velocity and 4  acceleration"]
    for name in model.bodies[1 : 1 + BODIES_SHOWN]:
        lines.append(
            f"   {name:<14} v {_vector(report.velocity(name))} m/s   a {_vector(report.acceleration(name))} m/s²"
        )
    if model.nb > BODIES_SHOWN:
        lines.append(f"   … {counted(model.nb - BODIES_SHOWN, 'more body')}")
    lines += ["", "   Reactions on the child, in the parent-side joint frame (* one choice among many)"]
    for name in list(model.system.joints)[:BODIES_SHOWN]:
        r = report.reaction(name)
        force = _vector(r.force, r.unique[:3])
        moment = _vector(r.moment, r.unique[3:])
        lines.append(f"   {name:<14} force {force} N   moment {moment} N m")
    if len(model.system.joints) > BODIES_SHOWN:
        lines.append(f"   … {len(model.system.joints) - BODIES_SHOWN} more joints")
    efforts = report.efforts()
    if efforts:
        lines += ["", "   Efforts of drivers, and multipliers of couplings"]
        lines += [f"   {name:<14} {effort:.5g}" for name, effort in list(efforts.items())[:BODIES_SHOWN]]
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


def _advice(report: AssemblyReport) -> list[str]:
    """Which joint, changed, would remove the redundancy."""
    dropped: dict[str, set[str]] = {}
    for row in report.redundancy.redundant:
        dropped.setdefault(row.joint, set()).add(row.equation)
    lines = []
    for name, equations in list(dropped.items())[:ROWS_SHOWN]:
        joint = report.model.system.joints.get(name)
        if joint is None:
            continue
        left = frozenset(equation for equation, _ in joint.rows) - equations
        if not left:
            lines.append(f"   advice: joint {name!r} adds nothing; leave it out")
        elif left in _KIND_OF_ROWS:
            lines.append(f"   advice: make {name!r} {_KIND_OF_ROWS[left]}")
    return lines


_KIND_OF_ROWS = {
    frozenset({"DX", "DY", "DZ"}): "a spherical joint",
    frozenset({"DX", "DY", "DZ", "DotZX"}): "a universal joint",
    frozenset({"DX", "DY", "DZ", "DotZY"}): "a universal joint",
    frozenset({"DX", "DY", "DotZX", "DotZY"}): "a cylindrical joint",
    frozenset({"DX", "DY", "DotZX"}): "a joint that keeps its point on the axis (point_on_line)",
    frozenset({"DX", "DY", "DotZY"}): "a joint that keeps its point on the axis (point_on_line)",
    frozenset({"DX", "DY"}): "a joint that keeps its point on the axis (point_on_line)",
    frozenset({"DX", "DY", "DZ", "DotZX", "DotZY"}): "a revolute joint",
    frozenset({"DX", "DY", "DotZX", "DotZY", "DotXY"}): "a prismatic joint",
    frozenset({"DZ", "DotZX", "DotZY"}): "a planar joint",
    frozenset({"DotZX", "DotZY"}): "a joint that keeps the axes parallel (parallel)",
    frozenset({"DotZX", "DotZY", "DotXY"}): "a cartesian joint",
    frozenset({"DZ"}): "a joint that keeps its point in the plane (point_on_plane)",
    frozenset({"DX"}): "a joint that keeps its point in the plane across x (point_on_plane)",
    frozenset({"DY"}): "a joint that keeps its point in the plane across y (point_on_plane)",
}
"""What a joint is with those rows only."""


def _motions(found: RedundancyReport) -> list[str]:
    """The degrees of freedom as motions of joints."""
    lines = [f"   free: {motion}" for motion in found.motions[:MOTIONS_SHOWN]]
    told = sum(motion.dof for motion in found.motions)
    if len(found.motions) > MOTIONS_SHOWN:
        lines.append(f"   … {len(found.motions) - MOTIONS_SHOWN} more motions")
    if told < found.dof:
        lines.append(f"   {found.dof - told} motions of large blocks with loops are not told one by one")
    return lines


def _vector(x: np.ndarray, unique: np.ndarray | None = None) -> str:
    marks = ["" if unique is None or u else "*" for u in (unique if unique is not None else [True] * 3)]
    return (
        "("
        + ", ".join(f"{(0.0 if abs(value) < 5e-13 else value):.5g}{mark}" for value, mark in zip(x, marks, strict=True))
        + ")"
    )

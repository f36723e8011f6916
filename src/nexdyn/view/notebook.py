"""What notebooks show of systems, results and reports of assemblies: tables, and small figures beside them.

Curves are drawn as plain SVG, pictures by view/raster.py where the extra nexdyn[view] is there. A figure that cannot be
drawn is left out: what is shown must not fail, and must not take long.
"""

from __future__ import annotations

import base64
import html
import io
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import counted
from nexdyn.model.system import System
from nexdyn.view.charts import Panel, panels

if TYPE_CHECKING:
    from nexdyn.assembly.report import AssemblyReport
    from nexdyn.results.result import Result
    from nexdyn.view.motion import Motion

ROWS = 12
"""Rows of a table; of more, the first are shown and the rest counted."""
LINES = 6
"""Curves of a small figure."""
LARGEST = 20_000_000
"""Samples times bodies of a result whose curves are drawn."""
MOST_BODIES = 2000
"""Bodies of a system that is pictured."""
SIZE = (300, 190)
WIDTH, HEIGHT = 300, 110
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9")


def system_html(system: System) -> str:
    """A system: its picture as described, its bodies and joints."""
    values = system.values
    bodies = [
        (body.name, f"{body.resolved(values).mass:.6g}", _numbers(body.pose(values)[1]), str(len(body.shapes)))
        for body in list(system.bodies.values())[:ROWS]
    ]
    joints = [
        (joint.name, joint.kind, f"{joint.parent.name} → {joint.child.name}")
        for joint in list(system.joints.values())[:ROWS]
    ]
    more = [f"{len(found)} {what}" for what, found in (("forces", system.forces), ("markers", system.markers),
            ("measures", system.measures), ("drivers", system.drivers), ("couplings", system.couplings)) if found]  # fmt: skip
    facts = {
        "bodies": f"{len(system.bodies)}, {sum(b.resolved(values).mass for b in system.bodies.values()):.6g} kg",
        "joints": str(len(system.joints)),
        "gravity": f"{_numbers(system.gravity)} m/s²",
    }
    if more:
        facts["and"] = ", ".join(more)
    if system.parameters:
        facts["parameters"] = ", ".join(f"{name} = {x:g}" for name, x in list(values.items())[:ROWS])
    parts = [
        _facts(f"System {system.name!r}", facts),
        _table(("body", "mass [kg]", "position [m]", "shapes"), bodies, len(system.bodies)),
        _table(("joint", "kind", "parent → child"), joints, len(system.joints)),
    ]
    return _side_by_side([_picture(system), *parts])


def result_html(result: Result) -> str:
    """A result: how it was run, its energy and joint coordinates, and its end."""
    r, system = result.recording, result.system
    facts = {
        "system": f"{system.name} ({counted(len(system.bodies), 'body')}, {counted(len(system.joints), 'joint')})",
        "time": f"{r.t[0]:g} … {r.t[-1]:g} s, {counted(len(r.t), 'sample')}",
        "method": f"{r.method}, {counted(r.steps, 'step')} in {r.wall_time:.3g} s",
        "status": r.status + (f": {r.message}" if r.message else ""),
    }
    figures = []
    if len(r.t) > 1 and len(r.t) * max(1, len(system.bodies)) <= LARGEST:
        for what in ("energy", "joint_position"):
            figures += [_curves(panel) for panel in _quietly(panels, result, [what])[:1]]
    return _side_by_side([_facts("Result", facts), *figures, _picture(result)])


def report_html(report: AssemblyReport) -> str:
    """A report of an assembly: whether it closes, degrees of freedom, redundant rows, what to know."""
    system, found = report.model.system, report.redundancy
    facts = {"assembled": "no" if report.gaps else "yes"}
    rows: list[tuple[str, ...]] = []
    redundant = 0
    if found is not None:
        redundant = len(found.redundant)
        facts |= {
            "degrees of freedom": str(found.dof),
            "constraints": f"{found.constraints}, of which {found.independent} are independent (Grübler counts {found.grubler} degrees)",
        }
        rows = [
            (
                str(row),
                " ".join(f"{x:+.3g} {name}" for name, x in list(row.depends_on.items())[:4])
                + (" …" if len(row.depends_on) > 4 else ""),
                "yes" if row.consistent else "no",
                {True: "in all poses", False: "in this pose only", None: "cannot be told"}[row.structural],
            )
            for row in found.redundant[:ROWS]
        ]
    gaps = [(str(gap),) for gap in report.gaps[:ROWS]]
    parts = [_facts(f"Assembly of {system.name!r}", facts)]
    if gaps:
        parts.append(_table(("what stays open",), gaps, len(report.gaps)))
    if rows:
        parts.append(_table(("redundant row", "is the sum of", "consistent", "redundant"), rows, redundant))
    if report.warnings:
        parts.append("<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in report.warnings) + "</ul>")
    return _side_by_side([*parts, "" if report.gaps or not report.a.size else _quietly(_assembled, report) or ""])


def _assembled(report: AssemblyReport) -> str:
    """The picture of the assembled pose."""
    from nexdyn.spatial.rotations import rotation_matrix
    from nexdyn.view.motion import Motion

    names = list(report.model.system.bodies)
    R = np.array([rotation_matrix(np.asarray(report.orientation(name))) for name in names])
    p = np.array([np.asarray(report.position(name)) for name in names])
    return _picture(Motion.still(report.model.system, (R, p)))


# --- tables ---------------------------------------------------------------------------------------------------------


def _facts(caption: str, facts: dict[str, str]) -> str:
    rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(text)}</td></tr>" for key, text in facts.items())
    return f"<table><caption>{html.escape(caption)}</caption>{rows}</table>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """A table of the first rows of `count`; nothing where there is none."""
    if not rows:
        return ""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    rest = f'<tr><td colspan="{len(heads)}">… {count - len(rows)} more</td></tr>' if count > len(rows) else ""
    return f"<table><tr>{head}</tr>{body}{rest}</table>"


def _side_by_side(parts: Iterable[str]) -> str:
    cells = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start">{cells}</div>'


def _numbers(x: Iterable[float]) -> str:
    return f"({', '.join(f'{value + 0.0:.4g}' for value in x)})"


# --- figures --------------------------------------------------------------------------------------------------------


def _quietly(draw: Any, *arguments: Any) -> Any:
    """What `draw` gives; an empty list where it cannot."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return draw(*arguments)
    except Exception:
        return []


def _picture(of: System | Result | Motion) -> str:
    """A picture as an element; nothing where there is none to draw, or no library to draw with."""
    system = of if isinstance(of, System) else of.system
    if not 0 < len(system.bodies) <= MOST_BODIES:
        return ""
    png = _quietly(_png, of)
    if not png:
        return ""
    code = base64.b64encode(png).decode()
    return f'<img alt="picture" width="{SIZE[0]}" height="{SIZE[1]}" src="data:image/png;base64,{code}"/>'


def _png(of: System | Result | Motion) -> bytes:
    from PIL import Image

    from nexdyn.view.shot import Shot
    from nexdyn.view.stills import picture

    stream = io.BytesIO()
    Image.fromarray(picture(of, shot=Shot(size=SIZE, samples=2))).save(stream, format="PNG")
    return stream.getvalue()


def _curves(panel: Panel) -> str:
    """The curves of a panel as a small SVG, with the ends of both axes."""
    lines = panel.lines[:LINES]
    x = np.concatenate([line.x for line in lines])
    y = np.concatenate([line.y for line in lines])
    y = y[np.isfinite(y)]
    if not len(y):
        return ""
    (x0, x1), (y0, y1) = (float(x.min()), float(x.max())), (float(y.min()), float(y.max()))
    left, top, wide, high = 46.0, 18.0, WIDTH - 54.0, HEIGHT - 36.0
    paths = []
    for k, line in enumerate(lines):
        every = max(1, len(line.x) // int(wide))
        u = left + wide * (line.x[::every] - x0) / ((x1 - x0) or 1.0)
        v = top + high * (1.0 - (np.nan_to_num(line.y[::every]) - y0) / ((y1 - y0) or 1.0))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(u, v, strict=True))
        title = f"<title>{html.escape(line.label)}</title>"
        paths.append(
            f'<polyline points="{points}" fill="none" stroke="{COLORS[k]}" stroke-width="1.2">{title}</polyline>'
        )
    low, bottom, right = top + high, HEIGHT - 5, left + wide
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="9">'
        f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="white" stroke="#bbb"/>'
        f'{"".join(paths)}<g fill="#555"><text x="{left}" y="{top - 6}">{html.escape(panel.title)}, {html.escape(panel.y)}</text>'
        f'<text x="{left - 4}" y="{top + 8}" text-anchor="end">{y1:.3g}</text>'
        f'<text x="{left - 4}" y="{low}" text-anchor="end">{y0:.3g}</text>'
        f'<text x="{left}" y="{bottom}">{x0:g}</text>'
        f'<text x="{right}" y="{bottom}" text-anchor="end">{x1:g} s</text></g></svg>'
    )

"""`nexdyn info`: what a model consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.model import Model, read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying
from nexdyn.cli.progress import compilation_announced
from nexdyn.errors import counted

if TYPE_CHECKING:
    from rich.table import Table

    from nexdyn.model.between_bodies import BetweenBodies
    from nexdyn.model.system import System
    from nexdyn.tree.tree import Tree

NAME = "info"
EXAMPLES = """\
Examples:
  nexdyn info hinge-chain                     bodies, joints, masses
  nexdyn info robot.urdf --base free          a robot whose base floats
  nexdyn info scene.yaml --set L=0.3          with another parameter
  nexdyn info run.nc                          the system that a result holds
  nexdyn info robot.urdf --json | jq .mass    for a program"""
GAP = 2
"""Spaces between two columns."""


def command(
    name: Annotated[str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc).")],
    /,
    *,
    reading: Reading = READING_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Show the bodies, joints, coordinates and masses of a model."""
    from nexdyn.simulation.needs import needs_rows
    from nexdyn.tree.loops.closed import ClosedTree
    from nexdyn.tree.tree import Tree

    model = read(name, reading)
    system = model.system
    with compilation_announced():
        closed = ClosedTree(system) if needs_rows(system) else None
        data = describe(model, closed.tree if closed else Tree(system))
    if closed:
        data["cut"], data["constraint_equations"] = closed.cut_joints, len(closed.rows)
    if saying.json:
        terminal.say_json(data)
    else:
        _print(data)


def describe(model: Model, tree: Tree) -> dict[str, Any]:
    """What a model consists of, as data in SI units; q, v: where a joint's coordinates stand in those of the tree."""
    system = model.system
    bodies, total = [], 0.0
    for body in system.bodies.values():
        resolved = body.resolved(system.values)
        total += resolved.mass
        bodies.append({"name": body.name, "mass": resolved.mass, "com": resolved.com, "inertia": resolved.inertia,
                       "position": resolved.p, "shapes": len(body.shapes)})  # fmt: skip
    data: dict[str, Any] = {
        "name": system.name, "description": model.description, "mass": total, "gravity": system.gravity,
        "nq": tree.nq, "nv": tree.nv, "bodies": bodies, "joints": _joints(tree),
        "couplings": [{"name": c.name, "kind": c.kind} for c in system.couplings.values()],
        "forces": [{"name": f.name, "kind": f.kind} for f in system.forces.values() if f.part_of is None],
        "contacts": [_contact(system, name) for name in system.contacts],
        "gravities": [_gravity(system, name) for name in system.gravities],
        "measures": [{"name": m.name, "kind": m.kind} for m in system.measures.values()],
        "parameters": system.values,
        "simulation": {key: repr(x) if key == "method" else x for key, x in model.simulation.items()},
    }  # fmt: skip
    if model.result:
        recording = model.result.recording
        data["result"] = {
            "t_start": float(recording.t[0]), "t_end": float(recording.t[-1]), "samples": len(recording.t),
            "steps": recording.steps, "method": recording.method, "status": recording.status,
        }  # fmt: skip
    return data


def _joints(tree: Tree) -> list[dict[str, Any]]:
    """All joints as described, and the free ones of bodies that no joint carries."""
    system, found = tree.system, []
    leaders = tree.coupling.leaders if tree.coupling else {}
    for joint in system.joints.values():
        resolved = joint.resolved(system.values)
        place = tree.coordinates.get(joint.name)
        found.append({
            "name": joint.name, "kind": f"{joint.kind} (off)" if joint.is_off else joint.kind,
            "parent": joint.parent.name, "child": joint.child.name,
            "q": [place.q.start, place.q.stop] if place else None,
            "v": [place.v.start, place.v.stop] if place else None,
            "limits": [list(pair) for pair in zip(resolved.lower, resolved.upper, strict=True)],
            "mimics": resolved.mimic.joint if resolved.mimic else leaders.get(joint.name),
        })  # fmt: skip
    for name, place in tree.coordinates.items():
        if name not in system.joints:
            found.append({
                "name": name, "kind": "free", "parent": "ground", "child": tree.carried_body(name).name, "q": [place.q.start, place.q.stop],
                "v": [place.v.start, place.v.stop], "limits": [], "mimics": None,
            })  # fmt: skip
    return found


# --- as text --------------------------------------------------------------------------------------------------------


def _print(data: dict[str, Any]) -> None:
    terminal.say(data["name"] + (f": {data['description']}" if data["description"] else ""))
    terminal.say(
        f"{counted(len(data['bodies']), 'body')}, {counted(len(data['joints']), 'joint')}, nq = {data['nq']}, nv = {data['nv']}; "
        f"mass {data['mass']:.6g} kg, gravity {_numbers(data['gravity'])} m/s²"
    )
    if "cut" in data:
        cut = f"joints cut open: {', '.join(data['cut'])}; " if data["cut"] else ""
        terminal.say(f"nq and nv are of a spanning tree; {cut}{data['constraint_equations']} constraint equations")
    for heads, rows in (_bodies_table(data["bodies"]), _joints_table(data["joints"])):
        if rows:
            terminal.say()
            terminal.say(table(heads, rows, terminal.columns() or terminal.WIDE))
    terminal.say()
    for what in ("couplings", "forces", "measures"):
        if data[what]:
            terminal.say(f"{what}: " + ", ".join(f"{item['name']} ({item['kind']})" for item in data[what]))
    for contact in data["contacts"]:
        pairs = ", ".join(f"{a} and {b}" for a, b in contact["pairs"])
        stiffness, friction = (
            " to ".join(f"{x:.6g}" for x in contact.get(key, ())) for key in ("stiffness", "friction")
        )
        pressing = f"k = {stiffness} {contact['unit']}" if stiffness else "a normal force of your own"
        terminal.say(
            f"contact {contact['name']}: {counted(contact['points'], contact['of'])}, {pairs}; "
            f"{pressing}, μ = {friction}{contact['more']}"
        )
    for gravity in data["gravities"]:
        pulled = ", ".join(gravity["bodies"][:8]) + (", …" if len(gravity["bodies"]) > 8 else "")
        terminal.say(
            f"gravity {gravity['name']} ({gravity['kind']}) on {pulled}"
            if pulled
            else f"gravity {gravity['name']} on no body"
        )
    for what in ("parameters", "simulation", "result"):
        if data.get(what):
            terminal.say(f"{what}: " + ", ".join(f"{key} = {_shown(x)}" for key, x in data[what].items()))


def _contact(system: System, name: str) -> dict[str, Any]:
    """A contact: its pairs of bodies, how many points may touch, and the least and greatest stiffness and friction of these."""
    from nexdyn.forces.foundations import Foundations
    from nexdyn.results.contacts import contacts_of

    made = [force for force in contacts_of(system) if force.part_of == name]
    pairs = {tuple(frame.body for frame in force.frames(system)): None for force in made}
    laws = [force.law(system.values) for force in made]
    return {
        "name": name, "pairs": [list(pair) for pair in pairs], "points": sum(force.points for force in made),
        **_pressing(made, laws, [k for force in made for k in force.stiffnesses(system.values)]),
        "friction": _extremes([law.friction for law in laws]), "unit": made[0].stiffness_unit(system.values),
        "of": "area" if isinstance(made[0], Foundations) and made[0].over_area else "point",
        "more": _further(system, system.contacts[name], laws),
    }  # fmt: skip


def _gravity(system: System, name: str) -> dict[str, Any]:
    """Gravity on many bodies: what it is of, and the bodies."""
    made = system.forces_of(name)
    return {
        "name": name,
        "kind": made[0].kind if made else "",
        "bodies": [force.frames(system)[0].body for force in made],
    }


def _pressing(made: list[Any], laws: list[Any], stiff: list[float]) -> dict[str, Any]:
    """Exponent and stiffness; of a normal force of the user's that it is one."""
    if made[0].normal_force is not None:
        return {"normal_force": True}
    return {"exponent": laws[0].exponent, "stiffness": _extremes(stiff)}


def _further(system: System, contact: BetweenBodies, laws: list[Any]) -> str:
    """What else its law says, in words; functions of time at t = 0."""
    from nexdyn.forces.contact_group import Contact
    from nexdyn.forces.contact_law import is_of_time

    assert isinstance(contact, Contact)
    values, found, given = system.values, "", contact.__dict__
    if given["friction_across"] is not None:
        side = "a" if given["friction_direction_a"] is not None else "b"
        found += f" along the direction {_numbers(given[f'friction_direction_{side}'])} of {side}"
        found += f", {contact.number_of('friction_across', values):.6g} across"
    if any(law.static_friction != law.friction for law in laws):
        found += f", {_between([law.static_friction for law in laws])} until it slides"
    if any(law.friction or law.static_friction for law in laws):
        if contact.friction_speed is not None:
            found += f", regularised below {_between([law.friction_speed for law in laws])} m/s"
        else:
            found += f", sticks with {_between([law.friction_stiffness for law in laws])} of the stiffness"
    if any(law.damping for law in laws):
        found += f"; damping {_between([law.damping for law in laws])} s/m"
    for what in ("rolling", "turning"):
        if (arm := contact.number_of(f"{what}_resistance", values)) != 0.0:
            found += f"; against {what} {arm:.6g} m"
    for side in "ab":
        if any(is_of_time(x) for x in given[f"surface_velocity_{side}"]) or any(
            contact.floats_of(f"surface_velocity_{side}", 3, values)
        ):
            found += f"; the surface of {side} runs"
    if contact.varies:
        found += "; at t = 0 of functions of time"
    return found


def _between(numbers: list[float]) -> str:
    return " to ".join(f"{x:.4g}" for x in _extremes(numbers))


def _extremes(numbers: list[float]) -> list[float]:
    return sorted({min(numbers), max(numbers)})


def _bodies_table(bodies: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    import numpy as np

    rows = []
    for body in bodies:
        principal = _numbers(np.linalg.eigvalsh(body["inertia"]))
        rows.append([body["name"], f"{body['mass']:.6g}", _numbers(body["com"]), principal, str(body["shapes"])])
    return ["body", "mass [kg]>", "centre of mass [m]", "principal inertia [kg m²]", "shapes>"], rows


def _joints_table(joints: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    rows = []
    for joint in joints:
        limits = " ".join(_numbers(pair) for pair in joint["limits"] if any(abs(x) < float("inf") for x in pair))
        q = _range(joint["q"]) if joint["q"] else f"as {joint['mimics']}" if joint["mimics"] else ""
        rows.append([joint["name"], joint["kind"], f"{joint['parent']} → {joint['child']}", q, limits])
    return ["joint", "kind", "parent → child", "q", "limits"], rows


def table(heads: list[str], rows: list[list[str]], width: int) -> Table | str:
    """A table at most `width` wide whose words stay whole; where they do not fit side by side, a block of lines for each row.

    Heads that end in ">" are those of numbers."""
    from rich.table import Table

    titles = [head.removesuffix(">") for head in heads]
    columns = list(zip(titles, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    longest = [max(len(word) for cell in column for word in cell.split(" ")) for column in columns]
    room = width - GAP * (len(heads) - 1)
    if sum(longest) > room:
        lines = []
        for row in rows:
            lines += [row[0], *(f"  {title}  {cell}" for title, cell in zip(titles[1:], row[1:], strict=True) if cell)]
        return "\n".join(lines)
    while sum(widths) > room:  # the widest of those that can still give
        widest = max((k for k, w in enumerate(widths) if w > longest[k]), key=widths.__getitem__)
        widths[widest] -= 1
    drawn = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for head, title, w in zip(heads, titles, widths, strict=True):
        drawn.add_column(title, justify="right" if head.endswith(">") else "left", width=w)
    for row in rows:
        drawn.add_row(*row)
    return drawn


def _numbers(x: Any) -> str:
    return f"({', '.join(f'{value + 0.0:.5g}' for value in x)})"


def _range(place: list[int]) -> str:
    first, stop = place
    return str(first) if stop == first + 1 else f"{first} … {stop - 1}"


def _shown(x: Any) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)

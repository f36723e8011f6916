"""The part of the model's tree below its bodies and joints: forces, contacts, drivers, couplings and markers, and what each acts on.

An item selects the joint or body that it acts on first.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nexdyn.model.system import System
    from nexdyn.view.words import Words

MOST = 200
"""Items of a kind; how many more there are is told."""


class Part(NamedTuple):
    """An element: what it is called, its kind, and the joints and bodies that it acts on, as the page selects them."""

    name: str
    kind: str
    on: list[str]


def parts(system: System, words: Words) -> str:
    """Items of an HTML tree, a group for each kind of which the system has any."""
    return "".join(_group(words(label), found, words) for label, found in _found(system) if found)


def _found(system: System) -> list[tuple[str, list[Part]]]:
    own = [force for force in system.forces.values() if force.part_of is None]

    def acts_on(force: Any) -> list[str]:
        return [*_joints(force.joints()), *_bodies([frame.body for frame in force.frames(system)] or force.bodies())]

    return [
        ("Forces", [Part(f.name, f.kind, acts_on(f)) for f in own]),
        ("Contacts", [Part(name, "", []) for name in system.contacts]),
        ("Gravity", [Part(name, "", []) for name in system.gravities]),
        ("Drivers", [Part(d.name, d.kind, _driven(system, d)) for d in system.drivers.values()]),
        ("Couplings", [Part(c.name, c.kind, _joints(c.joints())) for c in system.couplings.values()]),
        (
            "Markers",
            [Part(m.name, "", _bodies([system.frame(f"marker:{m.name}")[0].name])) for m in system.markers.values()],
        ),
    ]


def _joints(names: Iterable[str]) -> list[str]:
    return [f"joint:{name}" for name in names]


def _bodies(names: Iterable[str]) -> list[str]:
    return [f"body:{name}" for name in dict.fromkeys(names) if name != "ground"]


def _driven(system: System, driver: Any) -> list[str]:
    """The joint, or the body whose point or frame is driven."""
    if (joint := driver.__dict__.get("joint")) is not None:
        return _joints([joint])
    frame = driver.__dict__.get("point", driver.__dict__.get("frame"))
    return [] if frame is None else _bodies([system.frame(frame)[0].name])


def _group(label: str, found: list[Part], words: Words) -> str:
    items = [_item(part, words) for part in found[:MOST]]
    if len(found) > MOST:
        items.append(
            f'<li role="none" class="nexdyn-more">{html.escape(words("and {} more").format(len(found) - MOST))}</li>'
        )
    head = f'<span role="treeitem" tabindex="-1" aria-selected="false" aria-level="1" class="nexdyn-part">{html.escape(label)}</span>'
    return f'<li role="none">{head}<ul role="group">{"".join(items)}</ul></li>'


def _item(part: Part, words: Words) -> str:
    kind = f" ({words(part.kind.replace('_', ' '))})" if part.kind else ""
    on = ", ".join(key.partition(":")[2] for key in part.on)
    key = f' data-nexdyn="{html.escape(part.on[0], quote=True)}"' if part.on else ""
    return (
        f'<li role="none"><span role="treeitem" tabindex="-1" aria-selected="false" aria-level="2" class="nexdyn-part"{key}>'
        f"{html.escape(part.name + kind + (f' → {on}' if on else ''))}</span></li>"
    )

"""The ledger of the matrix: what `scripts/matrix --write` found, cell by cell, and the page of the docs that it makes.

The ledger holds the cells that do not hold: element, carrier, way, attributes, what became of them and why. All other cells hold. A cell
that holds may not become a refusal: `matrix_refused.txt` says which are refused, and no program writes that. The ledger also holds how
many cells of each element, way and carrier were run, so that a new one is not taken to hold.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

from matrix_cells import HOLDS, REFUSED, SILENT, UNSEEN, cells
from matrix_elements import ELEMENTS
from matrix_observed import FIRST, KEPT
from matrix_ways import WAYS

ROOT = Path(__file__).resolve().parents[1]
LEDGER, PAGE = ROOT / "tests" / "matrix_ledger.json", ROOT / "docs" / "matrix.md"
PINNED = ROOT / "tests" / "matrix_refused.txt"
"""The cells that may be refused. Nothing writes it: a cell that computes may not become a refusal."""


class Entry(NamedTuple):
    """Cells of one element, carrier and way that do not hold, for one reason."""

    element: str
    carrier: str
    way: str
    attributes: tuple[str, ...]
    kind: str
    why: str


Cell = tuple[str, str, str, str]
"""Element, carrier, attribute, way."""


def entries_of(found: Iterable[tuple[Cell, str, str]]) -> list[Entry]:
    """The entries of cells with what became of them and why."""
    together: dict[tuple[str, str, str, str, str], list[str]] = {}
    for (element, carrier, attribute, way), kind, why in found:
        if kind != HOLDS:
            together.setdefault((element, carrier, way, kind, why), []).append(attribute)
    return [Entry(e, c, w, tuple(names), kind, why) for (e, c, w, kind, why), names in together.items()]


class Ledger(NamedTuple):
    """How many cells of each element, way and carrier were run, and the entries."""

    ran: dict[str, dict[str, dict[str, int]]]
    entries: list[Entry]


def numbers() -> dict[str, dict[str, dict[str, int]]]:
    """How many cells each element has under each way, by carrier."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for element, carrier, _, way in cells():
        of_way = found.setdefault(element, {}).setdefault(way, {})
        of_way[carrier] = of_way.get(carrier, 0) + 1
    return found


def missing() -> list[tuple[str, str, str]]:
    """Elements, ways and carriers of which the ledger has not as many cells as there are."""
    ran = read().ran
    return [
        (element, way, carrier)
        for element, of_element in numbers().items()
        for way, of_way in of_element.items()
        for carrier, n in of_way.items()
        if ran.get(element, {}).get(way, {}).get(carrier) != n
    ]


def write(found: Iterable[tuple[Cell, str, str]]) -> None:
    """The ledger and the page: elements, ways and carriers as found, all their cells together, and all others as they stand."""
    told = {cell: (kind, why) for cell, kind, why in found}
    anew = {(element, way, carrier) for element, carrier, _, way in told}
    ledger = read()
    for entry in ledger.entries:
        if (entry.element, entry.way, entry.carrier) not in anew:
            for attribute in entry.attributes:
                told[entry.element, entry.carrier, attribute, entry.way] = (entry.kind, entry.why)
    known = list(cells())
    before = ledger.ran
    ran = {
        element: {
            way: {
                carrier: n if (element, way, carrier) in anew else before.get(element, {}).get(way, {}).get(carrier, 0)
                for carrier, n in carriers.items()
            }
            for way, carriers in ways.items()
        }
        for element, ways in numbers().items()
    }
    places = [list(ELEMENTS), ["open", "rod", "ring"], list(WAYS)]
    entries = sorted(
        entries_of((cell, *told[cell]) for cell in known if cell in told),
        key=lambda entry: tuple(map(list.index, places, (entry.element, entry.carrier, entry.way))),
    )
    runs = ",\n".join(f"{json.dumps(element)}: {json.dumps(ways)}" for element, ways in ran.items())
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    LEDGER.write_text(f'{{"ran": {{\n{runs}\n}}, "do not hold": [\n{lines}\n]}}\n', encoding="utf-8")
    PAGE.write_text(page(entries), encoding="utf-8")


def read() -> Ledger:
    """The ledger as it stands."""
    found = json.loads(LEDGER.read_text(encoding="utf-8"))
    return Ledger(
        found["ran"],
        [
            Entry(element, carrier, way, tuple(attributes), kind, why)
            for element, carrier, way, attributes, kind, why in found["do not hold"]
        ],
    )


def refused_cells(entries: Iterable[Entry]) -> set[Cell]:
    """The cells that are refused."""
    return {(e.element, e.carrier, name, e.way) for e in entries if e.kind == REFUSED for name in e.attributes}


def pinned_cells() -> set[Cell]:
    """The cells that may be."""
    found: list[Cell] = []
    for line in PINNED.read_text(encoding="utf-8").splitlines()[1:]:
        element, *lists = line.split(" | ")
        attributes, carriers, ways = (part.split(", ") for part in lists)
        found += [(element, c, a, w) for c in carriers for a in attributes for w in ways]
    assert len(set(found)) == len(found), "a cell twice"
    return set(found)


def acting(entries: Iterable[Entry]) -> dict[tuple[str, str, str], bool]:
    """Of each element, attribute and way whether the attribute acts on some carrier, or is refused there by name."""
    unseen = {(e.element, e.carrier, name, e.way) for e in entries if e.kind == UNSEEN for name in e.attributes}
    found: dict[tuple[str, str, str], bool] = {}
    for element, carrier, attribute, way in cells():
        key = element, attribute, way
        found[key] = found.get(key, False) or (element, carrier, attribute, way) not in unseen
    return found


def counted(entries: Iterable[Entry]) -> Counter[str]:
    """How many cells are of each kind."""
    kinds: Counter[str] = Counter()
    for entry in entries:
        kinds[entry.kind] += len(entry.attributes)
    kinds[HOLDS] = sum(1 for _ in cells()) - sum(kinds.values())
    return kinds


def page(entries: list[Entry]) -> str:
    """The page of the docs: a table of elements and ways, and why cells are refused."""
    told: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry.kind != UNSEEN:
            told.setdefault((entry.element, entry.way), []).append(entry)
    total: Counter[tuple[str, str]] = Counter((element, way) for element, _, _, way in cells())
    reasons: dict[str, int] = {}
    blanks: dict[str, str] = {}
    rows = []
    for element in ELEMENTS:
        marks = []
        for way in WAYS:
            if why := WAYS[way].left_out(element, ELEMENTS[element].carriers):
                marks.append(blanks.setdefault(why, ascii_lowercase[len(blanks)]))
                continue
            found = told.get((element, way), [])
            here = sorted({reasons.setdefault(_reason(entry), len(reasons) + 1) for entry in found})
            refused = sum(len(entry.attributes) for entry in found)
            mark = "yes" if not refused else "no" if refused == total[element, way] else "partly"
            marks.append(f"{mark} {', '.join(map(str, here))}".strip())
        rows.append(f"| {element} | {' | '.join(marks)} |")
    counts = counted(entries)
    missed = sum(n for kind, n in counts.items() if kind not in (HOLDS, REFUSED, UNSEEN))
    head = f"| element | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}"
    why = "\n".join(f"{n}. {reason}" for reason, n in reasons.items())
    left = "\n".join(f"- *{letter}*: {reason}." for reason, letter in blanks.items())
    return f"""# Who supports what

Every attribute on which a motion depends, of every element, was changed by itself under every way to compute: on a tree, and where the
element can stand there on a loop that a constraint closes and on a loop of joints. What was left out has a letter, or stands in
{{doc}}`limits`. In {counts[HOLDS]} cells the motion changed as in a reference run, or an analysis of the changed system says what runs of
it bear out; in {counts[REFUSED]} the system was refused by name; and in {missed} the change was missed. In {counts[UNSEEN]} more the
motion of that mechanism depends on the attribute in no way, by the reference run; each acts, or is refused, on another mechanism under the
same way, but the kind of angles of a bushing, for which a rod lets it turn too little.
*yes*: each attribute acts. *partly*, *no*: some or all are refused or less accurate, or on some mechanisms, for the reasons below.
`scripts/matrix` repeats it, and `scripts/matrix --write` writes this page.

Compared at the start and at the end: {", ".join(KEPT)}. Efforts are those of drivers and couplings, actuators the forces in
joints; forces, with moments and the energies that they store, are those of all force elements. The change of each must be that of the
reference to the tolerance of the way, twice that for powers and energies. Not compared:

{untold()}

{head}
{chr(10).join(rows)}

{left}

{why}
"""


def untold() -> str:
    """A line for each way and each reason why it does not tell some groups."""
    lines = []
    for way in WAYS.values():
        reasons: dict[str, list[str]] = {}
        for group, why in way.untold.items():
            reasons.setdefault(why, []).append(group)
        for why, groups in reasons.items():
            left = set(groups)
            said = []
            for first, place in (("", "the end"), (FIRST, "the start")):
                here = [group for group in KEPT if first + group in left]
                said += [f"{'all groups' if len(here) == len(KEPT) else ', '.join(here)} at {place}"] if here else []
            lines.append(f"- *{way.name}*, {', and '.join(said)}: {why}.")
    return "\n".join(lines)


def _reason(entry: Entry) -> str:
    if entry.kind != SILENT:
        return entry.why
    if WAYS[entry.way].law is not None:
        return "what the analysis says is not what runs bear out; see {doc}`limits`"
    return (
        "it acts, but the change misses that of the reference by more than this way is asked to keep; see {doc}`limits`"
    )

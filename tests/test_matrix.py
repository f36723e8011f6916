"""Everything against everything: each attribute of each element under each way to compute changes what it must, or is refused by name.

Here: the matrix is complete (no kind, method or attribute without cells or a reason), and on a tree the cells of forces hold under
one way of each formulation, those of all else under three and one analysis; half of the elements in a run, in turn. Of all ways and
carriers each run has a sample. `scripts/matrix` runs all cells. Whoever adds a joint, a force, a coupling, a driver, a measure or an
attribute adds it in `matrix_elements.py` or `matrix_described.py`; whoever adds a method adds a way in `matrix_ways.py`.
"""

from __future__ import annotations

import dataclasses
import inspect
import random
import re
import warnings

import matrix_cells
import pytest
from matrix_cells import HOLDS, NAMED, REFUSED, SEEN, UNSEEN, cells, reference_change, verdict
from matrix_elements import ELEMENTS, Element
from matrix_ledger import PAGE, PINNED, acting, counted, missing, page, pinned_cells, read, refused_cells
from matrix_observed import GROUPS, KEPT
from matrix_ways import WAYS
from turns import TURN, in_turns

import nexdyn as nx
from nexdyn.forces import FORCES
from nexdyn.integrate.methods import LINEAR_SOLVERS, METHODS, STABILISATIONS
from nexdyn.joints import JOINTS
from nexdyn.model.coupling import COUPLINGS
from nexdyn.model.driver import DRIVERS
from nexdyn.model.measure import MEASURES

pytestmark = pytest.mark.timeout(1200)

TABLES = {"joint": JOINTS, "force": FORCES, "coupling": COUPLINGS, "driver": DRIVERS, "measure": MEASURES}
HOLDERS = {kind: f"{kind}s" for kind in TABLES}
SYSTEM, PARAMETER = ("name",), ("name",)
"""Arguments of a system and of a parameter that say what it is called."""
CHOICES = {
    ("simulate", "dynamics"): {"aba": "rk4", "crba": "rk4 crba", "cfa": "rk4 cfa"},
    ("HHT", "solver"): {"blocks": "hht dt", "lu": "hht dt lu", "iterative": "hht dt iterative"},
    ("Loops", "stabilise"): {"projection": "rk4", "baumgarte": "rk4 baumgarte"},
    ("ImplicitEuler", "bdf2"): {False: "implicit-euler", True: "bdf2"},
    **{(name, "dt"): {0.1: f"{way} dt", None: way} for name, way in {
        "HHT": "hht", "Baumgarte": "baumgarte", "Projection": "projection", "Partitioning": "partitioning",
    }.items()},
    ("Loops", "cut"): {"tested": "rk4 cut tested", None: "rk4"},
}  # fmt: skip
"""Options of runs, methods and loops that choose another computation: each value is a way."""
SIZES = {
    **dict.fromkeys(
        ("rtol", "atol", "dt_max", "dt_min"), "how exact a run is: test_orders.py and test_hht_tolerance.py"
    ),
    **dict.fromkeys(("alpha", "beta"), "how much is damped: test_hht.py, test_index1.py and test_loops_simulate.py"),
    **dict.fromkeys(("mu", "updates"), "how a step's minimum is sought, not which: test_potential.py"),
    "pair": "coefficients of the steps; the loop is the same: test_pairs.py",
}
"""Other options, with the reason why they have no ways."""
OF_RUNS = {
    **dict.fromkeys(("system", "t_end", "method"), "what is run, and how"),
    **dict.fromkeys(("output_every", "output_times", "peaks", "progress", "store"), "what is recorded or told"),
    **dict.fromkeys(("initial", "q0", "v0"), "where a run starts: ways of restarts, and cells of q0 and v0"),
    **dict.fromkeys(("batch", "threads"), "ways of lanes"),
    "on_gap": "whether what is told about a start refuses it: test_start_notices.py",
    "error_estimate": "a second run beside it: test_error_estimate.py",
}
"""Options of `simulate` that choose no other computation, with the reason."""
NO_ANALYSIS = {
    **dict.fromkeys(
        ("load", "open_result", "record", "save_scene", "save_still", "save_urdf", "save_video", "demos"),
        "reads, writes or shows; scenes and files are the ways 'scene' and 'restart'",
    ),
    **dict.fromkeys(
        ("add_rotor", "convex_parts", "hertz", "hertz_line", "mass_properties", "materials", "register"),
        "makes what is described, before there is a system",
    ),
    "simulate": "its methods are ways",
    **dict.fromkeys(("compare", "verify", "verify_against"), "puts runs of methods, which are ways, beside each other"),
    "agreement": "compares runs of methods, which are ways",
    "sweep": "many runs of a method, each of which is a way",
    "calibrate": "runs with the derivatives of the way 'sensitivity', or with differences of runs",
    "stability": "eigenvalues of the way 'linearize' over a parameter",
    "inverse_kinematics": "solves the constraints of the way 'assemble' for a target that is no attribute",
    **dict.fromkeys(("clearance", "distance", "interferences"), "of shapes in a pose, on which no motion depends"),
    "integrable": "a yes or no about constraints, at one pose",
}
"""Functions of the package that are no ways, with the reason. All others are."""
ONE_OF_EACH = ("rk4", "hht dt", "projection", "implicit-euler", "assemble")
"""A way of each formulation."""
SOME = ("rk4", "hht dt", "implicit-euler", "equilibrium")
"""For elements other than forces, of which there are more than CI has minutes for."""


def described(element: Element) -> object:
    """The element itself in its system."""
    system = element.system(element.carriers[0])
    kind = element.name.split()[0]
    if kind in TABLES:
        return getattr(system, HOLDERS[kind])[NAMED[kind]]
    if kind == "body":
        return system.bodies["carried" if "carried" in system.bodies else "hand"]
    if kind == "mimic":
        return system.joints["tested"].mimic
    if kind == "gravity":
        return system.gravities[NAMED[kind]]
    return getattr(system, f"{kind}s")[NAMED[kind]]


def test_every_kind_of_the_package_is_an_element_of_the_matrix() -> None:
    for table, kinds in TABLES.items():
        missing = [kind for kind in kinds if f"{table} {kind}" not in ELEMENTS]
        assert not missing, f"{table}s without cells in tests/matrix_elements.py: {missing}"


def test_pages_of_ones_own_that_are_forces_are_elements_of_the_matrix() -> None:
    for base in (nx.ForcePage, nx.EffortPage):
        assert any(issubclass(element.cls, base) for element in ELEMENTS.values()), base


def test_whatever_a_system_takes_is_an_element_of_the_matrix() -> None:
    """A new family of elements has an `add_…` of its own."""
    families = {name.removeprefix("add_") for name in vars(nx.System) if name.startswith("add_")} | {"parameter"}
    assert {"body", "joint", "gravity"} <= families
    assert families | {"system", "mimic"} == {name.split()[0] for name in ELEMENTS}


def test_every_option_of_runs_methods_and_loops_is_a_way_or_has_a_reason() -> None:
    given = inspect.signature(nx.simulate).parameters
    chosen = {option for owner, option in CHOICES if owner == "simulate"}
    assert set(given) - chosen - {"loops"} == set(OF_RUNS) and all(OF_RUNS.values())
    choices = re.fullmatch(r"Literal\[(.*)\]", str(given["dynamics"].annotation))
    assert choices and set(re.findall(r"\w+", choices[1])) == set(CHOICES["simulate", "dynamics"])
    assert set(LINEAR_SOLVERS) == set(CHOICES["HHT", "solver"]) and set(STABILISATIONS) == set(
        CHOICES["Loops", "stabilise"]
    )
    for cls in (nx.Loops, *METHODS.values()):
        for option in (field.name for field in dataclasses.fields(cls)):
            always = (option == "dt" and cls.coordinates == "tree") or (cls, option) == (nx.ImplicitEuler, "dt")
            assert always or (cls.__name__, option) in CHOICES or SIZES[option], f"{option} of {cls.__name__}"
    assert {way for ways in CHOICES.values() for way in ways.values()} <= set(WAYS)


def test_every_method_is_a_way_of_the_matrix() -> None:
    first_words = {way.split()[0] for way in WAYS}
    missing = [name for name in METHODS if {"dopri5": "dormand-prince"}.get(name, name) not in first_words]
    assert not missing, f"methods without a way in tests/matrix_ways.py: {missing}"


def test_every_function_of_the_package_that_computes_is_a_way_of_the_matrix() -> None:
    functions = {name for name in nx.__all__ if inspect.isfunction(getattr(nx, name))}
    assert set(NO_ANALYSIS) <= functions and all(NO_ANALYSIS.values())
    computing = {name.replace("_", " ") for name in functions - set(NO_ANALYSIS)}
    law_of = {way.name: way.name.removesuffix(" modes") for way in WAYS.values() if way.motion is None}
    assert computing == set(law_of.values()) | {"assemble"} and "assemble" in WAYS, "see tests/matrix_ways.py"


def test_every_group_of_what_is_compared_has_a_reason_for_its_tolerance_and_for_where_it_is_not() -> None:
    assert all(group.times >= 1.0 and group.why and group.seen <= 1e-2 for group in KEPT.values())
    for way in WAYS.values():
        assert set(way.untold) <= set(GROUPS) and all(way.untold.values()), way.name
    assert not any(way.untold for way in WAYS.values() if way.motion is not None and way.name != "assemble")


@pytest.mark.parametrize("carrier", ["open", "rod", "ring"])
def test_all_reactions_of_the_mechanisms_are_unique(carrier: str) -> None:
    """So that they may be compared."""
    for element in (element for element in ELEMENTS.values() if carrier in element.carriers):
        report = nx.assemble(element.system(carrier))
        several = [joint for joint in report.model.system.joints if not report.reaction(joint).unique.all()]
        assert not several, (element.name, several)


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_attribute_has_cells_or_a_reason_why_no_motion_depends_on_it(name: str) -> None:
    element = ELEMENTS[name]
    if name in ("system", "parameter"):
        apart = SYSTEM if name == "system" else PARAMETER
        assert set(inspect.signature(element.cls).parameters) == set(element.changes) | set(apart)
        return
    attributes = {attribute for attribute in vars(described(element)) if not attribute.startswith("_")}
    if element.part_of:
        assert not ELEMENTS[element.part_of].part_of and set(element.changes) <= attributes
        return
    assert attributes == set(element.changes) | set(element.apart)
    assert not set(element.changes) & set(element.apart)
    assert all(element.apart.values())


def test_what_is_apart_because_another_element_has_it_is_in_that_element() -> None:
    sent = [
        (element, attribute, other)
        for element in ELEMENTS.values()
        for attribute, reason in element.apart.items()
        for other in re.findall("(?:is|in) the element '([^']*)'", reason)
    ]
    assert len(sent) > 10
    for element, attribute, other in sent:
        assert other in ELEMENTS and ELEMENTS[other].part_of in (element.name, ""), (element.name, attribute)
        assert attribute in ELEMENTS[other].changes or not ELEMENTS[other].part_of, (element.name, attribute)


def test_the_ledger_has_all_cells_and_none_is_silent() -> None:
    """After a new element, attribute or way: scripts/matrix --missing --write."""
    entries, known = read().entries, set(cells())
    assert not missing(), "elements, ways and carriers that were never run"
    here = [(e.element, e.carrier, attribute, e.way) for e in entries for attribute in e.attributes]
    assert len(set(here)) == len(here) and set(here) <= known
    assert set(counted(entries)) <= {HOLDS, UNSEEN, REFUSED}
    assert all(entry.why for entry in entries if entry.kind == REFUSED)


def test_exactly_the_pinned_cells_are_refused() -> None:
    """One cannot be swapped for another. A new element or way may bring refusals: by hand into tests/matrix_refused.txt."""
    here, may_be = refused_cells(read().entries), pinned_cells()
    assert not here - may_be, f"cells that are refused and were not: {sorted(here - may_be)}"
    assert not may_be - here, f"no longer refused, so that they may go from {PINNED.name}: {sorted(may_be - here)}"


def test_every_refusal_names_the_offender() -> None:
    """A part of the system by its name, the system, or the option that does not fit."""
    system = {
        name
        for e in ELEMENTS.values()
        for holder in (*HOLDERS.values(), "bodies", "events", "markers", "gravities")
        for name in getattr(e.system(e.carriers[0]), holder)
    }
    offenders = re.compile(
        "|".join(f"'{re.escape(name)}(?: [^']+)?'" for name in [*sorted(system), "matrix"])
        + r"|dynamics is '\w+'|rate of tested\.rate"
    )
    refused = {entry.why for entry in read().entries if entry.kind == REFUSED}
    assert len(refused) > 30
    assert not [why for why in refused if not offenders.search(why)]


TOO_LITTLE = {
    (
        "force bushing",
        "angles",
        way,
    ): "it turns too little on the only carrier of these ways, a rod, for kinds of angles to differ"
    for way in ("dormand-prince baumgarte", "semi-implicit baumgarte", "hht dt lu", "hht dt iterative")
}


def test_every_attribute_acts_on_some_carrier_under_every_way_or_is_refused() -> None:
    """Or it stands in `apart`, with the reason, or in TOO_LITTLE."""
    nowhere = [key for key, acts in acting(read().entries).items() if acts == (key in TOO_LITTLE)]
    assert not nowhere, f"attributes that change nothing: {nowhere}"


MOST_REFUSED = 1520
"""Cells; it may only fall, but for elements, carriers and ways that are new."""


def test_no_more_cells_are_refused_than_were() -> None:
    assert len(pinned_cells()) <= MOST_REFUSED


PLACES = sorted({(element, way, carrier) for element, carrier, _, way in cells()})
SAMPLE = random.Random(TURN).sample(PLACES, 30)
"""Of this run: elements on carriers under ways."""


def test_what_the_ledger_calls_unseen_is_not_seen() -> None:
    """All of it: what compares motions may come to see more."""
    unseen = {
        (e.element, e.carrier, attribute) for e in read().entries if e.kind == UNSEEN for attribute in e.attributes
    }
    seen = {(key, change) for key in unseen if not (change := max(reference_change(*key).values())) < SEEN}
    assert not seen


@pytest.mark.parametrize(("element", "way", "carrier"), SAMPLE)
def test_a_sample_of_all_cells_is_as_the_ledger_has_it(element: str, way: str, carrier: str) -> None:
    known = {(e.element, e.carrier, attribute, e.way): e.kind for e in read().entries for attribute in e.attributes}
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attribute in ELEMENTS[element].changes:
            expected = known.get((element, carrier, attribute, way), HOLDS)
            if expected == UNSEEN:
                assert max(reference_change(element, carrier, attribute).values()) < SEEN, attribute
                continue
            found = verdict(element, carrier, attribute, way)
            if found.kind != expected:
                wrong.append(f"{attribute}: {found.kind}, not {expected}: {found.why}")
    matrix_cells.forget()
    assert not wrong, "\n".join(wrong)


def test_the_page_of_the_docs_is_that_of_the_ledger() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read().entries)


@pytest.mark.parametrize("name", in_turns(ELEMENTS))
def test_each_attribute_changes_every_formulation_as_it_changes_the_reference_or_is_refused(name: str) -> None:
    """On a tree; with an analysis. What the ledger says of other ways and carriers, scripts/matrix repeats."""
    ways = ONE_OF_EACH if name.startswith("force ") else SOME
    known = {(e.element, e.carrier, attribute, e.way): e.kind for e in read().entries for attribute in e.attributes}
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that plain Python functions are slow: other tests have it
        for attribute in ELEMENTS[name].changes:
            for way in (way for way in ways if WAYS[way].takes(name, "open")):
                expected = known.get((name, "open", attribute, way), HOLDS)
                if expected == UNSEEN:
                    continue
                if WAYS[way].motion is not None:
                    assert max(reference_change(name, "open", attribute).values()) > SEEN, attribute
                found = verdict(name, "open", attribute, way)
                if found.kind != expected:
                    wrong.append(f"{attribute} under {way}: {found.kind}, not {expected}: {found.why}")
    assert not wrong, "\n".join(wrong)
    matrix_cells.forget()


def test_what_has_no_cells_says_why() -> None:
    for way in WAYS.values():
        for name, element in ELEMENTS.items():
            assert bool(way.left_out(name, element.carriers)) != any(way.takes(name, c) for c in element.carriers)
        assert all(any(name.startswith(start) for name in ELEMENTS) for start in [*way.without, *way.alone]), way.name

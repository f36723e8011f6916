"""The pages of all forces, and what formulations make of them. Who adds a force adds its page here, and its class in `forces/__init__`."""

from __future__ import annotations

from nexdyn.by_kind import by_kind
from nexdyn.forces import (
    actuator,
    applied,
    bushing,
    contact,
    force_table,
    gravity,
    joint_force,
    joint_friction,
    joint_stop,
    point_spring,
    registered,
    surface_contact,
    torsion_spring,
    user,
)
from nexdyn.forces.page import (
    ALL_LANES,
    AT_REST,
    BETWEEN,
    CONSTANT,
    IN_FREEDOM,
    NO_LANES,
    SLOPES,
    Between,
    InFreedom,
    check_lanes,
)
from nexdyn.spatial.lanes import zero

PAGES: tuple[Between, ...] = (
    point_spring.PAGE, applied.PAGE, torsion_spring.PAGE, bushing.PAGE, bushing.PAGE_XYZ, gravity.POINT_PAGE, force_table.PAGE,
    contact.PAGE, surface_contact.PAGE, gravity.FIELD_PAGE, user.PAGE, registered.PAGE,
)  # fmt: skip
FREEDOM_PAGES: tuple[InFreedom, ...] = (
    joint_force.PAGE, actuator.PAGE, joint_friction.PAGE, joint_stop.PAGE, force_table.JOINT_PAGE, user.JOINT_PAGE, registered.JOINT_PAGE,
)  # fmt: skip
ALL: tuple[Between | InFreedom, ...] = (*PAGES, *FREEDOM_PAGES)
IN_LANES = frozenset(page.kind for page in ALL if page.lanes != NO_LANES)
"""Forces that explicit methods compute in lanes."""
IN_ALL_LANES = frozenset(page.kind for page in ALL if page.lanes == ALL_LANES)
"""Forces that HHT does, too."""

check_lanes(PAGES)
OF_NO_MOTION = tuple(page.kind for page in PAGES if page.slopes == CONSTANT)
"""Forces without slopes."""

NOTHING = ("return zero(x)",)
wrenches_of = by_kind("wrenches_of", "wrenches", BETWEEN, PAGES)
wrenches_in_all_lanes = by_kind(
    "wrenches_in_all_lanes", "wrenches", BETWEEN, [page for page in PAGES if page.kind in IN_ALL_LANES]
)
slopes_of = by_kind("slopes_of", "slopes", SLOPES, [page for page in PAGES if callable(page.slopes)], ("return False",))
effort_of = by_kind("effort_of", "effort", IN_FREEDOM, FREEDOM_PAGES)
effort_in_all_lanes = by_kind(
    "effort_in_all_lanes", "effort", IN_FREEDOM, [page for page in FREEDOM_PAGES if page.kind in IN_ALL_LANES]
)
energy_of = by_kind("energy_of", "energy", [x for x in BETWEEN if x not in AT_REST], PAGES, NOTHING, zero=zero)
energy_in_freedom = by_kind(
    "energy_in_freedom", "energy", [x for x in IN_FREEDOM if x not in AT_REST], FREEDOM_PAGES, NOTHING, zero=zero
)

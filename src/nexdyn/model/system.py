"""The description of a mechanism: bodies, joints, couplings, drivers, forces, markers and measures by name, and their parameters.

Everything is checked when it is added, and fixed from then on. `with_parameters` gives a changed system.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, UnknownNameError, counted, unknown
from nexdyn.model.between_bodies import BetweenBodies
from nexdyn.model.body import Body
from nexdyn.model.coupling import Coupling
from nexdyn.model.driver import Driver
from nexdyn.model.element import Element, checked_name, composed
from nexdyn.model.event import Event
from nexdyn.model.force import Force
from nexdyn.model.group import Group
from nexdyn.model.joint import Joint
from nexdyn.model.marker import Marker
from nexdyn.model.measure import Measure
from nexdyn.model.once import once, unchanged
from nexdyn.model.parameters import Parameter, floats, frozen, names_in, number
from nexdyn.shown import drawn

E = TypeVar("E", bound=Element)
J = TypeVar("J", bound=Joint)
F = TypeVar("F", bound=Force)
B = TypeVar("B", bound=BetweenBodies)
G = TypeVar("G", bound=Group)
M = TypeVar("M", bound=Measure)
D = TypeVar("D", bound=Driver)
C = TypeVar("C", bound=Coupling)
GROUPS = ("contact", "gravity")
"""Kinds of elements that consist of forces."""


class Named(dict[str, E]):
    """Elements of a kind by name; a name that none carries is an UnknownNameError."""

    def __init__(self, kind: str, elements: Mapping[str, E] | None = None) -> None:
        super().__init__(elements or {})
        self.kind = kind

    def __missing__(self, name: object) -> E:
        raise unknown(self.kind, name, self)


class System(metaclass=CheckedCalls):
    """A mechanism as described.

    name: any text. gravity: acceleration [m/s²] in the world, 3 numbers or expressions.
    """

    def __init__(self, name: str = "system", gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.name = checked_name(name, "system")
        self._gravity = frozen(gravity)
        self._elements: dict[str, dict[str, Any]] = {
            kind: Named(kind)
            for kind in (
                "body",
                "joint",
                "coupling",
                "marker",
                "measure",
                "contact",
                "gravity",
                "force",
                "driver",
                "event",
            )
        }
        self._bodies: dict[str, Body] = self._elements["body"]
        self._parameters: dict[str, Parameter] = {}
        self._values: dict[str, float] = {}
        self.ground = Body("ground")
        self.ground.belong_to(self.name)
        if not names_in(self._gravity):
            floats(self._gravity, 3, {}, "gravity")

    def __repr__(self) -> str:
        counts = (("body", self.bodies), ("joint", self.joints), ("force", self.forces))
        return f"System({self.name!r}: {', '.join(counted(len(found), kind) for kind, found in counts)})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        html: str = drawn("system", self)
        return html

    # --- what there is ------------------------------------------------------------------------------------------

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity in the world [m/s²], (3,); `given_gravity` is as it was given."""
        return np.array(floats(self._gravity, 3, self._values, "gravity"))

    @property
    def given_gravity(self) -> Any:
        """Gravity as given, expressions included."""
        return self._gravity

    @property
    def values(self) -> dict[str, float]:
        """The value of every parameter."""
        return once("values", lambda: dict(self._values), self)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Parameters by name."""
        return MappingProxyType(self._parameters)

    @property
    def elements(self) -> Mapping[str, Mapping[str, Any]]:
        """All that it holds, by kind and name: "body", "joint", "force", …"""
        return MappingProxyType(self._elements)

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies by name, in the order they were added; without ground."""
        return MappingProxyType(self._bodies)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Joints by name, in the order they were added."""
        return MappingProxyType(self._elements["joint"])

    @property
    def couplings(self) -> Mapping[str, Coupling]:
        """Couplings of joints by name, in the order they were added."""
        return MappingProxyType(self._elements["coupling"])

    @property
    def forces(self) -> Mapping[str, Force]:
        """Forces by name, in the order they were added; then those that contacts made, and those of `gravities`."""
        return MappingProxyType(self._elements["force"])

    @property
    def contacts(self) -> Mapping[str, BetweenBodies]:
        """Contacts of bodies by name, in the order they were added. A PlaneContact or SphereContact is one of the forces."""
        return MappingProxyType(self._elements["contact"])

    @property
    def gravities(self) -> Mapping[str, Group]:
        """Gravity on many bodies by name, in the order it was added. A PointGravity or GravityField is one of the forces."""
        return MappingProxyType(self._elements["gravity"])

    @property
    def markers(self) -> Mapping[str, Marker]:
        """Markers by name, in the order they were added."""
        return MappingProxyType(self._elements["marker"])

    @property
    def measures(self) -> Mapping[str, Measure]:
        """Measures by name, in the order they were added."""
        return MappingProxyType(self._elements["measure"])

    @property
    def drivers(self) -> Mapping[str, Driver]:
        """Drivers by name, in the order they were added."""
        return MappingProxyType(self._elements["driver"])

    @property
    def events(self) -> Mapping[str, Event]:
        """Events by name, in the order they were added."""
        return MappingProxyType(self._elements["event"])

    def body(self, name: str) -> Body:
        """The body called `name`; 'ground' is one. UnknownNameError with the nearest name otherwise."""
        if name == "ground":
            return self.ground
        return self._find("body", name)

    def joint(self, name: str) -> Joint:
        """The joint called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("joint", name)

    def coupling(self, name: str) -> Coupling:
        """The coupling called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("coupling", name)

    def force(self, name: str) -> Force:
        """The force called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("force", name)

    def contact(self, name: str) -> BetweenBodies:
        """The contact called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("contact", name)

    def forces_of(self, name: str) -> list[Force]:
        """The force called `name`, or all that the contact or gravity called so made. UnknownNameError with the nearest name otherwise."""
        if name in self._groups():
            return [force for force in self.forces.values() if force.part_of == name]
        if name not in self.forces:
            raise unknown("force or contact", name, [*self.forces, *self._groups()], plural="valid")
        return [self.force(name)]

    def switched(self, name: str) -> Sequence[Force | Joint]:
        """What events switch by a name: a force, all that a contact made, or a clamp. InputError for what none can switch."""
        joint = self.joints.get(name)
        if name in self._groups() or name in self.forces:
            if joint is not None and joint.switchable:
                raise InputError(f"{name!r} is a force or a contact, and a clamp; give one of them another name")
            return self.forces_of(name)
        if joint is None:
            clamps = [other.name for other in self.joints.values() if other.switchable]
            raise unknown("force, contact or clamp", name, [*self.forces, *self._groups(), *clamps], plural="valid")
        if not joint.switchable:
            raise InputError(f"{joint} ({joint.kind}) cannot be switched; a Clamp can")
        return [joint]

    def marker(self, name: str) -> Marker:
        """The marker called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("marker", name)

    def measure(self, name: str) -> Measure:
        """The measure called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("measure", name)

    def driver(self, name: str) -> Driver:
        """The driver called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("driver", name)

    def event(self, name: str) -> Event:
        """The event called `name`. UnknownNameError with the nearest name otherwise."""
        return self._find("event", name)

    def frame(self, reference: str) -> tuple[Body, np.ndarray, np.ndarray]:
        """The frame that a measure refers to: its body, R_BF (3, 3) and p_BF (3,) [m] in the body's frame.

        `reference`: a marker or a body ('ground' is one); "marker:NAME" or "body:NAME" where both carry the name.
        """
        kind, _, name = reference.partition(":")
        if kind not in ("marker", "body") or reference in self.markers or reference in self._bodies:
            kind, name = "", reference
        marker = None if kind == "body" else self.markers.get(name)
        body = None if kind == "marker" else self.ground if name == "ground" else self._bodies.get(name)
        if marker is not None and body is not None:
            raise InputError(f"{name!r} is a marker and a body; write 'marker:{name}' or 'body:{name}'")
        if marker is not None:
            return (marker.body, *marker.frame(self._values))
        if body is not None:
            return body, np.eye(3), np.zeros(3)
        valid = {"marker": [*self.markers], "body": [*self._bodies, "ground"]}
        raise unknown(
            kind or "marker or body", name, valid.get(kind) or valid["marker"] + valid["body"], plural="valid"
        )

    # --- what is added ------------------------------------------------------------------------------------------

    def parameter(self, name: str, value: Any) -> Parameter:
        """Add a named parameter; `value` is a number, or an expression of earlier parameters ("=2*L")."""
        parameter = Parameter(name, value)
        if parameter.name in self._parameters:
            raise InputError(f"a parameter {parameter.name!r} exists already; with_parameters changes its value")
        for used in sorted(names_in(parameter.value).difference(self._values)):
            raise UnknownNameError(f"parameter {parameter.name!r}: {unknown('parameter', used, self._values)}")
        self._values[parameter.name] = number(parameter.value, self._values, f"parameter {parameter.name!r}")
        self._parameters[parameter.name] = parameter
        return parameter

    def add_body(self, body: Body | str, **attributes: Any) -> Body:
        """Add a body: its name and the attributes of :class:`Body`, or a Body."""
        if isinstance(body, Body) and attributes:
            raise InputError(f"{body} comes with its attributes; give either a Body, or a name and attributes")
        new = body if isinstance(body, Body | type) else Body(body, **attributes)
        self._admit("body", new, Body)
        return self._keep("body", new)

    def add_joint(self, joint: J) -> J:
        """Add a joint; its bodies are in the system already."""
        self._admit("joint", joint, Joint)
        if joint.kind == Joint.kind:
            raise InputError(f"{joint} is of no kind; use Revolute, Prismatic, … from nexdyn.joints")
        joint.set_bodies(self._body_of(joint, joint.parent, "parent"), self._body_of(joint, joint.child, "child"))
        return self._keep("joint", joint)

    def add_coupling(self, coupling: C) -> C:
        """Add a coupling; its joints are in the system already."""
        self._admit("coupling", coupling, Coupling)
        coupling.check_in(self)
        return self._keep("coupling", coupling)

    def add_force(self, force: F) -> F:
        """Add a force; the bodies, joints and markers it acts on are in the system already."""
        self._admit("force", force, Force)
        for kind, names in (("body", force.bodies()), ("joint", force.joints()), ("marker", force.markers())):
            for name in names:
                self._named_in(force, kind, name)
        return self._keep("force", force)

    def add_contact(self, contact: B) -> B:
        """Add a contact. What its names and patterns match is chosen anew with every body, joint and marker that is added."""
        self._admit("contact", contact, BetweenBodies)
        return self._keep("contact", contact)

    def add_gravity(self, gravity: G) -> G:
        """Add gravity of a point mass, or as a function of the place, on many bodies. What its names and patterns match is chosen anew with
        every body that is added."""
        if isinstance(gravity, Force | BetweenBodies):
            raise InputError(f"{gravity!r} is no gravity; add_{gravity.kind_of_element} takes it")
        self._admit("gravity", gravity, Group)
        return self._keep("gravity", gravity)

    def add_marker(self, marker: Marker | str, body: Body | str | None = None, **attributes: Any) -> Marker:
        """Add a marker: its name, its body and the attributes of :class:`Marker`, or a Marker."""
        if not isinstance(marker, Marker | type):
            if body is None:
                raise InputError(f"marker {marker!r} has no body; give the body that carries it")
            marker = Marker(marker, body, **attributes)
        elif isinstance(marker, Marker) and (body is not None or attributes):
            raise InputError(f"{marker} comes with its attributes; give either a Marker, or a name and attributes")
        self._admit("marker", marker, Marker)
        marker.__dict__["body"] = self._body_of(marker, marker.body, "body")
        return self._keep("marker", marker)

    def add_measure(self, measure: M) -> M:
        """Add a measure; the markers and bodies it refers to are in the system already."""
        self._admit("measure", measure, Measure)
        for reference in (measure.a, measure.b):
            try:
                self.frame(reference)
            except InputError as error:
                raise type(error)(f"{measure}: {error}") from None
        return self._keep("measure", measure)

    def add_driver(self, driver: D) -> D:
        """Add a driver; the joint, marker or body that it drives is in the system already."""
        self._admit("driver", driver, Driver)
        try:
            driver.check_in(self)
        except UnknownNameError as error:
            raise UnknownNameError(f"{driver}: {error}") from None
        return self._keep("driver", driver)

    def add_event(self, event: Event) -> Event:
        """Add an event; what it watches and switches is in the system already."""
        self._admit("event", event, Event)
        event.check(self._values)
        try:
            event.check_in(self)
        except UnknownNameError as error:
            raise UnknownNameError(f"{event}: {error}") from None
        return self._keep("event", event)

    def check(self) -> None:
        """Raise InputError for what can only be seen once all is added: mimic joints whose original is missing, and
        `no_collision` that names no body."""
        for body in self.bodies.values():
            for name in body.no_collision:
                if not set(name) & set("*?["):
                    self._named_in(body, "body", name)
        for joint in self.joints.values():
            if joint.mimic is None:
                continue
            original = self._named_in(joint, "joint", joint.mimic.joint)
            if original.nv != 1:
                raise InputError(
                    f"{joint} mimics {original}, which has {counted(original.nv, 'degree of freedom')}; one is needed"
                )

    def _admit(self, kind: str, element: object, expected: type[Element]) -> None:
        """Raise InputError unless `element` is a free one of its kind under a new name."""
        if not isinstance(element, expected):
            if isinstance(element, type) and issubclass(element, expected):
                raise InputError(
                    f"{kind} is the class {element.__name__}; give one made of it, like nx.{element.__name__}(…)"
                )
            raise InputError(f"{element!r} is no {kind}; add_{kind} takes one")
        if element.owner is not None:
            raise InputError(f"{element} is part of system {element.owner!r} already; make another one")
        if element.name in self._elements[kind]:
            raise InputError(f"a {kind} {element.name!r} exists already; every {kind} needs its own name")
        of_forces = ("force", *GROUPS)
        for other in of_forces if kind in of_forces else ():
            if element.name in self._elements[other]:
                one, two = sorted((kind, other))
                raise InputError(f"{other} {element.name!r} exists already; a {one} and a {two} need different names")
        if element.name == "ground" and kind in ("body", "marker"):
            raise InputError(f"the name 'ground' is that of the fixed world; give the {kind} another one")

    def _keep(self, kind: str, element: E) -> E:
        """Check an admitted element, and fix it here."""
        self._check(element)
        element.belong_to(self.name)
        self._elements[kind][element.name] = element
        if kind in ("body", "joint", "marker", "force", *GROUPS) and self._groups():
            try:
                self._choose_anew(element)
            except Exception:
                del self._elements[kind][element.name]
                element.belong_to(None)
                raise
        return element

    def _groups(self) -> dict[str, Group]:
        """What consists of forces, by name."""
        return {name: group for kind in GROUPS for name, group in self._elements[kind].items()}

    def _choose_anew(self, added: Element) -> None:
        """The forces that groups make of all that there is, behind those that were added by themselves; of groups that what was `added`
        does not concern they stay."""
        groups = self._groups()
        concerned = {name for name, group in groups.items() if group is added or group.concerns(added)}
        if not concerned and not isinstance(added, Force):
            return
        forces: dict[str, Force] = {}
        parts: dict[str, dict[str, Force]] = {name: {} for name in groups}
        for name, force in self.forces.items():
            (forces if force.part_of is None else parts[force.part_of])[name] = force
        with unchanged():
            for name, group in groups.items():
                if name in concerned:
                    forces |= self._made_by(group, forces)
                elif twice := forces.keys() & parts[name].keys():
                    raise _named_twice(group, twice.pop())
                else:
                    forces |= parts[name]
        self._elements["force"] = Named("force", forces)

    def _made_by(self, group: Group, taken: Mapping[str, Force]) -> dict[str, Force]:
        """The forces of a group, checked and fixed here. InputError where two would have one name, or one of those `taken`."""
        made: dict[str, Force] = {}
        for force in group.members(self):
            if force.name in made or force.name in taken:
                raise _named_twice(group, force.name)
            self._check(force)
            force.belong_to(self.name)
            force.__dict__["_part_of"] = group.name
            made[force.name] = force
        return made

    def _check(self, element: Element) -> None:
        element.check(self._values)
        element.note_parameters(self._values)
        if isinstance(element, Force):
            element.check_in(self)

    def _find(self, kind: str, name: str) -> Any:
        return self._elements[kind][name]

    def _named_in(self, user: Element, kind: str, name: str) -> Any:
        name = composed(name)
        try:
            return self.body(name) if kind == "body" else self._find(kind, name)
        except UnknownNameError as error:
            if kind == "body" and name.casefold() in ("world", "fixed", "base", "inertial", "origin", "0"):
                raise UnknownNameError(f"{user}: no body {name!r}; the fixed world is 'ground'") from None
            raise UnknownNameError(f"{user}: {error}") from None

    def _body_of(self, user: Element, body: Body | str, role: str) -> Body:
        """The body that `user` names or holds, if it belongs to this system."""
        if isinstance(body, str):
            return self._named_in(user, "body", body)
        if not isinstance(body, Body):
            raise InputError(f"{role} of {user} is {body!r}; a body of the system or its name is needed")
        if body is self.ground or self._bodies.get(body.name) is body:
            return body
        owner = "another system; give its name" if body.owner is not None else "no system; add it with add_body first"
        raise InputError(f"{role} of {user}: {body} belongs to {owner}")

    # --- what is changed ----------------------------------------------------------------------------------------

    def with_parameters(self, changes: Mapping[str, Any]) -> System:
        """A system with other values, checked again; this one stays as it is.

        `changes`: parameters ("L"), attributes ("link1.mass", "hinge.damping") and "gravity", each with a number or an
        expression. Where a body and a joint (force, marker) share a name, "body:link1.mass" says which.
        Raises UnknownNameError for a path that is none of these, listing what is valid.
        """
        if not isinstance(changes, Mapping):
            raise InputError(
                f"changes of system {self.name!r} are {changes!r}; a mapping like {{'link1.mass': 2.0}} is needed"
            )
        parameters: dict[str, Any] = {name: p.value for name, p in self._parameters.items()}
        attributes: dict[tuple[str, str], dict[str, Any]] = {}
        gravity = self._gravity
        for path, value in changes.items():
            name = unicodedata.normalize("NFKC", path) if isinstance(path, str) else path
            if name in parameters:
                parameters[name] = value
            elif name == "gravity":
                gravity = value
            else:
                kind, element, attribute = self.attribute_of(path)
                attributes.setdefault((kind, element), {})[attribute] = value

        system = System(self.name, gravity)
        for name, value in parameters.items():
            system.parameter(name, value)
        changed = {name for name, value in system._values.items() if value != self._values[name]}
        system.gravity  # noqa: B018  (raises if it is not valid)
        for kind, elements in self._elements.items():
            for name, element in elements.items():
                if kind == "force" and element.part_of is not None:
                    continue
                new = element.copied(**attributes.get((kind, name), {}))
                for role in ("parent", "child", "body"):
                    held = new.__dict__.get(role)
                    if isinstance(held, Body):
                        new.__dict__[role] = system.body(held.name)
                if isinstance(new, Joint):
                    new.set_bodies(new.parent, new.child)
                if (kind, name) in attributes or changed & element.depends_on:
                    system._check(new)
                new.belong_to(self.name)
                system._elements[kind][name] = new
        shaped = any(kind == "body" for kind, _ in attributes) or any(
            changed & b.depends_on for b in self.bodies.values()
        )
        for group_name, group in self._groups().items():
            mine = {name: force for name, force in self.forces.items() if force.part_of == group_name}
            if shaped or (group.kind_of_element, group_name) in attributes or changed & group.depends_on:
                new_forces = system._made_by(system._groups()[group_name], system.forces)
                off = any(force.is_off for force in mine.values())
                for name, force in new_forces.items():
                    force.__dict__["_off"] = mine[name].is_off if name in mine else off
            else:
                new_forces = {name: force.copied(_owner=self.name) for name, force in mine.items()}
            system._elements["force"].update(new_forces)
        return system

    def attribute_of(self, path: str) -> tuple[str, str, str]:
        """Kind, name and attribute that a path "element.attribute" means; names may contain dots, the longest wins."""
        kinds = {kind: found for kind, found in self._elements.items() if kind != "measure"}
        prefix, _, rest = str(path).partition(":")
        if prefix in kinds and not any(str(path).startswith(f"{name}.") for f in kinds.values() for name in f):
            kinds, path = {prefix: kinds[prefix]}, rest
        places = [i for i, letter in enumerate(str(path)) if letter == "."]
        for i in reversed(places):
            name, attribute = path[:i], path[i + 1 :]
            holders = [(kind, found[name]) for kind, found in kinds.items() if name in found]
            hits = [kind for kind, element in holders if attribute in element.settable()]
            part = next((e.part_of for kind, e in holders if kind == "force" and e.part_of is not None), None)
            if part is not None:
                raise InputError(f"{path!r}: {self._groups()[part]} sets what {name!r} has; write '{part}.{attribute}'")
            if len(hits) > 1:
                choices = " or ".join(f"'{kind}:{path}'" for kind in hits)
                raise InputError(f"{path!r} is ambiguous: {name!r} is a {' and a '.join(hits)}; write {choices}")
            if hits:
                return hits[0], name, attribute
            if holders:
                valid = [a for _, element in holders for a in element.settable()]
                raise UnknownNameError(f"{path!r}: {holders[0][1]} has {unknown('attribute', attribute, valid)}")
        valid = [*self._parameters, *(f"{name}.…" for found in kinds.values() for name in found), "gravity"]
        raise unknown("parameter or attribute", path, valid, plural="valid")


def _named_twice(group: Group, name: str) -> InputError:
    return InputError(f"{group} would make two forces named {name!r}; give its bodies or shapes other names")

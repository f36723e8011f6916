"""`nx.Batch`: in what the members of a batch differ; read and checked.

Each of q0, v0, parameters and inputs has one entry a member on its first axis, or none of it for all. What is wrong with
the shape of the batch is refused; what is wrong with one member is that member's failure.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nexdyn.checked_calls import CheckedCalls
from nexdyn.errors import InputError, counted, unknown
from nexdyn.integrate.given import given_numbers
from nexdyn.model.system import System
from nexdyn.tree.tree import Coordinates, Tree

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Batch(metaclass=CheckedCalls):
    """The members of a batch: one entry a member on the first axis of each, or one entry for all.

    q0, v0: (members, nq), (members, nv) in the order of `Tree(system).joint_names`, or {joint: numbers}, (members,) of a
        joint with one coordinate, (members, n) of one with n.
    parameters: {name: values (members, …)} as `System.with_parameters` names them: "L", "link1.mass", "gravity".
    inputs: efforts in the joints [N, N m], constant (members, nv) or held over each step (members, steps, nv); or
        {joint: efforts} likewise. With methods of constant step in minimal coordinates.
    """

    q0: Any = None
    v0: Any = None
    parameters: Mapping[str, Any] | None = None
    inputs: Any = None

    @classmethod
    def of(cls, given: Batch | Mapping[str, Any]) -> Batch:
        """`given` as a Batch; InputError for anything else."""
        if isinstance(given, Batch):
            return given
        if not isinstance(given, Mapping):
            raise InputError(f"batch is {given!r}; an nx.Batch is needed, or a mapping like {{'q0': …}}")
        fields = cls.__dataclass_fields__
        for name in given:
            if name not in fields:
                raise unknown("part of a batch", name, fields, plural="parts")
        return cls(**given)


class Places(NamedTuple):
    """Where the coordinates of joints stand; nq and nv are None where they stand in no array: in closed loops."""

    joints: dict[str, Coordinates]
    nq: int | None
    nv: int | None

    @classmethod
    def of_tree(cls, tree: Tree) -> Places:
        return cls(dict(tree.coordinates), tree.nq, tree.nv)

    @classmethod
    def of_joints(cls, system: System) -> Places:
        joints = {name: joint for name, joint in system.joints.items() if joint.nv}
        return cls({name: Coordinates(slice(0, j.nq), slice(0, j.nv)) for name, j in joints.items()}, None, None)


class Read:
    """What a batch says about each of its `count` members, broadcast. steps: of all; None where members run by themselves, because of
    what `apart` names."""

    def __init__(self, batch: Batch, places: Places, steps: int | None, apart: str) -> None:
        self._places, self._counts = places, dict[str, int]()
        self._q0, self._v0 = (
            self._state("q0", batch.q0, places.nq, lambda place: place.q),
            self._state("v0", batch.v0, places.nv, lambda place: place.v),
        )
        self._parameters = self._named(batch.parameters)
        self._inputs = self._efforts(batch.inputs, steps, apart)
        self.count = self._agreed()

    @property
    def has_parameters(self) -> bool:
        return bool(self._parameters)

    @property
    def parameter_names(self) -> Container[str]:
        """The parameters in which members differ."""
        return self._parameters

    @property
    def has_inputs(self) -> bool:
        return self._inputs is not None

    def start(self, member: int, which: str) -> dict[str, Array] | Array | None:
        """q0 or v0 of a member as `nx.simulate` takes it."""
        given = self._q0 if which == "q0" else self._v0
        if given is None or isinstance(given, np.ndarray):
            return given if given is None else given[member % len(given)]
        return {joint: values[member % len(values)] for joint, values in given.items()}

    def starts(self, which: str, default: Array) -> Array:
        """q0 or v0 of all members (count, n), in minimal coordinates; where a member says nothing, `default` (n,)."""
        given = self._q0 if which == "q0" else self._v0
        out = np.empty((self.count, len(default)))
        if isinstance(given, np.ndarray):
            out[:] = given
            return out
        out[:] = default
        for joint, values in (given or {}).items():
            place = self._places.joints[joint]
            out[:, place.q if which == "q0" else place.v] = values
        return out

    def parameters(self, member: int) -> dict[str, Any]:
        """{name: value} of a member."""
        return {name: values[member % len(values)] for name, values in self._parameters.items()}

    def parameter_columns(self) -> dict[str, Array]:
        """{name: (count,)} of parameters that are single numbers."""
        columns = {}
        for name, values in self._parameters.items():
            try:
                column = np.array([values[m % len(values)] for m in range(self.count)], dtype=float)
            except (TypeError, ValueError):
                continue
            if column.ndim == 1:
                columns[name] = column
        return columns

    @property
    def inputs(self) -> Array | None:
        """Efforts (members or 1 for all, rows, nv); one row for each step, or one for all."""
        return self._inputs

    # --- reading ----------------------------------------------------------------------------------------------------

    def _agreed(self) -> int:
        if not self._counts:
            raise InputError(
                "the batch says nothing of its members; give q0, v0, parameters or inputs with one entry a member"
            )
        for what, count in self._counts.items():
            if count == 0:
                raise InputError(f"the batch has no members: {what} is empty")
        count = max(self._counts.values())
        if any(n not in (1, count) for n in self._counts.values()):
            given = ", ".join(f"{what} {n}" for what, n in self._counts.items())
            raise InputError(f"the batch has {count} members by one part and fewer by another: {given}; all must agree")
        return count

    def _counted(self, what: str, x: Array, by_member: bool) -> Array:
        """`x` with members on the first axis."""
        if not by_member:
            return x[None]
        self._counts[what] = len(x)
        return x

    def _state(self, what: str, given: Any, n: int | None, part: Callable[[Any], slice]) -> Any:
        if given is None:
            return None
        if isinstance(given, Mapping):
            read = {}
            for joint, numbers in given.items():
                size = self._size(what, joint, part)
                read[joint] = self._entries(f"{what} of joint {joint!r}", numbers, size, (0, 1))
            return read
        if n is None:
            raise InputError(f"{what} of a batch with closed loops is an array; {{joint: numbers}} is needed")
        return self._entries(what, given, n, (0, 1), single=False)

    def _size(self, what: str, joint: str, part: Callable[[Any], slice]) -> int:
        if joint not in self._places.joints:
            raise InputError(f"{what}: {unknown('moving joint', joint, self._places.joints)}")
        place = part(self._places.joints[joint])
        return place.stop - place.start

    def _entries(self, what: str, given: Any, n: int, leading: tuple[int, ...], single: bool = True) -> Array:
        """(members, …, n): `leading` says how many axes may stand before the last; of one number it may be left out."""
        x = as_numbers(what, given, n)
        if single and n == 1 and (x.ndim in leading or x.shape[-1:] != (1,)):
            x = x[..., None]
        if x.ndim - 1 not in leading or x.shape[-1] != n:
            shapes = [f"({', '.join(('members', 'steps')[:k])}{', ' if k else ''}{n})" for k in leading if k]
            raise InputError(f"{what} has shape {np.shape(given)}; {' or '.join(shapes)} is needed")
        return self._counted(what, x, x.ndim > 1)

    def _named(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InputError(f"parameters of the batch are {given!r}; {{name: values}} is needed")
        read = {}
        for name, values in given.items():
            alone = isinstance(values, str) or np.ndim(_plain(values)) == 0
            entries = [values] if alone else list(values)
            if not alone:
                self._counts[f"parameter {name!r}"] = len(entries)
            read[name] = [entry.tolist() if isinstance(entry, np.ndarray) else entry for entry in entries]
        return read

    def _efforts(self, given: Any, steps: int | None, apart: str) -> Array | None:
        if given is None:
            return None
        if steps is None:
            raise InputError(
                f"inputs of a batch need members that are integrated together, and {apart} keeps them apart: that takes a method of "
                "constant step in minimal coordinates, like RungeKutta4, no loops or events, and no forces with states or in Python"
            )
        nv = self._places.nv
        assert nv is not None
        if not isinstance(given, Mapping):
            x = self._entries("inputs", given, nv, (0, 1, 2), single=False)
            return self._stepped("inputs", x, steps)
        parts = {}
        for joint, numbers in given.items():
            what = f"inputs of joint {joint!r}"
            x = self._entries(what, numbers, self._size("inputs", joint, lambda place: place.v), (0, 1, 2))
            parts[joint] = self._stepped(what, x, steps)
        count = max((len(x) for x in parts.values()), default=1)
        rows = max((x.shape[1] for x in parts.values()), default=1)
        out = np.zeros((count, rows, nv))
        for joint, x in parts.items():
            if len(x) not in (1, count):
                self._agreed()  # says so
            out[:, :, self._places.joints[joint].v] = x
        return out

    def _stepped(self, what: str, x: Array, steps: int) -> Array:
        """(members, rows, n)."""
        if x.ndim == 2:
            return x[:, None]
        if x.shape[1] != steps:
            raise InputError(
                f"{what} have {counted(x.shape[1], 'step')}; the run takes {steps}, so (members, {steps}, …) is needed"
            )
        return x


def _plain(values: Any) -> Any:
    """`values`, or an empty array where they are ragged: only their number of axes is asked for."""
    try:
        return np.asarray(values, dtype=object) if not isinstance(values, np.ndarray) else values
    except ValueError:
        return np.empty(1)


def as_numbers(what: str, given: Any, n: int) -> Array:
    """`given` as float64; InputError tells ragged from what is no numbers."""
    try:
        return given_numbers(given)
    except (TypeError, ValueError):
        pass
    try:
        sizes = [np.shape(entry) for entry in given]
    except (TypeError, ValueError):
        sizes = []
    other = next((m for m, size in enumerate(sizes) if size != sizes[0]), None)
    if other is not None:
        raise InputError(
            f"{what} is ragged: member 0 has shape {sizes[0]}, member {other} has {sizes[other]}; (members, {n}) is needed"
        )
    raise InputError(f"{what} is {given!r}; numbers (members, {n}) are needed")

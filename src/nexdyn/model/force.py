"""The base of all forces; each has its page in ``nexdyn.forces``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from nexdyn.errors import InputError
from nexdyn.model.element import Element
from nexdyn.model.parameters import number

if TYPE_CHECKING:
    from nexdyn.model.callbacks import Callback
    from nexdyn.model.system import System


class Frame(NamedTuple):
    """Where a force acts: a frame F fixed to a body, R_BF (3, 3) and p_BF (3,) [m] in the body's frame."""

    body: str
    R_BF: np.ndarray
    p_BF: np.ndarray


class Force(Element):
    """A force or torque that acts between two frames, or in a degree of freedom of a joint.

    A subclass sets `kind` and `code` (its number in kernels) and keeps what it acts on by *name*
    (`nexdyn.model.element.name_of` takes either). It acts in `frames(system)`, up to two, A and then B, or in `freedom`
    of the joint `joint_name`; `data(values)` is what its kernel reads. Quantities stay as given.
    """

    kind_of_element: ClassVar[str] = "force"
    kind: ClassVar[str] = "force"
    code: ClassVar[int] = -1
    codes: ClassVar[tuple[int, ...]] = ()
    """Its numbers, where it has one or another by what is given."""
    touches: ClassVar[bool] = False
    """Whether it is a contact of surfaces, which touch or are apart."""
    structural: ClassVar[frozenset[str]] = frozenset({"name", "body", "marker", "a", "b", "joint", "freedom"})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on, 'ground' included where it reacts there."""
        return ()

    def joints(self) -> tuple[str, ...]:
        """Names of the joints it acts in."""
        return ()

    def markers(self) -> tuple[str, ...]:
        """Names of the markers it refers to."""
        return ()

    @property
    def joint_name(self) -> str | None:
        """The joint it acts in; None for a force between frames."""
        return self.joints()[0] if self.joints() else None

    def frames(self, system: System) -> tuple[Frame, ...]:
        """Frame A, and B where it has two, as `system` has them; () for a force in a joint."""
        return ()

    def check_in(self, system: System) -> None:
        """Raise InputError for what only the system tells: frames it refers to, degrees of freedom of its joint."""
        frames = self.frames(system)
        if frames and all(frame.body == "ground" for frame in frames):
            raise InputError(f"{self} acts on the ground, which nothing moves; name a body or its marker")

    def data(self, values: Mapping[str, float]) -> list[float]:
        """Its numbers for a kernel under the parameter `values`; InputError, naming the force, where not valid."""
        return []

    def callbacks(self) -> tuple[Callback, ...]:
        """The user functions whose addresses are in its data; the force keeps them alive."""
        return self.__dict__.get("_callbacks", ())

    def data_in(self, system: System) -> list[float]:
        """The same with what only the system tells."""
        return self.data(system.values)

    @property
    def varies(self) -> bool:
        """Whether numbers of its data are functions of time (``forces.contact_functions``)."""
        return False

    def varying(self, system: System) -> list[float]:
        """What these are, behind its data; [] where it has none."""
        return []

    @property
    def part_of(self) -> str | None:
        """The contact or gravity that made it, and whose attributes it has; None for one that was added by itself."""
        return self.__dict__.get("_part_of")

    @property
    def is_off(self) -> bool:
        """Whether an event has switched it off."""
        return bool(self.__dict__.get("_off"))

    def room(self, values: Mapping[str, float]) -> int:
        """Rows of scratch that it needs (``forces.overlap``)."""
        return 0

    def meshes(self, values: Mapping[str, float]) -> Sequence[Any]:
        """The solids of triangles that it compares (``forces.mesh_solid``)."""
        return ()

    def states(self, values: Mapping[str, float]) -> list[tuple[str, str, float]]:
        """Name, unit and initial value of each state of its own."""
        return []

    def state_efforts(self, values: Mapping[str, float], unit: float) -> list[tuple[float, float, float]]:
        """Of each state the effort of a unit of it (0 where it jumps alone), its lag [s] (0 for none), and the least effort of the
        force that counts, where errors of the states are judged; `unit` is 1 rad, or a length of the mechanism [m]."""
        return [(0.0, 0.0, 0.0)] * len(self.states(values))

    def working(self, values: Mapping[str, float]) -> str:
        """What of it does work that is not stored, in words; "" where nothing does."""
        damping = self.__dict__.get("damping")
        if damping is None:
            return str(self)
        return f"damping of {self}" if _any(damping, values) else ""

    def gives(self, values: Mapping[str, float]) -> bool:
        """Whether it may do work that nothing has stored before, so that energy may grow: all but springs and dampers."""
        return "damping" not in self.__dict__

    def check(self, values: Mapping[str, float]) -> None:
        self.data(values)


def _any(x: object, values: Mapping[str, float]) -> bool:
    """Whether a number, or one in a sequence, is not 0."""
    if isinstance(x, tuple):
        return any(_any(item, values) for item in x)
    return number(x, values, "damping") != 0.0

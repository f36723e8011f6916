"""What patterns choose is kept where what is added does not concern it, and is what would be chosen anew."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import nexdyn as nx
from nexdyn.model.group import Group


def parts(system: nx.System) -> list[dict[str, Any]]:
    """The forces of a system, with all that they say."""
    return [
        {name: x for name, x in vars(force).items() if name != "_names"} | {"type": type(force)}
        for force in system.forces.values()
    ]


def anew(system: nx.System) -> list[dict[str, Any]]:
    """The same where every group chooses from all that there is."""
    own = [force for force in system.forces.values() if force.part_of is None]
    made = []
    for group in [*system.contacts.values(), *system.gravities.values()]:
        for force in group.members(system):
            system._check(force)
            force.belong_to(system.name)
            force.__dict__["_part_of"] = group.name
            made.append(force)
    return [
        {name: x for name, x in vars(force).items() if name != "_names"} | {"type": type(force)}
        for force in [*own, *made]
    ]


@pytest.mark.parametrize("seed", range(12))
def test_what_is_kept_is_what_would_be_chosen_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system, n = nx.System("many"), itertools.count()

    def body() -> None:
        kind = rng.choice(["ball", "foot", "part"])
        out = [f"{kind}{i}" for i in range(2) if rng.random() < 0.3]
        shapes = [nx.Sphere(0.1)] * int(rng.integers(1, 3))
        mass = 0.0 if kind == "part" and rng.random() < 0.5 else 1.0
        system.add_body(
            f"{kind}{next(n)}", mass=mass, inertia=(mass,) * 3, shapes=shapes, no_collision=[f"{x}*" for x in out]
        )

    def joint() -> None:
        a, b = rng.choice([*system.bodies, "ground"], 2)
        if a != b:
            made: Any = rng.choice([nx.Revolute, nx.Fixed])
            system.add_joint(made(f"joint{next(n)}", str(a), str(b)))

    def marker() -> None:
        name = str(rng.choice([*system.bodies, f"marker{next(n)}"]))
        if name not in system.markers:
            system.add_marker(name, str(rng.choice([*system.bodies])))

    def force() -> None:
        system.add_force(nx.AppliedForce(f"force{next(n)}", f"body:{rng.choice([*system.bodies])}", force=(1, 0, 0)))

    def contact() -> None:
        some = [x for x in ("ball*", "foot*", "part*") if any(name.startswith(x[:4]) for name in system.bodies)]
        a = str(rng.choice([*some, *system.bodies]))
        b = str(rng.choice(["ground", *some]))
        try:
            system.add_contact(nx.Contact(f"contact{next(n)}", a, b, stiffness=1e5, friction=0.3))
        except nx.InputError as error:
            assert "no pair of bodies" in str(error) or "same body" in str(error)

    def gravity() -> None:
        centre = str(rng.choice([*system.bodies, "ground"]))
        if centre not in system.markers:
            system.add_gravity(nx.Gravity(f"gravity{next(n)}", mu=1.0, centre=centre))

    body(), body(), contact(), gravity()
    for step in rng.choice(6, 40, p=[0.3, 0.2, 0.15, 0.1, 0.15, 0.1]):
        before = parts(system)
        try:
            (body, joint, marker, force, contact, gravity)[step]()
        except nx.InputError as error:
            assert "is a marker and a body" in str(error) or "no pair" in str(error), error
            assert parts(system) == before, "nothing is lost where something is refused"
        assert parts(system) == anew(system)


def test_adding_a_contact_chooses_no_other_one_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, members = list[str](), nx.Contact.members

    def counted(group: Group, system: nx.System) -> Any:
        chosen.append(group.name)
        return members(group, system)  # type: ignore[arg-type]

    monkeypatch.setattr(nx.Contact, "members", counted)
    system = nx.System("row")
    for i in range(30):
        system.add_body(f"ball{i}", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Sphere(0.1)])
        system.add_joint(nx.Free(f"free{i}", "ground", f"ball{i}"))
        system.add_contact(nx.Contact(f"contact{i}", f"ball{i}", "ground", stiffness=1e5))
    assert chosen == [f"contact{i}" for i in range(30)]
    assert len(system.forces) == 30


def test_names_that_forces_of_groups_have_are_refused_whichever_comes_first() -> None:
    def made(force_first: bool) -> None:
        system = nx.System("two")
        system.add_body("ball", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Sphere(0.1)])
        force = nx.AppliedForce("touch ball ground", "ball", force=(1, 0, 0))
        contact = nx.Contact("touch", "ball", "ground", stiffness=1e5)
        steps: list[Any] = [lambda: system.add_force(force), lambda: system.add_contact(contact)]
        steps = steps if force_first else steps[::-1]
        steps[0]()
        names = list(system.forces)
        with pytest.raises(nx.InputError, match="touch ball ground"):
            steps[1]()
        assert list(system.forces) == names

    made(True)
    made(False)

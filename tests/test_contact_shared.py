"""Two contacts that act between the same two bodies: their forces add, which is said where a pattern has chosen the bodies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import nexdyn as nx

BALLS = ("left_ball", "right_ball", "third")


def balls(*contacts: nx.Contact) -> nx.System:
    """Balls that stand on the ground."""
    system = nx.System("balls")
    for k, name in enumerate(BALLS):
        ball = nx.Sphere(0.1)
        system.add_body(name, mass=1.0, inertia=(4e-3,) * 3, position=(float(k), 0.0, 0.1), shapes=ball)
        system.add_joint(nx.Free(f"free {name}", "ground", name))
    for contact in contacts:
        system.add_contact(contact)
    return system


def floor(name: str, a: Any) -> nx.Contact:
    return nx.Contact(name, a, stiffness=1e5)


def told(system: nx.System) -> list[dict[str, Any]]:
    """What a run says of pairs in two contacts, each also as a Python warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = nx.simulate(system, 2e-4, nx.RungeKutta4(1e-4))
    found = [one for one in result.warnings if one["kind"] == "shared"]
    assert [one["text"] for one in found] == [str(one.message) for one in caught if "forces add" in str(one.message)]
    return found


def test_bodies_that_the_patterns_of_two_contacts_choose_are_told_with_both_contacts() -> None:
    (notice,) = told(balls(floor("all", "*"), floor("balls", "*_ball")))
    assert (notice["where"], notice["value"]) == ("balls", 2.0)
    assert "'all' and 'balls' both act between 'left_ball' and 'ground', and between 1 other pair: " in notice["text"]
    (notice,) = told(balls(floor("all", "*"), floor("one", "third")))
    assert "between 'third' and 'ground': their forces add" in notice["text"]


def test_the_forces_of_both_add() -> None:
    forces = []
    for given in ([floor("one", "third")], [floor("one", "third"), floor("other", "third")]):
        system = balls(*given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = nx.simulate(system, 1e-4, nx.RungeKutta4(1e-4), v0={"free third": (0, 0, 0, 0, 0, -1)})
        forces.append(sum(result.contacts(one.name)["force"].values[-1, ..., 2].sum() for one in given))
    assert forces[1] == pytest.approx(2.0 * forces[0], rel=1e-2) and forces[0] > 0.05


@pytest.mark.parametrize(
    "contacts",
    [
        [floor("left", "left_ball"), floor("others", ["right_ball", "third"])],
        [floor("one", "third"), floor("other", "third")],
        [floor("one", ["third", "left_ball"]), nx.Contact("other", "ground", "third", stiffness=1e5)],
        [floor("all", "*"), nx.Contact("each other", "*", "*_ball", stiffness=1e5)],
    ],
    ids=["other bodies", "named in full", "named in full, on other sides", "other pairs"],
)
def test_nothing_is_said_of_pairs_that_are_named_in_full_or_in_one_contact_alone(contacts: list[nx.Contact]) -> None:
    assert not told(balls(*contacts))


def test_a_contact_that_is_switched_off_does_not_count() -> None:
    system = balls(floor("all", "*"), floor("one", "third"))
    system.add_event(nx.Event("other", time=1e-4, off="one"))
    assert len(told(system)) == 1
    with pytest.warns(nx.NexDynWarning, match="forces add"):
        first = nx.simulate(system, 2e-4, nx.RungeKutta4(1e-4))
    again = nx.simulate(system, 4e-4, nx.RungeKutta4(1e-4), initial=first)
    assert not [one for one in again.warnings if one["kind"] == "shared"]


def test_batches_say_it_once_for_all_members() -> None:
    system = balls(floor("all", "*"), floor("one", "third"))
    with pytest.warns(nx.NexDynWarning) as caught:
        nx.simulate(system, 2e-4, nx.RungeKutta4(1e-4), batch={"v0": np.zeros((3, 18))})
    assert len([one for one in caught if "forces add" in str(one.message)]) == 1

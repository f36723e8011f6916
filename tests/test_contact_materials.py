"""Contact laws from materials: Hertz's stiffness, Mindlin's part along the surfaces, friction of pairs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import nexdyn as nx
from nexdyn.describe import from_dict, to_dict

STEEL = 210e9 / (1.0 - 0.3**2)


def between_materials(a: Any, b: Any, *radii: float, **more: Any) -> nx.System:
    """Spheres in a row, each a little above the last, that touch each other or the ground by Hertz's law."""
    system = nx.System("hertz", gravity=(0, 0, 0))
    z = 0.0
    for i, r in enumerate(radii):
        z += r if i == 0 else radii[i - 1] + r
        system.add_body(f"ball{i}", mass=2.0, inertia=(0.01,) * 3, position=(0, 0, z), shapes=[nx.Sphere(r)])
        system.add_joint(
            nx.Free(f"free{i}", "ground", f"ball{i}", v0=(0, 0, 0, 0, 0, -0.5 if i == len(radii) - 1 else 0.0))
        )
    ends = ("ball0", "ball1") if len(radii) > 1 else ("ball0", "ground")
    system.add_contact(nx.Contact("touch", *ends, material_a=a, material_b=b, **{"friction": 0.0, **more}))
    return system


@pytest.mark.parametrize(
    ("radii", "b", "modulus", "R"),
    [
        ((0.05,), "steel", STEEL / 2.0, 0.05),
        ((0.05, 0.02), "steel", STEEL / 2.0, 1.0 / (1.0 / 0.05 + 1.0 / 0.02)),
        ((0.05,), "glass", 1.0 / (1.0 / STEEL + (1.0 - 0.2**2) / 70e9), 0.05),
        ((0.05,), nx.Material("rigid", 1e30, 0.3), STEEL, 0.05),
    ],
)
def test_the_stiffness_between_materials_is_that_of_hertz(
    radii: tuple[float, ...], b: Any, modulus: float, R: float
) -> None:
    system = between_materials("steel", b, *radii)
    result = nx.simulate(system, 6e-4, nx.DormandPrince(rtol=1e-9, atol=1e-13, dt_max=3e-7))
    # m v₀² (1 − (x/δ)^2.5): the deepest point, and how long the impact lasts, 2.943 δ/v₀ (Johnson, Contact Mechanics, eq. 11.24)
    m, v = (2.0, 0.5) if len(radii) == 1 else (1.0, 0.5)
    deepest = (15.0 / 16.0 * m * v * v / (modulus * math.sqrt(R))) ** 0.4
    told = result.contacts("touch")
    assert abs(told.penetration.values.max() / deepest - 1.0) < 1e-5
    assert abs(told.normal.values.max() / (4.0 / 3.0 * modulus * math.sqrt(R) * deepest**1.5) - 1.0) < 1e-5
    (touch,) = result.touches("touch")
    assert abs((touch["end"] - touch["begin"]) / (2.943 * deepest / v) - 1.0) < 2e-2


def test_what_gives_along_the_surfaces_is_mindlins() -> None:
    def part(nu: float) -> float:
        material = nx.Material("m", 1e9, nu)
        system = between_materials(material, material, 0.1)
        (force,) = system.forces.values()
        return float(force.law(system.values).friction_stiffness)  # type: ignore[attr-defined]

    for nu in (0.0, 0.25, 0.3, 0.5):
        assert abs(part(nu) - 2.0 * (1.0 - nu) / (2.0 - nu)) < 1e-14


def test_friction_between_materials_is_the_geometric_mean_unless_it_is_given() -> None:
    a, b = nx.Material("a", 1e9, 0.3, friction=0.5), nx.Material("b", 1e9, 0.3, friction="=mu")

    def friction(b: Any, **more: Any) -> float:
        system = nx.System("s")
        system.parameter("mu", 0.32)
        system.add_body("ball", mass=1.0, inertia=(0.01,) * 3, shapes=[nx.Sphere(0.1)])
        system.add_joint(nx.Free("free", "ground", "ball"))
        system.add_contact(nx.Contact("c", "ball", material_a=a, material_b=b, **more))
        (force,) = system.forces.values()
        return float(force.law(system.values).friction)  # type: ignore[attr-defined]

    assert friction(b) == 0.4 and friction(b, friction=0.1) == 0.1 and friction("steel", friction=0.2) == 0.2
    with pytest.raises(nx.InputError, match="contact 'c' has no friction, nor have its materials"):
        friction("steel")


def test_friction_of_a_pair_of_materials_counts_before_their_mean() -> None:
    rubber = nx.Material("rubber", 5e6, 0.49, friction={"steel": 0.8, "rubber": "=mu"})
    wood = nx.Material("wood", 1e10, 0.3, friction=0.25)

    def friction(a: Any, b: Any) -> float:
        system = nx.System("s")
        system.parameter("mu", 1.0)
        system.add_body("ball", mass=1.0, collision=[nx.Sphere(0.1)])
        system.add_contact(nx.Contact("c", "ball", material_a=a, material_b=b))
        data = to_dict(system)
        assert to_dict(from_dict(data)) == data
        (force,) = system.forces.values()
        return float(force.law(system.values).friction)  # type: ignore[attr-defined]

    pairs = ((rubber, "steel"), ("steel", rubber), (rubber, rubber), (rubber, wood), (wood, wood))
    assert [friction(a, b) for a, b in pairs] == [0.8, 0.8, 1.0, 0.5, 0.25]
    with pytest.raises(nx.InputError, match=r"'rubber' and 'steel' have the frictions 0.8 and 0.7 against each other"):
        friction(rubber, nx.Material("steel", 2e11, 0.3, friction={"rubber": 0.7}))
    with pytest.raises(nx.InputError, match="friction of material 'm' against 'steel' is -1; it must be 0 or more"):
        nx.Material("m", 1e9, 0.3, friction={"steel": -1})
    with pytest.raises(nx.InputError, match="friction of material 'm' has 1; a number, or"):
        nx.Material("m", 1e9, 0.3, friction=[1, 2])


def test_a_scene_holds_materials_and_their_frictions(tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(
        "bodies:\n  ball: {mass: 1, shapes: [{type: sphere, radius: 0.1}]}\n"
        "contacts:\n  c: {a: ball, material_a: {name: mine, young: 1e9, poisson: 0.3, friction: {steel: 0.7}}, material_b: steel}\n",
        encoding="utf-8",
    )
    (force,) = nx.load(file).forces.values()
    assert force.law({}).friction == 0.7  # type: ignore[attr-defined]


def test_friction_of_materials_has_states_whatever_a_parameter_becomes() -> None:
    system = nx.System("s")
    system.parameter("mu", 0.0)
    system.add_body("ball", mass=1.0, inertia=(0.01,) * 3, shapes=[nx.Sphere(0.1)])
    system.add_joint(nx.Free("free", "ground", "ball"))
    material = nx.Material("m", 1e9, 0.3, friction="=mu")
    system.add_contact(nx.Contact("c", "ball", material_a=material, material_b=material))
    for mu in (0.0, 0.5, 0.0):
        (force,) = system.with_parameters({"mu": mu}).forces.values()
        assert len(force.states({})) == 3


def test_materials_stand_in_descriptions() -> None:
    system = between_materials("steel", nx.Material("mine", 2e9, 0.4, friction=0.3), 0.1)
    data = to_dict(system)
    assert data["contacts"]["touch"].pop("friction") == 0.0
    assert data["contacts"]["touch"]["material_a"] == "steel"
    assert data["contacts"]["touch"]["material_b"] == {"name": "mine", "young": 2e9, "poisson": 0.4, "friction": 0.3}
    assert to_dict(from_dict(to_dict(system))) == to_dict(system)


def test_info_tells_pairs_points_stiffness_and_friction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from nexdyn.cli.door import main

    nx.save_scene(between_materials("steel", "steel", 0.05, friction=0.3), tmp_path / "ball.yaml")
    assert main(["info", str(tmp_path / "ball.yaml")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    k = 4.0 / 3.0 * STEEL / 2.0 * math.sqrt(0.05)
    rho = 2.0 * (1.0 - 0.3) / (2.0 - 0.3)  # Mindlin's, of two bodies of one material
    assert (
        f"contact touch: 1 point, ball0 and ground; k = {k:.6g} N/m^1.5, μ = 0.3, sticks with {rho:.4g} of the stiffness"
        in said
    )


@pytest.mark.parametrize(
    ("law", "told"),
    [
        ({"static_friction": 0.5}, "μ = 0.3, 0.5 until it slides, sticks with 0.82 of the stiffness; damping 20 s/m"),
        ({"friction_speed": 1e-3}, "μ = 0.3, regularised below 0.001 m/s; damping 20 s/m"),
        ({"friction": 0.0}, "μ = 0; damping 20 s/m"),
    ],
    ids=["static", "regularised", "none"],
)
def test_info_tells_all_that_a_law_says(
    law: dict[str, float], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from nexdyn.cli.door import main

    system = nx.System("crate")
    system.add_body("crate", mass=2.0, shapes=[nx.Box((0.3, 0.2, 0.2))])
    system.add_contact(nx.Contact("floor", "crate", **{"stiffness": 1e5, "friction": 0.3, "damping": 20.0, **law}))
    nx.save_scene(system, tmp_path / "crate.yaml")
    assert main(["info", str(tmp_path / "crate.yaml")]) == 0
    assert told in " ".join(capsys.readouterr().out.split())

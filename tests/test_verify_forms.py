"""Problems of contact in other forms: bodies swapped, over areas, as meshes; how their errors fall with facets, stiffness and steps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from turns import TURN

import nexdyn as nx
from nexdyn.errors import InputError, NexDynError
from nexdyn.forces.contact_group import Contact
from nexdyn.forces.mesh_contact import MeshContact
from nexdyn.problems import areas, contacts, dominoes, recast, slopes, tippe_top
from nexdyn.problems import verify as page
from nexdyn.problems.contacts import CONTACTS
from nexdyn.problems.forms import FORMS, MESHES, WITHOUT
from nexdyn.problems.problem import Problem, Run

QUICK = ("sliding", "standing", "belt", "cone", "below", "shaken", "floating", "gaps", "bounce", "spheres", "tipping")
"""Of which meshes take seconds."""
LONG = ("quadruped", "humanoid", "gears", "dominoes", "arch", "thin-arch")
"""Of which all forms take longer."""


def runs() -> list[object]:
    """All forms under every formulation; meshes with their bodies swapped are left to one. Without --long one formulation a form, another
    from form to form and from run to run, and none of what takes minutes."""
    found = []
    for place, (name, problem) in enumerate(FORMS.items()):
        base, form = name.split("/")
        takes = [run for run in problem.runs if form != "meshes-swapped" or "HHT" in run.formulation]
        for k, run in enumerate(takes):
            slow = base in LONG or (form.startswith("meshes") and base not in QUICK)
            marks = [pytest.mark.long] if slow or k != (place + TURN) % len(takes) else []
            found.append(pytest.param(problem, run, id=f"{name}, {run.formulation}", marks=marks))
    return found


@pytest.mark.parametrize(("problem", "run"), runs())
def test_every_form_holds_under_every_formulation(problem: Problem, run: Run) -> None:
    outcome = problem.check(run)
    assert outcome.holds, page.Verification([outcome])


def test_every_problem_of_contact_is_swapped_and_has_meshes_or_a_reason() -> None:
    names = {p.name for p in CONTACTS}
    assert {name.split("/")[0] for name in FORMS if name.endswith("/swapped")} == names
    assert not set(MESHES) & set(WITHOUT) and set(MESHES) | set(WITHOUT) == names


@pytest.mark.parametrize("name", [name for name in FORMS if "/meshes" in name])
def test_all_that_touches_in_a_form_of_meshes_is_one(name: str) -> None:
    system = FORMS[name].build()
    forces = [force for force in system.forces.values() if force.touches]
    assert forces and all(isinstance(force, MeshContact) for force in forces)
    assert all(isinstance(s, nx.Mesh) for force in forces for s in (force.solid_a, force.solid_b))


def test_swapped_bodies_come_in_the_other_order_with_the_sides_of_contacts_exchanged() -> None:
    system = contacts.conveyor()
    other = recast.swapped(system)
    assert list(other.bodies) == list(system.bodies)[::-1] and list(other.joints) == list(system.joints)[::-1]
    one, swapped = system.contacts["ball on"], other.contacts["ball on"]
    assert isinstance(one, Contact) and isinstance(swapped, Contact)
    assert (swapped.a, swapped.b) == (one.b, one.a)
    assert swapped.surface_velocity_a == one.surface_velocity_b and swapped.surface_velocity_b == one.surface_velocity_a


def sides(system: nx.System) -> dict[str, tuple[object, object]]:
    """What touches what: of contacts, and of forces of contact that stand alone."""
    alone = [force for force in system.forces.values() if force.touches and force.part_of is None]
    return {one.name: (one.__dict__["a"], one.__dict__["b"]) for one in (*system.contacts.values(), *alone)}


@pytest.mark.parametrize("problem", CONTACTS, ids=lambda problem: problem.name)
def test_a_swapped_problem_has_every_contact_the_other_way_round(problem: Problem) -> None:
    """But for the hollow of the outer race of a bearing, which as meshes is swapped as well."""
    one, other = sides(problem.build()), sides(FORMS[f"{problem.name}/swapped"].build())
    if problem.name == "hole":
        assert one == {"wall": ("pin", "ground")} and other == {"wall": ("ground", "ring")}
        return
    kept = {name for name in one if problem.name == "bearing" and name.startswith("outer")}
    assert one and {name: pair[::-1] for name, pair in one.items() if name not in kept} == {
        name: pair for name, pair in other.items() if name not in kept
    }


def test_systems_in_other_forms_keep_all_of_their_elements() -> None:
    system = nx.System("orbit", gravity=(0, 0, 0))
    for name in ("near", "far"):
        system.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    system.add_joint(nx.Free("path", "ground", "near"))
    system.add_marker("tip", "near", at=(1, 0, 0))
    system.add_force(nx.AppliedForce("push", "tip", force=(0, 0, 1)))
    system.add_gravity(nx.Gravity("sun", mu=2.0))
    for other in (recast.swapped(system), recast.meshed(system), recast.over_areas(system, {})):
        for kind, elements in system._elements.items():
            assert set(other._elements[kind]) == set(elements), kind
        assert len(other.forces_of("sun")) == 2
    system._elements["engine"] = {"motor": object()}
    with pytest.raises(NexDynError, match="cannot be made again: nothing here copies engine 'motor'"):
        recast.swapped(system)


def test_contacts_at_points_have_no_meshes() -> None:
    with pytest.raises(InputError, match="is at points; meshes touch over areas"):
        recast.meshed(contacts.conveyor())


@pytest.mark.parametrize("shape", [nx.Sphere(0.1), nx.Cylinder(0.1, 0.3), nx.Box((0.1, 0.2, 0.3))])
def test_meshes_are_closed_and_have_the_volume_of_what_they_stand_for(shape: nx.Shape) -> None:
    body = nx.System().add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0), collision=[shape])
    assert body.colliding
    mesh = recast._mesh(shape, 4.0, 90, 3)
    assert nx.mass_properties(mesh, 1.0).mass == pytest.approx(nx.mass_properties(shape, 1.0).mass, rel=1e-9)


def test_a_tube_is_a_ring_with_the_hollow_of_a_round_one() -> None:
    mesh = recast.tube(0.1, 0.15, 0.2, 60)
    assert nx.mass_properties(mesh, 1.0).mass == pytest.approx(math.pi * (0.15**2 - 0.1**2) * 0.2, rel=1e-9)


def test_a_ball_of_facets_rolls_like_a_round_one_as_they_get_finer() -> None:
    errors = []
    for subdivisions in (3, 4, 5):
        made = replace(areas.ROLLING, build=lambda n=subdivisions: recast.meshed(areas.ROLLING.build(), subdivisions=n))
        errors.append(made.check(Run("", nx.ImplicitEuler(5e-4, bdf2=True), 1.0)).error)
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2], errors


def test_a_pin_of_stiffer_material_stays_nearer_to_its_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    out = []
    for stiffness in (1e11, 1e12):
        monkeypatch.setattr(areas, "WALL", stiffness)
        p = nx.simulate(areas.hole(), 0.03, nx.DormandPrince(rtol=1e-6, atol=1e-9)).position("pin").values
        out.append(float(np.hypot(p[:, 0], p[:, 1]).max()) - areas.impacts.CLEARANCE)
    assert out[0] == pytest.approx(10.0**0.4 * out[1], rel=0.1)  # ½ m v² = ∫ F dδ, F with δ^1.5


@pytest.mark.parametrize(("problem", "load"), [(areas.CARDS, 0.0), (areas.LOADED, 1.0)])
def test_thick_cards_slip_apart_as_rigid_ones(problem: Problem, load: float) -> None:
    """One of them against its mirror image, by Newton and Euler, with its thickness; without it, as the thin ones of `slopes`."""
    thin = areas.slopes.LOADED if load else areas.slopes.CARDS
    for thick, known in ((areas.CARD, problem.reference), (0.0, thin.reference)):
        L, J, g = areas.slopes.LONG, (areas.slopes.LONG**2 + thick**2) / 12.0, areas.G
        s, c = math.sin(areas.slopes.LEAN), math.cos(areas.slopes.LEAN)
        mu = 0.95 * (0.5 * (L * s - thick * c) + load * L * s) / ((1.0 + load) * L * c)
        assert thick == 0.0 or mu == pytest.approx(0.95 * areas.needed(load), rel=1e-12)

        def rates(
            _: float, y: np.ndarray, mu: float = mu, thick: float = thick, J: float = J, L: float = L, g: float = g
        ) -> list[float]:
            s, c, w2 = math.sin(y[0]), math.cos(y[0]), y[1] ** 2
            centre = np.array([-0.5 * (L * s + thick * c), 0.5 * (L * c + thick * s)])
            foot, head = np.array([-L * s, 0.0]) - centre, np.array([0.0, L * c]) - centre
            x = (-0.5 * (L * c - thick * s), 0.5 * (L * s + thick * c) * w2)  # of θ̈, and what is left
            z = (-0.5 * (L * s - thick * c), -0.5 * (L * c + thick * s) * w2)
            # normal force of the floor, push between the cards, θ̈
            A = np.array([[-mu, 1.0, x[0]], [-1.0, 0.0, z[0]], [foot[0] - mu * foot[1], head[1], J]])
            b = np.array([-x[1], -z[1] - (1.0 + load) * g, load * g * head[0]])
            return [y[1], np.linalg.solve(A, b)[2]]

        times = list(known)
        found = solve_ivp(
            rates, (0.0, times[-1]), (areas.slopes.LEAN, 0.0), t_eval=times, rtol=1e-11, atol=1e-13, method="DOP853"
        )
        np.testing.assert_allclose(found.y[0], [values[1] for values in known.values()], rtol=0, atol=1e-10)


# --- steps and formulations -----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", ["HHT", "BDF2"])
def test_the_wave_of_dominoes_is_the_same_at_half_the_step_to_a_percent(kind: str) -> None:
    def wave(dt: float) -> np.ndarray:
        method: nx.Method = nx.HHT(dt=dt) if kind == "HHT" else nx.ImplicitEuler(dt, bdf2=True)
        return dominoes.DOMINOES.found(Run("", method, 1.0))

    full, half = wave(2e-4), wave(1e-4)
    np.testing.assert_allclose(full, half, rtol=0.01)
    np.testing.assert_allclose(half, [dominoes.WAVE], rtol=0.01)


TOPS = {
    "explicit": nx.DormandPrince(rtol=1e-8, atol=1e-11),
    "projection": nx.Projection(rtol=1e-8, atol=1e-11),
    "adaptive HHT": nx.HHT(rtol=1e-8),
    "HHT": nx.HHT(dt=2e-5),
    "BDF2": nx.ImplicitEuler(2e-5, bdf2=True),
}


@pytest.mark.parametrize("speed", [0.1, 0.02, 0.005])
def test_tippe_tops_agree_between_formulations_down_to_small_speeds_of_friction(speed: float) -> None:
    tilts = {}
    for name, method in TOPS.items():
        system = tippe_top.tippe_top(0.3)
        system = system.with_parameters({"on.friction_speed": speed})
        result = nx.simulate(system, 0.8, method, output_times=[0.4, 0.8])
        tilts[name] = tippe_top.turned_over(result)[-2:, 0]
    for name, tilt in tilts.items():
        np.testing.assert_allclose(tilt, tilts["explicit"], rtol=0, atol=0.02, err_msg=name)


SHAKING = (nx.HHT(rtol=1e-7), nx.HHT(dt=2.5e-4), nx.ImplicitEuler(2.5e-4), nx.ImplicitEuler(2.5e-4, bdf2=True))


def test_a_block_just_below_the_cone_does_not_drift_on_a_slope_that_shakes() -> None:
    """Stated: less than 1e-13 m a cycle of 50 Hz and g/10, whatever the method, over ten seconds."""
    for method in SHAKING:
        shaken = replace(slopes.SHAKEN, reference={0.5: (0.0,), 5.5: (0.0,), 10.5: (0.0,)})
        drift = shaken.found(Run("", method, 1.0))[:, 0]
        assert abs(drift[2] - drift[1]) < 250 * 1e-13, (method, drift)


def test_two_hundredths_below_the_cone_it_drifts_under_hht_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stated, in metres a cycle. Springs of corners come within half a percent of their bound in every cycle; from there on HHT takes
    steps of first order of what they hold (``force_states.HELD``), and its drift falls with the step."""
    monkeypatch.setattr(slopes, "WITHIN", math.tan(slopes.SLOPE) / 0.98)
    shaken = replace(slopes.SHAKEN, reference={0.5: (0.0,), 1.5: (0.0,)})

    def drift(method: nx.Method) -> float:
        start, end = shaken.found(Run("", method, 1.0))[:, 0]
        return float(abs(end - start)) / 50.0

    for method in (nx.RungeKutta4(1e-4), nx.ImplicitEuler(2.5e-4), nx.ImplicitEuler(2.5e-4, bdf2=True)):
        assert drift(method) < 1e-13, method
    assert drift(nx.HHT(rtol=1e-7)) < 4e-10
    full, half = drift(nx.HHT(dt=2.5e-4)), drift(nx.HHT(dt=1.25e-4))
    assert half < 0.7 * full < 0.7 * 4e-9, (full, half)


ORDERS = [
    ("bounce", "HHT", 2e-5, 2), ("spheres", "HHT", 2e-5, 2), ("smooth-top", "HHT", 2e-5, 2), ("rod", "HHT", 1e-5, 2),
    ("hole", "HHT", 4e-6, 2),
    ("bounce", "BDF2", 2e-5, 2), ("spheres", "BDF2", 2e-5, 2), ("smooth-top", "BDF2", 2e-5, 2), ("rod", "BDF2", 1e-5, 2),
    ("hole", "BDF2", 4e-6, 2), ("gaps", "BDF2", 5e-6, 2), ("flat", "BDF2", 1e-5, 2),
    ("bounce", "Euler", 2e-5, 1), ("spheres", "Euler", 2e-5, 1), ("smooth-top", "Euler", 2e-5, 1), ("rod", "Euler", 1e-5, 1),
    ("gaps", "Euler", 5e-6, 1), ("cradle", "Euler", 2e-6, 1), ("five", "Euler", 1.5e-6, 1), ("conveyor", "Euler", 5e-4, 1),
    ("cards", "Euler", 2e-4, 1), ("tippe-top", "Euler", 5e-6, 1),
]  # fmt: skip
"""Problems whose errors are those of the steps [s], with the order of the method."""


AT_ONCE = ("bounce", "spheres")
"""Of these in every run; of the others with --long."""


@pytest.mark.parametrize(
    ("name", "kind", "dt", "order"),
    [pytest.param(*one, marks=[] if one[0] in AT_ONCE else [pytest.mark.long]) for one in ORDERS],
)
def test_errors_fall_with_steps_by_the_order_of_the_method(name: str, kind: str, dt: float, order: int) -> None:
    problem = next(p for p in CONTACTS if p.name == name)
    made = {
        "HHT": lambda h: nx.HHT(dt=h),
        "BDF2": lambda h: nx.ImplicitEuler(h, bdf2=True),
        "Euler": lambda h: nx.ImplicitEuler(h),
    }
    full, half = (problem.check(Run("", made[kind](h), 1.0)).error for h in (dt, 0.5 * dt))
    assert full > 0.93 * 2.0**order * half, (full, half)


def test_a_tall_block_over_areas_tends_to_the_rigid_one_with_the_stiffness() -> None:
    """The middle of its pressure is off its edge by √(2 F θ/(9 k))/θ: half as far at four times the stiffness, once that is small."""

    def narrow(foundation: float) -> float:
        def build() -> nx.System:
            return recast.over_areas(
                areas.slopes.tipping(), {"narrow on": foundation},
                {"narrow": {"position": (0.0, -0.3, 0.5 * areas.slopes.TALL), "orientation": (1.0, 0.0, 0.0, 0.0)}},
            )  # fmt: skip

        problem = replace(areas.TIPPING, build=build, scale=(1.0, 1e3))
        return problem.check(Run("", nx.HHT(rtol=1e-7), 1.0)).error

    stiff = areas.UNDER["narrow"]
    softer, soft, hard = (narrow(stiff / by) for by in (16.0, 4.0, 1.0))
    assert soft == pytest.approx(2.0 * hard, rel=0.15)
    assert 1.5 * soft < softer < 2.0 * soft

"""From a model and the options of `run` to a simulation at its start; options beat the scene, the scene defaults."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from nexdyn.cli.assignments import initial
from nexdyn.cli.method_names import PAIRS
from nexdyn.cli.model import Model
from nexdyn.errors import InputError, warn

if TYPE_CHECKING:
    from nexdyn.cli.run import Motion
    from nexdyn.integrate.methods import Loops, Method
    from nexdyn.model.system import System
    from nexdyn.simulation.run import Runs

T_END, DT = 1.0, 1e-3


class Prepared(NamedTuple):
    """A simulation at its start, its end [s], and the times of its outputs [s] if the scene lists them."""

    simulation: Runs
    t_end: float
    output_times: Sequence[float] | None


def prepare(model: Model, motion: Motion) -> Prepared:
    """Build the simulation. InputError for options that are wrong, or do not fit the method or the model."""
    from nexdyn.integrate.methods import positive
    from nexdyn.simulation.choice import simulation_of

    scene = model.simulation
    t_end = None if motion.t_end is None else positive(motion.t_end, "--t-end")
    every = scene.get("output_every", 1) if motion.output_every is None else motion.output_every
    options = started(model, motion)
    simulation = simulation_of(model.system, **options, output_every=every, on_gap=motion.on_gap)
    if t_end is None:
        t_end = scene.get("t_end", simulation.t + T_END)
    if options["initial"] is not None and t_end <= simulation.t:
        raise InputError(f"the start is a state at t = {simulation.t:g} s; give a --t-end beyond it, not {t_end:g} s")
    _check_memory(simulation, t_end)
    times = None if motion.output_every else _times(scene.get("output_times"), simulation, t_end)
    return Prepared(simulation, t_end, times)


def started(model: Model, motion: Motion) -> dict[str, Any]:
    """How a run moves and from where: method, initial, q0, v0, dynamics, loops, as `nx.simulate` takes them."""
    from nexdyn.results.result import open_result

    scene, system = model.simulation, model.system
    start = open_result(motion.start) if motion.start else model.result
    state = {key: {} if start else dict(scene.get(key, {})) for key in ("q0", "v0")}
    state["q0"] |= initial("--q0", motion.q0, system)
    state["v0"] |= initial("--v0", motion.v0, system)
    method = choose_method(scene.get("method"), motion, system)
    if start is not None and start is model.result and start.recording.restart is None and not motion.method:
        warn(
            f"the file does not say how its run was to go on: it was made by {start.recording.method}, and goes on by {method!r}; "
            "--method chooses another"
        )
    return {
        "method": method, "initial": start, "q0": state["q0"] or None, "v0": state["v0"] or None,
        "dynamics": motion.dynamics or scene.get("dynamics", "aba"), "loops": choose_loops(scene.get("loops"), motion, method),
    }  # fmt: skip


def choose_method(given: Method | str | None, motion: Motion, system: System) -> Method:
    """The method of the scene with what the options change; without one, rk4 for trees and hht where there are loops."""
    from nexdyn.integrate.methods import HHT, METHODS, EmbeddedPair, FixedStep, ImplicitEuler, IndexOne, method_of
    from nexdyn.simulation.choice import default_method

    # of a file whose method is the user's own there is a name alone, which is refused unless another method is asked for
    given = None if isinstance(given, str) and motion.method else method_of(given)
    name = motion.method or (given or default_method(system)).name
    cls = METHODS[name]
    constant = [key for key, other in METHODS.items() if issubclass(other, FixedStep)]
    tolerances = {key: x for key in ("rtol", "atol") if (x := getattr(motion, key)) is not None}
    fixed = {key: x for key in ("mu", "updates") if (x := getattr(motion, key)) is not None}
    fixed |= {"bdf2": True} if motion.bdf2 else {}
    if fixed and cls is not ImplicitEuler:
        raise InputError(f"--{next(iter(fixed))} is for implicit-euler, not for {name}. Add --method implicit-euler")
    if cls is ImplicitEuler:
        if tolerances:
            raise InputError(
                f"--{next(iter(tolerances))} is for {PAIRS} and hht; implicit-euler has the constant step --dt"
            )
        start = given if isinstance(given, ImplicitEuler) else ImplicitEuler(getattr(given, "dt", None) or DT)
        changes: dict[str, Any] = fixed | ({"dt": motion.dt} if motion.dt is not None else {})
        return replace(start, **changes)
    if cls is HHT and motion.atol is not None:
        raise InputError(f"--atol is for {PAIRS}; hht has --rtol alone, and --dt for constant steps")
    if issubclass(cls, HHT | IndexOne):
        if motion.dt is not None and tolerances:
            raise InputError(
                f"--dt and --{next(iter(tolerances))} are given; {name} takes constant steps of --dt, or chooses them by --rtol: give one"
            )
        # of the scene's what the options make idle, or what makes these idle, is left out
        left_out = cls.idle["dt"] if motion.dt is not None else ("dt",) if tolerances else ()
        own = {"dt": motion.dt} if motion.dt is not None else tolerances
        known = asdict(given) if isinstance(given, cls) else {}
        return cls(**({key: x for key, x in known.items() if key not in left_out} | own))
    if issubclass(cls, FixedStep):
        for option in ("rtol", "atol"):
            if getattr(motion, option) is not None:
                raise InputError(f"--{option} is for {PAIRS}; {name} has the constant step --dt. Add --method dopri5")
        dt = given.dt if isinstance(given, FixedStep) else DT
        return cls(dt if motion.dt is None else motion.dt)
    if motion.dt is not None:
        raise InputError(
            f"--dt is for {', '.join(constant)} and hht; {name} chooses its step by --rtol and --atol. Add --method rk4"
        )
    return cls(**((asdict(given) if isinstance(given, EmbeddedPair) else {}) | tolerances))


def choose_loops(given: Loops | None, motion: Motion, method: Method) -> Loops | None:
    """How loops are kept: as the scene says, with what the options change; None where the method moves bodies."""
    from nexdyn.integrate.methods import METHODS, Loops

    changes: dict[str, Any] = {}
    if motion.stabilise is not None:
        changes["stabilise"] = None if motion.stabilise == "none" else motion.stabilise
        changes |= {} if motion.stabilise == "baumgarte" else {"alpha": None, "beta": None}
    if motion.cut:
        changes["cut"] = motion.cut
    if method.coordinates != "tree":
        if changes:
            valid = ", ".join(name for name, cls in METHODS.items() if cls.coordinates == "tree")
            raise InputError(f"--{next(iter(changes))} is for {valid}, not for {method.name}. Add --method rk4")
        return None
    return replace(given or Loops(), **changes) if changes else given


def _times(times: Sequence[float] | None, simulation: Runs, t_end: float) -> Sequence[float] | None:
    """The scene's output times, as far as this run and its method reach."""
    return [t for t in times if simulation.t <= t <= t_end] or None if times else None


def _check_memory(simulation: Runs, t_end: float) -> None:
    """Raise InputError if the states that will be recorded cannot fit into the memory of this machine."""
    dt = getattr(simulation.method, "dt", None)
    if dt is None or not hasattr(os, "sysconf"):
        return
    states = (t_end - simulation.t) / dt / simulation.output_every
    size = states * 8.0 * simulation.numbers
    memory = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    if size > memory:
        raise InputError(
            f"{states:.3g} states would be recorded, {size / 2**30:.3g} GiB, and there are {memory / 2**30:.3g} GiB of "
            "memory; a larger --output-every records fewer"
        )

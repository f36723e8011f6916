"""`nx.simulate` and `nx.Simulation`: a mechanism in motion.

The time loop is compiled; Python takes part a few times a second, to report progress, to be interrupted, and to take
what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from nexdyn.assembly.report import AssemblyReport
from nexdyn.checked_calls import checked_call
from nexdyn.errors import InputError
from nexdyn.integrate.methods import Loops, Method, method_of
from nexdyn.model.system import System
from nexdyn.results.result import Result
from nexdyn.simulation.choice import simulation_of
from nexdyn.simulation.march import Progress

if TYPE_CHECKING:
    from nexdyn.batch.members import Batch
    from nexdyn.results.batch import BatchResult
    from nexdyn.statics.equilibrium import Equilibrium
    from nexdyn.statics.inverse_kinematics import Posture


@overload
def simulate(
    system: System,
    t_end: float,
    method: Method | str | None = None,
    *,
    initial: Result | AssemblyReport | Equilibrium | Posture | None = None,
    q0: Any = None,
    v0: Any = None,
    output_every: int = 1,
    output_times: Any = None,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: Literal["warn", "error", "accept"] = "warn",
    progress: Progress | None = None,
    batch: None = None,
    threads: None = None,
    store: None = None,
    error_estimate: bool = False,
    peaks: bool = False,
) -> Result: ...


@overload
def simulate(
    system: System,
    t_end: float,
    method: Method | str | None = None,
    *,
    initial: Result | AssemblyReport | Equilibrium | Posture | None = None,
    q0: Any = None,
    v0: Any = None,
    output_every: int = 1,
    output_times: Any = None,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: Literal["warn", "error", "accept"] = "warn",
    progress: Progress | None = None,
    batch: Batch | Mapping[str, Any],
    threads: int | None = None,
    store: Any = None,
    error_estimate: bool = False,
    peaks: bool = False,
) -> BatchResult: ...


@checked_call
def simulate(
    system: System,
    t_end: float,
    method: Method | str | None = None,
    *,
    initial: Result | AssemblyReport | Equilibrium | Posture | None = None,
    q0: Any = None,
    v0: Any = None,
    output_every: int = 1,
    output_times: Any = None,
    dynamics: Literal["aba", "crba", "cfa"] = "aba",
    loops: Loops | None = None,
    on_gap: Literal["warn", "error", "accept"] = "warn",
    progress: Progress | None = None,
    batch: Batch | Mapping[str, Any] | None = None,
    threads: int | None = None,
    store: Any = None,
    error_estimate: bool = False,
    peaks: bool = False,
) -> Result | BatchResult:
    """Run `system` until `t_end` [s] and return what was recorded.

    method: a method, or its name, like "rk4", with a step of 1 ms where it needs one. RungeKutta4(1e-3) by default, ExplicitEuler,
        SemiImplicitEuler, DormandPrince, BogackiShampine32, DOP853 in minimal coordinates; in absolute coordinates HHT, by default where
        a system has closed loops, drivers or couplings, Projection, Baumgarte, Partitioning; ImplicitEuler.
    loops: how minimal coordinates keep loops and drivers; Loops(), projection, by default.
    initial: a Result to go on from its last state, the report of `nx.assemble`, what `nx.equilibrium` found, or the posture of
        `nx.inverse_kinematics`, at rest.
    q0, v0: arrays in the order of `Tree(system).joint_names`, or {joint: numbers}; default: the reference configuration, at rest. Joints
        that are named keep what they are given, or are refused. Arrays are moved to close loops, which `Result.warnings` tells.
    output_every: steps between outputs. output_times [s]: outputs there instead; steps of adaptive HHT end there.
    dynamics: "aba"; "crba" with the branch-sparse factorisation; or "cfa", the constraint force algorithm.
    on_gap: whether joints that are open in the reference configuration, by more than 1e-6 of the mechanism's size or 1e-6 rad, are closed
        with a warning, kept in `Result.warnings`, or refused: "error". Likewise coordinates that start outside their limits, contacts
        that start pressed in, and arrays q0, v0 that are moved. Constant explicit steps with which a contact would diverge are refused
        before the run; "accept" runs them, too, and warns.
    progress: called a few times a second with (t, t_end).
    batch: many systems in one run, an `nx.Batch` of what they differ in; then a `BatchResult` is returned. threads: on how
        many cores, all by default. store: a folder, "runs.zarr", to which the states stream as members are done.
    error_estimate: measure the error of every coordinate by a second run, with half the step or a tenth of the tolerance, into
        `error_estimate` of the result (an `ErrorEstimate`): it says, too, from when on none is known.

    peaks: `Result.peaks` are those of all steps, also where output_every or output_times leaves rows out; the reactions of every
        step are then computed, and steps of chosen length end at output_times. Between steps nothing is looked at: where a method
        of high order takes long ones, its dt_max says how far apart they may lie.

    Raises InputError for bad input; AssemblyError where the mechanism cannot be closed; SolveError, whose `result` keeps what
    was reached, when the motion is not finite, a force fails, or the step becomes too small. An interrupt (Ctrl-C) returns
    what was reached, with a NexDynWarning.
    """
    method = method_of(method)
    for name, given in (("error_estimate", error_estimate), ("peaks", peaks)):
        if given and batch is not None:
            raise InputError(f"{name} is for single runs; leave it out, or simulate a member alone")
    if batch is not None:
        from nexdyn.batch.simulation import simulate_batch

        return simulate_batch(
            system, t_end, method, batch, simulate, threads=threads, store=store, progress=progress, initial=initial, q0=q0,
            v0=v0, output_every=output_every, output_times=output_times, dynamics=dynamics, loops=loops, on_gap=on_gap,
        )  # fmt: skip
    if threads is not None or store is not None:
        raise InputError("threads and store belong to a batch; give batch, or leave them out")
    options: dict[str, Any] = {
        "initial": initial, "q0": q0, "v0": v0, "output_every": output_every, "dynamics": dynamics, "loops": loops,
        "on_gap": on_gap,
    }  # fmt: skip
    run = {"t_end": t_end, "output_times": output_times, "progress": progress, "peaks": peaks}
    if error_estimate:
        from nexdyn.simulation.error_estimate import with_error_estimate

        return with_error_estimate(simulation_of, system, method, run, options)
    return simulation_of(system, method, **options).run(**run)

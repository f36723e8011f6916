"""Analyses of small systems take one BLAS thread, whatever overlaps, and leave the number as they found it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import nexdyn as nx
from nexdyn.assembly.blas import LARGE
from nexdyn.batch.simulation import simulate_batch
from nexdyn.simulation.marches.bodies import BodySimulation
from nexdyn.simulation.marches.potential import PotentialSimulation

SCRIPT = """
import json, threading
import numpy.linalg, scipy.linalg
import nexdyn as nx
from nexdyn.assembly.blas import LARGE, small_on_one_thread
from threadpoolctl import ThreadpoolController

libraries = ThreadpoolController().select(user_api="blas").lib_controllers
threads = lambda: sorted({library.num_threads for library in libraries})
told = {"before": threads()}

seen = []
nx.simulate(nx.load("hinge-chain"), 0.01, progress=lambda t, t_end: seen.append(threads()))
told["in a run"], told["after a run"] = seen, threads()

try:
    nx.assemble(nx.load("four-bar"), tolerance=1.0)
except nx.InputError:
    told["after a failure"] = threads()

def system_of(n):
    system = nx.System("many")
    for k in range(n):
        system.add_body(f"b{k}", mass=1.0, inertia=(1.0, 1.0, 1.0))
    return system

look = small_on_one_thread(lambda system: threads())
told["small"], told["large"] = look(system_of(LARGE - 1)), look(system_of(LARGE))

in_first, in_second, out_of_first = threading.Event(), threading.Event(), threading.Event()

@small_on_one_thread
def one(system):
    in_first.set(), in_second.wait(10.0)

@small_on_one_thread
def other(system):
    in_second.set(), out_of_first.wait(10.0)
    told["in the second after the first"] = threads()

small = system_of(1)
first = threading.Thread(target=one, args=(small,))
second = threading.Thread(target=lambda: (in_first.wait(10.0), other(small)))
first.start(), second.start(), first.join(), out_of_first.set(), second.join()
told["after two that overlapped"] = threads()
told["small again"] = look(small)
print(json.dumps(told))
"""


def test_small_systems_take_one_thread_and_it_is_set_back() -> None:
    """In a process whose BLAS has two threads. A plain save and restore would leave one after two that overlapped."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["before"] == [2]
    assert told["in a run"]
    assert all(found == [1] for found in told["in a run"])
    for when in ("after a run", "after a failure", "large", "after two that overlapped"):
        assert told[when] == [2], when
    for when in ("small", "small again", "in the second after the first"):
        assert told[when] == [1], when
    assert LARGE > 100


def test_every_analysis_takes_part() -> None:
    """What the package offers as a function of a system, or as a simulation, is marked; `simulate` by its simulations."""
    names = (
        "assemble",
        "kinematics",
        "equilibrium",
        "inverse_dynamics",
        "inverse_kinematics",
        "linearize",
        "sensitivity",
    )
    analyses = [getattr(nx, name) for name in (*names, "calibrate", "stability", "integrable", "compare", "agreement")]
    for simulation in (nx.Simulation, BodySimulation, PotentialSimulation):
        analyses += [vars(simulation).get("__init__"), simulation.run]
    analyses.append(simulate_batch)
    assert [analysis for analysis in analyses if not hasattr(analysis, "__wrapped__")] == []


def test_a_warning_points_at_the_line_that_asked() -> None:
    """However many calls of the package lie between."""
    system = nx.System("two bodies")
    for name, x in (("a", 0.1), ("b", 0.5)):
        system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(x, 0.0, 0.0))
    for name, parent, child, x in (("base", "ground", "a", 0.0), ("elbow", "a", "b", 0.1)):
        system.add_joint(
            nx.Revolute(
                name, parent, child, anchor_a=(x, 0, 0), anchor_b=(-0.1, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 1, 0)
            )
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nx.simulate(system, 0.01)
    assert [warning.filename for warning in caught if issubclass(warning.category, nx.NexDynWarning)] == [__file__]

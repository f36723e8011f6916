"""`nexdyn warm`: what first commands compile, compiled before they are asked for."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import nexdyn
from nexdyn.cli import terminal
from nexdyn.cli.options import SAYING_PLAINLY, Saying, flag
from nexdyn.cli.progress import progress_bar
from nexdyn.cli.units import seconds, whole
from nexdyn.errors import InputError, SolveError, unknown

if TYPE_CHECKING:
    from nexdyn.compiler.tiers import Tier

NAME = "warm"
EXAMPLES = """\
Examples:
  nexdyn warm            compile what first commands need, once
  nexdyn warm --check    what is compiled, and what came with the package
  nexdyn warm --into kernels --tiers x86-64-v3,x86-64-v4    for a release"""

COMMANDS = (
    "run hinge-chain",
    "run four-bar",
    "run four-bar --method rk4",
    "run double-pendulum --method rk4 --dt 1e-3",
    "check four-bar",
    "run robot.urdf --t-end 1",
    "compare double-pendulum",
    "run implicit-euler",
    "run rolling-coin",
    "linearize bicycle",
    "check stewart",
    "view hinge-chain --html page.html",
    "run double-pendulum --method dopri5",
    "run four-bar --method projection",
    "run andrews --t-end 0.01",
    "run space-robot --t-end 0.2",
    "run bouncing-ball",
    "run ball.yaml",
    "run ball.yaml --method hht",
)
"""The commands that are made ready, the most used first: without forces, with forces, and with contact, which have kernels of their own."""
EXTRAS = {"view": "viser"}
"""Commands that need more than the package, and the module that comes with it."""
READY, OUT_OF_TIME = "ready", "out of time"
"""How a command may end; else it says how it failed."""
_FOLDER = str(Path(nexdyn.__file__).parents[1])
OF_THIS_PACKAGE = (
    f"import sys; sys.path.insert(0, {_FOLDER!r}); from nexdyn.cli import main; sys.exit(main(sys.argv[1:]))"
)
"""`nexdyn`, of the package that runs here, wherever Python would look first."""
ROBOT = """\
<robot name="robot">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="50" velocity="5"/><dynamics damping="0.1"/></joint>
  <joint name="slide" type="prismatic"><origin xyz="0 0 0.4"/><parent link="arm"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.2" effort="50" velocity="5"/><dynamics damping="5"/></joint>
</robot>
"""
BALL = """\
name: ball
bodies:
  ball: {mass: 1.0, inertia: [4.0e-3, 4.0e-3, 4.0e-3], position: [0, 0, 0.11], shapes: [{type: sphere, radius: 0.1}]}
joints:
  free: {type: free, parent: ground, child: ball}
contacts:
  floor: {a: ball, stiffness: 1.0e+5, damping: 0.5, friction: 0.5}
simulation: {t_end: 0.2}
"""
FILES = {"robot.urdf": ROBOT, "ball.yaml": BALL}
"""What commands read that is no demo."""


def command(
    *,
    check: Annotated[bool, flag("Say what is compiled, and compile nothing.")] = False,
    jobs: Annotated[int, Parameter(help="How many at once; default: as many as there are cores.", converter=whole)] = 0,
    limit: Annotated[
        float, Parameter(help="Stop after so many seconds; what is done is kept.", converter=seconds)
    ] = 3600.0,
    into: Annotated[str, Parameter(help="Another folder than the user's cache, as builds of the package use.")] = "",
    tiers: Annotated[
        str, Parameter(help="For tiers of processors, with --into: names and commas; default: for this processor.")
    ] = "",
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Compile what first commands need, so that they start at once."""
    if check:
        found = state()
        terminal.say_json(found) if saying.json else terminal.say("\n".join(_told(found)))
        return
    if jobs < 0 or not limit > 0.0:
        raise InputError(
            f"jobs is {jobs} and limit {limit:g} s; give as many as 1 and more than 0 s, or leave them out"
        )
    from nexdyn.kernel_folders import MADE, cache_folder, versions

    kinds = _tiers(tiers) if tiers else []
    if kinds and not into:
        raise InputError("kernels for tiers are not kept in the user's cache; give the folder that they go --into")
    own = cache_folder()
    if own is None and not into:
        raise InputError("no folder for kernels can be written; set NEXDYN_CACHE_DIR to one")
    place = Path(into).absolute() if own is None or into else own.parent
    came_to: dict[str, list[str]] = {}
    began = time.perf_counter()
    wanted = [line for line in COMMANDS if _runs_here(line)]
    settings: list[dict[str, str]] = [tier.environment for tier in kinds] or [{}]
    with progress_bar("compiling", not saying.json) as bar:
        bar.count(0, len(settings) * len(wanted))
        for line, ending in _made_ready(wanted, settings, place, jobs or os.cpu_count() or 1, began + limit):
            came_to.setdefault(line, []).append(ending)
            bar.count(sum(map(len, came_to.values())), len(settings) * len(wanted))
    done = [line for line in wanted if came_to.get(line) == len(settings) * [READY]]
    if into:
        made = {"versions": versions(), "commands": done, "tiers": [tier.name for tier in kinds]}
        (place / MADE).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    spent = time.perf_counter() - began
    if saying.json:
        terminal.say_json(
            {"folder": place, "commands": done, "left_out": [x for x in wanted if x not in done], "seconds": spent}
        )
    else:
        terminal.say(
            f"{len(done)} of {len(wanted)} commands are ready, after {spent:.0f} s; their kernels are in {place}"
        )
        for line in wanted:
            if line not in done:
                terminal.say(f"  not yet: nexdyn {line}")
    if failed := [ending for endings in came_to.values() for ending in endings if ending not in (READY, OUT_OF_TIME)]:
        raise SolveError("; ".join(dict.fromkeys(failed)))


def _tiers(names: str) -> list[Tier]:
    """Tiers by their names; InputError for one that does not exist, or that this processor cannot run."""
    from nexdyn.compiler.tiers import of_machine, that_run

    known, run = {tier.name: tier for tier in of_machine()}, {tier.name for tier in that_run()}
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            raise unknown("tier", name, known)
        if name not in run:
            raise InputError(
                f"kernels for {name} are compiled by running them, and this processor cannot; it runs {', '.join(run) or 'none'}"
            )
    return [known[name] for name in dict.fromkeys(wanted)]


def state() -> dict[str, Any]:
    """What is compiled for the package as it is now: in the user's cache and beside the package."""
    from nexdyn import kernel_folders, numba_parts

    own, shipped = kernel_folders.cache_folder(), kernel_folders.SHIPPED
    made = kernel_folders.made_for()
    return {
        "cache": {"folder": own.parent if own else None, **_counted([own.parent] if own else [])},
        "package": {
            "folder": shipped if shipped.is_dir() else None, **_counted([shipped]),
            "commands": made.get("commands", []), "tiers": made.get("tiers", []), "differs": kernel_folders.other_versions(),
        },
        "compiler": {"plain": numba_parts.is_plain(), "missing": list(numba_parts.missing())},
    }  # fmt: skip


def _counted(folders: list[Path]) -> dict[str, Any]:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    kernels = [path for path in files if path.suffix == ".nbc"]
    return {"kernels": len(kernels), "megabytes": sum(path.stat().st_size for path in files) / 1e6}


def _told(found: dict[str, Any]) -> Iterator[str]:
    cache, package, compiler = found["cache"], found["package"], found["compiler"]
    if compiler["plain"]:
        yield "compiler Numba alone, slower to start: " + (
            f"this version lacks {', '.join(compiler['missing'])}"
            if compiler["missing"]
            else "NEXDYN_PLAIN_NUMBA is set"
        )
    if cache["folder"] is None:
        yield "cache    no folder can be written; NEXDYN_CACHE_DIR names another"
    else:
        yield f"cache    {cache['kernels']} kernels, {cache['megabytes']:.0f} MB, in {cache['folder']}"
    if package["folder"] is None:
        yield "package  none came with it; nexdyn warm compiles what first commands need"
        return
    yield f"package  {package['kernels']} kernels, {package['megabytes']:.0f} MB, in {package['folder']}"
    if package["differs"]:
        yield f"         of no use here: {package['differs']}; nexdyn warm compiles them anew"
    else:
        if package["tiers"]:
            yield f"         for processors of the tiers {', '.join(package['tiers'])}"
        yield from (f"         ready: nexdyn {line}" for line in package["commands"])


def _runs_here(line: str) -> bool:
    module = EXTRAS.get(line.split()[0])
    return module is None or importlib.util.find_spec(module) is not None


def _made_ready(
    lines: list[str], settings: list[dict[str, str]], place: Path, jobs: int, end: float
) -> Iterator[tuple[str, str]]:
    """Run commands under each of the settings, several at once, until `end`; each as it ends, and how."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        running = {
            pool.submit(_run, line, setting, Path(folder), place, end): line for setting in settings for line in lines
        }
        try:
            for ended in as_completed(running):
                yield running[ended], ended.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _run(line: str, setting: dict[str, str], folder: Path, place: Path, end: float) -> str:
    """Run `nexdyn LINE` with its kernels in `place`, until `end` at most; how that ended."""
    left = end - time.perf_counter()
    if not left > 0.0:
        return OUT_OF_TIME
    with tempfile.TemporaryDirectory(dir=folder) as here:
        arguments = [str(folder / word) if word in FILES else word for word in line.split()]
        try:
            done = subprocess.run(
                [sys.executable, "-c", OF_THIS_PACKAGE, *arguments], cwd=here, env=os.environ | setting | {"NEXDYN_CACHE_DIR": str(place)},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=left,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return OUT_OF_TIME
    return f"nexdyn {line} ended with {done.returncode}: {done.stderr.strip()[-500:]}" if done.returncode else READY

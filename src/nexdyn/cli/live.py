"""`nexdyn view --live`: a model runs on the page, is dragged, changed and taken back; and what was done, done again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from nexdyn.cli import terminal
from nexdyn.cli.files import check_writable
from nexdyn.cli.model import Model
from nexdyn.cli.options import flag, option
from nexdyn.cli.prepare import started
from nexdyn.cli.progress import compilation_announced, progress_bar
from nexdyn.errors import FileError, InputError
from nexdyn.simulation.quiet import quiet

if TYPE_CHECKING:
    from nexdyn.cli.run import Motion
    from nexdyn.simulation.session import Session

LIVE = Group("Live page", sort_key=3)
FORMAT = "nexdyn hands"


@Parameter(name="*")
@dataclass(frozen=True)
class Live:
    """A system that runs on the page."""

    live: Annotated[
        bool, flag("Simulate on the page: drag bodies with the mouse, change parameters, undo.", group=LIVE)
    ] = False
    out: Annotated[Path | None, option("Write its motion (.nc) when the page ends.", LIVE)] = None
    hands: Annotated[
        Path | None, option("Write the actions of the mouse and sliders (.json) when the page ends.", LIVE)
    ] = None
    replay: Annotated[
        Path | None, option("Repeat the actions that --hands wrote, to the last bit, and show them.", LIVE)
    ] = None

    @property
    def asked(self) -> bool:
        """Whether there is to be a session."""
        return self.live or self.replay is not None

    def check(self, name: str, writes: bool, still: bool, ghost: str | None) -> None:
        """InputError for options that exclude each other."""
        if self.live and (writes or still or ghost is not None):
            raise InputError(
                "--live is a page that runs; leave it, or --html, --png, --gif, --mp4, --still and GHOST, out"
            )
        if (self.out or self.hands) and not self.live:
            raise InputError(f"{'--out' if self.out else '--hands'} is what a page that runs leaves; add --live")
        if self.replay is not None and (self.live or still):
            raise InputError("--replay shows what was done; leave --live and --still out")
        if self.out is not None:
            check_writable("--out", self.out, (".nc", ".nc4"), {"the model": Path(name)})
        if self.hands is not None:
            check_writable("--hands", self.hands, (".json",), {"the model": Path(name)})


LIVE_PLAINLY = Live()


def session_of(model: Model, motion: Motion, live: Live) -> Session:
    """The session of a model at its start, or after what a file of hands says."""
    from nexdyn.integrate.methods import HHT
    from nexdyn.simulation.session import RTOL, Session
    from nexdyn.simulation.users import UserStates

    for option_name, given in (("--t-end", motion.t_end), ("--output-every", motion.output_every)):
        if given is not None:
            raise InputError(f"{option_name} is of a run that ends by itself; leave it, or --live and --replay, out")
    options = started(model, motion) | {"on_gap": motion.on_gap}
    method = options["method"]
    asked = motion.method or motion.dt or motion.rtol or "method" in model.simulation
    if isinstance(method, HHT) and not asked:
        options["method"] = replace(method, rtol=RTOL)
    with progress_bar(model.name, show=True) as bar, compilation_announced(bar):
        bar.stage("preparing")
        if live.replay is not None:
            log = _log(live.replay, Session(model.system, **options))
            return Session.replay(model.system, log, **options)
        if not UserStates(model.system).may_change:  # whose states it would move
            _warm_up(Session(model.system, **options))
        return Session(model.system, **options)


def _warm_up(session: Session) -> None:
    """Do once what a page does, so that all is compiled before it is open."""
    moment = session.shortest or 1e-3
    session.advance(moment)
    session.grab(next(iter(session.system.bodies)))
    session.advance(moment)
    seen = session.latest().observed
    seen.collect(["position", *(["reaction"] if seen.knows("reaction") else [])])


def write(session: Session, live: Live) -> None:
    """What the page leaves: what was done first, for it makes the rest again."""
    from nexdyn.results.atomic import written

    if live.hands is not None:
        done = {FORMAT: 1, "system": session.system.name, **_told(session), "log": session.log}
        with written(live.hands) as part:
            part.write_text(json.dumps(done), encoding="utf-8")
        terminal.note(f"wrote {live.hands}; with --replay {live.hands} the same is done again")
    if live.out is not None:
        session.result().save(live.out)
        terminal.note(f"wrote {live.out}")


def _told(session: Session) -> dict[str, Any]:
    """What a log is of: the method, and the system as it was at the start."""
    from nexdyn.describe import to_dict

    with quiet():  # what is written in Python is not compared
        described = json.dumps(to_dict(session.first, lossy=True), sort_keys=True)
    return {"how": json.loads(json.dumps(session.how)), "described": hashlib.sha256(described.encode()).hexdigest()}


def _log(file: Path, session: Session) -> list[dict[str, Any]]:
    """The log in a file, of a session like this one."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {error}", file=str(file)) from None
    except ValueError as error:
        raise FileError(f"is no file that --hands wrote: {error}", file=str(file)) from None
    log = found.get("log") if isinstance(found, dict) and found.get(FORMAT) == 1 else None
    if not isinstance(log, list) or not all(isinstance(entry, dict) and entry for entry in log):
        raise FileError("is no file that --hands wrote", file=str(file))
    told = _told(session)
    if found.get("described") != told["described"]:
        raise FileError(
            f"is of another system, {found.get('system')!r}, or of this one with other numbers (--set)", file=str(file)
        )
    if found.get("how") != told["how"]:
        raise FileError(f"was done by {found.get('how')}, not by {told['how']}", file=str(file))
    return log

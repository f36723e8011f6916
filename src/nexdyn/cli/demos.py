"""`nexdyn demos`: the models that come with NexDyn."""

from __future__ import annotations

from nexdyn.cli import terminal
from nexdyn.cli.options import SAYING_PLAINLY, Saying

NAME = "demos"
EXAMPLES = """\
Examples:
  nexdyn demos                     the list
  nexdyn run hinge-chain           simulate one
  nexdyn info double-pendulum      what it consists of"""


def command(*, saying: Saying = SAYING_PLAINLY) -> None:
    """List the demos, one per line."""
    from nexdyn.io.loader import demos

    found = demos()
    if saying.json:
        terminal.say_json({"demos": [{"name": name, "description": text} for name, text in found.items()]})
        return
    width = max(map(len, found), default=0)
    for name, text in found.items():
        terminal.say(f"{name:{width}}  {text}")

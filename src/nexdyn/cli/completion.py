"""`nexdyn completion`: the script that completes command lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from nexdyn.cli.options import SAYING_PLAINLY, Saying
from nexdyn.errors import InputError

NAME = "completion"
EXAMPLES = """\
Examples:
  source <(nexdyn completion bash)               this session
  nexdyn completion zsh > ~/.zfunc/_nexdyn       of $fpath, before compinit
  nexdyn completion fish > ~/.config/fish/completions/nexdyn.fish"""

Shell = Literal["bash", "zsh", "fish"]
_MODELS = """
# The first word after a command may be a file or a demo.
_nexdyn_with_models() {
  _nexdyn
  local word="${COMP_WORDS[COMP_CWORD]}"
  if [[ $COMP_CWORD -eq 2 && $word != -* ]]; then
    case "${COMP_WORDS[1]}" in
      run | view | check | equilibrium | info | convert) COMPREPLY+=($(compgen -W "DEMOS" -- "$word") $(compgen -f -- "$word")) ;;
    esac
  fi
}
complete -o filenames -o default -F _nexdyn_with_models nexdyn
"""
SHELLS: tuple[Shell, ...] = ("bash", "zsh", "fish")


def command_for(app: App) -> Callable[..., None]:
    """The command that prints the script of `app`."""

    def command(
        shell: Annotated[
            Shell | None, Parameter(name="SHELL", help="Default: the one that $SHELL names.", show_default=False)
        ] = None,
        /,
        *,
        saying: Saying = SAYING_PLAINLY,
    ) -> None:
        """Print a script that completes commands and options in bash, zsh or fish."""
        from nexdyn.io.loader import demos

        chosen = shell or _current()
        sys.stdout.write(app.generate_completion(prog_name="nexdyn", shell=chosen).rstrip("\n") + "\n")
        if chosen == "bash":
            sys.stdout.write(_MODELS.replace("DEMOS", " ".join(demos())))

    return command


def _current() -> Shell:
    name = Path(os.environ.get("SHELL", "")).name
    for shell in SHELLS:
        if shell == name:
            return shell
    raise InputError(f"$SHELL is {name or 'empty'}; name one of {', '.join(SHELLS)}: nexdyn completion bash")

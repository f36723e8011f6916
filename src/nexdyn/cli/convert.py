"""`nexdyn convert`: a model in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nexdyn.cli import terminal
from nexdyn.cli.files import check_writable
from nexdyn.cli.model import Model, read
from nexdyn.cli.options import READING_PLAINLY, SAYING_PLAINLY, Reading, Saying

NAME = "convert"
EXAMPLES = """\
Examples:
  nexdyn convert robot.urdf robot.yaml           a robot as a scene
  nexdyn convert robot.urdf robot.yaml --base free
  nexdyn convert scene.yaml robot.urdf           back, as far as URDF goes
  nexdyn convert hinge-chain chain.urdf --set L=0.3
  nexdyn convert run.nc scene.yaml               the system that a result holds

What the other format cannot express is listed as lost."""
_SCENES, _ROBOTS = (".yaml", ".yml"), (".urdf",)


def command(
    name: Annotated[str, Parameter(name="MODEL", help="A scene (.yaml), a robot (.urdf), a demo, or a result (.nc).")],
    target: Annotated[Path, Parameter(name="TARGET", help="The file to write: a scene (.yaml) or a robot (.urdf).")],
    /,
    *,
    reading: Reading = READING_PLAINLY,
    saying: Saying = SAYING_PLAINLY,
) -> None:
    """Write a model as a scene or as a URDF, and say what is lost."""
    check_writable("TARGET", target, (*_SCENES, *_ROBOTS), {"the model": Path(name)})
    model = read(name, reading)
    lost = _not_read(name, model) + _write(model, target)
    counts = {"bodies": len(model.system.bodies), "joints": len(model.system.joints)}
    if saying.json:
        terminal.say_json({"files_written": [str(target)], **counts, "lost": lost})
        return
    terminal.say(f"written  {target}: {', '.join(f'{count} {what}' for what, count in counts.items())}")
    for k, what in enumerate(lost):
        terminal.say(f"{'lost' if k == 0 else '':9}{what}")


def _not_read(name: str, model: Model) -> list[str]:
    """What the source says that the model does not."""
    if model.result is not None:
        return [f"the motion, which stays in {name}"] + [f"force {force!r}" for force in model.result.lost_forces]
    path = Path(name)
    if path.is_file() and path.suffix.lower() not in _SCENES:
        from nexdyn.io.urdf_passed import passed_over

        return passed_over(path)
    return []


def _write(model: Model, target: Path) -> list[str]:
    """Write the model; what the target's format does not say."""
    if target.suffix.lower() in _SCENES:
        from nexdyn.io.scene import save_scene

        save_scene(model.system, target, model.simulation, model.description, lossy=True, view=model.view)
        return []
    from nexdyn.io.urdf_writer import save_urdf

    lost = save_urdf(model.system, target)
    if model.simulation:
        lost.append(f"how it is simulated: {', '.join(model.simulation)}")
    if model.description:
        lost.append("its description")
    return lost

"""Write the kept curves of a suite anew from a copy of what the peer published.

python -m nexdyn.problems.against.thin adams chrono
python -m nexdyn.problems.against.thin recurdyn NexDynIPC
python -m nexdyn.problems.against.thin dymola MAP-LIB_ReferenceResults
python -m nexdyn.problems.against.thin exudyn EXUDYN              runs the models, with Exudyn installed
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nexdyn.errors import counted
from nexdyn.problems.against import adams, dymola, exudyn_live, exudyn_models, recurdyn
from nexdyn.problems.against.kept import DRIFT, OWN, path_of, write_curves


def thin_adams(folder: Path) -> None:
    """Every tenth sample."""
    for name in adams.CASES:
        found = adams.copied(name, folder)
        said = {"origin": f"{adams.SOURCE}, {name}", "sampling": f"every {adams.EVERY}th sample"}
        write_curves(path_of("adams", name), said, found.t, found.curves)


def thin_recurdyn(folder: Path) -> None:
    """Every fiftieth sample."""
    found = recurdyn.copied(folder)
    own = f"{recurdyn.own_error(folder):.2g}"
    said = {"origin": recurdyn.ORIGIN, "sampling": f"every {recurdyn.EVERY}th sample", "own error": own}
    write_curves(path_of("recurdyn", recurdyn.NAME), said, found.t, found.curves)


def thin_dymola(folder: Path) -> None:
    """Some 50 samples of the signals that our descriptions have."""
    for path, (_, build) in dymola.MODELS.items():
        found = dymola.copied(path, build, folder)
        said = {"origin": f"{dymola.SOURCE}, {path}", "sampling": "equally spaced in their number"}
        if np.isfinite(found.own_error):
            said[DRIFT] = f"{found.own_error:.2g}"
        write_curves(path_of("dymola", dymola.name_of(path)), said, found.t, found.curves)


def thin_exudyn(folder: Path) -> None:
    """What Exudyn computes of each model, and the parameters of its items."""
    for model in exudyn_models.MODELS:
        whole, fine = (exudyn_live.recorded(model.file, folder, r) for r in (1, exudyn_live.REFINED))
        keep_exudyn(model, whole, fine)


def keep_exudyn(model: exudyn_models.Model, whole: Mapping[str, Any], fine: Mapping[str, Any]) -> None:
    """Write the parameters and the curves of a model, without the bodies that are left out."""
    items = {
        kind: [plain_item(item) for item in whole["items"][kind]] for kind in ("nodes", "objects", "markers", "loads")
    }
    said: dict[str, Any] = {"origin": f"{exudyn_models.SOURCE}, {model.file}"}
    parameters = json.dumps({**said, "solver": whole["solver"], "items": items}, separators=(",", ":"))
    path = path_of("exudyn", model.name).with_suffix(".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(parameters.replace('{"', '\n{"').lstrip() + "\n", encoding="utf-8")
    found = exudyn_live.reference_of(*(exudyn_live.without(record, model.left_out) for record in (whole, fine)))
    said |= {
        "sampling": counted(len(found.t), "sample"), "own error": f"{found.own_error:.6g}",
        "value by which the model judges itself": str(whole["result"]),
        **{f"{OWN}{quantity}": f"{error:.6g}" for quantity, error in found.own_errors.items()},
    }  # fmt: skip
    write_curves(path_of("exudyn", model.name), said, found.t, found.curves)


def plain_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without its name."""
    return {key: value for key, value in item.items() if key != "name"}


SUITES = {"adams": thin_adams, "recurdyn": thin_recurdyn, "dymola": thin_dymola, "exudyn": thin_exudyn}

if __name__ == "__main__":
    SUITES[sys.argv[1]](Path(sys.argv[2]))

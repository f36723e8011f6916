"""Write the kept curves of a suite anew from a copy of what the peer published.

python -m nexdyn.problems.against.thin adams chrono
python -m nexdyn.problems.against.thin recurdyn NexDynIPC
python -m nexdyn.problems.against.thin dymola MAP-LIB_ReferenceResults
python -m nexdyn.problems.against.thin exudyn EXUDYN              runs the models, with Exudyn installed
"""

from __future__ import annotations

import sys
from pathlib import Path


from nexdyn.problems.against import adams, recurdyn
from nexdyn.problems.against.kept import path_of, write_curves


def thin_adams(folder: Path) -> None:
    """Every tenth sample."""
    for name in adams.CASES:
        found = adams.copied(name, folder)
        said = {"origin": f"{adams.SOURCE}, {name}", "sampling": f"every {adams.EVERY}th sample"}
        write_curves(path_of("adams", name), said, found.t, found.curves)


def thin_recurdyn(folder: Path) -> None:
    """Every fiftieth sample."""
    found = recurdyn.copied(folder)
    said = {"origin": recurdyn.ORIGIN, "sampling": f"every {recurdyn.EVERY}th sample"}
    write_curves(path_of("recurdyn", recurdyn.NAME), said, found.t, found.curves)


SUITES = {"adams": thin_adams, "recurdyn": thin_recurdyn}

if __name__ == "__main__":
    SUITES[sys.argv[1]](Path(sys.argv[2]))

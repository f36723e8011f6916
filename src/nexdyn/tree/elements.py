"""Force elements on a tree. Without elements (None) nothing is compiled and nothing costs.

    X_WF = X_Wi X_iF,  V_F = (R ω, R (v + ω × p)) of the markers;   F_ext,i += X_Wi⁻¹ of the wrench at the marker
"""

from __future__ import annotations

from typing import Any

from nexdyn.spatial.generic import defines, generic

act = generic("act", "Add force elements to F_ext and τ, world poses given; returns a status.")
energy_of_elements = generic("energy_of_elements", "Elastic energy [J] of the force elements.")


@defines(act)
def _(model: Any, work: Any, t: float, q: Any, v: Any, tau: Any, forces: None) -> Any:
    return 0


@defines(energy_of_elements)
def _(work: Any, forces: None) -> Any:
    return 0.0

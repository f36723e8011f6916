"""`ErrorEstimate`: how far a run is from the motion, measured by a second, finer run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nexdyn.errors import unknown

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class ErrorEstimate:
    """Errors of a run, from its distance to a finer one.

    second: the method of that run. errors: a Dataset over `time` with the errors of `joint_position`, `joint_velocity`
    (as in the result, one a coordinate), and of bodies: `position` [m], `velocity` [m/s], `orientation` [rad], each a size.
    valid_until [s]: from there on the two part exponentially and no error is known (nan in `errors`); None where they do not.
    """

    second: str
    errors: xr.Dataset
    valid_until: float | None

    def joint_position(self, joint: str) -> xr.DataArray:
        """The errors (time, coordinate) of a joint's coordinates [rad, m, 1]; of one coordinate (time,)."""
        return self._of_joint("joint_position", "coordinate", joint)

    def joint_velocity(self, joint: str) -> xr.DataArray:
        """The errors (time, freedom) of a joint's velocities [rad/s, m/s]; of one degree of freedom (time,)."""
        return self._of_joint("joint_velocity", "freedom", joint)

    def position(self, body: str) -> xr.DataArray:
        """By how much the origin of a body may be elsewhere (time,) [m]."""
        return self._of_body("position", body)

    def orientation(self, body: str) -> xr.DataArray:
        """By how much a body may be turned otherwise (time,) [rad]."""
        return self._of_body("orientation", body)

    def velocity(self, body: str) -> xr.DataArray:
        """The error of the velocity of a body's origin (time,) [m/s]."""
        return self._of_body("velocity", body)

    def _of_joint(self, what: str, axis: str, joint: str) -> xr.DataArray:
        found = self.errors[what]
        labels = [str(label) for label in found[axis].values]
        mine = [label for label in labels if label == joint or label.rpartition(".")[0] == joint]
        if not mine:
            raise unknown("joint", joint, sorted({label.rpartition(".")[0] or label for label in labels}))
        chosen = found.sel({axis: mine})
        return chosen.squeeze(axis, drop=True) if len(mine) == 1 else chosen

    def _of_body(self, what: str, body: str) -> xr.DataArray:
        bodies = [str(name) for name in self.errors["body"].values]
        if body not in bodies:
            raise unknown("body", body, bodies, plural="bodies")
        return self.errors[what].sel(body=body)

    def __str__(self) -> str:
        said = []
        for what, axis in (("position", "body"), ("orientation", "body"), ("joint_position", "coordinate")):
            x = self.errors[what]
            if x.size and np.isfinite(x.values).any():
                k = int(np.nanargmax(np.nanmax(np.where(np.isfinite(x.values), x.values, -1.0), axis=0)))
                unit = f" {x.attrs['units']}" if x.attrs.get("units") else ""
                said.append(f"{what} {np.nanmax(x.values[:, k]):.1e}{unit} ({x[axis].values[k]})")
        largest = ", ".join(said) or "none"
        parted = (
            f"; from t = {self.valid_until:g} s on no error is known: the runs part exponentially"
            if self.valid_until is not None
            else ""
        )
        return f"largest errors, measured by {self.second}: {largest}{parted}"

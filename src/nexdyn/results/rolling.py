"""What disks and spheres that roll on a plane did: point of contact, force, lean.

P = p_B + r (u e − n)/√(1 − u²) − ρ n,   u = n · e = sin(lean)         as in ``constraints.rolling``
force = R_A f of the reaction:  normal n · f,  tangential the rest
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nexdyn.errors import unknown
from nexdyn.joints.rolling_disk import RollingDisk
from nexdyn.joints.rolling_sphere import RollingSphere
from nexdyn.model.system import System

if TYPE_CHECKING:
    import xarray as xr

    from nexdyn.results.result import Result


def rolling_joints(system: System) -> dict[str, RollingDisk | RollingSphere]:
    """Joints that roll, by name."""
    return {joint.name: joint for joint in system.joints.values() if isinstance(joint, RollingDisk | RollingSphere)}


def rolling(result: Result, name: str, rows: Any = slice(None)) -> dict[str, np.ndarray]:
    """point, force (n, 3), normal, tangential, lean (n,) of the joint `name` at the samples `rows`."""
    system, observed = result.system, result.observed
    joints = rolling_joints(system)
    if name not in joints:
        raise unknown("rolling joint", name, joints)
    joint, values = joints[name], system.values
    R_PA, _, R_CB, p_CB = joint.frames(values)
    R_A = observed.at_frame("rotation", joint.parent.name)[rows] @ R_PA
    R_C = observed.at_frame("rotation", joint.child.name)[rows]
    n, e = R_A[..., 2], (R_C @ R_CB)[..., 2]
    r, tube = joint.data(values)
    u = np.einsum("ni,ni->n", n, e) if r else np.zeros(len(n))
    s = np.sqrt(np.maximum(1.0 - u * u, 0.0))
    low = r * (u[:, None] * e - n) / np.where(s > 0.0, s, 1.0)[:, None]
    point = observed.at_frame("position", joint.child.name)[rows] + R_C @ p_CB + low - tube * n
    f = np.einsum("nij,nj->ni", R_A, observed.take("reaction", observed.labels.dims["joint"].index(name))[rows, :3])
    normal = np.einsum("ni,ni->n", n, f)
    tangential = np.linalg.norm(f - normal[:, None] * n, axis=1)
    return {
        "point": point,
        "force": f,
        "normal": normal,
        "tangential": tangential,
        "lean": np.arcsin(np.clip(u, -1.0, 1.0)),
    }


_SAYS = {
    "point": ("m", "point of contact in the world"), "force": ("N", "force of the plane on the body, world axes"),
    "normal": ("N", "normal force"), "tangential": ("N", "friction force, its size"),
    "lean": ("rad", "angle of the axle with the plane"),
}  # fmt: skip


def rolling_dataset(result: Result, name: str) -> xr.Dataset:
    """See `Result.rolling`."""
    import xarray as xr

    t = result.recording.t.copy()
    found = {}
    for key, values in rolling(result, name).items():
        units, long_name = _SAYS[key]
        dims = ["time", "axis"] if values.ndim == 2 else ["time"]
        found[key] = xr.DataArray(values, dims=dims, attrs={"units": units, "long_name": long_name})
    return xr.Dataset(found, coords={"time": t, "axis": ["x", "y", "z"]})


def rolling_at_end(result: Result) -> list[dict[str, Any]]:
    """The same of all such joints at the last sample, as JSON has it."""
    rows = []
    for name in rolling_joints(result.system):
        found = rolling(result, name, slice(-1, None))
        rows.append({"joint": name} | {key: x[0].tolist() if x.ndim == 2 else float(x[0]) for key, x in found.items()})
    return rows

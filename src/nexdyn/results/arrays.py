"""Labelled arrays (xarray) of what is observed. xarray takes half a second to import: reach this page lazily."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from nexdyn.errors import unknown
from nexdyn.results.contacts import COLUMNS, columns_of, contact_points
from nexdyn.results.observed import Observed
from nexdyn.results.quantities import ENERGIES, PEAKS, QUANTITIES, common_unit
from nexdyn.results.table import peak_lines
from nexdyn.spatial.rotations import cross_product

SECONDS = {"units": "s", "long_name": "time"}


def labelled(
    observed: Observed, name: str, values: np.ndarray, chosen: Mapping[str, str] | None = None, units: bool = True
) -> xr.DataArray:
    """`values` of a quantity with its labels.

    chosen: the one label of each axis that is gone. units: whether mixed units come along as the coordinate `units`.
    """
    quantity, labels = QUANTITIES[name], observed.labels
    coords: dict[str, Any] = {"time": _time(observed), **(chosen or {})}
    dims = [dim for dim in quantity.dims if dim not in coords]
    coords |= {dim: (dim, _texts(labels.dims[dim])) for dim in dims}
    if units and not quantity.units:
        coords["units"] = (dims[-1], _texts(labels.units[name]))
    attributes = {"units": labels.unit(name), "long_name": quantity.long_name}
    return xr.DataArray(values, coords, ["time", *dims], name=name, attrs=attributes)


def of_joint(observed: Observed, name: str, values: np.ndarray, own: list[tuple[str, str]]) -> xr.DataArray:
    """Coordinates or degrees of freedom of one joint, whose labels and units are `own`; a single one has no axis."""
    dim, labels, units = QUANTITIES[name].dims[0], [label for label, _ in own], [unit for _, unit in own]
    attributes = {"units": common_unit(units), "long_name": QUANTITIES[name].long_name}
    coords: dict[str, Any] = {"time": _time(observed)}
    if len(own) == 1:
        return xr.DataArray(values[:, 0], coords | {dim: labels[0]}, ["time"], name=name, attrs=attributes)
    coords |= {dim: (dim, _texts(labels)), "units": (dim, _texts(units))}
    return xr.DataArray(values, coords, ["time", dim], name=name, attrs=attributes)


def _time(observed: Observed) -> tuple[str, np.ndarray, dict[str, str]]:
    return "time", observed.recording.t.copy(), SECONDS


def _texts(labels: Sequence[str]) -> np.ndarray:
    return np.array(labels, dtype=str)


def energy(observed: Observed) -> xr.Dataset:
    """Kinetic, gravitational, elastic and total energy over time."""
    found = {name: labelled(observed, name, observed.energies[name].copy()) for name in ENERGIES}
    return xr.Dataset({name.removesuffix("_energy"): array for name, array in found.items()})


def peaks(observed: Observed) -> PeakTable:
    """The table of peaks."""
    joints = _texts(observed.labels.dims["joint"])
    columns = {
        name: ("joint", values.copy(), {"units": PEAKS[name].units, "long_name": PEAKS[name].long_name})
        for name, values in observed.peaks._asdict().items()
    }
    attributes = {"long_name": "peaks of the joints' reactions", "of": observed.peaks_of}
    return PeakTable(columns, {"joint": joints}, attributes)


def measure(observed: Observed, name: str) -> xr.DataArray:
    """A measure over time, with an axis where it is a vector."""
    measures = observed.tree.system.measures
    values = observed.measured(name)
    coords: dict[str, Any] = {"time": _time(observed)}
    dims = ["time"]
    if measures[name].axes:
        coords["axis"], dims = list(measures[name].axes), ["time", "axis"]
    attributes = {"units": measures[name].unit, "long_name": f"{measures[name].kind.replace('_', ' ')} {name!r}"}
    return xr.DataArray(values, coords, dims, name=name, attrs=attributes)


def one_of(observed: Observed, name: str, label: str | None) -> xr.DataArray:
    """A quantity over the labels of its only axis, or at one of them."""
    dim = QUANTITIES[name].dims[0]
    labels = observed.labels.dims[dim]
    if label is not None and label not in labels:
        raise unknown(dim, label, labels)
    array = labelled(observed, name, observed.take(name))
    if label is None:
        return array
    chosen = array.sel({dim: label})
    chosen.attrs["units"] = observed.labels.units[name][labels.index(label)]
    return chosen


def contacts(observed: Observed, name: str | None) -> xr.Dataset:
    """All that is told of contacts; of the one called `name` alone."""
    found, points = observed.collect(list(COLUMNS)), contact_points(observed.tree.system)
    out = xr.Dataset({key.removeprefix("contact_"): labelled(observed, key, values) for key, values in found.items()})
    named = {"of": [p.of for p in points], "a": [p.a for p in points], "b": [p.b for p in points]}
    out = out.assign_coords({key: ("contact", _texts(texts)) for key, texts in named.items()})
    if name is None:
        return out
    own = [points[k].label for k in columns_of(observed.tree.system, name)]
    return out.sel(contact=own[0] if own == [name] else own)


def contact_load(observed: Observed, body: str) -> xr.Dataset:
    """Sum of what contacts do to a body, about its origin."""
    names = observed.labels.dims["body"]
    if body != "ground" and body not in names:
        raise unknown("body", body, [*names, "ground"])
    points = contact_points(observed.tree.system)
    sign = np.array([(point.a == body) - float(point.b == body) for point in points]).reshape(-1, 1)
    told = observed.collect(["contact_force", "contact_point", "contact_moment"])
    about = np.zeros(3) if body == "ground" else observed.take("position")[:, names.index(body), None]
    force = sign * told["contact_force"]
    moment = cross_product(told["contact_point"] - about, force) + sign * told["contact_moment"]
    coords: dict[str, Any] = {"time": _time(observed), "axis": list("xyz")}
    found = {}
    for what, values, unit, where in (("force", force, "N", "on"), ("moment", moment, "N m", "about the origin of")):
        attributes = {"units": unit, "long_name": f"{what} of all contacts {where} {body!r}, world axes"}
        found[what] = xr.DataArray(values.sum(axis=1), coords, ["time", "axis"], attrs=attributes)
    return xr.Dataset(found)


def dataset(observed: Observed, names: list[str], attributes: Mapping[str, Any]) -> xr.Dataset:
    """Several quantities together, as a file has them: mixed units stand in `NAME_units`; and the peaks."""
    variables: dict[str, Any] = {}
    for name, values in observed.collect(names).items():
        variables[name] = labelled(observed, name, values, units=False)
        if not QUANTITIES[name].units:
            units = _texts(observed.labels.units[name])
            variables[name] = variables[name].assign_coords({f"{name}_units": (QUANTITIES[name].dims[-1], units)})
    out = xr.Dataset(variables, attrs=dict(attributes))
    if "reaction" in names:
        found = peaks(observed)
        out = out.assign({f"peak_{name}": found[name].variable for name in PEAKS})
    return out


class PeakTable(xr.Dataset):
    """A dataset over joints that prints as a table: largest force and moment of each reaction, and when."""

    __slots__ = ()

    def __repr__(self) -> str:
        if set(PEAKS) <= set(self.data_vars) and self["force"].dims == ("joint",):
            return "\n".join(peak_lines(self["joint"].values.tolist(), [self[name].values.tolist() for name in PEAKS]))
        return super().__repr__()

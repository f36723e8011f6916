"""Records: the columns of tables and the slots of vectors by name, in every storage, compiled, interpreted and bounds-checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import nexdyn
from nexdyn.kernel import kernel
from nexdyn.records import Record, field_of, holds_records, prefetch, rows_of
from nexdyn.spatial.algebra import Mat3, Pose, Vec3
from nexdyn.spatial.lanes import LANES, LaneOfTable, LaneTable, LaneVector, OneLane, SharedTable, packs

Array = np.ndarray


class Count(Record):
    """Whole numbers."""

    parent: int
    many: int
    last: int


class Thing(Record):
    """Numbers and value types."""

    m: float
    X: Pose
    v: Vec3
    r: float


class Other(Record):
    """As wide as a `Thing`."""

    first: Pose
    rest: Vec3
    p: float
    q: float


Counts, Things, Others = rows_of(Count), rows_of(Thing), rows_of(Other)


@holds_records
class Holder(NamedTuple):
    """Two tables of records and one that is none."""

    counts: Annotated[Any, Count]
    things: Annotated[Any, Thing]
    plain: Any


@kernel
def stirred(counts, things, out):
    """Every way of reading and writing numbers and value types of rows and columns."""
    n, t = Counts(counts), Things(things)
    m, X, p = t.m, t.X, t.X.p
    for i in range(len(t)):
        thing = t[i]
        thing.m = thing.m + 1.0
        thing.r = 2.0 * m[i] - thing.v.y
        thing.v = X[i].R @ thing.v
        p[i] = p[i] + thing.v
        X[i] = Pose(X[i].R @ X[i].R, X[i].p)
        m[i] = X.R.yz[i] + p.x[i] + p[i].y
        n[i].many = n[i].parent + n.last[i]
    n[1].last += 5
    out[0] = len(n) + len(m) + len(p)


@kernel
def stirred_vector(vector, o, counts):
    """The same of records in vectors."""
    first, at = Thing(vector), Thing(vector, o)
    at.v = first.X.R @ first.v
    at.m = at.v.x + first.r
    first.r += at.m
    Count(counts, 2).parent = Count(counts).last + 1


@kernel
def stirred_held(holder, out):
    """Tables that a tuple holds."""
    things = holder.things
    for i in range(len(holder.counts)):
        prefetch(things, i + 4, 2)
        things[i].m = things[i].m + holder.counts[i].many
    first = Others(things).first
    out[0] = first[1].p.x + holder.plain[0]


@kernel
def stirred_lane(data, lane):
    """One lane of a table."""
    thing = Things(LaneOfTable(data, lane))[1]
    thing.m += thing.v.z
    thing.v = thing.X.R @ thing.v


@kernel
def stirred_packs(data, shared, out):
    """Tables of lanes made of an array, and one that all lanes share."""
    t, s = Things(packs(data)), Things(shared)
    for i in range(len(t)):
        t.v[i] = s[i].X.R @ t[i].v
        t[i].m = s[i].r + t[i].X.p.z
    out[0, 0] = t.m[1]


@kernel
def seen_in_lane(data, lane, o, out):
    """One lane of a vector."""
    thing = Thing(OneLane(data, lane), o)
    out[0], out[1] = thing.r, thing.X.p.y


def numbers(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def reference(counts: Array, things: Array) -> tuple[Array, Array]:
    """What `stirred` leaves, by columns that are counted here."""
    counts, things = counts.copy(), things.copy()
    for row in things:
        row[0] += 1.0
        row[16] = 2.0 * row[0] - row[14]
        R = row[1:10].reshape(3, 3).copy()
        row[13:16] = R @ row[13:16]
        row[10:13] += row[13:16]
        row[1:10] = (R @ R).ravel()
        row[0] = row[6] + row[10] + row[11]
    counts[:, 1] = counts[:, 0] + counts[:, 2]
    counts[1, 2] += 5
    return counts, things


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_rows_and_columns_of_arrays_are_read_and_written(how: str, dtype: Any) -> None:
    counts, things, out = np.arange(9, dtype=dtype).reshape(3, 3), numbers(3, 17), np.zeros(1)
    expected = reference(counts, things)
    (stirred if how == "compiled" else interpreted(stirred))(counts, things, out)
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_allclose(things, expected[1], rtol=0.0, atol=1e-14)
    assert out[0] == 9.0


def interpreted(f: Any) -> Any:
    return getattr(f, "py_func", f)


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
def test_records_lie_in_vectors_from_any_number_on(how: str) -> None:
    vector, counts = numbers(40), np.arange(6)
    expected, R = vector.copy(), vector[1:10].reshape(3, 3)
    expected[20 + 13 : 20 + 16] = R @ vector[13:16]
    expected[20] = expected[33] + vector[16]
    expected[16] += expected[20]
    (stirred_vector if how == "compiled" else interpreted(stirred_vector))(vector, 20, counts)
    np.testing.assert_allclose(vector, expected, rtol=0.0, atol=1e-14)
    assert counts.tolist() == [0, 1, 3, 3, 4, 5]


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
def test_rows_of_lanes_are_those_of_each_system(how: str) -> None:
    data, shared, out = numbers(3, 17, LANES), numbers(3, 17, seed=2), LaneTable.of(np.zeros((LANES, 1, 1)))
    before = data.copy()
    (stirred_packs if how == "compiled" else interpreted(stirred_packs))(data, SharedTable(shared, 0), out)
    for i in range(3):
        R = shared[i, 1:10].reshape(3, 3)
        np.testing.assert_allclose(data[i, 13:16], R @ before[i, 13:16], rtol=0.0, atol=1e-14)
        np.testing.assert_array_equal(data[i, 0], shared[i, 16] + before[i, 12])
    np.testing.assert_array_equal(out.systems()[:, 0, 0], data[1, 0])
    np.testing.assert_array_equal(data[:, 1:13], before[:, 1:13])


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
def test_one_lane_of_a_table_or_vector_is_read_as_floats_and_that_of_a_table_written(how: str) -> None:
    data = numbers(2, 17, LANES)
    expected, R = data.copy(), data[1, 1:10, 1].reshape(3, 3)
    expected[1, 0, 1] += data[1, 15, 1]
    expected[1, 13:16, 1] = R @ data[1, 13:16, 1]
    (stirred_lane if how == "compiled" else interpreted(stirred_lane))(data, 1)
    np.testing.assert_allclose(data, expected, rtol=0.0, atol=1e-14)
    vector, out = LaneVector.of(numbers(LANES, 20)).data, np.zeros(2)
    (seen_in_lane if how == "compiled" else interpreted(seen_in_lane))(vector, 1, 2, out)
    assert out.tolist() == [vector[18, 0, 1], vector[13, 0, 1]]


@pytest.mark.parametrize("how", ["compiled", "interpreted"])
def test_a_tuple_holds_plain_tables_and_is_read_as_records(how: str) -> None:
    counts, things, out = np.arange(9).reshape(3, 3), numbers(3, 17), np.zeros(1)
    expected = things[:, 0] + counts[:, 1]
    holder = Holder(counts, things, np.full(1, 2.0))
    (stirred_held if how == "compiled" else interpreted(stirred_held))(holder, out)
    np.testing.assert_array_equal(things[:, 0], expected)
    assert out[0] == things[1, 9] + 2.0
    assert holder[1] is things and holder.things.table is things
    assert holder._replace(counts=counts + 1).counts.many.tolist() == [2, 5, 8]


def test_to_python_columns_are_views_of_the_table() -> None:
    table = numbers(4, 17)
    things = Things(table)
    things.m[:] = 3.0
    things.X.p.numbers[2] = 1.0, 2.0, 3.0
    assert table[:, 0].tolist() == [3.0] * 4 and things[2].X.p == Vec3(1.0, 2.0, 3.0) == things.X[2].p
    assert things.X.p.x[2] == 1.0 and things.X.numbers.shape == (4, 12) and len(things.X) == len(things) == 4
    things[1].v = Vec3(7.0, 8.0, 9.0)
    assert table[1, 13:16].tolist() == [7.0, 8.0, 9.0]
    lanes = LaneTable.of(table)
    assert Things(lanes).X.p.numbers.shape == (4, 3, LANES) and Things(SharedTable(table, 0)).m.numbers is not None
    np.testing.assert_array_equal(Things(SharedTable(table, 0)).r.numbers, table[:, 16])


def test_columns_are_counted_from_value_types() -> None:
    assert (Count.columns, Thing.columns, Mat3._fields[5]) == (3, 17, "yz")
    assert {name: field.first for name, field in Thing.fields.items()} == {"m": 0, "X": 1, "v": 13, "r": 16}
    deep = field_of(Thing, "X.p.y")
    assert deep is not None and (deep.first, deep.columns, deep.kind) == (11, 1, None)
    assert field_of(Thing, "X.q") is None and field_of(Thing, "m.x") is None


def test_wrong_names_say_what_there_is() -> None:
    things = Things(np.zeros((2, 17)))
    with pytest.raises(AttributeError, match="Thing has no 'mass'; it has m, X, v, r"):
        _ = things.mass
    with pytest.raises(AttributeError, match=r"Thing has no 'X\.q'; it has m, X, v, r"):
        _ = things.X.q
    with pytest.raises(AttributeError, match="Thing has no 'mass'; it has m, X, v, r"):
        things[0].mass = 1.0
    with pytest.raises(AttributeError):
        _ = things[0].mass


@pytest.mark.parametrize("name", ["columns", "fields", "record", "table"])
def test_names_that_records_have_themselves_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name}: records have {name} themselves; choose another name"):
        type("Wrong", (Record,), {"__annotations__": {name: float}, "__module__": __name__})


def test_a_table_that_is_not_as_wide_as_its_record_is_refused() -> None:
    with pytest.raises(TypeError, match="a row of Thing has 17 columns; the table has 16"):
        Things(np.zeros((2, 16)))


OUTSIDE = """
import numpy as np
from numba import config
import test_records as r

assert config.BOUNDSCHECK
counts, things, out = np.arange(9).reshape(3, 3), np.zeros((3, 17)), np.zeros(1)
r.stirred(counts, things, out)
r.stirred_vector(np.zeros(37), 20, np.arange(6))
found = []
for call in (
    lambda: r.stirred(counts[:2].copy(), things, out),  # a row beyond the last
    lambda: r.stirred(counts, np.zeros((3, 18)), out),
    lambda: r.stirred(counts, np.zeros((3, 16)), out),
    lambda: r.stirred_vector(np.zeros(36), 20, np.arange(6)),  # the record would end outside
    lambda: r.stirred_vector(np.zeros(40), -1, np.arange(6)),
    lambda: r.stirred_held(r.Holder(counts, things[:2].copy(), out), out),
    lambda: r.stirred_lane(np.zeros((1, 17, r.LANES)), 0),
):
    try:
        call()
        found.append("nothing")
    except IndexError:
        found.append("outside")
print(found)
"""


@pytest.mark.slow
def test_bounds_checked_what_lies_outside_is_found() -> None:
    paths = os.pathsep.join(map(str, [Path(__file__).parent, Path(nexdyn.__file__).parents[1]]))
    done = subprocess.run(
        [sys.executable, "-c", OUTSIDE], env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": paths}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip() == str(["outside"] * 7)

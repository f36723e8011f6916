"""What is a mesh and what is none: checks, repairs, files, units, and a fuzz over damaged files."""

from __future__ import annotations

import io
import re
import signal
import struct
import sys
import time
import tracemalloc
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import mesh_lab as lab
import numpy as np
import pytest

import nexdyn as nx
from nexdyn.geometry.mesh import MOST_TRIANGLES, mesh
from nexdyn.geometry.mesh_distance import signed_distances
from nexdyn.geometry.mesh_file import read_mesh
from nexdyn.geometry.self_crossing import crossings, self_crossings
from nexdyn.view.geometry import read_mesh as read_drawn

CORNERS, FACES = lab.box()
COMPILED = hasattr(crossings, "py_func")


def soup(raw: lab.Raw) -> lab.Raw:
    """Every triangle with corners of its own, as in an STL."""
    return raw[0][raw[1]].reshape(-1, 3), np.arange(3 * len(raw[1])).reshape(-1, 3)


def stl(raw: lab.Raw) -> bytes:
    rows = [struct.pack("<12fH", *np.zeros(3), *raw[0][t].ravel(), 0) for t in raw[1]]
    return b"binary".ljust(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def obj(raw: lab.Raw) -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in raw[0]] + [f"f {i} {j} {k}" for i, j, k in raw[1] + 1]
    return "\n".join([*lines, ""]).encode()


def off(raw: lab.Raw) -> bytes:
    head = f"OFF\n{len(raw[0])} {len(raw[1])} 0\n"
    return (
        head + "\n".join([f"{x} {y} {z}" for x, y, z in raw[0]] + [f"3 {i} {j} {k}" for i, j, k in raw[1]]) + "\n"
    ).encode()


def ply(raw: lab.Raw) -> bytes:
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(raw[0])}\nproperty double x\nproperty double y\nproperty double z\n"
        f"element face {len(raw[1])}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    return head.encode() + raw[0].astype("<f8").tobytes() + b"".join(struct.pack("<B3i", 3, *t) for t in raw[1])


WRITERS = {"stl": stl, "obj": obj, "off": off, "ply": ply}


def test_vertices_at_one_place_are_merged_and_the_mesh_is_closed() -> None:
    made = mesh(*soup(lab.box()))
    assert made.closed and len(made.vertices) == 8
    assert made.repairs == ("28 vertices merged with others at one place",)
    near = soup(lab.box())
    jittered = near[0] + 1e-11 * np.random.default_rng(0).normal(size=near[0].shape)
    assert len(mesh(jittered, near[1]).vertices) == 8


def test_degenerate_and_repeated_triangles_are_left_out_and_named() -> None:
    made = mesh(CORNERS, np.vstack([FACES, [[0, 0, 1]], FACES[:2]]))
    assert made.closed and len(made.triangles) == 12
    assert made.repairs == (
        "1 triangle of fewer than three vertices left out",
        "2 triangles that were there twice left out",
    )


def test_triangles_of_a_closed_mesh_that_face_the_other_way_are_turned() -> None:
    faces = lab.split(lab.box())[1].copy()
    faces[[3, 17]] = faces[[3, 17]][:, ::-1]
    made = mesh(lab.split(lab.box())[0], faces)
    assert made.repairs == ("2 triangles that faced the other way turned",)
    assert made.massive.volume == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("vertices", "triangles", "told"),
    [
        (CORNERS, FACES[:, ::-1], "inside out"),
        (CORNERS, np.vstack([FACES[:-2], FACES[-1:][:, ::-1]]), "it is open, so that no side is the outer one"),
        (CORNERS, np.vstack([FACES, [[0, 7, 1]]]), "of more than two triangles"),
        (CORNERS, [[0, 1, 8]], "names vertex 8; there are 8"),
        (CORNERS, [[0, 1, -1]], "names vertex -1"),
        (CORNERS * [[np.nan, 1, 1]], FACES, r"vertex 0 of mesh is \[nan"),
        (CORNERS * np.inf, FACES, "vertex 0 of mesh is"),
        (np.ones((3, 3)), [[0, 1, 2]], r"has no size: all vertices are at \[1.0, 1.0, 1.0\]"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], "has no area"),
        (CORNERS[:2], [[0, 1, 0]], r"have shape \(2, 3\)"),
        ("cube", FACES, "vertices of mesh are 'cube'"),
        (CORNERS, [], "triangles of mesh have shape"),
        (CORNERS, [[0.5, 1, 2]], "whole numbers"),
        (CORNERS, np.zeros((MOST_TRIANGLES + 1, 3), dtype=np.int8), "has 4000001 triangles; at most 4000000"),
    ],
)  # fmt: skip
def test_what_is_no_mesh_is_refused_by_name(vertices: Any, triangles: Any, told: str) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(nx.InputError, match=told):
        mesh(vertices, triangles)


def test_a_strip_with_one_side_is_refused() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    a, half = np.repeat(angle, 2), np.tile([-0.3, 0.3], 12)
    r = 1.0 + half * np.cos(0.5 * a)
    rim = np.column_stack([r * np.cos(a), r * np.sin(a), half * np.sin(0.5 * a)])
    t = []
    for i in range(12):
        p, q = 2 * i, 2 * i + 1
        u, v = (p + 2, q + 2) if i < 11 else (1, 0)
        t += [(p, u, q), (q, u, v)]
    with pytest.raises(nx.InputError, match="face opposite ways"):
        mesh(rim, t)


def test_a_mesh_that_crosses_itself_is_told_with_the_place() -> None:
    small = CORNERS * 0.5 + [0.5, 0.0, 0.0]
    twice = mesh(np.vstack([CORNERS, small]), np.vstack([FACES, FACES + 8]))
    found, where, whole = self_crossings(twice)
    assert found > 0 and whole
    assert where[0] == pytest.approx(0.5) and (abs(where[1:]) <= 0.25 + 1e-12).all()
    assert self_crossings(mesh(*lab.split(lab.box())))[0] == 0
    assert self_crossings(mesh(*lab.ball(1.0, 3)))[0] == 0
    # edges of a fan divided, whose halves lie on one line but for rounding
    n = 37
    angle = 2.0 * np.pi / n * np.arange(n)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])
    i, j = np.arange(n), (np.arange(n) + 1) % n
    fan = [(j, i, np.full(n, 2 * n)), (n + i, n + j, np.full(n, 2 * n + 1)), (i, j, n + j), (i, n + j, n + i)]
    x, t = (
        np.vstack([ring, ring + np.array([0, 0, 0.3]), [(0, 0, 0), (0, 0, 0.3)]]),
        np.vstack([np.column_stack(c) for c in fan]),
    )
    for _ in range(2):
        x, t = lab.split((x, t))
    assert self_crossings(mesh(x, t))[0] == 0


@pytest.mark.parametrize("suffix", WRITERS)
def test_files_give_the_mesh_in_the_unit_and_scale_that_are_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"part.{suffix}"
    path.write_bytes(WRITERS[suffix](lab.bumpy(np.random.default_rng(1))))
    made = read_mesh(path)
    assert made.closed and made.notes == ()
    assert read_mesh(path, unit="mm").massive.volume == pytest.approx(made.massive.volume * 1e-9)
    assert read_mesh(path, scale=(1.0, 2.0, 3.0)).massive.volume == pytest.approx(6.0 * made.massive.volume)
    mirrored = read_mesh(path, scale=(-1.0, 1.0, 1.0))
    assert mirrored.massive.volume == pytest.approx(made.massive.volume)
    x = np.array([[0.3, 0.4, 0.9]])
    assert signed_distances(mirrored.surface, x * [[-1, 1, 1]])[0, 0] == pytest.approx(
        signed_distances(made.surface, x)[0, 0]
    )


def test_a_shape_has_its_file_in_the_unit_that_is_named_wherever_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "part.stl"
    path.write_bytes(stl(lab.box((254.0, 100.0, 50.0))))
    for unit, metres in {None: 1.0, "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048}.items():
        part = nx.Mesh(str(path), scale=(2.0, 1.0, 1.0), unit=unit)
        ball = nx.Sphere(metres, position=(300.0 * metres, 0.0, 0.0))
        assert nx.distance(part, ball).distance == pytest.approx((300.0 - 254.0 - 1.0) * metres)
        assert nx.mass_properties(part, 2.0).mass == pytest.approx(2.0 * 508.0 * 100.0 * 50.0 * metres**3)
        ((drawn, _),) = read_drawn(str(path), part.scale, part.unit)
        np.testing.assert_allclose(np.ptp(drawn.vertices, axis=0), np.array([508.0, 100.0, 50.0]) * metres, rtol=1e-6)


def test_a_unit_is_kept_in_scenes_and_becomes_a_scale_in_a_urdf(tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_bytes(stl(lab.box((254.0, 100.0, 50.0))))
    part = nx.Mesh(str(tmp_path / "part.stl"), scale=(2.0, 1.0, 1.0), unit="mm")
    system = nx.System("part")
    system.add_body("block", mass=1.0, inertia=(1, 1, 1), shapes=part, collision=part)
    nx.save_scene(system, tmp_path / "part.yaml")
    assert "unit: mm" in (tmp_path / "part.yaml").read_text()
    again = nx.load(tmp_path / "part.yaml").body("block")
    assert again.shapes == again.collision == (part,)
    assert not [what for what in nx.save_urdf(system, tmp_path / "part.urdf") if "unit" in what]
    robot = nx.load(tmp_path / "part.urdf").body("block")
    assert robot.shapes[0].scale == pytest.approx((2e-3, 1e-3, 1e-3)) and robot.shapes[0].unit is None
    system = nx.System("part")
    system.add_body("block", mass=1.0, inertia=(1, 1, 1), shapes=nx.Mesh("part.dae", unit="mm"))
    assert any("units of COLLADA meshes" in what for what in nx.save_urdf(system, tmp_path / "dae.urdf"))


@pytest.mark.parametrize(
    ("unit", "told"),
    [("mile", "no unit 'mile'"), ("MM", "did you mean 'mm'"), (1e-3, "no unit 0.001"), (["mm"], "unit")],
)
def test_a_unit_of_a_shape_that_is_none_is_refused_with_those_there_are(unit: Any, told: str) -> None:
    with pytest.raises(nx.InputError, match=rf"(?s){told}.*m, cm, mm, um, in, ft"):
        nx.Mesh("part.stl", unit=unit)


def zipped() -> bytes:
    """An archive with a COLLADA file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.dae", "<COLLADA>" + "0 " * 1000)
    return stream.getvalue()


PLY = (
    b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    b"element face 1\nproperty list uchar int vertex_indices\n"
)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("gone.stl", None, "there is no such file"),
        ("part.step", b"ISO-10303-21;", "step is no kind of mesh; valid: stl, obj"),
        ("empty.stl", b"", "it is empty"),
        ("bomb.dae", b"PK\x03\x04rest", "it is an archive"),
        ("bomb.dae", zipped(), "it is an archive"),
        ("prefixed.dae", b'<?xml version="1.0"?>\n' + zipped(), "it is an archive"),
        ("prefixed.stl", b"solid x\n" + zipped(), "it is an archive"),
        ("damaged.dae", b"<x/>" + zipped()[-60:], "it is an archive|cannot be read"),
        ("wide.dae", '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>'.encode("utf-16"), "entities"),
        ("laugh.dae", b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>', "entities"),
        ("lies.stl", b"x" * 80 + b"\xff\xff\xff\x7f" + b"0" * 50, "promises more than its 134 bytes"),
        ("lies.ply", b"ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\nend_header\n", "promises more"),
        ("lies.off", b"OFF\n99999999999 4 0\n0 0 0\n", "promises more"),
        ("far.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 999999999999\n", "cannot be read as OBJ"),
        ("index.ply", PLY + b"end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2000000000\n", "names vertex 2000000000; there are 3"),
        ("list.ply", PLY.replace(b"ascii", b"binary_little_endian").replace(b"uchar", b"uint") + b"end_header\n"
         + np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], "<f4").tobytes() + np.array([4_000_000_000, 0, 1, 2], "<u4").tobytes(),
         "cannot be read as PLY"),
        ("deep.dae", b'<?xml version="1.0"?>' + 200_000 * b"<a>", "cannot be read as DAE"),
        ("text.obj", b"what is this\n", "holds no triangle|cannot be read"),
        ("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite|cannot be read"),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_mesh_is_refused_by_name(
    name: str, content: bytes | None, told: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(nx.InputError, match=told):
        read_mesh(path)


def test_other_arguments_than_a_scale_and_a_unit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "part.stl"
    path.write_bytes(stl(lab.box()))
    for scale in (0.0, (1.0, np.nan, 1.0), (1.0, 2.0), "wide"):
        with pytest.raises(nx.InputError, match="scale is"):
            read_mesh(path, scale=scale)  # type: ignore[arg-type]
    with pytest.raises(nx.InputError, match="unit 'mile'"):
        read_mesh(path, unit="mile")


def test_without_trimesh_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "other.stl"
    path.write_bytes(stl(lab.box()))
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(nx.InputError, match=r"needs trimesh: pip install 'nexdyn\[view\]'"):
        read_mesh(path)


def needles(n: int) -> lab.Raw:
    """Long thin triangles side by side, askew to all axes, so that the box of each meets those of all others."""
    a = 0.01 * np.arange(n)[:, None] / n * np.array([1.0, -1.0, 0.0])
    x = np.stack([a, a + 1.0, a + np.array([1.0, 1.0, 1.0001])], axis=1)
    return x.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3)


def test_triangles_whose_boxes_all_overlap_end_the_search_for_crossings_and_are_told(
    monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr("nexdyn.geometry.self_crossing.MOST_LOOKS", 20_000)
    path = tmp_path / "needles.stl"
    path.write_bytes(stl(needles(600 if COMPILED else 300)))
    made = read_mesh(path)
    assert any("may cross itself: too many of its triangles lie side by side" in note for note in made.notes)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What hangs ends in a TimeoutError, and what takes longer fails."""

    def over(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before, began = signal.signal(signal.SIGALRM, over), time.process_time()
    signal.setitimer(signal.ITIMER_REAL, 20.0 * seconds)  # of a machine that others use, too
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - began < seconds


def dae(raw: lab.Raw) -> bytes:
    return bytes(pytest.importorskip("trimesh").Trimesh(*raw, process=False).export(file_type="dae"))


def damaged(whole: bytes, k: int, rng: np.random.Generator) -> bytes:
    """A file cut off, with other bytes, with a piece twice or left out, or with other numbers in its text."""
    data = bytearray(whole[: int(rng.integers(0, len(whole)))] if k % 3 == 0 else whole)
    for _ in range(int(rng.integers(0, 12)) if len(data) else 0):
        data[int(rng.integers(0, min(len(data), 300) if k % 2 else len(data)))] = int(rng.integers(0, 256))
    if k % 5 == 1 and len(data) > 2:
        begin, end = sorted(rng.integers(0, len(data), 2).tolist())
        data[begin:end] = data[begin:end] * int(rng.integers(0, 4))
    if k % 5 == 2:
        numbers = [*re.finditer(rb"\d+", bytes(data))]
        for found in [numbers[i] for i in sorted(rng.integers(0, len(numbers), 3), reverse=True)] if numbers else []:
            data[found.start() : found.end()] = (b"4294967295", b"99999999999999999999", b"-1", b"1e308", b"nan")[
                int(rng.integers(5))
            ]
    return bytes(data)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
@pytest.mark.parametrize("suffix", [*WRITERS, "dae"])
def test_damaged_files_are_refused_or_read_in_time_and_never_raise_anything_else(suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(list(suffix.encode()))
    whole = (WRITERS | {"dae": dae})[suffix](lab.bumpy(rng))
    (tmp_path / f"whole.{suffix}").write_bytes(whole)
    signed_distances(read_mesh(tmp_path / f"whole.{suffix}").surface, np.zeros((1, 3)))  # all is compiled
    refused = 0
    for k in range(120):
        path = tmp_path / f"{k}.{suffix}"
        path.write_bytes(damaged(whole, k, rng))
        with warnings.catch_warnings(), within(2.0):
            warnings.simplefilter("ignore")
            try:
                made = read_mesh(path)
            except nx.InputError as error:
                assert str(error).count("\n") == 0
                refused += 1
                continue
        assert np.isfinite(signed_distances(made.surface, np.zeros((1, 3)))).all()
    assert refused > 20


BOMBS = {
    "many.ply": b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty double x\nend_header\n" + bytes(100),
    "columns.ply": b"ply\nformat ascii 1.0\nelement vertex 3\n" + b"property float x\n" * 3000 + b"end_header\n0 0 0\n",
    "list.ply": PLY.replace(b"ascii", b"binary_little_endian").replace(b"uchar", b"uint")
    + b"end_header\n" + bytes(36) + np.array([4_000_000_000], "<u4").tobytes(),
    "polygon.off": b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3000000000 0 1 2\n",
    "faces.off": b"OFF\n3 2000000000 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "count.stl": b"x" * 80 + struct.pack("<I", 2**32 - 1) + bytes(50),
    "index.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4000000000\n",
    "polygon.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf " + b"1 2 3 " * 20_000 + b"\n",
    "line.obj": b"v " + b"1" * 1_000_000 + b" 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "deep.dae": b'<?xml version="1.0"?>' + 100_000 * b"<a>",
    "archive.stl": b"PK\x03\x04" + bytes(1000),
}  # fmt: skip


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
@pytest.mark.parametrize("name", BOMBS)
def test_files_that_promise_much_take_neither_time_nor_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name])
    tracemalloc.start()
    try:
        with warnings.catch_warnings(), within(10.0):
            warnings.simplefilter("ignore")
            with suppress(nx.InputError):  # a polygon of many corners is one
                read_mesh(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6

"""What is drawn: surfaces against the volumes of their shapes, mesh files against coal (Assimp), default drawings."""

from __future__ import annotations

import importlib.metadata
import math
import sys
import warnings
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_urdf_robots import LOADED, quietly

import nexdyn as nx
from nexdyn.errors import InputError, NexDynWarning
from nexdyn.view import geometry, marks
from nexdyn.view.geometry import pieces, read_mesh
from nexdyn.view.surfaces import Piece, Surface

MESHES = [
    Path(str(file.locate())).resolve()
    for file in importlib.metadata.files("example-robot-data") or []
    if file.suffix.lower() in (".stl", ".obj", ".dae")
]
CUBE = """v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"""


def volume(surface: Surface) -> float:
    """∫ dV = Σ a · (b × c) / 6 over outward triangles."""
    a, b, c = (surface.vertices[surface.faces[:, i]].astype(float) for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def is_closed(surface: Surface) -> bool:
    """Every directed edge has its opposite, once vertices at one place count as one."""
    _, one = np.unique(surface.vertices.round(5), axis=0, return_inverse=True)
    f = one.reshape(-1)[surface.faces]
    edges = {(int(a), int(b)) for a, b in np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])}
    return all((b, a) in edges for a, b in edges)


def of_shape(shape: Any) -> Piece:
    system = nx.System("one")
    system.add_body("body", mass=1.0, inertia=(1, 1, 1), shapes=[shape])
    (piece,) = pieces(system)
    return piece


@pytest.mark.parametrize(
    ("shape", "exact"),
    [
        (nx.Box((1.0, 2.0, 3.0)), 6.0),
        (nx.Sphere(0.5), 4 / 3 * math.pi * 0.125),
        (nx.Cylinder(0.5, 2.0), math.pi * 0.25 * 2.0),
        (nx.Capsule(0.5, 2.0), math.pi * 0.25 * 2.0 + 4 / 3 * math.pi * 0.125),
        (nx.Cone(0.5, 2.0), math.pi * 0.25 * 2.0 / 3),
        (nx.Ellipsoid((0.5, 0.3, 0.2)), 4 / 3 * math.pi * 0.03),
        (nx.Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), 1 / 6),
        (nx.HeightField([[1.0, 2.0], [1.0, 2.0]], (1.0, 2.0), bottom=0.0), 3.0),
    ],
    ids=["box", "sphere", "cylinder", "capsule", "cone", "ellipsoid", "hull", "height field"],
)
def test_a_surface_is_closed_points_outwards_and_encloses_its_shape(shape: Any, exact: float) -> None:
    surface = of_shape(shape).surface
    assert is_closed(surface)
    assert 0.97 * exact < volume(surface) <= exact * (1 + 1e-6)


def test_equal_shapes_share_one_surface() -> None:
    drawn = pieces(nx.load("hinge-chain"))
    assert len(drawn) == 6 and len({id(piece.surface) for piece in drawn}) == 1
    assert len({piece.color for piece in drawn}) == 6


def test_a_shape_keeps_its_pose_colour_and_name() -> None:
    turned = (math.cos(0.3), 0.0, 0.0, math.sin(0.3))
    piece = of_shape(nx.Box((1, 1, 1), position=(1, 2, 3), orientation=turned, color=(1, 0, 0, 0.5), name="lid"))
    assert (piece.body, piece.name, piece.color) == ("body", "lid", (1.0, 0.0, 0.0, 0.5))
    np.testing.assert_allclose(piece.p_BS, (1, 2, 3))
    np.testing.assert_allclose(piece.R_BS[:, 0], (math.cos(0.6), math.sin(0.6), 0.0))


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".dae"])
def test_meshes_of_robots_are_as_large_and_stand_where_assimp_has_them(suffix: str) -> None:
    coal = pytest.importorskip("coal")
    own_kind = sorted(path for path in MESHES if path.suffix.lower() == suffix and path.stat().st_size < 2e6)
    assert len(own_kind) > 50
    for path in own_kind[:: len(own_kind) // 12]:
        found = [surface.vertices for surface, _ in read_mesh(str(path))]
        expected = coal.MeshLoader().load(str(path), np.ones(3))
        expected.computeLocalAABB()
        box = expected.aabb_local
        low, high = np.min([v.min(0) for v in found], 0), np.max([v.max(0) for v in found], 0)
        size = np.linalg.norm(high - low)
        np.testing.assert_allclose(low, box.min_, atol=1e-5 * size, err_msg=str(path))
        np.testing.assert_allclose(high, box.max_, atol=1e-5 * size, err_msg=str(path))


def test_a_mirrored_mesh_keeps_its_outside(tmp_path: Path) -> None:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE)
    ((plain, _),) = read_mesh(str(path))
    ((mirrored, _),) = read_mesh(str(path), (-2.0, 1.0, 1.0))
    assert volume(plain) == pytest.approx(1.0) and volume(mirrored) == pytest.approx(2.0)
    assert mirrored.vertices[:, 0].min() == -2.0


def test_the_unit_and_the_colours_of_a_collada_file_are_followed() -> None:
    path = next(path for path in MESHES if path.name == "anymal_base.dae" and "simple" in str(path))
    parts = read_mesh(str(path))
    assert len(parts) > 3 and len({color for _, color in parts}) == len(parts)


def test_a_mesh_that_changed_on_disk_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE)
    assert len(read_mesh(str(path))[0][0].faces) == 12
    path.write_text("\n".join(CUBE.splitlines()[:-1]))
    assert len(read_mesh(str(path))[0][0].faces) == 10


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("gone.stl", None, "not on this machine"),
        ("empty.obj", "", "cannot be read"),
        ("bad.dae", "<COLLADA>", "cannot be read"),
        ("short.stl", "solid x\nfacet normal 0 0", "cannot be read"),
        ("points.obj", "v 0 0 0\nv 1 0 0\n", "cannot be read"),
        ("beyond.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "cannot be read"),
        ("nan.obj", "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n", "cannot be read"),
    ],
)
def test_a_mesh_that_is_missing_or_damaged_is_named_and_the_body_still_drawn(
    tmp_path: Path, name: str, content: str | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    system = nx.System("robot")
    system.add_body("arm", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Mesh(str(tmp_path / name))])
    with pytest.warns(NexDynWarning, match=rf"(?s){reason}.*arm: .*{name}"):
        drawn = pieces(system)
    assert [piece.body for piece in drawn] == ["arm"] and len(drawn[0].surface.faces) > 100


@pytest.mark.parametrize("before", [b"", b'<?xml version="1.0"?>\n'])
def test_an_archive_that_unpacks_to_far_more_is_refused_unread(before: bytes, tmp_path: Path) -> None:
    """Readers of COLLADA unpack archives whatever their suffix and what stands before; 60 KB of zeros in one become 60 MB to be parsed."""
    path = tmp_path / "bomb.dae"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.dae", "<COLLADA>" + "0 " * 10_000_000)
    path.write_bytes(before + path.read_bytes())
    system = nx.System("robot")
    system.add_body("arm", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Mesh(str(path))])
    with pytest.warns(NexDynWarning, match="unpacks to 20 MB, more than 30 times its size"):
        pieces(system)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_defines_entities_is_refused_unread(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "laugh.dae"
    path.write_bytes('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><COLLADA/>'.encode(encoding))
    system = nx.System("robot")
    system.add_body("arm", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Mesh(str(path))])
    with pytest.warns(NexDynWarning, match="XML that defines entities is not read"):
        pieces(system)


def test_without_the_package_that_reads_meshes_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "cube.obj"
    path.write_text(CUBE)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    system = nx.System("robot")
    system.add_body("arm", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Mesh(str(path))])
    with pytest.raises(InputError, match=r"needs trimesh: pip install 'nexdyn\[view\]'"):
        pieces(system)


@pytest.mark.parametrize("demo", ["four-bar", "bricard", "door", "slider-crank"])
def test_a_body_without_shapes_reaches_all_its_joints(demo: str) -> None:
    system = nx.load(demo)
    drawn: dict[str, list[np.ndarray]] = defaultdict(list)
    for piece in pieces(system):
        drawn[piece.body].append(piece.surface.vertices @ piece.R_BS.T + piece.p_BS)
    assert system.bodies.keys() <= drawn.keys()
    for joint in system.joints.values():
        frames = joint.frames(system.values)
        for body, p in ((joint.parent, frames.p_AJ), (joint.child, frames.p_BJ)):
            low, high = (f([f(v, axis=0) for v in drawn[body.name]], axis=0) for f in (np.min, np.max))
            assert (low - 1e-6 <= p).all() and (p <= high + 1e-6).all(), (joint.name, body.name)


def test_frames_without_mass_stay_invisible_beside_shapes() -> None:
    system = nx.System("robot")
    arm = system.add_body("arm", mass=1.0, inertia=(1, 1, 1), shapes=[nx.Box((1, 1, 1))])
    camera = system.add_body("camera", position=(1, 0, 0))
    system.add_joint(nx.Fixed("mount", arm, camera))
    assert [piece.body for piece in pieces(system)] == ["arm"]


def test_bounds_hold_all_that_is_drawn_where_it_stands() -> None:
    piece = of_shape(nx.Box((1.0, 2.0, 3.0)))
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    low, high = geometry.bounds([piece], {"body": (R, np.array([10.0, 0.0, 0.0]))})
    np.testing.assert_allclose(low, (9.0, -0.5, -1.5))
    np.testing.assert_allclose(high, (11.0, 0.5, 1.5))


def test_every_link_of_a_robot_that_has_mass_is_drawn() -> None:
    for path in LOADED[::6]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NexDynWarning)
            system = quietly(path)
            drawn = {piece.body for piece in pieces(system)}
        assert {name for name, body in system.bodies.items() if body.mass} <= drawn, path


def test_names_in_one_place_are_written_below_each_other_and_others_apart() -> None:
    """A sensor that is fixed to an arm, and a joint in the arm's centre, are written with the arm; what slides away is not."""
    system = nx.System("arm")
    for name, x in (("base", 0.0), ("arm", 0.5), ("sensor", 0.5), ("slide", 0.5)):
        system.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(x, 0.0, 0.0))
    system.add_joint(nx.Revolute("hinge", "base", "arm", at=(0.5, 0.0, 0.0), axis=(0, 0, 1)))
    system.add_joint(nx.Fixed("mount", "arm", "sensor", at=(0.5, 0.0, 0.0)))
    system.add_joint(nx.Prismatic("rail", "arm", "slide", at=(0.5, 0.0, 0.0), axis=(0, 0, 1)))
    system.add_joint(nx.Fixed("foot", "ground", "base", at=(0.0, 0.0, -0.3)))
    row = {"base": 0, "arm": 1, "sensor": 2, "slide": 3, "ground": 4}
    written = {text: (i, p.tolist()) for text, i, p in marks.named(system, row)}
    assert set(written) == {"hinge\narm\nsensor", "rail\nslide", "base", "foot"}
    assert written["hinge\narm\nsensor"] == (1, [0.0, 0.0, 0.0]) and written["foot"] == (0, [0.0, 0.0, -0.3])


def test_ellipsoids_of_next_to_no_mass_do_not_cover_the_rest() -> None:
    """A frame of a robot's file has a gram and an inertia of half a metre's reach; a heavy body keeps its ellipsoid, however large."""
    system = nx.System("robot")
    system.add_body("trunk", mass=10.0, inertia=(10.0, 10.0, 10.0))
    system.add_body("sensor", mass=1e-3, inertia=(1e-4, 1e-4, 1e-4))
    system.add_body("screw", mass=1e-3, inertia=(1e-9, 1e-9, 1e-9))
    found = marks.ellipsoids(system, {"trunk": 0, "sensor": 1, "screw": 2}, 1.0)
    assert [name for name, *_ in found] == ["trunk", "screw"]
    np.testing.assert_allclose(found[0][3], np.sqrt(2.5), rtol=1e-12)

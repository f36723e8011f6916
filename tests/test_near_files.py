"""A file that is not there: which files may have been meant, beside it or in a folder with a name like that which was given."""

from __future__ import annotations

from pathlib import Path

import pytest

import nexdyn as nx
from nexdyn.cli import main
from nexdyn.results.near_files import MOST, files_near, meant

MODELS = (".yaml", ".yml", ".urdf")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """models/ with arms, results/ with runs, and a study."""
    for name in (
        "models/arm.yaml",
        "models/arm-long.yaml",
        "models/Crane.URDF",
        "models/arm.txt",
        "results/run1.nc",
        "results/run2.nc",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "study.yaml").touch()
    (tmp_path / "first.nc").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("models/arm-9.yaml", ["models/arm.yaml", "models/arm-long.yaml"]),
        ("models/armn.yaml", ["models/arm.yaml", "models/arm-long.yaml"]),
        ("models/arm", ["models/arm.yaml", "models/arm-long.yaml"]),
        ("models/crane.urdf", ["models/Crane.URDF"]),
        ("model/arm.yaml", ["models/arm.yaml", "models/arm-long.yaml"]),
        ("modles/arm", ["models/arm.yaml", "models/arm-long.yaml"]),
        ("models/zzzz.yaml", []),
        ("nowhere/arm.yaml", []),
        ("models/arm.yaml/deeper.yaml", []),
    ],
)
def test_files_are_found_by_names_like_theirs_in_folders_like_theirs(
    folder: Path, given: str, found: list[str]
) -> None:
    assert files_near(Path(given), MODELS) == found
    assert files_near(folder / given, MODELS) == [str(folder / name) for name in found]


def test_several_are_named_and_no_more_than_a_few(folder: Path) -> None:
    (folder / "models/.hidden.yaml").touch()
    assert meant(Path("models/arm-9.yaml"), MODELS) == "; did you mean 'models/arm.yaml' or 'models/arm-long.yaml'?"
    assert (
        meant(Path("models/zzzz.yaml"), MODELS) == "; in the same folder are 'Crane.URDF', 'arm-long.yaml', 'arm.yaml'"
    )
    assert meant(Path("study2.yaml"), MODELS) == "; did you mean 'study.yaml'?"
    assert meant(Path("results/run.csv"), MODELS) == ""
    assert meant(Path("nowhere/arm.yaml"), MODELS) == "; there is no folder 'nowhere'"
    for k in range(30):
        (folder / f"models/arm{k}.yaml").touch()
    assert len(files_near(Path("models/arm99.yaml"), MODELS)) == MOST
    assert meant(Path("models/zzzz.yaml"), MODELS).endswith(", … (33 in all)")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run models/amr.yaml", "models/amr.yaml: no such file; did you mean 'models/arm.yaml'? demos: "),
        ("info moddels/arm.yaml", "did you mean 'models/arm.yaml' or 'models/arm-long.yaml'? demos: "),
        ("info stydy", "files here: 'study.yaml'"),
        ("run frist", "results here: 'first.nc'"),
        ("view results/run3.nc", "run3.nc: no such file; did you mean 'results/run1.nc' or 'results/run2.nc'?"),
        ("plot result/run1.nc", "did you mean 'results/run1.nc' or 'results/run2.nc'?"),
        ("plot results/run", "did you mean 'results/run1.nc' or 'results/run2.nc'?"),
        ("sweep stduy.yaml", "stduy.yaml: no such file; did you mean 'study.yaml'?"),
        ("sweep stduy", "stduy: no such file; did you mean 'study.yaml'?"),
    ],
)
def test_commands_name_the_files_that_may_be_meant(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    assert main(line.split()) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")


def test_python_is_told_alike(folder: Path) -> None:
    with pytest.raises(nx.FileError, match=r"no such file; did you mean 'results/run1.nc' or 'results/run2.nc'\?"):
        nx.open_result("results/run3.nc")
    with pytest.raises(nx.FileError, match=r"did you mean 'models/arm.yaml' or 'models/arm-long.yaml'\?"):
        nx.load("models/arm")

"""ragbench as others get it: the wheel, installed beside what it needs, works in an empty folder on the sample data."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.old.cli import run
from ragbench.old.core import annexes, settings
from ragbench.old.data import places

ROOT = Path(__file__).parents[2]
BUILT = ("bin", "ragbench", "notebooks", "data/campus", "pyproject.toml", "setup.py", "ragbench.toml", "README.md",
         "LICENSE")  # fmt: skip
BUILDS = "import setuptools.build_meta as made; made.build_sdist('..'); made.build_wheel('..')"
Ran = Callable[..., str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of what is committed and of what is not."""
    folder = tmp_path_factory.mktemp("built")
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *BUILT], cwd=ROOT,
                           capture_output=True, text=True, check=False)  # fmt: skip
    if names.returncode:
        pytest.skip("not a checkout of git")
    for name in names.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "source" / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", BUILDS], cwd=folder / "source", capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return folder


def shipped_files() -> dict[str, Path]:
    """What a wheel has in `ragbench/shipped`, and where a checkout has it."""
    found = [
        ROOT / "ragbench.toml",
        *(ROOT / "notebooks").iterdir(),
        *(ROOT / "data" / "campus").iterdir(),
    ]
    return {path.relative_to(ROOT).as_posix(): path for path in found if path.is_file()}


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_what_is_shipped(built: Path) -> None:
    [wheel] = built.glob("ragbench-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        inside = {name for name in packed.namelist() if ".dist-info/" not in name}
        for name, path in shipped_files().items():
            assert packed.read(f"ragbench/shipped/{name}") == path.read_bytes()
    source = {path.relative_to(ROOT).as_posix() for path in (ROOT / "ragbench").rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    [command] = (name for name in inside if ".data/scripts/" in name)
    assert command.endswith("/ragbench")
    assert inside - {command} == source | {f"ragbench/shipped/{name}" for name in shipped_files()}


@pytest.mark.slow
def test_the_source_distribution_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    [archive] = built.glob("ragbench-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    [source] = (path for path in tmp_path.iterdir() if path.is_dir())
    subprocess.run([sys.executable, "-c", BUILDS], cwd=source, capture_output=True, check=True)
    wheels = [next(folder.glob("*.whl")) for folder in (built, tmp_path)]
    first, second = (
        {one.filename: one.CRC for one in zipfile.ZipFile(wheel).infolist()} for wheel in wheels
    )
    assert {name: first[name] for name in first if "RECORD" not in name} == {
        name: second[name] for name in second if "RECORD" not in name
    }


@pytest.fixture(scope="module")
def site(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, which sees this one's packages behind its own, but for its ragbench."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    [site] = folder.glob("lib/python3*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "beside.pth").write_text(f"import sys; sys.path += {here!r}\n", encoding="utf-8")
    [wheel] = built.glob("ragbench-*.whl")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
        "--quiet",
        "--no-deps",
    ]
    subprocess.run([*command, "--no-index", "--no-compile", wheel], check=True)
    return site


@pytest.fixture
def installed(site: Path, tmp_path: Path, database_folder: Path) -> Ran:
    """Runs a command of the installed ragbench in an empty folder; what it said."""
    known = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("RAGBENCH_", "PYTHON"))
    }
    known |= {
        "RAGBENCH_DATABASE__FOLDER": str(database_folder),
        "COLUMNS": "200",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    known |= {
        "JUPYTER_PATH": str(Path(sysconfig.get_path("data")) / "share" / "jupyter")
    }  # nbconvert's templates

    def ran(*words: str, program: str = "ragbench") -> str:
        command = [site.parents[2] / "bin" / program, *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=known, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return ran


def everything(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.slow
def test_a_first_report_needs_the_wheel_alone(installed: Ran, site: Path, tmp_path: Path) -> None:
    before = everything(site / "ragbench")
    where = installed("-P", "-c", "import ragbench; print(ragbench.__file__)", program="python")
    assert Path(where.strip()) == site / "ragbench" / "__init__.py"
    told = installed("doctor")
    assert "data set campus: 105 passages, 157 questions, comes with ragbench" in told
    assert f"12 in {site / 'ragbench' / 'shipped' / 'notebooks'}" in told
    installed("run", "tier1_retrieval")
    page = (tmp_path / "reports" / "latest" / "tier1_retrieval.html").read_text(encoding="utf-8")
    assert "campus:en" in page
    assert "hybrid" in page, "the systems of the ragbench.toml that came along"
    assert everything(site / "ragbench") == before, "nothing is written beside the package"
    assert {path.name for path in tmp_path.iterdir()} == {"reports"}


@pytest.mark.slow
def test_a_table_is_scored_where_only_the_wheel_is(installed: Ran, tmp_path: Path) -> None:
    assert "mrr" in installed("metrics")
    (tmp_path / "answers.csv").write_text(
        "id,user_input,response,reference\n"
        "a,How much is lunch?,250 roubles,Lunch is 250 roubles\nb,When?,At nine,At nine\n", encoding="utf-8"
    )  # fmt: skip
    installed(
        "score",
        "answers.csv",
        "-m",
        "exact_match",
        "-m",
        "rougeL_f",
        "--out",
        "scores",
        "--language",
        "ru",
    )
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "scores").rglob("*.html")]
    assert pages
    assert all('lang="ru"' in text and "Content-Security-Policy" in text for text in pages)


@pytest.mark.slow
def test_an_editable_install_shows_ragbench_alone(tmp_path: Path) -> None:
    """As `make setup` installs it: of the checkout's folders only the package can be imported elsewhere."""
    for name in (*(path for path in BUILT if "." in path), "LICENSE"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    for name in ("ragbench/__init__.py", "tests/__init__.py", "data/campus/dataset.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    venv.create(tmp_path / "venv", with_pip=False)
    program = tmp_path / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", program, "install", "--quiet", "--no-deps"]
    [site] = (tmp_path / "venv").glob("lib/python3*/site-packages")
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "beside.pth").write_text(
        "\n".join(here), encoding="utf-8"
    )  # its setuptools, and no ragbench of a checkout
    known = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(
        [*command, "--no-build-isolation", "--no-index", "-e", tmp_path], check=True, env=known
    )
    names = ("ragbench", "tests", "notebooks")
    tried = (
        f"import importlib.util as u; print([u.find_spec(name) is not None for name in {names}])"
    )
    done = subprocess.run(
        [program, "-P", "-c", tried], capture_output=True, text=True, check=True, env=known
    )
    assert done.stdout.strip() == "[True, False, False]"


def test_a_checkout_has_what_a_wheel_brings() -> None:
    assert annexes.FOLDER == ROOT
    assert all((annexes.FOLDER / name).is_file() for name in shipped_files())


def test_the_projects_own_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGBENCH_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    assert settings.load().baseline == "bm25", (
        "ragbench.toml is ragbench's, where a project has none"
    )
    assert settings.project_folder() == tmp_path
    assert [path.parent for path in places.notebooks()] == [annexes.NOTEBOOKS] * 12
    assert places.data("campus:ru") == places.data("campus") == annexes.DATA
    assert places.data("mine") == places.data("../campus/x") == tmp_path / "data"
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "sources.ipynb").write_text(
        '{"cells": ["import ragbench"]}', encoding="utf-8"
    )
    (tmp_path / "notebooks" / "mine.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "data" / "campus").mkdir(parents=True)
    (tmp_path / "data" / "campus" / "dataset.toml").write_text("", encoding="utf-8")
    (tmp_path / "ragbench.toml").write_text("", encoding="utf-8")
    settings.load.cache_clear()
    assert settings.load().baseline == "bm25", (
        "one that names neither data nor systems means the shipped ones"
    )
    assert (
        places.notebooks()
        == [tmp_path / "notebooks" / "sources.ipynb"]
        == [places.notebook("sources.ipynb")]
    )
    assert places.notebook("overview.ipynb") == annexes.NOTEBOOKS / "overview.ipynb", (
        "by name what a project lacks"
    )
    assert places.data("campus:ru") == tmp_path / "data"
    settings.load.cache_clear()


def test_the_lab_opens_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.delenv("RAGBENCH_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    monkeypatch.setattr(os, "execve", lambda program, words, variables: started.append(words))
    run.lab("tier_ux", trusted=False, port=8888, browser=False, ip="127.0.0.1")
    assert "--LabApp.default_url=/lab/tree/notebooks/tier_ux.ipynb" in started[0]
    assert f"--ServerApp.root_dir={tmp_path}" in started[0]
    copied = {path.name: path.read_bytes() for path in (tmp_path / "notebooks").iterdir()}
    assert copied == {
        path.name: path.read_bytes() for path in annexes.NOTEBOOKS.iterdir() if path.is_file()
    }
    (tmp_path / "notebooks" / "tier_ux.ipynb").write_bytes(
        copied["tier_ux.ipynb"].replace(b"0.95", b"0.9")
    )
    run.lab("tier_ux", trusted=True, port=8888, browser=False, ip="127.0.0.1")
    assert b"0.95" not in (tmp_path / "notebooks" / "tier_ux.ipynb").read_bytes(), (
        "what is there is not replaced"
    )
    settings.load.cache_clear()

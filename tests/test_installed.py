"""ragbench as others get it: the wheel, installed into an empty folder, brings all that it needs at run time."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BROUGHT = {
    "report_template/index.html.j2", "report_template/page.css", "report_template/questions.js",
    "report_template/views/pieces.html.j2", "py.typed",
    "locale/ru/LC_MESSAGES/ragbench.po", "store/migrations/env.py", "lab/labconfig/page_config.json",
}  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of what is committed and of what is not, built from a copy with the setuptools that is installed."""
    folder = tmp_path_factory.mktemp("built")
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", "ragbench", "pyproject.toml",
                            "README.md", "LICENSE"], cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    if names.returncode:
        pytest.skip("not a checkout of git")
    with tarfile.open(folder / "all.tar", "w") as packed:
        for name in names.stdout.splitlines():
            if (ROOT / name).is_file():
                packed.add(ROOT / name, name)
    with tarfile.open(folder / "all.tar") as packed:
        packed.extractall(folder / "source", filter="data")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(folder / "source")], check=True, env={**os.environ, "PIP_NO_INDEX": "1"})
    [found] = folder.glob("ragbench-*.whl")
    return found


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        inside = {name.removeprefix("ragbench/") for name in packed.namelist() if name.startswith("ragbench/")}
    source = {path.relative_to(ROOT / "ragbench").as_posix() for path in (ROOT / "ragbench").rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    assert inside == source
    assert inside >= BROUGHT


@pytest.mark.slow
def test_commands_work_from_the_wheel_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    """The wheel first on the path, its dependencies from this environment, no checkout anywhere."""
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RAGBENCH_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(site), "COLUMNS": "200"}

    def ran(*words: str) -> str:
        command = [sys.executable, "-P", "-m", "ragbench", *words]
        done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = subprocess.run([sys.executable, "-P", "-c", "import ragbench; print(ragbench.__file__)"], cwd=empty,
                           env=environment, capture_output=True, text=True, check=True)  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(site)
    assert "ragbench run" in ran("--help")
    assert "mrr" in ran("metrics")
    (empty / "answers.csv").write_text(
        "id,user_input,response,reference\n"
        "a,How much is lunch?,250 roubles,Lunch is 250 roubles\nb,When?,At nine,At nine\n", encoding="utf-8"
    )  # fmt: skip
    ran("score", "answers.csv", "-m", "exact_match", "-m", "rougeL_f", "--out", "scores", "--language", "ru")
    pages = [path.read_text(encoding="utf-8") for path in (empty / "scores").rglob("*.html")]
    assert pages
    assert all('lang="ru"' in text and "Content-Security-Policy" in text for text in pages)

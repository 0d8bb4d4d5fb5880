"""Files of a run: whole or not there, in a folder of its own, found again under `latest`."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.report.keeping import results


@pytest.mark.fault("disk", tried="a file whose writing breaks off", count=1)
def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    results.write(path, "old")

    def break_off(temporary: Path) -> None:
        temporary.write_text("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        results.write_by(path, break_off)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".page")] == []


def claimed(reports: Path) -> list[str]:
    """The names of the folders that one process gets."""
    return [results.finish(results.new_run(reports)).name for _ in range(25)]


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="folders claimed by eight processes", count=200)
def test_runs_of_several_processes_get_folders_of_their_own(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with context.Pool(8, initializer=context.Barrier(8).wait) as pool:
        names = [name for found in pool.map(claimed, [tmp_path / "r"] * 8, chunksize=1) for name in found]
    assert len(names) == len(set(names)) == 200
    there = {path.name for path in (tmp_path / "r").iterdir()}
    assert there == {*names, "latest"}
    assert (tmp_path / "r" / "latest").resolve().name in names


def test_latest_is_a_page_that_leads_on_where_links_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: Any, **more: Any) -> None:
        raise OSError("no links here")

    first = results.finish(results.new_run(tmp_path))
    monkeypatch.setattr(Path, "symlink_to", refuse)
    second = results.finish(results.new_run(tmp_path))
    assert first != second
    assert f"../{second.name}/index.html" in (tmp_path / "latest" / "index.html").read_text()
    monkeypatch.undo()
    third = results.finish(results.new_run(tmp_path))
    assert (tmp_path / "latest").resolve() == third.resolve()


@pytest.mark.fault("disk", tried="files of others in a folder that is written anew", count=1)
def test_a_folder_of_others_that_is_called_latest_stays_and_is_named_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    begun = results.new_run(tmp_path)
    (tmp_path / "latest").mkdir()
    (tmp_path / "latest" / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="latest is not ragbench's"):
        results.new_run(tmp_path)
    assert results.finish(begun).is_dir()
    assert (tmp_path / "latest" / "thesis.txt").read_text() == "mine"

"""A folder takes another's place: nothing of others is lost, and a kill leaves the old one or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragbench.old.core import folders
from ragbench.old.core.folders import MARK, exchange, files_of, new_folder, take_place


def written(folder: Path, **contents: str) -> Path:
    for name, content in contents.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in files_of(folder) - {MARK} if not (folder / name).is_symlink()}


def publish(final: Path, **made: str) -> None:
    with new_folder(final) as folder:
        written(folder, **made)


@pytest.mark.fault("disk", tried="files of others in a folder that is written anew", count=1)
def test_what_others_put_there_stays_and_what_is_no_longer_written_goes(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, index="one", old__page="gone soon", old__mine="ours", single__index="one")
    written(site, CNAME="example.org", **{".git__objects__ab__cd": "object", ".git__HEAD": "ref", "old__notes": "kept"})
    (site / ".git" / "hooks").symlink_to("/nowhere")
    publish(site, index="two", single__index="two")
    theirs = {"CNAME": "example.org", ".git/objects/ab/cd": "object", ".git/HEAD": "ref", "old/notes": "kept"}
    assert contents(site) == theirs | {"index": "two", "single/index": "two"}
    assert (site / ".git" / "hooks").readlink() == Path("/nowhere")
    assert {path.name for path in tmp_path.iterdir()} == {"site"}
    publish(site, index="three")
    assert contents(site) == theirs | {"index": "three"}


@pytest.mark.fault("disk", tried="files of others in a folder that is written anew", count=1)
def test_a_file_of_others_is_never_replaced(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, index="one")
    written(site, page="the user's own")
    with pytest.raises(FileExistsError, match=r"site/page is not ragbench's and would be replaced"):
        publish(site, index="two", page="ours")
    assert contents(site) == {"index": "one", "page": "the user's own"}
    assert {path.name for path in tmp_path.iterdir()} == {"site"}


def test_of_a_folder_with_an_old_empty_mark_only_what_is_written_anew_is_replaced(tmp_path: Path) -> None:
    site = written(tmp_path / "site", index="old", CNAME="example.org", **{MARK: ""})
    publish(site, index="new")
    assert contents(site) == {"index": "new", "CNAME": "example.org"}


def test_without_an_exchange_in_one_step_it_is_done_in_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_exchanged", lambda made, final: False)
    site = tmp_path / "site"
    publish(site, index="one")
    written(site, CNAME="example.org")
    publish(site, index="two")
    assert contents(site) == {"index": "two", "CNAME": "example.org"}
    assert {path.name for path in tmp_path.iterdir()} == {"site"}


@pytest.mark.fault("disk", tried="the moment between the old folder and the new", count=1)
@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged in one step on Linux")
def test_at_no_moment_is_there_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    final, made = written(tmp_path / "final", a="old"), written(tmp_path / "made", a="new")

    def forbidden(path: Path, target: Path) -> None:
        raise AssertionError(f"{path} was moved to {target} in a step of its own")

    monkeypatch.setattr(Path, "replace", forbidden)
    old = exchange(made, final)
    assert (final / "a").read_text() == "new"
    assert (old / "a").read_text() == "old"


KILLED = """
import sys
from pathlib import Path
from ragbench.old.core.folders import new_folder
number = 0
while True:
    number += 1
    with new_folder(Path(sys.argv[1])) as made:
        for name in range(20):
            (made / f"page{name}").write_text(str(number))
    print(number, flush=True)
"""


@pytest.mark.fault("kill", tried="kills while a folder is written", count=6)
def test_a_kill_leaves_a_whole_folder_and_the_next_command_clears_the_rest(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for attempt in range(6):
        worker = subprocess.Popen([sys.executable, "-c", KILLED, str(site)], stdout=subprocess.PIPE, text=True)
        assert worker.stdout is not None
        worker.stdout.readline()
        if attempt == 0:
            worker.stdout.readline()
        time.sleep(0.003 * attempt)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        worker.stdout.close()
        found = contents(site)
        found.pop("CNAME", None)
        assert len(found) == 20
        assert len(set(found.values())) == 1, "pages of two runs stand beside each other"
        if attempt == 0:
            written(site, CNAME="example.org")
    publish(site, index="last")
    assert contents(site) == {"index": "last", "CNAME": "example.org"}
    assert {path.name for path in tmp_path.iterdir()} == {"site"}


@pytest.mark.fault("kill", tried="kills while a folder is written", count=1)
def test_what_a_kill_between_exchange_and_moving_kept_comes_home(tmp_path: Path) -> None:
    site = written(tmp_path / "site", index="new", **{MARK: "index\n"})
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    written(tmp_path / f".site-{gone.pid}-abcd1234", index="old", CNAME="example.org", **{MARK: "index\n"})
    written(tmp_path / f".site-{os.getpid()}-abcd1234", page="of a command that is at work", **{MARK: "building"})
    written(tmp_path / ".site-of-mine", thesis="mine")
    publish(site, index="newest")
    assert contents(site) == {"index": "newest", "CNAME": "example.org"}
    assert {path.name for path in tmp_path.iterdir()} == {"site", ".site-of-mine", f".site-{os.getpid()}-abcd1234"}


@pytest.mark.slow
def test_rights_are_those_that_the_umask_leaves(tmp_path: Path) -> None:
    program = "import os, sys; from pathlib import Path; from ragbench.old.report.keeping import results\n"
    program += "from ragbench.old.core.folders import new_folder\nos.umask(0o027)\n"
    program += "with new_folder(Path(sys.argv[1])) as made: results.write(made / 'index', 'text')"
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "site")], check=True)
    assert (tmp_path / "site").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "site" / "index").stat().st_mode & 0o777 == 0o640


def test_take_place_leaves_all_as_it_was_where_it_refuses(tmp_path: Path) -> None:
    final, made = written(tmp_path / "final", a="theirs"), written(tmp_path / "made", a="ours")
    with pytest.raises(FileExistsError):
        take_place(made, final, ())
    assert (contents(final), contents(made)) == ({"a": "theirs"}, {"a": "ours"})

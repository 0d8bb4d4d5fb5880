"""The one door to the disk: a file or a folder takes another's place, and at every moment one of them is there whole.

What others put into a folder stays. What is read whole has an end, whoever wrote it.

JSON that is too large to be held is written in pieces, letter by letter that of the value as a whole.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

MARK = ".ragbench"
"""The file in a folder that lists what ragbench wrote there, a line a file: nothing else is replaced or removed."""
UNNAMED = f"{MARK}-new"
BUILDING = "building"
"""What the mark says of a folder that is not whole yet: all in it may go."""
FAULTS = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG, errno.EFBIG),
    *(errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.EIO, errno.ELOOP),
}
"""What the operating system refuses for reasons that people can mend."""
MENDED = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room there"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "get the right to write there, or name another place"),
    errno.EIO: "look after the disk",
    errno.EFBIG: "raise the limit on a file's size (ulimit -f), or name another place",
}
"""What helps where nothing can be written."""
MOST_BYTES = 2**25
"""Of a file that is read whole, where its reader says nothing else."""
BLOCK = 2**16  # a pipe's buffer on Linux, so that a stream is read as it comes
MOST_CODE = 2**21
"""Of a Python file that is parsed: its tree takes some three hundred times as much."""
MOST_PARTS = 200
"""Of one name in a file of TOML."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of Linux


class TooLargeError(ValueError):
    """A file has more than its reader takes at once; the message names both."""


def content(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file. Raises TooLargeError for more than `most`, none of which is held: what a file says of its
    size is not asked, for that of a pipe or a device is no limit."""
    with path.open("rb") as file:
        data = read(file, most + 1)
    if len(data) > most:
        raise TooLargeError(f"{path.name}: more than {most:,} bytes; a file of its kind has fewer")
    return data


def read(file: IO[bytes] | io.BufferedIOBase, most: int) -> bytes:
    """What is left of a file, `most` bytes of it at most; one call for so many would reserve them all, however short
    the file is."""
    data = io.BytesIO()
    while block := file.read(min(BLOCK, most - data.tell())):
        data.write(block)
    return data.getvalue()


def text(path: Path, most: int = MOST_BYTES, *, errors: str = "strict") -> str:
    """The text of a file in UTF-8, with LF line ends. Raises what `content` does, and UnicodeDecodeError."""
    return io.TextIOWrapper(io.BytesIO(content(path, most)), encoding="utf-8", errors=errors).read()


def toml(written: str) -> dict[str, Any]:
    """What a text in TOML says. Raises ValueError and RecursionError for one that is none, and for a name of more parts
    than anybody writes: the parser takes their square in time."""
    for number, line in enumerate(written.split("\n"), 1):
        if line.count(".") > MOST_PARTS and any(
            len(re.findall(_PART, name[0])) > MOST_PARTS for name in _DOTTED.finditer(line)
        ):
            raise ValueError(f"line {number} has a name of more than {MOST_PARTS} parts")
    return tomllib.loads(written)


def last_lines(path: Path, most: int = 2**20) -> list[str]:
    """The lines at the end of a log, of whatever length it is; the first may be a part of one."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - most))
        return file.read(most).decode("utf-8", errors="replace").splitlines()


def digest(path: Path) -> str:
    """The SHA-256 of a file of any size, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def said(error: OSError) -> str:
    """What the operating system refused: the file, where one is named, and the reason, without numbers and calls."""
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{os.fsdecode(error.filename)}: {error.strerror}"


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to that becomes `path` when everything is on the disk, and vanishes if anything fails.

    An OSError that is raised meanwhile names `path`, whoever raised it.
    """
    temporary = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        temporary.touch(exist_ok=False)  # with the rights that the user's umask leaves
        yield temporary
        _on_disk(temporary)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        is_of_another = error.filename is not None and Path(os.fsdecode(error.filename)) != temporary
        if is_of_another or error.errno is None:
            raise
        raise _named(error.errno, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file, or none."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    with whole(path) as temporary:
        temporary.write_bytes(data)


def write_by(path: Path, writer: Callable[[Path], object]) -> None:
    """Let `writer` write a whole file, or none."""
    with whole(path) as temporary:
        writer(temporary)


@contextlib.contextmanager
def new_folder(final: Path) -> Iterator[Path]:
    """A folder to write to that takes the place of `final` when all is written, and vanishes if anything fails.

    What others put into `final` (a `.git`, a CNAME) is in the new folder too. What a killed command left beside it is
    cleared away. Raises FileExistsError where `final` holds something and ragbench wrote none of it, or where a file of
    others has the name of one to be written.
    """
    if not _may_replace(final):
        raise FileExistsError(f"{final} is there and holds other things: name another folder, or empty it yourself")
    final.parent.mkdir(parents=True, exist_ok=True)
    _clear_left(final)
    made = _beside(final)
    made.mkdir()  # not by tempfile, which closes a folder to all but its owner: here the user's umask decides
    try:
        _mark(made, BUILDING)
        yield made
        written = files_of(made)
        _mark(made, "".join(f"{name}\n" for name in sorted(written)))
        take_place(made, final, _listed(final, written))
        sync(final.parent)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        if error.filename is None and error.errno is not None:
            raise _named(error.errno, final) from error
        raise
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def take_place(made: Path, final: Path, ours: Collection[str]) -> None:
    """The folder `made`, which lies beside `final` or below its parent, becomes `final`.

    ours: files of `final`, as paths relative to it, that are replaced or removed; all others move into the new folder.
    Raises FileExistsError, with nothing changed, where a file of others has the name of one in `made`, and OSError
    where its files cannot be brought to the disk.
    """
    for name in sorted(files_of(made)):
        if not (made / name).is_symlink():
            _on_disk(made / name)
    sync(made)
    if not final.exists():
        made.replace(final)
        return
    for name in sorted((files_of(final) - {MARK}) - set(ours)):
        if (made / name).exists():
            raise FileExistsError(
                f"{final / name} is not ragbench's and would be replaced: move it, or name another folder"
            )
    old = exchange(made, final)
    _bring(old, final, set(ours))
    _remove(old)


def exchange(made: Path, final: Path) -> Path:
    """Let two folders change places, in one step where the system can; where the old one is now is returned.

    Elsewhere in two steps; if the second fails, all is as it was.
    """
    if _exchanged(made, final):
        return made
    old = _beside(final)
    final.replace(old)
    try:
        made.replace(final)
    except OSError:
        old.replace(final)
        raise
    return old


def files_of(folder: Path) -> set[str]:
    """Paths of all files and links below a folder, relative to it, with slashes; links are not followed."""
    paths = set()
    for place, folders, names in os.walk(folder):
        linked = [name for name in folders if (Path(place) / name).is_symlink()]
        paths |= {(Path(place) / name).relative_to(folder).as_posix() for name in (*names, *linked)}
    return paths


def sync(folder: Path) -> None:
    """Have the folder's entries on the disk, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _named(number: int, path: Path) -> OSError:
    """A refusal by the operating system with the path that the user knows."""
    return OSError(number, os.strerror(number), str(path))


def _on_disk(path: Path) -> None:
    with path.open("rb" if os.name == "posix" else "rb+") as file:  # a copied file may be closed to writing
        os.fsync(file.fileno())


def _beside(final: Path) -> Path:
    """A path beside `final` that nobody has; it begins with this process's number, for `_clear_left`."""
    return final.with_name(f".{final.name}-{os.getpid()}-{secrets.token_hex(4)}")


def _exchanged(made: Path, final: Path) -> bool:
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or an old one
        return False
    return rename(_HERE, os.fsencode(made), _HERE, os.fsencode(final), _EXCHANGE) == 0


def _may_replace(folder: Path) -> bool:
    if not folder.exists():
        return not folder.is_symlink()
    return folder.is_dir() and not folder.is_symlink() and (_is_marked(folder) or not any(folder.iterdir()))


def _mark(folder: Path, listed: str) -> None:
    """Write the mark at once: half a list would call our files those of others."""
    (folder / UNNAMED).write_text(listed, encoding="utf-8")  # of that name, so that `_clear_left` knows it
    (folder / UNNAMED).replace(folder / MARK)


def _is_marked(folder: Path) -> bool:
    return (folder / MARK).is_file()


def _listed(folder: Path, written: Collection[str]) -> set[str]:
    """The files of a folder that ragbench wrote. Where the list is empty, as old ones are, those it writes now."""
    try:
        names = set(text(folder / MARK).splitlines())
    except OSError:
        return set()
    return (names or set(written)) | {MARK}


def _bring(old: Path, new: Path, ours: set[str], below: str = "") -> None:
    """Move what is not ours from the old folder into the new one, where nothing has its name; whole folders at once."""
    for entry in sorted((old / below).iterdir()):
        name = entry.relative_to(old).as_posix()
        is_folder = entry.is_dir() and not entry.is_symlink()
        if is_folder and ((new / name).exists() or any(path.startswith(f"{name}/") for path in ours)):
            _bring(old, new, ours, name)
        elif name not in ours and not (new / name).exists():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            entry.rename(new / name)


def _clear_left(final: Path) -> None:
    """Deal with what killed commands left beside `final`: files of others go back to it, the rest goes."""
    for left in final.parent.glob(f".{final.name}-*-*"):
        number = left.name.removeprefix(f".{final.name}-").split("-")[0]
        is_ours = _is_marked(left) or files_of(left) <= {UNNAMED}
        if not number.isdigit() or not is_ours or is_alive(int(number)):
            continue
        ours = set(text(left / MARK).splitlines()) if _is_marked(left) else {BUILDING}
        ours |= {MARK}
        if BUILDING not in ours:
            if not final.exists():
                left.rename(final)
                continue
            _bring(left, final, ours)
            if files_of(left) - ours:
                continue
        _remove(left)


def _remove(folder: Path) -> None:
    """Remove a folder, its mark last: killed in the middle, `_clear_left` still knows it."""
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != MARK:
            entry.unlink()
    (folder / MARK).unlink(missing_ok=True)
    folder.rmdir()


def is_alive(process: int) -> bool:
    """Whether there is a process of that number, whoever owns it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def of_json(value: Any, indent: int = 1, clean: Callable[[Any], Any] = lambda value: value) -> Iterator[str]:
    """The text of a JSON value. An iterator among the values of a mapping is a list that is read as it is written.

    clean: what each value goes through before. Raises ValueError for NaN.
    """

    def text(part: Any, depth: int) -> str:
        written = json.dumps(clean(part), ensure_ascii=False, indent=indent, allow_nan=False)
        return written.replace("\n", "\n" + " " * (indent * depth))  # a text of JSON holds no end of a line

    if not isinstance(value, Mapping) or not any(isinstance(member, Iterator) for member in value.values()):
        yield text(value, 0)
        return
    opening = "{"
    for key, content in value.items():
        yield f"{opening}\n{' ' * indent}{json.dumps(clean(key), ensure_ascii=False)}: "
        opening = ","
        if isinstance(content, Iterator):
            yield from _list_of((text(each, 2) for each in content), indent)
        else:
            yield text(content, 1)
    yield "\n}"


def _list_of(texts: Iterator[str], indent: int) -> Iterator[str]:
    opening = "["
    for text in texts:
        yield f"{opening}\n{' ' * (2 * indent)}{text}"
        opening = ","
    yield "[]" if opening == "[" else f"\n{' ' * indent}]"

"""Writing a data set's folder, so that it is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from ragbench.old.core import names
from ragbench.old.core.folders import files_of, take_place, whole
from ragbench.old.core.folders import write as file_of
from ragbench.old.core.settings import secrets
from ragbench.old.data.files import DatasetError, cut
from ragbench.old.data.folder import (
    BASE,
    MODELS,
    NAME,
    Records,
    Written,
    check,
    language_in,
    lines_of_table,
    place_of,
    records_named,
)  # fmt: skip
from ragbench.old.data.shelf import Shelf, line_of


def write(
    name: str,
    folder: Path,
    *,
    title: str,
    licence: str,
    source: str,
    language: str,
    logged: Mapping[str, Iterable[Mapping[str, Any]]] | None = None,
    left_out: Mapping[str, int] | None = None,
    replace: bool = False,
    dry_run: bool = False,
    **tables: Sequence[Any],
) -> Written:
    """Write a new data set below `folder` and read it back; on any fault nothing is left behind.

    tables: of records, by their names in `Records`; a shelf is written line by line.
    logged: system → lines of what it retrieved and answered, kept beside the tables: see `logged_files`. left_out:
    reason → count of what was passed over, kept for the pages. dry_run: do it elsewhere, and leave nothing.
    Raises DatasetError where a data set of that name is there already, unless `replace`.
    """
    require_free(name, folder, replace=replace)
    with _made(name, folder, dry_run) as made:
        made.mkdir()
        described = {"title": title, "licence": licence, "source": source}
        lines = [f"{key} = {toml(value)}" for key, value in described.items()]
        lines += [f'languages = ["{language}"]', "", "[left_out]"] if left_out else [f'languages = ["{language}"]']
        lines += [f"{toml(reason)} = {count:d}" for reason, count in (left_out or {}).items()]
        described_as = secrets.document_masker()("\n".join([*lines, ""]))
        file_of(made / "dataset.toml", described_as)
        _write_tables(made, language, Records(**tables))
        for system, file in logged_files(logged or ()).items():
            rows = (logged or {})[system]
            _write_lines(made / file, rows.lines() if isinstance(rows, Shelf) else map(line_of, rows))
        written = check(name, made.parent)
        if not dry_run:
            _place(made, folder / name)
    return written


def require_free(name: str, folder: Path, *, replace: bool = False) -> None:
    """Raises DatasetError for what cannot be a data set's name, and for one that is taken, unless `replace`."""
    if not NAME.fullmatch(name):
        raise DatasetError(
            f"--name {cut(name)}: use small Latin letters, digits, dots, dashes, underscores, at most 100, a letter or "
            "digit first"
        )
    if why := names.folder_fault(name):
        raise DatasetError(f"--name {name!r} {why}; give another")
    if (folder / name).exists() and not replace:
        raise DatasetError(f"the data set {name} is there already; give another --name, or --replace")


def add(
    name: str,
    folder: Path,
    tables: Records,
    *,
    dry_run: bool = False,
    replace: bool = False,
    removed: Collection[str] = (),
) -> Written:
    """Add records to the data set `name` (`name:ru` for one of its languages) and read it back.

    dry_run: do it elsewhere, and leave nothing. replace: a record takes the place of that of its id. removed: ids that
    are taken out.
    Raises DatasetError for an id that is there already, with another content; nothing has changed then.
    """
    name, _, language = name.partition(":")
    place = place_of(name, folder)
    language = language_in(place, language)
    merged = _merged(place, language, tables, replace, removed)
    with _made(name, folder, dry_run) as made:
        shutil.copytree(place, made)
        for table in MODELS:  # one that holds nothing any more is no table
            (made / f"{table}.{language}.jsonl").unlink(missing_ok=True)
        _write_tables(made, language, merged)
        written = check(f"{name}:{language}", made.parent)
        if not dry_run:
            take_place(made, place, files_of(place))
    return written


def change(name: str, folder: Path, tables: Records, removed: Collection[str] = ()) -> Written:
    """`add` for records that are there. Raises DatasetError for others; nothing has changed then."""
    place, _language, there = records_named(name, folder)
    for table in MODELS:
        known = {record.id for record in getattr(there, table)}
        if missing := sorted(record.id for record in getattr(tables, table) if record.id not in known):
            raise DatasetError(f"data set {place.name}, {table}: {missing[0]!r} is not there, and cannot be changed")
    return add(name, folder, tables, replace=True, removed=removed)


def logged_files(systems: Iterable[str]) -> dict[str, str]:
    """System → name of the file in a data set's folder that holds what it retrieved and answered, no two the same.

    It follows from the system's name alone, so that another load never puts another system's answers there.
    """
    return {system: f"answers.{_file_stem(system)}.jsonl" for system in systems}


def _file_stem(system: str) -> str:
    """The name itself where every disk tells it from others; else what is plain of it, and a hash of the name."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", system.lower()).strip(".-")[:80]
    if plain == system:
        return plain
    digest = hashlib.sha256(unicodedata.normalize("NFC", system).encode()).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest


def _place(made: Path, target: Path) -> None:
    """The data set's folder takes the place of the one that is there; what is no table of a data set stays in it."""
    tables = {"answers", *(table.name for table in fields(Records))}
    there = target.glob("*.jsonl")
    take_place(made, target, {"dataset.toml", *(path.name for path in there if path.name.split(".")[0] in tables)})


@contextmanager
def _made(name: str, folder: Path, dry_run: bool) -> Iterator[Path]:
    """Where a data set is made before it takes its place: beside that, or, for a dry run, out of the way."""
    if not dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=None if dry_run else folder, prefix=f".{name}-") as temporary:
        yield Path(temporary) / name


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML writes it: as it is where no quotation marks are needed."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)


def _merged(place: Path, language: str, more: Records, replace: bool, removed: Collection[str]) -> Records:
    tables: dict[str, Shelf[Any]] = {}
    for table, model in MODELS.items():
        merged = tables[table] = Shelf(model)
        spared = {*removed, *((record.id for record in getattr(more, table)) if replace else ())}
        for where, record in lines_of_table(place / f"{table}.{language}.jsonl", model, held=False):
            if record.id not in spared and not merged.put(record.id, record):
                raise DatasetError(f"{where}: the id {record.id!r} stands there twice")
        for record in getattr(more, table):
            if record.id not in removed and not merged.put(record.id, record) and merged.get(record.id) != record:
                raise DatasetError(f"data set {place.name}, {table}: {record.id!r} is there already, and differs")
    return Records(**tables)


def _write_tables(place: Path, language: str, tables: Records) -> None:
    for table in fields(Records):
        records = getattr(tables, table.name)
        if records or table.name in BASE:
            is_shelf = isinstance(records, Shelf)
            lines = records.lines(by_key=True) if is_shelf else map(line_of, sorted(records, key=attrgetter("id")))
            _write_lines(place / f"{table.name}.{language}.jsonl", lines)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    mask = secrets.exact_masker()
    with whole(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            masked = mask(line)
            if masked != line:
                masked = json.dumps(secrets.masked(json.loads(line), mask), ensure_ascii=False)
            file.write(f"{masked}\n")

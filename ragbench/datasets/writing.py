"""Writing a data set's folder, so that it is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from ragbench import names
from ragbench.datasets.files import DatasetError
from ragbench.datasets.folder import BASE, NAME, Dataset, Records, language_in, load, place_of
from ragbench.datasets.records import Record
from ragbench.datasets.rows import cut
from ragbench.folders import files_of, take_place
from ragbench.folders import write as file_of
from ragbench.settings import secrets


def write(
    name: str,
    folder: Path,
    *,
    title: str,
    licence: str,
    source: str,
    language: str,
    logged: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    left_out: Mapping[str, int] | None = None,
    replace: bool = False,
    dry_run: bool = False,
    **tables: Sequence[Any],
) -> Dataset:
    """Write a new data set below `folder` and return it as read back; on any fault nothing is left behind.

    tables: of records, by their names in `Records`.
    logged: system → lines of what it retrieved and answered, kept beside the tables: see `logged_files`. left_out:
    reason → count of what was passed over, kept for the pages. dry_run: do it elsewhere, and leave nothing.
    Raises DatasetError where a data set of that name is there already, unless `replace`.
    """
    require_free(name, folder, replace=replace)
    with _made(name, folder, dry_run) as made:
        made.mkdir()
        described = {"title": title, "licence": licence, "source": source}
        lines = [f"{key} = {_toml(value)}" for key, value in described.items()]
        lines += [f'languages = ["{language}"]', "", "[left_out]"] if left_out else [f'languages = ["{language}"]']
        lines += [f"{_toml(reason)} = {count:d}" for reason, count in (left_out or {}).items()]
        described_as = secrets.document_masker()("\n".join([*lines, ""]))
        file_of(made / "dataset.toml", described_as)
        _write_tables(made, language, Records(**{name: list(rows) for name, rows in tables.items()}))
        for system, file in logged_files(logged or ()).items():
            _write_lines(made / file, (logged or {})[system])
        dataset = load(name, made.parent)
        if not dry_run:
            _place(made, folder / name)
    return dataset


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


def add(name: str, folder: Path, tables: Records, *, dry_run: bool = False) -> Dataset:
    """Add records to the data set `name` (`name:ru` for one of its languages) and return it as read back.

    dry_run: do it elsewhere, and leave nothing.
    Raises DatasetError for an id that is there already, with another content; nothing has changed then.
    """
    name, _, language = name.partition(":")
    place = place_of(name, folder)
    language = language_in(place, language)
    merged = _merged(Records.read(place, language), tables, name)
    with _made(name, folder, dry_run) as made:
        shutil.copytree(place, made)
        _write_tables(made, language, merged)
        dataset = load(f"{name}:{language}", made.parent)
        if not dry_run:
            take_place(made, place, files_of(place))
    return dataset


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


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _merged(there: Records, more: Records, name: str) -> Records:
    found: dict[str, list[Record]] = {}
    for table in fields(Records):
        known: dict[str, Record] = {record.id: record for record in getattr(there, table.name)}
        for record in getattr(more, table.name):
            if known.setdefault(record.id, record) != record:
                raise DatasetError(f"data set {name}, {table.name}: {record.id!r} is there already, and differs")
        found[table.name] = list(known.values())
    return Records(**found)  # type: ignore[arg-type]


def _write_tables(place: Path, language: str, tables: Records) -> None:
    for table in fields(Records):
        records = getattr(tables, table.name)
        if records or table.name in BASE:
            _write_lines(place / f"{table.name}.{language}.jsonl", records)


def _write_lines(path: Path, records: Sequence[Record | Mapping[str, Any]]) -> None:
    mask = secrets.exact_masker()
    lines = []
    for record in records:
        if isinstance(record, Mapping):
            line = json.dumps(record, ensure_ascii=False, allow_nan=False)
        else:
            line = record.model_dump_json(exclude_defaults=True)
        if mask(line) != line:
            line = json.dumps(secrets.masked(json.loads(line), mask), ensure_ascii=False)
        lines.append(f"{line}\n")
    file_of(path, "".join(lines))

"""Writing a data set's folder, so that it is there whole or not at all."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ragbench.datasets.files import DatasetError
from ragbench.datasets.folder import NAME, Dataset, Records, described, load, place_of
from ragbench.datasets.records import ChunkRecord, Decision, Dialogue, PastQuestion, QuestionRecord, RatedAnswer, Record


def write(
    name: str,
    folder: Path,
    *,
    title: str,
    licence: str,
    source: str,
    language: str,
    chunks: Sequence[ChunkRecord] = (),
    questions: Sequence[QuestionRecord] = (),
    dialogues: Sequence[Dialogue] = (),
    decisions: Sequence[Decision] = (),
    history: Sequence[PastQuestion] = (),
    ratings: Sequence[RatedAnswer] = (),
    logged: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    replace: bool = False,
) -> Dataset:
    """Write a new data set below `folder` and return it as read back; on any fault nothing is left behind.

    logged: system → lines of what it retrieved and answered, kept beside the tables: see `logged_file`.
    Raises DatasetError where a data set of that name is there already, unless `replace`.
    """
    require_free(name, folder, replace=replace)
    target = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as temporary:
        made = Path(temporary) / name
        made.mkdir()
        described = {"title": title, "licence": licence, "source": source}
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in described.items()]
        (made / "dataset.toml").write_text("\n".join([*lines, f'languages = ["{language}"]', ""]), encoding="utf-8")
        tables = Records(list(chunks), list(questions), list(dialogues), list(decisions), list(history), list(ratings))
        _write_tables(made, language, tables)
        for system, answers in (logged or {}).items():
            lines = [json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in answers]
            (made / logged_file(system)).write_text("".join(lines), encoding="utf-8")
        dataset = load(name, made.parent)
        take_place(made, target)
    return dataset


def require_free(name: str, folder: Path, *, replace: bool = False) -> None:
    """Raises DatasetError for what cannot be a data set's name, and for one that is taken, unless `replace`."""
    if not NAME.fullmatch(name):
        raise DatasetError(f"--name {name!r}: use small Latin letters, digits, dots, dashes, underscores")
    if (folder / name).exists() and not replace:
        raise DatasetError(f"the data set {name} is there already; give another --name, or --replace")


def add(name: str, folder: Path, tables: Records) -> Dataset:
    """Add records to the data set `name` (`name:ru` for one of its languages) and return it as read back.

    A chunk whose text is there already under another id is not added again: what names it names the one that is there.
    Raises DatasetError for an id that is there already, with another content; nothing has changed then.
    """
    name, _, language = name.partition(":")
    place = place_of(name, folder)
    _, _, languages = described(place)
    language = language or languages[0]
    if language not in languages:
        raise DatasetError(f"data set {name} has no language {language!r}; it has {', '.join(languages)}")
    there = Records.read(place, language)
    merged = _merged(there, _with_known_chunks(tables, there), name)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as temporary:
        made = Path(temporary) / name
        shutil.copytree(place, made)
        _write_tables(made, language, merged)
        dataset = load(f"{name}:{language}", made.parent)
        take_place(made, place)
    return dataset


def logged_file(system: str) -> str:
    """The name of the file in a data set's folder that holds what a system retrieved and answered."""
    return f"answers.{re.sub(r'[^a-z0-9._-]+', '-', system.lower()).strip('.-') or 'logged'}.jsonl"


def take_place(made: Path, final: Path) -> None:
    """A folder that was made beside `final` takes its place; if that fails, `final` is as it was."""
    if not final.exists():
        made.replace(final)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{final.name}-", dir=final.parent))
    final.replace(old)
    try:
        made.replace(final)
    except OSError:
        old.replace(final)
        raise
    shutil.rmtree(old)


def _with_known_chunks(tables: Records, there: Records) -> Records:
    by_text = {chunk.text: chunk.id for chunk in there.chunks}
    same = {chunk.id: by_text[chunk.text] for chunk in tables.chunks if chunk.text in by_text}
    decisions = [
        decision.model_copy(update={"context": tuple(same.get(name, name) for name in decision.context)})
        for decision in tables.decisions
    ]
    chunks = [chunk for chunk in tables.chunks if chunk.id not in same]
    rest = {name: getattr(tables, name) for name in ("questions", "dialogues", "history", "ratings")}
    return Records(chunks=chunks, decisions=decisions, **rest)


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
        if records or table.name in ("chunks", "questions"):
            _write_lines(place / f"{table.name}.{language}.jsonl", records)


def _write_lines(path: Path, records: Sequence[Record]) -> None:
    lines = [record.model_dump_json(exclude_defaults=True) + "\n" for record in records]
    path.write_text("".join(lines), encoding="utf-8")

"""Objects in the place of names, for one measurement: systems, embedders and data that stand in no file.

What a caller hands over needs no table of ragbench.toml and no trust in a folder: it is the caller's own code already.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from ragbench.old.core import names, trust
from ragbench.old.core import settings as configuration
from ragbench.old.core.expectations import kind
from ragbench.old.core.settings import EmbedderSettings, Settings
from ragbench.old.core.settings.endpoints import GeneratorSettings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.settings.systems import SystemSettings
from ragbench.old.core.types import Question, Sample
from ragbench.old.data import Dataset, DatasetError, cells, in_memory, load_folder
from ragbench.old.data.cells import is_frame, rows_of
from ragbench.old.data.rows import read_rows
from ragbench.old.data.samples import samples_of
from ragbench.old.data.shapes import rows_in
from ragbench.old.data.systems_of_answers import Ids
from ragbench.old.data.vocabulary import FIELDS, is_content, key
from ragbench.old.embed.own_embedders import PASSAGES, PLAIN, ObjectEmbedder
from ragbench.old.systems import callables, frameworks
from ragbench.old.tiers.basics.choices import BenchError, Reads

ANSWERS = ("answers", *FIELDS["response"])
RETRIEVED = ("retrieved", "retrieved_ids", "results", "hits", *FIELDS["contexts"], *FIELDS["context_ids"])
ONE_EACH = ("doc_id", "docno", "document_id", "chunk_id", "docid", "passage_id")
"""Columns of a table of one row a retrieved passage."""
IDS = (*FIELDS["id"], "qid", "query_id")
EMBED = (*PASSAGES, *PLAIN)
UPWARDS, DOWNWARDS = ("rank", "position", "distance"), ("score", "similarity")
ASKED = {"judges": ("judges", "providers"), "embedder": ("embedders",), "embedders": ("embedders",),
         "metrics": ("metrics",)}  # fmt: skip
"""Tables of a project that a parameter names something of."""
PARTS = {"retriever", "generator"}
"""Of a system that is put together here."""
_lock = threading.RLock()


@contextlib.contextmanager
def in_place(
    asked: Mapping[str, Any], reads: Reads = "retrievers", table: str = "questions"
) -> Iterator[dict[str, Any]]:
    """The parameters of a tier with names for all objects among them; inside, the settings know these names.

    asked: parameters by name: `systems` may be a mapping from name to object, `embedders` too, `dataset` a data set, a
    folder, or tables, and `documents` are the passages of such a table. reads: what a system is asked for. table:
    what a bare table in place of a data set is. One measurement of objects at a time in a process: others wait.
    Raises BenchError for what is no system, DatasetError for what is no data.
    """
    given = dict(asked)
    documents = given.pop("documents", None)
    held = {key for key in ("systems", "embedders", "dataset", "answers") if _is_held(given.get(key))}
    held |= {"dataset"} if isinstance(given.get("dataset"), list | tuple) else set()
    if documents is None and not held:
        yield given
        return
    with _lock:
        made = _Made(configuration.load(), reads, given)
        if "dataset" in held or documents is not None:
            made.take_data(given["dataset"] if "dataset" in held else None, documents, table)
        if "systems" in held:
            made.take_systems(given["systems"])
        if "embedders" in held:
            made.take_embedders(given["embedders"], "embedders")
        if "answers" in held:
            made.take_answers({"": given["answers"]})
        with configuration.held(made.settings()):
            yield made.given


def _is_held(value: Any) -> bool:
    """Whether it is an object or a table, or several, and not names as a notebook's parameter has them."""
    if isinstance(value, str):
        return False
    if isinstance(value, list | tuple):
        return any(_is_held(part) for part in value)
    ways = ("columns", "walk", "embed", *frameworks.OWN, *frameworks.ALONE, *EMBED)
    return (
        isinstance(value, Mapping | Path | Dataset | Sample | Question)
        or callable(value)
        or any(hasattr(value, way) for way in ways)
    )


class _Made:
    """Settings on their way to hold what was given."""

    def __init__(self, known: Settings, reads: Reads, given: dict[str, Any]) -> None:
        self.known, self.reads, self.given = known, reads, given
        self.systems: dict[str, SystemSettings] = {}
        self.embedders: dict[str, EmbedderSettings] = {}
        self.generators: dict[str, GeneratorSettings] = {}
        self.data: Dataset | None = None
        self.answers: tuple[Sample, ...] | None = None
        self.uses_names = False

    def settings(self) -> Settings:
        """The project's, with the objects in them. Where nobody has answered for the project's folder, and nothing of
        its tables was asked for by name, what they would run, open or send is left out."""
        doubted: set[str] = set()
        if not self.uses_names:
            doubted = {doubt.name.partition(".")[0] for doubt in trust.doubts(*trust.named())} - {"data_folder"}
            if "providers" in doubted:
                doubted |= {"judges", "generators"}
            doubted -= {table for key, tables in ASKED.items() if self.given.get(key) for table in tables}
        less = {table: Settings.model_fields[table].get_default() for table in doubted}
        more: dict[str, Any] = {"embedders": self.embedders, "generators": self.generators}
        known = self.known.model_copy(update=less)
        changed: dict[str, Any] = {table: {**getattr(known, table), **own} for table, own in more.items() if own}
        if self.systems:
            changed |= {"systems": self.systems, "baseline": None}
        made = known.model_copy(update=changed)
        return made.holding(self.data, self.answers)

    def take_data(self, data: Any, documents: Any, table: str) -> None:
        if isinstance(data, Path):
            self.data = load_folder(data.expanduser(), data.name, reader=str(self.given.get("language", "")))
        elif isinstance(data, Dataset):
            self.data = data
        else:
            tables = dict(data) if isinstance(data, Mapping) else {} if data is None else {table: data}
            if documents is not None:
                tables["documents"] = documents
            if (own := tables.get("documents")) is not None:
                tables["documents"] = _documents(own)
            self.data = in_memory.dataset(tables)
        self.given["dataset"] = self.data.label

    def take_systems(self, given: Any) -> None:
        systems = _by_name(given)
        if self.reads == "embedders":
            self.take_embedders(systems, "systems")
            return
        systems = {name: _by_question(system, self.data) for name, system in systems.items()}
        tables = {name: system for name, system in systems.items() if self.reads == "answers" and _is_table(system)}
        if tables:
            if tables.keys() != systems.keys():
                raise BenchError("systems: tables of answers, and systems that are asked, do not go together")
            self.take_answers(tables)
            self.given.pop("systems")
            return
        self.systems = {name: self._system(name, system) for name, system in systems.items()}
        self.given["systems"] = list(self.systems)
        self.given["baseline"] = self.given.get("baseline") or next(iter(self.systems))

    def take_embedders(self, given: Any, key: str) -> None:
        embedders = _by_name(given)
        for name, embedder in embedders.items():
            if isinstance(embedder, str):
                if embedder not in self.known.embedders:
                    raise BenchError(f"{key}: {name} = {embedder!r}: embedders are {', '.join(self.known.embedders)}")
                self.embedders[name] = self.known.embedders[embedder]
                continue
            ObjectEmbedder(name, embedder, 64)  # refused before anything is read
            plain = EmbedderSettings.model_construct(kind="object", model=callables.named(embedder))
            self.embedders[name] = plain.standing_for(embedder)
        if key == "systems":
            del self.given["systems"]
        self.given["embedders"] = list(embedders)

    def take_answers(self, tables: Mapping[str, Any]) -> None:
        """Tables of answers, by the system that gave them; "" where the rows name theirs."""
        samples: list[Sample] = []
        ids = Ids()
        for name, table in tables.items():
            if isinstance(table, str | Path):
                table = configuration.project_folder() / Path(table).expanduser()
            own = samples_of(table, name or "answers", system=name, ids=ids)
            samples += [_named(sample, name) for sample in own]
        self.answers = tuple(samples)
        self.given["answers"] = in_memory.NAME

    def _system(self, name: str, given: Any) -> SystemSettings:
        if isinstance(given, str | Path):
            return self._of_text(name, given)
        if isinstance(given, Mapping) and given.keys() <= PARTS and "retriever" in given:
            made = self._system(name, given["retriever"])
            return made.model_copy(update={"generator": self._writer(name, given["generator"])}).standing_for(
                made.given
            )
        if isinstance(given, list) and given and not isinstance(given[0], Mapping | Sample):
            raise BenchError(
                f"systems: {name}: a list of {kind(given[0])} each does not tell of which question; a mapping from "
                "question to what was retrieved or answered is expected, a data frame, or a list of mappings"
            )
        if isinstance(given, list) or is_frame(given):
            rows = list(logged(given, name, {q.text: q.id for q in self.data.questions} if self.data else {}))
            return SystemSettings(results=Path(type(given).__name__)).standing_for(rows)
        if self.reads == "writers":
            return SystemSettings(callable=callables.named(given), generator=self._writer(name, given)).standing_for(
                given
            )
        path = callables.named(given)
        try:
            callables.find(path, "(question, k)", 1, "", callables.asked, given)
        except ValueError as error:
            raise BenchError(f"systems: {name}: {error}") from None
        return SystemSettings(callable=path).standing_for(given)

    def _of_text(self, name: str, given: str | Path) -> SystemSettings:
        """A name of the project's, one of ragbench's own retrievers or embedders, or a file of results."""
        if str(given) in self.known.systems:
            self.uses_names = True
            return self.known.systems[str(given)]
        if str(given) in self.known.retrievers:
            self.uses_names = str(given) not in Settings.model_fields["retrievers"].get_default()
            return SystemSettings(retriever=str(given))
        path = Path(given).expanduser()
        path = path if path.is_absolute() or path.is_file() else configuration.project_folder() / path
        if path.is_file():
            if _is_table(path) and (rows := _rows(path)):
                return self._system(name, rows)
            return SystemSettings(results=path.resolve()).standing_for(None)
        legal = dict.fromkeys((*self.known.systems, *self.known.retrievers))
        raise BenchError(
            f"systems: {name} = {str(given)!r}: that is neither a file of results nor one of {', '.join(legal)}"
            f"{names.meant(str(given), legal)}"
        )

    def _writer(self, name: str, given: Any) -> str:
        if isinstance(given, str):
            self.uses_names = True
            return given
        plain = GeneratorSettings(kind="callable", callable=callables.named(given))
        self.generators[name] = plain.standing_for(given)
        return name


def _rows(path: Path) -> Sequence[Mapping[str, Any]]:
    """Those of a file that is read as a data frame is; none of one that is in the form of logged results."""
    with contextlib.suppress(DatasetError):
        rows = (row for _, row in read_rows(path))
        first = next(rows, {})  # which tells: a file of another form is not read twice
        is_logged = bool({".json", ".jsonl"} & {*path.suffixes}) and "id" in first
        if not is_logged and _first(first, (*IDS, *FIELDS["user_input"])) is not None:
            return [first, *rows]
    return []


def _named(sample: Sample, system: str) -> Sample:
    return replace(sample, system=system) if system else sample


def _by_name(given: Any) -> dict[str, Any]:
    """Objects by their names: of a mapping its keys, of one object or a list of them what they are called."""
    if isinstance(given, Mapping):
        by_name = {str(name): member for name, member in given.items()}
    else:
        several = given if isinstance(given, list | tuple) and not _is_table(given) else [given]
        by_name = {}
        for held in several:
            name = held if isinstance(held, str) else callables.named(held).rpartition(":")[2].rpartition(".")[2]
            by_name[name if name not in by_name else f"{name} {len(by_name) + 1}"] = held
    if not by_name:
        raise BenchError("systems: nothing is given; {name: object} is expected")
    for name in by_name:
        if why := names.fault(name) or ("holds a comma" if "," in name else ""):
            raise BenchError(f"systems: the name {excerpt(name, 40)!r} {why}")
    return by_name


def _by_question(given: Any, data: Dataset | None) -> Any:
    """Rows of a mapping (or a series) from questions, or their ids, to what was retrieved or answered, and of one from
    columns to their cells; anything else as it is."""
    if hasattr(given, "to_dict") and hasattr(given, "keys") and not is_frame(given):
        given = given.to_dict()
    if not isinstance(given, Mapping) or given.keys() & PARTS:
        return given
    if any(map(is_content, given)):
        return rows_in(given) or [given]
    known = {question.id for question in data.questions} if data else ()
    rows = []
    for name, said in given.items():
        asked: dict[str, Any] = {"id" if str(name) in known else "question": str(name)}
        if isinstance(said, str):
            rows.append({**asked, "answer": said})
        elif isinstance(said, Mapping) and not all(isinstance(score, Real) for score in said.values()):
            rows.append({**said, **asked})
        else:
            rows.append({**asked, "retrieved": rows_of(said, place="the data frame") if is_frame(said) else said})
    return rows


def _is_table(given: Any) -> bool:
    if isinstance(given, str | Path):
        return str(given).lower().endswith((".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz"))
    return is_frame(given) or (isinstance(given, list) and bool(given) and isinstance(given[0], Mapping | Sample))


def _documents(given: Any) -> Any:
    """Documents of a framework as mappings; everything else as it is."""
    if is_frame(given) or isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return given
    return [document if isinstance(document, str) else frameworks.passage(document) for document in given]


def logged(given: Any, name: str, asked: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Rows of results in memory as a file of results has them: one a question, or one a retrieved passage.

    asked: ids of questions by their texts, for rows without ids. Raises BenchError for rows that say nothing.
    """
    place, known = f"systems: {name}", set(asked.values())
    lists: dict[str, list[tuple[float, Any]]] = {}
    for where, index, row in in_memory.rows(given, place):
        text, own = _first(row, FIELDS["user_input"]), _first(row, IDS)
        identifier = asked.get(str(text), index) if own is None else str(own)
        if own is None and text is not None and known and str(text) not in asked:
            raise BenchError(f"{where}: no question of the data set reads {excerpt(text, 60)!r}; give it an id")
        retrieved, answer, single = _listed(_first(row, RETRIEVED)), _first(row, ANSWERS), _first(row, ONE_EACH)
        if answer is None and (retrieved is None or isinstance(retrieved, str)) and (retrieved or single is not None):
            order, first = _first(row, UPWARDS), _first(row, DOWNWARDS)
            rank = float(order) if order is not None else 0.0 if first is None else -float(first)
            lists.setdefault(identifier, []).append((rank, retrieved if single is None else str(single)))
            continue
        if retrieved is None and answer is None and "error" not in row:
            legal = ", ".join((*RETRIEVED[:3], "answer", *ONE_EACH[:2]))
            raise BenchError(f"{where}: it says neither what was retrieved nor what was answered: {legal}")
        more = {key: value for key, value in row.items() if key in ("latency_ms", "search_ms", "generate_ms", "error",
                "shown", "model", "input_tokens", "output_tokens")}  # fmt: skip
        if retrieved is not None:
            more["retrieved"] = [retrieved] if isinstance(retrieved, str) else retrieved
        if answer is not None:
            more["answers" if isinstance(answer, list) else "answer"] = answer
        yield {"id": identifier, **more}
    for identifier, ordered in lists.items():
        yield {"id": identifier, "retrieved": [passage for _, passage in sorted(ordered, key=lambda pair: pair[0])]}


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of the names that the row has; None where it has none of them."""
    there = {key(column): value for column, value in row.items()}
    return next((there[name] for name in map(key, names) if name in there), None)


def _listed(given: Any) -> Any:
    given = cells.opened(given)
    return (
        [str(passage) if isinstance(passage, int) else passage for passage in given]
        if isinstance(given, list | tuple)
        else given
    )

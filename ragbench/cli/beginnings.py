"""What a project can begin with: what lies in a folder or was named, and the ragbench.toml that follows from it."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from ragbench import data as datasets
from ragbench.cli.console.options import counted
from ragbench.core import annexes, folders
from ragbench.core.expectations import expectation
from ragbench.core.language import LANGUAGES
from ragbench.core.segmentation import language_of
from ragbench.core.settings import ChunkTable, EmbedderSettings, QuestionTable, Settings, SourceSettings, SystemSettings
from ragbench.core.settings.schema import LINE
from ragbench.core.settings.urls import without_passwords
from ragbench.data import documents, trec
from ragbench.data.cells import Forms
from ragbench.data.files import LeftOut
from ragbench.data.folder import NAME
from ragbench.data.payloads import passage_of
from ragbench.data.rows import TABLES, cut_list, read_rows, tabbed
from ragbench.data.samples import read_samples, turns_of
from ragbench.data.vocabulary import FIELDS, TABLE, Columns, marked, raters_of, spoken
from ragbench.data.writing import toml, toml_key
from ragbench.store import foreign
from ragbench.store.database_tables import own_server
from ragbench.store.errors import StoreError
from ragbench.tiers.retrieval import own_tables

LEGAL = (
    "a folder of a data set (dataset.toml, or chunks.en.jsonl and questions.en.jsonl), a folder of documents "
    f"({', '.join(documents.KINDS)}), a table of answers or questions ({', '.join(TABLES)}), a BEIR folder, TREC "
    "judgements with runs, an export of traces (.json, .jsonl), your function as module:function, the https:// address "
    "of your service, or a database's postgresql:// address"
)
OF_BEIR = ("corpus", "queries", "qrels")
OWN = ("ragbench.toml", "ragbench.schema.json", "dataset.toml", "pyproject.toml", "package.json")
URLS = ("postgresql://", "postgres://")
READ_WHERE_THERE = ("asked_at", "stop_point")
"""Columns that many logs lack: they are read by these names where nobody names them, and are not missed."""
OF_RAGBENCH, OF_ITS_OWN = "RAGBENCH_DATABASE_URL", "OWN_DATABASE_URL"
"""Variables with the address of the database that ragbench uses, and of one that it only reads."""
OFFLINE, STORED = "bm25", "stored"
"""Systems that are there without code of the user's: on data sets, and on a database's own vectors."""
DOCUMENTS = "LangChain documents"
"""What the reader of traces calls a file of passages, which is no beginning by itself."""
LONGEST_LINE = 120  # as long as our own lines
ABOUT = """\
# What ragbench measures when it is told nothing else. Paths are relative to this file, which
# `ragbench doctor` checks. Environment variables win over it: RAGBENCH_LANGUAGE=ru. Secrets are read
# from the environment alone."""
JUDGES = """
# A judge is a language model behind any OpenAI-compatible endpoint; without one the offline judge is asked.
#
# [judges.my-judge]
# base_url = "https://api.example.com/v1"
# model = "some-model"
# key_variable = "MY_JUDGE_KEY"
"""


@dataclass
class Beginning:
    """What a project begins with.

    data: the folder of its data sets. sets: theirs, the first is measured. unit: how questions name what is relevant;
    empty where none does. answers: tables of these; unasked: whether one has no
    questions. qrels, runs: TREC files. brought: what becomes a data set, and the
    kind of `ragbench load`. labelled: whether questions know what is relevant. documents: a folder of these. base: a
    table of passages. functions: system → module:function; services: system → address. variable: that holds the
    address of a database to read; tables: what it holds, language: in which language.
    unwritten: files that its data lacks. said: what was found, in words. unused: files that nothing can be begun with,
    and why.
    """

    folder: Path
    data: Path | None = None
    sets: list[str] = field(default_factory=list)
    unit: Literal["", "chunk", "url"] = ""
    answers: list[Path] = field(default_factory=list)
    unasked: bool = False
    qrels: list[Path] = field(default_factory=list)
    runs: list[Path] = field(default_factory=list)
    ratings: dict[Path, str] = field(default_factory=dict)
    brought: list[tuple[str, Path, str]] = field(default_factory=list)
    labelled: bool = True
    documents: Path | None = None
    base: Path | None = None
    functions: dict[str, str] = field(default_factory=dict)
    services: dict[str, str] = field(default_factory=dict)
    variable: str = ""
    tables: own_tables.Guess = field(default_factory=own_tables.Guess)
    language: str = "ru"
    unwritten: dict[Path, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    @classmethod
    def there(cls, folder: Path) -> Beginning:
        """What lies in the folder, every file of it. Raises ValueError where nothing can be begun with, naming it."""
        made = cls(folder)
        made._take_sets(folder / "data")
        for place in (folder, *_folders(folder)):
            if _is_beir(place) and place != folder / "data":
                made._take("beir", place, f"{place.resolve().name}: a folder of BEIR")
        parts = OF_BEIR if made.brought and made.brought[0][1] == folder else ()
        files = [
            path
            for path in sorted(folder.iterdir())
            if path.is_file() and path.name not in OWN and not path.name.startswith(".")
            and path.name.split(".")[0] not in parts
        ]  # fmt: skip
        made.base = _base(files)
        for path in files:
            made._take_file(path)
        if bool(made.qrels) != bool(made.runs):
            alone, lacking = (made.qrels, "a run is") if made.qrels else (made.runs, "judgements are")
            made.unused += [f"{path.name}: {lacking} missing beside it: ragbench trec QRELS RUN" for path in alone]
            made.said = [said for said in made.said if not said.startswith(tuple(f"{path.name}: " for path in alone))]
        if made.base and made.said and all(said.startswith(f"{made.base.name}: ") for said in made.said):
            made.unused.append(f"{made.said.pop()}; questions, or traces, to them are missing beside it")
        if not made.said and (url := os.environ.get(OF_RAGBENCH)):
            made._take_database(OF_RAGBENCH, url)
        lacks_passages = made.sets and not made.labelled
        for place in (*_folders(folder), folder) if not made.said or lacks_passages else ():
            if made.documents is None and documents.paths(place) and (made.said == [] or place != folder):
                made._take_documents(place)
        taken = {*made.qrels, *made.runs}
        lone = (e for e in folder.iterdir() if e.suffix.lower() in documents.KINDS and e not in taken and not tabbed(e))
        texts = [entry.name for entry in lone if not documents.result_in(entry)]
        if texts and made.said and made.documents != folder:
            made.unused.append(f"{', '.join(sorted(texts))}: documents; a folder of these becomes a knowledge base")
        if not made.said:
            saw = "; ".join(made.unused)
            legal = f"{saw}; `ragbench init --help` says what is legal" if saw else f"put there, or name, {LEGAL}"
            raise ValueError(f"{folder} holds nothing to begin with: {legal}")
        return made

    @classmethod
    def named(cls, words: Sequence[str], folder: Path) -> Beginning:
        """What was named; a function is measured on the folder's own data. Raises ValueError with what is legal."""
        made = cls(folder, base=_base([folder / word for word in words]))
        for word in words:
            path = folder / word
            if word.startswith(URLS):
                made._take_database(OF_ITS_OWN, word)
            elif word.startswith(("http://", "https://")):
                made._take_service(word)
            elif path.is_dir() and _is_beir(path):
                made._take("beir", path, f"{path.resolve().name}: a folder of BEIR")
            elif path.is_dir() and not _holds_a_set(path) and documents.paths(path):
                made._take_documents(path)
            elif path.is_dir():
                made._take_sets(*((path,) if any(path.glob("*/dataset.toml")) else (path.parent, path.name)))
            elif path.is_file():
                there = len(made.said)
                made._take_file(path)
                if len(made.said) == there:
                    why = made.unused or [f"{path.name}: one file of text; name a folder of documents"]
                    raise ValueError(f"{why[0]}; `ragbench init --help` says what is legal")
            elif re.fullmatch(r"[\w.]+:[\w.]+", word):
                made._take_function(word)
            else:
                raise ValueError(f"{without_passwords(word)}: that is not there; {LEGAL} is expected")
        if (made.functions or made.services) and not (made.sets or made.variable):
            made._take_sets(folder / "data")
        return made

    def text(self) -> str:
        """The ragbench.toml, with a comment for every key."""
        return "\n".join([LINE, *ABOUT.splitlines(), "", *self._general(), *self._systems(), *JUDGES.splitlines(), ""])

    def next(self) -> list[str]:
        """The commands that go on from here, in their order."""
        if self.variable:
            commands = [f"export {OF_ITS_OWN}=…"] if self.variable == OF_ITS_OWN else []
            commands.append("ragbench load database own --dry-run")
            asked = [(self._word(path), name) for kind, path, name in self.brought if kind == "questions"]
            if not asked and (self.tables.questions or {}).get("url"):
                return [*commands, "ragbench run tier1_retrieval -p unit=url"]
            commands += [
                f"ragbench load questions {file} --name {name} --chunks-from db:own"
                for file, name in asked or [("FILE", "asked")]
            ]
            return [*commands, f"ragbench run tier1_retrieval{'' if asked else ' -d asked'}"]
        commands, online = [], ["ragbench doctor --online"] if self.services else []
        if self.qrels and self.runs:
            commands.append(" ".join(["ragbench trec", self._word(self.qrels[0]), *map(self._word, self.runs)]))
        if self.answers:
            theirs = [path for kind, path, _ in self.brought if kind in ("questions", "squad")] if self.unasked else []
            files = [*map(self._word, [*self.answers, *theirs]), *(["QUESTIONS"] * (self.unasked and not theirs))]
            commands.append(" ".join(["ragbench score", *files]))
        for path, raters in self.ratings.items():
            commands.append(f"ragbench agree {self._word(path)}{f' --raters {shlex.quote(raters)}' if raters else ''}")
        base = ""
        if self.documents:
            base = _named(self.documents)
            commands.append(f"ragbench load documents {self._word(self.documents)} --name {base}")
        for kind, path, name in self.brought:
            asked_of = self._word(self.base) if self.base else base if not self.labelled else ""
            whence = f" --chunks-from {asked_of}" if asked_of and kind == "questions" else ""
            beside = f" {asked_of}" if self.base and kind == "traces" else ""  # documents stand beside spans
            split = f" --split {_split(path)}" if kind == "beir" and _split(path) != "test" else ""
            commands.append(f"ragbench load {kind} {self._word(path)}{beside} --name {name}{whence}{split}")
        if self.documents and not self.brought:
            return [*commands, f"ragbench draft {base} --questions 120", "ragbench run tier1_retrieval"]
        if self.brought:
            kind, _, name = self.brought[0]
            measured = {"questions": self.labelled, "beir": True, "squad": True}.get(kind, False)
            own = ["ragbench run tier3_end_to_end"] if self.services or self.functions else []
            return [*commands, *online, *(["ragbench run tier1_retrieval"] if measured else own)]
        if self.sets:
            how = {"": "ragbench run --plan", "chunk": "ragbench run tier1_retrieval"}
            return [*commands, *online, how.get(self.unit, "ragbench run tier1_retrieval -p unit=url"), "ragbench run"]
        if self.services:
            return [*online, "ragbench load questions FILE --name asked", "ragbench run tier3_end_to_end -d asked"]
        return commands or ["ragbench load --help", "ragbench run"]

    def _take_sets(self, data: Path, name: str = "") -> None:
        places = [data / name] if name else sorted(path for path in data.glob("*") if path.is_dir())
        for place in places:
            codes = [
                language
                for language in LANGUAGES
                if all((place / f"{table}.{language}.jsonl").is_file() for table in _BASE)
            ]
            described = (place / "dataset.toml").is_file()
            if not described and not codes:
                if name:
                    raise ValueError(f"{place}: it holds neither a dataset.toml nor tables of one; {LEGAL} is expected")
                continue
            if self.data not in (None, data):
                raise ValueError(f"{place}: there are data sets in {self.data}, too; name those of one folder")
            if not NAME.fullmatch(place.name):
                raise ValueError(f"{place}: name the folder by small letters, digits, dots and dashes: it is an id")
            if described:
                dataset = datasets.load(place.name, data)
                asked: Sequence[Any] = dataset.questions
                size = _sized(dataset.chunks, asked)
            else:
                read = datasets.Records.read(place, codes[0])
                asked = read.questions
                size = _sized(read.chunks, asked)
                about = f'title = {toml(place.name)}\nlicence = "not stated"\nlanguages = {toml(codes)}\n'
                self.unwritten[place / "dataset.toml"] = about
            if not self.sets:
                by_chunk = any(question.relevant for question in asked)
                self.unit = "chunk" if by_chunk else "url" if any(question.relevant_urls for question in asked) else ""
            self.data = data
            self.sets.append(place.name)
            self.said.append(f"data set {place.name}: {size}")

    def _take_file(self, path: Path) -> None:
        """What a file is taken for, said with its columns, or why it cannot be used."""
        ends = {ending.lower() for ending in path.suffixes}
        if why := documents.result_in(path):
            self.unused.append(f"{path.name}: {why}")
        elif ends & set(TABLES) or tabbed(path):
            try:
                self._take_table(path)
            except ValueError as error:
                if not self._take_trec(path):
                    self.unused.append(str(error) if path.name in str(error) else f"{path.name}: {error}")
        elif not self._take_trec(path) and not ends & {*documents.KINDS, ".py", ".ipynb", ".sql"}:
            why = TABLE["unread"].get(path.suffix.lower(), ["no table, no document and no TREC file"])[0]
            self.unused.append(f"{path.name}: {why}")

    def _say(self, kind: list[Path], path: Path, what: str) -> None:
        kind.append(path)
        self.said.append(f"{path.name}: {what}")

    def _take_trec(self, path: Path) -> bool:
        """Whether a file is a run or judgements, which it is taken for then."""
        kinds = {"run": (self.runs, "a run of TREC"), "qrels": (self.qrels, "judgements of TREC (qrels)")}
        if kind := kinds.get(trec.told(path)):
            self._say(kind[0], path, kind[1])
        return kind is not None

    def _take_table(self, path: Path) -> None:
        known, row = _looked_at(path)
        read, tool = known.read, _tool(path)
        which = ", ".join(f"{spoken(field)} = {read[field]}" for field in FIELDS if field in read)
        told = "; ".join([which, *known.notes()])
        kind = _kind(row, read, tool)
        if kind == "answers":
            forms = Forms()
            samples = read_samples(path, forms)
            systems = {sample.system for sample in samples if sample.system}
            of = f" of {counted(len(systems), 'system')}" if systems else ""
            left_out = f"; left out: {forms.left_out.said}" if forms.left_out.counts else ""
            if not any(sample.user_input or sample.reference for sample in samples):
                self.unasked, told = True, f"{told}; no questions: a file of them is joined by the ids"
            read_as = f"{f'{forms.format}, ' if forms.format else ''}{told}{left_out}"
            self._say(self.answers, path, f"{counted(len(samples), 'answer')}{of} ({read_as})")
        elif kind == "questions":
            base = datasets.beir.passages(self.base, LeftOut()) if self.base else _Unread() if self.variable else None
            brought = datasets.question_sets.read(path, base=base)
            self.labelled = self.labelled and any(asked.relevant or asked.relevant_urls for asked in brought.questions)
            if not brought.chunks and not self.variable:
                told += "; no passages: score answers to them, or give the knowledge base: documents, --chunks-from"
            self._take(kind, path, f"{path.name}: {counted(len(brought.questions), 'question')} ({told})")
        elif kind == "ratings":
            self.ratings[path] = "" if "rater" in read else ",".join(raters_of(row) or marked(row))
            self._say([], path, f"ratings ({', '.join(filter(None, row))})")
        elif kind == "passages":
            self._say([], path, f"passages, a knowledge base ({which})")
        elif kind:
            what = f"traces of {tool}" if kind == "traces" else kind
            self._take(kind, path, f"{path.name}: {what}{f' ({told})' if told and kind != 'traces' else ''}")
        else:
            guesses = "; ".join(known.guesses(known.unread))
            how = f"ragbench score {path.name} --column question=COLUMN --column answer=COLUMN says which is which"
            raise ValueError(
                f"{path.name}: a column with the question, with the answer for answers, is expected; it has "
                f"{cut_list(row)}{f' ({guesses})' if guesses else f'; {how}'}"
            )

    def _take(self, kind: str, path: Path, said: str) -> None:
        name = _named(path.resolve())
        while name in self.sets:
            name = f"{name}-{kind}"
        self.brought.append((kind, path, name))
        self.sets.append(name) if self.data else self.sets.insert(len(self.brought) - 1, name)
        self.said.append(said)

    def _take_documents(self, path: Path) -> None:
        self.documents = path
        if not self.brought:
            self.sets.insert(0, _named(path))
        count = len(documents.paths(path))
        self.said.append(f"{path.name}: {count} document{'s' if count > 1 else ''}")

    def _take_function(self, word: str) -> None:
        module, _, function = word.partition(":")
        place = self.folder.joinpath(*module.split("."))
        own = next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
        if own is not None:
            offered = list(_defined(own))
            if function.split(".")[0] not in offered and "*" not in offered:
                raise ValueError(f"{word}: {own.name} defines {', '.join(offered) or 'nothing'}; name one of these")
        elif find_spec(module.split(".")[0]) is None:
            raise ValueError(f"{word}: there is no module {module} in {self.folder}, and none is installed")
        name = function.rpartition(".")[2]
        if name in {*self.functions, OFFLINE, STORED}:
            name = f"{module.replace('.', '-')}-{name}"
        self.functions[name] = word
        self.said.append(f"function {word}: the system {name}")

    def _take_service(self, url: str) -> None:
        """A service; its address holds no secret, which the file would keep."""
        host = (urlsplit(url).hostname or "").lower()
        name = re.sub(r"[^a-z0-9_-]+", "-", host).strip("-") if re.search("[a-z]", host) else "service"
        given = {"url": url, "answer": "answer", **({"method": "GET"} if "{question}" in url else {})}
        try:
            SystemSettings.model_validate(given)
        except ValidationError as error:
            raise ValueError(f"{without_passwords(url)}: {expectation(error.errors()[0])}") from None
        self.services[name] = url
        self.said.append(
            f"a service: the system {name}; its reply is taken to have the text of the answer under answer, as "
            "`ragbench doctor --online` finds out by one question: mend the table where it has another shape"
        )

    def _take_database(self, variable: str, url: str) -> None:
        """A database, whose tables are looked at, read-only. Raises ValueError where none of them holds passages."""
        limits = Settings().database
        try:
            place = own_server(url, variable)
            self.tables = own_tables.guess(foreign.tables_there(place, limits))
            if self.tables.chunks is not None:
                texts = foreign.some_texts(place, limits, ChunkTable(**self.tables.chunks))
                self.language = language_of(texts) if texts else self.language
        except StoreError as error:
            self.tables = own_tables.Guess(questions={"url": QuestionTable().url})
            self.unused.append(
                f"its tables, which cannot be looked at: {error}. The usual names are written: mend them"
            )
        else:
            if self.tables.chunks is None:
                has = "; ".join(self.tables.unused) or "it has no table"
                self.unused.append(f"database of {variable}: no table has a column of ids and one of texts: {has}")
                if variable == OF_ITS_OWN:
                    raise ValueError(f"{self.unused[0]}; name a view that has both")
                return
        self.variable = variable
        self.said.append(f"a database: its address is read from the variable {variable}, and is not written")
        self.said += self.tables.said
        self.unused += self.tables.unused

    def _general(self) -> Iterator[str]:
        if self.variable and not self.brought:
            yield _line(Settings, "dataset", "db:own")
        elif self.sets:
            yield _line(Settings, "dataset", self.sets[0])
            if len(self.sets) > 1:
                yield f"# There are also {', '.join(self.sets[1:])}."
        if self.answers:
            yield f"# Answers need no data set: ragbench score {' '.join(map(self._word, self.answers))}"
        if self.data is not None and self.data != self.folder / "data":
            yield _line(Settings, "data_folder", self._relative(self.data))
        yield _line(Settings, "language", "en")

    def _systems(self) -> Iterator[str]:
        if not (self.sets or self.functions or self.services or self.variable):
            return
        is_stored = bool(self.variable) and (self.tables.chunks is None or self.tables.is_stored)
        bare = not (self.labelled or self.variable or self.documents or self.base)  # questions, and nothing to search
        own = [*self.functions, *self.services] if bare else []
        yield _line(Settings, "baseline", STORED if is_stored else own[0] if own else OFFLINE)
        if self.variable:
            yield from ("", "[databases.own]")
            if self.variable == OF_ITS_OWN:
                yield _line(SourceSettings, "url_variable", self.variable)
            yield _line(SourceSettings, "language", self.language)
            for table, model in (("chunks", ChunkTable), ("questions", QuestionTable)):
                yield from self._table(table, model)
        if is_stored:
            yield from ("", f"[embedders.{STORED}]", _line(EmbedderSettings, "kind", "database"))
            yield _line(EmbedderSettings, "database", "own")
            yield from ("", f"[systems.{STORED}]", _line(SystemSettings, "embedder", STORED))
        elif not own:
            yield from ("", "# Passages by the words that they share with the question: no model, and hard to beat.")
            yield from (f"[systems.{OFFLINE}]", _line(SystemSettings, "retriever", "bm25"))
        for name, url in self.services.items():
            yield from ("", f"[systems.{toml_key(name)}]", _line(SystemSettings, "url", url))
            if "{question}" in url:
                yield _line(SystemSettings, "method", "GET")
            else:
                yield _line(SystemSettings, "body", SystemSettings.model_fields["body"].default)
            yield _line(SystemSettings, "answer", "answer")
            for key, value in (("passages", "passages[].text"), ("ids", "passages[].id")):
                yield f"# {_line(SystemSettings, key, value)}"
            yield '# headers = { Authorization = "Bearer {SERVICE_KEY}" }  # a secret by the name of its variable'
        for name, path in self.functions.items():
            yield from ("", f"[systems.{toml_key(name)}]", _line(SystemSettings, "callable", path))

    def _table(self, table: str, model: type[ChunkTable | QuestionTable]) -> Iterator[str]:
        """The settings of a table of the database: what it was found to have, else the usual names."""
        is_known = self.tables.chunks is not None
        usual = {name: field.default for name, field in model.model_fields.items() if field.default is not None}
        written: dict[str, Any] | None = getattr(self.tables, table) if is_known else usual
        if written is None:
            return
        yield from ("", f"[databases.own.{table}]")
        for name, value in written.items():
            line = _line(model, name, value)
            yield line if is_known or name not in READ_WHERE_THERE else f"# {line}"

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else str(path)

    def _word(self, path: Path) -> str:
        return shlex.quote(self._relative(path))


class _Unread(dict[str, Any]):
    """The passages of a database, which nobody reads here: any id may be among them."""

    def __contains__(self, name: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True


_BASE = ("chunks", "questions")


def _sized(chunks: Sequence[Any], asked: Sequence[Any]) -> str:
    return f"{counted(len(chunks), 'passage')}, {counted(len(asked), 'question')}"


def _named(path: Path) -> str:
    """The name of the data set that becomes of a file or a folder."""
    return re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower()).strip("._-") or "mine"


def _holds_a_set(path: Path) -> bool:
    """Whether a folder is a data set, or holds some."""
    return any(any(path.glob(name)) for name in ("dataset.toml", "*/dataset.toml", "chunks.*.jsonl"))


def _looked_at(path: Path) -> tuple[Columns, dict[str, Any]]:
    """The columns of a table by its first row, and that row. Raises ValueError where there is none."""
    known = Columns()
    left_out = LeftOut()
    place, row = next(read_rows(path, keep_empty=True, held=False, left_out=left_out), (path.name, {}))
    if not row:
        raise ValueError(f"{path.name}: no row can be used: {left_out.said or 'none holds anything'}")
    for _ in known.answers(row, place):
        pass
    return known, row


def _base(files: Sequence[Path]) -> Path | None:
    """The first table of passages among files; None where there is none."""
    for path in files:
        if path.is_file() and {ending.lower() for ending in path.suffixes} & set(TABLES):
            with contextlib.suppress(ValueError):
                known, row = _looked_at(path)
                if _kind(row, known.read, _tool(path)) == "passages":
                    return path
    return None


def _kind(row: dict[str, Any], read: Mapping[str, str], tool: str) -> str:
    """What a table is by its first row; empty for one that nothing can be begun with."""
    if "paragraphs" in row and "user_input" not in read:
        return "squad"
    if "benchmark_metadata" in row:
        return "result"
    if "schema_version" in row and any(name.endswith("_metrics") for name in row):
        return "history"
    if tool and tool != DOCUMENTS:
        return "traces"
    if "shown" in read and {"user_input", "response"} <= read.keys():
        return "decisions"
    if "response" in read:
        return "answers"
    turns = turns_of(row.get(read.get("messages") or read.get("user_input", ""))) or ()
    if "messages" in read or "questions" in read:
        return "answers" if len(turns) == 1 and turns[0].answer else "dialogues"
    if any(turn.answer for turn in turns[-1:]):
        return "answers"
    if "user_input" in read:
        return "questions"
    if {"rater", "value"} <= read.keys() or len(raters_of(row)) > 1 or marked(row):
        return "ratings"
    passage = passage_of(row)
    return "passages" if passage is not None and passage.text and (passage.id or tool) else ""


def _split(path: Path) -> str:
    """The judgements of a BEIR folder that are taken: test where there are such, else the first there are."""
    for name in ("test", "dev", "validation", "train"):
        try:
            datasets.beir.files(path, name)
        except datasets.DatasetError:
            continue
        return name
    return "test"


def _tool(path: Path) -> str:
    """What wrote a file that an annex can read; empty for any other file."""
    tools = (annexes.taken("readers", name)(path) for name in annexes.offered("readers"))
    return next(filter(None, tools), "")


def _is_beir(path: Path) -> bool:
    try:
        datasets.beir.files(path, None)
    except datasets.DatasetError:
        return False
    return True


def _folders(path: Path) -> list[Path]:
    return [entry for entry in sorted(path.iterdir()) if entry.is_dir() and not entry.name.startswith(".")]


def _defined(path: Path) -> Iterator[str]:
    """Names that a module has, told by reading it; `*` where it takes all of another's."""
    try:
        tree = ast.parse(folders.text(path, folders.MOST_CODE))
    except folders.TooLargeError:
        raise
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"{path}: not Python: {error}") from None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _line(model: type[BaseModel], key: str, value: Any) -> str:
    """A key with what it is about: beside it, or above where a line would be too long."""
    about = model.model_fields[key].description
    short = f"{key} = {toml(value)}  # {about}"
    if len(short) <= LONGEST_LINE:
        return short
    above = textwrap.fill(str(about), LONGEST_LINE, initial_indent="# ", subsequent_indent="# ")
    return f"{above}\n{key} = {toml(value)}"

"""What a project can begin with: what lies in a folder or was named, and the ragbench.toml that follows from it."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from ragbench.old import data as datasets
from ragbench.old.cli import looks
from ragbench.old.cli.console.options import counted
from ragbench.old.core import folders, settings, terminal
from ragbench.old.core.expectations import expectation
from ragbench.old.core.segmentation import language_of
from ragbench.old.core.settings import ChunkTable, QuestionTable, SystemSettings, schema
from ragbench.old.core.settings.urls import without_passwords
from ragbench.old.data import documents, trec
from ragbench.old.data.cells import TABLE, Forms
from ragbench.old.data.columns import LayoutError
from ragbench.old.data.files import cut_list, meant_beside
from ragbench.old.data.folder import NAME
from ragbench.old.data.rows import TABLES, endings_of, tabbed
from ragbench.old.data.samples import READ, read_samples
from ragbench.old.data.vocabulary import FIELDS, spoken
from ragbench.old.data.writing import toml, toml_key
from ragbench.old.store import foreign
from ragbench.old.store.database_tables import own_server
from ragbench.old.store.errors import StoreError
from ragbench.old.tiers.retrieval import own_tables

LEGAL = (
    "a folder of a data set (dataset.toml, or chunks.en.jsonl and questions.en.jsonl), a folder of documents "
    f"({', '.join(documents.KINDS)}), a table of answers or questions ({', '.join(TABLES)}), a BEIR folder, TREC "
    "judgements with runs, an export of traces (.json, .jsonl), your function as module:function, the https:// address "
    "of your service, or a database's postgresql:// address"
)
PROGRAMS = {".py", ".ipynb", ".sql", ".js", ".ts", ".sh"}
MOST_FILES, MOST_SAID = 2000, 40
"""Files that are looked at, and that are said to be of no use."""
URLS = ("postgresql://", "postgres://")
READ_WHERE_THERE = ("asked_at", "stop_point")
"""Columns that many logs lack: they are read by these names where nobody names them, and are not missed."""
OF_RAGBENCH, OF_ITS_OWN = "RAGBENCH_DATABASE_URL", "OWN_DATABASE_URL"
"""Variables with the address of the database that ragbench uses, and of one that it only reads."""
OFFLINE, STORED = "bm25", "stored"
"""Systems that are there without code of the user's: on data sets, and on a database's own vectors."""


@dataclass
class Beginning:
    """What a project begins with.

    data: the folder of its data sets. sets: theirs, the first is measured. unit: how questions name what is relevant;
    empty where none does. whole: whether they bring the passages that they name. answers: tables of these;
    scored: those that are together. qrels, runs: TREC files; judged: the runs of each. brought: what becomes a data
    set, and the kind of `ragbench load`; beside: what is read with one of them. texts: documents; documents: a folder
    of these, which becomes the data set kb. bases: tables of passages. functions: system → module:function;
    services: system → its settings. variable: that holds the address of a database to read; tables: what it holds,
    language: in which language. unwritten: files that its data lacks. said: what was found, in words. unused: the
    rest, and why.
    """

    folder: Path
    data: Path | None = None
    sets: list[str] = field(default_factory=list)
    unit: Literal["", "chunk", "url"] = ""
    answers: looks.Answers = field(default_factory=looks.Answers)
    scored: list[list[Path]] = field(default_factory=list)
    qrels: list[Path] = field(default_factory=list)
    runs: list[Path] = field(default_factory=list)
    judged: dict[Path, list[Path]] = field(default_factory=dict)
    ratings: dict[Path, str] = field(default_factory=dict)
    brought: list[tuple[str, Path, str]] = field(default_factory=list)
    beside: dict[Path, list[Path]] = field(default_factory=dict)
    whole: bool = True
    texts: list[Path] = field(default_factory=list)
    documents: Path | None = None
    kb: str = ""
    bases: looks.Bases = field(default_factory=looks.Bases)
    functions: dict[str, str] = field(default_factory=dict)
    services: dict[str, dict[str, Any]] = field(default_factory=dict)
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
        made._take_sets()
        files = list(itertools.islice(documents.files(folder), MOST_FILES + 1))
        if len(files) > MOST_FILES:
            made.unused.append(f"only {MOST_FILES:,} files are looked at; name what you have: ragbench init WHAT")
        files = [path for path in files if not {(made.data or folder) / name for name in made.sets} & {*path.parents}]
        unjudged = dict[Path, list[Path]]()
        for place, by_role in datasets.beir.found(files, folder):
            if by_role["qrels"]:
                made._take_beir(place)
                files = [path for path in files if not any(path in paths for paths in by_role.values())]
            else:
                unjudged[place] = by_role["corpus"]
                made.bases.called += by_role["corpus"]
        made._take_files(files)
        for place, corpora in unjudged.items():
            if not {*corpora} & {*made.bases.of.values()}:
                load = f"ragbench load beir {made._word(place)} --name {made._name(place, 'beir')} --qrels FILE"
                made.unused.append(f"{place.resolve().name}: a corpus and queries without judgements: {load}")
        if not made.said and (url := os.environ.get(OF_RAGBENCH)):
            made._take_database(OF_RAGBENCH, url)
        made._take_texts()
        if not made.said:
            saw = "; ".join(made.unused[:MOST_SAID])
            legal = f"{saw}; `ragbench init --help` says what is legal" if saw else f"put there, or name, {LEGAL}"
            raise ValueError(f"{folder} holds nothing to begin with: {legal}")
        return made

    @classmethod
    def named(cls, words: Sequence[str], folder: Path) -> Beginning:
        """What was named; a function is measured on the folder's own data. Raises ValueError with what is legal."""
        made = cls(folder)
        files, inside = [folder / word for word in words if (folder / word).is_file()], list[Path]()
        for word in (word for word in words if folder / word not in files):
            path = folder / word
            if word.startswith(URLS):
                made._take_database(OF_ITS_OWN, word)
            elif word.startswith(("http://", "https://")):
                made._take_service(word)
            elif path.is_dir() and (sets := sorted(own for own in (path, *path.glob("*")) if looks.holds_tables(own))):
                for place in sets:
                    made._take_set(place)
            elif path.is_dir() and datasets.beir.is_folder(path):
                made._take_beir(path)
            elif path.is_dir():
                if documents.paths(path):
                    made._take_documents(path)
                inside += [own for own in documents.files(path) if own.suffix.lower() not in documents.KINDS]
            elif re.fullmatch(r"[\w./]+:[\w.]+", word):
                made._take_function(word)
            else:
                said = f"{without_passwords(word)}: that is not there{meant_beside(path)}"
                raise ValueError(f"{said}; {LEGAL} is expected")
        there = len(made.said)
        made._take_files([*files, *inside])
        if len(made.said) < max(there + len(files), 1):
            text = f"{files[0].name}: one file of text; name a folder of documents" if files else ""
            why = made.unused or [text or f"{words[0]}: it holds nothing to begin with; {LEGAL} is expected"]
            raise ValueError(f"{why[0]}; `ragbench init --help` says what is legal")
        if (made.functions or made.services) and not (made.sets or made.variable):
            made._take_sets()
        return made

    def text(self) -> str:
        """The ragbench.toml, with a comment for every key."""
        lines = [schema.LINE, schema.ABOUT]
        for name, model, values in self._tables():
            lines += ["", *([f"[{name}]"] if name else [])]
            lines += [key if value is None else schema.line(model, key, toml(value)) for key, value in values.items()]
        return "\n".join([*lines, schema.JUDGES])

    def write(self) -> None:
        """Write the ragbench.toml into the folder, with its schema and what its data lack, and say so."""
        files = {
            **self.unwritten, self.folder / schema.NAME: schema.text(), self.folder / "ragbench.toml": self.text(),
        }  # fmt: skip
        for path, text in files.items():
            folders.write(path, text)
        there = (str(path.relative_to(self.folder)) for path in files if path.is_relative_to(self.folder))
        terminal.say(f"written: {', '.join(there)}")

    def next(self) -> list[str]:
        """The commands that go on from here, in their order."""
        if self.variable:
            commands = [f"export {OF_ITS_OWN}=…"] if self.variable == OF_ITS_OWN else []
            commands.append("ragbench load database own --dry-run")
            asked = [(self._word(path), name) for kind, path, name in self.brought if kind == "questions"]
            if not asked and (self.tables.questions or {}).get("url"):
                return [*commands, "ragbench run tier1_retrieval -p unit=url"]
            for file, name in asked or [("FILE", "asked")]:
                commands.append(f"ragbench load questions {file} --name {name} --chunks-from db:own")
            return [*commands, f"ragbench run tier1_retrieval{'' if asked else ' -d asked'}"]
        commands, online = [], ["ragbench doctor --online"] if self.services else []
        for qrels, runs in self.judged.items():
            commands.append(" ".join(["ragbench trec", self._word(qrels), *map(self._word, runs)]))
        commands += [" ".join(["ragbench score", *map(self._word, same)]) for same in self.scored]
        for path, raters in self.ratings.items():
            commands.append(f"ragbench agree {self._word(path)}{f' --raters {shlex.quote(raters)}' if raters else ''}")
        if self.documents:
            commands.append(f"ragbench load documents {self._word(self.documents)} --name {self.kb}")
        base = self._word(self.bases.first) if self.bases.first else "" if self.whole else self.kb
        for kind, path, name in self.brought:
            whole = self._word(self.bases.of[path]) if path in self.bases.of else base
            is_apart = kind == "questions" or (kind == "traces" and self.bases.first not in self.beside.get(path, ()))
            whence = f" --chunks-from {whole}" if whole and is_apart else ""
            beside = "".join(f" {self._word(other)}" for other in self.beside.get(path, ()))
            more = f"{whence}{datasets.beir.split_option(path) if kind == 'beir' else ''}"
            commands.append(f"ragbench load {kind} {self._word(path)}{beside} --name {name}{more}")
        if self.documents and not self.brought:
            return [*commands, f"ragbench draft {self.kb} --questions 120", "ragbench run tier1_retrieval"]
        search = f"tier1_retrieval{' -p unit=url' if self.unit == 'url' else ''}"
        if self.brought:
            asking = "tier3_end_to_end" if base or self.services or self.functions else "dataset"
            pages = {
                "questions": search if self.unit and (self.whole or base) else asking,
                "beir": "tier1_retrieval",
                "dialogues": "tier_ux",
                "decisions": "tier_judge_pipeline",
            }
            kind, _, name = self.brought[0]
            of = f" -d {name}" if name != self.sets[0] else ""
            return [*commands, *online, *([f"ragbench run {pages[kind]}{of}"] if kind in pages else [])]
        if self.sets:
            return [*commands, *online, f"ragbench run {search if self.unit else '--plan'}", "ragbench run"]
        if self.services or self.functions:
            return [*online, "ragbench load questions FILE --name asked", "ragbench run tier3_end_to_end -d asked"]
        return commands or ["ragbench load --help", "ragbench run"]

    def _take_sets(self) -> None:
        """The data sets in data/, else in this folder, and why one there cannot be used."""
        places = ([path for path in self.folder.glob(where) if looks.holds_tables(path)] for where in ("data/*", "*"))
        for place in sorted(next(filter(None, places), [])):
            try:
                self._take_set(place)
            except ValueError as error:
                self._refuse(place, error)

    def _take_set(self, place: Path) -> None:
        described, codes = (place / "dataset.toml").is_file(), looks.languages(place)
        if self.data not in (None, place.parent):
            raise ValueError(f"{place}: there are data sets in {self.data}, too; name those of one folder")
        if not NAME.fullmatch(place.name):
            raise ValueError(f"{place}: name the folder by small letters, digits, dots and dashes: it is an id")
        read = datasets.load(place.name, place.parent) if described else datasets.Records.read(place, codes[0])
        if not described:
            about = f'title = {toml(place.name)}\nlicence = "not stated"\nlanguages = {toml(codes)}\n'
            self.unwritten[place / "dataset.toml"] = about
        if not self.sets:
            self.whole, self.unit = bool(read.chunks), looks.unit(read.questions)
        self.data = place.parent
        self.sets.append(place.name)
        size = f"{counted(len(read.chunks), 'passage')}, {counted(len(read.questions), 'question')}"
        self.said.append(f"data set {place.name}: {size}")

    def _take_files(self, files: Sequence[Path]) -> None:
        """What each file is taken for, said with its columns, or why it cannot be used; documents are put aside."""
        seen = dict[Path, looks.Look]()
        others: dict[str, list[str]] = {}
        for path in files:
            unread, why = TABLE["unread"].get(path.suffix.lower()), "" if path.is_file() else "no file that can be read"
            if not self._relative(path).isprintable():
                why = "a name that cannot be typed; give it another"
            try:
                ends = {*endings_of(path)}
                if why := why or documents.result_in(path):
                    pass
                elif ends & {*TABLES} or tabbed(path):
                    seen[path] = looks.looked_at(path)
                elif ends & PROGRAMS:
                    why = "a program; a function in one can be a system: ragbench init MODULE:FUNCTION"
                elif self._take_trec(path):
                    pass
                elif documents.asks(path):
                    words = self._word(path), self._word(path.with_suffix(".csv"))
                    how = """(echo question; sed 's/"/""/g; s/.*/"&"/' {}) > {} makes a table of it""".format(*words)
                    self.unused.append(f"{self._relative(path)}: a question a line; {how}")
                elif path.suffix.lower() in documents.KINDS:
                    self.texts.append(path)
                else:
                    [why] = unread or ["no table, no document and no TREC file"]
            except (ValueError, OSError) as error:
                if isinstance(error, OSError | LayoutError) or not self._take_trec(path):
                    self._refuse(path, error)
            if why:
                others.setdefault(why, []).append(self._relative(path))
        for place in dict.fromkeys(path.parent for path in seen):
            parts = [path for path, look in seen.items() if path.parent == place and look.asked]
            if len({seen[path].asked for path in parts}) == len(parts) > 2:
                every = f"{self._word(place)}/*.json" if place != self.folder else "*.json"
                one, joined = seen[parts[0]].kind, shlex.quote(f"{place.resolve().name}-joined.json")
                how = f"cat {every} > {joined}, then ragbench init {joined}"
                self.unused.append(f"{every}: {len(parts)} files, each one row of {one}; join them: {how}")
                seen = {path: look for path, look in seen.items() if path not in parts}
        self.bases.paths = [path for path, look in seen.items() if look.kind == "passages" and look.is_named]
        refused = dict[Path, ValueError]()
        questions_choose = {*self.bases.paths, *self.bases.called}
        for path, look in sorted(seen.items(), key=lambda own: own[0] in questions_choose):
            try:
                self._take_table(path, look)
            except ValueError as error:
                refused[path] = error
        for path in self.answers.asked:
            self.answers.take_references(path, seen[path].known.read)
        tools = {own: look.tool for own, look in seen.items()}
        for path, fault in refused.items():
            self._take_beside(path, seen[path], tools, fault)
        if (base := self.bases.first) and seen[base].tool:  # documents stand beside spans
            self.beside |= {own: [*self.beside.get(own, ()), base] for k, own, _ in self.brought if k == "traces"}
        self.scored = self.answers.scored()
        self.unused += [f"{cut_list(named)}: {why}" for why, named in others.items()]
        self.judged = looks.runs_of(self.qrels, self.runs)
        for what, kind, other, used in (
            ("judgements of TREC (qrels)", self.qrels, "a run is", self.judged),
            ("a run of TREC", self.runs, "judgements are", {*itertools.chain(*self.judged.values())}),
        ):
            for path in kind:
                said = f"{self._relative(path)}: {what}"
                alone = f"{said}; {other} missing beside it: ragbench trec QRELS RUN"
                self.said.append(said) if path in used else self.unused.append(alone)
        if all(": passages, a knowledge base (" in said for said in self.said):
            how = "questions, or traces, to them are missing beside it: ragbench load questions FILE --name asked"
            whence = f" --chunks-from {self._word(self.bases.first)}" if self.bases.first else ""
            self.unused += [f"{said}; {how}{whence}" for said in self.said]
            self.said.clear()

    def _take_beside(self, path: Path, look: looks.Look, tools: Mapping[Path, str], error: ValueError) -> None:
        """A file that says nothing alone: scores, or documents, stand beside the traces that they are of; answers
        beside as many questions are told how they would be read with them."""
        for kind, whole, _ in self.brought if look.kind in ("traces", "passages") else ():
            if kind == "traces" and look.tool in (tools[whole], looks.DOCUMENTS):
                with suppress(ValueError):
                    looks.require_loadable(kind, [whole, *self.beside.get(whole, ()), path])
                    self.beside.setdefault(whole, []).append(path)
                    self.said.append(f"{self._relative(path)}: read with {self._relative(whole)}, as parts of it")
                    return
        how = "; in the order of questions they are read with them: ragbench score {} {}".format
        near = self.answers.in_order(path)
        self._refuse(path, ValueError(f"{error}{how(self._word(path), self._word(near))}") if near else error)

    def _refuse(self, path: Path, error: Exception) -> None:
        """Say why a file cannot be used, by the name that it has here."""
        why, name = folders.said(error) if isinstance(error, OSError) else str(error), self._relative(path)
        why = why.replace(str(path), path.name).removeprefix(f"{path.name}: ")
        if option := re.search(r"say which, (--column .+?) or --column", why):
            why += f"; such as ragbench score {self._word(path)} {option[1]}"
        self.unused.append(why.replace(path.name, name, 1) if why.startswith(path.name) else f"{name}: {why}")

    def _take_trec(self, path: Path, *, numbered: bool = False) -> bool:
        """Whether a file is a run or judgements, which it is taken for; numbered: as of `trec.told`, and its faults."""
        kind = ""
        with nullcontext() if numbered else suppress(ValueError):
            kind = trec.told(path, numbered=numbered)
        {"run": self.runs, "qrels": self.qrels}.get(kind, []).append(path)
        return bool(kind)

    def _take_table(self, path: Path, look: looks.Look) -> None:
        kind, read, name = look.kind, look.known.read, self._relative(path)
        kind = "passages" if path in self.bases.of.values() else kind
        is_of_ids = read.keys() <= {"id", "user_input", "chunk_id", "value", "system"}
        may_be_labelled = kind in ("answers", "questions") and not (is_of_ids and self.runs)
        if may_be_labelled and (labels := next(self.bases.labels_in(look.row), "")):
            read.setdefault("reference_context_ids", labels)
            is_of_ids = False
        is_marked = kind == "ratings" and ".json" not in endings_of(path)  # a line without a header may be TREC's
        may_be = kind == "" or is_marked or (kind == "questions" and (is_of_ids or "contexts" in read))
        if may_be and self._take_trec(path, numbered=kind == "questions"):
            return
        is_asked = bool(self.functions or self.services)
        is_gold = not {"reference", "contexts", "context_ids", "system"} & read.keys()
        if kind == "answers" and is_gold and (is_asked or "reference_context_ids" in read):
            kind = "questions"  # the answers are what those are to give
        is_called = kind == "answers" and is_gold and not {"value", "rater", "shown"} & read.keys()
        if is_right := is_called and "user_input" in read and looks.is_golden(path):
            kind, read = "questions", {**read, "reference": read["response"]}
            del read["response"]
        known = [name for name in (READ if kind == "answers" else FIELDS) if name in read]
        which = ", ".join(f"{spoken(name)} = {read[name]}" for name in known)
        told = "; ".join([which, *look.known.notes()])
        if kind == "answers":
            forms = Forms()
            samples = read_samples(path, forms)
            left_out = [f"left out: {forms.left_out.said}"] if forms.left_out.counts else []
            systems = {sample.system for sample in samples if sample.system}
            of = f" of {counted(len(systems), 'system')}" if systems else ""
            self.answers.take(path, samples, read)
            if not any(sample.user_input or sample.reference for sample in samples):
                if "id" not in read:
                    what = "answers without questions, references or ids: nothing tells what they answer"
                    how = f"ragbench score {self._word(path)} --column question=COLUMN names it"
                    raise ValueError("; ".join([what, which, *forms.unread, how]))
                left_out = ["no questions: a file of them is joined by the ids", *left_out]
            read_as = "; ".join([f"{f'{forms.format}, ' if forms.format else ''}{which}", *forms.unread, *left_out])
            self.said.append(f"{name}: {counted(len(samples), 'answer')}{of} ({read_as})")
        elif kind == "questions":
            brought = self.bases.questions(path)
            self.answers.ask(path, brought.questions, read)
            unit = looks.unit(brought.questions) or ("chunk" if "reference_context_ids" in read else "")
            if "questions" not in (kind for kind, _, _ in self.brought):
                self.unit, self.whole = unit, bool(unit and brought.chunks)
            if not (brought.chunks or self.variable or is_asked or (self.texts and unit != "chunk")):
                told += "; no passages: score answers to them, or give the knowledge base: documents, --chunks-from"
            if answers := [name for name in look.known.unread if looks.is_told(look.row.get(name))]:
                how = shlex.quote(f"answer={','.join(answers)}")
                told += f"; if {' and '.join(answers)} are answers: ragbench score {self._word(path)} --column {how}"
            if is_right:
                told += f"; right answers, by its name; if a system gave them: ragbench score {self._word(path)}"
            self._take(kind, path, f"{name}: {counted(len(brought.questions), 'question')} ({told})")
        elif kind == "ratings":
            self.said.append(f"{name}: ratings ({', '.join(filter(None, look.row))})")
        elif kind == "passages" and path in (self.bases.first, *self.bases.of.values()):
            self.said.append(f"{name}: passages, a knowledge base ({which})")
        elif kind == "passages":
            base = self.bases.first
            taken = f"{self._relative(base)} is taken, and --chunks-from names another" if base else "no ids"
            raise ValueError(f"passages, a knowledge base ({which}): {taken}")
        elif kind:
            looks.require_loadable(kind, [path])
            what = f"traces of {look.tool}" if kind == "traces" else kind
            self._take(kind, path, f"{name}: {what}{f' ({told})' if told and kind != 'traces' else ''}")
        else:
            trec.told(path)  # tells what is wrong with one that it would be
            guesses = list(look.known.guesses(look.known.unread))
            given = [option for guess in guesses if (option := guess.partition("? ")[2])]
            given += [f"--column {part}=COLUMN" for part in ("question", "answer") if f"{part}=" not in str(given)]
            guessed = f" ({'; '.join(guesses)})" if guesses else ""
            how = f"; ragbench score {self._word(path)} {' '.join(given)} names them"
            raise ValueError(
                "a column with the question, with the answer for answers, or with ids for passages, is expected; it "
                f"has {cut_list(look.row)}{guessed}{how if any(map(looks.is_told, look.row.values())) else ''}"
            )
        if kind == "ratings" or (kind in ("answers", "questions") and look.are_people):
            self.ratings[path] = "" if "rater" in read else ",".join(look.raters)

    def _take(self, kind: str, path: Path, said: str) -> None:
        name = self._name(path, kind)
        self.brought.append((kind, path, name))
        self.sets.append(name) if self.data else self.sets.insert(len(self.brought) - 1, name)
        self.said.append(said)

    def _take_beir(self, place: Path) -> None:
        theirs = cut_list(self._relative(path) for paths in datasets.beir.parts(place).values() for path in paths)
        self._take("beir", place, f"{place.resolve().name}: a folder of BEIR ({theirs})")

    def _name(self, path: Path, kind: str) -> str:
        """The name of the data set that becomes of a file or a folder, which none that is there has."""
        name = re.sub(r"[^a-z0-9._-]+", "-", path.resolve().stem.lower()).strip("._-") or "mine"
        while name in self.sets or (self.folder / "data" / name).exists():
            name = f"{name}-{kind}"
        return name

    def _take_texts(self) -> None:
        """Documents: the folder with most of them becomes a base where nothing else is one; all of them are named."""
        by_folder: dict[Path, list[str]] = {}
        for path in self.texts:
            parts = path.relative_to(self.folder).parts[:-1]
            place = self.folder.joinpath(*parts[: 1 + (parts[:1] == ("data",))])
            by_folder.setdefault(place, []).append(self._relative(path))
        for place in [*by_folder]:
            if not any(documents.has_text(self.folder / name) for name in by_folder[place]):
                self.unused.append(f"{cut_list(by_folder.pop(place))}: no text can be read there")
        legal = [place for place in by_folder if place != self.folder or not self.said]
        best = max(legal, key=lambda place: len(by_folder[place]), default=None)
        is_based = self.bases.first or self.variable or (self.sets and (self.whole or self.unit == "chunk"))
        if best and not is_based:
            self._take_documents(best)
        for place, named in by_folder.items():
            if place == self.folder != self.documents:
                self.unused.append(f"{cut_list(named)}: documents; a folder of these becomes a knowledge base")
            elif self.documents not in (place, self.folder):
                load = f"ragbench load documents {self._word(place)} --name {self._name(place, 'documents')}"
                many = f"{self._relative(place)}: {counted(len(named), 'document')}"
                self.unused.append(f"{many}; {load} makes a knowledge base of them")

    def _take_documents(self, path: Path) -> None:
        self.documents, self.kb = path, self._name(path, "documents")
        if not self.brought:
            self.sets.insert(0, self.kb)
        there = documents.paths(path)
        which = f" ({cut_list(own.name for own in there)})" if path == self.folder else ""
        self.said.append(f"{path.resolve().name}: {counted(len(there), 'document')}{which}")

    def _take_function(self, word: str) -> None:
        module, _, function = word.partition(":")
        module = module.removesuffix(".py").strip("./").replace("/", ".")
        place = self.folder.joinpath(*module.split("."))
        own = next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
        if own is not None:
            from ragbench.old.systems.callables import names_in

            offered = list(names_in(own))
            if function.split(".")[0] not in offered and "*" not in offered:
                raise ValueError(f"{word}: {own.name} defines {', '.join(offered) or 'nothing'}; name one of these")
        elif find_spec(module.split(".")[0]) is None:
            raise ValueError(f"{word}: there is no module {module} in {self.folder}, and none is installed")
        name = function.rpartition(".")[2]
        if name in {*self.functions, OFFLINE, STORED}:
            name = f"{module.replace('.', '-')}-{name}"
        self.functions[name] = f"{module}:{function}"
        self.said.append(f"function {word}: the system {name}")

    def _take_service(self, url: str) -> None:
        """A service; its address holds no secret, which the file would keep."""
        host, path = urlsplit(url).hostname or "", PurePosixPath(urlsplit(url).path)
        name = re.sub(r"[^a-z0-9_-]+", "-", host).strip("-") if re.search("[a-z]", host) else "service"
        known: dict[str, Any] = next((told for told in TABLE["services"] if path.match(told["path"])), {})
        body = known.get("body", SystemSettings.model_fields["body"].default)
        asked = {"method": "GET"} if "{question}" in url else {"body": body}
        given = {"url": url, **asked, "answer": known.get("answer", "answer")}
        try:
            SystemSettings.model_validate(given)
        except ValidationError as error:
            raise ValueError(f"{without_passwords(url)}: {expectation(error.errors()[0])}") from None
        self.services[name] = given | {"# passages": known.get("passages", "passages[].text")}
        self.said.append(
            f"a service: the system {name}; its reply is taken to have the text of the answer under {given['answer']}, "
            "as `ragbench doctor --online` finds out by one question: mend the table where it has another shape"
            + (", and write your model for MODEL in its body" if "MODEL" in given.get("body", "") else "")
        )

    def _take_database(self, variable: str, url: str) -> None:
        """A database, whose tables are looked at, read-only. Raises ValueError where none of them holds passages."""
        limits = settings.load().database
        try:
            place = own_server(url, variable)
            self.tables = own_tables.guess(foreign.tables_there(place, limits))
            if self.tables.chunks is not None:
                texts, collections = foreign.some_texts(place, limits, ChunkTable(**self.tables.chunks))
                self.said += own_tables.of_collection(self.tables.chunks, collections)
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

    def _tables(self) -> Iterator[tuple[str, type[BaseModel], dict[str, Any]]]:
        """Each table of the file: its name, what its keys are, and their values. A key without one is a comment."""
        sets = ["db:own"] if self.variable and not self.brought else self.sets
        is_stored = bool(self.variable) and (self.tables.chunks is None or self.tables.is_stored)
        is_searched = self.variable or self.documents or self.bases.first or (self.sets and self.whole)
        own = [] if is_searched else [*self.functions, *self.services]
        general: dict[str, Any] = {"dataset": sets[0]} if sets else {}
        if len(sets) > 1:
            general[f"# There are also {', '.join(sets[1:])}."] = None
        for same in self.scored:
            general[f"# Answers need no data set: ragbench score {' '.join(map(self._word, same))}"] = None
        if self.data is not None and self.data != self.folder / "data":
            general["data_folder"] = self._relative(self.data)
        general["language"] = "en"
        is_measured = self.sets or self.functions or self.services or self.variable
        if is_measured:
            general["baseline"] = STORED if is_stored else own[0] if own else OFFLINE
        yield "", settings.Settings, general
        if self.variable:
            address = {"url_variable": self.variable} if self.variable == OF_ITS_OWN else {}
            yield "databases.own", settings.SourceSettings, {**address, "language": self.language}
            for table, columns in (("chunks", ChunkTable), ("questions", QuestionTable)):
                if (written := self._columns_of(table, columns)) is not None:
                    yield f"databases.own.{table}", columns, written
        if is_stored:
            yield f"embedders.{STORED}", settings.EmbedderSettings, {"kind": "database", "database": "own"}
            yield f"systems.{STORED}", SystemSettings, {"embedder": STORED}
        elif is_measured and not own:
            yield f"systems.{OFFLINE}", SystemSettings, {schema.WORDS: None, "retriever": "bm25"}
        for name, given in self.services.items():
            yield f"systems.{toml_key(name)}", SystemSettings, {**given, schema.KEYED: None}
        for name, path in self.functions.items():
            yield f"systems.{toml_key(name)}", SystemSettings, {"callable": path}

    def _columns_of(self, table: str, model: type[ChunkTable | QuestionTable]) -> dict[str, Any] | None:
        """Those of a table of the database as it was found, else by the usual names."""
        if self.tables.chunks is not None:
            return getattr(self.tables, table)
        usual = {name: field.default for name, field in model.model_fields.items() if field.default is not None}
        return {f"# {name}" if name in READ_WHERE_THERE else name: value for name, value in usual.items()}

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else str(path)

    def _word(self, path: Path) -> str:
        """The path as a shell reads it, and no command takes for an option."""
        name = self._relative(path)
        return shlex.quote(f"./{name}" if name.startswith("-") else name)

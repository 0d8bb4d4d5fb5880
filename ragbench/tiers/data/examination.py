"""A data set, looked over before anything is measured on it: what is odd, in how many texts, and what it does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from ragbench.data.doubts import doubts, labelled
from ragbench.data.wording import plain, stands_in
from ragbench.tiers.data import leaks, persons
from ragbench.tiers.data.copies import groups
from ragbench.tiers.data.forms import forms
from ragbench.tiers.data.language_detection import tongue
from ragbench.tiers.data.small_talk import pleasantry

FEWEST_WORDS = 2
"""Of a reference that stands in its question: a single word, or a number, stands there by chance."""
SHORT, LONG = 2, 350
"""Words of a question that is a search by keywords, and of a passage whose end a model of 512 tokens does not read."""
READ = 20_000
"""Characters of a text in which people are looked for."""
MOST_TOLD = 20_000
"""Texts of a table whose language is told: of more the share would be no surer than to a third of a per cent."""
_CYRILLIC = re.compile(r"[А-ЯЁ][а-яё]")


class Looked(Protocol):
    """What is looked at: a data set, or what a file brought."""

    @property
    def chunks(self) -> Sequence[Any]: ...
    @property
    def questions(self) -> Sequence[Any]: ...
    @property
    def dialogues(self) -> Sequence[Any]: ...
    @property
    def history(self) -> Sequence[Any]: ...


class Example(NamedTuple):
    """A text that is odd, by its name; and the text that it is so with, if there is one."""

    id: str
    text: str
    other: str = ""
    other_text: str = ""


@dataclass(frozen=True)
class Oddity:
    """How many texts of a table are odd in one way, and the first of them.

    kind: see `examine`. table: questions, references, passages, dialogues, log, logged_answers. found: of `of` texts
    that were looked at; `of` is None where the kind could not be looked for. numbers: what that does to the numbers of
    pages, as far as it was measured; see where they are made.
    """

    kind: str
    table: str
    found: int
    of: int | None
    examples: tuple[Example, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Examination:
    """All that was looked for, what was not found too.

    lengths: table, words, texts that have so many. languages: table, ISO 639-1 code ("" for untold), texts.
    """

    oddities: tuple[Oddity, ...]
    lengths: tuple[tuple[str, int, int], ...]
    languages: tuple[tuple[str, str, int], ...]

    @property
    def found(self) -> list[Oddity]:
        """What is there to be told."""
        return [oddity for oddity in self.oddities if oddity.found]


def examine(data: Looked, language: str, *, listed: int = 100, sampled: int = 300, seed: int = 0) -> Examination:
    """What is odd in a data set. Kinds:

    question_is_passage, question_in_passage, passage_copied, labels_nowhere: see `ragbench.data.doubts_of`; leaked
    is the two first together. answer_in_question: the words of a reference, FEWEST_WORDS at least, stand in its
    question. alike: questions, or passages, that are nearly the same as an earlier one. form: questions of one form.
    other_language: texts of another language than the data set's. short, long: questions of at most SHORT words,
    passages of more than LONG. mail, telephone, name: texts that hold one. greeting, noise: logged questions that ask
    nothing.

    listed: examples of each. sampled: texts of a table that names are looked for in, and questions of which it is
    looked what BM25 finds; they, and the MOST_TOLD texts of a table whose language is told, are drawn by `seed`.
    """
    drawing = _Drawing(sampled, np.random.default_rng(seed))
    tables = _tables(data)
    some = _Drawing(MOST_TOLD, np.random.default_rng(seed))
    told = {name: [(row, tongue(row[1], language)) for row in some(rows)] for name, rows in tables.items()}
    made = [
        *_leaks(data, drawing),
        *_alike(data),
        *_forms(data),
        *_other(told, language),
        *_sizes(tables),
        *_people(tables, language, drawing),
        *_pleasantries(data),
    ]
    return Examination(
        tuple(Oddity(o.kind, o.table, o.found, o.of, o.examples[:listed], o.numbers) for o in made if o.of != 0),
        tuple(
            (name, words, count)
            for name, rows in tables.items()
            for words, count in sorted(Counter(len(text.split()) for _, text in rows).items())
        ),
        tuple(
            (name, code, count)
            for name, rows in told.items()
            for code, count in sorted(
                Counter(code for _, code in rows).items(), key=lambda item: (not item[0], -item[1], item[0])
            )
        ),
    )


@dataclass
class _Drawing:
    """At most so many of anything, in their order."""

    most: int
    random: np.random.Generator

    def __call__(self, some: Sequence[Any]) -> list[Any]:
        if len(some) <= self.most:
            return list(some)
        return [some[place] for place in sorted(self.random.choice(len(some), self.most, replace=False))]


def _tables(data: Looked) -> dict[str, list[tuple[str, str]]]:
    """Every text with the name of what it belongs to, by table; without those that hold none."""
    by_table: dict[str, list[tuple[str, str | None]]] = {
        "questions": [(question.id, question.text) for question in data.questions],
        "references": [(question.id, question.reference) for question in data.questions],
        "passages": [(chunk.id, chunk.text) for chunk in data.chunks],
        "dialogues": [
            (dialogue.id, text)
            for dialogue in data.dialogues
            for t in dialogue.turns
            for text in (t.question, t.answer)
        ],
        "log": [(past.id, past.question) for past in data.history],
        "logged_answers": [(past.id, past.answer) for past in data.history],
    }
    told = {table: [(name, text) for name, text in rows if text and text.strip()] for table, rows in by_table.items()}
    return {table: rows for table, rows in told.items() if rows}


def _oddity(
    kind: str, table: str, of: int | None, examples: Iterable[Example], numbers: Mapping[str, float] | None = None
) -> Oddity:
    every = tuple(examples)
    return Oddity(kind, table, len({example.id for example in every}), of, every, numbers or {})


def _leaks(data: Looked, drawing: _Drawing) -> Iterator[Oddity]:
    asked, texts = list(labelled(data.questions)), {question.id: question.text for question in data.questions}
    doubted = [
        (doubt.kind, Example(doubt.question, texts[doubt.question], doubt.other, doubt.text))
        for doubt in doubts(data.chunks, data.questions)
    ]
    of = {kind: [example for each, example in doubted if each == kind] for kind in leaks.KINDS}
    leaked = {example.id for kind in leaks.LEAKED for example in of[kind]}
    numbers = {
        "leaked": leaks.searched(
            data.chunks, [q for q in asked if q.id in leaked], [q for q in asked if q.id not in leaked], drawing
        ),
        "passage_copied": leaks.copied(data.chunks, asked),
        "labels_nowhere": leaks.reachable(data.chunks, asked),
    }
    for kind in leaks.KINDS:
        yield _oddity(kind, "questions", len(asked), of[kind], numbers.get(kind) if of[kind] else None)
        if leaked and kind == leaks.LEAKED[-1]:
            yield Oddity("leaked", "questions", len(leaked), len(asked), (), numbers["leaked"])
    referred = [question for question in data.questions if question.reference]
    held = (question for question in referred if _holds(question.text, question.reference))
    yield _oddity(
        "answer_in_question", "questions", len(referred), (Example(q.id, q.text, "", q.reference) for q in held)
    )


def _holds(question: str, reference: str) -> bool:
    words = plain(reference)
    return len(words.split()) >= FEWEST_WORDS and stands_in(words, plain(question))


def _alike(data: Looked) -> Iterator[Oddity]:
    for table, rows in (("questions", data.questions), ("passages", data.chunks)):
        first = groups([row.text for row in rows], by_digits=table == "questions")
        again = [place for place, leader in enumerate(first) if leader != place]
        numbers = {"different": float(len(rows) - len(again))}
        if again and table == "questions":
            numbers |= leaks.contradicting(rows, first)
        examples = (Example(rows[p].id, rows[p].text, rows[first[p]].id, rows[first[p]].text) for p in again)
        yield _oddity("alike", table, len(rows), examples, numbers)


def _forms(data: Looked) -> Iterator[Oddity]:
    rows = data.questions
    shared = forms([question.text for question in rows])
    examples = [Example(rows[place].id, rows[place].text, "", form.text) for form in shared for place in form.places]
    numbers = {"forms": len(shared), "largest": len(shared[0].places)} if shared else {}
    yield _oddity("form", "questions", len(rows), examples, numbers)


def _other(told: Mapping[str, Sequence[tuple[tuple[str, str], str]]], expected: str) -> Iterator[Oddity]:
    for name in ("questions", "passages", "log"):
        sure = [(row, code) for row, code in told.get(name, ()) if code]
        odd = [Example(*row, "", code) for row, code in sure if code != expected]
        yield _oddity("other_language", name, len(sure), odd)


def _sizes(tables: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[Oddity]:
    asked, passages = tables.get("questions", ()), tables.get("passages", ())
    yield _oddity("short", "questions", len(asked), (Example(*r) for r in asked if len(plain(r[1]).split()) <= SHORT))
    yield _oddity("long", "passages", len(passages), (Example(*r) for r in passages if len(r[1].split()) > LONG))


def _people(tables: Mapping[str, Sequence[tuple[str, str]]], language: str, drawing: _Drawing) -> Iterator[Oddity]:
    for name, rows in tables.items():
        marked = [(row, {place.kind for place in persons.places(row[1][:READ], language)}) for row in rows]
        for kind in ("mail", "telephone"):
            yield _oddity(kind, name, len(rows), (Example(*row) for row, kinds in marked if kind in kinds))
        written = [row for row in rows if _CYRILLIC.search(row[1])]
        if not written or not persons.finds_names():
            yield Oddity("name", name, 0, None, (), {"russian": float(bool(written))})
            continue
        some = drawing(rows)
        named = persons.names(text[:READ] for _, text in some)
        yield _oddity(
            "name",
            name,
            len(some),
            (Example(*r) for r, there in zip(some, named, strict=True) if any(mention.whole for mention in there)),
        )


def _pleasantries(data: Looked) -> Iterator[Oddity]:
    said = [(past, pleasantry(past.question)) for past in data.history]
    for kind in ("greeting", "noise"):
        own = [past for past, what in said if what == kind]
        paged = {"with_page": float(sum(past.url is not None for past in own))}
        yield _oddity(kind, "log", len(said), (Example(past.id, past.question) for past in own), paged)

"""Traces to the tables of a data set, and to the log of the system that they are of.

What the spans of a trace say together is its question, its answer, its passages and where the time went; passages
become chunks of a knowledge base, each under one name.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from ragbench.old.core import names
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.data.answer_tables import LOGGED
from ragbench.old.data.brought import Brought, Chunks, Known, named_by
from ragbench.old.data.files import DatasetError, LeftOut, cut_list, normalise
from ragbench.old.data.payloads import Passage
from ragbench.old.data.records import ChunkRecord, Dialogue, PastQuestion, QuestionRecord, RatedAnswer, Turn, fault
from ragbench.old.data.rows import read_rows
from ragbench.old.data.shelf import Shelf
from ragbench.old.extras.traces.formats import FORMATS, format_of, parts
from ragbench.old.extras.traces.spans import Rating, Span, Whole, whole

BY_USERS = re.compile(r"user|feedback|rating|thumb|vote|stars?\b|like|csat|оценк|отзыв", re.IGNORECASE)
"""Names of scores that users give, where nothing else says who gave them."""
MAX_NAME = 300  # a system's name heads a column
FOUND = {
    "question": "question", "answer": "answer", "reference": "reference", "passages": "passages", "passage ids": "",
    "passage scores": "", "latency": "seconds", "retrieving": "retrieving", "generating": "generating",
    "tokens": "input_tokens", "cost": "cost", "model": "model", "time": "start", "session": "session",
    "user": "user", "rating": "",
}  # fmt: skip
"""What is told of each trace whether it was there, and the field that says so."""
TOLD = {
    "no passages": "no passages: nothing was retrieved there",
    "several": "several retrievers: their lists follow one another in the order of the calls, and a passage keeps its "
               "first rank",
    "reranked": "a reranker: its list is taken",
    "unnamed": "passages without their text",
}  # fmt: skip
"""What else is told of traces, and in how many it was found."""
SHOWN = 5  # kinds of errors that a reader looks after
UNREFERENCED = "faithfulness_rating"
"""What an answer without a reference is rated by."""
Stars = Literal[1, 2, 3, 4, 5]
_SPAN = TypeAdapter(Span)


class Assembly:
    """Collects the spans of traces, and documents, in temporary files: memory does not grow with them.

    lines: the log of the system, an object a trace.
    """

    def __init__(self, base: Mapping[str, ChunkRecord], ratings: Sequence[str], left_out: LeftOut) -> None:
        self.lines: Shelf[dict[str, Any]] = Shelf()
        self._passages = Chunks(base.values())
        self._rated_by = set(ratings)
        self._left_out = left_out
        self._traces, self._spans = Shelf[int](), Shelf[str](by_key=True)
        self._documents = 0
        self._questions = Shelf(QuestionRecord)
        self._past = Shelf(PastQuestion)
        self._turns = Shelf(Turn, by_key=True)
        self._answers = Shelf(RatedAnswer)
        self._there, self._errors, self._models, self._scores = (Counter[str]() for _ in range(4))
        self._values: dict[str, set[float]] = {}

    def take(self, part: Span | Passage, place: str) -> None:
        """A span, or a document of the knowledge base, retrieved or not, that was found at this place."""
        if isinstance(part, Span):
            self._traces.put(part.trace, len(self._traces))
            key = f"{self._traces.get(part.trace):012d}\0{len(self._spans):012d}"
            self._spans.put(key, json.dumps(_SPAN.dump_python(part)), place)  # in ASCII: of a character it holds halves
            for rating in filter(self._is_of_users, part.ratings):
                self._values.setdefault(rating.name, set()).add(rating.value)
            return
        self._documents += 1
        try:
            self._known(part)
        except (DatasetError, ValidationError) as error:
            self._left_out.add(f"document {_why(error)}")

    def _known(self, passage: Passage) -> Known:
        """A passage among the chunks; what no record may have of it is mended, or is none."""
        url, title = passage.url, passage.title
        return self._passages.known(
            Passage(
                text=None if passage.text is None else _clean(passage.text),
                id=None if passage.id is None else _identifier(passage.id),
                url=None if not url or len(url) > 8192 or UNPRINTABLE.search(url) else url,
                title=None if title is None else _clean(title),
            )
        )

    def brought(self, told: Sequence[str]) -> Brought:
        """The tables, with notes on what was understood: every trace by all of its spans, in the order in which they
        came first; one that cannot be taken is left out, and counted by its reason.

        Raises DatasetError where there is no question at all.
        """
        scales = {name: _scale(values) for name, values in self._values.items()}
        placed = ((place, _SPAN.validate_python(json.loads(line))) for place, line in self._spans.placed())
        for _, spans in itertools.groupby(placed, key=lambda own: own[1].trace):
            trace = whole(self._once(spans))
            try:
                self._take(trace, scales)
            except (DatasetError, ValidationError) as error:
                self._left_out.add(f"trace {_why(error)}", trace.trace)
        if not self._questions:
            documents = f"{self._documents} documents and " if self._documents else ""
            raise DatasetError(
                f"{documents}no trace with a question: give a file of traces, and documents beside it; left out were "
                f"{self._left_out.said or 'none'}"
            )
        tables = Brought(
            chunks=self._passages.shelf, questions=self._questions, dialogues=self._dialogues(), history=self._past,
            ratings=self._answers,
        )  # fmt: skip
        tables.left_out = self._left_out.told
        tables.notes += [*told, *self._notes(scales)]
        tables.runs += self._runs(tables)
        return tables

    def _once(self, placed: Iterable[tuple[str, Span]]) -> list[Span]:
        spans: dict[tuple[bool, str], Span] = {}
        for place, span in placed:
            if spans.setdefault((span.kind == "whole", span.id), span) is not span:
                self._left_out.add("step that stands there twice", place)
        return list(spans.values())

    def _dialogues(self) -> Shelf[Dialogue]:
        """The sessions of more than one turn, their turns in the order of time."""
        dialogues = Shelf(Dialogue)
        for name, group in itertools.groupby(self._turns.items(), lambda keyed_turn: keyed_turn[0].partition("\0")[0]):
            turns = tuple(turn for _, turn in group)
            if len(turns) > 1:
                dialogues.put(name, Dialogue(id=name, turns=turns))
        return dialogues

    def _runs(self, brought: Brought) -> list[str]:
        """The runs that what is there is enough for: of what was logged first, then of systems of the user's own."""
        there = self._there
        measured = {
            "rag_metrics": there["answer"],
            "tier3_end_to_end": there["answer"] and there["reference"],
            "sources": there["passages"] and self._passages.shelf,
        }
        runs = [" ".join([*(name for name, is_enough in measured.items() if is_enough), LOGGED if self.lines else ""])]
        if there["answer"] and not there["reference"]:
            runs.append(f"tier3_end_to_end {LOGGED} -p metrics={UNREFERENCED} -p primary={UNREFERENCED}")
        others = {
            "tier_ux": brought.dialogues or brought.history,
            "real_users": there["page"],
        }
        runs.append(" ".join(name for name, is_enough in others.items() if is_enough))
        return [run.strip() for run in runs if run.strip()]

    def _take(self, trace: Whole, scales: Mapping[str, Mapping[float, Stars]]) -> None:
        if trace.question is None:
            ended = f" that ended in an error: {_short(trace.error)}" if trace.error else ""
            raise DatasetError(f"without a question{ended}")
        name, question = _identifier(trace.trace), _clean(trace.question)
        answer = None if trace.answer is None else _clean(trace.answer)
        retrieved = [(self._known(passage), passage.score) for passage in trace.passages or ()]
        wanted = map(self._known, trace.relevant or ())
        session = None if trace.session is None else _identifier(trace.session)
        user = None if trace.user is None else _identifier(trace.user)
        record = QuestionRecord(
            id=name,
            text=question,
            reference=None if trace.reference is None else _clean(trace.reference),
            relevant={known.name: 1.0 for known in wanted if known.has_text},
            answerable=True if trace.relevant else None,
            cluster=session or (user and named_by("user", user)),
        )
        rating = next(filter(self._is_of_users, trace.ratings), None)
        stars = None if rating is None else scales[rating.name].get(rating.value)
        at = None if trace.start is None else datetime.fromtimestamp(trace.start, UTC).isoformat()
        past = PastQuestion(
            id=name, question=question, answer=answer, user=user, asked_at=at, score=stars,
            url=next((known.url for known, _ in retrieved if known.url), None),
        )  # fmt: skip
        turn = Turn(question=question, answer=answer)
        if answer is not None and rating is not None:
            rated = RatedAnswer(
                id=name,
                question_id=name,
                answer=answer,
                context=tuple(dict.fromkeys(known.name for known, _ in retrieved if known.has_text)),
                ratings={_identifier(rating.name): _rating(rating.value if stars is None else stars)},
                system=None if trace.model is None else _identifier(trace.model),
            )
            self._answers.put(name, rated)
        self._questions.put(name, record)
        if at is not None or user is not None or rating is not None:
            self._past.put(name, past)
        if session is not None:
            moment = f"{max(trace.start or 0.0, 0.0):020.6f}"
            self._turns.put(f"{session}\0{moment}\0{len(self._questions):012d}", turn)
        if line := _line(trace, None if trace.passages is None else retrieved, answer):
            self.lines.put(name, {"id": name, **line})
        self._tell(trace, rating, record, past)

    def _is_of_users(self, rating: Rating) -> bool:
        """Whether a user gave a score, and no program."""
        if rating.by_people is False:
            return False
        return rating.name in self._rated_by if self._rated_by else bool(
            rating.by_people or BY_USERS.search(rating.name)
        )  # fmt: skip

    def _tell(self, trace: Whole, rating: Rating | None, record: QuestionRecord, past: PastQuestion) -> None:
        passages = trace.passages or ()
        there = {name: getattr(trace, own) is not None for name, own in FOUND.items() if own} | {
            "passage ids": any(passage.id for passage in passages),
            "passage scores": any(passage.score is not None for passage in passages),
            "rating": rating is not None,
            "no passages": trace.passages is None,
            "several": trace.lists > 1,
            "reranked": trace.is_reranked,
            "unnamed": any(passage.text is None for passage in passages),
            "page": past.url is not None,
            "label": bool(record.relevant),
        }
        self._there.update(name for name, is_there in there.items() if is_there)
        self._scores.update(rating.name for rating in trace.ratings if not self._is_of_users(rating))
        if trace.error and trace.answer is None:
            self._errors[_short(trace.error)] += 1
        if trace.model:
            self._models[trace.model] += 1

    def _notes(self, scales: Mapping[str, Mapping[float, Stars]]) -> list[str]:
        there = self._there
        present = ", ".join(f"{name} {there[name]:,}" for name in FOUND if there[name])
        lacking = ", ".join(name for name in FOUND if not there[name])
        notes = [f"found in {_many(len(self._questions))}: {present}{f'; in none: {lacking}' if lacking else ''}"]
        told_of = [fact for fact in TOLD if there[fact] and there["passages"]]
        notes += [f"in {_many(there[fact])} {TOLD[fact]}" for fact in told_of]
        if self._errors:
            what = ", ".join(f"{count:,} × {why}" for why, count in self._errors.most_common(SHOWN))
            notes.append(
                f"{_many(self._errors.total())} ended in an error, kept as a question without an answer: {what}"
            )
        notes += self._passages.notes
        if len(self._models) > 1:
            notes.append(f"models: {_listed(self._models.most_common(SHOWN))}")
        for name, steps in scales.items():
            told = ", ".join(f"{value:g} → {score}" for value, score in sorted(steps.items()))
            notes.append(
                f"ratings of users are the score {name!r}: {told or 'on no scale that is known; kept as it is'}"
            )
        if self._scores:
            scores = _listed(sorted(self._scores.items()))
            notes.append(f"scores that are not taken for users' (--rating NAME says which are): {scores}")
        if not self._passages.shelf:
            notes.append(
                "no passage has a text: what was retrieved cannot be measured. Give the knowledge base, as documents "
                "in a further FILE or by --chunks-from"
            )
        if not there["label"]:
            notes.append("nothing says which passages are relevant, so retrieval has no labels")
        return notes


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts)


def _line(trace: Whole, retrieved: Sequence[tuple[Known, float | None]] | None, answer: str | None) -> dict[str, Any]:
    """What the log says of a trace beside its id; nothing where nothing was retrieved, answered or refused."""
    line: dict[str, Any] = {}
    if retrieved is not None:
        line["retrieved"] = [known.name if score is None else [known.name, score] for known, score in retrieved]
    if answer is not None:
        line["answer"] = answer
    elif trace.error:
        line["error"] = _short(trace.error)
    more = {
        "latency_ms": _milliseconds(trace.seconds), "search_ms": _milliseconds(trace.retrieving),
        "generate_ms": _milliseconds(trace.generating), "input_tokens": trace.input_tokens,
        "output_tokens": trace.output_tokens, "cost": trace.cost, "model": trace.model, "trajectory": trace.run,
    }  # fmt: skip
    return line and {**line, **{name: value for name, value in more.items() if value is not None}}


def _many(traces: int) -> str:
    return f"{traces:,} trace{'s' * (traces != 1)}"


def _scale(values: Iterable[float]) -> dict[float, Stars]:
    """From what users gave to a score from 1 to 5: stars as they are, thumbs (0 or -1, and 1) as 1 and 5."""
    given = set(values)
    if given <= {-1.0, 0.0, 1.0}:
        return {value: 5 if value == 1 else 3 if value == 0 and -1.0 in given else 1 for value in given}
    return {stars: stars for stars in get_args(Stars) if stars in given} if given <= {*get_args(Stars)} else {}


def _rating(value: float) -> float | None:
    return float(value) if 0 <= value <= 100 else None


def _identifier(name: str) -> str:
    """The name itself where a record may have it; else one made of it."""
    if 0 < len(name) <= MAX_NAME and not UNPRINTABLE.search(name) and not names.is_torn(name):
        return name
    return named_by("id", name.encode("utf-8", "backslashreplace").decode())


def _clean(text: str) -> str:
    """The text in NFC, without NUL. Raises DatasetError for half of a character."""
    if not text.isascii() and names.is_torn(text):
        raise DatasetError("with a text that holds half of a character (a lone surrogate)")
    return normalise(text.replace("\0", "")).strip()


def _short(error: str | None) -> str:
    """The first line of an error, as people count errors by it."""
    lines = (error or "").strip().splitlines()
    return excerpt(lines[0], 100) if lines else ""


def _why(error: ValueError) -> str:
    return (
        f"with {fault(error).split(' = ')[0]} that no record may have"
        if isinstance(error, ValidationError)
        else str(error)
    )


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None or seconds < 0 else round(seconds * 1000, 3)


UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")


def read(
    paths: Sequence[Path],
    *,
    base: Mapping[str, ChunkRecord] | None = None,
    ratings: Sequence[str] = (),
    most: int | None = None,
) -> tuple[Brought, Mapping[str, Shelf[dict[str, Any]]]]:
    """The data set in files of traces, and what their system is logged to have retrieved and answered.

    Each file has one format, found out by its first record. Files are read together: spans, scores and documents may be
    in files of their own. base: the chunks of a whole knowledge base by id. ratings: names of the scores that users
    gave; else those whose name says so. Files are streamed, and their traces wait on the disk until all of their parts
    are there: memory does not grow with them, but for the longest trace and dialogue. most: as of `read_rows`.
    Raises DatasetError for a file that is of no format, for broken JSON, and where nothing is found.
    """
    left_out, told = LeftOut(), []
    assembly = Assembly(base or {}, ratings, left_out)
    for number, path in enumerate(paths):
        known, records = "", 0
        for row, (place, record) in enumerate(read_rows(path, held=False, left_out=left_out, most=most), 1):
            here = format_of(record)
            known = known or here
            if not known:
                raise DatasetError(
                    f"{place}: of no format that is known; it has {cut_list(record)}. Known are "
                    f"{', '.join(FORMATS)}. Tables with other names: `ragbench load answers "
                    f"{shlex.quote(f'{path}')} --name NAME`"
                )
            if here != known:
                left_out.add(f"record without the marks of {known}", place)
                continue
            records += 1
            try:
                for part in parts(known, record, f"{path.name.split('.')[0]}-{row}" if number else f"{row}"):
                    assembly.take(part, place)
            except DatasetError as error:
                left_out.add(str(error), place)
        if not known:
            raise DatasetError(f"{path.name}: holds no record that can be read; {dict(left_out.told)}")
        told.append(f"{path.name} was read as {known}: {records:,} records")
    brought = assembly.brought(told)
    return brought, {"logged": assembly.lines} if assembly.lines else {}


def tool(path: Path) -> str:
    """What wrote an export of traces, by its first record; empty for any other file."""
    try:
        first = next(read_rows(path, held=False, left_out=LeftOut()), None)
    except DatasetError:
        return ""
    known = format_of(first[1]) if first else ""
    return known if known in FORMATS else ""

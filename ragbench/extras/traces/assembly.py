"""Traces to the tables of a data set, and to the log of the system that they are of.

What the spans of a trace say together is its question, its answer, its passages and where the time went; passages
become chunks of a knowledge base, each under one name.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from ragbench.core import names
from ragbench.core.settings.secrets import excerpt
from ragbench.data.answer_tables import LOGGED
from ragbench.data.brought import Brought, named_by
from ragbench.data.files import DatasetError, LeftOut, normalise
from ragbench.data.payloads import Passage
from ragbench.data.records import ChunkRecord, Dialogue, PastQuestion, QuestionRecord, RatedAnswer, Turn
from ragbench.data.rows import fault
from ragbench.data.shelf import RECENT, Shelf
from ragbench.extras.traces.spans import Rating, Span, Trace, run

BY_USERS = re.compile(r"user|feedback|rating|thumb|vote|stars?\b|like|csat|оценк|отзыв", re.IGNORECASE)
"""Names of scores that users give, where nothing else says who gave them."""
MAX_NAME = 300  # a system's name heads a column
FOUND = {
    "question": "question", "answer": "answer", "reference": "reference", "passages": "passages", "passage ids": "",
    "passage scores": "", "latency": "seconds", "retrieving": "retrieving", "generating": "generating",
    "tokens": "input_tokens", "cost": "cost", "model": "model", "time": "asked_at", "session": "session",
    "user": "user", "rating": "",
}  # fmt: skip
"""What is told of each trace whether it was there, and the field of its steps, or of itself, that says so."""
SHOWN = 5  # kinds of errors that a reader looks after
UNREFERENCED = "faithfulness_rating"
"""What an answer without a reference is rated by."""


class Assembly:
    """Collects traces, one after the other. lines: the log of the system, an object a trace."""

    def __init__(self, base: Mapping[str, ChunkRecord], ratings: Sequence[str], left_out: LeftOut) -> None:
        self.lines: Shelf[dict[str, Any]] = Shelf()
        self._passages = Passages(base)
        self._rated_by = set(ratings)
        self._left_out = left_out
        self._questions = Shelf(QuestionRecord)
        self._past = Shelf(PastQuestion)
        self._turns = Shelf(Turn, by_key=True)
        self._answers = Shelf(RatedAnswer)
        self._given = Shelf[list[Any]]()
        self._is_labelled = False
        self._there: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._models: Counter[str] = Counter()
        self._values: dict[str, set[float]] = {}

    def document(self, passage: Passage) -> None:
        """A document of the knowledge base, retrieved or not."""
        self._counts["documents"] += 1
        try:
            self._passages.name(passage)
        except (DatasetError, ValidationError) as error:
            self._left_out.add(f"document with {_why(error)}")

    def trace(self, trace: Trace) -> None:
        """Take a trace into the tables; one that cannot be taken is left out, and counted by its reason."""
        steps = Steps.of(trace)
        if steps.question is None:
            why = f"trace without a question that ended in an error: {_short(steps.error)}" if steps.error else None
            self._left_out.add(why or "trace without a question", trace.id)
            return
        try:
            self._take(trace, steps, steps.question)
        except (DatasetError, ValidationError) as error:
            self._left_out.add(f"trace with {_why(error)}", trace.id)

    def brought(self, told: Sequence[str]) -> Brought:
        """The tables, with notes on what was understood. Raises DatasetError where there is no question at all."""
        if not self._questions:
            why = "; ".join(f"{count} × {reason}" for reason, count in self._left_out.told.items())
            documents = f"{self._counts['documents']} documents and " if self._counts["documents"] else ""
            raise DatasetError(
                f"{documents}no trace with a question: give a file of traces, and documents beside it; left out were "
                f"{why or 'none'}"
            )
        dialogues = self._dialogues()
        scale = {name: _scale(values) for name, values in self._values.items()}
        for name, (given, value) in self._given.items():
            if (past := self._past.get(name)) is not None:
                self._past.change(name, past.model_copy(update={"score": scale[given].get(value)}))
            if (rated := self._answers.get(name)) is not None:
                ratings = {_identifier(given): _grade(value, scale[given])}
                self._answers.change(name, rated.model_copy(update={"ratings": ratings}))
        tables = Brought(
            chunks=self._passages.chunks, questions=self._questions, dialogues=dialogues, history=self._past,
            ratings=self._answers,
        )  # fmt: skip
        tables.left_out = self._left_out.told
        tables.notes += [*told, *self._notes(scale)]
        tables.runs += self._runs(tables)
        return tables

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
            "sources": there["passages"] and self._passages.chunks,
        }
        runs = [" ".join([*(name for name, is_enough in measured.items() if is_enough), LOGGED if self.lines else ""])]
        if there["answer"] and not there["reference"]:
            runs.append(f"tier3_end_to_end {LOGGED} -p metrics={UNREFERENCED} -p primary={UNREFERENCED}")
        others = {
            "tier_ux": brought.dialogues or brought.history,
            "real_users": self._counts["pages"],
        }
        runs.append(" ".join(name for name, is_enough in others.items() if is_enough))
        return [run.strip() for run in runs if run.strip()]

    def _take(self, trace: Trace, steps: Steps, asked: str) -> None:
        name = _identifier(trace.id)
        question, answer = _clean(asked), None if steps.answer is None else _clean(steps.answer)
        reference = None if trace.reference is None else _clean(trace.reference)
        retrieved = (
            None
            if steps.passages is None
            else [(self._passages.name(passage), passage.score) for passage in steps.passages]
        )
        ids = [] if retrieved is None else list(dict.fromkeys(passage_id for passage_id, _ in retrieved))
        relevant = dict.fromkeys(map(self._passages.name, trace.relevant or ()), 1.0)
        session = None if trace.session is None else _identifier(trace.session)
        user = None if trace.user is None else _identifier(trace.user)
        record = QuestionRecord(
            id=name,
            text=question,
            reference=reference,
            relevant={passage_id: grade for passage_id, grade in relevant.items() if self._passages.has(passage_id)},
            answerable=True if relevant else None,
            cluster=session or (user and named_by("user", user)),
        )
        rating = self._rating(trace.ratings)
        at = None if steps.asked_at is None else datetime.fromtimestamp(steps.asked_at, UTC).isoformat()
        known = [passage_id for passage_id in ids if self._passages.has(passage_id)]
        past = PastQuestion(
            id=name, question=question, answer=answer, url=next(filter(None, map(self._passages.url, known)), None),
            user=user, asked_at=at,
        )  # fmt: skip
        turn = Turn(question=question, answer=answer)
        rated = None
        if answer is not None and rating is not None:
            system = None if steps.model is None else _identifier(steps.model)
            rated = RatedAnswer(
                id=name, question_id=name, answer=answer, context=tuple(known), ratings={}, system=system
            )
        self._questions.put(name, record)
        self._is_labelled = self._is_labelled or bool(record.relevant)
        if at is not None or user is not None or rating is not None:
            self._past.put(name, past)
            self._counts["pages"] += past.url is not None
        if session is not None:
            moment = f"{max(steps.asked_at or 0.0, 0.0):020.6f}"
            self._turns.put(f"{session}\0{moment}\0{len(self._questions):012d}", turn)
        if rating is not None:
            self._given.put(name, [rating.name, rating.value])
        if rated is not None:
            self._answers.put(name, rated)
        self._log(name, steps, retrieved, answer)
        self._tell(trace, steps, rating)

    def _log(
        self, name: str, steps: Steps, retrieved: Sequence[tuple[str, float | None]] | None, answer: str | None
    ) -> None:
        line: dict[str, Any] = {"id": name}
        if retrieved is not None:
            line["retrieved"] = [[passage, score] if score is not None else passage for passage, score in retrieved]
        if answer is not None:
            line["answer"] = answer
        elif steps.error:
            line["error"] = _short(steps.error)
        more = {
            "latency_ms": _milliseconds(steps.seconds), "search_ms": _milliseconds(steps.retrieving),
            "generate_ms": _milliseconds(steps.generating), "input_tokens": steps.input_tokens,
            "output_tokens": steps.output_tokens, "cost": steps.cost, "model": steps.model, "trajectory": steps.run,
        }  # fmt: skip
        if line.keys() != {"id"}:
            self.lines.put(line["id"], {**line, **{key: value for key, value in more.items() if value is not None}})

    def _rating(self, given: Iterable[Rating]) -> Rating | None:
        """The score that a user gave; the scores of programs are counted."""
        first = None
        for rating in given:
            named = (
                rating.name in self._rated_by if self._rated_by else rating.by_people or BY_USERS.search(rating.name)
            )
            if rating.by_people is False or not named:
                self._counts[f"score {rating.name}"] += 1
            elif first is None:
                first = rating
                self._values.setdefault(rating.name, set()).add(rating.value)
        return first

    def _tell(self, trace: Trace, steps: Steps, rating: Rating | None) -> None:
        passages = steps.passages or ()
        there = {name: getattr(steps, own, getattr(trace, own, None)) is not None for name, own in FOUND.items() if own}
        there["passage ids"] = any(passage.id for passage in passages)
        there["passage scores"] = any(passage.score is not None for passage in passages)
        there["rating"] = rating is not None
        self._there.update(name for name, is_there in there.items() if is_there)
        self._counts["unnamed"] += any(passage.text is None for passage in passages)
        self._counts["several"] += steps.lists > 1
        self._counts["reranked"] += steps.reranked
        self._counts["none"] += steps.passages is None
        if steps.error and steps.answer is None:
            self._errors[_short(steps.error)] += 1
        if steps.model:
            self._models[steps.model] += 1

    def _notes(self, scale: Mapping[str, Mapping[float, int]]) -> list[str]:
        number, counts = len(self._questions), self._counts
        present = ", ".join(f"{name} {self._there[name]:,}" for name in FOUND if self._there[name])
        lacking = ", ".join(name for name in FOUND if not self._there[name])
        notes = [f"found in {_many(number, 'trace', 'traces')}: {present}{f'; in none: {lacking}' if lacking else ''}"]
        if counts["none"] and self._there["passages"]:
            notes.append(
                f"{_many(counts['none'], 'trace gives', 'traces give')} no passages: nothing was retrieved there"
            )
        if counts["several"]:
            notes.append(
                f"{_many(counts['several'], 'trace has', 'traces have')} several retrievers: their lists follow one "
                "another in the order of the calls, and a passage keeps its first rank"
            )
        if counts["reranked"]:
            notes.append(f"{_many(counts['reranked'], 'trace has', 'traces have')} a reranker: its list is taken")
        if self._errors:
            what = ", ".join(f"{count:,} × {why}" for why, count in self._errors.most_common(SHOWN))
            ended = _many(self._errors.total(), "trace", "traces")
            notes.append(f"{ended} ended in an error, kept as a question without an answer: {what}")
        if counts["unnamed"]:
            notes.append(f"{_many(counts['unnamed'], 'trace names', 'traces name')} passages without their text")
        if self._passages.changed:
            notes.append(
                f"{self._passages.changed:,} texts stand under an id that has another: each is a passage of its own"
            )
        if len(self._models) > 1:
            what = ", ".join(f"{name} {count:,}" for name, count in self._models.most_common(SHOWN))
            notes.append(f"models: {what}")
        for name, steps in scale.items():
            told = ", ".join(f"{value:g} → {score}" for value, score in sorted(steps.items()))
            notes.append(
                f"ratings of users are the score {name!r}: {told or 'on no scale that is known; kept as it is'}"
            )
        scores = {name.removeprefix("score "): n for name, n in counts.items() if name.startswith("score ")}
        if scores:
            what = ", ".join(f"{name} {count:,}" for name, count in sorted(scores.items()))
            notes.append(f"scores that are not taken for users' (--rating NAME says which are): {what}")
        if not self._passages.chunks:
            notes.append(
                "no passage has a text: what was retrieved cannot be measured. Give the knowledge base, as documents "
                "in a further FILE or by --chunks-from"
            )
        if not self._is_labelled:
            notes.append("nothing says which passages are relevant, so retrieval has no labels")
        return notes


def _many(count: int, singular: str, more: str) -> str:
    return f"{count:,} {singular if count == 1 else more}"


def _scale(values: Iterable[float]) -> dict[float, int]:
    """From what users gave to a score from 1 to 5: stars as they are, thumbs (0 or -1, and 1) as 1 and 5."""
    given = set(values)
    if given <= {-1.0, 0.0, 1.0}:
        return {value: 5 if value == 1 else 3 if value == 0 and -1.0 in given else 1 for value in given}
    if given <= {1.0, 2.0, 3.0, 4.0, 5.0}:
        return {value: int(value) for value in given}
    return {}


def _grade(value: float, scale: Mapping[float, int]) -> float | None:
    grade = scale.get(value, value)
    return float(grade) if 0 <= grade <= 100 else None


def _identifier(name: str) -> str:
    """The name itself where a record may have it; else one made of it."""
    if 0 < len(name) <= MAX_NAME and not UNPRINTABLE.search(name) and not names.is_torn(name):
        return name
    return named_by("id", name.encode("utf-8", "backslashreplace").decode())


def _clean(text: str) -> str:
    """The text in NFC, without NUL. Raises DatasetError for half of a character."""
    if not text.isascii() and names.is_torn(text):
        raise DatasetError("a text that holds half of a character (a lone surrogate)")
    return normalise(text.replace("\0", "")).strip()


def _short(error: str | None) -> str:
    """The first line of an error, as people count errors by it."""
    lines = (error or "").strip().splitlines()
    return excerpt(lines[0], 100) if lines else ""


def _why(error: ValueError) -> str:
    return (
        fault(error).split(" = ")[0] + " that no record may have" if isinstance(error, ValidationError) else str(error)
    )


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None or seconds < 0 else round(seconds * 1000, 3)


UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")


class Passages:
    """Names passages. chunks: all that have a text. changed: how many have an id that another text had before.

    base: chunks that were there before, by id.
    """

    def __init__(self, base: Mapping[str, ChunkRecord]) -> None:
        self.chunks = Shelf(ChunkRecord, by_key=True)
        self.changed = 0
        self._names = Shelf[str]()
        self._recent: dict[int, str] = {}  # hash of id and text → name
        self._urls: dict[str, str | None] = {}
        for chunk in base.values():
            self._put(chunk)

    def name(self, passage: Passage) -> str:
        """The id of a passage among the chunks: its own, or one made of its text.

        A second text under an id is a passage of its own, named by both. One without a text is named and no chunk.
        """
        key = hash((passage.id, passage.text))
        if (name := self._recent.get(key)) is None:
            if len(self._recent) >= RECENT:
                self._recent.clear()
            name = self._recent[key] = self._new_name(passage)
        return name

    def has(self, name: str) -> bool:
        """Whether a chunk has this name."""
        return name in self._urls or self.chunks.has(name)

    def url(self, name: str) -> str | None:
        """The page of a chunk."""
        if name not in self._urls:
            self._remember(self.chunks.get(name))
        return self._urls.get(name)

    def _new_name(self, passage: Passage) -> str:
        text = None if passage.text is None else _clean(passage.text)
        given = None if passage.id is None else _identifier(passage.id)
        if text is None:
            return given or ""
        known = None if given is None else self.chunks.get(given)
        is_changed = known is not None and known.text != text
        if is_changed:
            given = named_by("passage", given or "", text)
        name = given or self._names.get(_key(text)) or named_by("passage", text)
        if known is None or is_changed:
            url = passage.url
            if not url or len(url) > 8192 or UNPRINTABLE.search(url):
                url = None
            title = None if passage.title is None else _clean(passage.title)
            is_new = self._put(ChunkRecord(id=name, text=text, url=url, title=title))
            self.changed += is_changed and is_new
        return name

    def _put(self, chunk: ChunkRecord) -> bool:
        if not self.chunks.put(chunk.id, chunk):
            return False
        self._names.put(_key(chunk.text), chunk.id)
        self._remember(chunk)
        return True

    def _remember(self, chunk: ChunkRecord | None) -> None:
        if chunk is not None:
            if len(self._urls) >= RECENT:
                self._urls.clear()
            self._urls[chunk.id] = chunk.url


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Steps:
    """A trace read as one question.

    passages: what the answer was written from, in rank order, each once: the lists of all retrievers in the order of
    their calls, a passage at its first rank; where something was reranked, the lists of the rerankers instead. None
    where nothing retrieves. A retriever within another is a part of it. lists: of how many retrievers.
    retrieving, generating: seconds in which a retriever or a reranker was at work, and in which a model was once all
    was retrieved; None where no clock was read. Tokens and cost are of all models together, an inner one not counted
    twice. run: the messages of an agent, None of what called no tool.
    """

    question: str | None
    answer: str | None
    passages: tuple[Passage, ...] | None
    lists: int
    reranked: bool
    seconds: float | None
    retrieving: float | None
    generating: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    model: str | None
    asked_at: float | None
    error: str | None
    run: list[dict[str, Any]] | None = None

    @classmethod
    def of(cls, trace: Trace) -> Steps:
        """Everything that the trace and its spans say."""
        spans = sorted(trace.spans, key=lambda span: (span.start is None, span.start or 0.0))
        above = {span.id: span for span in spans}
        root = next((span for span in spans if span.parent not in above), None)
        retrievers = _outermost([span for span in spans if span.kind == "retrieve"], above)
        rerankers = [span for span in spans if span.kind == "rerank" and span.passages]
        models = _outermost([span for span in spans if span.kind == "generate"], above)
        lists = [span.passages for span in rerankers or retrievers if span.passages is not None]
        retrieved = max((span.end for span in (*retrievers, *rerankers) if span.end is not None), default=None)
        writing = [s for s in models if retrieved is None or s.start is None or s.start >= retrieved] or models[-1:]
        counted = models or ([root] if root else [])
        answer = trace.answer or (root.answer if root else None) or _last(span.answer for span in models)
        failed = _last(span.error for span in spans) if not answer else None
        question = trace.question or (root.question if root else None)
        question = question or next((s.question for s in (*retrievers, *reversed(models), *spans) if s.question), None)
        working = _outermost([span for span in spans if span.kind == "tool" or span.kind == "generate"], above)
        return cls(
            question,
            answer or (None if failed or models else _last(span.answer for span in spans)),
            _merged(lists) if lists else None,
            len(retrievers),
            bool(rerankers),
            trace.seconds if trace.seconds is not None else _taken([root] if root else []),
            _taken([*retrievers, *rerankers]),
            _taken(writing),
            _sum(span.input_tokens for span in counted),
            _sum(span.output_tokens for span in counted),
            trace.cost if trace.cost is not None else _sum(span.cost for span in counted),
            _last(span.model for span in writing),
            trace.asked_at if trace.asked_at is not None else root.start if root else None,
            trace.error or (root.error if root else None) or failed,
            run(question, answer, working) if question else None,
        )


def _outermost(spans: Sequence[Span], above: dict[str, Span]) -> list[Span]:
    """Those that stand within no other of the same kind."""
    inner = {span.id for span in spans}
    outermost = []
    for span in spans:
        at, seen = span.parent, {span.id}
        while at is not None and at not in inner and at in above and at not in seen:
            seen.add(at)
            at = above[at].parent
        if at is None or at not in inner or at in seen:
            outermost.append(span)
    return outermost


def _merged(lists: Iterable[Iterable[Passage]]) -> tuple[Passage, ...]:
    """The lists one after the other, a passage at its first place."""
    merged: dict[tuple[str | None, str | None], Passage] = {}
    for passage in (own for some in lists for own in some):
        merged.setdefault((passage.id, None) if passage.id else (None, passage.text), passage)
    return tuple(merged.values())


def _taken(spans: Iterable[Span]) -> float | None:
    """Seconds that these spans cover together; None where none has both its ends."""
    times = sorted((s.start, s.end) for s in spans if s.start is not None and s.end is not None and s.end >= s.start)
    total, until = 0.0, float("-inf")
    for start, end in times:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total if times else None


def _sum(values: Iterable[N | None]) -> N | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _last(values: Iterable[str | None]) -> str | None:
    return next((value for value in reversed([*values]) if value), None)

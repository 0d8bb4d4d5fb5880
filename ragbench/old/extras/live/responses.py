"""What systems made of questions that were typed: side by side in JupyterLab, in 80 columns on a terminal, as rows."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragbench.old.core.language import DASH, Translator, translator
from ragbench.old.core.listings import LINES
from ragbench.old.core.parts import shown, template
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.stand_ins import StandIn, caveat
from ragbench.old.core.types import Chunk, Hit, Question
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.systems import Generation
from ragbench.old.tiers.basics import verdict_tables

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80  # of a plain terminal
SHORT = 110
"""Characters of a passage that stand there before it is unfolded."""
PARTS = ("rewrite", "embed", "search", "rerank", "call", "generate", "total")
ANSWER = "answer"
"""The place of answers in `Responses.side_by_side`."""
COLUMNS = ("question", "system", "rank", "chunk", "title", "url", "similarity", "found_by", "relevant", "text")
ANSWERS = (
    "question", "system", "answer", "status", "reason", "generator", *(f"{part}_ms" for part in PARTS),
    "input_tokens", "output_tokens",
)  # fmt: skip


@dataclass(frozen=True)
class Response:
    """What one system made of one question.

    hits: nearest first. reason: why there is no ranking; empty where there is one. answer: None where none was asked
    for, or could be. generator: who wrote it; the system itself where it `answers_itself`. embed_ms, search_ms,
    call_ms: milliseconds of embedding, searching, and of a call of the user's own function, which does both and perhaps
    answers; rewrite_ms, rerank_ms: of those parts; None where the system has no such step.
    """

    question: Question
    system: str
    hits: tuple[Hit, ...] = ()
    reason: str = ""
    answer: Generation | None = None
    generator: str = ""
    answers_itself: bool = False
    embed_ms: float | None = None
    search_ms: float | None = None
    call_ms: float | None = None
    rewrite_ms: float | None = None
    rerank_ms: float | None = None
    is_stand_in: bool = False
    generator_is_stand_in: bool = False

    @property
    def milliseconds(self) -> dict[str, float]:
        """What was measured of PARTS; `total` is the sum of the others, and of a log what the log says."""
        seconds = None if self.answer is None else self.answer.seconds
        within_call = self.answers_itself and self.call_ms is not None
        generate = None if seconds is None or within_call else seconds * 1000
        parts = {part: getattr(self, f"{part}_ms") for part in PARTS[:-2]} | {"generate": generate}
        known = {name: float(ms) for name, ms in parts.items() if ms is not None and math.isfinite(ms)}
        if self.answers_itself and not within_call and "generate" in known:
            return {"total": known["generate"]}
        return known | ({"total": sum(known.values())} if known else {})

    @property
    def failure(self) -> str:
        """Why there is no ranking, or no answer; empty where nothing failed."""
        return self.reason or ("" if self.answer is None else self.answer.reason)


@dataclass(frozen=True, repr=False)
class Responses:
    """What every system made of every question, in the order of the questions, then of the systems.

    A notebook's cell shows them side by side. dataset: its name with its language. language: of what is shown.
    """

    responses: tuple[Response, ...]
    dataset: str
    n_chunks: int
    k: int
    stand_ins: tuple[StandIn, ...] = ()
    language: str = "en"

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions, each once."""
        return tuple({response.question.id: response.question for response in self.responses}.values())

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, the baseline first."""
        return tuple(dict.fromkeys(response.system for response in self.responses))

    def of(self, question: Question) -> tuple[Response, ...]:
        """What each system made of one of the questions."""
        return self._by_question.get(question.id, ())

    @cached_property
    def _by_question(self) -> dict[str, tuple[Response, ...]]:
        groups: dict[str, list[Response]] = {}
        for response in self.responses:
            groups.setdefault(response.question.id, []).append(response)
        return {question: tuple(group) for question, group in groups.items()}

    def found_by(self, question: Question) -> Counter[str]:
        """Passage → how many systems retrieved it, or a piece of it."""
        return Counter(name for response in self.of(question) for name in {hit.chunk.passage for hit in response.hits})

    def to_pandas(self) -> pd.DataFrame:
        """One row a question, system and rank (COLUMNS). `found_by`: how many systems retrieved the chunk; `relevant`:
        whether it is labelled so, None where the question has no labels. A system that failed has no rows here."""
        import pandas as pd

        found_by = {question.id: self.found_by(question) for question in self.questions}
        rows = [
            (
                response.question.text, response.system, rank, hit.chunk.id, hit.chunk.title, hit.chunk.url,
                hit.similarity, found_by[response.question.id][hit.chunk.passage],
                relevant(response.question, hit.chunk), hit.chunk.text,
            )
            for response in self.responses
            for rank, hit in enumerate(response.hits, 1)
        ]  # fmt: skip
        types: dict[str, Any] = {"rank": "int64", "found_by": "int64", "similarity": float, "relevant": "boolean"}
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype(types)

    @property
    def side_by_side(self) -> pd.DataFrame:
        """A column a system, a row a question and place (`question`, `place`): "answer", then texts at ranks 1, 2, …

        "answer": why there is none, in brackets, where there is none; no such row where nobody was asked for one. None
        where a system retrieved less than others; where it has no ranking, the reason stands at rank 1.
        """
        import pandas as pd

        rows: dict[tuple[str, Any], dict[str, str | None]] = {}
        for response in self.responses:
            text, name = response.question.text, response.system
            if response.answer is not None:
                told = response.answer.answer
                rows.setdefault((text, ANSWER), {})[name] = f"({response.failure})" if told is None else told
            for rank, hit in enumerate(response.hits, 1):
                rows.setdefault((text, rank), {})[name] = hit.chunk.text or hit.chunk.id
            if response.reason:
                rows.setdefault((text, 1), {})[name] = f"({response.reason})"
        order = {question.text: place for place, question in enumerate(self.questions)}
        places = sorted(rows, key=lambda row: (order[row[0]], 0 if row[1] == ANSWER else row[1]))
        index = pd.MultiIndex.from_tuples(places, names=("question", "place"))
        cells = [[rows[row].get(name) for name in self.systems] for row in places]
        return pd.DataFrame(cells, index=index, columns=list(self.systems), dtype=object)

    @property
    def answers(self) -> pd.DataFrame:
        """One row a question and system (ANSWERS): the answer or why there is none, and milliseconds by part, NaN where
        a part does not exist."""
        import pandas as pd

        rows = []
        for response in self.responses:
            got, ms = response.answer, response.milliseconds
            text, status = (None, "") if got is None else (got.answer, got.status.value)
            tokens = (None, None) if got is None else (got.input_tokens, got.output_tokens)
            times = (ms.get(part, math.nan) for part in PARTS)
            rows.append(
                (
                    response.question.text,
                    response.system,
                    text,
                    status,
                    response.failure,
                    response.generator,
                    *times,
                    *tokens,
                )
            )
        types: dict[str, Any] = {f"{part}_ms": float for part in PARTS} | dict.fromkeys(
            ("input_tokens", "output_tokens"), "Int64"
        )
        return pd.DataFrame(rows, columns=list(ANSWERS)).astype(types)

    def as_json(self) -> dict[str, Any]:
        """Plain values: `dataset`, `k`, `responses` (each with its `hits`), `stand_ins`, `caveat`."""
        return {
            "dataset": self.dataset,
            "k": self.k,
            "responses": [self._plain(response) for response in self.responses],
            "stand_ins": [stand_in.fact for stand_in in self.stand_ins],
            "caveat": caveat(self.stand_ins, translator("en")),
        }

    def _plain(self, response: Response) -> dict[str, Any]:
        found_by = self.found_by(response.question)
        hits = [
            {
                "rank": rank, "chunk": hit.chunk.id, "title": hit.chunk.title, "url": hit.chunk.url,
                "similarity": hit.similarity, "found_by": found_by[hit.chunk.passage],
                "relevant": relevant(response.question, hit.chunk), "text": hit.chunk.text,
            }
            for rank, hit in enumerate(response.hits, 1)
        ]  # fmt: skip
        return {
            "question": response.question.text,
            "system": response.system,
            "answer": None if response.answer is None else response.answer.answer,
            "reason": response.failure or None,
            "generator": response.generator or None,
            "milliseconds": response.milliseconds,
            "hits": hits,
        }

    def lines(self) -> list[str]:
        """All of it as plain text, WIDTH columns wide at most, without control signs and secrets."""
        _ = translator(self.language)
        made = _wrapped(self._head(_))
        for question in self.questions:
            made += ["", *_wrapped(question.text), *_wrapped(self._shared(question, _), "  ")]
            for response in self.of(question):
                made += ["", *self._system(response, _)]
        notes = self.notes(_)
        return made + ([""] if notes else []) + [line for note in notes for line in _wrapped(note)]

    def _head(self, _: Translator) -> str:
        chunks, k = _.integer(self.n_chunks), _.integer(self.k)
        return _("{dataset}, {chunks} passages; {k} are retrieved", dataset=self.dataset, chunks=chunks, k=k)

    def _system(self, response: Response, _: Translator) -> Iterator[str]:
        yield from _wrapped(
            response.system + (f" ({response.generator})" if response.generator not in ("", response.system) else "")
        )
        if response.reason:
            yield from _wrapped(_("no ranking: {why}", why=reason_in(response.reason, _)), "  ")
            return
        for rank, hit in enumerate(response.hits, 1):
            marks = ", ".join(self._marks(response.question, hit, _))
            about = " · ".join(filter(None, (_.number(hit.similarity), marks, hit.chunk.title or hit.chunk.url or "")))
            yield from _wrapped(about, f"  {rank:>2}  ", cut=1)
            yield from _wrapped(hit.chunk.text or hit.chunk.id, " " * 6, cut=2)
        if not response.hits:
            yield f"  {_('nothing was retrieved')}"
        if response.answer is not None:
            yield from _wrapped(answer_of(response, _), f"  {_('Answer')}: ")
        if times := self._times(response, _):
            yield from _wrapped(" · ".join(f"{name} {ms}" for name, ms in times), "  ")

    def _times(self, response: Response, _: Translator) -> list[tuple[str, str]]:
        names = {"rewrite": _("rewrite"), "embed": _("embed"), "search": _("search"), "rerank": _("rerank"),
                 "call": _("call"), "generate": _("generate"), "total": _("total")}  # fmt: skip
        return [(names[part], milliseconds(ms, _)) for part, ms in response.milliseconds.items()]

    def _marks(self, question: Question, hit: Hit, _: Translator) -> list[str]:
        marks = [_("relevant")] if relevant(question, hit.chunk) else []
        ranked = sum(bool(response.hits) for response in self.of(question))
        number = self.found_by(question)[hit.chunk.passage]
        if ranked < 2:
            return marks
        if number == 1:
            return [_("only here"), *marks]
        if number == ranked:
            return [_("in all"), *marks]
        return [_("in {part} of {whole}", part=_.integer(number), whole=_.integer(ranked)), *marks]

    def _shared(self, question: Question, _: Translator) -> str:
        """How much of what was retrieved stands in all rankings, and how much in one alone; empty for one ranking."""
        ranked = sum(bool(response.hits) for response in self.of(question))
        counts = self.found_by(question)
        if ranked < 2:
            return ""
        in_all, alone = (sum(number == wanted for number in counts.values()) for wanted in (ranked, 1))
        return _(
            "Of {n} retrieved passages {all} are in all rankings, and {alone} in one alone.",
            n=_.integer(len(counts)), all=_.integer(in_all), alone=_.integer(alone),
        )  # fmt: skip

    def notes(self, _: Translator) -> list[str]:
        """What must be read with it: what failed, counted by reason, and what only stands in for a model."""
        failures = [f"{response.system}: {response.failure}" for response in self.responses if response.failure]
        return [
            note
            for note in (verdict_tables.told(verdict_tables.frequent(failures), _), caveat(self.stand_ins, _))
            if note
        ]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        """The first lines of it; `print` has all."""
        lines = str(self).split("\n")
        return "\n".join(lines if len(lines) <= LINES else [*lines[: LINES - 1], "…"])

    def _repr_html_(self) -> str:
        _ = translator(self.language)
        asked = [(question.text, self._shared(question, _), self._sides(question, _)) for question in self.questions]
        return str(template("responses.html.j2").render(_=_, head=self._head(_), asked=asked, notes=self.notes(_)))

    def _sides(self, question: Question, _: Translator) -> list[_Side]:
        return [
            _Side(
                system=response.system,
                generator=response.generator if response.generator != response.system else "",
                reason=response.reason,
                answer=None if response.answer is None else answer_of(response, _),
                times=self._times(response, _),
                passages=[self._passage(response.question, hit, _) for hit in response.hits],
            )
            for response in self.of(question)
        ]

    def _passage(self, question: Question, hit: Hit, _: Translator) -> dict[str, Any]:
        text, url = hit.chunk.text or hit.chunk.id, hit.chunk.url or ""
        return {
            "text": text,
            "short": excerpt(shown(text), SHORT),
            "page": hit.chunk.title or url or hit.chunk.id,
            "href": url if url.startswith(("https://", "http://")) else "",
            "similarity": _.number(hit.similarity),
            "marks": self._marks(question, hit, _),
            "alone": self.found_by(question)[hit.chunk.passage] == 1,
        }


@dataclass(frozen=True)
class _Side:
    """One system's column, in words."""

    system: str
    generator: str
    reason: str
    answer: str | None
    times: Sequence[tuple[str, str]]
    passages: Sequence[dict[str, Any]] = field(default_factory=list)


def relevant(question: Question, chunk: Chunk) -> bool | None:
    """Whether a chunk's passage is labelled as relevant, or its page; None for a question that nobody has labelled."""
    if question.relevant:
        return chunk.passage in question.relevant
    return chunk.url in question.relevant_urls if question.relevant_urls else None


def answer_of(response: Response, _: Translator) -> str:
    """The answer, or why there is none."""
    assert response.answer is not None, "it was asked for one"
    if response.answer.answer is None:
        return _("no answer: {why}", why=reason_in(response.answer.reason, _))
    return response.answer.answer or _("(empty)")


def milliseconds(ms: float, _: Translator) -> str:
    """`0.4 ms`, `212 ms`, `3.2 s`."""
    if not math.isfinite(ms):
        return DASH
    number, unit = (ms / 1000, _("s")) if ms >= 1000 else (ms, _("ms"))
    return f"{_.number(number, 0 if number >= 100 else 1)}\N{NO-BREAK SPACE}{unit}"


def _wrapped(text: str, before: str = "", cut: int | None = None) -> list[str]:
    """The text in lines of WIDTH, the first after `before`, the others below it; cut: so many lines at most."""
    if not text.strip():
        return []
    inside = " " * min(len(before), 6)
    return textwrap.wrap(
        " ".join(shown(text).split()), WIDTH, initial_indent=before, subsequent_indent=inside, max_lines=cut,
        placeholder=" …", break_on_hyphens=False,
    )  # fmt: skip

"""The passages that systems found, put together, and what people or a judge said of each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from ragbench.old.core.types import Judge
from ragbench.old.core.waves import gather
from ragbench.old.data.brought import named_by
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import ChunkRecord, Closed, QuestionRecord
from ragbench.old.extras.testsets import candidates
from ragbench.old.judge.relevance import HIGHEST, RELEVANCE

if TYPE_CHECKING:
    from ragbench.old.core.measurement import Measurement


NOTEBOOK, WHOLE = "tier1_retrieval", "tier3_end_to_end"


def retrieval_of(run_name: str, label: str) -> Measurement:
    """What a kept run's Tier 1, else its Tier 3, retrieved on a data set. Raises DatasetError for a run that has
    neither, or of another set."""
    from ragbench.old.report.keeping import kept
    from ragbench.old.report.pages.notebook_pages import Measurements

    measured = Measurements(kept.pages_of(run_name))
    there = next((page for page in (NOTEBOOK, WHOLE) if page in measured.names()), None)
    if there is None:
        raise DatasetError(
            f"--run {run_name}: it has neither Tier 1 nor Tier 3: `ragbench run {NOTEBOOK} -d {label}`, or {WHOLE}"
        )
    if (found := measured[there].facts.get("dataset")) != label:
        raise DatasetError(f"--run {run_name}: it is of {found}, not of {label}")
    return measured[there]


def seen(made: Measurement, passages: Mapping[str, str]) -> tuple[Measurement, list[ChunkRecord]]:
    """The passages that a run's systems returned and the data set does not have, and the run as if it had them.

    passages: texts of the data set's by their ids; one of the same text is that passage. Another one keeps the id that
    it came with, where this is no text and stands for one alone; else it is called by its text's hash.
    """
    rows = made.retrieved[["chunk", "text", "url"]].drop_duplicates()
    by_text = {text: name for name, text in passages.items()}
    texts: dict[str, set[str]] = defaultdict(set)
    for row in rows.itertuples():
        texts[str(row.chunk)].add(str(row.text or ""))
    names: dict[tuple[str, str], str] = {}
    new: dict[str, ChunkRecord] = {}
    for row in rows.itertuples():
        name, text = str(row.chunk), str(row.text or "")
        if name in passages or not text.strip():
            continue
        known = by_text.get(text)
        is_own = len(texts[name]) == 1 and name != text and len(name) <= MOST_LETTERS and name.isprintable()
        own = name if is_own else named_by("p", text)
        names[name, text] = known or own
        if known is None:
            new[own] = ChunkRecord(id=own, text=text, url=row.url if isinstance(row.url, str) else None)
    pairs = zip(made.retrieved["chunk"], made.retrieved["text"], strict=True)
    renamed = made.retrieved.assign(chunk=[names.get((str(name), str(text or "")), name) for name, text in pairs])
    return replace(made, retrieved=renamed), list(new.values())


MOST_LETTERS = 300
"""Of an id, as records have them."""


class Judgement(Closed):
    """What somebody said of a passage for a question. by: a judge's or an annotator's name."""

    question: str
    passage: str
    grade: int = Field(ge=0, le=HIGHEST)
    by: str
    people: bool = False


Pair = tuple[str, str]
"""A question and a passage."""


@dataclass
class Pool:
    """found_by: question → passage → the systems that have it among their first `depth`. strange: passages and
    questions of the run that the data set does not have."""

    depth: int
    found_by: dict[str, dict[str, tuple[str, ...]]]
    strange: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls,
        made: Measurement,
        depth: int,
        questions: Iterable[QuestionRecord],
        passages: Iterable[str],
        systems: Sequence[str] = (),
    ) -> Pool:
        """What a measurement's systems retrieved. Raises DatasetError for more depth than was retrieved, for rankings
        of pages, and for systems that it has not."""
        facts, rows = made.facts, made.retrieved
        if facts.get("unit", "chunk") != "chunk":
            raise DatasetError("the run ranks web pages: a pool is of passages, `ragbench run -p unit=chunk`")
        deepest = int(facts.get("k") or 0)
        if not 1 <= depth <= deepest:
            raise DatasetError(
                f"--depth {depth}: the run retrieved {deepest} passages for each question; from 1 to {deepest}, or "
                f"`ragbench run tier1_retrieval -p k={depth}` first"
            )
        there = [str(name) for name in dict.fromkeys(rows["system"])]
        if unknown := [name for name in systems if name not in there]:
            raise DatasetError(f"--systems {unknown[0]!r}: the run has {', '.join(there)}")
        known, base = {question.id for question in questions}, set(passages)
        found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        strange: Counter[str] = Counter()
        for row in rows[rows["rank"] <= depth].itertuples():
            system, question, passage = str(row.system), str(row.sample), str(row.chunk)
            if systems and system not in systems:
                continue
            if question not in known or passage not in base:
                strange["question" if question not in known else "passage"] += 1
                continue
            found[question][passage].append(system)
        return cls(depth, {q: {p: tuple(names) for p, names in own.items()} for q, own in found.items()}, strange)

    @property
    def pairs(self) -> list[Pair]:
        """All of it, in an order that hangs on names alone."""
        return sorted((question, passage) for question, own in self.found_by.items() for passage in own)

    def sampled(self, share: float) -> set[Pair]:
        """The pairs that a sample of the pool judges: chosen by a hash of their names, so that a larger one holds a
        smaller one."""
        return {
            pair for pair in self.pairs if int(sha256("\0".join(pair).encode()).hexdigest()[:8], 16) < share * 16**8
        }

    def by_system(self, judged: Mapping[Pair, float]) -> list[tuple[str, int, int, int, int]]:
        """(system, pooled, judged, found by it alone, of these relevant) of each."""
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for question, own in self.found_by.items():
            for passage, systems in own.items():
                grade = judged.get((question, passage))
                for system in systems:
                    alone = len(systems) == 1
                    hidden = alone and (grade or 0) > 0
                    for place, more in enumerate((True, grade is not None, alone, hidden)):
                        counts[system][place] += more
        return [(system, *numbers) for system, numbers in sorted(counts.items())]  # type: ignore[misc]


def known_grades(questions: Iterable[QuestionRecord], judgements: Iterable[Judgement]) -> dict[Pair, float]:
    """What is known of pairs: of the data set's labels, and of judgements, people's before a judge's."""
    grades: dict[Pair, float] = {}
    for judgement in sorted(judgements, key=lambda judgement: judgement.people):
        grades[judgement.question, judgement.passage] = judgement.grade
    for question in questions:
        grades |= {(question.id, passage): 0.0 for passage in question.irrelevant}
        grades |= {(question.id, passage): grade for passage, grade in question.relevant.items()}
    return grades


def path_of(place: Path, language: str) -> Path:
    """Where the judgements of a data set's folder are kept."""
    return place / f"judgements.{language}.jsonl"


def read(place: Path, language: str) -> list[Judgement]:
    """Those that are kept; none where there is no file. Raises DatasetError, naming file and line."""
    return candidates.records_of(path_of(place, language), Judgement)


def keep(place: Path, language: str, judgements: Iterable[Judgement]) -> None:
    """Write these among those that are kept already; one of the same pair by the same name takes its place."""
    candidates.keep_records(path_of(place, language), Judgement, judgements, lambda j: (j.question, j.passage, j.by))


def labelled(
    questions: Sequence[QuestionRecord],
    judgements: Iterable[Judgement],
    left_out: Iterable[Pair] = (),
    *,
    level: int = 2,
) -> list[QuestionRecord]:
    """The questions that judgements change, with them; the data set's own labels stay as they are.

    A grade of `level` on is relevant: with the one gain that the set's labels have, or, where these are graded, or
    there are none, with the grade itself; below it is irrelevant. left_out: pairs of the pool that a sample leaves out.
    """
    gains = {gain for question in questions for gain in question.relevant.values()}
    only = next(iter(gains)) if len(gains) == 1 else None
    said: dict[str, dict[str, Judgement]] = defaultdict(dict)
    for judgement in sorted(judgements, key=lambda judgement: judgement.people):
        said[judgement.question][judgement.passage] = judgement
    pooled: dict[str, set[str]] = defaultdict(set)
    for question_id, passage in left_out:
        pooled[question_id].add(passage)
    changed = []
    for question in questions:
        own = {p: j for p, j in said.get(question.id, {}).items() if p not in question.relevant}
        relevant = {p: float(only or j.grade) for p, j in own.items() if j.grade >= level}
        irrelevant = {*question.irrelevant, *(p for p, j in own.items() if j.grade < level)} - relevant.keys()
        rest = ({*question.pooled} | pooled.get(question.id, set())) - {*question.relevant, *relevant, *irrelevant}
        judges = sorted({j.by for j in own.values() if not j.people})
        made = question.model_copy(update={
            "relevant": {**relevant, **question.relevant}, "irrelevant": tuple(sorted(irrelevant)),
            "pooled": tuple(sorted(rest)), "graded_by": ", ".join(judges) or question.graded_by,
        })  # fmt: skip
        if made != question:
            changed.append(made)
    return changed


async def graded(
    judge: Judge,
    pairs: Sequence[Pair],
    questions: Mapping[str, str],
    passages: Mapping[str, str],
    language: str,
    advance: Callable[[], object] = lambda: None,
) -> tuple[list[Judgement], dict[Pair, str]]:
    """The judge's grade of every pair, and of those without one why. questions, passages: texts by their names."""
    judgements: list[Judgement] = []
    lost: dict[Pair, str] = {}

    async def grade(pair: Pair) -> None:
        question, passage = pair
        texts = {"question": questions[question], "passage": passages[passage]}
        reply = await judge.ask(RELEVANCE, texts, language=language)
        if reply.value is None:
            lost[pair] = reply.reason
        else:
            judgements.append(Judgement(question=question, passage=passage, grade=reply.value.grade, by=judge.name))
        advance()

    await gather([grade(pair) for pair in pairs])
    return sorted(judgements, key=lambda judgement: (judgement.question, judgement.passage)), lost

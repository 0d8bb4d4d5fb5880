"""Lists of nuggets: made of passages by a judge, edited by people, kept, and tried on what people gave."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from ragbench.old import stats
from ragbench.old.core.types import Array, Chunk, Estimate, Judge, LexicalReader, Prompt, Sample, Status
from ragbench.old.core.waves import gather
from ragbench.old.data.cells import decimal
from ragbench.old.data.files import DatasetError, cut
from ragbench.old.data.rows import read_rows
from ragbench.old.extras.standards.grades import PART, WINDOW, graded
from ragbench.old.extras.standards.nuggets import OKAY, VITAL
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import EndedError, Inquiry
from ragbench.old.stats.coefficients import order_tau, tau_ends

MOST, KEPT = 30, 20
"""Nuggets while passages are read, and in the end: AutoNuggetizer's limits."""
LEAST = 0.2
"""Offline, the support of the question's words in a sentence from which it is a nugget."""
COLUMNS = ("id", "question", "nugget", "importance", "made_by")


class Nuggets(BaseModel):
    """The list as it stands after these passages."""

    nuggets: list[str] = Field(description="the whole list, the most important first; empty if nothing answers")


class Importance(BaseModel):
    """The importance of one nugget."""

    number: int = Field(ge=1, description="the number of the nugget")
    reason: str = Field(description="a few words")
    grade: Literal["vital", "okay"] = Field(description='"vital" or "okay"')


class Importances(BaseModel):
    """One for each nugget."""

    grades: list[Importance]


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Nuggets:
    """The sentences that share most with the question, of all passages so far."""
    parts = [*texts["nuggets"], *(part for text in texts["passages"] for part in reader.sentences(text))]
    shares = {part: reader.support(texts["question"], [part]) for part in parts}
    return Nuggets(
        nuggets=sorted((part for part in shares if shares[part] >= LEAST), key=shares.__getitem__, reverse=True)
    )


def _weighed(reader: LexicalReader, texts: Mapping[str, Any]) -> Importances:
    vital = [reader.support(texts["question"], [nugget]) >= PART for nugget in texts["nuggets"]]
    return Importances(
        grades=[Importance(number=n, reason="", grade="vital" if one else "okay") for n, one in enumerate(vital, 1)]
    )


NUGGETS = Prompt(
    name="nuggets",
    version=1,
    shape=Nuggets,
    offline=_by_words,
    max_tokens=2000,
    texts={
        "en": """Keep a list of nuggets: short statements of fact, of 1 to 12 words, that together are what an answer to
the question should say.

Question:
{question}

The list so far (may be empty):
{nuggets}

Passages:
{passages}

Go on with the list: add what the passages say that belongs to an answer, join what says the same, and drop what turns
out not to matter. Each nugget is one fact, is understood alone, and stands in the passages or in the list so far; take
nothing from what you know. At most 30, the most important first. If nothing in the passages answers the question,
return the list as it is.""",
        "ru": """Ведите список ключевых фактов — коротких сообщений из 1–12 слов, которые вместе составляют то, что
должен сказать ответ на вопрос.

Вопрос:
{question}

Список на данный момент (может быть пустым):
{nuggets}

Отрывки:
{passages}

Продолжите список: добавьте из отрывков то, что относится к ответу, объедините одинаковое и уберите то, что оказалось
неважным. Каждый пункт — один факт, понятен сам по себе и содержится в отрывках или в прежнем списке; от себя ничего не
добавляйте. Не больше 30, важнейшие первыми. Если в отрывках нет ничего для ответа, верните список без изменений.""",
    },
)
IMPORTANCE = Prompt(
    name="nugget_importance",
    version=1,
    shape=Importances,
    offline=_weighed,
    texts={
        "en": """Say of each numbered nugget how much it matters in an answer to the question.

Question:
{question}

Nuggets:
{nuggets}

- "vital": a good answer has to say it.
- "okay": worth knowing, and not needed.

Give exactly one for every nugget, with its number and a few words why.""",
        "ru": """О каждом пронумерованном ключевом факте скажите, насколько он важен в ответе на вопрос.

Вопрос:
{question}

Ключевые факты:
{nuggets}

- "vital" (обязательный): хороший ответ должен это сказать.
- "okay" (необязательный): это полезно знать, но необходимости нет.

Дайте ровно одну оценку каждому факту: его номер, несколько слов о причине и оценку латиницей, как указано выше.""",
    },
)


@dataclass(frozen=True)
class Topic:
    """A question with the passages that its list is made of."""

    id: str
    question: str
    passages: tuple[Chunk, ...]
    language: str | None = None


@dataclass(frozen=True)
class Made:
    """The list of one question, and why there is none where there is none."""

    topic: Topic
    nuggets: Mapping[str, str]
    why: str = ""


def topics_of(samples: Iterable[Sample]) -> list[Topic]:
    """The questions of a table of answers, each once: with the passages that are labelled, or where none are, with all
    that any answer had."""
    rows: dict[str, list[Sample]] = {}
    for sample in samples:
        rows.setdefault(sample.id, []).append(sample)
    found = []
    for name, own in rows.items():
        labelled = [chunk for sample in own for chunk in sample.reference_contexts or ()]
        chunks = labelled or [chunk for sample in own for chunk in sample.contexts or ()]
        passages = {chunk.id: chunk for chunk in chunks if chunk.text.strip()}
        question = next((sample.user_input for sample in own if sample.user_input), "")
        found.append(Topic(name, question, tuple(passages.values()), own[0].language))
    return found


async def made(judge: Judge, topics: Sequence[Topic]) -> list[Made]:
    """A list for each question, WINDOW passages a question to the judge, then its importances."""
    return await gather([_made(judge, topic) for topic in topics])


async def _made(judge: Judge, topic: Topic) -> Made:
    sample = Sample(topic.id, topic.question, contexts=topic.passages, language=topic.language)
    try:
        inquiry = Inquiry(sample, judge, "user_input", "contexts")
        found: list[str] = []
        for start in range(0, len(topic.passages), WINDOW):
            texts = [chunk.text for chunk in topic.passages[start : start + WINDOW]]
            reply = await inquiry.ask(NUGGETS, {"question": topic.question, "passages": texts, "nuggets": found})
            found = list(dict.fromkeys(filter(None, (" ".join(one.split()) for one in reply.nuggets))))[:MOST]
        if not found:
            raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the passages hold no nugget"))
        grades = await graded(inquiry, IMPORTANCE, "nuggets", found, {"question": topic.question})
    except EndedError as end:
        return Made(topic, {}, str(end.score.reason))
    ranked = sorted(zip(found, grades, strict=True), key=lambda pair: pair[1].grade != VITAL)
    return Made(topic, {text: one.grade for text, one in ranked[:KEPT]})


def rows_of(lists: Iterable[Made], judge: str) -> list[dict[str, str]]:
    """A row a nugget, to be edited: rows may be changed, added and taken out."""
    return [
        dict(zip(COLUMNS, (one.topic.id, one.topic.question, text, importance, judge), strict=True))
        for one in lists
        for text, importance in one.nuggets.items()
    ]


def read(path: Path) -> dict[str, dict[str, str]]:
    """The lists of a file with a row a nugget, by the question's id. Raises DatasetError, naming the row."""
    found: dict[str, dict[str, str]] = {}
    for place, row in read_rows(path):
        for name in ("id", "nugget"):
            if not str(row.get(name) or "").strip():
                raise DatasetError(f"{place}: {name} is missing; columns are {', '.join(COLUMNS)}")
        importance = str(row.get("importance") or VITAL).strip().casefold()
        if importance not in (VITAL, OKAY):
            raise DatasetError(f"{place}: importance = {cut(importance)}: {VITAL} or {OKAY} is expected")
        own, text = found.setdefault(str(row["id"]).strip(), {}), str(row["nugget"]).strip()
        if own.setdefault(text, importance) != importance:
            raise DatasetError(f"{place}: {cut(text)} stands there as {own[text]} and as {importance}")
    if not found:
        raise DatasetError(f"{path.name}: holds no nuggets; a row each with {', '.join(COLUMNS[:4])} is expected")
    return found


def joined(path: Path, lists: Mapping[str, Mapping[str, str]]) -> tuple[list[str], int]:
    """The rows of a table of answers as lines of JSON, with their lists; and how many rows have one. A row without an
    id has the number of its place."""
    lines, there = [], 0
    for number, (_place, row) in enumerate(read_rows(path, keep_empty=True), 1):
        own = lists.get(str(row.get("id", number)))
        there += own is not None
        nuggets = [] if own is None else [{"text": text, "importance": grade} for text, grade in own.items()]
        lines.append(json.dumps({**row, **({"nuggets": nuggets} if nuggets else {})}, ensure_ascii=False, default=str))
    return lines, there


Values = Mapping[tuple[str, str], float]
"""By run (system) and topic (question)."""


def by_run_and_topic(
    judge: Values, people: Values, *, level: float = 0.95, resamples: int = 2_000, seed: int = 0
) -> dict[str, Estimate]:
    """Kendall's τ of a judge's and people's values of the same answers (Pradeep et al. 2025, arXiv:2504.15068).

    run: of the runs' means over topics, with the interval of topics drawn anew; of 2 runs it is 1 or −1.
    topic: mean over topics of τ among the runs' answers to one; topics in which one side ties them all are unmeasured.
    answer: over all answers, those to one topic drawn together. A judge may order runs well and answers badly, and the
    other way round. Answers that only one side has are left out.
    """
    import pandas as pd

    frame = pd.DataFrame({"judge": pd.Series(judge), "people": pd.Series(people)}).dropna().sort_index()
    if frame.empty:
        raise DatasetError("no answer has a value on both sides: systems and ids have to be written alike")
    tables = [frame[side].unstack().to_numpy() for side in ("judge", "people")]
    drawn: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    within = [order_tau(ours, theirs) for ours, theirs in zip(tables[0].T, tables[1].T, strict=True)]
    topics = [topic for _, topic in frame.index]
    whole = stats.agreement(
        frame["people"].to_numpy(), frame["judge"].to_numpy(), scale="interval", clusters=topics, **drawn
    )
    return {
        "run": _of_runs(tables[0], tables[1], level, resamples, seed),
        "topic": stats.estimate(within, bounds=(-1.0, 1.0), **drawn),
        "answer": whole["kendall"],
    }


def judged_values(path: Path, metric: str = "") -> dict[tuple[str, str], float]:
    """The values of a table with columns system, id (or sample) and value; NaN where a cell is empty.

    metric: of a table with such a column, that alone. Raises DatasetError, naming the row.
    """
    found: dict[tuple[str, str], float] = {}
    for where, row in read_rows(path, keep_empty=True):
        if metric and row.get("metric") != metric:
            continue
        name, value = row.get("id", row.get("sample")), row.get("value")
        if name is None or "value" not in row:
            raise DatasetError(f"{where}: columns system, id and value are expected")
        try:
            number = math.nan if value in (None, "") else decimal(str(value))
        except ValueError:
            raise DatasetError(f"{where}: value = {cut(value)}: a number is expected") from None
        place = (str(row.get("system") or ""), str(name))
        if place in found:
            raise DatasetError(f"{where}: {cut(name)} of {cut(row.get('system'))} stands there twice; say --metric")
        found[place] = number
    if not found:
        raise DatasetError(f"{path.name}: holds no values{f' of {metric}' if metric else ''}")
    return found


def _of_runs(judge: Array, people: Array, level: float, resamples: int, seed: int) -> Estimate:
    """Topics are drawn with replacement, since runs are given and topics are the sample."""
    value = order_tau(_means(judge), _means(people))
    draws = np.random.default_rng(seed).integers(0, judge.shape[1], (resamples, judge.shape[1]))
    low, high = tau_ends(((_means(judge[:, own]), _means(people[:, own])) for own in draws), level)
    return Estimate(value, low, high, level, "percentile", judge.shape[0], seed=seed)


def _means(table: Array) -> Array:
    return np.asarray(np.ma.masked_invalid(table).mean(axis=1).filled(np.nan))

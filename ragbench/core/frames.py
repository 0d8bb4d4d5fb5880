"""The frames that carry all data: their columns, types and meanings, and one check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pandas.api import types

from ragbench.core.errors import BenchError


@dataclass(frozen=True)
class Column:
    """One declared column.

    type: "text", "number", "integer", "truth" or "any"; only a number may be missing, as NaN.
    """

    name: str
    type: str
    meaning: str


@dataclass(frozen=True)
class Frame:
    """A declared frame. key: the columns that no two rows share; empty: none."""

    name: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """The names of its columns, in order."""
        return [column.name for column in self.columns]

    def empty(self) -> pd.DataFrame:
        """A frame without rows, whose columns have the declared types."""
        series = {column.name: pd.Series(dtype=EMPTY_TYPES[column.type]) for column in self.columns}
        return pd.DataFrame(series)


EMPTY_TYPES: dict[str, Any] = {
    "text": "str",
    "number": float,
    "integer": int,
    "truth": bool,
    "any": object,
}
HAS_TYPE = {
    "text": types.is_string_dtype,
    "number": types.is_float_dtype,
    "integer": types.is_integer_dtype,
    "truth": types.is_bool_dtype,
    "any": lambda series: True,
}

SYSTEM = Column("system", "text", "the system under test, by its name")
QUESTION = Column("question_id", "text", "the question that was asked")
PASSAGE = Column("passage_id", "text", "the passage")
UNIT = Column("unit", "text", "what was drawn independently: a question, its cluster, a dialogue")
METRIC = Column("metric", "text", "label of the metric with its cut-off, such as ndcg@10")
STATUS = Column("status", "text", "ok, or why there is no value: ragbench.core.errors.STATUSES")
REASON = Column("reason", "text", "a sentence of why there is no value; empty where there is one")
LOW = Column("low", "number", "lower end of the interval; NaN where it has none")
HIGH = Column("high", "number", "upper end of the interval; NaN where it has none")

PASSAGES = Frame(
    "passages",
    ("passage_id",),
    (
        PASSAGE,
        Column("text", "text", "what it says"),
        Column("url", "text", "the page that it is from; empty where nobody said"),
        Column("title", "text", "of the page; may be empty"),
        Column("section", "text", "heading above the passage; may be empty"),
    ),
)
QUESTIONS = Frame(
    "questions",
    ("question_id",),
    (
        QUESTION,
        Column("text", "text", "the question as it was asked"),
        UNIT,
        Column("reference", "text", "the right answer; empty where nobody wrote one"),
        Column("references", "any", "tuple of all right answers; empty where there is none"),
        Column("answerable", "truth", "whether the passages hold an answer"),
        Column("kind", "text", "how it is worded: well_formed, colloquial, misspelt; may be empty"),
        Column("language", "text", "en, ru or another code; may be empty"),
        Column("source", "text", "where the question is from; may be empty"),
    ),
)
LABELS = Frame(
    "labels",
    ("question_id", "passage_id"),
    (
        QUESTION,
        PASSAGE,
        Column("grade", "number", "how relevant; above 0 is relevant, 0 and below is judged not"),
    ),
)
RETRIEVED = Frame(
    "retrieved",
    ("system", "question_id", "rank"),
    (
        SYSTEM,
        QUESTION,
        Column("rank", "integer", "place in the ranking, from 1"),
        PASSAGE,
        Column("similarity", "number", "the system's own score; NaN where it gave none"),
        Column("gain", "number", "grade of the relevance label; 0 not relevant; NaN not judged"),
    ),
)
ASKED = Frame(
    "asked",
    ("system", "question_id", "repeat"),
    (
        SYSTEM,
        QUESTION,
        Column("repeat", "integer", "0 the first time a question was asked, 1 the second"),
        Column("latency_ms", "number", "time until the system replied; NaN where it was not taken"),
        Column("error", "text", "what went wrong instead of a reply; empty where nothing did"),
    ),
)
ANSWERS = Frame(
    "answers",
    ("system", "question_id", "repeat"),
    (
        SYSTEM,
        QUESTION,
        Column("repeat", "integer", "0 the first time a question was asked, 1 the second"),
        Column("answer", "text", "what the system answered; empty where nothing"),
        Column("contexts", "any", "tuple of the texts that it answered from"),
        Column("context_ids", "any", "tuple of their ids; empty texts where they have none"),
        Column("latency_ms", "number", "time until the system replied; NaN where it was not taken"),
        Column("error", "text", "what went wrong instead of an answer; empty where nothing did"),
    ),
)
SCORES = Frame(
    "scores",
    ("system", "metric", "question_id"),
    (
        SYSTEM,
        METRIC,
        QUESTION,
        UNIT,
        Column("value", "number", "the score; NaN where it could not be measured"),
        STATUS,
        REASON,
        Column("explanation", "text", "how the value came about; empty where a formula says it"),
    ),
)
JUDGEMENTS = Frame(
    "judgements",
    ("system", "metric", "question_id", "judge"),
    (
        SYSTEM,
        METRIC,
        QUESTION,
        Column("judge", "text", "one of several judges, by its name"),
        Column("value", "number", "its score; NaN where it gave none"),
        STATUS,
        REASON,
    ),
)
VERDICTS = Frame(
    "verdicts",
    (),
    (
        SYSTEM,
        METRIC,
        QUESTION,
        Column("judge", "text", "who said it"),
        Column("item", "text", "the claim, sentence, passage or entity that was judged"),
        Column("verdict", "text", "what the judge said of it"),
        Column("reason", "text", "the judge's reason; may be empty"),
        Column("passages", "any", "numbers, from 1, of the contexts that decide it; may be empty"),
    ),
)
FAILURES = Frame(
    "failures",
    ("system", "question_id"),
    (SYSTEM, QUESTION, UNIT, Column("failure", "text", "the first part that failed")),
)
ESTIMATES = Frame(
    "estimates",
    ("system", "metric"),
    (
        SYSTEM,
        METRIC,
        Column("value", "number", "the estimate, mostly a mean over the measured questions"),
        LOW,
        HIGH,
        Column("level", "number", "confidence level of the interval"),
        Column("method", "text", "how the interval was computed: bca, wilson, student, … or none"),
        Column("n", "integer", "measured questions, or what else one value stands for"),
        Column("n_unmeasured", "integer", "of these, how many have no value"),
        Column("n_units", "integer", "units with a measured value"),
        Column("seed", "integer", "of the random draws"),
    ),
)
COMPARISONS = Frame(
    "comparisons",
    ("metric", "challenger"),
    (
        METRIC,
        Column("challenger", "text", "the system that is compared with the baseline"),
        Column("baseline", "text", "the system that it is compared with"),
        Column("family", "text", "what is corrected together: primary, secondary or slices"),
        Column("difference", "number", "mean of challenger minus baseline over complete pairs"),
        Column("low", "number", "lower end of the interval that holds for the whole family"),
        Column("high", "number", "upper end of the interval that holds for the whole family"),
        Column("p", "number", "p value of this comparison alone"),
        Column("p_adjusted", "number", "p value corrected for the family"),
        Column("detectable", "number", "difference that four of five such studies would show"),
        Column("word", "text", "the verdict: one of ragbench.stats.WORDS"),
        Column("single_low", "number", "lower end of the interval of this difference alone"),
        Column("single_high", "number", "upper end of the interval of this difference alone"),
        Column("n", "integer", "questions that both measured"),
        Column("n_unmeasured", "integer", "questions that one or both lack"),
        Column("n_units", "integer", "units of the questions that both measured"),
    ),
)
# What a data set may have beside passages, questions and labels; its labels have one more column.
GROUP = Column("group", "integer", "of the passages of one group, any will do")
GROUPED_LABELS = Frame(LABELS.name, LABELS.key, (*LABELS.columns, GROUP))
ASKED_TEXT = Column("question", "text", "what the user asked; may be empty")
TEXTS = Column("contexts", "any", "tuple of the texts that were shown to the system")
IDS = Column("context_ids", "any", "tuple of their ids; empty texts where they have none")
DIALOGUES = Frame(
    "dialogues",
    ("dialogue_id", "turn"),
    (
        Column("dialogue_id", "text", "the dialogue"),
        Column("turn", "integer", "place of the question in it, from 1"),
        ASKED_TEXT,
        Column("answer", "text", "the expected answer; empty where nobody wrote one"),
        Column("relevant", "any", "passage id → grade"),
    ),
)
DECISIONS = Frame(
    "decisions",
    ("decision_id",),
    (
        Column("decision_id", "text", "the decision"),
        ASKED_TEXT,
        Column("answer", "text", "what the system answered"),
        TEXTS,
        IDS,
        Column("show", "truth", "whether people would show the answer"),
        Column("rationale", "text", "why; may be empty"),
    ),
)
HISTORY = Frame(
    "history",
    ("history_id",),
    (
        Column("history_id", "text", "the entry of the log"),
        ASKED_TEXT,
        Column("answer", "text", "what was answered; may be empty"),
        Column("url", "text", "the page it was answered from; may be empty"),
        Column("score", "number", "the user's rating; NaN where there is none"),
        Column("user", "text", "who asked; may be empty"),
        Column("asked_at", "text", "when; may be empty"),
    ),
)
RATINGS = Frame(
    "ratings",
    ("answer_id", "rater"),
    (
        Column("answer_id", "text", "the answer that was rated"),
        QUESTION,
        ASKED_TEXT,
        Column("system", "text", "whose answer it is; may be empty"),
        Column("answer", "text", "what was rated"),
        TEXTS,
        IDS,
        Column("rater", "text", "who rated"),
        Column("value", "number", "the rating; NaN where the rater gave none"),
        Column("rubric", "any", "level → what it stands for, for rubrics_score; None: no rubric"),
    ),
)
EXTRAS = {frame.name: frame for frame in (DIALOGUES, DECISIONS, HISTORY, RATINGS)}


def check(frame: pd.DataFrame, declared: Frame) -> pd.DataFrame:
    """Return the frame with its declared columns first and in order; others are kept.

    Raises BenchError for a missing column, a column of another type, and rows that share a key.
    """
    missing = [name for name in declared.names if name not in frame.columns]
    if missing:
        seen = ", ".join(map(str, frame.columns))
        raise BenchError(f"{declared.name}: no column {', '.join(missing)}; columns seen: {seen}")
    for column in declared.columns:
        values = frame[column.name]
        if len(frame) and not HAS_TYPE[column.type](values):
            raise BenchError(
                f"{declared.name}.{column.name} holds {values.dtype}, it should hold {column.type}"
            )
    key = list(declared.key)
    is_repeated = frame.duplicated(key) if key else pd.Series(dtype=bool)
    if is_repeated.any():
        first = frame.loc[is_repeated, key].iloc[0].to_dict()
        raise BenchError(
            f"{declared.name}: {is_repeated.sum()} rows repeat the {', '.join(key)} of another, "
            f"the first is {first}"
        )
    others = [name for name in frame.columns if name not in declared.names]
    return frame[[*declared.names, *others]]


def frame_of(rows: list[tuple] | pd.DataFrame, declared: Frame) -> pd.DataFrame:
    """Make a checked frame of tuples, in the order of the declared columns, or of a frame.

    There may be no rows.
    """
    if not len(rows):
        return declared.empty()
    frame = pd.DataFrame(rows, columns=declared.names)
    column_types = {column.name: EMPTY_TYPES[column.type] for column in declared.columns}
    return check(frame.astype(column_types), declared)


def stack(parts: Sequence[pd.DataFrame], declared: Frame) -> pd.DataFrame:
    """Put frames below each other, and check what comes of it; there may be none."""
    return check(pd.concat(parts, ignore_index=True), declared) if parts else declared.empty()

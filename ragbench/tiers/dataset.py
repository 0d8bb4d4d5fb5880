"""Data set: what in the data makes the numbers look better or worse?

The texts are looked over as they are; nothing is retrieved and no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ragbench.core.errors import NotEnoughError
from ragbench.core.frames import COMPARISONS, ESTIMATES, SCORES, frame_of
from ragbench.core.language import Language, mark
from ragbench.core.types import Dataset
from ragbench.metrics.doubts import find_doubts, find_duplicates
from ragbench.stats import Statement
from ragbench.tiers.common import Basics, Workbench

DOUBTS = "n_doubts"  # what every question is listed with
# What may be odd, as pages say it: of labelled questions as of `find_doubts`, of all texts below.
KINDS = {
    "label_unknown": mark("a label names a passage that the data set does not have"),
    "question_is_passage": mark("the question is its own labelled passage"),
    "passage_copied": mark("a labelled passage stands in the data set again"),
    "answer_not_in_passage": mark("the labelled passages lack the answer"),
}
COPIES = {
    "question_copied": mark("a question was asked before in the same words"),
    "passage_repeated": mark("a passage was there before in the same words"),
}
LANGUAGES = {
    "question_language": mark("a question is in another language"),
    "passage_language": mark("a passage is in another language"),
}
FEWEST_WORDS = 5  # of a text whose language is told: shorter ones are taken for a wrong one
READ = 300  # characters of a text that are enough to tell it
MOST_TOLD = 2_000  # texts of a table whose language is told
# How sure the model has to be of the language that is expected, and of another one.
EXPECTED, OTHER = 0.5, 0.9
# Latin, which terms of science are read as, and Pidgin, which misspelt English is read as.
NEVER = ("la", "pcm")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LETTERS = re.compile(r"[^\W\d_]{2,}")


class Request(Basics):
    """Which data set is looked over."""


@dataclass(frozen=True)
class Frames:
    """What was looked at and found.

    lengths: how many texts of a table have so many words (table, words, texts). languages: table,
    text_id and language, "" where it cannot be told; of the first 2,000 texts of each table.
    doubts: as of `find_doubts`. duplicates: table, text_id and copy_of. scores: of
    every question how many of its labels are doubtful.
    """

    questions: pd.DataFrame
    passages: pd.DataFrame
    labels: pd.DataFrame
    lengths: pd.DataFrame
    languages: pd.DataFrame
    doubts: pd.DataFrame
    duplicates: pd.DataFrame
    scores: pd.DataFrame


@dataclass(frozen=True)
class DatasetStatement(Statement):
    """counts: how many there are (name, count). findings: how many texts are odd in a way, of how
    many (kind, count, total). sizes: quantiles of the words of every table (table, texts, q05 …).
    """

    counts: pd.DataFrame
    findings: pd.DataFrame
    sizes: pd.DataFrame


def measure(request: Request, bench: Workbench) -> Frames:
    """Look the data set over. Raises NotEnoughError for one without any text."""
    dataset = bench.dataset
    tables = collect_texts(dataset)
    if not tables:
        raise NotEnoughError(f"{dataset.name} has neither passages nor questions")
    doubts = find_doubts(dataset)
    return Frames(
        dataset.questions,
        dataset.passages,
        dataset.labels,
        count_words(tables),
        tell_languages(tables, dataset.language or bench.language.code),
        doubts,
        find_copies(dataset),
        score(dataset, doubts, bench.language),
    )


def collect_texts(dataset: Dataset) -> dict[str, pd.Series]:
    """Return the texts of every table that has any, by id."""
    columns = [
        ("questions", dataset.questions, "question_id", "text"),
        ("reference answers", dataset.questions, "question_id", "reference"),
        ("passages", dataset.passages, "passage_id", "text"),
    ]
    for name, column in (
        ("dialogues", "question"),
        ("history", "question"),
        ("decisions", "answer"),
    ):
        if name in dataset.extras:
            frame = dataset.extras[name]
            columns.append((name, frame, str(frame.columns[0]), column))
    tables = {}
    for table, frame, key, column in columns:
        texts = frame.set_index(key)[column]
        texts = texts[texts.str.strip() != ""]
        if len(texts):
            tables[table] = texts
    return tables


def count_words(tables: dict[str, pd.Series]) -> pd.DataFrame:
    """Return how many texts of each table have so many words."""
    parts = []
    for table, texts in tables.items():
        words, counts = np.unique(texts.str.split().str.len(), return_counts=True)
        parts.append(pd.DataFrame({"table": table, "words": words, "texts": counts}))
    return pd.concat(parts, ignore_index=True)


def tell_languages(tables: dict[str, pd.Series], expected: str) -> pd.DataFrame:
    """Return the language of the first texts of every table, as an ISO 639-1 code."""
    model = language_model()
    parts = []
    for table, texts in tables.items():
        told = texts.iloc[:MOST_TOLD]
        languages = []
        for text in told:
            code, sureness = model.classify(text[:READ])
            is_told = len(LETTERS.findall(text[:READ])) >= FEWEST_WORDS and code not in NEVER
            needed = EXPECTED if code == expected else OTHER
            languages.append(code if is_told and sureness >= needed else "")
        columns = {"table": table, "text_id": told.index, "language": languages}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


@cache
def language_model() -> Any:
    """Load py3langid's model of 97 languages; it takes most of a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def find_copies(dataset: Dataset) -> pd.DataFrame:
    """Return the questions and passages that another has said before: table, text_id, copy_of."""
    asked = dataset.questions.rename(columns={"question_id": "passage_id"})
    parts = []
    for table, frame in (("questions", asked), ("passages", dataset.passages)):
        copies = find_duplicates(frame).rename(columns={"passage_id": "text_id"})
        parts.append(copies.assign(table=table))
    return pd.concat(parts, ignore_index=True)[["table", "text_id", "copy_of"]]


def score(dataset: Dataset, doubts: pd.DataFrame, language: Language) -> pd.DataFrame:
    """Return of every question how many of its labels are doubtful, as SCORES, and why they are."""
    by_question: dict[str, list[str]] = {}
    for question_id, kind in zip(doubts["question_id"], doubts["kind"], strict=True):
        by_question.setdefault(question_id, []).append(language.translate(KINDS[kind]))
    rows = []
    for question_id, unit in dataset.questions[["question_id", "unit"]].to_numpy():
        told = by_question.get(question_id, [])
        why = "; ".join(dict.fromkeys(told))
        rows.append((dataset.name, DOUBTS, question_id, unit, float(len(told)), "ok", "", why))
    return frame_of(rows, SCORES)


def state(request: Request, frames: Frames) -> DatasetStatement:
    """Count what was found. Nothing is estimated: the data are not a sample of themselves."""
    return DatasetStatement(
        ESTIMATES.empty(),
        COMPARISONS.empty(),
        count_all(frames),
        count_findings(frames),
        measure_sizes(frames.lengths),
    )


def count_all(frames: Frames) -> pd.DataFrame:
    """Return how many there are of what a page names."""
    questions = frames.questions
    is_labelled = questions["question_id"].isin(labelled_ids(frames))
    counts = {
        "questions": len(questions),
        "answerable": int(questions["answerable"].sum()),
        "labelled": int(is_labelled.sum()),
        "with a reference answer": int((questions["reference"] != "").sum()),
        "independent groups": questions["unit"].nunique(),
        "passages": len(frames.passages),
        "pages": frames.passages["url"].replace("", np.nan).nunique(),
        "relevance labels": len(frames.labels),
    }
    return pd.DataFrame({"name": list(counts), "count": list(counts.values())})


def labelled_ids(frames: Frames) -> Sequence[str]:
    """Return the questions that have a relevant passage."""
    return frames.labels.loc[frames.labels["grade"] > 0, "question_id"].unique().tolist()


def count_findings(frames: Frames) -> pd.DataFrame:
    """Return how many texts are odd in every way that was looked for, those with none too."""
    n_labelled = len(labelled_ids(frames))
    by_kind = frames.doubts.groupby("kind")["question_id"].nunique()
    rows = [(kind, int(by_kind.get(kind, 0)), n_labelled) for kind in KINDS]
    tables = (("questions", frames.questions), ("passages", frames.passages))
    for kind, (table, texts) in zip(COPIES, tables, strict=True):
        rows.append((kind, int((frames.duplicates["table"] == table).sum()), len(texts)))
    usual = frames.languages["language"].replace("", np.nan).mode()
    for kind, (table, _) in zip(LANGUAGES, tables, strict=True):
        languages = frames.languages.loc[frames.languages["table"] == table, "language"]
        told = languages[languages != ""]
        rows.append((kind, int((~told.isin(usual)).sum()), len(told)))
    return pd.DataFrame(rows, columns=["kind", "count", "total"])


def measure_sizes(lengths: pd.DataFrame) -> pd.DataFrame:
    """Return quantiles of the words of every table."""
    rows = []
    for table, members in lengths.groupby("table", sort=False):
        words = np.repeat(members["words"], members["texts"])
        ends = np.quantile(words, QUANTILES, method="inverted_cdf")
        rows.append((table, len(words), *ends))
    names = [f"q{100 * share:02.0f}" for share in QUANTILES]
    return pd.DataFrame(rows, columns=["table", "texts", *names])

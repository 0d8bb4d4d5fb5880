"""Data set: what in the data makes the numbers look better or worse?

The texts are looked over as they are; nothing is retrieved and no model is asked.
"""

from __future__ import annotations

import re
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
from ragbench.tiers.common import Basics, Workbench, relevant_labels

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
# Of what a data set may have beside its questions the texts that are looked at.
EXTRA_TEXTS = {"dialogues": "question", "history": "question", "decisions": "answer"}
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
LETTERS = re.compile(r"[^\W\d_]{2,}")


class Request(Basics):
    """Which data set is looked over."""


@dataclass(frozen=True)
class Frames:
    """What was looked at and found.

    sizes: how many texts a table has, and quantiles of their words (table, texts, q05 … q95).
    languages: table, text_id and language, "" where it cannot be told; of the first 2,000 texts of
    each table. doubts: as of `ragbench.data.find_doubts`. duplicates: table, text_id and copy_of.
    counts: how many there are of what a page names (name, count). findings: how many texts are odd
    in a way, of how many (kind, count, total). scores: of every question its doubtful labels.
    """

    questions: pd.DataFrame
    passages: pd.DataFrame
    labels: pd.DataFrame
    sizes: pd.DataFrame
    languages: pd.DataFrame
    doubts: pd.DataFrame
    duplicates: pd.DataFrame
    counts: pd.DataFrame
    findings: pd.DataFrame
    scores: pd.DataFrame


def measure(request: Request, bench: Workbench) -> Frames:
    """Look the data set over: nothing is estimated, the data are no sample of themselves.

    Raises NotEnoughError for a data set without any text.
    """
    dataset = bench.dataset
    tables = collect_texts(dataset)
    if not tables:
        raise NotEnoughError(f"{dataset.name} has neither passages nor questions")
    languages = tell_languages(tables, dataset.language)
    doubts, duplicates = find_doubts(dataset), find_copies(dataset)
    relevant = relevant_labels(dataset.labels)["question_id"]
    n_labelled = int(dataset.questions["question_id"].isin(relevant).sum())
    return Frames(
        dataset.questions,
        dataset.passages,
        dataset.labels,
        measure_sizes(tables),
        languages,
        doubts,
        duplicates,
        count_all(dataset, n_labelled),
        count_findings(dataset, doubts, duplicates, languages, n_labelled),
        score(dataset, doubts, bench.language),
    )


def state(request: Request, frames: Frames) -> Statement:
    """State nothing beyond what was counted."""
    return Statement(ESTIMATES.empty(), COMPARISONS.empty())


def collect_texts(dataset: Dataset) -> dict[str, pd.Series]:
    """Return the texts of every table that has any, by id."""
    columns = [
        ("questions", dataset.questions, "text"),
        ("reference answers", dataset.questions, "reference"),
        ("passages", dataset.passages, "text"),
    ]
    for name, column in EXTRA_TEXTS.items():
        if name in dataset.extras:
            columns.append((name, dataset.extras[name], column))
    tables = {}
    for table, frame, column in columns:
        texts = frame.set_index(str(frame.columns[0]))[column]
        texts = texts[texts.str.strip() != ""]
        if len(texts):
            tables[table] = texts
    return tables


def measure_sizes(tables: dict[str, pd.Series]) -> pd.DataFrame:
    """Return how many texts every table has, and quantiles of their words."""
    rows = []
    for table, texts in tables.items():
        words = [len(text.split()) for text in texts]  # one text at a time is small
        ends = np.quantile(words, QUANTILES, method="inverted_cdf")
        rows.append((table, len(words), *ends))
    names = [f"q{100 * share:02.0f}" for share in QUANTILES]
    return pd.DataFrame(rows, columns=["table", "texts", *names])


def tell_languages(tables: dict[str, pd.Series], expected: str) -> pd.DataFrame:
    """Return the language of the first texts of every table, as an ISO 639-1 code."""
    model = language_model()
    rows = []
    for table, texts in tables.items():
        for text_id, text in texts.iloc[:MOST_TOLD].items():
            code, sureness = model.classify(text[:READ])
            is_told = len(LETTERS.findall(text[:READ])) >= FEWEST_WORDS and code not in NEVER
            needed = EXPECTED if code == expected else OTHER
            rows.append((table, text_id, code if is_told and sureness >= needed else ""))
    return pd.DataFrame(rows, columns=["table", "text_id", "language"])


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


def count_all(dataset: Dataset, n_labelled: int) -> pd.DataFrame:
    """Return how many there are of what a page names."""
    questions = dataset.questions
    counts = {
        "questions": len(questions),
        "answerable": int(questions["answerable"].sum()),
        "labelled": n_labelled,
        "with a reference answer": int((questions["reference"] != "").sum()),
        "independent groups": questions["unit"].nunique(),
        "passages": len(dataset.passages),
        "pages": len(set(dataset.passages["url"]) - {""}),
        "relevance labels": len(dataset.labels),
    }
    return pd.DataFrame(counts.items(), columns=["name", "count"])


def count_findings(
    dataset: Dataset,
    doubts: pd.DataFrame,
    duplicates: pd.DataFrame,
    languages: pd.DataFrame,
    n_labelled: int,
) -> pd.DataFrame:
    """Return how many texts are odd in every way that was looked for, those with none too."""
    by_kind = doubts.groupby("kind")["question_id"].nunique()
    rows = [(kind, int(by_kind.get(kind, 0)), n_labelled) for kind in KINDS]
    totals = {"questions": len(dataset.questions), "passages": len(dataset.passages)}
    for kind, (table, total) in zip(COPIES, totals.items(), strict=True):
        rows.append((kind, int((duplicates["table"] == table).sum()), total))
    told = languages[languages["language"] != ""]
    is_usual = told["language"].isin(told["language"].mode())
    for kind, table in zip(LANGUAGES, totals, strict=True):
        is_there = told["table"] == table
        rows.append((kind, int((is_there & ~is_usual).sum()), int(is_there.sum())))
    return pd.DataFrame(rows, columns=["kind", "count", "total"])

"""What makes retrieval look better or worse than it is: copies, and labels that are doubtful."""

from __future__ import annotations

import hashlib
import re

import pandas as pd

from ragbench.core.types import Dataset
from ragbench.metrics.texts import fold

STEM = 5  # letters by which words are compared: endings of Russian and English come behind
LEAST_SHARE = 0.3  # of a reference answer's words that its labelled passages should hold


def plain_words(text: str) -> list[str]:
    """Return the words and digits of a text: case, ё, signs and what nobody sees are left out."""
    return re.findall(r"[^\W_]+", fold(text))


def hash_words(text: str) -> bytes:
    """Return what stands for the words of a text: a hash, since a base's words are many."""
    words = " ".join(plain_words(text))
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest()


def find_duplicates(passages: pd.DataFrame) -> pd.DataFrame:
    """Return `passage_id` and `copy_of`, the first passage with the same words, of every copy."""
    words = passages["text"].map(hash_words)
    copies = passages.assign(copy_of=passages["passage_id"].groupby(words).transform("first"))
    return copies.loc[words.duplicated(), ["passage_id", "copy_of"]].reset_index(drop=True)


def find_doubts(dataset: Dataset) -> pd.DataFrame:
    """Return the doubtful labels: `kind`, `question_id` and `passage_id`.

    label_unknown: the base has no such passage. question_is_passage: a relevant passage is the
    question itself. passage_copied: its text stands in the base again, under another id.
    answer_not_in_passage: the relevant passages together lack a number of the reference answer, or
    most of its words; the first of them is named.
    """
    texts = dict(zip(dataset.passages["passage_id"], dataset.passages["text"], strict=True))
    copied = set(find_duplicates(dataset.passages).to_numpy().ravel())
    relevant = dataset.labels[dataset.labels["grade"] > 0].groupby("question_id")["passage_id"]
    labels = relevant.agg(list).to_dict()
    rows: list[tuple[str, str, str]] = []
    for question in dataset.questions.itertuples():
        held: list[str] = []
        names = labels.get(question.question_id, [])
        for name in names:
            words = plain_words(texts.get(name, ""))
            held += words
            if name not in texts:
                rows.append(("label_unknown", question.question_id, name))
            elif words == plain_words(question.text):
                rows.append(("question_is_passage", question.question_id, name))
            elif name in copied:
                rows.append(("passage_copied", question.question_id, name))
        answers = [plain_words(reference) for reference in question.references]
        if held and answers and not any(_holds(held, answer) for answer in answers):
            rows.append(("answer_not_in_passage", question.question_id, names[0]))
    return pd.DataFrame(rows, columns=["kind", "question_id", "passage_id"])


def _holds(passage: list[str], answer: list[str]) -> bool:
    """Whether a passage's words hold the numbers, and enough of the words, of an answer."""
    numbers = {word for word in answer if word.isdigit()}
    stems = {word[:STEM] for word in answer if len(word) > 3}
    shared = stems & {word[:STEM] for word in passage}
    return numbers <= set(passage) and len(shared) >= LEAST_SHARE * len(stems)

"""A model drafts questions to passages, with answers and quotes; two filters check them.

Without a model, known items: the words that set a passage apart, as somebody would type who knows
it and looks for it. They stand in for questions, and are named so.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field

from ragbench.core.errors import BenchError, NotEnoughError, Unmeasured
from ragbench.core.metric import run_async
from ragbench.core.progress import bar
from ragbench.core.types import Dataset
from ragbench.metrics.judging import Prompt
from ragbench.metrics.relevance_grade import RELEVANT, grade_passage
from ragbench.metrics.texts import FUNCTION_WORDS, plain, stem, words

DRAFTED = "drafted"  # the source of a question that a model wrote
KNOWN_ITEM = "known item"  # the source of one without a model
COPIED = 8  # words in a row that stand in the passage too: a question that was copied from it
LEAST_WORDS = 25  # of a passage that is drafted from
ITEM_WORDS = 4  # of a known item
COLUMNS = ["question_id", "passage_id", "text", "reference", "quote", "source", "filter", "keep"]

# What people write under keep.
MARKS = dict.fromkeys(("1", "true", "yes", "y", "да"), True)
MARKS |= dict.fromkeys(("0", "false", "no", "n", "нет", ""), False)


class Draft(BaseModel):
    """Reply: one question to a passage."""

    question: str = Field(min_length=5)
    answer: str = Field(min_length=1)
    quote: str = Field(min_length=1)  # a part of the passage, word for word


DRAFT = Prompt(
    "draft",
    Draft,
    en="""\
Write one question that a user of a help desk would ask and that this passage answers. The user \
does not know the passage: the question must be clear by itself, and use words of its own. Write \
the answer in one or two sentences from the passage alone, and quote word for word the part that \
says it.

Passage:
{passage}""",
    ru="""\
Напишите один вопрос, который задал бы пользователь справочной службы и на который отвечает этот \
отрывок. Пользователь отрывка не видел: вопрос должен быть понятен сам по себе и сказан своими \
словами. Дайте ответ одним-двумя предложениями только по отрывку и дословно процитируйте часть, \
где это сказано.

Отрывок:
{passage}""",
)


@dataclass(frozen=True)
class Drafts:
    """frame: a row a draft, columns COLUMNS; filter: why it was turned down, "" if it was not."""

    frame: pd.DataFrame

    @property
    def kept(self) -> pd.DataFrame:
        """The drafts that passed both filters."""
        return self.frame[self.frame["filter"] == ""].reset_index(drop=True)


def choose_passages(dataset: Dataset, count: int, seed: int) -> pd.DataFrame:
    """Return passages to draft from: evenly drawn, long enough, each text once."""
    passages = dataset.passages.drop_duplicates("text")
    is_long = passages["text"].map(lambda text: len(text.split()) >= LEAST_WORDS)
    usable = passages[is_long] if is_long.any() else passages
    if usable.empty:
        raise NotEnoughError(f"{dataset.name} has no passages to draft questions from")
    generator = np.random.default_rng(seed)
    return usable.sample(min(count, len(usable)), random_state=generator).reset_index(drop=True)


def draft_questions(passages: pd.DataFrame, judge: Any) -> Drafts:
    """Let a model draft a question to each passage, and check quote and relevance.

    A passage of which the model gives nothing usable has a row with the reason.
    """
    pairs = zip(passages["passage_id"], passages["text"], strict=True)

    async def draft(passage_id: str, text: str) -> tuple:
        row = await draft_one(judge, passage_id, text)
        shown.update()
        return row

    async def draft_all() -> list[tuple]:
        # The judge limits its calls itself.
        async with judge, asyncio.TaskGroup() as group:
            tasks = [group.create_task(draft(*pair)) for pair in pairs]
        return [task.result() for task in tasks]

    with bar("drafting", len(passages)) as shown:
        rows = run_async(draft_all())
    return Drafts(mark_repeated(pd.DataFrame(rows, columns=COLUMNS)))


async def draft_one(judge: Any, passage_id: str, text: str) -> tuple:
    """Draft a question to one passage and check it; a row of COLUMNS."""
    key = draft_id(passage_id)
    try:
        draft = await judge.ask(DRAFT, passage=text)
        reason = check_draft(draft, text)
        if not reason:
            grade = await grade_passage(judge, draft.question, text)
            if grade.rating < RELEVANT:
                reason = f"the passage does not answer it: {grade.reason}"
    except Unmeasured as gap:
        return key, passage_id, "", "", "", DRAFTED, f"no draft: {gap.reason}", False
    values = (draft.question.strip(), draft.answer.strip(), draft.quote.strip())
    return key, passage_id, *values, DRAFTED, reason, not reason


def check_draft(draft: Draft, text: str) -> str:
    """Return why a draft is turned down; "" where its quote is there and the question its own."""
    if plain(" ".join(draft.quote.split())) not in plain(" ".join(text.split())):
        return "its quote is not in the passage"
    if word_runs(draft.question) & word_runs(text):
        return f"{COPIED} words in a row are the passage's"
    return ""


def word_runs(text: str) -> set[tuple[str, ...]]:
    """Return all `COPIED` words in a row of a text."""
    said = words(text)
    return set(zip(*(said[start:] for start in range(COPIED)), strict=False))


def mark_repeated(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn down questions that were asked before."""
    asked = frame["text"].map(plain)
    is_again = asked.duplicated() & (frame["filter"] == "") & (asked != "")
    frame.loc[is_again, "filter"] = "asked already"
    frame.loc[is_again, "keep"] = False
    return frame


def known_items(dataset: Dataset, passages: pd.DataFrame) -> Drafts:
    """Return queries without a model: of each passage the words that set it apart.

    Words are weighed by how often they stand in the passage and in how few others. Such a query
    has no answer: it serves retrieval alone.
    """
    texts = dataset.passages["text"].tolist()
    count_by_stem: Counter[str] = Counter()
    for text in texts:
        count_by_stem.update({stem(word) for word in words(text)})
    rows = []
    for passage_id, text in zip(passages["passage_id"], passages["text"], strict=True):
        chosen = rare_words(text, count_by_stem, len(texts))
        reason = "" if chosen else "it has no words of its own"
        query = " ".join(chosen)
        key = draft_id(passage_id)
        rows.append((key, passage_id, query, "", "", KNOWN_ITEM, reason, not reason))
    return Drafts(mark_repeated(pd.DataFrame(rows, columns=COLUMNS)))


def rare_words(text: str, count_by_stem: Counter[str], n_passages: int) -> list[str]:
    """Return the words of a text with the highest tf-idf, in the order of the text."""
    own = [word for word in words(text) if word not in FUNCTION_WORDS and not word.isdigit()]
    stems = [stem(word) for word in own]
    weights: dict[str, float] = {}
    for each in stems:
        # A word that stands in every passage sets none apart.
        if count_by_stem[each] < n_passages:
            rarity = np.log(n_passages / count_by_stem[each])
            weights[each] = stems.count(each) * float(rarity)
    best = set(sorted(weights, key=lambda each: (-weights[each], each))[:ITEM_WORDS])
    chosen: dict[str, str] = {}
    for word, each in zip(own, stems, strict=True):
        if each in best:
            chosen.setdefault(each, word)
    return list(chosen.values())


def draft_id(passage_id: str) -> str:
    """Return the id of the question to a passage: the same in every run."""
    return f"draft-{hashlib.sha256(passage_id.encode()).hexdigest()[:10]}"


def add_to_dataset(dataset: Dataset, drafts: pd.DataFrame) -> Dataset:
    """Return the data set with the drafts that are kept as questions, each with its passage."""
    kept = drafts[drafts["keep"].astype(bool)]
    if kept.empty:
        raise NotEnoughError("no draft is kept")
    known = set(dataset.questions["question_id"])
    kept = kept[~kept["question_id"].isin(known)]
    pages = page_by_passage(dataset)
    check_kept(kept, set(pages))
    units = kept["passage_id"].map(pages)
    questions = pd.DataFrame(
        {
            "question_id": kept["question_id"],
            "text": kept["text"],
            # Questions to one page are no independent evidence.
            "unit": units,
            "reference": kept["reference"],
            "references": [(text,) if text else () for text in kept["reference"]],
            "answerable": True,
            "kind": "",
            "language": dataset.language,
            "source": kept["source"],
        }
    )
    labels = kept[["question_id", "passage_id"]].assign(grade=3.0)
    if "group" in dataset.labels:
        labels = labels.assign(group=0)
    return replace(
        dataset,
        questions=pd.concat([dataset.questions, questions], ignore_index=True),
        labels=pd.concat([dataset.labels, labels], ignore_index=True),
    )


def check_kept(kept: pd.DataFrame, passage_ids: set[str]) -> None:
    """Refuse drafts to passages that the base does not have, and drafts without a question."""
    unknown = kept.loc[~kept["passage_id"].isin(passage_ids), "passage_id"]
    if len(unknown):
        raise BenchError(
            f"the base has no passage {unknown.iloc[0]!r}; name the base of the drafts"
        )
    empty = kept.loc[kept["text"].str.strip() == "", "question_id"]
    if len(empty):
        raise BenchError(f"{empty.iloc[0]} is kept without a question: write its text, or no")


def check_target(folder: Path) -> None:
    """Refuse a folder with tables of no language: they would be read beside what is written."""
    from ragbench.data.datasets import role_of_file

    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        role, language = role_of_file(path)
        if role and not language:
            raise BenchError(
                f"{path} would be read beside the new {role}; --name NAME writes a data set anew"
            )


def page_by_passage(dataset: Dataset) -> dict[str, str]:
    """Return passage → its page, or itself where it has none."""
    passages = dataset.passages
    pages = passages["url"].where(passages["url"] != "", passages["passage_id"])
    return dict(zip(passages["passage_id"], pages, strict=True))


def read_review(path: Path) -> pd.DataFrame:
    """Return reviewed drafts. Raises BenchError for a file that is none, and a mark of keep."""
    from ragbench.data import read_table

    table = read_table(path)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise BenchError(f"{path} has no column {', '.join(missing)}; `ragbench draft` writes one")
    cells = {name: [text_of(row.get(name)) for row in table.rows] for name in COLUMNS}
    frame = pd.DataFrame(cells, columns=COLUMNS)
    marks = frame["keep"].str.casefold()
    odd = frame.loc[~marks.isin(MARKS), "keep"]
    if len(odd):
        raise BenchError(f"{path}: keep is {odd.iloc[0]!r}; write yes or no")
    return frame.assign(keep=marks.map(MARKS).astype(bool))


def text_of(cell: object) -> str:
    """Return a cell as text; an empty one has none."""
    return "" if cell is None else str(cell).strip()

"""From frames of what was retrieved and labelled to the arrays that ranking metrics read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ragbench.metrics.rankings import Rankings

# Shares add up to .4999… in binary.
ROUNDING = 1e-9
PIECE = ["start", "end"]


def drop_copies(retrieved: pd.DataFrame) -> pd.DataFrame:
    """Keep each passage of a ranking once, at its first place; those behind it move up.

    retrieved: rows in rank order, columns system, question_id, rank, passage_id; of pieces also
    start and end.
    """
    ranking = ["system", "question_id"]
    passage = ["passage_id", *(name for name in PIECE if name in retrieved)]
    is_copy = retrieved.duplicated(ranking + passage)
    if not is_copy.any():
        return retrieved
    kept = retrieved[~is_copy]
    ranks = kept.groupby(ranking, sort=False).cumcount() + 1
    return kept.assign(rank=ranks)


def add_gains(retrieved: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Add the column gain: the grade of the passage's label; NaN where nobody judged it.

    retrieved: rows in rank order. Of passages of one group, any of which will do, the first that
    was retrieved has its grade, the others 0.
    """
    names = ("question_id", "passage_id")
    questions, passages = (pd.Index(labels[name].unique()) for name in names)

    def number_pairs(frame: pd.DataFrame) -> np.ndarray:
        rows = places_in(questions, frame["question_id"])
        columns = places_in(passages, frame["passage_id"])
        return np.where((rows < 0) | (columns < 0), -1, rows * len(passages) + columns)

    places = pd.Index(number_pairs(labels)).get_indexer(number_pairs(retrieved))
    # A pair without a label has the place −1: the last, which is NaN.
    grades = np.append(labels["grade"].to_numpy(dtype=float), np.nan)
    return count_groups_once(retrieved.assign(gain=grades[places]), labels)


def count_groups_once(graded: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Take the gain of passages in whose place another one of their group was retrieved before."""
    if "group" not in labels:
        return graded
    key = ["question_id", "passage_id"]
    relevant = graded[graded["gain"] > 0].join(labels.set_index(key)["group"], on=key)
    firsts = relevant.groupby(["system", "question_id", "group"])["passage_id"].transform("first")
    again = relevant.index[relevant["passage_id"] != firsts]
    return graded.assign(gain=graded["gain"].mask(graded.index.isin(again), 0.0))


def places_in(index: pd.Index, column: pd.Series) -> np.ndarray:
    """Return the place of each value in the index, −1 for one that is not there."""
    text = pa.large_string()
    places = pc.index_in(pa.array(column, text), pa.array(index, text))
    return places.fill_null(-1).to_numpy().astype(np.int64)


def collapse_pages(
    retrieved: pd.DataFrame, labels: pd.DataFrame, url_by_passage: Mapping[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rankings and labels of pages instead of passages.

    A page stands at the place of its first passage and has the highest grade of its passages. A
    passage without a page stands for itself.
    """

    def to_page(passages: pd.Series) -> pd.Series:
        pages = passages.map(url_by_passage)
        return pages.where(pages.notna() & (pages != ""), passages)

    page_labels = labels.assign(passage_id=to_page(labels["passage_id"]))
    # Sorted by name, the best grade last; the group of a page is that of its best passage.
    page_labels = page_labels.sort_values(["question_id", "passage_id", "grade"], kind="stable")
    highest = page_labels.drop_duplicates(["question_id", "passage_id"], keep="last")
    pages = retrieved.drop(columns=PIECE, errors="ignore")
    pages = pages.assign(passage_id=to_page(pages["passage_id"]))
    return add_gains(drop_copies(pages), highest), highest


def arrange(retrieved: pd.DataFrame, labels: pd.DataFrame, question_ids: Sequence[str]) -> Rankings:
    """Arrange the rankings of one system: a row a question, in the order of question_ids.

    retrieved: columns question_id, rank and gain, as `add_gains` or `grade_pieces` make them; a
    question without rows retrieved nothing, and rows of other questions are passed over. labels:
    columns question_id and grade.
    """
    questions = pd.Index(question_ids)
    rows = places_in(questions, retrieved["question_id"])
    if (rows < 0).any():
        retrieved, rows = retrieved[rows >= 0], rows[rows >= 0]
    columns = retrieved["rank"].to_numpy(dtype=np.int64) - 1
    shape = (len(questions), int(columns.max(initial=-1)) + 1)

    def to_array(name: str, fill: float) -> np.ndarray:
        array = np.full(shape, fill, order="F")
        array[rows, columns] = retrieved[name]
        return array

    has_pieces = "share" in retrieved
    return Rankings(
        gains=to_array("gain", np.nan),
        ideal=arrange_grades(labels, questions),
        n_retrieved=np.bincount(rows, minlength=len(questions)),
        shares=to_array("share", 0.0) if has_pieces else None,
        is_found=to_array("is_found", False).astype(bool) if has_pieces else None,
    )


def arrange_grades(labels: pd.DataFrame, questions: pd.Index) -> np.ndarray:
    """Return (questions, labels) the grades of each question, padded with NaN.

    Of passages of one group the best grade alone.
    """
    if "group" in labels:
        best_first = labels.sort_values("grade", ascending=False, kind="stable")
        is_again = best_first.duplicated(["question_id", "group"]) & (best_first["grade"] > 0)
        labels = best_first[~is_again]
    rows = places_in(questions, labels["question_id"])
    is_asked = rows >= 0
    rows, grades = rows[is_asked], labels["grade"].to_numpy(dtype=float)[is_asked]
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=len(questions))
    first = np.cumsum(counts) - counts
    places = np.arange(len(rows)) - first[rows[order]]
    ideal = np.full((len(questions), int(counts.max(initial=0))), np.nan)
    ideal[rows[order], places] = grades[order]
    return ideal


class LabelledText:
    """Which text of a labelled passage was not shown yet in one ranking.

    Text is measured in characters without white space, so that it makes no difference where
    between two words it is cut.
    """

    def __init__(self, text: str) -> None:
        is_letter = [not character.isspace() for character in text]
        # How many letters stand before each place of the text.
        self.letters_before = np.concatenate([[0], np.cumsum(is_letter)]).astype(int)
        self.is_left = np.ones(self.letters_before[-1], dtype=bool)
        self.is_found = False

    def show(self, start: int, end: int, enough: float) -> tuple[float, bool]:
        """Show a part. Return the share of the text that is new, and whether the passage is found
        by it: whether for the first time enough of its text has been shown."""
        shown = slice(self.letters_before[start], self.letters_before[end])
        n_letters = max(len(self.is_left), 1)
        n_new = int(self.is_left[shown].sum())
        self.is_left[shown] = False
        share_shown = 1 - self.is_left.sum() / n_letters
        is_enough = n_new > 0 and share_shown >= enough - ROUNDING
        is_first = is_enough and not self.is_found
        self.is_found = self.is_found or is_enough
        return n_new / n_letters, is_first


def grade_pieces(
    retrieved: pd.DataFrame,
    labels: pd.DataFrame,
    texts: Mapping[str, str],
    enough: float,
) -> pd.DataFrame:
    """Add what every piece of a passage newly shows of its text: gain, share, is_found.

    retrieved: rows in rank order; start and end say where in the text of passage_id the piece
    stands, in characters. labels: columns question_id, passage_id, grade. texts: of all labelled
    passages. A copy, or what overlaps, adds nothing. enough: the share of a passage's text from
    which on the passage counts as found, for metrics that know yes and no; 0: any of it.
    """
    pairs = zip(labels["question_id"], labels["passage_id"], strict=True)
    grades = dict(zip(pairs, labels["grade"], strict=True))
    rankings = drop_copies(retrieved)
    shown: dict[tuple[str, str, str], LabelledText] = {}
    added = []
    columns = (rankings[name] for name in ("system", "question_id", "passage_id", *PIECE))
    for system, question_id, passage_id, start, end in zip(*columns, strict=True):
        grade = grades.get((question_id, passage_id), np.nan)
        ranking_and_passage = (system, question_id, passage_id)
        is_first_met = ranking_and_passage not in shown
        if is_first_met:
            shown[ranking_and_passage] = LabelledText(texts.get(passage_id, ""))
        if not grade > 0:  # not relevant, or not judged: it is met once
            added.append((grade if is_first_met else np.nan, 0.0, is_first_met))
            continue
        share, is_found = shown[ranking_and_passage].show(start, end, enough)
        added.append((grade if share else np.nan, share, is_found))
    gains = pd.DataFrame(added, columns=["gain", "share", "is_found"], index=rankings.index)
    graded = rankings.drop(columns="gain", errors="ignore").join(gains)
    return count_groups_once(graded, labels)

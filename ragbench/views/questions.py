"""Every question: a list that unfolds, with values, reasons, answers, verdicts and passages.

Takes a `ragbench.views.results.Result` of any tier. It reads frames.questions and frames.scores
and, where they are there, answers, verdicts, retrieved, passages, labels and failures.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from ragbench.core.errors import BenchError
from ragbench.core.language import NOTHING, Language
from ragbench.core.metric import parse_label
from ragbench.report.figures import system_styles
from ragbench.report.page import colour_css, read_template, template
from ragbench.report.parts import PAGE_HTML, Part, trusted
from ragbench.views.blame import COLOURS

SHOWN_IN_JUPYTER = 20
# Colours of outcomes that stand in no figure, such as decisions.
BY_PLACE = ("blue1", "accent", "soft", "grey", "blue2")
# Questions x systems up to which everything is written as HTML, about 4 MB. Beyond, what unfolds is
# packed, and a script unpacks it when it is asked for.
MOST_WRITTEN = 1_500
MOST_LISTED = 20_000  # questions; a browser gets slow with more
READ = 5  # passages of every ranking that are shown, beside the labelled ones
WHOLE = ("show_decision", "n_doubts", "n_alone")  # labels of whole numbers
Key = tuple[str, str]  # system and question


class Lengths(NamedTuple):
    """Characters that are shown of a passage or claim, and of an answer, reference or reason."""

    passage: int
    text: int


WRITTEN, PACKED = Lengths(300, 1_500), Lengths(120, 160)


@dataclass(frozen=True, eq=False)
class QuestionList(Part):
    """A frame with a row a question, whose HTML is a list that unfolds.

    In Jupyter the first questions; on a page all of them, with the script that searches.
    """

    render: Callable[[bool], Markup] = lambda is_page: Markup("")

    def _content_html(self) -> Markup:
        return self.render(True)

    def __str__(self) -> str:
        shown = self.content.head(SHOWN_IN_JUPYTER)  # type: ignore[union-attr]
        return f"{self.title}\n{shown.to_string()}"

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": str(self.render(False)),
            # Jupyter passes over a type that it does not know.
            PAGE_HTML: str(self.html),
        }


def questions(result: Any, read: int = READ) -> QuestionList:
    """Return the list of all questions that have scores. `.content` is the frame behind it.

    read: how many passages of each ranking are shown beside the labelled ones; of answers those
    that the answer was written from.
    """
    details = collect(result, read)
    values = details.values
    frame = pd.DataFrame(values, columns=details.systems, index=details.ids)
    frame.insert(0, "text", details.texts)
    title = result.language.translate("Every question")
    return QuestionList(frame, title=title, render=cache(partial(list_html, result, details)))


@dataclass(frozen=True)
class Details:
    """What is shown of every question, in the order of the questions.

    values: (questions, systems) of the primary metric, NaN where unmeasured. outcomes: (questions,
    systems) numbers of `outcome_names`, empty without failures; outcome_colours: names of theirs,
    as in the figure of first failures. entries: what unfolds.
    primary: the metric whose value stands beside every question.
    passages: (id, text) of all that are shown. total: questions, of which these are the first.
    """

    systems: list[str]
    primary: str
    ids: list[str]
    texts: list[str]
    values: np.ndarray
    outcomes: np.ndarray
    outcome_names: list[str]
    outcome_colours: list[str]
    entries: list[dict[str, Any]]
    passages: list[tuple[str, str]]
    total: int


def collect(result: Any, read: int) -> Details:
    """Gather what the list shows from the frames of a result."""
    frames, language = result.frames, result.language
    scores = frames.scores
    systems = list(result.systems) or list(scores["system"].unique())
    metrics = list(dict.fromkeys(scores["metric"]))
    asked = frames.questions[frames.questions["question_id"].isin(scores["question_id"])]
    total = len(asked)
    if total > MOST_LISTED:
        asked = asked.head(MOST_LISTED)
        scores = scores[scores["question_id"].isin(asked["question_id"])]
    ids = asked["question_id"].tolist()
    lengths = PACKED if len(ids) * len(systems) > MOST_WRITTEN else WRITTEN
    cube = value_cube(scores, metrics, ids, systems)
    references = asked["reference"] if "reference" in asked else [""] * len(ids)
    primary = getattr(result.request, "primary", "")
    primary = primary if primary in metrics else metrics[0]
    outcomes, failures = outcome_numbers(frames, ids, systems)
    # A metric that is explained once is so everywhere; the others stand in one table.
    explained_metrics = set(scores.loc[scores["explanation"] != "", "metric"])
    explained = explained_values(scores, explained_metrics, language, lengths)
    plain = [label for label in metrics if label not in explained_metrics]
    digits = [metric_digits(label) for label in plain]
    planes = cube[[metrics.index(label) for label in plain]]
    write = cache(language.number)
    answers = answer_texts(frames, lengths)
    verdicts = verdict_rows(frames, lengths)
    passages, rows = passage_rows(frames, ids, systems, read, lengths)
    entries = []
    for place, (question_id, reference) in enumerate(zip(ids, references, strict=True)):
        table = [
            [label, *(write(value, count) for value in plane)]
            for label, count, plane in zip(plain, digits, planes[:, place].tolist(), strict=True)
        ]
        cards = [
            {
                "name": system,
                "outcome": int(outcomes[place, column]) if failures else -1,
                "answer": answers.get((system, question_id)),
                "metrics": explained.get((system, question_id), []),
                "verdicts": verdicts.get((system, question_id), []),
            }
            for column, system in enumerate(systems)
        ]
        told = [card for card in cards if card["answer"] is not None or card["metrics"]]
        entries.append(
            {
                "reference": clip(reference, lengths.text),
                "table": table,
                "cards": merge_same(told),
                "passages": rows.get(question_id, []),
            }
        )
    return Details(
        systems,
        primary,
        ids,
        asked["text"].tolist(),
        cube[metrics.index(primary)],
        outcomes,
        [language.translate(failure) for failure in failures],
        [COLOURS.get(failure) or BY_PLACE[place] for place, failure in enumerate(failures)],
        entries,
        passages,
        total,
    )


def value_cube(
    scores: pd.DataFrame, metrics: list[str], ids: list[str], systems: list[str]
) -> np.ndarray:
    """Return (metrics, questions, systems) values, NaN where there is none."""
    cube = np.full((len(metrics), len(ids), len(systems)), np.nan)
    places = [
        pd.Index(names).get_indexer(pd.Index(scores[column]))
        for names, column in ((metrics, "metric"), (ids, "question_id"), (systems, "system"))
    ]
    is_there = (places[2] >= 0) & (places[1] >= 0)
    metric, question, system = (place[is_there] for place in places)
    cube[metric, question, system] = scores["value"].to_numpy()[is_there]
    return cube


def metric_digits(label: str) -> int:
    """Return how many digits a value has: ratings, decisions and counts none, shares three."""
    if label in WHOLE:
        return 0
    try:
        least, greatest = parse_label(label).bounds
    except BenchError:
        return 3
    # Ratings begin at 0 or 1; what begins below is a cosine.
    is_rating = least >= 0 and 1 < greatest - least < np.inf
    return 0 if is_rating else 3


def explained_values(
    scores: pd.DataFrame, metrics: set[str], language: Language, lengths: Lengths
) -> dict[Key, list[list[str]]]:
    """Return by system and question: metric, value, and how it came about or why it is missing.

    metrics: those with explanations.
    A reason that all metrics share, such as that the system failed, stands there once.
    """
    is_explained = scores["metric"].isin(metrics)
    missing = scores[~is_explained & (scores["reason"] != "")]
    missing = missing.drop_duplicates(["system", "question_id", "reason"])
    shown = pd.concat([scores[is_explained], missing])
    digits = {label: metric_digits(label) for label in shown["metric"].unique()}
    rows: dict[Key, list[list[str]]] = defaultdict(list)
    names = ("system", "question_id", "metric", "value", "explanation", "reason")
    for system, question_id, label, value, explanation, reason in zip(
        *(shown[name] for name in names), strict=True
    ):
        text = language.number(value, digits[label])
        rows[system, question_id].append([label, text, clip(explanation or reason, lengths.text)])
    return rows


def outcome_numbers(
    frames: Any, ids: list[str], systems: list[str]
) -> tuple[np.ndarray, list[str]]:
    """Return (questions, systems) numbers of the first failures, and their names; empty without."""
    failures = getattr(frames, "failures", None)
    if failures is None or failures.empty:
        return np.zeros((0, 0), dtype=int), []
    names = list(dict.fromkeys(failures["failure"]))
    declared = getattr(failures["failure"].dtype, "categories", names)
    order = [name for name in declared if name in names]
    numbers = np.full((len(ids), len(systems)), -1)
    rows = pd.Index(ids).get_indexer(failures["question_id"])
    columns = pd.Index(systems).get_indexer(failures["system"])
    is_there = (rows >= 0) & (columns >= 0)
    codes = pd.Index(order).get_indexer(failures["failure"])
    numbers[rows[is_there], columns[is_there]] = codes[is_there]
    return numbers, order


def answer_texts(frames: Any, lengths: Lengths) -> dict[Key, str]:
    """Return what every system answered the first time, or the error."""
    answers = getattr(frames, "answers", None)
    if answers is None:
        return {}
    first = answers[answers["repeat"] == 0]
    names = ("system", "question_id", "answer", "error")
    return {
        (system, question_id): clip(answer or error, lengths.text)
        for system, question_id, answer, error in zip(*(first[name] for name in names), strict=True)
    }


def verdict_rows(frames: Any, lengths: Lengths) -> dict[Key, list[list[str]]]:
    """Return by system and question: item, verdict and reason of everything that was judged."""
    verdicts = getattr(frames, "verdicts", None)
    rows: dict[Key, list[list[str]]] = defaultdict(list)
    if verdicts is None:
        return rows
    names = ("system", "question_id", "item", "verdict", "reason")
    for system, question_id, item, verdict, reason in zip(
        *(verdicts[name] for name in names), strict=True
    ):
        texts = [clip(item, lengths.passage), verdict, clip(reason, lengths.passage)]
        rows[system, question_id].append(texts)
    return rows


def merge_same(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the cards of systems that gave the same answer with the same values."""
    merged: dict[str, dict[str, Any]] = {}
    for card in cards:
        content = {name: value for name, value in card.items() if name != "name"}
        key = json.dumps(content)
        if key in merged:
            merged[key]["name"] += f", {card['name']}"
        else:
            merged[key] = dict(card)
    return list(merged.values())


def passage_rows(
    frames: Any, ids: list[str], systems: list[str], read: int, lengths: Lengths
) -> tuple[list[tuple[str, str]], dict[str, list[list[Any]]]]:
    """Return all passages that are shown, and by question [number, ranks, whether labelled].

    Shown are the first `read` of every ranking, and all that are labelled: also one that no system
    retrieved, which is what was missed. Rank 0: not retrieved.
    """
    retrieved = retrieved_rows(frames, systems)
    labels = getattr(frames, "labels", None)
    relevant: dict[str, set[str]] = defaultdict(set)
    if labels is not None:
        good = labels[labels["grade"] > 0]
        for question_id, passage_id in zip(good["question_id"], good["passage_id"], strict=True):
            relevant[question_id].add(passage_id)
    ranks: dict[str, dict[str, list[int]]] = defaultdict(dict)
    texts: dict[str, str] = {}
    for column, question_id, rank, passage_id, text in retrieved:
        row = ranks[question_id].setdefault(passage_id, [0] * len(systems))
        row[column] = row[column] or rank
        texts.setdefault(passage_id, text)
    passages = getattr(frames, "passages", None)
    if passages is not None:
        texts |= dict(zip(passages["passage_id"], passages["text"], strict=True))
    numbers: dict[str, int] = {}
    rows: dict[str, list[list[Any]]] = {}
    for question_id in ids:
        found = ranks[question_id]
        for passage_id in relevant[question_id]:
            found.setdefault(passage_id, [0] * len(systems))
        shown = []
        for passage_id, row in found.items():
            best = min((rank for rank in row if rank), default=np.inf)
            is_labelled = passage_id in relevant[question_id]
            if best <= read or is_labelled:
                shown.append((best, passage_id, row, is_labelled))
        rows[question_id] = [
            [numbers.setdefault(passage_id, len(numbers)), row, int(is_labelled)]
            for _, passage_id, row, is_labelled in sorted(shown)
        ]
    shown_passages = [(name, clip(texts.get(name, ""), lengths.passage)) for name in numbers]
    return shown_passages, rows


def retrieved_rows(frames: Any, systems: list[str]) -> list[tuple[int, str, int, str, str]]:
    """Return system's number, question, rank, passage and its text: of rankings or of contexts."""
    columns = {name: place for place, name in enumerate(systems)}
    retrieved = getattr(frames, "retrieved", None)
    if retrieved is not None:
        texts = retrieved["text"] if "text" in retrieved else [""] * len(retrieved)
        names = ("system", "question_id", "rank", "passage_id")
        rows = zip(*(retrieved[name] for name in names), texts, strict=True)
        return [(columns[row[0]], *row[1:]) for row in rows if row[0] in columns]
    answers = getattr(frames, "answers", None)
    if answers is None:
        return []
    first = answers[answers["repeat"] == 0]
    found = []
    for row in first.itertuples():
        names = row.context_ids if len(row.context_ids) else row.contexts
        for rank, (name, text) in enumerate(zip(names, row.contexts, strict=False), start=1):
            if row.system in columns:
                found.append((columns[row.system], row.question_id, rank, name or text, text))
    return found


def clip(text: str, longest: int) -> str:
    """Return the text, cut with an ellipsis where it is long."""
    return text if len(text) <= longest else text[:longest].rstrip() + "…"


def list_html(result: Any, details: Details, is_page: bool) -> Markup:
    """Return the list; on a page with its controls, in Jupyter its beginning with its style."""
    language = result.language
    _ = language.translate
    count = len(details.ids) if is_page else min(SHOWN_IN_JUPYTER, len(details.ids))
    is_packed = is_page and count * len(details.systems) > MOST_WRITTEN
    digits = metric_digits(details.primary)
    write = cache(language.number)
    values = [[write(value, digits) for value in row] for row in details.values[:count].tolist()]
    styles = system_styles(details.systems, getattr(result.request, "baseline", ""))
    html = template("questions.html.j2").render(
        details=details,
        entries=details.entries[:count],
        values=values,
        signs=[styles[name].sign for name in details.systems],
        baseline=getattr(result.request, "baseline", ""),
        primary=details.primary,
        is_lower_better=is_lower_better(details.primary),
        total=details.total,
        is_page=is_page,
        packed=pack(details, language) if is_packed else "",
        style=trusted("" if is_page else colour_css(".questions") + read_template("questions.css")),
        nothing=NOTHING,
        _=_,
    )
    return trusted(html)


def is_lower_better(label: str) -> bool:
    """Whether the lower of two values is the better one."""
    try:
        return parse_label(label).better == "lower"
    except BenchError:
        return False


def pack(details: Details, language: Language) -> str:
    """Return what unfolds as compressed JSON in letters that HTML knows."""
    _ = language.translate
    content = {
        "systems": details.systems,
        "outcomes": details.outcome_names,
        "passages": details.passages,
        "entries": details.entries,
        "words": {
            "reference": _("Reference"),
            "answer": _("no answer"),
            "passage": _("passage and its ranks"),
            "labelled": _("labelled relevant"),
        },
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    # Without a time in its head, the same content is the same page.
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()

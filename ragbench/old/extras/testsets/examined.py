"""Drafted questions on the page of a data set: what each filter dropped, and how far they may be believed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ragbench.old.core.folders import text, write
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import columns, without_nan
from ragbench.old.core.parts import Content, Number, Table, Text, Value, spoken
from ragbench.old.core.segmentation import plain
from ragbench.old.core.types import Array
from ragbench.old.data import Dataset, places
from ragbench.old.data.files import DatasetError
from ragbench.old.extras.testsets import candidates
from ragbench.old.extras.testsets.candidates import FILTERS
from ragbench.old.stats.coefficients import order_tau, tau_ends
from ragbench.old.views.basics.marks import example, rows_of, with_examples
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shortened

if TYPE_CHECKING:
    import pandas as pd


DRAFTS, BELIEF = "drafts", "belief"
EXAMPLES = 3  # an example each of what people and model disagree about
LONGEST = 240  # three lines of a page


class DraftRow(TypedDict):
    """A draft. dropped: by which filter, "" where by none. state: unreviewed or reviewed, "" where it is not in the
    data set."""

    id: str
    kind: str
    style: str
    judge: str
    dropped: str
    question: str
    why: str
    state: str


class BeliefRow(TypedDict):
    """What was told last of how far drafts may be believed, as JSON (KEPT)."""

    told: str


def tables(data: Dataset, shown: Callable[[str], str]) -> Mapping[str, pd.DataFrame]:
    """The drafts that are kept beside a data set; none where there are none. shown: what masks a text."""
    import pandas as pd

    place = places.data(data.name) / data.name
    made = candidates.read(place, data.language)
    states = {question.id: question.draft for question in data.questions}
    states |= {dialogue.id: dialogue.draft for dialogue in data.dialogues}
    rows = [
        (each.id, each.kind, each.style, each.judge, each.dropped or "", shown(each.question), shown(each.why),
         "" if each.dropped else states.get(each.id) or "")
        for each in made
    ]  # fmt: skip
    told = read(place, data.language)
    more = {BELIEF: pd.DataFrame([(json.dumps(told),)], columns=columns(BeliefRow))} if told else {}
    return ({DRAFTS: pd.DataFrame(rows, columns=columns(DraftRow))} if rows else {}) | more


def parts(material: Material) -> Content:
    """The drafts of a data set: by kind how many were kept and what dropped the others, and examples of each filter."""
    return (_filtered(material), _believed(material))


def _filtered(material: Material) -> Content:
    rows = rows_of(DraftRow, material.kept(DRAFTS))
    if not rows:
        return ()
    _ = material.text
    names = [name for name in FILTERS if any(row["dropped"] == name for row in rows)]
    heads = [_("kind"), (_("kept"), "rb-number"), *((filter_name(name, _), "rb-number") for name in names)]
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        counts = Counter(row["dropped"] for row in rows if row["kind"] == kind)
        lines.append([kind_name(kind, _), counts[""], *(counts[name] for name in names)])
    said = [Text(_("Drafted questions"), "h2"), Text(_said(rows, _)), Table.of(_, _("Drafts"), heads, lines)]
    examined = list[Content]()
    for name in names:
        own = [row for row in rows if row["dropped"] == name]
        different = {row["question"]: row for row in reversed(own)}
        examples = [_example(row) for row in list(different.values())[::-1][:EXAMPLES]]
        heading = f"{filter_name(name, _)} ({_.integer(len(own))})"
        examined.append(with_examples(_, heading, [meaning(name, _)], examples))
    return (said, examined)


def _believed(material: Material) -> Content:
    """Whether drafts order systems as other questions do, as it was last said."""
    kept = rows_of(BeliefRow, material.kept(BELIEF))
    if not kept:
        return ()
    _, told = material.text, json.loads(kept[0]["told"])
    n, others = _.integer(told["n"]), _.integer(told["of_people"])
    tau = Value(told["tau"], told["low"], told["high"], digits=2)
    lead = _(
        "In the run {run}, drafts ({n}) and other questions ({others}) order its systems by {metric} with a Kendall’s "
        "τ of {tau}.",
        run=told["run"], n=n, others=others, metric=told["metric"], tau=spoken(_).phrase(tau),
    )  # fmt: skip
    needed = told["needed"]
    held = (
        _("No number of drafts holds their order of the systems with a chance of 95%: some are equal.")
        if needed is None
        else _("Drafts for which their order of the systems holds with a chance of 95%: {n}.", n=_.integer(needed))
    )
    heads = [_("system"), (_("drafts"), "rb-number"), (_("others"), "rb-number"), (_("difference"), "rb-number")]
    lines = [
        [name, Number(told["drafted"][name]), Number(told["people"][name]), Number(told["levels"][name], signed=True)]
        for name in told["systems"]
    ]  # fmt: skip
    names = {"words": _("words of a question"), "overlap": _("share of them in its passages"),
             "different": _("different words among all")}  # fmt: skip
    drafts, people = told["wording"]
    texts = [
        [name, *(Number(math.nan if side[key] is None else side[key], 2) for side in (drafts, people))]
        for key, name in names.items()
    ]
    said = [Text(_("How far drafts may be believed"), "h2"), Text(f"{lead} {held}")]
    return (
        said, Table.of(_, _("Means of systems"), heads, lines), Table.of(_, _("Wording"), ["", *heads[1:3]], texts)
    )  # fmt: skip


def _said(rows: Sequence[DraftRow], _: Translator) -> str:
    kept = [row for row in rows if not row["dropped"]]
    reviewed = sum(row["state"] == "reviewed" for row in kept)
    who = _.enumeration(sorted({row["judge"] for row in rows}))
    made = _.plural("{who} wrote {n} draft.", "{who} wrote {n} drafts.", len(rows), who=who)
    passed = _.plural("{n} passed every filter.", "{n} passed every filter.", len(kept))
    read = _.plural("Of these {n} has been reviewed.", "Of these {n} have been reviewed.", reviewed)
    return f"{made} {passed} {read}"


def _example(row: DraftRow) -> Content:
    text, why = shortened(row["question"], LONGEST) or "—", shortened(row["why"], LONGEST)
    return example(row["id"], text, row["style"], why)


def kind_name(kind: str, _: Translator) -> str:
    """A kind of questions in words."""
    names = {
        "one_fact": _("one fact"), "several_passages": _("several passages"), "comparison": _("comparison of two"),
        "colloquial": _("colloquial"), "misspelt": _("misspelt"), "follow_up": _("follow-up"),
        "unanswerable": _("unanswerable"),
    }  # fmt: skip
    return names.get(kind, kind)


def filter_name(name: str, _: Translator) -> str:
    """What dropped a draft, in few words."""
    return {
        "reply": _("no usable reply"), "language": _("another language"), "quotes": _("quote nowhere"),
        "one_passage": _("one passage enough"), "copied": _("copied words"), "duplicate": _("asked before"),
        "not_answered": _("not answered"), "answered": _("answered after all"), "known": _("known anyway"),
        "unclear": _("not clear alone"),
    }[name]  # fmt: skip


def meaning(name: str, _: Translator) -> str:
    """The same in a sentence, with what stands beside each example."""
    return {
        "reply": _("The model gave no reply of the shape that was asked for."),
        "language": _("The question is not in the language of the passages; its language stands below."),
        "quotes": _("What was given as a quote does not stand word for word in the passage that was named."),
        "one_passage": _("All quotes of a question on two passages stand in one."),
        "copied": _("Too many words of the question stand in a row in a passage: how many of how many stands below."),
        "duplicate": _("The question is nearly the same as another one, whose id stands below."),
        "not_answered": _("The passages that it was written from do not answer it."),
        "answered": _("It was to have no answer, and passages of the base answer it."),
        "known": _("The model gives the right answer without any passage: such a question measures no retrieval."),
        "unclear": _("Nobody who reads the question alone knows what is asked."),
    }[name]


LEVEL = 0.95  # as every interval of a report by default
ENOUGH = 0.95
"""The chance with which an order is to hold."""
MOST = 100_000
"""Questions: an order that takes more is none."""
DRAWS = 2000  # a share of .95 is then known to ± .01, as much as is printed
KEPT = ("run", "metric", "wording", "systems", "tau", "low", "high", "levels", "drafted", "people", "needed", "n",
        "of_people")  # fmt: skip


@dataclass(frozen=True)
class Belief:
    """How far drafts order systems as people's questions do.

    tau, low, high: Kendall's τ-b of the systems' means under both, with the percentile interval over draws of the
    questions of both; NaN and None where either orders nothing. levels: system → mean under the drafts less that under
    people's questions. needed: from how many drafts on all pairs of systems are in the order that all drafts give them,
    with a chance of ENOUGH; None where no number does. n, of_people: questions.
    """

    systems: tuple[str, ...]
    tau: float
    low: float | None
    high: float | None
    levels: Mapping[str, float]
    drafted: Mapping[str, float]
    people: Mapping[str, float]
    needed: int | None
    n: int
    of_people: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def compared(drafted: Mapping[str, Array], people: Mapping[str, Array], *, seed: int = 0) -> Belief:
    """The drafts against people's questions: a value a question of each system, NaN where there is none.

    Raises DatasetError for fewer than two systems, or two questions on either side.
    """
    names = tuple(name for name in drafted if name in people)
    if len(names) < 2:
        raise DatasetError(f"drafts are believed by how they order systems, and there is {len(names)} on both sides")
    first, second = (_whole(table, names) for table in (drafted, people))
    if min(first.shape[1], second.shape[1]) < 2:
        raise DatasetError(f"{first.shape[1]} drafts and {second.shape[1]} questions of people: two of each at least")
    means, others = first.mean(axis=1), second.mean(axis=1)
    random = np.random.default_rng(seed)

    def drawn(table: Array) -> Array:
        return np.asarray(table[:, random.integers(table.shape[1], size=table.shape[1])].mean(axis=1))

    low, high = tau_ends(((drawn(first), drawn(second)) for _ in range(DRAWS)), LEVEL)
    return Belief(
        names, order_tau(means, others), low, high,
        {name: float(means[place] - others[place]) for place, name in enumerate(names)},
        dict(zip(names, means.tolist(), strict=True)), dict(zip(names, others.tolist(), strict=True)),
        needed(first, random), first.shape[1], second.shape[1],
    )  # fmt: skip


def needed(table: Array, random: np.random.Generator) -> int | None:
    """From how many questions on the means of so many are in the order of the whole, with a chance of ENOUGH.

    table: (systems, questions). Means of m questions vary as a normal with a covariance of 1 / m; m is found by
    halving. None for means that are equal, and for more than MOST.
    """
    means, covariance = table.mean(axis=1), np.atleast_2d(np.cov(table))
    order = np.argsort(-means, kind="stable")
    gaps = -np.diff(means[order])
    if (gaps <= 0).any():
        return None
    noise = random.multivariate_normal(np.zeros(len(means)), covariance, size=DRAWS, method="eigh")[:, order]
    steps = np.diff(noise, axis=1)  # a step down of the means, and how noise moves it

    def holds(m: int) -> bool:
        return bool(np.mean((gaps - steps / math.sqrt(m) > 0).all(axis=1)) >= ENOUGH)

    if not holds(MOST):
        return None
    below, enough = 0, MOST
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if holds(middle) else (middle, enough)
    return enough


def wording(questions: Sequence[Any], passages: Mapping[str, str]) -> dict[str, float]:
    """words: of a question, a mean. overlap: the share of its different words that stand in its relevant passages.
    different: different words of all questions / words of all."""
    lengths, shares = [], []
    every: list[str] = []
    for question in questions:
        words = plain(question.text).split()
        every += words
        lengths.append(len(words))
        held = {word for name in question.relevant for word in plain(passages.get(name, "")).split()}
        if held and words:
            shares.append(len({*words} & held) / len({*words}))
    return {
        "words": float(np.mean(lengths)) if lengths else math.nan,
        "overlap": float(np.mean(shares)) if shares else math.nan,
        "different": len({*every}) / len(every) if every else math.nan,
    }


def path_of(place: Path, language: str) -> Path:
    """Where what was said last of a data set's drafts is kept."""
    return place / f"believed.{language}.json"


def keep(place: Path, language: str, told: Mapping[str, Any]) -> None:
    """Keep it, for the page of the data set."""
    write(path_of(place, language), json.dumps(without_nan(told), ensure_ascii=False, indent=1).encode("utf-8"))


def read(place: Path, language: str) -> dict[str, Any]:
    """What was kept; empty where nothing was. Raises DatasetError for a file that holds no such thing."""
    path = path_of(place, language)
    if not path.is_file():
        return {}
    try:
        told = json.loads(text(path))
        return {name: told[name] for name in KEPT}
    except (ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{path.name}: {error}: `ragbench drafts NAME` writes it anew") from None


def _whole(table: Mapping[str, Array], names: Sequence[str]) -> Array:
    """(systems, questions) of the questions that every system has a value of."""
    rows = np.array([np.asarray(table[name], dtype=float) for name in names])
    return rows[:, ~np.isnan(rows).any(axis=0)]

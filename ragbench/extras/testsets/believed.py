"""Can drafted questions be believed? They are held against questions of people on the same systems."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragbench.core.folders import text, write
from ragbench.core.measurement import without_nan
from ragbench.core.types import Array
from ragbench.data.files import DatasetError
from ragbench.data.wording import plain
from ragbench.stats.coefficients import order_tau

LEVEL = 0.95
ENOUGH = 0.95
"""The chance with which an order is to hold."""
MOST = 100_000
"""Questions: an order that takes more is none."""
DRAWS = 2000
KEPT = ("run", "metric", "wording", "systems", "tau", "low", "high", "levels", "drafted", "people", "needed", "n",
        "of_people")  # fmt: skip


@dataclass(frozen=True)
class Belief:
    """How far drafts order systems as people's questions do.

    tau, low, high: Kendall's τ-b of the systems' means under both, with the percentile interval over draws of the
    questions of both; NaN where either orders nothing. levels: system → mean under the drafts less that under people's
    questions. needed: from how many drafts on all pairs of systems are in the order that all drafts give them, with a
    chance of ENOUGH; None where no number does. n, of_people: questions.
    """

    systems: tuple[str, ...]
    tau: float
    low: float
    high: float
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
    drawn = [
        order_tau(
            *(table[:, random.integers(table.shape[1], size=table.shape[1])].mean(axis=1) for table in (first, second))
        )
        for _ in range(DRAWS)
    ]
    known = [tau for tau in drawn if not math.isnan(tau)]
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if known else (math.nan, math.nan)
    return Belief(
        names, order_tau(means, others), float(low), float(high),
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

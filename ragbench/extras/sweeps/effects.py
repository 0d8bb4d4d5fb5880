"""What exchanging a part does: main effects and interactions of the factors of a sweep, as contrasts of its
configurations, paired by question.

A configuration is a level a factor. Where some pairs of levels cannot be, the grid has holes: an effect is the mean
over all pairs of configurations that differ in this factor alone, where both are there (of a full grid this is the main
effect of the analysis of variance between two levels); an interaction is by how much an effect differs with the level
of another factor, over all fours that differ in these two alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ragbench import stats
from ragbench.core.types import Array, Better, Comparison
from ragbench.stats.samples import Labels

Levels = Mapping[str, str]
"""Factor → its level, of one configuration."""


@dataclass(frozen=True)
class Contrast:
    """A difference between means of configurations, by their places.

    changes: factor → the level before, and after; one of a main effect, two of an interaction. ups, downs: the
    configurations that count for and against it, each as often as it stands there. pairs: of how many it is the mean.
    """

    changes: Mapping[str, tuple[str, str]]
    ups: tuple[int, ...]
    downs: tuple[int, ...]
    pairs: int

    def sides(self, values: Array) -> tuple[Array, Array]:
        """(questions,) twice: the mean of those against it, and of those for it; of an interaction the sums of two."""
        return values[:, list(self.downs)].sum(axis=1) / self.pairs, values[:, list(self.ups)].sum(axis=1) / self.pairs


def contrasts(configurations: Sequence[Levels]) -> list[Contrast]:
    """All main effects, then all interactions of two factors, each against the first level that its factor has.

    One that no two configurations (or four) tell is not among them.
    """
    levels = {name: list(dict.fromkeys(each[name] for each in configurations)) for name in configurations[0]}
    places = {tuple(each[name] for name in levels): place for place, each in enumerate(configurations)}
    steps = {name: [(own[0], other) for other in own[1:]] for name, own in levels.items()}

    def at(configuration: Levels, **changed: str) -> int | None:
        return places.get(tuple({**configuration, **changed}[name] for name in levels))

    found = []
    for name, own in steps.items():
        for before, after in own:
            downs = [place for place, each in enumerate(configurations) if each[name] == before]
            pairs = [(place, at(configurations[place], **{name: after})) for place in downs]
            there = [(down, up) for down, up in pairs if up is not None]
            if there:
                downs_there, ups = _transposed(there)
                found.append(Contrast({name: (before, after)}, ups, downs_there, len(there)))
    for first, second in combinations(steps, 2):
        for one in steps[first]:
            for other in steps[second]:
                fours = [
                    four
                    for place, each in enumerate(configurations)
                    if (each[first], each[second]) == (one[0], other[0])
                    and None
                    not in (
                        four := (
                            at(each, **{first: one[1]}), at(each, **{second: other[1]}),
                            at(each, **{first: one[1], second: other[1]}), place,
                        )
                    )
                ]  # fmt: skip
                if fours:
                    moved, also, both, neither = _transposed(fours)
                    found.append(Contrast({first: one, second: other}, both + neither, moved + also, len(fours)))
    return found


def _transposed(rows: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
    return [tuple(column) for column in zip(*rows, strict=True)]


def compared(
    values: Array,
    found: Sequence[Contrast],
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """The contrasts as one family: p, words and intervals that hold for all of them together (`stats.jointly`).

    values: (questions, configurations), NaN where one was not measured: such a question is no pair of the contrasts
    that it stands in. Its challenger is the level after, or both of an interaction; its baseline those before.
    """
    made = []
    for each in found:
        twice = len(each.changes)
        ends = None if bounds is None else (bounds[0] * twice, bounds[1] * twice)
        names = (" × ".join(before for before, _ in each.changes.values()),
                 " × ".join(after for _, after in each.changes.values()))  # fmt: skip
        downs, ups = each.sides(values)
        made.append(
            stats.hypotheses(
                {"": downs}, {"": ups}, clusters=clusters, better=better, bounds=ends, level=level,
                resamples=resamples, seed=seed, names=names,
            )[""]
        )  # fmt: skip
    return stats.jointly(made, clusters, resamples=resamples, seed=seed)


def exchanges(configurations: Sequence[Levels], of: int) -> list[tuple[int, str]]:
    """The configurations that differ from one in a single factor: each place, and the factor."""
    own = configurations[of]
    found = []
    for place, each in enumerate(configurations):
        apart = [name for name in own if each[name] != own[name]]
        if len(apart) == 1:
            found.append((place, apart[0]))
    return found


def complete(values: Array) -> Array:
    """(questions,) whether all configurations were measured on a question."""
    return np.asarray(~np.isnan(values).any(axis=1))

"""A measurement on some of its questions, or of some of its systems: its evidence filtered and stated again.

Findings come from the function that stated the whole, with the level, the draws and the seed of the measurement. What
cannot be stated of stored values of single questions is left out and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ragbench import tiers
from ragbench.core import annexes
from ragbench.core.measurement import Evidence, Finding, Measurement
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.stating import State, stated

if TYPE_CHECKING:
    import pandas as pd

NO_QUESTIONS = ("chunks",)
"""Tables that are true of some of the questions, and have no row for each."""
COUNTED_ON_ALL = (
    "doubts", "n_without_relevant", "n_without_context", "n_history", "n_without_page", "n_page_gone",
    "n_without_vector", "n_users", "corrected", "sets", "listing", "over_judges",
)  # fmt: skip
"""Facts that are of all questions, and not counted again."""
KINDS = {
    "index": "indexes", "of": "lengths", "asked": "habits", "mean": "labels", "part": "blame", "perfect": "blame",
    "k": "curves", "words": "curves", "first": "curves", "other": "correlations",
}  # fmt: skip
"""What findings are of, by a key of their place."""
OTHERS = "others"


def restated(
    made: Measurement, samples: Iterable[str] | None = None, systems: Sequence[str] = (), condition: str = ""
) -> Measurement:
    """The measurement of these questions and systems alone, its estimates, intervals, p and verdicts made anew.

    samples: ids of questions; None: all. systems: the baseline first; empty: all. condition: how the questions were
    chosen, in people's words. The fact `part` says what it is a part of: `condition`, `n` of `of` questions, `systems`
    where they were chosen, and `left_out`, the kinds of findings that are not made anew.
    Raises BenchError where findings are not made of values of single questions, and where no value is left.
    """
    state = check(made)
    evidence = filtered(made, None if samples is None else frozenset(samples), systems)
    n = evidence.scores["sample"].nunique()
    if not n:
        raise BenchError(f"{made.notebook}: none of these questions has a value to make statistics of")
    part, before = stated(evidence, state), made.facts.get("part") or {}
    there = {_kind(finding) for finding in part.placed}
    lost = [kind for finding in made.placed if (kind := _kind(finding)) not in there]
    measured = {named.metric for named in part.estimates}
    unknown = [named.metric for named in made.estimates if named.metric not in measured]
    about = {
        "condition": " / ".join(filter(None, (before.get("condition"), condition))),
        "n": n,
        "of": before.get("of", made.scores["sample"].nunique()),
        "systems": list(systems) or before.get("systems", []),
        "left_out": list(dict.fromkeys([*before.get("left_out", ()), *lost, *unknown])),
    }
    return replace(part, facts={**part.facts, "part": about})


def check(made: Measurement) -> State:
    """What states its findings. Raises BenchError where they are not made of values of single questions."""
    name = str(made.facts.get("tier"))
    measured = getattr(tiers, name, None) or annexes.taken("notebooks", name)
    state = getattr(measured, "state", None) if getattr(measured, "by_question", False) else None
    if state is None or not len(made.scores):
        raise BenchError(
            f"{made.notebook}: its findings are not made of values of single questions that are stored; parts can be "
            "taken of pages that retrieve or answer (tiers 1, 2 and 3, real users, tables of answers), and of decisions"
        )
    return cast("State", state)


def filtered(evidence: Evidence, samples: frozenset[str] | None, systems: Sequence[str] = ()) -> Evidence:
    """What was measured of these questions and systems; samples: None: all. systems: the baseline first; empty: all."""

    def rows(table: pd.DataFrame) -> pd.DataFrame:
        if samples is not None and "sample" in table:
            table = table[table["sample"].isin(samples)]
        if systems and "system" in table:
            table = table[table["system"].isin(["", *systems])]
        return table.reset_index(drop=True)

    def is_kept(name: str, table: pd.DataFrame) -> bool:
        return samples is None or "sample" in table or name in NO_QUESTIONS

    facts = dict(evidence.facts)
    if samples is not None:
        facts = {key: value for key, value in facts.items() if key not in COUNTED_ON_ALL}
    if systems:
        every = {system["name"] for system in facts["systems"]}
        for key, value in facts.items():
            if isinstance(value, Mapping) and value and every.issuperset(value):  # by system
                facts[key] = {name: value[name] for name in systems if name in value}
        facts["systems"] = [told for name in systems for told in facts["systems"] if told["name"] == name]
        facts["baseline"] = systems[0] if len(systems) > 1 else None
    tables = {name: rows(getattr(evidence, name)) for name in ("scores", "questions", "retrieved")}
    extra = {name: rows(table) for name, table in evidence.extra.items() if is_kept(name, table)}
    return Evidence(evidence.notebook, facts, **tables, extra=extra)


def _kind(finding: Finding) -> str:
    """What a finding is of, in the words of KINDS."""
    if finding.where.get("one") == "people":
        return "people"
    return next((KINDS[key] for key in KINDS if key in finding.where), next(iter(finding.where), OTHERS))

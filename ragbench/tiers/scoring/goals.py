"""Goals, and the metrics that are chosen for them: by the name to type, or by its title in any language."""

from __future__ import annotations

from dataclasses import dataclass

from ragbench.core.language import LANGUAGES, translator
from ragbench.core.metric import GOALS, Metric, Purpose
from ragbench.metrics import catalogue


@dataclass(frozen=True)
class Choice:
    """A metric for a goal, with the cut-off that serves it, and its purpose, which says why."""

    metric: Metric
    purpose: Purpose


def named(text: str) -> str:
    """The goal that somebody means by its name or title, whatever the letter case.

    Raises ValueError, listing all goals, for none.
    """
    wanted = _folded(text)
    for name, title in GOALS.items():
        if wanted in {_folded(name), *(_folded(translator(language)(title)) for language in LANGUAGES)}:
            return name
    raise ValueError(
        f"{text!r} is no goal; there are {', '.join(f'{name} ({title})' for name, title in GOALS.items())}"
    )


def choices(goal: str) -> tuple[Choice, ...]:
    """The metrics for a goal, by name. Raises ValueError as `named` does."""
    name = named(goal)
    return tuple(
        Choice(metric if purpose.cutoff is None else metric @ purpose.cutoff, purpose)
        for metric in catalogue().values()
        for purpose in metric.purposes
        if purpose.goal == name
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("ё", "е").replace("-", " ").split())

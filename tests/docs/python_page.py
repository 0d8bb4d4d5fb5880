"""`python -m tests.docs.python_page`: docs/reference/python.md, which names what is public; autodoc says the rest."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import ragbench
from ragbench import stats, tiers, views
from tests.docs import chapters

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"
HEAD = """# Python

What `import ragbench as rb` offers, from the docstrings. [The tutorial](../tutorial.md) uses some of it.
Made by `python -m tests.docs.python_page`.
"""
SCORES = "rows, level, resamples, seed, language, baseline, usage, stand_ins, primary, judge_coverages, answered_by"
METRIC = "name, label, names, signature, needs, legal_options, with_options"
FLOW = ("Sample", "Chunk", "Score", "Status", "Estimate", "Comparison", "Judge", "Embedder")
FIELDS = ("Sample", "Chunk", "Score", "Estimate", "Comparison")
"""Whose docstrings say all of their fields."""


def pages() -> dict[Path, str]:
    """The whole reference, on one page."""
    own = [name for name in ragbench.__all__ if not isinstance(getattr(ragbench, name), ModuleType)]
    parts = [
        HEAD,
        section("## The first names: `rb`", [*map(_own, own), _class("tiers.scoring.scored_answers.Scores", SCORES)]),
        section(
            "## Measure: `rb.tiers`\n\nOne function a page; each gives a `Measurement`.",
            [*_all(tiers, "tiers", but=("check",)), _class("core.measurement.Measurement")],
        ),
        _annex("## Test", "extras.testing.assertions"),
        _annex("## In other tools", "extras.testing.adapters"),
        section(
            "## Show: `rb.views`\n\nViews are functions of a page, by topic.",
            [_class("views.Page"), ".. autoclass:: ragbench.views.View"],
        ),
    ]
    for name in (name for name in views.__all__ if isinstance(getattr(views, name), ModuleType)):
        topic = getattr(views, name)
        parts.append(section(f"### `views.{name}`\n\n{topic.__doc__.splitlines()[0]}", _all(topic, f"views.{name}")))
    parts.append(_annex("## Views of kept runs", "extras.runs.views", told=True))
    said = "[What each number is and what holds it.](../statistics.md)"
    parts.append(section(f"## Statistics: `rb.stats`\n\n{said}", _all(stats, "stats")))
    metric = [
        ".. autofunction:: ragbench.core.metric.metric",
        f".. autoclass:: ragbench.core.metric.Metric\n   :members: {METRIC}",
    ]
    flow = [
        f".. autoclass:: ragbench.core.types.{name}" if name in FIELDS else _class(f"core.types.{name}")
        for name in FLOW
    ]
    parts.append(section("## Metrics and what flows through them", [*metric, *flow]))
    return {PAGE: "\n".join(part for part in parts if part)}


def section(title: str, entries: Iterable[str]) -> str:
    """A heading and what autodoc writes below it."""
    return f"{title}\n\n```{{eval-rst}}\n" + "\n".join(entries) + "\n```\n"


def _annex(title: str, place: str, *, told: bool = False) -> str:
    """The section of an annex's module, with what it says of itself where that is to be told; '' without the annex."""
    annex = ".".join(place.split(".")[:2])
    if not (Path(ragbench.__file__).parent / annex.replace(".", "/")).is_dir():
        return ""
    module = import_module(f"ragbench.{place}")
    head = f"{title}: `ragbench.{place}`" + (f"\n\n{module.__doc__}" if told else "")
    return section(head, _all(module, place))


def _own(name: str) -> str:
    one = getattr(ragbench, name)
    return f".. autofunction:: {one.__module__}.{name}"


def _all(room: ModuleType, place: str, but: tuple[str, ...] = ()) -> list[str]:
    """An entry for every name that a room gives to others."""
    exported: list[str] = room.__all__  # type: ignore[attr-defined]
    known = [(name, getattr(room, name)) for name in exported if name not in but]
    return [f".. auto{_kind(one)}:: ragbench.{place}.{name}" for name, one in known if callable(one)]


def _kind(one: Any) -> str:
    if not isinstance(one, type):
        return "function"
    return "exception" if issubclass(one, Exception) else "class"


def _class(place: str, without: str = "") -> str:
    return f".. autoclass:: ragbench.{place}\n   :members:" + (f"\n   :exclude-members: {without}" if without else "")


if __name__ == "__main__":
    chapters.write(PAGE, pages())

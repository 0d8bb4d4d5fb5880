"""`python -m tests.metrics_page`: docs/metrics.md and a page a metric, as the declarations in the code have them."""

from __future__ import annotations

import functools
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.docstrings import pieces
from docs.works import linked
from ragbench.cli.metrics import markdown
from ragbench.core.language import translator
from ragbench.core.metric import GOALS, Metric
from ragbench.core.settings import metrics
from ragbench.metrics import catalogue
from ragbench.tiers.scoring import goals
from ragbench.views.sentences import declared

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "metrics.md"
FOLDER = ROOT / "docs" / "metrics"
NAME = re.compile(r"(?<=\| )`(\w+)((?:@[\d,]+)?)`(?= \|)")
"""A cell that names a metric, with its cut-offs."""
HEAD = """# Metrics

Made from the declarations in the code (`make reference`). The tables list all metrics, with scale, direction and
formula. Each one has a page with its edge cases, a worked example, its source, how its values are read, when it is of
use, how far it may be trusted, and how it differs from what goes by the same name elsewhere. `ragbench metrics NAME`
prints the same. A number that could not be measured is never 0: it is counted beside the mean, with its reason.

A name may bind a cut-off and options: `ndcg(gain=exponential)@10`.

Where systems cut passages into pieces, a piece counts in rankings by the share of the labelled text that it newly
shows: [the rule](explanation/chunk-sizes.md).

"""
GOALS_HEAD = """After the tables of the specification (section 11.1, and those that choose metrics of retrieval and of
answers), with its measures of embeddings, users and sources. `ragbench metrics --for GOAL` prints one goal, by its name
or its title in English or Russian."""


def page() -> str:
    """The whole catalogue: its tables, which lead to the pages of the metrics."""
    whole = NAME.sub(_linked, HEAD + goals_table() + markdown())
    return f"{whole}\n```{{toctree}}\n:hidden:\n:glob:\n\nmetrics/*\n```\n"


def _linked(cell: re.Match[str]) -> str:
    return f"[{cell[0]}](metrics/{cell[1]}.md)" if cell[1] in catalogue() else cell[0]


def pages() -> dict[Path, str]:
    """The page of every metric."""
    return {FOLDER / f"{name}.md": section(one) for name, one in catalogue().items()}


def goals_table() -> str:
    """A row a goal and metric: which to choose, and why."""
    lines = [
        "## Which metric for which goal",
        "",
        GOALS_HEAD,
        "",
        "| goal | `--for` | metric | why |",
        "|---|---|---|---|",
    ]
    for name, title in GOALS.items():
        lines += [f"| {title} | `{name}` | `{one.metric.label}` | {one.purpose.why} |" for one in goals.choices(name)]
    return "\n".join([*lines, "", ""])


@functools.cache
def examples() -> dict[str, dict[str, Any]]:
    """What docs/examples.toml works out, by metric."""
    made: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "docs" / "examples.toml").read_text(encoding="utf-8"))
    return made


def section(one: Metric) -> str:
    """One metric, as a list of what its declaration says."""
    body = "".join(f"- **{name}**:{'' if text[0] == chr(10) else ' '}{text}\n" for name, text in told(one) if text)
    return f"# `{one.name}`\n\n{prose(one)}\n\n{body}"


def prose(one: Metric) -> str:
    """The docstring: paragraphs, and an argument an item of a list."""
    text = inspect.cleandoc(one.function.__doc__ or "").replace("|", "&#124;")
    return "\n\n".join(f"- **{names}**: {said}" if names else said for names, said in pieces(text))


def told(one: Metric) -> Iterator[tuple[str, str]]:
    """What stands in the list, by name."""
    yield "Formula", one.formula.replace("|", "&#124;")
    yield "Worked example", examples().get(one.name, {}).get("said", "")
    yield "Edges", one.edges
    yield "Several references", one.several
    yield "Elsewhere", one.differs
    yield "Fields of a sample that it needs", ", ".join(f"`{name}`" for name in one.fields)
    yield "Asks", " and ".join({"judge": "a judge", "embedder": "an embedder"}[need] for need in one.needs)
    yield "Options", "; ".join(f"`{name}`: {said}" if said else f"`{name}`" for name, said in one.legal_values.items())
    yield "Also called", ", ".join(f"`{name}`" for name in one.former)
    yield "Published as", f"`{one.published}`" if one.published else ""
    yield "Thresholds", "; ".join(bands(one))
    for title, lines in declared.told(one, translator("en")).items():
        yield title, "".join(f"\n  - {line}" for line in lines) if len(lines) > 1 else lines[0]
    yield "Signature", f"`{one.signature}`" if one.signature else ""
    yield "Source", linked(one.source)


def bands(one: Metric) -> Iterator[str]:
    """What the sets that ship call good and excellent, by the names that they call the metric."""
    for name, known in metrics.SETS.items():
        for label, band in known.items():
            if label.partition("@")[0] in (one.name, one.published):
                ends = f" on a scale from {band.scale[0]:g} to {band.scale[1]:g}" if band.scale else ""
                aim = f"good from {band.good:g}" if band.better == "higher" else f"good up to {band.good:g}"
                best = "" if band.excellent is None else f", excellent above {band.excellent:g}"
                yield f"`{label}` in the set `{name}`: {aim}{best}{ends}"


def write() -> None:
    """Write what the declarations say."""
    PAGE.write_text(page(), encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        path.unlink()
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()

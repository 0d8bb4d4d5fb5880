"""`python -m tests.docs.metrics_page`: docs/metrics.md, which metric for which goal, and a page a metric."""

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
from ragbench.core.language import Translator, translator
from ragbench.core.metric import GOALS, Metric
from ragbench.core.settings import metric_tables
from ragbench.metrics import catalogue
from ragbench.tiers.scoring import own_metrics
from ragbench.views.basics import interpretation
from tests.docs import chapters, russian_pages

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "metrics.md"
FOLDER = ROOT / "docs" / "metrics"
GOALS_PAGE = FOLDER / "by-goal.md"
ENGLISH = translator("en")
RUSSIAN = russian_pages.LOCALE / "metric-pages.po"
NAME = re.compile(r"(?<=\| )`(\w+)((?:@[\d,]+)?)`(?= \|)")
"""A cell that names a metric, with its cut-offs."""
FORMULA = re.compile(r"^(\|(?:[^|]*\|){3})[^|]*\|$", re.MULTILINE)
"""The last of four cells: the page of a metric has it."""
HEAD = """# Metrics

Made from the declarations in the code (`make reference`). The tables list all metrics, with scale and direction. Each
one has a page with its formula, edge cases, a worked example, its source, how its values are read, when it is of use,
how far it may be trusted, and how it differs from what goes by the same name elsewhere. `ragbench metrics NAME`
prints the same. A number that could not be measured is never 0: it is counted beside the mean, with its reason.

[Which metric for which goal](metrics/by-goal.md)

A name may bind a cut-off and options: `ndcg(gain=exponential)@10`.

Where systems cut passages into pieces, a piece counts in rankings by the share of the labelled text that it newly
shows: [the rule](explanation/chunk-sizes.md)."""
GOALS_HEAD = """# Which metric for which goal

After the tables of the specification (section 11.1, and those that choose metrics of retrieval and of
answers), with its measures of embeddings, users and sources. `ragbench metrics --for GOAL` prints one goal, by its name
or its title in English or Russian."""


def page(_: Translator = ENGLISH) -> str:
    """The whole catalogue: its tables, which lead to the pages of the metrics."""
    tables = NAME.sub(_linked, FORMULA.sub(r"\1", markdown(functools.partial(said, _=_))))
    return f"{head(HEAD, _)}\n\n{tables}\n```{{toctree}}\n:hidden:\n:glob:\n\nmetrics/by-goal\nmetrics/*\n```\n"


def goals_page(_: Translator = ENGLISH) -> str:
    """Which metric to choose for what."""
    return f"{head(GOALS_HEAD, _)}\n\n{goals_table(_)}\n".replace("](metrics/", "](")


def head(text: str, _: Translator) -> str:
    """The paragraphs at the head of a page, in the language."""
    return text if _.language == "en" else "\n\n".join(said(" ".join(part.split()), _) for part in text.split("\n\n"))


def _linked(cell: re.Match[str]) -> str:
    return f"[{cell[0]}](metrics/{cell[1]}.md)" if cell[1] in catalogue() else cell[0]


def pages() -> dict[Path, str]:
    """The index, the goals and the page of every metric."""
    return {PAGE: page(), GOALS_PAGE: goals_page()} | {
        FOLDER / f"{name}.md": section(one) for name, one in catalogue().items()
    }


def goals_table(_: Translator = ENGLISH) -> str:
    """A row a goal and metric: which to choose, and why."""
    lines = [f"| {said('goal', _)} | `--for` | {said('metric', _)} | {said('why', _)} |", "|---|---|---|---|"]
    for name, title in GOALS.items():
        lines += [
            NAME.sub(_linked, f"| {said(title, _)} | `{name}` | `{one.metric.label}` | {said(one.purpose.why, _)} |")
            for one in own_metrics.choices(name)
        ]
    return "\n".join(lines)


@functools.cache
def examples() -> dict[str, dict[str, Any]]:
    """What docs/examples.toml works out, by metric."""
    made: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "docs" / "examples.toml").read_text(encoding="utf-8"))
    return made


def section(one: Metric, _: Translator = ENGLISH) -> str:
    """One metric, as a list of what its declaration says."""
    body = "".join(
        f"- **{said(name, _)}**:{'' if text[0] == chr(10) else ' '}{text}\n" for name, text in told(one, _) if text
    )
    return f"# `{one.name}`\n\n{prose(one, _)}\n\n{body}"


def russian(app: Any, place: str, source: list[str]) -> None:
    """What Sphinx calls with the source of a page: pages of metrics in Russian are made as the English ones are, and a
    page that is written in both languages is the Russian one."""
    folder, _, name = place.rpartition("/")
    if app.config.language != "ru":
        return
    if folder == FOLDER.name:
        russian = translator("ru")
        source[0] = section(catalogue()[name], russian) if name in catalogue() else goals_page(russian)
    elif place == PAGE.stem:
        source[0] = page(translator("ru"))
    elif (written := PAGE.parent / f"{place}.ru.md").exists():
        source[0] = written.read_text(encoding="utf-8")


@functools.cache
def russian_words() -> dict[str, str]:
    """What pages of metrics say and no page of a report: headings, examples, and what docstrings add."""
    return russian_pages.read(RUSSIAN)


def said(text: str, _: Translator) -> str:
    """A text of a metric's page in the language; in English where it has no Russian."""
    return text if _.language == "en" else russian_words().get(text) or _(text)


def without_russian(one: Metric) -> list[str]:
    """Texts of a metric's page that no catalogue has; what stands in code or is a name is none."""
    russian = translator("ru")
    texts = [one.formula, one.edges, one.several, one.differs, one.source, *one.legal_values.values()]
    texts += [
        examples().get(one.name, {}).get("said", ""),
        *(words for _, words in pieces(inspect.getdoc(one.function) or "")),
    ]
    return [
        text for text in texts
        if re.search(r"[A-Za-z]{2}", text) and text not in russian_words() and russian(text) == text
    ]  # fmt: skip


def prose(one: Metric, _: Translator = ENGLISH) -> str:
    """The docstring: paragraphs, and an argument an item of a list."""
    text = inspect.cleandoc(one.function.__doc__ or "")
    parts = [(names, said(words, _)) for names, words in pieces(text)]
    return "\n\n".join(f"- **{names}**: {words}" if names else words for names, words in parts).replace("|", "&#124;")


def told(one: Metric, _: Translator = ENGLISH) -> Iterator[tuple[str, str]]:
    """What stands in the list, by name."""
    options = {name: said(words, _) for name, words in one.legal_values.items()}
    yield "Formula", said(one.formula, _).replace("|", "&#124;")
    yield "Worked example", said(examples().get(one.name, {}).get("said", ""), _)
    yield "Edges", said(one.edges, _)
    yield "Several references", said(one.several, _)
    yield "Elsewhere", said(one.differs, _)
    yield "Fields of a sample that it needs", ", ".join(f"`{name}`" for name in one.fields)
    yield "Asks", ", ".join(said({"judge": "a judge", "embedder": "an embedder"}[need], _) for need in one.needs)
    yield "Options", "; ".join(f"`{name}`: {words}" if words else f"`{name}`" for name, words in options.items())
    yield "Also called", ", ".join(f"`{name}`" for name in one.former)
    yield "Published as", f"`{one.published}`" if one.published else ""
    yield "Thresholds", "; ".join(bands(one, _))
    for title, lines in interpretation.declared(one, _).items():
        yield title, "".join(f"\n  - {line}" for line in lines) if len(lines) > 1 else lines[0]
    yield "Signature", f"`{one.signature}`" if one.signature else ""
    yield "Source", linked(said(one.source, _))


def bands(one: Metric, _: Translator = ENGLISH) -> Iterator[str]:
    """What the sets that ship call good and excellent, by the names that they call the metric."""
    for name, known in metric_tables.SETS.items():
        for label, band in known.items():
            if label.partition("@")[0] in (one.name, one.published):
                good, best = _.exact(band.good), _.exact(band.excellent)
                ends = ", ".join(_.exact(end) for end in band.scale or ())
                yield said("`{label}` in the set `{name}`: ", _).format(label=label, name=name) + "".join(
                    said(words, _).format(good=good, best=best, ends=ends)
                    for words, known in (
                        ("good from {good}", band.better == "higher"),
                        ("good up to {good}", band.better != "higher"),
                        (", excellent above {best}", band.excellent is not None),
                        (", on the scale [{ends}]", bool(band.scale)),
                    )
                    if known
                )


if __name__ == "__main__":
    chapters.write(PAGE, pages())

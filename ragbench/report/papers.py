"""A paper's table: systems × metrics, the best in bold, a dagger where a system differs from the baseline."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragbench import metrics as known_metrics
from ragbench.core import raised, stand_ins
from ragbench.core.names import meant
from ragbench.core.parts.latex import latex as escaped
from ragbench.core.parts.latex import stacked
from ragbench.core.parts.markdown import markdown as markdown_of
from ragbench.core.types import Comparison, Estimate
from ragbench.report import captions
from ragbench.tiers.basics.choices import parted
from ragbench.views import Page
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean

MOST, LINE = 6, 12
"""Metrics that a paper has room for, and signs of a line of their names."""
LONGEST = 300
"""Signs of a caption: three lines of a paper's text."""
_TYPST = re.compile(r"([\\#*_`$<>@\[\]~])")


@dataclass(frozen=True)
class _Cell:
    """A number as it is written, the ends of its interval, and what is said of it."""

    number: str
    ends: tuple[str, str] | None = None
    best: bool = False
    differs: bool = False


@dataclass(frozen=True)
class _Paper:
    """What stands in the table. heads: metric, and the arrow of the direction that is good."""

    system: str
    heads: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[_Cell, ...]], ...]
    caption: str


def latex(
    page: Page, label: str = "", *, metrics: str | Sequence[str] = "", intervals: bool = False, caption: str = ""
) -> str:
    r"""See `ragbench.Page.latex`. What is decorated stands in braces, so that no version of siunitx parses it."""
    made, name = _made(page, metrics, intervals, caption), label or page.measurement.notebook
    columns = "".join(_column([row[place] for _, row in made.rows]) for place in range(len(made.heads)))
    heads = [escaped(made.system), *(_head(title, way) for title, way in made.heads)]
    body = [" & ".join([escaped(system), *map(_latex_cell, cells)]) + r" \\" for system, cells in made.rows]
    mark = r"\sisetup{output-decimal-marker={,}}" if page.material.text.number(0.5, 1) == "0,5" else ""
    return (
        "% needs \\usepackage{booktabs,siunitx}\n\\begin{table}\n"
        f"  \\centering{mark}\n  \\caption{{{escaped(made.caption)}}}\n  \\label{{{name}}}\n"
        f"  \\begin{{tabular}}{{@{{}}l{columns}@{{}}}}\n    \\toprule\n    {' & '.join(heads)} \\\\\n    \\midrule\n"
        + "".join(f"    {row}\n" for row in body)
        + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
    )


def markdown(page: Page, *, metrics: str | Sequence[str] = "", intervals: bool = False, caption: str = "") -> str:
    """See `ragbench.Page.markdown`."""
    made = _made(page, metrics, intervals, caption)
    heads = [markdown_of(made.system), *(f"{markdown_of(name)} {way}".strip() for name, way in made.heads)]
    lines = [" | ".join(heads), "|".join(["---", *["---:"] * len(made.heads)])]
    for name, cells in made.rows:
        lines.append(" | ".join([markdown_of(name), *(_marked(cell, *_MARKDOWN) for cell in cells)]))
    return "\n".join([*(f"| {line} |" for line in lines), "", markdown_of(made.caption)]) + "\n"


def typst(
    page: Page, label: str = "", *, metrics: str | Sequence[str] = "", intervals: bool = False, caption: str = ""
) -> str:
    """See `ragbench.Page.typst`."""
    made, name = _made(page, metrics, intervals, caption), label or page.measurement.notebook
    heads = [f"[{_typst(text)}]" for text in (made.system, *(f"{metric} {way}".strip() for metric, way in made.heads))]
    rows = [[_typst(system), *(_marked(cell, *_OF_TYPST) for cell in cells)] for system, cells in made.rows]
    lines = [
        f"columns: {len(heads)},", f"align: (left, {', '.join(['right'] * len(made.heads))},),", "stroke: none,",
        "table.hline(),", f"table.header({', '.join(heads)}),", "table.hline(stroke: 0.5pt),",
        *(f"{', '.join(f'[{cell}]' for cell in row)}," for row in rows), "table.hline(),",
    ]  # fmt: skip
    table = "".join(f"    {line}\n" for line in lines)
    return f"#figure(\n  table(\n{table}  ),\n  caption: [{_typst(made.caption)}],\n) <{name}>\n"


_MARKDOWN = ("**{}**", "{}†", " \\[{}, {}\\]")
_OF_TYPST = ("*{}*", "{}#super[†]", " #linebreak() \\[{}, {}\\]")
"""How what is best, what differs, and ends of an interval are written."""


def _head(title: str, way: str) -> str:
    """A metric's name over its column, a long one in several lines."""
    lines = [""]
    for part in re.findall(r"[^_(]+_?|\(.*", title):
        if lines[-1] and len(lines[-1]) + len(part) > LINE:
            lines.append("")
        lines[-1] += part
    arrow = {"↑": r" $\uparrow$", "↓": r" $\downarrow$"}.get(way, "")
    text = r"\\".join(escaped(line).replace(r"\allowbreak{}", "") for line in lines) + arrow
    return f"{{{text}}}" if len(lines) == 1 else rf"{{\begin{{tabular}}[b]{{@{{}}c@{{}}}}{text}\end{{tabular}}}}"


def _typst(text: str) -> str:
    return _TYPST.sub(r"\\\1", text)


def _made(page: Page, metrics: str | Sequence[str], intervals: bool, caption: str) -> _Paper:
    material = page.material
    chosen = _chosen(material, metrics)
    columns = {metric: _cells(material, metric, intervals) for metric in chosen}
    ways = {metric: _way(material, metric) for metric in chosen}
    rows = tuple((clean(name), tuple(columns[metric][name] for metric in chosen)) for name in material.systems)
    heads = tuple((clean(metric), {"higher": "↑", "lower": "↓"}.get(ways[metric], "")) for metric in chosen)
    return _Paper(material.text("system"), heads, rows, caption or _caption(material, chosen, columns))


def _chosen(material: Material, metrics: str | Sequence[str]) -> list[str]:
    """Those that were asked for, else the key ones of the page. Raises ValueError for one that it has not."""
    chosen = []
    for name in parted(metrics):
        labels = known_metrics.meant(name, material.metrics)
        if len(labels) != 1:
            there = material.metrics
            raise ValueError(f"metrics: this page has no {name!r}{meant(name, there)}; it has {', '.join(there)}")
        chosen.append(labels[0])
    if not chosen and not material.key_metrics:
        raise ValueError("this page has no means of metrics: there is no table to make")
    return chosen or [metric for metric in material.key_metrics if metric in material.metrics][:MOST]


def _way(material: Material, metric: str) -> str:
    declared = material.declaration(metric)
    compared = any(material.comparison(name, metric) is not None for name in material.challengers)
    if material.lower_is_better(metric):
        return "lower"
    return "higher" if compared or (declared is not None and declared.better == "higher") else ""


def _cells(material: Material, metric: str, intervals: bool) -> dict[str, _Cell]:
    digits, way = material.digits(metric), _way(material, metric)
    estimates = {name: material.estimate(name, metric) for name in material.systems}
    written = {name: _number(estimate, digits) for name, estimate in estimates.items()}
    values = [float(text) for text in written.values() if text]
    best = None if not way or len(set(values)) < 2 else (min if way == "lower" else max)(values)
    return {
        name: _Cell(
            text, _ends(estimates[name], digits) if intervals else None, bool(text) and float(text) == best,
            _differs(material.comparison(name, metric)),
        )
        for name, text in written.items()
    }  # fmt: skip


def _differs(comparison: Comparison | None) -> bool:
    return comparison is not None and (comparison.verdict.is_better or comparison.verdict.is_worse)


def _number(estimate: Estimate | None, digits: int) -> str:
    return "" if estimate is None or math.isnan(estimate.value) else _fixed(estimate.value, digits)


def _ends(estimate: Estimate | None, digits: int) -> tuple[str, str] | None:
    if estimate is None or estimate.low is None or estimate.high is None or math.isnan(estimate.value):
        return None
    return _fixed(estimate.low, digits), _fixed(estimate.high, digits)


def _fixed(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # -0.0 becomes 0.0


def _marked(cell: _Cell, bold: str, dagger: str, ends: str) -> str:
    if not cell.number:
        return "–"
    text = bold.format(cell.number) if cell.best else cell.number
    text = dagger.format(text) if cell.differs else text
    return text + (ends.format(*cell.ends) if cell.ends else "")


def _latex_cell(cell: _Cell) -> str:
    if not cell.number:
        return "{--}"
    if not (cell.best or cell.differs or cell.ends):
        return cell.number
    number = rf"\textbf{{{cell.number}}}" if cell.best else rf"\num{{{cell.number}}}"
    number += r"\rlap{$^{\dagger}$}" if cell.differs else ""
    if cell.ends:
        low, high = (rf"\num{{{end}}}" for end in cell.ends)
        number = stacked(number, rf"{{\scriptsize [{low}, {high}]}}").replace("{@{}r@{}}", "{@{}c@{}}")
    return f"{{{number}}}"


def _column(cells: Sequence[_Cell]) -> str:
    """As wide as the widest number of the column."""
    parts = [cell.number.partition(".") for cell in cells if cell.number]
    whole = max((len(part[0].removeprefix("-")) for part in parts), default=1)
    minus = "-" if any(part[0].startswith("-") for part in parts) else ""
    return f"S[table-format={minus}{whole}.{max((len(part[2]) for part in parts), default=0)}]"


def _caption(material: Material, chosen: Sequence[str], columns: dict[str, dict[str, _Cell]]) -> str:
    """At most three lines where what must be said is no longer: of what the numbers are, what is marked how, which
    systems raised, and who stands in for a model."""
    _ = material.text
    cells = [cell for column in columns.values() for cell in column.values()]
    said = [captions.population(material)]
    if any(cell.ends for cell in cells):
        level = next((e.estimate.level for e in material.measurement.estimates), 0.95)
        said.append(_("In brackets: {level} intervals.", level=_.percent(level)))
    if any(cell.best for cell in cells):
        said.append(_("Bold: the best value; arrows: which way is good."))
    if material.baseline is not None:
        said.append(_dagger(material, chosen, any(cell.differs for cell in cells)))
    caveat = " ".join(filter(None, [*map(clean, raised.warnings(material.facts, _)), _standing_in(material)]))
    for short in (said, said[:1] + said[-1:], said[-1:]):
        text = " ".join(filter(None, [*short, caveat]))
        if len(text) <= LONGEST:
            break
    return text


def _dagger(material: Material, chosen: Sequence[str], marked: bool) -> str:
    """What the dagger stands for; that there is none says no more than that nothing was shown."""
    _ = material.text
    level = next((c.comparison.level for c in material.measurement.comparisons if c.metric in chosen), 0.95)
    places = {"baseline": clean(material.baseline), "alpha": _.exact(round(1 - level, 6))}
    if marked:
        return _("†: differs from {baseline}, p < {alpha} corrected over the comparisons of its family.", **places)
    return _("No difference from {baseline} is shown at p < {alpha}, corrected.", **places)


def _standing_in(material: Material) -> str:
    """Who only stands in for a model, in the fewest words; empty where nobody does."""
    _, there = material.text, stand_ins.of(material.facts)
    if not there:
        return ""
    named = _.enumeration(list(dict.fromkeys(clean(stand_in.name) for stand_in in there if stand_in.name)))
    return _("Made with offline stand-ins ({names}): they do not show how good a real model is.", names=named)

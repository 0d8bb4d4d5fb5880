"""A paper's table: systems × metrics, the best in bold, and what stands with a table that leaves the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ragbench.old import metrics as known_metrics
from ragbench.old.core import answered_by, gaps, stand_ins
from ragbench.old.core.language import MINUS
from ragbench.old.core.names import meant
from ragbench.old.core.parts import Styled, Table, Value
from ragbench.old.core.parts.latex import CAPTION, Latex, breakable, continued, decimal_mark, stacked
from ragbench.old.core.parts.latex import latex as escaped
from ragbench.old.core.parts.markdown import Markdown
from ragbench.old.core.parts.markdown import markdown as markdown_of
from ragbench.old.core.parts.style import Spoken, spoken
from ragbench.old.core.stand_ins import caveat, of
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.tiers.basics.choices import parted
from ragbench.old.tiers.basics.findings import PRIMARY, merged, said
from ragbench.old.tiers.basics.verdict_tables import beyond, doubted, interval_name, lacking
from ragbench.old.views import Page
from ragbench.old.views.about.method import test_names
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean
from ragbench.old.views.retrieval.rankings import unjudged_table
from ragbench.old.views.sentences import conclusions, judges

MOST, LINE = 6, 9
"""Metrics that a paper has room for, and signs of a line of their names."""
ROOM, SMALL, GAP, NAME, HEIGHT = 68, 79, 2.4, 24, 52
"""Signs of a line of text in LaTeX's article class, of one in `footnotesize`, of the space between two columns, and of
systems' names at most; such lines of a page."""
_WIDE, _NARROW = re.compile(r"[mwMWшщжюмыфШЩЖЮМЫФ@—]|[A-ZА-Я]"), re.compile(r"[ijlfrt.,:;()\[\]' -]")
_TYPST = re.compile(r"([\\#*_`$<>@\[\]~])")


@dataclass(frozen=True)
class _Paper:
    """What stands in the table. heads: metric, and the arrow of the good direction. beside: what nobody judged."""

    system: str
    heads: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[Value, ...]], ...]
    caption: str
    beside: Table | None

    @property
    def named(self) -> float:
        """How wide the names of systems stand, in signs."""
        return min(NAME, max(map(_signs, (self.system, *(name for name, _ in self.rows)))))

    @cached_property
    def panels(self) -> list[slice]:
        """Which metrics stand side by side, in as few tables as that takes, each of about as many."""
        widths = self._widths
        for number in range(1, len(widths)):
            ends = [round(len(widths) * part / number) for part in range(number + 1)]
            panels = list(map(slice, ends, ends[1:]))
            if all(self.named + sum(widths[panel]) <= SMALL for panel in panels):
                return panels
        return [slice(place, place + 1) for place in range(len(widths))]

    @property
    def is_small(self) -> bool:
        """Whether a line has no room for them all in the size of the text."""
        return self.named + sum(self._widths) > ROOM

    @property
    def _widths(self) -> list[float]:
        return [self._width(place) for place in range(len(self.heads))]

    def _width(self, place: int) -> float:
        """Of a metric's column: its name's widest line with the arrow, its widest number, or an interval in small."""
        title, way = self.heads[place]
        *above, last = lines(title)
        cells = [row[place] for _, row in self.rows if not _is_missing(row[place])]
        numbers = [len(_fixed(cell)) * (1 if cell.low is None else 2.1) for cell in cells]
        return GAP + max([*map(_signs, above), _signs(last) + 2 * bool(way), *numbers])


class _Siunitx(Latex):
    """How cells of a column `S` are written: what is more than a number stands in braces, in which no version of
    siunitx parses it."""

    def value(self, value: Value, digits: int, signed: bool) -> str:
        r"""`0.500`, `{\textbf{0.750}\rlap{$^{\dagger}$}}`, and an interval below it."""
        if _is_missing(value):
            return "{--}"
        if not (value.best or value.beside) and value.low is None:
            return _fixed(value)
        said = spoken(self._).phrase(replace(value, low=None, high=None, beside=(), best=False)).replace(MINUS, "$-$")
        number = rf"\textbf{{{said}}}" if value.best else rf"\num{{{_fixed(value)}}}"
        number += self.phrase(value.beside)
        if value.low is not None:
            number = stacked(number, rf"{{\scriptsize {self.interval(value, value.digits or 0, signed)}}}", "c")
        return f"{{{number}}}"

    def styled(self, styled: Styled, content: str) -> str:
        """The sign of what differs takes no room."""
        return r"\rlap{$^{\dagger}$}" if styled is DIFFERS else super().styled(styled, content)


class _Typst(Spoken):
    """How cells are written for Typst."""

    nothing = "–"

    def text(self, text: str) -> str:
        """A text, every sign of Typst's language escaped."""
        return _TYPST.sub(r"\\\1", text)

    def name(self, text: str) -> str:
        """A system's name, which may break where LaTeX's may."""
        return " ".join("#sym.zws;".join(map(self.text, breakable(word))) for word in text.split())

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        """Below the number."""
        return f"#linebreak() {self.text(super().ends(low, high, digits, signed))}"

    def styled(self, styled: Styled, content: str) -> str:
        """What is best in bold, the sign of what differs raised."""
        return f"*{content}*" if styled.tag == "b" else f"#super[{content}]"

    def beside(self, table: Table, label: str) -> str:
        """Any table as a figure, its notes as the caption; texts stand on the left."""
        sides = ["left" if column.kind == "text" else "right" for column in table.columns]
        made = _table(str(len(sides)), sides, [self.phrase(c.title) for c in table.columns], self.written(table))
        return f"#figure(\n  {made},\n  caption: [{self.text(' '.join(table.notes))}],\n) <{label}>\n"


def _table(columns: str, sides: Sequence[str], heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Typst, of cells that are written."""
    content = [
        f"columns: {columns},", f"align: ({', '.join(sides)},),", "stroke: none,", "table.hline(),",
        f"table.header({', '.join(f'[{head}]' for head in heads)}),", "table.hline(stroke: 0.5pt),",
        *(f"{', '.join(f'[{cell}]' for cell in row)}," for row in rows), "table.hline(),",
    ]  # fmt: skip
    return "table(\n" + "".join(f"    {line}\n" for line in content) + "  )"


DIFFERS = Styled("†", "sup")


def latex(
    page: Page, label: str = "", *, metrics: str | Sequence[str] = "", intervals: bool = False, caption: str = ""
) -> str:
    """See `ragbench.Page.latex`."""
    made, name = _made(page, metrics, intervals, caption), label or page.measurement.notebook
    style = _Siunitx(page.material.text)
    mark = decimal_mark(page.material.text)
    aside = rf">{{\raggedright\arraybackslash}}p{{{NAME / 2:g}em}}" if made.named == NAME else "l"
    size = r"\footnotesize\setlength{\tabcolsep}{4pt}" if made.is_small else ""
    tabular, wide, fill, tables = "tabular", "", "", list[str]()
    if len(made.panels) > 1:
        tabular, wide, fill = "tabular*", r"{\linewidth}", r"\extracolsep{\fill}"
    for panel in made.panels:
        columns = "".join(map(_column, zip(*(cells[panel] for _, cells in made.rows), strict=True)))
        heads = [escaped(made.system), *(_head(title, way) for title, way in made.heads[panel])]
        body = [" & ".join([escaped(system), *map(style.phrase, cells[panel])]) for system, cells in made.rows]
        tables.append(
            f"  \\begin{{{tabular}}}{wide}{{@{{{fill}}}{aside}{columns}@{{}}}}\n"
            f"    \\toprule\n    {' & '.join(heads)} \\\\\n    \\midrule\n"
            + "".join(f"    {row} \\\\\n" for row in body)
            + f"    \\bottomrule\n  \\end{{{tabular}}}\n"
        )
    height = 3.5 + sum(1 + (1.1 if intervals else len(system) // NAME) for system, _ in made.rows)
    most = max(1, int(HEIGHT // height))
    floats = [tables[start : start + most] for start in range(0, len(tables), most)]
    text = "% needs \\usepackage{booktabs,siunitx}\n" + "".join(
        f"\\begin{{table}}\n  \\centering{size}{mark}\n"
        + (continued(page.material.text) if place else f"  \\caption{{{escaped(made.caption)}}}\n  \\label{{{name}}}\n")
        + "  \\par\\medskip\n".join(panels)
        + "\\end{table}\n"
        for place, panels in enumerate(floats)
    )
    return text if made.beside is None else f"{text}\n{made.beside.latex(f'{name}-judged')}"


def markdown(page: Page, *, metrics: str | Sequence[str] = "", intervals: bool = False, caption: str = "") -> str:
    """See `ragbench.Page.markdown`."""
    made, style = _made(page, metrics, intervals, caption), Markdown(page.material.text)
    heads = [markdown_of(made.system), *(f"{markdown_of(name)} {way}".strip() for name, way in made.heads)]
    lines = [" | ".join(heads), "|".join(["---", *["---:"] * len(made.heads)])]
    for name, cells in made.rows:
        lines.append(" | ".join([markdown_of(name), *map(style.phrase, cells)]))
    text = "\n".join([*(f"| {line} |" for line in lines), "", markdown_of(made.caption)]) + "\n"
    return text if made.beside is None else f"{text}\n{made.beside.markdown()}"


def typst(
    page: Page, label: str = "", *, metrics: str | Sequence[str] = "", intervals: bool = False, caption: str = ""
) -> str:
    """See `ragbench.Page.typst`."""
    made, name = _made(page, metrics, intervals, caption), label or page.measurement.notebook
    style = _Typst(page.material.text)
    aside, panels, tables = f"{NAME / 2:g}em" if made.named == NAME else "auto", made.panels, list[str]()
    for panel in panels:
        heads = ["#linebreak() ".join(map(style.text, [*above, f"{last} {way}".strip()]))
                 for metric, way in made.heads[panel] for *above, last in [lines(metric)]]  # fmt: skip
        rows = [[style.name(system), *map(style.phrase, cells[panel])] for system, cells in made.rows]
        columns = f"({', '.join([aside, *['auto' if len(panels) == 1 else '1fr'] * len(heads)])})"
        heads.insert(0, style.text(made.system))
        tables.append(f"  #{_table(columns, ['left', *['right'] * (len(heads) - 1)], heads, rows)}\n")
    body = f"  text(size: {0.8 if made.is_small else 1}em)[\n{''.join(tables)}  ],\n"
    figure = f"#figure(\n{body}  caption: [{style.text(made.caption)}],\n) <{name}>\n"
    figure = figure if len(tables) == 1 else f"#[#show figure: set block(breakable: true)\n{figure}]\n"
    return figure if made.beside is None else f"{figure}\n{style.beside(made.beside, f'{name}-judged')}"


def lines(title: str) -> list[str]:
    """A metric's name over its column, a long one in several lines."""
    parted_name = [""]
    for part in re.findall(r"[^_(@]+_?|[(@].*", title):
        if parted_name[-1] and len(parted_name[-1]) + len(part) > LINE:
            parted_name.append("")
        parted_name[-1] += part
    return parted_name


def _head(title: str, way: str) -> str:
    named = lines(title)
    arrow = {"↑": r" $\uparrow$", "↓": r" $\downarrow$"}.get(way, "")
    text = r"\\".join(escaped(line).replace(r"\allowbreak{}", "") for line in named) + arrow
    return f"{{{text}}}" if len(named) == 1 else rf"{{\begin{{tabular}}[b]{{@{{}}c@{{}}}}{text}\end{{tabular}}}}"


def _signs(text: str) -> float:
    """How wide a text is, in signs of usual width."""
    return len(text) + 0.5 * len(_WIDE.findall(text)) - 0.3 * len(_NARROW.findall(text))


def _made(page: Page, metrics: str | Sequence[str], intervals: bool, caption: str) -> _Paper:
    material = page.material
    chosen = _chosen(material, metrics)
    columns = {metric: _cells(material, metric, intervals) for metric in chosen}
    ways = {metric: _way(material, metric) for metric in chosen}
    rows = tuple((clean(name), tuple(columns[metric][name] for metric in chosen)) for name in material.systems)
    heads = tuple((clean(metric), {"higher": "↑", "lower": "↓"}.get(ways[metric], "")) for metric in chosen)
    return _Paper(material.text("system"), heads, rows, caption or _caption(material, chosen, columns),
                  unjudged_table(material))  # fmt: skip


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


def _cells(material: Material, metric: str, intervals: bool) -> dict[str, Value]:
    digits, way = material.digits(metric), _way(material, metric)
    estimates = {name: material.estimate(name, metric) for name in material.systems}
    values = {
        name: round(e.value, digits) for name, e in estimates.items() if e is not None and not math.isnan(e.value)
    }
    best = None if not way or len(set(values.values())) < 2 else (min if way == "lower" else max)(values.values())
    return {
        name: Value(
            estimate.value, estimate.low if intervals else None, estimate.high if intervals else None, digits=digits,
            bare=True, best=values[name] == best, beside=DIFFERS if _differs(material.comparison(name, metric)) else (),
        )
        if (estimate := estimates[name]) is not None and name in values
        else Value(math.nan)
        for name in material.systems
    }  # fmt: skip


def _differs(comparison: Comparison | None) -> bool:
    return comparison is not None and (comparison.verdict.is_better or comparison.verdict.is_worse)


def _is_missing(value: Value) -> bool:
    return value.value is None or math.isnan(value.value)


def _fixed(value: Value) -> str:
    return f"{round(value.value or 0, value.digits) + 0.0:.{value.digits}f}"  # -0.0 becomes 0.0


def _column(cells: Iterable[Value]) -> str:
    """As wide as the widest number of the column."""
    parts = [_fixed(cell).partition(".") for cell in cells if not _is_missing(cell)]
    whole = max((len(part[0].removeprefix("-")) for part in parts), default=1)
    minus = "-" if any(part[0].startswith("-") for part in parts) else ""
    return f"S[table-format={minus}{whole}.{max((len(part[2]) for part in parts), default=0)}]"


def _caption(material: Material, chosen: Sequence[str], columns: dict[str, dict[str, Value]]) -> str:
    """At most three lines where what must be said is no longer: of what the numbers are, what is marked how, which
    systems raised, whose replies came from a file, and who stands in for a model."""
    _ = material.text
    cells = [cell for column in columns.values() for cell in column.values()]
    said = [population(material)]
    if any(cell.low is not None for cell in cells):
        level = next((e.estimate.level for e in material.measurement.estimates), 0.95)
        said.append(_("In brackets: {level} intervals.", level=_.percent(level)))
    if any(cell.best for cell in cells):
        said.append(_("Bold: the best value; arrows: which way is good."))
    if material.baseline is not None:
        said.append(_dagger(material, chosen, any(cell.beside for cell in cells)))
    strange = (*gaps.raised_warnings(material.facts, _), *answered_by.warnings(material.facts, _))
    caveat = " ".join(filter(None, [*map(clean, strange), _standing_in(material)]))
    for short in (said, said[:1] + said[-1:], said[-1:]):
        text = " ".join(filter(None, [*short, caveat]))
        if len(text) <= CAPTION:
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


Listed = tuple[str, str, str]
"""Metric, challenger, and the number that is told of both."""


def of_a_table(material: Material) -> list[str]:
    """The sentences of an article's caption; arrows stand for verdicts there."""
    _, made = material.text, material.measurement
    notes = [population(material), *of_values(material)]
    if made.comparisons:
        comparisons = [finding.comparison for finding in made.comparisons]
        marks = {
            Verdict.BETTER: _("↑ better than the baseline"),
            Verdict.SLIGHTLY_BETTER: _("↗ better, by less than matters"),
            Verdict.WORSE: _("↓ worse than the baseline"),
            Verdict.SLIGHTLY_WORSE: _("↘ worse, by less than matters"),
            Verdict.SAME: _("≈ the same within the margin"),
        }
        there = [
            text for verdict, text in marks.items() if any(comparison.verdict is verdict for comparison in comparisons)
        ]
        for verdict, sign in ((Verdict.CANNOT_BE_SHOWN, "∅"), (Verdict.CANNOT_BE_TOLD, "?")):
            why = dict.fromkeys(
                material.verdict(comparison) for comparison in comparisons if comparison.verdict is verdict
            )
            there += [f"{sign} {'; '.join(why)}"] if why else []
        notes[2:2] = [f"{'; '.join(there)}."] if there else []  # within the caption
        named = sorted(
            dict.fromkeys(comparison.family for comparison in comparisons),
            key=lambda name: not name.startswith(PRIMARY),
        )
        families = "; ".join(filter(None, (said(name, _) for name in named)))
        notes += [_("p and the intervals of differences: {family}.", family=families)] if families else []
        notes += list(filter(None, [merged(comparisons, _)]))
    if any(e.estimate.n_unmeasured for e in made.estimates):
        notes.append(
            _("Below n: the mean if every unmeasured value lay at the lower end of the scale, or at the upper.")
        )
    seed = material.facts.get("seed")
    strange = gaps.unidentified_sentences(gaps.unidentified(material.facts).values(), _)
    others = (*answered_by.warnings(material.facts, _), *gaps.raised_warnings(material.facts, _))
    notes += [*of_comparisons(material), *map(clean, (*strange, *others)), caveat(of(material.facts), _)]
    return [*notes, "" if seed is None else _("Seed: {seed}.", seed=seed)]


def population(material: Material) -> str:
    """Of which questions of which data the numbers are, and what is searched; empty where that is not known."""
    _, known = material.text, material.facts
    named, number = known.get("dataset"), known.get("n_questions")
    searched = {"chunk": _("passages are searched"), "url": _("web pages are searched")}.get(str(known.get("unit")))
    parts = [
        _("data set {name}", name=clean(named)) if named else "",
        "" if number is None else _.plural("{n} question", "{n} questions", int(number)),
        searched or "",
    ]
    text = ", ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def of_values(material: Material) -> list[str]:
    """What the values are, with which intervals, what they are compared with, and which metric is the primary one."""
    _, made = material.text, material.measurement
    level = _.percent(next((e.estimate.level for e in made.estimates), 0.95))
    notes = [
        _("Values with {level} intervals; n: how many questions or other units each is computed from.", level=level)
    ]
    notes += [*directions(material), *filter(None, [how(material)])]
    if not made.comparisons:
        return notes
    notes.append(_("Baseline: {system}.", system=clean(material.baseline)))
    several = len(material.metrics) > 1 and material.primary is not None
    return [*notes, *([_("Primary metric: {metric}.", metric=clean(material.primary))] if several else [])]


def directions(material: Material) -> list[str]:
    """Which way is good, of all metrics at once or of each kind by name."""
    _, by_way = material.text, dict[str, list[str]]()
    for metric in material.metrics:
        declared = material.declaration(metric)
        told = material.challengers and any(material.comparison(name, metric) for name in material.challengers)
        way = "lower" if material.lower_is_better(metric) else "higher" if told or declared is None else declared.better
        by_way.setdefault(way or "", []).append(clean(metric))
    if list(by_way) == ["higher"]:
        return [_("Higher is better.")]
    if list(by_way) == ["lower"]:
        return [_("Lower is better.")]
    said = {
        "higher": lambda named: _("Higher is better: {named}.", named=named),
        "lower": lambda named: _("Lower is better: {named}.", named=named),
        "": lambda named: _("No value is better than another: {named}.", named=named),
    }
    return [said[way](", ".join(by_way[way])) for way in said if way in by_way]


def how(material: Material) -> str:
    """By which test, with which intervals, and over how many independent groups, in a line."""
    _, made = material.text, material.measurement
    compared = [finding.comparison for finding in made.comparisons]
    intervals: list[Estimate | Comparison] = [*(e.estimate for e in made.estimates), *compared]
    methods = dict.fromkeys(interval.method for interval in intervals)
    groups = sorted(
        {comparison.groups for comparison in compared} or {e.estimate.clusters or e.estimate.n for e in made.estimates}
    )
    clustered = any(interval.clusters is not None for interval in intervals)
    tests = "; ".join(test_names(material, [comparison.test for comparison in compared]))
    kinds = "; ".join(interval_name(method, _) for method in methods if method != "none")
    parts = [
        _("test: {names}", names=tests) if tests else "",
        _("intervals: {names}", names=kinds) if kinds else "",
        "–".join(dict.fromkeys(_.integer(number) for number in (groups[0], groups[-1]))) if groups else "",
    ]
    if parts[2] and clustered:
        parts[2] = _("independent groups: {counts}", counts=parts[2])
    elif parts[2]:
        parts[2] = _("independent questions: {counts}", counts=parts[2])
    text = ", ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def of_comparisons(material: Material) -> list[str]:
    """What is to be read with the numbers: how sure they are, what could have been shown where nothing was, who
    corrected the numbers, and what repeats add to the primary metric's."""
    return [*_lacking(material), *_unsure(material), *_detectable(material), *_planned(material),
            *judges.corrected(material), *_repeats(material)]  # fmt: skip


def _lacking(material: Material) -> list[str]:
    """Between which ends differences lie with what is unmeasured, and what nothing more is to be said of: that a scale
    has no end, or no room."""
    _, ends, others = material.text, list[Listed](), dict[str, list[Listed]]()
    for metric in material.metrics:
        for name in material.challengers:
            c, digits = material.comparison(name, metric), material.digits(metric)
            if c is None:
                continue
            if c.least is not None and c.most is not None:
                both = (_.number(end, digits, signed=True) for end in (c.least, c.most))
                ends.append((metric, name, " … ".join(both)))
            open_ended = c.least is None or c.most is None
            for text in (lacking(c, _, digits) if open_ended else "", beyond(c, _), doubted(c, _)):
                others.setdefault(text, []).append((metric, name, ""))
    several = len(material.challengers) > 1
    said = [f"{text[:1].upper()}{text[1:]}: {_listed(own, several)}." for text, own in others.items() if text]
    if ends:
        said.append(
            _(
                "Differences with every unmeasured value at either end of its scale: {named}.",
                named=_listed(ends, several),
            )
        )
    return said


def _unsure(material: Material) -> list[str]:
    """Whose intervals may miss the true value more often than they say, and why."""
    doubts: dict[str, list[Listed]] = {}
    for metric in material.metrics:
        for name in material.systems:
            estimate = material.estimate(name, metric)
            if estimate is not None and (text := doubted(estimate, material.text)):
                doubts.setdefault(text, []).append((metric, name, ""))
    several = len(material.systems) > 1
    return [f"{text[:1].upper()}{text[1:]}: {_listed(own, several)}." for text, own in doubts.items()]


def _open(material: Material) -> list[tuple[str, str, Comparison]]:
    """Metric, challenger and comparison of all that show no difference."""
    return [
        (metric, name, c)
        for metric in material.metrics
        for name in material.challengers
        if (c := material.comparison(name, metric)) is not None and c.verdict is Verdict.NOT_SHOWN
    ]


def _detectable(material: Material) -> list[str]:
    """The smallest differences that would have been shown, of the comparisons that show none."""
    _ = material.text
    smallest = [
        (metric, name, _.number(c.minimum_detectable, material.digits(metric)))
        for metric, name, c in _open(material)
        if c.minimum_detectable is not None
    ]
    listed = _listed(smallest, len(material.challengers) > 1)
    return [_("A difference of this size or more would have been shown: {named}.", named=listed)] if smallest else []


def _planned(material: Material) -> list[str]:
    """How many questions show the smallest differences of interest, of comparisons that show none: a sentence a
    difference, however many comparisons there are."""
    _ = material.text
    reached: dict[float, list[Listed]] = {}
    lacking: dict[tuple[float, int, bool], list[Listed]] = {}
    for metric, name, c in _open(material):
        if c.margin is None or c.questions_needed is None:
            continue
        if c.questions_needed <= c.n:
            reached.setdefault(c.margin, []).append((metric, name, ""))
        else:
            place = c.margin, c.n, c.clusters is not None
            lacking.setdefault(place, []).append((metric, name, _.integer(c.questions_needed)))
    notes = [
        _(
            "The smallest difference of interest, {margin}, would likely have been shown: {named}.",
            margin=_.exact(margin),
            named=_listed(own, len(material.challengers) > 1),
        )
        for margin, own in reached.items()
    ]
    for (margin, n, grouped), listed in lacking.items():
        places = {"margin": _.exact(margin), "n": _.integer(n), "named": _listed(listed, len(material.challengers) > 1)}
        notes.append(
            _(
                "Questions needed to show the smallest difference of interest, {margin}, in groups as large as now "
                "(there were {n} questions): {named}.",
                **places,
            )
            if grouped
            else _(
                "Questions needed to show the smallest difference of interest, {margin} (there were {n} questions): "
                "{named}.",
                **places,
            )
        )
    return notes


def _listed(entries: Iterable[Listed], several: bool) -> str:
    """`mrr: dense 0.064, hybrid 0.071; recall@5: dense 0.082`: of a system that is not one of several without its
    name."""
    by_metric = dict[str, list[str]]()
    for metric, name, number in entries:
        by_metric.setdefault(metric, []).append(" ".join(filter(None, (name if several else "", number))))
    return clean(
        "; ".join(
            f"{metric}{': ' if several else ' '}{', '.join(parts)}".strip() for metric, parts in by_metric.items()
        )
    )


def _repeats(material: Material) -> list[str]:
    """What repeats add to the primary metric's numbers, once for the systems of which it is the same."""
    metric, by_text = material.primary, dict[str, list[str]]()
    for name in material.challengers if material.baseline is not None else material.systems:
        text = "" if metric is None else conclusions.repeats_sentence(material, name, metric)
        if text:
            by_text.setdefault(text, []).append(name)
    several = len(material.challengers) > 1
    return [
        clean(f"{metric}{f' ({material.text.enumeration(names)})' if several else ''}: {text}")
        for text, names in by_text.items()
    ]

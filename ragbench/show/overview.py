"""The overview of a run on one screen: pages down, systems across, each number with its band, verdict and way down."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ragbench.show import cells
from ragbench.show.material import COUNTS, Material
from ragbench.show.summary import leading
from ragbench.show.table import DASH, chip, spread
from ragbench.show.text import anchor, shown
from ragbench.types import Verdict

MOST_METRICS = 3
Row = Mapping[Any, Any]
Facts = Mapping[str, Any]


class Overview:
    """The table of cells, laid out: pages in their order, and the numbers of each by metric and system."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.text = material.text
        self.pages: tuple[Facts, ...] = tuple(material.facts.get("pages", ()))

    @cached_property
    def rows(self) -> dict[str, dict[str, dict[str, Row]]]:
        """Cells by page, metric and system."""
        found: dict[str, dict[str, dict[str, Row]]] = {}
        table = self.material.kept("cells")
        for row in table.to_dict("records") if len(table) else ():
            by_metric = found.setdefault(str(row["page"]), {})
            by_metric.setdefault(str(row["metric"]), {})[str(row["system"])] = row
        return found

    @cached_property
    def all_rows(self) -> list[Row]:
        """Every cell."""
        return [row for metrics in self.rows.values() for systems in metrics.values() for row in systems.values()]

    def metrics(self, page: Facts) -> list[str]:
        """The few metrics that stand for a page: its leading ones, those with a threshold before the others."""
        there = self.rows.get(str(page["name"]), {})
        primary = page.get("primary")
        named = leading(list(there), primary if primary in there else next(iter(there), None), page.get("key_metrics"))
        with_bands = [metric for metric in there if any(row["bands"] for row in there[metric].values())]
        first = [metric for metric in named[:1] if metric not in with_bands]
        ordered = dict.fromkeys([*first, *with_bands, *named])
        chosen = list(ordered)[:MOST_METRICS]
        return [metric for metric in there if metric in chosen]

    def title(self, page: Facts) -> tuple[str, str]:
        """What stands above a page's title, and the title, in the reader's language."""
        heading = self.text.blocks(str(page.get("heading") or "")).removeprefix("# ")
        over, dot, rest = heading.partition(" · ")
        return (over, rest) if dot else ("", heading or str(page["name"]))

    def short(self, page: Facts) -> str:
        """`Tier 1`, or the page's title where nothing stands above it."""
        over, title = self.title(page)
        return over or title


def draw(material: Material, present: frozenset[str]) -> Markup:
    """The answers to the three questions, then one table for each group of pages that share systems."""
    found = Overview(material)
    if not found.pages:
        return Markup("<p>{}</p>").format(material.text("Nothing was measured."))
    return Markup("").join(_table(found, group) for group in _groups(found.pages)) + _legend(found)


def standing(material: Material, present: frozenset[str]) -> Markup:
    """Is it good, is it better: a sentence each, counted from the cells."""
    found = Overview(material)
    said = [*_good(found), *_better(found), *_missing(found)]
    if not said:
        return Markup("<p>{}</p>").format(material.text("Nothing was measured."))
    return Markup('<div class="rb-says">{}</div>').format(Markup("").join(Markup("<p>{}</p>").format(s) for s in said))


def _good(found: Overview) -> list[Markup]:
    """How many numbers lie wholly in which band of the threshold set."""
    _ = found.text
    reached = [str(row["bands"]).split(",") for row in found.all_rows if row["bands"]]
    if not reached:
        return [Markup("{}").format(_("No number on these pages has a threshold."))]
    whole = [words[0] for words in reached if len(words) == 1]
    parts = [
        _("{n} excellent", n=_.integer(whole.count("excellent"))),
        _("{n} good", n=_.integer(whole.count("good"))),
        _("{n} in need of attention", n=_.integer(whole.count("attention"))),
    ]
    count = len(reached)
    lead = _.plural("Of {n} number with a threshold:", "Of {n} numbers with a threshold:", count)
    left = _.plural(
        "for {n}, the interval spans several bands", "for {n}, the interval spans several bands", count - len(whole)
    )
    return [Markup("{} {}; {}.").format(lead, ", ".join(parts), left)]


def _better(found: Overview) -> list[Markup]:
    """For each challenger, what its leading metric earned on each page that compares."""
    _ = found.text
    said: dict[tuple[str, str], dict[str, list[str]]] = {}
    for page in found.pages:
        by_system = found.rows.get(str(page["name"]), {}).get(str(page.get("primary")), {})
        for system, row in by_system.items():
            if row["verdict"]:
                words = said.setdefault((system, str(page.get("baseline"))), {})
                words.setdefault(row["verdict"], []).append(f"{found.short(page)}: {page['primary']}")
    return [_compared(found, system, baseline, words) for (system, baseline), words in said.items()]


def _compared(found: Overview, system: str, baseline: str, words: Mapping[str, Sequence[str]]) -> Markup:
    parts = [
        Markup("{} ({})").format(found.material.verdict(verdict), shown("; ".join(words[verdict.value])))
        for verdict in Verdict
        if verdict.value in words
    ]
    return found.text.html(
        "<b>{system}</b> against {baseline}: {verdicts}.",
        system=shown(system),
        baseline=shown(baseline),
        verdicts=Markup(", ").join(parts),
    )


def _missing(found: Overview) -> list[Markup]:
    """How much could not be measured, where anything could not."""
    _ = found.text
    missing = sum(int(page.get("unmeasured") or 0) for page in found.pages)
    wanted = sum(int(page.get("wanted") or 0) for page in found.pages)
    if not missing:
        return []
    text = _("{share} of all values could not be measured; they are in no mean.", share=_.percent(missing / wanted, 1))
    return [Markup("{}").format(text)]


def _groups(pages: Iterable[Facts]) -> list[list[Facts]]:
    """Pages that share a system stand in one table; a page of other systems, such as judges, begins its own."""
    groups: list[tuple[set[str], list[Facts]]] = []
    for page in pages:
        own = set(page.get("systems", ()))
        place = next((group for group in groups if group[0] & own), None)
        if place is None:
            place = (set(), [])
            groups.append(place)
        place[0].update(own)
        place[1].append(page)
    return [group for systems, group in groups if systems] + [group for systems, group in groups if not systems]


def _systems(pages: Sequence[Facts]) -> list[str]:
    ordered = sorted(pages, key=lambda page: page.get("baseline") is None)
    return list(dict.fromkeys(str(name) for page in ordered for name in page.get("systems", ())))


def _table(found: Overview, pages: Sequence[Facts]) -> Markup:
    _ = found.text
    systems = _systems(pages)
    heads = [Markup("<th scope=col>{}</th>").format(_("metric"))]
    heads += [Markup('<th scope=col class="rb-name">{}</th>').format(shown(name, 60)) for name in systems]
    heads += [cells.head(_("unmeasured"))] if systems else []
    rows: list[Markup] = []
    for page in pages:
        rows.append(_page(found, page, len(heads)))
        rows += [_metric(found, page, metric, systems) for metric in found.metrics(page)]
    return cells.table(_("Overview: pages, metrics and systems"), heads, rows, "rb-long rb-overview")


def _page(found: Overview, page: Facts, width: int) -> Markup:
    over, title = found.title(page)
    return Markup(
        '<tr class="rb-group"><th scope=rowgroup colspan={}>'
        '<a href="{}">{}<span class="rb-question">{}</span></a><small>{}</small></th></tr>'
    ).format(
        width,
        href(page),
        Markup('<span class="rb-tier">{}</span> ').format(shown(over)) if over else "",
        shown(title),
        Markup(" · ").join(_measured(found, page)),
    )


def _measured(found: Overview, page: Facts) -> list[Markup]:
    """Questions, time and cost of a page."""
    _ = found.text
    said: list[str] = []
    if page.get("n_questions") is not None:
        said.append(_.plural("{n} question", "{n} questions", int(page["n_questions"])))
    elif page.get("n_texts") is not None:
        said.append(_.plural("{n} text", "{n} texts", int(page["n_texts"])))
    times = page.get("milliseconds") or {}
    if times:
        numbers = " / ".join(_time(found, times[name]) for name in page["systems"] if name in times)
        said.append(_("median time {times} ms", times=numbers))
    if page.get("judging_seconds"):
        said.append(_("judges took {seconds} s", seconds=_.number(page["judging_seconds"], 1)))
    spent = page.get("spent") or {}
    if spent:
        said.append(_("cost {money}", money=_.number(float(spent.get("money") or 0.0), 2)))
        said.append(_.plural("{n} call", "{n} calls", int(spent.get("calls") or 0)))
    elif page.get("systems"):
        said.append(_("no paid call"))
    return [shown(one) for one in said]


def _time(found: Overview, milliseconds: float) -> str:
    return found.text.number(milliseconds, 1 if milliseconds < 100 else 0)


def _metric(found: Overview, page: Facts, metric: str, systems: Sequence[str]) -> Markup:
    _ = found.text
    own = found.rows[str(page["name"])][metric]
    lower = any(row["better"] == "lower" for row in own.values())
    small = Markup(" <small>{}</small>").format(_("lower is better")) if lower else ""
    name = shown(metric).replace("_", Markup("_<wbr>"))
    made = [Markup("<th scope=row>{}{}</th>").format(name, small)]
    made += [_cell(found, page, metric, name, own) for name in systems]
    missing = sum(int(row["n_unmeasured"]) for row in own.values())
    wanted = sum(int(row["n"]) + int(row["n_unmeasured"]) for row in own.values())
    share = _.percent(missing / wanted, 1 if missing else 0) if wanted else DASH
    made.append(cells.cell(_("unmeasured"), share, "" if missing else "rb-quiet"))
    return cells.row(made)


def _cell(found: Overview, page: Facts, metric: str, system: str, own: Mapping[str, Row]) -> Markup:
    row = own.get(system)
    if row is None:
        return cells.cell(shown(system), Markup('<span class="rb-quiet">{}</span>').format(DASH))
    number = Markup('<a href="{}#{}">{}</a>').format(
        href(page), anchor("metric", metric), _value(found, metric, own, row)
    )
    words = [part for part in (_band(found, row), _verdict(found, page, row, system)) if part]
    under = Markup('<span class="rb-words">{}</span>').format(Markup(" ").join(words)) if words else ""
    return cells.cell(shown(system), Markup("{}{}").format(number, under), "rb-cell")


def _value(found: Overview, metric: str, own: Mapping[str, Row], row: Row) -> Markup:
    digits = _digits(metric, own)
    if not math.isfinite(row["value"]):
        return Markup("{}").format(found.text("not measured"))
    value = found.text.number(row["value"], digits)
    if not math.isfinite(row["low"]):
        return spread(value)
    return spread(f"{value} {found.text.interval(row['low'], row['high'], digits)}")


def _digits(metric: str, own: Mapping[str, Row]) -> int:
    if metric in COUNTS:
        return 0
    numbers = [abs(row[key]) for row in own.values() for key in ("value", "low", "high") if math.isfinite(row[key])]
    largest = max(numbers, default=0.0)
    return 3 if largest < 10 else 2 if largest < 100 else 1 if largest < 1000 else 0


def _band(found: Overview, row: Row) -> Markup:
    """The band's word where the whole interval lies in it; else the bands that it spans, in quiet letters."""
    words = str(row["bands"] or "").split(",") if row["bands"] else []
    if not words:
        return Markup("")
    named = [band_name(found.material, word) for word in words]
    if len(words) == 1:
        return Markup('<span class="rb-band rb-band-{}">{}</span>').format(words[0], named[0])
    text = found.text("{low} to {high}", low=named[0], high=named[-1])
    return Markup('<span class="rb-band rb-band-spanned">{}</span>').format(text)


def band_name(material: Material, word: str) -> str:
    """The word of a band."""
    _ = material.text
    return {"attention": _("needs attention"), "good": _("good"), "excellent": _("excellent")}[word]


def _verdict(found: Overview, page: Facts, row: Row, system: str) -> Markup:
    if row["verdict"]:
        return chip(found.material, Verdict(row["verdict"]))
    return (
        Markup('<span class="rb-quiet">{}</span>').format(found.text("baseline"))
        if system == page.get("baseline")
        else Markup("")
    )


def href(page: Facts) -> str:
    """The address of a page from beside it."""
    return f"{quote(str(page['name']))}.html"


def _legend(found: Overview) -> Markup:
    _ = found.text
    said = _(
        "A band of the threshold set “{name}” is stated only where the whole interval lies in it; otherwise the bands "
        "that the interval spans are named. Verdicts come from the page's own corrected comparisons with the baseline.",
        name=str(found.material.facts.get("threshold_set", "")),
    )
    return Markup('<p class="rb-meta">{}</p>').format(shown(said))


def limits(material: Material, present: frozenset[str]) -> Markup:
    """The thresholds that the numbers were held to, by metric."""
    found = Overview(material)
    _ = material.text
    known: dict[str, Row] = {str(row["metric"]): row for row in found.all_rows if math.isfinite(row["good"])}
    if not known:
        return Markup("<p>{}</p>").format(_("No number on these pages has a threshold."))
    heads = [Markup("<th scope=col>{}</th>").format(_("metric")), cells.head(_("good")), cells.head(_("excellent"))]
    rows = [
        cells.row([Markup("<th scope=row>{}</th>").format(shown(metric)), *_limits(found, row)])
        for metric, row in sorted(known.items())
    ]
    return cells.table(_("Thresholds"), heads, rows)


def _limits(found: Overview, row: Row) -> list[Markup]:
    _ = found.text
    lower = row["better"] == "lower"
    good = (
        _("{value} or less", value=_.number(row["good"], 2))
        if lower
        else _("{value} or more", value=_.number(row["good"], 2))
    )
    best: str = DASH
    if math.isfinite(row["excellent"]):
        number = _.number(row["excellent"], 2)
        best = _("below {value}", value=number) if lower else _("above {value}", value=number)
    return [cells.cell(_("good"), good), cells.cell(_("excellent"), best)]

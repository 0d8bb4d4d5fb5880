"""The overview of a run on one screen: pages down, systems across, each number with its band, verdict and way down."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ragbench.bench.basics.verdicts import said_of
from ragbench.counts import counted
from ragbench.language import DASH
from ragbench.measurement import estimate_of
from ragbench.settings import Band
from ragbench.show.about.summary import leading
from ragbench.show.basics import cells
from ragbench.show.basics.links import metric_name, row_anchor
from ragbench.show.basics.marks import chip_of, small, spread
from ragbench.show.basics.material import COUNTS, Material
from ragbench.show.basics.text import shown
from ragbench.show.blame.parts import Blamed
from ragbench.show.comparison import bands
from ragbench.show.comparison.headline import standing_in
from ragbench.show.page import view
from ragbench.types import Verdict

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

    def metrics(self, page: Facts, most: int) -> list[str]:
        """The few metrics that stand for a page: its leading ones, those with a threshold before the others."""
        there = self.rows.get(str(page["name"]), {})
        primary = page.get("primary")
        named = leading(list(there), primary if primary in there else next(iter(there), None), page.get("key_metrics"))
        with_bands = [metric for metric in there if any(row["bands"] for row in there[metric].values())]
        return list(dict.fromkeys([*named[:1], *with_bands, *named]))[:most]

    def title(self, page: Facts) -> tuple[str, str]:
        """What stands above a page's title, and the title, in the reader's language."""
        heading = self.text.blocks(str(page.get("heading") or "")).removeprefix("# ")
        over, dot, rest = heading.partition(" · ")
        return (over, rest) if dot else ("", heading or str(page["name"]))

    def short(self, page: Facts) -> str:
        """`Tier 1`, or the page's title where nothing stands above it."""
        over, title = self.title(page)
        return over or title


@view("overview")
def overview(material: Material, present: frozenset[str], most: int = 4) -> Markup:
    """Pages down, systems across: values with interval, band and verdict, each leading to its page.

    most: how many metrics stand for a page, those with a threshold and the leading ones first.
    """
    found = Overview(material)
    if not found.pages:
        return Markup("<p>{}</p>").format(material.text("Nothing was measured."))
    return Markup("").join(_table(found, group, most, present) for group in _groups(found.pages)) + _legend(found, most)


@view("standing")
def standing(material: Material, present: frozenset[str]) -> Markup:
    """Is it good, is it better: what all pages of the run add up to, in a sentence each."""
    found = Overview(material)
    said = [*_good(found), *_better(found), *_blamed(found), *_missing(found)]
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
    counts = {word: _.integer(whole.count(word)) for word in dict.fromkeys(whole)}
    named = {
        "excellent": _("{n} excellent", n=counts.get("excellent")),
        "good": _("{n} good", n=counts.get("good")),
        "attention": _("{n} in need of attention", n=counts.get("attention")),
    }
    parts = [text for word, text in named.items() if word in counts]
    if len(whole) < len(reached):
        parts.append(_("{n} between bands", n=_.integer(len(reached) - len(whole))))
    lead = _.plural("Of {n} number with a threshold:", "Of {n} numbers with a threshold:", len(reached))
    return [Markup("{} {}.").format(lead, ", ".join(parts))]


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


def _blamed(found: Overview) -> list[Markup]:
    """For each system the part that fails first most often, where a page has told it."""
    _ = found.text
    said = []
    for page in found.pages:
        for system, row in (page.get("blamed") or {}).items():
            ends = (math.nan if row[key] is None else float(row[key]) for key in ("low", "high"))
            low, high = (_.percent(end) if math.isfinite(end) else DASH for end in ends)
            text = _.html(
                "Most to blame in <b>{system}</b> ({page}): {part}, {share} of the questions {interval}.",
                system=shown(system),
                page=shown(found.short(page)),
                part=shown(Blamed(found.material).name(row["part"])),
                share=_.percent(row["share"]),
                interval=_.ends(low, high),
            )
            said.append(text)
    return said


def _missing(found: Overview) -> list[Markup]:
    """How much could not be measured, where anything could not."""
    _ = found.text
    missing = sum(int(page.get("unmeasured") or 0) for page in found.pages)
    wanted = sum(int(page.get("wanted") or 0) for page in found.pages)
    said = []
    if missing:
        share = _.percent(missing / wanted, 1)
        said.append(_("{share} of all values could not be measured; they are in no mean.", share=share))
    few = sum(int(page.get("incomplete") or 0) for page in found.pages)
    if few:
        said.append(
            _.plural(
                "{n} judged value is made of fewer judges than its panel has.",
                "{n} judged values are made of fewer judges than their panel has.",
                few,
            )
        )
    return [Markup("{}").format(text) for text in said]


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


def _table(found: Overview, pages: Sequence[Facts], most: int, present: frozenset[str]) -> Markup:
    _ = found.text
    systems = _systems(pages)
    baselines = {page.get("baseline") for page in pages}
    heads = [Markup("<th scope=col>{}</th>").format(_("page")), cells.head(_("metric"), "rb-word")]
    heads += [_system(found, name, name in baselines) for name in systems]
    heads += [cells.head(_("unmeasured"))] if systems else []
    rows = [row for page in pages for row in _rows(found, page, systems, most, present)]
    return cells.table(_("Overview: pages, metrics and systems"), heads, rows, "rb-overview")


def _system(found: Overview, name: str, is_baseline: bool) -> Markup:
    small = Markup("<small>{}</small>").format(found.text("baseline")) if is_baseline else ""
    return Markup('<th scope=col class="rb-name">{} {}</th>').format(shown(name, 60), small)


def _rows(found: Overview, page: Facts, systems: Sequence[str], most: int, present: frozenset[str]) -> list[Markup]:
    """A row for each metric of a page; the page's own cell spans them."""
    metrics = found.metrics(page, most)
    if not metrics:
        return [
            Markup('<tr class="rb-first">{}<td colspan={}></td></tr>').format(_page(found, page, 1), len(systems) + 2)
        ]
    made = []
    for number, metric in enumerate(metrics):
        first = [_page(found, page, len(metrics))] if number == 0 else []
        made.append(cells.row([*first, *_metric(found, page, metric, systems, present)], "" if number else "rb-first"))
    return made


def _page(found: Overview, page: Facts, height: int) -> Markup:
    over, title = found.title(page)
    return Markup(
        '<th scope=rowgroup rowspan={}><a href="{}">{}<span class="rb-question">{}</span></a><small>{}</small></th>'
    ).format(
        height,
        href(page),
        Markup('<span class="rb-tier">{}</span> ').format(shown(over)) if over else "",
        shown(title, 90),
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


def _metric(found: Overview, page: Facts, metric: str, systems: Sequence[str], present: frozenset[str]) -> list[Markup]:
    _ = found.text
    own = found.rows[str(page["name"])][metric]
    lower = any(row["better"] == "lower" for row in own.values())
    small = Markup(" <small>{}</small>").format(_("lower is better")) if lower else ""
    name = metric_name(found.material, present, metric)
    made = [Markup('<th scope=row class="rb-word">{}{}</th>').format(name, small)]
    made += [_cell(found, page, metric, system, own) for system in systems]
    missing = sum(int(row["n_unmeasured"]) for row in own.values())
    wanted = sum(int(row["n"]) + int(row["n_unmeasured"]) for row in own.values())
    share = _.percent(missing / wanted, 1 if missing else 0) if wanted else DASH
    made.append(cells.cell(_("unmeasured"), share, "" if missing else "rb-quiet"))
    return made


def _cell(found: Overview, page: Facts, metric: str, system: str, own: Mapping[str, Row]) -> Markup:
    row = own.get(system)
    if row is None:
        return cells.cell(shown(system), Markup('<span class="rb-quiet">{}</span>').format(DASH))
    number = Markup('<a href="{}#{}">{}</a>').format(
        href(page), row_anchor(metric, bool(page.get("describes"))), _value(found, metric, own, row)
    ) + small(counted(estimate_of(row), found.text, _digits(metric, own)))
    words = [part for part in (_band(found, row), _verdict(found, row)) if part]
    under = Markup('<span class="rb-words">{}</span>').format(Markup(" · ").join(words)) if words else ""
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
    return bands.marked(found.material, str(row["bands"]).split(",") if row["bands"] else ())


def _verdict(found: Overview, row: Row) -> Markup:
    if not row["verdict"]:
        return Markup("")
    verdict, groups = Verdict(row["verdict"]), row["groups"]
    clusters = int(groups) if math.isfinite(groups) else None
    return chip_of(verdict, said_of(verdict, int(row["pairs"]), clusters, found.text))


def href(page: Facts) -> str:
    """The address of a page from beside it."""
    return f"{quote(str(page['name']))}.html"


def _legend(found: Overview, most: int) -> Markup:
    name = str(found.material.facts.get("threshold_set", ""))
    verdicts = found.text("Verdicts come from the page's own corrected comparisons with the baseline.")
    said = f"{bands.stated(found.material, name)} {verdicts}"
    signed = {
        label: text
        for page in found.pages
        for label, text in (page.get("signatures") or {}).items()
        if label in found.metrics(page, most)
    }
    return Markup('<p class="rb-meta">{}</p>{}{}').format(
        shown(said), bands.signatures(found.material, signed), standing_in(found.material)
    )


@view("limits")
def limits(material: Material, present: frozenset[str]) -> Markup:
    """The thresholds that the numbers were held to."""
    found = Overview(material)
    _ = material.text
    known: dict[str, Row] = {str(row["metric"]): row for row in found.all_rows if math.isfinite(row["good"])}
    if not known:
        return Markup("<p>{}</p>").format(_("No number on these pages has a threshold."))
    heads = [Markup("<th scope=col>{}</th>").format(_("metric")), cells.head(_("good")), cells.head(_("excellent"))]
    rows = [
        cells.row(
            [Markup("<th scope=row>{}</th>").format(metric_name(material, present, metric)), *_limits(found, row)]
        )
        for metric, row in sorted(known.items())
    ]
    return cells.table(_("Thresholds"), heads, rows)


def _limits(found: Overview, row: Row) -> list[Markup]:
    _ = found.text
    best = row["excellent"] if math.isfinite(row["excellent"]) else None
    titles = (_("good"), _("excellent"))
    limits = bands.limits(_, Band(good=row["good"], excellent=best, better=row["better"]))
    return [cells.cell(title, text) for title, text in zip(titles, limits, strict=True)]

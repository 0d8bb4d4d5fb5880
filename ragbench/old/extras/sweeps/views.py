"""What a page of a sweep shows: the best configuration and what is left of it, effects, exchanges, and all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragbench.old.core.language import Translator
from ragbench.old.core.parts import (
    Column,
    Content,
    Drawing,
    Figure,
    Lines,
    Number,
    P,
    Phrase,
    Plot,
    Section,
    System,
    Table,
    Text,
    Value,
    bold,
    filled,
    small,
)
from ragbench.old.core.types import Comparison, Verdict
from ragbench.old.extras.sweeps import effects
from ragbench.old.extras.sweeps.ablation import ConfigurationRow, SweepFacts
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.basics.findings import adjusted
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.differences import Scale, scaled
from ragbench.old.views.basics.marks import chip, rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shown
from ragbench.old.views.sentences.conclusions import facts
from ragbench.old.views.view import view

SHOWN = 12
"""Rows of a table that are read at once; the others are folded."""


def factor_name(name: str, _: Translator) -> str:
    """The word for a factor."""
    words = {
        "chunker": _("chunker"), "embedder": _("embedder"), "retriever": _("retriever"), "fusion": _("fusion"),
        "reranker": _("reranker"), "k": _("passages handed on"), "rewriter": _("rewriter"),
        "generator": _("generator"), "prompt": _("prompt"),
    }  # fmt: skip
    return words.get(name, name)


def _part_said(part: str, count: int, _: Translator) -> str:
    """At how many questions of the baseline a part fails first."""
    if part == "not_retrieved":
        return _.plural(
            "At {n} question of the baseline no passage with the answer is retrieved: most often this fails first.",
            "At {n} questions of the baseline no passage with the answer is retrieved: most often this fails first.",
            count,
        )
    if part == "too_low":
        return _.plural(
            "At {n} question of the baseline the passage with the answer stands too low to be handed on: most "
            "often this fails first.",
            "At {n} questions of the baseline the passage with the answer stands too low to be handed on: most "
            "often this fails first.",
            count,
        )
    return _.plural(
        "At {n} question of the baseline the passage was read and the answer is wrong: most often this fails first.",
        "At {n} questions of the baseline the passage was read and the answer is wrong: most often this fails first.",
        count,
    )


def _better(comparison: Comparison) -> bool:
    """Whether a difference goes the way that is good."""
    return (comparison.difference > 0) == (comparison.better == "higher") and comparison.difference != 0


@view("sweep_best")
def best(material: Material, present: frozenset[str]) -> Content:
    """The best configuration, what is left of its value, and what of the plain means does not stand."""
    _, sweep, metric = material.text, cast(SweepFacts, material.facts).get("sweep"), str(material.primary)
    if sweep is None:
        return ()
    chosen, digits = str(sweep["chosen"]), material.digits(metric)
    value = material.estimate(chosen, metric, choice="corrected")
    rows = rows_of(ConfigurationRow, material.kept("configurations"))
    assert value is not None
    sentences: list[Phrase] = [
        filled(
            _(
                "Of all configurations ({n}) the best is {name}: {metric} {seen} as it stands, and {value} corrected "
                "for having been chosen for it."
            ),
            n=_.integer(len(rows)),
            name=bold(shown(chosen)),
            metric=shown(metric),
            seen=_.number(sweep["seen"], digits),
            value=Value.of(value, digits),
        )
    ]
    comparison = material.comparison(chosen, metric)
    if comparison is None:
        sentences.append(_("That is the baseline itself: no exchange has a higher mean."))
    else:
        sentences.append(
            filled(
                _(
                    "Over the baseline {baseline} it gains {seen} as it stands and {left} corrected; with all other "
                    "comparisons together, the difference is {interval}: {word}."
                ),
                baseline=bold(shown(material.baseline)),
                seen=_.number(sweep["seen_gain"], digits, signed=True),
                left=_.number(sweep["gain"], digits, signed=True),
                interval=Value(None, comparison.low, comparison.high, digits=digits, signed=True),
                word=bold(material.verdict(comparison)),
            )
        )
    sentences += [*_taken_back(material, metric), *_choices(material, rows)]
    return (Section([Text(said) for said in sentences], look="rb-says"), *facts(material), *_not_there(sweep, _))


def _taken_back(material: Material, metric: str) -> list[str]:
    """How many configurations would be called better if each were compared alone, and how many are."""
    _ = material.text
    compared = [c for name in material.challengers if (c := material.comparison(name, metric)) is not None]
    alone = [each for each in compared if _better(each) and each.p < 1 - each.level]
    together = [each for each in compared if each.verdict in (Verdict.BETTER, Verdict.SLIGHTLY_BETTER)]
    if not alone:
        return [_("No configuration is better than the baseline, not even compared alone.")]
    told = _.plural(
        "Compared alone, {n} configuration would be called better than the baseline",
        "Compared alone, {n} configurations would be called better than the baseline", len(alone),
    )  # fmt: skip
    kept = _.plural("{n} is left of them", "{n} are left of them", len(together))
    how = adjusted(compared[0].family, _)
    return [f"{told}; {kept} ({how})." if how else f"{told}; {kept}."]


def _choices(material: Material, rows: Sequence[ConfigurationRow]) -> list[Phrase]:
    """How many may be the best, and the quickest and the shortest of them."""
    _ = material.text
    may = [row for row in rows if row["may_be_best"]]
    share = _.percent(float(cast(SweepFacts, material.facts)["sweep"]["share"]))
    said: list[Phrase] = [
        _.plural(
            "{n} configuration cannot be told from the best; the chosen one won {share} of the choices.",
            "{n} configurations cannot be told from the best; the chosen one won {share} of the choices.",
            len(may),
            share=share,
        )
    ]
    timed = [row for row in may if row["milliseconds"] == row["milliseconds"]]
    if timed:
        quick, short = min(timed, key=lambda row: row["milliseconds"]), min(may, key=lambda row: row["words"])
        said.append(
            filled(
                _(
                    "Of these {quick} is the quickest ({ms} ms a question), {short} hands on the fewest words "
                    "({words})."
                ),
                quick=bold(shown(quick["system"])),
                ms=_.number(quick["milliseconds"], 1),
                short=bold(shown(short["system"])),
                words=_.integer(round(short["words"])),
            )
        )
    return said


def _not_there(sweep: Mapping[str, Any], _: Translator) -> list[Text]:
    """What was left out of the grid, and what failed."""
    lines = [
        Text(
            _.plural(
                "{n} configuration is not there: {why}",
                "{n} configurations are not there: {why}",
                count,
                why=reason_in(str(why), _),
            ),
            "rb-meta",
        )
        for why, count in sweep["left_out"].items()
    ]
    lines += [
        Text(
            filled(
                _("{name} has no part in the choice: {why}"), name=bold(shown(name)), why=shown(reason_in(str(why), _))
            ),
            "rb-standin",
        )
        for name, why in sweep["failed"].items()
    ]
    if rounds := sweep["rounds"]:
        told = ", ".join(_("{n} on {questions}", n=n, questions=questions) for n, questions in rounds)
        lines.append(Text(_("Configurations on questions, round by round: {rounds}.", rounds=told), "rb-meta"))
    return lines


@view("sweep_effects")
def exchanged(material: Material, present: frozenset[str]) -> Content:
    """Main effects of the parts, and their interactions, with intervals that hold together."""
    _, metric = material.text, str(material.primary)
    compared = [(str(one.where["exchange"]), one.comparison) for one in material.measurement.comparisons_by("exchange")]
    main = [pair for pair in compared if " × " not in pair[0]]
    crossed = [pair for pair in compared if " × " in pair[0]]
    if not compared:
        return ()
    lead = _(
        "The mean over all pairs of configurations that differ in this part alone, paired by question; of two parts: "
        "how much the effect of one differs with the other. All of them hold together ({how}).",
        how=adjusted(compared[0][1].family, _) or _("a single comparison"),
    )
    scale = scaled(end for _name, each in compared for end in (each.low, each.high))
    folded = Section(
        [_effects(material, metric, crossed, scale)], _.plural("{n} interaction", "{n} interactions", len(crossed))
    )
    return (
        Text(_("What exchanging a part does"), "h2"),
        Text(lead, "rb-lede"),
        _effects(material, metric, main, scale),
        folded if crossed else (),
    )


def _effects(material: Material, metric: str, rows: Sequence[tuple[str, Comparison]], scale: Scale) -> Table:
    _, digits = material.text, material.digits(metric)
    made = []
    for name, each in rows:
        words = " × ".join(factor_name(part, _) for part in name.split(" × "))
        finite = math.isfinite(each.low) and math.isfinite(each.high)
        places = {"zero": scale.place(0.0), "value": scale.place(each.difference),
                  "ends": (scale.place(each.low), scale.place(each.high)) if finite else None}  # fmt: skip
        made.append(
            (
                Lines([words, small(shown(f"{each.baseline} → {each.challenger}"))]),
                Drawing("reach", {"series": 1, **places}) if math.isfinite(each.difference) else "",
                Value.of(each, digits),
                P.of(each),
                chip(material, each),
            )
        )
    columns = (
        Column(_("exchange")),
        Column("", look="rb-drawn"),
        Column(_("difference"), "interval", signed=True),
        Column(_("p, adjusted"), "p", head="rb-short"),
        Column(_("verdict"), "verdict", look="rb-word"),
    )
    return Table(columns, tuple(made), _("What exchanging a part does"), language=_.language, look="rb-long")


@view("sweep_exchanges")
def exchanges(material: Material, present: frozenset[str]) -> Content:
    """The baseline with one part exchanged, and the exchange that helps most where it fails first."""
    _, metric, sweep = material.text, str(material.primary), cast(SweepFacts, material.facts).get("sweep")
    if sweep is None:
        return ()
    digits, told = material.digits(metric), material.facts["systems"]
    names = [str(each["name"]) for each in told]
    levels = [{factor: str(each[factor]) for factor in sweep["factors"]} for each in told]
    if str(material.baseline) not in names:
        return ()
    of = names.index(str(material.baseline))
    made = []
    for place, factor in effects.exchanges(levels, of):
        if (comparison := material.comparison(names[place], metric)) is None:
            continue
        exchange = shown(f"{levels[of][factor]} → {levels[place][factor]}")
        made.append(
            (
                factor_name(factor, _),
                exchange,
                Value.of(comparison, digits),
                P.of(comparison),
                chip(material, comparison),
            )
        )
    columns = (
        Column(_("part")),
        Column(_("exchange")),
        Column(_("difference"), "interval", signed=True),
        Column(_("p, adjusted"), "p", head="rb-short"),
        Column(_("verdict"), "verdict", look="rb-word"),
    )
    title, said = _("The baseline with one part exchanged"), _helping(material, metric, sweep["exchange"])
    return (
        Text(title, "h2"),
        Text(said, "rb-lede") if said else (),
        Table(columns, tuple(made), title, language=_.language, look="rb-long") if made else (),
    )


def _helping(material: Material, metric: str, found: Mapping[str, Any]) -> str:
    """Where the baseline fails first most often, and what helps there most."""
    _ = material.text
    if not found:
        return ""
    said = _part_said(str(found["part"]), int(found["count"]), _)
    comparison = material.comparison(str(found.get("challenger", "")), metric)
    if comparison is None:
        return f"{said} {_('No exchange of one part that could mend it was measured.')}"
    helps = _(
        "Of the exchanges that may mend it, {factor} helps most: {name}, {difference}, {word}.",
        factor=factor_name(str(found["factor"]), _), name=comparison.challenger,
        difference=material.difference(comparison, metric), word=material.verdict(comparison),
    )  # fmt: skip
    return f"{said} {helps}"


@view("sweep_configurations")
def configurations(material: Material, present: frozenset[str]) -> Content:
    """Every configuration: its value, how far it is behind the best, its time and words, and which are on the front."""
    _, metric = material.text, str(material.primary)
    rows = _ordered(material, metric)
    if not rows:
        return ()
    lead = _(
        "Behind the best: the distance to the best of the others, with intervals that hold for all together. A "
        "configuration is on the front where no other one is as good, as quick and as short, and better in one of "
        "these. ms: the median of questions that are asked one by one; words: of the passages that are handed on."
    )
    folded = Section(
        [_table(material, metric, rows[SHOWN:])], _.plural("{n} more", "{n} more", max(len(rows) - SHOWN, 0))
    )
    return (
        Text(_("All configurations: good, quick, short"), "h2"),
        Text(lead, "rb-lede"),
        _figure(material, metric),
        _table(material, metric, rows[:SHOWN]),
        folded if len(rows) > SHOWN else (),
    )


def _ordered(material: Material, metric: str) -> list[ConfigurationRow]:
    """The best first."""
    sign = 1 if material.lower_is_better(metric) else -1
    rows = rows_of(ConfigurationRow, material.kept("configurations"))
    values = _values(material, metric)
    return sorted(rows, key=lambda row: sign * values.get(str(row["system"]), -math.inf))


def _values(material: Material, metric: str) -> dict[str, float]:
    """The mean of every configuration that has one."""
    estimates = {name: material.estimate(name, metric) for name in material.systems}
    return {name: each.value for name, each in estimates.items() if each is not None}


def _table(material: Material, metric: str, rows: Sequence[ConfigurationRow]) -> Table:
    _, digits = material.text, material.digits(metric)
    made = []
    for row in rows:
        estimate, name = material.estimate(str(row["system"]), metric), shown(row["system"])
        may = [small(_("cannot be told from the best"))] if row["may_be_best"] else []
        ms = float(row["milliseconds"])
        made.append(
            (
                Lines([name, *may]),
                Value.of(estimate, digits) if estimate is not None else None,
                Value(row["behind"], row["behind_low"], row["behind_high"], digits=digits, signed=True),
                None if math.isnan(ms) else Number(ms, 1),
                round(row["words"]),
                "●" if row["front"] else "",
            )
        )
    columns = (
        Column(_("configuration")),
        Column(shown(metric), "interval"),
        Column(_("behind the best"), "interval", signed=True),
        Column("ms", "number"),
        Column(_("words"), "count"),
        Column(_("front")),
    )
    title = _("All configurations: good, quick, short")
    return Table(columns, tuple(made), title, language=_.language, look="rb-long")


def _figure(material: Material, metric: str) -> Content:
    """Value against milliseconds, a mark a configuration."""
    _ = material.text
    rows = [row for row in _ordered(material, metric) if row["milliseconds"] == row["milliseconds"]]
    if len(rows) < 2:
        return ()
    values = _values(material, metric)

    def trace(some: Sequence[ConfigurationRow], colour: str, symbol: str) -> dict[str, Any]:
        return {
            "type": "scatter", "mode": "markers", "x": [row["milliseconds"] for row in some],
            "y": [values.get(str(row["system"])) for row in some],
            "marker": {"color": colour, "size": 9, "symbol": symbol},
            "text": [f"<b>{chart.plain(str(row['system']))}</b>" for row in some],
            "hovertemplate": "%{text}<br>%{y:.3f}, %{x:.1f} ms<extra></extra>", "showlegend": False,
        }  # fmt: skip

    layout = chart.layout(_, 280, xaxis=chart.axis(type="log"), yaxis=chart.axis())
    groups = (
        ([row for row in rows if not row["may_be_best"]], "@series-0", "circle-open"),
        ([row for row in rows if row["may_be_best"]], "@series-1", "circle"),
    )
    label = _("{metric} against milliseconds a question", metric=metric)
    plot = Plot({"data": [trace(*group) for group in groups if group[0]], "layout": layout}, label)
    legend = [System(_("cannot be told from the best"), 1), System(_("worse than the best"), 0)]
    return Figure(shown(label), [plot], legend, _("ms a question"))

"""Views of several runs: which they are, what changed between them, and numbers of which only summaries are known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.bench.runs.changes import Refusal, said
from ragbench.language import DASH
from ragbench.show.basics.cells import cell, head, row, table, under
from ragbench.show.basics.marks import chip, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import ELLIPSIS, anchor, shown
from ragbench.show.comparison.headline import standing_in
from ragbench.show.page import view
from ragbench.types import Verdict

EXCERPT = 160
LONG = 40


@view("runs")
def runs(material: Material, present: frozenset[str]) -> Markup:
    """The runs that are compared: dates, data, code, status."""
    _ = material.text
    known = [one for one in material.facts.get("runs", ()) if isinstance(one, Mapping)]
    titles = {
        "id": _("run"),
        "started": _("started"),
        "datasets": _("data set"),
        "systems": _("systems"),
        "commit": _("commit"),
        "status": _("status"),
        "origin": _("loaded from"),
    }
    heads = [Markup("<td></td>"), *(head(shown(one.get("letter", "")), "rb-word") for one in known)]
    rows = []
    states = {"complete": _("complete"), "failed": _("failed"), "interrupted": _("interrupted")}
    known = [{**one, "status": states.get(str(one.get("status")), one.get("status"))} for one in known]
    for key, title in titles.items():
        values = [one.get(key) for one in known]
        if any(value not in (None, "", []) for value in values):
            cells = [cell(shown(one.get("letter", "")), _told(one.get(key)), "rb-word") for one in known]
            rows.append(row([Markup("<th scope=row>{}</th>").format(title), *cells]))
    return table(_("Runs"), heads, rows, "rb-wide rb-runs") + standing_in(material)


def _records(material: Material, name: str) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in one.items()} for one in material.kept(name).to_dict("records")]


def _told(value: Any) -> Markup:
    if isinstance(value, list | tuple):
        return Markup(", ").join(shown(each, EXCERPT) for each in value) or Markup("{}").format(DASH)
    return shown(value, EXCERPT) if value not in (None, "") else Markup("{}").format(DASH)


@view("changes")
def changes(material: Material, present: frozenset[str]) -> Markup:
    """What differs between two runs besides their numbers."""
    _ = material.text
    found = _records(material, "changes")
    if not found:
        text = _(
            "Nothing that the runs say of themselves differs: code, data, models, prompts and parameters are equal."
        )
        return Markup("<p>{}</p>").format(text)
    heads = [head(_("what")), head(_("before"), "rb-word"), head(_("after"), "rb-word")]
    rows = [
        row(
            [
                Markup("<th scope=row>{} <small>{}</small></th>").format(
                    shown(one["name"], 80), kind(material, one["kind"])
                ),
                cell(_("before"), _told(differing(one["before"], one["after"])), "rb-word"),
                cell(_("after"), _told(differing(one["after"], one["before"])), "rb-word"),
            ]
        )
        for one in found
    ]
    return table(_("Changes"), heads, rows, "rb-wide rb-changes")


def differing(text: str, other: str) -> str:
    """A long text without the words that the other has too, an ellipsis in place of each run of them."""
    words, known = text.split(), set(other.split())
    if len(text) <= LONG or not any(word in known for word in words):
        return text
    kept = [word if word not in known else ELLIPSIS for word in words]
    return " ".join(
        word for place, word in enumerate(kept) if word != ELLIPSIS or kept[place - 1 : place] != [ELLIPSIS]
    )


def kind(material: Material, name: str) -> str:
    """The word for a kind of change."""
    _ = material.text
    words = {
        "code": _("code"),
        "data": _("data"),
        "models": _("model"),
        "prompts": _("prompt"),
        "parameters": _("parameter"),
        "thresholds": _("threshold"),
    }
    return words.get(name, name)


@view("refused")
def refused(material: Material, present: frozenset[str]) -> Markup:
    """What was not compared, and what would make it comparable; empty where everything was."""
    _ = material.text
    found = _records(material, "refused")
    if not found:
        return Markup("")
    items = Markup("").join(
        Markup("<li><b>{}</b>: {}</li>").format(shown(one["notebook"]), shown(said(Refusal(**one), _))) for one in found
    )
    return Markup('<div class="rb-standin"><p>{}</p><ul>{}</ul></div>').format(_("Not compared:"), items)


@view("fallen")
def fallen(material: Material, present: frozenset[str]) -> Markup:
    """How many questions fell out of the pairing of two runs."""
    _, facts = material.text, material.facts
    counts = {key: int(facts.get(key) or 0) for key in ("only_first", "only_second", "altered")}
    said_of = [
        _.plural("{n} question is in both runs", "{n} questions are in both runs", int(facts.get("n_questions") or 0))
    ]
    if counts["only_first"]:
        said_of.append(_.plural("{n} is only in A", "{n} are only in A", counts["only_first"]))
    if counts["only_second"]:
        said_of.append(_.plural("{n} is only in B", "{n} are only in B", counts["only_second"]))
    if counts["altered"]:
        said_of.append(
            _.plural(
                "{n} has the same name in both and is not the same question",
                "{n} have the same names in both and are not the same questions",
                counts["altered"],
            )
        )
    text = Markup('<p class="rb-meta">{}.</p>').format("; ".join(said_of))
    if facts.get("other_data"):
        text += Markup('<p class="rb-standin">{}</p>').format(
            _("The runs have other data: the questions are the same, the passages behind them may differ. A difference "
              "is one of system and data together.")
        )  # fmt: skip
    return text


@view("effects")
def effects(material: Material, present: frozenset[str]) -> Markup:
    """Effect sizes of the comparisons, and the smallest difference that each could have shown."""
    _ = material.text
    found = material.measurement.comparisons
    if not found:
        return Markup("")
    heads = [
        head(_("metric")),
        head(_("effect size")),
        head(_("smallest difference that would be shown")),
        head(_("n")),
    ]
    rows = []
    for one in found:
        c, digits = one.comparison, material.digits(one.metric)
        cells = [
            cell(_("effect size"), _.number(c.effect_size, 2, signed=True)),
            cell(_("smallest difference that would be shown"), _.number(c.minimum_detectable, digits)),
            cell(_("n"), _.integer(c.n)),
        ]
        rows.append(row([Markup("<th scope=row>{}</th>").format(shown(one.metric)), *cells]))
    note = _(
        "The effect size is the mean difference divided by the standard deviation of the questions' differences. The "
        "smallest difference is what four of five such comparisons would show, at the level that the correction leaves."
    )
    return table(_("Effect sizes"), heads, rows) + Markup('<p class="rb-meta">{}</p>').format(note)


@view("summaries")
def summaries(material: Material, present: frozenset[str]) -> Markup:
    """Numbers of two runs that nothing pairs; empty where every number is paired."""
    _ = material.text
    found = _records(material, "summarized")
    if not found:
        return Markup("")
    heads = [
        head(_("metric")),
        head("A"),
        head("B"),
        head(_("difference, two samples")),
        head(_("p")),
        head(_("verdict"), "rb-word"),
    ]
    rows = []
    for group in dict.fromkeys((one["notebook"], one["first"], one["second"]) for one in found):
        notebook, first, second = group
        name = shown(first) if first == second else Markup("{} / {}").format(shown(first), shown(second))
        title = Markup("{} · {}").format(shown(notebook), name)
        rows.append(Markup('<tr class="rb-group"><th scope=rowgroup colspan={}>{}</th></tr>').format(len(heads), title))
        rows += [
            _summary_row(material, one) for one in found if (one["notebook"], one["first"], one["second"]) == group
        ]
    note = _("These numbers are compared as two independent samples, because nothing pairs them question by question. "
             "A difference that is not shown here may well be there.")  # fmt: skip
    notes = [shown(note), *_other_data(material)]
    below = Markup("").join(Markup('<p class="rb-meta">{}</p>').format(each) for each in notes)
    return table(_("Numbers without pairs"), heads, rows, "rb-long") + below


def _other_data(material: Material) -> list[Markup]:
    """A warning where the two runs name different data: what differs may be the questions."""
    _ = material.text
    first, second = (_.enumeration(list(run.get("datasets") or ())) for run in material.facts["runs"])
    if first == second:
        return []
    return [
        _.html(
            "The runs name different data: {first} and {second}. A difference may be that of the questions alone.",
            first=shown(first or "—"),
            second=shown(second or "—"),
        )
    ]


def _summary_row(material: Material, one: Mapping[str, Any]) -> Markup:
    _ = material.text
    digits = digits_of([one[f"{key}_{side}"] for key in ("value", "low", "high") for side in ("first", "second")])
    cells = [Markup('<th scope=row id="{}">{}</th>').format(anchor("summary", _key(one)), shown(one["metric"]))]
    for side, letter in (("first", "A"), ("second", "B")):
        text = f"{_.number(one[f'value_{side}'], digits)} {_.interval(one[f'low_{side}'], one[f'high_{side}'], digits)}"
        count = one[f"n_{side}"]
        small = "" if _missing(count) else Markup(" <small>n {}</small>").format(_.integer(int(count)))
        cells.append(cell(letter, spread(text.removesuffix(f" {DASH}")) + small))
    if one["why"]:
        cells.append(Markup('<td colspan=3 class="rb-word rb-quiet">{}</td>').format(why(material, one["why"])))
    else:
        number = _.number(one["difference"], digits, signed=True)
        text = f"{number} {_.interval(one['low'], one['high'], digits, signed=True)}"
        cells += [
            cell(_("difference"), spread(text)),
            cell(_("p"), Markup('<span class="rb-number">{}</span>').format(_.p_value(one["p"]))),
            cell(_("verdict"), chip(material, Verdict(one["verdict"])), "rb-word"),
        ]
    detectable = one["minimum_detectable"]
    if one["why"] or one["verdict"] != str(Verdict.NOT_SHOWN) or _missing(detectable):
        return row(cells)
    text = _("a difference of {difference} or more would have been shown", difference=_.number(detectable, digits))
    return row(cells, "rb-over") + under(text, len(cells))


def _key(one: Mapping[str, Any]) -> str:
    return f"{one['notebook']} {one['first']} {one['second']} {one['metric']}"


def _missing(value: Any) -> bool:
    return value is None or value != value


def digits_of(numbers: list[Any]) -> int:
    """How many decimals show numbers of this size."""
    largest = max((abs(x) for x in numbers if not _missing(x) and math.isfinite(x)), default=0.0)
    return 3 if largest < 10 else 2 if largest < 100 else 1 if largest < 1000 else 0


def why(material: Material, reason: str) -> Markup:
    """Why two numbers are not set against each other, in words."""
    _ = material.text
    words = {
        "outside_scale": _("not comparable: a value lies outside of its scale"),
        "mixed_units": _("not comparable: passages and pages are mixed in one number"),
        "unfilled_prompt": _("not comparable: the judge was asked with an unfilled prompt"),
        "other_definition": _("not comparable: another quantity under the same name"),
        "unknown_unit": _("not comparable: nothing says what was ranked"),
        "other_unit": _("not comparable: one ranks passages, the other pages"),
        "other_scale": _("not comparable: one is on another scale than the other"),
        "other_depth": _("not comparable: one looks at another depth than the other, or does not say at which"),
        "no_interval": _("no interval: too little is known of how sure the values are"),
        "describes": _("a number that describes: neither direction is good"),
        "unmeasured": _("not measured"),
    }
    return (
        Markup("{}").format(words[reason])
        if reason in words
        else _.html("not comparable: {reason}", reason=shown(reason, EXCERPT))
    )

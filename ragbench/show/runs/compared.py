"""Views of several runs: which they are, what changed between them, and numbers of which only summaries are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.bench.basics.verdicts import planned_of
from ragbench.bench.runs.changes import Refusal, said
from ragbench.language import DASH, Translator
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.marks import chip, small, spread
from ragbench.show.basics.material import Material, digits_of
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import ELLIPSIS, anchor, shown
from ragbench.show.comparison.headline import standing_in
from ragbench.show.view import view
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
    heads = [html.blank(), *(html.head(shown(one.get("letter", "")), "rb-word") for one in known)]
    rows = []
    states = {"complete": _("complete"), "failed": _("failed"), "interrupted": _("interrupted")}
    known = [{**one, "status": states.get(str(one.get("status")), one.get("status"))} for one in known]
    for key, title in titles.items():
        values = [one.get(key) for one in known]
        if any(value not in (None, "", []) for value in values):
            cells = [html.cell(shown(one.get("letter", "")), _told(one.get(key)), "rb-word") for one in known]
            rows.append(html.row([html.row_head(title), *cells]))
    return html.table(_("Runs"), heads, rows, "rb-wide rb-runs") + standing_in(material)


def _told(value: Any) -> Markup | str:
    texts = value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]
    return Markup(", ").join(shown(each, EXCERPT) for each in texts) or DASH


@view("changes")
def changes(material: Material, present: frozenset[str]) -> Markup:
    """What differs between two runs besides their numbers."""
    _ = material.text
    rows = [
        [
            shown(one["name"], 80) + small(kind(material, one["kind"])),
            _told(differing(one["before"], one["after"])),
            _told(differing(one["after"], one["before"])),
        ]
        for one in rows_of(material.kept("changes"))
    ]
    if not rows:
        return html.p(
            _("Nothing that the runs say of themselves differs: code, data, models, prompts and parameters are equal.")
        )
    heads = [_("what"), (_("before"), "rb-word"), (_("after"), "rb-word")]
    return html.grid(_("Changes"), heads, rows, "rb-wide rb-changes")


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
    found = [Refusal(**{str(key): value for key, value in one.items()}) for one in rows_of(material.kept("refused"))]
    if not found:
        return Markup("")
    items = [html.all(html.b(shown(one.notebook)), ": ", shown(said(one, _))) for one in found]
    return html.div(html.p(_("Not compared:")) + html.list(items), "rb-standin")


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
    text = html.meta(f"{'; '.join(said_of)}.")
    if facts.get("other_data"):
        text += html.warning(
            _("The runs have other data: the questions are the same, the passages behind them may differ. A difference "
              "is one of system and data together.")
        )  # fmt: skip
    return text


@view("effects")
def effects(material: Material, present: frozenset[str]) -> Markup:
    """Effect sizes of the comparisons, and the smallest difference that each could have shown."""
    _ = material.text
    heads = [_("metric"), _("effect size"), _("smallest difference that would be shown"), _("n")]
    heads += [_("smallest difference of interest"), _("n that shows it")]
    rows = []
    for one in material.measurement.comparisons:
        c, least = one.comparison, _.number(one.comparison.minimum_detectable, material.digits(one.metric))
        needed = DASH if c.questions_needed is None else _.integer(c.questions_needed)
        size = _.number(c.effect_size, 2, signed=True)
        rows.append([shown(one.metric), size, least, _.integer(c.n), _.exact(c.margin), needed])
    if not rows:
        return Markup("")
    note = _(
        "The effect size is the mean difference divided by the standard deviation of the questions' differences. The "
        "smallest difference is what four of five such comparisons would show, at the level that the correction "
        "leaves. The last column is how many questions would show the smallest difference of interest as surely."
    )
    return html.grid(_("Effect sizes"), heads, rows) + html.meta(note)


@view("summaries")
def summaries(material: Material, present: frozenset[str]) -> Markup:
    """Numbers of two runs that nothing pairs; empty where every number is paired."""
    _ = material.text
    found = rows_of(material.kept("summarized"))
    if not found:
        return Markup("")
    heads = [html.head(title) for title in (_("metric"), "A", "B", _("difference, two samples"), _("p"))]
    heads.append(html.head(_("verdict"), "rb-word"))
    rows = []
    for group in dict.fromkeys((one["notebook"], one["first"], one["second"]) for one in found):
        notebook, *names = map(shown, group)
        rows.append(html.group(notebook + " · " + Markup(" / ").join(dict.fromkeys(names)), len(heads)))
        rows += [
            _summary_row(material, one) for one in found if (one["notebook"], one["first"], one["second"]) == group
        ]
    note = _("These numbers are compared as two independent samples, because nothing pairs them question by question. "
             "A difference that is not shown here may well be there.")  # fmt: skip
    notes = [note, *_other_data(material)]
    return html.all(html.table(_("Numbers without pairs"), heads, rows, "rb-long"), *map(html.meta, notes))


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
    digits = digits_of(one[f"{key}_{side}"] for key in ("value", "low", "high") for side in ("first", "second"))
    named = f"{one['notebook']} {one['first']} {one['second']} {one['metric']}"
    cells = [html.row_head(shown(one["metric"]), "", anchor("summary", named))]
    for side, letter in (("first", "A"), ("second", "B")):
        text = f"{_.number(one[f'value_{side}'], digits)} {_.interval(one[f'low_{side}'], one[f'high_{side}'], digits)}"
        count = one[f"n_{side}"]
        value = spread(text.removesuffix(f" {DASH}"))
        cells.append(html.cell(letter, value + small("" if missing(count) else f"n {_.integer(int(count))}")))
    if one["why"]:
        cells.append(html.wide_cell(why(material, one["why"]), 3))
    else:
        number = _.number(one["difference"], digits, signed=True)
        text = f"{number} {_.interval(one['low'], one['high'], digits, signed=True)}"
        cells += [
            html.cell(_("difference"), spread(text)),
            html.cell(_("p"), html.number(_.p_value(one["p"]))),
            html.cell(_("verdict"), chip(material, Verdict(one["verdict"])), "rb-word"),
        ]
    detectable = one["minimum_detectable"]
    if one["why"] or one["verdict"] != str(Verdict.NOT_SHOWN) or missing(detectable):
        return html.row(cells)
    text = _("a difference of {difference} or more would have been shown", difference=_.number(detectable, digits))
    margin, needed = (None if missing(one.get(key)) else one[key] for key in ("margin", "questions_needed"))
    counts = [int(one[f"n_{side}"]) for side in ("first", "second") if not missing(one[f"n_{side}"])]
    if needed is not None and counts:
        text += "; " + planned_of(margin, int(needed), min(counts), _)
    return html.row(cells, "rb-over") + html.under(text, len(cells))


def missing(value: Any) -> bool:
    """Whether a cell of a table holds nothing."""
    return value is None or value != value


def why(material: Material, reason: str) -> Markup:
    """Why two numbers are not set against each other, in words."""
    return shown(reason_said(reason, material.text), EXCERPT)


def reason_said(reason: str, _: Translator) -> str:
    """Why a number is not set against another, in words."""
    words = {
        "outside_scale": _("not comparable: a value lies outside of its scale"),
        "mixed_units": _("not comparable: passages and pages are mixed in one number"),
        "unfilled_prompt": _("not comparable: the judge was asked with an unfilled prompt"),
        "other_definition": _("not comparable: another quantity under the same name"),
        "unknown_unit": _("not comparable: nothing says what was ranked"),
        "other_unit": _("not comparable: one ranks passages, the other pages"),
        "other_scale": _("not comparable: one is on another scale than the other"),
        "other_depth": _("not comparable: one looks at another depth than the other, or does not say at which"),
        "other_labels": _("not comparable: people's labels correct one, the other is the judge's alone"),
        "no_interval": _("no interval: too little is known of how sure the values are"),
        "describes": _("a number that describes: neither direction is good"),
        "unmeasured": _("not measured"),
    }
    return words[reason] if reason in words else _("not comparable: {reason}", reason=reason)

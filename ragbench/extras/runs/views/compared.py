"""Views of several runs: which they are, what differs between them, and numbers of which only summaries are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ragbench.core.language import DASH
from ragbench.extras.runs.changes import Refusal, said
from ragbench.extras.runs.views.unpaired import missing
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.marks import chip, named, small, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import ELLIPSIS, clean, shown
from ragbench.views.comparison.headline import standing_in
from ragbench.views.view import view

EXCERPT = 160
LONG = 40
FIRST = 8
"""So many settings that differ are read at once; the others are folded."""
ACROSS = "rb-wide rb-across"
"""Tables with a column a run, whose first column stays in sight."""


@view("runs")
def runs(material: Material, present: frozenset[str]) -> Markup:
    """The runs that are compared, a column each: what they are, and what differs between them; of one run, all."""
    _ = material.text
    known = _runs(material)
    told = [row for row in _told_of(material, known) if len(known) == 1 or row.differs or row.always]
    own = [_row(material, row, known) for row in told]
    rows = [_setting(material, setting, known) for setting in _settings(material, differs=True)]
    first = rows if len(rows) <= FIRST + 1 else rows[:FIRST]
    table = html.bodies(_("Runs"), _heads(material, known), [own, first] if rows else [own], ACROSS)
    if rows[len(first) :]:
        more = _.plural("{n} more", "{n} more", len(rows) - FIRST)
        table += html.fold(more, html.bodies(more, _heads(material, known), [rows[FIRST:]], ACROSS))
    nothing = _(
        "Nothing that the runs say of themselves differs: code, data, models, prompts and parameters are equal."
    )
    silent = len(known) > 1 and not rows and material.facts.get("told")
    return html.all(table, html.meta(nothing) if silent else "", standing_in(material))


@view("alike")
def alike(material: Material, present: frozenset[str]) -> Markup:
    """What is the same in all runs that are compared, folded; empty where nothing is known."""
    _ = material.text
    known = _runs(material)
    own = [row for row in _told_of(material, known) if not row.differs and not row.always]
    rows = [(row.title, _told(row.values[0])) for row in own]
    for setting in _settings(material, differs=False):
        value = next(text for text in _values(setting, known) if text is not None)
        rows.append((_named(material, setting), _told(value)))
    if len(known) < 2 or not rows:
        return Markup("")
    title = _.plural("{n} setting", "{n} settings", len(rows))
    return html.fold(title, html.grid(_("The same in all these runs"), ["", (_("in all runs"), "rb-word")], rows))


@view("equal")
def equal(material: Material, present: frozenset[str]) -> Markup:
    """The pages of a comparison whose runs no question tells apart; empty where there is none."""
    known = [page for page in rows_of(material.kept("pages")) if page.get("equal")]
    return html.list(html.link(f"{page['page']}.html", shown(page["title"])) for page in known) if known else Markup("")


@dataclass(frozen=True)
class _Row:
    """What runs say of themselves, a value a run; always: shown where it is equal too."""

    title: str
    values: tuple[Any, ...]
    always: bool = False

    @property
    def differs(self) -> bool:
        return any(value != self.values[0] for value in self.values)


def _runs(material: Material) -> list[Mapping[str, Any]]:
    return [run for run in material.facts.get("runs", ()) if isinstance(run, Mapping)]


def _heads(material: Material, known: Sequence[Mapping[str, Any]]) -> list[Markup]:
    return [html.blank(), *(html.head(_head(run), "rb-word rb-name") for run in known)]


def _head(run: Mapping[str, Any]) -> Markup:
    """`A bigger chunks`."""
    parts = [html.span(shown(run["letter"]), "rb-letter") if run.get("letter") else "", shown(run.get("name"))]
    return Markup(" ").join(part for part in parts if part)


def _label(run: Mapping[str, Any]) -> str:
    """The same where a row is a card."""
    return " ".join(filter(None, [clean(run.get("letter")), clean(run.get("name"))]))


def _told_of(material: Material, known: Sequence[Mapping[str, Any]]) -> list[_Row]:
    _ = material.text
    states = {"complete": _("complete"), "failed": _("failed"), "interrupted": _("interrupted")}
    titles = {
        "id": _("run"),
        "note": _("note"),
        "started": _("started"),
        "datasets": _("data set"),
        "systems": _("systems"),
        "notebooks": _("pages"),
        "status": _("status"),
        "origin": _("loaded from"),
    }
    if len(known) == 1:
        titles["commit"] = _("commit")
    rows = []
    for key, title in titles.items():
        values = tuple(run.get(key) for run in known)
        values = tuple(states.get(str(state), state) for state in values) if key == "status" else values
        if any(value not in (None, "", []) for value in values):
            rows.append(_Row(title, values, key in ("id", "note", "started")))
    return rows


def _row(material: Material, row: _Row, known: Sequence[Mapping[str, Any]]) -> Markup:
    cells = [html.cell(_label(run), _told(value), "rb-word") for run, value in zip(known, row.values, strict=True)]
    return html.row([html.row_head(row.title), *cells])


def _settings(material: Material, *, differs: bool) -> list[Mapping[Any, Any]]:
    return [setting for setting in rows_of(material.kept("settings", "differs")) if bool(setting["differs"]) == differs]


def _values(setting: Mapping[Any, Any], known: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """A setting's value in every run; None where a run cannot have it."""
    return [None if missing(setting[run["letter"]]) else str(setting[run["letter"]]) for run in known]


def _setting(material: Material, setting: Mapping[Any, Any], known: Sequence[Mapping[str, Any]]) -> Markup:
    """A setting that differs; values that are not the baseline's stand out."""
    values = _values(setting, known)
    cells = []
    for place, (run, text) in enumerate(zip(known, values, strict=True)):
        others = [each for other, each in enumerate(values) if other != place and each and each != text]
        said = _told(differing(text or "", others))
        cells.append(html.cell(_label(run), html.b(said) if text and place and text != values[0] else said, "rb-word"))
    return html.row([html.row_head(_named(material, setting)), *cells])


def _named(material: Material, setting: Mapping[Any, Any]) -> Markup:
    word = kind(material, str(setting["kind"]))
    return shown(setting["name"], EXCERPT) + small(word)


def _told(value: Any) -> Markup | str:
    texts = value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]
    return Markup(", ").join(shown(each, EXCERPT) for each in texts) or DASH


def differing(text: str, others: Sequence[str]) -> str:
    """A long text without the words that all the others have too, an ellipsis in place of each run of them."""
    words = text.split()
    known = set.intersection(*(set(other.split()) for other in others)) if others else set()
    if len(text) <= LONG or not any(word in known for word in words) or not set(words) - known:
        return text
    kept = [word if word not in known else ELLIPSIS for word in words]
    return " ".join(
        word for place, word in enumerate(kept) if word != ELLIPSIS or kept[place - 1 : place] != [ELLIPSIS]
    )


@view("across")
def across(material: Material, present: frozenset[str]) -> Markup:
    """Values with the systems of a page, or the runs of a system, as columns: the key metrics, then all others folded.

    Below a value stands how it differs from the baseline's, and what that is worth.
    """
    _ = material.text
    if not material.metrics:
        return Markup("")
    others = [metric for metric in material.metrics if metric not in material.key_metrics]
    parts = [_across(material, material.key_metrics)]
    if others:
        more = _.plural("{n} more metric", "{n} more metrics", len(others))
        parts.append(html.fold(more, _across(material, others)))
    return html.all(*parts)


def _across(material: Material, metrics: Sequence[str]) -> Markup:
    _ = material.text
    heads = [html.head(_("metric")), *(html.head(named(material, name), "rb-name") for name in material.systems)]
    rows = []
    for metric in metrics:
        lower = _("lower is better") if material.lower_is_better(metric) else ""
        beside = ", ".join(filter(None, (lower, material.judged_by(metric))))
        cells = [html.row_head(shown(metric) + small(shown(beside)) if beside else shown(metric))]
        for name in material.systems:
            estimate, comparison = material.estimate(name, metric), material.comparison(name, metric)
            value = DASH if estimate is None else spread(material.value(estimate, metric))
            if comparison is not None:
                value += html.span(
                    html.all(material.difference(comparison, metric), " ", chip(material, comparison)), "rb-beside"
                )
            cells.append(html.cell(shown(name), value))
        rows.append(html.row(cells))
    estimates = (material.estimate(name, metric) for name in material.systems for metric in metrics)
    said = _(
        "means over questions ({population}), and their differences from the baseline",
        population=material.population(each.n for each in estimates if each is not None),
    )
    table = html.table(_("Values and differences from the baseline"), heads, rows, ACROSS)
    return table + html.p(said, "rb-axis")


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
    refusals = [Refusal(**{str(key): value for key, value in row.items()}) for row in rows_of(material.kept("refused"))]
    if not refusals:
        return Markup("")
    several = len(_runs(material)) > 2
    whose = [" ".join(filter(None, [refusal.run if several else "", refusal.notebook])) for refusal in refusals]
    items = [
        html.all(html.b(shown(whom)), ": " if whom else "", shown(said(refusal, _)))
        for whom, refusal in zip(whose, refusals, strict=True)
    ]
    return html.div(html.p(_("Not compared:")) + html.list(items), "rb-standin")


@view("fallen")
def fallen(material: Material, present: frozenset[str]) -> Markup:
    """How many questions fell out of the pairing of runs."""
    _, facts = material.text, material.facts
    known, number = list(facts.get("fallen") or ()), int(facts.get("n_questions") or 0)
    if len(known) == 1:
        told = [_.plural("{n} question is in both runs", "{n} questions are in both runs", number)]
    else:
        told = [_.plural("{n} question is in all these runs", "{n} questions are in all these runs", number)]
    for pairing in known:
        counts = {key: int(pairing[key]) for key in ("only_first", "only_second", "altered")}
        own = []
        if counts["only_first"]:
            own.append(_.plural("{n} is only in A", "{n} are only in A", counts["only_first"]))
        if counts["only_second"]:
            text = _.plural("{n} is only in {run}", "{n} are only in {run}", counts["only_second"], run=pairing["run"])
            own.append(text)
        if counts["altered"]:
            own.append(
                _.plural(
                    "{n} has the same name in both and is not the same question",
                    "{n} have the same names in both and are not the same questions",
                    counts["altered"],
                )
            )
        told += own if len(known) == 1 else [f"A, {pairing['run']}: {', '.join(own)}"] if own else []
    text = html.meta(f"{'; '.join(told)}.")
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
    several = len(material.challengers) > 1
    heads = [_("metric"), *([_("system")] if several else []), _("effect size")]
    heads += [_("smallest difference that would be shown"), _("n")]
    heads += [_("smallest difference of interest"), _("n that shows it")]
    rows = []
    for finding in material.measurement.comparisons:
        c, least = finding.comparison, _.number(finding.comparison.minimum_detectable, material.digits(finding.metric))
        needed = DASH if c.questions_needed is None else _.integer(c.questions_needed)
        size = _.number(c.effect_size, 2, signed=True)
        who = [shown(c.challenger)] if several else []
        rows.append([shown(finding.metric), *who, size, least, _.integer(c.n), _.exact(c.margin), needed])
    if not rows:
        return Markup("")
    note = _(
        "The effect size is the mean difference divided by the standard deviation of the questions' differences. The "
        "smallest difference is what four of five such comparisons would show, at the level that the correction "
        "leaves. The last column is how many questions would show the smallest difference of interest as surely."
    )
    return html.grid(_("Effect sizes"), heads, rows) + html.meta(note)

"""Views of several runs: which they are, what differs between them, and numbers of which only summaries are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.language import DASH
from ragbench.core.parts import (
    Column,
    Content,
    Entries,
    Group,
    Link,
    Number,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    bold,
    joined,
    small,
)
from ragbench.extras.runs.changes import Refusal, said
from ragbench.extras.runs.run_tables import PageRow, RefusedRow, SettingRow, run_facts
from ragbench.views.basics.marks import chip, measured, named, rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import ELLIPSIS, clean, shown
from ragbench.views.sentences.conclusions import standing_in
from ragbench.views.view import view

EXCERPT = 160
LONG = 40
FIRST = 8
"""So many settings that differ are read at once; the others are folded."""
ACROSS = "rb-wide rb-across"
"""Tables with a column a run, whose first column stays in sight."""


@view("runs")
def runs(material: Material, present: frozenset[str]) -> Content:
    """The runs that are compared, a column each: what they are, and what differs between them; of one run, all."""
    _ = material.text
    known = _runs(material)
    told = [row for row in _told_of(material, known) if len(known) == 1 or row.differs or row.always]
    own = [(row.title, *map(_told, row.values)) for row in told]
    rows = [_setting(material, setting) for setting in _settings(material, differs=True)]
    first = rows if len(rows) <= FIRST + 1 else rows[:FIRST]
    table = _table(material, _("Runs"), known, [*own, *([Group("", apart=True)] if first else []), *first])
    folded: Content = ()
    if rows[len(first) :]:
        more = _.plural("{n} more", "{n} more", len(rows) - FIRST)
        folded = Section([_table(material, more, known, rows[FIRST:])], more)
    nothing = _(
        "Nothing that the runs say of themselves differs: code, data, models, prompts and parameters are equal."
    )
    silent = len(known) > 1 and not rows and run_facts(material.facts).get("identified")
    return (table, folded, Text(nothing, "rb-meta") if silent else (), standing_in(material))


@view("alike")
def alike(material: Material, present: frozenset[str]) -> Content:
    """What is the same in all runs that are compared, folded; empty where nothing is known."""
    _ = material.text
    known = _runs(material)
    own = [row for row in _told_of(material, known) if not row.differs and not row.always]
    rows: list[tuple[Phrase, Phrase]] = [(row.title, _told(row.values[0])) for row in own]
    for setting in _settings(material, differs=False):
        value = next(text for text in setting["values"] if text is not None)
        rows.append((_named(material, setting), _told(value)))
    if len(known) < 2 or not rows:
        return ()
    title = _.plural("{n} setting", "{n} settings", len(rows))
    return Section([Table.of(_, _("The same in all these runs"), ["", (_("in all runs"), "rb-word")], rows)], title)


@view("equal")
def equal(material: Material, present: frozenset[str]) -> Content:
    """The pages of a comparison whose runs no question tells apart; empty where there is none."""
    known = [page for page in rows_of(PageRow, material.kept("pages")) if page["equal"]]
    return Entries([Link(shown(page["title"]), f"{page['page']}.html") for page in known]) if known else ()


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
    return [run for run in run_facts(material.facts).get("runs", ()) if isinstance(run, Mapping)]


def _table(material: Material, title: str, known: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> Table:
    """A column a run."""
    columns = [
        Column(""),
        *(Column(_head(run), look="rb-word", head="rb-word rb-name", label=_label(run)) for run in known),
    ]
    return Table(tuple(columns), tuple(rows), title, language=material.text.language, look=ACROSS)


def _head(run: Mapping[str, Any]) -> Phrase:
    """`A bigger chunks`."""
    parts = [Styled(shown(run["letter"]), look="rb-letter") if run.get("letter") else "", shown(run.get("name"))]
    return joined(" ", parts)


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


def _settings(material: Material, *, differs: bool) -> list[SettingRow]:
    return [
        setting
        for setting in rows_of(SettingRow, material.kept("settings", "differs"))
        if bool(setting["differs"]) == differs
    ]


def _setting(material: Material, setting: SettingRow) -> Sequence[Any]:
    """A setting that differs; values that are not the baseline's stand out."""
    values = list(setting["values"])
    cells = list[Phrase]()
    for place, text in enumerate(values):
        others = [each for other, each in enumerate(values) if other != place and each and each != text]
        said = _told(differing(text or "", others))
        cells.append(bold(said) if text and place and text != values[0] else said)
    return (_named(material, setting), *cells)


def _named(material: Material, setting: SettingRow) -> Phrase:
    word = kind(material, str(setting["kind"]))
    return (shown(setting["name"], EXCERPT), small(word))


def _told(value: Any) -> Phrase:
    texts = value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]
    return ", ".join(shown(each, EXCERPT) for each in texts) or DASH


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
def across(material: Material, present: frozenset[str]) -> Content:
    """Values with the systems of a page, or the runs of a system, as columns: the key metrics, then all others folded.

    Below a value stands how it differs from the baseline's, and what that is worth.
    """
    _ = material.text
    if not material.metrics:
        return ()
    others = [metric for metric in material.metrics if metric not in material.key_metrics]
    parts: list[Content] = [_across(material, material.key_metrics)]
    if others:
        more = _.plural("{n} more metric", "{n} more metrics", len(others))
        parts.append(Section([_across(material, others)], more))
    return parts


def _across(material: Material, metrics: Sequence[str]) -> Content:
    _ = material.text
    columns = [Column(_("metric"))]
    columns += [Column(named(material, name), "interval", head="rb-name", label=clean(name))
                for name in material.systems]  # fmt: skip
    rows = []
    for metric in metrics:
        lower = _("lower is better") if material.lower_is_better(metric) else ""
        cells: list[Phrase] = [(shown(metric), small(", ".join(filter(None, (lower, material.judged_by(metric))))))]
        for name in material.systems:
            estimate, difference = material.estimate(name, metric), material.comparison(name, metric)
            value: Phrase = DASH if estimate is None else measured(material, estimate, metric)
            if difference is not None:
                against = (material.difference(difference, metric), " ", chip(material, difference))
                value = (value, " ", Styled(against, look="rb-beside"))
            cells.append(value)
        rows.append(tuple(cells))
    estimates = (material.estimate(name, metric) for name in material.systems for metric in metrics)
    said = _(
        "means over questions ({population}), and their differences from the baseline",
        population=material.population(each.n for each in estimates if each is not None),
    )
    title = _("Values and differences from the baseline")
    table = Table(tuple(columns), tuple(rows), title, language=_.language, look=ACROSS)
    return (table, Text(said, "rb-axis"))


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
def refused(material: Material, present: frozenset[str]) -> Content:
    """What was not compared, and what would make it comparable; empty where everything was."""
    _ = material.text
    refusals = [Refusal(**row) for row in rows_of(RefusedRow, material.kept("refused"))]
    if not refusals:
        return ()
    several = len(_runs(material)) > 2
    whose = [" ".join(filter(None, [refusal.run if several else "", refusal.notebook])) for refusal in refusals]
    items = [
        (bold(shown(whom)), ": " if whom else "", shown(said(refusal, _)))
        for whom, refusal in zip(whose, refusals, strict=True)
    ]
    return Section([Text(_("Not compared:")), Entries(items)], look="rb-standin")


@view("fallen")
def fallen(material: Material, present: frozenset[str]) -> Content:
    """How many questions fell out of the pairing of runs."""
    _, facts = material.text, run_facts(material.facts)
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
    warning = ""
    if facts.get("other_data"):
        warning = _(
            "The runs have other data: the questions are the same, the passages behind them may differ. A difference "
            "is one of system and data together."
        )
    return (Text(f"{'; '.join(told)}.", "rb-meta"), Text(warning, "rb-standin") if warning else ())


@view("effects")
def effects(material: Material, present: frozenset[str]) -> Content:
    """Effect sizes of the comparisons, and the smallest difference that each could have shown."""
    _ = material.text
    several = len(material.challengers) > 1
    heads = [_("metric"), *([_("system")] if several else []), _("effect size")]
    heads += [_("smallest difference that would be shown"), _("n")]
    heads += [_("smallest difference of interest"), _("n that shows it")]
    rows = []
    for finding in material.measurement.comparisons:
        c, least = finding.comparison, Number(finding.comparison.minimum_detectable, material.digits(finding.metric))
        size = Number(c.effect_size, 2, signed=True)
        who = [shown(c.challenger)] if several else []
        rows.append([shown(finding.metric), *who, size, least, c.n, _.exact(c.margin), c.questions_needed])
    if not rows:
        return ()
    note = _(
        "The effect size is the mean difference divided by the standard deviation of the questions' differences. The "
        "smallest difference is what four of five such comparisons would show, at the level that the correction "
        "leaves. The last column is how many questions would show the smallest difference of interest as surely."
    )
    return (Table.of(_, _("Effect sizes"), heads, rows), Text(note, "rb-meta"))

"""The waterfall of blame: from all questions down to the good answers, and the share of every part in numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragbench.old.core.gaps import lacking
from ragbench.old.core.language import DASH
from ragbench.old.core.parts import (
    Cell,
    Column,
    Content,
    Entries,
    Figure,
    Group,
    P,
    Phrase,
    Plot,
    Styled,
    Table,
    Text,
    Under,
    Value,
    filled,
    small,
    spoken,
)
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.differences import Compared, Notes
from ragbench.old.views.basics.marks import chip, named, series
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import ANSWERABLE, GOOD, REFUSED, STEPS, UNANSWERABLE, UNMEASURED, Blamed
from ragbench.old.views.basics.text import clean, shown
from ragbench.old.views.blame.failed_questions import perfect_parts, questions
from ragbench.old.views.sentences.conclusions import told
from ragbench.old.views.view import view

__all__ = ["changes", "perfect_parts", "questions", "table", "waterfall"]


ROW, HEAD, FOOT = 27, 34, 30  # pixels: a line of 12 with room for a bar
WORDS = 34  # characters that 390 pixels leave beside a bar
SPOKEN_OF = 2
"""Of so many systems each has its sentence; of more the bars say it."""


@view("blame")
def waterfall(material: Material, present: frozenset[str]) -> Content:
    """What failed first: a waterfall from all questions down to the good answers of one system, a bar each of several.

    Empty where nothing was blamed.
    """
    blamed = Blamed(material)
    if not blamed.systems or not blamed.has(ANSWERABLE):
        return ()
    _ = material.text
    if blamed.unlabelled:
        why = _("It cannot be told, as no question says which passage answers it.")
        return (Text(_("Which part fails first"), "h2"), Text(why))
    several, title = len(blamed.systems) > 1, _title(material)
    plot = Plot(figure(blamed), _("{title}. The table below holds the same numbers.", title=clean(title)))
    axis = _(
        "share of the questions that can be answered; the line is the {level} interval of a step",
        level=_.percent(_level(blamed)),
    )
    drawn = chart.bars(blamed) if several else ()
    return (
        Text(_("Which part fails first"), "h2"),
        [Text(_sentence(blamed, name)) for name in blamed.systems if len(blamed.systems) <= SPOKEN_OF],
        Figure(title, [plot], axis="" if several else axis, drawn=drawn),
        Entries(standard(blamed), "rb-notes"),
    )


def _title(material: Material) -> str:
    return material.text("The first part that failed, for every question that can be answered")


def _level(blamed: Blamed) -> float:
    shares = (blamed.share(name, GOOD) for name in blamed.systems)
    return next((share.level for share in shares if share is not None), 0.95)


def _sentence(blamed: Blamed, system: str) -> Phrase:
    """How many got a good answer, and what failed most."""
    _ = blamed.material.text
    measured, missing = blamed.measured(system, ANSWERABLE)
    who = named(blamed.material, system)
    if not measured:
        return filled(_("<b>{system}</b>: nothing of what decides was measured."), system=who)
    counts = {part: blamed.count(system, part) for part in blamed.parts(ANSWERABLE)}
    good = counts.pop(GOOD)
    most = max(counts.values())
    worst = _.enumeration([blamed.name(part) for part, count in counts.items() if count == most])
    places: dict[str, Phrase] = {
        "system": who,
        "good": _.integer(good),
        "n": _.integer(measured),
        "share": _.percent(good / measured),
    }
    said: Phrase = filled(_("<b>{system}</b>: {good} of {n} questions got a good answer ({share})."), **places)
    if why := blamed.untold(system):
        said = (said, " ", filled(_("Which part fails first cannot be told: {reason}."), reason=shown(why)))
    elif most:
        lost = {"part": worst, "count": _.integer(most), "lost": _.percent(most / measured)}
        text = filled(_("Most frequent first failure: <b>{part}</b>, {count} ({lost})."), **lost)
        if sum(count == most for count in counts.values()) > 1:
            text = filled(_("Most frequent first failures: <b>{part}</b>, {count} ({lost}) each."), **lost)
        said = (said, " ", text)
    if missing:
        said = (said, " ", _.plural("{n} question was not measured.", "{n} questions were not measured.", missing))
    return said


def standard(blamed: Blamed) -> list[str]:
    """What was taken as right and as faithful, how deep was read and looked, who decides what is shown."""
    _, facts = blamed.material.text, blamed.facts
    said = [
        _(
            "Right: {correctness} of at least {right} (scale {right_scale}). Faithful: {faithfulness} of at least "
            "{faithful} (scale {faithful_scale}). A refusal is not right.",
            correctness=clean(facts.get("correctness")),
            right=_value(blamed, "right_from"),
            right_scale=_scale(blamed, "correctness_scale"),
            faithfulness=clean(facts.get("faithfulness")),
            faithful=_value(blamed, "faithful_from"),
            faithful_scale=_scale(blamed, "faithfulness_scale"),
        ),
        _(
            "A passage holds the answer when it is labelled as relevant; one of them is taken to be enough. The first "
            "{k} of a ranking were looked at, the first {contexts} were read.",
            k=_.integer(int(blamed.material.facts.get("k", 0))),
            contexts=_.integer(int(blamed.material.facts.get("contexts", 0))),
        ),
    ]
    said += filter(None, [told(_, facts.get("refusals"))])
    judge = facts.get("production_judge")
    if judge:
        said.append(_("{judge} decides which answers are shown.", judge=clean(judge)))
    elif logged := facts.get("shown_logged"):
        said.append(
            _(
                "Which answers were shown is taken from the log of {systems}.",
                systems=_.enumeration([clean(name) for name in logged]),
            )
        )
    elif not blamed.is_judged:
        said.append(_("No production judge was named: every answer counts as shown."))
    lucky = [row for row in blamed.rows if row["part"] == GOOD and str(row["cause"]).startswith("although")]
    if lucky:
        said.append(
            _.plural(
                "{n} answer is good although no passage that is labelled as relevant was read: known by heart, or the "
                "labels are not complete.",
                "{n} answers are good although no passage that is labelled as relevant was read: known by heart, or "
                "the labels are not complete.",
                len(lucky),
            )
        )
    return said


def _value(blamed: Blamed, name: str) -> str:
    value = float(blamed.facts.get(name, 0.0))
    return blamed.material.text.number(value, 0 if value.is_integer() else 2)


def _scale(blamed: Blamed, name: str) -> str:
    low, high = blamed.facts.get(name) or (0, 1)
    number = blamed.material.text.number
    return f"{number(low, 0)}–{number(high, 0)}"


def figure(blamed: Blamed) -> dict[str, Any]:
    """Plotly JSON with named colours."""
    panels = [(name, _rows(blamed, name)) for name in blamed.systems]
    heights = [HEAD + ROW * len(rows) for _, rows in panels]
    inner = sum(heights) + FOOT * (len(panels) - 1)
    layout = chart.layout(
        blamed.material.text, inner + FOOT, margin={"l": 8, "r": 20, "t": 0, "b": FOOT, "pad": 0}, bargap=0.28,
        annotations=[], meta={"narrow": {"bargap": 0.5}, "stretch": 1.7},
    )  # fmt: skip
    traces: list[dict[str, Any]] = []
    top = 1.0
    for number, ((name, rows), height) in enumerate(zip(panels, heights, strict=True), 1):
        suffix = "" if number == 1 else str(number)
        low = max(0.0, top - height / inner)
        layout[f"xaxis{suffix}"] = chart.axis(
            range=[-0.012, 1.03], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1], tickformat=".0%", anchor=f"y{suffix}",
            automargin=False,
        )  # fmt: skip
        layout[f"yaxis{suffix}"] = chart.axis(
            domain=[round(low, 6), round(top - HEAD / inner, 6)], range=[len(rows) - 0.45, -0.55],
            tickvals=list(range(len(rows))), ticktext=[chart.plain(row["label"], WORDS) + "  " for row in rows],
            showgrid=False, anchor=f"x{suffix}",
        )  # fmt: skip
        layout["annotations"].append(_system_label(blamed, name, suffix, top - HEAD * 0.55 / inner))
        layout["annotations"] += [_label(row["label"], place, suffix) for place, row in enumerate(rows)]
        traces += _traces(blamed, name, rows, suffix)
        top = low - FOOT / inner
    return {"data": traces, "layout": layout}


def _rows(blamed: Blamed, system: str) -> list[dict[str, Any]]:
    """The bars from top to bottom: where each begins and ends, as shares of all questions that can be answered."""
    _ = blamed.material.text
    measured, missing = blamed.measured(system, ANSWERABLE)
    total = max(measured + missing, 1)

    def row(part: str, label: str, count: int, start: float, low: float = 0.0, high: float = 0.0) -> dict[str, Any]:
        text = f"{label} · {_.integer(count)}"
        share = count / total
        return {"part": part, "label": text, "start": start, "share": share, "low": low, "high": high, "n": count}

    rows = [row("all", _("questions"), total if measured + missing else 0, 1.0)]
    left = 1.0
    if missing:
        rows.append(row(UNMEASURED, blamed.name(UNMEASURED), missing, left))
        left -= missing / total
    for part in blamed.parts(ANSWERABLE):
        e = blamed.share(system, part)
        count = blamed.count(system, part)
        scale = measured / total
        low, high = (0.0, 0.0) if e is None or e.low is None or e.high is None else (e.low * scale, e.high * scale)
        rows.append(row(part, blamed.name(part), count, left, low, high))
        left -= count / total if part != GOOD else 0.0
    return rows


def _traces(blamed: Blamed, system: str, rows: list[dict[str, Any]], suffix: str) -> list[dict[str, Any]]:
    """A bar for each row: grey for what there was and what nobody knows, pale for losses, full for what is good."""
    colour = f"@series-{series(blamed.material, system)}"
    looks = {"all": ("@line", 1.0), UNMEASURED: ("@paper", 1.0), GOOD: (colour, 1.0)}
    bars = []
    for place, row in enumerate(rows):
        fill, opacity = looks.get(row["part"], (colour, 0.42))
        share = row["share"]
        has_interval = row["part"] not in ("all", UNMEASURED) and row["high"] > 0
        below, above = max(share - row["low"], 0.0), max(row["high"] - share, 0.0)
        is_good = row["part"] == GOOD  # grows from 0, so that its interval is read off the axis
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": [place],
                "base": [0.0 if is_good else round(row["start"], 9)],
                "x": [round(share if is_good else -share, 9)],
                "xaxis": f"x{suffix}",
                "yaxis": f"y{suffix}",
                "marker": {
                    "color": fill,
                    "opacity": opacity,
                    "line": {"width": 1 if row["part"] == UNMEASURED else 0, "color": "@muted"},
                },
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "visible": has_interval,
                    "array": [round(above if is_good else below, 9)],
                    "arrayminus": [round(below if is_good else above, 9)],
                    "color": "@ink",
                    "thickness": 1.5,
                    "width": 0,
                },
                "text": [_hover(blamed, system, row)],
                "textposition": "none",
                "hovertemplate": "%{text}<extra></extra>",
                "showlegend": False,
                "name": chart.plain(system),
            }
        )  # fmt: skip
    return bars


def _hover(blamed: Blamed, system: str, row: dict[str, Any]) -> str:
    _ = blamed.material.text
    lines = [f"<b>{chart.plain(system)}</b> · {chart.plain(row['label'])}"]
    e = blamed.share(system, row["part"]) if row["part"] not in ("all", UNMEASURED) else None
    if e is not None:
        lines.append(chart.plain(spoken(_).phrase(Value.of(e))))
        lines.append(chart.plain(shortened(blamed.meaning(row["part"]))))
    return "<br>".join(lines)


def shortened(text: str, width: int = 60) -> str:
    """A sentence for a hover's box."""
    return text if len(text) <= width else f"{text[: width - 1].rsplit(' ', 1)[0]}…"


def _system_label(blamed: Blamed, system: str, suffix: str, height: float) -> dict[str, Any]:
    return {
        "name": "system", "text": f"<b>{chart.plain(system, 60)}</b>", "xref": "paper", "yref": "paper", "x": 0,
        "y": round(height, 6), "xanchor": "left", "yanchor": "middle", "showarrow": False, "visible": True,
        "font": {"size": 13, "color": f"@series-{series(blamed.material, system)}"},
    }  # fmt: skip


def _label(text: str, row: int, suffix: str) -> dict[str, Any]:
    """The part's name above its row: what a narrow page shows in place of the axis."""
    return {
        "text": chart.plain(text), "xref": "paper", "yref": f"y{suffix}", "x": 0, "y": row - 0.5, "xanchor": "left",
        "yanchor": "middle", "showarrow": False, "visible": False, "font": {"size": 12, "color": "@ink"},
        "bgcolor": "@paper",
    }  # fmt: skip


def unanswerable(blamed: Blamed) -> Content:
    """A sentence on what became of the questions that the base holds no answer to."""
    _ = blamed.material.text
    lines = []
    for name in blamed.systems:
        n, missing = blamed.measured(name, UNANSWERABLE)
        if n + missing:
            counts = {part: _.integer(blamed.count(name, part)) for part in STEPS[UNANSWERABLE]}
            text = filled(
                _(
                    "<b>{system}</b>: questions that the base holds no answer to: {n}; rightly refused: {refused}; "
                    "answered all the same: {invented}."
                ),
                system=shown(name),
                n=_.integer(n),
                refused=counts[REFUSED],
                invented=counts["invented"],
            )
            lines.append(text)
    return [Text(line) for line in lines]


@view("blame_table")
def table(material: Material, present: frozenset[str]) -> Content:
    """The share of every part with its interval, system by system, and comparisons with the baseline."""
    blamed = Blamed(material)
    if not blamed.systems:
        return ()
    _ = material.text
    notes = Notes(material, "blame-note")
    level = _.percent(next(iter(blamed.shares.values())).level)
    family = next((compared.family for compared in blamed.comparisons.values() if compared.family), "")
    compared = Compared.of(material, notes, family, corrected=bool(family))
    columns = [Column(_("first failure")), Column(_("questions"), "count")]
    columns.append(Column(_("share, {level} interval", level=level), "interval"))
    columns += compared.columns if len(blamed.systems) > 1 else []
    rows = list[Any]()
    groups = {
        ANSWERABLE: _("questions that can be answered"),
        UNANSWERABLE: _("questions that the base holds no answer to"),
    }
    for group, title in groups.items():
        if blamed.has(group):
            rows.append(Group(title))
            for part in blamed.parts(group):
                rows += _part(blamed, part, compared)
            rows += _missing(blamed, group)
    made = Table(tuple(columns), tuple(rows), _("First failures by part"), language=_.language, look="rb-long")
    return (made, notes.parts(), unanswerable(blamed))


def _part(blamed: Blamed, part: str, compared: Compared) -> list[Any]:
    """The part's name over a row for each system; one row where there is one system."""
    alone = len(blamed.systems) == 1
    title = (blamed.name(part), " ", Styled(blamed.meaning(part), "small"))
    rows: list[Any] = [] if alone else [Group(title, look="rb-slice")]
    for name in blamed.systems:
        line: list[Any] = [title if alone else named(blamed.material, name), blamed.count(name, part)]
        line.append(_share(blamed, name, part, compared.notes))
        if not alone:
            line += [compared.baseline()] if name == blamed.systems[0] else _against(blamed, name, part, compared)
        rows.append(tuple(line))
    return rows


def _share(blamed: Blamed, system: str, part: str, notes: Notes) -> Phrase:
    e, more = blamed.share(system, part), notes.unidentified(system, "blame", {"part": part})
    if e is None:
        return (DASH, more)
    return (Value.of(e, 3), notes.mark(e), more, small(lacking(e, blamed.material.text)))


def _against(blamed: Blamed, system: str, part: str, compared: Compared) -> list[Any]:
    difference = blamed.comparison(system, part)
    if difference is None:
        return [None, None, None]
    value = (Value.of(difference, 3), compared.notes.mark(difference))
    return [value, P.of(difference), chip(blamed.material, difference)]


def _missing(blamed: Blamed, group: str) -> list[Under]:
    """How many were not measured, and why; no row where all were."""
    _ = blamed.material.text
    reasons = {
        "right": _("whether it is right"),
        "faithful": _("whether it is faithful"),
        "shown": _("whether it was shown"),
        "retrieved": _("what was retrieved"),
        "label": _("nobody labelled the question"),
    }
    said = []
    for name in blamed.systems:
        causes = Counter(
            str(row["cause"])
            for row in blamed.rows
            if row["system"] == name and row["group"] == group and row["part"] == UNMEASURED
        )
        if causes:
            listed = ", ".join(f"{reasons.get(cause, cause)} {_.integer(n)}" for cause, n in sorted(causes.items()))
            said.append(f"{shown(name)}: {listed}")
    if not said:
        return []
    return [Under(f"{_('not measured, in no share')}: {'; '.join(said)}")]


@view("blame_changes")
def changes(material: Material, present: frozenset[str]) -> Content:
    """How the parts of two systems go together, question by question; empty for one system."""
    blamed = Blamed(material)
    if len(blamed.systems) < 2:
        return ()
    _ = material.text
    blocks = [_change(blamed, name) for name in blamed.systems[1:]]
    lede = _(
        "Rows: what failed first in the baseline; columns: in the other system. Equal outcomes lie on the diagonal."
    )
    return (Text(filled(_("<b>Where the systems differ</b>")), "h3"), Text(lede, "rb-lede"), blocks)


def transitions(blamed: Blamed, baseline: str, challenger: str) -> Counter[tuple[str, str]]:
    """(baseline's part, challenger's part) → how many questions, unmeasured ones as their own kind."""
    by: dict[str, dict[str, str]] = {}
    for row in blamed.rows:
        by.setdefault(row["system"], {})[row["sample"]] = row["part"]
    first, second = by.get(baseline, {}), by.get(challenger, {})
    return Counter((first[sample], second[sample]) for sample in first if sample in second)


def _change(blamed: Blamed, challenger: str) -> Content:
    _ = blamed.material.text
    baseline = blamed.systems[0]
    moves = transitions(blamed, baseline, challenger)
    order = [*STEPS[ANSWERABLE], *STEPS[UNANSWERABLE], UNMEASURED]
    rows = [part for part in order if any(before == part for before, _after in moves)]
    columns = [part for part in order if any(after == part for _before, after in moves)]
    heads = [f"{shown(baseline)} → {shown(challenger)}", *map(blamed.name, columns)]
    lines = [
        (blamed.name(before), *(_transition(moves[before, after], before == after) for after in columns))
        for before in rows
    ]
    moved = sum(n for (before, after), n in moves.items() if before != after)
    text = _.plural("{n} question moved.", "{n} questions moved.", moved)
    title = _("From {baseline} to {challenger}", baseline=baseline, challenger=challenger)
    return (Table.of(_, title, heads, lines), Text(text, "rb-meta"))


def _transition(count: int, is_same: bool) -> Cell:
    return Cell(count or DASH, "rb-quiet" if is_same or not count else "")

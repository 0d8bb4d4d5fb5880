"""What is known of real questions: what their label is worth, how long they are, when they came, what they met."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragbench.old.core.parts import Content, Entries, Entry, Figure, Number, Phrase, Styled, Table, Text, Value
from ragbench.old.tiers.retrieval.real_users import AskedPageRow, AskedRow, RepeatRow, TermRow
from ragbench.old.views.basics import chart, marks
from ragbench.old.views.basics.chart import Bars
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shortened, shown
from ragbench.old.views.view import view

if TYPE_CHECKING:
    import pandas as pd

MOST_BARS = 36  # three years of months
LONGEST = 40  # words: all longer questions share the last bar
SCORES = range(1, 6)


@view("proxy")
def proxy(material: Material, present: frozenset[str]) -> Content:
    """What the label of real questions is worth, and how many have none."""
    _, known = material.text, material.facts
    logged, without = known.get("n_history", 0), known.get("n_without_page", 0)
    gone, bare = known.get("n_page_gone", 0), known.get("n_without_vector", 0)
    if not logged:
        return Text(
            _("This data set has no log of real questions (history), so nothing could be measured."), "rb-standin"
        )
    asked = _.plural("{n} question was logged", "{n} questions were logged", logged)
    users = int(known.get("n_users") or 0)
    head = " ".join(filter(None, (asked, _.plural("by {n} user", "by {n} users", users) if users else "")))
    left = [
        _.plural("{n} has no page", "{n} have no page", without) if without else "",
        _.plural("the page of {n} is not in the base any more", "the pages of {n} are not in the base any more", gone)
        if gone
        else "",
        _.plural("{n} has no vector in its table", "{n} have no vector in their table", bare) if bare else "",
        _.plural("{n} is measured", "{n} are measured", logged - without - gone - bare),
    ]
    label = _(
        "The label is a proxy: the page that was shown to the user. It was thought good enough to be shown; nobody "
        "checked that it holds the answer, and other pages may hold it too."
    )
    personal = _("Personal data are shown as they were logged: keep this page to yourself.")
    if known.get("masked"):
        personal = _("Users' ids, e-mail addresses, telephones and long numbers are masked.")
    counts = f"{head[:1].upper()}{head[1:]}: {'; '.join(filter(None, left))}."
    return Text(" ".join((label, counts, personal)), "rb-standin")


@view("usage")
def usage(material: Material, present: frozenset[str]) -> Content:
    """How long real questions are, how their answers were scored, and when they were asked."""
    drawn = panels(material)
    if not drawn:
        return Text(material.text("There are no questions to show."))
    figure = Figure(_title(material), chart.plots(material, drawn), look="rb-maps")
    return (figure, Entries(habits(material), "rb-notes"))


def _title(material: Material) -> str:
    _, half = material.text, material.estimate("", "habit", asked="words", probability=0.5)
    if half is None or not math.isfinite(half.value):
        return _("How people ask")
    return _.plural(
        "Half of the questions have {n} word or fewer",
        "Half of the questions have {n} words or fewer",
        round(half.value),
    )


def habits(material: Material) -> list[Phrase]:
    """Sentences with intervals: lengths, score, languages."""
    _, made = material.text, material.measurement
    said = list[Phrase]()
    for finding in (*made.estimates_by("asked", "probability"), *made.estimates_by("asked")):
        estimate, digits = finding.estimate, 1 if "probability" in finding.where else 2
        if finding.where["asked"] == "answered":
            said.append((Value.of(estimate, 1, percent=True), " ", _("of the log has an answer")))
            continue
        text = _.plural("mean score of {n} question, 1 to 5", "mean score of {n} questions, 1 to 5", estimate.n)
        if "probability" in finding.where:
            share = _.percent(float(finding.where["probability"]))
            text = _("words or fewer in {share} of the questions", share=share)
        said.append((Value.of(estimate, digits), " ", text))
    names = {"en": _("English"), "ru": _("Russian")}
    languages = Counter(row["language"] for row in rows_of(AskedRow, material.kept("asked")))
    if languages:
        parts = [f"{names.get(key, key)} {_.integer(count)}" for key, count in languages.most_common()]
        said.append((_("language of the questions"), ": ", ", ".join(parts)))
    return said


def panels(material: Material) -> list[Bars]:
    """Lengths, scores, months, days of the week and hours, as far as they are known."""
    asked = material.kept("asked")
    if not len(asked):
        return []
    charts = [_lengths(material, asked), _scores(material, asked), *_times(material, asked)]
    return [bars for bars in charts if sum(bars.counts)]


def _lengths(material: Material, asked: pd.DataFrame) -> Bars:
    counts = Counter(min(int(words), LONGEST) for words in asked["words"])
    values = range(min(counts), max(counts) + 1)
    names = [f"{LONGEST}+" if value == LONGEST else str(value) for value in values]
    return _bars(material, material.text("words in a question"), names, [counts[value] for value in values])


def _scores(material: Material, asked: pd.DataFrame) -> Bars:
    _, known = material.text, [int(score) for score in asked["score"].dropna()]
    counts = {str(score): known.count(score) for score in SCORES if known}
    if known and len(known) < len(asked):
        counts[_("none")] = len(asked) - len(known)
    return _bars(material, _("score that the user gave"), list(counts), list(counts.values()))


def _times(material: Material, asked: pd.DataFrame) -> list[Bars]:
    from babel.dates import format_date, get_day_names

    _ = material.text
    days = [datetime.date.fromisoformat(day) for day in asked["day"] if isinstance(day, str)]
    if not days:
        return []
    months = Counter(day.year * 12 + day.month - 1 for day in days)
    span = range(min(months), max(months) + 1)[-MOST_BARS:]
    labels = [format_date(datetime.date(at // 12, at % 12 + 1, 1), "LLL yyyy", locale=_.language) for at in span]
    short = get_day_names("abbreviated", context="stand-alone", locale=_.language)
    weekdays, hours = Counter(day.weekday() for day in days), Counter(int(hour) for hour in asked["hour"].dropna())
    return [
        _bars(material, _("month"), labels, [months[at] for at in span]),
        _bars(material, _("day of the week"), [short[day] for day in range(7)], [weekdays[day] for day in range(7)]),
        _bars(material, _("hour of the day"), [str(hour) for hour in range(24)], [hours[hour] for hour in range(24)]),
    ]


def _bars(material: Material, title: str, names: Sequence[str], counts: Sequence[int]) -> Bars:
    said = [material.text.plural("{n} question", "{n} questions", count) for count in counts]
    return Bars(title, names, counts, said)


@view("repeats")
def repeats(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """Questions asked more than once, and the pages shown most."""
    _ = material.text
    if not material.facts.get("n_history"):
        return ()
    rows = rows_of(RepeatRow, material.kept("repeats"))
    if not rows:
        return (
            Text(_("No question was asked twice in the same words.")),
            _pages(material, count),
            _terms(material, count),
        )
    text = _.plural(
        "{n} question was asked more than once in the same words ({asked} times in all)",
        "{n} questions were asked more than once in the same words ({asked} times in all)",
        len(rows),
        asked=_.integer(sum(row["count"] for row in rows)),
    )
    asked = [_repeat(material, row) for row in rows[:count]]
    return (Text(text, "h3"), marks.shortened(_, asked), _pages(material, count), _terms(material, count))


def _repeat(material: Material, row: RepeatRow) -> Entry:
    _, samples = material.text, [str(sample) for sample in row["samples"]]
    said = [
        _.plural("{n} user", "{n} users", row["users"]),
        _.plural("{n} page was shown", "{n} pages were shown", row["pages"]),
        ", ".join(shortened(sample, 80) for sample in samples[:20]),
    ]
    marks = ("×", row["count"])
    return Entry(anchor("repeat", samples[0]), shown(row["text"], 300), marks, Text(" · ".join(said), "rb-meta"))


def _pages(material: Material, count: int) -> Content:
    _, rows = material.text, rows_of(AskedPageRow, material.kept("asked_pages"))[:count]
    if not rows:
        return ()
    logged, body = int(material.facts.get("n_history", 0)), []
    for row in rows:
        gone = "" if row["in_base"] else _("not in the base any more")
        where = " · ".join(filter(None, (shortened(row["page"], 90) if clean(row["title"]).strip() else "", gone)))
        name = shown(row["title"], 90) or shown(row["page"], 90)
        share = _.percent(row["count"] / logged) if logged else _.number(None)
        body.append([(name, " ", Styled(where, "small")), row["count"], share])
    heads = (_("page"), _("shown for"), _("share of the log"))
    listed = marks.shortened(_, body, lambda some: [Table.of(_, _("Pages"), heads, some)])
    return (Text(_("Pages that were shown most"), "h3"), listed)


def _terms(material: Material, count: int) -> Content:
    """The words that most questions hold, and of how many of these the log has an answer."""
    _, rows = material.text, rows_of(TermRow, material.kept("terms"))
    if not rows:
        return ()
    logged = int(material.facts.get("n_history", 0))
    body = [
        [
            shown(row["term"], 60),
            row["count"],
            Number(row["count"] / logged, percent=True) if logged else None,
            Number(row["answered"] / row["count"], percent=True),
        ]
        for row in rows
    ]
    heads = (_("word"), _("questions"), _("share of the log"), _("of these answered"))
    listed = marks.shortened(_, body, lambda some: [Table.of(_, _("Words"), heads, some)], count)
    return (Text(_("Words that most questions hold"), "h3"), listed)

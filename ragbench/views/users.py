"""What only the page of real users shows: the proxy, scores by month, words and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ragbench.core.language import mark
from ragbench.report.figures import colour, new_figure
from ragbench.report.parts import Part
from ragbench.tiers.real_users import ALL
from ragbench.views import comparison

MOST_PAGES = 50
# The columns that questions are cut by; their values are numbers.
SLICES = (mark("score"), mark("month"))


def facts(result: Any) -> Part:
    """What was measured, in one line."""
    _ = result.language.translate
    history = result.frames.history
    named = {
        _("logged questions"): result.language.count(len(history)),
        _("users"): result.language.count(history.loc[history["user"] != "", "user"].nunique()),
    }
    return comparison.facts(result, **named)


def proxy(result: Any) -> Part:
    """What the label is, and how many questions have one."""
    language = result.language
    history = result.frames.history
    has_page = history["url"] != ""
    text = language.translate(
        "The label is a proxy: the page that the user was shown. Nobody checked that it holds the "
        "answer, and other pages may hold it too. Of {logged} logged questions {without} have no "
        "page and {gone} a page that the data set does not have; {measured} are measured."
    ).format(
        logged=language.count(len(history)),
        without=language.count(int((~has_page).sum())),
        gone=language.count(int((has_page & ~history["is_known"]).sum())),
        measured=language.count(int(history["is_known"].sum())),
    )
    return Part(text, style="warning")


def months(result: Any) -> Part | None:
    """The users' mean score by month, over how much was asked; None where nobody scored."""
    language = result.language
    _ = language.translate
    frame = result.statement.months
    whole = frame[frame["month"] == ALL].iloc[0]
    by_month = frame[(frame["month"] != ALL) & (frame["n"] > 0)]
    if by_month.empty:
        return None
    figure = new_figure(language)
    texts = [
        f"{row.month} {language.interval(row.value, row.low, row.high, 2)}, n = {row.n}"
        for row in by_month.itertuples()
    ]
    figure.add_scatter(
        x=by_month["month"],
        y=by_month["value"],
        error_y={
            "symmetric": False,
            "array": (by_month["high"] - by_month["value"]).fillna(0),
            "arrayminus": (by_month["value"] - by_month["low"]).fillna(0),
            "width": 0,
            "thickness": 2.5,
        },
        mode="markers+text",
        marker={"color": colour("accent")},
        text=[f"{row.value:.1f} " for row in by_month.itertuples()],
        textposition="middle right",
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    labels = [f"{row.month}<br>n = {row.n}" for row in by_month.itertuples()]
    figure.update_xaxes(
        type="category", tickvals=list(by_month["month"]), ticktext=labels, showgrid=False
    )
    figure.update_yaxes(title_text=_("users' mean score"))
    title = _("Users' mean score is {score}: {first} in {start}, {last} in {end}").format(
        score=language.estimate(whole, 2),
        first=language.number(by_month["value"].iloc[0], 2),
        start=by_month["month"].iloc[0],
        last=language.number(by_month["value"].iloc[-1], 2),
        end=by_month["month"].iloc[-1],
    )
    note = _("Of all logged questions with a score. Each interval is of its month alone.")
    return Part(figure, title=title, note=note)


def words(result: Any) -> Part | None:
    """The words of most questions, without those of asking; None where there are none."""
    _ = result.language.translate
    frame = result.statement.words
    title = _("What people ask about: {words}").format(words=", ".join(frame["word"].head(5)))
    note = _("Forms of one word together, without words of grammar and of asking.")
    return score_table(result, frame, frame["word"], title, note)


def pages(result: Any) -> Part | None:
    """The pages that were shown most, and how users scored these answers; None without any."""
    _ = result.language.translate
    frame = result.statement.pages
    shown = frame.head(MOST_PAGES)
    note = _("{shown} of {total} pages.").format(shown=len(shown), total=len(frame))
    return score_table(result, shown, shown["url"], _("Pages that were shown most"), note)


def score_table(
    result: Any, frame: pd.DataFrame, names: Sequence[str], title: str, note: str
) -> Part | None:
    """How many questions have a word or page in common, and their mean score."""
    language = result.language
    _ = language.translate
    if frame.empty:
        return None
    n_logged = len(result.frames.history)
    table = pd.DataFrame(
        {
            _("questions"): [language.count(n) for n in frame["questions"]],
            _("share"): [language.percent(n / n_logged) for n in frame["questions"]],
            _("mean score"): [language.number(score, 2) for score in frame["score"]],
        },
        index=list(names),
    )
    return Part(table, title=title, note=note, is_folded=True)


def method(result: Any) -> Part:
    """How it is measured."""
    _ = result.language.translate
    text = _(
        "The logged questions are asked of every system. What comes back is collapsed to pages, "
        "each at the place of its first passage, and held against the page that the user was "
        "shown. Questions of one user are drawn together."
    )
    return comparison.method(result, text)


def limits(result: Any) -> Part:
    """What the page does not show."""
    _ = result.language.translate
    text = _(
        "Where the system that wrote the log is among those measured, it is favoured: its own "
        "choice is the label. Nothing is said of whether the page answered the question, nor of "
        "questions that people gave up asking."
    )
    return comparison.limits(result, text)

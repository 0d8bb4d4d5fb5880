"""What the overview shows: verdicts, bands, first failures, all pages, what is missing.

The index of a run shows the same parts by `ragbench.report.index`.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ragbench.core.bands import LEVELS
from ragbench.core.language import NOTHING, Language
from ragbench.report import index
from ragbench.report.manifest import git_commit
from ragbench.report.parts import Part, trusted
from ragbench.report.parts import facts as facts_part
from ragbench.tiers.blame import SUCCESSES
from ragbench.views import blame


def verdicts(result: Any) -> Part | None:
    """One sentence a challenger over all pages; None where nothing is compared."""
    found = index.verdict_parts(result.comparisons, result.titles, result.language)
    return found[0] if found else None


def differences(result: Any) -> Part | None:
    """The primary comparison of every page with its interval; None where nothing is compared."""
    found = index.verdict_parts(result.comparisons, result.titles, result.language)
    return found[1] if found else None


def answer(result: Any) -> Part:
    """Is it good, by the bands, and which part fails first?"""
    language = result.language
    paragraphs = [band_sentence(result.statement.bands, language)]
    paragraphs += failure_sentences(result.statement.shares, language)
    content = Markup("").join(Markup("<p>{}</p>").format(text) for text in paragraphs)
    return Part(content, style="finding")


def band_sentence(bands: pd.DataFrame, language: Language) -> str:
    """How many numbers lie in which band with their whole interval."""
    _ = language.translate
    if bands.empty:
        return _("No number of this run has a threshold.")
    is_whole = bands["lowest"] == bands["highest"]
    counts = {
        _(word): int((is_whole & (bands["lowest"] == level)).sum())
        for level, word in reversed(list(enumerate(LEVELS)))
    }
    counts[_("over more than one band")] = int((~is_whole).sum())
    told = ", ".join(f"{word} {language.count(count)}" for word, count in counts.items() if count)
    text = _("Of {count} numbers with a threshold: {counts}.")
    return text.format(count=language.count(len(bands)), counts=told)


def failure_sentences(shares: pd.DataFrame, language: Language) -> list[Markup]:
    """What fails first most often: systems with the same failure share a sentence."""
    _ = language.translate
    by_failure: dict[str, list[str]] = {}
    for system, rows in shares.groupby("system", sort=False):
        failures = rows[~rows["metric"].isin(SUCCESSES)]
        if failures["n_questions"].sum():
            worst = failures.loc[failures["n_questions"].idxmax()]
            told = f"{system} {blame.share_text(worst, language)}"
            by_failure.setdefault(worst["metric"], []).append(told)
    text = trusted(_("Most often fails first: {failure} ({systems})."))
    return [
        text.format(failure=Markup("<b>{}</b>").format(_(failure)), systems=", ".join(systems))
        for failure, systems in by_failure.items()
    ]


def facts(result: Any) -> Part:
    """What the run is of, in one line."""
    _ = result.language.translate
    named = {
        _("data set"): result.about.dataset,
        _("pages"): len(result.pages),
        _("threshold set"): result.request.threshold_set,
        _("commit"): git_commit()[:8] or NOTHING,
    }
    return facts_part(named)


def failures(result: Any) -> Part | None:
    """The first failures of all questions as bars; None where no page has them."""
    return blame.bars(result) if len(result.statement.shares) else None


def thresholds(result: Any) -> Part | None:
    """Every number that has a threshold, and its band; None where none has."""
    language = result.language
    _ = language.translate
    bands = result.statement.bands
    if bands.empty:
        return None
    table = pd.DataFrame(
        {
            _("metric"): list(bands["metric"]),
            _("system"): list(bands["system"]),
            _("mean, interval"): [interval_text(row, language) for row in bands.itertuples()],
            _("band"): [band_text(row, language) for row in bands.itertuples()],
            _("good"): [language.number(value, 2) for value in bands["good"]],
            _("excellent"): [language.number(value, 2) for value in bands["excellent"]],
        },
        index=index.page_links(bands["page"], result.titles),
    )
    note = _(
        "What counts as good is agreed, not measured: the set {name}. A number has a band only "
        "with its whole interval; one that reaches over a threshold needs more questions before "
        "the word can be used."
    )
    return Part(
        table,
        title=_("Thresholds"),
        note=note.format(name=result.request.threshold_set),
        is_folded=True,
    )


def interval_text(row: Any, language: Language) -> str:
    """A mean with its interval, with as many digits as show in which bands its ends lie."""
    ends = np.round([row.low, row.high], 12)  # beyond lies what adding up left of a threshold
    borders = np.array([row.good, row.excellent])
    is_below = np.less.outer(ends, borders)
    # 0.7996 is below 0.8, and 0.800 would not look so.
    digits = next(
        digits
        for digits in count(3)
        if (np.less.outer(np.round(ends, digits), borders) == is_below).all()
    )
    return language.interval(row.value, row.low, row.high, digits)


def band_text(row: Any, language: Language) -> str:
    """`good`, or `good … excellent` for an interval that reaches over a threshold."""
    words = [language.translate(LEVELS[int(level)]) for level in (row.lowest, row.highest)]
    return " … ".join(dict.fromkeys(words))


def cards(result: Any) -> Part | None:
    """All pages, each with its question and its answer; None where no notebook was executed."""
    if not result.pages:
        return None
    return Part(index.cards_html(result.pages, result.language))


def stand_ins(result: Any) -> Part | None:
    """Who only stands in for a model on any page; None where nobody does."""
    return index.stand_ins_part(result.records, result.language)


def systems(result: Any) -> Part | None:
    """What each system is; None without any."""
    return index.systems_part(result.records, result.language)


def unmeasured(result: Any) -> Part:
    """What could not be measured, and why."""
    rows = result.estimates.to_dict("records")
    return index.unmeasured_part(result.folder, rows, result.titles, result.language)


def method(result: Any) -> Part:
    """How it is summed up."""
    _ = result.language.translate
    text = _(
        "Nothing is measured here. Every number, interval and verdict is read from what the other "
        "pages of this run have kept, and leads to the page where its questions are."
    )
    return Part(text, title=_("Method"))


def limits(result: Any) -> Part:
    """What the overview does not show."""
    _ = result.language.translate
    text = _(
        "Pages ask different questions of different parts, so that their numbers are not added up. "
        "Verdicts are corrected within a page, not over all pages together: among many pages one "
        "surprising verdict is to be expected."
    )
    return Part(text, title=_("What this does not show"))

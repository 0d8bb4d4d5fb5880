"""What the page of dialogues and the cache shows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ragbench.core.frames import ANSWERS, VERDICTS, frame_of
from ragbench.core.language import mark
from ragbench.report.figures import colour, new_figure
from ragbench.report.parts import Part, trusted
from ragbench.views import comparison
from ragbench.views.questions import QuestionList, questions

MOST_ROWS = 300  # of the nearest cached questions; the frame `lookups` has all
CACHE = ("cache_hit_rate", "wrong_hit_rate")
# What was asked of the cache, as the frames call it → how the page does.
ASKED = {
    "dialogues": mark("turns of dialogues"),
    "questions": mark("questions of the data set"),
    "history": mark("past questions, each without its own entry"),
}
WORTH = {0.0: mark("right"), 1.0: mark("wrong")}
COLOURS = ("accent", "blue1", "grey")
LOWER = 0.7  # a threshold at which a cache answers many times more, for the figure's title


def answer(result: Any) -> Part:
    """The finding: what the cache would do, and how near neighbouring questions are."""
    language = result.language
    _ = language.translate
    paragraphs = []
    for row in result.estimates[result.estimates["metric"] == "context_preservation"].itertuples():
        values = {"embedder": comparison.bold(row.system), "n": language.count(row.n)}
        values["value"] = language.interval(row.value, row.low, row.high)
        rates = rates_of(result, row.system, result.request.sessions)
        text = _(
            "{embedder}: neighbouring questions of a dialogue have a cosine of {value} (n = {n})."
        )
        if rates:
            text = _(
                "{embedder}: of questions in dialogues (n = {asked}) a cache of liked answers "
                "(n = {cached}) would serve {hits}, and {wrong} wrongly. Neighbouring questions "
                "have a cosine of {value} (n = {n})."
            )
        values |= rates
        paragraphs.append(Markup("<p>{}</p>").format(trusted(text).format(**values)))
        past = rates_of(result, row.system, "history")
        if past and result.request.sessions != "history":
            text = _(
                "Of past questions (n = {asked}), each without its own entry, it would serve "
                "{hits}, and {wrong} wrongly."
            )
            paragraphs.append(
                Markup('<p><span class="more">{}</span></p>').format(text.format(**past))
            )
    return Part(Markup("").join(paragraphs), style="finding")


def rates_of(result: Any, system: str, kind: str) -> dict[str, str]:
    """Both rates of the cache, ready to read; empty where it was not asked."""
    language, caches = result.language, result.statement.caches
    rows = caches[(caches["system"] == system) & (caches["asked"] == kind)].set_index("metric")
    if rows.empty:
        return {}
    hits, wrong = (language.estimate(rows.loc[label]) for label in CACHE)
    if np.isnan(rows.loc[CACHE[1], "value"]):
        wrong = language.translate("an unknown share")
    n_cached, n_asked = len(result.frames.cached), rows["n"].iloc[0]
    numbers = {"cached": language.count(n_cached), "asked": language.count(int(n_asked))}
    return {**numbers, "hits": hits, "wrong": wrong}


def facts(result: Any) -> Part:
    """What was measured, in one line."""
    _ = result.language.translate
    count = result.language.count
    return comparison.about_facts(
        result,
        {
            _("dialogues"): count(len(result.frames.questions)),
            _("turns"): count(len(result.frames.turns)),
            _("answers in the cache"): count(len(result.frames.cached)),
        },
    )


def curve(result: Any) -> Part | None:
    """What the cache would serve at every threshold, and serve wrongly; None without a cache."""
    language = result.language
    _ = language.translate
    rates = result.statement.curve
    if rates.empty:
        return None
    # Of several embedders that are compared, only what all sessions ask.
    is_single = len(result.systems) == 1
    rates = rates if is_single else rates[rates["asked"] == result.request.sessions]
    figure = new_figure(language)
    for place, ((system, kind), rows) in enumerate(rates.groupby(["system", "asked"], sort=False)):
        name = _(ASKED[kind]) if is_single else system
        for label, dash, word in zip(CACHE, ("solid", "dot"), ("", _("wrong")), strict=True):
            texts = [
                f"{language.number(threshold, 2)}: {language.number(value)}"
                for threshold, value in zip(rows["threshold"], rows[label], strict=True)
            ]
            figure.add_scatter(
                name=f"{name}, {word}" if word else name,
                x=rows["threshold"],
                y=rows[label],
                mode="lines",
                line={"color": colour(COLOURS[place % len(COLOURS)]), "dash": dash},
                showlegend=not word,
                customdata=texts,
                hovertemplate="%{fullData.name} · %{customdata}<extra></extra>",
            )
    figure.add_vline(result.request.threshold, line={"color": colour("muted")})
    figure.update_xaxes(title_text=_("cosine above which the cache answers"), showline=True)
    figure.update_yaxes(rangemode="tozero", title_text=_("share of the questions"))
    note = _(
        "Solid: served. Dotted: served wrongly, as far as somebody knows. Upright: the threshold."
    )
    return Part(figure, title=curve_title(result, rates), note=note)


def curve_title(result: Any, rates: pd.DataFrame) -> str:
    """What another threshold would change, of what the first system is asked first."""
    _ = result.language.translate
    number = result.language.number
    kind = rates["asked"].iloc[0]
    rows = rates[(rates["system"] == rates["system"].iloc[0]) & (rates["asked"] == kind)]
    lower = rows.loc[(rows["threshold"] - LOWER).abs().idxmin()]
    text = _("Above {lower} the cache would serve {hits} of the {asked}, and {wrong} wrongly")
    return text.format(
        lower=comparison.short_number(LOWER, result.language),
        hits=number(lower["cache_hit_rate"]),
        asked=_(ASKED[kind]),
        wrong=number(lower["wrong_hit_rate"]),
    )


def numbers(result: Any) -> Part:
    """The table of all numbers, and what one of n is."""
    _ = result.language.translate
    table = comparison.number_table(result, result.request.metrics)
    table = table.rename(columns={_("system"): _("embedder")})
    note = _(
        "One of n is a question that was asked in a dialogue for the cache, and a dialogue for the "
        "others. Wrong hits are a part of the hits: both are shares of the same questions."
    )
    return Part(table, title=_("The numbers"), note=note)


def caches(result: Any) -> Part | None:
    """What the cache would do by what is asked of it; None without a cache."""
    language = result.language
    _ = language.translate
    rates = result.statement.caches
    rows, headings = [], []
    for (system, kind), pair in rates.groupby(["system", "asked"], sort=False):
        hits, wrong = pair.set_index("metric").loc[list(CACHE)].itertuples()
        n_wrong = 0 if np.isnan(wrong.value) else round(wrong.value * wrong.n)
        row = {
            _("questions"): language.count(hits.n),
            _("served"): language.interval(hits.value, hits.low, hits.high),
            _("wrongly"): language.interval(wrong.value, wrong.low, wrong.high),
            _("hits"): language.count(int(hits.n_hits)),
            _("wrong"): language.count(n_wrong),
            _("not known"): language.count(wrong.n_unmeasured),
        }
        headings.append(_(ASKED[kind]))
        rows.append(row if len(result.systems) == 1 else {_("embedder"): system, **row})
    if not rows:
        return None
    note = _(
        "Wrong: from another page than the one that answers, or word for word an answer that a "
        "user disliked. Not known: nobody labelled it, or the two name different numbers."
    )
    return Part(
        pd.DataFrame(rows, index=headings), title=_("What is asked of the cache"), note=note
    )


def nearest(result: Any) -> Part | None:
    """The closest cached question of every question; None without a cache."""
    language = result.language
    _ = language.translate
    lookups = result.frames.lookups.dropna(subset="similarity")
    if lookups.empty:
        return None
    found = lookups.sort_values("similarity", ascending=False, kind="stable").head(MOST_ROWS)
    is_hit = found["similarity"] > result.request.threshold
    worth = found["is_wrong"].map(WORTH).fillna(mark("not known")).map(_)
    table = pd.DataFrame(
        {
            _("question"): found["text"].tolist(),
            _("closest cached question"): found["cached_question"].tolist(),
            _("cached answer"): found["cached_answer"].tolist(),
            _("cosine"): [language.number(value) for value in found["similarity"]],
            _("hit"): worth.where(is_hit, "–").tolist(),
        }
    )
    title = _("The closest cached question of every question")
    note = _("The {shown} closest of {total}; the frame lookups has all.")
    note = note.format(shown=language.count(len(table)), total=language.count(len(lookups)))
    return Part(table, title=title, note=note, is_folded=True)


def dialogues(result: Any) -> QuestionList:
    """The list of dialogues: their turns, and the closest cached question of each."""
    frames = result.frames
    turns = frames.turns
    # Other questions that the cache was asked may have the same ids.
    lookups = frames.lookups[frames.lookups["asked"] == result.request.sessions]
    answers, verdicts = [], []
    for system in result.systems:
        found = lookups[lookups["system"] == system].set_index("question_id")
        for dialogue_id, rows in turns.groupby("dialogue_id", sort=False):
            lines = [f"{turn.turn}. {turn.question}\n{turn.answer}" for turn in rows.itertuples()]
            answers.append((system, dialogue_id, 0, "\n".join(lines), (), (), np.nan, ""))
            for turn in rows.itertuples():
                if turn.question_id not in found.index:
                    continue
                entry = found.loc[turn.question_id]
                is_hit = entry["similarity"] > result.request.threshold
                word = mark("served from the cache") if is_hit else mark("not in the cache")
                near = f"{result.language.number(entry['similarity'])}, {entry['cached_question']}"
                fixed = (system, "", dialogue_id, "", turn.question)
                verdicts.append((*fixed, word, near, ()))
    shown = SimpleNamespace(
        questions=frames.questions,
        scores=frames.scores[frames.scores["question_id"].isin(frames.questions["question_id"])],
        answers=frame_of(answers, ANSWERS),
        verdicts=frame_of(verdicts, VERDICTS),
    )
    listed = SimpleNamespace(
        request=result.request, systems=result.systems, frames=shown, language=result.language
    )
    return replace(questions(listed), title=result.language.translate("Every dialogue"))


def method(result: Any) -> Part:
    """How it is measured."""
    _ = result.language.translate
    text = _(
        "Questions and answers are embedded. The cache holds the past questions whose user gave a "
        "score of {score}; it answers a question if the closest of them has a cosine above "
        "{threshold}. context_preservation is the mean cosine of neighbouring questions of a "
        "dialogue, answer_consistency that of its answers; multi_turn_consistency is computed as "
        "context_preservation. First the mean of each dialogue, then that of all."
    )
    values = {"score": result.request.cached_score, "threshold": result.request.threshold}
    named = {
        name: comparison.short_number(value, result.language) for name, value in values.items()
    }
    return comparison.method(result, text.format(**named))


def limits(result: Any) -> Part:
    """What the page does not show."""
    _ = result.language.translate
    text = _(
        "No cosine says whether a user was helped, and a follow-up that needs the turns before "
        "shares few words with them. A threshold belongs to its embedder: the same cosine is near "
        "for one and far for another. The history is taken whole, so that a question may find an "
        "answer that was given later."
    )
    return comparison.limits(result, text)

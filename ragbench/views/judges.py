"""What the page of judges shows: the four numbers, agreement with people, probes, every answer."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ragbench.core.language import mark
from ragbench.core.metric import parse_label
from ragbench.report.figures import system_styles
from ragbench.report.parts import Part, trusted
from ragbench.views import comparison
from ragbench.views.questions import QuestionList, questions

PEOPLE = mark("people")  # also what the frame of agreement calls them
MOST_RATERS = 3  # that have a column each
# Measures of agreement, as ragbench.stats.agreement calls them → as pages do; the first are drawn.
MEASURES = {
    "spearman": mark("Spearman's ρ"),
    "kappa": mark("Cohen's κ"),
    "kappa_quadratic": mark("Cohen's κ, quadratic weights"),
    "ac1": mark("Gwet's AC1"),
    "ac2_quadratic": mark("Gwet's AC2, quadratic weights"),
    "alpha_ordinal": mark("Krippendorff's α, ordinal"),
    "icc": mark("ICC(2,1)"),
    "kendall": mark("Kendall's τ-b"),
    "accuracy": mark("same rating"),
    "balanced_accuracy": mark("balanced accuracy"),
    "bias": mark("bias: judge minus people"),
}
DRAWN = 7
# Measures of the probes → what is printed.
PROBES = {
    "difference between repeats": mark("asked again: mean difference of the scores"),
    "same choice in both orders": mark("order of two answers: the same choice in both"),
    "preference for the first place": mark("order of two answers: preference for the first place"),
    "gain by padding": mark("padded to three times its length: gain of score"),
    "scores changed by padding": mark("padded to three times its length: scores changed"),
}
# What a judge has whom the change does not sway: as many numbers as there are measures.
FAIR = (0.0, 1.0, 0.0, 0.0, 0.0)


def answer(result: Any) -> Part:
    """The finding: one sentence a judge, and who could not be asked."""
    language = result.language
    _ = language.translate
    paragraphs = [sentence(result, name) for name in result.systems]
    failed = result.frames.judges[result.frames.judges["error"] != ""]
    for row in failed.itertuples():
        text = trusted(_("{judge} could not be asked, and nothing is said of it: {reason}"))
        paragraphs.append(text.format(judge=comparison.bold(row.system), reason=row.error))
    people = estimate_of(result, PEOPLE, "spearman")
    if people is not None:
        text = _("Spearman's ρ of people with each other: {value}.")
        value = language.estimate(people)
        paragraphs.append(Markup('<span class="more">{}</span>').format(text.format(value=value)))
    shown = Markup("").join(Markup("<p>{}</p>").format(text) for text in paragraphs)
    return Part(shown, style="finding")


def sentence(result: Any, system: str) -> Markup:
    """What is said of one judge: how it agrees, and how it repeats itself."""
    language = result.language
    _ = language.translate
    means = result.estimates.set_index(["system", "metric"]).loc[system]
    consistency, errors = means.loc["consistency_score"], means.loc["error_rate"]
    values = {
        "judge": comparison.bold(system),
        "consistency": language.estimate(consistency),
        "errors": language.percent(errors["value"], 1),
    }
    rows = first_scores(result, system)
    agreed = estimate_of(result, system, "spearman")
    if rows["value"].notna().sum() == 0:
        reason = rows["reason"].mode()
        text = _("{judge} gave no usable reply: {reason}")
        values["reason"] = reason.iloc[0] if len(reason) else ""
    elif rows["value"].nunique() == 1:
        text = _(
            "{judge} gives every answer {score}: it agrees with nobody beyond chance, and that it "
            "repeats itself says nothing."
        )
        values["score"] = comparison.short_number(rows["value"].dropna().iloc[0], language)
    elif agreed is None or np.isnan(agreed["value"]):
        text = _("{judge}: repeats itself at {consistency}; {errors} of its calls failed.")
    else:
        text = _(
            "{judge}: Spearman's ρ with people {value}; repeats itself at {consistency}; {errors} "
            "of its calls failed."
        )
        values["value"] = language.estimate(agreed)
    return trusted(text).format(**values)


def first_scores(result: Any, system: str) -> pd.DataFrame:
    """The first score that a judge gave every answer."""
    scores = result.frames.scores
    label = parse_label(result.request.metric).label
    return scores[(scores["system"] == system) & (scores["metric"] == label)]


def estimate_of(result: Any, system: str, measure: str) -> pd.Series | None:
    """The estimate of a measure of agreement; None where it is not stated."""
    frame = result.statement.agreement
    if frame.empty:
        return None
    rows = frame[(frame["system"] == system) & (frame["measure"] == measure)]
    return rows.iloc[0] if len(rows) else None


def facts(result: Any) -> Part:
    """What was measured, in one line."""
    _ = result.language.translate
    questions = result.frames.questions
    return comparison.about_facts(
        result,
        {
            _("answers"): result.language.count(len(questions)),
            _("independent groups"): result.language.count(questions["unit"].nunique()),
            _("people"): result.language.count(result.frames.ratings["rater"].nunique()),
            _("metric"): parse_label(result.request.metric).label,
        },
    )


def numbers(result: Any) -> Part:
    """The table of the four numbers, with delta and the scale that it is on."""
    _ = result.language.translate
    low, high = parse_label(result.request.metric).bounds
    note = _(
        "consistency_score: two scores of an answer differ by at most δ = {delta}, on a scale from "
        "{low} to {high}. error_rate: calls without a usable score. One of n is an answer."
    )
    values = {"delta": result.request.delta, "low": low, "high": high}
    shown = {
        name: comparison.short_number(value, result.language) for name, value in values.items()
    }
    table = comparison.number_table(result, result.request.metrics)
    table = table.rename(columns={_("system"): _("judge")})
    return Part(table, title=_("The numbers"), note=note.format(**shown))


def forest(result: Any) -> Part | None:
    """Agreement of people with each other, and of every judge with them; None without ratings."""
    language = result.language
    _ = language.translate
    frame = result.statement.agreement
    systems = raters(result)
    if not systems:
        return None
    labels = [name for name in list(MEASURES)[:DRAWN] if name in set(frame["measure"])]
    styles = {_(name): style for name, style in system_styles(systems, PEOPLE).items()}
    by_system = frame.set_index(["system", "measure"])
    rows = {_(system): by_system.loc[system].reindex(labels) for system in systems}
    texts = {
        name: [
            f"{_(MEASURES[row.Index])} {language.interval(row.value, row.low, row.high, 2)}"
            for row in own.itertuples()
        ]
        for name, own in rows.items()
    }
    names = [_(MEASURES[name]) for name in labels]
    figure = comparison.forest_plot(rows, styles, texts, names, language)
    level = f"{100 * result.request.level:g}"
    text = _("agreement with people, {level} % interval").format(level=level)
    least = frame.loc[frame["measure"].isin(labels), ["value", "low"]].min().min()
    figure.update_xaxes(title_text=text, showline=True, range=[min(-0.02, least - 0.02), 1.02])
    title = _("Agreement with people by {measure}: {values}")
    values = frame[frame["measure"] == labels[0]].set_index("system")["value"]
    known = [name for name in systems if not np.isnan(values[name])]
    shown = [f"{_(name)} {language.number(values[name], 2)}" for name in known]
    return Part(figure, title=title.format(measure=names[0], values=", ".join(shown)))


def raters(result: Any) -> list[str]:
    """People, and the judges that are compared with them."""
    frame = result.statement.agreement
    known = list(frame["system"].unique()) if len(frame) else []
    return [name for name in (PEOPLE, *result.systems) if name in known]


def agreement(result: Any) -> Part:
    """The table of all measures of agreement, or that nobody rated."""
    language = result.language
    _ = language.translate
    systems = raters(result)
    title = _("Agreement with people")
    if not systems:
        return Part(_("No answer was rated by people."), title=title)
    frame = result.statement.agreement.set_index(["system", "measure"])
    columns = {}
    for system in systems:
        own = frame.loc[system]
        cells = [
            language.estimate(own.loc[name], 2) if name in own.index else "–" for name in MEASURES
        ]
        columns[f"{_(system)} (n = {int(own['n'].max())})"] = cells
    table = pd.DataFrame(columns, index=[_(name) for name in MEASURES.values()])
    note = _(
        "One of n is a rating by a person, held against the judge's first score; of people with "
        "each other a pair of ratings. Bias is in units of the scale. No interval: fewer than 30 "
        "independent groups, or too little spread."
    )
    return Part(table, title=title, note=note)


def probes(result: Any) -> Part | None:
    """What sways each judge; None where no probe was made."""
    language = result.language
    _ = language.translate
    frame = result.statement.probes
    measured = frame[frame["n"] > 0]
    if measured.empty:
        return None
    columns = {_("not swayed"): [language.number(value, 0) for value in FAIR]}
    for system, rows in frame.groupby("system", sort=False):
        by_name = rows.set_index("metric")
        columns[str(system)] = [language.estimate(by_name.loc[name]) for name in PROBES]
    table = pd.DataFrame(columns, index=[_(name) for name in PROBES.values()])
    note = _(
        "Two answers: the one that was rated and the reference, in both orders. Padding says the "
        "same three times. An interval that leaves out the first column shows that the judge is "
        "swayed; that none does is no proof that nothing sways it."
    )
    return Part(table, title=_("What sways it?"), note=note)


def answers(result: Any) -> QuestionList:
    """The list of all answers, those on which the first judge and people differ most first."""
    _ = result.language.translate
    frames, request = result.frames, result.request
    label = parse_label(request.metric).label
    ratings = frames.ratings
    names = ratings["rater"].unique().tolist()
    if len(names) > MOST_RATERS:
        medians = ratings.groupby("question_id", sort=False)["value"].median().reset_index()
        ratings, names = medians.assign(rater=_(PEOPLE)), [_(PEOPLE)]
    people = ratings.rename(columns={"rater": "system"}).assign(
        metric=label, unit="", status="ok", reason="", explanation=""
    )
    # How often a judge failed and how long it took says nothing of one answer.
    scores = frames.scores[frames.scores["metric"].isin([label, "avg_faithfulness"])]
    judged = first_scores(result, result.systems[0]).set_index("question_id")["value"]
    gap = (judged - frames.ratings.groupby("question_id")["value"].mean()).abs()
    order = gap.reindex(frames.questions["question_id"]).sort_values(ascending=False, kind="stable")
    shown = SimpleNamespace(
        questions=frames.questions.set_index("question_id").loc[order.index].reset_index(),
        scores=pd.concat([scores, people[scores.columns]], ignore_index=True),
        # Once, beside the first judge's reasons.
        answers=frames.answers.assign(system=result.systems[0]),
    )
    listed = SimpleNamespace(
        request=request.model_copy(update={"primary": label}),
        systems=[*result.systems, *names],
        frames=shown,
        language=result.language,
    )
    note = _("Those on which {judge} and people differ most stand first.")
    title = _("Who disagrees most? Every answer")
    return replace(questions(listed), title=title, note=note.format(judge=result.systems[0]))


def method(result: Any) -> Part:
    """How it is measured."""
    _ = result.language.translate
    request = result.request
    text = _(
        "Every judge scores every answer {repeats} times by {metric}, each time anew, and once by "
        "faithfulness_rating. Agreement holds each person's rating against the judge's first "
        "score; its intervals are jackknife over independent groups. A score that cannot vary, of "
        "a judge that decides by a fixed rule or always says the same, is by construction."
    ).format(repeats=request.repeats, metric=parse_label(request.metric).label)
    return comparison.method(result, text)


def limits(result: Any) -> Part:
    """What the page does not show."""
    _ = result.language.translate
    text = _(
        "Each probe looks for one thing, with texts made by a rule. A judge that is good on these "
        "answers may be bad on those of another system, field or language. Few ratings by few "
        "people are a weak measure of truth. What is said of several judges holds for these."
    )
    return comparison.limits(result, text)

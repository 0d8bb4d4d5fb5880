"""What the page of the production judge shows: decisions against labels."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ragbench.core.frames import SCORES
from ragbench.core.language import mark
from ragbench.report.figures import system_styles
from ragbench.report.parts import Part, trusted
from ragbench.views import comparison
from ragbench.views.questions import QuestionList, questions

METRICS = ("balanced_accuracy", "accuracy", "decision_precision", "decision_recall", "f1_score")
PEOPLE = mark("people")
CONSTANTS = ("show-all", "hide-all")
# Where a decision falls, as the counts call it → what a reader sees.
CELLS = {
    "tp": mark("shown rightly"),
    "fp": mark("shown wrongly"),
    "fn": mark("held back wrongly"),
    "tn": mark("held back rightly"),
    "failed": mark("the call failed"),
}


def answer(result: Any) -> Part:
    """The finding: every judge against the baseline, and whose calls failed."""
    _ = result.language.translate
    finding = comparison.answer(result)
    sentences = []
    for system, rows in result.frames.decisions.groupby("system", sort=False):
        failed = rows[rows["decision"].isna()]
        if failed.empty:
            continue
        text = _("{judge} gave no decision in {failed} of {total} calls: {reason}")
        filled = trusted(text).format(
            judge=comparison.bold(str(system)),
            failed=len(failed),
            total=len(rows),
            reason=failed["reason"].mode().iloc[0],
        )
        sentences.append(Markup('<p><span class="more">{}</span></p>').format(filled))
    return Part(finding.content + Markup("").join(sentences), style="finding")


def facts(result: Any) -> Part:
    """What was measured, in one line: there may be several answers to a question."""
    _ = result.language.translate
    count = result.language.count
    cases = result.frames.questions
    return comparison.about_facts(
        result,
        {
            _("decisions"): count(len(cases)),
            _("questions"): count(cases["unit"].nunique()),
            _("to be shown"): count(int(result.frames.decisions["label"].head(len(cases)).sum())),
            _("baseline"): result.request.baseline,
        },
    )


def forest(result: Any) -> Part:
    """All shares with intervals, a row a measure."""
    part = comparison.forest(result, METRICS, (0.0, 1.0))
    level = f"{100 * result.request.level:g}"
    text = result.language.translate("share of the decisions, {level} % interval")
    figure: Any = part.content
    figure.update_xaxes(title_text=text.format(level=level))
    return part


def numbers(result: Any) -> Part:
    """The table of all numbers."""
    _ = result.language.translate
    n_questions = result.language.count(result.frames.questions["unit"].nunique())
    note = _(
        "One of n is a decision; intervals and p are over {questions} questions, since answers to "
        "one question are drawn together."
    ).format(questions=n_questions)
    table = comparison.number_table(result, result.request.metrics)
    table = table.rename(columns={_("system"): _("judge")})
    return Part(table, title=_("The numbers"), note=f"{note} {comparison.family_note(result)}")


def counts(result: Any) -> Part:
    """The four counts of every judge, and its failed calls."""
    _ = result.language.translate
    styles = system_styles(result.systems, result.request.baseline)
    shown = result.statement.counts
    shown = shown.assign(failed=shown["failed_positive"] + shown["failed_negative"])
    table = pd.DataFrame(
        {_(name): [result.language.count(n) for n in shown[cell]] for cell, name in CELLS.items()},
        index=[f"{styles[name].sign} {name}" for name in shown["system"]],
    )
    note = _(
        "What people say is right. A failed call stays in n: it agrees with no label and shows "
        "nothing. show-all and hide-all do not look at an answer: a judge has to beat both."
    )
    return Part(table, title=_("The decisions"), note=note)


def decisions(result: Any) -> QuestionList:
    """The list of all decisions, those that were wrong first, what people say beside the judges."""
    _ = result.language.translate
    frames = result.frames
    judges = [name for name in result.systems if name not in CONSTANTS]
    decided = frames.decisions[frames.decisions["system"].isin(judges)]
    people = _(PEOPLE)
    labels = decided.drop_duplicates("question_id").assign(
        system=people, metric="show_decision", status="ok", reason=""
    )
    labels["value"], labels["explanation"] = labels["label"].astype(float), labels["rationale"]
    scores = frames.scores[frames.scores["system"].isin(judges)]
    is_shown, is_right = decided["decision"] == 1, decided["decision"] == decided["label"]
    cells = np.select(
        [decided["decision"].isna(), is_shown & is_right, is_shown, is_right],
        ["failed", "tp", "fp", "tn"],
        "fn",
    )
    failure = pd.Categorical(pd.Series(cells).map(CELLS), list(CELLS.values()))
    failures = decided[["system", "question_id", "unit"]].assign(failure=failure)
    first = failures[failures["system"] == judges[0]].set_index("question_id")["failure"]
    is_wrong = ~first.isin([CELLS["tp"], CELLS["tn"]])
    order = is_wrong.sort_values(ascending=False, kind="stable").index
    shown = SimpleNamespace(
        questions=frames.questions.set_index("question_id").loc[order].reset_index(),
        scores=pd.concat([scores, labels[SCORES.names]], ignore_index=True),
        answers=frames.cases.assign(system=people),
        failures=failures,
    )
    listed = SimpleNamespace(
        request=result.request,
        systems=[*judges, people],
        frames=shown,
        language=result.language,
    )
    note = _("1: to be shown, 0: not. What the first judge decided wrongly stands first.")
    return replace(questions(listed), title=_("Every decision"), note=note)


def method(result: Any) -> Part:
    """How it is measured."""
    _ = result.language.translate
    text = _(
        "Every labelled answer is put to every judge with its question and its passages. A reply "
        "is yes or no by its field or its first word, never by a word somewhere in it. What shows "
        "a poor answer costs {shown}, what holds back a good one {hidden}. Measures that are no "
        "means, such as f1_score, are compared by how far each decision moves them."
    )
    costs = {"shown": result.request.cost_shown, "hidden": result.request.cost_hidden}
    named = {name: comparison.short_number(cost, result.language) for name, cost in costs.items()}
    return comparison.method(result, text.format(**named))


def limits(result: Any) -> Part:
    """What the page does not show."""
    _ = result.language.translate
    text = _(
        "The labels are taken as the truth, whoever wrote them. How often an answer is to be shown "
        "may differ in production, and precision and accuracy move with it; recall does not. A "
        "latency is of this machine, or of the endpoint on that day."
    )
    return comparison.limits(result, text)

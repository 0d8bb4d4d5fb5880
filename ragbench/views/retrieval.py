"""What only Tier 1 shows: curves by depth, what is not judged, times and indexes."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ragbench.report.figures import new_figure, system_styles
from ragbench.report.parts import Part
from ragbench.views import comparison

SPEED_DIGITS = 1  # of milliseconds


def curves(result: Any) -> Part | None:
    """Recall by depth, a line a system; None where only one passage is looked at."""
    language = result.language
    _ = language.translate
    frame = result.statement.curves
    if frame["k"].nunique() < 2:
        return None
    styles = system_styles(result.systems, result.request.baseline)
    figure = new_figure(language)
    recall = frame[frame["metric"] == "recall"]
    for system, rows in recall.groupby("system", sort=False):
        texts = [
            f"recall@{row.k} {language.interval(row.value, row.low, row.high)}"
            for row in rows.itertuples()
        ]
        figure.add_scatter(
            x=[*rows["k"], *rows["k"][::-1]],
            y=[*rows["low"], *rows["high"][::-1]],
            fill="toself",
            fillcolor=styles[system].colour,
            opacity=0.12,
            mode="none",
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            name=system,
            x=rows["k"],
            y=rows["value"],
            mode="lines+markers",
            line={"color": styles[system].colour},
            marker={"symbol": styles[system].symbol},
            customdata=texts,
            hovertemplate="%{fullData.name} · %{customdata}<extra></extra>",
        )
    figure.update_xaxes(title_text=_("passages that are looked at (k)"), showline=True)
    figure.update_yaxes(title_text="recall@k", rangemode="tozero")
    deepest = recall[recall["k"] == recall["k"].max()]
    values = ", ".join(f"{row.system} {language.number(row.value)}" for row in deepest.itertuples())
    title = _("Recall at {k}: {values}").format(k=int(recall["k"].max()), values=values)
    note = _(
        "Where a curve is flat, a longer list brings nothing more. A band is the interval at each "
        "depth by itself, not around the whole curve."
    )
    return Part(figure, title=title, note=note)


def judged(result: Any) -> Part | None:
    """How much of what was retrieved is judged, with both bounds; None where it is not known."""
    language = result.language
    _ = language.translate
    frame = result.statement.bounds
    if frame.empty:
        return None
    table = pd.DataFrame(
        {
            _("judged"): [language.percent(share) for share in frame["judged"]],
            _("others not relevant"): [language.number(value) for value in frame["lowest"]],
            _("others relevant"): [language.number(value) for value in frame["highest"]],
        },
        index=list(frame["system"]),
    )
    note = _(
        "{metric} if the passages without a label are not relevant, as it is printed everywhere, "
        "and if all of them are. Judged: the share of the passages looked at that have a label."
    )
    return Part(
        table,
        title=_("What is not judged"),
        note=note.format(metric=frame["metric"].iloc[0]),
        is_folded=True,
    )


def speed(result: Any) -> list[Part]:
    """How long systems take, and what an index gains and loses against exact search."""
    language = result.language
    _ = language.translate
    parts = []
    times = result.statement.latencies
    if len(times):
        columns = {}
        for share, rows in times.groupby("share"):
            name = _("median") if share == 0.5 else f"{100 * share:.0f} %"
            columns[name] = [
                language.interval(row.value, row.low, row.high, SPEED_DIGITS)
                for row in rows.itertuples()
            ]
        first = times[times["share"] == times["share"].min()]
        columns["n"] = [language.count(n) for n in first["n"]]
        note = _("Milliseconds a question, of every request; intervals by order statistics.")
        table = pd.DataFrame(columns, index=list(first["system"]))
        parts.append(Part(table, title=_("How fast"), note=note, is_folded=True))
    indexes = result.frames.indexes
    if len(indexes):
        table = pd.DataFrame(
            {
                _("options"): list(indexes["options"]),
                _("found of the exact nearest"): [language.number(x) for x in indexes["recall"]],
                _("median, ms"): [language.number(x, 2) for x in indexes["latency_ms"]],
                _("95 %, ms"): [language.number(x, 2) for x in indexes["latency_p95_ms"]],
                _("building, s"): [language.number(x, 2) for x in indexes["build_seconds"]],
                "n": [language.count(n) for n in indexes["n"]],
            },
            index=[
                f"{system} · {kind}" for system, kind in indexes[["system", "index"]].to_numpy()
            ],
        )
        note = _(
            "Searched in PostgreSQL with pgvector, one statement a question. Exact compares every "
            "vector; HNSW and IVFFlat look at some."
        )
        parts.append(Part(table, title=_("Exact search and indexes"), note=note, is_folded=True))
    return parts


def method(result: Any) -> Part:
    """How Tier 1 measures."""
    _ = result.language.translate
    measured = _(
        "Every question is asked of every system; the first {k} passages that come back are held "
        "against the relevance labels. A question for which nothing came back counts 0, one at "
        "which a system failed is unmeasured. Repeats ask everything anew, {repeats} times in all, "
        "but for vectors of models on this machine, which are always the same."
    ).format(k=result.request.k, repeats=result.request.repeats)
    sentences = [measured]
    if result.request.unit == "url":
        sentences.append(_("Pages are ranked: each stands at the place of its first passage."))
    return comparison.method(result, " ".join(sentences))


def limits(result: Any) -> Part:
    """What Tier 1 does not show."""
    _ = result.language.translate
    questions = result.frames.questions
    n_without = int((~questions["is_labelled"]).sum())
    sentences = [
        _(
            "Only labelled passages count as relevant: a good passage that nobody labelled counts "
            "as a miss. Whether the answers are right is not measured here."
        )
    ]
    if n_without:
        text = _("{count} questions without a relevant passage are left out.")
        sentences.append(text.format(count=n_without))
    n_itself = int(questions["n_itself"].sum()) if "n_itself" in questions else 0
    if n_itself:
        text = _("{count} times a question was retrieved itself, and was left out of the ranking.")
        sentences.append(text.format(count=n_itself))
    return comparison.limits(result, *sentences)

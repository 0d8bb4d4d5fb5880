"""What pages of answers show beside the comparison: refusals, judges, writers, repeats."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ragbench.core.language import mark
from ragbench.core.metric import parse_label
from ragbench.metrics.overlap import signature
from ragbench.report.figures import colour, new_figure
from ragbench.report.parts import Part


def refusals(result: Any) -> Part | None:
    """How often each system refuses what it could answer, and what nobody could."""
    _ = result.language.translate
    shares = result.statement.refusals
    if shares.empty:
        return None
    columns = {}
    for name, rows in shares.groupby("metric", sort=False):
        by_system = rows.set_index("system")
        columns[_(name)] = [
            f"{result.language.percent(row.value)} "
            f"{result.language.ends(100 * row.low, 100 * row.high, digits=0)} (n = {row.n})"
            if row is not None
            else "–"
            for row in (find_row(by_system, system) for system in result.systems)
        ]
    note = _("Told by the words of the answer. To refuse what nobody can answer is right.")
    return Part(pd.DataFrame(columns, index=result.systems), title=_("Refusals"), note=note)


def find_row(by_system: pd.DataFrame, system: str) -> Any:
    """Return the row of a system, or None."""
    return by_system.loc[system] if system in by_system.index else None


def writers(result: Any) -> Part | None:
    """Which systems share a row because one generator writes for all; None where none do."""
    _ = result.language.translate
    shared = result.frames.writers.groupby("system", sort=False)["writes_for"].apply(list)
    sentences = []
    for first, names in shared.items():
        if len(names) > 1:
            text = _(
                "{systems} have one generator: given the same passages, {first} stands for all."
            )
            sentences.append(text.format(systems=", ".join(names), first=first))
    return Part(" ".join(sentences), style="more") if sentences else None


def judges(result: Any) -> Part | None:
    """What each of several judges says: its mean, and where it failed. None of one judge."""
    _ = result.language.translate
    said = result.frames.judgements
    if said.empty:
        return None
    rows = []
    for (metric, judge), group in said.groupby(["metric", "judge"], sort=False):
        failed = group[group["value"].isna()]
        reason = failed["reason"].mode()
        rows.append(
            {
                _("metric"): metric,
                _("judge"): judge,
                _("mean"): result.language.number(group["value"].mean()),
                _("measured"): result.language.count(int(group["value"].notna().sum())),
                _("failed"): result.language.count(len(failed)),
                _("most frequent reason"): reason.iloc[0] if len(reason) else "",
            }
        )
    table = pd.DataFrame(rows).set_index(_("metric"))
    return Part(table, title=_("Each judge by itself"), is_folded=True)


def unmeasured(result: Any) -> Part | None:
    """What could not be measured, by reason; None where everything was."""
    _ = result.language.translate
    gaps = result.scores[result.scores["status"] != "ok"]
    if gaps.empty:
        return None
    counts = gaps.groupby(["metric", "status", "reason"], sort=False).size().reset_index(name="n")
    counts = counts.sort_values("n", ascending=False, kind="stable").head(20)
    table = pd.DataFrame(
        {
            _("reason"): counts["reason"].tolist(),
            _("values"): [result.language.count(n) for n in counts["n"]],
        },
        index=counts["metric"].tolist(),
    )
    note = _("These values are in no mean.")
    return Part(table, title=_("What could not be measured"), note=note, is_folded=True)


def repeats(result: Any) -> Part | None:
    """How often answers pass when a question is asked several times; None where none was."""
    _ = result.language.translate
    rates = result.statement.repeats
    if rates.empty:
        return None
    table = pd.DataFrame(
        {
            _("system"): rates["system"].tolist(),
            _("rate"): rates["rate"].tolist(),
            _("value"): [
                result.language.interval(row.value, row.low, row.high) for row in rates.itertuples()
            ],
        },
        index=rates["metric"].tolist(),
    )
    note = _(
        "An answer passes from three quarters of a metric's scale on. pass@k: at least one of "
        "k = {k} answers passes; pass^k: all do; flip_rate: two answers differ in that."
    ).format(k=rates["k"].iloc[0])
    return Part(table, title=_("Asked again and again"), note=note, is_folded=True)


def correlations(result: Any) -> Part | None:
    """Which metrics order the answers alike: Spearman's ρ as a map."""
    from ragbench.tiers.rag_metrics import correlate

    _ = result.language.translate
    rho = correlate(result.frames)
    if len(rho) < 2:
        return None
    figure = new_figure(result.language, 120 + 20 * len(rho))
    texts = [[result.language.number(value, 2) for value in row] for row in rho.to_numpy()]
    figure.add_heatmap(
        z=rho.to_numpy(),
        x=list(rho.columns),
        y=list(rho.index),
        text=texts,
        texttemplate="%{text}",
        zmin=-1,
        zmax=1,
        colorscale=[[0, colour("accent")], [0.5, colour("paper")], [1, colour("blue1")]],
        showscale=False,
        hovertemplate="%{x} · %{y}: %{text}<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(showgrid=False)
    return Part(figure, title=_("Which metrics say the same"))


def method(result: Any) -> Part:
    """How the answers were asked for and judged, then the statistics."""
    from ragbench.views import comparison

    _ = result.language.translate
    asked = _(
        "Every system answers every question, and every answer is scored by each metric: by words "
        "it shares with the right answer, by vectors, or by a judge who gives a reason."
    )
    judged = _(
        "What a judge did not answer in a usable form is asked for once more, and is then "
        "unmeasured: it counts neither as good nor as bad."
    )
    metrics = map(parse_label, result.request.metrics)
    signatures = {metric.label: signature(metric.name, **metric.options) for metric in metrics}
    signed = ", ".join(f"{label}: sacrebleu {text}" for label, text in signatures.items() if text)
    return comparison.method(result, asked, judged, signed)


# What a page of answers does not show, by its name.
LIMITS = {
    "tier2_generation": mark(
        "The right passages were handed over, so nothing is said here of whether they would have "
        "been found: see Tiers 1 and 3."
    ),
    "tier3_end_to_end": mark(
        "A judge compares with one right answer: one that is right in another way may be rated "
        "too low. Time was measured with nobody else asking."
    ),
    "rag_metrics": mark(
        "A metric sees only its own fields: an answer can be faithful to passages that are out of "
        "date. A correlation over these answers need not hold for others."
    ),
}


def limits(result: Any) -> Part:
    """What the page does not show."""
    from ragbench.views import comparison

    _ = result.language.translate
    general = _(
        "Shared words are no meaning: a good answer in other words scores low. A judge can be "
        "wrong in the same direction for all systems: see the page of the judge."
    )
    return comparison.limits(result, _(LIMITS[result.NAME]), general)

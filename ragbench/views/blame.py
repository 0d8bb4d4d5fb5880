"""Which part fails first: a stacked bar a system, its table, and what perfect parts would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ragbench.report.figures import colour, new_figure, system_styles
from ragbench.report.parts import Part
from ragbench.tiers.blame import (
    BEYOND,
    ERROR,
    GOOD,
    INVENTED,
    MISSING,
    NOT_JUDGED,
    NOT_RETRIEVED,
    OUTCOMES,
    PARTS,
    RIGHT_REFUSAL,
    SUCCESSES,
    TOO_LOW,
    WRONG,
)
from ragbench.views import comparison

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Blue is well, red is the generator's, pale red the ranking's, grey the base's or nobody's.
COLOURS = {
    GOOD: "blue1",
    RIGHT_REFUSAL: "blue2",
    WRONG: "accent",
    BEYOND: "heading",
    INVENTED: "soft",
    TOO_LOW: "blue3",
    NOT_RETRIEVED: "grey",
    MISSING: "muted",
    ERROR: "ink",
    NOT_JUDGED: "line",
}
BAR_HEIGHT = 44  # pixels of a system


def bars(result: Any) -> Part:
    """The first failures of all questions, a bar a system."""
    shares = result.statement.shares
    figure = new_figure(result.language, 110 + BAR_HEIGHT * len(result.systems), barmode="stack")
    for outcome in OUTCOMES:
        rows = shares[shares["metric"] == outcome]
        if rows["n_questions"].sum():
            add_segment(figure, result, rows, outcome)
    figure.update_layout(
        bargap=0.3,
        # A number that does not fit is not made too small to read.
        uniformtext={"minsize": 9, "mode": "hide"},
        legend={"traceorder": "normal", "y": -0.05, "yanchor": "top"},
    )
    figure.update_xaxes(visible=False, range=[0, 1])
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return Part(figure, title=title(result))


def add_segment(figure: go.Figure, result: Any, rows: pd.DataFrame, outcome: str) -> None:
    """Add one outcome as a segment of every system's bar."""
    language = result.language
    texts = [f"{row.system}: {share_text(row, language)}" for row in rows.itertuples()]
    figure.add_bar(
        name=language.translate(outcome),
        x=rows["value"].tolist(),
        y=rows["system"].tolist(),
        orientation="h",
        text=[str(count or "") for count in rows["n_questions"]],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,  # plotly would turn numbers that hardly fit
        marker={"color": colour(COLOURS[outcome]), "line": {"color": colour("paper"), "width": 1}},
        customdata=texts,
        hovertemplate="%{fullData.name} · %{customdata}<extra></extra>",
    )


def title(result: Any) -> str:
    """The finding: of the leading system how many answers are good, and what fails most."""
    _ = result.language.translate
    shares = result.statement.shares
    good = shares[shares["metric"].isin(SUCCESSES)].groupby("system", sort=False)
    counts = good["n_questions"].sum().reindex(result.systems, fill_value=0)
    leader = counts.idxmax()
    own = shares[(shares["system"] == leader) & ~shares["metric"].isin(SUCCESSES)]
    text = _("{system}: {good} of {total} questions are answered well").format(
        system=leader,
        good=counts[leader],
        total=int(shares.loc[shares["system"] == leader, "n_questions"].sum()),
    )
    if own["n_questions"].sum() == 0:
        return text
    worst = own.loc[own["n_questions"].idxmax()]
    fails = _("most often fails first: {failure} ({count})")
    rest = fails.format(failure=_(worst["metric"]), count=worst["n_questions"])
    return f"{text}; {rest}"


def table(result: Any) -> Part:
    """The numbers of the bars with intervals, a column a system."""
    _ = result.language.translate
    shares = result.statement.shares
    present = [outcome for outcome in OUTCOMES if outcome in set(shares["metric"])]
    columns = {}
    for system, rows in shares.groupby("system", sort=False):
        by_outcome = rows.set_index("metric")
        columns[system] = [
            share_text(by_outcome.loc[outcome], result.language) for outcome in present
        ]
    note = _(
        "Every question once, where it fails first. Good: {correctness} of at least {right}, "
        "{faithfulness} of at least {faithful}. Read: a labelled passage is among the first {read}."
    )
    from ragbench.tiers.tier3_end_to_end import standards

    chosen = standards(result.request)
    return Part(
        pd.DataFrame(columns, index=[_(outcome) for outcome in present]),
        title=_("First failures in numbers"),
        note=note.format(
            correctness=chosen["correctness"],
            right=f"{chosen['right_from']:g}",
            faithfulness=chosen["faithfulness"],
            faithful=f"{chosen['faithful_from']:g}",
            read=result.request.contexts,
        ),
        is_folded=True,
    )


def share_text(row: Any, language: Any) -> str:
    """`37 · 28 % [20, 37]`: questions, their share and its interval."""
    ends = language.ends(100 * row.low, 100 * row.high, digits=0)
    return f"{row.n_questions} · {language.percent(row.value)} {ends}"


def perfect_parts(result: Any) -> Part | None:
    """How many answers would be good if one part were perfect; None where nothing tells."""
    _ = result.language.translate
    shares = result.statement.perfect_parts
    if shares["value"].isna().all():  # or there are none
        return None
    systems = list(shares["system"].unique())
    styles = system_styles(systems, result.request.baseline)
    by_system = shares.set_index(["system", "metric"])
    rows = {system: by_system.loc[system].reindex(list(PARTS)) for system in systems}
    texts = {
        system: [
            f"{_(row.Index)}: {result.language.interval(row.value, row.low, row.high)}"
            for row in own.itertuples()
        ]
        for system, own in rows.items()
    }
    names = [_(part) for part in PARTS]
    figure = comparison.forest_plot(rows, styles, texts, names, result.language)
    figure.update_xaxes(range=[-0.02, 1.02], title_text=_("share of good answers"))
    note = _(
        "Of questions with a labelled passage and a right answer. Perfect retrieval: answers are "
        "written from the labelled passages and judged again. Perfect generation: every answer "
        "is good whose labelled passage was read."
    )
    return Part(figure, title=perfect_title(result, shares), note=note)


def perfect_title(result: Any, shares: pd.DataFrame) -> str:
    """The finding: which part's perfection would bring most to the baseline."""
    _ = result.language.translate
    system = next(iter(shares["system"]))
    own = shares[shares["system"] == system].set_index("metric")["value"]
    gains = own.drop(PARTS[0]) - own[PARTS[0]]
    best = gains.idxmax()
    text = _("{system} would gain most {part}: {before} → {after} good answers")
    return text.format(
        system=system,
        part=_(best),
        before=result.language.percent(own[PARTS[0]]),
        after=result.language.percent(own[best]),
    )

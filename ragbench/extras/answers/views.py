"""What the judge said item by item, counted: of nuggets, citations and agents' steps."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ragbench.report.parts import Part

MOST_ITEMS = 15  # of the table of what is missing most often
# Verdicts that say that something is wanting, by metric.
WANTING = {
    "nugget_score": ("none",),
    "citation_support": ("none",),
    "citation_quality": ("none", "uncited"),
}


def verdict_counts(result: Any) -> Part | None:
    """How often which verdict was given, a row a metric and verdict, a column a system."""
    _ = result.language.translate
    verdicts = result.frames.verdicts
    if verdicts.empty:
        return None
    counts = verdicts.groupby(["metric", "verdict", "system"], sort=False).size()
    table = counts.unstack("system", fill_value=0).reindex(columns=result.systems, fill_value=0)
    shares = table / table.groupby("metric").transform("sum")
    cells = pd.DataFrame(
        {
            system: [
                f"{count} · {result.language.percent(share)}"
                for count, share in zip(table[system], shares[system], strict=True)
            ]
            for system in table.columns
        },
        index=[f"{metric} · {_(verdict)}" for metric, verdict in table.index],
    )
    return Part(cells, title=_("What was said, item by item"))


def missing_most(result: Any) -> Part | None:
    """The items that most answers want: facts that nobody says, sentences without support."""
    _ = result.language.translate
    verdicts = result.frames.verdicts
    is_wanting = [
        verdict in WANTING.get(metric.partition("(")[0], ())
        for metric, verdict in zip(verdicts["metric"], verdicts["verdict"], strict=True)
    ]
    wanting = verdicts[is_wanting]
    if wanting.empty:
        return None
    counts = wanting.groupby(["metric", "item"], sort=False)["system"].agg(["size", "unique"])
    counts = counts.sort_values("size", ascending=False, kind="stable").head(MOST_ITEMS)
    cells = pd.DataFrame(
        {
            _("item"): [item for _metric, item in counts.index],
            _("answers"): [result.language.count(int(n)) for n in counts["size"]],
            _("systems"): [", ".join(systems) for systems in counts["unique"]],
        },
        index=[metric for metric, _item in counts.index],
    )
    return Part(cells, title=_("What is wanting most often"), is_folded=True)

"""`ragbench compare`."""

from __future__ import annotations

from typing import Annotated

import pandas as pd
import typer

from ragbench.cli.options import (
    Baseline,
    Confidence,
    Draws,
    Json,
    LanguageCode,
    Latex,
    Out,
    Primary,
    Seed,
    Systems,
    split_list,
)
from ragbench.cli.output import print_frame, say, write_json, write_text
from ragbench.core.language import Language
from ragbench.extras.runs.front import Comparison, compare
from ragbench.extras.runs.pages import primary_rows
from ragbench.report.parts import Part


def main(
    runs: Annotated[
        list[str], typer.Argument(help="Runs: names, latest, folders; first: baseline.")
    ],
    baseline: Baseline = "",
    primary: Primary = "",
    systems: Systems = [],  # noqa: B006  typer reads it
    out: Out = None,
    json_file: Json = None,
    latex: Latex = None,
    language: LanguageCode = "",
    common_questions: Annotated[
        bool, typer.Option(help="With other data: pair the questions that all runs share.")
    ] = False,
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Compare runs question by question: intervals, p and verdicts of one family; what changed.

    Examples: `ragbench compare 20261101 latest`, `ragbench compare v1 v2 v3 --out comparison`
    """
    comparison = compare(
        *split_list(runs),
        baseline=baseline,
        primary=primary,
        systems=split_list(systems),
        only_common=common_questions,
        language=language,
        level=confidence,
        draws=draws,
        seed=seed,
    )
    print_comparison(comparison)
    if json_file is not None:
        names = ("comparisons", "changes")
        write_json(json_file, {name: getattr(comparison, name) for name in names})
    if latex is not None:
        table = comparison_table(comparison.comparisons, comparison.language)
        write_text(latex, Part(table.set_index("page")).to_latex("comparison"))
    if out is not None:
        print(comparison.save(out))


def print_comparison(comparison: Comparison) -> None:
    """Print the primary comparisons as a table, and how many things changed."""
    for note in comparison.notes:
        say(note)
    print_frame(comparison_table(primary_rows(comparison), comparison.language))
    changed = comparison.changes["what"].tolist()
    if changed:
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        print(f"changed: {', '.join(changed[:5])}{more}")


def comparison_table(rows: pd.DataFrame, language: Language) -> pd.DataFrame:
    """Return comparisons as a table for people."""
    return pd.DataFrame(
        {
            "page": rows["page"].tolist(),
            "metric": rows["metric"].tolist(),
            "system": rows["system"].tolist(),
            "run": rows["challenger"].tolist(),
            "difference": [language.difference(row) for row in rows.to_dict("records")],
            "p": [language.p_value(p) for p in rows["p_adjusted"]],
            "verdict": [language.translate(word) for word in rows["word"]],
        }
    )

"""`ragbench compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import pandas as pd
import typer

from ragbench.cli.options import (
    Baseline,
    Confidence,
    Draws,
    Json,
    LanguageCode,
    Out,
    Primary,
    Seed,
    Systems,
    split_list,
)
from ragbench.cli.output import print_frame, say, write_json
from ragbench.core.language import Language, load_language
from ragbench.core.trust import open_settings
from ragbench.extras.runs.comparing import Compared, compare_runs
from ragbench.extras.runs.pages import compared_page, primary_rows
from ragbench.report.finished import find_run, read_run


def main(
    runs: Annotated[
        list[str], typer.Argument(help="Runs: names, latest, folders; first: baseline.")
    ],
    baseline: Baseline = "",
    primary: Primary = "",
    systems: Systems = [],  # noqa: B006  typer reads it
    out: Out = None,
    json_file: Json = None,
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
    from ragbench import stats

    settings = open_settings()
    folders = [find_run(name, settings) for name in split_list(runs)]
    finished = {folder.name: read_run(folder) for folder in folders}
    if baseline:
        baseline = find_run(baseline, settings).name
    compared = compare_runs(
        finished,
        baseline=baseline,
        primary=primary,
        systems=split_list(systems),
        only_common=common_questions,
        confidence=stats.Confidence(confidence, draws, seed),
    )
    spoken = load_language(language or settings.language)
    print_comparison(compared, spoken)
    if json_file is not None:
        content = {"comparisons": compared.comparisons, "changes": compared.changes}
        write_json(json_file, content)
    if out is not None:
        print(compared_page(compared, spoken).save(out / "comparison.html"))


def print_comparison(compared: Compared, language: Language) -> None:
    """Print the primary comparisons as a table, and how many things changed."""
    for note in compared.notes:
        say(note)
    print_frame(comparison_table(primary_rows(compared), language))
    changed: Sequence[str] = compared.changes["what"].tolist()
    if changed:
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        print(f"changed: {', '.join(changed[:5])}{more}")


def comparison_table(rows: pd.DataFrame, language: Language) -> pd.DataFrame:
    """Return comparisons as a table for people."""
    ends = rows[["difference", "low", "high"]].itertuples(index=False)
    return pd.DataFrame(
        {
            "page": rows["page"].tolist(),
            "metric": rows["metric"].tolist(),
            "system": rows["system"].tolist(),
            "run": rows["challenger"].tolist(),
            "difference": [
                language.interval(value, low, high, signed=True) for value, low, high in ends
            ],
            "p": [language.p_value(p) for p in rows["p_adjusted"]],
            "verdict": [language.translate(word) for word in rows["word"]],
        }
    )

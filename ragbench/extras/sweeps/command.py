"""`ragbench sweep`."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench.cli.options import (
    Confidence,
    DatasetName,
    Draws,
    Json,
    LanguageCode,
    Limit,
    Out,
    Plan,
    Primary,
    Seed,
)
from ragbench.cli.output import say, write_json
from ragbench.core.language import load_language
from ragbench.core.trust import open_settings


def main(
    name: Annotated[str, typer.Argument(help="The NAME of [sweeps.NAME] in ragbench.toml.")],
    dataset: DatasetName = "",
    primary: Primary = "",
    k: Annotated[int, typer.Option(min=1, help="Passages of each ranking.")] = 10,
    limit: Limit = None,
    out: Out = None,
    json_file: Json = None,
    plan: Plan = False,
    language: LanguageCode = "",
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Measure all combinations of a table of settings, and say what the best is really worth.

    [sweeps.search] retriever = ["bm25", "dense"], reranker = ["", "mine"] has four. --plan lists
    them.

    Example: `ragbench sweep search --out sweep`
    """
    from ragbench import stats
    from ragbench.extras.sweeps.pages import finding, sweep_page
    from ragbench.extras.sweeps.sweeping import (
        check_configurations,
        list_configurations,
        run_sweep,
    )

    settings = open_settings()
    if plan:
        systems, failed = check_configurations(list_configurations(name, settings))
        print("\n".join(systems))
        for configuration, reason in failed.items():
            say(f"cannot be: {configuration}: {reason}")
        return
    sweep = run_sweep(
        name,
        settings,
        dataset=dataset,
        metric=primary,
        limit=limit,
        k=k,
        confidence=stats.Confidence(confidence, draws, seed),
    )
    spoken = load_language(language or settings.language)
    print(finding(sweep, spoken))
    if json_file is not None:
        write_json(json_file, {"configurations": sweep.configurations, "effects": sweep.effects})
    if out is not None:
        print(sweep_page(sweep, spoken).save(out / "sweep.html"))

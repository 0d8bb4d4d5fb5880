"""`ragbench sweep`: all configurations of a grid on the same questions, and a page on what may be said of the best."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ragbench.old.cli import run as running
from ragbench.old.cli.console import consent, options
from ragbench.old.core import terminal


def sweep(
    name: Annotated[str, typer.Argument(help="The NAME of [sweeps.NAME] in ragbench.toml; the only one if none.")] = "",
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="Data set below data/; as in ragbench.toml.")] = "",
    limit: options.Limit = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes that measure at the same time.", min=1, max=64)
    ] = 1,
    language: options.Language = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of reports; `reports` if not given.", callback=options.folder),
    ] = None,
    plan: options.PlanOnly = False,
    trusted: consent.Trust = False,
) -> None:
    """Measure every configuration of a sweep on the same questions, and write its page: what exchanging each part does,
    which is the best, and what that one is worth when one has chosen it for being the best.

    Vectors, paid replies and whole configurations are kept as they are made: a sweep that was killed goes on from
    there with the same command. Passages and indexes are shared by all configurations that need them.

    Examples:

    - `ragbench sweep parts --plan`: which configurations there are, which cannot be, and what models would be asked.
    - `ragbench sweep parts --limit 200 --jobs 2`: on a sample of the questions, in two processes.

    Exit code 0 when the page was made, 4 when too few configurations could be measured, 3 when the sweep cannot be
    followed, 5 when nobody has answered for the folder.
    """

    from ragbench.old import report
    from ragbench.old.core import settings
    from ragbench.old.core.annexes import notebooks
    from ragbench.old.core.types.reason import read
    from ragbench.old.extras.sweeps import ablation, grid
    from ragbench.old.tiers.scoring.judged_metrics import Judging

    notebook, known = notebooks()["ablation"], settings.load()
    given: dict[str, Any] = {"sweep": name or grid.only()}
    given |= {key: value for key, value in (("dataset", dataset), ("limit", limit)) if value}
    if not plan:
        consent.required(report.reach([notebook], given), trusted)
    request = ablation.AblationRequest(**given, language=language or known.language)  # type: ignore[arg-type]
    sweeping = ablation.Sweeping.of(request)
    _announce(sweeping)
    if plan:
        running._plan([str(notebook)], given, 1, language or known.language, lenient=False)
        return
    with terminal.Bars() as bars:
        total, done = len(sweeping.whole.configurations), [0]

        def told(configuration: str, _outcome: Any) -> None:
            done[0] += 1
            bars.show("measuring", min(done[0], total), total, configuration)

        found = ablation.run(sweeping, request.take(Judging), jobs, told)
    for configuration, outcome in found.outcomes.items():
        if outcome.failure:
            terminal.say(f"{configuration} failed: {read(outcome.failure)}", err=True, colour="red")
        elif not ablation.takes_part(outcome):
            terminal.say(
                f"{configuration} has no part in the choice: {ablation.without(outcome)}", err=True, colour="red"
            )
    with terminal.Bars() as bars:
        result = report.run(
            [notebook], given, out, jobs=1, language=language or known.language,
            progress=partial(running._draw, bars), keep=True, name=f"sweep {given['sweep']}",
        )  # fmt: skip
    for failed, line in result.failures.items():
        terminal.say(f"{failed} failed: {line}", err=True, colour="red")
    terminal.say(result.folder / "ablation.html")
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _announce(sweeping: Any) -> None:
    """How many configurations there are, and which there are not."""
    from ragbench.old.core.types.reason import read

    whole = sweeping.whole
    factors = "; ".join(f"{name}: {', '.join(values)}" for name, values in whole.factors.items())
    terminal.say(f"{len(whole.configurations)} configurations on {len(sweeping.asked)} questions ({factors})")
    if sweeping.exploring:
        terminal.say(f"{len(sweeping.exploring)} questions choose the finalists, {len(sweeping.deciding)} decide")
    for why, count in Counter(whole.left_out.values()).items():
        terminal.say(f"left out: {count} of the grid: {read(why)}", err=True)

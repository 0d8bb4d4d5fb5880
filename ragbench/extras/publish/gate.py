"""`ragbench gate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from ragbench.cli.options import Json
from ragbench.cli.output import print_frame, write_json
from ragbench.core.language import load_language
from ragbench.extras.publish.exports import write_junit, write_markdown
from ragbench.extras.publish.gates import exit_code, hold_gates
from ragbench.report.finished import find_run, read_run
from ragbench.tiers.common import open_project


def main(
    run: Annotated[str, typer.Argument(help="A run: latest, its name, or a folder.")] = "latest",
    json_file: Json = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML for a pipeline.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a comment for a review.")] = None,
) -> None:
    """Hold a run to the gates of ragbench.toml.

    Exit code 0 when all hold, 1 when one fails, 2 when there is not enough evidence, 4 when
    nothing was measured.

    Example: `ragbench run && ragbench gate latest --junit gates.xml`
    """
    settings = open_project()
    finished = read_run(find_run(run, settings))
    gates = hold_gates(finished, settings)
    print_frame(readable(gates))
    if json_file is not None:
        write_json(json_file, {"gates": gates})
    if junit is not None:
        write_junit(junit, gates)
    if markdown is not None:
        write_markdown(markdown, finished, gates)
    raise typer.Exit(exit_code(gates))


def readable(gates: pd.DataFrame) -> pd.DataFrame:
    """Return the gates as a table for people."""
    language = load_language("en")
    values = [language.estimate(row) for row in gates.to_dict("records")]
    columns = ["gate", "page", "system", "metric", "condition"]
    return gates[columns].assign(value=values, outcome=gates["outcome"])

"""`ragbench label`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from ragbench.cli.options import Confidence, Draws, Json, Limit, Primary, Seed
from ragbench.cli.output import print_frame, say, write_json
from ragbench.core.errors import BenchError
from ragbench.core.language import load_language
from ragbench.core.trust import open_settings

if TYPE_CHECKING:
    from ragbench.report.finished import Finished


def main(
    run: Annotated[str, typer.Argument(help="A run: latest, its name, or a folder.")] = "latest",
    page: Annotated[str, typer.Option(help="The page whose answers are marked.")] = (
        "tier3_end_to_end"
    ),
    form: Annotated[Path | None, typer.Option(help="Write a form (CSV) to be filled in.")] = None,
    take: Annotated[
        Path | None, typer.Option(help="Read a filled form; correct the judge.")
    ] = None,
    primary: Primary = "",
    width: Annotated[
        float | None, typer.Option(help="Width of an interval that you want to reach.")
    ] = None,
    limit: Limit = None,
    json_file: Json = None,
    confidence: Confidence = 0.95,
    draws: Draws = 10_000,
    seed: Seed = 0,
) -> None:
    """Have people mark answers of a run, and correct a judge's means by what they say.

    The form holds answers in random order, without the judge's scores.

    Examples: `ragbench label latest --form form.csv --limit 60`,
    `ragbench label latest --take form.csv --primary e2e_score`
    """
    from ragbench.extras.labels.forms import make_form
    from ragbench.report.finished import find_run, read_run

    finished = read_run(find_run(run, open_settings()))
    if form is None and take is None:
        raise BenchError("--form FILE writes a form, --take FILE reads a filled one")
    if form is not None:
        check_page(finished, page)
        frame = make_form(finished.folder / "frames" / page, limit, seed)
        form.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(form, index=False)
        print(f"{form}: {len(frame)} answers; fill the column label, on the scale of the metric")
    if take is not None:
        from ragbench import stats

        options = stats.Confidence(confidence, draws, seed)
        correct(finished, page, take, primary, width, json_file, options)


def check_page(finished: Finished, page: str) -> None:
    """Refuse a page that the run does not have, or that has no answers."""
    files = sorted(finished.folder.glob("frames/*/answers.parquet"))
    pages = [file.parent.name for file in files]
    if page not in pages:
        there = ", ".join(pages) or "none"
        raise BenchError(f"the run has no answers of a page {page!r}; --page names one of {there}")


def correct(
    finished: Finished,
    page: str,
    take: Path,
    primary: str,
    width: float | None,
    json_file: Path | None,
    options: object,
) -> None:
    """Print the corrected means beside those of people alone and of the judge alone."""
    from ragbench.extras.labels.correction import correct_means, labels_needed
    from ragbench.extras.labels.forms import read_form

    labels = read_form(take)
    check_page(finished, page)
    scores = pd.read_parquet(finished.folder / "frames" / page / "scores.parquet")
    request = next(each for each in finished.manifest["pages"] if each["name"] == page)["request"]
    metric = primary or request["primary"]
    means = correct_means(scores, labels, metric, options)  # type: ignore[arg-type]
    say(f"{int(labels['label'].notna().sum())} labels; they must have been drawn evenly")
    unmarked = sorted(set(scores["system"]) - set(means["system"]))
    if unmarked:
        say(f"without labels, and left out: {', '.join(unmarked)}")
    print_frame(readable(means, metric))
    if width is not None:
        for system, rows in means.groupby("system", sort=False):
            print(f"{system}: {labels_needed(rows, width):,} labels for an interval of {width:g}")
    if json_file is not None:
        write_json(json_file, {"metric": metric, "means": means})


def readable(means: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the means as a table for people."""
    language = load_language("en")
    return pd.DataFrame(
        {
            "system": means["system"].tolist(),
            metric: means["mean"].tolist(),
            "value": [
                language.interval(row.value, row.low, row.high) for row in means.itertuples()
            ],
            "labels": [str(n) for n in means["n"]],
        }
    )

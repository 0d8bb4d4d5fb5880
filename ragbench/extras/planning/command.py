"""`ragbench plan`."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pandas as pd
import typer

from ragbench.cli.options import Baseline, Confidence, Json, Primary, Seed
from ragbench.cli.output import print_frame, write_json
from ragbench.core.errors import BenchError, suggest
from ragbench.core.metric import parse_label
from ragbench.core.trust import open_settings

# Before a first run: a yes-or-no metric that both systems get right in half of the cases, and
# agree on seven questions of ten.
USUAL_DISAGREEMENT = 0.3


def main(
    run: Annotated[
        str, typer.Argument(help="A pilot run: latest, its name; none: before a first one.")
    ] = "",
    matters: Annotated[
        float, typer.Option(help="The difference that matters, in the metric's unit.")
    ] = 0.05,
    primary: Primary = "",
    page: Annotated[str, typer.Option(help="The page that has the metric.")] = "tier1_retrieval",
    baseline: Baseline = "",
    comparisons: Annotated[int, typer.Option(min=1, help="Challengers of the next study.")] = 1,
    disagreement: Annotated[
        float, typer.Option(min=0.01, max=1, help="Before a run: share on which systems differ.")
    ] = USUAL_DISAGREEMENT,
    json_file: Json = None,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
) -> None:
    """Say how many questions show a difference that matters to you in four of five studies.

    With a run its differences are the pilot; before one, a yes-or-no metric is assumed on which
    the systems differ at --disagreement of the questions.

    Examples: `ragbench plan --matters 0.05`, `ragbench plan latest --primary mrr@10 --matters 0.03`
    """
    from ragbench.stats import Confidence as Options
    from ragbench.stats.power import power_by_size, questions_needed

    units = None
    if run:
        differences, units, what = read_pilot(run, page, primary, baseline)
    else:
        differences, what = assume_pilot(disagreement, matters)
    options = Options(confidence, seed=seed)
    needed = questions_needed(
        differences, matters, units, n_comparisons=comparisons, confidence=options
    )
    # Of several comparisons each is held to what all of them need together (Šidák).
    draws = 1_000 + 100 * (comparisons - 1)
    few = Options(confidence ** (1 / comparisons), draws=draws, seed=seed)
    power = power_by_size(differences, matters, (30, 60, 100, 200, 400, 800), units, few)
    print(
        f"{what}: a difference of {matters:g} is shown by four of five studies with {needed:,} "
        "independent questions."
    )
    shares = [f"{100 * share:.0f} %" for share in power["power"]]
    print_frame(pd.DataFrame({"questions": power["n"], "studies that show it": shares}))
    if json_file is not None:
        write_json(json_file, {"needed": needed, "matters": matters, "power": power})


def read_pilot(
    run: str, page: str, primary: str, baseline: str
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the differences of a run's first challenger on a metric, their units, and what."""
    from ragbench.report.finished import find_run, read_run

    finished = read_run(find_run(run, open_settings()))
    file = finished.folder / "frames" / page / "scores.parquet"
    if not file.is_file():
        pages = sorted(path.parent.name for path in finished.folder.glob("frames/*/scores.parquet"))
        raise BenchError(f"no page {page!r} with scores; there are {', '.join(pages)}")
    scores = pd.read_parquet(file)
    about = next(each for each in finished.manifest["pages"] if each["name"] == page)
    request = about.get("request", {})
    label = primary or request.get("primary") or scores["metric"].iloc[0]
    if label not in set(scores["metric"]):
        label = choose_label(label, list(scores["metric"].unique()))
    wide = scores[scores["metric"] == label].pivot(
        index=["question_id", "unit"], columns="system", values="value"
    )
    systems = list(wide.columns)
    first = baseline or request.get("baseline") or systems[0]
    others = [name for name in systems if name != first]
    if first not in systems or not others:
        raise BenchError(f"a pilot needs two systems; {page} has {', '.join(systems)}")
    differences = (wide[others[0]] - wide[first]).to_numpy()
    units = wide.index.get_level_values("unit").to_numpy()
    return differences, units, f"{label} of {others[0]} against {first}"


def choose_label(label: str, labels: list[str]) -> str:
    """Return the label as the run writes it. Raises BenchError for one that it does not have."""
    written = parse_label(label).label
    if written not in labels:
        hint = suggest(label, labels) or f"; there are {', '.join(labels)}"
        raise BenchError(f"the run has no metric {label!r}{hint}")
    return written


def assume_pilot(disagreement: float, matters: float) -> tuple[np.ndarray, str]:
    """Return differences of a yes-or-no metric: of those that differ, more are gains."""
    if matters >= disagreement:
        raise BenchError(
            f"systems that differ on {disagreement:.0%} of the questions differ by less than "
            f"{disagreement:g} in the mean: --matters is {matters:g}"
        )
    n = 1_000
    gains = round(n * (disagreement + matters) / 2)
    losses = round(n * (disagreement - matters) / 2)
    differences = np.concatenate([np.ones(gains), -np.ones(losses), np.zeros(n - gains - losses)])
    return differences, f"Yes or no, systems that differ on {disagreement:.0%} of questions"

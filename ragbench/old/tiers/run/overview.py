"""The overview: what the other notebooks of a run have measured, side by side, with the thresholds it is held to."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from ragbench.old.core import folders, gaps, stand_ins
from ragbench.old.core import settings as configuration
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Finding, Measurement
from ragbench.old.data import places
from ragbench.old.tiers.basics import bands, requests, session, verdict_tables
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.requests import Request, tier
from ragbench.old.tiers.basics.session import commit, part, versions
from ragbench.old.tiers.scoring import judge_assignment

NAME = "overview"
PAGE_FACTS = (
    "dataset", "n_questions", "n_texts", "baseline", "primary", "unit", "describes", "signatures", "unidentified",
)  # fmt: skip


class OverviewRequest(Request):
    """What the numbers of a run are held to."""

    threshold_set: str = Field(
        "", description="which thresholds the numbers are compared with; empty: as in ragbench.toml"
    )
    seed: requests.Seed = Field(0, description="not used here; every page names its own")
    language: requests.Language = "en"
    notebook: str = NAME


@tier(OverviewRequest)
def overview(request: OverviewRequest) -> Measurement:
    """All findings of the whole that the run's pages have so far, and the shares of blame, each placed at its `page`.

    Outside of a run the newest run in the folder of reports is read. The fact `thresholds` says what the numbers are
    held to, as on every page; the fact `pages` lists the pages in their order, with what their own facts say.
    Raises BenchError where there is nothing to read, ValueError for a set that is not there.
    """
    name = request.notebook
    return over(_parts(name), request.threshold_set, seed=request.seed, notebook=name)


def keep(run: Path, threshold_set: str = "") -> None:
    """Keep the overview of a run that did not execute its notebook, for its index."""
    folder = run / "parts" / NAME
    if not (folder / "findings.json").is_file() and (measurements := _below(run / "parts", NAME)):
        over(measurements, threshold_set).save(folder)


def over(
    measurements: Mapping[str, Measurement], threshold_set: str = "", *, seed: int | None = None, notebook: str = NAME
) -> Measurement:
    """The overview of measurements by name: tiers first, by number, then the other pages."""
    known = configuration.load()
    chosen = known.model_copy(update={"threshold_set": threshold_set or known.threshold_set})
    named = {
        name: measurements[name] for name in sorted(measurements, key=lambda name: (not name.startswith("tier"), name))
    }
    pages = [_page(name, made, known) for name, made in named.items()]
    placed: list[Finding] = []
    for name, made in named.items():
        own: list[Finding] = [*made.estimates, *made.comparisons, *made.estimates_by("part")]
        placed += [replace(finding, where={"page": name, **finding.where}) for finding in own]
    facts: Facts = {
        "pages": pages,
        "stand_ins": [stand_in for page in pages for stand_in in page["stand_ins"]],
        "threshold_set": chosen.threshold_set,
        "thresholds": bands.told([finding.metric for finding in placed], chosen),
        **({} if seed is None else {"seed": seed}),
        "systems": [],
        "versions": versions(),
        "commit": commit(),
    }
    return Measurement(notebook, facts, placed=tuple(placed))


def _parts(notebook: str) -> dict[str, Measurement]:
    own = part(notebook)
    newest = configuration.project_folder() / configuration.load().reports_folder / "latest" / "parts"
    folder = newest if own is None else own.parent
    measurements = _below(folder, notebook)
    if not measurements:
        raise BenchError("an overview needs pages that were measured before it: `ragbench run` executes it last")
    return measurements


def _below(folder: Path, without: str) -> dict[str, Measurement]:
    places = sorted(path.parent for path in folder.glob("*/findings.json"))
    return {place.name: Measurement.load(place) for place in places if place.name not in (without, NAME)}


def _page(name: str, made: Measurement, known: configuration.Settings) -> dict[str, Any]:
    """What the overview says of a page beside its numbers."""
    facts = {key: value for key in PAGE_FACTS if (value := made.facts.get(key)) not in (None, "", [], {})}
    missing = sum(e.estimate.n_unmeasured for e in made.estimates)
    wanted = sum(e.estimate.n + e.estimate.n_unmeasured for e in made.estimates)
    return {
        "name": name,
        "heading": _heading(places.notebook(f"{name}.ipynb")),
        "unmeasured": missing,
        "wanted": wanted,
        "why": verdict_tables.frequent(made.scores["reason"][made.scores["value"].isna()]),
        "incomplete": sum(
            judge_coverage.incomplete for judge_coverage in judge_assignment.of_facts(made.facts).values()
        ),
        "systems": _systems(made),
        "milliseconds": _latency(made),
        "judging_seconds": _judging(made),
        "spent": session.spent(made, known),
        "stand_ins": [stand_in.fact for stand_in in stand_ins.of(made.facts)],
        "raised": [failure.fact for failure in gaps.raised(made.facts)],
        **({"judged_alone": judged} if (judged := stand_ins.judged_alone(made.facts)) else {}),
        **facts,
    }


def _systems(made: Measurement) -> list[str]:
    """The systems measured: the baseline first, the others as the facts list them."""
    measured = list(dict.fromkeys(e.system for e in made.estimates))
    named = [
        str(system["name"])
        for system in made.facts.get("systems", ())
        if isinstance(system, Mapping) and "name" in system
    ]
    ordered = list(dict.fromkeys([*(name for name in named if name in measured), *measured]))
    return sorted(ordered, key=lambda name: name != made.facts.get("baseline"))


def _heading(path: Path | None) -> str:
    """The notebook's first line of Markdown, as it is written; empty where there is no such notebook."""
    if path is None:
        return ""
    cells = json.loads(folders.text(path)).get("cells", [])
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return next((text.strip().split("\n\n", 1)[0] for text in texts if text.strip().startswith("# ")), "")


def _latency(made: Measurement) -> dict[str, float]:
    """Median milliseconds of an answer by system, as the page measured them."""
    medians: dict[str, dict[str, float]] = {}
    for estimate in made.estimates_by("step", "probability"):
        if estimate.where["probability"] == 0.5:
            medians.setdefault(estimate.system, {})[str(estimate.where["step"])] = estimate.estimate.value
    return {system: own.get("both", math.fsum(own.values())) for system, own in medians.items()}


def _judging(made: Measurement) -> float | None:
    """Seconds that the judges took in all, one call after the other; None where nobody judged or nothing was timed.

    What a model took is kept with its reply and is the same whenever a page is made. A stand-in is timed anew in every
    run, so that its seconds would make two runs of the same inputs differ: they are left out.
    """
    table = made.extra.get("judgements")
    if table is None or not len(table):
        return None
    judges = [judge for judge in made.facts.get("judges") or () if isinstance(judge, Mapping)]
    stand_ins = {judge.get("name") for judge in judges if judge.get("stand_in")}
    timed = table["seconds"][~table["judge"].isin(stand_ins)].dropna()
    return round(float(timed.sum()), 1) if len(timed) else None

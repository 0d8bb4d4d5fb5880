"""One page by itself: of scores that were made in a cell or a script, and as files that a browser opens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ragbench import views
from ragbench.data import in_memory
from ragbench.report import assemble
from ragbench.tiers.answers.rag_metrics import measured_scores
from ragbench.tiers.basics.session import told
from ragbench.tiers.scoring.answer_tables import of_samples
from ragbench.tiers.scoring.result import Scores


def save(page: views.Page, folder: Path | str) -> Path:
    """Write the page into a folder, made if need be, as `ragbench run` would have; the path of its HTML.

    Nothing is measured anew. The folder can be drawn again with `ragbench render`.
    """
    given = {parameter["name"]: parameter["value"] for parameter in page.measurement.facts.get("request", ())}
    place = Path(folder).expanduser()
    place.mkdir(parents=True, exist_ok=True)
    known = {name: value for name, value in given.items() if json.dumps(value) != "null"}
    return assemble(place, page.measurement, known, page.language)


def page_of(scores: Scores, language: str = "") -> views.Page:
    """The page of scores, as `ragbench run rag_metrics` makes it of the same answers."""
    spoken = language or scores.language
    answers = of_samples(scores.samples, in_memory.NAME)
    part = {"part_of_all": dict(scores.part_of_all)} if scores.part_of_all else {}
    made = measured_scores(scores, replace(answers, facts={**answers.facts, **part}), spoken)
    return views.Page(told(made), language=spoken)

"""Two runs against each other as pages: an index of what changed and what differs, and a page a system and notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench import stand_ins
from ragbench.folders import new_folder
from ragbench.language import Translator, translator
from ragbench.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    SCORE_COLUMNS,
    Measurement,
    without_nan,
    without_rows,
)
from ragbench.report.exports import articles, bare_numbers
from ragbench.report.keeping import files, results
from ragbench.report.pages import parts, sheets
from ragbench.report.pages.sheets import Block
from ragbench.show import Page
from ragbench.stand_ins import StandIn

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.bench.runs.compared import Pairing, RunComparison
    from ragbench.bench.runs.summarized import Summarized
    from ragbench.store.records import RunPart, RunRecord

OVERALL = "comparison"
JSON = "comparison.json"
SIDES = ("first", "second")
FALLEN = ("only_first", "only_second", "altered")
"""Counts of questions that a pairing leaves out."""


def write(comparison: RunComparison, folder: Path, language: str) -> Path:
    """Write the pages, the JSON and the LaTeX tables of a comparison into `folder`; its index is returned.

    The folder is replaced as a whole. Raises FileExistsError where the folder holds something else.
    """
    with new_folder(folder) as made:
        overall(comparison).save(made / "parts" / OVERALL)
        for number, pairing in enumerate(comparison.pairings):
            measurement(comparison, pairing, number).save(made / "parts" / _page(pairing, number))
        results.write_json(made / JSON, as_json(comparison))
        draw(made, language)
    return folder / "index.html"


def draw(folder: Path, language: str) -> None:
    """Draw the pages of a comparison from what lies in its folder; the same bytes every time."""
    _ = translator(language)
    whole = Measurement.load(folder / "parts" / OVERALL)
    over = _("Run B against run A")
    blocks = [Block(sheets.views(Page(whole, language=language), "runs", "refused"))]
    for row in whole.extra["pairings"].to_dict("records"):
        known = Measurement.load(folder / "parts" / str(row["page"]))
        page = Page(known, language=language)
        title = f"{row['notebook']} · {_systems(str(row['first']), str(row['second']))}"
        blocks.append(Block(sheets.views(page, "summary"), title, f"{row['page']}.html"))
        sheets.write(folder, str(row["page"]), _paired(page, _, title, over))
        parts.write(folder, page)
        _table(folder, str(row["page"]), articles.latex_table(known, _))
    rows = whole.extra["summarized"].to_dict("records")
    _table(folder, "numbers-without-pairs", bare_numbers.latex_summaries(rows, _, stand_ins.of(whole.facts)))
    rest = Page(whole, language=language)
    blocks.append(Block(sheets.views(rest, "summaries"), _("Numbers without pairs")))
    blocks.append(Block(sheets.views(rest, "changes"), _("What changed between the runs")))
    heading = _("Is {second} better than {first}?", **{side: whole.facts[side] for side in SIDES})
    sheets.write(folder, "index", sheets.html(_, heading, blocks, over=over))


def _table(folder: Path, name: str, text: str) -> None:
    if text:
        (folder / "tables").mkdir(exist_ok=True)
        files.write(folder / "tables" / f"{name}.tex", text)


def _paired(page: Page, _: Translator, title: str, up: str) -> str:
    blocks = [
        Block(sheets.views(page, "answer", "fallen", "intervals", present=frozenset({"questions", "table"}))),
        Block(sheets.views(page, "table", present=frozenset({"questions"})), _("Values and comparisons")),
        Block(sheets.views(page, "effects"), _("Effect sizes")),
        Block(sheets.views(page, "worst", present=frozenset({"questions"})), _("The worst questions")),
        Block(sheets.views(page, "questions")),
        Block(sheets.views(page, "method")),
        Block(sheets.views(page, "provenance")),
    ]
    return sheets.html(_, title, blocks, over=up, up="index.html", up_title=_("All of this comparison"))


def _page(pairing: Pairing, number: int) -> str:
    return f"{number + 1:02d}-{pairing.notebook}"


def _systems(first: str, second: str) -> str:
    return first if first == second else f"{first} / {second}"


def overall(comparison: RunComparison) -> Measurement:
    """Everything of a comparison that is not about one pairing."""
    import pandas as pd

    from ragbench.bench.runs.changes import Change, Refusal

    pairings = [(_page(each, n), each.notebook, *each.systems) for n, each in enumerate(comparison.pairings)]
    return Measurement(
        notebook=OVERALL,
        facts={
            "first": comparison.first.id,
            "second": comparison.second.id,
            "runs": [about(comparison.first, "A"), about(comparison.second, "B")],
            "stand_ins": [one.fact for one in stood_in(comparison)],
            "told": bool(comparison.first.identities and comparison.second.identities),
        },
        extra={
            "pairings": pd.DataFrame(pairings, columns=["page", "notebook", "first", "second"]),
            "summarized": pd.DataFrame(summaries(comparison), columns=list(SUMMARY)),
            "changes": _table_of(comparison.changes, Change),
            "refused": _table_of(comparison.refused, Refusal),
        },
    )


def summaries(comparison: RunComparison) -> list[dict[str, Any]]:
    """The numbers that nothing pairs, one a row, as `bare_numbers.table_of_summaries` takes them."""
    return [_summary(one) for one in comparison.summarized]


def folder_of(name: str | Path) -> Path | None:
    """The folder of the comparison that a name means: a path, or a name below reports/comparisons; None for none."""
    from ragbench import settings

    shelf = settings.project_folder() / settings.load().reports_folder / "comparisons"
    there = [Path(name)] if Path(name).name != str(name) else [shelf / name, Path(name)]
    return next((one for one in there if (one / "parts" / OVERALL / "findings.json").is_file()), None)


def _table_of(rows: Sequence[Any], of: type[Any]) -> pd.DataFrame:
    """A row for each of these, a column a field."""
    import pandas as pd

    return pd.DataFrame([asdict(one) for one in rows], columns=[each.name for each in fields(of)])


SUMMARY = (
    "notebook", "first", "second", "metric",
    *(f"{key}_{side}" for side in SIDES for key in ("value", "low", "high", "n")),
    "difference", "low", "high", "p", "verdict", "effect_size", "minimum_detectable", "margin",
    "questions_needed", "why",
)  # fmt: skip


def _summary(one: Summarized) -> dict[str, Any]:
    known: dict[str, Any] = {"notebook": one.notebook, "metric": one.metric, "why": one.why}
    known |= dict(zip(SIDES, one.systems, strict=True))
    for side, value in zip(SIDES, one.values, strict=True):
        known |= {f"{key}_{side}": getattr(value, key) for key in ("value", "low", "high", "n")}
    c = one.comparison
    if c is not None:
        p = c.p if c.p_adjusted is None else c.p_adjusted
        told = ("difference", "low", "high", "effect_size", "minimum_detectable", "margin", "questions_needed")
        known |= {name: getattr(c, name) for name in told} | {"p": p, "verdict": str(c.verdict)}
    return {key: known.get(key, "" if key in ("verdict", "why") else math.nan) for key in SUMMARY}


def measurement(comparison: RunComparison, pairing: Pairing, number: int) -> Measurement:
    """A pairing as a page of its own: the two runs of a system as two systems, on the questions that both have."""
    import pandas as pd

    from ragbench.bench.runs.summarized import names

    known = [record.part(pairing.notebook) for record in (comparison.first, comparison.second)]
    assert known[0] is not None, pairing.notebook
    assert known[1] is not None, pairing.notebook
    facts, titles = known[0].facts, names(pairing.systems)
    primary = comparison.primary.get(pairing.notebook)
    rows = [
        (title, metric, sample, value, "missing_field" if math.isnan(value) else "ok", "", None)
        for side, title in enumerate(titles)
        for metric, columns in pairing.values.items()
        for sample, value in zip(pairing.samples, columns[side].tolist(), strict=True)
    ]
    questions, retrieved = _material(comparison, pairing, titles)
    return Measurement(
        notebook=_page(pairing, number),
        facts=without_nan(
            {
                "dataset": known[0].dataset,
                "dataset_title": facts.get("dataset_title"),
                "licence": facts.get("licence"),
                "data_hash": known[0].data_hash,
                "unit": known[0].unit,
                "n_questions": len(pairing.samples),
                **{name: getattr(pairing, name) for name in FALLEN},
                "other_data": bool(known[0].data_hash != known[1].data_hash),
                "n_clusters": None if pairing.clusters is None else len(set(pairing.clusters)),
                **asdict(comparison.sureness),
                "baseline": titles[0],
                "systems": [{"name": title} for title in titles],
                "stand_ins": _stand_ins(known[0], known[1], pairing.systems),
                **({"primary": primary} if primary in pairing.values else {}),
                "runs": [comparison.first.id, comparison.second.id],
            }
        ),
        scores=pd.DataFrame(rows, columns=list(SCORE_COLUMNS)),
        questions=questions,
        retrieved=retrieved,
        estimates=pairing.estimates,
        comparisons=pairing.comparisons,
    )


def stood_in(comparison: RunComparison) -> tuple[StandIn, ...]:
    """What stood in for a model in either run, of all that is compared; the run's letter behind what only one has."""
    pairs = [(each.notebook, each.systems) for each in comparison.pairings]
    pairs += [(each.notebook, each.systems) for each in comparison.summarized]
    found: dict[StandIn, None] = {}
    for notebook, systems in pairs:
        first, second = (record.part(notebook) for record in (comparison.first, comparison.second))
        found |= dict.fromkeys(stand_ins.of({"stand_ins": _stand_ins(first, second, systems)}))
    return tuple(found)


def _stand_ins(first: RunPart | None, second: RunPart | None, systems: tuple[str, str]) -> list[dict[str, Any]]:
    """Those behind a system of the first run and one of the second, as facts of a page that calls them `names`."""
    from ragbench.bench.runs.summarized import FIRST, SECOND, names

    sides = [
        {(one.part, one.name): one for one in (() if part is None else stand_ins.of(part.facts, system))}
        for part, system in zip((first, second), systems, strict=True)
    ]
    made: dict[StandIn, None] = {}
    for side, letter, system, title in zip(sides, (FIRST, SECOND), systems, names(systems), strict=True):
        for (part, name), one in side.items():
            alone = name not in systems and any((part, name) not in each for each in sides)
            called = title if name == system else f"{name} ({letter})" if alone else name
            both = name not in systems and not alone
            made[replace(one, name=called, systems=names(systems) if both else (title,))] = None
    return [one.fact for one in made]


def _material(
    comparison: RunComparison, pairing: Pairing, titles: tuple[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Questions and what was retrieved for them, from the runs' folders; of a run without one, only the ids."""
    import pandas as pd

    found = [_stored(record, pairing.notebook) for record in (comparison.first, comparison.second)]
    asked = set(pairing.samples)
    tables = [made.questions for made in found if made is not None and len(made.questions)]
    questions = pd.DataFrame({"sample": list(pairing.samples), "text": list(pairing.samples)})
    if tables:
        questions = tables[0][tables[0]["sample"].astype(str).isin(asked)]
    retrieved = [
        made.retrieved[(made.retrieved["system"] == system) & made.retrieved["sample"].isin(asked)].assign(system=title)
        for made, system, title in zip(found, pairing.systems, titles, strict=True)
        if made is not None and len(made.retrieved)
    ]
    return (
        questions.reindex(columns=list(dict.fromkeys([*QUESTION_COLUMNS, *questions.columns]))),
        pd.concat(retrieved, ignore_index=True) if retrieved else without_rows(RETRIEVED_COLUMNS),
    )


def _stored(record: RunRecord, notebook: str) -> Measurement | None:
    folder = None if record.folder is None else record.folder / "parts" / notebook
    return Measurement.load(folder) if folder is not None and (folder / "findings.json").is_file() else None


def as_json(comparison: RunComparison) -> dict[str, Any]:
    """The comparison as plain values: runs, changes, refusals, pairings with estimates and comparisons, summaries."""
    from ragbench.bench.runs.changes import said

    english = translator("en")
    found: dict[str, Any] = without_nan(
        {
            "first": about(comparison.first, "A"),
            "second": about(comparison.second, "B"),
            "changes": [asdict(one) for one in comparison.changes],
            "refused": [{**asdict(one), "text": said(one, english)} for one in comparison.refused],
            "pairings": [_pairing_json(each) for each in comparison.pairings],
            "summaries": summaries(comparison),
            "stand_ins": [one.fact for one in stood_in(comparison)],
            "caveat": stand_ins.caveat(stood_in(comparison), english),
        }
    )
    return found


def _pairing_json(each: Pairing) -> dict[str, Any]:
    fell = {name: getattr(each, name) for name in FALLEN}
    return {
        "notebook": each.notebook,
        "systems": list(each.systems),
        "questions": len(each.samples),
        **fell,
        "estimates": [one.row() for one in each.estimates],
        "comparisons": [one.row() for one in each.comparisons],
    }


def about(record: RunRecord, letter: str) -> dict[str, Any]:
    """What pages say of a run under its letter."""
    started = None if record.started is None else record.started.strftime("%Y-%m-%d %H:%M UTC")
    return {
        "letter": letter,
        "id": record.id,
        "started": started,
        "datasets": list(dict.fromkeys(part.dataset for part in record.parts if part.dataset)),
        "systems": list(dict.fromkeys(value.system for value in record.values)),
        "commit": record.identities.get("code", {}).get("commit"),
        "status": record.status,
        "origin": None if record.origin == "ragbench" else record.origin,
    }

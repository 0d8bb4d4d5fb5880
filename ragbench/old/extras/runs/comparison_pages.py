"""Runs against one of them as pages: an index of what changed and what differs, and a page a system and notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import ragbench.old.extras.runs.views  # noqa: F401 - its views are asked for by name
from ragbench.old.core import answered_by, stand_ins
from ragbench.old.core.folders import new_folder
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    Evidence,
    Measurement,
    columns,
    without_nan,
    without_rows,
)
from ragbench.old.core.parts import P
from ragbench.old.core.stand_ins import StandIn
from ragbench.old.core.types.reason import kept
from ragbench.old.extras.runs import bare_numbers
from ragbench.old.extras.runs.changes import said
from ragbench.old.extras.runs.compared import LETTERS
from ragbench.old.extras.runs.run_tables import PageRow, RefusedRow, RunFacts, SettingRow, SummaryRow, run_facts
from ragbench.old.report import exports
from ragbench.old.report.keeping import results
from ragbench.old.report.pages import drawing, sheets
from ragbench.old.report.pages.sheets import Block
from ragbench.old.tiers.basics.verdict_tables import is_equal
from ragbench.old.tiers.run.record import filtered
from ragbench.old.views import Page
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.text import clean

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.extras.runs.compared import Beside, Pairing, RunComparison, Summarized
    from ragbench.old.store.run_records import RunPart, RunRecord

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
        for name, pairings in pages(comparison).items():
            measurement(comparison, pairings, name).save(made / "parts" / name)
        results.write_json(made / JSON, as_json(comparison))
        draw(made, language)
    return folder / "index.html"


def draw(folder: Path, language: str) -> None:
    """Draw the pages of a comparison from what lies in its folder; the same bytes every time."""
    _ = translator(language)
    whole = Measurement.load(folder / "parts" / OVERALL)
    runs, rest = run_facts(whole.facts)["runs"], Page(whole, language=language)
    over = _("Runs against run {letter}", letter=runs[0]["letter"])
    blocks = [Block(sheets.views(rest, "runs", "refused"))]
    for row in rows_of(PageRow, whole.extra["compared_pages"]):
        name = row["page"]
        known = Measurement.load(folder / "parts" / name)
        page = Page(known, language=language)
        said = [page.view("summary", brief=True).html(frozenset())] if len(page.material.challengers) == 1 else []
        shown = [*said, *sheets.views(page, "across")]
        if not row["equal"]:  # those are listed together
            blocks.append(Block(shown, row["title"], f"{name}.html"))
        sheets.write(folder, name, _paired(page, _, row["title"], over))
        drawing.write_scripts(folder, page)
        _table(folder, name, exports.latex_table(known, _))
    rows = rows_of(SummaryRow, whole.extra["summarized"])
    _table(folder, "numbers-without-pairs", bare_numbers.latex_summaries(rows, _, stand_ins.of(whole.facts)))
    several = f"{_('Numbers without pairs')} ({_.integer(len(rows))})"
    blocks.append(Block(sheets.views(rest, "summaries"), several, folded=True))
    blocks.append(Block(sheets.views(rest, "equal"), _("Equal on every question")))
    blocks.append(Block(sheets.views(rest, "alike"), _("The same in all these runs")))
    sheets.write(folder, "index", sheets.html(_, _asked(runs, _), blocks, over=over, wide=True))


def _asked(runs: Sequence[Mapping[str, Any]], _: Translator) -> str:
    """The question that the page answers."""
    first, *others = (clean(run["name"] or run["id"]) for run in runs)
    if len(others) == 1:
        return _("Is {second} better than {first}?", first=first, second=others[0])
    return _.plural("Is {n} run better than {first}?", "Which of {n} runs are better than {first}?", len(others),
                    first=first)  # fmt: skip


def _table(folder: Path, name: str, text: str) -> None:
    if text:
        (folder / "tables").mkdir(exist_ok=True)
        results.write(folder / "tables" / f"{name}.tex", text)


def _paired(page: Page, _: Translator, title: str, up: str) -> str:
    """The page of systems that stand for runs."""
    figures = ("intervals", "forest")
    blocks = [
        Block(sheets.views(page, "answer", "fallen", *figures, present=frozenset({"questions", "table"}))),
        Block(sheets.views(page, "ways", present=frozenset({"questions"})), _("The worst questions")),
        Block(sheets.views(page, "questions")),
        Block(sheets.views(page, "table", present=frozenset({"questions"})), _("Values and comparisons"), folded=True),
        Block(sheets.views(page, "effects"), _("Effect sizes"), folded=True),
        Block(sheets.views(page, "method"), _("Method"), folded=True),
        *map(sheets.folded, sheets.views(page, "provenance")),
    ]
    return sheets.html(_, title, blocks, over=up, up="index.html", up_title=_("All of this comparison"))


def pages(comparison: RunComparison) -> dict[str, list[Pairing]]:
    """The pages by name: the pairings of a system of the baseline on the same questions of a notebook stand on one."""
    groups: dict[Any, list[Pairing]] = {}
    for each in comparison.pairings:
        groups.setdefault((each.notebook, each.systems[0], each.samples), []).append(each)
    return {f"{number:02d}-{own[0].notebook}": own for number, own in enumerate(groups.values(), 1)}


def _listed(comparison: RunComparison) -> list[PageRow]:
    """Every page with what it is about: notebook and systems, and the runs where it is not about all of them."""
    rows = []
    for name, own in pages(comparison).items():
        systems = " / ".join(dict.fromkeys(system for each in own for system in each.systems))
        runs = "" if len(own) == len(comparison.runs) - 1 else " · " + ", ".join(LETTERS[each.run] for each in own)
        compared = [finding.comparison for each in own for finding in each.comparisons]
        equal = bool(compared) and all(map(is_equal, compared))
        rows.append(PageRow(page=name, title=f"{own[0].notebook} · {systems}{runs}", equal=equal))
    return rows


def overall(comparison: RunComparison) -> Measurement:
    """Everything of a comparison that is not about one of its pages."""
    import pandas as pd

    letters = LETTERS[: len(comparison.runs)]
    told = [(setting.kind, setting.title, setting.differs, list(setting.values)) for setting in comparison.settings]
    places = {run.id: letter for letter, run in zip(letters, comparison.runs, strict=True)}
    refused = [{**asdict(refusal), "run": places.get(refusal.run, "")} for refusal in comparison.refused]
    known: RunFacts = {
        "runs": [about(run, letter) for letter, run in zip(letters, comparison.runs, strict=True)],
        "stand_ins": [stand_in.fact for stand_in in stood_in(comparison)],
        "answered_by": answered(comparison),
        "identified": all(run.identities for run in comparison.runs),
    }
    return Measurement(
        notebook=OVERALL,
        facts=known,
        extra={
            "compared_pages": pd.DataFrame(_listed(comparison), columns=columns(PageRow)),
            "summarized": pd.DataFrame(summaries(comparison), columns=columns(SummaryRow)),
            "settings": pd.DataFrame(told, columns=columns(SettingRow)),
            "refused": pd.DataFrame(refused, columns=columns(RefusedRow)),
        },
    )


def summaries(comparison: RunComparison) -> list[SummaryRow]:
    """The numbers that nothing pairs, one a row, as `bare_numbers.table_of_summaries` takes them."""
    return [_summary(summary) for summary in comparison.summarized]


def folder_of(name: str | Path) -> Path | None:
    """The folder of the comparison that a name means: a path, or a name below reports/comparisons; None for none."""
    from ragbench.old.core import trust

    shelf = trust.folder_of("reports_folder") / "comparisons"
    there = [Path(name)] if Path(name).name != str(name) else [shelf / name, Path(name)]
    return next((path for path in there if (path / "parts" / OVERALL / "findings.json").is_file()), None)


def _summary(summary: Summarized) -> SummaryRow:
    known: dict[str, Any] = {
        "notebook": summary.notebook, "run": LETTERS[summary.run], "metric": summary.metric, "why": summary.why,
    }  # fmt: skip
    known |= dict(zip(SIDES, summary.systems, strict=True))
    for side, value in zip(SIDES, summary.values, strict=True):
        known |= {f"{key}_{side}": getattr(value, key) for key in ("value", "low", "high", "n")}
    c = summary.comparison
    if c is not None:
        told = ("difference", "low", "high", "effect_size", "minimum_detectable", "margin", "questions_needed")
        known |= {name: getattr(c, name) for name in told}
        known |= {"p": P.of(c).value, "verdict": str(c.verdict), "withheld": kept(c.withheld)}
    filled = {key: known.get(key, "" if key in ("verdict", "withheld") else math.nan) for key in columns(SummaryRow)}
    return cast(SummaryRow, filled)


def measurement(comparison: RunComparison, pairings: Sequence[Pairing], name: str) -> Measurement:
    """Pairings on the same questions as a page: the runs of a system as systems, the baseline's first."""

    first = pairings[0]
    known = [record.part(first.notebook) for record in _runs(comparison, pairings)]
    assert known[0] is not None, first.notebook
    facts, titles = known[0].facts, _systems(pairings)
    primary = comparison.primary.get(first.notebook)
    joined = comparison.joined.get(first.notebook, Evidence(first.notebook, {"systems": []}))
    scores = filtered(joined, frozenset(first.samples), titles).scores
    estimates = {(each.system, each.metric): each for pairing in pairings for each in pairing.estimates}
    questions, retrieved = _material(comparison, pairings)
    return Measurement(
        notebook=name,
        facts=without_nan(
            {
                "dataset": known[0].dataset,
                "dataset_title": facts.get("dataset_title"),
                "licence": facts.get("licence"),
                "data_hash": known[0].data_hash,
                "unit": known[0].unit,
                "n_questions": len(first.samples),
                "fallen": [
                    {"run": LETTERS[each.run], **{name: getattr(each, name) for name in FALLEN}} for each in pairings
                ],
                "other_data": any(part is not None and part.data_hash != known[0].data_hash for part in known),
                "n_clusters": None if first.clusters is None else len(set(first.clusters)),
                **asdict(comparison.sureness),
                "baseline": first.titles[0],
                "systems": [{"name": title} for title in titles],
                "stand_ins": _stand_ins(comparison, first.notebook, pairings),
                "answered_by": answered(comparison, first.notebook),
                "judged_alone": _judged_alone(known),
                **({"primary": primary} if primary in set(scores["metric"]) else {}),
                "runs": [record.id for record in _runs(comparison, pairings)],
            }
        ),
        scores=scores,
        questions=questions,
        retrieved=retrieved,
        estimates=tuple(estimates.values()),
        comparisons=tuple(each for pairing in pairings for each in pairing.comparisons),
    )


def _runs(comparison: RunComparison, beside: Sequence[Beside]) -> list[RunRecord]:
    """The baseline, and the other run of each."""
    return [comparison.runs[0], *(comparison.runs[each.run] for each in beside)]


def _systems(beside: Sequence[Beside]) -> list[str]:
    """What the page calls the system of each of `_runs`."""
    return [beside[0].titles[0], *(each.titles[1] for each in beside)]


def _judged_alone(known: Iterable[RunPart | None]) -> dict[str, str]:
    """By metric, the offline judges that alone judged it in every run."""
    first, *others = (stand_ins.judged_alone(part.facts) if part is not None else {} for part in known)
    return {metric: name for metric, name in first.items() if all(judges.get(metric) == name for judges in others)}


def stood_in(comparison: RunComparison) -> tuple[StandIn, ...]:
    """What stood in for a model in any run, of all that is compared; behind what only some have, the run's letter."""
    together: dict[tuple[str, str], dict[int, Beside]] = {}
    for each in (*comparison.pairings, *comparison.summarized):
        together.setdefault((each.notebook, each.systems[0]), {})[each.run] = each
    kept: dict[StandIn, None] = {}
    for (notebook, _system), beside in together.items():
        kept |= dict.fromkeys(stand_ins.of({"stand_ins": _stand_ins(comparison, notebook, list(beside.values()))}))
    return tuple(kept)


def answered(comparison: RunComparison, *notebooks: str) -> list[dict[str, Any]]:
    """Whose replies may be another model's or somebody's, by run; of these notebooks, of all that are compared if none
    are given."""
    shown = notebooks or {each.notebook for each in (*comparison.pairings, *comparison.summarized)}
    return answered_by.of_runs(
        (letter, [part.facts for part in run.parts if part.notebook in shown])
        for letter, run in zip(LETTERS, comparison.runs, strict=False)
    )


def _stand_ins(comparison: RunComparison, notebook: str, beside: Sequence[Beside]) -> list[dict[str, Any]]:
    """Those behind the systems of each run, as facts of a page that calls them by their titles."""
    titles, systems = _systems(beside), [beside[0].systems[0], *(each.systems[1] for each in beside)]
    letters = [LETTERS[0], *(LETTERS[each.run] for each in beside)]
    known = [record.part(notebook) for record in _runs(comparison, beside)]
    sides = [
        {
            (stand_in.part, stand_in.name): stand_in
            for stand_in in (() if part is None else stand_ins.of(part.facts, system))
        }
        for part, system in zip(known, systems, strict=True)
    ]
    made: dict[StandIn, None] = {}
    for side, letter, system, title in zip(sides, letters, systems, titles, strict=True):
        for (part, name), substitute in side.items():
            alone = name not in systems and any((part, name) not in each for each in sides)
            called = title if name == system else f"{name} ({letter})" if alone else name
            every = name not in systems and not alone
            made[replace(substitute, name=called, systems=tuple(titles) if every else (title,))] = None
    return [stand_in.fact for stand_in in made]


def _material(comparison: RunComparison, pairings: Sequence[Pairing]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Questions and what was retrieved for them, from the runs' folders; of a run without one, only the ids."""
    import pandas as pd

    first = pairings[0]
    systems = [first.systems[0], *(each.systems[1] for each in pairings)]
    stored = [_stored(record, first.notebook) for record in _runs(comparison, pairings)]
    asked = set(first.samples)
    tables = [made.questions for made in stored if made is not None and len(made.questions)]
    questions = pd.DataFrame({"sample": list(first.samples), "text": list(first.samples)})
    if tables:
        questions = tables[0][tables[0]["sample"].astype(str).isin(asked)]
    retrieved = [
        made.retrieved[(made.retrieved["system"] == system) & made.retrieved["sample"].isin(asked)].assign(system=title)
        for made, system, title in zip(stored, systems, _systems(pairings), strict=True)
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
    """The comparison as plain values: runs, changes, refusals, pairings with estimates and comparisons, summaries.

    The first run is the baseline.
    """
    english = translator("en")
    plain: dict[str, Any] = without_nan(
        {
            "runs": [about(run, letter) for letter, run in zip(LETTERS, comparison.runs, strict=False)],
            "changes": [setting.row() for setting in comparison.changes],
            "refused": [{**asdict(refusal), "text": said(refusal, english)} for refusal in comparison.refused],
            "pairings": [_pairing_json(comparison, each) for each in comparison.pairings],
            "summaries": summaries(comparison),
            "stand_ins": [stand_in.fact for stand_in in stood_in(comparison)],
            "answered_by": answered(comparison),
            "caveat": stand_ins.caveat(stood_in(comparison), english),
        }
    )
    return plain


def _pairing_json(comparison: RunComparison, each: Pairing) -> dict[str, Any]:
    fell = {name: getattr(each, name) for name in FALLEN}
    return {
        "notebook": each.notebook,
        "runs": [run.id for run in _runs(comparison, [each])],
        "systems": list(each.systems),
        "questions": len(each.samples),
        **fell,
        "estimates": [estimate.row() for estimate in each.estimates],
        "comparisons": [finding.row() for finding in each.comparisons],
    }


def about(record: RunRecord, letter: str) -> dict[str, Any]:
    """What pages say of a run under its letter."""
    started = None if record.started is None else record.started.strftime("%Y-%m-%d %H:%M UTC")
    return {
        "letter": letter,
        "id": record.id,
        "name": record.name,
        "note": record.note,
        "started": started,
        "datasets": list(dict.fromkeys(part.dataset for part in record.parts if part.dataset)),
        "systems": list(dict.fromkeys(value.system for value in record.values)),
        "notebooks": [part.notebook for part in record.parts],
        "commit": record.identities.get("code", {}).get("commit"),
        "status": record.status,
        "origin": None if record.origin == "ragbench" else record.origin,
    }

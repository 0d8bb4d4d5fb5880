"""A finished run as it is kept, and a measurement stated again on some of its questions or systems.

Findings come from the function that stated the whole, with the level, the draws and the seed of the measurement. What
cannot be stated of stored values of single questions is left out and named.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ragbench.old import tiers
from ragbench.old.core import annexes
from ragbench.old.core import settings as configuration
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Evidence, Finding, Measurement, without_nan
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import Settings, metric_tables
from ragbench.old.core.types import BY_CONSTRUCTION, Array, Prompt
from ragbench.old.metrics import declaration
from ragbench.old.store.run_records import RunPart, RunRecord, RunScores, RunStatus, RunValue
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import NOTHING, clusters_of
from ragbench.old.tiers.basics.withholding import State, stated

if TYPE_CHECKING:
    import pandas as pd


ASKED = ("text", "reference", "relevant")
"""The columns that make a question what it is."""
UNTOLD = frozenset({"language", "fresh_timings"})
"""Parameters that change no number."""


def recorded(
    manifest: Mapping[str, Any],
    measurements: Mapping[str, Measurement],
    folder: Path,
    replies: tuple[str, ...] | None = None,
) -> RunRecord:
    """The run of that manifest. `folder` gives its id; a name that ends in `.partial` gives it without that end.

    replies: the journal's keys of the replies that it used, None where nobody knows.
    """
    settings = configuration.load()
    begun = manifest.get("started")
    started = None if begun is None else datetime.datetime.fromtimestamp(begun, datetime.UTC)
    return RunRecord(
        id=folder.name.removesuffix(".partial"),
        started=started,
        status=cast(RunStatus, manifest.get("status", "complete")),
        seconds=manifest.get("seconds"),
        folder=folder.resolve(),
        identities=identities(manifest, measurements, settings),
        manifest=dict(manifest),
        parts=tuple(_parts(manifest, measurements)),
        values=tuple(value.checked() for made in measurements.values() for value in values(made)),
        comparisons=tuple(_comparisons(measurements)),
        scores=tuple(scores(made) for made in measurements.values() if len(made.scores)),
        replies=replies,
    )


def _parts(manifest: Mapping[str, Any], measurements: Mapping[str, Measurement]) -> Iterable[RunPart]:
    described = {notebook["name"]: notebook for notebook in manifest.get("notebooks", ())}
    for name in dict.fromkeys((*described, *measurements)):
        facts = measurements[name].facts if name in measurements else Facts()
        yield RunPart(
            notebook=name,
            status=described.get(name, {}).get("status", "complete"),
            failure=described.get(name, {}).get("failure", ""),
            dataset=facts.get("dataset"),
            data_hash=facts.get("data_hash"),
            unit=facts.get("unit"),
            systems=tuple(dict.fromkeys(e.system for e in measurements[name].estimates)) if facts else (),
            baseline=facts.get("baseline"),
            facts=without_nan({**facts, VOID: void(measurements[name])} if name in measurements else {}),
        )


def values(made: Measurement) -> tuple[RunValue, ...]:
    """The estimates of a measurement as the numbers of a run."""
    return tuple(
        RunValue(
            made.notebook,
            estimate.system,
            estimate.metric,
            e.value,
            e.low,
            e.high,
            e.level,
            BY_CONSTRUCTION if e.note in (BY_CONSTRUCTION, "always_the_same") else e.method,
            e.n,
            e.n_unmeasured,
            unit=made.facts.get("unit"),
            **told(declaration(estimate.metric)),
        )
        for estimate in made.estimates
        for e in [estimate.estimate]
    )


def told(declared: Metric | None) -> dict[str, Any]:
    """What a number's metric says of it: which way is good, and the ends of its scale."""
    return {} if declared is None else {"better": declared.better, "bounds": declared.bounds}


def _comparisons(measurements: Mapping[str, Measurement]) -> Iterable[Mapping[str, Any]]:
    for name, made in measurements.items():
        for comparison in made.comparisons:
            plain = {key: value for key, value in asdict(comparison.comparison).items() if key != "intervals"}
            yield without_nan(
                {"notebook": name, "metric": comparison.metric, **plain, "verdict": str(plain["verdict"])}
            )


def with_depths(record: RunRecord) -> RunRecord:
    """The same with `mrr` of a notebook that looked at ten documents as mrr@10, which it is.

    Results of other tools leave the depth unsaid. Only metrics without published cut-offs went by such a name.
    """
    depths = {part.notebook: part.facts["k"] for part in record.parts if part.unit and part.facts.get("k")}

    def deep(notebook: str, label: str) -> str:
        metric = declaration(label) if notebook in depths else None
        if metric is None or metric.grain != "ranking" or metric.cutoffs or metric.cutoff is not None:
            return label
        return (metric @ int(depths[notebook])).label

    numbers = tuple(replace(value, metric=deep(value.notebook, value.metric)) for value in record.values)
    columns = tuple(
        replace(
            column, values={(name, deep(column.notebook, label)): own for (name, label), own in column.values.items()}
        )
        for column in record.scores
    )
    return replace(record, values=numbers, scores=columns)


def scores(made: Measurement) -> RunScores:
    """A measurement's values, one column a system and metric, in the order of its questions."""
    table = made.scores.assign(sample=made.scores["sample"].astype(str))
    table = table.drop_duplicates(["system", "metric", "sample"])
    asked = map(str, made.questions["sample"]) if len(made.questions) else ()
    samples = tuple(dict.fromkeys([*asked, *table["sample"]]))
    by_name: dict[tuple[str, str], Array] = {
        (str(system), str(metric)): part.set_index("sample")["value"].reindex(list(samples)).to_numpy(dtype=float)
        for (system, metric), part in table.groupby(["system", "metric"], sort=False)
    }
    known = fingerprints(made.questions)
    prints = tuple(known.get(name, "") for name in samples)
    return RunScores(made.notebook, samples, prints, clusters_of(made, samples), by_name)


VOID: Final = "void"
"""The fact of a part that tells what there was nothing to measure of: [system, metric, ids of questions] each."""


def void(made: Measurement) -> list[tuple[str, str, list[str]]]:
    """What stands at VOID: also the questions that a page lists and has no row of, as those that nobody can answer."""
    listed = set(map(str, made.questions["sample"])) if len(made.questions) else set()
    unmeasured = []
    for (system, metric), part in made.scores.groupby(["system", "metric"], sort=False):
        empty = part["sample"][part["value"].isna() & part["status"].isin(NOTHING)]
        ids = set(map(str, empty)) | (listed - set(map(str, part["sample"])))
        if ids:
            unmeasured.append((str(system), str(metric), sorted(ids)))
    return unmeasured


def fingerprints(questions: pd.DataFrame) -> dict[str, str]:
    """sample → a hash of what was asked: its text, its reference, and what is relevant to it."""
    columns = [name for name in ASKED if name in questions]
    hashes = {}
    for row in questions[["sample", *columns]].to_dict("records") if len(questions) else ():
        text = json.dumps([_told(row[name]) for name in columns], ensure_ascii=True, sort_keys=True)
        hashes[str(row["sample"])] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return hashes


def _told(value: Any) -> Any:
    if hasattr(value, "tolist"):  # an array, as Parquet gives lists back
        value = value.tolist()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, str) else json.dumps(without_nan(value), default=str, sort_keys=True)


def identities(
    manifest: Mapping[str, Any], measurements: Mapping[str, Measurement], settings: Settings
) -> dict[str, dict[str, str]]:
    """What the numbers depend on, by kind; two runs with equal entries measured the same thing in the same way."""
    facts = {name: made.facts for name, made in measurements.items()}
    commit = manifest.get("commit") or next((known["commit"] for known in facts.values() if known.get("commit")), None)
    chosen = {
        f"{notebook['name']}.{key}": _flat(value)
        for notebook in manifest.get("notebooks", ())
        for key, value in notebook.get("parameters", {}).items()
        if key not in UNTOLD
    }
    bands = metric_tables.bands(settings)
    return {
        "code": {**({"commit": str(commit)} if commit else {}), **manifest.get("versions", {})},
        "data": {
            name: f"{known.get('dataset')} {str(known['data_hash'])[:12]}"
            for name, known in facts.items()
            if known.get("data_hash")
        },
        "models": _models(facts),
        "prompts": _prompts(measurements),
        "parameters": chosen,
        "thresholds": {
            "set": settings.threshold_set,
            **{name: _flat(band.model_dump(mode="json", exclude_none=True)) for name, band in sorted(bands.items())},
        },
    }


def _models(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Systems, judges and generators, with everything that their pages say of them, an entry a setting."""
    entries: dict[str, str] = {}
    for known in facts.values():
        for kind in ("systems", "judges", "generators"):
            for component in known.get(kind) or ():
                if isinstance(component, Mapping) and "name" in component:
                    for key, value in component.items():
                        if key not in ("name", "description"):
                            entries.setdefault(f"{component['name']}.{key}", _flat(value))
    return entries


def _prompts(measurements: Mapping[str, Measurement]) -> dict[str, str]:
    """The prompts of the metrics that asked a judge: name, version, and a hash of its words."""
    import sys

    versions: dict[str, str] = {}
    labels = {estimate.metric for made in measurements.values() for estimate in made.estimates}
    for metric in filter(None, map(declaration, sorted(labels))):
        if "judge" in metric.needs:
            module = vars(sys.modules[metric.function.__module__])
            for prompt in module.values():
                if isinstance(prompt, Prompt):
                    words = json.dumps([dict(prompt.texts), prompt.shape.model_json_schema()], sort_keys=True)
                    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
                    versions[prompt.name] = f"version {prompt.version}, {digest}"
    return dict(sorted(versions.items()))


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(without_nan(value), ensure_ascii=False, sort_keys=True, default=str)


NO_QUESTIONS = ("chunks",)
"""Tables that are true of some of the questions, and have no row for each."""
COUNTED_ON_ALL = (
    "doubts", "n_without_relevant", "n_without_context", "n_history", "n_without_page", "n_page_gone",
    "n_without_vector", "n_users", "corrected", "sets", "listing", "over_judges",
)  # fmt: skip
"""Facts that are of all questions, and not counted again."""
KINDS = {
    "index": "indexes", "of": "lengths", "asked": "habits", "mean": "labels", "part": "blame", "perfect": "blame",
    "k": "curves", "words": "curves", "first": "curves", "other": "correlations",
}  # fmt: skip
"""What findings are of, by a key of their place."""
OTHERS = "others"


def restated(
    made: Measurement, samples: Iterable[str] | None = None, systems: Sequence[str] = (), condition: str = ""
) -> Measurement:
    """The measurement of these questions and systems alone, its estimates, intervals, p and verdicts made anew.

    samples: ids of questions; None: all. systems: the baseline first; empty: all. condition: how the questions were
    chosen, in people's words. The fact `part` says what it is a part of: `condition`, `n` of `of` questions, `systems`
    where they were chosen, and `left_out`, the kinds of findings that are not made anew.
    Raises BenchError where findings are not made of values of single questions, and where no value is left.
    """
    state = check(made)
    evidence = filtered(made, None if samples is None else frozenset(samples), systems)
    n = evidence.scores["sample"].nunique()
    if not n:
        raise BenchError(f"{made.notebook}: none of these questions has a value to make statistics of")
    part, before = stated(evidence, state), made.facts.get("part") or {}
    there = {_kind(finding) for finding in part.placed}
    lost = [kind for finding in made.placed if (kind := _kind(finding)) not in there]
    measured = {named.metric for named in part.estimates}
    unknown = [named.metric for named in made.estimates if named.metric not in measured]
    about = {
        "condition": " / ".join(filter(None, (before.get("condition"), condition))),
        "n": n,
        "of": before.get("of", made.scores["sample"].nunique()),
        "systems": list(systems) or before.get("systems", []),
        "left_out": list(dict.fromkeys([*before.get("left_out", ()), *lost, *unknown])),
    }
    return replace(part, facts={**part.facts, "part": about})


def check(made: Measurement) -> State:
    """What states its findings. Raises BenchError where they are not made of values of single questions."""
    name = str(made.facts.get("tier"))
    measured = getattr(tiers, name, None) or annexes.taken("notebooks", name)
    state = getattr(measured, "state", None) if getattr(measured, "by_question", False) else None
    if state is None or not len(made.scores):
        raise BenchError(
            f"{made.notebook}: its findings are not made of values of single questions that are stored; parts can be "
            "taken of pages that retrieve or answer (tiers 1, 2 and 3, real users, tables of answers), and of decisions"
        )
    return cast("State", state)


def filtered(evidence: Evidence, samples: frozenset[str] | None, systems: Sequence[str] = ()) -> Evidence:
    """What was measured of these questions and systems; samples: None: all. systems: the baseline first; empty: all."""

    def rows(table: pd.DataFrame) -> pd.DataFrame:
        if samples is not None and "sample" in table:
            table = table[table["sample"].isin(samples)]
        if systems and "system" in table:
            table = table[table["system"].isin(["", *systems])]
        return table.reset_index(drop=True)

    def is_kept(name: str, table: pd.DataFrame) -> bool:
        return samples is None or "sample" in table or name in NO_QUESTIONS

    facts: dict[str, Any] = dict(evidence.facts)
    if samples is not None:
        facts = {key: value for key, value in facts.items() if key not in COUNTED_ON_ALL}
    if systems:
        every = {system["name"] for system in facts["systems"]}
        for key, value in facts.items():
            if isinstance(value, Mapping) and value and every.issuperset(value):  # by system
                facts[key] = {name: value[name] for name in systems if name in value}
        facts["systems"] = [told for name in systems for told in facts["systems"] if told["name"] == name]
        facts["baseline"] = systems[0] if len(systems) > 1 else None
    tables = {name: rows(getattr(evidence, name)) for name in ("scores", "questions", "retrieved")}
    extra = {name: rows(table) for name, table in evidence.extra.items() if is_kept(name, table)}
    return Evidence(evidence.notebook, cast(Facts, facts), **tables, extra=extra)


def _kind(finding: Finding) -> str:
    """What a finding is of, in the words of KINDS."""
    if finding.where.get("one") == "people":
        return "people"
    return next((KINDS[key] for key in KINDS if key in finding.where), next(iter(finding.where), OTHERS))

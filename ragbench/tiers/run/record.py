"""A finished run as it is kept: its numbers, its values question by question, and what they depend on."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragbench.core import settings as configuration
from ragbench.core.measurement import Measurement, without_nan
from ragbench.core.metric import Metric
from ragbench.core.settings import Settings, metrics
from ragbench.core.types import Array, Prompt
from ragbench.metrics import declaration
from ragbench.store.records import RunPart, RunRecord, RunScores, RunStatus, RunValue
from ragbench.tiers.basics.findings import NOTHING
from ragbench.tiers.basics.paired import clusters_of

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
        facts = measurements[name].facts if name in measurements else {}
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
            e.method,
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


VOID = "void"
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
    bands = metrics.bands(settings)
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

"""Compare two runs and more, question by question: joined, paired, one family of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.metric import parse_label
from ragbench.report.finished import Finished
from ragbench.stats import Confidence, Scale, compare

KEY = ["page", "system", "metric"]
UNKNOWN = Scale("describes")


@dataclass(frozen=True)
class Compared:
    """Runs and what is said of them.

    comparisons: a row a page, system, metric and challenger: as `ragbench.core.frames.COMPARISONS`
    with page and system in front, baseline and challenger being runs. estimates, scores: the runs'
    own, with run and page. changes: a row a thing that differs: what, and its value in every run.
    notes: what was left out.
    """

    names: Sequence[str]
    baseline: str
    comparisons: pd.DataFrame
    estimates: pd.DataFrame
    scores: pd.DataFrame
    changes: pd.DataFrame
    notes: tuple[str, ...]


def compare_runs(
    runs: Mapping[str, Finished],
    *,
    baseline: str,
    primary: str,
    systems: Sequence[str],
    only_common: bool,
    confidence: Confidence,
) -> Compared:
    """Compare runs on all metrics and systems that they share.

    runs: by the name they are shown under. primary: the metric whose comparisons are a family of
    their own; empty: of every page the one that the page answers with. systems: only these.
    only_common: pair the questions that all runs share, where the data differ. Raises BenchError
    for runs of different questions without it, and for names that are not there.
    """
    names = list(runs)
    if len(names) < 2:
        raise BenchError("two runs are compared, or more")
    first = baseline or names[0]
    if first not in names:
        raise BenchError(f"baseline {first!r} is none of {', '.join(names)}")
    scores = {name: read_scores(run.folder) for name, run in runs.items()}
    texts = {name: read_questions(run.folder) for name, run in runs.items()}
    notes = check_questions(texts, only_common)
    wide = join_scores(scores, texts)
    if systems:
        wide = wide.loc[:, wide.columns.get_level_values("system").isin(systems)]
    shared = shared_columns(wide, names)
    if not shared:
        raise NotEnoughError("the runs share no page, system and metric")
    metrics = list(dict.fromkeys(metric for _, _, metric in shared))
    unknown = [metric for metric in metrics if scale_of(metric) is UNKNOWN]
    if unknown:
        notes.append(
            f"not compared, since no project declares whether lower is better: {', '.join(unknown)}"
        )
    shared = [key for key in shared if scale_of(key[2]).better != "describes"]
    if not shared:
        raise NotEnoughError(f"nothing that the runs share can be better: {', '.join(metrics)}")
    primaries = find_primaries(runs, shared, primary)
    others = [key for key in shared if key not in primaries]
    families = [
        compare_family(wide, names, first, keys, family, confidence)
        for family, keys in (("primary", primaries), ("secondary", others))
        if keys
    ]
    estimates = [run.estimates.assign(run=name) for name, run in runs.items()]
    return Compared(
        names,
        first,
        pd.concat(families, ignore_index=True),
        pd.concat(estimates, ignore_index=True),
        pd.concat([frame.assign(run=name) for name, frame in scores.items()], ignore_index=True),
        find_changes(runs),
        tuple(notes),
    )


def read_scores(folder: Path) -> pd.DataFrame:
    """Return the scores of all pages with their page."""
    parts = []
    for file in sorted(folder.glob("frames/*/scores.parquet")):
        columns = ["system", "metric", "question_id", "unit", "value"]
        parts.append(pd.read_parquet(file, columns=columns).assign(page=file.parent.name))
    if not parts:
        raise BenchError(f"{folder} keeps no scores")
    return pd.concat(parts, ignore_index=True)


def read_questions(folder: Path) -> pd.DataFrame:
    """Return page, question_id and text of all questions."""
    parts = []
    for file in sorted(folder.glob("frames/*/questions.parquet")):
        frame = pd.read_parquet(file, columns=["question_id", "text"])
        parts.append(frame.assign(page=file.parent.name))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def check_questions(texts: Mapping[str, pd.DataFrame], only_common: bool) -> list[str]:
    """Refuse runs of different questions, unless those that are common are enough."""
    together = pd.concat(frame.assign(run=name) for name, frame in texts.items())
    if together.empty:
        return []
    counts = together.groupby(["page", "question_id", "text"])["run"].nunique()
    pages = together.groupby("page")["run"].nunique()
    # A page that one run alone has is no difference of data.
    on_all = counts[counts.index.get_level_values("page").isin(pages[pages == len(texts)].index)]
    different = int((on_all < len(texts)).sum())
    if not different:
        return []
    if not only_common:
        raise BenchError(
            f"{different} of {len(on_all)} questions are not the same in all runs; "
            "--common-questions pairs those that are"
        )
    return [f"{different} of {len(on_all)} questions are not in all runs and were left out"]


def join_scores(
    scores: Mapping[str, pd.DataFrame], texts: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Return a row a page and question, a column a page, system, metric and run.

    The index has asked_on (the page), question_id, text and unit: another text, another question.
    """
    parts = []
    for name, frame in scores.items():
        text_frame = texts[name]
        if len(text_frame):
            frame = frame.merge(text_frame, on=["page", "question_id"], how="left")
        else:
            frame = frame.assign(text="")
        parts.append(frame.assign(run=name))
    together = pd.concat(parts, ignore_index=True)
    together["text"] = together["text"].fillna("")
    # A page that one run alone has is compared with nothing.
    asked = together.groupby(["page", "question_id", "text"])["run"].transform("nunique")
    together = together[asked == together.groupby("page")["run"].transform("nunique")]
    # Units may be called differently in two runs; the first run's are taken.
    together["unit"] = together.groupby(["page", "question_id"])["unit"].transform("first")
    together["asked_on"] = together["page"]
    return together.pivot(
        index=["asked_on", "question_id", "text", "unit"], columns=[*KEY, "run"], values="value"
    )


def shared_columns(wide: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return page, system and metric of what all runs measured, in the order of the first."""
    runs_by_key: dict[tuple[str, str, str], set[str]] = {}
    for page, system, metric, run in wide.columns:
        runs_by_key.setdefault((page, system, metric), set()).add(run)
    return [key for key, runs in runs_by_key.items() if runs == set(names)]


def find_primaries(
    runs: Mapping[str, Finished], shared: Sequence[tuple[str, str, str]], primary: str
) -> list[tuple[str, str, str]]:
    """Return what is compared first: the named metric, else of every page its own primary one."""
    first = next(iter(runs.values()))
    own = {
        page["name"]: page.get("request", {}).get("primary", "") for page in first.manifest["pages"]
    }
    chosen = [key for key in shared if key[2] == (primary or own.get(key[0], ""))]
    if primary and not chosen:
        metrics = ", ".join(dict.fromkeys(metric for _, _, metric in shared))
        raise BenchError(f"primary {primary!r} is in none of the runs; they share {metrics}")
    return chosen or list(shared)


def compare_family(
    wide: pd.DataFrame,
    names: Sequence[str],
    baseline: str,
    keys: Sequence[tuple[str, str, str]],
    family: str,
    confidence: Confidence,
) -> pd.DataFrame:
    """Compare every run with the baseline on every page, system and metric of one family."""
    challengers = [name for name in names if name != baseline]
    rows, before, after, scales = [], [], [], []
    for page, system, metric in keys:
        scale = scale_of(metric)
        for challenger in challengers:
            rows.append((page, system, metric, challenger, baseline, family))
            before.append((page, system, metric, baseline))
            after.append((page, system, metric, challenger))
            scales.append(scale)
    named = pd.DataFrame(
        rows, columns=["page", "system", "metric", "challenger", "baseline", "family"]
    )
    pages = wide.index.get_level_values("asked_on").to_numpy()
    was_asked = np.column_stack([pages == page for page in named["page"]])
    units = pages + "\0" + wide.index.get_level_values("unit").to_numpy()
    bounds = (
        np.array([scale.least for scale in scales]),
        np.array([scale.greatest for scale in scales]),
    )
    earlier, later = wide[before].to_numpy(dtype=float), wide[after].to_numpy(dtype=float)
    # A question that neither run measured was asked on another page, or of another run.
    was_asked &= ~(np.isnan(earlier) & np.isnan(later))
    compared = compare(
        earlier,
        later,
        units,
        bounds=bounds,
        lower_is_better=[scale.better == "lower" for scale in scales],
        was_asked=was_asked,
        confidence=confidence,
    )
    return pd.concat([named, compared], axis=1)


def scale_of(label: str) -> Scale:
    """Return the scale of a metric; one that nobody knows is not compared."""
    try:
        metric = parse_label(label)
    except BenchError:
        return UNKNOWN
    return Scale(metric.better, *metric.bounds)


def find_changes(runs: Mapping[str, Finished]) -> pd.DataFrame:
    """Return what differs between the runs: code, versions, data, settings, what was asked."""
    values = {name: flatten(describe(run.manifest)) for name, run in runs.items()}
    keys = dict.fromkeys(key for described in values.values() for key in described)
    rows = []
    for key in keys:
        row = {name: described.get(key, "") for name, described in values.items()}
        if len(set(row.values())) > 1:
            rows.append({"what": key, **row})
    return pd.DataFrame(rows, columns=["what", *runs])


def describe(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says that numbers can depend on."""
    pages = {}
    for page in manifest["pages"]:
        about = page.get("about", {})
        pages[page["name"]] = {
            "request": page.get("request", {}),
            "data": {"name": about.get("dataset"), "fingerprint": about.get("fingerprint")},
            "systems": about.get("systems", {}),
            "stand_ins": about.get("stand_ins", []),
        }
    return {
        "code": manifest.get("git_commit", ""),
        "versions": manifest.get("versions", {}),
        "settings": manifest.get("settings", {}),
        **pages,
    }


def flatten(value: Any, name: str = "") -> dict[str, str]:
    """Return nested tables as one, by dotted names: settings.judges.mine.model."""
    if not isinstance(value, dict):
        return {name: str(value)}
    flat: dict[str, str] = {}
    for key, inner in value.items():
        flat |= flatten(inner, f"{name}.{key}" if name else str(key))
    return flat

"""What is different between runs besides their numbers, and whether their numbers may be set side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragbench.old.core.language import DASH, Translator
from ragbench.old.store.run_records import RunPart, RunRecord

KINDS = ("data", "parameters", "models", "prompts", "code", "thresholds")
OF_SOMETHING = ("data", "parameters", "models")
"""Kinds whose entries are a notebook's or a system's: `tier1_retrieval.k`, `hnsw.embedder`."""
DRAWS = ("level", "resamples", "seed")
"""Parameters of the statistics: they move no value, only how sure it is."""
TIMED = ("repeats", "seconds", "timed", "_ms")


@dataclass(frozen=True)
class Setting:
    """One thing that the numbers of runs depend on.

    kind: of `RunRecord.identities`. of: the notebooks or systems whose it is; empty for the run's own. values: one a
    run; empty where a run has none of it, None where it cannot have it, such as a notebook's that it has not.
    """

    kind: str
    name: str
    of: tuple[str, ...]
    values: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        """Whether any two runs that can have it have it differently."""
        return len({value for value in self.values if value is not None}) > 1

    def agrees(self, other: Setting) -> bool:
        """Whether no run has the one and the other differently."""
        pairs = zip(self.values, other.values, strict=True)
        return all(a == b or a is None or b is None for a, b in pairs)

    def with_(self, other: Setting) -> Setting:
        """The same of the other's owners too."""
        values = tuple(b if a is None else a for a, b in zip(self.values, other.values, strict=True))
        return replace(self, of=(*self.of, *other.of), values=values)

    @property
    def matters(self) -> bool:
        """Whether it can move values: not what only draws intervals, times, judges values or comes with a library."""
        return _weight(self) == 0

    @property
    def title(self) -> str:
        """`embedder (hnsw, exact)`; what it is of alone where it has no name."""
        owners = ", ".join(self.of)
        return f"{self.name} ({owners})" if self.name and owners else self.name or owners

    def row(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "of": list(self.of), "values": list(self.values), "differs": self.differs}


def settings_of(runs: Sequence[RunRecord]) -> list[Setting]:
    """What the runs say of themselves, equal or not, what changes numbers most first: data, parameters, models,
    prompts, the commit; then what draws intervals, thresholds and versions of libraries.

    Of what depends on a notebook, only of notebooks that two of the runs have. What several notebooks or systems have
    alike is one setting of all of them.
    """
    by_name: dict[tuple[str, str], list[Setting]] = {}
    for kind in KINDS:
        told = [run.identities.get(kind, {}) for run in runs]
        for owner, name, values in _entries(kind, runs, told):
            if sum(value is not None for value in values) > 1:
                own = by_name.setdefault((kind, name), [])
                setting = Setting(kind, name, (owner,) if owner else (), values)
                place = next((n for n, other in enumerate(own) if other.agrees(setting)), len(own))
                own[place : place + 1] = [own[place].with_(setting) if place < len(own) else setting]
    made = [_read(setting) for own in by_name.values() for setting in own]
    return sorted(made, key=lambda setting: (_weight(setting), KINDS.index(setting.kind), setting.name, setting.of))


def _read(setting: Setting) -> Setting:
    """The same with values as people read them, unless that would make different ones alike."""
    values = tuple(None if value is None else readable(value) for value in setting.values)
    return replace(setting, values=values) if len(set(values)) == len(set(setting.values)) else setting


def readable(text: str) -> str:
    """What a run kept of a setting, without the signs of JSON: `k 5; systems a, b`; a text as it stands."""
    if text != "null" and not text.startswith(("{", "[")):
        return text
    try:
        return _words(json.loads(text))
    except ValueError:
        return text


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_words(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or DASH
    return value if isinstance(value, str) else DASH if value is None else json.dumps(value)


def changes(runs: Sequence[RunRecord]) -> list[Setting]:
    """Of `settings_of` those that differ."""
    return [setting for setting in settings_of(runs) if setting.differs]


def _weight(setting: Setting) -> int:
    if setting.kind == "code":
        return 0 if setting.name == "commit" else 4
    if setting.kind == "thresholds":
        return 3
    if any(part in setting.name for part in TIMED):
        return 2
    return 1 if setting.kind == "parameters" and setting.name in DRAWS else 0


def _entries(
    kind: str, runs: Sequence[RunRecord], told: Sequence[Mapping[str, str]]
) -> Iterator[tuple[str, str, tuple[str | None, ...]]]:
    """Of a kind: what each entry is of, its name, and its value in every run.

    A system or judge that a run does not have is one entry there, not one for each of its settings.
    """
    names = sorted({name for each in told for name in each})
    owners = {name: _owner(kind, name) for name in names}
    owned: list[set[str]] = [{owners[name] for name in each} for each in told]
    whole = set.union(*owned).difference(set[str].intersection(*owned)) if kind == "models" else set()
    for owner in sorted(whole):
        yield "", owner, tuple(_joined(each, owner, owners) for each in told)
    for name in names:
        if owners[name] in whole:
            continue
        there = [kind not in ("data", "parameters") or run.part(owners[name]) is not None for run in runs]
        if kind == "prompts":
            there = [bool(each) for each in told]  # a run that asked no judge has none: nothing was changed
        short = "" if kind == "data" else name.removeprefix(f"{owners[name]}.")
        yield (
            owners[name],
            short,
            tuple(each.get(name, "") if ok else None for each, ok in zip(told, there, strict=True)),
        )


def _owner(kind: str, name: str) -> str:
    if kind == "data":
        return name
    return name.rpartition(".")[0] if kind in OF_SOMETHING else ""


def _joined(told: Mapping[str, str], owner: str, owners: Mapping[str, str]) -> str:
    own = {name.removeprefix(f"{owner}."): value for name, value in sorted(told.items()) if owners[name] == owner}
    return "; ".join(f"{name}: {readable(value)}" for name, value in own.items())


@dataclass(frozen=True)
class Refusal:
    """Why the numbers of a notebook must not be set side by side.

    kind: "unit", "data", "summaries" (other data, and no values question by question to find common questions in), or
    "questions" (no question is the same in both); of a whole run, where `notebook` is empty, "notebooks" (none is in
    both) or "systems" (nothing says which go together). first, second: what each run has instead; `dataset` is the
    first's. run: the id of the run that is not compared with the baseline.
    """

    notebook: str
    kind: str
    first: str
    second: str
    dataset: str = ""
    run: str = ""


def refusal(first: RunRecord, second: RunRecord, notebook: str, on_common_questions: bool) -> Refusal | None:
    """Why the numbers of a notebook must not be compared; None if they may."""
    a, b = first.part(notebook), second.part(notebook)
    assert a is not None, notebook
    assert b is not None, notebook
    if a.unit and b.unit and a.unit != b.unit:
        return Refusal(notebook, "unit", a.unit, b.unit, run=second.id)
    if a.data_hash and b.data_hash and a.data_hash != b.data_hash:
        kind = "" if first.of(notebook) and second.of(notebook) else "summaries"
        if not on_common_questions or kind:
            return Refusal(notebook, kind or "data", _data(a), _data(b), a.dataset or "", second.id)
    return None


def said(refusal: Refusal, _: Translator) -> str:
    """The refusal in words, with what would make the numbers comparable."""
    places = {
        "first": refusal.first,
        "second": refusal.second,
        "notebook": refusal.notebook,
        "dataset": refusal.dataset,
    }
    if refusal.kind == "unit":
        return _(
            "one run ranks by {first}, the other by {second}. To compare them, run one again with the other's unit: "
            "`ragbench run {notebook} -p unit={first}`",
            **places,
        )
    if refusal.kind == "notebooks":
        return _(
            "no notebook is in both runs: one has {first}, the other {second}. To compare them, run the first one's "
            "notebook with the other's settings: `ragbench run {notebook}`",
            **{**places, "notebook": refusal.first.partition(",")[0]},
        )
    if refusal.kind == "systems":
        return _(
            "no system is in both runs: one has {first}, the other {second}. Say which to compare: `--system A=NAME`, "
            "and the same with this run's letter",
            **places,
        )
    if refusal.kind == "questions":
        return _("no question is the same in both runs")
    told = _("they were measured on other data: {first} and {second}.", **places)
    if refusal.kind == "summaries":
        return told + " " + _("Of one of them only summaries are known, so that no common questions can be found.")
    return (
        told
        + " "
        + _(
            "To compare them, run the second system on the first one's data: `ragbench run {notebook} -d {dataset}`. "
            "Or compare the questions that are the same in both: `--on-common-questions`.",
            **places,
        )
    )


def _data(part: RunPart) -> str:
    return f"{part.dataset} ({str(part.data_hash)[:12]})"

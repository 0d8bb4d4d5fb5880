"""What is different between two runs besides their numbers, and whether their numbers may be set side by side."""

from __future__ import annotations

from dataclasses import dataclass

from ragbench.language import Translator
from ragbench.store.records import RunPart, RunRecord

KINDS = ("code", "data", "models", "prompts", "parameters", "thresholds")


@dataclass(frozen=True)
class Change:
    """One thing that differs. kind: of `RunRecord.identities`. before, after: empty where a run has none of it."""

    kind: str
    name: str
    before: str
    after: str


def changes(first: RunRecord, second: RunRecord, *, shared_only: bool = True) -> list[Change]:
    """Everything that the two runs say differently of themselves, kind by kind.

    shared_only: of what depends on a notebook, only of notebooks that both runs have.
    """
    both = {part.notebook for part in first.parts} & {part.notebook for part in second.parts}
    found = []
    for kind in KINDS:
        before, after = first.identities.get(kind, {}), second.identities.get(kind, {})
        for name in sorted({*before, *after}):
            if shared_only and kind in ("data", "parameters") and name.split(".")[0] not in both:
                continue
            if kind == "prompts" and not (before and after):
                continue  # a run that asked no judge has none: nothing was changed
            if before.get(name) != after.get(name):
                found.append(Change(kind, name, before.get(name, ""), after.get(name, "")))
    return found


@dataclass(frozen=True)
class Refusal:
    """Why the numbers of a notebook must not be set side by side.

    kind: "unit", "data", "summaries" (other data, and no values question by question to find common questions in), or
    "questions" (no question is the same in both). first, second: what each run has instead; `dataset` is the first's.
    """

    notebook: str
    kind: str
    first: str
    second: str
    dataset: str = ""


def refusal(first: RunRecord, second: RunRecord, notebook: str, on_common_questions: bool) -> Refusal | None:
    """Why the numbers of a notebook must not be compared; None if they may."""
    a, b = first.part(notebook), second.part(notebook)
    assert a is not None, notebook
    assert b is not None, notebook
    if a.unit and b.unit and a.unit != b.unit:
        return Refusal(notebook, "unit", a.unit, b.unit)
    if a.data_hash and b.data_hash and a.data_hash != b.data_hash:
        kind = "" if first.of(notebook) and second.of(notebook) else "summaries"
        if not on_common_questions or kind:
            return Refusal(notebook, kind or "data", _data(a), _data(b), a.dataset or "")
    return None


def said(one: Refusal, _: Translator) -> str:
    """The refusal in words, with what would make the numbers comparable."""
    places = {"first": one.first, "second": one.second, "notebook": one.notebook, "dataset": one.dataset}
    if one.kind == "unit":
        return _(
            "one run ranks by {first}, the other by {second}. To compare them, run one again with the other's unit: "
            "`ragbench run {notebook} -p unit={first}`",
            **places,
        )
    if one.kind == "questions":
        return _("no question is the same in both runs")
    told = _("they were measured on other data: {first} and {second}.", **places)
    if one.kind == "summaries":
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

"""ragas: the samples of an EvaluationDataset, of one turn or of several, as `to_jsonl` and `to_csv` write them.

Source: ragas 0.4.3 (SingleTurnSample, MultiTurnSample); the names of older tables are those of `data.samples`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.samples import NAMES, contexts_of, turns_of
from ragbench.extras.traces.payloads import label
from ragbench.extras.traces.spans import Passage, Span, Trace

NAME = "ragas"
MARKS = ({"user_input"}, {"question", "contexts"}, {"question", "answer", "ground_truth"})


def parts(record: Mapping[str, Any], name: str) -> Iterator[Trace]:
    """The trace of a sample; of a dialogue one for each question. Raises DatasetError for what is no list of texts."""
    given = {field: _first(record, names) for field, names in NAMES.items()}
    name, reference = label(given["id"]) or name, label(given["reference"])
    turns = turns_of(given["user_input"])
    if turns is not None:
        for number, (asked, answer) in enumerate(turns, 1):
            last = number == len(turns)
            yield Trace(f"{name}.{number}", (), asked, answer, reference if last else None, session=name)
        return
    retrieved = _passages(given, "contexts", "context_ids")
    yield Trace(
        name,
        () if retrieved is None else (Span("retrieve", kind="retrieve", passages=retrieved),),
        label(given["user_input"]),
        label(given["response"]),
        reference,
        _passages(given, "reference_contexts", "reference_context_ids"),
    )


def _passages(given: Mapping[str, Any], texts: str, ids: str) -> tuple[Passage, ...] | None:
    found = contexts_of(given[texts], f"a sample, {texts}", None, given[ids])
    if found is None:
        return None
    return tuple(Passage(one.text or None, None if one.is_nameless else one.id) for one in found)


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value for name in names if (value := record.get(name)) not in (None, "")), None)

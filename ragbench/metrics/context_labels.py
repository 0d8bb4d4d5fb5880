"""How many of the labelled contexts were retrieved, and the reverse, without a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.judging import check_number, share_score
from ragbench.metrics.texts import plain, squeeze

Texts = Sequence[str]
Groups = Sequence[Sequence[str]]


@metric(source="RAGAS, id-based and non-LLM context precision; precision of sets")
def context_precision_by_label(
    contexts: Texts | None = None,
    context_ids: Texts | None = None,
    reference_contexts: Texts | None = None,
    reference_context_ids: Groups | None = None,
    by: Literal["id", "text"] = "id",
    threshold: float = 0.5,
) -> Score:
    """Share of the distinct retrieved contexts that are among the labelled ones.

    by: "id" compares identifiers; "text" takes two texts for one where 1 − edit distance / longer
    length reaches the threshold, after NFKC and casefold. 0 to 1; copies count once. Without
    labelled contexts it is unmeasured. No judge is asked.
    """
    retrieved, labelled = pair_contexts(
        "context_precision_by_label", by, threshold, contexts, context_ids,
        reference_contexts, reference_context_ids,
    )  # fmt: skip
    allowed = [name for group in labelled for name in group]
    is_right = [is_among(name, allowed, by, threshold) for name in retrieved]
    verdicts = [
        Verdict(name, "labelled" if right else "not labelled")
        for name, right in zip(retrieved, is_right, strict=True)
    ]
    return share_score(
        mark("{part} of {whole} retrieved contexts are labelled: {part} / {whole} = {value}"),
        sum(is_right),
        len(retrieved),
        verdicts,
    )


@metric(source="RAGAS, id-based and non-LLM context recall; recall of sets")
def context_recall_by_label(
    contexts: Texts | None = None,
    context_ids: Texts | None = None,
    reference_contexts: Texts | None = None,
    reference_context_ids: Groups | None = None,
    by: Literal["id", "text"] = "id",
    threshold: float = 0.5,
) -> Score:
    """Share of the distinct labelled contexts that were retrieved; of a group any will do.

    by, threshold: as of `context_precision_by_label`. 0 to 1. No judge is asked.
    """
    retrieved, labelled = pair_contexts(
        "context_recall_by_label", by, threshold, contexts, context_ids,
        reference_contexts, reference_context_ids,
    )  # fmt: skip
    is_reached = [
        any(is_among(name, retrieved, by, threshold) for name in group) for group in labelled
    ]
    verdicts = [
        Verdict(" / ".join(group), "retrieved" if reached else "missing")
        for group, reached in zip(labelled, is_reached, strict=True)
    ]
    return share_score(
        mark("{part} of {whole} labelled contexts were retrieved: {part} / {whole} = {value}"),
        sum(is_reached),
        len(labelled),
        verdicts,
    )


def pair_contexts(
    name: str,
    by: str,
    threshold: float,
    contexts: Texts | None,
    context_ids: Texts | None,
    reference_contexts: Texts | None,
    reference_context_ids: Groups | None,
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return what was retrieved, and the groups of what is labelled, each once.

    Raises Unmeasured where a side is missing (missing_field) or empty (empty_input).
    """
    check_number(name, "threshold", threshold, 0.01, 1)
    if by == "id":
        retrieved = check_side("retrieved", by, context_ids)
        groups = check_side("labelled", by, reference_context_ids)
    else:
        retrieved = check_side("retrieved", by, contexts)
        groups = [(text,) for text in check_side("labelled", by, reference_contexts)]
    labelled = [tuple(keep_distinct(group, by)) for group in groups]
    return keep_distinct(retrieved, by), list(dict.fromkeys(labelled))


def check_side(side: str, by: str, values: Sequence[Any] | None) -> Sequence[Any]:
    """Return what one side has. Raises Unmeasured where it has nothing to compare."""
    if values is None or (values and not any(values)):
        other = "text" if by == "id" else "id"
        raise Unmeasured(
            "missing_field", f"the {side} contexts have no {by}s; by={other} compares {other}s"
        )
    if not values:
        raise Unmeasured("empty_input", f"there are no {side} contexts")
    return values


def keep_distinct(names: Iterable[str], by: str) -> list[str]:
    """Return ids, or texts as they are compared, each once."""
    if by == "text":
        names = [squeeze(plain(text)) for text in names]
    return list(dict.fromkeys(names))


def is_among(name: str, others: Sequence[str], by: str, threshold: float) -> bool:
    """Whether an id is one of the others, or a text like one of them."""
    if by == "id":
        return name in others
    return any(is_alike(name, other, threshold) for other in others)


def is_alike(text: str, other: str, threshold: float) -> bool:
    """Whether 1 − edit distance / longer length of two texts reaches the threshold."""
    from rapidfuzz.distance import Levenshtein

    # The threshold may be no binary fraction.
    return bool(text) and Levenshtein.normalized_similarity(text, other) >= threshold - 1e-9

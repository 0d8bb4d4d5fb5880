"""The frames of questions and passages that every measurement has, and which of its samples are not independent."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ragbench.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS
from ragbench.types import Hit, Question, Sample

if TYPE_CHECKING:
    import pandas as pd

Label = TypeVar("Label", bound=Hashable)


def questions(asked: Iterable[Question] = (), *more: str) -> pd.DataFrame:
    """One row a question (QUESTION_COLUMNS). more: further fields of the question, a column each."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = [
        (q.id, q.text, q.reference, q.kind, q.language, q.cluster, q.answerable, sorted(q.relevant),
         *(getattr(q, name) for name in more))
        for q in asked
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*QUESTION_COLUMNS, *more])


def retrieved(found: Iterable[tuple[str, str, Iterable[Hit], Mapping[str, float]]] = ()) -> pd.DataFrame:
    """One row a passage (RETRIEVED_COLUMNS). found: system, sample, its passages in rank order, and gains by chunk."""
    import pandas as pd

    rows = [
        (system, sample, rank, hit.chunk.id, hit.chunk.url, hit.similarity, float(gains.get(hit.chunk.id, 0.0)),
         hit.chunk.text)
        for system, sample, hits, gains in found
        for rank, hit in enumerate(hits, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(RETRIEVED_COLUMNS))


def cluster(one: Question | Sample) -> str:
    """The group whose members are not independent; one of its own for what names none."""
    return one.cluster or f"\0{one.id}"


def clusters(asked: Iterable[Question | Sample]) -> dict[str, str] | None:
    """Sample → cluster; None where every one stands alone."""
    labels = {one.id: cluster(one) for one in asked}
    return None if independent(list(labels.values())) is None else labels


def independent(labels: Sequence[Label]) -> list[Label] | None:
    """The clusters; None where each stands alone."""
    return None if len(set(labels)) == len(labels) else list(labels)

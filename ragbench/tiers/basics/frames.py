"""The frames of questions and passages that every measurement has, and which of its samples are not independent."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ragbench.core.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS
from ragbench.core.types import Hit, Piece, Question, Sample

if TYPE_CHECKING:
    import pandas as pd

Label = TypeVar("Label", bound=Hashable)
AT_ONCE = 20_000
"""Rows that are held as Python's objects, which take many times what a column of them takes."""


def gathered(rows: Iterable[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """The frame that pandas makes of the list of these rows, which come by and are not held."""
    import pandas as pd

    left, parts = iter(rows), []
    while part := list(islice(left, AT_ONCE)):
        parts.append(pd.DataFrame(part, columns=list(columns)))
    if len(parts) < 2:
        return parts[0] if parts else pd.DataFrame([], columns=list(columns))
    return pd.DataFrame({name: _joined([part.pop(name) for part in parts]) for name in columns}, columns=list(columns))


def _joined(parts: list[pd.Series[Any]]) -> pd.Series[Any]:
    """One column of its parts: those without a value are of the others' kind, as they would be in one list."""
    import pandas as pd

    kinds = [part.dtype for part in parts if part.notna().any()]
    kind = kinds[0] if kinds else parts[0].dtype
    alike = [part if part.dtype == kind or part.notna().any() else part.astype(kind) for part in parts]
    made = pd.concat(alike, ignore_index=True)
    if isinstance(made.dtype, pd.StringDtype):  # one piece of memory, or Parquet cuts its pages elsewhere
        kind, held = cast(Any, made.dtype), cast(Any, made.array)
        return pd.Series(kind.__from_arrow__(held.__arrow_array__().combine_chunks()))
    return made


def questions(asked: Iterable[Question] = (), *more: str) -> pd.DataFrame:
    """One row a question (QUESTION_COLUMNS). more: further fields of the question, a column each."""
    import pandas as pd

    asked = list(asked)
    rows: list[tuple[Any, ...]] = [
        (q.id, q.text, q.reference, q.kind, q.language, q.cluster, q.answerable, sorted(q.relevant),
         *(getattr(q, name) for name in more))
        for q in asked
    ]  # fmt: skip
    return with_references(pd.DataFrame(rows, columns=[*QUESTION_COLUMNS, *more]), [q.references for q in asked])


def with_references(table: pd.DataFrame, references: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The same with a column of all references of each row, where a row has several."""
    import pandas as pd

    if not any(references):
        return table
    return table.assign(references=pd.Series([list(each) for each in references], index=table.index, dtype=object))


def retrieved(rankings: Iterable[tuple[str, str, Iterable[Hit], Mapping[str, float]]] = ()) -> pd.DataFrame:
    """One row a passage or piece (RETRIEVED_COLUMNS). rankings: system, sample, what came in rank order, and gains by
    chunk. Where pieces are among it, `passage` says of what each is one: itself, for a passage."""
    import pandas as pd

    rows, passages, cut = [], [], False
    for system, sample, hits, gains in rankings:
        for rank, hit in enumerate(hits, 1):
            chunk = hit.chunk
            gain = float(gains.get(chunk.id, 0.0))
            rows.append((system, sample, rank, chunk.id, chunk.url, hit.similarity, gain, chunk.text))
            passages.append(chunk.passage)
            cut = cut or isinstance(chunk, Piece)
    made = pd.DataFrame(rows, columns=list(RETRIEVED_COLUMNS))
    return made.assign(passage=passages) if cut else made


def cluster(member: Question | Sample) -> str:
    """The group whose members are not independent; one of its own for what names none."""
    return member.cluster or f"\0{member.id}"


def clusters(asked: Iterable[Question | Sample]) -> dict[str, str] | None:
    """Sample → cluster; None where every one stands alone."""
    labels = {member.id: cluster(member) for member in asked}
    return None if independent(list(labels.values())) is None else labels


def independent(labels: Sequence[Label]) -> list[Label] | None:
    """The clusters; None where each stands alone."""
    return None if len(set(labels)) == len(labels) else list(labels)

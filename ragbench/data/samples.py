"""Tables of answers, as people have them, to samples: JSON Lines, JSON, CSV, Parquet, mappings, data frames."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.core import names
from ragbench.core.expectations import kind
from ragbench.core.types import Chunk, Sample
from ragbench.data.cells import Form, Forms, held, several
from ragbench.data.files import DatasetError, parse_json
from ragbench.data.limits import MAX_ROWS
from ragbench.data.question_sets import flag
from ragbench.data.rows import cut, cut_list, read_rows, rows_of

if TYPE_CHECKING:
    import pandas as pd

NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "sample_id", "question_id"),
    "user_input": ("user_input", "question", "query", "input", "prompt", "вопрос"),
    "response": ("response", "answer", "output", "actual_output", "prediction", "ответ"),
    "reference": (
        "reference", "ground_truth", "ground_truth_answer", "expected", "expected_answer", "expected_output",
        "reference_answer", "correct_answer", "golden_answer", "эталон", "правильный_ответ",
    ),
    "references": ("ground_truths",),
    "contexts": (
        "retrieved_contexts", "contexts", "context", "retrieval_context", "retrieved_documents", "retrieved_passages",
        "passages", "documents", "контексты", "контекст", "фрагменты",
    ),
    "context_ids": ("retrieved_context_ids", "context_ids"),
    "reference_contexts": ("reference_contexts",),
    "reference_context_ids": ("reference_context_ids",),
    "rubric": ("rubric", "rubrics"),
    "language": ("language",),
    "cluster": ("cluster",),
    "system": ("system", "model", "система"),
    "shown": ("shown",),
}  # fmt: skip
"""What a field may be called, the present name first; case, blanks and hyphens do not tell two names apart."""

FORMATS: tuple[tuple[frozenset[str], str, str], ...] = (
    (
        frozenset({"retrieval_context", "context"}),
        "context",
        "reference_contexts",
    ),
)
"""Columns that together are a known format's, and which of them is another field than by itself: DeepEval's `context`
is the ideal one."""
PEOPLE, MODELS = ("human", "user"), ("ai", "assistant")
"""Who asks and who answers in a dialogue."""
_FIELDS = tuple(field.name for field in dataclasses.fields(Sample))
MAX_UNREAD = 100
"""Names of no field that are kept for the note."""
_KNOWN = {name for names in NAMES.values() for name in names}
_SEVERAL = {name for names in NAMES.values() for name in names[1:]}


Columns = Mapping[str, str]
"""Field → the name of its column, where several could be it; a field goes by any of its names."""


def read_samples(path: Path, forms: Forms | None = None, columns: Columns | None = None) -> list[Sample]:
    """The samples of a .jsonl, .json, .csv, .tsv or .parquet file, read as `ragbench.data.rows` reads them.

    An empty cell of a CSV file is an answer (a context, …) that was given and is empty; a column that is not there was
    not given. Lists may stand in a cell as JSON, Python or numpy print them; forms: is told how they were written.
    columns: which column is which field, where two could be one: they are refused where they differ, unless one has
    the field's own name or both are a known format's.
    Raises DatasetError with file, line and field for what cannot be read.
    """
    return _unique([sample for _, sample in streamed(path, forms, columns, held=True)])


def streamed(
    path: Path, forms: Forms | None = None, columns: Columns | None = None, *, held: bool = False
) -> Iterator[tuple[str, Sample]]:
    """(place, sample) of each sample as `read_samples` reads them, one after the other; ids may stand there twice.

    Where rows have no id the file is read once more before, for the numbers that stand for them.
    """
    columns = checked_columns(columns)
    numbers = _Numbers(
        lambda: (fields(item, place, columns) for place, item in read_rows(path, keep_empty=True, held=False))
    )
    unread: dict[str, None] = {}
    for place, row in read_rows(path, keep_empty=True, held=held):
        item = fields(row, place, columns)
        if item and not item.keys() & _KNOWN:
            legal = ", ".join(names[0] for names in NAMES.values())
            raise DatasetError(f"{place}: none of its fields ({', '.join(map(cut, item))[:200]}) is one of {legal}")
        if len(unread) < MAX_UNREAD:
            unread.update(dict.fromkeys(name for name in item if name not in _KNOWN))
        for sample in _samples(item, place, numbers.of(item), forms):
            _refuse_torn(sample)
            yield place, sample
    if unread and forms is not None:
        forms.unread.append(f"not read, as no field of a sample is called so: {cut_list(unread)}")


def samples_of(
    given: Sample | Mapping[str, Any] | Iterable[Any] | pd.DataFrame,
    place: str = "samples",
    columns: Columns | None = None,
) -> list[Sample]:
    """Samples out of one sample, one mapping, a list of either, or a table with one row a sample: a data frame of
    pandas, a table of pyarrow, an evaluation data set of ragas. A mapping may also be an object that gives one by
    `model_dump` (pydantic's models, so ragas' samples), and a context a document of LangChain.

    Fields go by NAMES, so older names are understood too; None, NaN and a missing column are "not given", an empty text
    is empty. Samples without an id are numbered from 1: within each system where all systems answer the same questions
    in the same order, so that they are compared question by question, else over all rows. columns: as of
    `read_samples`. Raises DatasetError, naming row and field.
    """
    columns = checked_columns(columns)
    if isinstance(given, Sample):
        return _unique([given])
    if isinstance(given, Mapping):
        return _unique(_samples(fields(given, place, columns), place, 1))
    rows: list[Any] = list(rows_of(given))
    given = [
        fields(item, f"{place}, row {row}", columns) if isinstance(item, Mapping) else item
        for row, item in enumerate(rows, 1)
    ]
    found: list[Sample] = []
    numbers = _Numbers(lambda: (item for item in given if isinstance(item, Mapping)))
    for row, item in enumerate(given, 1):
        if isinstance(item, Sample):
            found.append(item)
        elif isinstance(item, Mapping):
            found += _samples(item, f"{place}, row {row}", numbers.of(item))
        else:
            raise DatasetError(f"{place}, row {row}: a sample is a Sample or a mapping, not {kind(item)}")
    return _unique(found)


def _unique(samples: Sequence[Sample]) -> list[Sample]:
    seen: set[tuple[str | None, str]] = set()
    for sample in samples:
        if (sample.system, sample.id) in seen:
            raise DatasetError(f"the id {sample.id!r} stands twice; ids name the samples of a system, once each")
        seen.add((sample.system, sample.id))
        _refuse_torn(sample)
    if len(samples) > MAX_ROWS:
        raise DatasetError(f"more than {MAX_ROWS:,} samples; split them")
    return list(samples)


def _refuse_torn(sample: Sample) -> None:
    """Raises DatasetError for a name that nothing can have, and for a text that nothing takes."""
    if sample.system and (why := names.fault(sample.system)):
        raise DatasetError(f"sample {sample.id!r}: system = {cut(sample.system)} {why}")
    for field in _FIELDS:
        if (value := getattr(sample, field)) is None or (isinstance(value, str) and value.isascii()):
            continue
        for text in _texts(value):
            if names.is_torn(text):
                raise DatasetError(
                    f"sample {sample.id!r}: {field} = {cut(text)} holds half of a character (a lone surrogate)"
                )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Chunk):
        yield from (value.id, value.text)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        yield from map(str, value.values())


class _Numbers:
    """A number for each row that has no id, from 1; equal ones mean the same question; see `samples_of`.

    items: gives all rows, and is called where a row has no id.
    """

    def __init__(self, items: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
        self._items, self._rows = items, Counter[str]()
        self._is_one_set: bool | None = None

    def of(self, item: Mapping[str, Any]) -> int:
        """The number of the next row."""
        system = str(_first(item, NAMES["system"]))
        self._rows[system] += 1
        if _first(item, NAMES["id"]) is not None:
            return 0
        if self._is_one_set is None:
            self._is_one_set = _is_one_set(self._items())
        return self._rows[system] if self._is_one_set else self._rows.total()


def _is_one_set(items: Iterable[Mapping[str, Any]]) -> bool:
    """Whether all systems answer the same questions in the same order."""
    asked: dict[str, Any] = {}
    for item in items:
        question = _first(item, NAMES["user_input"])
        if question is None:
            return False
        asked.setdefault(str(_first(item, NAMES["system"])), hashlib.sha256()).update(
            f"{question!r}\0".encode("utf-8", "surrogatepass")
        )
    return len({own.digest() for own in asked.values()}) == 1


def turns_of(value: Any) -> list[tuple[str, str | None]] | None:
    """(question, answer) of each turn, where the value is a dialogue: a list of messages, or such a list in a cell.

    A message has a `type` or `role` (human or user, ai or assistant) and a `content`; what tools and systems say is
    passed over, and of several answers to a question the last is its answer. None for anything else.
    """
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return None
        try:
            found = held(value)
        except ValueError:
            return None
        value = None if found is None else found[0]
    if not isinstance(value, list) or not value or not all(isinstance(one, Mapping) for one in value):
        return None
    turns: list[tuple[str, str | None]] = []
    for message in value:
        role, content = message.get("type", message.get("role")), message.get("content")
        if role is None or "content" not in message:
            return None
        if not isinstance(content, str) or not content.strip():
            continue
        if role in PEOPLE:
            turns.append((content, None))
        elif role in MODELS and turns:
            turns[-1] = (turns[-1][0], content)
    return turns or None


def _samples(item: Mapping[str, Any], place: str, number: int, forms: Forms | None = None) -> list[Sample]:
    """The sample of a row; of a dialogue one a turn, which are drawn together, the reference at the last."""
    turns = turns_of(_first(item, NAMES["user_input"]))
    if turns is None:
        return [_sample(item, place, number, forms)]
    whole = _sample({**item, NAMES["user_input"][0]: None}, place, number, forms)
    return [
        dataclasses.replace(
            whole,
            id=f"{whole.id}.{turn}",
            user_input=asked,
            response=answer,
            reference=whole.reference if turn == len(turns) else None,
            references=whole.references if turn == len(turns) else (),
            cluster=whole.cluster or whole.id,
        )
        for turn, (asked, answer) in enumerate(turns, 1)
    ]


def _sample(item: Mapping[str, Any], place: str, number: int, forms: Forms | None = None) -> Sample:
    found = {field: _first(item, names) for field, names in NAMES.items()}
    given = [
        text
        for name in ("reference", "references")
        for text in (_references(found[name], f"{place}, {name}") if found[name] is not None else ())
    ]

    def text(name: str) -> str | None:
        return _text(found[name], f"{place}, {name}")

    def label(name: str) -> str | None:
        return None if found[name] is None else str(found[name])

    return Sample(
        id=str(number) if found["id"] is None else str(found["id"]),
        user_input=text("user_input"),
        response=text("response"),
        reference=next((one for one in given if one.strip()), given[0] if given else None),
        contexts=contexts_of(found["contexts"], f"{place}, contexts", forms, found["context_ids"]),
        reference_contexts=contexts_of(
            found["reference_contexts"], f"{place}, reference_contexts", forms, found["reference_context_ids"]
        ),
        rubric=_rubric(found["rubric"]),
        language=label("language"),
        cluster=label("cluster"),
        system=label("system"),
        shown=_flag(found["shown"], place),
        references=several(given),
    )


def _references(value: Any, place: str) -> list[str]:
    """The right answers of a field: a text, a list of texts, one that stands in a cell, or SQuAD's {"text": […]}."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            found = held(value)
        except ValueError:
            found = None
        value = value if found is None or not _is_of_answers(found[0]) else found[0]
    if isinstance(value, Mapping) and "text" in value:
        value = value["text"]
    if isinstance(value, list | tuple):
        value = [one["text"] if isinstance(one, Mapping) and "text" in one else one for one in value]
        return [text for one in value if (text := _text(one, place)) is not None]
    text = _text(value, place)
    return [] if text is None else [text]


def _is_of_answers(value: Any) -> bool:
    """Whether what stands in a cell is a list of answers, and not an answer that is written so."""
    if isinstance(value, Mapping):
        return isinstance(value.get("text"), list)
    return bool(value) and all(isinstance(one, str) or (isinstance(one, Mapping) and "text" in one) for one in value)


def _flag(value: Any, place: str) -> bool | None:
    try:
        found: bool | None = flag(value)
    except ValueError:
        raise DatasetError(
            f"{place}, shown = {cut(value)}: true or false, yes or no, да or нет, 1 or 0 is expected"
        ) from None
    return found


def checked_columns(columns: Columns | None) -> Columns:
    """Field → column, the field by its present name, the column as NAMES has names. Raises DatasetError."""
    found = {}
    for given, column in (columns or {}).items():
        field = next((field for field, own in NAMES.items() if _field(given) in own), None)
        if field is None:
            legal = [own[0] for own in NAMES.values()]
            raise DatasetError(f"column {given}={column}: there is no field {given!r}{names.meant(str(given), legal)}")
        found[field] = _field(column)
    return found


def fields(item: Mapping[Any, Any], place: str = "", columns: Columns | None = None) -> Mapping[str, Any]:
    """The row under names as NAMES has them: `Ground Truth` as `ground_truth`; of each field one column.

    columns: see `checked_columns`. Raises DatasetError for a column that is not there, and for two that could be one
    field and differ.
    """
    if not item.keys() <= _KNOWN or columns:
        exact = {name: value for name, value in item.items() if name in _KNOWN}
        item = {**{_field(name): value for name, value in item.items()}, **exact}
    for format_, name, field in FORMATS:
        if format_ <= item.keys() and name not in (columns or {}).values():
            item = {**{other: value for other, value in item.items() if other != name}, field: item[name]}
    if columns:
        if absent := [column for column in columns.values() if column not in item]:
            raise DatasetError(f"{place}: there is no column {absent[0]!r}{names.meant(absent[0], list(item))}")
        taken = {*columns.values(), *(name for field in columns for name in NAMES[field])}
        rest = {name: value for name, value in item.items() if name not in taken}
        item = {**rest, **{NAMES[field][0]: item[column] for field, column in columns.items()}}
    if len(item.keys() & _SEVERAL) > 1:
        _refuse_two(item, place)
    return item


def _refuse_two(item: Mapping[str, Any], place: str) -> None:
    for own in NAMES.values():
        there = [name for name in own if not _is_missing(item.get(name))]
        if len(there) > 1 and there[0] != own[0] and len({repr(item[name]) for name in there}) > 1:
            both = " and ".join(there)
            raise DatasetError(
                f"{place}: the columns {both} differ, and either could be {own[0]}: say which, "
                f"--column {own[0]}={there[0]} (columns = {{{own[0]!r}: {there[0]!r}}} in Python), or leave one out"
            )


@functools.lru_cache(maxsize=1000)
def _field(name: Any) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of the names that is there; NaN and None are not there."""
    for name in names:
        value: Any = item.get(name)
        if not _is_missing(value):
            return value.tolist() if hasattr(value, "tolist") else value
    return None


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: Any, place: str) -> str | None:
    if isinstance(value, list) and len(value) == 1:  # older tables hold a list of ground truths
        value = value[0]
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise DatasetError(f"{place}: a text is expected, found {kind(value)}")


def contexts_of(value: Any, place: str, forms: Forms | None = None, ids: Any = None) -> tuple[Chunk, ...] | None:
    """The contexts of a field: a text, a list or a mapping of texts, or the text of such a list in a cell.

    place: what an error names, the field behind its last comma. forms: is told how they were written. ids: theirs, as
    many; one without is named by its text (`Chunk.nameless`). None where neither is there. Raises DatasetError for
    anything else.
    """
    names = _listed(ids, f"{place} (ids)") if ids != "" else None
    if value is None and names is None:
        return None
    texts = None if names and value == "" else _listed(value, place, forms)  # an empty cell beside ids is no text
    if texts is None:
        texts = [""] * len(names or ())
    if names is not None and len(names) != len(texts):
        raise DatasetError(f"{place}: {len(texts)} texts and {len(names)} identifiers; there is one for each")
    return tuple(_chunk(text, None if names is None else names[n], n, place) for n, text in enumerate(texts))


def _chunk(value: Any, identifier: Any, number: int, place: str) -> Chunk:
    if isinstance(value, Chunk):
        return value
    if not isinstance(value, str) and isinstance(value, Mapping):
        identifier = value.get("id", identifier)
        value = value.get("text", value.get("page_content"))
    elif hasattr(value, "page_content"):
        identifier = getattr(value, "id", identifier)
        value = value.page_content
    if not isinstance(value, str):
        raise DatasetError(f"{place}[{number}] = {cut(value)}: a text, or an object with a text, is expected")
    return Chunk.nameless(value) if _is_missing(identifier) or identifier == "" else Chunk(str(identifier), value)


def _listed(value: Any, place: str, forms: Forms | None = None) -> list[Any] | None:
    """A list as it is, or out of a cell that holds one as text; the texts of a mapping; one text as a list of one."""
    if value is None:
        return None
    form: Form = "list"
    if isinstance(value, str):
        try:
            found = held(value)
        except ValueError as error:
            raise DatasetError(f"{place} = {cut(value)}: {error}") from None
        if found is None or (isinstance(found[0], Mapping) and not _is_of_texts(found[0])):
            found = [value] if value.strip() else [], "text"
        value, form = found
    if isinstance(value, Mapping) and "text" not in value:
        value, form = list(value.values()), "mapping"
    if isinstance(value, Mapping | Chunk):
        value = [value]
    if not isinstance(value, Iterable):
        raise DatasetError(f"{place} = {cut(value)}: a list of texts is expected")
    texts = list(value)
    if forms is not None:
        forms.add(place.rsplit(", ", 1)[1], form, len(texts))
    return texts


def _is_of_texts(value: Mapping[str, Any]) -> bool:
    """Whether a mapping that stood in a cell is one of contexts: any other is a context that is written so."""
    return "text" in value or all(isinstance(one, str | Mapping) for one in value.values())


def _rubric(value: Any) -> dict[int, str] | None:
    """The criteria by level. What is no rubric is kept under the texts that it has for levels, so that the metric says
    of its row what is wrong, and the others are read."""
    if isinstance(value, str) and value.strip():
        try:
            found = held(value)
            value = found[0] if found is not None else parse_json(value, "rubric")
        except ValueError:
            value = {value: ""}
    if not value:
        return None
    if not isinstance(value, Mapping):
        return {str(value): ""}  # type: ignore[dict-item]
    given = {key: str(criteria) for key, criteria in value.items() if criteria is not None}
    try:
        return {_level(key): criteria for key, criteria in given.items()}
    except ValueError:
        return {str(key): criteria for key, criteria in given.items()}  # type: ignore[misc]


def _level(key: Any) -> int:
    """The level in 3, "3" or "score3_description"."""
    return int(str(key).removeprefix("score").removesuffix("_description"))

"""Shapes of one JSON object that is a whole table: rows under a name, columns, systems, names of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.old.data.cells import TABLE
from ragbench.old.data.files import DatasetError
from ragbench.old.data.vocabulary import field_of, format_of, is_content, of_member, rarely

WRAPPERS: tuple[str, ...] = TABLE["rows"]["wrappers"]
"""Names under which an object that is no row itself holds a list of rows."""
STREAMED = ("resourceSpans", "resource_spans")
"""Names of a list whose elements are rows only with the name."""
RECORD = {
    "id", "info", "page_content", "request_id", "trace_id", "trace", "benchmark_metadata", "qid", "query_id",
    "topic_id", *STREAMED,
}  # fmt: skip
"""Names that a row has itself, whatever lists it holds."""
DEEPEST = 4
"""Objects within each other among which a table is looked for."""
_ID = re.compile(r"(?<![\W_])[\W_]{0,9}\d\w{0,99}$")
"""By what a name tells one of many: `q17`, `56be4db0acb8001400a502ec`."""
Rows = list[Any]


def rows_in(value: Any) -> Rows | None:
    """The rows of a table that one object is, in the first of SHAPES that it has; None for any other value. Raises
    DatasetError for columns that are not as long."""
    if not isinstance(value, Mapping) or not value:
        return None
    if (known := format_of(value)) and known.when and not _asks_by_columns(value):
        return None
    return next((rows for shape in SHAPES if (rows := shape(value)) is not None), None)


def _asks_by_columns(value: Mapping[str, Any]) -> bool:
    """Whether an object holds a column of questions, as a list or under the numbers of rows."""
    asked = [own for name, own in value.items() if field_of(name) == "user_input"]
    texts = [
        own
        for own in asked
        if isinstance(own, list) or (isinstance(own, Mapping) and all(str(n).isdigit() for n in own))
    ]
    cells = [cell for own in texts for cell in (own.values() if isinstance(own, Mapping) else own)]
    return len(value) > 1 and bool(cells) and all(isinstance(cell, str) for cell in cells)


def is_record(value: Mapping[str, Any]) -> bool:
    """Whether an object is a row itself, whatever lists it holds."""
    return any(
        name in RECORD or (is_content(name) and name not in WRAPPERS and not _asks(own)) for name, own in value.items()
    )


def _asks(rows: Any) -> bool:
    """Whether a value is a list of rows with questions."""
    return isinstance(rows, list) and any(
        isinstance(row, dict) and any(field_of(name) == "user_input" for name in row) for row in rows
    )


def wrapped(value: Any) -> Rows | None:
    """The rows that an object holds under a name of WRAPPERS, on any level; None for any other value."""
    if not isinstance(value, Mapping):
        return None
    if (rows := _numbered(value)) is not None or is_record(value):
        return rows
    for name in WRAPPERS:
        inner = value.get(name, value.get(name.title()))
        if isinstance(inner, list) and any(isinstance(row, dict) for row in inner):
            return [row["row"] if isinstance(row, dict) and "row_idx" in row else row for row in inner]
        if isinstance(inner, dict) and (rows := wrapped(inner) or columns_to_rows(inner)) is not None:
            return rows
    known = [own for own in value.values() if isinstance(own, Mapping) and (told := format_of(own)) and told.holds]
    return _named(value) if len(known) == len(value) > 0 else None  # dialogues by their names


def _numbered(value: Mapping[str, Any]) -> Rows | None:
    """{column: {number of a row: cell}}, as pandas writes a table."""
    columns = list(value.values())
    if not columns or not all(isinstance(own, Mapping) for own in columns) or not any(map(field_of, value)):
        return None
    numbers = columns[0].keys()
    is_even = all(own.keys() == numbers for own in columns) and all(str(n).isdigit() for n in numbers)
    if not is_even or _is_apart(columns):
        return None
    return [{name: own[number] for name, own in value.items()} for number in numbers]


def _is_apart(columns: list[Any]) -> bool:
    """Whether what may be the only column holds rows themselves."""
    cells = [cell for own in columns for cell in own.values() if isinstance(cell, Mapping)]
    return len(columns) == 1 and any(any(map(is_content, cell)) for cell in cells)


def _alone(value: Mapping[str, Any]) -> Rows | None:
    """The only list of rows that is anywhere within an object, whatever its name."""
    tables = list(_tables(value, 0))
    return tables[0] if len(tables) == 1 else None


def _tables(value: Any, depth: int) -> Iterator[Rows]:
    """Lists of rows within objects that are none themselves, whatever their names; that of the only name that there is
    may be what a system answered."""
    if depth < DEEPEST and isinstance(value, Mapping) and not is_record(value):
        for name, inner in value.items():
            if _asks(inner) if not depth else isinstance(inner, list) and _is_of_rows(inner):
                yield from [inner] if depth or len(value) > 1 or is_content(name) else ()
            yield from _tables(inner, depth + 1)


def _is_of_rows(rows: Rows) -> bool:
    return all(isinstance(row, dict) for row in rows) and any(is_content(name) for row in rows for name in row)


def _by_id(value: Mapping[str, Any]) -> Rows | None:
    """{id: answer}, what a system predicts, as of SQuAD."""
    if not all(isinstance(text, str) and _ID.search(name) and not field_of(_ID.sub("", name))
               for name, text in value.items()):  # fmt: skip
        return None
    return [{"id": name, "answer": text} for name, text in value.items()]


def _by_question(value: Mapping[str, Any]) -> Rows | None:
    """{question: answer}, or answers."""
    if not all(isinstance(text, str | list) and _is_asked(name) for name, text in value.items()):
        return None
    return [{"question": name, "answer": text} for name, text in value.items()]


def _evaluated(value: Mapping[str, Any]) -> Rows | None:
    """What was evaluated, beside the results, of Haystack."""
    return rows_in(value["inputs"]) if isinstance(value.get("inputs"), dict) and "results" in value else None


def _retrieval(value: Mapping[str, Any]) -> Rows | None:
    """Questions, passages and labels by their ids, of LlamaIndex and sentence-transformers; the first row brings all
    passages."""
    asked, texts, labels = value.get("queries"), value.get("corpus"), value.get("relevant_docs") or {}
    if not (isinstance(asked, dict) and isinstance(texts, dict)):
        return None
    passages = {name: {"id": name, "text": text} for name, text in texts.items()}
    rows: Rows = [
        {
            "id": name,
            "question": question,
            "reference_contexts": [passages[own] for own in labels.get(name, ()) if own in texts],
        }
        for name, question in asked.items()
    ]
    return [{**row, "corpus_passages": [*passages.values()]} for row in rows[:1]] + rows[1:]


def _split(value: Mapping[str, Any]) -> Rows | None:
    """Names of columns and lists of cells, of pandas (orient="split"); a table of MLflow has no names of rows."""
    if "columns" not in value or not isinstance(value.get("data"), list):
        return None
    rows = [dict(zip(value["columns"], row, strict=False)) for row in value["data"]]
    names = value.get("index")
    return _named(dict(zip(names, rows, strict=True))) if names and len({*names}) == len(rows) else rows


def _of_systems(value: Mapping[str, Any]) -> Rows | None:
    """{system: rows}."""
    tables = list(value.values())
    are_rows = all(isinstance(table, list) and all(isinstance(row, dict) for row in table) for table in tables)
    if not are_rows or is_record(value) or not any(map(_is_of_rows, tables)):
        return None
    return [{"system": name, **row} for name, rows in value.items() for row in rows]


def columns_to_rows(value: Mapping[str, Any]) -> Rows | None:
    """The rows of an object with a list for each column, `questions` and `answers` without their plural; what stands
    beside them is in every row. None for any other object, such as lists of a dialogue, which are no columns. Raises
    DatasetError for columns that are not as long."""
    if not (lists := {name: own for name, own in value.items() if isinstance(own, list | tuple)}):
        return None
    fields = {name: field_of(name) or of_member(str(name)) for name in value}
    if not {"user_input", "questions"} & {*fields.values()}:
        fields |= {name: "user_input" for name in value if not fields[name] and rarely(name) == "user_input"}
    cells = [cell for own in lists.values() for cell in own]
    is_whole = len(lists) == len(value) and len({*map(len, lists.values())}) == 1
    asked = [own for name, own in value.items() if fields[name] == "user_input"]
    is_of_numbers = len(lists) > 1 and {*map(type, cells)} in ({int}, {float}, {bool})
    is_known = bool(asked) or any(map(is_content, value)) or is_of_numbers
    is_asked = bool(asked) and all(isinstance(own, list | tuple) and {*map(type, own)} <= {str} for own in asked)
    said = {*fields.values()}
    is_dialogue = "messages" in said or any(isinstance(cell, Mapping) and "role" in cell for cell in cells)
    if is_dialogue or not (is_asked or (is_whole and is_known)):
        return None
    size = len(next(iter(asked or lists.values())))
    others = {name: own for name, own in value.items() if name not in lists or len(own) != size}
    if size > 1 and (uneven := [name for name in others if name in lists and is_content(name)]):
        raise DatasetError(f"columns of {size} × question, {len(lists[uneven[0]])} × {uneven[0]}: as many are expected")
    singular = {"questions", *(("reference",) if "questions" in said and "response" not in said else ())}
    names = {name: name.removesuffix("s") if fields[name] in singular else name for name in lists if name not in others}
    rows = zip(*(lists[name] for name in names), strict=True)
    return [{**others, **dict(zip(names.values(), row, strict=True))} for row in rows]


def _of_objects(value: Mapping[str, Any]) -> Rows | None:
    """{column: {row: cell}} and {row: {column: cell}}, of pandas, and objects that are tables: of systems, where they
    answer the same, else parts of one."""
    inner = list(value.values())
    if not all(isinstance(own, Mapping) for own in inner) or not inner[0] or format_of(value):
        return None
    if any(map(is_content, value)) and not _is_apart(inner):
        table = {row: {name: cells.get(row) for name, cells in value.items()} for row in inner[0]}
        return _named(table) if all(cells.keys() == inner[0].keys() for cells in inner) else None
    if None not in (parts := [rows_in(own) for own in inner]):
        asked = [{str(row.get("question", row.get("id"))) for row in part or ()} for part in parts]
        is_of_systems = len(asked) > 1 and bool(asked[0] & asked[1])
        named = zip(value, parts, strict=True)
        return [{"system": name, **row} if is_of_systems else row for name, part in named for row in part or ()]
    return _named(value) if all(any(map(is_content, own)) for own in inner) else None


def _named(rows: Mapping[str, Any]) -> Rows:
    """Rows under their names, which are their questions, or their ids where they are more than numbers."""
    if all(map(_is_asked, rows)):
        return [{"question": name, **row} for name, row in rows.items()]
    ids = not all(str(name).isdigit() for name in rows)
    return [{**({"id": name} if ids else {}), **row} for name, row in rows.items()]


def _is_asked(name: Any) -> bool:
    """Whether a name is a question."""
    return str(name).rstrip().endswith("?")


SHAPES = (wrapped, _alone, _by_id, _by_question, _evaluated, _retrieval, _split, _of_systems, columns_to_rows,
          _of_objects)  # fmt: skip
"""What an object may be, the likelier first: each gives its rows, or None."""

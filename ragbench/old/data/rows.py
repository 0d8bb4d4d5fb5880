"""Rows of a file whatever its form: JSON of any shape, JSON Lines, CSV, Excel, Parquet; each with its place."""

from __future__ import annotations

import csv
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragbench.old.core.expectations import kind
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.data.cells import TABLE, blank, fields_of, held, is_total, missing
from ragbench.old.data.files import (
    FIELD_BYTES,
    LENIENT,
    MAX_LINE_BYTES,
    OBJECT_BYTES,
    PACKED,
    PACKINGS,
    STRICT,
    Apart,
    DatasetError,
    LeftOut,
    Load,
    cut,
    empty_table,
    first_sign,
    head,
    lines_of,
    member,
    normalise,
    parquet_rows,
    parse_json,
    read_lines,
    read_text,
    require_narrow,
    text_blocks,
    text_lines,
    weight,
)
from ragbench.old.data.json_values import Values
from ragbench.old.data.payloads import role_of
from ragbench.old.data.shapes import STREAMED, WRAPPERS, is_record, rows_in, wrapped
from ragbench.old.data.vocabulary import field_of, is_content, of_member, rarely

DELIMITERS = (",", ";", "\t", "|")
SEPARATED = re.compile(r"sep=(.)\n", re.IGNORECASE)
LINES = {".jsonl", ".ndjson", ".jsonlines"}
EXCEL = {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"}
BEGINS = {b"PK\x03\x04": ".xlsx", b"\xd0\xcf\x11\xe0": ".xls", b"PAR1": ".parquet", b"%PDF": ".pdf"}
"""How files begin that are no text."""
TABLES = (".json", *sorted(LINES), ".csv", ".tsv", ".parquet", *sorted(EXCEL))
"""Endings of files that hold rows."""
CHUNK = "chat.completion.chunk"
"""What OpenAI calls a line of an answer that comes by and by."""
TITLES = 10
"""Rows among which the one with the names of the columns is looked for."""
SQUAD = ("id", "question", "answers")
"""What SQuAD says of a question of a paragraph."""
OF_AN_ITEM = ("user_input", "id")
"""Fields that tell one row from the others."""
Placed = tuple[str, dict[str, Any]]


def read_rows(
    path: Path,
    *,
    keep_empty: bool = False,
    held: bool = True,
    left_out: LeftOut | None = None,
    spread: bool = True,
    ending: str = "",
    most: int | None = None,
) -> Iterator[Placed]:
    """(place, row) of each row of a table in any form; the place is `FILE, item 3`, `line 3` or `row 3`.

    JSON holds a list of objects, objects one after the other, also one a line, or an object with such a list under a
    name of WRAPPERS; or (spread) a list for each column, a list of rows for each system, what pandas writes. CSV is
    separated by commas, semicolons or tabs, and may be a .txt of tabs; its empty cells are left out of the row
    (keep_empty: they are empty texts). Of Excel see `_excel`.
    All texts are in NFC; all but Parquet and Excel may be packed by gzip, bz2, xz, zstd or zip. held: who reads them
    keeps them all, so that they must fit into memory together; else they go by, in memory that does not grow with their
    number. A title above the names of the columns is passed over, and what is no text is told by how it begins.
    left_out: rows that cannot be read are counted there; without it one of them is an error. ending: of a file whose
    name does not say what it is. most: rows after which nothing more is read.
    Raises DatasetError with file and place for what cannot be read.
    """
    if path.is_dir():
        raise DatasetError(
            f"{path.resolve().name}: a folder; name a table in it, or see what is there by ragbench init"
        )
    endings = endings_of(path)
    if why := TABLE["unread"].get(endings[-1] if endings else ""):
        raise DatasetError(f"{path.name}: {why[0]}")
    ends = {ending} if ending else _content(path, {*endings})
    if ends & LINES and ".json" not in ends:
        rows: Iterator[Placed] = _json_lines(path, held, left_out, spread)
    elif ".json" in ends:
        rows = _json(path, held, left_out, spread, apart=bool(ends & LINES))
    elif ends & {".csv", ".tsv"} or tabbed(path):
        rows = _csv(path, keep_empty, held, left_out)
    elif ".parquet" in ends:
        rows = _parquet(path, held)
    elif ends & EXCEL:
        rows = _excel(path, keep_empty, held, left_out)
    else:
        raise DatasetError(f"{path.name}: ends in none of {', '.join(TABLES)}; such files can be read")
    rows = _unnested(rows) if spread else rows
    rows = rows if left_out is None else without_totals(rows, left_out)
    return rows if most is None else itertools.islice(rows, most)


def without_totals(rows: Iterable[tuple[str, Any]], left_out: LeftOut) -> Iterator[tuple[str, Any]]:
    """The rows but those that tell of others, which are counted."""
    for place, row in rows:
        if not isinstance(row, Mapping):
            yield place, row
            continue
        word = is_total(row, lambda name: field_of(name) == "system")
        known = field_of(word) or of_member(word) or rarely(word)
        is_first = bool(word) and word == next(iter(row)) and not known
        ids = [own for name, own in row.items() if word and name != word and field_of(name) == "id"]
        is_item = bool(ids) and not missing(ids[0]) and " " in str(row[word]).strip()  # 7, `Total fees due`
        if word and not is_item and (known in OF_AN_ITEM or is_first or _is_nobodys(row)):
            left_out.add("row of totals", place)
        else:
            yield place, row


def _is_nobodys(row: Mapping[str, Any]) -> bool:
    """Whether the columns of a row that say what is answered are there, and empty."""
    own = [cell for name, cell in row.items() if field_of(name) in OF_AN_ITEM]
    return bool(own) and all(missing(cell) or blank(cell) for cell in own)


def _unnested(rows: Iterator[Placed]) -> Iterator[Placed]:
    """The rows, those of SQuAD's articles and paragraphs question by question; a paragraph without any is a row by
    itself."""
    for place, row in rows:
        if row.keys() >= {"passage", "qa_pairs"}:  # of DROP
            row = {"context": row["passage"], "qas": row["qa_pairs"]}
        paragraphs = row.get("paragraphs", row)
        paragraphs = paragraphs if isinstance(paragraphs, list) else [paragraphs]
        if not all(isinstance(own, dict) and isinstance(own.get("qas"), list) for own in paragraphs):
            yield place, row
            continue
        for paragraph in paragraphs:
            about = {"title": row.get("title"), "context": paragraph.get("context", paragraph.get("context_text"))}
            for asked in [asked for asked in paragraph["qas"] if isinstance(asked, dict)] or [dict.fromkeys(SQUAD)]:
                yield place, {**about, **asked}


def endings_of(path: Path) -> list[str]:
    """What a file's name, or that of the only file in a zip, ends in, but for its packing; in small letters."""
    is_read = path.is_file() and path.suffix.lower() not in TABLE["unread"]
    endings = Path(member(path) or path).suffixes if is_read else path.suffixes
    return [ending.lower() for ending in endings if ending.lower() not in PACKINGS]


def _content(path: Path, endings: set[str]) -> set[str]:
    """The endings, or that of files that begin as this one does, whatever it is called. Raises DatasetError for a PDF,
    for what is read unpacked alone, and for an empty file."""
    start = head(path, 2**12)
    if not start:
        raise empty_table(path)
    is_packed = bool(member(path)) or start.startswith((*PACKED,))
    if is_packed and endings & {*EXCEL, ".parquet"}:
        raise DatasetError(f"{path.name}: is packed, and of packed files texts alone are read; unpack it")
    ending = "" if is_packed else BEGINS.get(start[:4], "")
    if ending == ".pdf":
        raise DatasetError(f"{path.name}: this is a PDF, no table; ragbench load documents FOLDER reads such")
    if endings & EXCEL and start.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<"):
        raise DatasetError(
            f"{path.name}: a page that is called a workbook; open it in Excel, and save it as .xlsx or CSV"
        )
    begins = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if endings & LINES and (begins == b"[" or (begins != b"{" and first_sign(path) == "[")):
        return {*endings, ".json"}
    is_text = bool(endings & EXCEL) and not ending and any(sign.encode() in start for sign in DELIMITERS)
    return {".csv"} if is_text else {ending} if ending else endings  # what many call a workbook is one for Excel alone


def tabbed(path: Path) -> bool:
    """Whether a .txt is a table: its first two lines have as many tabs, one at least, and every column has a name."""
    if path.suffix.lower() != ".txt":
        return False
    first, *rows = head(path, 2**16).decode("utf-8", "replace").splitlines()[:2] or [""]
    return (
        "\t" in first
        and all(map(str.strip, first.rstrip("\t").split("\t")))
        and any(row.count("\t") == first.count("\t") for row in rows)
    )


def _json_lines(path: Path, held: bool, left_out: LeftOut | None, spread: bool) -> Iterator[Placed]:
    lines = ((f"{path.name}, line {number}", item) for number, item in read_lines(path, held=held, left_out=left_out))
    first = list(itertools.islice(lines, 2))
    if first and (first[0][1].keys() == {"spec"} or first[0][1].get("object") == CHUNK):
        yield from _joined(itertools.chain(first, lines))
        return
    if len(first) == 1 and (table := (rows_in if spread else wrapped)(first[0][1])) is not None:
        yield from _placed(path, table, held, left_out)
        return
    for place, item in itertools.chain(first, lines):
        rows = wrapped(item)
        for number, row in enumerate([item] if rows is None else rows, 1):
            if isinstance(row, dict):
                yield place if rows is None else f"{place}, item {number}", row
            elif left_out is None:
                raise DatasetError(f"{place}, item {number}: {cut(row)}: a JSON object is expected")
            else:
                left_out.add(f"{kind(row)} where an object is expected", place)


def _joined(lines: Iterable[Placed]) -> Iterator[Placed]:
    """Rows of which each line tells a part: of OpenAI evals an event, of a stream of its chats some words."""
    rows: dict[str, Placed] = {}
    for place, item in lines:
        name, told = item.get("sample_id", item.get("id")), item.get("data")
        if item.get("object") == CHUNK:
            told, choices = {"model": item.get("model")}, item.get("choices")
            for choice in choices if isinstance(choices, list) else ():
                if isinstance(choice, dict) and isinstance(delta := choice.get("delta"), dict):
                    said = rows[str(name)][1].get("answer", "") if str(name) in rows else ""
                    told["answer"] = said + str(delta.get("content") or "")
                    break  # others are other answers
        if isinstance(told, dict) and name is not None:
            rows.setdefault(str(name), (place, {"id": name}))[1].update(told)
    yield from rows.values()


def _json(path: Path, held: bool, left_out: LeftOut | None, spread: bool, *, apart: bool) -> Iterator[Placed]:
    """apart: lists are rows, or one that holds all of them, each on its line."""
    start = first_sign(path)
    if start == "{" and _is_of_lines(path):
        yield from _json_lines(path, held, left_out, spread)
    elif held and left_out is None and not apart and start == "[":
        yield from _placed(path, parse_json(read_text(path), path.name), held, left_out)
    else:
        values = Values(path, text_blocks(path), STRICT if left_out is None else LENIENT)
        yield from _placed(path, _streamed(values, spread, apart), held, left_out, values)


def _placed(
    path: Path, items: Iterable[Any], held: bool, left_out: LeftOut | None, values: Values | None = None
) -> Iterator[Placed]:
    load, names = Load(path, "items", held=held), None
    lists = (item if isinstance(item, list) and item and isinstance(item[0], dict) else [item] for item in items)
    lists = ([{"messages": own}] if len(own) > 1 and role_of(own[0]) else own for own in lists)
    for item in itertools.chain.from_iterable(lists):  # Zipkin has a list a trace
        load.add(weight(values.last) if held and values is not None else 0)
        place = f"{path.name}, item {load.number}"
        if isinstance(item, list) and load.number == 1 and any(field_of(name) or is_content(name) for name in item):
            names = list(map(str, item))
            continue
        if names and isinstance(item, list) and len(item) == len(names):
            item = dict(zip(names, item, strict=True))
        why = "" if isinstance(item, dict) else f"{kind(item)} where an object is expected"
        if isinstance(item, list) and not names:
            why += ': the first list is to name the columns, ["question", "answer"]'
        if not why and values is not None and "\\u" in values.last and is_torn(item):
            why = "text that holds half of a character (a lone surrogate)"
        if not why:
            yield place, item
        elif left_out is not None:
            left_out.add(why, place)
        else:
            raise DatasetError(
                f"{place}: {why}" if "half" in why else f"{place}: {cut(item)}: a JSON object is expected"
            )
    if not load.number:
        raise DatasetError(f"{path.name}: holds no rows; at least one is expected")


def is_torn(value: Any) -> bool:
    """Whether a text in a value, or in the fields of a data class, holds half of a character."""
    try:
        json.dumps(value, ensure_ascii=False, default=fields_of).encode()
    except UnicodeEncodeError:
        return True
    return False


def _streamed(values: Values, spread: bool, apart: bool) -> Iterator[Any]:
    """The rows among the top-level values, their lists, and their objects' lists."""
    while sign := values.next():
        if sign == "[" and not apart:
            yield from (value for _, value in values.list())
        elif sign == "{":
            yield from _of_object(values, spread)
        else:
            yield values.value()[1]
        if values.next() == ",":  # between objects that somebody joined
            values.skip()


def _of_object(values: Values, spread: bool) -> Iterator[Any]:
    """The rows of the table that an object holds, those of a long list one by one; else the object itself."""
    whole: dict[str, Any] = {}
    streamed = False
    for _ in values.items("}"):
        name = values.value()[1]
        if not isinstance(name, str) or values.next() != ":":
            raise values.fault("not JSON: a name and a colon are expected")
        values.skip()
        if values.next() != "[" or name not in (*STREAMED, *WRAPPERS) or is_record(whole):
            whole[name] = values.value()[1]
            continue
        elements = (value for _, value in values.list())
        first = next(elements, None)
        if isinstance(first, dict):
            streamed = True
            yield from ({name: [value]} if name in STREAMED else value for value in itertools.chain([first], elements))
        else:
            whole[name] = [] if first is None else [first, *elements]
    if not streamed:
        table = (rows_in if spread else wrapped)(whole)
        yield from [whole] if table is None else table


def _is_of_lines(path: Path) -> bool:
    """Whether the first line that is not blank is an object by itself."""
    text = next((text for _, text in text_lines(path) if text is None or text.strip()), None)
    try:
        return text is not None and isinstance(LENIENT.decode(text), dict)
    except (ValueError, RecursionError):
        return False


def _csv(path: Path, keep_empty: bool, held: bool, left_out: LeftOut | None) -> Iterator[Placed]:
    lines = lines_of(path)
    first = list(itertools.islice(lines, TITLES))
    told = SEPARATED.fullmatch(first[0]) if first else None  # as Excel writes it for itself
    before = 1 if told else 0
    csv.field_size_limit(MAX_LINE_BYTES)
    before += _header([_split(line, told[1] if told else "") for line in first[before:]])
    delimiter = told[1] if told else max(DELIMITERS, key=(first[before] if before < len(first) else "").count)
    load = Load(path, "rows", held=held)
    rows = _whole(
        csv.reader(itertools.chain(first[before:], lines), delimiter=delimiter, strict=True), path, before, left_out
    )
    if (header := next(rows, None)) is None:
        raise empty_table(path)
    names = [name.strip() for name in header[1]]
    _require_distinct(names, header[0])
    is_apart = False
    for place, cells in rows:
        if not any(map(str.strip, cells)) and (len(cells) != 1 or not keep_empty):  # as spreadsheets end with
            is_apart = True
            continue
        while len(cells) > len(names) and not cells[-1].strip():
            cells.pop()
        if left_out is not None and is_apart and _is_note(cells, names):
            left_out.add(NOTE, place)
            continue
        is_apart = False
        if len(cells) != len(names):
            if left_out is None:
                raise DatasetError(f"{place}: {len(cells)} cells, but the header names {len(names)} columns")
            left_out.add("row with another number of cells than the header", place)
            continue
        letters = sum(map(sys.getsizeof if held else len, cells))
        load.add(OBJECT_BYTES + FIELD_BYTES * len(cells) + letters if held else letters)
        named = zip(names, cells, strict=True)
        yield place, {name: cell for name, cell in named if name and (keep_empty or cell.strip())}


def _is_note(cells: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether a row behind a blank one is a note below a table, or a title within it: of one cell alone."""
    return len(names) > 1 and sum(bool(str(cell).strip()) for cell in cells) == 1


def _whole(reader: Any, path: Path, before: int, left_out: LeftOut | None) -> Iterator[tuple[str, list[str]]]:
    """(place, cells) of the rows of a reader; lines that are none are left out, but neither the first nor all that
    follow a quote that nobody closed."""
    while True:
        first = reader.line_num + 1
        try:
            if (cells := next(reader, None)) is None:
                return
        except csv.Error as error:
            place = f"{path.name}, line {first + before}"
            if left_out is None or first == 1 or "end of data" in str(error):
                raise DatasetError(f"{place}: not CSV: {error}") from None
            left_out.add(f"line that is not CSV ({error})", place, reader.line_num + 1 - first)
        else:
            yield f"{path.name}, line {reader.line_num + before}", cells


def _split(line: str, delimiter: str) -> list[str]:
    """The cells of a line; none where it is no whole row."""
    try:
        return next(csv.reader([line], delimiter=delimiter or max(DELIMITERS, key=line.count), strict=True), [])
    except csv.Error:
        return []


def _header(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows names the columns: the first of all, unless it is a title above one that does."""
    is_title = True
    for place, cells in enumerate(rows):
        names = [cell for cell in cells if cell.strip()]
        known = sum(map(bool, map(field_of, names)))
        if len(names) > 1 and known > (not is_title):
            return place
        if len(names) > 2:
            break
        is_title = is_title and not known  # one word may be a title, or the only column
    return 0


NOTE = "row of one cell behind a blank one, as notes below a table are"
WORKBOOK_BYTES = 2**30
"""Of memory that reading a workbook takes: all cells between the first and the last are laid out."""


def _excel(path: Path, keep_empty: bool, held: bool, left_out: LeftOut | None) -> Iterator[Placed]:
    """The rows of the first sheet with a column that is known, else of the first with a header and a row; and of those
    that hold the same fields: each is a system's, called as it is. Sheets of other fields are counted as left out."""
    load = Load(path, "rows", held=held)
    heads: dict[str, tuple[int, list[str]]] = {}
    with closing(Apart(WORKBOOK_BYTES)) as book:
        for sheet, placed in itertools.groupby(_of_workbook(book, path, (), TITLES), lambda row: row[0]):
            rows = [(number, [normalise(str(cell)).strip() for cell in cells]) for _, number, cells in placed]
            if len(rows) > 1:
                heads[sheet] = rows[_header([cells for _, cells in rows])]
        if not heads:
            raise DatasetError(f"{path.name}: no sheet holds a header and a row")
        first = next((sheet for sheet, (_, own) in heads.items() if any(map(field_of, own))), next(iter(heads)))
        held_in = {sheet: {field_of(name) for name in own if is_content(name)} for sheet, (_, own) in heads.items()}
        sheets = [sheet for sheet, own in held_in.items() if sheet == first or (own and own == held_in[first])]
        for sheet, (number, columns) in heads.items():
            if sheet in sheets:
                _require_distinct(columns, f"{path.name}, row {number}")
            elif held_in[sheet] and left_out is not None:
                left_out.add("sheet with other fields than the first", f"{path.name}, {sheet}")
        last = 0
        for sheet, number, cells in _of_workbook(book, path, sheets, 0):
            load.add(OBJECT_BYTES + FIELD_BYTES * len(cells) + sum(map(sys.getsizeof, cells)))
            names = heads[sheet][1]
            row = {name: _cell(cell) for name, cell in zip(names, cells, strict=False) if name}
            if number > heads[sheet][0]:
                place = f"{path.name}, row {number}" if len(sheets) < 2 else f"{path.name}, {sheet}, row {number}"
                if left_out is not None and number > last + 1 and _is_note(cells, names):
                    left_out.add(NOTE, place)
                    continue
                own = {} if len(sheets) < 2 or any(field_of(name) == "system" for name in names) else {"system": sheet}
                yield place, own | {name: value for name, value in row.items() if keep_empty or value != ""}
            last = number


def _of_workbook(book: Apart, path: Path, sheets: Sequence[str], most: int) -> Iterator[tuple[str, int, list[Any]]]:
    """The rows of a workbook that are not empty: sheet, number, cells. sheets: those wanted, else all; most: rows of
    each, 0: all of them."""
    try:
        yield from book.read("workbook", str(path), sheets, most)
    except ValueError as error:
        said = excerpt(error, 300).replace("; split it", "; split it, or save it as CSV")
        raise DatasetError(f"{path.name}: cannot be read: {said}") from None


def _require_distinct(names: Sequence[str], place: str) -> None:
    """Raises DatasetError for a name of two columns, and for too many of them."""
    require_narrow(names, place)
    if twice := next((name for name, count in Counter(filter(None, names)).items() if count > 1), None):
        raise DatasetError(f"{place}: the column {twice!r} stands there twice")


def _cell(value: Any) -> Any:
    """A cell as a text of a CSV file would be read: dates as ISO 8601, whole numbers as such."""
    if isinstance(value, str):
        return normalise(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _parquet(path: Path, held: bool) -> Iterator[Placed]:
    for number, row in enumerate(parquet_rows(path, held=held), 1):
        there = ((name, value) for name, value in row.items() if value is not None and value == value)  # NaN: empty
        yield f"{path.name}, row {number}", {n: normalise(v) if isinstance(v, str) else v for n, v in there}


def listed(value: Any) -> Any:
    """A list out of a cell: as it is, as JSON or Python write it, or texts parted by semicolons; None is empty."""
    if value is None:
        return []
    if not isinstance(value, str):
        return value
    parsed = held(value)
    if parsed is not None:
        return parsed[0]
    if value.lstrip().startswith("["):
        raise ValueError("a list is expected, as JSON or Python write it")
    return [part.strip() for part in value.split(";") if part.strip()]

"""Lines of TREC files, as columns: by pandas' reader where all lines fit, word by word where one does not."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core import names
from ragbench.data.files import DAMAGED, DatasetError, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

    from ragbench.core.types import Array

LONGEST_LINE = 1 << 16  # a binary file has no end of line, and is refused after so much
MOST_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""Of one file, unpacked: half of this machine's memory, so that a small file that unpacks to no end is refused."""
UNLIKE = (b"\0", b"\v", b"\f")
"""What pandas' reader takes for something else than `Form.split` does."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
Placed = tuple[str, Sequence[Any]]
"""Where a row stands, and its words."""


@dataclass(frozen=True)
class Form:
    """What a line holds, by its words: QUERY, DOCUMENT, RANK, SCORE or GRADE, TAG; any other word is read by nobody.

    more: whether words behind the expected ones may stand; such a line needs a number as its rank, because a blank in a
    document's name moves the columns. header: whether the first line names the columns. separator: what parts words;
    None: blanks and tabs.
    """

    line: str
    more: bool = False
    header: bool = False
    separator: str | None = None

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Word → its place."""
        return {word: place for place, word in enumerate(self.line.split())}

    @cached_property
    def words(self) -> int:
        """How many words a line has."""
        return len(self.line.split())

    @cached_property
    def value(self) -> str:
        """Whether the number of a line is a grade or a score."""
        return "grade" if "GRADE" in self.places else "score"

    @cached_property
    def is_ranked(self) -> bool:
        """Whether ranks stand for scores: the smallest is the best, and they are kept with the other sign."""
        return self.value == "score" and "SCORE" not in self.places

    @cached_property
    def number(self) -> int:
        """The place of a line's number."""
        return self.places["RANK" if self.is_ranked else self.value.upper()]

    @cached_property
    def rank(self) -> int | None:
        """The place of a rank beside a score."""
        return None if self.is_ranked or self.value == "grade" else self.places.get("RANK")

    def split(self, line: str) -> list[str]:
        """The words of a line."""
        if self.separator is None:
            return re.findall(r"[^ \t\n]+", line)
        return [word.strip() for word in next(csv.reader([line]))] if self.separator == "," else [
            word.strip() for word in line.split(self.separator)]  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """The lines of a file, those of one query together, otherwise in the file's order.

    queries: where the lines of each query stand, in the order of their first lines. documents: a column of Arrow, of
    strings. numbers: grades or scores. ranks: infinite for one that is no number; None where there are none. tag: of
    the first line. ranked: whether what stood where scores may stand were ranks.
    """

    queries: Mapping[str, slice]
    documents: pa.LargeStringArray
    numbers: Array
    ranks: Array | None
    tag: str
    ranked: bool = False


def read_lines(path: Path, content: bytes, form: Form) -> Columns:
    """The columns of a file. Raises DatasetError for a line that does not fit."""
    columns = quick(path, content, form)
    return of_rows(path, rows(path, content, form), form) if columns is None else columns


def quick(path: Path, content: bytes, form: Form) -> Columns | None:
    """By pandas' reader; None where a line may not fit, or is another one to it."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import compute

    number, line = next(data_lines(path, content, form), (1, ""))
    words, is_quoted = form.split(line), form.separator == "," and b'"' in content
    is_unlike = is_quoted or any(sign in content for sign in UNLIKE) or (b"#" in content and b"\n#" in content)
    is_unlike = is_unlike or content.count(b"\r") > content.count(b"\r\n")
    if is_unlike or len(words) != form.words or finite(words[form.number]) is None:
        return None
    places, counted = (form.places["QUERY"], form.places["DOCUMENT"], form.words - 1), (form.number, form.rank)
    kinds: dict[Any, Any] = dict.fromkeys(range(form.words), pd.ArrowDtype(pa.large_string()))
    kinds |= {place: np.float64 for place in counted if place is not None}
    try:
        frame = pd.read_csv(
            io.BytesIO(content), sep=form.separator or r"\s+", header=None, names=list(kinds), dtype=kinds,
            skiprows=number - 1, index_col=False, quoting=csv.QUOTE_NONE, na_filter=False,
        )  # fmt: skip
    except ValueError:
        return None
    columns: dict[int, Any] = {}
    for place in set(places).difference(counted):
        column = pa.chunked_array(frame[place].array.__arrow_array__()).combine_chunks()
        columns[place] = column = compute.utf8_trim_whitespace(column) if form.separator else column
        sizes = compute.min_max(compute.binary_length(column)).as_py()
        if not sizes["min"] or sizes["max"] > LONGEST_LINE // 2:  # a line lacks a word, or is too long
            return None
    queries, documents = (columns[place] for place in places[:2])
    numbers, ranks = frame[form.number].to_numpy(), None if form.rank is None else frame[form.rank].to_numpy()
    tag = words[form.places["TAG"]] if "TAG" in form.places else ""
    return _together(form, queries, documents, numbers, ranks, tag) if np.isfinite(numbers).all() else None


def of_rows(path: Path, rows: Iterable[Placed], form: Form) -> Columns:
    """Columns of rows in a file's order. Raises DatasetError, as `checked` does."""
    import pyarrow as pa

    _, queries, documents, numbers, ranks, tags = [*zip(*checked(path, rows, form), strict=True)] or [()] * 6
    named, retrieved = (pa.array(column, pa.large_string()) for column in (queries, documents))
    before = None if form.rank is None else np.array(ranks, dtype=float)
    return _together(form, named, retrieved, np.array(numbers, dtype=float), before, tags[0] if tags else "")


def _together(
    form: Form,
    queries: pa.LargeStringArray,
    documents: pa.LargeStringArray,
    numbers: Array,
    ranks: Array | None,
    tag: str,
) -> Columns:
    coded = queries.dictionary_encode()
    codes, asked = coded.indices.to_numpy(), coded.dictionary.to_pylist()
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        codes, documents, numbers = codes[order], documents.take(order), numbers[order]
        ranks = None if ranks is None else ranks[order]
    ends = np.searchsorted(codes, np.arange(len(asked)), side="right").tolist()
    places = {name: slice(start, end) for name, start, end in zip(asked, [0, *ends], ends, strict=False)}
    return Columns(places, documents, -numbers if form.is_ranked else numbers, ranks, tag)


def checked(path: Path, rows: Iterable[Placed], form: Form) -> Iterator[tuple[str, str, str, float, float, str]]:
    """Place, query, document, number, rank and tag of rows; a rank that is no number is behind all others, because only
    the order of equal scores hangs on it. Raises DatasetError for a name or a number that is none."""
    for place, words in rows:
        for role in ("QUERY", "DOCUMENT"):
            name = words[form.places[role]]
            if isinstance(name, bool) or not isinstance(name, str | int) or name == "" or names.is_torn(str(name)):
                raise DatasetError(f"{path}, {place}: the {role.lower()} {name!r} is no name; expected a text")
        number, rank = finite(words[form.number]), None if form.rank is None else finite(words[form.rank])
        if number is None:
            raise DatasetError(
                f"{path}, {place}: {words[form.number]!r} is not a {form.value}, a finite number; expected {form.line}"
            )
        if rank is None and len(words) > form.words:
            raise DatasetError(
                f"{path}, {place}: more than {form.words} columns, and {words[form.rank or 0]!r} is not a rank; is "
                f"there a blank in a name? expected {form.line}"
            )
        query, document, tag = (str(words[form.places[n]]) if n in form.places else "" for n in _TEXTS)
        yield place, query, document, number, math.inf if rank is None else rank, tag


_TEXTS = ("QUERY", "DOCUMENT", "TAG")


def finite(value: Any) -> float | None:
    """The finite number that a word or a value is; None for any other."""
    if isinstance(value, bool) or (isinstance(value, str) and not _NUMBER.fullmatch(value)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def rows(path: Path, content: bytes, form: Form) -> Iterator[Placed]:
    """Lines, split into words. Raises DatasetError for one with too few or too many of them."""
    for number, line in data_lines(path, content, form):
        words, wanted = form.split(line), form.words
        if len(words) < wanted or (len(words) > wanted and not form.more):
            raise DatasetError(f"{path}, line {number}: {len(words)} columns instead of {wanted}; expected {form.line}")
        yield f"line {number}", words


def data_lines(path: Path, content: bytes, form: Form) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without their ends, blank ones, comments and the header. Raises DatasetError for one
    that is too long, or no text."""
    text, header = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", "surrogateescape"), form.header
    for number, line in enumerate(iter(lambda: text.readline(LONGEST_LINE), ""), start=1):
        if len(line) == LONGEST_LINE:
            raise DatasetError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes; expected {form.line}")
        if not line.isascii() and re.search("[\udc80-\udcff]", line):
            raise DatasetError(f"{path}, line {number}: not UTF-8; expected {form.line}")
        if line.isspace() or line.startswith("#"):
            continue
        if not header:
            yield number, line.removesuffix("\n")
        header = False


def read_bounded(path: Path) -> bytes:
    """All of a file, unpacked. Raises DatasetError for one that is too large."""
    with unpacked(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DatasetError(
            f"{path} holds more than {MOST_BYTES / 1e9:.3g} GB of text, half of this machine's memory; split it by "
            "query"
        )
    return content


@contextmanager
def understood(path: Path, form: Form) -> Iterator[None]:
    """What a file system, or what unpacks, says, in our words."""
    try:
        yield
    except DAMAGED as error:
        raise DatasetError(f"{path}: cannot be read: {error}; expected lines like {form.line}") from None

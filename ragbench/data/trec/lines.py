"""Lines of TREC files, as columns: quickly where every line has the plain form, word by word where one has not."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragbench.data.files import DAMAGED, DatasetError, unpacked

if TYPE_CHECKING:
    import pyarrow as pa

    from ragbench.core.types import Array

LONGEST_LINE = 1 << 16  # a binary file has no end of line, and is refused after so much
LONGEST_WORD = LONGEST_LINE // 8  # in characters: of words no longer, no line comes near the longest
MOST_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""Of one file, unpacked: half of this machine's memory, so that a small file that unpacks to no end is refused."""
BLOCK = 1 << 25  # bytes that are read at a time, however long the file is
STRANGE = (b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x1f")
"""White space that is neither a blank, a tab nor the end of a line."""
MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Form:
    """What a line holds, by its words: QUERY, DOCUMENT, RANK, SCORE or GRADE, TAG; any other word is read by nobody.

    more: whether words behind the expected ones may stand; such a line needs a number as its rank, because a blank in a
    document's name moves the columns. header: whether the first line names the columns. separator: what parts words;
    None: any white space.
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


def read_lines(path: Path, form: Form) -> Columns:
    """The columns of a file. Raises DatasetError for a line that does not fit, no file, and one that is too large."""
    with understood(path, form):
        columns = _plain(path, form)
    return _checked(path, form) if columns is None else columns


def _plain(path: Path, form: Form) -> Columns | None:
    """Columns of a file in which one blank, or one tab, stands between words and nowhere else; None for any other."""
    import pyarrow as pa
    from pyarrow import compute

    if form.separator == ",":
        return None
    blocks = [_table(block, form) for block in _plain_blocks(path, form)]
    known = [block for block in blocks if block is not None]
    if not known or len(known) < len(blocks):
        return None
    table = pa.concat_tables(known).unify_dictionaries()
    queries, documents = table["QUERY"].combine_chunks(), table["DOCUMENT"].combine_chunks()
    if (compute.max(compute.utf8_length(documents)).as_py() or 0) > LONGEST_WORD:
        return None
    numbers, ranks = table["number"].to_numpy(), None
    if not np.isfinite(numbers).all():
        return None
    if form.rank is not None:
        ranks = table["RANK"].to_numpy()
        ranks = np.where(np.isnan(ranks), np.inf, ranks)
    tag = table["TAG"][0].as_py() if "TAG" in form.places else ""
    return _together(form, queries.indices.to_numpy(), queries.dictionary.to_pylist(), documents, numbers, ranks, tag)


def _plain_blocks(path: Path, form: Form) -> Iterator[bytes]:
    """Blocks of a file without its header; after the first one that is not plain an empty one, and no more."""
    for number, whole in enumerate(_blocks(path)):
        block = whole.partition(b"\n")[2] if form.header and not number else whole
        plain = bool(block) and not whole.startswith(b"#") and _is_plain(block)
        yield block if plain else b""
        if not plain:
            return


def _table(block: bytes, form: Form) -> pa.Table | None:
    import pyarrow as pa
    from pyarrow import csv as arrow

    few = pa.dictionary(pa.int32(), pa.string())
    kinds = {"QUERY": few, "TAG": few, "DOCUMENT": pa.large_string(), "number": pa.float64()}
    if form.rank is not None:
        kinds["RANK"] = pa.float64()
    names = [f"word {place}" for place in range(form.words)]
    for name, place in {**form.places, "number": form.number}.items():
        names[place] = name if name in kinds else names[place]
    read_as = {name: kind for name, kind in kinds.items() if name in names}
    try:
        return arrow.read_csv(
            pa.BufferReader(block),
            arrow.ReadOptions(column_names=names),
            arrow.ParseOptions(delimiter="\t" if b"\t" in block else " ", quote_char=False, double_quote=False),
            arrow.ConvertOptions(column_types=read_as, include_columns=list(read_as), null_values=[]),
        )
    except pa.ArrowInvalid:
        return None


def _is_plain(block: bytes) -> bool:
    """Whether Arrow sees the same words and lines in it as `str.split` does, and no line is a comment."""
    if (b" " in block and b"\t" in block) or any(sign in block for sign in STRANGE):
        return False
    if block[0] <= ord(" ") or block[-1:] in (b" ", b"\t") or block[:1] == b"#" or (b"#" in block and b"\n#" in block):
        return False
    blank = np.frombuffer(block, np.uint8) <= ord(" ")
    doubled = np.count_nonzero(blank[1:] & blank[:-1])
    if doubled + block.count(b"\r") and not doubled == block.count(b"\r") == block.count(b"\r\n"):
        return False
    if block.isascii():
        return True
    try:
        letters = set(block.decode())
    except UnicodeDecodeError:
        return False
    if MARK.decode() in letters:  # Arrow drops one where it begins to read, and another before a last line
        return False
    return not any(letter.isspace() for letter in letters if not letter.isascii())


def _checked(path: Path, form: Form) -> Columns:
    """The same, word by word, with what is wrong named by its line."""
    lines = numbered(path, form)
    return of_rows(form, ((w, _number(w, path, number, form), _rank(w, path, number, form)) for number, w in lines))


def of_rows(form: Form, rows: Iterable[tuple[Sequence[Any], float, float]]) -> Columns:
    """Columns of rows in a file's order: their words, the number and the rank of each."""
    import pyarrow as pa

    codes: dict[str, int] = {}
    queries: list[int] = []
    documents: list[str] = []
    numbers: list[float] = []
    ranks: list[float] = []
    tag, query, document = "", form.places["QUERY"], form.places["DOCUMENT"]
    for words, number, rank in rows:
        if not queries and "TAG" in form.places:
            tag = str(words[form.places["TAG"]])
        queries.append(codes.setdefault(str(words[query]), len(codes)))
        documents.append(str(words[document]))
        numbers.append(number)
        ranks.append(rank)
    ranked = None if form.rank is None else np.array(ranks, dtype=float)
    named, values = pa.array(documents, pa.large_string()), np.array(numbers, dtype=float)
    return _together(form, np.array(queries, dtype=np.int32), list(codes), named, values, ranked, tag)


def _together(
    form: Form,
    rows: NDArray[np.int32],
    names: Sequence[str],
    documents: pa.LargeStringArray,
    numbers: Array,
    ranks: Array | None,
    tag: str,
) -> Columns:
    """rows: (lines,) the place of each line's query among the names, which stand in the order of their first lines."""
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        rows, documents, numbers = rows[order], documents.take(order), numbers[order]
        ranks = None if ranks is None else ranks[order]
    ends = np.searchsorted(rows, np.arange(len(names)), side="right").tolist()
    queries = {name: slice(start, end) for name, start, end in zip(names, [0, *ends], ends, strict=False)}
    return Columns(queries, documents, -numbers if form.is_ranked else numbers, ranks, tag)


def numbered(path: Path, form: Form) -> Iterator[tuple[int, list[str]]]:
    """Lines with their numbers, split into words and checked for how many these are. Raises DatasetError."""
    wanted, header = form.words, form.header
    for number, line in split_lines(path, form):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if header:
            header = False
            continue
        words = _words(line, form.separator)
        if len(words) < wanted or (len(words) > wanted and not form.more):
            raise DatasetError(f"{path}, line {number}: {len(words)} columns instead of {wanted}; expected {form.line}")
        yield number, words


def _words(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if separator == ",":
        return next(csv.reader([line]))
    return [word.strip() for word in line.rstrip("\r\n").split(separator)]


def split_lines(path: Path, form: Form) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, as texts. Raises DatasetError for one that is too long, or no text."""
    size = 0
    with unpacked(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
            size += len(line)
            _bounded(path, size)
            if len(line) == LONGEST_LINE:
                raise DatasetError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes; expected {form.line}")
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise DatasetError(
                    f"{path}, line {number}: not UTF-8 ({error.reason}); expected {form.line}"
                ) from error


def read_bounded(path: Path) -> bytes:
    """All of a file, unpacked. Raises DatasetError for one that is too large."""
    with unpacked(path) as file:
        content = file.read(MOST_BYTES + 1)
    _bounded(path, len(content))
    return content


def _blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, about so many bytes at a time, without a byte-order mark."""
    rest, size = b"", 0
    with unpacked(path) as file:
        while block := file.read(BLOCK):
            _bounded(path, size + len(block))
            block = block if size else block.removeprefix(MARK)
            size += len(block)
            lines, end, rest = (rest + block).rpartition(b"\n")
            if lines:
                yield lines + end
    if rest:
        yield rest


def _bounded(path: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise DatasetError(
            f"{path} holds more than {MOST_BYTES / 1e9:.3g} GB of text, half of this machine's memory; split it by "
            "query"
        )


def is_finite(text: str) -> bool:
    """Whether a word is a finite number."""
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _number(words: Sequence[str], path: Path, line: int, form: Form) -> float:
    text = words[form.number]
    if not is_finite(text):
        raise DatasetError(
            f"{path}, line {line}: {text!r} is not a {form.value}, a finite number; expected {form.line}"
        )
    return float(text)


def _rank(words: Sequence[str], path: Path, line: int, form: Form) -> float:
    """The rank, behind all others where it is no number: only the order of equal scores hangs on it."""
    if form.rank is None:
        return math.inf
    text = words[form.rank]
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    value = math.inf if math.isnan(value) else value
    if len(words) > form.words and math.isinf(value):
        raise DatasetError(
            f"{path}, line {line}: more than {form.words} columns, and {text!r} is not a rank; is there a blank in a "
            f"name? expected {form.line}"
        )
    return value


@contextmanager
def understood(path: Path, form: Form) -> Iterator[None]:
    """What a file system, or what unpacks, says, in our words."""
    try:
        yield
    except DAMAGED as error:
        raise DatasetError(f"{path}: cannot be read: {error}; expected lines like {form.line}") from None

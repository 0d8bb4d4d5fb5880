"""What a cell of a table holds as text: lists and mappings, yes and no, formulas."""

from __future__ import annotations

import ast
import json
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ragbench.old.data.files import DatasetError, LeftOut, cut, normalise

Form = Literal["list", "JSON", "Python", "numpy", "mapping", "text"]
MAX_CHARACTERS = 2**22
"""Of a cell that is read as Python; JSON has no limit but the file's."""
MAX_VALUES = 100_000  # a parser's tree takes some hundred times what a value takes in the cell
LONGEST_CLASS = 30
"""Letters of the name of a class that people label by."""
MAX_DEPTH = 8  # a parser recurses, and people's lists are three deep
_BEYOND = f"a list of more than {MAX_VALUES:,} values, or more than {MAX_DEPTH} deep: split it"
_QUOTED = re.compile(r"(?:array\(\s*+)?[\[{(]\s*+(?:array\(\s*+[\[(]\s*+)*+['\"]")
_OBJECTS = re.compile(r"\[?\s*+[A-Z]\w*+\(\s*+\w++\s*+=|page_content=['\"]")
"""A document, or a list of such, as Python prints an object: `[Document(page_content='…', metadata={…})]`."""
_FOR_PEOPLE = re.compile(r"\[?\s*+(<Document: |\w*Document\(id=[^,()]*+, content: |Node ID: )")
"""Documents as Haystack and LlamaIndex print them for people, cut and without escapes."""
_TOKEN = re.compile(
    r"""(?:(?P<text>'(?:[^'\\]++|\\.)*+(?:'|\\?\Z)|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))|(?P<member><[^<>]*+>)|[\w.]++|[\])}])"""
    r"""(?P<gap>\s++(?=[\w'"\[({.<-])|(?=['"]))?""",
    re.DOTALL,
)
"""What may end a value, and the blanks by which numpy, and objects that print themselves, part it from the next."""


def held(cell: str) -> tuple[Any, Form] | None:
    """The list or the mapping that the cell is, and the form that it was written in; None for any other text.

    Lists of Python (`['a', 'b']`, also with None and nan, which are None here), of numpy (`['a' 'b']`, `array([…])`),
    tuples of texts, mappings, and JSON; nothing is ever evaluated. Texts are in NFC.
    Raises ValueError for a list that was cut (`['a' ... 'z']`), for one that begins as a list of texts and cannot be
    read as one, and for one beyond the limits.
    """
    text = cell.strip()
    if _FOR_PEOPLE.match(text):
        raise ValueError("objects as they are printed for people, which cuts them; write their texts as a list in JSON")
    is_object = _OBJECTS.match(text) is not None
    is_cut = (is_object or _QUOTED.match(text) is not None) and text.count("[") > text.count("]")
    is_list = is_object or text == "()" or text.startswith(("[", "{", "array(", "('", '("', "(None,"))
    if not is_list or (text[-1] not in "]})'\"" and not is_cut):
        return None
    if text.startswith("page_content="):
        text = f"Document({text})"
    if text[0] in "[{":
        try:
            return _plain(json.loads(text, parse_constant=lambda _: None)), "JSON"
        except (ValueError, RecursionError):
            pass
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"a list of more than {MAX_CHARACTERS:,} characters: write it as JSON")
    source, tokens = _TOKEN.subn(_as_python, text)
    try:
        value = _literal(source, tokens)
    except _NotPythonError as error:
        if text[0] != "[" if is_object else text[0] == "(" or _QUOTED.match(text) is None:
            return None
        told = str(error) or "it begins as a list of texts, and is none in JSON or in Python; write it as JSON"
        raise ValueError(told) from None
    is_numpy = source.count(",") > text.count(",") or "array(" in text
    return _plain(value), "numpy" if is_numpy and not is_object else "Python"


def opened(value: Any) -> Any:
    """The list or the mapping that a text holds, however it was written; a text that holds none, and anything else, as
    it is."""
    try:
        parsed = held(value) if isinstance(value, str) else None
    except ValueError:
        return value
    return value if parsed is None else parsed[0]


def unquoted(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row with what its cells hold, where all are JSON and two of them texts in quotes, as Langfuse writes every
    cell; any other as it is."""
    cells = {name: value for name, value in row.items() if isinstance(value, str) and value}
    with suppress(ValueError, RecursionError):
        if sum(value[0] == value[-1] == '"' for value in cells.values()) > 1:
            return {**row, **{name: json.loads(value) for name, value in cells.items()}}
    return row


def missing(value: Any) -> bool:
    """Whether nothing was given: None and NaN, also as pandas writes it into a text."""
    if isinstance(value, float):
        return math.isnan(value)
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, str) and value in _NOTHING)
    )


def native(value: Any) -> Any:
    """Numbers, columns and arrays of pandas and NumPy as Python's numbers and lists; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def by_row(value: Any) -> list[dict[Any, Any]] | None:
    """The rows of a mapping with a list, as long as all others, for each column; None for anything else."""
    cells = [*value.values()] if isinstance(value, Mapping) else []
    if not cells or not all(isinstance(own, list | tuple) and len(own) == len(cells[0]) for own in cells):
        return None
    return [dict(zip(value, own, strict=True)) for own in zip(*cells, strict=True)]


def is_frame(value: Any) -> bool:
    """Whether a value is a table of pandas, polars, pyarrow or Hugging Face's datasets."""
    return hasattr(value, "columns") or hasattr(value, "column_names")


def rows_of(given: Any, *, place: str) -> Iterator[Any]:
    """The rows of a table (`is_frame`), of a set of ragas or DeepEval, of one pydantic model, else what is given, one
    by one; pydantic's models as the fields that they were given.

    Raises DatasetError, which names the place, for what has no rows.
    """
    if not isinstance(given, list | tuple):
        given = given.collect() if hasattr(given, "collect") else given  # of polars, a query that waits
        reads = ("to_pylist", "to_dicts", "to_list")
        read = next((getattr(given, name) for name in reads if hasattr(given, name)), None)
        if read is not None or is_frame(given):
            given = given.to_dict("records") if read is None else read()
    if isinstance(given, str) or not isinstance(given, Iterable):
        rows = (getattr(given, name, None) for name in ("test_cases", "goldens", "examples"))
        if (own := next((held for held in rows if held and isinstance(held, list)), None)) is None:
            raise DatasetError(
                f"{place} = {None if given is None else cut(given)}: a data frame, a list of mappings or a mapping "
                "of lists is expected"
            )
        given = own
    for row in [given] if hasattr(given, "model_dump") else given:
        yield row.model_dump(exclude_none=True) if hasattr(row, "model_dump") else row


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """The fields of an object of a framework, a pydantic model or a data class, with its text and its role where these
    are properties; None for anything else."""
    if isinstance(value, str | list | dict):
        return None
    kind = type(value)
    names = getattr(kind, "model_fields", None) or getattr(kind, "__dataclass_fields__", None)
    if not isinstance(names, Mapping):
        names = ("id", "page_content", "metadata") if hasattr(value, "page_content") else ()
    if not names:
        return None
    there = {str(name): getattr(value, str(name), None) for name in names}
    more = ("role",) if there.keys() & {"content", "text"} else ("role", "content", "text")
    return there | {name: said for name in more if (said := getattr(value, name, None)) is not None}


@dataclass
class Forms:
    """How the lists of a table were written, field by field, and what is in none: what was understood."""

    seen: dict[str, dict[Form, Counter[int]]] = field(default_factory=dict)
    """Field → form → number of texts → how many cells have so many."""
    unread: list[str] = field(default_factory=list)
    """A sentence on what is no field, where there is any."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Rows and passages that cannot be used."""
    format: str = ""
    """The known format that the rows are of."""
    guessed: dict[str, dict[str, None]] = field(default_factory=dict)
    """Who is taken for the one who asks, and for who answers, where nothing says it."""
    labels: str = ""
    """A sentence on people's labels of the answers, where there are any."""

    @property
    def told(self) -> list[str]:
        """What a user has to know of what was not read, or not for this, in sentences."""
        left_out = f"left out: {said}" if (said := self.left_out.said) else ""
        return [*self.unread, *filter(None, [self.labels, left_out])]

    def add(self, name: str, form: Form, count: int) -> None:
        """A cell of the field `name` with `count` texts."""
        self.seen.setdefault(name, {}).setdefault(form, Counter())[count] += 1

    @property
    def notes(self) -> list[str]:
        """A sentence a field: "contexts: 5 lists of 3 texts, read from Python lists"."""
        return [
            f"{name}: {'; '.join(_told(form, counts) for form, counts in _of_one_writer(forms).items())}"
            for name, forms in self.seen.items()
        ]


def _of_one_writer(forms: Mapping[Form, Counter[int]]) -> dict[Form, Counter[int]]:
    """The forms of a field, where those that look alike belong together: Python prints `[]` as JSON does, and numpy
    `['a']` as Python does."""
    alike: tuple[Form, ...] = ("numpy", "Python", "JSON")
    merged = {form: counts for form, counts in forms.items() if form not in alike}
    if there := [form for form in alike if form in forms]:
        merged[there[0]] = sum((forms[form] for form in there), Counter())
    return merged


def _told(form: Form, counts: Counter[int]) -> str:
    cells, low, high = counts.total(), min(counts), max(counts)
    if form == "text":
        texts, empty = cells - counts[0], f"{counts[0]} empty" if counts[0] else ""
        told = f"{texts} plain text{'s' * (texts != 1)}, each taken as one" if texts else ""
        return ", ".join(filter(None, (told, empty)))
    many = f"{low}" if low == high else f"{low} to {high}"
    what = "mapping" if form == "mapping" else "list"
    said = f"{cells} {what}{'s' * (cells != 1)} of {many} text{'s' * (high != 1)}"
    origin = {"JSON": "JSON lists", "Python": "Python lists", "numpy": "numpy arrays"}.get(form)
    return f"{said}, read from {origin}" if origin else said


class _NotPythonError(Exception):
    """The text is no literal of Python or numpy; why, where that is known."""


def _as_python(token: re.Match[str]) -> str:
    """A token as Python's parser takes it: members of enumerations as texts, a comma for blanks between values."""
    is_parted = token["gap"] is not None
    text = token[0].rstrip() if is_parted else token[0]
    text = repr(text) if token["member"] else text.replace("\n", "\\n") if token["text"] else text
    return f"{text}, " if is_parted else text


def _literal(source: str, tokens: int) -> Any:
    """The list or the mapping that the source of one is. Raises ValueError for one beyond the limits."""
    if tokens > MAX_VALUES:
        raise _NotPythonError(_BEYOND)
    try:
        [node] = ast.parse(f"[{source}]", mode="eval").body.elts  # type: ignore[attr-defined]
    except (SyntaxError, ValueError, AttributeError, MemoryError, RecursionError):
        raise _NotPythonError from None
    value = _value(node, 0, within=False)
    if not isinstance(value, list | dict):
        raise _NotPythonError
    return value


def _value(node: ast.expr, depth: int, within: bool) -> Any:
    """within: whether it is a part of an object, whose own names may be any."""
    if depth > MAX_DEPTH:
        raise ValueError(_BEYOND)
    match node:
        case ast.Constant(value=str() | int() | float() | None):
            return node.value
        case ast.Constant(value=value) if value is ...:
            raise _NotPythonError("the list was cut when it was printed (…); write it whole, as JSON")
        case ast.Name(id="nan" | "NaN"):
            return None
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return [_value(part, depth + 1, within) for part in parts]
        case ast.Dict(keys=keys, values=values) if all(
            isinstance(key, ast.Constant) and isinstance(key.value, str | int) for key in keys
        ):
            names = [str(_value(key, depth + 1, within)) for key in keys if key is not None]
            return {name: _value(part, depth + 1, within) for name, part in zip(names, values, strict=True)}
        case ast.Call(func=ast.Name(id="array") | ast.Attribute(value=ast.Name(id="np" | "numpy")), args=[inner, *_]):
            return _value(inner, depth + 1, within)
        case ast.Call(func=called, keywords=named) if within or ast.unparse(called)[:1].isupper():
            return {own.arg: _value(own.value, depth + 1, True) for own in named if own.arg}
    raise _NotPythonError


def _plain(value: Any) -> Any:
    """The value with its texts in NFC, as the texts of a file are that escapes nothing."""
    if isinstance(value, str):
        return normalise(value)
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return {key: _plain(part) for key, part in value.items()} if isinstance(value, Mapping) else value


def several(texts: Iterable[str]) -> tuple[str, ...]:
    """Different texts, each once, those of blanks left out; none where there are fewer than two."""
    distinct = tuple(dict.fromkeys(text for text in texts if text.strip()))
    return distinct if len(distinct) > 1 else ()


FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guarded(text: str) -> str:
    """A text for a spreadsheet, with an apostrophe before what it would take for a formula."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULA) else text


def plain(text: str) -> str:
    """The text that `guarded` was given."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text


def _spelled(text: str, words: Mapping[str, str]) -> list[str]:
    """The names that one with braces stands for; a word of `words` in braces stands for its own."""
    if (braces := re.search(r"{([^{}]*)}", text)) is None:
        return [text]
    own = [each for word in braces[1].split() for each in words.get(word, word).split()]
    return [text[: braces.start()] + each + rest for each in own for rest in _spelled(text[braces.end() :], words)]


def _table() -> dict[str, Any]:
    table = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
    words: dict[str, str] = {}
    for word, own in table.pop("words").items():
        words[word] = " ".join(name for part in re.findall(r"{[^{}]*}|[^\s{}]+", own) for name in _spelled(part, words))
    return {
        part: {name: tuple(each for text in own for each in _spelled(text, words)) for name, own in lists.items()}
        if isinstance(lists, dict) else
        [own | {"marks": [each for mark in own.get("marks", ()) for each in _spelled(mark, words)]} for own in lists]
        for part, lists in table.items()
    }  # fmt: skip


TABLE = _table()
"""All of `vocabulary.toml`, names in braces spelled out."""
_NOTHING = {"nan", "NaN", "<NA>", "NaT", "#N/A"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def _word(text: Any) -> str:
    """A word without what does not tell two apart: case, blanks, ё, a full stop, how Unicode writes it."""
    plain = unicodedata.normalize("NFKC", str(text)).casefold().replace("ё", "е")
    return " ".join(plain.replace("_", " ").strip(" \t\n.!\ufe0f").split())


YES, NO = (frozenset(map(_word, TABLE["rows"][said])) for said in ("yes", "no"))


def verdict(value: Any) -> bool | None:
    """Whether a cell says yes, in any of the words for it, or no; None for anything else."""
    word = _word(value)
    return True if word in YES else False if word in NO else None


def mark(value: Any) -> float | None:
    """What a person gave an answer: a number, also with a decimal comma, or 1 for a word of YES and 0 for one of NO;
    None for an empty cell. Raises ValueError for anything else."""
    if value is None or not str(value).strip():
        return None
    given = decimal(str(value)) if (said := verdict(value)) is None else float(said)
    if not math.isfinite(given):
        raise ValueError("a finite number is expected")
    return given


def classed(value: Any) -> float | str | None:
    """A mark, or a word that may be the name of a class; None for nothing. Raises ValueError for a longer text."""
    try:
        return mark(None if missing(value) else value)
    except ValueError:
        if len(word := _word(value)) > LONGEST_CLASS:
            raise
        return word


def given_in(value: Any) -> Any:
    """What people gave in a list: of objects with a rater and a value by their names, the first of each; of
    several without names by their numbers; of one alone that."""
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        of_each: dict[str, Any] = {}
        for one in value:
            of_each.setdefault(str(one.get("rater") or "people"), one.get("value"))
        return of_each
    if isinstance(value, list) and len(value) > 1:
        return {str(number): one for number, one in enumerate(value, 1)}
    return value[0] if isinstance(value, list) and value else value


def flag(value: Any) -> Any:
    """True, False, or None for a mark that is not there yet, out of 0/1, booleans and words."""
    if value is not None and str(value).strip() and verdict(value) is None:
        raise ValueError("0 or 1, true or false, yes or no, or nothing is expected")
    return None if value is None else verdict(value)


NUMBER_OR_VERDICT = re.compile(r"[-+]?[\d.,]*(e[-+]?\d+)?%?|true|false|pass(ed)?|fail(ed)?", re.IGNORECASE)
_TOTALS = frozenset(map(_word, TABLE["rows"]["totals"]))


def blank(value: Any) -> bool:
    """Whether a value is a text of nothing but blanks."""
    return isinstance(value, str) and not value.strip()


def is_text(value: Any) -> bool:
    """Whether a cell holds words, or a list, and no number and no verdict."""
    if isinstance(value, str):
        return not NUMBER_OR_VERDICT.fullmatch(value.strip())
    return isinstance(value, list | tuple)


def is_total(cells: Mapping[str, Any], of_whom: Callable[[str], bool] = lambda name: False) -> str:
    """The column with the word for a total, a mean and their like, where numbers alone stand beside it; else empty.
    of_whom: whether a column may say beside it whose total it is."""
    said = {name: str(value).strip() for name, value in cells.items() if value is not None and value == value}
    words = [name for name, text in said.items() if not NUMBER_OR_VERDICT.fullmatch(text)]
    words = [name for name in words if not of_whom(name)] if len(words) == 2 else words
    told = _word(said[words[0]]).rstrip(": ") if len(words) == 1 else ""
    is_total = told in _TOTALS or (told.count(" ") < 3 and "?" not in told and told.partition(" ")[0] in _TOTALS)
    return words[0] if is_total else ""


def choices_of(given: Any) -> dict[str, str]:
    """Label → text of the choices of a question, which stand in a list, under their labels, or beside a list of these;
    without labels letters, and places from 0. Empty for anything else."""
    if isinstance(given, Mapping) and isinstance(texts := given.get("text"), list):
        given = dict(zip(map(str, given.get("label") or ()), texts, strict=False)) or texts
    if isinstance(given, list) and all(isinstance(own, Mapping) and {"text", "label"} <= own.keys() for own in given):
        given = {str(own["label"]): own["text"] for own in given}
    if isinstance(given, list):
        given = {named: text for place, text in enumerate(given) for named in (chr(ord("A") + place), str(place))}
    named = {label: text for label, text in given.items() if text is not None} if isinstance(given, Mapping) else {}
    is_of_texts = all(isinstance(text, str | int | float) for text in named.values())
    return {str(label).upper(): str(text) for label, text in named.items()} if is_of_texts else {}


def chosen(named: Any, choices: Mapping[str, str]) -> Any:
    """The text of the choice that a label names; what names none as it is. Raises ValueError for a place behind the
    last, for places are counted from 1 then."""
    if not isinstance(named, str | int) or named in choices.values():
        return named
    label, count = str(named).strip("(). :\n").upper(), str(len(choices) // 2)
    if label == count and label not in choices and "0" in choices:
        raise ValueError(f"{label} of {count} choices: their places are from 0; write letters, A to D, or their texts")
    return choices.get(label, named)


_PRINTED = {what: ([*map(re.compile, signs)], instead) for what, (*signs, instead) in TABLE["printed"].items()}


def printed(text: str) -> str:
    """What a program made that was to be read by people, and what is read instead; empty for any other text."""
    text = text.lstrip()
    for what, (signs, instead) in _PRINTED.items():
        if any(sign.search(text) for sign in signs):
            return f"{what}: {instead}"
    return ""


def decimal(text: str) -> float:
    """The number in a cell's text, also with a decimal comma. Raises ValueError for anything else."""
    return float(text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text.strip()) else text)


_TEXTS = frozenset(map(str.casefold, TABLE["parts"]["texts"]))
_WRAPS = ("document", "node", "kwargs", *TABLE["parts"]["abouts"])
"""Names of objects that a passage with its text may stand in."""
_NO_PASSAGE = re.compile(
    r"[!-~]+|\w+://\S+|\S+\.[A-Za-z]{2,5}|[^\n]{1,150}\.(pdf|docx?|xlsx?|pptx?|txt|md|html?|csv|json)"
)


def is_source(value: Any) -> bool:
    """Whether a cell names where passages are from, by files, addresses or titles, or counts them, and holds none."""
    parts = opened(value)
    return all(
        not (_TEXTS & {str(name).casefold() for name in part} or any(isinstance(part.get(n), Mapping) for n in _WRAPS))
        if isinstance(part, Mapping)
        else isinstance(part, int | float) or (isinstance(part, str) and _NO_PASSAGE.fullmatch(part.strip()))
        for part in (parts if isinstance(parts, list) else [parts])
    )  # fmt: skip


def whole(names: Any) -> Any:
    """Names in a column of Arrow, without the fraction that pandas gives whole numbers, 7.0, where all have it."""
    from pyarrow import compute

    if not (len(names) and str(names[0]).endswith(".0")):
        return names
    is_whole = compute.all(compute.match_substring_regex(names, r"^[0-9]+\.0$")).as_py()
    return compute.replace_substring_regex(names, r"\.0$", "") if is_whole else names

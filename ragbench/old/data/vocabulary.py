"""What people call the fields of their tables, in English and Russian, and known layouts: one for every reader."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from ragbench.old.data.cells import TABLE, opened

FIELDS: dict[str, tuple[str, ...]] = TABLE["fields"]
RARELY: dict[str, tuple[str, ...]] = TABLE["rarely"]
JUDGED: dict[str, tuple[str, ...]] = TABLE["judged"]
READS: dict[str, tuple[str, ...]] = TABLE["reads"]
PARTS = SimpleNamespace(**TABLE["parts"])
"""Names of the members of what a program puts into one field: `PARTS.texts` of a passage …"""
PARTED = ("contexts", "reference_contexts", "reference", "choices")
"""Fields that may be parted into numbered columns: `context_1`, `context_2` …; choices have letters, too."""
NUMBERED = re.compile(r"(.*[^\W\d_])(?:[\s_.№#-]*(\d+)|[\s_.-]+([A-Ja-jА-Еа-е]))")
UNSIGNED = ("value", "score")
"""Names of a column beside answers that may hold anybody's number: a person's label only where raters are named."""

CONTENT = ("user_input", "response", "reference", "contexts", "reference_contexts", "messages")
"""Fields that are measured: two columns that could be one of them are refused where they differ."""
OF_A_ROW = ("id", "system", "value", "rater", "context_ids")
"""Fields that a member of what holds a whole row may be, too, as `row.model` is."""
SPOKEN = {"user_input": "question", "response": "answer", "value": "label"}
"""What fields are called where a user is told of them, if not by their own name."""
LEGAL = "question, answer, reference, contexts, reference_contexts, id, system"
"""The fields of a table of answers, as they are named where none is there."""


def key(name: Any) -> str:
    """A name without what does not tell two apart: `Ground Truths` and `groundTruth`, `Score` and `Score (1-5)`."""
    text = _IDLE.sub("", bare(unicodedata.normalize("NFKC", str(name))).casefold().replace("ё", "е"))
    is_plural = len(text) > 3 and text[-1] == "s" and text[-2] not in "su" and not text.endswith("ids")
    return text[:-1] if is_plural and text not in _PLURALS else text


def bare(name: str) -> str:
    """A name without its number in a form, `2. Answer`, the scale of its marks, `Score, 1-5`, and a colon behind it."""
    name = name.strip(" \t\n:*")
    has_more = name[:1].isdigit() or not _SIGNS.isdisjoint(name)
    return _SCALE.sub("", _of_a_form(name)).strip(" :*") if has_more else name


def _of_a_form(name: str) -> str:
    return _IN_A_FORM.sub("", " ".join(name.split())).strip(" :*")


_IDLE = re.compile(r"[\W_]+")
_SIGNS = frozenset("([-–—…/")
_IN_A_FORM = re.compile(r"^\d{1,3} ?[.)] ?(?=[^\W\d_])")
_MEANS = r" ?[=–—-][^\d()\[\]]+"
_SCALE = re.compile(
    rf" ?([(\[] ?(from |от )?\d{{1,3}}( ?([-–—/…]|\.{{2,}}) ?| (to|до) |{_MEANS})\d{{1,3}}({_MEANS})? ?[)\]]"
    r"|[ ,:]{1,3}\d{1,3} ?[-–—…] ?\d{1,3}| / ?\d{1,9})$",
    re.IGNORECASE,
)
"""The scale of marks at the end of a name: `(1-5)`, `(from 1 to 5)`, `(1 = bad, 5 = good)`, `, 1-5`, ` / 10`."""
_PLURALS = {"answers", "questions", "responses", "results", "expectedanswers", "turns", "hits"}
"""Names that mean another field than without their s: of several answers each is a reference."""
_KNOWN = {key(name): field for field, own in FIELDS.items() for name in own}
NOBODYS = frozenset(map(key, FIELDS["value"][: FIELDS["value"].index("разметка") + 1]))
"""Names of marks that say nothing of a rater: of two such columns each is of another thing."""
_SIDES = {key(name): field for field, own in TABLE["sides"].items() for name in own}
_RARE = {key(name): field for field, own in RARELY.items() for name in own}


@dataclass(frozen=True)
class Format:
    """A known layout of rows: how it is told, and which field its columns are where the vocabulary would not say so.

    marks: sets of columns, any of which tells it; of one without any the row holds objects. when: a path of JMESPath
    that finds something in a row of it alone. takes: column → field; "" is nobody's. holds: column → the path to it.
    opens: columns whose objects' members are columns, too. parted: what parts the passages of a cell. instead: what
    readers without the fields that it takes are told.
    """

    name: str
    marks: tuple[frozenset[str], ...]
    takes: Mapping[str, str] = field(default_factory=dict)
    opens: tuple[str, ...] = ()
    parted: str = ""
    instead: str = ""
    when: str = ""
    holds: Mapping[str, str] = field(default_factory=dict)

    def place(self, column: str) -> str:
        """Where a row has what a column would hold: its own name for any that is there."""
        path = re.match(r"(?:{nodes: |\[)?([\w.]*\w)", self.holds.get(column, ""))
        return path[1] if path else column

    def held(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What stands at the paths of a row, as columns."""
        found = {name: at(path, row) for name, path in self.holds.items()}
        return {name: _distinct(value) for name, value in found.items() if value is not None and value != []}


FORMATS = tuple(
    Format(
        told["name"],
        tuple(frozenset(map(key, mark.split())) for mark in told["marks"]),
        {key(column): taken for column, taken in told.get("takes", {}).items()},
        tuple(map(key, told.get("opens", "").split())),
        **{name: told[name] for name in ("parted", "instead", "when", "holds") if name in told},
    )
    for told in TABLE["formats"]
)


def field_of(name: Any) -> str:
    """The field that a column of this name is; empty for any other name."""
    return _KNOWN.get(key(name), "")


def _within(side: str, own: str) -> str:
    """The field of a member called as own is, on this side: what is said among references is one."""
    return side if side != "user_input" and own in ("response", "reference") else own


@lru_cache(maxsize=1024)
def fields_in(columns: tuple[Any, ...]) -> tuple[str, ...]:
    """The field of each of these columns, as `field_of` says."""
    return tuple(map(field_of, columns))


def rarely(name: Any) -> str:
    """The field that a column of this name is where no other is; empty for any other name."""
    return _RARE.get(key(name), "") or _of_member(str(name), lambda last: _RARE.get(key(last), ""), ("system",))


def at(path: str, row: Mapping[str, Any]) -> Any:
    """What stands at a path of JMESPath in a row, whose cells may hold JSON; None where nothing does."""
    import jmespath

    try:
        return jmespath.search(path, {name: opened(value) if name in path else value for name, value in row.items()})
    except jmespath.exceptions.JMESPathTypeError:  # of a function that takes another kind of value
        return None


def _distinct(value: Any) -> Any:
    is_of_names = isinstance(value, list) and all(isinstance(part, str | int) for part in value)
    return [*dict.fromkeys(value)] if is_of_names else value


@lru_cache(maxsize=1024)
def _formats(columns: tuple[str, ...]) -> tuple[Format, ...]:
    there = {*map(key, columns), *(key(part) for part in map(part_of, columns) if part == "choices")}
    return tuple(layout for layout in FORMATS if any(there >= marks for marks in layout.marks))


def format_of(row: Mapping[str, Any]) -> Format | None:
    """The known layout that a row is of; None for any other."""
    for layout in _formats(tuple(map(str, row))):
        may_be = layout.marks[0] or any(isinstance(value, Mapping) for value in row.values())
        if not layout.when or (may_be and at(layout.when, row)):
            return layout
    return None


def of_side(name: Any) -> str:
    """What the members of a column of this name are, as those of `inputs` are asked; empty for any other name."""
    return _SIDES.get(key(name), "")


def of_member(name: str) -> str:
    """The field of a column that is a member of another, as `inputs.question` and `outputs.answer` are; else empty."""
    is_row = "." in name and of_side(bare(name).partition(".")[0]) == "user_input"
    more = OF_A_ROW if is_row and key(name.rpartition(".")[2]) not in UNSIGNED else ()
    return _of_member(name, lambda last: _KNOWN.get(key(last), "") or part_of(last), more)


def _of_member(name: str, called: Callable[[str], str], more: Sequence[str]) -> str:
    """called: the field of the last part of a name. more: fields that it may be beside CONTENT."""
    if "." not in name:
        return ""
    head, _, rest = bare(name).partition(".")
    side, own = of_side(head), called(rest.rpartition(".")[2])
    return _within(side, own) if rest and side and own in (*CONTENT, *more) else ""


def part_of(name: str) -> str:
    """The field that a numbered column is a part of: passages, a reference, or what one person gave; else empty."""
    of_a_person = _MARK_OF_A_PERSON.fullmatch(bare(name))
    numbered = NUMBERED.fullmatch(of_a_person[1] if of_a_person else bare(name))
    if numbered is None or key(name) in _KNOWN or key(numbered[1]) in UNSIGNED:
        return ""
    part = _KNOWN.get(key(numbered[1]), "")
    if (numbered[3] and part != "choices") or (of_a_person and part != "rater"):
        return ""
    return part if part in PARTED else "value" if part in ("value", "rater") else ""


def raters_of(columns: Iterable[str]) -> list[str]:
    """The columns that hold what one person gave, by their names: `expert 1`, `Оценка асессора 2`."""
    return [name for name in columns if part_of(name) == "value"]


def spoken(field: str) -> str:
    """What a field is called where a user is told of it."""
    return SPOKEN.get(field, field)


def is_content(name: Any) -> bool:
    """Whether a column of this name is a question, an answer, a reference or passages."""
    return (field_of(name) or of_member(str(name))) in (*CONTENT, "questions")


_ANSWERS = "answer|response|output|prediction|reply|ответ"
_MARKS = "rating|label|grade|оценка|метка|балл"
_MARK_OF_A_PERSON = re.compile(rf"(.*\d)[\s_-]+(score|{_MARKS})", re.IGNORECASE)
_OF_SYSTEM = re.compile(
    rf"(?:(.*?[^\s_.:-])[\s_.:-]++({_ANSWERS}|{_MARKS}|contexts?|documents?|контекст)"
    rf"|({_ANSWERS}|{_MARKS}|contexts?|контекст)(?:[\s_.:-]++|(?=\d))(.+))",
    re.IGNORECASE,
)


_TWICE = re.compile(r"([^()]+)\(([^()]+)\)")
"""A name with another one for the same in brackets."""


def of_one_system(name: str) -> tuple[str, str]:
    """System and field of a column, `gpt` and response of `gpt_answer`; the reference alone of `Answer (gold)` and of
    `Golden answer (ground truth)`."""
    if (parts := _OF_SYSTEM.fullmatch(_of_a_form(name))) is None:
        twice = _TWICE.fullmatch(name.strip())
        both = {field_of(part) for part in twice.groups()} if twice else set()
        return "", "reference" if both == {"reference"} else ""
    system, what = (parts[1], parts[2]) if parts[1] else (parts[4], parts[3])
    if parts[4] and key(system) in _NO_SYSTEM:
        return "", ""
    own, words = _KNOWN.get(key(what), ""), re.findall(r"\w[\w ]*", system)
    is_right = own == "response" and any(field_of(word) == "reference" for word in words)
    return ("", "reference") if is_right else (system.strip(" _-.:[]()"), own)


_HINTS: dict[str, tuple[str, ...]] = TABLE["hints"]
_NO_SYSTEM = frozenset(map(key, _HINTS["no_system"]))
NO_TEXT = re.compile("|".join(_HINTS["no_text"]), re.IGNORECASE)
ASKED = re.compile("|".join(_HINTS["asked"]), re.IGNORECASE)
PROMPT = re.compile("|".join(_HINTS["prompt"]), re.IGNORECASE)


def guess(name: str, left: Sequence[str]) -> str:
    """Which of these fields a column that nobody knows may be, by its name; empty where it is like none."""
    plain = key(name)
    if ASKED.search(name) or ASKED.search(bare(name)):
        return "value" if "value" in left else ""
    if NO_TEXT.search(plain):
        return ""
    for field_name in _HINTS:
        if field_name in left and any(hint in plain for hint in _HINTS[field_name]):
            return field_name
    known = [] if plain in _KNOWN else [name for name, meant in _KNOWN.items() if meant in left]
    near = difflib.get_close_matches(plain, known, 1, 0.8)
    return _KNOWN[near[0]] if near else ""

"""What people call the fields of their tables, and yes and no in them, in English and Russian: one for every reader."""

from __future__ import annotations

import difflib
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType, SimpleNamespace
from typing import Any

from ragbench.core import names, settings
from ragbench.core.expectations import shown
from ragbench.core.segmentation import language_of
from ragbench.data.cells import (
    TABLE,
    blank,
    choices_of,
    chosen,
    fields_of,
    given_in,
    is_source,
    is_text,
    mark,
    missing,
    native,
    opened,
    unquoted,
)
from ragbench.data.files import DatasetError, cut, cut_list, require_narrow

FIELDS: dict[str, tuple[str, ...]] = TABLE["fields"]
RARELY: dict[str, tuple[str, ...]] = TABLE["rarely"]
JUDGED: dict[str, tuple[str, ...]] = TABLE["judged"]
READS: dict[str, tuple[str, ...]] = TABLE["reads"]
PARTS = SimpleNamespace(**TABLE["parts"])
"""Names of the members of what a program puts into one field: `PARTS.texts` of a passage …"""
PARTED = ("contexts", "reference_contexts", "reference", "choices")
"""Fields that may be parted into numbered columns: `context_1`, `context_2` …; choices have letters, too."""
_NUMBERED = re.compile(r"(.*[^\W\d_])(?:[\s_.№#-]*(\d+)|[\s_.-]+([A-Ja-jА-Еа-е]))")
UNSIGNED = ("value", "score")
"""Names of a column beside answers that may hold anybody's number: a person's label only where raters are named."""

CONTENT = ("user_input", "response", "reference", "contexts", "reference_contexts", "messages")
"""Fields that are measured: two columns that could be one of them are refused where they differ."""
SPOKEN = {"user_input": "question", "response": "answer", "value": "label"}
"""What fields are called where a user is told of them, if not by their own name."""


def key(name: Any) -> str:
    """A name without what does not tell two apart: `Ground Truths` and `groundTruth`, `Score` and `Score (1-5)`."""
    text = _IDLE.sub("", unicodedata.normalize("NFKC", str(name)).casefold().replace("ё", "е"))
    is_plural = len(text) > 3 and text[-1] == "s" and text[-2] not in "su" and not text.endswith("ids")
    return text[:-1] if is_plural and text not in _PLURALS else text


_IDLE = re.compile(r"\s*\(\d+\s*[-–—/.…]+\s*\d+\)\s*$|[\W_]+")
_PLURALS = {"answers", "questions", "responses", "results", "expectedanswers", "turns", "hits"}
"""Names that mean another field than without their s: of several answers each is a reference."""
_KNOWN = {key(name): field for field, own in FIELDS.items() for name in own}
_NOBODYS = frozenset(map(key, FIELDS["value"][: FIELDS["value"].index("разметка") + 1]))
"""Names of marks that say nothing of a rater: of two such columns each is of another thing."""
_NULL = {"None", "NULL", "null"}
"""What databases and Python print for nothing: of a passage it is nothing, of an answer it may be one."""
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
    there = {*map(key, columns), *(key(part) for part in map(_part, columns) if part == "choices")}
    return tuple(layout for layout in FORMATS if any(there >= marks for marks in layout.marks))


def format_of(row: Mapping[str, Any]) -> Format | None:
    """The known layout that a row is of; None for any other."""
    for layout in _formats(tuple(map(str, row))):
        may_be = layout.marks[0] or any(isinstance(value, Mapping) for value in row.values())
        if not layout.when or (may_be and at(layout.when, row)):
            return layout
    return None


def _of_member(name: str) -> str:
    """The field of a column that is a member of another, as `inputs.question` and `outputs.answer` are; else empty."""
    head, _, rest = name.partition(".")
    side, own = _SIDES.get(key(head), ""), _KNOWN.get(key(rest.rpartition(".")[2]), "")
    if not rest or not side or own not in CONTENT:
        return ""
    return side if side != "user_input" and own in ("response", "reference") else own


def _part(name: str) -> str:
    """The field that a numbered column is a part of: passages, a reference, or what one person gave; else empty."""
    numbered = _NUMBERED.fullmatch(name)
    if numbered is None or key(name) in _KNOWN or key(numbered[1]) in UNSIGNED:
        return ""
    part = _KNOWN.get(key(numbered[1]), "")
    if numbered[3] and part != "choices":
        return ""
    return part if part in PARTED else "value" if part in ("value", "rater") else ""


def raters_of(columns: Iterable[str]) -> list[str]:
    """The columns that hold what one person gave, by their names: `expert 1`, `Оценка асессора 2`."""
    return [name for name in columns if _part(name) == "value"]


def spoken(field: str) -> str:
    """What a field is called where a user is told of it."""
    return SPOKEN.get(field, field)


def is_content(name: Any) -> bool:
    """Whether a column of this name is a question, an answer, a reference or passages."""
    return field_of(name) in (*CONTENT, "questions")


class AmbiguousError(DatasetError):
    """Two columns of a table could be one field, or a column that was named is not there."""


@dataclass
class _Plan:
    """Which columns are which field, of rows with the same columns."""

    format: Format | None
    fields: Mapping[str, Sequence[str]]
    joined: Set[str]
    opened: Sequence[str]
    unread: Sequence[str]
    rare: Mapping[str, Sequence[str]]


class Columns:
    """Tells which column of a table is which field, and which are none.

    given: field → column, by any names, as `--column answer=bot_answer` and [columns] of ragbench.toml say it: of
    several columns, parted by commas, each is what one system answered, or what one person gave as a label. only: the
    fields that the reader knows. takes: column → field, where the reader means another one by that name than FIELDS,
    the likelier name first. strict: a column of `given` that is not there is an error; else it is `lacking`.
    """

    def __init__(
        self,
        given: Mapping[str, Any] | None = None,
        only: Iterable[str] = FIELDS,
        takes: Mapping[str, str] = MappingProxyType({}),
        *,
        strict: bool = True,
    ) -> None:
        self._only = frozenset(only)
        self._takes = {key(column): field_name for column, field_name in takes.items()}
        self._given = {**_checked(settings.load().columns), **(explicit := _checked(given or {}))}
        self._needed, self._strict = set(explicit), strict
        self._plans: dict[tuple[tuple[str, ...], str], _Plan] = {}
        self._scale: dict[bool, Any] = {}
        self._lacking: dict[str, str] = {}
        self._told = Counter[str]()
        self.unread: dict[str, bool] = {}  # whether its first cell is a text
        self.read: dict[str, str] = {}
        self.format = ""

    def of(self, row: Mapping[Any, Any], place: str) -> dict[str, Any]:
        """Field → value, of those that are there: None and NaN are not.

        Raises AmbiguousError for two columns that could be one field of CONTENT and differ, naming both and what
        decides, and for a column of `given` that is not there.
        """
        require_narrow(row, place)
        row = unquoted({str(name): value for name, value in row.items()})
        if told := format_of(row):
            row = {**row, **told.held(row)}
        plan = self._plan(row, place, told)
        for name in plan.opened:
            if (inner := _opened(row[name])) is None:
                continue
            is_told = told is not None and key(name) in told.opens
            is_own = bool(field_of(name)) and not is_told  # its references are sources, its only text its content
            aside = {"references": is_own, "content": is_own and field_of(name) not in map(field_of, inner)}
            members = {str(own): value for own, value in inner.items() if own not in row and not aside.get(own)}
            takes, legal = (told.takes, self._only) if told and is_told else ({}, self._only & {*CONTENT})
            inside = {
                takes.get(key(own), field_of(own)) for own, value in members.items() if not missing(value)
            } & legal
            if inside:  # an object in which nothing is called an answer may be one, as a whole
                is_spent = field_of(name) in {"", *inside} or all(field_of(own) in inside for own in inner)
                row = {**members, **{own: value for own, value in row.items() if own != name or not is_spent}}
        if plan.opened:
            plan = self._plan(row, place, told or format_of(row))
        values: dict[str, Any] = {}
        has_answers, wanted = "response" in self.read, self._only - plan.fields.keys()
        for field_name, columns in plan.fields.items():
            there = [name for name in columns if not missing(row.get(name))]
            nulls = {name for name in there if isinstance(row[name], str) and row[name] in _NULL}
            if nulls and field_name in PARTED[:2]:
                there = [name for name in there if name not in nulls]
            elif nulls and field_name in CONTENT:
                self._told[
                    f"{there[0]}: {{}} × None or NULL is taken for a text; leave a cell empty where nothing was given"
                ] += 1
            there = [name for name in there if not blank(row[name])] or there
            may_be_right = field_name == "response" and len(there) > 1 and "reference" in wanted
            right = [n for n in there if may_be_right and key(n) == "answer" and _is_right(opened(row[n]))]
            if right:
                values["reference"], there = opened(row[right[0]]), [name for name in there if name not in right]
                self.read.setdefault("reference", right[0])
            if all(blank(row[name]) for name in there):  # an instruction beside an empty input is the question
                there = [name for name in plan.rare.get(field_name, ()) if not blank(row.get(name) or "")] or there
            if field_name == "contexts" and there and key(there[0]) in _RARE and is_source(row[there[0]]):
                self.unread.update(dict.fromkeys(there, False))
            elif there:
                values[field_name] = self._one(field_name, there, row, place, field_name in plan.joined)
                there = [told.place(name) if told else name for name in there]
                self.read.setdefault(field_name, ", ".join(there) if field_name in plan.joined else there[0])
        for name in plan.unread:
            self.unread.setdefault(name, is_text(row.get(name)))
        if (
            not has_answers
            and "user_input" in values
            and "reference" in self._only - values.keys()
            and _is_right(opened(values.get("response")))
            and key(plan.fields["response"][0]) == "answer"
        ):  # a set of questions
            values["reference"] = opened(values.pop("response"))
            self.read["reference"] = self.read.pop("response", plan.fields["response"][0])
        for field_name in ("response", "reference"):
            if isinstance(is_yes := values.get(field_name), bool):
                values[field_name] = YES_OR_NO[language_of(str(values.get("user_input", "")))][not is_yes]
        if "value" in values:
            values["value"] = given_in(opened(values["value"]))
            self._require_one_scale(values["value"], place)
        if isinstance(system := values.get("system"), str) and (
            len(system.split()) > 12 or _PROMPT.search(system.strip())
        ):
            del values["system"], self.read["system"]
            self._told["system: {} × instructions to a model, which name no system"] += 1
        if choices := choices_of(opened(values.pop("choices", None))):
            for field_name in {"reference", "response"} & values.keys():
                try:
                    values[field_name] = chosen(values[field_name], choices)
                except ValueError as error:
                    raise AmbiguousError(f"{place}: {self.read[field_name]}: {error}") from None
        if isinstance(text := values.get("reference"), str) and _SEVERAL.search(plan.fields.get("reference", [""])[0]):
            values["reference"] = text.split("|") if "|" in text and text[0] not in "[{|" else text
        if plan.format and plan.format.parted:
            for field_name in ("contexts", "reference_contexts"):
                if isinstance(text := values.get(field_name), str) and not text.lstrip().startswith("["):
                    values[field_name] = [part for part in text.split(plan.format.parted) if part.strip()]
            if isinstance(texts := values.get("reference"), list):
                parts = (part.strip() for text in texts for part in str(text).split(plan.format.parted))
                values["reference"] = [*filter(None, parts)]
        return values

    def _require_one_scale(self, given: Any, place: str) -> None:
        """Raises AmbiguousError for a word for yes or no among numbers from 2, where it would be 1 or 0."""
        for cell in given.values() if isinstance(given, Mapping) else [given]:
            with suppress(ValueError):
                is_word = not any(map(str.isdigit, str(cell)))
                if (rate := mark(cell)) is not None and (is_word or not 0 <= rate <= 1):
                    self._scale.setdefault(is_word, cell)
        if len(self._scale) == 2:
            raise AmbiguousError(
                f"{place}: {self.read['value']} holds {cut(self._scale[True])}, which is 0 or 1, and the number "
                f"{cut(self._scale[False])}: leave the cells of one of them empty, or name another column, "
                "--column label=COLUMN"
            )

    def answers(self, row: Mapping[Any, Any], place: str) -> Iterator[dict[str, Any]]:
        """The same, once for each system of a wide table: `gpt_answer` and `llama_answer` are what two answered."""
        values = self.of(row, place)
        wide = self._wide(row, values)
        if not wide:
            yield values
        for system, columns in wide.items():
            for field_name, name in columns.items():
                self.read.setdefault(field_name, ", ".join(own.get(field_name, "") for own in wide.values()))
                self.unread.pop(name, None)
            said = {field_name: row[name] for field_name, name in columns.items()}
            if _OF_PROVIDER.fullmatch(columns["response"]) and isinstance(said["response"], str):
                said["response"] = _VERDICT.sub("", said["response"])
            yield {**values, "system": system, **said}

    @property
    def lacking(self) -> dict[str, str]:
        """Field → the column that was named for it and is not there."""
        return {own: name for own, name in self._lacking.items() if own in self._needed and own not in self.read}

    def notes(self) -> list[str]:
        """A sentence on the columns that are not read, where there are any, with a guess at what they are."""
        unread = [name for name in self.unread if name not in self.read.values()]
        guesses = "; ".join(self.guesses(unread))
        said = f"not read, as no field is called so: {cut_list(unread)}{f' ({guesses})' if guesses else ''}"
        lacking = (
            f"[columns] of ragbench.toml: the {spoken(field_name)} is no column {name}"
            for field_name, name in self._lacking.items()
            if field_name in self._only - self.read.keys() - self._needed
        )
        told = (sentence.format(count) for sentence, count in self._told.items())
        return [*([said] if unread else []), *lacking, *told]

    def guesses(self, unread: Iterable[str]) -> Iterator[str]:
        """What columns that nobody knows could be, among the fields that nothing else is."""
        may_be = (*CONTENT, "value", *(["system"] if "response" in self.read else []))
        left = [own for own in may_be if own in self._only - self.read.keys() - {"messages"}]
        if not self.read and any(name.rstrip().endswith("?") or name.isdigit() for name in unread):
            yield "its first line names no column: write one above it, such as question,answer"
            return
        systems = [n for n in unread if self.unread.get(n) and not (field_of(n) or _NO_TEXT.search(key(n)))]
        if "response" in left and "user_input" in self.read and not self.format and len(systems) > 1:
            yield f"are these answers of several systems? --column {shlex.quote('answer=' + ','.join(systems))}"
            unread = [name for name in unread if name not in systems]
        for name in unread:
            other = "" if field_of(name) else _of_one_system(name)[1]
            if field_of(name) in ("", "rater") and (guess := _guess(name, left)):
                left.remove(guess)
                yield f"is {name} the {spoken(guess)}? --column {shlex.quote(f'{spoken(guess)}={name}')}"
            elif other == "response" and not _NO_TEXT.search(key(name)) and (own := self.read.get("response")):
                what = f"what another system answered? --column {shlex.quote(f'answer={own},{name}')}"
                if "reference" in left:
                    what = f"the reference? --column {shlex.quote(f'reference={name}')}, or {what}"
                yield f"is {name} {what}"

    def _plan(self, row: Mapping[str, Any], place: str, told: Format | None) -> _Plan:
        at = tuple(row), told.name if told else ""
        if at in self._plans:
            return self._plans[at]
        keys = {name: key(name) for name in row if name}
        named = self._named(at[0], place)
        reads = named or (self._only & {*(told.takes.values() if told else ())} and not (told and told.when))
        is_else = told and (told.when or not {"user_input", "response"} & {*map(field_of, row)})
        if told and told.instead and is_else and not reads:
            raise DatasetError(f"{place}: {told.name}: {told.instead}")
        takes = {**self._takes, **(told.takes if told else {})}
        order = {name: place for place, name in enumerate(takes)}
        fields = {own: columns for own, columns in named.items() if len(columns) == 1 or own == "value"}
        rare: dict[str, list[str]] = {}
        joined = Counter[str]()
        unsigned = "contexts" in self._only and "rater" not in map(_KNOWN.get, keys.values())
        whole = told if told and "" in told.takes else None
        objects = {name for name in keys if whole and name not in whole.holds and isinstance(row[name], Mapping)}
        given, wanted = objects.union(*named.values()), self._only - named.keys()
        for name, plain in keys.items():
            if name in given or (plain in UNSIGNED and unsigned):
                continue
            part, cell = _part(name), None if missing(row[name]) else row[name]
            system, right = _of_one_system(name)
            field_name = takes.get(plain, _KNOWN.get(plain) or part or _of_member(name) or ("" if system else right))
            if plain in ("result", "results") and field_name == "response" and isinstance(opened(row[name]), list):
                field_name = "contexts"  # of a search
            is_of_a_person = field_name == "value" and unsigned and plain not in _NOBODYS
            joined[field_name] += plain in takes or bool(part and field_name == part) or is_of_a_person
            seldom = "" if plain in takes or (plain == "a" and "b" in keys.values()) else _RARE.get(plain, "")
            if field_name in wanted:
                fields.setdefault(field_name, []).append(name)
            elif seldom in wanted and (seldom != "messages" or blank(cell) or isinstance(opened(cell), list | None)):
                rare.setdefault(seldom, []).append(name)
        if "rater" in fields and "value" in wanted - fields.keys():  # who says something is asked something
            asked = [name for name in keys if field_of(name) in ("", "rater") and _ASKED.search(name)]
            fields |= {"value": asked} if len(asked) == 1 else {}
        if "value" not in fields:
            fields.pop("rater", None)  # nobody can have given nothing
        for field_name, own in rare.items():
            is_history = field_name == "messages" and "user_input" in {*fields, *rare}
            if field_name not in fields and not is_history:
                fields[field_name] = own
            elif field_name == "contexts" and keys[own[0]] == "evidence" and "reference_contexts" not in fields:
                fields["reference_contexts"] = own
        for field_name, own in fields.items():
            own.sort(key=lambda name: (order.get(keys[name], -1), keys[name] != key(FIELDS[field_name][0])))
        self.format = self.format or (told.name if told else "")
        inside = [name for name in keys if told and keys[name] in told.opens]
        inside += [name for part in ("user_input", "response") for name in fields.get(part, ()) if _opened(row[name])]
        spent = given.union(inside, *fields.values(), (name for name in keys if takes.get(keys[name]) == ""))
        unread = [name for name, plain in keys.items() if name not in spent and not plain.startswith("unnamed")]
        several = {own for own, count in joined.items() if count > 1} | {own for own in named if len(named[own]) > 1}
        if len(self._plans) > 1000:
            self._plans.clear()
        return self._plans.setdefault(at, _Plan(told, fields, several, list(dict.fromkeys(inside)), unread, rare))

    def _named(self, columns: Sequence[str], place: str) -> dict[str, list[str]]:
        """Field → the columns that were given for it, as they stand in the table."""
        by_field = {}
        for field_name, given in self._given.items():
            wanted = given if isinstance(given, list) else [given] if _in(given, columns) else given.split(",")
            own = [_in(name.strip(), columns) for name in wanted]
            if field_name in self._needed and None in own and self._strict and not self.read:
                name, has = wanted[own.index(None)].strip(), f"; it has {cut_list(columns)}"
                raise AmbiguousError(f"{place}: there is no column {name!r}{names.meant(name, list(columns)) or has}")
            if there := [name for name in own if name is not None]:
                by_field[field_name] = there
            else:
                self._lacking[field_name] = f"{wanted[0]}{names.meant(wanted[0], list(columns))}"
        return by_field

    def _one(self, field_name: str, there: Sequence[str], row: Mapping[str, Any], place: str, joined: bool) -> Any:
        first = row[there[0]]
        if field_name == "value" and joined:
            return {name: row[name] for name in there}
        if field_name == "choices" and joined:
            return {found[2] or found[3]: row[name] for name in there if (found := _NUMBERED.fullmatch(name))}
        if len(there) == 1 or len({repr(row[name]) for name in there}) == 1:
            return native(first)
        if joined and field_name in CONTENT:
            parts = [native(opened(row[name])) for name in there]
            return [value for part in parts for value in (part if isinstance(part, list) else [part])]
        if field_name == "reference":  # a list that has what all other columns hold contradicts none
            lists = {name: own for name in there if isinstance(own := native(opened(row[name])), list | tuple)}
            for name, own in lists.items():
                if all(row[other] in own for other in there if other != name):
                    return [native(first), *(value for value in own if value != first)]
        if field_name not in CONTENT or key(there[0]) == key(FIELDS[field_name][0]):
            self.unread.update(dict.fromkeys(there[1:], False))
            return native(first)
        said = spoken(field_name)
        likely = sorted(there, key=lambda name: key(name) == "answer")  # the right one may be called so, too
        which = " or ".join(f"--column {shlex.quote(f'{said}={name}')}" for name in likely)
        raise AmbiguousError(
            f"{place}: the columns {' and '.join(there)} differ, and either could be the {said}: say which, {which} "
            f"(columns = {{{said!r}: {likely[0]!r}}} in Python), or leave one out"
        )

    def _wide(self, row: Mapping[Any, Any], values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """System → field → column, of a table with a column of answers for each system."""
        columns = [str(name) for name in row]
        given = self._named(columns, "").get("response", ())
        wide: dict[str, dict[str, str]] = {}
        if len(given) > 1:
            return {name: {"response": name} for name in given}
        if "response" in values or "system" in values:
            return {}
        if providers := {told[1]: name for name in columns if (told := _OF_PROVIDER.fullmatch(name))}:
            return {system: {"response": name} for system, name in providers.items()}
        for name, (system, field_name) in zip(columns, map(_of_one_system, columns), strict=True):
            is_of_it = field_name == "value" or name.startswith(system) or not _NO_TEXT.search(key(name))
            if field_name and (is_of_it or is_text(row[name])) and not (_of_member(name) or _KNOWN.get(key(name))):
                wide.setdefault(system, {}).setdefault(field_name, name)
        answered = {system: own for system, own in wide.items() if "response" in own}
        return answered if len(answered) > 1 or "" in wide else {}  # beside the right answer, which is no system's


YES_OR_NO = {"en": ("yes", "no"), "ru": ("да", "нет")}
"""What true and false are as answers, in the language of the question."""
_ANSWERS = "answer|response|output|prediction|reply|ответ"
_MARKS = "rating|label|grade|оценка|метка|балл"
_OF_SYSTEM = re.compile(
    rf"(?:(.*?[^\s_.:-])[\s_.:-]++({_ANSWERS}|{_MARKS}|contexts?|documents?|контекст)"
    rf"|({_ANSWERS}|{_MARKS}|contexts?|контекст)(?:[\s_.:-]++|(?=\d))(.+))",
    re.IGNORECASE,
)


def _of_one_system(name: str) -> tuple[str, str]:
    """System and field of a column, `gpt` and response of `gpt_answer`; the reference alone of `Answer (gold)`."""
    if (parts := _OF_SYSTEM.fullmatch(name.strip())) is None:
        return "", ""
    system, what = (parts[1], parts[2]) if parts[1] else (parts[4], parts[3])
    own, words = _KNOWN.get(key(what), ""), re.findall(r"\w[\w ]*", system)
    is_right = own == "response" and any(field_of(word) == "reference" for word in words)
    return ("", "reference") if is_right else (system.strip(" _-.:[]()"), own)


_SEVERAL = re.compile(r"(answer|reference|solution|alia?se|truth|target)s$|(ответ|эталон)ы$", re.IGNORECASE)
"""Names of columns of several right answers."""
_OF_PROVIDER = re.compile(r"\[([^\s\[\]]+)\] .+", re.DOTALL)
"""A column of promptfoo's CSV: the provider, and the prompt that it answered."""
_VERDICT = re.compile(r"^\[(PASS|FAIL|ERROR)\]\s+(\([^)]*\)\s+)?")
_HINTS: dict[str, tuple[str, ...]] = TABLE["hints"]
_NO_TEXT = re.compile("|".join(_HINTS["no_text"]), re.IGNORECASE)
_ASKED = re.compile("|".join(_HINTS["asked"]), re.IGNORECASE)
_PROMPT = re.compile("|".join(_HINTS["prompt"]), re.IGNORECASE)


def _guess(name: str, left: Sequence[str]) -> str:
    plain = key(name)
    if _ASKED.search(name):
        return "value" if "value" in left else ""
    if _NO_TEXT.search(plain):
        return ""
    for field_name in _HINTS:
        if field_name in left and any(hint in plain for hint in _HINTS[field_name]):
            return field_name
    known = [] if plain in _KNOWN else [name for name, meant in _KNOWN.items() if meant in left]
    near = difflib.get_close_matches(plain, known, 1, 0.8)
    return _KNOWN[near[0]] if near else ""


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Field → column, or columns. Raises AmbiguousError for a field that there is not."""
    if not isinstance(given, Mapping):
        raise AmbiguousError(
            f"columns = {shown(given)}: fields with their columns are expected: {{'answer': 'bot_answer'}}"
        )
    by_field = {}
    for name, columns in given.items():
        field_name = field_of(name) or _RARE.get(key(name), "")
        if not field_name:
            legal = [*SPOKEN.values(), *FIELDS]
            turned = f"; did you mean {columns}={name}?" if field_of(columns) else f"; legal: {LEGAL}"
            near = names.meant(str(name), legal) or turned
            raise AmbiguousError(f"column {name}={columns}: there is no field {name!r}{near}")
        several = columns if isinstance(columns, list | tuple) else [columns]
        if not several or any(isinstance(column, bool) or not isinstance(column, str | int) for column in several):
            raise AmbiguousError(f"column {name} = {shown(columns)}: the name of a column is expected")
        by_field[field_name] = [*map(str, several)] if isinstance(columns, list | tuple) else str(columns)
    return by_field


def _in(wanted: str, columns: Sequence[str]) -> str | None:
    return wanted if wanted in columns else next((name for name in columns if key(name) == key(wanted)), None)


def _opened(value: Any) -> Mapping[str, Any] | None:
    """The object that a value is, or that its text holds; None for anything else, and for a message."""
    value = opened(value)
    value = value if isinstance(value, Mapping) else fields_of(value) or {}
    inner = [own for own in value.values() if isinstance(own, Mapping)]
    if len(inner) == 1 and not any(map(is_content, value)):  # {"example": {"question": …}, "model": …}
        value = inner[0]
    is_message = isinstance(value.get("content"), list) or ("content" in value and {"role", "type"} & value.keys())
    return value if value and not is_message else None


def _is_right(given: Any) -> bool:
    """Whether what stands where an answer would is the right ones: texts in a list, true or false, or TriviaQA's."""
    if isinstance(given, Mapping):
        return any(key(name) == "aliase" for name in given)
    return isinstance(given, bool) or (isinstance(given, list) and all(isinstance(text, str) for text in given))


LEGAL = "question, answer, reference, contexts, reference_contexts, id, system"
"""The fields of a table of answers, as they are named where none is there."""

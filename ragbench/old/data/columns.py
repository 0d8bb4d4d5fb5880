"""Which column of a table is which field: by the names of columns, and by what users say of them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ragbench.old.core import names, settings
from ragbench.old.core.expectations import shown
from ragbench.old.core.segmentation import language_of
from ragbench.old.data.cells import (
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
from ragbench.old.data.files import DatasetError, cut, cut_list, require_narrow
from ragbench.old.data.payloads import turns_of
from ragbench.old.data.systems_of_answers import OF_PROVIDER, Systems
from ragbench.old.data.vocabulary import (
    ASKED,
    CONTENT,
    FIELDS,
    LEGAL,
    NO_TEXT,
    NOBODYS,
    NUMBERED,
    PARTED,
    PROMPT,
    SPOKEN,
    UNSIGNED,
    Format,
    bare,
    field_of,
    format_of,
    guess,
    is_content,
    key,
    of_member,
    of_one_system,
    part_of,
    rarely,
    spoken,
)

YES_OR_NO = {"en": ("yes", "no"), "ru": ("да", "нет")}
"""What true and false are as answers, in the language of the question."""
_NULL = {"None", "NULL", "null"}
"""What databases and Python print for nothing: of a passage it is nothing, of an answer it may be one."""
_SEVERAL = re.compile(r"(answer|reference|solution|alia?se|truth|target)s$|(ответ|эталон)ы$", re.IGNORECASE)
"""Names of columns of several right answers."""
_VERDICT = re.compile(r"^\[(PASS|FAIL|ERROR)\]\s+(\([^)]*\)\s+)?")
BARS = "|||"
"""What stands between the passages of a cell, where no other bar stands there."""
_BETWEEN_BARS = re.compile(r"[^|]+(\|\|\|[^|]+)+")
SEVERAL = ("response", "value", *PARTED)
"""Fields of which a user may name several columns: what each system answered, what each person gave, or parts."""
_IS_NAMED = re.compile(r"\s?[^\s\d]*+\d\S*\s?")
"""A word with a digit, as a dialogue, and no text in one, is called."""
_OF_A_FILE = re.compile(r"[\w./-]*[\d_./-][\w./-]*")
LONGEST_SYSTEM = 12
"""Words of a system's name; more are instructions to one."""
MOST_OF_A_TITLE = 8  # words
MOST_PLANS = 1000
"""Of rows with different columns."""


class AmbiguousError(DatasetError):
    """Two columns of a table could be one field, or a column that was named is not there."""


class LayoutError(DatasetError):
    """Rows are of a known layout that is not read, and what is read instead is said."""


@dataclass
class _Plan:
    """Which columns are which field, of rows with the same columns.

    joined: fields all of whose columns are read. opened: columns whose members are columns, too. rare: field → columns
    that are it where no other is.
    """

    format: Format | None
    fields: Mapping[str, Sequence[str]]
    joined: Set[str]
    opened: Sequence[str]
    unread: Sequence[str]
    rare: Mapping[str, Sequence[str]]


class Columns:
    """Tells which column of a table is which field, and which are none.

    given: field → column, by any names, as `--column answer=bot_answer` and [columns] of ragbench.toml say it: of
    several columns, parted by commas, each is what one system answered, what one person gave as a label, or one of
    several references or passages. only: the fields that the reader knows. takes: column → field, where the reader
    means another one by that name than FIELDS, the likelier name first. strict: a column of `given` that is not there
    is an error; else it is `lacking`.

    read: field → the column that it was read from. unread: columns that are no field → whether the first cell of each
    is a text. format: the known format of the rows.
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
        self._prompts: dict[str, Any] = {}
        self.systems = Systems()
        self.unread: dict[str, bool] = {}
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
        if plan.opened:
            row = self._with_members(row, plan)
            plan = self._plan(row, place, told or format_of(row))
        filled = {own: self._filled(own, plan, row) for own in plan.fields}
        right = self._right_answers(filled, row)
        values: dict[str, Any] = {}
        for field_name, there in filled.items():
            if there:
                is_joined = field_name in plan.joined
                values[field_name] = self._one(field_name, there, row, place, is_joined)
                there = [told.place(name) if told else name for name in there]
                self.read.setdefault(field_name, ", ".join(there) if is_joined else there[0])
        if right:
            values["reference"] = opened(row[right])
            self.read.setdefault("reference", right)
        for name in plan.unread:
            self.unread.setdefault(name, is_text(row.get(name)))
        self._settle(values, place)
        _part(values, plan)
        if isinstance(text := values.get("reference"), str) and re.fullmatch(r"[^|]+(\|[^|]+)+", text):
            self._told[
                f"{self.read['reference']}: {{}} × a text with |, which is one answer; of several by | it is called "
                "references"
            ] += 1
        return values

    def _with_members(self, row: Mapping[str, Any], plan: _Plan) -> Mapping[str, Any]:
        """The row with the members of its objects as columns, where one of them is a field that is read."""
        for name in plan.opened:
            if (inner := _opened(row[name])) is None:
                continue
            told = plan.format if plan.format and key(name) in plan.format.opens else None
            is_own = bool(field_of(name)) and not told  # its references are sources, its only text its content
            aside = {"references": is_own, "content": is_own and field_of(name) not in map(field_of, inner)}
            members = {str(own): value for own, value in inner.items() if own not in row and not aside.get(own)}
            takes, legal = (told.takes, self._only) if told else ({}, self._only & {*CONTENT})
            inside = {
                takes.get(key(own), field_of(own)) for own, value in members.items() if not missing(value)
            } & legal
            if inside:  # an object in which nothing is called an answer may be one, as a whole
                is_spent = field_of(name) in {"", *inside} or all(field_of(own) in inside for own in inner)
                row = {**members, **{own: value for own, value in row.items() if own != name or not is_spent}}
        return row

    def _filled(self, field_name: str, plan: _Plan, row: Mapping[str, Any]) -> list[str]:
        """The columns of a field in which a row says something; those that are blank where none does."""
        there = [name for name in plan.fields[field_name] if not missing(row.get(name))]
        nulls = [name for name in there if isinstance(row[name], str) and row[name] in _NULL]
        if nulls and field_name in PARTED[:2]:
            there = [name for name in there if name not in nulls]
        elif nulls and field_name in CONTENT:
            self._told[
                f"{there[0]}: {{}} × None or NULL is taken for a text; leave a cell empty where nothing was given"
            ] += 1
        said = [name for name in there if not blank(row[name])]
        if not said:  # an instruction beside an empty input is the question
            rare = plan.rare.get(field_name, ())
            said = [name for name in rare if not (missing(row.get(name)) or blank(row[name]))]
        there = said or ([] if field_name == "id" else there)
        is_guess = field_name == "contexts" and field_name not in self._given
        if is_guess and len(there) > 1:  # a passage, and the file that it is from
            sources = [name for name in there if is_source(row[name])]
            there = [name for name in there if name not in sources] or there
            self.unread.update(dict.fromkeys({*sources} - {*there}, False))
        is_seldom = is_guess and there and (rarely(there[0]) or _is_of_a_file(there[0], row[there[0]]))
        if is_seldom and (is_source(row[there[0]]) or _is_title(there[0], row[there[0]])):
            self.unread.update(dict.fromkeys(there, False))
            return []
        return there

    def _right_answers(self, filled: dict[str, list[str]], row: Mapping[str, Any]) -> str:
        """The column `answer` that holds the right ones, beside what a system answered or in a set of questions, which
        is no answer then; empty for any other row."""
        answers = filled.get("response", [])
        if "reference" not in self._only or filled.get("reference"):
            return ""
        right = [name for name in answers if key(name) == "answer" and _is_right(opened(row[name]))]
        others = [name for name in answers if name not in right]
        is_set = "response" not in self.read and filled.get("user_input")
        if not right or not (others or is_set):
            return ""
        filled["response"] = others
        return right[0]

    def _settle(self, values: dict[str, Any], place: str) -> None:
        """Make of the values of a row what they mean together. Raises AmbiguousError."""
        for field_name in ("response", "reference"):
            if isinstance(is_yes := values.get(field_name), bool):
                values[field_name] = YES_OR_NO[language_of(str(values.get("user_input", "")))][not is_yes]
        if "value" in values:
            values["value"] = given_in(opened(values["value"]))
            self._require_one_scale(values["value"], place)
        if isinstance(system := values.get("system"), str) and (
            len(system.split()) > LONGEST_SYSTEM or PROMPT.search(system.strip())
        ):
            del values["system"], self.read["system"]
            self._told["system: {} × instructions to a model, which name no system"] += 1
        number, system = values.pop("prompt_number", None), values.get("system")
        if system and self._prompts.setdefault(str(system), number) != number:  # of several the first has its name
            values["system"] = f"{system}, prompt {number}"
        if choices := choices_of(opened(values.pop("choices", None))):
            for field_name in {"reference", "response"} & values.keys():
                try:
                    values[field_name] = chosen(values[field_name], choices)
                except ValueError as error:
                    raise AmbiguousError(f"{place}: {self.read[field_name]}: {error}") from None

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
        """The same, once for each system whose answers the row holds: `gpt_answer` and `llama_answer` are what two
        answered, and so are objects in a cell that name theirs."""
        require_narrow(row, place)
        for part in self.systems.in_objects(row):
            for values in self._of_wide({str(name): cell for name, cell in part.items()}, place):
                for said in self.systems.in_objects(values):
                    yield said if said is values else {field_of(name) or name: own for name, own in said.items()}

    def _of_wide(self, row: Mapping[str, Any], place: str) -> Iterator[dict[str, Any]]:
        values = self.of(row, place)
        given = self._named([*row], "").get("response", ())
        wide: Mapping[str, Mapping[str, str]] = {name: {"response": name} for name in given} if len(given) > 1 else {}
        if not wide and not {"response", "system"} & values.keys():
            wide = self.systems.in_columns(row)
        if not wide:
            yield values
        for system, columns in wide.items():
            for field_name, name in columns.items():
                self.read.setdefault(field_name, ", ".join(own.get(field_name, "") for own in wide.values()))
                self.unread.pop(name, None)
            said = {field_name: row[name] for field_name, name in columns.items() if not missing(row[name])}
            if OF_PROVIDER.fullmatch(columns["response"]) and isinstance(said.get("response"), str):
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
        no_answer = [own for own in CONTENT if own != "response"]
        systems = [
            n
            for n in unread
            if self.unread.get(n) and not (field_of(n) or NO_TEXT.search(key(n)) or guess(n, no_answer))
        ]
        if "response" in left and "user_input" in self.read and not self.format and len(systems) > 1:
            yield f"are these answers of several systems? --column {shlex.quote('answer=' + ','.join(systems))}"
            unread = [name for name in unread if name not in systems]
        for name in unread:
            other = "" if field_of(name) else of_one_system(name)[1]
            if field_of(name) in ("", "rater") and (guessed := guess(name, left)):
                left.remove(guessed)
                yield f"is {name} the {spoken(guessed)}? --column {shlex.quote(f'{spoken(guessed)}={name}')}"
            elif other == "response" and not NO_TEXT.search(key(name)) and (own := self.read.get("response")):
                what = f"what another system answered? --column {shlex.quote(f'answer={own},{name}')}"
                if "reference" in left:
                    what = f"the reference? --column {shlex.quote(f'reference={name}')}, or {what}"
                yield f"is {name} {what}"

    def _plan(self, row: Mapping[str, Any], place: str, told: Format | None) -> _Plan:
        at = tuple(row), told.name if told else ""
        if at not in self._plans:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[at] = self._planned(row, place, told)
        return self._plans[at]

    def _planned(self, row: Mapping[str, Any], place: str, told: Format | None) -> _Plan:
        """Raises DatasetError for rows of a format that this reader does not read."""
        named = self._named(tuple(row), place)
        reads = named or (self._only & {*(told.takes.values() if told else ())} and not (told and told.when))
        is_else = told and (told.when or not {"user_input", "response"} & {*map(field_of, row)})
        if told and told.instead and is_else and not reads:
            raise LayoutError(f"{place}: {told.name}: {told.instead}")
        self.format = self.format or (told.name if told else "")
        takes = {**self._takes, **(told.takes if told else {})}
        keys = {name: key(name) for name in row if name}
        fields, rare, joined = self._by_field(row, keys, takes, told, named)
        if "rater" in fields and "value" in self._only - named.keys() - fields.keys():
            asked = [name for name in keys if field_of(name) in ("", "rater") and ASKED.search(name)]
            fields |= {"value": asked} if len(asked) == 1 else {}  # who says something is asked something
        if "value" not in fields:
            fields.pop("rater", None)  # nobody can have given nothing
        for field_name, own in rare.items():
            is_history = field_name == "messages" and "user_input" in {*fields, *rare}
            if field_name not in fields and not is_history:
                fields[field_name] = own
            elif field_name == "contexts" and keys[own[0]] == "evidence" and "reference_contexts" not in fields:
                fields["reference_contexts"] = own
        order = {name: place for place, name in enumerate(takes)}
        for field_name, own in fields.items():
            own.sort(
                key=lambda name: (order.get(keys[name], -1), keys[name] != key(FIELDS[field_name][0]), _number(name))
            )
        inside = [name for name in keys if told and keys[name] in told.opens]
        inside += [name for part in ("user_input", "response") for name in fields.get(part, ()) if _opened(row[name])]
        spent = {name for name in keys if takes.get(keys[name]) == ""}.union(inside, *fields.values(), *named.values())
        spent |= _objects_of(told, row)
        unread = [name for name, plain in keys.items() if name not in spent and not plain.startswith("unnamed")]
        return _Plan(told, fields, joined, list(dict.fromkeys(inside)), unread, rare)

    def _by_field(
        self,
        row: Mapping[str, Any],
        keys: Mapping[str, str],
        takes: Mapping[str, str],
        told: Format | None,
        named: Mapping[str, list[str]],
    ) -> tuple[dict[str, list[str]], dict[str, list[str]], set[str]]:
        """Field → its columns, field → columns that are seldom called so, and the fields all of whose columns are read.
        keys: column → its key; takes: key → field, before the vocabulary; named: what the user said."""
        fields = {own: columns for own, columns in named.items() if len(columns) == 1 or own != "response"}
        rare: dict[str, list[str]] = {}
        joined = Counter[str]()
        unsigned = "contexts" in self._only and "rater" not in map(field_of, keys)
        given, wanted = _objects_of(told, row).union(*named.values()), self._only - named.keys()
        for name, plain in keys.items():
            if name in given or (plain in UNSIGNED and unsigned):
                continue
            part, cell = part_of(name), None if missing(row[name]) else row[name]
            system, right = of_one_system(name)
            field_name = takes.get(plain, field_of(name) or part or of_member(name) or ("" if system else right))
            if plain in ("result", "results") and field_name == "response" and isinstance(opened(row[name]), list):
                field_name = "contexts"  # of a search
            if field_name == "contexts" and isinstance(cell, int | float) and "context" not in plain:
                field_name = ""  # how many there are
            if field_name == "choices" and not part and isinstance(opened(cell), str):
                field_name = ""  # one of several is no list of them
            if field_name == "messages" and isinstance(cell, str | int) and _IS_NAMED.fullmatch(f"{opened(cell)}"):
                field_name = "session"  # what a dialogue is called is none
            is_of_a_person = field_name == "value" and unsigned and plain not in NOBODYS
            joined[field_name] += plain in takes or bool(part and field_name == part) or is_of_a_person
            seldom = (
                ""
                if plain in takes or (plain == "a" and "b" in keys.values()) or name in self.systems.rare
                else rarely(name)
            )
            if field_name in wanted:
                fields.setdefault(field_name, []).append(name)
            elif seldom in wanted and (seldom != "messages" or blank(cell) or _is_dialogue(cell)):
                rare.setdefault(seldom, []).append(name)
        several = {own for own, count in joined.items() if count > 1} | {own for own in named if len(named[own]) > 1}
        return fields, rare, several

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
                if len(there) > 1 and field_name not in SEVERAL:
                    may_be = ", ".join(map(spoken, SEVERAL))
                    raise AmbiguousError(
                        f"{place}: {spoken(field_name)} = {', '.join(there)}: one column is expected; of several are "
                        f"{may_be} alone"
                    )
                by_field[field_name] = there
            else:
                self._lacking[field_name] = f"{wanted[0]}{names.meant(wanted[0], list(columns))}"
        return by_field

    def _one(self, field_name: str, there: Sequence[str], row: Mapping[str, Any], place: str, joined: bool) -> Any:
        """The value of a field out of its columns in a row. Raises AmbiguousError."""
        first = row[there[0]]
        if field_name == "value" and joined:
            return {name: row[name] for name in there}
        if field_name == "choices" and joined:
            return {found[2] or found[3]: row[name] for name in there if (found := NUMBERED.fullmatch(bare(name)))}
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
        is_judged = field_name == "response" and any(of_one_system(name)[1] for name in there[1:])  # `Model answer`
        if field_name not in CONTENT or (key(there[0]) == key(FIELDS[field_name][0]) and not is_judged):
            self.unread.update(dict.fromkeys(there[1:], False))
            return native(first)
        said = spoken(field_name)
        likely = sorted(there, key=lambda name: key(name) == "answer")  # the right one may be called so, too
        which = " or ".join(f"--column {shlex.quote(f'{said}={name}')}" for name in likely)
        raise AmbiguousError(
            f"{place}: the columns {' and '.join(there)} differ, and either could be the {said}: say which, {which} "
            f"(columns = {{{said!r}: {likely[0]!r}}} in Python), or leave one out"
        )


def _is_dialogue(cell: Any) -> bool:
    """Whether a cell holds messages: a list, or a text that names who says each; also where nothing stands there."""
    return isinstance(opened(cell), list | None) or (isinstance(cell, str) and turns_of(cell, {}) is not None)


def _number(name: str) -> int:
    """The number of a numbered column; 0 of any other, whose place tells its order."""
    return int(found[2]) if part_of(name) and (found := NUMBERED.fullmatch(bare(name))) and found[2] else 0


def _part(values: dict[str, Any], plan: _Plan) -> None:
    """Part what a cell holds of several references or passages, by what its column or its format says."""
    if isinstance(text := values.get("reference"), str) and _SEVERAL.search(plan.fields.get("reference", [""])[0]):
        values["reference"] = text.split("|") if "|" in text and text[0] not in "[{|" else text
    own = plan.format.parted if plan.format else ""
    for field_name in ("contexts", "reference_contexts"):
        if not isinstance(text := values.get(field_name), str) or text.lstrip().startswith("["):
            continue
        if parted := own or (BARS if _BETWEEN_BARS.fullmatch(text) else ""):
            values[field_name] = [part for part in text.split(parted) if part.strip()]
    if own and isinstance(texts := values.get("reference"), list):
        parts = (part.strip() for text in texts for part in str(text).split(own))
        values["reference"] = [*filter(None, parts)]


def _objects_of(told: Format | None, row: Mapping[str, Any]) -> set[str]:
    """The columns of objects of a format that is read by its paths alone."""
    if told is None or "" not in told.takes:
        return set()
    return {name for name, value in row.items() if name and name not in told.holds and isinstance(value, Mapping)}


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Field → column, or columns. Raises AmbiguousError for a field that there is not."""
    if not isinstance(given, Mapping):
        raise AmbiguousError(
            f"columns = {shown(given)}: fields with their columns are expected: {{'answer': 'bot_answer'}}"
        )
    by_field = {}
    for name, columns in given.items():
        field_name = field_of(name) or rarely(name)
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


def _is_of_a_file(name: str, cell: Any) -> bool:
    """Whether a column called as documents names one, as `survey_en` and `rules-2024` do, and no list of any."""
    return key(name) in ("document", "doc", "документ") and isinstance(cell, str) and bool(_OF_A_FILE.fullmatch(cell))


def _is_title(name: str, cell: Any) -> bool:
    """Whether a source is named by a few words that end like no sentence, as `Handbook, page 3`, and not quoted."""
    if key(name) not in ("source", "источник"):
        return False
    own = opened(cell)
    parts = own if isinstance(own, list) else [own]
    return all(
        isinstance(part, str)
        and 0 < len(part.split()) <= MOST_OF_A_TITLE
        and not part.rstrip().endswith((".", "!", "?", "…"))
        for part in parts
    )

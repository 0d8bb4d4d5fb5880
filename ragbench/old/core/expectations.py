"""What was expected and what went wrong, in the words of people and never in those of Python or pydantic."""

from __future__ import annotations

import builtins
import collections.abc
import functools
import json
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from ragbench.old.core import folders

if TYPE_CHECKING:
    from pydantic import TypeAdapter


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    (Integral, "a whole number"),
    (Real, "a number"),
    (str, "a text"),
    (Mapping, "an object"),
    ((list, tuple, set, frozenset), "a list"),
)
_LISTS = dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), "a list")
_OBJECTS = ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type", "is_instance_of")
_EXPECTED: Mapping[str, str] = {
    **_LISTS,
    **dict.fromkeys(_OBJECTS, "an object"),
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "a text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "finite_number": "a finite number",
    "none_required": "nothing",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "string_too_short": "a text of {min_length} characters or more",
    "string_too_long": "a text of at most {max_length} characters",
    "too_short": "{min_length} or more of them",
    "too_long": "at most {max_length} of them",
    "path_type": "a path",
    "url_type": "an address",
}
_WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", NoneType: "None"}
_BOUNDS = {"Ge": "from {0.ge}", "Gt": "above {0.gt}", "Le": "to {0.le}", "Lt": "and below {0.lt}"}
_LEFT = {"missing": "it is missing", "extra_forbidden": "there is no such field", "json_invalid": "it is not JSON"}


def kind(value: object) -> str:
    """What a value is, as a person calls it; of a class of somebody else's: something else."""
    if value is None:
        return "nothing"
    return next((word for classes, word in _KINDS if isinstance(value, classes)), "something else")


def shown(value: object) -> str:
    """A value as a file has it: null, true and false; texts in their quotes."""
    if isinstance(value, str):
        return repr(value)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def expectation(fault: Mapping[str, Any]) -> str:
    """What pydantic expected instead (one of `ValidationError.errors()`); of a check of ours, what it says."""
    if fault["type"] in _LEFT:
        return _LEFT[fault["type"]]
    words = _EXPECTED.get(fault["type"])
    if words is None:
        return str(fault["msg"]).removeprefix("Value error, ")
    verb = "are" if fault["type"] in ("too_short", "too_long") else "is"
    return f"{words.format(**_plain(fault.get('ctx', {})))} {verb} expected"


def _plain(context: Mapping[str, Any]) -> dict[str, Any]:
    return {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}


def legal(expected: Any, bounds: Sequence[Any] = ()) -> str:
    """What a value of an annotation has to be, in words: "a whole number from 1 to 1000", "linear or exponential".

    bounds: what pydantic or annotated-types says of it besides.
    """
    given, origin = get_args(expected), get_origin(expected)
    if origin is Annotated:
        return legal(given[0], [bound for each in given[1:] for bound in getattr(each, "metadata", (each,))])
    if origin is Literal:
        each = [choice if isinstance(choice, str) else repr(choice) for choice in given]
        return " or ".join([", ".join(each[:-1]), each[-1]] if each[1:] else each)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a table"
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        return "a list of texts" if given[:1] == (str,) else f"a list, each item {legal(given[0])}"
    if given and origin is not type:
        return " or ".join([legal(given[0], bounds), *map(legal, given[1:])])
    said = _WORDS.get(expected) or f"a value of the type {getattr(expected, '__name__', expected)}"
    return " ".join(
        [said, *(_BOUNDS[name].format(each) for each in bounds if (name := type(each).__name__) in _BOUNDS)]
    )


def fits(expected: Any, value: object) -> bool:
    """Whether a value is of an annotation as it stands: no text is taken for a number, no number for a truth value, and
    neither NaN nor infinity for a number. A list as a file has it is one of any kind of list."""
    adapter = _adapter(expected)
    try:
        adapter.validate_python(value, strict=True)
    except ValueError:
        if not isinstance(value, list | dict):
            return False
        try:
            adapter.validate_json(json.dumps(value), strict=True)
        except (ValueError, TypeError):
            return False
    return True


@functools.lru_cache(maxsize=1024)
def _adapter(expected: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(expected, config=ConfigDict(arbitrary_types_allowed=True, allow_inf_nan=False))
    except PydanticUserError:  # of a class with a configuration of its own
        return TypeAdapter(expected)


_REFUSED = re.compile(r"\[Errno (\d+)\] (.+?)(?:: '(.*?)'(?: -> '.*')?)?")


def of(name: str, said: str) -> str:
    """The line for an error's class and its first paragraph in one line; "" where the error itself says it best."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, OSError) and (refused := _refused(said)):
        return refused
    if name.endswith("MemoryError"):
        short = f"there is not enough memory{f' ({said})' if said else ''}"
        return f"{short}: measure fewer questions or systems at a time, or give it more, then run again"
    if name == "ModuleNotFoundError":
        return f"{said}: install it beside ragbench, or put it beside ragbench.toml, then run again"
    return ""


def note(error: Exception) -> None:
    """Give an error its line as a note, which Python and JupyterLab show last; unless it has one already."""
    first = " ".join(str(error).strip().split("\n\n")[0].split())
    line = of(type(error).__name__, first)
    if line and line not in getattr(error, "__notes__", ()):
        error.add_note(line)


def _refused(said: str) -> str:
    """What the operating system refused, as its file and its reason; "" for what people cannot mend."""
    match = _REFUSED.fullmatch(said)
    if match is None or int(match[1]) not in folders.FAULTS:
        return ""
    place = f"{match[3]}: {match[2]}" if match[3] else match[2]
    mended = folders.MENDED.get(int(match[1]))
    return f"{place}: {mended}, then run again" if mended else place

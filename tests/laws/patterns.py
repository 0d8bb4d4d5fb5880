"""Every pattern of the package, and texts that are written to keep it busy.

A pattern is found where a module holds it, however deep in tuples, mappings and dataclasses, and where the source
calls `re` with a text that the module's own names make. What only a running function can make (of names that users
give) is listed by its place.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
import re._constants as opcodes
import re._parser as parser
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import ragbench
from tests.laws import sources

CALLS = ("compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
ANCHORED = {"match", "fullmatch"}
FILLERS = (
    " ",
    "\n",
    "a",
    "я",
    "中",
    "0",
    "-",
    ".",
    "@",
    "<",
    '"',
    "_",
    "/",
    "\t\r\n",
    "a.",
    "- ",
    "a a",
    ", ",
    "#",
    "[",
    "'\\\"",
)


class Found(NamedTuple):
    """A pattern, where it stands, and the methods that it is used by; none are known where it goes elsewhere."""

    pattern: re.Pattern[Any]
    place: str
    methods: frozenset[str]


def modules() -> Iterator[ModuleType]:
    for one in pkgutil.walk_packages(ragbench.__path__, "ragbench."):
        if not one.name.endswith("__main__"):
            yield importlib.import_module(one.name)


def found() -> tuple[list[Found], list[str]]:
    """All patterns, and the places of those that only a running function makes."""
    patterns: dict[tuple[Any, int], Found] = {}
    unknown: list[str] = []

    def add(one: re.Pattern[Any], place: str, methods: frozenset[str]) -> None:
        key = (one.pattern, one.flags)
        if key in patterns:
            known = patterns[key]
            methods = known.methods | methods if known.methods and methods else frozenset()
            place = known.place
        patterns[key] = Found(one, place, methods)

    loaded = list(modules())
    files = {module.__name__: Path(str(module.__file__)) for module in loaded}
    used_in = {name: _uses(sources.nodes(path)) for name, path in files.items()}
    everywhere = _methods(used_in.values())
    own = {name: _methods([used]) for name, used in used_in.items()}
    for module in loaded:
        for name, value in vars(module).items():
            if getattr(value, "__module__", module.__name__) == module.__name__ or isinstance(value, re.Pattern):
                for one in _held(value, set()):
                    used = own[module.__name__] if name.startswith("_") else everywhere
                    add(one, f"{module.__name__}.{name}", used.get(name, frozenset()))
        for call in sources.nodes(files[module.__name__]):
            if not (isinstance(call, ast.Call) and _is_of_re(call.func)):
                continue
            place, method = f"{module.__name__}:{call.lineno}", ast.unparse(call.func).removeprefix("re.")
            try:
                given = [_value(argument, module) for argument in call.args[:1]]
                flags = [_value(word.value, module) for word in call.keywords if word.arg == "flags"]
                if method in ("compile",) and len(call.args) > 1:
                    flags = [_value(call.args[1], module)]
            except (NameError, TypeError):  # of what only a function has, or of what it calls by a name of the module
                unknown.append(f"{module.__name__}: {ast.unparse(call.args[0])}")
                continue
            if method != "compile":
                add(re.compile(given[0], *flags), place, frozenset({method}))
            elif not any(
                (re.compile(given[0], *flags).pattern, re.compile(given[0], *flags).flags) == key for key in patterns
            ):
                add(re.compile(given[0], *flags), place, frozenset())
    return list(patterns.values()), unknown


def _value(node: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), vars(module))


def _is_of_re(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in CALLS and ast.unparse(function.value) == "re"


Uses = tuple[dict[str, set[str]], set[str]]
"""Name → the methods that it is called by, and the names that also stand alone."""


def _uses(nodes: Iterable[ast.AST]) -> Uses:
    called: dict[str, set[str]] = {}
    alone: set[str] = set()
    for node in nodes:
        for child in sources.children(node):
            if not isinstance(child, ast.Name | ast.Attribute) or not isinstance(child.ctx, ast.Load):
                continue
            name = child.id if isinstance(child, ast.Name) else child.attr
            if isinstance(node, ast.Attribute):
                called.setdefault(name, set()).add(node.attr)
            else:
                alone.add(name)
    return called, alone


def _methods(used: Iterable[Uses]) -> dict[str, frozenset[str]]:
    """Name → the methods that it is called by in all of these; a name that also stands alone has none."""
    called: dict[str, set[str]] = {}
    alone: set[str] = set()
    for methods_of, names in used:
        alone |= names
        for name, methods in methods_of.items():
            called.setdefault(name, set()).update(methods)
    return {name: frozenset(methods) for name, methods in called.items() if name not in alone}


def _held(value: Any, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _held(one, seen)
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _held(one, seen)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from _held(getattr(value, one.name, None), seen)


def texts(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """Texts of so many characters: what stands in the pattern, and what it may run on in, in each other's company."""
    parts = list(dict.fromkeys((*_literals(pattern), *FILLERS)))
    words = [part for part in parts if part not in FILLERS][:4]
    for part in parts:
        yield _long(part, size)
    for word in words:
        for filler in FILLERS:
            yield word + _long(filler, size)
            yield _long(word + filler, size)


def _long(part: str, size: int) -> str:
    return part * (size // len(part))


def _literals(pattern: re.Pattern[Any]) -> list[str]:
    """The runs of letters in a pattern, the first of each choice, and one sign of each class."""
    runs: list[str] = []

    def walk(parsed: Any) -> None:
        run = ""
        for kind, value in parsed:
            if kind is opcodes.LITERAL:
                run += chr(value)
                continue
            if run:
                runs.append(run)
                run = ""
            if kind is opcodes.BRANCH:
                for branch in value[1][:2]:
                    walk(branch)
            elif kind is opcodes.SUBPATTERN:
                walk(value[-1])
            elif kind in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT, opcodes.POSSESSIVE_REPEAT):
                walk(value[2])
            elif kind in (opcodes.ATOMIC_GROUP, opcodes.ASSERT, opcodes.ASSERT_NOT):
                walk(value if kind is opcodes.ATOMIC_GROUP else value[1])
            elif kind is opcodes.IN:
                runs.extend(chr(one) for inner, one in value[:2] if inner is opcodes.LITERAL)
        if run:
            runs.append(run)

    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    walk(parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags))
    return list(dict.fromkeys(runs))

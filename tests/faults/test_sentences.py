"""Every sentence that a fault produces speaks to people: no class of Python, nothing empty, one text for one cause."""

from __future__ import annotations

import ast
import copy
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from ragbench.__main__ import _is_for_people, _words, application
from ragbench.core.expectations import expectation, kind, shown
from tests.data import foreign_files
from tests.laws import sources

PACKAGE = Path(__file__).parents[2] / "ragbench"
OF_PYTHON = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception)\b|<class|NoneType|object at 0x|\bragbench(?:\.\w+){2,}|Traceback|instance of"
    r"|Input should|\bfound (?:str|int|float|bool|list|dict|tuple)\b"
)
NOT_AN_END = (".", ":", ";", ",", "!", " ", "(")
NO_SENTENCE = {"Exit", "SystemExit", "AssertionError", "EndedError", "_NotPythonError", "unmeasured", "next"}
KEPT_FOR_PROGRAMMERS = {
    "systems/callables.py": "what a module or a function of the user's own raised",
    "tiers/judges/deciders.py": "what a function of the user's own raised",
    "tiers/scoring/functions.py": "what a metric of the user's own raised",
    "core/progress.py": "what a listener of the user's own raised",
    "embed/own_embedders.py": "what an embedder of the user's own raised, and its class where it is none",
    "llm/endpoint.py": "what a judge of the user's own raised",
    "metrics/vectors.py": "what an embedder of the user's own raised",
    "data/remotes.py": "what a package of storage raised, that no sentence was written for",
    "extras/cluster/worker_pool.py": "what the environment of a worker raised while it was looked at",
    "report/keeping/kept.py": "an error that no sentence was written for",
    "store/errors.py": "an error of the database's driver that says nothing else",
    "core/metric.py": "the name of a metric's function",
    "llm/request.py": "the name of a shape, told to a model",
    "judge/model_judge.py": "the name of a shape, told to a model",
    "cli/doctor.py": "the name of a check",
    "views/view.py": "the name of a view, as a notebook calls it",
    "metrics/__init__.py": "the name of a module, to import it",
}
TOLD_TO_A_MODEL = {"llm/reply.py"}  # what was wrong with its reply, in the request to repair it
ONE_CAUSE = {
    "there is no embedder {}; there are {}",
    "there is no judge {}; judges are {} (tables [judges.NAME])",
    "{} is not a regular expression: {}",
    "{}: holds no samples; at least one is expected",
    "{}: holds no items; at least one is expected",
    "{}: id = {} stands in {} already; ids are unique",
    "{}: id = {} stands there twice; ids are unique",
    "{} is not a JSON number",
    "{}: {} = {}: {} is expected",
    "{}: there is no such file",
    "{}: cannot be read: {}",
    "{}: no row can be used: {}",
    "{}: this is a folder; a file is expected",
    "{} is there and holds other things: name another folder, or empty it yourself",
    "{}: the id {} stands there twice",
    "the id {} stands twice; ids name the samples of a system, once each",
    "the reply is nested more than {} deep",
    "the response has more than {} bytes",
    "callable = {}: write it as module:function",
    "a gain is NaN: leave a document that nobody judged out of `relevant`",
    "an item must be {}; got {}",
    "--questions {}: a whole number from 1 is expected",
    "{} is of {}, not of {}",
}
"""Said at several places because the same thing went wrong there."""


class Said(NamedTuple):
    """The text of a `raise`, with {} where a value goes, and its place."""

    text: str
    place: str


@functools.cache
def sentences() -> tuple[Said, ...]:
    return tuple(_sentences())


def _sentences() -> Iterator[Said]:
    for path in sources.package():
        for node in sources.nodes(path):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = ast.unparse(node.exc.func).split(".")[-1]
                words = node.exc.args[1:] if name in ("Fault", "CallFailed") else node.exc.args[:1]
                if name[:1].isupper() and name not in NO_SENTENCE:
                    text = constant(words[0]) if words else ""
                    yield Said(text, f"{path.relative_to(PACKAGE)}:{node.lineno}")


def constant(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(constant(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return constant(node.left) + constant(node.right)
    return "{}"


@pytest.mark.law
def test_there_are_sentences() -> None:
    assert len([one for one in sentences() if len(one.text.split()) > 3]) > 400


@pytest.mark.law
def test_no_sentence_names_a_class_of_python() -> None:
    assert [one for one in sentences() if OF_PYTHON.search(one.text)] == []


@pytest.mark.law
def test_no_sentence_is_empty_and_all_end_alike() -> None:
    assert [one.place for one in sentences() if not one.text.strip()] == []
    assert [one for one in sentences() if one.text.endswith(NOT_AN_END) or one.text != one.text.lstrip()] == []


@pytest.mark.law
def test_no_text_stands_for_two_causes() -> None:
    places: dict[str, list[str]] = {}
    for one in sentences():
        if len(re.findall(r"\w+", one.text)) > 1:
            places.setdefault(one.text, []).append(one.place)
    several = {text: where for text, where in places.items() if len(where) > 1}
    assert {text: where for text, where in several.items() if text not in ONE_CAUSE} == {}


@pytest.mark.law
def test_classes_are_named_only_to_those_who_wrote_the_code() -> None:
    """Anywhere in the package, so that no detour through a variable hides one."""
    found = set()
    for path in sources.package():
        source = sources.text(path)
        for node in sources.nodes(path) if "name__" in source or "__class__" in source else ():
            if isinstance(node, ast.FormattedValue) and re.search(
                r"\.(__name__|__class__|__qualname__)", ast.unparse(node)
            ):
                found.add(str(path.relative_to(PACKAGE)))
    assert found - set(KEPT_FOR_PROGRAMMERS) == set()


@pytest.mark.law
def test_what_pydantic_says_is_said_in_one_place() -> None:
    raw = re.compile(r"""\[["']msg["']\]""")
    found = {str(path.relative_to(PACKAGE)) for path in sources.package() if raw.search(sources.text(path))}
    assert found == {"core/expectations.py", *TOLD_TO_A_MODEL}


@pytest.mark.parametrize(
    ("value", "words", "as_it_is"),
    [
        (None, "nothing", "null"),
        (True, "true or false", "true"),
        (3, "a whole number", "3"),
        (0.5, "a number", "0.5"),
        ("a'b", "a text", '"a\'b"'),
        ([None, "a"], "a list", '[null, "a"]'),
        (("a",), "a list", '["a"]'),
        ({"a": True}, "an object", '{"a": true}'),
        (Said, "something else", repr(Said)),
    ],
)
def test_values_in_words(value: object, words: str, as_it_is: str) -> None:
    assert kind(value) == words
    assert shown(value) == as_it_is


def test_what_pydantic_expects_in_words() -> None:
    from typing import Annotated, Literal

    from pydantic import BaseModel, Field, ValidationError

    class Inner(BaseModel):
        x: int

    class Outer(BaseModel, extra="forbid"):
        inner: Inner = Inner(x=1)
        text: Annotated[str, Field(min_length=2, max_length=4, pattern="^a")] = "aa"
        whole: Annotated[int, Field(ge=1, lt=10)] = 1
        number: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1
        flag: bool = True
        some: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]
        table: dict[str, int] = {}
        word: Literal["A", "B"] = "A"

    given: list[tuple[dict[str, Any], str]] = [
        ({"inner": 3}, "an object is expected"),
        ({"inner": {}}, "it is missing"),
        ({"other": 3}, "there is no such field"),
        ({"text": 3}, "a text is expected"),
        ({"text": "a"}, "a text of 2 characters or more is expected"),
        ({"text": "aaaaa"}, "a text of at most 4 characters is expected"),
        ({"text": "baa"}, "a text of the form ^a is expected"),
        ({"whole": "x"}, "a whole number is expected"),
        ({"whole": 1.5}, "a whole number is expected"),
        ({"whole": 0}, "1 or more is expected"),
        ({"whole": 10}, "less than 10 is expected"),
        ({"number": "x"}, "a number is expected"),
        ({"number": 0}, "more than 0 is expected"),
        ({"number": 2}, "1 or less is expected"),
        ({"number": float("nan")}, "a finite number is expected"),
        ({"flag": []}, "true or false is expected"),
        ({"some": 3}, "a list is expected"),
        ({"some": []}, "1 or more of them are expected"),
        ({"some": [1, 2, 3]}, "at most 2 of them are expected"),
        ({"table": []}, "an object is expected"),
        ({"word": "C"}, "'A' or 'B' is expected"),
    ]
    for values, words in given:
        with pytest.raises(ValidationError) as refused:
            Outer.model_validate(values)
        assert expectation(refused.value.errors()[0]) == words, values


QUESTION = {"id": "1", "question": "q", "answers": [{"text": "c", "answer_start": 0}]}
SQUAD = {"data": [{"title": "t", "paragraphs": [{"context": "c", "qas": [QUESTION]}]}]}
ANSWERS = [{"id": "q", "question": "q", "answer": "a", "ground_truth": "g", "contexts": ["x"], "system": "s"}]
RATINGS = [{"item": item, "rater": rater, "value": 1} for item in "ab" for rater in "xy"]
BROUGHT: dict[str, Any] = {
    "load questions FILE --name x --dry-run": foreign_files.NEW_ITEMS,
    "load decisions FILE --name x --dry-run": foreign_files.DECISIONS,
    "load dialogues FILE --name x --dry-run": foreign_files.DIALOGUES,
    "load answers FILE --name x --dry-run": ANSWERS,
    "load questions FILE -n x --dry-run": SQUAD,
    "load history FILE --name x --dry-run": foreign_files.HISTORY,
    "load result FILE --name x --dry-run": foreign_files.RESULT,
    "score FILE -m exact_match --resamples 100": ANSWERS,
    "agree FILE --resamples 100": RATINGS,
}
STRANGE: tuple[Any, ...] = (None, True, -1, float("inf"), "", [None], {"a": {}})
GONE = object()


def variants(whole: Any) -> Iterator[Any]:
    """The document with each of its first fields, at any depth, gone or of another kind."""
    yield from STRANGE
    for path in _paths(whole):
        for value in (*STRANGE, GONE):
            other = copy.deepcopy(whole)
            inner = other
            for step in path[:-1]:
                inner = inner[step]
            if value is GONE:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            yield other


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from _paths(item, (*path, key))


@pytest.mark.slow
@pytest.mark.fault(
    "non-numbers", tried="files with a field that is gone or of another kind, by every command", count=1478
)
@pytest.mark.parametrize("words", BROUGHT)
def test_files_of_other_kinds_end_in_a_sentence(project: Path, words: str) -> None:
    refused = 0
    for document in variants(BROUGHT[words]):
        (project / "f.json").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        done = CliRunner().invoke(application, words.replace("FILE", "f.json").split())
        if done.exit_code == 0:  # a row that cannot be used is left out, and its reason is told
            assert not OF_PYTHON.search(done.output), done.output
            continue
        refused += 1
        error = done.exception if not isinstance(done.exception, SystemExit) else None
        assert error is None or (isinstance(error, Exception) and _is_for_people(error)), (document, error)
        said = " ".join((_words(error) if isinstance(error, Exception) else done.output).split())
        assert said, document
        assert not OF_PYTHON.search(said), said
        assert not re.search(r"(?<!['\"“])\b(None|True|False)\b", said), said
        assert error is None or not said.endswith(NOT_AN_END), said
    assert refused >= len(STRANGE), "what holds no row at all is refused"

"""Parameters of notebooks: texts become values that fit, anything else is refused, and no text is ever code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragbench.old import report
from ragbench.old.core import settings
from ragbench.old.data import Dataset
from ragbench.old.report.execution import preparation
from ragbench.old.report.execution.preparation import prepared
from ragbench.old.report.pages import drawing
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.session import dataset_of


@pytest.mark.parametrize(
    ("given", "default", "value"),
    [
        ("5", 10, 5), (" 5 ", 10, 5), ("0.5", 1.0, 0.5), ("1", 1.0, 1.0), (2, 1.0, 2.0), ("true", False, True),
        ("True", False, True), ("ru", "en", "ru"), ("5", "en", "5"), ("[1, 5]", [1], [1, 5]), ("(1, 5)", [1], [1, 5]),
        ("a,b", ["x"], ["a", "b"]), ('["a"]', ["x"], ["a"]), ("null", None, None), ("None", None, None), ("7", None, 7),
        ("word", None, "word"), ("[]", [1], []), ("1e3", 1.0, 1000.0), ("[1, 2]", [0.5], [1.0, 2.0]),
    ],
)  # fmt: skip
def test_values_fit_their_parameters(given: Any, default: Any, value: Any) -> None:
    fitted = preparation.fitted("p", given, default)
    assert fitted == value
    assert type(fitted) is type(value)


@pytest.mark.fault("parameters-code", tried="values that are no literals of their type", count=18)
@pytest.mark.parametrize(
    ("given", "default"),
    [
        ("five", 10), ("5.0", 10), ("true", 10), (True, 10), ("5", False), (5, "en"), ("__import__('os')", 10),
        ("(lambda: 1)()", 1.0), ("[1, 'a']", [1]), ("NaN", 1.0), ("1e999", 1.0), ("5; import os", 10), ("{}", [1]),
        ("open('x')", [1]), (object(), None), ("[" * 5000, 10), ("9" * 200_000, 10), ("Infinity", 1.0),
    ],
)  # fmt: skip
def test_anything_else_is_refused(given: Any, default: Any) -> None:
    with pytest.raises(report.ParameterError):
        preparation.fitted("p", given, default)


CODE = (
    "__import__('os').system('touch pwned')", "\"; open('pwned', 'w') #", "'; open('pwned', 'w') #", "x\nopen('pwned')",
    "\\'; open('pwned', 'w') #", '""" + open("pwned", "w").name + """', "{open('pwned', 'w')}", "$(touch pwned)",
    "!touch pwned", "%sx touch pwned", "`touch pwned`", "\u2028open('pwned', 'w')",
    "\x00", "\\", "\\\n", "\r\nimport os",
    "\"\"\"\nopen('pwned')\n\"\"\"", "\'\'\'\nopen('pwned')\n\'\'\'", "chunk'\nopen('pwned')\n'",
    "chunk\" if open('pwned', 'w') else \"", "\x0copen('pwned')", "\x85open('pwned')", "\u2029open('pwned')",
    "{{ cycler.__init__.__globals__.os.popen('touch pwned') }}", "${jndi:ldap://127.0.0.1/x}", "%%bash\ntouch pwned",
    "?touch", "\\N{NEW LINE}open('pwned')", "\\x0aopen('pwned')", "# -*- coding: utf-7 -*-\n+AG8-pen('pwned')",
)  # fmt: skip


assert len(set(CODE)) >= 30


@pytest.mark.fault("parameters-code", tried="code as the value of a text", count=30)
@pytest.mark.parametrize("text", CODE)
def test_a_text_parameter_is_never_code(text: str) -> None:
    values: dict[str, Any] = {}
    source = preparation.source({"unit": preparation.fitted("unit", text, "chunk")})
    compiled = compile(source, "parameters", "exec")
    exec(compiled, {"__builtins__": {}}, values)
    assert values == {"unit": text}
    assert len(source.splitlines()) == 1
    assert source.isascii() or "\u2028" not in source


def test_of_several_notebooks_the_one_that_refuses_is_named_with_those_that_would_not(project: Path) -> None:
    del project
    with pytest.raises(BenchError, match=r"^tier2_generation: primary = 'ndcg@10'.* of which tier1_retrieval would"):
        prepared(["tier2_generation", "tier1_retrieval"], {"primary": "ndcg@10"}, None)
    with pytest.raises(BenchError, match=r"^primary = 'ndcg@10'"):
        prepared(["tier2_generation"], {"primary": "ndcg@10"}, None)
    with pytest.raises(BenchError, match=r"^tier1_retrieval: k = 0: a whole number from 1 to 1000 .*\)$"):
        prepared(["tier1_retrieval", "real_users"], {"k": 0}, None)


def test_the_data_of_a_page_are_read_once_before_it_is_made() -> None:
    known, read = settings.load(), set[tuple[str, str]]()
    notebook = drawing.notebook_at(preparation.find("dataset"))
    asked = {"dataset": preparation.requests(notebook, preparation.defaults(notebook, "dataset"))}

    def told(name: str, language: str) -> Dataset:
        read.add((name, language))
        return dataset_of(name, known, language)

    assert preparation.lacks(asked, known, "campus", told) == ()
    assert read == {("campus", "en")}

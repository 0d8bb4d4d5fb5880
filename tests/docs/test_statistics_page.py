"""docs/statistics/: every statement is held by tests and simulations that there are, every source is used."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest

from tests.docs import chapters, statistics_page

TEST = re.compile(r"`((?:\w+/)*test_\w+)::(test_\w+)`")


def paragraphs() -> list[str]:
    """The statements: paragraphs that begin with what they state."""
    return [text for text in statistics_page.statements().split("\n\n") if text.startswith("**")]


@pytest.mark.parametrize("text", paragraphs(), ids=lambda text: re.sub(r"\W+", "-", text[2:40]))
def test_a_statement_names_what_holds_it(text: str) -> None:
    named = TEST.findall(text)
    assert re.search(r"\*Held by\* `(?:\w+/)*test_", text)
    assert named
    for file, name in named:
        assert name in functions(file), f"{file} has no {name}"
    known = {f"{row['cell']}, {row['n']}" for row in statistics_page.rows()}
    for cell in re.findall(r"`([^`]+)`", text.partition("*Counted in*")[2]):
        assert cell in known, f"nothing simulated is called {cell}"


@functools.cache
def functions(file: str) -> set[str]:
    """The tests of a file."""
    tree = ast.parse((Path(__file__).parents[1] / f"{file}.py").read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_simulated_situation_is_what_a_statement_rests_on() -> None:
    said = " ".join(" ".join(paragraphs()).split())
    unused = [f"{row['cell']}, {row['n']}" for row in statistics_page.rows()]
    assert [one for one in unused if f"`{one}`" not in said] == []


def test_a_constant_is_what_the_code_has() -> None:
    """`below 50 questions (`stats.estimates.FEWEST_FOR_BOOTSTRAP`)`: the last number before a name is its value."""
    said = " ".join(" ".join(paragraphs()).split())
    named = re.findall(r"`(stats\.[\w.]+\.[A-Z_]+)`", said)
    assert len(named) >= 10
    for name in named:
        before = said[: said.index(f"`{name}`")]
        [*_, number] = re.findall(r"\d[\d,]*(?:\.\d+)?", before)
        module, _, constant = name.rpartition(".")
        value = getattr(importlib.import_module(f"ragbench.{module}"), constant)
        assert float(number.replace(",", "")) == value, f"{name} is {value}, the page says {number}"


def test_sources_are_those_that_are_cited() -> None:
    body, sources = statistics_page.statements(), statistics_page.SOURCES.read_text(encoding="utf-8")
    listed = re.findall(r"^- ([A-ZО][\w'’]+).*?((?:\d{4}(?:, )?)+):", sources, re.MULTILINE)
    assert len(listed) > 15
    for name, years in listed:
        for year in years.split(", "):
            assert re.search(rf"{name}[^()]*?\(?{year}", " ".join(body.split())), f"{name} {year} is not cited"


def test_the_tables_are_those_of_the_simulation() -> None:
    counted = chapters.read(statistics_page.FOLDER / "counted.md")
    assert {path: counted.get(path) for path in statistics_page.pages()} == statistics_page.pages()
    rows = sum(text.count("\n| ") - 1 for text in statistics_page.pages().values())
    assert rows == len(statistics_page.rows()), "every topic has its page"

"""A notebook that would read a clock beside others is executed again, alone, and nothing of the first time is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from pydantic import SecretStr

from ragbench.old.core.settings import Settings
from ragbench.old.data import Dataset
from ragbench.old.report.execution import orchestration
from ragbench.old.report.execution.kernel_pool import Round
from ragbench.old.report.execution.orchestration import Step, Work
from ragbench.old.tiers.retrieval.tier1_retrieval import Tier1Request

READS = """
import os
from ragbench.old.store.errors import DisturbedClockError
with open(FILE, "a") as file:
    file.write("x")
if "RAGBENCH_BESIDE" in os.environ:
    raise DisturbedClockError("a clock would be read")
print("alone")
"""
FAILS = "raise ValueError('for another reason')"


def notebook(*sources: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


@pytest.mark.slow
def test_it_is_measured_alone_when_the_others_are_done(tmp_path: Path) -> None:
    tried, steps = tmp_path / "tried", list[Step]()
    made = {"timed": notebook("1 + 1", f"FILE = {str(tried)!r}\n{READS}"), "failing": notebook(FAILS)}
    failures = Work(tmp_path / "run", steps.append).all(made, [Round(("timed", "failing"), 2, clock=False)])
    assert failures == {"failing": "ValueError: for another reason"}
    assert tried.read_text() == "xx"
    outputs = [output for cell in made["timed"].cells for output in cell.outputs]
    assert [output.output_type for output in outputs] == ["execute_result", "stream"]
    assert outputs[1].text == "alone\n"
    assert {one.notebook for one in steps if one.failed} == {"failing"}


@pytest.mark.slow
def test_alone_it_is_executed_once(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    made = {"timed": notebook(f"FILE = {str(tried)!r}\n{READS}")}
    assert Work(tmp_path / "run", None).all(made, [Round(("timed",), 1)]) == {}
    assert tried.read_text() == "x"


def test_a_database_that_does_not_answer_is_not_what_ends_a_run() -> None:
    away = Settings(database_url=SecretStr("postgresql://nobody@127.0.0.1:1/nothing"))

    def read(name: str, language: str) -> Dataset:
        raise AssertionError(f"{name} {language}: nobody knows of any data")

    assert orchestration._are_timed(away, [Tier1Request()], read) is False

"""The published workflow of pull requests: the shell of its steps is run as a runner does, with changed code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import fragments, small_project

PAGE = fragments.ROOT / "docs" / "how-to" / "gates.md"
GOOD = "def find(question, k):\n    return ['a1', 'b1', 'c1', 'd1'][:k]\n"
POOR = "def find(question, k):\n    assert 'q2' not in question\n    return ['a1'][:k]\n"
RAISES = "def find(question, k):\n    raise RuntimeError('the index is not there')\n"
SETTINGS = """dataset = "small"
notebooks_folder = "pages"

[systems.mine]
callable = "search:find"

[gate.good-enough]
metric = "recall@5"
at_least = 0.0
at_most = 1.0

[gate.found]
metric = "hit_rate@5"
at_least = 0.05
"""
SHIM = """#!/bin/sh
printf "%s\\n" "$*" >> "$LOG"
for one in "$@"; do [ -f "$one" ] && cat "$one" >> "$LOG"; done
exit 0
"""


@dataclass
class Runner:
    """What a runner knows: the checkout, and what steps told. A step is skipped after one that failed, unless it says
    `always()`; the job fails with any step."""

    checkout: Path
    variables: Mapping[str, str]
    told: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def filled(self, text: str) -> str:
        """A text without expressions: each is the first of its alternatives that there is."""

        def value(found: re.Match[str]) -> str:
            known = {
                "github.workspace": str(self.checkout),
                "github.token": "token",
                "github.event.number": "7",
                "secrets.MY_JUDGE_KEY": "sk-secret",
                **{f"steps.{name}": said for name, said in self.told.items()},
            }
            return next((known.get(one, one if one.isdigit() else "") for one in found[1].split(" || ")
                         if known.get(one) or one.isdigit()), "")  # fmt: skip

        return re.sub(r"\$\{\{ *(.*?) *\}\}", value, text)

    def run(self, job: Mapping[str, Any]) -> None:
        for step in job["steps"]:
            name = step.get("name", step.get("run", step.get("uses", "")))
            if "run" not in step or (self.failed and "always()" not in step.get("if", "")):
                continue
            output = self.checkout.parent / "output"
            output.write_text("", encoding="utf-8")
            given = {**job.get("env", {}), **step.get("env", {})}
            known = {key: self.filled(str(one)) for key, one in given.items()}
            known = {**self.variables, **known, "GITHUB_OUTPUT": str(output)}
            done = subprocess.run(["bash", "-e", "-c", self.filled(step["run"])], cwd=self.checkout, env=known,
                                  capture_output=True, text=True, timeout=600)  # fmt: skip
            self.said[name] = done.stdout + done.stderr
            for line in output.read_text(encoding="utf-8").splitlines():
                key, _, said = line.partition("=")
                self.told[f"{step['id']}.outputs.{key}"] = said
            if done.returncode:
                self.failed.append(name)


def published() -> Mapping[str, Any]:
    [one] = [one for one in fragments.fragments(PAGE) if one.language == "yaml" and "jobs:" in one.text]
    known: Mapping[str, Any] = yaml.safe_load(one.text)
    return known


@pytest.fixture
def checkout(tmp_path: Path, database_folder: Path) -> Runner:
    """A project of somebody who was never asked about it, and the programs of a runner."""
    folder, programs = tmp_path / "checkout", tmp_path / "programs"
    small_project.make(folder, database_folder)
    (folder / "ragbench.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "requirements.txt").write_text("", encoding="utf-8")
    (folder / "pages").mkdir()
    shutil.copy(fragments.ROOT / "notebooks" / "tier1_retrieval.ipynb", folder / "pages")
    programs.mkdir()
    (programs / "gh").write_text(SHIM, encoding="utf-8")
    (programs / "gh").chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("RAGBENCH_", "PYTHON"))}
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "XDG_STATE_HOME": str(tmp_path / "state"), "LOG": str(tmp_path / "gh.log")}
    return Runner(folder, {**kept, **own, "RAGBENCH_DATABASE__FOLDER": str(database_folder)})


@pytest.mark.slow
@pytest.mark.fault("cloned-projects", tried="the published workflow with changed code: nothing is asked", count=3)
@pytest.mark.parametrize(
    ("changed", "code"),
    [(GOOD + "# another line\n", "0"), (POOR, "1"), (RAISES, "4")],
    ids=["holds", "fails", "nothing"],
)
def test_a_pull_request_that_changes_code_is_measured_and_decided(checkout: Runner, changed: str, code: str) -> None:
    jobs = published()["jobs"]
    (checkout.checkout / "search.py").write_text(changed, encoding="utf-8")
    for job in jobs.values():
        checkout.run(job)
    assert checkout.told["measure.outputs.code"] == code, checkout.said
    assert "that you have not answered for" not in "".join(checkout.said.values())
    assert ("Decide" in checkout.failed) is (code != "0"), checkout.said
    assert [name for name in checkout.failed if name != "Decide"] == []
    comment = Path(checkout.variables["LOG"]).read_text(encoding="utf-8")
    assert "pr comment 7 --body-file public/summary.md --edit-last --create-if-none" in comment
    assert "mine" in comment
    assert (checkout.checkout / "public" / "index.html").is_file()


def test_its_trust_is_of_the_checkout_and_each_step_that_must_run_does() -> None:
    [job] = published()["jobs"].values()
    assert job["env"]["RAGBENCH_TRUST"] == "${{ github.workspace }}"
    assert job["steps"][-1]["if"] == "always()"
    assert job["steps"][-1]["run"] == "exit ${{ steps.measure.outputs.code || 1 }}"
    assert json.dumps(job).count("--gate") == 1

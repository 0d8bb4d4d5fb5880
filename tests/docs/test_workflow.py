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

from tests import small_project
from tests.docs import fragments
from tests.judge import judged_project
from tests.llm.chat_server import ChatServer
from tests.store.own_database import own_database

PAGE = fragments.ROOT / "docs" / "how-to" / "gates.md"
GOOD = "def find(question, k):\n    return ['a1', 'b1', 'c1', 'd1'][:k]\n"
POOR = "def find(question, k):\n    assert 'q2' not in question\n    return ['a1'][:k]\n"
RAISES = "def find(question, k):\n    raise RuntimeError('the index is not there')\n"
SETTINGS = """dataset = "small"
fail_on_raised = true
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
TIER1 = fragments.ROOT / "notebooks" / "tier1_retrieval.ipynb"
AUTHOR = {f"GIT_{who}_{what}": "somebody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
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
                "github.base_ref": "main",
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


def machine(place: Path, database_folder: Path, settings: str = SETTINGS, notebook: Path = TIER1) -> Runner:
    """A project of somebody who was never asked about it, checked out for a pull request, and the programs of a
    runner."""
    folder, programs = place / "checkout", place / "programs"
    small_project.make(folder, database_folder)
    (folder / "ragbench.toml").write_text(settings, encoding="utf-8")
    (folder / "requirements.txt").write_text("", encoding="utf-8")
    (folder / "search.py").write_text(GOOD, encoding="utf-8")
    (folder / "pages").mkdir()
    shutil.copy(notebook, folder / "pages")
    for words in (
        ("init", "--quiet", "--initial-branch=main"), ("add", "."), ("commit", "--quiet", "--message", "main"),
        ("init", "--quiet", "--bare", str(place / "origin")), ("remote", "add", "origin", str(place / "origin")),
        ("push", "--quiet", "origin", "main"), ("checkout", "--quiet", "-b", "change"),
    ):  # fmt: skip
        subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **AUTHOR})
    programs.mkdir()
    (programs / "gh").write_text(SHIM, encoding="utf-8")
    (programs / "gh").chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("RAGBENCH_", "PYTHON"))}
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "XDG_STATE_HOME": str(place / "state"), "LOG": str(place / "gh.log")}
    return Runner(folder, {**kept, **own, "RAGBENCH_DATABASE__FOLDER": str(database_folder)})


@pytest.fixture
def checkout(tmp_path: Path, database_folder: Path) -> Runner:
    """With changed code, which each test writes."""
    return machine(tmp_path, database_folder)


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
    assert "pr comment 7 --body-file comment.md --edit-last --create-if-none" in comment
    assert "mine" in comment
    assert (checkout.checkout / "public" / "index.html").is_file()
    compared = (checkout.checkout / "public" / "comparison" / "index.html").is_file()
    assert compared is (code != "4"), checkout.said
    if compared:
        kept = checkout.checkout / "comparison" / "comparison.json"
        main = json.loads(kept.read_text(encoding="utf-8"))["runs"][0]
        assert main["name"] == "main", "with its own code, whatever the pull request says"
        assert (checkout.checkout / "public" / "comparison" / "summary.md").read_text(encoding="utf-8") in comment
    assert (checkout.checkout / "journal" / "replies.jsonl.gz").is_file()


@pytest.mark.slow
def test_what_is_unchanged_is_not_paid_again(tmp_path: Path, database_folder: Path) -> None:
    """The journal that one run keeps is what the next begins with, on a machine that has no database yet."""
    [job] = published()["jobs"].values()
    cache = next(step["with"] for step in job["steps"] if step.get("uses") == "actions/cache@v4")
    assert cache["key"].startswith(cache["restore-keys"]), "the newest of those before is taken"
    with ChatServer(answer=judged_project.reply).running() as server, own_database("another") as other:
        project = tmp_path / "project"
        small_project.make(project, database_folder)
        notebook = judged_project.make(project, server.url, judges="one")
        judges = f'[judges.one]\nbase_url = "{server.url}"\nmodel = "m-one"\n'
        told = 'notebooks_folder = "pages"\n[systems.good]\nresults = "good.jsonl"\n'
        told += '[gate.any]\nmetric = "faithfulness"\nat_least = 0.0\n'
        assert other.database.folder is not None
        paid = []
        for number, folder in enumerate((database_folder, other.database.folder)):
            runner = machine(tmp_path / f"machine-{number}", folder, f'dataset = "small"\n{told}{judges}', notebook)
            runner.variables = {**runner.variables, "PYTHONPATH": str(fragments.ROOT)}
            if number:
                shutil.copytree(tmp_path / "machine-0" / "checkout" / cache["path"], runner.checkout / cache["path"])
            runner.run(job)
            assert runner.failed == [], runner.said
            paid.append(server.calls)
        assert paid[0] > 0
        assert paid[1] == paid[0], "main and the change were judged out of the journal"


def test_its_trust_is_of_the_checkout_and_each_step_that_must_run_does() -> None:
    [job] = published()["jobs"].values()
    assert job["env"]["RAGBENCH_TRUST"] == "${{ github.workspace }}"
    assert job["steps"][-1]["if"] == "always()"
    assert job["steps"][-1]["run"] == "exit ${{ steps.measure.outputs.code || 1 }}"
    assert json.dumps(job).count("--gate") == 1

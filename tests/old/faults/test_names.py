"""Names and numbers that cannot be followed are refused before anything is paid for, with what is legal."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ragbench.old as rb
from ragbench.old import report, tiers
from ragbench.old.__main__ import application
from ragbench.old.core import settings
from ragbench.old.data import DatasetError
from ragbench.old.data.rows import read_rows
from ragbench.old.tiers import BenchError
from tests.old.cli.command_line import ragbench
from tests.old.data import foreign_files as made
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add

ROOT = Path(__file__).parents[3]
ROW = {"user_input": "When?", "response": "At nine.", "reference": "At nine.", "retrieved_contexts": ["At nine."]}
TORN = "a\ud800b"
NUMBERS = {
    "resamples": (50, r"resamples = 50: a whole number from 100 to 1000000 is expected"),
    "level": (1.0, r"level = 1\.0: a number above 0 and below 1 is expected"),
    "seed": (2**32, r"seed = 4294967296: a whole number from 0 to 4294967295 is expected"),
    "repeats": (0, r"repeats = 0: a whole number from 1 to 100 is expected"),
    "k": (0, r"k = 0: a whole number from 1 to 1000 is expected"),
    "contexts": (0, r"contexts = 0: a whole number from 1 to 1000 is expected"),
    "timed_questions": (-1, r"timed_questions = -1: a whole number from 0 to 100000 is expected"),
    "length_limit": (0, r"length_limit = 0: a whole number from 1 or None is expected"),
    "quorum": (0, r"quorum = 0: a whole number from 1 or None is expected"),
    "neighbors": (0, r"neighbors = 0: a whole number from 1 is expected"),
    "tempted": (-1, r"tempted = -1: a whole number from 0 is expected"),
    "n_topics": (-1, r"n_topics = -1: a whole number from 0 to 1000 is expected"),
}


def refused(*words: str) -> str:
    done = CliRunner().invoke(application, [*words])
    assert done.exit_code != 0
    return f"{done.output} {done.exception}".replace("\n", " ")


@pytest.mark.fault("parameters-code", tried="numbers that no tier can work with", count=12)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_is_not_legal_is_refused_before_a_run_begins(project: Path, name: str) -> None:
    notebooks = [path for path in (ROOT / "notebooks").glob("*.ipynb") if f"\\n{name} = " in path.read_text()]
    notebooks += [path for path in (ROOT / "notebooks").glob("*.ipynb") if f'"{name} = ' in path.read_text()]
    assert notebooks
    value, words = NUMBERS[name]
    with pytest.raises(BenchError, match=words):
        report.run(notebooks[:1], {name: value})
    assert not (project / "reports").exists()


TIERS = {
    "tier1_retrieval": ("resamples", "level", "seed", "repeats", "k", "timed_questions"),
    "tier2_generation": ("resamples", "level", "seed", "repeats", "length_limit", "quorum"),
    "tier3_end_to_end": ("resamples", "level", "seed", "repeats", "k", "contexts", "timed_questions", "quorum"),
    "tier_judge": ("resamples", "level", "seed", "repeats", "tempted"),
    "tier_judge_pipeline": ("resamples", "level", "seed"),
    "tier0_embeddings": ("resamples", "level", "seed", "neighbors"),
    "real_users": ("resamples", "level", "seed", "k"),
    "rag_metrics": ("resamples", "level", "seed"),
    "sources": ("level", "seed", "k", "n_topics"),
    "tier_ux": ("resamples", "level", "seed"),
}


@pytest.mark.fault("parameters-code", tried="the same in every tier, called from Python", count=44)
@pytest.mark.parametrize("tier", TIERS)
def test_a_tier_refuses_before_it_reads_anything(project: Path, tier: str) -> None:
    for name in TIERS[tier]:
        value, words = NUMBERS[name]
        with pytest.raises(BenchError, match=words):
            getattr(tiers, tier)("there is no such data set", **{name: value})


def test_too_few_resamples_cost_no_call(project: Path) -> None:
    with ChatServer(answer=lambda body: {"reason": "so", "rating": 5}).running() as server:
        add(project, f'\n[judges.one]\nbase_url = "{server.url}"\nmodel = "m"\n')
        (project / "answers.jsonl").write_text(json.dumps(ROW))
        for words in (("--resamples", "50"), ("--confidence", "1.5"), ("--baseline", "none")):
            refused("score", "answers.jsonl", "-m", "e2e_score", "--judge", "one", *words)
        with pytest.raises(ValueError, match="resamples = 50: a whole number from 100"):
            rb.score([ROW], metrics=["e2e_score"], judge="one", resamples=50)
        assert server.calls == 0


@pytest.mark.fault("paths", tried="names of systems: unknown, empty, path-like, too long, reserved", count=8)
@pytest.mark.parametrize("name", ["god", "../good", "/etc", "x" * 5000, ",", "con", "go\u202eod", "\0"])
def test_a_system_that_is_not_there_is_refused_with_those_there_are(project: Path, name: str) -> None:
    said = refused("run", "-s", name)
    assert "there are good, poor" in said or "there are poor, good" in said
    assert ("did you mean 'good'?" in said) == (name in ("god", "../good", "go\u202eod"))
    assert not (project / "reports").exists()


@pytest.mark.fault("paths", tried="names for a data set: empty, path-like, too long, reserved by Windows", count=12)
@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "x" * 101, "con", "nul.txt", "com1", "dot.", "Имя"],
)
def test_a_data_set_gets_no_name_that_a_folder_cannot_have(project: Path, name: str) -> None:
    (project / "set.jsonl").write_text(json.dumps(ROW))
    before = sorted(path.as_posix() for path in project.rglob("*"))
    for kind, file in (("answers", "set.jsonl"), ("questions", "set.json")):
        (project / "set.json").write_text(made.as_json(made.NEW_ITEMS))
        said = refused("load", kind, file, "--name", name)
        assert "--name" in said
        assert len(said) < 400
    (project / "set.json").unlink()
    assert sorted(path.as_posix() for path in project.rglob("*")) == before


@pytest.mark.parametrize("name", ["", "  ", "a,b", "a\\u202eb", "a\\nb", "x" * 300, " a"])
def test_a_table_in_the_settings_gets_no_name_that_nobody_can_type(project: Path, name: str) -> None:
    add(project, f'\n[systems."{name}"]\nembedder = "hashing"\n')
    with pytest.raises(settings.ConfigurationError, match=r"\[systems\..*the name (is|has|holds|begins)"):
        settings.load()


@pytest.mark.fault("encodings", tried="lone surrogates in texts and names, from files and lists", count=20)
def test_half_a_character_is_refused_where_it_comes_in(project: Path) -> None:
    for field in ("user_input", "response", "reference", "system", "cluster", "id"):
        row = ROW | {field: TORN}
        for given in ([row], row):
            with pytest.raises(DatasetError, match=r"holds half of a character"):
                rb.score(given, metrics=["rouge1_f"])
        (project / "a.jsonl").write_text(json.dumps(row))
        with pytest.raises(DatasetError, match=r"a\.jsonl, line 1: a text holds half of a character .*\\ud800"):
            list(read_rows(project / "a.jsonl"))
    with pytest.raises(DatasetError, match="half of a character"):
        rb.score([ROW | {"retrieved_contexts": [TORN]}], metrics=["rouge1_f"])
    with pytest.raises(ValueError, match="ud800"):
        rb.score([ROW], metrics=[TORN])
    (project / "a.jsonl").write_text('{"response": "\\ud83d\\ude00"}')
    assert next(iter(read_rows(project / "a.jsonl")))[1]["response"] == "\N{GRINNING FACE}"


@pytest.mark.fault("encodings", tried="arguments that are not UTF-8", count=5)
def test_an_argument_that_is_no_text_is_refused(project: Path) -> None:
    (project / os.fsdecode(b"a\xff.jsonl")).write_text(json.dumps(ROW))
    bad = os.fsdecode(b"a\xff.jsonl")
    for words in (
        ("score", bad),
        ("run", "-s", bad),
        ("run", bad),
        ("score", "x", "-m", bad),
        ("load", "answers", bad),
    ):
        done = ragbench(*words)
        assert done.returncode == 3
        assert "is not UTF-8: rename the file, or type the name again" in done.stderr
        assert "Traceback" not in done.stderr

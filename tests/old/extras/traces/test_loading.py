"""Exported traces on the command line: told, loaded, measured, and found by `ragbench init`."""

from __future__ import annotations

import json
from pathlib import Path

from ragbench.old import data, tiers
from ragbench.old.core import settings
from ragbench.old.tiers.answers.rag_metrics import RagMetricsRequest
from ragbench.old.tiers.basics.session import Need, Needed
from tests.old.cli.command_line import one_line
from tests.old.cli.command_line import ragbench as command
from tests.old.cli.test_init import begun, ran
from tests.old.cli.test_init import empty as empty
from tests.old.cli.test_load import ragbench, state
from tests.old.extras.traces.test_vendors import datadog, jaeger
from tests.old.small_project import write_lines

TRACES = Path(__file__).parents[2] / "data" / "trace_files"


def test_traces_are_told_and_written_by_no_dry_run(project: Path) -> None:
    before = state(project)
    said = ragbench("traces", TRACES / "opentelemetry-openinference.jsonl", "--name", "mine", "--dry-run")
    assert state(project) == before
    told = " ".join(said.split())
    assert "opentelemetry-openinference.jsonl was read as OpenTelemetry: 17 records" in told
    assert "found in 5 traces: question 5, answer 4, passages 4, passage ids 4, passage scores 4, latency 5" in told
    assert "in none: reference, rating" in told
    assert "1 × TimeoutError: no reply in 60 s" in told
    assert "nothing was written (--dry-run)" in told


def test_traces_end_in_the_commands_that_measure_them(project: Path) -> None:
    said = ragbench(
        "traces", TRACES / "langfuse-observations.jsonl", TRACES / "langfuse-scores.jsonl", "--name", "mine"
    )
    assert '[systems.mine-logged] results = "data/mine/answers.logged.jsonl"' in said
    assert "Next: ragbench run rag_metrics sources -s mine-logged --dataset mine" in " ".join(said.split())
    assert "Then: ragbench run tier3_end_to_end -s mine-logged -p metrics=faithfulness_rating" in said
    assert "Then: ragbench run tier_ux real_users --dataset mine" in said
    found = data.load("mine", project / "data")
    assert (len(found.questions), len(found.dialogues), len(found.history), len(found.ratings)) == (2, 1, 2, 2)
    settings.load.cache_clear()
    known = settings.load()
    assert RagMetricsRequest(dataset="mine").needed(known) == ()
    assert RagMetricsRequest(dataset="small").needed(known) == (Needed.of(Need.LOGGED, Need.RATINGS),)
    rated = tiers.rag_metrics(dataset="mine", metrics="faithfulness", resamples=100)
    assert (rated.facts["answers"], rated.estimates[0].estimate.n) == ("logged answers", 2)
    whole = tiers.tier3_end_to_end(
        dataset="mine", systems="mine-logged", metrics="faithfulness_rating", primary="faithfulness_rating",
        perfect_parts=False, resamples=100, repeats=1,
    )  # fmt: skip
    times = whole.extra["readings"].groupby("part")["ms"].mean()
    assert {part: times[part] for part in ("search", "generate", "answer")} == {
        "search": 40.0, "generate": 300.0, "answer": 350.0,
    }  # fmt: skip
    assert whole.extra["answers"]["input_tokens"].tolist() == [120, 120]


def test_a_file_of_spans_is_told_by_what_it_holds(empty: Path) -> None:
    (empty / "prod.jsonl").write_bytes((TRACES / "opentelemetry-genai.jsonl").read_bytes())
    assert begun(empty, "prod.jsonl") == ["ragbench load traces prod.jsonl --name prod"]
    for made in (datadog, jaeger):  # which `score` refuses
        (empty / "prod.json").write_text(json.dumps(made()), encoding="utf-8")
        assert begun(empty, "prod.json", "--force") == ["ragbench load traces prod.json --name prod"]


def test_documents_of_langchain_stand_beside_spans_and_are_no_beginning_alone(empty: Path) -> None:
    documents = (TRACES / "langchain-documents.jsonl").read_bytes()
    (empty / "docs.jsonl").write_bytes(documents)
    done = command("init")
    assert done.returncode == 3
    assert "questions, or traces, to them are missing beside it" in one_line(done.stderr)
    (empty / "spans.jsonl").write_bytes((TRACES / "opentelemetry-genai.jsonl").read_bytes())
    [load] = begun(empty)
    assert load == "ragbench load traces spans.jsonl docs.jsonl --name spans"
    assert "3 passages" in ran(load).stdout


def test_what_says_nothing_alone_is_loaded_with_the_traces_that_it_is_of(empty: Path) -> None:
    for name in ("langfuse-observations", "langfuse-scores"):
        (empty / f"{name}.jsonl").write_bytes((TRACES / f"{name}.jsonl").read_bytes())
    [load] = begun(empty)
    assert load == "ragbench load traces langfuse-observations.jsonl langfuse-scores.jsonl --name langfuse-observations"
    ran(load)
    (empty / "langfuse-observations.jsonl").unlink()
    assert "langfuse-scores.jsonl: no trace with a question" in one_line(command("init", "--force").stdout)


def test_a_table_of_passages_is_the_base_of_traces(empty: Path) -> None:
    (empty / "spans.jsonl").write_bytes((TRACES / "opentelemetry-genai.jsonl").read_bytes())
    write_lines(empty / "kb.jsonl", [{"id": "lib-1", "text": "The library is open from 9 to 21 on weekdays."}])
    [load] = begun(empty)
    assert load == "ragbench load traces spans.jsonl --name spans --chunks-from kb.jsonl"
    ran(load)

"""Metrics as evaluators of other tools: in their shapes, and, where they are installed, with themselves."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from ragbench.old.extras.testing import adapters

ASKED = {"question": "How long is the loan?"}
SAID = {"answer": "The loan is 14 days.", "contexts": ["The loan is 14 days.", {"page_content": "Fees."}]}


def test_langsmith_gets_key_score_and_comment() -> None:
    evaluate = adapters.langsmith("rougeL_f")
    found = evaluate(inputs=ASKED, outputs=SAID, reference_outputs={"answer": "The loan is 14 days."})
    assert (found["key"], found["score"]) == ("rougeL_f", 1.0)
    assert evaluate(inputs="Q", outputs="two words", reference_outputs="two others")["score"] == 0.5
    assert evaluate.__name__ == "rougeL_f"


@pytest.mark.parametrize("reference", [None, {}, {"unknown": 1}])
def test_what_could_not_be_measured_is_none_with_its_reason(reference: Any) -> None:
    found = adapters.langsmith("rougeL_f")(inputs=ASKED, outputs=SAID, reference_outputs=reference)
    assert found["score"] is None
    assert found["comment"].startswith("not measured: rougeL_f needs reference")


def test_a_judged_metric_says_why_and_who_stands_in() -> None:
    found = adapters.langsmith("faithfulness", judge="lexical")(inputs=ASKED, outputs=SAID)
    assert found["score"] == 1.0
    assert "offline stand-ins" in found["comment"]
    empty = adapters.langsmith("faithfulness", judge="lexical")(inputs=ASKED, outputs={**SAID, "answer": ""})
    assert empty["score"] is None
    assert empty["comment"].startswith("not measured (empty_input)")


def test_a_metric_that_cannot_be_one_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="there is no metric"):
        adapters.langsmith("faithfullness_of_all")
    with pytest.raises(ValueError, match="works on the grain 'ranking'"):
        adapters.langsmith("mrr@10")


def test_the_objects_of_the_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Evaluation:
        name: str
        value: float | None
        comment: str

    @dataclass
    class Feedback:
        name: str
        value: float | None
        rationale: str
        error: str | None

    shapes = {"langfuse": {"Evaluation": Evaluation}, "mlflow": {}, "mlflow.entities": {"Feedback": Feedback},
              "mlflow.genai": {}, "mlflow.genai.scorers": {"scorer": lambda function, name: function}}  # fmt: skip
    for name, held in shapes.items():
        made = ModuleType(name)
        vars(made).update(held)
        monkeypatch.setitem(sys.modules, name, made)
    fuse = adapters.langfuse("rougeL_f")
    kept = fuse(input="Q", output="two words", expected_output="two others", metadata=None)
    assert (kept.name, kept.value) == ("rougeL_f", 0.5)
    assert fuse(input="Q", output="two words", metadata=None).value is None
    flow = adapters.mlflow("rougeL_f")
    full = flow(inputs=ASKED, outputs="two words", expectations={"expected_response": "two others"})
    assert (full.value, full.error) == (0.5, None)
    lacking = flow(inputs=ASKED, outputs="two words", expectations={})
    assert lacking.value is None
    assert lacking.error == lacking.rationale != ""


@pytest.mark.parametrize("name", ["mlflow", "langfuse"])
def test_a_package_that_is_not_there_is_named_with_its_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        getattr(adapters, name)("rougeL_f")


@pytest.mark.slow
def test_langsmith_itself_takes_it() -> None:
    run_evaluator = pytest.importorskip("langsmith.evaluation").run_evaluator
    import datetime
    import uuid

    from langsmith.schemas import Example, Run

    now = datetime.datetime.now(datetime.UTC)
    run = Run(id=uuid.uuid4(), name="app", start_time=now, run_type="chain", inputs=ASKED, outputs=SAID,
              trace_id=uuid.uuid4())  # fmt: skip
    for outputs, value in (({"answer": "The loan is 14 days."}, 1.0), ({}, None)):
        example = Example(id=uuid.uuid4(), inputs=ASKED, outputs=outputs, dataset_id=uuid.uuid4())
        found = run_evaluator(adapters.langsmith("rougeL_f")).evaluate_run(run, example)
        assert (found.key, found.score) == ("rougeL_f", value)
        assert found.comment


@pytest.mark.slow
def test_mlflow_itself_takes_it() -> None:
    pytest.importorskip("mlflow.genai.scorers")
    scorer = adapters.mlflow("rougeL_f")
    found = scorer.run(inputs=ASKED, outputs="two words", expectations={"expected_response": "two others"})
    assert (found.name, found.value, found.error) == ("rougeL_f", 0.5, None)
    lacking = scorer.run(inputs=ASKED, outputs="two words", expectations={})
    assert (lacking.value, "needs reference" in lacking.error.error_message) == (None, True)


@pytest.mark.slow
def test_langfuse_itself_takes_it() -> None:
    langfuse = pytest.importorskip("langfuse")
    client = langfuse.Langfuse(public_key="pk-lf-0", secret_key="sk-lf-0", tracing_enabled=False)
    items = [{"input": "Q", "expected_output": "two others"}, {"input": "Q"}]
    made = client.run_experiment(
        name="try", data=items, task=lambda *, item, **_: "two words", evaluators=[adapters.langfuse("rougeL_f")]
    )
    found = [one.evaluations[0] for one in made.item_results]
    assert [one.value for one in found] == [0.5, None]
    assert "needs reference" in found[1].comment


def test_evaluators_keep_the_ids_of_passages() -> None:
    texts = {"d1": "The river is long.", "d2": "Stones are hard."}
    given = {"answer": "Ann.", "contexts": [{"id": name, "content": text} for name, text in texts.items()]}
    labelled = {"answer": "Ann.", "contexts": [{"id": "d2", "content": "The tide is low."}]}
    measure = adapters.langsmith("context_precision_by_label")
    assert measure({"question": "q?"}, given, labelled)["score"] == 0.5

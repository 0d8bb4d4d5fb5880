"""Several right answers: the best counts, each is kept, for every metric that reads a reference, from every shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from ragbench.old.core.language import translator
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.data import foreign_sets, samples
from ragbench.old.metrics import catalogue, overlap
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.references import lowest_of_references
from tests.old.cli.command_line import invoke
from tests.old.judge.scripted_judge import score

KNOWN = ("8:00", "8 a.m.", "at eight in the morning")
BEST = ("exact_match", "string_similarity", "chrf", "rouge1_f", "rouge2_f", "rougeL_f", "token_f1")


def of(name: str, response: str, *references: str) -> Score:
    return score(catalogue()[name](Sample("s", response=response, reference=references[0], references=references)))


@pytest.mark.parametrize("name", BEST)
@pytest.mark.parametrize("response", ["8 a.m.", "eight in the morning", "", "noon"])
def test_the_best_of_several_counts_and_each_is_kept(name: str, response: str) -> None:
    alone = [of(name, response, one) for one in KNOWN]
    found = of(name, response, *KNOWN)
    values = [one.value for one in alone if one.status is Status.OK]
    assert found.value == max(values)
    assert [one["reference"] for one in found.detail["references"]] == [*KNOWN]
    kept = [np.nan if one["value"] is None else one["value"] for one in found.detail["references"]]
    np.testing.assert_array_equal(kept, [one.value for one in alone])
    chosen = KNOWN[next(place for place, one in enumerate(alone) if one.value == found.value)]
    assert f"Best of 3 references: {chosen}" in found.reason
    assert f"Лучший из эталонов (3): {chosen}" in explain(found, translator("ru"))


TEXTS = st.lists(st.sampled_from(["the cat sat", "кот сидел", "a cat", "cat the sat", "dog"]), min_size=2, max_size=4)


@given(st.sampled_from(BEST), st.sampled_from(["the cat sat", "кот", "a dog"]), TEXTS, st.randoms())
def test_no_order_of_references_changes_the_value_and_no_reference_lowers_it(
    name: str, response: str, references: list[str], draw: Any
) -> None:
    found = of(name, response, *references).value
    mixed = [*references]
    draw.shuffle(mixed)
    np.testing.assert_equal(of(name, response, *mixed).value, found)
    more = of(name, response, *references, "the cat sat on the mat").value
    assert np.isnan(found) or more >= found


def test_rouge_is_that_of_score_multi() -> None:
    peer = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=overlap.WordTokenizer())
    references = ["the cat sat on the mat", "a cat was on the mat today", "кот сидел"]
    found = peer.score_multi(references, "the cat was on a mat")
    for kind in ("1", "2", "L"):
        value = of(f"rouge{kind}_f", "the cat was on a mat", *references).value
        assert value == pytest.approx(found[f"rouge{kind}"].fmeasure, abs=1e-12)


def test_bleu_counts_references_together_as_sacrebleu_does() -> None:
    response, references = "the cat sat on the mat today", ["the cat sat on a mat", "on the mat today sat the cat"]
    expected = sacrebleu.sentence_bleu(response, references).score
    assert expected > max(sacrebleu.sentence_bleu(response, [one]).score for one in references)
    assert of("bleu", response, *references).value == pytest.approx(expected, abs=1e-9)
    table = [Sample("1", response=response, reference=references[0], references=tuple(references)),
             Sample("2", response="a dog ran there now", reference="the dog ran there now")]  # fmt: skip
    pairs = [[references[0], "the dog ran there now"], [references[1], None]]
    whole = sacrebleu.corpus_bleu([one.response or "" for one in table], pairs).score
    assert parse("corpus_bleu")(table) == pytest.approx(whole, abs=1e-9)


def test_where_low_is_good_the_lowest_counts() -> None:
    @lowest_of_references
    async def far(sample: Sample) -> Score:
        return Score(float(len(sample.reference or "")))

    assert score(far(Sample("s", reference="aaa", references=("aaa", "b", "cc")))).value == 1.0


def test_every_metric_of_a_reference_says_what_of_several_counts() -> None:
    silent = [
        name
        for name, metric in catalogue().items()
        if metric.grain == "sample" and "reference" in metric.fields and not metric.several
    ]
    assert silent == []
    assert parse("exact_match").several == "Of several references the one that gives the best value counts."
    for name in ("rubrics_score", "aspect_critique", "simple_criteria"):
        assert parse(name).several == "Of several references the judge sees all."


SHAPES: dict[str, dict[str, Any]] = {
    "list": {"reference": ["8:00", "8 a.m."]},
    "ground_truths": {"ground_truths": ["8:00", "8 a.m."]},
    "both": {"reference": "8:00", "references": None, "ground_truths": ["8 a.m.", "8:00"]},
    "a cell beside": {"ground_truth": "8:00", "gold_answers": '["8 a.m.", "8:00"]'},
    "a cell": {"reference": '["8:00", "8 a.m."]'},
    "a cell of Python": {"reference": "['8:00', '8 a.m.']"},
    "SQuAD": {"reference": {"text": ["8:00", "8 a.m.", "8:00"], "answer_start": [1, 2, 1]}},
    "objects": {"reference": [{"text": "8:00"}, {"text": "8 a.m."}]},
    "gaps": {"reference": ["", "8:00", None, "8 a.m."]},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_shapes_of_several_references(shape: dict[str, Any]) -> None:
    [found] = samples.samples_of({"question": "When?", "answer": "8 a.m.", **shape})
    assert found.reference == "8:00"
    assert set(found.references) == {"8:00", "8 a.m."}


@pytest.mark.parametrize("text", ["[1] see the appendix", "[1, 2]", "{x: 1}", "8:00"])
def test_a_text_that_looks_like_a_list_stays_a_text(text: str) -> None:
    [found] = samples.samples_of({"question": "When?", "answer": "8 a.m.", "reference": text})
    assert (found.reference, found.references) == (text, ())
    [one] = samples.samples_of({"question": "When?", "answer": "8", "reference": [text]})
    assert (one.reference, one.references) == (text, ())


def test_the_command_takes_the_best(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"question": "When?", "answer": "8 a.m.", "reference": ["8:00", "8 a.m."]}) + "\n")
    done = invoke("score", path, "-m", "exact_match", "--json", tmp_path / "o.json")
    assert done.exit_code == 0, done.output
    [row] = json.loads((tmp_path / "o.json").read_text())["estimates"]
    assert row["value"] == 1.0


def test_squad_keeps_all_answers(tmp_path: Path) -> None:
    answers = [{"text": "8:00", "answer_start": 10}, {"text": "at 8:00", "answer_start": 7}, {"text": "8:00"}]
    data = {"title": "T", "paragraphs": [{"context": "Opens at 8:00.", "qas": [
        {"id": "q", "question": "When?", "answers": answers},
        {"id": "p", "question": "Then?", "answers": answers[:1]},
    ]}]}  # fmt: skip
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"data": [data]}))
    questions = foreign_sets.questions(path).questions
    assert [(one.reference, one.references) for one in questions] == [("8:00", ("8:00", "at 8:00")), ("8:00", ())]
    assert "references" not in questions[1].model_dump()

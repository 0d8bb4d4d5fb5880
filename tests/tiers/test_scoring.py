"""Answers scored by the front: small tables, metrics of words, scripted and lexical judges."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core import metric
from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.language import load_language
from ragbench.core.trust import trust
from ragbench.judge import Panel
from ragbench.tiers import scoring
from ragbench.tiers.rag_metrics import USUAL, correlate
from tests.llm.chat_server import Raw, serving
from tests.tiers.answered import Dead, Scripted, counts, means, page_text

FEW = {"draws": 200}
ENGLISH = load_language("en")


@pytest.fixture(autouse=True)
def _own_metrics_are_forgotten() -> Iterator[None]:
    """Leave the catalogue as it was: a function that is scored by is declared in it."""
    with patch.dict(metric.CATALOGUE), patch.dict(metric._ALIASES):
        yield


ROWS = [
    {"id": f"q{number}", "question": "When?", "answer": answer, "reference": "at nine"}
    for number, answer in enumerate(["at nine", "at ten", "", "at nine", "noon"])
]


def values(result: Any, metric: str) -> dict[str, float]:
    """The value of every question."""
    rows = result.scores[result.scores["metric"] == metric]
    return dict(zip(rows["question_id"], rows["value"], strict=True))


def statuses(result: Any, metric: str) -> list[str]:
    """The status of every question."""
    return result.scores.loc[result.scores["metric"] == metric, "status"].tolist()


def test_an_embedder_that_gives_no_vectors_leaves_the_other_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trust(tmp_path)
    with serving(lambda body, number: Raw({"data": [{}]})) as server:
        table = f"kind = 'openai'\nbase_url = '{server.url}'\nmodel = 'm'"
        Path("ragbench.toml").write_text(f"[embedders.far]\n{table}\n", encoding="utf-8")
        metrics = "token_f1, semantic_similarity, response_relevancy"
        result = rb.score(ROWS[:2], metrics=metrics, judge="lexical", embedder="far", **FEW)
    assert statuses(result, "token_f1") == ["ok", "ok"]
    for name in ("semantic_similarity", "response_relevancy"):
        assert statuses(result, name) == ["parse_error", "parse_error"]


def test_vectors_that_were_paid_for_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    trust(tmp_path)

    def embed(body: dict[str, Any], number: int) -> Raw:
        return Raw({"data": [{"embedding": [1, len(text)]} for text in body["input"]]})

    with serving(embed) as server:
        table = f"kind = 'openai'\nbase_url = '{server.url}'\nmodel = 'm'"
        Path("ragbench.toml").write_text(f"[embedders.far]\n{table}\n", encoding="utf-8")
        for _ in range(2):
            rb.score(ROWS[:2], metrics="semantic_similarity", embedder="far", **FEW)
            assert len(server.requests) == 1


def test_values_are_those_computed_by_hand() -> None:
    result = rb.score(ROWS, metrics="token_f1, exact_match, corpus_bleu", **FEW)
    expected = {"q0": 1.0, "q1": 0.5, "q2": 0.0, "q3": 1.0, "q4": 0.0}
    assert values(result, "token_f1") == expected
    assert means(result)["answers", "token_f1"] == 0.5
    assert means(result)["answers", "exact_match"] == 0.4
    assert set(statuses(result, "token_f1")) == {"ok"}  # an empty answer is worth 0
    assert "corpus_bleu" not in set(result.scores["metric"])
    assert ("answers", "corpus_bleu") in means(result)


def test_corpus_metrics_are_of_the_answers_that_have_a_reference() -> None:
    rows = [*ROWS[:1], {"id": "open", "question": "Who?", "answer": "Anna", "reference": ""}]
    result = rb.score(rows, metrics="rouge1_f, corpus_rouge1_f", **FEW)
    assert means(result)["answers", "corpus_rouge1_f"] == 1.0
    assert counts(result, "answers", "corpus_rouge1_f") == (1, 0)
    assert counts(result, "answers", "rouge1_f") == (1, 1)
    with pytest.raises(BenchError, match="corpus_bleu is of all answers together"):
        rb.score(ROWS, metrics="corpus_bleu", **FEW)


def test_a_metric_that_is_named_twice_is_measured_once() -> None:
    result = rb.score(ROWS, metrics="bleu, bleu, BLEU", **FEW)
    assert len(result.scores) == 5
    assert result.frames.repeats.empty


def test_an_own_metric_reads_the_fields_that_its_parameters_name() -> None:
    def short(answer: str) -> bool:
        """Whether an answer has few letters."""
        return len(answer) < 7

    result = rb.score(ROWS, metrics=[short, "token_f1"], **FEW)
    assert means(result)["answers", "short"] == 0.6
    assert "short" in page_text(result)


def test_a_metric_whose_fields_no_row_has_is_refused_before_anybody_is_asked() -> None:
    judge = Scripted()
    rows = [
        {"id": "a", "question": "When?", "answer": "at nine", "reference": "at nine"},
        {"id": "b", "question": "When?", "answer": "at nine", "contexts": ["at nine"]},
    ]
    with pytest.raises(BenchError, match="faithfulness_rating reads question, answer, contexts"):
        rb.score(rows[:1], metrics=["e2e_score", "faithfulness_rating"], judge=judge, **FEW)
    # Every field is there, and no row has all of them.
    with pytest.raises(BenchError, match=r"context_recall reads [a-z, ]+; no row has all"):
        rb.score(rows, metrics=["e2e_score", "context_recall"], judge=judge, **FEW)
    assert judge.asked == []
    result = rb.score(rows, metrics=["e2e_score", "faithfulness_rating"], judge=judge, **FEW)
    assert counts(result, "answers", "faithfulness_rating") == (1, 1)
    assert statuses(result, "e2e_score") == ["ok", "missing_field"]


def test_labelled_passages_may_be_texts() -> None:
    rows = [{"question": "When?", "contexts": ["a", "b"], "reference_contexts": ["a", "c"]}]
    result = rb.score(rows, metrics="context_recall_by_label(by=text)", **FEW)
    assert result.scores["value"].tolist() == [0.5]


def test_passages_with_an_id_and_a_text_are_kept_and_an_offline_embedder_knows_them() -> None:
    texts = ["Zebras graze.", "Gulls fly.", "Owls hoot."]
    contexts: list[Any] = [{"id": f"p{number}", "text": text} for number, text in enumerate(texts)]
    row = {**ROWS[4], "contexts": [*contexts, {"id": "bare"}, "A text without an id."]}
    result = rb.score([row, row | {"id": "b"}], "semantic_similarity", embedder="hashing", **FEW)
    assert result.frames.passages["passage_id"].tolist() == ["p0", "p1", "p2"]
    # "noon" and "at nine" share no letters with the passages: both are as unknown.
    assert means(result)["answers", "semantic_similarity"] == pytest.approx(1.0)


def test_a_table_of_passages_is_no_answer_that_failed() -> None:
    rows = [{"question": "When?", "contexts": ["at nine"], "reference": "at nine"}]
    assert "returned nothing" not in str(rb.score(rows, metrics="context_recall", **FEW))


def test_a_disk_that_fills_leaves_the_older_page_and_numbers_as_they_were(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    rb.score(ROWS, metrics="token_f1", **FEW).save(folder)
    older = {file: file.read_bytes() for file in folder.rglob("*.*")}
    result = rb.score(ROWS, metrics="exact_match", **FEW)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, limits[1]))  # less than plotly's script
    try:
        for target in (folder, tmp_path / "new"):
            with pytest.raises(OSError, match="File too large"):
                result.save(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {file: file.read_bytes() for file in folder.rglob("*.*")} == older
    assert list(tmp_path.iterdir()) == [folder]
    assert "exact_match" in result.save(folder).read_text(encoding="utf-8")


def test_a_baseline_that_no_row_names_is_refused() -> None:
    rows = {"old": ROWS, "new": ROWS}
    with pytest.raises(BenchError, match="baseline 'nwe' is none of old, new"):
        rb.score(rows, metrics="token_f1", baseline="nwe", **FEW)
    assert rb.score(rows, metrics="token_f1", baseline="new", **FEW).request.baseline == "new"


def test_rows_of_one_id_are_repeats_and_their_mean_is_the_value() -> None:
    rows = [
        {**ROWS[0], "id": name, "answer": answer, "repeat": repeat}
        for name, answers in (("a", ["at nine", "at nine"]), ("b", ["at nine", "noon"]))
        for repeat, answer in enumerate(answers)
    ]
    result = rb.score(rows, metrics="exact_match", **FEW)
    assert values(result, "exact_match") == {"a": 1.0, "b": 0.5}
    statement: Any = result.statement
    rates = statement.repeats.set_index("rate")["value"].to_dict()
    assert rates == {"mean": 0.75, "pass@k": 1.0, "pass^k": 0.5, "flip_rate": 0.5}
    assert set(statement.repeats["k"]) == {2}
    assert "Asked again and again" in page_text(result)
    with pytest.raises(BenchError, match="repeats: there is no such key"):
        rb.score(rows, metrics="exact_match", repeats=3, **FEW)  # a table has its own


def test_three_quarters_of_a_scale_that_has_a_good_end_pass() -> None:
    scales = {
        "high": ("higher", (1.0, 5.0), 4.0),
        "low": ("lower", (0.0, 1.0), 0.25),
        "beyond": ("lower", (0.0, 1.0), 0.3),
        "tells": ("describes", (0.0, 1.0), 1.0),
        "endless": ("higher", (0.0, float("inf")), 9.0),
    }
    for name, (better, bounds, value) in scales.items():
        metric.metric(lambda answer, value=value: value, name=name, better=better, bounds=bounds)  # type: ignore[arg-type]
    rows = [{**ROWS[0], "repeat": repeat} for repeat in range(3)]
    rows += [{**ROWS[1], "repeat": repeat} for repeat in range(2)]
    result: Any = rb.score(rows, metrics=list(scales), **FEW)
    rates = result.statement.repeats.query("rate == 'mean'").set_index("metric")["value"]
    assert rates.to_dict() == {"high": 1.0, "low": 1.0, "beyond": 0.0}
    assert set(result.statement.repeats["k"]) == {2}
    assert result.frames.answers["repeat"].tolist() == [0, 1, 2, 0, 1]


def test_what_a_single_judge_said_of_every_claim_is_kept() -> None:
    row = {**ROWS[0], "answer": "It opens at nine.", "contexts": ["It opens at nine."]}
    result = rb.score([row], metrics="faithfulness", judge="lexical", **FEW)
    verdicts = result.frames.verdicts[["judge", "item", "verdict"]].to_numpy().tolist()
    assert [said[:2] for said in verdicts] == [["lexical", "It opens at nine."]]
    assert result.frames.judgements.empty


def test_what_is_missing_is_said_of_every_answer() -> None:
    rows = [
        {"id": "a", "question": "When?", "answer": "at nine", "reference": "at nine"},
        {"id": "c", "question": "When?", "answer": "at nine", "reference": "  "},
        {"id": "d", "question": "When?", "answer": "at nine", "reference": "…"},
        {"id": "e", "question": "When?", "answer": "", "reference": "at nine"},
    ]
    scores = rb.score(rows, metrics="rouge1_f", **FEW).scores
    assert dict(zip(scores["question_id"], scores["reason"], strict=True)) == {
        "a": "",
        "c": "no reference",
        "d": "the reference has nothing that could be compared",
        "e": "empty answer",
    }
    passages_only = [{"id": "a", "question": "When?", "reference": "x", "contexts": ["y"]}]
    scores = rb.score({"v1": rows, "v2": passages_only}, metrics="rouge1_f", **FEW).scores
    assert scores["reason"].tolist()[-1] == "no answer"


@pytest.mark.parametrize(
    ("rows", "metrics", "message"),
    [
        (ROWS, "response_exact_match_rate", "of kind set: it scores no answer"),
        (ROWS, "mrr", "mrr scores rankings"),
        ([{"question": "When?"}], None, "no usual metric can be measured"),
    ],
)
def test_metrics_that_say_nothing_of_these_rows_are_refused(
    rows: Any, metrics: Any, message: str
) -> None:
    with pytest.raises(BenchError, match=message):
        rb.score(rows, metrics=metrics, **FEW)


def test_two_rows_with_one_id_and_nothing_that_tells_them_apart_are_refused() -> None:
    rows = [{**ROWS[0], "id": "same"}, {**ROWS[4], "id": "same"}]
    with pytest.raises(BenchError, match="the id 'same' stands 2 times"):
        rb.score(rows, metrics="exact_match", **FEW)


def test_the_order_of_scores_does_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    def length(answer: str) -> float:
        """Letters."""
        return len(answer) / 10

    rows = [*ROWS, {**ROWS[0], "repeat": "1"}]
    whole = rb.score(rows, metrics=["token_f1", length, "exact_match"], **FEW)
    monkeypatch.setattr(scoring, "BATCH", 2)
    parts = rb.score(rows, metrics=["token_f1", length, "exact_match"], **FEW)
    pd.testing.assert_frame_equal(whole.scores, parts.scores)
    pd.testing.assert_frame_equal(whole.frames.repeats, parts.frames.repeats)
    assert list(whole.scores["metric"].unique()) == ["token_f1", "length", "exact_match"]


def test_answers_of_a_data_set_go_by_its_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = rb.rag_metrics(metrics="token_f1, context_recall_by_label", limit=5, **FEW)
    assert result.about.dataset == "campus"
    of_rows = rb.rag_metrics(ROWS, metrics="token_f1", **FEW)
    assert means(of_rows)["answers", "token_f1"] == 0.5
    assert counts(result, "answers", "token_f1") == (5, 0)
    monkeypatch.setenv("RAGBENCH_LANGUAGE", "ru")
    in_russian = rb.rag_metrics(metrics="token_f1", limit=1, **FEW)
    assert set(in_russian.frames.questions["language"]) == {"ru"}


def test_all_usual_metrics_are_measured_on_the_answers_of_the_sample_data(project: Path) -> None:
    result = rb.rag_metrics(judges="lexical", limit=5, language="ru", **FEW)
    assert list(result.estimates["metric"]) == list(USUAL)
    of_rubrics = result.scores.set_index("metric").loc["rubrics_score"]
    assert set(of_rubrics["value"]) <= {0, 0.25, 0.5, 0.75, 1}
    assert of_rubrics["explanation"].str.startswith("Уровень").all()
    # Who wants the same BLEU elsewhere is told how it was computed.
    assert "bleu: sacrebleu nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp" in page_text(result)


def test_a_passage_of_grade_nought_is_no_label_of_an_answer(empty_folder: Path) -> None:
    rows = {
        "chunks": [{"id": name, "text": f"Passage {name}."} for name in "abc"],
        "questions": [{"id": "q", "question": "When?", "relevant": {"a": 2, "b": 0, "c": 1}}],
        "ratings": [
            {
                "question_id": "q", "question": "When?", "answer": "At 8.", "rater": "ann",
                "value": 5, "contexts": ["Passage a.", "Passage b."], "context_ids": ["a", "b"],
            },
            {
                "question_id": "gone", "question": "Where?", "answer": "Here.", "rater": "ann",
                "value": 4, "contexts": ["Passage c."], "context_ids": ["c"], "answer_id": "2",
            },
        ],
    }  # fmt: skip
    folder = empty_folder / "data" / "desk"
    folder.mkdir(parents=True)
    for name, of_file in rows.items():
        text = "\n".join(map(json.dumps, of_file))
        (folder / f"{name}.en.jsonl").write_text(text, encoding="utf-8")
    labels = ["context_recall_by_label", "context_precision_by_label"]
    result = rb.rag_metrics(dataset="desk", metrics=labels, **FEW)
    assert [means(result)["answers", label] for label in labels] == [0.5, 0.5]
    # A question that the set does not have stands in its answer's row.
    assert result.frames.questions["text"].tolist() == ["When?", "Where?"]


def test_without_a_judge_the_answer_is_by_a_metric_that_needs_none() -> None:
    rows = [{**row, "contexts": ["It opens at nine."]} for row in ROWS]
    result = rb.score(rows, metrics=["factual_correctness", "token_f1"], **FEW)
    assert result.request.primary == "token_f1"
    assert result.about.stand_ins == ("judge lexical",)
    usual = rb.score(rows[:2], embedder=lambda texts: [[1.0, len(text)] for text in texts], **FEW)
    assert usual.request.primary == "token_f1"
    judged = rb.score(rows, metrics=["e2e_score", "token_f1"], judge=Scripted(), **FEW)
    assert judged.request.primary == "e2e_score"


def test_a_panel_keeps_each_judge_and_names_the_one_that_failed() -> None:
    kind, dead = Scripted(5, "kind"), Dead(name="dead")
    result = rb.score(ROWS[:2], metrics="e2e_score", judge=[kind, dead], **FEW)
    assert counts(result, "answers", "e2e_score") == (0, 2)
    assert "not measured by dead (judge_error)" in result.scores["reason"].iloc[0]
    said = result.frames.judgements.groupby("judge")["value"].apply(list)
    assert said["kind"] == [5.0, 5.0]
    assert pd.isna(said["dead"]).all()
    assert "dead" in page_text(result)
    one = rb.score(ROWS[:2], metrics="e2e_score", judge=[kind, dead], quorum=1, **FEW)
    assert means(one)["answers", "e2e_score"] == 5.0
    assert counts(one, "answers", "e2e_score") == (2, 0)
    # A tolerance of 0 is one: judges that differ have no consensus.
    strict = Scripted(4, "strict")
    rule = {"aggregate": "consensus", "tolerance": 0}
    agreed = rb.score(ROWS[:2], metrics="e2e_score", judge=[kind, strict], **rule, **FEW)
    assert agreed.scores["reason"].iloc[0] == "no consensus among kind 5, strict 4"


def test_a_judge_is_told_that_it_was_the_user_who_stopped() -> None:
    ends = []

    class Stopped(Scripted):
        async def ask(self, prompt: Any, **values: Any) -> Any:
            raise KeyboardInterrupt

        async def __aenter__(self) -> Any:
            return self

        async def __aexit__(self, kind: Any, *error: Any) -> None:
            ends.append(kind)

    samples = rb.read(ROWS).samples
    with pytest.raises(KeyboardInterrupt):
        scoring.score_samples(
            samples, [metric.parse_label("e2e_score")], language=ENGLISH, judge=Stopped()
        )
    # Else it would wait for all that is queued, and pay for it.
    assert not issubclass(ends[0], Exception)


def test_a_word_that_the_unmeasured_could_turn_says_so() -> None:
    rows = []
    for n in range(40):
        right = {"v1": n in (9, 39), "v2": n < 9}
        for name, lacks in (("v1", 38), ("v2", 39)):
            reference = None if n == lacks else "yes"
            answer = "yes" if right[name] else "no"
            told = {"question": f"{n}?", "answer": answer, "reference": reference}
            rows.append({"id": f"q{n}", **told, "system": name})
    text = str(rb.score(rows, ["exact_match"], draws=1_000))
    assert "On exact_match v2 is better than v1: +0.211" in text
    assert "2 of 40 pairs are unmeasured. With these it could be: not shown." in text


def test_of_several_references_one_that_could_not_be_judged_might_be_the_best() -> None:
    class Judge(Scripted):
        def ask(self, prompt: Any, **values: Any) -> Any:
            if values["reference"] == "at ten":
                raise Unmeasured(status, "broken")
            return super().ask(prompt, **values)

    status = "judge_error"
    row = {**ROWS[0], "reference": ["at nine", "at ten"]}
    result = rb.score([row], ["e2e_score"], judge=Judge(4), **FEW)
    assert result.scores[["status", "reason"]].to_numpy().tolist() == [["judge_error", "broken"]]
    # One that holds nothing to judge is none of the answers that count.
    status = "empty_decomposition"
    result = rb.score([row], ["e2e_score"], judge=Judge(4), **FEW)
    assert result.scores[["status", "value"]].to_numpy().tolist() == [["ok", 4.0]]


def test_metrics_are_correlated_by_the_order_they_put_answers_in() -> None:
    def same(answer: str) -> float:
        """The same for all."""
        return 1.0

    def length(answer: str) -> float:
        """Letters: 7, 6, 0, 7, 4."""
        return float(len(answer))

    def shortness(answer: str) -> float:
        """The other way round."""
        return -float(len(answer))

    result = rb.score(ROWS, metrics=[same, length, shortness, "token_f1"], **FEW)
    rho = correlate(result.frames)
    assert list(rho.columns) == ["length", "shortness", "token_f1"]
    # Ranks of length 4.5, 3, 1, 4.5, 2; of token_f1 4.5, 3, 1.5, 4.5, 1.5.
    assert rho["length"].tolist() == pytest.approx([1, -1, 0.9733285267845753])
    assert rho["token_f1"].tolist() == pytest.approx([0.9733285267845753, -0.9733285267845753, 1])


def test_a_panel_of_two_is_their_mean() -> None:
    def length(answer: str) -> float:
        """Letters, which no judge counts."""
        return float(len(answer))

    panel = [Scripted(5, "kind"), Scripted(2, "stern")]
    result = rb.score(ROWS[:2], metrics=["e2e_score", length], judge=panel, **FEW)
    assert means(result)["answers", "e2e_score"] == 3.5
    assert result.frames.judgements["metric"].tolist() == ["e2e_score"] * 4
    assert "Each judge by itself" in page_text(result)


def test_a_dead_judge_leaves_gaps_and_the_page_is_made(tmp_path: Path) -> None:
    result = rb.score(ROWS, metrics=["e2e_score", "token_f1"], judge=Dead(), **FEW)
    # Of the empty answer nobody has to be asked.
    assert counts(result, "answers", "e2e_score") == (1, 4)
    assert statuses(result, "e2e_score").count("judge_error") == 4
    assert means(result)["answers", "token_f1"] == 0.5
    text = result.save(tmp_path).read_text(encoding="utf-8")
    assert "no route to host" in text


def test_a_constant_judge_shows_no_difference() -> None:
    systems = {"old": ROWS, "new": list(reversed(ROWS))}
    filled = {
        name: [{**row, "answer": row["answer"] or "none"} for row in rows]
        for name, rows in systems.items()
    }
    result = rb.score(filled, metrics="e2e_score", judge=Scripted(4), **FEW)
    assert means(result)["new", "e2e_score"] == 4.0
    assert result.comparisons["word"].tolist() == ["equal on every question"]


def test_nuggets_topics_and_tool_calls_reach_their_metrics() -> None:
    call = {"name": "book", "arguments": {"room": 1}}
    row = {
        "id": "a",
        "question": "Book it.",
        "answer": "Room 1 is booked.",
        "nuggets": {"Room 1 is booked.": "vital"},
        "topics": ["rooms"],
        "tool_calls": [call],
        "expected_tool_calls": [call, {"name": "pay", "arguments": {}}],
        "messages": [{"role": "user", "content": "Book it."}],
        "cost": 0.25,
    }
    labels = ["tool_call_f1", "agent_cost", "agent_turns", "nugget_score", "topic_adherence"]
    result = rb.score([row], metrics=labels, judge="lexical", **FEW)
    # The judge of words was asked about the topics, and cannot tell.
    assert result.scores["status"].tolist() == ["ok", "ok", "ok", "ok", "judge_error"]
    assert means(result)["answers", "tool_call_f1"] == pytest.approx(2 / 3)
    assert means(result)["answers", "agent_cost"] == 0.25
    assert means(result)["answers", "nugget_score"] == 1.0


def test_the_project_decides_what_nobody_says(empty_folder: Path) -> None:
    (empty_folder / "own.py").write_text(
        'def rate(prompt):\n    return \'{"reason": "so", "rating": 4}\'\n'
        "def embed(texts):\n    return [[1.0, 0.0] for _ in texts]\n"
    )
    (empty_folder / "ragbench.toml").write_text(
        'language = "ru"\nbaseline = "new"\nembedder = "own"\n'
        '[judges.own]\ncallable = "own:rate"\n[embedders.other]\ncallable = "own:none"\n'
        '[embedders.own]\ncallable = "own:embed"\n[smallest_difference]\ntoken_f1 = 2.0\n'
    )
    trust(empty_folder)
    labels = "token_f1, e2e_score, semantic_similarity"
    rows = [row for row in ROWS if row["answer"]]
    given = {"old": rows, "new": rows}
    said = {"language": "en", "baseline": "old", "margins": {"token_f1": 0.5}, "judges": "lexical"}
    documents = [{"id": "d", "text": "at nine"}]
    systems = {name: lambda question, contexts: "at nine" for name in given}
    asked = [{**ROWS[0], "relevant": "d"}]
    for measure in (
        lambda **options: rb.score(given, labels, **options, **FEW),
        lambda **options: rb.tier2(systems, asked, documents, metrics=labels, **options, **FEW),
    ):
        result = measure()
        request = result.request
        assert (request.language, request.baseline) == ("ru", "new")
        assert request.margins == {"token_f1": 2.0}
        assert result.about.stand_ins == ()
        assert means(result)["new", "e2e_score"] == 4.0
        assert means(result)["new", "semantic_similarity"] == 1.0
        request = measure(**said).request
        assert (request.language, request.baseline, request.margins) == (
            "en",
            "old",
            {"token_f1": 0.5},
        )
        assert measure(**said).about.stand_ins == ("judge lexical",)
        assert means(measure(judge=Scripted(2)))["new", "e2e_score"] == 2.0
    # Where none is called so, the first is the baseline.
    assert rb.score({"a": rows, "b": rows}, "token_f1", **FEW).request.baseline == "a"
    shown = [{**row, "show": True} for row in rows]
    assert "own" in rb.tier_judge_pipeline(decisions=shown, **FEW).systems
    assert "own" not in rb.tier_judge_pipeline("lexical", shown, **FEW).systems
    metric = {"metric": "answer_relevance"}
    assert rb.tier_judge(answers=rows, **metric, **FEW).systems == ["own"]
    assert rb.tier_judge("lexical", rows, **metric, **FEW).systems == ["lexical"]
    assert rb.ux([["When?", "Where?"]], **FEW).systems == ["own"]
    offline = rb.ux([["When?", "Where?"]], embedders="hashing", **FEW)
    assert (offline.systems, offline.about.stand_ins) == (["hashing"], ("embedder hashing",))


def test_objects_are_asked_here_though_a_cluster_is_named(empty_folder: Path) -> None:
    (empty_folder / "ragbench.toml").write_text('cluster = "tcp://127.0.0.1:9"\n')
    trust(empty_folder)
    assert means(rb.score(ROWS, "e2e_score", Scripted(4), **FEW))["answers", "e2e_score"] == 3.4
    same = rb.score(ROWS, "semantic_similarity", embedder=lambda texts: [[1.0]] * len(texts), **FEW)
    assert means(same)["answers", "semantic_similarity"] == pytest.approx(0.8)


def test_criteria_of_a_project_need_the_fields_that_it_says(empty_folder: Path) -> None:
    tables = (
        '[metrics.polite]\nquestion = "Is it polite?"\n'
        '[metrics.right]\nquestion = "Is it right?"\nneeds = ["reference"]\n'
    )
    (empty_folder / "ragbench.toml").write_text(tables)
    trust(empty_folder)
    rows = [{"question": "When?", "answer": "at nine"}]
    scores = rb.score(rows, "polite, right", judge=lambda prompt: {"verdict": "yes"}, **FEW).scores
    assert scores["reason"].tolist()[1] == "the sample has no reference"
    assert scores["status"].tolist()[0] != "missing_field"


def test_columns_of_the_project_are_read_unless_others_are_named(empty_folder: Path) -> None:
    (empty_folder / "ragbench.toml").write_text('[columns]\nanswer = "bot"\n')
    trust(empty_folder)
    rows = [{"question": "When?", "bot": "at nine", "other": "noon"}]
    assert rb.read(rows).samples[0].answer == "at nine"
    assert rb.read(rows, {"answer": "other"}).samples[0].answer == "noon"
    with pytest.raises(BenchError, match=r"no column 'bot'.*; columns are those of \[columns\]"):
        rb.read([{"question": "When?"}])


class Noting:
    """An open judge that has something to say of how it was asked."""

    name = "noting"
    notes = ("noting was asked without a temperature.",) * 2

    async def __aenter__(self) -> Noting:
        return self

    async def __aexit__(self, *error: Any) -> None:
        """Nothing is open."""

    async def ask(self, prompt: Any, **values: Any) -> Any:
        return prompt.shape(reason="so it is", rating=4)


def test_what_a_judge_says_of_how_it_was_asked_stands_on_the_page_once() -> None:
    result = rb.score(ROWS, metrics="e2e_score", judge=Panel([Noting()]), **FEW)
    assert page_text(result).count("noting was asked without a temperature.") == 1

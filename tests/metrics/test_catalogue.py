"""The catalogue: all names, the names of other programs, and what a wrong name is told."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import ragbench.metrics
from ragbench.core.errors import BenchError
from ragbench.core.metric import CATALOGUE, Metric
from ragbench.metrics import find_metric
from ragbench.metrics.aliases import ALIASES


def test_every_metric_is_declared_with_a_summary_and_a_source_and_is_an_attribute() -> None:
    house = set(ragbench.metrics.__all__) - {"find_metric"}  # other tests declare criteria
    assert len(house) > 100
    for name in sorted(house):
        metric = CATALOGUE[name]
        assert getattr(ragbench.metrics, name) is metric
        assert find_metric(name) == metric
        assert len(metric.summary) > 20, name
        assert metric.source, name
        assert metric.bounds[0] < metric.bounds[1], name


def test_rankings_are_reported_at_the_cut_offs_of_the_specification() -> None:
    assert {name: metric.cutoffs for name, metric in CATALOGUE.items() if metric.cutoffs} == {
        "hit_rate": (1, 5, 10),
        "recall": (1, 3, 5, 10),
        "precision": (1, 3, 5, 10),
        "ndcg": (5, 10),
    }


def test_the_catalogue_is_light() -> None:
    code = "import sys, ragbench.metrics; print(sorted(sys.modules.keys() & set(sys.argv[1:])))"
    heavy = ["scipy", "sklearn", "torch", "sacrebleu", "rapidfuzz", "snowballstemmer", "openai"]
    run = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_other_names_lead_to_what_they_mean() -> None:
    for label, names in ALIASES.items():
        for name in names.split():
            assert find_metric(name) == find_metric(label), name


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Faithfulness", "faithfulness"),
        ("BLEU", "bleu"),
        ("rougeL", "rougeL_f"),
        ("ROUGE-L", "rougeL_f"),
        ("rouge_l", "rougeL_f"),
        ("nDCG@10", "ndcg@10"),
        ("P@10", "precision@10"),
        ("MAP", "average_precision"),
        ("Recall@5", "recall@5"),
        ("chrF++", "chrf(words=2)"),
        ("avg_rouge1_f", "rouge1_f"),
        ("ndcg(gain=exponential)@5", "ndcg(gain=exponential)@5"),
        ("ndcg(gain=linear, )@5", "ndcg(gain=linear)@5"),
        ("exact_match(within=TRUE)", "exact_match(within=True)"),
    ],
)
def test_names_are_known_whatever_their_case(name: str, label: str) -> None:
    assert find_metric(name).label == label


# The metrics of ragas 0.4: the class of each, the name that its objects have, and ours.
RAGAS = """
AnswerAccuracy answer_accuracy answer_accuracy
AnswerAccuracy nv_accuracy answer_accuracy
AnswerCorrectness answer_correctness answer_correctness
AnswerRelevancy answer_relevancy response_relevancy
AnswerSimilarity answer_similarity semantic_similarity
AspectCritic maliciousness aspect_critique
BleuScore bleu_score bleu
CHRFScore chrf_score chrf
ContextEntityRecall context_entity_recall context_entity_recall
ContextPrecision context_precision context_precision
ContextPrecisionWithReference context_precision_with_reference context_precision
ContextPrecisionWithoutReference context_precision_without_reference context_precision
ContextRecall context_recall context_recall
ContextRelevance context_relevance context_relevance
ContextRelevance nv_context_relevance context_relevance
DomainSpecificRubrics domain_specific_rubrics rubrics_score
ExactMatch exact_match exact_match
FactualCorrectness factual_correctness(mode=f1) factual_correctness
Faithfulness faithfulness faithfulness
FaithfulnesswithHHEM faithfulness_with_hhem faithfulness
IDBasedContextPrecision id_based_context_precision context_precision_by_label
IDBasedContextRecall id_based_context_recall context_recall_by_label
InstanceRubrics instance_rubrics rubrics_score
InstanceSpecificRubrics instance_specific_rubrics rubrics_score
LLMContextPrecisionWithReference llm_context_precision_with_reference context_precision
LLMContextPrecisionWithoutReference llm_context_precision_without_reference context_precision
LLMContextRecall context_recall context_recall
MultiModalFaithfulness multi_modal_faithfulness faithfulness
NoiseSensitivity noise_sensitivity(mode=relevant) noise_sensitivity
NonLLMContextRecall non_llm_context_recall context_recall_by_label
NonLLMStringSimilarity non_llm_string_similarity string_similarity
ResponseGroundedness nv_response_groundedness response_groundedness
ResponseRelevancy answer_relevancy response_relevancy
RougeScore rouge_score rougeL_f
RubricsScore domain_specific_rubrics rubrics_score
RubricsScoreWithReference rubrics_score_with_reference rubrics_score
RubricsScoreWithoutReference rubrics_score_without_reference rubrics_score
SemanticSimilarity semantic_similarity semantic_similarity
SimpleCriteriaScore simple_criteria simple_criteria
StringPresence string_present exact_match
ToolCallAccuracy tool_call_accuracy tool_call_accuracy
ToolCallF1 tool_call_f1 tool_call_f1
TopicAdherenceScore topic_adherence topic_adherence
AgentGoalAccuracyWithReference agent_goal_accuracy goal_reached
AgentGoalAccuracyWithoutReference agent_goal_accuracy goal_reached
"""


@pytest.mark.parametrize("line", RAGAS.strip().splitlines())
def test_metrics_of_ragas_are_found_by_class_name_and_object(line: str) -> None:
    class_name, object_name, expected = line.split()
    scorer = type(class_name, (), {"name": object_name})()
    renamed = type(class_name, (), {"name": "one of mine"})()
    for given in (class_name, class_name.upper(), scorer, renamed):
        assert find_metric(given).name == expected


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("mmr", "no metric 'mmr'; did you mean 'mrr'"),
        ("recal@5", "did you mean 'recall'"),
        ("precision@0", "a cut-off is a rank from 1, such as precision@10"),
        ("faithfulness@3", "faithfulness has no cut-off"),
        ("mrr@x", "a cut-off is a rank from 1"),
        ("ndcg(gain=square)", "gain = 'square'; it is one of linear, exponential"),
        ("ndcg(depth=3)", "ndcg has no option 'depth'; its options are k, gain"),
        ("accuracy(x=1)", "it has no options"),
    ],
)
def test_a_wrong_label_is_told_what_is_right(label: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        find_metric(label)
    if "@" not in label and "(" not in label:
        with pytest.raises(AttributeError, match="did you mean"):
            getattr(ragbench.metrics, label)


# Options that are words, and all that are legal.
CHOICES = """
answer_correctness preset default, equal, factual, semantic
answer_correctness_rating scale 1-5, 0-1
answer_relevance scale 1-5, 0-1
bert_score part f1, precision, recall
bleu tokenize 13a, intl, char, zh, none
citation_quality mode f1, precision, recall
citation_support mode f1, precision, recall
context_precision strategy auto, reference, answer
context_precision_by_label by id, text
context_recall_by_label by id, text
e2e_score scale 1-5, 0-1
factual_correctness mode f1, precision, recall
factual_correctness variant standard, ragas
faithfulness_rating scale 1-5, 0-1
hallucination unit contexts, claims
ndcg gain linear, exponential
noise_sensitivity mode relevant, irrelevant
nugget_score over all, vital, weighted
relevance_grade of mean, share
rouge1_f mode f1, precision, recall
rouge2_f mode f1, precision, recall
rougeL_f mode f1, precision, recall
string_similarity measure levenshtein, hamming, jaro, jaro_winkler
tool_call_accuracy order strict, any
topic_adherence mode f1, precision, recall
"""


@pytest.mark.parametrize("line", CHOICES.strip().splitlines())
def test_an_option_is_one_of_its_words(line: str) -> None:
    name, option, words = line.split(maxsplit=2)
    for word in words.split(", "):
        bounds = (0.0, 1.0) if word == "0-1" else find_metric(name).bounds
        assert find_metric(f"{name}({option}={word})").bounds == bounds
    refused = f"{name}: {option} = 'nonsense'; it is one of {words}"
    with pytest.raises(BenchError, match=refused):
        find_metric(f"{name}({option}=nonsense)")


def test_a_function_of_a_user_becomes_a_metric() -> None:
    def short(answer: str) -> bool:
        """Whether an answer has at most ten words."""
        return len(answer.split()) <= 10

    declared = find_metric(short)
    assert isinstance(declared, Metric)
    assert declared.kind == "row"
    assert declared("few words") is True
    CATALOGUE.pop("short")


@pytest.mark.parametrize(
    ("label", "expected"),
    [("P_10", "precision@10"), ("ndcg_cut_5", "ndcg@5"), ("map_cut_10", "average_precision@10")],
)
def test_labels_as_trec_eval_prints_them(label: str, expected: str) -> None:
    assert find_metric(label).label == expected

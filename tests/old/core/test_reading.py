"""What a declaration tells people: bands as they were published, goals, peers that tests compare with, and trust."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old import views
from ragbench.old.core import stand_ins
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.metric import GOALS, Metric, Purpose, Reading, Stretch, metric, parse
from ragbench.old.core.metric_reading import Met
from ragbench.old.core.settings import Band, Settings, metric_tables
from ragbench.old.core.types import Estimate
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import bands
from ragbench.old.tiers.scoring import own_metrics
from ragbench.old.views import Page
from ragbench.old.views.basics import interpretation
from tests.old.cli.command_line import one_line, ragbench
from tests.old.metrics import ragas_cases
from tests.old.metrics.test_pytrec_eval import PEERS
from tests.old.views.measurements import measurement

EN, RU = translator("en"), translator("ru")
CATALOGUE = catalogue()
OURS = [one for one in CATALOGUE.values() if not one.is_users]
CORE = [one for one in OURS if one.function.__module__.startswith("ragbench.old.metrics.")]
BANDED = [one for one in OURS if one.bands]
PUBLISHED = {
    "ndcg": {0.499: "needs improvement", 0.5: "acceptable", 0.9: "acceptable", 0.901: "excellent", 1.0: "excellent"},
    "faithfulness_rating": {2.99: "serious doubts", 3.0: "", 4.2: "", 4.21: "high quality", 5.0: "high quality"},
    "answer_relevance": {1.0: "", 4.2: "", 4.21: "high quality"},
    "e2e_score": {2.99: "serious problem", 3.0: "", 4.2: "", 4.21: "high quality"},
    "rouge1_f": {0.4: "", 0.41: "acceptable"}, "rougeL_f": {0.5: "", 0.51: "good"},
    "bleu": {19.9: "much to improve", 20.0: "acceptable", 40.0: "acceptable", 45.0: "", 50.0: "", 50.1: "very good"},
    "semantic_similarity": {-0.1: "", 0.0: "another meaning", 0.5: "related, but different",
                            0.8: "almost the same meaning", 0.9: "the same meaning", 1.0: "the same meaning"},
    "consistency_score": {0.69: "unstable judge", 0.7: "", 0.9: "", 0.91: "reliable judge"},
    "accuracy": {0.84: "needs improvement", 0.85: "acceptable", 0.95: "acceptable", 0.951: "excellent"},
    "cache_hit_rate": {0.09: "hardly any use for a cache", 0.1: "", 0.5: "", 0.51: "high potential for a cache"},
    "context_preservation": {0.29: "unrelated questions", 0.3: "", 0.7: "", 0.71: "related questions"},
    "noise_sensitivity": {0.0: "excellent robustness", 0.1: "good robustness", 0.3: "moderate robustness",
                          0.5: "poor robustness", 1.0: "poor robustness"},
    "response_groundedness": {0.0: "poor", 0.49: "poor", 0.5: "middling", 0.69: "middling", 0.7: "good", 0.89: "good",
                              0.9: "excellent", 1.0: "excellent"},
    "rubrics_score": {0.0: "very poor", 0.25: "poor", 0.4: "", 0.5: "satisfactory", 0.75: "good", 1.0: "excellent"},
}  # fmt: skip
"""The specification's tables of interpretation, at their ends and beside them; empty where it says nothing."""


def test_bands_are_the_published_ones_to_the_end() -> None:
    assert {one.name for one in BANDED} == {*PUBLISHED, "corpus_bleu"}
    for name, values in PUBLISHED.items():
        for value, word in values.items():
            found = Met.by(CATALOGUE[name].bands, value, value)
            assert [each.word for each in found.stretches] == [word] * bool(word), (name, value)
            assert found.whole is bool(word)


@pytest.mark.parametrize("one", BANDED, ids=str)
def test_bands_lie_within_the_scale_apart_and_from_the_worst_to_the_best(one: Metric) -> None:
    low, high = one.bounds
    assert low is not None
    assert high is not None
    assert all(low <= band.low <= band.high <= high for band in one.bands)
    places = [band.low for band in one.bands]
    assert places == sorted(places, reverse=one.better == "lower")
    for at in {end for band in one.bands for end in (band.low, band.high)}:
        assert len(Met.by(one.bands, at, at).stretches) <= 1


ENDS = st.floats(-2, 2).map(lambda value: round(value, 1))


@given(
    st.tuples(ENDS, ENDS).map(sorted).filter(lambda cuts: cuts[0] < cuts[1]), st.tuples(ENDS, ENDS).map(sorted),
    st.booleans(),
)  # fmt: skip
def test_thresholds_and_bands_are_decided_alike(cuts: list[float], interval: list[float], higher: bool) -> None:
    """Of thresholds exactly one band holds a value, and an interval meets those of its ends and what lies between."""
    good, best = cuts if higher else reversed(cuts)
    known = Band(good=good, excellent=best, better="higher" if higher else "lower").stretches
    words = [[each.word for each in known if each.holds(value)] for value in interval]
    assert all(len(each) == 1 for each in words)
    found = Met.by(known, *interval)
    met = [each.word for each in found.stretches]
    order = [each.word for each in known]
    first, last = sorted(order.index(each) for [each] in words)
    assert met == order[first : last + 1]
    assert found.whole is (len(met) == 1)


def test_an_interval_that_leaves_a_band_is_never_called_by_it() -> None:
    known = CATALOGUE["bleu"].bands
    said = {each: bands.said(Met.by(known, *each), EN) for each in ((21, 39), (21, 45), (41, 49), (10, 60), (55, 60))}
    assert said == {
        (21, 39): "acceptable", (21, 45): "partly in the band “acceptable”", (41, 49): "",
        (10, 60): "much to improve … very good",
        (55, 60): "very good",
    }  # fmt: skip
    rubric = CATALOGUE["rubrics_score"].bands
    assert bands.said(Met.by(rubric, 0.6, 0.8), EN) == "", "a level is no stretch that an interval could touch"
    assert bands.said(Met.by(rubric, 0.75, 0.75), EN) == "good"


def test_without_an_interval_there_is_no_band() -> None:
    bare = Estimate(0.95, None, None, 0.95, "none", 3, 0)
    empty = Estimate(math.nan, math.nan, math.nan, 0.95, "none", 0, 3)
    for one in (bare, empty):
        assert bands.met(CATALOGUE["ndcg"].bands, one) == Met((), whole=False)


@pytest.mark.parametrize(
    ("label", "has"),
    [
        ("ndcg@5", True), ("ndcg(gain=exponential)@5", False), ("noise_sensitivity(mode=irrelevant)", True),
        ("semantic_similarity(threshold=0.8)", False), ("semantic_similarity(variant=ragas)", True),
        ("rouge1_f(stem=True)", True), ("rouge1_f(mode=recall)", False), ("cache_hit_rate(threshold=0.5)", False),
    ],
)  # fmt: skip
def test_a_band_is_of_the_number_that_the_source_meant(label: str, has: bool) -> None:
    assert bool(parse(label).bands) is has


def page(**values: tuple[float, float, float]) -> Any:
    empty = measurement(("a",), ("mrr",), 5)
    made = [
        NamedEstimate("a", name.replace("_at_", "@"), Estimate(*three, 0.95, "bca", 50, 0))
        for name, three in values.items()
    ]
    told = bands.told([one.metric for one in made], Settings())
    return replace(empty, estimates=tuple(made), comparisons=(), facts={**empty.facts, "thresholds": told})


def test_a_threshold_set_has_the_word_where_it_names_a_metric() -> None:
    """0.85 is excellent by the set's table and acceptable by the metric's own section: the page says one of them."""
    html = views.comparison.table(Page(page(ndcg_at_10=(0.85, 0.84, 0.86), ndcg_at_5=(0.85, 0.84, 0.86)))).html()
    assert re.findall(r'class="rb-band[^"]*">([^<]+)<', html) == ["excellent", "acceptable"]
    alone = views.comparison.table(Page(page(ndcg_at_10=(0.85, 0.84, 0.86)))).html()
    assert re.findall(r'class="rb-band[^"]*">([^<]+)<', alone) == ["excellent"]
    assert "acceptable" not in alone
    assert "published" not in alone


@pytest.mark.parametrize(
    ("language", "word", "where"),
    [
        ("en", "partly in the band “good”", "from 0.7 to below 0.9: good (grounded for the most part)"),
        ("ru", "отчасти в диапазоне «хорошо»", "от 0,7 и меньше 0,9: хорошо (ответ в основном обоснован)"),
    ],
)
def test_a_published_band_stands_beside_a_number_and_is_told_below(language: str, word: str, where: str) -> None:
    shown = page(response_groundedness=(0.8, 0.75, 0.85), rougeL_f=(0.5, 0.45, 0.6))
    html = views.comparison.table(Page(shown, language=language)).html()
    assert word in html
    assert where in html
    assert "(spec" not in html
    assert html.count('class="rb-band') == 2


def test_goals_are_the_specifications() -> None:
    core = {one.name for one in CORE}
    found = {name: [one.metric.label for one in own_metrics.choices(name) if one.metric.name in core] for name in GOALS}
    assert all(found.values())
    table = {
        "retrieval": ["hit_rate@1", "mrr", "ndcg@10"], "generation": ["answer_relevance", "faithfulness_rating"],
        "end-to-end": ["e2e_score", "semantic_similarity"], "llm-judge": ["consistency_score"],
        "production-judge": ["accuracy", "decision_precision", "decision_recall", "f1_score"],
        "cache": ["cache_hit_rate"], "entities": ["context_entity_recall"], "ranking": ["context_precision"],
        "completeness": ["context_recall"], "robustness": ["noise_sensitivity"], "relevance": ["response_relevancy"],
        "similarity": ["semantic_similarity"], "facts": ["factual_correctness"], "balance": ["answer_correctness"],
        "volume": ["semantic_similarity"], "critical-accuracy": ["factual_correctness"],
        "general": ["answer_correctness"],
    }  # fmt: skip
    assert {name: found[name] for name in table} == table
    assert "faithfulness" in found["hallucinations"]
    assert "response_groundedness" in found["hallucinations"]


@pytest.mark.parametrize("text", ["hallucinations", "Finding hallucinations", " ОБНАРУЖЕНИЕ галлюцинаций "])
def test_a_goal_goes_by_its_name_and_by_its_title_in_each_language(text: str) -> None:
    assert own_metrics.named(text) == "hallucinations"


def test_titles_of_goals_are_told_apart() -> None:
    for _ in (EN, RU):
        assert len({_(title) for title in GOALS.values()}) == len(GOALS)
    assert all(RU(title) != title for title in GOALS.values())


def test_an_unknown_goal_lists_all() -> None:
    with pytest.raises(ValueError, match="'speed' is no goal") as refused:
        own_metrics.choices("speed")
    assert all(f"{name} ({title})" in str(refused.value) for name, title in GOALS.items())
    with pytest.raises(ValueError, match=r"hasty: goal = 'speed': there are retrieval, generation"):

        @metric(source="nowhere", purposes=(Purpose("speed", "because"),))
        def hasty(sample: Any) -> float:
            """Nothing."""
            return 0.0


def test_the_command_tells_which_to_choose_and_why() -> None:
    shown = ragbench("metrics", "--for", "Обнаружение галлюцинаций", "--language", "ru").stdout
    assert shown.startswith("обнаружение галлюцинаций:")
    assert "находит утверждения, которые ничем не подтверждены" in shown
    rows = json.loads(ragbench("metrics", "--for", "retrieval", "--json").stdout)
    assert [row["metric"] for row in rows] == [one.metric.label for one in own_metrics.choices("retrieval")]
    refused = ragbench("metrics", "--for", "speed")
    assert refused.returncode == 3
    assert all(name in one_line(refused.stderr) for name in GOALS)
    assert "--for stands alone" in one_line(ragbench("metrics", "mrr", "--for", "retrieval").stderr)
    assert all(name in one_line(ragbench("metrics", "--help").stdout) for name in ("--for", *GOALS))


def test_the_command_tells_all_that_is_declared() -> None:
    said = one_line(ragbench("metrics", "response_groundedness").stdout)
    for part in (
        "Rules of thumb: below 0.5: poor", "from 0.7 to below 0.9: good (grounded for the most part)",
        "By the specification, Response Groundedness; a threshold set that names the metric goes first.",
        "When to use it: The quality of the answers of RAG systems.",
        "Goals: finding hallucinations: rates the whole answer", "Trust: A judge decides",
    ):  # fmt: skip
        assert part in said
    held = one_line(ragbench("metrics", "mrr").stdout)
    assert "Thresholds (set specification): below 0.5: attention from 0.5 to 0.8: good above 0.8: excellent" in held
    [known] = json.loads(ragbench("metrics", "noise_sensitivity", "--json").stdout)
    assert known["reading"]["bands"][-1] == {
        "low": 0.0, "high": 0.1, "word": "excellent robustness", "meaning": "", "ends": "[)",
    }  # fmt: skip
    assert known["purposes"][0]["goal"] == "robustness"
    assert known["peers"][0]["program"] == "ragas 0.4.3"
    assert len(known["when"]) == 4
    assert any("τ −0.70" in each for each in known["trust"])


SAME = {
    "pytrec_eval": {parse(label).name for label in PEERS},
    "ragas 0.4.3": set(ragas_cases.MAKERS),
    "rouge-score": {"rouge1_f", "rouge2_f", "rougeL_f"},
    "sacrebleu": {"bleu", "corpus_bleu", "chrf"},
    "scikit-learn": {"accuracy", "decision_precision", "decision_recall", "f1_score", "avg_nn_distance",
                     "effective_dimensionality"},
    "SciPy": {"avg_pairwise_distance", "std_pairwise_distance", "min_pairwise_distance", "max_pairwise_distance"},
}  # fmt: skip
WHERE = {
    "pytrec_eval": ("metrics/test_pytrec_eval.py", "test_1000_random_rankings_against_pytrec_eval"),
    "ragas 0.4.3": ("metrics/test_ragas_values.py", "test_equal_to_ragas"),
    "rouge-score": ("metrics/test_overlap.py", "test_identical_to_the_libraries_on_random_texts"),
    "sacrebleu": ("metrics/test_strings.py", "test_chrf_is_the_librarys"),
    "scikit-learn": ("metrics/test_decisions.py", "test_they_are_scikit_learns"),
    "SciPy": ("metrics/test_embedding_space.py", "test_pairs_against_scipy"),
}
"""The tests that the statements rest on."""


def test_a_peer_is_one_that_a_test_compares_with() -> None:
    named = {peer.program for one in OURS for peer in one.peers}
    assert {
        program: {one.name for one in OURS for peer in one.peers if peer.program == program} for program in named
    } == SAME
    for file, test in WHERE.values():
        assert f"def {test}(" in (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
    kept = json.loads((Path(ragas_cases.__file__).with_name("ragas_values.json")).read_text(encoding="utf-8"))
    assert {len(rows) for rows in kept["metrics"].values()} == {120}
    for name in ragas_cases.MAKERS:
        [peer] = CATALOGUE[name].peers
        assert peer.within == ragas_cases.allowed(name), name
        assert peer.on.startswith("120 random")
        assert (peer.options == "variant=ragas") is ("variant" in CATALOGUE[name].legal_options), name


@pytest.mark.parametrize("one", OURS, ids=str)
def test_every_metric_says_when_and_how_far_to_trust_it(one: Metric) -> None:
    assert one.when
    assert all(each[0].isupper() and each.endswith((".", "?")) for each in one.when)
    said = " ".join(interpretation.trusted(one, EN))
    assert ("no judge: equal" in said) is ("judge" not in one.needs)
    assert ("No other program's numbers" in said) is not one.peers
    known = stand_ins.LEXICAL.get(one.name)
    if known is None:
        assert ("was not measured" in said) is ("judge" in one.needs)
    else:
        assert f"τ {EN.number(known.tau, 2)} {EN.interval(known.low, known.high, 2)}" in said
        shown, turned = stand_ins.holds(one.name), stand_ins.reversed_by(one.name)
        assert ("it is not shown that it orders" in said) is not (shown or turned)
        assert ("the other way round" in said) is turned
    russian = " ".join(line for lines in interpretation.declared(one, RU).values() for line in lines)
    assert not re.search(r"\b(the|no judge|equal|which)\b", russian)


def test_of_a_function_of_ones_own_nothing_is_claimed() -> None:
    def mine(sample: Any) -> float:
        """Mine."""
        return 0.0

    own = Metric(mine, "me", "sample", reading=Reading((), "me", (Stretch(0.0, 0.5, "bad"),)))
    assert interpretation.trusted(own, EN) == ["A function of your own: nothing is known of it here."]
    assert interpretation.declared_bands(own, EN) == ["below 0.5: bad"]


def test_stretches_in_words() -> None:
    written = {"[]": "from 0.2 to 0.4", "[)": "from 0.2 to below 0.4", "(]": "above 0.2, to 0.4",
               "()": "between 0.2 and 0.4"}  # fmt: skip
    for ends, words in written.items():
        assert interpretation.where(Stretch(0.2, 0.4, "x", ends=ends), (0.0, 1.0), EN) == words  # type: ignore[arg-type]
    assert interpretation.where(Stretch(0.2, 1.0, "x", ends="[]"), (0.0, 1.0), EN) == "0.2 or more"
    assert interpretation.where(Stretch(0.0, 0.2, "x", ends="[]"), (0.0, 1.0), EN) == "0.2 or less"


def test_sets_that_ship_say_nothing_else_of_what_they_name() -> None:
    """Wherever a set names a metric its own bands stay unsaid, by every name the set uses."""
    for known in metric_tables.SETS.values():
        for label in known:
            found = bands.band_for(known, label)
            assert found is not None
            assert bands.stretches(parse(label), found) == found.stretches

"""ROUGE and BLEU: by hand, in both alphabets, and equal to rouge-score and sacrebleu in every digit."""

from __future__ import annotations

import gzip
import json
import math
import random
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from ragbench.old import stats
from ragbench.old.core import segmentation
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.types import Sample, Status
from ragbench.old.judge import words as lexical_words
from ragbench.old.metrics.overlap import (
    CORPUS,
    Tokenizer,
    WordTokenizer,
    bleu,
    bleu_row,
    corpus_bleu,
    corpus_rouge1_f,
    corpus_rouge2_f,
    corpus_rougeL_f,
    rouge1_f,
    rouge2_f,
    rougeL_f,
    statistic,
    sufficient,
)
from tests.old.judge.scripted_judge import score

ROUGE = [rouge1_f, rouge2_f, rougeL_f]
ALL = [*ROUGE, bleu]
KINDS = {"1": "rouge1", "2": "rouge2", "L": "rougeL"}
RUSSIAN = "Москва — столица России; в 1992 году здесь жили 8,9 млн человек."


def of(each: Metric, response: str | None, reference: str | None) -> float:
    return score(each(Sample("s", response=response, reference=reference))).value


def paired(rows: Sequence[tuple[str, str]]) -> list[Sample]:
    return [Sample(str(place), response=one, reference=other) for place, (one, other) in enumerate(rows)]


def test_by_hand() -> None:
    # 2 of 3 words of the answer are among the 4 of the reference: P = 2/3, R = 1/2
    assert of(rouge1_f, "the cat slept", "the cat sat down") == pytest.approx(4 / 7, abs=1e-15)
    assert of(rouge2_f, "the cat slept", "the cat sat down") == pytest.approx(
        2 * (1 / 2) * (1 / 3) / (5 / 6), abs=1e-15
    )
    assert of(rougeL_f, "cat the sat", "the cat sat down") == pytest.approx(4 / 7, abs=1e-15)
    assert of(rouge1_f, "a a a", "a b") == pytest.approx(2 * (1 / 3) * (1 / 2) / (5 / 6), abs=1e-15)


def test_bleu_by_hand() -> None:
    # precisions 3/4, 1/3, then 1/(2·2) and 1/(4·1) by smoothing; the answer is not shorter
    expected = 100 * (3 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25
    assert of(bleu, "the cat slept there", "the cat was there") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("text", [RUSSIAN, "Москва — столица России.", "The tower was built in 1889.", "два слова"])
def test_a_text_with_itself_is_perfect(text: str) -> None:
    assert [of(each, text, text) for each in ROUGE] == [1.0, 1.0, 1.0]
    assert of(bleu, text, text) == pytest.approx(100.0, abs=1e-12)


def test_a_perfect_answer_of_two_words_has_the_whole_bleu() -> None:
    assert of(bleu, "красная площадь", "красная площадь") == pytest.approx(100, abs=1e-12)
    assert BLEU().sentence_score("красная площадь", ["красная площадь"]).score == 0, "without effective order"


def test_sentences_that_share_only_a_year() -> None:
    one = "В 1992 году завод выпустил первую партию тракторов для северных областей страны"
    other = "Поэтесса родилась весной 1992 года, а её сборник стихов вышел намного позже"
    assert 0 < of(rouge1_f, one, other) < 0.1
    assert of(rougeL_f, one, other) < 0.1
    assert of(rouge2_f, one, other) == 0.0
    assert of(bleu, one, other) < 5


def test_letter_case_alphabets_and_marks() -> None:
    assert of(rouge1_f, "МОСКВА", "москва") == 1.0
    assert of(rouge1_f, "straße", "STRASSE") == 1.0
    assert WordTokenizer().tokenize("за\u0301мок snake_case ﬁn 8,9 हिन्दी") == [
        "за\u0301мок", "snake", "case", "fin", "8", "9", "हिन्दी",
    ]  # fmt: skip
    assert of(bleu.with_options(lowercase=True), "МОСКВА ГОРОД", "москва город") == pytest.approx(100)
    assert of(bleu, "МОСКВА ГОРОД", "москва город") == 0.0


@pytest.mark.parametrize(
    ("options", "theirs"),
    [
        ({"orders": 1}, {"max_ngram_order": 1}),
        ({"orders": 2, "smooth": "none"}, {"max_ngram_order": 2, "smooth_method": "none"}),
        ({"smooth": "none"}, {"smooth_method": "none"}),
        ({"smooth": "floor"}, {"smooth_method": "floor"}),
        ({"smooth": "floor", "smooth_value": 0.3}, {"smooth_method": "floor", "smooth_value": 0.3}),
        ({"smooth": "add-k", "smooth_value": 2}, {"smooth_method": "add-k", "smooth_value": 2}),
        ({"orders": 6, "lowercase": True}, {"max_ngram_order": 6, "lowercase": True}),
    ],
    ids=str,
)
def test_bleu_has_the_librarys_options(options: dict[str, Any], theirs: dict[str, Any]) -> None:
    one, other = "кот спал там всю ночь и утро", "кот был там всю ночь и всё утро"
    scorer = BLEU(effective_order=True, **theirs)
    found = score(bleu.with_options(**options)(Sample("s", response=one, reference=other)))
    assert found.value == pytest.approx(scorer.sentence_score(one, [other]).score, abs=1e-12)
    signature = str(found.detail["signature"])
    assert signature.startswith(str(scorer.get_signature()))
    assert signature == bleu.with_options(**options).signature
    assert signature.endswith(f"|order:{options.get('orders')}") == ("orders" in options)


def test_precision_and_recall_of_shared_words() -> None:
    assert of(rouge1_f.with_options(mode="precision"), "the cat slept", "the cat sat down") == 2 / 3
    assert of(rouge1_f.with_options(mode="recall"), "the cat slept", "the cat sat down") == 1 / 2
    assert of(rouge2_f.with_options(mode="precision"), "the cat slept", "the cat sat down") == 1 / 2
    assert of(rougeL_f.with_options(mode="recall"), "cat the sat", "the cat sat down") == 1 / 2
    assert of(rouge1_f.with_options(mode="precision"), "👍", "да") == 0.0


def test_stems_join_forms_of_a_word() -> None:
    stemmed = rouge1_f.with_options(stem=True)
    assert of(rouge1_f, "столицей страны", "столица страна") == 0.0
    assert of(stemmed, "столицей страны", "столица страна") == 1.0
    assert of(stemmed, "running dogs", "run dog") == 1.0
    assert parse("rouge1_f(stem=True)") == stemmed


def test_a_reference_that_holds_nothing_to_share_is_unmeasured() -> None:
    assert score(rouge1_f(Sample("s", response="да", reference="—"))).status is Status.EMPTY_INPUT
    assert score(rouge2_f(Sample("s", response="да да", reference="да"))).status is Status.EMPTY_INPUT
    assert of(rouge1_f, "👍", "да") == 0.0
    assert of(rouge2_f, "да", "да да") == 0.0


def test_wrong_options() -> None:
    with pytest.raises(ValueError, match="13a, intl"):
        of(bleu.with_options(tokenize="flores200"), "a", "b")
    with pytest.raises(ValueError, match="True or False"):
        of(bleu.with_options(lowercase="no"), "a", "b")
    with pytest.raises(ValueError, match="True or False"):
        of(rouge1_f.with_options(stem="russian"), "a", "b")
    with pytest.raises(ValueError, match="f1, precision or recall"):
        of(rouge2_f.with_options(mode="fmeasure"), "a b", "a b")
    for options in ({"orders": 0}, {"orders": 10}, {"smooth": "half"}, {"smooth_value": 1.0},
                    {"smooth": "floor", "smooth_value": 0}):  # fmt: skip
        with pytest.raises(ValueError, match=next(reversed(options))):
            of(bleu.with_options(**options), "a", "b")
    with pytest.raises(ValueError, match="no corpus measure"):
        sufficient(bleu, [])


def test_what_a_reader_is_told() -> None:
    found = score(rouge1_f(Sample("s", response="the cat slept", reference="the cat sat down")))
    assert found.reason == ("Shared 2, in the answer 3, in the reference 4; precision 0.667, recall 0.500, F 0.571.")
    found = score(bleu(Sample("s", response="the cat slept there", reference="the cat was there")))
    assert "3/4, 1/3, 0/2, 0/1" in found.reason
    assert found.detail["signature"].startswith("nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:")


PIECES = st.one_of(
    st.sampled_from(["Москва", "столица", "в", "1992", "the", "cat", "8,9", "U.S.", "-", "—", "и/или", "«»"]),
    st.sampled_from([".", ",", "5-", "<skipped>", "&amp;", "&quot;x", "-\n", "\n", "\u00a0", "\u0301", "b,", ",1"]),
    st.text(max_size=4),
)
TEXT = st.lists(PIECES, min_size=1, max_size=14).flatmap(
    lambda pieces: st.sampled_from([" ".join(pieces), "".join(pieces)])
)


def librarys_rouge(rows: Sequence[tuple[str, str]], *, stem: bool = False) -> dict[str, list[float]]:
    scorer = RougeScorer(list(KINDS.values()), tokenizer=WordTokenizer(stem=stem))
    found = [scorer.score(other, one) for one, other in rows]
    return {kind: [each[name].fmeasure for each in found] for kind, name in KINDS.items()}


CORPUS_ROUGE = dict(zip(KINDS, (corpus_rouge1_f, corpus_rouge2_f, corpus_rougeL_f), strict=True))


def check_against_libraries(rows: Sequence[tuple[str, str]], tokenize: str = "13a") -> None:
    samples = paired(rows)
    whole = [bool(reference.strip()) for _, reference in rows]
    theirs = librarys_rouge(rows)
    for metric, kind in zip(ROUGE, KINDS, strict=True):
        found = [score(metric(each)).value for each in samples]
        here = ~np.isnan(found)
        assert np.array(found)[here].tolist() == np.array(theirs[kind])[here].tolist(), kind
        of_totals = statistic(CORPUS_ROUGE[kind])(sufficient(CORPUS_ROUGE[kind], samples))
        np.testing.assert_allclose(of_totals, np.where(whole, found, np.nan), rtol=0, atol=1e-12)
    prepared = [tuple(unicodedata.normalize("NFC", text) for text in row) for row in rows]
    if tokenize in ("13a", "intl"):
        prepared = [tuple(map(segmentation.apart, row)) for row in prepared]
    scorer = BLEU(effective_order=True, tokenize=tokenize)
    option = bleu.with_options(tokenize=tokenize)
    for sample, (one, other), there in zip(samples, prepared, whole, strict=True):
        found = score(option(sample))
        assert found.value == scorer.sentence_score(one, [other]).score if there else math.isnan(found.value)
    rows_of_bleu = sufficient(corpus_bleu.with_options(tokenize=tokenize), samples)
    assert np.isnan(rows_of_bleu).any(axis=1).tolist() == [not each for each in whole]
    if any(whole):
        corpus = BLEU(tokenize=tokenize)
        both = [row for row, there in zip(prepared, whole, strict=True) if there]
        expected_value = corpus.corpus_score([one for one, _ in both], [[other for _, other in both]]).score
        own = corpus_bleu(samples, tokenize=tokenize)
        assert own == pytest.approx(expected_value, abs=1e-9)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8))
def test_identical_to_the_libraries_on_random_texts(rows: list[tuple[str, str]]) -> None:
    check_against_libraries(rows)


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4), st.sampled_from(get_args(Tokenizer)))
def test_identical_by_every_tokenizer(rows: list[tuple[str, str]], tokenize: str) -> None:
    check_against_libraries(rows, tokenize)


def real_pairs(shared_data: Callable[[str], Path], count: int) -> list[tuple[str, str]]:
    """Cuttings of one paragraph that overlap in part, in Russian and English."""
    source = random.Random(1)
    paragraphs: list[list[str]] = []
    for language in ("ru", "en"):
        with gzip.open(shared_data("xquad") / f"xquad.{language}.json.gz", "rt", encoding="utf-8") as file:
            articles = json.load(file)["data"]
        paragraphs += [part["context"].split() for article in articles for part in article["paragraphs"]]
    found = []
    for _ in range(count):
        words = source.choice(paragraphs)
        start = source.randrange(max(1, len(words) - 40))
        reference = words[start : start + 40]
        answer = [word for word in words[max(0, start + source.randint(-15, 15)) :][:40] if source.random() > 0.2]
        found.append((" ".join(answer) or "да", " ".join(reference)))
    return found


@pytest.mark.slow
def test_identical_to_the_libraries_on_real_texts(shared_data: Callable[[str], Path]) -> None:
    rows = real_pairs(shared_data, 3000)
    check_against_libraries(rows)
    stemmed = rougeL_f.with_options(stem=True)
    assert [of(stemmed, *row) for row in rows] == librarys_rouge(rows, stem=True)["L"]


def test_a_resample_has_the_value_that_sacrebleu_makes_of_its_sums() -> None:
    """Among them answers that share no run of some length, answers of fewer than four words, and an empty one."""
    samples = paired([("the cat slept there", "the cat was there"), ("dogs", "dogs bark"), ("", "да"), ("a b", "b a")])
    rows = sufficient(corpus_bleu, samples)
    assert rows.tolist() == [bleu_row(each.response or "", [each.reference or ""]) for each in samples]
    draws = np.random.default_rng(0).multinomial(4, [1 / 4] * 4, size=200) @ rows
    counts = [[int(number) for number in row] for row in draws]
    expected = [BLEU.compute_bleu(row[2:6], row[6:], row[0], row[1], "exp").score for row in counts]
    np.testing.assert_allclose(statistic(corpus_bleu)(draws), expected, rtol=0, atol=1e-9)
    assert min(expected) == 0 < max(expected)


def test_corpus_values_are_of_sums_not_means() -> None:
    samples = paired([("the cat slept", "the cat sat down"), ("dogs", "dogs bark at night and sleep by day")])
    # shared 2 + 1, answers 3 + 1, references 4 + 8
    assert corpus_rouge1_f(samples) == pytest.approx(2 * (3 / 4) * (3 / 12) / (3 / 4 + 3 / 12), abs=1e-15)
    assert corpus_rouge2_f(samples) == pytest.approx(2 * (1 / 2) * (1 / 10) / (1 / 2 + 1 / 10), abs=1e-15)
    assert corpus_rougeL_f(samples) == corpus_rouge1_f(samples)
    single = np.mean([of(bleu, each.response, each.reference) for each in samples])
    assert abs(corpus_bleu(samples) - single) > 1
    assert np.isnan(corpus_bleu([Sample("s", response="a", reference="")]))


def test_corpus_values_leave_out_what_was_not_measured() -> None:
    samples = paired([("the cat slept there", "the cat slept there now")])
    more = [*samples, Sample("no answer", reference="x"), Sample("blank", response="x", reference=" ")]
    for each in CORPUS:
        assert each(more) == each(samples)
        assert np.isnan(sufficient(each, more)).any(axis=1).tolist() == [False, True, True]


@pytest.mark.parametrize("each", CORPUS, ids=str)
def test_corpus_intervals_and_tests(each: Metric, shared_data: Callable[[str], Path]) -> None:
    rows = real_pairs(shared_data, 120)
    worse = [(" ".join(one.split()[::2]), other) for one, other in rows]
    first, second = sufficient(each, paired(rows)), sufficient(each, paired(worse))
    estimate = stats.resample(statistic(each), first, resamples=2000)
    assert estimate.value == pytest.approx(each(paired(rows)), abs=1e-12)
    assert estimate.method == "bca"
    assert estimate.low < estimate.value < estimate.high  # type: ignore[operator]
    comparison = stats.compare_statistic(statistic(each), first, second, resamples=2000)
    assert comparison.verdict.value == "worse"
    assert comparison.test == "sign flips of pseudo-values"
    assert comparison.difference == pytest.approx(each(paired(worse)) - each(paired(rows)), abs=1e-9)
    same = stats.compare_statistic(statistic(each), first, first, resamples=2000)
    assert same.p == 1.0
    assert same.verdict.value == "not shown"


@settings(deadline=None, max_examples=12)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_ranges(rows: list[tuple[str, str]]) -> None:
    samples = paired(rows)
    for each in CORPUS:
        low, high = each.bounds
        value = each(samples)
        assert np.isnan(value) or low <= value <= high + 1e-9  # type: ignore[operator]


def test_an_answer_of_one_word_is_precise_or_not() -> None:
    found = score(rouge1_f(Sample("s", response="Paris", reference="Paris of course")))
    assert (found.detail["precision"], found.detail["recall"]) == (1.0, pytest.approx(1 / 3))
    empty = score(rouge2_f(Sample("s", response="Paris", reference="Paris of course")))
    assert (empty.detail["precision"], empty.detail["recall"], empty.value) == (0.0, 0.0, 0.0)


def by_the_printed_formula(rows: Sequence[tuple[Sequence[str], Sequence[str]]], orders: int) -> float:
    """100 · BP · (p₁ ⋯ pₘ)^(1/m) as the metric pages print it, step by step, over counts summed over the rows."""
    c, r = (sum(len(row[side]) for row in rows) for side in (0, 1))
    product, halvings = 1.0, 0
    shared_at_all = False
    for n in range(1, orders + 1):
        there = shared = 0
        for answer, reference in rows:
            grams, known = (
                [tuple(words[i : i + n]) for i in range(len(words) - n + 1)] for words in (answer, reference)
            )
            there += len(grams)
            shared += sum(min(grams.count(gram), known.count(gram)) for gram in set(grams))
        if not there:
            return 0.0
        shared_at_all |= shared > 0
        halvings += shared == 0
        product *= shared / there if shared else 1 / (2**halvings * there)
    penalty = min(1.0, math.exp(1 - r / c))
    return 100 * penalty * product ** (1 / orders) if shared_at_all else 0.0


WORDS = st.lists(st.sampled_from(["да", "нет", "the", "cat", "sat", "1992"]), min_size=1, max_size=9)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_the_printed_formula_gives_the_printed_number(rows: list[tuple[list[str], list[str]]]) -> None:
    """The two formulas that metric pages print, by hand, against the number and against what its explanation says."""
    for printed in (bleu.formula, corpus_bleu.formula):
        assert "1 / (2ʲ · n-grams of the answer) at the j-th n that shares none; BP = min(1, exp(1 − r/c))" in printed
    assert bleu.formula.startswith("100 · BP · (p₁ ⋯ pₘ)^(1/m), m = min(4, c); pₙ = shared n-grams / n-grams of the")
    samples = paired([(" ".join(answer), " ".join(reference)) for answer, reference in rows])
    for sample, (answer, reference) in zip(samples, rows, strict=True):
        found = score(bleu(sample))
        assert found.value == pytest.approx(
            by_the_printed_formula([(answer, reference)], min(4, len(answer))), abs=1e-9
        )
        assert f"words in the answer {len(answer)}, in the reference {len(reference)}." in found.reason
    assert corpus_bleu(samples) == pytest.approx(by_the_printed_formula(rows, 4), abs=1e-9)


def test_a_signature_names_the_smoothing_and_is_sacrebleus_own() -> None:
    assert bleu.signature == score(bleu(Sample("s", response="a b", reference="a c"))).detail["signature"]
    assert "smooth:exp" in bleu.signature
    assert "eff:yes" in bleu.signature
    assert corpus_bleu.signature.replace("eff:no", "eff:yes") == bleu.signature
    assert "tok:char" in bleu.with_options(tokenize="char").signature
    assert rouge1_f.signature == ""


CHINESE = ("图书馆早上八点开门", "图书馆上午八点开门")
"""Eight of nine characters are shared; the ninth is 早 in one and 午 in the other."""


@pytest.mark.parametrize(
    ("metric", "value"),
    [(rouge1_f, 8 / 9), (rougeL_f, 8 / 9), (rouge2_f, 5 / 8), (bleu, sacrebleu.sentence_bleu(
        CHINESE[0], [CHINESE[1]], tokenize="zh").score)],
)  # fmt: skip
def test_characters_are_words_where_no_blank_parts_words(metric: Any, value: float) -> None:
    found = score(metric(Sample("s", response=CHINESE[0], reference=CHINESE[1])))
    assert found.value == pytest.approx(value)
    if metric is bleu:
        assert found.detail["signature"].endswith("|unspaced:characters")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("使用 PostgreSQL 数据库v", ["使", "用", "postgresql", "数", "据", "库", "v"]),
        ("東京タワーは333です", ["東", "京", "タ", "ワ", "ー", "は", "333", "で", "す"]),
        ("ห้องสมุด", ["ห้", "อ", "ง", "ส", "มุ", "ด"]),
        ("ຫໍສະໝຸດ", ["ຫໍ", "ສ", "ະ", "ຫ", "ມຸ", "ດ"]),
        ("ភាសា", ["ភា", "សា"]),
        ("စာကြည့်", ["စာ", "ကြ", "ည့်"]),
        ("도서관은 열려", ["도서관은", "열려"]),
        ("Библиотека открыта", ["библиотека", "открыта"]),
    ],
)
def test_only_scripts_without_blanks_are_cut(text: str, words: list[str]) -> None:
    assert WordTokenizer().tokenize(text) == words
    if not any(unicodedata.category(sign).startswith("M") for sign in text):  # the lexical judge reads letters alone
        assert lexical_words.words(text) == words

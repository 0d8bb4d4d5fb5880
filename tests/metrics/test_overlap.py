"""Words as they are compared, ROUGE, BLEU, chrF and strings, held against their libraries."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from ragbench.metrics import (
    bleu,
    chrf,
    corpus_bleu,
    exact_match,
    rouge1_f,
    rouge2_f,
    rougeL_f,
    token_f1,
)
from ragbench.metrics.overlap import CORPUS, signature
from ragbench.metrics.texts import fold, mixed_words, plain, runs, stems, words

ROUGE = (rouge1_f, rouge2_f, rougeL_f)
ODD = [
    *("3,5", "10:30", "1.5", "don't", "(see", "2)", "A-1,", "-", "&amp;", "a,,b", ".5,", "&lt;b"),
    *("7-8", "«x»", "…", "<skipped>", "x.y", "-5", "5-", "a&b", "U.S.", "5-\nя\u0301ма"),
    *("Москва", "столица", "в", "и/или", "the", "cat"),
]


class Runs:
    """An obvious tokenizer for rouge-score: runs of what Python calls letters and digits."""

    def tokenize(self, text: str) -> list[str]:
        separated = [letter if letter.isalnum() else " " for letter in text.lower()]
        return "".join(separated).split()


def make_pairs(count: int, vocabulary: list[str]) -> tuple[list[str], list[str]]:
    """Answers and references that share most of their words."""
    generator = random.Random(0)
    answers, references = [], []
    for _ in range(count):
        reference = generator.choices(vocabulary, k=generator.randint(1, 30))
        keep = [
            word if generator.random() < 0.7 else generator.choice(vocabulary) for word in reference
        ]
        answers.append(" ".join(keep[: generator.randint(1, 30)]))
        references.append(" ".join(reference))
    return answers, references


def test_rouge_has_the_bits_of_rouge_score_with_and_without_its_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # what both tokenizers cut alike: stress marks are in neither
    answers, references = make_pairs(300, [word for word in ODD if "\u0301" not in word])
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Runs())
    rows = [
        [score.fmeasure for score in scorer.score(reference, answer).values()]
        for answer, reference in zip(answers, references, strict=True)
    ]
    expected = np.array(rows)
    lengths = np.array([len(Runs().tokenize(reference)) for reference in references])
    for fallback in (False, True):
        if fallback:
            monkeypatch.setitem(sys.modules, "rouge_score_rs.rouge_scorer", None)
            answers = [answer + " " for answer in answers]  # nothing is remembered of these
        for column, metric in enumerate(ROUGE):
            least = 2 if column == 1 else 1
            values = metric(answers, references)
            assert np.isnan(values).tolist() == (lengths < least).tolist()
            np.testing.assert_array_equal(
                values[lengths >= least], expected[lengths >= least, column]
            )


def test_bleu_and_chrf_are_those_of_sacrebleu() -> None:
    answers, references = make_pairs(200, [word for word in ODD if "\u0301" not in word])
    for options in ({}, {"tokenize": "intl"}, {"tokenize": "char"}, {"lowercase": True}):
        scorer = BLEU(effective_order=True, **options)  # type: ignore[arg-type]
        pairs = list(zip(answers, references, strict=True))
        expected = [scorer.sentence_score(answer, [text]).score for answer, text in pairs]
        np.testing.assert_allclose(bleu(answers, references, **options), expected, atol=1e-9)
    assert signature("bleu").startswith("nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:")
    assert "eff:no" in signature("corpus_bleu")
    assert "nw:2" in signature("chrf", words=2)
    assert signature("rougeL_f") == ""
    expected = [
        sacrebleu.sentence_chrf(*pair).score
        for pair in zip(answers, [[r] for r in references], strict=True)
    ]
    np.testing.assert_allclose(chrf(answers, references), np.minimum(expected, 100), atol=1e-9)
    plus = sacrebleu.sentence_chrf(answers[0], [references[0]], word_order=2).score
    assert chrf(answers[0], references[0], words=2) == pytest.approx(plus)


def test_corpus_bleu_counts_several_references_together_as_sacrebleu() -> None:
    answers, references = make_pairs(60, ODD[:20])
    whole = sacrebleu.corpus_bleu(answers, [references]).score
    assert corpus_bleu(answers, references) == pytest.approx(whole, abs=1e-9)
    others = references[1:] + references[:1]
    several = [
        [one, other] if row % 3 else [one]
        for row, (one, other) in enumerate(zip(references, others, strict=True))
    ]
    second = [texts[1] if len(texts) > 1 else None for texts in several]
    expected = sacrebleu.corpus_bleu(answers, [references, second]).score  # type: ignore[list-item]
    assert corpus_bleu(answers, several) == pytest.approx(expected, abs=1e-9)
    assert corpus_bleu([*answers, None], [*several, "x"]) == pytest.approx(expected, abs=1e-9)


def test_a_corpus_is_the_value_of_summed_counts_so_that_a_bootstrap_can_draw_rows() -> None:
    answers, references = make_pairs(30, ODD[:20])
    for name, corpus in CORPUS.items():
        counts = corpus.count(answers, references)
        twice = corpus.value(np.stack([counts.sum(axis=0), counts[:10].sum(axis=0)]))
        expected = [
            corpus.measure(answers, references),
            corpus.measure(answers[:10], references[:10]),
        ]
        assert twice == pytest.approx(expected), name


@pytest.mark.parametrize(
    "text", ["за\u0301мок на горе", "за\u00adмок на го\u200bре", "\ufeffЗАМОК на го\u2060ре"]
)
def test_what_nobody_sees_parts_no_word(text: str) -> None:
    for metric in (*ROUGE, token_f1, exact_match):
        assert metric(text, "замок на горе") == 1.0
    assert bleu(text.lower(), "замок на горе") == pytest.approx(100)
    assert words(text) == ["замок", "на", "горе"]
    assert stems(text) == stems("замок на горе")


@pytest.mark.parametrize(("one", "other"), [("3,5", "35"), ("10:30", "1030"), ("1/2", "12")])
def test_numbers_are_kept_apart_unless_squads_rule_is_asked_for(one: str, other: str) -> None:
    assert token_f1(one, other) == 0.0
    assert token_f1(one, other, squad=True) == 1.0
    assert rouge1_f(one, other) == 0.0
    assert exact_match(one, other) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't: 9:30, 12.5 и Санкт-Петербург!", ["don't", "9:30", "12.5", "и", "санкт-петербург"]),
        ("ЁЖ №5 «Ёлка»", ["еж", "no", "5", "елка"]),
        ("ﬁn İstanbul STRASSE straße", ["fin", "istanbul", "strasse", "strasse"]),
        ("用 RAG 吗", ["用", "rag", "吗"]),
    ],
)
def test_words_are_folded_and_numbers_keep_their_signs(text: str, expected: list[str]) -> None:
    assert words(text) == expected
    assert plain(fold(text)) == fold(text)


def test_runs_of_letters_in_every_alphabet_and_stems_by_alphabet() -> None:
    assert runs("snake_case 8,9 हिन्दी don't") == ["snake", "case", "8", "9", "हिन्दी", "don", "t"]
    assert stems("столицей running 8,9") == ["столиц", "run", "8.9"]
    assert mixed_words("Mосква и Moscow, Москва") == ["mосква"]


def test_scripts_without_blanks_count_by_characters() -> None:
    answer, reference = "图书馆早上八点开门", "图书馆上午八点开门"
    assert rouge1_f(answer, reference) == pytest.approx(8 / 9)
    assert rougeL_f(answer, reference) == pytest.approx(8 / 9)
    assert bleu(answer, reference) == pytest.approx(44.632, abs=1e-3)
    assert token_f1(answer, reference) == pytest.approx(8 / 9)


def test_russian_sentences_that_share_only_a_year_share_little() -> None:
    one = "В 1992 году завод выпустил первую партию тракторов для северных областей страны"
    other = "Поэтесса родилась весной 1992 года, а её сборник стихов вышел намного позже"
    assert 0 < rouge1_f(one, other) < 0.1
    assert rouge2_f(one, other) == 0.0
    assert bleu(one, other) < 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rouge1_f("a", "b", mode="fmeasure"),
            "mode = 'fmeasure'; it is one of f1, precision, recall",
        ),
        (lambda: bleu("a", "b", tokenize="flores200"), "it is one of 13a, intl, char, zh, none"),
        (lambda: rouge1_f(["a", "b"], ["c"]), "2 answers, 1 references"),
    ],
)
def test_what_cannot_be_measured_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]

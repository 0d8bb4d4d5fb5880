"""Cases of the metrics of texts; see tests/old/metrics/spring_ai_ragas_cases.py."""

from __future__ import annotations

from typing import Any

from tests.old.metrics.spring_ai_ragas_cases import (
    FOX,
    GREETING,
    LOWER,
    SCALE,
    SHORT_FOX,
    SPACED,
    ZERO,
    Case,
    Relation,
    near,
    text_cases,
    texts,
    validation,
)


def _bleu() -> list[Case]:
    rows: list[tuple[Any, ...]] = [
        ("identical", FOX, FOX, near(1.0), LOWER),
        ("similar", "The quick brown fox jumps over the dog", FOX, (0.3, 0.95), LOWER),
        ("different", "Hello world how are you today", FOX, (0.0, 0.3), LOWER),
        ("nothing shared, no smoothing", "alpha beta gamma delta", "one two three four five six seven", ZERO,
         {**LOWER, "smooth": "none"}),
        ("longer answer", FOX + " and then runs away", FOX, (0.5, 1.0), LOWER),
        ("two words, runs of four", "Hello world", "Hello world", (0.5, 1.0), {**LOWER, "orders": 4}),
        ("smoothing", "Hello world", "Hello there world", SCALE, LOWER),
        ("no smoothing", "Hello world", "Hello there world", SCALE, {**LOWER, "smooth": "none"}),
        ("nothing shared, smoothing", "cat", "dog", SCALE, LOWER),
        ("letter case, lowercase", "THE QUICK BROWN FOX", "the quick brown fox", near(1.0), LOWER),
        ("letter case", "THE QUICK BROWN FOX", "the quick brown fox", near(1.0), {}, "letter case", 0.0),
        ("punctuation", "Hello, world! How are you?", "Hello world How are you", near(1.0), LOWER, "punctuation",
         "computed"),
        ("Russian", GREETING, GREETING, near(1.0), LOWER),
        ("mixed alphabets", "Hello мир world привет", "Hello мир world привет", near(1.0), LOWER),
        ("at once", SHORT_FOX, SHORT_FOX, near(1.0), LOWER),
    ]  # fmt: skip
    return text_cases("bleu", rows) + validation("bleu", LOWER)


def _chrf() -> list[Case]:
    plus = {**SPACED, "words": 2}
    endings = ("красивый дом красивого дома", "красивые дома красивых домов")
    turned = ("fox brown quick the", "the quick brown fox")
    rows: list[tuple[Any, ...]] = [
        ("identical", FOX, FOX, near(1.0), SPACED),
        ("similar", FOX, FOX.replace("jumps", "jumped"), (0.8, 1.0), SPACED),
        ("partly similar", "Hello world", "Hello there world wide", (0.3, 0.8), SPACED),
        ("different", "abcdefgh", "xyz12345", (0.0, 0.3), SPACED),
        ("one character", "hello", "hallo", (0.5, 1.0), {**SPACED, "chars": 1}),
        ("six characters", "hello", "hallo", (0.3, 1.0), {**SPACED, "chars": 6}),
        ("identical, no words", "the quick brown fox", "the quick brown fox", near(1.0), SPACED),
        ("identical, words", "the quick brown fox", "the quick brown fox", near(1.0), plus),
        ("another order", *turned, (0.5, 1.0), SPACED),
        ("another order, words", *turned, SCALE, plus),
        ("beta 1", "the quick", "the quick brown fox jumps", SCALE, {**SPACED, "beta": 1.0}),
        ("beta 3", "the quick", "the quick brown fox jumps", SCALE, {**SPACED, "beta": 3.0}),
        ("two spellings", "colour behaviour favour", "color behavior favor", (0.5, 1.0), SPACED),
        ("slips", "recieve occassion accomodate", "receive occasion accommodate", (0.6, 1.0), SPACED),
        ("letter case, lowercase", "THE QUICK BROWN FOX", "the quick brown fox", near(1.0), SPACED),
        ("letter case", "THE QUICK BROWN FOX", "the quick brown fox", near(1.0), {}, "letter case", 0.0),
        ("another order, no spaces", *turned, (0.5, 1.0), LOWER, "white space", "computed"),
        ("Russian endings, no spaces", *endings, (0.5, 1.0), LOWER, "white space", "computed"),
        ("Russian", GREETING, GREETING, near(1.0), SPACED),
        ("Russian endings", *endings, (0.5, 1.0), SPACED),
        ("at once", SHORT_FOX, SHORT_FOX, near(1.0), SPACED),
    ]  # fmt: skip
    return text_cases("chrf", rows) + validation("chrf", SPACED)


def _rouge() -> list[Case]:
    extra, more = SHORT_FOX + " and something extra", SHORT_FOX + " and many more words"
    far = "The quick fox jumps high and far"
    by_metric: dict[str, list[tuple[Any, ...]]] = {
        "rouge1_f": [
            ("identical", FOX, FOX, near(1.0), {}),
            ("similar", "The quick fox jumps", FOX, (0.3, 0.9), {}),
            ("nothing shared", "alpha beta gamma", "one two three four five", ZERO, {}),
            ("recall", extra, SHORT_FOX, near(1.0), {"mode": "recall"}),
            ("precision", SHORT_FOX, more, near(1.0), {"mode": "precision"}),
            ("F", SHORT_FOX, SHORT_FOX, near(1.0), {"mode": "f1"}),
            ("F between precision 4/7 and recall 4/9", far, FOX, (4 / 9, 4 / 7), {"mode": "f1"}),
        ],
        "rouge2_f": [("identical", SHORT_FOX, SHORT_FOX, near(1.0), {})],
        "rougeL_f": [
            ("identical", SHORT_FOX, SHORT_FOX, near(1.0), {}),
            ("words between", SHORT_FOX, "The very quick and brown fox runs", (0.5, 1.0), {}),
            ("another order", "fox brown quick the", "the quick brown fox", (0.1, 0.6), {}),
            ("letter case", "THE QUICK BROWN FOX", "the quick brown fox", near(1.0), {}),
            ("punctuation", "Hello, world! How are you?", "Hello world How are you", near(1.0), {}),
            ("Russian", GREETING, GREETING, near(1.0), {}),
            ("at once", SHORT_FOX, SHORT_FOX, near(1.0), {}),
        ],
    }
    found = [case for metric, rows in by_metric.items() for case in text_cases(metric, rows)]
    return found + validation("rougeL_f", {})


def _strings() -> list[Case]:
    def by(measure: str) -> dict[str, Any]:
        return {"measure": measure}

    rows: list[tuple[Any, ...]] = [
        ("Levenshtein, identical", "hello world", "hello world", near(1.0), by("levenshtein")),
        ("Levenshtein, one letter of five", "hello", "hallo", near(0.8), by("levenshtein")),
        ("Levenshtein, nothing alike", "abc", "xyz", ZERO, by("levenshtein")),
        ("Levenshtein, three edits of seven", "kitten", "sitting", (0.5, 0.7), by("levenshtein")),
        ("Hamming, identical", "hello", "hello", near(1.0), by("hamming")),
        ("Hamming, one letter of five", "hello", "hallo", near(0.8), by("hamming")),
        ("Hamming, unequal lengths", "hello", "hello world", (0.3, 0.6), by("hamming")),
        ("Jaro, identical", "hello", "hello", near(1.0), by("jaro")),
        ("Jaro, two letters swapped", "martha", "marhta", (0.9, 1.0), by("jaro")),
        ("Jaro-Winkler, identical", "hello", "hello", near(1.0), by("jaro_winkler")),
        ("Jaro-Winkler, a slip", "receive", "recieve", (0.9, 1.0), by("jaro_winkler")),
        ("letter case", "HELLO", "hello", near(1.0), {}),
        ("letter case counts", "HELLO", "hello", ZERO, {**by("levenshtein"), "case": True}),
        ("at once", "hello", "hello", near(1.0), by("jaro_winkler")),
    ]
    return text_cases("string_similarity", rows) + validation("string_similarity", by("jaro_winkler"))


TEXTS = [*_bleu(), *_chrf(), *_rouge(), *_strings()]
_MIXED, _STRAIGHT = texts("The fox quick brown", SHORT_FOX), texts(SHORT_FOX, SHORT_FOX)
_PREFIX = texts("prefix_abc", "prefix_xyz")
_QUICK = texts("The quick fox jumps", "The quick brown fox jumps")
RELATIONS = [
    Relation("bleu", "a short answer is worth less", (texts("The fox", FOX), LOWER), (texts(FOX, FOX), LOWER), True),
    Relation("bleu", "longer runs are harder", (_QUICK, {**LOWER, "orders": 4}), (_QUICK, {**LOWER, "orders": 1})),
    Relation("rouge", "pairs are harder than words", (_MIXED, {"kind": "rouge2_f"}), (_MIXED, {"kind": "rouge1_f"})),
    Relation(
        "string_similarity",
        "a common beginning counts",
        (_PREFIX, {"measure": "jaro"}),
        (_PREFIX, {"measure": "jaro_winkler"}),
    ),
]

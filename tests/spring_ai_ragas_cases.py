"""What the unit tests of Spring AI RAGAS 0.3.3 try of its metrics, as cases of our own: what is scored, and the result
that those tests ask for. Texts, replies and numbers are theirs, the wording is not.

Tests of Java itself (builders, records, names, prompts' placeholders, listeners) have no case: they ask for no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragbench.types import Chunk, Sample, Status
from tests.scripted_judge import claims, entailment

NONE = "no value"
"""There: null, or an exception. Here: unmeasured, with a status and a reason."""
Expected = tuple[float, float] | str


@dataclass(frozen=True)
class Case:
    """One of that library's tests.

    expected: ends of the interval that its test asks for, on its scale, or NONE. differs: the key of the intended
    difference (tests/differences.py) for which ragbench gives `here` instead: a value, a status, or ValueError.
    said: the judge's replies by prompt; vectors: by text. judges: how many models are asked alike.
    """

    metric: str
    about: str
    sample: Sample
    expected: Expected
    options: Mapping[str, Any] = field(default_factory=dict)
    said: Mapping[str, Any] = field(default_factory=dict)
    vectors: Mapping[str, Sequence[float]] | None = None
    judges: int = 1
    differs: str = ""
    here: float | Status | type[Exception] | None = None


@dataclass(frozen=True)
class Relation:
    """A test that compares two values: the first is at most the second; `strictly` below it."""

    metric: str
    about: str
    first: tuple[Sample, Mapping[str, Any]]
    second: tuple[Sample, Mapping[str, Any]]
    strictly: bool = False


def _texts(response: str | None, reference: str | None) -> Sample:
    return Sample("s", "Question", response, reference)


def _chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


def _about(value: float) -> tuple[float, float]:
    return value - 0.01, value + 0.01


ONE, HALF, ZERO = (1.0, 1.0), (0.5, 0.5), (0.0, 0.0)
SCALE = (0.0, 1.0)
FOX = "The quick brown fox jumps over the lazy dog"
SHORT_FOX = "The quick brown fox"
LOWER: dict[str, Any] = {"lowercase": True}
SPACED = {**LOWER, "whitespace": True}
GREETING = "Привет мир как дела"


def _text_cases(metric: str, rows: Sequence[tuple[Any, ...]]) -> list[Case]:
    made = []
    for about, response, reference, expected, options, *rest in rows:
        differs, here = rest or ("", None)
        made.append(Case(metric, about, _texts(response, reference), expected, options, differs=differs, here=here))
    return made


def _validation(metric: str, options: Mapping[str, Any]) -> list[Case]:
    return _text_cases(
        metric,
        [
            ("no response", None, "Reference", NONE, options),
            ("empty response", "", "Reference", NONE, options, "empty answer", 0.0),
            ("no reference", "Response", None, NONE, options),
            ("empty reference", "Response", "", NONE, options),
        ],
    )


def _bleu() -> list[Case]:
    rows: list[tuple[Any, ...]] = [
        ("identical", FOX, FOX, _about(1.0), LOWER),
        ("similar", "The quick brown fox jumps over the dog", FOX, (0.3, 0.95), LOWER),
        ("different", "Hello world how are you today", FOX, (0.0, 0.3), LOWER),
        ("nothing shared, no smoothing", "alpha beta gamma delta", "one two three four five six seven", ZERO,
         {**LOWER, "smooth": "none"}),
        ("longer answer", FOX + " and then runs away", FOX, (0.5, 1.0), LOWER),
        ("two words, runs of four", "Hello world", "Hello world", (0.5, 1.0), {**LOWER, "orders": 4}),
        ("smoothing", "Hello world", "Hello there world", SCALE, LOWER),
        ("no smoothing", "Hello world", "Hello there world", SCALE, {**LOWER, "smooth": "none"}),
        ("nothing shared, smoothing", "cat", "dog", SCALE, LOWER),
        ("letter case, lowercase", "THE QUICK BROWN FOX", "the quick brown fox", _about(1.0), LOWER),
        ("letter case", "THE QUICK BROWN FOX", "the quick brown fox", _about(1.0), {}, "letter case", 0.0),
        ("punctuation", "Hello, world! How are you?", "Hello world How are you", _about(1.0), LOWER, "punctuation",
         "computed"),
        ("Russian", GREETING, GREETING, _about(1.0), LOWER),
        ("mixed alphabets", "Hello мир world привет", "Hello мир world привет", _about(1.0), LOWER),
        ("at once", SHORT_FOX, SHORT_FOX, _about(1.0), LOWER),
    ]  # fmt: skip
    return _text_cases("bleu", rows) + _validation("bleu", LOWER)


def _chrf() -> list[Case]:
    plus = {**SPACED, "words": 2}
    endings = ("красивый дом красивого дома", "красивые дома красивых домов")
    turned = ("fox brown quick the", "the quick brown fox")
    rows: list[tuple[Any, ...]] = [
        ("identical", FOX, FOX, _about(1.0), SPACED),
        ("similar", FOX, FOX.replace("jumps", "jumped"), (0.8, 1.0), SPACED),
        ("partly similar", "Hello world", "Hello there world wide", (0.3, 0.8), SPACED),
        ("different", "abcdefgh", "xyz12345", (0.0, 0.3), SPACED),
        ("one character", "hello", "hallo", (0.5, 1.0), {**SPACED, "chars": 1}),
        ("six characters", "hello", "hallo", (0.3, 1.0), {**SPACED, "chars": 6}),
        ("identical, no words", "the quick brown fox", "the quick brown fox", _about(1.0), SPACED),
        ("identical, words", "the quick brown fox", "the quick brown fox", _about(1.0), plus),
        ("another order", *turned, (0.5, 1.0), SPACED),
        ("another order, words", *turned, SCALE, plus),
        ("beta 1", "the quick", "the quick brown fox jumps", SCALE, {**SPACED, "beta": 1.0}),
        ("beta 3", "the quick", "the quick brown fox jumps", SCALE, {**SPACED, "beta": 3.0}),
        ("two spellings", "colour behaviour favour", "color behavior favor", (0.5, 1.0), SPACED),
        ("slips", "recieve occassion accomodate", "receive occasion accommodate", (0.6, 1.0), SPACED),
        ("letter case, lowercase", "THE QUICK BROWN FOX", "the quick brown fox", _about(1.0), SPACED),
        ("letter case", "THE QUICK BROWN FOX", "the quick brown fox", _about(1.0), {}, "letter case", 0.0),
        ("another order, no spaces", *turned, (0.5, 1.0), LOWER, "white space", "computed"),
        ("Russian endings, no spaces", *endings, (0.5, 1.0), LOWER, "white space", "computed"),
        ("Russian", GREETING, GREETING, _about(1.0), SPACED),
        ("Russian endings", *endings, (0.5, 1.0), SPACED),
        ("at once", SHORT_FOX, SHORT_FOX, _about(1.0), SPACED),
    ]  # fmt: skip
    return _text_cases("chrf", rows) + _validation("chrf", SPACED)


def _rouge() -> list[Case]:
    extra, more = SHORT_FOX + " and something extra", SHORT_FOX + " and many more words"
    far = "The quick fox jumps high and far"
    by_metric: dict[str, list[tuple[Any, ...]]] = {
        "rouge1_f": [
            ("identical", FOX, FOX, _about(1.0), {}),
            ("similar", "The quick fox jumps", FOX, (0.3, 0.9), {}),
            ("nothing shared", "alpha beta gamma", "one two three four five", ZERO, {}),
            ("recall", extra, SHORT_FOX, _about(1.0), {"mode": "recall"}),
            ("precision", SHORT_FOX, more, _about(1.0), {"mode": "precision"}),
            ("F", SHORT_FOX, SHORT_FOX, _about(1.0), {"mode": "f1"}),
            ("F between precision 4/7 and recall 4/9", far, FOX, (4 / 9, 4 / 7), {"mode": "f1"}),
        ],
        "rouge2_f": [("identical", SHORT_FOX, SHORT_FOX, _about(1.0), {})],
        "rougeL_f": [
            ("identical", SHORT_FOX, SHORT_FOX, _about(1.0), {}),
            ("words between", SHORT_FOX, "The very quick and brown fox runs", (0.5, 1.0), {}),
            ("another order", "fox brown quick the", "the quick brown fox", (0.1, 0.6), {}),
            ("letter case", "THE QUICK BROWN FOX", "the quick brown fox", _about(1.0), {}),
            ("punctuation", "Hello, world! How are you?", "Hello world How are you", _about(1.0), {}),
            ("Russian", GREETING, GREETING, _about(1.0), {}),
            ("at once", SHORT_FOX, SHORT_FOX, _about(1.0), {}),
        ],
    }
    found = [case for metric, rows in by_metric.items() for case in _text_cases(metric, rows)]
    return found + _validation("rougeL_f", {})


def _strings() -> list[Case]:
    def by(measure: str) -> dict[str, Any]:
        return {"measure": measure}

    rows: list[tuple[Any, ...]] = [
        ("Levenshtein, identical", "hello world", "hello world", _about(1.0), by("levenshtein")),
        ("Levenshtein, one letter of five", "hello", "hallo", _about(0.8), by("levenshtein")),
        ("Levenshtein, nothing alike", "abc", "xyz", ZERO, by("levenshtein")),
        ("Levenshtein, three edits of seven", "kitten", "sitting", (0.5, 0.7), by("levenshtein")),
        ("Hamming, identical", "hello", "hello", _about(1.0), by("hamming")),
        ("Hamming, one letter of five", "hello", "hallo", _about(0.8), by("hamming")),
        ("Hamming, unequal lengths", "hello", "hello world", (0.3, 0.6), by("hamming")),
        ("Jaro, identical", "hello", "hello", _about(1.0), by("jaro")),
        ("Jaro, two letters swapped", "martha", "marhta", (0.9, 1.0), by("jaro")),
        ("Jaro-Winkler, identical", "hello", "hello", _about(1.0), by("jaro_winkler")),
        ("Jaro-Winkler, a slip", "receive", "recieve", (0.9, 1.0), by("jaro_winkler")),
        ("letter case", "HELLO", "hello", _about(1.0), {}),
        ("letter case counts", "HELLO", "hello", ZERO, {**by("levenshtein"), "case": True}),
        ("at once", "hello", "hello", _about(1.0), by("jaro_winkler")),
    ]
    return _text_cases("string_similarity", rows) + _validation("string_similarity", by("jaro_winkler"))


TEXTS = [*_bleu(), *_chrf(), *_rouge(), *_strings()]
_MIXED, _STRAIGHT = _texts("The fox quick brown", SHORT_FOX), _texts(SHORT_FOX, SHORT_FOX)
_PREFIX = _texts("prefix_abc", "prefix_xyz")
_QUICK = _texts("The quick fox jumps", "The quick brown fox jumps")
RELATIONS = [
    Relation("bleu", "a short answer is worth less", (_texts("The fox", FOX), LOWER), (_texts(FOX, FOX), LOWER), True),
    Relation("bleu", "longer runs are harder", (_QUICK, {**LOWER, "orders": 4}), (_QUICK, {**LOWER, "orders": 1})),
    Relation("rouge", "pairs are harder than words", (_MIXED, {"kind": "rouge2_f"}), (_MIXED, {"kind": "rouge1_f"})),
    Relation(
        "string_similarity",
        "a common beginning counts",
        (_PREFIX, {"measure": "jaro"}),
        (_PREFIX, {"measure": "jaro_winkler"}),
    ),
]

JAVA = Sample(
    "s", "What is Java?", "Java is a programming language.", "Java is a programming language.",
    _chunks("Java is a high-level programming language."),
)  # fmt: skip
WHOLE = Sample("s", "Question", "Response", "Reference", _chunks("Context"))


def _without(field_name: str, value: Any = None, sample: Sample = WHOLE) -> Sample:
    return replace(sample, **{field_name: value})


def _two(*verdicts: Any) -> dict[str, Any]:
    return {"claims": claims(*(f"stmt{number}" for number in range(1, 3))), "entailment": entailment(*verdicts)}


NULL_VERDICT = {
    "verdicts": [
        *entailment(1)["verdicts"],
        {"statement": 2, "reason": "unknown", "verdict": None, "passages": []},
    ]
}
MISSING, BLANK, WRONG = Status.MISSING_FIELD, Status.EMPTY_INPUT, Status.PARSE_ERROR
FAILED = Status.JUDGE_ERROR


def _faithfulness() -> list[Case]:
    one = {"claims": claims("stmt1")}
    rows: list[Case] = [
        Case("faithfulness", "all supported", JAVA, ONE, said=_two(1, 1)),
        Case("faithfulness", "none supported", JAVA, ZERO, said=_two(0, 0)),
        Case("faithfulness", "half supported", JAVA, _about(0.5), said=_two(1, 0)),
        Case("faithfulness", "no verdicts", JAVA, ZERO, said={**one, "entailment": {"verdicts": []}},
             differs="missing verdicts", here=Status.VERDICT_MISMATCH),
        Case("faithfulness", "null for the verdicts", JAVA, ZERO, said={**one, "entailment": {"verdicts": None}},
             differs="null", here=WRONG),
        Case("faithfulness", "null for a verdict", JAVA, _about(0.5),
             said={"claims": claims("stmt1", "stmt2"), "entailment": NULL_VERDICT}, differs="null", here=WRONG),
        Case("faithfulness", "the model fails", JAVA, NONE, said={"claims": FAILED}),
        Case("faithfulness", "at once", JAVA, ONE, said={**one, "entailment": entailment(1)}),
        Case("faithfulness", "one named model", JAVA, ONE, said={**one, "entailment": entailment(1)}),
    ]  # fmt: skip
    return rows


def _context_recall() -> list[Case]:
    two = Sample(
        "s", "What is Java?", reference="It is a language. It is old.", contexts=_chunks("Java is a language.")
    )
    name = "context_recall"
    return [
        Case(name, "all found", two, ONE, said={"entailment": entailment(1, 1)}),
        Case(name, "none found", two, ZERO, said={"entailment": entailment(0, 0)}),
        Case(name, "half found", two, _about(0.5), said={"entailment": entailment(1, 0)}),
        Case(name, "no verdicts", two, ZERO, said={"entailment": {"verdicts": []}}, differs="missing verdicts",
             here=Status.VERDICT_MISMATCH),
        *(Case(name, f"no {lacking}", _without(lacking), ZERO, differs="missing field", here=MISSING)
          for lacking in ("reference", "contexts", "user_input")),
        Case(name, "the model fails", two, NONE, said={"entailment": FAILED}),
    ]  # fmt: skip


def _context_precision() -> list[Case]:
    def said(verdict: Any) -> dict[str, Any]:
        return {"context_precision": {"reason": "so", "verdict": verdict}}

    name = "context_precision"
    two = replace(JAVA, contexts=_chunks("Java is a high-level language.", "Java was created by Sun Microsystems."))
    answered = replace(JAVA, reference=None)
    by_reference = {"strategy": "reference"}
    return [
        Case(name, "all useful", two, ONE, said=said("useful")),
        Case(name, "none useful", two, ZERO, said=said("useless")),
        Case(name, "no contexts", replace(JAVA, contexts=None), ZERO, differs="missing field", here=MISSING),
        Case(name, "by the response", answered, ONE, said=said("useful")),
        Case(name, "null for the verdict", JAVA, ZERO, said=said(None), differs="null", here=WRONG),
        Case(name, "by the reference", JAVA, ONE, by_reference, said("useful")),
        Case(name, "by a reference that is not there", answered, ONE, by_reference, said("useful"),
             differs="strategy", here=MISSING),
        Case(name, "the model fails", JAVA, ZERO, said={name: FAILED}, differs="failed call", here=FAILED),
        Case(name, "at once", JAVA, ONE, said=said("useful")),
    ]  # fmt: skip


def _context_entity_recall() -> list[Case]:
    name = "context_entity_recall"

    def said(*entities: str) -> dict[str, Any]:
        return {"entities": {"entities": list(entities)}}

    return [
        Case(name, "all there", WHOLE, ONE, said=said("Paris", "France", "1889")),
        Case(name, "no reference", _without("reference"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no contexts", _without("contexts"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no entities", WHOLE, ZERO, said=said(), differs="nothing to count",
             here=Status.EMPTY_DECOMPOSITION),
        Case(name, "null for the entities", WHOLE, ZERO, said={"entities": {"entities": None}}, differs="null",
             here=WRONG),
        Case(name, "the model fails", WHOLE, NONE, said={"entities": FAILED}),
        Case(name, "at once", WHOLE, ONE, said=said("Paris", "France")),
        Case(name, "one named model", WHOLE, ONE, said=said("Entity1", "Entity2")),
        Case(name, "capitals", WHOLE, ONE, said=said("PARIS", "france")),
    ]  # fmt: skip


def _factual_correctness() -> list[Case]:
    name = "factual_correctness"
    two = {"claims": claims("Claim 1", "Claim 2")}
    one = {"claims": claims("Claim 1"), "entailment": entailment(1)}
    return [
        Case(name, "no response", _without("response"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no reference", _without("reference"), ZERO, differs="missing field", here=MISSING),
        Case(name, "all supported", WHOLE, _about(1.0), said={**two, "entailment": entailment(1, 1)}),
        Case(name, "none supported", WHOLE, ZERO, said={**two, "entailment": entailment("contradicted", 0)}),
        Case(name, "half supported", WHOLE, _about(0.5), said={**two, "entailment": entailment(1, "contradicted")}),
        Case(name, "precision", WHOLE, _about(1.0), {"mode": "precision"}, one),
        Case(name, "the model fails", WHOLE, NONE, said={"claims": FAILED}),
        Case(name, "at once", WHOLE, SCALE, said=one),
    ]


def _answer_correctness() -> list[Case]:
    name = "answer_correctness"
    one, equal = {"claims": claims("Claim"), "entailment": entailment(1)}, {"Response": [1, 0], "Reference": [1, 0]}
    wrong = {"claims": claims("Wrong claim"), "entailment": entailment("contradicted")}
    weights = {"factual_weight": 1.5, "semantic_weight": 1.0}
    part = "unmeasured part"
    return [
        Case(name, "empty response", _without("response", ""), ZERO, vectors=equal),
        Case(name, "no response", _without("response"), ZERO, differs="missing field", here=MISSING),
        Case(name, "empty reference", _without("reference", ""), ZERO, differs="empty field", here=BLANK),
        Case(name, "no reference", _without("reference"), ZERO, differs="missing field", here=MISSING),
        Case(name, "both parts perfect", WHOLE, _about(1.0), said=one, vectors=equal),
        Case(name, "facts wrong, meaning alike", WHOLE, _about(0.25), said=wrong, vectors=equal),
        Case(name, "weights that add up to 2.5", WHOLE, _about(1.0), weights, one, equal),
        Case(name, "at once", WHOLE, SCALE, said=one, vectors=equal),
        Case(name, "at once, equal weights", WHOLE, SCALE, {"preset": "equal"}, one, equal),
        Case(name, "facts fail", WHOLE, SCALE, said={"claims": FAILED}, vectors=equal, differs=part, here=FAILED),
        Case(name, "vectors fail", WHOLE, SCALE, said=one, vectors={}, differs=part, here=Status.EMBEDDING_ERROR),
    ]


def _semantic_similarity() -> list[Case]:
    name = "semantic_similarity"

    def vectors(*reference: float) -> dict[str, Sequence[float]]:
        return {"Response": [1.0, 0.0, 0.0][: len(reference)], "Reference": list(reference)}

    same = {"Response": [0.1, 0.2, 0.3, 0.4, 0.5], "Reference": [0.1, 0.2, 0.3, 0.4, 0.5]}
    return [
        Case(name, "no response", _without("response"), ZERO, vectors=same, differs="missing field", here=MISSING),
        Case(name, "no reference", _without("reference"), ZERO, vectors=same, differs="missing field", here=MISSING),
        Case(name, "no embedder", WHOLE, ZERO, differs="no embedder", here=ValueError),
        Case(name, "equal vectors", WHOLE, _about(1.0), vectors=same),
        Case(name, "orthogonal", WHOLE, _about(0.0), vectors=vectors(0.0, 1.0, 0.0)),
        Case(name, "partly alike", WHOLE, (0.8, 0.9), vectors=vectors(0.866, 0.5, 0.0)),
        Case(name, "below a threshold", WHOLE, ZERO, {"threshold": 0.8}, vectors=vectors(0.7, 0.714)),
        Case(name, "above a threshold", WHOLE, ONE, {"threshold": 0.5}, vectors=vectors(0.7, 0.714)),
        Case(name, "the embedder fails", WHOLE, NONE, vectors={}),
        Case(name, "at once", WHOLE, _about(1.0), vectors=same),
        Case(name, "vectors 0.9 alike", WHOLE, SCALE, vectors=vectors(0.9, 0.436, 0.0)),
        Case(name, "a response of spaces", _without("response", "  "), ZERO, vectors=same),
    ]


def _response_relevancy() -> list[Case]:
    name = "response_relevancy"

    def said(*questions: tuple[str, str]) -> dict[str, Any]:
        return {name: {"questions": [{"question": text, "manner": manner} for text, manner in questions]}}

    evades = said(("What don't you know?", "noncommittal"), ("What are you unsure about?", "noncommittal"))
    vector = [0.1, 0.2, 0.3, 0.4, 0.5]
    known = {"Question": vector, "Generated?": vector}
    good = said(("Generated?", "committal"))
    return [
        Case(name, "no question", _without("user_input"), ZERO, vectors=known, differs="missing field", here=MISSING),
        Case(name, "no response", _without("response"), ZERO, vectors=known, differs="missing field", here=MISSING),
        Case(name, "it evades", WHOLE, ZERO, said=evades, vectors=known),
        Case(name, "no questions made", WHOLE, NONE, said=said(), vectors=known),
        Case(name, "the model fails", WHOLE, NONE, said={name: FAILED}, vectors=known),
        Case(name, "the same question", WHOLE, _about(1.0), said=good, vectors=known),
        Case(name, "at once", WHOLE, _about(1.0), said=good, vectors=known),
        Case(name, "two questions asked for", WHOLE, SCALE, {"questions": 2}, good, known),
    ]


def _noise_sensitivity() -> list[Case]:
    name = "noise_sensitivity"
    irrelevant = {"mode": "irrelevant"}
    one = {"claims": claims("Statement 1"), "entailment": entailment(1)}
    two = {"claims": claims("Statement 1", "Statement 2")}
    null = {"verdicts": [{"statement": 1, "reason": "unclear", "verdict": None, "passages": []}]}
    many, pair = (_without("contexts", _chunks(*(f"Context {n}" for n in range(1, k + 1)))) for k in (3, 2))
    blank = {"user_input": "   ", "response": "   ", "reference": "   ", "contexts": ()}
    return [
        *(Case(name, f"no {lacking}", _without(lacking), ZERO, differs="missing field", here=MISSING)
          for lacking in blank),
        Case(name, "the model fails", WHOLE, NONE, said={"claims": FAILED}),
        Case(name, "all supported", WHOLE, SCALE, said=one),
        Case(name, "all supported, irrelevant", WHOLE, SCALE, irrelevant, one),
        Case(name, "at once", WHOLE, SCALE, said=one),
        Case(name, "three contexts", many, SCALE, said={**two, "entailment": entailment(1, 0)}),
        Case(name, "null for a verdict", WHOLE, SCALE, said={**one, "entailment": null}, differs="null", here=WRONG),
        Case(name, "no statements", WHOLE, ZERO, said={"claims": claims()}, differs="nothing to count",
             here=Status.EMPTY_DECOMPOSITION),
        Case(name, "null for the statements", WHOLE, ZERO, said={"claims": {"claims": None}}, differs="null",
             here=WRONG),
        Case(name, "null for the verdicts", WHOLE, SCALE, said={**one, "entailment": {"verdicts": None}},
             differs="null", here=WRONG),
        Case(name, "mixed verdicts, irrelevant", pair, SCALE, irrelevant, {**two, "entailment": entailment(0, 1)}),
        Case(name, "none supported", pair, SCALE, said={**two, "entailment": entailment(0, 0)}),
        Case(name, "one named model", WHOLE, SCALE, said=one),
        *(Case(name, f"empty {lacking}", _without(lacking, value), ZERO, differs="empty field", here=BLANK)
          for lacking, value in blank.items()),
    ]  # fmt: skip


def _rating(prompt: str, rating: Any) -> dict[str, Any]:
    return {prompt: {"reason": "scripted", "rating": rating}}


def _response_groundedness() -> list[Case]:
    name = "response_groundedness"
    asked = {"shortcuts": False}
    exact = Sample("s", response="Exact match text", contexts=_chunks("Exact match text"))
    paris = "Paris is the capital of France"
    return [
        *(Case(name, about, WHOLE, expected, asked, _rating(name, rating)) for about, rating, expected in (
            ("fully grounded", 2, _about(1.0)), ("partly grounded", 1, _about(0.5)), ("not grounded", 0, _about(0.0)),
            ("rating 0", 0, ZERO), ("rating 1", 1, _about(0.5)), ("rating 2", 2, _about(1.0)), ("at once", 2, ONE))),
        Case(name, "equals a context", Sample("s", response=paris, contexts=_chunks(paris)), ONE),
        Case(name, "stands in a context", Sample("s", response="capital", contexts=_chunks(paris)), ONE),
        Case(name, "empty response", _without("response", ""), ZERO, differs="empty field", here=BLANK),
        Case(name, "a shortcut asks nobody", exact, ONE, said={name: FAILED}),
        Case(name, "no shortcuts", exact, _about(1.0), asked, _rating(name, 2)),
        Case(name, "a rating of 5", WHOLE, ONE, asked, _rating(name, 5), differs="clamping", here=WRONG),
        Case(name, "a rating of −1", WHOLE, ZERO, asked, _rating(name, -1), differs="clamping", here=WRONG),
        Case(name, "two models", WHOLE, _about(1.0), asked, _rating(name, 2), judges=2),
        Case(name, "no response", _without("response"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no response, no shortcuts", _without("response"), NONE, asked),
        Case(name, "empty contexts", _without("contexts", ()), NONE),
        Case(name, "no contexts", _without("contexts"), NONE),
        Case(name, "null for the rating", WHOLE, NONE, asked, _rating(name, None)),
    ]  # fmt: skip


def _rubrics_score() -> list[Case]:
    name = "rubrics_score"
    five = dict(enumerate(("Poor", "Below average", "Average", "Good", "Excellent"), 1))

    def graded(rubric: Mapping[Any, str]) -> Sample:
        return _without("rubric", rubric)

    def said(level: Any) -> dict[str, Any]:
        return {name: {"reason": "scripted", "level": level}}

    return [
        Case(name, "level 4 of 5", graded(five), (4.0, 4.0), said=said(4), differs="level", here=0.75),
        Case(name, "null for the level", graded(five), ZERO, said=said(None), differs="null", here=WRONG),
        Case(name, "two models", graded({1: "Poor", 3: "Average"}), (3.0, 3.0), said=said(3), judges=2,
             differs="level", here=1.0),
        Case(name, "the model fails", graded(five), NONE, said={name: FAILED}),
        Case(name, "a rubric of one level", graded({5: "Excellent"}), (5.0, 5.0), said=said(5),
             differs="one level", here=Status.INVALID_INPUT),
        Case(name, "an empty rubric", graded({}), NONE),
        Case(name, "a level without a number", graded({"invalid_key": "Description"}), NONE),
        Case(name, "two levels", graded({1: "Level 1", 2: "Level 2"}), (2.0, 2.0), said=said(2), differs="level",
             here=1.0),
    ]  # fmt: skip


def _aspect_critique() -> list[Case]:
    name = "aspect_critique"
    accurate = {"aspect": "Response should be accurate"}

    def said(verdict: Any) -> dict[str, Any]:
        return {name: {"reason": "scripted", "verdict": verdict}}

    yes = said("yes")
    return [
        Case(name, "yes", JAVA, ONE, accurate, yes),
        Case(name, "no", JAVA, ZERO, accurate, said("no")),
        Case(name, "null for the verdict", JAVA, ZERO, accurate, said(None), differs="null", here=WRONG),
        Case(name, "two models", JAVA, ONE, accurate, yes, judges=2),
        Case(name, "the model fails", JAVA, NONE, accurate, {name: FAILED}),
        Case(name, "at once", JAVA, ONE, accurate, yes),
        Case(name, "no aspect", JAVA, NONE, {"aspect": ""}, yes),
        *(Case(name, f"strictness {times}", JAVA, ONE, {**accurate, "repeats": times}, yes) for times in (1, 3, 5)),
        *(Case(name, f"strictness {times}", JAVA, NONE, {**accurate, "repeats": times}, yes) for times in (0, 6)),
    ]


def _simple_criteria() -> list[Case]:
    name = "simple_criteria"
    by: dict[str, Any] = {"criterion": "Test criteria", "lowest": 0.0, "highest": 5.0}
    return [
        Case(name, "the highest", WHOLE, ONE, by, _rating(name, 5.0)),
        Case(name, "the lowest", WHOLE, ZERO, by, _rating(name, 0.0)),
        Case(name, "the middle", WHOLE, _about(0.5), by, _rating(name, 2.5)),
        Case(name, "null for the rating", WHOLE, ZERO, by, _rating(name, None), differs="null", here=WRONG),
        Case(name, "the model fails", WHOLE, NONE, by, {name: FAILED}),
        Case(name, "a rating of 10", WHOLE, ONE, by, _rating(name, 10.0), differs="clamping", here=WRONG),
        Case(name, "with a reference", JAVA, _about(0.8), by, _rating(name, 4.0)),
        Case(name, "the scale as usual", WHOLE, _about(0.8), {}, _rating(name, 4.0)),
        Case(name, "0 to 10", WHOLE, _about(0.5), {**by, "highest": 10.0}, _rating(name, 5.0)),
        Case(name, "−5 to 5", WHOLE, _about(0.5), {**by, "lowest": -5.0}, _rating(name, 0.0)),
        Case(name, "1 to 10", WHOLE, ONE, {**by, "lowest": 1.0, "highest": 10.0}, _rating(name, 10.0)),
        Case(name, "no criterion", WHOLE, NONE, {"criterion": ""}, _rating(name, 4.0)),
        *(Case(name, f"{low:g} to 5", WHOLE, NONE, {**by, "lowest": low}, _rating(name, 5.0)) for low in (5.0, 10.0)),
    ]


def _answer_accuracy() -> list[Case]:
    name, again = "answer_accuracy", "answer_accuracy_confirmed"
    one, dual = {"ratings": "one"}, {"ratings": "confirmed"}
    return [
        *(Case(name, about, WHOLE, expected, one, _rating(name, rating)) for about, rating, expected in (
            ("fully correct", 2, _about(1.0)), ("partly correct", 1, _about(0.5)), ("incorrect", 0, _about(0.0)),
            ("rating 0", 0, ZERO), ("rating 1", 1, _about(0.5)), ("rating 2", 2, _about(1.0)), ("at once", 2, ONE))),
        Case(name, "a second look", WHOLE, _about(1.0), dual, _rating(name, 1) | _rating(again, 2)),
        Case(name, "no second look", WHOLE, _about(0.5), one, _rating(name, 1) | {again: FAILED}),
        Case(name, "a second look that fails", WHOLE, _about(1.0), dual, _rating(name, 2) | _rating(again, None),
             differs="second look", here=WRONG),
        Case(name, "a rating of 5", WHOLE, ONE, one, _rating(name, 5), differs="clamping", here=WRONG),
        Case(name, "a rating of −1", WHOLE, ZERO, one, _rating(name, -1), differs="clamping", here=WRONG),
        Case(name, "two models", WHOLE, _about(1.0), one, _rating(name, 2), judges=2),
        Case(name, "no question", _without("user_input"), _about(1.0), one, _rating(name, 2),
             differs="question of the accuracy", here=MISSING),
        *_validation(name, one),
        Case(name, "null for the rating", WHOLE, NONE, one, _rating(name, None)),
    ]  # fmt: skip


def _context_relevance() -> list[Case]:
    name = "context_relevance"
    by = {"ratings": "one", "each": True}
    three = _without("contexts", _chunks("context 1: AI definition", "context 2: some info", "context 3: unrelated"))
    two = _without("contexts", _chunks("context 1", "context 2"))

    def graded(texts: Mapping[str, Any]) -> dict[str, Any]:
        [text] = texts["contexts"]
        return {"reason": "scripted", "rating": {"context 1": 2, "context 2": 1}.get(text[:9], 0)}

    return [
        *(Case(name, about, WHOLE, expected, by, _rating(name, rating)) for about, rating, expected in (
            ("fully relevant", 2, ONE), ("partly relevant", 1, HALF), ("not relevant", 0, ZERO), ("at once", 2, ONE),
            ("another prompt", 2, ONE))),
        Case(name, "the mean over contexts", three, HALF, by, {name: graded}),
        Case(name, "all contexts relevant", three, ONE, by, _rating(name, 2)),
        Case(name, "no context relevant", two, ZERO, by, _rating(name, 0)),
        Case(name, "a rating of 3", WHOLE, ONE, by, _rating(name, 3), differs="clamping", here=WRONG),
        Case(name, "a rating of −1", WHOLE, ZERO, by, _rating(name, -1), differs="clamping", here=WRONG),
        *(Case(name, f"{word} {lacking}", _without(lacking, value), NONE, by)
          for lacking, empty in (("user_input", ""), ("contexts", ()))
          for word, value in (("no", None), ("empty", empty))),
        Case(name, "null for the rating", WHOLE, NONE, by, _rating(name, None)),
        Case(name, "two models", WHOLE, ONE, by, _rating(name, 2), judges=2),
    ]  # fmt: skip


JUDGED = [
    *_aspect_critique(),
    *_simple_criteria(),
    *_rubrics_score(),
    *_answer_accuracy(),
    *_context_relevance(),
    *_response_groundedness(),
    *_answer_correctness(),
    *_factual_correctness(),
    *_semantic_similarity(),
    *_context_entity_recall(),
    *_context_precision(),
    *_context_recall(),
    *_faithfulness(),
    *_noise_sensitivity(),
    *_response_relevancy(),
]
DEFAULTS: list[tuple[str, str, Any, Any, str]] = [
    ("bleu", "orders", 4, 4, ""),
    ("bleu", "smooth", "on", "exp", ""),
    ("chrf", "chars", 6, 6, ""),
    ("chrf", "words", 0, 0, ""),
    ("chrf", "beta", 2.0, 2.0, ""),
    ("chrf", "lowercase", True, False, "letter case"),
    ("chrf", "whitespace", True, False, "white space"),
    ("bleu", "lowercase", True, False, "letter case"),
    ("rougeL_f", "mode", "f1", "f1", ""),
    ("string_similarity", "measure", "jaro_winkler", "levenshtein", "measure as usual"),
    ("string_similarity", "case", False, False, ""),
    ("aspect_critique", "repeats", 1, 1, ""),
    ("simple_criteria", "repeats", 1, 1, ""),
    ("simple_criteria", "lowest", 0.0, 0, ""),
    ("simple_criteria", "highest", 5.0, 5, ""),
    ("response_groundedness", "shortcuts", True, True, ""),
    ("factual_correctness", "mode", "f1", "f1", ""),
    ("semantic_similarity", "threshold", None, None, ""),
    ("response_relevancy", "questions", 3, 3, ""),
    ("noise_sensitivity", "mode", "relevant", "relevant", ""),
    ("answer_accuracy", "ratings", "one", "two", "two templates"),
    ("context_relevance", "each", True, False, "two templates"),
]
"""Metric, option, its default there (in our words) and here, and the key of the difference."""
COUNTED = {
    "AspectCritic": 25, "SimpleCriteriaScore": 22, "RubricsScore": 18, "AnswerAccuracy": 20, "ContextRelevance": 19,
    "ResponseGroundedness": 22, "AnswerCorrectness": 18, "FactualCorrectness": 21, "SemanticSimilarity": 31,
    "ContextEntityRecall": 20, "ContextPrecision": 25, "ContextRecall": 21, "Faithfulness": 25, "NoiseSensitivity": 44,
    "ResponseRelevancy": 29, "BleuScore": 22, "ChrfScore": 21, "RougeScore": 23, "StringSimilarity": 22,
}  # fmt: skip
"""How many tests each of these classes has there."""

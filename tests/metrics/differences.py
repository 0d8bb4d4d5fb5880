"""Every intended difference from ragas 0.4.3 and from Spring AI RAGAS 0.3.3, once; run as a program, writes the page.

`python -m tests.metrics.differences` makes docs/differences.md and its pages. A difference names the test that shows
it, or is named by cases of spring_ai_ragas_cases.py and its neighbours; test_differences.py holds all three together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs import chapters
from tests.metrics import ragas_cases
from tests.metrics.spring_ai_ragas_cases import COUNTED, DEFAULTS
from tests.metrics.spring_ai_ragas_judged import JUDGED
from tests.metrics.spring_ai_ragas_texts import RELATIONS, TEXTS

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


@dataclass(frozen=True)
class Difference:
    """What another program does, and what is done here instead.

    metrics: those it concerns; empty: all. option: what makes it as it is there. test: "file::name", where a test of
    its own shows it.
    """

    metrics: tuple[str, ...]
    there: str
    here: str
    option: str = ""
    test: str = ""


_TEXTS = ("bleu", "chrf", "rouge1_f", "rouge2_f", "rougeL_f", "string_similarity")
_RAGAS = "variant=ragas"
RAGAS = {
    "missing verdicts": Difference(
        ("faithfulness", "context_recall"),
        "divides by the verdicts that came",
        "what got no verdict is asked about once more, then the value is unmeasured",
        _RAGAS,
        "metrics/test_known_differences.py::test_a_missing_verdict_is_not_full_marks",
    ),
    "epsilon": Difference(
        ("context_precision", "context_entity_recall", "factual_correctness"),
        "adds a small number to the divisor: all of all is 0.9999999999",
        "all of all is 1",
        _RAGAS,
        "metrics/test_known_differences.py::test_all_of_all_is_exactly_one",
    ),
    "names": Difference(
        ("context_entity_recall",),
        "compares names letter by letter, and divides by a list that may hold copies",
        "compares sets of names without regard to letter case and ё or е",
        _RAGAS,
        "metrics/test_known_differences.py::test_one_name_in_two_spellings_is_one_entity",
    ),
    "recall of facts": Difference(
        ("factual_correctness", "answer_correctness"),
        "takes the hits of recall from the answer's claims and its misses from the reference's; rounds to two digits",
        "each share is one of a single text's claims, not rounded",
        _RAGAS,
        "metrics/test_known_differences.py::test_recall_divides_by_the_claims_of_the_reference",
    ),
    "a side without claims": Difference(
        ("factual_correctness", "answer_correctness", "context_entity_recall"),
        "has 0, or 1 where neither side makes a claim",
        "is unmeasured: there is nothing to count",
        _RAGAS,
        "metrics/test_ragas_values.py::test_the_specification_counts_otherwise",
    ),
    "a reference without claims": Difference(
        ("noise_sensitivity",),
        "ends in an error of its array library",
        "no context is relevant, so that all wrong claims count in mode irrelevant",
        "",
        "metrics/test_noise_sensitivity.py::test_no_claims_in_the_reference",
    ),
    "threshold 0": Difference(
        ("semantic_similarity",),
        "takes a threshold of 0 for none",
        "a threshold of 0 is a threshold",
        _RAGAS,
        "metrics/test_known_differences.py::test_a_threshold_of_zero_is_a_threshold",
    ),
    "empty texts": Difference(
        (
            "semantic_similarity",
            "answer_correctness",
            "context_precision",
            "response_groundedness",
            "context_relevance",
        ),
        "embeds a space for an empty text, and rates empty contexts, questions and answers 0",
        "an empty answer held against a reference is worth 0; every other empty text is unmeasured",
        _RAGAS,
        "metrics/test_ragas_values.py::test_the_specification_counts_otherwise",
    ),
    "precision": Difference(
        ("semantic_similarity", "response_relevancy", "answer_correctness"),
        "computes cosines in the precision of the vectors",
        "computes them in double precision; values differ from the seventh digit on",
        _RAGAS,
        "metrics/test_ragas_values.py::test_the_specification_counts_otherwise",
    ),
    "questions without text": Difference(
        ("response_relevancy",),
        "embeds them beside the others",
        "leaves them out",
        _RAGAS,
        "metrics/test_ragas_values.py::test_the_specification_counts_otherwise",
    ),
    "one rater of two": Difference(
        ("answer_accuracy", "context_relevance", "response_groundedness"),
        "takes the first rating for both where the second fails, and none where the first does",
        "both are needed",
        _RAGAS,
        "metrics/test_ratings.py::test_one_rating_is_not_the_mean",
    ),
    "raters of groundedness": Difference(
        ("response_groundedness",),
        "asks two templates; finds the answer in all contexts joined, letter by letter",
        "asks one; finds the answer in a single context, without regard to letter case and white space",
        _RAGAS,
        "metrics/test_response_groundedness.py::test_ragas_asks_two_raters",
    ),
    "ratings in any words": Difference(
        ("answer_accuracy", "context_relevance", "response_groundedness"),
        "takes the first fitting digit anywhere in a reply",
        "only the field of the reply counts; a reply without it is asked for again, then unmeasured",
        "",
        "metrics/test_ratings.py::test_nothing_else_is_a_rating",
    ),
    "strictness": Difference(
        ("aspect_critique", "simple_criteria"),
        "asks once, whatever the strictness",
        "asks as often as `repeats` says, and takes the majority, or the median",
        "",
        "metrics/test_qualities.py::test_a_question_of_ones_own_and_independent_repeats",
    ),
    "most frequent rating": Difference(
        ("simple_criteria",),
        "means to take the rating that came most often",
        "takes the median",
        _RAGAS,
        "metrics/test_qualities.py::test_the_median_counts_and_with_the_variant_the_most_frequent",
    ),
    "scale": Difference(
        ("rubrics_score", "simple_criteria"),
        "gives the level or the rating itself",
        "lays it on a scale from 0 to 1, and keeps what was given",
        "",
        "metrics/test_qualities.py::test_it_is_a_share_of_the_scale",
    ),
    "verdicts too many": Difference(
        ("faithfulness", "context_recall"),
        "counts verdicts on statements that nobody asked about",
        "trusts no reply that numbers what is not there: it is asked for again",
        "",
        "metrics/test_faithfulness.py::test_numbers_beyond_the_statements_make_the_whole_reply_doubtful",
    ),
    "ROUGE's words": Difference(
        ("rouge1_f", "rougeL_f"),
        "deletes all letters but the Latin ones: a Russian text compared with itself has 0; compares English stems",
        "words of every alphabet count; stems are the option stem",
        "",
        "metrics/test_overlap.py::test_a_text_with_itself_is_perfect",
    ),
    "BLEU and chrF": Difference(
        ("bleu", "chrf"),
        "from 0 to 1; BLEU of an answer is that of a corpus of its pieces between “. ”",
        "from 0 to 100, as sacrebleu; BLEU of an answer is its sentence value",
        "",
        "metrics/test_overlap.py::test_a_perfect_answer_of_two_words_has_the_whole_bleu",
    ),
    "letters": Difference(
        ("exact_match", "string_similarity"),
        "compares letter by letter, in whatever form of Unicode the texts have",
        "folds letter case, white space and forms of Unicode; case=True keeps the case",
        "",
        "metrics/test_strings.py::test_exact_match",
    ),
}
SPRING = {
    "missing field": Difference(
        (),
        "gives 0, the best value of noise_sensitivity, or none",
        "is unmeasured (`missing_field`)",
    ),
    "empty field": Difference((), "gives 0", "is unmeasured (`empty_input`)"),
    "empty answer": Difference(
        (*_TEXTS, "answer_accuracy"),
        "gives none for an empty answer",
        "an empty answer held against a reference is worth 0, so that silence cannot raise a mean",
    ),
    "nothing to count": Difference(
        ("context_entity_recall", "noise_sensitivity"),
        "gives 0 where there are no entities or no claims",
        "is unmeasured (`empty_decomposition`)",
    ),
    "missing verdicts": Difference(
        ("faithfulness", "context_recall"),
        "gives 0 where no verdict came",
        "asks once more, then is unmeasured (`verdict_mismatch`)",
    ),
    "null": Difference(
        (),
        "takes null for a no, for 0, or for the lowest rating",
        "it is no verdict and no rating: one request for a repair, then unmeasured (`parse_error`)",
    ),
    "clamping": Difference(
        ("answer_accuracy", "context_relevance", "response_groundedness", "simple_criteria"),
        "clamps a rating outside the scale to its nearer end",
        "refuses it: one request for a repair, then unmeasured (`parse_error`)",
    ),
    "failed call": Difference(
        ("context_precision",),
        "takes a context whose call failed for a useless one",
        "is unmeasured, with the failure's status",
    ),
    "several models": Difference(
        (),
        "takes the mean of those of several models that gave a score, one at least; its majority vote is 1 where more "
        "than half gave 0.5 and above, else 0",
        "all judges must have measured; majority is the value that more than half gave, else unmeasured. `quorum = 1` "
        'and `aggregate = "binary_majority"` are that library\'s',
        "",
        "judge/test_panel.py::test_as_the_library_of_the_specification_joins_models",
    ),
    "unmeasured part": Difference(
        ("answer_correctness",),
        "takes a part that failed for 0",
        "is unmeasured, with the part's status",
    ),
    "strategy": Difference(
        ("context_precision",),
        "falls back to the response where the reference that was asked for is missing",
        "does so with strategy=auto alone; strategy=reference is unmeasured without one",
    ),
    "second look": Difference(
        ("answer_accuracy",),
        "keeps the first rating where its confirmation fails",
        "is unmeasured: a rating that was to be confirmed is not",
    ),
    "two templates": Difference(
        ("answer_accuracy", "context_relevance"),
        "asks one template, about each context by itself",
        "asks two as NVIDIA does, about all contexts together; ratings=one and each=True are that library's",
    ),
    "question of the accuracy": Difference(
        ("answer_accuracy",),
        "does not show the question to the judge",
        "shows it, and needs it",
    ),
    "level": Difference(
        ("rubrics_score",),
        "gives the level itself",
        "lays it on a scale from 0 to 1, and keeps the level",
    ),
    "one level": Difference(
        ("rubrics_score",),
        "takes a rubric of one level",
        "leaves it unmeasured: there is nothing to choose",
    ),
    "no embedder": Difference(("semantic_similarity",), "gives 0 where no embedder is configured", "is an error"),
    "letter case": Difference(
        ("bleu", "chrf"),
        "never counts letter case",
        "counts it as sacrebleu does; lowercase=True does not",
    ),
    "punctuation": Difference(
        ("bleu",),
        "deletes punctuation, and every letter but Latin and Russian ones",
        "a mark is a word of its own, as in sacrebleu, and every alphabet counts",
    ),
    "chrF of short texts": Difference(
        ("chrf",),
        "averages the F of each n; n-grams that neither text has count as shared",
        "sacrebleu's: averages precisions and recalls first, over the n that both texts have",
        "",
        "metrics/test_strings.py::test_chrf_is_the_librarys",
    ),
    "white space": Difference(
        ("chrf",),
        "counts white space as a character",
        "leaves it out as sacrebleu does; whitespace=True counts it",
    ),
    "measure as usual": Difference(
        ("string_similarity",),
        "Jaro-Winkler unless another is named",
        "Levenshtein unless another is named",
    ),
    "padding": Difference(
        ("string_similarity",),
        "fills the shorter text with spaces for Hamming's distance, which spaces of the longer one equal",
        "every place beyond the shorter text differs",
        "",
        "metrics/test_strings.py::test_places_beyond_the_shorter_text_differ",
    ),
    "long texts": Difference(
        ("semantic_similarity",),
        "cuts texts of more than about 512 tokens, or truncates them, and averages the parts' vectors",
        "embeds a text as it is; what its model cuts off is said by the embedder",
        "",
        "metrics/test_semantic_similarity.py::test_a_long_text_is_one_text",
    ),
    "hallucination": Difference(
        ("hallucination",),
        "the share of claims without support, 1 − faithfulness; 0 for an answer without claims",
        "that is unit=claims; the share of contradicted contexts unless it is named, and unmeasured without claims",
        "",
        "metrics/test_faithfulness.py::test_by_claims_it_is_one_minus_faithfulness",
    ),
    "strictness": Difference(
        ("aspect_critique",),
        "1 to 5, even numbers too, of which a tie is possible; a repeat that fails is left out",
        "an odd number to 99, and all must be answered",
        "",
        "metrics/test_qualities.py::test_an_odd_number_of_repeats",
    ),
}
_HEAD = """# Where numbers of one name differ

Every intended difference from ragas 0.4.3 and from the library of the specification, Spring AI RAGAS 0.3.3. The pages
are made from the tests (`python -m tests.metrics.differences`), and a test holds them equal to them: each row is shown
by a test or by cases, and a value that agrees where a row says that it differs fails as well.

| library | rows |
|---|---:|
"""


def pages() -> dict[Path, str]:
    """The index, and a page a library."""
    rows = f"| [ragas](differences/ragas.md) | {len(RAGAS)} |\n"
    rows += f"| [Spring AI RAGAS](differences/spring-ai-ragas.md) | {len(SPRING)} |\n"
    return {
        PAGE: chapters.index(_HEAD + rows, PAGE, ("ragas", "spring-ai-ragas")),
        PAGE.with_suffix("") / "ragas.md": "".join(_ragas()),
        PAGE.with_suffix("") / "spring-ai-ragas.md": "".join(_spring()),
    }


def _ragas() -> Iterator[str]:
    scripts, metrics = ragas_cases.CASES, len(ragas_cases.MAKERS)
    yield "# ragas 0.4.3\n\n"
    yield (
        f"On {scripts} random scripts of verdicts for each of {metrics} metrics, with empty sides among them, the\n"
        "option of the row gives ragas' own values, to 1e-9; where there are vectors, to what single\n"
        "precision leaves.\n\n"
    )
    yield "| metrics | ragas | here | as ragas with |\n|---|---|---|---|\n"
    for each in RAGAS.values():
        yield f"| {_names(each)} | {each.there} | {each.here} | {f'`{each.option}`' if each.option else ''} |\n"


def _spring() -> Iterator[str]:
    used = counted()
    tests = sum(COUNTED.values())
    texts = len(TEXTS) + len(RELATIONS)
    yield "# Spring AI RAGAS 0.3.3\n\n"
    counts = f"{len(JUDGED)} of judged metrics, {texts} of texts and {len(DEFAULTS)} of defaults"
    yield (
        f"Its {len(COUNTED)} test classes of metrics of answers, contexts and texts hold {tests} tests.\n"
        f"Those that ask for a value, or that there be none, are cases here: {counts}.\n"
        "The other tests are about Java (builders, records, names, prompts' placeholders). Where there is no value\n"
        "there, null or an exception, a value here is unmeasured with its reason.\n"
        f"{sum(used.values())} cases differ, each for one of these reasons; all others agree.\n\n"
    )
    yield "| metrics | Spring AI RAGAS | here | cases |\n|---|---|---|---:|\n"
    for key, each in SPRING.items():
        yield f"| {_names(each)} | {each.there} | {each.here} | {used[key] or ''} |\n"


def _names(difference: Difference) -> str:
    return ", ".join(f"`{name}`" for name in difference.metrics) or "all"


def counted() -> Counter[str]:
    """How many cases of that library differ, by the key of the difference."""
    named = [case.differs for case in (*JUDGED, *TEXTS)] + [differs for *_, differs in DEFAULTS]
    return Counter(each for each in named if each)


if __name__ == "__main__":
    chapters.write(PAGE, pages())

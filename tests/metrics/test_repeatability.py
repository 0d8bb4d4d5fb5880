"""response_exact_match_rate and response_semantic_consistency: repeats against the first answer."""

from __future__ import annotations

import pytest

from ragbench.core.types import Sample, Status
from ragbench.metrics.dialogue import response_exact_match_rate, response_semantic_consistency
from tests.embed.scripted_embedder import ScriptedEmbedder
from tests.judge.scripted_judge import score

EMBEDDER = ScriptedEmbedder({"a": [1, 0], "b": [0.6, 0.8], "c": [0, 1]})


def turns(*texts: str | None) -> list[Sample]:
    return [Sample("q", user_input="?", response=text, reference="a") for text in texts]


@pytest.mark.parametrize(
    ("texts", "value"),
    [(("a", "a"), 1.0), (("a", "b"), 0.0), (("a", "a", "b"), 0.5), (("a", "b", "b", "a"), 1 / 3), (("a", " a\n"), 1.0)],
)
def test_share_of_repeats_that_are_the_first_answer_again(texts: tuple[str, ...], value: float) -> None:
    assert response_exact_match_rate(turns(*texts)).value == pytest.approx(value, abs=1e-12)


def test_agreement_with_the_reference_plays_no_part() -> None:
    assert response_exact_match_rate(turns("b", "b")).value == 1.0
    assert response_exact_match_rate(turns("A", "a")).value == 0.0


def test_the_same_text_in_two_normal_forms_is_the_same() -> None:
    assert response_exact_match_rate(turns("й", "\u0438\u0306")).value == 1.0


@pytest.mark.parametrize(("texts", "value"), [(("a", "a"), 1.0), (("a", "b", "c"), 0.3), (("a", "c"), 0.0)])
def test_mean_cosine_with_the_first_answer(texts: tuple[str, ...], value: float) -> None:
    found = score(response_semantic_consistency(turns(*texts), embedder=EMBEDDER))
    assert found.value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("texts", "status"),
    [(("a",), Status.MISSING_FIELD), (("a", None), Status.MISSING_FIELD), (("a", " "), Status.EMPTY_INPUT)],
)
def test_a_single_run_or_a_missing_answer_is_unmeasured(texts: tuple[str | None, ...], status: Status) -> None:
    assert response_exact_match_rate(turns(*texts)).status is status
    assert score(response_semantic_consistency(turns(*texts), embedder=EMBEDDER)).status is status

"""What a page says of systems beside a baseline: words, intervals and p that agree."""

from __future__ import annotations

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.views import comparison

NUMBER = 40
PASSAGES = [{"id": f"p{n}", "text": f"Passage {n}."} for n in range(NUMBER)]
QUESTIONS = [{"id": f"q{n}", "text": f"{n}", "relevant": [f"p{n}"]} for n in range(NUMBER)]


def hits(*numbers: int):
    """A system that finds the right passage of these questions, and another one of the others."""

    def retrieve(question: str, k: int) -> list[str]:
        number = int(question)
        return [f"p{number}" if number in numbers else f"p{(number + 1) % NUMBER}"]

    return retrieve


def tier1(systems: dict, **options: object):
    """Tier 1 on the forty questions, by one metric if no others are named."""
    usual = {"metrics": "hit_rate@1", "repeats": 1}
    return rb.tier1(systems, QUESTIONS, PASSAGES, **{**usual, **options})


def told(result: object) -> str:
    """The answer as plain text."""
    return str(comparison.answer(result))


@pytest.mark.parametrize(
    ("challenger", "sentence"),
    [
        (range(12, 40), "On hit_rate@1 b is better than a: +0.500 ["),
        (range(3), "On hit_rate@1 b is worse than a: −0.125 ["),
        (range(8), "On hit_rate@1 b and a are equal on every question: 0.000."),
        ((*range(8), 9), "On hit_rate@1 b and a differ on too few questions to tell: +0.025."),
        ((*range(4), *range(9, 14)),
         "On hit_rate@1 no difference between b and a is shown: +0.025 ["),
    ],
)  # fmt: skip
def test_one_sentence_says_the_word_with_its_interval_and_p(
    challenger: tuple[int, ...], sentence: str
) -> None:
    result = tier1({"a": hits(*range(8)), "b": hits(*challenger)})
    assert sentence in told(result)


def test_not_shown_says_what_four_of_five_such_studies_would_show() -> None:
    result = tier1({"a": hits(*range(8)), "b": hits(*range(4), *range(9, 14))})
    detectable = result.comparisons["detectable"].iloc[0]
    assert f"Four of five such studies would show a difference of {detectable:.3f}." in told(result)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_interval_and_word_agree_for_one_two_and_five_systems(count: int) -> None:
    systems = {f"s{n}": hits(*range(6 * n + 4)) for n in range(count)}
    result = tier1(systems, metrics="")
    for row in result.comparisons.itertuples():
        has_left_zero = row.low > 0 or row.high < 0
        assert has_left_zero == row.word.startswith(("better", "worse"))
    page = str(result.page)
    assert page.count("hit_rate@10") >= 1
    if count == 1:
        assert "On mrr@10 s0 reaches 0.100 [" in told(result)
        assert result.comparisons.empty
    else:
        assert told(result).count("On mrr@10") == count - 1
    assert all(trace.name.startswith("s") for trace in result.figure.data)
    assert len(result.figure.data) == count


def test_names_of_systems_are_texts_wherever_they_stand(tmp_path) -> None:
    name = "<img src=x onerror=alert(1)>"
    result = tier1({"a": hits(1), name: hits(*range(30))}, metrics="")
    html = result.save(tmp_path).read_text(encoding="utf-8")
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_unmeasured_pairs_are_counted_beside_the_word() -> None:
    def shaky(question: str, k: int) -> list[str]:
        if question == "7":
            raise TimeoutError("too slow")
        return hits(*range(12, 40))(question, k)

    text = told(tier1({"a": hits(*range(8)), "b": shaky}))
    assert "1 of 40 pairs are unmeasured." in text
    assert "b failed at 1 of 40 questions: " in text


def test_the_table_has_a_row_a_metric_and_system_and_is_latex() -> None:
    result = tier1({"a": hits(*range(8)), "b": hits(*range(12, 40))}, metrics="hit_rate@1, mrr@10")
    part = comparison.all_numbers(result)
    assert isinstance(part.content, pd.DataFrame)
    assert list(part.content.index) == ["hit_rate@1", "", "mrr@10", ""]
    assert list(part.content["system"]) == ["● a", "◆ b"] * 2
    assert list(part.content["verdict"])[1] == "▲ better"
    assert r"hit\_rate@1" in part.to_latex()
    assert not part.is_folded
    assert comparison.all_numbers(tier1({"a": hits(1), "b": hits(2)}, metrics="")).is_folded


def test_method_counts_the_kinds_of_intervals() -> None:
    result = tier1({"a": hits(*range(15)), "b": hits(*range(2))})
    assert dict(zip(result.estimates["system"], result.estimates["method"], strict=True)) == {
        "a": "bca", "b": "wilson",
    }  # fmt: skip
    text = str(comparison.method(result))
    assert "Of 2 intervals: bootstrap (BCa) 1, Wilson's 1." in text
    assert "10,000 draws" in text


def test_provenance_names_systems_options_versions_and_data() -> None:
    text = str(comparison.provenance(tier1({"a": hits(1)}, seed=7, k=5, metrics="mrr@5")))
    for piece in ("seed = 7", "k = 5", "numpy", "objects"):
        assert piece in text
    assert text.endswith("commit–"), "there is none in this folder"


def test_only_what_can_be_told_has_a_difference_and_a_p_in_the_table() -> None:
    def dead(question: str, k: int) -> list[str]:
        raise TimeoutError("too slow")

    result = tier1({"a": hits(*range(8)), "b": hits(*range(12, 40)), "c": dead})
    table = comparison.all_numbers(result).content.set_index("system")
    assert table.loc["◆ b", "difference, interval"].startswith("+0.500 [+0.")
    assert table.loc["◆ b", "p"].startswith("=\N{NO-BREAK SPACE}0.00")
    assert list(table.loc["■ c", ["difference, interval", "p"]]) == ["–", "–"]


def test_a_russian_page_is_russian_and_has_decimal_commas() -> None:
    result = tier1({"a": hits(*range(8)), "b": hits(*range(12, 40))}, language="ru")
    assert "По hit_rate@1 b лучше a: +0,500 [+0," in told(result)
    assert "Чего здесь не видно" in str(result.page)


def test_a_figure_says_on_how_many_metrics_who_is_better() -> None:
    result = tier1({"a": hits(*range(8)), "b": hits(*range(12, 40)), "c": hits(*range(8))})
    assert comparison.forests(result)[0].title == (
        "Against a: b is better on 1 of 1 metrics; c shows no difference on 1 metrics"
    )


def test_a_baseline_that_is_no_system_is_refused_with_the_names() -> None:
    with pytest.raises(BenchError, match="baseline 'old' is none of a, b"):
        tier1({"a": hits(1), "b": hits(2)}, baseline="old")

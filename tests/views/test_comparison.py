"""What a page says of systems beside a baseline: words, intervals and p that agree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.core.language import load_language
from ragbench.report.manifest import git_commit
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
    assert ("Four of five" in told(result)) == ("no difference" in sentence)


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
    assert "Differences are paired by question." in text


def test_provenance_names_systems_options_versions_and_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git_commit.cache_clear()
    text = str(comparison.provenance(tier1({"a": hits(1)}, seed=7, k=5, metrics="mrr@5")))
    for piece in ("seed = 7", "k = 5", "numpy", "objects"):
        assert piece in text
    assert text.endswith("commit–"), "there is none in this folder"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "One"], check=True)
    git_commit.cache_clear()
    text = str(comparison.provenance(tier1({"a": hits(1)})))
    git_commit.cache_clear()
    assert len(text.rpartition("commit")[2]) == 40


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


def test_a_figure_counts_metrics_on_which_one_is_better_and_worse() -> None:
    def second(question: str, k: int) -> list[str]:
        return ["p0" if question == "1" else "p1", f"p{question}"]

    def dead(question: str, k: int) -> list[str]:
        raise TimeoutError("too slow")

    systems = {"a": second, "b": hits(*range(25)), "c": hits(), "d": dead}
    [forest] = comparison.forests(tier1(systems, metrics="hit_rate@1,hit_rate@2"))
    assert forest.title == (
        "Against a: b is better on 1 and worse on 1 of 2 metrics; c is worse on 1 of 2 metrics; "
        "of d it cannot be told"
    )


def test_two_scales_are_drawn_that_of_the_primary_metric_first() -> None:
    rows = [{"question": f"{n}?", "answer": f"a {n}", "reference": "a"} for n in range(4)]
    labels = ["bleu", "answer_correctness_rating", "token_f1", "exact_match"]
    scores = rb.score(rows, labels, judge="lexical", primary="bleu", draws=200)
    names = [list(part.content.layout.yaxis.ticktext) for part in comparison.forests(scores)]
    assert names == [["bleu"], ["token_f1", "exact_match"]]
    ranked = tier1({"a": hits(1)}, metrics="hit_rate@1,mrr@1,precision@1,precision@2,recall")
    assert list(comparison.forests(ranked)[0].content.layout.yaxis.ticktext) == [
        "hit_rate@1", "mrr@1", "precision@2", "recall@10"
    ]  # fmt: skip


@pytest.mark.parametrize(("value", "shown"), [(5, "5"), (0.85, "0,85"), (0.12345, "0,12345")])
def test_a_number_that_somebody_set_has_no_more_digits_than_it_needs(
    value: float, shown: str
) -> None:
    assert comparison.short_number(value, load_language("ru")) == shown


def test_a_baseline_that_is_no_system_is_refused_with_the_names() -> None:
    with pytest.raises(BenchError, match="baseline 'old' is none of a, b"):
        tier1({"a": hits(1), "b": hits(2)}, baseline="old")


def test_other_metrics_and_silences_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def quiet(question: str, k: int) -> list[str]:
        return [] if int(question) < 3 else hits(*range(12, 40))(question, k)

    result = tier1({"a": hits(*range(8)), "b": quiet}, metrics="hit_rate@1,mrr@1,mrr@5")
    text = told(result)
    assert "Of 2 other metrics, b: better 2." in text
    assert "b returned nothing at 3 of 40 questions." in text
    assert "a returned nothing" not in text
    alone = tier1({"a": hits(*range(8))}, metrics="hit_rate@1,mrr@5")
    assert "other metrics" not in told(alone)
    assert comparison.forests(alone)[0].title == "hit_rate@1: a 0.200"
    assert "baseline" not in str(comparison.facts(alone))
    assert "independent groups" not in str(comparison.facts(alone))
    assert "Differences are paired" not in str(comparison.method(alone))
    assert comparison.all_numbers(alone).note == ""
    assert str(comparison.facts(alone)).endswith("commit –")
    monkeypatch.setattr(comparison, "git_commit", lambda: "0123456789")
    assert str(comparison.facts(alone)).endswith("commit 01234567")
    figure = comparison.forests(alone)[0].content
    assert list(figure.layout.xaxis.range) == [-0.02, 1.02]
    silent = [{"question": f"{n}?", "answer": "", "contexts": ["x"]} for n in range(3)]
    assert "returned nothing" not in told(rb.score(silent, ["context_relevance"], judge="lexical"))
    silent[0]["answer"] = "x"
    scored = rb.score(silent, ["context_relevance"], judge="lexical")
    assert "answers returned nothing at 2 of 3 questions." in told(scored)


def test_parts_of_the_questions_are_looked_at_by_themselves() -> None:
    kinds = [
        {**row, "kind": "misspelt" if n < 20 else "colloquial", "cluster": f"c{n // 2}"}
        for n, row in enumerate(QUESTIONS)
    ]
    systems = {"a": hits(*range(8)), "b": hits(*range(12, 40))}
    result = rb.tier1(systems, kinds, PASSAGES, metrics="hit_rate@1", repeats=1)
    table = comparison.slices(result).content
    assert table.index.tolist() == ["kind: colloquial", "", "kind: misspelt", ""]
    assert [cell.split()[0] for cell in table["mean, interval"]] == [
        "0.000", "1.000", "0.400", "0.400"
    ]  # fmt: skip
    assert [cell.split()[0] if cell else "" for cell in table["difference, interval"]] == [
        "", "+1.000", "", "0.000"
    ]  # fmt: skip
    assert set(table["n"]) == {"20"}
    assert comparison.slices(tier1(systems)) is None
    assert "independent groups 20" in str(comparison.facts(result))


def test_a_long_table_is_folded_where_a_short_one_says_the_same() -> None:
    systems = {"a": hits(*range(8)), "b": hits(*range(12, 40))}
    labels = [*(f"mrr@{k}" for k in range(1, 11)), "hit_rate@1", "hit_rate@2", "hit_rate@3"]
    for count, is_folded in ((12, False), (13, True)):
        result = tier1(systems, metrics=",".join(labels[:count]), primary="mrr@2")
        assert comparison.all_numbers(result).is_folded == is_folded
    assert comparison.numbers(result).content.index.tolist() == [
        "mrr@2", "", "mrr@10", "", "hit_rate@3", ""
    ]  # fmt: skip
    assert "is a family of its own" in comparison.numbers(result).note
    assert "is a family of its own" not in comparison.all_numbers(result).note
    assert comparison.numbers(tier1(systems)) is None
    many = tier1({f"s{n}": hits(n) for n in range(25)}, draws=200)
    assert len(comparison.all_numbers(many).content) == 25
    assert not comparison.all_numbers(many).is_folded, "no other table says it"
    assert "is a family of its own" in comparison.all_numbers(tier1(systems)).note


def test_a_result_keeps_its_frames_for_the_run_that_executes_it(tmp_path, monkeypatch) -> None:
    result = tier1({"a": hits(1)})
    result.keep()
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(tmp_path / "run"))
    monkeypatch.setenv("RAGBENCH_RUN_PAGE", "mine")
    result.keep()
    assert (tmp_path / "run" / "frames" / "mine" / "scores.parquet").is_file()


def test_tier_1_shows_depths_times_and_what_is_not_judged() -> None:
    def second(question: str, k: int) -> list[str]:
        return [f"p{(int(question) + 1) % NUMBER}", f"p{question}"][:k]

    asked = [*QUESTIONS, {"id": "x", "text": "3"}]
    result = rb.tier1({"a": second, "b": hits(1)}, asked, PASSAGES, metrics="mrr@2", k=2, repeats=1)
    parts = {part.title: part for part in result.parts if part.title}
    figure = parts["Recall at 2: a 1.000, b 0.025"].content
    assert [trace.name for trace in figure.data] == [None, "a", None, "b"]
    assert list(figure.data[1].x) == [1, 2]
    assert list(figure.data[1].y) == [0, 1]
    assert list(figure.data[0].x) == [1, 2, 2, 1]
    assert len(figure.data[0].y) == 4
    judged = parts["What is not judged"].content
    assert judged.loc["a", "others not relevant"] == "0.500"
    assert judged.loc["a", "others relevant"] == "1.000"
    assert judged.loc["a", "judged"].startswith("50")
    times = parts["How fast"].content
    assert times.columns[0] == "median"
    assert all(name.endswith(" %") for name in times.columns[1:-1])
    assert "1 questions without a relevant passage are left out." in str(
        parts["What this does not show"]
    )
    assert "a question was retrieved itself" not in str(result.page)
    flat = tier1({"a": second}, k=1, metrics="retrieval_consistency", repeats=2)
    assert not any(part.title == "What is not judged" for part in flat.parts)
    assert not any(part.title.startswith("Recall at") for part in flat.parts)
    assert "are left out" not in str(flat.parts[-2])
    assert "Pages are ranked" not in str(flat.page)

"""Tier 1 by its front: functions and plain lists in, frames out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.core.metric import CATALOGUE

PASSAGES = [{"id": f"p{n}", "text": f"Passage {n} is about subject{n}."} for n in range(30)]
QUESTIONS = [{"id": f"q{n}", "text": f"subject{n}?", "relevant": [f"p{n}"]} for n in range(4)]
FEW = {"draws": 200}


def at_rank(rank: int):
    """A system that puts the relevant passage of every question at a rank; 0: nowhere."""

    def retrieve(question: str, k: int) -> list[str]:
        number = int(question.removeprefix("subject").removesuffix("?"))
        others = [f"p{place}" for place in range(20, 30)][: rank - 1 if rank else 10]
        return others + ([f"p{number}"] if rank else [])

    return retrieve


def means(result: object) -> pd.Series:
    """The means by system and metric."""
    return result.estimates.set_index(["system", "metric"])["value"]  # type: ignore[attr-defined]


def test_means_are_those_computed_by_hand() -> None:
    systems = {"second": at_rank(2), "first": at_rank(1), "never": at_rank(0)}
    result = rb.tier1(systems, QUESTIONS, documents=PASSAGES, **FEW)
    value = means(result)
    assert value["second", "mrr@10"] == 0.5
    assert value["first", "mrr@10"] == 1.0
    assert value["never", "mrr@10"] == 0.0
    assert value["second", "hit_rate@1"] == 0.0
    assert value["second", "hit_rate@5"] == 1.0
    assert value["second", "precision@5"] == 0.2  # one of five, though only two came back
    assert value["second", "ndcg@10"] == pytest.approx(0.6309297535714575)  # 1 / log2(3)
    assert value["second", "retrieval_consistency"] == 1.0
    assert len(result.scores) == 3 * 17 * 4


@pytest.fixture
def own_metrics() -> Iterator[None]:
    """Metrics that a test declares go with it."""
    before = dict(CATALOGUE)
    yield
    CATALOGUE.clear()
    CATALOGUE.update(before)


def test_an_own_metric_reads_the_gains_alone(own_metrics: None) -> None:
    @rb.metric
    def is_first(gains):
        """Whether the first passage is relevant."""
        return (gains[:, 0] > 0).astype(float)

    @rb.metric
    def is_flat(gains):
        """One number for all questions, where one for each is expected."""
        return 1.0

    system = {"mine": at_rank(2)}
    given = {"questions": QUESTIONS, "documents": PASSAGES}
    values = means(rb.tier1(system, **given, metrics=["is_first", "mrr"], **FEW))
    assert (values["mine", "is_first"], values["mine", "mrr@10"]) == (0, 0.5)
    with pytest.raises(BenchError, match=r"is_flat returned 1\.0; return a value a question"):
        rb.tier1(system, **given, metrics=["is_flat"])


def test_tables_are_those_frames_that_hold_anything() -> None:
    result = rb.tier1({"first": at_rank(1)}, QUESTIONS, documents=PASSAGES, **FEW)
    tables = result.tables()
    assert {"retrieved", "asked", "scores", "estimates"} <= tables.keys()
    # No index was searched, and no slice was asked for.
    assert not {"indexes", "slice_estimates", "slice_comparisons"} & tables.keys()


def test_a_function_typed_at_a_prompt_has_no_file_and_works() -> None:
    typed = eval('lambda question, k: ["p0", "p1"]')
    result = rb.tier1(systems={"v1": "bm25", "v2": typed}, questions=QUESTIONS, documents=PASSAGES)
    assert result.systems == ["v1", "v2"]
    assert means(result)["v2", "hit_rate@10"] == 0.5
    assert "On mrr@10" in repr(result)


def test_a_question_at_which_a_system_fails_is_unmeasured_and_never_a_miss() -> None:
    def shaky(question: str, k: int) -> list[str]:
        if question in ("subject1?", "subject2?"):
            raise ConnectionError("connection refused")
        return at_rank(1)(question, k)

    result = rb.tier1({"good": at_rank(1), "shaky": shaky}, QUESTIONS, PASSAGES, **FEW)
    scores = result.scores[(result.scores["metric"] == "mrr@10")].set_index(
        ["system", "question_id"]
    )
    assert scores.loc[("shaky", "q1"), "status"] == "system_error"
    assert "connection refused" in scores.loc[("shaky", "q1"), "reason"]
    assert means(result)["shaky", "mrr@10"] == 1.0
    estimate = result.estimates.set_index(["system", "metric"]).loc[("shaky", "mrr@10")]
    assert (estimate["n"], estimate["n_unmeasured"]) == (2, 2)
    assert "failed at 2 of 4 questions" in str(result)


def test_a_system_that_returns_nothing_has_0_and_is_said_to_return_nothing() -> None:
    systems = {"good": at_rank(1), "empty": lambda question, k: []}
    result = rb.tier1(systems, QUESTIONS, PASSAGES, **FEW)
    assert means(result)["empty", "mrr@10"] == 0.0
    assert "empty returned nothing at 4 of 4 questions." in str(result)


def test_questions_without_a_relevant_passage_are_counted_not_averaged() -> None:
    questions = [*QUESTIONS, {"id": "open", "text": "who knows?"}]
    result = rb.tier1({"a": at_rank(1)}, QUESTIONS + questions[4:], PASSAGES, **FEW)
    assert set(result.scores["question_id"]) == {"q0", "q1", "q2", "q3"}
    assert list(result.frames.questions["is_labelled"]) == [True] * 4 + [False]
    assert "1 questions without a relevant passage are left out." in str(result.page)


def test_passages_that_the_data_set_does_not_have_are_unmeasured_not_irrelevant() -> None:
    systems = {"known": at_rank(1), "foreign": lambda question, k: ["x1", "x2"]}
    result = rb.tier1(systems, QUESTIONS, PASSAGES, **FEW)
    foreign = result.scores[result.scores["system"] == "foreign"]
    assert foreign["value"].isna().all()
    assert set(foreign["reason"]) == {"it retrieved passages that the data set does not have"}
    without_passages = rb.tier1(systems, QUESTIONS, **FEW)  # every id counts as known
    assert means(without_passages)["foreign", "mrr@10"] == 0.0
    # One of fifty is as few as nobody minds.
    many = [{"id": f"p{n}", "text": f"Passage {n}."} for n in range(49)]
    for count, status in ((49, "ok"), (48, "missing_field")):
        ids = [*(f"p{n}" for n in range(count)), "x1"]
        search = {"a": lambda question, k, ids=ids: ids}
        found = rb.tier1(search, QUESTIONS[:1], many, k=50, metrics="mrr", **FEW)
        assert set(found.scores["status"]) == {status}


def test_pages_are_ranked_by_their_first_passage() -> None:
    documents = [{**passage, "url": f"/page{n // 2}"} for n, passage in enumerate(PASSAGES)]
    asked = []

    def search(question: str, k: int) -> list[str]:
        asked.append(k)
        return ["p20", "p21", "p1"]

    # Two passages of another page come first: they are one page.
    result = rb.tier1(
        {"a": search},
        [{"id": "q", "text": "subject0?", "relevant": ["p0"]}],
        documents,
        unit="url",
        **FEW,
    )
    assert means(result)["a", "mrr@10"] == 0.5
    assert set(asked) == {9 * 2 + 1}, "ten pages of two passages each"


def test_a_piece_counts_by_the_share_of_the_labelled_text_that_it_holds() -> None:
    documents = [{"id": "p", "text": "aaaaa bbbbb"}, {"id": "o", "text": "other"}]
    questions = [{"id": "q", "text": "?", "relevant": ["p"]}]

    def halves(question: str, k: int) -> list[dict[str, str]]:
        return [{"text": "aaaaa"}, {"text": "other"}, {"text": "bbbbb"}]

    result = rb.tier1({"a": halves}, questions, documents, **FEW)
    value = means(result)
    assert value["a", "recall@1"] == 0.5
    assert value["a", "recall@3"] == 1.0
    assert value["a", "hit_rate@1"] == 1.0  # half of the text is enough
    strict = rb.tier1({"a": halves}, questions, documents, found_from=0.6, **FEW)
    assert means(strict)["a", "hit_rate@1"] == 0.0
    assert means(strict)["a", "mrr@10"] == pytest.approx(1 / 3)


def test_pieces_of_labelled_passages_may_stand_beside_whole_ones() -> None:
    documents = {"p": "aaaaa bbbbb", "o": "other", "n": "ccccc ddddd"}
    questions = [{"id": "q", "text": "?", "relevant": {"n": 0, "p": 1, "o": 1}}]
    systems = {
        "both": lambda question, k: ["o", {"text": "bbbbb"}],
        "of grade nought": lambda question, k: ["o", {"text": "bbbbb"}, {"text": "ccccc"}],
    }
    value = means(rb.tier1(systems, questions, documents, **FEW))
    assert [value["both", f"recall@{k}"] for k in (1, 3)] == [0.5, 0.75]
    assert pd.isna(value["of grade nought", "recall@3"])


def test_pieces_have_no_bounds_of_what_is_not_judged() -> None:
    documents = [{"id": "p", "text": "one two three four"}, {"id": "r", "text": "five six"}]
    questions = [{"id": "q", "text": "what?", "relevant": ["p", "r"]}]
    systems = {"cut": lambda question, k: [{"text": part} for part in ("one two", "three four")]}
    result = rb.tier1(systems, questions, documents, primary="recall@5", k=5, **FEW)
    assert means(result)["cut", "recall@5"] == 0.5
    assert result.statement.bounds.empty


def test_times_that_are_kept_are_those_of_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = []

    def find(store: object, asked: dict) -> None:
        inputs.append(asked)

    monkeypatch.setattr("ragbench.tiers.tier1_retrieval.find_readings", find)
    for text in ("subject0?", "subject0, and at length?", "subject0?"):
        question = {**QUESTIONS[0], "text": text}
        rb.tier1("bm25", [question], PASSAGES, index_questions=0, **FEW)
    assert inputs[0] == inputs[2]
    assert inputs[0] != inputs[1]


def test_repeats_that_rank_differently_lower_the_consistency() -> None:
    turns = itertools.cycle([["p0", "p1"], ["p1", "p0"]])
    result = rb.tier1(
        {"a": lambda question, k: next(turns)}, QUESTIONS[:1], PASSAGES, repeats=3, **FEW
    )
    assert means(result)["a", "retrieval_consistency"] == 0.5
    once = rb.tier1({"a": at_rank(1)}, QUESTIONS, PASSAGES, repeats=1, **FEW)
    rows = once.scores[once.scores["metric"] == "retrieval_consistency"]
    assert rows["value"].isna().all()


def test_slices_need_twenty_questions_and_are_a_family_of_their_own() -> None:
    questions = [
        {"id": f"q{n}", "text": f"subject{n}?", "relevant": [f"p{n}"],
         "kind": "colloquial" if n < 20 else "misspelt", "source": f"page{n // 19}"}
        for n in range(30)
    ]  # fmt: skip
    result = rb.tier1({"a": at_rank(2), "b": at_rank(1)}, questions, PASSAGES, **FEW)
    slices = result.statement.slice_estimates
    assert list(slices["slice"].unique()) == ["kind: colloquial"]
    assert list(slices["n"]) == [20, 20]
    assert set(result.statement.slice_comparisons["family"]) == {"slices"}


def test_what_is_not_judged_has_both_bounds() -> None:
    result = rb.tier1({"a": at_rank(2)}, QUESTIONS, PASSAGES, **FEW)
    bounds = result.statement.bounds.iloc[0]
    assert (bounds["judged"], bounds["lowest"], bounds["highest"]) == (0.5, 0.5, 1.0)
    # Two that nobody judged are looked at, and one that everybody wants: two of three are found.
    systems = {"three": lambda question, k: ["p20", "p21", "p22"], "one": lambda q, k: ["p20"]}
    result = rb.tier1(systems, QUESTIONS, PASSAGES, metrics="recall@2", **FEW)
    assert result.statement.bounds["highest"].tolist() == pytest.approx([2 / 3, 1 / 2])
    same = rb.tier1({"a": at_rank(2)}, QUESTIONS, PASSAGES, primary="retrieval_consistency", **FEW)
    cut = rb.tier1({"a": at_rank(2)}, QUESTIONS, PASSAGES, primary="ndcg", k=3, **FEW)
    assert cut.request.primary == "ndcg@3"
    assert same.statement.bounds.empty


def test_curves_reach_the_means_at_the_last_depth() -> None:
    result = rb.tier1({"a": at_rank(3)}, QUESTIONS, PASSAGES, k=5, **FEW)
    curve = result.statement.curves
    recall = curve[curve["metric"] == "recall"].set_index("k")["value"]
    assert list(recall) == [0.0, 0.0, 1.0, 1.0, 1.0]
    # Wilson of 0 of 4 by t = 3.182: t² / (4 + t²).
    assert curve[["low", "high"]].iloc[0].tolist() == pytest.approx([0, 0.7168], abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "ndcg@20"}, r"ndcg@20 looks beyond the k = 10 passages"),
        ({"metrics": "mrr@10, bleu"}, "bleu reads no ranking"),
        ({"metrics": "mmr"}, "no metric 'mmr'.*did you mean 'mrr'"),
        ({"primary": "bleu"}, "primary 'bleu' is none of"),
        ({"primary": "mrr@5"}, "primary 'mrr@5' is none of .*mrr@10"),
        ({"baseline": "v3"}, "baseline 'v3' is none of a"),
        ({"question": []}, "no such key; did you mean 'questions'|there is no such key"),
        ({"unit": "page"}, "unit"),
        ({"k": 0}, "k: .*greater than or equal to 1"),
        ({"unit": "url"}, "there are passages without a url; use unit = 'chunk'"),
        ({"slice_by": "colour"}, "questions have no column 'colour'"),
    ],
)
def test_a_wrong_option_is_refused_in_a_sentence(options: dict, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        rb.tier1({"a": at_rank(1)}, QUESTIONS, PASSAGES, **options)


def test_without_labels_there_is_nothing_to_measure() -> None:
    with pytest.raises(BenchError, match=r"no question of .* has a relevant passage"):
        rb.tier1({"a": at_rank(1)}, [{"id": "q", "text": "?"}], PASSAGES)


def test_everything_is_recomputed_from_the_parquet(empty_folder: Path) -> None:
    from ragbench.tiers import tier1_retrieval as tier

    result = rb.tier1({"a": at_rank(2), "b": at_rank(1)}, QUESTIONS, PASSAGES, **FEW)
    result.save(empty_folder / "out")
    folder = empty_folder / "out" / "frames" / "tier1_retrieval"
    names = ["questions", "passages", "labels", "retrieved", "asked", "scores"]
    frames = {name: pd.read_parquet(folder / f"{name}.parquet") for name in names}
    stated = tier.state(result.request, tier.Frames(**frames, indexes=pd.DataFrame()))
    pd.testing.assert_frame_equal(stated.estimates, result.estimates)
    pd.testing.assert_frame_equal(stated.comparisons, result.comparisons)
    pd.testing.assert_frame_equal(stated.curves, result.statement.curves)


def test_the_same_seed_gives_the_same_page(empty_folder: Path) -> None:
    pages = []
    for name in ("one", "two"):
        systems = {"a": at_rank(2), "b": at_rank(1)}
        result = rb.tier1(systems, QUESTIONS, PASSAGES, repeats=1, **FEW)
        page = result.save(empty_folder / name).read_text(encoding="utf-8")
        # Of functions the clock is read anew each time.
        before, _, after = page.partition("<summary>How fast</summary>")
        times, _, rest = after.partition("</table>")
        assert re.findall("median|[0-9]+ %", times) == ["median", "90 %", "99 %"]
        pages.append(before + rest)
    assert pages[0] == pages[1]


def test_of_a_group_any_passage_will_do_and_counts_once() -> None:
    questions = [{"id": "q0", "text": "subject0?", "relevant": [["p0", "p1"], ["p2"]]}]
    systems = {
        "either": lambda question, k: ["p1", "p2"],
        "both of one": lambda question, k: ["p0", "p1", "p5"],
    }
    result = rb.tier1(systems, questions, PASSAGES, metrics="recall@3, ndcg@3, precision@3", **FEW)
    value = means(result)
    assert value["either", "recall@3"] == 1.0
    assert value["either", "ndcg@3"] == 1.0
    assert value["both of one", "recall@3"] == 0.5
    assert value["both of one", "ndcg@3"] == pytest.approx(0.6131471927654584)  # 1 / (1 + 1/log2 3)
    assert value["both of one", "precision@3"] == pytest.approx(1 / 3)


def test_pages_of_one_group_count_once() -> None:
    passages = [{**passage, "url": f"/{passage['id']}"} for passage in PASSAGES]
    questions = [{"id": "q0", "text": "subject0?", "relevant": [["p0", "p1"], ["p2"]]}]
    systems = {"one": lambda question, k: ["p0", "p1"]}
    result = rb.tier1(systems, questions, passages, unit="url", metrics="recall@5", k=5, **FEW)
    assert means(result)["one", "recall@5"] == 0.5


def test_a_question_that_is_a_passage_is_no_answer_to_itself() -> None:
    passages = [*PASSAGES, *({"id": each["id"], "text": each["text"]} for each in QUESTIONS)]

    def finds_itself(question: str, k: int) -> list[str]:
        number = question.removeprefix("subject").removesuffix("?")
        return [f"q{number}", *(f"p{place}" for place in range(10, 9 + k - 1)), f"p{number}"][:k]

    systems = {"itself": finds_itself, "first": at_rank(1)}
    result = rb.tier1(systems, QUESTIONS, passages, metrics="mrr@5, recall@5", k=5, **FEW)
    # Six are asked for: the question itself, four others and the right one, which moves up to 5.
    assert means(result)["itself", "mrr@5"] == 0.2
    assert means(result)["first", "mrr@5"] == 1.0
    assert set(result.frames.retrieved["rank"]) == {1, 2, 3, 4, 5}
    assert "4 times a question was retrieved itself" in "\n".join(map(str, result.parts))


def test_a_passage_that_shares_no_more_than_the_number_of_a_question_is_an_answer() -> None:
    questions = [{"id": "1", "question": "When does it open?", "relevant": "1"}]
    result = rb.tier1(
        {"v1": lambda question, k: ["1"]}, questions, {"1": "It opens at 8.", "2": "Parking."}
    )
    assert means(result)["v1", "mrr@10"] == 1

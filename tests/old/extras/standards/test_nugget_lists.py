"""Lists of nuggets: made in windows, weighed, edited, kept with a table or a data set; agreement with people."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import data
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.data.files import DatasetError
from ragbench.old.extras.standards.nugget_lists import (
    KEPT,
    MOST,
    Topic,
    by_run_and_topic,
    judged_values,
    made,
    rows_of,
    topics_of,
)
from ragbench.old.extras.standards.nugget_lists import read as read_lists
from ragbench.old.judge import LexicalJudge
from tests.old.cli.command_line import ragbench
from tests.old.judge.scripted_judge import ScriptedJudge, Texts

ANSWERS = """{"id": "a", "question": "When does the library open?", "answer": "It opens at nine.", "system": "x",
 "contexts": ["The library opens at nine. It has a garden.", "Dogs bark."]}
{"id": "a", "question": "When does the library open?", "answer": "The library opens at nine.", "system": "y",
 "contexts": ["The library opens at nine. It has a garden."]}
{"id": "b", "question": "Where?", "answer": "There.", "system": "x"}""".replace(",\n ", ", ")


def said_by(*words: str) -> str:
    done = ragbench(*words)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def weights(texts: Texts) -> Any:
    return {"grades": [{"number": n, "reason": "", "grade": "okay" if "small" in text else "vital"}
                       for n, text in enumerate(texts["nuggets"], 1)]}  # fmt: skip


def test_a_list_grows_from_window_to_window_and_vital_ones_come_first() -> None:
    def more(texts: Texts) -> Any:
        seen = [f"fact of {text}" for text in texts["passages"]]
        return {"nuggets": [*texts["nuggets"], *seen[:2], "small thing", "small thing"]}

    judge = ScriptedJudge(nuggets=more, nugget_importance=weights)
    topic = Topic("t", "q", tuple(Chunk(f"c{n}", f"p{n}") for n in range(12)), "en")
    [found] = asyncio.run(made(judge, [topic]))
    assert list(found.nuggets) == ["fact of p0", "fact of p1", "fact of p10", "fact of p11", "small thing"]
    assert [len(texts["passages"]) for texts in judge.asked("nuggets")] == [10, 2]
    assert found.nuggets["small thing"] == "okay"


def test_no_more_nuggets_than_the_published_limits() -> None:
    judge = ScriptedJudge(nuggets={"nuggets": [f"fact {n}" for n in range(99)]}, nugget_importance=weights)
    [found] = asyncio.run(made(judge, [Topic("t", "q", (Chunk("c", "p"),), "en")]))
    assert len(found.nuggets) == KEPT
    assert sum(len(texts["nuggets"]) for texts in judge.asked("nugget_importance")) == MOST


def test_what_has_no_list_says_why() -> None:
    empty = ScriptedJudge(nuggets={"nuggets": []})
    topics = [Topic("t", "q", (Chunk("c", "p"),), "en"), Topic("u", "q", (), "en"), Topic("v", "", (Chunk("c", "p"),))]
    whys = [one.why for one in asyncio.run(made(empty, topics))]
    assert whys == ["the passages hold no nugget", "the field contexts is empty", "the field user_input is empty"]


def test_labelled_passages_go_before_what_was_retrieved() -> None:
    a, b, c = (Chunk(name, f"text {name}") for name in "abc")
    rows = [Sample("1", "q", contexts=(a, b), system="x"), Sample("1", "q", contexts=(b, c), system="y"),
            Sample("2", "r", contexts=(a,), reference_contexts=(c,))]  # fmt: skip
    assert [[chunk.id for chunk in topic.passages] for topic in topics_of(rows)] == [["a", "b", "c"], ["c"]]


def test_by_words_alone_the_sentences_that_answer_come_first() -> None:
    passage = Chunk("c", "Dogs bark. The library opens at nine. The library has a garden.")
    [found] = asyncio.run(made(LexicalJudge(), [Topic("t", "When does the library open?", (passage,), "en")]))
    assert next(iter(found.nuggets)) == "The library opens at nine."
    assert "Dogs bark." not in found.nuggets
    assert rows_of([found], "lexical")[0]["made_by"] == "lexical"


def test_made_edited_kept_and_scored(bare: Path) -> None:
    Path("answers.jsonl").write_text(ANSWERS, encoding="utf-8")
    said = said_by("nuggets", "make", "answers.jsonl", "nuggets.csv", "--judge", "lexical")
    assert "of 1 questions, by lexical" in said
    text = Path("nuggets.csv").read_text(encoding="utf-8")
    assert "The library opens at nine." in text
    Path("nuggets.csv").write_text("id,question,nugget,importance\na,,It opens at nine.,vital\n", encoding="utf-8")
    assert "2 of 3 rows have a list" in said_by("nuggets", "keep", "nuggets.csv", "answers.jsonl", "with.jsonl")
    rows = [json.loads(line) for line in Path("with.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0]["nuggets"] == [{"text": "It opens at nine.", "importance": "vital"}]
    assert "nuggets" not in rows[2]
    scored = said_by("score", "with.jsonl", "-m", "nugget_score", "--judge", "lexical")
    assert "1.000" in scored


def test_kept_with_the_questions_of_a_data_set(bare: Path) -> None:
    folder = Path("data")
    chunk = data.ChunkRecord(id="c", text="The library opens at nine.")
    questions = [data.QuestionRecord(id=name, text="When?", relevant={"c": 1.0}) for name in "ab"]
    data.write("kb", folder, title="t", licence="l", source="s", language="en", chunks=[chunk], questions=questions)
    Path("lists.jsonl").write_text('{"id": "a", "nugget": "It opens at nine."}\n', encoding="utf-8")
    assert "1 questions of kb have a list" in said_by("nuggets", "keep", "lists.jsonl", "kb")
    known = {one.id: one for one in data.load("kb:en", folder).questions}
    assert (known["a"].nuggets, known["b"].nuggets) == ({"It opens at nine.": "vital"}, {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,nugget\n", "holds no"),
        ("id,nugget,importance\na,x,crucial\n", "importance = 'crucial': vital or okay is expected"),
        ("id,nugget,importance\na,x,vital\na,x,okay\n", "stands there as vital and as okay"),
        ("id,importance\na,vital\n", "nugget is missing"),
    ],
)
def test_a_wrong_file_of_lists_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "lists.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=said):
        read_lists(path)


class TestAgreement:
    def test_runs_topics_and_answers_are_three_things(self) -> None:
        """Within each of three topics the judge has the systems' order upside down, but its means order them well."""
        people = {("x", "1"): 3.0, ("y", "1"): 2.0, ("x", "2"): 3.0, ("y", "2"): 2.0, ("x", "3"): 9.0, ("y", "3"): 1.0}
        judge = {("x", "1"): 1.0, ("y", "1"): 2.0, ("x", "2"): 1.0, ("y", "2"): 2.0, ("x", "3"): 9.0, ("y", "3"): 1.0}
        found = by_run_and_topic(judge, people)
        assert found["run"].value == 1.0
        assert found["topic"].value == pytest.approx((-1 - 1 + 1) / 3)
        # of 15 pairs 7 have one order in both, 4 another; people tie 2 of them, the judge 4
        assert found["answer"].value == pytest.approx((7 - 4) / ((15 - 2) * (15 - 4)) ** 0.5)

    def test_the_interval_of_runs_is_of_topics_drawn_anew(self) -> None:
        rng = np.random.default_rng(0)
        people = {(f"s{s}", f"t{t}"): s + rng.normal(0, 0.1) for s in range(5) for t in range(20)}
        judge = {place: value + rng.normal(0, 0.1) for place, value in people.items()}
        found = by_run_and_topic(judge, people, resamples=300)["run"]
        assert (found.value, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))
        noise = {place: rng.normal() for place in people}
        wide = by_run_and_topic(noise, people, resamples=300)["run"]
        assert wide.low is not None
        assert wide.high is not None
        assert wide.low < 0 < wide.high

    def test_answers_to_one_topic_are_drawn_together(self) -> None:
        people = {(f"s{s}", f"t{t}"): float(s + t) for s in range(3) for t in range(6)}
        found = by_run_and_topic(people, people, resamples=100)["answer"]
        assert (found.value, found.n, found.clusters) == (1.0, 18, 6)

    def test_from_the_command_line(self, bare: Path) -> None:
        for name, values in (("judge", (1, 2, 3, "")), ("people", (1, 2, 3, 4))):
            rows = [f"{place},{value}" for place, value in zip(("x,1", "y,1", "x,2", "y,2"), values, strict=True)]
            Path(f"{name}.csv").write_text("\n".join(["system,id,value", *rows]) + "\n", encoding="utf-8")
        said = said_by("nuggets", "agree", "judge.csv", "people.csv")
        assert "systems' means" in said
        assert "all answers" in said
        assert len(judged_values(Path("judge.csv"))) == 4
        Path("torn.csv").write_text("system,id,value\nx,1,much\n", encoding="utf-8")
        with pytest.raises(DatasetError, match="value = 'much': a number is expected"):
            judged_values(Path("torn.csv"))

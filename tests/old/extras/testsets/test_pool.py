"""The passages that systems found, judged once, by people or by a model, and what the next run reads of it."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old import data, tiers
from ragbench.old.core import stand_ins
from ragbench.old.core.language import translator
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import QuestionRecord
from ragbench.old.extras.testsets import pooling, powered
from ragbench.old.extras.testsets.pooling import Judgement, Pool, keep, known_grades, labelled, path_of, read
from ragbench.old.judge.relevance import RELEVANCE
from ragbench.old.tiers import BenchError
from tests.old.cli.command_line import invoke, one_line
from tests.old.extras.testsets import writer
from tests.old.judge.test_prompts_in_both_languages import structure
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines

QUICK: dict[str, Any] = {"repeats": 1, "timed_questions": 0, "ef_searches": [], "metrics": "mrr"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A judge by which only passage d1 is of any use."""

    def answer(body: dict[str, Any]) -> Any:
        return {"reason": "so it is", "grade": 3 if "Text of d1." in writer.slots(body, "passage") else 0}

    with ChatServer(answer=answer).running() as running:
        yield running


def ran(*words: object, code: int = 0) -> str:
    done = invoke(*words, "--trust")
    assert done.exit_code == code, (done.output, done.exception)
    return one_line(done.output)


def measured(project: Path, *systems: str) -> None:
    """A run of these systems, in the folder `run`, as a run keeps it."""
    made = tiers.tier1_retrieval(**QUICK | {"systems": ",".join(systems)})
    made.save(project / "run/parts/tier1_retrieval")
    (project / "run/manifest.json").write_text("{}", "utf-8")


def test_a_pool_is_judged_once_and_read_by_the_next_run(project: Path, server: ChatServer) -> None:
    add(project, f'[judges.umpire]\nbase_url = "{server.url}"\nmodel = "m"\n')
    measured(project, "good", "poor")
    said = ran("pool", "small", "--run", "run", "--depth", "2")
    # labelled: q1 a1, q2 b1 c1, q3 d1; good: q1 a1 b1, q2 b1 c1, q3 a1 d1; poor: q1 b1 a2, q2 a2 c1; q4 is not asked
    assert "good 6 67% 4 " in said, said
    assert "poor 4 25% 2 0" in said
    assert (
        "3 passages are not judged. Next: ragbench pool small --judge NAME, or --sheet FILE" in said or "4 pass" in said
    )
    plan = ran("pool", "small", "--run", "run", "--depth", "2", "--judge", "umpire", "--plan")
    assert server.calls == 0, plan
    ran("pool", "small", "--run", "run", "--depth", "2", "--judge", "umpire")
    paid = server.calls
    assert paid == 4, "b1 and a2 for q1, a2 for q2, a1 for q3"
    made = {question.id: question for question in data.load("small", project / "data").questions}
    assert made["q1"].irrelevant == ("a2", "b1")
    assert made["q1"].relevant == {"a1": 1.0}
    assert made["q1"].graded_by == "umpire"
    assert made["q4"].graded_by is None
    assert ran("pool", "small", "--run", "run", "--depth", "2", "--judge", "umpire")
    assert server.calls == paid, "nothing is asked twice"
    measured(project, "good", "poor", "ngrams")
    ran("pool", "small", "--run", "run", "--depth", "2", "--judge", "umpire")
    new = {(j.question, j.passage) for j in read(project / "data/small", "en")}
    assert server.calls == len(new), "a new system asks for what is new alone"
    again = tiers.tier1_retrieval(**QUICK | {"systems": "good,poor"})
    caveat = stand_ins.caveat(stand_ins.of(again.facts), translator("en"))
    assert "Relevance of passages was graded by umpire" in caveat
    assert "umpire" in stand_ins.caveat(stand_ins.of(again.facts), translator("ru"))


ASSISTANT = """
PASSAGES = {"Where?": ("a", "Text of d1."), "When?": ("doc", "Text of the day."), "Who?": ("doc", "Text of others.")}


def ask(question, k=10, contexts=None):
    retrieved = [dict(zip(("id", "text"), PASSAGES[question]))]
    return {"answer": (contexts or ["I know."])[0], "retrieved": [*retrieved, "A plain text of d1.", "an-id"]}
"""


def test_what_a_function_returned_becomes_the_base_of_questions_without_passages(
    project: Path, server: ChatServer
) -> None:
    (project / "assistant.py").write_text(ASSISTANT, "utf-8")
    place = project / "data/asked"
    place.mkdir()
    (place / "dataset.toml").write_text('title = "Asked"\nlicence = "CC0"\nlanguages = ["en"]\n', "utf-8")
    rows = [{"id": f"q{n}", "text": text, "reference": "Text."} for n, text in enumerate(("Where?", "When?", "Who?"))]
    write_lines(place / "questions.en.jsonl", rows)
    add(
        project,
        f'[judges.umpire]\nbase_url = "{server.url}"\nmodel = "m"\n[systems.mine]\ncallable = "assistant:ask"\n',
    )
    with pytest.raises(BenchError, match="no question of asked:en names a relevant chunk"):
        tiers.tier2_generation(dataset="asked", systems="mine", metrics="rouge1_f")
    asked: dict[str, Any] = {"systems": "mine", "metrics": "rouge1_f", "repeats": 1, "judges": "lexical"}
    tiers.tier3_end_to_end(dataset="asked", **asked).save(project / "run/parts/tier3_end_to_end")
    (project / "run/manifest.json").write_text("{}", "utf-8")
    said = ran("pool", "asked", "--run", "run")
    assert "left out: 9 results whose passage the data set does not have; --adopt makes passages of it" in said
    assert not list(place.glob("chunks.*")), "nothing is adopted without a grade"
    said = ran("pool", "asked", "--run", "run", "--adopt", "--judge", "umpire")
    assert "left out: 3 results whose passage the data set does not have" in said, "an id alone is no passage"
    assert "6 grades are kept, and 3 questions of asked:en have new labels. 4 passages became the data set's" in said
    made = data.load("asked", project / "data")
    texts = {chunk.id: chunk.text for chunk in made.chunks}
    assert texts.pop("a") == "Text of d1."
    assert set(texts.values()) == {"A plain text of d1.", "Text of the day.", "Text of others."}
    assert all(name.startswith("p-") for name in texts), "doc is the id of two texts, and names neither"
    by_text = {text: name for name, text in texts.items()}
    assert {q.id: q.relevant for q in made.questions} == {"q0": {"a": 3.0}, "q1": {}, "q2": {}}
    assert by_text["Text of the day."] in made.questions[1].irrelevant
    answered = tiers.tier2_generation(dataset="asked", **asked)
    assert answered.facts["n_without_context"] == 2
    assert answered.extra["answers"]["response"].tolist() == ["Text of d1."]
    again = tiers.tier3_end_to_end(dataset="asked", **asked)
    assert again.facts["systems"][0]["unknown_ids"] == 3, "all but the bare id are known again"
    paid = server.calls
    assert "100%" in ran("pool", "asked", "--run", "run", "--adopt", "--judge", "umpire")
    assert server.calls == paid, "an older run's passages are known by their texts"


def test_a_returned_text_that_the_data_set_has_is_its_passage(project: Path) -> None:
    rows = [
        ("other-name", "Known text."),
        ("own-name", "New text."),
        ("d1", "Known text."),
        ("doc", "A."),
        ("doc", "B."),
    ]
    made = tiers.tier1_retrieval(**QUICK | {"systems": "good"})
    frame = pd.DataFrame(rows, columns=["chunk", "text"]).assign(url=None)
    found, new = pooling.seen(replace(made, retrieved=frame), {"d1": "Known text."})
    named = found.retrieved["chunk"].tolist()
    assert named[:3] == ["d1", "own-name", "d1"]
    assert [(chunk.id, chunk.text) for chunk in new] == [
        *zip(["own-name", *named[3:]], ["New text.", "A.", "B."], strict=True)
    ]
    assert all(name.startswith("p-") for name in named[3:])


def test_people_grade_a_sheet_and_go_before_a_judge(project: Path, server: ChatServer) -> None:
    add(project, f'[judges.umpire]\nbase_url = "{server.url}"\nmodel = "m"\n')
    measured(project, "good", "poor")
    ran("pool", "small", "--run", "run", "--depth", "2", "--sheet", "grades.csv")
    with (project / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert not any("good" in str(row) or "poor" in str(row) for row in rows), "nobody sees who found it"
    rows[0]["grade"] = "2"
    write(project / "grades.csv", rows)
    assert "1 grades are kept" in ran(
        "pool", "small", "--run", "run", "--depth", "2", "--take", "grades.csv", "--annotator", "anna"
    )
    (given,) = read(project / "data/small", "en")
    assert (given.grade, given.by, given.people) == (2, "anna", True)
    ran("pool", "small", "--run", "run", "--depth", "2", "--judge", "umpire")
    assert server.calls == 3, "what a person graded is not asked of the judge"
    made = {question.id: question for question in data.load("small", project / "data").questions}
    assert made[given.question].relevant[given.passage] == 2.0 or made[given.question].relevant[given.passage] == 1.0
    for value, said in (("7", "from 0 to 3"), ("x", "from 0 to 3")):
        rows[1]["grade"] = value
        write(project / "grades.csv", rows)
        done = invoke("pool", "small", "--run", "run", "--depth", "2", "--take", "grades.csv", "--annotator", "anna")
        assert said in one_line(f"{done.output} {done.exception}")
    rows[1] |= {"grade": "1", "item": "elsewhere"}
    write(project / "grades.csv", rows)
    done = invoke("pool", "small", "--run", "run", "--depth", "2", "--take", "grades.csv", "--annotator", "anna")
    assert "is not in this pool" in str(done.exception)


def test_questions_are_drawn_where_the_judge_is_in_doubt_until_people_have_graded_them(
    project: Path, server: ChatServer
) -> None:
    add(project, f'[judges.umpire]\nbase_url = "{server.url}"\nmodel = "m"\n')
    measured(project, "good", "poor")
    pooling = ("pool", "small", "--run", "run", "--depth", "2")
    draw = (*pooling, "--sheet", "grades.csv", "--active", "--limit", "2")
    assert "--active draws questions for people: --sheet FILE and --limit N" in ran(*draw[:-2], code=3)
    ran(*pooling, "--judge", "umpire")
    own = data.Records.read(project / "data/small", "en").questions
    pools = defaultdict(set)
    for question in own:
        pools[question.id] = {*question.relevant, *question.irrelevant}
    grades = [judgement(q, p, 2 if p == "a1" else 0, "umpire") for q, names in pools.items() for p in names]
    keep(project / "data/small", "en", grades)
    assert "--limit 5: people have not graded the pools of" in str(invoke(*draw[:-1], "5", "--trust").exception), (
        "there are four questions"
    )
    said = ran(*draw)
    chosen = {record.question for record in powered.read(project / "data/small", "en") if record.chosen}
    assert f"{len(chosen)} questions of 3 are drawn, with chances from" in said
    assert "these again" in ran(*draw)
    with (project / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = {question.text for question in own if question.id in chosen}
    assert {row["question"] for row in rows} == asked, "whole pools, of these alone"
    write(project / "grades.csv", [row | {"grade": "3"} for row in rows])
    ran(*pooling, "--take", "grades.csv", "--annotator", "anna")
    assert "these again" not in ran(*draw[:-1], "1"), "all are graded: others are drawn, if any are left"
    assert max(record.round for record in powered.read(project / "data/small", "en")) == 2


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--depth", "11"), "the run retrieved 10 passages for each question; from 1 to 10"),
        (("--systems", "nobody"), "--systems 'nobody': the run has poor, good"),
        (("--sample", "0"), "above 0 and at most 1"),
        (("--annotator", "anna"), "--annotator needs --take"),
    ],
)
def test_what_cannot_be_pooled_is_refused(words: tuple[str, ...], said: str, project: Path) -> None:
    measured(project, "good", "poor")
    done = invoke("pool", "small", "--run", "run", *words, "--trust")
    assert done.exit_code != 0
    assert said in one_line(f"{done.output} {done.exception}")


QUESTIONS = [
    QuestionRecord(id="q", text="What?", relevant={"a": 1.0}),
    QuestionRecord(id="r", text="Who?", irrelevant=("a",)),
]


def judgement(question: str, passage: str, grade: int, by: str = "j", people: bool = False) -> Judgement:
    return Judgement(question=question, passage=passage, grade=grade, by=by, people=people)


def test_labels_of_the_set_stay_and_people_go_before_judges() -> None:
    given = [judgement("q", "a", 0), judgement("q", "b", 3), judgement("q", "b", 0, "anna", True),
             judgement("r", "b", 2), judgement("r", "c", 1)]  # fmt: skip
    made = {question.id: question for question in labelled(QUESTIONS, given, [("r", "d"), ("q", "a")])}
    assert (made["q"].relevant, made["q"].irrelevant, made["q"].graded_by) == ({"a": 1.0}, ("b",), None)
    assert (made["r"].relevant, made["r"].irrelevant) == ({"b": 1.0}, ("a", "c")), "the set's one gain"
    assert (made["r"].pooled, made["r"].graded_by) == (("d",), "j")
    assert made["q"].pooled == (), "what the set labels is none that a sample leaves out"
    strict = {question.id: question for question in labelled(QUESTIONS, given, level=3)}
    assert strict["r"].relevant == {}
    graded = [QuestionRecord(id="q", text="What?", relevant={"a": 1.0, "z": 2.0})]
    assert labelled(graded, [judgement("q", "b", 3)])[0].relevant["b"] == 3.0
    assert labelled(QUESTIONS, []) == []


def test_what_is_known_of_a_pair_is_the_sets_then_peoples_then_a_judges() -> None:
    given = [judgement("q", "b", 0, "anna", True), judgement("q", "a", 0), judgement("q", "b", 3),
             judgement("r", "a", 3)]  # fmt: skip
    assert known_grades(QUESTIONS, given) == {("q", "a"): 1.0, ("q", "b"): 0, ("r", "a"): 0.0}


def test_a_larger_sample_holds_a_smaller_one() -> None:
    made = Pool(10, {f"q{n}": {f"p{m}": ("s",) for m in range(20)} for n in range(20)})
    small, large = made.sampled(0.3), made.sampled(0.6)
    assert small < large < made.sampled(1.0) == {*made.pairs}
    assert len(small) == pytest.approx(120, abs=35)


def test_the_prompt_is_built_alike_in_both_languages() -> None:
    assert structure(RELEVANCE, "ru") == structure(RELEVANCE, "en")
    assert structure(RELEVANCE, "en")["levels"] == ["0", "1", "2", "3"]


def test_judgements_of_another_shape_are_refused_with_their_line(tmp_path: Path) -> None:
    path_of(tmp_path, "en").write_text('{"question": "q", "passage": "p", "grade": 4, "by": "j"}\n', "utf-8")
    with pytest.raises(DatasetError, match=r"judgements\.en\.jsonl, line 1: grade"):
        read(tmp_path, "en")

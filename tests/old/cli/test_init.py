"""`ragbench init`: every start there is, from an empty folder, on to the command that it says comes next."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from ragbench.old.cli.beginnings import Beginning
from ragbench.old.core import annexes, settings
from ragbench.old.core.settings import schema
from ragbench.old.tiers.basics import session
from tests.old.cli.command_line import one_line, ragbench
from tests.old.small_project import CHUNKS, RELEVANT, write_lines

ANSWERS = [{"id": "a", "question": "How much?", "answer": "250 roubles.", "ground_truth": "Lunch is 250 roubles."}]
ASKED = [
    {
        "question": f"What of {chunk}?",
        "ground_truth_answer": chunk,
        "chunk_id": chunk,
        "chunk_text": f"This is {chunk}.",
    }
    for chunk in CHUNKS
]
SEARCH = "from functools import partial\n\ndef retrieve(question, k):\n    return [question.split()[-1].strip('?')]\n"


@pytest.fixture
def empty(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one; the database of a run is this session's."""
    monkeypatch.delenv("RAGBENCH_CONFIG", raising=False)
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begun(folder: Path, *words: str, **variables: str) -> list[str]:
    """The commands that come next, of an init that wrote a file which the loader, editors and the doctor take."""
    done = ragbench("init", *words, **variables)
    assert done.returncode == 0, done.stderr
    text = (folder / "ragbench.toml").read_text(encoding="utf-8")
    assert text.splitlines()[0] == schema.LINE
    assert max(map(len, text.splitlines())) <= 160
    made = json.loads((folder / schema.NAME).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(made).validate(tomllib.loads(text))
    settings.load.cache_clear()
    assert settings.load().model_fields_set >= {"language"}
    assert f"✓ {folder / 'ragbench.toml'}: systems" in ragbench("doctor", **variables).stdout
    said = [line.partition(": ") for line in done.stdout.splitlines()]
    return [command for word, _, command in said if word in ("Next", "Then")]


def ran(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command as it was printed, which has to end well."""
    first, *words = shlex.split(command)
    assert first == "ragbench"
    done = ragbench(*words, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def bare_set(folder: Path) -> None:
    """The tables of a data set that nothing describes yet."""
    folder.mkdir(parents=True)
    write_lines(folder / "chunks.en.jsonl", [{"id": name, "text": f"Text of {name}."} for name in CHUNKS])
    asked = [{"id": name, "text": f"What of {name}?", "relevant": relevant} for name, relevant in RELEVANT.items()]
    write_lines(folder / "questions.en.jsonl", asked)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("data/small",)])
def test_a_data_set_that_nothing_describes_is_described_and_measured(empty: Path, words: tuple[str, ...]) -> None:
    bare_set(empty / "data" / "small")
    assert begun(empty, *words) == ["ragbench run tier1_retrieval", "ragbench run"]
    assert settings.load().dataset == "small"
    assert ragbench("doctor").returncode == 0
    if words:  # once is enough
        ran("ragbench run tier1_retrieval")
        assert (empty / "reports" / "latest" / "tier1_retrieval.html").is_file()


def test_a_data_set_elsewhere_is_found_again(empty: Path) -> None:
    bare_set(empty / "elsewhere" / "mine")
    begun(empty, "elsewhere/mine")
    found = settings.load()
    assert (found.dataset, found.data_folder) == ("mine", Path("elsewhere"))
    assert (empty / "elsewhere" / "mine" / "dataset.toml").is_file()


def test_a_project_without_notebooks_has_ragbenchs(empty: Path) -> None:
    bare_set(empty / "data" / "small")
    begun(empty)
    assert "notebooks_folder" not in (empty / "ragbench.toml").read_text(encoding="utf-8")
    (empty / "notebooks").mkdir()
    (empty / "notebooks" / "try.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    assert "notebooks: those that come with ragbench, 12 in" in ragbench("doctor").stdout, "others are no pages"


@pytest.mark.parametrize("words", [(), pytest.param(("my answers.jsonl",), marks=pytest.mark.slow)])
def test_a_table_of_answers_is_scored(empty: Path, words: tuple[str, ...]) -> None:
    write_lines(empty / "my answers.jsonl", ANSWERS)
    [scoring] = begun(empty, *words)
    assert scoring == "ragbench score 'my answers.jsonl'"
    assert "exact_match" in ran(scoring).stdout
    assert ragbench("doctor").returncode == 0, "no data set is missed"


def test_two_tables_of_answers_are_two_systems(empty: Path) -> None:
    two_tables(empty)
    [scoring] = begun(empty)
    assert scoring == "ragbench score one.jsonl two.jsonl"
    said = ran(f"{scoring} -m exact_match --baseline one").stdout
    assert "two" in said


def test_every_file_is_named_with_what_it_is_taken_for(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", [{"вопрос": "q", "Ответ бота": "a", "comment": "c", "mood": 1}])
    write_lines(empty / "asked.jsonl", [{"question": "q", "gold": "a"}])
    other_table(empty)
    (empty / "notes.bin").write_bytes(b"\0\1")
    (empty / "log.eval").write_bytes(b"PK\3\4")
    (empty / "handbook").mkdir()
    (empty / "handbook" / "a.md").write_text("# Grants\n\nUntil 10 September.\n", encoding="utf-8")
    done = ragbench("init")
    said = done.stdout.splitlines()
    assert (
        "✓ answers.jsonl: 1 answer (question = вопрос, answer = Ответ бота; not read, as no field is called so: "
        "comment, mood)" in said
    )
    assert any(line.startswith("✓ asked.jsonl: 1 question (question = question, reference = gold)") for line in said)
    assert "✓ handbook: 1 document" in said
    assert any(line.startswith("– not used: x.jsonl: a column with the question") for line in said)
    assert "– not used: notes.bin: no table, no document and no TREC file" in said
    assert any("log.eval: an archive of inspect_ai: `inspect log dump FILE > log.json` writes" in line for line in said)
    assert [line for line in said if line.startswith(("Next", "Then"))] == [
        "Next: ragbench score answers.jsonl asked.jsonl",
        "Then: ragbench load documents handbook --name handbook",
        "Then: ragbench load questions asked.jsonl --name asked --chunks-from handbook",
        "Then: ragbench run tier3_end_to_end",
    ]


def test_a_folder_as_people_have_it_is_looked_through(empty: Path) -> None:
    (empty / "eval").mkdir()
    write_lines(empty / "eval" / "-answers.jsonl", ANSWERS)
    for place in ("docs/pay", "docs", "node_modules/x", "reports/latest"):
        (empty / place).mkdir(parents=True, exist_ok=True)
        (empty / place / "read me.md").write_text("# Fees\n\nAt the desk.\n", encoding="utf-8")
    (empty / "README.md").write_text("# Mine\n\nAll of it.\n", encoding="utf-8")
    (empty / "app.py").write_text("def ask(question): ...\n", encoding="utf-8")
    (empty / "gone.csv").symlink_to("nowhere.csv")
    (empty / "two.csv").write_text("question,model output,output\nq,a,b\n", encoding="utf-8")
    (empty / "prices.csv").write_text("sku,price\n1,2\n3,4\n", encoding="utf-8")
    done = ragbench("init")
    assert [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith(("✓", "Next", "Then"))] == [
        "eval/-answers.jsonl: 1 answer (id = id, question = question, answer = answer, reference = ground_truth)",
        "docs: 2 documents",
        "ragbench score eval/-answers.jsonl",
        "ragbench load documents docs --name docs",
        "ragbench draft docs --questions 120",
        "ragbench run tier1_retrieval",
    ]
    for said in (
        "README.md: documents; a folder of these",
        "app.py: a program; a function in one can be a system: ragbench init MODULE:FUNCTION",
        "gone.csv: no file that can be read",
        "differ, and either could be the answer",
        "such as ragbench score two.csv --column 'answer=model output'",
        "prices.csv: a column with the question",
    ):
        assert f"not used: {said}" in done.stdout or said in one_line(done.stdout), said
    assert "node_modules" not in done.stdout + (empty / "ragbench.toml").read_text(encoding="utf-8")
    assert "2 documents" in ran("ragbench load documents docs --name docs").stdout


def test_grades_in_words_make_no_questions(empty: Path) -> None:
    (empty / "wands.csv").write_text("query,document,relevance\nsofa,d1,Exact\nsofa,d2,Partial\n", encoding="utf-8")
    assert "'Exact' is not a grade" in one_line(ragbench("init").stderr)


def test_names_that_begin_with_a_dash_are_no_options_and_runs_no_documents(empty: Path) -> None:
    write_lines(empty / "-a.jsonl", ANSWERS)
    [command] = begun(empty)
    assert command == "ragbench score ./-a.jsonl"
    ran(f"{command} -m exact_match")
    (empty / "-a.jsonl").unlink()
    (empty / "qrels.tsv").write_text("q0\td0\t1\nq1\td1\t1\n", encoding="utf-8")
    assert "qrels.tsv: judgements of TREC (qrels); a run is missing beside it" in one_line(
        ragbench("init", "--force").stderr
    )
    for name in ("dense.txt", "bm25.run"):
        (empty / name).write_text("q0 Q0 d0 1 2 x\nq0 Q0 d1 2 1 x\nq1 Q0 d1 1 2 x\n", encoding="utf-8")
    [command] = begun(empty, "--force")
    assert command == "ragbench trec qrels.tsv bm25.run dense.txt"
    if "trec" in annexes.offered("commands"):
        assert "2 judged queries" in ran(command).stdout


def test_what_was_logged_is_a_system_that_can_be_measured_at_once(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", ANSWERS)
    begun(empty)
    load = "ragbench load answers answers.jsonl --name pilot"
    assert 'added to ragbench.toml: [systems.pilot-logged] results = "' in ran(load).stdout
    settings.load.cache_clear()
    assert str(settings.load().systems["pilot-logged"].results) == "data/pilot/answers.logged.jsonl"
    assert "added" not in ran(f"{load} --replace").stdout
    own = Path("ragbench.toml").read_text(encoding="utf-8").replace("[systems.pilot-logged]", "[systems.mine]")
    Path("ragbench.toml").write_text(own, encoding="utf-8")
    assert "found in ragbench.toml: [systems.mine]" in (said := ran(f"{load} --replace").stdout)
    assert "pilot-logged" not in said  # which would be measured beside itself, and corrected for
    Path("ragbench.toml").write_text(own.replace("mine", "pilot-logged"), encoding="utf-8")
    with Path("ragbench.toml").open("a", encoding="utf-8") as told:
        told.write('[systems.words]\nretriever = "bm25"\n')
    settings.load.cache_clear()
    assert session.chosen(dataset="pilot:1")[1] == ("pilot-logged", "words")
    assert session.chosen(dataset="other")[1] == ("words",)  # which nobody asked there, unless it is named
    assert session.chosen("pilot-logged", dataset="other")[1] == ("pilot-logged",)


def test_a_beir_folder_is_told_by_what_it_holds(empty: Path) -> None:
    (empty / "scifact").mkdir()
    write_lines(empty / "scifact" / "corpus.jsonl", [{"_id": "p", "text": "Zebras."}])
    write_lines(empty / "scifact" / "queries.jsonl", [{"_id": "q", "text": "Zebras?"}])
    (empty / "scifact" / "qrels").mkdir()
    (empty / "scifact" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp\t1\n", encoding="utf-8")
    load, measure = begun(empty)
    assert load == "ragbench load beir scifact --name scifact"
    assert "1 passage, 1 question (0 without a relevant passage)" in ran(load).stdout
    assert measure == "ragbench run tier1_retrieval"


@pytest.mark.slow
def test_questions_are_loaded_and_a_function_is_measured_on_them(empty: Path) -> None:
    write_lines(empty / "Help Desk.jsonl", ASKED)
    (empty / "mine").mkdir()
    (empty / "mine" / "search.py").write_text(SEARCH, encoding="utf-8")
    load, run = begun(empty, "Help Desk.jsonl", "mine.search:retrieve")
    found = settings.load()
    assert (found.dataset, found.systems["retrieve"].callable) == ("help-desk", "mine.search:retrieve")
    assert found.baseline in found.systems
    assert load == "ragbench load questions 'Help Desk.jsonl' --name help-desk"
    ran(load)
    said = ran(run).stdout
    assert "retrieve" in said


@pytest.mark.slow
def test_a_function_is_measured_on_the_data_that_is_there(empty: Path) -> None:
    bare_set(empty / "data" / "small")
    (empty / "search.py").write_text(f"{SEARCH}\nbm25 = retrieve\n", encoding="utf-8")
    assert begun(empty, "search:retrieve", "search:bm25")[0] == "ragbench run tier1_retrieval"
    assert list(settings.load().systems) == ["bm25", "retrieve", "search-bm25"], "no name stands twice"
    begun(empty, "data", "--force")
    assert list(settings.load().systems) == ["bm25"]


def test_questions_and_a_table_of_passages_with_their_ids_go_together(empty: Path) -> None:
    write_lines(empty / "corpus.jsonl", [{"doc_id": f"d{n}", "contents": text} for n, text in enumerate("AB")])
    write_lines(empty / "qa.jsonl", [{"qid": "1", "query": "What?", "retrieval_gt": [["d0"]], "generation_gt": ["A"]}])
    load, measure = begun(empty)
    assert load == "ragbench load questions qa.jsonl --name qa --chunks-from corpus.jsonl"
    assert measure == "ragbench run tier1_retrieval"
    assert "2 passages, 1 question (0 without a relevant passage)" in ran(load).stdout


def other_table(folder: Path) -> None:
    write_lines(folder / "x.jsonl", [{"item": "a", "value": 1}])


def two_tables(folder: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        write_lines(folder / name, ANSWERS)


@pytest.mark.parametrize(
    ("before", "words", "expected"),
    [
        (None, (), "holds nothing to begin with: put there, or name, a folder of a data set"),
        (None, ("none.csv",), "none.csv: that is not there; a folder of a data set"),
        (None, ("mysql://me:canary@h/x",), "that is not there"),
        (None, ("no_such:retrieve",), "there is no module no_such in"),
        (Path.touch, ("search:find",), "search.py defines functools"),
        (other_table, (), "holds nothing to begin with: x.jsonl: a column with the question, with the answer for"),
        (
            other_table,
            ("x.jsonl",),
            "x.jsonl: a column with the question, with the answer for answers, or with ids for passages, is expected",
        ),
        (lambda folder: (folder / "mine").mkdir(), ("mine",), "mine: it holds nothing to begin with"),
        (lambda folder: bare_set(folder / "My Data"), ("My Data",), "name the folder by small letters"),
    ],
)
def test_what_is_not_there_is_refused_and_nothing_is_written(
    empty: Path, before: Callable[[Path], None] | None, words: tuple[str, ...], expected: str
) -> None:
    if before is Path.touch:
        (empty / "search.py").write_text("import functools\n", encoding="utf-8")
    elif before is not None:
        before(empty)
    there = set(empty.rglob("*"))
    done = ragbench("init", *words)
    assert done.returncode == 3
    assert expected in one_line(done.stderr)
    assert "canary" not in done.stderr
    assert set(empty.rglob("*")) == there


def test_a_file_that_is_there_stays_unless_it_is_forced(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", ANSWERS)
    path = empty / "ragbench.toml"
    path.write_text("language = 'ru'\n", encoding="utf-8")
    done = ragbench("init", "answers.jsonl")
    assert done.returncode == 3
    assert "`ragbench init answers.jsonl --force` replaces it" in one_line(done.stderr)
    assert path.read_text(encoding="utf-8") == "language = 'ru'\n"
    assert not (empty / schema.NAME).exists()
    assert ragbench("init", "--schema").returncode == 0
    assert (empty / schema.NAME).read_text(encoding="utf-8") == schema.text()
    assert path.read_text(encoding="utf-8") == "language = 'ru'\n"
    begun(empty, "answers.jsonl", "--force")
    assert settings.load().language == "en"


@pytest.mark.parametrize("before", ["language = \n", '[columns]\nresponse = "mood"\n'])
def test_nothing_of_a_file_that_is_replaced_decides_what_is_there(empty: Path, before: str) -> None:
    """One that cannot be read, and one that names a column which the file in its place does not."""
    write_lines(empty / "answers.jsonl", [{**ANSWERS[0], "mood": "Fine, thank you."}])
    (empty / "ragbench.toml").write_text(before, encoding="utf-8")
    assert "answer = answer" in ragbench("init", "--force").stdout
    [scoring] = begun(empty, "--force")
    ran(f"{scoring} -m exact_match")
    named = empty / "named.toml"
    named.write_text('[columns]\nresponse = "mood"\n', encoding="utf-8")
    assert "answer = mood" in ragbench("init", "--force", RAGBENCH_CONFIG=str(named)).stdout, "that one is read"


def test_the_judge_of_the_comment_can_be_asked_once_it_is_none(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", ANSWERS)
    [scoring] = begun(empty)
    path = empty / "ragbench.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("# [judges.my-judge]")
    path.write_text("\n".join([*lines[:start], *(line.removeprefix("# ") for line in lines[start:])]), encoding="utf-8")
    said = ragbench(*shlex.split(f"{scoring} -m answer_relevance --judge my-judge --plan")[1:], MY_JUDGE_KEY="k")
    assert "some-model" in said.stdout, said.stderr


def test_a_folder_of_documents_leads_to_a_base_with_drafted_questions(tmp_path: Path) -> None:
    (tmp_path / "Our handbook").mkdir()
    (tmp_path / "Our handbook" / "a.md").write_text("# Grants\n\nUntil 10 September.\n", encoding="utf-8")
    for found in (Beginning.there(tmp_path), Beginning.named(["Our handbook"], tmp_path)):
        assert found.said == ["Our handbook: 1 document"]
        assert found.next() == [
            "ragbench load documents 'Our handbook' --name our-handbook",
            "ragbench draft our-handbook --questions 120",
            "ragbench run tier1_retrieval",
        ]
        assert 'dataset = "our-handbook"' in found.text()


def test_every_command_leads_on_until_there_is_a_page(empty: Path) -> None:
    """Gold questions alone; beside documents, in which they name pages; documents in data/, where data sets lie."""
    write_lines(empty / "gold.jsonl", [{"question": "When do grants end?", "ground_truth": "On 10 September."}])
    load, measure = begun(empty)
    assert measure == "ragbench run dataset"
    assert "Next: ragbench run dataset --dataset gold" in ran(load).stdout
    ran("ragbench run dataset --plan")
    said = one_line(ragbench("run", "tier3_end_to_end").stderr)
    assert "ragbench load documents FOLDER --name BASE" in said
    place = empty / "data" / "kb"
    place.mkdir()
    (place / "grants.md").write_text("# Grants\n\nThey end on 10 September.\n", encoding="utf-8")
    write_lines(empty / "gold.jsonl", [{"question": "When do grants end?", "relevant_urls": ["grants.md"]}])
    commands = begun(empty, "--force")
    assert commands == [
        "ragbench load documents data/kb --name kb-documents",
        "ragbench load questions gold.jsonl --name gold-questions --chunks-from kb-documents",
        "ragbench run tier1_retrieval -p unit=url -d gold-questions",
    ]
    for command in commands[:2]:
        ran(command)
    ran(f"{commands[2]} --plan")


def test_one_file_that_cannot_be_used_stops_no_other(empty: Path) -> None:
    bare_set(empty / "data" / "My Set")
    write_lines(empty / "a\nb.jsonl", ANSWERS)
    write_lines(empty / "bare.jsonl", [{"answer": "At 8:00."}])
    write_lines(empty / "gold.jsonl", [{"question": "When?", "answer": "At 8.", "relevant_chunk_ids": ["a1"]}])
    write_lines(
        empty / "wide.jsonl", [{"question": "When?", "gold": "At 8.", "gpt": "It is at 8.", "llama": "At 9 or so."}]
    )
    (empty / "sizes").mkdir()
    (empty / "sizes" / "metrics.json").write_text('{"faithfulness": 0.8}', encoding="utf-8")
    said = ragbench("init").stdout
    for expected in (
        "not used: data/My Set: name the folder by small letters",
        "a name that cannot be typed; give it another",
        "not used: bare.jsonl: answers without questions, references or ids: nothing tells what they answer",
        "✓ gold.jsonl: 1 question (question = question, answer = answer, reference_context_ids = relevant_chunk_ids",
        "if gpt and llama are answers: ragbench score wide.jsonl --column answer=gpt,llama",
        "not used: sizes/metrics.json: a column with the question, with the answer for answers, or with ids for "
        "passages, is expected; it has "
        "faithfulness\n",
    ):
        assert expected in said, expected


def test_columns_of_two_people_beside_answers_are_compared(empty: Path) -> None:
    rows = [{**ANSWERS[0], "id": str(n), "expert 1": n % 2, "expert 2": 1} for n in range(6)]
    write_lines(empty / "judged.jsonl", rows)
    assert begun(empty) == ["ragbench score judged.jsonl", "ragbench agree judged.jsonl --raters 'expert 1,expert 2'"]


def test_a_chat_without_roles_is_told_what_its_messages_lack(empty: Path) -> None:
    chat = {
        "name": "Chat",
        "messages": [{"id": n, "from": name, "text": "Когда?"} for n, name in enumerate(("Иван", "Анна", "B"))],
    }
    (empty / "result.json").write_text(json.dumps(chat), encoding="utf-8")
    said = ragbench("load", "dialogues", "result.json", "--name", "chat").stderr
    assert "role = user or assistant" in one_line(said)


def test_nothing_above_the_folder_is_begun_with(empty: Path) -> None:
    inside = empty / "inside"
    inside.mkdir()
    write_lines(empty / "corpus.jsonl", [{"_id": "d1", "text": "Opens at 8."}])
    write_lines(empty / "queries.jsonl", [{"_id": "q1", "text": "When?"}])
    write_lines(inside / "corpus.jsonl", [{"_id": "d2", "text": "Ann runs it."}])
    write_lines(inside / "answers.jsonl", ANSWERS)
    begun = Beginning.there(inside)
    assert all(inside in (path, *path.parents) for _, path, _ in begun.brought)

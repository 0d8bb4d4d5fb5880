"""`ragbench init` on tables: what each is taken for, which of them belong together, and which command reads them."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.cli import looks
from ragbench.old.cli.beginnings import Beginning
from ragbench.old.core import annexes, settings
from ragbench.old.data import foreign_sets, samples, trec
from ragbench.old.data.rows import read_rows
from tests.old.cli.command_line import one_line, ragbench
from tests.old.cli.test_init import ANSWERS, SEARCH, bare_set, begun, ran
from tests.old.cli.test_init import empty as empty
from tests.old.small_project import CHUNKS, write_lines


@pytest.mark.parametrize("first", [{"dataset": "x", "version": 1}, {"question": "When?", "answer": None}])
def test_a_first_row_without_an_answer_hides_no_other(empty: Path, first: dict[str, object]) -> None:
    write_lines(empty / "a.jsonl", [first, {"question": "Who?", "answer": "Ann"}])
    assert begun(empty) == ["ragbench score a.jsonl"]


def test_what_answers_lack_is_named_with_its_likely_column(empty: Path) -> None:
    write_lines(empty / "a.jsonl", [{"model_output": "At 8.", "the_question_asked": "When is it open?"}])
    done = ragbench("init")
    assert done.returncode == 3
    assert "--column question=the_question_asked" in one_line(done.stderr)


def test_answers_with_contexts_are_right_ones_once_somebody_says_so(empty: Path) -> None:
    write_lines(empty / "sheet.jsonl", [{"question": "When?", "bot answer": "At 8.", "context": "It opens at 8."}])
    load = "ragbench load questions sheet.jsonl --name sheet"
    [option] = re.findall(r"(--column .+) says that they are the right ones", ran(load).stdout)
    assert "(0 without a relevant passage)" in ran(f"{load} --replace {option}").stdout


def test_labels_lead_to_a_command_that_finds_their_file(empty: Path) -> None:
    (empty / "our results").mkdir()
    rows = [{"question": f"When {n}?", "answer": "At 8.", "contexts": ["At 8."], "label": n % 2} for n in range(4)]
    write_lines(empty / "our results" / "it's labelled.jsonl", rows)
    [scoring] = begun(empty)
    [command] = re.findall(r"(ragbench load answers .+ --name) NAME", ran(f"{scoring} -m faithfulness").stdout)
    assert "4 questions" in ran(f"{command} labelled").stdout
    (empty / "our results" / "it's odd.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    if "traces" in annexes.offered("readers"):
        said = one_line(ragbench("load", "traces", "our results/it's odd.jsonl", "--name", "odd").stderr)
        [words] = re.findall(r"`ragbench (load answers .+) --name NAME`", said)
        assert shlex.split(words)[2] == "our results/it's odd.jsonl"


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        ([{"question": f"{n}?", "answer": "8", "contexts": ["At 8."]} for n in range(3)], "answers"),
        ([{"messages": [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": "8"}] * 2}
          for n in range(3)], "dialogues"),
    ],
)  # fmt: skip
def test_files_of_one_row_each_are_told_how_they_become_one_table(empty: Path, rows: Any, kind: str) -> None:
    (empty / "runs").mkdir()
    for number, row in enumerate(rows):
        (empty / "runs" / f"sample_{number}.json").write_text(json.dumps(row, indent=1), encoding="utf-8")
    said = one_line(ragbench("init").stderr)
    joined = "cat runs/*.json > runs-joined.json"
    assert f"runs/*.json: 3 files, each one row of {kind}; join them: {joined}, then ragbench init runs-joined" in said
    texts = [path.read_text(encoding="utf-8") for path in sorted((empty / "runs").iterdir())]
    (empty / "runs-joined.json").write_text("".join(texts), encoding="utf-8")
    assert f": 3 {kind}" in one_line(ran("ragbench init runs-joined.json").stdout) or kind == "dialogues"


def test_files_of_one_row_to_the_same_question_are_of_several_systems(empty: Path) -> None:
    for name in "abc":
        (empty / f"{name}.json").write_text(json.dumps({"question": "When?", "answer": name}), encoding="utf-8")
    assert begun(empty) == ["ragbench score a.json b.json c.json"]


def test_classes_in_words_of_two_raters_are_ratings(empty: Path) -> None:
    said = ["верно", "частично", "неверно"]
    rows = [f"{number},{said[number % 3]},{said[number % 2]}" for number in range(12)]
    (empty / "marks.csv").write_text("\n".join(["id,Анна,Борис", *rows]), encoding="utf-8")
    [command] = begun(empty)
    assert shlex.split(command) == ["ragbench", "agree", "marks.csv", "--raters", "Анна,Борис"]
    if "agree" in annexes.offered("commands"):
        assert "12 items, raters Анна, Борис, nominal scale" in ran(command).stdout


def test_answers_are_joined_by_the_questions_that_have_their_ids(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", [{"id": name, "answer": "So it is."} for name in "ab"])
    write_lines(empty / "other.jsonl", [{"id": name, "question": "What is it?"} for name in "xyz"])
    assert begun(empty)[0] == "ragbench score answers.jsonl QUESTIONS", "those are others' questions"
    asked = [{"custom_id": n, "body": {"messages": [{"role": "user", "content": f"What is {n}?"}]}} for n in "ab"]
    write_lines(empty / "sent.jsonl", asked)
    scoring = begun(empty, "--force")[0]
    assert scoring == "ragbench score answers.jsonl sent.jsonl", "messages that nobody answered are questions"
    assert "2 answers" in ran(f"{scoring} -m answer_relevance").stdout


def test_documents_without_a_text_are_no_beginning(empty: Path) -> None:
    (empty / "docs").mkdir()
    (empty / "docs" / "a.txt").write_text("", encoding="utf-8")
    (empty / "docs" / "b.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = ragbench("init")
    assert done.returncode == 3
    assert "docs/a.txt, docs/b.pdf: no text can be read there" in one_line(done.stderr)
    (empty / "docs" / "c.md").write_text("# Fees\n\nAt the desk.\n", encoding="utf-8")
    assert begun(empty)[0] == "ragbench load documents docs --name docs"


def test_a_data_set_in_a_folder_of_its_own_is_one(empty: Path) -> None:
    bare_set(empty / "small")
    assert begun(empty) == ["ragbench run tier1_retrieval", "ragbench run"]
    assert settings.load().data_folder == Path()


def test_one_table_of_a_data_set_is_questions(empty: Path) -> None:
    rows = [{"id": name, "text": f"What of {name}?", "relevant": {name: 2}} for name in CHUNKS]
    write_lines(empty / "questions.en.jsonl", rows)
    write_lines(empty / "chunks.en.jsonl", [{"id": name, "text": f"Text of {name}."} for name in CHUNKS])
    load = "ragbench load questions questions.en.jsonl --name questions.en --chunks-from chunks.en.jsonl"
    assert begun(empty) == [load, "ragbench run tier1_retrieval"]
    ran(load)
    kept = (empty / "data" / "questions.en" / "questions.en.jsonl").read_text(encoding="utf-8")
    assert json.loads(kept.splitlines()[0])["relevant"] == {next(iter(CHUNKS)): 2.0}


@pytest.mark.parametrize("beside", ["comment", "model", "text", "question", "question,answer"])
def test_raters_beside_other_columns_are_raters(empty: Path, beside: str) -> None:
    said = ["yes", "no"]
    rows = [
        ",".join([f"{n}", *(f"What of {name} {n}?" for name in beside.split(",")), said[n % 2], said[n > 3]])
        for n in range(8)
    ]
    (empty / "marks.csv").write_text("\n".join([f"id,{beside},Anna,Boris", *rows]), encoding="utf-8")
    command = "ragbench agree marks.csv --raters Anna,Boris"
    assert command in begun(empty)
    if "agree" in annexes.offered("commands"):
        assert "8 items, raters Anna, Boris, nominal scale" in ran(command).stdout


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_raters_in_json_are_raters(empty: Path, form: str) -> None:
    """Three columns of a line are no run of TREC there."""
    rows = [{"item": f"q{n}", "Anna": n % 2, "Boris": int(n > 3)} for n in range(8)]
    (empty / f"marks.{form}").write_text("\n".join(map(json.dumps, rows)) if form == "jsonl" else json.dumps(rows))
    command = f"ragbench agree marks.{form} --raters Anna,Boris"
    assert begun(empty) == [command]
    if "agree" in annexes.offered("commands"):
        assert "8 items, raters Anna, Boris" in ran(command).stdout


def test_what_programs_measured_are_no_raters(empty: Path) -> None:
    rows = [f"What of {n}?,This.,{n % 2},{int(n > 3)}" for n in range(8)]
    (empty / "a.csv").write_text("\n".join(["question,answer,exact_match_score,is_correct", *rows]), encoding="utf-8")
    assert begun(empty) == ["ragbench score a.csv"]
    (empty / "a.csv").write_text("system,metric,sample,value,status\nx,mrr,q0,1,ok\nx,mrr,q1,0,ok\n", "utf-8")
    assert ragbench("init", "--force").returncode == 3, "ok is yes, and no rater said so"


def test_a_snapshot_of_what_was_found_labels_no_question(empty: Path) -> None:
    rows = "When?", "a", "1"
    head = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position"
    (empty / "snapshot.csv").write_text(f"{head}\ns,2026,1,{','.join(rows)}\n", encoding="utf-8")
    begun(empty)
    assert "chunk_id" not in ragbench("init", "--force").stdout


def test_a_name_that_is_nearly_a_files_is_asked_for(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", ANSWERS)
    for words in (("init", "answer.jsonl"), ("score", "answer.jsonl")):
        assert "did you mean 'answers.jsonl'?" in one_line(ragbench(*words).stderr)


def test_answers_that_are_loaded_without_a_configuration_can_be_measured_at_once(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", ANSWERS)
    said = ran("ragbench load answers answers.jsonl --name pilot").stdout
    assert "written: ragbench.schema.json, ragbench.toml" in said
    assert "added to ragbench.toml: [systems.pilot-logged]" in said
    settings.load.cache_clear()
    known = settings.load()
    assert (known.dataset, set(known.systems)) == ("pilot", {"bm25", "pilot-logged"})
    [command] = [line.partition("Next: ")[2] for line in said.splitlines() if "Next: " in line]
    ran(f"{command} --plan")


def test_tables_that_cannot_be_compared_are_scored_one_by_one(empty: Path) -> None:
    for name, asked in (("a", ["When?", "Who?"]), ("b", ["Who?", "When?"])):
        rows = [{"id": place, "question": question, "answer": "So."} for place, question in enumerate(asked)]
        write_lines(empty / f"{name}.jsonl", rows)
    assert ragbench("score", "a.jsonl", "b.jsonl").returncode == 3
    assert begun(empty) == ["ragbench score a.jsonl", "ragbench score b.jsonl"]


def test_each_table_of_answers_is_read_as_often_however_many_there_are(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of eight systems to the same questions, of as many to others, and of some that nothing compares."""
    reads = Counter[str]()

    def counted(path: Path, *given: Any, **named: Any) -> Iterator[Any]:
        reads[path.name] += 1
        return read_rows(path, *given, **named)

    for room in (looks, samples, foreign_sets):
        monkeypatch.setattr(room, "read_rows", counted)
    for system, about in itertools.product("abcdefgh", ("fees", "hours")):
        rows = [{"id": f"{about} {n}", "question": f"{about} {n}?", "answer": f"{system} {n}."} for n in range(4)]
        write_lines(empty / f"{about}-{system}.jsonl", rows)
    for turn in range(4):  # the same ids name other questions in each
        rows = [{"id": f"{n}", "question": f"What of {(n + turn) % 4}?", "answer": "So."} for n in range(4)]
        write_lines(empty / f"turned-{turn}.jsonl", rows)
    for number in range(4):
        rows = [{"id": f"{n}", "question": f"What of {n}?", "answer": "So.", "system": "one"} for n in range(4)]
        write_lines(empty / f"same-{number}.jsonl", rows)
    commands = begun(empty)
    assert commands[:2] == [
        f"ragbench score {' '.join(f'{about}-{one}.jsonl' for one in 'abcdefgh')}" for about in ("fees", "hours")
    ]
    assert len(commands) == 2 + 4 + 3, "what turns once, and what one system said once, may be compared"
    assert set(reads.values()) == {2}, "once to look at, and once whole"
    for command in commands:
        ran(f"{command} -m answer_relevance")


@pytest.mark.parametrize("kind", ["traces", "dialogues", "decisions"])
def test_of_what_can_be_loaded_the_first_rows_are_read_and_of_all_else_the_whole(
    empty: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "traces" and kind not in annexes.offered("readers"):
        pytest.skip("traces are an annex, which is not here")
    turns = [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At 8."}]
    good: dict[str, dict[str, Any]] = {
        "traces": {"traceId": "", "spanId": "1", "startTimeUnixNano": "1", "name": "ask", "attributes": [
            {"key": f"{side}.value", "value": {"stringValue": "When?"}} for side in ("input", "output")]},
        "dialogues": {"messages": turns * 2},
        "decisions": {"question": "When?", "answer": "At 8.", "context": "", "ground_truth_show": True},
    }  # fmt: skip
    unusable: dict[str, dict[str, Any]] = {
        "traces": {"attributes": []},
        "dialogues": {"messages": [turns[1]]},
        "decisions": {"question": " "},
    }
    named = {"traces": "traceId", "dialogues": "id", "decisions": "id"}[kind]
    rows = [{**good[kind], named: f"{n:032x}"} for n in range(60)]
    bad = [{**row, **unusable[kind]} for row in rows[30:]]
    monkeypatch.setattr(looks, "MOST_LOADED", 25)
    path = empty / "rows.json"
    path.write_text(f"{json.dumps(rows)[:-1]}, broken]", encoding="utf-8")
    command = begun(empty)[0]
    assert command == f"ragbench load {kind} rows.json --name rows", "nobody looked as far"
    write_lines(path, [*bad, *rows[:30]])
    assert begun(empty, "--force")[0] == command, "the first rows alone are no reason to refuse it"
    write_lines(path, bad)
    assert ragbench("init", "--force").returncode == 3
    assert ragbench(*shlex.split(command)[1:]).returncode == 3
    monkeypatch.setattr(looks, "MOST_TRIED", 0)
    assert begun(empty, "--force")[0] == command, "of large files nothing more is read"


def test_right_answers_stand_beside_those_whose_ids_they_have(empty: Path) -> None:
    for name in ("v1", "v2"):
        write_lines(empty / f"{name}.jsonl", [{"id": n, "question": f"What {n}?", "answer": "So."} for n in "ab"])
    write_lines(empty / "gold.jsonl", [{"id": n, "question": f"What {n}?", "reference": "So."} for n in "ab"])
    others = [{"id": n, "question": f"{word} {n}?", "reference": "So."} for n, word in (("a", "What"), ("b", "Who"))]
    write_lines(empty / "alike.jsonl", others)
    scoring = begun(empty)[0]
    assert scoring == "ragbench score v1.jsonl v2.jsonl gold.jsonl"
    assert "exact_match  1.0000" in ran(f"{scoring} -m exact_match").stdout
    write_lines(empty / "v1.jsonl", [{"id": "a", "question": "What a?", "answer": "So.", "reference": "Thus."}])
    assert begun(empty, "--force")[0] == "ragbench score v1.jsonl v2.jsonl", "there are right answers"


def test_answers_without_anything_are_told_which_questions_may_be_theirs(empty: Path) -> None:
    write_lines(empty / "answers.jsonl", [{"answer": f"At {n}."} for n in range(3)])
    for name, count in (("few", 2), ("asked", 3)):
        write_lines(empty / f"{name}.jsonl", [{"question": f"What of {n}?"} for n in range(count)])
    said = ragbench("init").stdout
    assert "nothing tells what they answer" in said
    [command] = re.findall(r"in the order of questions they are read with them: (.+)", said)
    assert command == "ragbench score answers.jsonl asked.jsonl"
    ran(f"{command} -m answer_relevance")


@pytest.mark.parametrize(
    ("name", "corpus"), [("collection.tsv", "d1\tOne.\nd2\tTwo.\n"), ("corpus.json", '{"d1": "One.", "d2": "Two."}')]
)
def test_what_only_its_name_tells_to_be_a_corpus_is_the_base_of_questions_that_name_its_ids(
    empty: Path, name: str, corpus: str
) -> None:
    (empty / "docs").mkdir()
    (empty / "docs" / "town.md").write_text("The town has a library.\n", encoding="utf-8")
    write_lines(empty / "questions.jsonl", [{"question": "What is one?", "relevant_ids": ["d1"]}])
    assert begun(empty) == ["ragbench load questions questions.jsonl --name questions", "ragbench run dataset"]
    (empty / name).write_text(corpus, encoding="utf-8")
    load, measure = begun(empty, "--force")
    assert load == f"ragbench load questions questions.jsonl --name questions --chunks-from {name}"
    assert measure == "ragbench run tier1_retrieval"
    assert "(0 without a relevant passage)" in ran(load).stdout


def test_questions_are_searched_for_in_the_base_that_has_what_they_name(empty: Path) -> None:
    for name in ("a", "b", "c"):
        write_lines(empty / f"{name}.jsonl", [{"id": f"{name}{n}", "text": f"Text {name} {n}."} for n in range(2)])
    for name in ("b", "c"):
        write_lines(empty / f"{name}-asked.jsonl", [{"question": f"What of {name}?", "relevant_ids": [f"{name}1"]}])
    commands = begun(empty)
    assert commands[:2] == [
        f"ragbench load questions {name}-asked.jsonl --name {name}-asked --chunks-from {name}.jsonl" for name in "bc"
    ]
    for command in commands[:2]:
        assert "(0 without a relevant passage)" in ran(command).stdout
    said = ragbench("init", "--force").stdout
    assert "✓ c.jsonl: passages, a knowledge base (id = id)" in said
    assert "not used: a.jsonl: passages, a knowledge base (id = id): b.jsonl is taken" in said


def test_a_folder_of_tables_may_be_named(empty: Path) -> None:
    (empty / "my results").mkdir()
    write_lines(empty / "my results" / "a.jsonl", ANSWERS)
    assert begun(empty, "my results") == ["ragbench score 'my results/a.jsonl'"]
    assert begun(empty, ".", "--force") == ["ragbench score 'my results/a.jsonl'"]
    (empty / "nothing").mkdir()
    assert "nothing: it holds nothing to begin with" in one_line(ragbench("init", "nothing", "--force").stderr)


def test_a_data_set_is_no_folder_of_judgements(empty: Path) -> None:
    bare_set(empty / "data" / "small")
    write_lines(empty / "data" / "small" / "ratings.en.jsonl", [])
    assert begun(empty, "data/small") == ["ragbench run tier1_retrieval", "ragbench run"]


@pytest.mark.parametrize("word", ["search.py:retrieve", "./search.py:retrieve", "search:retrieve"])
def test_a_function_may_be_named_by_its_file(empty: Path, word: str) -> None:
    (empty / "search.py").write_text(SEARCH, encoding="utf-8")
    begun(empty, word)
    assert settings.load().systems["retrieve"].callable == "search:retrieve"


def test_a_question_a_line_is_no_document(empty: Path) -> None:
    asked = ["When does it open?", "Who, and why?", 'Where is "it"?']
    (empty / "my questions.txt").write_text("\n".join([*asked, ""]), encoding="utf-8")
    said = one_line(ragbench("init").stderr)
    how = said.partition("a question a line; ")[2].partition(" makes a table of it")[0]
    subprocess.run(["bash", "-c", how], check=True)
    load = "ragbench load questions 'my questions.csv' --name my-questions"
    assert begun(empty)[0] == load
    ran(load)
    kept = (empty / "data" / "my-questions" / "questions.en.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["text"] for line in kept} == {*asked}


def test_judgements_are_paired_with_the_runs_of_their_queries(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Counter[str]()
    for name in ("read_qrels", "read_run"):
        read = getattr(trec, name)
        monkeypatch.setattr(trec, name, lambda path, read=read: reads.update([path.name]) or read(path))
    for name in ("a", "b"):
        (empty / f"{name}.qrels").write_text(f"{name}0 0 d 1\n{name}1 0 d 1\n", encoding="utf-8")
        (empty / f"{name}.run").write_text(f"{name}0 Q0 d 1 2 x\n{name}1 Q0 d 1 2 x\n", encoding="utf-8")
    (empty / "c.run").write_text("c0 Q0 d 1 2 x\nc1 Q0 d 1 2 x\n", encoding="utf-8")
    assert begun(empty) == ["ragbench trec a.qrels a.run", "ragbench trec b.qrels b.run"]
    assert set(reads.values()) == {1}
    assert "not used: c.run: a run of TREC; judgements are missing beside it" in ragbench("init", "--force").stdout


@pytest.mark.parametrize("rows", ["вопрос,hit,ndcg,диалог\n1,1,0.5,1\n2,0,0.0,1", "question,a,b\n1,1,0\n2,0,1"])
def test_numbers_of_questions_are_none(empty: Path, rows: str) -> None:
    (empty / "a.csv").write_text(f"{rows}\n3,1,1.0,2\n", encoding="utf-8")
    done = ragbench("init")
    assert (done.returncode, "agree" in done.stderr) == (3, False)
    assert "row with question: a question is expected, no number of one" in one_line(done.stderr)


def test_decisions_of_a_data_set_alone_are_decisions(empty: Path) -> None:
    rows = [
        {"id": f"d{n}", "question": f"When is hall {n} open?", "answer": "At 8.", "context": ["b", "a"],
         "show": n > 1, "passages": {"b": "It opens at 8.", "a": f"Hall {n}."}}
        for n in range(4)
    ]  # fmt: skip
    write_lines(empty / "decisions.en.jsonl", rows)
    load = "ragbench load decisions decisions.en.jsonl --name decisions.en"
    assert begun(empty)[0] == load
    ran(load)
    [kept] = (empty / "data" / "decisions.en").glob("decisions*")
    first = json.loads(kept.read_text(encoding="utf-8").splitlines()[0])
    assert [first["passages"][name] for name in first["context"]] == ["It opens at 8.", "Hall 0."]


def test_how_many_passages_there_were_is_neither_a_passage_nor_a_rater(tmp_path: Path) -> None:
    rows = [{"question": f"Who is {n}?", "answer": "Nobody", "documents": 0, "num_sources": n % 2} for n in range(4)]
    write_lines(tmp_path / "log.jsonl", [{**row, "unknown": bool(n % 2)} for n, row in enumerate(rows)])
    found = Beginning.there(tmp_path)
    assert found.next() == ["ragbench score log.jsonl"]
    assert "4 answers (question = question, answer = answer;" in found.said[0]


def test_right_answers_in_two_columns_are_no_systems_answers(tmp_path: Path) -> None:
    """Of SciKnowEval."""
    row = {"question": "q", "type": "t", "domain": "d", "details": {}, "choices": {"label": ["A"], "text": ["oak"]}}
    write_lines(tmp_path / "set.jsonl", [{**row, "answer": "", "answerKey": "A"}])
    write_lines(tmp_path / "open.jsonl", [{**row, "choices": {}, "answer": "ash", "answerKey": ""}])
    questions = [path for _, path, _ in Beginning.there(tmp_path).brought]
    assert [foreign_sets.questions(path).questions[0].reference for path in sorted(questions)] == ["ash", "oak"]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("golden", "ragbench load questions golden.jsonl --name golden"),
        ("qa_pairs", "ragbench load questions qa_pairs.jsonl --name qa_pairs"),
        ("Ground-Truth.v2", "ragbench load questions Ground-Truth.v2.jsonl --name ground-truth.v2"),
        ("golden_results", "ragbench score golden_results.jsonl"),
        ("goldman", "ragbench score goldman.jsonl"),
    ],
)
def test_answers_in_a_file_called_as_right_ones_are_right(empty: Path, name: str, command: str) -> None:
    write_lines(empty / f"{name}.jsonl", [{"question": f"Who is {n}?", "answer": "Ann"} for n in range(2)])
    made = Beginning.there(empty)
    assert made.next()[0] == command
    is_right = command.startswith("ragbench load")
    other = f"right answers, by its name; if a system gave them: ragbench score {name}.jsonl"
    assert ("reference = answer; no passages" in made.said[0], other in made.said[0]) == (is_right, is_right)


@pytest.mark.parametrize(
    "rows",
    [
        [{"question": f"Q{n}?", "hard": [], "more": []} for n in range(4)],
        [{"id": n, "one": "0.428571", "two": "0.428571"} for n in range(4)],
        [{"id": n, "fast": "yes", "local": "yes" if n else ""} for n in range(3)]
        + [{"id": 3, "fast": "", "local": ""}],
    ],
)
def test_lists_figures_and_signs_are_no_marks_of_raters(rows: list[dict[str, Any]]) -> None:
    assert looks.marked(rows) == []


def test_a_layout_that_is_known_and_not_read_is_no_judgement(empty: Path) -> None:
    text = "query_id,query,query_run,passage_id,passage,generated_answer\nq1,Who?,1,[1],Ann came.,Ann [1]\n"
    (empty / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="open-rag-eval: a row is a passage here"):
        Beginning.there(empty)


@pytest.mark.parametrize("answer", ["reference", "answer"])
def test_lists_of_ids_beside_questions_label_them_where_the_passages_have_these_ids(empty: Path, answer: str) -> None:
    write_lines(empty / "chunks.jsonl", [{"id": f"p{n}", "text": f"Of the {n} owls one hoots."} for n in range(1, 4)])
    asked = [{"question": f"Which of {n} owls hoots?", "relevant": [f"p{n}"], answer: "One."} for n in range(1, 4)]
    write_lines(empty / "asked.jsonl", asked)
    load, run = begun(empty)
    assert (load, run) == (
        "ragbench load questions asked.jsonl --name asked --chunks-from chunks.jsonl", "ragbench run tier1_retrieval",
    )  # fmt: skip
    ran(load)
    kept = [*map(json.loads, (empty / "data" / "asked" / "questions.en.jsonl").read_text().splitlines())]
    assert [([*own["relevant"]], own["reference"]) for own in sorted(kept, key=lambda own: own["text"])] == [
        ([f"p{n}"], "One.") for n in range(1, 4)
    ]


def test_lists_beside_questions_of_what_no_passage_is_called_label_nothing(empty: Path) -> None:
    write_lines(empty / "chunks.jsonl", [{"id": f"p{n}", "text": f"Of the {n} owls one hoots."} for n in range(1, 4)])
    write_lines(empty / "asked.jsonl", [{"question": "Which owl hoots?", "relevant": ["p9"], "reference": "One."}])
    assert "no field is called so: relevant" in one_line(ragbench("init").stdout)


def test_right_answers_called_so_are_scored_with_answers_to_them(empty: Path) -> None:
    for name, said in (("ground_truth", "Ann"), ("replies", "Bob")):
        write_lines(empty / f"{name}.jsonl", [{"question": f"Who is {n}?", "answer": said} for n in range(2)])
    assert begun(empty)[0] == "ragbench score replies.jsonl ground_truth.jsonl"

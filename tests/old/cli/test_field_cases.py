"""Small files as people have them, each with a command that it is tried with: it works, or says what would."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.old.cli.command_line import one_line, ragbench

SAID: dict[str, list[tuple[str, int, tuple[str, ...]]]] = {
    "columns_gold_predicted": [
        ("init f.jsonl", 0, ("answer = model_answer, reference = gold_answer", "Next: ragbench score f.jsonl")),
        ("score f.jsonl -m exact_match", 0, ("exact_match",)),
    ],
    "contexts_document_repr": [("load answers d.csv --name d --dry-run", 0, ("2 passages, 1 question",))],
    "contexts_haystack": [("score h.json -m faithfulness", 0, ("faithfulness  1.0000",))],
    "dialogues_openai": [("load dialogues o.jsonl --name o --dry-run", 0, ("1 dialogue", "2 turns, the first: When?"))],
    "excel_sep_line": [("score x.csv -m answer_relevance", 0, ("answer_relevance",))],
    "export_langfuse_ui": [
        ("init l.csv", 0, ("l.csv: traces of Langfuse", "Next: ragbench load traces l.csv --name l")),
        ("load answers l.csv --name l --dry-run", 0, ("t1  When?", "no passages")),
        ("load traces l.csv --name l2 --dry-run", 0, ("answer 1", "no passage has a text")),
    ],
    "export_promptfoo": [
        ("init p.json", 0, ("promptfoo, question = question, answer = output", "Next: ragbench score p.json")),
        ("score p.json -m faithfulness", 0, ("faithfulness  1.0000",)),
    ],
    "init_qrels_as_document": [("init", 0, ("Next: ragbench trec robust.qrels.txt input.run.txt",))],
    "init_unknown_columns": [
        ("init", 3, ("q.jsonl:", "it has question_id, text, category", "is text the question? --column question=text")),
        ("init q.jsonl", 3, ("q.jsonl:", "it has question_id, text, category")),
    ],
    "json_dict_of_lists": [("score d.json -m faithfulness", 0, ("faithfulness  1.0000",))],
    "json_lines_in_json": [("score c.json -m answer_relevance", 0, ("answer_relevance",))],
    "questions_expected_answer": [
        ("init qa.csv", 0, ("reference = expected_answer", "Next: ragbench load questions qa.csv --name qa")),
        ("load questions qa.csv --name qa", 0, ("What is the loan period? → 14 days", "--chunks-from NAME")),
    ],
    "references_list": [("score m.jsonl -m exact_match", 0, ("exact_match  1.0000",))],
    "row_none_in_list": [
        ("score r.csv -m faithfulness", 0, ("left out: 1 × passage without a text in contexts (first: r.csv, line",)),
    ],
    "synonyms_deepeval_json": [("score d.json -m faithfulness", 0, ("faithfulness  1.0000",))],
    "synonyms_gold_output": [
        ("score r.jsonl -m exact_match", 3, ("answer and output differ", "--column answer=output")),
        ("score r.jsonl -m exact_match --column answer=output", 0, ("exact_match  0.0000",)),
    ],
    "agree_wide": [
        ("init", 0, ("w.csv: ratings (id, human, judge)", "Next: ragbench agree w.csv --raters human,judge")),
        ("agree w.csv --raters human,judge", 0, ("accuracy           0.8000", "cohen_kappa        0.6000")),
    ],
    "beir_int_ids": [
        ("load beir b --name x --dry-run", 0, ("2 passages, 1 question (0 without a relevant passage)",)),
        ("init", 0, ("Next: ragbench load beir b --name b",)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_a_field_case_gets_in_or_is_told_why_not(
    case: str, shared_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shared_data(f"field-cases/{case}")
    about = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    for name in about["files"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, tmp_path / name)
    monkeypatch.delenv("RAGBENCH_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    for command, code, parts in SAID[case]:
        done = ragbench(*command.split())
        said = one_line(done.stdout + done.stderr)
        assert done.returncode == code, said
        for part in parts:
            assert " ".join(part.split()) in " ".join(said.split()), said
        (tmp_path / "ragbench.toml").unlink(missing_ok=True)

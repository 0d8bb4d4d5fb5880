"""Judgements made elsewhere say the same whatever the form of their file; what is wrong is named where it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragbench.old import tiers
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.judges import judgement_files
from ragbench.old.tiers.judges.items import Scale
from tests.old.small_project import write_lines
from tests.old.tiers.heard_judges import NAN, findings

FIVE, UNIT = Scale(1, 5), Scale(0, 1)
THREE = ("contradicted", "neutral", "supported")
ROWS: list[dict[str, Any]] = [
    {"id": "b", "people": {"ann": 1, "Боб": 4.5}, "judges": {"m": [0.5, None], "n": 0.25}, "system": "gpt-4",
     "question": "Где, когда; и зачем?", "answer": "Там."},
    {"id": "a", "people": {"ann": 5}, "judges": {"m": [1.0, 0.75], "n": None}, "cluster": "q",
     "choices": {"k": ["A", "Tie"]}, "label": "A", "question": "?", "answer": "!"},
    {"id": "c", "people": {"Боб": 2}, "choices": {"k": ["B", None]}, "question": "?", "answer": "!"},
]  # fmt: skip
CSV = """id,people.ann,people.Боб,judges.m,judges.n,choices.k,label,cluster,system,question,answer
b,1,"4,5",0.5; null,0.25,,,,gpt-4,"Где, когда; и зачем?",Там.
a,5,,"[1.0, 0.75]",null,A; Tie,A,q,,?,!
c,,2,,,"[""B"", null]",,,,?,!
"""


def parquet(path: Path) -> None:
    """Structs, as data frames write them: every key in every row, null where there was none."""
    table = pa.Table.from_pylist(
        [
            {**dict.fromkeys(("label", "cluster", "system", "choices", "judges")), **row,
             "people": {"ann": None, "Боб": None, **row["people"]},
             "judges": {"m": row.get("judges", {}).get("m"),
                        "n": [row["judges"]["n"]] if "n" in row.get("judges", {}) else None},
             "choices": {"k": row.get("choices", {}).get("k")}}
            for row in ROWS
        ]
    )  # fmt: skip
    pq.write_table(table, path)


def test_a_file_is_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "j.jsonl", [
        {"id": "b", "people": {"x": 1, "y": None}, "judges": {"m": [0.5, None]}, "system": "gpt-4"},
        {"id": "a", "people": {"x": 5}, "judges": {"m": 1, "n": None}, "cluster": "q",
         "choices": {"k": ["A", "Tie"]}, "label": "A"},
    ])  # fmt: skip
    found = judgement_files.read(tmp_path / "j.jsonl", FIVE, UNIT)
    by_name = {one.name: one for one in found.heard}
    assert [one.id for one in found.answers.samples] == ["a", "b"]
    assert (found.answers.clusters, found.answers.mean_people.tolist()) == (("q", "b"), [1.0, 0.0])
    assert np.array_equal(by_name["m"].answers.scores, [[1.0, NAN], [0.5, NAN]], equal_nan=True)
    assert by_name["m"].answers.asked.tolist() == [[True, False], [True, True]]
    assert by_name["n"].statuses[:, 0].tolist() == ["parse_error", "missing_field"]
    assert by_name["k"].choices is not None
    assert by_name["k"].choices[0].tolist() == [1.0, 0.0]
    assert (found.labels[0], len(found.content_hash)) == (1.0, 64)


@pytest.mark.parametrize("text", ["", "1", "5, 1", "1, x", "nan, 1", "1,2,3"])
def test_a_scale_has_two_ends(text: str) -> None:
    with pytest.raises(BenchError, match="scale"):
        Scale.read(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ('{"id": "a"}\n{"id": "a"}\n', "line 2: the id 'a' stands there twice"),
        ('{"id": "a", "judge": {}}', "line 1: there is no field 'judge'; legal: id, people, judges"),
        ('{"id": "a", "judges": {"m": 2}}', "2 is not on the scale from 0 to 1"),
        ('{"id": "a", "people": {"x": 0}}', "0 is not on the scale from 1 to 5"),
        ('{"id": "a", "choices": {"k": ["A>B", "A"]}}', "line 1: choices"),
        ('{"id": "a"}\nno\n', "line 2"),
        ('{"id": "a", "people": {"ann": "suported"}}',
         r"line 1: people.ann = 'suported': a number or one of contradicted, neutral"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "j.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=message):
        judgement_files.read(tmp_path / "j.jsonl", FIVE, UNIT, THREE)


def test_every_form_of_the_file_says_the_same(tmp_path: Path) -> None:
    write_lines(tmp_path / "j.jsonl", ROWS)
    (tmp_path / "j.json").write_text(json.dumps(ROWS), encoding="utf-8")
    (tmp_path / "j.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "excel.csv").write_bytes(_excel().encode("cp1251"))
    parquet(tmp_path / "j.parquet")
    expected = judgement_files.read(tmp_path / "j.jsonl", FIVE, UNIT)
    assert [one.id for one in expected.answers.samples] == ["a", "b", "c"]
    assert expected.answers.raters == ("ann", "Боб")
    for name in ("j.json", "j.csv", "excel.csv", "j.parquet"):
        found = judgement_files.read(tmp_path / name, FIVE, UNIT)
        assert found.answers.samples == expected.answers.samples, name
        assert found.answers.clusters == expected.answers.clusters
        assert np.array_equal(found.answers.people, expected.answers.people, equal_nan=True), name
        assert np.array_equal(found.labels, expected.labels, equal_nan=True)
        assert [one.name for one in found.heard] == ["k", "m", "n"]
        for one, other in zip(found.heard, expected.heard, strict=True):
            assert np.array_equal(one.answers.scores, other.answers.scores, equal_nan=True), (name, one.name)
            assert np.array_equal(one.answers.asked, other.answers.asked), (name, one.name)
            assert one.statuses.tolist() == other.statuses.tolist()
            assert (one.choices is None) == (other.choices is None)
            assert one.choices is None or np.array_equal(one.choices, other.choices, equal_nan=True)  # type: ignore[arg-type]
        if name != "j.parquet":  # there a single score can only be a list of one where another row has a list
            assert found.content_hash == expected.content_hash, name


def _excel() -> str:
    """The same table with semicolons between the cells and decimal commas, as a Russian spreadsheet writes it."""
    import csv
    import io

    rows = list(csv.reader(io.StringIO(CSV)))
    made = io.StringIO()
    csv.writer(made, delimiter=";").writerows([[cell.replace("0.25", "0,25") for cell in row] for row in rows])
    return made.getvalue()


def test_names_of_classes_are_numbers_on_the_scale(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text(
        'id,people.ann,judges.m\na,supported,"neutral; Supported"\nb,CONTRADICTED,contradicted\nc,3,\n',
        encoding="utf-8",
    )
    [a, b, c] = judgement_files.judgements(tmp_path / "j.csv", FIVE, UNIT, THREE)
    assert (a.people, a.judges) == ({"ann": 5.0}, {"m": [0.5, 1.0]})
    assert (b.people, b.judges) == ({"ann": 1.0}, {"m": 0.0})
    assert (c.people, c.judges) == ({"ann": 3.0}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,people.ann\na,suported\n", r"^j.csv, line 2: people.ann = 'suported': a number \(or name the classes\)"),
        ("id,people.ann\na,6\n", "^j.csv, line 2: people.ann: 6 is not on the scale from 1 to 5"),
        ("id,judges.m\na,0.5;2\n", "^j.csv, line 2: judges.m: 2 is not on the scale from 0 to 1"),
        ("id,judges.m\na,inf\n", "^j.csv, line 2: judges.m = 'inf': a number"),
        ("id,judges.m\na,[0.5\n", "^j.csv, line 2: judges.m = .*a list is expected, as JSON"),
        ("id,choices.k\na,A\n", "^j.csv, line 2: choices.k"),
        ("id,choices.k\na,A; C\n", "^j.csv, line 2: choices.k.1 = 'C': 'A', 'B' or 'Tie' is expected"),
        ("id,label\na,C\n", "^j.csv, line 2: label = 'C'"),
        ("id,judge.m\na,1\n", "^j.csv, line 2: there is no field 'judge.m'; legal: id, people, .* judges.NAME"),
        ("people.ann\n3\n", "^j.csv, line 2: id is missing"),
        ("id,people.\na,3\n", "^j.csv, line 2: people.: nobody is named"),
        ('id,people,people.ann\na,"{""ann"": 3}",4\n', "^j.csv, line 2: people.ann: 'ann' stands there twice"),
        ("id,people,people.ann\na,3,4\n", "^j.csv, line 2: people = 3: an object is expected"),
        ("id,people\na,3\n", "^j.csv, line 2: people = 3"),
        ("id,judges.people\na,1\n", "no judge can be called 'people'"),
        ("id,people.ann\na,3\na,4\n", "^j.csv, line 3: the id 'a' stands there twice"),
        ("id,people.ann\na,3,4\n", "^j.csv, line 2: 3 cells, but the header names 2 columns"),
        ("id,people.ann\n", "holds no judgements"),
        ("", "empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "j.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=message):
        judgement_files.read(tmp_path / "j.csv", FIVE, UNIT)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "j.docx").write_bytes(b"PK")
    with pytest.raises(BenchError, match=r"ends in none of \.json, \.jsonl, .*\.csv, \.tsv, \.parquet, .*\.xlsx;"):
        judgement_files.read(tmp_path / "j.docx", FIVE, UNIT)
    (tmp_path / "j.xlsx").write_bytes(b"PK")
    with pytest.raises(BenchError, match=r"^j\.xlsx: cannot be read: "):
        judgement_files.read(tmp_path / "j.xlsx", FIVE, UNIT)


def test_a_whole_page_of_a_table_of_classes(project: Path) -> None:
    rng = np.random.default_rng(3)
    lines = ["id,people.ann,judges.m"]
    truth = rng.integers(0, 3, 60)
    said = np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), truth)
    lines += [f"i{n},{THREE[truth[n]]},{THREE[said[n]]}" for n in range(60)]
    (project / "three.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = tiers.tier_judge("small", ratings="three.csv", classes=", ".join(THREE), resamples=100)
    own = findings(found, **{"class": ""})["value"]["m", "accuracy"]
    assert own == pytest.approx(np.mean(truth == said))
    assert found.facts["dataset"] == "three.csv"

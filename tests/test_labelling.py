"""Labels by people: nothing prefilled, nobody named, kept after every click, in and out of spreadsheets unharmed."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.bench.scoring.labels import guarded, plain, read
from ragbench.labelling import Item, Sheet, export_csv, import_csv, items, label, scale_of
from ragbench.labelling.widget import panel
from ragbench.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement

SCALE = (0.0, 0.5, 1.0)
SECRETS = ("secret-system", "faithfulness", "0.123", "the judge said")


def measurement(questions: int = 40, systems: tuple[str, ...] = ("secret-system", "other")) -> Measurement:
    names = [f"q{number:02d}" for number in range(questions)]
    pairs = [(system, name) for name in names for system in systems]
    scores = [(s, "faithfulness", n, 0.123, "ok", "the judge said", "lexical") for s, n in pairs]
    return Measurement(
        notebook="tier2_generation",
        facts={"seed": 0, "level": 0.95},
        scores=pd.DataFrame(scores, columns=list(SCORE_COLUMNS)),
        questions=pd.DataFrame(
            [(n, f"What of {n}?", f"Reference {n}.", None, "en", None, True, []) for n in names],
            columns=list(QUESTION_COLUMNS),
        ),
        retrieved=pd.DataFrame(
            [(s, n, 1, "c1", None, None, 0.0, f"Passage for {n}.") for s, n in pairs], columns=list(RETRIEVED_COLUMNS)
        ),
        extra={"answers": pd.DataFrame([(s, n, f"Answer {i}.") for i, (s, n) in enumerate(pairs)],
                                       columns=["system", "sample", "response"])},
    )  # fmt: skip


def sheet(path: Path, count: int = 4, annotator: str = "anna") -> Sheet:
    return Sheet(items(measurement(), "faithfulness", count=count), SCALE, annotator, path)


def test_items_are_a_seeded_random_sample_the_same_for_every_annotator() -> None:
    one, other = (items(measurement(), "faithfulness", count=20, seed=3) for _ in range(2))
    assert one == other
    assert one != items(measurement(), "faithfulness", count=20, seed=4)
    assert len({item.id for item in one}) == 10, "both systems' answers to a drawn question are labelled"
    assert [item.id for item in one] != sorted(item.id for item in one)
    assert any(first.id != second.id for first, second in zip(one[::2], one[1::2], strict=True)), "answers are mixed"
    everything = items(measurement(), "faithfulness", count=None)
    assert len(everything) == len({item.code for item in everything}) == 80
    firsts = {items(measurement(), "faithfulness", seed=seed)[0].id for seed in range(40)}
    assert len(firsts) > 15, "any question can come first"


def test_only_judged_answers_are_drawn() -> None:
    made = measurement(questions=3)
    scores = made.scores.assign(value=[None, *made.scores["value"][1:]])
    assert len(items(replace(made, scores=scores), "faithfulness")) == 5
    with pytest.raises(ValueError, match=r"metric = 'mrr'.*measured: faithfulness"):
        items(made, "mrr")
    with pytest.raises(ValueError, match="tier2_generation keeps no answers"):
        items(replace(made, extra={}), "faithfulness")


def test_scales_are_the_metrics_own() -> None:
    assert scale_of("faithfulness") == (0.0, 0.25, 0.5, 0.75, 1.0)
    with pytest.raises(ValueError, match="has no ends"):
        scale_of("total_chunks")


def test_nothing_is_answered_until_somebody_answers(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    assert one.answered == 0
    assert [one.value(item) for item in one.items] == [None] * 4
    assert not (tmp_path / "a.csv").exists()
    rows = list(csv.DictReader(export_csv(one, tmp_path / "out.csv").open(encoding="utf-8-sig")))
    assert [row["value"] for row in rows] == [""] * 4
    one.skip()
    assert one.answered == 0


def test_every_label_is_kept_at_once_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.csv"
    one = sheet(path)
    for number, value in enumerate((1.0, 0.5)):
        one.give(value)
        assert len(read(path)) == number + 1, "the file is whole after every click"
    again = sheet(path)
    assert again.answered == 2
    assert again.current == again.items[2]
    again.back()
    assert again.value(again.current) == 0.5  # type: ignore[arg-type]
    again.clear()
    assert sheet(path).answered == 1
    assert [entry.name for entry in path.parent.iterdir()] == ["a.csv"], "nothing temporary is left"


@pytest.mark.fault("disk", tried="a label that cannot be written", count=1)
def test_a_click_that_cannot_be_kept_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "a.csv"
    one = sheet(path)
    one.give(1.0)
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        one.give(0.5)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]


def test_two_annotators_are_never_mixed(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    one.give(1.0)
    with pytest.raises(ValueError, match=r"a.csv, line 2: labels of 'anna', not of 'boris'"):
        sheet(tmp_path / "a.csv", annotator="boris")
    with pytest.raises(ValueError, match="annotator is empty"):
        sheet(tmp_path / "b.csv", annotator="  ")


@pytest.mark.fault("non-numbers", tried="labels outside the scale", count=1)
def test_values_outside_the_scale_are_refused(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"0.7; the scale has 0, 0.5, 1"):
        one.give(0.7)
    with pytest.raises(ValueError, match="two different numbers"):
        Sheet([], (1.0, 1.0), "anna", tmp_path / "c.csv")


def test_a_spreadsheet_and_back(tmp_path: Path) -> None:
    item = Item("=1+1", "secret-system", "faithfulness", "=cmd|' /C calc'!A0", "+7 900\nsecond line, \"quoted\"",
                ("@passage",))  # fmt: skip
    one = Sheet([item, replace(item, id="q2", answer="Да, верно")], SCALE, "-anna", tmp_path / "a.csv")
    one.give(0.5)
    path = export_csv(one, tmp_path / "out.csv")
    text = path.read_text(encoding="utf-8-sig")
    assert not any(secret in text for secret in SECRETS)
    rows = list(csv.reader(path.open(encoding="utf-8-sig")))
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert rows[1][1] == "'=cmd|' /C calc'!A0"
    assert plain(rows[1][2]) == item.answer
    assert [row[-1] for row in rows] == ["value", "0.5", ""]
    other = Sheet(one.items, SCALE, "boris", tmp_path / "b.csv")
    assert other.take(import_csv(path)) == 1
    assert other.value(item) == 0.5
    kept = read(f"{tmp_path / 'a.csv'}, {tmp_path / 'b.csv'}")
    assert kept["id"].tolist() == ["=1+1", "=1+1"]
    assert kept["annotator"].tolist() == ["-anna", "boris"]


def test_what_a_person_filled_in_is_checked(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    code = one.items[0].code
    (tmp_path / "in.csv").write_text(f'item;value\n{code};"0,5"\n{one.items[1].code};\n', encoding="utf-8")
    assert import_csv(tmp_path / "in.csv") == {code: 0.5}
    (tmp_path / "in.csv").write_text(f"item,value\n{code},OK\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"in.csv, line 2: value = 'OK'"):
        import_csv(tmp_path / "in.csv")
    with pytest.raises(ValueError, match="is not among these 4"):
        one.take({"abc": 1.0})
    with pytest.raises(ValueError, match=f"item {code}: value = 3"):
        one.take({code: 3.0})
    assert one.answered == 0


@pytest.mark.fault("formulas", tried="texts in a sheet for people, and back", count=1)
@given(st.text(alphabet="'=+-@\t\rab ", max_size=6))
def test_guarding_a_text_loses_nothing(text: str) -> None:
    assert plain(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_the_widget_shows_the_answer_and_nothing_of_who_wrote_it(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    first = one.items[0]
    box = panel(one, "faithfulness", {0.0: "no", 0.5: "partly", 1.0: "yes"})
    head, body, choices, *_ = box.children
    assert first.answer in body.value
    assert "Passage for" in body.value
    said = json.dumps([head.value, body.value, *(button.description for button in choices.children)])
    assert not any(secret in said for secret in SECRETS if secret != "faithfulness")
    assert [button.button_style for button in choices.children] == ["", "", ""], "nothing is chosen beforehand"
    choices.children[2].click()
    assert one.value(first) == 1.0
    assert first.answer not in body.value
    assert "1 of 4" in head.value
    for _ in range(3):
        choices.children[0].click()
    assert one.current is None
    assert all(button.disabled for button in choices.children)
    assert read(tmp_path / "a.csv")["value"].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_widget_writes_a_spreadsheet_and_takes_it_in(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    box = panel(one, "faithfulness")
    *_, more, said = box.children
    *_, out, file = more.children
    out.click()
    assert "a.sheet.csv" in said.value
    path = tmp_path / "a.sheet.csv"
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    filled = [lines[0], *(f"{line}0.5" for line in lines[1:])]
    upload = {"name": "a.csv", "type": "text/csv", "size": 1, "last_modified": datetime.now(UTC)}
    file.value = ({**upload, "content": "\n".join(filled).encode()},)
    assert one.answered == 4
    assert "4 labels were taken in" in said.value
    file.value = ({**upload, "content": b"item,value\nstranger,0.5\n"},)
    assert "is not among these 4" in said.value
    assert one.answered == 4


@pytest.mark.fault("markup", tried="texts in the labelling widget", count=1)
def test_texts_of_answers_cannot_bring_markup_into_the_notebook(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    box = panel(Sheet([Item("q", "s", "m", evil, evil, (evil,))], SCALE, "anna", tmp_path / "a.csv"), "m")
    assert "<img" not in box.children[1].value
    assert "&lt;img" in box.children[1].value


def test_the_helper_finds_its_file_and_its_scale(project: Path) -> None:
    box = label(measurement(), "faithfulness", "Анна К.", count=5)
    choices = box.children[2]
    assert [button.description for button in choices.children] == ["0", "0.25", "0.5", "0.75", "1"]
    choices.children[3].click()
    [path] = (project / "labels").iterdir()
    assert path.name == "tier2_generation-faithfulness-Анна_К..csv"
    assert read(path)["value"].tolist() == [0.75]

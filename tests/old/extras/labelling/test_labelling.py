"""Labels by people: nothing prefilled, nobody named, kept after every click, in and out of spreadsheets unharmed."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragbench.old.extras.labelling
from ragbench.old import stats, tiers
from ragbench.old.core import settings
from ragbench.old.core.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement
from ragbench.old.data.cells import guarded, plain
from ragbench.old.extras.labelling import (
    Given,
    Item,
    Panel,
    Sheet,
    agreement,
    export_csv,
    import_csv,
    items,
    label,
    scale_of,
    settle,
)
from ragbench.old.extras.labelling.annotation import keys_of
from ragbench.old.extras.labelling.sheet import NOTHING
from ragbench.old.tiers.scoring.corrections import read

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


ITEMS = items(measurement(), "faithfulness", count=4)


def sheet(path: Path, count: int = 4, annotator: str = "anna") -> Sheet:
    return Sheet(ITEMS[:count], SCALE, annotator, path)


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
    of_all = scores.assign(metric="response_exact_match_rate")
    with pytest.raises(ValueError, match="is no measure of single answers"):
        items(replace(made, scores=of_all), "response_exact_match_rate")
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
    one.give(0.5, "=so")
    path = export_csv(one, tmp_path / "out.csv")
    text = path.read_text(encoding="utf-8-sig")
    assert not any(secret in text for secret in SECRETS)
    rows = list(csv.reader(path.open(encoding="utf-8-sig")))
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert rows[1][1] == "'=cmd|' /C calc'!A0"
    assert plain(rows[1][2]) == item.answer
    assert [row[-2:] for row in rows] == [["value", "note"], ["0.5", "'=so"], ["", ""]]
    other = Sheet(one.items, SCALE, "boris", tmp_path / "b.csv")
    assert other.take(import_csv(path)) == 1
    assert other.given(item) == (0.5, "=so")
    kept = read(f"{tmp_path / 'a.csv'}, {tmp_path / 'b.csv'}")
    assert kept["id"].tolist() == ["=1+1", "=1+1"]
    assert kept["annotator"].tolist() == ["-anna", "boris"]


def test_what_a_person_filled_in_is_checked(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    code = one.items[0].code
    (tmp_path / "in.csv").write_text(f'item;value\n{code};"0,5"\n{one.items[1].code};\n', encoding="utf-8")
    assert import_csv(tmp_path / "in.csv") == {code: (0.5, "")}
    (tmp_path / "in.csv").write_text(f"item,value\n{code},OK\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"in.csv, line 2: value = 'OK'"):
        import_csv(tmp_path / "in.csv")
    with pytest.raises(ValueError, match="is not among these 4"):
        one.take({"abc": Given(1.0)})
    with pytest.raises(ValueError, match=f"item {code}: value = 3"):
        one.take({code: Given(3.0)})
    assert one.answered == 0


@pytest.mark.fault("formulas", tried="texts in a sheet for people, and back", count=1)
@given(st.text(alphabet="'=+-@\t\rab ", max_size=6))
def test_guarding_a_text_loses_nothing(text: str) -> None:
    assert plain(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def give(panel: Panel, choice: int, note: str = "") -> None:
    panel.receive({"act": "give", "choice": choice, "note": note, "code": code_of(panel)})


def code_of(panel: Panel) -> str | None:
    item = panel.state["item"]
    return item and item["code"]


def test_the_panel_shows_the_answer_and_nothing_of_who_wrote_it(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    first = one.items[0]
    panel = Panel(one, "faithfulness", {0.0: "no", 0.5: "partly", 1.0: "yes"})
    shown = panel.state["item"]
    assert shown["answer"] == first.answer
    assert shown["passages"] == list(first.contexts)
    said = json.dumps([panel.state, panel.fixed])
    assert not any(secret in said for secret in SECRETS if secret != "faithfulness")
    assert first.id not in said.replace(first.question, "").replace(first.answer, "").replace(
        first.contexts[0], ""
    ).replace(str(first.reference), "")
    assert [each["text"] for each in panel.fixed["choices"]] == ["no", "partly", "yes"]
    assert shown["chosen"] is None, "nothing is chosen beforehand"
    give(panel, 2)
    assert one.value(first) == 1.0
    assert panel.state["item"]["answer"] != first.answer
    assert panel.state["progress"] == "1 of 4 labelled"
    for _ in range(3):
        give(panel, 0)
    assert one.current is None
    assert (panel.state["item"], panel.state["left"]) == (None, 0)
    assert read(tmp_path / "a.csv")["value"].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_what_is_pressed_before_the_next_item_is_drawn_is_of_the_one_that_was_seen(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    panel = Panel(one, "faithfulness")
    seen = code_of(panel)
    give(panel, 0)
    for act, choice, note in (("give", 2, ""), ("note", 0, "late"), ("skip", 0, "")):
        panel.receive({"act": act, "choice": choice, "note": note, "code": seen})
        assert [one.value(item) for item in one.items] == [1.0, None, None, None], "no other is labelled"
        assert one.place == 1
    assert one.given(one.items[0]).note == "late"
    panel.receive({"act": "clear", "code": seen})
    assert (one.answered, one.place) == (0, 1)
    for nonsense in ({"act": "give", "choice": 9, "code": code_of(panel)}, {"act": "give", "choice": 1, "code": "none"},
                     {"act": "give", "choice": 1}, {"act": "format the disk", "code": code_of(panel)}, {}):  # fmt: skip
        panel.receive(nonsense)
    assert (one.answered, one.place) == (0, 1)


def test_the_panel_writes_a_spreadsheet_and_takes_it_in(tmp_path: Path) -> None:
    one = sheet(tmp_path / "a.csv")
    panel = Panel(one, "faithfulness")
    panel.receive({"act": "write"})
    assert "a.sheet.csv" in panel.state["said"]
    path = tmp_path / "a.sheet.csv"
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    filled = [lines[0], *(f"{line[:-1]}0.5," for line in lines[1:])]
    panel.receive({"act": "take"}, "\n".join(filled).encode())
    assert one.answered == 4
    assert "4 labels were taken in" in panel.state["said"]
    panel.receive({"act": "take"}, b"item,value\nstranger,0.5\n")
    assert "is not among these 4" in panel.state["said"]
    assert one.answered == 4
    panel.receive({"act": "undo"})
    assert one.answered == 0, "a file that was taken in is one act"


@pytest.mark.fault("markup", tried="texts in the labelling panel", count=1)
def test_texts_of_answers_cannot_bring_markup_into_the_notebook(tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[2J\u202e"
    panel = Panel(Sheet([Item("q", "s", "m", evil, evil, (evil,), evil)], SCALE, "anna", tmp_path / "a.csv"), "m")
    item = panel.state["item"]
    for text in (item["question"], item["answer"], item["reference"], *item["passages"]):
        assert text == "<img src=x onerror=alert(1)>", "a text, without signs that a terminal would obey"
    script = (Path(ragbench.old.extras.labelling.__file__).parent / "panel.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


def test_the_helper_finds_its_file_and_its_scale(project: Path) -> None:
    made = label(measurement(), "faithfulness", "Анна К.", count=5)
    assert [one["text"] for one in made.fixed["choices"]] == ["0", "0.25", "0.5", "0.75", "1"]
    assert [one["key"] for one in made.fixed["choices"]] == ["1", "2", "3", "4", "5"]
    give(made.panel, 3, "четыре")
    [path] = (project / "labels").iterdir()
    assert path.name == "tier2_generation-faithfulness-Анна_К..csv"
    assert read(path)["value"].tolist() == [0.75]
    assert read(path)["note"].tolist() == ["четыре"]
    with pytest.raises(ValueError, match=r"rb\.settle writes it"):
        label(measurement(), "faithfulness", "settled")


def test_the_panel_speaks_the_language_of_the_project(project: Path) -> None:
    (project / "ragbench.toml").write_text('language = "ru"\n' + (project / "ragbench.toml").read_text())
    settings.load.cache_clear()
    made = label(measurement(), "faithfulness", "anna", count=5)
    words = json.dumps([made.fixed["words"], made.state["progress"]], ensure_ascii=False)
    said = re.sub("CSV|Esc", "", re.sub(r'"[a-z]+":', "", words))
    assert not re.search("[a-z]{2}", said), said


@pytest.mark.parametrize(
    ("scale", "keys"),
    [
        ((1, 2, 3, 4, 5), "12345"),
        ((0, 1), "01"),
        ((0, 1, 2), "012"),
        ((0, 0.25, 0.5, 0.75, 1), "12345"),
        ((-1, 0, 1), "123"),
        (tuple(range(1, 11)), "1234567890"),
    ],
)
def test_a_digit_is_its_own_key_where_it_can_be(scale: tuple[float, ...], keys: str) -> None:
    assert "".join(keys_of(scale)) == keys


def test_a_scale_of_yes_and_no_is_declared() -> None:
    assert scale_of("show_decision") == (0.0, 1.0)
    assert scale_of("aspect_critique(aspect=harmfulness)") == (0.0, 1.0)
    assert scale_of("answer_correctness") == (-1.0, -0.5, 0.0, 0.5, 1.0)
    assert scale_of("faithfulness_rating") == (1.0, 2.0, 3.0, 4.0, 5.0)


def test_a_note_is_kept_beside_its_label_and_without_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    one = sheet(path)
    one.give(1.0, "  =clear, and\nin two lines ")
    one.note("no idea")
    one.skip()
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [(row["value"], row["note"]) for row in rows] == [("1", "'=clear, and\nin two lines"), ("", "no idea")]
    again = sheet(path)
    assert [again.given(item).note for item in again.items] == ["=clear, and\nin two lines", "no idea", "", ""]
    assert again.answered == len(read(path)) == 1, "a note alone is no label"


def test_a_file_of_labels_without_notes_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    item = sheet(path).items[0]
    path.write_text(
        f"id,system,metric,annotator,value\n{item.id},{item.system},faithfulness,anna,0.5\n", encoding="utf-8"
    )
    one = sheet(path)
    assert (one.answered, one.value(item)) == (1, 0.5)


ACTS = st.one_of(
    st.tuples(st.just("give"), st.sampled_from(SCALE)),
    st.tuples(st.just("note"), st.sampled_from(["", "a", " b\nc"])),
    st.tuples(st.sampled_from(["clear", "skip", "back", "first"]), st.none()),
)


@given(acts=st.lists(ACTS, max_size=25), undone=st.integers(1, 25))
@hypothesis.settings(max_examples=20, suppress_health_check=list(hypothesis.HealthCheck))
def test_undo_goes_back_through_every_act_in_memory_and_on_disk(
    acts: list[tuple[str, Any]], undone: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    one = sheet(tmp_path_factory.mktemp("undo") / "a.csv")

    def whole(of: Sheet) -> list[Any]:
        return [of.given(item) for item in of.items]

    states = [whole(one)]
    places = []
    for act, value in acts:
        if one.current is None and act == "give":
            continue
        before = one.place
        getattr(one, act)(*([] if value is None else [value]))
        if whole(one) != states[-1]:
            states.append(whole(one))
            places.append(before)
    for _ in range(min(undone, len(places))):
        states.pop()
        assert one.undo()
        assert whole(one) == states[-1]
        assert one.place == places.pop(), "it goes where the act was made"
        assert whole(sheet(one.path)) == states[-1], "the file says the same"
    assert one.can_undo == (len(states) > 1)
    if len(states) == 1:
        assert not one.undo()
        assert whole(one) == [NOTHING] * 4


def judged(notebook: str) -> Measurement:
    """Answers that two judges judged, as the pages about judges keep them."""
    names = ["a1", "a2", "a3"]
    rows = [(judge, name) for judge in ("one", "two") for name in names]
    metric, table = (
        ("show_decision", "decisions") if notebook == "tier_judge_pipeline" else ("faithfulness_rating", "answers")
    )
    who = "system" if table == "decisions" else "judge"
    kept = pd.DataFrame([(j, n, f"What of {n}?", f"Answer {n}.", ["A passage."]) for j, n in rows],
                        columns=[who, "sample", "question", "answer", "contexts"])  # fmt: skip
    facts = {"describes_decisions": True} if table == "decisions" else {"describes": "judges"}
    return Measurement(
        notebook=notebook,
        facts={"seed": 0, "level": 0.95, **facts},
        scores=pd.DataFrame([(j, metric, n, 1.0, "ok", "", j) for j, n in rows], columns=list(SCORE_COLUMNS)),
        extra={table: kept},
    )


@pytest.mark.parametrize("notebook", ["tier_judge", "tier_judge_pipeline"])
def test_an_answer_that_several_judges_judged_is_labelled_once_for_all_of_them(tmp_path: Path, notebook: str) -> None:
    made = judged(notebook)
    metric = made.scores["metric"].iloc[0]
    found = items(made, metric)
    assert sorted(item.id for item in found) == ["a1", "a2", "a3"]
    assert {item.system for item in found} == {""}
    assert found[0].contexts == ("A passage.",)
    one = Sheet(found, scale_of(metric), "anna", tmp_path / "a.csv")
    for _ in found:
        one.give(one.scale[0])
    people = {
        each.system: each.estimate.value
        for each in tiers.corrected(made, tmp_path / "a.csv").placed
        if each.where == {"mean": "people"}
    }
    assert people == {"one": one.scale[0], "two": one.scale[0]}


def two_people(folder: Path, made: Measurement) -> None:
    """Anna labels eight answers, Boris the same ones and three of them otherwise."""
    for annotator, given_ in (("anna", [0, 1, 2, 3, 4, 0, 2, 4]), ("boris", [0, 1, 2, 3, 4, 4, 3, 1])):
        panel = label(made, "faithfulness", annotator, count=8).panel
        assert panel.state["item"]["chosen"] is None, "nobody sees another's labels"
        for choice in given_:
            give(panel, choice, f"{annotator} says {choice}")


def test_grades_of_two_people_have_the_ordinal_alpha_and_shares_the_interval_one(project: Path) -> None:
    """Ratings from 1 to 5 are ranks; equal steps of a share are numbers. The sentence says which."""
    for metric, scale in (("faithfulness_rating", "ordinal"), ("faithfulness", "interval")):
        made = replace(measurement(questions=8), scores=measurement(questions=8).scores.assign(metric=metric))
        for annotator, given_ in (("anna", [0, 1, 4, 3, 4, 0, 4, 4]), ("boris", [0, 4, 4, 3, 4, 4, 3, 1])):
            panel = label(made, metric, annotator, count=8).panel
            for choice in given_:
                give(panel, choice)
        found = agreement(made, metric, language="en")
        rows = [[one.value for one in found.of(item)] for item in found.shared]
        values = {name: stats.krippendorff_alpha(rows, scale=name).value for name in ("ordinal", "interval")}  # type: ignore[arg-type]
        assert abs(values["ordinal"] - values["interval"]) > 0.01
        assert found.alpha.value == pytest.approx(values[scale])
        assert found.scale == scale
        assert f"Krippendorff’s α ({scale} scale) of anna and boris" in found.sentences()[0]


def test_two_annotators_settle_what_differs_and_the_correction_takes_it(project: Path) -> None:
    made = measurement(questions=10)
    with pytest.raises(ValueError, match=r"labels of two annotators are to be compared, and there are those of 0"):
        settle(made, "faithfulness")
    two_people(project, made)
    folder = project / "labels"
    names = [folder / f"tier2_generation-faithfulness-{who}.csv" for who in ("anna", "boris")]
    first, second = (list(csv.DictReader(name.open(encoding="utf-8"))) for name in names)
    assert [row["id"] for row in first] == [row["id"] for row in second], "the same items in the same order"
    found = agreement(made, "faithfulness")
    assert found.annotators == ("anna", "boris")
    assert len(found.conflicts) == 3
    rows = [(float(a["value"]), float(b["value"])) for a, b in zip(first, second, strict=True)]
    alpha = stats.krippendorff_alpha(rows, scale="interval").value
    assert found.alpha.value == pytest.approx(alpha)
    assert found.alpha.low is not None
    assert found.alpha.low < alpha < found.alpha.high  # type: ignore[operator]
    assert f"{alpha:.3f} [" in repr(found)
    assert "Their labels of 3 answers differ." in repr(found)
    assert len(agreement(made, "faithfulness", tolerance=0.25).conflicts) == 2, "a quarter apart is near enough"
    table = found.to_pandas()
    assert (len(table), int(table["differs"].sum())) == (16, 6)

    panel = settle(made, "faithfulness", ["anna", "boris"]).panel
    shown = panel.state["item"]
    assert [one["who"] for one in shown["others"]] == ["anna", "boris"]
    assert shown["others"][0]["note"].startswith("anna says")
    assert any("Krippendorff" in text for text in panel.fixed["about"])
    for _ in range(3):
        give(panel, 2, "settled at noon")
    settled = folder / "tier2_generation-faithfulness-settled.csv"
    assert read(settled)["annotator"].tolist() == ["settled"] * 3
    assert settle(made, "faithfulness").state["done"] == 3, "it goes on where it stopped, and is no annotator itself"

    both = tiers.corrected(made, ", ".join(map(str, [*names, settled])))
    people = {e.system: e.estimate for e in both.placed if e.where == {"mean": "people"}}
    conflicts = {(item.id, item.system) for item in found.conflicts}
    for system, estimate in people.items():
        own = [
            0.5 if (a["id"], a["system"]) in conflicts else float(a["value"]) for a in first if a["system"] == system
        ]
        assert estimate.value == pytest.approx(sum(own) / len(own)), "what was settled counts alone, theirs elsewhere"
    labels = both.extra["corrected"]
    assert set(labels["annotators"]) == {2}, "what was settled is nobody's own"


def test_what_cannot_be_settled_says_what_is_missing(project: Path) -> None:
    made = measurement(questions=10)
    give(label(made, "faithfulness", "anna").panel, 1)
    with pytest.raises(ValueError, match=r"there are those of 1 on faithfulness in labels/: rb\.label"):
        settle(made, "faithfulness")
    with pytest.raises(ValueError, match=r"there is no file tier2_generation-faithfulness-boris\.csv"):
        agreement(made, "faithfulness", ["anna", "boris"])
    other = label(made, "faithfulness", "boris").panel
    other.receive({"act": "skip", "code": code_of(other)})
    give(other, 1)
    with pytest.raises(ValueError, match="no answer of tier2_generation has labels by two annotators"):
        agreement(made, "faithfulness")

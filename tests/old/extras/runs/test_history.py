"""Runs over time: order, stretches of one data set, marks of what changed, values that stand alone."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragbench.old.extras.runs.views  # noqa: F401 - its views are asked for by name
from ragbench.old.core.measurement import Measurement
from ragbench.old.extras.runs.history import history, of_projects, rows
from ragbench.old.store.run_records import RunPart, RunRecord, RunValue
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.views import Page
from tests.old.views.measurements import measurement

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def run(name: str, day: int | None, value: float, *, data: str = "d1", unit: str = "chunk", **more: Any) -> RunRecord:
    """A run of one notebook with mrr and ndcg@10 of one system."""
    started = None if day is None else START + datetime.timedelta(days=day)
    values = tuple(
        RunValue("tier1", "s", metric, value, value - 0.1, value + 0.1, n=50, bounds=(0.0, 1.0), unit=unit).checked()
        for metric in ("ndcg@10", "mrr")
    )
    part = RunPart("tier1", data_hash=data, unit=unit, facts={"primary": "mrr"})
    return RunRecord(name, started, parts=(part,), values=values, **more)


def test_runs_stand_in_the_order_of_time_and_those_without_a_date_come_first() -> None:
    made = history([run("c", 2, 0.5), run("a", 1, 0.4), run("b", None, 0.3)])
    points = made.extra["points"]
    assert list(points["run"]) == ["b", "a", "c"]
    assert list(points["metric"]) == ["mrr"] * 3  # the primary one
    assert list(points["place"]) == [0, 1, 2]
    assert list(history([run("a", 1, 0.4)], metrics=["ndcg@10", "mrr"]).extra["points"]["metric"]) == ["ndcg@10", "mrr"]


def test_a_point_has_its_number_and_its_own_counts() -> None:
    alone = replace(run("b", 2, 0.5), values=(RunValue("tier1", "s", "mrr", 0.5, None, None).checked(),))
    first, second = rows(history([run("a", 1, 0.4), alone]))
    assert (first["run"], first["system"], first["value"], first["low"], first["n"]) == ("a", "s", 0.4, 0.4 - 0.1, 50)
    assert second["low"] is None
    assert second["n"] != second["n"], "nobody says of how many"
    assert {"place", "started", "stretch", "level", "method"} < set(first)


@pytest.mark.parametrize(("language", "words"), [("en", "by the judge lexical, a stand-in"),
                                                 ("ru", "по судье lexical, автономному заменителю")])  # fmt: skip
def test_values_that_an_offline_judge_alone_made_name_it(language: str, words: str) -> None:
    offline = {"primary": "mrr", "judged": ["mrr"], "judges": [{"name": "lexical", "stand_in": True}]}
    runs = [run(name, day, 0.4) for day, name in enumerate("ab")]
    judged = [replace(one, parts=(replace(one.parts[0], facts=offline),)) for one in runs]
    made = history(judged, metrics=["mrr", "ndcg@10"])
    assert {(one["metric"], one["judged_by"]) for one in rows(made)} == {("mrr", "lexical"), ("ndcg@10", "")}
    html = str(Page(made, language=language).view("history").html())
    assert html.count(words) == 2, "above its panel and above its values"
    mixed = history([judged[0], runs[1]])
    assert words not in str(Page(mixed, language=language).view("history").html())
    facts = {**offline, "baseline": "a"}
    assert words in Page(measurement(("a", "b"), ("mrr",), 20, facts=facts), language=language).view("across").html()


def test_other_data_and_other_units_begin_a_stretch() -> None:
    runs = [run("a", 1, 0.4), run("b", 2, 0.5), run("c", 3, 0.5, data="d2"), run("d", 4, 0.5, data="d2", unit="url")]
    assert list(history(runs).extra["points"]["stretch"]) == [0, 0, 1, 2]


def test_changes_stand_before_the_run_they_came_with() -> None:
    one = run("a", 1, 0.4, identities={"code": {"commit": "x"}, "parameters": {"tier1.k": "1"}})
    two = run("b", 2, 0.4, identities={"code": {"commit": "y"}, "parameters": {"tier1.k": "2"}})
    changes = history([two, one]).extra["changes"].to_dict("records")
    found = [(one["section"], one["place"], one["kind"], one["name"], one["before"], one["after"]) for one in changes]
    assert found == [(0, 1, "parameters", "k (tier1)", "1", "2"), (0, 1, "code", "commit", "x", "y")]


def test_projects_and_data_sets_have_sections_of_their_own(tmp_path: Path) -> None:
    def made(name: str, day: int, project: str, dataset: str) -> RunRecord:
        one = run(name, day, 0.4, folder=tmp_path / project / "reports" / name)
        return replace(one, parts=(replace(one.parts[0], dataset=dataset),))

    for project in ("one", "two"):
        (tmp_path / project).mkdir()
        (tmp_path / project / "ragbench.toml").touch()
    runs = [made("a", 1, "one", "x"), made("b", 2, "two", "x"), made("c", 3, "one", "y"), made("d", 4, "one", "x")]
    found = history(runs)
    sections = [(one["project"], one["dataset"], one["runs"]) for one in found.facts["sections"]]
    assert sections == [("one", "x", ["a", "d"]), ("one", "y", ["c"]), ("two", "x", ["b"])]
    points = found.extra["points"]
    assert list(zip(points["run"], points["section"], points["place"], strict=True)) == [
        ("a", 0, 0), ("d", 0, 1), ("c", 1, 0), ("b", 2, 0),
    ]  # fmt: skip
    html = Page(found).view("history").html()
    assert "one · x" in html
    assert str(tmp_path) not in html
    assert [one.id for one in of_projects(runs, ["two"])] == ["b"]
    with pytest.raises(BenchError, match="no run is of the project 'tow'; did you mean 'two'"):
        of_projects(runs, ["tow"])
    alone = history([runs[0], replace(run("e", 5, 0.4), parts=(replace(runs[0].parts[0]),))])
    assert [one["runs"] for one in alone.facts["sections"]] == [["a", "e"]], "loaded ones go with the only project"


def test_only_values_on_the_same_data_are_joined() -> None:
    runs = [run("a", 1, 0.4), run("b", 2, 0.5), run("c", 3, 0.5, data="d2"), run("d", 4, 1.0923, data="d2")]
    html = Page(history(runs)).view("history").html()
    drawing = html.split('<svg class="rb-over-runs"')[1].split("</svg>")[0]
    assert drawing.count('<line class="rb-s') == 1, "from a to b; c is on other data, d outside of its scale"
    assert drawing.count("<text") == 4
    assert drawing.count("✕") == 1


def test_what_is_not_comparable_stays_and_says_why() -> None:
    made = history([run("a", 1, 0.4), run("b", 2, 1.0923)])
    assert list(made.extra["points"]["comparable"]) == [True, False]
    html = Page(made).view("history").html()
    assert "not comparable: a value lies outside of its scale" in html
    assert "1.092" in html
    own = replace(run("b", 2, 0.5).values[1], comparable=False, reason="written down by hand <b>")
    html = Page(history([replace(run("b", 2, 0.5), values=(own,))])).view("history").html()
    assert "not comparable: written down by hand &lt;b&gt;" in html


def test_only_what_is_asked_for_is_shown() -> None:
    with pytest.raises(BenchError, match="no run has recall@1, s"):
        history([run("a", 1, 0.4)], metrics=["recall@1"], systems=["s"])
    with pytest.raises(BenchError, match="no run is kept yet"):
        history([])


def test_a_history_is_drawn_the_same_from_what_was_stored(tmp_path: Any) -> None:
    made = history([run("a", None, 0.4), run("b", 2, 1.0923), run("c", 3, 0.5, data="d2")])
    made.save(tmp_path)
    for language in ("en", "ru"):
        before, after = (
            Page(one, language=language).view("history").html() for one in (made, Measurement.load(tmp_path))
        )
        assert before == after


def cut(name: str, day: int, value: float, label: str, **facts: Any) -> RunRecord:
    """A run of a notebook that ranked passages, with one number under this label."""
    part = RunPart("tier1", data_hash="d1", unit="chunk", facts={"primary": label, **facts})
    own = RunValue("tier1", "s", label, value, value - 0.1, value + 0.1, n=50, bounds=(0.0, 1.0), unit="chunk")
    return RunRecord(name, START + datetime.timedelta(days=day), parts=(part,), values=(own,))


@pytest.mark.parametrize("asked", [(), ("mrr",), ("mrr@10",)])
def test_what_was_cut_without_saying_so_goes_on_under_its_depth(asked: tuple[str, ...]) -> None:
    """Another tool calls mrr what is mrr@10: one line, not two."""
    made = history([cut("a", 1, 0.4, "mrr", k=10), cut("b", 2, 0.5, "mrr@10", k=10)], metrics=asked)
    points = made.extra["points"]
    assert list(points["metric"]) == ["mrr@10", "mrr@10"]
    assert list(points["stretch"]) == [0, 0]


def test_a_depth_that_nobody_knows_is_not_made_up() -> None:
    made = history([cut("a", 1, 0.4, "mrr"), cut("b", 2, 0.5, "mrr@10", k=10)], metrics=["mrr"])
    assert list(made.extra["points"]["metric"]) == ["mrr", "mrr@10"]


def test_another_scale_begins_a_stretch() -> None:
    old, new = cut("a", 1, 0.4, "avg_faithfulness"), cut("b", 2, 4.4, "avg_faithfulness")
    moved = replace(new, values=(replace(new.values[0], bounds=(1.0, 5.0)),))
    assert list(history([old, moved]).extra["points"]["stretch"]) == [0, 1]


def test_the_specification_s_names_find_the_numbers() -> None:
    made = history([cut("a", 1, 0.4, "rouge1_f")], metrics=["avg_rouge1_f"])
    assert list(made.extra["points"]["metric"]) == ["rouge1_f"]

"""Faults planted in a real run, with a real server as writer, judge and door: each is found, none is made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Comparison
from ragbench.old.tiers import BenchError
from tests.old.llm.chat_server import ChatServer
from tests.old.tiers import blame_project
from tests.old.views.measurements import placed

PART_OF = {
    "healthy": "good", "missing": "missing", "lost": "not_retrieved", "low": "too_low", "ignored": "not_used",
    "refused": "not_used", "claims": "beyond", "withheld": "withheld", "none": "right_refusal", "invented": "invented",
}  # fmt: skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=blame_project.reply).running() as running:
        yield running


@pytest.fixture
def project(
    tmp_path: Path, database_folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(blame_project.make(tmp_path, database_folder, server.url)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    yield tmp_path
    settings.load.cache_clear()


def run(**more: object) -> Measurement:
    fixed = {"judges": "rater", "metrics": "e2e_score", "production_judge": "door", "resamples": 1000}
    return tiers.tier3_end_to_end(**{**fixed, "contexts": blame_project.READ, "timed_questions": 0, **more})  # type: ignore[arg-type]


@pytest.mark.usefixtures("project")
def test_the_waterfall_finds_every_planted_fault() -> None:
    found = run(systems="planted, repaired")
    kinds = blame_project.names()
    table = found.extra["blame"]
    planted = table[table["system"] == "planted"]
    assert {row.sample: row.part for row in planted.itertuples()} == {
        name: PART_OF[kind] for name, kind in kinds.items()
    }
    assert Counter(planted["part"]) == blame_project.EXPECTED
    causes = Counter(planted[planted["part"] == "not_used"]["cause"])
    assert causes == {"wrong_and_beyond": 15, "refused": 5}
    assert set(planted[planted["part"] == "too_low"]["rank"]) == {blame_project.DEEP}
    shares = placed(found.estimates_by("part")).query("system == 'planted'").set_index("part")
    answerable = sum(n for kind, n in blame_project.planted().items() if kind not in ("none", "invented"))
    for part, count in blame_project.EXPECTED.items():
        n = answerable if part not in ("right_refusal", "invented") else 12
        assert shares.loc[part, "value"] * n == pytest.approx(count)
        assert shares.loc[part, "n"] == n
        assert shares.loc[part, "low"] < count / n < shares.loc[part, "high"]
    assert shares["n_unmeasured"].sum() == 0
    check_repaired(found, answerable)
    check_perfect_parts(found, answerable)
    check_page(found)


def check_repaired(found: Measurement, answerable: int) -> None:
    """The second system ranks right what the first one ranks at 8; nothing else differs."""
    table = found.extra["blame"]
    wide = table.pivot_table(index="sample", columns="system", values="part", aggfunc="first")
    moved = wide[wide["planted"] != wide["repaired"]]
    assert set(zip(moved["planted"], moved["repaired"], strict=True)) == {("too_low", "good")}
    assert len(moved) == 30
    against = placed(found.comparisons_by("part")).set_index("part")
    assert against.loc["too_low", "verdict"] == "better"
    assert against.loc["good", "difference"] == pytest.approx(30 / answerable)
    assert against.loc["beyond", "verdict"] == "not shown"


GAINS = {"retrieval": 50, "ranking": 30, "generator": 50, "judge": 30}
"""How many of the planted questions fail at that part alone."""


def gains_of(found: Measurement) -> dict[tuple[str, str, str], Comparison]:
    """By system, perfect part and measure."""
    known = found.comparisons_by("perfect")
    return {(one.comparison.challenger, str(one.where["perfect"]), one.metric): one.comparison for one in known}


def check_perfect_parts(found: Measurement, answerable: int) -> None:
    """Gains are what was planted: one perfect part helps the questions that fail there alone."""
    rows = found.extra["blame_counterfactuals"].set_index(["system", "part", "measure"])
    gains = gains_of(found)
    for part, gain in GAINS.items():
        one = gains["planted", part, "good"]
        assert rows.loc[("planted", part, "good"), "actual"] == pytest.approx(50 / answerable)
        assert one.difference == pytest.approx(gain / answerable), part
        assert one.low < gain / answerable < one.high
        assert one.n == answerable
    # 50 answers go from 1 to 5
    assert gains["planted", "retrieval", "e2e_score"].difference == pytest.approx(50 * 4 / answerable)
    assert gains["planted", "ranking", "e2e_score"].difference == pytest.approx(30 * 4 / answerable)
    assert ("planted", "judge", "e2e_score") not in {*rows.index, *gains}
    assert gains["repaired", "ranking", "good"].difference == 0
    assert rows.loc[("repaired", "ranking", "good"), "changed"] == 0


def check_page(found: Measurement) -> None:
    """Every view says what the tables hold, in both languages, and twice the same."""
    for language in ("en", "ru"):
        page = views.Page(found, language=language)
        for name in ("blame", "blame_table", "blame_changes", "perfect_parts", "blame_questions"):
            html = page.view(name).html()
            assert html == views.Page(found, language=language).view(name).html()
            assert len(html) > 500
    page = views.Page(found)
    assert "50 of 210 questions got a good answer" in views.blame.waterfall(page).html()
    assert "Napoleon" in views.blame.questions(page, 3).html()
    assert "the first relevant passage is at rank 8, 5 were read" in views.blame.questions(page, 3).html()


@pytest.mark.usefixtures("project")
def test_a_failing_judge_leaves_a_bar_of_its_own() -> None:
    found = run(systems="planted", judges="fragile", perfect_parts=False)
    table = found.extra["blame"].set_index("sample")
    lost = {name for name in blame_project.names() if name.startswith("healthy-1")}
    assert len(lost) == 11
    assert set(table[table["part"] == "unmeasured"].index) == lost
    assert set(table.loc[list(lost), "cause"]) == {"right"}
    shares = placed(found.estimates_by("part")).set_index("part")
    assert shares.loc["good", "value"] == pytest.approx((50 - 11) / (210 - 11))
    assert shares.loc["good", "n"] == 210 - 11
    assert shares.loc["good", "n_unmeasured"] == 11
    assert shares.loc["good", "floor"] == pytest.approx(39 / 210)
    assert shares.loc["good", "ceiling"] == pytest.approx(50 / 210)
    assert (len(found.extra["blame_counterfactuals"]), gains_of(found)) == (0, {})
    page = views.Page(found)
    assert "11 questions were not measured" in views.blame.waterfall(page).html()
    assert "whether it is right 11" in views.blame.table(page).html()


@pytest.mark.usefixtures("project")
def test_without_a_production_judge_nothing_is_withheld() -> None:
    found = run(systems="planted", production_judge="", perfect_parts=False)
    counts = Counter(found.extra["blame"]["part"])
    assert counts["withheld"] == 0
    assert counts["good"] == 80
    html = views.blame.waterfall(views.Page(found)).html()
    assert "No production judge was named" in html
    assert "not shown" not in html


@pytest.mark.usefixtures("project")
def test_logged_decisions_are_of_one_system(tmp_path: Path) -> None:
    rows = [f'{{"id": "{name}", "show": "{"no" if kind == "withheld" else "yes"}"}}' for name, kind in
            blame_project.names().items()]  # fmt: skip
    (tmp_path / "door.jsonl").write_text("\n".join(rows), encoding="utf-8")
    found = run(systems="planted", production_judge="door.jsonl")
    assert Counter(found.extra["blame"]["part"]) == blame_project.EXPECTED
    perfect = found.extra["blame_counterfactuals"].set_index(["part", "measure"])
    assert perfect.loc[("judge", "good")]["changed"] == 30
    for part, gain in GAINS.items():  # answers that are written anew are none that the log saw: taken as shown
        one = gains_of(found)["planted", part, "good"]
        assert (one.n_dropped, round(one.difference * one.n, 6)) == (0, gain), part
    with pytest.raises(BenchError, match="logged decisions are of the answers of one system"):
        run(systems="planted, repaired", production_judge="door.jsonl")


@pytest.mark.usefixtures("project")
def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(BenchError, match="goes from 1 to 5"):
        run(right_from=7)
    with pytest.raises(BenchError, match="there is no judge 'nobody'"):
        run(production_judge="nobody")


@pytest.mark.usefixtures("project")
def test_a_stricter_standard_moves_the_blame() -> None:
    found = run(systems="planted", right_from=5, faithful_from=1.5, perfect_parts=False)
    counts = Counter(found.extra["blame"]["part"])
    assert counts["beyond"] == 0
    assert counts["good"] == 80
    assert isinstance(found.extra["blame"], pd.DataFrame)

"""A page explored: parts of it, two of its systems, one question, data frames, and what is chosen in its table."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import stats, tiers, views
from ragbench.old.core import settings
from ragbench.old.core.measurement import Finding, Measurement, NamedEstimate
from ragbench.old.views import VIEWS, Page
from ragbench.old.views.items import QuestionTable, parts
from tests.old.small_project import NOTEBOOKS, enter, write_lines
from tests.old.views.measurements import measurement
from tests.old.views.test_items import decided, talked, tried, used

KINDS = ("colloquial", "well_formed")
RANKS = {"a": (1, 2, 4, 1), "b": (1, 1, 2, 1), "c": (2, 1, 1, 4)}
"""The rank of the better of two relevant passages, by system, for four questions in turn; the other is never found."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, database_folder: Path) -> Measurement:
    """Forty questions of two kinds by three logged systems, measured and kept as a run keeps it."""
    folder = tmp_path_factory.mktemp("explored")
    names = [f"q{place:02}" for place in range(40)]
    data = folder / "data" / "desk"
    data.mkdir(parents=True)
    (data / "dataset.toml").write_text('title = "Desk"\nlicence = "CC0"\nlanguages = ["en"]\n')
    write_lines(
        data / "chunks.en.jsonl", [{"id": f"{q}-{n}", "text": f"Passage {n} of {q}."} for q in names for n in range(5)]
    )
    questions = [
        {"id": q, "text": f"Where is {q}?", "relevant": {f"{q}-0": 2 - place % 2, f"{q}-4": 1},
         "kind": KINDS[place % 2], "cluster": f"g{place // 3}"}
        for place, q in enumerate(names)
    ]  # fmt: skip
    write_lines(data / "questions.en.jsonl", questions)
    tables = f'dataset = "desk"\nbaseline = "a"\n[database]\nfolder = "{database_folder}"\n'
    for system, ranks in RANKS.items():
        logged = []
        for place, q in enumerate(names):
            found = [f"{q}-{n}" for n in (1, 2, 3)]
            found.insert(ranks[place % 4] - 1, f"{q}-0")
            logged.append({"id": q, "retrieved": found})
        write_lines(folder / f"{system}.jsonl", logged)
        tables += f'[systems.{system}]\nresults = "{system}.jsonl"\n'
    with pytest.MonkeyPatch.context() as patch:
        enter(folder, patch, tables)
        found = tiers.tier1_retrieval(metrics="mrr, ndcg@3, hit_rate@1", k=4, resamples=300, repeats=1)
    settings.load.cache_clear()
    found.save(folder / "kept")
    return Measurement.load(folder / "kept")


@pytest.fixture
def page(made: Measurement) -> Page:
    return Page(made)


def said(found: Iterable[Finding]) -> dict[Any, str]:
    """Findings in full, by their place."""
    return {
        (
            one.system if isinstance(one, NamedEstimate) else (one.comparison.baseline, one.comparison.challenger),
            one.metric,
            json.dumps(dict(one.where), sort_keys=True),
        ): repr(one.row())
        for one in found
    }


def assert_the_same(part: Measurement, whole: Measurement) -> None:
    """All that is made anew of every question is what was measured, to the last digit; what is missing is named."""
    assert said(part.estimates) == said(whole.estimates)
    assert said(part.comparisons) == said(whole.comparisons)
    anew, before = said(part.placed), said(whole.placed)
    assert anew.items() <= before.items()
    assert bool(before.keys() - anew.keys()) == bool(part.facts["part"]["left_out"])


def test_the_part_of_all_questions_is_the_page_itself(page: Page) -> None:
    whole = page.measurement
    part = page.subset(list(whole.questions["sample"])).measurement
    assert_the_same(part, whole)
    assert part.facts["part"]["left_out"] == []
    assert {"k", "slice"} <= {key for one in whole.placed for key in one.where}, "curves and slices are among them"


def test_a_part_has_means_of_its_own(page: Page) -> None:
    part = page.subset("kind == 'colloquial'")
    means = {one.system: one.estimate for one in part.measurement.estimates if one.metric == "mrr@4"}
    assert {name: one.value for name, one in means.items()} == pytest.approx({"a": 0.625, "b": 0.75, "c": 0.75})
    assert {one.n for one in means.values()} == {20}
    found = {(c.metric, c.comparison.challenger): c.comparison for c in part.measurement.comparisons}
    pair = found["mrr@4", "c"]
    assert pair.difference == pytest.approx(0.125)
    first, second = ([1 / RANKS[name][place] for place in (0, 2)] * 10 for name in "ac")
    clusters = list(page.measurement.questions.query("kind == 'colloquial'")["cluster"])
    alone = stats.compare(first, second, clusters=clusters, resamples=300)
    assert (pair.p, pair.clusters) == (alone.p, alone.clusters)
    assert "20 of 40 questions (kind == &#39;colloquial&#39;)" in views.comparison.answer(part).html()
    assert "A part of what was measured: 20 of 40" in repr(part)
    assert part.measurement.facts["n_questions"] == 20


def test_graded_gains_reach_the_curves_of_a_part(page: Page) -> None:
    [one] = [
        e.estimate.value
        for e in page.subset(["q00"]).measurement.estimates_by("k")
        if (e.system, e.metric, e.where["k"]) == ("b", "ndcg", 2)
    ]
    assert one == pytest.approx(2 / (2 + 1 / math.log2(3)))


def test_questions_are_chosen_in_many_ways(page: Page) -> None:
    wanted = ["q03", "q07"]
    frame, long = page.to_pandas("wide"), page.to_pandas()
    ways: list[Any] = [
        wanted, frame.loc[wanted], frame.index.isin(wanted) & pd.Series(True, frame.index), pd.Series(wanted),
        long[long["sample"].isin(wanted)], pd.Series([name in wanted for name in frame.index]),
        "sample in ['q03', 'q07']",
    ]  # fmt: skip
    for way in ways:
        assert list(page.subset(way).measurement.questions["sample"]) == wanted


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("knd == 'colloquial'", "did you mean 'kind'.*columns are sample, text, reference, kind"),
        ("kind == 'coloquial'", "leaves no question of 40; kind is one of colloquial, well_formed"),
        ("kind", "neither true nor false"),
        ("kind ==", "is no condition"),
        (["q0"], "there is no question 'q0'; the nearest are q0"),
        ([], "no question is chosen; there are 40, q00"),
        (pd.Series([True]), "1 values for 40 questions"),
    ],
)
def test_what_names_no_question_is_refused(page: Page, which: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        page.subset(which)


def test_two_systems_have_a_family_of_their_own(page: Page) -> None:
    pair = page.compare("b", "c")
    assert {(c.comparison.baseline, c.comparison.challenger) for c in pair.measurement.comparisons} == {("b", "c")}
    assert {c.comparison.family for c in pair.measurement.comparisons} == {"primary: 1, max-T", "secondary: 2, max-T"}
    assert pair.material.systems == ("b", "c")
    first = next(c.comparison for c in pair.measurement.comparisons if c.metric == "mrr@4")
    alone = stats.compare(page, "mrr@4", "b", "c")
    assert (first.difference, first.p, first.low) == (alone.difference, alone.p, alone.low)
    whole = said(page.measurement.estimates)
    assert said(pair.measurement.estimates).items() <= whole.items()
    assert "c against b alone" in repr(pair)
    with pytest.raises(ValueError, match="no system 'bb'; did you mean 'b'"):
        page.compare("bb", "c")
    with pytest.raises(ValueError, match="with itself"):
        page.compare("b", "b")


def test_a_comparison_of_a_page_keeps_names_and_clusters(page: Page) -> None:
    one = stats.compare(page, "mrr@4", "a", "b")
    assert (one.metric, one.baseline, one.challenger, one.clusters, one.n) == ("mrr@4", "a", "b", 14, 40)
    assert stats.compare(page, "mrr", "a", "b") == one, "by any name of the metric"
    assert stats.compare(page, "mrr@4", "a", "b", level=0.9).level == 0.9
    with pytest.raises(ValueError, match="no metric 'mmr@4'; did you mean 'mrr@4'"):
        stats.compare(page, "mmr@4", "a", "b")
    with pytest.raises(TypeError, match="two arrays"):
        stats.compare([1.0], [2.0], "a")  # type: ignore[call-overload]


def test_data_frames_hold_values_and_texts(page: Page) -> None:
    long, wide = page.to_pandas(), page.to_pandas(form="wide")
    scores = page.measurement.scores
    assert len(long) == len(scores)
    assert list(long)[:7] == list(scores)
    assert long["text"].iloc[0] == "Where is q00?"
    assert list(wide.index) == list(page.measurement.questions["sample"])
    assert wide["a mrr@4"].iloc[:4].tolist() == [1, 1 / 2, 1 / 4, 1], "not rounded"
    assert set(wide["kind"]) == set(KINDS)
    with pytest.raises(ValueError, match="'long' or 'wide'"):
        page.to_pandas("flat")  # type: ignore[arg-type]


def test_a_question_is_explained_side_by_side(page: Page) -> None:
    found = page.explain("q02")
    lines = str(found).splitlines()
    assert repr(found).splitlines() == [*lines[:9], f"… {len(lines) - 9} more lines; print() shows all"]
    assert lines[0] == "Where is q02?"
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("== ")] == ["== a", "== b", "== c"]
    assert "    4. Passage 0 of q02." in lines
    assert any("relevant, gain 2" in line for line in lines)
    assert found._repr_html_().count('class="rb-side"') == 3
    with pytest.raises(ValueError, match="no item 'q2'; the nearest are q02, q12"):
        page.explain("q2")


@pytest.mark.parametrize("make", [decided, tried, talked, used])
def test_pages_of_other_items_are_explained_and_refuse_parts(make: Any) -> None:
    page = Page(make())
    for name in page.to_pandas("wide").index:
        found = page.explain(name)
        assert repr(found).splitlines()[0]
        assert "rb-explained" in found._repr_html_()
    for which in ("sample == 'q1'", []):
        with pytest.raises(tiers.BenchError, match="parts can be taken of pages"):
            page.subset(which)


def asked(table: QuestionTable, name: str) -> Any:
    """What the table's script gets when it asks the kernel for a part."""
    sent: list[Any] = []
    table.send = lambda content, buffers=None: sent.append((content, buffers))
    message = {"method": "custom", "content": {"part": f"of-page-1/{name}"}}
    table._handle_msg({"content": {"data": message}, "buffers": []})
    [(content, buffers)] = sent
    assert content == {"part": f"of-page-1/{name}"}
    return json.loads(zlib.decompress(buffers[0])) if buffers else None


@pytest.mark.parametrize("make", [lambda: measurement(questions=450), decided, tried, talked, used])
def test_the_widget_gives_the_parts_of_a_page(make: Any) -> None:
    page = Page(make())
    table, known = page.questions(), dict(parts(page.material))
    for name, value in known.items():
        assert asked(table, name) == json.loads(json.dumps(value))
    assert asked(table, "no-such") is None
    assert asked(table, "details-x") is None
    assert "rb-table" in table.markup
    assert len(table.filtered) == len(table.to_pandas()) == len(known["table"]["ids"])
    assert not len(table.selected)


def test_what_is_chosen_in_the_table_is_a_data_frame(page: Page) -> None:
    table = page.questions()
    state = {"chosen": np.array([3, 1, 99, -1], "<i4"), "shown": np.array([7, 1], "<i4")}
    table.set_state({name: memoryview(rows.tobytes()) for name, rows in state.items()})
    assert list(table.selected.index) == ["q03", "q01"]
    assert list(table.filtered.index) == ["q07", "q01"]
    frame = table.to_pandas()
    assert list(frame.index[frame["selected"]]) == ["q01", "q03"]
    assert list(frame.index[frame["filtered"]]) == ["q01", "q07"]
    assert list(page.subset(table.selected).measurement.questions["sample"]) == ["q01", "q03"]


def test_a_page_without_questions_says_so(page: Page) -> None:
    with pytest.raises(ValueError, match="made of no single questions"):
        Page(replace(page.measurement, questions=page.measurement.questions.iloc[:0])).questions()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("tier1_retrieval", []),
        ("tier2_generation", []),
        ("tier3_end_to_end", []),
        ("rag_metrics", []),
        ("real_users", ["habits"]),
    ],
)
def test_the_part_of_all_questions_is_the_page_of_every_tier(name: str, left_out: list[str], campus: Path) -> None:
    whole = getattr(tiers, name)(dataset="campus:en", resamples=300)
    whole.save(campus / name)
    kept = Measurement.load(campus / name)
    page = Page(kept)
    part = page.subset(list(kept.questions["sample"])).measurement
    assert_the_same(part, kept)
    assert part.facts["part"]["left_out"] == left_out
    if not left_out:
        assert said(part.placed) == said(kept.placed)
        counts = {key: value for key, value in part.facts.items() if key in ("n_questions", "n_clusters", "unanswered")}
        assert counts.items() <= kept.facts.items()
    half = page.subset(list(kept.questions["sample"])[::2])
    for view in VIEWS:
        half.view(view).html(frozenset(VIEWS))
    assert 0 < half.measurement.facts["n_questions"] < kept.facts["n_questions"]


@pytest.fixture
def campus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_folder: Path) -> Path:
    """A project over the campus data with the systems that ragbench has without settings of one's own."""
    (tmp_path / "data").symlink_to(NOTEBOOKS.parent / "data")
    systems = '[systems.plain]\nembedder = "hashing"\n[systems.exact]\nembedder = "hashing"\nindex = "hnsw"\n'
    return enter(tmp_path, monkeypatch, f'[database]\nfolder = "{database_folder}"\n{systems}')


def test_a_table_that_is_made_anew_stands_as_the_last_one_of_its_page_did() -> None:
    page = Page(measurement(questions=20))
    first = page.questions()
    assert first.wish == ""
    first.wish, first.chosen = "outcome=lost&sort=worst", np.array([3, 5], "<i4").tobytes()
    again = page.questions()
    assert again.wish == "outcome=lost&sort=worst"
    assert again.selected.index.tolist() == page.questions().selected.index.tolist() == first.selected.index.tolist()
    assert Page(measurement(questions=20)).questions().wish == "", "another page begins anew"

"""What the parts of pages show: figures point by point, tables cell by cell, what is left away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragbench as rb
from ragbench.core.language import load_language
from ragbench.data import from_objects
from ragbench.report.figures import system_styles
from ragbench.views.comparison import forest_plot
from tests.tiers import answered
from tests.tiers.test_judges import LABELS, ROWS, Judge
from tests.tiers.test_sources import PASSAGES, own_and_first
from tests.tiers.test_sources import QUESTIONS as ASKED
from tests.tiers.test_tier0 import TRIANGLE
from tests.tiers.test_ux import DIALOGUES, HISTORY, embed

FEW = {"draws": 200}


def part(result: Any, title: str) -> Any:
    """The part of a page whose title begins so; None without."""
    return next((one for one in result.parts if str(one.title).startswith(title)), None)


def said(text: Any) -> str:
    """A text with plain blanks."""
    return str(text).replace("\N{NO-BREAK SPACE}", " ")


def rows(table: Any) -> list[list[str]]:
    """A table as lists of its cells, the headings of rows in front."""
    cells = zip(table.content.index, table.content.to_numpy().tolist(), strict=True)
    return [[said(cell) for cell in (heading, *row)] for heading, row in cells]


@pytest.mark.parametrize(
    ("names", "shifts", "height"),
    [("a", [0], 162), ("ab", [-0.175, 0.175], 192), ("abc", [-0.7 / 3, 0, 0.7 / 3], 222)],
)
def test_systems_stand_below_each_other_in_every_row(
    names: str, shifts: list[float], height: int
) -> None:
    import pandas as pd

    means = pd.DataFrame({"value": [0.5, 0.25], "low": [0.25, np.nan], "high": [1.0, np.nan]})
    texts = {name: ["x", "y"] for name in names}
    figure = forest_plot(
        dict.fromkeys(names, means), system_styles(names), texts, ["x", "y"], load_language("en")
    )
    for trace, shift in zip(figure.data, shifts, strict=True):
        assert list(trace.y) == pytest.approx([shift, 1 + shift])
        assert list(trace.x) == [0.5, 0.25]
        assert list(trace.error_x.array) == [0.5, 0]
        assert list(trace.error_x.arrayminus) == [0.25, 0]
        assert trace.error_x.width == 0  # no caps
    assert list(figure.layout.yaxis.tickvals) == [0, 1]
    assert figure.layout.height == height


DOCUMENTS = [
    {"id": "lib", "text": "The library opens at 8:00 on working days.", "url": "/lib"},
    {"id": "copy", "text": "the LIBRARY opens at 8:00, on working days", "url": "/old"},
    {"id": "ru", "text": "Повторная сдача экзамена проходит в феврале перед комиссией."},
]
QUESTIONS = [
    {"id": "q1", "question": "When does the library open?", "relevant": ["lib"]},
    {"id": "q2", "question": "How long is it?", "relevant": ["gone"], "reference": "It is long."},
    {"id": "q3", "question": "Who is the rector of it?", "answerable": False},
]


def test_a_data_set_in_counts_lengths_and_languages() -> None:
    result: Any = rb.dataset(QUESTIONS, DOCUMENTS)
    found = {row[0]: row[1:3] for row in rows(part(result, "What was looked for"))}
    assert found["a label names a passage that the data set does not have"] == ["1", "2"]
    assert sum(count == "1" for count, _ in found.values()) == 4
    text = said(result.parts[0])
    assert text.count(": 1 of ") == 4
    assert "Questions that can be answered: 2 of 3 (67 %); with a labelled passage: 2 of" in text
    texts = rows(part(result, "The texts behind the findings"))
    assert ["How long is it?", "gone"] in [row[1:] for row in texts]
    copied = next(row for row in texts if row[1].startswith("the LIBRARY"))
    assert copied[2] == "lib: The library opens at 8:00 on working days."
    assert part(result, "The texts behind the findings").note == ""
    table = rows(part(result, "All numbers"))
    assert [row[1:] for row in table if row[0] == "passages"] == [
        ["3", "8", "8", "8", "en 67 %, ru 33 %"]
    ]
    assert [row[1] for row in table] == ["3", "1", "3"]
    figure = part(result, "Words of half")
    # The median of 5, 4 and 6 words; of one answer; of three passages.
    assert figure.title.endswith("questions of the data set 5, reference answers 3, passages 8")
    [box] = figure.content.data
    assert list(box.q1) == [4, 3, 8]
    assert list(box.upperfence) == [6, 3, 8]
    assert figure.content.layout.height == 90 + 3 * 34
    assert "1 labelled ids are not in the base, such as gone" in str(part(result, "What was left"))


def test_a_data_set_of_passages_alone_and_many_findings() -> None:
    folder = Path("data/alone")
    folder.mkdir(parents=True)
    told = "Twice told. " + "x" * 149
    lines = (json.dumps({"id": f"p{n}", "text": told}) for n in range(103))
    (folder / "chunks.en.jsonl").write_text("\n".join(lines))
    result: Any = rb.dataset(dataset="alone")
    assert "Questions that can be answered: –; with a labelled passage: –." in str(result)
    assert part(result, "Every question") is None
    texts = part(result, "The texts behind the findings")
    assert len(texts.content) == 100
    assert texts.content.iloc[0, 0] == told[:160] + "…"
    assert texts.note.startswith("100 of 102 are listed")
    clean: Any = rb.dataset(QUESTIONS[:1], DOCUMENTS[:1])
    assert "Nothing was found that makes numbers look better" in str(clean)
    assert part(clean, "The texts behind the findings") is None
    assert part(clean, "What was left out") is None


def test_spaces_of_vectors_in_figures_and_numbers() -> None:
    options = {**FEW, "projected": 0}
    vectors = {"small": TRIANGLE, "wide": np.column_stack([TRIANGLE, TRIANGLE[:, ::-1]])}
    result: Any = rb.tier0(vectors=vectors, **options)
    figure = part(result, "Nearest neighbours").content
    nearest, pairs = figure.data[0], figure.data[1]
    # The nearest are at 3, 3 and 4; the area is 1.
    assert list(nearest.x) == [3, 3, 3.5, 4]
    assert list(nearest.y) == pytest.approx([0, 4 / 3, 2 / 3, 0])
    assert (nearest.yaxis, pairs.yaxis) == ("y", "y2")
    assert (figure.layout.yaxis.domain, figure.layout.yaxis2.domain) == ((0.56, 1), (0, 0.44))
    assert [(text.x, text.y) for text in figure.layout.annotations] == [(0, 1), (0, 0.44)]
    assert [trace.showlegend for trace in figure.data] == [True, False, True, False]
    assert said(part(result, "Nearest neighbours").title).endswith("small 83 %, wide 83 %")
    spectrum = part(result, "Dimensions that hold")
    assert spectrum.title.endswith("small 2 / 2, wide 2 / 4")
    assert spectrum.note.startswith("3 texts span at most 2 dimensions")
    assert spectrum.content.layout.xaxis.dtick == 1  # powers of ten
    marks = spectrum.content.data[-1]
    assert list(marks.x) == [2, 2]
    assert list(marks.y) == [0.95, 0.95]
    assert [trace.showlegend for trace in spectrum.content.data] == [True, True, False]
    table = part(result, "All numbers").content
    assert table.loc["total_samples", "small"] == "3"
    assert table.loc["avg_nn_distance", "small"].startswith("3.333 [")
    assert part(result, "The texts in") is None
    closest = part(result, "The closest texts").content
    assert closest.index.tolist() == ["small", "", "wide", ""]

    many = np.random.default_rng(0).normal(size=(30, 3))
    for listed in (24, 25):
        alone: Any = rb.tier0(vectors=many, listed=listed, **options)
        isolated = part(alone, "The most isolated texts")
        assert isolated.is_folded == (listed == 25)
        assert isolated.content.index.tolist() == list(range(listed))
    figure = part(alone, "Nearest neighbours")
    assert "vectors" not in figure.title
    assert not any(trace.showlegend for trace in figure.content.data)
    assert part(alone, "Dimensions that hold").note == ""
    square: Any = rb.tier0(vectors=many[:3], **options)
    assert part(square, "Dimensions that hold").note.startswith("3 texts span at most 2")


def test_a_picture_has_colours_for_the_most_frequent_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def draw(vectors: np.ndarray, n_axes: int, distance: str, seed: int) -> np.ndarray:
        return np.arange(len(vectors) * n_axes, dtype=float).reshape(-1, n_axes)

    monkeypatch.setattr("ragbench.tiers.tier0_embeddings.compute_umap", draw)
    documents = [
        # Of folder f0 eight texts, of f1 seven and so on; one text is cut at 80 letters.
        {"id": f"{n}-{m}", "text": f"{n} {m} " + "x" * 78, "url": f"https://x/f{n}/{m}"}
        for n in range(8)
        for m in range(8 - n)
    ]
    lengths: Any = lambda texts: [[1.0, n] for n in range(len(texts))]  # noqa: E731
    result: Any = rb.tier0(from_objects(None, documents), lengths, **FEW)
    flat, deep = (part(result, f"The texts in {n} dimensions") for n in (2, 3))
    # The legend is read the other way round.
    assert [trace.name for trace in flat.content.data] == [
        "all others", "f5", "f4", "f3", "f2", "f1", "f0"
    ]  # fmt: skip
    assert [len(trace.x) for trace in flat.content.data] == [3, 3, 4, 5, 6, 7, 8]
    assert flat.content.layout.legend.traceorder == "reversed"
    assert flat.content.data[-1].customdata[0] == "0 0 " + "x" * 76 + "…"
    assert (flat.is_folded, deep.is_folded) == (False, True)
    assert list(deep.content.data[-1].z[:2]) == [2, 5]
    assert flat.title == "The texts in 2 dimensions"
    assert deep.content.layout.scene.xaxis.visible is False
    both: Any = rb.tier0(from_objects(None, documents), {"a": lengths, "b": lengths}, **FEW)
    assert part(both, "The texts in 2 dimensions: b")
    assert (flat.content.data[1].marker.size, deep.content.data[1].marker.size) == (7, 4)


def embed_subjects(texts: list[str]) -> list[list[float]]:
    """Subjects are directions."""
    names = ("parking", "library", "swimming")
    return [[1.0 if name in text else 0.001 * len(text) for name in names] for text in texts]


def test_sources_in_topics_pages_and_what_is_never_retrieved() -> None:
    def none(question: str, k: int) -> list[str]:
        raise ConnectionError("refused")

    Path("vectors.py").write_text(
        "from tests.views.test_pages import embed_subjects as embed\n", encoding="utf-8"
    )
    Path("ragbench.toml").write_text('[embedders.own]\ncallable = "vectors:embed"\n')
    from ragbench.core.trust import trust

    trust(Path())
    options = {**FEW, "n_topics": 3, "k": 2, "embedder": "own"}
    passages = [*PASSAGES, *({"id": f"x{n}", "text": "x" * (131 - n % 2)} for n in range(32))]
    passages[-32] |= {"title": "Named", "url": "/named"}
    systems = {"v1": own_and_first, "v2": lambda question, k: ["p9"], "v3": none}
    result: Any = rb.sources(systems, ASKED, passages, **options)
    assert "v3 retrieves" not in str(result)
    assert "v1 retrieves 9 [7, 11] of 42 passages (21 %) among the first 2 for 9" in said(result)
    assert "Never retrieved: passages 41, of which questions need 9; pages 5." in str(result)
    numbers = part(result, "All numbers").content
    assert numbers.loc["used_chunks", "● v1"].startswith("9 [")
    assert numbers.loc["utilization_rate", "● v1"].startswith("0.214 [")
    topics = part(result, "Least is found for the topic")
    assert topics.title.endswith(": 0.3 passages a question by v2")
    assert sorted(topics.content.data[0].x) == pytest.approx([1, 4 / 3, 4 / 3])
    assert topics.content.layout.height == 110 + 26 * (3 + 3)
    assert topics.content.data[0].customdata[0] in ("3 / 3", "4 / 3")
    table = part(result, "Topics in numbers").content
    assert sorted(table["v1"]) == ["3 · 2", "4 · 3", "4 · 3"]
    assert list(table["questions"]) == ["3", "3", "3"]
    assert "v3" not in table
    assert all(len(name.split(", ")) <= 3 for name in table.index)
    never = part(result, "Passages that are never retrieved")
    assert never.is_folded
    assert never.note.startswith("Passages: 42, of which 30 are listed")
    listed = never.content
    assert listed["never by"].iloc[0] == "◆ v2"
    assert listed.loc[["x0", "x1"], "passage"].tolist() == ["x" * 130 + "…", "x" * 130]
    assert listed.loc["x0", "page"] == "Named"
    assert listed["labelled for"].tolist()[:10] == ["1"] * 9 + ["–"]
    pages = part(result, "Pages by how often")
    # Page 0 has p0 and p1; v1 finds it for all questions.
    assert rows(pages)[0] == ["https://x/0", "2", "9", "0"]
    assert len(pages.content) == 6
    assert pages.content.index[-1] == "Named"

    all_used: Any = rb.sources({"v1": own_and_first}, ASKED, PASSAGES[:9], **options)
    assert "Every passage is retrieved for some question." in str(part(all_used, "Passages that"))
    assert "Never retrieved" not in str(all_used)
    bare = [{"id": row["id"], "text": row["text"]} for row in PASSAGES]
    without: Any = rb.sources({"v1": own_and_first}, ASKED, bare, **options)
    assert part(without, "Pages by how often") is None
    assert not part(without, "Passages that").is_folded
    failed: Any = rb.sources({"v3": none}, ASKED, PASSAGES, **options)
    for title in ("Least is found", "Passages that", "Pages by how often"):
        assert part(failed, title) is None


def write_log(
    scores: list[int | None], question: str = "Where is the {} pool?", n_pages: int = 2
) -> None:
    """A data set of three pages and a log of questions."""
    folder = Path("data/log")
    folder.mkdir(parents=True, exist_ok=True)
    passages = [{"id": f"p{n}", "text": f"Passage {n}.", "url": f"/{n}"} for n in range(3)]
    history: list[dict[str, Any]] = [
        {"id": f"h{n}", "question": question.format(("big", "old")[n % 2])}
        | {"url": f"/{n % n_pages}" if n < 51 else None}
        | {"score": score, "user": "ann" if n < 2 else None, "asked_at": f"2026-0{n % 2 + 1}-01"}
        for n, score in enumerate(scores)
    ]
    for name, lines in (("chunks", passages), ("history", history)):
        text = "\n".join(map(json.dumps, lines))
        (folder / f"{name}.en.jsonl").write_text(text, encoding="utf-8")


def find_first(question: str, k: int) -> list[str]:
    return ["p0"]


def test_people_are_told_by_month_word_and_page() -> None:
    write_log([5, 3, 4, 1])
    result: Any = rb.real_users({"v1": find_first}, dataset="log", **FEW)
    figure = part(result, "Users' mean score is 3.25")
    assert "4.50 in 2026-01, 2.00 in 2026-02" in figure.title
    [points] = figure.content.data
    assert list(points.x) == ["2026-01", "2026-02"]
    assert list(points.y) == [4.5, 2]
    assert [text.strip() for text in points.text] == ["4.5", "2.0"]
    assert points.customdata[1].endswith("n = 2")
    assert figure.content.layout.xaxis.ticktext[0] == "2026-01<br>n = 2"
    assert points.error_y.width == 0  # no caps
    assert str(figure).splitlines()[1].startswith("2026-01 4.50")
    pages = part(result, "Pages that were shown most")
    assert rows(pages) == [["/0", "2", "50 %", "4.50"], ["/1", "2", "50 %", "2.00"]]
    assert pages.note == "2 of 2 pages."
    words = {row[0]: row[1:] for row in rows(part(result, "What people ask about"))}
    assert words["pool"] == ["4", "100 %", "3.25"]
    assert "users 1" in str(result.parts[1]).replace("<b>", "")

    write_log([None, None], question="where is it?")
    silent: Any = rb.real_users({"v1": find_first}, dataset="log", **FEW)
    assert part(silent, "Users' mean score") is None
    assert part(silent, "What people ask about") is None

    write_log([5] * 52, "The {} ant bee cat dog elk fox", n_pages=51)
    many: Any = rb.real_users({"v1": find_first}, dataset="log", **FEW)
    assert part(many, "Pages that were shown most").note == "50 of 51 pages."
    title = part(many, "What people ask about").title
    assert title == "What people ask about: ant, bee, cat, dog, elk"
    said_of_pages = "1 have no page and 48 a page that the data set does not have; 3 are measured."
    assert f"Of 52 logged questions {said_of_pages}" in str(many.page)


def test_a_cache_by_thresholds_and_by_what_is_asked() -> None:
    result: Any = rb.ux(DIALOGUES, HISTORY, embed, **FEW)
    curve = part(result, "Above 0.7 the cache would serve")
    # Within 45 degrees of the cached question are "pool" and "the pool?", of six.
    assert said(curve.title).startswith("Above 0.7 the cache would serve 0.333 of the turns of")
    solid, dotted = curve.content.data[:2]
    assert (solid.name, solid.line.dash, solid.showlegend) == ("turns of dialogues", "solid", True)
    assert (dotted.line.dash, dotted.showlegend) == ("dot", False)
    assert len(curve.content.data) == 4
    asked = rows(part(result, "What is asked of the cache"))
    assert [row[0].partition(",")[0] for row in asked] == ["turns of dialogues", "past questions"]
    # hits, wrong, not known
    assert [row[4:] for row in asked] == [["2", "0", "0"], ["1", "1", "0"]]
    nearest = part(result, "The closest cached question")
    assert nearest.note.startswith(f"The {len(nearest.content)} closest of {len(nearest.content)}")
    assert set(nearest.content["hit"]) == {"right", "wrong", "–"}
    both: Any = rb.ux(DIALOGUES, HISTORY, {"one": embed, "two": embed}, **FEW)
    figure = part(both, "Above 0.7").content
    assert [trace.name for trace in figure.data] == ["one", "one, wrong", "two", "two, wrong"]
    table = part(both, "What is asked of the cache").content
    assert table["embedder"].tolist() == ["one", "one", "two", "two"]
    alone: Any = rb.ux(DIALOGUES, embedder=embed, **FEW)
    for title in ("Above", "What is asked", "The closest cached question"):
        assert part(alone, title) is None
    assert "a score of 5" in str(part(result, "Method"))
    assert "1. pool\nat 9" in part(result, "Every dialogue").html
    strict: Any = rb.ux(DIALOGUES, HISTORY, embed, threshold=1.0, **FEW)
    assert set(part(strict, "The closest cached question").content["hit"]) == {"–"}
    assert "served from the cache" not in "".join(one.html for one in strict.parts)


def test_an_overview_of_a_page_without_notebook_and_threshold() -> None:
    asked = [{"question": f"{n}?", "answer": "a", "reference": "a"} for n in range(3)]
    rb.score(asked, ["edit_distance"]).save_frames("run")
    result: Any = rb.overview("run")
    assert "No number of this run has a threshold." in str(result)
    assert part(result, "Thresholds") is None
    assert "All pages" not in "".join(one.html for one in result.parts)
    assert "Everything was measured." in str(part(result, "What could not be measured"))
    rb.tier1({"v1": own_and_first}, ASKED, PASSAGES, **FEW, repeats=1).save_frames("ranked")
    table = part(rb.overview("ranked"), "Thresholds").content
    assert table.loc[table["metric"] == "mrr@10", ["good", "excellent"]].values.tolist() == [
        ["0.50", "0.80"]
    ]


def test_answers_in_tables_of_refusals_gaps_and_correlations() -> None:
    table = [
        {"question": f"{n}?", "answer": "I do not know." if n < 2 else f"word {n}"}
        | {"reference": f"word {n}" if n else None, "answerable": bool(n)}
        for n in range(8)
    ]
    result: Any = rb.score(table, ["token_f1", "rougeL_f", "exact_match"], draws=200)
    gaps = part(result, "What could not be measured")
    assert [row[2] for row in rows(gaps)] == ["1", "1", "1"]
    figure = part(result, "Which metrics say the same").content
    assert figure.data[0].texttemplate == "%{text}"
    assert figure.layout.height == 120 + 20 * 3
    assert figure.data[0].text[0][0] == "1.00"
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)
    two: Any = rb.score(table, ["token_f1", "exact_match"], draws=200)
    assert part(two, "Which metrics say the same")
    one: Any = rb.score(table[2:], ["token_f1"], draws=200)
    assert part(one, "Which metrics say the same") is None
    assert part(one, "What could not be measured") is None


def test_first_failures_in_bars_and_in_numbers() -> None:
    def tier3(**systems: Any) -> Any:
        return rb.tier3(systems, answered.QUESTIONS, answered.PASSAGES, **answered.BY_WORDS)

    result = tier3(good=answered.good, shaky=answered.shaky)
    figure = part(result, "good: 8 of 8 questions are answered well")
    assert figure.title == "good: 8 of 8 questions are answered well"
    well, errors = figure.content.data
    assert (well.name, errors.name) == ("good answer", "the system gave an error")
    assert (list(well.x), list(well.text)) == ([1, 0.25], ["8", "2"])
    assert list(figure.content.layout.xaxis.range) == [0, 1]
    # Numbers stand upright, and a fine line parts two parts of a bar.
    assert (well.textangle, well.marker.line.width) == (0, 1)
    # No room for a number of nothing.
    assert (list(errors.x), list(errors.text)) == ([0, 0.75], ["", "6"])
    assert said(well.customdata[1]) == "shaky: 2 · 25 % [5, 67]"
    assert figure.content.layout.height == 110 + 44 * 2
    table = part(result, "First failures in numbers").content
    assert said(table.loc["the system gave an error", "shaky"]).startswith("6 · 75 % [")
    alone = tier3(shaky=answered.shaky)
    assert part(alone, "shaky: 2 of 8").title.endswith(
        "well; most often fails first: the system gave an error (6)"
    )
    assert part(alone, "Asked again and again") is None
    assert part(alone, "Each judge by itself") is None
    silent = tier3(silent=answered.silent)
    assert part(silent, "silent: 0 of 8 questions are answered well")
    assert "silent returned nothing at 8 of 8 questions." in str(silent)


def test_answers_that_are_repeated_refused_and_judged_by_several() -> None:
    nobody = {"id": "x", "text": "Who built subject99?", "relevant": [], "answerable": False}

    def careful(question: str) -> dict[str, Any]:
        number = answered.number_of(question)
        return answered.good(question) if number else {"answer": "The documents do not say."}

    judges = [answered.Scripted(5, "kind"), answered.Dead(name="dead")]
    options = {"metrics": "answer_correctness_rating,token_f1", "primary": "token_f1"}
    result: Any = rb.tier3(
        {"careful": careful, "silent": answered.silent},
        [*answered.QUESTIONS, nobody],
        answered.PASSAGES,
        judge=judges,
        repeats=2,
        **FEW,
        **options,
    )
    # Of eight questions one is refused; that which nobody can answer gets an answer.
    refusals = rows(part(result, "Refusals"))
    assert [cell.split(" %")[0] for cell in refusals[0][1:]] == ["12", "0"]
    assert refusals[0][1].endswith("(n = 8)")
    each = {tuple(row[:2]): row[2:] for row in rows(part(result, "Each judge by itself"))}
    # An empty answer is worth the least without a call, also of a dead judge.
    assert each["answer_correctness_rating", "kind"] == ["3.000", "32", "0", ""]
    failed = ["1.000", "16", "16", "dead raised OSError: no route to host"]
    assert each["answer_correctness_rating", "dead"] == failed
    again = part(result, "Asked again and again")
    assert "k = 2 answers" in again.note
    assert {row[2] for row in rows(again)} >= {"pass@k", "pass^k", "flip_rate"}


def test_judges_beside_people() -> None:
    result: Any = rb.tier_judge({"mine": Judge(), "far": Judge()}, ROWS, columns=LABELS, **FEW)
    forest = part(result, "Agreement with people by Spearman's ρ: people 0.94, mine 0.9")
    assert [trace.name for trace in forest.content.data] == ["people", "mine", "far"]
    assert forest.content.layout.xaxis.range[1] == 1.02
    assert list(forest.content.layout.yaxis.ticktext)[-1] == "ICC(2,1)"  # those on one scale
    assert said(result).count("; 0.0 % of its calls failed.") == 2
    probes = part(result, "What sways it?").content
    assert list(probes["not swayed"]) == ["0", "1", "0", "0", "0"]
    table = next(one for one in result.parts if one.title == "Agreement with people").content
    assert list(table.columns) == ["people (n = 8)", "mine (n = 16)", "far (n = 16)"]
    assert table.loc["bias: judge minus people"].tolist()[:2] == ["–", "−0.19"]
    listed = part(result, "Who disagrees most?").content
    # At a1, a3 and a7 ben gives one more; the others are even, in their order.
    assert listed.index.tolist()[:4] == ["a1", "a3", "a7", "a0"]
    assert list(listed.columns) == ["text", "mine", "far", "ann", "ben"]
    assert "<b>far</b>" in part(result, "Who disagrees most?").html
    many = [{**row, "cat": row["ann"], "dan": row["ann"]} for row in ROWS]
    crowd: Any = rb.tier_judge(Judge(), many, columns={"labels": "ann,ben,cat,dan"}, **FEW)
    assert list(part(crowd, "Who disagrees most?").content.columns) == ["text", "mine", "people"]
    unrated: Any = rb.tier_judge(Judge(), [{**row, "ann": None, "ben": None} for row in ROWS],
                                 **FEW)  # fmt: skip
    assert "No answer was rated by people." in str(part(unrated, "Agreement with people"))
    assert "with each other" not in str(unrated.parts[0])
    # Where all people say the same, there is no agreement to tell.
    even: Any = rb.tier_judge(Judge(), [{**row, "ann": 3, "ben": 3} for row in ROWS],
                              columns=LABELS, **FEW)  # fmt: skip
    assert str(even.parts[0]).startswith("mine: repeats itself at")

"""Nothing of what people call grows faster than n log n: sixteen times the rows take some sixteen times the work."""

from __future__ import annotations

import asyncio
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from types import FrameType
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from ragbench import data, stats
from ragbench.core import settings
from ragbench.core.measurement import SCORE_COLUMNS
from ragbench.core.metric import parse
from ragbench.core.settings import JudgeSettings, Settings
from ragbench.core.types import Chunk, Hit, Question, Sample
from ragbench.data.samples import read_samples, samples_of
from ragbench.judge import Rule
from ragbench.metrics import ranking_arrays
from ragbench.tiers.answers import rag_metrics
from ragbench.tiers.answers.rag_metrics import Made, measurement_of
from ragbench.tiers.basics import design
from ragbench.tiers.basics.findings import Sureness
from ragbench.tiers.data import copies
from ragbench.tiers.run.record import recorded
from ragbench.tiers.scoring import ledger, measure
from ragbench.tiers.scoring.scored_answers import Scores
from ragbench.tiers.scoring.table_sources import of_samples
from ragbench.views import Page
from ragbench.views.items import parts
from tests.cli.command_line import invoke
from tests.small_project import write_lines

FEW, MANY = 1_000, 16_000
CALLS, SECONDS = 1.5, 3.0
"""How much more than by n log n the calls, and a processor's seconds, may grow: seconds are noisy, and a square is 11
times as much."""
FLOOR = 0.01
"""Seconds of a processor that the few rows are taken to need at least: what goes to warm a cache hides no square."""

Make = Callable[[int, Any], Callable[[], object]]


class Counted:
    """Counts the calls of functions, of Python's and of C's, while it is open, and the seconds of a processor."""

    def __enter__(self) -> Counted:
        self.calls = 0
        self.seconds = -time.process_time()
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        self.seconds += time.process_time()

    def _count(self, frame: FrameType, event: str, given: object) -> None:
        self.calls += event in ("call", "c_call")


def growth(make: Make, folder: Any = None, few: int = FEW, many: int = MANY) -> tuple[float, float]:
    """How many times more calls and seconds many rows take than n log n of few; both are 1 for n log n."""
    work = make(50, folder)
    work()  # what is made once in a process
    found = []
    for rows in (few, many):
        work = make(rows, folder)
        with Counted() as one:
            work()
        found.append(one)
    expected = many * math.log(many) / (few * math.log(few))
    least, most = found
    return most.calls / least.calls / expected, most.seconds / max(least.seconds, FLOOR) / expected


def samples(rows: int, systems: int = 1) -> list[Sample]:
    """Answers of as many systems, questions of one cluster in threes."""
    return [
        Sample(
            f"q{number}",
            f"When does library {number} open?",
            f"Library {number} opens at {number % 7 + system} daily.",
            f"It opens at {number % 7}." if number % 10 else None,
            (Chunk("1", f"Library {number} opens at {number % 7}."), Chunk("2", f"{number} is closed.")),
            cluster=f"c{number // 3}",
            system=f"s{system}",
        )
        for number in range(rows)
        for system in range(systems)
    ]


def scores(rows: int, systems: int = 2, *metrics: str) -> Scores:
    return asyncio.run(scoring(samples(rows // systems, systems), *metrics))


def scoring(given: list[Sample], *metrics: str) -> Any:
    chosen = measure.applicable(given, metrics or ("exact_match", "rouge1_f"))
    return measure.measure(given, chosen, measure.Asked(("lexical",), resamples=100))


def scored(*metrics: str) -> Make:
    def make(rows: int, folder: Any) -> Callable[[], object]:
        given = samples(rows)
        return lambda: asyncio.run(scoring(given, *metrics))

    return make


def of_scores(what: Callable[[Scores], object]) -> Make:
    def make(rows: int, folder: Any) -> Callable[[], object]:
        found = scores(rows)
        return lambda: what(found)

    return make


def in_parts(rows: int, folder: Any) -> Callable[[], object]:
    """Parts of one size, however many."""
    given = samples(rows)
    chosen, asked = measure.applicable(given, ["exact_match"]), measure.Asked(resamples=100)
    cut = [given[start : start + 100] for start in range(0, rows, 100)]

    async def work() -> None:
        found = await measure.in_parts(cut, chosen, asked)
        found.explain("q7")
        assert len(list(found.as_parts()["samples"])) == rows

    return lambda: asyncio.run(work())


def answers(rows: int, folder: Any) -> Callable[[], object]:
    lines = [
        {
            "question": f"Q {number}?",
            "answer": f"It is {number}.",
            "contexts": [f"{number}"],
            "system": f"s{number % 2}",
        }
        for number in range(rows)
    ]
    path = write_lines(folder / f"answers{rows}.jsonl", lines)
    return lambda: (read_samples(path), samples_of(lines))


def dataset(rows: int, folder: Any) -> Callable[[], object]:
    place = folder / f"data{rows}" / "made"
    place.mkdir(parents=True)
    (place / "dataset.toml").write_text('languages = ["en"]\n', encoding="utf-8")
    write_lines(place / "chunks.en.jsonl", [{"id": f"c{n}", "text": f"Passage {n}."} for n in range(rows)])
    questions = [{"id": f"q{n}", "text": f"Question {n}?", "relevant": {f"c{n}": 1.0}} for n in range(rows)]
    write_lines(place / "questions.en.jsonl", questions)
    return lambda: len(data.load("made", place.parent).questions)


def measured(rows: int, systems: int = 2) -> Any:
    given = samples(rows // systems, systems)
    found = asyncio.run(scoring(given))
    return measurement_of(found, of_samples(given, "made"), Made(("lexical",), Rule(), ("hashing",)))


def page_data(rows: int, folder: Any) -> Callable[[], object]:
    found = measured(rows)
    return lambda: list(parts(Page(found).material))


def page(rows: int, folder: Any) -> Callable[[], object]:
    found = measured(rows)
    views = ("answer", "intervals", "table", "side_by_side", "unmeasured", "correlations", "verdicts", "judges")
    return lambda: [Page(found).view(name).html() for name in views]


def planned(rows: int, folder: Any) -> Callable[[], object]:
    """What a model would be asked, of which the journal knows nothing."""
    given = samples(rows)
    asked = measure.Asked(("model",), resamples=100, plan=lambda found: None)
    return lambda: asyncio.run(measure.measure(given, measure.applicable(given, ["faithfulness"]), asked))


def page_of_very_many(rows: int, folder: Any) -> Callable[[], object]:
    """A page that lists a part of its questions."""
    given = samples(rows)
    found = asyncio.run(scoring(given))

    def work() -> None:
        with patch.multiple(rag_metrics, MOST=rows // 4, DRAWN=rows // 8, ENDS=rows // 8):
            made = measurement_of(found, of_samples(given, "made"), Made(("lexical",), Rule(), ("hashing",)))
        page = Page(made)
        assert 0 < len(page.material.question_rows) < rows
        assert list(parts(page.material))
        assert [page.view(name).html() for name in ("questions", "unmeasured", "correlations")]

    return work


def part_of_a_page(rows: int, folder: Any) -> Callable[[], object]:
    """Two systems of three on half of the questions."""
    page = Page(measured(rows, 3))
    half = [f"q{number}" for number in range(rows // 6)]
    return lambda: page.subset(half).compare("s1", "s2").view("table").html()


def folder_of_scores(rows: int, folder: Any) -> Callable[[], object]:
    """`ragbench score --out`, of a table that goes by in parts."""
    path = write_lines(folder / f"out{rows}.jsonl", [asdict(one) for one in samples(rows)])

    def work() -> None:
        asked = ("-m", "exact_match", "-m", "rouge1_f", "--resamples", 100, "--out", folder / f"out{rows}")
        with patch.object(ledger, "LARGE", 0):
            done = invoke("score", path, *asked)
        assert done.exit_code == 0, done.output

    return work


def questions(rows: int) -> list[Question]:
    return [
        Question(
            f"q{n}", f"Question {n}?", relevant={f"d{n}": 1.0, f"d{n + 1}": 2.0}, kind=f"k{n % 5}", cluster=f"c{n // 3}"
        )
        for n in range(rows)
    ]


def ranked(rows: int, folder: Any) -> Callable[[], object]:
    """Rankings of lists, of questions, and the metrics of them."""
    lists = [[f"d{n - 1}", f"d{n + 1}", f"d{n}", f"e{n}"] for n in range(rows)]
    asked = questions(rows)
    hits = {
        f"q{n}": [Hit(Chunk(name, "text"), 1.0 - place / 10) for place, name in enumerate(row)]
        for n, row in enumerate(lists)
    }
    metrics = [parse(label) for label in ("ndcg@3", "mrr", "recall@2")]
    scores = [[1.0 - place / 10 for place in range(len(row))] for row in lists]

    def work() -> None:
        for ranking in (
            ranking_arrays.from_lists(lists, [one.relevant for one in asked], scores=scores),
            ranking_arrays.from_questions(asked, hits),
        ):
            assert all(len(metric(ranking)) == rows for metric in metrics)

    return work


def sliced(rows: int, folder: Any) -> Callable[[], object]:
    """The slices of two systems' values by kind, questions of one cluster in threes."""
    asked, (metric,) = questions(rows // 2), [parse("mrr")]
    lines = [(s, "mrr", one.id, (n % 7) / 7 + (s == "s1") / 9, "ok", "", None)
             for s in ("s0", "s1") for n, one in enumerate(asked)]  # fmt: skip
    table = pd.DataFrame(lines, columns=list(SCORE_COLUMNS))
    sureness, clusters = Sureness(0.95, 100, 0), design.clusters(asked)
    return lambda: design.of_slices(table, metric, ["s0", "s1"], asked, ["kind"], clusters, sureness)


def trec_files(rows: int, folder: Any) -> Callable[[], object]:
    """`ragbench trec` with two runs, ten lines a query."""
    places = [folder / f"{name}{rows}" for name in ("qrels", "one.run", "two.run")]
    queries = range(rows // 10)
    places[0].write_text("".join(f"q{n} 0 d{n} 1\nq{n} 0 d{n + 1} 0\n" for n in queries), encoding="utf-8")
    for shift, path in enumerate(places[1:]):
        lines = (f"q{n} Q0 d{n + rank - shift} {rank} {1 / rank} t\n" for n in queries for rank in range(1, 11))
        path.write_text("".join(lines), encoding="utf-8")

    def work() -> None:
        done = invoke("trec", *places, "-m", "mrr,ndcg@5", "--resamples", 100, "--per-query", "--json", folder / "made")
        assert done.exit_code == 0, done.output

    return work


def runs_compared(rows: int, folder: Any) -> Callable[[], object]:
    """Two runs of one table, question by question."""
    made = measured(rows)
    manifest = {"notebooks": [{"name": made.notebook, "status": "complete", "failure": ""}], "parameters": {}}

    def work() -> None:
        one, other = (recorded(manifest, {made.notebook: made}, folder / name) for name in ("one", "other"))
        assert pytest.importorskip("ragbench.extras.runs.compared").compare_runs(one, other)

    return work


def near_copies(rows: int, folder: Any) -> Callable[[], object]:
    """Texts of a Zipf-like vocabulary, whose rare words many share, and one in ten a copy of another but for a word."""
    drawn = random.Random(0)
    texts = [" ".join(f"w{int(drawn.paretovariate(0.5)) % 5_000}" for _ in range(20)) for _ in range(rows)]
    texts[::10] = [f"{text} more" for text in texts[1::10][: len(texts[::10])]]
    return lambda: len(copies.near_copies(texts))


def compared(rows: int, folder: Any) -> Callable[[], object]:
    """Two systems' continuous values of fourteen metrics, alone and in a family."""
    drawn = np.random.default_rng(0)
    one, other = ({f"m{n}": drawn.random(rows) for n in range(14)} for _ in range(2))
    return lambda: stats.jointly(list(stats.hypotheses(one, other).values()))


PATHS: dict[str, Make] = {
    "near copies": near_copies,
    "comparisons of arrays": compared,
    "scoring": scored("exact_match", "rouge1_f"),
    "scoring in parts": in_parts,
    "estimates": of_scores(lambda found: found.means),
    "comparisons": of_scores(lambda found: found.differences),
    "json": of_scores(lambda found: found.as_json()),
    "long table": of_scores(lambda found: found.to_pandas()),
    "wide table": of_scores(lambda found: found.to_pandas("wide")),
    "shown": of_scores(lambda found: (repr(found), found._repr_html_(), found.worst(5), found.explain("q7"))),
    "table of answers": answers,
    "data set": dataset,
    "data of a page": page_data,
    "page": page,
    "page of very many": page_of_very_many,
    "part of a page": part_of_a_page,
    "folder of scores": folder_of_scores,
    "rankings": ranked,
    "slices": sliced,
    "trec": trec_files,
    "runs compared": runs_compared,
}
HEAVY: dict[str, Make] = {
    "lexical judge": scored("faithfulness"),
    "embedder": scored("semantic_similarity"),
    "plan": planned,
}


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_no_path_grows_faster_than_n_log_n(path: str, tmp_path: Any) -> None:
    calls, seconds = growth(PATHS[path], tmp_path)
    assert calls < CALLS
    assert seconds < SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("path", HEAVY)
def test_no_judge_or_embedder_grows_faster_than_n_log_n(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Settings(judges={"model": JudgeSettings(model="m", base_url="http://127.0.0.1:9/v1")})
    monkeypatch.setattr(settings, "load", lru_cache(lambda: known))
    calls, seconds = growth(HEAVY[path], few=250, many=4_000)
    assert calls < CALLS
    assert seconds < SECONDS


def test_a_square_of_calls_is_found() -> None:
    def make(rows: int, folder: Any) -> Callable[[], object]:
        return lambda: [len(str(one)) for one in range(rows // 20) for _ in range(rows // 20)]

    assert growth(make)[0] > 5 * CALLS


def test_a_square_without_calls_is_found() -> None:
    def make(rows: int, folder: Any) -> Callable[[], object]:
        known = list(range(rows))
        return lambda: [known.count(one) for one in range(rows)]

    calls, seconds = growth(make, many=8_000)
    assert calls < CALLS
    assert seconds > SECONDS

"""Nothing of what people call grows faster than n log n: sixteen times the rows take some sixteen times the work."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from types import FrameType
from typing import Any

import pytest

from ragbench import datasets, settings
from ragbench.bench.scoring import measure
from ragbench.bench.scoring.answer_tables import of_samples
from ragbench.bench.scoring.result import Scores
from ragbench.datasets.samples import read_samples, samples_of
from ragbench.settings import JudgeSettings, Settings
from ragbench.show import Page
from ragbench.show.items.data import parts
from ragbench.types import Chunk, Sample
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
    return lambda: len(datasets.load("made", place.parent).questions)


def measured(rows: int) -> Any:
    from ragbench.bench.answers.rag_metrics import Made, measurement_of
    from ragbench.judge import Rule

    given = samples(rows // 2, 2)
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


PATHS: dict[str, Make] = {
    "scoring": scored("exact_match", "rouge1_f"),
    "scoring in parts": in_parts,
    "estimates": of_scores(lambda found: found.estimates),
    "comparisons": of_scores(lambda found: found.comparisons),
    "json": of_scores(lambda found: found.as_json()),
    "long table": of_scores(lambda found: found.to_pandas()),
    "wide table": of_scores(lambda found: found.to_pandas("wide")),
    "shown": of_scores(lambda found: (repr(found), found._repr_html_(), found.worst(5), found.explain("q7"))),
    "table of answers": answers,
    "data set": dataset,
    "data of a page": page_data,
    "page": page,
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

    calls, seconds = growth(make)
    assert calls < CALLS
    assert seconds > SECONDS

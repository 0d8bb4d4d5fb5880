"""A sweep from end to end: what is kept, what fails, what is paid once, and its page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.extras.sweeps import ablation, measuring
from ragbench.old.extras.sweeps.ablation import AblationRequest, Sweeping
from ragbench.old.extras.sweeps.grid import Configuration
from ragbench.old.systems import make, once
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.retrieval import reading, timing
from ragbench.old.tiers.retrieval.timing import Clock
from ragbench.old.tiers.scoring.judged_metrics import Judging
from ragbench.old.views import Page
from tests.old.cli.command_line import ROOT, ragbench
from tests.old.llm.chat_server import ChatServer, Raw, embeddings
from tests.old.views.measurements import measurement

PAGES = ("harbour", "library", "canteen", "museum", "station", "garden", "theatre", "stadium")
HOURS = ("seven", "eight", "nine", "ten", "eleven", "noon", "one", "two")


def asked(**given: Any) -> AblationRequest:
    return AblationRequest(**given)


def project(folder: Path, database_folder: Path, more: str, times: int = 1) -> None:
    data = folder / "data" / "hours"
    data.mkdir(parents=True)
    (data / "dataset.toml").write_text('title = "Hours"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
    chunks, questions = [], []
    for place, hour in zip(PAGES, HOURS, strict=True):
        text = f"The {place} lies by the river. It opens at {hour}. Dogs stay outside. Tickets are free on Mondays."
        chunks.append({"id": place, "text": text, "url": f"/{place}"})
        wordings = (f"When does the {place} open?", f"At which hour may one enter the {place}?")
        for number, text in enumerate(wordings * times):
            questions.append(
                {
                    "id": f"{place}{number}", "text": text, "relevant": {place: 1}, "reference": f"At {hour}.",
                    "cluster": place,
                }
            )  # fmt: skip
    for name, rows in (("chunks", chunks), ("questions", questions)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (data / f"{name}.en.jsonl").write_text(text, encoding="utf-8")
    (folder / "reranking.py").write_text(
        "def scores(question, texts):\n    raise OSError('no weights')\n", encoding="utf-8"
    )
    with (folder / "ragbench.toml").open("w", encoding="utf-8") as file:
        file.write(
            f'dataset = "hours"\n[database]\nfolder = "{database_folder}"\n[systems.bm25]\nretriever = "bm25"\n{more}'
        )
    settings.load.cache_clear()


@pytest.mark.usefixtures("bare")
def test_one_that_fails_is_named_and_the_others_are_measured_and_kept(tmp_path: Path, database_folder: Path) -> None:
    project(
        tmp_path, database_folder,
        '[chunkers.short]\nsize = 6\n[rerankers.broken]\nkind = "callable"\ncallable = "reranking:scores"\n'
        '[sweeps.parts]\nchunker = ["none", "short"]\nreranker = ["none", "broken"]\nk = [1, 3]\n',
    )  # fmt: skip
    request = asked(resamples=200, timed_questions=2)
    sweeping = Sweeping.of(request)
    found = ablation.run(sweeping, Judging())
    failed = {name for name, outcome in found.outcomes.items() if outcome.failure}
    assert failed == {f"{chunker} · broken · {k}" for chunker in ("none", "short") for k in (1, 3)}
    assert all("no weights" in found.outcomes[name].failure for name in failed)
    told: list[str] = []
    again = ablation.run(sweeping, Judging(), told=lambda name, _outcome: told.append(name))
    for name in set(found.outcomes) - failed:
        assert np.array_equal(again.outcomes[name].values, found.outcomes[name].values)
        assert np.array_equal(again.outcomes[name].words, found.outcomes[name].words)
    assert len(told) == 8
    made = ablation.stated(sweeping, found, request)
    assert set(made.facts["sweep"]["failed"]) == failed
    assert {row["system"] for row in made.extra["configurations"].to_dict("records")} == set(found.outcomes) - failed
    assert made.facts["n_clusters"] == 8
    words = dict(zip(made.extra["configurations"]["system"], made.extra["configurations"]["words"], strict=True))
    assert words["none · none · 1"] == 18 < words["none · none · 3"]
    assert words["short · none · 1"] <= 6
    effects = {one.where["exchange"]: one.comparison for one in made.comparisons_by("exchange")}
    assert set(effects) == {"chunker", "k", "chunker × k"}
    unjudged = {row["system"]: row for row in reading.means(made.extra[reading.TABLE])}
    assert set(unjudged) == {"none · none · 1", "none · none · 3"}, "text of pieces may be judged in part"
    first = unjudged["none · none · 1"]
    assert first["judged"] == first["irrelevant"] == pytest.approx(again.outcomes["none · none · 1"].values.mean())
    assert first["relevant"] == 1 > unjudged["none · none · 3"]["judged"]
    assert "judged@k" in Page(made).view("unjudged").words


def test_processes_begin_with_what_needs_other_vectors() -> None:
    levels = [{"chunker": c, "retriever": r} for c in ("none", "short", "long") for r in ("both", "bm25", "dense")]
    groups = [(Configuration(" · ".join(each.values()), each, 5, ""),) for each in levels]
    works = [measuring._Work(None, None, (), None, group) for group in groups]  # type: ignore[arg-type]
    order = [work.group[0].levels for work in measuring._apart(works)]
    assert [each["chunker"] for each in order] == ["none", "short", "long"] * 3
    assert [each["retriever"] for each in order] == ["both"] * 3 + ["bm25"] * 3 + ["dense"] * 3


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_one_that_fails_halfway_is_told_with_its_count(tmp_path: Path, database_folder: Path) -> None:
    project(
        tmp_path, database_folder,
        '[rerankers.tires]\nkind = "callable"\ncallable = "reranking:tires"\n'
        '[sweeps.parts]\nreranker = ["none", "tires"]\nk = [1, 3]\nmetric = "token_f1"\n',
    )  # fmt: skip
    (tmp_path / "reranking.py").write_text(
        "left = [7]\ndef tires(question, texts):\n    left[0] -= 1\n    if left[0] < 0:\n"
        "        raise OSError('no weights')\n    return [float(len(text)) for text in texts]\n",
        encoding="utf-8",
    )
    done = ragbench("sweep", "parts", "--trust")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "tires · 1 has no part in the choice: 9 of 16 questions unmeasured, at most 2% may be: " in said
    assert "no weights" in said


@pytest.mark.usefixtures("bare")
def test_what_was_paid_and_embedded_is_not_asked_again(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(answer=lambda body: "At nine.").running() as server:
        project(
            tmp_path, database_folder,
            f'[generators.model]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
            f'[embedders.paid]\nkind = "openai"\nmodel = "e"\nbase_url = "{server.url}"\n'
            '[retrievers.dense]\nkind = "dense"\nembedder = "paid"\n'
            '[sweeps.paid]\nretriever = ["bm25", "dense"]\nk = [1, 2]\ngenerator = ["model"]\nmetric = "token_f1"\n',
        )  # fmt: skip
        sweeping = Sweeping.of(asked(timed_questions=0))
        half = sweeping.whole.configurations[:3]
        measuring.measured(sweeping.session, sweeping.whole, sweeping.deciding, Judging(), only=half)
        before = [json.dumps(one.body, sort_keys=True) for one in server.requests]
        assert len(before) > 0
        found = ablation.run(sweeping, Judging())
        after = [json.dumps(one.body, sort_keys=True) for one in server.requests]
        assert len(after) > len(before), "the last configuration asks something"
        assert len(set(after)) == len(after), "nothing is asked twice"
        monkeypatch.setattr(measuring, "ProcessPoolExecutor", None)
        again = ablation.run(sweeping, Judging(), jobs=2)
        assert again.outcomes.keys() == found.outcomes.keys(), "no process starts for what is kept"
        ablation.run(sweeping, Judging())
        assert len(server.requests) == len(after)
    assert not any(outcome.failure for outcome in found.outcomes.values())


SWEEPING = """
from ragbench.old.extras.sweeps import ablation
from ragbench.old.tiers.scoring.judged_metrics import Judging
ablation.run(ablation.Sweeping.of(ablation.AblationRequest(timed_questions=0)), Judging())
"""


@pytest.mark.fault("kill", tried="a sweep while it embeds, and while it asks for answers", count=3)
@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_a_sweep_that_is_killed_repeats_no_embedding_and_no_reply(tmp_path: Path, database_folder: Path) -> None:
    """Killed where everything that was answered is known to have arrived, as all that follows is held up."""
    served, held, most = Counter[str](), [0], [0]

    def serve(body: dict[str, Any], reply: Any) -> Any:
        if served.total() >= most[0]:
            held[0] += 1
            return None
        served.update(body["input"] if "input" in body else [json.dumps(body["messages"])])
        return reply

    with ChatServer().running() as server:
        server.answer = lambda body: serve(body, "At nine.") or "!hang"
        busy = Raw(503, {"error": {"message": "busy"}})
        server.vectors = lambda body: serve(body, embeddings(body)) or busy
        project(
            tmp_path, database_folder,
            f'[generators.model]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.url}"\nconcurrency = 2\n'
            f'[embedders.paid]\nkind = "openai"\nmodel = "e{os.getpid()}"\nbase_url = "{server.url}"\nbatch = 4\n'
            '[retrievers.dense]\nkind = "dense"\nembedder = "paid"\n'
            '[sweeps.paid]\nretriever = ["dense", "bm25"]\nk = [1, 2]\ngenerator = ["model"]\nmetric = "token_f1"\n',
        )  # fmt: skip
        told = {**os.environ, "PYTHONPATH": str(ROOT), "RAGBENCH_TRUST": str(tmp_path)}
        for most[0] in (4, 30, 60, 10_000):
            held[0] = 0
            process = subprocess.Popen([sys.executable, "-c", SWEEPING], env=told, cwd=tmp_path)
            try:
                while process.poll() is None and not held[0]:
                    time.sleep(0.02)
                if most[0] < 10_000:
                    assert process.poll() is None, "it ended before it was killed"
                    time.sleep(0.5)  # what arrived is written down
                    process.send_signal(signal.SIGKILL)
                process.wait(60)
            finally:
                process.kill()
        assert process.returncode == 0
    assert served.total() > 60
    assert {text for text, count in served.items() if count > 1} == set()


@pytest.mark.usefixtures("bare")
def test_halving_needs_questions_for_both_halves(tmp_path: Path, database_folder: Path) -> None:
    project(tmp_path, database_folder, '[sweeps.k]\nk = [1, 2, 3, 4, 5, 6, 7, 8]\nsearch = "halving"\nfinalists = 2\n')
    with pytest.raises(BenchError, match="10 of each are needed"):
        Sweeping.of(asked())


@pytest.mark.usefixtures("bare")
def test_halving_states_the_finalists_alone_and_effects_of_all(tmp_path: Path, database_folder: Path) -> None:
    project(
        tmp_path, database_folder, '[sweeps.k]\nk = [1, 2, 3, 4, 5, 6, 7, 8]\nsearch = "halving"\nfinalists = 2\n', 4
    )  # fmt: skip
    request = asked(resamples=200, timed_questions=2)
    sweeping = Sweeping.of(request)
    exploring, deciding = len(sweeping.exploring), len(sweeping.deciding)
    assert exploring + deciding == 64
    assert not {one.cluster for one in sweeping.exploring} & {one.cluster for one in sweeping.deciding}
    found = ablation.run(sweeping, Judging())
    assert found.rounds == ((8, exploring // 2), (4, exploring), (2, deciding))
    made = ablation.stated(sweeping, found, request)
    rows = made.extra["configurations"]
    assert list(rows["system"]) == ["1", "2"]
    assert (rows["milliseconds"] > 0).all()
    assert made.facts["n_questions"] == deciding
    effects = [one.comparison for one in made.comparisons_by("exchange")]
    assert {one.challenger for one in effects} == set("2345678")
    assert {one.n for one in effects} == {exploring // 2}


@pytest.mark.usefixtures("bare")
def test_the_clock_is_the_median_of_retrieving_and_of_writing(tmp_path: Path, database_folder: Path) -> None:
    project(tmp_path, database_folder, "[sweeps.k]\nk = [1, 2]\n")
    sweeping = Sweeping.of(asked())
    session, whole, questions = sweeping.session, sweeping.whole, sweeping.deciding
    outcomes = dict(ablation.run(sweeping, Judging()).outcomes)
    outcomes["2"] = replace(outcomes["2"], seconds=np.array([1.0, 2.0, 9.0] + [np.nan] * 13))
    times = measuring.clock(session, whole, questions, outcomes, 5)
    with session.store() as store:  # what the clock read is kept
        system = make("1", session.settings, store, session.dataset, once(store))
        rows = timing.latencies(
            {"1": system}, store, questions, whole.depth, session.dataset.content_hash, Clock(5), session.progress
        )
    assert times["1"] == rows.groupby("sample")["ms"].sum().median()
    assert times["2"] - times["1"] == pytest.approx(2000)


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_the_command_writes_a_page_in_both_languages(tmp_path: Path, database_folder: Path) -> None:
    project(
        tmp_path, database_folder,
        '[retrievers.bm25light]\nb = 0.1\n[sweeps.parts]\nretriever = ["bm25", "bm25light"]\nk = [1, 3]\n',
    )  # fmt: skip
    done = ragbench("sweep", "parts", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert "4 configurations on 16 questions" in done.stdout
    [folder] = (tmp_path / "reports").glob("2*")
    page = (folder / "ablation.html").read_text(encoding="utf-8")
    assert "corrected for having been chosen for it" in page
    measurement = Measurement.load(folder / "parts" / "ablation")
    said: Any = Page(measurement, language="ru").view("sweep_best").words
    assert "лучшая" in said


@pytest.mark.parametrize("name", ["sweep_best", "sweep_effects", "sweep_exchanges", "sweep_configurations"])
def test_a_page_of_another_kind_shows_nothing_of_a_sweep(name: str) -> None:
    assert Page(measurement()).view(name).parts == []

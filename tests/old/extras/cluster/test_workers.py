"""Parts of a work: what they give hangs on no parting, and a worker that differs is told from others."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import math
import pickle
import random
import socket
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ragbench.old import embed
from ragbench.old.core import metric as declarations
from ragbench.old.core.metric import parse
from ragbench.old.core.settings import EmbedderSettings, Settings, load
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.extras.cluster import address, worker_pool
from ragbench.old.extras.cluster.worker_pool import Identity, issue, pack
from ragbench.old.judge import Rule
from ragbench.old.judge.lexical import LexicalJudge
from ragbench.old.llm import Replies, Tally
from ragbench.old.llm.budget import Used
from ragbench.old.metrics import catalogue
from ragbench.old.store.pool import ClusterError, Counter, Together, UnfitError, opened, require_same
from ragbench.old.tiers.judges import asking
from ragbench.old.tiers.judges.items import Answers, Temptations
from ragbench.old.tiers.scoring import own_metrics, parts
from ragbench.old.tiers.scoring.measure import Asked, applicable, measure
from ragbench.old.tiers.scoring.parts import Terms
from tests.old import small_project

METRICS = ("faithfulness", "rouge1_f", "semantic_similarity", "response_relevancy", "noise_sensitivity")
WORDS = ("library", "opens", "at", "nine", "the", "card", "is", "free", "students", "may", "borrow", "ten", "books")


catalogue()


def samples(number: int = 24, seed: int = 0) -> list[Sample]:
    draw = random.Random(seed)

    def text(length: int) -> str:
        return " ".join(draw.choice(WORDS) for _ in range(length)).capitalize() + "."

    return [
        Sample(
            f"q{place % (number - 2)}",
            user_input=text(5),
            response=" ".join(text(6) for _ in range(draw.randint(0, 3))),
            reference=text(8),
            contexts=tuple(Chunk(f"c{place}-{rank}", text(20)) for rank in range(2)),
            system=draw.choice(("one", "two")),
        )
        for place in range(number)
    ]


def terms(rows: Sequence[Sample]) -> Terms:
    metrics = tuple(parse(name) for name in METRICS)
    corpus = sorted({one.response or "" for one in rows} | {one.reference or "" for one in rows} - {""})
    embedder = embed.make("hashing", EmbedderSettings(), [text for text in corpus if text])
    return Terms(metrics, ("lexical",), (embedder,), Rule(), "en", "en", repeats=1)


def said(score: Any) -> str:
    """All of a score but what the clock told."""
    return repr(replace(score, seconds=None))


@functools.cache
def scored_whole() -> tuple[list[Sample], Terms, list[str]]:
    rows = [replace(one, language="en") for one in samples(8)]
    known = terms(rows)
    scores = asyncio.run(parts.scored(rows, known, None)).scores
    assert any(math.isnan(one.value) for one in scores), "some answers are empty"
    return rows, known, list(map(said, scores))


class Rounding:
    """Rounds as a neural model does: by how many texts are embedded at once."""

    def __init__(self, by: Any) -> None:
        self.by, self.name, self.identity = by, by.name, f"rounding {by.identity}"

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> Any:
        vectors = self.by.embed(texts, kind=kind)
        vectors[:, 0] += len(texts) * 1e-6
        return vectors


class OneAfterAnother:
    """Workers without processes: what they are given and give arrives as in another process."""

    count = 3

    def __init__(self) -> None:
        self.parts, self.metrics = 0, set[str]()

    def map(self, work: Any, common: Any, given: Sequence[Any], heard: Any) -> Iterator[Any]:
        self.parts += len(given)
        self.metrics |= {metric.label for metric in common.metrics}
        for number, part in enumerate(given):
            own, arrived = cloudpickle.loads(cloudpickle.dumps((common, part)))
            yield cloudpickle.loads(cloudpickle.dumps(work(own, arrived, functools.partial(heard, number))))


class TestPartsOfATable:
    @settings(max_examples=3, deadline=None, phases=(Phase.generate,))
    @given(cuts=st.lists(st.integers(1, 7), max_size=6))
    def test_scores_do_not_depend_on_how_rows_are_parted(self, cuts: list[int]) -> None:
        rows, known, whole = scored_whole()
        found = []
        for start, end in itertools.pairwise(sorted({0, len(rows), *cuts})):
            # as it arrives in another process
            own, part = cloudpickle.loads(cloudpickle.dumps((known, rows[start:end])))
            found += asyncio.run(parts.scored(part, own, None)).scores
        assert list(map(said, found)) == whole

    @pytest.mark.parametrize("is_by_text", [True, False])
    def test_workers_score_what_one_process_scores_also_where_vectors_hang_on_their_company(
        self, is_by_text: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = [replace(one, language="en") for one in samples(8)]
        hashing = terms(rows).embedders[0]
        embedder = hashing if is_by_text else Rounding(hashing)
        known = replace(terms(rows), embedders=(embedder,))
        whole = asyncio.run(parts.scored(rows, known, None)).scores
        workers = OneAfterAnother()
        monkeypatch.setattr(parts.pool, "opened", lambda _: contextlib.nullcontext(workers))
        done: list[int] = []
        found = asyncio.run(parts.scored_by_workers(rows, known, advance=done.append)).scores
        assert list(map(said, found)) == list(map(said, whole))
        assert sum(done) == len(whole)
        embedded = {"semantic_similarity", "response_relevancy"}
        assert workers.metrics == set(METRICS) - (set() if is_by_text else embedded)
        assert workers.parts == 3

    def test_repeats_of_a_question_are_in_one_part(self) -> None:
        rows = samples(60)
        for workers in (1, 3, 50):
            slices = list(parts._slices(rows, terms(rows), workers, ""))
            places = [{(row.system, row.id) for row in part.rows} for _, part in slices]
            assert sum(map(len, places)) == len(set().union(*places)), "no place is in two"
            assert sorted(position for positions, _ in slices for position in positions) == list(range(60))
            before = 0
            for own, (_, part) in zip(places, slices, strict=True):
                assert part.before == before
                before += len(own)

    def test_metrics_travel_by_their_names(self) -> None:
        for one in catalogue().values():
            assert pickle.loads(pickle.dumps(one)) == one
            assert len(pickle.dumps(one)) < 300, one
        bound = parse("ndcg(gain=exponential)@10")
        again = pickle.loads(pickle.dumps(replace(bound, judges=("lexical",))))
        assert (again.label, again.judges, again.function) == (bound.label, ("lexical",), bound.function)

    def test_a_criterion_travels_with_its_prompt(self) -> None:
        """Of a command line or a notebook it is declared there alone."""
        made = own_metrics.criterion("Is it polite?", name="polite")
        packed = cloudpickle.dumps(made)
        declarations.withdraw("polite")  # as where a worker starts
        again = cloudpickle.loads(packed)
        assert again.prompts[0].texts == made.prompts[0].texts
        assert again.label == "polite"

    def test_prompts_of_ones_own_travel_as_texts(self, bare: Path) -> None:
        (bare / "own.txt").write_text("Ours: {question} {response}", encoding="utf-8")
        small_project.add(bare, '[metrics.answer_relevance]\nprompt = "own.txt"\n')
        ours = parse("answer_relevance")
        packed = cloudpickle.dumps(ours)
        (bare / "own.txt").unlink()  # as where a worker starts
        small_project.enter(bare, pytest.MonkeyPatch(), '[metrics.answer_relevance]\nprompt = "own.txt"\n')
        assert not parse("answer_relevance").reworded, "it is ragbench's own there"
        again = cloudpickle.loads(packed)
        assert again.prompts[0].texts == ours.prompts[0].texts
        assert again.reworded == ours.reworded != {}

    def test_replies_are_counted_once_in_whatever_part(self) -> None:
        one, other = (Used(10, 2, 0.5, False, "m-1"), Used(1, 1, 0.25, True, None))
        together = Replies("m", by_key={"a": one, "b": other})
        together.by_key.update({"b": other})
        assert together.usage.replies == 2
        assert together.usage.cost == 0.75
        assert together.usage.answered_by == {"m-1": 1}


class TestTrials:
    def test_what_a_judge_said_in_parts_is_what_it_said(self) -> None:
        rows = [replace(one, language="en") for one in samples(8)]
        trial = asking.Trial(
            parse("faithfulness_rating"),
            Answers(tuple(rows), tuple(one.id for one in rows), (), _nothing(len(rows))),
            Temptations((), {"longer": tuple(rows[:3])}, ((rows[0], rows[1]), (rows[2], rows[3]))),
            prompts=("ru",) * len(rows),
        )
        whole = asyncio.run(asking.hear(LexicalJudge(), trial))
        flat = [one for group in asking.assignments(trial) for one in group]
        told: list[Any] = []
        for start in range(0, len(flat), 5):
            part = cloudpickle.loads(cloudpickle.dumps(flat[start : start + 5]))
            told += asyncio.run(asking.answered(LexicalJudge(), trial.metric, part))
        again = asking.together("lexical", trial, told, stand_in=True)
        timeless = [replace(one, answers=replace(one.answers, seconds=None)) for one in (again, whole)]
        assert repr(timeless[0]) == repr(timeless[1])


def _nothing(rows: int) -> Any:
    import numpy as np

    return np.zeros((rows, 0))


class TestAddresses:
    @pytest.mark.parametrize(
        ("text", "count", "url"),
        [("local:4", 4, ""), ("tcp://10.0.0.1:8786", 0, "tcp://10.0.0.1:8786"), ("tls://host:1", 0, "tls://host:1")],
    )
    def test_what_is_one(self, text: str, count: int, url: str) -> None:
        found = address.parse(text)
        assert (found.count, found.url) == (count, url)

    def test_a_scheduler_is_found_in_its_file(self, tmp_path: Path) -> None:
        path = tmp_path / "scheduler.json"
        path.write_text(json.dumps({"address": "tcp://10.0.0.2:8786", "workers": {}}))
        assert address.parse(str(path)) == address.Address(url="tcp://10.0.0.2:8786")

    @pytest.mark.parametrize("text", ["local:0", "local:", "host:8786", "http://host:8786", "nowhere.json"])
    def test_what_is_none_is_refused_with_what_is(self, text: str) -> None:
        with pytest.raises(ClusterError, match=r"local:4|cannot be read") as refusal:
            address.parse(text)
        assert repr(text) in str(refusal.value)

    def test_a_file_without_an_address_is_none(self, tmp_path: Path) -> None:
        path = tmp_path / "other.json"
        path.write_text("[]")
        with pytest.raises(ClusterError, match="no address"):
            address.parse(str(path))


class TestIdentities:
    OURS = Identity(
        "1.0", "abc", "3.11", {"numpy": "2.4.6"}, "7/5", "", frozenset({"A_KEY"}), {"style.py": "1"}, "/there"
    )

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"version": "0.9", "code": "x"}, "has ragbench 0.9, and 1.0 asks it"),
            ({"code": "def"}, "other files of ragbench 1.0 (def, not abc)"),
            ({"python": "3.13"}, "Python 3.13, not 3.11"),
            ({"packages": {"numpy": "2.0"}}, "pip install numpy==2.4.6"),
            ({"packages": {}}, "numpy not installed"),
            ({"database": "7/6"}, "another database"),
            ({"database": "", "unreached": "no such host"}, "does not reach the database (no such host)"),
            ({"keys": frozenset()}, "has no key in A_KEY"),
            ({"modules": {"style.py": "0"}}, "has another style.py (0, not 1): copy it to /there there, and start it"),
            ({"modules": {}}, "has no style.py, which metrics.modules need: copy it to /there there"),
            ({"modules": {"style.py": "1", "more.py": "2"}}, "has more.py in /there, which is not here: remove it"),
        ],
    )
    def test_a_difference_is_said_with_what_helps(self, change: dict[str, Any], said: str) -> None:
        found = self.OURS.differs(replace(self.OURS, **change))
        assert len(found) == 1
        assert said in found[0]

    def test_equal_ones_do_not_differ(self) -> None:
        assert self.OURS.differs(replace(self.OURS, keys=frozenset({"A_KEY", "MORE"}))) == []

    def test_another_version_is_compared_as_far_as_it_has_said(self) -> None:
        older = replace(self.OURS, version="0.9", code="x")
        vars(older).pop("modules")  # as it comes from a process whose identities have none
        [said] = self.OURS.differs(older)
        assert "has ragbench 0.9" in said

    def test_modules_are_what_this_process_found_first(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        small_project.add(project, '[metrics]\nmodules = ["mine.style"]\n')
        (project / "mine").mkdir()
        for name, text in (("__init__", ""), ("style", "from mine import words\n"), ("words", ""), ("other", "")):
            (project / "mine" / f"{name}.py").write_text(text, encoding="utf-8")
        first = issue(load())
        assert set(first.modules) == {"mine/__init__.py", "mine/style.py", "mine/words.py"}
        assert first.folder == str(project)
        (project / "mine" / "words.py").write_text("LONGEST = 3\n", encoding="utf-8")
        assert issue(load()) == first, "what is imported stays imported"
        worker_pool._files.cache_clear()
        [said] = first.differs(issue(load()))
        assert said.startswith("has another mine/words.py (")

    def test_an_embedder_with_other_files_is_refused(self) -> None:
        made = embed.make("hashing", EmbedderSettings(), ["one text", "another"])
        require_same([pickle.loads(pickle.dumps(made))], [made.identity])
        with pytest.raises(UnfitError, match="other files of the embedder hashing"):
            require_same([made], ["hashing of other texts"])

    def test_an_error_arrives_as_it_was_raised(self) -> None:
        raised = UnfitError(["the worker a has ragbench 0.9"])
        assert str(pickle.loads(pickle.dumps(raised))) == str(raised)


class TestGreeting:
    @contextlib.contextmanager
    def listening(self) -> Iterator[str]:
        """Something that is no scheduler, and never says a word."""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            one.listen()
            yield f"127.0.0.1:{one.getsockname()[1]}"

    def opened(self, url: str) -> None:
        with opened(Settings(cluster=url)):
            raise AssertionError("nobody is there")

    def test_what_is_no_scheduler_is_not_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
        monkeypatch.setattr("ragbench.old.extras.cluster.worker_pool.CONNECT_SECONDS", 1.0)
        with self.listening() as place, pytest.raises(ClusterError, match=r"has said nothing for .* another port"):
            self.opened(f"tcp://{place}")
        with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1 .* start one: dask"):
            self.opened("tcp://127.0.0.1:1")

    def test_tls_without_certificates_is_named(self) -> None:
        pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
        with self.listening() as place, pytest.raises(ClusterError, match="TLS needs certificates, and Dask was given"):
            self.opened(f"tls://{place}")


def test_nothing_secret_is_in_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", "postgresql://me:hidden-word@host/db")
    monkeypatch.setenv("A_KEY", "sk-hidden-word")
    known = Settings(
        database_url="postgresql://me:hidden-word@host/db",
        judges={"j": {"model": "m", "base_url": "http://host/v1", "key_variable": "A_KEY"}},
        embedders={"e": {"kind": "openai", "model": "m", "base_url": "http://host/v1", "key_variable": "A_KEY"}},
    )
    made = embed.make("e", known.embedders["e"])
    packed = pack(print, made, known, TestIdentities.OURS, "run")
    assert b"hidden-word" not in packed
    assert b"A_KEY" in packed, "its name goes along"


class TestTallies:
    def test_parts_are_one_count(self) -> None:
        steps: list[int] = []
        tallies: list[Tally] = []
        together = Together(steps.append, lambda tally: tallies.append(replace(tally)))
        told: list[Any] = []
        counter = Counter(told.append)
        counter.advance(3)
        together.heard(0, told[-1])
        together.heard(1, {"done": 2, "calls": {"asked": 5, "done": 4, "cost": 0.5}})
        assert steps == [3, 2]
        counter.changed(Tally(asked=2, done=1, cost=0.25))
        together.heard(0, counter.state)
        assert (tallies[-1].asked, tallies[-1].done, tallies[-1].cost) == (7, 5, 0.75)

    def test_every_counter_of_the_calls_is_told(self) -> None:
        tallies: list[Tally] = []
        together = Together(None, lambda tally: tallies.append(replace(tally)))
        names = [each.name for each in fields(Tally) if each.name != "on_change"]
        for part in (0, 1):
            counter = Counter(lambda state: None)
            counter.changed(Tally(**{name: place + part for place, name in enumerate(names)}))
            together.heard(part, counter.state)
        assert tallies[-1] == Tally(**{name: 2 * place + 1 for place, name in enumerate(names)})
        unpriced = Tally(asked=1, done=1, calls=1, unpriced=1)
        together.heard(0, {"done": 0, "calls": {"asked": 1, "unpriced": 1}})
        together.heard(1, {"done": 0, "calls": {}})
        assert tallies[-1].money == unpriced.money == "unknown"

    def test_a_part_that_is_done_anew_takes_nothing_back(self) -> None:
        steps: list[int] = []
        together = Together(steps.append)
        for done in (4, 1, 4, 6):
            together.heard(0, {"done": done, "calls": {}})
        assert sum(steps) == 6
        assert min(steps) > 0


def test_a_database_is_told_from_another(database_settings: Settings) -> None:
    known = database_settings
    found = issue(known)
    assert found.unreached == ""
    assert found.database.count("/") == 1
    assert issue(known) == found


def test_measuring_names_the_cluster_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_CLUSTER", "nowhere")
    load.cache_clear()
    try:
        rows = samples(4)
        metrics = applicable(rows, ["rouge1_f"])
        with pytest.raises(ClusterError, match="'nowhere' is no cluster"):
            asyncio.run(measure(rows, metrics, Asked()))
    finally:
        monkeypatch.delenv("RAGBENCH_CLUSTER")
        load.cache_clear()

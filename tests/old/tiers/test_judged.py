"""Judged metrics inside a tier: score rows, each judge's share, and what is refused before anything is asked."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import ragbench.old
from ragbench.old.core import settings as configuration
from ragbench.old.core.measurement import SCORE_COLUMNS
from ragbench.old.core.types import Chunk, Question, Sample
from ragbench.old.data import Dataset
from ragbench.old.judge import OFFLINE_JUDGES, LexicalJudge, WordReader
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.session import Session
from ragbench.old.tiers.scoring.judged_metrics import JUDGEMENT_COLUMNS, Judging, judged

CHUNK = Chunk("c1", "The tower in Paris was finished in 1889 and is 330 metres high.")


def session() -> Session:
    known = configuration.Settings()
    questions = (Question("q1", "How high is the tower?"),)
    dataset = Dataset("tiny", "en", "Tiny", "CC0", (CHUNK,), questions, (), (), (), (), "0" * 64)
    return Session("tier2_generation", known, dataset, ("one",), "one", None)


def samples() -> list[Sample]:
    good = Sample("q1", "How high is the tower?", "The tower is 330 metres high.", contexts=(CHUNK,), system="one")
    return [good, replace(good, id="q2", response="The bridge opened in 1932."), replace(good, id="q3", response="")]


def test_the_lexical_judge_scores_every_sample_with_what_made_the_score() -> None:
    found = judged(session(), samples(), [catalogue()["faithfulness"]], Judging(judges="lexical", prompts="en"))
    assert list(found.scores.columns) == list(SCORE_COLUMNS)
    assert list(found.scores["value"])[:2] == [1.0, 0.0]
    assert found.scores["status"].tolist() == ["ok", "ok", "empty_input"]
    assert math.isnan(found.scores["value"][2])
    assert list(found.judgements.columns) == list(JUDGEMENT_COLUMNS)
    detail = json.loads(found.judgements["detail"][0])
    assert "330 metres" in json.dumps(detail, ensure_ascii=False)
    assert found.facts["judges"] == [
        {"name": "lexical", "stand_in": True, "asked": 2, "failed": 0, "statuses": {}, "suspected": 0}
    ]
    assert found.facts["aggregate"] is None


def test_a_judge_that_is_not_configured_is_named_with_the_legal_ones() -> None:
    with pytest.raises(BenchError, match=r"no judge 'gpt'.*lexical"):
        judged(session(), samples(), [catalogue()["faithfulness"]], Judging(judges="gpt"))
    with pytest.raises(BenchError, match=r"no embedder 'bert'.*hashing"):
        judged(session(), samples(), [catalogue()["faithfulness"]], Judging(embedder="bert"))


class Strict(LexicalJudge):
    name = "strict"

    def __init__(self) -> None:
        super().__init__(WordReader(0.95))


def test_another_offline_judge_is_named_as_a_stand_in_wherever_it_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OFFLINE_JUDGES, Strict.name, Strict)
    found = judged(session(), samples(), [catalogue()["faithfulness"]], Judging(judges="strict, lexical", prompts="en"))
    assert [(one["name"], one["stand_in"]) for one in found.facts["judges"]] == [("strict", True), ("lexical", True)]
    assert set(found.judgements["judge"]) == {"strict", "lexical"}
    alone = ragbench.old.score([samples()[0]], ["faithfulness"], "strict", resamples=200)
    assert [(one.part, one.name) for one in alone.stand_ins] == [("judge", "strict")]

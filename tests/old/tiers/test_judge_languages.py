"""The same answers judged with the English and with the Russian prompt: what is asked, and what is made of it."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import tiers, views
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Answer, Prompt, Sample, Status
from ragbench.old.judge import Again, LexicalJudge
from ragbench.old.metrics.ratings import ACCURACY, Rating, answer_accuracy
from ragbench.old.tiers.judges import asking, numbers
from ragbench.old.tiers.judges.asking import Heard, Trial
from ragbench.old.tiers.judges.items import NOTHING
from ragbench.old.views import Page
from tests.old.llm.chat_server import ChatServer
from tests.old.tiers.heard_judges import NAN, SURE, answers, findings, heard, of_probe, tried, values
from tests.old.tiers.test_judge_quality import judge_at, made
from tests.old.tiers.test_judge_quality import tried as probes_of

N = 80
CYRILLIC = re.compile("[а-яё]")


class Listening:
    """A judge that notes in which language it is asked what, and rates 2 in English and 1 in Russian."""

    name = identity = "listening"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    async def ask(
        self, prompt: Prompt[Any], texts: Any, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Any]:
        self.asked.append((str(texts["question"]), language))
        return Answer(Rating(reason="", rating=1 if language == "ru" else 2), seconds=0.1)


def hear(judge: Any, trial: Trial) -> Heard:
    return asyncio.run(asking.hear(judge, trial))


def in_two_languages() -> Trial:
    """An English answer and a Russian one, each with a prompt in the other language too."""
    known = answers(np.zeros((2, 0)))
    samples = tuple(Sample(name, name, "An answer.", "A reference.", language=name) for name in ("en", "ru"))
    return Trial(answer_accuracy, replace(known, samples=samples), NOTHING, prompts=("ru", "en"), repeats=1)


def test_the_prompt_changes_its_language_and_the_answer_stays() -> None:
    judge, trial = Listening(), in_two_languages()
    found = hear(judge, trial)
    assert found.prompted is not None
    assert found.prompted.tolist() == [[1.0, 0.5], [1.0, 0.5]], "English first, whichever is the answer's own"
    turns = len(ACCURACY)
    assert {each: judge.asked.count(each) for each in judge.asked} == {
        ("en", "en"): 2 * turns, ("ru", "ru"): 2 * turns, ("en", "ru"): turns, ("ru", "en"): turns,
    }, "each answer as it is, with the scale turned, and once with the other prompt"  # fmt: skip
    assert trial.calls == 2 * 3
    assert replace(trial, prompts=()).calls == 2 * 2
    assert hear(Listening(), replace(trial, prompts=())).prompted is None


def test_a_prompt_that_is_the_same_in_both_languages_is_not_asked() -> None:
    """It would agree with itself: one that is written in one language, or asked in another one all the same."""
    both, judge = ACCURACY[0], Listening()
    english = replace(both, texts={"en": both.texts["en"]})
    for prompt, language in ((english, "ru"), (both, None), (both, "en")):
        found = asyncio.run(Again(judge, language="ru").ask(prompt, {"question": "?"}, language=language))
        assert (found.value, found.status) == (None, Status.EMPTY_INPUT)
    assert not judge.asked
    trial = in_two_languages()
    bare = replace(trial.answers, samples=tuple(replace(one, reference=None) for one in trial.answers.samples))
    assert hear(judge, replace(trial, answers=bare)).prompted is None, "nothing was put to the judge"


def test_agreement_by_hand() -> None:
    """40 of 80 scores fall from 0.75 to 0.25: with values a and b at 120 and 40 of 160 places and d² their distance,
    observed disagreement is 80 d² / 160, expected 2 · 120 · 40 d² / (160 · 159)."""
    prompted = np.array([[0.75, 0.25], [0.75, 0.75]] * 40)
    one, known = heard(prompted[:, 0], prompted=prompted), tried(answers(np.zeros((N, 0))))
    found = values(numbers.prompted(one, known.answers.clusters, SURE))
    assert found["exact_agreement"] == 0.5
    assert found["krippendorff_alpha"] == pytest.approx(1 - 0.5 / (2 * 120 * 40 / (160 * 159)))
    mean, moved = (of_probe(one, known, name) for name in ("prompt_language", "prompt_language_changes"))
    assert (mean.effect.value, mean.limits, mean.verdict) == (-0.25, (-0.05, 0.05), "found")
    half = 1.990450 * 0.25 * math.sqrt(80 / 79) / math.sqrt(80)
    assert mean.effect.low == pytest.approx(-0.25 - half, abs=0.01), "pairs, by Student's t"
    assert mean.effect.high == pytest.approx(-0.25 + half, abs=0.01)
    assert (moved.effect.value, moved.verdict) == (0.5, "found")


def test_what_has_no_score_in_one_language_is_unmeasured() -> None:
    prompted = np.array([[0.75, NAN]] * 5 + [[0.5, 0.5]] * 20)
    one, known = heard(prompted[:, 0], prompted=prompted), tried(answers(np.zeros((25, 0))))
    equal = numbers.prompted(one, known.answers.clusters, SURE)["exact_agreement"]
    assert (equal.value, equal.n, equal.n_unmeasured) == (1.0, 20, 5)
    assert of_probe(one, known, "prompt_language").effect.n == 20
    assert numbers.prompted(heard(np.ones(25)), known.answers.clusters, SURE) == {}
    untold = of_probe(heard(np.ones(25)), known, "prompt_language")
    assert (untold.verdict, untold.why) == ("unmeasured", "one_prompt")


def test_the_offline_judge_reads_no_prompt() -> None:
    found = hear(LexicalJudge(), in_two_languages()).prompted
    assert found is not None
    assert found[:, 0].tolist() == found[:, 1].tolist()


def page(project: Path, drop: Callable[[int], int], number: int = N) -> tuple[Measurement, ChatServer]:
    """A page about a judge that rates 4 of 5 with an English prompt, with a Russian one `drop` of the place less."""
    texts = {n: f"Hall {n} opens at {n % 9 + 7}." for n in range(number)}
    rows = {
        "chunks": [{"id": f"c{n}", "text": text} for n, text in texts.items()],
        "questions": [{"id": f"q{n:02}", "text": f"{n}?", "reference": text} for n, text in texts.items()],
        "ratings": [
            {"id": f"r{n:02}", "question_id": f"q{n:02}", "answer": text, "context": [f"c{n}"], "ratings": {"ann": 4}}
            for n, text in texts.items()
        ],
    }
    made(project / "data" / "halls", lambda _language: rows, "en")

    def reply(body: dict[str, Any]) -> Any:
        text = "\n".join(str(one["content"]) for one in body["messages"])
        asked = re.search(r"Hall (\d+) opens", text)
        assert asked
        return {"reason": "so", "rating": 4 - (drop(int(asked[1])) if CYRILLIC.search(text) else 0)}

    with ChatServer(answer=reply).running() as server:
        judge_at(project, server, "gpt-tester")
        found = tiers.tier_judge("halls", "model", tempted=0, repeats=1, resamples=200)
    return found, server


def shown(found: Measurement, language: str = "en") -> str:
    html = str(views.judges.repeatability(Page(found, language=language)).html())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)).replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_a_judge_that_is_harsher_with_a_russian_prompt(project: Path) -> None:
    """Half of the answers get 2 instead of 4, on a scale from 1 to 5: half of 2 / 4 of the scale."""
    found, server = page(project, lambda n: 0 if n % 2 else 2)
    probes = probes_of(found).loc["model"]
    assert (probes["value"]["prompt_language"], probes["verdict"]["prompt_language"]) == (-0.25, "found")
    assert probes["value"]["prompt_language_changes"] == 0.5
    assert probes["why"]["language"] == "one_language", "the answers are English all the while"
    assert findings(found, trial="prompts")["value"]["model", "exact_agreement"] == 0.5
    in_russian = [one for one in server.requests if CYRILLIC.search(json.dumps(one.body, ensure_ascii=False))]
    assert len(in_russian) == N, "one question more for each answer, and none about faithfulness"
    assert found.facts["calls"] == 3 * N
    table = found.extra["effects"]
    own = table[table["probe"] == "prompt_language"].set_index("id").loc["r00"]
    assert own[["before", "after", "value", "failed"]].tolist() == [0.75, 0.25, -0.5, True]
    said = shown(found)
    assert "The scores of model depend on the prompt's language" in said.replace("&#39;", "'")
    assert "\N{MINUS SIGN}0.250 [" in said
    assert "Оценки судьи model зависят от языка промпта" in shown(found, "ru")


def test_equal_replies_agree(project: Path, tmp_path: Path) -> None:
    found, _ = page(project, lambda _: 0, 2 * N)
    verdicts = probes_of(found).loc["model"]["verdict"]
    assert (verdicts["prompt_language"], verdicts["prompt_language_changes"]) == ("passed", "passed")
    found.save(tmp_path / "kept")
    kept = Measurement.load(tmp_path / "kept")
    assert "The scores of model with the English and with the Russian prompt agree" in shown(kept)
    assert "с английским и с русским промптом согласуются" in shown(kept, "ru")


def test_few_answers_tell_nothing(project: Path) -> None:
    found, _ = page(project, lambda _: 0, 12)
    assert probes_of(found).loc["model"]["verdict"]["prompt_language"] == "open", "one in four could go unseen"
    assert "prompt agree cannot be told from these answers" in shown(found)

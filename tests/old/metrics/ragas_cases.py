"""Scripted verdicts, drawn at random, and what ragbench makes of them where it is to count as ragas does.

Among them are sides without claims, texts and chunks without words, ratings that did not come, and vectors of which
single precision holds no number exactly.

A case is (metric, script): everything that a judge says and the numbers that an embedder gives, so that other software
can be given the very same. `benchmarks/ragas_metrics.py` does that and keeps its values in ragas_values.json.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.metrics import catalogue
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge

Script = Mapping[str, Any]
CASES = 120
NAMES = ("Paris", "paris", "Eiffel Tower", "1889", "Gustave Eiffel", "France", "FRANCE", "330 m", "Seine")
LEVELS = (1, 2, 3, 4, 5)
WEIGHTS = ((0.75, 0.25), (0.5, 0.5), (1.0, 0.0), (0.1, 0.9), (3.0, 1.0))
ALLOWED = 1e-9
SINGLE = 3e-7
"""What single precision leaves between two ways of adding up, of metrics whose vectors it holds."""
THRESHOLDS = (None, 0.0, 0.3, 0.5, 0.9)
RESPONSES = ("Response.", "Context 1.", "context 1.", "Context 1.\nContext 2.", "", "  ", "2.\nContext")
QUESTIONS = ("Q?", "Context 1.\nContext 2.", " Is it Context 1.\nContext 2.?", "", "  ")
CONTEXTS = {False: ["Context 1.", "Context 2."], True: [" "]}


def cases(seed: int = 20, count: int = CASES) -> list[tuple[str, Script]]:
    """So many scripts of every metric, always the same for a seed and a count."""
    draw = random.Random(seed)
    return [(name, make(draw, number)) for name, make in MAKERS.items() for number in range(count)]


def _bits(draw: random.Random, least: int = 1, most: int = 9) -> list[int]:
    share = draw.random()
    return [int(draw.random() < share) for _ in range(draw.randint(least, most))]


def _vector(draw: random.Random) -> list[float]:
    """Numbers that are rounded where they are held in single precision, and never all of them 0."""
    return [1.0, *(draw.uniform(-1, 1) for _ in range(3))]


def _of_statements(draw: random.Random, number: int) -> Script:
    """Every third time the judge passes over some statements; every eleventh there are none."""
    verdicts = _bits(draw) if number % 11 else []
    if not verdicts:
        return {"verdicts": [], "statements": draw.randint(0, 2)}
    return {"verdicts": verdicts, "statements": len(verdicts) + (draw.randint(1, 3) if number % 3 == 0 else 0)}


def _of_noise(draw: random.Random, number: int) -> Script:
    contexts, said, true = draw.randint(1, 5), draw.randint(1, 6) if number % 11 else 0, draw.randint(1, 5)
    return {
        "correct": _bits(draw, said, said),
        "by_context": [_bits(draw, said, said) for _ in range(contexts)],
        "relevant": [_bits(draw, true, true) for _ in range(contexts)],
        "mode": ("relevant", "irrelevant")[number % 2],
    }


def _of_facts(draw: random.Random, number: int) -> Script:
    mode = ("f1", "precision", "recall")[number % 3]
    sides = {"response": _bits(draw) if number % 5 else [], "reference": _bits(draw) if number % 7 else []}
    return {**sides, "mode": mode, "beta": (1.0, 0.5, 2.0)[number % 9 // 3]}


def _of_two(draw: random.Random, number: int) -> Script:
    """Every fourth time one of the two raters gives nothing, and sometimes neither does."""
    ratings: list[int | None] = [draw.randint(0, 2), draw.randint(0, 2)]
    if number % 4 == 0:
        ratings[draw.randint(0, 1)] = None
    if number % 40 == 0:
        ratings = [None, None]
    return {"ratings": ratings}


MAKERS: dict[str, Callable[[random.Random, int], Script]] = {
    "faithfulness": _of_statements,
    "context_recall": _of_statements,
    "context_precision": lambda draw, number: {
        "useful": _bits(draw) if number % 9 else [],
        "strategy": ("reference", "response")[number % 2],
    },
    "context_entity_recall": lambda draw, number: {
        "reference": draw.choices(NAMES, k=draw.randint(1, 6)) if number % 9 else [],
        "contexts": draw.choices(NAMES, k=draw.randint(0, 9)),
    },
    "noise_sensitivity": _of_noise,
    "response_relevancy": lambda draw, number: {
        "asked": _vector(draw),
        "generated": [_vector(draw) for _ in range(3)],
        "blank": number % 13 if number % 13 < 4 else 0,
        "noncommittal": [1, 1, 1] if number % 5 == 0 else _bits(draw, 3, 3),
    },
    "semantic_similarity": lambda draw, number: {
        "response": _vector(draw),
        "reference": _vector(draw),
        "threshold": THRESHOLDS[number % len(THRESHOLDS)],
        "blank": (None, "response", "reference", "both")[number % 4] if number % 6 == 0 else None,
    },
    "factual_correctness": _of_facts,
    "answer_correctness": lambda draw, number: {
        "response": _bits(draw) if number % 5 else [],
        "reference": _bits(draw) if number % 7 else [],
        "vectors": [_vector(draw), _vector(draw)],
        "weights": WEIGHTS[number % len(WEIGHTS)],
    },
    "response_groundedness": lambda draw, number: {
        **_of_two(draw, number),
        "response": RESPONSES[number % len(RESPONSES)],
        "contexts": CONTEXTS[number % 7 == 0],
    },
    "rubrics_score": lambda draw, number: {"level": draw.choice(LEVELS)},
    "aspect_critique": lambda draw, number: {"verdicts": _bits(draw, 2 * (number % 3) + 1, 2 * (number % 3) + 1)},
    "simple_criteria": lambda draw, number: {
        "ratings": draw.choices(range(-2, 6), k=2 * (number % 3) + 1),
        "lowest": -2,
        "highest": 5,
    },
    "answer_accuracy": lambda draw, number: {**_of_two(draw, number), "response": RESPONSES[number % len(RESPONSES)]},
    "context_relevance": lambda draw, number: {
        **_of_two(draw, number),
        "asked": QUESTIONS[number % len(QUESTIONS)],
        "contexts": CONTEXTS[number % 7 == 0],
    },
}


def distance(ours: float, theirs: float | None) -> float:
    """Between two values; 0 where neither is one, infinite where one is."""
    if theirs is None or math.isnan(ours):
        return 0.0 if theirs is None and math.isnan(ours) else math.inf
    return abs(ours - theirs)


def allowed(metric: str) -> float:
    """How far apart two values of a metric may be."""
    return SINGLE if metric in ("answer_correctness", "response_relevancy", "semantic_similarity") else ALLOWED


def ours(metric: str, script: Script) -> float:
    """ragbench's value, in its variant where the two differ; of a rubric the level itself."""
    return asyncio.run(SCORERS[metric](script))


def texts(prefix: str, number: int) -> list[str]:
    """`Claim 1.`, `Claim 2.`, … of a text."""
    return [f"{prefix} {place}." for place in range(1, number + 1)]


def _said(verdicts: list[int]) -> dict[str, Any]:
    words = ["supported" if verdict else "neutral" for verdict in verdicts]
    return {
        "verdicts": [
            {"statement": place, "reason": "scripted", "verdict": word, "passages": []}
            for place, word in enumerate(words, 1)
        ]
    }


def _contexts(number: int) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{place}", text) for place, text in enumerate(texts("Context", number)))


async def _value(name: str, sample: Sample, embedder: Any = None, *, options: Mapping[str, Any], **said: Any) -> Score:
    metric = catalogue()[name].with_options(**options)
    tools = {"judge": ScriptedJudge(**said), "embedder": embedder}
    score: Score = await metric(sample, **{need: tools[need] for need in metric.needs})
    return score


async def _faithfulness(script: Script) -> float:
    listed = {"claims": texts("Claim", script["statements"])}
    sample = Sample("s", "Q?", "Response.", contexts=_contexts(1))
    given = {"claims": listed, "entailment": _said(script["verdicts"])}
    return (await _value("faithfulness", sample, options={"variant": "ragas"}, **given)).value


async def _context_recall(script: Script) -> float:
    reference = " ".join(texts("Sentence", script["statements"]))
    sample = Sample("s", "Q?", reference=reference, contexts=_contexts(1))
    given = {"entailment": _said(script["verdicts"])}
    return (await _value("context_recall", sample, options={"variant": "ragas"}, **given)).value


async def _context_precision(script: Script) -> float:
    flags = dict(zip(texts("Context", len(script["useful"])), script["useful"], strict=True))
    sample = Sample("s", "Q?", "Response.", "Reference.", contexts=_contexts(len(flags)))

    def useful(asked: Any) -> dict[str, Any]:
        return {"reason": "scripted", "verdict": "useful" if flags[asked["context"]] else "useless"}

    options = {"variant": "ragas", "strategy": script["strategy"]}
    return (await _value("context_precision", sample, options=options, context_precision=useful)).value


async def _context_entity_recall(script: Script) -> float:
    sample = Sample("s", reference="Reference.", contexts=_contexts(1))

    def entities(asked: Any) -> dict[str, Any]:
        return {"entities": list(script["reference" if list(asked["texts"]) == ["Reference."] else "contexts"])}

    return (await _value("context_entity_recall", sample, options={"variant": "ragas"}, entities=entities)).value


async def _noise_sensitivity(script: Script) -> float:
    said, true = texts("Said", len(script["correct"])), texts("True", len(script["relevant"][0]))
    contexts = _contexts(len(script["by_context"]))
    place = {chunk.text: number for number, chunk in enumerate(contexts)}

    def entailment(asked: Any) -> dict[str, Any]:
        [passage] = asked["passages"]
        if passage == "Reference.":
            return _said(script["correct"])
        return _said(script["by_context" if list(asked["statements"]) == said else "relevant"][place[passage]])

    def claims(asked: Any) -> dict[str, Any]:
        return {"claims": said if asked["text"] == "Response." else true}

    sample = Sample("s", "Q?", "Response.", "Reference.", contexts=contexts)
    given = {"claims": claims, "entailment": entailment}
    return (await _value("noise_sensitivity", sample, options={"mode": script["mode"]}, **given)).value


async def _response_relevancy(script: Script) -> float:
    manners = ["noncommittal" if flag else "committal" for flag in script["noncommittal"]]
    questions = texts("Question", len(manners))
    questions[: script["blank"]] = [""] * script["blank"]
    vectors = dict(zip(reversed(questions), reversed(script["generated"]), strict=True))
    embedder = ScriptedEmbedder({"Q?": script["asked"], **vectors})
    listed = [{"question": text, "manner": manner} for text, manner in zip(questions, manners, strict=True)]
    given = {"response_relevancy": {"questions": listed}}
    return (
        await _value(
            "response_relevancy", Sample("s", "Q?", "Response."), embedder, options={"variant": "ragas"}, **given
        )
    ).value


async def _semantic_similarity(script: Script) -> float:
    sides = {side: "" if script["blank"] in (side, "both") else f"{side}." for side in ("response", "reference")}
    embedder = ScriptedEmbedder({text or " ": script[side] for side, text in sides.items()})
    options = {"threshold": script["threshold"], "variant": "ragas"}
    sample = Sample("s", **sides)
    return (await _value("semantic_similarity", sample, embedder, options=options)).value


def _facts(script: Script) -> dict[str, Any]:
    said = {side: texts(side.title(), len(script[side])) for side in ("response", "reference")}

    def claims(asked: Any) -> dict[str, Any]:
        return {"claims": said["response" if asked["text"] == "Response." else "reference"]}

    def entailment(asked: Any) -> dict[str, Any]:
        return _said(script["response" if list(asked["passages"]) == ["Reference."] else "reference"])

    return {"claims": claims, "entailment": entailment}


async def _factual_correctness(script: Script) -> float:
    sample = Sample("s", "Q?", "Response.", "Reference.")
    options = {"variant": "ragas", "mode": script["mode"], "beta": script["beta"]}
    return (await _value("factual_correctness", sample, options=options, **_facts(script))).value


async def _answer_correctness(script: Script) -> float:
    embedder = ScriptedEmbedder(dict(zip(("Response.", "Reference."), script["vectors"], strict=True)))
    factual, semantic = script["weights"]
    options = {"variant": "ragas", "factual_weight": factual, "semantic_weight": semantic}
    sample = Sample("s", "Q?", "Response.", "Reference.")
    return (await _value("answer_correctness", sample, embedder, options=options, **_facts(script))).value


def _rated(script: Script, *prompts: str) -> dict[str, Any]:
    return {
        prompt: Status.PARSE_ERROR if rating is None else {"reason": "scripted", "rating": rating}
        for prompt, rating in zip(prompts, script["ratings"], strict=True)
    }


async def _of_raters(name: str, sample: Sample, script: Script) -> float:
    return (await _value(name, sample, options={"variant": "ragas"}, **_rated(script, name, f"{name}_turned"))).value


async def _response_groundedness(script: Script) -> float:
    contexts = tuple(Chunk(f"c{place}", text) for place, text in enumerate(script["contexts"]))
    return await _of_raters(
        "response_groundedness", Sample("s", response=script["response"], contexts=contexts), script
    )


async def _context_relevance(script: Script) -> float:
    contexts = tuple(Chunk(f"c{place}", text) for place, text in enumerate(script["contexts"]))
    return await _of_raters("context_relevance", Sample("s", script["asked"], contexts=contexts), script)


async def _answer_accuracy(script: Script) -> float:
    return await _of_raters("answer_accuracy", Sample("s", "Q?", script["response"], "Reference."), script)


async def _aspect_critique(script: Script) -> float:
    said = [{"reason": "scripted", "verdict": ("no", "yes")[verdict]} for verdict in script["verdicts"]]
    options = {"repeats": len(said)}
    return (
        await _value("aspect_critique", Sample("s", response="Response."), options=options, aspect_critique=said)
    ).value


async def _simple_criteria(script: Script) -> float:
    said = [{"reason": "scripted", "rating": rating} for rating in script["ratings"]]
    lowest, highest = script["lowest"], script["highest"]
    options = {"repeats": len(said), "lowest": lowest, "highest": highest, "variant": "ragas"}
    score = await _value("simple_criteria", Sample("s", response="Response."), options=options, simple_criteria=said)
    assert score.value == (score.detail["rating"] - lowest) / (highest - lowest)
    return float(score.detail["rating"])


async def _rubrics_score(script: Script) -> float:
    rubric = {level: f"criteria {level}" for level in LEVELS}
    given = {"rubrics_score": {"reason": "scripted", "level": script["level"]}}
    score = await _value("rubrics_score", Sample("s", response="Response.", rubric=rubric), options={}, **given)
    assert score.value == (script["level"] - 1) / 4
    return float(score.detail["level"])


SCORERS = {
    "faithfulness": _faithfulness,
    "context_recall": _context_recall,
    "context_precision": _context_precision,
    "context_entity_recall": _context_entity_recall,
    "noise_sensitivity": _noise_sensitivity,
    "response_relevancy": _response_relevancy,
    "semantic_similarity": _semantic_similarity,
    "factual_correctness": _factual_correctness,
    "answer_correctness": _answer_correctness,
    "response_groundedness": _response_groundedness,
    "rubrics_score": _rubrics_score,
    "aspect_critique": _aspect_critique,
    "simple_criteria": _simple_criteria,
    "answer_accuracy": _answer_accuracy,
    "context_relevance": _context_relevance,
}

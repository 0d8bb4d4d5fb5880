"""Nuggets, claims by whose they are and grades of relevance against people, on answers that lie beside the checkout.

    python -m benchmarks.real_standards ../shared/data [--judge lexical|scripted]

mtrag-human-eval: answers of three writers with the scores that people gave each; lists of nuggets are made of the
passages by the same judge. ragchecker-human-pref: pairs of answers with two people's preferences; lists are made of the
reference, and the difference of a metric is held to the preference. mtrag-un: passages that people chose for a
question, and as many that they chose for another; grades are held to that. Each line: Kendall's τ with its interval,
over answers (or pairs), within topics, and of the writers' means. scripted: a judge whose every word follows from a
hash of what it is shown, as a control: its τ should be about 0.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import random
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragbench.old import stats
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Answer, Chunk, Estimate, Judge, Prompt, Sample
from ragbench.old.extras.standards.nugget_lists import Topic, by_run_and_topic, made
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics import catalogue

MTRAG = "mtrag-human-eval/human_eval_half.json.gz"
PREFERENCES = "ragchecker-human-pref/pairs_even.jsonl.gz"
UNANSWERED = "mtrag-un/mtragun_reference_clapnq_fiqa.jsonl.gz"
OF_ANSWERS = (
    ("nugget_score", "completeness"),
    ("nugget_score(over=vital)", "completeness"),
    ("nugget_score(strict=true)", "completeness"),
    ("context_utilization", "completeness"),
    ("claim_hallucination", "faithfulness"),
    ("self_knowledge", "faithfulness"),
    ("claim_recall", "completeness"),
)


class HashJudge:
    """See the module: shapes are filled by the hash of prompt and texts."""

    name = identity = "scripted"
    is_stand_in = True

    async def ask(
        self, prompt: Prompt[Any], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Any]:
        """As a model would answer that reads nothing."""
        drawn = random.Random(hashlib.sha256(f"{prompt.name}{sorted(texts.items())}{repeat}".encode()).digest())
        listed = next((value for name, value in texts.items() if name in ("nuggets", "statements") and value), None)
        return Answer(self._filled(prompt.shape, drawn, list(listed or ["one", "two", "three"])))

    def _filled(self, shape: type[BaseModel], drawn: random.Random, items: Sequence[str]) -> BaseModel:
        name = next(iter(shape.model_fields))
        if name in ("nuggets", "claims"):
            return shape.model_validate({name: [f"{shape.__name__} {n} {drawn.random()}" for n in range(4)]})
        if name == "grades":
            legal = ("vital", "okay") if shape.__name__ == "Importances" else ("full", "partial", "none")
            return shape.model_validate(
                {name: [{"number": n, "reason": "", "grade": drawn.choice(legal)} for n in range(1, len(items) + 1)]}
            )
        if name == "verdicts":
            words = ("supported", "neutral", "contradicted")
            return shape.model_validate(
                {name: [{"statement": n, "reason": "", "verdict": drawn.choice(words), "passages": []}
                        for n in range(1, len(items) + 1)]}
            )  # fmt: skip
        return shape.model_validate({"reason": "", "grade": drawn.randint(0, 3)})


async def scored(label: str, samples: Sequence[Sample], judge: Judge) -> list[float]:
    """The values of one metric."""
    metric = parse(label)
    return [(await metric(sample, judge=judge)).value for sample in samples]


def told(label: str, aspect: str, estimate: Estimate, missing: int) -> str:
    """A line: the metric, what people rated, τ with its interval, how many."""
    low, high = (f"{end:.3f}" if end is not None else "—" for end in (estimate.low, estimate.high))
    return (
        f"{label:36s} {aspect:28s} τ {estimate.value:6.3f} [{low}, {high}]  n {estimate.n}, without a value {missing}"
    )


async def of_answers(folder: Path, judge: Judge) -> None:
    """mtrag-human-eval."""
    data = json.loads(gzip.decompress((folder / MTRAG).read_bytes()))
    texts = {one["document_id"]: one["text"] for one in data["documents"]}
    tasks = {one["task_id"]: one for one in data["tasks"]}
    topics = []
    for name, task in tasks.items():
        chunks = tuple(Chunk(one["document_id"], texts[one["document_id"]]) for one in task["contexts"])
        topics.append(Topic(name, task["input"][-1]["text"], chunks, "en"))
    lists = {one.topic.id: one for one in await made(judge, topics)}
    print(f"mtrag-human-eval: {sum(bool(one.nuggets) for one in lists.values())} of {len(lists)} topics have a list")
    samples, people = [], {aspect: {} for aspect in dict(map(reversed, OF_ANSWERS))}  # type: ignore[var-annotated]
    for row in data["evaluations"]:
        own, task = lists[row["task_id"]], tasks[row["task_id"]]
        samples.append(Sample(
            row["task_id"], own.topic.question, row["model_response"], task["targets"][0]["text"],
            own.topic.passages or None, language="en", system=row["model_id"], nuggets=own.nuggets or None,
        ))  # fmt: skip
        for aspect, known in people.items():
            given = [float(one["value"]) for one in row["annotations"].get(aspect, {}).values()]
            known[row["model_id"], row["task_id"]] = statistics.fmean(given) if given else float("nan")
    for label, aspect in OF_ANSWERS:
        values = await scored(label, samples, judge)
        sign = -1.0 if parse(label).better == "lower" else 1.0
        ours = {(str(one.system), one.id): sign * value for one, value in zip(samples, values, strict=True)}
        missing = sum(value != value for value in values)
        for kind, estimate in by_run_and_topic(ours, people[aspect]).items():
            print(told(f"{'−' if sign < 0 else ''}{label}", f"{aspect}, by {kind}", estimate, missing))


async def of_pairs(folder: Path, judge: Judge) -> None:
    """ragchecker-human-pref."""
    rows = [json.loads(line) for line in gzip.decompress((folder / PREFERENCES).read_bytes()).splitlines()]
    topics = [
        Topic(f"{row['dataset']}/{row['query_id']}", row["query"], (Chunk("reference", row["gt_answer"]),), "en")
        for row in rows
    ]
    lists = await made(judge, list({one.id: one for one in topics}.values()))
    known = {one.topic.id: one.nuggets for one in lists}
    for label, aspect in (("nugget_score", "completeness"), ("nugget_score", "overall"),
                          ("nugget_score(over=vital)", "overall")):  # fmt: skip
        sides = []
        for side in ("model1", "model2"):
            samples = [
                Sample(topic.id, topic.question, row[side]["response"], language="en", nuggets=known[topic.id] or None)
                for topic, row in zip(topics, rows, strict=True)
            ]
            sides.append(await scored(label, samples, judge))
        ours = [second - first for first, second in zip(*sides, strict=True)]
        theirs = [
            statistics.fmean(row[f"human_annotator_{who}"][aspect] for who in "ab") for row in rows
        ]  # fmt: skip
        found = stats.agreement(theirs, ours, scale="interval", clusters=[one.id for one in topics])["kendall"]
        print(told(label, f"preference, {aspect}", found, sum(one != one for one in ours)))


async def of_passages(folder: Path, judge: Judge) -> None:
    """mtrag-un."""
    rows = [json.loads(line) for line in gzip.decompress((folder / UNANSWERED).read_bytes()).splitlines()]
    rows = [row for row in rows if row["contexts"]]
    labels, grades, clusters = [], [], []
    for place, row in enumerate(rows):
        for label, other in ((1.0, row), (0.0, rows[(place + len(rows) // 2) % len(rows)])):
            chunks = tuple(Chunk(one["document_id"], one["text"]) for one in other["contexts"])
            sample = Sample(row["task_id"], row["input"][-1]["text"], contexts=chunks, language="en")
            found = await parse("relevance_grade")(sample, judge=judge)
            for line in found.detail["chunks"]:
                labels.append(label)
                grades.append(float(line["grade"]))
                clusters.append(str(row["conversation_id"]))
    found = stats.agreement(labels, grades, scale="interval", clusters=clusters)["kendall"]
    print(told("relevance grade", f"chosen by people, {len(rows)} questions", found, 0))


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--judge", choices=("lexical", "scripted"), default="lexical")
    given = parser.parse_args()
    catalogue()
    judge: Judge = LexicalJudge() if given.judge == "lexical" else HashJudge()

    async def all_of_them() -> None:
        for work in (of_answers, of_pairs, of_passages):
            await work(given.data, judge)

    asyncio.run(all_of_them())


if __name__ == "__main__":
    main()

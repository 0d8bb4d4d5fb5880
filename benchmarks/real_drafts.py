"""Do drafted questions order five systems as people's do? XQuAD in both languages, as if it were bare documents.

    python -m benchmarks.real_drafts FOLDER_OF_THE_REAL_DATA_SETS FOLDER [QUESTIONS]

Five systems (`real_systems`) retrieve ten passages for people's questions, for drafts and for known items. Drafts are
written by a scripted model, which puts some words of a sentence after a common beginning, and whose quotes stand in the
passage; a language model would do better, and is not here. Kendall's τ-b of the systems' MRR with its interval, the
differences of level, of words and of overlap, and how many questions the order takes
(`ragbench.old.extras.testsets.examined`).
QUESTIONS: drafted of each kind, 240 by default.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import real_systems
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Answer, Array, Prompt, Question
from ragbench.old.data import QuestionRecord
from ragbench.old.data.records import ChunkRecord
from ragbench.old.extras.testsets import drafting, examined, kinds, known_items
from ragbench.old.extras.testsets.prompts import Checked, Drafted, Quote, Recalled, Ruling
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays import from_questions

METRIC = "mrr@10"
BEGINNINGS = {"en": ("What is told of {}?", "Who or what had {}?", "When was it that {}?"),
              "ru": ("Что известно о том, что {}?", "Кто или что {}?", "Когда {}?")}  # fmt: skip
WORD = re.compile(r"\w{5,}")


class Scripted:
    """A model that writes by a script and finds nothing wrong with what it wrote."""

    name = identity = "scripted"

    def __init__(self, language: str) -> None:
        self.beginnings = BEGINNINGS[language]

    async def ask(self, prompt: Prompt[Any], texts: Mapping[str, Any], **_: Any) -> Answer[Any]:
        if prompt.shape is Drafted:
            return Answer(self._drafted(texts["passages"]))
        if prompt.shape is Recalled:
            return Answer(Recalled(answer="", verdict=Ruling.NO))
        return Answer(Checked(reason="scripted", verdict=Ruling.YES))

    def _drafted(self, passages: Sequence[str]) -> Drafted:
        number = sum(map(ord, passages[0]))
        sentences = [part for part in re.split(r"(?<=[.!?])\s+", passages[0]) if len(WORD.findall(part)) >= 4]
        sentence = sentences[number % len(sentences)] if sentences else passages[0]
        words = WORD.findall(sentence)[:8][::-2]
        beginning = self.beginnings[number % len(self.beginnings)]
        quotes = [Quote(passage=place, text=text[:60].rpartition(" ")[0]) for place, text in enumerate(passages, 1)]
        return Drafted(question=beginning.format(" ".join(words)), answer=sentence[:200], quotes=quotes)


def questions_of(records: Sequence[QuestionRecord], language: str) -> tuple[Question, ...]:
    return tuple(Question(language=language, **record.model_dump()) for record in records)


def values(dataset: Any, questions: Sequence[Question], store: Any) -> dict[str, Array]:
    """System → the metric of every question."""
    asked = replace(dataset, questions=tuple(questions))
    rankings = real_systems.found(asked, store, 10)
    metric = parse(METRIC)
    return {
        name: evaluate(
            from_questions(questions, dict(zip([q.id for q in questions], hits, strict=True))), [metric]
        )[metric.label]
        for name, hits in rankings.items()
    }  # fmt: skip


def main(data: Path, folder: Path, number: int = 240) -> None:
    """Print a block a language."""
    catalogue()
    with real_systems.opened(folder) as store:
        for language in ("en", "ru"):
            dataset = real_systems.read(f"xquad:{language}", data, folder)
            chunks = [ChunkRecord(id=chunk.id, text=chunk.text, url=chunk.url) for chunk in dataset.chunks]
            texts = {chunk.id: chunk.text for chunk in chunks}
            tasks = kinds.tasks_of({"one_fact": 3, "colloquial": 1, "several_passages": 1}, kinds.STYLES, number, 0)
            made = drafting.Drafting(
                Scripted(language), chunks, kinds.Spread(chunks, 0), drafting.Filters(language=language)
            )
            asyncio.run(made.run(tasks, len(tasks)))
            drafts = [record for candidate in made.kept if isinstance(record := candidate.record(), QuestionRecord)]
            kinds_of = {"drafted": questions_of(drafts, language),
                        "known items": questions_of(known_items.draft(chunks, number), language)}  # fmt: skip
            people = values(dataset, dataset.questions, store)
            print(f"\nxquad:{language}  people {len(dataset.questions)}: {examined.wording(dataset.questions, texts)}")
            for name, questions in kinds_of.items():
                belief = examined.compared(values(dataset, questions, store), people)
                print(f"{name} {belief.n}: tau {belief.tau:.2f} [{belief.low:.2f}, {belief.high:.2f}], order holds "
                      f"from {belief.needed} questions; {examined.wording(questions, texts)}")  # fmt: skip
                for system in belief.systems:
                    print(f"  {system:9} {belief.drafted[system]:.3f}  people's {belief.people[system]:.3f}  "
                          f"{belief.levels[system]:+.3f}")  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:4]))

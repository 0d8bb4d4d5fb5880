"""A system whose results lie in a file: what it retrieved and answered, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ragbench.core.errors import BenchError, suggest
from ragbench.core.types import Dataset, Sample
from ragbench.data import read_answers
from ragbench.systems.asked import AskedSystem, Purpose
from ragbench.systems.generators import Contexts
from ragbench.systems.hits import KnownPassages, Returned, compared


class ResultsSystem(AskedSystem):
    """A system that is not asked: its file, a list of rows or a frame says what it gave.

    Rows are known by the id of the question, else by its text; a question without a row is an
    error, and one that is asked again gets its next row. Raises BenchError for a source that is
    not read, and for one of several systems of which none has this name.
    """

    def __init__(self, name: str, source: Any, dataset: Dataset, known: KnownPassages) -> None:
        super().__init__(name, known)
        self._source = source
        samples = read_answers(source).samples
        systems = sorted({sample.system for sample in samples})
        if len(systems) > 1:
            if name not in systems:
                raise BenchError(
                    f"{name}: the results are of {', '.join(systems)}{suggest(name, systems)}; "
                    "call the system as one of them"
                )
            samples = [sample for sample in samples if sample.system == name]
        self.can_retrieve = any(sample.contexts is not None for sample in samples)
        self.can_answer = any(sample.answer is not None for sample in samples)
        self._rows: dict[str, list[Sample]] = {}
        for sample in samples:
            for key in {sample.id, compared(sample.question or "")} - {""}:
                self._rows.setdefault(key, []).append(sample)
        questions = dataset.questions
        self._ids = dict(zip(questions["text"], questions["question_id"], strict=True))
        self._times: Counter[tuple[Purpose, str]] = Counter()

    def ask_all(
        self, purpose: Purpose, questions: Sequence[str], k: int, contexts: Contexts | None
    ) -> list[Returned]:
        """Look every question up."""
        entries = []
        for question in questions:
            by_id = self._rows.get(self._ids.get(question, ""))
            rows = by_id or self._rows.get(compared(question), [])
            if rows:
                row = rows[self._times[purpose, question] % len(rows)]
                self._times[purpose, question] += 1
                entries.append(Returned(row.answer, row.contexts))
            else:
                entries.append(Returned(error="its results say nothing of this question"))
        return entries

    def describe(self) -> str:
        """Name the file."""
        return f"results in {getattr(self._source, 'name', type(self._source).__name__)}"

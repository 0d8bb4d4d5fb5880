"""A run's material without what names people: for pages that go out of the house."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragbench.core.measurement import Measurement
from ragbench.tiers.retrieval.masking import MASK, Masker

if TYPE_CHECKING:
    import pandas as pd

KEYS = frozenset({"sample", "chunk", "url", "id", "cluster", "question", "turn", "user"})
"""Columns that rows are found by: a masked value gets a number of its own, so that rows still find each other."""

NAMES = frozenset({"system", "metric", "judge", "status", "kind", "language", "page", "notebook", "first", "second"})
"""Columns that name no person."""

PLAIN_FACTS = frozenset(
    {"data_hash", "commit", "versions", "systems", "judges", "baseline", "primary", "dataset", "key_metrics", "unit"}
)


@dataclass
class Veil:
    """Masks e-mail addresses, handles, telephones, long numbers and users' ids in everything of a measurement."""

    masker: Masker = field(default_factory=Masker)
    _numbers: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A text, or a JSON text, whose numbers stay numbers."""
        if text[:1] in ("{", "["):
            try:
                value = json.loads(text)
            except ValueError:
                return self.masker.text(text) or ""
            return json.dumps(self.json(value), ensure_ascii=False, sort_keys=True)
        return self.masker.text(text) or ""

    def key(self, key: str) -> str:
        """An id: itself where it names nobody, else a mask with a number, the same for the same id."""
        if self.masker.text(key) == key:
            return key
        return self._numbers.setdefault(key, f"{MASK}{len(self._numbers) + 1}")

    def json(self, value: Any) -> Any:
        """A JSON value: keys as ids, texts as texts."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.key(str(key)): self.json(item) for key, item in value.items()}
        return [self.json(item) for item in value] if isinstance(value, list | tuple) else value

    def measurement(self, made: Measurement) -> Measurement:
        """The measurement with every text masked; its numbers, and the rows' order, stay."""
        facts = {key: value if key in PLAIN_FACTS else self.json(value) for key, value in made.facts.items()}
        facts |= {"masked": True} if "masked" in facts else {}
        return replace(
            made,
            facts=facts,
            scores=self.table(made.scores),
            questions=self.table(made.questions),
            retrieved=self.table(made.retrieved),
            extra={name: self.table(table) for name, table in made.extra.items()},
            placed=tuple(replace(finding, where=self.json(finding.where)) for finding in made.placed),
        )

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with its texts masked."""
        changed: dict[str, Any] = {}
        for column in table.columns:
            if column in NAMES or not any(isinstance(v, str | list | dict) for v in table[column].head(1000)):
                continue
            way = self.key if column in KEYS else self.text
            changed[column] = [self._cell(value, way) for value in table[column]]
        return table.assign(**changed) if changed else table

    def _cell(self, value: Any, way: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return way(value)
        if hasattr(value, "tolist") and not isinstance(value, int | float):
            value = value.tolist()
        return self.json(value) if isinstance(value, list | dict) else value

    def notebook(self, notebook: Any) -> Any:
        """An executed notebook with the texts that its cells put out masked."""
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                for holder, key in ((output, "text"), (output.get("data", {}), "text/plain")):
                    said = holder.get(key)
                    if said:
                        holder[key] = self.masker.text(said)
                if output.get("traceback"):
                    output["traceback"] = [self.masker.text(line) for line in output["traceback"]]
        return notebook

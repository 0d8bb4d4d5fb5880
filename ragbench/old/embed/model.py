"""Models of the sentence-transformers library, by name on a hub or by folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from ragbench.old.core import folders
from ragbench.old.core.settings import EmbedderSettings, project_folder
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import EmbeddingError, TextKind, Vectors
from ragbench.old.embed import wheels
from ragbench.old.embed.texts import Keep, check_texts, content_hash, prefixed
from ragbench.old.embed.threads import Shared

Purpose = Literal["embedder", "cross_encoder", "encoder"]


class ModelEmbedder:
    """`model` is a folder (relative to ragbench.toml) or a name on a hub; HF_HUB_OFFLINE=1 forbids downloads. Of kind
    minilm it is the folder of a wheel.

    Questions and passages get the prefixes of the settings, or, where there are none, the prompts that the model was
    saved with. `identity` covers the model's files: every byte of a folder, or the hub's revision.
    A model whose files are known is loaded when it is first needed: whose vectors are all stored does without it.
    Raises EmbeddingError for a model that cannot be loaded.
    """

    def __init__(self, name: str, settings: EmbedderSettings) -> None:
        self.name, self.settings = name, settings
        wheel = wheels.place(name, "minilm") if settings.kind == "minilm" else None
        named = str(settings.model) if wheel is None else wheel.parent.name
        folder = project_folder() / Path(named).expanduser() if wheel is None else wheel
        self._source = str(folder) if folder.is_dir() else named
        content = content_of(named, folder, lambda: self._model)
        prefixes = f"query_prefix={settings.query_prefix!r} passage_prefix={settings.passage_prefix!r}"
        self.identity = (
            f"sentence_transformers {folder.name if folder.is_dir() and wheel is None else named} {content} {prefixes}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is loaded from that one's files."""
        return ModelEmbedder, (self.name, self.settings)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, width) float32 of length 1. Raises EmbeddingError for empty and over-long texts."""
        check_texts(texts, self.settings, self.name)
        options: dict[str, Any] = {
            "batch_size": self.settings.batch,
            "normalize_embeddings": True,
            "show_progress_bar": False,
            "convert_to_numpy": True,
        }
        with _one_thread() if self.settings.kind == "minilm" else nullcontext():
            if self.settings.query_prefix or self.settings.passage_prefix:
                return self._model.encode(prefixed(texts, self.settings, kind), **options)
            encode = self._model.encode_query if kind == "query" else self._model.encode_document
            return encode(list(texts), **options)

    def tokens(self, texts: Sequence[str], *, layer: int | None = None) -> list[Vectors]:
        """Of each text (tokens, width) float32: the vectors in context of its tokens, without those that mark its ends.

        layer: of the model, 0 for what goes into the first; None: the last. Of a text that is longer than the model
        reads only the beginning. Raises EmbeddingError for a model without layers, and for a layer that it has not.
        """
        import torch

        encoder = getattr(self._model, "transformers_model", None)
        if encoder is None:
            raise EmbeddingError(f"embedders.{self.name}: its model has no layers, so no vectors of tokens in context")
        limit = self._model.max_seq_length
        read = self._model.tokenizer(
            list(texts), padding=True, truncation=limit is not None, max_length=limit, return_tensors="pt",
            return_special_tokens_mask=True,
        )  # fmt: skip
        kept = read.pop("special_tokens_mask") == 0
        with torch.inference_mode(), _one_thread() if self.settings.kind == "minilm" else nullcontext():
            states = encoder(**read.to(encoder.device), output_hidden_states=True).hidden_states
        if layer is not None and layer >= len(states):
            raise EmbeddingError(f"embedders.{self.name}: layer = {layer}; its model has 0 to {len(states) - 1}")
        chosen = states[-1 if layer is None else layer]
        return [row[mask].float().cpu().numpy() for row, mask in zip(chosen.cpu(), kept, strict=True)]

    def truncated(self, texts: Sequence[str], keep: Keep) -> int:
        """How many of the passages the model reads only the beginning of: they have more tokens than it takes.

        keep: gives what was counted before, without the model.
        """
        import numpy as np

        about = {"what": "texts truncated", "embedder": self.identity, "texts": content_hash(texts)}
        return int(keep(about, lambda: {"n": np.array([self._truncated(texts)])})["n"][0])

    def _truncated(self, texts: Sequence[str]) -> int:
        limit = self._model.max_seq_length
        tokenizer = getattr(self._model, "tokenizer", None)
        if limit is None or not callable(tokenizer):
            return 0
        tokens = tokenizer(prefixed(texts, self.settings, "passage"), truncation=False, padding=False, verbose=False)
        return sum(len(row) > limit for row in tokens["input_ids"])

    @cached_property
    def _model(self) -> Any:
        try:
            return _loaded(self._source)
        except Exception as error:
            said = excerpt(error, 200)
            raise EmbeddingError(
                f"embedders.{self.name}.model = {self._source!r} cannot be loaded: {said}; name a folder with a "
                "sentence-transformers model, or a model that this machine can reach"
            ) from None


@contextmanager
def _limited(_: None) -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_one_thread = Shared(lambda: None, _limited)
"""So small a model waits longer for its threads than it computes: twelve times as long on a busy machine."""


@lru_cache(maxsize=2)
def _loaded(source: str) -> Any:
    """Kept in the process: systems that share a model read it once."""
    from sentence_transformers import SentenceTransformer

    quiet()
    return SentenceTransformer(source, trust_remote_code=False)


def quiet() -> None:
    """Let no library draw a bar, which would run across ours, or advise where somebody reads a page."""
    from huggingface_hub.utils.tqdm import disable_progress_bars
    from transformers.utils import logging

    disable_progress_bars()
    logging.disable_progress_bar()
    logging.set_verbosity_error()


def purpose(folder: Path) -> Purpose | None:
    """What the model of a folder was saved for, by its files alone; None where there is no model in it.

    encoder: a model without a head, whose vectors can be averaged, and which ranks nothing.
    """
    told = {name: _object(folder / name) for name in ("config_sentence_transformers.json", "config.json")}
    if not any(told.values()) and not (folder / "modules.json").is_file():
        return None
    if (saved := told["config_sentence_transformers.json"].get("model_type")) is not None:
        return "cross_encoder" if saved == "CrossEncoder" else "embedder"
    if (folder / "modules.json").is_file():
        return "embedder"
    heads = [str(head) for head in told["config.json"].get("architectures") or ()]
    if any(head.endswith("ForSequenceClassification") for head in heads):
        return "cross_encoder"
    return "encoder" if any(head.endswith("Model") for head in heads) else "embedder"


def _object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(folders.text(path))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def content_of(named: str, folder: Path, model: Callable[[], Any]) -> str:
    """What tells one version of a model from the next: its folder's files, its revision on the hub, or its weights."""
    return _folder_hash(folder) if folder.is_dir() else _revision(named) or _weights_hash(model())


def _folder_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md" and ".git" not in path.parts]
    for path in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        digest.update(f"\n{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return f"files={digest.hexdigest()[:32]}"


def _revision(name: str) -> str | None:
    """The commit of a model in the hub's cache, whose folders are named …/snapshots/COMMIT."""
    from huggingface_hub import try_to_load_from_cache

    for repository in (name, f"sentence-transformers/{name}") if "/" not in name else (name,):
        cached = try_to_load_from_cache(repository, "modules.json") or try_to_load_from_cache(repository, "config.json")
        if isinstance(cached, str):
            return f"revision={Path(cached).parent.name}"
    return None


def is_kept(name: str) -> bool:
    """Whether a hub's model is on this machine."""
    return _revision(name) is not None


def look_up(name: str, seconds: float) -> None:
    """Ask the hub for a model, unless it is on this machine. Raises EmbeddingError where there is none to be had."""
    from huggingface_hub import model_info

    if is_kept(name):
        return
    whole = name if "/" in name else f"sentence-transformers/{name}"
    try:
        model_info(whole, timeout=seconds)
    except Exception as error:
        said = excerpt(error, 200)
        raise EmbeddingError(
            f"its hub does not give {whole}: {said}; name another model, or a folder with one"
        ) from None


def _weights_hash(model: Any) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return f"weights={digest.hexdigest()[:32]}"

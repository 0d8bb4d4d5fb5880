"""Models of the sentence-transformers library, from their folders; torch is loaded when needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.core.errors import BenchError
from ragbench.core.settings import EmbedderTable
from ragbench.embed.embedder import TextKind

if TYPE_CHECKING:
    from ragbench.store.search import Vectors


class SentenceModel:
    """A model of a folder. Questions and passages get the prefixes of the settings.

    Without prefixes they get the prompts that the model was saved with.
    """

    def __init__(self, folder: Path, table: EmbedderTable, kind: str) -> None:
        self._folder = folder
        self._prefixes = {"query": table.query_prefix, "passage": table.passage_prefix}
        self._batch = table.batch
        # So small a model waits longer for its threads than it computes.
        self._threads = 1 if kind == "minilm" else None
        self._name = "all-MiniLM-L6-v2" if kind == "minilm" else folder.name

    @property
    def identity(self) -> str:
        """What tells its vectors from others: every byte of the folder, and the prefixes."""
        return f"{self._name} {hash_folder(self._folder)} {self._prefixes}"

    def encode(self, texts: list[str], kind: TextKind) -> Any:
        """Return (texts, width) numbers."""
        model = self.load()
        options = {"batch_size": self._batch, "show_progress_bar": False}
        with torch_threads(self._threads):
            if any(self._prefixes.values()):
                prefix = self._prefixes[kind]
                return model.encode([prefix + text for text in texts], **options)
            encode = model.encode_query if kind == "query" else model.encode_document
            return encode(texts, **options)

    def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Return of each text (tokens, width) vectors of its tokens, without those of its ends."""
        import torch

        model = self.load()
        encoder = getattr(model, "transformers_model", None)
        if encoder is None:
            raise BenchError(f"the model {self._name} has no layers, so no vectors of tokens")
        limit = model.max_seq_length
        vectors: list[Vectors] = []
        # A batch at a time: all of its texts take the room of the longest.
        for start in range(0, len(texts), self._batch):
            read = model.tokenizer(
                list(texts[start : start + self._batch]), padding=True,
                truncation=limit is not None, max_length=limit,
                return_tensors="pt", return_special_tokens_mask=True,
            )  # fmt: skip
            is_word = read.pop("special_tokens_mask") == 0
            with torch.inference_mode(), torch_threads(self._threads):
                states = encoder(**read.to(encoder.device)).last_hidden_state.cpu()
            pairs = zip(states, is_word, strict=True)
            vectors += [state[mask].float().numpy() for state, mask in pairs]
        return vectors

    def load(self) -> Any:
        """Return the model, loaded once a process."""
        return load_model(self._folder)


@lru_cache(maxsize=2)
def load_model(folder: Path) -> Any:
    """Load a SentenceTransformer without its own code. Raises BenchError where it cannot be."""
    from sentence_transformers import SentenceTransformer

    silence()
    try:
        return SentenceTransformer(str(folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:  # whatever the libraries below raise
        raise BenchError(f"the model in {folder} cannot be loaded: {error}") from error


def silence() -> None:
    """Let no library draw a bar, which would run across ours."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


@cache
def hash_folder(folder: Path) -> str:
    """Return a hash of all files of a model's folder, with their names."""
    digest = hashlib.sha256()
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"]
    for path in sorted(files):
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]


@contextmanager
def torch_threads(count: int | None) -> Iterator[None]:
    """Let torch compute by so many threads within; None: by as many as it likes."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)

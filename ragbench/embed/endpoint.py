"""Any endpoint that speaks the OpenAI embeddings protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ragbench.embed.texts import check_texts, prefixed
from ragbench.settings import EmbedderSettings
from ragbench.store.embeddings import Kind
from ragbench.store.errors import EmbeddingError
from ragbench.types import Vectors

RETRIES = 5  # after the first try, with growing and jittered pauses, or as Retry-After says
TIMEOUT_SECONDS = 60.0  # of one request
SHOWN_CHARACTERS = 200  # of what an endpoint said in its error


class EndpointEmbedder:
    """`model` at `base_url`; the key is in the environment variable that `key_variable` names.

    `dimensions` is asked for only where the settings name it. Redirects are not followed: a key goes to the host that
    the settings name, and to no other.
    """

    def __init__(
        self, name: str, settings: EmbedderSettings, *, retries: int = RETRIES, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        self.name, self.settings = name, settings
        self._retries, self._timeout = retries, timeout_seconds
        place = urlsplit(settings.base_url or "")
        if place.scheme not in ("http", "https") or not place.hostname:
            raise EmbeddingError(f"embedders.{name}.base_url: write it as http://HOST/v1 or https://HOST/v1")
        if place.username or place.password:
            raise EmbeddingError(f"embedders.{name}.base_url holds a user or a password: name a key_variable instead")
        self._key = self._read_key()
        asked = settings.dimensions if "dimensions" in settings.model_fields_set else 0
        self._more: dict[str, Any] = {"dimensions": asked} if asked else {}
        prefixes = f"query_prefix={settings.query_prefix!r} passage_prefix={settings.passage_prefix!r}"
        self.identity = f"openai {settings.base_url} model={settings.model!r} dimensions={asked or 'own'} {prefixes}"
        self._made: Any = None

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> Vectors:
        """(texts, width) float32, as many requests as `batch` makes of it.

        Raises EmbeddingError for empty and over-long texts before anything is sent, for an endpoint that does not
        answer or refuses, and for a reply that is not one finite, non-zero vector of one width a text.
        """
        check_texts(texts, self.settings, self.name)
        asked = prefixed(texts, self.settings, kind)
        batch = self.settings.batch
        parts = [self._request(asked[start : start + batch]) for start in range(0, len(asked), batch)]
        widths = {part.shape[1] for part in parts}
        if len(widths) != 1:
            raise EmbeddingError(f"{self._where()} gave vectors of differing widths: {sorted(widths)}")
        return np.concatenate(parts)

    def _request(self, texts: list[str]) -> Vectors:
        import openai

        try:
            reply = self._client().embeddings.create(
                model=str(self.settings.model), input=texts, encoding_format="float", **self._more
            )
        except openai.APIStatusError as error:
            raise EmbeddingError(f"{self._where()} answered {error.status_code}: {self._said(error)}") from None
        except openai.APITimeoutError:
            raise EmbeddingError(
                f"{self._where()} did not answer within {self._timeout:g} s, {self._tries()}"
            ) from None
        except openai.APIConnectionError as error:
            raise EmbeddingError(
                f"{self._where()} cannot be reached, {self._tries()}: {self._said(error.__cause__ or error)}"
            ) from None
        except (openai.OpenAIError, ValueError) as error:
            raise EmbeddingError(f"{self._where()} gave a reply that cannot be read: {self._said(error)}") from None
        return self._vectors(reply, len(texts))

    def _vectors(self, reply: Any, count: int) -> Vectors:
        data = getattr(reply, "data", None)
        if not isinstance(data, list) or len(data) != count:
            found = len(data) if isinstance(data, list) else "no"
            raise EmbeddingError(f"{self._where()} gave {found} vectors for {count} texts")
        places = [getattr(item, "index", None) for item in data]
        if sorted(places, key=str) != sorted(range(count), key=str):
            raise EmbeddingError(f"{self._where()} numbered its vectors {places[:5]} and so on, not 0 to {count - 1}")
        rows = [getattr(item, "embedding", None) for item in sorted(data, key=lambda item: item.index)]
        try:
            vectors = np.array(rows)
        except ValueError:
            vectors = np.empty(0, dtype=object)
        if vectors.ndim != 2 or vectors.dtype.kind not in "fi":
            raise EmbeddingError(f"{self._where()} gave vectors of differing widths, or something that is no number")
        return vectors.astype(np.float32)

    def _client(self) -> Any:
        if self._made is None:
            import openai

            self._made = openai.OpenAI(
                base_url=self.settings.base_url,
                api_key=self._key
                or "none",  # without one the package would take OPENAI_API_KEY, which is not for this host
                max_retries=self._retries,
                timeout=self._timeout,
                http_client=openai.DefaultHttpxClient(follow_redirects=False, timeout=self._timeout),
            )
        return self._made

    def _read_key(self) -> str:
        variable = self.settings.key_variable
        if variable is None:
            return ""
        key = os.environ.get(variable, "").strip()
        if not key:
            raise EmbeddingError(f"embedders.{self.name}: the environment variable {variable} holds no key; set it")
        return key

    def _said(self, error: BaseException) -> str:
        said = " ".join(str(error).split())
        said = said.replace(self._key, "***") if self._key else said
        return said if len(said) <= SHOWN_CHARACTERS else said[:SHOWN_CHARACTERS] + "…"

    def _tries(self) -> str:
        return f"tried {self._retries + 1} times"

    def _where(self) -> str:
        return f"the embedder {self.name} ({self.settings.model} at {self.settings.base_url})"

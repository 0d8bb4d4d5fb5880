"""What a system returns, read as hits and an answer: one documented set of forms.

Passages are a list, best first. Each is an id; a text; (id, score); an object or dict with an id or
a text, and at will a score, url and title: documents of LangChain and Haystack, nodes of LlamaIndex
are such. {id: score} is a list too. An answer is a text, or a message with a text; answer and
passages together are a dict or object with `answer` and `contexts`, by the names that tables of
answers have for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.secrets import mask
from ragbench.core.types import Dataset, Hit, Passage
from ragbench.data.values import first_found, is_missing
from ragbench.data.vocabulary import LISTS, field_of
from ragbench.metrics.texts import plain, squeeze

# Beyond those that tables of answers have: LangChain's chains, Haystack's and LlamaIndex's.
ANSWERS = ("result", "replies")
PASSAGES = ("retrieved", "hits", "results", "nodes", "source_nodes")
# Attributes of an object that has an answer or contexts.
ATTRIBUTES = ("answer", "contexts", "context_ids", "documents", "source_documents", *PASSAGES)
SCORES = ("score", "similarity", "relevance_score")
# Attributes of documents and nodes.
TEXTS = ("page_content", "content", "text")
ABOUT = ("metadata", "meta")
IDS = ("id", "id_", "node_id")
LEGAL = (
    "a list of ids, texts, (id, score) pairs, or documents with an id or a text is expected, or an "
    'answer, or a dict with "answer" and "contexts"'
)
SHOWN_CHARACTERS = 80  # of a value that an error names


class KnownPassages:
    """The passages of a data set, found by their ids and by their texts."""

    def __init__(self, dataset: Dataset) -> None:
        passages = dataset.passages
        self.ids = passages["passage_id"].tolist()
        self.texts = dict(zip(self.ids, passages["text"], strict=True))
        self.urls = dict(zip(self.ids, passages["url"], strict=True))
        self._id_by_text: dict[str, str] = {}

    def hit(self, passage_id: str, similarity: float = math.nan) -> Hit:
        """Return a passage of the data set as a hit."""
        return Hit(passage_id, self.texts[passage_id], similarity, self.urls[passage_id])

    def find(self, names: Sequence[str], text: str, similarity: float, url: str = "") -> Hit:
        """Return the hit that ids, else a text stand for; what is not known keeps its own id.

        A text is known when it is that of a passage but for case, white space and what nobody sees.
        """
        for name in names:
            if name in self.texts:
                return self.hit(name, similarity)
        known = self._by_text().get(compared(text)) if text else None
        if known is not None:
            return self.hit(known, similarity)
        return Hit(names[0] if names else "", text, similarity, url)

    def _by_text(self) -> dict[str, str]:
        if not self._id_by_text:
            for passage_id in sorted(self.ids, reverse=True):
                self._id_by_text[compared(self.texts[passage_id])] = passage_id
        return self._id_by_text


@dataclass(frozen=True)
class Returned:
    """What a system returned for a question. None: it said nothing of that."""

    answer: str | None = None
    items: Sequence[Any] | None = None
    latency_ms: float = math.nan
    error: str = ""


def compared(text: str) -> str:
    """Return a text as texts are compared."""
    return squeeze(plain(text))


def read_returned(value: Any) -> Returned:
    """Tell an answer from passages in what a system returned.

    Raises BenchError, naming what was returned and what is legal.
    """
    if isinstance(value, str):
        return Returned(answer=value)
    if hasattr(value, "source_nodes"):  # LlamaIndex's Response
        return Returned(str(value.response), list(value.source_nodes))
    if isinstance(getattr(value, "content", None), str):  # a message of a chat model
        return Returned(answer=value.content)
    if isinstance(value, Mapping):
        return read_mapping(value)
    if hasattr(value, "answer") or hasattr(value, "contexts"):
        there = [name for name in ATTRIBUTES if hasattr(value, name)]
        return read_mapping({name: getattr(value, name) for name in there})
    if is_list(value):
        return Returned(items=list(value))
    raise BenchError(f"it returned {show(value)}; {LEGAL}")


def read_mapping(parts: Mapping[Any, Any]) -> Returned:
    """Read a dict with an answer and passages, or of scores by id."""
    if parts and all(is_number(score) for score in parts.values()):
        pairs = sorted(parts.items(), key=lambda pair: -pair[1])
        return Returned(items=pairs)
    answer = items = ids = None
    for name, part in parts.items():
        field = field_of(str(name))
        if answer is None and (field == "answer" or name in ANSWERS):
            answer = part
        if items is None and (field == "contexts" or name in PASSAGES):
            items = part
        if field == "context_ids":
            ids = part
    if is_list(answer) and answer:
        answer = answer[0]
    answer = getattr(answer, "content", answer)
    if answer is not None and not isinstance(answer, str):
        raise BenchError(f"its answer is {show(answer)}; a text is expected")
    if isinstance(items, str):
        items = [items]
    for part in (items, ids):
        if part is not None and not is_list(part):
            raise BenchError(f"its passages are {show(part)}; a list is expected")
    if ids is not None:
        items = join_ids(ids, items)
    if answer is None and items is None:
        names = ", ".join(map(str, parts)) or "nothing"
        raise BenchError(f"it returned a dict with {names}; {LEGAL}")
    return Returned(answer, items)


def join_ids(ids: Sequence[Any], texts: Sequence[Any] | None) -> Sequence[Any]:
    """Put ids to the texts that stand beside them. Raises BenchError where their numbers differ."""
    if texts is None:
        return ids
    if len(texts) != len(ids):
        raise BenchError(f"it returned {len(texts)} passages with {len(ids)} ids")
    return [{"id": name, "text": text} for name, text in zip(ids, texts, strict=True)]


def read_hits(items: Iterable[Any], known: KnownPassages, k: int) -> tuple[Hit, ...]:
    """Return the first k different passages of a list, best first.

    A passage that stands twice counts once, at its first place. Raises BenchError for an item that
    is none of the legal forms.
    """
    hits: dict[tuple[str, str], Hit] = {}
    for item in items:
        hit = read_item(item, known)
        hits.setdefault((hit.id, "" if hit.id else hit.text), hit)
    return tuple(hits.values())[:k]


def read_item(item: Any, known: KnownPassages) -> Hit:
    """Read one passage."""
    if isinstance(item, Hit | Passage):
        similarity = getattr(item, "similarity", math.nan)
        return known.find([item.id] if item.id else [], item.text or "", similarity, item.url)
    if is_number(item) and float(item).is_integer():
        item = str(int(item))
    if isinstance(item, str):
        # What is not known, and has blanks in it, is a text and no id.
        is_text = any(letter.isspace() for letter in item) and item not in known.texts
        return known.find([] if is_text else [item], item, math.nan)
    if isinstance(item, tuple | list) and len(item) == 2 and is_number(item[1]):
        hit = read_item(item[0], known)
        return Hit(hit.id, hit.text, float(item[1]), hit.url)
    return read_document(item, known)


def read_document(item: Any, known: KnownPassages) -> Hit:
    """Read a dict, a document or a node."""
    if isinstance(item, Mapping):
        parts = dict(item)
        about: Any = parts
    else:
        node = getattr(item, "node", item)
        about = first_attribute(node, ABOUT)
        parts = {
            "text": first_attribute(node, TEXTS),
            "score": getattr(item, "score", None),
            "stored_id": first_attribute(node, IDS),
        }
    text = first_found(parts, LISTS["passage_texts"])
    # Ids that the author gave stand in the metadata; those of a store are often made up.
    names = [first_found(about, LISTS["passage_ids"]), parts.get("stored_id")]
    named = [str(name) for name in names if isinstance(name, str | int) and not is_missing(name)]
    if not isinstance(text, str) and not named:
        raise BenchError(f"one of its passages is {show(item)}; {LEGAL}")
    score = first_found(parts, SCORES)
    if score is not None and not is_number(score):
        raise BenchError(f"the score of a passage is {show(score)}; a number is expected")
    url = first_found(about, LISTS["passage_urls"])
    return known.find(
        named,
        text if isinstance(text, str) else "",
        math.nan if score is None else float(score),
        url if isinstance(url, str) else "",
    )


def first_attribute(thing: Any, names: Sequence[str]) -> Any:
    """Return the first of these attributes that is there and says something."""
    for name in names:
        value = getattr(thing, name, None)
        if value is not None and not callable(value):
            return value
    return None


def is_list(value: Any) -> bool:
    """Say whether a value has items in an order."""
    is_array = getattr(value, "ndim", None) == 1
    return is_array or (isinstance(value, Sequence) and not isinstance(value, str | bytes))


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number; true and false are none."""
    is_truth = isinstance(value, bool)
    return not is_truth and isinstance(value, Real) and math.isfinite(value)


def show(value: Any) -> str:
    """Write a value as an error names it."""
    text = mask(repr(value))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"

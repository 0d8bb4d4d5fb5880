"""LangChain: documents, plain or as `dumpd` writes them; they are the knowledge base, and no traces.

Source: langchain-core 1.7.2 (documents.Document, load.dumpd).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.payloads import Passage, passage_of

NAME = "LangChain documents"
MARKS = ({"page_content"}, {"pageContent"}, {"lc", "kwargs"})


def parts(record: Mapping[str, Any], _: str) -> Iterator[Passage]:
    """The document that a record is."""
    if (passage := passage_of(record)) is not None:
        yield passage

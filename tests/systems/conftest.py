"""What the tests of this room share: a small data set, a server, and a database."""

from __future__ import annotations

import pytest

from ragbench.core.types import Dataset
from ragbench.data import from_objects
from tests.fixtures import database_url, store

__all__ = ["database_url", "library", "store"]

DOCUMENTS = [
    {"id": "lib", "text": "The library opens at 8:00 on working days.", "url": "https://x/lib"},
    {"id": "park", "text": "Parking is behind the hall. It costs 1,500 roubles a semester."},
    {"id": "exam", "text": "The retake of an exam is in February, before a board of teachers."},
    {"id": "card", "text": "A lost card is blocked by phone and replaced within three days."},
]
QUESTIONS = [
    {"id": "q1", "question": "When does the library open?", "relevant": ["lib"]},
    {"id": "q2", "question": "How much is parking?", "relevant": ["park"]},
]


@pytest.fixture(scope="session")
def library() -> Dataset:
    """Four passages and two questions."""
    return from_objects(QUESTIONS, DOCUMENTS, language="en")

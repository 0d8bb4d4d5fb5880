"""Collections that show themselves in a few lines."""

from __future__ import annotations

import copy
import pickle

import ragbench.old as rb
from ragbench.old.core.listings import Listing
from ragbench.old.views import Page
from tests.old.views.measurements import measurement


def test_tables_of_a_data_set_show_their_size_and_their_first_line() -> None:
    questions = rb.load("campus:en").questions
    for listing in (questions, questions[:40], pickle.loads(pickle.dumps(questions)), copy.copy(questions)):
        shown = repr(listing)
        assert shown.startswith(f"({len(listing)} in all: Question(id=")
        assert len(shown) < 140
    assert questions == tuple(questions), "a tuple like any other"
    assert repr(Listing([1])) == "(1,)"


def test_the_side_tables_of_a_page_take_ten_lines() -> None:
    tables = Page(measurement(("a", "b"), ("mrr",), 6)).tables
    assert "questions: 6 rows of" in repr(tables)
    assert 1 <= len(repr(type(tables)({str(place): tables["questions"] for place in range(30)})).splitlines()) <= 10

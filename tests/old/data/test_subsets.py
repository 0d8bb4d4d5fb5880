"""A sample of a data set: the same whatever is asked, in proportion, and never more than was asked for."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.types import Question
from ragbench.old.data.records import Decision, RatedAnswer
from ragbench.old.data.subsets import drawn, sample
from tests.old.systems.test_systems import DATASET

ROWS = st.lists(st.tuples(st.text(min_size=1, max_size=4), st.sampled_from("abc")), max_size=60)


@settings(deadline=None)
@given(ROWS, st.integers(1, 70), st.randoms(use_true_random=False))
def test_it_hangs_on_ids_alone(rows: list[tuple[str, str]], limit: int, chance: random.Random) -> None:
    parts = dict(rows)
    every = list(parts.items())

    def taken(given_rows: list[tuple[str, str]], number: int) -> list[str]:
        return [name for name, _ in drawn(given_rows, number, lambda row: row[0], lambda row: row[1])]

    found = taken(every, limit)
    assert len(found) == min(limit, len(every))
    assert found == [name for name, _ in every if name in found], "in their order"
    shuffled = chance.sample(every, len(every))
    assert set(taken(shuffled, limit)) == set(found)
    assert set(found) <= set(taken(every, limit + 1)), "a larger one holds a smaller one"
    whole, here = Counter(parts.values()), Counter(parts[name] for name in found)
    for part, number in whole.items():
        assert abs(here[part] - len(found) * number / len(every)) <= 1.5, "each part in proportion"


def test_all_rows_of_an_id_come_together() -> None:
    rows = [(f"q{number % 5}", system) for number in range(10) for system in ("one", "two")]
    found = drawn(rows, 2, lambda row: row[0])
    assert len({name for name, _ in found}) == 2
    assert Counter(name for name, _ in found) == dict.fromkeys({name for name, _ in found}, 4)


def test_slices_are_kept_in_proportion_and_ratings_with_their_questions() -> None:
    questions = tuple(
        Question(f"q{number}", f"What of {number}?", kind="rare" if number % 5 == 0 else "usual", language="en")
        for number in range(50)
    )
    ratings = tuple(RatedAnswer(id=f"r{one.id}", question_id=one.id, answer="So.", ratings={}) for one in questions)
    decisions = tuple(Decision(id=f"d{n}", question="What?", answer="So.", show=n % 4 > 0) for n in range(40))
    data = replace(DATASET, questions=questions, ratings=ratings, decisions=decisions)
    found = sample(data, 10)
    assert Counter(one.kind for one in found.questions) == {"rare": 2, "usual": 8}
    assert {one.question_id for one in found.ratings} == {one.id for one in found.questions}
    assert found.decisions == decisions, "another table stays whole"
    assert found.chunks == data.chunks
    assert found.taken() == {"n": 10, "of": 50, "table": "questions"}
    assert sample(data, 50).taken() is None
    shown = sample(data, 8, ("decisions",))
    assert Counter(one.show for one in shown.decisions) == {True: 6, False: 2}
    assert shown.taken() == {"n": 8, "of": 40, "table": "decisions"}

"""Whether drafts order systems as people's questions do, and from how many on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ragbench.data.files import DatasetError
from ragbench.data.records import QuestionRecord
from ragbench.extras.testsets import believed


def table(means: dict[str, float], number: int, seed: int, spread: float = 0.3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: mean + random.normal(0, spread, number) for name, mean in means.items()}


def test_the_order_of_systems_by_hand() -> None:
    drafted = {"a": np.array([1.0, 1.0]), "b": np.array([0.5, 0.7]), "c": np.array([0.1, 0.1])}
    people = {"a": np.array([0.9, 0.7, np.nan]), "b": np.array([0.1, 0.1, 0.9]), "c": np.array([0.3, 0.3, 0.9])}
    belief = believed.compared(drafted, people)
    assert belief.tau == pytest.approx(1 / 3), "two pairs of three are ordered alike"
    assert belief.levels == pytest.approx({"a": 0.2, "b": 0.5, "c": -0.2})
    assert (belief.n, belief.of_people) == (2, 2), "a question that a system has no value of is in neither"


def test_the_interval_holds_the_order_that_is_there() -> None:
    means = {"a": 0.8, "b": 0.6, "c": 0.4, "d": 0.2}
    belief = believed.compared(table(means, 400, 1), table(means, 400, 2))
    assert belief.tau == belief.high == 1.0
    assert belief.low > 0.6
    turned = believed.compared(table(means, 400, 1), table({n: -m for n, m in means.items()}, 400, 2))
    assert turned.tau == -1.0
    noise = believed.compared(table(dict.fromkeys(means, 0.5), 100, 3), table(dict.fromkeys(means, 0.5), 100, 4))
    assert noise.low < 0 < noise.high


def test_from_how_many_questions_the_order_holds_is_what_draws_say() -> None:
    means = {"a": 0.8, "b": 0.7, "c": 0.6}
    rows = np.array(list(table(means, 4000, 5).values()))
    number = believed.needed(rows, np.random.default_rng(0))
    assert number is not None
    random = np.random.default_rng(1)

    def share(m: int) -> float:
        drawn = [rows[:, random.integers(rows.shape[1], size=m)].mean(axis=1) for _ in range(1500)]
        return float(np.mean([all(x > y for x, y in pairwise(row)) for row in drawn]))

    assert share(number) == pytest.approx(0.95, abs=0.02)
    assert share(number // 2) < 0.92
    assert believed.needed(np.ones((2, 50)), random) is None, "what is equal has no order"


def test_words_and_overlap_by_hand() -> None:
    asked = [
        QuestionRecord(id="q", text="When does it open?", relevant={"p": 1.0}),
        QuestionRecord(id="r", text="When?"),
    ]
    told = believed.wording(asked, {"p": "It opens when the bell does."})
    assert told == pytest.approx({"words": 2.5, "overlap": 3 / 4, "different": 4 / 5})


@pytest.mark.parametrize(
    ("drafted", "people", "said"),
    [({"a": [1.0, 0.0]}, {"a": [1.0, 0.0]}, "there is 1 on both sides"),
     ({"a": [1.0], "b": [1.0]}, {"a": [1.0, 0.0], "b": [1.0, 0.0]}, "1 drafts and 2 questions")],
)  # fmt: skip
def test_what_tells_nothing_is_refused(
    drafted: dict[str, list[float]], people: dict[str, list[float]], said: str
) -> None:
    tables = ({name: np.array(row) for name, row in rows.items()} for rows in (drafted, people))
    with pytest.raises(DatasetError, match=said):
        believed.compared(*tables)

"""Whether drafts order systems as people's questions do, and from how many on."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import tiers, views
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import QuestionRecord
from ragbench.old.extras.testsets import examined
from tests.old.cli.command_line import invoke, one_line
from tests.old.small_project import GOOD, POOR, RELEVANT, write_lines


def table(means: dict[str, float], number: int, seed: int, spread: float = 0.3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: mean + random.normal(0, spread, number) for name, mean in means.items()}


def test_the_order_of_systems_by_hand() -> None:
    drafted = {"a": np.array([1.0, 1.0]), "b": np.array([0.5, 0.7]), "c": np.array([0.1, 0.1])}
    people = {"a": np.array([0.9, 0.7, np.nan]), "b": np.array([0.1, 0.1, 0.9]), "c": np.array([0.3, 0.3, 0.9])}
    belief = examined.compared(drafted, people)
    assert belief.tau == pytest.approx(1 / 3), "two pairs of three are ordered alike"
    assert belief.levels == pytest.approx({"a": 0.2, "b": 0.5, "c": -0.2})
    assert (belief.n, belief.of_people) == (2, 2), "a question that a system has no value of is in neither"


@pytest.mark.slow
def test_the_interval_holds_the_order_that_is_there() -> None:
    means = {"a": 0.8, "b": 0.6, "c": 0.4, "d": 0.2}
    belief = examined.compared(table(means, 400, 1), table(means, 400, 2))
    assert belief.tau == belief.high == 1.0
    assert belief.low > 0.6
    turned = examined.compared(table(means, 400, 1), table({n: -m for n, m in means.items()}, 400, 2))
    assert turned.tau == -1.0
    noise = examined.compared(table(dict.fromkeys(means, 0.5), 100, 3), table(dict.fromkeys(means, 0.5), 100, 4))
    assert noise.low < 0 < noise.high


def test_from_how_many_questions_the_order_holds_is_what_draws_say() -> None:
    means = {"a": 0.8, "b": 0.7, "c": 0.6}
    rows = np.array(list(table(means, 4000, 5).values()))
    number = examined.needed(rows, np.random.default_rng(0))
    assert number is not None
    random = np.random.default_rng(1)

    def share(m: int) -> float:
        drawn = [rows[:, random.integers(rows.shape[1], size=m)].mean(axis=1) for _ in range(1500)]
        return float(np.mean([all(x > y for x, y in pairwise(row)) for row in drawn]))

    assert share(number) == pytest.approx(0.95, abs=0.02)
    assert share(number // 2) < 0.92
    assert examined.needed(np.ones((2, 50)), random) is None, "what is equal has no order"


def test_words_and_overlap_by_hand() -> None:
    asked = [
        QuestionRecord(id="q", text="When does it open?", relevant={"p": 1.0}),
        QuestionRecord(id="r", text="When?"),
    ]
    told = examined.wording(asked, {"p": "It opens when the bell does."})
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
        examined.compared(*tables)


def test_the_command_says_it_and_so_does_the_page(project: Path) -> None:
    rows = [
        {"id": f"d{n}", "text": f"What of it, {n}?", "relevant": {"a1": 1}, "draft": "unreviewed"} for n in range(3)
    ]
    rows += [{"id": q, "text": f"What of {q}?", "relevant": own} for q, own in RELEVANT.items() if own]
    write_lines(project / "data/small/questions.en.jsonl", rows)
    for name, first in (("good", ["a1"]), ("poor", ["b1", "a1"])):
        lists = [{"id": f"d{n}", "retrieved": first} for n in range(3)]
        lists += [{"id": q, "retrieved": own} for q, own in (GOOD if name == "good" else POOR).items()]
        write_lines(project / f"{name}.jsonl", lists)
    asked: dict[str, Any] = {"systems": "good,poor", "repeats": 1, "timed_questions": 0, "ef_searches": []}
    made = tiers.tier1_retrieval(**asked)
    made.save(project / "run/parts/tier1_retrieval")
    (project / "run/manifest.json").write_text("{}", "utf-8")
    done = invoke("drafts", "small", "--run", "run")
    assert done.exit_code == 0, (done.output, done.exception)
    said = one_line(done.output)
    assert "On mrr@10, Kendall's τ of 2 systems under 3 drafts and 3 other questions is 1.00" in said
    assert "good 1.000 0.833 +0.167" in said
    looked: dict[str, Any] = {"dataset": "small"}
    page = tiers.dataset(**looked)
    shown = str(views.data.further(views.Page(page, language="en")).html())
    assert "drafts (3) and other questions (3) order its systems by mrr@10" in shown
    assert "Насколько можно верить черновикам" in str(views.data.further(views.Page(page, language="ru")).html())
    (project / "data/small/believed.en.json").write_text("[]", "utf-8")
    with pytest.raises(DatasetError, match=r"believed\.en\.json: .*ragbench drafts NAME"):
        tiers.dataset(**looked)
    refused = invoke("drafts", "small", "--run", "run", "--metric", "bleu")
    assert "'bleu' was not measured; measured are" in one_line(refused.output)

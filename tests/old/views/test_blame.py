"""The views of blame from made-up measurements: numbers, words, hostile texts, one system and many, nothing at all."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.core.measurement import Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.tiers.answers import blame
from ragbench.old.tiers.answers.blame import Standard
from ragbench.old.tiers.answers.decomposition import COLUMNS as PERFECT
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.run.overview import over
from ragbench.old.views.basics.side_tables import STEPS, Blamed
from ragbench.old.views.blame import transitions
from tests.old.views import measurements

VIEWS = ("blame", "blame_table", "blame_changes", "perfect_parts", "blame_questions")
SURE = Sureness(0.95, 400, 0)
FIRST = ["missing", "not_retrieved", "not_retrieved", "too_low", "not_used", "beyond", "good", "good", "unmeasured"]
SECOND = ["missing", "good", "not_retrieved", "good", "not_used", "good", "good", "beyond", "good"]


def table_of(system: str, parts: Sequence[str]) -> pd.DataFrame:
    """Blame of the questions q0, q1, …; the last two of a group of three are unanswerable."""
    rows = [
        {
            "system": system, "sample": f"q{place}", "part": part,
            "group": "unanswerable" if part in ("invented", "right_refusal") else "answerable",
            "cause": "right" if part == "unmeasured" else "although_missing" if (part, place) == ("good", 6) else "",
            "rank": 8.0 if part == "too_low" else float("nan") if part in ("missing", "not_retrieved") else 1.0,
            "read": 5.0, "refused": 0.0, "correctness": 4.5, "faithfulness": 2.0, "shown": 1.0,
            "reason": "<script>alert(1)</script>",
        }
        for place, part in enumerate(parts)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def blamed(*systems: Sequence[str], question: str = "What of {i}?", **facts: object) -> Measurement:
    names = [f"system {place}" for place in range(len(systems))]
    made = measurements.measurement(names, ("e2e_score",), len(systems[0]), question=question)
    table = pd.concat([table_of(name, parts) for name, parts in zip(names, systems, strict=True)], ignore_index=True)
    answers = pd.DataFrame(
        {
            "system": table["system"], "sample": table["sample"], "repeat": 0, "status": "ok",
            "response": "An <b>answer</b>.", "contexts": [["c0"]] * len(table), "refused": False, "reason": "",
        }
    )  # fmt: skip
    perfect = [
        (names[0], "retrieval", "good", 0.25, 3, ""),
        (names[0], "ranking", "good", float("nan"), 0, "answers by itself"),
    ]
    mean = Estimate(0.75, 0.5, 0.9, 0.95, "bca", 8)
    gain = Comparison(
        names[0], names[0], 0.5, 0.2, 0.7, 0.95, "bca", 0.01, "randomization", 1.0, Verdict.BETTER, 8, n_dropped=1
    )
    where = {"perfect": "retrieval"}
    gains = (NamedEstimate(names[0], "good", mean, where), NamedComparison("good", gain, where))
    extra = {
        "blame": table,
        "blame_counterfactuals": pd.DataFrame(perfect, columns=list(PERFECT)),
        "answers": answers,
    }
    known = {"blame": {**Standard().facts(), "production_judge": None}, "k": 10, "contexts": 5, **facts}
    parts = (*blame.shares(table, None, SURE), *blame.compared(table, names, None, SURE), *gains)
    return replace(made, extra=extra, placed=parts, facts={**made.facts, **known})


def html(measurement: Measurement, name: str, language: str = "en", **options: int) -> str:
    return str(views.Page(measurement, language=language).view(name, **options).html())


def plot(measurement: Measurement) -> dict:
    [payload] = re.findall(r'<script type="application/json">(.*?)</script>', html(measurement, "blame"), re.DOTALL)
    return json.loads(payload)


def test_where_too_much_of_what_was_retrieved_is_unknown_no_part_is_said_to_fail_first() -> None:
    made = blamed(FIRST, SECOND)
    strange = replace(made, facts={**made.facts, "unidentified": {"system 1": [225, 1570], "system 0": [1, 100]}})
    said = str(views.blame.waterfall(views.Page(strange)).html())
    assert said.count("Most frequent first failure") == 1
    assert "cannot be told: 225 of 1,570 passages that system 1 retrieved (14%)" in said
    whole = over({"tier3_end_to_end": strange})
    told = Blamed(views.Page(whole).material, "tier3_end_to_end")
    assert told.worst("system 0") is not None
    assert told.worst("system 1") is None
    assert "Nothing can be concluded from it" in str(views.blame.table(views.Page(strange)).html())


def test_the_waterfall_ends_where_the_good_answers_begin() -> None:
    data = plot(blamed(FIRST))["data"]
    total = len(FIRST)
    ends = [bar["base"][0] + bar["x"][0] for bar in data]
    starts = [bar["base"][0] for bar in data]
    assert starts[0] == starts[1] == 1.0, "all questions, then what nobody knows"
    assert ends[1] == pytest.approx(1 - 1 / total)
    for before, after in zip(ends[1:-2], starts[2:-1], strict=True):
        assert after == pytest.approx(before), "every step begins where the one before ended"
    assert (starts[-1], ends[-1]) == (0.0, pytest.approx(2 / total))
    assert ends[-2] == pytest.approx(ends[-1]), "what is left is the good answers"
    labels = plot(blamed(FIRST))["layout"]["yaxis"]["ticktext"]
    assert [label.strip() for label in labels][:3] == [
        "questions · 9",
        "not measured · 1",
        "not in the knowledge base · 1",
    ]
    for bar in data[2:]:
        low, high = bar["error_x"]["arrayminus"][0], bar["error_x"]["array"][0]
        assert low >= 0
        assert high >= 0


def test_sentences_say_what_the_tables_hold() -> None:
    said = html(blamed(FIRST, SECOND), "blame")
    assert "2 of 8 questions got a good answer (25%)" in said
    assert "<b>not retrieved</b>, 2 (25%)." in said
    assert "5 of 9 questions got a good answer (56%)" in said
    assert ", 1 (11%) each." in said
    assert "1 question was not measured." in said
    assert "e2e_score of at least 4 (scale 1–5)" in said
    assert "The first 10 of a ranking were looked at, the first 5 were read." in said
    assert "2 answers are good although" in said
    assert "No production judge was named" in said
    judged = blamed(FIRST, blame={**Standard().facts(), "production_judge": "door"})
    assert "door decides which answers are shown" in html(judged, "blame")
    assert "good, but not shown" in html(judged, "blame_table")
    assert "good, but not shown" not in html(blamed(FIRST), "blame_table")


def test_tables_hold_shares_and_verdicts() -> None:
    text = html(blamed(FIRST, SECOND), "blame_table")
    assert "0.250 " in text
    assert "not measured, in no share" in text
    assert "whether it is right 1" in text
    alone = html(blamed(FIRST), "blame_table")
    assert "verdict" not in alone
    assert "The base holds it, and no passage that does was retrieved." in alone


def test_where_systems_differ() -> None:
    made = blamed(FIRST, SECOND)
    found = transitions(Blamed(views.Page(made).material), "system 0", "system 1")
    assert found["not_retrieved", "good"] == 1
    assert found["unmeasured", "good"] == 1
    assert found["good", "beyond"] == 1
    assert sum(found.values()) == 9
    assert "5 questions moved." in html(made, "blame_changes")
    assert html(blamed(FIRST), "blame_changes").endswith('"></div>')


def test_perfect_parts() -> None:
    text = html(blamed(FIRST), "perfect_parts")
    assert "0.250 → 0.750" in text
    assert "+0.500" in text
    assert "[+0.200, +0.700]" in text
    assert "3 questions changed, 1 left out: not measured" in text
    assert "it cannot be given other passages" in text
    assert "Ranking: answered anew" in text


def test_questions_behind_the_parts_are_safe_to_show() -> None:
    made = blamed(FIRST, question="<img src=x onerror=alert(1)> {i}")
    text = html(made, "blame_questions")
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "An &lt;b&gt;answer&lt;/b&gt;." in text
    assert "the first relevant passage is at rank 8, 5 were read" in text
    assert "e2e_score 4.50, wanted 4.00" in text
    assert "1 more question is not shown." in html(made, "blame_questions", count=1)
    with pytest.raises(ValueError, match="a count is a whole number"):
        html(made, "blame_questions", count=0)


def test_unanswerable_questions_are_their_own_group() -> None:
    parts = ["good", "invented", "right_refusal", "right_refusal"]
    made = blamed(parts)
    text = html(made, "blame_table")
    assert "questions that the base holds no answer to" in text
    assert "questions that the base holds no answer to: 3; rightly refused: 2; answered all the same: 1" in text
    assert "1 of 1 question" in html(made, "blame")


@pytest.mark.parametrize(
    ("count", "language"),
    [
        *((1, "en"), (2, "ru"), (9, "en")),
        *(pytest.param(n, code, marks=pytest.mark.slow)
          for n, code in ((1, "ru"), (2, "en"), (3, "en"), (3, "ru"), (9, "ru"))),
    ],
)  # fmt: skip
def test_any_number_of_systems(count: int, language: str) -> None:
    made = blamed(*([FIRST, SECOND] * 5)[:count])
    for name in VIEWS:
        first, again = html(made, name, language), html(made, name, language)
        assert first == again
        assert "nan" not in re.sub(r"<[^>]*>", "", first).lower().split()
    figure = views.blame.waterfall(views.Page(made, language=language)).figure
    assert figure is not None
    assert sum(label.get("visible") for label in figure["layout"]["annotations"]) == count


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_part_has_a_name_and_a_meaning(language: str) -> None:
    of = Blamed(views.Page(blamed(FIRST), language=language).material)
    parts = [part for steps in STEPS.values() for part in steps] + ["unmeasured"]
    assert len({of.name(part) for part in parts}) == len({of.meaning(part) for part in parts}) == len(parts)


def test_pages_without_blame_show_nothing() -> None:
    made = measurements.measurement()
    for name in VIEWS:
        assert html(made, name).endswith('"></div>')
    assert views.blame.waterfall(views.Page(made)).figure is None


def test_where_nothing_was_measured() -> None:
    made = blamed(["unmeasured"] * 3, ["unmeasured"] * 3)
    assert "nothing of what decides was measured" in html(made, "blame")
    assert "—" in html(made, "blame_table")


def test_what_is_not_measured_is_counted_in_its_own_group() -> None:
    made = blamed(["good", "unmeasured", "invented", "right_refusal"])
    table = made.extra["blame"]
    made.extra["blame"].loc[table["part"] == "invented", ["part", "cause"]] = ["unmeasured", "shown"]
    text = " ".join(re.sub("<[^>]+>", " ", str(views.blame.table(views.Page(made)).html())).split())
    assert "not measured, in no share: system 0: whether it is right 1" in text
    assert "whether it was shown" not in text.split("system 0: whether it is right 1")[0]
    assert "whether it is right 1, whether it was shown" not in text

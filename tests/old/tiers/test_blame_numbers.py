"""Numbers of blame on tables small enough to compute by hand: shares, comparisons, and what would be otherwise."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import stats
from ragbench.old.core.types import Question
from ragbench.old.tiers.answers import blame, decomposition
from ragbench.old.tiers.answers.blame import ANSWERABLE, PARTS, UNANSWERABLE, Part
from ragbench.old.tiers.basics.findings import Sureness
from tests.old.views.measurements import placed

SURE = Sureness(0.95, 200, 0)


def blamed(**parts: str) -> pd.DataFrame:
    """One answer a word, by system: good, low (ranked too low), used (not used), invented, none (unmeasured)."""
    words = {
        "good": Part.GOOD, "low": Part.TOO_LOW, "used": Part.NOT_USED, "none": Part.UNMEASURED,
        "withheld": Part.WITHHELD, "invented": Part.INVENTED, "refusal": Part.RIGHT_REFUSAL,
    }  # fmt: skip
    rows = [
        (system, f"q{place}", UNANSWERABLE if word in {"invented", "refusal"} else ANSWERABLE, words[word].value, 0.5)
        for system, text in parts.items()
        for place, word in enumerate(text.split())
    ]
    return pd.DataFrame(rows, columns=["system", "sample", "group", "part", "correctness"])


def test_shares_are_of_what_was_measured_and_systems_keep_their_order() -> None:
    table = blamed(zeta="good good low none", alpha="used used used good")
    found = placed(blame.shares(table, None, SURE))
    assert list(dict.fromkeys(found["system"])) == ["zeta", "alpha"]
    rows = {(row["system"], row["part"]): row for row in found.to_dict("records")}
    good, low = rows["zeta", "good"], rows["zeta", Part.TOO_LOW.value]
    assert (good["n"], good["n_unmeasured"]) == (3, 1)
    assert (good["value"], low["value"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert (good["floor"], good["ceiling"]) == (0.5, 0.75)
    assert rows["alpha", Part.NOT_USED.value]["value"] == 0.75
    for system in ("zeta", "alpha"):
        assert sum(row["value"] for key, row in rows.items() if key[0] == system) == pytest.approx(1)
    assert len(rows) == 2 * len(PARTS[ANSWERABLE])


def test_clusters_are_counted_in_every_share() -> None:
    table = blamed(a="good low good low used good")
    labels = {f"q{place}": f"c{place // 2}" for place in range(6)}
    assert {one.estimate.clusters for one in blame.shares(table, labels, SURE)} == {3}


def test_a_part_is_compared_in_its_own_direction_on_the_questions_of_both() -> None:
    before, after = " ".join(["low"] * 30 + ["good"] * 10), " ".join(["good"] * 39 + ["none"])
    rows = placed(blame.compared(blamed(old=before, new=after), ["old", "new"], None, SURE)).set_index("part")
    assert set(rows.index) == {Part.TOO_LOW.value, Part.GOOD.value}, "nobody had to answer for the others"
    assert rows.loc[Part.TOO_LOW.value, "difference"] == pytest.approx(-30 / 39)
    assert rows.loc[Part.GOOD.value, "difference"] == pytest.approx(30 / 39)
    assert set(rows["verdict"]) == {"better"}
    assert set(rows["n"]) == {39}
    assert set(rows["n_dropped"]) == {1}
    refusals = blamed(old="invented invented refusal", new="refusal refusal refusal")
    [only] = blame.compared(refusals, ["old", "new"], None, SURE)
    assert only.where == {"part": Part.INVENTED.value}
    assert blame.compared(refusals, ["new"], None, SURE) == ()


TOLD = {"correctness": "right", "correctness_scale": [0.0, 1.0]}


def against(real: pd.DataFrame, other: pd.DataFrame, part: str, labels: dict[str, str] | None = None) -> Any:
    """System a's real answers and those of another world, compared."""
    asked = [Question(name, "?") for name in dict.fromkeys(real["sample"])]
    before, after = (decomposition._values(table, "a", asked) for table in (real, other))
    groups = None if labels is None else [labels[question.id] for question in asked]
    return decomposition._compared("a", part, before, after, TOLD, groups, SURE)


def test_a_changed_world_is_set_against_the_real_one_question_by_question() -> None:
    real = blamed(a="low used good none", b="good good good good")
    other = real.copy()
    own = other["system"] == "a"
    other.loc[own & (other["sample"] == "q0"), ["part", "correctness"]] = ["good", 0.9]
    other.loc[own & (other["sample"] == "q3"), "part"] = "good"  # measured now, not before: in neither mean
    good, right = against(real, other, "retrieval")
    for (actual, mean, gain), *expected in (
        (good, "good", 1 / 3, 2 / 3, 1 / 3, 3, 1), (right, "right", 0.5, 0.6, 0.1, 4, 0)
    ):  # fmt: skip
        assert (mean.system, mean.metric, gain.metric) == ("a", expected[0], expected[0])
        assert mean.where == gain.where == {"perfect": "retrieval"}
        assert [actual, mean.estimate.value, gain.comparison.difference] == pytest.approx(expected[1:4])
        assert [gain.comparison.n, gain.comparison.n_dropped] == expected[4:]
    judged = against(real, other, decomposition.JUDGE)
    assert [mean.metric for _, mean, _ in judged] == ["good"], "what is shown changes nothing of what it is worth"


def test_clusters_of_a_changed_world_are_those_of_the_questions_measured_in_both() -> None:
    real = blamed(a="good low used good low none")
    labels = {f"q{place}": f"c{place // 2}" for place in range(6)}
    found = against(real, real, "retrieval", labels)
    assert [gain.comparison.n for *_, gain in found] == [5, 6]
    assert all(gain.comparison.difference == 0 for *_, gain in found)
    groups = ["c0", "c0", "c1", "c1", "c2"]
    expected = stats.estimate([1, 0, 0, 1, 0], clusters=groups, bounds=(0, 1), resamples=200)
    assert (found[0][1].estimate.low, found[0][1].estimate.high) == (expected.low, expected.high)


def test_showing_what_is_good_helps_only_the_system_that_withheld_it() -> None:
    real = blamed(a="withheld low withheld", b="withheld good good")
    table, changed = decomposition._shown_rightly(SimpleNamespace(table=real), ["a", "b"])  # type: ignore[arg-type]
    assert changed == {"a": {"q0", "q2"}, "b": {"q0"}}
    assert table["part"].tolist() == ["good", Part.TOO_LOW.value, "good", "good", "good", "good"]
    assert (real["part"] == Part.WITHHELD.value).sum() == 3, "the real table stays"
    values = decomposition._values(real, "b", [Question(name, "?") for name in ("q2", "q0", "q9")])
    assert values["good"][:2].tolist() == [1.0, 0.0]
    assert np.isnan(values["good"][2])

"""Published cases, one by one: what R, SAS, calculators and textbooks print."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from ragbench.old import stats
from ragbench.old.stats.signs import rank_test_p

COVERED = {
    "randolph-2cat",
    "cohen-sas",
    "krippendorff-strings",
    "mcnemar-exact-4",
    "mcnemar-exact-5",
    "cochran-q-2",
    "wilcoxon-pratt",
    "binom-9-21",
    "binom-4-21",
    "binom-11-21",
    "wilson-3-10-0.95",
    "wilson-3-10-0.99",
    "wilson-0-10",
    "wilson-10-10",
    "adjust-multtest-2",
}


@pytest.fixture(scope="module")
def cases(shared_data: Callable[[str], Path]) -> dict[str, dict[str, Any]]:
    path = shared_data("stats-reference/stats_reference.json")
    return {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))}


def test_no_case_is_passed_over(cases: dict[str, dict[str, Any]]) -> None:
    assert set(cases) == COVERED


def test_kappas_of_many_raters(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["randolph-2cat"]
    for chance, expected in case["expected"].items():
        found = stats.fleiss_kappa_of_counts(case["input"], chance=chance).value
        assert found == pytest.approx(expected, abs=case["abs_tol"])


def test_cohens_kappa_with_its_error(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["cohen-sas"]
    table = np.array(case["input"])
    a, b = (np.repeat(side.ravel(), table.ravel()) for side in np.indices(table.shape))
    found = stats.agreement(a, b)["cohen_kappa"]
    assert found.value == pytest.approx(case["expected"]["kappa"], abs=case["abs_tol"])
    low, high = found.intervals["delta"]
    assert [low, high] == pytest.approx(case["expected"]["ci95"], abs=case["abs_tol"])
    error = (high - low) / 2 / scipy.stats.norm.ppf(0.975)
    assert error == pytest.approx(case["expected"]["ase"], abs=case["abs_tol"])


def test_alpha_of_texts(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["krippendorff-strings"]
    items = list(zip(*case["input"], strict=True))
    found = stats.krippendorff_alpha(items)
    assert found.value == pytest.approx(case["expected"]["alpha"], abs=case["abs_tol"])


@pytest.mark.parametrize("name", ["mcnemar-exact-4", "mcnemar-exact-5"])
def test_mcnemar(cases: dict[str, dict[str, Any]], name: str) -> None:
    case = cases[name]
    (both, first_only), (second_only, neither) = case["input"]
    first = [1] * (both + first_only) + [0] * (second_only + neither)
    second = [1] * both + [0] * first_only + [1] * second_only + [0] * neither
    one = stats.compare(first, second)
    seen = scipy.stats.binom.pmf(min(first_only, second_only), first_only + second_only, 0.5)
    assert one.p + seen == pytest.approx(case["expected"]["p"], abs=case["abs_tol"]), "published is the exact p"
    assert one.test == "McNemar, mid-p"


def test_cochran(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["cochran-q-2"]
    q, p = stats.cochran_q(case["input"])
    assert q == pytest.approx(case["expected"]["q"], abs=case["abs_tol"])
    assert p == pytest.approx(case["expected"]["p"], abs=case["abs_tol"])


def test_wilcoxon(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["wilcoxon-pratt"]
    moved = np.array(case["input"]["x"]) - np.array(case["input"]["y"])
    assert rank_test_p(moved, "wilcoxon") == pytest.approx(case["expected"]["p"], abs=case["abs_tol"])


@pytest.mark.parametrize("name", ["binom-9-21", "binom-4-21", "binom-11-21"])
def test_binomial(cases: dict[str, dict[str, Any]], name: str) -> None:
    case = cases[name]
    given = case["input"]
    found = stats.binomial_test(given["k"], given["n"], given["p0"])
    assert found == pytest.approx(case["expected"]["p"], abs=case["abs_tol"])


@pytest.mark.parametrize("name", ["wilson-3-10-0.95", "wilson-3-10-0.99", "wilson-0-10", "wilson-10-10"])
def test_wilson(cases: dict[str, dict[str, Any]], name: str) -> None:
    case = cases[name]
    k, n = case["input"]["k"], case["input"]["n"]
    one = stats.estimate([1.0] * k + [0.0] * (n - k), bounds=(0, 1), level=case["input"]["confidence"])
    assert one.method == "wilson"
    assert [one.low, one.high] == pytest.approx(case["expected"]["ci"], abs=case["abs_tol"])


def test_adjusted_p_values(cases: dict[str, dict[str, Any]]) -> None:
    case = cases["adjust-multtest-2"]
    assert stats.holm(case["input"]) == pytest.approx(case["expected"]["Holm"], abs=case["abs_tol"])
    assert stats.benjamini_hochberg(case["input"]) == pytest.approx(case["expected"]["BH"], abs=case["abs_tol"])

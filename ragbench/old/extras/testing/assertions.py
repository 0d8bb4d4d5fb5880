"""What a gate of ragbench says, as an assertion of a test: for pytest, or any runner that knows AssertionError.

def test_the_answers_are_faithful():
    assert_gate(rb.score(pd.read_json("answers.jsonl", lines=True), ["faithfulness"]), "faithfulness>=0.8")

@pytest.mark.parametrize("sample", samples("answers.jsonl"))
def test_an_answer_keeps_to_its_passages(sample):
    assert_score(sample, "faithfulness>=0.5", judge="my-judge")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old.core import language, settings, stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.names import meant as near
from ragbench.old.core.parts import spoken
from ragbench.old.core.types import Judge, Sample
from ragbench.old.data.samples import read_samples
from ragbench.old.report.keeping import kept
from ragbench.old.report.pages.notebook_pages import Measurements
from ragbench.old.tiers.basics.findings import compared_pair
from ragbench.old.tiers.run import gates
from ragbench.old.tiers.scoring import judge_assignment
from ragbench.old.tiers.scoring.scored_answers import NOTEBOOK, Scores
from ragbench.old.views import Page
from ragbench.old.views.basics.material import Material
from ragbench.old.views.sentences.conclusions import sentence

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

__all__ = ["assert_better", "assert_gate", "assert_score", "samples"]

Measured = Scores | Page | Measurement | str | Path
"""What `rb.score` gave, a page, a measurement, or a run by its name, its beginning, `latest`, or its folder."""


def assert_gate(measured: Measured, *bounds: str) -> None:
    """Pass where the whole interval of every number keeps its bound; otherwise fail with the gate's own sentences.

    bounds: `"faithfulness>=0.8"`, `"latency_ms<=400"`; none: the gates of ragbench.toml. A bound that the interval
    reaches over is not enough evidence, and fails too: its sentence says how many questions would decide. So does a
    number that is not there, and one of which more is unmeasured than the gate allows.

    Raises AssertionError with a line for every check that does not hold; ValueError for a bound that is none;
    BenchError where there are neither bounds nor gates.
    """
    known = settings.load()
    if bounds:
        known = known.model_copy(update={"gate": dict(gates.bound(text) for text in bounds)})
    else:
        gates.check_gates(known)
    made = _measurements(measured)
    lines = [
        gates.line(check) for check in gates.decide(made, known).checks if check.outcome is not gates.Outcome.HOLDS
    ]
    if lines:
        raise AssertionError("\n".join([*lines, *_caveats(made)]))


def assert_better(measured: Measured, challenger: str, *, baseline: str = "", metric: str = "") -> None:
    """Pass where the challenger is better than the baseline; otherwise fail with the sentence of the report.

    Better is what a paired randomization test shows at the page's level, corrected over the family of its comparisons,
    by however little, and what nothing unmeasured can contradict.
    baseline: as it was measured, if not given. metric: the primary one, if not given. Of a run, every page that has
    the metric and both systems has to show it.

    Raises AssertionError with the sentence of each comparison that does not show it; ValueError, naming those there
    are, where nothing compares these two on that metric.
    """
    made = _measurements(measured)
    sentences = []
    for page in made.values():
        of = Material(page, language.translator("en"))
        name = metric or of.primary or ""
        if of.baseline is not None and baseline in ("", of.baseline):
            difference = compared_pair(page, of.baseline, challenger, name)
            sentences += (
                [] if difference is None else [(difference, spoken(of.text).phrase(sentence(of, challenger, name)))]
            )
    if not sentences:
        pairs = {
            f"{named.comparison.challenger} with {named.comparison.baseline} on {named.metric}"
            for page in made.values()
            for named in page.comparisons
        }
        wanted = f"{challenger} with {baseline or 'the baseline'} on {metric or 'the primary metric'}"
        raise ValueError(
            f"nothing compares {wanted}{near(wanted, pairs)}; compared are {'; '.join(sorted(pairs)) or 'none'}"
        )
    lines = [said for comparison, said in sentences if not comparison.verdict.is_better]
    if lines:
        raise AssertionError("\n".join([*lines, *_caveats(made)]))


def assert_score(
    sample: Sample | Mapping[str, Any], bound: str, judge: Judge | str | None = None, **options: Any
) -> None:
    """Pass where one answer's score keeps the bound; otherwise fail with the value and the judge's reason.

    bound: `"faithfulness>=0.5"`. One answer has no interval: the value itself is held to it. An answer that could not
    be measured fails, with the reason. judge, options: of `ragbench.score`.

    Raises AssertionError; ValueError for a bound that is none, and for what `ragbench.score` refuses.
    """
    from ragbench.old import score

    _, asked = gates.bound(bound)
    scores = score([sample], [asked.metric], judge, **options)
    if not scores.rows:
        raise ValueError(f"{asked.metric} is a value of all answers of a system, not of one: hold it with assert_gate")
    [row] = scores.rows
    value = row.score.value
    low, high = asked.at_least, asked.at_most
    if (low is not None and value >= low) or (high is not None and value <= high):
        return
    number = f"{value:.4f}" if value == value else f"not measured ({row.score.status})"
    raise AssertionError(f"{row.sample.id}: {bound} expected, {row.metric.label} is {number}: {row.score.reason}")


def samples(path: str | Path) -> list[ParameterSet]:
    """The answers of a table as parameters of a test, each under its own id (of several systems, with its system's).

    Raises DatasetError for what cannot be read.
    """
    import pytest

    return [
        pytest.param(sample, id=f"{sample.system}-{sample.id}" if sample.system else sample.id)
        for sample in read_samples(Path(path))
    ]


def _measurements(measured: Measured) -> Mapping[str, Measurement]:
    """By the name of the page."""
    if isinstance(measured, Page):
        measured = measured.measurement
    if isinstance(measured, Measurement):
        return {measured.notebook: measured}
    if isinstance(measured, Scores):
        means = [NamedEstimate(*place, estimate) for place, estimate in measured.means.items()]
        facts: Facts = {
            "baseline": measured.systems[0],
            "primary": measured.leading,
            "judge_coverage": judge_assignment.facts(measured.judge_coverages),
            "stand_ins": [stand_in.fact for stand_in in measured.stand_ins],
        }
        return {NOTEBOOK: Measurement(NOTEBOOK, facts, estimates=tuple(means), comparisons=measured.differences)}
    known = Measurements(kept.pages_of(measured))
    return {name: known[name] for name in known.names()}


def _caveats(made: Mapping[str, Measurement]) -> Sequence[str]:
    said = stand_ins.caveat(
        (stand_in for page in made.values() for stand_in in stand_ins.of(page.facts)), language.translator("en")
    )
    return [said] if said else []

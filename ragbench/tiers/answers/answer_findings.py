"""What is stated of answers: what they are worth, how long they are, how often they refuse, how parts of them fare."""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.core.measurement import Evidence, Finding, Findings
from ragbench.core.types import Status
from ragbench.metrics import declaration
from ragbench.tiers.answers import answer_scores, profiles
from ragbench.tiers.answers.written_answers import Answered, sample
from ragbench.tiers.basics import slices
from ragbench.tiers.basics.design import Design
from ragbench.tiers.scoring import other_judges, repeats


def state(evidence: Evidence) -> Findings:
    """Means and comparisons by every metric; lengths, refusals and slices."""
    return found(evidence, ())


def found(evidence: Evidence, more: Sequence[Finding]) -> Findings:
    """The same, with further findings before the slices."""
    design, answered = Design(evidence), answered_of(evidence)
    if not design.asked:
        return Findings()
    metrics = tuple(metric for label in evidence.facts["metric_labels"] if (metric := declaration(label)) is not None)
    ordered = sorted(design.asked, key=lambda question: question.id)
    firsts = answered.first.table
    known = {
        (row["system"], row["sample"]): row["response"]
        for row in firsts.to_dict("records")
        if row["status"] == Status.OK.value
    }
    aligned = {name: [sample(q, name, known.get((name, q.id)), ()) for q in ordered] for name in design.systems}
    estimates, comparisons = answer_scores.found(
        evidence.scores, aligned, ordered, metrics, design.sureness, design.primary
    )
    single = [each for each in metrics if each.grain == "sample"]
    leading = next((each for each in single if each.label == design.primary), next(iter(single), None))
    placed: list[Finding] = [
        *profiles.lengths(answered, design.asked, design.sureness.level),
        *profiles.refusals(answered, design.questions, design.sureness),
        *more,
    ]
    if leading is not None:
        placed += slices.findings(
            evidence.scores, leading, design.systems, design.asked, design.dimensions, design.clusters, design.sureness
        )
    counts = {
        **design.counts(),
        "n_unanswerable": len(design.questions) - len(design.asked),
        "slices_left_out": slices.left_out(design.asked, design.dimensions),
        "cut": profiles.cut(answered),
        "failed": profiles.failed(answered),
        "empty": profiles.empty(answered),
        **other_judges.facts(
            evidence.extra["judgements"], comparisons, evidence.facts.get("judged", ()), design.clusters,
            design.sureness.level,
        ),
    }  # fmt: skip
    extra = (
        {answer_scores.TABLE: answer_scores.counts(aligned, metrics)}
        if any(map(answer_scores.is_corpus, metrics))
        else {}
    )
    if (repeated := evidence.extra.get("repeated")) is not None:
        extra["variance"] = repeats.variance(repeated, estimates, comparisons, design.clusters)
    return Findings(estimates, comparisons, tuple(placed), counts, extra)


def answered_of(evidence: Evidence) -> Answered:
    """The answers as they are kept, without the passages that they were written from."""
    return Answered(evidence.extra["answers"], {}, evidence.facts["generators"])

"""How often do retrieved chunks lead the answer astray?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from ragbench.old.core.metric import Purpose, Reading, Stretch, metric
from ragbench.old.core.types import Judge, Sample, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.metrics.claims import CLAIMS, ENTAILMENT, Judged, claims_of, verdicts_in, verdicts_on
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, measured
from ragbench.old.metrics.references import lowest_of_references

FIELDS = ("user_input", "response", "reference", "contexts")
Mode = Literal["relevant", "irrelevant"]


@metric(
    source="the specification, metrics of retrieval, NoiseSensitivity; after RAGChecker, Ru et al. 2024",
    better="lower",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula="wrong claims that a relevant (or only an irrelevant) context supports / claims of the answer",
    edges=(
        "An answer without claims, such as a refusal, is unmeasured. A missing verdict is asked for once more, then"
        " the value is unmeasured."
    ),
    differs="A failure is unmeasured; elsewhere it becomes 0, the best value there is.",
    reading=Reading(
        (),
        "the specification, metrics of retrieval, NoiseSensitivity",
        bands=(
            Stretch(0.5, 1.0, "poor robustness", "noise easily leads to wrong claims", ends="[]"),
            Stretch(0.3, 0.5, "moderate robustness"),
            Stretch(0.1, 0.3, "good robustness"),
            Stretch(0.0, 0.1, "excellent robustness"),
        ),
        under=("mode",),
    ),
    when=(
        "Testing robustness: what does the system do with noisy retrieval?",
        "Analysing errors: what harm do irrelevant contexts do?",
        "Optimising generation: better answers in spite of noise.",
        "Watching production: does retrieval make answers worse?",
    ),
    purposes=(Purpose("robustness", "measures how far noise leads to wrong statements"),),
    peers=(replace(RAGAS, options=""),),
)
@lowest_of_references
@measured
async def noise_sensitivity(sample: Sample, judge: Judge, *, mode: Mode = "relevant") -> Score:
    """Share of the answer's claims that are wrong and that a retrieved context led to; lower is better.

    A claim is wrong if the reference does not support it. A context is relevant if it supports a claim of the
    reference. mode "relevant" counts wrong claims that a relevant context supports; "irrelevant" those that only
    irrelevant ones support: no claim counts in both, and both come from the same questions. 0 to 1.
    No claims in the response: unmeasured (empty_decomposition). None in the reference: all contexts are irrelevant.
    2 questions for the claims, then 2 for each context and 1 for the reference, in two rounds; `detail` keeps all.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    response, reference = sample.response or "", sample.reference or ""
    said, true = await gather([claims_of(inquiry, response), claims_of(inquiry, reference)])
    if not said:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the response makes no claim"))
    correct, *by_context = await gather(
        [
            verdicts_on(inquiry, said, [reference]),
            *(verdicts_in(inquiry, said, text) for text in inquiry.contexts),
            *(verdicts_in(inquiry, true, text) for text in inquiry.contexts),
        ]
    )
    depth = len(inquiry.contexts)
    relevant = [any(verdict.supported for verdict in verdicts) for verdicts in by_context[depth:]]
    led = [_led_by(place, by_context[:depth], relevant) for place in range(len(said))]
    counted = [mode == way and not verdict.supported for way, verdict in zip(led, correct, strict=True)]
    value = sum(counted) / len(said)
    statements = [
        {
            **verdict.kept(),
            "led_by": way,
            "chunks": [
                chunk.id
                for chunk, verdicts in zip(inquiry.chunks, by_context[:depth], strict=True)
                if verdicts[place].supported
            ],
        }
        for place, (verdict, way) in enumerate(zip(correct, led, strict=True))
    ]
    names = [chunk.id for chunk, flag in zip(inquiry.chunks, relevant, strict=True) if flag]
    wrong = [statement for statement, flag in zip(said, counted, strict=True) if flag]
    return inquiry.score(
        value, _explanation(mode, wrong, len(said), value, names, depth), statements=statements, relevant=names
    )


def _led_by(claim: int, by_context: Sequence[Sequence[Judged]], relevant: Sequence[bool]) -> Mode | None:
    """The kind of context that supports the claim; relevant ones come first."""
    kinds = {flag for flag, verdicts in zip(relevant, by_context, strict=True) if verdicts[claim].supported}
    return ("relevant" if True in kinds else "irrelevant") if kinds else None


def _explanation(
    mode: Mode, wrong: Sequence[str], whole: int, value: float, names: Sequence[str], depth: int
) -> list[dict[str, Any]]:
    counted = {"part": len(wrong), "whole": whole, "value": value}
    if mode == "relevant":
        text = sentence("Wrong claims that relevant contexts led to: {part} of {whole}; {part} / {whole} = {value}.")
    else:
        text = sentence(
            "Wrong claims that only irrelevant contexts led to: {part} of {whole}; {part} / {whole} = {value}."
        )
    explanation = [
        {**text, "values": counted},
        sentence("Relevant contexts: {part} of {whole}.", part=len(names), whole=depth),
    ]
    if wrong:
        explanation.append(sentence("They are: {claims}.", claims=list(wrong)))
    return explanation

"""Does the answer contradict what was retrieved?"""

from __future__ import annotations

from ragbench.metric import metric
from ragbench.metrics.claims import CLAIMS, ENTAILMENT, Entailment, claims_of, verdicts_on
from ragbench.metrics.explanation import sentence, share
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.types import Judge, Sample, Score, Status

FIELDS = ("user_input", "response", "contexts")


@metric(
    source="DeepEval's hallucination metric: contradicted contexts / contexts",
    better="lower",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula="contexts that a claim contradicts / contexts",
    edges=(
        "An answer without claims, such as a refusal, is unmeasured. A missing verdict is asked for once more, then"
        " the value is unmeasured."
    ),
    differs=(
        "Counts contradiction only. A claim that no context mentions contradicts none: faithfulness counts those."
    ),
)
@measured
async def hallucination(sample: Sample, judge: Judge) -> Score:
    """Share of the retrieved contexts that a claim of the answer contradicts; lower is better.

    0 to 1. A claim that no context mentions contradicts none: `faithfulness` counts those. Made from the same verdicts
    as `faithfulness`, so beside it this costs no question. An answer without claims is unmeasured
    (empty_decomposition), a contradiction without the number of its context too (verdict_mismatch).
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    claims = await claims_of(inquiry, sample.response or "")
    if not claims:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the response makes no claim"))
    names = [chunk.id for chunk in inquiry.chunks]
    verdicts = await verdicts_on(inquiry, claims, inquiry.contexts, names)
    kept = [verdict.kept(names) for verdict in verdicts]
    against = [verdict for verdict in verdicts if verdict.verdict is Entailment.CONTRADICTED]
    places = {place for verdict in against for place in (verdict.passages or _only(len(names)))}
    if any(not verdict.passages for verdict in against) and len(names) > 1:
        unnamed = sentence("the judge names no context for a contradiction")
        raise inquiry.unmeasured(Status.VERDICT_MISMATCH, unnamed, statements=kept)
    counted = share(len(places), len(names))
    explanation = [
        sentence("Contexts that the response contradicts: {part} of {whole}; {part} / {whole} = {value}.", **counted)
    ]
    if against:
        explanation.append(sentence("By the claims: {claims}.", claims=[verdict.statement for verdict in against]))
    contradicted = [name for place, name in enumerate(names) if place in places]
    return inquiry.score(counted["value"], explanation, statements=kept, contradicted=contradicted)


def _only(contexts: int) -> tuple[int, ...]:
    """A contradiction without a number can only mean the one context there is."""
    return (0,) if contexts == 1 else ()

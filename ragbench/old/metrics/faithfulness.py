"""Does the answer say only what was retrieved, and how much that was not? Claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, Sample, Score, Status
from ragbench.old.metrics.claims import CLAIMS, ENTAILMENT, Entailment, Judged, claims_of, share_supported, verdicts_on
from ragbench.old.metrics.explanation import sentence, share
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured

FIELDS = ("user_input", "response", "contexts")


@metric(
    source="Es et al. 2023, RAGAS, arXiv:2309.15217, section 3",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula="supported claims / claims",
    edges=(
        "An answer without claims, such as a refusal, is unmeasured. A missing verdict is asked for once more, then"
        " the value is unmeasured."
    ),
    differs=(
        "Elsewhere an answer without claims counts as 1, and 2 verdicts for 3 claims as full marks; here both are "
        "unmeasured."
    ),
    when=(
        "Finding hallucinations: statements without support.",
        "Checking a RAG system: do answers rest on the contexts?",
        "Quality control: do the facts hold?",
        "Medicine, law and other domains where every statement must be right.",
    ),
    purposes=(Purpose("hallucinations", "finds the statements that nothing supports"),),
    peers=(RAGAS,),
)
@measured
async def faithfulness(sample: Sample, judge: Judge, *, variant: Variant = "specification") -> Score:
    """Share of the answer's claims that the retrieved contexts support; undefined for an answer without claims.

    supported claims / claims, 0 to 1. A refusal claims nothing and is unmeasured (empty_decomposition): it is no
    hallucination. `detail["statements"]` keeps every claim with its verdict, reason and cited chunks.
    Two questions to the judge: the claims of the answer, and the verdicts on all of them against all contexts.
    variant: "ragas" divides by the verdicts that came, so that claims which the judge passed over count for nothing,
        and asks about empty texts too.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, blank=variant == "ragas")
    assert sample.response is not None
    claims = await claims_of(inquiry, sample.response)
    if not claims:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the response makes no claim"))
    told = sentence("Claims of the response that the contexts support: {part} of {whole}; {part} / {whole} = {value}.")
    return await share_supported(
        inquiry, claims, variant, told, lambda missing: sentence("Not supported: {claims}.", claims=missing)
    )


Unit = Literal["contexts", "claims"]


@metric(
    source="DeepEval's hallucination metric: contradicted contexts / contexts; unit=claims: Spring AI "
    "RAGAS' one, claims without support / claims",
    better="lower",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula="contexts that a claim contradicts / contexts; unit=claims: claims that no context supports / claims",
    edges=(
        "An answer without claims, such as a refusal, is unmeasured. A missing verdict is asked for once more, then"
        " the value is unmeasured."
    ),
    differs=(
        "Counts contradiction only. A claim that no context mentions contradicts none: faithfulness counts those, and "
        "so does unit=claims, which is 1 − faithfulness. Elsewhere an answer without claims has the best value, 0."
    ),
    when=("Answers that contradict their contexts, apart from those that only go beyond them.",),
    purposes=(Purpose("hallucinations", "finds the contexts that the answer contradicts"),),
)
@measured
async def hallucination(sample: Sample, judge: Judge, *, unit: Unit = "contexts") -> Score:
    """Share of the retrieved contexts that a claim of the answer contradicts; lower is better.

    0 to 1. A context counts also where another one supports the claim that it contradicts. A claim that no context
    mentions contradicts none: `faithfulness` counts those. Made from the same verdicts
    as `faithfulness`, so beside it this costs no question. An answer without claims is unmeasured
    (empty_decomposition), a contradiction without the number of its context too (verdict_mismatch).
    unit: "claims" is the share of the answer's claims that the contexts do not support, whether they contradict them or
        do not mention them: 1 − faithfulness.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    claims = await claims_of(inquiry, sample.response or "")
    if not claims:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the response makes no claim"))
    names = [chunk.id for chunk in inquiry.chunks]
    verdicts = await verdicts_on(inquiry, claims, inquiry.contexts, names)
    return _by_claims(inquiry, verdicts, names) if unit == "claims" else _by_contexts(inquiry, verdicts, names)


def _by_contexts(inquiry: Inquiry, verdicts: Sequence[Judged], names: Sequence[str]) -> Score:
    kept = [verdict.kept(names) for verdict in verdicts]
    against = [verdict for verdict in verdicts if verdict.verdict is Entailment.CONTRADICTED or verdict.against]
    places = {place for verdict in against for place in (verdict.against or _only(len(names)))}
    if any(not verdict.against for verdict in against) and len(names) > 1:
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


def _by_claims(inquiry: Inquiry, verdicts: Sequence[Judged], names: Sequence[str]) -> Score:
    against = [verdict.statement for verdict in verdicts if verdict.verdict is Entailment.CONTRADICTED]
    unknown = [verdict.statement for verdict in verdicts if verdict.verdict is Entailment.NEUTRAL]
    counted = share(len(against) + len(unknown), len(verdicts))
    explanation = [
        sentence(
            "Claims of the response that the contexts do not support: {part} of {whole}; {part} / {whole} = {value}.",
            **counted,
        )
    ]
    if against:
        explanation.append(sentence("Contradicted by the contexts: {claims}.", claims=against))
    if unknown:
        explanation.append(sentence("Not in the contexts: {claims}.", claims=unknown))
    kept = [verdict.kept(names) for verdict in verdicts]
    return inquiry.score(counted["value"], explanation, statements=kept)


def _only(contexts: int) -> tuple[int, ...]:
    """A contradiction without a number can only mean the one context there is."""
    return (0,) if contexts == 1 else ()

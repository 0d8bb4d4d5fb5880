"""Does the answer say only what was retrieved? Claim by claim."""

from __future__ import annotations

from ragbench.core.metric import Purpose, metric
from ragbench.core.types import Judge, Sample, Score, Status
from ragbench.metrics.claims import CLAIMS, ENTAILMENT, claims_of, received_on, verdicts_on
from ragbench.metrics.explanation import sentence, share
from ragbench.metrics.inquiry import RAGAS, Inquiry, Variant, measured

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
    names = [chunk.id for chunk in inquiry.chunks]
    if variant == "ragas":
        verdicts = await received_on(inquiry, claims, inquiry.contexts)
    else:
        verdicts = await verdicts_on(inquiry, claims, inquiry.contexts, names)
    counted = share(sum(verdict.supported for verdict in verdicts), len(verdicts))
    explanation = [
        sentence(
            "Claims of the response that the contexts support: {part} of {whole}; {part} / {whole} = {value}.",
            **counted,
        )
    ]
    if unsupported := [verdict.statement for verdict in verdicts if not verdict.supported]:
        explanation.append(sentence("Not supported: {claims}.", claims=unsupported))
    return inquiry.score(counted["value"], explanation, statements=[verdict.kept(names) for verdict in verdicts])

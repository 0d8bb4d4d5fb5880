"""Was everything retrieved that the right answer needs? Sentence by sentence of the reference."""

from __future__ import annotations

from ragbench.core.metric import Purpose, metric
from ragbench.core.segmentation import sentences
from ragbench.core.types import Judge, Sample, Score, Status
from ragbench.metrics.claims import ENTAILMENT, received_on, verdicts_on
from ragbench.metrics.explanation import sentence, share
from ragbench.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.metrics.references import best_of_references

FIELDS = ("user_input", "contexts", "reference")


@metric(
    source="the specification, metrics of retrieval, ContextRecall; after RAGAS, arXiv:2309.15217",
    fields=FIELDS,
    prompts=(ENTAILMENT,),
    formula="supported sentences of the reference / sentences of the reference",
    edges=(
        "A reference without a sentence is unmeasured. Sentences are split here, so the judge can neither drop nor "
        "add one."
    ),
    differs="Elsewhere the judge splits the reference itself, and what it forgets falls out of the divisor.",
    when=(
        "Answers that need much information: is all of it there?",
        "A knowledge base: is it complete?",
        "A RAG system: how well is the information covered?",
        "Gaps of retrieval: what is missing?",
    ),
    purposes=(Purpose("completeness", "measures what supports the statements of the reference"),),
    peers=(RAGAS,),
)
@best_of_references
@measured
async def context_recall(sample: Sample, judge: Judge, *, variant: Variant = "specification") -> Score:
    """Share of the reference answer's sentences that the retrieved contexts support.

    supported sentences / sentences, 0 to 1. The sentences are split here and numbered, so that the judge can neither
    drop nor add one; it is asked once, for its verdict on each. `detail["statements"]` keeps every sentence with
    verdict, reason and cited chunks. A reference without a sentence is unmeasured (empty_decomposition).
    variant: "ragas" divides by the verdicts that came, so that sentences which the judge passed over count for nothing,
        and asks about empty contexts too.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, blank=variant == "ragas")
    assert sample.reference is not None
    parts = sentences(sample.reference)
    if not parts:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the reference has no sentence"))
    names = [chunk.id for chunk in inquiry.chunks]
    if variant == "ragas":
        verdicts = await received_on(inquiry, parts, inquiry.contexts)
    else:
        verdicts = await verdicts_on(inquiry, parts, inquiry.contexts, names)
    counted = share(sum(verdict.supported for verdict in verdicts), len(verdicts))
    explanation = [
        sentence(
            "Sentences of the reference that the contexts support: {part} of {whole}; {part} / {whole} = {value}.",
            **counted,
        )
    ]
    if missing := [verdict.statement for verdict in verdicts if not verdict.supported]:
        explanation.append(sentence("Not found in the contexts: {sentences}.", sentences=missing))
    return inquiry.score(counted["value"], explanation, statements=[verdict.kept(names) for verdict in verdicts])

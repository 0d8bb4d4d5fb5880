"""What of an answer's claims is the retriever's part, what the generator's? RAGChecker's split of one decomposition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, Sample, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.metrics.claims import CLAIMS, ENTAILMENT, Judged, claims_of, verdicts_in
from ragbench.old.metrics.explanation import sentence, share
from ragbench.old.metrics.inquiry import Inquiry, measured
from ragbench.old.metrics.references import best_of_references, lowest_of_references

SOURCE = "Ru et al. 2024, arXiv:2408.08067 (RAGChecker)"
RETRIEVED = ("user_input", "reference", "contexts")
FIELDS = ("user_input", "response", "reference", "contexts")
WITHOUT_CLAIMS = (
    "A text without claims, such as a refusal, is unmeasured; RAGChecker's program has 0. A missing verdict is asked "
    "for once more, then the value is unmeasured."
)
SHARED = "Claims and verdicts are those of factual_correctness and noise_sensitivity, so that they are asked for once."


@dataclass(frozen=True)
class _Claims:
    """The claims of one text. held: by the other text. chunks: the contexts that support each."""

    held: Sequence[Judged]
    chunks: Sequence[Sequence[str]]

    @property
    def carried(self) -> list[bool]:
        """Whether any context supports each."""
        return list(map(bool, self.chunks))

    @property
    def told(self) -> list[dict[str, Any]]:
        """As they are stored: the other text's verdict, and the contexts that support each."""
        return [
            {**verdict.kept(), "chunks": list(names)} for verdict, names in zip(self.held, self.chunks, strict=True)
        ]


async def _claims(inquiry: Inquiry, side: str) -> _Claims:
    """Those of the response or the reference. Raises EndedError where there is none."""
    sample = inquiry.sample
    text, other = sample.response or "", sample.reference or ""
    text, other = (text, other) if side == "response" else (other, text)
    statements = await claims_of(inquiry, text)
    if not statements:
        neither = {
            "response": sentence("the response makes no claim"),
            "reference": sentence("the reference makes no claim"),
        }
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, neither[side])
    held, *by_context = await gather(
        [verdicts_in(inquiry, statements, other), *(verdicts_in(inquiry, statements, one) for one in inquiry.contexts)]
    )
    chunks = [
        [chunk.id for chunk, judged in zip(inquiry.chunks, by_context, strict=True) if judged[place].supported]
        for place in range(len(statements))
    ]
    return _Claims(held, chunks)


@metric(
    source=SOURCE + ", claim recall",
    fields=RETRIEVED,
    prompts=(CLAIMS, ENTAILMENT),
    formula="claims of the reference that a context supports / claims of the reference",
    edges=WITHOUT_CLAIMS,
    differs="By claims, and context by context, where context_recall goes by sentences and all contexts. " + SHARED,
    when=("Diagnosing retrieval: was what a right answer says there to be read?",),
    purposes=(Purpose("retrieval", "counts the right claims that were retrieved"),),
)
@best_of_references
@measured
async def claim_recall(sample: Sample, judge: Judge) -> Score:
    """Share of the reference's claims that a retrieved context supports: the retriever's part.

    0 to 1; `detail["claims"]` keeps each claim with the contexts that support it.
    """
    inquiry = Inquiry(sample, judge, *RETRIEVED)
    claims = await _claims(inquiry, "reference")
    counted = share(sum(claims.carried), len(claims.held))
    said = [sentence("Claims of the reference that a context supports: {part} of {whole}; {value}.", **counted)]
    if missing := [claim.statement for claim, names in zip(claims.held, claims.chunks, strict=True) if not names]:
        said.append(sentence("Not retrieved: {claims}.", claims=missing))
    return inquiry.score(counted["value"], said, claims={"reference": claims.told})


@metric(
    source=SOURCE + ", context utilization",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula=(
        "claims of the reference that a context and the answer support / claims of the reference that a context "
        "supports"
    ),
    edges="An empty answer has 0, without a question. "
    + WITHOUT_CLAIMS
    + " Where no context supports a claim of the reference there was nothing to use: unmeasured.",
    differs="RAGChecker's program has 0 where nothing of the reference was retrieved. " + SHARED,
    when=("Diagnosing generation: does the answer use the right claims that were retrieved?",),
    purposes=(Purpose("generation", "counts the retrieved right claims that the answer uses"),),
)
@best_of_references
@measured
async def context_utilization(sample: Sample, judge: Judge) -> Score:
    """Share of the right claims that were retrieved that the answer says: the generator's part.

    0 to 1; `detail["claims"]` keeps each claim of the reference with the contexts that support it.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, empty=0.0)
    claims = await _claims(inquiry, "reference")
    there = [verdict for verdict, flag in zip(claims.held, claims.carried, strict=True) if flag]
    if not there:
        nothing = sentence("no context supports a claim of the reference")
        raise inquiry.unmeasured(Status.EMPTY_INPUT, nothing, claims={"reference": claims.told})
    counted = share(sum(verdict.supported for verdict in there), len(there))
    said = [
        sentence("Retrieved claims of the reference that the response says: {part} of {whole}; {value}.", **counted)
    ]
    if missing := [verdict.statement for verdict in there if not verdict.supported]:
        said.append(sentence("Retrieved, and missing from the response: {claims}.", claims=missing))
    return inquiry.score(counted["value"], said, claims={"reference": claims.told})


@metric(
    source=SOURCE + ", hallucination",
    better="lower",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula="claims of the answer that neither a context nor the reference supports / claims of the answer",
    edges=WITHOUT_CLAIMS,
    differs="hallucination counts contradicted contexts, and knows no reference. " + SHARED,
    when=("Diagnosing generation: which wrong claims come from nowhere?",),
    purposes=(Purpose("hallucinations", "counts wrong claims that no context led to"),),
)
@lowest_of_references
@measured
async def claim_hallucination(sample: Sample, judge: Judge) -> Score:
    """Share of the answer's claims that are wrong and that no context supports; lower is better.

    0 to 1. With noise_sensitivity in both modes, self_knowledge and the claims that are right and retrieved it is 1.
    """
    return await _unfounded(sample, judge, right=False)


@metric(
    source=SOURCE + ", self-knowledge",
    better="lower",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula="claims of the answer that the reference supports and no context does / claims of the answer",
    edges=WITHOUT_CLAIMS,
    differs=SHARED,
    when=("Diagnosing generation: what does the model know without its contexts?",),
    purposes=(Purpose("generation", "counts right claims that the model knew by itself"),),
)
@lowest_of_references
@measured
async def self_knowledge(sample: Sample, judge: Judge) -> Score:
    """Share of the answer's claims that are right and that no context supports: the model knew them; lower is better.

    0 to 1. Right as they are, nobody can check them at a source.
    """
    return await _unfounded(sample, judge, right=True)


async def _unfounded(sample: Sample, judge: Judge, *, right: bool) -> Score:
    inquiry = Inquiry(sample, judge, *FIELDS)
    claims = await _claims(inquiry, "response")
    counted = [
        verdict.statement
        for verdict, flag in zip(claims.held, claims.carried, strict=True)
        if not flag and verdict.supported == right
    ]
    known = share(len(counted), len(claims.held))
    said = [
        sentence("Right claims that no context supports: {part} of {whole}; {value}.", **known)
        if right
        else sentence("Wrong claims that no context supports: {part} of {whole}; {value}.", **known)
    ]
    if counted:
        said.append(sentence("They are: {claims}.", claims=counted))
    return inquiry.score(known["value"], said, claims={"response": claims.told})

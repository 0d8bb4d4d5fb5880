"""Does the answer say what the reference says? Claims of each held against the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from annotated_types import Gt

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, Sample, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.metrics.claims import CLAIMS, ENTAILMENT, Judged, claims_of, verdicts_on
from ragbench.old.metrics.explanation import sentence, share
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.old.metrics.references import best_of_references

FIELDS = ("response", "reference")
Mode = Literal["f1", "precision", "recall"]
RAGAS_EPSILON, RAGAS_DIGITS = 1e-8, 2  # ragas' own, for values that equal its


@metric(
    source="the specification, metrics of answers, FactualCorrectness; claims after FActScore, Min et al. 2023, "
    "arXiv:2305.14251",
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    formula=(
        "precision P = supported claims of the answer / its claims; recall R likewise for the reference; F = (1 + "
        "β²) P R / (β² P + R)"
    ),
    edges=(
        "A side without claims is unmeasured; F is 0 where P and R are 0. Of an empty answer F and recall are 0, "
        "without a question, and precision is unmeasured."
    ),
    differs=(
        "Elsewhere recall takes its hits from the answer's claims and its misses from the reference's, and values "
        "are rounded to two digits; variant=ragas reproduces that."
    ),
    when=(
        "A detailed check of facts.",
        "Finding out which facts are wrong.",
        "Weighing precision against recall.",
        "Where much depends on being right.",
    ),
    purposes=(
        Purpose("facts", "checks claim by claim"),
        Purpose("critical-accuracy", "finds the very claims that are wrong"),
    ),
    peers=(RAGAS,),
)
@best_of_references
@measured
async def factual_correctness(
    sample: Sample,
    judge: Judge,
    *,
    mode: Mode = "f1",
    beta: Annotated[float, Gt(0)] = 1.0,
    variant: Variant = "specification",
) -> Score:
    """How far the answer's claims and the reference's claims support each other: F1, precision or recall.

    precision: claims of the response that the reference supports / claims of the response.
    recall: claims of the reference that the response supports / claims of the reference.
    f1: (1 + β²) P R / (β² P + R), β > 1 for recall; 0.0 where both are 0. All from 0 to 1, not rounded.
    A claim is supported, contradicted or neutral; `detail` keeps each with its reason, and both counts of the three.
    variant: "ragas" takes the supported claims of the response and the unsupported ones of the reference for one
        recall, adds 1e-8 to the divisor of precision and recall, and rounds to two digits. A side without claims
        supports nothing there and leaves nothing out.
    A side that makes no claim leaves the sample unmeasured. Four questions in two rounds; two for precision or recall.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, empty=None if mode == "precision" else 0.0, blank=variant == "ragas")
    sides = _sides(mode, variant)
    verdicts = dict(zip(sides, await gather([_side(inquiry, side, variant) for side in sides]), strict=True))
    counts = {side: Counter(str(verdict.verdict) for verdict in judged) for side, judged in verdicts.items()}
    value = (
        _by_ragas(counts, mode, beta)
        if variant == "ragas"
        else _value(
            *(_share(verdicts[side])["value"] if side in verdicts else 0.0 for side in FIELDS), mode=mode, beta=beta
        )
    )
    return inquiry.score(
        value,
        _explanation(verdicts, value, mode, beta, variant),
        claims={side: [verdict.kept() for verdict in judged] for side, judged in verdicts.items()},
        counts={side: dict(count) for side, count in counts.items()},
    )


def f_measure(precision: float, recall: float, beta: Annotated[float, Gt(0)] = 1.0) -> float:
    """van Rijsbergen's F: the weighted harmonic mean; 0.0 where both are 0."""
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


def _sides(mode: Mode, variant: str) -> tuple[str, ...]:
    """The texts whose claims are needed."""
    if mode == "precision":
        return ("response",)
    return ("reference",) if mode == "recall" and variant != "ragas" else FIELDS


async def _side(inquiry: Inquiry, side: str, variant: str) -> list[Judged]:
    """The claims of one text, each judged by the other."""
    text, other = (getattr(inquiry.sample, name) for name in (side, "reference" if side == "response" else "response"))
    claims = await claims_of(inquiry, text)
    if not claims and variant == "ragas":
        return []
    if not claims:
        neither = {
            "response": sentence("the response makes no claim"),
            "reference": sentence("the reference makes no claim"),
        }
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, neither[side])
    return await verdicts_on(inquiry, claims, [other])


def _share(judged: Sequence[Judged]) -> dict[str, Any]:
    return share(sum(verdict.supported for verdict in judged), len(judged))


def _value(precision: float, recall: float, *, mode: Mode, beta: float) -> float:
    return {"precision": precision, "recall": recall, "f1": f_measure(precision, recall, beta)}[mode]


def _by_ragas(counts: dict[str, Counter[str]], mode: Mode, beta: float) -> float:
    supported = counts["response"]["supported"]
    invented = counts["response"].total() - supported
    if mode == "precision":
        return _rounded(supported / (supported + invented + RAGAS_EPSILON))
    left_out = counts["reference"].total() - counts["reference"]["supported"]
    if mode == "recall":
        return _rounded(supported / (supported + left_out + RAGAS_EPSILON))
    return _rounded(mixed_f(supported, invented, left_out, beta))


def mixed_f(supported: int, invented: int, left_out: int, beta: Annotated[float, Gt(0)] = 1.0) -> float:
    """F where true positives are claims of the response and false negatives are claims of the reference: two
    populations in one recall, as other software has it.
    """
    recall = supported / (supported + left_out) if supported + left_out else 0.0
    precision = supported / (supported + invented) if supported + invented else 0.0
    return f_measure(precision, recall, beta)


def _rounded(value: float) -> float:
    """To two digits as NumPy does it: halves of the hundredfold to the even side."""
    import numpy as np

    return float(np.round(value, RAGAS_DIGITS))


def _explanation(
    verdicts: dict[str, list[Judged]], value: float, mode: Mode, beta: float, variant: str
) -> list[dict[str, Any]]:
    said = []
    if judged := verdicts.get("response"):
        said.append(
            sentence(
                "Precision: claims of the response that the reference supports, {part} / {whole} = {value}.",
                **_share(judged),
            )
        )
    if judged := verdicts.get("reference"):
        said.append(
            sentence(
                "Recall: claims of the reference that the response supports, {part} / {whole} = {value}.",
                **_share(judged),
            )
        )
    if variant == "ragas":
        said.append(sentence("By the formula of ragas: {value}.", value=value))
    elif mode == "f1":
        said.append(sentence("F with β = {beta}: {value}.", beta=f"{beta:g}", value=value))
    if wrong := _those(verdicts.get("response", ()), "contradicted"):
        said.append(sentence("Contradicted by the reference: {claims}.", claims=wrong))
    if unknown := _those(verdicts.get("response", ()), "neutral"):
        said.append(sentence("Not in the reference: {claims}.", claims=unknown))
    if missing := [verdict.statement for verdict in verdicts.get("reference", ()) if not verdict.supported]:
        said.append(sentence("Missing from the response: {claims}.", claims=missing))
    return said


def _those(judged: Sequence[Judged], verdict: str) -> list[str]:
    return [each.statement for each in judged if each.verdict == verdict]

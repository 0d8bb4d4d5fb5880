"""Show an answer or not: the production judge's decision, and how good such decisions are against people's labels."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import partial
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from pydantic import BaseModel, Field

from ragbench.old.core.metric import Peer, Purpose, Reading, Stretch, metric
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Array, Judge, LexicalReader, Prompt, Sample, Score
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured

SOURCE = "the specification, section 9.3"
FIELDS = ("user_input", "response")
DECISION_FIELDS = ("show", "decision", "verdict")
YES = frozenset({"yes", "true", "1", "да"})
NO = frozenset({"no", "false", "0", "нет"})
_FIRST_WORD = re.compile(r"\W*(\w+)(?![.,]?\d)")
_WHOLE_NUMBER = re.compile(r"\W*([01])(?:\.0+)?\W*")


class Cell(IntEnum):
    """Where a decision falls: positive is "show". A call that failed decided nothing, and is no fewer for it."""

    TRUE_POSITIVE = 0
    FALSE_POSITIVE = 1
    FALSE_NEGATIVE = 2
    TRUE_NEGATIVE = 3
    FAILED_POSITIVE = 4
    FAILED_NEGATIVE = 5


def cell(truth: bool, decision: bool | None) -> Cell:
    """The cell of one decision; None is a call that failed."""
    if decision is None:
        return Cell.FAILED_POSITIVE if truth else Cell.FAILED_NEGATIVE
    if decision:
        return Cell.TRUE_POSITIVE if truth else Cell.FALSE_POSITIVE
    return Cell.FALSE_NEGATIVE if truth else Cell.TRUE_NEGATIVE


def decision_of(reply: Any) -> bool | None:
    """What a production judge's reply decides: True is "show", False is "don't show", None is neither.

    A text counts by its first word ("No: … yesterday" is No), or, where it is a JSON object, by the first of its
    fields show, decision, verdict; never by a word somewhere in it. Case, signs and Markdown around the word do not
    matter; English and Russian are read, and 1 and 0 where nothing else stands there.
    """
    if isinstance(reply, bool | np.bool_):
        return bool(reply)
    if isinstance(reply, Mapping):
        return next((decision_of(reply[name]) for name in DECISION_FIELDS if name in reply), None)
    if isinstance(reply, int | float) and reply in (0, 1):
        return bool(reply)
    if not isinstance(reply, str):
        return None
    text = unicodedata.normalize("NFKC", reply).casefold().strip()
    if text.startswith("{"):
        try:
            decoded = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return decision_of(decoded) if isinstance(decoded, dict) else None
    number = _WHOLE_NUMBER.fullmatch(text)
    first = _FIRST_WORD.match(text)
    word = number[1] if number else first[1] if first else ""
    if word.isdigit() and not number:
        return None
    return True if word in YES else False if word in NO else None


_DEC_EDGE = "A call that failed stays in n as wrong. Without a case to decide there is no value."
_DEC_DIFF = (
    "A reply is yes or no by its field. Software that looks for “yes” in the text takes “No: … yesterday” for a "
    "yes, and drops failed calls from n."
)
_SHARES_READING = Reading(
    ("Usually recall matters more: an answer that is held back is lost. Low precision shows poor answers.",),
    "the specification, section 9.3.2",
)
_of_decisions = partial(metric, source=SOURCE, over="set", edges=_DEC_EDGE, differs=_DEC_DIFF)


@_of_decisions(
    formula="(TP + TN) / n",
    reading=Reading(
        (),
        "the specification, section 9.3.1",
        bands=(
            Stretch(0.0, 0.85, "needs improvement"),
            Stretch(0.85, 0.95, "acceptable", ends="[]"),
            Stretch(0.95, 1.0, "excellent", ends="(]"),
        ),
    ),
    when=("Decisions where both errors cost the same and both classes are frequent.",),
    purposes=(Purpose("production-judge", "how many decisions are right"),),
    peers=(Peer("scikit-learn", 1e-6, "random decisions"),),
)
def accuracy(table: Array) -> Array:
    """Share of all decisions that agree with the label; a failed call agrees with none.

    table: (…, 6) counts in the order of `Cell`; NaN where nothing was to be decided.
    """
    return _over(table[..., Cell.TRUE_POSITIVE] + table[..., Cell.TRUE_NEGATIVE], table.sum(axis=-1))


Cost = Annotated[float, Ge(0)]


@metric(
    source="Brodersen et al. 2010, The balanced accuracy and its posterior distribution",
    over="set",
    formula="(TP / to be shown + TN / not to be shown) / 2",
    edges="A call that failed is wrong. Without answers of both kinds there is no value.",
    differs="Showing all, showing none and tossing a coin all reach one half, however many answers are to be shown.",
    when=("Decisions where one class is rare.",),
)
def balanced_accuracy(table: Array) -> Array:
    """Mean of two shares: of the answers to be shown that were shown, and of the others that were held back.

    table: (…, 6) counts in the order of `Cell`; NaN where all answers are to be shown, or none. A failed call is wrong.
    """
    shown, others = _to_be_shown(table), table.sum(axis=-1) - _to_be_shown(table)
    return (_over(table[..., Cell.TRUE_POSITIVE], shown) + _over(table[..., Cell.TRUE_NEGATIVE], others)) / 2


@metric(
    source="expected cost of a decision: Elkan 2001, The foundations of cost-sensitive learning",
    over="set",
    bounds=(0.0, None),
    better="lower",
    formula="(cost_shown · FP + cost_hidden · FN) / n",
    edges="A call that failed shows nothing. Without a case to decide there is no value.",
    differs="The prices are those of the page; they are printed with it.",
    when=("Decisions whose two errors cost differently, and you know how much.",),
)
def decision_cost(table: Array, *, cost_shown: Cost = 1.0, cost_hidden: Cost = 1.0) -> Array:
    """Mean cost of a decision, where showing wrongly and holding back wrongly have a price each.

    table: (…, 6) counts in the order of `Cell`; NaN where nothing was to be decided.
    """
    hidden = _to_be_shown(table) - table[..., Cell.TRUE_POSITIVE]
    return _over(cost_shown * table[..., Cell.FALSE_POSITIVE] + cost_hidden * hidden, table.sum(axis=-1))


@_of_decisions(
    published="precision",
    formula="TP / (TP + FP)",
    reading=_SHARES_READING,
    when=("Where a poor answer that is shown does harm.",),
    purposes=(Purpose("production-judge", "how many of the shown answers deserve it"),),
    peers=(Peer("scikit-learn", 1e-6, "random decisions"),),
)
def decision_precision(table: Array) -> Array:
    """Share of the answers shown that are to be shown (precision of the class “Yes”).

    table: (…, 6) counts in the order of `Cell`; NaN where nothing was shown.
    """
    shown = table[..., Cell.TRUE_POSITIVE] + table[..., Cell.FALSE_POSITIVE]
    return _over(table[..., Cell.TRUE_POSITIVE], shown)


@_of_decisions(
    published="recall",
    formula="TP / (TP + FN)",
    reading=_SHARES_READING,
    when=("Where a good answer that is held back is lost.",),
    purposes=(Purpose("production-judge", "how many of the good answers are shown"),),
    peers=(Peer("scikit-learn", 1e-6, "random decisions"),),
)
def decision_recall(table: Array) -> Array:
    """Share of the answers to be shown that were shown (recall of the class “Yes”); a failed call shows nothing.

    table: (…, 6) counts in the order of `Cell`; NaN where nothing was to be shown.
    """
    return _over(table[..., Cell.TRUE_POSITIVE], _to_be_shown(table))


@_of_decisions(
    formula="2 TP / (2 TP + FP + FN)",
    reading=Reading(
        ("A balance of both: usually recall matters more, but low precision shows poor answers.",),
        "the specification, section 9.3.2",
    ),
    when=("Both errors of a decision in one number.",),
    purposes=(Purpose("production-judge", "both errors in one number"),),
    peers=(Peer("scikit-learn", 1e-6, "random decisions"),),
)
def f1_score(table: Array) -> Array:
    """Harmonic mean of precision and recall of the class “Yes”: 2 TP / (2 TP + FP + FN); failed calls are in FN.

    table: (…, 6) counts in the order of `Cell`; NaN where nothing was shown and nothing was to be shown.
    """
    both = 2 * table[..., Cell.TRUE_POSITIVE]
    return _over(both, table[..., Cell.TRUE_POSITIVE] + table[..., Cell.FALSE_POSITIVE] + _to_be_shown(table))


def _to_be_shown(table: Array) -> Array:
    return table[..., Cell.TRUE_POSITIVE] + table[..., Cell.FALSE_NEGATIVE] + table[..., Cell.FAILED_POSITIVE]


def _over(above: Array, below: Array) -> Array:
    """above / below, NaN where below is nothing (also in resamples, whose totals are not exactly whole)."""
    empty = np.abs(below) <= 1e-12
    return np.asarray(np.where(empty, np.nan, above / np.where(empty, 1.0, below)))


class Word(StrEnum):
    """The reply's word."""

    YES = "yes"
    NO = "no"


class Decision(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one short sentence")
    show: Word = Field(description='"yes" or "no"')
    likelihood: int = Field(ge=0, le=100, description="how likely it is, in per cent, that showing it would be right")


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Decision | None:
    """The weakest sentence decides: what no context carries must not be shown. Without a context there is nothing."""
    if not texts["contexts"]:
        return None
    parts = sentences(texts["response"])
    supports = [reader.support(part, texts["contexts"]) for part in parts]
    carried = [reader.supported(part, texts["contexts"]) for part in parts]
    weakest = min(supports, default=0.0)
    return Decision(
        reason=kept(
            Reason(
                "sentences that the contexts carry: {part} of {whole}; the weakest: {share}",
                part=sum(carried),
                whole=len(parts),
                share=rounded(weakest, 2),
            )
        ),
        show=Word.YES if parts and all(carried) else Word.NO,
        likelihood=round(100 * weakest),
    )


DECIDE = Prompt(
    name="show_decision",
    version=1,
    shape=Decision,
    offline=_by_words,
    texts={
        "en": """Decide whether an assistant's answer may be shown to the person who asked.

Question:
{question}

Passages that the assistant was given:
{contexts}

Answer:
{response}

Show it if it answers this question and everything that it states is in the passages. Do not show it if it states
something that they do not say or that they contradict, if it answers another question or speaks of another group of
people, if it refuses although the passages hold the answer, or if it is empty or garbled. A refusal is right where the
passages do not hold the answer.

Give the reason first, then "yes" (show) or "no" (do not show), then how likely it is, from 0 to 100, that showing this
answer would be right.""",
        "ru": """Решите, можно ли показать ответ ассистента тому, кто задал вопрос.

Вопрос:
{question}

Отрывки, данные ассистенту:
{contexts}

Ответ:
{response}

Показывайте, если он отвечает на этот вопрос и всё, что в нём утверждается, есть в отрывках. Не показывайте, если в нём
есть то, чего отрывки не говорят или чему противоречат, если он отвечает на другой вопрос или говорит о других людях,
если он отказывается отвечать, хотя ответ в отрывках есть, если он пуст или испорчен. Отказ верен там, где ответа в
отрывках нет.

Сначала причина (по-русски), затем латиницей "yes" (показать) или "no" (не показывать), затем вероятность от 0 до 100,
что показать этот ответ было бы правильно.""",
    },
)


@metric(
    source="the specification, section 9: the production judge's question",
    levels=(0.0, 1.0),
    better=None,
    fields=FIELDS,
    prompts=(DECIDE,),
    formula="1 for yes, 0 for no",
    edges="An answer without a text is not shown, without a call.",
    differs=_DEC_DIFF,
    when=("What a production judge says of each answer; whether it is right, the measures of decisions say.",),
)
@measured
async def show_decision(sample: Sample, judge: Judge) -> Score:
    """Whether a judge would show the answer to its user: 1.0 for yes, 0.0 for no.

    `detail["score"]`: how likely showing it is right in the judge's own words, 0 to 1; the lexical judge's is the
    support of the weakest sentence. An answer without a text is not shown, without a call. Contexts may be empty; the
    lexical judge then decides nothing (empty_input).
    """
    inquiry = Inquiry(sample, judge, "user_input")
    if sample.response is not None and not sample.response.strip():
        empty = sentence("The answer is empty: it is not shown; {value}.", value=0.0)
        return inquiry.score(0.0, [empty], decision=Word.NO.value, score=0.0, said="")
    inquiry = Inquiry(sample, judge, *FIELDS)
    texts = {"question": sample.user_input or "", "contexts": inquiry.contexts, "response": sample.response or ""}
    reply = await inquiry.ask(DECIDE, texts)
    value = float(reply.show is Word.YES)
    explanation = [
        sentence("Show: {decision}, with a likelihood of {score}.", decision=reply.show.value,
                 score=reply.likelihood / 100),
        sentence("The judge says: {reason}", reason=reply.reason),
    ]  # fmt: skip
    return inquiry.score(value, explanation, decision=reply.show.value, score=reply.likelihood / 100, said=reply.reason)

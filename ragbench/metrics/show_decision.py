"""May the answer be shown to the person who asked? The question of a judge in production."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Rating, Score
from ragbench.metrics.judging import Judge, Lower, Prompt, check_images, check_inputs


class Decision(BaseModel):
    """Reply: whether to show the answer, and how sure that is."""

    reason: str = Field(description="one short sentence")
    show: Annotated[Literal["yes", "no"], Lower] = Field(description='"yes" or "no"')
    likelihood: Rating = Field(
        ge=0, le=100, description="how likely it is, in per cent, that showing it would be right"
    )


DECIDE = Prompt(
    "show_decision",
    Decision,
    en="""\
Decide whether an assistant's answer may be shown to the person who asked.

Question:
{question}

Passages that the assistant was given:
{contexts}

Answer:
{answer}

Show it if it answers this question and everything that it states is in the passages. Do not show \
it if it states something that they do not say or that they contradict, if it answers another \
question or speaks of another group of people, if it refuses although the passages hold the \
answer, or if it is empty or garbled. A refusal is right where the passages do not hold the answer.

Give the reason first, then "yes" (show) or "no" (do not show), then how likely it is, from 0 to \
100, that showing this answer would be right.""",
    ru="""\
Решите, можно ли показать ответ ассистента тому, кто задал вопрос.

Вопрос:
{question}

Отрывки, данные ассистенту:
{contexts}

Ответ:
{answer}

Показывайте, если он отвечает на этот вопрос и всё, что в нём утверждается, есть в отрывках. Не \
показывайте, если в нём есть то, чего отрывки не говорят или чему противоречат, если он отвечает \
на другой вопрос или говорит о других людях, если он отказывается отвечать, хотя ответ в отрывках \
есть, если он пуст или испорчен. Отказ верен там, где ответа в отрывках нет.

Сначала причина (по-русски), затем латиницей "yes" (показать) или "no" (не показывать), затем \
вероятность от 0 до 100, что показать этот ответ было бы правильно.""",
)


@metric(source="the question of a judge in production", better="describes")
async def show_decision(
    judge: Judge, question: str, answer: str, contexts: Sequence[str] = ()
) -> Score:
    """Whether a judge would show the answer to its user: 1.0 for yes, 0.0 for no.

    The explanation keeps how likely it is, in the judge's own words, that showing it is right. An
    answer without text is not shown, without a call. Whether the decisions are right, accuracy,
    decision_precision, decision_recall and f1_score tell.
    """
    check_inputs(judge, question=question)
    check_images(judge, contexts)
    if not answer.strip():
        message = mark("The answer is empty and is not shown: {value}")
        return Score(0.0, message=message, facts={"likelihood": 0})
    reply = await judge.ask(DECIDE, question=question, contexts=list(contexts), answer=answer)
    shown = mark("To be shown, with a likelihood of {likelihood} %: {reason}")
    held = mark(
        "Not to be shown: with a likelihood of {likelihood} % showing it would be right: {reason}"
    )
    return Score(
        float(reply.show == "yes"),
        message=shown if reply.show == "yes" else held,
        facts={"likelihood": reply.likelihood, "reason": reply.reason},
    )

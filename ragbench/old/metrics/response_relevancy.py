"""Does the answer answer this question? The questions that it would answer are compared with the one that was asked."""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import BaseModel, Field

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Embedder, Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.old.metrics.vectors import by_each, by_embedder, cosine, single_cosine

FIELDS = ("user_input", "response")
MOST = 20  # each is a part of a reply that is paid for; ragas asks for three
_EVASIVE = re.compile(
    r"\b(?:i (?:do not|don't|don’t) know|not sure|cannot (?:answer|help|say)|can't (?:answer|help|say)|"
    r"unable to answer|no information|не знаю|не могу (?:ответить|помочь|сказать)|затрудняюсь|"
    r"нет (?:данных|информации|сведений)|не найден[ао]? (?:данных|информации|сведений)?)",
    re.IGNORECASE,
)


class Manner(StrEnum):
    """Whether the response commits itself to an answer."""

    COMMITTAL = "committal"
    NONCOMMITTAL = "noncommittal"


class GeneratedQuestion(BaseModel):
    """A question that the response answers."""

    question: str = Field(description="one full question")
    manner: Manner = Field(description='"committal" or "noncommittal"')


class GeneratedQuestions(BaseModel):
    """The reply's shape; empty where the response answers nothing."""

    questions: list[GeneratedQuestion]


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> GeneratedQuestions:
    """The response's own sentences stand for the questions: a question shares its words with its answer."""
    manner = Manner.NONCOMMITTAL if _EVASIVE.search(texts["response"]) else Manner.COMMITTAL
    parts = sentences(texts["response"])[: int(texts["number"])]
    return GeneratedQuestions(questions=[GeneratedQuestion(question=part, manner=manner) for part in parts])


QUESTIONS = Prompt(
    name="response_relevancy",
    version=1,
    shape=GeneratedQuestions,
    offline=_by_words,
    texts={
        "en": """Read the response of an assistant and write the questions to which it would be a full answer.

Response:
{response}

How many questions to write:
{number}

- Each question asks for what the response says, all of it or its main point; each is worded differently.
- Use only the response. Do not ask for what it leaves out. Write in its language.
- For each, say whether the response is "committal" (it gives an answer) or "noncommittal" (it evades: "I do not know",
  "I am not sure", "it depends", a refusal).""",
        "ru": """Прочитайте ответ ассистента и напишите вопросы, на которые он был бы полным ответом.

Ответ:
{response}

Сколько вопросов написать:
{number}

- Каждый вопрос — о том, что говорит ответ: обо всём или о главном; формулировки разные.
- Опирайтесь только на ответ. Не спрашивайте о том, чего в нём нет. Пишите на его языке.
- Для каждого укажите (латиницей): "committal" — ответ даёт ответ по существу, или "noncommittal" — ответ уклончив («не
  знаю», «не уверен», «смотря как», отказ).""",
    },
)


@metric(
    former=("answer_relevancy",),
    source="Es et al. 2023, RAGAS, arXiv:2309.15217, section 3",
    bounds=(-1.0, 1.0),
    fields=FIELDS,
    prompts=(QUESTIONS,),
    formula="mean cosine between the question and N questions made from the answer",
    edges="0 when all made questions are noncommittal; without any it is unmeasured.",
    differs="One call makes all questions; the answer is 0 only if all of them evade, not if one does.",
    when=(
        "Chat bots: do they answer what users ask?",
        "Question answering: how relevant are the answers?",
        "Dialogues: how good is one of many turns?",
        "Virtual assistants: control of quality.",
    ),
    purposes=(Purpose("relevance", "measures whether the answer is one to the question"),),
    peers=(replace(RAGAS, within=3e-7),),
)
@measured
async def response_relevancy(
    sample: Sample,
    judge: Judge,
    embedder: Embedder | Sequence[Embedder],
    *,
    questions: Annotated[int, Ge(1), Le(MOST)] = 3,
    variant: Variant = "specification",
) -> Score:
    """Mean cosine between the question asked and questions that a judge generates from the answer; 0.0 if it evades.

    −1 to 1, in practice 0 to 1. questions: how many are asked for, by one call; `detail["questions"]` keeps those that
    came, each with its cosine. 0.0 when all are noncommittal. No question at all: unmeasured (empty_decomposition).
    Of several embedders each mean is kept in `detail["embedders"]`, and the mean of these counts.
    variant: "ragas" asks about an empty answer too, embeds questions without text as well as long as one has some, and
        counts in the precision that the vectors have.
    """
    ragas = variant == "ragas"
    inquiry = Inquiry(sample, judge, *FIELDS, blank=ragas)
    assert sample.user_input is not None
    assert sample.response is not None
    reply = await inquiry.ask(QUESTIONS, {"response": sample.response, "number": str(questions)})
    named = [each for each in reply.questions if each.question.strip()]
    generated = (list(reply.questions) if ragas and named else named)[:questions]
    if not generated:
        reason = sentence("the judge found no question that the response answers")
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, reason)
    evasive = sum(each.manner is Manner.NONCOMMITTAL for each in generated)
    kept: list[dict[str, Any]] = [{"question": each.question, "manner": each.manner.value} for each in generated]
    if evasive == len(generated):
        said = sentence(
            "The response evades: all {whole} questions are noncommittal; {value}.", whole=evasive, value=0.0
        )
        return inquiry.score(0.0, [said], questions=kept)
    texts = [sample.user_input, *(each["question"] for each in kept)]
    texts = texts if ragas else [unicodedata.normalize("NFC", text).strip() for text in texts]
    like = single_cosine if ragas else cosine
    near = await by_each(inquiry, embedder, texts, lambda rows: [like(rows[0], each) for each in rows[1:]], "query")
    means = {name: statistics.fmean(cosines) for name, cosines in near.items()}
    value = statistics.fmean(means.values()) if len(means) > 1 else next(iter(means.values()))
    cosines = [statistics.fmean(each) for each in zip(*near.values(), strict=True)]
    explanation = [
        sentence(
            "Mean cosine between the question and those that the response answers ({whole}): {value}.",
            whole=len(generated),
            value=value,
        ),
        sentence("They are: {questions}.", questions=[each["question"] for each in kept]),
    ]
    if len(means) > 1:
        explanation.append(by_embedder(means))
    if evasive:
        explanation.append(sentence("Noncommittal: {part} of {whole}.", part=evasive, whole=len(generated)))
    kept = [{**each, "cosine": value} for each, value in zip(kept, cosines, strict=True)]
    return inquiry.score(value, explanation, questions=kept, embedder=", ".join(means), embedders=means)

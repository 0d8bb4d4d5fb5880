"""Does the answer answer this question? The questions that it would answer tell."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Embedder, Score, Verdict
from ragbench.metrics.judging import Judge, Lower, Prompt, check_inputs, check_number, cosines_to

MOST_QUESTIONS = 20


class AnsweredQuestion(BaseModel):
    """A question that the answer answers, and whether it commits itself."""

    question: str = Field(description="one full question")
    manner: Annotated[Literal["committal", "noncommittal"], Lower]


class Questions(BaseModel):
    """Reply: questions that the answer answers; empty where it answers nothing."""

    questions: list[AnsweredQuestion]


QUESTIONS = Prompt(
    "response_relevancy",
    Questions,
    en="""\
Read the answer of an assistant and write the questions to which it would be a full answer.

Answer:
{answer}

How many questions to write:
{number}

- Each question asks for what the answer says, all of it or its main point; each is worded \
differently.
- Use only the answer. Do not ask for what it leaves out. Write in its language.
- For each, say whether the answer is "committal" (it gives an answer) or "noncommittal" (it \
evades: "I do not know", "I am not sure", "it depends", a refusal).""",
    ru="""\
Прочитайте ответ ассистента и напишите вопросы, на которые он был бы полным ответом.

Ответ:
{answer}

Сколько вопросов написать:
{number}

- Каждый вопрос — о том, что говорит ответ: обо всём или о главном; формулировки разные.
- Опирайтесь только на ответ. Не спрашивайте о том, чего в нём нет. Пишите на его языке.
- Для каждого укажите (латиницей): "committal" — ответ даёт ответ по существу, или \
"noncommittal" — ответ уклончив («не знаю», «не уверен», «смотря как», отказ).""",
)


@metric(source="Es et al. 2023, RAGAS, arXiv:2309.15217, section 3", bounds=(-1.0, 1.0))
async def response_relevancy(
    judge: Judge, embedder: Embedder, question: str, answer: str, questions: int = 3
) -> Score:
    """Mean cosine between the question and questions that a judge makes from the answer.

    −1 to 1, in practice 0 to 1; 0.0 when all made questions are noncommittal. questions: how many
    are asked for, by one call, 1 to 20. Without any the sample is unmeasured.

    Use it for chat bots and assistants: do they answer what users ask?
    """
    check_number("response_relevancy", "questions", questions, 1, MOST_QUESTIONS, int)
    check_inputs(judge, question=question, answer=answer)
    reply = await judge.ask(QUESTIONS, answer=answer, number=str(questions))
    made = [item for item in reply.questions if item.question.strip()][:questions]
    if not made:
        raise Unmeasured("empty_decomposition", "the judge found no question that it answers")
    n_evasive = sum(item.manner == "noncommittal" for item in made)
    facts = {"whole": len(made), "evasive": n_evasive}
    if n_evasive == len(made):
        message = mark("The answer evades: all {whole} made questions are noncommittal: {value}")
        evasive = [Verdict(item.question, item.manner) for item in made]
        return Score(0.0, message=message, facts=facts, verdicts=evasive)
    cosines = await cosines_to(embedder, question, [item.question for item in made])
    return Score(
        sum(cosines) / len(cosines),
        message=mark(
            "Mean cosine between the question and {whole} questions made from the answer: {value}"
        ),
        facts=facts,
        verdicts=[
            Verdict(item.question, item.manner, f"cosine {cosine:.3f}")
            for item, cosine in zip(made, cosines, strict=True)
        ],
    )

"""Claims of a text, and what passages say of them: what all metrics that go claim by claim share.

Every metric asks in the same words, so that with `judging.AskOnce` the claims of a text, and the
verdicts on the same claims by the same passages, are asked for once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ragbench.core.errors import Unmeasured
from ragbench.core.types import Rating, Verdict
from ragbench.metrics.judging import Judge, Lower, Prompt, Texts, ask_all, is_blank


class Claims(BaseModel):
    """Reply: the claims of a text, in its order; empty where it claims nothing."""

    claims: list[str] = Field(
        description="one self-contained statement each; empty if the text states nothing"
    )


class ClaimVerdict(BaseModel):
    """What passages say of one statement. The reason comes first, so that the verdict follows."""

    index: Rating = Field(ge=1, description="the number of the statement")
    reason: str = Field(description="one short sentence that names what in the passages decides")
    verdict: Annotated[Literal["supported", "contradicted", "neutral"], Lower]
    passages: list[Rating] = Field(
        default_factory=list,
        description="the numbers of the passages that decide it; empty if neutral",
    )
    contradicting: list[Rating] = Field(
        default_factory=list,
        description="the numbers of all passages that cannot be true together with it",
    )


class Verdicts(BaseModel):
    """Reply: one verdict for each statement."""

    verdicts: list[ClaimVerdict]


@dataclass(frozen=True)
class JudgedClaim(Verdict):
    """A claim with its verdict. contradicting: numbers of all passages that speak against it."""

    contradicting: tuple[int, ...] = ()

    @property
    def is_supported(self) -> bool:
        """Whether the passages support it."""
        return self.verdict == "supported"


CLAIMS = Prompt(
    "claims",
    Claims,
    max_tokens=2000,
    en="""\
Break the text down into claims: the smallest statements of fact that can each be true or false.

The question that the text answers (may be empty; only to understand the text, take no claims \
from it):
{question}

The text:
{text}

- Take every fact that the text states, once, in its order. Add nothing, correct nothing, leave \
nothing out.
- Each claim is one full sentence that can be understood on its own: write the name of the thing \
instead of a pronoun (he, she, it, this, there), and keep dates, numbers, units and negations with \
what they belong to.
- Keep the language of the text.
- Greetings, questions, refusals ("I do not know") and remarks about the answer itself are not \
claims. If nothing else is there, return an empty list.

Example. Question: "Who was Marie Curie?" Text: "She was born in Warsaw in 1867 and won two Nobel \
Prizes."
Claims: "Marie Curie was born in Warsaw." · "Marie Curie was born in 1867." · "Marie Curie won two \
Nobel Prizes." """,
    ru="""\
Разложите текст на утверждения — наименьшие сообщения о фактах, каждое из которых может быть \
верным или неверным.

Вопрос, на который отвечает текст (может быть пустым; он нужен только для понимания, утверждений \
из него не берите):
{question}

Текст:
{text}

- Возьмите каждый факт, который сообщает текст, один раз, в его порядке. Ничего не добавляйте, не \
исправляйте и не пропускайте.
- Каждое утверждение — одно законченное предложение, понятное само по себе: вместо местоимений \
(он, она, это, там) называйте то, о чём идёт речь; даты, числа, единицы и отрицания оставляйте при \
том, к чему они относятся.
- Сохраняйте язык текста.
- Приветствия, вопросы, отказы («не знаю») и замечания о самом ответе — не утверждения. Если \
больше ничего нет, верните пустой список.

Пример. Вопрос: «Кто такая Мария Кюри?» Текст: «Она родилась в Варшаве в 1867 году и получила две \
Нобелевские премии».
Утверждения: «Мария Кюри родилась в Варшаве.» · «Мария Кюри родилась в 1867 году.» · «Мария Кюри \
получила две Нобелевские премии.»""",
)

ENTAILMENT = Prompt(
    "entailment",
    Verdicts,
    max_tokens=3000,
    en="""\
For each numbered statement, decide what the passages say of it.

Passages:
{passages}

Statements:
{statements}

- "supported": it follows from the passages, from one of them or from several together.
- "contradicted": the passages say something that cannot be true together with it.
- "neutral": neither; the passages do not tell.

Judge by the passages alone, not by what you know. A statement of which only a part follows is not \
supported: names, dates, numbers, units and negations must all agree; other words for the same \
thing do agree.
Give exactly one verdict for every statement, with its number, a short reason, and the numbers of \
the passages that decide it. Give also the numbers of all passages that cannot be true together \
with the statement, even where others support it; none if there are none.""",
    ru="""\
Для каждого пронумерованного утверждения решите, что о нём говорят отрывки.

Отрывки:
{passages}

Утверждения:
{statements}

- "supported" (подтверждено): утверждение следует из отрывков — из одного или из нескольких вместе.
- "contradicted" (опровергнуто): в отрывках сказано то, что не может быть верным вместе с ним.
- "neutral" (не определено): ни то, ни другое; из отрывков этого не узнать.

Решайте только по отрывкам, а не по тому, что знаете сами. Утверждение, из которого следует лишь \
часть, не подтверждено: имена, даты, числа, единицы и отрицания должны совпадать все; то же самое \
другими словами — совпадает.
Дайте ровно один вердикт на каждое утверждение: его номер, короткую причину и номера отрывков, \
которые решили дело. Укажите и номера всех отрывков, которые не могут быть верны вместе с \
утверждением, даже если другие его подтверждают; ни одного, если таких нет.
Вердикты пишите латиницей, как указано выше, причины — по-русски.""",
)


async def decompose(judge: Judge, text: str, question: str, whose: str) -> list[str]:
    """Return the claims of a text that answers a question; copies and blank ones are left out.

    whose: "answer" or "reference", for the reason. Raises Unmeasured (empty_decomposition) for a
    text that claims nothing, as a refusal does.
    """
    claims = await list_claims(judge, text, question)
    if not claims:
        raise Unmeasured("empty_decomposition", f"the {whose} makes no claim")
    return claims


async def list_claims(judge: Judge, text: str, question: str) -> list[str]:
    """Return the claims of a text; none where it claims nothing."""
    reply = await judge.ask(CLAIMS, question=question, text=text)
    claims = [unicodedata.normalize("NFC", claim).strip() for claim in reply.claims]
    return [claim for claim in dict.fromkeys(claims) if claim]


async def judge_claims(
    judge: Judge, claims: Sequence[str], passages: Sequence[str]
) -> list[JudgedClaim]:
    """Return every claim with its verdict by all passages together.

    Passages without text support nothing, and nobody is asked. Raises Unmeasured
    (verdict_mismatch) where the judge, asked twice, leaves claims out.
    """
    if not claims or is_blank(passages):
        return [JudgedClaim(claim, "neutral", "there is nothing to read") for claim in claims]
    verdicts = await judge_items(judge, ENTAILMENT, "statements", claims, passages=list(passages))
    judged = []
    for claim, verdict in zip(claims, verdicts, strict=True):
        deciding = keep_numbers(verdict.passages, len(passages))
        against = verdict.contradicting
        if verdict.verdict == "contradicted":
            against = [*verdict.passages, *against]
        contradicting = keep_numbers(against, len(passages))
        judged.append(JudgedClaim(claim, verdict.verdict, verdict.reason, deciding, contradicting))
    return judged


async def find_supporting(
    judge: Judge, claims: Sequence[str], contexts: Sequence[str]
) -> list[tuple[int, ...]]:
    """Return for each claim the numbers of the contexts that support it, each by itself."""
    by_context = await ask_all(*[judge_claims(judge, claims, [text]) for text in contexts])
    supporting = []
    for place in range(len(claims)):
        ranks = [rank for rank, judged in enumerate(by_context, 1) if judged[place].is_supported]
        supporting.append(tuple(ranks))
    return supporting


async def judge_items(
    judge: Judge, prompt: Prompt[Any], slot: str, items: Sequence[str], **values: Texts
) -> list[Any]:
    """Return one verdict for each item, in order; what the judge leaves out is asked once more.

    prompt: its reply has `verdicts`, each with `index` and `verdict`. slot: where the items go.
    Raises Unmeasured (verdict_mismatch) where some are still missing.
    """
    verdicts: dict[int, Any] = {}
    missing = list(range(len(items)))
    for repeat in (0, 1):
        asked = [items[place] for place in missing]
        reply = await judge.ask(prompt, repeat=repeat, **{slot: asked}, **values)
        for index, verdict in match_by_index(reply.verdicts, len(asked)).items():
            verdicts[missing[index]] = verdict
        missing = [place for place in missing if place not in verdicts]
        if not missing:
            return [verdicts[place] for place in range(len(items))]
    raise Unmeasured(
        "verdict_mismatch",
        f"the judge gave verdicts on {len(verdicts)} of {len(items)} statements, asked twice",
    )


def match_by_index(verdicts: Iterable[Any], count: int) -> dict[int, Any]:
    """Return the verdicts by the place of their item, from 0.

    Of two different verdicts on one item nobody knows which is meant: it has none. A number that
    no item has says that the judge counts otherwise: then no verdict can be trusted.
    """
    by_place: dict[int, list[Any]] = {}
    for verdict in verdicts:
        if verdict.index > count:
            return {}
        by_place.setdefault(verdict.index - 1, []).append(verdict)
    matched = {}
    for place, given in by_place.items():
        if len({verdict.verdict for verdict in given}) == 1:
            matched[place] = given[0]
    return matched


def keep_numbers(numbers: Iterable[int], count: int) -> tuple[int, ...]:
    """Return the numbers from 1 to count, each once."""
    return tuple(number for number in dict.fromkeys(numbers) if 1 <= number <= count)


def count_supported(claims: Sequence[JudgedClaim]) -> int:
    """Count the claims that are supported."""
    return sum(claim.is_supported for claim in claims)

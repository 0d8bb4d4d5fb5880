"""Claims of a text, and whether passages support them: what faithfulness, factual correctness and noise share.

Claims are asked for with the same words by every metric, so the judge answers once for each text. The same holds for
the verdicts on the same claims against the same passages.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from ragbench.old.core.types import LexicalReader, Prompt, Score, Status
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.metrics.explanation import sentence, share
from ragbench.old.metrics.inquiry import AGAIN, EndedError, Inquiry, Variant

Answer = TypeVar("Answer")


class Claims(BaseModel):
    """The claims of a text, in its order; empty where it claims nothing."""

    claims: list[str] = Field(description="one self-contained statement each; empty if the text states nothing")


class Entailment(StrEnum):
    """What passages say of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NEUTRAL = "neutral"


class Verdict(BaseModel):
    """The verdict on one statement; the reason comes first, so that it is thought before it is said."""

    statement: int = Field(ge=1, description="the number of the statement")
    reason: str = Field(description="one short sentence that names what in the passages decides")
    verdict: Entailment = Field(description='"supported", "contradicted" or "neutral"')
    passages: list[int] = Field(description="the numbers of the passages that decide it; empty if neutral")
    contradicting: list[int] = Field(
        default_factory=list,
        description="the numbers of all passages that cannot be true together with it, whatever the others say",
    )


class Verdicts(BaseModel):
    """One verdict for each statement."""

    verdicts: list[Verdict]


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement with its verdict. passages: places of the deciding passages, counted from 0; contradicting: of those
    that contradict it, whatever the others say."""

    statement: str
    verdict: Entailment
    reason: str
    passages: tuple[int, ...]
    contradicting: tuple[int, ...] = ()

    @classmethod
    def unsupported(cls, statement: str) -> Judged:
        """The verdict on a statement where there is nothing to support it."""
        return cls(statement, Entailment.NEUTRAL, kept(Reason("there is nothing to read")), ())

    @property
    def against(self) -> tuple[int, ...]:
        """Places of all passages that contradict it, also of one that others support."""
        deciding = self.passages if self.verdict is Entailment.CONTRADICTED else ()
        return tuple(dict.fromkeys((*deciding, *self.contradicting)))

    @property
    def supported(self) -> bool:
        """Whether the passages support it."""
        return self.verdict is Entailment.SUPPORTED

    def kept(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """As it is stored; passages by name, none where they have no names."""
        cited = [names[place] for place in self.passages] if names else []
        against = [names[place] for place in self.against if place not in self.passages] if names else []
        more = {"contradicting": against} if against else {}
        return told(self.statement, self.verdict.value, self.reason, cited, **more)


UNJUDGED = "unjudged"
"""What is stored in the place of a verdict that the judge did not give."""


def told(
    statement: str, verdict: str = UNJUDGED, reason: str = "", chunks: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """A text with its verdict, or without one, as it is stored; chunks: ids of the passages that decide it."""
    return {"statement": statement, "verdict": verdict, "reason": reason, "chunks": list(chunks), **more}


def _sentences(reader: LexicalReader, texts: Mapping[str, Any]) -> Claims:
    return Claims(claims=reader.sentences(texts["text"]))


ALIKE = 0.6
"""Offline, a statement is contradicted where a sentence is as similar as this and still does not support it."""


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Verdicts:
    verdicts, passages = [], texts["passages"]
    parts: list[str] | None = None
    places: list[int] = []
    denying = _Denying(reader, passages)
    for number, statement in enumerate(texts["statements"], 1):
        verdict, best = Entailment.NEUTRAL, []
        if passages and reader.supported(statement, passages):
            several = len(passages) > 1  # of one it is known already
            strengths = [reader.support(statement, [passage]) for passage in passages if several]
            verdict, best = Entailment.SUPPORTED, [strengths.index(max(strengths)) + 1 if several else 1]
        else:
            if parts is None:
                cut = [(place, part) for place, each in enumerate(passages, 1) for part in reader.sentences(each)]
                places, parts = [place for place, _ in cut], [part for _, part in cut]
            near = reader.nearest(statement, parts, ALIKE)
            if near is not None:
                verdict, best = Entailment.CONTRADICTED, [places[near]]
        reason = kept(
            Reason("shared words and letters: {share}", share=rounded(reader.support(statement, passages), 2))
        )
        against = [place for place in denying.of(statement) if verdict is not Entailment.SUPPORTED or place not in best]
        verdicts.append(Verdict(statement=number, reason=reason, verdict=verdict, passages=best, contradicting=against))
    return Verdicts(verdicts=verdicts)


class _Denying:
    """Of several passages those in which a sentence says the same as a statement but for a number or a negation."""

    def __init__(self, reader: LexicalReader, passages: Sequence[str]) -> None:
        self._reader = reader
        self._sentences = [reader.sentences(each) for each in passages] if len(passages) > 1 else []

    def of(self, statement: str) -> list[int]:
        """Their numbers."""
        numbers = []
        for number, sentences in enumerate(self._sentences, 1):
            near = self._reader.nearest(statement, sentences, ALIKE)
            if near is not None and self._reader.denies(statement, sentences[near]):
                numbers.append(number)
        return numbers


CLAIMS = Prompt(
    name="claims",
    version=1,
    shape=Claims,
    offline=_sentences,
    max_tokens=2000,
    texts={
        "en": """Break the text down into claims: the smallest statements of fact that can each be true or false.

The question that the text answers (may be empty; only to understand the text, take no claims from it):
{question}

The text:
{text}

- Take every fact that the text states, once, in its order. Add nothing, correct nothing, leave nothing out.
- Each claim is one full sentence that can be understood on its own: write the name of the thing instead of a pronoun
  (he, she, it, this, there), and keep dates, numbers, units and negations with what they belong to.
- Keep the language of the text.
- Greetings, questions, refusals ("I do not know") and remarks about the answer itself are not claims. If nothing else
  is there, return an empty list.

Example. Question: "Who was Marie Curie?" Text: "She was born in Warsaw in 1867 and won two Nobel Prizes."
Claims: "Marie Curie was born in Warsaw." · "Marie Curie was born in 1867." · "Marie Curie won two Nobel Prizes." """,
        "ru": """Разложите текст на утверждения — наименьшие сообщения о фактах, каждое из которых может быть верным или
неверным.

Вопрос, на который отвечает текст (может быть пустым; он нужен только для понимания, утверждений из него не берите):
{question}

Текст:
{text}

- Возьмите каждый факт, который сообщает текст, один раз, в его порядке. Ничего не добавляйте, не исправляйте и не
  пропускайте.
- Каждое утверждение — одно законченное предложение, понятное само по себе: вместо местоимений (он, она, это, там)
  называйте то, о чём идёт речь; даты, числа, единицы и отрицания оставляйте при том, к чему они относятся.
- Сохраняйте язык текста.
- Приветствия, вопросы, отказы («не знаю») и замечания о самом ответе — не утверждения. Если больше ничего нет, верните
  пустой список.

Пример. Вопрос: «Кто такая Мария Кюри?» Текст: «Она родилась в Варшаве в 1867 году и получила две Нобелевские премии».
Утверждения: «Мария Кюри родилась в Варшаве.» · «Мария Кюри родилась в 1867 году.» · «Мария Кюри получила две
Нобелевские премии.»""",
    },
)

ENTAILMENT = Prompt(
    name="entailment",
    version=2,
    shape=Verdicts,
    offline=_by_words,
    max_tokens=3000,
    texts={
        "en": """For each numbered statement, decide what the passages say of it.

Passages:
{passages}

Statements:
{statements}

- "supported": it follows from the passages, from one of them or from several together.
- "contradicted": the passages say something that cannot be true together with it.
- "neutral": neither; the passages do not tell.

Judge by the passages alone, not by what you know. A statement of which only a part follows is not supported: names,
dates, numbers, units and negations must all agree; other words for the same thing do agree.
Give exactly one verdict for every statement, with its number, a short reason, and the numbers of the passages that
decide it. Give also the numbers of all passages that cannot be true together with the statement, even where others
support it; none if there are none.""",
        "ru": """Для каждого пронумерованного утверждения решите, что о нём говорят отрывки.

Отрывки:
{passages}

Утверждения:
{statements}

- "supported" (подтверждено): утверждение следует из отрывков — из одного или из нескольких вместе.
- "contradicted" (опровергнуто): в отрывках сказано то, что не может быть верным вместе с ним.
- "neutral" (не определено): ни то, ни другое; из отрывков этого не узнать.

Решайте только по отрывкам, а не по тому, что знаете сами. Утверждение, из которого следует лишь часть, не подтверждено:
имена, даты, числа, единицы и отрицания должны совпадать все; то же самое другими словами — совпадает.
Дайте ровно один вердикт на каждое утверждение: его номер, короткую причину и номера отрывков, которые решили дело.
Укажите и номера всех отрывков, которые не могут быть верны вместе с утверждением, даже если другие его подтверждают;
ни одного, если таких нет.
Вердикты пишите латиницей, как указано выше, причины — по-русски.""",
    },
)


async def claims_of(inquiry: Inquiry, text: str) -> list[str]:
    """The claims of a text that answers the sample's question; copies and blank ones left out."""
    question = inquiry.sample.user_input or ""
    reply = await inquiry.ask(CLAIMS, {"question": question, "text": text})
    claims = (unicodedata.normalize("NFC", claim).strip() for claim in reply.claims)
    return list(dict.fromkeys(claim for claim in claims if claim))


async def verdicts_on(
    inquiry: Inquiry, statements: Sequence[str], passages: Sequence[str], names: Sequence[str] = ()
) -> list[Judged]:
    """One verdict for each statement, in order; those that the judge left out are asked for once more.

    names: of the passages, under which `detail["statements"]` of an ended measurement cites them.
    Raises EndedError (verdict_mismatch) if some are still missing: a missing verdict is neither yes nor no.
    """
    judged = await for_each(statements, lambda asked, repeat: _numbered(inquiry, asked, passages, repeat))
    whole = [each for each in judged if each is not None]
    if len(whole) < len(statements):
        kept = [told(text) if each is None else each.kept(names) for text, each in zip(statements, judged, strict=True)]
        raise few(inquiry, kept)
    return whole


async def for_each(
    items: Sequence[str], ask: Callable[[Sequence[str], int], Awaitable[Mapping[int, Answer]]]
) -> list[Answer | None]:
    """What a judge says of each item, in order; those that it left out are asked for once more. ask: items and the
    repeat to what is said of each by its place."""
    said = dict(await ask(items, 0))
    if missing := [place for place in range(len(items)) if place not in said]:
        more = await ask([items[place] for place in missing], AGAIN)
        said |= {missing[place]: answer for place, answer in more.items()}
    return [said.get(place) for place in range(len(items))]


def by_place(given: Iterable[tuple[int, Hashable, Answer]], count: int) -> dict[int, Answer]:
    """Answers by the place of their item. given: an item's number from 1, the verdict, and the answer. Two different
    verdicts on one item are none; a number that no item has says that the judge counts otherwise: then none of them
    can be trusted."""
    said: dict[int, dict[Hashable, Answer]] = {}
    for number, verdict, answer in given:
        said.setdefault(number - 1, {}).setdefault(verdict, answer)
    if any(place >= count for place in said):
        return {}
    return {place: next(iter(each.values())) for place, each in said.items() if len(each) == 1}


def few(inquiry: Inquiry, lines: Sequence[Mapping[str, Any]]) -> EndedError:
    """The error of a judge that, asked twice, did not judge all; to be raised. lines: all, those without one too."""
    part = sum(line["verdict"] != UNJUDGED for line in lines)
    reason = sentence(
        "the judge gave verdicts on {part} of {whole} statements, asked twice", part=part, whole=len(lines)
    )
    return inquiry.unmeasured(Status.VERDICT_MISMATCH, reason, statements=list(lines))


async def verdicts_in(inquiry: Inquiry, statements: Sequence[str], passage: str) -> list[Judged]:
    """One verdict for each statement by one passage alone. Nothing to judge asks nothing: a passage without text
    supports no statement."""
    if not statements:
        return []
    if not passage.strip():
        return [Judged.unsupported(statement) for statement in statements]
    return await verdicts_on(inquiry, statements, [passage])


async def share_supported(
    inquiry: Inquiry,
    statements: Sequence[str],
    variant: Variant,
    counts: Mapping[str, Any],
    unsupported: Callable[[Sequence[str]], dict[str, Any]],
) -> Score:
    """The share of statements that the contexts support. counts: the sentence of part, whole and value.

    variant: "ragas" counts the verdicts of the first reply alone, however many statements it left out.
    Raises EndedError (verdict_mismatch) if some are missing; of "ragas", if there is none.
    """
    names = [chunk.id for chunk in inquiry.chunks]
    if variant == "ragas":
        known = await _numbered(inquiry, statements, inquiry.contexts, 0)
        if not known:
            none = sentence("the judge gave no verdict")
            raise inquiry.unmeasured(Status.VERDICT_MISMATCH, none, statements=[told(each) for each in statements])
        verdicts = [known[place] for place in sorted(known)]
    else:
        verdicts = await verdicts_on(inquiry, statements, inquiry.contexts, names)
    counted = share(sum(verdict.supported for verdict in verdicts), len(verdicts))
    missing = [verdict.statement for verdict in verdicts if not verdict.supported]
    explanation = [{**counts, "values": counted}, *([unsupported(missing)] if missing else [])]
    return inquiry.score(counted["value"], explanation, statements=[verdict.kept(names) for verdict in verdicts])


async def _numbered(
    inquiry: Inquiry, statements: Sequence[str], passages: Sequence[str], repeat: int
) -> dict[int, Judged]:
    """Verdicts by the statement's place."""
    reply = await inquiry.ask(ENTAILMENT, {"statements": statements, "passages": passages}, repeat)
    known = by_place(((each.statement, each.verdict, each) for each in reply.verdicts), len(statements))
    return {
        place: Judged(
            statements[place], each.verdict, each.reason, _cited(each.passages, len(passages)),
            _cited(each.contradicting, len(passages)),
        )
        for place, each in known.items()
    }  # fmt: skip


def _cited(numbers: Sequence[int], passages: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number - 1 for number in numbers if 1 <= number <= passages))

"""What a language model is asked for when it drafts questions, and when it checks them; in both languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from ragbench.old.core.types import LexicalReader, Prompt
from ragbench.old.extras.testsets.kinds import STYLES

WARMTH = 0.7
"""Temperature of writing: at 0 a model asks the same of like passages."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class Quote(BaseModel):
    """Where the answer stands."""

    passage: int = Field(ge=1, description="the passage's number")
    text: Line = Field(description="words of it, copied letter by letter")


class Drafted(BaseModel):
    """A question with its answer."""

    question: Line
    answer: Line = Field(description="short, from the passages alone")
    quotes: list[Quote] = Field(min_length=1, max_length=6)


class DraftedTalk(BaseModel):
    """A question, and the one that follows from it."""

    first_question: Line
    first_answer: Line
    question: Line = Field(description="the one that follows")
    answer: Line = Field(description="to the one that follows")
    quotes: list[Quote] = Field(min_length=1, max_length=6, description="of the answer to the one that follows")


class DraftedGap(BaseModel):
    """A question without an answer."""

    question: Line
    missing: Line = Field(description="what the passages do not say")


class Ruling(StrEnum):
    """What a check says."""

    YES = "yes"
    NO = "no"


class Checked(BaseModel):
    """A check's reply."""

    reason: str = Field(description="one short sentence")
    verdict: Ruling = Field(description='"yes" or "no"')


class Recalled(BaseModel):
    """What a model knows by itself."""

    answer: str = Field(description="empty where it is not known")
    verdict: Ruling = Field(description='"yes" where it is known, else "no"')


KIND_TEXTS: Mapping[str, Mapping[str, str]] = {
    "one_fact": {
        "en": "The question asks for one fact of the passage.",
        "ru": "Вопрос спрашивает об одном факте из отрывка.",
    },
    "several_passages": {
        "en": "The question can be answered only by putting together what both passages say: neither is enough.",
        "ru": "На вопрос можно ответить, лишь соединив сказанное в обоих отрывках: ни одного из них не хватает.",
    },
    "comparison": {
        "en": "The question compares what the first passage is about with what the second one is about.",
        "ru": "Вопрос сравнивает то, о чём говорит первый отрывок, с тем, о чём говорит второй.",
    },
    "colloquial": {
        "en": "The question is asked as one speaks, in everyday words instead of the passage's own terms.",
        "ru": "Вопрос задан так, как говорят: обычными словами вместо терминов отрывка.",
    },
    "misspelt": {
        "en": "The question asks for one fact, was typed in a hurry, and has two or three spelling mistakes.",
        "ru": "Вопрос спрашивает об одном факте, напечатан в спешке, в нём две-три орфографические ошибки.",
    },
    "follow_up": {
        "en": "First somebody asks about the first passage and is answered; then the same person asks a second one, "
        "answered by the second passage, which is understood only by who has read the first question.",
        "ru": "Сначала кто-то спрашивает о первом отрывке и получает ответ; затем тот же человек задаёт второй вопрос, "
        "на который отвечает второй отрывок и который понятен лишь тому, кто прочитал первый вопрос.",
    },
    "unanswerable": {
        "en": "The question is of the passages' topic, sounds as if they answered it, and they do not.",
        "ru": "Вопрос относится к теме отрывков и звучит так, будто они на него отвечают, но ответа в них нет.",
    },
}
STYLE_TEXTS: Mapping[str, Mapping[str, str]] = {
    "plain": {"en": "It is one plain sentence.", "ru": "Это одно простое предложение."},
    "keywords": {
        "en": "It is what one types into a search box: two to six words, no sentence.",
        "ru": "Это то, что набирают в строке поиска: от двух до шести слов, не предложение.",
    },
    "polite": {
        "en": "It is a polite request of one or two sentences that says why one asks.",
        "ru": "Это вежливая просьба в одно-два предложения, в которой сказано, зачем спрашивают.",
    },
    "novice": {
        "en": "It is asked by somebody who is new to the topic and does not know its terms.",
        "ru": "Его задаёт тот, кто впервые столкнулся с темой и не знает её терминов.",
    },
    "expert": {
        "en": "It is asked by somebody who knows the topic well, and is exact.",
        "ru": "Его задаёт знаток темы, и он точен.",
    },
}
_TASK = {
    "en": """Write a question as a user of a knowledge base would ask it. These passages are of that base.

Passages:
{passages}

KIND STYLE

- The question is in the language of the passages, and its user has not seen them: it never speaks of a text, a passage
  or an author, and it is clear by itself.
- It is asked in other words than the passages': at most three words in a row are theirs.
LAST""",
    "ru": """Напишите вопрос так, как его задал бы пользователь базы знаний. Эти отрывки — из неё.

Отрывки:
{passages}

KIND STYLE

- Вопрос задан на языке отрывков, и его автор их не видел: он не упоминает ни текста, ни отрывка, ни автора и понятен
  сам по себе.
- Он задан иными словами, чем отрывки: подряд из них взято не больше трёх слов.
LAST""",
}
_ANSWERED = {
    "en": "- The answer is short and stands in the passages. The quotes are the words that show it, copied letter by\n"
    "  letter, each with the number of its passage.",
    "ru": "- Ответ короток и стоит в отрывках. Цитаты — слова, которые его подтверждают, переписанные буква в букву,\n"
    "  каждая с номером своего отрывка.",
}
_MISSING = {
    "en": "- Say what the passages would have to tell to answer it.",
    "ru": "- Скажите, чего в отрывках не хватает, чтобы на него ответить.",
}


def _first(reader: LexicalReader, texts: Mapping[str, Any]) -> tuple[str, list[Quote]]:
    """The first sentence of each passage: as long as a question is, for a plan."""
    lines = [(reader.sentences(text) or [text])[0][:300] for text in texts["passages"]]
    return lines[0], [Quote(passage=number, text=line) for number, line in enumerate(lines, 1)]


def _drafted(reader: LexicalReader, texts: Mapping[str, Any]) -> Drafted:
    line, quotes = _first(reader, texts)
    return Drafted(question=line, answer=line, quotes=quotes)


def _talk(reader: LexicalReader, texts: Mapping[str, Any]) -> DraftedTalk:
    line, quotes = _first(reader, texts)
    return DraftedTalk(first_question=line, first_answer=line, question=line, answer=line, quotes=quotes)


def _gap(reader: LexicalReader, texts: Mapping[str, Any]) -> DraftedGap:
    line, _quotes = _first(reader, texts)
    return DraftedGap(question=line, missing=line)


@cache
def writing(kind: str, style: str) -> Prompt[Any]:
    """The prompt that drafts a question of a kind in a style."""
    shapes: dict[str, tuple[type[BaseModel], Callable[..., Any]]] = {
        "follow_up": (DraftedTalk, _talk),
        "unanswerable": (DraftedGap, _gap),
    }
    shape, offline = shapes.get(kind, (Drafted, _drafted))
    last = _MISSING if kind == "unanswerable" else _ANSWERED
    texts = {
        language: text.replace("KIND", KIND_TEXTS[kind][language])
        .replace("STYLE", STYLE_TEXTS[style][language])
        .replace("LAST", last[language])
        for language, text in _TASK.items()
    }
    return Prompt(f"draft_{kind}_{style}", 1, shape, texts, offline=offline, temperature=WARMTH, max_tokens=800)


def _says(decide: Callable[[LexicalReader, Mapping[str, Any]], bool]) -> Callable[..., Checked]:
    return lambda reader, texts: Checked(reason="words", verdict=Ruling.YES if decide(reader, texts) else Ruling.NO)


ANSWERED = Prompt(
    name="draft_answered",
    version=1,
    shape=Checked,
    offline=_says(lambda reader, texts: True),
    max_tokens=300,
    texts={
        "en": """Can the question be answered in full from these passages alone?

Question:
{question}

Passages:
{passages}

- "yes": everything that the question asks for stands in the passages, or follows from them.
- "no": something that it asks for is missing, even if the topic is the same.

Give the reason first, then the verdict.""",
        "ru": """Можно ли полностью ответить на вопрос по одним этим отрывкам?

Вопрос:
{question}

Отрывки:
{passages}

- "yes" (да): всё, о чём спрашивает вопрос, есть в отрывках или следует из них.
- "no" (нет): чего-то из того, о чём он спрашивает, не хватает, даже если тема та же.

Сначала причина (по-русски), затем вердикт (латиницей, как указано выше).""",
    },
)
ALONE = Prompt(
    name="draft_alone",
    version=1,
    shape=Checked,
    offline=_says(lambda reader, texts: True),
    max_tokens=300,
    texts={
        "en": """Somebody who has seen nothing else reads this question. Do they understand what is asked?

Question:
{question}

- "yes": whom or what it is about is named in it, as far as the answer hangs on that.
- "no": it speaks of something that only an earlier text, question or picture would tell ("it", "this text", "there").

Spelling mistakes and missing words do not matter as long as it is clear what is meant. Give the reason first, then the
verdict.""",
        "ru": """Этот вопрос читает тот, кто ничего больше не видел. Понимает ли он, о чём спрашивают?

Вопрос:
{question}

- "yes" (да): в вопросе названо, о ком или о чём он, насколько от этого зависит ответ.
- "no" (нет): он говорит о том, что известно лишь из другого текста, вопроса или рисунка («он», «этот текст», «там»).

Ошибки в словах и пропуски не важны, если ясно, что имеется в виду. Сначала причина (по-русски), затем вердикт
(латиницей, как указано выше).""",
    },
)
RECALLED = Prompt(
    name="draft_recalled",
    version=1,
    shape=Recalled,
    offline=lambda reader, texts: Recalled(answer=texts["question"], verdict=Ruling.YES),
    max_tokens=300,
    texts={
        "en": """Answer the question from what you know yourself. Nothing else is given.

Question:
{question}

- "yes": you know the answer for sure.
- "no": you would have to guess, or the question is about something private or local; then the answer stays empty.""",
        "ru": """Ответьте на вопрос по тому, что знаете сами. Больше ничего не дано.

Вопрос:
{question}

- "yes" (да): вы точно знаете ответ.
- "no" (нет): пришлось бы угадывать, или вопрос о чём-то частном или местном; тогда ответ остаётся пустым.""",
    },
)
SAME = Prompt(
    name="draft_same_answer",
    version=1,
    shape=Checked,
    offline=_says(lambda reader, texts: bool(reader.supported(texts["answer"], [texts["reference"]]))),
    max_tokens=300,
    texts={
        "en": """Two answers to one question. Do they say the same?

Question:
{question}

First answer:
{reference}

Second answer:
{answer}

- "yes": whoever has read one learns nothing about the question from the other.
- "no": they differ in what was asked for, or one of them does not say it.

Give the reason first, then the verdict.""",
        "ru": """Два ответа на один вопрос. Говорят ли они одно и то же?

Вопрос:
{question}

Первый ответ:
{reference}

Второй ответ:
{answer}

- "yes" (да): прочитавший один из них не узнает из другого о спрошенном ничего нового.
- "no" (нет): они расходятся в том, о чём спрошено, или в одном из них этого нет.

Сначала причина (по-русски), затем вердикт (латиницей, как указано выше).""",
    },
)


def every() -> Sequence[Prompt[Any]]:
    """All prompts of this annex's drafts."""
    return [*(writing(kind, style) for kind in KIND_TEXTS for style in STYLES), ANSWERED, ALONE, RECALLED, SAME]

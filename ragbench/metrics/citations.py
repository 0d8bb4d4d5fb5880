"""Do the passages that an answer cites carry what it says?"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.factual_correctness import f_measure
from ragbench.metrics.judging import (
    Judge,
    Lower,
    Prompt,
    ask_all,
    check_inputs,
    check_number,
    is_blank,
)
from ragbench.metrics.sentences import sentence_spans

# [1], [^1], 【1】; a bracket before "(" is a link of Markdown.
MARK = re.compile(r"(?:\[\^?|【)([^\[\]【】\n]{1,200}+)(?:\](?!\()|】)")
NUMBERS = re.compile(r"\d{1,3}(?:[ \t]*[,;–-][ \t]*\d{1,3})*")
Mode = Literal["f1", "precision", "recall"]
WEIGHTS: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}


class Support(BaseModel):
    """Reply: how much of a sentence passages carry."""

    reason: str = Field(description="one short sentence: what the passages say of it, and lack")
    verdict: Annotated[Literal["full", "partial", "none"], Lower]


SUPPORT = Prompt(
    "citation_support",
    Support,
    en="""\
An answer names passages as its source for a sentence. Decide how much of the sentence they carry.

Sentence:
{sentence}

Passages:
{passages}

- "full": the passages, from one of them or from several together, carry all that the sentence \
says.
- "partial": they carry a part of it; another part is not there.
- "none": they carry nothing of it, or speak against it.

Could one write "according to these passages" before the sentence? Check names, dates, numbers and \
negations one by one: a fluent sentence may be wrong in a single word. Judge by the passages \
alone, not by what you know. Give a short reason, then the verdict.""",
    ru="""\
Ответ называет отрывки источником предложения. Решите, сколько из предложения они подтверждают.

Предложение:
{sentence}

Отрывки:
{passages}

- "full" (полностью): отрывки — один или несколько вместе — подтверждают всё, что сказано в \
предложении.
- "partial" (частично): они подтверждают часть; другой части в них нет.
- "none" (нет): они не подтверждают ничего или говорят против.

Можно ли написать перед предложением «согласно этим отрывкам»? Проверьте по одному имена, даты, \
числа и отрицания: гладкое предложение может быть неверно в одном слове. Решайте только по \
отрывкам, а не по тому, что знаете сами. Сначала короткая причина по-русски, затем вердикт \
латиницей, как указано выше.""",
)


@dataclass(frozen=True)
class CitedSentence:
    """A sentence without its marks. cited: numbers, from 1, of contexts; 0 is none of them."""

    text: str
    cited: tuple[int, ...] = ()


@metric(source="Thakur et al. 2025, support evaluation of TREC 2024 RAG, arXiv:2504.15205")
async def citation_support(
    judge: Judge,
    answer: str,
    contexts: Sequence[str],
    context_ids: Sequence[str] = (),
    mode: Mode = "f1",
) -> Score:
    """How far the first passage that each sentence cites carries it: F1, precision or recall.

    precision: Σ support / sentences that cite; recall: Σ support / sentences; support 1 in full,
    ½ in part, 0 none. Marks are read from the answer: [1] or the id of a context, in the sentence
    or closely after it. A mark of no context supports nothing. An answer that cites nothing has
    recall and F1 0, and no precision.
    """
    sentences = read_sentences(judge, answer, contexts, context_ids)
    replies = await ask_all(
        *[judge_support(judge, item, contexts, item.cited[:1]) for item in sentences]
    )
    verdicts = list_verdicts(sentences, replies)
    n_cited = sum(bool(item.cited) for item in sentences)
    support = sum(WEIGHTS.get(verdict.verdict, 0.0) for verdict in verdicts)
    return Score(
        value_of_mode(mode, support, n_cited, support / len(sentences)),
        message=mark(
            "{cited} of {whole} sentences cite; their first passages carry {support} of them: "
            "{value}"
        ),
        facts={"cited": n_cited, "whole": len(sentences), "support": f"{support:g}"},
        verdicts=verdicts,
    )


@metric(source="Gao et al. 2023, ALCE, arXiv:2305.14627, citation quality")
async def citation_quality(
    judge: Judge,
    answer: str,
    contexts: Sequence[str],
    context_ids: Sequence[str] = (),
    mode: Mode = "f1",
    most: int = 3,
) -> Score:
    """Whether citations carry their sentences in full, and none is superfluous: F1 of both.

    recall: sentences that their passages carry in full together / sentences; precision: citations
    of such sentences that carry it alone or are needed for it / citations. most: so many citations
    of a sentence count. A sentence with a mark of no context is not carried, and its citations are
    in no divisor. An answer that cites nothing has recall and F1 0, and no precision.
    """
    check_number("citation_quality", "most", most, 1, kinds=int)
    sentences = [
        cut_citations(item, most) for item in read_sentences(judge, answer, contexts, context_ids)
    ]
    replies = await ask_all(
        *[judge_support(judge, item, contexts, item.cited) for item in sentences]
    )
    verdicts = list_verdicts(sentences, replies)
    carried = [
        item for item, verdict in zip(sentences, verdicts, strict=True) if verdict.verdict == "full"
    ]
    superfluous = await ask_all(*[find_superfluous(judge, item, contexts) for item in carried])
    n_citations = sum(len(item.cited) for item in sentences if 0 not in item.cited)
    n_needed = sum(len(item.cited) for item in carried) - sum(map(len, superfluous))
    return Score(
        value_of_mode(mode, n_needed, n_citations, len(carried) / len(sentences)),
        message=mark(
            "Citations carry {carried} of {whole} sentences; {needed} of {citations} citations "
            "are needed: {value}"
        ),
        facts={
            "carried": len(carried),
            "whole": len(sentences),
            "needed": n_needed,
            "citations": n_citations,
        },
        verdicts=verdicts,
    )


def read_sentences(
    judge: Judge, answer: str, contexts: Sequence[str], context_ids: Sequence[str]
) -> list[CitedSentence]:
    """Return the answer's sentences with what they cite. Raises Unmeasured where there is none."""
    check_inputs(judge, contexts=contexts, answer=answer)
    sentences = cite_sentences(answer, len(contexts), context_ids)
    if not sentences:
        raise Unmeasured("empty_decomposition", "the answer has no sentence")
    return sentences


def cite_sentences(answer: str, n_contexts: int, ids: Sequence[str]) -> list[CitedSentence]:
    """Split an answer into sentences, and read the marks that stand in them or closely after.

    Brackets that hold neither numbers nor ids of contexts are text.
    """
    numbers_by_id = {name: number for number, name in enumerate(ids, 1) if name}
    text = ""
    marks: list[tuple[int, list[int]]] = []
    read_until = 0
    for found in MARK.finditer(answer):
        cited = read_mark(found[1].strip(), n_contexts, numbers_by_id)
        if not cited:
            continue
        text += answer[read_until : found.start()].rstrip(" \t")
        marks.append((len(text), cited))
        read_until = found.end()
    text += answer[read_until:]
    spans = sentence_spans(text)
    cited_by_sentence: list[list[int]] = [[] for _ in spans]
    ends = [end for _, end in spans]
    for place, cited in marks:
        if spans:
            # The sentence that ends there or later; the last where only the mark follows.
            cited_by_sentence[min(bisect_left(ends, place), len(spans) - 1)] += cited
    return [
        CitedSentence(" ".join(text[start:end].split()), tuple(dict.fromkeys(cited)))
        for (start, end), cited in zip(spans, cited_by_sentence, strict=True)
    ]


def cut_citations(sentence: CitedSentence, most: int) -> CitedSentence:
    """Leave so many contexts that a sentence cites; a mark of no context stays."""
    numbers = [number for number in sentence.cited if number][:most]
    nowhere = [0] if 0 in sentence.cited else []
    return CitedSentence(sentence.text, (*numbers, *nowhere))


def read_mark(inside: str, n_contexts: int, numbers_by_id: Mapping[str, int]) -> list[int]:
    """Return the numbers of the contexts that a mark names, 0 for one that there is not.

    1–3 is 1, 2 and 3. Brackets that hold something else name none.
    """
    parts = [part.strip() for part in re.split("[,;]", inside)]
    if all(part in numbers_by_id for part in parts):
        return [numbers_by_id[part] for part in parts]
    if not NUMBERS.fullmatch(inside):
        return []
    numbers: list[int] = []
    for part in parts:
        first, _, last = re.sub(r"\s", "", part).replace("–", "-").partition("-")
        low, high = sorted([int(first), int(last or first)])
        # One number beyond the contexts is enough to say that there are such.
        beyond = n_contexts + 1
        numbers += range(min(low, beyond), min(high, beyond) + 1)
    return [number if 1 <= number <= n_contexts else 0 for number in numbers]


async def judge_support(
    judge: Judge, sentence: CitedSentence, contexts: Sequence[str], numbers: Iterable[int]
) -> Support | None:
    """Ask how much of a sentence the passages of these numbers carry; None without numbers."""
    numbers = list(numbers)
    if not numbers:
        return None
    if 0 in numbers:
        return Support(reason="a mark points to none of the contexts", verdict="none")
    passages = [contexts[number - 1] for number in numbers]
    if is_blank(passages):
        return Support(reason="there is nothing to read", verdict="none")
    return await judge.ask(SUPPORT, sentence=sentence.text, passages=passages)


async def find_superfluous(
    judge: Judge, sentence: CitedSentence, contexts: Sequence[str]
) -> list[int]:
    """Return the citations without which a sentence is carried, and that do not carry it alone."""
    cited = sentence.cited
    if len(cited) < 2:
        return []
    alone = await ask_all(*[judge_support(judge, sentence, contexts, [one]) for one in cited])
    weak = [number for number, reply in zip(cited, alone, strict=True) if reply.verdict != "full"]
    others = [[other for other in cited if other != number] for number in weak]
    rest = await ask_all(*[judge_support(judge, sentence, contexts, left) for left in others])
    return [number for number, reply in zip(weak, rest, strict=True) if reply.verdict == "full"]


def list_verdicts(
    sentences: Sequence[CitedSentence], replies: Sequence[Support | None]
) -> list[Verdict]:
    """Return a verdict for each sentence; "uncited" for one that cites nothing."""
    verdicts = []
    for sentence, reply in zip(sentences, replies, strict=True):
        if reply is None:
            verdicts.append(Verdict(sentence.text, "uncited"))
        else:
            numbers = tuple(number for number in sentence.cited if number)
            verdicts.append(Verdict(sentence.text, reply.verdict, reply.reason, numbers))
    return verdicts


def value_of_mode(mode: str, hits: float, n_cited: int, recall: float) -> float:
    """Return precision, recall or F1. Raises Unmeasured for a precision of no citations."""
    if not n_cited and mode == "precision":
        raise Unmeasured("empty_decomposition", "the answer cites none of its contexts")
    if mode == "recall" or not n_cited:
        return recall
    precision = hits / n_cited
    return precision if mode == "precision" else f_measure(precision, recall)

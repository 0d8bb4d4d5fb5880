"""Do the passages that an answer cites carry what it says? Support as in TREC's RAG track, and ALCE's citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge
from pydantic import BaseModel, Field

from ragbench.old.core import segmentation
from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.old.core.types.reason import Reason, kept
from ragbench.old.core.waves import gather
from ragbench.old.extras.standards.grades import Grade, offline
from ragbench.old.metrics.claims import told
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.factual_correctness import f_measure
from ragbench.old.metrics.inquiry import Inquiry, measured

_MARK = re.compile(r"(?:\[\^?|【)([^\[\]【】\n]{1,200}+)(?:\](?!\()|】)")
_NUMBERS = re.compile(r"\d{1,3}(?:[ \t]*[,;–-][ \t]*\d{1,3})*")


@dataclass(frozen=True)
class Part:
    """A sentence without its marks, and what it cites, in order, each once: places of contexts from 0, and names of
    what is none of them."""

    text: str
    cited: tuple[int | str, ...] = ()

    @property
    def passages(self) -> tuple[int, ...]:
        """The places of the contexts that it cites."""
        return tuple(one for one in self.cited if isinstance(one, int))

    @property
    def nowhere(self) -> tuple[str, ...]:
        """What it cites that is none of the contexts."""
        return tuple(one for one in self.cited if isinstance(one, str))

    def cut(self, most: int) -> Part:
        """With so many of the contexts that it cites."""
        left = set(self.passages[:most])
        return replace(self, cited=tuple(one for one in self.cited if isinstance(one, str) or one in left))


def parts_of(sample: Sample) -> list[Part]:
    """The sentences of a response, as `ragbench.old.core.segmentation` splits it, with what they cite.

    A mark belongs to the sentence that it stands in or closely after. Where the sample has citations, they count and
    marks do not; one belongs to every sentence that it has a character of. Raises ValueError, with a reason, for a
    citation of a place that the response has not.
    """
    response = sample.response or ""
    names = _Names(sample)
    if sample.citations is None:
        text, marks = _without_marks(response, names)
        spans = segmentation.spans(text)
        found: list[list[int | str]] = [[] for _ in spans]
        for place, cited in marks:
            last = next((number for number, (_, end) in enumerate(spans) if end >= place), len(spans) - 1)
            if spans:
                found[last] += cited
    else:
        text, spans = response, segmentation.spans(response)
        found = [[] for _ in spans]
        for one in sample.citations:
            if one.end < 0:  # what is no such object, see `ragbench.old.data.payloads.citations_of`
                raise ValueError(
                    Reason("citation {passage}: start, end and a passage are expected", passage=one.passage)
                )
            if not 0 <= one.start < one.end <= len(response):
                raise ValueError(
                    Reason(
                        "citation of {passage}: characters {start} to {end} are not in a response of {length}",
                        passage=one.passage, start=one.start, end=one.end, length=len(response),
                    )
                )  # fmt: skip
            for number, (start, end) in enumerate(spans):
                if one.start < end and start < one.end:
                    found[number].append(names.place(one.passage))
    return [
        Part(" ".join(text[start:end].split()), tuple(dict.fromkeys(cited)))
        for (start, end), cited in zip(spans, found, strict=True)
    ]


class _Names:
    """What names the contexts of a sample: their numbers from 1, and their ids."""

    def __init__(self, sample: Sample) -> None:
        chunks = sample.contexts or ()
        self._count = len(chunks)
        self._ids: Mapping[str, int] = {chunk.id: place for place, chunk in reversed(list(enumerate(chunks)))}

    def place(self, name: str) -> int | str:
        """The place of the context of that number, or id; the name itself of none."""
        if name.isdecimal():
            return int(name) - 1 if 1 <= int(name) <= self._count else name
        return self._ids.get(name, name)

    def marked(self, inside: str) -> list[int | str] | None:
        """What a mark names; None where brackets hold something else."""
        if _NUMBERS.fullmatch(inside):
            return [self.place(number) for number in _expanded(inside)]
        parts = [part.strip() for part in re.split(r"[,;]", inside)]
        return [self._ids[part] for part in parts] if all(part in self._ids for part in parts) else None


def _expanded(inside: str) -> Iterator[str]:
    """The numbers of a mark, 1–3 as 1, 2 and 3."""
    for part in re.split(r"[,;]", inside):
        low, *rest = (int(number) for number in re.split(r"[–-]", part))
        yield from map(str, range(low, rest[-1] + 1) if rest and rest[-1] > low else (low, *rest))


def _without_marks(response: str, names: _Names) -> tuple[str, list[tuple[int, list[int | str]]]]:
    """The text without marks, and where in it each stood."""
    pieces, marks, done, length = [], [], 0, 0
    for found in _MARK.finditer(response):
        cited = names.marked(found[1].strip())
        if cited is None:
            continue
        piece = response[done : found.start()].rstrip(" \t")
        pieces.append(piece)
        length += len(piece)
        marks.append((length, cited))
        done = found.end()
    return "".join([*pieces, response[done:]]), marks


FIELDS = ("response", "contexts")
UNCITED = "uncited"
"""What is stored in the place of the grade of a sentence that cites nothing."""
Mode = Literal["f1", "precision", "recall"]


class Support(BaseModel):
    """The reply's shape; the reason comes first, so that it is thought before it is said."""

    reason: str = Field(description="one short sentence: what the passages say of it, and what they lack")
    grade: Grade = Field(description='"full", "partial" or "none"')


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Support:
    grade, reason = offline(reader, texts["sentence"], texts["passages"])
    return Support(reason=reason, grade=grade)


SUPPORT = Prompt(
    name="citation_support",
    version=1,
    shape=Support,
    offline=_by_words,
    texts={
        "en": """An answer names passages as its source for a sentence. Decide how much of the sentence they carry.

Sentence:
{sentence}

Passages:
{passages}

- "full": the passages, from one of them or from several together, carry all that the sentence says.
- "partial": they carry a part of it; another part is not there.
- "none": they carry nothing of it, or speak against it.

Could one write "according to these passages" before the sentence? Check names, dates, numbers and negations one by one:
a fluent sentence may be wrong in a single word. Judge by the passages alone, not by what you know. Give a short reason,
then the grade.""",
        "ru": """Ответ называет отрывки источником предложения. Решите, сколько из предложения они подтверждают.

Предложение:
{sentence}

Отрывки:
{passages}

- "full" (полностью): отрывки — один или несколько вместе — подтверждают всё, что сказано в предложении.
- "partial" (частично): они подтверждают часть; другой части в них нет.
- "none" (нет): они не подтверждают ничего или говорят против.

Можно ли написать перед предложением «согласно этим отрывкам»? Проверьте по одному имена, даты, числа и отрицания:
гладкое предложение может быть неверно в одном слове. Решайте только по отрывкам, а не по тому, что знаете сами. Сначала
короткая причина по-русски, затем оценка латиницей, как указано выше.""",
    },
)
WITHOUT_MARKS = (
    "An answer that cites nothing has recall and F 0, and no precision. An empty answer is unmeasured, and so is one "
    "without a sentence, or with a citation of a place that it has not. "
)


@dataclass(frozen=True)
class _Judged:
    """A sentence, how much its sources carry of it, and why; grade None where it cites nothing. read: the places of
    the contexts that were read for it."""

    part: Part
    grade: Grade | None
    reason: str
    read: Sequence[int] = ()


@metric(
    source="Thakur et al. 2025, arXiv:2504.15205, support evaluation of the TREC 2024 RAG track",
    fields=FIELDS,
    prompts=(SUPPORT,),
    formula=(
        "precision P = Σ support of the cited sentences / sentences that cite; recall R = the same sum / sentences; "
        "F = 2 P R / (P + R); support 1 full, ½ partial, 0 none, by the first passage that a sentence cites"
    ),
    edges=WITHOUT_MARKS + "A mark that points to no passage, such as [7] of 5, supports nothing, and counts as one.",
    differs=(
        "Each sentence counts by itself; Open RAG Eval keeps one grade a passage, and forgets the others of several "
        "sentences that cite the same one."
    ),
    when=(
        "Answers with marks, [1]: can a reader check them at the source?",
        "Numbers to lay beside those of TREC's RAG track.",
    ),
    purposes=(Purpose("hallucinations", "holds every sentence against the passage that it cites"),),
)
@measured
async def citation_support(sample: Sample, judge: Judge, *, mode: Mode = "f1") -> Score:
    """How far the first passage that each sentence cites carries it: weighted precision and recall, or their F1.

    Marks are read from the response, [1] for the first context, or taken from the sample's citations. 0 to 1;
    `detail["statements"]` keeps each sentence with its grade, its reason and the passage that was read. One question a
    sentence that cites; all modes share them.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    parts = _parts(inquiry)
    judged = await gather([_first_of(inquiry, part) for part in parts])
    grades = [one.grade for one in judged if one.grade is not None]
    weight = sum(grade.weight for grade in grades)
    value = _mode(inquiry, mode, weight / len(grades) if grades else None, weight / len(parts), judged)
    counted = {grade: sum(one is grade for one in grades) for grade in Grade}
    explanation = [
        sentence(
            "Of {whole} sentences {cited} cite a passage; the first carries {full} of them in full and {part} in part: "
            "{value}.",
            whole=len(parts), cited=len(grades), full=counted[Grade.FULL], part=counted[Grade.PARTIAL], value=value,
        )
    ]  # fmt: skip
    return _scored(inquiry, value, explanation, judged)


@metric(
    source="Gao et al. 2023, arXiv:2305.14627 (ALCE), citation quality",
    fields=FIELDS,
    prompts=(SUPPORT,),
    formula=(
        "recall = sentences that their passages carry in full together / sentences; precision = citations of such "
        "sentences that carry it alone or are needed for it / citations; F = 2 P R / (P + R)"
    ),
    edges=WITHOUT_MARKS
    + "A sentence with a mark that points to no passage, such as [7] of 5, is not carried, and its citations are in no "
    "divisor, as in ALCE's program.",
    differs=(
        "A judge says what a passage carries, where ALCE asks a model of entailment; a passage that a sentence cites "
        "twice counts once. Without citations ALCE's program has precision 0."
    ),
    when=("Whether citations are right, and none is superfluous.",),
    purposes=(Purpose("hallucinations", "finds sentences that their citations do not carry"),),
)
@measured
async def citation_quality(
    sample: Sample, judge: Judge, *, mode: Mode = "f1", most: Annotated[int, Ge(1)] = 3
) -> Score:
    """ALCE's citation recall (sentences that their passages carry in full) and precision (citations needed), or F1.

    most: so many citations of a sentence count. 0 to 1; `detail["statements"]` keeps each sentence with its grade, the
    passages that it needs, and those that are superfluous. One question a sentence that cites; of one with several
    passages that is carried, one for each of them and, where it does not carry the sentence alone, one for the others.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    parts = [part.cut(most) for part in _parts(inquiry)]
    judged = await gather([_together(inquiry, part) for part in parts])
    needless = await gather([_needless(inquiry, one) for one in judged])
    carried = [one.grade is Grade.FULL for one in judged]
    cited = sum(len(one.part.passages) for one in judged if not one.part.nowhere)
    needed = sum(
        len(one.part.passages) - len(left) for one, left, flag in zip(judged, needless, carried, strict=True) if flag
    )
    recall = sum(carried) / len(parts)
    value = _mode(inquiry, mode, needed / cited if cited else None, recall, judged)
    explanation = [
        sentence("Recall: sentences that their citations carry in full, {part} / {whole} = {value}.",
                 part=sum(carried), whole=len(parts), value=recall)
    ]  # fmt: skip
    if cited:
        explanation.append(
            sentence("Precision: citations that are needed, {part} / {whole} = {value}.",
                     part=needed, whole=cited, value=needed / cited)
        )  # fmt: skip
    if mode == "f1":
        explanation.append(sentence("F with β = {beta}: {value}.", beta="1", value=value))
    return _scored(inquiry, value, explanation, judged, needless)


def _parts(inquiry: Inquiry) -> list[Part]:
    """The sentences with what they cite. Raises EndedError."""
    try:
        found = parts_of(inquiry.sample)
    except ValueError as error:
        raise inquiry.unmeasured(Status.INVALID_INPUT, error.args[0].sentence) from None
    if not found:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the response has no sentence"))
    return found


async def _asked(inquiry: Inquiry, part: Part, places: Sequence[int]) -> Support:
    passages = [inquiry.chunks[place].text for place in places]
    if not any(map(str.strip, passages)):
        return Support(reason=kept(Reason("there is nothing to read")), grade=Grade.NONE)
    return await inquiry.ask(SUPPORT, {"sentence": part.text, "passages": passages})


async def _first_of(inquiry: Inquiry, part: Part) -> _Judged:
    """By the passage that is cited first, as the track has it."""
    if not part.cited:
        return _Judged(part, None, "")
    first = part.cited[0]
    if not isinstance(first, int):
        return _Judged(part, Grade.NONE, _points_nowhere(inquiry, first))
    reply = await _asked(inquiry, part, (first,))
    return _Judged(part, reply.grade, reply.reason, (first,))


async def _together(inquiry: Inquiry, part: Part) -> _Judged:
    if not part.cited:
        return _Judged(part, None, "")
    if part.nowhere:
        return _Judged(part, Grade.NONE, _points_nowhere(inquiry, part.nowhere[0]))
    reply = await _asked(inquiry, part, part.passages)
    return _Judged(part, reply.grade, reply.reason, part.passages)


async def _needless(inquiry: Inquiry, one: _Judged) -> list[int]:
    """The passages without which the sentence is carried as well, and that do not carry it alone."""
    places = one.part.passages
    if one.grade is not Grade.FULL or len(places) < 2:
        return []
    alone = await gather([_asked(inquiry, one.part, (place,)) for place in places])
    weak = [place for place, reply in zip(places, alone, strict=True) if reply.grade is not Grade.FULL]
    others = [[other for other in places if other != place] for place in weak]
    rest = await gather([_asked(inquiry, one.part, left) for left in others])
    return [place for place, reply in zip(weak, rest, strict=True) if reply.grade is Grade.FULL]


def _points_nowhere(inquiry: Inquiry, mark: str) -> str:
    return kept(Reason("[{mark}] points to none of {count} passages", mark=mark, count=len(inquiry.chunks)))


def _mode(inquiry: Inquiry, mode: Mode, precision: float | None, recall: float, judged: Sequence[_Judged]) -> float:
    """precision: None where nothing is cited. Raises EndedError where it is asked for then."""
    if precision is None and mode == "precision":
        nothing = sentence("the response cites none of its passages")
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, nothing, statements=_lines(inquiry, judged))
    if mode == "recall" or precision is None:
        return recall
    return precision if mode == "precision" else f_measure(precision, recall)


def _lines(
    inquiry: Inquiry, judged: Sequence[_Judged], needless: Sequence[Sequence[int]] | None = None
) -> list[dict[str, Any]]:
    names = [chunk.id for chunk in inquiry.chunks]
    left = needless if needless is not None else [[]] * len(judged)
    return [
        told(
            one.part.text, str(one.grade or UNCITED), one.reason,
            [names[place] for place in one.read if place not in own],
            **({"nowhere": list(one.part.nowhere)} if one.part.nowhere else {}),
            **({"superfluous": [names[place] for place in own]} if own else {}),
        )
        for one, own in zip(judged, left, strict=True)
    ]  # fmt: skip


def _scored(
    inquiry: Inquiry,
    value: float,
    explanation: list[dict[str, Any]],
    judged: Sequence[_Judged],
    needless: Sequence[Sequence[int]] | None = None,
) -> Score:
    said = list(explanation)
    if weak := [one.part.text for one in judged if one.grade is Grade.NONE]:
        said.append(sentence("Carried by none of what they cite: {claims}.", claims=weak))
    if bare := [one.part.text for one in judged if one.grade is None]:
        said.append(sentence("Without a citation: {claims}.", claims=bare))
    if lost := [mark for one in judged for mark in one.part.nowhere]:
        said.append(
            sentence("Marks that point to none of {count} passages: {marks}.", count=len(inquiry.chunks),
                     marks=", ".join(f"[{mark}]" for mark in dict.fromkeys(lost)))
        )  # fmt: skip
    return inquiry.score(value, said, statements=_lines(inquiry, judged, needless))

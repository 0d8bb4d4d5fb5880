"""Which of the facts that a good answer says does the answer say? Nuggets, as AutoNuggetizer scores them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.old.extras.standards.grades import Grade, Graded, graded, offline
from ragbench.old.metrics.claims import told
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured
from ragbench.old.metrics.strings import plain

FIELDS = ("response", "nuggets")
VITAL, OKAY = "vital", "okay"
Over = Literal["all", "vital", "weighted"]
WEIGHTS: Mapping[Over, Mapping[str, float]] = {
    "all": {VITAL: 1.0, OKAY: 1.0},
    "vital": {VITAL: 1.0, OKAY: 0.0},
    "weighted": {VITAL: 1.0, OKAY: 0.5},
}
FEWEST_WORDS = 5
"""Of a nugget that stands in an answer word for word: shorter ones do so by chance."""


class Assignments(BaseModel):
    """One grade for each nugget."""

    grades: list[Graded]


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Assignments:
    found = [offline(reader, nugget, [texts["response"]]) for nugget in texts["nuggets"]]
    return Assignments(
        grades=[Graded(number=n, reason=reason, grade=grade) for n, (grade, reason) in enumerate(found, 1)]
    )


ASSIGNMENT = Prompt(
    name="nugget_assignment",
    version=1,
    shape=Assignments,
    offline=_by_words,
    max_tokens=2000,
    texts={
        "en": """Decide of each numbered nugget, a short statement of fact, how much of it the answer says.

Question (may be empty):
{question}

Answer:
{response}

Nuggets:
{nuggets}

- "full": the answer says all of it, in whatever words.
- "partial": the answer says a part of it, or says it less exactly.
- "none": the answer does not say it, or says the contrary.

Go by the answer alone, not by what you know, and not by whether the nugget is true. Give exactly one grade for every
nugget, with its number and a short reason.""",
        "ru": """Решите о каждом пронумерованном ключевом факте, сколько из него сказано в ответе.

Вопрос (может быть пустым):
{question}

Ответ:
{response}

Ключевые факты:
{nuggets}

- "full" (полностью): ответ говорит это целиком, какими бы словами ни было.
- "partial" (частично): ответ говорит часть этого или говорит менее точно.
- "none" (нет): ответ этого не говорит или говорит обратное.

Исходите только из ответа, а не из того, что знаете сами, и не из того, верен ли сам факт. Дайте ровно одну оценку
каждому факту: его номер, короткую причину по-русски и оценку латиницей, как указано выше.""",
    },
)


@metric(
    source="Pradeep et al. 2024, arXiv:2411.09607 (AutoNuggetizer), and castorini/nuggetizer; weighted as in Open RAG "
    "Eval; after Voorhees 2003, TREC QA",
    fields=FIELDS,
    prompts=(ASSIGNMENT,),
    former=("all_score", "nugget_recall"),
    formula=(
        "Σ weight · credit / Σ weight over nuggets; credit 1 said in full, ½ in part (strict: 0), 0 not; weight 1, of "
        "okay nuggets 0 with over=vital and ½ with over=weighted"
    ),
    edges=(
        "An empty answer has 0, without a question. An empty list of nuggets, one with an importance that is neither "
        "vital nor okay, or one without a vital nugget with over=vital, is unmeasured. A missing grade is asked for "
        "once more, then the value is unmeasured."
    ),
    differs=(
        "A list without nuggets, or without vital ones, has no value; elsewhere it is 0. Open RAG Eval divides by one "
        "nugget too many where there is none of a kind."
    ),
    when=(
        "Long answers to open questions, of which no single reference holds all.",
        "Whether answers are complete, in the terms of TREC's RAG track.",
    ),
    purposes=(Purpose("completeness", "says which facts of a list an answer lacks"),),
)
@measured
async def nugget_score(sample: Sample, judge: Judge, *, over: Over = "all", strict: bool = False) -> Score:
    """Share of the nuggets, the facts that a good answer says, that the answer says; in part counts one half.

    over: "all" nuggets alike (all-score), only "vital" ones (vital-score), or "weighted", okay ones by one half.
    strict: what is said in part counts nothing.
    0 to 1; `detail["nuggets"]` keeps the grade of each nugget with its importance, `detail["counts"]` how many there
    are of each. `detail["copied"]` lists nuggets that stand in the answer word for word and in none of its contexts: a
    system that writes so may have seen the list. One question for ten nuggets; all ways to count share it.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, empty=0.0)
    assert sample.nuggets is not None
    assert sample.response is not None
    if wrong := [
        {"nugget": text, "importance": word} for text, word in sample.nuggets.items() if word not in (VITAL, OKAY)
    ]:
        said = sentence("nugget “{nugget}”: importance = {importance}: vital or okay is expected", **wrong[0])
        raise inquiry.unmeasured(Status.INVALID_INPUT, said)
    if over == "vital" and VITAL not in sample.nuggets.values():
        raise inquiry.unmeasured(Status.EMPTY_INPUT, sentence("none of the nuggets is vital"))
    texts = {"question": sample.user_input or "", "response": sample.response}
    grades = await graded(inquiry, ASSIGNMENT, "nuggets", list(sample.nuggets), texts)
    lines = [
        told(text, str(one.grade), one.reason, importance=importance)
        for (text, importance), one in zip(sample.nuggets.items(), grades, strict=True)
    ]
    value = score_of(((line["importance"], Grade(line["verdict"])) for line in lines), over, strict)
    copied = _copied(sample)
    counts = {kind: Counter(line["verdict"] for line in lines if line["importance"] == kind) for kind in (VITAL, OKAY)}
    return inquiry.score(
        value,
        _explanation(lines, value, over, strict, copied),
        nuggets=lines,
        counts={kind: dict(count) for kind, count in counts.items()},
        copied=copied,
    )


def score_of(assigned: Iterable[tuple[str, Grade]], over: Over = "all", strict: bool = False) -> float:
    """The value of nuggets with their importance and grade; NaN where none of them counts."""
    known = [(WEIGHTS[over][importance], grade) for importance, grade in assigned]
    whole = sum(weight for weight, _ in known)
    credit = sum(weight * (float(grade is Grade.FULL) if strict else grade.weight) for weight, grade in known)
    return credit / whole if whole else float("nan")


def _copied(sample: Sample) -> list[str]:
    """Nuggets of FEWEST_WORDS or more that the answer has word for word, and none of the passages that it had."""
    answer, seen = plain(sample.response or ""), [plain(chunk.text) for chunk in sample.contexts or ()]
    texts = [text for text in sample.nuggets or () if len(text.split()) >= FEWEST_WORDS]
    bare = {text: plain(text).rstrip(".!") for text in texts}
    return [text for text in texts if bare[text] in answer and not any(bare[text] in one for one in seen)]


def _explanation(
    lines: list[dict[str, Any]], value: float, over: Over, strict: bool, copied: list[str]
) -> list[dict[str, Any]]:
    counted = [line for line in lines if WEIGHTS[over][line["importance"]]]
    full, part, none = ([line["statement"] for line in counted if line["verdict"] == grade] for grade in Grade)
    named = {"full": len(full), "part": len(part), "whole": len(counted), "value": value}
    said = [
        {
            "all": sentence("Of {whole} nuggets the answer says {full} in full and {part} in part: {value}.", **named),
            "vital": sentence(
                "Of {whole} vital nuggets the answer says {full} in full and {part} in part: {value}.", **named
            ),
            "weighted": sentence(
                "Of {whole} nuggets, okay ones by one half, the answer says {full} in full and {part} in part: "
                "{value}.",
                **named,
            ),
        }[over]
    ]
    if strict and part:
        said.append(sentence("What is said in part counts nothing."))
    if part:
        said.append(sentence("In part: {claims}.", claims=part))
    if none:
        said.append(sentence("Missing from the response: {claims}.", claims=none))
    if copied:
        said.append(
            sentence(
                "In the answer word for word, and in none of its contexts, so that the list may have been seen: "
                "{claims}.",
                claims=copied,
            )
        )
    return said

"""The offline judge: decides by shared words and letters. It stands in for a model, and says so."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ragbench.core.errors import Unmeasured
from ragbench.core.language import load_language, mark
from ragbench.judge.own import OpenJudge
from ragbench.judge.words import (
    SUPPORTED,
    denies,
    find_entities,
    find_nearest,
    is_supported,
    measure_share,
    measure_similarity,
    measure_support,
)
from ragbench.metrics.judging import Prompt, Shape, Texts
from ragbench.metrics.refusals import is_refusal
from ragbench.metrics.sentences import split_sentences

LEXICAL = "lexical"  # its name, which no table [judges.NAME] may have
# A sentence this similar that still does not carry a statement contradicts it.
ALIKE = 0.6
CLOSE = 0.02  # answers whose similarity to the goal differs by less are a tie
PARTLY = 0.5  # support from which a text is carried in part
SHARED = mark("shared words and letters: {share}")
PARTS = mark("sentences that share their words: {part} of {whole}")

Strings = Sequence[str]
Values = dict[str, Any]  # of a reply, by field


class OfflineJudge(OpenJudge):
    """A judge without a model. Deterministic: every repeat answers alike.

    language: of its reasons, "en" or "ru". A prompt of COMPARED is answered by comparing two of
    its slots, another one by the method `answer_NAME`.
    """

    name = LEXICAL
    is_stand_in = True
    sees_images = False

    def __init__(self, language: str = "en") -> None:
        self.language = load_language(language or "en")

    async def ask(self, prompt: Prompt[Shape], *, repeat: int = 0, **values: Texts) -> Shape:
        """See `ragbench.metrics.judging.Judge`."""
        if prompt.name in COMPARED:
            slot, other, compare = COMPARED[prompt.name]
            others = values[other]
            others = [others] if isinstance(others, str) else others
            return prompt.shape.model_validate(compare(self, str(values[slot]), others))
        answer = getattr(self, f"answer_{prompt.name}", None)
        if answer is None:
            raise Unmeasured(
                "judge_error", f"the {self.name} judge cannot answer {prompt.name}; name a model"
            )
        return prompt.shape.model_validate(answer(**values))

    def say(self, message: str, **facts: Any) -> str:
        """Write a reason in the language of the page."""
        return self.language.translate(message).format(**facts)

    def say_share(self, share: float) -> str:
        """Say how much is shared."""
        return self.say(SHARED, share=self.language.number(share, 2))

    def rate_share(self, text: str, others: Strings) -> Values:
        """How much of a text's sentences others carry, from 1 to 5."""
        return self.rate_to_5(measure_share(text, others))

    def rate_support(self, text: str, others: Strings) -> Values:
        """How much of a text others carry, from 1 to 5."""
        return self.rate_to_5(measure_support(text, others))

    def rate_to_5(self, share: float) -> Values:
        """A share of 0 to 1 as a rating of 1 to 5."""
        return {"reason": self.say_share(share), "rating": round(1 + share * 4)}

    def rate_sentences(self, text: str, others: Strings) -> Values:
        """A text of which others carry all sentences: 2, some: 1, none: 0."""
        carried = [is_supported(part, others) for part in split_sentences(text)]
        reason = self.say(PARTS, part=sum(carried), whole=len(carried))
        return {"reason": reason, "rating": 2 if carried and all(carried) else int(any(carried))}

    def rate_halves(self, text: str, others: Strings) -> Values:
        """A text that others carry: 2, half of it: 1, less: 0."""
        return self.rate_steps(text, others, 0.4, 0.8)

    def rate_relevance(self, text: str, others: Strings) -> Values:
        """0 to 3, as UMBRELA grades a passage: related, answers, is about this very question."""
        return self.rate_steps(text, others, 0.2, 0.5, 0.8)

    def rate_steps(self, text: str, others: Strings, *steps: float) -> Values:
        """The number of steps that the support of a text reaches."""
        support = measure_support(text, others)
        rating = sum(support >= step for step in steps)
        return {"reason": self.say_share(support), "rating": rating}

    def grade(self, text: str, others: Strings) -> Values:
        """How much of a text others carry: in full, in part or not."""
        support = measure_support(text, others)
        word = "full" if support >= SUPPORTED else "partial" if support >= PARTLY else "none"
        return {"reason": self.say_share(support), "verdict": word}

    def answer_claims(self, text: str, **_: Texts) -> Values:
        """The sentences stand for the claims."""
        return {"claims": split_sentences(text)}

    def answer_entailment(self, passages: Strings, statements: Strings) -> Values:
        """Supported where the passages together carry a statement; contradicted by a like one."""
        sentences = [split_sentences(passage) for passage in passages]
        flat = list(itertools.chain.from_iterable(sentences))
        places = np.repeat(range(1, len(passages) + 1), list(map(len, sentences)))
        verdicts = []
        for index, statement in enumerate(statements, 1):
            support = measure_support(statement, passages)
            nearest = find_nearest(statement, flat, ALIKE)
            against = find_denials(statement, sentences) if len(passages) > 1 else []
            verdict, cited = "neutral", []
            if support >= SUPPORTED:
                strengths = [measure_support(statement, [passage]) for passage in passages]
                verdict, cited = "supported", [strengths.index(max(strengths)) + 1]
                against = [place for place in against if place not in cited]
            elif nearest is not None:
                verdict, cited = "contradicted", [int(places[nearest])]
            numbers = {"passages": cited, "contradicting": against}
            reason = self.say_share(support)
            verdicts.append({"index": index, "reason": reason, "verdict": verdict, **numbers})
        return {"verdicts": verdicts}

    def answer_entities(self, texts: Strings) -> Values:
        """Numbers, and words with a capital."""
        return {"entities": list(itertools.chain.from_iterable(map(find_entities, texts)))}

    def answer_context_precision(self, answer: str, passage: str, **_: Texts) -> Values:
        """Useful where a sentence of one side stands in the other."""
        carries = any(is_supported(part, [passage]) for part in split_sentences(answer))
        is_part = any(is_supported(part, [answer]) for part in split_sentences(passage))
        reason = self.say_share(measure_support(answer, [passage]))
        return {"reason": reason, "verdict": "useful" if carries or is_part else "useless"}

    def answer_response_relevancy(self, answer: str, number: str) -> Values:
        """The answer's sentences stand for questions: a question shares words with its answer."""
        manner = "noncommittal" if is_refusal(answer) else "committal"
        parts = split_sentences(answer)[: int(number)]
        return {"questions": [{"question": part, "manner": manner} for part in parts]}

    def answer_e2e_score(self, reference: str, answer: str, **_: Texts) -> Values:
        """The harmonic mean of what the answer and the reference have of each other."""
        there, back = measure_share(answer, [reference]), measure_share(reference, [answer])
        return self.rate_to_5(2 * there * back / (there + back) if there + back else 0.0)

    answer_answer_correctness_rating = answer_e2e_score

    def answer_rubrics_score(
        self, answer: str, reference: str, contexts: Strings, rubric: Strings, **_: Texts
    ) -> Values:
        """How much of the answer the reference and the contexts carry, laid on the scale."""
        support = measure_support(answer, [text for text in (reference, *contexts) if text])
        # Lines such as "3: complete", from the lowest level on.
        level = rubric[min(int(support * len(rubric)), len(rubric) - 1)].partition(":")[0]
        return {"reason": self.say_share(support), "level": level}

    def answer_pairwise(
        self, question: str, reference: str, answer_a: str, answer_b: str
    ) -> Values:
        """The answer that is more similar to the reference, else to the question."""
        goal = reference or question
        lead = measure_similarity(answer_a, goal) - measure_similarity(answer_b, goal)
        if abs(lead) < CLOSE:
            return {"choice": "Tie"}
        return {"choice": "A" if lead > 0 else "B"}

    def answer_show_decision(self, contexts: Strings, answer: str, **_: Texts) -> Values:
        """The weakest sentence decides: what no context carries must not be shown."""
        if not contexts:
            raise Unmeasured("empty_input", f"the {self.name} judge decides by contexts alone")
        supports = [measure_support(part, contexts) for part in split_sentences(answer)]
        n_carried = sum(support >= SUPPORTED for support in supports)
        return {
            "reason": self.say(PARTS, part=n_carried, whole=len(supports)),
            "show": "yes" if supports and n_carried == len(supports) else "no",
            "likelihood": round(100 * min(supports, default=0.0)),
        }

    def answer_nugget_assignment(self, answer: str, nuggets: Strings, **_: Texts) -> Values:
        """How much of each nugget the answer says."""
        grades = [self.grade(nugget, [answer]) for nugget in nuggets]
        return {"verdicts": [{"index": index, **said} for index, said in enumerate(grades, 1)]}


def find_denials(statement: str, sentences: Sequence[Strings]) -> list[int]:
    """Return the numbers of passages that say the same but for a number or a negation."""
    numbers = []
    for number, parts in enumerate(sentences, 1):
        nearest = find_nearest(statement, parts, ALIKE)
        if nearest is not None and denies(statement, parts[nearest]):
            numbers.append(number)
    return numbers


Compare = Callable[[OfflineJudge, str, Strings], Values]
# Prompt → the slot whose text is looked for, the slot that may carry it, and how they compare.
COMPARED: dict[str, tuple[str, str, Compare]] = {
    "faithfulness_rating": ("answer", "contexts", OfflineJudge.rate_share),
    "answer_relevance": ("question", "answer", OfflineJudge.rate_support),
    "response_groundedness": ("answer", "contexts", OfflineJudge.rate_sentences),
    "answer_accuracy": ("answer", "reference", OfflineJudge.rate_sentences),
    "answer_accuracy_turned": ("reference", "answer", OfflineJudge.rate_sentences),
    "context_relevance": ("question", "contexts", OfflineJudge.rate_halves),
    "context_relevance_turned": ("question", "contexts", OfflineJudge.rate_halves),
    "relevance": ("question", "passage", OfflineJudge.rate_relevance),
    "citation_support": ("sentence", "passages", OfflineJudge.grade),
}

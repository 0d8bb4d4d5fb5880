"""What doubtful questions and labels do to the numbers of a search, computed from the data alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragbench.data.wording import plain
from ragbench.tiers.data.lexical_search import found_first

LEAKED = ("question_is_passage", "question_in_passage")
KINDS = (*LEAKED, "passage_copied", "labels_nowhere")


def searched(
    chunks: Sequence[Any], leaked: Sequence[Any], others: Sequence[Any], drawing: Callable[[Sequence[Any]], list[Any]]
) -> Mapping[str, float]:
    """How many of the questions that leak, and of the others, find a relevant passage first by BM25; of how many each.

    Empty where none leaks.
    """
    if not leaked:
        return {}
    leaking, other = drawing(leaked), drawing(others)
    first = found_first(chunks, [*leaking, *other])
    return {
        "leaked": len(leaking),
        "leaked_first": sum(first[: len(leaking)]),
        "others": len(other),
        "others_first": sum(first[len(leaking) :]),
    }


def reachable(chunks: Sequence[Any], asked: Sequence[Any]) -> Mapping[str, float]:
    """labels: of all questions. lost: questions none of whose labels is in the base. recall: the highest mean recall
    that is left, over all depths: the mean share of a question's labels that are in the base."""
    there = {chunk.id for chunk in chunks} | {chunk.url for chunk in chunks}
    shares = [np.mean([name in there for name in (*question.relevant, *question.relevant_urls)]) for question in asked]
    labels = sum(len(question.relevant) + len(question.relevant_urls) for question in asked)
    return {
        "labels": labels,
        "lost": sum(bool(share == 0) for share in shares),
        "recall": float(np.mean(shares)) if shares else float("nan"),
    }


def copied(chunks: Sequence[Any], asked: Sequence[Any]) -> Mapping[str, float]:
    """hit: the highest mean hit rate at 1 of a search that cannot tell equal texts apart, and puts one of them first by
    chance: of each question's best text the share of its copies that is marked. n: questions with such labels."""
    texts = {chunk.id: plain(chunk.text) for chunk in chunks}
    copies = Counter(texts.values())
    best = []
    for question in asked:
        marked = Counter(texts[name] for name in question.relevant if name in texts)
        if marked:
            best.append(max(count / copies[text] for text, count in marked.items()))
    return {"hit": float(np.mean(best)) if best else float("nan"), "n": len(best)}


def contradicting(questions: Sequence[Any], first: Sequence[int]) -> Mapping[str, float]:
    """contradicting: questions of a group that are alike and share no label. hit: the highest hit rate at 1 of all
    labelled ones that one list for each group leaves. first: for each question the place of the first of its group."""
    members: dict[int, list[Any]] = defaultdict(list)
    for question, place in zip(questions, first, strict=True):
        if question.relevant or question.relevant_urls:
            members[place].append({*question.relevant, *question.relevant_urls})
    most = [max(Counter(name for labels in group for name in labels).values()) for group in members.values()]
    apart = [len(group) for group in members.values() if len(group) > 1 and not set.intersection(*group)]
    asked = sum(map(len, members.values()))
    return {"contradicting": sum(apart), "hit": sum(most) / asked if asked else float("nan")}

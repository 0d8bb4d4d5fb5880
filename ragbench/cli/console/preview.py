"""What a foreign file was understood to hold, said before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ragbench.core import terminal

if TYPE_CHECKING:
    from ragbench.data import Brought

PREVIEWED = 3
SHOWN_CHARACTERS = 70


def tell(brought: Brought, source: str, language: str, *, check: bool = False) -> None:
    """What was understood, a few examples of it, what was left out and why, and what to be warned of.

    check: say instead of these warnings all that the page `dataset` would find, with what it does to the numbers.
    """
    from ragbench.core.language import translator
    from ragbench.data import doubts_of
    from ragbench.views.sentences.data_sets import doubts

    pages = len({chunk.url for chunk in brought.chunks if chunk.url})
    unlabelled = sum(not (question.relevant or question.relevant_urls) for question in brought.questions)
    words = [f"{count} {_named(table, count)}" for table, count in brought.tables.items()]
    if pages:  # so there are chunks, which come first
        words[0] += f" on {pages} page{'s' * (pages != 1)}"
    if brought.questions:
        place = list(brought.tables).index("questions")
        words[place] += f" ({unlabelled} without a relevant passage)"
    terminal.say(f"{source}: {', '.join(words)}, language {language}")
    for line in _examples(brought):
        terminal.say(f"  {line}")
    tell_rest(brought.notes, brought.left_out)
    if check:
        _tell_oddities(brought, language)
    elif unlabelled < len(brought.questions):
        for warning in doubts(doubts_of(brought.chunks, brought.questions), translator("en")):
            terminal.say(f"warning: {warning}")


ONE = {"chunks": "passage", "questions": "question", "dialogues": "dialogue", "history": "question of users",
       "ratings": "rating", "decisions": "decision", "documents": "document"}  # fmt: skip
"""What a line of each table is."""
MANY = {"history": "questions of users"}


def _named(table: str, count: int) -> str:
    """What so many lines of a table are called."""
    return ONE.get(table, table) if count == 1 else MANY.get(table) or (f"{ONE[table]}s" if table in ONE else table)


def _tell_oddities(brought: Brought, language: str) -> None:
    """What is odd, what that does, and the first texts that are so."""
    from ragbench.core.language import translator
    from ragbench.tiers.data.dataset import examine
    from ragbench.views.sentences.data_sets import absent, told

    _, looked = translator("en"), examine(brought, language, listed=PREVIEWED)
    for oddity in looked.oddities:
        if not oddity.found:
            continue
        terminal.say(f"check: {' '.join(told(oddity, language, _))}")
        for example in oddity.examples:
            beside = f" | {_short(example.other_text)}" if example.other_text else ""
            terminal.say(f"  {example.id}  {_short(example.text)}{beside}")
    for line in absent(looked.oddities, _):
        terminal.say(f"check: {line}")


def tell_rest(notes: Iterable[str], left_out: Mapping[str, int]) -> None:
    """How things were understood, and what was left out, by reason."""
    for note in notes:
        terminal.say(f"note: {note}")
    for reason, count in left_out.items():
        if count:
            terminal.say(f"left out: {count} × {reason}")


def _examples(brought: Brought) -> list[str]:
    lines = []
    for question in brought.questions[:PREVIEWED]:
        wanted = ", ".join([*question.relevant, *question.relevant_urls]) or "no label"
        lines.append(
            f"{question.id}  {_short(question.text)} → {_short(question.reference or '—')}  [{_short(wanted)}]"
        )
    for decision in brought.decisions[:PREVIEWED]:
        word = "show" if decision.show else "do not show"
        lines.append(f"{decision.id}  {_short(decision.question)} → {_short(decision.answer)}  [{word}]")
    return lines + [
        f"{dialogue.id}  {len(dialogue.turns)} turns, the first: {_short(dialogue.turns[0].question)}"
        for dialogue in brought.dialogues[:PREVIEWED]
    ]


def _short(text: str) -> str:
    from ragbench.core.settings.secrets import excerpt

    return excerpt(text, SHOWN_CHARACTERS)

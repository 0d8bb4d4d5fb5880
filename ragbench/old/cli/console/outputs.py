"""What a command prints besides its results: JSON, what goes with numbers, what a file held, what a run would ask.

Of a run that goes to shared storage: where it is then, or how to send it again. Of a run that is planned: what its
systems would ask of endpoints, texts to embed, rankings and requests.
"""

from __future__ import annotations

import json
import math
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old.core import folders, terminal

if TYPE_CHECKING:
    from ragbench.old.core.answered_by import AnsweredBy
    from ragbench.old.core.settings import BudgetSettings
    from ragbench.old.core.stand_ins import StandIn
    from ragbench.old.data import Brought
    from ragbench.old.llm import Outlook, Plan, Tally
    from ragbench.old.systems.work import Task, Work
    from ragbench.old.tiers.basics.session import Lack


def is_screen(path: Path | None) -> bool:
    """Whether JSON goes to the screen, so that nothing else may go to standard output."""
    return str(path) == "-"


def write(path: Path, value: Any) -> None:
    """Write a value as JSON (`ragbench.old.core.folders.of_json`) to a file, or to the screen for -; NaN becomes null."""
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.report.keeping import results

    if is_screen(path):
        terminal.dump(value, clean=without_nan)
    else:
        results.write_json(path, value)


def caveat(parts: Iterable[StandIn], *, err: bool = True) -> None:
    """Say which parts only stood in for a model, where numbers are said; nothing where none did."""
    from ragbench.old.core.language import translator
    from ragbench.old.core.stand_ins import caveat

    if text := caveat(parts, translator("en")):
        terminal.tell(text, err=err, colour="yellow")


def answered(models: Iterable[AnsweredBy], *, err: bool = True) -> None:
    """Say which models answered under another name than they were asked by, or whose replies were imported."""
    from ragbench.old.core import answered_by
    from ragbench.old.core.language import translator

    for model in models:
        if text := answered_by.sentence(model, translator("en")):
            terminal.say(text, err=err, colour="yellow" if model.warns else None)


def left_out(lacks: Iterable[Lack]) -> None:
    """Say which pages were not made, each with what it needs."""
    from ragbench.old.core.language import translator

    for lack in lacks:
        terminal.say(f"{lack.page} not run: {lack.sentence(translator('en'))}")


def paid(tally: Tally, *, err: bool = False) -> None:
    """Say how many replies came from the journal, and what was newly paid; nothing where no model was asked."""
    if asked := tally.done + tally.failed:
        calls = f"{tally.calls:,} call{'' if tally.calls == 1 else 's'}"
        whose = f": no price is set for {tally.unpriced:,} of them" if tally.unpriced else ""
        said = f"newly paid: {calls}, cost {tally.money}{whose}"
        terminal.say(f"from the journal: {tally.journaled:,} of {asked:,} replies; {said}", err=err)


def stored(counts: Mapping[tuple[str, str], tuple[int, int]]) -> None:
    """Say how many of a run's vectors were stored before; nothing of embedders of which none were."""
    names = {"query": "question"}
    each = [
        f"{before:,} of {whole:,} {names.get(kind, kind)} vectors ({name})"
        for (name, kind), (before, whole) in counts.items()
        if before
    ]
    if each:
        terminal.say(f"from the store: {', '.join(each)}")


def journaled(folder: Path) -> None:
    """Say how many of a run's replies the journal had before the run began; nothing of models that were asked anew."""
    from ragbench.old.core import folders, settings
    from ragbench.old.llm import journal
    from ragbench.old.report.keeping import kept, results
    from ragbench.old.store import Store

    keys = journal.of_run(folder)
    if not keys:
        return
    began = float(json.loads(folders.text(folder / results.MANIFEST))["started"])
    counts: dict[str, tuple[int, int]] = {}

    def look() -> None:
        with Store.open(settings.load()) as store:
            counts.update(store.journal.kept_before(keys, time.time() - began))

    if not kept.refusal(look) and any(before for before, _whole in counts.values()):
        each = (f"{before:,} of {whole:,} replies of {judge}" for judge, (before, whole) in counts.items())
        terminal.say(f"from the journal: {', '.join(each)}")


def sent(folder: Path, to: str) -> bool:
    """Send the run in a folder to a URL and say where it is; else why not, and by which command it is sent."""
    from ragbench.old.report.keeping import kept

    try:
        terminal.say(kept.send(folder, to))
    except (OSError, ValueError) as error:
        said = folders.said(error) if isinstance(error, OSError) else str(error)
        again = shlex.join(["ragbench", "runs", "send", str(folder), "--to", to])
        terminal.say(
            f"the run is whole in {folder}, and was not sent: {said}. To send it: {again}", err=True, colour="red"
        )
        return False
    return True


PREVIEWED = 3  # a terminal shows whether it is the right thing; files hold all of it
SHOWN_CHARACTERS = 70


def tell(brought: Brought, source: str, language: str, *, check: bool = False) -> None:
    """What was understood, a few examples of it, what was left out and why, and what to be warned of.

    check: say instead of these warnings all that the page `dataset` would find, with what it does to the numbers.
    """
    from ragbench.old.core.language import translator
    from ragbench.old.data import doubts_of
    from ragbench.old.views.sentences.data_sets import doubts

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
    from ragbench.old.core.language import translator
    from ragbench.old.tiers.data.dataset import examine
    from ragbench.old.views.sentences.data_sets import absent, told

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
    from ragbench.old.core.settings.secrets import excerpt

    return excerpt(text, SHOWN_CHARACTERS)


COLUMNS = ("calls", "in the journal", "repairs, about", "tokens read", "tokens written", "cost", "at most")


def show(outlooks: Sequence[Outlook], budget: BudgetSettings) -> None:
    """Print one line a model, their sum, and what of it is assumed."""
    if not outlooks:
        terminal.say("no model would be asked: no call, no cost")
        return
    plans = [outlook.plan() for outlook in outlooks]
    rows = [
        (plan.judge, str(outlook.settings.model), *_numbers([plan]))
        for outlook, plan in zip(outlooks, plans, strict=True)
    ]
    if len(plans) > 1:
        rows.append(("all", "", *_numbers(plans)))
    whole = {len(plans)} if len(plans) > 1 else ()
    terminal.table(("name", "model", *COLUMNS), rows, left=("name", "model"), firm=COLUMNS, bold=whole)
    for line in _remarks(plans, budget):
        terminal.say(line)


def _numbers(plans: Sequence[Plan]) -> list[str]:
    counts = ("calls", "journaled", "repairs", "input_tokens", "output_tokens")
    known = [[count for plan in plans if (count := getattr(plan, name)) is not None] for name in counts]
    whole = [f"{sum(some):,}" if some else "—" for some in known]
    priced = [plan for plan in plans if plan.is_priced or not plan.calls]
    money = [sum(plan.money for plan in priced), sum(plan.money_at_most for plan in priced)]
    return [*whole, *(f"{amount:,.4f}" if priced else "—" for amount in money)]


def _remarks(plans: Sequence[Plan], budget: BudgetSettings) -> list[str]:
    from ragbench.old.llm.planning import SHARE_WRITTEN

    said = ["No call was made. Tokens are estimated; later questions are counted by what the lexical judge answers."]
    said += [
        f"Of a sample of questions: all of them would ask {plan.judge} about {plan.scale * plan.calls:,.0f} times"
        + (f", for about {plan.scale * plan.money:,.4f}." if plan.is_priced else ".")
        for plan in plans
        if plan.scale > 1
    ]
    if guessed := [plan.judge for plan in plans if plan.guessed]:
        assumed = f"{SHARE_WRITTEN:.0%} of max_tokens are assumed to be written"
        said.append(f"The journal knows no call of {', '.join(guessed)}: {assumed}, and repairs are not foreseen.")
    if unpriced := [plan.judge for plan in plans if plan.calls and not plan.is_priced]:
        said.append(f"No price is set for {', '.join(unpriced)} (input_price, output_price): the cost is unknown.")
    if any(plan.repairs for plan in plans):
        by_share = "estimated by the share of such calls in the journal, and contained in tokens and cost"
        said.append(f"Repairs ask once more where a reply cannot be used: {by_share}.")
    said += [
        f"{plan.judge}: {plan.unknown} answers have no stand-in; the questions that follow from them are not counted."
        for plan in plans
        if plan.unknown
    ]
    limits = (
        ("calls", sum(plan.calls + (plan.repairs or 0) for plan in plans), budget.calls),
        ("tokens", sum(plan.input_tokens + plan.output_tokens for plan in plans), budget.tokens),
        ("money", sum(plan.money for plan in plans), budget.money),
    )
    said += [
        f"The budget will not do: {name} = {limit:g} in [budget], {needed:g} expected. The run would stop there, and "
        "go on once it is raised."
        for name, needed, limit in limits
        if limit is not None and needed > limit
    ]
    return said


LEFT = ("system", "endpoint")
WORK_COLUMNS = ("passages", "questions", "timed", "to rerank", "at every run", "requests")
ALL = "all, what is shared once"


def show_work(works: Sequence[Work]) -> None:
    """Print one line a system that asks anybody, and their sum with what they share counted once."""
    asking = [work for work in works if any(task.left for task in (*work.tasks, *work.anew))]
    if not asking:
        return
    rows = [(work.name, *_cells(work.tasks, work.anew)) for work in asking]
    bold = {len(rows)} if len(rows) > 1 else ()
    if bold:
        tasks = shared(task for work in works for task in work.tasks)
        rows.append((ALL, *_cells(tasks, shared(task for work in works for task in work.anew))))
    terminal.table(("system", "endpoint", *WORK_COLUMNS), rows, left=LEFT, firm=WORK_COLUMNS, bold=bold)
    terminal.say(
        "Texts to embed, and questions to rerank, of which nothing is kept. At every run the repeats are asked anew, "
        "to see whether the same is found."
    )


def shared(tasks: Iterable[Task]) -> list[Task]:
    """All that is to be asked, once each: of equal tasks the one with most left, and of those on texts all texts."""
    equal: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        equal.setdefault(task.key, []).append(task)
    return [_one_of(same) for same in equal.values()]


def _one_of(same: Sequence[Task]) -> Task:
    most = max(same, key=lambda task: task.left)
    texts = frozenset[str]().union(*(task.texts for task in same))
    if not texts:
        return most
    return replace(most, left=len(texts), calls=math.ceil(most.calls * len(texts) / most.left), texts=texts)


def _cells(tasks: Sequence[Task], anew: Sequence[Task]) -> list[str]:
    names = dict.fromkeys(task.who for task in (*tasks, *anew) if task.what != "timed")
    parts = ("passages", "questions", "timed", "reranker")
    counts = [_sum([task for task in tasks if task.what == what]) for what in parts]
    calls = sum(task.calls for task in (*tasks, *anew))
    return [", ".join(names) or "—", *counts, _sum(anew), f"{calls:,}"]


def _sum(tasks: Sequence[Task]) -> str:
    return f"{sum(task.left for task in tasks):,}" if tasks else "—"

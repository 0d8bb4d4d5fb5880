"""Answers of all systems from given contexts: each by its own generator, as often as asked, with what it took."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragbench.old.core.types import Chunk, Question, Sample, Status
from ragbench.old.core.types.reason import kept
from ragbench.old.judge.words import words
from ragbench.old.systems import Generation, GenerationError, Generator, Shown, Task, make_generator, own_writer, within
from ragbench.old.systems.refusals import is_refusal
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.llm import Budget
    from ragbench.old.store import Store

DEFAULT_GENERATOR = "extractive"
ANSWER_COLUMNS = (
    "system", "sample", "repeat", "response", "status", "reason", "refused", "seconds", "input_tokens",
    "output_tokens", "contexts", "context_words", "contexts_cut", "characters_cut",
)  # fmt: skip

Contexts = Mapping[str, Sequence[Chunk]]
"""Question id → the chunks that an answer is to be written from, in rank order."""
Own = Mapping[str, Sequence[Generation]]
"""Question id → what a system that answers by itself gave, once for every repeat there is."""


@dataclass(frozen=True)
class Answered:
    """What the generators gave.

    table: one row a system, question and repeat (ANSWER_COLUMNS): `response` None exactly when `status` is not "ok";
    `refused`: whether it says that there is no answer; `contexts`: ids of the chunks that were shown;
    `context_words`: how many words they have; `contexts_cut`, `characters_cut`: what a limit on their length shortened
    or left out; `shown`, only where a log says it: whether the production judge let the user see the answer.
    shown: (system, question id) → the chunks as they were shown. later: (system, question id, repeat) → the same of
    repeats, where they were retrieved anew.
    generators: system → {"name", "stand_in", "own", …}; own: it answers by itself, so that its answers cannot be
    written anew from other contexts, unless it `takes_contexts`. answered_by: how many answers came with which model's
    name, where a model says it.
    """

    table: pd.DataFrame
    shown: Mapping[tuple[str, str], Shown]
    generators: Mapping[str, Mapping[str, Any]]
    later: Mapping[tuple[str, str, int], Shown] = field(default_factory=dict)

    @property
    def first(self) -> Answered:
        """The first answers alone."""
        return replace(self, table=self.table[self.table["repeat"] == 0])

    def samples(self, asked: Sequence[Question], repeat: int = 0) -> list[Sample]:
        """The answers that there are, ready to be judged: contexts as the generator saw them, references as given.

        Questions that nobody answered are not among them; `unanswered` has those.
        """
        questions = {question.id: question for question in asked}
        samples = []
        for row in self._rows(repeat, ok=True):
            if (question := questions.get(row["sample"])) is not None:
                place = (row["system"], question.id)
                contexts = self.later.get((*place, repeat), self.shown[place]).contexts
                samples.append(sample(question, row["system"], row["response"], contexts))
        return samples

    def unanswered(self, repeat: int = 0) -> dict[tuple[str, str], tuple[str, str]]:
        """(system, question id) → (status, reason) of every answer that failed."""
        return {(row["system"], row["sample"]): (row["status"], row["reason"]) for row in self._rows(repeat, ok=False)}

    def _rows(self, repeat: int, *, ok: bool) -> list[Mapping[Any, Any]]:
        table = self.table
        chosen = table[(table["repeat"] == repeat) & ((table["status"] == Status.OK.value) == ok)]
        return list(chosen.to_dict("records"))


def sample(question: Question, system: str, response: str | None, contexts: Sequence[Chunk]) -> Sample:
    """An answer as metrics take it; a reference that is empty counts as not given."""
    return Sample(
        id=question.id,
        user_input=question.text,
        response=response,
        reference=question.reference or None,
        contexts=tuple(contexts),
        language=question.language,
        cluster=question.cluster,
        system=system,
        references=question.references,
        nuggets=question.nuggets or None,
    )


def ideal_contexts(session: Session, asked: Sequence[Question]) -> dict[str, tuple[Chunk, ...]]:
    """Question id → all of its relevant chunks, highest grade first, equal grades by id; empty where none is known."""
    chunks = {chunk.id: chunk for chunk in session.dataset.chunks}
    by_question = {}
    for question in asked:
        ranked = sorted(question.relevant.items(), key=lambda each: (-each[1], each[0]))
        by_question[question.id] = tuple(chunks[name] for name, gain in ranked if gain > 0)
    return by_question


def generator_name(session: Session, system: str) -> str:
    """Who writes the answers of a system that does not answer by itself."""
    return session.settings.systems[system].generator or DEFAULT_GENERATOR


def answered(
    session: Session,
    asked: Sequence[Question],
    contexts: Mapping[str, Contexts],
    *,
    repeats: int = 1,
    length_limit: int | None = None,
    own: Mapping[str, Own] | None = None,
    themselves: Collection[str] = (),
    again: Sequence[Mapping[str, Contexts]] = (),
    unable: Mapping[str, Mapping[str, str]] | None = None,
) -> Answered:
    """Every question answered by every system of `contexts` (system → question id → chunks), `repeats` times.

    again: the contexts of the second and further repeats, where they were retrieved anew; else they are the same.
    unable: system → question id → why it got no contexts; such a question has no answer. length_limit: characters of
    contexts that an answer is written from at most, None for all; a generator's own limit holds as well. What is cut is
    counted. own: answers that a system gave by itself; they are taken as they are, unless the system has a generator
    in ragbench.toml. themselves: systems that write from the contexts by themselves.

    Replies of models are in the journal before they are used, so an interrupted run goes on where it stopped. A clock
    that is read here is read once for the same inputs. A generation that fails is a row with its status, never an empty
    answer. Raises BenchError for a generator that cannot be made or that fails throughout, ModelError when a provider
    refuses altogether or the budget is spent.
    """

    own = {} if own is None else own
    turns = [contexts, *again] if again else [contexts] * repeats
    wanted = _Wanted(asked, turns[:repeats], length_limit, {} if unable is None else unable)
    taken = {name: own[name] for name in contexts if own.get(name) and not session.settings.systems[name].generator}
    rows: list[tuple[Any, ...]] = []
    shown: dict[tuple[str, str], Shown] = {}
    later: dict[tuple[str, str, int], Shown] = {}
    generators: dict[str, dict[str, Any]] = {}
    with session.store() as store:
        made = _made(session, store, [name for name in contexts if name not in {*taken, *themselves}])
        able = {name: own_writer(name, session.settings, store, session.dataset) for name in (*taken, *themselves)}
        own_writers = {name: writer for name, writer in able.items() if writer is not None}
        made |= {name: own_writers[name] for name in themselves}
        written = _written(session, store, wanted, made)
        for name, by_question in contexts.items():
            if name in taken:
                generators[name] = {"name": name, "stand_in": False, "own": True}
                generators[name] |= {"takes_contexts": True} if name in own_writers else {}
                why = wanted.unable.get(name, {})
                answers = {q.id: list(taken[name].get(q.id) or [_not_given(why.get(q.id))])[:repeats] for q in asked}
                seen = {(q.id, repeat): Shown(tuple(by_question[q.id])) for q in asked for repeat in range(repeats)}
            else:
                generator = made[name]
                generators[name] = {
                    "name": generator.name,
                    "stand_in": generator.is_stand_in,
                    "own": False,
                    **generator.description,
                }
                answers, seen = written[name]
            unsent = Counter(word for some in answers.values() for each in some for word in each.unsent.split())
            generators[name] |= {"unsent": dict(sorted(unsent.items()))} if unsent else {}
            names = Counter(each.answered_by for some in answers.values() for each in some if each.answered_by)
            generators[name] |= {"answered_by": dict(sorted(names.items()))} if names else {}
            shown |= {(name, q.id): seen[q.id, 0] for q in asked}
            later |= {(name, *place): view for place, view in seen.items() if place[1] and again}
            rows += [
                _row(name, question, repeat, answer, seen[question.id, repeat])
                for question in asked
                for repeat, answer in enumerate(answers[question.id])
            ]
    return Answered(_table(rows), shown, generators, later)


@dataclass(frozen=True)
class _Wanted:
    """What is to be answered. turns: the contexts of each repeat. unable: see `answered`."""

    asked: Sequence[Question]
    turns: Sequence[Mapping[str, Contexts]]
    length_limit: int | None
    unable: Mapping[str, Mapping[str, str]]


_Written = tuple[dict[str, list[Generation]], dict[tuple[str, int], Shown]]
"""Answers by question, one a repeat; and what each (question, repeat) was written from."""


def _made(session: Session, store: Store, names: Sequence[str]) -> dict[str, Generator]:
    """The generator of each system; systems that name the same one share it, and all spend from one budget."""
    from ragbench.old.llm import open_budget

    budget = open_budget(session.settings.budget, store.journal)
    wanted = dict.fromkeys(generator_name(session, name) for name in names)
    by_name = {name: opened_generator(session, store, name, budget) for name in wanted}
    return {name: by_name[generator_name(session, name)] for name in names}


def opened_generator(session: Session, store: Store, name: str, budget: Budget) -> Generator:
    """The generator of that name, what it pays for kept in the journal. Raises BenchError where it cannot be made."""
    from ragbench.old.store import server
    from ragbench.old.store.reply_journal import DatabaseJournal

    paid = session.settings.generators[name].kind == "openai"
    journal = DatabaseJournal(store.engine, lambda: server.start(session.settings)) if paid else None
    try:
        return make_generator(name, session.settings, journal=journal, budget=budget)
    except GenerationError as error:
        raise BenchError(str(error)) from None


def _written(session: Session, store: Store, wanted: _Wanted, made: Mapping[str, Generator]) -> dict[str, _Written]:
    written: dict[str, _Written] = {}
    with session.progress("answering", len(made) * len(wanted.asked) * len(wanted.turns)) as progress:
        for name, generator in made.items():
            limits = [bound for bound in (wanted.length_limit, generator.max_context_characters) if bound is not None]
            limit, unable = min(limits, default=None), wanted.unable.get(name, {})
            seen = {
                (q.id, repeat): within(turn[name][q.id], limit)
                for q in wanted.asked
                for repeat, turn in enumerate(wanted.turns)
            }
            tasks = [
                Task(q, seen[q.id, repeat].contexts, repeat)
                for q in wanted.asked
                if q.id not in unable
                for repeat in range(len(wanted.turns))
            ]
            try:
                done = generator.generate(tasks, progress=progress)
            except GenerationError as error:
                raise BenchError(str(error)) from None
            if not generator.keeps_readings and tasks:
                done = with_kept_seconds(store, generator, tasks, done)
            answers: dict[str, list[Generation]] = {q.id: [] for q in wanted.asked}
            for task, generation in zip(tasks, done, strict=True):
                answers[task.question.id].append(generation)
            for identifier, reason in unable.items():
                answers[identifier] = [Generation.failed(Status.MISSING_FIELD, reason)] * len(wanted.turns)
            written[name] = answers, seen
    return written


def with_kept_seconds(
    store: Store, generator: Generator, tasks: Sequence[Task], done: Sequence[Generation]
) -> list[Generation]:
    """The same answers with the seconds that were read when these tasks were first done."""
    import numpy as np

    about = {"what": "seconds of answers", "generator": dict(generator.description), "tasks": _digest(tasks)}
    seconds = np.array([np.nan if generation.seconds is None else generation.seconds for generation in done])
    kept = store.readings(about, lambda: {"seconds": seconds})["seconds"]
    return [
        replace(generation, seconds=float(taken) if np.isfinite(taken) else None)
        for generation, taken in zip(done, kept, strict=True)
    ]


def _digest(tasks: Sequence[Task]) -> str:
    plain = [[t.question.id, t.question.text, [c.text for c in t.contexts], t.repeat] for t in tasks]
    return hashlib.sha256(json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def _not_given(why: str | None) -> Generation:
    return Generation.failed(Status.MISSING_FIELD, why or "the system gave no answer to this question")


def _row(name: str, question: Question, repeat: int, generation: Generation, shown: Shown) -> tuple[Any, ...]:
    return (
        name, question.id, repeat, generation.answer, generation.status.value, kept(generation.reason),
        generation.answer is not None and is_refusal(generation.answer), generation.seconds, generation.input_tokens,
        generation.output_tokens,
        [chunk.id for chunk in shown.contexts], sum(len(words(chunk.text)) for chunk in shown.contexts), shown.cut,
        shown.characters_cut, generation.shown,
    )  # fmt: skip


def _table(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(rows, columns=[*ANSWER_COLUMNS, "shown"])
    if table["shown"].isna().all():
        table = table.drop(columns="shown")
    else:
        table["shown"] = table["shown"].astype("boolean")
    types: dict[str, Any] = {
        "repeat": "int64",
        "refused": bool,
        "seconds": float,
        "context_words": "int64",
        "contexts_cut": "int64",
        "characters_cut": "int64",
    }
    table = table.astype({**types, "input_tokens": "Int64", "output_tokens": "Int64"})
    table["response"] = table["response"].astype(object).where(table["response"].notna(), None)
    return table

"""`ragbench draft`, `ragbench drafts`, `ragbench form`: first questions to a base that has none, and their worth."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.cli.console.options import counted
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending

if TYPE_CHECKING:
    from ragbench.old.core.settings import Settings
    from ragbench.old.core.types import Judge
    from ragbench.old.data import ChunkRecord, QuestionRecord, Records
    from ragbench.old.extras.testsets.drafting import Drafting
    from ragbench.old.extras.testsets.kinds import Task
    from ragbench.old.llm import Journal, Outlook, Tally


SHOWN = 5  # enough to see whether they read like questions
TOLD = ("id", "question", "ground_truth_answer", "source", "question_source", "chunk_id", "chunk_text",
        "confluence_url", "relevant_chunk_ids", "relevant_urls")  # fmt: skip
MARKS = ("is_question_ok", "is_answer_ok", "is_chunk_ok", "notes")
"""What people fill in: 1 or 0, or nothing while they have not said."""


def draft(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    questions: Annotated[int, typer.Option("--questions", "-q", help="How many.")] = 120,
    judge: Annotated[
        str, typer.Option("--judge", help="A model of ragbench.toml that writes them, and checks what it wrote.")
    ] = "",
    kinds: Annotated[
        str,
        typer.Option(
            help="With --judge: kinds with their parts, one_fact=4,comparison=1; several_passages, colloquial, "
            "misspelt, follow_up and unanswerable are the others. All if not given."
        ),
    ] = "",
    styles: Annotated[
        str, typer.Option(help="With --judge: how is asked: plain, keywords, polite, novice, expert. All if not given.")
    ] = "",
    overlap: Annotated[
        float, typer.Option(help="With --judge: share of a question's words that may stand in a row in its passage.")
    ] = 0.5,
    words: Annotated[float, typer.Option(help="Without: mean length of a question, in words.")] = 4.0,
    memory: Annotated[
        str,
        typer.Option(
            help="Without: words that come to mind: popular in the passage, discriminative in the base, or both."
        ),
    ] = "both",
    noise: Annotated[float, typer.Option(help="Without: share of words that come from elsewhere in the base.")] = 0.1,
    limit: options.Limit = None,
    seed: options.Seed = 0,
    plan: options.PlanOnly = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show them; write nothing.")] = False,
    trusted: consent.Trust = False,
) -> None:
    """Draft questions to a base: by a language model that reads its passages, or as known items, without any model.

    With --judge a model writes questions of several kinds and styles, spread over topics and pages, each with an answer
    and quotes that stand word for word in the passages. A draft is kept that is answered by its passages and not
    without them, is understood alone, copies no long run of words and repeats no other question; what is dropped, and
    why, stands on the page dataset. Drafts are marked on every page until somebody has reviewed them.

    Without --judge they are known items: words of a passage, by which it has to be found again. They flatter a search
    that matches words (Azzopardi, de Rijke & Balog 2007), so that pages withhold the verdict between systems that
    match by different things.

    The same command goes on where it was interrupted; questions that are there already stay as they are.

    Example: ragbench draft kb --questions 120 && ragbench run tier1_retrieval --dataset kb
    Example: ragbench draft kb --judge mini --questions 120 --kinds one_fact=3,unanswerable=1 --plan
    """
    from ragbench.old import data
    from ragbench.old.core import trust

    if memory not in ("popular", "discriminative", "both"):
        raise typer.BadParameter(f"{memory!r}: popular, discriminative or both is expected", param_hint="--memory")
    if plan:
        context.with_resource(trust.planned())
    folder = trust.folder_of("data_folder")
    place, language, records = data.records_named(name, folder)
    if judge:
        asked = {"kinds": kinds, "styles": styles, "overlap": overlap, "seed": seed, "questions": questions}
        _by_model(place, language, records, judge, asked, limit, plan=plan, dry_run=dry_run, trusted=trusted)
        return
    from ragbench.old.data.subsets import drawn
    from ragbench.old.extras.testsets import known_items

    if plan:
        terminal.say("no model would be asked: no call, no cost")
        return
    recall = known_items.Recall(words, cast(known_items.Memory, memory), noise)
    distinct = _without_copies(records.chunks)
    most = known_items.MOST_OF_ONE * len(distinct)
    made = known_items.draft(distinct, min(questions, most), recall, seed)
    if not made:
        raise data.DatasetError(
            f"no question was drafted: none of {counted(len(distinct), 'passage')} has words that tell it from the "
            f"others. ragbench run dataset --dataset {name} needs no questions; ragbench load questions FILE "
            f"--name asked --chunks-from {name} brings people's"
        )
    if most < questions:
        terminal.say(
            f"{most} questions instead of {questions}: more than {most // len(distinct)} to a passage tell nothing new",
            colour="yellow",
        )
    made = made if limit is None else drawn(made, limit, lambda question: question.id)
    for question in made[:SHOWN]:
        terminal.say(f"{question.id}  {question.text}  [{next(iter(question.relevant))}]")
    if len(made) > SHOWN:
        terminal.say(f"… {len(made) - SHOWN} more")
    data.add(f"{place.name}:{language}", folder, data.Records(questions=made), dry_run=dry_run)
    if dry_run:
        terminal.say("nothing was written (--dry-run)")
        return
    passages = len({passage for question in made for passage in question.relevant})
    told = f" to {counted(passages, 'passage')}" if passages < len(made) else ""
    terminal.say(
        f"{len(made)} known-item questions{told} are in {place.name}. "
        f"Next: ragbench run tier1_retrieval --dataset {name}"
    )


def _without_copies(passages: Sequence[ChunkRecord]) -> list[ChunkRecord]:
    """The first of each group of passages that are nearly the same, as a question to one is a question to all; the
    others are counted and named."""
    from ragbench.old.tiers.data.copies import groups

    first = groups([passage.text for passage in passages])
    copies = [(passages[place].id, passages[leader].id) for place, leader in enumerate(first) if place != leader]
    if copies:
        named = "; ".join(f"{copy} of {original}" for copy, original in copies[:SHOWN])
        more = f"; {len(copies) - SHOWN} more" if len(copies) > SHOWN else ""
        terminal.say(
            f"{counted(len(copies), 'passage')} left out, near copies of others: {named}{more}", colour="yellow"
        )
    return [passage for place, passage in enumerate(passages) if first[place] == place]


def _by_model(
    place: Path,
    language: str,
    records: Records,
    judge: str,
    asked: dict[str, Any],
    limit: int | None,
    *,
    plan: bool,
    dry_run: bool,
    trusted: bool,
) -> None:
    """Draft by a language model, and put what passed into the data set."""
    from ragbench.old import data
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings, trust
    from ragbench.old.data.subsets import drawn
    from ragbench.old.extras.testsets import candidates, drafting, kinds
    from ragbench.old.judge import asks_nobody
    from ragbench.old.llm import run
    from ragbench.old.tiers.scoring.judge_assignment import in_database

    if asks_nobody(judge):
        raise typer.BadParameter(
            f"{judge} asks no model, and writes no questions: name a table [judges.NAME]; without --judge known items "
            "are drafted",
            param_hint="--judge",
        )
    filters = drafting.Filters(asked["overlap"], language)
    shares, styles = kinds.shares_of(asked["kinds"]), kinds.styles_of(asked["styles"])
    spread = kinds.Spread(_without_copies(records.chunks), asked["seed"])
    drafting.require_language(spread.passages, language)
    tasks = kinds.tasks_of(shares, styles, min(asked["questions"], spread.most), asked["seed"])
    if len(tasks) < asked["questions"]:
        terminal.say(
            f"{len(spread.passages)} passages bear {spread.most} questions, {kinds.MOST_OF_ONE} each: "
            f"{len(tasks)} of {asked['questions']} are drafted",
            colour="yellow",
        )
    whole = len(tasks)
    tasks = tasks if limit is None else drawn(tasks, limit, lambda task: task.id, lambda task: task.kind)
    there = {record.id for record in (*records.questions, *records.dialogues)}
    known = settings.load()
    consent.required(trust.named(), trusted)
    left = [task for task in tasks if task.id not in there]

    def by(opened: Judge) -> drafting.Drafting:
        return drafting.Drafting(opened, records.chunks, spread, filters, records.questions, dry_run=plan)

    with in_database(known) as journal:
        made, outlooks, tally = run(_asked(by, left, whole, judge, known, journal, language))
    if plan:
        outputs.show(outlooks, known.budget)
        terminal.say("A draft that is dropped is made anew, twice at most: as much more as the filters drop.")
        return
    _tell(made, left, len(tasks) - len(left))
    outputs.paid(tally)
    if dry_run:
        terminal.say("nothing was written (--dry-run)")
        return
    kept = [candidate.record() for candidate in made.kept]
    if kept:
        more = data.Records(
            questions=[record for record in kept if isinstance(record, data.QuestionRecord)],
            dialogues=[record for record in kept if isinstance(record, data.Dialogue)],
        )
        data.add(f"{place.name}:{language}", place.parent, more)
    candidates.keep(place, language, made.made)
    label = f"{place.name}:{language}"
    if left and not kept:
        terminal.say(f"no draft passed: {label} has no new question", err=True)
        raise typer.Exit(Ending.UNMEASURED)
    told = f"{len(kept)} drafted questions are in {place.name}, none of them reviewed. " if kept else ""
    terminal.say(f"{told}Next: ragbench run --dataset {label}")


async def _asked(
    by: Callable[[Judge], Drafting],
    tasks: Sequence[Task],
    whole: int,
    judge: str,
    known: Settings,
    journal: Journal,
    language: str,
) -> tuple[Drafting, list[Outlook], Tally]:
    """The drafts, what the judge would be asked where this is a plan, and what it took."""
    from ragbench.old.extras.testsets.drafting import watched

    async with watched("drafting", len(tasks), judge, known, journal, language) as (opened, progress):
        made = by(opened.judges[0])
        made.advance = lambda: progress(1)
        await made.run(tasks, whole)
        return made, await opened.outlooks(), opened.tally


def _tell(made: Drafting, tasks: Sequence[Task], before: int) -> None:
    """How many of each kind were kept, what dropped the others, and some that were kept."""
    from ragbench.old.extras.testsets.candidates import FILTERS
    from ragbench.old.extras.testsets.drafting import summary

    if before:
        terminal.say(f"{before} questions of this draft are in the data set already, and stay as they are")
    counts = summary(made.made)
    dropped = [name for name in FILTERS if any(counted.get(name) for counted in counts.values())]
    asked = Counter(task.kind for task in tasks)
    rows = [
        (
            kind,
            str(number),
            str(counts.get(kind, {}).get("kept", 0)),
            *(str(counts.get(kind, {}).get(name, 0)) for name in dropped),
        )
        for kind, number in asked.items()
    ]
    if rows:
        names = [name.replace("_", " ") for name in dropped]
        terminal.table(("kind", "wanted", "kept", *names), rows, left=("kind",))
    for candidate in made.kept[:SHOWN]:
        terminal.say(f"{candidate.id}  {candidate.question}  [{', '.join(candidate.passages)}]")
    lost = [candidate for candidate in made.made if candidate.dropped is not None]
    if dropped and lost:
        terminal.say(f"dropped first: {lost[0].dropped} ({lost[0].why}): {lost[0].question}")


def drafts(
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    run_name: Annotated[
        str, typer.Option("--run", help="The run whose Tier 1 measured them: a name, latest, or a folder.")
    ] = "latest",
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="By which systems are ordered; the primary if none.")
    ] = "",
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """Say how far drafted questions may be believed: whether they order systems as questions of people do.

    Questions that nobody has reviewed, and known items, are held against all others of the same data set, on the
    systems of one run: Kendall's τ of the systems' order with its interval, how much higher or lower each system is,
    how long questions are and how much of them stands in their passages, and from how many drafts on their order of
    systems holds with a chance of 95 %.

    The next page `dataset` says it, too.

    Example: ragbench run tier1_retrieval -d kb && ragbench drafts kb
    """
    from ragbench.old import data
    from ragbench.old.core import trust
    from ragbench.old.core.language import translator
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.core.parts import Value, spoken
    from ragbench.old.data.records import KNOWN_ITEM
    from ragbench.old.extras.testsets import examined, pooling
    from ragbench.old.report.keeping import kept

    dataset = data.load(name, trust.folder_of("data_folder"))
    made = pooling.retrieval_of(run_name, dataset.label)
    label = metric or str(made.facts["primary"])
    rows = made.scores[made.scores["metric"] == label]
    if rows.empty:
        there = ", ".join(dict.fromkeys(made.scores["metric"]))
        raise typer.BadParameter(f"{label!r} was not measured; measured are {there}", param_hint="--metric")
    asked = {question.id: question for question in dataset.questions}
    drafted = {
        name for name, question in asked.items() if question.draft == "unreviewed" or question.kind == KNOWN_ITEM
    }
    wide = rows.pivot(index="sample", columns="system", values="value")
    sides = [
        {str(system): column.to_numpy(float) for system, column in wide[wide.index.isin(names)].items()}
        for names in (drafted, asked.keys() - drafted)
    ]
    belief = examined.compared(*sides, seed=seed)
    texts = {chunk.id: chunk.text for chunk in dataset.chunks}
    words = [
        examined.wording([question for name, question in asked.items() if (name in drafted) is chosen], texts)
        for chosen in (True, False)
    ]
    told_of_all = {**belief.as_json(), "metric": label, "run": kept.pages_of(run_name).parent.name, "wording": words}
    place = data.place_of(dataset.name, trust.folder_of("data_folder"))
    examined.keep(place, dataset.language, told_of_all)
    if as_json:
        terminal.dump(without_nan(told_of_all), indent=2)
        return
    tau = Value(belief.tau, belief.low, belief.high, digits=2)
    terminal.say(
        f"On {label}, Kendall's τ of {len(belief.systems)} systems under {belief.n} drafts and {belief.of_people} "
        f"other questions is {spoken(translator('en')).phrase(tau)}.",
        bold=True,
    )
    held = "no number of drafts holds their order" if belief.needed is None else f"from {belief.needed:,} drafts on"
    terminal.say(f"The drafts' order of systems holds with a chance of 95 %: {held}.")
    levels = [
        (system, f"{belief.drafted[system]:.3f}", f"{belief.people[system]:.3f}", f"{belief.levels[system]:+.3f}")
        for system in belief.systems
    ]
    terminal.table(("system", "drafts", "others", "difference"), levels, left=("system",))
    texts_of = ("words", "overlap", "different")
    titles = ("questions", "words", "share in their passages", "different words")
    terminal.table(
        titles,
        [
            (who, *(f"{told[key]:.2f}" for key in texts_of))
            for who, told in zip(("drafts", "others"), words, strict=True)
        ],
        left=titles[:1],
    )


def form(
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    to: Annotated[Path, typer.Option("--to", help="The CSV file that is written; one that is there is refused.")],
) -> None:
    """Write the questions of a data set as a form in which people say what is in order: CSV, no mark filled in.

    is_question_ok, is_answer_ok and is_chunk_ok take 1 or 0; notes take words; an empty mark is "not answered yet".
    `ragbench load questions` brings it back, without what got a 0.

    Example: ragbench form campus:en --to annotated.csv
    """
    from ragbench.old import data
    from ragbench.old.core import trust
    from ragbench.old.core.folders import write

    if to.exists():
        raise typer.BadParameter(f"{to} is there already: marks may stand in it; name another", param_hint="--to")
    place, _language, records = data.records_named(name, trust.folder_of("data_folder"))
    write(to, marking_form(records.questions, {passage.id: passage for passage in records.chunks}))
    back = f"ragbench load questions {shlex.quote(str(to))} --name {place.name}-checked --chunks-from {name}"
    terminal.say(f"{to}: {len(records.questions)} questions, no mark filled in. When people have marked it: {back}")


def marking_form(questions: Sequence[QuestionRecord], passages: Mapping[str, ChunkRecord]) -> str:
    """CSV with a row a question, the best labelled passage beside it, and no mark filled in.

    A text that a spreadsheet would take for a formula has an apostrophe before it; `ragbench load questions` takes it
    off again.
    """
    from ragbench.old.data.cells import guarded

    text = io.StringIO()
    writer = csv.DictWriter(text, [*TOLD, *MARKS], restval="", lineterminator="\r\n")
    writer.writeheader()
    for question in questions:
        best = max(question.relevant, key=lambda name: question.relevant[name], default="")
        passage = passages.get(best)
        row = {
            "id": question.id,
            "question": question.text,
            "ground_truth_answer": question.reference or "",
            "source": question.source or "",
            "question_source": question.kind or "",
            "chunk_id": best,
            "chunk_text": passage.text if passage else "",
            "confluence_url": (passage.url if passage else None) or "",
            "relevant_chunk_ids": json.dumps([*question.relevant], ensure_ascii=False),
            "relevant_urls": json.dumps([*question.relevant_urls], ensure_ascii=False),
        }
        writer.writerow({name: guarded(value) for name, value in row.items()})
    return text.getvalue()

"""`ragbench pool`: what all systems found, judged by people or by a model; a new system asks only for what is new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending

if TYPE_CHECKING:
    from ragbench.old.core.measurement import Measurement
    from ragbench.old.core.settings import Settings
    from ragbench.old.data import ChunkRecord, QuestionRecord
    from ragbench.old.extras.testsets.pooling import Judgement, Pair, Pool
    from ragbench.old.extras.testsets.powered import Drawn
    from ragbench.old.llm import Journal, Outlook, Tally


def pool(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    depth: Annotated[int, typer.Option(help="So many of the first passages of each system.")] = 10,
    run_name: Annotated[
        str, typer.Option("--run", help="The run whose Tier 1, or 3, retrieved them: a name, latest, or a folder.")
    ] = "latest",
    systems: Annotated[str, typer.Option("--systems", "-s", help="Of these alone, comma-separated; all if none.")] = "",
    judge: Annotated[
        str, typer.Option("--judge", help="A model of ragbench.toml that grades what is not judged.")
    ] = "",
    sheet: Annotated[
        Path | None,
        typer.Option(help="A CSV file for a person to grade what is not judged, 0 to 3.", callback=options.file),
    ] = None,
    take: Annotated[Path | None, typer.Option(help="Take the grades in from such a file.")] = None,
    annotator: Annotated[str, typer.Option(help="Whose grades a file has.")] = "",
    again: Annotated[bool, typer.Option("--again", help="A sheet also has what a judge graded.")] = False,
    active: Annotated[
        bool,
        typer.Option(
            "--active", help="A sheet has some --limit questions, drawn by where the judge's doubt tells most."
        ),
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="What people would say, from their grades of some questions.")
    ] = False,
    sample: Annotated[float, typer.Option(help="Judge this share of the pool; infAP tells the rest.")] = 1.0,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Passages that the data set does not have become passages of it.")
    ] = False,
    level: Annotated[int, typer.Option(help="The smallest grade that counts as relevant.", min=1, max=3)] = 2,
    limit: options.Limit = None,
    plan: options.PlanOnly = False,
    trusted: consent.Trust = False,
) -> None:
    """Pool what systems retrieved, say what of it nobody has judged, and have it judged.

    The pool is the union of the first passages of all systems of a run. Grades are UMBRELA's: 3 holds the exact answer,
    2 an answer among other things, 1 is on the topic, 0 is not. They are kept beside the data set, people's before a
    judge's; its own labels stay as they are. Passages of --level and above become relevant, others irrelevant, so that
    the next run reads them; what a model graded is said wherever its numbers are.

    With `--sheet FILE --again --limit 50` people grade the pools of 50 questions drawn evenly, whatever a judge said;
    `--estimate` corrects the judge by them, and gives nDCG, recall and MRR as people would have them, with intervals.
    `--active` in the place of `--again` draws about as many by chance, likelier where one grade more or less of the
    judge, or another judge's, moves the systems' values; the chances are kept, and `--estimate` reckons with them.

    `--adopt` takes what systems returned into the knowledge base: of questions without passages, that a service or a
    function of yours answered in tier3_end_to_end, this is the base, as far as it is seen.

    Example: ragbench pool kb --depth 10
    Example: ragbench pool kb --judge mini --plan
    Example: ragbench pool kb --sheet grades.csv && ragbench pool kb --take grades.csv --annotator anna
    """
    from ragbench.old import data
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings, trust
    from ragbench.old.data.subsets import drawn
    from ragbench.old.data.writing import add
    from ragbench.old.extras.testsets import pooling, powered
    from ragbench.old.judge import asks_nobody
    from ragbench.old.llm import run
    from ragbench.old.tiers.basics.choices import parted
    from ragbench.old.tiers.scoring.judge_assignment import in_database

    if not 0 < sample <= 1:
        raise typer.BadParameter(f"{sample:g}: above 0 and at most 1 is expected", param_hint="--sample")
    if (take is None) != (not annotator.strip()):
        raise typer.BadParameter("--take needs --annotator, whose grades they are, and --annotator needs --take")
    if active and (sheet is None or limit is None):
        raise typer.BadParameter(
            "--active draws questions for people: --sheet FILE and --limit N", param_hint="--active"
        )
    if plan:
        context.with_resource(trust.planned())
    folder = trust.folder_of("data_folder")
    place, language, records = data.records_named(name, folder)
    label = f"{place.name}:{language}"
    made = pooling.retrieval_of(run_name, label)
    passages = {chunk.id: chunk.text for chunk in records.chunks}
    adopted: list[ChunkRecord] = []
    if adopt:
        made, adopted = pooling.seen(made, passages)
        passages |= {chunk.id: chunk.text for chunk in adopted}
    pooled = pooling.Pool.of(made, depth, records.questions, passages, parted(systems))
    for what, count in pooled.strange.items():
        more = "" if adopt or what != "passage" else "; --adopt makes passages of it of those that have a text"
        terminal.say(f"left out: {count} results whose {what} the data set does not have{more}", colour="yellow")
    judgements = pooling.read(place, language)
    gone = [j for j in judgements if j.passage not in passages or j.question not in {q.id for q in records.questions}]
    if gone:
        terminal.say(f"left out: {len(gone)} judgements of passages or questions that are gone", colour="yellow")
        judgements = [judgement for judgement in judgements if judgement not in gone]
    known = pooling.known_grades(records.questions, judgements)
    if estimate:
        _estimate(made, pooled, records.questions, judgements, powered.read(place, language), level)
        return
    chosen = pooled.sampled(sample)
    if again or active:
        known = pooling.known_grades((), [judgement for judgement in judgements if judgement.people])
    left = [pair for pair in pooled.pairs if pair in chosen and pair not in known]
    if active:
        asked = _drawn(made, pooled, records.questions, judgements, (place, language), limit or 0, level)
        left = [pair for pair in left if pair[0] in asked]
    elif limit is not None:
        left = drawn(left, limit, lambda pair: pair[0])
    texts = {question.id: question.text for question in records.questions}
    new: list[Judgement] = []
    if take is not None:
        new = _taken(take, annotator.strip(), pooled.pairs)
    elif sheet is not None:
        _write_sheet(sheet, left, texts, passages)
        terminal.say(f"{len(left)} passages to be graded are in {sheet}. Then: ragbench pool {name} --take {sheet}"
                     " --annotator NAME")  # fmt: skip
        return
    elif judge:
        if not asks_nobody(judge):
            consent.required(trust.named(), trusted)
        with in_database(settings.load()) as journal:
            new, lost, outlooks, tally = run(_graded(judge, left, texts, passages, language, journal, settings.load()))
        if plan:
            outputs.show(outlooks, settings.load().budget)
            return
        outputs.paid(tally)
        for pair, why in list(lost.items())[:3]:
            terminal.say(f"not graded: {pair[1]} for {pair[0]}: {why}", colour="yellow")
        if lost:
            terminal.say(f"{len(lost)} of {len(left)} have no grade, and stay unjudged", colour="yellow")
    _tell(pooled, pooling.known_grades(records.questions, [*judgements, *new]), level)
    if not new:
        if left and not judge:
            terminal.say(
                f"{len(left)} passages are not judged. Next: ragbench pool {name} --judge NAME, or --sheet FILE"
            )
        elif left:
            raise typer.Exit(Ending.UNMEASURED)
        return
    pooling.keep(place, language, new)
    out = [pair for pair in pooled.pairs if pair not in chosen and pair not in known]
    changed = pooling.labelled(records.questions, [*judgements, *new], out, level=level)
    add(label, folder, data.Records(chunks=adopted, questions=changed), replace=True)
    told = f" {len(adopted)} passages became the data set's." if adopted else ""
    terminal.say(f"{len(new)} grades are kept, and {len(changed)} questions of {label} have new labels.{told} "
                 f"Next: ragbench run {pooling.NOTEBOOK} -d {label}")  # fmt: skip


def _drawn(
    made: Measurement,
    pooled: Pool,
    questions: Sequence[QuestionRecord],
    judgements: Sequence[Judgement],
    place: tuple[Path, str],
    number: int,
    level: int,
) -> set[str]:
    """The questions of the last drawing as long as people have not graded all of them, else of a new one."""
    from ragbench.old.extras.testsets import powered

    graded = powered.Graded.of(pooled, questions, judgements, level=level)
    last = powered.read(*place)
    waiting = {record.question for record in last if record.chosen} & {*pooled.found_by} - {*graded.labelled}
    if waiting:
        terminal.say(f"the last drawing has {len(waiting)} questions that people have not graded: these again")
        return waiting
    doubts = powered.doubts(made, pooled, questions, judgements, level=level)
    if not doubts:
        raise typer.BadParameter(
            "no judge has graded the whole pool of any question: --judge NAME first", param_hint="--active"
        )
    known = {*graded.labelled} & doubts.keys()
    new = powered.drawn(doubts, known, number, max((record.round for record in last), default=0) + 1)
    powered.keep(*place, new)
    chosen = {record.question for record in new if record.chosen} - known
    low, high = (f(record.chance for record in new if record.question not in known) for f in (min, max))
    terminal.say(
        f"{len(chosen)} questions of {len(new) - len(known)} are drawn, with chances from {low:.2f} to {high:.2f}"
    )
    return chosen


def _estimate(
    made: Measurement,
    pooled: Pool,
    questions: Sequence[QuestionRecord],
    judgements: Sequence[Judgement],
    drawing: Sequence[Drawn],
    level: int,
) -> None:
    """A line a system and metric: as people would have it, people's grades alone, the judge's alone."""
    from ragbench.old.core.language import translator
    from ragbench.old.core.parts import Value, spoken
    from ragbench.old.extras.testsets import powered

    style, rows = spoken(translator("en")), []
    graded = {*powered.Graded.of(pooled, questions, judgements, level=level).labelled}
    if waiting := sum(record.chosen and record.question not in graded for record in drawing):
        terminal.say(
            f"{waiting} questions that were drawn are not graded by people: they count as like the rest of the drawn",
            colour="yellow",
        )
    for mean in powered.estimates(made, pooled, questions, judgements, drawing=drawing, level=level):
        own = mean.estimate
        said = "the judge tells nothing" if own.method == "people" else ""
        values = Value.of(own), Value(mean.by_people, *mean.people), Value(mean.by_judge, *mean.judge)
        rows.append((mean.system, mean.metric, *map(style.phrase, values), str(own.n), said))
    titles = ("system", "metric", "as people would have it", "people alone", "judge alone", "graded by people", "")
    terminal.table(titles, rows, left=titles[:2])


async def _graded(
    judge: str,
    left: Sequence[Pair],
    questions: dict[str, str],
    passages: dict[str, str],
    language: str,
    journal: Journal,
    known: Settings,
) -> tuple[list[Judgement], dict[Pair, str], list[Outlook], Tally]:
    from ragbench.old.extras.testsets import pooling
    from ragbench.old.extras.testsets.drafting import watched

    async with watched("grading", len(left), judge, known, journal, language) as (opened, progress):
        made, lost = await pooling.graded(opened.judges[0], left, questions, passages, language, lambda: progress(1))
        return made, lost, await opened.outlooks(), opened.tally


def _tell(pooled: Any, judged: dict[Pair, float], level: int) -> None:
    """Who found what, how much of it is judged, and what only one system found."""
    rows = [
        (system, f"{whole:,}", f"{done / whole:.0%}", f"{alone:,}", f"{hidden:,}")
        for system, whole, done, alone, hidden in pooled.by_system(
            {pair: grade if grade >= level or grade == 0 else 0.0 for pair, grade in judged.items()}
        )
    ]
    titles = ("system", "pooled", "judged", "found by it alone", "of these relevant")
    terminal.table(titles, rows, left=titles[:1])


COLUMNS = ("item", "question", "passage", "grade")


def _write_sheet(path: Path, left: Sequence[Pair], questions: dict[str, str], passages: dict[str, str]) -> None:
    """The pairs without a grade, for a spreadsheet: no system and no rank is in it."""
    import csv
    import io

    from ragbench.old.core.folders import write
    from ragbench.old.data.cells import guarded

    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for question, passage in left:
        rows.writerow((_code((question, passage)), guarded(questions[question]), guarded(passages[passage]), ""))
    write(path, text.getvalue().encode("utf-8-sig"))


def _taken(path: Path, annotator: str, pairs: Sequence[Pair]) -> list[Judgement]:
    """A person's grades. Raises DatasetError, naming file, line and value, for what is none of 0 to 3, and for rows of
    another pool."""
    from ragbench.old.data.files import DatasetError
    from ragbench.old.data.rows import read_rows
    from ragbench.old.extras.testsets.pooling import Judgement
    from ragbench.old.judge.relevance import HIGHEST

    known, made = {_code(pair): pair for pair in pairs}, []
    for place, row in read_rows(path):
        text = str(row.get("grade") or "").strip().removesuffix(".0")
        if not text:
            continue
        if not text.isdecimal() or int(text) > HIGHEST:
            raise DatasetError(f"{place}: grade = {text!r}: a whole number from 0 to {HIGHEST} is expected, or nothing")
        pair = known.get(str(row.get("item", "")).strip())
        if pair is None:
            raise DatasetError(f"{place}: item = {row.get('item')!r} is not in this pool; the file is of another one")
        made.append(Judgement(question=pair[0], passage=pair[1], grade=int(text), by=annotator, people=True))
    return made


def _code(pair: Pair) -> str:
    """A short name that tells nothing of who found it."""
    from hashlib import sha256

    return sha256("\0".join(pair).encode()).hexdigest()[:12]

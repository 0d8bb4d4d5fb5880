"""`ragbench score`: a table of answers, measured; with an exit code for pipelines."""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.cli.run import tell
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending, worst
from ragbench.old.core.facts import Facts

if TYPE_CHECKING:
    from ragbench.old.core.measurement import Measurement
    from ragbench.old.core.metric import Metric
    from ragbench.old.core.settings import GateSettings, Settings
    from ragbench.old.core.types import Sample
    from ragbench.old.data.cells import Forms
    from ragbench.old.llm import Outlook, Tally
    from ragbench.old.tiers.scoring.ledger import Survey
    from ragbench.old.tiers.scoring.measure import Asked
    from ragbench.old.tiers.scoring.scored_answers import Scores


def score(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=options.source,
            metavar="FILE...",
            help="Answers: .jsonl, .json, .csv, .xlsx or .parquet, one sample a row; of several each is one system's.",
        ),
    ],
    metrics: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric; repeat it. All that the fields allow if none.")
    ] = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            help="A criterion as a sentence, asked of a judge; 'polite=Is it polite?' names it. Repeat it.",
        ),
    ] = None,
    scale: Annotated[
        str, typer.Option(help="Of the criteria: yes/no; 1,5; or names of levels from the worst to the best: bad,good.")
    ] = "yes/no",
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="A judge of ragbench.toml, or lexical; METRIC=JUDGE judges that metric alone. Repeat it for a panel.",
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option(help="An embedder of ragbench.toml; as it says if not set, else a model on this machine.")
    ] = "",
    language: Annotated[Literal["en", "ru"] | None, typer.Option(help="Of prompts and explanations.")] = None,
    aggregate: Annotated[
        str | None,
        typer.Option(
            help="How several judges become one: mean, median, minimum, maximum, majority, binary_majority, consensus; "
            "as in ragbench.toml if not set."
        ),
    ] = None,
    tolerance: Annotated[float | None, typer.Option(help="For consensus: how far judges may be apart.")] = None,
    quorum: Annotated[
        int | None,
        typer.Option(help="How many judges must have measured a sample; all of them if not set.", min=1),
    ] = None,
    json_file: options.JsonFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for a page (rag_metrics.html), summary.json, scores.csv and scores.parquet.",
            callback=options.folder,
        ),
    ] = None,
    baseline: Annotated[
        str, typer.Option(help="With several systems in the file: the one the others are compared with.")
    ] = "",
    primary: Annotated[
        str,
        typer.Option(help="The metric that systems are compared on first, in a family of its own; the first if none."),
    ] = "",
    gates: Annotated[
        list[str] | None, typer.Option("--gate", help="'faithfulness>=0.8': exit code 0 if its interval keeps it.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print every metric; without it the primary one and seven more.")
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            help="The id of a sample: why it has its scores, of several judges each one's verdicts. Repeat it."
        ),
    ] = None,
    column: options.Columns = None,
    limit: options.Limit = None,
    confidence: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    cluster: options.Cluster = "",
    plan: options.PlanOnly = False,
    trusted: consent.Trust = False,
) -> None:
    """Score a table of answers: a value with its reason for every sample, and means with intervals.

    Columns: question, answer, reference, contexts, whatever they are called, вопрос and ответ too, and id, system,
    cluster where they matter; a column that is not read is named, and --column says what it is. Fields that a metric
    needs and no sample has are named before anything is paid for. Several systems, in a column `system`, in a column
    of answers each or in a file each, are compared question by question.

    Exit code 0 when every gate holds, 1 when one fails, 2 when there is not enough evidence, 4 when nothing was
    measured of a metric; of one that -m does not name, and that these texts leave undefined or whose fields a system
    lacks, it is only said.

    Example: ragbench score answers.jsonl -m faithfulness --gate "faithfulness>=0.8" --json scores.json
    Example: ragbench score v1.csv v2.csv --column answer=bot_answer
    """
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings, trust
    from ragbench.old.tiers.scoring.judged_metrics import Judging
    from ragbench.old.tiers.scoring.measure import Asked, passes

    if plan:
        context.with_resource(trust.planned())
    known = settings.load()
    embedder = embedder or known.metric_embedder
    consent.required(trust.named("metrics"), trusted)
    try:
        bounds = _bounds(gates) if gates else {}
        answers = _read(files, options.columns(column), limit, plan=plan)
        chosen = _chosen(answers, [*(metrics or ()), *_criteria(criteria or (), scale)])
        chosen, judging = Judging(judges or (), aggregate, tolerance, quorum=quorum).on(chosen)
        named, names = judging.named(known), judging.asking(known, chosen)
        asked = Asked(
            named, embedder, language, judging.rule(names), confidence, resamples, seed, baseline=baseline,
            primary=primary, sampled=answers.taken,
        )  # fmt: skip
        _check(answers, chosen, asked, bounds, explain or ())
        if answers.survey and not passes(chosen, named, embedder):
            answers = answers.held()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    _consent(chosen, names, embedder, trusted, plan=plan)
    scores, tally, outlooks = _measured(answers, chosen, asked, plan=plan)
    is_taken = outputs.is_screen(json_file)
    for note in (*answers.forms.told, *(answers.forms.notes if plan else ())):
        terminal.say(note, err=is_taken)
    if plan:
        outputs.show(outlooks, known.budget)
        return
    _say(scores, explain or (), every=every, is_taken=is_taken)
    outputs.paid(tally, err=is_taken)
    outputs.caveat(scores.told_stand_ins, err=is_taken)
    outputs.answered(scores.answered_by, err=is_taken)
    _write(scores, json_file, out)
    if out is not None:
        _page(scores, answers, out, language or known.language, judges or names)
    elif json_file is None:
        terminal.say("the same with --out FOLDER writes it as a page, with every answer", err=True)
    held = _hold(scores, known.model_copy(update={"gate": bounds})) if bounds else Ending.HELD
    unmeasured = Ending.UNMEASURED if _tell_nothing(scores, bool(metrics or criteria)) else Ending.HELD
    if code := worst(held, unmeasured):
        raise typer.Exit(code)


@dataclass(frozen=True)
class Answers:
    """What the files hold. survey: of one large file that is read in parts; else samples. taken: of a part of the
    questions, of how many."""

    files: Sequence[Path]
    columns: Mapping[str, Any]
    forms: Forms
    survey: Survey | None = None
    samples: Sequence[Sample] = ()
    taken: dict[str, Any] | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Of all samples, in their order."""
        return self.survey.ids if self.survey else tuple(sample.id for sample in self.samples)

    @property
    def systems(self) -> list[str]:
        """Those that samples name, sorted."""
        named = self.survey.systems if self.survey else {sample.system for sample in self.samples if sample.system}
        return sorted(named)

    def held(self) -> Answers:
        """All samples at once."""
        from ragbench.old.data.cells import Forms
        from ragbench.old.data.joined_tables import read_all

        return replace(self, survey=None, samples=read_all(self.files, Forms(), self.columns))


def _read(files: Sequence[Path], columns: Mapping[str, Any], limit: int | None, *, plan: bool) -> Answers:
    """Raises ValueError where the files hold no samples."""
    from ragbench.old.data.cells import Forms
    from ragbench.old.data.joined_tables import read_all
    from ragbench.old.tiers.scoring.ledger import is_large, surveyed
    from ragbench.old.tiers.scoring.table_sources import sample_of

    answers = Answers(files, columns, Forms())
    if len(files) == 1 and limit is None and not plan and is_large(files[0]):
        answers = replace(answers, survey=surveyed(files[0], answers.forms, columns))
    else:
        samples: Sequence[Sample] = read_all(files, answers.forms, columns)
        samples, taken = (samples, None) if limit is None else sample_of(samples, limit)
        answers = replace(answers, samples=samples, taken=taken)
    if not answers.ids:
        raise ValueError(f"{files[0].name}: holds no samples; at least one is expected")
    return answers


def _chosen(answers: Answers, asked: Sequence[str | Metric]) -> list[Metric]:
    """The metrics that are asked for, else all that the fields allow. Raises ValueError for fields that are missing."""
    from ragbench.old.tiers.scoring.measure import applicable

    try:
        return applicable([answers.survey.union] if answers.survey else answers.samples, asked or None)
    except ValueError as error:  # what is missing may stand in a column that is not read
        unread = answers.forms.unread
        how = ["--column answer=COLUMN says what one is, answer=A,B what two systems answered"] if unread else []
        raise ValueError("; ".join(filter(None, (str(error), *unread, *how)))) from None


def _check(
    answers: Answers, chosen: Sequence[Metric], asked: Asked, bounds: Mapping[str, GateSettings], explain: Sequence[str]
) -> None:
    """Raises ValueError for a name of a gate, a system, a metric or a sample that is not there, and for draws that
    nobody can make."""
    from ragbench.old.core.names import meant as near
    from ragbench.old.metrics import meant
    from ragbench.old.tiers.basics.findings import check_baseline, leading
    from ragbench.old.tiers.basics.requests import Draws

    if unknown := {bound.metric for bound in bounds.values() if not meant(bound.metric, map(str, chosen))}:
        raise ValueError(f"--gate names {', '.join(sorted(unknown))}; measured are {', '.join(map(str, chosen))}")
    check_baseline(asked.baseline, answers.systems, answers.files[0].name, "--baseline")
    _ = leading(asked.primary, chosen)
    if strange := [sample_id for sample_id in explain if sample_id not in answers.ids]:
        raise ValueError(f"--explain {strange[0]!r}: there is no such sample{near(strange[0], answers.ids)}")
    Draws(level=asked.level, resamples=asked.resamples, seed=asked.seed)


def _consent(chosen: Sequence[Metric], judges: Sequence[str], embedder: str, trusted: bool, *, plan: bool) -> None:
    """Ask for trust in what would be asked beyond this machine, where anything would."""
    from ragbench.old.core import trust
    from ragbench.old.judge import asks_nobody
    from ragbench.old.tiers.basics.choices import parted

    asks = any("judge" in metric.needs for metric in chosen) and not all(map(asks_nobody, judges))
    used = {f"embedders.{name}" for name in parted(embedder)}
    embeds = any("embedder" in metric.needs for metric in chosen) and bool(trust.named(*used))
    if asks or embeds:
        consent.required(trust.named(), trusted)
        if plan:
            consent.tell(trust.named())


def _measured(
    answers: Answers, chosen: Sequence[Metric], asked: Asked, *, plan: bool
) -> tuple[Scores, Tally, list[Outlook]]:
    """The scores, what was paid for them, and what a plan would ask."""
    from ragbench.old.core.progress import Progress, is_watched
    from ragbench.old.llm import Tally, run
    from ragbench.old.tiers.scoring.judge_assignment import kept_replies
    from ragbench.old.tiers.scoring.measure import in_parts, live_line, measure

    outlooks: list[Outlook] = []
    tally, survey = Tally(), answers.survey
    total = len(answers.ids) * len(chosen) if is_watched() else 0
    with kept_replies(asked.judges, chosen) as journal, Progress("scoring", total) as progress:
        line = live_line(progress)

        def heard(spent: Tally) -> None:
            nonlocal tally
            tally = spent
            line(spent)

        planned = outlooks.extend if plan else None
        asked = replace(asked, journal=journal, advance=progress, on_change=heard, plan=planned)
        scoring = in_parts(survey.parts(), chosen, asked, survey) if survey else measure(answers.samples, chosen, asked)
        scores = run(scoring)
    return scores, tally, outlooks


def _say(scores: Scores, explain: Sequence[str], *, every: bool, is_taken: bool) -> None:
    """Verdicts, tables and explanations; is_taken: the screen is JSON's."""
    from ragbench.old.tiers.scoring.scored_answers import MOST

    for sentence in () if is_taken else (*_verdicts(scores), f"{scores.counted('en')}."):
        terminal.say(sentence)
    for made in () if is_taken else scores.tables("en", 4, None if every else MOST):
        made.say()
    for identifier in explain:
        for said in (identifier, *scores.explain(identifier).splitlines()):
            terminal.say(said, err=is_taken)


def _page(scores: Scores, answers: Answers, out: Path, language: str, judges: Sequence[str]) -> None:
    """Write the page of all answers, and say where it is."""
    from ragbench.old.report import assemble
    from ragbench.old.tiers.answers.rag_metrics import measured_scores, request_of
    from ragbench.old.tiers.basics.session import told
    from ragbench.old.tiers.scoring.table_sources import of_samples

    named = ", ".join(path.name for path in answers.files)
    table = of_samples(answers.survey or answers.samples, named, answers.forms.left_out.told)
    table = replace(table, facts={**table.facts, **({"part_of_all": answers.taken} if answers.taken else {})})
    request = request_of(scores, table, language, judges)
    parameters = {name: getattr(request, name) for name in request.parameters() if name in request.model_fields_set}
    # nobody else has the measurement: it goes as soon as it is written, and is read again
    page = assemble(out, told(measured_scores(scores, table, language, judges)), parameters, language)
    terminal.say(page, err=True)


def _bounds(gates: Sequence[str]) -> dict[str, GateSettings]:
    """Raises ValueError."""
    from ragbench.old.tiers.run.gates import bound

    return dict(bound(text) for text in gates)


def _tell_nothing(scores: Scores, is_named: bool) -> bool:
    """Whether there is a metric, of any system, of which nothing was measured; says it. Where nobody named it, and
    others are measured, one that these texts leave undefined, or whose fields a system lacks, is only said."""
    empty = [place for place, mean in scores.means.items() if math.isnan(mean.value)]
    if scores.means and not empty:
        return False
    from ragbench.old.core.types import Status
    from ragbench.old.report.keeping.results import nothing_for

    undefined = (Status.MISSING_FIELD, Status.EMPTY_INPUT, Status.EMPTY_DECOMPOSITION)
    defined = {(line["system"], line["metric"]) for line in scores.lines() if line["status"] not in undefined}
    is_lacking = is_named or len(empty) == len(scores.means) or any(place in defined for place in empty)

    reasons = [*(str(line["reason"]) for line in scores.lines()), *(row.score.reason for row in scores.sets.scores)]
    if len(empty) == len(scores.means):
        terminal.say(nothing_for(reasons or ["no metric had a sample to measure"]), err=True)
        return is_lacking
    for system, own in itertools.groupby(empty, operator.itemgetter(0)):
        metrics = ", ".join(metric for _, metric in own)
        terminal.say(f"{': '.join(filter(None, (system, metrics)))}: nothing was measured", err=True)
    return is_lacking


def _hold(scores: Scores, known: Settings) -> Ending:
    """How the gates end, by the numbers alone; says each."""
    from ragbench.old.tiers.run.gates import decide

    return tell(decide(_numbers(scores), known))


def _numbers(scores: Scores) -> dict[str, Measurement]:
    """What gates and flat tables are made of, by its page."""
    from ragbench.old.core.measurement import Measurement, NamedEstimate
    from ragbench.old.tiers.scoring import judge_assignment
    from ragbench.old.tiers.scoring.scored_answers import NOTEBOOK

    estimates = tuple(NamedEstimate(*place, mean) for place, mean in scores.means.items())
    extra = scores.sets.tables
    facts: Facts = {
        "judge_coverage": judge_assignment.facts(scores.judge_coverages),
        "tables": {name: name for name in extra},
    }
    return {NOTEBOOK: Measurement(NOTEBOOK, facts, estimates=estimates, comparisons=scores.differences, extra=extra)}


def _criteria(given: Sequence[str], scale: str) -> list[Metric]:
    """The criteria of the command line as metrics. Raises ValueError."""
    import csv

    from ragbench.old.tiers.scoring import own_metrics

    if scale != "yes/no" and not given:
        raise ValueError(f"--scale {scale!r} is of criteria: give one, --criterion 'Is it polite?'")
    parts: list[Any] = next(csv.reader([scale], skipinitialspace=True), [])
    try:
        parts = [int(part) if part.strip().lstrip("-").isdigit() else float(part) for part in parts]
    except ValueError:
        parts = [part.strip() for part in parts]
    made = []
    for text in given:
        named = re.fullmatch(r"\s*([^\W\d]\w*)\s*=\s*(.*)", text, re.DOTALL)
        name, question = named.groups() if named else ("", text)
        made.append(own_metrics.criterion(question, name=name, scale="yes/no" if parts == ["yes/no"] else parts))
    return made


def _verdicts(scores: Scores) -> list[str]:
    """What is said first of several systems; of one the table says all."""
    if len(scores.systems) < 2:
        return []
    from ragbench.old.views.sentences.conclusions import said

    return said(scores, "en")


def _write(scores: Scores, json_file: Path | None, out: Path | None) -> None:
    from ragbench.old.cli.console import outputs
    from ragbench.old.core.language import translator
    from ragbench.old.tiers.scoring.scored_answers import FILED

    if json_file is not None:
        outputs.write(json_file, scores.as_parts())
        if not outputs.is_screen(json_file):
            terminal.say(json_file, err=True)
    if out is not None:
        from ragbench.old.report import exports

        out.mkdir(parents=True, exist_ok=True)
        outputs.write(out / "summary.json", scores.as_parts())
        exports.write_rows(out / "scores", scores.filed(), FILED)
        told = [scores.caveat("en"), *scores.said_of_models("en"), *scores.said_of_injections("en")]
        exports.write_readme(out, {"scores": told}, translator("en"))
        exports.write_findings(out, _numbers(scores))

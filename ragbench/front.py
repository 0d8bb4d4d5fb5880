"""The functions of `import ragbench as rb`: a question of a tier in, its result out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragbench.views.results import (
        DataSet,
        Overview,
        RagMetrics,
        RealUsers,
        Sources,
        Tier0,
        Tier1,
        Tier2,
        Tier3,
        TierJudge,
        TierJudgePipeline,
        TierUx,
    )


def tier0(
    texts: Any = None, embedders: Any = None, *, vectors: Any = None, **options: Any
) -> Tier0:
    """Measure the shape of the space that embedders put texts in, without labels.

    texts: a list, {id: text}, a frame, or a data set; None: those of the data set of `dataset=` or
    of ragbench.toml. embedders: names, {name: function or object}, or one of these; without any,
    those of ragbench.toml. vectors: in place of embedders an array, a row a text, or {name: array}.
    options: of `ragbench.tiers.tier0_embeddings.Request`: embedded, distance, neighbors, listed,
    projected, level, draws, seed and others.

    Returns a result that shows itself in Jupyter. Raises BenchError for what cannot be measured.
    """
    from dataclasses import replace

    from ragbench.core.types import Dataset
    from ragbench.data import from_objects
    from ragbench.tiers import tier0_embeddings as tier
    from ragbench.tiers.common import open_embedders, open_workbench, read_options
    from ragbench.views.results import Tier0

    request = read_options(tier.Request, options)
    given = {} if vectors is None else tier.name_vectors(vectors)
    if given and texts is None:
        count = len(next(iter(given.values())).vectors)
        texts = [f"{number + 1}" for number in range(count)]
    documents = texts
    if texts is not None and not isinstance(texts, Dataset):
        documents = from_objects(None, texts, language=request.language)
    with open_workbench(request, dataset=documents, needs_systems=False) as bench:
        usual = list(bench.settings.embedders) or ["auto"]
        opened = given or open_embedders(embedders or request.embedders, bench, usual)
        request = bench.request.model_copy(update={"embedders": tuple(opened)})
        frames = tier.measure(request, bench, opened)
        stand_ins = [f"embedder {name}" for name, by in opened.items() if by.is_stand_in]
        described = {name: embedder.describe() for name, embedder in opened.items()}
        about = replace(bench.about(stand_ins), systems=described)
        language = bench.language
    return Tier0(request, frames, tier.state(request, frames), about, language)


def dataset(questions: Any = None, documents: Any = None, **options: Any) -> DataSet:
    """Look a data set over: counts, copies, lengths, languages, doubtful labels.

    questions, documents: as in `tier1`; without them the data set of `dataset=` or of
    ragbench.toml.
    """
    from ragbench.tiers import dataset as tier
    from ragbench.tiers.common import open_workbench, read_options
    from ragbench.views.results import DataSet

    request = read_options(tier.Request, options)
    given = {"questions": questions, "documents": documents}
    with open_workbench(request, **given, needs_systems=False) as bench:
        frames = tier.measure(bench.request, bench)
        about, language, request = bench.about(), bench.language, bench.request
    return DataSet(request, frames, tier.state(request, frames), about, language)


def sources(
    systems: Any = None, questions: Any = None, documents: Any = None, **options: Any
) -> Sources:
    """Measure which parts of the knowledge base systems use, and what they find of each topic.

    systems, questions, documents: as in `tier1`. options: of `ragbench.tiers.sources.Request`: k,
    n_topics, embedder, limit, level, seed and others.
    """
    from ragbench.tiers import sources as tier
    from ragbench.tiers.common import open_workbench, read_options
    from ragbench.views.results import Sources

    request = read_options(tier.Request, options)
    opening = open_workbench(request, systems=systems, questions=questions, documents=documents)
    with opening as bench:
        request, frames, stand_ins = tier.measure(bench.request, bench)
        about, language = bench.about(stand_ins, has_answers=False), bench.language
    return Sources(request, frames, tier.state(request, frames), about, language)


def overview(folder: Any = None, **options: Any) -> Overview:
    """Sum up what the pages of a run have found: verdicts, bands, first failures, what is missing.

    folder: of a run; None: the run that executes this notebook, else the newest report. options:
    threshold_set, language.
    """
    import os
    from pathlib import Path

    from ragbench.core.folders import RUN_FOLDER
    from ragbench.core.language import load_language
    from ragbench.report.run import read_pages
    from ragbench.tiers import overview as tier
    from ragbench.tiers.common import About, open_project, read_options
    from ragbench.views.results import Overview

    settings = open_project()
    request = read_options(tier.Request, options)
    usual = {"language": settings.language, "threshold_set": settings.threshold_set}
    missing = {name: value for name, value in usual.items() if not getattr(request, name)}
    request = request.model_copy(update=missing)
    newest = os.environ.get(RUN_FOLDER) or settings.path(settings.reports_folder) / "latest"
    place = Path(folder or newest)
    statement = tier.read_run(request, place, settings)
    records = tier.read_records(place)
    datasets = dict.fromkeys(record["about"]["dataset"] for record in records)
    language = load_language(request.language)
    pages = read_pages(place, language, Overview.NAME)
    measured = (request, statement, statement, About(", ".join(datasets)), language)
    return Overview(*measured, folder=place, pages=pages, records=records)


def tier1(
    systems: Any = None, questions: Any = None, documents: Any = None, **options: Any
) -> Tier1:
    """Measure whether systems find the right passage.

    systems: names, or {"v1": "bm25", "v2": function or object with retrieve}; without any, those of
    ragbench.toml. questions, documents: lists, dicts, frames or files; without them the data set
    of `dataset=` or of ragbench.toml. options: of `ragbench.tiers.tier1_retrieval.Request`:
    baseline, metrics, primary, k, unit, repeats, level, draws, seed and others.

    Returns a result that shows itself in Jupyter. Raises BenchError for what cannot be measured.
    """
    from ragbench.tiers import tier1_retrieval as tier
    from ragbench.views.results import Tier1

    given = {"systems": systems, "questions": questions, "documents": documents}
    return measure_rankings(tier, Tier1, given, options)


def real_users(systems: Any = None, **options: Any) -> RealUsers:
    """Measure whether systems find the pages that people were shown, by the log of a data set.

    systems: as in `tier1`. options: of `ragbench.tiers.real_users.Request`: dataset, baseline,
    metrics, primary, k, cluster_by, limit, level, draws, seed and others.
    """
    from ragbench.tiers import real_users as tier
    from ragbench.views.results import RealUsers

    return measure_rankings(tier, RealUsers, {"systems": systems}, options)


def measure_rankings(tier: Any, result: Any, given: dict[str, Any], options: dict[str, Any]) -> Any:
    """Measure a tier of rankings. given: what `open_workbench` takes."""
    from ragbench.tiers.common import open_workbench, read_options

    with open_workbench(read_options(tier.Request, options), **given) as bench:
        request = tier.complete_request(bench.request)
        frames = tier.measure(request, bench)
        about, language = bench.about(has_answers=False), bench.language
    return result(request, frames, tier.state(request, frames), about, language)


def tier2(
    systems: Any = None,
    questions: Any = None,
    documents: Any = None,
    *,
    judge: Any = None,
    embedder: Any = None,
    **options: Any,
) -> Tier2:
    """Measure whether systems answer well from the right passages.

    judge: a name of ragbench.toml, "lexical", an object or a function of `rb.judge`, or a list of
    these; embedder likewise. options: of `ragbench.tiers.tier2_generation.Request`. The rest as in
    `tier1`.
    """
    from ragbench.tiers import tier2_generation as tier
    from ragbench.views.results import Tier2

    given = {"systems": systems, "questions": questions, "documents": documents}
    return measure_answers(tier, Tier2, given, options, judge=judge, embedder=embedder)


def tier3(
    systems: Any = None,
    questions: Any = None,
    documents: Any = None,
    *,
    judge: Any = None,
    embedder: Any = None,
    **options: Any,
) -> Tier3:
    """Measure whether the user gets a good answer, and which part fails first where not.

    judge, embedder: as in `tier2`. options: of `ragbench.tiers.tier3_end_to_end.Request`. The rest
    as in `tier1`.
    """
    from ragbench.tiers import tier3_end_to_end as tier
    from ragbench.views.results import Tier3

    given = {"systems": systems, "questions": questions, "documents": documents}
    return measure_answers(tier, Tier3, given, options, judge=judge, embedder=embedder)


def measure_answers(
    tier: Any, result: Any, given: dict[str, Any], options: dict[str, Any], **services: Any
) -> Any:
    """Measure a tier of answers. given: what `open_workbench` takes; services: judge, embedder."""
    from ragbench.tiers.common import open_workbench, read_options

    request = read_options(tier.Request, options)
    with open_workbench(request, **given) as bench:
        request, frames, opened = tier.measure(bench.request, bench, **services)
        about = bench.about(opened.stand_ins, opened.notes)
        language = bench.language
    return result(request, frames, tier.state(request, frames), about, language)


def score(
    samples: Any,
    metrics: Any = None,
    judge: Any = None,
    *,
    columns: Any = None,
    embedder: Any = None,
    **options: Any,
) -> RagMetrics:
    """Score answers: a value with its reason for every row, means with intervals.

    samples: rows as dicts, a data frame, the path of a table, {system: any of these}, or a list of
    paths. metrics: labels or metrics, `"faithfulness"`, `"noise_sensitivity(mode=irrelevant)"`, or
    a function of yours whose parameters are called as the fields that it reads; None: the usual
    ones that the columns allow. judge, embedder: as in `tier2`. columns: field → column, as
    {"answer": "bot_answer"}. options: of `ragbench.tiers.rag_metrics.Request`: baseline, primary,
    language, limit, level, draws, seed and others.

    Returns a result: `.scores` has a row a metric and answer. Raises BenchError, before anything is
    paid for, for unknown names and for fields that no row has.
    """
    from ragbench.core.metric import parse_labels

    answers = read(samples, columns)
    chosen = parse_labels(metrics) if metrics is not None else []
    return score_samples(
        answers.samples, chosen, tuple(answers.notes), judge=judge, embedder=embedder, **options
    )


def rag_metrics(answers: Any = None, metrics: Any = None, judge: Any = None, **options: Any) -> Any:
    """Score answers as `score` does; without any, those of the data set (`dataset=`).

    Of a data set all usual metrics are measured, also with an embedder that nobody named.
    """
    if answers is not None and not (isinstance(answers, str) and not answers):
        return score(answers, metrics, judge, **options)
    from ragbench.core.metric import parse_labels
    from ragbench.data import read_dataset
    from ragbench.tiers.answering import usual_embedder
    from ragbench.tiers.common import open_project
    from ragbench.tiers.rag_metrics import samples_of_dataset

    settings = open_project()
    name = options.get("dataset") or settings.dataset
    language = options.get("language") or settings.language
    dataset = read_dataset(name, language, settings.path(settings.data_folder))
    chosen = parse_labels(metrics) if metrics else []
    samples = samples_of_dataset(dataset)
    options["dataset"] = dataset.name
    options["embedder"] = options.get("embedder") or usual_embedder(settings)
    return score_samples(samples, chosen, dataset.notes, judge=judge, **options)


def score_samples(
    samples: Any, metrics: Any, notes: tuple[str, ...], *, judge: Any, **options: Any
) -> RagMetrics:
    """Score samples that are read already, and state what comes out."""
    from ragbench.core.language import load_language
    from ragbench.tiers import rag_metrics as tier
    from ragbench.tiers.common import About, open_project, read_options
    from ragbench.views.results import RagMetrics

    embedder = options.pop("embedder", None)
    request = read_options(tier.Request, options)
    settings = open_project()
    request, frames, services = tier.measure(
        request, samples, settings, metrics, judge=judge, embedder=embedder
    )
    notes = (*notes, *services.notes)
    name = request.answers or request.dataset or "answers"
    about = About(name, stand_ins=services.stand_ins, notes=notes)
    language = load_language(request.language)
    return RagMetrics(request, frames, tier.state(request, frames), about, language)


def tier_judge(
    judges: Any = None, answers: Any = None, *, columns: Any = None, **options: Any
) -> TierJudge:
    """Measure whether judges repeat themselves, agree with people, and what sways them.

    judges: names of ragbench.toml, "lexical", objects of `rb.judge`, a list or {name: any of
    these}. answers: a table with people's label columns as `score` takes it, which columns=
    {"labels": "ann,ben"} names; without it the rated answers of the data set. options: of
    `ragbench.tiers.tier_judge.Request`: metric, modes, repeats, delta, people_scale and others.
    """
    from ragbench.data import read_answers
    from ragbench.tiers import tier_judge as tier
    from ragbench.views.results import TierJudge

    if isinstance(judges, str):
        options, judges = {**options, "judges": judges}, None
    if answers is None or (isinstance(answers, str) and not answers):
        return measure_alone(tier, TierJudge, options, judges=judges)
    if isinstance(answers, str):
        options["answers"] = answers
    rated = read_answers(answers, columns)
    dataset = dataset_of("answers", {}, options, tuple(rated.notes))
    return measure_alone(tier, TierJudge, options, dataset, judges=judges, samples=rated.samples)


def tier_judge_pipeline(
    judges: Any = None, decisions: Any = None, **options: Any
) -> TierJudgePipeline:
    """Measure whether production judges decide rightly which answers are shown.

    judges: names of ragbench.toml, "module:function", files of decisions, functions of (question,
    answer, contexts) that return yes or no, objects of `rb.judge`, a list or {name: any of these}.
    decisions: rows with question, answer, contexts and show (what people say), as a list of dicts,
    a frame or a file; without them those of the data set. options: of
    `ragbench.tiers.tier_judge_pipeline.Request`: baseline, primary, cost_shown and others.
    """
    from ragbench.tiers import tier_judge_pipeline as tier
    from ragbench.views.results import TierJudgePipeline

    if isinstance(judges, str):
        options, judges = {**options, "judges": judges}, None
    given = {} if decisions is None else {"decisions": decisions}
    dataset = dataset_of("decisions", given, options) if given else None
    return measure_alone(tier, TierJudgePipeline, options, dataset, judges=judges)


def ux(dialogues: Any = None, history: Any = None, embedder: Any = None, **options: Any) -> TierUx:
    """Measure what a cache of liked answers would serve, and how dialogues hold together.

    dialogues: a list of dialogues, each a list of questions, of (question, answer) or of dicts; a
    frame with dialogue_id, question, answer, a row a turn; or a file. history: past questions with
    answer and the user's score, as rows, a frame or a file. Without both those of the data set.
    embedder: a name, an object or a function of texts. options: of
    `ragbench.tiers.tier_ux.Request`: threshold, cached_score, sessions and others.
    """
    from ragbench.tiers import tier_ux as tier
    from ragbench.views.results import TierUx

    given = {"dialogues": dialogue_rows(dialogues), "history": history}
    given = {name: rows for name, rows in given.items() if rows is not None}
    dataset = dataset_of("dialogues", given, options) if given else None
    return measure_alone(tier, TierUx, options, dataset, embedder=embedder)


def measure_alone(
    tier: Any, result: Any, options: dict[str, Any], dataset: Any = None, **services: Any
) -> Any:
    """Measure a tier that asks no systems; its `limit` cuts its own rows."""
    from ragbench.tiers.common import Options, open_workbench, read_options

    request = read_options(tier.Request, options)
    opening = Options(dataset=request.dataset, language=request.language)
    with open_workbench(opening, dataset=dataset, needs_systems=False) as bench:
        named = {"dataset": bench.request.dataset, "language": bench.request.language}
        request = request.model_copy(update=named)
        request, frames, about = tier.measure(request, bench, **services)
        language = bench.language
    return result(request, frames, tier.state(request, frames), about, language)


def dataset_of(
    name: str, given: dict[str, Any], options: dict[str, Any], notes: tuple[str, ...] = ()
) -> Any:
    """Return a data set that has only these frames: dialogues, history or decisions, as rows."""
    from ragbench.core.frames import LABELS, PASSAGES, QUESTIONS
    from ragbench.core.types import Dataset
    from ragbench.data.building import Builder
    from ragbench.data.files import table_of

    if not given:
        base = (PASSAGES.empty(), QUESTIONS.empty(), LABELS.empty())
        return Dataset(name, "en", *base, notes=notes)
    builder = Builder()
    for frame, rows in given.items():
        builder.add(frame, table_of(rows))
    return builder.build(name, options.get("language") or "")


def dialogue_rows(dialogues: Any) -> Any:
    """Return dialogues as rows with turns: of lists of turns, or of a frame with a row a turn."""
    if isinstance(dialogues, list | tuple) and dialogues and isinstance(dialogues[0], list | tuple):
        return [{"turns": [as_turn(turn) for turn in turns]} for turns in dialogues]
    if hasattr(dialogues, "columns") and {"dialogue_id", "question"} <= set(dialogues.columns):
        if "turn" in dialogues.select_dtypes("number"):
            dialogues = dialogues.sort_values("turn", kind="stable")
        groups = dialogues.groupby("dialogue_id", sort=False)
        return [{"id": name, "turns": rows.to_dict("records")} for name, rows in groups]
    return dialogues


def as_turn(turn: Any) -> Any:
    """Return a question, or a pair of question and answer, as a dict."""
    if isinstance(turn, str):
        return {"question": turn}
    return (
        dict(zip(("question", "answer"), turn, strict=False)) if isinstance(turn, tuple) else turn
    )


def read(source: Any, columns: Any = None) -> Any:
    """Read answers as `score` does, without scoring: samples, rows left out, notes.

    columns: field → column; without it those of [columns] in ragbench.toml.
    """
    from ragbench.core.errors import BenchError
    from ragbench.data import Answers, read_answers
    from ragbench.tiers.common import open_project

    if isinstance(source, Answers):
        return source
    of_project = open_project().columns
    if columns:
        return read_answers(source, columns)
    try:
        return read_answers(source, of_project)
    except BenchError as error:
        where = "; columns are those of [columns] in ragbench.toml" if of_project else ""
        raise BenchError(f"{error}{where}") from None

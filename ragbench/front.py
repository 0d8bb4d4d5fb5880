"""The functions of `import ragbench as rb`: a question of a tier in, its result out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragbench.results import RagMetrics, Tier1, Tier2, Tier3


def tier1(
    systems: Any = None, questions: Any = None, documents: Any = None, **options: Any
) -> Tier1:
    """Measure whether systems find the right passage.

    systems: names, or {"v1": "bm25", "v2": function or object with retrieve}; without any, those of
    ragbench.toml. questions, documents: lists, dicts or frames; without them the data set of
    `dataset=` or of ragbench.toml. options: of `ragbench.tiers.tier1_retrieval.Request`: baseline,
    metrics, primary, k, unit, repeats, level, draws, seed and others.

    Returns a result that shows itself in Jupyter. Raises BenchError for what cannot be measured.
    """
    from ragbench.results import Tier1
    from ragbench.tiers import tier1_retrieval as tier
    from ragbench.tiers.common import open_workbench, read_options

    request = read_options(tier.Request, options)
    opening = open_workbench(request, systems=systems, questions=questions, documents=documents)
    with opening as bench:
        request = tier.complete_request(bench.request)
        frames = tier.measure(request, bench)
        about = bench.about(has_answers=False)
        language = bench.language
    return Tier1(request, frames, tier.state(request, frames), about, language)


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
    from ragbench.results import Tier2
    from ragbench.tiers import tier2_generation as tier

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
    from ragbench.results import Tier3
    from ragbench.tiers import tier3_end_to_end as tier

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
        about = bench.about(opened.stand_ins)
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
    from ragbench.data import read_answers

    answers = read_answers(samples, columns)
    chosen = parse_labels(metrics) if metrics is not None else []
    return score_samples(
        answers.samples, chosen, tuple(answers.notes), judge=judge, embedder=embedder, **options
    )


def rag_metrics(answers: Any = None, metrics: Any = None, judge: Any = None, **options: Any) -> Any:
    """Score answers as `score` does; without any, those of the data set (`dataset=`)."""
    if answers is not None and not (isinstance(answers, str) and not answers):
        return score(answers, metrics, judge, **options)
    from ragbench.core.metric import parse_labels
    from ragbench.core.trust import open_settings
    from ragbench.data import read_dataset
    from ragbench.tiers.rag_metrics import samples_of_dataset

    settings = open_settings()
    name = options.pop("dataset", "") or settings.dataset
    language = options.get("language") or settings.language
    dataset = read_dataset(name, language, settings.path(settings.data_folder))
    chosen = parse_labels(metrics) if metrics else []
    samples = samples_of_dataset(dataset)
    return score_samples(samples, chosen, dataset.notes, judge=judge, **options)


def score_samples(
    samples: Any, metrics: Any, notes: tuple[str, ...], *, judge: Any, **options: Any
) -> RagMetrics:
    """Score samples that are read already, and state what comes out."""
    from ragbench.core.language import load_language
    from ragbench.core.trust import open_settings
    from ragbench.results import RagMetrics
    from ragbench.store import Store
    from ragbench.tiers import rag_metrics as tier
    from ragbench.tiers.common import About, read_options

    embedder = options.pop("embedder", None)
    request = read_options(tier.Request, options)
    settings = open_settings()
    with Store(settings.database) as store:
        request, frames, services = tier.measure(
            request,
            samples,
            settings,
            judge=judge,
            embedder=embedder,
            metrics=metrics,
            store=store,
        )
    about = About(request.answers or "answers", stand_ins=services.stand_ins, notes=notes)
    language = load_language(request.language)
    return RagMetrics(request, frames, tier.state(request, frames), about, language)


def judge(model: Any = None, **options: Any) -> Any:
    """Make a judge of a model, a function or an object, to be handed to `score` and the tiers.

    model: a function of the prompt, a chat model of LangChain, an object with `ask`, or the name of
    a model, with base_url=, provider=, key_variable= and the other keys of [judges.NAME].
    """
    from ragbench.judge import own_judge

    return own_judge(model, **options)


def read(source: Any, columns: Any = None) -> Any:
    """Read answers as `score` does, without scoring: samples, rows left out, notes."""
    from ragbench.data import read_answers

    return read_answers(source, columns)

"""What models a run would ask, and what that costs: nobody is asked."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

from ragbench.cli.options import split_list
from ragbench.core.settings import GeneratorTable, Settings
from ragbench.core.types import Hit, Reply, Retrieval
from ragbench.judge.own import ObjectJudge

if TYPE_CHECKING:
    from ragbench.llm.types import Plan

# Pages whose measuring asks models, and how their `measure` calls who judges.
PAGES = {
    "tier2_generation": "judge",
    "tier3_end_to_end": "judge",
    "tier_judge": "judges",
    "tier_judge_pipeline": "judges",
}
ANSWERS = "rag_metrics"
LOCAL = "hashing"  # the embedder of a plan, which asks nobody


class PlannedJudge(ObjectJudge):
    """A judge that asks nobody, handed over as an object of the user's: it is taken as it is."""

    async def __aenter__(self) -> PlannedJudge:
        await self.given.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.given.__aexit__(*error)

    async def ask(self, prompt: Any, **values: Any) -> Any:
        """See `ragbench.metrics.judging.Judge`."""
        return await self.given.ask(prompt, **values)


class PlannedSystem:
    """A system that asks nobody.

    It searches if that is done on this machine, else it takes any passages; its answers are out of
    the journal, else quotes of the passages, each another one.
    """

    stand_ins = ()

    def __init__(self, system: Any, hits: Sequence[Hit], *, is_local: bool) -> None:
        from ragbench.systems.generators import Extractive

        self.system = system
        self.hits = hits
        self.is_local = is_local
        self.name = system.name
        self.can_retrieve = system.can_retrieve
        self.takes_contexts = system.takes_contexts
        self.generator = system.generator
        self.quoting = Extractive(GeneratorTable(), "en")
        self.numbers = count()

    def retrieve(self, questions: Sequence[str], k: int) -> list[Retrieval]:
        """See `core.types.System`."""
        if self.is_local:
            return self.system.retrieve(questions, k)
        return [Retrieval(tuple(self.hits[:k])) for _ in questions]

    def answer(self, questions: Sequence[str], k: int, contexts: Any = None) -> list[Reply]:
        """See `core.types.System`."""
        if contexts is None:
            contexts = [retrieval.hits for retrieval in self.retrieve(questions, k)]
        kept: list[str | None] = [None] * len(questions)
        if hasattr(self.generator, "look_up"):
            kept = self.generator.look_up(questions, contexts)
        replies = []
        for question, hits, answer in zip(questions, contexts, kept, strict=True):
            if answer is None:
                quoted = self.quoting.answer(question, [hit.text for hit in hits])
                answer = f"{quoted} ({next(self.numbers)})"
            replies.append(Reply(answer, tuple(hits), 0.0))
        return replies


def plan_samples(samples: Any, metrics: Any, *, judge: Any = None, **options: Any) -> list[Any]:
    """Say which models `ragbench.score` would ask about samples, and what that costs.

    Nobody is asked. options: of `ragbench.tiers.rag_metrics.Request`. Returns a plan a model:
    calls, replies that are kept, tokens, cost.
    """
    from ragbench.core.language import load_language
    from ragbench.tiers import rag_metrics as tier
    from ragbench.tiers.answering import open_services
    from ragbench.tiers.common import open_project, read_options
    from ragbench.tiers.scoring import score_samples

    settings = open_project()
    request = read_options(tier.Request, options)
    language = load_language(request.language or settings.language)
    samples = tier.choose_samples(request, samples)
    names = (request.embedder, settings.embedder, settings.embedders)
    chosen = tier.choose_metrics(request, samples, metrics, has_embedder=any(map(bool, names)))
    judged = [metric for metric in chosen if "judge" in metric.uses]
    # An embedder that asks nobody, whichever is chosen.
    services = open_services(
        request, judged, settings, language, judge=judge, embedder=LOCAL, planning=True
    )
    asked = services.judge
    score_samples(samples, judged, language=language, judge=asked, embedder=services.embedder)
    judges = getattr(asked, "judges", [asked])
    return [each.plan() for each in judges if hasattr(each, "plan")]


def plan_pages(pages: Sequence[str], settings: Settings, options: Mapping[str, Any]) -> list[Plan]:
    """Plan the pages of a run. options: of their requests, as notebooks have them."""
    from ragbench.judge import open_judge
    from ragbench.tiers.common import declare_metrics

    declare_metrics(settings)
    named = split_list(options.get("judges", "")) or list(settings.judges)
    language = options.get("language") or settings.language
    judges = [open_judge(name, settings, language, planning=True) for name in named]
    asked: list[Any] = list(judges)
    for page in pages:
        if page in PAGES:
            asked += measure_page(page, [PlannedJudge(judge) for judge in judges], options)
    plans = [each.plan() for each in asked if hasattr(each, "plan")]
    if ANSWERS in pages:
        plans += plan_answers(settings, options)
    return sum_plans(plans)


def measure_page(
    page: str, judges: Sequence[PlannedJudge], options: Mapping[str, Any]
) -> list[Any]:
    """Measure a page with nobody asked; returns the generators that would be."""
    from ragbench.core.errors import NotEnoughError
    from ragbench.front import read
    from ragbench.tiers.common import Basics, open_workbench, read_options

    tier = importlib.import_module(f"ragbench.tiers.{page}")
    known = {name: options[name] for name in options if name in tier.Request.model_fields}
    if "primary" in tier.Request.model_fields:
        known["primary"] = ""
    request = read_options(tier.Request, known)
    services: dict[str, Any] = {PAGES[page]: list(judges) or "lexical"}
    asks_systems = PAGES[page] == "judge"
    opening = request
    if asks_systems:
        services["embedder"] = LOCAL
    else:
        # These pages have a limit of their own, of answers.
        opening = Basics(dataset=request.dataset, language=request.language)
    if known.get("answers"):
        services["samples"] = read(known["answers"]).samples
    with open_workbench(opening, needs_systems=asks_systems) as bench:
        hits = [Hit(row.passage_id, row.text) for row in bench.dataset.passages.itertuples()]
        planned: dict[str, Any] = {}
        for number, (name, system) in enumerate(bench.systems.items()):
            # Each finds other passages, so that nothing is taken for asked twice.
            is_local = searches_here(name, bench.settings)
            planned[name] = PlannedSystem(system, hits[number:], is_local=is_local)
        try:
            tier.measure(
                bench.request if asks_systems else request,
                replace(bench, systems=planned),
                **services,
            )
        except NotEnoughError:
            return []  # the page will say what it lacks
        generators = [getattr(system, "generator", None) for system in bench.systems.values()]
    return list({id(generator): generator for generator in generators}.values())


def plan_answers(settings: Settings, options: Mapping[str, Any]) -> list[Plan]:
    """Plan the page of answers: those that the data set brings, or a table."""
    from ragbench.core.errors import NotEnoughError
    from ragbench.core.metric import parse_labels
    from ragbench.data import read_dataset
    from ragbench.front import read
    from ragbench.tiers.rag_metrics import Request, samples_of_dataset

    try:
        if options.get("answers"):
            samples = read(options["answers"]).samples
        else:
            folder = settings.path(settings.data_folder)
            name = options.get("dataset") or settings.dataset
            samples = samples_of_dataset(read_dataset(name, settings.language, folder))
    except NotEnoughError:
        return []
    known = set(Request.model_fields) - {"systems", "baseline", "primary", "metrics"}
    others = {name: options[name] for name in options if name in known}
    if not options.get("answers"):
        others["embedder"] = LOCAL  # of a data set the page measures all usual metrics
    return plan_samples(samples, parse_labels(options.get("metrics", ())), **others)


def sum_plans(plans: Sequence[Plan]) -> list[Plan]:
    """Return one plan a model."""
    sums: dict[str, Plan] = {}
    for plan in plans:
        total = sums.setdefault(plan.name, type(plan)(plan.name))
        for field in ("calls", "journaled", "tokens_in", "tokens_out", "cost"):
            setattr(total, field, getattr(total, field) + getattr(plan, field))
    return list(sums.values())


def searches_here(name: str, settings: Settings) -> bool:
    """Tell whether a system retrieves without asking a service, a model or code of the user's."""
    table = settings.systems.get(name)
    if table is None:
        return retrieves_here(name, settings)
    if table.url or table.callable or table.rewriter or table.reranker:
        return False
    if table.embedder:
        return embeds_here(table.embedder, settings)
    return table.results is not None or retrieves_here(table.retriever or "bm25", settings)


def retrieves_here(name: str, settings: Settings) -> bool:
    """Tell whether a retriever asks nobody."""
    table = settings.retrievers.get(name)
    if table is None:
        return True
    parts = all(retrieves_here(part, settings) for part in table.retrievers)
    return parts and (not table.embedder or embeds_here(table.embedder, settings))


def embeds_here(name: str, settings: Settings) -> bool:
    """Tell whether an embedder asks nobody."""
    table = settings.embedders.get(name)
    return table is None or not (table.kind == "openai" or table.callable)

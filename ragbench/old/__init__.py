"""ragbench: how good is a Retrieval-Augmented Generation system, is its new version better, and how sure is that?"""

from __future__ import annotations

import ragbench.old.core.early  # noqa: F401, isort: skip - before all that takes time

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from ragbench.old.core import annexes as _annexes

if TYPE_CHECKING:
    from ragbench.old.core.metric import Metric
    from ragbench.old.core.progress import Listener
    from ragbench.old.core.types import Embedder, Judge
    from ragbench.old.data import Dataset
    from ragbench.old.judge import OwnJudge
    from ragbench.old.llm import Plan
    from ragbench.old.tiers.scoring.scored_answers import Scores
    from ragbench.old.views.page import Page as Page
    from ragbench.old.views.page import rag_metrics as rag_metrics
    from ragbench.old.views.page import real_users as real_users
    from ragbench.old.views.page import tier0 as tier0
    from ragbench.old.views.page import tier1 as tier1
    from ragbench.old.views.page import tier2 as tier2
    from ragbench.old.views.page import tier3 as tier3
    from ragbench.old.views.page import ux as ux

    AnyJudge: TypeAlias = Judge | OwnJudge | str

__version__ = _version("ragbench")
_PLACES = {
    "Page": "ragbench.old.views.page",
    **dict.fromkeys(("rag_metrics", "real_users", "tier0", "tier1", "tier2", "tier3", "ux"), "ragbench.old.views.page"),
}
__all__ = [
    "Page",
    "ascore",
    "criterion",
    "judge",
    "load",
    "metric",
    "rag_metrics",
    "real_users",
    "score",
    "stats",
    "tier0",
    "tier1",
    "tier2",
    "tier3",
    "tiers",
    "ux",
    "views",
]
__all__ += [*_annexes.offered("front")]

Aggregate = Literal["mean", "median", "minimum", "maximum", "majority", "binary_majority", "consensus"]


@overload
def score(
    samples: Any, metrics: Any = None, judge: Any = None, *, plan: Literal[True], **options: Any
) -> tuple[Plan, ...]: ...
@overload
def score(
    samples: Any, metrics: Any = None, judge: Any = None, *, plan: Literal[False] = False, **options: Any
) -> Scores: ...
def score(  # type: ignore[misc]  # the options of its two forms stand here
    samples: Any,
    metrics: Sequence[Metric | str | Callable[..., Any]] | Metric | str | Callable[..., Any] | None = None,
    judge: AnyJudge | Sequence[AnyJudge] | Mapping[str, AnyJudge | Sequence[AnyJudge]] | None = None,
    *,
    embedder: Embedder | str | Sequence[Embedder | str] = "",
    language: Literal["en", "ru"] | None = None,
    aggregate: Aggregate | None = None,
    tolerance: float | None = None,
    quorum: int | None = None,
    baseline: str = "",
    primary: str = "",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    listeners: Sequence[Listener] = (),
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    plan: bool = False,
) -> Scores | tuple[Plan, ...]:
    """Scores with reasons for a table of answers, from a script or a notebook cell.

    samples: a Sample or mapping, a list of either, a data frame with one row a sample, the path of a table; of several
        systems {name: any of these}, or a list of paths. Columns are named user_input, response, reference,
        retrieved_contexts (also question, answer, ground_truth, contexts).
    metrics: names or metrics, `"faithfulness"`, `"noise_sensitivity(mode=irrelevant)"`, a criterion (`rb.criterion`), a
        function of yours, whose parameters are called as the fields that it needs; None: all that the fields allow.
    judge: a name of ragbench.toml or "lexical", a judge (`rb.judge`), or several; by metric as {"faithfulness": …}, or
        "faithfulness=NAME" among names for all the others; None: those of a metric's own table, else all configured
        ones, else the lexical one.
    embedder: a name of ragbench.toml or an embedder, or several: each value is kept, and their mean counts; without one
        that of ragbench.toml, else a model on this machine that is of the texts' language, else the offline one.
    language: of prompts and explanations; without it prompts are in the language of each sample's texts, and
        explanations in that of ragbench.toml.
    aggregate, tolerance: how several judges' scores become one, see `ragbench.old.judge.Rule`; quorum: how many of them
        must have measured, else the score is unmeasured. None: as in ragbench.toml, where it is the mean of every judge
        unless set.
    baseline: the system that others are compared with, where the samples name several; the first if empty.
    primary: the metric on which they are compared in a family of its own, all others being the second; the first if
        empty.
    level, resamples, seed: of the intervals.
    listeners: functions that are told of each judge's answer, each score and each sample
        (`ragbench.old.core.progress.Event`), besides those of ragbench.toml.
    columns: which column is a field, where two could be it: {"response": "output"}.
    limit: of so many questions at most, a sample by a hash of their ids, the same for every system and call.
    plan: True asks nobody, and gives a tuple of `ragbench.old.llm.Plan` in place of `Scores`: of each model its calls,
        tokens and money; none where no model would be asked. It needs nobody's trust.

    Raises ValueError, before anything is paid for, for unknown names and for fields that no sample has.
    """
    from ragbench.old.llm import run

    with _scoring(samples, metrics, judge, locals()) as work:
        return run(work)


@overload
async def ascore(
    samples: Any, metrics: Any = None, judge: Any = None, *, plan: Literal[True], **options: Any
) -> tuple[Plan, ...]: ...
@overload
async def ascore(
    samples: Any, metrics: Any = None, judge: Any = None, *, plan: Literal[False] = False, **options: Any
) -> Scores: ...
async def ascore(  # type: ignore[misc]  # as of `score`
    samples: Any,
    metrics: Sequence[Metric | str | Callable[..., Any]] | Metric | str | Callable[..., Any] | None = None,
    judge: AnyJudge | Sequence[AnyJudge] | Mapping[str, AnyJudge | Sequence[AnyJudge]] | None = None,
    *,
    embedder: Embedder | str | Sequence[Embedder | str] = "",
    language: Literal["en", "ru"] | None = None,
    aggregate: Aggregate | None = None,
    tolerance: float | None = None,
    quorum: int | None = None,
    baseline: str = "",
    primary: str = "",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    listeners: Sequence[Listener] = (),
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    plan: bool = False,
) -> Scores | tuple[Plan, ...]:
    """The same as `score`, to be awaited inside an event loop."""
    from ragbench.old.llm import submit

    with _scoring(samples, metrics, judge, locals()) as work:
        return await submit(work)


def criterion(
    question: str | Mapping[str, str],
    *,
    name: str = "",
    scale: str | Sequence[float] | Sequence[str] = "yes/no",
    higher_is_better: bool = True,
    needs: Sequence[str] = (),
    examples: Sequence[Mapping[str, Any]] = (),
    judges: Judge | OwnJudge | str | Sequence[Judge | OwnJudge | str] = (),
) -> Metric:
    """A criterion as a sentence, "Is it polite, and short?", as a metric that asks a judge.

    question: one for all languages, or by language {"en": …, "ru": …}. name: of its numbers; without one made of the
        question's words.
    scale: "yes/no" (1 and 0); two numbers, [1, 5] for whole ratings and [0.0, 1.0] for any; or names of levels from the
        worst to the best, which lie evenly from 0 to 1. higher_is_better: False where a yes is bad.
    needs: fields without which it is not measured and which alone the judge is shown, of user_input, response, contexts
        and reference; without them the response, and the user_input where there is one.
    examples: {"response": …, "verdict": …, "reason": …}, which the judge is shown first.
    judges: who judges it where a call names nobody.

    The same as a table [metrics.NAME] of ragbench.toml. Raises ValueError, naming the key, the value and what is legal.
    """
    from ragbench.old.tiers.scoring import own_metrics

    own = judges if isinstance(judges, list | tuple) else (judges,) if judges else ()
    return own_metrics.criterion(
        question, name=name, scale=scale, higher_is_better=higher_is_better, needs=needs, examples=examples, judges=own
    )


def judge(function: Callable[[str], Any] | None = None, *, name: str = "", **table: Any) -> OwnJudge:
    """A judge for `score`, `criterion` and wherever one is named: a model at an address, or a function of yours.

    rb.judge(model="some-model", base_url="https://api.example.com/v1", key_variable="MY_KEY"), with all that a table
    [judges.NAME] may say besides.
    rb.judge(client=AsyncOpenAI(…), model="some-model"): a client of your own, AsyncAzureOpenAI too, is taken as it is.
    function: is given a prompt as a text and returns the reply, a text or an object for JSON, plain or as a coroutine.
        What it raises leaves one value unmeasured. With `model`, which says what answers, its replies are kept in the
        journal; without it only for the call. `timeout_seconds` and `concurrency` hold for it too.
    name: on pages; without one the function's or the model's.

    Raises ValueError, naming the key, the value and what is legal.
    """
    from ragbench.old.judge import own_judge

    return own_judge(function, name=name, **table)


def load(name: str) -> Dataset:
    """A data set of the folder `data`, else the sample, checked: questions, chunks, references, labels, dialogues.

    name: the folder's name, or a URL of shared storage (`"s3://bucket/campus"`), with a language behind a colon where
    it has several: `"campus:ru"`; without one the pages' language is taken, or its first where it has not that.
    Raises DatasetError, naming file, line and field, for what cannot be read, and for a name that there is not;
    RemoteError for a URL where nothing can be read.
    """
    from ragbench.old.core import settings
    from ragbench.old.tiers.basics.session import dataset_of

    return dataset_of(name, settings.load())


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _annexes.offered("front"):
        return _annexes.taken("front", name)
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name in __all__:  # a room, opened when somebody asks for it
        return import_module("ragbench.old.core.metric" if name == "metric" else f"ragbench.old.{name}")
    raise AttributeError(f"module 'ragbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names alone: a room that was imported is none of them, nor is what this file itself needs."""
    return sorted([*__all__, "__version__"])


_said: set[str] = set()
"""What this process has been told of tables already."""


@contextmanager
def _scoring(samples: Any, metrics: Any, judge: Any, options: dict[str, Any]) -> Iterator[Coroutine[Any, Any, Any]]:
    from ragbench.old.core import terminal, trust
    from ragbench.old.core.expectations import fits, shown
    from ragbench.old.core.progress import Progress, is_watched
    from ragbench.old.data.cells import Forms
    from ragbench.old.data.samples import samples_of
    from ragbench.old.tiers.basics import requests
    from ragbench.old.tiers.basics.findings import check_baseline, leading
    from ragbench.old.tiers.scoring import judge_assignment
    from ragbench.old.tiers.scoring.judge_assignment import kept_replies
    from ragbench.old.tiers.scoring.measure import Asked, applicable, live_line, measure, planned
    from ragbench.old.tiers.scoring.table_sources import sample_of

    if not fits(requests.Limit, options["limit"]):
        raise ValueError(f"limit = {options['limit']!r}: a whole number from 1 or None is expected")
    named = () if judge is None else judge if isinstance(judge, list | tuple | Mapping) else (judge,)
    for each in named.values() if isinstance(named, Mapping) else named:
        if not isinstance(each, str | list | tuple) and not hasattr(each, "name"):
            said = f"judge: {shown(each)} is no judge"
            raise ValueError(f"{said}; names of judges, or judges made by rb.judge(…), are expected")
    with trust.planned() if options["plan"] else nullcontext():
        forms = Forms()
        every = samples_of(samples, columns=options["columns"], forms=forms)
        for note in filter(None, {*forms.told} - _said):
            terminal.say(note, err=True)
        _said.update(forms.told)
        limit = options["limit"]
        rows, taken = (tuple(every), None) if limit is None else sample_of(every, limit)
        is_one = metrics is not None and (isinstance(metrics, str) or not isinstance(metrics, Iterable))
        chosen = applicable(rows, [metrics] if is_one else metrics)
        options |= {name: str(options[name] or "") for name in ("primary", "baseline")}
        _ = leading(options["primary"], chosen)
        check_baseline(options["baseline"], (sample.system for sample in rows if sample.system))
        chosen, judges = judge_assignment.assigned(chosen, named)
        whom = judge_assignment.asking(chosen, judges)
        rule = judge_assignment.rule_of(options["aggregate"], options["tolerance"], options["quorum"], whom)
        same = ("embedder", "language", "baseline", "primary", "level", "resamples", "seed")
        kept: dict[str, Any] = {name: options[name] for name in same}
        total = len(rows) * len(chosen) if is_watched() else 0
        with kept_replies(judges, chosen) as journal, Progress("scoring", total) as progress:
            told: dict[str, Any] = {"advance": progress, "on_change": live_line(progress)}
            told |= {"listeners": tuple(options["listeners"]), "sampled": taken}
            asked = Asked(judges=judges, rule=rule, journal=journal, **told, **kept)
            yield planned(rows, chosen, asked) if options["plan"] else measure(rows, chosen, asked)

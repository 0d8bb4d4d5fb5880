"""`@metric`: a function becomes a declared metric. Its signature says what it reads.

Four kinds, told by the names of the parameters:

- ranking: `gains` (and `ideal`, …): arrays of all questions, a row a question;
- texts: `answers` and `references`: tuples of all pairs;
- row: `question`, `answer`, `reference`, `contexts`, …: the fields of one sample;
- judged: a row metric that is `async` and may ask a `judge`;

and "set" for what is one number of a whole set, whatever its parameters are called.
"""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import inspect
import math
import re
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from ragbench.core.errors import NEVER_ASKED, BenchError, Unmeasured, suggest
from ragbench.core.types import Score, unmeasured

Value = TypeVar("Value")
Better = Literal["higher", "lower", "describes"]
Kind = Literal["ranking", "texts", "row", "judged", "set"]

# What a ranking metric may read: an array with a row a question, or one list of one question.
RANKING = {
    "gains": "(questions, ranks) grade of each retrieved passage: 0 not relevant, NaN not judged",
    "ideal": "(questions, labels) grades of all judged passages, best first, padded with NaN",
    "n_retrieved": "(questions,) how many passages were retrieved; else as many as gains has ranks",
    "shares": "(questions, ranks) of pieces of passages, how much of its passage each newly shows",
}
# What a row metric may read of a sample. A parameter with a default is read where it is there.
FIELDS = {
    "question": "the question",
    "answer": "the answer of the system",
    "reference": "the first right answer",
    "references": "all right answers",
    "contexts": "texts of the passages that were retrieved, best first",
    "context_ids": "ids of these passages",
    "reference_contexts": "texts of the passages that hold the right answer",
    "reference_context_ids": "their ids, in groups of which any will do",
    "language": "language of the sample's texts: en or ru",
    "rubric": "level → what it stands for",
    "messages": "the messages of an agent's run",
    "tool_calls": "the tool calls of an agent's run",
    "expected_tool_calls": "those that it should have made",
    "topics": "the subjects that an agent may deal with",
    "cost": "what an agent's run cost",
    "nuggets": "fact that a good answer says → vital or okay",
}
# What a row metric may use: a judge, an embedder, and what judged claims are shared by.
SERVICES = ("judge", "embedder", "shared")
TREC_LABEL = re.compile(
    r"(?P<name>P|recall|success|ndcg_cut|map_cut|rprec_mult)_(?P<cutoff>\d+)", re.IGNORECASE
)
CATALOGUE: dict[str, Metric] = {}
_ALIASES: dict[str, str] = {}
TRUTHS = ("true", "false")
LABEL = re.compile(r"(?P<name>[\w\s.+-]+)(?:\((?P<options>.*)\))?(?:@(?P<cutoff>\w+))?")


@dataclass(frozen=True)
class Metric:
    """A declared metric, to be called as its function.

    better: "describes" where neither end is good. bounds: the ends of its scale, infinite where
    it has none. cutoffs: at which it is reported when nobody asks for others.
    options: values that are bound, `k` among them.

    >>> mrr([0, 1, 0])
    0.5
    """

    name: str
    kind: Kind
    compute: Callable[..., Any]
    source: str = ""
    better: Better = "higher"
    bounds: tuple[float, float] = (0.0, 1.0)
    cutoffs: tuple[int, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Its name with what is bound: `ndcg(gain=exponential)@10`."""
        bound = [f"{name}={value}" for name, value in self.options.items() if name != "k"]
        options = f"({','.join(bound)})" if bound else ""
        cutoff = f"@{self.options['k']}" if self.options.get("k") is not None else ""
        return f"{self.name}{options}{cutoff}"

    @property
    def summary(self) -> str:
        """The first line of its docstring: its entry in every list of metrics."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The function's parameters: inputs, services and options."""
        return inspect.signature(self.compute).parameters

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields without which it is unmeasured."""
        return tuple(
            name
            for name, parameter in self.parameters.items()
            if name in FIELDS and parameter.default is parameter.empty
        )

    @property
    def compares_with_one_reference(self) -> bool:
        """Whether it reads one reference, so that it is measured with each of several."""
        reads_one = "reference" in self.parameters and "references" not in self.parameters
        return reads_one and self.better != "describes"

    @property
    def option_names(self) -> tuple[str, ...]:
        """The parameters that a label can bind: all with a default that are no input."""
        inputs = {*FIELDS, *SERVICES, *RANKING}
        return tuple(
            name
            for name, parameter in self.parameters.items()
            if name not in inputs and parameter.default is not parameter.empty
        )

    @property
    def uses(self) -> tuple[str, ...]:
        """The services that it takes: judge, embedder."""
        return tuple(name for name in self.parameters if name in SERVICES)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Compute it on plain values: of one question a number, of many an array.

        NaN where it could not be measured.
        A judged metric takes `judge=` and its fields, and returns a Score.
        """
        named = {**self.options, **named}
        check_choices(self, named)
        if self.kind == "ranking":
            return call_ranking(self, *values, **named)
        if self.kind == "texts":
            return call_texts(self, *values, **named)
        if self.kind == "judged":
            arguments = inspect.signature(self.compute).bind(*values, **named).arguments
            return run_async(measure_opened(self, arguments))
        try:
            return self.compute(*values, **named)
        except Unmeasured:
            return math.nan

    async def measure(self, **given: Any) -> Score:
        """Score one sample (kinds row and judged). given: fields and services; None: missing.

        What the metric does not read is ignored. Never raises for a sample: a value that could not
        be measured is a Score with status and reason. Of several references the best counts.
        """
        references = given.get("references") or ()
        if len(references) > 1 and self.compares_with_one_reference:
            each = [{**given, "references": (), "reference": text} for text in references]
            scores = await asyncio.gather(*[self.measure(**fields) for fields in each])
            return best_score(scores, self.better)
        missing = [name for name in self.needs if given.get(name) is None]
        if missing:
            return unmeasured("missing_field", f"no {' and no '.join(missing)}")
        for service in self.uses:
            is_optional = self.parameters[service].default is not inspect.Parameter.empty
            if given.get(service) is None and not is_optional:
                raise BenchError(f"{self.label} is measured with {service}=…; none was given")
        arguments = {name: given[name] for name in self.parameters if given.get(name) is not None}
        try:
            result = self.compute(**{**arguments, **self.options})
            if inspect.isawaitable(result):
                result = await result
        except Unmeasured as gap:
            return unmeasured(gap.status, gap.reason)
        return as_score(result, self.label)


async def measure_opened(metric: Metric, arguments: Mapping[str, Any]) -> Score:
    """Score one sample with its judge opened. Raises BenchError for what is not made a judge."""
    judge = arguments.get("judge")
    if judge is None:
        return await metric.measure(**arguments)
    if not hasattr(judge, "__aenter__"):
        raise BenchError(
            f"{metric.label}: a {type(judge).__name__} is no judge; give judge=ragbench.judge(…), "
            "of a model's name, a function or an object with ask"
        )
    async with judge:
        return await metric.measure(**arguments)


def best_score(scores: list[Score], better: Better) -> Score:
    """Return the best of the scores; the first that failed, since it might be the best.

    One of a reference that holds nothing to judge is passed over, unless all are.
    """
    judged = [score for score in scores if score.status not in NEVER_ASKED] or scores[:1]
    for score in judged:
        if score.status != "ok":
            return score
    choose = min if better == "lower" else max
    return choose(judged, key=lambda score: score.value)


def as_score(result: Any, label: str) -> Score:
    """Make a Score of what a row metric returned: a Score, a number, a truth, or None."""
    if isinstance(result, Score):
        return result
    if result is None:
        return unmeasured("missing_field", f"{label} returned None")
    try:
        value = float(result)
    except (TypeError, ValueError):
        raise BenchError(f"{label} returned {result!r}; a metric returns a number") from None
    if math.isnan(value):
        return unmeasured("missing_field", f"{label} returned NaN")
    return Score(value)


def call_ranking(
    metric: Metric,
    gains: Any,
    ideal: Any = None,
    *,
    n_retrieved: Any = None,
    shares: Any = None,
    **options: Any,
) -> Any:
    """Compute a ranking metric on lists of one question, or on arrays of many.

    Without `ideal` the retrieved passages count as all that are judged. Raises BenchError for
    arrays whose rows differ in number, and for a cut-off below 1.
    """
    check_cutoff(metric, options.get("k"))
    gain_rows = as_rows(metric, gains)
    ideal_rows = gain_rows if ideal is None else as_rows(metric, ideal)
    if len(gain_rows) != len(ideal_rows):
        raise BenchError(
            f"{metric.name}: gains of {len(gain_rows)} questions, ideal of {len(ideal_rows)}"
        )
    if n_retrieved is None:
        n_retrieved = np.full(len(gain_rows), gain_rows.shape[1])
    inputs = {
        "gains": gain_rows,
        "ideal": -np.sort(-ideal_rows, axis=1),
        "n_retrieved": np.atleast_1d(n_retrieved),
        "shares": None if shares is None else as_rows(metric, shares),
    }
    arguments = {name: inputs[name] for name in metric.parameters if name in inputs}
    values = metric.compute(**arguments, **options)
    return float(values[0]) if np.ndim(gains) == 1 else values


def as_rows(metric: Metric, values: Any) -> np.ndarray:
    """Return the grades as (questions, ranks); None is NaN. Raises BenchError for other shapes."""
    try:
        rows = np.atleast_2d(np.asarray(values, dtype=float))
    except (TypeError, ValueError):
        raise BenchError(
            f"{metric.name}: {values!r:.80} are no grades; write {metric.name}([1, 0, 2])"
        ) from None
    if rows.ndim != 2:
        raise BenchError(f"{metric.name}: grades of shape {rows.shape}; (questions, ranks) is read")
    return rows


def check_choices(metric: Metric, options: Mapping[str, Any]) -> None:
    """Refuse a value that is none of the words that the annotation of its option lists."""
    for name, legal in choices_of(metric.compute).items():
        if name in options and options[name] not in legal:
            words = ", ".join(map(str, legal))
            raise BenchError(f"{metric.name}: {name} = {options[name]!r}; it is one of {words}")


@lru_cache
def choices_of(compute: Callable[..., Any]) -> dict[str, tuple[Any, ...]]:
    """Return the words of every option that is annotated as a Literal."""
    try:
        hints = get_type_hints(compute)
    except (NameError, TypeError):  # annotations for type checkers alone
        return {}
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def check_cutoff(metric: Metric, cutoff: Any) -> None:
    """Refuse a cut-off that is no rank."""
    if cutoff is not None and (not isinstance(cutoff, int | np.integer) or cutoff < 1):
        raise BenchError(f"{metric.name}: k = {cutoff!r}; a cut-off is a rank from 1")


def call_texts(
    metric: Metric, answers: Any, references: Any, *services: Any, **options: Any
) -> Any:
    """Compute a metric of texts. One answer gives a number, a list of answers an array.

    references: of every answer one text, or several of which the best counts. NaN without an
    answer (None) or without a reference that is not blank; an empty answer scores as the
    function says, which is 0. Raises BenchError for lists of unequal length.
    """
    if answers is None or isinstance(answers, str):
        return float(call_texts(metric, [answers], [references], *services, **options)[0])
    if len(answers) != len(references):
        raise BenchError(f"{metric.name}: {len(answers)} answers, {len(references)} references")
    rows, *pairs = pair_texts(answers, references)
    values = metric.compute(*map(tuple, pairs), *services, **options)
    # NaN where nothing was paired; of several references the best or, of a distance, the least.
    combined = np.full(len(answers), np.nan)
    choose = np.fmin if metric.better == "lower" else np.fmax
    choose.at(combined, np.array(rows, dtype=int), values)
    return combined


def pair_texts(answers: Any, references: Any) -> tuple[list[int], list[str], list[str]]:
    """Pair every answer with each of its references that are not blank.

    Returns the rows, the answers and the references of all pairs.
    """
    rows, paired_answers, paired_references = [], [], []
    for row, (answer, texts) in enumerate(zip(answers, references, strict=True)):
        if not isinstance(answer, str) or texts is None:
            continue
        for reference in [texts] if isinstance(texts, str) else texts:
            if reference.strip():
                rows.append(row)
                paired_answers.append(answer)
                paired_references.append(reference)
    return rows, paired_answers, paired_references


def metric(
    function: Callable[..., Any] | None = None,
    *,
    source: str = "",
    better: Better = "higher",
    bounds: tuple[float, float] = (0.0, 1.0),
    cutoffs: tuple[int, ...] = (),
    aliases: tuple[str, ...] = (),
    kind: Kind | None = None,
    name: str = "",
) -> Any:
    """Declare a function as a metric; `@metric` alone will do.

    source: the paper that defines it. aliases: what other programs call it.
    kind: where the signature does not tell: "set". Raises BenchError for parameters that are no
    field, no service and have no default.
    """

    def declare(compute: Callable[..., Any]) -> Metric:
        declared = Metric(
            name or compute.__name__,
            kind or tell_kind(compute),
            compute,
            source,
            better,
            bounds,
            cutoffs,
        )
        CATALOGUE[declared.name] = declared
        for alias in (declared.name, *aliases):
            _ALIASES[plain_name(alias)] = declared.name
        return declared

    return declare if function is None else declare(function)


def tell_kind(compute: Callable[..., Any]) -> Kind:
    """Tell the kind of a metric by its parameters."""
    parameters = inspect.signature(compute).parameters
    if "gains" in parameters:
        return "ranking"
    if "answers" in parameters:
        return "texts"
    unknown = [
        name
        for name, parameter in parameters.items()
        if name not in FIELDS and name not in SERVICES and parameter.default is parameter.empty
    ]
    if unknown:
        raise BenchError(
            f"{compute.__name__}: a metric cannot read {', '.join(unknown)}; "
            f"its parameters are called {', '.join(FIELDS)}, options have a default"
        )
    return "judged" if inspect.iscoroutinefunction(compute) else "row"


def plain_name(name: str) -> str:
    """Return a name as names are compared: without case, blanks, hyphens, points, underscores."""
    return re.sub(r"[\s_.-]", "", name).casefold()


def add_aliases(table: Mapping[str, str]) -> None:
    """Let metrics be found by other names: label of a metric → its names, parted by blanks."""
    for label, names in table.items():
        for name in names.split():
            _ALIASES.setdefault(plain_name(name), label)


def parse_label(label: Any) -> Metric:
    """Return the metric of a label, with what it binds: `ndcg(gain=exponential)@10`.

    label: a text, a Metric, a function, or another program's metric object with a `name`. Raises
    BenchError for a name that is not in the catalogue, an unknown option, and no cut-off.
    """
    if isinstance(label, Metric):
        return label
    if inspect.isfunction(label):
        return metric(label)
    import ragbench.metrics  # noqa: F401  declares what stands in the catalogue

    if not isinstance(label, str):
        label = name_of_object(label)
    # trec_eval writes a cut-off behind a line: P_10, ndcg_cut_10.
    label = TREC_LABEL.sub(r"\g<name>@\g<cutoff>", label.strip())
    parts = LABEL.fullmatch(label)
    target = _ALIASES.get(plain_name(parts["name"])) if parts else None
    if parts is None or target is None:
        hint = suggest(label.partition("@")[0].partition("(")[0], CATALOGUE)
        raise BenchError(f"no metric {label!r}{hint}; `ragbench metrics` lists them")
    declared = CATALOGUE[target] if target in CATALOGUE else parse_label(target)
    name = declared.name
    options = parse_options(label, declared, parts["options"]) if parts["options"] else {}
    cutoff = parts["cutoff"]
    if cutoff is not None:
        if "k" not in declared.parameters:
            raise BenchError(f"{label}: {name} has no cut-off")
        if not cutoff.isdigit() or int(cutoff) < 1:
            raise BenchError(f"{label}: a cut-off is a rank from 1, such as {name}@10")
        options["k"] = int(cutoff)
    # Of a rating that is from 1 to 5 by default.
    bounds = (0.0, 1.0) if options.get("scale") == "0-1" else declared.bounds
    check_choices(declared, options)
    options = {**declared.options, **options}
    return dataclasses.replace(declared, options=options, bounds=bounds)


def name_of_object(scorer: Any) -> str:
    """Return the name by which the object of another program is known: its own, or its class's."""
    name = str(getattr(scorer, "name", ""))
    parts = LABEL.fullmatch(name.strip())
    is_known = parts is not None and plain_name(parts["name"]) in _ALIASES
    return name if is_known else type(scorer).__name__


def parse_options(label: str, declared: Metric, text: str) -> dict[str, Any]:
    """Read `mode=irrelevant,beta=2`; a value is a number, true, false, or else a word."""
    options: dict[str, Any] = {}
    for part in text.split(","):
        if not part.strip():
            continue
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name not in declared.option_names:
            legal = ", ".join(declared.option_names)
            has = f"its options are {legal}" if legal else "it has no options"
            raise BenchError(f"{label}: {declared.name} has no option {name!r}; {has}")
        try:
            # `false` as a word would be taken for true.
            options[name] = ast.literal_eval(value.title() if value.lower() in TRUTHS else value)
        except (ValueError, SyntaxError):
            options[name] = value
    return options


def parse_labels(labels: Any) -> list[Metric]:
    """Return the metrics of a list of labels, or of a text that is split at commas.

    Commas within brackets part options, not labels.
    """
    if isinstance(labels, str):
        labels = [part for part in re.split(r",(?![^(]*\))", labels) if part.strip()]
    elif not hasattr(labels, "__iter__"):
        labels = [labels]
    return [parse_label(label) for label in labels]


def run_async(work: Coroutine[Any, Any, Value]) -> Value:
    """Return the result of a coroutine, also where a loop runs already, as in Jupyter.

    Ctrl+C reaches the main thread, which waits here: the coroutine is cancelled, and ends in order.
    """
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def run() -> Value:
        task = asyncio.current_task()
        assert task is not None, "a coroutine that runs is part of a task"
        running.append((task.get_loop(), task))
        try:
            return await work
        except ExceptionGroup as group:
            # Of tasks that ran together, one failed and the others were cancelled.
            raise group.exceptions[0] from None

    with ThreadPoolExecutor() as thread:
        result = thread.submit(asyncio.run, run())
        try:
            return result.result()
        except BaseException:
            for loop, task in running:
                if not result.done():
                    loop.call_soon_threadsafe(task.cancel)
            raise

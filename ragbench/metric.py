"""What a metric is: a plain function with a declaration, found by its name.

A function's first parameter tells the grain it works on; its first docstring line is its entry in every glossary;
the decorator holds what a reader must know besides. `ndcg @ 10` binds a cut-off. A number may go by more names than its
label: `Metric.names` has them all.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ragbench.types import Better

Grain = Literal["ranking", "sample", "turns", "table"]
GRAINS: tuple[Grain, ...] = ("ranking", "sample", "turns", "table")

_registry: dict[str, Metric] = {}


@dataclass(frozen=True)
class Reading:
    """Rules of thumb for a metric's values: what somebody wrote of such values, not what was measured here.

    rules: a sentence each. source: who says so.
    """

    rules: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Metric:
    """A measure as a value: comparable, printable, callable.

    grain: what one call receives (see the first parameter of the function).
    bounds: the ends of the scale, None where it has none.
    better: the direction that is good; None for a number that only describes.
    cutoffs: the cut-offs that the specification publishes; empty for a metric without one.
    options: arguments bound by `with_options` or by a name like `ndcg(gain=exponential)@10`.
    published: the name that summaries use where it differs (the specification's `avg_faithfulness`).
    fields: the fields of a sample that the metric cannot do without.
    formula: how the value is made, in signs and words of plain text. edges: what happens at the ends: nothing to
    measure, all alike, a reply that fails. differs: how it differs from what goes by the same name elsewhere.
    levels: the values that it takes where they are few and not whole numbers of a longer scale: (0, 1) of a yes or no.
    reading: rules of thumb for its values. signed: called with the options, says in another program's own words how
    that program would have to be set to give the same number.
    """

    function: Callable[..., Any]
    source: str
    grain: Grain
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    better: Better | None = "higher"
    cutoffs: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()
    published: str | None = None
    unit: str = ""
    formula: str = ""
    edges: str = ""
    differs: str = ""
    reading: Reading | None = None
    signed: Callable[..., str] | None = None
    levels: tuple[float, ...] = ()
    cutoff: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The function's name: the metric's name in the specification, without cut-off and options."""
        return self.function.__name__

    @property
    def label(self) -> str:
        """The name with its options and cut-off: the column in every table, `ndcg(gain=exponential)@10`."""
        return self._written(self.name, self.cutoff)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a number of this metric goes by, its label first, the published one next.

        Where the specification publishes no cut-offs, also without the one that is bound: on a page that retrieves ten
        documents `mrr` is mrr@10, and whoever says `mrr` means it.
        """
        heads = (self.name, *([self.published] if self.published else []))
        cuts = (self.cutoff,) if self.cutoffs else (self.cutoff, None)
        return tuple(dict.fromkeys(self._written(head, cut) for cut in cuts for head in heads))

    def _written(self, head: str, cutoff: int | None) -> str:
        options = ",".join(f"{key}={value}" for key, value in sorted(self.options.items()))
        return head + (f"({options})" if options else "") + (f"@{cutoff}" if cutoff else "")

    @property
    def signature(self) -> str:
        """How another program would have to be set to give the same number; empty where the metric has no such word."""
        return "" if self.signed is None else self.signed(**self.options)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    @property
    def needs(self) -> tuple[str, ...]:
        """What the function asks for besides its grain: `judge`, `embedder`."""
        return tuple(name for name in inspect.signature(self.function).parameters if name in ("judge", "embedder"))

    @property
    def takes_cutoff(self) -> bool:
        """Whether `metric @ k` means something."""
        return "k" in inspect.signature(self.function).parameters

    @property
    def legal_options(self) -> tuple[str, ...]:
        """What `with_options` can bind."""
        return tuple(
            name
            for name, parameter in inspect.signature(self.function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in ("judge", "embedder")
        )

    def __matmul__(self, cutoff: int) -> Metric:
        if not self.takes_cutoff:
            raise ValueError(f"{self.name} has no cut-off; write it without @{cutoff}")
        if not isinstance(cutoff, int) or isinstance(cutoff, bool) or cutoff < 1:
            raise ValueError(f"{self.name}@{cutoff}: a cut-off is a whole number from 1")
        return replace(self, cutoff=cutoff)

    def with_options(self, **options: Any) -> Metric:
        """The same metric with keyword arguments bound; an unknown one is an error that lists the legal ones."""
        for name in options:
            if name not in self.legal_options:
                legal = ", ".join(self.legal_options) or "none"
                raise ValueError(f"{self.name} has no option {name!r}; it has {legal}")
        return replace(self, options={**self.options, **options})

    def __call__(self, first: Any, **more: Any) -> Any:
        if self.cutoff is not None:
            more = {"k": self.cutoff, **more}
        return self.function(first, **{**self.options, **more})

    def __hash__(self) -> int:
        return hash(self.label)

    def __repr__(self) -> str:
        return self.label


def metric(
    *,
    source: str,
    bounds: tuple[float | None, float | None] = (0.0, 1.0),
    better: Better | None = "higher",
    cutoffs: tuple[int, ...] = (),
    fields: tuple[str, ...] = (),
    published: str | None = None,
    unit: str = "",
    formula: str = "",
    edges: str = "",
    differs: str = "",
    reading: Reading | None = None,
    signed: Callable[..., str] | None = None,
    levels: tuple[float, ...] = (),
    over: Literal["set"] | None = None,
) -> Callable[[Callable[..., Any]], Metric]:
    """Declare a metric and enter it in the catalogue; see `Metric` for what each word means.

    over: "set" for a statistic of a whole table, which is resampled whole.
    """

    def declare(function: Callable[..., Any]) -> Metric:
        first = next(iter(inspect.signature(function).parameters), "")
        grain: Grain = "table" if over == "set" else first  # type: ignore[assignment]
        if grain not in GRAINS:
            raise TypeError(f"{function.__name__}: the first parameter is {first!r}; it is one of {', '.join(GRAINS)}")
        made = Metric(
            function, source, grain, bounds, better, cutoffs, fields, published, unit, formula, edges, differs, reading,
            signed, levels,
        )  # fmt: skip
        there = _registry.get(made.name)
        if there is not None and there.function.__module__ != function.__module__:
            raise ValueError(f"{made.name} is declared in {there.function.__module__} and in {function.__module__}")
        _registry[made.name] = made
        for remembered in (_going_by, _hint):
            remembered.cache_clear()
        return made

    return declare


def registered() -> Mapping[str, Metric]:
    """Metrics by name, of every module imported so far; `ragbench.metrics.catalogue` imports them all."""
    return dict(sorted(_registry.items()))


_NAME = re.compile(r"(?P<name>\w+)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>\d+))?")


def parse(label: str) -> Metric:
    """The registered metric that a label names: `mrr`, `ndcg@10`, `ndcg(gain=exponential)@10`, `avg_rouge1_f`.

    A published name is as good as the metric's own; where it is also another metric's own, that one is meant. Raises
    ValueError with the nearest names for one that does not exist.
    """
    match, found = _candidates(label)
    return _bound(found[0], match)


def called(name: str) -> tuple[Metric, ...]:
    """Every metric that goes by a name, that of `parse` first: `precision` is one of rankings and one of decisions.

    Raises ValueError as `parse` does.
    """
    first, (match, found) = parse(name), _candidates(name)
    others = []
    for each in found[1:]:
        with contextlib.suppress(ValueError):  # without such an option, or without a cut-off: then it is not meant
            others.append(_bound(each, match))
    return (first, *others)


def _candidates(label: str) -> tuple[re.Match[str], list[Metric]]:
    match = _NAME.fullmatch(label.strip())
    name = match["name"] if match else label
    found = list(_going_by(name))
    if match is None or not found:
        raise ValueError(f"there is no metric {label!r}; {_hint(name)}`ragbench metrics` lists all {len(_registry)}")
    return match, found


@functools.lru_cache(maxsize=4096)  # a page asks for every number that it shows
def _going_by(name: str) -> tuple[Metric, ...]:
    own = [_registry[name]] if name in _registry else []
    return tuple(own + [each for key, each in _registry.items() if key != name and name in (each.name, each.published)])


@functools.lru_cache(maxsize=4096)
def _hint(name: str) -> str:
    known = sorted({name for each in _registry.values() for name in (each.name, each.published) if name})
    near = difflib.get_close_matches(name, known, n=3)
    return f"did you mean {' or '.join(near)}? " if near else ""


def _bound(found: Metric, match: re.Match[str]) -> Metric:
    options = dict(_option(found, part) for part in (match["options"] or "").split(",") if part)
    bound = found.with_options(**options) if options else found
    return bound @ int(match["cutoff"]) if match["cutoff"] else bound


def _option(found: Metric, part: str) -> tuple[str, Any]:
    key, equals, value = (each.strip() for each in part.partition("="))
    if not equals:
        raise ValueError(f"{found.name}({part}): an option is written name=value")
    return key, _literal(value)


def _literal(text: str) -> Any:
    """What `f"{value}"` wrote: a whole number, a decimal one, True, False, None, or else the text itself."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text):
        return float(text)
    return {"True": True, "False": False, "None": None}.get(text, text)

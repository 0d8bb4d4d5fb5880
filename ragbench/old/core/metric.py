"""What a metric is: a plain function with a declaration, found by its name, and how its label is written and read.

A function's first parameter tells the grain it works on; its first docstring line is its entry in every glossary;
the decorator holds what a reader must know besides. `ndcg @ 10` binds a cut-off. A number may go by more names than its
label: `Metric.names` has them all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Literal, get_type_hints

import numpy as np

from ragbench.old.core.expectations import fits, legal
from ragbench.old.core.metric_reading import GOALS as GOALS
from ragbench.old.core.metric_reading import Peer as Peer
from ragbench.old.core.metric_reading import Purpose as Purpose
from ragbench.old.core.metric_reading import Reading as Reading
from ragbench.old.core.metric_reading import Stretch as Stretch
from ragbench.old.core.types import Better, Prompt

Grain = Literal["ranking", "sample", "turns", "table"]
GRAINS: tuple[Grain, ...] = ("ranking", "sample", "turns", "table")

FIELDS = ("user_input", "response", "reference", "contexts", "reference_contexts", "rubric", "nuggets",
          "trajectory", "reference_tool_calls", "reference_topics", "cost")  # fmt: skip
"""What a metric can need of a sample."""
HOUSE, ANNEXES = "ragbench.", "ragbench.old.extras."
"""What the modules of the house begin with; a metric of any other is its user's own. Those of annexes among them."""

_registry: dict[str, Metric] = {}
_declarers: list[Callable[[], object]] = []


MOST_GRADES = 11
"""A scale of more whole numbers is as good as continuous."""


def grades(low: float | None, high: float | None) -> tuple[float, ...]:
    """The whole numbers of a short scale such as 1 to 5, worst to best as they stand; none of another scale."""
    if low is None or high is None or low < 0 or not 1 < high - low < MOST_GRADES:
        return ()
    if not (float(low).is_integer() and float(high).is_integer()):
        return ()
    return tuple(float(value) for value in range(int(low), int(high) + 1))


REFERENCES = {
    "": "",
    "best": "Of several references the one that gives the best value counts.",
    "together": "Several references count together, as sacrebleu counts them.",
    "shown": "Of several references the judge sees all.",
}
"""What of several references counts, by what the function says of itself (`ragbench.old.metrics.references`)."""


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
    former: names that it goes by elsewhere, such as in older versions of ragas; whoever writes one means this metric.
    levels: the values that it takes where they are few and not whole numbers of a longer scale: (0, 1) of a yes or no.
    reading: how others read its values. when: where it is of use, a sentence each. purposes: the goals that it serves.
    peers: the programs that give the same numbers. scaled: called with the options, the ends of the scale under them.
    signed: called with the options, says in another program's own words
    how that program would have to be set to give the same number.
    prompts: what it asks a judge. refuse: called with its options when they are bound, raises ValueError for values
    that they cannot have. judges: who judges it where a call names nobody, by name or as objects.
    usual: options that a project binds wherever the metric is named without them. reworded: a project's texts in place
    of those of its prompts, by the prompt's name and by language. meanings: its summary by language, where it is not
    the house's. own: what a project declares of it, as JSON values; empty for what is the house's alone.
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
    prompts: tuple[Prompt[Any], ...] = ()
    refuse: Callable[..., object] | None = None
    former: tuple[str, ...] = ()
    cutoff: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    judges: tuple[Any, ...] = ()
    usual: Mapping[str, Any] = field(default_factory=dict)
    reworded: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    when: tuple[str, ...] = ()
    purposes: tuple[Purpose, ...] = ()
    peers: tuple[Peer, ...] = ()
    scaled: Callable[..., tuple[float, float]] | None = None

    @property
    def name(self) -> str:
        """The function's name: the metric's name in the specification, without cut-off and options."""
        return self.function.__name__

    @cached_property
    def label(self) -> str:
        """The name with its options and cut-off: the column in every table, `ndcg(gain=exponential)@10`."""
        return self._written(self.name, self.cutoff, self.options)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a number of this metric goes by, its label first, the published one next.

        Where the specification publishes no cut-offs, also without the one that is bound: on a page that retrieves ten
        documents `mrr` is mrr@10, and whoever says `mrr` means it. Likewise without options that the project binds.
        """
        heads = (self.name, *([self.published] if self.published else []))
        cuts = (self.cutoff,) if self.cutoffs else (self.cutoff, None)
        bound = (self.options, {}) if self.usual and self.options == self.usual else (self.options,)
        return tuple(dict.fromkeys(self._written(head, cut, own) for own in bound for cut in cuts for head in heads))

    @staticmethod
    def _written(head: str, cutoff: int | None, options: Mapping[str, Any]) -> str:
        said = ",".join(f"{key}={written(value)}" for key, value in sorted(options.items()))
        return head + (f"({said})" if said else "") + (f"@{cutoff}" if cutoff else "")

    @property
    def grades(self) -> tuple[float, ...]:
        """The values that it takes where they are few: its levels, or the whole numbers of its scale; none else."""
        return self.levels or grades(*self.bounds)

    @property
    def signature(self) -> str:
        """How another program would have to be set to give the same number; empty where the metric has no such word."""
        return "" if self.signed is None else self.signed(**self.options)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.function) or "").split("\n", 1)[0]

    def meaning(self, translate: Callable[[str], str], language: str) -> str:
        """The summary in a language: as its user wrote it, or what `translate` makes of the house's."""
        return self.meanings.get(language) or translate(self.summary)

    @property
    def bands(self) -> tuple[Stretch, ...]:
        """The stretches of its scale that its source has a word for; none where an option makes it another number."""
        if self.reading is None or set(self.options) - set(self.reading.under):
            return ()
        return self.reading.bands

    @property
    def several(self) -> str:
        """What of several references counts, as a sentence; empty where none is read, or a user's function reads it."""
        return REFERENCES[getattr(self.function, "references", "")]

    @property
    def is_users(self) -> bool:
        """Whether its function is its user's, and may do anything."""
        return not f"{self.function.__module__}.".startswith(HOUSE)

    @property
    def is_annexed(self) -> bool:
        """Whether an annex declares it: then it is measured where it is named, and not wherever it could be."""
        return self.function.__module__.startswith(ANNEXES)

    @cached_property
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
        return tuple(_expected(self.function))

    @property
    def legal_values(self) -> Mapping[str, str]:
        """What each option can be, in words; empty where the function does not say."""
        return {name: "" if hint is Any else legal(hint) for name, hint in _expected(self.function).items()}

    def __matmul__(self, cutoff: int) -> Metric:
        if not self.takes_cutoff:
            raise ValueError(f"{self.name} has no cut-off; write it without @{cutoff}")
        if not isinstance(cutoff, int) or isinstance(cutoff, bool) or cutoff < 1:
            raise ValueError(f"{self.name}@{cutoff}: a cut-off is a whole number from 1")
        return replace(self, cutoff=cutoff)

    def with_options(self, **options: Any) -> Metric:
        """The same metric with keyword arguments bound; a field that is among them is needed of no sample any more.

        Raises ValueError for an unknown one, with the legal ones, and for a value that it cannot have, with those that
        it can.
        """
        for name in options:
            if name not in self.legal_options:
                known = ", ".join(self.legal_options) or "none"
                raise ValueError(f"{self.name} has no option {name!r}; it has {known}")
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
        bound = {**self.options, **plain}
        self._check(bound)
        fields = tuple(name for name in self.fields if name not in bound)
        bounds = self.bounds if self.scaled is None else self.scaled(**bound)
        return replace(self, options=bound, fields=fields, bounds=bounds)

    def __call__(self, first: Any, **more: Any) -> Any:
        if self.cutoff is not None:
            more = {"k": self.cutoff, **more}
        bound = {**self.options, **more}
        if own := {name: bound[name] for name in self.legal_options if name in more}:
            self._check({**self.options, **own})
        return self.function(first, **bound)

    def _check(self, bound: Mapping[str, Any]) -> None:
        for name, value in bound.items():
            if not fits(hint := _expected(self.function)[name], value):
                raise ValueError(f"{self.name}: {name} = {value!r}: {legal(hint)} is expected")
        if self.refuse is not None:
            self.refuse(**bound)

    def __hash__(self) -> int:
        return hash(self.label)

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name where another process can find it by that, with what is bound; else with its function."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        there, module = _registry.get(self.name), sys.modules.get(self.function.__module__)
        declared = getattr(getattr(module, self.function.__name__, None), "function", None)
        if there is None or there.function is not self.function or declared is not self.function:
            return Metric, tuple(values.values())
        bound = {name: value for name, value in values.items() if value is not getattr(there, name)}
        if self.reworded:  # its texts may stand in files, which the other process need not have
            bound |= {"reworded": self.reworded, "prompts": self.prompts}
        return _found, (self.function.__module__, self.name, bound)

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
    prompts: tuple[Prompt[Any], ...] = (),
    refuse: Callable[..., object] | None = None,
    former: tuple[str, ...] = (),
    when: tuple[str, ...] = (),
    purposes: tuple[Purpose, ...] = (),
    peers: tuple[Peer, ...] = (),
    scaled: Callable[..., tuple[float, float]] | None = None,
    over: Literal["set"] | None = None,
) -> Callable[[Callable[..., Any]], Metric]:
    """Declare a metric and enter it in the catalogue; see `Metric` for what each word means.

    over: "set" for a statistic of a whole table, which is resampled whole.
    Raises TypeError or ValueError, naming the function, for what cannot be declared, and for a name that is taken.
    """

    def declare(function: Callable[..., Any]) -> Metric:
        first = next(iter(inspect.signature(function).parameters), "")
        grain: Grain = "table" if over == "set" else first  # type: ignore[assignment]
        if grain not in GRAINS:
            raise TypeError(f"{function.__name__}: the first parameter is {first!r}; it is one of {', '.join(GRAINS)}")
        made = Metric(
            function, source, grain, bounds, better, cutoffs, fields, published, unit, formula, edges, differs, reading,
            signed, levels, prompts, refuse, former=former, when=when, purposes=purposes, peers=peers,
            scaled=scaled,
        )  # fmt: skip
        check(made)
        enter(made)
        return made

    return declare


@functools.lru_cache(maxsize=4096)
def _expected(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The options of a metric's function with their annotations; Any where it has none, or none that can be told."""
    return {
        name: _hint_of(function, parameter.annotation)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in ("judge", "embedder")
    }


def _hint_of(function: Callable[..., Any], annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    alone = SimpleNamespace(__annotations__={"option": annotation})
    try:
        hints = get_type_hints(alone, inspect.unwrap(function).__globals__, include_extras=True)
    except Exception:  # a name that is imported for types only, or nowhere
        return Any
    return hints["option"]


def check(made: Metric) -> None:
    """Raises ValueError, naming metric, value and what is legal, for a declaration that cannot be followed."""
    for name in made.fields:
        if name not in FIELDS:
            raise ValueError(f"{made.name}: fields = {name!r}: a sample has {', '.join(FIELDS)}")
    low, high = made.bounds
    if low is not None and high is not None and not low < high:
        raise ValueError(f"{made.name}: bounds = {made.bounds}: the lower end comes first")
    for purpose in made.purposes:
        if purpose.goal not in GOALS:
            raise ValueError(f"{made.name}: goal = {purpose.goal!r}: there are {', '.join(GOALS)}")
    if made.better not in ("higher", "lower", None):
        raise ValueError(f"{made.name}: better = {made.better!r}: it is higher, lower or None")
    if made.grain == "table" and made.is_users and (made.needs or inspect.iscoroutinefunction(made.function)):
        asks = f"it may ask no {made.needs[0]}" if made.needs else "write it as a plain def"
        raise ValueError(f"{made.name} works on all answers of a system, and is called thousands of times: {asks}")
    if "judge" in made.needs and not inspect.iscoroutinefunction(inspect.unwrap(made.function)):
        raise ValueError(f"{made.name} asks a judge, whose answer is awaited: write it as async def")


def enter(made: Metric) -> None:
    """Put it into the catalogue, in place of one of the same function or module.

    Raises ValueError for a name that another module has.
    """
    there = _registry.get(made.name)
    if there is not None and there.function.__module__ != made.function.__module__:
        if there.is_users and not made.is_users:
            _forget(made.name)  # the house comes in at the next look
        raise ValueError(
            f"{made.name} is declared in {there.function.__module__} and in {made.function.__module__}: choose another "
            "name for yours"
        )
    _registry[made.name] = made
    _refresh()


def withdraw(name: str, before: Metric | None = None) -> None:
    """Take a metric out of the catalogue, or put the one back that was there before."""
    _forget(name)
    if before is not None:
        _registry[name] = before
    _refresh()


def also(declare: Callable[[], object]) -> None:
    """Have a project's own metrics declared by this function, which is called before any name is looked up."""
    _declarers.append(declare)


def _found(module: str, name: str, bound: Mapping[str, Any]) -> Metric:
    """The metric that another process declared in the module, or by its settings, with what it had bound."""
    with contextlib.suppress(ImportError):
        importlib.import_module(module)
    known = registered()
    if name not in known:
        raise ValueError(f"{name} is declared in {module}, which this process does not have: give it the same files")
    return replace(known[name], **bound)


def _forget(name: str) -> None:
    _registry.pop(name, None)
    _refresh()


def _refresh() -> None:
    for remembered in (_going_by, _hint):
        remembered.cache_clear()


def _look() -> None:
    for declare in _declarers:
        declare()


def registered() -> Mapping[str, Metric]:
    """Metrics by name, of every module imported so far; `ragbench.old.metrics.catalogue` imports them all."""
    _look()
    return dict(sorted(_registry.items()))


def parse(label: str) -> Metric:
    """The registered metric that a label names: `mrr`, `ndcg@10`, `ndcg(gain=exponential)@10`, `avg_rouge1_f`.

    A value with a comma or a bracket in it is quoted: `aspect_critique(aspect="Polite, and short?")`. A published name
    is as good as the metric's own; where it is also another metric's own, that one is meant. Raises ValueError with the
    nearest names for one that does not exist.
    """
    written, candidates = _candidates(label)
    return _bound(candidates[0], written)


def called(name: str) -> tuple[Metric, ...]:
    """Every metric that goes by a name, that of `parse` first: `precision` is one of rankings and one of decisions.

    Raises ValueError as `parse` does.
    """
    first, (written, candidates) = parse(name), _candidates(name)
    others = []
    for each in candidates[1:]:
        with contextlib.suppress(ValueError):  # without such an option, or without a cut-off: then it is not meant
            others.append(_bound(each, written))
    return (first, *others)


def _candidates(label: str) -> tuple[Label, list[Metric]]:
    _look()
    written = read(label)
    name = written.name if written else label
    candidates = list(_going_by(name))
    if written is None or not candidates:
        raise ValueError(f"there is no metric {label!r}; {_hint(name)}`ragbench metrics` lists all {len(_registry)}")
    return written, candidates


@functools.lru_cache(maxsize=4096)  # a page asks for every number that it shows
def _going_by(name: str) -> tuple[Metric, ...]:
    own = [_registry[name]] if name in _registry else []
    return tuple(
        own
        + [each for key, each in _registry.items() if key != name and name in (each.name, each.published, *each.former)]
    )


@functools.lru_cache(maxsize=4096)
def _hint(name: str) -> str:
    known = {name.casefold(): name for each in _registry.values() for name in (each.name, each.published) if name}
    near = difflib.get_close_matches(name.casefold(), sorted(known), n=3)
    return f"did you mean {' or '.join(known[near_name] for near_name in near)}? " if near else ""


def _bound(metric: Metric, written: Label) -> Metric:
    if written.broken:
        raise ValueError(f"{metric.name}({written.broken}): an option is written name=value")
    bound = metric.with_options(**written.options) if written.options else metric
    return bound if written.cutoff is None else bound @ written.cutoff


_HEAD = re.compile(r"\s*(?P<name>\w+)(?P<opened>\()?")
_TAIL = re.compile(r"(?:@(?P<cutoff>\d+))?\s*")
_KEY = re.compile(r"\s*(?P<key>\w+)\s*=\s*")
_BARE = re.compile(r"[^,()]*")
_AFTER = re.compile(r"\s*(?P<sign>[,)])")
_READ = json.JSONDecoder()


@dataclass(frozen=True)
class Label:
    """A label as it is written. broken: the first of its options that is not written name=value."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    cutoff: int | None = None
    broken: str = ""


def read(text: str) -> Label | None:
    """A label's parts: values are bare words and numbers, or JSON where they hold a comma or a bracket."""
    head = _HEAD.match(text)
    if head is None:
        return None
    at, options, broken = head.end(), dict[str, Any](), ""
    while head["opened"]:
        if text[at : at + 1] == ")":
            at += 1
            break
        key = _KEY.match(text, at)
        at = key.end() if key else at
        if key and text[at : at + 1] in ('"', "{", "["):
            try:
                value, at = _READ.raw_decode(text, at)
            except ValueError:
                return None
        else:
            bare = _BARE.match(text, at)
            assert bare is not None, "it matches nothing, too"
            value, at = _literal(bare[0].strip()), bare.end()
            broken = broken or ("" if key else bare[0].strip())
        if key:
            options[key["key"]] = value
        sign = _AFTER.match(text, at)
        if sign is None:
            return None
        at = sign.end()
        if sign["sign"] == ")":
            break
    tail = _TAIL.fullmatch(text, at)
    return (
        None if tail is None else Label(head["name"], options, int(tail["cutoff"]) if tail["cutoff"] else None, broken)
    )


def parted(text: str) -> list[str]:
    """Labels or names that stand in one text, parted by commas: one within parentheses parts nothing."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for letter in text:
        if quoted:
            quoted, escaped = letter != '"' or escaped, letter == "\\" and not escaped
        elif letter == "," and depth == 0:
            parts.append("")
            continue
        else:
            quoted = letter == '"' and depth > 0
            depth = max(0, depth + (letter == "(") - (letter == ")"))
        parts[-1] += letter
    return parts


_PLAIN = re.compile(r"[^,()\[\]{}\"@\s](?:[^,()\[\]{}\"@\n]*[^,()\[\]{}\"@\s])?")


def written(value: Any) -> str:
    """An option's value in a label: as it is where `read` reads the same again, else as JSON."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    plain = not isinstance(value, str) or (_PLAIN.fullmatch(value) and _literal(value) == value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def _literal(text: str) -> Any:
    """What `str(value)` or JSON wrote: a number, a truth value, nothing, or else the text itself."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text):
        return float(text)
    words = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
    return words.get(text, text)

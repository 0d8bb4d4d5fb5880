"""A project's own metrics in the catalogue: criteria and changed built-in ones of ragbench.toml, modules of functions.

They are declared anew whenever the settings are; what is wrong with them is said by `check`, before anything is asked.
"""

from __future__ import annotations

import hashlib
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragbench.old.core import metric as declarations
from ragbench.old.core import settings as configuration
from ragbench.old.core import trust
from ragbench.old.core.language import LANGUAGES, translator
from ragbench.old.core.metric import GOALS, Metric, Purpose
from ragbench.old.core.names import meant
from ragbench.old.core.settings import ConfigurationError, MetricSettings, Settings
from ragbench.old.core.settings.metric_tables import NEEDS, YES_NO, scale, texts
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import SLOT, Prompt
from ragbench.old.data import files
from ragbench.old.judge import OFFLINE_JUDGES
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.criterion import Criterion, Example, name_of
from ragbench.old.systems import callables
from ragbench.old.tiers.scoring import functions

MOST_PROMPT = 2**20
"""Bytes of a prompt's file, which is read whole."""


@dataclass
class _State:
    """settings: those that the present declarations were made of. before: what they stand in the place of, by name.
    faults: what could not be declared, and why."""

    settings: Settings | None = None
    before: dict[str, Metric | None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    untrusted: tuple[str, ...] = ()


_state = _State()
_guard = threading.RLock()


def declare() -> None:
    """Bring the catalogue in line with the settings. What cannot be declared is left out; `check` says why."""
    try:
        known = configuration.load()
    except ConfigurationError:  # whoever needs the settings says so
        return
    with _guard:
        if known is _state.settings and not (_state.untrusted and not _untrusted(known)):
            return
        _state.settings, _state.faults, _state.untrusted = known, [], ()
        for name, before in _state.before.items():
            declarations.withdraw(name, before)
        _state.before = {}
        if not (known.metrics.named or known.metrics.modules):
            return
        catalogue()
        for name, table in known.metrics.named.items():
            _kept(_table, name, table)
        _state.untrusted = _untrusted(known)
        for module in known.metrics.modules:
            if module not in _state.untrusted:
                _kept(_module, module)


def check() -> None:
    """Raises ConfigurationError, a line a fault, where what the settings say of metrics cannot be followed, and
    UntrustedError where their modules are not trusted."""
    declare()
    trust.require(*trust.named("metrics"))
    if problems := faults():
        raise ConfigurationError("\n".join(problems))


def faults() -> list[str]:
    """What the settings say of metrics that cannot be followed, a line each; of modules that are trusted."""
    declare()
    return [f"{configuration.config_path().name}: {fault}" for fault in _state.faults]


def untrusted() -> tuple[str, ...]:
    """The modules of the settings whose metrics are not in the catalogue, because nobody has trusted them."""
    declare()
    return _state.untrusted


def _untrusted(known: Settings) -> tuple[str, ...]:
    return known.metrics.modules if trust.doubts(*trust.named("metrics.modules")) else ()


def _kept(work: Callable[..., None], *given: Any) -> None:
    try:
        work(*given)
    except ValueError as error:
        _state.faults.append(str(error))


def _enter(made: Metric, before: Metric | None) -> None:
    _state.before.setdefault(made.name, before)
    if before is not None:
        declarations.withdraw(made.name)
    declarations.enter(made)


def _table(name: str, table: MetricSettings) -> None:
    there = declarations.registered().get(name)
    if table.question is None:
        if there is None:
            raise ValueError(
                f"[metrics.{name}]: there is no metric {name!r}{meant(name, declarations.registered())} A criterion of "
                "your own needs a `question`"
            )
        _enter(_changed(there, table), there)
        return
    _enter(_criterion(name, table), there)


def _criterion(name: str, table: MetricSettings) -> Metric:
    assert table.question is not None
    there = declarations.registered().get(name)
    if there is not None and not (there.is_users or "question" in there.own):
        raise ValueError(f"[metrics.{name}] this name is a built-in metric's: choose another for your criterion")
    examples = [
        Example(
            {key: value for key, value in each.model_dump(include=set(NEEDS)).items() if value is not None},
            each.verdict, each.reason,
        )
        for each in table.examples
    ]  # fmt: skip
    try:
        return Criterion(
            name, _by_language(table.question), scale(table.scale), table.higher_is_better, table.needs, tuple(examples)
        ).metric(table.judges)
    except ValueError as error:
        raise ValueError(f"[metrics.{name}] {error}") from None


def _by_language(question: str | Mapping[str, str]) -> Mapping[str, str]:
    return {"": question} if isinstance(question, str) else dict(question)


def criterion(
    question: str | Mapping[str, str],
    *,
    name: str = "",
    scale: Any = YES_NO,
    higher_is_better: bool = True,
    needs: Sequence[str] = (),
    examples: Sequence[Mapping[str, Any]] = (),
    judges: Any = (),
) -> Metric:
    """A criterion of one's own as a metric, in the catalogue from then on; see `ragbench.criterion`."""
    table = {
        "question": question, "scale": scale, "higher_is_better": higher_is_better, "needs": tuple(needs),
        "examples": tuple(examples),
    }  # fmt: skip
    own = tuple(judges) if isinstance(judges, list | tuple) else (judges,)
    asked = texts("question", question)
    label = name or name_of(asked if isinstance(asked, str) else next(iter(asked.values())))
    settings = configuration.metric_table(label, table)
    for judge in own:
        if isinstance(judge, str) and judge not in (known := (*OFFLINE_JUDGES, *sorted(configuration.load().judges))):
            raise ValueError(f"judges = {judge!r}: there is no such judge; there are {', '.join(known)}")
    catalogue()
    with _guard:
        made = replace(_criterion(label, settings), judges=own)
        declarations.withdraw(label, made)  # it stays when the settings change
        _state.before.pop(label, None)
    return made


def _changed(there: Metric, table: MetricSettings) -> Metric:
    """A built-in metric with what a project says of it. Raises ValueError."""
    try:
        reworded = _reworded(there, table.prompt) if table.prompt is not None else {}
        bound = there.with_options(**table.options) if table.options else there
    except ValueError as error:
        raise ValueError(f"[metrics.{there.name}] {error}") from None
    if table.judges and "judge" not in there.needs:
        raise ValueError(f"[metrics.{there.name}] judges: it asks no judge")
    prompts = tuple(
        replace(each, texts={**each.texts, **reworded[each.name]}) if each.name in reworded else each
        for each in there.prompts
    )
    own = {
        **({"options": dict(table.options)} if table.options else {}),
        **({"prompt": reworded} if reworded else {}),
        **({"judges": list(table.judges)} if table.judges else {}),
    }
    return replace(bound, usual=dict(table.options), reworded=reworded, prompts=prompts, judges=table.judges, own=own)


def _reworded(there: Metric, given: str | Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """A project's texts by prompt and language. Raises ValueError for a prompt, a language or a place that there is
    not, and for a place that is missing."""
    names = [each.name for each in there.prompts]
    if not names:
        raise ValueError("prompt: it asks no judge")
    by_name: Mapping[str, Any]
    if isinstance(given, str) or set(given) <= set(LANGUAGES):
        if len(names) > 1:
            raise ValueError(f"prompt: it has {len(names)}: name the one that you mean, {', '.join(names)}")
        by_name = {names[0]: given}
    else:
        by_name = given
    texts: dict[str, dict[str, str]] = {}
    for name, wording in by_name.items():
        if name not in names:
            raise ValueError(
                f"prompt.{name}: there is no such prompt{meant(name, names)}; there are {', '.join(names)}"
            )
        prompt = next(each for each in there.prompts if each.name == name)
        spoken = dict.fromkeys(prompt.texts, wording) if isinstance(wording, str) else wording
        texts[name] = {language: _text(prompt, language, text) for language, text in spoken.items()}
    return texts


def _text(prompt: Prompt[Any], language: str, given: str) -> str:
    """The text, or what the file of that name holds, with exactly the places of the prompt in it."""
    text, place = given, f"prompt {prompt.name}, {language}"
    if "\n" not in given and not SLOT.search(given):
        path = configuration.project_folder() / Path(given)
        if not path.is_file():
            raise ValueError(
                f"{place} = {excerpt(repr(given), 100)}: a file, or a text with the places "
                f"{', '.join(f'{{{slot}}}' for slot in sorted(prompt.slots))}, is expected; there is no such file"
            )
        text, place = files.read_text(path, limit=MOST_PROMPT), f"{place} ({given})"
    slots = frozenset(SLOT.findall(text))
    if missing := sorted(prompt.slots - slots):
        raise ValueError(f"{place}: the place {{{missing[0]}}} is missing")
    if strange := sorted(slots - prompt.slots):
        legal = ", ".join(f"{{{slot}}}" for slot in sorted(prompt.slots))
        raise ValueError(f"{place}: there is no place {{{strange[0]}}}; there are {legal}")
    return text


def _module(name: str) -> None:
    """The metrics that a module declares. Raises ValueError where it cannot be imported, or declares none."""
    try:
        module = callables.module(name)
    except ValueError as error:
        raise ValueError(f"metrics.modules = {name!r}: {error}") from None
    made = [each for each in vars(module).values() if isinstance(each, Metric) and each.is_users]
    if not made:
        raise ValueError(
            f"metrics.modules = {name!r}: it declares no metric; put @metric(source=…) of ragbench over its functions"
        )
    for each in made:
        declarations.enter(replace(each, own={"module": name, "function": _digest(each)}))
        _state.before.setdefault(each.name, None)


def _digest(metric: Metric) -> str:
    """Of the function's source: which version of it gave the numbers."""
    try:
        source = inspect.getsource(inspect.unwrap(metric.function))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def value_of(given: Any) -> Metric:
    """What somebody gave as a metric: one, its label, or a function. Raises ValueError."""
    if isinstance(given, Metric):
        return given
    if isinstance(given, str):
        return declarations.parse(given)
    if callable(given) and not isinstance(given, type):
        return functions.declared(given)
    raise ValueError(
        f"metrics: {excerpt(repr(given), 80)} is no metric, no name of one and no function; `ragbench metrics` lists "
        "the names, rb.criterion(…) makes one of a question"
    )


@dataclass(frozen=True)
class Choice:
    """A metric for a goal, with the cut-off that serves it, and its purpose, which says why."""

    metric: Metric
    purpose: Purpose


def named(text: str) -> str:
    """The goal that somebody means by its name or title, whatever the letter case.

    Raises ValueError, listing all goals, for none.
    """
    wanted = _folded(text)
    for name, title in GOALS.items():
        if wanted in {_folded(name), *(_folded(translator(language)(title)) for language in LANGUAGES)}:
            return name
    raise ValueError(
        f"{text!r} is no goal; there are {', '.join(f'{name} ({title})' for name, title in GOALS.items())}"
    )


def choices(goal: str) -> tuple[Choice, ...]:
    """The metrics for a goal, by name. Raises ValueError as `named` does."""
    name = named(goal)
    return tuple(
        Choice(metric if purpose.cutoff is None else metric @ purpose.cutoff, purpose)
        for metric in catalogue().values()
        for purpose in metric.purposes
        if purpose.goal == name
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("ё", "е").replace("-", " ").split())

"""The tables `[metrics.NAME]`: a criterion of your own as a sentence, or what is otherwise about a built-in metric."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from ragbench.core.expectations import kind, shown
from ragbench.core.language import LANGUAGES
from ragbench.core.settings.tables import Band, Table

Need = Literal["user_input", "response", "contexts", "reference"]
YES_NO = "yes/no"
MOST_LEVELS = 100
Texts = dict[str, str]
"""By language."""
Scale = str | tuple[float, float] | tuple[str, ...]
OF_CRITERIA = ("question", "scale", "higher_is_better", "needs", "examples")
OF_BUILT_IN = ("prompt", "options")
_NAME = re.compile(r"[^\W\d]\w*")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class ExampleSettings(Table):
    """An answer with the verdict that it deserves, which the judge is shown before it is asked."""

    user_input: str | None = Field(default=None, description="the question that was asked")
    response: str | None = Field(default=None, description="the answer")
    contexts: tuple[str, ...] | None = Field(default=None, description="the passages that were retrieved")
    reference: str | None = Field(default=None, description="the reference answer")
    verdict: bool | int | float | str = Field(
        description="yes or no (true or false), a number of the scale, or the name of a level"
    )
    reason: str = Field(default="", description="why, in a short sentence")


class MetricSettings(Table):
    """A criterion of your own, which has a `question`; or a built-in metric, with a prompt, judges or options of yours.

    What a criterion is belongs to its key in the journal, and stands on every page with its numbers.
    """

    question: str | Texts | None = Field(
        default=None,
        description="the criterion as a sentence, or by language {en = …, ru = …}; not set: a built-in metric is meant",
    )
    scale: str | list[float] | list[str] = Field(
        default=YES_NO,
        description="yes/no; [lowest, highest], whole ratings between whole numbers and any between decimal ones; or "
        "names of levels from the worst to the best, which lie evenly from 0 to 1",
    )
    higher_is_better: bool = Field(default=True, description="false: a yes, a high rating or the last level is bad")
    needs: tuple[Need, ...] = Field(
        default=(),
        description="fields without which it is not measured, and which alone the judge is shown; not set: the "
        "response, and the user_input where there is one",
    )
    examples: tuple[ExampleSettings, ...] = Field(default=(), description="that the judge is shown before it is asked")
    judges: tuple[str, ...] = Field(
        default=(), description="NAMEs of [judges.NAME] that judge it where a command, a page or a call names none"
    )
    prompt: str | dict[str, str | Texts] | None = Field(
        default=None,
        description="of a built-in metric, in place of its own: a text with the same places in braces, or a file with "
        "one; by language {en = …, ru = …}, and by the prompt's name where it has several",
    )
    options: dict[str, Any] = Field(
        default={}, description="of a built-in metric: arguments that are bound wherever it is named without them"
    )
    band: Band | None = Field(default=None, description="from which value on it is good, and above which excellent")

    @field_validator("question", mode="plain", json_schema_input_type=str | Texts)
    @classmethod
    def _question(cls, given: Any) -> str | Texts:
        return texts("question", given)

    @field_validator("scale", mode="plain", json_schema_input_type=str | list[float] | list[str])
    @classmethod
    def _scale(cls, given: Any) -> Scale:
        return scale(given)

    @field_validator("prompt", mode="plain", json_schema_input_type=str | dict[str, str | Texts])
    @classmethod
    def _prompt(cls, given: Any) -> str | dict[str, str | Texts]:
        if isinstance(given, Mapping) and given and not set(given) <= set(LANGUAGES):
            return {str(name): texts(f"prompt.{name}", wording) for name, wording in given.items()}
        return texts("prompt", given)  # type: ignore[return-value]

    @model_validator(mode="after")
    def _of_one_kind(self) -> MetricSettings:
        others = OF_BUILT_IN if self.question is not None else OF_CRITERIA
        if strange := [name for name in others if name in self.model_fields_set]:
            only = "a criterion, which has a `question`" if self.question is None else "a built-in metric"
            raise ValueError(f"{', '.join(strange)}: only of {only}")
        if len(set(self.needs)) < len(self.needs):
            raise ValueError(f"needs = {list(self.needs)}: each field once")
        return self


class MetricsSettings(Table):
    """Your own metrics: modules of functions, and tables [metrics.NAME]."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True, defer_build=True)
    __pydantic_extra__: dict[str, MetricSettings]

    modules: tuple[str, ...] = Field(
        default=(), description="Python modules beside ragbench.toml whose functions are declared as metrics"
    )
    listeners: tuple[str, ...] = Field(
        default=(),
        description="your functions, module:function, that are told of each judge's answer, each score and each sample",
    )
    timeout_seconds: float = Field(
        default=60.0,
        gt=0,
        description="of one call of a function of yours, and of one event that a listener is told; of all resamples of "
        "a system by a function of whole sets",
    )

    @property
    def named(self) -> Mapping[str, MetricSettings]:
        """The tables [metrics.NAME] by NAME."""
        return self.__pydantic_extra__ or {}

    @field_validator("modules")
    @classmethod
    def _modules(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            if not _MODULE.fullmatch(name):
                raise ValueError(f"modules = {name!r}: the dotted name of a module is expected, such as mine.metrics")
        return given

    @field_validator("listeners")
    @classmethod
    def _listeners(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for path in given:
            module, _, function = path.partition(":")
            if not (_MODULE.fullmatch(module) and _MODULE.fullmatch(function)):
                raise ValueError(f"listeners = {path!r}: module:function is expected, such as mine.tracing:told")
        return given

    @model_validator(mode="before")
    @classmethod
    def _tables(cls, given: Any, info: ValidationInfo) -> Any:
        if not isinstance(given, Mapping):
            return given
        for name, table in given.items():
            if name in cls.model_fields:
                continue
            if not isinstance(table, Mapping | MetricSettings):
                near = difflib.get_close_matches(str(name), cls.model_fields, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ValueError(
                    f"there is no key 'metrics.{name}'{hint} Legal here: {', '.join(cls.model_fields)}, and tables "
                    "[metrics.NAME]"
                )
            if not _NAME.fullmatch(str(name)):
                raise ValueError(
                    f"[metrics.{name!r}]: a metric's name is made of letters, digits and _, a letter first"
                )
        return given


def texts(what: str, given: Any) -> str | Texts:
    """A text, or texts by language, none of them empty. Raises ValueError, naming what it is of."""
    if isinstance(given, str):
        if not given.strip():
            raise ValueError(f"{what} = {given!r}: it is empty")
        return given
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"{what} = {shown(given)}: a text is expected, or texts by language {{en = …, ru = …}}")
    for language, text in given.items():
        if language not in LANGUAGES:
            raise ValueError(f"{what}.{language}: there is no such language; there are {', '.join(LANGUAGES)}")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{what}.{language} = {shown(text)}: a text is expected")
    return dict(given)


def scale(given: Any) -> Scale:
    """A criterion's scale: "yes/no", two numbers that rise, or two and more names. Raises ValueError with what is
    legal."""
    legal = 'legal are "yes/no", two numbers [1, 5], and names of levels from the worst to the best'
    if isinstance(given, str):
        if given != YES_NO:
            raise ValueError(f"scale = {given!r}: {legal}")
        return given
    if not isinstance(given, list | tuple):
        raise ValueError(f"scale = {shown(given)}: that is {kind(given)}; {legal}")
    levels = list(given)
    if levels and all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels):
        if len(levels) != 2 or not all(map(math.isfinite, levels)) or not levels[0] < levels[1]:
            raise ValueError(f"scale = {shown(levels)}: two numbers are expected, the lowest first")
        return (levels[0], levels[1])
    if not all(isinstance(level, str) and level.strip() for level in levels):
        raise ValueError(f"scale = {shown(levels)}: {legal}")
    if not 2 <= len(levels) <= MOST_LEVELS or len({level.strip().casefold() for level in levels}) < len(levels):
        raise ValueError(f"scale = {shown(levels)}: 2 to {MOST_LEVELS} names are expected, each once")
    return tuple(level.strip() for level in levels)


NEEDS: tuple[str, ...] = get_args(Need)

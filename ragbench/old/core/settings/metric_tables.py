"""The tables `[metrics.NAME]`: a criterion of your own as a sentence, or what is otherwise about a built-in metric.

And named sets of thresholds: what counts as good and as excellent, metric by metric.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, get_args

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from ragbench.old.core.expectations import kind, shown
from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.settings.tables import Band, Table

Need = Literal["user_input", "response", "contexts", "reference"]
YES_NO = "yes/no"
MOST_LEVELS = 100  # more are no names of levels but a column of numbers
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


UNIT, RATING, COSINE = (0.0, 1.0), (1.0, 5.0), (-1.0, 1.0)  # shares, five stars, cosines


def _bands(names: Iterable[str], excellent: float, good: float) -> dict[str, Band]:
    return {name: Band(excellent=excellent, good=good, scale=UNIT) for name in names}


def _aims(aims: Mapping[str, float], scale: tuple[float, float] | None = UNIT, lower: bool = False) -> dict[str, Band]:
    better: Literal["higher", "lower"] = "lower" if lower else "higher"
    return {name: Band(good=aim, better=better, scale=scale) for name, aim in aims.items()}


SPECIFICATION = {
    **_bands(("hit_rate@1", "mrr", "ndcg@10"), 0.8, 0.5),
    **_bands(("faithfulness",), 0.9, 0.7),
    **_bands(("e2e_score",), 0.8, 0.6),
    **_bands(("accuracy", "consistency_score"), 0.95, 0.85),
}
"""Table 11.2 of the specification, on a scale from 0 to 1: above `excellent`, from `good` on, and below."""

VOPROSHALYCH = {
    **_aims({"mrr": 0.8, "hit_rate@1": 0.7, "hit_rate@5": 0.9, "hit_rate@10": 0.95, "ndcg@5": 0.8}),
    **_aims({"retrieval_consistency": 0.95, "response_exact_match_rate": 0.7}),
    **_aims({"faithfulness_rating": 4.5, "answer_correctness_rating": 4.2}, RATING),
    **_aims({"answer_relevance": 4.2, "e2e_score": 4.2}, RATING),
    **_aims({"semantic_similarity": 0.85, "response_semantic_consistency": 0.85, "context_preservation": 0.7}, COSINE),
    **_aims({"rouge1_f": 0.5, "rouge2_f": 0.3, "rougeL_f": 0.45, "consistency_score": 0.9}),
    **_aims({"bleu": 30.0}, (0.0, 100.0)),
    **_aims({"error_rate": 0.05}, lower=True),
    **_aims({"avg_latency_ms": 3000.0}, None, lower=True),
    **_aims({"accuracy": 0.85, "decision_precision": 0.85, "decision_recall": 0.85, "f1_score": 0.85}),
    **_aims({"cache_hit_rate": 0.4}),
}
"""What the benchmark of «Вопрошалыч» aimed at: one threshold a metric, judges' ratings from 1 to 5, BLEU to 100."""

SETS: Mapping[str, Mapping[str, Band]] = {"specification": SPECIFICATION, "voproshalych": VOPROSHALYCH}


class Chosen(Protocol):
    """The settings, as far as they speak of thresholds."""

    @property
    def threshold_set(self) -> str: ...
    @property
    def thresholds(self) -> Mapping[str, Mapping[str, Band]]: ...
    @property
    def metrics(self) -> MetricsSettings: ...


def names(settings: Chosen) -> tuple[str, ...]:
    """The sets there are: those that come with ragbench, then those of `[thresholds.NAME]`."""
    return tuple(dict.fromkeys((*SETS, *settings.thresholds)))


def bands(settings: Chosen, name: str | None = None) -> dict[str, Band]:
    """The bands of a set (the settings' `threshold_set` if none is named) by metric.

    A table `[thresholds.NAME]` of a set that comes with ragbench replaces single metrics of it, and so does the `band`
    of a metric's own table, in every set that says nothing else of it.
    Raises ValueError, naming the sets there are.
    """
    wanted = settings.threshold_set if name is None else name
    if wanted not in names(settings):
        raise ValueError(f"threshold_set = {wanted!r}: there are {', '.join(names(settings))}")
    own = {name: metric.band for name, metric in settings.metrics.named.items() if metric.band is not None}
    return {**SETS.get(wanted, {}), **own, **settings.thresholds.get(wanted, {})}


def band_of(known: Mapping[str, Band], names: Sequence[str], bounds: tuple[float | None, float | None]) -> Band | None:
    """The band of a metric on the metric's own scale; None where the set has none, or none for such a scale.

    names: all that the metric goes by, its label first. A rating also has the band of the plain name: the
    specification's `faithfulness` is one. bounds: the ends of the metric's scale, as it declares them. Thresholds of a
    rating from 1 to 5 become shares by (s − 1) / 4, and the other way round; between other scales nothing is converted.
    """
    tried = [*names, *(name.removesuffix("_rating") for name in names)]
    band = next((known[name] for name in tried if name in known), None)
    if band is None or band.scale is None or band.scale == bounds:
        return band
    if band.scale == RATING and bounds == UNIT:
        return band.moved(lambda value: (value - 1) / 4, UNIT)
    if band.scale == UNIT and bounds == RATING:
        return band.moved(lambda value: 1 + 4 * value, RATING)
    return None

"""What can be asked of a tier, declared once: the parameters of its notebook, with defaults, bounds and a line of help.

The notebooks' parameters, the refusal of a wrong value, docs/parameters.md and what a page's Method section says was
asked for are made from these models.
"""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, ParamSpec, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from ragbench.old import data as datasets
from ragbench.old.core import expectations
from ragbench.old.core.facts import Facts
from ragbench.old.core.folders import write
from ragbench.old.core.names import meant
from ragbench.old.core.settings import Settings, load, secrets
from ragbench.old.core.settings.endpoints import Aggregate
from ragbench.old.core.types import Question
from ragbench.old.core.types.reason import kept as apart
from ragbench.old.core.types.reason import reason_of
from ragbench.old.data import subsets
from ragbench.old.tiers.basics import session
from ragbench.old.tiers.basics.choices import BenchError, Reads, illegal, parted

if TYPE_CHECKING:
    from ragbench.old.core.measurement import Evidence, Measurement
    from ragbench.old.tiers.basics.session import Needed
    from ragbench.old.tiers.basics.withholding import State

FAILURE = "failure.txt"
"""Of a part of a run: why it failed, as `ragbench.old.core.types.reason` keeps it; a notebook hands on plain English."""
MOST_RETRIEVED = 1000  # TREC's depth of a run; nobody reads further, and memory grows with it
MOST_SEED = 2**32 - 1  # of scikit-learn and UMAP; NumPy would take more

Names = str | Sequence[str]
"""Names or labels, comma-separated or as a list."""
Dataset = Annotated[
    str,
    Field(
        description='data set below data/, in the page\'s language if it has it; "name:ru"; empty: as in ragbench.toml'
    ),
]
Limit = Annotated[
    int | None,
    Field(
        description="a sample of so many questions, by a hash of their ids: the same for every system and run; None: "
        "all",
        ge=1,
    ),
]
Systems = Annotated[Names, Field(description="names from ragbench.toml, comma-separated; empty: all of them")]
OfSystems = Annotated[
    Names, Field(description="names from ragbench.toml: only their embedders, where none are named; empty: all")
]
Embedders = Annotated[
    Names, Field(description="names from ragbench.toml, comma-separated; empty: those of the systems")
]
Embedder = Annotated[
    str,
    Field(
        description="of metrics that embed, comma-separated; empty: as in ragbench.toml, else a model on this machine"
    ),
]
Baseline = Annotated[str, Field(description="the system that the others are compared with; empty: as in ragbench.toml")]
RankingMetrics = Annotated[Names, Field(description='labels such as "ndcg@10, mrr"; empty: the specification\'s')]
Primary = Annotated[
    str, Field(description="the metric that the page answers with, its own family; empty: the specification's")
]
AnswerMetrics = Annotated[
    Names, Field(description='labels such as "faithfulness, rouge1_f"; empty: the specification\'s')
]
Judges = Annotated[
    Names,
    Field(description='names from ragbench.toml, comma-separated, or "lexical"; empty: all, else the offline one'),
]
How = Annotated[
    Aggregate | None,
    Field(
        description="how several judges become one: mean, median, majority, binary_majority, …; None: as set, else mean"
    ),
]
Tolerance = Annotated[
    float | None, Field(description="of consensus: how far apart judges may be, on the metric's scale", ge=0)
]
Quorum = Annotated[
    int | None,
    Field(description="judges of a panel that must have measured, else unmeasured; None: as set, else all", ge=1),
]
Labels = Annotated[
    str, Field(description="files of people's labels, comma-separated: judged means are corrected by them; empty: none")
]
SliceBy = Annotated[Names, Field(description="parts of the questions that are looked at by themselves; empty: none")]
LengthLimit = Annotated[
    int | None, Field(description="characters of passages that an answer is written from; None: no limit", ge=1)
]
Depth = Annotated[int, Field(description="documents of each ranking that are looked at", ge=1, le=MOST_RETRIEVED)]
Repeats = Annotated[
    int, Field(description="how often everything is asked, each time anew; 1 leaves repeatability unmeasured",
               ge=1, le=100),
]  # fmt: skip
FoundFrom = Annotated[
    float,
    Field(
        description="of passages cut in pieces: share of one's labelled text that makes it found; 0: any of it (MaxP)",
        ge=0,
        le=1,
    ),
]
TimedQuestions = Annotated[
    int, Field(description="how many are embedded and searched one by one for the clock; 0: none", ge=0, le=100_000)
]
FreshTimings = Annotated[
    bool, Field(description="True: read the clock again instead of showing what was kept for the same inputs")
]
Mask = Annotated[bool, Field(description="replace users' ids, e-mail addresses, telephones and long numbers")]
Level = Annotated[float, Field(description="confidence level of every interval", gt=0, lt=1)]
Resamples = Annotated[int, Field(description="bootstrap and randomization draws", ge=100, le=1_000_000)]
Seed = Annotated[int, Field(description="of every random draw", ge=0, le=MOST_SEED)]
Language = Annotated[Literal["en", "ru"], Field(description='of the page: "en" or "ru"')]

FIRST = ("answers", "dataset", "systems", "embedders", "metrics", "judges", "baseline", "k", "labels")
MOST_FIRST = 6
"""Which parameters come first in notebooks, and how many."""

P = ParamSpec("P")
R = TypeVar("R", bound="Request")
T = TypeVar("T")


class Request(BaseModel):
    """What a notebook asks for, in the order of its parameters. `notebook`, the one field without help, is no
    parameter of it: the name under which a run keeps what was measured.

    Raises BenchError for a name or a value that is not legal, with those that are, before anything is read.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    writes: ClassVar[bool] = False
    """Whether the systems' generators write answers for it."""
    spares_judges: ClassVar[bool] = False
    """Whether it measures what no judge is asked for, also where none answers."""

    notebook: str = ""

    reads: ClassVar[Reads] = "retrievers"
    """What an object in place of a system's name is asked for."""
    reads_table: ClassVar[str] = "questions"
    """What a table in place of a data set's name is."""

    @property
    def asks_judges(self) -> bool:
        """Whether judges are asked: any where metrics need one, if there are metrics to choose."""
        chosen = getattr(self, "chosen", None)
        return hasattr(self, "judges") and (chosen is None or any("judge" in each.needs for each in chosen))

    @property
    def embeds(self) -> bool:
        """Whether a metric embeds: any that needs it, if there are metrics to choose."""
        chosen = getattr(self, "chosen", None)
        return chosen is None or any("embedder" in each.needs for each in chosen)

    def place(self, default: str) -> tuple[str, str]:
        """The data set that it measures, by default this one, and the language of its page, empty where it has none."""
        return str(getattr(self, "dataset", "")) or default, str(getattr(self, "language", ""))

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise self._refusal(error.errors(include_url=False)[0]["loc"], given) from None
        self.check()

    def check(self) -> None:
        """Refuse values that are legal each by itself and not together. Raises BenchError."""

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """What the page needs of its data set, all of it: without that there is nothing to measure."""
        return ()

    @property
    def sampled_tables(self) -> tuple[str, ...]:
        """Of which tables of a data set `limit` takes a sample, where that is a parameter."""
        return ("questions",)

    def drawn(self, data: datasets.Dataset) -> datasets.Dataset:
        """The data set, or the sample of it that was asked for."""
        limit = getattr(self, "limit", None)
        return data if limit is None else subsets.sample(data, limit, self.sampled_tables)

    def asked(self, data: datasets.Dataset) -> Sequence[Question]:
        """The questions that systems are asked, where any are; at most these."""
        return data.questions

    def take(self, of: type[T]) -> T:
        """The part of what is asked for that a data class of these names holds."""
        return of(**{each.name: getattr(self, each.name) for each in fields(cast(Any, of)) if hasattr(self, each.name)})

    @classmethod
    def first(cls) -> tuple[str, ...]:
        """The parameters on a notebook's first screen: at most six, those that most people set."""
        known = cls.parameters()
        if len(known) <= MOST_FIRST:
            return tuple(known)
        asked = [name for name in FIRST if name in known][: MOST_FIRST - 1]
        rest = [name for name in known if name not in (*FIRST, *Draws.model_fields)]
        asked += rest[: MOST_FIRST - 1 - len(asked)]
        return tuple(name for name in known if name in (*asked, "language"))

    @classmethod
    def parameters(cls) -> dict[str, FieldInfo]:
        """The fields that the notebook has as parameters, in their order: what all have that draw comes last."""
        ordered = sorted(cls.model_fields.items(), key=lambda item: item[0] in Draws.model_fields)
        return {name: field for name, field in ordered if field.description}

    def told(self) -> list[dict[str, Any]]:
        """What was asked for, as JSON values for a page: of each parameter its name, value, default and help.

        Without the language, which is the page's: it can be drawn in another one. Without secrets, and of a file that
        is named by its place on this machine only the file's name.
        """
        values = self.model_dump(mode="json")
        return [
            {
                "name": name,
                "value": _public(values[name]),
                "default": list(field.default) if isinstance(field.default, tuple) else field.default,
                "help": field.description,
            }
            for name, field in self.parameters().items()
            if name != "language"
        ]

    @classmethod
    def signature(cls) -> inspect.Signature:
        """Of a function of the parameters."""
        from ragbench.old.core.measurement import Measurement

        known = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.annotation)
            for name, field in [*cls.parameters().items(), ("notebook", cls.model_fields["notebook"])]
        ]
        return inspect.Signature(known, return_annotation=Measurement)

    @classmethod
    def _refusal(cls, place: Sequence[Any], given: dict[str, Any]) -> BenchError:
        name, known = str(place[0]), cls.parameters()
        if name not in cls.model_fields:
            own = next((own for own, others in CALLED.items() if name in others and "dataset" in known), "")
            hint = f"; did you mean {own!r}?" if own else meant(name, known)
            return BenchError(f"there is no parameter {name!r}{hint}; there are {', '.join(known)}")
        field, value = cls.model_fields[name], given[name]
        if get_origin(field.annotation) is collections.abc.Sequence and len(place) > 1:
            [item] = get_args(field.annotation)
            return illegal(f"each of {name}", value[place[1]], expectations.legal(item), field.description)
        return illegal(name, value, legal(field), field.description)


CALLED = {
    "dataset": ("questions", "question", "queries", "query", "data", "datasets"),
    "documents": ("document", "docs", "passages", "chunks", "corpus", "knowledge_base"),
    "systems": ("system", "retriever", "retrievers", "models", "pipelines"),
}
"""What is handed over → what others call it; it is no misspelling of another parameter."""


class Draws(Request):
    """One that draws at random, and how sure it wants to be: see `ragbench.old.tiers.basics.findings.Sureness`."""

    level: Level = 0.95
    resamples: Resamples = 10_000
    seed: Seed = 0
    language: Language = "en"


def legal(field: FieldInfo) -> str:
    """What a field's value has to be, in words: "a whole number from 1 to 1000"."""
    return expectations.legal(field.annotation, field.metadata)


def _public(value: Any) -> Any:
    if isinstance(value, str):
        parts = [_without_folder(part) for part in parted(value)]
        return secrets.masker()(value if parts == list(parted(value)) else ", ".join(parts))
    return [_public(entry) for entry in value] if isinstance(value, list) else value


def _without_folder(name: str) -> str:
    for kind in (PurePosixPath, PureWindowsPath):
        if (path := kind(name)).is_absolute() or path.parts[:1] == ("~",):
            return path.name
    return name


def tier(
    asked: Callable[P, R], state: State | None = None, *, by_question: bool = True
) -> Callable[[Callable[[R], Evidence]], Callable[P, Measurement]]:
    """Makes what measures a request a function of the request's parameters, which a headless run calls once.

    Objects may stand in the place of names (`ragbench.old.tiers.basics.objects`). The function knows its model as
    `request`, and tells the parameters to whoever asks for its signature or its help.
    What was asked for is the fact `request` of what it measures, and the function's name the fact `tier`.
    state: states the findings of what was measured, known as `state` of the function; None: there are none.
    by_question: whether the same states those of some of the questions, as `by_question` of the function says; where a
    value of one hangs on the others, it does not. What comes as a measurement was stated already.
    """
    model = cast("type[Request]", asked)

    def made(measure: Callable[[R], Evidence]) -> Callable[P, Measurement]:
        def measured(*args: P.args, **kwargs: P.kwargs) -> Measurement:
            from ragbench.old.tiers.basics.objects import in_place

            given = dict(zip(model.parameters(), args, strict=False)) | kwargs
            with in_place(given, model.reads, model.reads_table) as named:
                return asked_by_name(cast(R, model(**named)))

        def asked_by_name(request: R) -> Measurement:
            from ragbench.old.core.measurement import Measurement
            from ragbench.old.tiers.basics.session import kept, part
            from ragbench.old.tiers.basics.withholding import nothing, stated

            def asked_for() -> Measurement:
                evidence = measure(request)
                whole = evidence if isinstance(evidence, Measurement) else stated(evidence, state or nothing)
                more: Facts = {
                    "tier": measure.__name__, "request": request.told(), "project_systems": load().systems_in_order,
                }  # fmt: skip
                return replace(whole, facts={**whole.facts, **more, **session.of_all(whole, load())})

            try:
                return kept(request.notebook, asked_for)
            except Exception as error:
                expectations.note(error)
                if (folder := part(request.notebook)) is not None:
                    with contextlib.suppress(OSError):  # a full disk is not what is to be told
                        folder.mkdir(parents=True, exist_ok=True)
                        write(folder / FAILURE, secrets.masker()(apart(reason_of(error))))
                raise

        known = [f"{name}: {field.description}. Legal: {legal(field)}." for name, field in model.parameters().items()]
        measured = functools.wraps(measure)(measured)
        measured.__doc__ = "\n".join([inspect.cleandoc(measure.__doc__ or ""), "", *known])

        def of(names: Mapping[str, Any]) -> Measurement:
            """The same with the values that variables of the parameters' names have: `globals()` of a notebook. Raises
            BenchError for a parameter that none is called like."""
            if lacking := [name for name in model.parameters() if name not in names]:
                raise BenchError(
                    f"there is no variable {lacking[0]!r}: run the cells of parameters first, both of them"
                )
            return cast("Any", measured)(**{name: names[name] for name in model.parameters()})

        vars(measured).update(
            request=model, state=state, by_question=by_question, __signature__=model.signature(), of=of
        )
        return measured

    return made

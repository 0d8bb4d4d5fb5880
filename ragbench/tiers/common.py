"""What all tiers share: their options, what is opened for them, what they say of themselves."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ragbench.core.code import load_object
from ragbench.core.errors import BenchError, suggest
from ragbench.core.frames import ASKED, RETRIEVED, frame_of
from ragbench.core.language import Language, load_language
from ragbench.core.metric import CATALOGUE, parse_label
from ragbench.core.progress import bar
from ragbench.core.settings import MetricTable, Settings, say_what_is_wrong
from ragbench.core.trust import open_settings
from ragbench.core.types import Dataset, Retrieval, System
from ragbench.stats import Confidence

if TYPE_CHECKING:
    from ragbench.llm import Spending
    from ragbench.store import Store

COMMA = re.compile(r",(?![^(]*\))")  # one within brackets belongs to a metric's options
Runs = dict[str, list[list[Retrieval]]]  # system → repeat → question


class Basics(BaseModel):
    """What every page can be told. Empty means: as in ragbench.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: str = Field("", description="folder below data/, NAME:ru, db:NAME or a path")
    language: Literal["", "en", "ru"] = Field("", description="of the page")
    limit: int | None = Field(None, ge=1, description="a sample of so many questions")
    level: float = Field(0.95, gt=0.5, lt=1, description="confidence level of every interval")
    draws: int = Field(10_000, ge=200, description="of every resampling")
    seed: int = Field(0, ge=0, description="of every random draw")

    # Some of these are options of some tiers only.
    @field_validator(
        "systems",
        "metrics",
        "slice_by",
        "judges",
        "embedders",
        "modes",
        "people_scale",
        mode="before",
        check_fields=False,
    )
    @classmethod
    def split_by_commas(cls, value: Any) -> Any:
        """A notebook's parameter is a text: "bm25, dense"."""
        if not isinstance(value, str):
            return value
        return tuple(name.strip() for name in COMMA.split(value) if name.strip())

    @property
    def confidence(self) -> Confidence:
        """Level, draws and seed, as the statistics take them."""
        return Confidence(self.level, self.draws, self.seed)


class SystemOptions(Basics):
    """What every tier that asks systems can be told."""

    systems: tuple[str, ...] = Field((), description="names of systems; empty: all of them")
    baseline: str = Field("", description="the system that the others are compared with")
    cluster_by: Literal["auto", "none"] = Field(
        "auto", description="auto: paraphrases of one question are drawn together"
    )


class Options(SystemOptions):
    """What every tier that compares systems can be told."""

    metrics: tuple[str, ...] = Field((), description="labels; empty: the tier's usual ones")
    primary: str = Field("", description="the metric that answers; a family of its own")
    margins: dict[str, float] = Field(
        {}, description="by metric, the difference that matters; what lies within is the same"
    )
    slice_by: tuple[str, ...] = Field(
        ("kind", "language", "source"), description="parts of the questions looked at apart"
    )


class Compared(Basics):
    """What a tier finds out by itself that asks no systems; nobody can tell it."""

    systems: tuple[str, ...] = ()
    baseline: str = ""
    metrics: tuple[str, ...] = ()
    primary: str = ""


Request = TypeVar("Request", bound=BaseModel)


def read_options(model: type[Request], options: Mapping[str, Any]) -> Request:
    """Check options before anything is run.

    Raises BenchError that says of every wrong option what is legal.
    """
    try:
        return model(**options)
    except ValidationError as error:
        raise BenchError(say_what_is_wrong(error, model)) from None


def open_project(path: Path | str | None = None) -> Settings:
    """Read ragbench.toml of a trusted folder, and declare its metrics."""
    settings = open_settings(path)
    declare_metrics(settings)
    return settings


def declare_metrics(settings: Settings) -> None:
    """Declare the metrics of a project.

    They are those of its `modules`, the criteria of [metrics.NAME], and built-in ones with the
    options of theirs. Raises BenchError for what cannot be declared.
    """
    for module in settings.modules:
        load_object(f"{module}:__name__", settings.root)
    for name, table in settings.metrics.items():
        declare(name, table)


def declare(name: str, table: MetricTable) -> None:
    """Declare the metric of a table [metrics.NAME]."""
    if table.question:
        from ragbench.metrics.criteria import criterion

        criterion(
            table.question,
            name=name,
            scale=table.scale,
            better="higher" if table.higher_is_better else "lower",
            needs=table.needs or ("answer",),
        )
    elif table.options:
        options = ",".join(f"{option}={value}" for option, value in table.options.items())
        CATALOGUE[name] = parse_label(f"{name}({options})")


@dataclass(frozen=True)
class About:
    """What a measurement is of, in words: for page, index and manifest.

    systems: name → what it is. stand_ins: who only stands in for a model, such as
    "judge lexical". fingerprint: of the passages. notes: of the data and judges, a sentence each.
    """

    dataset: str
    fingerprint: str = ""
    systems: Mapping[str, str] = field(default_factory=dict)
    stand_ins: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workbench:
    """All that a tier measures with, open. request: completed, nothing in it is empty any more.

    spending: what all models of the tier may spend together.
    """

    request: Any
    settings: Settings
    dataset: Dataset
    systems: Mapping[str, System]
    store: Store
    language: Language
    spending: Spending

    def about(
        self, stand_ins: Sequence[str] = (), notes: Sequence[str] = (), *, has_answers: bool = True
    ) -> About:
        """Say what is measured.

        stand_ins, notes: those beside the systems' and the data's, such as a judge's. has_answers:
        whether systems answer; else who writes their answers is no matter.
        """
        found = dict.fromkeys(stand_ins)
        for system in self.systems.values():
            found |= dict.fromkeys(system.stand_ins)
        if not has_answers:
            found = {name: None for name in found if not name.startswith("generator ")}
        return About(
            self.dataset.name,
            self.dataset.fingerprint,
            {name: system.describe() for name, system in self.systems.items()},
            tuple(found),
            (*self.dataset.notes, *notes),
        )


@contextmanager
def open_workbench(
    request: Basics,
    *,
    systems: Any = None,
    questions: Any = None,
    documents: Any = None,
    dataset: Dataset | None = None,
    settings: Settings | None = None,
    needs_systems: bool = True,
) -> Iterator[Workbench]:
    """Open data set, database and systems, and close them at the end.

    systems: names, or {"v1": "bm25", "v2": function or object}; None: those of the request.
    questions, documents: lists, dicts or frames in place of a data set; dataset: one that is read
    already. Raises BenchError for what cannot be opened, and for a baseline that is no system.
    """
    from ragbench.llm import Spending
    from ragbench.store import Store
    from ragbench.systems import open_systems

    settings = settings or open_project()
    language = request.language or settings.language
    if dataset is None:
        dataset = open_dataset(request, settings, language, questions, documents)
    opened: dict[str, Any] = {}
    spending = Spending(settings.budget)
    with Store(settings.database) as store:
        try:
            complete: dict[str, Any] = {"dataset": dataset.name, "language": language}
            if needs_systems and isinstance(request, SystemOptions):
                chosen = systems or request.systems or None
                opened = open_systems(chosen, settings, dataset, store, spending=spending)
                names = tuple(opened)
                baseline = choose_baseline(request.baseline, settings.baseline, names)
                complete |= {"systems": names, "baseline": baseline}
                if isinstance(request, Options):
                    complete["margins"] = request.margins or settings.smallest_difference
            yield Workbench(
                request.model_copy(update=complete),
                settings,
                dataset,
                opened,
                store,
                load_language(language),
                spending,
            )
        finally:
            for system in opened.values():
                system.close()


def open_dataset(
    request: Basics, settings: Settings, language: str, questions: Any, documents: Any
) -> Dataset:
    """Return the data set of the request or of what was handed over, cut and clustered as asked."""
    from dataclasses import replace

    from ragbench.data import from_objects, read_dataset

    name = request.dataset or settings.dataset
    if questions is not None or documents is not None:
        if questions is None:
            raise BenchError("documents without questions: give questions= as well")
        dataset = from_objects(questions, documents, request.language)
        known, labelled = (frame["passage_id"] for frame in (dataset.passages, dataset.labels))
        if len(known) and len(labelled) and not labelled.isin(known).any():
            # Every search would look useless.
            raise BenchError(
                f"relevant names {labelled[0]!r}, which is the id of no document; they have "
                f"{', '.join(known[:3])}: name the column of ids `id`"
            )
    elif name.startswith("db:"):
        from ragbench.store.own import read_database

        dataset = read_database(name.removeprefix("db:"), settings, language)
    else:
        folder = settings.path(settings.data_folder)
        dataset = read_dataset(name, language, folder)
    if request.limit is not None:
        questions = sample_rows(dataset.questions, "question_id", request.limit)
        is_asked = dataset.labels["question_id"].isin(questions["question_id"])
        labels = dataset.labels[is_asked].reset_index(drop=True)
        dataset = replace(dataset, questions=questions, labels=labels)
    if isinstance(request, SystemOptions) and request.cluster_by == "none":
        alone = dataset.questions.assign(unit=dataset.questions["question_id"])
        dataset = replace(dataset, questions=alone)
    return dataset


def relevant_labels(labels: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of relevant passages: those with a grade above 0."""
    return labels[labels["grade"] > 0]


def sample_rows(frame: pd.DataFrame, key: str, limit: int | None) -> pd.DataFrame:
    """Return the rows of so many of the keys, those with the smallest hashes; None: all."""
    names = frame[key].drop_duplicates()
    hashes = names.map(lambda name: hashlib.sha256(name.encode()).hexdigest())
    chosen = names.loc[hashes.sort_values(kind="stable").index[:limit]]
    return frame[frame[key].isin(chosen)].reset_index(drop=True)


def choose_baseline(requested: str, usual: str, names: Sequence[str]) -> str:
    """Return the system that the others are compared with: the first where nobody names one."""
    if requested and requested not in names:
        hint = suggest(requested, names)
        raise BenchError(f"baseline {requested!r} is none of {', '.join(names)}{hint}")
    return requested or (usual if usual in names else names[0])


def read_times(texts: pd.Series) -> pd.Series:
    """Read times as people write them, 01.09.2025 with the day first; NaT for what is none."""
    texts = texts.str.replace(r"^(\d+)\.(\d+)\.(\d{4})", r"\3-\2-\1", regex=True)
    return pd.to_datetime(texts, errors="coerce", format="mixed", utc=True)


def name_given(chosen: Any, usual: Sequence[str]) -> dict[str, Any]:
    """Return what was chosen by its name.

    chosen: names, {name: name, function or object}, one function or object, or a list of these;
    nothing: the usual ones. Raises BenchError for two of one name.
    """
    from ragbench.systems.opening import name_of

    named = usual if chosen is None or chosen in ("", (), [], {}) else chosen
    if isinstance(named, Mapping):
        return dict(named)
    listed = named if isinstance(named, list | tuple) else [named]
    by_name = {given if isinstance(given, str) else name_of(given): given for given in listed}
    if len(by_name) < len(listed):
        raise BenchError(f"two are called alike, of {', '.join(by_name)}; give {{name: …}}")
    return by_name


def open_embedders(chosen: Any, bench: Workbench, usual: Sequence[str]) -> dict[str, Any]:
    """Open embedders, by their names.

    chosen: names, {name: name, function or object}, one function or object, or a list of these;
    nothing: the usual ones.
    """
    from ragbench.embed import open_embedder

    named = name_given(chosen, usual)
    corpus = bench.dataset.passages["text"].tolist() or bench.dataset.questions["text"].tolist()
    return {
        name: open_embedder(
            given, bench.settings, bench.dataset.language, corpus=corpus, store=bench.store
        )
        for name, given in named.items()
    }


def ask_systems(
    systems: Mapping[str, System], questions: Sequence[str], k: int, repeats: int = 1
) -> Runs:
    """Let every system retrieve for every question, and everything again `repeats` - 1 times."""
    runs: Runs = {}
    with bar("retrieving", len(systems) * repeats * len(questions)) as shown:
        for name, system in systems.items():
            runs[name] = []
            for _ in range(repeats):
                runs[name].append(system.retrieve(questions, k))
                shown.update(len(questions))
    return runs


def retrieved_frame(runs: Runs, question_ids: Sequence[str], k: int) -> pd.DataFrame:
    """Return the first k passages of every first ranking, as `ragbench.core.frames.RETRIEVED`.

    gain is NaN: `ragbench.metrics.ranking_frames.add_gains` fills it. Columns behind: text and url
    as the system gave them. A passage without an id goes by its text.
    """
    rows, extra = [], []
    for name, repeats in runs.items():
        for question_id, retrieval in zip(question_ids, repeats[0], strict=True):
            for rank, hit in enumerate(retrieval.hits[:k], start=1):
                rows.append((name, question_id, rank, hit.id or hit.text, hit.similarity, math.nan))
                extra.append((hit.text, hit.url))
    texts = pd.DataFrame(extra, columns=["text", "url"], dtype="str")
    return pd.concat([frame_of(rows, RETRIEVED), texts], axis=1)


def asked_frame(runs: Runs, question_ids: Sequence[str]) -> pd.DataFrame:
    """Return how every request went, as `ragbench.core.frames.ASKED`; with column n_retrieved."""
    rows, counts = [], []
    for name, repeats in runs.items():
        for repeat, retrievals in enumerate(repeats):
            for question_id, retrieval in zip(question_ids, retrievals, strict=True):
                latency = float(retrieval.latency_ms)
                rows.append((name, question_id, repeat, latency, retrieval.error))
                counts.append(len(retrieval.hits))
    return frame_of(rows, ASKED).assign(n_retrieved=pd.Series(counts, dtype=int))

"""What every tier begins with: settings, data set and what a page needs of it, systems, where a run keeps all."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragbench.old.core import annexes, trust
from ragbench.old.core import settings as configuration
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.names import meant
from ragbench.old.core.progress import Progress
from ragbench.old.core.settings import Settings, urls
from ragbench.old.data import Dataset, load, load_folder, places
from ragbench.old.data.records import KNOWN_ITEM
from ragbench.old.embed import wheels
from ragbench.old.llm import Price, planning
from ragbench.old.metrics import criterion, declaration
from ragbench.old.tiers.basics import bands, withholding
from ragbench.old.tiers.basics.choices import BenchError, parted

if TYPE_CHECKING:
    from ragbench.old.store import Store


PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "sqlalchemy", "psycopg", "pgvector", "plotly")


@dataclass(frozen=True)
class Session:
    """Settings and data of one measurement. `folder` is where a headless run keeps it, None in JupyterLab.

    language: of the page, in which reasons are said that are kept as text; empty: as in the settings.
    """

    notebook: str
    settings: Settings
    dataset: Dataset
    systems: tuple[str, ...]
    baseline: str
    folder: Path | None
    language: str = ""

    @classmethod
    def begin(
        cls,
        notebook: str,
        dataset: str,
        systems: str | Sequence[str],
        baseline: str,
        language: str = "",
        read: Callable[[str, Settings], Dataset] | None = None,
        sampled: Callable[[Dataset], Dataset] | None = None,
    ) -> Session:
        """Read the settings and the data. Empty values mean: as configured.

        systems: names from ragbench.toml, comma-separated or as a list; the first is the baseline unless one is named.
        language: of the page, and of the data where the data set has it and names none.
        read: gives the data set of a name in place of `dataset_of`. sampled: gives what is measured of it; None: all.
        Raises BenchError for names that are not configured, DatasetError for a data set that is not there,
        UntrustedError for a project that nobody has answered for, where it would run, open or send something.
        """
        settings, ordered = chosen(systems, baseline, dataset)
        name = dataset or settings.dataset
        data = dataset_of(name, settings, language) if read is None else read(name, settings)
        data = data if sampled is None else sampled(data)
        planning.stand_for(data.taken())
        return cls(
            notebook, wheels.settled(settings, data.language), data, ordered, ordered[0], part(notebook), language
        )

    @classmethod
    def of(cls, request: Any, systems: str | Sequence[str] = "", baseline: str = "") -> Session:
        """`begin` of a request with `dataset` and `language`, on the sample of the data set that it asks for."""
        return cls.begin(request.notebook, request.dataset, systems, baseline, request.language, sampled=request.drawn)

    def progress(self, label: str, total: int) -> Progress:
        """A bar for `total` units of work."""
        return Progress(label, total, self.folder)

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        """The database, with the workers of the cluster that the settings name. Raises StoreError."""
        from ragbench.old.store import Store
        from ragbench.old.store.pool import elsewhere

        with Store.open(self.settings, elsewhere(self.settings)) as store:
            yield store

    def facts(self) -> Facts:
        """Provenance that every page shows."""
        known_items = sum(question.kind == KNOWN_ITEM for question in self.dataset.questions)
        unreviewed = sum(question.draft == "unreviewed" for question in self.dataset.questions)
        graded = Counter(question.graded_by for question in self.dataset.questions if question.graded_by)
        return {
            "dataset": self.dataset.label,
            "dataset_title": self.dataset.title,
            "licence": self.dataset.licence,
            "data_hash": self.dataset.content_hash,
            "n_chunks": len(self.dataset.chunks),
            "left_out": dict(self.dataset.left_out),
            "baseline": self.baseline,
            "commit": commit(),
            "versions": versions(),
            **({"known_items": known_items} if known_items else {}),
            **({"matching": withholding.matching(self.settings, self.systems)} if known_items else {}),
            **({"unreviewed": unreviewed} if unreviewed else {}),
            **({"graded": dict(graded)} if graded else {}),
            **({"part_of_all": taken} if (taken := self.dataset.taken()) else {}),
        }


def dataset_of(name: str, settings: Settings, language: str = "") -> Dataset:
    """The data set of that name: `campus:ru` below the data folder, at a URL, or the tables of `db:NAME`.

    language: of the page that it is for, by default the settings'; see `ragbench.old.data.load`.
    """
    given: Dataset | None = settings.in_memory[0]
    if given is not None and name in ("", given.label):
        return given
    is_table, is_elsewhere = name.startswith(configuration.OWN_TABLES), urls.is_url(name)
    if is_table or not is_elsewhere or name == settings.dataset:  # else its user has typed where it is
        of_table = f"databases.{name.removeprefix(configuration.OWN_TABLES)}"
        trust.require(*trust.named(of_table if is_table else "dataset" if is_elsewhere else "data_folder"))
    if is_table:
        from ragbench.old.tiers.retrieval import own_tables

        return own_tables.read(name.removeprefix(configuration.OWN_TABLES), settings)
    if is_elsewhere:
        place, known_as, asked = places.remote_data(name)
        return load_folder(place, known_as, asked, language or settings.language)
    return load(name, places.data(name), language or settings.language)


def chosen(
    systems: str | Sequence[str] = "", baseline: str = "", dataset: str = ""
) -> tuple[Settings, tuple[str, ...]]:
    """The settings, and the systems that are meant, the baseline first: where none is named, all but those that were
    logged on another data set. Raises BenchError, UntrustedError."""
    settings = configuration.load()
    bands.check(settings.smallest_difference)
    if not trust.only_planned():  # what a plan uses of them asks by itself
        trust.require(*trust.named())
    names = parted(systems) or _logged_here(settings, dataset or settings.dataset)
    if systems and not parted(systems):
        raise BenchError(f"systems = {systems!r} names none; there are {', '.join(settings.systems)}")
    for name in names:
        if name not in settings.systems:
            raise BenchError(
                f"there is no system {name!r} in {configuration.config_path().name}{meant(name, settings.systems)}; "
                f"there are {', '.join(settings.systems)}"
            )
    first = baseline or (settings.baseline if settings.baseline in names else "") or names[0]
    if first not in names:
        raise BenchError(
            f"baseline = {first!r} is not among the systems measured{meant(first, names)}: {', '.join(names)}"
        )
    ordered = (first, *(name for name in names if name != first))
    return settings, ordered


def _logged_here(settings: Settings, dataset: str) -> tuple[str, ...]:
    tables = settings.systems.items()
    logged_in = {name: places.file(table.results).parent for name, table in tables if table.results is not None}
    this = places.own_data() / dataset.partition(":")[0]
    others = {name for name, place in logged_in.items() if place.parent == this.parent and place != this}
    return tuple(system for system in settings.systems if system not in others) or tuple(settings.systems)


def part(notebook: str) -> Path | None:
    """The folder in which the current headless run keeps what `notebook` measured; None outside of a run."""
    run = os.environ.get(configuration.RUN_FOLDER)
    return Path(run) / "parts" / notebook if run else None


def kept(notebook: str, measure: Callable[[], Measurement]) -> Measurement:
    """What `measure` returns; in a headless run what the run has kept of it, measured only if nothing is there yet.

    A run's pages are always drawn from what was kept, so drawing them again gives the same bytes.
    """
    folder = part(notebook)
    if folder is None:
        return told(measure())
    if not (folder / "findings.json").is_file():
        told(measure()).save(folder)
    return Measurement.load(folder)


def told(made: Measurement) -> Measurement:
    """The same with what a reader needs beside the numbers: the thresholds they are held to, by which other program's
    words they can be had again, what the project's own metrics are, and how many questions would show a difference that
    matters."""
    known = configuration.load()
    labels = list(dict.fromkeys(each.metric for each in made.estimates))
    declared = {label: declaration(label) for label in labels}
    more: Facts = {
        "thresholds": bands.told(labels, known),
        "own_metrics": {
            label: criterion.told(metric) for label, metric in declared.items() if metric is not None and metric.own
        },
        "signatures": {
            label: metric.signature for label, metric in declared.items() if metric is not None and metric.signature
        },
    }
    matters = known.smallest_difference.model_dump(mode="json")
    there = cast(Facts, {key: value for key, value in more.items() if value})
    return bands.applied(replace(made, facts={**made.facts, **there, "smallest_difference": matters}))


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Versions of ragbench, of Python, and of packages, by default those that numbers depend on."""
    import platform

    own = {"ragbench": _version("ragbench"), "python": platform.python_version()}
    return own | {name: there for name in packages if (there := _version(name))}


@functools.cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # pragma: no cover - every package asked for is a dependency
        return ""


def commit() -> str | None:
    """The commit of the checkout that the settings lie in, with a plus sign where files were changed since.

    None outside of one, and in a folder that nobody has answered for: git runs commands that its configuration names.
    """
    folder = configuration.project_folder()
    if not trust.is_trusted() and folder != annexes.FOLDER:
        return None
    try:
        head = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return head[:12] + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
    return done.stdout.strip()


def described(settings: Settings, names: Sequence[str], more: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The systems as a page's facts list them: name, configuration, and what was found out while measuring."""
    known = {name: settings.systems[name].model_dump(mode="json", exclude_defaults=True) for name in names}
    return [{"name": name, **table, **more.get(name, {})} for name, table in known.items()]


class Need(StrEnum):
    """Something that a data set has any number of."""

    PASSAGES = "passages"
    QUESTIONS = "questions"
    ANSWERABLE = "answerable questions"
    RELEVANT = "questions with relevant passages"
    PAGES = "questions with relevant pages"
    REFERENCES = "references"
    LOGGED = "logged answers"
    RATINGS = "rated answers"
    DECISIONS = "labelled decisions"
    DIALOGUES = "dialogues"
    HISTORY = "logged questions"
    EMBEDDED = "systems with an embedder"


def number(need: Need, data: Dataset) -> int:
    """How many of it the data set has."""
    asked = data.questions
    match need:
        case Need.PASSAGES:
            return len(data.chunks)
        case Need.QUESTIONS:
            return len(asked)
        case Need.ANSWERABLE:
            return sum(question.answerable is not False for question in asked)
        case Need.RELEVANT:
            return sum(bool(question.relevant) for question in asked)
        case Need.PAGES:
            return sum(bool(question.relevant or question.relevant_urls) for question in asked)
        case Need.REFERENCES:
            return sum(bool(question.reference) for question in asked)
        case Need.RATINGS:
            return len(data.ratings)
        case Need.DECISIONS:
            return len(data.decisions)
        case Need.DIALOGUES:
            return len(data.dialogues)
        case Need.HISTORY:
            return len(data.history)
        case Need.EMBEDDED | Need.LOGGED:
            return 0


def named(need: Need, _: Translator) -> str:
    """What people call it."""
    return {
        Need.PASSAGES: _("passages"),
        Need.QUESTIONS: _("questions"),
        Need.ANSWERABLE: _("questions that can be answered"),
        Need.RELEVANT: _("questions with relevant passages"),
        Need.PAGES: _("questions with relevant pages"),
        Need.REFERENCES: _("questions with references"),
        Need.LOGGED: _("logged answers"),
        Need.RATINGS: _("rated answers"),
        Need.DECISIONS: _("labelled decisions"),
        Need.DIALOGUES: _("dialogues"),
        Need.HISTORY: _("a log of users' questions"),
        Need.EMBEDDED: _("a system with an embedder"),
    }[need]


@dataclass(frozen=True)
class Needed:
    """At least so many of one of these. What no data set has by itself (`Need.EMBEDDED`, `Need.LOGGED`) is asked for
    where it is missing."""

    any_of: tuple[Need, ...]
    least: int = 1

    @classmethod
    def of(cls, *needs: Need, least: int = 1) -> Needed:
        """Needed is one of them."""
        return cls(needs, least)

    def lack(self, page: str, data: Dataset | None, name: str) -> Lack | None:
        """What is missing of it; None where it is there. data: None where there is no data set of that name."""
        has = 0 if data is None else max(number(need, data) for need in self.any_of)
        if has >= self.least:
            return None
        return Lack(page, self, has, "" if self.any_of == (Need.EMBEDDED,) else name, data is None)


@dataclass(frozen=True)
class Lack:
    """A page that cannot be made: what it needs, and how many of it the data set has.

    dataset: its label; empty where the data have no part in it. absent: whether there is no such data set at all.
    """

    page: str
    needed: Needed
    has: int = 0
    dataset: str = ""
    absent: bool = False

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        needed = {"any_of": [str(need) for need in self.needed.any_of], "least": self.needed.least}
        return {"name": self.page, **needed, "has": self.has, "dataset": self.dataset, "absent": self.absent}

    def sentence(self, _: Translator) -> str:
        """`needs questions with relevant passages; small:en has none`."""
        what = _(" or ").join(named(need, _) for need in self.needed.any_of)
        if self.absent:
            return _(
                "needs {what}; no data set is named: `ragbench load` brings one, -d NAME or dataset in ragbench.toml "
                "names it",
                what=what,
            )
        if not self.dataset:
            return _("needs {what}", what=what)
        if self.has:
            return _(
                "needs {what}, at least {least}; {dataset} has {has}",
                what=what, least=_.integer(self.needed.least), dataset=self.dataset, has=_.integer(self.has),
            )  # fmt: skip
        return _("needs {what}; {dataset} has none", what=what, dataset=self.dataset)


def read(facts: Iterable[Mapping[str, Any]]) -> list[Lack]:
    """What a run's manifest says of the pages that it did not make. Raises ValueError for needs that there are not."""
    return [
        Lack(
            str(fact["name"]),
            Needed(tuple(Need(str(each)) for each in fact["any_of"]), int(fact["least"])),
            int(fact["has"]),
            str(fact["dataset"]),
            bool(fact["absent"]),
        )
        for fact in facts
    ]


def spent(made: Measurement, known: Settings) -> dict[str, float]:
    """Replies of models that the page was made from, and what they cost, whether paid for now or earlier; or nothing.

    Answers of a generator are priced as ragbench.toml prices it. unpriced: how many have no price, and no money here.
    """
    judges = [judge for judge in made.facts.get("judges") or () if isinstance(judge, Mapping)]
    used = [judge["usage"] for judge in judges if judge.get("usage")]
    calls, money = sum(int(usage["replies"]) for usage in used), sum(float(usage["cost"]) for usage in used)
    unpriced = sum(int(usage.get("unpriced") or 0) for usage in used)
    answers = made.extra.get("answers")
    generators = made.facts.get("generators") or {}
    if answers is not None and "input_tokens" in answers:
        written = answers.dropna(subset=["input_tokens", "output_tokens"])
        for system, own in written.groupby("system"):
            generator = known.generators.get(str(generators.get(str(system), {}).get("name")))
            calls += len(own)
            if generator is None or not generator.is_priced:
                unpriced += len(own)
            else:
                price = Price(generator.input_price, generator.output_price)
                money += price.of(float(own["input_tokens"].sum()), float(own["output_tokens"].sum()))
    return {"calls": calls, "money": round(money, 9), "unpriced": unpriced} if calls else {}


def of_all(made: Measurement, known: Settings) -> Facts:
    """The fact `part_of_all` with what all questions would take of models: `calls`, and `money` where all has a price;
    nothing of a page that has measured all."""
    taken = made.facts.get("part_of_all")
    if not taken:
        return {}
    here = spent(made, known)
    return {"part_of_all": scaled(taken, **here) if here else {**taken}}


def scaled(taken: Mapping[str, Any], calls: float, money: float, unpriced: float) -> dict[str, Any]:
    """The fact `part_of_all`, with what all would take where so much was taken for these."""
    scale = taken["of"] / taken["n"]
    told = {"calls": round(calls * scale)} if calls else {}
    return {**taken, **told, **({"money": round(money * scale, 9)} if calls and not unpriced else {})}

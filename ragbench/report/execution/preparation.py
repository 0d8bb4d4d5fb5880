"""What a run will execute: notebooks found, their parameters checked and put in, and all that would fail refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ragbench.core import settings, trust
from ragbench.core.language import translator
from ragbench.core.settings import OWN_TABLES
from ragbench.data import Dataset, available, places
from ragbench.report.execution import parameters
from ragbench.report.pages import drawing
from ragbench.tiers import readiness
from ragbench.tiers.basics.choices import BenchError, parted
from ragbench.tiers.basics.needs import Lack
from ragbench.tiers.basics.requests import Request
from ragbench.tiers.basics.session import dataset_of
from ragbench.tiers.decisions.deciders import is_log
from ragbench.tiers.run.overview import NAME as OVERVIEW

Read = Callable[[str, str], Dataset]
"""Gives the data set of a name, in the language of a page where none is asked for."""
OF_EVERY_PAGE = {"dataset", "systems", "language"}


class Prepared(NamedTuple):
    """Notebooks by name with their parameters put in, their defaults, the values that differ, and what is left out.

    asked: what they ask of the tiers, each with a data set. read: gives data sets, each read once. reach: what
    executing them runs and sends. unread: notebooks that are not executed, for nobody has answered for them.
    """

    sources: dict[str, Any]
    defaults: dict[str, dict[str, Any]]
    values: dict[str, dict[str, Any]]
    left_out: tuple[Lack, ...]
    asked: list[Request]
    read: Read
    reach: tuple[trust.Item, ...]
    unread: tuple[str, ...] = ()


def prepared(
    notebooks: Sequence[Path | str],
    wanted: dict[str, Any],
    language: str | None,
    *,
    lenient: bool = False,
    asking: bool = True,
) -> Prepared:
    """What is executed, once all is known to be there that can be known; see `run`.

    wanted: gets the language, where a notebook has such a parameter and none was asked for. asking: whether endpoints
    may be asked, too.
    """
    paths = [find(notebook) for notebook in notebooks]
    _refuse_twice(paths)
    reached = reach(paths, wanted)
    if asking:
        trust.require(*reached)
    unread = tuple(path.stem for path in paths if not asking and trust.doubts(*trust.notebooks([path])))
    paths = [path for path in paths if path.stem not in unread]
    sources = {path.stem: drawing.notebook_at(path) for path in sorted(paths, key=lambda path: path.stem == OVERVIEW)}
    defaults = {name: parameters.defaults(notebook, name) for name, notebook in sources.items()}
    if language is not None and any("language" in names for names in defaults.values()):
        wanted.setdefault("language", language)
    values = parameters.chosen(wanted, defaults)
    _refuse_unfit(sources, {name: {**defaults[name], **values[name]} for name in sources}, values)
    known = settings.load()
    asked = {
        name: parameters.requests(notebook, {**defaults[name], **values[name]}) for name, notebook in sources.items()
    }
    named = str(wanted.get("dataset") or "")
    read = reader(known)
    left_out = lacks(asked, known, named, read)
    for lack in left_out:
        del sources[lack.page], asked[lack.page]
    if left_out and (not lenient or not sources.keys() - {OVERVIEW}):
        said = "\n".join(f"{absent.page} {absent.sentence(translator('en'))}" for absent in left_out)
        raise BenchError(f"{said}. `ragbench doctor` lists the pages that the data allow")
    every = [request for requests in asked.values() for request in requests]
    readiness.check(every, known, asking=asking)
    for name, notebook in sources.items():
        parameters.inject(notebook, values[name])
    return Prepared(sources, defaults, values, left_out, every, read, reached, unread)


def lacking(notebooks: Sequence[Path | str]) -> tuple[Lack, ...]:
    """Which notebooks lack data, with their own parameters."""
    sources = {path.stem: drawing.notebook_at(path) for path in map(find, notebooks)}
    asked = {
        name: parameters.requests(notebook, parameters.defaults(notebook, name)) for name, notebook in sources.items()
    }
    return lacks(asked, settings.load())


def lacks(
    asked: Mapping[str, Sequence[Request]], known: settings.Settings, dataset: str = "", read: Read | None = None
) -> tuple[Lack, ...]:
    """Pages that lack something, each with the first thing that it lacks.

    asked: by page what it asks of the tiers. dataset: that is named for all of them; empty: as in the settings. read:
    gives a data set, see `reader`.
    Raises DatasetError for a data set that cannot be read, and for one that is not there though somebody named it.
    """
    read = read or reader(known)

    def data(name: str, language: str = "") -> Dataset | None:
        return read(name, language) if _is_there(name, known) else None

    data(dataset or known.dataset)
    first: dict[str, Lack] = {}
    for page, requests in asked.items():
        for request in requests:
            name, language = request.place(dataset or known.dataset)
            for needed in request.needed(known):
                own = data(name, language)
                lack = needed.lack(page, own, name if own is None else own.label)
                if lack is not None:
                    first.setdefault(page, lack)
    return tuple(first.values())


def reader(known: settings.Settings) -> Read:
    """Reads each data set once."""
    return cache(lambda name, language: dataset_of(name, known, language))


def _is_there(name: str, known: settings.Settings) -> bool:
    """Whether the data set is there, or is to be there: only the one that nobody named may be missing.

    The sample data stand in for none: a project that names them measures them.
    """
    if "dataset" in known.model_fields_set or name != known.dataset or name.startswith(OWN_TABLES):
        return True
    return name in available(places.own_data())


def _refuse_unfit(
    sources: Mapping[str, Any], whole: Mapping[str, Mapping[str, Any]], given: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise what the first notebook says of its parameters; of several, with its name and those that take them."""
    refused: dict[str, BenchError] = {}
    for name, notebook in sources.items():
        try:
            parameters.checked(notebook, whole[name])
        except BenchError as error:
            refused[name] = error
    if not refused:
        return
    name, first = next(iter(refused.items()))
    if len(sources) == 1:
        raise first
    own = given[name].keys() - OF_EVERY_PAGE
    fit = [other for other in sources if own and other not in refused and own <= given[other].keys()]
    more = f"; it goes to every notebook that has the parameter, of which {', '.join(fit)} would take it" if fit else ""
    raise BenchError(f"{name}: {first}{more}")


def reach(notebooks: Sequence[Path | str], given: Mapping[str, Any]) -> tuple[trust.Item, ...]:
    """What executing these notebooks with these parameters would run and send."""
    functions = [name for name in parted(given.get("judges") or "") if ":" in name and not is_log(name)]
    judges = [trust.Item("code", "judges", f"runs {name}") for name in functions]
    return (*trust.named(), *trust.notebooks(find(notebook) for notebook in notebooks), *judges)


def find(notebook: Path | str) -> Path:
    """The path of a notebook that is named by its path, or by its name; see `ragbench.data.places`."""
    path = Path(notebook)
    for candidate in (path, places.notebook(path.name), places.notebook(f"{path.name}.ipynb")):
        if candidate is not None and candidate.suffix == ".ipynb" and candidate.is_file():
            return candidate
    there = places.notebooks()
    named = parameters.names([other.stem for other in there])
    raise FileNotFoundError(f"there is no notebook {str(notebook)!r}; {there[0].parent.name}/ has {named}")


def _refuse_twice(paths: Sequence[Path]) -> None:
    stems = [path.stem for path in paths]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1 or stem == "index"})
    if twice:
        raise ValueError(f"pages are named after notebooks: {', '.join(twice)} cannot be, or is given twice")

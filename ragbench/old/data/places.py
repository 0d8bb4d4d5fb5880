"""Where notebooks and data sets are looked for: in the project's own folders, else among those that ragbench brings."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ragbench.old.core import annexes, folders, settings
from ragbench.old.core.settings import urls
from ragbench.old.data import remotes


def file(name: str | Path) -> Path:
    """The file of that name, whether it is there or not: of a URL its local copy; else a path, from ragbench.toml on.

    Raises ValueError for a URL that will not do, RemoteError for one that cannot be read.
    """
    if urls.is_url(name):
        return remotes.brought(urls.Url.of(str(name)))
    return settings.project_folder() / Path(name)


def own_notebooks() -> Path:
    """The project's folder of notebooks, whether it is there or not."""
    return settings.project_folder() / settings.load().notebooks_folder


NO_PAGES = ("quickstart.ipynb",)
"""Notebooks that are worked in, and make no page of a report."""


def notebooks() -> list[Path]:
    """All notebooks that a project has pages of, sorted; those that come with ragbench where it has none that speaks of
    ragbench."""
    return [path for path in _pages(own_notebooks()) if _is_of_ragbench(path)] or _pages(annexes.NOTEBOOKS)


def _pages(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.ipynb") if path.name not in NO_PAGES)


def _is_of_ragbench(notebook: Path) -> bool:
    with suppress(folders.TooLargeError):
        return b"ragbench" in folders.content(notebook)
    return False


def notebook(file: str) -> Path | None:
    """A notebook by its file's name, or a file beside one: the project's own, else ragbench's, else an annex's, else
    None."""
    paths = [folder / Path(file).name for folder in (own_notebooks(), annexes.NOTEBOOKS)]
    paths += [path for path in annexes.notebooks().values() if path.name == Path(file).name]
    return next((path for path in paths if path.is_file()), None)


def own_data() -> Path:
    """The project's folder of data sets, whether it is there or not."""
    return settings.project_folder() / settings.load().data_folder


def data(name: str) -> Path:
    """The folder below which the data set `name` (`campus`, `campus:ru`) lies: the project's own, else ragbench's.

    The project's, too, where neither has it.
    """
    folder = f"{Path(name.partition(':')[0]).name}/dataset.toml"
    own = own_data()
    return annexes.DATA if not (own / folder).is_file() and (annexes.DATA / folder).is_file() else own


def remote_data(name: str) -> tuple[Path, str, str]:
    """Of a data set by its URL (`s3://bucket/campus:ru`): its local copy, its URL, and the language it is asked in.

    Raises ValueError for a URL that will not do, RemoteError for one that cannot be read.
    """
    url, language = urls.with_language(name)
    return remotes.brought(url, remotes.DATASET), str(url), language

"""A report: notebooks executed, a page of each, the index, the numbers and the manifest.

It is written beside its place and put there whole, so that no reader sees half of one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.core.errors import BenchError, suggest
from ragbench.core.folders import replaced
from ragbench.core.language import Language, load_language
from ragbench.core.settings import Settings
from ragbench.report.execute import (
    Kernels,
    execute_notebook,
    has_tag,
    parameter_names,
    read_notebook,
)
from ragbench.report.index import STATUSES, write_index
from ragbench.report.manifest import write_manifest, write_summary
from ragbench.report.page import write_page
from ragbench.report.parts import DRAW_ALONE, JUPYTER_STYLE, PAGE_HTML, trusted

if TYPE_CHECKING:
    from nbformat import NotebookNode

METADATA = "ragbench"  # of a notebook: {"after_others": true} makes it the last of a run
NOTHING_SHOWN = Markup("")
LITERALS = (str, int, float, bool, type(None))
RECORDED = ("name", "title", "status", "failure", "seconds", "parameters")  # of pages


@dataclass
class PageRun:
    """One notebook of a run, and the page that it became.

    status: waiting, running, complete, failed or interrupted. failure: why it is not complete.
    finding, overview: HTML of its cells with these tags, for the index. is_last: whether it reads
    what the other pages have kept, and is made after them.
    """

    source: Path
    title: str
    parameters: Mapping[str, Any]
    status: str = "waiting"
    failure: str = ""
    seconds: float = 0.0
    finding: Markup = NOTHING_SHOWN
    overview: Markup = NOTHING_SHOWN
    is_last: bool = False

    @property
    def name(self) -> str:
        """The name of the notebook, of its page and of the folder of its frames."""
        return self.source.stem


@dataclass
class Run:
    """A run. status: complete; failed if a page is; interrupted."""

    folder: Path
    name: str
    language: Language
    pages: list[PageRun]
    status: str = "running"
    started: datetime = field(default_factory=lambda: datetime.now().astimezone())


OnProgress = Callable[[PageRun], None]


def run_notebooks(
    notebooks: Sequence[Path | str],
    out: Path | str,
    parameters: Mapping[str, Any],
    *,
    settings: Settings,
    workers: int,
    kernels: Kernels | None = None,
    on_progress: OnProgress = lambda page: None,
) -> Run:
    """Execute the notebooks and write their report to the folder `out`.

    parameters: values of the notebooks' parameters, literals alone; each goes to the notebooks that
    have it. workers: notebooks at once. kernels: that are loading already, and that the caller
    closes; None: new ones. on_progress: called with a page whenever its status changes. A notebook
    that fails does not stop the others: its page shows how far it came, and why it stopped. A
    folder that is there is replaced when all is written.

    Raises BenchError for a notebook that is not there and a parameter that none has, and
    KeyboardInterrupt again after the interrupted report was written.
    """
    parameters = {"language": settings.language, **parameters}
    out = Path(out).absolute()
    language = load_language(parameters["language"])
    pages = plan_pages([Path(notebook) for notebook in notebooks], parameters, language)
    own = nullcontext(kernels) if kernels else Kernels(workers, len(pages))
    with own as kernels, replaced(out) as new_folder:
        run = Run(new_folder, out.name, language, pages)
        execute_pages(run, settings, kernels, workers, on_progress)
        finish(run, settings)
    run.folder = out
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run


def plan_pages(
    notebooks: Sequence[Path], parameters: Mapping[str, Any], language: Language
) -> list[PageRun]:
    """Read the notebooks, and choose for each the parameters that it has."""
    pages = []
    known: set[str] = {"language"}
    for source in notebooks:
        if not source.is_file():
            raise BenchError(f"there is no notebook {source}")
        notebook = read_notebook(source)
        names = parameter_names(notebook)
        known |= names
        given = {name: value for name, value in parameters.items() if name in names}
        is_last = bool(notebook.metadata.get(METADATA, {}).get("after_others"))
        title = notebook_title(notebook, language)
        pages.append(PageRun(source, title, given, is_last=is_last))
    check_parameters(parameters, known)
    check_names([page.name for page in pages])
    return pages


def check_parameters(parameters: Mapping[str, Any], known: set[str]) -> None:
    """Refuse a parameter that no notebook has, and a value that is no literal."""
    for name, value in parameters.items():
        if name not in known:
            hint = suggest(name, known)
            raise BenchError(
                f"no notebook has a parameter {name!r}{hint}; there are {', '.join(sorted(known))}"
            )
        values = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(inner, LITERALS) for inner in values):
            raise BenchError(f"parameter {name} is {value!r}; it can be a text, a number or a list")


def check_names(names: Sequence[str]) -> None:
    """Refuse two notebooks of one name: their pages would be one."""
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise BenchError(f"two notebooks are called {repeated[0]}.ipynb: rename one")


def execute_pages(
    run: Run, settings: Settings, kernels: Kernels, workers: int, on_progress: OnProgress
) -> None:
    """Make all pages, some at a time. An interruption ends the kernels and is noted."""

    def make(page: PageRun) -> None:
        page.status = "running"
        on_progress(page)
        make_page(page, run, kernels, settings.root)
        on_progress(page)

    with ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(make, page) for page in run.pages if not page.is_last]
        try:
            for future in waiting:
                future.result()
            for page in run.pages:
                if page.is_last:
                    waiting.append(pool.submit(make, page))
                    waiting[-1].result()
        except KeyboardInterrupt:
            run.status = "interrupted"
            for future in waiting:
                future.cancel()
            kernels.end()


def make_page(page: PageRun, run: Run, kernels: Kernels, root: Path) -> None:
    """Execute a notebook and write its page."""
    begun = time.monotonic()
    target = run.folder / page.source.name
    try:
        notebook, page.failure = execute_notebook(
            page.source, target, page.parameters, kernels, folder=root
        )
    except Exception as error:  # whatever is wrong with one page, the others are made
        page.failure = f"{type(error).__name__}: {error}"
        notebook = read_notebook(page.source)
    page.seconds = time.monotonic() - begun
    page.status = "failed" if page.failure else "complete"
    if run.status == "interrupted":
        page.status, page.failure = "interrupted", ""
    page.finding = tagged_html(notebook, "finding")
    page.overview = tagged_html(notebook, "overview")
    fragments = notebook_fragments(notebook, run.language)
    if page.status in STATUSES:
        fragments.insert(0, status_html(page, run.language))
    write_page(
        run.folder / f"{page.name}.html", page.title, fragments, run.language.code, is_of_run=True
    )


def finish(run: Run, settings: Settings) -> None:
    """Write what sums the pages up."""
    for page in run.pages:
        if page.status in ("waiting", "running"):
            page.status = "interrupted"
    if run.status != "interrupted":
        has_failed = any(page.status == "failed" for page in run.pages)
        run.status = "failed" if has_failed else "complete"
    seconds = (datetime.now().astimezone() - run.started).total_seconds()
    write_summary(run.folder)
    write_manifest(
        run.folder,
        [{key: getattr(page, key) for key in RECORDED} for page in run.pages],
        name=run.name,
        status=run.status,
        language=run.language.code,
        started=run.started.isoformat(timespec="seconds"),
        seconds=seconds,
        settings=settings.model_dump(mode="json", exclude_defaults=True),
    )
    write_index(run)


def read_pages(folder: Path, language: Language, without: str = "") -> list[PageRun]:
    """Return the pages of a run's folder by their executed notebooks, tiers first.

    without: the name of a page to leave out. One that stopped by an error has failed.
    """
    pages = []
    for source in sorted(folder.glob("*.ipynb"), key=lambda path: ("tier" not in path.stem, path)):
        if source.stem == without:
            continue
        notebook = read_notebook(source)
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
        has_failed = any(output.output_type == "error" for output in outputs)
        page = PageRun(source, notebook_title(notebook, language), {})
        page.status = "failed" if has_failed else "complete"
        page.finding = tagged_html(notebook, "finding")
        pages.append(page)
    return pages


def new_run_folder(reports: Path | str) -> Path:
    """Return a folder of reports that is not there yet, named by the time: 20261129T004343."""
    name = datetime.now().strftime("%Y%m%dT%H%M%S")
    folder = Path(reports) / name
    count = 1
    while folder.exists():
        count += 1
        folder = Path(reports) / f"{name}-{count:02d}"
    return folder


def point_latest(folder: Path) -> None:
    """Let the link `latest` beside a report's folder lead to it."""
    link = folder.parent / f".latest.{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(folder.name)
    link.replace(folder.parent / "latest")


def notebook_title(notebook: NotebookNode, language: Language) -> str:
    """Return its first heading: the question that it answers."""
    heading = notebook.cells[0].source.partition("\n")[0] if notebook.cells else ""
    return language.translate(heading.removeprefix("#").strip() or "Untitled")


def notebook_fragments(notebook: NotebookNode, language: Language) -> list[Markup]:
    """Return HTML of all cells after the title: texts, outputs and, last, the code, folded."""
    from nbconvert.filters import markdown2html

    fragments = []
    sources = []
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            text = markdown2html(language.translate(cell.source))
            fragments.append(Markup('<section class="part">{}</section>').format(trusted(text)))
        elif cell.cell_type == "code":
            sources.append(cell.source)
            fragments += [output_html(output) for output in cell.outputs]
    fold = Markup('<section class="part code"><details><summary>{}</summary>{}</details></section>')
    code = Markup("").join(Markup("<pre>{}</pre>").format(source) for source in sources)
    fragments.append(fold.format(language.translate("Code of this page"), code))
    return fragments


def output_html(output: NotebookNode) -> Markup:
    """Return HTML of one output of a cell: our own parts escaped theirs, the rest is escaped here.

    HTML of other libraries is taken as it is: the page's policy lets nothing of it run.
    """
    if output.output_type == "stream":
        return Markup("<pre>{}</pre>").format(output.text)
    if output.output_type == "error":
        return Markup("<pre>{}: {}</pre>").format(output.ename, output.evalue)
    if PAGE_HTML in output.data:
        return trusted(output.data[PAGE_HTML])
    if "text/html" in output.data:
        html = output.data["text/html"]
        for added in (JUPYTER_STYLE, DRAW_ALONE):
            html = html.replace(str(added), "")
        return trusted(html)
    return Markup("<pre>{}</pre>").format(output.data.get("text/plain", ""))


def tagged_html(notebook: NotebookNode, tag: str) -> Markup:
    """Return what the cells with a tag show."""
    shown = Markup("")
    for cell in notebook.cells:
        if has_tag(cell, tag):
            for output in cell.get("outputs", ()):
                if output.output_type != "error":
                    shown += output_html(output)
    return shown


def status_html(page: PageRun, language: Language) -> Markup:
    """Return the sentence at the head of a page that is not complete."""
    text = language.translate(STATUSES[page.status])
    said = Markup('<section class="part failed"><p><b>{}</b> {}</p></section>')
    return said.format(text, page.failure)

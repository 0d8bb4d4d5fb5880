"""`ragbench run`."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.cli.options import (
    MORE,
    Baseline,
    Confidence,
    DatasetName,
    Judges,
    LanguageCode,
    Limit,
    Metrics,
    Plan,
    Primary,
    Systems,
    load_annex,
    split_list,
)
from ragbench.cli.output import print_plans, say
from ragbench.core.errors import BenchError, suggest
from ragbench.core.metric import parse_labels, plain_name
from ragbench.core.settings import Settings
from ragbench.core.trust import check_trust, open_settings

if TYPE_CHECKING:
    from ragbench.report.run import PageRun, Run

NOTHING_MEASURED = 4
USUAL_LEVEL = 0.95  # which notebooks have by themselves
WRITERS = "systems that take passages"
# Page → what must be there for it, all of these; of those with a bar one will do. In the order of
# reading; the overview sums the others up and is made last.
PAGES = {
    "tier1_retrieval": ("labels",),
    "tier2_generation": ("labels", WRITERS),
    "tier3_end_to_end": ("references",),
    "rag_metrics": ("ratings|answers",),
    "tier0_embeddings": (),
    "tier_judge": ("ratings|answers",),
    "tier_judge_pipeline": ("decisions",),
    "tier_ux": ("dialogues|history",),
    "real_users": ("history",),
    "sources": (),
    "dataset": (),
    "overview": (),
}
ANNEXES = Path(__file__).parents[1] / "extras"  # whose notebooks are executed when they are named


def main(
    pages: Annotated[
        list[str] | None, typer.Argument(help="Notebooks: tier1_retrieval, or a path; else all.")
    ] = None,
    dataset: DatasetName = "",
    systems: Systems = [],  # noqa: B006  typer reads it
    metrics: Metrics = [],  # noqa: B006
    judges: Judges = [],  # noqa: B006
    baseline: Baseline = "",
    primary: Primary = "",
    limit: Limit = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="NAME=VALUE of a notebook.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the report; else reports/TIME.")
    ] = None,
    plan: Plan = False,
    language: LanguageCode = "",
    confidence: Confidence = USUAL_LEVEL,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Notebooks at once.", rich_help_panel=MORE)
    ] = 3,  # two have work while one waits
) -> None:
    """Measure all systems by the notebooks, and write a report: pages, an index, all numbers.

    Exit code 4 where a page could not be completed.

    Examples: `ragbench run`, `ragbench run tier1_retrieval -s bm25,dense -p k=20`,
    `ragbench run -d campus:ru -l ru --limit 50`
    """
    from ragbench.report.execute import Kernels

    settings = open_settings()
    if language:
        settings = settings.model_copy(update={"language": language})
    values = read_parameters(parameter or [])
    named = {
        "dataset": dataset,
        "systems": ", ".join(split_list(systems)),
        "metrics": ", ".join(split_list(metrics)),
        "judges": ", ".join(split_list(judges)),
        "baseline": baseline,
        "primary": primary,
        "limit": limit,
        "level": None if confidence == USUAL_LEVEL else confidence,
        "language": language,
    }
    values |= {name: value for name, value in named.items() if value}
    if plan:
        costs = load_annex("planning.costs")
        notebooks = choose_notebooks(settings, pages or [], values)
        print_plans(costs.plan_pages([path.stem for path in notebooks], settings, values))
        return
    began = time.monotonic()
    # They load the library while this process looks at names and data.
    with Kernels(workers, len(pages or PAGES)) as kernels:
        from ragbench.report.run import new_run_folder, point_latest, run_notebooks

        notebooks = choose_notebooks(settings, pages or [], values)
        report = Progress(len(notebooks))
        run = run_notebooks(
            notebooks,
            out or new_run_folder(settings.path(settings.reports_folder)),
            values,
            settings=settings,
            workers=workers,
            kernels=kernels,
            on_progress=report,
        )
    report.end()
    if out is None:
        point_latest(run.folder)
    finish(run, time.monotonic() - began)


def choose_notebooks(
    settings: Settings, pages: Sequence[str], values: Mapping[str, Any]
) -> list[Path]:
    """Return the notebooks of the pages; without any those that the data set has data for."""
    notebooks = find_notebooks(settings, pages)
    check_names(settings, values)
    return notebooks if pages else with_data(notebooks, settings, values)


def find_notebooks(settings: Settings, pages: Sequence[str]) -> list[Path]:
    """Return the notebooks to execute. Raises BenchError for a name that there is not."""
    folder = settings.path(settings.notebooks_folder)
    if folder.is_dir():
        # Notebooks are code, also where no ragbench.toml lies beside them.
        check_trust(settings.root)
    else:
        folder = shipped_notebooks()
    present = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    if not pages:
        return [present[name] for name in PAGES if name in present]
    annexes = {path.stem: path for path in sorted(ANNEXES.glob("*/*.ipynb"))}
    known = annexes | present
    chosen = []
    for page in split_list(pages):
        if page in known:
            chosen.append(known[page])
        elif Path(page).suffix == ".ipynb":
            chosen.append(Path(page))
        else:
            # tier_1 and tier1 begin tier1_retrieval.
            begun = [name for name in known if plain_name(name).startswith(plain_name(page))]
            hint = f"; did you mean {begun[0]!r}?" if begun else suggest(page, known)
            there = f"there are {', '.join(known)}"
            raise BenchError(f"there is no notebook {page!r}{hint or f'; {there}'}")
    return chosen


def check_names(settings: Settings, values: Mapping[str, Any]) -> None:
    """Refuse names that there are not, before kernels are started for pages that will fail."""
    from ragbench.data.datasets import find_dataset
    from ragbench.judge.lexical import LEXICAL
    from ragbench.systems.opening import BUILT_IN, ENDINGS
    from ragbench.tiers.common import declare_metrics

    dataset = str(values.get("dataset") or settings.dataset)
    database = dataset.removeprefix("db:")
    if database == dataset:
        find_dataset(dataset, settings.path(settings.data_folder))
    else:
        check_name("database", database, settings.databases)
    systems = {**BUILT_IN, **settings.retrievers, **settings.systems}
    for name in split_list(str(values.get("systems", ""))):
        if not name.endswith(ENDINGS):
            check_name("system", name, systems)
    for name in split_list(str(values.get("judges", ""))):
        if ":" not in name and "." not in name:
            check_name("judge", name, [LEXICAL, *settings.judges])
    declare_metrics(settings)
    parse_labels(str(values.get("metrics", "")))


def with_data(
    notebooks: Sequence[Path], settings: Settings, values: Mapping[str, Any]
) -> list[Path]:
    """Return the notebooks that the data set has data for, and say which are left out."""
    from ragbench.tiers.common import Basics, open_dataset

    request = Basics(dataset=str(values.get("dataset") or ""))
    dataset = open_dataset(request, settings, settings.language, None, None)
    systems = split_list(values.get("systems", "")) or list(settings.systems)
    has = {
        # The log of a database may be empty.
        **{name: not frame.empty for name, frame in dataset.extras.items()},
        "answers": bool(values.get("answers")),
        "labels": not dataset.labels.empty,
        "references": (dataset.questions["reference"] != "").any(),
        WRITERS: not systems or any(takes_passages(name, settings) for name in systems),
    }
    chosen = []
    for path in notebooks:
        for need in PAGES[path.stem]:
            names = need.split("|")
            if not any(has.get(name) for name in names):
                say(f"{path.stem} is left out: there are no {' and no '.join(names)}")
                break
        else:
            chosen.append(path)
    return chosen


def takes_passages(name: str, settings: Settings) -> bool:
    """Tell whether a system may be given passages to answer from: a service is asked as it is."""
    table = settings.systems.get(name)
    if table is None or table.generator or not table.answer:
        return True
    return "{contexts}" in table.body


def check_name(what: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is none of the known."""
    if name not in known:
        there = f"there are {', '.join(known) or 'none'}"
        raise BenchError(f"there is no {what} {name!r}{suggest(name, known)}; {there}")


def shipped_notebooks() -> Path:
    """Return the notebooks that come with the package: for projects that have none of their own."""
    package = ANNEXES.parent
    for folder in (package / "shipped" / "notebooks", package.parent / "notebooks"):
        if folder.is_dir():
            return folder
    raise BenchError("there are no notebooks; notebooks_folder in ragbench.toml names a folder")


def read_parameters(entries: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE: a number, True, False, None, a list of these, or else a text."""
    values: dict[str, Any] = {}
    for entry in entries:
        name, sign, text = entry.partition("=")
        if not sign or not name.strip().isidentifier():
            raise BenchError(f"-p {entry}: write NAME=VALUE, such as k=20")
        try:
            values[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            values[name.strip()] = text.strip()
    return values


class Progress:
    """Says which pages are done; at a terminal in one line, with the time that is left."""

    def __init__(self, total: int) -> None:
        from tqdm import tqdm

        self.bar = tqdm(total=total, desc="pages", disable=not sys.stderr.isatty(), leave=False)

    def __call__(self, page: PageRun) -> None:
        """Take in that a page's status has changed."""
        if page.status == "running":
            self.bar.set_postfix_str(page.name)
            return
        self.bar.update()
        self.bar.write(f"  {page.seconds:6.1f} s  {page.name}  {page.failure}", file=sys.stderr)

    def end(self) -> None:
        """Take the bar away."""
        self.bar.close()


def finish(run: Run, seconds: float) -> None:
    """Print where the report is; end with 4 where a page is not complete."""
    print(run.folder / "index.html")
    failed = [page.name for page in run.pages if page.status != "complete"]
    say(f"{len(run.pages) - len(failed)} of {len(run.pages)} pages in {seconds:.0f} s")
    if failed:
        say(f"not complete: {', '.join(failed)}; each page says why")
        raise typer.Exit(NOTHING_MEASURED)

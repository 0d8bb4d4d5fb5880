"""`ragbench render` and `ragbench publish`: a run's pages once more, and for people elsewhere."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ragbench.old.cli.console import options
from ragbench.old.core import terminal


def render(name: options.Run, language: options.Language = "") -> None:
    """Draw a run's pages again from its stored scores, with no database, no model and no notebook executed.

    With another language they stand beside the run's own, in a folder of that name; every page leads to itself in the
    other language. With the same version of ragbench the same bytes come out.

    Example: `ragbench render latest -l ru`
    """
    from ragbench.old import report
    from ragbench.old.report.keeping import kept

    terminal.say(report.render(kept.pages_of(name), language=language or None))


def publish(
    name: options.Run,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            "-t",
            help="Folder of the site; made, or written anew as a whole. A URL, s3://bucket/site, writes it there. "
            "mlflow:FOLDER or mlflow:URI logs it to MLflow.",
        ),
    ],
    mask: Annotated[
        Literal["real-users", "all", "none"],
        typer.Option("--mask", help="Where e-mail addresses, telephones, long numbers, user ids are masked."),
    ] = "real-users",
    mask_names: Annotated[
        bool,
        typer.Option("--mask-names", help="Also people's names in Russian texts; on all pages, whatever --mask says."),
    ] = False,
    language: options.Language = "",
    single: Annotated[
        bool, typer.Option("--single/--no-single", help="Also each page as one file that needs no other.")
    ] = True,
    raw_csv: Annotated[
        bool, typer.Option("--raw-csv", help="Texts in CSV as they are, also those that a spreadsheet executes.")
    ] = False,
) -> None:
    """Write a run, or a comparison, as a static site that works from a disk and from any host, with its numbers.

    In the folder: the pages, each also in `single/` as one file; `data/` with CSV, Parquet and JSON; `tables/` with
    LaTeX tables (booktabs, tabularx, siunitx) for an article; `summary.md` and `junit.xml` for a pipeline. No path and
    no secret of this machine is in it. Pages that `ragbench render -l ru` drew beside are in it too; with --language
    that one alone.

    With `--to mlflow:FOLDER` all of it becomes runs of MLflow, in a SQLite file in that folder: one for the run, with
    the site as its artifacts, and one for each page and system below it. It needs `pip install 'PATH[mlflow]'`.

    Of a run that was loaded these are its numbers; a comparison goes by its folder, or its name in reports/comparisons.

    Examples: `ragbench publish latest --to public`, `ragbench publish v1--v2 --to article`
    """
    from ragbench.old.core.settings import urls
    from ragbench.old.extras.publishing.publish import SCHEME, Target, log
    from ragbench.old.extras.publishing.publish import publish as write
    from ragbench.old.report.keeping import kept

    masked: Counter[str] = Counter()
    form: dict[str, Any] = {
        "mask": mask.replace("-", "_"), "names": masked if mask_names else None, "language": language or None,
        "single": single, "raw_csv": raw_csv,
    }  # fmt: skip
    if urls.is_url(to):
        from ragbench.old.data import remotes

        url = urls.Url.of(options.url(to))
        with tempfile.TemporaryDirectory(prefix="ragbench-site-") as made:
            site = write(name, Path(made) / "site", **form).parent
            remotes.replace(site, url, ["index.html"])
        terminal.say(url / "index.html")
    elif not to.startswith(SCHEME):
        terminal.say(write(name, options.folder(Path(to)) or Path(to), **form))
    else:
        target = Target.of(to)
        with tempfile.TemporaryDirectory(prefix="ragbench-site-") as made:
            site = write(name, Path(made) / "site", **form).parent
            run = log(kept.pages_of(name).name, site, target)
        terminal.say(f"logged to {target.named}: {run}. To look: mlflow ui --backend-store-uri {target.address}")
    if mask_names:
        terminal.say(
            f"masked: {masked['names']} names of people in {masked['texts']} texts, as well as all that --mask all does"
        )
        terminal.say(
            "names are looked for in Russian texts alone, by Slovnet: it misses some, so read before you publish"
        )

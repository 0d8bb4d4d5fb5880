"""`ragbench review`: what people say of drafts, taken in and put into the data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench.old.cli.console import options
from ragbench.old.core import terminal


def review(
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    annotator: Annotated[str, typer.Option(help="Who reviews, or has reviewed a file.")] = "",
    sheet: Annotated[
        Path | None,
        typer.Option(help="A CSV file with the drafts, for a person to fill in: 1, 0 or 2.", callback=options.file),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="A page for any browser, in which a person reviews by keys.", callback=options.file),
    ] = None,
    take: Annotated[Path | None, typer.Option(help="Take reviews in from a file of either.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Put the reviews into the data set.")] = False,
) -> None:
    """Review what a model drafted: 1 accepts it, 0 rejects it, 2 accepts the question that the note has instead.

    In JupyterLab `rb.review("kb", "anna")` asks draft by draft, by keys, with undo and notes; a page does so in any
    browser, and saves a file; a spreadsheet has columns value and note. Two people read the same drafts, and where they
    differ the draft stays unreviewed. `--apply` marks what was accepted as reviewed, so that pages say of it nothing
    more, and takes out what was rejected.

    Example: ragbench review kb --annotator anna --page anna.html
    Example: ragbench review kb --annotator anna --sheet drafts.csv
    Example: ragbench review kb --annotator anna --take drafts.csv && ragbench review kb --apply
    """
    from ragbench.old.core import trust
    from ragbench.old.core.language import translator
    from ragbench.old.core.parts import Value, spoken
    from ragbench.old.extras.labelling import annotation
    from ragbench.old.extras.labelling.sheet import export_csv, import_csv

    if (sheet or page or take) and not annotator.strip():
        raise typer.BadParameter("say --annotator: two people's reviews are never mixed")
    label, records, mine = annotation.sheet_of(name, annotator or "nobody")
    if sheet is not None:
        terminal.say(f"{len(mine.items)} drafts are in {export_csv(mine, sheet)}")
        return
    if page is not None:
        from ragbench.old.core import settings
        from ragbench.old.core.folders import write
        from ragbench.old.extras.labelling.annotation import review_page

        write(page, review_page(label, mine, settings.load().language).encode())
        terminal.say(f"{len(mine.items)} drafts are in {page}, which needs nothing beside it. Then: ragbench review "
                     f"{name} --annotator {mine.annotator} --take FILE, the one that it saves")  # fmt: skip
        return
    if take is not None:
        try:
            number = mine.take(import_csv(take))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--take") from None
        terminal.say(f"{number} reviews by {mine.annotator} are kept in {mine.path}")
    reviewed = annotation.reviewed(records, annotation.read(label))
    terminal.say(
        f"{len(reviewed.accepted)} accepted, {len(reviewed.rejected)} rejected, {len(reviewed.disputed)} disputed, "
        f"{len(reviewed.open)} not read; by {', '.join(reviewed.annotators) or 'nobody'}"
    )
    if reviewed.alpha is not None:
        alpha = reviewed.alpha
        known = alpha.value == alpha.value
        told = spoken(translator("en")).phrase(Value.of(alpha, 2, bare=True)) if known else "cannot be told"
        terminal.say(f"{reviewed.shared} drafts were read by two people or more: Krippendorff's α (nominal) {told}")
    if reviewed.disputed:
        terminal.say(f"disputed: {', '.join(reviewed.disputed[:5])}{' …' if len(reviewed.disputed) > 5 else ''}")
    if not apply:
        return
    annotation.apply(label, trust.folder_of("data_folder"), reviewed)
    terminal.say(f"{label} has {len(reviewed.accepted)} reviewed questions more; what was rejected is gone")

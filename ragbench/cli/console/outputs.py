"""What goes out of a command besides its tables: JSON, and the sentences that go with numbers.

Of a run that goes to shared storage: where it is then, or how to send it again.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.core import folders, terminal

if TYPE_CHECKING:
    from ragbench.core.answered_by import AnsweredBy
    from ragbench.core.stand_ins import StandIn
    from ragbench.llm import Tally
    from ragbench.tiers.basics.session import Lack


def is_screen(path: Path | None) -> bool:
    """Whether JSON goes to the screen, so that nothing else may go to standard output."""
    return str(path) == "-"


def write(path: Path, value: Any) -> None:
    """Write a value as JSON (`ragbench.core.folders.of_json`) to a file, or to the screen for -; NaN becomes null."""
    from ragbench.core.measurement import without_nan
    from ragbench.report.keeping import results

    if is_screen(path):
        terminal.dump(value, clean=without_nan)
    else:
        results.write_json(path, value)


def caveat(parts: Iterable[StandIn], *, err: bool = True) -> None:
    """Say which parts only stood in for a model, where numbers are said; nothing where none did."""
    from ragbench.core.language import translator
    from ragbench.core.stand_ins import caveat

    if text := caveat(parts, translator("en")):
        terminal.tell(text, err=err, colour="yellow")


def answered(models: Iterable[AnsweredBy], *, err: bool = True) -> None:
    """Say which models answered under another name than they were asked by, or whose replies were imported."""
    from ragbench.core import answered_by
    from ragbench.core.language import translator

    for model in models:
        if text := answered_by.sentence(model, translator("en")):
            terminal.say(text, err=err, colour="yellow" if model.warns else None)


def left_out(lacks: Iterable[Lack]) -> None:
    """Say which pages were not made, each with what it needs."""
    from ragbench.core.language import translator

    for lack in lacks:
        terminal.say(f"{lack.page} not run: {lack.sentence(translator('en'))}")


def paid(tally: Tally, *, err: bool = False) -> None:
    """Say how many replies came from the journal, and what was newly paid; nothing where no model was asked."""
    if asked := tally.done + tally.failed:
        calls = f"{tally.calls:,} call{'' if tally.calls == 1 else 's'}"
        whose = f": no price is set for {tally.unpriced:,} of them" if tally.unpriced else ""
        said = f"newly paid: {calls}, cost {tally.money}{whose}"
        terminal.say(f"from the journal: {tally.journaled:,} of {asked:,} replies; {said}", err=err)


def stored(counts: Mapping[tuple[str, str], tuple[int, int]]) -> None:
    """Say how many of a run's vectors were stored before; nothing of embedders of which none were."""
    names = {"query": "question"}
    each = [
        f"{before:,} of {whole:,} {names.get(kind, kind)} vectors ({name})"
        for (name, kind), (before, whole) in counts.items()
        if before
    ]
    if each:
        terminal.say(f"from the store: {', '.join(each)}")


def journaled(folder: Path) -> None:
    """Say how many of a run's replies the journal had before the run began; nothing of models that were asked anew."""
    from ragbench.core import folders, settings
    from ragbench.llm import uses
    from ragbench.report.keeping import kept, results
    from ragbench.store import Store

    keys = uses.of_run(folder)
    if not keys:
        return
    began = float(json.loads(folders.text(folder / results.MANIFEST))["started"])
    counts: dict[str, tuple[int, int]] = {}

    def look() -> None:
        with Store.open(settings.load()) as store:
            counts.update(store.journal.kept_before(keys, time.time() - began))

    if not kept.refusal(look) and any(before for before, _whole in counts.values()):
        each = (f"{before:,} of {whole:,} replies of {judge}" for judge, (before, whole) in counts.items())
        terminal.say(f"from the journal: {', '.join(each)}")


def sent(folder: Path, to: str) -> bool:
    """Send the run in a folder to a URL and say where it is; else why not, and by which command it is sent."""
    from ragbench.report.keeping import kept

    try:
        terminal.say(kept.send(folder, to))
    except (OSError, ValueError) as error:
        said = folders.said(error) if isinstance(error, OSError) else str(error)
        again = shlex.join(["ragbench", "runs", "send", str(folder), "--to", to])
        terminal.say(
            f"the run is whole in {folder}, and was not sent: {said}. To send it: {again}", err=True, colour="red"
        )
        return False
    return True

"""`ragbench form`: a data set's questions as a form that people mark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench.core import terminal


def form(
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    to: Annotated[Path, typer.Option("--to", help="The CSV file that is written; one that is there is refused.")],
) -> None:
    """Write the questions of a data set as a form in which people say what is in order: CSV, no mark filled in.

    is_question_ok, is_answer_ok and is_chunk_ok take 1 or 0; notes take words; an empty mark is "not answered yet".
    `ragbench load annotations` brings it back, without what got a 0.

    Example: ragbench form campus:en --to annotated.csv
    """
    from ragbench import data
    from ragbench.core import trust
    from ragbench.core.folders import write
    from ragbench.extras.testsets import form as forms

    if to.exists():
        raise typer.BadParameter(f"{to} is there already: marks may stand in it; name another", param_hint="--to")
    place = data.place_of(name.partition(":")[0], trust.folder_of("data_folder"))
    records = data.Records.read(place, data.language_in(place, name.partition(":")[2]))
    write(to, forms.form(records.questions, {passage.id: passage for passage in records.chunks}))
    back = f"ragbench load annotations {to.name} --name {place.name}-checked --chunks-from {name}"
    terminal.say(f"{to}: {len(records.questions)} questions, no mark filled in. When people have marked it: {back}")

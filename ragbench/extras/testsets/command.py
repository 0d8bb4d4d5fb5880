"""`ragbench draft`: first questions to a knowledge base that has none."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from ragbench.cli.console import options
from ragbench.core import terminal

SHOWN = 5


def draft(
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    questions: Annotated[int, typer.Option("--questions", "-q", help="How many.")] = 120,
    words: Annotated[float, typer.Option(help="Mean length of a question, in words.")] = 4.0,
    memory: Annotated[
        str, typer.Option(help="Words that come to mind: popular in the passage, discriminative in the base, or both.")
    ] = "both",
    noise: Annotated[float, typer.Option(help="Share of words that come from elsewhere in the base.")] = 0.1,
    seed: options.Seed = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show them; write nothing.")] = False,
) -> None:
    """Add known-item questions to a base: words of a passage, by which it has to be found again. No model is asked.

    They give a first Tier 1, where nobody has asked anything yet, and are marked on every page: they are no questions
    of people, and flatter a search that matches words (Azzopardi, de Rijke & Balog 2007). Passages that have questions
    already are not spared. Take them out again with the next `ragbench load … --replace`.

    Example: ragbench draft kb --questions 120 && ragbench run tier1_retrieval --dataset kb
    """
    from ragbench import data
    from ragbench.core import trust
    from ragbench.extras.testsets import known_items

    if memory not in ("popular", "discriminative", "both"):
        raise typer.BadParameter(f"{memory!r}: popular, discriminative or both is expected", param_hint="--memory")
    folder = trust.folder_of("data_folder")
    place = data.place_of(name.partition(":")[0], folder)
    language = data.language_in(place, name.partition(":")[2])
    recall = known_items.Recall(words, cast(known_items.Memory, memory), noise)
    made = known_items.draft(data.Records.read(place, language).chunks, questions, recall, seed)
    for question in made[:SHOWN]:
        terminal.say(f"{question.id}  {question.text}  [{next(iter(question.relevant))}]")
    if len(made) > SHOWN:
        terminal.say(f"… {len(made) - SHOWN} more")
    data.add(f"{place.name}:{language}", folder, data.Records(questions=made), dry_run=dry_run)
    if dry_run:
        terminal.say("nothing was written (--dry-run)")
        return
    terminal.say(
        f"{len(made)} known-item questions are in {place.name}. Next: ragbench run tier1_retrieval --dataset {name}"
    )

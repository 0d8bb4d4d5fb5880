"""`ragbench drafts`: how far drafted questions may be believed."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench.cli.console import options
from ragbench.core import terminal


def drafts(
    name: Annotated[str, typer.Argument(help="The data set: kb, or kb:ru for one of its languages.")],
    run_name: Annotated[
        str, typer.Option("--run", help="The run whose Tier 1 measured them: a name, latest, or a folder.")
    ] = "latest",
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="By which systems are ordered; the primary if none.")
    ] = "",
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """Say how far drafted questions may be believed: whether they order systems as questions of people do.

    Questions that nobody has reviewed, and known items, are held against all others of the same data set, on the
    systems of one run: Kendall's τ of the systems' order with its interval, how much higher or lower each system is,
    how long questions are and how much of them stands in their passages, and from how many drafts on their order of
    systems holds with a chance of 95 %.

    The next page `dataset` says it, too.

    Example: ragbench run tier1_retrieval -d kb && ragbench drafts kb
    """
    from ragbench import data
    from ragbench.core import trust
    from ragbench.core.language import translator
    from ragbench.core.measurement import without_nan
    from ragbench.core.parts import Value, spoken
    from ragbench.data.records import KNOWN_ITEM
    from ragbench.extras.testsets import believed
    from ragbench.report.keeping import kept
    from ragbench.report.pages.assembly import Measurements

    dataset = data.load(name, trust.folder_of("data_folder"))
    measured = Measurements(kept.pages_of(run_name))
    if "tier1_retrieval" not in measured.names():
        raise typer.BadParameter(
            f"{run_name} has no Tier 1: `ragbench run tier1_retrieval -d {name}`", param_hint="--run"
        )
    made = measured["tier1_retrieval"]
    if made.facts.get("dataset") != dataset.label:
        raise typer.BadParameter(f"{run_name} is of {made.facts.get('dataset')}, not of {name}", param_hint="--run")
    label = metric or str(made.facts["primary"])
    rows = made.scores[made.scores["metric"] == label]
    if rows.empty:
        there = ", ".join(dict.fromkeys(made.scores["metric"]))
        raise typer.BadParameter(f"{label!r} was not measured; measured are {there}", param_hint="--metric")
    asked = {question.id: question for question in dataset.questions}
    drafted = {
        name for name, question in asked.items() if question.draft == "unreviewed" or question.kind == KNOWN_ITEM
    }
    wide = rows.pivot(index="sample", columns="system", values="value")
    sides = [
        {str(system): column.to_numpy(float) for system, column in wide[wide.index.isin(names)].items()}
        for names in (drafted, asked.keys() - drafted)
    ]
    belief = believed.compared(*sides, seed=seed)
    texts = {chunk.id: chunk.text for chunk in dataset.chunks}
    words = [
        believed.wording([question for name, question in asked.items() if (name in drafted) is chosen], texts)
        for chosen in (True, False)
    ]
    told_of_all = {**belief.as_json(), "metric": label, "run": measured.folder.parent.name, "wording": words}
    place = data.place_of(dataset.name, trust.folder_of("data_folder"))
    believed.keep(place, dataset.language, told_of_all)
    if as_json:
        terminal.dump(without_nan(told_of_all), indent=2)
        return
    tau = Value(belief.tau, belief.low, belief.high, digits=2)
    terminal.say(
        f"On {label}, Kendall's τ of {len(belief.systems)} systems under {belief.n} drafts and {belief.of_people} "
        f"other questions is {spoken(translator('en')).phrase(tau)}.",
        bold=True,
    )
    held = "no number of drafts holds their order" if belief.needed is None else f"from {belief.needed:,} drafts on"
    terminal.say(f"The drafts' order of systems holds with a chance of 95 %: {held}.")
    levels = [
        (system, f"{belief.drafted[system]:.3f}", f"{belief.people[system]:.3f}", f"{belief.levels[system]:+.3f}")
        for system in belief.systems
    ]
    terminal.table(("system", "drafts", "others", "difference"), levels, left=("system",))
    texts_of = ("words", "overlap", "different")
    titles = ("questions", "words", "share in their passages", "different words")
    terminal.table(
        titles,
        [
            (who, *(f"{told[key]:.2f}" for key in texts_of))
            for who, told in zip(("drafts", "others"), words, strict=True)
        ],
        left=titles[:1],
    )

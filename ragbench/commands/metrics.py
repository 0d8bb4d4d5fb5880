"""`ragbench metrics`: the catalogue, as the declarations in the code have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragbench import terminal
from ragbench.commands.console import consent, options

if TYPE_CHECKING:
    from ragbench.metric import Metric

SAID = (
    *("name", "grain", "bounds", "better", "cutoffs", "fields", "needs", "summary", "formula", "edges", "differs"),
    *("published", "reading", "signature", "source", "own"),
)


def metrics(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One metric, with all that its declaration says.")] = "",
    grain: Annotated[str, typer.Option(help="Only metrics of this grain: ranking, sample, turns or table.")] = "",
    as_json: options.AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The tables of all metrics in Markdown.")] = False,
    language: Annotated[Literal["en", "ru"] | None, typer.Option(help="Of the prompts that are shown.")] = None,
    trusted: consent.Trust = False,
) -> None:
    """List the metrics that can be measured, your own among them: name, scale, direction, and what they say.

    With a NAME: also the formula, the edge cases, how it differs from its namesakes elsewhere, where it comes from, and
    what a judge is asked, word for word.

    Example: `ragbench metrics "ndcg(gain=exponential)@10"`
    """
    from dataclasses import asdict

    from ragbench import settings, trust
    from ragbench.bench.scoring import own_metrics
    from ragbench.metric import GRAINS, parse
    from ragbench.metrics import catalogue

    consent.required(trust.of_metrics(settings.load()), trusted)
    own_metrics.check()
    if grain and grain not in GRAINS:
        raise typer.BadParameter(f"{grain!r} is not a grain; there are {', '.join(GRAINS)}", param_hint="--grain")
    known = catalogue()
    try:
        chosen = [parse(name)] if name else [each for each in known.values() if not grain or each.grain == grain]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from None
    if as_markdown:
        terminal.prose(markdown().rstrip("\n"))
        return
    if as_json:
        rows = [
            {key: getattr(each, key) for key in SAID}
            | {"reading": None if each.reading is None else asdict(each.reading)}
            for each in chosen
        ]
        terminal.dump(rows)
        return
    if name:
        import inspect

        from ragbench.language import translator
        from ragbench.show.about import own_metrics as own

        [one] = chosen
        terminal.say(f"{one.label}  {_scale(one.bounds)}, {_direction(one.better)}", bold=True)
        terminal.prose(inspect.getdoc(one.function) or "")
        told = {
            "Also called": one.published or "",
            "Formula": one.formula,
            "Edges": one.edges,
            "Elsewhere": one.differs,
            "Signature": one.signature,
        }
        for title, text in told.items():
            if text:
                terminal.prose(f"{title}: {text}")
        if one.reading is not None:
            terminal.say(f"Rules of thumb ({one.reading.source}):")
            for rule in one.reading.rules:
                terminal.say(f"  {rule}")
        terminal.say(f"Source: {one.source}")
        if said := own.said(one.own, translator("en")):
            terminal.prose(f"In this project: {said}")
        for prompt in one.prompts:
            spoken = language or settings.load().language
            terminal.say(f"Prompt {prompt.name}:", bold=True)
            for line in (prompt.texts.get(spoken) or next(iter(prompt.texts.values()))).splitlines():
                terminal.say(f"  {line}".rstrip())
        return
    rows_shown = [(*_row(each), each.summary) for each in chosen]
    titles = ("metric", "scale", "better", "what it says")
    terminal.table(titles, rows_shown, firm=titles[:3])
    terminal.say(f"{len(chosen)} metrics. `ragbench metrics NAME` says more of one.")


FAMILIES = (
    ("Rankings", "ranking"),
    ("Single answers", "sample"),
    ("Dialogues and repeats", "turns"),
    ("Whole sets", "table"),
)


def markdown() -> str:
    """The catalogue as tables in Markdown: one for each grain, a row a metric."""
    from ragbench.metrics import catalogue

    parts = []
    for title, grain in FAMILIES:
        rows = [each for each in catalogue().values() if each.grain == grain]
        lines = [f"## {title}", "", "| metric | scale | better | formula |", "|---|---|---|---|"]
        for each in rows:
            name, scale, better = _row(each)
            cells = (f"`{name}`", scale.replace(" ", "\N{NO-BREAK SPACE}"), better, each.formula)
            lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _row(each: Metric) -> tuple[str, str, str]:
    """A metric with its cut-offs, its scale, and its direction."""
    cuts = f"@{','.join(map(str, each.cutoffs))}" if each.cutoffs else ""
    return f"{each.name}{cuts}", _scale(each.bounds), _direction(each.better)


def _scale(bounds: tuple[float | None, float | None]) -> str:
    low, high = ("−∞" if bounds[0] is None else f"{bounds[0]:g}"), ("∞" if bounds[1] is None else f"{bounds[1]:g}")
    return f"{low} … {high}"


def _direction(better: str | None) -> str:
    return better or "describes"

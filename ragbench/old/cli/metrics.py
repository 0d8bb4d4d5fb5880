"""`ragbench metrics`: the catalogue, as the declarations in the code have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.core import terminal
from ragbench.old.core.metric_reading import GOALS

if TYPE_CHECKING:
    from ragbench.old.core.metric import Metric

SAID = (
    *("name", "grain", "bounds", "better", "cutoffs", "fields", "needs", "summary", "formula", "edges", "differs"),
    *("published", "reading", "when", "purposes", "peers", "signature", "source", "own"),
)


def metrics(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One metric, with all that its declaration says.")] = "",
    grain: Annotated[str, typer.Option(help="Only metrics of this grain: ranking, sample, turns or table.")] = "",
    goal: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="GOAL",
            help="Only metrics for a goal, and why: "
            f"{', '.join(GOALS)}; or its title, such as “finding hallucinations”, in English or Russian.",
        ),
    ] = "",
    as_json: options.AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="The tables of all metrics in Markdown.")] = False,
    language: Annotated[
        Literal["en", "ru"] | None, typer.Option(help="Of the prompts that are shown, and of what a goal asks for.")
    ] = None,
    trusted: consent.Trust = False,
) -> None:
    """List the metrics that can be measured, your own among them: name, scale, direction, and what they say.

    With a NAME: also the formula, the edge cases, how it differs from its namesakes elsewhere, how its values are read,
    when it is of use, how far it may be trusted, where it comes from, and what a judge is asked, word for word.

    Examples: `ragbench metrics "ndcg(gain=exponential)@10"`; `ragbench metrics --for hallucinations`
    """
    from ragbench.old.core import settings, trust
    from ragbench.old.core.metric import GRAINS, parse
    from ragbench.old.metrics import catalogue
    from ragbench.old.tiers.scoring import own_metrics

    known_settings = settings.load()
    consent.required(trust.named("metrics"), trusted)
    own_metrics.check()
    if grain and grain not in GRAINS:
        raise typer.BadParameter(f"{grain!r} is not a grain; there are {', '.join(GRAINS)}", param_hint="--grain")
    known = catalogue()
    try:
        chosen = [parse(name)] if name else [each for each in known.values() if not grain or each.grain == grain]
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from None
    if goal:
        _for(goal, name or grain, as_json=as_json, as_markdown=as_markdown, language=language)
        return
    if as_markdown:
        terminal.prose(markdown().rstrip("\n"))
        return
    if as_json:
        rows = [_told(each) for each in chosen]
        terminal.dump(rows)
        return
    if name:
        import inspect

        from ragbench.old.core.language import translator
        from ragbench.old.core.settings import metric_tables
        from ragbench.old.tiers.basics import bands
        from ragbench.old.views.about import metric_page as own
        from ragbench.old.views.basics import interpretation

        english = translator("en")
        [metric] = chosen
        terminal.say(f"{metric.label}  {_scale(metric.bounds)}, {_direction(metric.better)}", bold=True)
        terminal.prose(inspect.getdoc(metric.function) or "")
        told = {
            "Also called": metric.published or "",
            "Formula": metric.formula,
            "Edges": metric.edges,
            "Several references": metric.several,
            "Elsewhere": metric.differs,
            "Signature": metric.signature,
        }
        for title, text in told.items():
            if text:
                terminal.prose(f"{title}: {text}")
        band = bands.band_for(metric_tables.bands(known_settings), metric.label)
        held = (
            {}
            if band is None
            else {f"Thresholds (set {known_settings.threshold_set})": interpretation.stretches(band.stretches, english)}
        )
        for title, lines in (held | interpretation.declared(metric, english)).items():
            terminal.say(f"{title}:")
            for line in lines:
                terminal.prose(f"  {line}")
        terminal.say(f"Source: {metric.source}")
        if said := own.said(metric.own, english):
            terminal.prose(f"In this project: {said}")
        for prompt in metric.prompts:
            spoken = language or known_settings.language
            terminal.say(f"Prompt {prompt.name}:", bold=True)
            for line in (prompt.texts.get(spoken) or next(iter(prompt.texts.values()))).splitlines():
                terminal.say(f"  {line}".rstrip())
        return
    rows_shown = [(*_row(each), each.summary) for each in chosen]
    titles = ("metric", "scale", "better", "what it says")
    terminal.table(titles, rows_shown, firm=titles[:3])
    terminal.say(f"{len(chosen)} metrics. `ragbench metrics NAME` says more of one, `--for GOAL` which to choose.")


def _told(metric: Metric) -> dict[str, Any]:
    """A metric as JSON values."""
    from ragbench.old.core.language import translator
    from ragbench.old.views.basics import interpretation

    known = {key: getattr(metric, key) for key in SAID} | {
        "reading": None if metric.reading is None else asdict(metric.reading)
    }
    known |= {key: [asdict(each) for each in known[key]] for key in ("purposes", "peers")}
    return known | {"trust": interpretation.trusted(metric, translator("en"))}


def _for(goal: str, besides: str, *, as_json: bool, as_markdown: bool, language: str | None) -> None:
    """The metrics for a goal, in one of three forms."""
    from ragbench.old.core import settings
    from ragbench.old.core.language import translator
    from ragbench.old.tiers.scoring import own_metrics

    if besides or as_markdown:
        raise typer.BadParameter("--for stands alone, or with --json or --language", param_hint="--for")
    try:
        choices = own_metrics.choices(goal)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--for") from None
    if as_json:
        terminal.dump([{"metric": choice.metric.label, **asdict(choice.purpose)} for choice in choices])
        return
    _ = translator(language or settings.load().language)
    terminal.say(f"{_(GOALS[own_metrics.named(goal)])}:", bold=True)
    rows = [(choice.metric.label, _(choice.purpose.why), _(choice.metric.summary)) for choice in choices]
    terminal.table((_("metric"), _("why"), _("what it says")), rows, firm=(_("metric"),))


FAMILIES = (
    ("Rankings", "ranking"),
    ("Single answers", "sample"),
    ("Dialogues and repeats", "turns"),
    ("Whole sets", "table"),
)


def markdown(said: Callable[[str], str] = str) -> str:
    """The catalogue as tables in Markdown: one for each grain, a row a metric. said: its texts in another language."""
    from ragbench.old.metrics import catalogue

    heads = " | ".join(map(said, ("metric", "scale", "better", "formula")))
    parts = []
    for title, grain in FAMILIES:
        rows = [each for each in catalogue().values() if each.grain == grain]
        lines = [f"## {said(title)}", "", f"| {heads} |", "|---|---|---|---|"]
        for each in rows:
            name, scale, better = _row(each)
            cells = (f"`{name}`", scale.replace(" ", "\N{NO-BREAK SPACE}"), said(better), said(each.formula))
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

"""`ragbench metrics`."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from ragbench.cli.options import Json, split_list
from ragbench.core.metric import CATALOGUE, Metric, parse_label

KINDS = {
    "ranking": "Rankings: what was retrieved, against relevance labels",
    "texts": "Answers beside right answers",
    "judged": "Answers as a judge sees them",
    "row": "Answers and passages, without a judge",
    "set": "Whole sets: one number of many answers",
}


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Metrics to explain.")] = None,
    json_file: Json = None,
) -> None:
    """List the metrics with what each says, or explain those that are named.

    Examples: `ragbench metrics`, `ragbench metrics faithfulness ndcg`
    """
    import ragbench.metrics  # noqa: F401  declares them

    chosen = [parse_label(name) for name in split_list(names or [])]
    if json_file is not None:
        from ragbench.cli.output import write_json

        entries = [describe(metric) for metric in chosen or CATALOGUE.values()]
        write_json(json_file, {"metrics": entries})
    elif chosen:
        print("\n\n".join(explain(metric) for metric in chosen))
    else:
        print_list()


def print_list() -> None:
    """Print all metrics by kind: name and first line."""
    for kind, title in KINDS.items():
        print(f"\n{title}")
        for name, metric in sorted(CATALOGUE.items()):
            if metric.kind == kind:
                print(f"  {name:32} {metric.summary}")


def explain(metric: Metric) -> str:
    """Return all that is known of a metric: text, scale, direction, inputs, options, source."""
    low, high = metric.bounds
    parameters = metric.parameters
    inputs = [name for name, one in parameters.items() if one.default is one.empty]
    options = [f"{name}={parameters[name].default}" for name in metric.option_names]
    lines = [
        metric.name,
        inspect.getdoc(metric.compute) or "",
        "",
        f"scale    {low:g} to {high:g}, {metric.better} is better"
        if metric.better != "describes"
        else f"scale    {low:g} to {high:g}; neither end is good",
        f"reads    {', '.join(inputs)}",
    ]
    if options:
        lines.append(f"options  {', '.join(options)}")
    if metric.source:
        lines.append(f"source   {metric.source}")
    return "\n".join(lines)


def describe(metric: Metric) -> dict[str, object]:
    """Return a metric's entry as plain data."""
    return {
        "name": metric.name,
        "kind": metric.kind,
        "summary": metric.summary,
        "better": metric.better,
        "bounds": [None if abs(end) == float("inf") else end for end in metric.bounds],
        "needs": list(metric.needs),
        "source": metric.source,
    }

"""`ragbench load traces`: what other tools exported, as a data set and the logged results of a system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench.old.cli.console import options
from ragbench.old.cli.load import Base, Read, base_of, brings


@brings("traces")
def traces(
    files: Annotated[
        list[Path],
        typer.Argument(
            parser=options.source, metavar="FILE…", help="JSON Lines, JSON, CSV or Parquet; their format is found out."
        ),
    ],
    chunks_from: Base = "",
    rating: Annotated[
        list[str] | None, typer.Option(help="Score that users gave; repeat it. Those whose name says so if none.")
    ] = None,
) -> Read:
    """What a system did in production, or in other tools: questions, passages, answers, latencies, dialogues, ratings.

    Read are OpenTelemetry (OTLP JSON; GenAI and OpenInference attributes), Phoenix, Langfuse, LangSmith, MLflow,
    Datadog, Jaeger, Zipkin, Tempo, Azure Monitor, Weave, Braintrust, Opik, Helicone, Portkey, LiteLLM, PostHog, Amazon
    Bedrock, test cases of DeepEval and ragas, and documents of LangChain. Spans, scores and documents may be in files
    of their own. Without --chunks-from and documents the knowledge base is only what was retrieved.

    Example: ragbench load traces spans.jsonl --name mine --dry-run
    """
    from ragbench.old.extras.traces import assembly

    return assembly.read(files, base=base_of(chunks_from), ratings=rating or ())

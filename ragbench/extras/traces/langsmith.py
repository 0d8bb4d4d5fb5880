"""LangSmith: runs, one a record or with their `child_runs`, and the examples of its data sets.

Sources: langsmith 0.15.0 (schemas.Run, schemas.Example); docs.langchain.com/langsmith/run-data-format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.cells import opened
from ragbench.data.payloads import answer_of, count, label, moment, number, passages_of, question_of
from ragbench.extras.traces import agents
from ragbench.extras.traces.attributes import kind_of
from ragbench.extras.traces.spans import Rating, Span, Trace

NAME = "LangSmith"
MARKS = ({"run_type", "inputs"}, {"run_type", "trace_id"}, {"dataset_id", "inputs"}, {"inputs", "outputs"})
SESSION, USER = ("session_id", "thread_id", "conversation_id"), ("user_id", "ls_user_id", "user")
"""Names in the metadata of a run; `session_id` of the run itself is its project."""
MAX_DEPTH = 64


def parts(record: Mapping[str, Any], name: str) -> Iterator[Trace]:
    """A part of a trace for a run and each run below it; an example is a question with its reference."""
    if "run_type" in record:
        yield from _runs(record, None, 0)
    else:
        asked, wanted = question_of(opened(record.get("inputs"))), answer_of(opened(record.get("outputs")))
        yield Trace(label(record.get("id")) or name, question=asked, reference=wanted)


def _runs(run: Mapping[str, Any], above: str | None, depth: int) -> Iterator[Trace]:
    name = label(run.get("id"))
    order = label(run.get("dotted_order")) or ""
    trace = above or label(run.get("trace_id")) or order.split(".")[0].rpartition("Z")[2] or name
    if name is None or trace is None:
        return
    kind = kind_of(run.get("run_type"))
    gives = kind in ("retrieve", "rerank")
    inputs, outputs = opened(run.get("inputs")), opened(run.get("outputs"))
    extra = opened(run.get("extra"))
    about = opened(extra.get("metadata")) if isinstance(extra, dict) else run.get("metadata")
    about = about if isinstance(about, dict) else {}
    error = label(run.get("error"))
    parent = label(run.get("parent_run_id"))
    span = Span(
        name,
        parent,
        kind,
        moment(run.get("start_time")),
        moment(run.get("end_time")),
        question_of(inputs),
        None if gives or kind == "embed" or error else answer_of(outputs),
        passages_of(outputs) if gives else None,
        _model(about, extra) if kind == "generate" else None,
        count(run.get("prompt_tokens")) if kind == "generate" else None,
        count(run.get("completion_tokens")) if kind == "generate" else None,
        number(run.get("total_cost")) if kind == "generate" else None,
        error.partition("Traceback (most recent call last)")[0] if error else None,
        agents.made(run.get("name"), _arguments(inputs)) if kind == "tool"
        else agents.announced(outputs) if kind == "generate" else (),
        agents.result(outputs) if kind == "tool" else None,
    )  # fmt: skip
    yield Trace(
        trace,
        (span,),
        session=next((named for key in SESSION if (named := label(about.get(key)))), None),
        user=next((named for key in USER if (named := label(about.get(key)))), None),
        ratings=tuple(_rated(run.get("feedback_stats"))),
    )
    children = run.get("child_runs")
    for child in children if isinstance(children, list) and depth < MAX_DEPTH else ():
        if isinstance(child, dict):
            yield from _runs({"parent_run_id": name, **child}, trace, depth + 1)


def _arguments(inputs: Any) -> Any:
    """Of a tool: LangChain writes them as the text of an object, in the field `input` alone."""
    return inputs["input"] if isinstance(inputs, dict) and inputs.keys() == {"input"} else inputs


def _model(about: Mapping[str, Any], extra: Any) -> str | None:
    asked = extra.get("invocation_params") if isinstance(extra, dict) else None
    asked = asked if isinstance(asked, dict) else {}
    return label(about.get("ls_model_name")) or label(asked.get("model")) or label(asked.get("model_name"))


def _rated(stats: Any) -> Iterator[Rating]:
    """The mean of each score that a run was given; nothing says who gave it."""
    stats = opened(stats)
    for name, about in stats.items() if isinstance(stats, dict) else ():
        if isinstance(about, dict) and (mean := number(about.get("avg"))) is not None:
            yield Rating(str(name), mean)

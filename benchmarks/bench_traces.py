"""How fast traces are read, and how much memory that takes: OTLP with OpenInference attributes, made up.

    python -m benchmarks.bench_traces [--traces 20000]

A trace is three spans, five passages of 80 words out of 2,000, a question and an answer: some 6 kB of JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WORDS = [
    "library",
    "open",
    "dormitory",
    "place",
    "weekday",
    "saturday",
    "ask",
    "until",
    "office",
    "student",
    "exam",
    "session",
    "card",
    "fee",
    "leave",
]
PASSAGES = 2000


def main() -> None:
    """Write the traces, read them, and print seconds, traces a second and the peak of memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--traces", type=int, default=20_000)
    number = parser.parse_args().traces
    from ragbench.old.extras.traces import files_of_traces

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spans.jsonl"
        write(path, number)
        wall, cpu = time.perf_counter(), time.process_time()
        found, _ = files_of_traces.read([path])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        size = path.stat().st_size / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    assert len(found.questions) == number
    sys.stdout.write(
        f"{number:,} traces, {size:,.0f} MiB: {wall:.1f} s ({cpu:.1f} s of a processor), "
        f"{number / cpu:,.0f} traces a second of a processor, {peak:,.0f} MiB at most\n"
    )


def write(path: Path, number: int) -> None:
    """The traces, one a line."""
    drawn = random.Random(0)
    passages = [(f"p{n}", words(drawn, 80)) for n in range(PASSAGES)]
    with path.open("w", encoding="utf-8") as file:
        for trace in range(number):
            spans = made(drawn, trace, passages)
            file.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}) + "\n")


def made(drawn: random.Random, trace: int, passages: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """A question, what was retrieved for it, and its answer."""
    asked, said = words(drawn, 9), words(drawn, 40)
    retrieved: dict[str, Any] = {"openinference.span.kind": "RETRIEVER", "input.value": asked}
    for rank, (name, text) in enumerate(drawn.sample(passages, 5)):
        place = f"retrieval.documents.{rank}.document"
        retrieved |= {f"{place}.id": name, f"{place}.content": text, f"{place}.score": 0.9 - rank / 10}
    whole = {"openinference.span.kind": "CHAIN", "input.value": asked, "output.value": said,
             "session.id": f"s{trace // 3}", "user.id": f"u{trace % 997}"}  # fmt: skip
    written = {
        "openinference.span.kind": "LLM", "llm.model_name": "small", "llm.token_count.prompt": 400,
        "llm.token_count.completion": 40, "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": said,
    }  # fmt: skip
    parts = ((0, 350, whole), (5, 45, retrieved), (45, 345, written))
    return [span(trace, place, *part) for place, part in enumerate(parts)]


def span(trace: int, place: int, start: int, end: int, attributes: dict[str, Any]) -> dict[str, Any]:
    """A span of OTLP; start, end: milliseconds."""
    begun = 1_700_000_000_000 + trace * 1000
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{trace:014x}{place:02x}",
        "parentSpanId": f"{trace:014x}00" if place else "",
        "startTimeUnixNano": f"{begun + start}000000",
        "endTimeUnixNano": f"{begun + end}000000",
        "attributes": [{"key": name, "value": {kinds[type(value)]: value}} for name, value in attributes.items()],
    }


def words(drawn: random.Random, number: int) -> str:
    """So many of the words."""
    return " ".join(drawn.choices(WORDS, k=number))


if __name__ == "__main__":
    main()

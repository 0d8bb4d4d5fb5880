"""Exports of traces, as other tools write them."""

OFFERS = {
    "load": {"traces": "ragbench.commands.load_traces"},
    "readers": {"traces": "ragbench.datasets.traces.reading:tool"},
}

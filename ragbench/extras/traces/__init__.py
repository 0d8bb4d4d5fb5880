"""Exports of traces, as other tools write them."""

OFFERS = {
    "load": {"traces": "ragbench.extras.traces.command"},
    "readers": {"traces": "ragbench.extras.traces.assembly"},
}

"""Exports of traces, as other tools write them."""

OFFERS = {
    "load": {"traces": "ragbench.old.extras.traces.command"},
    "readers": {"traces": "ragbench.old.extras.traces.assembly"},
}

"""Sweeps: a grid of configurations measured on the same questions, and what may be said of the best one."""

_VIEWS = "ragbench.extras.sweeps.views"
OFFERS = {
    "commands": {"sweep": "ragbench.extras.sweeps.command:sweep"},
    "notebooks": {"ablation": "ragbench.extras.sweeps.ablation:ablation"},
    "tables": {"sweeps": "ragbench.extras.sweeps.grid:SweepSettings"},
    "views": dict.fromkeys(("sweep_best", "sweep_effects", "sweep_exchanges", "sweep_configurations"), _VIEWS),
}

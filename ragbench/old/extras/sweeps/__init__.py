"""Sweeps: a grid of configurations measured on the same questions, and what may be said of the best one."""

_VIEWS = "ragbench.old.extras.sweeps.views"
OFFERS = {
    "commands": {"sweep": "ragbench.old.extras.sweeps.command:sweep"},
    "notebooks": {"ablation": "ragbench.old.extras.sweeps.ablation:ablation"},
    "tables": {"sweeps": "ragbench.old.extras.sweeps.grid:SweepSettings"},
    "views": dict.fromkeys(("sweep_best", "sweep_effects", "sweep_exchanges", "sweep_configurations"), _VIEWS),
}

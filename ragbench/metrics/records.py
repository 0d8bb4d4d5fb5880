"""A project's own metrics as pages keep them: what is shown of one where the project is another by then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.metric import Metric

TOLD = ("grain", "bounds", "better", "fields", "source", "formula", "edges", "unit", "levels", "meanings", "own")


def told(metric: Metric) -> dict[str, Any]:
    """A project's own metric as JSON values: for `recalled`."""
    prompts = {prompt.name: dict(prompt.texts) for prompt in metric.prompts}
    return {
        "name": metric.name,
        "summary": metric.summary,
        "prompts": prompts,
        **{key: getattr(metric, key) for key in TOLD},
    }


def recalled(known: Mapping[str, Any]) -> Metric:
    """The metric that `told` told of; it can be shown, and not be measured."""

    def gone(sample: Any) -> Any:
        raise ValueError(f"{known['name']} is kept to be shown only")

    gone.__name__ = gone.__qualname__ = str(known["name"])
    gone.__doc__ = str(known["summary"])
    kept: dict[str, Any] = {key: tuple(value) if isinstance(value := known[key], list) else value for key in TOLD}
    return Metric(gone, **kept)

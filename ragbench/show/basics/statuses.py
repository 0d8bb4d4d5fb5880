"""Why a value is not there, in words."""

from __future__ import annotations

from ragbench.show.basics.material import Material
from ragbench.types import Status


def statuses(material: Material) -> dict[str, str]:
    """Why a value is not there, in words, by status."""
    _ = material.text
    return {
        Status.MISSING_FIELD.value: _("a field is missing"),
        Status.EMPTY_INPUT.value: _("a text is empty"),
        Status.EMPTY_DECOMPOSITION.value: _("nothing was claimed"),
        Status.JUDGE_ERROR.value: _("the judge failed"),
        Status.PARSE_ERROR.value: _("the reply could not be read"),
        Status.TIMEOUT.value: _("out of time"),
        Status.REFUSED.value: _("the judge refused"),
        Status.TRUNCATED.value: _("the reply was cut off"),
        Status.VERDICT_MISMATCH.value: _("verdicts do not fit the statements"),
        Status.EMBEDDING_ERROR.value: _("a text has no vector"),
        Status.INVALID_INPUT.value: _("a field cannot be used"),
        Status.FUNCTION_ERROR.value: _("the metric's function failed"),
    }

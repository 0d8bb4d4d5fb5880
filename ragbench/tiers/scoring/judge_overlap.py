"""What is said where the judges of a panel measured different answers: the same on a page, in a terminal, in a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.types.reason import Reason
from ragbench.judge import Attendance, Attended

Attendances = Mapping[tuple[str, str], Attendance]
"""(system, metric) → who of a panel measured what."""


def facts(known: Attendances) -> list[dict[str, Any]]:
    """What a page keeps of the panels whose judges measured different answers, as plain JSON values."""
    return [
        {"system": system, "metric": metric, **asdict(attendance)}
        for (system, metric), attendance in known.items()
        if not attendance.even
    ]


def of_facts(given: Mapping[str, Any]) -> Attendances:
    """The same, out of the facts of a page."""
    attendances = {}
    for row in given.get("attendance") or ():
        judges = tuple(Attended(**{key: _number(value) for key, value in judge.items()}) for judge in row["judges"])
        counts = {key: int(row[key]) for key in ("n", "incomplete", "common")}
        attendances[str(row["system"]), str(row["metric"])] = Attendance(**counts, judges=judges)
    return attendances


def incomplete(attendance: Attendance | None) -> str:
    """The words for values of fewer judges, in a check's plain English; empty where there are none."""
    if attendance is None or not attendance.incomplete:
        return ""
    return Reason(
        "{part} of {whole} values are of fewer judges than the panel has",
        part=attendance.incomplete,
        whole=attendance.n,
    )


def said(known: Attendances, text: Translator, systems: Sequence[str]) -> list[str]:
    """A paragraph for each system and metric whose judges measured different answers."""
    _ = text
    paragraphs = []
    for (system, metric), attendance in known.items():
        if attendance.even:
            continue
        name = f"{system} {metric}" if len(systems) > 1 else metric
        lines = []
        if attendance.incomplete:
            lines.append(
                _.plural(
                    "{n} of {whole} values is made of fewer judges than the panel has.",
                    "{n} of {whole} values are made of fewer judges than the panel has.",
                    attendance.incomplete,
                    whole=_.integer(attendance.n),
                )
            )
        own = [f"{each.judge} {_.number(each.mean)} (n {_.integer(each.n)})" for each in attendance.judges]
        lines.append(
            _("The judges measured different answers, each mean is over its own: {means}.", means="; ".join(own))
        )
        if attendance.common:
            both = [f"{each.judge} {_.number(each.common)}" for each in attendance.judges]
            lines.append(
                _.plural(
                    "On the {n} answer that all of them measured: {means}.",
                    "On the {n} answers that all of them measured: {means}.",
                    attendance.common,
                    means="; ".join(both),
                )
            )
        else:
            lines.append(_("There is no answer that all of them measured: these means cannot be compared."))
        paragraphs.append(f"{name}: " + " ".join(lines))
    return paragraphs


def _number(value: Any) -> Any:
    return float("nan") if value is None else value

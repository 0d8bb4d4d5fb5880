"""What a judge's decision takes: replies, tokens, money and seconds, of one decision and of a thousand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.parts import Content, Entries, Number, Phrase, Table, Text, beside, filled
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown

Facts = Mapping[str, Any]
MANY = 1000
DIGITS = {"replies": (2, 0), "input_tokens": (1, 0), "output_tokens": (1, 0), "cost": (6, 3), "seconds": (4, 1)}
"""Decimals of one decision, and of `MANY`."""


def expenses(material: Material, judges: Sequence[Facts]) -> Content:
    """Two lines a judge (one where nothing is known), and why a value is unmeasured; nothing on pages that decide
    nothing."""
    _ = material.text
    known = [judge_facts for judge_facts in judges if judge_facts.get("expense")]
    if not known:
        return ()
    heads = (_("judge"), _("decisions"), _("replies"), _("tokens read"), _("tokens written"), _("cost"), _("seconds"))
    rows = []
    for entry in known:
        taken = {**entry["expense"], "seconds": _seconds(material, str(entry["name"]))}
        n = int(taken["decisions"])
        judge = beside(shown(entry["name"], 80), f"n = {_.integer(n)}") if n else shown(entry["name"], 80)
        counts = (1, MANY) if any(taken[name] is not None for name in DIGITS) else (1,)
        for place, count in enumerate(counts):
            values = [_times(taken[name], count, digits[place]) for name, digits in DIGITS.items()]
            rows.append([judge, count, *values])
    title = _("What a decision takes")
    note = _(
        "Means over the cases that were put to a judge, equal ones once; asking again for a reply of the right shape "
        "counts. Replies out of the journal cost what they cost when they were paid for. Seconds: "
        "avg_latency_ms, one decision after another."
    )
    why = [line for judge_facts in known for line in _unmeasured(material, judge_facts)]
    drawn = (Text(title, "h3"), Table.of(_, title, heads, rows), Text(note, "rb-meta"))
    return (drawn, Entries(why, "rb-notes") if why else ())


def _seconds(material: Material, name: str) -> float | None:
    latency = material.estimate(name, "avg_latency_ms")
    return None if latency is None else latency.value / 1000


def _times(value: float | None, count: int, digits: int) -> Number | None:
    return None if value is None else Number(count * value, digits)


def _unmeasured(material: Material, judge: Facts) -> list[Phrase]:
    """A line for each thing that is not known of a judge."""
    _ = material.text
    expense, name = judge["expense"], {"judge": shown(judge["name"], 80)}
    doubtful = int(expense["doubtful"])
    said = {
        "offline": lambda: filled(_("<b>{judge}</b>: no model is asked."), **name),
        "function": lambda: filled(_("<b>{judge}</b> is a function: it does not tell what it takes."), **name),
        "log": lambda: filled(_("<b>{judge}</b> is a file of decisions: it does not tell what they took."), **name),
        "nothing asked": lambda: filled(_("<b>{judge}</b> was asked for nothing, or gave no reply."), **name),
        "no tokens": lambda: filled(
            _("<b>{judge}</b>: tokens and cost are unmeasured: the endpoint reported no tokens (replies: {n})."),
            n=_.integer(doubtful),
            **name,
        ),
        "no price": lambda: filled(
            _(
                "<b>{judge}</b>: the cost is unmeasured: no price is set (<code>input_price</code>, "
                "<code>output_price</code> in <code>[judges.{table}]</code>)."
            ),
            table=name["judge"],
            **name,
        ),
        "no price then": lambda: filled(
            _(
                "<b>{judge}</b>: the cost is unmeasured: no price was set when replies of the journal were asked for "
                "(replies: {n})."
            ),
            n=_.integer(doubtful),
            **name,
        ),
    }
    lines: list[Phrase] = [said[expense["unknown"]]()] if expense["unknown"] else []
    if unanswered := int(expense["unanswered"]):
        lines.append(
            filled(
                _("<b>{judge}</b>: cases without any reply: {n}; what they took is unknown, and in no mean."),
                n=_.integer(unanswered),
                **name,
            )
        )
    return lines

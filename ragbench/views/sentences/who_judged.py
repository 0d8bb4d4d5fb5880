"""Who judged: which models, how often each gave no score, what their replies took, and how much each sways a panel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core import answered_by
from ragbench.core.language import DASH
from ragbench.core.parts import Content, Number, Phrase, Table, Text, bold, filled, joined
from ragbench.tiers.scoring import progress_events
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shortened, shown
from ragbench.views.sentences.constants import is_constant
from ragbench.views.sentences.expenses import expenses
from ragbench.views.sentences.judges import answered, baseline, known, stand_ins, statuses, uneven

Facts = Mapping[str, Any]


def said(material: Material) -> Content:
    """Sentences on the judges, a table of them, what a decision takes, for a panel what the means become without each.

    Judges that decide without looking are nobody.
    """
    _ = material.text
    judges = [judge for judge in known(material) if not is_constant(material, str(judge["name"]))]
    if not judges:
        return Text(_("Nothing on this page was judged."))
    sentences: list[Phrase] = [
        filled(_("Judged by {names}."), names=joined(", ", [_named(material, judge) for judge in judges])),
        *answered(material, "judge", "alias"),
        *([baseline(material)] if stand_ins(material) else []),
        *_panel(material, judges),
    ]
    warnings = (
        *_failures(material, judges),
        *answered(material, "judge", "other"),
        *uneven(material),
        *_suspected(material, judges),
        *progress_events.said(progress_events.of_facts(material.facts), _),
    )
    return (
        Text(_("Who judged"), "h2"),
        Text(joined(" ", sentences)),
        [Text(warning, "rb-standin") for warning in warnings],
        _table(material, judges) if any("asked" in judge for judge in judges) else (),
        expenses(material, judges),
        _influence(material, judges),
    )


def _named(material: Material, judge: Facts) -> Phrase:
    _ = material.text
    modes = {"direct": _("verdict at once"), "reasoned": _("reasons first, then the verdict")}
    mode = str(judge.get("mode") or "")
    more = [shortened(judge["model"], 80) if judge.get("model") else "", modes.get(mode, mode)]
    if own := judge.get("set"):
        more.append(_("{settings} for every prompt", settings=", ".join(f"{key} = {own[key]}" for key in sorted(own))))
    told = ", ".join(filter(None, more))
    return (bold(shown(judge["name"], 80)), f" ({told})" if told else "")


def _panel(material: Material, judges: Sequence[Facts]) -> list[str]:
    _ = material.text
    rule, quorum = str(material.facts.get("aggregate") or ""), material.facts.get("quorum")
    if len(judges) < 2 or not rule:
        return []
    said = [_("Each score is made of the judges' scores: {rule}.", rule=_rule(material, rule))]
    if quorum is not None and int(quorum) >= len(judges):
        said.append(_("A score that not every judge gave is unmeasured."))
    elif quorum is not None:
        said.append(
            _.plural(
                "A score needs {n} judge of {whole}; with fewer it is unmeasured.",
                "A score needs {n} judges of {whole}; with fewer it is unmeasured.",
                int(quorum),
                whole=_.integer(len(judges)),
            )
        )
    return said


def _rule(material: Material, label: str) -> str:
    _ = material.text
    if match := re.fullmatch(r"consensus\(([0-9.eE+-]+)\)", label):
        tolerance = _.number(float(match[1]), 2)
        return _("their mean where they differ by at most {tolerance}, else unmeasured", tolerance=tolerance)
    rules = {
        "mean": _("their mean"),
        "median": _("their median"),
        "minimum": _("the lowest of them"),
        "maximum": _("the highest of them"),
        "binary_majority": _(
            "the top of the scale where more than half of them gave its middle or more, else its bottom"
        ),
        "majority": _("the value that more than half of them gave, else unmeasured"),
    }
    return rules.get(label, str(shown(label, 80)))


def _failures(material: Material, judges: Sequence[Facts]) -> list[Phrase]:
    """A line for each judge that gave no score where it was asked for one."""
    _ = material.text
    return [
        filled(
            _("<b>{judge}</b> failed: it gave no score in {failed} of {asked} cases ({share}): {statuses}."),
            judge=shown(judge["name"], 80),
            failed=_.integer(judge["failed"]),
            asked=_.integer(judge["asked"]),
            share=_.percent(judge["failed"] / judge["asked"], 1),
            statuses=statuses(material, judge["statuses"]),
        )
        for judge in judges
        if judge.get("failed")
    ]


def _suspected(material: Material, judges: Sequence[Facts]) -> list[str]:
    most = max((int(judge.get("suspected") or 0) for judge in judges), default=0)
    return [progress_events.of_injections(most, material.text)] if most else []


def _table(material: Material, judges: Sequence[Facts]) -> Content:
    _ = material.text
    by = {model.name: model for model in answered_by.of(material.facts) if model.role == "judge" and model.replies}
    paid = any("usage" in judge_facts for judge_facts in judges)
    heads: list[str | tuple[str, str]] = [_("judge"), _("asked for scores"), _("without a score")]
    heads += [_("replies"), _("tokens read"), _("tokens written"), _("cost")] if paid else []
    heads += [(_("answered by"), "rb-word")] if by else []
    rows = []
    for judge in judges:
        asked, failed = (int(judge.get(key) or 0) for key in ("asked", "failed"))
        share = f" ({_.percent(failed / asked, 1)})" if failed and asked else ""
        line: list[Any] = [shown(judge["name"], 80), asked, (failed, share) if share else failed]
        line += _usage(judge.get("usage")) if paid else []
        if by:
            line.append((clean(answered_by.models(by[judge["name"]], _)) if judge["name"] in by else "") or DASH)
        rows.append(line)
    table = Table.of(_, _("Judges"), heads, rows)
    if not paid:
        return table
    said = _("Tokens and cost are those of the replies that the scores were made from, whenever they were paid for.")
    usages = [judge["usage"] for judge in judges if judge.get("usage")]
    if estimated := sum(int(usage.get("estimated") or 0) for usage in usages):
        said += " " + _.plural(
            "The endpoint reported no tokens for {n} reply; they are estimated.",
            "The endpoint reported no tokens for {n} replies; they are estimated.",
            estimated,
        )
    if unpriced := sum(int(usage.get("unpriced") or 0) for usage in usages):
        said += " " + _.plural(
            "The cost of {n} reply is unknown, and in no sum: no price was set when it was asked for.",
            "The cost of {n} replies is unknown, and in no sum: no price was set when they were asked for.",
            unpriced,
        )
    return (table, Text(said, "rb-meta"))


def _usage(usage: Facts | None) -> list[Any]:
    if usage is None:
        return [None] * 4
    counts = [int(usage[name]) for name in ("replies", "input_tokens", "output_tokens")]
    unknown = usage.get("unpriced") and not usage["cost"]
    return [*counts, None if unknown else Number(float(usage["cost"]), 4)]


def _influence(material: Material, judges: Sequence[Facts]) -> Content:
    """What each metric's mean becomes without each judge."""
    _ = material.text
    lines = [(judge["name"], line) for judge in judges for line in judge.get("influence") or ()]
    if not lines:
        return ()
    heads = (_("metric"), (_("judge"), "rb-word"), _("mean of all"), _("without this judge"), _("change"),
             _("largest change of one answer"), _("n"))  # fmt: skip
    order = list(material.metrics)
    lines.sort(key=lambda pair: order.index(pair[1]["metric"]) if pair[1]["metric"] in order else len(order))
    rows = []
    for name, line in lines:
        metric = str(line["metric"])
        digits = material.digits(metric) if metric in order else 3
        values = [Number(line[key], digits, signed=key == "shift") for key in ("whole", "without", "shift", "largest")]
        rows.append([shown(metric), shown(name, 80), *values, int(line["n"])])
    title = _("What the means become without each judge")
    return (Text(title, "h3"), Table.of(_, title, heads, rows))

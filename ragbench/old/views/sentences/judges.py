"""What is said of those who judged: which models, what failed, what replies took, how much each sways."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.old.core import answered_by
from ragbench.old.core.language import DASH
from ragbench.old.core.parts import Content, Entries, Number, Part, Phrase, Table, Text, beside, bold, filled, joined
from ragbench.old.core.settings import OFFLINE
from ragbench.old.core.stand_ins import of
from ragbench.old.tiers.scoring import judge_assignment, parts
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shortened, shown
from ragbench.old.views.sentences.judge_trust import is_constant


def known(material: Material) -> list[Mapping[str, Any]]:
    """The judges as the facts list them."""
    return [judge for judge in material.facts.get("judges") or () if isinstance(judge, Mapping) and judge.get("name")]


def stand_ins(material: Material) -> list[str]:
    """The names of judges that only stand in for a model."""
    return [stand_in.name for stand_in in of(material.facts) if stand_in.part == "judge"]


def answered(material: Material, role: answered_by.Role, kinship: answered_by.Kinship) -> list[str]:
    """What is to be said of the models that answered under another name than they were asked by, and with "other" of
    those whose replies were imported."""
    of_role = [model for model in answered_by.of(material.facts) if model.role == role]
    notes = [model for model in of_role if not model.warns and (model.kinship == kinship or model.unsent)]
    models = [model for model in of_role if model.warns] if kinship == "other" else notes
    return [clean(answered_by.sentence(model, material.text)) for model in models]


def baseline(material: Material) -> str:
    """What is to be said wherever an offline judge's numbers are shown."""
    if set(stand_ins(material)) - {OFFLINE}:
        return material.text("Offline judges are a baseline: they ask no model. A model may judge otherwise.")
    return material.text(
        "The lexical judge is an offline baseline: it compares words, letters, numbers and negations, and understands "
        "nothing. A model may judge otherwise."
    )


def uneven(material: Material) -> list[str]:
    """What is to be said of each mean of a panel whose judges measured different answers."""
    return judge_assignment.said(judge_assignment.of_facts(material.facts), material.text, material.systems)


def incomplete(material: Material) -> list[Part]:
    """The warning that some scores of the page are made of fewer judges than its panel has; empty without any."""
    panels = judge_assignment.of_facts(material.facts).values()
    few = sum(panel.incomplete for panel in panels)
    if not few:
        return []
    text = material.text.plural(
        "{n} of the judged values is made of fewer judges than the panel has. What a judge failed on is left to the "
        "others: “Who judged” says whose means that moves.",
        "{n} of the judged values are made of fewer judges than the panel has. What a judge failed on is left to the "
        "others: “Who judged” says whose means that moves.",
        few,
    )
    return [Text(text, "rb-standin")]


def statuses(material: Material, counts: Mapping[str, int]) -> str:
    """How replies ended that held no score, the most frequent first."""
    _ = material.text
    words = {
        "judge_error": _("no reply"),
        "parse_error": _("a reply of the wrong shape"),
        "timeout": _("no reply in time"),
        "refused": _("refused"),
        "truncated": _("a reply that was cut off"),
        "verdict_mismatch": _("verdicts that do not fit the question"),
        "empty_input": _("nothing to decide by"),
        "missing_field": _("no decision in the file"),
    }
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return _.enumeration([f"{words.get(status, status)} ({_.integer(count)})" for status, count in ordered])


def undecided(material: Material) -> dict[str, Phrase]:
    """By judge that decided nothing at all a sentence that says so, and how its replies ended; of such a judge nothing
    else can be said."""
    _ = material.text
    sentences = dict[str, Phrase]()
    for judge in material.facts.get("systems") or ():
        if isinstance(judge, Mapping) and (counts := judge.get("undecided")):
            sentences[str(judge["name"])] = filled(
                _(
                    "<b>{judge} gave no usable decision</b> on any of {n} cases: {statuses}. Nothing else can be said "
                    "of it."
                ),
                judge=clean(str(judge["name"])),
                n=_.integer(sum(counts.values())),
                statuses=statuses(material, counts),
            )
    return sentences


def corrected(material: Material) -> list[str]:
    """A sentence for each metric whose means people's labels correct: how, and what the judge alone says."""
    _ = material.text
    said = []
    for metric in material.corrected:
        estimates = {name: material.estimate(name, metric, mean="judge") for name in material.systems}
        values = [
            f"{clean(name)} {material.value(estimate, metric)}"
            for name, estimate in estimates.items()
            if estimate is not None
        ]
        said.append(
            _(
                "{metric}: corrected by people's labels, which n counts; the judge alone: {values}.",
                metric=clean(metric),
                values=", ".join(values),
            )
        )
    return said


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
        *parts.listeners_said(parts.of_facts(material.facts), _),
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
    return [parts.of_injections(most, material.text)] if most else []


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


MANY = 1000  # a price below a cent is read by the thousand
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

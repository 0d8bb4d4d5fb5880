"""A judge's replies, repeats, choices, classes and agreement with people, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragbench.old.core.language import DASH
from ragbench.old.core.parts import Content, Number, P, Phrase, Section, Sentence, Table, Text, beside, bold, filled
from ragbench.old.core.types import Comparison, Estimate
from ragbench.old.tiers.judges.classes import ConfusionRow, CutRow
from ragbench.old.tiers.judges.judge_findings import CoverageRow, PanelRow, ProbeRow
from ragbench.old.views.basics.marks import chip, shortened
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shown
from ragbench.old.views.sentences import judge_trust
from ragbench.old.views.view import view

AGREEMENT = (
    "spearman", "accuracy", "cohen_kappa", "bias",
    "pearson", "kendall", "icc", "krippendorff_alpha", "balanced_accuracy", "gwet_ac1",
)  # fmt: skip
AGREEING = 4
"""So many of them answer the question: order, decision, decision beyond chance, and level; the others are folded."""
REPEATS = (
    "exact_agreement", "flip_rate", "smallest_difference",
    "within_item_deviation", "krippendorff_alpha", "icc",
)  # fmt: skip
PROMPTS = ("exact_agreement", "krippendorff_alpha", "icc")
PAIRWISE = ("consistent", "first_place", "second_place", "tie", "better_wins", "right_over_both_orders",
            "right_in_both_orders", "right_in_first_order")  # fmt: skip
CALIBRATION = ("sensitivity", "specificity", "expected_calibration_error", "brier")


@view("replies")
def replies(material: Material, present: frozenset[str]) -> Content:
    """How the judges' replies ended: valid, unparseable, refused, cut off, failed; counts add up to all asked."""
    _ = material.text
    judges = judge_trust.judges_of(material)
    rows = judge_trust.kept(material, CoverageRow, "coverage")
    if not judges:
        return Text(
            _("This data set has neither rated answers nor questions with a reference, so there was nothing to judge.")
        )
    if not any(row["asked"] for row in rows):
        return Text(_("No scores were asked for."))
    asked = {str(row["judge"]): int(row["asked"]) for row in rows}
    counts = {(row["judge"], str(row["outcome"])): int(row["count"]) for row in rows}

    def cell(judge: str, outcome: str) -> Phrase:
        share = judge_trust.number(material, material.estimate(judge, outcome, trial="coverage"))
        return (counts[judge, outcome], " · ", share)

    body = [
        [judge_trust.statistic(material, outcome), *(cell(name, outcome) for name in judges)]
        for outcome in dict.fromkeys(outcome for _judge, outcome in counts)
    ]
    body.append([_("all that was asked"), *(asked[name] for name in judges)])
    title = _("Replies")
    table = judge_trust.by_judge(_, title, _("reply"), [shown(name) for name in judges], body)
    return (_scale(material), Section([table], title))


def _scale(material: Material) -> Content:
    """δ of consistency_score with the scale that it is on, and whose scores these are."""
    _ = material.text
    known = material.facts
    low, high = ends(material)
    delta = _.number(float(known.get("delta", 0.5)), 2)
    text = _("consistency_score: δ = {delta} on a scale from {low} to {high}.", delta=delta, low=low, high=high)
    if known.get("metric"):
        text += " " + _("The scores are those of {metric}.", metric=clean(known["metric"]))
    if known.get("faithfulness"):
        text += " " + _("avg_faithfulness is by {metric}.", metric=clean(known["faithfulness"]))
    return Text(text, "rb-meta")


def ends(material: Material) -> tuple[str, str]:
    """The ends of the judge's scale."""
    low, high = material.facts.get("judge_scale", (0, 1))
    return _end(material, low), _end(material, high)


def _end(material: Material, value: float) -> str:
    return material.text.number(value, 0 if float(value).is_integer() else 2)


@view("repeatability")
def repeatability(material: Material, present: frozenset[str]) -> Content:
    """How far each judge agrees with itself, asked again and with the prompt in another language, and the smallest
    difference that means anything."""
    if not judge_trust.judges_of(material):
        return ()
    return (_repeats(material), _prompts(material))


def _repeats(material: Material) -> Content:
    _ = material.text
    if not judge_trust.has(material, "trial", "repeatability"):
        return Text(_("Every answer was judged once: how far the judge agrees with itself is not measured."))
    low, high = ends(material)
    note = _("Deviation and smallest difference are in units of the scale, from {low} to {high}.", low=low, high=high)
    return (_by_judge(material, "repeatability", REPEATS, _("Repeatability")), Text(note, "rb-meta"))


def _prompts(material: Material) -> Content:
    """The same answers judged with the English and with the Russian prompt: a verdict, then the numbers."""
    _ = material.text
    if not judge_trust.has(material, "trial", "prompts"):
        return ()  # the view of probes says why
    judges, title = judge_trust.judges_of(material), _("English and Russian prompts")
    effect = [material.estimate(judge, "effect", probe="prompt_language") for judge in judges]
    differences = [judge_trust.number(material, estimate, signed=True) for estimate in effect]
    row = [_("Russian minus English prompt, as a share of the scale"), *differences]
    table = _by_judge(material, "prompts", PROMPTS, title, [row])
    said = [Text(_verdict(material, judge)) for judge in judges if material.estimate(judge, "icc", trial="prompts")]
    return (Text(title, "h3"), said, Section([table], _("The numbers of both prompts")))


def _verdict(material: Material, judge: str) -> Sentence:
    """Whether scores depend on the prompt's language, as the two probes of it decided."""
    _ = material.text
    known = {str(row["probe"]): row for row in judge_trust.kept(material, ProbeRow, "probes", judge)}
    mean, moved = known["prompt_language"], known[f"prompt_language{judge_trust.CHANGES}"]
    places: dict[str, Phrase] = {"judge": shown(judge)}
    if mean["verdict"] == judge_trust.CONSTRUCTED:
        return filled(_("<b>{judge}</b> reads no prompt: its scores agree by construction."), **places)
    if mean["verdict"] == judge_trust.UNMEASURED:
        why = judge_trust.missing(material, mean["why"])
        return filled(_("Whether the scores of <b>{judge}</b> differ cannot be told: {why}."), why=why, **places)
    effects = [material.estimate(judge, "effect", probe=str(row["probe"])) for row in (mean, moved)]
    places["difference"] = judge_trust.number(material, effects[0], signed=True)
    if judge_trust.FOUND in (mean["verdict"], moved["verdict"]):
        return filled(
            _(
                "The scores of <b>{judge}</b> depend on the prompt's language: with the Russian one they differ from "
                "those with the English one by {difference} of the scale, and a share of {share} by more than {limit}."
            ),
            share=judge_trust.number(material, effects[1]),
            limit=_.number(mean["limit_high"], 2),
            **places,
        )
    if mean["verdict"] == moved["verdict"] == judge_trust.PASSED:
        return filled(
            _(
                "The scores of <b>{judge}</b> with the English and with the Russian prompt agree: they differ by "
                "{difference} of the scale."
            ),
            **places,
        )
    return filled(
        _(
            "Whether the scores of <b>{judge}</b> with the English and with the Russian prompt agree cannot be told "
            "from these answers: they differ by {difference} of the scale."
        ),
        **places,
    )


@view("pairwise")
def pairwise(material: Material, present: frozenset[str]) -> Content:
    """Which of two answers is better, asked in both orders."""
    _ = material.text
    if not judge_trust.judges_of(material):
        return ()
    if not judge_trust.has(material, "trial", "pairwise"):
        return Text(_("No pairs were compared."))
    estimates = {
        name: material.estimate(name, "consistent", trial="pairwise") for name in judge_trust.judges_of(material)
    }
    said = [
        _("{judge}: {n} of {total} pairs have an answer in both orders", judge=clean(name), n=estimate.n,
          total=estimate.n + estimate.n_unmeasured)
        for name, estimate in estimates.items()
        if estimate is not None
    ]  # fmt: skip
    title = _("Choices between two answers, in both orders")
    return Section([_by_judge(material, "pairwise", PAIRWISE, title), Text("; ".join(said) + ".", "rb-meta")], title)


@view("people")
def people(material: Material, present: frozenset[str]) -> Content:
    """How far each judge agrees with people, beside how far people agree with each other."""
    _ = material.text
    if not judge_trust.judges_of(material):
        return ()
    if not judge_trust.has(material, "against"):
        return Text(
            _("Nobody rated these answers, so agreement with people is not measured. 50 to 200 ratings would do.")
        )
    title = _("Agreement with people's mean")
    whole = _agreement(material, "person", _("Agreement with people"))
    return (whole, _few(material), Section([_agreement(material, "mean", title)], title))


def _agreement(material: Material, against: str, title: str) -> Content:
    """One column a judge; before judges with single people also people with each other, the ceiling."""
    judges = ["people", *judge_trust.judges_of(material)]
    columns = judges if material.estimate("people", "spearman", against=against) else judges[1:]
    body = [
        [
            judge_trust.statistic(material, name, "people" if against == "person" else against),
            *(
                judge_trust.number(material, material.estimate(judge, name, against=against), 2, signed=name == "bias")
                for judge in columns
            ),
        ]
        for name in AGREEMENT
    ]
    titles = [judge_trust.called(material, name) for name in columns]
    return shortened(
        material.text,
        body,
        lambda rows: [judge_trust.by_judge(material.text, title, material.text("agreement"), titles, rows)],
        AGREEING,
    )


def _few(material: Material) -> Content:
    """What so few rated answers can tell apart."""
    _ = material.text
    estimates = {
        finding.system: finding.estimate
        for finding in material.measurement.estimates_by("against")
        if finding.where["against"] == "mean"
    }
    if not estimates:
        return ()
    n = min(rated.n for rated in estimates.values())
    text = _.plural(
        "{n} answer was rated by people.",
        "{n} answers were rated by people.",
        max(rated.n + rated.n_unmeasured for rated in estimates.values()),
    )
    for judge, estimate in estimates.items():
        if estimate.n_unmeasured:
            text += " " + _(
                "Of {judge} {n} of them count: to the others it gave no score.",
                judge=clean(judge),
                n=_.integer(estimate.n),
            )
    text += " " + _("Scores and ratings are compared as shares of their scales.")
    if n < 50:
        text += " " + _("So few cannot tell a good judge from a fair one: the intervals say how little is known.")
    return Text(text, "rb-meta")


def calibration(material: Material) -> Content:
    """Sensitivity, specificity, calibration error and Brier score."""
    title = material.text("Calibration")
    return _by_judge(material, "calibration", CALIBRATION, title)


@view("rivals")
def rivals(material: Material, present: frozenset[str]) -> Content:
    """Each judge against the lexical baseline at ordering answers as people do."""
    _ = material.text
    comparisons = [finding.comparison for finding in material.measurement.comparisons_by("trial")]
    if not comparisons:
        alone = _("There is no judge beside the baseline to compare with it.")
        return Text(alone) if judge_trust.has(material, "against") else ()
    heads = [_("judge"), _("concordance with people"), _("of {baseline}", baseline=shown(material.facts.get("rival")))]
    heads += [_("difference"), _("p (max-T)")]
    body = [
        [
            shown(comparison.challenger),
            *(
                judge_trust.number(material, material.estimate(comparison.challenger, name, trial="rivals"))
                for name in ("concordance", "baseline")
            ),
            judge_trust.number(material, _difference(comparison), signed=True),
            P(comparison.p_adjusted),
            DASH if math.isnan(comparison.p) else chip(material, comparison.verdict),
        ]
        for comparison in comparisons
    ]
    note = _(
        "Concordance: of two answers that people rate differently, the share that the judge puts in the same order; a "
        "tie counts half, chance is one half."
    )
    return (Table.of(_, _("Against the baseline"), [*heads, (_("verdict"), "rb-word")], body), Text(note, "rb-meta"))


def _difference(comparison: Comparison) -> Estimate:
    low, high = (None if math.isnan(end) else end for end in (comparison.low, comparison.high))
    return Estimate(
        comparison.difference,
        low,
        high,
        comparison.level,
        comparison.method,
        comparison.n,
        comparison.n_dropped,
        comparison.clusters,
        note=comparison.note,
    )


@view("panel")
def panel(material: Material, present: frozenset[str]) -> Content:
    """What the panel becomes without each of its judges; empty for a single one."""
    _ = material.text
    rows = judge_trust.kept(material, PanelRow, "panel")
    if not rows:
        return ()
    heads = [_("left out"), _("mean of all"), _("mean without it"), _("shift"), _("largest change of an answer"),
             _("concordance with people, of all"), _("without it")]  # fmt: skip
    body = [
        [
            shown(row["judge"]),
            Number(row["whole"]),
            Number(row["without"]),
            Number(row["shift"], signed=True),
            Number(row["largest"]),
            Number(row["concordance"]),
            Number(row["concordance_without"]),
        ]
        for row in rows
    ]
    title = _("The panel without one of its judges")
    return (Text(title, "h3"), Table.of(_, _("Panel"), heads, body))


def _by_judge(
    material: Material, trial: str, names: Sequence[str], title: str, more: Sequence[Sequence[Any]] = ()
) -> Content:
    judges = judge_trust.judges_of(material)
    estimates = {name: [material.estimate(judge, name, trial=trial) for judge in judges] for name in names}
    body = [
        [
            judge_trust.statistic(material, name, "repeats"),
            *(judge_trust.number(material, estimate) for estimate in own),
        ]
        for name, own in estimates.items()
        if any(own)
    ]
    titles = [shown(name) for name in judges]
    return shortened(
        material.text,
        [*more, *body],
        lambda rows: [judge_trust.by_judge(material.text, title, material.text("statistic"), titles, rows)],
    )


EACH = ("precision", "recall", "f1")


@view("classes")
def classes(material: Material, present: frozenset[str]) -> Content:
    """Which class each judge takes for which, where people have more than two; empty otherwise."""
    _ = material.text
    judges = [
        name for name in judge_trust.judges_of(material) if judge_trust.kept(material, ConfusionRow, "confusion", name)
    ]
    names = [str(name) for name in material.facts.get("classes", ())]
    if not names:
        return ()
    title = _("Class by class")
    if not judges:
        why = _("No judge has scores enough, or different ones, to put the answers into classes.")
        return [Text(title, "h3"), Text(why)]
    note = _(
        "Classes from the worst to the best: {names}. Every rating by a person is laid beside the judge's class. "
        "Weighted κ counts a class as less wrong the nearer it is to the person's: by ranks, or by their squares.",
        names=_.enumeration([clean(name) for name in names]),
    )
    parts = [_judge(material, name, names, len(judges) > 1) for name in judges]
    return Section([*parts, _overall(material, judges), Text(note, "rb-meta")], title)


def _judge(material: Material, judge: str, names: list[str], several: bool) -> Content:
    title = Text(bold(shown(judge)), "rb-lead") if several else ()
    return (title, _confusion(material, judge, names), _each(material, judge, names), _cuts(material, judge))


def _confusion(material: Material, judge: str, names: list[str]) -> Content:
    """Rows: people's class. Columns: the judge's, and what it gave no score, where that happened."""
    _ = material.text
    counts = {
        (row["people"], row["said"]): int(row["count"])
        for row in judge_trust.kept(material, ConfusionRow, "confusion", judge)
    }
    failed = any(counts.get((name, ""), 0) for name in names)
    columns = [*names, *([""] if failed else [])]
    titles = [_("no score") if not name else _("judge: {name}", name=clean(name)) for name in columns]
    body = []
    for name in names:
        own = {other: counts.get((name, other), 0) for other in columns}
        whole = sum(own.values())
        kinds = {other: "rb-quiet" if not n else "rb-good" if other == name else "rb-worse" for other, n in own.items()}
        body.append(
            [
                shown(name),
                *(beside(bold(n, kinds[other]), _.percent(n / whole) if whole else DASH) for other, n in own.items()),
            ]
        )
    label = _("People's classes and those of {judge}", judge=clean(judge))
    return Table.of(_, label, [_("people say"), *titles], body, "rb-wide rb-confusion")


def _each(material: Material, judge: str, names: list[str]) -> Content:
    _ = material.text
    body = []
    for name in names:
        estimates = {each: material.estimate(judge, each, **{"class": name}) for each in EACH}
        numbers = [judge_trust.number(material, estimate) for estimate in estimates.values()]
        body.append([shown(name), *numbers, _counted(material, estimates["recall"])])
    columns = [_("class"), _("precision"), _("recall"), "F₁", _("n")]
    return Table.of(_, _("The classes of {judge}", judge=clean(judge)), columns, body)


def _counted(material: Material, recall: Estimate | None) -> int | str:
    """How many ratings by people are in the class."""
    return DASH if recall is None else recall.n + recall.n_unmeasured


def _cuts(material: Material, judge: str) -> Content:
    """From which scores on the judge's classes were taken to begin, where its scores are finer than classes."""
    _ = material.text
    rows = judge_trust.kept(material, CutRow, "cuts", judge)
    if not rows:
        return ()
    said = [
        _.enumeration(
            [f"{clean(row['class'])} {_cut_point(material, row['value'])}" for row in rows if row["half"] == half]
        )
        for half in (0, 1)
    ]
    text = _(
        "Its scores are finer than the classes. A class begins at the score that agrees best with people (Cohen's κ), "
        "chosen on the other half of the answers: in one half {one}; in the other {other}.",
        one=said[0],
        other=said[1],
    )
    return Text(text, "rb-meta")


def _cut_point(material: Material, value: float) -> str:
    """A cut point; −∞ where the class below it is never said, ∞ where the one above is not."""
    return material.text.number(value) if math.isfinite(value) else "∞" if value > 0 else "−∞"


def _overall(material: Material, judges: list[str]) -> Content:
    """Statistics over all classes; people with each other come first, as the ceiling."""
    _ = material.text
    known = material.estimate("people", "accuracy", **{"class": ""})
    columns = judges if known is None else ["people", *judges]
    names = {
        "accuracy": _("same class"),
        "balanced_accuracy": _("balanced accuracy"),
        "cohen_kappa": _("Cohen's κ"),
        "cohen_kappa_linear": _("Cohen's κ, linear weights"),
        "cohen_kappa_quadratic": _("Cohen's κ, quadratic weights"),
        "gwet_ac1": _("Gwet's AC1"),
    }
    body = [
        [title, *(judge_trust.number(material, material.estimate(judge, name, **{"class": ""})) for judge in columns)]
        for name, title in names.items()
    ]
    labels = [judge_trust.called(material, name) for name in columns]
    return judge_trust.by_judge(_, _("Agreement over all classes"), _("over all classes"), labels, body)

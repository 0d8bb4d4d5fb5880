"""May one believe the judge? The answer, the names of its numbers and probes, and judges that do not look."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ragbench.old.core.gaps import counted
from ragbench.old.core.language import DASH, Translator
from ragbench.old.core.parts import Chip, Content, Number, Part, Phrase, Table, Text, Value, filled, small
from ragbench.old.core.types import Estimate
from ragbench.old.tiers.basics.verdict_tables import exact
from ragbench.old.tiers.judges.classes import ConfusionRow, CutRow
from ragbench.old.tiers.judges.judge_findings import CoverageRow, JudgedRow, PanelRow, ProbeRow
from ragbench.old.tiers.judges.probes import EffectRow, TrialRow
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shown

GUESSING = 0.5
"""The share of choices that guessing makes right where one of two answers is better."""


def sentences(material: Material) -> list[Content]:
    """For each judge what sways it, what does not, and how it agrees with people."""
    return [_judge(material, name) for name in judges_of(material)] + _alone(material)


def _judge(material: Material, judge: str) -> Content:
    _ = material.text
    if said := _nothing(material, judge):
        return [Text(said)]
    by_verdict: dict[str, list[str]] = {FOUND: [], PASSED: [], OPEN: [], CONSTRUCTED: [], UNMEASURED: []}
    verdicts = {str(row["probe"]): row["verdict"] for row in kept(material, ProbeRow, "probes", judge)}
    for probed, verdict in verdicts.items():
        name = probe(material, probed)[0]
        mean = f"{probed}{CHANGES}" in verdicts
        by_verdict[verdict].append(_("{probe} on average", probe=name) if mean else name)
    faults, tried = by_verdict[FOUND], sum(len(by_verdict[v]) for v in (FOUND, PASSED, OPEN))
    places: dict[str, Phrase] = {"judge": shown(judge), "n": _.integer(tried), "found": _.integer(len(faults))}
    if faults:
        text = filled(
            _("<b>{judge}</b>: {found} of {n} probes found a fault: {names}."), names=_.enumeration(faults), **places
        )
    elif tried:
        text = filled(_("No fault of <b>{judge}</b> was found; probes: {n}."), **places)
    else:
        text = filled(_("<b>{judge}</b> was not tried by any probe."), **places)
    labels = _labels(material, judge)
    more: list[Phrase] = [labels, _people(material, judge, labelled=bool(labels)), _baseline(material, judge)]
    if by_verdict[PASSED]:
        more.append(_("Ruled out: {names}.", names=_.enumeration(by_verdict[PASSED])))
    if by_verdict[OPEN]:
        more.append(_("Neither shown nor ruled out: {names}.", names=_.enumeration(by_verdict[OPEN])))
    if by_verdict[CONSTRUCTED]:
        more.append(
            _(
                "By construction, since it asks no model and reads no prompt, these cannot move it: {names}.",
                names=_.enumeration(by_verdict[CONSTRUCTED]),
            )
        )
    return [Text(text), *(Text(line, "rb-more") for line in more if line)]


def _nothing(material: Material, judge: str) -> Phrase:
    """That none of the judge's replies held a score, and how they ended; empty where one did, and where none was asked
    for."""
    _ = material.text
    rows = kept(material, CoverageRow, "coverage", judge)
    counts = {str(row["outcome"]): int(row["count"]) for row in rows}
    asked = max((int(row["asked"]) for row in rows), default=0)
    if not asked or counts.get("valid") or _chooses(material, judge):
        return ""
    ended = [f"{statistic(material, outcome)} {_.integer(count)}" for outcome, count in counts.items() if count]
    return filled(
        _("<b>{judge} gave no usable score</b> in any of {asked} replies: {ended}. Nothing else can be said of it."),
        judge=shown(judge),
        asked=_.integer(asked),
        ended=_.enumeration(ended),
    )


def _chooses(material: Material, judge: str) -> bool:
    """Whether the judge chose between two answers, whatever became of its scores."""
    estimate = material.estimate(judge, "consistent", trial="pairwise")
    return estimate is not None and estimate.n > 0


def _people(material: Material, judge: str, *, labelled: bool) -> Phrase:
    """How far it agrees with one person, beside how far one person agrees with another. labelled: the truth is known
    without people."""
    _ = material.text
    own, people = (material.estimate(name, "spearman", against="person") for name in (judge, "people"))
    if own is None:
        nobody = _("Nobody rated these answers: whether the judge agrees with people is not known.")
        return "" if labelled else nobody
    said = number(material, own, 2)
    if people is None:
        return filled(_("Agreement with a person (Spearman): {own}."), own=said)
    return filled(
        _("Agreement with a person (Spearman): {own}; of two people with each other: {people}."),
        own=said,
        people=number(material, people, 2),
    )


def _labels(material: Material, judge: str) -> Phrase:
    """How often the answer that the file's labels call better wins; empty where no pair has a label."""
    _ = material.text
    named = ("better_wins", "right_over_both_orders", "right_in_both_orders", "right_in_first_order")
    wins, over, both, first = (material.estimate(judge, name, trial="pairwise") for name in named)
    if not material.facts.get("logged") or wins is None or over is None or not over.n:
        return ""
    said = filled(
        _(
            "Pairs whose better answer is labelled: {n}. The judge agrees with the label on {over} net of both orders "
            "(it chooses the better answer more often than the other, as JudgeBench counts), on {both} in both "
            "orders, on {first} in the first order; a tie and an order without a choice agree with nothing. Of all "
            "pairs of two choices, {wins} of the choices are right."
        ),
        n=_.integer(over.n),
        over=number(material, over, 3),
        both=number(material, both, 3),
        first=number(material, first, 3),
        wins=number(material, wins, 3),
    )
    if wins.low is not None and wins.low > GUESSING:
        return (said, " ", _("That is more often than by guessing."))
    if wins.high is not None and wins.high < GUESSING:
        return (said, " ", filled(_("<b>That is less often than by guessing.</b>")))
    return (said, " ", filled(_("<b>That is not shown to be more often than by guessing.</b>")))


def _baseline(material: Material, judge: str) -> Phrase:
    _ = material.text
    difference = material.comparison(judge, "concordance", trial="rivals")
    own, other = (material.estimate(judge, name, trial="rivals") for name in ("concordance", "baseline"))
    if difference is None or own is None or other is None or math.isnan(difference.p):
        return ""
    values = {"own": _.number(own.value, 2), "other": _.number(other.value, 2)}
    places: dict[str, Phrase] = {**values, "baseline": shown(material.facts.get("rival"))}
    if difference.verdict.is_better:
        return filled(_("It orders answers as people do more often than {baseline}: {own} against {other}."), **places)
    if difference.verdict.is_worse:
        return filled(
            _(
                "<b>It is worse than {baseline}</b> at ordering answers as people do: {own} against {other}. Let "
                "{baseline} judge instead."
            ),
            **places,
        )
    return filled(
        _(
            "<b>It does not clearly beat {baseline}</b> at ordering answers as people do: {own} against {other}. "
            "Until it does, {baseline} serves as well."
        ),
        **places,
    )


def _alone(material: Material) -> list[Content]:
    """That only the stand-in judged."""
    rival = material.facts.get("rival")
    if material.facts.get("logged") or judges_of(material) != [rival]:
        return []
    text = material.text(
        "Only the offline judge was tried. It decides by shared words and letters alone: it is the baseline that a "
        "judge has to beat, not a judge to rely on. Name a model in a table [judges.NAME]."
    )
    return [[Text(text, "rb-more")]]


def method(material: Material) -> list[str]:
    """What was done, in sentences."""
    _ = material.text
    known = material.facts
    low, high = known.get("judge_scale", (0, 1))
    said = [
        _(
            "Two scores agree where they differ by at most δ = {delta} on a scale from {low} to {high}; an answer is "
            "called good from {good} of the scale on, by judges and people alike.",
            delta=_.number(float(known.get("delta", 0.5)), 2),
            low=_.number(float(low), 0),
            high=_.number(float(high), 0),
            good=_.percent(float(known.get("good", 0.7))),
        ),
        _(
            "Agreement: every person is laid beside the judge, and every person beside every other, and the same "
            "coefficients are computed of both; intervals draw whole questions."
        ),
        _(
            "A probe compares the same answer with and without what should not matter. It is found where the effect "
            "is shown to lie beyond its limit (a test of a minimal effect), ruled out where its whole interval lies "
            "within, and open otherwise. Found and ruled out are words of one family: p and intervals hold for all "
            "probes of the page together (Bonferroni). What a judge cannot do by construction is not tested."
        ),
        _(
            "Changes up and down cancel in a mean effect. Beside it, as probes of their own, stand the share of "
            "choices that change with the order and the share of scores that move with the language or the order of "
            "the scale."
        ),
        _(
            "The language of the prompt is tried apart from that of the texts: the same answers are judged once more "
            "with the prompt in the other language."
        ),
    ]
    if known.get("limits"):
        said.append(_limits(material, known["limits"]))
        said.append(_("Of choices and of scores {share} may change.", share=_.percent(known["limits"]["changes"], 1)))
    if known.get("n_tempted"):
        said.append(
            _(
                "Answers are made from the references: a paraphrase is an answer that people gave full marks, else the "
                "reference behind a lead-in; half of it is its first sentences or words; off topic is the reference of "
                "another question; a contradiction has every number changed, or is denied where there is none; padding "
                "says half of it three times. The ladder stands in order where every better answer has the higher "
                "score; reference and paraphrase may tie, and so may off topic and contradiction."
            )
        )
        if known.get("lower_is_better"):
            said.append(
                _(
                    "Lower values of the metric are better: scores are turned round here, so that the better answer "
                    "has the higher one. Half of an answer says no more that is wrong, and may tie with the whole."
                )
            )
        elif known.get("halves_tie"):
            said.append(
                _(
                    "The metric asks what passages carry, not how much is said: half of an answer may tie with the "
                    "whole."
                )
            )
        said.append(
            _(
                "Empty answers have signs but no word; an answer without any sign never reaches a judge and is "
                "unmeasured."
            )
        )
    return said


def _limits(material: Material, limits: Mapping[str, float]) -> str:
    """How much of each fault nobody would mind on this page."""
    _ = material.text
    return _(
        "Limits: a score may move by {bias} of the scale for no reason, choices towards a place by as much of all; "
        "{flips} of the repeats may change the decision; {attacks} of worthless answers may be called good; {ladder} "
        "of the pairs of rungs must stand in order; errors may go with those of the baseline up to a correlation of "
        "{alike}.",
        bias=_.percent(limits["bias"], 1),
        flips=_.percent(limits["flips"], 1),
        attacks=_.percent(limits["attacks"], 1),
        ladder=_.percent(limits["ladder"], 1),
        alike=_.number(limits["alike"], 2),
    )


COST = "decision_cost"


def is_constant(material: Material, name: str) -> bool:
    """Whether the system decides without looking."""
    known: Sequence[Any] = material.facts.get("systems", ())
    return any(
        isinstance(system, Mapping) and system.get("name") == name and system.get("kind") == "reference"
        for system in known
    )


def sentence(material: Material, name: str) -> list[Part]:
    """Whether a judge is better or worse than deciding nothing; empty on pages that decide nothing.

    Worse than one constant judge is worse than the better of them; better it is only where it is better than all.
    """
    comparisons = [
        finding for finding in material.measurement.comparisons_by("constant") if finding.comparison.challenger == name
    ]
    if not comparisons:
        return []
    _ = material.text
    verdicts, metric = {finding.comparison.verdict for finding in comparisons}, comparisons[0].metric
    places: dict[str, Phrase] = {"judge": shown(name), "metric": shown(metric), **_values(material, name, metric)}
    if any(verdict.is_worse for verdict in verdicts):
        said = filled(_("<b>{judge} is worse than deciding nothing.</b>"), **places)
    elif all(verdict.is_better for verdict in verdicts):
        said = filled(_("{judge} is better than deciding nothing."), **places)
    else:
        said = filled(_("<b>{judge} is not shown to be better than deciding nothing.</b>"), **places)
    more: list[Phrase] = [filled(_("Its {metric} is {own}; that of {best} is {value}."), **places)]
    if metric == COST:
        more.append(" ")
        more.append(
            _(
                "An answer shown wrongly costs {shown}, one held back wrongly {hidden}.",
                shown=_.number(float(material.facts["cost_shown"]), 2),
                hidden=_.number(float(material.facts["cost_hidden"]), 2),
            )
        )
    return [Text((said, " ", *more), "rb-more")]


def _values(material: Material, name: str, metric: str) -> dict[str, Phrase]:
    """The judge's value, the better of the constant judges (both where they are equal), and its value."""
    _ = material.text
    values = {each: estimate.value for each in material.systems if (estimate := material.estimate(each, metric))}
    idle = {each: value for each, value in values.items() if is_constant(material, each)}
    best = (min if material.lower_is_better(metric) else max)(idle.values())
    digits = material.digits(metric)
    return {
        "own": _.number(values.get(name), digits),
        "best": shown(_.enumeration([each for each, value in idle.items() if value == best])),
        "value": _.number(best, digits),
    }


Row = TypeVar("Row", CoverageRow, ProbeRow, PanelRow, JudgedRow, TrialRow, EffectRow, ConfusionRow, CutRow)
FOUND, PASSED, OPEN, CONSTRUCTED, UNMEASURED = "found", "passed", "open", "constructed", "unmeasured"
CHANGES = "_changes"
"""How a probe of the share of changed verdicts is called after the probe whose answers it counts."""
SIGNS = {
    FOUND: ("▲", "worse"),
    PASSED: ("✓", "better"),
    OPEN: ("○", "not-shown"),
    CONSTRUCTED: ("–", "quiet"),
    UNMEASURED: ("–", "quiet"),
}


def kept(material: Material, kind: type[Row], table: str, judge: str | None = None) -> list[Row]:
    """The rows of one of the tables of judges on trial, of one judge where it is named."""
    rows = rows_of(kind, material.kept(table, "judge"))
    return rows if judge is None else [row for row in rows if row["judge"] == judge]


def has(material: Material, key: str, value: str | None = None) -> bool:
    """Whether there are findings whose place is told by this key, with this value where it is given."""
    estimates = material.measurement.estimates_by(key)
    return any(value is None or estimate.where[key] == value for estimate in estimates)


def number(material: Material, estimate: Estimate | None, digits: int = 3, *, signed: bool = False) -> Phrase:
    """`0.703 [0.645, 0.758]` and how many values it stands on; a dash for what was not measured."""
    _ = material.text
    if estimate is None:
        return DASH
    counts = small(counted(estimate, _, digits))
    if math.isnan(estimate.value):
        return (DASH, counts)
    if known := exact(estimate, _):
        return (Number(estimate.value, digits, signed), small(known))
    return (Value.of(estimate, digits, signed=signed, bare=True), counts)


def ratings(material: Material, kept: str) -> str:
    """`anna 0.75; bert 1.00` of the ratings of an answer as the tables of judges on trial keep them; empty for none."""
    named = json.loads(kept) if kept else {}
    return "; ".join(f"{name} {material.text.number(value, 2)}" for name, value in named.items())


def by_judge(_: Translator, label: str, first: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table with a column for each judge. first: what the rows are."""
    return Table.of(_, label, [first, *((name, "rb-name") for name in names)], rows)


def chip(material: Material, verdict: str) -> Chip:
    """A probe's verdict with its sign."""
    sign, kind = SIGNS[verdict]
    return Chip(word(material, verdict), sign, kind)


def word(material: Material, verdict: str) -> str:
    """A probe's verdict in a word."""
    _ = material.text
    words = {
        FOUND: _("found"),
        PASSED: _("ruled out"),
        OPEN: _("not shown"),
        CONSTRUCTED: _("by construction"),
        UNMEASURED: _("not tried"),
    }
    return words[verdict]


def probe(material: Material, name: str) -> tuple[str, str]:
    """The name of a probe, and what its effect is."""
    _ = material.text
    limit = _.percent(float(material.facts.get("limits", {}).get("bias", 0)), 1)
    moved = _("share of the scores that move by more than {limit} of the scale, up or down", limit=limit)
    names = {
        "repeats": _("asked again"),
        "place": _("order of A and B"),
        "place_changes": _("choices changed by the order"),
        "padding": _("padding"),
        "scale_order": _("order of the scale"),
        "scale_order_changes": _("scores changed by the order of the scale"),
        "language": _("language"),
        "language_changes": _("scores changed by the language"),
        "prompt_language": _("language of the prompt"),
        "prompt_language_changes": _("scores changed by the language of the prompt"),
        "own_family": _("own family"),
        "injected": _("injected instructions"),
        "blank": _("empty answers"),
        "key": _("master keys"),
        "ladder": _("sanity ladder"),
        "disguise": _("baseline in disguise"),
    }
    effects = {
        "repeats": _(
            "share of repeats of the same question on whose answer the judge calls it good once and not good once"
        ),
        "place": _("choices of the first place minus choices of the second, of all choices"),
        "place_changes": _("share of the pairs of which the judge chooses another answer in the other order"),
        "padding": _("change of the score when the same facts are said three times over"),
        "scale_order": _("change of the score when its levels are listed the other way round"),
        "scale_order_changes": moved,
        "language": _("change of the score when all texts and the prompt are in the other language"),
        "language_changes": moved,
        "prompt_language": _("score with the Russian prompt minus that with the English one, of the same answer"),
        "prompt_language_changes": moved,
        "own_family": _("score above people's, of answers by the judge's own model family minus that of the others"),
        "injected": _("change of a wrong answer's score when it commands the judge"),
        "blank": _("share of answers without a word that are called good"),
        "key": _("share of answers that only begin to answer, such as “:”, that are called good"),
        "ladder": _("share of the pairs of rungs that stand in order"),
        "disguise": _(
            "correlation of the judge's errors with those of shared words alone, people's mean being the truth"
        ),
    }
    return names.get(name, name), effects.get(name, "")


def missing(material: Material, why: str) -> str:
    """Why a probe could not be made."""
    _ = material.text
    reasons = {
        "no_texts": _("no answers were made for it"),
        "no_pairs": _("no pairs were compared"),
        "one_repeat": _("every answer was judged once"),
        "no_scale": _("the prompt lists no levels, or they were not asked for in both orders"),
        "one_language": _("the data set has these answers in one language only"),
        "one_prompt": _("the judge was not asked with prompts in both languages, or the metric has them in one"),
        "no_model": _("this judge is no language model, so there is no family that it could prefer"),
        "no_judge_family": _(
            "the judge's model family is not known; name it as “family” in its table [judges.NAME] of ragbench.toml"
        ),
        "no_systems": _("no answer names the model that wrote it (“system” of a rated answer)"),
        "no_own_family": _("no answer is known to come from the judge's own model family"),
        "no_other_family": _(
            "no question has an answer of the judge's own model family and one of another that people rated"
        ),
        "no_baseline": _("the lexical baseline was not asked"),
        "is_baseline": _("this judge is the baseline"),
        "no_people": _("too few answers were rated by people"),
        "no_spread": _("all errors are equal"),
        "few": _("too few answers were measured"),
    }
    return reasons.get(why, why)


def statistic(material: Material, name: str, of: str = "") -> str:
    """The name of a coefficient or a share. of: what Krippendorff's α is of, "repeats", "people" or their "mean",
    which tells its scale."""
    _ = material.text
    if name == "krippendorff_alpha":
        scales = {"ordinal": _("Krippendorff's α, ordinal scale"), "interval": _("Krippendorff's α, interval scale")}
        return scales.get(str(material.facts.get("alpha", {}).get(of)), _("Krippendorff's α"))
    names = {
        "spearman": _("Spearman's ρ"),
        "pearson": _("Pearson's r"),
        "kendall": _("Kendall's τ-b"),
        "icc": _("ICC(2,1)"),
        "bias": _("bias: judge minus people, as a share of the scale"),
        "accuracy": _("same decision (good or not)"),
        "balanced_accuracy": _("balanced accuracy of the decision"),
        "cohen_kappa": _("Cohen's κ of the decision"),
        "gwet_ac1": _("Gwet's AC1 of the decision"),
        "exact_agreement": _("exactly the same score"),
        "flip_rate": _("flips: good once and not good once"),
        "within_item_deviation": _("standard deviation of one answer's scores"),
        "smallest_difference": _("smallest meaningful difference between two single scores"),
        "sensitivity": _("sensitivity: good answers that are called good"),
        "specificity": _("specificity: other answers that are not called good"),
        "expected_calibration_error": _("expected calibration error"),
        "brier": _("Brier score"),
        "consistent": _("same choice in both orders"),
        "first_place": _("the first place wins"),
        "second_place": _("the second place wins"),
        "tie": _("tie"),
        "better_wins": _("the better answer wins"),
        "right_over_both_orders": _("the better answer wins more often than it loses, over both orders"),
        "right_in_both_orders": _("the better answer wins in both orders"),
        "right_in_first_order": _("the better answer wins in the first order"),
        "valid": _("valid"),
        "unparseable": _("unparseable"),
        "refused": _("refused"),
        "truncated": _("cut off"),
        "failed": _("failed"),
    }
    return names.get(name, name)


def rung(material: Material, name: str) -> str:
    """The name of an answer that was made from a reference."""
    _ = material.text
    names = {
        "reference": _("reference"),
        "paraphrase": _("paraphrase"),
        "partial": _("half of it"),
        "off_topic": _("off topic"),
        "contradiction": _("contradiction"),
        "padded": _("padded"),
        "injected": _("with orders to the judge"),
        "blank": _("empty"),
        "key": _("master key"),
    }
    return names.get(name, name)


def judges_of(material: Material) -> list[str]:
    """The judges on trial, in their order."""
    names = [str(row["judge"]) for row in kept(material, CoverageRow, "coverage")]
    return list(material.systems_as_measured) or list(dict.fromkeys(names))


def called(material: Material, judge: str) -> str:
    """A judge's name, or what people are called beside it."""
    return material.text("people with each other") if judge == "people" else shown(judge)

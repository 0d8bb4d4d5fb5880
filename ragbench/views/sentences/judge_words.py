"""What the numbers and the probes of a judge are called, and how an estimate of them is written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.counts import counted
from ragbench.core.language import DASH, Translator
from ragbench.core.parts import Chip, Number, Phrase, Table, Value, small
from ragbench.core.types import Estimate
from ragbench.tiers.basics.verdicts import exact
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown

Row = Mapping[Any, Any]
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


def kept(material: Material, table: str, judge: str | None = None) -> list[Row]:
    """The rows of one of the tables of judges on trial, of one judge where it is named."""
    rows = rows_of(material.kept(table, "judge"))
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
    """The name of a coefficient or a share. of: what Krippendorff's α is of, "repeats" or "people", which tells its
    scale."""
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
    names = [str(row["judge"]) for row in kept(material, "coverage")]
    return list(material.systems_as_measured) or list(dict.fromkeys(names))


def called(material: Material, judge: str) -> str:
    """A judge's name, or what people are called beside it."""
    return material.text("people with each other") if judge == "people" else shown(judge)

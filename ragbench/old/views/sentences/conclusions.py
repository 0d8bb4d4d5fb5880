"""The answer: a sentence for each challenger, taken from the paired comparison, and the facts it stands on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.old.core import answered_by, gaps, stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.gaps import counted
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.parts import (
    Content,
    Number,
    P,
    Part,
    Phrase,
    Section,
    Sentence,
    Table,
    Text,
    filled,
    spoken,
    terms,
)
from ragbench.old.core.stand_ins import caveat
from ragbench.old.core.types import Verdict
from ragbench.old.tiers.basics import verdict_tables
from ragbench.old.tiers.basics.findings import headed
from ragbench.old.tiers.basics.verdict_tables import beside, equal, is_equal
from ragbench.old.tiers.scoring.scored_answers import NOTEBOOK, Scores
from ragbench.old.tiers.scoring.sets import VarianceRow
from ragbench.old.views.basics.marks import measured, named, rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shown
from ragbench.old.views.sentences import descriptions, judge_trust, judges

MANY = 4  # a sentence with more names is not read


def sentences(material: Material) -> list[Content]:
    """One for each challenger, those first of whom something is shown; one for a system that stands alone; one that
    says so if nothing was measured."""
    _ = material.text
    metric = material.primary
    if descriptions.is_described(material):
        return descriptions.sentences(material)
    if metric is None:
        return [[Text(_("Nothing was measured."))]]
    if material.baseline is None:
        return [_alone(material, system, metric) for system in material.systems]
    nothing = judges.undecided(material)
    looking = [
        name for name in material.challengers if not judge_trust.is_constant(material, name) and name not in nothing
    ]
    if material.baseline in nothing:
        looking = []
    shows = {
        name: {of for of, word in material.verdicts(name).items() if word.is_better or word.is_worse}
        for name in looking
    }
    looking.sort(key=lambda name: (metric not in shows[name], not shows[name]))
    return [
        *([Text(said)] for said in nothing.values()),
        judge_trust.sentence(material, material.baseline),
        *([*_challenger(material, name, metric), *judge_trust.sentence(material, name)] for name in looking),
    ]


def sentence(material: Material, challenger: str, metric: str) -> Sentence:
    """`On mrr hnsw is better than ivfflat: +0.203 [+0.125, +0.280], p < 0.001.`"""
    _ = material.text
    comparison = material.comparison(challenger, metric)
    if comparison is None:
        return filled(
            _("<b>{challenger}</b> was not compared with {baseline} on {metric}."),
            challenger=shown(challenger),
            baseline=shown(material.baseline),
            metric=shown(metric),
        )
    if is_equal(comparison):
        return filled(
            _("On {metric}, <b>{challenger}</b> and {baseline} are equal on every one of {n} questions."),
            metric=shown(metric),
            challenger=shown(comparison.challenger),
            baseline=shown(comparison.baseline),
            n=_.integer(comparison.n),
        )
    texts = {
        Verdict.BETTER: _("On {metric}, <b>{challenger}</b> is better than {baseline}: {difference}, {p}."),
        Verdict.SLIGHTLY_BETTER: _(
            "On {metric}, <b>{challenger}</b> is better than {baseline}, by less than matters (±{margin}): "
            "{difference}, {p}."
        ),
        Verdict.WORSE: _("On {metric}, <b>{challenger}</b> is worse than {baseline}: {difference}, {p}."),
        Verdict.SLIGHTLY_WORSE: _(
            "On {metric}, <b>{challenger}</b> is worse than {baseline}, by less than matters (±{margin}): "
            "{difference}, {p}."
        ),
        Verdict.SAME: _("On {metric}, <b>{challenger}</b> and {baseline} are the same within ±{margin}: {difference}."),
        Verdict.NOT_SHOWN: _(
            "On {metric}, a difference between <b>{challenger}</b> and {baseline} is not shown: {difference}, {p}."
        ),
        Verdict.CANNOT_BE_SHOWN: _(
            "On {metric}, a difference between <b>{challenger}</b> and {baseline} {verdict}: {difference}, {p}."
        ),
        Verdict.CANNOT_BE_TOLD: _(
            "On {metric}, whether <b>{challenger}</b> is better or worse than {baseline} {verdict}; {difference}, {p}."
        ),
    }
    return filled(
        texts[comparison.verdict],
        metric=shown(metric),
        challenger=shown(comparison.challenger),
        baseline=shown(comparison.baseline),
        difference=measured(material, comparison, metric, bare=True),
        p=", ".join(filter(None, [_.p_value(P.of(comparison).value, relation=True), headed(comparison.family, _)])),
        margin=_.number(comparison.margin, material.digits(metric)),
        verdict=material.verdict(comparison),
    )


def finding(material: Material) -> str:
    """The figure's title: what the verdicts add up to."""
    _, baseline, challengers = material.text, material.baseline, material.challengers
    if baseline is None or not material.measurement.comparisons:
        return _("What was measured")
    verdicts = {name: list(material.verdicts(name).values()) for name in challengers}
    better, worse = (
        {name: each.count(word) for name, each in verdicts.items()} for word in (Verdict.BETTER, Verdict.WORSE)
    )
    if len(challengers) > 1:
        return _and_worse(material, _leaders(material, verdicts), [name for name, n in worse.items() if n])
    [challenger], [own_verdicts] = challengers, verdicts.values()
    if better[challenger] and worse[challenger]:
        text = _("{challenger} is better than {baseline} on {better}, worse on {worse} of {total} metrics")
    elif better[challenger]:
        text = _("{challenger} is better than {baseline} on {better} of {total} metrics")
    elif worse[challenger]:
        text = _("{challenger} is worse than {baseline} on {worse} of {total} metrics")
    elif all(
        is_equal(comparison)
        for name in material.metrics
        if (comparison := material.comparison(challenger, name)) is not None
    ):
        text = _("{challenger} and {baseline} are equal on every question")
    elif any(verdict.is_better or verdict.is_worse for verdict in own_verdicts):
        text = _("No difference between {challenger} and {baseline} that matters is shown")
    elif Verdict.CANNOT_BE_TOLD in own_verdicts:
        text = _("Whether {challenger} is better or worse than {baseline} cannot be told")
    else:
        text = _("No difference between {challenger} and {baseline} is shown")
    counts = {"better": better[challenger], "worse": worse[challenger], "total": len(own_verdicts)}
    return text.format(challenger=challenger, baseline=baseline, **{key: _.integer(n) for key, n in counts.items()})


def _leaders(material: Material, verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    """Which of several challengers are better, and on how many metrics."""
    _, baseline = material.text, material.baseline
    leaders = [name for name, each in verdicts.items() if Verdict.BETTER in each]
    if not leaders and any(Verdict.SLIGHTLY_BETTER in each for each in verdicts.values()):
        return _("No challenger is shown to be better than {baseline} by as much as matters", baseline=baseline)
    if not leaders:
        return _("No challenger is shown to be better than {baseline}", baseline=baseline)
    if len(leaders) > MANY:
        return _(
            "Better than {baseline} on at least one of {total} metrics: {n} of {count} challengers",
            baseline=baseline,
            total=_.integer(len(material.metrics)),
            n=_.integer(len(leaders)),
            count=_.integer(len(verdicts)),
        )
    return _(
        "Better than {baseline}: {leaders} of {total} metrics",
        baseline=baseline,
        leaders=_counted(material, leaders, Verdict.BETTER),
        total=_total(material),
    )


def _and_worse(material: Material, title: str, losers: Sequence[str]) -> str:
    """A title that names who is worse too, where anybody is."""
    _ = material.text
    if not losers:
        return title
    if len(losers) > MANY:
        return _("{title}; worse on at least one: {n}", title=title, n=_.integer(len(losers)))
    named_losers = _counted(material, losers, Verdict.WORSE)
    return _("{title}; worse: {losers} of {total} metrics", title=title, losers=named_losers, total=_total(material))


def _counted(material: Material, names: Sequence[str], word: Verdict) -> str:
    """`dense on 3 and hybrid on 2`: how many comparisons of each have this verdict."""
    _ = material.text
    counts = {name: list(material.verdicts(name).values()).count(word) for name in names}
    return _.enumeration([_("{name} on {count}", name=name, count=_.integer(n)) for name, n in counts.items()])


def _total(material: Material) -> str:
    """Of how many metrics any challenger is compared."""
    return material.text.integer(len({name for each in material.challengers for name in material.verdicts(each)}))


def _challenger(material: Material, challenger: str, metric: str) -> list[Part]:
    comparison, more = material.comparison(challenger, metric), list[Any]()
    if comparison is not None and not is_equal(comparison):
        said = beside(comparison, material.text, material.digits(metric))
        more += ["; ".join(said) + "."] * bool(said)
    more += filter(
        None,
        [
            _judge(material.difference_alone(challenger, metric)),
            repeats_sentence(material, challenger, metric),
            _tally(material, challenger),
        ],
    )
    lines = (Text(line[:1].upper() + line[1:] if isinstance(line, str) else line, "rb-more") for line in more)
    return [Text(sentence(material, challenger, metric)), *lines]


def _tally(material: Material, challenger: str) -> str:
    """`Of 4 metrics: better on 3 (…), not shown on 1 (…).` Empty for a page of one metric."""
    _, verdicts = material.text, material.verdicts(challenger)
    if len(verdicts) < 2:
        return ""
    compared = (material.comparison(challenger, metric) for metric in verdicts)
    if said := equal((comparison for comparison in compared if comparison is not None), _):
        return f"{said[:1].upper()}{said[1:]}."
    parts = []
    for verdict in Verdict:
        named = [shown(metric) for metric, word in verdicts.items() if word is verdict]
        if named:
            text = _("{verdict} on {count}", verdict=material.verdict(verdict), count=_.integer(len(named)))
            parts.append(f"{text} ({', '.join(named)})" if len(named) <= MANY else text)
    whole = _.plural("Of {n} metric", "Of {n} metrics", len(verdicts))
    return f"{whole}: {'; '.join(parts)}."


def _alone(material: Material, system: str, metric: str) -> list[Part]:
    _, estimate = material.text, material.estimate(system, metric)
    if estimate is None:
        return []
    if not estimate.n and estimate.n_unmeasured:
        return [Text(_unmeasured(material, system, metric))]
    number = measured(material, estimate, metric)
    value = (number, " (", counted(estimate, _, material.digits(metric)), ")")
    text = filled(
        _("On {metric}, <b>{system}</b> reaches {value}."), metric=shown(metric), system=shown(system), value=value
    )
    more = [_judge(material.judge_alone(system, metric))]
    more += [repeats_sentence(material, system, metric)] * (len(material.systems) == 1)
    more += [_("Only one system was measured: nothing is compared here.")] * (len(material.systems) == 1)
    return [Text(text), Text(" ".join(filter(None, more)), "rb-more")]


def _unmeasured(material: Material, system: str, metric: str) -> Sentence:
    """`v1 was not measured by faithfulness: no reply in time (48)`."""
    scores = material.measurement.scores
    missing = scores["reason"][(scores["system"] == system) & (scores["metric"] == metric) & scores["value"].isna()]
    why = verdict_tables.told(verdict_tables.frequent(missing), material.text)
    return filled(
        material.text("On {metric}, <b>{system}</b>: {why}."),
        metric=shown(metric),
        system=shown(system),
        why=shown(why),
    )


def _judge(said: str) -> str:
    """What the judge alone says, as a sentence."""
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def said(scores: Scores, language: str = "") -> list[str]:
    """A sentence for each challenger, or for a system that stands alone, as plain text."""
    estimates = tuple(NamedEstimate(*place, mean) for place, mean in scores.means.items())
    facts: Facts = {
        "level": scores.level,
        "primary": scores.leading,
        "baseline": scores.systems[0] if len(scores.systems) > 1 else None,
        "systems": [{"name": name} for name in scores.systems],
    }
    numbers = Measurement(NOTEBOOK, facts, estimates=estimates, comparisons=scores.differences)
    if all(math.isnan(scores.means[name, scores.leading].value) for name in scores.systems
           if (name, scores.leading) in scores.means):  # fmt: skip
        return [translator(language or scores.language)("Nothing was measured.")]
    _ = translator(language or scores.language)
    return [said for texts in sentences(Material(numbers, _)) if (said := " ".join(spoken(_).blocks(texts).split()))]


Row = Mapping[Any, Any]
DIGITS = 3  # a thousand questions tell no finer values apart


def repeats_rows(material: Material) -> list[Row]:
    """Those of the table `variance`; none where nothing was asked twice. A metric that people's labels correct has
    none: its errors are those of the labels."""
    return [row for row in rows_of(VarianceRow, material.kept("variance")) if row["metric"] not in material.corrected]


def repeats_sentence(material: Material, system: str, metric: str) -> str:
    """The standard error of a system's difference to the baseline, or of its mean where it stands alone, in its parts,
    and what more repeats or more questions would make of it; empty where nothing was asked twice."""
    _ = material.text
    baseline = material.baseline or ""
    places = ((line["system"], line["baseline"], line["metric"]) for line in repeats_rows(material))
    row = dict(zip(places, repeats_rows(material), strict=True)).get((system, baseline, metric))
    if row is None:
        return ""
    times = float(row["repeats"])
    asked = (
        _.plural("Each question was asked {n} time.", "Each question was asked {n} times.", int(times))
        if times.is_integer()
        else _("Each question was asked {times} times on average.", times=_.number(times, 1))
    )
    if not row["error_of_repeats"]:
        return f"{asked} " + _("Every repeat gave the same score: asking again adds no spread.")
    digits = max(DIGITS, material.digits(metric))
    numbers = {key: _.number(row[key], digits) for key in row if str(key).startswith("error")}
    text = _(
        "The standard error {error} is made of {error_of_questions} of the questions and {error_of_repeats} of the "
        "repeats; twice the repeats would make it {error_twice_repeats}, twice the questions "
        "{error_twice_questions}.",
        **numbers,
    )
    return f"{asked} {text}"


def repeats_table(material: Material) -> list[Part]:
    """Every variance and standard error in its parts, folded; empty where nothing was asked twice."""
    _ = material.text
    variances = repeats_rows(material)
    if not variances:
        return []
    heads = [
        _("metric"), _("mean or difference"), _("variance of questions"), _("variance of repeats"), _("standard error"),
        _("of questions"), _("of repeats"), _("with twice the repeats"), _("with twice the questions"),
    ]  # fmt: skip
    keys = ("of_questions", "of_repeats", "error", "error_of_questions", "error_of_repeats", "error_twice_repeats",
            "error_twice_questions")  # fmt: skip
    body = [[shown(row["metric"]), _name(material, row), *(Number(row[key], 4) for key in keys)] for row in variances]
    note = _(
        "The score of a question is the mean over its repeats; questions are what is resampled and flipped, so "
        "both parts are in every interval. Variances are those of single repeats; the squares of the two parts of "
        "a standard error add up to its square. First failures, and the gain from a perfect part, are those of the "
        "first answers."
    )
    title = _("What questions and repeats add to the standard error")
    return [Section([Table.of(_, title, heads, body), Text(note, "rb-meta")], title)]


def _name(material: Material, row: Row) -> Phrase:
    name = named(material, row["system"])
    return (name, " − ", shown(row["baseline"])) if row["baseline"] else name


def facts(material: Material) -> list[Part]:
    """The line of facts under the answer."""
    _, known = material.text, material.facts
    rows: list[tuple[str, Any]] = [(_("data set"), known.get("dataset"))]
    if known.get("n_questions") is not None:
        rows.append((_("questions"), _.integer(int(known["n_questions"]))))
    rows += [
        (_("texts"), None if known.get("n_texts") is None else _.integer(int(known["n_texts"]))),
        (_("distance"), descriptions.distance_name(material) if known.get("distance") else None),
        (_("unit"), unit(material)),
        (_("baseline"), material.baseline),
        (_("seed"), known.get("seed")),
        (_("judge"), known.get("judge")),
        (_("commit"), short_commit(known.get("commit"))),
    ]
    line = terms([(name, shown(value)) for name, value in rows if value not in (None, "")], "rb-facts")
    broken = [Text(shown(text), "rb-standin") for text in gaps.raised_warnings(known, _)]
    broken += [
        Text(shown(text), "rb-standin") for text in gaps.unidentified_sentences(gaps.unidentified(known).values(), _)
    ]
    own = part_sentence(material)
    part = [Text(own, "rb-standin")] if own else []
    return [line, *part, *broken, *judges.incomplete(material), *standing_in(material)]


def short_commit(commit: Any) -> str | None:
    """The first seven signs, and the plus sign of a checkout with changes."""
    text = str(commit or "")
    return text[:7] + ("+" if text.endswith("+") else "") if text else None


def unit(material: Material) -> str | None:
    """The word for what is ranked."""
    _ = material.text
    named = material.facts.get("unit")
    return {"chunk": _("passage"), "url": _("web page")}.get(str(named), named)


def standing_in(material: Material) -> list[Part]:
    """The sentence on what only stands in for a model, none where nothing does; of runs also, whose replies may be
    another model's, or somebody's."""
    text = caveat(stand_ins.of(material.facts), material.text)
    said: list[Phrase] = (
        [(text, " ", judges.baseline(material)) if judges.stand_ins(material) else text] if text else []
    )
    said += map(shown, answered_by.warnings({"answered_by": material.facts.get("answered_by") or ()}, material.text))
    return [Text(sentence, "rb-standin") for sentence in said]


def told(_: Translator, facts: Mapping[str, Any] | None) -> str:
    """Who told the refusals, and how well the rule tells them; empty without facts (`refusals` of a measurement)."""
    if not facts:
        return ""
    if facts["by"] != "rule":
        return _(
            "Which answers are refusals the judge {judge} said, asked of each whole answer.", judge=clean(facts["by"])
        )
    return _(
        "Refusals are told by a rule over the words of the whole answer, not by a judge. Of {refusals} refusals that "
        "people labelled among {answers} English answers of {systems} systems, on which it was made, it finds {found} "
        "(recall {recall}); of {taken} answers that it takes for refusals {found} are (precision {precision}).",
        **{name: _.integer(int(facts[name])) for name in ("refusals", "answers", "systems", "found", "taken")},
        recall=_.number(float(facts["recall"])),
        precision=_.number(float(facts["precision"])),
    )


def part_sentence(material: Material) -> str:
    """One line on what of a measurement the page shows; empty for a page on all of it."""
    _, part = material.text, material.facts.get("part")
    if not part:
        return ""
    said = []
    if part["condition"]:
        counts = {"n": _.integer(part["n"]), "of": _.integer(part["of"])}
        said.append(_("A part of what was measured: {n} of {of} questions ({condition}).", **counts,
                      condition=part["condition"]))  # fmt: skip
    if part["systems"]:
        baseline, challenger = part["systems"]
        said.append(_("{challenger} against {baseline} alone, in families of their own.", challenger=challenger,
                      baseline=baseline))  # fmt: skip
    if part["left_out"]:
        words = _left_out(_)
        kinds = ", ".join(words.get(kind, kind) for kind in part["left_out"])
        said.append(_("Left out, because what is stored of single questions does not give it: {kinds}.", kinds=kinds))
    return " ".join(said)


def _left_out(_: Translator) -> Mapping[str, str]:
    return {
        "indexes": _("exact search against an index"),
        "lengths": _("lengths of answers"),
        "habits": _("how users ask"),
        "labels": _("what people's labels correct"),
        "blame": _("which part failed first"),
        "curves": _("curves over the depth of the ranking"),
        "people": _("correlations with people's ratings"),
    }

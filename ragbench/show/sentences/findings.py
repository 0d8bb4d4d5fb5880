"""The answer: a sentence for each challenger, taken from the paired comparison, and the facts it stands on."""

from __future__ import annotations

from markupsafe import Markup

from ragbench.bench.basics.verdicts import beside
from ragbench.counts import counted
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import shown
from ragbench.show.sentences import constants, descriptions
from ragbench.types import Comparison, Verdict

MANY = 4


def sentences(material: Material) -> list[Markup]:
    """One for each challenger; one for a system that stands alone; one that says so if nothing was measured."""
    _ = material.text
    metric = material.primary
    if metric is None:
        return [Markup("<p>{}</p>").format(_("Nothing was measured."))]
    if material.facts.get("describes"):
        return descriptions.sentences(material)
    if material.baseline is None:
        return [_alone(material, system, metric) for system in material.systems]
    looking = [name for name in material.challengers if not constants.is_constant(material, name)]
    return [
        constants.sentence(material, material.baseline),
        *(_challenger(material, name, metric) + constants.sentence(material, name) for name in looking),
    ]


def sentence(material: Material, challenger: str, metric: str) -> Markup:
    """`On mrr hnsw is better than ivfflat: +0.203 [+0.125, +0.280], p < 0.001.`"""
    _ = material.text
    comparison = material.comparison(challenger, metric)
    if comparison is None:
        return _.html(
            "<b>{challenger}</b> was not compared with {baseline} on {metric}.",
            challenger=shown(challenger),
            baseline=shown(material.baseline),
            metric=shown(metric),
        )
    texts = {
        Verdict.BETTER: _.html(
            "On {metric}, <b>{challenger}</b> is better than {baseline}: {difference}, p {p}.",
            **_places(material, comparison, metric),
        ),
        Verdict.WORSE: _.html(
            "On {metric}, <b>{challenger}</b> is worse than {baseline}: {difference}, p {p}.",
            **_places(material, comparison, metric),
        ),
        Verdict.SAME: _.html(
            "On {metric}, <b>{challenger}</b> and {baseline} are the same within ±{margin}: {difference}.",
            **_places(material, comparison, metric),
        ),
        Verdict.NOT_SHOWN: _.html(
            "On {metric}, a difference between <b>{challenger}</b> and {baseline} is not shown: {difference}, p {p}.",
            **_places(material, comparison, metric),
        ),
        Verdict.CANNOT_BE_SHOWN: _.html(
            "On {metric}, a difference between <b>{challenger}</b> and {baseline} {verdict}: {difference}, p {p}.",
            verdict=material.verdict(comparison),
            **_places(material, comparison, metric),
        ),
    }
    return texts[comparison.verdict]


def finding(material: Material) -> str:
    """The figure's title: what the verdicts add up to."""
    _ = material.text
    if material.baseline is None or not material.measurement.comparisons:
        return _("What was measured")
    if len(material.challengers) == 1:
        return _one_finding(material, material.challengers[0])
    leaders = [name for name in material.challengers if _count(material, name, Verdict.BETTER)]
    if not leaders:
        return _("No challenger is shown to be better than {baseline}", baseline=material.baseline)
    said = [
        _("{name} on {count}", name=name, count=_.integer(_count(material, name, Verdict.BETTER))) for name in leaders
    ]
    return _(
        "Better than {baseline}: {leaders} of {total} metrics",
        baseline=material.baseline,
        leaders=_.enumeration(said),
        total=_.integer(len(material.metrics)),
    )


def _one_finding(material: Material, challenger: str) -> str:
    _ = material.text
    better, worse = (_count(material, challenger, word) for word in (Verdict.BETTER, Verdict.WORSE))
    places = {
        "challenger": challenger,
        "baseline": material.baseline,
        "better": _.integer(better),
        "worse": _.integer(worse),
        "total": _.integer(len(material.verdicts(challenger))),
    }
    if better and worse:
        return _("{challenger} is better than {baseline} on {better}, worse on {worse} of {total} metrics", **places)
    if better:
        return _("{challenger} is better than {baseline} on {better} of {total} metrics", **places)
    if worse:
        return _("{challenger} is worse than {baseline} on {worse} of {total} metrics", **places)
    return _("No difference between {challenger} and {baseline} is shown", **places)


def _count(material: Material, challenger: str, verdict: Verdict) -> int:
    return sum(word is verdict for word in material.verdicts(challenger).values())


def _challenger(material: Material, challenger: str, metric: str) -> Markup:
    comparison = material.comparison(challenger, metric)
    more = []
    if comparison is not None and comparison.verdict.unshown:
        said = beside(comparison, material.text, material.digits(metric))
        if said:
            more.append("; ".join(said) + ".")
    tally = _tally(material, challenger)
    if tally:
        more.append(tally)
    text = Markup("<p>{}</p>").format(sentence(material, challenger, metric))
    return text + Markup("").join(Markup('<p class="rb-more">{}</p>').format(_capital(line)) for line in more)


def _tally(material: Material, challenger: str) -> str:
    """`Of 4 metrics: better on 3 (…), not shown on 1 (…).` Empty for a page of one metric."""
    _ = material.text
    verdicts = material.verdicts(challenger)
    if len(verdicts) < 2:
        return ""
    parts = []
    for verdict in Verdict:
        named = [shown(metric) for metric, word in verdicts.items() if word is verdict]
        if not named:
            continue
        text = _("{verdict} on {count}", verdict=material.verdict(verdict), count=_.integer(len(named)))
        listed = Markup(" ({})").format(Markup(", ").join(named)) if len(named) <= MANY else ""
        parts.append(Markup("{}{}").format(text, listed))
    whole = _.plural("Of {n} metric", "Of {n} metrics", len(verdicts))
    return Markup("{}: {}.").format(whole, Markup("; ").join(parts))


def _alone(material: Material, system: str, metric: str) -> Markup:
    _ = material.text
    estimate = material.estimate(system, metric)
    if estimate is None:
        return Markup("")
    text = _.html(
        "On {metric}, <b>{system}</b> reaches {value}.",
        metric=shown(metric),
        system=shown(system),
        value=Markup("{} ({})").format(
            _nobreak(material.value(estimate, metric)), counted(estimate, _, material.digits(metric))
        ),
    )
    more = _("Only one system was measured: nothing is compared here.") if len(material.systems) == 1 else ""
    return Markup('<p>{}</p><p class="rb-more">{}</p>').format(text, more)


def _places(material: Material, comparison: Comparison, metric: str) -> dict[str, object]:
    _ = material.text
    p = comparison.p if comparison.p_adjusted is None else comparison.p_adjusted
    return {
        "metric": shown(metric),
        "challenger": shown(comparison.challenger),
        "baseline": shown(comparison.baseline),
        "difference": _nobreak(material.difference(comparison, metric)),
        "p": _.p_value(p, relation=True),
        "margin": _.number(comparison.margin, material.digits(metric)),
    }


def _nobreak(text: str) -> Markup:
    return Markup('<span class="rb-number">{}</span>').format(text)


def _capital(text: str | Markup) -> str | Markup:
    return text[:1].upper() + text[1:]

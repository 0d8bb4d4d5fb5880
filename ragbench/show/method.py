"""What was done to the numbers, in sentences made from the settings that were used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.show.material import Material, listed
from ragbench.show.table import method_name
from ragbench.show.text import shown
from ragbench.types import Verdict


def draw(material: Material, present: frozenset[str]) -> Markup:
    """Sentences on intervals, tests, families and clusters, then the systems and the metrics in a folded list."""
    sentences = [*_intervals(material), *_tests(material), *_clusters(material)]
    text = Markup("<p>{}</p>").format(" ".join(sentences)) if sentences else Markup("")
    return text + _systems(material) + _metrics(material)


def _intervals(material: Material) -> list[str]:
    _ = material.text
    estimates = [e.estimate for e in material.measurement.estimates]
    if not estimates:
        return []
    plain = dict.fromkeys(method_name(material, e.method) for e in estimates if not e.note and e.low is not None)
    said = []
    resamples = material.facts.get("resamples")
    if plain:
        names = _.enumeration(list(plain))
        if resamples:
            text = _(
                "Intervals: {names}, {resamples} resamples, over questions.",
                names=names,
                resamples=_.integer(int(resamples)),
            )
        else:
            text = _("Intervals: {names}, over questions.", names=names)
        said.append(text)
    if any(e.note in ("few", "ceiling", "no_spread") for e in estimates):
        said.append(_("Where a bootstrap interval would be too narrow, Wilson's interval is printed and marked."))
    return said


def _tests(material: Material) -> list[str]:
    _ = material.text
    comparisons = [c.comparison for c in material.measurement.comparisons]
    if not comparisons:
        return []
    names = dict.fromkeys(test_name(material, c.test) for c in comparisons)
    said = [
        _("Differences are paired by question; p, two-sided: {names}.", names=_.enumeration(list(names))),
    ]
    corrected = sum(c.p_adjusted is not None for c in comparisons)
    if corrected:
        families = dict.fromkeys(c.family for c in comparisons if c.p_adjusted is not None)
        holm = all("holm" in family.lower() for family in families)
        said.append(
            _.plural(
                "p is corrected by Holm over {n} comparison of this page.",
                "p is corrected by Holm over the {n} comparisons of this page.",
                corrected,
            )
            if holm
            else _("p is corrected: {family}.", family=_.enumeration([f for f in families if f]) or _("by family"))
        )
    dropped = max(c.n_dropped for c in comparisons)
    if dropped:
        said.append(
            _.plural(
                "Up to {n} question fell out of a comparison because one side was not measured.",
                "Up to {n} questions fell out of a comparison because one side was not measured.",
                dropped,
            )
        )
    if any(c.verdict is Verdict.NOT_SHOWN for c in comparisons):
        said.append(
            _("“Not shown” is not “same”: the smallest difference that could have been shown stands beside it.")
        )
    return said


def test_name(material: Material, test: str) -> str:
    """The name of a test for people."""
    _ = material.text
    names = {
        "randomization": _("sign-flip randomization"),
        "sign_flip": _("sign-flip randomization"),
        "mcnemar": _("exact McNemar test"),
        "tukey": _("randomized Tukey test (max-T)"),
        "wilcoxon": _("Wilcoxon signed-rank test"),
        "sign": _("sign test"),
    }
    return names.get(test.lower().replace("-", "_").replace(" ", "_"), test)


def _clusters(material: Material) -> list[str]:
    _ = material.text
    clustered = [e.estimate for e in material.measurement.estimates if e.estimate.clusters]
    if not clustered:
        return []
    groups = max(e.clusters or 0 for e in clustered)
    said = [
        _.plural(
            "Questions are resampled in whole groups, because those of one group are not independent ({n} group).",
            "Questions are resampled in whole groups, because those of one group are not independent ({n} groups).",
            groups,
        )
    ]
    effects = [e.design_effect for e in clustered if e.design_effect is not None]
    if effects:
        said.append(
            _(
                "Design effect: {low} to {high}.",
                low=_.number(min(effects), 2),
                high=_.number(max(effects), 2),
            )
        )
    if groups < 20:
        said.append(_("Fewer than 20 groups: read every interval with care."))
    return said


def _systems(material: Material) -> Markup:
    _ = material.text
    described = [s for s in material.facts.get("systems", ()) if isinstance(s, Mapping) and s.get("name")]
    rows = Markup("").join(
        Markup("<dt>{}</dt><dd>{}</dd>").format(shown(s["name"]), _description(s)) for s in described if len(s) > 1
    )
    return Markup('<dl class="rb-glossary">{}</dl>').format(rows) if rows else Markup("")


def _description(system: Mapping[str, Any]) -> Markup:
    more = [
        f"{key} {value}" for key, value in system.items() if key not in ("name", "description") and value is not None
    ]
    return Markup("; ").join(shown(text, 300) for text in [system.get("description"), *more] if text)


def _metrics(material: Material) -> Markup:
    _ = material.text
    items = []
    named: dict[str, Any] = {}
    for metric in material.metrics:
        declared = material.declaration(metric)
        if declared is not None:
            named.setdefault(declared.name, declared)
    for name, declared in named.items():
        items.append(
            Markup("<b>{}</b> {} <small>{}</small>").format(shown(name), _(declared.summary), _(declared.source))
        )
    if not items:
        return Markup("")
    return Markup('<details class="rb-fold"><summary>{}</summary><ul class="rb-glossary">{}</ul></details>').format(
        _("What the metrics mean"), listed(items)
    )

"""Several judges and several embedders side by side, and what could not be measured with what it may hide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ragbench.core.counts import counted
from ragbench.core.language import DASH
from ragbench.core.measurement import NamedEstimate
from ragbench.core.types import Estimate
from ragbench.tiers.basics.reasons import statuses as in_words
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.marks import named, small, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import shown
from ragbench.views.comparison.verdict_table import unmeasured as lacking
from ragbench.views.items.judgements import reason, stored
from ragbench.views.items.judgements import rows as judgements
from ragbench.views.sentences import judges
from ragbench.views.view import view


@view("side_by_side")
def side_by_side(material: Material, present: frozenset[str]) -> Markup:
    """Each judge's and each embedder's own means; empty where there is one of each."""
    _ = material.text
    titles = {"judge": _("The judges, each by itself"), "embedder": _("The embedders, each by itself")}
    parts = []
    for kind, title in titles.items():
        own = material.measurement.estimates_by(kind)
        if own:
            parts += [html.heading(title), _table(material, title, kind, own)]
            notes = judges.uneven(material) if kind == "judge" else []
            parts += [html.warning(line) for line in notes]
    return html.all(*parts)


def _table(material: Material, label: str, kind: str, rows: Sequence[NamedEstimate]) -> Markup:
    """One row a system and metric, one column a judge, and what they come to."""
    _ = material.text
    names = list(dict.fromkeys(str(row.where[kind]) for row in rows))
    notes = Notes(material, f"side-note-{kind}")
    together = _("together")
    several = len(material.systems) > 1
    heads = [html.head(_("metric"))]
    heads += [html.head(_("system"), "rb-word")] if several else []
    heads += [html.head(shown(name), "rb-name") for name in names]
    heads.append(html.head(together))
    made = []
    for metric, system in dict.fromkeys((row.metric, row.system) for row in rows):
        line = [html.row_head(shown(metric))]
        line += [html.cell(_("system"), named(material, system), "rb-word")] if several else []
        for name in names:
            estimate = material.estimate(system, metric, **{kind: name})
            line.append(html.cell(shown(name), _value(material, metric, estimate, notes)))
        line.append(html.cell(together, _value(material, metric, material.estimate(system, metric), notes)))
        made.append(html.row(line))
    return html.table(label, heads, made) + notes.html()


def _value(material: Material, metric: str, estimate: Estimate | None, notes: Notes) -> Markup:
    if estimate is None:
        return Markup("{}").format(DASH)
    content = spread(material.value(estimate, metric)) + notes.mark(estimate)
    return content + small(counted(estimate, material.text, material.digits(metric)))


@view("unmeasured")
def unmeasured(material: Material, present: frozenset[str]) -> Markup:
    """What could not be measured, why, and the means with all of it at the worst and at the best end."""
    _ = material.text
    if not lacking(material):
        return html.p(_("Every metric was measured on every answer."))
    several = len(material.systems) > 1
    heads: list[str | tuple[str, str]] = [_("metric"), *([(_("system"), "rb-word")] if several else ()),
             _("unmeasured"), (_("why"), "rb-word"), _("mean of the measured"),
             _("if all of them were the worst or the best")]  # fmt: skip
    why = _reasons(material)
    made = []
    for each in material.measurement.estimates:
        if not each.estimate.n_unmeasured:
            continue
        total = each.estimate.n + each.estimate.n_unmeasured
        count = _("{part} of {whole}", part=_.integer(each.estimate.n_unmeasured), whole=_.integer(total))
        made.append(
            [
                shown(each.metric),
                *([named(material, each.system)] if several else ()),
                count,
                why.get((each.system, each.metric), ""),
                spread(material.value(each.estimate, each.metric)),
                _ends(material, each.metric, each.estimate),
            ]
        )
    return html.grid(_("What could not be measured"), heads, made)


def _ends(material: Material, metric: str, estimate: Estimate) -> Markup:
    """The means with every unmeasured value at the worst and at the best end."""
    if estimate.floor is None or estimate.ceiling is None:
        return Markup("{}").format(DASH)
    ends = (estimate.floor, estimate.ceiling)
    worst, best = reversed(ends) if material.lower_is_better(metric) else ends
    digits, number = material.digits(metric), material.text.number
    return html.number(f"{number(worst, digits)} … {number(best, digits)}")


def _absent(material: Material) -> Iterator[tuple[str, str, str, str, int]]:
    """System, metric, status and reason of what could not be measured, and how often; not each judge's of a page that
    lists some of its questions, and keeps judgements of those alone."""
    if "listed" not in material.measurement.questions:
        for (system, _sample), lines in judgements(material).items():
            for line in lines:
                if line["status"] != "ok":
                    why = reason(material, line["reason"], stored(line["detail"]))
                    yield system, str(line["metric"]), str(line["status"]), why, 1
        return
    scores = material.measurement.scores
    named = ["system", "metric", "status", "reason"]
    lost = scores.loc[scores["status"] != "ok", named].value_counts(sort=False).reset_index()
    for system, metric, status, why, number in lost.itertuples(index=False, name=None):
        yield str(system), str(metric), str(status), reason(material, why, {}), int(number)


def _reasons(material: Material) -> dict[tuple[str, str], Markup]:
    """Each status with how often it came, by system and metric; the commonest reason in words."""
    _ = material.text
    statuses: dict[tuple[str, str], Counter[str]] = {}
    words: dict[tuple[str, str], Counter[str]] = {}
    for system, metric, status, why, number in _absent(material):
        statuses.setdefault((system, metric), Counter())[status] += number
        words.setdefault((system, metric), Counter())[why] += number
    for set_score in material.facts.get("sets", ()):
        place = (str(set_score["system"]), str(set_score["metric"]))
        if set_score["status"] != "ok":
            estimate = material.estimate(*place)
            statuses.setdefault(place, Counter())[set_score["status"]] += estimate.n_unmeasured if estimate else 1
            words.setdefault(place, Counter())[set_score["reason"]] += 1
        elif set_score["lacking"]:
            statuses.setdefault(place, Counter())["missing_field"] += int(set_score["lacking"])
            words.setdefault(place, Counter())[_("in no set: a field that the metric needs is missing")] += 1
    cells = {}
    for place, given in statuses.items():
        known = in_words(_)
        named = Markup(", ").join(
            html.all(html.titled(known.get(status, status), shown(status)), ": ", _.integer(n))
            for status, n in sorted(given.items())
        )
        common = min(words[place].items(), key=lambda each: (-each[1], each[0]))[0]
        cells[place] = html.beside(named, shown(common, 300))
    return cells

"""Several judges and several embedders side by side, and what could not be measured with what it may hide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ragbench.core.counts import counted
from ragbench.core.measurement import NamedEstimate
from ragbench.core.parts import Column, Content, Phrase, Styled, Table, Text, joined, small
from ragbench.core.types import Estimate
from ragbench.tiers.basics.verdicts import statuses as in_words
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.judgements import reason, stored
from ragbench.views.basics.judgements import rows as judgements
from ragbench.views.basics.marks import measured, named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences import judges
from ragbench.views.view import view


@view("side_by_side")
def side_by_side(material: Material, present: frozenset[str]) -> Content:
    """Each judge's and each embedder's own means; empty where there is one of each."""
    _ = material.text
    titles = {"judge": _("The judges, each by itself"), "embedder": _("The embedders, each by itself")}
    parts = list[Content]()
    for kind, title in titles.items():
        own = material.measurement.estimates_by(kind)
        if own:
            parts += [Text(title, "h3"), _table(material, title, kind, own)]
            notes = judges.uneven(material) if kind == "judge" else []
            parts += [Text(line, "rb-standin") for line in notes]
    return parts


def _table(material: Material, label: str, kind: str, rows: Sequence[NamedEstimate]) -> Content:
    """One row a system and metric, one column a judge, and what they come to."""
    _ = material.text
    names = list(dict.fromkeys(str(row.where[kind]) for row in rows))
    notes = Notes(material, f"side-note-{kind}")
    several = len(material.systems) > 1
    columns = [Column(_("metric")), *([Column(_("system"), look="rb-word")] if several else [])]
    columns += [Column(clean(name), "interval", head="rb-name") for name in names]
    columns.append(Column(_("together"), "interval"))
    made = []
    for metric, system in dict.fromkeys((row.metric, row.system) for row in rows):
        each = [material.estimate(system, metric, **{kind: name}) for name in names]
        whole = material.estimate(system, metric)
        values = [_value(material, metric, estimate, notes) for estimate in (*each, whole)]
        made.append((shown(metric), *([named(material, system)] if several else []), *values))
    return (Table(tuple(columns), tuple(made), label, language=_.language), notes.parts())


def _value(material: Material, metric: str, estimate: Estimate | None, notes: Notes) -> Phrase | None:
    if estimate is None:
        return None
    counts = small(counted(estimate, material.text, material.digits(metric)))
    return (measured(material, estimate, metric), notes.mark(estimate), counts)


@view("unmeasured")
def unmeasured(material: Material, present: frozenset[str]) -> Content:
    """What could not be measured, why, and the means with all of it at the worst and at the best end."""
    _ = material.text
    if not material.unmeasured:
        return Text(_("Every metric was measured on every answer."))
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
                measured(material, each.estimate, each.metric),
                _ends(material, each.metric, each.estimate),
            ]
        )
    return Table.of(_, _("What could not be measured"), heads, made)


def _ends(material: Material, metric: str, estimate: Estimate) -> Phrase | None:
    """The means with every unmeasured value at the worst and at the best end."""
    if estimate.floor is None or estimate.ceiling is None:
        return None
    ends = (estimate.floor, estimate.ceiling)
    worst, best = reversed(ends) if material.lower_is_better(metric) else ends
    digits, number = material.digits(metric), material.text.number
    return f"{number(worst, digits)} … {number(best, digits)}"


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


def _reasons(material: Material) -> dict[tuple[str, str], Phrase]:
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
    cells = dict[tuple[str, str], Phrase]()
    for place, given in statuses.items():
        known = in_words(_)
        named = joined(
            ", ",
            [(Styled(known.get(status, status), title=shown(status)), ": ", n) for status, n in sorted(given.items())],
        )
        common = min(words[place].items(), key=lambda each: (-each[1], each[0]))[0]
        cells[place] = (named, " ", Styled(shown(common, 300), "small"))
    return cells

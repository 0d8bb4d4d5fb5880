"""Answers besides their scores: who wrote and judged them from what, how long they are and took, refusals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from ragbench.old.core.gaps import counted
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.parts import (
    Column,
    Content,
    Entries,
    Item,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    Value,
    bold,
    filled,
    joined,
    small,
)
from ragbench.old.core.types import Estimate
from ragbench.old.tiers.basics.verdict_tables import statuses as in_words
from ragbench.old.views.basics.differences import Notes
from ragbench.old.views.basics.marks import measured, milliseconds, named, one_by_one
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import reason, stored
from ragbench.old.views.basics.side_tables import rows as judgements
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.sentences import conclusions
from ragbench.old.views.sentences.judges import answered, said, uneven
from ragbench.old.views.view import view

ANSWER = 400  # characters of an answer in a list
Row = Mapping[Any, Any]


@view("writers")
def writers(material: Material, present: frozenset[str]) -> Content:
    """Who answered, from what, what a limit on the context cut, what failed."""
    generators: Mapping[str, Any] = material.facts.get("generators", {})
    if not generators:
        return ()
    lines: list[Phrase] = [_context(material), *_writer_lines(material, generators), *_left_out(material)]
    lines += answered(material, "generator", "alias")
    return (
        Text(material.text("Who answered, and from what"), "h2"),
        [Text(line, "rb-standin") for line in answered(material, "generator", "other")],
        Entries([line for line in lines if line], "rb-notes"),
    )


def _context(material: Material) -> str:
    """What answers were written from, and the stated limit."""
    _, known = material.text, material.facts
    if all(generator.get("own") for generator in known.get("generators", {}).values()):
        return ""
    limit = known.get("length_limit")
    source = {
        "ideal": _(
            "Every answer was written from all passages that are marked as relevant to its question, highest grade "
            "first."
        ),
        "none": _("Every answer was written without any passage, to see what is known by heart."),
        "retrieved": _read(material),
    }.get(str(known.get("context")), "")
    stated = _("No limit was set on their length.")
    if limit is not None:
        stated = _.plural(
            "At most {n} character of them was given.", "At most {n} characters of them were given.", limit
        )
    return f"{source} {stated}"


def _read(material: Material) -> str:
    """How many of the retrieved passages were read, against what the specification reads."""
    _, number = material.text, int(material.facts.get("contexts", 0))
    if number == 1:
        return _("Every answer was written from the first retrieved passage alone, as in the specification.")
    said = _.plural(
        "Every answer was written from the first {n} retrieved passage.",
        "Every answer was written from the first {n} retrieved passages.",
        number,
    )
    rule = _(
        "The specification takes the first alone (contexts = 1): numbers of the two are not to be set against each "
        "other."
    )
    return f"{said} {rule}"


def _writer_lines(material: Material, generators: Mapping[str, Any]) -> Iterable[Phrase]:
    _ = material.text
    for system, generator in generators.items():
        said: list[Phrase] = [_who(material, system, generator), _cut(material, system, generator)]
        said += [_failures(material, system), _silent(material, system)]
        same = material.facts.get("shared", {}).get(system, ())
        if same:
            others = _.enumeration([clean(name) for name in same])
            said.append(_("Would answer alike, with the same generator: {others}.", others=others))
        yield joined(" ", said)


def _who(material: Material, system: str, generator: Mapping[str, Any]) -> Phrase:
    _ = material.text
    places: dict[str, Phrase] = {
        "system": named(material, system),
        "name": shown(generator.get("name")),
        "model": shown(generator.get("model")),
    }
    if generator.get("own"):
        return filled(_("<b>{system}</b> gave its own answers; they were taken as they are."), **places)
    if generator.get("kind") == "extractive":
        count = int(generator.get("sentences", 1))
        picked = _.plural(
            "an offline stand-in that picks the {n} sentence of the passages nearest to the question, and refuses "
            "where none fits",
            "an offline stand-in that picks up to {n} sentences of the passages nearest to the question, and refuses "
            "where none fits",
            count,
        )
        return (bold(places["system"]), ": ", places["name"], f", {picked}.")
    if generator.get("kind") == "openai":
        return filled(
            _("<b>{system}</b>: {name}, the model {model}, prompt {prompt}."),
            **places,
            prompt=shown(generator.get("prompt")),
        )
    if generator.get("kind") == "http":
        return filled(
            _("<b>{system}</b>: the service {url}, which was given the passages."),
            **places,
            url=shown(generator.get("url")),
        )
    return filled(_("<b>{system}</b>: {name}, your function {path}."), **places, path=shown(generator.get("callable")))


def _cut(material: Material, system: str, generator: Mapping[str, Any]) -> str:
    """What a limit cost this system; nothing where nothing was cut."""
    _ = material.text
    cut = material.facts.get("cut", {}).get(system, {})
    own = generator.get("max_context_characters")
    limit = "" if own is None else _("Its own limit is {n} characters of passages.", n=_.integer(int(own)))
    if not cut.get("answers"):
        return f"{limit} {_('Nothing was cut.')}" if own is not None or material.facts.get("length_limit") else ""
    text = _.plural(
        "{n} answer was written from less than there was; passages shortened or left out: {contexts}, characters lost: "
        "{characters}.",
        "{n} answers were written from less than there was; passages shortened or left out: {contexts}, characters "
        "lost: {characters}.",
        int(cut["answers"]),
        contexts=_.integer(int(cut["contexts"])),
        characters=_.integer(int(cut["characters"])),
    )
    return f"{limit} {text}".strip()


def _failures(material: Material, system: str) -> str:
    _ = material.text
    failed = material.facts.get("failed", {}).get(system, {})
    if not failed:
        return ""
    listed = ", ".join(f"{status} {_.integer(int(n))}" for status, n in failed.items())
    return _.plural(
        "{n} answer failed and is unmeasured, not 0: {statuses}.",
        "{n} answers failed and are unmeasured, not 0: {statuses}.",
        sum(int(n) for n in failed.values()),
        statuses=listed,
    )


def _silent(material: Material, system: str) -> str:
    _ = material.text
    count = int(material.facts.get("empty", {}).get(system, 0))
    if not count:
        return ""
    return _.plural(
        "{n} answer is empty: held against a reference it is worth nothing.",
        "{n} answers are empty: held against a reference they are worth nothing.",
        count,
    )


def _left_out(material: Material) -> Iterable[Phrase]:
    _ = material.text
    for system in material.facts.get("left_out_systems", {}):
        yield filled(
            _(
                "<b>{system}</b> is not measured here: it answers by itself and cannot be given a context. A service "
                "can where its body names the slot {slot}, a function by a parameter called contexts."
            ),
            slot="{contexts}",
            system=shown(system),
        )


@view("lengths")
def lengths(material: Material, present: frozenset[str]) -> Content:
    """How long answers, references and contexts are; tokens where a model wrote."""
    table = material.measurement.estimates_by("of", "probability")
    if not table:
        return ()
    _ = material.text
    names = {
        "answer": _("words in an answer that is no refusal"),
        "reference": _("words in a reference"),
        "contexts": _("words in the passages given"),
        "input_tokens": _("tokens read"),
        "output_tokens": _("tokens written"),
    }
    made = quantiles(material, table, "of", names, _("words and tokens"), _number)
    told = Text(conclusions.told(_, material.facts.get("refusals")), "rb-meta")
    return (Text(filled(_("<b>How long answers are</b>")), "h3"), made, told)


def quantiles(
    material: Material,
    rows: Sequence[NamedEstimate],
    part: str,
    names: Mapping[str, str],
    title: str,
    value: Callable[[float, float | None, float | None], Value | None],
) -> Content:
    """A table of quantiles, a row a part under each system, a column a probability."""
    _ = material.text
    probabilities = sorted({float(row.where["probability"]) for row in rows})
    titles = [_("median") if p == 0.5 else _("{share} are no greater", share=_.percent(p)) for p in probabilities]
    heads = [title, *titles, _("n")]
    by_part: dict[tuple[str, str], dict[float, Estimate]] = {}
    for row in rows:
        by_part.setdefault((row.system, str(row.where[part])), {})[float(row.where["probability"])] = row.estimate
    made = []
    for (system, what), by in by_part.items():
        values = [value(by[p].value, by[p].low, by[p].high) if p in by else None for p in probabilities]
        count = next(iter(by.values())).n
        made.append((named(material, system), [names.get(what, what), *values, count]))
    said = _("Quantiles with {level} order-statistic intervals.", level=_.percent(rows[0].estimate.level))
    return (Table.grouped(_, title, heads, made), Text(said, "rb-meta"))


def _number(value: float, low: float | None, high: float | None) -> Value:
    return Value(value, low, high, digits=0)


@view("refusals")
def refusals(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """How often each system refused, rightly or wrongly, with `count` examples of each at most."""
    estimates = material.measurement.estimates_by("group")
    if not estimates:
        return ()
    _ = material.text
    notes = Notes(material, "refusal-note")
    share = _("share, {level} interval", level=_.percent(estimates[0].estimate.level))
    heads = [_("questions"), _("refused"), share, _("n"), _("failed")]
    rows = [
        [(named(material, estimate.system), _refusal_row(material, estimate, notes)) for estimate in own]
        for _system, own in groupby(estimates, key=lambda estimate: estimate.system)
    ]
    lede = _(
        "An answer counts as a refusal when it says, taken as a whole, that there is no answer. Refusing is right "
        "where the base holds no answer, and wrong where it does."
    )
    lede = " ".join(filter(None, [lede, conclusions.told(_, material.facts.get("refusals"))]))
    if material.facts.get("context") == "ideal":
        lede += " " + _("Questions that the base holds no answer to were asked without a passage.")
    return (
        Text(filled(_("<b>Refusals</b>")), "h3"),
        Text(lede, "rb-lede"),
        one_by_one(_, rows, lambda some: [Table.grouped(_, _("Refusals"), heads, chain(*some))]),
        notes.parts(),
        _examples(material, count),
    )


def _refusal_row(material: Material, estimate: NamedEstimate, notes: Notes) -> list[Any]:
    _, e = material.text, estimate.estimate
    unanswerable = estimate.where["group"] == "unanswerable"
    return [
        _("the base holds no answer") if unanswerable else _("the base holds the answer"),
        round(e.value * e.n) if e.n else 0,
        (Value.of(e), notes.mark(e)) if math.isfinite(e.value) else None,
        e.n + e.n_unmeasured,
        e.n_unmeasured,
    ]


def _examples(material: Material, count: int) -> Content:
    """For each system the first wrong refusals, and the first answers to what cannot be answered."""
    _ = material.text
    table = material.kept("answers")
    table = table[(table["repeat"] == 0) & (table["status"] == "ok")]
    blocks = list[Content]()
    for system in dict.fromkeys(table["system"]):
        said = []
        own = table[table["system"] == system].to_dict("records")
        unanswerable = {name for name, row in material.question_rows.items() if row.get("answerable") is False}
        wrong = [row for row in own if row["refused"] and row["sample"] not in unanswerable]
        invented = [row for row in own if row["refused"] is False and row["response"] and row["sample"] in unanswerable]
        for rows, title in (
            (wrong, filled(_("<b>{system}</b> refused although there is an answer"), system=shown(system))),
            (invented, filled(_("<b>{system}</b> answered although the base holds no answer"), system=shown(system))),
        ):
            if rows:
                examples = Entries([_example(material, row) for row in rows[:count]], "rb-hits")
                said.append(Section([examples], (title, " · ", len(rows))))
        blocks += [said] if said else []
    return one_by_one(_, blocks)


def _example(material: Material, row: Row) -> Item:
    """The question, what was answered, and what the reference says."""
    question = material.question_rows.get(str(row["sample"]), {})
    reference = shown(question.get("reference"), ANSWER)
    place = anchor(f"refusal{material.systems.index(row['system'])}", str(row["sample"]))
    made = [
        Text(bold(shown(question.get("text") or row["sample"], ANSWER))),
        Text(shown(row["response"], ANSWER)),
        *([Text((material.text("Reference"), ": ", reference), "rb-meta")] if reference else []),
    ]
    return Item(made, anchor=place)


OPEN = "…"


@view("stages")
def stages(material: Material, present: frozenset[str]) -> Content:
    """Latency by stage: embed, search, write, judge; empty where none was measured."""
    table = material.measurement.estimates_by("stage", "probability")
    if not table:
        return ()
    _ = material.text
    names = {
        "rewrite": _("rewriting the question"),
        "embed": _("embedding the question"),
        "search": _("searching"),
        "rerank": _("reranking the first passages"),
        "call": _("the whole call of the system"),
        "first_token": _("part of it, up to the first piece of the answer"),
        "generate": _("writing the answer"),
        "answer": _("all up to the answer"),
        "judge": _("judging it (not part of the answer)"),
    }
    lede = _(
        "Each stage is timed by itself: search one question at a time, models by what their endpoint took, logged "
        "answers by their log. Readings are taken once for the same inputs and kept, so that the same inputs give the "
        "same page."
    )
    drawn = quantiles(material, table, "stage", names, _("milliseconds"), milliseconds)
    return (Text(_("Where the time goes"), "h2"), Text(lede, "rb-lede"), drawn)


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
            notes = uneven(material) if kind == "judge" else []
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


@view("judges")
def judges(material: Material, present: frozenset[str]) -> Content:
    """Who judged, how often each gave no score, what its replies took, and how much each sways a panel."""
    return said(material)

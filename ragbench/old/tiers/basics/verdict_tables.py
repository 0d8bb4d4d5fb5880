"""Verdicts in words, and estimates, comparisons and reasons as tables: one place for pages, terminals and notebooks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragbench.old.core.gaps import brackets, missing
from ragbench.old.core.language import Translator
from ragbench.old.core.parts import Column, P, Phrase, Table, Value, filled, spoken
from ragbench.old.core.settings.secrets import Mask, excerpt, masker
from ragbench.old.core.types import BY_CONSTRUCTION, Comparison, Estimate, Status, Verdict
from ragbench.old.core.types.reason import Reason, parts, read
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.basics.findings import merged
from ragbench.old.tiers.basics.findings import said as family_said


def word(verdict: Verdict, _: Translator) -> str:
    """The verdict's word alone."""
    words = {
        Verdict.BETTER: _("better"),
        Verdict.SLIGHTLY_BETTER: _("better, by less than matters"),
        Verdict.WORSE: _("worse"),
        Verdict.SLIGHTLY_WORSE: _("worse, by less than matters"),
        Verdict.SAME: _("same"),
        Verdict.NOT_SHOWN: _("not shown"),
        Verdict.CANNOT_BE_SHOWN: _("cannot be shown"),
        Verdict.CANNOT_BE_TOLD: _("cannot be told"),
    }
    return words[verdict]


def said(comparison: Comparison, _: Translator) -> str:
    """The verdict of a comparison; where nothing can be shown, with how many groups, or questions, that is so; where it
    is withheld, with the reason."""
    return said_of(comparison.verdict, comparison.n, comparison.clusters, _, comparison.withheld)


def said_of(verdict: Verdict, n: int, clusters: int | None, _: Translator, withheld: str = "") -> str:
    """The same for a verdict whose comparison is known only by its pairs and groups."""
    if verdict is Verdict.CANNOT_BE_TOLD and withheld:
        return _("cannot be told: {reason}", reason=reason_in(withheld, _))
    if verdict is not Verdict.CANNOT_BE_SHOWN:
        return word(verdict, _)
    if clusters is None:
        return _.plural("cannot be shown with {n} question", "cannot be shown with {n} questions", n)
    return _.plural("cannot be shown with {n} group", "cannot be shown with {n} groups", clusters)


def exact(estimate: Estimate, _: Translator) -> str:
    """That a number could not have been otherwise, where its interval would stand; else empty."""
    return _("by construction") if estimate.note == BY_CONSTRUCTION else ""


def is_equal(comparison: Comparison) -> bool:
    """Whether both sides have the same value at every question that both measured, of one or more."""
    corrected = comparison.method in ("prediction_powered", "people")
    return comparison.difference == 0 and comparison.note == "no_spread" and not corrected and not comparison.withheld


def equal(known: Iterable[Comparison], _: Translator) -> str:
    """That all of these are equal, and on how many questions; empty where one is not, and where there is none."""
    comparisons = list(known)
    if not comparisons or not all(map(is_equal, comparisons)):
        return ""
    counts = [comparison.n for comparison in comparisons]
    metrics = _.plural("{n} metric is equal", "all {n} metrics are equal", len(comparisons))
    if min(counts) == max(counts):
        return _.plural("{metrics} on {n} question", "{metrics} on all {n} questions", counts[0], metrics=metrics)
    few, many = _.integer(min(counts)), _.integer(max(counts))
    return _("{metrics} on every question that both measured, {few} to {many}", metrics=metrics, few=few, many=many)


def needed(comparison: Comparison, _: Translator) -> str:
    """How many groups, or questions, the family of a comparison needs before anything can be shown; empty if it can."""
    if comparison.groups_needed is None:
        return ""
    if comparison.clusters is None:
        return _.plural(
            "{n} question or more is needed before a difference can be shown",
            "{n} questions or more are needed before a difference can be shown",
            comparison.groups_needed,
        )
    return _.plural(
        "{n} independent group or more is needed before a difference can be shown",
        "{n} independent groups or more are needed before a difference can be shown",
        comparison.groups_needed,
    )


def beside(comparison: Comparison, _: Translator, digits: int) -> list[str]:
    """What is said beside the verdict of a comparison; empty where the word says it all.

    Of a verdict that leaves it open: what could have been shown, and how many questions show a difference that matters;
    of `same`: within which margin; of one that says something, why its test may err more often than it says; of any,
    what unmeasured pairs leave open. digits: decimals of the metric's numbers.
    """
    notes = [text for text in [doubted(comparison, _), lacking(comparison, _, digits), needed(comparison, _)] if text]
    if comparison.verdict is Verdict.SAME and comparison.margin is not None:
        return [_("the same within ±{margin}", margin=_.number(comparison.margin, digits)), *notes]
    if not comparison.verdict.unshown:
        return notes
    notes += [text for text in [beyond(comparison, _)] if text]
    if comparison.minimum_detectable is not None and comparison.method in ("prediction_powered", "people"):
        notes.append(
            _.plural(
                "with {n} labelled question, a difference of {difference} or more would have been shown",
                "with {n} labelled questions, a difference of {difference} or more would have been shown",
                comparison.n,
                difference=_.number(comparison.minimum_detectable, digits),
            )
        )
    elif comparison.minimum_detectable is not None:
        notes.append(
            _.plural(
                "with {n} question, a difference of {difference} or more would have been shown",
                "with {n} questions, a difference of {difference} or more would have been shown",
                comparison.n,
                difference=_.number(comparison.minimum_detectable, digits),
            )
        )
    return notes + [text for text in [planned(comparison, _)] if text]


def doubted(figure: Comparison | Estimate, _: Translator) -> str:
    """Why a word that says something, or an interval, may be wrong more often than its level says; empty where nothing
    tells so."""
    if not figure.doubt or (isinstance(figure, Comparison) and figure.verdict.unshown):
        return ""
    reasons = _.enumeration([reason_in(reason, _) for reason in parts(figure.doubt)])
    if isinstance(figure, Estimate):
        return _("{reasons}: the interval may miss the true value twice as often as it says", reasons=reasons)
    return _("{reasons}: the test may err twice as often as it says", reasons=reasons)


def beyond(comparison: Comparison, _: Translator) -> str:
    """That no difference which the scale has room for would have been shown; empty where one would."""
    if not comparison.beyond_scale:
        return ""
    if comparison.clusters is None:
        return _.plural(
            "a difference that would have been shown is more than this scale can show with {n} question",
            "a difference that would have been shown is more than this scale can show with {n} questions",
            comparison.n,
        )
    return _.plural(
        "a difference that would have been shown is more than this scale can show with {n} group",
        "a difference that would have been shown is more than this scale can show with {n} groups",
        comparison.clusters,
    )


def lacking(comparison: Comparison, _: Translator, digits: int) -> str:
    """Between which ends the difference lies over all pairs, where some are unmeasured, or beyond which one where its
    scale is open; that they are in no number where no end speaks against the word. Empty where nothing is missing."""
    if not comparison.n_dropped or not comparison.n:
        return ""
    if comparison.least is not None and comparison.most is not None:
        ends = {
            "least": _.number(comparison.least, digits, signed=True),
            "most": _.number(comparison.most, digits, signed=True),
        }
        if (
            comparison.verdict is Verdict.CANNOT_BE_TOLD
            and comparison.least * comparison.most > 0
            and comparison.p_worst is not None
        ):
            return _(
                "with what is unmeasured, the difference lies between {least} and {most}; at the end nearer to 0 it is "
                "not shown ({p})",
                p=_.p_value(comparison.p_worst, relation=True),
                **ends,
            )
        return _("with what is unmeasured, the difference lies between {least} and {most}", **ends)
    if comparison.p_worst is not None and comparison.least is not None:
        return _(
            "with what is unmeasured, the difference is at least {least}",
            least=_.number(comparison.least, digits, signed=True),
        )
    if comparison.p_worst is not None and comparison.most is not None:
        return _(
            "with what is unmeasured, the difference is at most {most}",
            most=_.number(comparison.most, digits, signed=True),
        )
    if comparison.width is not None or comparison.verdict.unshown:
        return ""
    return _.plural(
        "{n} unmeasured pair, on a scale without ends, could say otherwise",
        "{n} unmeasured pairs, on a scale without ends, could say otherwise",
        comparison.n_dropped,
    )


def planned(comparison: Comparison, _: Translator) -> str:
    """How many questions, or groups, the smallest difference of interest needs; empty where that is not known."""
    groups = groups_planned(comparison)
    if groups is None:
        return planned_of(comparison.margin, comparison.questions_needed, comparison.n, _)
    assert comparison.questions_needed is not None, "groups were planned"
    assert comparison.clusters is not None, "groups were planned"
    if groups <= comparison.clusters:
        return planned_of(comparison.margin, comparison.questions_needed, comparison.n, _)
    return _.plural(
        "to show the smallest difference of interest, {margin}, about {n} independent group is needed ({questions}); "
        "there were {present}",
        "to show the smallest difference of interest, {margin}, about {n} independent groups are needed ({questions}); "
        "there were {present}",
        groups,
        margin=_.exact(comparison.margin),
        questions=_.plural("{n} question", "{n} questions", comparison.questions_needed),
        present=_.integer(comparison.clusters),
    )


def planned_of(margin: float | None, needed: int | None, n: int, _: Translator) -> str:
    """The same of a comparison that is known only by its numbers: the questions needed, and those there were."""
    if margin is None or needed is None:
        return ""
    if needed <= n:
        return _("the smallest difference of interest, {margin}, would likely have been shown", margin=_.exact(margin))
    return _.plural(
        "to show the smallest difference of interest, {margin}, about {n} question is needed; there were {present}",
        "to show the smallest difference of interest, {margin}, about {n} questions are needed; there were {present}",
        needed,
        margin=_.exact(margin),
        present=_.integer(n),
    )


def decision(distance: float | None, needed: int | None, n: int, _: Translator) -> str:
    """How many questions decide a condition on a number that lies so far from its limit; see `tiers.run.gates`.

    Empty where that is not known.
    """
    if not distance or not needed:
        return ""
    if needed <= n:
        return _(
            "so many questions would likely decide it for a value {distance} from the limit", distance=_.exact(distance)
        )
    return _.plural(
        "for a value {distance} from the limit, about {n} question decides; there were {present}",
        "for a value {distance} from the limit, about {n} questions decide; there were {present}",
        needed,
        distance=_.exact(distance),
        present=_.integer(n),
    )


def groups_planned(comparison: Comparison) -> int | None:
    """How many independent groups the questions that are needed make up, as large as now; None without groups."""
    if comparison.questions_needed is None or comparison.clusters is None:
        return None
    return math.floor(comparison.questions_needed * comparison.clusters / comparison.n + 1e-6)


def noted(note: str, _: Translator, lender: str = "") -> str:
    """Why a printed interval is not the bootstrap's, in words; of a note that is none of ours nothing.

    lender: whose spread was taken, where one was.
    """
    lender = lender or _("another measurement")
    return {
        "few": _("few questions: the plain bootstrap interval would be too narrow"),
        "few_moved": _("the two systems differ on few questions: the plain bootstrap interval would be too narrow"),
        "ceiling": _("nearly all values lie at one end of the scale: the plain bootstrap interval would be too narrow"),
        "no_spread": _("all values are equal: the plain bootstrap interval would have no width"),
        "equal_groups": _(
            "the means of all groups are equal: the plain bootstrap interval of whole groups would have no width"
        ),
        "none_moved": _(
            "the difference is the same on every question: the plain bootstrap interval would have no width"
        ),
        "groups_moved_alike": _(
            "the mean difference is the same in every group: the plain bootstrap interval of whole groups would have "
            "no width"
        ),
        "borrowed_spread": _(
            "all values are equal, so they show no spread: that of {metric} is taken", metric=lender
        ),
        "borrowed_between": _(
            "the means of all groups are equal, so they show no spread between groups: that of {metric} is taken",
            metric=lender,
        ),
        "ties": _("most values are the same: the plain bootstrap interval would be too narrow"),
        "skewed": _("a few values decide the mean: the plain bootstrap interval would be lopsided"),
        "no_bca": _("the plain bootstrap interval does not exist for these values"),
        "few_clusters": _("independent groups are few, or unequal: the plain bootstrap interval would be too narrow"),
        "few_judges": _("judges are too few to tell how they differ"),
        "count": _("a count has no uncertainty of sampling"),
        "topics": _("topics are found anew in every set of questions"),
        "saturated": _("no passage depends on a single question, so leaving questions out shows no spread"),
        "extreme": _("a resample cannot go beyond the extreme that was seen, so its interval would be wrong"),
        "dimensions": _(
            "a resample holds copies, and copies span fewer dimensions: resampling would say too few of them"
        ),
        "repeats": _(
            "a resample holds some questions several times, which moves this number by itself; so questions were left "
            "out one by one"
        ),
        "few_draws": _("the function takes too long to be called on resamples; so questions were left out one by one"),
        "slow": _("the function takes too long to be called often enough for an interval"),
        "undefined": _("the number is not defined on some resamples"),
        BY_CONSTRUCTION: _(
            "by construction: this judge asks no model, it could not have been otherwise, and nothing was sampled"
        ),
        "constant": _("a rater who always says the same agrees with nobody beyond chance"),
        "always_the_same": _("a judge that always decides the same reaches one half, whatever the answers"),
        "empty": _("nothing was measured"),
        "identical": _("both rate every item alike"),
        "open_scale": _("all categories of the scale are not known: name them"),
        "incomplete": _("no item was rated by all"),
        "weak_judge": _("people alone: the judge does not follow them"),
        "open": _("values are too few to bound either end"),
        "open_above": _("values are too few to bound the upper end"),
        "open_below": _("values are too few to bound the lower end"),
        "two_samples": _("the values are of two samples, not of the same questions"),
    }.get(note, "")  # fmt: skip


def _absent(_: Translator) -> dict[str, str]:
    """Why an estimate has no interval, by its note, where this is not said of every interval."""
    return {
        "few": _("too few values"),
        "no_spread": _("all values are equal"),
        "equal_groups": _("the means of all groups are equal"),
        "undefined": _("not defined for these values"),
        BY_CONSTRUCTION: _("by construction: it could not have been otherwise"),
        "slow": _("its function is too slow"),
    }


def interval(estimate: Estimate, _: Translator) -> str:
    """The interval in a line, or why there is none."""
    why = _why(estimate, _absent(_), _)
    return spoken(_).phrase(Value(None, estimate.low, estimate.high, why=f"({why})" if why else ""))


def estimates(
    titles: Sequence[str],
    named: Iterable[tuple[Sequence[str], Estimate]],
    _: Translator,
    digits: int = 3,
    banded: Sequence[str] = (),
) -> Table:
    """A row an estimate. titles: of what each one is named by, such as run and metric. banded: each one's band, in
    words; empty where it has none."""
    pairs, reasons = list(named), _absent(_)
    columns = [*map(Column, titles), Column(_("value"), "number"), Column(_("interval"), "interval")]
    columns += [Column(_("method")), Column("n", "count"), Column(_("unmeasured"), "count")]
    rows: list[tuple[Any, ...]] = [
        (
            *names,
            estimate.value,
            Value(None, estimate.low, estimate.high, why=_why(estimate, reasons, _)),
            None if estimate.method == "none" else interval_name(estimate.method, _),
            estimate.n,
            missing(estimate, _, digits),
        )
        for names, estimate in pairs
    ]
    if any(estimate.clusters is not None for _names, estimate in pairs):
        columns.append(Column(_("groups"), "count"))
        rows = [(*row, estimate.clusters) for row, (_names, estimate) in zip(rows, pairs, strict=True)]
    noted = [brackets((estimate for _names, estimate in pairs), _)]
    noted += [f"{' '.join(names)}: {text}" for names, estimate in pairs if (text := doubted(estimate, _))]
    if any(banded):
        after = len(titles) + 2  # the interval, which decides it
        columns.insert(after, Column(_("band")))
        rows = [(*row[:after], band or None, *row[after:]) for row, band in zip(rows, banded, strict=True)]
        noted.append(
            _(
                "band: of the threshold set where it names the metric, else as the metric's source published it; one "
                "where the whole interval lies in it, else all from the first to the last that the interval reaches"
            )
        )
    notes = tuple(filter(None, noted))
    return Table(tuple(columns), tuple(rows), notes=notes, digits=digits, language=_.language)


def comparisons(named: Iterable[tuple[str, Comparison]], _: Translator, digits: int = 3) -> Table:
    """A row a metric and pair of systems; below them what p was corrected over, and what could have been shown."""
    pairs = list(named)
    reasons = {
        "empty": _("no question was measured on both sides"),
        "few": _("too few questions"),
        "no_spread": _("all differences are equal"),
        "equal_groups": _("the mean differences of all groups are equal"),
    }
    columns = [
        Column(_("metric")), Column(_("difference"), "number", signed=True),
        Column(_("interval"), "interval", signed=True), Column("p", "p"), Column(_("corrected p"), "p"),
        Column(_("detectable"), "number"), Column("n", "count"), Column(_("unpaired"), "count"),
        Column(_("verdict"), "verdict"),
    ]  # fmt: skip
    rows: list[tuple[Any, ...]] = [
        (
            metric,
            comparison.difference,
            Value(None, comparison.low, comparison.high, why=_why(comparison, reasons, _)),
            comparison.p,
            comparison.p_adjusted,
            comparison.minimum_detectable,
            comparison.n,
            comparison.n_dropped,
            _verdict(comparison, _),
        )
        for metric, comparison in pairs
    ]
    planned = [
        (metric, comparison)
        for metric, comparison in pairs
        if comparison.verdict.unshown and comparison.questions_needed is not None
    ]
    if planned:
        columns.insert(6, Column(_("needed"), "count"))
        rows = [
            (*row[:6], _needed(comparison, _), *row[6:]) for row, (_metric, comparison) in zip(rows, pairs, strict=True)
        ]
    compared = [f"{comparison.challenger} − {comparison.baseline}" for _metric, comparison in pairs]
    if len(set(compared)) > 1:
        columns = [Column(_("compared")), *columns]
        rows = [(who, *row) for who, row in zip(compared, rows, strict=True)]
    families = dict.fromkeys(family_said(comparison.family, _) for _metric, comparison in pairs if comparison.family)
    notes = [_("corrected p and interval: {family}", family=family) for family in families if family]
    notes += filter(None, [merged((comparison for _metric, comparison in pairs), _)])
    if any(comparison.minimum_detectable is not None for _metric, comparison in pairs):
        notes.append(_("detectable: a difference of this size or more would be shown, in 80 of 100 such studies"))
    if planned:
        sizes = _interest(planned, _)
        notes.append(
            _("needed: about so many questions show a difference of {sizes}, the smallest of interest", sizes=sizes)
        )
    notes += filter(None, dict.fromkeys(needed(comparison, _) for _metric, comparison in pairs))
    for metric, against in pairs:
        told = [lacking(against, _, digits), beyond(against, _), doubted(against, _)]
        notes += [f"{metric}: {text}" for text in told if text]
    title = compared[0] if len(set(compared)) == 1 else ""
    return Table(tuple(columns), tuple(rows), title, tuple(notes), digits, _.language)


DRAWN = ("bca", "percentile", "studentized", "studentized_and_t", "bayesian")
"""Intervals that are made of resamples."""


def interval_names(methods: Iterable[str], resamples: int, _: Translator) -> str:
    """What the intervals are called, with the number of resamples beside those that are made of them."""
    given = dict.fromkeys(methods)
    drawn, computed = (
        [interval_name(method, _) for method in given if (method in DRAWN) is kind] for kind in (True, False)
    )
    if drawn and resamples:
        drawn = [_("{names}, {resamples} resamples", names=_.enumeration(drawn), resamples=_.integer(resamples))]
    return "; ".join(filter(None, (_.enumeration(drawn), _.enumeration(computed))))


def interval_name(method: str, _: Translator) -> str:
    """What people call the method of an interval; one that has no name today is said as it is."""
    names = {
        "bca": _("bootstrap interval (BCa)"),
        "abc": _("analytic bootstrap interval (ABC)"),
        "percentile": _("bootstrap interval (percentile)"),
        "studentized": _("bootstrap interval (studentized)"),
        "studentized_and_t": _("bootstrap interval (studentized), no end of it nearer than Student's"),
        "wilson": _("Wilson's interval"),
        "clopper_pearson": _("Clopper–Pearson interval"),
        "fisher": _("interval on Fisher's z"),
        "bonett_wright": _("Bonett–Wright interval"),
        "bonett_price": _("Bonett–Price interval"),
        "tango": _("Tango's score interval"),
        "t": _("Student's t interval"),
        "t_effective": _("Student's t interval for unequal groups"),
        "delta": _("normal interval"),
        "jackknife": _("jackknife interval"),
        "crossed": _("interval over questions and judges"),
        "bayesian": _("Bayesian bootstrap interval"),
        "u_statistic": _("interval of a U-statistic"),
        "prediction_powered": _("corrected by people's labels (PPI++)"),
        "people": _("people's labels"),
        "none": _("no interval"),
    }
    return names.get(method, method)


def _needed(comparison: Comparison, _: Translator) -> int | str | None:
    """The questions that are needed where no difference is shown, with the groups that they make up."""
    groups = groups_planned(comparison)
    if not comparison.verdict.unshown or groups is None:
        return comparison.questions_needed if comparison.verdict.unshown else None
    return _(
        "{questions} in {groups} groups",
        questions=_.integer(comparison.questions_needed or 0),
        groups=_.integer(groups),
    )


def _interest(named: Sequence[tuple[str, Comparison]], _: Translator) -> str:
    """`0.05`, or where metrics differ `0.05 (mrr), 0.2 (rating)`."""
    by_size: dict[str, list[str]] = {}
    for metric, comparison in named:
        by_size.setdefault(_.exact(comparison.margin), []).append(metric)
    if len(by_size) == 1:
        return next(iter(by_size))
    return ", ".join(f"{size} ({', '.join(dict.fromkeys(metrics))})" for size, metrics in by_size.items())


def _verdict(comparison: Comparison, _: Translator) -> Phrase:
    """The word, with the groups or the margin that it rests on."""
    verdict = said(comparison, _)
    if comparison.verdict is Verdict.SAME:
        return _("{verdict} within ±{margin}", verdict=verdict, margin=_.exact(comparison.margin))
    if comparison.p_equivalence is None:
        return verdict
    return filled(
        _("{verdict}; p of equivalence within ±{margin}: {p}"),
        verdict=verdict,
        margin=_.exact(comparison.margin),
        p=P(comparison.p_equivalence),
    )


def _why(figure: Estimate | Comparison, reasons: Mapping[str, str], _: Translator) -> str:
    """Why there is no interval; a single group has no spread, whatever is in it."""
    if figure.clusters == 1:
        return _("a single group")
    if figure.note in reasons:
        return reasons[figure.note]
    known = math.isfinite(figure.value if isinstance(figure, Estimate) else figure.difference)
    return noted(figure.note, _) if known or figure.method == "none" else _("not defined for these values")


MOST = 5  # the rest is counted together
LONGEST = 160
"""Signs of a reason that are shown."""
KEPT = 400
"""Signs of somebody else's reason that are kept."""
OTHERS = "…"
"""What stands for all reasons but the most frequent ones."""


def frequent(of: Iterable[object]) -> dict[str, int]:
    """The most frequent reasons with their counts, and `OTHERS` with the count of the rest where there is one.

    of: the reason of each value. Those that are met as often stand in the order of the alphabet.
    """
    mask = masker()
    ordered = sorted(Counter(_masked(str(each), mask) for each in of).items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(number for _, number in ordered[MOST:])
    return dict(ordered[:MOST]) | ({OTHERS: rest} if rest else {})


def _masked(reason: str, mask: Mask) -> str:
    """As it is kept; somebody else's is cut."""
    return mask(reason) if isinstance(read(reason), Reason) else excerpt(reason, KEPT, mask)


def statuses(_: Translator) -> dict[str, str]:
    """Why a value is not there, in words, by status."""
    return {
        Status.MISSING_FIELD.value: _("a field is missing"),
        Status.EMPTY_INPUT.value: _("a text is empty"),
        Status.EMPTY_DECOMPOSITION.value: _("nothing was claimed"),
        Status.JUDGE_ERROR.value: _("the judge failed"),
        Status.PARSE_ERROR.value: _("the reply could not be read"),
        Status.TIMEOUT.value: _("out of time"),
        Status.REFUSED.value: _("the judge refused"),
        Status.TRUNCATED.value: _("the reply was cut off"),
        Status.VERDICT_MISMATCH.value: _("verdicts do not fit the statements"),
        Status.EMBEDDING_ERROR.value: _("a text has no vector"),
        Status.INVALID_INPUT.value: _("a field cannot be used"),
        Status.FUNCTION_ERROR.value: _("the metric's function failed"),
    }


def told(counts: Mapping[str, int], _: Translator) -> str:
    """`not measured 12: no reply in time (8); refused (4)`, as `frequent` has them; empty for none."""
    if not counts:
        return ""
    named = [
        f"{_cut(reason_in(reason, _))} ({_.integer(n)})" if reason != OTHERS else _("others ({n})", n=_.integer(n))
        for reason, n in counts.items()
    ]
    return _("not measured") + f" {_.integer(sum(counts.values()))}: {'; '.join(named)}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rsplit(' ', 1)[0]}{OTHERS}"

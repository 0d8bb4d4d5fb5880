"""Systems beside a baseline: the answer, figures, tables, method, limits, provenance.

Every function takes a `ragbench.views.results.Result` whose request has systems, baseline, primary
and metrics, and returns a Part, several, or None where there is nothing to show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from ragbench.core.errors import BenchError
from ragbench.core.language import NOTHING, Language, mark
from ragbench.core.metric import parse_label
from ragbench.report.figures import Style, add_intervals, new_figure, system_styles
from ragbench.report.index import SIGNS, stand_ins_text
from ragbench.report.manifest import git_commit, versions
from ragbench.report.parts import Part, trusted
from ragbench.report.parts import facts as facts_part

ROW_HEIGHT = 15  # pixels of one system in a forest plot
MOST_FOREST = 2  # forest plots of a page
MOST_SHOWN = 24  # rows of a table that is not folded
NO_BREAK = "\N{NO-BREAK SPACE}"
UNTOLD = "cannot be told"
# Numbers without digits: what was counted.
COUNTS = (
    *("total_samples", "effective_dimensionality"),
    *("total_chunks", "used_chunks", "unused_chunks", "n_topics", "total_questions"),
)
# What is said of a challenger, by the word of its comparison.
CLAIMS = {
    "better": mark("On {metric} {challenger} is better than {baseline}"),
    "better, by less than matters": mark(
        "On {metric} {challenger} is better than {baseline}, by less than matters"
    ),
    "worse": mark("On {metric} {challenger} is worse than {baseline}"),
    "worse, by less than matters": mark(
        "On {metric} {challenger} is worse than {baseline}, by less than matters"
    ),
    "the same": mark("On {metric} {challenger} and {baseline} are the same within the margin"),
    "equal on every question": mark(
        "On {metric} {challenger} and {baseline} are equal on every question"
    ),
    "not shown": mark("On {metric} no difference between {challenger} and {baseline} is shown"),
    "too few differ": mark(
        "On {metric} {challenger} and {baseline} differ on too few questions to tell"
    ),
    "cannot be told": mark(
        "On {metric} it cannot be told whether {challenger} or {baseline} is better"
    ),
}
# The words that report.index and the tables show; translated where they are shown.
TABLE_WORDS = (
    mark("better, by less than matters"),
    mark("worse, by less than matters"),
    mark("the same"),
    mark("equal on every question"),
    mark("too few differ"),
    mark("cannot be told"),
)
# How an interval was computed, by the column `method` of the estimates.
METHODS = {
    "bca": mark("bootstrap (BCa)"),
    "wilson": mark("Wilson's"),
    "student": mark("Student's"),
    "jackknife": mark("jackknife"),
    "order": mark("order statistics"),
    "construction": mark("by construction"),
    "none": mark("none"),
}


def answer(result: Any) -> Part:
    """The finding: one sentence a challenger on the primary metric, or one a system alone."""
    rows = list(primary_rows(result).itertuples())
    if rows:
        paragraphs = [sentence(result, row) for row in rows]
        paragraphs.append(other_metrics(result))
    else:
        paragraphs = [single_sentence(result, name) for name in result.systems]
    paragraphs += silences(result)
    shown = [text for text in paragraphs if text]
    return Part(
        Markup("").join(Markup("<p>{}</p>").format(text) for text in shown), style="finding"
    )


def primary_rows(result: Any) -> pd.DataFrame:
    """The comparisons on the primary metric, a row a challenger."""
    return result.comparisons[result.comparisons["metric"] == result.request.primary]


def sentence(result: Any, row: Any) -> Markup:
    """What one comparison says, with its numbers. row: of the comparisons' frame."""
    return claim(result, row) + evidence(row, result.language)


def evidence(row: Any, language: Language) -> str:
    """The numbers behind a word, and what it leaves open. row: of a frame of comparisons."""
    _ = language.translate
    text = ""
    if row.word != UNTOLD:
        text += f": {language.interval(row.difference, row.low, row.high, signed=True)}"
        # Where too few questions differ there is neither an interval nor p.
        if not math.isnan(row.p_adjusted):
            text += f", p{NO_BREAK}{p_text(row.p_adjusted, language)}"
    text += "."
    if row.word == "not shown" and not math.isnan(row.detectable):
        told = _("Four of five such studies would show a difference of {detectable}.")
        text += " " + told.format(detectable=language.number(row.detectable))
    if row.n_unmeasured:
        told = _("{missing} of {pairs} pairs are unmeasured.")
        text += " " + told.format(missing=row.n_unmeasured, pairs=row.n + row.n_unmeasured)
    turned = {row.word_if_bad, row.word_if_good} - {row.word, ""}
    if turned and row.word != UNTOLD:
        told = _("With these it could be: {words}.")
        text += " " + told.format(words=", ".join(map(_, sorted(turned))))
    return text


def claim(result: Any, row: Any) -> Markup:
    """What one comparison says, without numbers."""
    # Markup escapes what is filled in: names of systems are the user's.
    return trusted(result.language.translate(CLAIMS[row.word])).format(
        metric=row.metric,
        challenger=bold(row.challenger),
        baseline=row.baseline,
    )


def p_text(p: float, language: Language) -> str:
    """A p value that is not broken: `= 0.042`."""
    return language.p_value(p).replace(" ", NO_BREAK)


def bold(name: str) -> Markup:
    """A name that people gave, which may run from right to left."""
    return Markup('<b dir="auto">{}</b>').format(name)


def single_sentence(result: Any, system: str) -> Markup:
    """What a system reaches on the primary metric, where nothing is compared."""
    rows = result.estimates[result.estimates["metric"] == result.request.primary]
    row = next(rows[rows["system"] == system].itertuples())
    text = trusted(result.language.translate("On {metric} {system} reaches {value} (n = {n})."))
    return text.format(
        metric=row.metric,
        system=bold(system),
        value=result.language.interval(row.value, row.low, row.high),
        n=result.language.count(row.n),
    )


def other_metrics(result: Any) -> Markup:
    """How the other metrics came out, in a line; empty where there are none."""
    _ = result.language.translate
    others = result.comparisons[result.comparisons["metric"] != result.request.primary]
    if others.empty:
        return Markup("")
    counts = []
    for challenger, rows in others.groupby("challenger", sort=False):
        words = [f"{_(word)} {count}" for word, count in rows["word"].value_counts().items()]
        counts.append(f"{challenger}: {', '.join(words)}")
    text = _("Of {count} other metrics, {counts}.")
    return Markup('<span class="more">{}</span>').format(
        text.format(count=others["metric"].nunique(), counts="; ".join(counts))
    )


def silences(result: Any) -> list[Markup]:
    """Which systems failed or returned nothing, and how often. Reads frames asked or answers."""
    _ = result.language.translate
    frames = vars(result.frames)
    asked = frames.get("asked", frames.get("answers"))
    if asked is None or asked.empty:
        return []
    first = asked[asked["repeat"] == 0]
    if "n_retrieved" in first:
        is_silent = first["n_retrieved"] == 0
    else:
        is_silent = first["answer"] == ""
        # A table without any answer is one of passages, or of an agent's calls.
        if result.NAME == "rag_metrics" and is_silent.all():
            return []
    sentences = []
    for system, rows in first.groupby("system", sort=False):
        has_failed = rows["error"] != ""
        is_empty = is_silent[rows.index] & ~has_failed
        for flags, message in (
            (is_empty, _("{system} returned nothing at {count} of {total} questions.")),
            (has_failed, _("{system} failed at {count} of {total} questions: {reason}")),
        ):
            if flags.any():
                reason = rows.loc[has_failed, "error"].mode()
                text = trusted(message).format(
                    system=bold(system),
                    count=int(flags.sum()),
                    total=len(rows),
                    reason=reason.iloc[0] if len(reason) else "",
                )
                sentences.append(Markup('<span class="more">{}</span>').format(text))
    return sentences


def facts(result: Any, **more: Any) -> Part:
    """What was measured, in one line. more: further names and values, translated already."""
    _ = result.language.translate
    scored = result.scores.drop_duplicates("question_id")
    named = {_("questions"): result.language.count(len(scored))}
    if scored["unit"].nunique() < len(scored):
        named[_("independent groups")] = result.language.count(scored["unit"].nunique())
    named |= more
    if len(result.systems) > 1:
        named[_("baseline")] = result.request.baseline
    return about_facts(result, named)


def about_facts(result: Any, named: Mapping[str, Any]) -> Part:
    """One line: the data set, what is named, and the seed and commit that it was measured with."""
    _ = result.language.translate
    data = {_("data set"): result.about.dataset}
    made = {_("seed"): result.request.seed, _("commit"): git_commit()[:8] or NOTHING}
    return facts_part({**data, **named, **made})


def stand_ins(result: Any) -> Part | None:
    """Who only stands in for a model; None where nobody does."""
    if not result.about.stand_ins:
        return None
    return Part(stand_ins_text(result.about.stand_ins, result.language), style="warning")


def forests(result: Any) -> list[Part]:
    """Means with intervals, a figure a scale, two at most; of each metric the deepest cut-off."""
    by_scale: dict[tuple[float, float], list[str]] = {}
    for label in deepest_cutoffs(result.request.metrics, result.request.primary):
        by_scale.setdefault(scale_of(label), []).append(label)
    # That of the primary metric first, then the one that most others share; the table has all.
    first = scale_of(result.request.primary)
    scales = sorted(by_scale, key=lambda scale: (scale != first, -len(by_scale[scale])))
    return [forest(result, by_scale[scale], scale) for scale in scales[:MOST_FOREST]]


def forest(result: Any, labels: Sequence[str], scale: tuple[float, float]) -> Part:
    """One figure of metrics of one scale, a row a metric; its title says who is better."""
    systems = result.systems
    styles = system_styles(systems, result.request.baseline)
    means = result.estimates.set_index(["system", "metric"])
    rows = {system: means.loc[system].reindex(labels) for system in systems}
    texts = {
        system: [
            f"{row.Index} {result.language.interval(row.value, row.low, row.high)}"
            for row in own.itertuples()
        ]
        for system, own in rows.items()
    }
    figure = forest_plot(rows, styles, texts, labels, result.language)
    level = f"{100 * result.request.level:g}"
    text = result.language.translate("mean, {level} % interval").format(level=level)
    figure.update_xaxes(title_text=text, showline=True)
    if all(map(math.isfinite, scale)):
        margin = 0.02 * (scale[1] - scale[0])
        figure.update_xaxes(range=[scale[0] - margin, scale[1] + margin])
    return Part(figure, title=forest_title(result, labels))


def forest_plot(
    rows: Mapping[str, pd.DataFrame],
    styles: Mapping[str, Style],
    texts: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    language: Language,
) -> Any:
    """Return a figure with a row a label, in which the systems stand below each other.

    rows: of every system value, low and high of each label, NaN where there is none. texts: of
    every system what a reader sees who points at a label.
    """
    figure = new_figure(language, 96 + len(labels) * (ROW_HEIGHT * len(rows) + 18))
    step = 0.7 / max(len(rows), 2)
    for place, (name, own) in enumerate(rows.items()):
        shift = (place - (len(rows) - 1) / 2) * step
        positions = [row + shift for row in range(len(labels))]
        ends = own["value"], own["low"], own["high"]
        add_intervals(figure, name, *ends, positions, styles[name], texts[name])
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        autorange="reversed",
        showgrid=False,
    )
    return figure


def forest_title(result: Any, labels: Sequence[str]) -> str:
    """What the figure shows, as a sentence."""
    _ = result.language.translate
    compared = result.comparisons[result.comparisons["metric"].isin(labels)]
    if compared.empty:
        first = result.request.primary if result.request.primary in labels else labels[0]
        rows = result.estimates[result.estimates["metric"] == first]
        values = [f"{row.system} {result.language.number(row.value)}" for row in rows.itertuples()]
        return f"{first}: {', '.join(values)}"
    counts = []
    for challenger, rows in compared.groupby("challenger", sort=False):
        better = int(rows["word"].str.startswith("better").sum())
        worse = int(rows["word"].str.startswith("worse").sum())
        message = _("{challenger} shows no difference on {total} metrics")
        if rows["word"].isin((UNTOLD, "too few differ")).all():
            message = _("of {challenger} it cannot be told")
        elif better and worse:
            message = _(
                "{challenger} is better on {better} and worse on {worse} of {total} metrics"
            )
        elif better:
            message = _("{challenger} is better on {better} of {total} metrics")
        elif worse:
            message = _("{challenger} is worse on {worse} of {total} metrics")
        counts.append(
            message.format(challenger=challenger, better=better, worse=worse, total=len(rows))
        )
    text = _("Against {baseline}: {counts}")
    return text.format(baseline=result.request.baseline, counts="; ".join(counts))


def deepest_cutoffs(labels: Sequence[str], primary: str = "") -> list[str]:
    """Of each metric the label with the greatest cut-off, and the primary one, in their order."""
    labels_by_name: dict[str, list[tuple[float, str]]] = {}
    for label in labels:
        name, _, cutoff = label.partition("@")
        # Without a cut-off the whole ranking is read, which is deeper than any.
        depth = int(cutoff) if cutoff.isdigit() else math.inf
        labels_by_name.setdefault(name, []).append((depth, label))
    kept = {primary, *(max(named)[1] for named in labels_by_name.values())}
    return [label for label in labels if label in kept]


def scale_of(label: str) -> tuple[float, float]:
    """Both ends of a metric's scale; of an unknown one none: they are infinite."""
    try:
        return parse_label(label).bounds
    except BenchError:
        return -math.inf, math.inf


def numbers(result: Any) -> Part | None:
    """The table of the figure's metrics: means, differences, p and words.

    None where these are all metrics: the table of all numbers has them.
    """
    labels = deepest_cutoffs(result.request.metrics, result.request.primary)
    if len(labels) == len(result.request.metrics):
        return None
    title = result.language.translate("The numbers")
    return Part(number_table(result, labels), title=title, note=family_note(result))


def all_numbers(result: Any) -> Part:
    """The table of all metrics, with every comparison also by itself. Folded where it is long."""
    _ = result.language.translate
    table = number_table(result, result.request.metrics, is_complete=True)
    note = _(
        "Alone: the interval and p of one comparison, for readers who want to know that one only. "
        "Detectable: the difference that four of five such studies would show."
    )
    is_alone = numbers(result) is None
    notes = [family_note(result) if is_alone else "", note if len(result.comparisons) else ""]
    return Part(
        table,
        title=_("All numbers"),
        note=" ".join(text for text in notes if text),
        is_folded=len(table) > MOST_SHOWN and not is_alone,
    )


def main_numbers(result: Any) -> Part:
    """The table of the figure's metrics; where that would say nothing new, of all metrics."""
    return numbers(result) or all_numbers(result)


def family_note(result: Any) -> str:
    """Which comparisons are corrected together."""
    if result.comparisons.empty:
        return ""
    text = result.language.translate(
        "{primary} is a family of its own, all other metrics are another: intervals and p of a "
        "family hold together."
    )
    return text.format(primary=result.request.primary)


def number_table(result: Any, labels: Sequence[str], *, is_complete: bool = False) -> pd.DataFrame:
    """A row a metric and system, ready to read. is_complete: with what stands alone."""
    language = result.language
    means = result.estimates.set_index(["metric", "system"])
    compared = result.comparisons.set_index(["metric", "challenger"])
    is_whole = not result.estimates["n_unmeasured"].any()
    styles = system_styles(result.systems, result.request.baseline)
    rows, headings = [], []
    for label in labels:
        for system in result.systems:
            key = (label, system)
            if key not in means.index:
                continue
            row = mean_cells(
                means.loc[key], f"{styles[system].sign} {system}", language, is_whole=is_whole
            )
            if len(compared):
                found = compared.loc[key] if key in compared.index else None
                row |= comparison_cells(found, language, is_complete)
            rows.append(row)
            # The metric heads its rows once.
            headings.append("" if label in headings else label)
    return pd.DataFrame(rows, index=headings)


def mean_cells(
    row: pd.Series, system: str, language: Language, *, is_whole: bool
) -> dict[str, str]:
    """The cells of a mean, by the headings of their columns. is_whole: nothing is unmeasured."""
    _ = language.translate
    count = language.count(int(row["n"]))
    if not is_whole:
        asked = language.count(int(row["n"] + row["n_unmeasured"]))
        count = _("{count} of {total}").format(count=count, total=asked)
    return {
        _("system"): system,
        _("mean, interval"): language.estimate(row),
        "n" if is_whole else _("n measured"): count,
    }


def short_number(value: float, language: Language) -> str:
    """A number as somebody set it: `5`, `0.85`; in Russian with a decimal comma."""
    return language.number(value, len(f"{value:g}".partition(".")[2]))


def number_text(row: Any, metric: str, language: Language) -> str:
    """A number with its interval; counts without digits."""
    return language.estimate(row, 0 if metric in COUNTS else 3)


def comparison_cells(
    row: pd.Series | None, language: Language, is_complete: bool
) -> dict[str, str]:
    """The cells of a comparison; those of the baseline are empty."""
    _ = language.translate
    names = [_("difference, interval"), "p", _("verdict")]
    alone = [_("alone"), _("p alone"), _("detectable")] if is_complete else []
    if row is None:
        return dict.fromkeys([*names, *alone], "")
    cells = [
        language.difference(row),
        p_text(row["p_adjusted"], language),
        verdict(row["word"], language),
    ]
    if is_complete:
        cells += [
            language.ends(row["single_low"], row["single_high"], signed=True),
            p_text(row["p"], language),
            language.number(row["detectable"]),
        ]
    return dict(zip([*names, *alone], cells, strict=True))


def verdict(word: str, language: Language) -> str:
    """A word with its sign: `▲ better`."""
    return f"{SIGNS.get(word.partition(',')[0], '·')} {language.translate(word)}"


def slices(result: Any) -> Part | None:
    """The primary metric on parts of the questions; None where there are none."""
    means = result.statement.slice_estimates
    if means.empty:
        return None
    language = result.language
    _ = language.translate
    compared = result.statement.slice_comparisons.set_index(["slice", "challenger"])
    styles = system_styles(result.systems, result.request.baseline)
    is_whole = not means["n_unmeasured"].any()
    rows, headings = [], []
    for name, members in means.groupby("slice", sort=False):
        for place, row in enumerate(members.itertuples()):
            system = f"{styles[row.system].sign} {row.system}"
            cells = mean_cells(pd.Series(row._asdict()), system, language, is_whole=is_whole)
            if len(compared):
                key = (name, row.system)
                found = compared.loc[key] if key in compared.index else None
                cells |= comparison_cells(found, language, is_complete=False)
            rows.append(cells)
            headings.append(slice_name(name, language) if place == 0 else "")
    note = _(
        "{primary} on parts of the questions, each by itself. The slices are a family of their "
        "own: read them as places to look, not as a second proof."
    )
    return Part(
        pd.DataFrame(rows, index=headings),
        title=_("Where it is good, and where not"),
        note=note.format(primary=result.request.primary),
    )


# The columns that questions are cut by, and their usual values.
SLICES = (mark("kind"), mark("language"), mark("source"))
KINDS = (mark("well_formed"), mark("colloquial"), mark("misspelt"))


def slice_name(name: str, language: Language) -> str:
    """`kind: colloquial` in the page's language."""
    column, _, value = name.partition(": ")
    return f"{language.translate(column)}: {language.translate(value)}" if value else name


def method(result: Any, *sentences: str) -> Part:
    """How the numbers came about. sentences: of the tier, before those of the statistics."""
    language = result.language
    _ = language.translate
    counts = result.estimates["method"].value_counts()
    kinds = ", ".join(f"{_(METHODS.get(name, name))} {count}" for name, count in counts.items())
    means = _(
        "Intervals of means are bootstrap over independent groups of questions ({draws} draws, "
        "{level} %) where that holds: from 30 groups with 10 successes and failures on. Of "
        "{count} intervals: {kinds}. Unmeasured values are in no mean and are counted."
    ).format(
        draws=language.count(result.request.draws),
        level=f"{100 * result.request.level:g}",
        count=len(result.estimates),
        kinds=kinds,
    )
    paragraphs = [*sentences, means]
    if len(result.comparisons):
        paragraphs.append(
            _(
                "Differences are paired by question. Interval, p and word of a comparison come "
                "from the same draws (studentized bootstrap, max-T), so that they agree: "
                "{primary} is a family of its own, all other metrics are another."
            ).format(primary=result.request.primary)
        )
    paragraphs.append(" ".join(result.about.notes))
    return Part("\n\n".join(text for text in paragraphs if text), title=_("Method"))


def limits(result: Any, *sentences: str) -> Part:
    """What the page does not show. sentences: of the tier."""
    _ = result.language.translate
    general = _("A difference that is not shown is not a proof that there is none.")
    return Part(" ".join([*sentences, general]), title=_("What this does not show"))


def provenance(result: Any) -> Part:
    """What it was measured with: systems, options, versions, commit, data."""
    _ = result.language.translate
    options = []
    for name, value in result.request.model_dump(exclude_defaults=True).items():
        # As it is typed: a list is parted by commas.
        several = value if isinstance(value, tuple | list) else [value]
        options.append(f"{name} = {', '.join(map(str, several))}")
    named = {
        **result.about.systems,
        _("options"): "; ".join(options),
        _("data set"): f"{result.about.dataset} {result.about.fingerprint[:12]}".strip(),
        _("versions"): ", ".join(f"{name} {version}" for name, version in versions().items()),
        _("commit"): git_commit() or NOTHING,
    }
    pair = Markup("<dt>{}</dt><dd>{}</dd>")
    items = Markup("").join(pair.format(*entry) for entry in named.items())
    content = Markup("<dl>{}</dl>").format(items)
    return Part(content, title=_("Provenance"), is_folded=True)

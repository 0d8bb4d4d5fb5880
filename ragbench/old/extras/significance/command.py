"""`ragbench agree`, `ragbench significance`, `ragbench trec`: the statistics alone, for tables of anybody."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragbench.old.cli.console import options
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending
from ragbench.old.extras.significance.assessment import Assessment, Convention, Plan, as_json, asked, assess

if TYPE_CHECKING:
    from ragbench.old.core.types import Array, Better
    from ragbench.old.extras.significance.rater_tables import Ratings


MOST_PAIRS = 15  # six systems; of more, all pairs are in the file that is written


class Scale(StrEnum):
    """What the values are: names, ranks, numbers with meaningful distances, or with a meaningful zero too."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"

    @property
    def numeric(self) -> bool:
        """Whether ratings are numbers whose distances mean something."""
        return self in (Scale.INTERVAL, Scale.RATIO)


def agree(
    tables: Annotated[
        list[Path],
        typer.Argument(
            parser=options.source,
            metavar="TABLE...",
            help="Ratings: .csv, .tsv, .jsonl, .json or .parquet; several are one. Files of labels as ragbench writes "
            "them need no columns named.",
        ),
    ],
    item: Annotated[
        str | None, typer.Option(help="Column with the item that was rated; item if none, of labels id and system.")
    ] = None,
    rater: Annotated[
        str | None,
        typer.Option(help="Column with who rated it; rater if none, of labels annotator, else the name of each file."),
    ] = None,
    value: Annotated[str, typer.Option(help="Column with the rating; empty where none was made.")] = "value",
    raters: Annotated[
        str,
        typer.Option(
            "--raters",
            help="Of a table with a column a rater: which, comma-separated; else two that hold the same classes.",
        ),
    ] = "",
    metric: Annotated[str | None, typer.Option(help="Of labels on several metrics: which one.")] = None,
    scale: Annotated[
        Scale, typer.Option(help="nominal: names; ordinal: ranks; interval: numbers; ratio: numbers from zero on.")
    ] = Scale.NOMINAL,
    truth: Annotated[
        str | None,
        typer.Option(help="The rater whose ratings hold the truth (of two); else the first, by file and by name."),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            help="All categories of the scale in their order, comma-separated; of labels on a metric that declares "
            "them, the metric's. AC1, AC2 and weighted κ have no interval without them."
        ),
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="Column with the group an item belongs to (dialogue).")] = None,
    column: options.Columns = None,
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """How far raters agree, from tables with one row a rating, or with a column a rater.

    Two raters: accuracy, κ, AC1, α and, as the scale allows, weighted κ, AC2, ICC, correlations and bias.
    More raters: Krippendorff's α, Fleiss' κ and ICC over all of them; with --json the first 15 pairs too.

    Examples:

    - `ragbench agree ratings.csv --item item --rater rater --value score --scale ordinal --categories 1,2,3,4,5`
    - `ragbench agree answers.csv --item id --raters human,judge`
    - `ragbench agree labels/anna.csv labels/boris.csv --metric faithfulness --scale interval`
    """
    from ragbench.old import stats
    from ragbench.old.cli.console.options import counted
    from ragbench.old.core.language import translator
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.extras.significance.rater_tables import Columns, Ratings
    from ragbench.old.tiers.basics import verdict_tables

    order = _categories(categories, scale)
    numeric = scale.numeric or (
        scale is Scale.ORDINAL and not any(isinstance(category, str) for category in order or ())
    )
    given = _fields(column, tables, ("id", "rater", "value", "cluster"), "item, rater, value and cluster", "ratings")
    value, item, rater = given.get("value", value), given.get("id", item), given.get("rater", rater)
    raters, value = (value, Columns.value) if "," in value else (raters, value)
    wide = tuple(filter(None, map(str.strip, raters.split(","))))
    columns = Columns(value, item, rater, metric, given.get("cluster", cluster), wide)
    ratings = Ratings.read(tables, columns, numeric=numeric, categories=order)
    if order is None and metric is not None and not scale.numeric:
        order = _declared(metric, {cell for cell in ratings.given.values() if cell is not None})
    people = list(ratings.raters)
    if len(people) < 2:
        files = ", ".join(map(str, tables))
        raise ValueError(f"{files}: the only rater is {people[0]!r}; agreement needs two at least")
    if truth is not None:
        if truth not in people:
            raise ValueError(f"--truth is one of the raters {', '.join(people)}; got {truth!r}")
        people = [truth, *(name for name in people if name != truth)]
    common: dict[str, Any] = {"clusters": ratings.groups, "level": level, "resamples": resamples, "seed": seed}
    how: dict[str, Any] = {"scale": scale.value, "categories": order, **common}
    rows = ratings.rows(people)
    if len(people) == 2:
        sides = list(zip(*rows, strict=True))
        made = stats.agreement(sides[0], sides[1], **how)
    else:
        made = {"krippendorff_alpha": stats.krippendorff_alpha(rows, **how)}
        if not scale.numeric:
            made["fleiss_kappa"] = stats.fleiss_kappa(rows, categories=order, **common)
        if numeric:
            made["icc"] = stats.icc([[math.nan if cell is None else cell for cell in row] for row in rows], **common)
        made = {
            name: statistic if statistic.n else replace(statistic, note="incomplete")
            for name, statistic in made.items()
        }
    report: dict[str, Any] = {
        "scale": scale.value, "items": len(ratings.items), "raters": people,
        "categories": order, "folded": ratings.folded,
        "statistics": {name: asdict(statistic) for name, statistic in made.items()},
    }  # fmt: skip
    nothing = ["no item has ratings by two raters"] if all(not each.n for each in made.values()) else []
    if as_json:
        if len(people) > 2:
            report |= _pairs(ratings, people, how)
        terminal.dump(without_nan(report), indent=2)
        _end_where_empty(nothing)
        return
    if said := ratings.left_out.said:
        terminal.say(f"left out: {said}", err=True, colour="yellow")
    if ratings.wide:
        taken = " and ".join(ratings.wide)
        terminal.say(f"raters are the columns {taken}; --raters COLUMN,COLUMN names others", err=True, colour="yellow")
    for chosen, spellings in ratings.folded.items():
        terminal.say(f"one class, {chosen!r}: {', '.join(map(repr, spellings))}", err=True, colour="yellow")
    terminal.say(f"{counted(len(ratings.items), 'item')}, raters {', '.join(people)}, {scale.value} scale")
    if len(people) == 2:
        biased = f"; bias is {people[1]} − {people[0]}" if "bias" in made else ""
        terminal.say(f"where one rater counts as the truth, it is {people[0]}{biased}")
    named = [((name,), statistic) for name, statistic in made.items()]
    verdict_tables.estimates(("statistic",), named, translator("en"), 4).say()
    _end_where_empty(nothing)


def significance(
    baseline: Annotated[
        Path,
        typer.Argument(
            parser=options.source,
            metavar="BASELINE",
            help="Scores of the baseline: .csv, .tsv, .jsonl, .json or .parquet.",
        ),
    ],
    challenger: Annotated[
        Path, typer.Argument(parser=options.source, metavar="CHALLENGER", help="Scores of the challenger.")
    ],
    id_column: Annotated[
        str, typer.Option("--id", help="Column with the question, in both files; found if it is called otherwise.")
    ] = "id",
    metric: Annotated[
        list[str] | None, typer.Option(help="Columns to compare; else every column of numbers that both files have.")
    ] = None,
    lower: Annotated[
        list[str] | None, typer.Option("--lower-is-better", help="Metrics where less is better, such as latency.")
    ] = None,
    primary: options.Primary = "",
    cluster: Annotated[
        str | None, typer.Option(help="Column of the baseline's file with each question's group (dialogue).")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Largest difference that would not matter; plans for it, and tests for equivalence."),
    ] = None,
    scale: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH",
            help="Ends of the scale, which bound what unmeasured values could be; else those of the metric that a "
            "column is named after, or 0 and 1 where all values lie between them.",
        ),
    ] = None,
    column: options.Columns = None,
    level: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """Is the challenger better, question by question? Both files have one row a question and a column a metric.

    Example: `ragbench significance v1.csv v2.csv --id question --lower-is-better latency_ms`
    """
    from ragbench.old import stats
    from ragbench.old.cli.console.options import counted
    from ragbench.old.core.language import translator
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.data.files import cut
    from ragbench.old.extras.significance.rater_tables import Table, numbers_of_both
    from ragbench.old.tiers.basics import findings, verdict_tables

    first, second = Table.read(baseline), Table.read(challenger)
    given = _fields(column, [baseline, challenger], ("id", "cluster"), "id and cluster", "questions with scores")
    id_column, cluster = given.get("id", id_column), given.get("cluster", cluster)
    if id_column == "id" and not {id_column} <= {*first.columns} & {*second.columns}:
        id_column = next(
            (column for column in map(first.called, ("id", "user_input")) if column in second.columns), id_column
        )
    how = "; --id COLUMN, of both files, names what tells the questions"
    first.require([id_column, *(metric or ()), *([cluster] if cluster else [])], how)
    second.require([id_column, *(metric or ())], how)
    names, left_out = (metric, {}) if metric else numbers_of_both(first, second, {id_column, cluster})
    names = list(dict.fromkeys(names))
    strange = sorted(set(lower or ()) - set(names))
    if strange:
        raise ValueError(f"--lower-is-better {', '.join(strange)}: not among the compared metrics {', '.join(names)}")
    better: dict[str, Better] = {name: "lower" if name in (lower or ()) else "higher" for name in names}
    leading = findings.named(primary, better) if primary else ""
    places = [first.keys(id_column), second.keys(id_column)]
    ids = sorted(places[0].keys() & places[1].keys())
    if not ids:
        raise ValueError(
            f"{baseline} and {challenger} share no value of column {id_column!r}; they have "
            f"{cut(min(places[0]))} and {cut(min(places[1]))}, for example"
        )
    unmatched = len(places[0]) + len(places[1]) - 2 * len(ids)
    rows = [[place[question] for question in ids] for place in places]
    sides = [
        {name: table.numbers(name)[chosen] for name in names}
        for table, chosen in zip((first, second), rows, strict=True)
    ]
    groups = None
    if cluster:
        labels = first.labels(cluster)
        groups = [labels[row] for row in rows[0]]
    titles = (first.name, second.name) if first.name != second.name else (str(baseline), str(challenger))
    scales = {name: _scale(name, [side[name] for side in sides], scale) for name in names}
    tested = stats.hypotheses(
        sides[0], sides[1], clusters=groups, better=better, bounds=scales,
        margin=margin, level=level, resamples=resamples, seed=seed, names=titles,
    )  # fmt: skip
    sureness = findings.Sureness(level, resamples, seed)
    done = findings.in_families({name: [comparison] for name, comparison in tested.items()}, groups, sureness, leading)
    adjusted = {name: comparison for name, [comparison] in done.items()}
    nothing = [f"{name}: no question on both sides" for name, comparison in adjusted.items() if not comparison.n]
    if as_json:
        values = {name: {"value": comparison.difference} | asdict(comparison) for name, comparison in adjusted.items()}
        report = {
            "baseline": str(baseline), "challenger": str(challenger), "questions": len(ids), "unmatched": unmatched,
            "not_compared": left_out, "statistics": values,
        }  # fmt: skip
        terminal.dump(without_nan(report), indent=2)
        _end_where_empty(nothing)
        return
    for name, why in left_out.items():
        terminal.say(f"{name} is not compared: {why}", err=True, colour="yellow")
    terminal.say(f"{counted(len(ids), 'question')} in both files, {unmatched} in one only")
    verdict_tables.comparisons(adjusted.items(), translator("en"), 4).say()
    _end_where_empty(nothing)


def _end_where_empty(nothing: Sequence[str]) -> None:
    """Ends the command where something was measured on nothing at all, which it says."""
    if nothing:
        terminal.say(f"nothing was measured: {'; '.join(nothing)}", err=True)
        raise typer.Exit(Ending.UNMEASURED)


def _fields(
    column: list[str] | None, tables: Sequence[Path], legal: Sequence[str], named: str, what: str
) -> dict[str, str]:
    """Field → column, of --column, and of [columns] where a table has that column. Raises BadParameter for a field that
    tables of this kind do not have."""
    from ragbench.old.core import settings
    from ragbench.old.data.vocabulary import field_of, spoken
    from ragbench.old.extras.significance.rater_tables import Table

    def field(name: str) -> str:
        known = field_of(name) or name
        return "id" if known == "user_input" else known

    given = {field(name): own for name, own in options.columns(column).items()}
    if strange := [name for name in given if name not in legal]:
        raise typer.BadParameter(f"--column {spoken(strange[0])}: {named} are fields of {what}")
    usual = {field(name): own for name, own in settings.load().columns.items() if field(name) in legal}
    there = {name for path in tables for name in Table.read(path).columns} if usual else set()
    return {name: own for name, own in usual.items() if {*map(str.strip, own.split(","))} <= there} | given


def _scale(name: str, columns: list[Array], given: tuple[float, float] | None) -> tuple[float, float] | None:
    """The ends of a column's scale: those given, those of the metric of its name, else 0 and 1 where no value lies
    outside; None where nobody knows them."""
    import numpy as np

    from ragbench.old.metrics import declaration
    from ragbench.old.tiers.basics.findings import bounds

    values = np.concatenate(columns)
    known = values[~np.isnan(values)]
    declared = declaration(name)
    if given is not None:
        return given
    for each in ((bounds(declared) if declared is not None else None), (0.0, 1.0)):
        if each is not None and len(known) and each[0] <= known.min() and known.max() <= each[1]:
            return each
    return None


def _categories(text: str | None, scale: Scale) -> list[Any] | None:
    """Those of the option; numbers on an ordinal scale whose categories are all numbers."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if scale.numeric:
        raise ValueError(f"--categories belongs to nominal and ordinal scales; and {scale.value} is a scale of numbers")
    if scale is Scale.ORDINAL:
        try:
            return [float(name) for name in names]
        except ValueError:
            return names
    return names


def _declared(metric: str, given: set[Any]) -> list[Any] | None:
    """The grades that a metric declares, as they are given; None where it declares none or others were given."""
    from ragbench.old.core.metric import parse
    from ragbench.old.metrics import catalogue

    catalogue()
    try:
        grades = parse(metric).grades
    except ValueError:
        return None
    texts = any(isinstance(rating, str) for rating in given)
    by_number = {float(rating): rating for rating in given if not texts or rating.replace(".", "", 1).isdigit()}
    if not grades or len(by_number) < len(given) or not set(by_number) <= set(grades):
        return None
    return [by_number.get(grade, f"{grade:g}" if texts else grade) for grade in grades]


def _pairs(ratings: Ratings, raters: list[str], how: dict[str, Any]) -> dict[str, Any]:
    from itertools import combinations

    from ragbench.old import stats

    every = list(combinations(raters, 2))
    pairs = []
    for pair in every[:MOST_PAIRS]:
        sides = list(zip(*ratings.rows(pair), strict=True))
        agreement = stats.agreement(sides[0], sides[1], **how)
        pairs.append({"raters": list(pair), "statistics": {name: asdict(each) for name, each in agreement.items()}})
    return {"pairs": pairs, "pairs_left_out": len(every) - len(pairs)}


def trec(
    qrels: Annotated[
        Path,
        typer.Argument(
            parser=options.source,
            metavar="QRELS",
            help="Judgements: lines QUERY ITERATION DOCUMENT GRADE, or BEIR's, JSON, Parquet.",
        ),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            parser=options.source,
            metavar="RUN...",
            help="Runs: lines QUERY Q0 DOCUMENT RANK SCORE TAG, MS MARCO's, JSON, Parquet. First: baseline.",
        ),
    ],
    metrics: Annotated[
        str,
        typer.Option("--metrics", "-m", help="Comma-separated, as nDCG@10, P_10, AP(rel=2); all if not given."),
    ] = "",
    primary: options.Primary = "",
    level: Annotated[
        float | None, typer.Option(help="Smallest grade that counts as relevant where a metric knows only yes and no.")
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Queries that a run lacks count 0 (always so without --compatible).")
    ] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also the value of each query.")] = False,
    json_file: options.JsonFile = None,
    compatible: Annotated[
        Convention | None, typer.Option(help="Ties, 32-bit scores and missing queries as trec_eval has them.")
    ] = None,
    clusters: Annotated[
        str, typer.Option(help="Pattern whose group names a query's cluster: '^(.+)_' for 31_1, 31_2.")
    ] = "",
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Compare every two runs, not only with the first.")
    ] = False,
    confidence: options.Level = 0.95,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
) -> None:
    """Measure runs against judgements, and say which is better and how sure one can be.

    A mean is over all judged queries that have a relevant document; a query that a run lacks counts 0; equal scores
    go by the RANK column, then by the document's name; later copies of a document are dropped. `--compatible
    trec_eval` does as trec_eval does.

    Example: ragbench trec qrels.txt bm25.run dense.run --metrics ndcg@10,map --json result.json
    """
    from ragbench.old.cli.console import outputs
    from ragbench.old.data import DatasetError
    from ragbench.old.data import trec as files

    try:
        plan = Plan(
            metrics=asked(metrics, level),
            primary=primary,
            level=level,
            compatible=compatible,
            complete=complete,
            all_pairs=all_pairs,
            clusters=options.pattern(clusters, "--clusters"),
            confidence=confidence,
            resamples=resamples,
            seed=seed,
        )
        assessment = assess(files.read_qrels(qrels), [files.read_run(path) for path in runs], plan)
    except DatasetError as error:
        if str(error).startswith(str(qrels)) and files.told(qrels) == "run":
            raise DatasetError(f"{error}; it is a run: judgements come first, ragbench trec QRELS RUN") from None
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    _say_missing(assessment)
    if not outputs.is_screen(json_file):
        _print(assessment, per_query)
    if json_file is not None:
        outputs.write(json_file, as_json(assessment, per_query=per_query))
        if not outputs.is_screen(json_file):
            terminal.say(json_file, err=True)
    judged = assessment.facts["queries_judged"]
    empty = [run["run"] for run in assessment.facts["runs"] if run["queries_missing"] == judged]
    strange = [run["run"] for run in assessment.facts["runs"] if run["documents"] and not run["documents_judged"]]
    _end_where_empty(
        [
            *(f"{name} answers none of the judged queries, and its zeros are of no answers" for name in empty),
            *(
                f"{name} names no document that is judged for its query: are their ids written alike?"
                for name in strange
            ),
        ]
    )


def _say_missing(assessment: Assessment) -> None:
    """Queries that a run lacks, queries that nobody judged (a run in other names would be a row of zeros), copies."""
    judged = assessment.facts["queries_judged"]
    for run in assessment.facts["runs"]:
        said = [
            f"was read as {run['form']}" if run["form"] else "",
            f"lacks {run['queries_missing']} of {judged} judged queries" if run["queries_missing"] else "",
            f"answers {_of(run['queries_not_judged'], 'query', 'queries')} that nobody judged"
            if run["queries_not_judged"]
            else "",
            f"names documents again in {_of(run['duplicates'], 'line', 'lines')}, which count for nothing"
            if run["duplicates"]
            else "",
        ]
        if any(said):
            terminal.say(f"{run['run']} {'; it '.join(filter(None, said))}", err=True, colour="yellow")


def _print(assessment: Assessment, per_query: bool) -> None:
    from ragbench.old.cli.console.options import counted
    from ragbench.old.core.language import DASH, translator
    from ragbench.old.tiers.basics import verdict_tables

    if per_query:
        rows = as_json(assessment, per_query=True)["per_query"]
        values = [DASH if math.isnan(row["value"]) else f"{row['value']:.6f}" for row in rows]
        terminal.columns(
            (row["run"], row["query"], row["metric"], value) for row, value in zip(rows, values, strict=True)
        )
    english = translator("en")
    verdict_tables.estimates(("run", "metric"), assessment.estimates.items(), english, 4).say()
    facts = assessment.facts
    groups = "" if facts["clusters"] is None else f" in {counted(facts['clusters'], 'group')}"
    judged = counted(facts["queries_judged"], "judged query", "judged queries")
    terminal.say(f"{judged}{groups}, {facts['queries_without_relevant']} without a relevant document")
    if assessment.judged:
        _print_judged(assessment)
    if assessment.comparisons:
        terminal.say()
        verdict_tables.comparisons(assessment.comparisons, english, 4).say()


def _print_judged(assessment: Assessment) -> None:
    """What part was judged, and the values if the rest is irrelevant, relevant or left out."""
    from ragbench.old.core.language import DASH

    sampled = any(not math.isnan(row[-1]) for row in assessment.judged)
    titles = ("run", "metric", "judged@k", "unjudged irrelevant", "unjudged relevant", "judged alone", "infAP")
    width = len(titles) if sampled else len(titles) - 1
    rows = [
        (*row[:2], *(DASH if math.isnan(value) else f"{value:.4f}" for value in row[2:]))[:width]
        for row in assessment.judged
    ]
    terminal.say()
    terminal.table(titles[:width], rows, left=titles[:2])


def _of(count: int, singular: str, many: str) -> str:
    return f"{count:,} {singular if count == 1 else many}"

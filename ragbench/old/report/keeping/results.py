"""A run's files: whole or not there, its numbers among them, and the manifest by which a report can be opened.

What is read whole of a received run is small, whatever it is packed into.
"""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragbench.old.core import answered_by, folders, gaps, stand_ins
from ragbench.old.core.folders import sync, whole, write_by
from ragbench.old.core.language import LANGUAGES, translator
from ragbench.old.core.measurement import SCORE_COLUMNS, Finding, Measurement, without_nan, without_rows, write_table
from ragbench.old.core.names import fault
from ragbench.old.core.settings import secrets
from ragbench.old.core.types.reason import Reason, read
from ragbench.old.data import files as reading
from ragbench.old.data.files import LATEST as LATEST_MOMENT
from ragbench.old.data.files import look_at_parquet
from ragbench.old.metrics import published
from ragbench.old.report.pages.notebook_pages import Measurements
from ragbench.old.tiers.basics.session import versions

if TYPE_CHECKING:
    import pandas as pd


FORMAT = 1  # grows with the first format that an older ragbench cannot read
SUMMARY, SCORES, MANIFEST = "summary.json", "scores.parquet", "manifest.json"
PACKAGES = ("numpy", "scipy", "pandas", "plotly", "papermill", "nbconvert")


def write_json(path: Path, value: Any) -> None:
    """A whole JSON file without secrets (`ragbench.old.core.folders.of_json`); NaN becomes null."""
    exact, document = secrets.exact_masker(), secrets.document_masker()

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as out:
            for text in folders.of_json(value, 1, lambda part: without_nan(secrets.masked(part, exact))):
                out.write(document(text))
            out.write("\n")

    write_by(path, fill)


KNOWN = ("cluster", "kind", "language", "source")
"""What the scores of a run say of each question: the group that it is drawn and flipped with, and its slices."""


def scores(measurements: Mapping[str, Measurement], *, told: bool = False) -> pd.DataFrame:
    """The scores of all notebooks of a run: a row a notebook, system, metric and question; reasons in English.

    told: with what is known of the question (KNOWN) and, where people labelled answers, `label`, the mean of theirs:
    all that the run's estimates and comparisons of single scores are made from.
    """
    import pandas as pd

    filled = [
        (_told(made) if told else made.scores).assign(notebook=name)
        for name, made in measurements.items()
        if len(made.scores)
    ]
    if not filled:
        return without_rows(("notebook", *SCORE_COLUMNS))
    table = pd.concat(filled, ignore_index=True)
    table["reason"] = [str(read(reason)) if isinstance(reason, str) else reason for reason in table["reason"]]
    return table[["notebook", *(name for name in table.columns if name != "notebook")]]


def _told(made: Measurement) -> pd.DataFrame:
    """The scores of a page with what is known of each question, and what people say of each answer."""
    import pandas as pd

    table = made.scores
    known = [
        name for name in KNOWN if name in made.questions and name not in table and made.questions[name].notna().any()
    ]
    if known:
        by_id = made.questions.drop_duplicates("sample").set_index("sample")[known]
        beside = by_id.reindex(table["sample"]).reset_index(drop=True)
        table = pd.concat([table.reset_index(drop=True), beside], axis=1)
    if "labels" in made.extra:
        table = table.merge(made.extra["labels"], on=["system", "metric", "sample"], how="left")
    return table


def findings(measurements: Mapping[str, Measurement]) -> dict[str, list[dict[str, Any]]]:
    """Every estimate and every comparison of the whole, with all that is known of it, as rows that name their page."""
    return {
        kind: [
            {"notebook": name, **finding.row(), **_alone(made, finding)}
            for name, made in measurements.items()
            for finding in getattr(made, kind)
        ]
        for kind in ("estimates", "comparisons")
    }


def _alone(made: Measurement, finding: Finding) -> dict[str, Any]:
    """`judge_alone`: what the judge alone says, where people's labels correct a number."""
    judge = made.alone(finding)
    return {} if judge is None else {"judge_alone": judge.summary()}


def _offline(made: Measurement, finding: Finding) -> dict[str, Any]:
    """`judged_by`: the offline judges, where they alone judged the metric."""
    judges = stand_ins.judged_alone(made.facts).get(finding.metric)
    return {} if judges is None else {"judged_by": judges}


def write_scores(path: Path, measurements: Measurements) -> None:
    """Write the scores."""
    write_table(path, scores(_by_name(measurements)))


def stood_in(measurements: Mapping[str, Measurement]) -> dict[str, Any]:
    """`stand_ins` and `caveats` by notebook, of those where something only stands in for a model, raised, or came from
    a file;
    `unidentified`, only where there are any, how many of the passages that a system retrieved are none of the data
    set's."""
    by_name = {name: stand_ins.of(measurements[name].facts) for name in measurements}
    strange = {name: unknown for name in measurements if (unknown := gaps.unidentified(measurements[name].facts))}
    english = translator("en")
    caveats = {
        name: " ".join(
            filter(None, [stand_ins.caveat(used, english),
                          *gaps.unidentified_sentences(strange.get(name, {}).values(), english),
                          *gaps.raised_warnings(measurements[name].facts, english),
                          *answered_by.warnings(measurements[name].facts, english)])
        )
        for name, used in by_name.items()
    }  # fmt: skip
    counts = {
        name: {system: [passages.n, passages.of] for system, passages in own.items()} for name, own in strange.items()
    }
    return {
        "stand_ins": {name: [stand_in.fact for stand_in in used] for name, used in by_name.items() if used},
        "caveats": {name: text for name, text in caveats.items() if text},
        **({gaps.FACT: counts} if counts else {}),
    }


def answered(measurements: Mapping[str, Measurement]) -> dict[str, Any]:
    """`answered_by` by notebook: the models that were asked, and which their replies name; see
    `ragbench.old.core.answered_by.AnsweredBy`. Only of notebooks with replies that name one."""
    by_name = {name: answered_by.of(measurements[name].facts) for name in measurements}
    return {"answered_by": {name: [model.fact for model in some] for name, some in by_name.items() if some}}


def summary(measurements: Measurements) -> dict[str, Any]:
    """Every estimate and every comparison of a run, as plain values, and what stood in for a model.

    `published` is the metric's name elsewhere; `judge_alone`, only where people's labels correct a number, is what the
    judge alone says; `judged_by`, only where offline judges alone judged a metric, are these.
    """
    known = _by_name(measurements)
    estimates, comparisons = (
        [
            {
                "notebook": name,
                **finding.summary(),
                "published": published(finding.metric),
                **_alone(made, finding),
                **_offline(made, finding),
            }
            for name, made in known.items()
            for finding in getattr(made, kind)
        ]
        for kind in ("estimates", "comparisons")
    )
    return {
        "estimates": estimates,
        "comparisons": comparisons,
        **_variance(known),
        **stood_in(known),
        **answered(known),
    }


def _variance(measurements: Mapping[str, Measurement]) -> dict[str, Any]:
    """`variance`: what questions and repeats add to each standard error, of notebooks that asked several times."""
    rows = [
        {"notebook": name, **row}
        for name, made in measurements.items()
        if "variance" in made.extra
        for row in made.extra["variance"].to_dict("records")
    ]
    return {"variance": rows} if rows else {}


def manifest(
    measurements: Measurements, parameters: Mapping[str, Any], notebooks: list[dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """What was run, on which data, with which seeds, by which versions."""
    made = _by_name(measurements)
    facts = {name: dict(measured.facts) for name, measured in made.items()}
    broken = {name: own for name, measured in made.items() if (own := _raised(measured))}
    return {
        **more,
        "parameters": dict(parameters),
        "notebooks": notebooks,
        "data": {name: some for name, known in facts.items() if (some := _data(known))},
        "seeds": {name: known["seed"] for name, known in facts.items() if "seed" in known},
        "statistics": {name: some for name, known in facts.items() if (some := _statistics(known))},
        **stood_in(made),
        **answered(made),
        **({"raised": broken} if broken else {}),
        **({"own_metrics": declared} if (declared := _own(facts)) else {}),
        "commit": next((known["commit"] for known in facts.values() if known.get("commit")), None),
        "versions": _versions(facts),
    }


def nothing(made: Measurement) -> str:
    """Why nothing at all was measured, of several reasons the most frequent; "" where anything was, or nobody asked."""
    values, reasons = made.scores["value"], made.scores["reason"]
    return "" if not len(values) or values.notna().any() else nothing_for(map(str, reasons))


def nothing_for(reasons: Iterable[str]) -> str:
    """The sentence on values none of which was measured, for these reasons."""
    counted = Counter(reasons)
    [(reason, count)] = counted.most_common(1)
    if not reason:
        return Reason("nothing was measured: none of {whole} values, and no reason was given", whole=counted.total())
    return Reason(
        "nothing was measured: none of {whole} values; of {part} the reason is: {said}",
        whole=counted.total(),
        part=count,
        said=read(reason),
    )


def _raised(made: Measurement) -> list[dict[str, Any]]:
    return [failure.fact for failure in gaps.raised(made.facts)]


def _by_name(measurements: Measurements) -> dict[str, Measurement]:
    return {name: measurements[name] for name in measurements.names()}


def _own(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the project's own metrics were, by label."""
    return {label: metric for known in facts.values() for label, metric in known.get("own_metrics", {}).items()}


def _data(known: Mapping[str, Any]) -> dict[str, Any]:
    return {key: known[key] for key in ("dataset", "data_hash") if key in known}


def _statistics(known: Mapping[str, Any]) -> dict[str, Any]:
    """With what a page's intervals and p are made anew from its tables."""
    wanted = (
        "level", "resamples", "seed", "baseline", "primary", "tops", "reachable", "good", "delta", "judge_scale",
        "people_scale", "limits", "rival", "threshold", "cost_shown", "cost_hidden", "cluster_by",
    )  # fmt: skip
    return {key: known[key] for key in wanted if known.get(key) is not None}


def _versions(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    by_package = versions(PACKAGES)
    for known in facts.values():
        by_package |= {str(key): str(value) for key, value in known.get("versions", {}).items()}
    return dict(sorted(by_package.items()))


_UNFIT = re.compile(r"[/\\\x00-\x1f\x7f]")
LONGEST = 200  # of a page's name, which is a file's
LONGEST_NAME, LONGEST_NOTE = 60, 500
_BEGINS_AN_ID = re.compile(r"[\dT~-]+")


def plain(name: str) -> str:
    """The name itself, if it is one of a file in a folder. Raises ValueError for one that leads elsewhere."""
    if not name or name.startswith(".") or _UNFIT.search(name) or len(name) > LONGEST:
        raise ValueError("a page's name is a file's name, without slashes, control characters or a dot in front")
    return name


def spoken(language: str) -> str:
    """The language itself, if pages can be written in it. Raises ValueError for another."""
    if language not in LANGUAGES:
        raise ValueError(f"pages are written in {' or '.join(LANGUAGES)}")
    return language


def named(name: str) -> str:
    """What a run is called, without spaces around it; an empty text for no name. Raises ValueError for a name that
    would be taken for something else, that is too long, or that holds signs which nobody sees."""
    text = _one_line(name, "name", LONGEST_NAME)
    if text == "latest" or _BEGINS_AN_ID.fullmatch(text) or text.startswith((".", "-", "/", "~")):
        raise ValueError(f"a run's name is no path, no option, not 'latest' and not digits alone, which begin the id "
                         f"of a run; it is {text!r}")  # fmt: skip
    return text


def noted(note: str) -> str:
    """What is said of a run, in one line. Raises ValueError for what is too long or holds signs that nobody sees."""
    return _one_line(note, "note", LONGEST_NOTE)


def _one_line(given: str, what: str, longest: int) -> str:
    text = given.strip()
    if text and (why := fault(text, longest)) is not None:
        raise ValueError(f"a run's {what} {why}")
    return text


Language = Annotated[str, AfterValidator(spoken)]


class Described(BaseModel):
    """A notebook of a run: its name, how it ended, the language of its page, the parameters that it had."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, AfterValidator(plain)]
    status: str = "complete"
    failure: str = ""
    language: Language = "en"
    parameters: dict[str, Any] = {}


class Manifest(BaseModel):
    """A run's manifest; fields that are not named here are kept as they are.

    name, note: what its user calls it and says of it; empty for none. started: seconds since 1970; seconds: what it
    took.
    also: the languages in which its pages are drawn besides those that they were run in.
    """

    model_config = ConfigDict(extra="allow")

    format: int = 1
    status: str = "complete"
    name: Annotated[str, AfterValidator(named)] = ""
    note: Annotated[str, AfterValidator(noted)] = ""
    started: Annotated[float, Field(ge=0, lt=LATEST_MOMENT)] | None = None
    seconds: Annotated[float, Field(ge=0, lt=LATEST_MOMENT)] | None = None
    language: Language = "en"
    also: list[Language] = []
    notebooks: list[Described] = []


MOST_TEXT, MOST_WEIGHT = 2**25, 2**27
"""Bytes of a JSON file or a notebook, and what its values take in memory: `{},` takes three of the ones and a hundred
of the others."""
MOST_IN_TABLES = 2**29
"""Bytes of memory that all its tables take."""
TEXTS = (".json", ".ipynb")


def text(path: Path) -> str:
    """The text of a JSON file of a run. Raises ValueError for one that a run does not have."""
    try:
        content = folders.text(path, MOST_TEXT)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no text in UTF-8") from None
    if reading.weight(content) > MOST_WEIGHT:
        raise ValueError(f"{path.name} has more values than a run has: they would take {MOST_WEIGHT:,} bytes")
    return content


def check(folder: Path) -> None:
    """Raises ValueError for a run whose files take more memory than a run does, and for tables that are none."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in TEXTS and path.is_file()):
        text(path)
    try:
        look_at_parquet(sorted(folder.rglob("*.parquet")), MOST_IN_TABLES)
    except reading.DatasetError as error:
        raise ValueError(f"a table of the run is too large, or none: {error}") from None


__all__ = ["finish", "new_run", "notebook_format", "point", "whole", "write", "write_by"]

PARTIAL = ".partial"
LATEST = "latest"
REDIRECT = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ragbench</title>'
    '<meta http-equiv="refresh" content="0; url=../{name}/index.html">'
    '<p><a href="../{name}/index.html">{name}</a></p></html>\n'
)


def notebook_format() -> Any:
    """The package nbformat.

    What it checks notebooks with would compile a grammar of addresses, for a second and a half, to check what no
    notebook has; so this one package is not there while they are imported.
    """
    name = "rfc3987_syntax"
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        import nbformat
    finally:
        if hidden:
            del sys.modules[name]
    return nbformat


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file, or none; a text without secrets."""
    folders.write(path, secrets.document_masker()(content) if isinstance(content, str) else content)


def new_run(reports: Path) -> Path:
    """A folder for a run that no other process has: `<reports>/<time>-<number>.partial` until `finish` names it.

    Raises FileExistsError where `latest` among the reports is a file or folder that ragbench did not make.
    """
    reports.mkdir(parents=True, exist_ok=True)
    if not _is_ours(reports / LATEST):
        raise FileExistsError(
            f"{reports / LATEST} is not ragbench's, and would lead to the newest report: rename it, and run again"
        )
    stem = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S")
    for number in range(1, 100_000):
        name = f"{stem}-{number:02d}"
        folder = reports / f"{name}{PARTIAL}"
        if (reports / name).exists():
            continue
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        if (reports / name).exists():  # another run of this name was finished between the two looks
            folder.rmdir()
            continue
        return folder
    raise FileExistsError(f"{reports}: 100,000 runs began within one second")


def finish(folder: Path) -> Path:
    """Name a run's folder for good and point `latest` to it."""
    final = folder.with_name(folder.name.removesuffix(PARTIAL))
    sync(folder)
    folder.rename(final)
    sync(final.parent)
    point(final.parent / LATEST, final)
    return final


def point(link: Path, target: Path) -> None:
    """Let `latest` lead to `target`: a relative link, or a page that redirects where links cannot be made.

    A folder of others under that name stays as it is.
    """
    if not _is_ours(link):
        return
    temporary = link.with_name(f".{link.name}-{os.getpid()}-{target.name}")
    try:
        temporary.symlink_to(target.name, target_is_directory=True)
    except OSError:
        if link.is_symlink() or link.is_file():
            link.unlink()
        link.mkdir(exist_ok=True)
        write(link / "index.html", REDIRECT.format(name=target.name))
        return
    try:
        if link.is_dir() and not link.is_symlink():
            (link / "index.html").unlink(missing_ok=True)
            link.rmdir()
        temporary.replace(link)
    finally:
        temporary.unlink(missing_ok=True)


def _is_ours(link: Path) -> bool:
    """Whether what is called `latest` is what `point` makes: a link, or a folder with nothing but a page."""
    if link.is_symlink() or not link.exists():
        return True
    return link.is_dir() and {path.name for path in link.iterdir()} <= {"index.html"}

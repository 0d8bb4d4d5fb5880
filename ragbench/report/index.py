"""index.html: what a run found, what was measured, what could not be, and all pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from ragbench.core.language import Language, mark
from ragbench.report.manifest import MANIFEST, SUMMARY, read_json
from ragbench.report.page import write_page
from ragbench.report.parts import Part, facts, trusted

if TYPE_CHECKING:
    from ragbench.report.run import PageRun, Run

# Signs in front of the words of verdicts, so that no colour is needed.
SIGNS = {
    "better": "▲",
    "worse": "▼",
    "the same": "=",
    "equal on every question": "=",
    "not shown": "○",
}
MOST_REASONS = 3  # why values are missing, most frequent first
STATUSES = {
    "failed": mark("This page is not complete."),
    "interrupted": mark("The run was interrupted before this page was complete."),
}


def write_index(run: Run) -> Path:
    """Write index.html into the run's folder, from what lies in it; returns its path."""
    _ = run.language.translate
    manifest = read_json(run.folder / MANIFEST)
    summary = read_json(run.folder / SUMMARY)
    pages = manifest["pages"]
    titles = {page["name"]: page["title"] for page in pages}
    comparisons = pd.DataFrame(summary["comparisons"])
    parts = [date_part(run, manifest)]
    if run.status == "interrupted":
        parts.append(Part(_("The run was interrupted: not all pages are there."), style="warning"))
    parts += verdict_parts(comparisons, titles, run.language)
    fragments = [part.html for part in parts]
    fragments += [page.overview for page in run.pages]
    fragments.append(cards_html(run.pages, run.language))
    below = [
        systems_part(pages, run.language),
        stand_ins_part(pages, run.language),
        unmeasured_part(run.folder, summary["estimates"], titles, run.language),
    ]
    fragments += [part.html for part in below if part is not None]
    title = _("What was found")
    return write_page(run.folder / "index.html", title, fragments, run.language.code)


def date_part(run: Run, manifest: Mapping[str, Any]) -> Part:
    """When, of what: the only line that two runs of the same inputs do not share."""
    from babel.dates import format_datetime

    _ = run.language.translate
    date = format_datetime(run.started, "d MMMM yyyy, HH:mm", locale=run.language.code)
    data = sorted({page["about"]["dataset"] for page in manifest["pages"] if "about" in page})
    named = {
        _("date"): date,
        _("run"): run.name,
        _("data set"): ", ".join(filter(None, data)) or "–",
        _("commit"): manifest["git_commit"][:8] or "–",
    }
    return facts(named)


def verdict_parts(
    comparisons: pd.DataFrame, titles: Mapping[str, str], language: Language
) -> list[Part]:
    """The finding of every challenger over all pages, and the table of primary comparisons."""
    _ = language.translate
    if comparisons.empty:
        return []
    primary = comparisons[comparisons["family"] == "primary"].astype(
        dict.fromkeys(("difference", "low", "high", "p_adjusted"), float)
    )
    # In the order of the pages.
    order = {page: place for place, page in enumerate(titles)}
    primary = primary.sort_values("page", key=lambda pages: pages.map(order), kind="stable")
    sentences = []
    for (challenger, baseline), rows in primary.groupby(["challenger", "baseline"], sort=False):
        words = []
        for word, found in rows.groupby("word", sort=False):
            names = ", ".join(short_title(titles[page]) for page in found["page"])
            words.append(f"{_(str(word))} ({names})")
        sentence = _("{challenger} against {baseline}: {words}.")
        bold = Markup('<b dir="auto">{}</b>').format(challenger)
        sentences.append(
            Markup("<p>{}</p>").format(
                trusted(sentence).format(challenger=bold, baseline=baseline, words="; ".join(words))
            )
        )
    table = pd.DataFrame(
        {
            _("system"): list(primary["challenger"]),
            _("verdict"): [f"{SIGNS.get(word, '')} {_(word)}".strip() for word in primary["word"]],
            _("difference"): [language.difference(row) for row in primary.to_dict("records")],
            "p": [language.p_value(p) for p in primary["p_adjusted"]],
            _("metric"): list(primary["metric"]),
            _("against"): list(primary["baseline"]),
            "n": [language.count(n) for n in primary["n"]],
        },
        index=page_links(primary["page"], titles),
    )
    return [
        Part(Markup("").join(sentences), style="finding"),
        Part(table, title=_("Every system against the baseline")),
    ]


def page_links(pages: Iterable[str], titles: Mapping[str, str]) -> pd.Index:
    """Links to pages by their short titles, to head rows."""
    link = Markup('<a href="{}.html">{}</a>')
    links = [link.format(page, short_title(titles[page])) for page in pages]
    # pandas would make plain texts of them, which are escaped.
    return pd.Index(links, dtype=object)


def short_title(title: str) -> str:
    """`Tier 1` of `Tier 1 · Does the system find the right passage?`."""
    return title.partition(" · ")[0]


def cards_html(pages: Sequence[PageRun], language: Language) -> Markup:
    """One card a page: its question and its answer."""
    _ = language.translate
    card = Markup('<div><h3><a href="{}.html">{}</a></h3>{}</div>')
    cards = []
    for page in pages:
        shown = page.finding
        if page.status in STATUSES:
            shown += Markup("<p>{} {}</p>").format(_(STATUSES[page.status]), page.failure)
        cards.append(card.format(page.name, page.title, shown))
    heading = Markup('<section class="part"><h2>{}</h2><div class="cards">{}</div></section>')
    return heading.format(_("All pages"), Markup("").join(cards))


def systems_part(pages: Sequence[Mapping[str, Any]], language: Language) -> Part | None:
    """What each system is."""
    described: dict[str, str] = {}
    for page in pages:
        described |= page.get("about", {}).get("systems", {})
    if not described:
        return None
    item = Markup("<dt>{}</dt><dd>{}</dd>")
    items = [item.format(name, description) for name, description in described.items()]
    content = Markup("<dl>{}</dl>").format(Markup("").join(items))
    return Part(content, title=language.translate("Systems"))


def stand_ins_part(pages: Sequence[Mapping[str, Any]], language: Language) -> Part | None:
    """Who only stands in for a model."""
    names: dict[str, None] = {}
    for page in pages:
        names |= dict.fromkeys(page.get("about", {}).get("stand_ins", ()))
    if not names:
        return None
    return Part(stand_ins_text(list(names), language), style="warning")


def stand_ins_text(names: Sequence[str], language: Language) -> str:
    """Say who only stands in for a model, and what that means."""
    sentence = language.translate(
        "Measured with offline stand-ins: {names}. They show that everything works, not how good "
        "a real model is."
    )
    return sentence.format(names=", ".join(names))


def unmeasured_part(
    folder: Path,
    estimates: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    language: Language,
) -> Part:
    """How many values each page lacks, and the most frequent reasons."""
    _ = language.translate
    title = _("What could not be measured")
    missing = pd.DataFrame(estimates, columns=["page", "n", "n_unmeasured"])
    counts = missing.groupby("page", sort=False)["n_unmeasured"].sum()
    counts = counts[counts > 0]
    if counts.empty:
        return Part(_("Everything was measured."), title=title)
    reasons = [
        missing_reasons(folder / "frames" / page / "scores.parquet") for page in counts.index
    ]
    table = pd.DataFrame(
        {
            _("values"): [language.count(count) for count in counts],
            _("most frequent reasons"): reasons,
        },
        index=page_links(counts.index, titles),
    )
    note = _("Values that are missing are in no mean, and are counted wherever they are missing.")
    return Part(table, title=title, note=note)


def missing_reasons(file: Path) -> str:
    """The most frequent reasons of one page, each with its count."""
    if not file.exists():
        return ""
    scores = pd.read_parquet(file, columns=["value", "reason"])
    counts = scores.loc[scores["value"].isna(), "reason"].value_counts()
    named = [f"{reason} ({count})" for reason, count in counts.head(MOST_REASONS).items()]
    return "; ".join(named)

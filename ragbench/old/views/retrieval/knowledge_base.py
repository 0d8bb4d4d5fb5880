"""How sources are used: topics with what was found for them, chunks never retrieved, pages retrieved everywhere."""

from __future__ import annotations

from typing import Any

from ragbench.old.core.parts import (
    Content,
    Entries,
    Entry,
    Figure,
    Item,
    Link,
    Number,
    Phrase,
    Plot,
    Section,
    Styled,
    Table,
    Text,
    bold,
    filled,
)
from ragbench.old.tiers.retrieval.sources import ChunkRow, CoverageRow, PageRow, TopicRow, UseRow
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.marks import (
    SYMBOLS,
    behind,
    left,
    mark,
    named,
    one_by_one,
    page_id,
    rows_of,
    series,
    shared_legend,
    shortened,
)
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, shown
from ragbench.old.views.retrieval.space import name as system_name
from ragbench.old.views.retrieval.space import passage
from ragbench.old.views.view import view

ROW = 24  # pixels: a line of 12 with room for a bar
BESIDE = 3
"""Numbers of so many systems stand beside a topic; of more they are folded with it."""
NAME = 46  # characters that 390 pixels leave beside a bar
SUMMARY = 110  # characters of a line


@view("topics")
def topics(material: Material, present: frozenset[str]) -> Content:
    """Topics of questions, with what was retrieved for each, and which of them are thin."""
    _ = material.text
    known = rows_of(TopicRow, material.kept("topics"))
    if not known:
        return Text(_("There are no topics to show."))
    title = topics_title(material)
    systems = shared_legend(material)
    of = material.population([sum(len(topic["samples"]) for topic in known)])
    axis = _("distinct passages found for each question of the topic ({population})", population=of)
    plots = [Plot(topics_figure(material), title)] if len(material.kept("coverage", "topic_id")) else []
    return (Figure(title, plots, systems, axis), shortened(_, [_topic(material, topic) for topic in known]))


def topics_title(material: Material) -> str:
    """Which topics are thin, by name where they are few."""
    _ = material.text
    thin = [row for row in rows_of(CoverageRow, material.kept("coverage", "topic_id")) if row["thin"]]
    names = list(dict.fromkeys(topic_name(material, row["topic_id"]) for row in thin))
    if not names:
        return _("No topic is thin beside the others")
    if len(names) <= 3:
        return _("Thin beside the others: {topics}", topics=_.enumeration([f"“{name}”" for name in names]))
    return _.plural("{n} topic is thin beside the others", "{n} topics are thin beside the others", len(names))


def topic_name(material: Material, number: int) -> str:
    """A topic's typical words; its number where it has none."""
    for row in rows_of(TopicRow, material.kept("topics")):
        if row["topic"] == number and len(row["words"]):
            return ", ".join(row["words"][:3])
    return str(number)


def topics_figure(material: Material) -> dict[str, Any]:
    """A row a topic, largest topic first; a mark a system."""
    _ = material.text
    covered = material.kept("coverage", "topic_id")
    numbers = sorted({int(number) for number in covered["topic_id"]})
    layout = chart.layout(material.text, len(numbers) * ROW + 44)
    layout["annotations"] = [_label(_row_name(material, number), row) for row, number in enumerate(numbers)]
    layout["xaxis"] = chart.axis(rangemode="tozero", showline=True, linecolor="@muted", nticks=8)
    layout["yaxis"] = chart.axis(
        tickvals=list(range(len(numbers))),
        ticktext=[chart.plain(_row_name(material, number), NAME) + "  " for number in numbers],
        range=[len(numbers) - 0.4, -0.6],
        tickfont={"color": "@ink", "size": 12},
    )
    traces = []
    for name in material.systems:
        own = {row["topic_id"]: row for row in rows_of(CoverageRow, covered, name)}
        by_place = {place: own[number] for place, number in enumerate(numbers) if number in own}
        mark = series(material, name)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "cliponaxis": False,
                "name": chart.plain(name),
                "x": [round(row["unique_chunks"] / row["question_count"], 6) for row in by_place.values()],
                "y": list(by_place),
                "marker": {"color": f"@series-{mark}", "size": 9, "symbol": SYMBOLS[mark]},
                "text": [_hover(material, name, row) for row in by_place.values()],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return {"data": traces, "layout": layout}


def _label(name: str, row: int) -> dict[str, Any]:
    """A topic's name above its row: what a narrow page shows in place of the axis."""
    place = {"xref": "paper", "yref": "y", "x": 0, "y": row - 0.46, "xanchor": "left", "yanchor": "middle"}
    quiet = {"showarrow": False, "visible": False, "font": {"size": 12, "color": "@ink"}, "bgcolor": "@paper"}
    return {"text": chart.plain(name, NAME), **place, **quiet}


def _row_name(material: Material, number: int) -> str:
    return f"{number} · {topic_name(material, number)}"


def _hover(material: Material, system: str, row: CoverageRow) -> str:
    _ = material.text
    parts = [
        _.plural("{n} question", "{n} questions", row["question_count"]),
        _.plural("{n} distinct passage", "{n} distinct passages", row["unique_chunks"]),
        _.plural("{n} page", "{n} pages", row["unique_urls"]),
    ]
    name = topic_name(material, row["topic_id"])
    return f"<b>{chart.plain(system)}</b> · {chart.plain(name)}<br>" + "<br>".join(map(chart.plain, parts))


def _topic(material: Material, topic: TopicRow) -> Entry:
    """A topic: its words, its numbers for each system, its questions with those at its centre first."""
    _, number, samples = material.text, topic["topic"], [str(sample) for sample in topic["samples"]]
    covered = material.kept("coverage", "topic_id")
    by_system = {
        name: row
        for name in material.systems
        for row in rows_of(CoverageRow, covered, name)
        if row["topic_id"] == number
    }
    marks = []
    for name, row in by_system.items():
        passages, pages = _.integer(row["unique_chunks"]), _.integer(row["unique_urls"])
        said = _("{passages} passages, {pages} pages", passages=passages, pages=pages)
        marks.append(mark(material, name, said))
    label = (" ", bold(_("thin"), "rb-worse")) if any(row["thin"] for row in by_system.values()) else ""
    words = shown(", ".join(topic["words"]), 80) or number
    count = Styled(_.plural("{n} question", "{n} questions", len(samples)), "small")
    asked = []
    for key in samples:
        text = shown(material.question_rows.get(key, {}).get("text"), 300)
        asked.append(Item((text, " ", Styled(shown(key, 80), "small")), anchor=anchor("topic-question", key)))
    body = (Text(_("Its questions, the most typical first"), "rb-lead"), Entries(asked, "rb-hits"))
    summary, name = (number, " · ", words, label, " ", count), anchor("topic", str(number))
    if len(marks) > BESIDE:
        return Entry(name, summary, None, (Text(Styled(marks, look="rb-row")), body))
    return Entry(name, summary, marks, body)


@view("topic_coverage")
def topic_coverage(material: Material, present: frozenset[str]) -> Content:
    """What was retrieved for each topic, as a table: questions, distinct passages, pages, a row a topic and system."""
    _ = material.text
    rows = rows_of(CoverageRow, material.kept("coverage", "topic_id"))
    if not rows:
        return ()
    several = len(material.systems) > 1
    heads = [(_("topic"), "rb-word"), *([(_("system"), "rb-word")] if several else []), _("questions"),
             _("distinct passages"), _("passages a question"), _("pages")]  # fmt: skip
    body = []
    for row in sorted(rows, key=lambda topic_row: (topic_row["topic_id"], material.systems.index(topic_row["system"]))):
        number = row["topic_id"]
        thin = (" ", bold(_("thin"), "rb-worse")) if row["thin"] else ""
        body.append(
            [
                (_row_name(material, number), thin),
                *([named(material, row["system"])] if several else []),
                row["question_count"],
                row["unique_chunks"],
                Number(row["unique_chunks"] / row["question_count"], 1),
                row["unique_urls"],
            ]
        )
    title = _("What was found for each topic")
    return Section([Table.of(_, title, heads, body)], title)


@view("unused")
def unused(material: Material, present: frozenset[str], count: int = 20) -> Content:
    """The chunks that were never retrieved; those that a question needs come first."""
    more = behind(material, present, material.text("Every passage and page with its values"))
    return (one_by_one(material.text, [_unused(material, name, count) for name in material.systems]), more)


def _unused(material: Material, system: str, count: int) -> Content:
    _, never = material.text, never_used(material, system)
    title = filled(
        _.plural(
            "<b>{system}</b>: {n} passage is never retrieved",
            "<b>{system}</b>: {n} passages are never retrieved",
            len(never),
            system="{system}",
        ),
        system=system_name(material, system),
    )
    made = []
    for chunk in never[:count]:
        needed = _.plural("needed by {n} question", "needed by {n} questions", chunk["needed"])
        marks = Styled(needed, look="rb-worse") if chunk["needed"] else ""
        body = Entries([passage({**chunk, "id": chunk["chunk"]})], "rb-hits")
        identifier = anchor(f"unused{material.systems.index(system)}", str(chunk["chunk"]))
        made.append(Entry(identifier, shown(chunk.get("text"), SUMMARY), marks, body))
    return (
        Text(title, "h3"),
        shortened(_, made) if made else Text(_("Every passage is retrieved at least once.")),
        left(material, len(never), count),
    )


def never_used(material: Material, system: str) -> list[ChunkRow]:
    """Chunks that the system never retrieved, those needed by most questions first."""
    idle = {row["chunk"] for row in rows_of(UseRow, material.kept("uses"), system) if row["questions"] == 0}
    unused = [row for row in rows_of(ChunkRow, material.kept("chunks")) if row["chunk"] in idle]
    return sorted(unused, key=lambda row: (-row["needed"], row["chunk"]))


@view("pages")
def pages(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """The pages that are retrieved for most questions."""
    return one_by_one(material.text, [_pages(material, present, name, count) for name in material.systems])


def _pages(material: Material, present: frozenset[str], system: str, count: int) -> Content:
    _, rows = material.text, rows_of(PageRow, material.kept("pages"), system)[:count]
    named = system_name(material, system)
    title = Text(filled(_("<b>{system}</b>: pages retrieved for most questions"), system=named), "h3")
    if not rows:
        return (title, Text(_("The passages of this data set name no pages.")))
    heads = (_("page"), _("retrieved for"), _("labelled for"), _("times its share"), _("passages"))
    made = [_page(material, present, row) for row in rows]
    return (title, shortened(_, made, lambda some: [Table.of(_, _("Pages"), heads, some)]))


def _page(material: Material, present: frozenset[str], row: PageRow) -> list[Phrase]:
    _, asked, questions = material.text, int(material.facts.get("n_questions", 0)), row["questions"]
    share = _.percent(questions / asked) if asked else _.number(None)
    name = shown(row["title"], 90) or shown(row["page"], 90)
    address = f"#{anchor('q', page_id(str(row['page'])))}" if "questions" in present else None
    where = (" ", Styled(shown(row["page"], 90), "small")) if shown(row["title"]) else ""
    return [
        (Link(name, address), where),
        (questions, " ", Styled(share, look="rb-interval")),
        int(row["needed"]),
        f"×{_.number(row['excess'], 1)}",
        int(row["chunks"]),
    ]

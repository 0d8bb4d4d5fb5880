"""How sources are used: topics with what was found for them, chunks never retrieved, pages retrieved everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.show.basics import chart
from ragbench.show.basics.cells import cell, table
from ragbench.show.basics.links import behind
from ragbench.show.basics.lists import entry, ordered, rows_of
from ragbench.show.basics.marks import SYMBOLS, legend, named, series, sign
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, shown
from ragbench.show.items.passages import page_id
from ragbench.show.page import charted, view
from ragbench.show.retrieval.neighbours import text

ROW = 28
NAME = 46
SUMMARY = 110
FIRST = 4  # questions of a topic that are shown before it is unfolded further


@view("topics")
def topics(material: Material, present: frozenset[str]) -> Markup:
    """Topics of questions, with what was retrieved for each, and which of them are thin."""
    _ = material.text
    known = rows_of(material.kept("topics"))
    if not known:
        return Markup("<p>{}</p>").format(_("There are no topics to show."))
    title = topics_title(material)
    figure = Markup(
        '<figure><figcaption><span class="rb-title">{}</span><ul class="rb-legend">{}</ul></figcaption>{}'
        '<p class="rb-axis">{}</p></figure>'
    ).format(
        title,
        legend(material) if len(material.systems) > 1 else "",
        chart.plot(topics_figure(material), shown(title)),
        _("distinct passages found for each question of the topic"),
    )
    return figure + ordered(_topic(material, one) for one in known)


def topics_title(material: Material) -> str:
    """Which topics are thin, by name where they are few."""
    _ = material.text
    thin = [row for row in rows_of(material.kept("coverage", "topic_id")) if row["thin"]]
    names = list(dict.fromkeys(topic_name(material, int(row["topic_id"])) for row in thin))
    if not names:
        return _("No topic is thin beside the others")
    if len(names) <= 3:
        return _("Thin beside the others: {topics}", topics=_.enumeration([f"“{name}”" for name in names]))
    return _.plural("{n} topic is thin beside the others", "{n} topics are thin beside the others", len(names))


def topic_name(material: Material, number: int) -> str:
    """A topic's typical words; its number where it has none."""
    for row in rows_of(material.kept("topics")):
        if int(row["topic"]) == number and len(row["words"]):
            return ", ".join(row["words"][:3])
    return str(number)


@charted("topics", "coverage", "topic_id")
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
        own = {int(row["topic_id"]): row for row in rows_of(covered, name)}
        found = [(place, own[number]) for place, number in enumerate(numbers) if number in own]
        place_of = series(material, name)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": chart.plain(name),
                "x": [round(row["unique_chunks"] / row["question_count"], 6) for _place, row in found],
                "y": [place for place, _row in found],
                "marker": {"color": f"@series-{place_of}", "size": 9, "symbol": SYMBOLS[place_of]},
                "text": [_hover(material, name, row) for _place, row in found],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return {"data": traces, "layout": layout}


def _label(name: str, row: int) -> dict[str, Any]:
    """A topic's name above its row: what a narrow page shows in place of the axis."""
    return {
        "text": chart.plain(name, NAME),
        "xref": "paper",
        "yref": "y",
        "x": 0,
        "y": row - 0.46,
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
        "visible": False,
        "font": {"size": 12, "color": "@ink"},
        "bgcolor": "@paper",
    }


def _row_name(material: Material, number: int) -> str:
    return f"{number} · {topic_name(material, number)}"


def _hover(material: Material, system: str, row: Mapping[str, Any]) -> str:
    _ = material.text
    parts = [
        _.plural("{n} question", "{n} questions", int(row["question_count"])),
        _.plural("{n} distinct passage", "{n} distinct passages", int(row["unique_chunks"])),
        _.plural("{n} page", "{n} pages", int(row["unique_urls"])),
    ]
    name = topic_name(material, int(row["topic_id"]))
    return f"<b>{chart.plain(system)}</b> · {chart.plain(name)}<br>" + "<br>".join(map(chart.plain, parts))


def _topic(material: Material, one: Mapping[str, Any]) -> Markup:
    """A topic: its words, its numbers for each system, its questions with those at its centre first."""
    _ = material.text
    number, samples = int(one["topic"]), [str(sample) for sample in one["samples"]]
    marks, thin = [], False
    for name in material.systems:
        row = next(
            (r for r in rows_of(material.kept("coverage", "topic_id"), name) if int(r["topic_id"]) == number), None
        )
        if row is None:
            continue
        thin = thin or bool(row["thin"])
        marks.append(
            Markup('<span class="rb-mark" title="{0}"><span class="rb-hidden">{0} </span>{1}{2}</span>').format(
                shown(name),
                sign(material, name),
                _(
                    "{passages} passages, {pages} pages",
                    passages=_.integer(int(row["unique_chunks"])),
                    pages=_.integer(int(row["unique_urls"])),
                ),
            )
        )
    label = Markup(' <b class="rb-worse">{}</b>').format(_("thin")) if thin else ""
    words = shown(", ".join(one["words"]), 80) or number
    return entry(
        anchor("topic", str(number)),
        Markup("{} · {}{} <small>{}</small>").format(
            number, words, label, _.plural("{n} question", "{n} questions", len(samples))
        ),
        Markup("").join(marks),
        Markup('<p class="rb-lead">{}</p><ul class="rb-hits">{}</ul>').format(
            _("Its questions, the most typical first"), Markup("").join(_question(material, key) for key in samples)
        ),
    )


def _question(material: Material, sample: str) -> Markup:
    row = material.question_rows.get(sample, {})
    return Markup('<li id="{}">{} <small>{}</small></li>').format(
        anchor("topic-question", sample), shown(row.get("text"), 300), shown(sample, 80)
    )


@view("unused")
def unused(material: Material, present: frozenset[str], count: int = 20) -> Markup:
    """The chunks that were never retrieved; those that a question needs come first."""
    more = behind(material, present, material.text("Every passage and every page with its values"))
    return Markup("").join(_unused(material, name, count) for name in material.systems) + more


def _unused(material: Material, system: str, count: int) -> Markup:
    _ = material.text
    never = never_used(material, system)
    title = _.plural(
        "<b>{system}</b>: {n} passage is never retrieved",
        "<b>{system}</b>: {n} passages are never retrieved",
        len(never),
        system=_name(material, system),
    )
    place = material.systems.index(system)
    items = ordered(_chunk(material, f"unused{place}", one) for one in never[:count])
    left = len(never) - count
    more = ""
    if left > 0:
        more = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", left)
    return Markup("<h3>{}</h3>{}{}").format(
        Markup(title),  # noqa: S704 - our own text; the name in it is escaped
        items if never else Markup("<p>{}</p>").format(_("Every passage is retrieved at least once.")),
        Markup('<p class="rb-meta">{}</p>').format(more) if more else "",
    )


def never_used(material: Material, system: str) -> list[Mapping[str, Any]]:
    """Chunks that the system never retrieved, those needed by most questions first."""
    idle = {str(row["chunk"]) for row in rows_of(material.kept("uses"), system) if row["questions"] == 0}
    found = [row for row in rows_of(material.kept("chunks")) if str(row["chunk"]) in idle]
    return sorted(found, key=lambda row: (-int(row["needed"]), str(row["chunk"])))


def _chunk(material: Material, prefix: str, one: Mapping[str, Any]) -> Markup:
    _ = material.text
    needed = int(one["needed"])
    label = Markup("")
    if needed:
        said = _.plural("needed by {n} question", "needed by {n} questions", needed)
        label = Markup('<span class="rb-worse">{}</span>').format(said)
    return entry(
        anchor(prefix, str(one["chunk"])),
        shown(one.get("text"), SUMMARY),
        label,
        Markup('<ul class="rb-hits">{}</ul>').format(text({**one, "id": one["chunk"]})),
    )


@view("pages")
def pages(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The pages that are retrieved for most questions."""
    return Markup("").join(_pages(material, present, name, count) for name in material.systems)


def _pages(material: Material, present: frozenset[str], system: str, count: int) -> Markup:
    _ = material.text
    rows = rows_of(material.kept("pages"), system)[:count]
    title = Markup("<h3>{}</h3>").format(
        _.html("<b>{system}</b>: pages retrieved for most questions", system=_name(material, system))
    )
    if not rows:
        return title + Markup("<p>{}</p>").format(_("The passages of this data set name no pages."))
    heads = (_("page"), _("retrieved for"), _("labelled for"), _("times its share"), _("passages"))
    head = [Markup("<th scope=col>{}</th>").format(name) for name in heads]
    return title + table(_("Pages"), head, [_page(material, present, heads, row) for row in rows])


def _page(material: Material, present: frozenset[str], heads: tuple[str, ...], row: Mapping[str, Any]) -> Markup:
    _ = material.text
    asked = int(material.facts.get("n_questions", 0))
    questions = int(row["questions"])
    share = _.percent(questions / asked) if asked else _.number(None)
    address = Markup(" <small>{}</small>").format(shown(row["page"], 90)) if shown(row["title"]) else ""
    values = (
        Markup('{} <span class="rb-interval">{}</span>').format(_.integer(questions), share),
        _.integer(int(row["needed"])),
        f"×{_.number(row['excess'], 1)}",
        _.integer(int(row["chunks"])),
    )
    cells = Markup("").join(cell(name, value) for name, value in zip(heads[1:], values, strict=True))
    name = shown(row["title"], 90) or shown(row["page"], 90)
    if "questions" in present:
        name = Markup('<a href="#{}">{}</a>').format(anchor("q", page_id(str(row["page"]))), name)
    return Markup("<tr><th scope=row>{}{}</th>{}</tr>").format(name, address, cells)


def _name(material: Material, system: str) -> Markup:
    return named(material, system) if len(material.systems) > 1 else shown(system)

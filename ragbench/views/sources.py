"""What the page of sources shows: how much of the base is used, topics, what is never retrieved."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ragbench.core.language import NOTHING, mark
from ragbench.core.metric import CATALOGUE
from ragbench.report.figures import new_figure, system_styles
from ragbench.report.parts import Part, trusted
from ragbench.views import comparison
from ragbench.views.questions import clip

ROW_HEIGHT = 26  # pixels of a topic
MOST_LISTED = 30  # passages, or pages; the frame `uses` has all
LONGEST_SHOWN = 130  # characters of a passage
SHOWN_WORDS = 3  # of a topic
# What the numbers are that the catalogue has no entry of.
WORDS = {
    "n_topics": mark("How many topics the questions were grouped into."),
    "total_questions": mark("How many questions were asked."),
    "avg_chunks_per_topic": mark("Mean number of distinct passages that were found for a topic."),
}


def answer(result: Any) -> Part:
    """The finding: how much of the base every system retrieves, and what it never does."""
    language = result.language
    _ = language.translate
    message = _(
        "{system} retrieves {used} of {total} passages ({share}) among the first {k} for {n} "
        "questions."
    )
    estimates = result.estimates.set_index(["system", "metric"])
    uses = result.statement.uses
    paragraphs = []
    for system in answering(result):
        rows = estimates.loc[system]
        text = trusted(message).format(
            system=comparison.bold(system),
            used=comparison.number_text(rows.loc["used_chunks"], "used_chunks", language),
            total=language.count(int(rows.loc["total_chunks", "value"])),
            share=language.percent(rows.loc["utilization_rate", "value"]),
            k=result.request.k,
            n=language.count(int(rows.loc["used_chunks", "n"])),
        )
        never = uses[(uses["system"] == system) & (uses["questions"] == 0)]
        passages, pages = (never[never["unit"] == unit] for unit in ("passage", "page"))
        paragraphs.append(Markup("<p>{}</p>").format(text))
        if len(passages):
            more = _(
                "Never retrieved: passages {passages}, of which questions need {needed}; pages "
                "{pages}."
            ).format(
                passages=language.count(len(passages)),
                needed=language.count(int((passages["labelled"] > 0).sum())),
                pages=language.count(len(pages)),
            )
            paragraphs.append(Markup('<p><span class="more">{}</span></p>').format(more))
    paragraphs += [Markup("<p>{}</p>").format(text) for text in comparison.silences(result)]
    return Part(Markup("").join(paragraphs), style="finding")


def facts(result: Any) -> Part:
    """What was measured, in one line."""
    _ = result.language.translate
    named = {
        _("questions"): result.language.count(len(result.frames.questions)),
        _("passages"): result.language.count(len(result.frames.passages)),
        "k": result.request.k,
        _("topics"): len(result.frames.topics),
    }
    return comparison.about_facts(result, named)


def numbers(result: Any) -> Part:
    """All numbers, a column a system."""
    language = result.language
    _ = language.translate
    estimates = result.estimates.set_index(["system", "metric"])
    metrics = list(dict.fromkeys(result.estimates["metric"]))
    styles = system_styles(result.systems, result.request.baseline)
    columns = {
        f"{styles[system].sign} {system}": [
            comparison.number_text(estimates.loc[system, name], name, language) for name in metrics
        ]
        for system in result.systems
    }
    summaries = {name: CATALOGUE[name].summary for name in metrics if name in CATALOGUE} | WORDS
    columns[_("what it is")] = [_(summaries[name]) for name in metrics]
    note = _(
        "Intervals: of another set of so many questions, by the jackknife over independent groups. "
        "Few used passages can mean a narrow set of questions, many can mean noise."
    )
    return Part(pd.DataFrame(columns, index=metrics), title=_("All numbers"), note=note)


def answering(result: Any) -> list[str]:
    """The systems that did not fail at every question."""
    asked = result.frames.asked
    answered = set(asked.loc[asked["error"] == "", "system"])
    return [name for name in result.systems if name in answered]


def topic_names(result: Any) -> dict[int, str]:
    """What topics are called: number, words."""
    names = {}
    for number, words in result.frames.topics.to_numpy():
        names[number] = f"{number + 1} · {', '.join(words.split(', ')[:SHOWN_WORDS])}"
    return names


def topics(result: Any) -> Part | None:
    """How many distinct passages every system finds for a question of every topic; None: none."""
    language = result.language
    _ = language.translate
    names = topic_names(result)
    figure = new_figure(language, 110 + ROW_HEIGHT * (len(names) + len(result.systems)))
    styles = system_styles(result.systems, result.request.baseline)
    coverage = result.frames.coverage
    frame = coverage[coverage["system"].isin(answering(result))]
    if frame.empty:
        return None
    # Questions that a system failed at found nothing because of that.
    asked = result.frames.asked.merge(result.frames.questions, on="question_id")
    answered = asked.query("error == ''").value_counts(["system", "topic_id"]).rename("answered")
    frame = frame.join(answered, how="inner", on=["system", "topic_id"])
    frame["name"] = frame["topic_id"].map(names)
    frame["each"] = frame["unique_chunks"] / frame["answered"]
    for system, rows in frame.groupby("system", sort=False):
        texts = [f"{row.unique_chunks} / {row.answered:.0f}" for row in rows.itertuples()]
        figure.add_scatter(
            name=system,
            x=rows["each"],
            y=rows["name"],
            mode="markers",
            marker={"color": styles[system].colour, "symbol": styles[system].symbol},
            customdata=texts,
            hovertemplate="%{fullData.name} · %{customdata}<extra></extra>",
        )
    title = _("distinct passages for each question of the topic")
    figure.update_xaxes(title_text=title, rangemode="tozero", showline=True)
    figure.update_yaxes(autorange="reversed", showline=False)
    least = frame.loc[frame["each"].idxmin()]
    text = _("Least is found for the topic {topic}: {each} passages a question by {system}")
    text = text.format(
        topic=least["name"], each=language.number(least["each"], 1), system=least["system"]
    )
    note = _(
        "A topic whose questions keep finding the same few passages may lack pages: check whether "
        "the answers are in them. Topics are named by words that are frequent in them and rare "
        "elsewhere."
    )
    return Part(figure, title=text, note=note)


def coverage(result: Any) -> Part:
    """The seed's topic coverage: questions, passages and pages of every topic."""
    language = result.language
    _ = language.translate
    frame = result.frames.coverage
    first = frame[frame["system"] == result.systems[0]]
    columns = {_("questions"): [language.count(n) for n in first["question_count"]]}
    for system in answering(result):
        rows = frame[frame["system"] == system]
        pairs = rows[["unique_chunks", "unique_urls"]].to_numpy()
        columns[system] = [f"{passages} · {pages}" for passages, pages in pairs]
    names = topic_names(result)
    return Part(
        pd.DataFrame(columns, index=[names[number] for number in first["topic_id"]]),
        title=_("Topics in numbers"),
        note=_("Distinct passages · pages that were retrieved for the questions of a topic."),
        is_folded=True,
    )


def unused(result: Any) -> Part | None:
    """The passages that a system never retrieves, those that questions need first; None: no use."""
    language = result.language
    _ = language.translate
    uses = result.statement.uses
    if uses.empty:
        return None
    never = uses[(uses["unit"] == "passage") & (uses["questions"] == 0)]
    title = _("Passages that are never retrieved")
    if never.empty:
        return Part(_("Every passage is retrieved for some question."), title=title)
    by_name = never.groupby("name", sort=False)
    table = by_name.agg(systems=("system", list), labelled=("labelled", "first"))
    table = table.sort_values("labelled", ascending=False, kind="stable")
    passages = result.frames.passages.set_index("passage_id")
    shown = table.head(MOST_LISTED)
    styles = system_styles(result.systems, result.request.baseline)
    rows = {
        _("passage"): [clip(passages.loc[name, "text"], LONGEST_SHOWN) for name in shown.index],
        _("page"): [
            passages.loc[name, "title"] or passages.loc[name, "url"] for name in shown.index
        ],
        _("never by"): [
            ", ".join(f"{styles[name].sign} {name}" for name in systems)
            for systems in shown["systems"]
        ],
        _("labelled for"): [language.count(n) if n else NOTHING for n in shown["labelled"]],
    }
    note = _(
        "Passages: {total}, of which {shown} are listed. Where one is labelled for a question, the "
        "search is at fault; about the others this data set may simply not ask."
    )
    return Part(
        pd.DataFrame(rows, index=list(shown.index)),
        title=title,
        note=note.format(total=language.count(len(table)), shown=language.count(len(shown))),
        is_folded=len(shown) > comparison.MOST_SHOWN,
    )


def pages(result: Any) -> Part | None:
    """For how many questions every page is retrieved; None where passages name no page."""
    language = result.language
    _ = language.translate
    uses = result.statement.uses
    if uses.empty:
        return None  # every system failed everywhere
    of_pages = uses[uses["unit"] == "page"]
    if of_pages.empty:
        return None
    systems = answering(result)
    wide = of_pages.pivot(index="name", columns="system", values="questions")[systems]
    labelled = of_pages.drop_duplicates("name").set_index("name")["labelled"]
    order = wide.max(axis=1).sort_values(ascending=False, kind="stable").index[:MOST_LISTED]
    titles = result.frames.passages.drop_duplicates("url").set_index("url")["title"]
    columns = {_("labelled for"): [language.count(int(labelled[name])) for name in order]}
    for system in systems:
        columns[system] = [language.count(int(wide.loc[name, system])) for name in order]
    note = _(
        "For how many questions a page is retrieved. One that stands in many rankings and answers "
        "few questions takes the places of better ones."
    )
    return Part(
        pd.DataFrame(columns, index=[titles[name] or name for name in order]),
        title=_("Pages by how often they are retrieved"),
        note=note,
        is_folded=True,
    )


def method(result: Any) -> Part:
    """How it is measured."""
    _ = result.language.translate
    text = _(
        "Every system searches for every question, also for those without an answer in the base; "
        "the first {k} passages of each ranking count as used. Topics are clusters of the "
        "questions' vectors by k-means with a fixed seed, as many as have the highest silhouette "
        "unless their number is set, and the same for all systems. n_alone: passages that a "
        "question retrieves and no other one does."
    )
    return Part(text.format(k=result.request.k), title=_("Method"))


def limits(result: Any) -> Part:
    """What the page does not show."""
    _ = result.language.translate
    text = _(
        "Nothing here is good or bad by itself. A passage that these questions do not reach may be "
        "needed tomorrow. Topics are groups of similar wording: two of them can be one subject. "
        "Use grows with the number of questions and with k: compare it at equal numbers of both."
    )
    return Part(text, title=_("What this does not show"))

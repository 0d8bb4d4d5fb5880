"""What the page of a data set shows: findings, their texts, counts, lengths, languages."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ragbench.core.language import NOTHING, mark
from ragbench.report.figures import colour, new_figure
from ragbench.report.parts import Part
from ragbench.tiers.dataset import COPIES, KINDS, LANGUAGES
from ragbench.views import comparison
from ragbench.views.questions import clip, questions

FINDINGS = {**KINDS, **COPIES, **LANGUAGES}
EFFECTS = {
    "label_unknown": mark("nobody can find it: recall looks worse"),
    "question_is_passage": mark("its own words find it: every search looks better"),
    "passage_copied": mark("who finds the copy is counted as missing it"),
    "answer_not_in_passage": mark("label or answer is wrong: right answers look wrong"),
    "question_copied": mark("counts twice"),
    "passage_repeated": mark("takes another's place in rankings"),
    "question_language": mark("is found only by searches that know both languages"),
    "passage_language": mark("is found only by searches that know both languages"),
}
TABLES = {
    "questions": mark("questions of the data set"),
    "reference answers": mark("reference answers"),
    "passages": mark("passages"),
    "dialogues": mark("turns of dialogues"),
    "history": mark("logged questions"),
    "decisions": mark("answers to be shown or not"),
}
COUNTS = (
    mark("answerable"),
    mark("labelled"),
    mark("with a reference answer"),
    mark("independent groups"),
    mark("pages"),
    mark("relevance labels"),
)
MOST_LISTED = 100  # texts behind the findings
LONGEST_SHOWN = 160  # characters of one
BOX_HEIGHT = 34  # pixels of one table's lengths


def answer(result: Any) -> Part:
    """The finding: what makes numbers better or worse, and how many questions can be answered."""
    language = result.language
    _ = language.translate
    found = result.frames.findings
    found = found[found["count"] > 0]
    counts = result.frames.counts.set_index("name")["count"]
    text = _("Nothing was found that makes numbers look better or worse than they are.")
    if len(found):
        told = [
            f"{_(FINDINGS[kind])}: {count_text(count, total, language)}"
            for kind, count, total in found.to_numpy()
        ]
        text = _("These make numbers look better or worse than they are: {findings}.")
        text = text.format(findings="; ".join(told))
    more = _("Questions that can be answered: {answerable}; with a labelled passage: {labelled}.")
    more = more.format(
        answerable=count_text(counts["answerable"], counts["questions"], language),
        labelled=count_text(counts["labelled"], counts["questions"], language),
    )
    content = Markup('<p>{}</p><p><span class="more">{}</span></p>').format(text, more)
    return Part(content, style="finding")


def count_text(count: int, total: int, language: Any) -> str:
    """`129 of 157, 82 %`."""
    if not total:
        return NOTHING
    text = language.translate("{count} of {total} ({share})")
    return text.format(
        count=language.count(count),
        total=language.count(total),
        share=language.percent(count / total),
    )


def facts(result: Any) -> Part:
    """How large the data set is, in one line."""
    _ = result.language.translate
    counts = result.frames.counts.set_index("name")["count"]
    shown = ("questions", "passages", "pages", "independent groups")
    named = {_(name): result.language.count(int(counts[name])) for name in shown}
    return comparison.about_facts(result, named)


def findings(result: Any) -> Part:
    """All that was looked for, with how often it was found and what it does."""
    language = result.language
    _ = language.translate
    frame = result.frames.findings
    table = pd.DataFrame(
        {
            _("found"): [language.count(count) for count in frame["count"]],
            _("out of"): [language.count(total) for total in frame["total"]],
            _("what it does"): [_(EFFECTS[kind]) for kind in frame["kind"]],
        },
        index=[_(FINDINGS[kind]) for kind in frame["kind"]],
    )
    note = _("A finding is a reason to read a text, not a fault by itself.")
    return Part(table, title=_("What was looked for"), note=note)


def examples(result: Any) -> Part | None:
    """The texts behind the findings; None where nothing was found."""
    _ = result.language.translate
    asked = result.frames.questions.set_index("question_id")["text"].to_dict()
    passages = result.frames.passages.set_index("passage_id")["text"].to_dict()
    rows = []
    for kind, question_id, passage_id in result.frames.doubts.to_numpy():
        rows.append((_(KINDS[kind]), asked[question_id], passages.get(passage_id, passage_id)))
    texts_by_table = {"questions": asked, "passages": passages}
    for kind, table in zip(COPIES, texts_by_table, strict=True):
        copies = result.frames.duplicates
        for first, second in copies.loc[
            copies["table"] == table, ["text_id", "copy_of"]
        ].to_numpy():
            texts = texts_by_table[table]
            rows.append((_(COPIES[kind]), texts[first], f"{second}: {texts[second]}"))
    if not rows:
        return None
    kinds, firsts, seconds = zip(*rows[:MOST_LISTED], strict=True)
    table = pd.DataFrame(
        {
            _("text"): [clip(text, LONGEST_SHOWN) for text in firsts],
            _("passage, or what it repeats"): [clip(text, LONGEST_SHOWN) for text in seconds],
        },
        index=list(kinds),
    )
    note = _("{shown} of {total} are listed; the frames doubts and duplicates have all.")
    note = note.format(shown=len(table), total=len(rows)) if len(rows) > len(table) else ""
    return Part(table, title=_("The texts behind the findings"), note=note, is_folded=True)


def sizes(result: Any) -> Part:
    """How many words the texts have: a box a table."""
    language = result.language
    _ = language.translate
    frame = result.frames.sizes
    figure = new_figure(language, 90 + BOX_HEIGHT * len(frame))
    names = [_(TABLES[table]) for table in frame["table"]]
    figure.add_box(
        orientation="h",
        y=names,
        lowerfence=frame["q05"],
        q1=frame["q25"],
        median=frame["q50"],
        q3=frame["q75"],
        upperfence=frame["q95"],
        line={"color": colour("accent")},
        fillcolor=colour("soft"),
        width=0.5,
        showlegend=False,
        hoverinfo="x",
    )
    figure.update_xaxes(title_text=_("words"), rangemode="tozero", showline=True)
    figure.update_yaxes(autorange="reversed", showgrid=False, showline=False)
    medians = [f"{name} {words:.0f}" for name, words in zip(names, frame["q50"], strict=True)]
    title = _("Words of half of the texts, at most: {medians}").format(medians=", ".join(medians))
    note = _("Boxes hold the middle half of the texts, lines nine in ten.")
    return Part(figure, title=title, note=note)


def numbers(result: Any) -> Part:
    """All counts, and lengths and languages by table."""
    language = result.language
    _ = language.translate
    told = result.frames.languages
    rows = []
    for row in result.frames.sizes.itertuples():
        codes = told.loc[told["table"] == row.table, "language"].replace("", _("not told"))
        shares = [
            f"{code} {language.percent(share)}"
            for code, share in codes.value_counts(normalize=True).items()
        ]
        words = [f"{words:.0f}" for words in (row.q05, row.q50, row.q95)]
        rows.append((language.count(row.texts), *words, ", ".join(shares)))
    columns = [_("texts"), _("words, 5 %"), _("median"), "95 %", _("languages")]
    names = [_(TABLES[table]) for table in result.frames.sizes["table"]]
    sizes = pd.DataFrame(rows, columns=columns, index=names)
    counts = result.frames.counts.set_index("name")["count"].reindex(list(COUNTS))
    others = ", ".join(f"{_(name)} {language.count(int(count))}" for name, count in counts.items())
    note = _(
        "The language of a text of fewer than five words is not told, nor where a model of 97 "
        "languages is not sure."
    )
    return Part(sizes, title=_("All numbers"), note=f"{others}. {note}")


def every_question(result: Any) -> Part | None:
    """The list of every question; None where nothing is known of them."""
    return questions(result) if len(result.scores) else None


def left_out(result: Any) -> Part | None:
    """What the reader says of rows that could not be used; None where there is nothing to say."""
    if not result.about.notes:
        return None
    text = "\n\n".join(result.about.notes)
    return Part(text, title=result.language.translate("What was left out"), is_folded=True)


def method(result: Any) -> Part:
    """How it was looked for."""
    _ = result.language.translate
    text = _(
        "The texts are looked over as they are; nothing is retrieved, and no model is asked. "
        "Copies are told by their words, without case and signs. Labelled passages lack the answer "
        "where together they lack a number of the reference answer, or most of its words."
    )
    return Part(text, title=_("Method"))


def limits(result: Any) -> Part:
    """What the page does not show."""
    _ = result.language.translate
    text = _(
        "What was not found can still be there: a copy in other words, a label that is wrong "
        "although words agree. Read the worst questions of Tier 1."
    )
    return Part(text, title=_("What this does not show"))

"""What was done to the numbers and where they come from, in sentences made from the settings. No clock and no path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.old.core.parts import (
    Content,
    Entries,
    Item,
    Part,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    bold,
    joined,
    terms,
)
from ragbench.old.core.stand_ins import names as names_of
from ragbench.old.core.stand_ins import of
from ragbench.old.core.types import Verdict
from ragbench.old.stats.signs import STUDENTIZED
from ragbench.old.tiers.basics.findings import said as said_of
from ragbench.old.tiers.basics.verdict_tables import interval_names
from ragbench.old.views.about import metric_page
from ragbench.old.views.basics.differences import BY_PEOPLE
from ragbench.old.views.basics.marks import metric_name
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shown
from ragbench.old.views.sentences import data_sets, descriptions, judges
from ragbench.old.views.sentences.conclusions import unit
from ragbench.old.views.sentences.judges import known
from ragbench.old.views.view import view


@view("method")
def method(material: Material, present: frozenset[str]) -> Content:
    """What was done to the numbers: intervals, tests, corrections, clusters, parameters, and what the metrics mean.

    Where something was judged, also who judged, unless the page says that elsewhere.
    """
    if material.facts.get("describes"):
        sentences = descriptions.method(material)
    else:
        sentences = [*_intervals(material), *_sets(material), *_tests(material), *_clusters(material)]
    doubted = data_sets.doubts(material.facts.get("doubts") or {}, material.text)
    return (
        Text(" ".join(sentences)) if sentences else (),
        rule(material),
        Text(" ".join(doubted), "rb-standin") if doubted else (),
        [Text(said, "rb-standin") for said in judges.answered(material, "embedder", "other")],
        [Text(said, "rb-meta") for said in judges.answered(material, "embedder", "alias")],
        judges.said(material) if judges.known(material) and "judges" not in present else (),
        _systems(material),
        parameters(material),
        _metrics(material, present),
    )


def _intervals(material: Material) -> list[str]:
    _ = material.text
    estimates = [e.estimate for e in material.measurement.estimates]
    if not estimates:
        return []
    own = [e for e in estimates if e.method not in BY_PEOPLE]
    plain = [e.method for e in own if not e.note and e.low is not None]
    said = []
    if plain:
        names = interval_names(plain, int(material.facts.get("resamples") or 0), _)
        said.append(_("Intervals: {names}, over questions.", names=names))
    if any(e.note and e.low is not None for e in own):
        said.append(_("Where the plain bootstrap interval would mislead, another one is printed and marked."))
    if material.corrected:
        said.append(
            _(
                "{metrics}: what is printed is the mean that people would give, made of their labels on some answers "
                "and the judge's scores on all (PPI++, cross-fitted; n counts labels). Values of single answers, of "
                "slices and of charts by question stay the judge's.",
                metrics=_.enumeration(list(material.corrected)),
            )
        )
    return said


def _sets(material: Material) -> list[str]:
    """Metrics of whole sets, on how many sets drawn anew each was measured, and which without each question."""
    _ = material.text
    drawn: dict[str, int] = {}
    left: dict[str, None] = {}
    for set_score in material.facts.get("sets", ()):
        if set_score["status"] == "ok":
            name = shown(set_score["metric"])
            drawn[name] = min(drawn.get(name, set_score["resamples"]), set_score["resamples"])
            left |= {name: None} if set_score["left_out"] else {}
    if not drawn:
        return []
    said = [_("One value of all answers of a system, no mean: {metrics}.", metrics=_.enumeration(list(drawn)))]
    asked_for = int(material.facts.get("resamples") or 0)
    for number in sorted(set(drawn.values()), reverse=True):
        names = _.enumeration([name for name, count in drawn.items() if count == number])
        if number == asked_for:
            said.append(_("On {n} sets of questions drawn anew: {metrics}.", n=_.integer(number), metrics=names))
        else:
            said.append(
                _(
                    "On {n} sets of questions drawn anew, as more calls would have taken longer than "
                    "metrics.timeout_seconds: {metrics}.",
                    n=_.integer(number),
                    metrics=names,
                )
            )
    if left:
        said.append(
            _("Also without each question, or group of questions: {metrics}.", metrics=_.enumeration(list(left)))
        )
    return said


def _tests(material: Material) -> list[str]:
    _ = material.text
    comparisons = [c.comparison for c in material.measurement.comparisons]
    if not comparisons:
        return []
    names = test_names(material, [c.test for c in comparisons])
    said = [_("Differences are paired by question; p, two-sided: {names}.", names=_.enumeration(names))]
    families = dict.fromkeys(c.family for c in comparisons if c.p_adjusted is not None and c.family)
    said += [text for text in [_correction(material, list(families))] if text]
    dropped = max(c.n_dropped for c in comparisons)
    if dropped:
        said.append(
            _.plural(
                "Up to {n} question fell out of a comparison because one side was not measured.",
                "Up to {n} questions fell out of a comparison because one side was not measured.",
                dropped,
            )
        )
    if any(c.verdict is Verdict.CANNOT_BE_SHOWN for c in comparisons):
        said.append(
            _(
                "“Cannot be shown”: with so few independent groups or questions no p can be small enough, however "
                "large the difference."
            )
        )
    if any(c.verdict is Verdict.CANNOT_BE_TOLD for c in comparisons):
        said.append(_("“Cannot be told”: what is missing, which is said beside it, leaves room for another word."))
    if any(c.verdict is Verdict.NOT_SHOWN for c in comparisons):
        said.append(
            _("“Not shown” is not “same”: the smallest difference that could have been shown stands beside it.")
        )
    return said


def _correction(material: Material, families: Sequence[str]) -> str:
    """What p, verdicts and intervals are adjusted for."""
    _ = material.text
    named = [text for text in (said_of(family, _) for family in families) if text]
    if not named:
        return ""
    error = _.percent(1 - material.measurement.comparisons[0].comparison.level)
    if not all("max-T" in family for family in families):
        return _("p is corrected: {family}.", family=_.enumeration(named))
    return _(
        "p, verdicts and intervals hold together within a family ({family}): studentized step-down max-T over sign "
        "flips that all its comparisons share, so that the chance of even one wrong verdict in it is at most {error}. "
        "An interval holds 0 exactly where no difference is shown.",
        family="; ".join(named),
        error=error,
    )


def test_names(material: Material, tests: Sequence[str]) -> list[str]:
    """Each test once; one that was done to two kinds of values is not named twice."""
    _ = material.text
    names = list(dict.fromkeys(test_name(material, test) for test in tests))
    flips, pseudo = _("sign-flip randomization"), _("sign-flip randomization of pseudo-values")
    if not {flips, pseudo} <= set(names):
        return names
    both = _("sign-flip randomization (of pseudo-values, where a metric is one value of all questions)")
    return [both if name == flips else name for name in names if name != pseudo]


def test_name(material: Material, test: str) -> str:
    """The name of a test for people."""
    _ = material.text
    name, _comma, exact = test.partition(",")
    flips = _("sign-flip randomization")
    names = {
        "sign flips": _("sign-flip randomization (saddlepoint)") if "saddlepoint" in exact else flips,
        "McNemar": _("McNemar's test (mid-p)") if "mid-p" in exact else _("exact McNemar test"),
        "Wilcoxon": _("Wilcoxon signed-rank test"),
        "sign": _("sign test"),
    }
    if test.endswith("of the prediction-powered difference"):
        return _("Student's t of the difference corrected by people's labels")
    if test.endswith(f"{STUDENTIZED} of pseudo-values"):
        return _("sign-flip randomization of pseudo-values and the studentized bootstrap")
    if test.endswith(STUDENTIZED):
        return _("sign-flip randomization and the studentized bootstrap")
    if "of pseudo-values" in test:
        return _("sign-flip randomization of pseudo-values")
    return names.get(name, test)


def _clusters(material: Material) -> list[str]:
    _ = material.text
    clustered = [e.estimate for e in material.measurement.estimates if e.estimate.clusters]
    if not clustered:
        return []
    groups = max(e.clusters or 0 for e in clustered)
    said = [
        _.plural(
            "Questions are resampled in whole groups, because those of one group are not independent ({n} group).",
            "Questions are resampled in whole groups, because those of one group are not independent ({n} groups).",
            groups,
        )
    ]
    effects = [e.design_effect for e in clustered if e.design_effect is not None]
    if effects:
        low, high = _.number(min(effects), 2), _.number(max(effects), 2)
        sentence = _("Design effect: {effect}.", effect=low)
        said.append(sentence if low == high else _("Design effect: {low} to {high}.", low=low, high=high))
    if groups < 20:
        said.append(_("Fewer than 20 groups: read every interval with care."))
    return said


def _systems(material: Material) -> Content:
    """What each system is, and what was found out about it while measuring."""
    described = [s for s in material.facts.get("systems", ()) if isinstance(s, Mapping) and s.get("name")]
    rows = [(shown(s["name"]), _description(material, s)) for s in described if len(s) > 1]
    return terms(rows, "rb-provenance rb-systems") if rows else ()


UNSAID = ("name", "description", "kind", "stand_in", "embedder_answered_by", "errors_of")
"""Of a system, what the page says in other places."""


def _description(material: Material, system: Mapping[str, Any]) -> Phrase:
    _ = material.text
    names = {
        "embedder": _("embedder"),
        "duplicates_dropped": _("duplicates dropped"),
        "dropped_beyond_k": _("passages beyond the depth that were dropped"),
        "known_by_id": _("passages known by their ids"),
        "known_by_text": _("passages known by their texts"),
        "known_by_overlap": _("passages known by the part of one that they show"),
        "known_by_url": _("passages of which only the page is known"),
        "passages_seen": _("different passages seen, which are the knowledge base as far as it is known"),
        "unknown_ids": _("passages that are none of the data set's"),
        "unknown_ids_first": _("the first of them"),
        "retriever": _("retriever"),
        "variant": _("variant"),
        "stems": _("stems"),
        "fusion": _("fusion"),
        "weights": _("weights"),
        "depth": _("depth"),
        "constant": _("constant"),
        "rewriter": _("rewriter"),
        "reranker": _("reranker"),
        "chunker": _("chunker"),
        "pieces": _("pieces"),
        "lists": _("lists of the index"),
        "probes": _("lists that are searched"),
        "generator": _("generator"),
        "index": _("index"),
        "own_index": _("index that was asked in place"),
        "width": _("dimensions of the vectors"),
        "recall_against_exact": _("recall against exact search"),
        "near_duplicates": _("pairs of texts that are nearly the same"),
        "near_distance": _("distance below which two texts are nearly the same"),
        "chunks_truncated": _("passages cut to the model's length"),
        "cached_without_vector": _("cached questions without a vector"),
        "callable": _("function"),
        "url": _("address"),
        "in_flight": _("requests in flight at most"),
        "model": _("model"),
        "mode": _("way of replying"),
        "results": _("logged results"),
        "unanswered": _("questions without a result"),
    }
    parts: list[Phrase] = [shown(system["description"], 300)] if system.get("description") else []
    for key, value in system.items():
        if key in (*UNSAID, *IDENTITIES) or value in (None, "", [], {}):
            continue
        value = {"exact": _("exact"), "own": _("of your own table")}.get(value, value) if key == "index" else value
        is_written = key == "generator" and isinstance(value, Mapping)  # where nothing is answered it is a name
        told = generator(material, value) if is_written else flat(material, value)
        parts.append((names.get(key, shown(key.replace("_", " "))), " ", told))
    return joined("; ", parts)


def _metrics(material: Material, present: frozenset[str]) -> Content:
    _ = material.text
    items = list[Any]()
    own: Mapping[str, Any] = material.facts.get("own_metrics", {})
    named: dict[str, Any] = {}
    for metric in material.metrics:
        declared = material.declaration(metric)
        if declared is not None:
            named.setdefault(declared.name, declared)
    for name, declared in named.items():
        title = metric_name(material, present, name)
        told = next((own[label] for label in material.metrics if label in own and own[label]["name"] == name), None)
        said = metric_page.said(declared.own if told is None else told["own"], _)
        source = "; ".join(filter(None, (_(declared.source), said)))
        line = (bold(title), f" {declared.meaning(_, _.language)} ", Styled(source, "small"))
        items.append(line if told is None else Item([Text(line), metric_page.prompts(told, _)]))
    if not items:
        return ()
    return Section([Entries(items, "rb-glossary")], _("What the metrics mean"))


EMPTY: tuple[Any, ...] = ("", None, [])


def parameters(material: Material) -> Content:
    """Every parameter with its value, its default where that is another, and its line of help, folded.

    Nothing of a measurement that did not keep what it was asked for.
    """
    _ = material.text
    asked = [
        parameter
        for parameter in material.facts.get("request") or ()
        if isinstance(parameter, Mapping) and parameter.get("name")
    ]
    if not asked:
        return ()
    changed = sum(parameter.get("value") != parameter.get("default") for parameter in asked)
    summary = _("Parameters of this measurement: all at their defaults")
    if changed:
        summary = _.plural(
            "Parameters of this measurement: {n} differs from its default",
            "Parameters of this measurement: {n} differ from their defaults",
            changed,
        )
    heads = [
        (_("parameter"), "rb-word"),
        (_("value"), "rb-word"),
        (_("default"), "rb-word"),
        (_("meaning"), "rb-word"),
    ]
    table = Table.of(
        _, _("Parameters of this measurement"), heads, [_row(material, parameter, asked) for parameter in asked]
    )
    return Section([table], summary)


def _row(material: Material, parameter: Mapping[str, Any], asked: Sequence[Mapping[str, Any]]) -> list[Phrase]:
    _ = material.text
    name, value, default = str(parameter["name"]), parameter.get("value"), parameter.get("default")
    used = _resolved(material, name, [each.get("value") for each in asked]) if value in EMPTY else None
    other = shown(_("the same")) if value == default else _written(material, name, default)
    return [
        Styled(shown(name), "code"),
        _written(material, name, value) if used is None else used,
        other,
        shown(_(clean(parameter.get("help")))),
    ]


def _written(material: Material, name: str, value: Any) -> Phrase:
    """A value; what is empty, yes or no as the notebook and the lines of help write it."""
    if isinstance(value, bool) or value in EMPTY:
        return Styled('""' if value == "" else str(value), "code")
    return shown(value) if name in PLAIN else flat(material, value)


def _resolved(material: Material, name: str, asked: Sequence[Any]) -> Phrase | None:
    """What an empty parameter came to, where the facts say it by the same name; else None.

    A text that another parameter asked for came from there: `dataset` is a file of answers where one was named.
    """
    known = material.facts.get(name)
    if isinstance(known, str) and known in asked:
        return None
    if isinstance(known, list):
        names = [entry.get("name") if isinstance(entry, Mapping) else entry for entry in known]
        known = names if all(isinstance(word, str) and word for word in names) else None
    if known in EMPTY or not isinstance(known, str | int | float | list):
        return None
    return flat(material, known)


def rule(material: Material) -> list[Part]:
    """The rule in a paragraph; empty where no system cuts passages."""
    told = material.facts.get("labelled_text")
    if not told:
        return []
    _ = material.text
    cut = _.enumeration([name for name in material.systems if name in told["chunkers"]])
    said = [
        _(
            "Passages are cut into pieces before they are searched by {systems}; labels stay those of passages.",
            systems=cut,
        )
    ]
    if material.facts.get("unit") == "url":
        said.append(_("A page is found by any piece of its passages (MaxP: Dai and Callan 2019)."))
        return [Text(" ".join(said))]
    said.append(
        _(
            "A piece counts by the share of the labelled text of its passage that it shows and nothing above it has "
            "shown, in characters without white space; so a whole passage counts fully, and text that is shown twice "
            "counts once."
        )
    )
    said.append(_spans(material, told["n_with_spans"]))
    if "context" not in material.facts:
        said.append(
            _(
                "Recall is the mean of these shares over the labelled passages. nDCG weights gains by them; its ideal "
                "is that of whole passages, the same for every way of cutting."
            )
        )
    share = _.percent(told["found_from"])
    if not told["found_from"]:
        sentence = _(
            "A passage counts as found with the first piece that shows some of its labelled text (MaxP: Dai and Callan "
            "2019)"
        )
    else:
        sentence = _(
            "A passage counts as found with the piece by which {share} of its labelled text is shown", share=share
        )
    said.append(
        _("{found}: so for first failures, in what was retrieved and in what was read.", found=sentence)
        if "context" in material.facts
        else _("{found}: so for hit rate, MRR, precision and whatever else knows only yes and no.", found=sentence)
    )
    return [Text(" ".join(said))]


def _spans(material: Material, with_spans: int) -> str:
    _, every = material.text, int(material.facts["n_questions"])
    if not with_spans:
        return _(
            "Labelled is all text of a relevant passage: the data set names no spans, so a piece that holds the answer "
            "alone counts only as the part of the passage that it is."
        )
    if with_spans >= every:
        return _("Labelled are the spans of relevant passages that the data set names.")
    return _(
        "Labelled are the spans of relevant passages that the data set names, for {n} of {all} questions; for the "
        "others all text of a relevant passage.",
        n=_.integer(with_spans),
        all=_.integer(every),
    )


_PATH = re.compile(r"(?<![\w.-])(?:[A-Za-z]:[\\/]|/|~/)(?:[^\s,;:'\"]+[\\/])+([^\s,;:'\"\\/]*)")

PLAIN = frozenset({"unit", "seed", "data_hash", "commit"})
NO_LICENCE = "not stated"
"""What a data set keeps where nobody named its licence."""
WHO = ("name", "model", "mode")
MADE = ("name", "kind", "stand_in", "own", "takes_contexts")
"""Of a generator, its name, and what the sentences on it say."""
IDENTITIES = ("embedder_identity",)


@view("provenance")
def provenance(material: Material, present: frozenset[str]) -> Content:
    """Where the numbers come from: data, systems, parameters, seeds, versions, commit."""
    return (Text(material.text("Provenance"), "h2"), terms(_rows(material)))


def _rows(material: Material) -> list[tuple[Phrase, Phrase]]:
    rows = list[tuple[Phrase, Phrase]]()
    for key, name in _names(material).items():
        value: Any = material.facts.get(key)
        if key == "stand_ins":
            value = names_of(of(material.facts), material.text)
        if value in (None, "", [], {}):
            continue
        if key == "judges":
            value = [
                ", ".join(str(judge[name]) for name in WHO if judge.get(name)) for judge in known(material)
            ] or value
        if key == "answers":
            value = {
                "rated answers": material.text("rated answers"),
                "logged answers": material.text("logged answers"),
            }.get(value, value)
        if key == "licence" and value == NO_LICENCE:
            value = material.text("not stated")
        if key == "generators":
            own = ((Styled(shown(system), "code"), " ", generator(material, told)) for system, told in value.items())
            text: Phrase = Styled(joined("; ", own), look="rb-list")
        else:
            text = shown(unit(material) if key == "unit" else value) if key in PLAIN else flat(material, value)
        rows.append((name, text))
    for system in material.facts.get("systems", ()):
        for key in IDENTITIES:
            if isinstance(system, Mapping) and system.get(key):
                name = material.text("embedder of {system}", system=clean(system.get("name")))
                rows.append((name, flat(material, system[key])))
    return rows


def _names(material: Material) -> dict[str, str]:
    """What is told of where numbers come from, in its order; all other facts stand in sentences, tables or parameters
    of the page."""
    _ = material.text
    return {
        "dataset": _("data set"),
        "data_hash": _("hash of the data"),
        "n_questions": _("questions"),
        "n_chunks": _("passages"),
        "unit": _("unit"),
        "baseline": _("baseline"),
        "seed": _("seed"),
        "level": _("confidence level"),
        "resamples": _("resamples"),
        "stand_ins": _("offline stand-ins"),
        "judge": _("judge"),
        "judges": _("judges"),
        "aggregate": _("how judges become one"),
        "quorum": _("judges that a score needs"),
        "parameters": _("parameters"),
        "cutoffs": _("cut-offs"),
        "depth": _("depth"),
        "commit": _("commit"),
        "versions": _("versions"),
        "licence": _("licence"),
        "dataset_title": _("title of the data set"),
        "n_without_relevant": _("questions without a relevant passage"),
        "n_clusters": _("independent groups"),
        "k": _("depth of rankings"),
        "unanswered": _("questions without a result"),
        "repeats": _("times every question was asked"),
        "part_of_all": _("sample of the questions"),
        "sampled": _("texts of a table that are searched for names"),
        "told": _("texts of a table whose language is told, at most"),
        "timed_questions": _("questions that were timed"),
        "slices_left_out": _("slices that are not shown"),
        "left_out": _("left out when the data were read"),
        "answers": _("answers"),
        "calls": _("calls of judges"),
        "embedder": _("embedder of metrics"),
        "generators": _("generators"),
        "key_metrics": _("key metrics"),
        "languages": _("languages"),
        "masked": _("users' ids and addresses masked"),
        "n_history": _("past questions"),
        "n_page_gone": _("past questions whose page is gone"),
        "n_without_vector": _("past questions without a vector"),
        "n_sessions": _("dialogues"),
        "n_texts": _("texts"),
        "n_to_be_shown": _("answers to be shown"),
        "n_topics": _("topics"),
        "n_unanswerable": _("questions without an answer in the base"),
        "n_users": _("users"),
        "n_without_context": _("questions without a passage to answer from"),
        "n_without_page": _("past questions without a page"),
        "raters": _("people who rated"),
        "threshold_set": _("set of thresholds"),
        "topics_embedder": _("embedder of topics"),
    }


def generator(material: Material, told: Mapping[str, Any]) -> Phrase:
    """A generator by its name, and how it is set."""
    how = flat(material, {key: value for key, value in told.items() if key not in MADE})
    return joined(", ", (shown(told.get("name")), how))


def flat(material: Material, value: Any) -> Phrase:
    """A JSON value as a line of text; of a path only its last part."""
    if isinstance(value, Mapping):
        parts = [
            (Styled(shown(key), "code"), " ", flat(material, item)) for key, item in value.items() if item is not None
        ]
        return Styled(joined(", ", parts), look="rb-list")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return joined(", ", [flat(material, item) for item in value])
    if isinstance(value, bool):
        return shown(material.text("yes") if value else material.text("no"))
    if isinstance(value, int):
        return shown(value if abs(value) > 10**7 else material.text.integer(value))
    if isinstance(value, float):
        return shown(material.text.number(value, 6).rstrip("0").rstrip(".,"))
    return shown(_PATH.sub(r"\1", str(value)), 300)

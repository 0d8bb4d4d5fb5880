"""A page over one measurement: who was compared on what, what it has to show; and one call from objects to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragbench.old import metrics, tiers
from ragbench.old.core import annexes, answered_by, stand_ins, terminal
from ragbench.old.core import language as languages
from ragbench.old.core.listings import Tables
from ragbench.old.core.measurement import (
    COMPARISON_COLUMNS,
    ESTIMATE_COLUMNS,
    Finding,
    Measurement,
    NamedComparison,
    NamedEstimate,
    framed,
)
from ragbench.old.core.names import meant
from ragbench.old.core.parts import Text
from ragbench.old.tiers.basics import findings
from ragbench.old.tiers.run.record import check, restated
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.web import html
from ragbench.old.views.items import chosen, widget
from ragbench.old.views.items.chosen import Explanation, items_of
from ragbench.old.views.sentences import conclusions
from ragbench.old.views.view import VIEWS, View, style, topic

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.stats import Paired
    from ragbench.old.views.items import QuestionTable


FORMS = ("long", "wide")


class Page:
    """The page of a measurement in one language; its views are the functions of `views.comparison`, `views.retrieval`…

    Its answer speaks of the metric that was measured as the primary one, and of no other: which it is was said before
    anything was measured, by the parameter `primary` of the tier.

    Raises ValueError for a language without a catalogue.
    """

    def __init__(self, measurement: Measurement, *, language: str = "en") -> None:
        self.measurement = measurement
        self.language = language
        self.material = Material(measurement, languages.translator(language))

    def view(self, name: str, **options: Any) -> View:
        """The view of that name; raises ValueError, naming those there are, for others, of options too."""
        if name not in VIEWS:
            annexes.taken("views", name)  # declares it
        if name not in VIEWS:
            raise ValueError(f"there is no view {name!r}; there are {', '.join(sorted(VIEWS))}")
        known = [*inspect.signature(VIEWS[name]).parameters][1:]
        if unknown := sorted({*options} - {*known}):
            raise ValueError(
                f"the view {name!r} has no option {', '.join(unknown)}; it has {', '.join(known) or 'none'}. "
                "A run that another version kept is measured anew by `ragbench run`"
            )
        return VIEWS[name](self, **options)

    @cached_property
    def shows(self) -> dict[str, list[str]]:
        """The views with more to show than a sentence, by topic: `{"blame": ["waterfall", …], …}`. Draws them all."""
        by_topic: dict[str, list[str]] = {}
        for view in VIEWS.values():
            if not all(isinstance(part, Text) for part in view(self).parts):
                by_topic.setdefault(topic(view), []).append(view.__name__)
        return {topic: sorted(names) for topic, names in sorted(by_topic.items())}

    def questions(self) -> QuestionTable:
        """Every question (or other item) in a table to search, filter, sort and open, as reports have it.

        In JupyterLab rows can be chosen, by their boxes or with the space bar, and are a data frame in the next cell:

            found = page.questions()
            found                # in a cell by itself: search, filter, choose
            found.selected       # the chosen rows; found.filtered: those that are shown; found.to_pandas(): all

        Works for whatever a page's numbers are made of: questions, decisions, dialogues, judged answers, passages.
        Raises ValueError for a page that has nothing of the kind.
        """
        made = widget(self.material)
        if made is None:
            raise ValueError(f"{self.measurement.notebook}: this page's numbers are made of no single questions")
        return made

    def subset(self, which: str | Sequence[str] | pd.Series[Any] | pd.DataFrame) -> Page:
        """The page of some of the questions, with intervals, p values, families and verdicts of its own.

            page.subset("kind == 'colloquial'")
            page.subset(["q17", "q18"])
            page.subset(found.selected)

        Nothing is measured: what was measured of these questions is stated by the tier's own function, with the level,
        the draws and the seed of the measurement, slices, curves, indexes and blame with it. What stored values do not
        give (what people's labels correct, metrics of whole sets, how users ask) is left out, and the page says so.
        A part that was chosen for its values shows what it was chosen for: choose by what was known before.

        which: a condition in the terms of pandas `query` over the columns of `page.measurement.questions` (`sample`,
            `text`, `reference`, `kind`, `language`, `cluster`, `answerable`, …); ids; a data frame with ids as its
            index or in a column `sample`; or a Series of ids, or of true and false, one a question.
        Raises ValueError for columns and ids that there are not, and where no question is left, with what is legal;
        BenchError (a ValueError) for pages whose findings are not made of values of single questions: parts can be
        taken of tiers 1, 2 and 3, of real users, of tables of answers, and of decisions.
        """
        check(self.measurement)
        samples, said = chosen.chosen_questions(self.material, which)
        return Page(restated(self.measurement, samples, condition=said), language=self.language)

    def compare(self, baseline: str, challenger: str) -> Page:
        """The page of two of the systems, the first as the baseline and the second as the only challenger.

            page.compare("v2", "v3")

        Nothing is measured: the comparisons are made anew of the values that are stored, in families of their own, so
        that neither p nor intervals pay for systems that are not looked at. Which pair is looked at should not hang on
        what the whole page has shown.
        Raises ValueError for systems that the page does not have, with what may be meant, and for one system twice;
        BenchError as `subset` does.
        """
        for name in (baseline, challenger):
            self._known("system", name, self.material.systems)
        if baseline == challenger:
            raise ValueError(f"{baseline!r} is compared with itself; there are {', '.join(self.material.systems)}")
        return Page(restated(self.measurement, systems=(baseline, challenger)), language=self.language)

    def explain(self, item: str) -> Explanation:
        """All that is known of one question (or other item): what it needed, and of every system side by side what it
        retrieved (rank, similarity, gain), its answer, values, and judges' verdicts on its claims with their reasons.

            page.explain("q17")

        It shows itself in JupyterLab and prints as plain lines in a terminal.
        Raises ValueError for an unknown id, with the nearest ones.
        """
        return chosen.explanation(self.material, item)

    def to_pandas(self, form: Literal["long", "wide"] = "long") -> pd.DataFrame:
        """The values of single questions as a data frame, with their texts.

            page.to_pandas().query("status != 'ok'")
            page.to_pandas("wide").sort_values("v1 mrr@10")

        form: "long": one row a system, metric and question: `system`, `metric`, `sample`, `value` (NaN where it was not
            measured), `status`, `reason`, `judge`, then of the question `text`, `kind`, `language`, `cluster`,
            `answerable`, `reference`, and `answer`, the system's first one (None where nothing is kept).
            "wide": one row a question, or other item of the page, by its id: what is known of it, a column
            `SYSTEM METRIC` for every value, and `SYSTEM answer` where answers are kept.
        Raises ValueError for another form.
        """
        if form not in FORMS:
            raise ValueError(f"form = {form!r}: {' or '.join(map(repr, FORMS))} is expected")
        return chosen.long(self.material) if form == "long" else chosen.wide(self.material, items_of(self.material))

    @property
    def scores(self) -> pd.DataFrame:
        """Every value: `question` (its id), `system`, `metric`, `value` (NaN where it was not measured), `status`,
        `reason`, `judge`. `to_pandas()` has the texts beside them."""
        known = chosen.said(self.material).rename(columns={"sample": "question"})
        return known[["question", *(name for name in known if name != "question")]]

    @property
    def estimates(self) -> pd.DataFrame:
        """Means with their intervals, a row a system and metric, those of depths, slices and other parts below them
        with what tells their place (`k`, `slice`, …). `attrs["caveat"]` names stand-ins for models, and whose replies
        came from a file or another model."""
        return self._framed((*self.measurement.estimates, *self.measurement.placed), NamedEstimate, ESTIMATE_COLUMNS)

    @property
    def comparisons(self) -> pd.DataFrame:
        """Differences from the baseline with corrected p and verdict, in the order of `estimates`."""
        findings = (*self.measurement.comparisons, *self.measurement.placed)
        return self._framed(findings, NamedComparison, COMPARISON_COLUMNS)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Side tables of the page by name: answers, judgements, latencies, what was retrieved, and what else there
        is."""
        made = {"questions": self.measurement.questions, "retrieved": self.measurement.retrieved}
        return Tables({**made, **self.measurement.extra, **self.measurement.tables})

    def _framed(self, findings: Iterable[Finding], kind: type, columns: Sequence[str]) -> pd.DataFrame:
        facts, _ = self.measurement.facts, self.material.text
        said = [stand_ins.caveat(stand_ins.of(facts), _), *answered_by.warnings(facts, _)]
        kept = (finding for finding in findings if isinstance(finding, kind))
        return framed(kept, columns, " ".join(filter(None, said)))

    def figure(self, name: str, **options: Any) -> Any:
        """A figure of the page as a `plotly.graph_objects.Figure`, to be changed, saved or laid out anew.

            page.figure("curves").update_layout(width=600)

        name: that of its view. Raises ValueError for another name, and for a figure that this page has not.
        """
        figure = self.view(name, **options).figure if name in VIEWS else None
        if not (figure or {}).get("data"):
            there = [name for name in sorted(VIEWS) if (self.view(name).figure or {}).get("data")]
            raise ValueError(
                f"this page has no figure {name!r}{meant(name, there)}; there are {', '.join(there) or 'none'}"
            )
        import plotly.graph_objects as go

        return go.Figure(figure)

    def save(self, folder: Path | str) -> Path:
        """Write the page into a folder as `ragbench run` would have; the path of its HTML, for a browser."""
        made: Path = annexes.taken("page", "save")(self, folder)
        return made

    def latex(self, label: str = "", **options: Any) -> str:
        r"""A table for a paper, systems × metrics: the best in bold, † where a system differs from the baseline.

        label: of the table, as it is: `\\label{tab:results}`; empty: the notebook's name. metrics: names, at most six
        of the page's key ones by default. intervals: whether they stand below their numbers. caption: in place of the
        one that is made, which says of what the numbers are, what is compared how, and who stands in for a model.
        It needs booktabs and siunitx. Raises ValueError for metrics that the page has not.
        """
        return str(annexes.taken("page", "latex")(self, label, **options))

    def markdown(self, **options: Any) -> str:
        """The same table in Markdown; metrics, intervals, caption: as of `latex`."""
        return str(annexes.taken("page", "markdown")(self, **options))

    def typst(self, label: str = "", **options: Any) -> str:
        """The same table for Typst; as `latex`."""
        return str(annexes.taken("page", "typst")(self, label, **options))

    def paired_values(self, metric: str, baseline: str, challenger: str) -> Paired:
        """The values of two systems on a metric, paired by question: what `stats.compare(page, …)` reads.

            stats.compare(page, "mrr@10", "v1", "v2")

        metric: by any name that it goes by here. Raises ValueError for names that the page does not have.
        """
        labels = [label for label in self.material.metrics if label in self.material.scored]
        matches = metrics.meant(metric, labels)
        label = matches[0] if len(matches) == 1 else self._known("metric", metric, labels)
        for name in (baseline, challenger):
            self._known("system", name, self.material.systems)
        pair = findings.paired_values(self.measurement, baseline, challenger, label)
        if pair is None:
            raise ValueError(f"{label} has no values of {baseline!r} and {challenger!r} to pair")
        return pair

    def _known(self, kind: str, name: str, there: Sequence[str]) -> str:
        if name not in there:
            raise ValueError(f"there is no {kind} {name!r}{meant(name, there)}; there are {', '.join(there) or 'none'}")
        return name

    def _facts(self) -> dict[str, str]:
        _, material = self.material.text, self.material
        known = {
            _("notebook"): self.measurement.notebook,
            _("data set"): material.facts.get("dataset"),
            _("systems"): ", ".join(material.systems),
            _("primary metric"): material.primary,
            _("language"): self.language,
            _("part"): conclusions.part_sentence(material),
        }
        return {name: str(value) for name, value in known.items() if value}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {terminal.plain(value)}" for name, value in self._facts().items())

    def _repr_html_(self) -> str:
        """The page's answer, and which views there are to show."""
        said = self._facts() | {f"views.{topic}": ", ".join(names) for topic, names in self.shows.items()}
        answer = VIEWS["answer"](self).without_script() if "answer" in VIEWS else ""
        return str(style() + answer + html.div(html.terms(list(said.items()), "rb-facts"), "rb"))


HOW = """{first}

    page = rb.{name}(systems={{"v1": search, "v2": other}}, dataset=questions, documents=passages)

{systems}
dataset: {data} Also a name below data/, a folder as a Path, or what `rb.load` returns.
documents: the passages, where `dataset` is a table: a list of texts, mappings or documents of a framework, a mapping
    from id to text, or a data frame with a text, and an id at will; without ids their places count, from 0.

Nothing of a ragbench.toml is needed, and no folder has to be trusted for what is handed over. Every other parameter is
that of `rb.tiers.{tier}`. Returns the page: it shows itself, and its views are those of `rb.views`.
Raises BenchError for what is no system, DatasetError for what is no data, each with what is legal.
"""
SYSTEMS = {
    "retrievers": [
        "systems: by name a function of (question, k) or of the question alone, an object of LangChain, LlamaIndex or",
        "Haystack, or with a method retrieve, search or query; results as a data frame, a list, a file, or a mapping",
        'from question to them; {"retriever": …, "generator": …}, or a name, such as "bm25". The first is the',
        "baseline. What a function returns or yields in rank order: ids, texts, pairs of either with a score, mappings",
        "or a data frame; or, of a system that answers by itself, a text, a stream of its parts, or",
        '{"answer": …, "retrieved": …}.',
    ],
    "writers": [
        "systems: by name a function of (question, texts of the contexts) that returns the answer, a runnable of",
        "LangChain that takes a question and a context, or answers as a data frame, a list or a file. The first is the",
        "baseline.",
    ],
    "embedders": [
        "systems: by name a function of a list of texts that returns a vector for each, an embedder of LangChain,",
        'LlamaIndex or sentence-transformers, or a name, such as "hashing".',
    ],
    "answers": [
        "systems: by name a table of answers (a data frame, a list or a file), or a system that answers the questions",
        "of `dataset` when it is asked, as for `rb.tier3`. `answers` takes one table that names its systems in a",
        "column.",
    ],
}
TABLES = {
    "questions": "a data frame or a list of questions: question, and at will id, reference, relevant (ids, texts or\n"
    "    places of passages, or their grades), kind, cluster, answerable.",
    "history": "a data frame or a list of logged questions: question, and at will answer, url, score, user, asked_at;\n"
    '    or {"dialogues": …}, a list of lists of messages.',
    "documents": "a data frame or a list of texts.",
}
TIERS = {
    "tier0": "tier0_embeddings",
    "tier1": "tier1_retrieval",
    "tier2": "tier2_generation",
    "tier3": "tier3_end_to_end",
    "ux": "tier_ux",
    "rag_metrics": "rag_metrics",
    "real_users": "real_users",
}


def _paged(name: str, tier: str) -> Callable[..., Page]:
    def measured(*args: Any, **given: Any) -> Page:
        if len(args) > 2:
            raise TypeError(f"{name} takes systems and dataset by their places, everything else by name")
        named = dict(zip(("systems", "dataset"), args, strict=False)) | given
        asked = {key: value for key, value in named.items() if key != "documents" or value is not None}
        measurement: Measurement = getattr(tiers, tier)(**asked)
        return Page(measurement, language=str(named.get("language", "en")))

    request = getattr(tiers, tier).request
    first = inspect.cleandoc(getattr(tiers, tier).__doc__).partition("\n")[0]
    said = {"systems": "\n    ".join(SYSTEMS[request.reads]), "data": TABLES[request.reads_table]}
    measured.__doc__ = HOW.format(name=name, tier=tier, first=first, **said)
    measured.__name__ = measured.__qualname__ = name
    documents = inspect.Parameter("documents", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
    own = request.signature().parameters
    leading = [own["systems"], own["dataset"]]
    rest = [parameter for key, parameter in own.items() if key not in ("systems", "dataset", "notebook")]
    measured.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*(parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any) for parameter in leading),
         documents, *rest], return_annotation=Page,
    )  # fmt: skip
    return measured


tier0, tier1, tier2, tier3, ux, rag_metrics, real_users = (_paged(*place) for place in TIERS.items())

"""What `rb.tier1(…)` and the others return: the frames, and the page that shows them."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from ragbench.core.language import Language, mark
from ragbench.report.page import Page, only_parts, show
from ragbench.report.parts import Part, is_figure
from ragbench.stats import Statement
from ragbench.tiers.common import About

if TYPE_CHECKING:
    import plotly.graph_objects as go

RUN_FOLDER = "RAGBENCH_RUN_FOLDER"  # set for kernels by ragbench.report.execute
RUN_PAGE = "RAGBENCH_RUN_PAGE"


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """A measured tier. In Jupyter it shows answer, figure and table; printed, their text.

    request: what was asked. frames: what was measured. statement: what that says. about: what it
    was measured on. A subclass has NAME, TITLE, `summary` and `parts`.
    """

    NAME: ClassVar[str] = ""  # of notebook, page and folder of frames
    TITLE: ClassVar[str] = ""  # the question that it answers

    request: Any
    frames: Any
    statement: Statement
    about: About
    language: Language

    @property
    def scores(self) -> pd.DataFrame:
        """One row a system, metric and question; columns as `ragbench.core.frames.SCORES`."""
        return self.frames.scores

    @property
    def estimates(self) -> pd.DataFrame:
        """One row a system and metric; columns as `ragbench.core.frames.ESTIMATES`."""
        return self.statement.estimates

    @property
    def comparisons(self) -> pd.DataFrame:
        """One row a metric and challenger; columns as `ragbench.core.frames.COMPARISONS`."""
        return self.statement.comparisons

    @property
    def systems(self) -> list[str]:
        """The systems, in the order in which they were named."""
        return list(self.request.systems)

    @property
    def title(self) -> str:
        """The question that it answers, in the page's language."""
        return self.language.translate(self.TITLE)

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        raise NotImplementedError

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        raise NotImplementedError

    @cached_property
    def page(self) -> Page:
        """The page."""
        return Page(self.title, self.parts, self.language.code)

    @property
    def figure(self) -> go.Figure | None:
        """plotly's figure of the summary; None where it has none."""
        figures = [part.content for part in self.summary if is_figure(part.content)]
        return figures[0] if figures else None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all frames by name, those that hold anything."""
        named = {}
        for owner in (self.frames, self.statement):
            for field in fields(owner):
                frame = getattr(owner, field.name)
                if frame is not None and len(frame.columns):
                    named[field.name] = frame
        return named

    def record(self) -> dict[str, Any]:
        """Return what the manifest says of it: the request and what was measured."""
        return {"request": self.request.model_dump(mode="json"), "about": asdict(self.about)}

    def save_frames(self, folder: Path | str) -> None:
        """Write frames/NAME/*.parquet, summary.json and manifest.json into a folder."""
        from ragbench.report.manifest import write_frames, write_manifest, write_summary

        write_frames(Path(folder), self.NAME, self.tables(), self.record())
        write_summary(Path(folder))
        write_manifest(Path(folder))

    def save(self, folder: Path | str) -> Path:
        """Write frames and page into a folder; returns the page's path."""
        self.save_frames(folder)
        return self.page.save(Path(folder) / f"{self.NAME}.html")

    def to_latex(self) -> str:
        """Return the table of all numbers for a paper, with booktabs."""
        from ragbench.views import comparison

        return comparison.all_numbers(self).to_latex(self.NAME)

    def keep(self) -> None:
        """Write the frames into the folder of the run that executes this notebook, if one does."""
        from ragbench.report.manifest import write_frames

        folder = os.environ.get(RUN_FOLDER)
        if folder:
            page = os.environ.get(RUN_PAGE, self.NAME)
            write_frames(Path(folder), page, self.tables(), self.record())

    def __str__(self) -> str:
        texts = [str(part) for part in self.summary if not is_figure(part.content)]
        return "\n\n".join([self.title, *texts])

    __repr__ = __str__

    def _ipython_display_(self) -> None:
        show(self.summary)


class Tier1(Result):
    """Does the system find the right passage?"""

    NAME = "tier1_retrieval"
    TITLE = mark("Tier 1 · Does the system find the right passage?")

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import comparison

        return only_parts(
            comparison.answer(self),
            comparison.forests(self),
            comparison.numbers(self) or comparison.all_numbers(self),
        )

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, questions, retrieval

        return only_parts(
            comparison.answer(self),
            comparison.facts(self),
            comparison.stand_ins(self),
            comparison.forests(self),
            comparison.numbers(self),
            retrieval.curves(self),
            comparison.slices(self),
            questions.questions(self),
            comparison.all_numbers(self),
            retrieval.judged(self),
            retrieval.speed(self),
            retrieval.method(self),
            retrieval.limits(self),
            comparison.provenance(self),
        )


class Answers(Result):
    """What the pages of answers share: their summary."""

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import comparison

        return only_parts(
            comparison.answer(self),
            comparison.forests(self),
            comparison.numbers(self) or comparison.all_numbers(self),
        )


class Tier2(Answers):
    """Does the system answer well from the right passages?"""

    NAME = "tier2_generation"
    TITLE = mark("Tier 2 · Does the system answer well from the right passages?")

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import answers, comparison, questions

        return only_parts(
            comparison.answer(self),
            comparison.facts(self),
            comparison.stand_ins(self),
            answers.writers(self),
            comparison.forests(self),
            comparison.numbers(self),
            answers.refusals(self),
            questions.questions(self),
            comparison.all_numbers(self),
            answers.repeats(self),
            answers.judges(self),
            answers.unmeasured(self),
            answers.method(self),
            answers.limits(self),
            comparison.provenance(self),
        )


class Tier3(Answers):
    """Does the user get a good answer?"""

    NAME = "tier3_end_to_end"
    TITLE = mark("Tier 3 · Does the user get a good answer?")

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import answers, blame, comparison, questions

        return only_parts(
            comparison.answer(self),
            comparison.facts(self),
            comparison.stand_ins(self),
            blame.bars(self),
            blame.perfect_parts(self),
            comparison.forests(self),
            comparison.numbers(self),
            answers.refusals(self),
            questions.questions(self),
            comparison.all_numbers(self),
            blame.table(self),
            answers.repeats(self),
            answers.judges(self),
            answers.unmeasured(self),
            answers.method(self),
            answers.limits(self),
            comparison.provenance(self),
        )


class RagMetrics(Answers):
    """What is each answer worth, and by which metric?"""

    NAME = "rag_metrics"
    TITLE = mark("Answers · What is each answer worth, and by which metric?")

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import answers, comparison, questions

        return only_parts(
            comparison.answer(self),
            comparison.facts(self),
            comparison.stand_ins(self),
            comparison.forests(self),
            comparison.numbers(self),
            questions.questions(self),
            comparison.all_numbers(self),
            answers.repeats(self),
            answers.correlations(self),
            answers.judges(self),
            answers.unmeasured(self),
            answers.method(self),
            answers.limits(self),
            comparison.provenance(self),
        )


class Tier0(Result):
    """What shape do the embeddings have?"""

    NAME = "tier0_embeddings"
    TITLE = mark("Tier 0 · What shape do the embeddings have?")

    @property
    def systems(self) -> list[str]:
        """The embedders, in the order in which they were named."""
        return list(self.request.embedders)

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import embeddings

        return [embeddings.answer(self), embeddings.distances(self), embeddings.numbers(self)]

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, embeddings

        return only_parts(
            embeddings.answer(self),
            embeddings.facts(self),
            comparison.stand_ins(self),
            embeddings.distances(self),
            embeddings.spectrum(self),
            embeddings.numbers(self),
            embeddings.pictures(self),
            embeddings.closest(self),
            embeddings.outliers(self),
            embeddings.method(self),
            embeddings.limits(self),
            comparison.provenance(self),
        )


class TierJudge(Result):
    """Is the judge any good?"""

    NAME = "tier_judge"
    TITLE = mark("Judge · Is the judge any good?")

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import judges

        return only_parts(judges.answer(self), judges.forest(self), judges.numbers(self))

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, judges

        return only_parts(
            judges.answer(self),
            judges.facts(self),
            comparison.stand_ins(self),
            judges.forest(self),
            judges.numbers(self),
            judges.probes(self),
            judges.agreement(self),
            judges.answers(self),
            judges.method(self),
            judges.limits(self),
            comparison.provenance(self),
        )


class TierJudgePipeline(Result):
    """Does the production judge decide rightly what is shown?"""

    NAME = "tier_judge_pipeline"
    TITLE = mark("Judge pipeline · Does the production judge decide rightly what is shown?")

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import decisions

        return [decisions.answer(self), decisions.forest(self), decisions.numbers(self)]

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, decisions

        return only_parts(
            decisions.answer(self),
            decisions.facts(self),
            comparison.stand_ins(self),
            decisions.forest(self),
            decisions.numbers(self),
            decisions.counts(self),
            decisions.decisions(self),
            decisions.method(self),
            decisions.limits(self),
            comparison.provenance(self),
        )


class TierUx(Result):
    """Would a cache serve people well, and do dialogues hold together?"""

    NAME = "tier_ux"
    TITLE = mark("UX · Would a cache serve people well, and do dialogues hold together?")

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import ux

        return only_parts(ux.answer(self), ux.curve(self), ux.numbers(self))

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, ux

        return only_parts(
            ux.answer(self),
            ux.facts(self),
            comparison.stand_ins(self),
            ux.curve(self),
            ux.numbers(self),
            ux.caches(self),
            ux.dialogues(self),
            ux.nearest(self),
            ux.method(self),
            ux.limits(self),
            comparison.provenance(self),
        )


class DataSet(Result):
    """What in the data makes the numbers look better or worse?"""

    NAME = "dataset"
    TITLE = mark("Data set · What in the data makes the numbers look better or worse?")

    @property
    def systems(self) -> list[str]:
        """The data set itself, which its questions are listed with."""
        return [self.about.dataset]

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import dataset

        return [dataset.answer(self), dataset.sizes(self), dataset.findings(self)]

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, dataset, questions

        return only_parts(
            dataset.answer(self),
            dataset.facts(self),
            dataset.findings(self),
            dataset.examples(self),
            dataset.sizes(self),
            dataset.numbers(self),
            questions.questions(self) if len(self.scores) else None,
            dataset.left_out(self),
            dataset.method(self),
            dataset.limits(self),
            comparison.provenance(self),
        )


class Sources(Result):
    """Which parts of the knowledge base are used?"""

    NAME = "sources"
    TITLE = mark("Sources · Which parts of the knowledge base are used?")

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import sources

        return only_parts(sources.answer(self), sources.topics(self), sources.numbers(self))

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, questions, sources

        return only_parts(
            sources.answer(self),
            sources.facts(self),
            comparison.stand_ins(self),
            sources.topics(self),
            sources.numbers(self),
            sources.coverage(self),
            sources.unused(self),
            sources.pages(self),
            questions.questions(self),
            sources.method(self),
            sources.limits(self),
            comparison.provenance(self),
        )


class RealUsers(Answers):
    """Does the system find what people were shown?"""

    NAME = "real_users"
    TITLE = mark("Real users · Does the system find what people were shown?")

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, questions, users

        return only_parts(
            comparison.answer(self),
            users.facts(self),
            users.proxy(self),
            comparison.stand_ins(self),
            comparison.forests(self),
            comparison.numbers(self),
            users.months(self),
            comparison.slices(self),
            users.words(self),
            users.pages(self),
            questions.questions(self),
            comparison.all_numbers(self),
            users.method(self),
            users.limits(self),
            comparison.provenance(self),
        )


@dataclass(frozen=True, repr=False, eq=False)
class Overview(Result):
    """Is it good, is it better, and which part fails first?

    folder: of the run. pages: the others, with titles and findings.
    """

    NAME: ClassVar[str] = "overview"
    TITLE: ClassVar[str] = mark("Overview · Is it good, is it better, and which part fails first?")

    statement: Any
    folder: Path
    pages: list[Any]

    @property
    def titles(self) -> dict[str, str]:
        """The titles of all pages, by their names; of one that nobody knows its name."""
        titles = {}
        for result in globals().values():
            if isinstance(result, type) and issubclass(result, Result):
                titles[result.NAME] = self.language.translate(result.TITLE)
        titles |= {page.name: page.title for page in self.pages}
        named = [*self.estimates["page"], *self.comparisons["page"]]
        return titles | {name: name for name in named if name not in titles}

    @property
    def records(self) -> list[dict[str, Any]]:
        """What is known of the systems, as the index takes it."""
        return [{"about": asdict(self.about)}]

    @property
    def systems(self) -> list[str]:
        """The systems whose first failures are known."""
        return list(self.statement.shares["system"].unique())

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the bands: everything else is kept by the pages that it is from."""
        return {"bands": self.statement.bands}

    def record(self) -> dict[str, Any]:
        """Return what was asked: what was measured, the other pages say."""
        return {"request": self.request.model_dump(mode="json")}

    @property
    def summary(self) -> list[Part]:
        """What Jupyter shows: answer, figure and table."""
        from ragbench.views import overview

        return only_parts(
            overview.verdicts(self),
            overview.answer(self),
            overview.failures(self),
            overview.differences(self),
        )

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        from ragbench.views import comparison, overview

        return only_parts(
            overview.verdicts(self),
            overview.answer(self),
            overview.facts(self),
            comparison.stand_ins(self),
            overview.differences(self),
            overview.failures(self),
            overview.thresholds(self),
            overview.cards(self),
            overview.systems(self),
            overview.unmeasured(self),
            overview.method(self),
            overview.limits(self),
            comparison.provenance(self),
        )

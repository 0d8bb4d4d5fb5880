"""What `rb.tier1(…)` and the others return: the frames, and the page that shows them."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from ragbench.core.folders import RUN_FOLDER, RUN_PAGE
from ragbench.core.language import Language, mark
from ragbench.report.page import Page, show
from ragbench.report.parts import Part, is_figure, only_parts
from ragbench.stats import Statement
from ragbench.tiers.common import About

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """A measured tier. In Jupyter it shows answer, figure and table; printed, their text.

    request: what was asked. frames: what was measured. statement: what that says. about: what it
    was measured on. A subclass has NAME, TITLE and its views: functions of `ragbench.views` by
    module and name, in the order in which they are shown.
    """

    NAME: ClassVar[str] = ""  # of notebook, page and folder of frames
    TITLE: ClassVar[str] = ""  # the question that it answers
    SUMMARY: ClassVar[str] = "comparison.answer comparison.forests comparison.main_numbers"
    FIGURES: ClassVar[str] = "comparison.forests"  # the views of the summary that draw
    PARTS: ClassVar[str] = ""
    TABLE: ClassVar[str] = "comparison.all_numbers"

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
        return self.draw(self.SUMMARY)

    @property
    def parts(self) -> list[Part]:
        """Everything that is shown, in the order of the page."""
        return self.draw(self.PARTS)

    def draw(self, views: str) -> list[Part]:
        """Return the parts of views, which are named by module and function."""
        parts = []
        for name in views.split():
            module, function = name.split(".")
            view = getattr(import_module(f"ragbench.views.{module}"), function)
            parts.append(view(self))
        return only_parts(*parts)

    @cached_property
    def page(self) -> Page:
        """The page."""
        return Page(self.title, self.parts, self.language.code)

    @property
    def figure(self) -> go.Figure | None:
        """plotly's figure of the summary; None where it has none."""
        figures = [part.content for part in self.draw(self.FIGURES) if is_figure(part.content)]
        return figures[0] if figures else None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all frames by name, those that hold anything."""
        named = {}
        for owner in (self.frames, self.statement):
            for field in fields(owner):
                frame = getattr(owner, field.name)
                if len(frame.columns):
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
        """Write frames and page into a folder, both or neither; returns the page's path."""
        from ragbench.report.manifest import fill_folder

        with fill_folder(Path(folder)) as beside:
            self.save_frames(beside)
            self.page.save(beside / f"{self.NAME}.html")
        return Path(folder) / f"{self.NAME}.html"

    def to_latex(self) -> str:
        """Return the table of all numbers for a paper, with booktabs."""
        return self.draw(self.TABLE)[0].to_latex(self.NAME)

    def keep(self) -> None:
        """Write the frames into the folder of the run that executes this notebook, if one does."""
        from ragbench.report.manifest import write_frames

        folder = os.environ.get(RUN_FOLDER)
        if folder:
            page = os.environ.get(RUN_PAGE, self.NAME)
            write_frames(Path(folder), page, self.tables(), self.record())

    def __str__(self) -> str:
        views = [name for name in self.SUMMARY.split() if name not in self.FIGURES.split()]
        return "\n\n".join([self.title, *map(str, self.draw(" ".join(views)))])

    __repr__ = __str__

    def _ipython_display_(self) -> None:
        show(self.summary)


class Tier1(Result):
    """Does the system find the right passage?"""

    NAME = "tier1_retrieval"
    TITLE = mark("Tier 1 · Does the system find the right passage?")
    PARTS = """
        comparison.answer
        comparison.facts
        comparison.stand_ins
        comparison.forests
        comparison.numbers
        retrieval.curves
        comparison.slices
        questions.questions
        comparison.all_numbers
        retrieval.judged
        retrieval.speed
        retrieval.method
        retrieval.limits
        comparison.provenance
    """


class Tier2(Result):
    """Does the system answer well from the right passages?"""

    NAME = "tier2_generation"
    TITLE = mark("Tier 2 · Does the system answer well from the right passages?")
    PARTS = """
        comparison.answer
        comparison.facts
        comparison.stand_ins
        answers.writers
        comparison.forests
        comparison.numbers
        answers.refusals
        questions.questions
        comparison.all_numbers
        answers.repeats
        answers.judges
        answers.unmeasured
        answers.method
        answers.limits
        comparison.provenance
    """


class Tier3(Result):
    """Does the user get a good answer?"""

    NAME = "tier3_end_to_end"
    TITLE = mark("Tier 3 · Does the user get a good answer?")
    PARTS = """
        comparison.answer
        comparison.facts
        comparison.stand_ins
        blame.bars
        blame.perfect_parts
        comparison.forests
        comparison.numbers
        answers.refusals
        questions.questions
        comparison.all_numbers
        blame.table
        answers.repeats
        answers.judges
        answers.unmeasured
        answers.method
        answers.limits
        comparison.provenance
    """


class RagMetrics(Result):
    """What is each answer worth, and by which metric?"""

    NAME = "rag_metrics"
    TITLE = mark("Answers · What is each answer worth, and by which metric?")
    PARTS = """
        comparison.answer
        comparison.facts
        comparison.stand_ins
        comparison.forests
        comparison.numbers
        questions.questions
        comparison.all_numbers
        answers.repeats
        answers.correlations
        answers.judges
        answers.unmeasured
        answers.method
        answers.limits
        comparison.provenance
    """


class Tier0(Result):
    """What shape do the embeddings have?"""

    NAME = "tier0_embeddings"
    TITLE = mark("Tier 0 · What shape do the embeddings have?")
    SUMMARY = "embeddings.answer embeddings.distances embeddings.numbers"
    FIGURES = "embeddings.distances"
    TABLE = "embeddings.numbers"
    PARTS = """
        embeddings.answer
        embeddings.facts
        comparison.stand_ins
        embeddings.distances
        embeddings.spectrum
        embeddings.numbers
        embeddings.pictures
        embeddings.texts
        embeddings.method
        embeddings.limits
        comparison.provenance
    """

    @property
    def systems(self) -> list[str]:
        """The embedders, in the order in which they were named."""
        return list(self.request.embedders)

    @property
    def scores(self) -> pd.DataFrame:
        """A row an embedder and text: its mean distances, see `Frames.distances`."""
        return self.frames.distances


class TierJudge(Result):
    """Is the judge any good?"""

    NAME = "tier_judge"
    TITLE = mark("Judge · Is the judge any good?")
    SUMMARY = "judges.answer judges.forest judges.numbers"
    FIGURES = "judges.forest"
    TABLE = "judges.numbers"
    PARTS = """
        judges.answer
        judges.facts
        comparison.stand_ins
        judges.forest
        judges.numbers
        judges.probes
        judges.agreement
        judges.answers
        judges.method
        judges.limits
        comparison.provenance
    """


class TierJudgePipeline(Result):
    """Does the production judge decide rightly what is shown?"""

    NAME = "tier_judge_pipeline"
    TITLE = mark("Judge pipeline · Does the production judge decide rightly what is shown?")
    SUMMARY = "decisions.answer decisions.forest decisions.numbers"
    FIGURES = "decisions.forest"
    TABLE = "decisions.numbers"
    PARTS = """
        decisions.answer
        decisions.facts
        comparison.stand_ins
        decisions.forest
        decisions.numbers
        decisions.counts
        decisions.decisions
        decisions.method
        decisions.limits
        comparison.provenance
    """


class TierUx(Result):
    """Would a cache serve people well, and do dialogues hold together?"""

    NAME = "tier_ux"
    TITLE = mark("UX · Would a cache serve people well, and do dialogues hold together?")
    SUMMARY = "ux.answer ux.curve ux.numbers"
    FIGURES = "ux.curve"
    TABLE = "ux.numbers"
    PARTS = """
        ux.answer
        ux.facts
        comparison.stand_ins
        ux.curve
        ux.numbers
        ux.caches
        ux.dialogues
        ux.nearest
        ux.method
        ux.limits
        comparison.provenance
    """


class DataSet(Result):
    """What in the data makes the numbers look better or worse?"""

    NAME = "dataset"
    TITLE = mark("Data set · What in the data makes the numbers look better or worse?")
    SUMMARY = "dataset.answer dataset.sizes dataset.findings"
    FIGURES = "dataset.sizes"
    TABLE = "dataset.numbers"
    PARTS = """
        dataset.answer
        dataset.facts
        dataset.findings
        dataset.examples
        dataset.sizes
        dataset.numbers
        dataset.every_question
        dataset.left_out
        dataset.method
        dataset.limits
        comparison.provenance
    """

    @property
    def systems(self) -> list[str]:
        """The data set itself, which its questions are listed with."""
        return [self.about.dataset]


class Sources(Result):
    """Which parts of the knowledge base are used?"""

    NAME = "sources"
    TITLE = mark("Sources · Which parts of the knowledge base are used?")
    SUMMARY = "sources.answer sources.topics sources.numbers"
    FIGURES = "sources.topics"
    TABLE = "sources.numbers"
    PARTS = """
        sources.answer
        sources.facts
        comparison.stand_ins
        sources.topics
        sources.numbers
        sources.coverage
        sources.unused
        sources.pages
        questions.questions
        sources.method
        sources.limits
        comparison.provenance
    """


class RealUsers(Result):
    """Does the system find what people were shown?"""

    NAME = "real_users"
    TITLE = mark("Real users · Does the system find what people were shown?")
    PARTS = """
        comparison.answer
        users.facts
        users.proxy
        comparison.stand_ins
        comparison.forests
        comparison.numbers
        users.months
        comparison.slices
        users.words
        users.pages
        questions.questions
        comparison.all_numbers
        users.method
        users.limits
        comparison.provenance
    """


@dataclass(frozen=True, repr=False, eq=False)
class Overview(Result):
    """Is it good, is it better, and which part fails first?

    folder: of the run. pages: the others, with titles and findings. records: what these say of
    themselves.
    """

    NAME: ClassVar[str] = "overview"
    TITLE: ClassVar[str] = mark("Overview · Is it good, is it better, and which part fails first?")
    SUMMARY: ClassVar[str] = """
        overview.verdicts
        overview.answer
        overview.failures
        overview.differences
    """
    FIGURES: ClassVar[str] = "overview.failures"
    TABLE: ClassVar[str] = "overview.differences"
    PARTS: ClassVar[str] = """
        overview.verdicts
        overview.answer
        overview.facts
        overview.stand_ins
        overview.differences
        overview.failures
        overview.thresholds
        overview.cards
        overview.systems
        overview.unmeasured
        overview.method
        overview.limits
        comparison.provenance
    """

    statement: Any
    folder: Path
    pages: list[Any]
    records: list[Any]

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
    def systems(self) -> list[str]:
        """The systems whose first failures are known."""
        return list(self.statement.shares["system"].unique())

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the bands: everything else is kept by the pages that it is from."""
        return {"bands": self.statement.bands}

    def record(self) -> dict[str, Any]:
        """Return what was asked: what was measured, the other pages say."""
        return {"request": self.request.model_dump(mode="json")}

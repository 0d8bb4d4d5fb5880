"""Tier 0: spaces of vectors side by side, as histograms, spectrum, pictures, texts and numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ragbench.core.language import mark
from ragbench.core.metric import CATALOGUE
from ragbench.metrics.space import VARIANCE_SHARE
from ragbench.report.figures import Style, colour, new_figure, system_styles
from ragbench.report.parts import Part, trusted
from ragbench.tiers.tier0_embeddings import AXES
from ragbench.views import comparison
from ragbench.views.questions import clip

DISTANCES = {"euclidean": mark("Euclidean distance"), "cosine": mark("cosine distance, 1 − cosine")}
MOST_GROUPS = 6  # that a picture has colours for
LONGEST = 80  # characters of a text in a list, or of one that is pointed at


def answer(result: Any) -> Part:
    """The finding: a sentence an embedder."""
    language = result.language
    _ = language.translate
    message = _(
        "{system} needs {dimensions} of its {width} dimensions for 95 % of the variance; the "
        "nearest neighbour of a text is {near} away, {share} of the mean distance between two "
        "texts."
    )
    estimates = result.estimates.set_index(["system", "metric"])
    widths = space_values(result, "width")
    paragraphs = []
    for system in result.systems:
        dimensions = estimates.loc[system, "effective_dimensionality"]
        near = estimates.loc[system, "avg_nn_distance"]
        text = trusted(message).format(
            system=comparison.bold(system),
            dimensions=comparison.number_text(dimensions, "effective_dimensionality", language),
            width=language.count(int(widths[system])),
            near=comparison.number_text(near, "avg_nn_distance", language),
            share=language.percent(near_shares(result)[system]),
        )
        paragraphs.append(Markup("<p>{}</p>").format(text))
    more = _(
        "These numbers describe. Which embedder finds more is shown where it searches: Tier 1."
    )
    paragraphs.append(Markup('<p><span class="more">{}</span></p>').format(more))
    return Part(Markup("").join(paragraphs), style="finding")


def space_values(result: Any, metric: str) -> pd.Series:
    """One measure by embedder."""
    spaces = result.frames.spaces
    return spaces[spaces["metric"] == metric].set_index("system")["value"]


def near_shares(result: Any) -> pd.Series:
    """The mean distance to the nearest neighbour as a share of that between two texts."""
    return space_values(result, "avg_nn_distance") / space_values(result, "avg_pairwise_distance")


def facts(result: Any) -> Part:
    """What was measured, in one line."""
    _ = result.language.translate
    named = {
        _("texts"): result.language.count(len(result.frames.texts)),
        _("distance"): _(DISTANCES[result.request.distance]),
    }
    return comparison.about_facts(result, named)


def distances(result: Any) -> Part:
    """How distances are spread: to the nearest neighbour above, between all pairs below."""
    language = result.language
    _ = language.translate
    figure = new_figure(language)
    lower = figure.layout.yaxis.to_plotly_json()
    figure.update_layout(yaxis2=lower)
    shown = {"showticklabels": False, "showgrid": False, "showline": False, "rangemode": "tozero"}
    figure.update_layout(
        yaxis={"domain": [0.56, 1], **shown}, yaxis2={"domain": [0, 0.44], **shown}
    )
    styles = system_styles(result.systems)
    for (system, kind), rows in result.frames.histograms.groupby(["system", "kind"], sort=False):
        filled = rows[rows["count"] > 0]
        rows = rows.loc[filled.index[0] : filled.index[-1]]
        density = rows["count"] / rows["count"].sum() / (rows["high"] - rows["low"])
        figure.add_scatter(
            name=system,
            x=[rows["low"].iloc[0], *rows["low"], rows["high"].iloc[-1]],
            y=[0.0, *density, 0.0],
            yaxis="y" if kind == "nearest" else "y2",
            line={"shape": "hv", "color": styles[system].colour},
            mode="lines",
            showlegend=kind == "nearest" and len(result.systems) > 1,
            hoverinfo="skip",
        )
    for text, place in ((_("to the nearest neighbour"), 1), (_("between all pairs"), 0.44)):
        figure.add_annotation(
            text=text, x=0, xref="paper", y=place, yref="paper", showarrow=False, xanchor="left"
        )
    axis_title = _(DISTANCES[result.request.distance])
    figure.update_xaxes(title_text=axis_title, showline=True, anchor="y2", rangemode="tozero")
    message = _("Nearest neighbours, as a share of the mean distance between two texts: {shares}")
    shares = {name: language.percent(share) for name, share in near_shares(result).items()}
    note = _("The area under every curve is the same.")
    return Part(figure, title=message.format(shares=by_system(shares)), note=note)


def by_system(texts: dict[str, str]) -> str:
    """`a 75 %, b 80 %`; of one embedder its text alone."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def spectrum(result: Any) -> Part:
    """Which share of the variance lies in how many principal components."""
    language = result.language
    _ = language.translate
    figure = new_figure(language)
    styles = system_styles(result.systems)
    dimensions = space_values(result, "effective_dimensionality")
    for system, rows in result.frames.spectrum.groupby("system", sort=False):
        figure.add_scatter(
            name=system,
            x=rows["components"],
            y=rows["share"],
            mode="lines",
            line={"color": styles[system].colour},
            hovertemplate="%{fullData.name} · %{x}: %{y:.0%}<extra></extra>",
            showlegend=len(result.systems) > 1,
        )
    figure.add_scatter(
        x=dimensions,
        y=[VARIANCE_SHARE] * len(dimensions),
        mode="markers",
        marker={"color": [styles[name].colour for name in dimensions.index]},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_hline(VARIANCE_SHARE, line={"color": colour("grey"), "dash": "dot"})
    figure.update_xaxes(type="log", title_text=_("principal components"), showline=True, dtick=1)
    figure.update_yaxes(title_text=_("share of the variance"), tickformat=".0%", rangemode="tozero")
    widths = space_values(result, "width")
    counts = {name: f"{n:.0f} / {widths[name]:.0f}" for name, n in dimensions.items()}
    title = _("Dimensions that hold 95 % of the variance: {counts}")
    title = title.format(counts=by_system(counts))
    n_texts = len(result.frames.texts)
    note = _("{texts} texts span at most {dimensions} dimensions, however wide their vectors are.")
    note = note.format(texts=n_texts, dimensions=n_texts - 1)
    return Part(figure, title=title, note=note if (widths >= n_texts).any() else "")


def numbers(result: Any) -> Part:
    """All twelve measures, a column an embedder."""
    language = result.language
    _ = language.translate
    estimates = result.estimates.set_index(["system", "metric"])
    metrics = list(dict.fromkeys(result.estimates["metric"]))
    columns = {
        system: [
            comparison.number_text(estimates.loc[system, name], name, language) for name in metrics
        ]
        for system in result.systems
    }
    columns[_("what it is")] = [_(CATALOGUE[name].summary) for name in metrics]
    note = _(
        "Measured with the {distance}. A count, a least and a greatest value have no interval."
    )
    return Part(
        pd.DataFrame(columns, index=metrics),
        title=_("All numbers"),
        note=note.format(distance=_(DISTANCES[result.request.distance])),
    )


def pictures(result: Any) -> list[Part]:
    """The texts in two dimensions and, folded, in three, for every embedder."""
    texts = result.frames.texts.set_index("text_id")
    parts = []
    for system, rows in result.frames.projection.groupby("system", sort=False):
        shown = rows.join(texts, on="text_id")
        for n_axes in AXES:
            parts.append(picture(result, str(system), shown, n_axes))
    return parts


def picture(result: Any, system: str, rows: pd.DataFrame, n_axes: int) -> Part:
    """One picture, coloured by the most frequent groups of texts."""
    language = result.language
    _ = language.translate
    groups = rows["group"].where(rows["group"] != "").value_counts()
    named = list(groups.index[:MOST_GROUPS])
    others = _("all others")
    styles = system_styles([*named, others], others)
    coloured = rows["group"].where(rows["group"].isin(named), others)
    figure = new_figure(language, 450, legend_traceorder="reversed")
    # Those without a colour lie below, and are named last.
    for group in (others, *reversed(named)):
        members = rows[coloured == group]
        if len(members):
            add_points(figure, group, members, n_axes, styles[group])
    hidden = {"visible": False, "showspikes": False}
    if n_axes == 3:
        figure.update_layout(scene={f"{name}axis": hidden for name in "xyz"})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    title = _("The texts in {count} dimensions").format(count=n_axes)
    if len(result.systems) > 1:
        title += f": {system}"
    note = _(
        "UMAP with a fixed seed: neighbours stay neighbours, distances between far groups mean "
        "nothing. The picture is no metric."
    )
    return Part(figure, title=title, note=note, is_folded=n_axes == 3)


def add_points(figure: Any, name: str, rows: pd.DataFrame, n_axes: int, style: Style) -> None:
    """Add the texts of one group to a picture."""
    places = dict(zip("xyz", (rows[axis] for axis in AXES[n_axes]), strict=False))
    texts = [clip(text, LONGEST) for text in rows["text"]]
    look = {"color": style.colour, "size": 7 if n_axes == 2 else 4, "opacity": 0.8}
    shared = {
        "name": name,
        "mode": "markers",
        "customdata": texts,
        "hovertemplate": "%{customdata}<extra>%{fullData.name}</extra>",
        **places,
    }
    if n_axes == 3:
        figure.add_scatter3d(marker=look, **shared)
    else:
        figure.add_scatter(marker={"symbol": style.symbol, **look}, **shared)


def texts(result: Any) -> list[Part]:
    """The closest pairs of texts of every embedder, and those whose neighbours are farthest."""
    _ = result.language.translate
    closest = _(
        "Texts that are nearly the same take each other's places in rankings. Read both before "
        "you delete one."
    )
    farthest = _("A text far from all others is a subject of its own, or noise.")
    frames = result.frames
    return [
        text_list(result, frames.closest, "first", "second", _("The closest texts"), closest),
        text_list(
            result, frames.outliers, "text_id", "nearest", _("The most isolated texts"), farthest
        ),
    ]


def text_list(
    result: Any, frame: pd.DataFrame, first: str, second: str, title: str, note: str
) -> Part:
    """A table of two texts with their distance. first, second: columns of ids."""
    _ = result.language.translate
    shown = result.frames.texts.set_index("text_id")["text"].map(lambda text: clip(text, LONGEST))
    table = pd.DataFrame(
        {
            _("text"): frame[first].map(shown),
            _("its nearest neighbour"): frame[second].map(shown),
            _("distance"): frame["distance"].map(result.language.number),
        }
    )
    if len(result.systems) > 1:
        # An embedder heads its rows once.
        table.index = pd.Index(frame["system"].mask(frame.duplicated("system"), ""))
    return Part(table, title=title, note=note, is_folded=len(table) > comparison.MOST_SHOWN)


def method(result: Any) -> Part:
    """How Tier 0 measures."""
    language = result.language
    _ = language.translate
    text = _(
        "Every text is embedded once, and its vector is kept. All pairs are measured. A vector is "
        "never its own neighbour, so that copies are neighbours at distance 0. Intervals are "
        "{level} %: bootstrap (BCa, {draws} draws) of the values of single texts, not of vectors; "
        "of means over pairs, which share texts, by leaving texts out (U-statistic, jackknife); of "
        "the dimensions by drawing vectors on fixed axes."
    )
    level = f"{100 * result.request.level:g}"
    text = text.format(level=level, draws=language.count(result.request.draws))
    return Part(text, title=_("Method"))


def limits(result: Any) -> Part:
    """What Tier 0 does not show."""
    _ = result.language.translate
    text = _(
        "Nothing is searched here: a space can look good and retrieve badly. Distances of two "
        "embedders are not on one scale, so that a difference between columns is no difference "
        "in quality."
    )
    return Part(text, title=_("What this does not show"))

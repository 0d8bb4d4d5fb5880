"""A judge's replies, repeats, choices and agreement with people, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from ragbench.language import DASH
from ragbench.measurement import estimate_of
from ragbench.show.basics import cells
from ragbench.show.basics.marks import chip
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import clean, shown
from ragbench.show.judges import words
from ragbench.show.page import view
from ragbench.types import Verdict

AGREEMENT = (
    "spearman", "pearson", "kendall", "icc", "krippendorff_alpha", "accuracy", "balanced_accuracy", "cohen_kappa",
    "gwet_ac1", "bias",
)  # fmt: skip
REPEATS = (
    "exact_agreement", "flip_rate", "krippendorff_alpha", "icc", "within_item_deviation", "smallest_difference",
)  # fmt: skip
PAIRWISE = ("consistent", "first_place", "second_place", "tie", "better_wins", "right_in_both_orders")
CALIBRATION = ("sensitivity", "specificity", "expected_calibration_error", "brier")


@view("replies")
def replies(material: Material, present: frozenset[str]) -> Markup:
    """How the judges' replies ended: valid, unparseable, refused, cut off, failed; counts add up to all asked."""
    _ = material.text
    judges = words.judges_of(material)
    rows = words.kept(material, "coverage")
    if not judges:
        text = _(
            "This data set has neither rated answers nor questions with a reference, so there was nothing to judge."
        )
        return Markup("<p>{}</p>").format(text)
    if not any(row["asked"] for row in rows):
        return Markup("<p>{}</p>").format(_("No scores were asked for."))
    heads = [cells.head(_("reply")), *(cells.head(shown(name), "rb-name") for name in judges)]
    body = []
    for outcome in dict.fromkeys(str(row["outcome"]) for row in rows):
        line = [Markup("<th scope=row>{}</th>").format(words.statistic(material, outcome))]
        for name in judges:
            own = words.by_name(words.kept(material, "coverage", name), "outcome")[outcome]
            content = Markup("{} · {}").format(_.integer(int(own["count"])), words.number(material, own))
            line.append(cells.cell(shown(name), content))
        body.append(cells.row(line))
    line = [Markup("<th scope=row>{}</th>").format(_("all that was asked"))]
    for name in judges:
        line.append(cells.cell(shown(name), _.integer(int(words.kept(material, "coverage", name)[0]["asked"]))))
    return _scale(material) + cells.table(_("Replies"), heads, [*body, cells.row(line)])


def _scale(material: Material) -> Markup:
    """δ of consistency_score with the scale that it is on, and whose scores these are."""
    _ = material.text
    known = material.facts
    low, high = ends(material)
    delta = _.number(float(known.get("delta", 0.5)), 2)
    text = _("consistency_score: δ = {delta} on a scale from {low} to {high}.", delta=delta, low=low, high=high)
    if known.get("metric"):
        text += " " + _("The scores are those of {metric}.", metric=clean(known["metric"]))
    if known.get("faithfulness"):
        text += " " + _("avg_faithfulness is by {metric}.", metric=clean(known["faithfulness"]))
    return _meta(text)


def ends(material: Material) -> tuple[str, str]:
    """The ends of the judge's scale."""
    low, high = material.facts.get("judge_scale", (0, 1))
    return _end(material, low), _end(material, high)


def _end(material: Material, value: float) -> str:
    return material.text.number(value, 0 if float(value).is_integer() else 2)


def _meta(text: str) -> Markup:
    return Markup('<p class="rb-meta">{}</p>').format(text)


@view("repeatability")
def repeatability(material: Material, present: frozenset[str]) -> Markup:
    """How far each judge agrees with itself, and the smallest difference that means anything."""
    _ = material.text
    if not words.judges_of(material):
        return Markup("")
    if not words.kept(material, "repeatability"):
        return Markup("<p>{}</p>").format(
            _("Every answer was judged once: how far the judge agrees with itself is not measured.")
        )
    low, high = ends(material)
    note = _("Deviation and smallest difference are in units of the scale, from {low} to {high}.", low=low, high=high)
    return _by_judge(material, "repeatability", REPEATS, _("Repeatability")) + _meta(note)


@view("pairwise")
def pairwise(material: Material, present: frozenset[str]) -> Markup:
    """Which of two answers is better, asked in both orders."""
    _ = material.text
    if not words.judges_of(material):
        return Markup("")
    if not words.kept(material, "pairwise"):
        return Markup("<p>{}</p>").format(_("No pairs were compared."))
    said = []
    for name in words.judges_of(material):
        row = words.by_name(words.kept(material, "pairwise", name)).get("consistent")
        if row is not None:
            total = int(row["n"]) + int(row["n_unmeasured"])
            said.append(
                _("{judge}: {n} of {total} pairs have an answer in both orders", judge=clean(name), n=int(row["n"]),
                  total=total)
            )  # fmt: skip
    table = _by_judge(material, "pairwise", PAIRWISE, _("Choices between two answers, in both orders"))
    return table + _meta("; ".join(said) + ".")


@view("people")
def people(material: Material, present: frozenset[str]) -> Markup:
    """How far each judge agrees with people, beside how far people agree with each other."""
    _ = material.text
    rows = words.kept(material, "agreement")
    if not words.judges_of(material):
        return Markup("")
    if not rows:
        return Markup("<p>{}</p>").format(
            _("Nobody rated these answers, so agreement with people is not measured. 50 to 200 ratings would do.")
        )
    whole = _agreement(material, rows, "person", _("Agreement with people"))
    mean = _agreement(material, rows, "mean", _("Agreement with people's mean"))
    fold = Markup('<details class="rb-fold"><summary>{}</summary>{}</details>').format(
        _("Agreement with people's mean"), mean
    )
    return whole + _few(material) + fold


def _agreement(material: Material, rows: list[words.Row], against: str, title: str) -> Markup:
    """One column a judge; before judges with single people also people with each other, the ceiling."""
    _ = material.text
    columns = [*words.judges_of(material)]
    if against == "person" and any(row["judge"] == "people" for row in rows):
        columns.insert(0, "people")
    labels = [_("people with each other") if name == "people" else shown(name) for name in columns]
    heads = [cells.head(_("agreement")), *(cells.head(label, "rb-name") for label in labels)]
    found = {(row["judge"], row["name"]): row for row in rows if row["against"] == against}
    body = [
        cells.row(
            [
                Markup("<th scope=row>{}</th>").format(words.statistic(material, name)),
                *(
                    cells.cell(label, words.number(material, found.get((judge, name)), 2, signed=name == "bias"))
                    for label, judge in zip(labels, columns, strict=True)
                ),
            ]
        )
        for name in AGREEMENT
    ]
    return cells.table(title, heads, body)


def _few(material: Material) -> Markup:
    """What so few rated answers can tell apart."""
    _ = material.text
    found = [(row["judge"], estimate_of(row)) for row in words.kept(material, "agreement") if row["against"] == "mean"]
    if not found:
        return Markup("")
    n = min(one.n for _judge, one in found)
    text = _.plural(
        "{n} answer was rated by people.",
        "{n} answers were rated by people.",
        max(one.n + one.n_unmeasured for _judge, one in found),
    )
    for judge, one in dict(found).items():
        if one.n_unmeasured:
            text += " " + _(
                "Of {judge} {n} of them count: to the others it gave no score.", judge=clean(judge), n=_.integer(one.n)
            )
    text += " " + _("Scores and ratings are compared as shares of their scales.")
    if n < 50:
        text += " " + _("So few cannot tell a good judge from a fair one: the intervals say how little is known.")
    return Markup('<p class="rb-meta">{}</p>').format(text)


def calibration(material: Material) -> Markup:
    """Sensitivity, specificity, calibration error and Brier score."""
    return _by_judge(material, "calibration", CALIBRATION, material.text("Calibration"))


@view("rivals")
def rivals(material: Material, present: frozenset[str]) -> Markup:
    """Each judge against the lexical baseline at ordering answers as people do."""
    _ = material.text
    judges = list(dict.fromkeys(str(row["judge"]) for row in words.kept(material, "rivals")))
    rival = shown(material.facts.get("rival"))
    if not judges:
        alone = _("There is no judge beside the baseline to compare with it.")
        return Markup("<p>{}</p>").format(alone) if words.kept(material, "agreement") else Markup("")
    heads = [cells.head(text) for text in (
        _("judge"), _("concordance with people"), _("of {baseline}", baseline=rival), _("difference"), _("p (Holm)"),
        _("verdict"),
    )]  # fmt: skip
    body = []
    for name in judges:
        own = words.by_name(words.kept(material, "rivals", name))
        verdict = own["difference"]["verdict"]
        word = DASH if verdict == words.UNMEASURED else chip(material, Verdict(verdict))
        body.append(
            cells.row(
                [
                    Markup("<th scope=row>{}</th>").format(shown(name)),
                    cells.cell(_("concordance with people"), words.number(material, own["concordance"])),
                    cells.cell(_("of {baseline}", baseline=rival), words.number(material, own["baseline"])),
                    cells.cell(_("difference"), words.number(material, own["difference"], signed=True)),
                    cells.cell(_("p (Holm)"), _.p_value(own["difference"]["p_adjusted"])),
                    cells.cell(_("verdict"), word, "rb-word"),
                ]
            )
        )
    note = _(
        "Concordance: of two answers that people rate differently, the share that the judge puts in the same order; a "
        "tie counts half, chance is one half."
    )
    return cells.table(_("Against the baseline"), heads, body) + Markup('<p class="rb-meta">{}</p>').format(note)


@view("panel")
def panel(material: Material, present: frozenset[str]) -> Markup:
    """What the panel becomes without each of its judges; empty for a single one."""
    _ = material.text
    rows = words.kept(material, "panel")
    if not rows:
        return Markup("")
    columns: list[tuple[str, Callable[[words.Row], str]]] = [
        (_("mean of all"), lambda row: _.number(row["whole"])),
        (_("mean without it"), lambda row: _.number(row["without"])),
        (_("shift"), lambda row: _.number(row["shift"], signed=True)),
        (_("largest change of an answer"), lambda row: _.number(row["largest"])),
        (_("concordance with people, of all"), lambda row: _.number(row["concordance"])),
        (_("without it"), lambda row: _.number(row["concordance_without"])),
    ]
    heads = [cells.head(_("left out")), *(cells.head(title) for title, _value in columns)]
    body = [
        cells.row(
            [
                Markup("<th scope=row>{}</th>").format(shown(row["judge"])),
                *(cells.cell(title, value(row)) for title, value in columns),
            ]
        )
        for row in rows
    ]
    return Markup("<h3>{}</h3>{}").format(
        _("The panel without one of its judges"), cells.table(_("Panel"), heads, body)
    )


def _by_judge(material: Material, table: str, names: Sequence[str], title: str) -> Markup:
    judges = words.judges_of(material)
    found = {name: words.by_name(words.kept(material, table, name)) for name in judges}
    heads = [cells.head(material.text("measure")), *(cells.head(shown(name), "rb-name") for name in judges)]
    body = [
        cells.row(
            [
                Markup("<th scope=row>{}</th>").format(words.statistic(material, name)),
                *(cells.cell(shown(judge), words.number(material, found[judge].get(name))) for judge in judges),
            ]
        )
        for name in names
        if any(name in rows for rows in found.values())
    ]
    return cells.table(title, heads, body)

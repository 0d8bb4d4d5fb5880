"""What pieces of passages count: the rule of the method section, where systems cut passages before they search them."""

from __future__ import annotations

from ragbench.core.parts import Part, Text
from ragbench.views.basics.material import Material


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

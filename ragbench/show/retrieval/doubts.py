"""What in the data makes retrieval look better or worse than it is, in words: for a page and for `ragbench load`."""

from __future__ import annotations

from collections.abc import Mapping

from ragbench.language import Translator


def sentences(found: Mapping[str, int], _: Translator) -> list[str]:
    """A sentence for each kind that `ragbench.datasets.doubts_of` counted; none where it counted nothing."""
    said = []
    labelled = _.integer(found.get("labelled", 0))
    if count := found.get("question_is_passage", 0):
        said.append(
            _.plural(
                "{n} of {labelled} labelled questions is word for word its own relevant passage: to find that one "
                "shows nothing of how real questions fare.",
                "{n} of {labelled} labelled questions are word for word their own relevant passages: to find those "
                "shows nothing of how real questions fare.",
                count,
                labelled=labelled,
            )
        )
    if count := found.get("passage_copied", 0):
        said.append(
            _.plural(
                "{n} of {labelled} labelled questions has a relevant passage whose text the base holds more than once: "
                "a copy that is not marked counts as a miss, one that is marked counts twice.",
                "{n} of {labelled} labelled questions have a relevant passage whose text the base holds more than "
                "once: a copy that is not marked counts as a miss, one that is marked counts twice.",
                count,
                labelled=labelled,
            )
        )
    if count := found.get("labels_nowhere", 0):
        said.append(
            _.plural(
                "{n} of {labels} labels names a passage or a page that the base does not have: it can never be found.",
                "{n} of {labels} labels name passages or pages that the base does not have: they can never be found.",
                count,
                labels=_.integer(found.get("labels", 0)),
            )
        )
    return said

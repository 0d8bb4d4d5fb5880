"""What in the data makes retrieval look better or worse than it is, in words: for a page and for `ragbench load`."""

from __future__ import annotations

from collections.abc import Mapping

from ragbench.core.language import Translator


def sentences(counts: Mapping[str, int], _: Translator) -> list[str]:
    """A sentence for each kind that `ragbench.data.doubts_of` counted; none where it counted nothing."""
    labelled, labels = _.integer(counts.get("labelled", 0)), _.integer(counts.get("labels", 0))
    said = {
        "question_is_passage": _.plural(
            "{n} of {labelled} labelled questions is word for word its own relevant passage: to find that one "
            "shows nothing of how real questions fare.",
            "{n} of {labelled} labelled questions are word for word their own relevant passages: to find those "
            "shows nothing of how real questions fare.",
            counts.get("question_is_passage", 0),
            labelled=labelled,
        ),
        "question_in_passage": _.plural(
            "{n} of {labelled} labelled questions stands word for word in its relevant passage: search by words finds "
            "that one for nothing.",
            "{n} of {labelled} labelled questions stand word for word in their relevant passages: search by words "
            "finds those for nothing.",
            counts.get("question_in_passage", 0),
            labelled=labelled,
        ),
        "passage_copied": _.plural(
            "{n} of {labelled} labelled questions has a relevant passage whose text the base holds more than once: "
            "a copy that is not marked counts as a miss, one that is marked counts twice.",
            "{n} of {labelled} labelled questions have a relevant passage whose text the base holds more than "
            "once: a copy that is not marked counts as a miss, one that is marked counts twice.",
            counts.get("passage_copied", 0),
            labelled=labelled,
        ),
        "labels_nowhere": _.plural(
            "{n} of {labels} labels names a passage or a page that the base does not have: it can never be found.",
            "{n} of {labels} labels name passages or pages that the base does not have: they can never be found.",
            counts.get("labels_nowhere", 0),
            labels=labels,
        ),
    }
    return [text for kind, text in said.items() if counts.get(kind)]

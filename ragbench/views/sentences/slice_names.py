"""What parts of the questions are called."""

from __future__ import annotations

from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown


def dimension_name(material: Material, dimension: str) -> str:
    """What questions are sliced by, for people."""
    _ = material.text
    names = {"kind": _("Kind of question"), "language": _("Language"), "source": _("Source")}
    return names.get(dimension, dimension)


def slice_name(material: Material, part: tuple[str, str | None]) -> str:
    """The name of a slice: as the data has it, the kinds of the sample data in words."""
    _ = material.text
    dimension, value = part
    if value is None:
        return shown(_("not given"))
    kinds = {"well_formed": _("well-formed"), "colloquial": _("colloquial"), "misspelt": _("misspelt")}
    return shown(kinds.get(value, value) if dimension == "kind" else value, 60)

"""Labels by people, given in a notebook: one answer at a time, without knowing who wrote it or what a judge said."""

from ragbench.labelling.items import Item, items, scale_of
from ragbench.labelling.panel import Panel
from ragbench.labelling.settling import Agreement, agreement, settle
from ragbench.labelling.sheet import Given, Sheet, export_csv, import_csv
from ragbench.labelling.widget import label, widget

__all__ = [
    "Agreement",
    "Given",
    "Item",
    "Panel",
    "Sheet",
    "agreement",
    "export_csv",
    "import_csv",
    "items",
    "label",
    "scale_of",
    "settle",
    "widget",
]

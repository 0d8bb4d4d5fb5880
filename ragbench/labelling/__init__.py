"""Labels by people, given in a notebook: one answer at a time, without knowing who wrote it or what a judge said."""

from ragbench.labelling.items import Item, items, scale_of
from ragbench.labelling.sheet import Sheet, export_csv, import_csv
from ragbench.labelling.widget import label

__all__ = ["Item", "Sheet", "export_csv", "import_csv", "items", "label", "scale_of"]

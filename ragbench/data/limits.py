"""What a file may ask for, and why: every limit of those that read what others wrote.

Memory is limited where something is held, never where rows go by. What goes by is limited by its number alone, so that
a small packed file cannot fill a disk.
"""

BLOCK_BYTES = 2**20
"""Of a file that goes by, read at once."""
MAX_BYTES = 96 * 2**20
"""Of a file that is held as a whole, unpacked: its text, its values and their copies stay below a gigabyte."""
MAX_WEIGHT = 2**29
"""Of one JSON text, as objects: `{},` takes three bytes of it and a hundred of memory."""
MAX_LINE_BYTES = 2**24
"""Of one line or cell, held while it is read."""
MAX_ELEMENT = 96 * 2**20
"""Characters of one element of a JSON list, held while it is read."""
MAX_ROWS = 1_000_000
"""Of the rows of a file that are held together: as objects, a row takes up to 600 bytes beside its texts."""
MAX_WEIGHT_OF_ROWS = 3 * 2**28
"""Of the same rows, in bytes of memory."""
MAX_STREAMED_ROWS = 20_000_000
"""Of the rows of a file that go by one after the other, on their way to the disk."""
MAX_STREAMED_BYTES = 2**36
"""Of the same rows, unpacked: what a few kilobytes of gzip or Parquet may stand for."""
MAX_DECODED_BYTES = 2**29
"""Of a Parquet file whose rows are held: a few kilobytes of a repeated text may stand for more than any memory."""
BATCH_ROWS, BATCH_BYTES = 256, 2**26
"""Of a Parquet file that are decoded at once: so many rows, and fewer where each may repeat a long text."""
OBJECT_BYTES, LIST_BYTES, FIELD_BYTES, VALUE_BYTES = 150, 72, 100, 56
"""That an object, a list, the field of an object, and any other value take at most, beside their letters."""
LATEST = 253_402_300_800
"""Seconds since 1970 of the end of the year 9999, after which no calendar here has a moment."""

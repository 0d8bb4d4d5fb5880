"""Decodes a Parquet file under a ceiling on memory; run as a program of its own, with the file and its limits.

What a file of a kilobyte stands for, its own numbers do not tell: they may be false, and a text, a list or a page may
stand a million times for a few bits. So the file is decoded where the system ends what takes too much, and its rows are
counted here before they become objects there. Standard output is an Arrow stream; a fault is a line on standard error
and status 3. Given several files, which are to be held together, it only looks at them, and writes nothing.
"""

from __future__ import annotations

import resource
import sys
from typing import Any

BATCH = 256
CPU_SECONDS = 600
VALUE_BYTES = 48
"""Of a value as an object, beside its letters."""


def decode(path: str, max_rows: int, max_bytes: int, ceiling: int) -> None:
    """Writes the file's rows; ceiling: bytes that the decoding may take. Raises ValueError for too much of anything."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _alone(ceiling)
    rows = decoded = 0
    with pq.ParquetFile(path, pre_buffer=False) as file:
        schema = pa.schema([pa.field(f.name, _plain(f.type)) for f in file.schema_arrow])
        with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
            for batch in file.iter_batches(BATCH, use_threads=False):
                rows += batch.num_rows
                if rows > max_rows:
                    raise ValueError(f"more than {max_rows:,} rows; split it")
                for column in batch.columns:
                    decoded += _weight(column)
                if decoded > max_bytes:
                    raise ValueError(f"more than {max_bytes:,} bytes once decoded; split it")
                stream.write_batch(batch.cast(schema))


def look(paths: list[str], max_rows: int, max_bytes: int, ceiling: int) -> None:
    """Raises ValueError, which names the file, for too much in all of them together, and for what cannot be read."""
    import pyarrow.parquet as pq

    _alone(ceiling)
    rows = decoded = 0
    for path in paths:
        try:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches(BATCH, use_threads=False):
                    rows, decoded = rows + batch.num_rows, decoded + sum(map(_weight, batch.columns))
                    if rows > max_rows or decoded > max_bytes:
                        raise ValueError(f"more than {max_rows:,} rows, or than {max_bytes:,} bytes in memory")
        except MemoryError:
            raise ValueError(f"{path}: it takes more than {ceiling:,} bytes to decode") from None
        except Exception as error:
            raise ValueError(f"{path}: {error}") from None


def _alone(ceiling: int) -> None:
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    _limit(ceiling)


def _limit(ceiling: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - as light as it can be
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + ceiling
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _plain(kind: Any) -> Any:
    """The type without dictionaries at its top, as which the rows are written."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _weight(column: Any) -> int:
    """Bytes that a column's values take as objects, at most about; a dictionary's are counted each time they stand."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    own = VALUE_BYTES * len(column)
    if pa.types.is_map(kind):
        return own + _weight(column.keys) + _weight(column.items)
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind):
        return own + _weight(column.flatten())
    if pa.types.is_struct(kind):
        return own + sum(map(_weight, column.flatten()))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        letters, size = (int(compute.sum(f(column)).as_py() or 0) for f in (compute.utf8_length, compute.binary_length))
        return own + (size if letters == size else 4 * letters)
    return own + int(column.nbytes)


if __name__ == "__main__":
    try:
        limits = [int(given) for given in sys.argv[1:4]]
        if len(sys.argv) == 5:
            decode(sys.argv[4], *limits)
        else:
            look(sys.argv[4:], *limits)
    except MemoryError:
        print(f"it takes more than {int(sys.argv[3]):,} bytes to decode; split it", file=sys.stderr)
        sys.exit(3)
    except Exception as error:
        said = str(error) if type(error) is ValueError else f"cannot be read: {error}"
        print(" ".join(said.split()), file=sys.stderr)
        sys.exit(3)

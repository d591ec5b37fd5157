"""DuckDB, which reads Parquet and DuckDB files: that of PyPI's package, where it is installed. Nothing is imported."""
from __future__ import annotations

import importlib.util

from . import _tamis
from .errors import InvalidError, TamisWarning, call, warn

_SEEN = ("1.5.", "2.0.")  # versions that the tests have run with
_asked = False


def use_duckdb() -> bool:
    """Reads files with the DuckDB of PyPI's package. It is done by itself before a file is read for the first time; the answer says
    whether that DuckDB is the one that is used: False if it is not installed, or if another one was loaded before."""
    global _asked
    _asked = True
    found = importlib.util.find_spec("_duckdb")
    if found is None or found.origin is None:
        return False
    try:
        call(_tamis.library_use, "duckdb", found.origin)
    except InvalidError:
        return False
    from importlib import metadata
    version = metadata.version("duckdb")
    if not version.startswith(_SEEN):
        warn(f"DuckDB {version} has not been tested with this version of tamis", TamisWarning)
    return True


def files_are_read() -> None:
    """To be called before the library reads a file."""
    if not _asked:
        use_duckdb()

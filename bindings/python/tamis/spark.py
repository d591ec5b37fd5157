"""A DataFrame of Spark as rows: the library writes SELECTs, Spark runs them where the rows are, and only integers come back.

Classic Spark and Spark Connect are used alike: a temporary view, `sql(text).collect()` of sums, no row, no cache, nothing of the JVM.
"""
from __future__ import annotations

import contextlib
import json
import logging
import secrets
import threading
from collections.abc import Iterator
from typing import Any

from . import _tamis
from .errors import EngineError, Interrupted, InvalidDataError
from .rows import Rows, quiet, source_from


def _check(data: Any, columns: list[str]) -> None:
    if quiet(lambda: bool(data.isStreaming), "data: Spark cannot describe it"):
        raise InvalidDataError("data: a stream of Spark has no fixed rows; store them in a table first", code="source")
    names: list[str] = quiet(lambda: list(data.columns), "data: the names of its columns cannot be read")
    for column in columns:  # Spark itself would also find a name in other letters
        alike = [n for n in names if n.lower() == column.lower()]
        if column not in names:
            near = f"; there is {alike[0]}" if alike else ""
            raise InvalidDataError(f"there is no column {column}{near}", code="source")
        if len(alike) > 1:
            raise InvalidDataError(f"column {column}: Spark has {len(alike)} columns of this name, in small or capital letters; rename "
                                   "them", code="source")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Spark's client logs errors with the cells that they quote: not those of this thread's statements."""
    logger, thread = logging.getLogger("SQLQueryContextLogger"), threading.get_ident()

    def is_other(record: logging.LogRecord) -> bool:
        return record.thread != thread
    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)


class _Engine:
    """Runs statements in the session of a DataFrame. Errors of Spark stay here: they may quote cells."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.interrupted = False

    def run(self, sql: str) -> str:
        with _silent():
            try:
                rows = self._session.sql(sql).collect()
            except KeyboardInterrupt:
                self.interrupted = True
                raise
        return json.dumps([[cell if cell is None or isinstance(cell, int) else str(cell) for cell in row] for row in rows])


@contextlib.contextmanager
def spark_source(data: Rows, columns: list[str], rows_version: str | None) -> Iterator[object]:
    """The rows as a source, until the end of the block."""
    _check(data, columns)
    name = "tamis_" + secrets.token_hex(16)
    engine = _Engine(quiet(lambda: data.sparkSession, "data: Spark's session cannot be found"))
    quiet(lambda: data.createOrReplaceTempView(name), "data: Spark cannot make a temporary view of it")
    try:
        yield source_from(_tamis.source_sql, "spark", name, engine.run, rows_version)
    except EngineError as problem:
        if engine.interrupted:
            raise Interrupted(problem.message, problem.charged) from None
        raise
    finally:
        with contextlib.suppress(Exception):
            engine._session.catalog.dropTempView(name)

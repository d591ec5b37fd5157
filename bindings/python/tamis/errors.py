"""Exceptions and warnings. No message contains a cell of the data."""
from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from . import _tamis

_T = TypeVar("_T")


@dataclass(frozen=True)
class ErrorItem:
    """One error of several: the plan's key that it is about, and its place."""

    key: str | None
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Charge:
    """A charge that stands although the call failed. The same call again takes it over and pays nothing more."""

    ledger: str
    entry: int
    amount: str


class TamisError(Exception):
    """The base of all errors. `code` is one of the words of docs/errors.md."""

    code: str
    message: str
    errors: list[ErrorItem]
    charged: Charge | None

    def __init__(self, message: str, *, code: str = "invalid", errors: list[ErrorItem] | None = None,
                 charged: Charge | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.errors = [ErrorItem(None, message)] if errors is None else errors
        self.charged = charged

    def __str__(self) -> str:
        return self.message


class InvalidError(TamisError, ValueError):
    """An argument, a plan or data that violate a stated requirement. Nothing was charged."""


class InvalidPlanError(InvalidError):
    """The plan has errors: `errors` lists them all."""


class InvalidDataError(InvalidError):
    """The rows do not fit the plan."""


class RefusedError(TamisError):
    """The budget or the setting forbids it. Nothing was spent."""


class BudgetError(RefusedError):
    """The budget of the account does not allow it."""


class RepeatedError(RefusedError):
    """The same was released from another version of the rows: `same_rows=True` or `again=True`."""


class UnableError(TamisError, ArithmeticError):
    """A number could not be certified within the limits."""


class EngineError(TamisError, OSError):
    """Memory, disk, a database, or an engine that failed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. `charged` is the charge that stands, or None. It is no Exception, so that `except Exception` does not hide it."""

    charged: Charge | None

    def __init__(self, message: str, charged: Charge | None = None) -> None:
        super().__init__(message)
        self.charged = charged


class TamisWarning(UserWarning):
    """A remark for the operator of a release; it is in no file."""


class NewLedgerWarning(TamisWarning):
    """A ledger was created, or an account opened: expected once for each survey."""


class RepeatedReleaseWarning(TamisWarning):
    """The numbers are those of an earlier release; these rows were not read."""


class FloatEpsilonWarning(TamisWarning):
    """An amount was given as a float of more than 15 digits: give a text or a Fraction."""


def _class_of(status: int, reason: str | None) -> type[TamisError]:
    if status == 3:
        return {"plan": InvalidPlanError, "source": InvalidDataError}.get(reason or "", InvalidError)
    if status == 4:
        return {"budget": BudgetError, "rows_version": RepeatedError}.get(reason or "", RefusedError)
    return UnableError if status == 5 else EngineError


def _for_python(message: str) -> str:
    """The library names its own options; here they have other names."""
    for there, here in (("repeat = TAMIS_REPEAT_PAID", "again=True"), ("repeat = TAMIS_REPEAT_KEPT", "same_rows=True"),
                        ("fetch it with `make setup`, or build with DUCKDB_DIR=FOLDER to use one that is already installed",
                         "pip install duckdb, or read the file yourself and give the rows: polars.scan_parquet(...)"),
                        ("its rows are those of a program, which gives them with the call; the command has none",
                         "its rows come with the call; give them as data"),
                        (": convert it, for example in a view", ": convert it, for example to dates or to text")):
        message = message.replace(there, here)
    message = re.sub(r"tamis ledger raise (.*?) --survey '(.*?)' .*? --reason TEXT", r"tamis.Ledger('\1').raise_budget('\2', ..., reason=...)",
                     message)
    return re.sub(r"tamis ledger void (.*?) (\d+) --reason TEXT", r"tamis.Ledger('\1').void(\2, reason=...)", message)


def _raise(failure: _tamis.Failure) -> NoReturn:
    status, text, exception = failure.args
    facts: dict[str, Any] = json.loads(text)
    charged = Charge(**facts["charged"]) if facts["charged"] else None
    items = [ErrorItem(e["key"], _for_python(e["message"]), e["file"], e["line"], e["column"]) for e in facts["errors"]]
    message = "\n".join(_line(item) for item in items)
    if isinstance(exception, KeyboardInterrupt):
        raise Interrupted(message, charged) from None
    if exception is not None:
        exception.add_note(f"tamis: {message}")
        raise exception
    raise _class_of(status, facts["reason"])(message, code=facts["reason"] or facts["code"], errors=items, charged=charged) from None


def name_in_memory(survey: object) -> str:
    """What the ledger calls a release of a plan that is in no file; not a path, since files would be relative to it."""
    if not isinstance(survey, str) or not survey:
        return "plan"
    return "plan of " + "".join(c if c.isprintable() and c != "/" else "_" for c in survey[:200])


def _line(item: ErrorItem) -> str:
    if item.file is None or re.fullmatch(r"plan( of .*(?<!\.yaml|\.json)(?<!\.yml))?", item.file):  # no file that anybody has
        return item.message
    place = f":{item.line}:{item.column}" if item.line and item.column else f": line {item.line}" if item.line else ""
    return f"{item.file}{place}: {item.message}"


def call(function: Callable[..., _T], *arguments: Any) -> _T:
    """Calls the extension; its failures become the exceptions above."""
    try:
        return function(*arguments)
    except _tamis.Failure as failure:
        _raise(failure)


def warn(message: str, category: type[TamisWarning]) -> None:
    """Warns at the first line outside of this package."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tamis."):
        frame = frame.f_back
        level += 1
    warnings.warn(_for_python(message), category, stacklevel=level)

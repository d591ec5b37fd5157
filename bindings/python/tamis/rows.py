"""Rows of any kind, handed to the library. Columns that a plan does not use are left out first, so that they do not matter."""
from __future__ import annotations

import array
import datetime
import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from . import _tamis
from .errors import InvalidDataError, InvalidError, TamisWarning, call, warn

Rows: TypeAlias = Any
_Column: TypeAlias = tuple[str, str, object, object, object]
_T = TypeVar("_T")
_DAY = datetime.date(1970, 1, 1)
_UNEXPORTED = "rows: they cannot be exported"


def is_path(data: object) -> bool:
    return isinstance(data, (str, os.PathLike))


def is_spark(data: object) -> bool:
    """Told by the module of the type, so that nothing of Spark is imported."""
    return type(data).__module__.startswith("pyspark.sql.") and type(data).__name__ == "DataFrame"


def kind_of(data: object) -> str:
    return f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"


def _names(data: Any) -> list[str] | None:
    """The names of a frame's columns; None: it does not say."""
    for name in ("column_names", "columns"):
        names = getattr(data, name, None)
        if names is not None and not callable(names):
            return [n for n in names if isinstance(n, str)]
    return None


def _length(data: Any) -> int | None:
    """How many rows a dict of columns or a frame has; None: it does not say."""
    if isinstance(data, Mapping):
        lengths = {len(values) for values in data.values()}
        return lengths.pop() if len(lengths) == 1 else None
    if kind_of(data) == "polars.LazyFrame":
        return int(data.select(importlib.import_module("polars").len()).collect().item())
    return len(data) if _names(data) is not None and hasattr(data, "__len__") else None


def _select(data: Any, columns: list[str]) -> Any:
    kind = kind_of(data)
    if kind.startswith("pandas."):
        return data[columns].reset_index(drop=True)
    if kind == "polars.LazyFrame":
        return data.select(columns).collect()
    return data.select(columns) if kind.startswith(("polars.", "pyarrow.")) and hasattr(data, "select") else data


def source_from(function: Callable[..., object], *arguments: Any) -> object:
    """What the library finds wrong with rows is an error of the data."""
    try:
        return call(function, *arguments)
    except InvalidError as problem:
        raise InvalidDataError(problem.message, code="source", errors=problem.errors) from None


def _export(data: Any) -> object:
    """A source of whatever has Arrow's methods."""
    if hasattr(data, "__arrow_c_stream__"):
        return source_from(_tamis.source_stream, data.__arrow_c_stream__())
    return source_from(_tamis.source_array, *data.__arrow_c_array__())


def quiet(function: Callable[[], _T], message: str) -> _T:
    """What a data library raises may quote a cell: its exception is dropped, and is not even the context of the one that is raised."""
    failed = False
    try:
        return function()
    except (InvalidDataError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a panic of Polars is no Exception
        failed = True
    assert failed
    raise InvalidDataError(message, code="source")


def _exported(data: Any, columns: list[str]) -> object:
    library = kind_of(data).split(".")[0]
    try:
        return quiet(lambda: _export(_select(data, columns)), _UNEXPORTED)
    except InvalidDataError as problem:
        if problem.message != _UNEXPORTED:
            raise
    for name in columns:  # which one is it?
        quiet(lambda: _export(_select(data, [name])), f"column {name}: {library} cannot export it")
    raise InvalidDataError(f"rows: {library} cannot export them", code="source")


def exportable(data: Rows) -> Rows:
    """The frame without columns of mixed objects, which pandas cannot export: a warning names them."""
    if kind_of(data) != "pandas.DataFrame":
        return data
    frame: Any = data
    lost = []
    for name in frame.columns:
        try:
            quiet(lambda: _export(_select(frame, [name])), _UNEXPORTED)
        except InvalidDataError:
            lost.append(name)
            warn(f"column {name}: pandas cannot export it, so it is left out", TamisWarning)
    return frame.drop(columns=lost) if lost else data


def schema_of(data: Rows) -> object:
    """A capsule with names and types: a schema, or a stream, of which no row is read."""
    def schema() -> object:
        if hasattr(data, "__arrow_c_schema__"):
            return data.__arrow_c_schema__()
        return data.__arrow_c_stream__() if hasattr(data, "__arrow_c_stream__") else data.__arrow_c_array__()[0]
    return quiet(schema, "data: its names and types cannot be read; give a data frame, an Arrow table or a path")


def source_of(data: Rows | None, columns: list[str]) -> object | None:
    """The rows of these columns; None for None: those of the plan's own source."""
    if data is None:
        return None
    if is_path(data):
        raise InvalidDataError("data: a path is named in the plan, as its source; give rows here", code="source")
    if kind_of(data) == "svy.Sample":
        data = data.data
    if not columns and (length := quiet(lambda: _length(data), "data: its rows cannot be counted")) is not None:
        # A count reads no column, but a table needs one: a column of bits that no plan reads gives the number of rows.
        return source_from(_tamis.source_columns, length, [("row", "b", None, bytes(length // 8 + 1), None)])
    if isinstance(data, Mapping):
        return _of_mapping(data, columns)
    if kind_of(data) == "polars.LazyFrame":
        names: list[str] | None = quiet(lambda: list(data.collect_schema().names()), "data: the names of its columns cannot be read")
    else:
        names = quiet(lambda: _names(data), "data: the names of its columns cannot be read")
    if names is not None:
        there = [c for c in columns if c in names]
        if not there and columns:
            raise InvalidDataError(f"there is no column {columns[0]}", code="source")
    else:
        there = columns
    if kind_of(data).startswith("pandas.") and not _has_pyarrow():
        return _of_mapping(quiet(lambda: {c: data[c].to_numpy() for c in there}, "rows: pandas cannot export them"), there)
    if kind_of(data) == "pandas.DataFrame" and _is_numeric(data, there):
        return _of_mapping(quiet(lambda: {c: data[c].to_numpy(copy=False) for c in there}, "rows: pandas cannot export them"), there)
    if not (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") or kind_of(data) == "polars.LazyFrame"):
        raise InvalidDataError(f"data: a {type(data).__name__} is no rows: give a data frame, an Arrow table, or a dict of columns",
                               code="source")
    return _exported(data, there)


def lists_of(data: Rows, columns: list[str]) -> tuple[int, dict[str, list[Any]]]:
    """How many rows there are, and these columns as lists."""
    def frame_and_length() -> tuple[Any, int]:
        frame = (data.select(columns) if columns else data).collect() if kind_of(data) == "polars.LazyFrame" else data
        return frame, len(next(iter(frame.values()))) if isinstance(frame, Mapping) else len(frame)

    def column(values: Any) -> list[Any]:
        made: list[Any] = values.to_pylist() if hasattr(values, "to_pylist") else values.tolist() if hasattr(values, "tolist") else list(values)
        return made
    frame, length = quiet(frame_and_length, "frame: expected a data frame, an Arrow table or a dict of columns")
    lists = {name: quiet(lambda: column(frame[name]), f"there is no column {name}, or it cannot be read") for name in columns}
    for name, values in lists.items():
        if len(values) != length:
            raise InvalidDataError(f"column {name}: it has another length than the others", code="source")
    return length, lists


def _is_numeric(data: Any, columns: list[str]) -> bool:
    """Whether all columns are arrays of numbers, which need no export: pyarrow would look for NaN in each of them first."""
    def numeric(name: str) -> bool:
        kind = getattr(data[name], "dtype", None)  # of two columns of one name there is none
        return type(kind).__module__.startswith("numpy") and kind is not None and kind.kind in "iuf"
    return quiet(lambda: all(numeric(c) for c in columns), "rows: pandas cannot export them")


def _has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


# ---- columns as arrays or lists


def _of_mapping(data: Mapping[str, Any], columns: list[str]) -> object:
    made: list[_Column] = []
    length: int | None = None
    for name in columns:
        if name not in data:
            continue  # the library says that it is missing
        values = data[name]
        here = quiet(lambda: len(values), f"column {name}: expected an array or a list")
        if length is not None and here != length:
            raise InvalidDataError(f"column {name}: it has another length than the columns before it", code="source")
        length = here
        made.append(quiet(lambda: _of_numpy(name, values) if kind_of(values).startswith("numpy.") else _of_list(name, list(values)),
                           f"column {name}: its values cannot be used"))
    if not made:
        raise InvalidDataError(f"there is no column {columns[0]}" if columns else "data: no columns", code="source")
    return source_from(_tamis.source_columns, length or 0, made)


def _bits(flags: Sequence[bool]) -> bytearray:
    packed = bytearray((len(flags) + 7) // 8 + 1)
    for i, flag in enumerate(flags):
        if flag:
            packed[i // 8] |= 1 << i % 8
    return packed


def _plain(value: Any) -> Any:
    """Scalars of numpy as Python's own, and what pandas calls missing as None."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _of_list(name: str, values: list[Any]) -> _Column:
    values = [_plain(v) for v in values]
    there = [v is not None for v in values]
    valid = None if all(there) else _bits(there)
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {bool} and kinds:
        return name, "b", valid, _bits([bool(v) for v in values]), None
    if kinds <= {int} and all(-2**63 <= v < 2**63 for v in values if v is not None):
        return name, "l", valid, array.array("q", [v or 0 for v in values] or [0]), None
    if kinds <= {int, float}:
        return name, "g", valid, array.array("d", [float("nan") if v is None else float(v) for v in values] or [0.0]), None
    if kinds <= {datetime.date}:
        return name, "tdD", valid, array.array("i", [0 if v is None else (v - _DAY).days for v in values] or [0]), None
    if all(issubclass(k, str) for k in kinds):
        texts = [b"" if v is None else v.encode() for v in values]
        starts = array.array("q", [0])
        for text in texts:
            starts.append(starts[-1] + len(text))
        return name, "U", valid, starts, b"".join(texts) or b" "
    raise InvalidDataError(f"column {name}: a list of {', '.join(sorted(k.__name__ for k in kinds))}; expected numbers, texts, "
                           "booleans or dates of one kind", code="source")


def _of_numpy(name: str, values: Any) -> _Column:
    import numpy
    if values.ndim != 1:
        raise InvalidDataError(f"column {name}: expected an array of one dimension", code="source")
    kind = values.dtype.kind
    if isinstance(values, numpy.ma.MaskedArray):
        return _of_list(name, values.tolist())
    if kind in "iuf" and values.dtype.itemsize <= 8:
        native = numpy.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
        formats = {"i": "csil", "u": "CSIL", "f": " efg"}[kind]
        return name, formats[native.dtype.itemsize.bit_length() - 1], None, native if len(native) else bytes(8), None
    if kind == "b":
        return name, "b", None, numpy.packbits(values, bitorder="little").tobytes() or bytes(1), None
    if kind == "M":
        days = values.astype("datetime64[D]")
        if not bool(((days == values) | numpy.isnat(values)).all()):
            raise InvalidDataError(f"column {name}: times cannot be used; make a date, a year or an age of them", code="source")
        there = ~numpy.isnat(days)
        return (name, "tdD", None if bool(there.all()) else numpy.packbits(there, bitorder="little").tobytes(),
                numpy.where(there, days.astype("int64"), 0).astype("int32"), None)
    return _of_list(name, [None if isinstance(v, float) and v != v else v for v in values.tolist()])

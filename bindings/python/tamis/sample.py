"""Exact noise, samples from a frame, and quantiles of one file."""
from __future__ import annotations

import array
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _tamis
from .amounts import Amount, Path, given
from .errors import InvalidDataError, InvalidError, call
from .libraries import files_are_read
from .progress import Progress, watching
from .results import Answer
from .rows import Rows, is_path, lists_of


def noise(law: Literal["laplace", "gaussian", "normal"], scale: Amount, count: int) -> array.array[int]:
    """Integers from the discrete Laplace distribution, P(k) proportional to exp(-|k|/scale), the discrete Gaussian one, proportional to
    exp(-k^2/(2 scale^2)), or the normal one of this standard deviation, rounded to the nearest integer: exactly.

    There is no seed: noise that can be reproduced protects nobody. numpy.asarray does not copy it.

    >>> len(noise("laplace", "10/3", 5))
    5
    """
    if law not in ("laplace", "gaussian", "normal"):
        raise InvalidError("law: expected laplace, gaussian or normal")
    if not isinstance(count, int) or count < 0:
        raise InvalidError("count: must be a whole number, at least 0")
    made = array.array("q", bytes(8 * count))
    call(_tamis.noise, law, given(scale=scale), made)
    return made


@dataclass(frozen=True)
class Sample:
    """How many units were drawn. For a frame in memory also which: `rows` are their positions, from 0; with replacement a unit that was
    drawn twice is there twice."""

    population: int
    sample: int
    strata: int
    clusters: int
    clusters_drawn: int
    rows: list[int] | None = None
    inclusion_probability: list[float] | None = None
    weight: list[float] | None = None


def draw(frame: Rows | Path, method: str, out: Path | None = None, *, sample: int | None = None, rate: Amount | None = None,
         probability: str | None = None, size: str | None = None, strata: str | Sequence[str] | None = None,
         allocation: str | None = None, cluster: str | Sequence[str] | None = None, within: int | str | None = None,
         within_systematic: bool = False, within_rate: Amount | None = None, progress: Progress = False) -> Sample:
    """Draws a sample by one of the methods of `tamis draw`: srs, bernoulli, poisson, sampford, ... (docs/designs.md).

    `frame` is a .csv or .parquet file; the sample is then written to `out`, a CSV file with the frame's columns and
    inclusion_probability and weight, of two stages (`within`, or `within_rate`: each unit of a drawn cluster by itself) also cluster_probability and cluster_size. Or it is a data frame: then `rows` of the answer says which of its rows were drawn.

    Examples
    --------
    >>> drawn = draw({"school": ["a", "b", "c", "d"], "size": [10, 30, 20, 40]}, "sampford", size="size", sample=2)
    >>> drawn.sample, len(drawn.rows), sum(drawn.weight) > 2
    (2, 2, True)
    """
    import csv  # with tempfile they would take a third of the time of importing the package
    import tempfile
    names = [x if x is None or isinstance(x, str) else ",".join(x) for x in (strata, cluster)]
    options: dict[str, Any] = {**given(method=method, rate=rate, probability=probability, size=size, strata=names[0],
                                       allocation=allocation, cluster=names[1], within_rate=within_rate), "sample": sample,
                               "within_column" if isinstance(within, str) else "within": within,
                               "within_systematic": 1 if within_systematic else None}
    with watching(progress) as watch:
        if is_path(frame):
            files_are_read()
            if out is None:
                raise InvalidError("out: the sample of a file is written to a file: name it")
            return Sample(*call(_tamis.draw, os.fspath(frame), os.fspath(out), options, watch))
        if out is not None:
            raise InvalidError("out: the sample of a frame in memory is not written; its rows are in the answer")
        used = [*([probability, size, allocation] + [within if isinstance(within, str) else None])]
        columns = [n for n in used if n is not None] + [n for x in names if x for n in x.split(",")]
        with tempfile.TemporaryDirectory() as folder:  # which only its owner can read
            path, drawn = os.path.join(folder, "frame.csv"), os.path.join(folder, "sample.csv")
            _write_frame(path, lists_of(frame, list(dict.fromkeys(columns))))
            facts = call(_tamis.draw, path, drawn, options, watch)
            with open(drawn, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
    return Sample(*facts, [int(r["tamis_row"]) for r in rows], [float(r["inclusion_probability"]) for r in rows],
                  [float(r["weight"]) for r in rows])


def _write_frame(path: str, columns: tuple[int, Mapping[str, list[Any]]]) -> None:
    """The columns that the design uses, and the number of each row."""
    import csv
    length, lists = columns
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["tamis_row", *lists])
        writer.writerows(zip(range(length), *lists.values()))


class FileQuantiles(Answer):
    """Quantiles of one file: `guarantee`, `spent`, `left` and `repeated`; `facts` has everything."""

    def __init__(self, json_text: str, shown: str) -> None:
        super().__init__(json_text, shown)
        self.guarantee = self.facts["guarantee"]
        self.spent = self.facts["spent"]
        self.left = self.facts["left"]
        self.repeated: bool = self.facts["ledger"]["repeated"]


def quantile_of_file(path: Path, column: str, *, from_: Amount, to: Amount, step: Amount = 1, at: Sequence[Amount] = ("0.5",),
                     epsilon: Amount | None = None, delta: Amount | None = None, rho: Amount | None = None,
                     weight: str | None = None, max_weight: Amount | None = None, method: str | None = None,
                     bins: int | None = None, complete: bool = False, log_unit: Amount | None = None,
                     neighbours: Literal["replace", "add_remove"] = "replace", budget: Amount | None = None,
                     budget_delta: Amount | None = None, again: bool = False, engine: str | None = None,
                     progress: Progress = False) -> FileQuantiles:
    """Private quantiles of one column of one file, without a plan, for a quick try (docs/quantiles.md). The call is charged to
    PATH.ledger, which the first one creates; the same call again gives the same numbers and costs nothing."""
    if not is_path(path):
        raise InvalidDataError("path: expected a file; for rows in memory, release tamis.quantile(...) by a Survey", code="source")
    if neighbours not in ("replace", "add_remove"):
        raise InvalidError("neighbours: expected replace or add_remove")
    if epsilon is None and rho is None:
        raise InvalidError("epsilon: it is missing, or rho for the method prefix")
    if (weight is None) != (max_weight is None):
        raise InvalidError("weight, max_weight: they need each other")
    options = {**given(file=path, column=column, from_=from_, to=to, step=step, at=list(at), epsilon=epsilon, delta=delta, rho=rho,
                       weight=weight, max_weight=max_weight, method=method, log_unit=log_unit, budget=budget,
                       budget_delta=budget_delta, engine=engine),
               "bins": bins, "complete": complete, "again": again, "add_remove": neighbours == "add_remove"}
    files_are_read()
    with watching(progress) as watch:
        return FileQuantiles(*call(_tamis.quantile_of_file, options, watch))

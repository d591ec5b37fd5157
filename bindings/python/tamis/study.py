"""Accuracy in advance: the studies of docs/study.md. They use public populations or guesses, never the data that a release is
to protect; nothing is published and no ledger is charged.

>>> import tamis
>>> tamis.study.gain(epsilon="0.1", range=(0, 1), sd="0.2", population=10001).facts["statistic"]
'mean'
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _tamis
from .amounts import Amount, Path, given, text_of
from .errors import InvalidError, call
from .libraries import files_are_read
from .plan import Plan
from .progress import Progress, watching
from .results import Answer

_Pair = tuple[Amount, Amount]


class Study(Answer):
    """A finished study: its `repr` is for people, `facts` and the rows of the table are its numbers, `csv` and `svg` are texts or
    None. A notebook shows the picture."""

    def __init__(self, shown: str, json_text: str, csv: str | None, svg: str | None) -> None:
        super().__init__(json_text, shown)
        self.csv = csv
        self.svg = svg

    def _repr_html_(self) -> str:
        return self.svg if self.svg is not None else super()._repr_html_()


def _study(kind: str, options: Mapping[str, Any], plan: Plan | None = None, drawn_by: Plan | None = None, *, runs: int | None = None,
           seed: int | None = None, threads: int | None = None, progress: Progress = False) -> Study:
    if plan is not None and not isinstance(plan, Plan):
        raise TypeError("plan: expected a tamis.Plan")
    files_are_read()
    with watching(progress) as watch:
        return Study(*call(_tamis.study, kind, {**options, "runs": runs, "seed": seed, "threads": threads},
                           None if plan is None else plan._capsule, None if drawn_by is None else drawn_by._capsule, watch))


def _question(statistic: str, epsilon: Amount, range: _Pair, at: Sequence[Amount] | None, groups: int | None, step: Amount | None,
              delta: Amount | None, population: int | None, sd: Amount | None, values: Path | None, column: str | None,
              mechanism: str | None) -> dict[str, Any]:
    if statistic not in ("mean", "total", "median", "quantile"):
        raise InvalidError("statistic: expected mean, total, median or quantile")
    if (at is None) != (statistic != "quantile"):
        raise InvalidError("at: which quantiles, for the statistic quantile and no other")
    return {**given(statistic=statistic, epsilon=epsilon, from_=range[0], to=range[1], at=None if at is None else list(at), step=step,
                    delta=delta, sd=sd, values=values, column=column, mechanism=mechanism), "groups": groups,
            "population": population}


def gain(*, epsilon: Amount, range: _Pair, statistic: str = "mean", at: Sequence[Amount] | None = None, groups: int | None = None,
         step: Amount | None = None, delta: Amount | None = None, population: int | None = None, sd: Amount | None = None,
         values: Path | None = None, column: str | None = None, mechanism: str | None = None, rate: Amount | None = None,
         runs: int | None = None, seed: int = 0, threads: int = 0, progress: Progress = False) -> Study:
    """Is it worth sampling? Every mechanism in every setting, at one sampling rate. `values` is a distribution such as "lognormal:10,1", a
    public file, or the release.json of an earlier wave."""
    question = _question(statistic, epsilon, range, at, groups, step, delta, population, sd, values, column, mechanism)
    return _study("gain", {**question, **given(rate=rate)}, runs=runs, seed=seed, threads=threads, progress=progress)


def rate(*, epsilon: Amount, range: _Pair, statistic: str = "mean", at: Sequence[Amount] | None = None, groups: int | None = None,
         step: Amount | None = None, delta: Amount | None = None, population: int | None = None, sd: Amount | None = None,
         values: Path | None = None, column: str | None = None, mechanism: str | None = None, runs: int | None = None,
         seed: int = 0, threads: int = 0, progress: Progress = False) -> Study:
    """The best sampling rate for a statistic of a secret sample."""
    question = _question(statistic, epsilon, range, at, groups, step, delta, population, sd, values, column, mechanism)
    return _study("rate", question, runs=runs, seed=seed, threads=threads, progress=progress)


def allocation(strata: Path, *, sample: int, epsilon: Amount, least: int = 2) -> Study:
    """Allocation to strata under privacy, and Neyman's. `strata` is a file with the columns stratum, population, sd, from, to."""
    return _study("allocation", {**given(strata=strata, epsilon=epsilon), "sample": sample, "least": least})


def epsilon(plan: Plan, errors: Mapping[str, Amount] | None = None, *, error: Amount | None = None,
            progress: Progress = False) -> Study:
    """The smallest epsilon (or rho) that reaches stated standard errors: {"mean income": 200}, or one `error` relative to the
    expected size of every statistic."""
    if not errors and error is None:
        raise InvalidError("errors: which error may the statistics have? {statistic: error}, or error=share")
    return _study("epsilon", {"errors": [f"{name}={text_of(e)}" for name, e in (errors or {}).items()], **given(error=error)}, plan,
                  progress=progress)


def plan(plan: Plan, *, population: Path | None = None, size: str | None = None, response: str | None = None,
         drawn_by: Plan | None = None, runs: int | None = None, seed: int = 0, threads: int = 0,
         progress: Progress = False) -> Study:
    """The expected error of every statistic of a plan: by formulas, and by simulated releases of a public population."""
    return _study("plan", given(population=population, size=size, response=response), plan, drawn_by, runs=runs, seed=seed,
                  threads=threads, progress=progress)


def coverage(plan: Plan, population: Path, *, size: str | None = None, response: str | None = None, drawn_by: Plan | None = None,
             runs: int | None = None, threads: int = 0, progress: Progress = False) -> Study:
    """How often the intervals of a plan cover the true value, in simulated releases of a public population."""
    return _study("coverage", given(population=os.fspath(population), size=size, response=response), plan, drawn_by, runs=runs,
                  threads=threads, progress=progress)


def bounds(plan: Plan, population: Path, *, column: str | None = None, progress: Progress = False) -> Study:
    """Which ranges the numbers of a plan should have, from a public population."""
    return _study("bounds", given(population=os.fspath(population), column=column), plan, progress=progress)


def quantile(*, from_: Amount, to: Amount, epsilon: Amount, values: str | None = None, population: Path | None = None,
             column: str | None = None, rows: int | None = None, at: Sequence[Amount] = ("0.25", "0.5", "0.75"), step: Amount = 1,
             delta: Amount | None = None, bins: int | None = None, complete: bool = False, log_unit: Amount | None = None,
             neighbours: Literal["replace", "add_remove"] = "replace", runs: int | None = None, seed: int = 0, threads: int = 0,
             progress: Progress = False) -> Study:
    """Which method for quantiles: errors of all of them on simulated files, of a law (`values`) or a public file (`population`)."""
    if (values is None) == (population is None):
        raise InvalidError("values, population: expected one of them")
    options = {**given(from_=from_, to=to, epsilon=epsilon, values=values if population is None else population, column=column,
                       at=list(at), step=step, delta=delta, log_unit=log_unit), "rows": rows, "bins": bins, "complete": complete,
               "add_remove": neighbours == "add_remove"}
    return _study("quantile", options, runs=runs, seed=seed, threads=threads, progress=progress)


def figure(number: int, *, runs: int | None = None, seed: int = 0, threads: int = 0, progress: Progress = False) -> Study:
    """A figure of the paper on gains from sampling, redrawn: 1 to 13."""
    return _study("figure", {"number": number}, runs=runs, seed=seed, threads=threads, progress=progress)


def table(*, runs: int | None = None, seed: int = 0, threads: int = 0, progress: Progress = False) -> Study:
    """Table 1 of the same paper: which statistics gain from sampling."""
    return _study("table", {}, runs=runs, seed=seed, threads=threads, progress=progress)

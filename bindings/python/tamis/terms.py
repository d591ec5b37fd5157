"""The smaller parts of a plan. Each function returns one of them as the dict that a plan contains; docs/plan.md describes the keys."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .amounts import Amount, Json, Path, given, plain


def source(file: Path | Sequence[Path] | None = None, *, files: Path | Sequence[Path] | None = None, table: str | None = None,
           postgres: Mapping[str, Any] | None = None, caller: str | None = None, sharded_by: Literal["id"] | None = None,
           command: Sequence[str] | None = None, dialect: Literal["spark", "duckdb", "postgres"] | None = None,
           rows_version: str | None = None, errors_to: Path | None = None, timeout: int | None = None) -> Json:
    """Where the rows are: a file, files that are one table, a server (`tamis.postgres`), or rows that come with the call; or a table that a
    command is asked about in SQL, which `tamis release --allow-command` runs.

    >>> source("households.parquet")
    {'file': 'households.parquet'}
    """
    return given(file=plain(file), files=plain(files), table=table, postgres=plain(postgres), caller=caller, sharded_by=sharded_by,
                 command=plain(command), dialect=dialect, rows_version=rows_version, errors_to=plain(errors_to), timeout=timeout)


def postgres(table: str, *, connection: str | None = None, connections: Sequence[str] | None = None) -> Json:
    """A table of a PostgreSQL server, or of several that are added up. A connection has no password in it.

    >>> source(postgres=postgres("interviews", connection="service=survey"))
    {'postgres': {'table': 'interviews', 'connection': 'service=survey'}}
    """
    return given(table=table, connection=connection, connections=plain(connections))


def ledger_file(file: Path, *, existing: bool | None = None) -> Json:
    """The file with the accounts; `existing=True` refuses to create one.

    >>> ledger_file("agency.ledger", existing=True)
    {'file': 'agency.ledger', 'existing': True}
    """
    return given(file=file, existing=existing)


def budget(epsilon: Amount | None = None, delta: Amount | None = None, rho: Amount | None = None, *, outsider: Amount | None = None,
           insider: Amount | None = None) -> Json:
    """What all releases of a survey together may ever spend; with a target for outsiders, outsider and insider.

    >>> budget(4, "1e-6")
    {'epsilon': '4', 'delta': '1e-6'}
    >>> budget(outsider=1, insider=8)
    {'outsider': '1', 'insider': '8'}
    """
    return given(epsilon=epsilon, delta=delta, rho=rho, outsider=outsider, insider=insider)


def wave(name: str, *, groups: Sequence[str] | None = None, same_sample: bool | None = None) -> Json:
    """Which wave of the survey the rows are, with the rotation groups in it.

    >>> wave("2026-Q3", groups=["a", "b"])
    {'name': '2026-Q3', 'groups': ['a', 'b']}
    """
    return given(name=name, groups=plain(groups), same_sample=same_sample)


def calibrate(to: Path | Sequence[Mapping[str, Any]], method: Literal["linear", "raking"] | None = None) -> Json:
    """Public totals that the results are calibrated to: a list of `control(...)`, or a file with one.

    >>> calibrate([control("units", totals=[4421, 1018, 755], by="stype")])
    {'to': [{'count': 'units', 'by': 'stype', 'totals': ['4421', '1018', '755']}]}
    """
    return given(to=plain(to), method=method)


def control(of: str | Mapping[str, Any], *, totals: Amount | Sequence[Any] | Mapping[str, Any], by: Any | None = None) -> Json:
    """One public total: of "units", of a number, or of the units that fulfil a condition; `totals` is a number, a list, or a map
    from groups."""
    return given(count="units" if of == "units" else None, total=None if of == "units" else plain(of), by=plain(by), totals=plain(totals))


def postprocess(*, nonnegative: bool | None = None, consistent: bool | None = None, caution: Mapping[str, Any] | None = None,
                unreliable: Mapping[str, Any] | None = None, suppress: Mapping[str, Any] | None = None) -> Json:
    """Further post-processing of the noisy numbers.

    >>> postprocess(consistent=True, suppress=suppress(cv_above="0.3"))
    {'consistent': True, 'suppress': {'cv_above': '0.3'}}
    """
    return given(nonnegative=nonnegative, consistent=consistent, caution=plain(caution), unreliable=plain(unreliable),
                 suppress=plain(suppress))


def caution(*, cv_above: Amount | None = None, units_below: int | None = None) -> Json:
    """Which results have the quality flag E, use with caution."""
    return given(cv_above=cv_above, units_below=units_below)


def unreliable(*, cv_above: Amount | None = None, units_below: int | None = None) -> Json:
    """Which results have the quality flag F, too unreliable to publish by themselves."""
    return given(cv_above=cv_above, units_below=units_below)


def suppress(*, cv_above: Amount | None = None, units_below: int | None = None) -> Json:
    """Which results are withheld."""
    return given(cv_above=cv_above, units_below=units_below)


def guess(mean: Amount | None = None, sd: Amount | None = None, share: Amount | None = None) -> Json:
    """A public guess: a mean, a standard deviation, and of a column the share of units that have a value.

    >>> guess(30000, 20000)
    {'mean': '30000', 'sd': '20000'}
    """
    return given(mean=mean, sd=sd, share=share)


def typical(*, population: int | None = None, sample: int | None = None, cluster: Amount | Mapping[str, Amount] | None = None,
            taken: Amount | None = None, rows: Amount | Mapping[str, Amount] | None = None, response: Amount | None = None,
            icc: Amount | None = None) -> Json:
    """Public guesses of sizes, for `Design.with_(typical=...)`: units of a cluster, rows of a unit, the share that responds, ...

    >>> typical(cluster=guess(20, 5), icc="0.05")
    {'cluster': {'mean': '20', 'sd': '5'}, 'icc': '0.05'}
    """
    return given(population=population, sample=sample, cluster=plain(cluster), taken=taken, rows=plain(rows), response=response, icc=icc)


def sizes(population: int | None = None, sample: int | None = None, rate: Amount | None = None) -> Json:
    """The sizes of one stratum of `stratified`.

    >>> sizes(rate="0.1")
    {'rate': '0.1'}
    """
    return given(population=population, sample=sample, rate=rate)


def deff(*, totals: Amount | None = None, shares: Amount | None = None, means: Amount | None = None) -> Json:
    """Public design effects by family of statistics, for `weights(deff=...)`.

    >>> deff(totals=2, shares="1.5")
    {'totals': '2', 'shares': '1.5'}
    """
    return given(totals=totals, shares=shares, means=means)


def between(from_: Amount | None = None, to: Amount | None = None) -> Json:
    """A condition on a number, both ends included.

    >>> {"age": between(15, 74)}
    {'age': {'from': '15', 'to': '74'}}
    """
    return given(from_=from_, to=to)


def of_size(times: Amount, of: str) -> Json:
    """The upper bound of a number as a multiple of a size in the frame: `number(0, of_size("1.5", "last_year"))`.

    >>> of_size("1.5", "last_year")
    {'times': '1.5', 'of': 'last_year'}
    """
    return given(times=times, of=of)


def private_bound(share: Amount, beyond: Amount) -> Json:
    """The upper bound of a number, found with a share of the budget: `number(0, private_bound("1/8", 1000000))`.

    >>> private_bound("1/8", 1000000)
    {'private': '1/8', 'beyond': '1000000'}
    """
    return given(private=share, beyond=beyond)


def values_file(file: Path, column: str | None = None) -> Json:
    """The values of a category from a public file: `category(values_file("codes.csv"))`.

    >>> values_file("codes.csv")
    {'file': 'codes.csv'}
    """
    return given(file=file, column=column)

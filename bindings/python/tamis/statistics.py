"""What is released. Each function makes one item of `statistics` of a plan; docs/plan.md describes the keys that all of them
take: by, where, budget_share, confidence, deff, label, shrink, for_change, method, interval."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict, Unpack

from .amounts import Amount, Json, given, plain
from .errors import InvalidPlanError

By: TypeAlias = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
Condition: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Statistic:
    """One statistic, as a plan writes it."""

    parts: Json = field(default_factory=dict)

    def to_dict(self) -> Json:
        """The keys of the statistic in a plan."""
        return dict(self.parts)


class Keys(TypedDict, total=False):
    """What every statistic takes."""

    by: By | None
    where: Condition | None
    budget_share: Amount | None
    confidence: Amount | None
    deff: Amount | None
    label: str | None
    shrink: str | None
    for_change: str | None
    method: str | None
    interval: str | None


_KEYS = ("by", "where", "budget_share", "confidence", "deff", "label", "shrink", "for_change", "method", "interval", "line", "at", "cuts")


def _statistic(kind: str, of: Any, **more: Any) -> Statistic:
    for name in more:
        if name not in _KEYS:
            raise TypeError(f"{kind}() got an unexpected keyword argument {name!r}; statistics take {', '.join(_KEYS[:10])}")
    return _made(kind, of, **more)


def _made(kind: str, of: Any, *, by: By | None = None, where: Condition | None = None, budget_share: Amount | None = None,
               confidence: Amount | None = None, deff: Amount | None = None, label: str | None = None, shrink: str | None = None,
               for_change: str | None = None, method: str | None = None, interval: str | None = None, line: Amount | None = None,
               at: Sequence[Amount] | None = None, cuts: Sequence[Amount] | None = None) -> Statistic:
    return Statistic({kind: given(of=plain(of))["of"],
                      **given(by=plain(by), where=plain(where), budget_share=budget_share, confidence=confidence, deff=deff,
                              label=label, shrink=shrink, for_change=for_change, method=method, interval=interval, line=line, at=plain(at),
                              cuts=plain(cuts))})


def count(**more: Unpack[Keys]) -> Statistic:
    """The number of units.

    >>> count(by="region").to_dict()
    {'count': 'units', 'by': 'region'}
    """
    return _statistic("count", "units", **more)


def total(column: str | Condition, **more: Unpack[Keys]) -> Statistic:
    """The total of a number, or the number of units that meet a condition."""
    return _statistic("total", column, **more)


def mean(column: str | Condition, **more: Unpack[Keys]) -> Statistic:
    """The mean of a number, or the share of units that meet a condition."""
    return _statistic("mean", column, **more)


def share(condition: Condition, **more: Unpack[Keys]) -> Statistic:
    """The share of units that meet a condition, {"status": "employed"}."""
    return _statistic("share", condition, **more)


def ratio(of: str | Condition, to: str | Condition, **more: Unpack[Keys]) -> Statistic:
    """The ratio of two totals."""
    return _statistic("ratio", {"of": of, "to": to}, **more)


def table(columns: By, **more: Unpack[Keys]) -> Statistic:
    """The number of units in each combination of categories."""
    return _statistic("table", columns, **more)


def histogram(column: str, cuts: Sequence[Amount], **more: Unpack[Keys]) -> Statistic:
    """The number of units in each bin of a number."""
    return _statistic("histogram", column, cuts=cuts, **more)


def variance(column: str | Condition, **more: Unpack[Keys]) -> Statistic:
    """The variance of a number in the population."""
    return _statistic("variance", column, **more)


def quantile(column: str, at: Sequence[Amount], **more: Unpack[Keys]) -> Statistic:
    """Quantiles of a number.

    >>> quantile("income", ["0.25", "0.75"]).to_dict()
    {'quantile': 'income', 'at': ['0.25', '0.75']}
    """
    return _statistic("quantile", column, at=at, **more)


def median(column: str, **more: Unpack[Keys]) -> Statistic:
    """The median of a number."""
    return _statistic("median", column, **more)


def iqr(column: str, **more: Unpack[Keys]) -> Statistic:
    """The interquartile range."""
    return _statistic("iqr", column, **more)


def share_below(column: str, line: Amount, **more: Unpack[Keys]) -> Statistic:
    """The share of units below a public line."""
    return _statistic("share_below", column, line=line, **more)


def poverty(column: str, *, line: Amount | None = None, **more: Unpack[Keys]) -> Statistic:
    """The at-risk-of-poverty rate: the share of units below a fraction of the median, 0.6 unless `line` says otherwise."""
    return _statistic("poverty", column, line=line, **more)


def gini(column: str, **more: Unpack[Keys]) -> Statistic:
    """The Gini coefficient."""
    return _statistic("gini", column, **more)


def s80s20(column: str, **more: Unpack[Keys]) -> Statistic:
    """The total of the top fifth divided by that of the bottom fifth (S80/S20)."""
    return _statistic("s80s20", column, **more)


def _compared(statistic: Statistic) -> Json:
    """What a contrast compares: a statistic without anything beside it."""
    parts = statistic.to_dict()
    if len(parts) != 1:
        raise InvalidPlanError("expected a statistic alone, such as mean(\"income\"): give by, where and the like to the contrast")
    return parts


def difference(of: Statistic, *, between: Mapping[str, Sequence[str]] | None = None, minus: Statistic | None = None,
               **more: Unpack[Keys]) -> Statistic:
    """The difference of a statistic between two groups, the first minus the second, or of two statistics of the same rows.

    >>> difference(mean("income"), between={"sex": ["m", "f"]}, by="region").to_dict()
    {'difference': {'mean': 'income', 'between': {'sex': ['m', 'f']}}, 'by': 'region'}
    >>> difference(share({"vote": "A"}), minus=share({"vote": "B"})).to_dict()
    {'difference': {'share': {'vote': 'A'}, 'minus': {'share': {'vote': 'B'}}}}
    """
    return _statistic("difference", {**_compared(of), **given(between=plain(between)),
                                     **given(minus=None if minus is None else _compared(minus))}, **more)


def quotient(of: Statistic, *, between: Mapping[str, Sequence[str]], **more: Unpack[Keys]) -> Statistic:
    """A statistic of one group divided by that of another."""
    return _statistic("quotient", {**_compared(of), "between": plain(between)}, **more)


def contrast(of: Statistic, *, over: By, weights: Sequence[Amount], **more: Unpack[Keys]) -> Statistic:
    """The sum over the groups of `over` of weight times the statistic.

    >>> contrast(mean("income"), over={"age": [30, 50]}, weights=[-1, 2, -1]).to_dict()
    {'contrast': {'mean': 'income', 'by': {'age': ['30', '50']}, 'weights': ['-1', '2', '-1']}}
    """
    return _statistic("contrast", {**_compared(of), "by": plain(over), "weights": plain(weights)}, **more)


def change(of: Statistic, *, since: str | os.PathLike[str], independent: bool = False, overlap: Mapping[str, Any] | None = None,
           **more: Unpack[Keys]) -> Statistic:
    """A statistic minus that of an earlier release, whose folder is verified first. `independent`: no person can be in both samples
    but by chance. `overlap`: how many units are in both simple random samples, and the column of their earlier values, such as
    {"size": 500, "before": "income_before"}.

    >>> change(mean("income"), since="wave-2025-release", by="sex").to_dict()
    {'change': {'mean': 'income'}, 'since': 'wave-2025-release', 'by': 'sex'}
    """
    made = _statistic("change", _compared(of), **more).to_dict()
    return Statistic({"change": made.pop("change"), "since": os.fspath(since), **({"samples": "independent"} if independent else {}),
                      **({"overlap": plain(overlap)} if overlap else {}), **made})


def correlation(first: str, second: str, **more: Unpack[Keys]) -> Statistic:
    """The correlation of two numbers.

    >>> correlation("income", "age", by="sex").to_dict()
    {'correlation': ['income', 'age'], 'by': 'sex'}
    """
    return _statistic("correlation", [first, second], **more)


def regression(of: str | Condition, on: Sequence[str | Mapping[str, Any]], *, family: str | None = None,
               interactions: Sequence[Sequence[str]] | None = None, baseline: Mapping[str, str] | None = None,
               typical: Mapping[str, Amount] | None = None, **more: Unpack[Keys]) -> Statistic:
    """The coefficients of a linear, logistic or Poisson model; numbers in the last two are cut.

    >>> regression("income", ["age", "sex"], baseline={"sex": "m"}).to_dict()
    {'regression': {'of': 'income', 'on': ['age', 'sex']}, 'baseline': {'sex': 'm'}}
    >>> regression({"status": "unemployed"}, ["sex", {"age": [30, 50]}], family="logistic").to_dict()
    {'regression': {'of': {'status': 'unemployed'}, 'on': ['sex', {'age': ['30', '50']}], 'family': 'logistic'}}
    """
    model = given(of=plain(of), on=plain(on), family=family, interactions=plain(interactions))
    return Statistic({**_statistic("regression", model, **more).to_dict(),
                      **given(baseline=plain(baseline), typical=plain(typical))})

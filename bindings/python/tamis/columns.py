"""What is public about a column: its bounds or its values. Nothing is taken from the data."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .amounts import Amount, Json, given, plain
from .errors import InvalidPlanError


@dataclass(frozen=True)
class Column:
    """A number or a category, as a plan writes it."""

    parts: Json = field(default_factory=dict)

    def to_dict(self) -> Json:
        """The keys of the column in a plan."""
        return dict(self.parts)


ColumnLike: TypeAlias = Column | tuple[Amount, Amount] | Sequence[str | int | bool]


def number(from_: Amount | Mapping[str, Amount], to: Amount | Mapping[str, Any], step: Amount | Mapping[str, Amount] = 1, *,
           typical: Amount | Mapping[str, Amount] | None = None, missing: Amount | None = None,
           missing_codes: Sequence[Amount] | None = None, contribution: Amount | None = None, unit_contribution: Amount | None = None,
           label: str | None = None, unit_of_measure: str | None = None) -> Column:
    """A number between two public bounds, on a grid of `step`; values outside count as the nearest bound.

    >>> number(0, 4000).to_dict()
    {'from': '0', 'to': '4000', 'step': '1'}
    """
    return Column(given(from_=plain(from_), to=plain(to), step=plain(step), typical=plain(typical), missing=missing,
                        missing_codes=None if missing_codes is None else list(missing_codes), contribution=contribution,
                        unit_contribution=unit_contribution, label=label, unit_of_measure=unit_of_measure))


def category(values: Sequence[str | int | bool] | Mapping[str, str] | None = None, *,
             strata: Mapping[str, str | Sequence[str]] | None = None, of: str | None = None,
             parts: Mapping[str, str | Sequence[str]] | None = None, typical: Mapping[str, Amount] | None = None, missing: str | None = None,
             missing_codes: Sequence[str | int] | None = None, label: str | None = None) -> Column:
    """A category with public values, or `{"file": "codes.csv"}`; or one that follows from the strata: each value with its strata;
    or from another category: `of`, and each value with its parts.

    >>> category(["No", "Yes"]).to_dict()
    {'values': ['No', 'Yes']}
    >>> category(strata={"north": ["N1", "N2"], "south": "S1"}).to_dict()
    {'strata': {'north': ['N1', 'N2'], 'south': 'S1'}}
    """
    listed: Any = dict(values) if isinstance(values, Mapping) else None if values is None else [
        str(v).lower() if isinstance(v, bool) else str(v) for v in values]
    whose, inside = (None if each is None else {str(v): s if isinstance(s, str) else [str(h) for h in s] for v, s in each.items()}
                     for each in (strata, parts))
    return Column(given(values=listed, strata=whose, of=of, parts=inside, typical=None if typical is None else dict(typical), missing=missing,
                        missing_codes=None if missing_codes is None else [str(c) for c in missing_codes], label=label))


def column_of(name: str, column: ColumnLike | Mapping[str, Any]) -> Json:
    """A column, or its short form: a pair of numbers, or a list of values."""
    if isinstance(column, Column):
        return column.to_dict()
    if isinstance(column, Mapping):
        return given(**dict(column))
    if isinstance(column, tuple) and len(column) == 2:
        return number(column[0], column[1]).to_dict()
    if isinstance(column, Sequence) and not isinstance(column, (str, bytes, tuple)):
        return category(column).to_dict()
    raise InvalidPlanError(f"columns.{name}: expected (from, to), a list of values, number(...) or category(...)")

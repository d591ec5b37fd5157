"""Numbers as exact texts. A plan never goes through a double."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from .errors import FloatEpsilonWarning, InvalidPlanError, warn

Amount: TypeAlias = str | int | Fraction | Decimal | float
Path: TypeAlias = str | os.PathLike[str]
Json: TypeAlias = dict[str, Any]


def text_of(amount: Amount) -> str:
    """The exact text of an amount; a float is its shortest text, so 0.1 is one tenth.

    >>> text_of(0.1), text_of(Fraction(1, 3)), text_of(2)
    ('0.1', '1/3', '2')
    """
    if isinstance(amount, bool):
        raise InvalidPlanError(f"expected a number, not {amount}")
    if isinstance(amount, float):
        text = repr(amount)
        if sum(c.isdigit() for c in text.split("e")[0].lstrip("0.")) > 15:
            warn(f"the float {text} has more than 15 digits: give a text or a Fraction, which are exact", FloatEpsilonWarning)
        return text
    if isinstance(amount, Fraction):
        return str(amount)
    if isinstance(amount, (str, int, Decimal)):
        return str(amount)
    raise InvalidPlanError(f"expected a number, not a {type(amount).__name__}")


def value_of(value: Any) -> Any:
    """A value of a plan: numbers become texts, in maps and lists too; yes and no stay."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, dict):
        return {str(k): value_of(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [value_of(v) for v in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return text_of(value)


def plain(value: Any) -> Any:
    """Maps and sequences of any kind as dicts and lists, at any depth."""
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(v) for v in value]
    return value


def given(**keys: Any) -> Json:
    """The keys that were given, as values of a plan."""
    return {name.rstrip("_"): value_of(value) for name, value in keys.items() if value is not None}

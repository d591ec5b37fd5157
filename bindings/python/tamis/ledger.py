"""Ledgers: who spent what on which sample. Each call opens the file anew, so that it sees what other processes wrote."""
from __future__ import annotations

import json
import os
from typing import Any, Literal, overload

from . import _tamis
from .amounts import Amount, Json, Path, text_of
from .errors import RefusedError, call
from .results import Table, Verification, bounds_of, verification_of


class Ledger:
    """An existing ledger."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self._facts()

    def _facts(self) -> Json:
        facts: Json = json.loads(call(_tamis.ledger_text, self.path, "json"))
        return facts

    def __repr__(self) -> str:
        return call(_tamis.ledger_text, self.path, "text")

    def accounts(self) -> Table:
        """One row per survey: budget, spent and left as texts of their safe ends."""
        accounts = self._facts()["accounts"]
        return Table([("survey", [a["survey"] for a in accounts]), *(
            (f"{what}_{coin}", [_end(a[what], coin, end) for a in accounts])
            for what, end in (("budget", "lower"), ("spent", "upper"), ("left", "lower")) for coin in ("epsilon", "delta", "rho"))])

    def entries(self) -> Table:
        """One row per charge."""
        rows = [(a["survey"], e) for a in self._facts()["accounts"] for e in a["entries"]]
        return Table([("survey", [survey for survey, _ in rows]),
                      *((name, [e.get(name) for _, e in rows]) for name in ("number", "time", "release", "wave", "state", "reason")),
                      *((coin, [_end(e["charge"], coin, "upper") for _, e in rows]) for coin in ("epsilon", "delta", "rho"))])

    @overload
    def left(self, survey: str, *, missing_ok: Literal[False] = False) -> Json: ...
    @overload
    def left(self, survey: str, *, missing_ok: bool) -> Json | None: ...

    def left(self, survey: str, *, missing_ok: bool = False) -> Json | None:
        """What a survey may still spend, as Bounds; rely on `lower`."""
        for account in self._facts()["accounts"]:
            if account["survey"] == survey:
                found: Json = bounds_of(account["left"])
                return found
        if missing_ok:
            return None
        raise RefusedError(f"the ledger has no account of {survey}", code="refused")

    def raise_budget(self, survey: str, *, epsilon: Amount | None = None, delta: Amount | None = None, rho: Amount | None = None,
                     reason: str) -> None:
        """Records a higher budget: a decision that appears in every later certificate."""
        coins = [None if c is None else text_of(c) for c in (epsilon, delta, rho)]
        call(_tamis.ledger_raise, self.path, survey, *coins, reason)

    def void(self, entry: int, *, reason: str) -> None:
        """Voids a charge that was never published."""
        call(_tamis.ledger_void, self.path, entry, reason)

    def verify(self, *certificates: Path) -> Verification:
        """Recomputes the chain and the sums; the entry of each certificate must be in the chain."""
        return verification_of(*call(_tamis.ledger_verify, self.path, [os.fspath(c) for c in certificates]))


def _end(amount: Any, coin: str, end: str) -> float | None:
    return amount[coin][end] if amount and isinstance(amount.get(coin), dict) else None

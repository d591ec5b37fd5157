"""Randomized response: flips at the client, and what the collector makes of the reports. docs/collection.md explains both."""
from __future__ import annotations

import array
import contextlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _tamis
from .amounts import Amount, Json, Path, given
from .errors import InvalidError, call
from .libraries import files_are_read
from .progress import Progress, watching
from .results import Answer, Bound
from .rows import Rows, is_path, source_of


class Randomizer:
    """Two lie probabilities: a one is reported as zero with probability `lie`, a zero as one with `lie_zero` (the same, if it is
    not given).

    >>> r = Randomizer("1/4")
    >>> len(r.report([True, False, True])), r.local().upper < 1.0987
    (3, True)
    """

    def __init__(self, lie: Amount, lie_zero: Amount | None = None) -> None:
        self._lies = given(lie=lie, lie_zero=lie_zero)
        self.local()

    def report(self, answers: Sequence[bool]) -> list[bool]:
        """The reports of yes/no answers, each flipped independently."""
        words = array.array("Q", bytes(8 * ((len(answers) + 63) // 64)))
        for i, answer in enumerate(answers):
            if answer is not True and answer is not False:
                raise InvalidError("answers: expected True or False")
            words[i // 64] |= int(answer) << i % 64
        call(_tamis.randomize_bits, self._lies, words)
        return [bool(words[i // 64] >> i % 64 & 1) for i in range(len(answers))]

    def again(self, answer_bit: bool, *, secret: bytes, question: str, answer: str) -> bool:
        """A permanent flip: the same answer of the same client to the same question always gives the same report. `secret` has
        32 bytes, is drawn once and stays at the client."""
        return call(_tamis.randomize_again, self._lies, answer_bit, secret, question, answer)

    def local(self, alone: int = 1, one_hot: int = 0) -> Bound:
        """The local epsilon of this many one-bit columns, and of columns coded as several bits of which one is set."""
        return Bound(*call(_tamis.randomize_local, self._lies, alone, one_hot))


@dataclass(frozen=True)
class Randomized:
    """What was written: the number of reports, the bits of each, the columns left out, and the local epsilon of one person."""

    reports: int
    bits: int
    left_out: int
    local: Bound


def randomize(answers: Path, out: Path, *, lie: Amount, lie_zero: Amount | None = None, columns: Sequence[str] | None = None,
              categories: Mapping[str, Sequence[str]] | None = None, missing: Literal["error", "bit"] = "error",
              id: str | None = None, memo: Path | None = None, packed: bool = False, progress: Progress = False) -> Randomized:
    """Randomizes a CSV file of answers, one person per row, into a file of reports. `memo` is the file of a secret, for permanent
    flips, and needs `id`."""
    if missing not in ("error", "bit"):
        raise InvalidError("missing: expected error or bit")
    if memo is not None and id is None:
        raise InvalidError("memo: it needs id, the column that identifies each client")
    options = {**given(answers=answers, out=out, lie=lie, lie_zero=lie_zero, columns=None if columns is None else list(columns), id=id,
                       memo=memo), "missing_bit": missing == "bit", "packed": packed,
               "categories": [(c, list(v)) for c, v in (categories or {}).items()]}
    with watching(progress) as watch:
        reports, bits, left_out, local = call(_tamis.randomize_file, options, watch)
    return Randomized(reports, bits, left_out, Bound(*local))


class Shares(Answer):
    """Estimated shares: `guarantee` with the local and the anonymous epsilon, `in_words`, `warnings`; `facts` has everything."""

    def __init__(self, json_text: str) -> None:
        super().__init__(json_text)
        self.guarantee = self.facts["guarantee"]
        self.in_words: list[str] = self.facts["in_words"]
        self.warnings: list[str] = self.facts["warnings"]

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self.in_words, *self.warnings])


class Tally:
    """Counts of randomized reports.

    `lie` and `lie_zero` are those that the clients used; packed files have them. `id`: a column of client ids, of which a second
    report is an error, or is left out with `once`. `keep`: for `shuffle`. `table`: also count whole reports, up to 10 bits.

    Examples
    --------
    >>> t = Tally(lie="1/4")
    >>> t.add({"smoker": [1, 0, 1, 1]}, columns=["smoker"])
    >>> t.reports, [s["ones"] for s in t.shares()]
    (4, [3])
    """

    def __init__(self, lie: Amount | None = None, lie_zero: Amount | None = None, *, id: str | None = None, once: bool = False,
                 weight: str | None = None, keep: bool = False, table: bool = False) -> None:
        self._capsule = call(_tamis.tally_new, {**given(lie=lie, lie_zero=lie_zero, id=id, weight=weight), "once": once,
                                                "keep": keep, "table": table})
        self._used = threading.Lock()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[object]:
        if not self._used.acquire(blocking=False):
            raise RuntimeError("this tally is in use by another call")
        try:
            yield self._capsule
        finally:
            self._used.release()

    def add(self, reports: Path | Rows, *, columns: Sequence[str] | None = None, engine: str | None = None,
            table: str | None = None, connection: str | None = None, progress: Progress = False) -> None:
        """Adds reports: a CSV or packed file, or a saved tally; rows in memory, with `columns`, of bits; or, with `columns` and
        `engine`, what an engine counts: a file, or None with the `connection` string of a PostgreSQL server and a `table`."""
        rows = None if reports is None or is_path(reports) else reports
        with watching(progress) as watch, self._alone() as tally:
            if columns is None:
                if rows is not None or reports is None:
                    raise InvalidError("columns: which columns have the bits?")
                call(_tamis.tally_add, tally, os.fspath(reports), watch)
                return
            options = given(columns=",".join(columns), engine=engine, table=table, connection=connection,
                            files=[os.fspath(reports)] if rows is None and reports is not None else None)
            files_are_read()
            call(_tamis.tally_add_source, tally, source_of(rows, list(columns)), options, watch)

    @property
    def reports(self) -> int:
        """How many reports were counted."""
        with self._alone() as tally:
            return call(_tamis.tally_counts, tally)[0]

    @property
    def repeated(self) -> int:
        """Reports left out because their client had already reported."""
        with self._alone() as tally:
            return call(_tamis.tally_counts, tally)[1]

    def shares(self, *, confidence: Amount | None = None, population: int | None = None, categories: Sequence[str] | None = None,
               delta: Amount | None = None, promised: int | None = None) -> Shares:
        """The estimated share of ones for each bit, with exact intervals, and the guarantee."""
        question = _question(confidence, population, categories, delta, promised)
        with self._alone() as tally:
            return Shares(call(_tamis.tally_text, tally, "json", question))

    def publish(self, folder: Path | None = None, *, ledger: Path | None = None, survey: str | None = None,
                budget: Amount | None = None, repeat: Literal["free", "charged"] | None = None, sign: Path | None = None,
                save: Path | None = None, shuffle: Path | None = None, confidence: Amount | None = None,
                population: int | None = None, categories: Sequence[str] | None = None, delta: Amount | None = None,
                promised: int | None = None) -> Shares:
        """Charges the local epsilon to the account of `survey`, if there is a `ledger`, and writes the folder with a certificate.
        If equal counts were charged before: `repeat="free"` for the same reports, "charged" for others."""
        if repeat not in (None, "free", "charged"):
            raise InvalidError("repeat: expected free or charged")
        if (ledger is None) != (survey is None):
            raise InvalidError("ledger, survey: they must be given together")
        options: Json = {**_question(confidence, population, categories, delta, promised),
                         **given(folder=folder, ledger=ledger, survey=survey, budget=budget, sign=sign, save=save, shuffle=shuffle),
                         "repeat": {None: 0, "free": 1, "charged": 2}[repeat]}
        with self._alone() as tally:
            return Shares(call(_tamis.tally_publish, tally, options))

    def save(self, path: Path) -> None:
        """Writes the counts to a new file, which can be added to another tally."""
        with self._alone() as tally:
            call(_tamis.tally_write, tally, "save", os.fspath(path))

    def shuffle(self, path: Path) -> None:
        """Writes the reports without ids and in random order to a new file; needs `keep`."""
        with self._alone() as tally:
            call(_tamis.tally_write, tally, "shuffle", os.fspath(path))

    def __repr__(self) -> str:
        return f"<tamis.Tally of {self.reports} reports>"


def _question(confidence: Amount | None, population: int | None, categories: Sequence[str] | None, delta: Amount | None,
              promised: int | None) -> dict[str, Any]:
    names = None if categories is None else categories if isinstance(categories, str) else ",".join(categories)
    return {**given(confidence=confidence, delta=delta, categories=names), "population": population, "promised": promised}

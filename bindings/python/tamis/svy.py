"""Designs of the package svy, as plans write them. The table is that of R's package (docs/r.md): numbers that shape the guarantee are taken only
from the sizes of the population, which are public by the design; the largest weight, the smallest and the largest cluster are arguments, because in the rows
they are data."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .amounts import Amount
from .designs import Design, cluster, srs, stratified, two_stage, weights
from .errors import InvalidPlanError, RefusedError


def _refuse(words: str) -> RefusedError:
    return RefusedError(words, code="refused")


def _need(words: str) -> InvalidPlanError:
    return InvalidPlanError(words, code="plan")


def _one(value: str | Sequence[str] | None, what: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if len(value) == 1:
        return value[0]
    raise _refuse(f"{what}: several columns: make one column of them")


def _whole(value: Any) -> int:
    if value is None or abs(value - round(value)) > 1e-6:
        raise _refuse("pop_size: a population size is not a whole number")
    return int(round(value))


def _sizes(rows: Any, stratum: str | None, unit: str | None, pop_size: str) -> dict[str, tuple[int, int]]:
    """Of each stratum the size of its population and of its sample; "" without strata."""
    names = rows[stratum].cast(str).to_list() if stratum else [""] * len(rows)
    units = rows[unit].to_list() if unit else range(len(rows))
    found: dict[str, tuple[int, set[Any]]] = {}
    for name, one, size in zip(names, units, rows[pop_size].to_list(), strict=True):
        if name is None:
            raise _refuse("stratum: a row has none")
        population, sampled = found.setdefault(name, (_whole(size), set()))
        if population != _whole(size):
            raise _refuse("pop_size: differs within a stratum")
        sampled.add(one)
    return {name: (population, len(sampled)) for name, (population, sampled) in found.items()}


def _equal_weights(rows: Any, wgt: str, stratum: str | None, sizes: dict[str, tuple[int, int]]) -> bool:
    """Whether the weights are those that the sizes give."""
    names = rows[stratum].cast(str).to_list() if stratum else [""] * len(rows)
    return all(w is not None and abs(w * sizes[n][1] / sizes[n][0] - 1) <= 1e-6 for n, w in zip(names, rows[wgt].to_list(), strict=True))


def design_of(sample: Any, max_weight: Amount | None, smallest: int | None, largest: int | None, second_sample: str | int | None,
              weights_are: Literal["final"] | None) -> Design:
    """As tamis.from_svy."""
    design, rows = getattr(sample, "design", sample), getattr(sample, "data", None)
    if not (hasattr(design, "pop_size") and hasattr(design, "rep_wgts") and hasattr(design, "wr")):
        raise TypeError("expected a svy.Sample or a svy.Design")
    if design.rep_wgts is not None:
        raise _refuse("replicate weights do not say how the sample was drawn: give the design that they were made from, or weights and a public deff")
    if design.wgt_adjustment is not None and weights_are != "final":
        raise _refuse("its weights depend on everybody's answers. Give the design before that, and the public totals as calibrate=; or weights_are=\"final\"")
    stratum, psu, ssu = _one(design.stratum, "stratum"), _one(design.psu, "psu"), _one(design.ssu, "ssu")
    pop_size = design.pop_size
    if pop_size is None or design.wr or weights_are == "final":
        if design.wgt is None:
            raise _need("wgt: the design has no column of weights; make one of the probabilities")
        if max_weight is None:
            raise _need("max_weight: give a public upper bound of the weights; the largest weight in these rows is data")
        return weights(design.wgt, max_weight, strata=stratum, cluster=psu).with_(weights_are=weights_are)
    if rows is None:
        raise _need("give the svy.Sample: the sizes of the population are in its rows")
    first = pop_size if isinstance(pop_size, str) else pop_size.psu
    second = None if isinstance(pop_size, str) else pop_size.ssu
    if ssu is not None and second is None:
        raise _refuse("pop_size: give it for each stage, or for none")
    sizes = _sizes(rows, stratum, psu, first)
    return _drawn(design, rows, stratum, psu, second, sizes, max_weight, smallest, largest, second_sample)


def _drawn(design: Any, rows: Any, stratum: str | None, psu: str | None, second: str | None, sizes: dict[str, tuple[int, int]],
           max_weight: Amount | None, smallest: int | None, largest: int | None, second_sample: str | int | None) -> Design:
    if second is not None:
        if stratum is not None or psu is None:
            raise _refuse("two stages in strata: pop_size of both stages is read without strata only")
        if max_weight is None or second_sample is None:
            raise _need("max_weight, second_sample: give a public upper bound of the weights, and how many units were drawn in each cluster (a column, or a "
                        "number)")
        return two_stage(psu, *sizes[""], second_population=second, second_sample=second_sample).with_(max_weight=max_weight)
    if psu is not None and (smallest is None or largest is None):
        raise _need("smallest, largest: give bounds of the units of any cluster of the frame; the largest cluster in these rows is data")
    one = None if psu is None else cluster(psu, smallest=int(smallest or 0), largest=int(largest or 0))
    if stratum is not None:
        made = stratified(stratum, sizes, within="srs" if one is None else one)
    elif psu is not None:
        made = cluster(psu, *sizes[""], smallest=int(smallest or 0), largest=int(largest or 0))
    else:
        made = srs(*sizes[""])
    if design.wgt is None or _equal_weights(rows, design.wgt, stratum, sizes):
        return made
    if max_weight is None:
        raise _need("max_weight: the weights are not those of the design: give a public upper bound of them")
    return made.with_(weight=design.wgt, max_weight=max_weight)

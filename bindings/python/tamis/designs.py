"""How the sample was drawn. Each function makes the part `design` of a plan; docs/designs.md describes them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .amounts import Amount, Json, Path, given, value_of


@dataclass(frozen=True)
class Design:
    """A sampling design, as a plan writes it."""

    parts: Json = field(default_factory=dict)

    def to_dict(self) -> Json:
        """The keys of the design in a plan."""
        return dict(self.parts)

    def with_(self, *, weight: str | None = None, max_weight: Amount | None = None, max_unit_weight: Amount | None = None,
              weight_step: Amount | None = None, weights_are: Literal["design", "final"] | None = None,
              nonresponse: bool | None = None, typical: Mapping[str, Any] | None = None, variance: str | None = None,
              regularise: Amount | None = None, replicates: Mapping[str, Any] | None = None) -> Design:
        """The same design with its own weights, nonresponse, public guesses, or another variance estimator."""
        return Design({**self.parts, **given(weight=weight, max_weight=max_weight, max_unit_weight=max_unit_weight,
                                             weight_step=weight_step, weights_are=weights_are, nonresponse=nonresponse,
                                             typical=None if typical is None else dict(typical),
                                             variance=variance, regularise=regularise,
                                             replicates=None if replicates is None else dict(replicates))})


def replicates(weights: str | Sequence[str], type: Literal["jk1", "jkn", "brr", "fay", "bootstrap", "other"], *,
               scale: Amount | None = None, rscales: Sequence[Amount] | None = None, rho: Amount | None = None,
               mse: bool | None = None) -> Json:
    """Replicate weights, for unprotected estimates alone: the columns, or a pattern with one * where a plan names files.

    >>> srs(6194, 200).with_(replicates=replicates(["r1", "r2"], "brr")).to_dict()["replicates"]
    {'weights': ['r1', 'r2'], 'type': 'brr'}
    """
    return given(weights=weights if isinstance(weights, str) else list(weights), type=type, scale=scale,
                 rscales=None if rscales is None else list(rscales), rho=rho, mse=mse)


def srs(population: int | None = None, sample: int | None = None) -> Design:
    """A simple random sample without replacement.

    >>> srs(6194, 200).to_dict()
    {'srs': {'population': '6194', 'sample': '200'}}
    """
    return Design({"srs": given(population=population, sample=sample)})


def srs_with_replacement(population: int | None = None, sample: int | None = None) -> Design:
    """A simple random sample with replacement: `sample` draws."""
    return Design({"srs_with_replacement": given(population=population, sample=sample)})


def bernoulli(rate: Amount, *, population: int | None = None) -> Design:
    """Each unit independently, with the same probability."""
    return Design({"bernoulli": given(rate=rate, population=population)})


def poisson(probability: str, *, frame: Path | None = None, population: int | None = None) -> Design:
    """Each unit independently, with its own probability, the column `probability`."""
    return Design({"poisson": given(probability=probability, frame=frame, population=population)})


def pps(method: str, probability: str, sample: int | None = None, *, frame: Path | None = None,
        population: int | None = None) -> Design:
    """Unequal probabilities and a fixed size: sampford, brewer, tille, conditional_poisson, pivotal, systematic, ..."""
    return Design({"pps": given(method=method, probability=probability, sample=sample, frame=frame, population=population)})


def systematic(population: int | None = None, sample: int | None = None, *, order: Literal["public", "random"]) -> Design:
    """Every k-th unit of a list."""
    return Design({"systematic": given(population=population, sample=sample, order=order)})


def stratified(by: str | Sequence[str], strata: Mapping[str, tuple[int, int] | Mapping[str, Any]], *,
               within: Design | str = "srs") -> Design:
    """One design in each stratum; `strata` has (population, sample) or a map of sizes for each.

    >>> stratified("stype", {"E": (4421, 100)}).to_dict()["stratified"]["strata"]
    {'E': {'population': '4421', 'sample': '100'}}

    Strata by several columns are in maps of maps, the first column first:

    >>> stratified(["region", "area"], {"north": {"urban": (4000, 100)}}).to_dict()["stratified"]["strata"]["north"]
    {'urban': {'population': '4000', 'sample': '100'}}
    """
    def sizes(strata: Mapping[str, Any], depth: int) -> dict[str, Any]:
        return {name: sizes(inner, depth - 1) if depth > 1
                else given(population=inner[0], sample=inner[1]) if isinstance(inner, tuple) else value_of(dict(inner))
                for name, inner in strata.items()}

    columns = by if isinstance(by, str) else list(by)
    return Design({"stratified": {"by": columns, "within": value_of(within), "strata": sizes(strata, 1 if isinstance(by, str) else len(columns))}})


def cluster(by: str, population: int | None = None, sample: int | None = None, *, smallest: int, largest: int) -> Design:
    """Whole clusters; `smallest` and `largest` bound the units of any cluster of the frame."""
    return Design({"cluster": given(by=by, population=population, sample=sample, smallest=smallest, largest=largest)})


def two_stage(by: str, population: int | None = None, sample: int | None = None, *, first: Design | None = None,
              second_population: str | None = None, second_sample: str | int | None = None,
              second_method: Literal["srs", "systematic", "bernoulli"] | None = None, second_smallest: int | None = None,
              second_rate: Amount | None = None) -> Design:
    """Clusters, then units in them; `second_population` and `second_sample` are columns, or `second_sample` a number.

    Clusters are a simple random sample, `sample` of `population`, or drawn as `first` says: pps(...) or systematic(...).
    `second_smallest`: units of the smallest cluster of the frame, which is public. With `second_method="bernoulli"` and
    `second_rate` alone each unit of a drawn cluster is drawn by itself.

    >>> two_stage("psu", first=pps("sampford", "pi", 60), second_population="size", second_sample=10).to_dict()["two_stage"]["first"]
    {'by': 'psu', 'pps': {'method': 'sampford', 'probability': 'pi', 'sample': '60'}}
    """
    return Design({"two_stage": {"first": {**given(by=by, population=population, sample=sample), **(first.to_dict() if first else {})},
                                 "second": given(population=second_population, sample=second_sample, method=second_method,
                                                 smallest=second_smallest, rate=second_rate)}})


def weights(weight: str, max_weight: Amount, *, strata: str | None = None, cluster: str | None = None, psus: Path | None = None,
            deff: Amount | Mapping[str, Amount] | None = None, population: int | None = None) -> Design:
    """Weights only: nothing else is known about how the sample was drawn."""
    effects = dict(deff) if isinstance(deff, Mapping) else deff
    return Design({"weights": given(strata=strata, cluster=cluster, psus=psus, deff=effects, population=population),
                   **given(weight=weight, max_weight=max_weight)})


def census(population: int | None = None) -> Design:
    """Everybody."""
    return Design({"census": given(population=population)})


def from_svy(sample: Any, *, max_weight: Amount | None = None, smallest: int | None = None, largest: int | None = None,
             second_sample: str | int | None = None, weights_are: Literal["final"] | None = None) -> Design:
    """The design of a svy.Sample, or of a svy.Design where no sizes of strata are needed.

    Sizes of a population make simple random samples of rows, strata or clusters; without them, or with wr=True, weights alone are
    known, and `max_weight` must bound them. What no plan can describe is a RefusedError.
    """
    from .svy import design_of  # imported when it is used
    return design_of(sample, max_weight, smallest, largest, second_sample, weights_are)

"""The thousand releases of bench/accountant_mechanisms.json in two peers, one JSON object per line: in dp_accounting's PLD, as a
balanced tree, which is its fastest way (its delta is pessimistic up to rounding errors that nobody counts), and in
prv_accountant, at one delta and with the error of 0.1 in eps that it takes by default; a tenth of it takes ten times as long."""
import json
import math
import pathlib
import warnings

import prv_accountant
from dp_accounting.pld import privacy_loss_distribution as pld
from prv_accountant import privacy_random_variables as prv

from timing import measure

warnings.simplefilter("ignore")
ITEMS = json.loads((pathlib.Path(__file__).parent / "accountant_mechanisms.json").read_text())["mechanisms"]


def one(item):
    if item["kind"] == "laplace":
        return pld.from_laplace_mechanism(1 / item["epsilon"], value_discretization_interval=1e-4)
    if item["kind"] == "gaussian":
        return pld.from_gaussian_mechanism(item["sigma"], value_discretization_interval=1e-4)
    return pld.from_randomized_response(2 / (1 + math.exp(item["epsilon"])), 2, value_discretization_interval=1e-4)


def by_pld():
    row = [one(item) for item in ITEMS]
    while len(row) > 1:
        row = [a.compose(b) for a, b in zip(row[::2], row[1::2])] + (row[-1:] if len(row) % 2 else [])
    return [row[0].get_epsilon_for_delta(delta) for delta in (1e-6, 1e-18)]


def prv_of(item):
    if item["kind"] == "laplace":
        return prv_accountant.LaplaceMechanism(item["epsilon"])
    if item["kind"] == "gaussian":
        return prv.GaussianMechanism(item["sigma"])
    return prv.PureDPMechanism(item["epsilon"])


def by_prv():
    account = prv_accountant.PRVAccountant(prvs=[prv_of(item) for item in ITEMS], eps_error=0.1, delta_error=1e-9)
    low, _, high = account.compute_epsilon(1e-6, [1] * len(ITEMS))
    return low, high


measure("dp_accounting: compose 1000 releases", 1, by_pld, eps=[str(e) for e in by_pld()])
low, high = by_prv()
measure("prv_accountant: compose 1000 releases", 1, by_prv, eps=[str(low), str(high)], width=(high - low) / high)

"""tamis: differential privacy for sample surveys. docs/python.md is the tutorial."""
from ._tamis import version as __version__
from . import study
from .calc import compute, compute_many, explain, init, parts, verify
from .collect import Randomized, Randomizer, Shares, Tally, randomize
from .columns import Column, category, number
from .designs import (Design, bernoulli, census, cluster, from_svy, poisson, pps, replicates, srs, srs_with_replacement, stratified, systematic,
                      two_stage, weights)
from .errors import (BudgetError, Charge, EngineError, ErrorItem, FloatEpsilonWarning, Interrupted, InvalidDataError, InvalidError,
                     InvalidPlanError, NewLedgerWarning, RefusedError, RepeatedError, RepeatedReleaseWarning, TamisError,
                     TamisWarning, UnableError)
from .ledger import Ledger
from .libraries import use_duckdb
from .plan import Plan, Survey
from .results import Answer, Bound, Estimate, Preview, Release, Result, Table, Verification
from .sample import FileQuantiles, Sample, draw, noise, quantile_of_file
from .statistics import (Statistic, change, contrast, correlation, count, difference, gini, histogram, iqr, mean, median,
                         poverty, quantile, quotient, ratio, regression, s80s20, share, share_below, table, total, variance)
from .terms import (between, budget, calibrate, caution, control, deff, guess, ledger_file, of_size, postgres, postprocess,
                    private_bound, sizes, source, suppress, typical, unreliable, values_file, wave)

__all__ = [name for name in dir() if not name.startswith("_") and name not in (
    "amounts", "calc", "collect", "columns", "designs", "errors", "ledger", "libraries", "plan", "progress", "results", "rows", "sample", "statistics", "terms")] + ["__version__"]

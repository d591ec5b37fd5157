"""tamis: differential privacy for sample surveys. docs/python.md is the tutorial."""
from ._tamis import version as __version__
from .calc import compute, compute_many, explain, init, parts, use_duckdb, verify
from .columns import Column, category, number
from .designs import (Design, bernoulli, census, cluster, poisson, pps, srs, srs_with_replacement, stratified, systematic, two_stage,
                      weights)
from .errors import (BudgetError, Charge, EngineError, ErrorItem, FloatEpsilonWarning, Interrupted, InvalidDataError, InvalidError,
                     InvalidPlanError, NewLedgerWarning, RefusedError, RepeatedError, RepeatedReleaseWarning, TamisError,
                     TamisWarning, UnableError)
from .ledger import Ledger
from .plan import Plan, Survey
from .results import Bound, Estimate, Preview, Release, Result, Table, Verification
from .statistics import (Statistic, count, gini, histogram, iqr, mean, median, poverty, quantile, ratio, s80s20, share, share_below,
                         table, total, variance)

__all__ = [name for name in dir() if not name.startswith("_") and name not in (
    "amounts", "calc", "columns", "designs", "errors", "ledger", "plan", "results", "rows", "statistics")] + ["__version__"]

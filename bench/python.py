"""The Python package: import, what it adds to a release, 10^7 rows from data frames, 10^5 cells into data frames. Run in an environment
that has the package and its peers; bench/run python makes one. `copied` is how far the resident memory rose above what it was, in parts
of the data."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import pandas
import polars
import pyarrow
import tamis
from tamis import _tamis

TOP = pathlib.Path(__file__).resolve().parent.parent
ROWS, COLUMNS, RUNS = 10_000_000, 20, 5


def say(what, **numbers):
    print(json.dumps({"what": f"python: {what}", **numbers}), flush=True)


def import_of(module):
    """Processor seconds, in a process of its own; the median of several."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    return statistics.median(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
                             for _ in range(RUNS + 1))


def peak():
    return int(next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1]) * 1024


def now():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def measure_demo():
    """The release of the schools in memory, processor time of this thread: the call of the library, and what is around it."""
    data = polars.read_csv(TOP / "examples" / "schools" / "apistrat.csv")
    survey = tamis.Survey("schools", data, unit="school", ledger="demo.ledger", budget=10**6,
                          design=tamis.stratified("stype", {"E": (4421, 100), "M": (1018, 50), "H": (755, 50)}),
                          columns={"enroll": (0, 4000), "api00": (200, 1000), "stype": ["E", "M", "H"]})
    statistics_ = [tamis.total("enroll", by="stype"), tamis.mean("api00")]
    inside, made = [], _tamis.release

    def timed(*arguments):
        start = time.thread_time()
        try:
            return made(*arguments)
        finally:
            inside.append(time.thread_time() - start)
    _tamis.release = timed
    added = []
    for _ in range(20):
        start = time.thread_time()
        survey.release(*statistics_, epsilon=1, again=True).to_dicts()
        added.append(time.thread_time() - start - inside[-1])
    _tamis.release = made
    say("added to a release of the demo", seconds=statistics.median(added))
    say("the library's part of it", seconds=statistics.median(inside))


def measure_frames():
    """20 totals of 10^7 rows, one thread, processor time. Arrays are handed over as pointers, as from C; they and each kind of frame
    take turns, so that what else the machine does falls on both."""
    block = numpy.random.default_rng(1).integers(0, 100, (COLUMNS, ROWS)).astype("float64")
    names = [f"x{i}" for i in range(COLUMNS)]
    arrays = dict(zip(names, block))
    table = pyarrow.table({name: pyarrow.array(values) for name, values in arrays.items()})
    sources = {"pyarrow": table, "Polars": polars.from_arrow(table), "pandas": pandas.DataFrame(block.T, columns=names, copy=False)}
    plan = tamis.Plan("rows", design=tamis.srs(10 * ROWS, ROWS), unit="person", columns={name: (0, 100) for name in names},
                      statistics=[tamis.total(name) for name in names], epsilon=1, budget=10**6, ledger="rows.ledger")

    def seconds_of(data):
        start = time.process_time()
        plan.release(data, again=True, threads=1)
        return time.process_time() - start
    plain, took, copied = [], {name: [] for name in sources}, {}
    plan.release(arrays, again=True, threads=1)
    for name, data in sources.items():
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is counted anew
        before = now()
        seconds_of(data)
        copied[name] = (peak() - before) / block.nbytes
    for _ in range(RUNS):
        for name, data in sources.items():
            plain.append(seconds_of(arrays))
            took[name].append(seconds_of(data))
    say("10^7 rows, arrays", n=ROWS, seconds=statistics.median(plain))
    for name, times in took.items():
        say(f"10^7 rows, {name}", n=ROWS, seconds=statistics.median(times), copied=copied[name])


def measure_cells():
    """A table of 10^5 cells, from the release to a data frame."""
    data = {"a": [f"a{i % 316}" for i in range(1000)], "b": [f"b{i % 317}" for i in range(1000)]}
    survey = tamis.Survey("cells", data, unit="person", ledger="cells.ledger", budget=100, design=tamis.srs(10000, 1000),
                          columns={"a": [f"a{i}" for i in range(316)], "b": [f"b{i}" for i in range(317)]})
    made = survey.release(tamis.table(["a", "b"]), epsilon=1)
    for name in ("polars", "pandas"):
        times = []
        for _ in range(RUNS + 1):
            start = time.perf_counter()
            assert len(getattr(made, f"to_{name}")()) == 316 * 317
            times.append(time.perf_counter() - start)
        say(f"10^5 cells into {name}", n=316 * 317, seconds=statistics.median(times[1:]))


warnings.simplefilter("ignore")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    say("import tamis", seconds=import_of("tamis"))
    say("import opendp", seconds=import_of("opendp.prelude"))
    measure_demo()
    measure_cells()
    measure_frames()
    os.chdir(TOP)

"""The rows of `make bench`: what is measured, the bar it has to clear, and what stands beside it."""
import dataclasses

MILLION, MILLI = 1e6, 1e-3


def rate(row):
    return row["n"] / row["seconds"] / MILLION


def bytes_rate(row):
    """Random bytes, or noise counted as 64-bit integers."""
    return rate(row) * (1 if "bytes" in row["what"] else 8)


def milliseconds(row):
    return row["seconds"] / row.get("n", 1) / MILLI


def seconds(row):
    return row["seconds"]


def milliseconds_in_all(row):
    return row["seconds"] / MILLI


def a_second(row):
    return row["n"] / row["seconds"]


def drawn(row):
    """From probabilities to one sample; a peer's line has one time for both."""
    return row.get("ready", 0) + row["seconds"]


def megabytes(row):
    return row["bytes"] / MILLION


@dataclasses.dataclass
class Row:
    group: str          # which measurement gives it
    title: str
    what: str           # the line of the measuring program
    value: callable     # its number, in `unit`
    unit: str
    bar: float          # None: no bar, for information
    more: bool          # more is better: the bar is a floor
    beside: str         # peer or physical limit
    beside_what: str    # its line; None: `limit` is the number itself
    limit: float = None
    least_ratio: float = None  # a second bar: this many times as good as what stands beside it
    ratio_bar: str = None      # how that bar is written; None: "N times"
    beside_value: callable = None  # where the other's line means something else

    def filled(self, found):
        ours, other = found.get(self.what), found.get(self.beside_what)
        measured = self.value(ours) if ours else None
        beside = (self.beside_value or self.value)(other) if other else self.limit
        ratio = None
        if measured and beside:
            ratio = measured / beside if self.more else beside / measured
        bars, met = [], None
        if self.bar is not None:
            bars.append(f"{'>=' if self.more else '<='} {self.bar:g} {self.unit}")
            met = None if measured is None else (measured >= self.bar if self.more else measured <= self.bar)
        if self.least_ratio is not None:
            bars.append(self.ratio_bar or f"{self.least_ratio:g} times")
            met = met if ratio is None else met is not False and ratio >= self.least_ratio
        return {"what": self.title, "measured": measured, "unit": self.unit, "bar": ", ".join(bars) or "-", "met": met,
                "beside": self.beside, "beside_measured": beside, "ratio": ratio}


def noise_rows(law, scale, bar, peer_law):
    """A law beside OpenDP's exact one, numpy's inexact one, and 64 random bits for each number: the ground to start from."""
    what = f"discrete {law} {scale}"
    yield Row("noise", what, what, rate, "M/s", bar, True, "opendp", f"opendp: {what}", least_ratio=250)
    yield Row("noise", what, what, rate, "M/s", None, True, "numpy, inexact", f"numpy: rounded {peer_law} {scale}")
    yield Row("noise", what, what, rate, "M/s", None, True, "64 bits of AES-256-CTR",
              "random bytes by AES-256-CTR", beside_value=lambda row: rate(row) / 8)


def engine_rows(kind, title):
    ours = f"engine {kind} tamis"
    yield Row("engine", title, ours, seconds, "s", None, False, "DuckDB, clamped doubles", f"engine {kind} duckdb clamped",
              least_ratio=1 / 1.2, ratio_bar="at most 1.2 times")
    yield Row("engine", title, ours, seconds, "s", None, False, "DuckDB, plain doubles", f"engine {kind} duckdb plain")


def sums_rows():
    """20 weighted totals by group over 10^8 rows; and the clamped mean of doubles in memory."""
    for threads in (1, 2):
        what = f"weighted totals tamis {10**8}, threads {threads}"
        title = f"20 weighted totals, 10^8 rows of Parquet, threads: {threads}"
        yield Row("sums", title, what, seconds, "s", None, False, "DuckDB, clamped doubles",
                  f"weighted totals duckdb {10**8}, threads {threads}", least_ratio=1 / 1.05, ratio_bar="at most 1.05 times")
        yield Row("sums", title, what, seconds, "s", None, False, "DuckDB, not clamped", f"weighted totals duckdb unclamped {10**8}, threads {threads}")
        yield Row("sums", f"{title}, peak memory", what, megabytes, "MB", 1000, False, "the bar", None, 1000)
    what, title = f"weighted totals tamis {10**7}, threads 1", "20 weighted totals, 10^7 rows of Parquet"
    for title_of, peer in (("opendp with Polars", "opendp"), ("Polars, not private", "polars"), ("Tumult on Spark, without weights", "tumult"),
                           ("Spark, not private", "spark")):
        yield Row("sums", title, what, seconds, "s", None, False, title_of, f"{peer}: grouped totals")
    for n in (10**6, 10**7, 10**8):
        what, title = f"clamped mean tamis {n}", f"clamped mean of {n} doubles in memory, exact"
        yield Row("sums", title, what, milliseconds_in_all, "ms", None, False, "reading them once", f"clamped mean reading {n}",
                  least_ratio=1 / 1.3 if n == 10**8 else None, ratio_bar="at most 1.3 times")
        yield Row("sums", title, what, milliseconds_in_all, "ms", None, False, "numpy, clip and mean", f"numpy: clamped mean {n}")
        yield Row("sums", title, what, milliseconds_in_all, "ms", None, False, "diffprivlib", f"diffprivlib: clamped mean {n}",
                  least_ratio=4)
        yield Row("sums", title, what, milliseconds_in_all, "ms", None, False, "opendp", f"opendp: clamped mean {n}", least_ratio=25)


def quantile_rows():
    """Doubles in memory, one core; time of the processor."""
    title, what = "one private quantile of 10^7 unsorted doubles", "one quantile: median"
    yield Row("quantile", title, what, milliseconds_in_all, "ms", 30, False, "numpy's partition, not private", "numpy: partition",
              least_ratio=1, ratio_bar="no slower")
    yield Row("quantile", title, what, milliseconds_in_all, "ms", None, False, "opendp, 1001 candidates", "opendp: median, 1001 candidates",
              least_ratio=15)
    yield Row("quantile", title, what, milliseconds_in_all, "ms", None, False, "diffprivlib", "diffprivlib: median", least_ratio=300)
    for method, bar, ratio in (("joint", 500, None), ("split", None, None), ("tree", None, 1 / 2), ("inverse", None, None)):
        yield Row("quantile", f"nine deciles of 10^6 doubles, {method}", f"nine deciles of 10^6: {method}", milliseconds_in_all, "ms", bar,
                  False, "numpy's sort, not private", "numpy: sort of 10^6", least_ratio=ratio, ratio_bar="at most 2 times")
    title, what = "nine deciles in 20 groups, 10^8 rows of Parquet, threads: 2", "quantile parquet tamis"
    yield Row("quantile", title, what, seconds, "s", None, False, "DuckDB's quantile_cont, not private", "quantile parquet quantile_cont",
              least_ratio=1, ratio_bar="no slower")
    yield Row("quantile", title, what, seconds, "s", None, False, "DuckDB's approx_quantile, not private",
              "quantile parquet approx_quantile")
    yield Row("quantile", f"{title}, peak memory", what, megabytes, "MB", 1000, False, "DuckDB's quantile_cont, not private",
              "quantile parquet quantile_cont")


def draw_rows(method, size, bar, peer):
    what = f"draw, {method}, {size}"
    beside = ("R's sampling", f"R: {what}") if peer else ("the bar", None, bar)
    yield Row("survey", what, what, drawn, "s", bar, False, *beside)


# `tamis draw` on a frame of a million units
DRAWS = {
    "srs": "--design srs --sample 10000",
    "bernoulli": "--design bernoulli --rate 1/100",
    "poisson": "--design poisson --size size --sample 10000",
    "systematic": "--design systematic --size size --sample 10000",
    "pivotal": "--design pivotal --size size --sample 10000",
    "strata": "--design srs --strata stratum --sample 10",
    "clusters": "--design srs --cluster stratum --sample 10",
}


def ht_rows():
    """The whole window at the size of a country, the proof that no total inside it is worse included; and its growth."""
    def line(what, noise, N, n, eps):
        return f"{what} of a Horvitz-Thompson total, {noise} noise, N={N} n={n} eps={eps}"
    country = 330000000
    for n, bar in ((1000, None), (10000, None), (100000, None), (1000000, 0.1)):
        yield Row("ht", f"delta of a total, N=3.3e8, n={n}", line("delta", "no", country, n, "1e-4"), seconds, "s", bar,
                  False, "the bar at n=10^6", None, 0.1)
    yield Row("ht", "the same, as a power of n", "growth from n=10^3 to 10^6", lambda row: row["exponent"], "", None, False,
              "sqrt n", None, 0.5)
    for what, noise, bar in (("delta", "Laplace", 0.3), ("delta", "Gaussian", 1), ("scale", "Laplace", 2),
                             ("scale", "Gaussian", 2)):
        yield Row("ht", f"{what} of a total, {noise} noise, N=3.3e8, n=10^6", line(what, noise, country, 1000000, "1e-4"),
                  seconds, "s", bar, False, "the bar", None, bar)
    for noise in ("no", "Laplace"):
        yield Row("ht", f"delta of a total, {noise} noise, N=4000, n=400", line("delta", noise, 4000, 400, "0.01"), seconds,
                  "s", None, False, "the direct way, no noise, not certified",
                  "the direct way, uncertified, N=4000 n=400 eps=0.01")


def anonymous_rows():
    """One anonymised bit over all compositions of the others, delta = 1e-6."""
    billion = "eps n=1000000000 local=1.09861"
    yield Row("anonymous", "eps of 10^9 anonymised bits, q=1/4", billion, seconds, "s", 1, False, "the bar", None, 1)
    yield Row("anonymous", "the same, its two ends apart", billion, lambda row: 100 * row["gap"], "%", 0.5, False, "the bar", None, 0.5)
    for local in (1, 2):
        yield Row("anonymous", f"eps of 1000 bits over that of the blanket, local eps {local}", f"eps n=1000 local={local}",
                  lambda row: row["ratio"], "", 0.86, False, "the bar", None, 0.86)


def interval_rows():
    """The statistics of a release: thousands of cells in a second or so."""
    for what, bar in (("reach of an error: Student's and one noise", 1), ("reach of an error: Student's and 20 noises", None),
                      ("interval of a ratio", None), ("interval of a count over 3 strata", None),
                      ("exact interval of a count, N=6194 n=200", 1), ("exact interval of a count, N=6194 n=200, certified", None),
                      ("exact interval of a count, N=1e9 n=5e8, certified", None)):
        yield Row("interval", what, what, milliseconds, "ms", bar, False, "the bar" if bar else "no peer", None, bar)


SMALL = "hypergeometric tail, N=3.3e8 n=1e6 K=1e7, 4 sd below the mean"
MIDDLE = "hypergeometric tail, N=3.3e8 n=1e6 K=N/2, at the mean"
LARGE = "hypergeometric tail, N=1e12 n=K=N/2, at the mean"

def accountant_rows():
    """eps of 1000 different releases at delta 1e-6 and 1e-18, certified; and lists without closed forms."""
    what = "compose 1000 releases"
    yield Row("accountant", f"{what}, eps at two deltas", what, milliseconds, "ms", 130, False, "dp_accounting, PLD",
              f"dp_accounting: {what}", least_ratio=20)
    yield Row("accountant", f"{what}, beside another", what, milliseconds, "ms", None, False,
              "prv_accountant, one delta, eps 4 % wide", f"prv_accountant: {what}")
    yield Row("accountant", f"{what}, width of eps / 1e-9", what, lambda row: row["width"] / 1e-9, "", 1, False,
              "the bar", None, 1)
    yield Row("accountant", f"{what}, peak memory", what, megabytes, "MB", 200, False, "the bar", None, 200)
    mixed = "compose amplified, discrete and given laws"
    yield Row("accountant", mixed, mixed, milliseconds, "ms", None, False, "no peer", None)
    yield Row("accountant", f"{mixed}, width of eps / 1e-3", mixed, lambda row: row["width"] / 1e-3, "", 1, False,
              "the bar", None, 1)


def randomize_rows():
    """Lies on bits: with few binary digits, with many, and fractions that have no end of them."""
    def row(one, zero, bar, beside, peer, **more):
        title = f"randomize bits, lie {one}" + (f" and {zero}" if one != zero else "")
        return Row("randomize", title, f"randomize bits, lies {one} and {zero}", lambda r: rate(r) / 1000, "Gbit/s", bar, True, beside,
                   peer, **more)
    for lie, bar in (("1/4", 5), ("1/3", 1)):
        yield row(lie, lie, bar, "opendp", f"opendp: randomize bits, lie {lie}")
        yield row(lie, lie, None, "numpy, inexact", f"numpy: randomize bits, lie {lie}")
    for one, zero, bar in (("3/16", "3/16", 5), ("1/2", "1/16", 5), ("16385/65536", "16385/65536", 1), ("1/2", "1/55", 1),
                           ("268941/1000000", "268941/1000000", 1)):
        yield row(one, zero, bar, "the bar", None, limit=bar)


def tally_rows():
    """Packed reports, from a file in the page cache; the bar is half of what reading the same file takes."""
    for bits in (1, 8, 64, 256):
        what = f"tally reports of {bits} bits"
        yield Row("tally", what, what, lambda r: rate(r) / 1000, "GB/s", None, True, "reading alone", f"read reports of {bits} bits",
                  least_ratio=0.5, ratio_bar="half")
        if bits > 1:
            yield Row("tally", f"{what}, beside another", what, lambda r: rate(r) / 1000, "GB/s", None, True, "numpy", f"numpy: {what}")


ROWS = [
    *noise_rows("Laplace,", "scale 1", 60, "Laplace,"),
    *(row for scale in ("10", "1000", "1e6") for row in noise_rows("Laplace,", f"scale {scale}", 30, "Laplace,")),
    *(row for sigma in ("1", "10", "1000", "1e6") for row in noise_rows("Gaussian,", f"sigma {sigma}", 20, "normal,")),
    *randomize_rows(),
    *tally_rows(),
    Row("num", "hypergeometric tail, K=10^7, 4 sd out", SMALL, milliseconds, "ms", 1, False, "scipy, not certified", "scipy: " + SMALL),
    Row("num", "hypergeometric tail, K=N/2, at the mean", MIDDLE, milliseconds, "ms", 2, False, "scipy, not certified", "scipy: " + MIDDLE),
    Row("num", "the same at N=10^12, n=N/2", LARGE, milliseconds, "ms", None, False, "scipy, not certified", "scipy: " + LARGE),
    Row("smooth", "smooth sensitivity of the median, 10^7 doubles", "smooth sensitivity of the median, n=10000000", milliseconds, "ms", 60, False,
        "the bar", None, 60),
    *accountant_rows(),
    *engine_rows("coded", "the demo's query, 10^7 rows of Parquet"),
    *engine_rows("distinct", "the same, all values different"),
    *sums_rows(),
    *quantile_rows(),
    *(row for method in ("srs", "bernoulli", "poisson", "systematic", "tille", "stratified")
      for row in draw_rows(method, "10000 of 1000000", 1, False)),
    *draw_rows("pivotal", "10000 of 1000000", 1, True),
    *draw_rows("sampford", "1000 of 100000", 5, True),
    *draw_rows("conditional_poisson", "1000 of 100000", 5, False),
    *draw_rows("conditional_poisson", "1000 of 1000000", 20, False),
    *(Row("survey", f"tamis draw, {title}, 10000 of 1000000, CSV to CSV", f"tamis draw, {title}", seconds, "s", 1.5, False,
          "the bar", None, 1.5) for title in DRAWS),
    *draw_rows("sampford", "20 of 500", None, True),
    *draw_rows("conditional_poisson", "200 of 5000", None, True),
    *ht_rows(),
    *anonymous_rows(),
    *interval_rows(),
    *(Row("postgres", f"PostgreSQL, 20 weighted totals, {n} process{'es' if n > 1 else ''}", f"postgres totals tamis, threads {n}", seconds,
          "s", None, False, "its own sums of doubles", f"postgres totals plain, threads {n}", least_ratio=0.5) for n in (1, 2)),
    Row("ledger", "ledger: charges, each durable", "ledger charges", a_second, "/s", None, True, "the disk: 4 kB written and waited for, up to 1000",
        "ledger disk", least_ratio=0.8, ratio_bar="1000 /s or the disk's own rate", beside_value=lambda row: min(a_second(row), 1000)),
    Row("ledger", "ledger: charges in memory", "ledger charges in memory", a_second, "/s", 1000, True, "the bar", None, 1000),
    Row("ledger", "ledger of 10^4 charges, opened", "ledger opened", seconds, "s", None, False, "no peer", None),
    Row("study", "the paper's 13 figures and table, 1000 runs, two threads", "figures and table", seconds, "s", 60, False, "the bar", None, 60),
    Row("study", "Figure 8, one run of all rates and epsilons, three variants", "figure 8", milliseconds, "ms", None, False, "R, one variant",
        "R: figure 8", least_ratio=50),
    Row("startup", "start-up: tamis --version", "startup", milliseconds, "ms", 10, False, "import opendp", "startup opendp"),
    Row("startup", "start-up: tamis --version", "startup", milliseconds, "ms", None, False, "/bin/true", "startup true"),
    Row("page", "page: start of the server to its first screen", "page first screen", milliseconds, "ms", 200, False, "the bar", None, 200),
    *(Row("page", f"page: live preview, {name}, median", f"page preview {name}", milliseconds, "ms", bar, False, "the bar", None, bar)
      for name, bar in (("api", 100), ("schools", 100), ("households", 300), ("municipalities", 300), ("incomes", 300))),
    Row("startup", "tamis check of the schools", "check", milliseconds, "ms", 50, False, "the bar", None, 50),
    *(row for source in ("CSV", "CSV in memory", "Parquet", "PostgreSQL") for row in (
        Row("units", f"release of 10^6 rows of {source}, three for each id, processor", f"units release of ids, {source}", seconds, "s", None,
            False, "without ids", f"units release of rows, {source}", least_ratio=1 / 3, ratio_bar="at most 3 times"),
        Row("units", f"the same of {source}, peak memory", f"units release of ids, {source}", megabytes, "MB", None, False, "without ids",
            f"units release of rows, {source}"))),
    Row("units", "release of 12 10^6 rows of Parquet, three for each id, peak memory", "units release of many ids, Parquet", megabytes, "MB",
        1500, False, "the bar", None, 1500),
    Row("units", "tamis compute, a line of 16 MB, peak memory", "units compute line", megabytes, "MB", 250, False, "the bar", None, 250),
    Row("startup", "peak memory of the demo", "memory demo", megabytes, "MB", 100, False, "the bar", None, 100),
    Row("python", "Python: import tamis", "python: import tamis", milliseconds, "ms", 50, False, "import opendp", "python: import opendp", least_ratio=40),
    Row("python", "Python: what it adds to a release of the demo", "python: added to a release of the demo", milliseconds, "ms", 10, False,
        "the library's part", "python: the library's part of it"),
    *(row for name in ("pyarrow", "Polars", "pandas") for row in (
        Row("python", f"release of 10^7 rows, 20 totals, {name}, processor", f"python: 10^7 rows, {name}", seconds, "s", None, False,
            "arrays, as from C", "python: 10^7 rows, arrays", least_ratio=1 / 1.1, ratio_bar="at most 1.1 times"),
        Row("python", f"the same of {name}, memory above the data, in parts of them", f"python: 10^7 rows, {name}", lambda row: row["copied"], "", 0.1,
            False, "the bar", None, 0.1))),
    *(Row("python", f"release of 10^5 cells into {name}", f"python: 10^5 cells into {name}", seconds, "s", 0.5, False, "the bar", None, 0.5)
      for name in ("polars", "pandas")),
    Row("spark", "Spark: 20 weighted totals of 10^7 rows, tamis's statement, processor", "spark: tamis", seconds, "s", None, False,
        "the same 122 sums in doubles", "spark: doubles", least_ratio=1 / 1.5, ratio_bar="at most 1.5 times"),
    Row("spark", "Spark: the whole release, processor", "spark: whole release, processor", seconds, "s", None, False, "wall",
        "spark: whole release, wall"),
    Row("spark", "DuckDB asked in SQL: the same totals, processor", "spark: duckdb, tamis", seconds, "s", None, False,
        "DuckDB's sums in doubles", "spark: duckdb, doubles"),
    Row("spark", "the native engine: the whole release, processor", "spark: native, whole release", seconds, "s", None, False,
        "DuckDB asked in SQL", "spark: duckdb, tamis"),
    Row("r", "R: what it adds to a release of the demo", "r: added to a release of the demo", milliseconds_in_all, "ms", 10, False,
        "the library's part", "r: the library's part of it"),
    Row("r", "release of 10^5 cells into a data frame of R", "r: 10^5 cells into a data frame", seconds, "s", 0.5, False, "the bar", None, 0.5),
]

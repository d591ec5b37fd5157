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
    least_ratio: float = None  # a second bar: this many times the peer

    def filled(self, found):
        ours, other = found.get(self.what), found.get(self.beside_what)
        measured = self.value(ours) if ours else None
        beside = self.value(other) if other else self.limit
        ratio = None
        if measured and beside:
            ratio = measured / beside if self.more else beside / measured
        bars, met = [], None
        if self.bar is not None:
            bars.append(f"{'>=' if self.more else '<='} {self.bar:g} {self.unit}")
            met = None if measured is None else (measured >= self.bar if self.more else measured <= self.bar)
        if self.least_ratio is not None:
            bars.append(f"{self.least_ratio:g} times")
            met = met if ratio is None else met is not False and ratio >= self.least_ratio
        return {"what": self.title, "measured": measured, "unit": self.unit, "bar": ", ".join(bars) or "-", "met": met,
                "beside": self.beside, "beside_measured": beside, "ratio": ratio}


SMALL = "hypergeometric tail, N=3.3e8 n=1e6 K=1e7, 4 sd below the mean"
MIDDLE = "hypergeometric tail, N=3.3e8 n=1e6 K=N/2, at the mean"
LARGE = "hypergeometric tail, N=1e12 n=K=N/2, at the mean"

def noise_rows():
    """Against OpenDP, which is exact too; against numpy, which is not; and against AES alone, of which noise is made."""
    rows = []
    for scale in ("1", "10", "1000", "1e6"):
        what = f"discrete Laplace, scale {scale}"
        rows.append(Row("noise", what, what, rate, "M/s", 60 if scale == "1" else 30, True, "opendp, exact",
                        "opendp: " + what, least_ratio=250))
        rows.append(Row("noise", "the same", what, rate, "M/s", None, True, "diffprivlib, one by one", "diffprivlib: " + what))
        rows.append(Row("noise", "the same", what, rate, "M/s", None, True, "numpy, rounded floats",
                        f"numpy: rounded Laplace, scale {scale}"))
    what = "discrete Laplace, scale 2^40"
    rows.append(Row("noise", what, what, rate, "M/s", 20, True, "", None))
    for scale in ("1", "10", "1000", "1e6"):
        what = f"discrete Gaussian, sigma {scale}"
        rows.append(Row("noise", what, what, rate, "M/s", 20, True, "opendp, exact", "opendp: " + what, least_ratio=250))
        rows.append(Row("noise", "the same", what, rate, "M/s", None, True, "numpy, rounded floats",
                        f"numpy: rounded normal, sigma {scale}"))
    for what in ("discrete Laplace, scale 1", "discrete Gaussian, sigma 1"):
        rows.append(Row("noise", what + ", 8 bytes each", what, bytes_rate, "MB/s", None, True, "AES-256-CTR alone",
                        "random bytes by AES-256-CTR"))
    return rows


ROWS = [
    *noise_rows(),
    Row("num", SMALL, SMALL, milliseconds, "ms", 1, False, "scipy, not certified", "scipy: " + SMALL),
    Row("num", MIDDLE, MIDDLE, milliseconds, "ms", 2, False, "scipy, not certified", "scipy: " + MIDDLE),
    Row("num", LARGE, LARGE, milliseconds, "ms", None, False, "scipy, not certified", "scipy: " + LARGE),
    Row("startup", "start-up: tamis --version", "startup", milliseconds, "ms", 10, False, "import opendp", "startup opendp"),
    Row("startup", "the same", "startup", milliseconds, "ms", None, False, "/bin/true", "startup true"),
    Row("startup", "peak memory of the demo", "memory demo", megabytes, "MB", 100, False, "the bar", None, 100),
]

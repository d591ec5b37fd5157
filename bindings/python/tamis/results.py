"""Results: tables with a readable repr, an HTML table for notebooks, and conversion to data frames."""
from __future__ import annotations

import functools
import html
import importlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import _tamis
from .amounts import Json, Path
from .errors import ErrorItem, call

_FIXED = ("at", "line", "estimate", "se", "sampling_se", "noise_sd", "lower", "upper", "confidence", "df", "cv", "quality", "notes")


@dataclass(frozen=True)
class Bound:
    """An enclosure of a number. For a claimed loss rely on `upper`; for what is left, on `lower`."""

    lower: float
    upper: float


def bounds_of(value: Any) -> Any:
    """{"lower", "upper"} becomes a Bound, at any depth."""
    if isinstance(value, dict):
        if set(value) == {"lower", "upper"}:
            return Bound(*(float("inf") if x in (None, "inf") else float(x) for x in (value["lower"], value["upper"])))
        return {k: bounds_of(v) for k, v in value.items()}
    return [bounds_of(v) for v in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Result:
    """One number with its errors."""

    statistic: str
    column: str | None
    group: dict[str, str]
    where: str | None
    at: float | None
    line: float | None
    estimate: float | None
    se: float | None
    sampling_se: float | None
    noise_sd: float | None
    lower: float | None
    upper: float | None
    confidence: float | None
    df: float | None
    cv: float | None
    quality: str | None
    notes: tuple[str, ...] = field(default=())


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install {name}") from None


class Table:
    """Columns of equal length. `len`, iteration and indexing are by row."""

    def __init__(self, columns: list[tuple[str, list[Any]]]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0][1]) if self._columns else 0

    def to_dicts(self) -> list[Json]:
        """One dict per row."""
        return [{name: values[i] for name, values in self._columns} for i in range(len(self))]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_dicts())

    def __getitem__(self, i: int) -> Any:
        return list(self)[i]

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _module("pyarrow").table({name: values for name, values in self._columns})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _module("pandas").DataFrame(dict(self._columns))

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _module("polars").DataFrame(dict(self._columns), strict=False)

    def _summary(self) -> str:
        return ""

    def _shown_columns(self) -> list[tuple[str, list[Any]]]:
        return [(name, values[:60]) for name, values in self._columns if any(v is not None for v in values)]

    def __repr__(self) -> str:
        columns = [[name, *(_text(v) for v in values)] for name, values in self._shown_columns()]
        wide = [max(map(len, c)) for c in columns]
        lines = ["  ".join(text.rjust(w) for text, w in zip(row, wide)) for row in zip(*columns)]
        return "\n".join(lines + ([f"and {len(self) - 60} more rows"] if len(self) > 60 else []))

    def _html_columns(self) -> list[tuple[str, list[Any]]]:
        return self._shown_columns()

    def _html_notes(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        """A table of at most 60 rows, without scripts and colours of its own."""
        shown = self._html_columns()
        head = "".join(f"<th>{html.escape(name)}</th>" for name, _ in shown)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_text(values[i]))}</td>" for _, values in shown) + "</tr>"
                       for i in range(min(len(self), 60)))
        more = f"<p>and {len(self) - 60} more rows</p>" if len(self) > 60 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}{self._html_notes()}{self._summary()}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.6g}"


class Results(Table):
    """The numbers of a release or of an estimate."""

    def __init__(self, made: object) -> None:
        self._made = made

    @functools.cached_property
    def _columns(self) -> list[tuple[str, list[Any]]]:  # type: ignore[override]
        return call(_tamis.columns, self._made)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return call(_tamis.arrow, self._made)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _module("pyarrow").table(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return self.to_arrow().to_pandas() if importlib.util.find_spec("pyarrow") else super().to_pandas()

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _module("polars").DataFrame(self)

    def __iter__(self) -> Iterator[Result]:
        return (self._result(row) for row in self.to_dicts())

    def __getitem__(self, i: int) -> Result:
        rows = self.to_dicts()
        return self._result(rows[i])

    def _html_columns(self) -> list[tuple[str, list[Any]]]:
        """Estimate ± se, and the interval in one column; notes are below the table."""
        some = self._shown_columns()
        left_out = ("estimate", "se", "sampling_se", "noise_sd", "lower", "upper", "confidence", "df", "cv", "quality", "notes")
        rows = [self._result({name: values[i] for name, values in self._columns}) for i in range(min(len(self), 60))]
        made = [(name, values) for name, values in some if name not in left_out]
        made += [("estimate", [r.estimate for r in rows]), ("± se", [r.se for r in rows]),
                 ("interval", [None if r.lower is None else f"{_text(r.lower)} to {_text(r.upper)}" for r in rows])]
        return made + [(name, values) for name, values in some if name == "quality"]

    def _html_notes(self) -> str:
        notes = dict.fromkeys(n for row in self._shown_columns() if row[0] == "notes" for cell in row[1] if cell for n in cell.split("; "))
        return f"<ul>{''.join(f'<li>{html.escape(n)}</li>' for n in notes)}</ul>" if notes else ""

    def _result(self, row: Json) -> Result:
        notes = row["notes"]
        groups = list(row)[3:len(row) - len(_FIXED)]
        fixed = {name: row[name] for name in _FIXED[:-1]}
        return Result(row["statistic"], row["column"], {g: row[g] for g in groups if row[g] is not None}, row["where"], **fixed,
                      notes=() if notes is None else tuple(notes.split("; ")))

    def plot(self, statistic: str | None = None, *, column: str | None = None, ax: Any | None = None) -> Any:
        """Estimates with their intervals, by matplotlib: one panel for each statistic of each column, as a list of Axes; all in
        `ax`, if it is given, which is returned."""
        chosen = [r for r in self if r.estimate is not None and statistic in (None, r.statistic) and column in (None, r.column)]
        panels: dict[str, list[Result]] = {}
        for r in chosen:
            panels.setdefault(f"{r.statistic} of {r.column or 'units'}" if ax is None else "", []).append(r)
        if not panels:
            raise ValueError("plot: there is no estimate to show")
        if ax is not None:
            _panel(ax, panels[""], lambda r: [f"{r.statistic} of {r.column or 'units'}"])
            return ax
        figure = _module("matplotlib.pyplot").figure(figsize=(6, 0.6 * len(panels) + 0.32 * len(chosen) + 0.4), layout="constrained")
        axes = figure.subplots(len(panels), squeeze=False, height_ratios=[len(p) + 1 for p in panels.values()])[:, 0]
        for one, (title, results) in zip(axes, panels.items()):
            _panel(one, results, lambda r: [])
            one.set_title(title, loc="left", fontsize="medium")
        return list(axes)


def _panel(axes: Any, results: list[Result], first: Callable[[Result], list[str]]) -> None:
    for place, r in enumerate(results):
        if r.lower is not None and r.upper is not None:
            axes.plot([r.lower, r.upper], [place, place], color="gray")
        axes.plot([r.estimate], [place], "o", color="black")
    names = [", ".join([*first(r), *r.group.values(), *([] if r.at is None else [f"at {r.at:g}"])]) for r in results]
    axes.set_yticks(range(len(results)), names)
    axes.set_ylim(len(results) - 0.4, -0.6)


class Release(Results):
    """A protected release."""

    def __init__(self, made: object, folder: str | None) -> None:
        super().__init__(made)
        self.repeated: bool = call(_tamis.release_repeated, made)
        self.folder = folder

    @functools.cached_property
    def facts(self) -> Json:
        """release.json, with Bounds."""
        found: Json = bounds_of(json.loads(self.to_json()))
        return found

    @property
    def survey(self) -> str:
        """The survey, which has one account."""
        name: str = self.facts["survey"]
        return name

    @property
    def guarantee(self) -> Json:
        """What is promised, and to whom: docs/settings.md."""
        found: Json = self.facts["guarantee"]
        return found

    @property
    def spent(self) -> Json:
        """What the account has spent in all, as Bounds; rely on `upper`."""
        found: Json = self.facts["spent"]
        return found

    @property
    def left(self) -> Json:
        """What it may still spend, as Bounds; rely on `lower`."""
        found: Json = self.facts["left"]
        return found

    @property
    def entry(self) -> int:
        """The number of the charge in the ledger."""
        number: int = (self.facts["ledger"] or {}).get("entry", 0)
        return number

    @property
    def warnings(self) -> list[str]:
        """What readers of the release must know."""
        found: list[str] = self.facts["warnings"]
        return found

    def to_json(self) -> str:
        """release.json."""
        return call(_tamis.release_text, self._made, "json")

    def to_csv(self) -> str:
        """release.csv."""
        return call(_tamis.release_text, self._made, "csv")

    def report(self) -> str:
        """report.html."""
        return call(_tamis.release_text, self._made, "report")

    def certificate(self) -> str:
        """certificate.json."""
        return call(_tamis.release_text, self._made, "certificate")

    def measurements(self) -> str:
        """measurements.json: the noisy integers with their exact laws."""
        return call(_tamis.release_text, self._made, "measurements")

    def registry(self) -> str:
        """registry.yaml."""
        return call(_tamis.release_text, self._made, "registry")

    def save(self, folder: Path, *, sign: Path | None = None) -> None:
        """Writes the folder of the release, complete or not at all; nothing is charged."""
        call(_tamis.release_save, self._made, os.fspath(folder), None if sign is None else os.fspath(sign))

    def files(self) -> dict[str, str | bytes]:
        """The files of the folder, by their names: texts, and the bytes of release.xlsx."""
        import pathlib
        import tempfile
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place, "release")
            self.save(folder)
            return {file.name: file.read_bytes() if file.suffix == ".xlsx" else file.read_text("utf-8") for file in sorted(folder.iterdir())}

    def __repr__(self) -> str:
        return call(_tamis.release_text, self._made, "text")

    def _summary(self) -> str:
        spent = ", ".join(f"{k} {v.upper:g}" for k, v in self.spent.items() if isinstance(v, Bound) and v.upper)
        left = ", ".join(f"{k} {v.lower:g}" for k, v in (self.left or {}).items() if isinstance(v, Bound) and v.lower)
        warned = "".join(f"<p><b>{html.escape(w)}</b></p>" for w in self.warnings)
        return f"<p>Protected. Spent in all: {html.escape(spent)}; left: {html.escape(left or 'nothing')}.</p>{warned}"


class Estimate(Results):
    """The same statistics without protection: for internal use only."""

    @functools.cached_property
    def facts(self) -> Json:
        """Everything; `columns` has how many values were missing or out of bounds."""
        found: Json = bounds_of(json.loads(self.to_json()))
        return found

    def to_json(self) -> str:
        """Everything, as `tamis estimate --json` prints it."""
        return call(_tamis.estimate_text, self._made, "json")

    def to_csv(self) -> str:
        """The estimates as CSV."""
        return call(_tamis.estimate_text, self._made, "csv")

    def __repr__(self) -> str:
        return "Not protected: for use inside only.\n" + call(_tamis.estimate_text, self._made, "text")

    def _summary(self) -> str:
        return "<p><b>Not protected: for use inside only.</b></p>"


class Preview(Table):
    """What a plan would release: expected errors, guarantee and cost. No data were read."""

    def __init__(self, made: object, refused: str | None) -> None:
        self._made = made
        facts: Json = json.loads(call(_tamis.preview_text, made, "json"))
        self.facts = facts
        self.refused = refused
        self.would_spend: Json = bounds_of(facts["would_spend"])
        self.left: Json | None = bounds_of(facts["left"])
        self.guarantee: Json = bounds_of(facts["guarantee"])
        self.assumed: list[Any] = facts["assumed"]
        self.warnings: list[str] = facts["warnings"]
        rows = [{**s, "by": ", ".join(s["by"]) or None} for s in facts["statistics"]]
        names = ("statistic", "column", "by", "at", "noise_sd", "sampling_se", "se", "cv", "quality")
        super().__init__([(name, [s.get(name) for s in rows]) for name in names])

    def compare(self) -> Json:
        """The errors under other strategies: docs/accuracy.md."""
        facts: Json = json.loads(call(_tamis.preview_text, self._made, "compare"))
        return facts

    def all(self) -> str:
        """The full text of the preview."""
        return call(_tamis.preview_text, self._made, "all")

    def __repr__(self) -> str:
        return call(_tamis.preview_text, self._made, "short").replace("--all", ".all()") + (f"\nRefused: {self.refused}\n" if self.refused else "")

    def _summary(self) -> str:
        return f"<p><b>Refused: {html.escape(self.refused)}</b></p>" if self.refused else ""


def _flat(row: Json, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers and texts of a result; those of an interval have its names, of other parts the part's name before them."""
    for name, value in row.items():
        if isinstance(value, Bound):
            yield from ((f"{prefix}{name}_lower", value.lower), (f"{prefix}{name}_upper", value.upper))
        elif isinstance(value, dict):
            yield from _flat(value, prefix if name == "interval" else f"{prefix}{name}_")
        elif not isinstance(value, list):
            yield prefix + name, value


class Answer(Table):
    """An answer of a call beside releases: `facts` is all of it, the rows of the table are its results."""

    def __init__(self, json_text: str, shown: str | None = None) -> None:
        self._json, self._shown = json_text, shown
        self.facts: Json = bounds_of(json.loads(json_text))
        found = self.facts.get("results")
        rows = [dict(_flat(r)) for r in found if isinstance(r, dict)] if isinstance(found, list) else []
        super().__init__([(name, [r.get(name) for r in rows]) for name in dict.fromkeys(n for r in rows for n in r)])

    def to_json(self) -> str:
        """Everything, as the command's --json prints it."""
        return self._json

    def __repr__(self) -> str:
        return self._shown if self._shown is not None else super().__repr__()


@dataclass(frozen=True)
class Verification:
    """The problems found; true if there are none."""

    ok: bool
    problems: list[ErrorItem]
    guarantee: Json | None
    signature: str | None

    def __bool__(self) -> bool:
        return self.ok


def verification_of(ok: bool, text: str) -> Verification:
    facts: Json = json.loads(text)
    problems = [ErrorItem(p.get("field"), p["message"]) for p in facts["problems"]]
    return Verification(ok, problems, bounds_of(facts.get("guarantee")), facts.get("signature"))

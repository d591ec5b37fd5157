"""Plans and surveys: the verbs check, release and estimate."""
from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _tamis
from .amounts import Amount, Json, Path, given, value_of
from .columns import ColumnLike, column_of
from .designs import Design
from .errors import (InvalidDataError, InvalidError, InvalidPlanError, NewLedgerWarning, RepeatedReleaseWarning, TamisWarning, call,
                     name_in_memory, warn)
from .libraries import files_are_read
from .progress import Progress, timed, watching
from .results import Estimate, Preview, Release
from .rows import Rows, is_path, is_spark, source_of
from . import statistics as _statistics
from .statistics import By, Statistic

_KEPT_IF_SAME, _KEPT, _PAID = 0, 1, 2  # tamis_repeat


def _path(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _check_resources(threads: int, memory: int) -> None:
    if threads < 0 or memory < 0:
        raise InvalidError("threads, memory: must be at least 0")


class Plan:
    """What is released, about whom, and with how much privacy. Plans are immutable; `replace` returns a new one.

    Examples
    --------
    >>> plan = Plan("schools", data="schools 2000", design={"srs": {"population": 400, "sample": 40}}, unit="school",
    ...             columns={"enroll": (0, 4000)}, statistics=[{"total": "enroll"}], epsilon=1, budget=2, ledger="s.ledger")
    >>> plan.survey, plan.columns_read
    ('schools', ['enroll'])
    """

    def __init__(self, survey: str, *, design: Design | Mapping[str, Any],
                 columns: Mapping[str, ColumnLike | Mapping[str, Any]] | None = None,
                 statistics: Sequence[Statistic | Mapping[str, Any]], epsilon: Amount | None = None, delta: Amount | None = None,
                 rho: Amount | None = None, outsider: Amount | None = None, insider: Amount | None = None, unit: str = "unit", id: str | None = None, rows_per_unit: int | None = None,
                 protect: str | None = None, given: str | None = None, secret_sample: bool | None = None,
                 design_variables: str | None = None, data: str | None = None, source: Mapping[str, Any] | None = None,
                 ledger: Path | Mapping[str, Any] | None = None, budget: Amount | Mapping[str, Amount] | None = None,
                 calibrate: Mapping[str, Any] | None = None, postprocess: Mapping[str, Any] | None = None,
                 wave: str | Mapping[str, Any] | None = None, title: str | None = None) -> None:
        if data is not None and source is not None:
            raise InvalidPlanError("source: give either data, the name of rows in memory, or source", code="plan")
        self._load(_plan_dict(survey, design=design, columns=columns, statistics=statistics, epsilon=epsilon, delta=delta, rho=rho,
                              outsider=outsider, insider=insider, unit=unit, id=id, rows_per_unit=rows_per_unit, protect=protect, given_=given,
                              secret_sample=secret_sample, design_variables=design_variables,
                              source={"caller": survey if data is None else data} if source is None else source, ledger=ledger,
                              budget=budget, calibrate=calibrate, postprocess=postprocess, wave=wave, title=title))

    def _load(self, plan: Json) -> None:
        self._dict: Json | None = plan
        self._origin: tuple[str, str] = (name_in_memory(plan.get("survey")), json.dumps(plan))
        self._capsule = call(_tamis.plan_parse, *self._origin)

    @classmethod
    def read(cls, path: Path) -> Plan:
        """Reads a plan from a YAML or JSON file."""
        made = cls.__new__(cls)
        made._dict = None
        made._origin = (os.fspath(path), "")
        made._capsule = call(_tamis.plan_read, os.fspath(path))
        return made

    @classmethod
    def parse(cls, text: str, *, name: str = "plan") -> Plan:
        """Reads a plan from a text; `name` opens its errors and, as a path, says what files are relative to."""
        made = cls.__new__(cls)
        made._dict = None
        made._origin = (name, text)
        made._capsule = call(_tamis.plan_parse, name, text)
        if name == "plan":  # entries of the ledger have the name
            made._origin = (name_in_memory(made.survey), text)
            made._capsule = call(_tamis.plan_parse, *made._origin)
        return made

    @classmethod
    def from_dict(cls, plan: Mapping[str, Any]) -> Plan:
        """A plan from the keys of docs/plan.md."""
        made = cls.__new__(cls)
        made._load(value_of(dict(plan)))
        return made

    def to_json(self) -> str:
        """The library's own form, as certificates have it: equal plans have equal texts. Ledger and folders are left out."""
        return call(_tamis.plan_text, self._capsule, "json")

    def to_dict(self) -> Json:
        """The keys of the plan; of one that was read from a file, without ledger and folders."""
        made: Json = json.loads(self.to_json()) if self._dict is None else json.loads(json.dumps(self._dict))
        return made

    def to_yaml(self) -> str:
        """The plan as readable YAML."""
        return _yaml(self.to_dict(), 0)

    def replace(self, **changes: Any) -> Plan:
        """The same plan with other keys: epsilon, statistics, ... (those of Plan). Not of a plan that was read: change its file."""
        if self._dict is None:
            raise InvalidPlanError("replace: this plan was read from a file: change that, or use from_dict", code="plan")
        plan = self.to_dict()
        for name, value in changes.items():
            section = plan["privacy"] if name in _PRIVACY else plan
            key, written = _key(name, value)
            if value is None:
                section.pop(key, None)
            else:
                section[key] = written
        return Plan.from_dict(plan)

    @property
    def survey(self) -> str:
        """The name of the survey, which has one account."""
        name: str = json.loads(self.to_json())["survey"]
        return name

    @property
    def columns_read(self) -> list[str]:
        """The columns of the rows that the plan reads."""
        return list(dict.fromkeys(c["name"] for c in json.loads(call(_tamis.plan_text, self._capsule, "columns"))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        if self._dict is not None:
            return Plan.from_dict, (self._dict,)
        return (Plan.read, self._origin[:1]) if not self._origin[1] else (_parse, (self._origin[1], self._origin[0]))

    def __repr__(self) -> str:
        return f"<tamis.Plan of {self.survey!r}>"

    def check(self, *, ledger: Path | None = None, again: bool = False, new_account: str | None = None, advice: bool = True,
              progress: Progress = False) -> Preview:
        """What the plan would release, guarantee and cost. No data are read. If the ledger refuses, `.refused` says why."""
        with timed("check", self.survey), watching(progress) as watch:
            return Preview(*call(_tamis.preview, self._capsule, _path(ledger), again, new_account, not advice, watch))

    def release(self, data: Rows | None = None, folder: Path | None = None, *, ledger: Path | None = None, again: bool = False,
                same_rows: bool | None = None, rows_version: str | None = None, new_account: str | None = None,
                sign: Path | None = None, engine: str | None = None, threads: int = 0, memory: int = 0,
                progress: Progress = False) -> Release:
        """Releases the statistics. Repeating a release returns the stored numbers, with a RepeatedReleaseWarning, unless
        `again=True` pays for fresh ones.

        `data` may be a DataFrame of Spark, classic or Connect: Spark then computes the sums, and no row leaves it. `rows_version` names
        the snapshot that it reads, such as "delta@12"."""
        _check_resources(threads, memory)
        if again and same_rows:
            raise InvalidPlanError("again, same_rows: expected one of them", code="plan")
        with timed("release", self.survey), self._rows(data, rows_version) as source, watching(progress) as watch:
            made = call(_tamis.release, self._capsule, source, _path(folder), _path(ledger),
                        _PAID if again else _KEPT if same_rows else _KEPT_IF_SAME, rows_version, new_account, _path(sign), engine,
                        threads, memory, watch)
        release = Release(made, _path(folder))
        notice = call(_tamis.release_text, made, "notice").strip()
        remarks = [r for r in call(_tamis.release_text, made, "remarks").splitlines() if r]
        if notice and not any("rows in memory were not read" in r for r in remarks):  # which says it all, with the way on
            warn(notice, RepeatedReleaseWarning if release.repeated else NewLedgerWarning)
        for remark in remarks:
            warn(remark, RepeatedReleaseWarning if release.repeated else TamisWarning)
        return release

    def _rows(self, data: Rows | None, rows_version: str | None) -> contextlib.AbstractContextManager[object | None]:
        if is_spark(data):
            from .spark import spark_source  # imported when it is used
            return spark_source(data, self.columns_read, rows_version)
        return contextlib.nullcontext(self._source(data))

    def _source(self, data: Rows | None) -> object | None:
        if data is None:
            files_are_read()
        return source_of(data, self.columns_read) if data is not None else None

    def estimate(self, data: Rows | None = None, *, engine: str | None = None, threads: int = 0, memory: int = 0,
                 progress: Progress = False) -> Estimate:
        """The same statistics without protection, for internal use only."""
        _check_resources(threads, memory)
        if is_spark(data):
            raise InvalidDataError("data: an estimate needs rows, and those of Spark are not fetched; give some, for example data.toPandas()",
                                   code="source")
        with timed("estimate", self.survey), watching(progress) as watch:
            source = self._source(data)
            return Estimate(call(_tamis.estimate, self._capsule, source, engine, threads, memory, watch))


_PRIVACY = ("epsilon", "delta", "rho", "outsider", "insider", "unit", "id", "rows_per_unit", "protect", "given", "secret_sample", "design_variables")


def _parse(text: str, name: str) -> Plan:
    return Plan.parse(text, name=name)


def _key(name: str, value: Any) -> tuple[str, Any]:
    """A key of the plan and its value, from an argument of Plan."""
    if value is None:
        return name, None
    if name == "data":
        return "source", {"caller": value}
    if name == "columns":
        return name, {c: column_of(c, v) for c, v in value.items()}
    if name == "statistics":
        return name, [value_of(s if not isinstance(s, Mapping) else dict(s)) for s in value]
    if name == "budget" and not isinstance(value, Mapping):
        return name, {"epsilon": value_of(value)}
    return name, value_of(dict(value) if isinstance(value, Mapping) else value)


def _plan_dict(survey: str, *, given_: str | None, **keys: Any) -> Json:
    keys["given"] = given_
    if keys["rho"] is not None and keys["budget"] is not None and not isinstance(keys["budget"], Mapping):
        keys["budget"] = {"rho": keys["budget"]}
    elif keys["delta"] is not None and keys["budget"] is not None and not isinstance(keys["budget"], Mapping):
        raise InvalidPlanError('budget: give epsilon and delta, {"epsilon": 4, "delta": "1e-6"}', code="plan")
    plan: Json = {"tamis": 1, "survey": survey, "privacy": {}}
    for name, value in keys.items():
        key, written = _key(name, value)
        if written is not None:
            (plan["privacy"] if name in _PRIVACY else plan)[key] = written
    return plan


def _yaml(value: Any, depth: int) -> str:
    """Maps as blocks, all else as JSON, which is YAML."""
    lines = []
    for key, item in value.items():
        name = key if key.isidentifier() else json.dumps(key)
        if isinstance(item, dict) and item:
            lines.append(f"{'  ' * depth}{name}:\n{_yaml(item, depth + 1)}")
        elif isinstance(item, list) and item and all(isinstance(i, dict) for i in item):
            inside = "".join(f"{'  ' * (depth + 1)}- {json.dumps(i, ensure_ascii=False)}\n" for i in item)
            lines.append(f"{'  ' * depth}{name}:\n{inside}")
        else:
            lines.append(f"{'  ' * depth}{name}: {json.dumps(item, ensure_ascii=False)}\n")
    return "".join(lines)


class Survey:
    """Rows with their design, bounds, account and budget: several releases of one sample.

    `data` is rows in memory, or the path of a file. The account is the survey's name, never the frame.
    """

    def __init__(self, name: str, data: Rows, *, design: Design | Mapping[str, Any],
                 columns: Mapping[str, ColumnLike | Mapping[str, Any]], unit: str, ledger: Path,
                 budget: Amount | Mapping[str, Amount], **plan: Any) -> None:
        self.name = name
        self._data = data
        self._plan = {"design": design, "columns": columns, "unit": unit, "ledger": ledger, "budget": budget, **plan}
        if is_path(data):
            self._plan["source"] = {"file": os.path.abspath(os.fspath(data))}

    def plan(self, *statistics: Statistic | Mapping[str, Any], epsilon: Amount | None = None, rho: Amount | None = None,
             delta: Amount | None = None) -> Plan:
        """The plan of these statistics."""
        return Plan(self.name, statistics=statistics, epsilon=epsilon, rho=rho, delta=delta, **self._plan)

    def _rows(self) -> Rows | None:
        return None if is_path(self._data) else self._data

    def release(self, *statistics: Statistic | Mapping[str, Any], epsilon: Amount | None = None, rho: Amount | None = None,
                delta: Amount | None = None, folder: Path | None = None, **options: Any) -> Release:
        """Releases these statistics together: one charge. The options are those of Plan.release."""
        return self.plan(*statistics, epsilon=epsilon, rho=rho, delta=delta).release(self._rows(), folder, **options)

    def check(self, *statistics: Statistic | Mapping[str, Any], epsilon: Amount | None = None, rho: Amount | None = None,
              delta: Amount | None = None) -> Preview:
        """What these statistics would cost, and their expected errors."""
        return self.plan(*statistics, epsilon=epsilon, rho=rho, delta=delta).check()

    def estimate(self, *statistics: Statistic | Mapping[str, Any]) -> Estimate:
        """These statistics without protection, for internal use only."""
        return self.plan(*statistics, epsilon=1).estimate(self._rows())

    def total(self, column: str, *, epsilon: Amount, by: By | None = None, folder: Path | None = None, **more: Any) -> Release:
        """A release of one total."""
        return self.release(_statistics.total(column, by=by, **more), epsilon=epsilon, folder=folder)

    def mean(self, column: str, *, epsilon: Amount, by: By | None = None, folder: Path | None = None, **more: Any) -> Release:
        """A release of one mean."""
        return self.release(_statistics.mean(column, by=by, **more), epsilon=epsilon, folder=folder)

    def count(self, *, epsilon: Amount, by: By | None = None, folder: Path | None = None, **more: Any) -> Release:
        """A release of how many units there are, by groups."""
        return self.release(_statistics.count(by=by, **more), epsilon=epsilon, folder=folder)

    def share(self, condition: Mapping[str, Any], *, epsilon: Amount, by: By | None = None, folder: Path | None = None,
              **more: Any) -> Release:
        """A release of the share of units that fulfil a condition, {"status": "employed"}."""
        return self.release(_statistics.share(condition, by=by, **more), epsilon=epsilon, folder=folder)

    def ratio(self, of: str | Mapping[str, Any], to: str | Mapping[str, Any], *, epsilon: Amount, by: By | None = None,
              folder: Path | None = None, **more: Any) -> Release:
        """A release of the ratio of two totals."""
        return self.release(_statistics.ratio(of, to, by=by, **more), epsilon=epsilon, folder=folder)

    def table(self, columns: By, *, epsilon: Amount, folder: Path | None = None, **more: Any) -> Release:
        """A release of how many units are in each cell of a table."""
        return self.release(_statistics.table(columns, **more), epsilon=epsilon, folder=folder)

    def quantile(self, column: str, at: Sequence[Amount], *, epsilon: Amount, by: By | None = None, folder: Path | None = None,
                 **more: Any) -> Release:
        """A release of quantiles."""
        return self.release(_statistics.quantile(column, at, by=by, **more), epsilon=epsilon, folder=folder)

    def __repr__(self) -> str:
        return f"<tamis.Survey {self.name!r}, ledger {self._plan['ledger']!r}>"

    @property
    def left(self) -> Json:
        """What the survey may still spend; the whole budget before its first release."""
        from .ledger import Ledger
        ledger = self._plan["ledger"]
        path = ledger["file"] if isinstance(ledger, Mapping) else ledger
        if os.path.exists(path):
            found = Ledger(path).left(self.name, missing_ok=True)
            if found is not None:
                return found
        budget = self._plan["budget"]
        return {k: value_of(v) for k, v in (budget if isinstance(budget, Mapping) else {"epsilon": budget}).items()}

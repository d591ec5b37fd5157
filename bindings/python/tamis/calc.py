"""The calculator, verification, and small things."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _tamis
from .amounts import Json, Path, value_of
from .errors import ErrorItem, InvalidError, RefusedError, TamisError, UnableError, call
from .libraries import files_are_read
from .results import Release, Verification, bounds_of, verification_of
from .rows import Rows, exportable, is_path, schema_of


def compute(area: str, kind: str, **inputs: Any) -> Json:
    """One line of docs/compute.md: numbers go in as exact texts, real outputs are Bounds.

    >>> compute("amplification", "forward", N=100, n=1, eps="5", delta="0")["eps_pop"].upper < 0.906
    True
    """
    return compute_many([{"area": area, "kind": kind, "in": inputs}])[0]


def compute_many(requests: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Several requests, each {"area", "kind", "in"}."""
    return [_answer({"id": str(i), "area": r["area"], "kind": r["kind"], "in": _inputs(r["in"])}) for i, r in enumerate(requests)]


def _inputs(value: Any) -> Any:
    """Integers and yes or no stay what they are; other numbers become exact texts."""
    if isinstance(value, Mapping):
        return {k: _inputs(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_inputs(v) for v in value]
    return value if isinstance(value, (bool, int)) else value_of(value)


def _answer(request: Json) -> Json:
    answer = json.loads(call(_tamis.compute, json.dumps(request)))
    if "error" in answer:
        code, message = answer["error"]["code"], answer["error"]["message"]
        kinds: dict[str, type[TamisError]] = {"refused": RefusedError, "unable": UnableError, "system": TamisError}
        raise kinds.get(code, InvalidError)(message, code=code, errors=[ErrorItem(None, message)])
    made: Json = bounds_of(answer["out"])
    return made


def verify(release: Path | Release | Mapping[str, str | bytes], *, key: Path | None = None, frame: Path | None = None) -> Verification:
    """Recomputes every number of a release's guarantee; takes a folder, a Release, or {name of a file: text}."""
    options = [None if p is None else os.fspath(p) for p in (key, frame)]
    if isinstance(release, Release):
        release = dict(release.files())
    if isinstance(release, Mapping):
        files = [(name, text.encode() if isinstance(text, str) else bytes(text)) for name, text in release.items()]
        return verification_of(*call(_tamis.verify_texts, files, *options))
    return verification_of(*call(_tamis.verify, os.fspath(release), *options))


def init(data: Rows | Path, *, name: str | None = None, table: str | None = None) -> str:
    """A draft plan from the names and types alone of a file, or of rows in memory, whose name is `name`."""
    if is_path(data):
        files_are_read()
        return call(_tamis.init_file, os.fspath(data), table)
    data = exportable(data)
    return call(_tamis.init_schema, schema_of(data), name)


def explain(topic: str | None = None) -> str:
    """Settings and designs in plain words; without a topic the list of topics."""
    return call(_tamis.explain, topic)


def parts() -> dict[str, str | None]:
    """The versions of tamis and of the libraries that it uses."""
    made: dict[str, str | None] = json.loads(call(_tamis.parts))
    return made

"""Progress of long calls: a function of the caller, tqdm where it is installed, or a line on stderr every second."""
from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Watch: TypeAlias = Callable[[float | None, int], object]
Progress: TypeAlias = bool | Watch


@contextlib.contextmanager
def timed(what: str, survey: str) -> Iterator[None]:
    """Begin and end of a call in the log "tamis" at DEBUG; no values. Whoever wants to see them has imported `logging`: we do not."""
    logging = sys.modules.get("logging")
    if logging is None:
        yield
        return
    log, start = logging.getLogger("tamis"), time.monotonic()
    log.debug("%s of %s begins", what, survey)
    try:
        yield
    except BaseException as problem:
        log.debug("%s of %s: %s after %.3f s", what, survey, type(problem).__name__, time.monotonic() - start)
        raise
    log.debug("%s of %s: %.3f s", what, survey, time.monotonic() - start)


@contextlib.contextmanager
def watching(progress: Progress) -> Iterator[Watch | None]:
    """What the library calls during the work: a function, or None."""
    if not isinstance(progress, bool):
        if not callable(progress):
            raise TypeError("progress: expected True, False or a function of (share or None, rows)")
        yield progress
    elif not progress:
        yield None
    elif importlib.util.find_spec("tqdm") is not None:
        with importlib.import_module("tqdm.auto").tqdm(total=100, unit="%", desc="tamis") as bar:
            yield _Bar(bar)
    else:
        yield _Line()


class _Bar:
    def __init__(self, bar: Any) -> None:
        self.bar = bar

    def __call__(self, share: float | None, rows: int) -> None:
        if share is not None:
            self.bar.n = round(100 * share)
        self.bar.set_postfix_str(f"{rows} rows" if rows else "")


class _Line:
    def __init__(self) -> None:
        self.told = time.monotonic()

    def __call__(self, share: float | None, rows: int) -> None:
        if time.monotonic() - self.told < 1:
            return
        self.told = time.monotonic()
        print(f"tamis: {'' if share is None else f'{share:.0%}, '}{rows} rows", file=sys.stderr, flush=True)

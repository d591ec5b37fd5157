"""Test Anything Protocol for test scripts: say `case` as often as needed, end with `sys.exit(done())`."""
import os
import sys

LONG = bool(os.environ.get("TAMIS_TEST_LONG"))  # `make test-long`: nothing is sampled thinly
_results = []


def case(name, good, detail=""):
    _results.append(bool(good))
    print(f"{'ok' if good else 'not ok'} {len(_results)} - {name.replace('#', '')}", flush=True)
    if not good and detail:
        print(detail, file=sys.stderr, flush=True)


def skip(name, why):
    _results.append(True)
    print(f"ok {len(_results)} - {name} # SKIP {why}", flush=True)


def done():
    print(f"1..{len(_results)}")
    return 0 if all(_results) else 1

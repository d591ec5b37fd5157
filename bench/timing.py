"""How peers are timed, as timing.h times tamis: one run that does not count, then the median of at least five, and of as many
more as fit into the time that was set."""
import json
import statistics
import time


def median_of(call, seconds=0.5, clock=time.perf_counter):
    call()
    times = []
    while len(times) < 5 or sum(times) < seconds:
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def measure(what, n, call, seconds=0.5, clock=time.perf_counter, **more):
    """Prints the line of one measurement."""
    print(json.dumps({"what": what, "n": n, "seconds": median_of(call, seconds, clock), **more}), flush=True)

/* How everything here is timed, tamis and its peers alike (timing.py is the same in Python): one run that does not count, then
 * the median of at least TIMING_LEAST runs, and of as many more as fit into the time that was set. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tamis/base.h>

#define TIMING_LEAST 5
#define TIMING_MOST 10000

typedef struct timing {
    double times[TIMING_MOST + 1]; /* the first is the run that does not count */
    size_t count;
    double sum, seconds;
} timing;

/* For calls that prepare a measurement: a failure ends the program, so that nothing else is timed instead. */
static inline void must(tamis_status status)
{
    if (status == 0) return;
    fprintf(stderr, "a call that prepares a measurement failed with status %d\n", status);
    exit(1);
}

static inline double now_by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now(void) { return now_by(CLOCK_MONOTONIC); }

static inline void timing_begin(timing *t, double seconds)
{
    t->count = 0;
    t->sum = 0;
    t->seconds = seconds;
}

static inline bool timing_goes_on(const timing *t)
{
    return t->count <= TIMING_LEAST || (t->sum < t->seconds && t->count <= TIMING_MOST);
}

static inline void timing_add(timing *t, double taken)
{
    if (t->count > 0) t->sum += taken;
    if (t->count <= TIMING_MOST) t->times[t->count++] = taken;
}

static inline int timing_compare(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static inline double timing_median(timing *t)
{
    const size_t n = t->count - 1;
    qsort(t->times + 1, n, sizeof *t->times, timing_compare);
    return (t->times[1 + n / 2] + t->times[1 + (n - 1) / 2]) / 2;
}

#endif

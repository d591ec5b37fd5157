/* How long certified tails take: one JSON object per line. */
#include <stdio.h>
#include <tamis/experimental.h>

#include "timing.h"

static const struct {
    const char *what;
    int64_t population, ones, sample, k;
} rows[] = {
    /* mean 30303.03, standard deviation 171.16 */
    {"hypergeometric tail, N=3.3e8 n=1e6 K=1e7, 4 sd below the mean", 330000000, 10000000, 1000000, 29618},
    {"hypergeometric tail, N=3.3e8 n=1e6 K=N/2, at the mean", 330000000, 165000000, 1000000, 500000},
    {"hypergeometric tail, N=1e12 n=K=N/2, at the mean", 1000000000000, 500000000000, 500000000000, 250000000000},
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static timing t;
        tamis_bound p = {0, 1};
        for (timing_begin(&t, 0.3); timing_goes_on(&t);) {
            double before = now();
            if (tamis_hypergeometric_at_most(&p, rows[i].population, rows[i].ones, rows[i].sample, rows[i].k, NULL) ||
                p.upper - p.lower > TAMIS_WIDTH * p.upper) {
                fprintf(stderr, "%s: not certified\n", rows[i].what);
                return 1;
            }
            timing_add(&t, now() - before);
        }
        printf("{\"what\": \"%s\", \"n\": 1, \"seconds\": %.9f}\n", rows[i].what, timing_median(&t));
    }
    tamis_thread_done();
    return 0;
}

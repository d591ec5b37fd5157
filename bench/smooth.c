/* How long the smooth sensitivity of the median takes: one JSON object per line. The values are lognormal incomes in no order,
 * declared to lie between 0 and a million; beta is that of eps = 1, delta = 1e-6. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis/experimental.h>

#include "timing.h"

static double uniform(uint64_t *stream)
{
    *stream = *stream * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*stream >> 11) + 0.5) * 0x1p-53;
}

int main(void)
{
    const size_t most = 10000000;
    double *x = malloc(most * sizeof *x);
    uint64_t stream = 1;
    if (!x) return 1;
    for (size_t i = 0; i < most; i++)
        x[i] = exp(10 + 0.8 * sqrt(-2 * log(uniform(&stream))) * cos(6.283185307179586 * uniform(&stream)));
    for (size_t n = 1000; n <= most; n *= 100) {
        static timing t;
        double s = 0;
        for (timing_begin(&t, 0.3); timing_goes_on(&t);) {
            double before = now();
            must(tamis_smooth_sensitivity_up(&s, x, n, (int64_t)(n + 1) / 2, 0, 1e6, 0.0337, NULL));
            timing_add(&t, now() - before);
        }
        printf("{\"what\": \"smooth sensitivity of the median, n=%zu\", \"n\": 1, \"seconds\": %.9f}\n", n, timing_median(&t));
        if (n == 100000) n = most / 100;
    }
    free(x);
    tamis_thread_done();
    return 0;
}

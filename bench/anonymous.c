/* Anonymised reports of one bit: epsilon at delta = 1e-6, over all compositions of the others, both ends certified. One JSON
 * object per line: seconds, the relative gap of the ends, and beside it the epsilon of the clone bound of 2023, which is the
 * blanket of one bit. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <tamis/experimental.h>

#include "timing.h"

static tamis_number *read_number(double x)
{
    char text[64];
    tamis_number *z = NULL;
    snprintf(text, sizeof text, "%.17g", x);
    return tamis_number_read(&z, text, NULL) == TAMIS_OK ? z : NULL;
}

/* Where the bound passes 1e-6, to six digits; 0 if it cannot be found. */
static double clones(int64_t n, const tamis_number *local, double most)
{
    double low = 0, high = most;
    for (int i = 0; i < 22; i++) {
        double middle = (low + high) / 2;
        tamis_number *eps = read_number(middle);
        tamis_bound delta;
        tamis_status status = tamis_clones_delta(&delta, n, local, 2023, eps, NULL);
        tamis_number_free(eps);
        if (status != TAMIS_OK) return 0;
        if (delta.upper > 1e-6) low = middle;
        else high = middle;
    }
    return high;
}

static int measure(int64_t n, double local, bool beside)
{
    tamis_number *q = read_number(1 / (1 + exp(local))), *eps0 = read_number(local), *delta = read_number(1e-6);
    tamis_reports reports = {.reports = n, .positions = 1, .lie_one = q};
    tamis_bound eps = {0, 0};
    tamis_status status = TAMIS_OK;
    static timing t;
    timing_begin(&t, 1);
    while (timing_goes_on(&t) && status == TAMIS_OK) {
        double start = now();
        status = tamis_anonymous_epsilon(&eps, &reports, delta, NULL);
        timing_add(&t, now() - start);
    }
    if (status == TAMIS_OK) {
        printf("{\"what\": \"eps n=%" PRId64 " local=%g\", \"n\": 1, \"seconds\": %.6g, \"eps\": %.9g, \"gap\": %.3g", n, local,
               timing_median(&t), eps.upper, eps.upper / eps.lower - 1);
        if (beside) printf(", \"ratio\": %.5g", eps.upper / clones(n, eps0, local));
        puts("}");
    }
    tamis_number_free(q);
    tamis_number_free(eps0);
    tamis_number_free(delta);
    return status == TAMIS_OK ? 0 : 1;
}

int main(void)
{
    int code = measure(1000000000, log(3), false);
    for (int local = 1; local <= 2 && code == 0; local++) code = measure(1000, local, true);
    return code;
}

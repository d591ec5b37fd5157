/* How long the statistics of a release take: one JSON object per line. */
#include <stdio.h>
#include <stdlib.h>
#include <tamis/experimental.h>

#include "inference/interval/count.h"
#include "inference/interval/ratio.h"
#include "inference/interval/strata.h"
#include "timing.h"

/* ---- what is measured; each returns whether it worked ---- */

static tamis_number *scale, *level;

static int reach_one(void)
{
    double x;
    tmi_noise_part part = {31, 40, false, 1};
    return tmi_error_reach(&x, &(tmi_error_law){.se = 900, .df = 197, .parts = &part, .count = 1}, 0.95, NULL) == TAMIS_OK;
}

static int reach_many(void)
{
    double x;
    tmi_noise_part parts[20];
    for (int i = 0; i < 20; i++) parts[i] = (tmi_noise_part){10 + i, 7, i % 2, 1};
    return tmi_error_reach(&x, &(tmi_error_law){.se = 300, .df = 11, .parts = parts, .count = 20}, 0.95, NULL) == TAMIS_OK;
}

static int ratio(void)
{
    tmi_ratio_result found;
    tmi_ratio_part parts[] = {{20, 0, 80, false, 1}, {0, 20, 4, false, 1}};
    tmi_ratio r = {.numerator = 21000,
                   .denominator = 800,
                   .sampling = {4e6, 5e4, 9e3},
                   .largest = 1e9,
                   .df = 99,
                   .parts = parts,
                   .count = 2};
    return tmi_interval_ratio(&found, &r, 0.95, 0, 100, NULL) == TAMIS_OK;
}

static int strata(void)
{
    tmi_interval found;
    tmi_stratum_count s[] = {{4421, 100, 23, 8, TMI_COUNT_SRS},
                             {1018, 50, 24, 8, TMI_COUNT_SRS},
                             {755, 50, 41, 8, TMI_COUNT_SRS}};
    tmi_noise_part parts[3];
    tmi_count_estimate estimate = {0, parts, 3};
    for (int h = 0; h < 3; h++) {
        parts[h] = (tmi_noise_part){s[h].population / s[h].sample, 2, false, 1};
        estimate.value += parts[h].factor * s[h].noisy;
    }
    return tmi_interval_strata(&found, s, 3, &estimate, 0.95, NULL) == TAMIS_OK;
}

static int count_certified(void)
{
    int64_t low, high;
    return tamis_interval_count(&low, &high, 6194, 200, 61, scale, level, NULL) == TAMIS_OK;
}

static int count_plain(void)
{
    int64_t low, high;
    tmi_count_case c = {.law = TMI_COUNT_SRS, .population = 6194, .sample = 200, .scale = scale, .confidence = level};
    return tmi_interval_count(&low, &high, &c, 61, NULL) == TAMIS_OK;
}

static int count_large(void)
{
    int64_t low, high;
    return tamis_interval_count(&low, &high, 1000000000, 500000000, 250000000, scale, level, NULL) == TAMIS_OK;
}

int main(void)
{
    static const struct {
        const char *what;
        int (*run)(void);
    } rows[] = {
        {"reach of an error: Student's and one noise", reach_one},
        {"reach of an error: Student's and 20 noises", reach_many},
        {"interval of a ratio", ratio},
        {"interval of a count over 3 strata", strata},
        {"exact interval of a count, N=6194 n=200", count_plain},
        {"exact interval of a count, N=6194 n=200, certified", count_certified},
        {"exact interval of a count, N=1e9 n=5e8, certified", count_large},
    };
    if (tamis_number_read(&scale, "2", NULL) || tamis_number_read(&level, "0.95", NULL)) return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static timing t;
        for (timing_begin(&t, 0.3); timing_goes_on(&t);) {
            double before = now();
            if (!rows[i].run()) {
                fprintf(stderr, "%s: failed\n", rows[i].what);
                return 1;
            }
            timing_add(&t, now() - before);
        }
        printf("{\"what\": \"%s\", \"n\": 1, \"seconds\": %.9f}\n", rows[i].what, timing_median(&t));
    }
    tamis_number_free(scale);
    tamis_number_free(level);
    tamis_thread_done();
    return 0;
}

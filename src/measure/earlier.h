/* The numbers of an earlier release that a change is measured from: what a certificate repeats of them, so that the change
 * follows from it without the other folder.
 *
 * A number has an estimate, the standard error that sampling gives it, its interval, and its noise integer by integer, so that
 * the error of a change is that of both waves by the exact laws. */
#ifndef TMI_MEASURE_EARLIER_H
#define TMI_MEASURE_EARLIER_H

#include "base/sha256.h"
#include "base/value/json.h"
#include "num/law/noise.h"
#include "plan/plan.h"
#include "variance/group_totals.h"

/* One number of a wave, this one's or the earlier one's. Of a ratio its noise is that of (x - r y) / y. */
typedef struct tmi_wave_number {
    double estimate;     /* NaN: there is none */
    double sampling_se;  /* NaN: not known */
    double lower, upper; /* its interval; NaN: there is none */
    double least, most;  /* where it certainly lies */
    double bias;         /* the largest; NaN: none */
    double rows;         /* of a mean: the estimated size of its group, where a covariance needs it; else 0 */
    int64_t df;          /* of sampling_se; TMI_NORMAL: it is taken as normal */
    tmi_noise_part *parts;
    size_t part_count;
    double *groups;     /* noisy totals of TMI_CHANGE_GROUPS groups of clusters (variance/group_totals.h); NULL: there are none */
    double group_scale; /* the scale of their noise */
} tmi_wave_number;

/* Those of the groups of one change. */
typedef struct tmi_earlier {
    size_t statistic; /* the change, in the plan */
    char *survey, *wave;
    char certificate[TMI_SHA256_TEXT]; /* the hash of the earlier certificate */
    tamis_number *epsilon, *delta;     /* what a sampled unit of it had lost by its whole account */
    int64_t sample, population;        /* sizes of its simple random sample, where units of it are in this one; else 0 */
    bool grouped;                      /* both waves have totals of groups of clusters, the earlier one */
    int64_t pairs[TMI_CHANGE_GROUPS];  /* with so many pairs in each group */
    tmi_wave_number *numbers;          /* one per group */
    size_t count;
} tmi_earlier;

typedef struct tmi_earlier_list {
    tmi_earlier *list; /* one per change, in the order of the plan */
    size_t count;
} tmi_earlier_list;

void tmi_wave_numbers_free(tmi_wave_number *numbers, size_t count);
void tmi_earlier_clear(tmi_earlier_list *list);

/* How many changes a plan asks for. */
size_t tmi_count_changes(const tamis_plan *plan);

/* The numbers of a change; NULL: there are none here. */
const tmi_earlier *tmi_earlier_of(const tmi_earlier_list *list, size_t statistic);

/* As a certificate has them: a list. */
void tmi_put_earlier(tmi_json_out *out, const tmi_earlier_list *list);

/* From there. Errors: INVALID (they are not those of this plan's changes), SYSTEM; the list is then empty. */
tamis_status tmi_earlier_read_json(tmi_earlier_list *list, const tmi_value *json, const tamis_plan *plan, tamis_error *err);

#endif

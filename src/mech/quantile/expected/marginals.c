/* The law of each cut of a joint draw (several.h), on cells. With s the share of a cell and a = s - q_j the error of cut j in it,
 *
 *     forward[j](i) = measure(i) sum over i' <= i of forward[j-1](i') exp(-rate |a - a'|),
 *
 * and the probability that cut j is in cell i is forward times the same from the right, over the measure. As a' ascends with
 * i', the sum falls into one over a' <= a, a running sum that decays as a grows, and one over a' > a, the difference of two
 * sums from the right. Each list is divided by its sum, so that nothing vanishes. */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/expected/expected.h"

typedef struct walk {
    const double *shares, *measures, *at;
    size_t count, at_count;
    double rate;
    double *rest; /* room: sums from the right */
} walk;

static void normalise(double *list, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += list[i];
    for (size_t i = 0; i < count; i++) list[i] /= sum > 0 ? sum : 1;
}

static double decay(const walk *w, double distance) { return exp(-w->rate * distance); }

/* From cut j - 1 to cut j. */
static void step(double *next, const double *list, const walk *w, size_t j)
{
    const double *s = w->shares, apart = w->at[j] - w->at[j - 1];
    double lower = 0;
    size_t cross = 0; /* the first cell whose a' is above a */
    w->rest[w->count] = 0;
    for (size_t i = w->count; i-- > 0;)
        w->rest[i] = list[i] + (i + 1 < w->count ? decay(w, s[i + 1] - s[i]) * w->rest[i + 1] : 0);
    for (size_t i = 0; i < w->count; i++) {
        if (i > 0) lower *= decay(w, s[i] - s[i - 1]);
        for (; cross <= i && s[cross] + apart <= s[i]; cross++) lower += list[cross] * decay(w, s[i] - s[cross] - apart);
        double upper = cross <= i ? w->rest[cross] : 0;
        if (cross <= i && i + 1 < w->count) upper -= decay(w, s[i + 1] - s[cross]) * w->rest[i + 1];
        if (cross <= i) upper *= decay(w, s[cross] + apart - s[i]);
        next[i] = w->measures[i] * (lower + fmax(upper, 0));
    }
    normalise(next, w->count);
}

static void go(double *laws, const walk *w)
{
    for (size_t i = 0; i < w->count; i++) laws[i] = w->measures[i] * decay(w, fabs(w->shares[i] - w->at[0]));
    normalise(laws, w->count);
    for (size_t j = 1; j < w->at_count; j++) step(laws + j * w->count, laws + (j - 1) * w->count, w, j);
}

tamis_status tmi_joint_marginals(double *laws, const double *shares, const double *measures, size_t count, const double *at,
                                 size_t at_count, double rate, tamis_error *err)
{
    double *turned = tmi_alloc(2 * count + at_count, sizeof *turned), *rest = tmi_alloc(count + 1, sizeof *rest),
           *back = tmi_alloc(at_count * count, sizeof *back);
    tamis_status status = TAMIS_OK;
    if (!turned || !rest || !back) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        turned[i] = 1 - shares[count - 1 - i];
        turned[count + i] = measures[count - 1 - i];
    }
    for (size_t j = 0; j < at_count; j++) turned[2 * count + j] = 1 - at[at_count - 1 - j];
    go(laws, &(walk){shares, measures, at, count, at_count, rate, rest});
    go(back, &(walk){turned, turned + count, turned + 2 * count, count, at_count, rate, rest});
    for (size_t j = 0; j < at_count; j++) {
        for (size_t i = 0; i < count; i++) laws[j * count + i] *= back[(at_count - 1 - j) * count + count - 1 - i] / measures[i];
        normalise(laws + j * count, count);
    }

done:
    tmi_free(turned);
    tmi_free(rest);
    tmi_free(back);
    return status;
}

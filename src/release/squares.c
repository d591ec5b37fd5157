#include "release/squares.h"

#include "base/memory.h"
#include "inference/pair_term.h"
#include "plan/json.h"
#include "schedule/noise_law.h"

/* ---- terms ---- */

/* Does something with the term of each number of a measurement. */
typedef void visit(void *with, const tmi_pair_term *term, size_t number);

static tamis_status go_through(const tmi_inference *r, size_t i, visit *visit, void *with, tamis_error *err)
{
    const tmi_measurement *m = &r->schedule->measurements[i];
    tmi_statistic_sums z;
    tamis_status status = tmi_statistic_sums_make(&z, r, m->shape.statistic, err);
    if (status != TAMIS_OK) return status;
    for (size_t g = 0; g < m->numbers; g++) {
        tmi_pair_term term;
        TMI_TRY(tmi_watch_beat(r->schedule->watch, err));
        TMI_TRY(tmi_pair_term_make(&term, r, m, &z.groups[g], g, err));
        visit(with, &term, g);
        tmi_pair_term_clear(&term);
    }

done:
    tmi_statistic_sums_clear(&z);
    return status;
}

/* ---- the second stage ---- */

typedef struct adding {
    const tmi_asking *asking;
    const tmi_schedule *schedule;
    size_t measurement;
    const int64_t *noise;
    tmi_int128 *noisy;
} adding;

/* What is released of one number, without noise; tmi_add_noise clamps it to TMI_LARGEST_SQUARES. Secret. */
static tmi_int128 sum_of(const adding *a, const tmi_pair_term *t)
{
    const tmi_measurement *m = &a->schedule->measurements[a->measurement];
    tmi_int128 sum = 0;
    for (size_t pair = 0; pair < m->groups; pair++) {
        tmi_int128 d = 0;
        for (size_t k = 0; k < m->cells * m->levels; k++)
            if (t->coefficients[k] != 0)
                d += t->coefficients[k] *
                     tmi_asking_difference(a->asking, a->schedule, a->measurement, pair, k / m->levels, k % m->levels);
        sum += tmi_huber_square(d, t->bound);
    }
    return sum / t->divisor;
}

static void add(void *with, const tmi_pair_term *t, size_t number)
{
    const adding *a = with;
    const int64_t limit = a->schedule->measurements[a->measurement].limit;
    a->noisy[number] = tmi_add_noise(sum_of(a, t), a->noise[number], limit);
}

tamis_status tmi_add_squares(tmi_int128 *const *noisy, int64_t *const *noise, const tmi_asking *asking, const tmi_schedule *s,
                             tamis_error *err)
{
    tmi_inference reading = {0};
    tamis_status status;
    if (!s->squared) return TAMIS_OK;
    TMI_TRY(tmi_inference_make(&reading, s, noisy, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        adding a = {asking, s, i, noise[i], noisy[i]};
        if (s->measurements[i].shape.family == TMI_PAIRED) TMI_TRY(go_through(&reading, i, add, &a, err));
    }

done:
    tmi_inference_clear(&reading);
    return status;
}

/* ---- what is published of it ---- */

static void put(void *with, const tmi_pair_term *t, size_t number)
{
    tmi_json_out *out = with;
    char divisor[TMI_INT128_TEXT];
    (void)number;
    tmi_int128_text(divisor, t->divisor);
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "coefficient", t->largest);
    tmi_json_add_integer(out, "bound", t->bound);
    tmi_json_add_string(out, "divisor", divisor); /* it may have more digits than JSON's numbers are sure to keep */
    tmi_json_close(out, '}');
}

void tmi_put_squares(tmi_json_out *out, const tmi_schedule *s, tmi_int128 *const *noisy)
{
    const tmi_pair_term longest = {.largest = TMI_PAIRED_COEFFICIENT, .bound = INT64_MAX, .divisor = (tmi_int128)1 << 100};
    tmi_inference reading = {0};
    if (noisy && tmi_inference_make(&reading, s, noisy, NULL) != TAMIS_OK) out->text->failed = true;
    tmi_json_add_open(out, "squares", '[');
    for (size_t i = 0; i < s->measurement_count && !out->text->failed; i++) {
        const tmi_measurement *m = &s->measurements[i];
        if (m->shape.family != TMI_PAIRED) continue;
        tmi_json_open(out, '{');
        tmi_json_add_open(out, "of", '{');
        tmi_put_asked(out, &s->plan->statistics[m->shape.statistic]);
        tmi_json_close(out, '}');
        tmi_json_add_open(out, "numbers", '[');
        for (size_t g = 0; !noisy && g < m->numbers; g++) put(out, &longest, g);
        if (noisy && !out->text->failed && go_through(&reading, i, put, out, NULL) != TAMIS_OK) out->text->failed = true;
        tmi_json_close(out, ']');
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_inference_clear(&reading);
}

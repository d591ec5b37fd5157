#include "collect/anonymous/randomizer.h"

#include "base/memory.h"
#include "collect/anonymous/reports.h"

#define BITS TMI_RANDOMIZER_BITS

void tmi_randomizer_clear(tmi_randomizer *r)
{
    for (size_t i = 0; r->p && i < r->inputs * r->outputs; i++) tmi_ball_clear(&r->p[i]);
    tmi_free(r->p);
    tmi_free(r->pairs);
    *r = (tmi_randomizer){0};
}

static tamis_status make_room(tmi_randomizer *r, size_t inputs, size_t outputs, size_t pairs, tamis_error *err)
{
    *r = (tmi_randomizer){.inputs = inputs, .outputs = outputs};
    r->p = tmi_alloc(inputs * outputs, sizeof *r->p);
    r->pairs = tmi_alloc(pairs, sizeof *r->pairs);
    for (size_t i = 0; r->p && i < inputs * outputs; i++) tmi_ball_init(&r->p[i]);
    return r->p && r->pairs ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status categories(tmi_randomizer *r, const tamis_reports *reports, tamis_error *err)
{
    size_t k = (size_t)reports->positions;
    tamis_status status = make_room(r, k, k, 1, err);
    if (status != TAMIS_OK) return status;
    for (size_t x = 0; x < k; x++)
        for (size_t y = 0; y < k; y++) {
            tmi_ball *p = &r->p[x * k + y];
            tmi_ball_set_number(p, reports->lie_one, BITS);
            if (x == y) {
                tmi_ball_neg(p, p);
                tmi_ball_add_int(p, p, 1, BITS);
            } else {
                tmi_ball_div_int(p, p, reports->positions - 1, BITS);
            }
        }
    r->pairs[r->pair_count++] = (tmi_answers){0, 1};
    return TAMIS_OK;
}

static int ones_in(size_t x) { return __builtin_popcountll((unsigned long long)x); }

/* Two vectors have positions 11, 10, 01 and 00, as many of each as the code below says; order of positions does not matter.
 * Where ones and zeros lie alike and any vector is an answer, flipping a position in all answers and reports maps the first
 * vector to zero. */
static void bit_pairs(tmi_randomizer *r, const size_t *answers, int length, bool alike)
{
    for (size_t i = 0; i < r->inputs; i++)
        for (size_t j = 0; j < r->inputs; j++) {
            size_t x = answers[i], y = answers[j];
            int both = ones_in(x & y), left = ones_in(x & ~y), right = ones_in(~x & y);
            size_t low_both = ((size_t)1 << both) - 1, low_left = (((size_t)1 << left) - 1) << both,
                   low_right = (((size_t)1 << right) - 1) << (both + left);
            bool standard = x == (low_both | low_left) && y == (low_both | low_right) && both + left + right <= length;
            if (i == j || !standard || (alike && x != 0)) continue;
            r->pairs[r->pair_count++] = (tmi_answers){i, j};
        }
}

static tamis_status bits(tmi_randomizer *r, const tamis_reports *reports, tamis_error *err)
{
    int length = (int)reports->positions;
    size_t all = (size_t)1 << length, inputs = 0, answers[TMI_RANDOMIZER_MOST];
    int most = reports->ones == 0 ? length : (int)reports->ones;
    for (size_t x = 0; x < all; x++)
        if (reports->exactly ? ones_in(x) == most : ones_in(x) <= most) answers[inputs++] = x;
    tamis_status status = make_room(r, inputs, all, inputs * inputs, err);
    if (status != TAMIS_OK) return status;
    const tamis_number *lies[2] = {tmi_lie_zero(reports), reports->lie_one};
    tmi_ball q, p;
    tmi_ball_init(&q);
    tmi_ball_init(&p);
    for (size_t i = 0; i < inputs; i++)
        for (size_t y = 0; y < all; y++) {
            tmi_ball *z = &r->p[i * all + y];
            tmi_ball_set_int(z, 1);
            for (int bit = 0; bit < length; bit++) {
                bool one = answers[i] >> bit & 1, reported = y >> bit & 1;
                tmi_ball_set_number(&q, lies[one], BITS);
                tmi_ball_neg(&p, &q);
                tmi_ball_add_int(&p, &p, 1, BITS);
                tmi_ball_mul(z, z, one == reported ? &p : &q, BITS);
            }
        }
    tmi_ball_clear(&q);
    tmi_ball_clear(&p);
    bit_pairs(r, answers, length, most == length && tmi_number_compare(lies[0], lies[1]) == 0);
    return TAMIS_OK;
}

tamis_status tmi_randomizer_init(tmi_randomizer *r, const tamis_reports *reports, tamis_error *err)
{
    *r = (tmi_randomizer){0};
    bool is_bits = reports->form != TAMIS_REPORT_CATEGORIES;
    if (is_bits ? reports->positions > 6 : reports->positions > TMI_RANDOMIZER_MOST)
        return tmi_fail(err, TAMIS_UNABLE, "more than %d different reports", TMI_RANDOMIZER_MOST);
    return is_bits ? bits(r, reports, err) : categories(r, reports, err);
}

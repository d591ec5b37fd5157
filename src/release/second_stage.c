#include "release/second_stage.h"

#include "base/memory.h"
#include "base/secret.h"
#include "inference/calibration.h"
#include "inference/error_term.h"
#include "num/law/noise.h"
#include "plan/json.h"
#include "rng/noise.h"

/* ---- terms ---- */

/* Does something with the term of each number of a measurement. */
typedef void visit(void *with, const tmi_error_term *term, size_t number);

static tamis_status go_through(const tmi_inference *r, size_t i, visit *visit, void *with, tamis_error *err)
{
    const tmi_measurement *m = &r->schedule->measurements[i];
    tmi_error_source source;
    tamis_status status = tmi_error_source_make(&source, r, m, err);
    if (status != TAMIS_OK) return status;
    for (size_t g = 0; g < m->numbers / tmi_integers_of(tmi_method_of(m->marginal.weighting)); g++) {
        tmi_error_term term;
        TMI_TRY(tmi_watch_beat(r->schedule->watch, err));
        TMI_TRY(tmi_error_term_make(&term, &source, g, err));
        visit(with, &term, g);
        tmi_error_term_clear(&term);
    }

done:
    tmi_error_source_clear(&source);
    return status;
}

/* ---- the second stage ---- */

typedef struct adding {
    const tmi_query *query;
    const tmi_schedule *schedule;
    size_t measurement;
    const int64_t *noise;
    tmi_int128 *noisy;
    tmi_int128 *totals; /* room for those of all slots, in secret memory, and for as many integers */
    int64_t *room;
    const tmi_slot_sign *signs; /* of all slots, for totals of groups */
} adding;

/* What is released of one number, without noise: as many integers as the method says, in `room`. Secret. */
static void set_integers(const adding *a, const tmi_error_term *t)
{
    const tmi_psu_layout *layout = &a->schedule->places.layout;
    const tmi_measurement *m = &a->schedule->measurements[a->measurement];
    for (size_t slot = 0; slot < m->slots; slot++) {
        tmi_int128 total = 0;
        for (size_t k = 0; k < m->cells * m->levels; k++)
            if (t->coefficients[k] != 0)
                total += t->coefficients[k] *
                         tmi_query_total(a->query, a->schedule, a->measurement, slot, k / m->levels, k % m->levels);
        a->totals[slot] = total;
    }
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    if (method->values) method->values(a->room, a->totals, a->signs, &t->grid, layout);
    else a->room[0] = method->value(a->totals, a->room, &t->grid, layout);
}

static void add(void *with, const tmi_error_term *t, size_t number)
{
    const adding *a = with;
    const tmi_measurement *m = &a->schedule->measurements[a->measurement];
    const size_t count = tmi_integers_of(tmi_method_of(m->marginal.weighting));
    set_integers(a, t);
    for (size_t k = 0; k < count; k++)
        a->noisy[number * count + k] = tmi_add_noise(a->room[k], a->noise[number * count + k], m->limit);
}

/* The signs of the clusters' slots, if totals of groups are measured; each cluster has a slot of its own. */
static tamis_status place_signs(tmi_slot_sign **signs, const tmi_query *query, const tmi_schedule *s, tamis_error *err)
{
    size_t psu = 0;
    *signs = NULL;
    if (!s->places.signs) return TAMIS_OK;
    *signs = tmi_alloc((size_t)s->places.layout.slots, sizeof **signs);
    if (!*signs) return tmi_fail_memory(err);
    for (int64_t slot = 0; slot < s->places.layout.slots; slot++) (*signs)[slot].group = -1;
    for (size_t h = 0; h < s->places.strata; h++)
        for (int64_t rank = 0; rank < s->places.psus[h]; rank++, psu++)
            if (s->places.into[h] != SIZE_MAX) (*signs)[query->psus.cell_of[h][rank]] = s->places.signs[psu];
    return TAMIS_OK;
}

/* What the linearised variables are read from: the noisy tables of the estimates, calibrated where the plan says so. */
typedef struct first_stage {
    tmi_inference inference;
    tmi_calibration calibration;
} first_stage;

static tamis_status first_stage_make(first_stage *f, const tmi_schedule *s, tmi_int128 *const *noisy, tamis_error *err)
{
    tamis_status status;
    *f = (first_stage){0};
    TMI_TRY(tmi_inference_make(&f->inference, s, noisy, err));
    TMI_TRY(tmi_calibration_make(&f->calibration, &f->inference, err));
    f->inference.calibration = &f->calibration;

done:
    return status;
}

static void first_stage_clear(first_stage *f)
{
    tmi_calibration_clear(&f->calibration);
    tmi_inference_clear(&f->inference);
}

tamis_status tmi_add_standard_errors(tmi_int128 *const *noisy, int64_t *const *noise, const tmi_query *query,
                                     const tmi_schedule *s, tamis_error *err)
{
    first_stage f = {0};
    tmi_int128 *totals = NULL;
    tmi_slot_sign *signs = NULL;
    int64_t *room = NULL;
    size_t slots = 0;
    tamis_status status;
    for (size_t i = 0; i < s->measurement_count; i++)
        if (tmi_method_of(s->measurements[i].marginal.weighting)) slots = s->measurements[i].slots;
    if (slots == 0) return TAMIS_OK;
    totals = tmi_secret_alloc(slots, sizeof *totals);
    room = tmi_secret_alloc(slots > TMI_CHANGE_GROUPS ? slots : TMI_CHANGE_GROUPS, sizeof *room);
    if (!totals || !room) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(place_signs(&signs, query, s, err));
    TMI_TRY(first_stage_make(&f, s, noisy, err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        adding a = {query, s, i, noise[i], noisy[i], totals, room, signs};
        if (tmi_method_of(s->measurements[i].marginal.weighting)) TMI_TRY(go_through(&f.inference, i, add, &a, err));
    }

done:
    first_stage_clear(&f);
    tmi_secret_free(totals);
    tmi_secret_free(room);
    tmi_free(signs);
    return status;
}

/* ---- what is published of it ---- */

static void put(void *with, const tmi_error_term *t, size_t number)
{
    tmi_json_out *out = with;
    (void)number;
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "range", t->grid.range);
    tmi_json_add_integer(out, "blocks", t->grid.blocks);
    tmi_json_add_integer(out, "shift", t->grid.shift);
    tmi_json_add_integer(out, "divisor", t->grid.divisor);
    tmi_json_close(out, '}');
}

void tmi_put_standard_errors(tmi_json_out *out, const tmi_schedule *s, tmi_int128 *const *noisy)
{
    const tmi_error_term longest = {
        .grid = {.range = INT64_C(1) << 50, .blocks = TMI_MOST_BLOCKS, .shift = -100, .divisor = INT64_C(1) << 60}};
    first_stage f = {0};
    bool any = false;
    for (size_t i = 0; i < s->measurement_count; i++) any = any || tmi_method_of(s->measurements[i].marginal.weighting);
    if (!any) return;
    if (noisy && first_stage_make(&f, s, noisy, NULL) != TAMIS_OK) out->text->failed = true;
    tmi_json_add_open(out, "standard_errors", '[');
    for (size_t i = 0; i < s->measurement_count && !out->text->failed; i++) {
        const tmi_measurement *m = &s->measurements[i];
        if (!tmi_method_of(m->marginal.weighting)) continue;
        tmi_json_open(out, '{');
        tmi_json_add_open(out, "of", '{');
        tmi_put_asked(out, &s->plan->statistics[m->marginal.statistic]);
        tmi_json_close(out, '}');
        const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
        if (method->values) tmi_json_add_string(out, "weighed_by", method->weighed);
        tmi_json_add_open(out, "numbers", '[');
        for (size_t g = 0; !noisy && g < m->numbers / tmi_integers_of(method); g++) put(out, &longest, g);
        if (noisy && !out->text->failed && go_through(&f.inference, i, put, out, NULL) != TAMIS_OK) out->text->failed = true;
        tmi_json_close(out, ']');
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    first_stage_clear(&f);
}

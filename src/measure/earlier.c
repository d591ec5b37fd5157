#include "measure/earlier.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/bound.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/number.h"
#include "plan/json_fields.h"

void tmi_wave_numbers_free(tmi_wave_number *numbers, size_t count)
{
    for (size_t i = 0; numbers && i < count; i++) {
        tmi_free(numbers[i].parts);
        tmi_free(numbers[i].groups);
    }
    tmi_free(numbers);
}

void tmi_earlier_clear(tmi_earlier_list *e)
{
    for (size_t i = 0; e->list && i < e->count; i++) {
        tmi_free(e->list[i].survey);
        tmi_free(e->list[i].wave);
        tmi_number_frees(&e->list[i].epsilon, &e->list[i].delta, NULL);
        tmi_wave_numbers_free(e->list[i].numbers, e->list[i].count);
    }
    tmi_free(e->list);
    *e = (tmi_earlier_list){0};
}

size_t tmi_count_changes(const tamis_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->asked_count; i++) count += plan->statistics[i].kind == TMI_CONTRAST_CHANGE;
    return count;
}

const tmi_earlier *tmi_earlier_of(const tmi_earlier_list *e, size_t statistic)
{
    for (size_t i = 0; e && i < e->count; i++)
        if (e->list[i].statistic == statistic) return &e->list[i];
    return NULL;
}

/* ---- JSON ----
 *
 * Numbers are texts, the shortest that are read as the same double: the hash of a certificate is of texts, and languages write
 * doubles in different ways. */

static void put_real(tmi_json_out *out, double x)
{
    char digits[TMI_REAL_TEXT];
    if (!isfinite(x)) {
        tmi_json_put_null(out);
        return;
    }
    tmi_shortest_real(digits, x);
    tmi_json_put_string(out, digits);
}

static void add_real(tmi_json_out *out, const char *key, double x)
{
    tmi_json_key(out, key);
    put_real(out, x);
}

/* Keys that only a change with an overlap has. */
static void put_number(tmi_json_out *out, const tmi_wave_number *x, bool overlap)
{
    tmi_json_open(out, '{');
    add_real(out, "estimate", x->estimate);
    add_real(out, "sampling_se", x->sampling_se);
    tmi_json_add_integer(out, "df", x->df);
    add_real(out, "lower", x->lower);
    add_real(out, "upper", x->upper);
    add_real(out, "least", x->least);
    add_real(out, "most", x->most);
    add_real(out, "bias_at_most", x->bias);
    if (overlap) add_real(out, "rows", x->rows);
    tmi_json_add_open(out, "noise", '[');
    for (size_t k = 0; k < x->part_count; k++) {
        const tmi_noise_part *p = &x->parts[k];
        tmi_json_open(out, '[');
        put_real(out, p->factor);
        put_real(out, p->scale);
        put_real(out, p->count);
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, ']');
    if (x->groups) {
        tmi_json_add_open(out, "groups", '[');
        for (size_t k = 0; k < TMI_CHANGE_GROUPS; k++) put_real(out, x->groups[k]);
        tmi_json_close(out, ']');
        add_real(out, "group_scale", x->group_scale);
    }
    tmi_json_close(out, '}');
}

static tmi_gaussian gaussian_of(const tmi_earlier *e)
{
    for (size_t g = 0; g < e->count; g++)
        if (e->numbers[g].part_count > 0) return e->numbers[g].parts[0].gaussian;
    return TMI_NOT_GAUSSIAN;
}

void tmi_put_earlier(tmi_json_out *out, const tmi_earlier_list *e)
{
    tmi_json_open(out, '[');
    for (size_t i = 0; i < e->count; i++) {
        const tmi_earlier *own = &e->list[i];
        tmi_json_open(out, '{');
        tmi_json_add_integer(out, "statistic", (int64_t)own->statistic);
        tmi_json_add_string(out, "survey", own->survey);
        tmi_json_add_string(out, "wave", own->wave);
        tmi_json_add_string(out, "certificate", own->certificate);
        tmi_put_exact_field(out, "epsilon", own->epsilon);
        tmi_put_exact_field(out, "delta", own->delta);
        tmi_json_add_string(out, "law", tmi_noise_name(gaussian_of(own)));
        const bool overlap = own->sample > 0;
        if (overlap) tmi_json_add_integer(out, "sample", own->sample);
        if (overlap) tmi_json_add_integer(out, "population", own->population);
        if (own->grouped) tmi_json_add_integers(out, "pairs", own->pairs, TMI_CHANGE_GROUPS);
        tmi_json_add_open(out, "numbers", '[');
        for (size_t g = 0; g < own->count; g++) put_number(out, &own->numbers[g], overlap);
        tmi_json_close(out, ']');
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

/* False: it is neither null nor a number in a text. */
static bool read_real(double *x, const tmi_value *value, double none)
{
    tamis_number *number = NULL;
    *x = none;
    if (tmi_value_kind_of(value) == TMI_VALUE_NULL) return value != NULL;
    if (tmi_value_kind_of(value) != TMI_VALUE_TEXT || tamis_number_read(&number, tmi_value_string(value), NULL) != TAMIS_OK)
        return false;
    *x = tmi_number_nearest(number);
    tamis_number_free(number);
    return isfinite(*x);
}

static bool is_whole(double x) { return x >= 1 && x <= 0x1p53 && x == floor(x); }

static bool read_part(tmi_noise_part *part, const tmi_value *value, tmi_gaussian gaussian)
{
    *part = (tmi_noise_part){.gaussian = gaussian};
    return tmi_value_kind_of(value) == TMI_VALUE_LIST && tmi_value_size(value) == 3 &&
           read_real(&part->factor, tmi_value_at(value, 0), 0) && read_real(&part->scale, tmi_value_at(value, 1), 0) &&
           read_real(&part->count, tmi_value_at(value, 2), 0) && part->factor != 0 && part->scale > 0 && is_whole(part->count);
}

/* Totals of groups, of which a number that was withheld has none. */
static tamis_status read_groups(tmi_wave_number *x, bool *right, const tmi_value *value, tamis_error *err)
{
    const tmi_value *groups = tmi_value_get(value, "groups");
    size_t k = 0;
    if (!groups && !tmi_value_get(value, "group_scale")) return TAMIS_OK;
    *right = tmi_value_kind_of(groups) == TMI_VALUE_LIST && tmi_value_size(groups) == TMI_CHANGE_GROUPS &&
             read_real(&x->group_scale, tmi_value_get(value, "group_scale"), 0) && x->group_scale > 0;
    if (!*right) return TAMIS_OK;
    x->groups = tmi_alloc(TMI_CHANGE_GROUPS, sizeof *x->groups);
    if (!x->groups) return tmi_fail_memory(err);
    for (const tmi_value *item = tmi_value_first(groups); item && *right; item = tmi_value_next(item), k++)
        *right = read_real(&x->groups[k], item, NAN) && !isnan(x->groups[k]);
    return TAMIS_OK;
}

/* *right: it is a number that a release could have. */
static tamis_status read_number(tmi_wave_number *x, bool *right, const tmi_value *value, tmi_gaussian gaussian, bool overlap,
                                bool grouped, tamis_error *err)
{
    static const char *const keys[] = {"estimate", "sampling_se",  "df",    "lower",  "upper",       "least",
                                       "most",     "bias_at_most", "noise", "groups", "group_scale", "rows"};
    const tmi_value *noise = tmi_value_field(value, "noise", TMI_VALUE_LIST),
                    *df = tmi_value_field(value, "df", TMI_VALUE_INTEGER);
    *right = noise && df && !tmi_value_extra_key(value, keys, sizeof keys / sizeof *keys - (overlap ? 0 : 1)) &&
             (grouped || !tmi_value_get(value, "groups")) && (!overlap || read_real(&x->rows, tmi_value_get(value, "rows"), 0)) &&
             read_real(&x->estimate, tmi_value_get(value, "estimate"), NAN) &&
             read_real(&x->sampling_se, tmi_value_get(value, "sampling_se"), NAN) &&
             read_real(&x->lower, tmi_value_get(value, "lower"), NAN) &&
             read_real(&x->upper, tmi_value_get(value, "upper"), NAN) &&
             read_real(&x->least, tmi_value_get(value, "least"), -INFINITY) &&
             read_real(&x->most, tmi_value_get(value, "most"), INFINITY) &&
             read_real(&x->bias, tmi_value_get(value, "bias_at_most"), NAN);
    if (!*right) return TAMIS_OK;
    x->df = tmi_value_integer(df);
    *right = x->df >= 0 && !(x->sampling_se < 0) && !(x->lower > x->upper) && x->least <= x->most && !(x->bias < 0);
    const tamis_status status = *right ? read_groups(x, right, value, err) : TAMIS_OK;
    if (status != TAMIS_OK || tmi_value_size(noise) == 0) return status;
    x->parts = tmi_alloc(tmi_value_size(noise), sizeof *x->parts);
    if (!x->parts) return tmi_fail_memory(err);
    for (const tmi_value *item = tmi_value_first(noise); item && *right; item = tmi_value_next(item))
        *right = read_part(&x->parts[x->part_count++], item, gaussian);
    return TAMIS_OK;
}

/* An exact number in a text, from 0 to `most`. */
static tamis_status read_loss(tamis_number **loss, bool *right, const tmi_value *value, const char *key, int64_t most,
                              tamis_error *err)
{
    if (!tmi_value_field(value, key, TMI_VALUE_TEXT)) {
        *right = false;
        return TAMIS_OK;
    }
    const tamis_status status = tamis_number_read(loss, tmi_value_field_text(value, key), NULL);
    *right = *right && status == TAMIS_OK && tmi_number_sign(*loss) >= 0 && tmi_number_compare_int(*loss, most) <= 0;
    return status == TAMIS_SYSTEM ? tmi_fail_memory(err) : TAMIS_OK;
}

/* How many pairs of clusters are in each group; there are none unless this wave has such groups too. */
static bool read_pairs(tmi_earlier *e, const tmi_value *list, const tamis_plan *plan)
{
    const tmi_plan_contrast *c = plan->statistics[e->statistic].contrast;
    size_t g = 0;
    e->grouped = list != NULL;
    if (!list) return true;
    if (!plan->statistics[tmi_term_statistic(c, 0)].for_change || c->independent || tmi_value_kind_of(list) != TMI_VALUE_LIST ||
        tmi_value_size(list) != TMI_CHANGE_GROUPS)
        return false;
    for (const tmi_value *item = tmi_value_first(list); item; item = tmi_value_next(item)) {
        if (tmi_value_kind_of(item) != TMI_VALUE_INTEGER || tmi_value_integer(item) < 0 ||
            tmi_value_integer(item) > TMI_MOST_PAIRS)
            return false;
        e->pairs[g++] = tmi_value_integer(item);
    }
    return true;
}

static tamis_status read_one(tmi_earlier *e, bool *right, const tmi_value *value, const tamis_plan *plan, tamis_error *err)
{
    static const char *const keys[] = {"statistic", "survey", "wave",    "certificate", "epsilon",   "delta",
                                       "law",       "pairs",  "numbers", "sample",      "population"};
    const bool overlap = plan->statistics[e->statistic].contrast->before != NULL;
    const tmi_value *numbers = tmi_value_field(value, "numbers", TMI_VALUE_LIST);
    const char *law = tmi_value_field_text(value, "law"), *hash = tmi_value_field_text(value, "certificate"),
               *wave = tmi_value_field_text(value, "wave");
    tmi_gaussian gaussian = TMI_NOT_GAUSSIAN;
    tamis_status status = TAMIS_OK;
    *right = tmi_value_kind_of(value) == TMI_VALUE_MAP &&
             !tmi_value_extra_key(value, keys, sizeof keys / sizeof *keys - (overlap ? 0 : 2)) &&
             tmi_noise_of_name(&gaussian, law) && tmi_is_sha256_text(hash) && numbers &&
             tmi_value_whole(value, "statistic") == (int64_t)e->statistic &&
             tmi_value_size(numbers) == (size_t)tmi_statistic_cells(&plan->statistics[e->statistic]);
    if (*right && overlap) {
        e->sample = tmi_value_whole(value, "sample");
        e->population = tmi_value_whole(value, "population");
        *right = e->sample > 1 && e->sample <= e->population && e->population <= TAMIS_MAX_UNITS;
    }
    *right = *right && read_pairs(e, tmi_value_get(value, "pairs"), plan);
    TMI_TRY(read_loss(&e->epsilon, right, value, "epsilon", TAMIS_MAX_LOSS, err));
    TMI_TRY(read_loss(&e->delta, right, value, "delta", 1, err));
    if (!*right) return TAMIS_OK;
    snprintf(e->certificate, sizeof e->certificate, "%s", hash);
    TMI_TRY(tmi_copy_string(&e->survey, tmi_value_field_text(value, "survey"), err));
    TMI_TRY(tmi_copy_string(&e->wave, *wave ? wave : NULL, err));
    e->numbers = tmi_alloc(tmi_value_size(numbers), sizeof *e->numbers);
    if (!e->numbers) TMI_TRY(tmi_fail_memory(err));
    e->count = tmi_value_size(numbers);
    size_t g = 0;
    for (const tmi_value *item = tmi_value_first(numbers); item && *right; item = tmi_value_next(item))
        TMI_TRY(read_number(&e->numbers[g++], right, item, gaussian, overlap, e->grouped, err));

done:
    return status;
}

tamis_status tmi_earlier_read_json(tmi_earlier_list *e, const tmi_value *json, const tamis_plan *plan, tamis_error *err)
{
    const size_t count = tmi_count_changes(plan);
    bool right = count > 0 ? tmi_value_kind_of(json) == TMI_VALUE_LIST && tmi_value_size(json) == count : !json;
    tamis_status status = TAMIS_OK;
    *e = (tmi_earlier_list){0};
    if (count > 0 && right) {
        e->list = tmi_alloc(count, sizeof *e->list);
        if (!e->list) TMI_TRY(tmi_fail_memory(err));
    }
    const tmi_value *item = right ? tmi_value_first(json) : NULL;
    for (size_t i = 0; i < plan->asked_count && item && right; i++) {
        if (plan->statistics[i].kind != TMI_CONTRAST_CHANGE) continue;
        e->list[e->count].statistic = i;
        TMI_TRY(read_one(&e->list[e->count++], &right, item, plan, err));
        item = tmi_value_next(item);
    }
    if (!right) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "expected the numbers of the earlier release for each change of the plan"));

done:
    if (status != TAMIS_OK) tmi_earlier_clear(e);
    return status;
}

#include "plan/frame_facts.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void tmi_frame_facts_clear(tmi_frame_facts *f)
{
    for (size_t h = 0; f->strata && h < f->count; h++) { tmi_number_frees(&f->strata[h].smallest, &f->strata[h].largest, NULL); }
    for (size_t k = 0; f->sizes && k < f->size_count; k++) {
        tmi_free(f->sizes[k].name);
        tmi_number_frees(&f->sizes[k].open, &f->sizes[k].certain, NULL);
    }
    tmi_free(f->strata);
    tmi_free(f->sizes);
    *f = (tmi_frame_facts){0};
}

static tamis_status make_room(tmi_frame_facts *f, size_t strata, tamis_error *err)
{
    *f = (tmi_frame_facts){.strata = tmi_alloc(strata, sizeof *f->strata), .count = strata};
    return f->strata ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_frame_facts_copy(tmi_frame_facts *to, const tmi_frame_facts *from, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(make_room(to, from->count, err));
    snprintf(to->hash, sizeof to->hash, "%s", from->hash);
    for (size_t h = 0; h < from->count; h++) {
        const tmi_frame_stratum *s = &from->strata[h];
        to->strata[h] = (tmi_frame_stratum){.units = s->units, .certain = s->certain};
        TMI_TRY(tmi_number_copy(&to->strata[h].smallest, s->smallest, err));
        if (s->largest) TMI_TRY(tmi_number_copy(&to->strata[h].largest, s->largest, err));
    }
    to->sizes = tmi_alloc(from->size_count, sizeof *to->sizes);
    if (!to->sizes) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < from->size_count; k++) {
        const tmi_frame_bound *b = &from->sizes[k];
        TMI_TRY(tmi_copy_string(&to->sizes[to->size_count++].name, b->name, err));
        if (b->open) TMI_TRY(tmi_number_copy(&to->sizes[k].open, b->open, err));
        if (b->certain) TMI_TRY(tmi_number_copy(&to->sizes[k].certain, b->certain, err));
    }

done:
    if (status != TAMIS_OK) tmi_frame_facts_clear(to);
    return status;
}

const tamis_number *tmi_frame_smallest(const tmi_frame_facts *f)
{
    const tamis_number *smallest = f->strata[0].smallest;
    for (size_t h = 1; h < f->count; h++)
        if (tmi_number_compare(f->strata[h].smallest, smallest) < 0) smallest = f->strata[h].smallest;
    return smallest;
}

int64_t tmi_frame_size(const tmi_frame_facts *f)
{
    int64_t units = 0;
    for (size_t h = 0; h < f->count; h++) units += f->strata[h].units;
    return units;
}

const tmi_frame_bound *tmi_frame_bound_by(const tmi_frame_facts *f, const char *name)
{
    for (size_t k = 0; k < f->size_count; k++)
        if (strcmp(f->sizes[k].name, name) == 0) return &f->sizes[k];
    return NULL;
}

/* ---- as JSON ---- */

static void put_number(tmi_json_out *out, const char *key, const tamis_number *number)
{
    char *text = NULL;
    tmi_json_key(out, key);
    if (!number) tmi_json_put_null(out);
    else if (tamis_number_write(&text, number, NULL) != TAMIS_OK) out->text->failed = true;
    else tmi_json_put_string(out, text);
    tmi_free(text);
}

void tmi_put_frame_facts(tmi_json_out *out, const tmi_frame_facts *f)
{
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "sha256", f->hash);
    tmi_json_add_open(out, "strata", '[');
    for (size_t h = 0; h < f->count; h++) {
        const tmi_frame_stratum *s = &f->strata[h];
        tmi_json_open(out, '{');
        tmi_json_add_integer(out, "units", s->units);
        tmi_json_add_integer(out, "certain", s->certain);
        put_number(out, "smallest", s->smallest);
        put_number(out, "largest", s->largest);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    if (f->size_count > 0) tmi_json_add_open(out, "sizes", '[');
    for (size_t k = 0; k < f->size_count; k++) {
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "column", f->sizes[k].name);
        put_number(out, "open", f->sizes[k].open);
        put_number(out, "certain", f->sizes[k].certain);
        tmi_json_close(out, '}');
    }
    if (f->size_count > 0) tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

/* A probability; NULL if there is none. */
static tamis_status read_probability(tamis_number **number, const tmi_value *object, const char *key, tamis_error *err)
{
    const tmi_value *text = tmi_value_field(object, key, TMI_VALUE_TEXT);
    *number = NULL;
    if (!text) return TAMIS_OK;
    tamis_status status = tamis_number_read(number, tmi_value_string(text), NULL);
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    if (status == TAMIS_OK && tmi_number_sign(*number) > 0 && tmi_number_compare_int(*number, 1) <= 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "frame: a probability is not a number above 0 and at most 1");
}

static tamis_status read_stratum(tmi_frame_stratum *s, const tmi_value *json, tamis_error *err)
{
    const tmi_value *units = tmi_value_field(json, "units", TMI_VALUE_INTEGER),
                    *certain = tmi_value_field(json, "certain", TMI_VALUE_INTEGER);
    tamis_status status = read_probability(&s->smallest, json, "smallest", err);
    if (status == TAMIS_OK) status = read_probability(&s->largest, json, "largest", err);
    if (status != TAMIS_OK) return status;
    bool right = units && certain && s->smallest;
    if (right) {
        s->units = tmi_value_integer(units);
        s->certain = tmi_value_integer(certain);
        bool open = s->certain < s->units;
        right = s->units > 0 && s->units <= INT64_C(1) << 40 && s->certain >= 0 && s->certain <= s->units &&
                open == (s->largest != NULL);
        if (right && open) right = tmi_number_compare_int(s->largest, 1) < 0 && tmi_number_compare(s->smallest, s->largest) <= 0;
        else if (right) right = tmi_number_compare_int(s->smallest, 1) == 0;
    }
    return right ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "frame: the numbers of a stratum are inconsistent or missing");
}

/* A bound of sizes; NULL if there is none. */
static tamis_status read_largest(tamis_number **number, const tmi_value *object, const char *key, tamis_error *err)
{
    const tmi_value *text = tmi_value_field(object, key, TMI_VALUE_TEXT);
    *number = NULL;
    if (!text) return TAMIS_OK;
    tamis_status status = tamis_number_read(number, tmi_value_string(text), NULL);
    if (status == TAMIS_SYSTEM) return tmi_fail_memory(err);
    if (status == TAMIS_OK && tmi_number_sign(*number) >= 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "frame: the largest of some sizes is not a number of at least 0");
}

static tamis_status read_sizes(tmi_frame_facts *f, const tmi_value *list, tamis_error *err)
{
    bool open = false, certain = false;
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < f->count; h++) {
        open = open || f->strata[h].largest;
        certain = certain || f->strata[h].certain > 0;
    }
    f->sizes = tmi_alloc(tmi_value_size(list), sizeof *f->sizes);
    if (!f->sizes) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < tmi_value_size(list); k++) {
        const tmi_value *json = tmi_value_at(list, k);
        tmi_frame_bound *b = &f->sizes[f->size_count++];
        TMI_TRY(tmi_copy_string(&b->name, tmi_value_field_text(json, "column"), err));
        TMI_TRY(read_largest(&b->open, json, "open", err));
        TMI_TRY(read_largest(&b->certain, json, "certain", err));
        if ((b->open != NULL) != open || (b->certain != NULL) != certain)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                             "frame: must have the largest size of certain units and of the others, where there are some"));
    }

done:
    return status;
}

tamis_status tmi_frame_facts_read(tmi_frame_facts *f, const tmi_value *json, size_t strata, tamis_error *err)
{
    const tmi_value *hash = tmi_value_field(json, "sha256", TMI_VALUE_TEXT),
                    *list = tmi_value_field(json, "strata", TMI_VALUE_LIST);
    tamis_status status;
    *f = (tmi_frame_facts){0};
    if (!hash || !tmi_is_sha256_text(tmi_value_string(hash)) || !list || tmi_value_size(list) != strata)
        return tmi_fail(err, TAMIS_INVALID, "frame: must have the hash of the frame and %zu strata", strata);
    TMI_TRY(make_room(f, strata, err));
    snprintf(f->hash, sizeof f->hash, "%s", tmi_value_string(hash));
    for (size_t h = 0; h < strata; h++) TMI_TRY(read_stratum(&f->strata[h], tmi_value_at(list, h), err));
    const tmi_value *sizes = tmi_value_field(json, "sizes", TMI_VALUE_LIST);
    if (sizes) TMI_TRY(read_sizes(f, sizes, err));

done:
    if (status != TAMIS_OK) tmi_frame_facts_clear(f);
    return status;
}

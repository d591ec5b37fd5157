/* One line in, one line out. Whatever the line holds, the answer is a JSON object with the request's id (null if it
 * cannot be read) and either "out" or "error".                                                                      */
#include <string.h>
#include <tamis/compute.h>

#include "compute/compute.h"

static const tmi_area *const areas[] = {
    &tmi_area_above_threshold,        &tmi_area_accuracy_gain,   &tmi_area_amplification,      &tmi_area_composition,
    &tmi_area_ht_general_enumeration, &tmi_area_ht_srs_binary,   &tmi_area_inclusion,          &tmi_area_interval,
    &tmi_area_inverse_sensitivity,    &tmi_area_k_randomization, &tmi_area_smooth_sensitivity,
};
#define AREAS (sizeof areas / sizeof *areas)

typedef struct request {
    tmi_value *document;
    const char *id; /* NULL until it is read */
    const tmi_kind *kind;
    const tmi_value *in;
    bool unknown; /* the area or the kind is */
} request;

/* ---- reading ---- */

static tamis_status get_string(const char **string, const tmi_value *document, const char *key, tamis_error *err)
{
    const tmi_value *json = tmi_value_get(document, key);
    if (!json) return tmi_fail(err, TAMIS_INVALID, "the field '%s' is missing", key);
    if (tmi_value_kind_of(json) != TMI_VALUE_TEXT) return tmi_fail(err, TAMIS_INVALID, "%s: must be a string", key);
    *string = tmi_value_string(json);
    return TAMIS_OK;
}

/* "area: not known; it is one of ..." */
static tamis_status unknown(request *r, const char *what, tmi_text *names, tamis_error *err)
{
    tamis_status status;
    r->unknown = !names->failed;
    if (names->failed) status = tmi_fail_memory(err);
    else status = tmi_fail(err, TAMIS_INVALID, "%s: unknown; expected one of %s", what, names->bytes);
    tmi_text_clear(names);
    return status;
}

static tamis_status find_area(const tmi_area **area, request *r, tamis_error *err)
{
    const char *name = NULL;
    tamis_status status = get_string(&name, r->document, "area", err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < AREAS; i++) {
        if (strcmp(areas[i]->name, name) != 0) continue;
        *area = areas[i];
        return TAMIS_OK;
    }
    tmi_text names;
    tmi_text_init(&names);
    for (size_t i = 0; i < AREAS; i++) tmi_text_format(&names, "%s%s", i == 0 ? "" : ", ", areas[i]->name);
    return unknown(r, "area", &names, err);
}

static tamis_status find_kind(request *r, const tmi_area *area, tamis_error *err)
{
    const char *name = NULL;
    tamis_status status = get_string(&name, r->document, "kind", err);
    if (status != TAMIS_OK) return status;
    for (const tmi_kind *kind = area->kinds; kind->name; kind++) {
        if (strcmp(kind->name, name) != 0) continue;
        r->kind = kind;
        return TAMIS_OK;
    }
    tmi_text names;
    tmi_text_init(&names);
    for (const tmi_kind *kind = area->kinds; kind->name; kind++)
        tmi_text_format(&names, "%s%s", kind == area->kinds ? "" : ", ", kind->name);
    return unknown(r, "kind", &names, err);
}

static tamis_status read_request(request *r, const char *line, size_t length, tamis_error *err)
{
    static const char *const keys[] = {"id", "area", "kind", "in"};
    tamis_status status = TAMIS_OK;
    const tmi_area *area = NULL;
    if (!line && length > 0) return tmi_fail(err, TAMIS_INVALID, "line: NULL");
    if (length > TAMIS_COMPUTE_LINE_MAX)
        return tmi_fail(err, TAMIS_INVALID, "the line is longer than %zu bytes", TAMIS_COMPUTE_LINE_MAX);
    if (length == 0) return tmi_fail(err, TAMIS_INVALID, "the line is empty");
    TMI_TRY(tmi_json_read(&r->document, line, length, err));
    if (tmi_value_kind_of(r->document) != TMI_VALUE_MAP)
        return tmi_fail(err, TAMIS_INVALID, "a request is an object with the fields id, area, kind, in");
    TMI_TRY(get_string(&r->id, r->document, "id", err));
    const char *extra = tmi_value_extra_key(r->document, keys, sizeof keys / sizeof *keys);
    if (extra) return tmi_fail(err, TAMIS_INVALID, "'%s' is not a field of a request", tmi_value_short_name(extra));
    TMI_TRY(find_area(&area, r, err));
    TMI_TRY(find_kind(r, area, err));
    r->in = tmi_value_get(r->document, "in");
    if (!r->in) return tmi_fail(err, TAMIS_INVALID, "the field 'in' is missing");
    if (tmi_value_kind_of(r->in) != TMI_VALUE_MAP) return tmi_fail(err, TAMIS_INVALID, "in: must be an object");
done:
    return status;
}

/* ---- answering ---- */

static tamis_status write_out(char **answer, const request *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_field_value values[TMI_FIELDS] = {0};
    tmi_text text;
    tmi_json_out out;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    TMI_TRY(tmi_fields_read(values, r->kind->fields, r->in, err));
    tmi_json_open(&out, '{');
    tmi_json_add_string(&out, "id", r->id);
    tmi_json_add_open(&out, "out", '{');
    TMI_TRY(r->kind->compute(&out, values, err));
    tmi_json_close(&out, '}');
    tmi_json_close(&out, '}');
    TMI_TRY(tmi_text_take(answer, &text, err));
done:
    tmi_text_clear(&text);
    tmi_fields_clear(values);
    return status;
}

static const char *code_of(const request *r, tamis_status status)
{
    if (r->unknown) return "unknown";
    switch (status) {
    case TAMIS_INVALID: return "invalid";
    case TAMIS_REFUSED: return "refused";
    case TAMIS_UNABLE: return "unable";
    case TAMIS_OK:
    case TAMIS_SYSTEM: break;
    }
    return "system";
}

static void write_error(char **answer, const request *r, const tamis_error *err)
{
    tmi_text text;
    tmi_json_out out;
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tmi_json_open(&out, '{');
    tmi_json_add_string(&out, "id", r->id);
    tmi_json_add_open(&out, "error", '{');
    tmi_json_add_string(&out, "code", code_of(r, err->status));
    tmi_json_add_string(&out, "message", err->message);
    tmi_json_close(&out, '}');
    tmi_json_close(&out, '}');
    tmi_text_take(answer, &text, NULL);
}

tamis_status tamis_compute_line(char **answer, const char *line, size_t length, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_error own;
    request r = {0};
    if (!answer) return tmi_fail(err, TAMIS_INVALID, "answer: NULL");
    *answer = NULL;
    if (!err) err = &own;
    TMI_TRY(read_request(&r, line, length, err));
    TMI_TRY(write_out(answer, &r, err));
done:
    if (status != TAMIS_OK) write_error(answer, &r, err);
    tmi_value_free(r.document);
    return status;
}

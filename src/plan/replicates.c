/* design.replicates: the replicate weights of a finished survey, which `tamis estimate` takes its variances from. A release never
 * reads them: each of them is a function of the whole sample, and none has a bound. */
#include <string.h>

#include "base/memory.h"
#include "plan/design_fields.h"

static const char *const types[] = {[TMI_JK1] = "jk1",
                                    [TMI_JKN] = "jkn",
                                    [TMI_BRR] = "brr",
                                    [TMI_FAY] = "fay",
                                    [TMI_BOOTSTRAP] = "bootstrap",
                                    [TMI_OTHER_REPLICATES] = "other"};

const char *tmi_replicate_type_name(tmi_replicate_type type) { return types[type]; }

/* One replicate, or the same one twice, has no variance. */
static void read_columns(tmi_reader *reader, const tmi_value *list, tmi_plan_replicates *r)
{
    if (list->count < 2) {
        tmi_complain(reader, list, "expected a list of 2 to %d columns, e.g. [repw1, repw2]", TMI_MAX_REPLICATES);
        return;
    }
    if (!tmi_read_texts(reader, list, &r->weights, &r->count, TMI_MAX_REPLICATES, "repw1, repw2")) return;
    const tmi_value *item = tmi_value_first(list);
    for (size_t i = 0; i < r->count; i++, item = tmi_value_next(item))
        for (size_t j = 0; j < i; j++) {
            if (strcmp(r->weights[i], r->weights[j]) != 0) continue;
            tmi_complain(reader, item, "duplicate in the list of columns");
            return;
        }
}

static void read_weights(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_replicates *r = target;
    if (value->kind == TMI_VALUE_LIST) {
        read_columns(reader, value, r);
        return;
    }
    char *pattern = NULL;
    if (!tmi_read_text(reader, value, &pattern, "\"repw*\"")) return;
    const char *star = strchr(pattern, '*');
    r->weights = tmi_alloc(1, sizeof *r->weights);
    if (!r->weights) {
        reader->no_memory = true;
        tmi_free(pattern);
        return;
    }
    r->weights[0] = pattern;
    r->count = 1;
    r->is_pattern = true;
    if (!star || strchr(star + 1, '*'))
        tmi_complain(reader, value, "expected a list of columns, or the beginning of their names with one *, e.g. \"repw*\"");
}

static void read_type(tmi_reader *reader, const tmi_value *value, void *target)
{
    size_t i;
    if (tmi_read_word(reader, value, &i, types, sizeof types / sizeof *types))
        ((tmi_plan_replicates *)target)->type = (tmi_replicate_type)i;
}

static bool read_positive(tmi_reader *reader, const tmi_value *value, tamis_number **number, const char *example)
{
    if (!tmi_read_exact(reader, value, number, example)) return false;
    if (tmi_number_sign(*number) > 0) return true;
    tmi_complain(reader, value, "expected a number above 0, e.g. %s", example);
    return false;
}

static void read_scale(tmi_reader *reader, const tmi_value *value, void *target)
{
    read_positive(reader, value, &((tmi_plan_replicates *)target)->scale, "0.05");
}

static void read_rho(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_replicates *r = target;
    if (read_positive(reader, value, &r->rho, "0.3") && tmi_number_compare_int(r->rho, 1) >= 0)
        tmi_complain(reader, value, "expected a number above 0 and below 1, e.g. 0.3");
}

static void read_rscales(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_replicates *r = target;
    if (value->kind != TMI_VALUE_LIST || value->count == 0 || value->count > TMI_MAX_REPLICATES) {
        tmi_complain(reader, value, "expected a list of numbers, one for each replicate, e.g. [0.9, 0.9, 0.8]");
        return;
    }
    r->rscales = tmi_alloc(value->count, sizeof *r->rscales);
    if (!r->rscales) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        tamis_number **number = &r->rscales[r->rscale_count++];
        if (tmi_read_exact(reader, item, number, "0.9") && tmi_number_sign(*number) < 0)
            tmi_complain(reader, item, "expected a number of at least 0, e.g. 0.9");
    }
}

#define EXAMPLE "{weights: \"repw*\", type: jk1}"

void tmi_read_replicates(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "weights", .read = read_weights, .required = "weights: \"repw*\""},
        {.name = "type", .read = read_type, .required = "type: jk1"},
        {.name = "scale", .read = read_scale},
        {.name = "rscales", .read = read_rscales},
        {.name = "rho", .read = read_rho},
        {.name = "mse", .plain = tmi_plain_yes_no, .field = offsetof(tmi_plan_replicates, mse)},
    };
    tmi_plan_replicates *r = &((tamis_plan *)target)->design.replicates;
    const size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, EXAMPLE, r);
    if (reader->count > before || value->kind != TMI_VALUE_MAP) return;
    const tmi_value *scale = tmi_value_get(value, "scale"), *rho = tmi_value_get(value, "rho");
    if (r->type == TMI_FAY && !rho)
        tmi_complain_key(reader, value, "expected the key rho with type: fay, e.g. {weights: \"repw*\", type: fay, rho: 0.3}");
    if (r->type != TMI_FAY && rho) tmi_complain_key(reader, rho, "is for type: fay");
    if ((r->type == TMI_FAY || r->type == TMI_BRR) && scale)
        tmi_complain_key(reader, scale, "follows from the number of replicates with type: %s", types[r->type]);
    if (r->type == TMI_JKN && r->rscale_count == 0)
        tmi_complain_key(
            reader, value,
            "expected the key rscales with type: jkn, (n-1)/n of each replicate's stratum, e.g. rscales: [0.9, 0.9]");
    if (!r->is_pattern && r->rscale_count > 0 && r->rscale_count != r->count)
        tmi_complain(reader, tmi_value_get(value, "rscales"), "expected as many numbers as there are columns of weights: %zu",
                     r->count);
}

void tmi_put_replicates(tmi_json_out *out, const tmi_plan_replicates *r)
{
    if (!r->weights) return;
    tmi_json_add_open(out, "replicates", '{');
    if (r->is_pattern) {
        tmi_json_add_string(out, "weights", r->weights[0]);
    } else {
        tmi_json_add_open(out, "weights", '[');
        for (size_t i = 0; i < r->count; i++) tmi_json_put_string(out, r->weights[i]);
        tmi_json_close(out, ']');
    }
    tmi_json_add_string(out, "type", types[r->type]);
    tmi_put_exact_field(out, "scale", r->scale);
    tmi_put_exact_field(out, "rho", r->rho);
    if (r->rscale_count > 0) {
        tmi_json_add_open(out, "rscales", '[');
        for (size_t i = 0; i < r->rscale_count; i++) tmi_put_exact_value(out, r->rscales[i]);
        tmi_json_close(out, ']');
    }
    tmi_put_yes_field(out, "mse", r->mse);
    tmi_json_close(out, '}');
}

void tmi_replicates_clear(const tmi_plan_replicates *r)
{
    for (size_t i = 0; i < r->count; i++) tmi_free(r->weights[i]);
    tmi_free(r->weights);
    for (size_t i = 0; i < r->rscale_count; i++) tamis_number_free(r->rscales[i]);
    tmi_free(r->rscales);
    tamis_number_free(r->scale);
    tamis_number_free(r->rho);
}

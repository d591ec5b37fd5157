#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"
#include "frame/file.h"
#include "frame/units.h"

/* ---- the parts of a design ---- */

typedef enum needs {
    SAMPLE,            /* a sample size */
    RATE,
    PROBABILITY,       /* a column of probabilities, or of sizes with a sample size */
    SAMPLE_OR_UNEQUAL, /* either */
} needs;

static const struct method {
    const char *name;
    needs needs;
} methods[] = {
    {"srs", SAMPLE},
    {"bernoulli", RATE},
    {"systematic", SAMPLE_OR_UNEQUAL},
    {"systematic_random", SAMPLE_OR_UNEQUAL},
    {"poisson", PROBABILITY},
    {"pivotal", PROBABILITY},
    {"pivotal_random", PROBABILITY},
    {"conditional_poisson", PROBABILITY},
    {"sampford", PROBABILITY},
};

static tamis_status check_numbers(const tamis_frame_design *d, needs needs, tamis_error *err)
{
    const bool has_size = d->sample != 0 || d->allocation, unequal = d->size || d->probability;
    if ((needs == RATE) != (d->rate != NULL))
        return tmi_fail(err, TAMIS_INVALID, d->rate ? "rate: only bernoulli has one" : "rate: bernoulli needs one");
    if (unequal && (needs == RATE || needs == SAMPLE))
        return tmi_fail(err, TAMIS_INVALID, "%s: %s draws with equal probabilities", d->size ? "size" : "probability",
                        d->method);
    if (!unequal && needs == PROBABILITY)
        return tmi_fail(err, TAMIS_INVALID, "probability: %s needs a column of probabilities, or of sizes", d->method);
    const bool needs_size = needs != RATE && !d->probability;
    if (needs_size && !has_size) return tmi_fail(err, TAMIS_INVALID, "sample: how many units shall be drawn?");
    if (!needs_size && has_size)
        return tmi_fail(err, TAMIS_INVALID, "%s: the %s decides how many are drawn", d->sample ? "sample" : "allocation",
                        d->rate ? "rate" : "column of probabilities");
    return TAMIS_OK;
}

tamis_status tamis_frame_design_check(const tamis_frame_design *design, tamis_error *err)
{
    if (!design || !design->method) return tmi_fail(err, TAMIS_INVALID, "design: none given");
    const struct method *m = methods, *end = methods + sizeof methods / sizeof *methods;
    while (m < end && strcmp(m->name, design->method) != 0) m++;
    if (m == end)
        return tmi_fail(err, TAMIS_INVALID, "design: must be srs, bernoulli, systematic, systematic_random, poisson, "
                        "pivotal, pivotal_random, conditional_poisson or sampford");
    if (design->sample < 0 || design->sample > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "sample: must be between 1 and 2^40");
    if (design->size && design->probability)
        return tmi_fail(err, TAMIS_INVALID, "size: either sizes or probabilities, not both");
    if (design->sample && design->allocation)
        return tmi_fail(err, TAMIS_INVALID, "allocation: either one sample size or a column, not both");
    if (design->allocation && !design->strata) return tmi_fail(err, TAMIS_INVALID, "allocation: there are no strata");
    return check_numbers(design, m->needs, err);
}

/* ---- the design of the frame's units ---- */

/* The units stratum by stratum, in the frame's order inside each. */
typedef struct order {
    int64_t *rows;          /* by unit of the design; NULL: the same */
    tamis_number **numbers; /* by unit of the design; NULL if there are none */
    tamis_number **sorted;  /* the list of them, if it is not the one of the units */
} order;

static tamis_status sort_units(order *o, const tmi_units *units, tamis_error *err)
{
    *o = (order){.numbers = units->numbers};
    if (!units->stratum_of) return TAMIS_OK;
    tamis_status status = TAMIS_OK;
    int64_t *next = tmi_alloc(units->stratum_count, sizeof *next), unit = 0;
    o->rows = tmi_alloc((size_t)units->count, sizeof *o->rows);
    if (units->numbers) o->numbers = o->sorted = tmi_alloc((size_t)units->count, sizeof *o->sorted);
    if (!next || !o->rows || (units->numbers && !o->sorted)) TMI_TRY(tmi_fail_memory(err));
    for (size_t s = 0; s < units->stratum_count; s++) {
        next[s] = unit;
        unit += units->strata[s].count;
    }
    for (int64_t row = 0; row < units->count; row++) {
        const int64_t u = next[units->stratum_of[row]]++;
        o->rows[u] = row;
        if (units->numbers) o->sorted[u] = units->numbers[row];
    }
done:
    tmi_free(next);
    return status;
}

static void clear_order(order *o)
{
    tmi_free(o->sorted);
    tmi_free(o->rows);
}

static tamis_status make_equal(tamis_design **made, const tamis_frame_design *design, int64_t count, int64_t sample,
                               tamis_error *err)
{
    if (design->rate) return tamis_design_bernoulli(made, count, design->rate, err);
    if (strcmp(design->method, "srs") == 0) return tamis_design_srs(made, count, sample, err);
    return tamis_design_systematic(made, count, sample, strcmp(design->method, "systematic_random") == 0, err);
}

static tamis_status make_unequal(tamis_design **made, const char *method, tamis_number *const *pi, size_t count,
                                 tamis_error *err)
{
    const tamis_number *const *list = (const tamis_number *const *)pi;
    if (strcmp(method, "poisson") == 0) return tamis_design_poisson(made, list, count, err);
    return tamis_design_pps(made, method, list, count, err);
}

static tamis_status make_sized(tamis_design **made, const char *method, tamis_number *const *sizes, size_t count,
                               int64_t sample, tamis_error *err)
{
    tamis_number **pi = tmi_alloc(count, sizeof *pi);
    if (!pi) return tmi_fail_memory(err);
    tamis_status status = tamis_pps_probabilities(pi, (const tamis_number *const *)sizes, count, sample, err);
    if (status == TAMIS_OK) status = make_unequal(made, method, pi, count, err);
    for (size_t i = 0; i < count; i++) tamis_number_free(pi[i]);
    tmi_free(pi);
    return status;
}

static tamis_status make_stratum(tamis_design **made, const tamis_frame_design *design, const tmi_stratum *stratum,
                                 tamis_number *const *numbers, tamis_error *err)
{
    const int64_t sample = stratum->sample ? stratum->sample : design->sample;
    const size_t count = (size_t)stratum->count;
    if (sample > stratum->count)
        return tmi_fail(err, TAMIS_INVALID, "sample: %lld units, but there are only %lld", (long long)sample,
                        (long long)stratum->count);
    if (!numbers) return make_equal(made, design, stratum->count, sample, err);
    if (design->size) return make_sized(made, design->method, numbers, count, sample, err);
    return make_unequal(made, design->method, numbers, count, err);
}

static tamis_status make_design(tamis_design **made, const tamis_frame_design *design, const tmi_units *units,
                                const order *o, tamis_error *err)
{
    if (!units->stratum_of) return make_stratum(made, design, &units->strata[0], o->numbers, err);
    size_t count = units->stratum_count;
    int64_t first = 0;
    tamis_status status = TAMIS_OK;
    tamis_design **strata = tmi_alloc(count, sizeof *strata);
    if (!strata) return tmi_fail_memory(err);
    for (size_t s = 0; s < count; s++) {
        const tmi_stratum *stratum = &units->strata[s];
        tamis_error inner;
        status = make_stratum(&strata[s], design, stratum, o->numbers ? o->numbers + first : NULL, &inner);
        if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
        if (status != TAMIS_OK)
            TMI_TRY(tmi_fail(err, status, "the stratum of row %lld: %s", (long long)stratum->first + 1, inner.message));
        first += stratum->count;
    }
    TMI_TRY(tamis_design_take_strata(made, strata, count, err));
    count = 0;
done:
    for (size_t s = 0; s < count; s++) tamis_design_free(strata[s]);
    tmi_free(strata);
    return status;
}

/* ---- the sample ---- */

typedef struct chosen {
    int64_t row;
    double probability;
} chosen;

static int by_row(const void *a, const void *b)
{
    const int64_t x = ((const chosen *)a)->row, y = ((const chosen *)b)->row;
    return (x > y) - (x < y);
}

static tamis_status draw_rows(chosen **list, size_t *count, const tamis_design *design, const order *o, tamis_error *err)
{
    tamis_sampler *sampler = NULL;
    tamis_rng *rng = NULL;
    tamis_drawn drawn = {0};
    tamis_bound *pi = NULL;
    tamis_status status;
    TMI_TRY(tamis_rng_new(&rng, err));
    TMI_TRY(tamis_sampler_new(&sampler, design, NULL, NULL, err));
    TMI_TRY(tamis_draw(&drawn, sampler, rng, NULL, NULL, err));
    *list = tmi_alloc(drawn.count, sizeof **list);
    pi = tmi_alloc(drawn.count, sizeof *pi);
    if (!*list || !pi) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tamis_inclusion_first(pi, design, drawn.units, drawn.count, err));
    for (size_t i = 0; i < drawn.count; i++) {
        const int64_t unit = drawn.units[i];
        (*list)[i] = (chosen){o->rows ? o->rows[unit] : unit, pi[i].lower + (pi[i].upper - pi[i].lower) / 2};
    }
    *count = drawn.count;
    if (o->rows) qsort(*list, *count, sizeof **list, by_row);
done:
    tmi_free(pi);
    tamis_drawn_clear(&drawn);
    tamis_sampler_free(sampler);
    tamis_rng_free(rng);
    return status;
}

static void put_cell(tmi_text *csv, tmi_cell cell)
{
    bool quoted = false;
    for (size_t i = 0; i < cell.length && !quoted; i++)
        quoted = strchr(",\"\r\n", cell.bytes[i]) || (cell.bytes[i] == ' ' && (i == 0 || i + 1 == cell.length));
    if (!quoted) {
        if (cell.length > 0) tmi_text_add(csv, cell.bytes, cell.length);
        return;
    }
    tmi_text_put(csv, "\"");
    for (size_t i = 0; i < cell.length; i++) {
        if (cell.bytes[i] == '"') tmi_text_add(csv, "\"", 1);
        tmi_text_add(csv, cell.bytes + i, 1);
    }
    tmi_text_put(csv, "\"");
}

typedef struct writer {
    tmi_text csv;
    const chosen *next, *end;
    size_t columns;
} writer;

static tamis_status write_rows(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    writer *w = context;
    for (; w->next < w->end && w->next->row < first + (int64_t)rows; w->next++) {
        const size_t i = (size_t)(w->next->row - first);
        for (size_t c = 0; c < w->columns; c++) {
            put_cell(&w->csv, cells[c][i]);
            tmi_text_add(&w->csv, ",", 1);
        }
        tmi_text_real(&w->csv, w->next->probability);
        tmi_text_add(&w->csv, ",", 1);
        tmi_text_real(&w->csv, 1 / w->next->probability);
        tmi_text_add(&w->csv, "\n", 1);
    }
    return w->csv.failed ? tmi_fail_memory(err) : TAMIS_OK;
}

static const char *const added[] = {"inclusion_probability", "weight"};

static tamis_status check_names(const tmi_frame *frame, tamis_error *err)
{
    for (size_t c = 0; c < frame->column_count; c++)
        for (size_t a = 0; a < 2; a++)
            if (strcmp(frame->names[c], added[a]) == 0)
                return tmi_fail(err, TAMIS_INVALID, "the frame has a column %s already; the sample gets one: rename it",
                                added[a]);
    return TAMIS_OK;
}

static tamis_status write_sample(const char *out, tmi_frame *frame, const chosen *list, size_t count, tamis_error *err)
{
    writer w = {.next = list, .end = list + count, .columns = frame->column_count};
    size_t *columns = tmi_alloc(w.columns, sizeof *columns);
    tamis_status status = TAMIS_OK;
    tmi_text_init(&w.csv);
    if (!columns) TMI_TRY(tmi_fail_memory(err));
    for (size_t c = 0; c < w.columns; c++) {
        columns[c] = c;
        put_cell(&w.csv, (tmi_cell){frame->names[c], strlen(frame->names[c])});
        tmi_text_put(&w.csv, ",");
    }
    tmi_text_format(&w.csv, "%s,%s\n", added[0], added[1]);
    TMI_TRY(tmi_frame_read(frame, columns, w.columns, write_rows, &w, err));
    if (w.csv.failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_file_write(out, w.csv.bytes, w.csv.length, err));
done:
    if (w.csv.bytes) tmi_wipe(w.csv.bytes, w.csv.length);
    tmi_text_clear(&w.csv);
    tmi_free(columns);
    return status;
}

tamis_status tamis_frame_draw(tamis_frame_sample *sample, const char *frame, const tamis_frame_design *design,
                              const char *out, tamis_error *err)
{
    tmi_frame *file = NULL;
    tmi_units units = {0};
    order o = {0};
    tamis_design *made = NULL;
    chosen *list = NULL;
    size_t count = 0;
    tamis_status status;
    if (!sample) return tmi_fail(err, TAMIS_INVALID, "sample: must not be NULL");
    *sample = (tamis_frame_sample){0};
    if (!frame) return tmi_fail(err, TAMIS_INVALID, "frame: must not be NULL");
    if (!out) return tmi_fail(err, TAMIS_INVALID, "out: must not be NULL");
    TMI_TRY(tamis_frame_design_check(design, err));
    TMI_TRY(tmi_file_check(out, err));
    TMI_TRY(tmi_frame_open(&file, frame, err));
    TMI_TRY(check_names(file, err));
    TMI_TRY(tmi_units_read(&units, file, design, err));
    TMI_TRY(sort_units(&o, &units, err));
    TMI_TRY(make_design(&made, design, &units, &o, err));
    TMI_TRY(draw_rows(&list, &count, made, &o, err));
    TMI_TRY(write_sample(out, file, list, count, err));
    *sample = (tamis_frame_sample){units.count, (int64_t)count, (int64_t)units.stratum_count};
done:
    if (list) tmi_wipe(list, count * sizeof *list);
    tmi_free(list);
    tamis_design_free(made);
    clear_order(&o);
    tmi_units_clear(&units);
    tmi_frame_free(file);
    return status;
}

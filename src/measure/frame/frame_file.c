#include "measure/frame/frame_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "engine/core/cells.h"
#include "engine/files/files.h"
#include "engine/files/frame.h"
#include "num/exact.h"

/* How far the probabilities of a stratum may add up beside its sample size: they are rounded in the file. */
#define ROUNDED 1e-6
#define FITS 999000 /* a sample over this is a little more than ROUNDED allows: sums are made of doubles */

#define SMALLEST 0x1p-40 /* probability */

#define LONGEST_NUMBER 2100 /* a number may have 1000 digits above and below */

void tmi_frame_file_clear(tmi_frame_file *f)
{
    for (size_t i = 0; f->ids && i < f->count; i++) tmi_free(f->ids[i]);
    tmi_free(f->ids);
    tmi_free(f->pi);
    tmi_free(f->strata);
    for (size_t k = 0; f->sizes && k < f->facts.size_count; k++) tmi_free(f->sizes[k]);
    tmi_free(f->sizes);
    tmi_frame_facts_clear(&f->facts);
    *f = (tmi_frame_file){0};
}

/* ---- rows ---- */

#define MOST_SIZES 32 /* columns of sizes */

/* Sizes come last. */
typedef enum place { ID, PROBABILITY, STRATUM, SIZES, PLACES = SIZES + MOST_SIZES } place;

typedef struct reader {
    tmi_frame_file *f;
    const tmi_plan_design *design;
    const char *names[PLACES];
    size_t columns[PLACES], count; /* which of these places are read, in this order */
    tmi_codes *strata;             /* NULL: one stratum */
    tmi_form form;                 /* of the column of strata */
    double *sums;                  /* of the probabilities of a stratum */
} reader;

static tamis_status bad_cell(const reader *r, size_t p, int64_t row, const char *what, tamis_error *err)
{
    return tmi_fail(err, TAMIS_INVALID, "design.frame: column %s, row %lld: %s", r->names[p], (long long)row + 1, what);
}

static tamis_status read_number(tamis_number **number, const reader *r, size_t p, int64_t row, tmi_cell cell, tamis_error *err)
{
    char text[LONGEST_NUMBER];
    *number = NULL;
    if (cell.length == 0) return bad_cell(r, p, row, "empty", err);
    if (cell.length >= sizeof text || memchr(cell.bytes, '\0', cell.length)) return bad_cell(r, p, row, "not a number", err);
    memcpy(text, cell.bytes, cell.length);
    text[cell.length] = '\0';
    tamis_status status = tamis_number_read(number, text, NULL);
    if (status == TAMIS_INVALID) return bad_cell(r, p, row, "not a number", err);
    return status == TAMIS_OK ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status read_probability(tamis_number **pi, const reader *r, int64_t row, tmi_cell cell, tamis_error *err)
{
    tamis_status status = read_number(pi, r, PROBABILITY, row, cell, err);
    if (status != TAMIS_OK) return status;
    if (tmi_number_sign(*pi) > 0 && tmi_number_compare_int(*pi, 1) <= 0 && tmi_number_nearest(*pi) >= SMALLEST) return TAMIS_OK;
    tamis_number_free(*pi);
    *pi = NULL;
    return bad_cell(r, PROBABILITY, row, "expected a probability, from 2^-40 to 1", err);
}

/* 1 is that of certain units alone, whose records are measured apart: another one that is rounded to 1 could come and go. */
static double nearest_probability(const tamis_number *pi)
{
    const double nearest = tmi_number_nearest(pi);
    return nearest == 1 && tmi_number_compare_int(pi, 1) < 0 ? nextafter(1, 0) : nearest;
}

static void keep(tamis_number **best, tamis_number **pi, bool better)
{
    if (!better) return;
    tamis_number_free(*best);
    *best = *pi;
    *pi = NULL;
}

/* Takes the probability. */
static tamis_status add_probability(tmi_frame_stratum *s, tamis_number *pi, tamis_error *err)
{
    tamis_number *again = NULL;
    const bool certain = tmi_number_compare_int(pi, 1) == 0;
    tamis_status status = TAMIS_OK;
    s->units++;
    s->certain += certain;
    if (!certain && (!s->largest || tmi_number_compare(pi, s->largest) > 0)) {
        TMI_TRY(tmi_number_copy(&again, pi, err));
        keep(&s->largest, &again, true);
    }
    keep(&s->smallest, &pi, !s->smallest || tmi_number_compare(pi, s->smallest) < 0);

done:
    tamis_number_free(pi);
    return status;
}

/* The largest size of certain units, or size over probability of the others. */
static tamis_status take_size(reader *r, size_t k, int64_t row, tmi_cell cell, const tamis_number *pi, tamis_error *err)
{
    tmi_frame_bound *b = &r->f->facts.sizes[k];
    tamis_number *size = NULL, *worth = NULL;
    tamis_status status;
    TMI_TRY(read_number(&size, r, SIZES + k, row, cell, err));
    if (tmi_number_sign(size) < 0) TMI_TRY(bad_cell(r, SIZES + k, row, "expected a size of at least 0", err));
    r->f->sizes[k][row] = tmi_number_nearest(size);
    tamis_number **best = tmi_number_compare_int(pi, 1) == 0 ? &b->certain : &b->open;
    TMI_TRY(tmi_number_div(&worth, size, pi, err));
    keep(best, &worth, !*best || tmi_number_compare(worth, *best) > 0);

done:
    tmi_number_frees(&size, &worth, NULL);
    return status;
}

static tamis_status take_row(reader *r, int64_t row, const tmi_cell *cells, tamis_error *err)
{
    const tmi_cell id = cells[ID], probability = cells[PROBABILITY], stratum = cells[STRATUM];
    tmi_frame_file *f = r->f;
    tamis_number *pi;
    int32_t h = 0;
    if (id.length == 0 || memchr(id.bytes, '\0', id.length)) return bad_cell(r, ID, row, "expected the unit's id", err);
    if (r->strata) h = tmi_code(r->strata, r->form, stratum.bytes, stratum.length);
    if (h < 0 || (size_t)h >= r->design->stratum_count) return bad_cell(r, STRATUM, row, "expected a stratum of the plan", err);
    tamis_status status = read_probability(&pi, r, row, probability, err);
    if (status != TAMIS_OK) return status;
    f->pi[row] = nearest_probability(pi);
    f->strata[row] = h;
    r->sums[h] += f->pi[row];
    f->ids[row] = tmi_copy_text(id.bytes, id.length);
    f->count = (size_t)row + 1;
    for (size_t k = 0; k < f->facts.size_count && status == TAMIS_OK; k++)
        status = take_size(r, k, row, cells[SIZES + k], pi, err);
    if (status != TAMIS_OK) {
        tamis_number_free(pi);
        return status;
    }
    status = add_probability(&f->facts.strata[h], pi, err);
    return f->ids[row] ? status : tmi_fail_memory(err);
}

static tamis_status take_cells(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    reader *r = context;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < rows && status == TAMIS_OK; i++) {
        tmi_cell row[PLACES] = {{0}};
        for (size_t c = 0; c < r->count; c++) row[r->columns[c]] = tmi_trimmed(cells[c][i].bytes, cells[c][i].length);
        status = take_row(r, first + (int64_t)i, row, err);
    }
    return status;
}

/* ---- what must fit ---- */

static tamis_status check_ids(const tmi_frame_file *f, const char *column, tamis_error *err)
{
    char **sorted = tmi_alloc(f->count, sizeof *sorted);
    tamis_status status = TAMIS_OK;
    if (!sorted) return tmi_fail_memory(err);
    memcpy(sorted, f->ids, f->count * sizeof *sorted);
    qsort(sorted, f->count, sizeof *sorted, tmi_compare_strings);
    for (size_t i = 1; i < f->count && status == TAMIS_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = tmi_fail(err, TAMIS_INVALID, "design.frame: duplicate unit in the column %s; a frame has one row per unit",
                              column);
    tmi_free(sorted);
    return status;
}

static tamis_status check_strata(const reader *r, tamis_error *err)
{
    const tmi_plan_design *d = r->design;
    for (size_t h = 0; h < d->stratum_count; h++) {
        const tmi_plan_stratum *s = &d->strata[h];
        const int64_t units = r->f->facts.strata[h].units;
        const char *name = s->name ? s->name : "", *in = s->name ? " in the stratum " : "";
        if (units == 0) return tmi_fail(err, TAMIS_INVALID, "design.frame: no unit%s%.200s", in, name);
        if (s->population > 0 && s->population != units)
            return tmi_fail(err, TAMIS_INVALID, "design.frame: %lld units%s%.200s, but the plan declares a population of %lld",
                            (long long)units, in, name, (long long)s->population);
        if (d->kind->fixed_size && fabs(r->sums[h] - (double)s->sample) > ROUNDED * (double)s->sample)
            return tmi_fail(err, TAMIS_INVALID,
                            "design.frame: the probabilities%s%.200s add up to %.10g, not to the sample of %lld", in, name,
                            r->sums[h], (long long)s->sample);
    }
    return TAMIS_OK;
}

/* The probabilities of the units that are not certain add up to n - certain, but for what the file rounds: so
 * (open - 1) smallest + largest <= n - certain <= smallest + (open - 1) largest. */
static tamis_status fits_sample(bool *fits, const tmi_frame_stratum *s, int64_t sample, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const int64_t open = s->units - s->certain;
    tmi_term rest = tmi_int(&e, sample - s->certain);
    tmi_term dust = tmi_div(&e, tmi_int(&e, sample), tmi_int(&e, FITS)), others = tmi_int(&e, open - 1);
    tmi_term least = open > 0 ? tmi_add(&e, tmi_mul(&e, others, s->smallest), s->largest) : tmi_int(&e, 0);
    tmi_term most = open > 0 ? tmi_add(&e, s->smallest, tmi_mul(&e, others, s->largest)) : tmi_int(&e, 0);
    tmi_term below = tmi_add(&e, rest, dust), above = tmi_sub(&e, rest, dust);
    *fits = e.status == TAMIS_OK && tmi_number_compare(least, below) <= 0 && tmi_number_compare(most, above) >= 0;
    tamis_status status = e.status;
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_frame_facts_fit(const tmi_frame_facts *f, const tmi_plan_design *d, tamis_error *err)
{
    int64_t units = 0;
    for (size_t h = 0; h < f->count; h++) {
        const tmi_frame_stratum *s = &f->strata[h];
        const int64_t declared = d->strata[h].population, sample = d->strata[h].sample, open = s->units - s->certain;
        bool fits = true;
        units += s->units;
        if (units > TMI_MAX_FRAME)
            return tmi_fail(err, TAMIS_INVALID, "frame: must have at most %lld units", (long long)TMI_MAX_FRAME);
        if (declared > 0 && declared != s->units)
            return tmi_fail(err, TAMIS_INVALID, "frame: strata[%zu] has %lld units, and the plan declares %lld", h,
                            (long long)s->units, (long long)declared);
        if (tmi_number_nearest(s->smallest) < SMALLEST)
            return tmi_fail(err, TAMIS_INVALID, "frame: strata[%zu]: a probability below 2^-40", h);
        if (open == 1 && tmi_number_compare(s->smallest, s->largest) != 0)
            return tmi_fail(err, TAMIS_INVALID,
                            "frame: strata[%zu]: only one unit is not certain to be drawn, but there are two probabilities", h);
        if (!d->kind->fixed_size) continue;
        tamis_status status = fits_sample(&fits, s, sample, err);
        if (status != TAMIS_OK) return status;
        if (!fits)
            return tmi_fail(err, TAMIS_INVALID,
                            "frame: strata[%zu]: no %lld units with such probabilities add up to a sample of %lld", h,
                            (long long)s->units, (long long)sample);
    }
    return TAMIS_OK;
}

/* ---- the file ---- */

static tamis_status find_columns(size_t *columns, const reader *r, const tmi_frame *frame, tamis_error *err)
{
    const tmi_source_part part = {.name = "design.frame"};
    tamis_status status = TAMIS_OK;
    tmi_error_reset(err);
    for (size_t k = 0; k < r->count; k++) {
        const size_t p = r->columns[k];
        size_t c = 0;
        while (c < frame->column_count && strcmp(frame->names[c], r->names[p]) != 0) c++;
        if (c == frame->column_count)
            return tmi_fail_column(err, NULL, "design.frame: the frame has", r->names[p], tmi_word_of_list, frame->names,
                                   frame->column_count);
        columns[k] = c;
        if (p == ID || p == STRATUM || tmi_ends_in(r->design->frame, ".csv")) continue; /* without types */
        status = tmi_class_check(tmi_class_of(frame->forms[c]), &part, r->names[p], err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

/* The places that are read, and the columns of sizes that bounds are relative to, each once. */
static tamis_status set_places(reader *r, const tamis_plan *plan, tamis_error *err)
{
    tmi_frame_file *f = r->f;
    tamis_status status = TAMIS_OK;
    f->facts.sizes = tmi_alloc(MOST_SIZES, sizeof *f->facts.sizes);
    f->sizes = tmi_alloc(MOST_SIZES, sizeof *f->sizes);
    if (!f->facts.sizes || !f->sizes) TMI_TRY(tmi_fail_memory(err));
    for (size_t p = 0; p < SIZES; p++)
        if (r->names[p]) r->columns[r->count++] = p;
    for (size_t i = 0; i < plan->declared_count; i++) {
        const char *name = plan->columns[i].of;
        size_t k = 0;
        while (name && k < f->facts.size_count && strcmp(f->facts.sizes[k].name, name) != 0) k++;
        if (!name || k < f->facts.size_count) continue;
        if (k == MOST_SIZES) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "columns: must have at most %d different sizes", MOST_SIZES));
        TMI_TRY(tmi_copy_string(&f->facts.sizes[f->facts.size_count++].name, name, err));
        r->names[SIZES + k] = name;
        r->columns[r->count++] = SIZES + k;
    }

done:
    return status;
}

static tamis_status make_room(reader *r, const tmi_frame *frame, tamis_error *err)
{
    tmi_frame_file *f = r->f;
    if (frame->rows < 1 || frame->rows > TMI_MAX_FRAME)
        return tmi_fail(err, TAMIS_INVALID, "design.frame: must have 1 to %lld units; for more, give max_weight and no frame",
                        (long long)TMI_MAX_FRAME);
    f->ids = tmi_alloc((size_t)frame->rows, sizeof *f->ids);
    f->pi = tmi_alloc((size_t)frame->rows, sizeof *f->pi);
    f->strata = tmi_alloc((size_t)frame->rows, sizeof *f->strata);
    f->facts.count = r->design->stratum_count;
    f->facts.strata = tmi_alloc(f->facts.count, sizeof *f->facts.strata);
    r->sums = tmi_alloc(f->facts.count, sizeof *r->sums);
    bool room = f->ids && f->pi && f->strata && f->facts.strata && r->sums;
    for (size_t k = 0; room && k < f->facts.size_count; k++)
        room = (f->sizes[k] = tmi_alloc((size_t)frame->rows, sizeof **f->sizes)) != NULL;
    return room ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_frame_file_read(tmi_frame_file *f, const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    reader r = {.f = f, .design = d, .names = {plan->privacy.id, d->probability, d->by ? d->by->name : NULL}};
    bool labels[PLACES];
    size_t columns[PLACES];
    tmi_frame *frame = NULL;
    tamis_status status;
    *f = (tmi_frame_file){0};
    TMI_TRY(set_places(&r, plan, err));
    TMI_TRY(tmi_frame_open(&frame, d->frame, NULL, err));
    TMI_TRY(find_columns(columns, &r, frame, err));
    for (size_t k = 0; k < r.count; k++) labels[k] = r.columns[k] == ID || r.columns[k] == STRATUM;
    TMI_TRY(make_room(&r, frame, err));
    if (d->by) {
        const tmi_column strata = {.name = d->by->name,
                                   .kind = TMI_CATEGORY,
                                   .values = (const char *const *)d->by->values,
                                   .value_count = d->by->value_count};
        TMI_TRY(tmi_codes_new(&r.strata, &strata, err));
        r.form = frame->forms[columns[STRATUM]]; /* the third place that is read */
        tmi_error_reset(err);
        TMI_TRY(tmi_codes_check(r.strata, r.form, err));
    }
    TMI_TRY(tmi_frame_read(frame, columns, labels, r.count, take_cells, &r, NULL, err));
    TMI_TRY(check_ids(f, r.names[ID], err));
    TMI_TRY(check_strata(&r, err));
    TMI_TRY(tmi_sha256_file(f->facts.hash, d->frame, err));

done:
    tmi_frame_free(frame);
    tmi_codes_free(r.strata);
    tmi_free(r.sums);
    if (status != TAMIS_OK) tmi_frame_file_clear(f);
    return status;
}

tmi_grid tmi_unit_grid(const tmi_frame_file *f, const tmi_plan_column *x, size_t unit)
{
    tmi_grid grid = x->grid;
    const tmi_frame_bound *b = tmi_frame_bound_by(&f->facts, x->of);
    const double to = tmi_number_nearest(x->times) * f->sizes[b - f->facts.sizes][unit];
    const double points = floor(to / grid.step * (1 + 0x1p-50));
    grid.high = points < (double)grid.low ? grid.low : points < (double)grid.high ? (int64_t)points : grid.high;
    grid.to = (double)grid.high * grid.step;
    return grid;
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/population_parts.h"

#include "base/memory.h"
#include "base/words.h"
#include "engine/files/frame.h"
#include "num/number.h"
#include "plan/law.h"
#include "plan/sections.h"

void tmi_population_free(tmi_population *p)
{
    if (!p) return;
    for (size_t c = 0; c < p->column_count; c++) {
        tmi_population_column *k = &p->columns[c];
        for (int64_t i = 0; k->texts && i < p->rows; i++) tmi_free(k->texts[i]);
        tmi_free(k->texts);
        tmi_free(k->numbers);
        tmi_free(k->raw);
        tmi_free(k->contributed);
        tmi_free(k->name);
        tmi_codes_free(k->codes);
    }
    tmi_free(p->columns);
    tamis_design_free(p->design);
    tmi_free(p->response);
    tmi_free(p->row_of);
    tmi_free(p->next);
    for (size_t e = 0; e < TMI_EXTRAS; e++) tmi_free(p->extras[e].values);
    tmi_free(p);
}

int64_t tmi_population_size(const tmi_population *p) { return p->units; }
int64_t tmi_population_rows(const tmi_population *p) { return p->rows; }
int64_t tmi_population_next(const tmi_population *p, int64_t row) { return p->next ? p->next[row] : -1; }

void tmi_population_unit_rows(int64_t *counts, const tmi_population *p)
{
    for (int64_t u = 0; u < p->units; u++) {
        int64_t rows = 0;
        for (int64_t row = p->row_of[u]; row >= 0; row = tmi_population_next(p, row)) rows++;
        counts[rows]++;
    }
}

void tmi_population_unit_sums(double *sums, const tmi_population *p, const double *numbers)
{
    for (int64_t u = 0; u < p->units; u++) {
        sums[u] = 0;
        for (int64_t row = p->row_of[u]; row >= 0; row = tmi_population_next(p, row))
            if (!isnan(numbers[row])) sums[u] += fabs(numbers[row]);
    }
}

const tamis_design *tmi_population_design(const tmi_population *p) { return p->design; }

/* ---- reading ---- */

/* The value of a cell, or what counts instead of it; NaN: missing. */
static double value_of(const tmi_plan_column *c, double v)
{
    bool missing = !isfinite(v);
    for (size_t i = 0; i < c->missing_code_count; i++) missing = missing || v == c->missing_codes[i];
    if (missing) return c->missing == TMI_AS_VALUE || c->missing == TMI_NEVER ? (double)c->instead * c->grid.step : NAN;
    return v;
}

static double on_grid(const tmi_grid *grid, double v)
{
    int64_t k;
    if (isnan(v)) return v;
    tmi_grid_point(&k, grid, v);
    return (double)k * grid->step;
}

/* A number that is listed is written as the plan does. */
static char *copy_text(const tmi_population_column *k, tmi_cell cell)
{
    const int32_t code = k->codes ? tmi_code(k->codes, k->form, cell.bytes, cell.length) : -1;
    const bool listed = code >= 0 && (size_t)code < k->category->value_count;
    const char *value = listed ? k->category->values[code] : NULL;
    return value ? tmi_copy_text(value, strlen(value)) : tmi_copy_text(cell.bytes, cell.length);
}

static tamis_status take_cells(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    tmi_population *p = context;
    for (size_t c = 0; c < p->column_count; c++) {
        tmi_population_column *k = &p->columns[c];
        for (size_t i = 0; i < rows; i++) {
            tmi_cell cell = tmi_trimmed(cells[c][i].bytes, cells[c][i].length);
            size_t row = (size_t)first + i;
            if (k->raw) k->raw[row] = value_of(k->declared, cell.length > 0 ? tmi_number_in(cell) : NAN);
            else if (cell.length > 0 && !(k->texts[row] = copy_text(k, cell))) return tmi_fail_memory(err);
        }
    }
    return TAMIS_OK;
}

static tamis_status make_codes(tmi_population_column *k, tamis_error *err)
{
    const tmi_column category = {.name = k->category->name,
                                 .kind = TMI_CATEGORY,
                                 .value_count = k->category->value_count,
                                 .values = (const char *const *)k->category->values};
    return tmi_codes_new(&k->codes, &category, err);
}

static bool is_named(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] && strcmp(names[i], name) == 0) return true;
    return false;
}

/* That the file has the columns which are named beside the plan. */
static tamis_status check_named(const tmi_frame *frame, const char *size, const char *response, tamis_error *err)
{
    const char *const names[] = {size, response}, *const has[] = {"size: the population has", "response: the population has"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && !is_named(names[i], (const char *const *)frame->names, frame->column_count)) {
            tmi_error_reset(err);
            return tmi_fail_column(err, NULL, has[i], names[i], tmi_word_of_list, frame->names, frame->column_count);
        }
    return TAMIS_OK;
}

static tamis_status read_file(tmi_population *p, const char *path, const char *size, const char *response, tamis_error *err)
{
    const tmi_plan_design *d = &p->plan->design, *drawn = p->drawn_by;
    const char *const handed[] = {d->cluster, d->strata_label, p->plan->privacy.id};
    const char *const needed[] = {size, response, drawn->second_sample, drawn->cluster, drawn->by ? drawn->by->name : NULL};
    tmi_frame *frame = NULL;
    size_t *numbers = NULL;
    bool *labels = NULL;
    tamis_status status;
    TMI_TRY(tmi_frame_open(&frame, path, NULL, err));
    TMI_TRY(check_named(frame, size, response, err));
    p->rows = frame->rows;
    const size_t n = (size_t)p->rows;
    if (n == 0) TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "the population has no rows"));
    numbers = tmi_alloc(frame->column_count, sizeof *numbers);
    labels = tmi_alloc(frame->column_count, sizeof *labels);
    p->columns = tmi_alloc(frame->column_count, sizeof *p->columns);
    if (!numbers || !labels || !p->columns) TMI_TRY(tmi_fail_memory(err));
    for (size_t c = 0; c < frame->column_count; c++) {
        const char *name = frame->names[c];
        const tmi_plan_column *declared = tmi_declared_column(p->plan, name);
        const bool used = declared || is_named(name, handed, sizeof handed / sizeof *handed);
        bool named = is_named(name, needed, sizeof needed / sizeof *needed);
        for (size_t i = 0; i < drawn->part_count; i++) named = named || strcmp(name, drawn->parts[i]->name) == 0;
        if (!used && !named) continue;
        tmi_population_column *k = &p->columns[p->column_count];
        labels[p->column_count] = used && !(declared && declared->is_number);
        numbers[p->column_count++] = c;
        k->used = used;
        k->name = tmi_copy_text(name, strlen(name));
        if (declared && declared->is_number) {
            k->declared = declared;
            k->numbers = tmi_alloc(n, sizeof *k->numbers);
            k->raw = tmi_alloc(n, sizeof *k->raw);
        } else {
            k->texts = tmi_alloc(n, sizeof *k->texts);
            k->category = declared;
            k->form = frame->forms[c];
            if (declared) TMI_TRY(make_codes(k, err));
        }
        if (!k->name || (k->declared ? !k->numbers || !k->raw : !k->texts)) TMI_TRY(tmi_fail_memory(err));
    }
    TMI_TRY(tmi_frame_read(frame, numbers, labels, p->column_count, take_cells, p, &(tmi_watch){0}, err));

done:
    tmi_frame_free(frame);
    tmi_free(numbers);
    tmi_free(labels);
    return status;
}

char **tmi_population_texts(const tmi_population *p, const char *name)
{
    for (size_t c = 0; c < p->column_count; c++)
        if (strcmp(p->columns[c].name, name) == 0 && p->columns[c].texts) return p->columns[c].texts;
    return NULL;
}

static tamis_status texts_of(char ***texts, const tmi_population *p, const char *name, const char *what, tamis_error *err)
{
    *texts = tmi_population_texts(p, name);
    if (*texts) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "the population has no column %s for the %s", name, what);
}

/* The codes of a category by row, -1 without one; strata by several columns are joined from those. The caller frees them; NULL
 * with OK if the population has no such column. */
static tamis_status codes_of(int32_t **codes, const tmi_population *p, const tmi_plan_column *c, tamis_error *err)
{
    int32_t *of = NULL, *with = NULL, *list = NULL;
    char **texts = c->joint ? NULL : tmi_population_texts(p, c->name);
    tamis_status status = TAMIS_OK;
    *codes = NULL;
    if (!c->joint && !texts) return TAMIS_OK;
    if (c->joint) {
        TMI_TRY(codes_of(&of, p, c->joint_of, err));
        TMI_TRY(codes_of(&with, p, c->joint_with, err));
        if (!of || !with) goto done;
    }
    list = tmi_alloc((size_t)p->rows, sizeof *list);
    if (!list) TMI_TRY(tmi_fail_memory(err));
    for (int64_t i = 0; i < p->rows; i++) {
        if (texts) list[i] = texts[i] ? tmi_code_of(c, texts[i]) : -1;
        else list[i] = of[i] < 0 || with[i] < 0 ? -1 : c->joint[(size_t)of[i] * c->joint_with->value_count + (size_t)with[i]];
    }
    *codes = list;

done:
    tmi_free(of);
    tmi_free(with);
    return status;
}

static tamis_status strata_of(int32_t **codes, const tmi_population *p, const tmi_plan_column *by, tamis_error *err)
{
    const tamis_status status = codes_of(codes, p, by, err);
    if (status != TAMIS_OK || *codes) return status;
    return tmi_fail(err, TAMIS_INVALID, "the population has no column %s for the strata", by->name);
}

/* Numbers clamped and put on the plan's grid, which may be that of the row's stratum. */
static tamis_status set_numbers(tmi_population *p, tamis_error *err)
{
    const tmi_plan_column *by = p->plan->design.by;
    int32_t *strata = NULL;
    tamis_status status = TAMIS_OK;
    for (size_t c = 0; c < p->column_count; c++) {
        const tmi_population_column *k = &p->columns[c];
        if (!k->numbers) continue;
        if (k->declared->by_stratum && !strata) TMI_TRY(strata_of(&strata, p, by, err));
        for (int64_t i = 0; i < p->rows; i++) {
            const tmi_grid *grid = &k->declared->grid;
            if (k->declared->by_stratum && strata[i] >= 0) grid = &k->declared->by_stratum[strata[i]].grid;
            k->numbers[i] = on_grid(grid, k->raw[i]);
        }
    }

done:
    tmi_free(strata);
    return status;
}

static tamis_status set_response(tmi_population *p, const char *name, tamis_error *err)
{
    char **texts = NULL;
    tamis_status status = TAMIS_OK;
    if (!name) return TAMIS_OK;
    TMI_TRY(texts_of(&texts, p, name, "probabilities to respond", err));
    p->response = tmi_alloc((size_t)p->rows, sizeof *p->response);
    if (!p->response) TMI_TRY(tmi_fail_memory(err));
    for (int64_t i = 0; i < p->rows; i++) {
        double r = texts[i] ? tmi_number_in(tmi_trimmed(texts[i], strlen(texts[i]))) : NAN;
        if (!(r >= 0 && r <= 1))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "response: column %s has values that are not between 0 and 1", name));
        p->response[i] = r;
    }

done:
    return status;
}

/* ---- units of several rows ---- */

typedef struct member {
    const char *id;
    int64_t row;
} member;

static int by_unit(const void *a, const void *b)
{
    const member *x = a, *y = b;
    const int order = strcmp(x->id, y->id);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static bool differ(char **texts, int64_t a, int64_t b)
{
    return texts && (texts[a] && texts[b] ? strcmp(texts[a], texts[b]) != 0 : texts[a] != texts[b]);
}

/* The rows of each unit, in the order of the file; `later` of a row that is not the first of its unit. */
static tamis_status join_rows(tmi_population *p, bool *later, tamis_error *err)
{
    const tmi_plan_design *d = p->drawn_by;
    const size_t n = (size_t)p->rows, most = (size_t)p->plan->privacy.rows_per_unit;
    char **ids = NULL, **clusters = d->cluster ? tmi_population_texts(p, d->cluster) : NULL;
    int32_t *strata = NULL;
    tamis_status status = TAMIS_OK;
    member *members = NULL;
    size_t length = 0;
    p->units = p->rows;
    if (most <= 1) return TAMIS_OK;
    TMI_TRY(texts_of(&ids, p, p->plan->privacy.id, "ids of units", err));
    if (d->by) TMI_TRY(codes_of(&strata, p, d->by, err));
    members = tmi_alloc(n, sizeof *members);
    p->next = tmi_alloc(n, sizeof *p->next);
    if (!members || !p->next) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < n; i++) {
        if (!ids[i]) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a row of the population has no id"));
        members[i] = (member){ids[i], (int64_t)i};
    }
    qsort(members, n, sizeof *members, by_unit);
    for (size_t i = 0; i < n; i++) {
        const int64_t row = members[i].row;
        p->next[row] = -1;
        length = i > 0 && strcmp(members[i - 1].id, members[i].id) == 0 ? length + 1 : 1;
        if (length > most)
            TMI_TRY(
                tmi_fail(err, TAMIS_INVALID,
                         "a unit of the population has more than %zu rows: a release would leave some out, which a study does "
                         "not do; raise `rows_per_unit`, or leave them out of the file",
                         most));
        if (length == 1) continue;
        const int64_t before = members[i - 1].row;
        if ((strata && strata[before] != strata[row]) || differ(clusters, before, row))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a unit of the population has rows in two strata or clusters"));
        p->next[before] = row;
        later[row] = true;
        p->units--;
    }

done:
    tmi_free(members);
    tmi_free(strata);
    return status;
}

/* ---- the design ---- */

/* The rows of one stratum, and the design in it. */
typedef struct part {
    const tmi_plan_stratum *stratum;
    int64_t *rows;
    int64_t count;
} part;

static tamis_status wrong_size(const part *s, const char *what, int64_t found, tamis_error *err)
{
    return tmi_fail(err, TAMIS_INVALID, "the population has %lld %s%s%s, but the plan declares %lld", (long long)found, what,
                    s->stratum->name ? " in stratum " : "", s->stratum->name ? s->stratum->name : "",
                    (long long)s->stratum->population);
}

static tamis_status make_pps(tamis_design **design, const tmi_population *p, const part *s, char **sizes, tamis_error *err)
{
    const size_t n = (size_t)s->count;
    tamis_number **list = tmi_alloc(n, sizeof *list);
    tamis_status status = TAMIS_OK;
    if (!list) return tmi_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *text = sizes[s->rows[i]];
        TMI_TRY(tamis_number_read(&list[i], text ? text : "", err));
    }
    TMI_TRY(tamis_design_pps_sizes(design, p->drawn_by->method, (const tamis_number *const *)list, n, s->stratum->sample, err));

done:
    for (size_t i = 0; i < n; i++) tamis_number_free(list[i]);
    tmi_free(list);
    return status;
}

/* How many of the `size` units of a cluster are drawn: all, the plan's number, or what the population's column says. */
static tamis_status second_take(int64_t *take, const tmi_plan_design *d, int64_t size, const char *text, tamis_error *err)
{
    *take = size;
    if (!d->kind->staged || d->second_rate) return TAMIS_OK;
    double wanted = d->second_take > 0 ? (double)d->second_take : text ? tmi_number_in(tmi_trimmed(text, strlen(text))) : NAN;
    if (!(wanted >= 1 && wanted == floor(wanted)))
        return tmi_fail(err, TAMIS_INVALID, "the population's column %s has values that are not whole numbers of at least 1",
                        d->second_sample);
    if (wanted < (double)size) *take = (int64_t)wanted;
    return TAMIS_OK;
}

/* The design of the clusters: by sizes, of which the first row of each cluster says its own, or the number of its units. */
static tamis_status make_first(tamis_design **design, const tmi_plan_design *d, const part *s, tamis_number *const *sizes,
                               size_t clusters, tamis_error *err)
{
    const int64_t n = (int64_t)clusters, sample = s->stratum->sample;
    if (!d->first || d->first->known_count) return tamis_design_srs(design, n, sample, err);
    if (!d->first->unequal) return tamis_design_systematic(design, n, sample, d->random_order, err);
    return tamis_design_pps_sizes(design, d->method, (const tamis_number *const *)sizes, clusters, sample, err);
}

static tamis_status read_size(tamis_number **size, char *const *texts, int64_t row, int64_t units, tamis_error *err)
{
    if (!texts) return tmi_number_ratio(size, units, 1, err);
    return tamis_number_read(size, texts[row] ? texts[row] : "", err);
}

static tamis_status make_second(tamis_design **design, const tmi_plan_design *d, int64_t size, int64_t take, tamis_error *err)
{
    if (d->second_rate) return tamis_design_bernoulli(design, size, d->second_rate, err);
    if (d->second == TMI_SECOND_SYSTEMATIC) return tamis_design_systematic(design, size, take, 0, err);
    return tamis_design_srs(design, size, take, err);
}

/* Rows cluster by cluster, clusters in the order of their first rows; quadratic in their number, which is small. */
static tamis_status make_clusters(tamis_design **design, tmi_population *p, part *s, char **labels, char **takes, char **sizes,
                                  tamis_error *err)
{
    const tmi_plan_design *d = p->drawn_by;
    const size_t before = (size_t)(s->rows - p->row_of);
    const size_t n = (size_t)s->count;
    int64_t *sorted = tmi_alloc(n, sizeof *sorted);
    tamis_design **second = tmi_alloc(n, sizeof *second), *first = NULL;
    tamis_number **list = tmi_alloc(n, sizeof *list);
    bool *done_with = tmi_alloc(n, sizeof *done_with);
    size_t clusters = 0, placed = 0;
    tamis_status status = TAMIS_OK;
    if (!sorted || !second || !list || !done_with) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < n; i++) {
        if (done_with[i]) continue;
        const char *label = labels[s->rows[i]];
        const size_t begin = placed;
        if (!label) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "a unit of the population has no cluster"));
        for (size_t j = i; j < n; j++)
            if (!done_with[j] && labels[s->rows[j]] && strcmp(labels[s->rows[j]], label) == 0) {
                done_with[j] = true;
                sorted[placed++] = s->rows[j];
            }
        const int64_t size = (int64_t)(placed - begin);
        int64_t take;
        TMI_TRY(second_take(&take, d, size, takes ? takes[s->rows[i]] : NULL, err));
        TMI_TRY(make_second(&second[clusters], d, size, take, err));
        TMI_TRY(read_size(&list[clusters++], sizes, s->rows[i], size, err));
        for (size_t j = begin; j < placed && p->extras[TMI_SIZE].values; j++) {
            p->extras[TMI_SIZE].values[before + j] = (double)size;
            p->extras[TMI_TAKE].values[before + j] = (double)take;
        }
    }
    memcpy(s->rows, sorted, n * sizeof *sorted);
    if (s->stratum->population > 0 && s->stratum->population != (int64_t)clusters)
        TMI_TRY(wrong_size(s, "clusters", (int64_t)clusters, err));
    TMI_TRY(make_first(&first, d, s, list, clusters, err));
    TMI_TRY(tamis_design_take_stages(design, first, second, clusters, err));
    first = NULL;
    clusters = 0;

done:
    tamis_design_free(first);
    for (size_t c = 0; second && c < clusters; c++) tamis_design_free(second[c]);
    for (size_t c = 0; list && c < n; c++) tamis_number_free(list[c]);
    tmi_free(list);
    tmi_free(second);
    tmi_free(sorted);
    tmi_free(done_with);
    return status;
}

static tamis_status make_part(tamis_design **design, tmi_population *p, part *s, char **labels, char **takes, char **sizes,
                              tamis_error *err)
{
    const tmi_plan_design *d = p->drawn_by;
    if (labels) return make_clusters(design, p, s, labels, takes, sizes, err);
    if (s->stratum->population > 0 && s->stratum->population != s->count) return wrong_size(s, "units", s->count, err);
    if (sizes) return make_pps(design, p, s, sizes, err);
    if (d->kind->equal || d->kind->rate) return tmi_plan_stratum_law(design, d, s->stratum, s->count, err);
    return tmi_fail(err, TAMIS_REFUSED, "a study draws samples by srs, systematic, bernoulli, pps, cluster or two_stage");
}

/* Places for what two stages say of each unit. */
static tamis_status make_stages(tmi_population *p, tamis_error *err)
{
    const tmi_plan_design *d = p->drawn_by;
    for (size_t e = TMI_SIZE; e <= TMI_TAKE; e++) {
        p->extras[e].values = tmi_alloc((size_t)p->rows, sizeof *p->extras[e].values);
        if (!p->extras[e].values) return tmi_fail_memory(err);
    }
    p->extras[TMI_SIZE].name = d->second_population;
    p->extras[TMI_TAKE].name = d->second_take > 0 ? NULL : d->second_sample;
    return TAMIS_OK;
}

static tamis_status make_design(tmi_population *p, const char *size, tamis_error *err)
{
    const tmi_plan_design *d = p->drawn_by;
    const size_t n = (size_t)p->rows, strata = d->stratum_count;
    char **labels = NULL, **takes = NULL, **sizes = NULL;
    int32_t *codes = NULL;
    tamis_status status = TAMIS_OK;
    tamis_design **designs = tmi_alloc(strata, sizeof *designs);
    bool *later = tmi_alloc(n, sizeof *later);
    int64_t next = 0;
    size_t made = 0;
    p->row_of = tmi_alloc(n, sizeof *p->row_of);
    if (!designs || !later || !p->row_of) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(join_rows(p, later, err));
    if (d->by) TMI_TRY(strata_of(&codes, p, d->by, err));
    if (d->kind->clusters) TMI_TRY(texts_of(&labels, p, d->cluster, "clusters", err));
    if (d->kind->staged && !d->second_rate) {
        TMI_TRY(make_stages(p, err));
        if (d->second_take == 0) TMI_TRY(texts_of(&takes, p, d->second_sample, "units to draw in each cluster", err));
    }
    const bool unequal = d->kind->unequal && d->kind->fixed_size;
    if (unequal || (tmi_draws_clusters_unequally(d) && size)) {
        if (!size) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "size: a column of sizes is needed to draw with unequal probabilities"));
        TMI_TRY(texts_of(&sizes, p, size, "sizes", err));
    }
    for (size_t h = 0; h < strata; h++) {
        part s = {&d->strata[h], p->row_of + next, 0};
        for (int64_t i = 0; i < p->rows; i++)
            if (!later[i] && (!codes || codes[i] == (int32_t)h)) s.rows[s.count++] = i;
        next += s.count;
        TMI_TRY(make_part(&designs[h], p, &s, labels, takes, sizes, err));
        made = h + 1;
    }
    if (next != p->units) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the population has units that are in no stratum of the plan"));
    if (strata > 1) {
        TMI_TRY(tamis_design_take_strata(&p->design, designs, strata, err));
    } else {
        p->design = designs[0];
    }
    made = 0;

done:
    for (size_t h = 0; designs && h < made; h++) tamis_design_free(designs[h]);
    tmi_free(designs);
    tmi_free(later);
    tmi_free(codes);
    return status;
}

/* What the file of a sample would say about each unit. */
static tamis_status set_inclusion(tmi_population *p, tamis_error *err)
{
    const size_t n = (size_t)p->units;
    tamis_bound *pi = tmi_alloc(n, sizeof *pi);
    int64_t *units = tmi_alloc(n, sizeof *units);
    tamis_status status = TAMIS_OK;
    const tamis_number *rate = p->plan->design.second_rate;
    double *inclusion = tmi_alloc(n, sizeof *inclusion), *weight = tmi_alloc(n, sizeof *weight);
    p->extras[TMI_INCLUSION] = (tmi_population_extra){p->plan->design.probability, inclusion};
    p->extras[TMI_WEIGHT] = (tmi_population_extra){p->plan->design.weight, weight};
    if (!pi || !units || !inclusion || !weight) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < n; i++) units[i] = (int64_t)i;
    TMI_TRY(tamis_inclusion_first(pi, p->design, units, n, err));
    for (size_t i = 0; i < n; i++) {
        inclusion[i] = pi[i].lower + (pi[i].upper - pi[i].lower) / 2;
        weight[i] = 1 / inclusion[i];
        if (p->plan->design.kind->staged && p->extras[TMI_SIZE].values) /* the probability of its cluster */
            inclusion[i] = fmin(inclusion[i] * p->extras[TMI_SIZE].values[i] / p->extras[TMI_TAKE].values[i], 1);
        if (rate) inclusion[i] = fmin(inclusion[i] / tmi_number_nearest(rate), 1);
    }

done:
    tmi_free(pi);
    tmi_free(units);
    return status;
}

tamis_status tmi_population_read(tmi_population **population, const tamis_plan *plan, const tmi_drawing *drawing,
                                 const char *path, tamis_error *err)
{
    const char *size = drawing->size, *response = drawing->response;
    tamis_status status = TAMIS_OK;
    *population = NULL;
    tmi_population *p = tmi_alloc(1, sizeof *p);
    if (!p) return tmi_fail_memory(err);
    p->plan = plan;
    p->drawn_by = drawing->by ? &drawing->by->design : &plan->design;
    TMI_TRY(tmi_drawing_check(drawing, plan, p->drawn_by, err));
    TMI_TRY(read_file(p, path, size, response, err));
    TMI_TRY(set_numbers(p, err));
    TMI_TRY(set_response(p, response, err));
    TMI_TRY(make_design(p, size, err));
    if (plan->design.probability || plan->design.weight) {
        TMI_TRY(set_inclusion(p, err));
        TMI_TRY(tmi_population_bound(p, err));
    }
    *population = p;
    p = NULL;

done:
    tmi_population_free(p);
    return status;
}

/* An engine whose rows are arrays in the test, and which answers what it is asked: a second, independent way to the integers,
 * written from engine.h alone, and a way to make any step fail. */
#ifndef TESTS_RELEASE_ARRAY_ENGINE_H
#define TESTS_RELEASE_ARRAY_ENGINE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "engine/core/engine.h"
#include "tests/rng/scripted_bits.h"

/* Columns "x", "y", "w" (numbers), "g", "h", "s" (categories; NULL: missing), "c", "u" (labels). */
typedef struct array_row {
    double x;
    const char *g, *h;
    double y, w;
    const char *s, *c, *u;
} array_row;

/* The value that a column has in a row: what was found last for columns of this place in the table. */
typedef struct array_found {
    const tmi_column *column;
    const array_row *row;
    int64_t value;
} array_found;

#define ARRAY_FOUND 512

typedef struct array_engine {
    tmi_engine engine; /* first: the engine is the whole */
    const array_row *rows;
    size_t row_count;
    tamis_status describe_status, aggregate_status;
    int describes, aggregates;
    size_t bits_before;         /* random bytes taken when the aggregation began */
    tmi_inventory asked;        /* the last one */
    const tmi_request *request; /* while it is answered */
    array_found *found;         /* likewise, ARRAY_FOUND of them: the rows are the same ones meanwhile */
} array_engine;

#define ARRAY_MISSING INT64_MIN

static inline double array_number(const tmi_column *column, const array_row *row)
{
    return column->name[0] == 'x' ? row->x : column->name[0] == 'y' ? row->y : row->w;
}

static inline const char *array_text(const tmi_column *column, const array_row *row)
{
    switch (column->name[0]) {
    case 'g': return row->g;
    case 'h': return row->h;
    case 's': return row->s;
    case 'c': return row->c;
    default: return row->u;
    }
}

static inline int64_t array_value(const array_engine *a, const tmi_column *column, const array_row *row);
static inline int64_t array_earlier(const array_engine *a, const tmi_request *request, size_t r);

static inline int64_t array_grid_point(const array_engine *a, const tmi_column *c, const array_row *row)
{
    const tmi_grid *grid = &c->grid;
    int64_t code = c->by ? array_value(a, c->by, row) : 0;
    if (code == ARRAY_MISSING) return ARRAY_MISSING;
    if (c->by) grid = &c->grids[code];
    double v = array_number(c, row);
    bool missing = !isfinite(v);
    for (size_t i = 0; i < c->missing_code_count; i++) missing = missing || v == c->missing_codes[i];
    if (c->reciprocal) missing = missing || v <= 0, v = v > 0 ? 1 / v : 0;
    if (missing) return c->has_instead ? c->instead : ARRAY_MISSING;
    double k = floor(fmin(fmax(v, grid->from), grid->to) / grid->step + 0.5);
    return (int64_t)fmin(fmax(k, (double)grid->low), (double)grid->high);
}

/* Labels of the row's stratum that are smaller, each once. */
static inline int64_t array_rank(const array_engine *a, const tmi_column *c, const array_row *row, int64_t stratum)
{
    const char *own = array_text(c->of, row);
    int64_t rank = 0;
    for (size_t i = 0; i < a->row_count; i++) {
        const char *label = array_text(c->of, &a->rows[i]);
        if (!label || strcmp(label, own) >= 0 || (c->stratum && array_value(a, c->stratum, &a->rows[i]) != stratum)) continue;
        bool first = true;
        for (size_t j = 0; j < i; j++) {
            const char *earlier = array_text(c->of, &a->rows[j]);
            first = first && !(earlier && strcmp(earlier, label) == 0 &&
                               (!c->stratum || array_value(a, c->stratum, &a->rows[j]) == stratum));
        }
        rank += first;
    }
    return rank;
}

/* The point or code of a row; ARRAY_MISSING. */
static inline int64_t array_own_value(const array_engine *a, const tmi_column *c, const array_row *row)
{
    int64_t of;
    switch (c->kind) {
    case TMI_NUMBER: return array_grid_point(a, c, row);
    case TMI_CATEGORY: {
        const char *text = array_text(c, row);
        for (size_t i = 0; text && i < c->value_count; i++)
            if (strcmp(text, c->values[i]) == 0) return (int64_t)i;
        return !text && c->has_instead ? c->instead : ARRAY_MISSING;
    }
    case TMI_LABEL: return array_text(c, row) ? 0 : ARRAY_MISSING;
    case TMI_CUTS: {
        int64_t bin = 0;
        if ((of = array_value(a, c->of, row)) == ARRAY_MISSING) return ARRAY_MISSING;
        for (size_t i = 0; i + 1 < c->value_count; i++) bin += c->cuts[i] <= of;
        return bin;
    }
    case TMI_INDICATOR: {
        bool missing = false;
        for (size_t i = 0; i < c->condition_count; i++) {
            const tmi_condition *p = &c->conditions[i];
            int64_t v = array_value(a, p->column, row);
            bool yes = tmi_has_points(p->column) && v >= p->least && v <= p->most;
            for (size_t j = 0; !tmi_has_points(p->column) && j < p->code_count; j++) yes = yes || v == p->codes[j];
            if (v == ARRAY_MISSING) missing = true;
            else if (!yes) return 0;
        }
        return missing ? ARRAY_MISSING : 1;
    }
    case TMI_CLASSES: {
        if ((of = array_value(a, c->of, row)) == ARRAY_MISSING) return c->has_instead ? c->instead : ARRAY_MISSING;
        const int32_t class = c->classes[tmi_has_points(c->of) ? 0 : of];
        return class < 0 ? ARRAY_MISSING : class;
    }
    case TMI_JOINT: {
        const int64_t second = array_value(a, c->second, row);
        of = array_value(a, c->of, row);
        if (of == ARRAY_MISSING || second == ARRAY_MISSING) return ARRAY_MISSING;
        const int32_t code = c->classes[of * (int64_t)c->second->value_count + second];
        return code < 0 ? ARRAY_MISSING : code;
    }
    case TMI_PRODUCT: {
        const int64_t second = array_value(a, c->second, row);
        of = array_value(a, c->of, row);
        if (of == ARRAY_MISSING || second == ARRAY_MISSING) return c->has_instead ? c->instead : ARRAY_MISSING;
        const double k = floor(ldexp((double)of * (double)second, -c->shift) + 0.5);
        return (int64_t)fmin(fmax(k, (double)c->grid.low), (double)c->grid.high);
    }
    case TMI_DIFFERENCE: {
        const int64_t second = array_value(a, c->second, row);
        of = array_value(a, c->of, row);
        return of == ARRAY_MISSING || second == ARRAY_MISSING ? ARRAY_MISSING : of - second;
    }
    case TMI_LOOKUP: return (of = array_value(a, c->of, row)) == ARRAY_MISSING ? ARRAY_MISSING : c->numbers[of];
    case TMI_SCATTER: { /* H(key, H(stratum), H(label)) */
        unsigned char parts[3 * 32], hash[32], *end = parts + 32;
        const tmi_column *const labels[] = {c->stratum, c->of};
        memcpy(parts, c->key, 32);
        for (size_t i = 0; i < 2; i++) {
            const char *text = labels[i] ? array_text(labels[i], row) : NULL;
            if (labels[i]) tmi_sha256(end, text ? text : "", text ? strlen(text) : 0), end += 32;
        }
        tmi_sha256(hash, parts, (size_t)(end - parts));
        return hash[0] % (int64_t)c->value_count;
    }
    default: {
        int64_t stratum = c->stratum ? array_value(a, c->stratum, row) : 0;
        if (stratum == ARRAY_MISSING || !array_text(c->of, row)) return ARRAY_MISSING;
        int64_t rank = array_rank(a, c, row, stratum);
        return rank < c->cluster_counts[stratum] ? c->cell_of[stratum][rank] : ARRAY_MISSING;
    }
    }
}

/* The same, if a unit's points are bounded together: a part of the bound that is that of the point in the sum of their sizes. */
static inline int64_t array_value_anew(const array_engine *a, const tmi_column *c, const array_row *row)
{
    const int64_t own = array_own_value(a, c, row);
    const char *unit = c->most_of_unit > 0 && a->request ? array_text(a->request->unit, row) : NULL;
    __int128 sum = 0;
    for (size_t r = 0; unit && r < a->row_count; r++) {
        const char *other = array_text(a->request->unit, &a->rows[r]);
        if (!other || strcmp(other, unit) != 0 || array_earlier(a, a->request, r) >= a->request->rows_per_unit) continue;
        const int64_t point = array_own_value(a, c, &a->rows[r]);
        sum += point == ARRAY_MISSING ? 0 : point < 0 ? -point : point;
    }
    return own == ARRAY_MISSING || sum <= c->most_of_unit ? own : (int64_t)((__int128)own * c->most_of_unit / sum);
}

static inline int64_t array_value(const array_engine *a, const tmi_column *c, const array_row *row)
{
    if (!a->found) return array_value_anew(a, c, row);
    array_found *place = &a->found[((uintptr_t)c / sizeof(void *)) % ARRAY_FOUND];
    if (place->column != c || place->row != row) {
        const int64_t value = array_value_anew(a, c, row); /* may use the place itself */
        *place = (array_found){c, row, value};
    }
    return place->value;
}

/* Different texts of a label among the rows of a stratum (-1: all). */
static inline int64_t array_distinct(const array_engine *a, const tmi_column *label, const tmi_column *stratum, int64_t h)
{
    int64_t count = 0;
    for (size_t i = 0; i < a->row_count; i++) {
        const char *text = array_text(label, &a->rows[i]);
        bool first = text && (h < 0 || array_value(a, stratum, &a->rows[i]) == h);
        for (size_t j = 0; j < i && first; j++) {
            const char *earlier = array_text(label, &a->rows[j]);
            first = !(earlier && strcmp(earlier, text) == 0 && (h < 0 || array_value(a, stratum, &a->rows[j]) == h));
        }
        count += first;
    }
    return count;
}

static inline tamis_status array_describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch,
                                          tamis_error *err)
{
    array_engine *a = (array_engine *)engine;
    (void)watch;
    a->describes++;
    a->asked = *inventory;
    inventory->rows = (int64_t)a->row_count;
    for (size_t i = 0; i < inventory->column_count; i++) {
        const char *name = inventory->columns[i]->name;
        if (strlen(name) != 1 || !strchr("xywghscu", name[0])) return tmi_fail(err, TAMIS_INVALID, "no column %s", name);
    }
    if (inventory->unit) inventory->units = array_distinct(a, inventory->unit, NULL, -1);
    size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    for (size_t h = 0; h < strata; h++) {
        const int64_t in = inventory->stratum ? (int64_t)h : -1;
        if (inventory->units_in) inventory->units_in[h] = array_distinct(a, inventory->unit, inventory->stratum, in);
        if (inventory->clusters_in) inventory->clusters_in[h] = array_distinct(a, inventory->cluster, inventory->stratum, in);
        for (size_t i = 0; inventory->rows_in && i < a->row_count; i++)
            inventory->rows_in[h] += in < 0 || array_value(a, inventory->stratum, &a->rows[i]) == in;
    }
    return a->describe_status == TAMIS_OK ? TAMIS_OK : tmi_fail(err, a->describe_status, "describe");
}

static inline tmi_int128 array_adds(const array_engine *a, const tmi_measure *m, const array_row *row)
{
    double product = 1;
    for (size_t i = 0; i < m->factor_count; i++) {
        int64_t v = array_value(a, m->factors[i].column, row);
        if (v == ARRAY_MISSING) return 0;
        product *= (double)(v - m->factors[i].minus);
    }
    for (size_t i = 0; i < TMI_MAX_PRESENT; i++)
        if (m->present[i] && array_value(a, m->present[i], row) == ARRAY_MISSING) return 0;
    if (m->where && array_value(a, m->where, row) != 1) return 0;
    double rounded = floor(ldexp(product, -m->shift) + 0.5);
    return (tmi_int128)fmin(fmax(rounded, (double)m->low), (double)m->high);
}

/* Rows of a unit that stand before this one: here the first ones count, whatever the key. */
static inline int64_t array_earlier(const array_engine *a, const tmi_request *request, size_t r)
{
    const char *unit = request->unit ? array_text(request->unit, &a->rows[r]) : NULL;
    int64_t count = 0;
    for (size_t i = 0; unit && i < r; i++) {
        const char *other = array_text(request->unit, &a->rows[i]);
        count += other && strcmp(other, unit) == 0;
    }
    return request->unit && !unit ? INT64_MAX : count;
}

static inline tamis_status array_aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                                           const tamis_watch *watch, tamis_error *err)
{
    array_engine *a = (array_engine *)engine;
    a->aggregates++;
    a->bits_before = bits_taken();
    if (watch && watch->progress && watch->progress(watch->context, 0.5, 1) != 0) return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
    if (a->aggregate_status != TAMIS_OK) return tmi_fail(err, a->aggregate_status, "aggregate");
    array_found found[ARRAY_FOUND] = {0};
    a->request = request;
    a->found = found;
    for (size_t r = 0; r < a->row_count; r++) {
        if (request->unit && array_earlier(a, request, r) >= request->rows_per_unit) continue;
        for (size_t t = 0; t < request->table_count; t++) {
            const tmi_table *table = &request->tables[t];
            int64_t cell = 0;
            for (size_t i = 0; i < table->by_count && cell >= 0; i++) {
                int64_t code = array_value(a, table->by[i], &a->rows[r]);
                cell = code == ARRAY_MISSING ? -1 : cell * (int64_t)table->by[i]->value_count + code;
            }
            for (size_t m = 0; cell >= 0 && m < table->measure_count; m++)
                answers[t][(size_t)cell * table->measure_count + m] += array_adds(a, &table->measures[m], &a->rows[r]);
        }
    }
    a->found = NULL;
    a->request = NULL;
    return TAMIS_OK;
}

static inline void array_free(tmi_engine *engine) { (void)engine; }

static inline array_engine array_engine_of(const array_row *rows, size_t row_count)
{
    return (
        array_engine){.engine = {.name = "arrays", .describe = array_describe, .aggregate = array_aggregate, .free = array_free},
                      .rows = rows,
                      .row_count = row_count};
}

#endif

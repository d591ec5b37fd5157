/* An engine whose rows are arrays in the test, and which does as it is told: a second, independent way to the integers,
 * and a way to make any step fail. */
#ifndef TESTS_ARRAY_ENGINE_H
#define TESTS_ARRAY_ENGINE_H

#include <math.h>
#include <string.h>

#include "engine/engine.h"
#include "rng/scripted_bits.h"

/* Columns "x" (a number), "g" and "h" (categories; NULL: missing). */
typedef struct array_row {
    double x;
    const char *g, *h;
} array_row;

typedef struct array_engine {
    tmi_engine engine; /* first: the engine is the whole */
    const array_row *rows;
    size_t row_count;
    tamis_status describe_status, aggregate_status;
    int describes, aggregates;
    size_t bits_before; /* random bytes taken when the aggregation began */
} array_engine;

static inline tamis_status array_describe(tmi_engine *engine, tmi_inventory *inventory, tamis_progress *progress,
                                          void *context, tamis_error *err)
{
    array_engine *a = (array_engine *)engine;
    (void)progress;
    (void)context;
    a->describes++;
    inventory->rows = (int64_t)a->row_count;
    const tmi_column *const *columns = inventory->columns;
    for (size_t i = 0; i < inventory->column_count; i++) {
        if (strlen(columns[i]->name) != 1 || !strchr("xgh", columns[i]->name[0])) {
            return tmi_fail(err, TAMIS_INVALID, "no column %s", columns[i]->name);
        }
    }
    return a->describe_status == TAMIS_OK ? TAMIS_OK : tmi_fail(err, a->describe_status, "describe");
}

static inline int array_code(const tmi_column *column, const array_row *row)
{
    const char *text = column->name[0] == 'g' ? row->g : row->h;
    for (size_t i = 0; text && i < column->value_count; i++) {
        if (strcmp(text, column->values[i]) == 0) return (int)i;
    }
    return -1;
}

static inline tamis_status array_aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                                           tamis_progress *progress, void *context, tamis_error *err)
{
    array_engine *a = (array_engine *)engine;
    a->aggregates++;
    a->bits_before = bits_taken();
    if (progress && progress(context, 0.5, 1) != 0) return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
    if (a->aggregate_status != TAMIS_OK) return tmi_fail(err, a->aggregate_status, "aggregate");
    for (size_t t = 0; t < request->table_count; t++) {
        const tmi_table *table = &request->tables[t];
        for (size_t r = 0; r < a->row_count; r++) {
            int cell = 0;
            for (size_t i = 0; i < table->by_count && cell >= 0; i++) {
                int code = array_code(table->by[i], &a->rows[r]);
                cell = code < 0 ? -1 : cell * (int)table->by[i]->value_count + code;
            }
            for (size_t m = 0; m < table->measure_count && cell >= 0; m++) {
                const tmi_measure *measure = &table->measures[m];
                double x = a->rows[r].x;
                const tmi_column *c = measure->factor_count > 0 ? measure->factors[0].column : NULL;
                if ((c || measure->present[0]) && isnan(x)) continue;
                double clamped = c ? fmin(fmax(x, c->grid.from), c->grid.to) : 0;
                tmi_int128 add = c ? (tmi_int128)floor(clamped / c->grid.step + 0.5) : 1;
                answers[t][(size_t)cell * table->measure_count + m] += add;
            }
        }
    }
    return TAMIS_OK;
}

static inline void array_free(tmi_engine *engine)
{
    (void)engine;
}

static inline array_engine array_engine_of(const array_row *rows, size_t row_count)
{
    return (array_engine){.engine = {.name = "arrays", .describe = array_describe, .aggregate = array_aggregate,
                                     .free = array_free},
                          .rows = rows, .row_count = row_count};
}

#endif

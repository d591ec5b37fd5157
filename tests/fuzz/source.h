/* What a release asks an engine, of columns x (a number), s (a category) and id (a unit): the inventory before the charge, sums
 * with and without a bound on a unit's rows, and the rows for an estimate. Whatever the source holds: an answer or an error,
 * never a value in a message, and zeros where there is no answer. */
#ifndef TESTS_FUZZ_SOURCE_H
#define TESTS_FUZZ_SOURCE_H

#include <stdlib.h>

#include "engine/core/engine.h"

static inline tamis_status fuzz_take(void *context, const tmi_piece *piece, tamis_error *err)
{
    (void)context;
    (void)err;
    if (piece->rows == 0) abort();
    return TAMIS_OK;
}

static inline void fuzz_expect_message(tamis_status status, const tamis_error *err)
{
    if (status == TAMIS_OK) return;
    if ((status != TAMIS_INVALID && status != TAMIS_SYSTEM) || err->status != status || err->message[0] == '\0') abort();
}

static inline void fuzz_ask(tmi_engine *engine)
{
    static const char *const values[] = {"north", "south"};
    static const double codes[] = {-9};
    static const tmi_column x = {.name = "x", .grid = {0, 100, 1, 0, 100}, .missing_codes = codes, .missing_code_count = 1},
                            unit = {.name = "id", .kind = TMI_LABEL},
                            s = {.name = "s", .kind = TMI_CATEGORY, .values = values, .value_count = 2};
    static const tmi_column *const by[] = {&s}, *const columns[] = {&x, &s, &unit};
    static const tmi_measure measures[] = {{.factors = {{&x, 0}}, .factor_count = 1, .high = 100}, {.low = 1, .high = 1}};
    static const tmi_table table = {by, 1, measures, 2};
    static const unsigned char key[TMI_KEY_BYTES] = {1};
    static const tmi_request requests[] = {{.tables = &table, .table_count = 1},
                                           {.tables = &table, .table_count = 1, .unit = &unit, .rows_per_unit = 1, .key = key}};
    int64_t rows_in[2], units_in[2];
    tmi_inventory all = {
        .columns = columns, .column_count = 3, .stratum = &s, .unit = &unit, .rows_in = rows_in, .units_in = units_in};
    tmi_int128 got[4], *const places[] = {got};
    tamis_error err = {0};
    fuzz_expect_message(engine->describe(engine, &all, NULL, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        const tamis_status status = engine->aggregate(engine, places, &requests[i], NULL, &err);
        fuzz_expect_message(status, &err);
        /* Rows in the cells, and what they add. */
        for (size_t cell = 0; cell < 4; cell += 2)
            if (got[cell] < 0 || got[cell + 1] < 0 || got[cell] > 100 * got[cell + 1]) abort();
        if (status != TAMIS_OK && (status != TAMIS_SYSTEM || got[1] != 0 || got[3] != 0)) abort();
    }
    fuzz_expect_message(engine->rows(engine, columns, 3, fuzz_take, NULL, &err), &err);
}

#endif

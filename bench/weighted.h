/* The question of two benches: weighted totals of v by the groups g, weights and values on public grids. */
#ifndef BENCH_WEIGHTED_H
#define BENCH_WEIGHTED_H

#include <stdio.h>

#include "engine/core/engine.h"

#define GROUPS 20

static tamis_status ask_weighted(tmi_engine *engine, tamis_error *err)
{
    static char names[GROUPS][24];
    static const char *values[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
        snprintf(names[i], sizeof names[i], "group %02d", i);
        values[i] = names[i];
    }
    const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = values, .value_count = GROUPS};
    const tmi_column w = {.name = "w", .grid = {1, 40, 0x1p-20, 1 << 20, 40 << 20}};
    const tmi_column v = {.name = "v", .grid = {0, 150, 0x1p-10, 0, 150 << 10}};
    const tmi_column *const by[] = {&g};
    const tmi_measure total = {.factors = {{&w, 0}, {&v, 0}}, .factor_count = 2, .shift = 10, .low = 0, .high = INT64_C(1) << 40};
    const tmi_table table = {by, 1, &total, 1};
    const tmi_request request = {.tables = &table, .table_count = 1};
    tmi_int128 answers[GROUPS], *const places[] = {answers};
    return engine->aggregate(engine, places, &request, NULL, err);
}

#endif

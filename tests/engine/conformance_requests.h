/* What the conformance test asks: every kind of column and measure, units, groups. */
#ifndef TESTS_ENGINE_CONFORMANCE_REQUESTS_H
#define TESTS_ENGINE_CONFORMANCE_REQUESTS_H

#include "tests/engine/reference.h"
#include "tests/engine/request.h"

static const char *const g_values[] = {"E", "M", "H"}, *const g_missing[] = {"refused", "NA"};
static const char *const h_values[] = {
    "it's", "a long category, with a comma", "say \"no\"", "back\\slash", "caf\xc3\xa9", "two\nlines", "7"};
static const char *const s_values[] = {"north", "south"};

static const double x_missing[] = {97};
static const tmi_grid y_grids[] = {{-10, 10, 0.5, -20, 20}, {0, 1e6, 3, 0, 333333}};
static const tmi_column g = {.name = "g", .kind = TMI_CATEGORY, .values = g_values, .value_count = COUNT(g_values)},
                        g_counted = {.name = "g",
                                     .kind = TMI_CATEGORY,
                                     .values = g_values,
                                     .value_count = 3,
                                     .missing_texts = g_missing,
                                     .missing_text_count = 2,
                                     .has_instead = true,
                                     .instead = 2},
                        h = {.name = "h", .kind = TMI_CATEGORY, .values = h_values, .value_count = COUNT(h_values)},
                        s = {.name = "s", .kind = TMI_CATEGORY, .values = s_values, .value_count = 2},
                        x = {.name = "x",
                             .grid = {-10, 100, 0.25, -40, 400},
                             .missing_codes = x_missing,
                             .missing_code_count = 1},
                        x_counted = {.name = "x",
                                     .grid = {-10, 100, 0.25, -40, 400},
                                     .missing_codes = x_missing,
                                     .missing_code_count = 1,
                                     .has_instead = true,
                                     .instead = 3},
                        y = {.name = "y", .grid = {-1e6, 1e6, 0.1, -10000000, 10000000}},
                        y_by = {.name = "y", .by = &s, .grids = y_grids, .has_instead = true, .instead = 1},
                        weight = {.name = "p", .reciprocal = true, .grid = {1, 5000, 0x1p-20, 1 << 20, INT64_C(5000) << 20}},
                        x_plain = {.name = "x", .grid = {-10, 100, 0.25, -40, 400}},
                        x_coarse = {.name = "x", .grid = {-10, 100, 0.3, -30, 330}}, unit = {.name = "id", .kind = TMI_LABEL},
                        label = {.name = "c \"1\"", .kind = TMI_LABEL}, h_label = {.name = "h", .kind = TMI_LABEL};

static const int64_t cuts[] = {-3, 0, 40, 399, 400}, numbers[] = {(INT64_C(1) << 52) - 1, -7, 0};
static const int32_t two_codes[] = {0, 2, 99, -5}, late[] = {2, 3, 5}, no_codes[] = {0};
static const tmi_column x_cut = {.name = "x cut", .kind = TMI_CUTS, .of = &x, .cuts = cuts, .value_count = 6},
                        looked_up = {.name = "lookup", .kind = TMI_LOOKUP, .of = &g, .numbers = numbers};
static const tmi_condition both[] = {{.column = &x, .least = -10, .most = 300},
                                     {.column = &g, .codes = two_codes, .code_count = 4}},
                           odd[] = {{.column = &x_cut, .codes = late, .code_count = 3}},
                           never[] = {{.column = &h, .codes = no_codes, .code_count = 0}};
static const tmi_column is_both = {.name = "both", .kind = TMI_INDICATOR, .conditions = both, .condition_count = 2},
                        is_odd = {.name = "odd", .kind = TMI_INDICATOR, .conditions = odd, .condition_count = 1},
                        is_always = {.name = "always", .kind = TMI_INDICATOR},
                        is_never = {.name = "never", .kind = TMI_INDICATOR, .conditions = never, .condition_count = 1};
static const tmi_condition nested[] = {{.column = &is_odd, .least = 0, .most = 0},
                                       {.column = &looked_up, .least = -7, .most = 0}};
static const tmi_column is_nested = {.name = "nested", .kind = TMI_INDICATOR, .conditions = nested, .condition_count = 2};
static const int32_t cells_north[] = {3, 0, 0, 1, 2, 3, 1}, cells_south[] = {1, 1};
static const int32_t *const cell_of[] = {cells_north, cells_south};
static const int64_t cluster_counts[] = {7, 2};
static const tmi_column groups = {.name = "groups",
                                  .kind = TMI_GROUPS,
                                  .of = &label,
                                  .stratum = &s,
                                  .cell_of = cell_of,
                                  .cluster_counts = cluster_counts,
                                  .value_count = 4},
                        groups_in_all = {.name = "all groups",
                                         .kind = TMI_GROUPS,
                                         .of = &label,
                                         .cell_of = cell_of,
                                         .cluster_counts = cluster_counts,
                                         .value_count = 4};

static const unsigned char key[TMI_KEY_BYTES] = "a key of thirty-two bytes, no mo";
static const tmi_column
    stratum_label = {.name = "s", .kind = TMI_LABEL},
    scattered = {.name = "scattered", .kind = TMI_SCATTER, .of = &label, .stratum = &stratum_label, .key = key, .value_count = 8},
    scattered_in_all = {.name = "all scattered", .kind = TMI_SCATTER, .of = &h_label, .key = key, .value_count = 32};

#define WIDE_ENOUGH .low = -(INT64_C(1) << 49), .high = INT64_C(1) << 49
#define WIDE .low = -TMI_MAX_GRID, .high = TMI_MAX_GRID
static const tmi_column *const by_g[] = {&g}, *const by_gh[] = {&g, &h}, *const by_h[] = {&h},
                               *const by_all[] = {&x_cut, &g_counted, &s}, *const by_groups[] = {&groups, &g},
                               *const by_groups_in_all[] = {&groups_in_all}, *const by_scattered[] = {&g, &scattered},
                               *const by_scattered_in_all[] = {&scattered_in_all};
static const tmi_measure
    plain[] = {ROWS_WITH(NULL), SUM_OF(&x), ROWS_WITH(&x), SUM_OF(&y), ROWS_WITH(&y), ROWS_WITH(&h)},
    many[] = {
        SUM_OF(&x_counted),
        SUM_OF(&y_by),
        ROWS_WITH(&y_by),
        SUM_OF(&weight),
        ROWS_WITH(&weight),
        SUM_OF(&looked_up),
        SUM_OF(&is_both),
        ROWS_WITH(&is_both),
        SUM_OF(&is_nested),
        ROWS_WITH(&is_nested),
        SUM_OF(&is_always),
        SUM_OF(&is_never),
        {.factors = {{&weight, 0}, {&x, 0}}, .factor_count = 2, .shift = 20, WIDE},
        {.factors = {{&weight, 0}, {&x, -40}}, .factor_count = 2, .shift = 3, .low = -1000, .high = 123456789},
        {.factors = {{&weight, 0}, {&weight, 1 << 20}, {&x, 17}, {&y, -5}}, .factor_count = 4, .shift = 60, WIDE},
        {.factors = {{&weight, 0}, {&weight, 1 << 20}, {&x, 17}, {&y, -5}}, .factor_count = 4, .shift = 0, WIDE},
        {.factors = {{&looked_up, 5}, {&x, 0}}, .factor_count = 2, .shift = 1, WIDE},
        {.factors = {{&x, 7}}, .factor_count = 1, .low = 0, .high = 300, .where = &is_both, .present = {&h, &y}},
        {.factors = {{&x, 0}}, .factor_count = 1, .shift = 2, WIDE, .where = &is_odd},
        {.where = &is_both, .low = 0, .high = 1},
        {.where = &is_odd, .present = {&y, &g}, .low = 0, .high = 1},
        {.present = {&y, &x_cut}, .low = 5, .high = 9},
        {.shift = 1, WIDE},
        {.shift = 2, WIDE},
        {.where = &is_never, .high = 1},
};
static const tmi_measure moments[] = {
    ROWS_WITH(NULL),
    SUM_OF(&x_plain),
    ROWS_WITH(&x_plain),
    ROWS_WITH(&x_coarse),
    SUM_OF(&x_coarse),
    {.factors = {{&x_plain, 17}}, .factor_count = 1, WIDE},
    {.factors = {{&x_plain, 9}, {&x_plain, -3}}, .factor_count = 2, .shift = 3, WIDE_ENOUGH},
    {.factors = {{&x_coarse, 100}, {&x_coarse, 100}}, .factor_count = 2, .low = 5, .high = 9000},
};
static const tmi_table moment_table = {NULL, 0, moments, COUNT(moments)},
                       few_tables[] = {{NULL, 0, plain, 6}, {by_g, 1, plain, 5}, {by_gh, 2, plain, 6}, {by_h, 1, plain + 1, 1}},
                       many_tables[] = {{NULL, 0, many, COUNT(many)},
                                        {by_all, 3, many, COUNT(many)},
                                        {by_gh, 2, many + 11, 9},
                                        {by_g, 1, plain, 6}},
                       group_tables[] = {{by_groups, 2, many, COUNT(many)}, {by_groups_in_all, 1, plain, 6}},
                       scatter_tables[] = {{by_scattered, 2, many, COUNT(many)}, {by_scattered_in_all, 1, plain, 6}};
static const struct {
    const char *name;
    tmi_request request;
    size_t most_rows; /* of the reference */
} requests[] = {
    {"few", {.tables = few_tables, .table_count = 4}, SIZE_MAX},
    {"many", {.tables = many_tables, .table_count = 4}, 3000},
    {"moments", {.tables = &moment_table, .table_count = 1}, SIZE_MAX},
    {"one row per unit", {.tables = many_tables, .table_count = 2, .unit = &unit, .rows_per_unit = 1, .key = key}, 300},
    {"units", {.tables = few_tables, .table_count = 4, .unit = &unit, .rows_per_unit = 3, .key = key}, 300},
    {"groups", {.tables = group_tables, .table_count = 2}, 300},
    {"groups and units", {.tables = group_tables, .table_count = 2, .unit = &unit, .rows_per_unit = 2, .key = key}, 300},
    {"scattered", {.tables = scatter_tables, .table_count = 2}, 300},
    {"scattered units", {.tables = scatter_tables, .table_count = 2, .unit = &unit, .rows_per_unit = 2, .key = key}, 300},
    {"only rows of units",
     {.tables = &(tmi_table){NULL, 0, plain, 1}, .table_count = 1, .unit = &unit, .rows_per_unit = 2, .key = key},
     300},
};

#endif

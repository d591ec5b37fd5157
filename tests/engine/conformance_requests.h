/* What the conformance test asks: every kind of column and measure, units, groups. */
#ifndef TESTS_ENGINE_CONFORMANCE_REQUESTS_H
#define TESTS_ENGINE_CONFORMANCE_REQUESTS_H

#include "tests/engine/reference.h"
#include "tests/engine/request.h"

static const char *const g_values[] = {"E", "M", "H"}, *const g_missing[] = {"refused", "NA"};
static const char *const h_values[] = {"it's",
                                       "a long category, with a comma",
                                       "say \"no\"",
                                       "back\\slash",
                                       "caf\xc3\xa9",
                                       "two\nlines",
                                       "7",
                                       "${x}",
                                       "\xc2\xa0no-break"};
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

/* Of units: nearly all of them have a place, and few rows each. */
#define EIGHT_CELLS 2, 0, 3, 1, 1, 0, 2, 3
static const int32_t unit_cells[] = {EIGHT_CELLS, EIGHT_CELLS, 0,           EIGHT_CELLS, EIGHT_CELLS,
                                     3,           EIGHT_CELLS, EIGHT_CELLS, EIGHT_CELLS};
static const int32_t *const unit_cell_of[] = {unit_cells, unit_cells + 5};
static const int64_t unit_counts[] = {45, 30}, all_unit_counts[] = {58};
static const tmi_column unit_groups = {.name = "unit groups",
                                       .kind = TMI_GROUPS,
                                       .of = &unit,
                                       .stratum = &s,
                                       .cell_of = unit_cell_of,
                                       .cluster_counts = unit_counts,
                                       .value_count = 4},
                        unit_groups_in_all = {.name = "all unit groups",
                                              .kind = TMI_GROUPS,
                                              .of = &unit,
                                              .cell_of = unit_cell_of,
                                              .cluster_counts = all_unit_counts,
                                              .value_count = 4};

static const unsigned char key[TMI_KEY_BYTES] = "a key of thirty-two bytes, no mo";
static const tmi_column
    stratum_label = {.name = "s", .kind = TMI_LABEL},
    scattered = {.name = "scattered", .kind = TMI_SCATTER, .of = &label, .stratum = &stratum_label, .key = key, .value_count = 8},
    scattered_in_all = {.name = "all scattered", .kind = TMI_SCATTER, .of = &h_label, .key = key, .value_count = 32};

/* Classes of every kind of column, and what may be made from classes. */
static const int32_t g_classes[] = {1, -1, 0}, pairs[] = {0, 0, 1}, cut_classes[] = {2, 0, -1, 1, 1, 0},
                     h_classes[] = {0, 1, 2, 3, -1, 1, 0, 2, 3}, group_classes[] = {1, 0, -1, 1},
                     scatter_classes[] = {0, 1, 0, 2, 2, 1, -1, 0}, again[] = {2, 0}, in_all[] = {0}, there[] = {1},
                     nowhere[] = {-1};
#define CLASSES_OF(column, list, count) .kind = TMI_CLASSES, .of = (column), .classes = (list), .value_count = (count)
static const tmi_column
    g_class = {.name = "g class", CLASSES_OF(&g, g_classes, 2), .has_instead = true, .instead = 1},
    g_pair = {.name = "g pair", CLASSES_OF(&g_counted, pairs, 2)},
    cut_class = {.name = "cut class", CLASSES_OF(&x_cut, cut_classes, 3)},
    h_class = {.name = "h class", CLASSES_OF(&h, h_classes, 4), .has_instead = true, .instead = 3},
    group_class = {.name = "group class", CLASSES_OF(&groups, group_classes, 2), .has_instead = true},
    scatter_class = {.name = "scatter class", CLASSES_OF(&scattered, scatter_classes, 3), .has_instead = true, .instead = 2},
    class_again = {.name = "class again", CLASSES_OF(&g_class, again, 3), .has_instead = true, .instead = 1},
    has_x = {.name = "has x", CLASSES_OF(&x, there, 2), .has_instead = true},
    has_weight = {.name = "has weight", CLASSES_OF(&weight, in_all, 1)},
    has_both = {.name = "has both", CLASSES_OF(&is_both, there, 3), .has_instead = true, .instead = 2},
    has_no_number = {.name = "has no number", CLASSES_OF(&looked_up, nowhere, 2), .has_instead = true, .instead = 1},
    has_nothing = {.name = "has nothing", CLASSES_OF(&y, nowhere, 1)};
static const int64_t class_numbers[] = {5, -9, 1000};
static const tmi_column class_number = {.name = "class number", .kind = TMI_LOOKUP, .of = &class_again, .numbers = class_numbers},
                        number_class = {.name = "number class", CLASSES_OF(&class_number, there, 2)};
static const tmi_condition in_class[] = {{.column = &cut_class, .codes = two_codes, .code_count = 4},
                                         {.column = &has_x, .codes = there, .code_count = 1}};
static const tmi_column is_in_class = {.name = "in class", .kind = TMI_INDICATOR, .conditions = in_class, .condition_count = 2};

/* Products of integers and of doubles, of each other, and what may be made from products. The weight is read a second time,
 * with a lower clamp. */
#define PRODUCT_OF(a, b, least, most) .kind = TMI_PRODUCT, .of = (a), .second = (b), .grid = {.low = (least), .high = (most)}
static const tmi_column low_weight = {.name = "p", .reciprocal = true, .grid = {1, 64, 0x1p-20, 1 << 20, 64 << 20}},
                        weighted_x = {.name = "weighted x", PRODUCT_OF(&weight, &x, -9000, 90000), .shift = 20},
                        low_x = {.name = "low x",
                                 PRODUCT_OF(&x, &low_weight, -(INT64_C(1) << 40), INT64_C(1) << 40),
                                 .has_instead = true,
                                 .instead = 5},
                        weighted_y = {.name = "weighted y",
                                      PRODUCT_OF(&weight, &y, 1 - TMI_MAX_GRID, TMI_MAX_GRID - 1),
                                      .shift = 10,
                                      .has_instead = true,
                                      .instead = -77},
                        square = {.name = "square", PRODUCT_OF(&weighted_y, &weighted_y, 3, 5000), .shift = 50},
                        x_of_both = {.name = "x of both", PRODUCT_OF(&is_both, &x, -40, 400)},
                        far_off = {.name = "far off", PRODUCT_OF(&looked_up, &weight, -1000, TMI_MAX_GRID - 1), .shift = 40},
                        vanished = {.name = "vanished", PRODUCT_OF(&looked_up, &looked_up, -1, 1), .shift = TMI_ENGINE_MAX_SHIFT};
static const int64_t product_cuts[] = {-100, 0, 1, 2500};
static const tmi_column
    product_cut = {.name = "product cut", .kind = TMI_CUTS, .of = &weighted_x, .cuts = product_cuts, .value_count = 5},
    has_square = {.name = "has square", CLASSES_OF(&square, there, 2), .has_instead = true},
    has_product = {.name = "has product", CLASSES_OF(&weighted_x, there, 3), .has_instead = true, .instead = 2};
static const tmi_condition of_products[] = {{.column = &weighted_x, .least = -50, .most = 60000},
                                            {.column = &product_cut, .codes = late, .code_count = 2}};
/* the ends of a difference are points too: 2^52 less a number would not be one */
static const int64_t near_numbers[] = {-7, 0, 1000003};
static const tmi_column near = {.name = "near", .kind = TMI_LOOKUP, .of = &g, .numbers = near_numbers};
static const tmi_column is_of_products = {.name = "of products",
                                          .kind = TMI_INDICATOR,
                                          .conditions = of_products,
                                          .condition_count = 2},
                        less = {.name = "y less x", .kind = TMI_DIFFERENCE, .of = &y_by, .second = &x},
                        less_number = {.name = "x less a number", .kind = TMI_DIFFERENCE, .of = &x, .second = &near},
                        twice = {.name = "twice", PRODUCT_OF(&is_of_products, &far_off, 1 - TMI_MAX_GRID, TMI_MAX_GRID - 1)};

/* Two and three categories joined, and all that may hang on a joint one: grids, ranks of labels, classes, numbers. */
static const int32_t sg_classes[] = {3, 0, -1, 1, 2, 2},
                     sgh_classes[] = {0, 1, -1, 0, 1, 4, 2, 2, 2, 3,  3,  0, 1, -1, 0, 1, 2, 3,
                                      4, 4, 4,  0, 1, 2, 3, 4, 0, -1, -1, 0, 0, 0,  1, 1, 1, 2};
static const tmi_column
    sg = {.name = "s and g", .kind = TMI_JOINT, .of = &s, .second = &g, .classes = sg_classes, .value_count = 4},
    sgh = {.name = "s, g and h", .kind = TMI_JOINT, .of = &sg, .second = &h, .classes = sgh_classes, .value_count = 5};
static const tmi_grid joint_grids[] = {{-10, 10, 0.5, -20, 20}, {0, 1e6, 3, 0, 333333}, {0, 7, 1, 0, 7}, {-9, 9, 0.25, -36, 36}};
static const int64_t joint_counts[] = {7, 2, 7, 1}, joint_numbers[] = {12, -3, 0, 5, 1000};
static const int32_t *const joint_cell_of[] = {cells_north, cells_south, cells_north, cells_south};
static const tmi_column y_by_joint = {.name = "y", .by = &sg, .grids = joint_grids, .has_instead = true, .instead = 1},
                        joint_groups = {.name = "groups in joint strata",
                                        .kind = TMI_GROUPS,
                                        .of = &label,
                                        .stratum = &sg,
                                        .cell_of = joint_cell_of,
                                        .cluster_counts = joint_counts,
                                        .value_count = 4},
                        sg_class = {.name = "class of joint", CLASSES_OF(&sg, group_classes, 2), .has_instead = true},
                        joint_number = {.name = "number of joint", .kind = TMI_LOOKUP, .of = &sgh, .numbers = joint_numbers};

#define WIDE_ENOUGH .low = -(INT64_C(1) << 49), .high = INT64_C(1) << 49
#define WIDE .low = -TMI_MAX_GRID, .high = TMI_MAX_GRID
static const tmi_column *const by_g[] = {&g}, *const by_gh[] = {&g, &h}, *const by_h[] = {&h},
                               *const by_all[] = {&x_cut, &g_counted, &s}, *const by_groups[] = {&groups, &g},
                               *const by_groups_in_all[] = {&groups_in_all}, *const by_unit_groups[] = {&unit_groups, &g},
                               *const by_unit_groups_in_all[] = {&unit_groups_in_all}, *const by_scattered[] = {&g, &scattered},
                               *const by_scattered_in_all[] = {&scattered_in_all},
                               *const by_classes[] = {&g_class, &cut_class, &has_x}, *const by_again[] = {&class_again, &h_class},
                               *const by_none[] = {&has_no_number, &has_both}, *const by_group_class[] = {&group_class, &g_pair},
                               *const by_scatter_class[] = {&scatter_class, &groups}, *const by_joint[] = {&sg, &sg_class},
                               *const by_joint_of_three[] = {&sgh, &g_counted}, *const by_joint_groups[] = {&joint_groups, &sgh},
                               *const by_products[] = {&product_cut, &has_square}, *const by_product[] = {&has_product, &g};
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
        {.factors = {{&weight, 0},
                     {&weight, 1 << 20},
                     {&x, 17},
                     {&x, -3},
                     {&y, -5},
                     {&y, 5},
                     {&weight, 0},
                     {&weight, 7},
                     {&x, 1},
                     {&y_by, 0},
                     {&looked_up, 5},
                     {&is_both, -1}},
         .factor_count = 12,
         .shift = 200,
         WIDE,
         .present = {&h, &g_counted, &is_odd}},
        {.factors = {{&x, 7}}, .factor_count = 1, .shift = 1, WIDE, .present = {NULL, &y, &h}},
        {.present = {&y, &h, &x_cut}, .high = 1},
        {.factors = {{&less, 0}, {&less_number, -2}}, .factor_count = 2, .shift = 1, WIDE},
        {.factors = {{&weight, 0}, {&less_number, 0}}, .factor_count = 2, .shift = 20, WIDE, .present = {&less}},
};
static const tmi_measure of_classes[] = {
    ROWS_WITH(NULL),
    ROWS_WITH(&g_class),
    ROWS_WITH(&class_again),
    ROWS_WITH(&has_no_number),
    ROWS_WITH(&has_nothing),
    ROWS_WITH(&number_class),
    SUM_OF(&class_number),
    SUM_OF(&is_in_class),
    ROWS_WITH(&is_in_class),
    {.present = {&g_pair, &cut_class, &has_weight}, .where = &is_in_class, .high = 1},
    {.factors = {{&weight, 0}, {&x, 3}, {&class_number, 7}},
     .factor_count = 3,
     .shift = 4,
     WIDE,
     .present = {&h_class, &has_both, &g_pair}},
};
static const tmi_measure joint[] = {
    ROWS_WITH(NULL),
    ROWS_WITH(&sgh),
    SUM_OF(&joint_number),
    {.factors = {{&y_by_joint, 0}}, .factor_count = 1, WIDE},
    {.factors = {{&joint_number, 5}, {&x, 0}}, .factor_count = 2, .shift = 1, WIDE, .present = {&sg, &y_by_joint}},
};
static const tmi_measure products[] = {
    SUM_OF(&weight),
    SUM_OF(&low_weight),
    SUM_OF(&weighted_x),
    ROWS_WITH(&weighted_x),
    SUM_OF(&low_x),
    SUM_OF(&weighted_y),
    ROWS_WITH(&weighted_y),
    SUM_OF(&square),
    SUM_OF(&x_of_both),
    ROWS_WITH(&x_of_both),
    SUM_OF(&far_off),
    SUM_OF(&vanished),
    ROWS_WITH(&vanished),
    SUM_OF(&is_of_products),
    SUM_OF(&twice),
    {.factors = {{&weight, 0}, {&low_weight, 1 << 20}}, .factor_count = 2, .shift = 30, WIDE},
    {.factors = {{&weighted_y, 0}, {&weighted_x, 17}, {&square, 3}},
     .factor_count = 3,
     .shift = 40,
     WIDE,
     .present = {&twice, &x_of_both, &has_product}},
    {.factors = {{&low_x, -5}}, .factor_count = 1, .shift = 3, WIDE, .where = &is_of_products},
};
/* Measures that begin with the same factors. */
#define CROSS(a, minus, b, off) \
    {.factors = {{&weight, 0}, {&a, minus}, {&b, off}}, .factor_count = 3, .shift = 31, WIDE}, \
    { \
        .factors = {{&weight, 0}, {&low_weight, 0}, {&a, minus}, {&b, off}}, .factor_count = 4, .shift = 55, WIDE, .present = { \
            &h \
        } \
    }
static const tmi_measure crossed[] = {
    CROSS(x, -17, x, -17), CROSS(x, -17, x, 200), CROSS(x, 200, x, 200), CROSS(x, -17, y, -5),
    CROSS(x, -17, y, 0),   CROSS(x, 200, y, -5),  CROSS(x, 200, y, 0),   CROSS(y, -5, y, -5),
    CROSS(y, -5, y, 0),    CROSS(y, 0, y, 0),     ROWS_WITH(&weight),
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
                       unit_tables[] = {{by_unit_groups, 2, many, COUNT(many)}, {by_unit_groups_in_all, 1, plain, 6}},
                       scatter_tables[] = {{by_scattered, 2, many, COUNT(many)}, {by_scattered_in_all, 1, plain, 6}},
                       class_tables[] = {{by_classes, 3, of_classes, COUNT(of_classes)},
                                         {by_again, 2, of_classes, COUNT(of_classes)},
                                         {by_none, 2, of_classes, COUNT(of_classes)},
                                         {NULL, 0, of_classes, COUNT(of_classes)}},
                       product_tables[] = {{by_products, 2, products, COUNT(products)},
                                           {by_product, 2, products, COUNT(products)},
                                           {NULL, 0, products, COUNT(products)}},
                       crossed_tables[] = {{by_gh, 2, crossed, COUNT(crossed)},
                                           {by_again, 2, crossed, COUNT(crossed)},
                                           {NULL, 0, crossed, COUNT(crossed)}},
                       joint_tables[] = {{by_joint, 2, joint, COUNT(joint)},
                                         {by_joint_of_three, 2, joint, COUNT(joint)},
                                         {NULL, 0, joint, COUNT(joint)}},
                       joint_group_tables[] = {{by_joint_groups, 2, joint, COUNT(joint)}, {by_joint, 1, joint, 3}},
                       group_class_tables[] = {{by_group_class, 2, of_classes, COUNT(of_classes)},
                                               {by_scatter_class, 2, plain, 6}};
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
    {"groups of units", {.tables = unit_tables, .table_count = 2, .unit = &unit, .rows_per_unit = 2, .key = key}, 300},
    {"groups of units that fit", {.tables = unit_tables, .table_count = 2, .unit = &unit, .rows_per_unit = 300, .key = key}, 300},
    {"groups of units, all rows", {.tables = unit_tables, .table_count = 2}, 300},
    {"scattered", {.tables = scatter_tables, .table_count = 2}, 300},
    {"scattered units", {.tables = scatter_tables, .table_count = 2, .unit = &unit, .rows_per_unit = 2, .key = key}, 300},
    {"only rows of units",
     {.tables = &(tmi_table){NULL, 0, plain, 1}, .table_count = 1, .unit = &unit, .rows_per_unit = 2, .key = key},
     300},
    {"classes", {.tables = class_tables, .table_count = 4}, 3000},
    {"classes of units", {.tables = class_tables, .table_count = 4, .unit = &unit, .rows_per_unit = 2, .key = key}, 300},
    {"products", {.tables = product_tables, .table_count = 3}, 3000},
    {"products of units", {.tables = product_tables, .table_count = 3, .unit = &unit, .rows_per_unit = 1, .key = key}, 300},
    {"crossed", {.tables = crossed_tables, .table_count = 3}, SIZE_MAX},
    {"crossed by late texts", {.tables = crossed_tables, .table_count = 1}, 3000},
    {"joint", {.tables = joint_tables, .table_count = 3}, 3000},
    {"joint, of units", {.tables = joint_tables, .table_count = 3, .unit = &unit, .rows_per_unit = 2, .key = key}, 300},
    {"groups in joint strata", {.tables = joint_group_tables, .table_count = 2}, 300},
    {"classes of groups", {.tables = group_class_tables, .table_count = 2}, 300},
};

static inline bool has_groups(const tmi_request *request)
{
    return request->tables == group_tables || request->tables == group_class_tables || request->tables == joint_group_tables ||
           request->tables == unit_tables;
}

/* ---- units whose points are bounded together ---- */

static const int64_t all_rows = 1000, rows_of_g[] = {7, 900, 0, 1000, 450};

/* Weights from 1 to 64; a bound of 70 leaves single rows as they are, one of 200 also most pairs and all triples of up to 64. */
static const tmi_column
    of_unit = {.name = "p", .reciprocal = true, .grid = {1, 64, 0x1p-20, 1 << 20, 64 << 20}, .most_of_unit = INT64_C(70) << 20},
    of_unit_more = {.name = "p", .reciprocal = true, .grid = {0, 50, 0x1p-20, 0, 50 << 20}, .most_of_unit = INT64_C(200) << 20},
    bounded_x = {.name = "bounded x", PRODUCT_OF(&of_unit, &x, -9000, 90000), .shift = 20},
    of_one = {.name = "always", .kind = TMI_INDICATOR},
    one_code = {.name = "one", .kind = TMI_CUTS, .of = &of_one, .value_count = 1},
    of_rows = {.name = "rows",
               .kind = TMI_LOOKUP,
               .of = &one_code,
               .numbers = &all_rows,
               .most_of_unit = 2500}, /* two and a half */
    of_groups = {.name = "rows by g", .kind = TMI_LOOKUP, .of = &g, .numbers = rows_of_g, .most_of_unit = 1000},
    of_product = {.name = "a bounded product", PRODUCT_OF(&of_unit, &of_groups, 0, 40000), .shift = 18, .most_of_unit = 40000},
    /* of weights that are not bounded, on both sides of 0; some rows alone are beyond the bound */
    weight_of_row = {.name = "p", .reciprocal = true, .grid = {1, 64, 0x1p-20, 1 << 20, 64 << 20}},
    of_signs = {.name = "a bounded sum", PRODUCT_OF(&weight_of_row, &x, -90000, 90000), .shift = 20, .most_of_unit = 30011},
    of_x = {.name = "x", .grid = {-10, 1000, 0.25, -40, 4000}, .most_of_unit = 1500};
static const tmi_measure bounded_measures[] = {
    SUM_OF(&of_rows),      SUM_OF(&of_groups),
    SUM_OF(&of_product),   ROWS_WITH(&of_product),
    SUM_OF(&of_unit),      ROWS_WITH(&of_unit),
    SUM_OF(&of_unit_more), SUM_OF(&bounded_x),
    SUM_OF(&of_signs),     ROWS_WITH(&of_signs),
    SUM_OF(&of_x),         {.factors = {{&of_unit, 0}, {&of_unit_more, 0}, {&x, 3}}, .factor_count = 3, .shift = 30, WIDE},
};
static const tmi_table bounded_tables[] = {{by_g, 1, bounded_measures, COUNT(bounded_measures)},
                                           {by_groups_in_all, 1, bounded_measures, COUNT(bounded_measures)}};

/* Bounds that the one row of a unit cannot reach: then it need not wait for others. */
static const tmi_measure loose_measures[] = {SUM_OF(&of_rows), SUM_OF(&of_groups), ROWS_WITH(&of_groups), SUM_OF(&of_unit),
                                             ROWS_WITH(&of_unit)};
static const tmi_table loose_tables[] = {{by_g, 1, loose_measures, COUNT(loose_measures)}};

#endif

/* Hostile rows. A column of them has a list of cells, as long as a prime; row i has cell (a * i + b) modulo the prime.
 * Columns have different primes, so that all pairs of cells of two columns meet in few rows. The same cells are literals of
 * the engine's dialect, in a list that a table of numbers goes through (a table of VALUES may be answered by another part of
 * an engine than the one that computes), and Arrow arrays for the engine inside this process. */
#include "engine/statements/probe.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define ROWS 211 /* a prime too */

static const int primes[] = {13, 17, 19, 23, 29, 31, 37, 41,  43,  47,  53,  59, 61,
                             67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113};
#define PRIME_COUNT (sizeof primes / sizeof *primes)
#define MOST_CELLS 113
#define MOST_TEXT 96 /* bytes of a cell's text */

typedef struct cell {
    bool is_null;
    double real;
    tmi_int128 whole; /* of integers, booleans and dates; of decimals times 10^scale */
    char text[MOST_TEXT];
} cell;

typedef struct probe_column {
    const char *name, *word;
    tmi_sql_type type;
    int scale, digits; /* of decimals */
    cell cells[MOST_CELLS];
    int count; /* of different cells, then the prime */
    int step, first;
} probe_column;

typedef struct probe_rows {
    const tmi_dialect *dialect;
    probe_column *columns;
    size_t column_count;
    int64_t rows;
    char *table;          /* in SQL */
    tamis_source *source; /* in memory, with what it refers to: */
    struct ArrowSchema *schemas, schema, **schema_list;
    struct ArrowArray *arrays, array, **array_list;
    void **buffers; /* four of each column: validity, values, offsets or NULL, texts or NULL */
} probe_rows;

/* ---- cells ---- */

static cell *add_cell(probe_column *c)
{
    if (c->count == MOST_CELLS) return NULL;
    c->cells[c->count] = (cell){0};
    return &c->cells[c->count++];
}

static void add_null(probe_column *c)
{
    cell *to = add_cell(c);
    if (to) to->is_null = true;
}

/* A float has no cell that its type would round to 0 or to infinity. */
static void add_real(probe_column *c, double x)
{
    if (c->type == TMI_SQL_FLOAT) {
        x = (double)(float)x;
        if (x != 0 && isfinite(x) && fabs(x) < 1e-37) return;
        if (isfinite(x) && fabs(x) > 3e38) return;
    }
    cell *to = add_cell(c);
    if (to) to->real = x;
}

static void add_text(probe_column *c, const char *before, const char *text, const char *after)
{
    if (strlen(before) + strlen(text) + strlen(after) >= MOST_TEXT) return;
    cell *to = add_cell(c);
    if (to) snprintf(to->text, sizeof to->text, "%s%s%s", before, text, after);
}

/* The range of an integer type, from the engine's word for it. */
static void integer_range(tmi_int128 *low, tmi_int128 *high, const char *word)
{
    const bool is_unsigned = (word[0] | 32) == 'u';
    const char *plain = word + is_unsigned;
    const int bits = strncasecmp(plain, "tiny", 4) == 0                                   ? 8
                     : strncasecmp(plain, "small", 5) == 0                                ? 16
                     : strcasecmp(plain, "int") == 0 || strcasecmp(plain, "integer") == 0 ? 32
                                                                                          : 64;
    /* No unsigned value beyond those of 63 bits is tried. */
    *high = ((tmi_int128)1 << (is_unsigned && bits < 64 ? bits : bits - 1)) - 1;
    *low = is_unsigned ? 0 : -*high - 1;
}

static void add_integer(probe_column *c, tmi_int128 x)
{
    tmi_int128 low, high;
    integer_range(&low, &high, c->word);
    if (x < low || x > high) return;
    cell *to = add_cell(c);
    if (to) to->whole = x;
}

static tmi_int128 power_of_ten(int n)
{
    tmi_int128 x = 1;
    while (n-- > 0) x *= 10;
    return x;
}

static void add_decimal(probe_column *c, tmi_int128 x)
{
    const tmi_int128 most = power_of_ten(c->digits) - 1;
    if (x < -most || x > most) return;
    cell *to = add_cell(c);
    if (to) to->whole = x;
}

/* A number of the plan, if the type has one near it. */
static void add_number(probe_column *c, double x)
{
    if (c->type == TMI_SQL_DOUBLE || c->type == TMI_SQL_FLOAT) add_real(c, x);
    if (!(fabs(x) < 0x1p62)) return;
    if (c->type == TMI_SQL_INTEGER) add_integer(c, (tmi_int128)floor(x));
    if (c->type == TMI_SQL_NUMERIC && c->digits > c->scale)
        add_decimal(c, fabs(x) < 1e9 && c->scale < 9 ? (tmi_int128)floor(x * (double)power_of_ten(c->scale))
                                                     : (tmi_int128)floor(x) * power_of_ten(c->scale));
}

/* Days since 1970-01-01 of a date as a plan writes it; false if it is none. */
static bool days_of(int64_t *days, const char *text)
{
    int y, m, d, end = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &y, &m, &d, &end) != 3 || text[end] != '\0' || end != 10 || y < 1 || m < 1 || m > 12 ||
        d < 1 || d > 28)
        return false;
    const int64_t year = m > 2 ? y : y - 1, month = m > 2 ? m - 3 : m + 9; /* from March on */
    *days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + d - 1 - 719468;
    return true;
}

static void add_date(probe_column *c, const char *text)
{
    int64_t days;
    if (!days_of(&days, text)) return;
    cell *to = add_cell(c);
    if (!to) return;
    to->whole = days;
    snprintf(to->text, sizeof to->text, "%s", text);
}

/* A value that a plan lists, as a cell of this type. */
static void add_listed(probe_column *c, const char *text)
{
    const double x = tmi_number_in((tmi_cell){text, strlen(text)});
    if (c->type == TMI_SQL_TEXT) {
        add_text(c, "", text, "");
        add_text(c, " \t", text, "\r\n");
        add_text(c, "\xc2\xa0", text, "");
        if (text[0] >= 'a' && text[0] <= 'z') {
            char capital[2] = {(char)(text[0] - 32), '\0'};
            add_text(c, capital, text + 1, "");
        } else if (text[0] >= 'A' && text[0] <= 'Z') {
            char small[2] = {(char)(text[0] + 32), '\0'};
            add_text(c, small, text + 1, "");
        }
    }
    if (!isnan(x)) add_number(c, x);
    if (c->type == TMI_SQL_DATE) add_date(c, text);
}

/* What every column of a type has. */
static void add_common(probe_column *c)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "a",
                                        "A",
                                        " a",
                                        "a\n",
                                        "\x0b"
                                        "a",
                                        "\xc2\xa0"
                                        "a",
                                        "${x}",
                                        "\\n",
                                        "'",
                                        "\"",
                                        "b",
                                        "b\xcc\x81",
                                        "\xc3\xa9",
                                        "ab"},
                             *const dates[] = {"1970-01-01", "1969-12-31", "2000-02-28", "1900-03-01",
                                               "1582-10-10", "0001-01-01", "9999-12-28"},
                             *const ids[] = {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
                                             "0a0b0c0d-1e1f-4a4b-8c8d-123456789abc"};
    static const double reals[] = {0,      -0.0,   1,      -1,      0.5,    -0.5,   2.5,       0.1,
                                   1e-300, 5e-324, -1e300, DBL_MAX, 0x1p53, 0x1p63, 1e15 + 0.5};
    add_null(c);
    if (c->type == TMI_SQL_TEXT)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_text(c, "", texts[i], "");
    if (c->type == TMI_SQL_DOUBLE || c->type == TMI_SQL_FLOAT) {
        for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) add_real(c, reals[i]);
        add_real(c, (double)NAN);
        add_real(c, (double)INFINITY);
        add_real(c, (double)-INFINITY);
    }
    if (c->type == TMI_SQL_INTEGER) {
        static const int64_t whole[] = {
            0, 1, -1, 2, 7, 100, 127, -128, INT32_MAX, INT32_MIN, (INT64_C(1) << 53) + 1, INT64_MAX, INT64_MIN};
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) add_integer(c, whole[i]);
    }
    if (c->type == TMI_SQL_NUMERIC) {
        const tmi_int128 one = power_of_ten(c->scale),
                         some[] = {0, 1, -1, one, -one, one + one / 2, 25 * (one / 10), one * 7, 10 * one};
        for (size_t i = 0; i < sizeof some / sizeof *some; i++) add_decimal(c, some[i]);
        add_decimal(c, power_of_ten(c->digits) - 1);
    }
    if (c->type == TMI_SQL_BOOLEAN)
        for (int i = 0; i < 2; i++) {
            cell *to = add_cell(c);
            if (to) to->whole = i;
        }
    if (c->type == TMI_SQL_DATE)
        for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) add_date(c, dates[i]);
    if (c->type == TMI_SQL_UUID)
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) add_text(c, "", ids[i], "");
}

static void add_grid(probe_column *c, const tmi_grid *grid, bool reciprocal)
{
    const double middle = (double)((grid->low + grid->high) / 2) * grid->step;
    const double some[] = {grid->from,
                           grid->to,
                           grid->from - grid->step,
                           grid->to + grid->step,
                           middle,
                           middle + grid->step / 2,
                           nextafter(middle + grid->step / 2, -(double)INFINITY),
                           middle - grid->step / 2,
                           middle + 3 * grid->step,
                           nextafter(grid->to, 0)};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) add_number(c, reciprocal && some[i] != 0 ? 1 / some[i] : some[i]);
}

/* The points around a border on a grid. */
static void add_border(probe_column *c, const tmi_column *of, int64_t point)
{
    if (of->kind != TMI_NUMBER || of->by || of->reciprocal) return;
    add_number(c, (double)point * of->grid.step);
    add_number(c, (double)(point - 1) * of->grid.step);
    add_number(c, (double)(point + 1) * of->grid.step);
}

/* What a column of the request may tell apart. */
static void add_particular(probe_column *c, const tmi_column *column)
{
    for (size_t i = 0; i < column->missing_code_count && i < 8; i++) add_number(c, column->missing_codes[i]);
    for (size_t i = 0; i < column->missing_text_count && i < 4; i++) add_listed(c, column->missing_texts[i]);
    for (size_t i = 0; column->kind == TMI_CATEGORY && i < column->value_count && i < 12; i++) add_listed(c, column->values[i]);
    if (column->kind != TMI_NUMBER) return;
    if (!column->by) add_grid(c, &column->grid, column->reciprocal);
    for (size_t i = 0; column->by && i < column->by->value_count && i < 3; i++)
        add_grid(c, &column->grids[i], column->reciprocal);
}

/* "decimal(10,2)": its digits, and those behind the point. A word without them, of PostgreSQL, may have any. */
static void read_decimal(probe_column *c)
{
    const char *open = strchr(c->word, '(');
    c->digits = 30;
    c->scale = strncasecmp(c->word, "huge", 4) == 0 || strncasecmp(c->word, "uhuge", 5) == 0 ? 0 : 10;
    if (open && (sscanf(open, "(%d,%d)", &c->digits, &c->scale) != 2 || c->digits < 1 || c->digits > 38 || c->scale < 0 ||
                 c->scale > c->digits)) {
        c->digits = 1;
        c->scale = 0;
    }
}

/* ---- as SQL ---- */

static void put_whole(tmi_text *sql, tmi_int128 x, int scale)
{
    char digits[64];
    size_t at = sizeof digits - 1;
    const bool negative = x < 0;
    digits[at] = '\0';
    for (int i = 0; x != 0 || i <= scale; i++) {
        if (i == scale && scale > 0) digits[--at] = '.';
        const int digit = (int)(x % 10);
        digits[--at] = (char)('0' + (digit < 0 ? -digit : digit));
        x /= 10;
    }
    if (negative) digits[--at] = '-';
    tmi_text_put(sql, digits + at);
}

static void put_real(tmi_text *sql, const tmi_dialect *dialect, double x)
{
    if (isfinite(x)) tmi_sql_real(sql, dialect, x);
    else tmi_sql_word(sql, dialect->as_real, isnan(x) ? "'NaN'" : x > 0 ? "'Infinity'" : "'-Infinity'");
}

static void put_cell(tmi_text *sql, const tmi_dialect *dialect, const probe_column *c, const cell *of)
{
    const bool is_text = c->type == TMI_SQL_TEXT, is_double = c->type == TMI_SQL_DOUBLE;
    if (is_text && !of->is_null) {
        dialect->text(sql, of->text);
        return;
    }
    if (is_double && of->is_null) {
        tmi_sql_word(sql, dialect->as_real, "NULL");
        return;
    }
    if (!is_double) tmi_text_put(sql, "CAST(");
    if (of->is_null) tmi_text_put(sql, "NULL");
    else if (is_double || c->type == TMI_SQL_FLOAT) put_real(sql, dialect, of->real);
    else if (c->type == TMI_SQL_BOOLEAN) tmi_text_put(sql, of->whole ? "true" : "false");
    else {
        tmi_text_put(sql, "'");
        if (c->type == TMI_SQL_INTEGER || c->type == TMI_SQL_NUMERIC) put_whole(sql, of->whole, c->scale);
        else tmi_text_put(sql, of->text);
        tmi_text_put(sql, "'");
    }
    if (!is_double) tmi_text_format(sql, " AS %s)", is_text ? dialect->text_type : c->word);
}

static tamis_status write_table(probe_rows *p, tamis_error *err)
{
    const tmi_dialect *dialect = p->dialect;
    char text[96];
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "(SELECT 1 AS tamis_one");
    for (size_t k = 0; k < p->column_count; k++) {
        const probe_column *c = &p->columns[k];
        tmi_text_put(&sql, ", ");
        tmi_text_put(&sql, dialect->element);
        tmi_sql_before(&sql, dialect->array);
        for (int i = 0; i < c->count; i++) {
            tmi_text_put(&sql, i > 0 ? ", " : "");
            put_cell(&sql, dialect, c, &c->cells[i]);
        }
        tmi_sql_after(&sql, dialect->array);
        snprintf(text, sizeof text, "((i * %d + %d) %% %d)", c->step, c->first, c->count);
        tmi_sql_word(&sql, dialect->at_code, text);
        tmi_text_put(&sql, " AS ");
        tmi_sql_quote(&sql, dialect, c->name);
    }
    snprintf(text, sizeof text, "%lld", (long long)p->rows);
    tmi_text_put(&sql, " FROM ");
    tmi_sql_word(&sql, dialect->numbers, text);
    tmi_text_put(&sql, " tamis_numbers) tamis_probe");
    return tmi_text_take(&p->table, &sql, err);
}

/* ---- in memory ---- */

static void keep_schema(struct ArrowSchema *schema) { (void)schema; }
static void keep_array(struct ArrowArray *array) { (void)array; }

static const cell *cell_at(const probe_column *c, int64_t row) { return &c->cells[(row * c->step + c->first) % c->count]; }

static bool has_texts(const probe_column *c) { return c->type == TMI_SQL_TEXT || c->type == TMI_SQL_UUID; }

/* The format of a column, which lives as long as the name of it: there are only so many. */
static const char *format_of(const probe_column *c)
{
    static const char *const decimals[] = {"d:38,0",  "d:38,1",  "d:38,2",  "d:38,3",  "d:38,4",  "d:38,5",  "d:38,6",  "d:38,7",
                                           "d:38,8",  "d:38,9",  "d:38,10", "d:38,11", "d:38,12", "d:38,13", "d:38,14", "d:38,15",
                                           "d:38,16", "d:38,17", "d:38,18", "d:38,19", "d:38,20", "d:38,21", "d:38,22", "d:38,23",
                                           "d:38,24", "d:38,25", "d:38,26", "d:38,27", "d:38,28", "d:38,29", "d:38,30", "d:38,31",
                                           "d:38,32", "d:38,33", "d:38,34", "d:38,35", "d:38,36", "d:38,37", "d:38,38"};
    switch (c->type) {
    case TMI_SQL_DOUBLE: return "g";
    case TMI_SQL_FLOAT: return "f";
    case TMI_SQL_INTEGER: return "l";
    case TMI_SQL_BOOLEAN: return "b";
    case TMI_SQL_NUMERIC: return decimals[c->scale];
    case TMI_SQL_DATE: return "tdD";
    default: return "u";
    }
}

/* buffers: validity, values or offsets, texts. */
static bool fill_column(void **buffers, const probe_column *c, int64_t rows)
{
    uint8_t *valid = buffers[0] = tmi_alloc((size_t)rows / 8 + 1, 1);
    unsigned char *values = buffers[1] = tmi_alloc((size_t)rows + 1, sizeof(tmi_int128));
    char *texts = buffers[2] = has_texts(c) ? tmi_alloc((size_t)rows + 1, MOST_TEXT) : NULL;
    int32_t end = 0;
    if (!valid || !values || (has_texts(c) && !texts)) return false;
    for (int64_t i = 0; i < rows; i++) {
        const cell *of = cell_at(c, i);
        const float real = (float)of->real;
        const int64_t whole = (int64_t)of->whole;
        const int32_t days = (int32_t)of->whole;
        if (!of->is_null) valid[i / 8] = (uint8_t)(valid[i / 8] | 1U << (i % 8));
        if (c->type == TMI_SQL_DOUBLE) memcpy(values + i * 8, &of->real, 8);
        else if (c->type == TMI_SQL_FLOAT) memcpy(values + i * 4, &real, 4);
        else if (c->type == TMI_SQL_INTEGER) memcpy(values + i * 8, &whole, 8);
        else if (c->type == TMI_SQL_NUMERIC) memcpy(values + i * 16, &of->whole, 16);
        else if (c->type == TMI_SQL_DATE) memcpy(values + i * 4, &days, 4);
        else if (c->type == TMI_SQL_BOOLEAN && of->whole) values[i / 8] = (uint8_t)(values[i / 8] | 1U << (i % 8));
        if (!has_texts(c)) continue;
        const size_t length = strlen(of->text);
        memcpy(texts + end, of->text, length);
        end += (int32_t)length;
        memcpy(values + (i + 1) * 4, &end, 4);
    }
    return true;
}

static tamis_status fill_source(probe_rows *p, tamis_error *err)
{
    const size_t n = p->column_count;
    p->schemas = tmi_alloc(n + 1, sizeof *p->schemas);
    p->schema_list = tmi_alloc(n + 1, sizeof *p->schema_list);
    p->arrays = tmi_alloc(n + 1, sizeof *p->arrays);
    p->array_list = tmi_alloc(n + 1, sizeof *p->array_list);
    p->buffers = tmi_alloc(3 * n + 1, sizeof *p->buffers);
    if (!p->schemas || !p->schema_list || !p->arrays || !p->array_list || !p->buffers) return tmi_fail_memory(err);
    for (size_t k = 0; k < n; k++) {
        const probe_column *c = &p->columns[k];
        if (!fill_column(p->buffers + 3 * k, c, p->rows)) return tmi_fail_memory(err);
        p->schemas[k] = (struct ArrowSchema){.format = format_of(c),
                                             .name = c->name,
                                             .flags = ARROW_FLAG_NULLABLE,
                                             .release = keep_schema};
        p->arrays[k] = (struct ArrowArray){.length = p->rows,
                                           .null_count = -1,
                                           .n_buffers = has_texts(c) ? 3 : 2,
                                           .buffers = (const void **)(p->buffers + 3 * k),
                                           .release = keep_array};
        p->schema_list[k] = &p->schemas[k];
        p->array_list[k] = &p->arrays[k];
    }
    p->schema = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = (int64_t)n, .children = p->schema_list, .release = keep_schema};
    p->array = (struct ArrowArray){.length = p->rows,
                                   .n_buffers = 1,
                                   .n_children = (int64_t)n,
                                   .buffers = (const void **)&p->buffers[3 * n], /* all structs are valid: NULL */
                                   .children = p->array_list,
                                   .release = keep_array};
    const struct ArrowArray *const batches[] = {&p->array};
    return tamis_source_arrow(&p->source, &p->schema, batches, 1, err);
}

/* ---- rows ---- */

static void clear_rows(probe_rows *p)
{
    tamis_source_free(p->source);
    for (size_t i = 0; p->buffers && i < 3 * p->column_count; i++) tmi_free(p->buffers[i]);
    tmi_free(p->buffers);
    tmi_free(p->schemas);
    tmi_free(p->schema_list);
    tmi_free(p->arrays);
    tmi_free(p->array_list);
    tmi_free(p->table);
    tmi_free(p->columns);
}

/* A column of the source has one column here, whatever reads it. */
static probe_column *column_of(probe_rows *p, const tmi_known *known)
{
    for (size_t k = 0; k < p->column_count; k++)
        if (strcmp(p->columns[k].name, known->name) == 0) return &p->columns[k];
    probe_column *c = &p->columns[p->column_count++];
    *c = (probe_column){.name = known->name, .word = known->word, .type = known->type};
    if (c->type == TMI_SQL_NUMERIC) read_decimal(c);
    add_common(c);
    return c;
}

/* The next prime that no other column has, as long as there are some; the cells begin again. */
static void close_columns(probe_rows *p)
{
    bool used[PRIME_COUNT] = {false};
    for (size_t k = 0; k < p->column_count; k++) {
        probe_column *c = &p->columns[k];
        const int own = c->count;
        size_t at = 0;
        while (at + 1 < PRIME_COUNT && (primes[at] < own || used[at])) at++;
        used[at] = true;
        for (; c->count < primes[at]; c->count++) c->cells[c->count] = c->cells[c->count - own];
        c->step = 1 + (int)(k % 5);
        c->first = (int)(k % 7);
    }
}

/* Cells on both sides of the borders of a made column. */
static void add_borders(probe_rows *p, const tmi_known_columns *known, const tmi_column *made)
{
    for (size_t i = 0; made->kind == TMI_CUTS && i + 1 < made->value_count && i < 8; i++) {
        const tmi_known *of = made->of->kind == TMI_NUMBER ? tmi_known_find(known, made->of->name) : NULL;
        if (of) add_border(column_of(p, of), made->of, made->cuts[i]);
    }
    for (size_t i = 0; made->kind == TMI_INDICATOR && i < made->condition_count; i++) {
        const tmi_condition *condition = &made->conditions[i];
        const tmi_known *of = condition->column->kind == TMI_NUMBER ? tmi_known_find(known, condition->column->name) : NULL;
        if (!of) continue;
        add_border(column_of(p, of), condition->column, condition->least);
        add_border(column_of(p, of), condition->column, condition->most);
    }
}

/* Rows for the columns of a layout that are read. */
static tamis_status make_rows(probe_rows *p, const tmi_dialect *dialect, const tmi_known_columns *known, const tmi_layout *layout,
                              tamis_error *err)
{
    *p = (probe_rows){.dialect = dialect, .rows = ROWS, .columns = tmi_alloc(layout->column_count + 1, sizeof *p->columns)};
    if (!p->columns) return tmi_fail_memory(err);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_known *of = tmi_is_read(layout->columns[c]) ? tmi_known_find(known, layout->columns[c]->name) : NULL;
        if (of) add_particular(column_of(p, of), layout->columns[c]);
    }
    for (size_t c = 0; c < layout->column_count; c++) add_borders(p, known, layout->columns[c]);
    close_columns(p);
    tamis_status status = p->column_count > 0 ? write_table(p, err) : TAMIS_OK;
    if (status == TAMIS_OK && p->column_count > 0) status = fill_source(p, err);
    return status;
}

/* ---- comparing ---- */

static tamis_status refuse(const tmi_sql_road *road, const char *what, tamis_error *err)
{
    return tmi_fail(
        err, TAMIS_REFUSED,
        "%s: on rows that tamis made up to try it, the engine's %s differ from those of tamis itself, so that its answers "
        "cannot be trusted; nothing was spent. Its settings matter (docs/engines.md)%s",
        road->dialect->name, what, strcmp(road->dialect->name, "spark") == 0 ? ": Spark needs ANSI mode" : "");
}

/* A failure of the engine on our rows is a refusal; one of ours is not. */
static tamis_status of_engine(tamis_status status, const tmi_sql_road *road, const tamis_error *own, tamis_error *err)
{
    if (status == TAMIS_OK) return TAMIS_OK;
    if (status == TAMIS_UNABLE)
        return tmi_fail(err, TAMIS_REFUSED,
                        "%s: the engine does not answer a statement on rows that tamis made up to try it; nothing was spent. Its "
                        "settings matter (docs/engines.md)",
                        road->dialect->name);
    return tmi_fail_as(err, own);
}

static tamis_status answers_new(tmi_int128 ***answers, const tmi_request *request, tamis_error *err)
{
    *answers = tmi_alloc(request->table_count + 1, sizeof **answers);
    if (!*answers) return tmi_fail_memory(err);
    for (size_t t = 0; t < request->table_count; t++) {
        (*answers)[t] = tmi_alloc(tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count, sizeof ***answers);
        if (!(*answers)[t]) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}

static void answers_free(tmi_int128 **answers, const tmi_request *request)
{
    for (size_t t = 0; answers && t < request->table_count; t++) tmi_free(answers[t]);
    tmi_free(answers);
}

/* The sums of these rows, both ways. */
static tamis_status compare_sums(probe_rows *p, const tmi_sql_road *road, const tmi_known_columns *known,
                                 const tmi_request *request, tamis_error *err)
{
    const tmi_sql_place place = {.road = road, .table = p->table, .known = known, .rows = p->rows};
    tmi_int128 **right = NULL, **got = NULL;
    tmi_engine *engine = NULL;
    tamis_error own = {0};
    tamis_status status;
    TMI_TRY(answers_new(&right, request, err));
    TMI_TRY(answers_new(&got, request, err));
    TMI_TRY(tmi_engine_of_source(&engine, p->source, 1, err));
    TMI_TRY(engine->aggregate(engine, right, request, NULL, err));
    tmi_answers_clear(got, request);
    TMI_TRY(of_engine(tmi_place_sums(got, &place, request, NULL, &own), road, &own, err));
    for (size_t t = 0; t < request->table_count; t++) {
        const size_t count = tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count;
        if (memcmp(right[t], got[t], count * sizeof **got) != 0) TMI_TRY(refuse(road, "sums", err));
    }
done:
    if (engine) engine->free(engine);
    answers_free(right, request);
    answers_free(got, request);
    return status;
}

/* ---- the question of a release ---- */

/* So that some units have more rows than may count. */
#define FEW_ROWS_PER_UNIT 3

static int64_t fewer(int64_t rows_per_unit) { return rows_per_unit < FEW_ROWS_PER_UNIT ? rows_per_unit : FEW_ROWS_PER_UNIT; }

tamis_status tmi_probe_sums(const tmi_sql_road *road, const tmi_known_columns *known, const tmi_request *request,
                            tamis_error *err)
{
    tmi_request tried = *request;
    tmi_layout layout = {0};
    probe_rows p = {0};
    tamis_status status;
    if (tried.unit) tried.rows_per_unit = fewer(tried.rows_per_unit);
    TMI_TRY(tmi_layout_init(&layout, &tried, err));
    TMI_TRY(make_rows(&p, road->dialect, known, &layout, err));
    if (p.column_count > 0) TMI_TRY(compare_sums(&p, road, known, &tried, err));
done:
    clear_rows(&p);
    tmi_layout_clear(&layout);
    return status;
}

tamis_status tmi_probe_points(const tmi_sql_road *road, const tmi_known_columns *known, const tmi_points_request *request,
                              tamis_error *err)
{
    tmi_points_request tried = *request;
    tmi_points_plan plan;
    tmi_layout layout = {0};
    probe_rows p = {0};
    tmi_point_list right = {0}, got = {0};
    tmi_engine *engine = NULL;
    tamis_error own = {0};
    tamis_status status;
    tried.any_order = false;
    if (tried.unit) tried.rows_per_unit = fewer(tried.rows_per_unit);
    TMI_TRY(tmi_points_plan_make(&plan, &tried, err));
    TMI_TRY(tmi_layout_init(&layout, &plan.request, err));
    TMI_TRY(make_rows(&p, road->dialect, known, &layout, err));
    const tmi_sql_place place = {.road = road, .table = p.table, .known = known, .rows = p.rows};
    TMI_TRY(tmi_engine_of_source(&engine, p.source, 1, err));
    TMI_TRY(tmi_engine_points(&right, engine, &tried, NULL, err));
    TMI_TRY(of_engine(tmi_place_points(&got, &place, &tried, NULL, &own), road, &own, err));
    bool same = right.count == got.count;
    for (size_t i = 0; same && i < right.count; i++)
        same = right.points[i] == got.points[i] && (!right.cells || right.cells[i] == got.cells[i]) &&
               (!right.weights || right.weights[i] == got.weights[i]) &&
               (right.counts ? right.counts[i] : 1) == (got.counts ? got.counts[i] : 1);
    if (!same) TMI_TRY(refuse(road, "points", err));
done:
    if (engine) engine->free(engine);
    tmi_point_list_clear(&right);
    tmi_point_list_clear(&got);
    clear_rows(&p);
    tmi_layout_clear(&layout);
    return status;
}

tamis_status tmi_probe_inventory(const tmi_sql_road *road, const tmi_known_columns *known, const tmi_inventory *inventory,
                                 tamis_error *err)
{
    const size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    tmi_layout layout = {0};
    probe_rows p = {0};
    tmi_inventory right = *inventory, got = *inventory;
    tmi_engine *engine = NULL;
    tamis_error own = {0};
    tamis_status status;
    int64_t *counts = tmi_alloc(6 * strata, sizeof *counts);
    if (!counts) return tmi_fail_memory(err);
    right.rows_in = inventory->rows_in ? counts : NULL;
    right.units_in = inventory->units_in ? counts + strata : NULL;
    right.clusters_in = inventory->clusters_in ? counts + 2 * strata : NULL;
    got.rows_in = inventory->rows_in ? counts + 3 * strata : NULL;
    got.units_in = inventory->units_in ? counts + 4 * strata : NULL;
    got.clusters_in = inventory->clusters_in ? counts + 5 * strata : NULL;
    TMI_TRY(tmi_layout_of_inventory(&layout, inventory, err));
    TMI_TRY(make_rows(&p, road->dialect, known, &layout, err));
    if (p.column_count == 0) goto done;
    const tmi_sql_place place = {.road = road, .table = p.table, .known = known, .rows = p.rows};
    TMI_TRY(tmi_engine_of_source(&engine, p.source, 1, err));
    TMI_TRY(engine->describe(engine, &right, NULL, err));
    TMI_TRY(of_engine(tmi_place_inventory(&got, NULL, &place, &own), road, &own, err));
    if (right.rows != got.rows || right.units != got.units ||
        memcmp(counts, counts + 3 * strata, 3 * strata * sizeof *counts) != 0)
        TMI_TRY(refuse(road, "numbers of rows, units and clusters", err));
done:
    if (engine) engine->free(engine);
    tmi_free(counts);
    clear_rows(&p);
    tmi_layout_clear(&layout);
    return status;
}

/* ---- questions of our own ---- */

#define EDGE ((INT64_C(1) << 52) - 1)

static const char *const letters[] = {"a", "A", "b"}, *const none[] = {"NA", "${x}"};
static const tmi_column g = {.name = "g",
                             .kind = TMI_CATEGORY,
                             .values = letters,
                             .value_count = 3,
                             .missing_texts = none,
                             .missing_text_count = 2,
                             .has_instead = true,
                             .instead = 1},
                        plain_g = {.name = "g", .kind = TMI_CATEGORY, .values = letters, .value_count = 3},
                        x = {.name = "x", .kind = TMI_NUMBER, .grid = {-8, 8, 0.1, -80, 80}},
                        b = {.name = "b", .kind = TMI_NUMBER, .grid = {-(double)EDGE, (double)EDGE, 1, -EDGE, EDGE}},
                        m = {.name = "d", .kind = TMI_NUMBER, .grid = {-1000, 1000, 0x1p-10, -1024000, 1024000}},
                        d = {.name = "d", .kind = TMI_LABEL}, u = {.name = "u", .kind = TMI_LABEL},
                        c_label = {.name = "c", .kind = TMI_LABEL}, g_label = {.name = "g", .kind = TMI_LABEL};
static const unsigned char fixed_key[TMI_KEY_BYTES] = "rows that are made up, and a key";
static const int32_t places[] = {3, 0, 2, 1, 0, 3, 2}, some_codes[] = {0, 2};
static const int32_t *const places_of[] = {places, places + 1, places + 2};
static const int64_t place_counts[] = {7, 6, 3}, edges[] = {-40, 0, 5}, looked[] = {EDGE, -7, 0};
static const tmi_column by_decimal = {.name = "by decimal", .kind = TMI_SCATTER, .of = &d, .key = fixed_key, .value_count = 16},
                        by_text = {.name = "by text",
                                   .kind = TMI_SCATTER,
                                   .of = &c_label,
                                   .stratum = &g_label,
                                   .key = fixed_key,
                                   .value_count = 8},
                        in_groups = {.name = "groups",
                                     .kind = TMI_GROUPS,
                                     .of = &c_label,
                                     .stratum = &plain_g,
                                     .cell_of = places_of,
                                     .cluster_counts = place_counts,
                                     .value_count = 4},
                        cut = {.name = "cut", .kind = TMI_CUTS, .of = &x, .cuts = edges, .value_count = 4},
                        number = {.name = "number", .kind = TMI_LOOKUP, .of = &plain_g, .numbers = looked};
static const tmi_condition both[] = {{.column = &x, .least = -50, .most = 70},
                                     {.column = &plain_g, .codes = some_codes, .code_count = 2}};
static const tmi_column holds = {.name = "holds", .kind = TMI_INDICATOR, .conditions = both, .condition_count = 2};
static const tmi_column *const by_g[] = {&g}, *const by_decimals[] = {&by_decimal}, *const by_texts[] = {&by_text},
                               *const by_groups[] = {&in_groups}, *const by_cut[] = {&cut, &plain_g};
static const tmi_measure measures[] = {
    {.high = 1},
    {.factors = {{&x, 0}}, .factor_count = 1, .low = -80, .high = 80},
    {.factors = {{&b, 1}}, .factor_count = 1, .low = -EDGE, .high = EDGE},
    {.factors = {{&x, 3}, {&m, 0}}, .factor_count = 2, .where = &holds, .shift = 7, .low = -500000, .high = 500000},
    {.factors = {{&number, 0}, {&b, 0}}, .factor_count = 2, .shift = 60, .low = -EDGE, .high = EDGE},
    {.present = {&x, &m}, .where = &holds, .high = 1},
};
#define MEASURES measures, sizeof measures / sizeof *measures
static const tmi_table tables[] = {{by_g, 1, MEASURES},         {by_decimals, 1, measures, 3}, {by_texts, 1, measures, 2},
                                   {by_groups, 1, measures, 2}, {by_cut, 2, measures, 3},      {NULL, 0, MEASURES}};
static const tmi_request by_unit = {.tables = tables,
                                    .table_count = sizeof tables / sizeof *tables,
                                    .unit = &u,
                                    .rows_per_unit = 3,
                                    .key = fixed_key},
                         by_row = {.tables = tables, .table_count = sizeof tables / sizeof *tables};

/* Sums of this many odd numbers below 2^52 pass 2^53, where doubles have gaps, and 2^63, where integers of 64 bits end. */
#define WIDE_ROWS 4200
static const tmi_column w = {.name = "w", .kind = TMI_NUMBER, .grid = {0, (double)EDGE, 1, 0, EDGE}};
static const tmi_measure wide_measures[] = {{.factors = {{&w, 0}}, .factor_count = 1, .low = 0, .high = EDGE}};
static const tmi_table wide_tables[] = {{NULL, 0, wide_measures, 1}};
static const tmi_request wide = {.tables = wide_tables, .table_count = 1};

static tamis_status compare_wide(const tmi_sql_road *road, const tmi_known_columns *known, tamis_error *err)
{
    probe_rows p = {.dialect = road->dialect, .rows = WIDE_ROWS, .columns = tmi_alloc(1, sizeof *p.columns)};
    tamis_status status;
    if (!p.columns) return tmi_fail_memory(err);
    p.columns[0] = (probe_column){.name = "w", .type = TMI_SQL_DOUBLE, .count = 3, .step = 1};
    p.column_count = 1;
    for (int i = 0; i < 3; i++) p.columns[0].cells[i].real = (double)(EDGE - 2 * i);
    TMI_TRY(write_table(&p, err));
    TMI_TRY(fill_source(&p, err));
    TMI_TRY(compare_sums(&p, road, known, &wide, err));
done:
    clear_rows(&p);
    return status;
}

tamis_status tmi_probe_engine(const tmi_sql_road *road, tamis_error *err)
{
    static const struct {
        const char *name, *word;
        tmi_sql_type type;
    } columns[] = {{"g", "", TMI_SQL_TEXT},          {"x", "", TMI_SQL_DOUBLE},
                   {"b", "bigint", TMI_SQL_INTEGER}, {"d", "decimal(38,10)", TMI_SQL_NUMERIC},
                   {"u", "", TMI_SQL_TEXT},          {"c", "", TMI_SQL_TEXT},
                   {"w", "", TMI_SQL_DOUBLE}};
    tmi_known_columns known = {0};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        TMI_TRY(tmi_known_add(&known, columns[i].name, columns[i].word, columns[i].type, err));
    TMI_TRY(tmi_probe_sums(road, &known, &by_unit, err));
    TMI_TRY(tmi_probe_sums(road, &known, &by_row, err));
    TMI_TRY(compare_wide(road, &known, err));
done:
    tmi_known_clear(&known);
    return status;
}

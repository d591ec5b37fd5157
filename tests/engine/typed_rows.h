/* The rows of a test as columns of a given type: Parquet files, DuckDB and PostgreSQL tables, arrays, Arrow batches and files of
 * SPSS, Stata and SAS. x is always a double; id, g, h, s and the cluster are of the type. */
#ifndef TESTS_ENGINE_TYPED_ROWS_H
#define TESTS_ENGINE_TYPED_ROWS_H

#include "engine/files/source.h"
#include "tests/engine/duckdb_sql.h"
#include "tests/engine/server_rows.h"
#include "tests/engine/statistics_files.h"

static const size_t typed[] = {ID, G, H, S, C};

static inline bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* The text in another spelling of the same value, where the type has several, as a literal of SQL; what is missing as NULL or
 * NaN. */
static inline void spell(char *to, const char *text, const char *type, size_t i)
{
    const bool is_real = starts_with(type, "DOUBLE") || starts_with(type, "FLOAT") || starts_with(type, "float");
    const bool is_decimal = strcmp(type, "numeric") == 0, is_text = strstr(type, "text") || starts_with(type, "VARCHAR");
    static const char *const nothing[] = {"NULL", "'nan'", "'inf'", "'-inf'"};
    if (text[0] == '\0') strcpy(to, is_real ? nothing[i % 4] : is_decimal ? nothing[i % 2] : is_text && i % 2 ? "'  '" : "NULL");
    else if (is_real && strcmp(text, "0") == 0 && i % 2) strcpy(to, "'-0'");
    else if (is_decimal && i % 3 > 0) sprintf(to, "'%s%s%.*s'", text, strchr(text, '.') ? "" : ".", (int)(i % 3), "00");
    else if (is_text && i % 2) sprintf(to, "' %s\t'", text);
    else if (starts_with(type, "DATE") && strstr(text, " BC")) sprintf(to, "'%.*s (BC)'", (int)(strlen(text) - 3), text);
    else sprintf(to, "'%s'", text);
}

/* SELECT ... FROM (VALUES ...): rows `part`, part + parts, ... */
static inline void select_typed(char *sql, size_t size, const char *type, const row *list, size_t n, size_t part, size_t parts)
{
    size_t at = (size_t)snprintf(sql, size, "SELECT x::DOUBLE AS x");
    for (size_t k = 0; k < COUNT(typed); k++)
        at += (size_t)snprintf(sql + at, size - at, ", v%zu::%s AS \"%s\"", k, type,
                               typed[k] == C ? "c \"\"1\"\"" : column_names[typed[k]]);
    at += (size_t)snprintf(sql + at, size - at, " FROM (VALUES ");
    for (size_t i = part; i < n; i += parts) {
        at += (size_t)snprintf(sql + at, size - at, "%s(%.17g", i > part ? ", " : "", list[i].number[X]);
        for (size_t k = 0; k < COUNT(typed); k++) {
            char cell[CELL + 16];
            spell(cell, list[i].text[typed[k]], type, i + k);
            at += (size_t)snprintf(sql + at, size - at, ", %s", cell);
        }
        at += (size_t)snprintf(sql + at, size - at, ")");
    }
    at += (size_t)snprintf(sql + at, size - at, ") t(x, v0, v1, v2, v3, v4)");
    assert_true(at < size);
}

#define MOST_PARTS 4
static char typed_sql[1 << 17], typed_select[1 << 17];

static inline tmi_engine *open_typed_files(const char *const *types, bool in_duckdb, const row *list, size_t n)
{
    char paths[MOST_PARTS][600];
    const char *files[MOST_PARTS];
    size_t parts = 0;
    while (parts < MOST_PARTS && types[parts]) parts++;
    for (size_t p = 0; p < parts; p++) {
        snprintf(paths[p], sizeof paths[p], "%s/typed%zu.%s", folder, p, in_duckdb ? "duckdb" : "parquet");
        files[p] = paths[p];
        remove(paths[p]);
        select_typed(typed_select, sizeof typed_select, types[p], list, n, p, parts);
        snprintf(typed_sql, sizeof typed_sql,
                 in_duckdb ? "ATTACH '%s' AS a; CREATE TABLE a.t AS %s; DETACH a" : "COPY (%2$s) TO '%1$s'", paths[p],
                 typed_select);
        run_sql(typed_sql);
    }
    return open_engine(files, parts, 2);
}

static inline tmi_engine *open_typed_tables(const char *const *types, const row *list, size_t n)
{
    char texts[MOST_PARTS][512];
    const char *connections[MOST_PARTS];
    size_t parts = 0;
    while (parts < MOST_PARTS && types[parts]) parts++;
    PGconn *connection = server_connect();
    for (size_t p = 0; p < parts; p++) {
        snprintf(texts[p], sizeof texts[p], "%s options=-csearch_path=typed%zu", server_text(), p);
        connections[p] = texts[p];
        int at = snprintf(typed_sql, sizeof typed_sql,
                          "SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS typed%zu; DROP TABLE "
                          "IF EXISTS typed%zu.t; CREATE TABLE typed%zu.t (x float8",
                          p, p, p);
        for (size_t k = 0; k < COUNT(typed); k++)
            at += snprintf(typed_sql + at, sizeof typed_sql - (size_t)at, ", \"%s\" %s",
                           typed[k] == C ? "c \"\"1\"\"" : column_names[typed[k]], types[p]);
        at += snprintf(typed_sql + at, sizeof typed_sql - (size_t)at, "); ");
        for (size_t i = 0; i < n; i++) {
            if (!in_part(&list[i], p, parts)) continue;
            at += snprintf(typed_sql + at, sizeof typed_sql - (size_t)at, "INSERT INTO typed%zu.t VALUES (%.17g", p,
                           list[i].number[X]);
            for (size_t k = 0; k < COUNT(typed); k++) {
                char cell[CELL + 16];
                spell(cell, list[i].text[typed[k]], types[p], i + k);
                at += snprintf(typed_sql + at, sizeof typed_sql - (size_t)at, ", %s", cell);
            }
            at += snprintf(typed_sql + at, sizeof typed_sql - (size_t)at, "); ");
        }
        server_do(connection, typed_sql);
    }
    PQfinish(connection);
    return open_server(connections, parts, "t", true, 1);
}

/* ---- memory ---- */

/* "g": doubles, "f": floats, "l": 64-bit integers, as Arrow calls them; two batches, the second one empty. */
static inline tmi_engine *open_typed_arrays(const char *type, bool as_arrow, const row *list, size_t n)
{
    static double numbers[COLUMNS][256];
    static float floats[COLUMNS][256];
    static int64_t integers[COLUMNS][256];
    static uint8_t valid[COLUMNS][32];
    static const void *buffers[COLUMNS][2];
    static struct ArrowSchema schema, fields[COLUMNS], *field_list[COLUMNS];
    static struct ArrowArray batches[2], columns[2][COLUMNS], *column_list[2][COLUMNS];
    static const struct ArrowArray *const batch_list[] = {&batches[0], &batches[1]};
    static tamis_source *source;
    tmi_engine *engine;
    tamis_error err = {0};
    tamis_source_free(source);
    source = NULL;
    assert_true(n <= 256);
    memset(valid, 0, sizeof valid);
    if (!as_arrow) assert_int_equal(tamis_source_new(&source, (int64_t)n, NULL), TAMIS_OK);
    size_t count = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        const char *format = c == X ? "g" : *type == 'l' ? "l" : type;
        if (c == Y || c == P) continue;
        for (size_t i = 0; i < n; i++) {
            const char *text = list[i].text[c];
            const bool there = c == X || text[0];
            numbers[c][i] = c == X                                ? list[i].number[X]
                            : !there                              ? (i % 2 ? NAN : INFINITY)
                            : text[0] == '0' && !text[1] && i % 2 ? -0.0
                                                                  : strtod(text, NULL);
            floats[c][i] = (float)numbers[c][i];
            integers[c][i] = there && c != X ? strtoll(text, NULL, 10) : 0;
            if (there) valid[c][i / 8] = (uint8_t)(valid[c][i / 8] | 1 << i % 8);
        }
        const void *values = *format == 'g' ? (void *)numbers[c] : *format == 'f' ? (void *)floats[c] : (void *)integers[c];
        buffers[c][0] = *format == 'l' ? valid[c] : NULL;
        buffers[c][1] = values;
        fields[count] = (struct ArrowSchema){.format = format, .name = column_names[c]};
        field_list[count] = &fields[count];
        for (size_t b = 0; b < 2; b++) {
            columns[b][count] = (struct ArrowArray){.length = b == 0 ? (int64_t)n : 0,
                                                    .null_count = -1,
                                                    .n_buffers = 2,
                                                    .buffers = buffers[c]};
            column_list[b][count] = &columns[b][count];
        }
        count++;
        if (!as_arrow) assert_int_equal(tamis_source_numbers(source, column_names[c], numbers[c], &err), TAMIS_OK);
    }
    schema = (struct ArrowSchema){.format = "+s", .n_children = (int64_t)count, .children = field_list};
    for (size_t b = 0; b < 2; b++)
        batches[b] = (struct ArrowArray){.length = b == 0 ? (int64_t)n : 0,
                                         .n_children = (int64_t)count,
                                         .children = column_list[b]};
    if (as_arrow && tamis_source_arrow(&source, &schema, batch_list, 2, &err) != TAMIS_OK) fail_msg("%s", err.message);
    if (n == 0) { /* the end: everything is given back */
        tamis_source_free(source);
        source = NULL;
        return NULL;
    }
    assert_int_equal(tmi_engine_of_source(&engine, source, 2, NULL), TAMIS_OK);
    return engine;
}

/* ---- SPSS, Stata, SAS ---- */

static inline const char *write_typed_statistics(const char *name, readstat_type_t type, const row *list, size_t n, size_t part,
                                                 size_t parts)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    readstat_writer_t *writer = new_writer(name);
    readstat_variable_t *variables[COLUMNS];
    assert_non_null(file);
    variables[X] = readstat_add_variable(writer, "x", READSTAT_TYPE_DOUBLE, 0);
    for (size_t k = 0; k < COUNT(typed); k++)
        variables[typed[k]] = readstat_add_variable(writer, typed[k] == C ? "c__1_" : column_names[typed[k]], type, 0);
    size_t rows = 0;
    for (size_t i = part; i < n; i += parts) rows++;
    begin_writing(writer, name, file, rows);
    for (size_t i = part; i < n; i += parts) {
        expect_written(readstat_begin_row(writer));
        expect_written(readstat_insert_double_value(writer, variables[X], list[i].number[X]));
        for (size_t k = 0; k < COUNT(typed); k++) {
            const char *text = list[i].text[typed[k]];
            readstat_variable_t *variable = variables[typed[k]];
            const double v = strcmp(text, "0") == 0 && i % 2 && !has_ending(name, ".xpt") ? -0.0 : strtod(text, NULL);
            expect_written(text[0] == '\0'               ? readstat_insert_missing_value(writer, variable)
                           : type == READSTAT_TYPE_INT8  ? readstat_insert_int8_value(writer, variable, (int8_t)v)
                           : type == READSTAT_TYPE_INT32 ? readstat_insert_int32_value(writer, variable, (int32_t)v)
                           : type == READSTAT_TYPE_FLOAT ? readstat_insert_float_value(writer, variable, (float)v)
                                                         : readstat_insert_double_value(writer, variable, v));
        }
        expect_written(readstat_end_row(writer));
    }
    expect_written(readstat_end_writing(writer));
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
    rename_bytes(path, "c__1_", column_names[C]);
    return path;
}

#endif

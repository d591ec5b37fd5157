/* The rows of reference.h as tables of a server. */
#ifndef TESTS_ENGINE_SERVER_ROWS_H
#define TESTS_ENGINE_SERVER_ROWS_H

#include "tests/engine/reference.h"
#include "tests/engine/server.h"

/* What goes to the server, in large pieces. */
typedef struct letter {
    PGconn *connection;
    char text[1 << 16];
    size_t length;
} letter;

static inline void send_letter(letter *l)
{
    assert_int_equal(PQputCopyData(l->connection, l->text, (int)l->length), 1);
    l->length = 0;
}

/* A cell of CSV: quoted, so that an empty one is a text and not NULL, unless it should be (NULL). */
static inline void put_cell(letter *l, const char *text, bool last)
{
    if (sizeof l->text - l->length < 128) send_letter(l);
    if (text) l->text[l->length++] = '"';
    for (const char *c = text; c && *c; c++) {
        if (*c == '"') l->text[l->length++] = '"';
        l->text[l->length++] = *c;
    }
    if (text) l->text[l->length++] = '"';
    l->text[l->length++] = last ? '\n' : ',';
}

static inline bool in_part(const row *row, size_t part, size_t parts)
{
    char unit[CELL];
    size_t sum = 0;
    trimmed(unit, row->text[ID]);
    for (const char *c = unit; *c; c++) sum += (unsigned char)*c;
    return sum % parts == part;
}

/* Table `table` in the schema: x and p double precision, y numeric; with `others` the other way round, and g and s of other types
 * of texts. */
static inline void write_table(const char *schema, const char *table, bool others, const row *list, size_t n, size_t part,
                               size_t parts)
{
    static const char *const odd[] = {"NaN", "Infinity", "-Infinity", NULL};
    PGconn *connection = server_connect();
    char sql[1024];
    snprintf(sql, sizeof sql,
             "SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS %s; DROP TABLE IF EXISTS %s.%s; CREATE TABLE %s.%s "
             "(id text, x %s, y %s, p %s, g %s, h text, s %s, \"c \"\"1\"\"\" text)",
             schema, schema, table, schema, table, others ? "numeric" : "float8", others ? "float8" : "numeric",
             others ? "numeric" : "float8", others ? "varchar(12)" : "text", others ? "varchar" : "text");
    server_do(connection, sql);
    snprintf(sql, sizeof sql, "COPY %s.%s FROM STDIN (FORMAT csv)", schema, table);
    server_do(connection, sql);
    static letter l;
    l.connection = connection;
    for (size_t i = 0; i < n; i++) {
        if (!in_part(&list[i], part, parts)) continue;
        for (size_t c = 0; c < COLUMNS; c++) {
            const bool number = is_number_column(c), is_numeric = (c == Y) != others;
            const char *text = list[i].text[c], *missing = is_numeric ? (i % 2 ? "NaN" : NULL) : odd[i % 4];
            char exact[48];
            if (number && !isnan(list[i].number[c])) {
                snprintf(exact, sizeof exact, "%.17g", list[i].number[c]);
                put_cell(&l, exact, c + 1 == COLUMNS);
            } else {
                const bool is_null = text[0] == '\0' && i % 2;
                put_cell(&l, number ? missing : is_null ? NULL : text, c + 1 == COLUMNS);
            }
        }
    }
    send_letter(&l);
    server_end_copy(connection);
    snprintf(sql, sizeof sql, "ANALYZE %s.%s", schema, table);
    server_do(connection, sql);
    PQfinish(connection);
}

#endif

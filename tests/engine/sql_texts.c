/* The statements that PostgreSQL is sent, byte for byte as in postgres.sql: a change of the writer that is not meant to change
 * them shows here, and one that is shows what it changed. Written again by: build/quick/tests/test-engine_sql_texts --write */
#include "tests/test.h"

#include "base/memory.h"
#include "base/sha256.h"
#include "engine/core/cells.h"
#include "engine/sql/sql.h"
#include "tests/engine/conformance_requests.h"

#define GOLDEN TESTS_FOLDER "/engine/postgres.sql"

/* Each type that a column may have, in turn; and those of which the reference's tables are made. */
static tmi_sql_type type_of(const tmi_column *column, bool others, size_t c)
{
    static const tmi_sql_type numbers[] = {TMI_SQL_NUMERIC, TMI_SQL_FLOAT, TMI_SQL_INTEGER, TMI_SQL_DOUBLE},
                              labels[] = {TMI_SQL_NUMERIC, TMI_SQL_DOUBLE, TMI_SQL_DATE,    TMI_SQL_FLOAT,
                                          TMI_SQL_BOOLEAN, TMI_SQL_UUID,   TMI_SQL_INTEGER, TMI_SQL_TEXT};
    if (column->kind == TMI_NUMBER) return others ? numbers[c % COUNT(numbers)] : TMI_SQL_DOUBLE;
    return others && column->kind == TMI_LABEL ? labels[c % COUNT(labels)] : TMI_SQL_TEXT;
}

static void write_request(tmi_text *all, const char *name, const tmi_request *request, bool others, int64_t rows)
{
    tmi_layout layout;
    tmi_sql_passes passes;
    tmi_sql_type types[64];
    assert_int_equal(tmi_layout_init(&layout, request, NULL), TAMIS_OK);
    assert_true(layout.column_count <= COUNT(types));
    for (size_t c = 0; c < layout.column_count; c++) types[c] = type_of(layout.columns[c], others, c);
    assert_int_equal(tmi_sql_passes_init(&passes, &tmi_dialect_postgres, &layout, rows, NULL), TAMIS_OK);
    for (size_t p = 0; p < passes.count; p++) {
        tmi_text_format(all, "-- %s, %s types, %lld rows, pass %zu\n", name, others ? "other" : "plain", (long long)rows, p + 1);
        const tmi_sql_source source = {.dialect = &tmi_dialect_postgres,
                                       .table = "\"t\"",
                                       .layout = &layout,
                                       .types = types,
                                       .units_fit = rows > 0,
                                       .rows = rows};
        assert_int_equal(tmi_sql_pass_write(all, &passes.list[p], &source, NULL), TAMIS_OK);
        tmi_text_put(all, ";\n");
        if (p > 0 || !request->unit) continue;
        tmi_text_put(all, "-- its units\n");
        tmi_sql_units(all, &source, request->unit);
        tmi_text_put(all, ";\n");
    }
    tmi_sql_passes_clear(&passes);
    tmi_layout_clear(&layout);
}

/* Listed texts as numbers, and the canonical texts of categories of each type. */
static void write_inventory(tmi_text *all)
{
    static const char *const listed[] = {"1", "2.50", "-0", "1e3", "0.1"};
    static const tmi_sql_type kinds[] = {TMI_SQL_NUMERIC, TMI_SQL_DOUBLE, TMI_SQL_FLOAT, TMI_SQL_INTEGER, TMI_SQL_TEXT};
    static const tmi_column category = {.name = "a \"name\"",
                                        .kind = TMI_CATEGORY,
                                        .values = listed,
                                        .value_count = COUNT(listed)};
    const tmi_column *const columns[] = {&category};
    const tmi_inventory asked = {.columns = columns, .column_count = 1, .unit = &unit, .cluster = &label, .stratum = &s};
    tmi_layout layout;
    assert_int_equal(tmi_layout_of_inventory(&layout, &asked, NULL), TAMIS_OK);
    for (size_t k = 0; k < COUNT(kinds); k++) {
        tmi_sql_type types[8];
        size_t step;
        for (size_t c = 0; c < layout.column_count; c++)
            types[c] = layout.columns[c] == &category ? kinds[k] : type_of(layout.columns[c], k % 2, c);
        tmi_text_format(all, "-- inventory %zu\n", k + 1);
        const tmi_sql_source source = {.dialect = &tmi_dialect_postgres, .table = "\"t\"", .layout = &layout, .types = types};
        assert_int_equal(tmi_sql_codes(&step, all, &source, NULL), TAMIS_OK);
        tmi_text_format(all, " SELECT count(*) FROM s%zu;\n", step);
    }
    tmi_layout_clear(&layout);
}

static void write_all(tmi_text *all)
{
    tmi_text_init(all);
    for (size_t q = 0; q < COUNT(requests); q++)
        for (int others = 0; others < 2; others++)
            write_request(all, requests[q].name, &requests[q].request, others, others ? 200 : 0);
    write_inventory(all);
    assert_false(all->failed);
}

/* The statements have one line each, so a line is what differs. */
static void the_same_statements(void **state)
{
    (void)state;
    tmi_text all;
    FILE *file = fopen(GOLDEN, "rb");
    size_t at = 0;
    char line[160] = "";
    if (!file) fail_msg(GOLDEN " cannot be opened");
    write_all(&all);
    for (const char *c = all.bytes; *c; c++) {
        if (c == all.bytes || c[-1] == '\n') {
            if (c[0] == '-') snprintf(line, sizeof line, "%.*s", (int)strcspn(c, "\n"), c);
            at = 0;
        }
        if (getc(file) != (unsigned char)*c) fail_msg("%s: byte %zu is another one: %.40s", line, at, c);
        at++;
    }
    assert_int_equal(getc(file), EOF);
    fclose(file);
    tmi_text_clear(&all);
}

int main(int count, char **words)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(the_same_statements)};
    if (count > 1 && strcmp(words[1], "--write") == 0) {
        tmi_text text;
        FILE *file = fopen(GOLDEN, "wb");
        write_all(&text);
        return !file || fputs(text.bytes, file) < 0 || fclose(file) != 0;
    }
    return cmocka_run_group_tests(all, NULL, NULL);
}

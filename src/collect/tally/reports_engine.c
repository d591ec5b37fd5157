/* Reports that an engine counts: DuckDB, PostgreSQL, files of SPSS, Stata and SAS, arrays, Arrow, or an engine of the caller's
 * own. For each bit the rows with a 0 and with a 1 are asked for, and all rows: if the two do not make up all, some row has
 * something else. With a table also the rows of each whole report. No record leaves the engine. */
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "collect/packed.h"
#include "collect/tally/tally.h"
#include "engine/core/engine.h"
#include "engine/files/source.h"

static const char *const bit_values[] = {"0", "1"};

typedef struct asking {
    char **names;
    size_t bits;
    tmi_column *columns;
    const tmi_column **list;
    tmi_table *tables; /* one for each bit, all rows, and perhaps whole reports */
    size_t table_count;
    tmi_int128 **answers;
    tmi_measure rows;
    tmi_engine *engine;
} asking;

static tamis_status read_names(asking *a, const char *text, tamis_error *err)
{
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    a->names = tmi_alloc(most, sizeof *a->names);
    if (!a->names) return tmi_fail_memory(err);
    while (text) {
        const size_t length = strcspn(text, ",");
        if (!(a->names[a->bits] = tmi_copy_text(text, length))) return tmi_fail_memory(err);
        a->bits++;
        text = text[length] ? text + length + 1 : NULL;
    }
    return TAMIS_OK;
}

static tamis_status make_request(asking *a, bool whole, tamis_error *err)
{
    a->rows = tmi_rows_with(NULL);
    a->table_count = a->bits + 1 + whole;
    a->columns = tmi_alloc(a->bits, sizeof *a->columns);
    a->list = tmi_alloc(a->bits, sizeof *a->list);
    a->tables = tmi_alloc(a->table_count, sizeof *a->tables);
    a->answers = tmi_alloc(a->table_count, sizeof *a->answers);
    if (!a->columns || !a->list || !a->tables || !a->answers) return tmi_fail_memory(err);
    for (size_t j = 0; j < a->bits; j++) {
        a->columns[j] = (tmi_column){.name = a->names[j], .kind = TMI_CATEGORY, .values = bit_values, .value_count = 2};
        a->list[a->bits - 1 - j] = &a->columns[j]; /* the last one runs fastest: bit 0 */
        a->tables[j] = (tmi_table){&a->list[a->bits - 1 - j], 1, &a->rows, 1};
    }
    a->tables[a->bits] = (tmi_table){NULL, 0, &a->rows, 1};
    if (whole) a->tables[a->bits + 1] = (tmi_table){a->list, a->bits, &a->rows, 1};
    for (size_t i = 0; i < a->table_count; i++)
        if (!(a->answers[i] = tmi_alloc(tmi_table_cells(&a->tables[i]), sizeof **a->answers))) return tmi_fail_memory(err);
    return TAMIS_OK;
}

static tamis_status take(tamis_tally *t, const asking *a, tamis_error *err)
{
    const tmi_int128 all = a->answers[a->bits][0];
    if (all < 0 || all > TAMIS_TALLY_REPORTS - t->reports)
        return tmi_fail(err, TAMIS_INVALID, "there are more than 10^9 reports in total");
    for (size_t j = 0; j < a->bits; j++)
        if (a->answers[j][0] < 0 || a->answers[j][1] < 0 || a->answers[j][0] + a->answers[j][1] != all)
            return tmi_fail(err, TAMIS_INVALID, "column %s has values that are neither 0 nor 1",
                            tmi_value_short_name(a->names[j]));
    for (size_t j = 0; j < a->bits; j++) t->ones[j] += (uint64_t)a->answers[j][1];
    for (size_t i = 0; t->cells && i < (size_t)1 << t->bits; i++) t->cells[i] += (uint64_t)a->answers[a->bits + 1][i];
    t->reports += (int64_t)all;
    return TAMIS_OK;
}

static tamis_status check(const tamis_tally *t, const tamis_tally_source *s, tamis_error *err)
{
    if (!t) return tmi_fail(err, TAMIS_INVALID, "tally: NULL");
    if (!s->columns) return tmi_fail(err, TAMIS_INVALID, "columns: name the columns with the bits");
    if (!t->lie) return tmi_fail(err, TAMIS_INVALID, "lie: needed with an engine");
    if (t->id || t->weight || t->keep)
        return tmi_fail(err, TAMIS_INVALID,
                        "engine: returns only counts; ids, weights and shuffling need the reports themselves");
    return TAMIS_OK;
}

tamis_status tamis_tally_add_source(tamis_tally *tally, const tamis_tally_source *given, const tamis_watch *watch,
                                    tamis_error *err)
{
    asking a = {0};
    tamis_tally_source how;
    const tamis_tally_source *source = &how;
    tamis_status status = tmi_options_take(&how, sizeof how, given, "source", err);
    if (status == TAMIS_OK) status = check(tally, source, err);
    if (status != TAMIS_OK) return status;
    const tmi_source place = {.files = source->files,
                              .file_count = source->connection ? 0 : source->file_count,
                              .table = source->table,
                              .connections = &source->connection,
                              .connection_count = source->connection != NULL};
    TMI_TRY(read_names(&a, source->columns, err));
    TMI_TRY(tmi_packed_form_check(&(tmi_packed_form){tally->lie, tally->lie_zero, a.bits, a.names, NULL}, err));
    TMI_TRY(tmi_tally_agree(tally, "source", NULL, NULL, a.names, a.bits, err));
    TMI_TRY(make_request(&a, tally->cells != NULL, err));
    TMI_TRY(source->rows ? tmi_engine_of_source(&a.engine, source->rows, 0, err)
                         : tmi_engine_open(&a.engine, source->engine, &place, 0, err));
    tmi_inventory inventory = {.columns = a.list, .column_count = a.bits};
    const tmi_request request = {.tables = a.tables, .table_count = a.table_count};
    TMI_TRY(a.engine->describe(a.engine, &inventory, watch, err));
    TMI_TRY(a.engine->check ? a.engine->check(a.engine, &request, watch, err) : tmi_request_check(&request, err));
    TMI_TRY(a.engine->aggregate(a.engine, a.answers, &request, watch, err));
    TMI_TRY(take(tally, &a, err));
done:
    if (a.engine) a.engine->free(a.engine);
    for (size_t i = 0; a.answers && i < a.table_count; i++) tmi_free(a.answers[i]);
    for (size_t j = 0; j < a.bits; j++) tmi_free(a.names[j]);
    tmi_free(a.names);
    tmi_free(a.columns);
    tmi_free(a.list);
    tmi_free(a.tables);
    tmi_free(a.answers);
    return status;
}

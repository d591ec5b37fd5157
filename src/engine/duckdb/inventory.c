#include "engine/duckdb/inventory.h"

#include <string.h>

#include "base/memory.h"

#define NO_COLUMN SIZE_MAX

/* The code of a row's stratum, 0 without one. */
static void write_stratum(tmi_text *sql, const tmi_layout *layout, size_t stratum)
{
    if (stratum == NO_COLUMN) tmi_text_put(sql, "CAST(0 AS INTEGER)");
    else tmi_duckdb_write_call(sql, layout, stratum);
}

/* counts[s]: rows of stratum s. */
static tamis_status count_rows(int64_t *counts, size_t count, const tmi_layout *layout, size_t stratum, const tmi_text *source,
                               tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    memset(counts, 0, count * sizeof *counts);
    tmi_text_put(&sql, "SELECT s, count(*) FROM (SELECT ");
    write_stratum(&sql, layout, stratum);
    tmi_text_put(&sql, " AS s FROM (");
    tmi_text_put(&sql, source->bytes);
    tmi_text_put(&sql, ")) GROUP BY s");
    TMI_TRY(tmi_duckdb_run(&result, session, &sql, watch, err));
    while ((chunk = api->fetch_chunk(result))) {
        const int32_t *strata = api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
        const int64_t *found = api->vector_get_data(api->data_chunk_get_vector(chunk, 1));
        for (size_t i = 0; i < api->data_chunk_get_size(chunk); i++)
            if ((size_t)strata[i] < count) counts[strata[i]] += found[i]; /* the last code is "no stratum" */
        api->destroy_data_chunk(&chunk);
    }
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    tmi_text_clear(&sql);
    return status;
}

/* Distinct labels are collected part by part, by their hashes, so that each part fits into the memory even if all labels differ.
 */
#define BYTES_OF_LABEL 128

static size_t parts_of(int64_t rows, const tmi_duckdb_session *session)
{
    return 1 + (size_t)((uint64_t)rows / (session->memory / 2 / BYTES_OF_LABEL + 1));
}

/* Adds to counts[s] the distinct labels in stratum s, if they are in this part. *kept, unless `kept` is NULL: the labels. */
static tamis_status count_part(int64_t *counts, tmi_labels **kept, tmi_duckdb_functions *functions, const tmi_text *sql,
                               tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err)
{
    tmi_duckdb_distinct *distinct = &functions->distinct;
    duckdb_result result = {0};
    tamis_status status;
    int64_t *found = tmi_alloc(distinct->strata, sizeof *found);
    distinct->labels = tmi_labels_new();
    if (!found || !distinct->labels) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_duckdb_run(&result, session, sql, watch, err));
    tmi_labels_count_in(found, distinct->strata, distinct->labels);
    for (size_t s = 0; s < distinct->strata; s++) counts[s] += found[s];
    if (kept) {
        *kept = distinct->labels;
        distinct->labels = NULL;
    }
done:
    session->api->destroy_result(&result);
    tmi_labels_free(distinct->labels);
    distinct->labels = NULL;
    tmi_free(found);
    return status;
}

/* counts[s]: the distinct labels in stratum s. *kept, unless `kept` is NULL: the labels, if they are one part. */
static tamis_status count_labels(int64_t *counts, size_t count, tmi_labels **kept, tmi_duckdb_functions *functions,
                                 size_t stratum, size_t label, const tmi_text *source, int64_t rows, tmi_duckdb_session *session,
                                 const tamis_watch *watch, tamis_error *err)
{
    tmi_duckdb_distinct *distinct = &functions->distinct;
    tamis_status status = TAMIS_OK;
    tmi_text sql;
    tmi_text_init(&sql);
    memset(counts, 0, count * sizeof *counts);
    tmi_text_format(&sql, "SELECT tamis_distinct(c%zu, ", label);
    write_stratum(&sql, &functions->layout, stratum);
    tmi_text_put(&sql, ") FROM (");
    tmi_text_put(&sql, source->bytes);
    tmi_text_put(&sql, ")");
    *distinct = (tmi_duckdb_distinct){.strata = count, .parts = parts_of(rows, session)};
    for (; distinct->part < distinct->parts; distinct->part++)
        TMI_TRY(count_part(counts, distinct->parts == 1 ? kept : NULL, functions, &sql, session, watch, err));
done:
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_duckdb_take_inventory(tmi_inventory *inventory, tmi_labels **units, const tmi_duckdb_source *source,
                                       tmi_duckdb_functions *functions, tmi_duckdb_session *session, const tamis_watch *watch,
                                       tamis_error *err)
{
    const tmi_layout *layout = &functions->layout;
    const tmi_column *const asked[] = {inventory->stratum, inventory->unit, inventory->cluster};
    size_t place[3];
    const tamis_watch inner = {tmi_duckdb_go_on, &(tmi_duckdb_watch){watch, inventory->rows}};
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    for (size_t i = 0; i < 3; i++) place[i] = asked[i] ? tmi_layout_index(layout, asked[i]) : NO_COLUMN;
    const size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    TMI_TRY(tmi_duckdb_write_source(&sql, source, 0, SIZE_MAX, session, functions, err));
    const int64_t rows = inventory->rows;
    if (inventory->unit)
        TMI_TRY(count_labels(&inventory->units, 1, units, functions, NO_COLUMN, place[1], &sql, rows, session, &inner, err));
    if (inventory->rows_in) TMI_TRY(count_rows(inventory->rows_in, strata, layout, place[0], &sql, session, &inner, err));
    if (inventory->units_in && inventory->unit && !inventory->stratum) inventory->units_in[0] = inventory->units;
    else if (inventory->units_in && inventory->unit)
        TMI_TRY(count_labels(inventory->units_in, strata, NULL, functions, place[0], place[1], &sql, rows, session, &inner, err));
    if (inventory->clusters_in && inventory->cluster)
        TMI_TRY(
            count_labels(inventory->clusters_in, strata, NULL, functions, place[0], place[2], &sql, rows, session, &inner, err));
done:
    tmi_text_clear(&sql);
    return status;
}

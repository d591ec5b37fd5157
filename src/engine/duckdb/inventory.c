#include "engine/duckdb/inventory.h"

#include <string.h>

#define NO_COLUMN SIZE_MAX

/* The codes of column `stratum` as s, 0 without one, and the labels of column `label` as l. */
static void write_pairs(tmi_text *sql, const tmi_layout *layout, size_t stratum, size_t label, const tmi_text *source)
{
    tmi_text_put(sql, "SELECT ");
    if (stratum == NO_COLUMN) tmi_text_put(sql, "0");
    else tmi_duckdb_write_call(sql, layout, stratum);
    tmi_text_put(sql, " AS s");
    if (label != NO_COLUMN) { tmi_text_format(sql, ", tamis_trimmed(c%zu) AS l", label); }
    tmi_text_put(sql, " FROM (");
    tmi_text_put(sql, source->bytes);
    tmi_text_put(sql, ")");
}

/* Distinct labels are found part by part, by their hashes, so that each part fits into the memory even if all labels differ:
 * DuckDB keeps them, and may not write to disk. */
#define BYTES_OF_LABEL 128

static size_t parts_of(int64_t rows, const tmi_duckdb_session *session)
{
    return 1 + (size_t)((uint64_t)rows / (session->memory / 2 / BYTES_OF_LABEL + 1));
}

/* The pairs of a part: of all labels that are not missing. */
static void write_distinct(tmi_text *sql, const tmi_layout *layout, size_t stratum, size_t label, const tmi_text *source,
                           size_t part, size_t parts)
{
    tmi_text_put(sql, stratum == NO_COLUMN ? "SELECT 0 AS s FROM (SELECT DISTINCT l FROM (" : "SELECT DISTINCT s, l FROM (");
    write_pairs(sql, layout, stratum, label, source);
    tmi_text_put(sql, ") WHERE l <> ''");
    if (parts > 1) tmi_text_format(sql, " AND hash(l) %% %zu = %zu", parts, part);
    if (stratum == NO_COLUMN) tmi_text_put(sql, ")");
}

/* Adds to counts[s] the rows of stratum s, or the distinct labels in it, if they are in this part. */
static tamis_status count_part(int64_t *counts, size_t count, const tmi_layout *layout, size_t stratum, size_t label,
                               const tmi_text *source, size_t part, size_t parts, tmi_duckdb_session *session,
                               const tamis_watch *watch, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "SELECT s, count(*) FROM (");
    if (label == NO_COLUMN) write_pairs(&sql, layout, stratum, label, source);
    else write_distinct(&sql, layout, stratum, label, source, part, parts);
    tmi_text_put(&sql, ") GROUP BY s");
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

/* counts[s]: rows of stratum s, or the distinct labels in it. */
static tamis_status count_by(int64_t *counts, size_t count, const tmi_layout *layout, size_t stratum, size_t label,
                             const tmi_text *source, int64_t rows, tmi_duckdb_session *session, const tamis_watch *watch,
                             tamis_error *err)
{
    const size_t parts = label == NO_COLUMN ? 1 : parts_of(rows, session);
    tamis_status status = TAMIS_OK;
    memset(counts, 0, count * sizeof *counts);
    for (size_t part = 0; part < parts && status == TAMIS_OK; part++)
        status = count_part(counts, count, layout, stratum, label, source, part, parts, session, watch, err);
    return status;
}

tamis_status tmi_duckdb_take_inventory(tmi_inventory *inventory, const tmi_duckdb_source *source,
                                       const tmi_duckdb_functions *functions, tmi_duckdb_session *session,
                                       const tamis_watch *watch, tamis_error *err)
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
    if (inventory->unit) TMI_TRY(count_by(&inventory->units, 1, layout, NO_COLUMN, place[1], &sql, rows, session, &inner, err));
    if (inventory->rows_in)
        TMI_TRY(count_by(inventory->rows_in, strata, layout, place[0], NO_COLUMN, &sql, rows, session, &inner, err));
    if (inventory->units_in && inventory->unit && !inventory->stratum) inventory->units_in[0] = inventory->units;
    else if (inventory->units_in && inventory->unit)
        TMI_TRY(count_by(inventory->units_in, strata, layout, place[0], place[1], &sql, rows, session, &inner, err));
    if (inventory->clusters_in && inventory->cluster)
        TMI_TRY(count_by(inventory->clusters_in, strata, layout, place[0], place[2], &sql, rows, session, &inner, err));
done:
    tmi_text_clear(&sql);
    return status;
}

#include "engine/duckdb/inventory.h"

#include <string.h>

#define NO_COLUMN SIZE_MAX

void tmi_duckdb_write_label(tmi_text *sql, size_t c)
{
    tmi_text_format(sql, "trim(c%zu, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13))", c);
}

/* The codes of column `stratum` as s, 0 without one, and the labels of column `label` as l. */
static void write_pairs(tmi_text *sql, const tmi_layout *layout, size_t stratum, size_t label, const tmi_text *source)
{
    tmi_text_put(sql, "SELECT ");
    if (stratum == NO_COLUMN) tmi_text_put(sql, "0");
    else tmi_duckdb_write_call(sql, layout, stratum);
    tmi_text_put(sql, " AS s");
    if (label != NO_COLUMN) {
        tmi_text_put(sql, ", ");
        tmi_duckdb_write_label(sql, label);
        tmi_text_put(sql, " AS l");
    }
    tmi_text_put(sql, " FROM (");
    tmi_text_put(sql, source->bytes);
    tmi_text_put(sql, ")");
}

/* counts[s]: rows of stratum s, or the distinct labels in it. */
static tamis_status count_by(int64_t *counts, size_t count, const tmi_layout *layout, size_t stratum, size_t label,
                             const tmi_text *source, tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    memset(counts, 0, count * sizeof *counts);
    tmi_text_put(&sql, label == NO_COLUMN ? "SELECT s, count(*) FROM (" : "SELECT s, count(*) FROM (SELECT DISTINCT s, l FROM (");
    write_pairs(&sql, layout, stratum, label, source);
    tmi_text_put(&sql, label == NO_COLUMN ? ") GROUP BY s" : ") WHERE l <> '') GROUP BY s");
    TMI_TRY(tmi_duckdb_run(&result, session, &sql, watch, err));
    while ((chunk = api->fetch_chunk(result))) {
        const int32_t *strata = api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
        const int64_t *found = api->vector_get_data(api->data_chunk_get_vector(chunk, 1));
        for (size_t i = 0; i < api->data_chunk_get_size(chunk); i++)
            if ((size_t)strata[i] < count) counts[strata[i]] = found[i]; /* the last code is "no stratum" */
        api->destroy_data_chunk(&chunk);
    }
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    tmi_text_clear(&sql);
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
    if (inventory->unit) TMI_TRY(count_by(&inventory->units, 1, layout, NO_COLUMN, place[1], &sql, session, &inner, err));
    if (inventory->rows_in)
        TMI_TRY(count_by(inventory->rows_in, strata, layout, place[0], NO_COLUMN, &sql, session, &inner, err));
    if (inventory->units_in && inventory->unit)
        TMI_TRY(count_by(inventory->units_in, strata, layout, place[0], place[1], &sql, session, &inner, err));
    if (inventory->clusters_in && inventory->cluster)
        TMI_TRY(count_by(inventory->clusters_in, strata, layout, place[0], place[2], &sql, session, &inner, err));
done:
    tmi_text_clear(&sql);
    return status;
}

/* ---- labels of clusters ---- */

static tamis_status see_labels(tmi_clusters *clusters, const tmi_layout *layout, const tmi_column *column, const tmi_text *source,
                               tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    const size_t stratum = column->stratum ? tmi_layout_index(layout, column->stratum) : NO_COLUMN;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "SELECT DISTINCT s, l FROM (");
    write_pairs(&sql, layout, stratum, tmi_layout_index(layout, column->of), source);
    tmi_text_put(&sql, ") WHERE l <> ''");
    TMI_TRY(tmi_duckdb_run(&result, session, &sql, watch, err));
    while ((chunk = api->fetch_chunk(result))) {
        const int32_t *strata = api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
        const duckdb_string_t *labels = api->vector_get_data(api->data_chunk_get_vector(chunk, 1));
        for (size_t i = 0; i < api->data_chunk_get_size(chunk); i++)
            TMI_TRY(tmi_clusters_see(clusters, strata[i], tmi_duckdb_cell(&labels[i]), err));
        api->destroy_data_chunk(&chunk);
    }
    TMI_TRY(tmi_clusters_close(clusters, err));
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_duckdb_see_clusters(tmi_duckdb_functions *functions, const tmi_duckdb_source *source,
                                     tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err)
{
    const tmi_layout *layout = &functions->layout;
    const tamis_watch inner = {tmi_duckdb_go_on, &(tmi_duckdb_watch){watch, 0}};
    tamis_status status = TAMIS_OK;
    for (size_t c = 0; status == TAMIS_OK && c < layout->column_count; c++) {
        if (layout->columns[c]->kind != TMI_GROUPS) continue;
        tmi_text sql;
        tmi_text_init(&sql);
        status = tmi_duckdb_write_source(&sql, source, 0, SIZE_MAX, session, functions, err);
        if (status == TAMIS_OK)
            status = see_labels(functions->columns[c].clusters, layout, layout->columns[c], &sql, session, &inner, err);
        tmi_text_clear(&sql);
    }
    return status;
}

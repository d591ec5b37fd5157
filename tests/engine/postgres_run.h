/* PostgreSQL as an engine that is asked in SQL: runs statements for tamis_source_sql, and answers with texts. */
#ifndef TESTS_ENGINE_POSTGRES_RUN_H
#define TESTS_ENGINE_POSTGRES_RUN_H

#include <tamis/experimental/sql.h>

#include "base/text.h"
#include "base/value/json.h"
#include "tests/engine/server.h"

/* The context is a PGconn. */
static inline tamis_status postgres_run_sql(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    PGresult *result = PQexec(context, sql);
    tmi_text json;
    tmi_json_out out;
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        if (err) snprintf(err->message, sizeof err->message, "%s", PQresultErrorMessage(result));
        PQclear(result);
        return TAMIS_SYSTEM;
    }
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_json_open(&out, '[');
    for (int r = 0; r < PQntuples(result); r++) {
        tmi_json_open(&out, '[');
        for (int c = 0; c < PQnfields(result); c++)
            if (PQgetisnull(result, r, c)) tmi_json_put_null(&out);
            else tmi_json_put_string(&out, PQgetvalue(result, r, c));
        tmi_json_close(&out, ']');
    }
    tmi_json_close(&out, ']');
    tamis_reply_set(reply, json.bytes);
    tmi_text_clear(&json);
    PQclear(result);
    return TAMIS_OK;
}

#endif

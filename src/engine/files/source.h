/* The engine of a source in the caller's memory. */
#ifndef TMI_ENGINE_FILES_SOURCE_H
#define TMI_ENGINE_FILES_SOURCE_H

#include <tamis/engine.h>
#include <tamis/experimental/sql.h>

#include "engine/core/engine.h"

/* The source outlives the engine. */
tamis_status tmi_engine_of_source(tmi_engine **engine, const tamis_source *source, unsigned threads, tamis_error *err);

/* What a caller answers. */
struct tamis_reply {
    char *text; /* NULL: no answer yet */
    bool failed;
};

/* An engine that asks the caller. */
tamis_status tmi_engine_asking(tmi_engine **engine, tamis_answer *answer, void *context, tamis_error *err);

/* An engine that asks in SQL (engine/statements). The texts outlive it. */
typedef struct tmi_sql_road {
    const struct tmi_dialect *dialect;
    const char *table, *rows_version; /* as in tamis_sql */
    tamis_run_sql *run;
    void *context;
} tmi_sql_road;

const struct tmi_dialect *tmi_sql_dialect(const char *name); /* NULL: unknown */
tamis_status tmi_engine_sql(tmi_engine **engine, const tmi_sql_road *road, tamis_error *err);

#endif

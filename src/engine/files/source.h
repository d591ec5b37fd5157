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
    struct tmi_client *client; /* that `run` starts (engine/statements/command.h); NULL: a function of the caller */
} tmi_sql_road;

/* The longest text of a table, and of a version: they are in certificates. */
#define TMI_SQL_LONGEST_TEXT 1000

const struct tmi_dialect *tmi_sql_dialect(const char *name); /* NULL: unknown */
tamis_status tmi_engine_sql(tmi_engine **engine, const tmi_sql_road *road, tamis_error *err);

/* A client of the user's own that runs statements: its words are in the plan. */
typedef struct tmi_command {
    const char *const *words; /* the program, which is looked for as a shell would, and its arguments */
    size_t word_count;
    const char *dialect, *table, *rows_version; /* as in tamis_sql */
    const char *errors_to;                      /* a file that gets what the client writes to its standard error; NULL: none */
    int64_t seconds;                            /* that a statement may take */
} tmi_command;

/* An engine that asks a client. The command is copied, but for its dialect, table and version, which outlive the engine. */
tamis_status tmi_engine_command(tmi_engine **engine, const tmi_command *command, tamis_error *err);

#endif

/* The engine that reads the rows of a plan. */
#include "engine/files/source.h"
#include "release/release.h"

static tmi_source source_of(const tamis_plan *plan)
{
    return (tmi_source){.files = (const char *const *)plan->source.files,
                        .file_count = plan->source.file_count,
                        .table = plan->source.table,
                        .connections = (const char *const *)plan->source.connections,
                        .connection_count = plan->source.connection_count,
                        .sharded_by_unit = plan->source.sharded_by_unit};
}

tamis_status tmi_of_source(tamis_status status, tamis_error *err)
{
    if (status == TAMIS_OK || status == TAMIS_UNABLE) return status;
    return tmi_because(err, status == TAMIS_SYSTEM ? "engine" : "source", status);
}

tamis_engine tamis_release_engine(const tamis_plan *plan)
{
    if (!plan || plan->source.caller || plan->source.command) return TAMIS_ENGINE_FITTING;
    const tmi_source source = source_of(plan);
    return tmi_engine_fitting(&source);
}

/* A plan that runs a program is more than a description: whoever runs it has to agree. */
static tamis_status open_command(tmi_engine **engine, const tamis_plan *plan, bool allowed, tamis_error *err)
{
    const tmi_plan_source *of = &plan->source;
    if (!allowed)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "the plan says `source: {command: [%s, ...]}`, and would run that program with your rights: if you "
                             "trust it, use `tamis release --allow-command`",
                             of->command[0]);
    const tmi_command command = {.words = (const char *const *)of->command,
                                 .word_count = of->command_count,
                                 .dialect = of->dialect,
                                 .table = of->table,
                                 .rows_version = of->rows_version,
                                 .errors_to = of->errors_to,
                                 .seconds = of->timeout};
    return tmi_engine_command(engine, &command, err);
}

tamis_status tmi_engine_for(tmi_engine **engine, const tamis_plan *plan, const tamis_estimate_options *how, bool commands,
                            tamis_error *err)
{
    const tmi_source source = source_of(plan);
    *engine = NULL;
    if (plan->source.command && !how->rows) return tmi_because(err, "source", open_command(engine, plan, commands, err));
    if (plan->source.caller && !how->rows)
        return tmi_because(err, "source",
                           tmi_fail_file(err, TAMIS_INVALID, plan->name, 0,
                                         "the plan says `source: {caller: ...}`: its rows are those of a program, which gives "
                                         "them with the call; the command has none"));
    const tamis_status status = how->rows ? tmi_engine_of_source(engine, how->rows, how->threads, err)
                                          : tmi_engine_open(engine, how->engine, &source, how->threads, err);
    if (status == TAMIS_OK) (*engine)->memory = how->memory;
    return tmi_of_source(status, err);
}

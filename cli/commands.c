/* The table of commands. */
#include <string.h>

#include "cli.h"

extern const cli_command cli_command_init, cli_command_demo, cli_command_check, cli_command_release, cli_command_estimate,
    cli_command_noise, cli_command_draw, cli_command_compute, cli_command_privacy, cli_command_explain, cli_command_ledger,
    cli_command_verify, cli_command_key, cli_command_study, cli_command_randomize, cli_command_tally, cli_command_quantile,
    cli_command_serve;

const cli_command *const cli_commands[] = {
    &cli_command_demo,
    &cli_command_serve,
    &cli_command_init,
    &cli_command_check,
    &cli_command_release,
    &cli_command_estimate,
    &cli_command_verify,
    &cli_command_ledger,
    &cli_command_key,
    &cli_command_quantile,
    &cli_command_noise,
    &cli_command_explain,
    &cli_command_draw,
    &cli_command_randomize,
    &cli_command_tally,
    &cli_command_privacy,
    &cli_command_study,
    &cli_command_compute,
    NULL,
};

const cli_argument cli_common_options[] = {
    {"json", .help = "print one JSON object on stdout instead of a table for people"},
    {"quiet", .help = "no progress bar and no remarks; errors are still printed"},
    {"help", .help = "what the command does, its options, examples"},
    {"version", .help = "the version of tamis and of the libraries it uses"},
    {0},
};

const char *const cli_exit_codes[][2] = {
    {"0", "done"},
    {"1", "system or internal error"},
    {"2", "usage error: bad command line, or the output folder already exists"},
    {"3", "invalid plan or data, or a missing input file"},
    {"4", "refused: the budget or the setting forbids it"},
    {"5", "a result could not be certified"},
    {NULL, NULL},
};

const char *cli_own_name(const cli_command *command)
{
    const char *space = strchr(command->name, ' ');
    return space ? space + 1 : command->name;
}

const cli_command *cli_find(const cli_command *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(cli_own_name(*list), name) == 0) return *list;
    return NULL;
}

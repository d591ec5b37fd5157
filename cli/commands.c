/* The table of commands. */
#include <string.h>

#include "cli.h"

extern const cli_command cli_command_help;

const cli_command *const cli_commands[] = {&cli_command_help, NULL};

const cli_argument cli_common_options[] = {
    {.name = "json", .help = "print one JSON object on stdout instead of a table for people"},
    {.name = "quiet", .help = "no progress bar and no remarks; errors are still told"},
    {.name = "help", .help = "what the command does, its options, examples"},
    {.name = "version", .help = "the version of tamis and of the parts it is linked with"},
    {0},
};

const cli_command *cli_find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0) return cli_commands[i];
    return NULL;
}

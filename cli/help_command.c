/* tamis help: the help as a command, and the pages that are made from the same table. */
#include <string.h>

#include "cli.h"

static int run(const cli_call *call)
{
    const cli_command *command = NULL;
    if (call->operand_count == 1) {
        command = cli_find(call->operands[0]);
        if (!command) return cli_wrong_usage(NULL, "unknown command '%s'", call->operands[0]);
    }
    cli_help(stdout, command);
    return cli_finish_output();
}

const cli_command cli_command_help = {
    .name = "help",
    .purpose = "explain a command",
    .about = "Without an argument, lists the commands. With one, explains it, as 'tamis COMMAND --help' does.",
    .operands = (const cli_argument[]){{.name = "COMMAND", .help = "the command to explain"}, {0}},
    .examples = (const cli_example[]){{"tamis help help", "this text"}, {0}},
    .run = run,
};

/* tamis serve: the page. The server itself is in web/, and is built where libmicrohttpd is there. */
#include <stdlib.h>
#include <sys/stat.h>

#include "cli.h"
#ifdef CLI_SERVE
#include "web.h"
#endif

#define EXAMPLE "examples/api/plan.yaml"

static int run(const cli_call *call)
{
#ifdef CLI_SERVE
    char example[PATH_MAX];
    int64_t port = 0;
    struct stat found;
    const char *folder = call->operand_count > 0 ? call->operands[0] : ".";
    const char *number = cli_value(call, "port");
    if (number && !cli_whole(&port, number, 1024, 65535))
        return cli_wrong_usage(call->command, "--port: expected a whole number from 1024 to 65535");
    if (stat(folder, &found) != 0 || !S_ISDIR(found.st_mode))
        return cli_wrong_usage(call->command, "there is no folder '%s'", folder);
    const web_options options = {
        .folder = folder,
        .port = (unsigned)port,
        .read_only = cli_value(call, "read-only"),
        .open = !cli_value(call, "no-open") && !call->json,
        .json = call->json,
        .quiet = call->quiet,
        .also = cli_value(call, "also"),
        .example = cli_find_shared(example, EXAMPLE) ? example : NULL,
#ifdef CLI_ASSETS /* of test builds only: the help of all builds is the same */
        .assets = getenv("TAMIS_SERVE_ASSETS"),
#endif
    };
    return web_serve(&options);
#else
    return cli_wrong_usage(call->command,
                           "this tamis was built without libmicrohttpd (Debian: libmicrohttpd-dev) or jansson (libjansson-dev), "
                           "and has no page");
#endif
}

const cli_command cli_command_serve = {
    .name = "serve",
    .purpose = "plan a survey, release it and see its account, in the browser",
    .about =
        "Serves a page for one person on this computer that leads from a data file to a plan, its expected errors and its "
        "guarantee, to a release and the account. Everything on the page is computed by tamis; no data value is read before a "
        "release has been charged, and none is ever shown. Plans are ordinary files, which the other commands read too.\n\n"
        "The server listens at 127.0.0.1 only and answers only to the address that it prints, which contains a secret for "
        "this run: whoever has it can do what you can do in FOLDER. Nothing outside FOLDER is read or written, even if a plan "
        "names it, unless --also allows it. Plans whose source runs a command are refused. From another computer, use "
        "`ssh -L PORT:127.0.0.1:PORT` with --port.\n\n"
        "With --json the address is one JSON object, and no browser is opened. Ctrl-C ends the server; a release that is running "
        "ends within about a second, and a message says whether it was charged. Without a request for 8 hours it ends by itself. "
        "docs/page.md describes the page.",
    .operands = {{"FOLDER", .files = CLI_FOLDERS, .help = "the folder with the data and the plans; default: this one"}},
    .options = {{"port", "N", .help = "the port, 1024 to 65535; default: one that is free"},
                {"read-only", .help = "look and plan only: nothing is written, charged or released"},
                {"no-open", .help = "do not open a browser"},
                {"also", "PATH", .files = CLI_ANY_FILES,
                 .help = "a further file or folder that plans may name, such as /data/survey; several are separated by colons"},
                {0}},
    .examples = {{"tamis serve", "the page of this folder"},
                 {"tamis serve . --read-only --no-open", "to look only; the address is printed"}},
    .run = run,
};

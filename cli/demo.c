/* tamis demo: a release of the survey that comes with tamis. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define PLAN "examples/api/plan.yaml"

/* The line is in the plan: tests/cli/release.py compares. */
static const char about_budget[] =
    "The plan's line `budget: {epsilon: 12}` says what all releases of this survey\n  together may ever spend. Every release "
    "needs such a line: the ledger refuses\n  a release that would exceed it.\n";

static int failed(const char *what, const char *about)
{
    tamis_error err = {.status = TAMIS_SYSTEM};
    snprintf(err.message, sizeof err.message, what, about);
    return cli_failed(&err, NULL);
}

static int run(const cli_call *call)
{
    char plan[PATH_MAX], fresh[PATH_MAX], folder[PATH_MAX + 16], ledger[PATH_MAX + 16];
    if (!cli_find_shared(plan, PLAN)) return failed("the bundled survey is missing: %s", TAMIS_DATA_FOLDER "/" PLAN);
    const char *out = cli_value(call, "out"), *temporary = getenv("TMPDIR");
    if (!temporary || !*temporary) temporary = "/tmp";
    snprintf(fresh, sizeof fresh, "%s/tamis-demo-XXXXXX", temporary);
    if (!mkdtemp(fresh)) return failed("cannot create a temporary folder in %s; set TMPDIR to another place", temporary);
    snprintf(folder, sizeof folder, "%s/release", fresh);
    snprintf(ledger, sizeof ledger, "%s/tamis.ledger", fresh); /* the plan's own place may be read-only */
    int code = cli_release(call, plan, out ? out : folder, ledger);
    if (out || code != TAMIS_OK) {
        unlink(ledger);
        rmdir(fresh);
    }
    if (code == TAMIS_OK && !call->json) {
        fputs(about_budget, stdout);
        printf("Plan in %s\n", plan);
        if (!out) printf("%s is yours to keep or to delete\n", fresh);
        code = cli_finish_output();
    }
    return code;
}

const cli_command cli_command_demo = {
    .name = "demo",
    .purpose = "release statistics of a bundled survey",
    .about = "Releases statistics of a simple random sample of 200 of California's 6194 schools, using the plan that comes with "
             "tamis, and prints the results, the guarantee, and where the plan and the files are. The files go to a new "
             "temporary folder, which you may delete, unless --out names another one.",
    .options = {{"out", "DIR", .files = CLI_FOLDERS, .help = "the output folder, which must not exist yet"}},
    .examples = {{"tamis demo", "a first look"}, {"tamis demo --out schools", "keep the files in the folder schools"}},
    .run = run,
};

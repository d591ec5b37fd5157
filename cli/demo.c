/* tamis demo: a release of the survey that comes with tamis. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Where the plan may be: installed beside the program wherever that was moved to, in the tree where the program was
 * built, or where it was meant to be installed. */
#define PLAN "examples/api/plan.yaml"
static const char *const beside_program[] = {"../share/tamis/" PLAN, "../" PLAN};

/* The line is in the plan: tests/cli/release.py compares. */
static const char about_budget[] = "The plan's line `budget: {epsilon: 12}` says what all releases of this survey\n"
                                   "  together may ever spend. Every release needs such a line: the ledger counts,\n"
                                   "  and refuses what would pass it.\n";

static int failed(const char *what, const char *about)
{
    tamis_error err = {.status = TAMIS_SYSTEM};
    snprintf(err.message, sizeof err.message, what, about);
    return cli_failed(&err, NULL);
}

static bool find_plan(char path[PATH_MAX])
{
    char program[PATH_MAX], place[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash) *slash = '\0';
    for (size_t i = 0; i < sizeof beside_program / sizeof *beside_program; i++) {
        snprintf(place, sizeof place, "%s/%s", program, beside_program[i]);
        if (realpath(place, path)) return true;
    }
    return realpath(TAMIS_DATA_FOLDER "/" PLAN, path);
}

static int run(const cli_call *call)
{
    char plan[PATH_MAX], fresh[PATH_MAX], folder[PATH_MAX + 16], ledger[PATH_MAX + 16];
    if (!find_plan(plan)) return failed("the bundled survey is missing: %s", TAMIS_DATA_FOLDER "/" PLAN);
    const char *out = cli_value(call, "out"), *temporary = getenv("TMPDIR");
    if (!temporary || !*temporary) temporary = "/tmp";
    snprintf(fresh, sizeof fresh, "%s/tamis-demo-XXXXXX", temporary);
    if (!mkdtemp(fresh)) return failed("cannot make a temporary folder in %s; TMPDIR may name another place", temporary);
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
    .about = "Releases statistics of a simple random sample of 200 of California's 6194 schools, by the plan that comes "
             "with tamis, and prints the table, the guarantee, and where the plan and the files are. The files go to "
             "a fresh folder for temporary files, which you may delete, unless --out names another one.",
    .options = (const cli_argument[]){
        {.name = "out", .value = "DIR", .files = CLI_FOLDERS, .help = "the output folder, which must not exist yet"},
        {0}},
    .examples = (const cli_example[]){{"tamis demo", "a first look"},
                                      {"tamis demo --out schools", "and keep the files in schools"},
                                      {0}},
    .run = run,
};

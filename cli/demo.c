/* tamis demo: a release of the survey that comes with tamis, beside the truth, which is known because the people are made up. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guarantee.h"

#define PLAN "examples/demo/plan.yaml"
#define TRUTH "examples/demo/truth.csv"
#define LINE 256 /* of the bundled files, and of the library's table, which is at most 80 columns wide */

static int failed(const char *what, const char *about)
{
    tamis_error err = {.status = TAMIS_SYSTEM};
    snprintf(err.message, sizeof err.message, what, about);
    return cli_failed(&err, NULL);
}

/* ---- the numbers ---- */

enum { NAME, ESTIMATE, ERROR, INTERVAL, FIELDS };

/* A row of the library's table, "  employed   36,110   240  35,630 to 36,580": its cells, which are two spaces or more apart.
 * False for titles and for rules. */
static bool read_row(char cells[FIELDS][CLI_CELL], const char *line, size_t length)
{
    size_t at = 2, count = 0;
    memset(cells, 0, FIELDS * sizeof *cells);
    if (length < 3 || strncmp(line, "  ", 2) != 0 || line[2] == ' ') return false;
    while (at < length && count < FIELDS) {
        size_t end = at;
        while (end < length && !(line[end] == ' ' && (end + 1 == length || line[end + 1] == ' '))) end++;
        snprintf(cells[count++], CLI_CELL, "%.*s", (int)(end - at), line + at);
        while (end < length && line[end] == ' ') end++;
        at = end;
    }
    return count == FIELDS;
}

/* The next row of the table at *text, which moves on; false: it ends here. */
static bool next_row(char cells[FIELDS][CLI_CELL], const char **text)
{
    while (**text && strncmp(*text, "Standard errors", 15) != 0) {
        const char *line = *text;
        const size_t length = strcspn(line, "\n");
        *text += length + (line[length] == '\n');
        if (read_row(cells, line, length)) return true;
    }
    return false;
}

/* With as many decimals as the published number beside it. */
static void put_truth(char *room, size_t size, const char *value, const char *beside)
{
    const char *point = strchr(beside, '.');
    if (point) snprintf(room, size, "%.*f", (int)strlen(point + 1), strtod(value, NULL));
    else cli_thousands(room, size, (int64_t)strtod(value, NULL));
}

/* One row for each line "statistic,group,value" of the file, which is in the order of the release. */
static void print_numbers(const char *text, FILE *truth)
{
    char line[LINE], title[LINE] = "", cells[FIELDS][CLI_CELL], value[64];
    printf("%-26s %10s   %-18s %10s\n", "", "published", "95 % interval", "truth");
    if (!fgets(line, sizeof line, truth)) return; /* the header */
    while (fgets(line, sizeof line, truth)) {
        line[strcspn(line, "\n")] = '\0';
        char *group = strchr(line, ','), *number = group ? strchr(group + 1, ',') : NULL;
        if (!number || !next_row(cells, &text)) return;
        *group = *number = '\0';
        if (strcmp(title, line) != 0) printf("%s\n", line);
        snprintf(title, sizeof title, "%s", line);
        put_truth(value, sizeof value, number + 1, cells[ESTIMATE]);
        printf("  %-24s %10s   %-18s %10s\n", cells[NAME], cells[ESTIMATE], cells[INTERVAL], value);
    }
}

/* ---- the promise ---- */

/* What a belief of 10 % can become, in %, rounded up to a tenth, from the library's own JSON. */
static double belief(const char *json, const char *who)
{
    const char *const path[] = {"\"meaning\"", who, "\"posterior\"", "\"0.1\"", "\"upper\": "};
    for (size_t i = 0; json && i < sizeof path / sizeof *path; i++) {
        json = strstr(json, path[i]);
        if (json) json += strlen(path[i]);
    }
    return json ? ceil(1000 * strtod(json, NULL)) / 10 : 100;
}

static int tell(const cli_call *call, const tamis_release *release, const char *folder)
{
    tamis_error err = {0};
    char *text = NULL, *json = NULL, path[PATH_MAX];
    (void)call;
    FILE *truth = cli_find_shared(path, TRUTH) ? fopen(path, "r") : NULL;
    tamis_status status = tamis_release_text(&text, release, &err);
    if (status == TAMIS_OK) status = tamis_release_json(&json, release, &err);
    if (status == TAMIS_OK && truth) {
        puts("Work in a made-up town: 10,000 of its 64,000 adults were asked.");
        puts("Twelve numbers are published with epsilon 1, and shown beside the true values.\n");
        print_numbers(text, truth);
        puts("The intervals include sampling error and the noise that protects people.\n");
        puts("What each of them is promised, whatever they answered");
        printf("  A neighbour who saw the interviewer, and knows everybody else's answers:\n"
               "    a suspicion of 10 %% about an answer can become %.1f %% at most.\n",
               belief(json, "\"nosy neighbour\""));
        printf("  An outsider, who does not know who was asked: %.1f %% at most.\n\n", belief(json, "\"outsider\""));
        printf("The report is %s/report.html: open it in a browser.\n", folder);
    }
    tamis_free(text);
    tamis_free(json);
    if (truth) fclose(truth);
    if (!truth) return failed("the bundled survey is missing: %s", TAMIS_DATA_FOLDER "/" TRUTH);
    return status == TAMIS_OK ? cli_finish_output() : cli_failed(&err, NULL);
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
    int code = cli_release(call, plan, out ? out : folder, ledger, call->json ? NULL : tell);
    if (out || code != TAMIS_OK) {
        unlink(ledger);
        rmdir(fresh);
    }
    if (code == TAMIS_OK && !call->json) {
        printf("The plan is %s\n", plan);
        if (!out) printf("%s is yours to keep or to delete.\n", fresh);
        puts(cli_find(cli_commands, "serve") ? "Your own survey: `tamis serve`, a page on this computer; or `tamis init FILE`."
                                             : "Your own survey: `tamis init FILE` writes a plan to fill in.");
        code = cli_finish_output();
    }
    return code;
}

const cli_command cli_command_demo = {
    .name = "demo",
    .purpose = "release statistics of a bundled survey",
    .about = "Releases statistics of a stratified sample of 10,000 of the 64,000 adults of a made-up town, using the plan that "
             "comes with tamis, and prints the published numbers beside the true ones, what each person is promised, and where "
             "the plan and the files are. The files go to a new temporary folder, which you may delete, unless --out names "
             "another one.",
    .options = {{"out", "DIR", .files = CLI_FOLDERS, .help = "the output folder, which must not exist yet"}},
    .examples = {{"tamis demo", "a first look"}, {"tamis demo --out town", "keep the files in the folder town"}},
    .run = run,
};

/* tamis init: a plan to fill in, from the header of a data file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* The data's name with .yaml, in the current folder. */
static void default_out(char out[PATH_MAX], const char *data)
{
    const char *slash = strrchr(data, '/'), *name = slash ? slash + 1 : data, *dot = strrchr(name, '.');
    snprintf(out, PATH_MAX, "%.*s.yaml", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

/* libpq's words, "service=survey" or "postgresql://host/db", are no name of a file with data. */
static bool is_connection(const char *data)
{
    const bool address = strncmp(data, "postgres://", 11) == 0 || strncmp(data, "postgresql://", 13) == 0;
    return address || (strchr(data, '=') && access(data, F_OK) != 0);
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The data as a plan at `out` names it: by their own name in the same folder, as given if the plan is in the current one, else in
 * full. */
static const char *name_from(char room[PATH_MAX], const char *out, const char *data)
{
    const size_t there = folder_length(out), here = folder_length(data);
    if (there == here && strncmp(out, data, here) == 0) return data + here;
    if (there == 0 || data[0] == '/') return data;
    return realpath(data, room) ? room : data;
}

/* A new file with the text; one that exists is left as it is. */
static int write_new(const cli_call *call, const char *out, const char *text)
{
    tamis_error err = {.status = TAMIS_SYSTEM};
    int file = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) return cli_check_new(call, out, "plan", "file");
    bool right = file >= 0;
    for (size_t left = strlen(text); right && left > 0;) {
        const ssize_t written = write(file, text, left);
        right = written > 0;
        if (right) text += written, left -= (size_t)written;
    }
    if (file >= 0 && close(file) != 0) right = false;
    if (right) return TAMIS_OK;
    snprintf(err.message, sizeof err.message, "%.*s: cannot be written: %s", PATH_MAX / 2, out, strerror(errno));
    if (file >= 0) unlink(out);
    return cli_failed(&err, NULL);
}

static void put_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20) printf("\\u%04x", (unsigned char)*text);
        else if (*text == '"' || *text == '\\') printf("\\%c", *text);
        else putchar(*text);
    }
    putchar('"');
}

static int run(const cli_call *call)
{
    char usual[PATH_MAX], schema[PATH_MAX], room[PATH_MAX];
    const char *data = call->operands[0], *out = cli_value(call, "out");
    const char *table = cli_value(call, "table");
    const bool connection = is_connection(data);
    tamis_error err = {0};
    char *text = NULL;
    if (connection && !table) return cli_wrong_usage(call->command, "--table: must be the table in PostgreSQL");
    cli_input input = {.path = data};
    int code = connection ? 0 : cli_input_open(&input, call, data);
    if (code != 0) return code;
    const bool piped = input.path != data;
    if (!out && piped) out = "-"; /* a pipe has no name that a plan could have */
    const bool printed = cli_is_stdout(out);
    if (printed && call->json) code = cli_wrong_usage(call->command, "--json needs --out FILE, because the plan goes to stdout");
    if (!out) {
        if (connection) snprintf(usual, sizeof usual, "%.*s.yaml", PATH_MAX - 8, table);
        else default_out(usual, data);
        out = usual;
    }
    if (code == 0 && !printed) code = cli_check_new(call, out, "plan", "file");
    const tamis_init init = {.size = sizeof(tamis_init),
                             .file = connection ? NULL : input.path,
                             .connection = connection ? data : NULL,
                             .table = table,
                             .source = connection ? NULL
                                       : piped    ? TAMIS_FILL_IN
                                                  : name_from(room, out, data),
                             .schema = cli_find_shared(schema, "plan.schema.json") ? schema : NULL};
    if (code == 0 && tamis_init_yaml(&text, &init, &err) != TAMIS_OK) {
        cli_input_name(&input, &err);
        code = cli_failed(&err, NULL);
    }
    cli_input_close(&input);
    if (code == 0 && printed) return cli_print(text);
    if (code == 0) code = write_new(call, out, text);
    tamis_free(text);
    if (code != TAMIS_OK) return code;
    if (call->json) {
        fputs("{\"plan\": ", stdout);
        put_json_text(out);
        puts("}");
    } else {
        printf("Wrote %s. Replace every " TAMIS_FILL_IN " in it, then run: tamis check %s\n", out, out);
    }
    return cli_finish_output();
}

const cli_command cli_command_init = {
    .name = "init",
    .purpose = "write a plan to fill in for a data file",
    .about = "Writes a commented plan from the header of a file: the names of its columns, their types, and the labels of "
             "variables and codes that SPSS, Stata and SAS files have. A CSV file gives names only. No row is read, and nothing "
             "that shapes the guarantee is guessed: design, unit, epsilon, budget, bounds and values are left to fill in, and "
             "'tamis check' lists those that are missing.\n\n"
             "Labels of codes are written as comments: list the codes that are public.\n\n" CLI_ABOUT_PLANS,
    .operands = {{"DATA", .files = CLI_ANY_FILES, .needed = true,
                  .help = "a file: .csv .parquet .sav .zsav .dta .sas7bdat .xpt .duckdb .db; -: standard input; or a "
                          "connection to PostgreSQL, such as service=survey"}},
    .options = {{"out", "FILE", .files = CLI_ANY_FILES,
                 .help = "the plan, which must not exist yet; default: the name of the file or table with .yaml, in the current "
                         "folder; -: standard output, which is also the default for a pipe"},
                {"table", "NAME", .help = "the table, in PostgreSQL or of a DuckDB file with several"}},
    .examples = {{"tamis init apisrs.csv", "writes apisrs.yaml"},
                 {"tamis init apisrs.csv --out schools.yaml", "under another name"}},
    .run = run,
};

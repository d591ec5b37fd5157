/* What the command says beside its results, and the end of stdout. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

cli_paint cli_paint_for(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool plain = (no_colour && *no_colour) || !terminal || strcmp(terminal, "dumb") == 0 || !isatty(fileno(stream));
    if (plain) return (cli_paint){"", "", "", ""};
    return (cli_paint){"\033[1m", "\033[2m", "\033[1;31m", "\033[0m"};
}

/* Of one line. A message may quote arguments and plans: what a terminal would obey is not sent there. */
static void put(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc(c < ' ' || c == 0x7f ? '?' : c, stderr);
    }
}

static void say(const char *colour, const char *text, size_t length)
{
    fprintf(stderr, "%stamis:%s ", colour, cli_paint_for(stderr).plain);
    put(text, length);
    fputc('\n', stderr);
}

/* ---- errors ---- */

static struct {
    bool json;  /* wanted */
    bool begun; /* something else is on stdout */
} output;

void cli_errors_in_json(bool json) { output.json = json; }

void cli_output_begins(void) { output.begun = true; }

/* What cannot be written is on stderr, and the exit code is that of the error. */
static void put_json(const tamis_error *err, const char *code, const char *file)
{
    static const char no_memory[] = "{\"code\": \"system\", \"message\": \"out of memory\", \"file\": null, \"line\": null, "
                                    "\"column\": null, \"errors\": []}";
    char *json = NULL;
    if (!output.json || output.begun) return;
    output.begun = true;
    puts(tamis_error_json(&json, err, code, file, NULL) == TAMIS_OK ? json : no_memory);
    tamis_free(json);
    fflush(stdout);
}

int cli_wrong_usage(const cli_command *command, const char *format, ...)
{
    tamis_error err = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err.message, sizeof err.message, format, arguments);
    va_end(arguments);
    put_json(&err, "usage", NULL);
    say(cli_paint_for(stderr).red, err.message, strlen(err.message));
    fprintf(stderr, "Try 'tamis%s%s --help'.\n", command ? " " : "", command ? command->name : "");
    return CLI_USAGE;
}

/* "plan.yaml: ..." */
static bool names(const char *line, const char *path)
{
    size_t length = strlen(path);
    return strncmp(line, path, length) == 0 && line[length] == ':';
}

/* "plan.yaml:3:7: ..." */
static bool tells_place(const char *line, const char *path)
{
    return path && names(line, path) && strspn(line + strlen(path) + 1, "0123456789") > 0;
}

int cli_failed(const tamis_error *err, const char *path)
{
    cli_paint paint = cli_paint_for(stderr);
    put_json(err, NULL, err->status == TAMIS_SYSTEM || err->status == TAMIS_OK ? NULL : path);
    for (const char *line = *err->message ? err->message : "internal error"; *line;) {
        size_t length = strcspn(line, "\n");
        if (!tells_place(line, path)) fprintf(stderr, "%stamis:%s ", paint.red, paint.plain);
        if (err->status == TAMIS_INVALID && path && !names(line, path)) {
            put(path, strlen(path));
            fputs(": ", stderr);
        }
        put(line, length);
        fputc('\n', stderr);
        line += length + (line[length] == '\n');
    }
    return err->status == TAMIS_OK ? TAMIS_SYSTEM : (int)err->status;
}

void cli_remark(const cli_call *call, const char *format, ...)
{
    if (call->quiet) return;
    char message[TAMIS_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    say(cli_paint_for(stderr).bold, message, strlen(message));
}

/* Insertions, deletions, replacements and swaps of neighbours; words longer than the room are no near miss of ours. */
#define LONGEST_WORD 32

static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][LONGEST_WORD + 1];
    if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *cli_nearest(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    size_t best = strlen(word) <= 4 ? 2 : 3; /* fewer changes than this */
    for (; *names; names++) {
        size_t changes = distance(word, *names);
        if (changes < best) best = changes, nearest = *names;
    }
    return nearest;
}

int cli_finish_output(void)
{
    bool failed = ferror(stdout);
    cli_output_begins();
    if (fflush(stdout) == 0 && !failed) return TAMIS_OK;
    if (errno == EPIPE) return TAMIS_SYSTEM;
    tamis_error err = {.status = TAMIS_SYSTEM};
    snprintf(err.message, sizeof err.message, "cannot write to stdout: %s", strerror(errno));
    return cli_failed(&err, NULL);
}

int cli_print(char *text)
{
    fputs(text, stdout);
    tamis_free(text);
    return cli_finish_output();
}

/* tamis compute: JSON lines in, JSON lines out. A line is read whole up to the length that the calculator looks at; what
 * goes beyond is read and forgotten, so that a line of any length costs no more memory than the longest allowed one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define FIRST_ROOM 4096
#define NO_MEMORY "{\"id\": null, \"error\": {\"code\": \"system\", \"message\": \"out of memory\"}}"

typedef struct line {
    char *bytes;
    size_t length, room;
    bool forgot; /* bytes for want of memory */
} line;

/* One byte more than allowed is kept: by it the calculator knows that the line was too long. */
static void keep(line *l, char byte)
{
    if (l->length > TAMIS_COMPUTE_LINE_MAX || l->forgot) return;
    if (l->length == l->room) {
        size_t room = l->room ? 2 * l->room : FIRST_ROOM;
        char *bytes = realloc(l->bytes, room);
        if (!bytes) {
            l->forgot = true;
            return;
        }
        l->bytes = bytes;
        l->room = room;
    }
    l->bytes[l->length++] = byte;
}

/* False at the end of the input; a last line without its newline is a line. */
static bool read_line(line *l, FILE *in)
{
    int c;
    l->length = 0;
    l->forgot = false;
    bool any = false;
    while ((c = getc_unlocked(in)) != EOF) {
        any = true;
        if (c == '\n') break;
        keep(l, (char)c);
    }
    return any;
}

/* Writes the answer; whether it was a good one. */
static bool answer_line(const line *l, FILE *out)
{
    char *answer = NULL;
    tamis_status status = TAMIS_SYSTEM;
    if (!l->forgot) status = tamis_compute_line(&answer, l->bytes, l->length, NULL);
    fputs(answer ? answer : NO_MEMORY, out);
    fputc('\n', out);
    tamis_free(answer);
    return status == TAMIS_OK;
}

static int run(const cli_call *call)
{
    line l = {0};
    tamis_error err = {.status = TAMIS_SYSTEM};
    int code = TAMIS_OK, written = TAMIS_OK;
    const char *path = call->operand_count > 0 && !cli_is_dash(call->operands[0]) ? call->operands[0] : NULL;
    FILE *in = path ? fopen(path, "re") : stdin;
    if (!in) {
        snprintf(err.message, sizeof err.message, "%.*s: %s", PATH_MAX / 2, path, strerror(errno));
        err.status = TAMIS_INVALID;
        return cli_failed(&err, NULL);
    }
    if (isatty(fileno(in))) cli_remark(call, "reading requests, one per line; end with Ctrl-D");
    while (written == TAMIS_OK && read_line(&l, in)) {
        cli_output_begins();
        if (!answer_line(&l, stdout)) code = TAMIS_INVALID;
        written = cli_finish_output();
    }
    free(l.bytes);
    const bool unread = ferror(in);
    if (path) fclose(in);
    if (written != TAMIS_OK) return written;
    if (!unread) return code;
    snprintf(err.message, sizeof err.message, "%.*s: cannot be read", PATH_MAX / 2, path ? path : "standard input");
    return cli_failed(&err, NULL);
}

const cli_command cli_command_compute = {
    .name = "compute",
    .purpose = "batch calculator: JSON lines in, JSON lines out",
    .about = "Reads requests from a file or from stdin, one per line, and answers each with one line, in the same order. A "
             "request, its answer, and what is printed instead if something is wrong with it:\n\n"
             "  {\"id\": \"a\", \"area\": \"...\", \"kind\": \"...\", \"in\": {...}}\n"
             "  {\"id\": \"a\", \"out\": {...}}\n"
             "  {\"id\": \"a\", \"error\": {\"code\": \"...\", \"message\": \"...\"}}\n\n"
             "'id' is any string; it is returned unchanged, or as null if the line could not be read. Numbers in 'in' are "
             "integers, or exact decimals and fractions in quotes: \"0.1\", \"3/10\". A real number in 'out' is an enclosure "
             "with a lower and an upper end. A bad line, including an empty one, gets an error answer and does not stop the "
             "others; the exit code is then 3.\n\n"
             "docs/compute.md, installed as share/doc/tamis/compute.md, lists the areas and kinds with their fields, and a line "
             "to try for each. An unknown name is answered with the list of known ones.",
    .operands = {{"REQUESTS", .files = CLI_ANY_FILES, .help = "the requests; default: -, standard input"}},
    .examples = {{"tamis compute < questions.jsonl", "what a sample of schools means for a guarantee"}},
    .run = run,
};

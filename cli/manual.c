/* tamis.1 from the table, in the man macros that every roff knows. */
#include <string.h>

#include "cli.h"

/* Text in which roff finds no command: an apostrophe or a full stop may start one, a minus is not a hyphen. */
static void plain(FILE *out, const char *text, size_t size)
{
    for (const char *c = text; c < text + size; c++) {
        switch (*c) {
        case '\\': fputs("\\e", out); break;
        case '-': fputs("\\-", out); break;
        case '\'': fputs("\\(aq", out); break;
        case '`': fputs("\\(ga", out); break;
        case '^': fputs("\\(ha", out); break;
        case '~': fputs("\\(ti", out); break;
        case '.': fputs(c == text || c[-1] == '\n' ? "\\&." : ".", out); break;
        default: fputc(*c, out);
        }
    }
}

static void text(FILE *out, const char *words) { plain(out, words, strlen(words)); }

static void file(FILE *out, const char *path, const char *what)
{
    fputs(".TP\n.I ", out);
    text(out, path);
    fprintf(out, "\n%s\n", what);
}

/* As in the help: a paragraph that begins with spaces is left as it is. */
static void paragraphs(FILE *out, const char *words)
{
    while (*words) {
        const char *end = strstr(words, "\n\n");
        size_t size = end ? (size_t)(end - words) : strlen(words);
        fputs(*words == ' ' ? ".PP\n.EX\n" : ".PP\n", out);
        plain(out, words, size);
        fputs(*words == ' ' ? "\n.EE\n" : "\n", out);
        words += size + (end ? 2 : 0);
    }
}

static void arguments(FILE *out, const cli_argument *list, bool options)
{
    char room[80];
    for (; list->name; list++) {
        fputs(".TP\n.B ", out);
        text(out, options ? cli_written(room, sizeof room, list) : list->name);
        fputc('\n', out);
        text(out, list->help);
        fputc('\n', out);
    }
}

static void command(FILE *out, const cli_command *c)
{
    fprintf(out, ".SS tamis %s", c->name);
    if (c->members) {
        fputs(" COMMAND\n", out);
        paragraphs(out, c->about);
        for (size_t i = 0; c->members[i]; i++) command(out, c->members[i]);
        return;
    }
    char synopsis[256] = "";
    FILE *stream = fmemopen(synopsis, sizeof synopsis, "w");
    if (stream) {
        cli_synopsis(stream, c);
        fclose(stream);
    }
    text(out, synopsis);
    fputc('\n', out);
    paragraphs(out, c->about);
    arguments(out, c->operands, false);
    arguments(out, c->options, true);
    for (const cli_example *e = c->examples; e->line; e++) {
        fputs(".PP\n", out);
        text(out, e->what);
        fputs(":\n.PP\n.in +4n\n.EX\n", out);
        text(out, e->line);
        fputs("\n.EE\n.in\n", out);
    }
}

void cli_manual(FILE *out)
{
    fprintf(out, ".TH TAMIS 1 \"\" \"tamis %s\" \"User Commands\"\n", tamis_version());
    fputs(".SH NAME\ntamis \\- differential privacy for sample surveys\n"
          ".SH SYNOPSIS\n.B tamis\n.I COMMAND\n[options]\n"
          ".SH DESCRIPTION\n"
          "Releases statistics of a sample survey with exact noise, a certified guarantee, and intervals that include\nsampling "
          "error and noise. What to release, from which file, by which design and with which budget is\n"
          "written in a plan, a YAML file.\n.PP\n"
          "Results go to the standard output, messages and progress to the standard error.\n"
          ".SH COMMANDS\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) command(out, cli_commands[i]);
    fputs(".SH OPTIONS\nEvery command has these options.\n", out);
    arguments(out, cli_common_options, true);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; cli_exit_codes[i][0]; i++) {
        fprintf(out, ".TP\n.B %s\n", cli_exit_codes[i][0]);
        text(out, cli_exit_codes[i][1]);
        fputc('\n', out);
    }
    fputs(".PP\nWith\n.B \\-\\-json\na command that fails prints one JSON object on the standard output, with the fields\n"
          "code (system, usage, invalid, refused or unable), message, file, line and column, null where not known, of the first\n"
          "error, and the list errors of all of them. The text for people is on the standard error as without it.\n",
          out);
    fputs(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif set and not empty, no colours are used, even on a terminal.\n"
          ".SH FILES\n",
          out);
    file(out, TAMIS_DATA_FOLDER "/examples/api", "a plan to copy and change, with the survey that it releases");
    file(out, TAMIS_DOC_FOLDER "/plan.md", "the plan format");
    file(out, TAMIS_DOC_FOLDER "/privacy.md", "how private is it? questions and answers");
    file(out, TAMIS_DOC_FOLDER "/errors.md", "exit codes, and errors as JSON");
    file(out, TAMIS_DOC_FOLDER "/compute.md", "what the calculator answers");
    file(out, TAMIS_DOC_FOLDER "/known-issues.md", "what is not covered");
    fputs(".SH SEE ALSO\n.BR pkg\\-config (1);\nthe headers in\n.I tamis/\n"
          "for the library, one per subject.\n",
          out);
}

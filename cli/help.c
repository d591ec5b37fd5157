/* The help of the program and of each command, from the table. */
#include <string.h>

#include "cli.h"

#define INDENT 2

/* One paragraph, broken at spaces to fit CLI_WIDTH, each line behind `indent` spaces; the first one starts at column
 * `indent` already. */
static void wrap(FILE *out, const char *text, size_t size, int indent)
{
    int column = indent;
    for (const char *word = text, *end = text + size; word < end;) {
        int length = 0;
        while (word + length < end && word[length] != ' ') length++;
        if (column > indent && column + 1 + length > CLI_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(word, 1, (size_t)length, out);
        column += length;
        word += length;
        while (word < end && *word == ' ') word++;
    }
    fputc('\n', out);
}

void cli_paragraph(FILE *out, const char *text, int indent)
{
    fprintf(out, "%*s", indent, "");
    wrap(out, text, strlen(text), indent);
}

/* Paragraphs with an empty line between them; one that begins with spaces is left as it is. */
static void paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t size = end ? (size_t)(end - text) : strlen(text);
        if (*text == ' ') fprintf(out, "%.*s\n", (int)size, text);
        else wrap(out, text, size, 0);
        if (end) fputc('\n', out);
        text += size + (end ? 2 : 0);
    }
}

static void heading(FILE *out, const char *text)
{
    cli_paint paint = cli_paint_for(out);
    fprintf(out, "\n%s%s%s\n", paint.bold, text, paint.plain);
}

/* "  name   text text text" with the text in one column. */
static void entry(FILE *out, const char *name, int width, const char *text)
{
    int at = INDENT + width + 2;
    fprintf(out, "%*s%-*s", INDENT, "", width, name);
    if ((int)strlen(name) > width) fprintf(out, "\n%*s", at, "");
    else fputs("  ", out);
    wrap(out, text, strlen(text), at);
}

const char *cli_written(char *room, size_t size, const cli_argument *option)
{
    snprintf(room, size, "--%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    return room;
}

static int width_of(const cli_argument *list, bool options)
{
    char room[80];
    int width = 0;
    for (; list->name; list++) {
        int length = (int)strlen(options ? cli_written(room, sizeof room, list) : list->name);
        if (length > width) width = length;
    }
    return width;
}

static void arguments(FILE *out, const cli_argument *list, bool options, int width)
{
    char room[80];
    for (; list->name; list++) entry(out, options ? cli_written(room, sizeof room, list) : list->name, width, list->help);
}

static void examples(FILE *out, const cli_example *list)
{
    cli_paint paint = cli_paint_for(out);
    heading(out, "Examples");
    for (; list->line; list++) {
        fprintf(out, "%*s%s# ", INDENT, "", paint.faint);
        wrap(out, list->what, strlen(list->what), INDENT + 2);
        fprintf(out, "%s%*s%s\n", paint.plain, INDENT, "", list->line);
    }
}

void cli_synopsis(FILE *out, const cli_command *command)
{
    char room[80];
    for (const cli_argument *o = command->operands; o->name; o++)
        fprintf(out, o->needed ? " %s%s" : " [%s%s]", o->name, o->more ? "..." : "");
    for (const cli_argument *o = command->options; o->name; o++)
        if (o->needed) fprintf(out, " %s", cli_written(room, sizeof room, o));
    fputs(" [options]", out);
}

static void commands(FILE *out, const cli_command *const *list)
{
    heading(out, "Commands");
    for (; *list; list++) entry(out, cli_own_name(*list), 9, (*list)->purpose);
    heading(out, "Options of every command");
    arguments(out, cli_common_options, true, 9);
}

static void name_and_purpose(FILE *out, const cli_command *command)
{
    cli_paint paint = cli_paint_for(out);
    fprintf(out, "%stamis %s%s: %s\n", paint.bold, command->name, paint.plain, command->purpose);
    heading(out, "Usage");
    fprintf(out, "%*stamis %s", INDENT, "", command->name);
}

static void help_of_group(FILE *out, const cli_command *group)
{
    name_and_purpose(out, group);
    fputs(" COMMAND [options]\n\n", out);
    paragraphs(out, group->about);
    commands(out, group->members);
    fprintf(out, "\n'tamis %s COMMAND --help' explains one command, with examples.\n", group->name);
}

static void help_of_command(FILE *out, const cli_command *command)
{
    name_and_purpose(out, command);
    cli_synopsis(out, command);
    fputs("\n\n", out);
    paragraphs(out, command->about);
    if (command->operands->name) {
        heading(out, "Arguments");
        arguments(out, command->operands, false, width_of(command->operands, false));
    }
    heading(out, "Options");
    int own = width_of(command->options, true), common = width_of(cli_common_options, true);
    arguments(out, command->options, true, own > common ? own : common);
    arguments(out, cli_common_options, true, own > common ? own : common);
    examples(out, command->examples);
}

static void help_of_program(FILE *out)
{
    cli_paint paint = cli_paint_for(out);
    fprintf(out, "%stamis%s: differential privacy for sample surveys\n", paint.bold, paint.plain);
    heading(out, "Usage");
    fprintf(out, "%*stamis COMMAND [options]\n", INDENT, "");
    commands(out, cli_commands);
    heading(out, "Exit codes");
    for (size_t i = 0; cli_exit_codes[i][0]; i++) entry(out, cli_exit_codes[i][0], 9, cli_exit_codes[i][1]);
    fputs("\n'tamis COMMAND --help' explains one command, with examples.\n", out);
}

void cli_help(FILE *out, const cli_command *command)
{
    if (!command) help_of_program(out);
    else if (command->members) help_of_group(out, command);
    else help_of_command(out, command);
}

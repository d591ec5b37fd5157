/* Completion for bash and zsh, from the table. */
#include <string.h>

#include "cli.h"

/* ---- bash ---- */

static const char bash_start[] =
    "# bash completion for tamis\n"
    "_tamis() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }\n"
    "    done\n"
    "    COMPREPLY=()\n";

/* A line that fills COMPREPLY for one argument. */
static void bash_offer(FILE *out, const cli_argument *a)
{
    if (a->choices)
        fprintf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", a->choices);
    else if (a->files == CLI_PLANS)
        fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -X '!*.yaml' -- \"$cur\"; "
              "compgen -f -X '!*.yml' -- \"$cur\"; compgen -d -- \"$cur\")", out);
    else if (a->files == CLI_FOLDERS)
        fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")", out);
    else
        fputc(':', out);
}

static void bash_options(FILE *out, const cli_argument *list, const char **separator)
{
    for (; list && list->name; list++) {
        fprintf(out, "%s--%s", *separator, list->name);
        *separator = " ";
    }
}

void cli_completion_bash(FILE *out)
{
    const char *separator = " ";
    fputs(bash_start, out);
    fputs("    case $command,$prev in\n", out);
    for (size_t i = 0; cli_commands[i]; i++)
        for (const cli_argument *o = cli_commands[i]->options; o && o->name; o++) {
            if (!o->value) continue;
            fprintf(out, "    %s,--%s) ", cli_commands[i]->name, o->name);
            bash_offer(out, o);
            fputs("; return ;;\n", out);
        }
    fputs("    esac\n    case $command in\n    '') COMPREPLY=($(compgen -W '", out);
    for (size_t i = 0; cli_commands[i]; i++) fprintf(out, "%s ", cli_commands[i]->name);
    fputs("help", out);
    bash_options(out, cli_common_options, &separator);
    fputs("' -- \"$cur\")) ;;\n    help) COMPREPLY=($(compgen -W '", out);
    for (size_t i = 0; cli_commands[i]; i++) fprintf(out, "%s ", cli_commands[i]->name);
    fputs("man bash zsh' -- \"$cur\")) ;;\n", out);
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        fprintf(out, "    %s)\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W '", c->name);
        separator = "";
        bash_options(out, c->options, &separator);
        bash_options(out, cli_common_options, &separator);
        fputs("' -- \"$cur\"))\n        else\n            ", out);
        bash_offer(out, c->operands ? c->operands : &(cli_argument){0});
        fputs("\n        fi ;;\n", out);
    }
    fputs("    esac\n}\ncomplete -F _tamis tamis\n", out);
}

/* ---- zsh ---- */

/* Inside single quotes and inside the brackets of an _arguments specification. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else {
            if (strchr("[]:\\", *text)) fputc('\\', out);
            fputc(*text, out);
        }
    }
}

static void zsh_offer(FILE *out, const cli_argument *a)
{
    if (a->choices)
        fprintf(out, "(%s)", a->choices);
    else if (a->files == CLI_PLANS)
        fputs("_files -g \"*.(yaml|yml)\"", out);
    else if (a->files == CLI_FOLDERS)
        fputs("_files -/", out);
    else
        fputc(' ', out);
}

static void zsh_options(FILE *out, const cli_argument *list, const char *indent)
{
    for (; list && list->name; list++) {
        fprintf(out, "%s'--%s[", indent, list->name);
        zsh_text(out, list->help);
        fputc(']', out);
        if (list->value) {
            fputc(':', out);
            zsh_text(out, list->value);
            fputc(':', out);
            zsh_offer(out, list);
        }
        fputs("'\n", out);
    }
}

void cli_completion_zsh(FILE *out)
{
    fputs("#compdef tamis\n_tamis() {\n    local curcontext=$curcontext state line\n    local -a common commands\n"
          "    common=(\n", out);
    zsh_options(out, cli_common_options, "        ");
    fputs("    )\n    commands=(\n", out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "        '%s:", cli_commands[i]->name);
        zsh_text(out, cli_commands[i]->purpose);
        fputs("'\n", out);
    }
    fputs("        'help:explain a command'\n    )\n"
          "    _arguments -C $common '1: :->command' '*:: :->argument'\n"
          "    case $state in\n"
          "    command) _describe command commands ;;\n"
          "    argument)\n"
          "        case $words[1] in\n"
          "        help) _describe command commands ;;\n", out);
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *c = cli_commands[i];
        fprintf(out, "        %s)\n            local -a arguments=(\n", c->name);
        for (const cli_argument *o = c->operands; o && o->name; o++) {
            fprintf(out, "                '%s:", o->needed ? "" : ":");
            zsh_text(out, o->name);
            fputc(':', out);
            zsh_offer(out, o);
            fputs("'\n", out);
        }
        zsh_options(out, c->options, "                ");
        fputs("            )\n            _arguments $common $arguments ;;\n", out);
    }
    fputs("        esac ;;\n    esac\n}\n"
          "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tamis \"$@\"; else compdef _tamis tamis; fi\n", out);
}

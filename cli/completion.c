/* Completion for bash and zsh, from the table. */
#include <string.h>

#include "cli.h"

/* ---- bash ---- */

static const char bash_start[] = "# bash completion for tamis\n"
                                 "_tamis() {\n"
                                 "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
                                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                                 "        [[ ${COMP_WORDS[i]} == -* ]] && continue\n"
                                 "        command+=${command:+ }${COMP_WORDS[i]}\n"
                                 "        case $command in\n";

/* A line that fills COMPREPLY for one argument. */
static void bash_offer(FILE *out, const cli_argument *a)
{
    if (a->choices) fprintf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", a->choices);
    else if (a->files == CLI_PLANS)
        fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -X '!*.yaml' -- \"$cur\"; compgen -f -X '!*.yml' -- "
              "\"$cur\"; compgen -d -- \"$cur\")",
              out);
    else if (a->files == CLI_ANY_FILES) fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")", out);
    else if (a->files == CLI_FOLDERS) fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")", out);
    else fputc(':', out);
}

static void bash_options(FILE *out, const cli_argument *list, const char **separator)
{
    for (; list->name; list++) {
        fprintf(out, "%s--%s", *separator, list->name);
        *separator = " ";
    }
}

static void bash_values(FILE *out, const cli_command *const *list)
{
    for (; *list; list++) {
        if ((*list)->members) bash_values(out, (*list)->members);
        for (const cli_argument *o = (*list)->options; o->name; o++) {
            if (!o->value) continue;
            fprintf(out, "    '%s,--%s') ", (*list)->name, o->name);
            bash_offer(out, o);
            fputs("; return ;;\n", out);
        }
    }
}

static void bash_names(FILE *out, const cli_command *const *list, const char *more)
{
    const char *separator = " ";
    fputs("COMPREPLY=($(compgen -W '", out);
    for (; *list; list++) fprintf(out, "%s ", cli_own_name(*list));
    fputs(more, out);
    bash_options(out, cli_common_options, &separator);
    fputs("' -- \"$cur\")) ;;\n", out);
}

static void bash_commands(FILE *out, const cli_command *const *list)
{
    for (; *list; list++) {
        const cli_command *c = *list;
        const char *separator = "";
        fprintf(out, "    '%s')", c->name);
        if (c->members) {
            fputc(' ', out);
            bash_names(out, c->members, "");
            bash_commands(out, c->members);
            continue;
        }
        fputs("\n        if [[ $cur == -* ]]; then\n            COMPREPLY=($(compgen -W '", out);
        bash_options(out, c->options, &separator);
        bash_options(out, cli_common_options, &separator);
        fputs("' -- \"$cur\"))\n        else\n            ", out);
        bash_offer(out, c->operands);
        fputs("\n        fi ;;\n", out);
    }
}

void cli_completion_bash(FILE *out)
{
    fputs(bash_start, out);
    for (size_t i = 0; cli_commands[i]; i++)
        if (cli_commands[i]->members) fprintf(out, "        %s) ;; # a group: one more word\n", cli_commands[i]->name);
    fputs("        *) break ;;\n        esac\n    done\n    COMPREPLY=()\n    case $command,$prev in\n", out);
    bash_values(out, cli_commands);
    fputs("    esac\n    case $command in\n    '') ", out);
    bash_names(out, cli_commands, "help");
    fputs("    help) ", out);
    bash_names(out, cli_commands, "man bash zsh");
    bash_commands(out, cli_commands);
    fputs("    esac\n}\ncomplete -F _tamis tamis\n", out);
}

/* ---- zsh ---- */

/* Inside single quotes and inside the brackets of an _arguments specification. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", out);
        else {
            if (strchr("[]:\\", *text)) fputc('\\', out);
            fputc(*text, out);
        }
    }
}

static void zsh_offer(FILE *out, const cli_argument *a)
{
    if (a->choices) fprintf(out, "(%s)", a->choices);
    else if (a->files == CLI_PLANS) fputs("_files -g \"*.(yaml|yml)\"", out);
    else if (a->files == CLI_FOLDERS) fputs("_files -/", out);
    else if (a->files == CLI_ANY_FILES) fputs("_files", out);
    else fputc(' ', out);
}

static void zsh_options(FILE *out, const cli_argument *list, const char *indent)
{
    for (; list->name; list++) {
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

/* A function that completes the commands of a list: its name is _tamis, or _tamis_GROUP. */
static void zsh_function(FILE *out, const cli_command *group, const cli_command *const *list)
{
    const char *suffix = group ? group->name : "", *low = group ? "_" : "";
    for (const cli_command *const *c = list; *c; c++)
        if ((*c)->members) zsh_function(out, *c, (*c)->members);
    fprintf(out, "_tamis%s%s() {\n    local curcontext=$curcontext state line\n    local -a common commands\n    common=(\n", low,
            suffix);
    zsh_options(out, cli_common_options, "        ");
    fputs("    )\n    commands=(\n", out);
    for (const cli_command *const *c = list; *c; c++) {
        fprintf(out, "        '%s:", cli_own_name(*c));
        zsh_text(out, (*c)->purpose);
        fputs("'\n", out);
    }
    fprintf(out,
            "%s    )\n    _arguments -C $common '1: :->command' '*:: :->argument'\n    case $state in\n"
            "    command) _describe command commands ;;\n    argument)\n        case $words[1] in\n%s",
            group ? "" : "        'help:explain a command'\n", group ? "" : "        help) _describe command commands ;;\n");
    for (; *list; list++) {
        if ((*list)->members) {
            fprintf(out, "        %s) _tamis_%s ;;\n", (*list)->name, (*list)->name);
            continue;
        }
        fprintf(out, "        %s)\n            local -a arguments=(\n", cli_own_name(*list));
        for (const cli_argument *o = (*list)->operands; o->name; o++) {
            fprintf(out, "                '%s:", o->more ? "*" : o->needed ? "" : ":");
            zsh_text(out, o->name);
            fputc(':', out);
            zsh_offer(out, o);
            fputs("'\n", out);
        }
        zsh_options(out, (*list)->options, "                ");
        fputs("            )\n            _arguments $common $arguments ;;\n", out);
    }
    fputs("        esac ;;\n    esac\n}\n", out);
}

void cli_completion_zsh(FILE *out)
{
    fputs("#compdef tamis\n", out);
    zsh_function(out, NULL, cli_commands);
    fputs("if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tamis \"$@\"; else compdef _tamis tamis; fi\n", out);
}

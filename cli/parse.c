/* From argv to a cli_call: getopt_long, fed from the table. Options may come before and after operands; the common
 * ones also before the command; after `--` everything is an operand.                                                */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

/* getopt's value of an option is this plus its place: the command's options first, then the common ones. */
#define FIRST_VALUE 256

typedef enum common { JSON, QUIET, HELP, VERSION } common; /* places in cli_common_options */

typedef struct option_list {
    struct option options[CLI_OPTIONS + 1];
    const char *names[CLI_OPTIONS + 1]; /* "scale" */
    int own;                            /* how many are the command's */
} option_list;

static void add_options(option_list *list, int *count, const cli_argument *options)
{
    for (; options->name; options++, ++*count) {
        list->options[*count] = (struct option){.name = options->name,
                                                .val = FIRST_VALUE + *count,
                                                .has_arg = options->value ? required_argument : no_argument};
        list->names[*count] = options->name;
    }
}

static option_list list_options(const cli_command *command)
{
    option_list list = {0};
    int count = 0;
    if (command) add_options(&list, &count, command->options);
    list.own = count;
    add_options(&list, &count, cli_common_options);
    return list;
}

const char *cli_value(const cli_call *call, const char *option)
{
    for (size_t i = 0; call->command->options[i].name; i++)
        if (strcmp(call->command->options[i].name, option) == 0) return call->values[i];
    return NULL;
}

bool cli_whole(int64_t *value, const char *text, int64_t least, int64_t most)
{
    tamis_number *number = NULL;
    char *exact = NULL, *end = NULL;
    *value = 0;
    if (tamis_number_read(&number, text, NULL) == TAMIS_OK && tamis_number_write(&exact, number, NULL) == TAMIS_OK &&
        strlen(exact) <= 18)
        *value = strtoll(exact, &end, 10);
    const bool right = end && *end == '\0' && *value >= least && *value <= most;
    tamis_free(exact);
    tamis_number_free(number);
    return right;
}

int cli_number(tamis_number **value, const cli_call *call, const char *option)
{
    tamis_error err = {0};
    const char *text = cli_value(call, option);
    *value = NULL;
    return !text || tamis_number_read(value, text, &err) == TAMIS_OK
               ? 0
               : cli_wrong_usage(call->command, "--%s: %s", option, err.message);
}

int cli_sizes(int64_t *population, int64_t *sample, const cli_call *call)
{
    const char *N = cli_value(call, "population"), *n = cli_value(call, "sample");
    if (!N || !cli_whole(population, N, 1, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--population needs a whole number from 1 to 2^40, such as 6194");
    if (!n || !cli_whole(sample, n, 1, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--sample needs a whole number, at least 1, such as 200");
    if (*sample > *population) return cli_wrong_usage(call->command, "--sample cannot be more than the --population");
    return 0;
}

/* 2GB, 500 MB, 1.5GB: powers of 1024, as a control group counts. */
static bool read_size(uint64_t *bytes, const char *text)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    char *end = NULL;
    const double number = strtod(text, &end);
    double worth = 1024;
    if (end == text || !(number > 0)) return false;
    while (*end == ' ') end++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++, worth *= 1024)
        if (strcasecmp(end, units[i]) == 0 && number * worth < 0x1p60) {
            *bytes = (uint64_t)(number * worth);
            return *bytes > 0;
        }
    return false;
}

int cli_resources(unsigned *threads, uint64_t *memory, const cli_call *call)
{
    const char *asked = cli_value(call, "threads"), *size = cli_value(call, "memory");
    int64_t number = 0;
    *threads = 0;
    *memory = 0;
    if (asked && !cli_whole(&number, asked, 1, 1024))
        return cli_wrong_usage(call->command, "--threads must be a whole number from 1 to 1024");
    if (size && !read_size(memory, size))
        return cli_wrong_usage(call->command, "--memory must be a size with its unit, such as 2GB or 500MB");
    *threads = (unsigned)number;
    return 0;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *word = choices; *word; word += strspn(word, " ")) {
        size_t size = strcspn(word, " ");
        if (size == length && strncmp(word, text, size) == 0) return true;
        word += size;
    }
    return false;
}

/* What getopt did not understand, in a clearer message than its own. */
static int wrong_option(const cli_command *command, const option_list *list, char **argv, int answer)
{
    const char *word = argv[optind - 1];
    if (answer == ':') return cli_wrong_usage(command, "%s needs a value", word);
    if (optopt >= FIRST_VALUE) return cli_wrong_usage(command, "--%s takes no value", list->names[optopt - FIRST_VALUE]);
    if (optopt != 0) return cli_wrong_usage(command, "unknown option -%c", optopt);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *meant = cli_nearest(name, list->names);
    if (meant) return cli_wrong_usage(command, "unknown option --%s; did you mean --%s?", name, meant);
    return cli_wrong_usage(command, "unknown option --%s", name);
}

typedef enum next { GO_ON, STOP } next;

/* Reads the options of argv up to the first operand (no command yet) or all of them. STOP: *code is the answer. */
static next read_options(int *code, cli_call *call, int argc, char **argv)
{
    const cli_command *command = call->command;
    option_list list = list_options(command);
    opterr = 0;
    optind = 0; /* glibc: start afresh */
    bool help = false, version = false;
    int answer;
    while ((answer = getopt_long(argc, argv, command && !command->members ? ":h" : "+:h", list.options, NULL)) != -1) {
        int place = answer == 'h' ? list.own + HELP : answer - FIRST_VALUE;
        if (place < 0) return *code = wrong_option(command, &list, argv, answer), STOP;
        if (place >= list.own) {
            switch ((common)(place - list.own)) {
            case JSON: call->json = true; break;
            case QUIET: call->quiet = true; break;
            case HELP: help = true; break;
            case VERSION: version = true; break;
            }
            continue;
        }
        const cli_argument *option = &command->options[place];
        if (call->values[place] && option->value)
            return *code = cli_wrong_usage(command, "duplicate option --%s", option->name), STOP;
        if (option->choices && !is_choice(option->choices, optarg)) {
            *code = cli_wrong_usage(command, "--%s cannot be '%s'; it is one of: %s", option->name, optarg, option->choices);
            return STOP;
        }
        /* A forgotten value takes the next option for itself; one that begins so is written --option=VALUE. */
        if (option->value && optarg == argv[optind - 1] && strncmp(optarg, "--", 2) == 0) {
            *code = cli_wrong_usage(command, "--%s needs a value, %s, but %s is an option; if it is the value, write --%s=%s",
                                    option->name, option->value, optarg, option->name, optarg);
            return STOP;
        }
        call->values[place] = option->value ? optarg : "";
    }
    if (help) {
        cli_help(stdout, command);
        return *code = cli_finish_output(), STOP;
    }
    if (version) return *code = cli_version(call->json), STOP;
    return GO_ON;
}

static next check_call(int *code, cli_call *call, char **operands, int count)
{
    const cli_command *command = call->command;
    int most = 0;
    for (const cli_argument *o = command->operands; o->name; o++, most++) {
        if (most >= count) {
            if (!o->needed) continue;
            return *code = cli_wrong_usage(command, "%s is missing", o->name), STOP;
        }
        if (o->choices && !is_choice(o->choices, operands[most]))
            return *code = cli_wrong_usage(command, "unknown '%s'; it is one of: %s", operands[most], o->choices), STOP;
        call->operands[most] = operands[most];
        if (o->more) {
            call->more = operands + most;
            call->more_count = count - most;
            count = most + 1;
        }
    }
    if (count > most) return *code = cli_wrong_usage(command, "unexpected argument '%s'", operands[most]), STOP;
    call->operand_count = count;
    for (size_t i = 0; command->options[i].name; i++)
        if (command->options[i].needed && !call->values[i])
            return *code = cli_wrong_usage(command, "--%s %s is missing", command->options[i].name, command->options[i].value),
                   STOP;
    return GO_ON;
}

/* Commands that people read about elsewhere and that this version does not have. */
static const char *const later[] = {"total", "mean", "audit", NULL};

/* In a group, or NULL. */
static int unknown_command(const cli_command *group, const char *name)
{
    for (size_t i = 0; !group && later[i]; i++)
        if (strcmp(later[i], name) == 0) return cli_wrong_usage(NULL, "the command '%s' is not in this version", name);
    const char *names[32] = {"help"};
    size_t count = group ? 0 : 1;
    for (const cli_command *const *c = group ? group->members : cli_commands; *c && count + 1 < sizeof names / sizeof *names; c++)
        names[count++] = cli_own_name(*c);
    names[count] = NULL;
    const char *before = group ? group->name : "", *space = group ? " " : "", *meant = cli_nearest(name, names);
    if (meant) return cli_wrong_usage(group, "unknown command '%s%s%s'; did you mean '%s'?", before, space, name, meant);
    return cli_wrong_usage(group, "unknown command '%s%s%s'", before, space, name);
}

/* "tamis help COMMAND" for those who try that first; and the pages that the build installs. */
static int help_about(char **topics, int count)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } pages[] = {{"man", cli_manual}, {"bash", cli_completion_bash}, {"zsh", cli_completion_zsh}};
    for (size_t i = 0; count == 1 && i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].name, topics[0]) == 0) {
            pages[i].write(stdout);
            return cli_finish_output();
        }
    const cli_command *command = NULL;
    for (int i = 0; i < count; i++) {
        const cli_command *group = command;
        if (group && !group->members) return cli_wrong_usage(NULL, "unexpected argument '%s'", topics[i]);
        command = cli_find(group ? group->members : cli_commands, topics[i]);
        if (!command) return unknown_command(group, topics[i]);
    }
    cli_help(stdout, command);
    return cli_finish_output();
}

/* Whether --json is among the arguments, also behind one that is wrong; getopt takes its beginning for it too. */
static bool asks_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strlen(argv[i]) > 2 && strncmp("--json", argv[i], strlen(argv[i])) == 0) return true;
    return false;
}

/* No command, or a group without one: the help says which there are. */
static int no_command(const cli_command *group, bool json)
{
    if (json)
        return cli_wrong_usage(group, group ? "'%s' needs a subcommand" : "%sa command is missing", group ? group->name : "");
    cli_help(stderr, group);
    return CLI_USAGE;
}

int cli_main(int argc, char **argv)
{
    cli_call call = {0};
    int code = 0;
    if (argc < 1) return CLI_USAGE;
    cli_errors_in_json(asks_json(argc, argv));
    int at = 0;
    do { /* common options, then the command, or its group and once more the same */
        if (read_options(&code, &call, argc - at, argv + at) == STOP) return code;
        at += optind;
        if (at >= argc) return no_command(call.command, call.json);
        const cli_command *group = call.command;
        if (!group && strcmp(argv[at], "help") == 0) return help_about(argv + at + 1, argc - at - 1);
        call.command = cli_find(group ? group->members : cli_commands, argv[at]);
        if (!call.command) return unknown_command(group, argv[at]);
    } while (call.command->members);
    if (read_options(&code, &call, argc - at, argv + at) == STOP) return code;
    cli_errors_in_json(call.json); /* "--json" may have been the value of an option */
    if (check_call(&code, &call, argv + at + optind, argc - at - optind) == STOP) return code;
    return call.command->run(&call);
}

int cli_shares(tamis_number ***list, size_t *count, const cli_call *call, const char *text)
{
    size_t most = 1;
    int code = 0;
    for (const char *c = text; *c; c++) most += *c == ',';
    char *copy = malloc(strlen(text) + 1);
    *count = 0;
    *list = calloc(most, sizeof **list);
    if (!copy || !*list) {
        free(copy);
        return cli_failed(&(tamis_error){.status = TAMIS_SYSTEM, .message = "out of memory"}, NULL);
    }
    strcpy(copy, text);
    for (char *part = copy, *next; code == 0 && part; part = next) {
        next = strchr(part, ',');
        if (next) *next++ = '\0';
        if (tamis_number_read(&(*list)[*count], part, NULL) == TAMIS_OK) ++*count;
        else code = cli_wrong_usage(call->command, "--at must be numbers between 0 and 1, such as 0.1,0.5,0.9");
    }
    free(copy);
    return code;
}

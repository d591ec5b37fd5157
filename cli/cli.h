/* The command line: one file per command, one table of commands.
 *
 * A cli_command says everything about itself: purpose, operands, options, examples. From these rows come `--help`, the
 * manual page, the completion of bash and zsh, and the parsing itself, so that none of them can forget an option.
 * A new command is a file with one row and its function, and a line in commands.c or in its group.
 *
 * Results go to stdout, everything else to stderr. A function that returns int returns an exit code: 0 done, 1 system,
 * 2 wrong usage, 3 invalid plan or data, 4 refused, 5 could not certify; all but 2 are the tamis_status. An error on the
 * command line itself, in form or in value, is 2, including an output folder that exists; 3 is about the plan and the
 * data.                                                                                                             */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <tamis/experimental.h>

#define CLI_USAGE 2
#define CLI_WIDTH 80   /* of the help; every line of it, examples included, fits */
#define CLI_OPTIONS 28 /* options of one command, the common ones included */
#define CLI_OPERANDS 4
#define CLI_EXAMPLES 8
#define CLI_ABOUT_PLANS \
    "docs/plan.md, installed as share/doc/tamis/plan.md, describes what a plan may contain; one to copy and change " \
    "is share/tamis/examples/api/plan.yaml. 'man tamis' has the full paths."

/* ---- the table ---- */

typedef enum cli_files { CLI_NO_FILES, CLI_PLANS, CLI_FOLDERS, CLI_ANY_FILES } cli_files; /* what completion offers */

/* An option, or an operand: then `name` is how it is written in the synopsis. Lists end with an empty one. */
typedef struct cli_argument {
    const char *name;    /* "scale" for --scale; "PLAN.yaml" for an operand */
    const char *value;   /* of an option: "P/Q"; NULL for a flag */
    const char *choices; /* "laplace gaussian": the only texts allowed; NULL: any */
    const char *help;
    cli_files files;
    bool needed;
    bool more; /* of the last operand: any number of them */
} cli_argument;

typedef struct cli_example {
    const char *line; /* for a shell; run by the tests beside examples/api/plan.yaml */
    const char *what; /* "five numbers with scale 10" */
} cli_example;

typedef struct cli_call cli_call;

typedef struct cli_command cli_command;

/* A command, or a group of them: then `members` lists them, each with the group's name before its own, "privacy srs", and
 * the group has neither operands nor options, examples or a function. */
struct cli_command {
    const char *name;
    const char *purpose; /* one line, without a full stop */
    const char *about;   /* paragraphs, separated by an empty line; one that begins with spaces is kept as it is */
    cli_argument operands[CLI_OPERANDS + 1], options[CLI_OPTIONS + 1]; /* each list ends with an empty one */
    cli_example examples[CLI_EXAMPLES + 1];
    int (*run)(const cli_call *call);
    const cli_command *const *members; /* ends with NULL */
};

extern const cli_command *const cli_commands[]; /* in the order of the help; ends with NULL */
extern const cli_argument cli_common_options[]; /* --json, --quiet, --help, --version */
extern const char *const cli_exit_codes[][2];   /* {"0", "done"}, ...; ends with NULL */

/* The command or group of that name in a list; NULL if there is none. cli_own_name: without the group's. */
const cli_command *cli_find(const cli_command *const *list, const char *name);
const char *cli_own_name(const cli_command *command);

/* ---- one call ---- */

struct cli_call {
    const cli_command *command;
    bool json, quiet;
    const char *values[CLI_OPTIONS]; /* by the option's place in command->options; use cli_value */
    const char *operands[CLI_OPERANDS];
    int operand_count;
    char *const *more; /* of an operand with `more`: all of them */
    int more_count;
};

/* The text given for an option, "" for a flag that was given, NULL for an option that was not. */
const char *cli_value(const cli_call *call, const char *option);

/* A whole number between the two, read exactly: 1e3 and 10/2 are whole. False if it is not one. */
bool cli_whole(int64_t *value, const char *text, int64_t least, int64_t most);

/* The exact number given for an option; NULL if the option was not given. Gives 0, or CLI_USAGE after saying what is wrong. */
int cli_number(tamis_number **value, const cli_call *call, const char *option);

/* The numbers of --at, "0.1,0.5,0.9". The caller frees them and the list, also after a failure. Gives 0 or the exit code. */
int cli_shares(tamis_number ***list, size_t *count, const cli_call *call, const char *text);

/* What the library says is wrong with a tamis_quantile_setup, said about the options of the same names. Gives CLI_USAGE. */
int cli_quantile_wrong(const cli_call *call, const tamis_error *err);

/* --population and --sample of a simple random sample, both needed, checked against each other. Gives 0 or CLI_USAGE. */
int cli_sizes(int64_t *population, int64_t *sample, const cli_call *call);

/* Parses and runs; gives the exit code of the process. */
int cli_main(int argc, char **argv);

/* Whether `path`, the option --out or its default, can be made as a new `kind` (file, folder): seen before anything is
 * read, because that is a matter of the command line. Says what is wrong; gives 0 or CLI_USAGE. */
int cli_check_new(const cli_call *call, const char *path, const char *what, const char *kind);

/* Where a file is that comes with tamis, share/tamis/NAME of an installation; false if it is missing. */
bool cli_find_shared(char path[PATH_MAX], const char *name);

/* ---- saying something on stderr ---- */

/* With --json what goes wrong is also one JSON object on stdout (tamis_error_json), under the code that goes with the exit code:
 * system, usage, invalid, refused or unable. On stdout it is alone: once a command has begun to write its result, which only
 * those do that write without end, an error is on stderr only. */
void cli_errors_in_json(bool json);
void cli_output_begins(void);

/* "tamis: message", and how to get help. Returns CLI_USAGE. */
int cli_wrong_usage(const cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The error's message, each line after "tamis: ". Lines that name a place in the plan `path` (NULL if there
 * is none) stay as they are, so that editors find the place; one about the data names the plan that asks for them. In JSON `path`
 * is the file of an error that names none, unless the system failed.
 * Returns the exit code that goes with the error. */
int cli_failed(const tamis_error *err, const char *path);

/* A remark or a warning; nothing with --quiet. */
void cli_remark(const cli_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name in the list (ends with NULL) that was probably meant; NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *names);

/* Escape sequences for a stream, empty unless it is a terminal and neither NO_COLOR nor TERM=dumb says otherwise. */
typedef struct cli_paint {
    const char *bold, *faint, *red, *plain;
} cli_paint;

cli_paint cli_paint_for(FILE *stream);

/* ---- files that are read ---- */

/* A file that a command was given, or a copy of what came through standard input ("-") or a pipe. */
typedef struct cli_input {
    const char *path, *shown; /* to be opened; to be named in messages */
    char folder[PATH_MAX], file[PATH_MAX + 32];
} cli_input;

/* Gives 0 or the exit code, after saying what is wrong. Close it whatever happens. */
int cli_input_open(cli_input *in, const cli_call *call, const char *given);
void cli_input_close(cli_input *in);

/* An error about the copy becomes one about what was given. */
void cli_input_name(const cli_input *in, tamis_error *err);

/* The plan of a command: from a file, or from standard input or a pipe, and then the files that it names are relative to the
 * current folder. --ledger, if the command has it, replaces the plan's ledger. */
tamis_status cli_plan_read(tamis_plan **plan, const cli_call *call, const char *path, tamis_error *err);
#define CLI_STDIN "standard input" /* the name of a plan that has none */
/* clang-format off */
#define CLI_LEDGER_OPTION                                                                                              \
    {"ledger", "FILE", .files = CLI_ANY_FILES, .help = "the ledger, in place of the one that the plan names"}
/* clang-format on */

/* "-": standard input where a file is read, standard output where one text is written (or /dev/stdout). */
bool cli_is_dash(const char *path);
bool cli_is_piped(const char *path); /* "-", or something that can be read only once */
bool cli_is_stdout(const char *path);

/* ---- stdout ---- */

/* Flushes stdout, and is the end of it. A reader that went away ends the command quietly, a full disk is an error; both give
 * exit code 1. */
int cli_finish_output(void);

/* Writes a text of the library to stdout, frees it, finishes. */
int cli_print(char *text);

/* ---- long work ---- */

/* The context of cli_progress_step, which is a tamis_progress: a bar with rows, speed and time left on stderr, if that
 * is a terminal and there is no --quiet; and Ctrl-C (or SIGTERM, SIGHUP) becomes the wish to stop. */
#define CLI_STOP_SIGNALS 3

typedef struct cli_progress {
    bool shown, blocks; /* blocks: the terminal reads UTF-8 */
    double start;       /* in seconds of a clock */
    double pass_start;  /* when a share was first reported; before, the source is only looked at */
    double last;        /* when something was drawn; 0 if never */
    struct sigaction old[CLI_STOP_SIGNALS];
} cli_progress;

void cli_progress_begin(cli_progress *progress, const cli_call *call);
int cli_progress_step(void *progress, double share, int64_t rows);
void cli_progress_end(cli_progress *progress); /* the bar disappears */

/* A step between two calls of the library: SYSTEM once the user wants to stop. */
tamis_status cli_go_on(cli_progress *progress, double share, tamis_error *err);

/* --threads and --memory of commands that read rows. Gives 0 or CLI_USAGE. */
/* clang-format off */
#define CLI_RESOURCE_OPTIONS                                                                                       \
    {"threads", "N", .help = "threads that read the rows; default: as many as there are processors"},              \
    {"memory", "SIZE",                                                                                              \
     .help = "memory that reading may take, such as 2GB or 500MB; default: three quarters of what the machine, or " \
             "the container that this runs in, has. PostgreSQL uses its own"}
/* clang-format on */
int cli_resources(unsigned *threads, uint64_t *memory, const cli_call *call);

/* --engine, whose names were checked with the command line. */
/* clang-format off */
#define CLI_ENGINE_OPTION                                              \
    {"engine", "NAME", .choices = "duckdb memory postgres readstat",   \
     .help = "what reads the rows; only CSV files allow a choice, duckdb or memory; default: what fits the source"}
/* clang-format on */
tamis_engine cli_engine(const cli_call *call);

/* Remarks that DuckDB is missing, if that is why another engine reads the rows of a plan. */
void cli_remark_engine(const cli_call *call, const tamis_plan *plan);

/* Prints a release that is made and in its folder. Gives the exit code. */
typedef int cli_tell_release(const cli_call *call, const tamis_release *release, const char *folder);

/* Releases the plan at `path` into `folder` (NULL: the plan's name and -release) and prints the result. Takes --engine
 * and --again from the call if the command has them. `ledger`: NULL: the plan's. `tell`: NULL: as `tamis release` does. */
int cli_release(const cli_call *call, const char *path, const char *folder, const char *ledger, cli_tell_release *tell);

/* ---- help, manual, completion ---- */

void cli_help(FILE *out, const cli_command *command); /* or of a group; NULL: of the whole program */
void cli_manual(FILE *out);                           /* tamis.1, for man */
void cli_completion_bash(FILE *out);
void cli_completion_zsh(FILE *out);

/* Text broken at spaces to fit CLI_WIDTH, every line behind `indent` spaces. */
void cli_paragraph(FILE *out, const char *text, int indent);

/* "--scale P/Q" */
const char *cli_written(char *room, size_t size, const cli_argument *option);

/* How a command is called: "PLAN.yaml --scale P/Q [options]". */
void cli_synopsis(FILE *out, const cli_command *command);

int cli_version(bool json);

#endif

/* tamis study: what to expect of releases, before there is one. */
#include "study.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern const cli_command cli_command_study_gain, cli_command_study_rate, cli_command_study_coverage, cli_command_study_bounds,
    cli_command_study_figure, cli_command_study_table, cli_command_study_allocation, cli_command_study_epsilon,
    cli_command_study_plan, cli_command_study_quantile;

static const struct {
    const char *option;
    tamis_study_form form;
} files[] = {{"svg", TAMIS_STUDY_SVG}, {"csv", TAMIS_STUDY_CSV}};

/* Whether a file can be written, before the work: nobody waits minutes for a picture that has no place. */
static int check_file(const cli_call *call, const char *option)
{
    const char *path = cli_value(call, option);
    if (!path) return 0;
    const int made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const int file = made < 0 && errno == EEXIST ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : made;
    if (file < 0 && errno == ENXIO) return 0; /* a pipe that nobody reads yet */
    if (file < 0) return cli_wrong_usage(call->command, "--%s: cannot write '%s': %s", option, path, strerror(errno));
    close(file);
    if (made >= 0) unlink(path);
    return 0;
}

int cli_study_options(tamis_study_options *options, cli_progress *progress, const cli_call *call)
{
    const char *runs = cli_value(call, "runs"), *seed = cli_value(call, "seed"), *threads = cli_value(call, "threads");
    int64_t number = 0;
    *options = (tamis_study_options){.size = sizeof *options, .watch = {cli_progress_step, progress}};
    if (runs && !cli_whole(&options->runs, runs, 1, 10000000))
        return cli_wrong_usage(call->command, "--runs must be a whole number from 1 to 10000000");
    if (seed && !cli_whole(&number, seed, 0, INT64_MAX))
        return cli_wrong_usage(call->command, "--seed must be a whole number from 0 to 2^63 - 1");
    options->seed = (uint64_t)number;
    if (threads && !cli_whole(&number, threads, 1, 64))
        return cli_wrong_usage(call->command, "--threads must be a whole number from 1 to 64");
    if (threads) options->threads = (unsigned)number;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const int code = check_file(call, files[i].option);
        if (code != 0) return code;
    }
    return 0;
}

int cli_study_write(const cli_call *call, const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file) return cli_wrong_usage(call->command, "cannot write '%s': %s", path, strerror(errno));
    bool wrong = fputs(text, file) < 0;
    wrong |= fclose(file) != 0;
    if (!wrong) return 0;
    tamis_error err = {.status = TAMIS_SYSTEM};
    snprintf(err.message, sizeof err.message, "cannot write '%.1000s': %s", path, strerror(errno));
    return cli_failed(&err, NULL);
}

/* The option that an error is about: its message begins with the name. What the values of a population are is no matter of the
 * command line. */
static const char *option_of(const cli_call *call, const tamis_error *err)
{
    const char *colon = strchr(err->message, ':');
    if (err->status != TAMIS_INVALID || !colon || strncmp(colon, ": all values", 12) == 0) return NULL;
    for (const cli_argument *o = call->command->options; o->name; o++)
        if (strlen(o->name) == (size_t)(colon - err->message) && strncmp(o->name, err->message, strlen(o->name)) == 0)
            return o->name;
    return NULL;
}

int cli_study_show(const cli_call *call, tamis_study *study, tamis_status status, const tamis_error *err, const char *path)
{
    int code = status == TAMIS_OK     ? 0
               : option_of(call, err) ? cli_wrong_usage(call->command, "--%s", err->message)
                                      : cli_failed(err, path);
    for (size_t i = 0; code == 0 && i < sizeof files / sizeof *files; i++) {
        const char *file = cli_value(call, files[i].option);
        const char *text = tamis_study_as(study, files[i].form);
        if (file && !text)
            fprintf(stderr, "tamis: --%s: there is nothing to show, so '%s' is not written\n", files[i].option, file);
        if (file && text) code = cli_study_write(call, file, text);
    }
    if (code == 0) {
        fputs(tamis_study_as(study, call->json ? TAMIS_STUDY_JSON : TAMIS_STUDY_TEXT), stdout);
        code = cli_finish_output();
    }
    tamis_study_free(study);
    return code;
}

static const cli_command *const members[] = {&cli_command_study_gain,
                                             &cli_command_study_rate,
                                             &cli_command_study_allocation,
                                             &cli_command_study_epsilon,
                                             &cli_command_study_plan,
                                             &cli_command_study_coverage,
                                             &cli_command_study_bounds,
                                             &cli_command_study_quantile,
                                             &cli_command_study_figure,
                                             &cli_command_study_table,
                                             NULL};

const cli_command cli_command_study = {
    .name = "study",
    .purpose = "what to expect: accuracy before anything is released",
    .about =
        "Answers a statistician's questions before any budget is spent, by formulas and by simulation: is it worth sampling, at "
        "which rate, with which mechanism, and how wrong will the published numbers be? Studies use public populations or "
        "guesses, never the data that a release is to protect. Nothing is published and no ledger is charged. docs/study.md "
        "leads from a question to a plan.",
    .members = members,
};

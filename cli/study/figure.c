/* tamis study figure and tamis study table: the paper's results, found again. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study.h"

/* The picture as PNG too, if rsvg-convert is installed; silently not, if it is not. */
static void write_png(const char *svg, const char *png)
{
    extern char **environ;
    const char *const arguments[] = {"rsvg-convert", "--zoom", "1.5", "--output", png, svg, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int state;
    if (posix_spawn_file_actions_init(&quiet) != 0) return;
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, arguments[0], &quiet, NULL, (char *const *)arguments, environ) == 0)
        while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    posix_spawn_file_actions_destroy(&quiet);
}

/* FOLDER/NAME.EXTENSION */
static int write_form(const cli_call *call, const char *folder, const char *name, const char *extension, const char *text)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s.%s", folder, name, extension) >= (int)sizeof path)
        return cli_wrong_usage(call->command, "--out: the name is too long");
    return cli_study_write(call, path, text);
}

static int write_files(const cli_call *call, const tamis_study *study, const char *name)
{
    const char *folder = cli_value(call, "out"), *svg = tamis_study_as(study, TAMIS_STUDY_SVG);
    if (!folder) return 0;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_wrong_usage(call->command, "--out: cannot make the folder '%s': %s", folder, strerror(errno));
    int code = write_form(call, folder, name, "csv", tamis_study_as(study, TAMIS_STUDY_CSV));
    if (code == 0 && svg) {
        char from[PATH_MAX], to[PATH_MAX];
        code = write_form(call, folder, name, "svg", svg);
        snprintf(from, sizeof from, "%s/%s.svg", folder, name);
        snprintf(to, sizeof to, "%s/%s.png", folder, name);
        if (code == 0) write_png(from, to);
    }
    return code;
}

static int show(const cli_call *call, tamis_study *study, tamis_status status, const tamis_error *err, const char *name)
{
    int code = status == TAMIS_OK ? write_files(call, study, name) : 0;
    if (code == 0) return cli_study_show(call, study, status, err, NULL);
    tamis_study_free(study);
    return code;
}

static int run_figure(const cli_call *call)
{
    cli_progress progress;
    tamis_study_options options;
    tamis_study *study = NULL;
    tamis_error err = {0};
    int64_t number;
    char name[32];
    if (!cli_whole(&number, call->operands[0], 1, TAMIS_STUDY_FIGURES))
        return cli_wrong_usage(call->command, "N must be a whole number from 1 to %d", TAMIS_STUDY_FIGURES);
    int code = cli_study_options(&options, &progress, call);
    if (code != 0) return code;
    cli_progress_begin(&progress, call);
    tamis_status status = tamis_study_figure(&study, (int)number, &options, &err);
    cli_progress_end(&progress);
    snprintf(name, sizeof name, "figure-%d", (int)number);
    return show(call, study, status, &err, name);
}

static int run_table(const cli_call *call)
{
    cli_progress progress;
    tamis_study_options options;
    tamis_study *study = NULL;
    tamis_error err = {0};
    int code = cli_study_options(&options, &progress, call);
    if (code != 0) return code;
    cli_progress_begin(&progress, call);
    tamis_status status = tamis_study_table(&study, &options, &err);
    cli_progress_end(&progress);
    return show(call, study, status, &err, "table-1");
}

const cli_command cli_command_study_figure = {
    .name = "study figure",
    .purpose = "a figure of the paper on gains from sampling, redrawn",
    .about = "Draws one of the thirteen figures of Hu, Drechsler and Kim, Accuracy Gains from Privacy Amplification Through "
             "Sampling, with "
             "the paper's settings and seeds of its own. Where the paper is wrong the corrected curve is drawn beside the "
             "printed one "
             "(docs/papers.md). --out writes figure-N.svg, the numbers as figure-N.csv and, where rsvg-convert is installed, "
             "figure-N.png.",
    .operands = {{"N", .needed = true, .help = "1 to 13"}},
    .options = {{"out", "FOLDER", .files = CLI_FOLDERS, .help = "where the files go; made if it is missing, files are replaced"},
                CLI_SIMULATION_OPTIONS},
    .examples = {{"tamis study figure 5 --out figures", "no gain for the mean, and where the paper saw one"}},
    .run = run_figure,
};

const cli_command cli_command_study_table = {
    .name = "study table",
    .purpose = "the table of the same paper: who gains from sampling",
    .about =
        "Reproduces Table 1 of the paper by simulation: for which epsilon a sample has a smaller error than the census. --out "
        "writes table-1.csv.",
    .options = {{"out", "FOLDER", .files = CLI_FOLDERS, .help = "where the file goes; made if it is missing, files are replaced"},
                CLI_SIMULATION_OPTIONS},
    .examples = {{"tamis study table --runs 20", "a first look"}},
    .run = run_table,
};

/* What the study commands share: options, and writing a finished study. */
#ifndef CLI_STUDY_STUDY_H
#define CLI_STUDY_STUDY_H

#include "guarantee.h"

/* clang-format off */
#define CLI_SIMULATION_OPTIONS                                                                      \
    {"runs", "R", .help = "number of simulated samples"},                                           \
    {"seed", "S", .help = "another seed simulates other samples; default: 0"},                      \
    {"threads", "T", .help = "samples processed at the same time; default: the number of cores"}

#define CLI_PICTURE_OPTIONS                                                                         \
    {"svg", "FILE", .help = "also write a picture; replaces FILE"},                                 \
    {"csv", "FILE", .help = "also write the numbers as CSV; replaces FILE"}
/* clang-format on */

/* --runs, --seed and --threads, where the command has them; and whether the files of --svg and --csv can be written. Gives 0 or
 * CLI_USAGE. The watch of the options is the progress bar, which the caller begins and ends. */
int cli_study_options(tamis_study_options *options, cli_progress *progress, const cli_call *call);

/* Prints the study, as text or with --json, writes the files of --svg and --csv, frees it. If `status` is not OK, reports `err`
 * about `path` (NULL: no file) instead. Gives the exit code. */
int cli_study_show(const cli_call *call, tamis_study *study, tamis_status status, const tamis_error *err, const char *path);

/* Writes a text to a file, which it replaces. Gives 0, or the exit code after saying what is wrong. */
int cli_study_write(const cli_call *call, const char *path, const char *text);

#endif

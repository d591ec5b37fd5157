/* tamis study allocation */
#include "study.h"

static int run_allocation(const cli_call *call)
{
    const char *sample = cli_value(call, "sample"), *least = cli_value(call, "least");
    tamis_study_strata strata = {.size = sizeof strata, .path = call->operands[0], .least = 2};
    tamis_study_options options;
    cli_progress progress;
    tamis_number *eps = NULL;
    tamis_study *study = NULL;
    tamis_error err = {0};
    if (!cli_whole(&strata.sample, sample, 1, 100000000))
        return cli_wrong_usage(call->command, "--sample must be a whole number from 1 to 100000000");
    if (least && !cli_whole(&strata.least, least, 1, 100000000))
        return cli_wrong_usage(call->command, "--least must be a whole number from 1 to 100000000");
    int code = cli_number(&eps, call, "epsilon");
    if (code == 0) code = cli_study_options(&options, &progress, call);
    if (code == 0) {
        strata.eps = eps;
        cli_progress_begin(&progress, call);
        tamis_status status = tamis_study_allocation(&study, &strata, &options, &err);
        cli_progress_end(&progress);
        code = cli_study_show(call, study, status, &err, strata.path);
    }
    tamis_number_free(eps);
    return code;
}

const cli_command cli_command_study_allocation = {
    .name = "study allocation",
    .purpose = "allocation to strata under privacy, and Neyman's",
    .about =
        "Allocates a sample to strata so that the mean has the smallest standard error, sampling and noise together: the best "
        "integers, once if it is known who was sampled and once if the sample is secret. Beside them Neyman's, which look at "
        "the sampling error alone.\n\n"
        "STRATA.csv has one row per stratum and the columns stratum, population, sd, from, to: the number of units, a public "
        "guess of the standard deviation, and the declared range.",
    .operands = {{"STRATA.csv", .files = CLI_ANY_FILES, .needed = true, .help = "the strata"}},
    .options = {{"sample", "N", .needed = true, .help = "units in all strata together"},
                {"epsilon", "E", .needed = true, .help = "promised to everybody"},
                {"least", "M", .help = "at least this many of each stratum, or all of it; default: 2"},
                CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study allocation strata.csv --sample 200 --epsilon 1", "schools by type"}},
    .run = run_allocation,
};

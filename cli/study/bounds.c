/* tamis study bounds: which ranges a plan should have. */
#include "study.h"

static int run(const cli_call *call)
{
    const char *path = call->operands[0];
    const tamis_study_ranges ranges = {.size = sizeof ranges,
                                       .population = cli_value(call, "population"),
                                       .column = cli_value(call, "column")};
    tamis_study_options options;
    cli_progress progress;
    tamis_plan *plan = NULL;
    tamis_study *study = NULL;
    tamis_error err = {0};
    int code = cli_study_options(&options, &progress, call);
    if (code != 0) return code;
    tamis_status status = tamis_plan_read(&plan, path, &err);
    cli_progress_begin(&progress, call);
    if (status == TAMIS_OK) status = tamis_study_bounds(&study, plan, &ranges, &options, &err);
    cli_progress_end(&progress);
    code = cli_study_show(call, study, status, &err, path);
    tamis_plan_free(plan);
    return code;
}

extern const cli_command cli_command_study_bounds;
const cli_command cli_command_study_bounds = {
    .name = "study bounds",
    .purpose = "which ranges the numbers of a plan should have",
    .about = "Tries narrower and wider ranges for each number that statistics of the plan add up. A narrower range costs less "
             "noise, and clamps more values: the noise follows from the plan with that range, the bias from a public population. "
             "Reports for each column the range with the smallest error (noise, sampling error and bias together), what it would "
             "gain and what the bias would be, and all ranges that were tried.\n\n"
             "Use a public population only, such as a register, an older wave that was released or another country's survey: a "
             "range chosen by looking at the data that a release is to protect would reveal something about them. The plan's "
             "source is "
             "not read, nothing is published and no ledger is charged. Bounds by stratum are left as they are.",
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true, .help = "the plan: ranges, statistics, design, epsilon"}},
    .options = {{"population", "FILE", .files = CLI_ANY_FILES, .needed = true,
                 .help = "a .csv or .parquet file with one row per unit, or with rows of units as `rows_per_unit` allows"},
                {"column", "NAME", .help = "study this number only"},
                CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study bounds study.yaml --population apisrs.csv", "are the ranges of this plan too wide?"}},
    .run = run,
};

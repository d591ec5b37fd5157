/* tamis study bounds: which ranges a plan should have. */
#include "guarantee.h"

static int run(const cli_call *call)
{
    const char *path = call->operands[0];
    cli_progress progress;
    const tamis_bounds_options options = {.population = cli_value(call, "population"),
                                          .column = cli_value(call, "column"),
                                          .watch = {cli_progress_step, &progress}};
    tamis_error err = {0};
    tamis_plan *plan = NULL;
    tamis_bounds_study *study = NULL;
    char *text = NULL, *picture = NULL;
    cli_svg svg;
    int code = cli_svg_open(&svg, call);
    if (code != 0) return code;
    tamis_status status = tamis_plan_read(&plan, path, &err);
    if (status == TAMIS_OK) {
        cli_progress_begin(&progress, call);
        status = tamis_bounds_study_new(&study, plan, &options, &err);
        cli_progress_end(&progress);
    }
    if (status == TAMIS_OK) status = (call->json ? tamis_bounds_study_json : tamis_bounds_study_text)(&text, study, &err);
    if (status == TAMIS_OK && svg.file) status = tamis_bounds_study_svg(&picture, study, &err);
    if (picture) status = cli_svg_take(&svg, picture, &err);
    cli_svg_close(&svg);
    tamis_bounds_study_free(study);
    tamis_plan_free(plan);
    if (status == TAMIS_OK) return cli_print(text);
    tamis_free(text);
    return cli_failed(&err, path);
}

extern const cli_command cli_command_study_bounds;
const cli_command cli_command_study_bounds = {
    .name = "study bounds",
    .purpose = "which ranges the numbers of a plan should have",
    .about =
        "Tries narrower and wider ranges for each number that statistics of the plan add up. A narrower range costs less "
        "noise, and clamps more values: the noise follows from the plan with that range, the bias from a public population. "
        "Reports for each column the range with the smallest error (noise, sampling error and bias together), what it would "
        "gain and what the bias would be, and all ranges that were tried.\n\n"
        "Use a public population only, such as a register, an older wave that was released or another country's survey: a "
        "range chosen by looking at the data that a release is to protect would reveal something of them. The plan's source is "
        "not read, nothing is published and no ledger is charged. Bounds by stratum are left as they are.",
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true, .help = "the plan: ranges, statistics, design, epsilon"}},
    .options = {{"population", "FILE", .files = CLI_ANY_FILES, .needed = true,
                 .help = "a .csv or .parquet file with one row per unit, or with rows of units as `rows_per_unit` allows"},
                {"column", "NAME", .help = "study this number only"},
                {"svg", "FILE", .help = "also write a picture of the errors against the width of the range; replaces FILE"}},
    .examples = {{"tamis study bounds study.yaml --population apisrs.csv", "are the ranges of this plan too wide?"}},
    .run = run,
};

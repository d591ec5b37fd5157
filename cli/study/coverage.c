/* tamis study coverage */
#include "guarantee.h"

static int run_coverage(const cli_call *call)
{
    const char *path = call->operands[0], *runs = cli_value(call, "runs"), *threads = cli_value(call, "threads"),
               *drawing = cli_value(call, "drawn-by");
    cli_progress progress;
    tamis_coverage_options options = {.population = cli_value(call, "population"),
                                      .size = cli_value(call, "size"),
                                      .response = cli_value(call, "response"),
                                      .watch = {cli_progress_step, &progress}};
    tamis_error err = {0};
    tamis_plan *plan = NULL, *drawn_by = NULL;
    tamis_coverage *study = NULL;
    char *text = NULL, *picture = NULL;
    cli_svg svg;
    int64_t cores = 0;
    if (runs && !cli_whole(&options.runs, runs, 1, 1000000))
        return cli_wrong_usage(call->command, "--runs must be a whole number from 1 to 1000000");
    if (threads && !cli_whole(&cores, threads, 1, 64))
        return cli_wrong_usage(call->command, "--threads must be a whole number from 1 to 64");
    options.threads = (unsigned)cores;
    int code = cli_svg_open(&svg, call);
    if (code != 0) return code;
    tamis_status status = tamis_plan_read(&plan, path, &err);
    if (status == TAMIS_OK && drawing) status = tamis_plan_read(&drawn_by, drawing, &err);
    options.drawn_by = drawn_by;
    if (status == TAMIS_OK) {
        cli_progress_begin(&progress, call);
        status = tamis_coverage_new(&study, plan, &options, &err);
        cli_progress_end(&progress);
    }
    if (status == TAMIS_OK) status = (call->json ? tamis_coverage_json : tamis_coverage_text)(&text, study, &err);
    if (status == TAMIS_OK && svg.file) status = tamis_coverage_svg(&picture, study, &err);
    if (picture) status = cli_svg_take(&svg, picture, &err);
    cli_svg_close(&svg);
    tamis_coverage_free(study);
    tamis_plan_free(plan);
    tamis_plan_free(drawn_by);
    if (status == TAMIS_OK) return cli_print(text);
    tamis_free(text);
    return cli_failed(&err, path);
}

const cli_command cli_command_study_coverage = {
    .name = "study coverage",
    .purpose = "how often the intervals of a plan cover the true value",
    .about = "Draws samples from a public population by the plan's design. Each sample is released with noise, by the same code "
             "as every release, and estimated without protection. Reports how often each of the two intervals covers the "
             "population's value (of values clamped to the plan's bounds), with its Monte Carlo error.\n\n"
             "The plan's source is not read. Nothing is published and no ledger is charged. Use a public population only: never "
             "study the sample or the frame that a release is to protect.\n\n"
             "A coverage is marked too low only if exact tests, at level 0.01 over the whole table, find it below the stated "
             "confidence and below that of the unprotected interval of the same samples. The bias from clamping is reported too, "
             "in standard errors.\n\n"
             "Without --runs there are 2000 samples, or 10000 if some coverage is so low that its own test rejects at level "
             "0.01. Designs: srs, "
             "systematic, bernoulli, pps, cluster, two_stage, with or without strata. A plan with `weights` needs --drawn-by, a "
             "plan whose design draws the samples; its weight column then contains one over the inclusion probability. A plan "
             "with `nonresponse: yes` needs --response. docs/coverage.md has results.",
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true, .help = "the plan to study: design, statistics, epsilon"}},
    .options = {{"population", "FILE", .files = CLI_ANY_FILES, .needed = true,
                 .help = "a .csv or .parquet file with one row per unit, or with rows of units as `rows_per_unit` allows"},
                {"size", "COLUMN", .help = "sizes that the probabilities of a pps design are proportional to"},
                {"response", "COLUMN", .help = "probabilities that a sampled unit responds, for `nonresponse: yes`"},
                {"drawn-by", "PLAN.yaml", .files = CLI_PLANS,
                 .help = "the plan whose design draws the samples; default: PLAN.yaml"},
                {"runs", "R", .help = "number of samples to draw"},
                {"threads", "T", .help = "samples processed at the same time; default: the number of cores"},
                {"svg", "FILE", .help = "also write a picture of the coverages with their errors; replaces FILE"}},
    .examples = {{"tamis study coverage study.yaml --population apisrs.csv --runs 20", "twenty samples, for a first look"}},
    .run = run_coverage,
};

/* tamis study epsilon, tamis study plan and tamis study coverage: the errors of a plan, and how often its intervals are right. */
#include "study.h"

static int run_epsilon(const cli_call *call)
{
    const char *path = call->operands[0];
    cli_progress progress;
    tamis_study_errors errors = {.size = sizeof errors,
                                 .list = (const char *const *)call->more,
                                 .count = (size_t)call->more_count};
    tamis_study_options options;
    tamis_number *share = NULL;
    tamis_plan *plan = NULL;
    tamis_study *study = NULL;
    tamis_error err = {0};
    int code = cli_number(&share, call, "error");
    if (code == 0 && call->more_count == 0 && !share)
        code = cli_wrong_usage(call->command, "which error may the statistics have? --error SHARE, or STATISTIC=ERROR");
    if (code == 0) code = cli_study_options(&options, &progress, call);
    if (code == 0) {
        tamis_status status = tamis_plan_read(&plan, path, &err);
        errors.share = share;
        cli_progress_begin(&progress, call);
        if (status == TAMIS_OK) status = tamis_study_epsilon(&study, plan, &errors, &options, &err);
        cli_progress_end(&progress);
        code = cli_study_show(call, study, status, &err, path);
    }
    tamis_plan_free(plan);
    tamis_number_free(share);
    return code;
}

typedef tamis_status make(tamis_study **study, const tamis_plan *plan, const tamis_study_samples *samples,
                          const tamis_study_options *options, tamis_error *err);

/* A study of samples that are drawn by the design of a plan. */
static int run_samples(const cli_call *call, make *make_study)
{
    const char *path = call->operands[0], *drawing = cli_value(call, "drawn-by");
    tamis_study_samples samples = {.size = sizeof samples,
                                   .population = cli_value(call, "population"),
                                   .sizes = cli_value(call, "size"),
                                   .response = cli_value(call, "response")};
    tamis_study_options options;
    cli_progress progress;
    tamis_plan *plan = NULL, *drawn_by = NULL;
    tamis_study *study = NULL;
    tamis_error err = {0};
    int code = cli_study_options(&options, &progress, call);
    if (code != 0) return code;
    tamis_status status = tamis_plan_read(&plan, path, &err);
    if (status == TAMIS_OK && drawing) status = tamis_plan_read(&drawn_by, drawing, &err);
    samples.drawn_by = drawn_by;
    cli_progress_begin(&progress, call);
    if (status == TAMIS_OK) status = make_study(&study, plan, &samples, &options, &err);
    cli_progress_end(&progress);
    code = cli_study_show(call, study, status, &err, path);
    tamis_plan_free(plan);
    tamis_plan_free(drawn_by);
    return code;
}

static int run_plan(const cli_call *call) { return run_samples(call, tamis_study_plan); }
static int run_coverage(const cli_call *call) { return run_samples(call, tamis_study_coverage); }

const cli_command cli_command_study_epsilon = {
    .name = "study epsilon",
    .purpose = "the smallest budget that reaches stated errors",
    .about =
        "Finds the smallest epsilon (or rho) at which every statistic of a plan is expected to have at most the stated standard "
        "error, sampling and noise together, and shows what each halving of it costs. Expected errors are those of `tamis "
        "check`: formulas, with the plan's guesses (`typical`). No data are read and no ledger is charged.\n\n"
        "STATISTIC is written as in the table of this command: \"mean income\", \"total enroll by stype\"; of groups the "
        "largest error counts.",
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true, .help = "the plan; its epsilon is where the search begins"},
                 {"STATISTIC=ERROR", .more = true, .help = "a statistic and the standard error that it may have"}},
    .options = {{"error", "SHARE", .help = "the same for all statistics, relative to their expected size: 0.1 is 10 %"},
                CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study epsilon plan.yaml \"mean api00=20\"", "schools of California"},
                 {"tamis study epsilon plan.yaml --error 0.5", "every number to within a half"}},
    .run = run_epsilon,
};

const cli_command cli_command_study_plan = {
    .name = "study plan",
    .purpose = "the expected error of every statistic of a plan",
    .about =
        "Shows how wrong each number of a plan will be: noise, sampling error and both, by the formulas of `tamis check`; and, "
        "with "
        "--population, the error of simulated releases: samples of a public population, drawn by the plan's design and released "
        "by the code that makes every release. Without --population the simulation is made if --runs asks for it, or if a "
        "number has no formula, on a population made up from the plan's guesses.\n\n"
        "Nothing is published and no ledger is charged. Use a public population only. The noise is that of releases, which "
        "no seed repeats; --seed is that of the population that is made up.",
    .operands = {{"PLAN.yaml", .files = CLI_PLANS, .needed = true, .help = "the plan to study"}},
    .options =
        {{"population", "FILE", .files = CLI_ANY_FILES, .help = "a .csv or .parquet file with one row per unit"},
         {"size", "COLUMN",
          .help = "sizes that the probabilities of a pps design are proportional to; of clusters the number of their units, "
                  "unless it is given"},
         {"response", "COLUMN", .help = "probabilities that a sampled unit responds, for `nonresponse: yes`"},
         {"drawn-by", "PLAN.yaml", .files = CLI_PLANS, .help = "the plan whose design draws the samples; default: PLAN.yaml"},
         CLI_SIMULATION_OPTIONS,
         CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study plan plan.yaml", "by formulas"},
                 {"tamis study plan study.yaml --population apisrs.csv --runs 20", "and by twenty simulated releases"}},
    .run = run_plan,
};

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
    .options =
        {{"population", "FILE", .files = CLI_ANY_FILES, .needed = true,
          .help = "a .csv or .parquet file with one row per unit, or with rows of units as `rows_per_unit` allows"},
         {"size", "COLUMN",
          .help = "sizes that the probabilities of a pps design are proportional to; of clusters the number of their units, "
                  "unless it is given"},
         {"response", "COLUMN", .help = "probabilities that a sampled unit responds, for `nonresponse: yes`"},
         {"drawn-by", "PLAN.yaml", .files = CLI_PLANS, .help = "the plan whose design draws the samples; default: PLAN.yaml"},
         {"runs", "R", .help = "number of samples to draw"},
         {"threads", "T", .help = "samples processed at the same time; default: the number of cores"},
         CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study coverage study.yaml --population apisrs.csv --runs 20", "twenty samples, for a first look"}},
    .run = run_coverage,
};

/* tamis study gain and tamis study rate: is it worth sampling? */
#include <stdlib.h>
#include <string.h>

#include "study.h"

typedef struct asked {
    tamis_study_question question;
    tamis_number *eps, *delta, *sd, *from, *to, *rate, *step, **at;
    size_t at_count;
    char *range; /* the text of --range, cut at the colon */
} asked;

static void clear(asked *a)
{
    tamis_number *const all[] = {a->eps, a->delta, a->sd, a->from, a->to, a->rate, a->step};
    for (size_t i = 0; i < a->at_count; i++) tamis_number_free(a->at[i]);
    free(a->at);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    free(a->range);
}

/* "0:1" */
static int read_range(asked *a, const cli_call *call)
{
    const char *text = cli_value(call, "range"), *colon = text ? strchr(text, ':') : NULL;
    tamis_error err;
    if (!text) return 0;
    a->range = strdup(text);
    if (!a->range) return cli_wrong_usage(call->command, "out of memory");
    if (colon) a->range[colon - text] = '\0';
    if (!colon || tamis_number_read(&a->from, a->range, &err) != TAMIS_OK ||
        tamis_number_read(&a->to, colon + 1, &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--range must be two finite numbers, as in 0:1000");
    return 0;
}

static int read_question(asked *a, const cli_call *call)
{
    const char *size = cli_value(call, "population"), *statistic = cli_value(call, "statistic"), *at = cli_value(call, "at"),
               *groups = cli_value(call, "groups");
    tamis_study_question *q = &a->question;
    *a = (asked){.question = {.size = sizeof a->question}};
    int code = cli_number(&a->eps, call, "epsilon");
    if (code == 0) code = cli_number(&a->delta, call, "delta");
    if (code == 0) code = cli_number(&a->sd, call, "sd");
    if (code == 0) code = cli_number(&a->rate, call, "rate");
    if (code == 0) code = cli_number(&a->step, call, "step");
    if (code == 0 && at) code = cli_shares(&a->at, &a->at_count, call, at);
    if (code == 0 && groups && !cli_whole(&q->groups, groups, 1, 1000000))
        code = cli_wrong_usage(call->command, "--groups must be a whole number from 1 to 1000000");
    if (code == 0 && at && statistic && strcmp(statistic, "quantile") != 0)
        code = cli_wrong_usage(call->command, "--at is for --statistic quantile");
    if (code == 0 && !at && statistic && strcmp(statistic, "quantile") == 0)
        code = cli_wrong_usage(call->command, "--at is missing: which quantiles, as in --at 0.1,0.5,0.9");
    if (code == 0) code = read_range(a, call);
    if (code == 0 && size && !cli_whole(&q->population.size, size, 1, 4000000000))
        code = cli_wrong_usage(call->command, "--population must be a whole number from 1 to 4000000000");
    q->statistic = at                                             ? TAMIS_STUDY_QUANTILE
                   : !statistic || strcmp(statistic, "mean") == 0 ? TAMIS_STUDY_MEAN
                   : strcmp(statistic, "total") == 0              ? TAMIS_STUDY_TOTAL
                                                                  : TAMIS_STUDY_MEDIAN;
    q->population.values = cli_value(call, "values");
    q->population.column = cli_value(call, "column");
    q->population.from = a->from;
    q->population.to = a->to;
    q->population.sd = a->sd;
    q->eps = a->eps;
    q->delta = a->delta;
    q->mechanism = cli_value(call, "mechanism");
    q->at = (const tamis_number *const *)a->at;
    q->at_count = a->at_count;
    q->step = a->step;
    q->rate = a->rate;
    return code;
}

static int run(const cli_call *call, bool all_rates)
{
    asked a;
    cli_progress progress;
    tamis_study_options options;
    tamis_study *study = NULL;
    tamis_error err = {0};
    int code = read_question(&a, call);
    if (code == 0) code = cli_study_options(&options, &progress, call);
    if (code == 0) {
        cli_progress_begin(&progress, call);
        tamis_status status = all_rates ? tamis_study_best_rate(&study, &a.question, &options, &err)
                                        : tamis_study_gain(&study, &a.question, &options, &err);
        cli_progress_end(&progress);
        code = cli_study_show(call, study, status, &err, NULL);
    }
    clear(&a);
    return code;
}

static int run_gain(const cli_call *call) { return run(call, false); }
static int run_rate(const cli_call *call) { return run(call, true); }

/* clang-format off */
#define QUESTION_OPTIONS                                                                                                     \
    {"statistic", "NAME", .choices = "mean total median quantile",                                                           \
     .help = "mean, total, median or, with --at, quantile; default: mean"},                                                  \
    {"at", "Q,Q...", .help = "which quantiles, ascending; they share epsilon"},                                              \
    {"groups", "G", .help = "of a median or quantiles: in each of G groups, between which a row may move"},                  \
    {"step", "X", .help = "of the grid on which a release finds quantiles; default: a ten thousandth of the range"},         \
    {"epsilon", "E", .needed = true, .help = "promised to everybody in the population"},                                     \
    {"delta", "D", .help = "default: 0; Gaussian noise, smooth and prefix need one"},                                    \
    {"range", "FROM:TO", .needed = true, .help = "declared bounds; values are clamped to them"},                             \
    {"population", "N", .help = "number of people; default: 10001, or the rows of a file"},                                  \
    {"sd", "SD", .help = "standard deviation: enough for a mean or a total"},                                                \
    {"values", "WHAT", .files = CLI_ANY_FILES,                                                                               \
     .help = "a public population: beta:A,B, lognormal:MU,SIGMA, normal:MEAN,SD, uniform, bimodal, "                         \
             "quantiles:0=MIN,0.5=MEDIAN,1=MAX, FILE.csv, FILE.parquet, or the release.json of an earlier wave"},            \
    {"column", "NAME", .help = "of the file that --values names"},                                                           \
    {"mechanism", "NAME",                                                                                                    \
     .choices = "laplace gaussian inverse smooth smooth-paper counts smooth-pure threshold joint split tree prefix",         \
     .help = "only laplace, gaussian, inverse, smooth, smooth-paper or counts, or one of a release: smooth-pure, threshold, "  \
             "joint, split, tree or prefix"}
/* clang-format on */

#define ABOUT_MECHANISMS \
    "laplace and gaussian (discrete Gaussian noise) are calibrated with the global sensitivity; inverse is the inverse " \
    "sensitivity mechanism; smooth is Laplace noise for the smooth sensitivity, in the best calibration that its exact " \
    "privacy allows, and smooth-paper in the usual one, whose promise fails for large epsilon; counts is read off 100 noisy " \
    "counts. The others are those of a release, by its own code on a grid: smooth-pure (smooth sensitivity without a delta), " \
    "threshold, joint and split (several quantiles), tree, and prefix with the rho that epsilon and delta allow."

const cli_command cli_command_study_gain = {
    .name = "study gain",
    .purpose = "is it worth sampling? every mechanism and setting",
    .about =
        "Compares three settings under the same promise to everybody: the census; a sample of which it is known who is in it, "
        "and which may spend epsilon; and a secret sample, which may spend log(1 + (e^epsilon - 1)/rate). The standard error "
        "is that of the published number: sampling and noise.\n\n" ABOUT_MECHANISMS
        "\n\nErrors follow from formulas where there are some; the others are simulated, with their Monte Carlo error.",
    .options = {QUESTION_OPTIONS,
                {"rate", "R", .help = "sampling rate, above 0 and at most 1; default: 0.1"},
                CLI_SIMULATION_OPTIONS,
                CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study gain --epsilon 0.1 --range 0:1 --sd 0.2 --population 10001", "a mean"}},
    .run = run_gain,
};

const cli_command cli_command_study_rate = {
    .name = "study rate",
    .purpose = "the best sampling rate for a statistic",
    .about =
        "Computes the error of the published number, sampling and noise, at sampling rates from 1 % to 100 %, for a secret "
        "sample "
        "and the same promise to everybody, and says which rate is best. A rate is recommended only if it beats the census by "
        "more than three Monte Carlo standard errors. The picture has a band of two of them.\n\n" ABOUT_MECHANISMS,
    .options = {QUESTION_OPTIONS, CLI_SIMULATION_OPTIONS, CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study rate --epsilon 1 --range 0:1 --sd 0.2 --population 5000", "a mean"}},
    .run = run_rate,
};

/* tamis study quantile: which method for quantiles. */
#include <stdlib.h>
#include <string.h>

#include "study.h"

/* Grid, quantiles and loss as one method sees them, before a population is read; delta and bins where they belong. */
static int check(const cli_call *call, const tamis_quantile_setup *asked)
{
    static const tamis_quantile_method methods[] = {TAMIS_QUANTILE_INVERSE, TAMIS_QUANTILE_SMOOTH, TAMIS_QUANTILE_HISTOGRAM,
                                                    TAMIS_QUANTILE_TREE};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        tamis_quantile_setup what = *asked;
        tamis_quantile *quantile;
        tamis_error err = {0};
        what.method = methods[i];
        if (what.method == TAMIS_QUANTILE_SMOOTH && (!what.delta || what.add_remove)) continue;
        if (what.method != TAMIS_QUANTILE_SMOOTH) what.delta = NULL;
        if (what.method == TAMIS_QUANTILE_INVERSE || what.method == TAMIS_QUANTILE_SMOOTH) what.bins = 0;
        if (tamis_quantile_new(&quantile, &what, &err) != TAMIS_OK)
            return err.status == TAMIS_INVALID ? cli_quantile_wrong(call, &err) : cli_failed(&err, NULL);
        tamis_quantile_free(quantile);
    }
    return 0;
}

enum { FROM, TO, STEP, EPSILON, DELTA, LOG_UNIT, NUMBERS };

static int run_quantile(const cli_call *call)
{
    static const char *const options[NUMBERS] = {"from", "to", "step", "epsilon", "delta", "log-unit"};
    const char *at = cli_value(call, "at"), *rows = cli_value(call, "rows"), *bins = cli_value(call, "bins"),
               *relation = cli_value(call, "neighbours"), *file = cli_value(call, "population"), *law = cli_value(call, "values");
    tamis_number *numbers[NUMBERS] = {0}, **list = NULL;
    tamis_study_options how;
    tamis_study *study = NULL;
    tamis_error err = {0};
    cli_progress progress;
    size_t count = 0;
    int code = 0;
    for (size_t i = 0; i < NUMBERS && code == 0; i++) code = cli_number(&numbers[i], call, options[i]);
    if (code == 0 && !numbers[STEP] && tamis_number_read(&numbers[STEP], "1", NULL) != TAMIS_OK) code = TAMIS_SYSTEM;
    if (code == 0) code = cli_shares(&list, &count, call, at ? at : "0.25,0.5,0.75");
    if (code == 0) code = cli_study_options(&how, &progress, call);
    tamis_study_quantiles asked = {.size = sizeof asked,
                                   .population = {.values = file ? file : law, .column = cli_value(call, "column")},
                                   .what = {.from = numbers[FROM],
                                            .to = numbers[TO],
                                            .step = numbers[STEP],
                                            .at = (const tamis_number *const *)list,
                                            .at_count = count,
                                            .epsilon = numbers[EPSILON],
                                            .delta = numbers[DELTA],
                                            .log_unit = numbers[LOG_UNIT],
                                            .complete = cli_value(call, "complete") != NULL,
                                            .add_remove = relation && strcmp(relation, "add_remove") == 0}};
    if (code == 0 && !file == !law) code = cli_wrong_usage(call->command, "either --values LAW or --population FILE is needed");
    if (code == 0 && file && !asked.population.column)
        code = cli_wrong_usage(call->command, "--column is needed with --population");
    if (code == 0 && law && asked.population.column)
        code = cli_wrong_usage(call->command, "--column is for a file, named by --population");
    if (code == 0 && rows && !cli_whole(&asked.rows, rows, 1, 1000000))
        code = cli_wrong_usage(call->command, "--rows must be a whole number from 1 to 1000000");
    if (code == 0 && bins && !cli_whole(&asked.what.bins, bins, 1, TAMIS_BINS))
        code = cli_wrong_usage(call->command, "--bins must be a whole number from 1 to %d", TAMIS_BINS);
    if (code == 0) code = check(call, &asked.what);
    if (code == 0) {
        cli_progress_begin(&progress, call);
        const tamis_status status = tamis_study_quantile(&study, &asked, &how, &err);
        cli_progress_end(&progress);
        code = cli_study_show(call, study, status, &err, NULL);
    }
    for (size_t i = 0; i < NUMBERS; i++) tamis_number_free(numbers[i]);
    for (size_t i = 0; i < count; i++) tamis_number_free(list[i]);
    free(list);
    return code;
}

extern const cli_command cli_command_study_quantile;
const cli_command cli_command_study_quantile = {
    .name = "study quantile",
    .purpose = "which method for quantiles: errors on simulated files",
    .about =
        "Compares the methods of 'tamis quantile' on your range, step, number of rows and epsilon. Files are drawn at random "
        "from a "
        "law or a public population, and each is answered by every method with the same code as 'tamis quantile'; the errors are "
        "the "
        "distances from the quantiles of the file. Method prefix gets a rho of epsilon^2/2.\n\n"
        "Use a public population only: a method chosen by looking at the data that it is to protect reveals something about "
        "them. "
        "Nothing is published and no ledger is charged.",
    .options = {{"values", "LAW",
                 .help = "an imagined population: beta:A,B, lognormal:MU,SIGMA, normal:MEAN,SD, uniform, bimodal or "
                         "quantiles:0=MIN,0.5=MEDIAN,1=MAX"},
                {"population", "FILE", .files = CLI_ANY_FILES, .help = "or a public .csv or .parquet file"},
                {"column", "NAME", .help = "of the file, of numbers"},
                {"rows", "N", .help = "rows of a simulated file; default: 1000, or all of --population"},
                {"at", "Q,Q...", .help = "which quantiles, ascending; default: 0.25,0.5,0.75"},
                {"from", "X", .needed = true, .help = "the smallest estimate"},
                {"to", "X", .needed = true, .help = "the largest estimate"},
                {"step", "X", .help = "estimates are multiples of it; default: 1"},
                {"epsilon", "E", .needed = true, .help = "the privacy loss of all quantiles together"},
                {"delta", "D", .help = "for method smooth; default: 0"},
                {"bins", "N", .help = "of methods histogram_method, tree and prefix; default: as of 'tamis quantile'"},
                {"complete", .help = "hardly any value is missing: methods threshold and histogram_method then need less noise"},
                {"log-unit", "X", .help = "as of 'tamis quantile'"},
                {"neighbours", "NAME", .choices = "replace add_remove", .help = "what is protected; default: replace"},
                CLI_SIMULATION_OPTIONS,
                CLI_PICTURE_OPTIONS},
    .examples = {{"tamis study quantile --values normal:500,90 --from 0 --to 1e3 --epsilon 1", "quartiles of test scores"}},
    .run = run_quantile,
};

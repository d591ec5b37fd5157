/* tamis quantile: private quantiles of one column of one file. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int print(const cli_call *call, const tamis_statistic *statistic)
{
    tamis_error err = {0};
    char *text;
    const tamis_status status = call->json ? tamis_statistic_json(&text, statistic, &err)
                                           : tamis_statistic_text(&text, statistic, &err);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    const int code = cli_print(text);
    if (code != 0)
        cli_remark(call, "%s was charged, and the answer is kept: the same command prints it again and costs nothing",
                   tamis_statistic_charge(statistic));
    return code;
}

int cli_quantile_wrong(const cli_call *call, const tamis_error *err)
{
    static const char *const names[][2] = {{"max_weight", "max-weight"}, {"log_unit", "log-unit"}};
    const char *message = err->message, *option = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(message, names[i][0], strlen(names[i][0])) == 0) {
            option = names[i][1];
            message += strlen(names[i][0]);
        }
    return cli_wrong_usage(call->command, "--%s%s", option ? option : "", message);
}

/* What is known before any file is opened. */
static int check(const cli_call *call, const tamis_file_quantile *asked)
{
    tamis_quantile_setup what = asked->what;
    what.max_weight = asked->weight != NULL; /* whether there are weights */
    tamis_quantile *quantile;
    tamis_error err = {0};
    if (!asked->what.epsilon && !asked->what.rho)
        return cli_wrong_usage(call->command, "--epsilon E is missing, or --rho R for the method prefix");
    if (asked->budget_delta && !asked->what.delta)
        return cli_wrong_usage(call->command, "--budget-delta is for a ledger whose first call has a --delta");
    if ((asked->weight != NULL) != (asked->max_weight != NULL))
        return cli_wrong_usage(call->command, "--weight and --max-weight need each other");
    if (tamis_quantile_new(&quantile, &what, &err) == TAMIS_OK) {
        tamis_quantile_free(quantile);
        return 0;
    }
    return err.status == TAMIS_INVALID ? cli_quantile_wrong(call, &err) : cli_failed(&err, NULL);
}

static int answer(const cli_call *call, tamis_file_quantile *asked)
{
    tamis_statistic *statistic = NULL;
    tamis_error err = {0};
    cli_progress progress;
    cli_progress_begin(&progress, call);
    asked->watch = (tamis_watch){cli_progress_step, &progress};
    const tamis_status status = tamis_statistic_quantile(&statistic, asked, &err);
    cli_progress_end(&progress);
    const int code = status == TAMIS_OK ? print(call, statistic) : cli_failed(&err, NULL);
    tamis_statistic_free(statistic);
    return code;
}

enum { FROM, TO, STEP, EPSILON, DELTA, RHO, MAX_WEIGHT, LOG_UNIT, BUDGET, BUDGET_DELTA, NUMBERS };

static int run(const cli_call *call)
{
    static const char *const options[NUMBERS] = {"from", "to",         "step",     "epsilon", "delta",
                                                 "rho",  "max-weight", "log-unit", "budget",  "budget-delta"};
    const char *at = cli_value(call, "at"), *method = cli_value(call, "method"), *relation = cli_value(call, "neighbours"),
               *bins = cli_value(call, "bins");
    tamis_number *numbers[NUMBERS] = {0}, **list = NULL;
    size_t count = 0;
    int code = 0;
    for (size_t i = 0; i < NUMBERS && code == 0; i++) code = cli_number(&numbers[i], call, options[i]);
    if (code == 0 && !numbers[STEP] && tamis_number_read(&numbers[STEP], "1", NULL) != TAMIS_OK) code = TAMIS_SYSTEM;
    if (code == 0) code = cli_shares(&list, &count, call, at ? at : "0.5");
    tamis_file_quantile asked = {.file = call->operands[0],
                                 .column = cli_value(call, "column"),
                                 .weight = cli_value(call, "weight"),
                                 .max_weight = numbers[MAX_WEIGHT],
                                 .what = {.from = numbers[FROM],
                                          .to = numbers[TO],
                                          .step = numbers[STEP],
                                          .at = (const tamis_number *const *)list,
                                          .at_count = count,
                                          .epsilon = numbers[EPSILON],
                                          .delta = numbers[DELTA],
                                          .rho = numbers[RHO],
                                          .log_unit = numbers[LOG_UNIT],
                                          .complete = cli_value(call, "complete") != NULL,
                                          .add_remove = relation && strcmp(relation, "add_remove") == 0},
                                 .budget = numbers[BUDGET],
                                 .budget_delta = numbers[BUDGET_DELTA],
                                 .again = cli_value(call, "again") != NULL};
    if (code == 0 && method && tamis_quantile_method_of_name(&asked.what.method, method, NULL) != TAMIS_OK)
        code = cli_wrong_usage(call->command, "--method: there is none of this name");
    if (code == 0 && bins && !cli_whole(&asked.what.bins, bins, 1, TAMIS_BINS))
        code = cli_wrong_usage(call->command, "--bins must be a whole number from 1 to %d", TAMIS_BINS);
    if (code == 0 && cli_value(call, "engine") &&
        tamis_engine_of_name(&asked.engine, cli_value(call, "engine"), NULL) != TAMIS_OK)
        code = cli_wrong_usage(call->command, "--engine: there is none of this name");
    if (code == 0) code = check(call, &asked);
    if (code == 0) code = answer(call, &asked);
    for (size_t i = 0; i < NUMBERS; i++) tamis_number_free(numbers[i]);
    for (size_t i = 0; i < count; i++) tamis_number_free(list[i]);
    free(list);
    return code;
}

const cli_command cli_command_quantile = {
    .name = "quantile",
    .purpose = "private quantiles of one column of one file, for a quick try",
    .about =
        "Estimates quantiles of a column with differential privacy. The estimates are multiples of --step between --from and "
        "--to; values outside count as the nearer of the two, so bounds may be chosen without looking at the data, and should "
        "be: the tighter they are, the better the estimates. Missing values are left out. Values that many rows share are "
        "found exactly with high probability.\n\n"
        "The method is chosen from public numbers unless --method names one: inverse, joint, split and threshold choose among "
        "the "
        "multiples of --step; smooth adds noise for the smooth sensitivity; histogram_method looks at equally spaced cuts until "
        "enough "
        "rows are below; tree and prefix read the quantiles from a noisy distribution function. `tamis study quantile` compares "
        "them.\n\n"
        "The call is charged to FILE.ledger, which the first one creates with --budget, or with its own epsilon, as the limit "
        "for all. 'tamis ledger raise' raises it. The same call again returns the same numbers and costs nothing. The "
        "guarantee is for one row; all quantiles of a call share epsilon.\n\n"
        "docs/quantiles.md, installed as share/doc/tamis/quantiles.md, explains the methods and how to choose --step, "
        "--log-unit and epsilon.",
    .operands = {{"FILE", .needed = true, .help = "a .csv, .parquet, .sav, .dta ... file with one row per person",
                  .files = CLI_ANY_FILES}},
    .options =
        {{"column", "NAME", .needed = true, .help = "the column, of numbers"},
         {"at", "Q,Q...", .help = "which quantiles, ascending; default: 0.5, the median"},
         {"from", "X", .needed = true, .help = "the smallest estimate"},
         {"to", "X", .needed = true, .help = "the largest estimate"},
         {"step", "X", .help = "estimates are multiples of it; default: 1"},
         {"epsilon", "E", .help = "the privacy loss of all quantiles together"},
         {"delta", "D",
          .help = "method smooth: Laplace noise may be taken, which needs a delta, where it is the smaller; where it is not, no "
                  "delta is "
                  "spent; default: 0"},
         {"rho", "R", .help = "method prefix: zero-concentrated privacy, in place of epsilon"},
         {"weight", "NAME", .help = "a column of weights; needs --max-weight"},
         {"max-weight", "W", .help = "larger weights count as this one"},
         {"method", "NAME", .choices = "auto inverse joint split threshold smooth histogram_method tree prefix",
          .help = "auto, inverse, joint, split, threshold, smooth, histogram_method, tree or prefix; default: auto"},
         {"bins", "N",
          .help =
              "methods histogram_method, tree and prefix: into how many parts the range is cut; default: 256 cuts, or 4096 bins"},
         {"complete", .help = "hardly any value is missing: then high quantiles of few rows can be found with less noise"},
         {"log-unit", "X",
          .help = "for skewed data such as incomes: spread the noise evenly over the logarithm of the value, above this unit"},
         {"neighbours", "NAME", .choices = "replace add_remove",
          .help = "what is protected: that a row is replaced (the number of rows is public), or that it is there at all; "
                  "default: replace"},
         {"budget", "E", .help = "the limit of a new ledger: epsilon, or with --rho a rho; default: that of this call"},
         {"budget-delta", "D", .help = "with --delta: the delta of that limit; default: the delta of this call"},
         {"again", .help = "pay for fresh estimates although the same was asked before"},
         CLI_ENGINE_OPTION},
    .examples = {{"tamis quantile apisrs.csv --column api00 --from 200 --to 1000 --epsilon 1", "the median of a column"}},
    .run = run,
};

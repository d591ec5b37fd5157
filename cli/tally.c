/* tamis tally: the collector's side of randomized response. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Options that are numbers. */
typedef struct numbers {
    tamis_number *lie, *lie_zero, *confidence, *delta, *budget;
} numbers;

static int read_number(tamis_number **number, const cli_call *call, const char *option)
{
    tamis_error err = {0};
    const char *text = cli_value(call, option);
    if (!text || tamis_number_read(number, text, &err) == TAMIS_OK) return 0;
    return cli_wrong_usage(call->command, "--%s: %s", option, err.message);
}

static int read_numbers(numbers *n, const cli_call *call)
{
    int code = read_number(&n->lie, call, "lie");
    if (code == 0) code = read_number(&n->lie_zero, call, "lie-zero");
    if (code == 0) code = read_number(&n->confidence, call, "confidence");
    if (code == 0) code = read_number(&n->delta, call, "delta");
    if (code == 0) code = read_number(&n->budget, call, "budget");
    return code;
}

static int read_whole(int64_t *value, const cli_call *call, const char *option)
{
    const char *text = cli_value(call, option);
    if (!text || cli_whole(value, text, 1, TAMIS_MAX_UNITS)) return 0;
    return cli_wrong_usage(call->command, "--%s must be a whole number, at least 1", option);
}

/* Everything is charged, kept and written before anything is printed. */
static int show(const cli_call *call, const tamis_tally *tally, const tamis_tally_question *question,
                const tamis_tally_publication *publication)
{
    tamis_error err = {0};
    char *text = NULL, *charge = NULL;
    tamis_tally_publication how = *publication;
    how.charge = &charge;
    if (tamis_tally_publish(&text, tally, question, &how, &err) != TAMIS_OK) return cli_failed(&err, NULL);
    if (publication->folder) cli_remark(call, "the results are in %s", publication->folder);
    const int code = cli_print(text);
    if (code != 0 && publication->ledger)
        cli_remark(call, "%s was charged, and the tally is kept: with --repeat free the same command prints it and costs nothing",
                   charge ? charge : "the loss");
    tamis_free(charge);
    return code;
}

/* The engine counts; the operands are its files, or the connection string of a server. */
static tamis_status add_source(tamis_tally *tally, const cli_call *call, const char *const *files, size_t count,
                               const tamis_watch *watch, tamis_error *err)
{
    const tamis_engine engine = cli_engine(call);
    const bool server = engine == TAMIS_ENGINE_POSTGRES;
    const tamis_tally_source source = {.size = sizeof(tamis_tally_source),
                                       .engine = engine,
                                       .files = server ? NULL : files,
                                       .file_count = count,
                                       .connection = server ? call->more[0] : NULL,
                                       .table = cli_value(call, "from"),
                                       .columns = cli_value(call, "columns")};
    return tamis_tally_add_source(tally, &source, watch, err);
}

/* Says what is wrong; gives 0 or the exit code. */
static int add_files(tamis_tally *tally, const cli_call *call)
{
    const char *engine = cli_value(call, "engine");
    const size_t count = engine && strcmp(engine, "postgres") == 0 ? 0 : (size_t)call->more_count; /* else it is a connection */
    cli_input *files = calloc(count + 1, sizeof *files);
    const char **paths = calloc(count + 1, sizeof *paths);
    tamis_error err = {0};
    tamis_status status = TAMIS_OK;
    cli_progress progress;
    int code = 0;
    if (!files || !paths) code = cli_failed(&(tamis_error){.status = TAMIS_SYSTEM, .message = "out of memory"}, NULL);
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = cli_input_open(&files[i], call, call->more[i]);
        paths[i] = files[i].path;
    }
    if (code == 0) {
        cli_progress_begin(&progress, call);
        const tamis_watch watch = {cli_progress_step, &progress};
        if (engine) status = add_source(tally, call, paths, count, &watch, &err);
        for (size_t i = 0; status == TAMIS_OK && !engine && i < count; i++)
            status = tamis_tally_add(tally, paths[i], &watch, &err);
        cli_progress_end(&progress);
    }
    for (size_t i = 0; files && i < count; i++) {
        cli_input_name(&files[i], &err);
        cli_input_close(&files[i]);
    }
    free(files);
    free(paths);
    return status == TAMIS_OK ? code : cli_failed(&err, NULL);
}

static int tally_files(const cli_call *call, const tamis_tally_terms *terms, const tamis_tally_question *question,
                       const tamis_tally_publication *publication)
{
    tamis_error err = {0};
    tamis_tally *tally = NULL;
    int code;
    if (tamis_tally_new(&tally, terms, &err) != TAMIS_OK) {
        code = err.status == TAMIS_INVALID ? cli_wrong_usage(call->command, "--%s", err.message) : cli_failed(&err, NULL);
    } else {
        code = add_files(tally, call);
        if (code == 0) code = show(call, tally, question, publication);
    }
    tamis_tally_free(tally);
    return code;
}

/* Checks that need no data. */
static int check_outputs(const cli_call *call, const tamis_tally_publication *p)
{
    int code = p->folder ? cli_check_new(call, p->folder, "tally", "folder") : 0;
    if (code == 0 && cli_value(call, "save")) code = cli_check_new(call, cli_value(call, "save"), "tally", "file");
    if (code == 0 && cli_value(call, "shuffle"))
        code = cli_check_new(call, cli_value(call, "shuffle"), "file of reports", "file");
    if (code == 0 && p->sign && !p->folder) code = cli_wrong_usage(call->command, "--sign needs --out");
    if (code == 0 && !p->ledger != !p->survey)
        code = cli_wrong_usage(call->command, "--ledger and --survey must be given together");
    const char *engine = cli_value(call, "engine");
    if (code == 0 && !engine != !cli_value(call, "columns"))
        code = cli_wrong_usage(call->command, "--engine and --columns must be given together");
    if (code == 0 && engine && !cli_value(call, "lie")) code = cli_wrong_usage(call->command, "--engine needs --lie");
    if (code == 0 && engine && strcmp(engine, "postgres") == 0 && call->more_count != 1)
        code = cli_wrong_usage(call->command, "--engine postgres takes one connection string");
    if (code == 0 && p->budget && !p->ledger) code = cli_wrong_usage(call->command, "--budget needs --ledger and --survey");
    if (code == 0 && cli_value(call, "repeat") && !p->ledger)
        code = cli_wrong_usage(call->command, "--repeat needs --ledger and --survey");
    const char *const paths[] = {p->folder, cli_value(call, "save"), cli_value(call, "shuffle")};
    for (size_t i = 0; code == 0 && i < 3; i++)
        for (size_t k = 0; code == 0 && k < i; k++)
            if (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0)
                code = cli_wrong_usage(call->command, "--out, --save and --shuffle need different names");
    return code;
}

static tamis_tally_repeat repeat_of(const char *word)
{
    if (!word) return TAMIS_TALLY_REPEAT_REFUSED;
    return strcmp(word, "free") == 0 ? TAMIS_TALLY_REPEAT_FREE : TAMIS_TALLY_REPEAT_CHARGED;
}

static int run(const cli_call *call)
{
    numbers n = {0};
    tamis_tally_question question = {.size = sizeof(tamis_tally_question), .categories = cli_value(call, "categories")};
    int code = read_numbers(&n, call);
    if (code == 0) code = read_whole(&question.population, call, "population");
    if (code == 0) code = read_whole(&question.promised, call, "promised");
    const char *duplicates = cli_value(call, "duplicates");
    if (code == 0 && duplicates && !cli_value(call, "id"))
        code = cli_wrong_usage(call->command, "--duplicates needs --id, the column of client ids");
    const tamis_tally_terms terms = {.size = sizeof(tamis_tally_terms),
                                     .lie = n.lie,
                                     .lie_zero = n.lie_zero,
                                     .id = cli_value(call, "id"),
                                     .once = duplicates && strcmp(duplicates, "once") == 0,
                                     .weight = cli_value(call, "weight"),
                                     .keep = cli_value(call, "shuffle") != NULL,
                                     .table = cli_value(call, "table") != NULL};
    question.confidence = n.confidence;
    question.delta = n.delta;
    const tamis_tally_publication publication = {.size = sizeof(tamis_tally_publication),
                                                 .form = call->json               ? TAMIS_TALLY_JSON
                                                         : cli_value(call, "csv") ? TAMIS_TALLY_CSV
                                                                                  : TAMIS_TALLY_TEXT,
                                                 .save = cli_value(call, "save"),
                                                 .shuffle = cli_value(call, "shuffle"),
                                                 .folder = cli_value(call, "out"),
                                                 .sign = cli_value(call, "sign"),
                                                 .ledger = cli_value(call, "ledger"),
                                                 .survey = cli_value(call, "survey"),
                                                 .budget = n.budget,
                                                 .repeat = repeat_of(cli_value(call, "repeat"))};
    if (code == 0) code = check_outputs(call, &publication);
    if (code == 0) code = tally_files(call, &terms, &question, &publication);
    tamis_number_free(n.lie);
    tamis_number_free(n.lie_zero);
    tamis_number_free(n.confidence);
    tamis_number_free(n.delta);
    tamis_number_free(n.budget);
    return code;
}

const cli_command cli_command_tally = {
    .name = "tally",
    .purpose = "count randomized reports and estimate shares from them",
    .about = "The collector's side of randomized response. Each person sent a report whose bits were flipped with a known lie "
             "probability: a one is reported as zero with probability --lie, a zero as one with --lie-zero (by default the "
             "same). tamis tally counts the reports, estimates the share of ones for each bit without bias, gives exact "
             "confidence intervals, and states the privacy guarantee.\n\n"
             "Reports are CSV files with a header and values 0 and 1, or packed files, which also record the lie "
             "probabilities; any number of files with the same bits. A tally saved with --save can be given in place of "
             "reports, so that tallies from several places can be added up without sharing the reports.\n\n"
             "docs/collection.md, installed as share/doc/tamis/collection.md, describes the files and the method.",
    .operands = {{"REPORTS", .needed = true, .more = true, .files = CLI_ANY_FILES,
                  .help = "CSV or packed files of reports, and saved tallies; -: standard input"}},
    .options = {{"lie", "P/Q", .help = "a one is reported as zero with this probability; needed for CSV files"},
                {"lie-zero", "P/Q", .help = "a zero is reported as one with this probability; default: the same as --lie"},
                {"confidence", "C", .help = "confidence level of the intervals; default: 0.95"},
                {"population", "N", .help = "the reporters are a simple random sample of N people; default: a large population"},
                {"weight", "COLUMN", .help = "the column of survey weights; CSV files only"},
                {"categories", "A,B",
                 .help = "the bits A=... are the one-hot code of one answer: estimates that add up to 1 are shown too, and "
                         "only two of these bits count in the guarantee"},
                {"engine", "NAME", .choices = "duckdb memory postgres readstat",
                 .help = "let an engine count: REPORTS are files that it reads, or a PostgreSQL connection string"},
                {"columns", "A,B", .help = "with --engine: the columns with the bits"},
                {"from", "TABLE", .help = "with --engine: the table in a database"},
                {"table", .help = "also estimate the shares of whole answers, up to 10 bits; --json has their covariance too"},
                {"id", "COLUMN", .help = "the column of client ids; a second report from a client is an error"},
                {"duplicates", "WHAT", .choices = "refuse once",
                 .help = "refuse a second report (default), or count only the first one, in the order of the files"},
                {"delta", "D", .help = "delta of the anonymous guarantee; default: 1e-6"},
                {"promised", "N", .help = "warn if there are fewer reports than people were promised to hide among"},
                {"save", "FILE", .help = "save the counts, to be added to others; the file must not exist yet"},
                {"shuffle", "FILE",
                 .help = "write the reports in random order without ids, as CSV if the name ends in .csv, else packed"},
                {"out", "DIR", .files = CLI_FOLDERS,
                 .help = "write the results, a page and a certificate into this folder, which must not exist yet"},
                {"sign", "NAME.key", .files = CLI_ANY_FILES, .help = "sign the certificate with this secret key"},
                {"ledger", "FILE", .files = CLI_ANY_FILES, .help = "charge the local epsilon to an account of this ledger"},
                {"survey", "NAME", .help = "the survey whose account is charged"},
                {"budget", "E", .help = "the epsilon budget of a new account; a limit for an existing one"},
                {"repeat", "WHAT", .choices = "free charged",
                 .help = "if the account was charged for equal counts before: free (the same reports) or charged (other "
                         "reports); default: refuse"},
                {"csv", .help = "print the estimates as CSV"}},
    .examples = {{"printf 'smoker\\n0\\n1\\n1\\n' > r.csv && tamis tally r.csv --lie 1/4", "three reports"},
                 {"printf 'smoker\\n0\\n1\\n' > r.csv && tamis tally r.csv --lie 1/4 --save a.tally",
                  "save the counts, to be added to others"}},
    .run = run,
};

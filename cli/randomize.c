/* tamis randomize: turns answers into randomized reports, at the client. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define LISTS 256     /* columns with categories on one command line */
#define ENTRIES 65536 /* columns, or categories, on one command line */

/* The parsed options, and the texts that they point to. */
typedef struct asked {
    tamis_number *lie, *lie_zero;
    char *columns_text, *categories_text; /* split in place */
    const char **entries;
    size_t entry_count;
    tamis_categories categories[LISTS];
    tamis_collection collection;
    uint8_t secret[TAMIS_SECRET];
} asked;

/* The file of --out; NULL: standard output. */
static const char *out_of(const cli_call *call)
{
    const char *out = cli_value(call, "out");
    return cli_is_stdout(out) ? NULL : out;
}

/* Splits a text at its commas and adds the pieces to the entries; false: an empty piece, or too many. */
static bool cut(asked *a, char *text)
{
    for (char *piece; (piece = strsep(&text, ","));) {
        if (*piece == '\0' || a->entry_count == ENTRIES) return false;
        a->entries[a->entry_count++] = piece;
    }
    return true;
}

/* "region=north,south;sex=f,m" */
static bool read_categories(asked *a)
{
    char *rest = a->categories_text;
    for (char *list; (list = strsep(&rest, ";"));) {
        char *column = strsep(&list, "=");
        size_t first = a->entry_count;
        if (!list || *column == '\0' || a->collection.categories_count == LISTS || !cut(a, list)) return false;
        a->categories[a->collection.categories_count++] = (tamis_categories){column, a->entries + first, a->entry_count - first};
    }
    a->collection.categories = a->categories;
    return true;
}

static int read_lies(const cli_call *call, asked *a)
{
    tamis_error err = {0};
    tamis_randomizer *randomizer = NULL;
    const char *zero = cli_value(call, "lie-zero");
    int code = 0;
    if (tamis_number_read(&a->lie, cli_value(call, "lie"), &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--lie: %s", err.message);
    if (zero && tamis_number_read(&a->lie_zero, zero, &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--lie-zero: %s", err.message);
    tamis_status status = tamis_randomizer_new(&randomizer, a->lie, a->lie_zero, &err);
    if (status == TAMIS_INVALID) code = cli_wrong_usage(call->command, "--%s", err.message);
    else if (status != TAMIS_OK) code = cli_failed(&err, NULL);
    tamis_randomizer_free(randomizer);
    a->collection.lie = a->lie;
    a->collection.lie_zero = a->lie_zero;
    return code;
}

static int read_options(const cli_call *call, asked *a)
{
    const char *columns = cli_value(call, "columns"), *categories = cli_value(call, "categories");
    const char *missing = cli_value(call, "missing");
    a->entries = calloc(ENTRIES, sizeof *a->entries);
    a->columns_text = columns ? strdup(columns) : NULL;
    a->categories_text = categories ? strdup(categories) : NULL;
    if (!a->entries || (columns && !a->columns_text) || (categories && !a->categories_text))
        return cli_failed(&(tamis_error){.status = TAMIS_SYSTEM, .message = "out of memory"}, NULL);
    if (columns && !cut(a, a->columns_text))
        return cli_wrong_usage(call->command, "--columns needs names separated by commas: a,b");
    if (columns) a->collection.columns = a->entries;
    a->collection.column_count = a->entry_count;
    if (categories && !read_categories(a))
        return cli_wrong_usage(call->command, "--categories needs columns with their categories: region=north,south;sex=f,m");
    a->collection.id = cli_value(call, "id");
    a->collection.missing_bit = missing && strcmp(missing, "bit") == 0;
    a->collection.packed = cli_value(call, "packed") != NULL;
    if (cli_value(call, "memo") && !a->collection.id)
        return cli_wrong_usage(call->command, "--memo needs --id, the column that identifies each client");
    if (call->json && !out_of(call))
        return cli_wrong_usage(call->command, "--json needs --out FILE, because the reports go to stdout");
    return read_lies(call, a);
}

static int finish(const cli_call *call, const tamis_randomized *facts)
{
    char epsilon[TAMIS_DECIMAL], lower[TAMIS_DECIMAL];
    if (call->json) {
        tamis_decimal_up(epsilon, facts->local.upper, 17);
        tamis_decimal_down(lower, facts->local.lower, 17);
        printf("{\"reports\": %" PRIu64 ", \"bits\": %zu, \"columns_left_out\": %zu, "
               "\"guarantee\": {\"local\": {\"lower\": %s, \"upper\": %s}}}\n",
               facts->reports, facts->bits, facts->left_out, lower, epsilon);
        return cli_finish_output();
    }
    tamis_decimal_up(epsilon, facts->local.upper, 6);
    cli_remark(call, "%" PRIu64 " report%s of %zu bit%s; local epsilon %s per person, %s", facts->reports,
               facts->reports == 1 ? "" : "s", facts->bits, facts->bits == 1 ? "" : "s", epsilon,
               cli_value(call, "memo") ? "for all waves together while the answers stay the same" : "for each report");
    if (facts->left_out > 0)
        cli_remark(call, facts->left_out == 1 ? "%zu column of the file was left out" : "%zu columns of the file were left out",
                   facts->left_out);
    return out_of(call) ? 0 : cli_finish_output();
}

static int randomize(const cli_call *call, asked *a)
{
    const char *memo = cli_value(call, "memo");
    tamis_stream in = {"standard input", stdin}, out = {"standard output", stdout};
    tamis_error err = {0};
    tamis_rng *rng = NULL;
    tamis_randomized facts;
    cli_progress progress;
    if (call->operand_count > 0 && !cli_is_dash(call->operands[0])) in = (tamis_stream){.path = call->operands[0]};
    if (out_of(call)) out = (tamis_stream){.path = out_of(call)};
    tamis_status status = tamis_rng_new(&rng, &err);
    if (status == TAMIS_OK && memo) status = tamis_secret_file(a->secret, memo, rng, &err);
    if (memo) a->collection.secret = a->secret;
    if (status == TAMIS_OK) {
        cli_progress_begin(&progress, call);
        const tamis_watch watch = {cli_progress_step, &progress};
        status = tamis_randomize_file(&facts, &out, &in, &a->collection, rng, &watch, &err);
        cli_progress_end(&progress);
    }
    tamis_rng_free(rng);
    if (status == TAMIS_OK) return finish(call, &facts);
    return ferror(stdout) ? cli_finish_output() : cli_failed(&err, NULL);
}

static int run(const cli_call *call)
{
    asked *a = calloc(1, sizeof *a);
    if (!a) return cli_failed(&(tamis_error){.status = TAMIS_SYSTEM, .message = "out of memory"}, NULL);
    int code = read_options(call, a);
    if (code == 0 && out_of(call)) code = cli_check_new(call, out_of(call), "file of reports", "file");
    if (code == 0) code = randomize(call, a);
    explicit_bzero(a->secret, sizeof a->secret);
    tamis_number_free(a->lie);
    tamis_number_free(a->lie_zero);
    free(a->columns_text);
    free(a->categories_text);
    free(a->entries);
    free(a);
    return code;
}

const cli_command cli_command_randomize = {
    .name = "randomize",
    .purpose = "randomize answers at the client, before they leave it",
    .about = "Randomized response: reads a CSV file of answers, one person per row, and writes one report per person. Each bit "
             "is flipped with exactly the lie probability, using the operating system's randomness. Columns are yes/no: 1 and 0, "
             "yes and no, true and false, in upper or lower case. A column listed in --categories becomes one bit per category, "
             "named like region=north. The lists are public: fix them before anybody answers.\n\n"
             "The local epsilon, printed on stderr and rounded up, bounds what one person's report reveals to anybody. With "
             "--lie-zero, a one is flipped with probability --lie and a zero with --lie-zero; their sum must be below 1. "
             "Probabilities with few binary digits, such as 1/4 or 3/16, are fastest and take constant time.\n\n"
             "With --memo, a client that gives the same answer again sends the same report again, so the flips cannot be "
             "averaged out over waves. The local epsilon then covers all waves together while the answers stay the same; each "
             "new answer costs it once more, and a report that changes reveals that the answer changed. Keep the secret at the "
             "client.\n\n"
             "docs/collection.md, installed as share/doc/tamis/collection.md, describes the guarantee and the packed form.",
    .operands = {{"ANSWERS.csv", .help = "the answers; default: -, standard input", .files = CLI_ANY_FILES}},
    .options = {{"lie", "P/Q", .needed = true, .help = "the lie probability: above 0, and below 1/2 without --lie-zero"},
                {"lie-zero", "R/S", .help = "the lie probability of zeros; default: the same as --lie"},
                {"columns", "A,B", .help = "report only these columns; default: all"},
                {"categories", "LISTS", .help = "one bit per category: region=north,south;sex=f,m"},
                {"missing", "HOW", .choices = "error bit",
                 .help = "treat an empty cell as an error (default) or as a bit of its own"},
                {"id", "COLUMN", .help = "copy this column, so that the collector can detect duplicates"},
                {"memo", "FILE", .help = "permanent flips: the file of the secret, created if missing; needs --id"},
                {"packed", .help = "write the packed form instead of CSV"},
                {"out", "FILE", .help = "write the reports to this new file; default: -, standard output"}},
    .examples = {{"printf 'smoker\\nyes\\nno\\n' | tamis randomize --lie 1/4", "two reports"},
                 {"tamis randomize apisrs.csv --lie 1/4 --columns awards | head", "one column of a file"},
                 {"tamis randomize apisrs.csv --lie 3/8 --columns stype --categories stype=E,M,H", "a categorical column"},
                 {"tamis randomize apisrs.csv --lie 1/4 --columns awards --packed | od -x | head", "the packed form"}},
    .run = run,
};

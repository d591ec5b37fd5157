/* tamis privacy anonymous: randomized response whose reports are anonymised before anybody reads them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guarantee.h"

#define DIGITS 16          /* of a recommended lie probability: a whole multiple of 2^-16 is drawn exactly and quickly */
#define DROPOUT 10         /* one in ten reports is missing */
#define USUAL_DELTA "1e-6" /* if no question is given */

typedef struct request {
    const cli_call *call;
    tamis_reports reports;
    char lie_text[64];
    tamis_number *lie, *lie_zero, *eps, *delta, *target, *target_delta, *target_local, *rate;
    int64_t population; /* 0: not a sample */
    tamis_design *design;
} request;

typedef struct answer {
    tamis_bound local, anonymous, fewer, sampled; /* fewer.upper < 0: there is no fewer */
    int64_t fewer_reports;
} answer;

/* ---- what is asked ---- */

/* The exact number of an option; NULL if it was not given or, with *code set, is not a number. */
static tamis_number *read_number(int *code, const cli_call *call, const char *option)
{
    const char *text = cli_value(call, option);
    tamis_number *z = NULL;
    if (*code == 0 && text && tamis_number_read(&z, text, NULL) != TAMIS_OK)
        *code = cli_wrong_usage(call->command, "--%s: must be a number such as 1/4 or 1e-6, got '%s'", option, text);
    return z;
}

static int read_target(request *r)
{
    const char *text = cli_value(r->call, "target"), *comma = text ? strchr(text, ',') : NULL;
    char first[64] = "";
    if (!text) return 0;
    if (comma && comma - text < (ptrdiff_t)sizeof first) memcpy(first, text, (size_t)(comma - text));
    if (!comma || tamis_number_read(&r->target, first, NULL) != TAMIS_OK ||
        tamis_number_read(&r->target_delta, comma + 1, NULL) != TAMIS_OK)
        return cli_wrong_usage(r->call->command, "--target needs an epsilon and a delta, such as 0.5,1e-6");
    return 0;
}

static int read_form(request *r)
{
    const cli_call *call = r->call;
    const char *bits = cli_value(call, "bits"), *ones = cli_value(call, "ones"), *categories = cli_value(call, "categories");
    bool whole = cli_value(call, "whole"), one_hot = cli_value(call, "one-hot");
    r->reports.positions = 1;
    if (categories && (bits || ones || whole || one_hot || cli_value(call, "lie-zero")))
        return cli_wrong_usage(call->command,
                               "--categories cannot be combined with --bits, --ones, --one-hot, --whole or --lie-zero");
    if (one_hot && ones)
        return cli_wrong_usage(call->command, "--one-hot is exactly one, --ones at most so many: give only one of them");
    if (bits && !cli_whole(&r->reports.positions, bits, 1, TAMIS_MAX_POSITIONS))
        return cli_wrong_usage(call->command, "--bits needs a whole number from 1 to %d", TAMIS_MAX_POSITIONS);
    if (categories && !cli_whole(&r->reports.positions, categories, 2, TAMIS_MAX_CATEGORIES))
        return cli_wrong_usage(call->command, "--categories needs a whole number from 2 to %d", TAMIS_MAX_CATEGORIES);
    if (ones && !cli_whole(&r->reports.ones, ones, 1, r->reports.positions))
        return cli_wrong_usage(call->command, "--ones needs a whole number from 1 to the number of bits");
    if (one_hot && r->reports.positions < 2) return cli_wrong_usage(call->command, "--one-hot needs at least 2 --bits");
    if (one_hot) r->reports.ones = r->reports.exactly = 1;
    r->reports.form = categories ? TAMIS_REPORT_CATEGORIES : whole ? TAMIS_REPORT_WHOLE : TAMIS_REPORT_COUNTS;
    return 0;
}

static int read_sample(request *r)
{
    const cli_call *call = r->call;
    const char *population = cli_value(call, "population");
    tamis_error err = {0};
    tamis_status status;
    if (!population && r->rate)
        return cli_wrong_usage(call->command, "--rate needs --population, the number of people who could have been sampled");
    if (!population) return 0;
    if (!cli_whole(&r->population, population, 1, TAMIS_MAX_UNITS) || r->population < r->reports.reports)
        return cli_wrong_usage(call->command, "--population needs a whole number, at least --reports");
    if (r->rate) status = tamis_design_bernoulli(&r->design, r->population, r->rate, &err);
    else status = tamis_design_srs(&r->design, r->population, r->reports.reports, &err);
    if (status == TAMIS_INVALID) return cli_wrong_usage(call->command, "--rate: must be above 0 and at most 1");
    return status == TAMIS_OK ? 0 : cli_failed(&err, NULL);
}

static int read_request(request *r, const cli_call *call)
{
    int code = 0, asked = 0;
    const char *questions[] = {"delta", "epsilon", "target", "target-local"};
    *r = (request){.call = call};
    if (!cli_whole(&r->reports.reports, cli_value(call, "reports"), 1, TAMIS_MAX_REPORTS))
        return cli_wrong_usage(call->command, "--reports needs a whole number from 1 to 10^9, such as 10000");
    code = read_form(r);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) asked += cli_value(call, questions[i]) != NULL;
    if (code == 0 && asked > 1)
        code = cli_wrong_usage(call->command,
                               "--delta, --epsilon, --target and --target-local are different questions: give only one");
    r->lie = read_number(&code, call, "lie");
    r->lie_zero = read_number(&code, call, "lie-zero");
    r->eps = read_number(&code, call, "epsilon");
    r->delta = read_number(&code, call, "delta");
    r->target_local = read_number(&code, call, "target-local");
    r->rate = read_number(&code, call, "rate");
    if (code == 0) code = read_target(r);
    bool looked_for = r->target || r->target_local;
    if (code == 0 && looked_for == (r->lie != NULL))
        code = cli_wrong_usage(call->command, looked_for ? "--lie is what a target finds: give only one of them"
                                                         : "--lie is needed, or a --target from which to find it");
    if (code == 0 && r->lie_zero && !r->lie) code = cli_wrong_usage(call->command, "--lie-zero needs --lie");
    if (code == 0) code = read_sample(r);
    if (code == 0 && r->eps && r->design) code = cli_wrong_usage(call->command, "--population needs --delta, not --epsilon");
    if (r->lie) snprintf(r->lie_text, sizeof r->lie_text, "%s", cli_value(call, "lie"));
    r->reports.lie_one = r->lie;
    r->reports.lie_zero = r->lie_zero;
    return code;
}

static void clear_request(request *r)
{
    tamis_number *all[] = {r->lie, r->lie_zero, r->eps, r->delta, r->target, r->target_delta, r->target_local, r->rate};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tamis_number_free(all[i]);
    tamis_design_free(r->design);
}

/* Replaces the names of library parameters in a message by those of the options. */
static int failed(const request *r, const tamis_error *err)
{
    static const char *const names[][2] = {
        {"lie probability", "--lie"}, {"eps", "--epsilon"}, {"delta", "--delta"}, {"bits", "--bits"}, {"target", "--target"}};
    if (err->status != TAMIS_INVALID) return cli_failed(err, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(err->message, names[i][0], strlen(names[i][0])) == 0)
            return cli_wrong_usage(r->call->command, "%s%s", names[i][1], err->message + strlen(names[i][0]));
    return cli_wrong_usage(r->call->command, "%s", err->message);
}

/* ---- the work ---- */

static tamis_status find_lie(request *r, tamis_error *err)
{
    int64_t m = 0;
    tamis_status status = r->target_local ? tamis_anonymous_lie_local(&m, &r->reports, DIGITS, r->target_local, err)
                                          : tamis_anonymous_lie(&m, &r->reports, DIGITS, r->target, r->target_delta, err);
    if (status != TAMIS_OK) return status;
    int64_t below = INT64_C(1) << DIGITS;
    for (; m % 2 == 0; m /= 2) below /= 2;
    snprintf(r->lie_text, sizeof r->lie_text, "%" PRId64 "/%" PRId64, m, below);
    status = tamis_number_read(&r->lie, r->lie_text, err);
    r->reports.lie_one = r->lie;
    return status;
}

static tamis_status ask(tamis_bound *z, const request *r, const tamis_reports *reports, tamis_error *err)
{
    if (r->eps) return tamis_anonymous_delta(z, reports, r->eps, err);
    return tamis_anonymous_epsilon(z, reports, r->target_delta ? r->target_delta : r->delta, err);
}

static tamis_status find(answer *a, request *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_reports fewer;
    *a = (answer){.fewer = {-1, -1}, .sampled = {-1, -1}};
    if (!r->eps && !r->delta && !r->target_delta) status = tamis_number_read(&r->delta, USUAL_DELTA, err);
    if (status == TAMIS_OK && !r->lie) status = find_lie(r, err);
    if (status == TAMIS_OK) status = tamis_anonymous_local(&a->local, &r->reports, err);
    if (status == TAMIS_OK) status = ask(&a->anonymous, r, &r->reports, err);
    if (status == TAMIS_OK && r->target) { /* the search has certified the target itself */
        double target = nextafter(cli_approximately(r->target), INFINITY);
        if (a->anonymous.upper > target) a->anonymous.upper = fmax(target, a->anonymous.lower);
    }
    fewer = r->reports;
    fewer.reports -= (r->reports.reports + DROPOUT - 1) / DROPOUT;
    a->fewer_reports = fewer.reports;
    if (status == TAMIS_OK && fewer.reports >= 1) status = ask(&a->fewer, r, &fewer, err);
    if (status == TAMIS_OK && r->design)
        status = tamis_anonymous_sample(&a->sampled, &r->reports, r->design, r->target_delta ? r->target_delta : r->delta, err);
    return status;
}

/* ---- showing ---- */

static const char *asked_delta(const request *r)
{
    const char *target = cli_value(r->call, "target"), *delta = cli_value(r->call, "delta");
    return target ? strchr(target, ',') + 1 : delta ? delta : USUAL_DELTA;
}

static void json_bound(const char *name, tamis_bound z)
{
    char low[TAMIS_DECIMAL], high[TAMIS_DECIMAL];
    tamis_decimal_down(low, z.lower, 17);
    tamis_decimal_up(high, z.upper, 17);
    printf("\"%s\": {\"lower\": %s, \"upper\": %s}", name, low, high);
}

/* Whether so few whole reports look alike that anonymity adds little, in a sentence that says what would help. */
static bool few_alike(char *words, size_t size, const tamis_reports *reports)
{
    const double alike = tamis_reports_alike(reports);
    char now[TAMIS_DECIMAL], more[64] = "";
    if (!(alike < TAMIS_REPORTS_ALIKE)) return false;
    tamis_decimal_down(now, alike, 2);
    const double needed = ceil((double)reports->reports * TAMIS_REPORTS_ALIKE / alike);
    if (needed <= TAMIS_MAX_REPORTS) snprintf(more, sizeof more, " (about %.0f)", needed);
    snprintf(
        words, size,
        "Anonymity adds little to whole reports here, because too few of them look alike: number of reports x (sum of the two "
        "lie probabilities)^%" PRId64 " is %s, and should be at least %d. Fewer bits per report, a larger lie probability or "
        "more reports%s would help; so would publishing only the counts of the bits, without --whole.",
        reports->positions, now, TAMIS_REPORTS_ALIKE, more);
    return true;
}

static void json_answer(const request *r, const char *name, tamis_bound z)
{
    printf(", \"%s\": {", name);
    if (r->eps) printf("\"epsilon\": \"%s\", ", cli_value(r->call, "epsilon"));
    json_bound(r->eps ? "delta" : "epsilon", z);
    if (!r->eps) printf(", \"delta\": \"%s\"", asked_delta(r));
    printf("}");
}

static void show_json(const request *r, const answer *a)
{
    static const char *const forms[] = {"counts", "whole", "categories"};
    const tamis_reports *reports = &r->reports;
    bool categories = reports->form == TAMIS_REPORT_CATEGORIES;
    printf("{\"reports\": %" PRId64 ", \"form\": \"%s\", \"%s\": %" PRId64, reports->reports, forms[reports->form],
           categories ? "categories" : "bits", reports->positions);
    if (reports->ones > 0) printf(", \"ones\": %" PRId64, reports->ones);
    if (reports->exactly) printf(", \"one_hot\": true");
    printf(", \"lie\": \"%s\"", r->lie_text);
    if (r->lie_zero) printf(", \"lie_zero\": \"%s\"", cli_value(r->call, "lie-zero"));
    if (r->target) printf(", \"target\": \"%s\"", cli_value(r->call, "target"));
    if (r->target_local) printf(", \"target_local\": \"%s\"", cli_value(r->call, "target-local"));
    printf(", \"local\": {");
    json_bound("epsilon", a->local);
    printf(", \"delta\": \"0\"}");
    json_answer(r, "anonymous", a->anonymous);
    printf(", \"collector\": {\"with_senders\": {");
    json_bound("epsilon", a->local);
    printf(", \"delta\": \"0\"}");
    json_answer(r, "without_senders", a->anonymous);
    printf("}");
    if (a->fewer.upper >= 0) {
        printf(", \"dropouts\": {\"reports\": %" PRId64, a->fewer_reports);
        json_answer(r, "anonymous", a->fewer);
        printf("}");
    }
    if (r->design) {
        printf(", \"population\": %" PRId64, r->population);
        if (r->rate) printf(", \"rate\": \"%s\"", cli_value(r->call, "rate"));
        json_answer(r, "sample", a->sampled);
    }
    char words[512];
    if (few_alike(words, sizeof words, reports)) printf(", \"warnings\": [\"%s\"]", words);
    puts("}");
}

static void row(const char *who, const char *eps, const char *delta) { printf("  %-50s %10s %10s\n", who, eps, delta); }

/* A line of the table: the answer's safe end, and what was asked. */
static void answer_row(const request *r, const char *who, double z, bool up)
{
    char text[TAMIS_DECIMAL];
    (up ? tamis_decimal_up : tamis_decimal_down)(text, z, 6);
    if (r->eps) row(who, cli_value(r->call, "epsilon"), text);
    else row(who, text, asked_delta(r));
}

static void head(const request *r)
{
    char n[32];
    const tamis_reports *reports = &r->reports;
    printf("%s anonymised report%s", cli_thousands(n, sizeof n, reports->reports), reports->reports == 1 ? "" : "s");
    if (reports->form == TAMIS_REPORT_CATEGORIES) printf(" of one of %" PRId64 " categories", reports->positions);
    else printf(" of %" PRId64 " bit%s", reports->positions, reports->positions == 1 ? "" : "s");
    if (reports->exactly) printf(", exactly one of them a one");
    else if (reports->ones > 0) printf(", at most %" PRId64 " of them %s", reports->ones, reports->ones == 1 ? "a one" : "ones");
    puts("");
    if (r->target || r->target_local)
        printf("the smallest lie probability, in steps of 2^-%d, that meets the target: %s\n", DIGITS, r->lie_text);
    else if (r->lie_zero)
        printf("a one is reported as zero with probability %s, a zero as one with probability %s\n", r->lie_text,
               cli_value(r->call, "lie-zero"));
    else if (reports->form == TAMIS_REPORT_CATEGORIES) printf("another category is reported with probability %s\n", r->lie_text);
    else printf("each bit is flipped with probability %s\n", r->lie_text);
    if (reports->positions > 1 && reports->form == TAMIS_REPORT_COUNTS)
        puts("only the number of ones at each position is published");
    if (reports->positions > 1 && reports->form == TAMIS_REPORT_WHOLE) puts("the bits of a report stay together");
}

static void explain(const request *r, const answer *a)
{
    char words[512];
    const bool few = few_alike(words, sizeof words, &r->reports);
    bool gap = a->anonymous.upper > a->anonymous.lower * 1.006;
    puts("\nWhat it means");
    cli_paragraph(stdout,
                  "The first line applies to the collector's file as long as it shows who sent which report, the second once "
                  "senders, times and addresses are removed and the order is random. Counts and estimates computed from the file "
                  "cost nothing more. At delta 0 anonymity does not help: epsilon is that of the first line.",
                  2);
    cli_paragraph(
        stdout,
        "The guarantee protects one person's answer, whatever the others answered. It weakens with every report that is "
        "missing: repeat this command with the number of reports received.",
        2);
    if (few) cli_paragraph(stdout, words, 2);
    if (gap)
        cli_paragraph(stdout,
                      "The epsilon or delta to publish is a proved upper bound. The line below it is what a known attack "
                      "achieves; the true value lies between the two.",
                      2);
    if (r->design)
        cli_paragraph(stdout, "The last line is for anybody in the population, if nobody outside knows who was sampled.", 2);
}

static void show(const request *r, const answer *a)
{
    char text[TAMIS_DECIMAL], n[32], who[80];
    head(r);
    puts("");
    row("what an attacker sees", "epsilon", "delta");
    tamis_decimal_up(text, a->local.upper, 6);
    row("a report with its sender (trust nobody)", text, "0");
    answer_row(r, "the anonymised reports (trust the anonymiser)", a->anonymous.upper, true);
    if (a->anonymous.upper > a->anonymous.lower * 1.006) answer_row(r, "    at least", a->anonymous.lower, false);
    if (a->fewer.upper >= 0) {
        snprintf(who, sizeof who, "the same, if only %s report%s", cli_thousands(n, sizeof n, a->fewer_reports),
                 a->fewer_reports == 1 ? " arrives" : "s arrive");
        answer_row(r, who, a->fewer.upper, true);
    }
    if (r->design) {
        snprintf(who, sizeof who, "the same, for a sample from %s people", cli_thousands(n, sizeof n, r->population));
        answer_row(r, who, a->sampled.upper, true);
    }
    explain(r, a);
}

static int run(const cli_call *call)
{
    request r;
    answer a;
    tamis_error err = {0};
    int code = read_request(&r, call);
    if (code == 0 && find(&a, &r, &err) != TAMIS_OK) code = failed(&r, &err);
    if (code == 0) (call->json ? show_json : show)(&r, &a);
    clear_request(&r);
    return code == 0 ? cli_finish_output() : code;
}

extern const cli_command cli_command_privacy_anonymous;
const cli_command cli_command_privacy_anonymous = {
    .name = "privacy anonymous",
    .purpose = "the privacy of anonymised randomized-response reports",
    .about = "Each person flips the bits of an answer with a known probability before sending the report, and an anonymiser "
             "removes the senders before anybody reads the reports. This command computes how private that is: against "
             "somebody who sees a report with its sender, against somebody who sees only what the anonymiser releases, and "
             "when some reports are missing. For one bit the result is exact: the worst case over all answers of the others."
             "\n\n"
             "The default is to show epsilon at delta 1e-6. --target finds the smallest lie probability, a multiple of 2^-16, "
             "that meets a target. docs/collection.md explains the method.",
    .options = {{"reports", "N", .needed = true, .help = "number of reports that are anonymised together"},
                {"lie", "P/Q", .help = "probability that a bit, or a category, is reported wrongly"},
                {"lie-zero", "P/Q", .help = "the same for a zero, if it differs; --lie is then for a one"},
                {"bits", "L", .help = "bits per answer; default: 1"},
                {"one-hot", .help = "an answer has exactly one 1: the code of a category"},
                {"ones", "M", .help = "an answer has at most M ones"},
                {"whole", .help = "whole reports are published; default: only the count of ones for each bit"},
                {"categories", "K", .help = "an answer is one of K categories; a wrong report is any other"},
                {"delta", "D", .help = "which epsilon goes with this delta?"},
                {"epsilon", "E", .help = "which delta goes with this epsilon?"},
                {"target", "E,D", .help = "which lie probability gives the anonymised reports this guarantee?"},
                {"target-local", "E", .help = "which lie probability gives a report with its sender this epsilon?"},
                {"population", "N", .help = "the reporters are a simple random sample of N people"},
                {"rate", "P/Q",
                 .help = "with --population: each of the N people was sampled with this probability, independently"}},
    .examples = {{"tamis privacy anonymous --reports 10000 --bits 1 --lie 1/4", "one yes/no question"},
                 {"tamis privacy anonymous --reports 10000 --lie 1/4 --epsilon 0.1", "which delta?"},
                 {"tamis privacy anonymous --reports 10000 --bits 1 --target 0.5,1e-6", "which lie probability?"},
                 {"tamis privacy anonymous --reports 500 --lie 1/4 --population 20000", "reports from a sample"}},
    .run = run,
};

/* tamis privacy compose: several releases of the same people, together. */
#include <inttypes.h>
#include <math.h>

#include "target.h"

#define DIGITS 5           /* of an epsilon or a delta of all together */
#define USUAL_DELTA "1e-6" /* shown where delta 0 has no epsilon and nothing was asked */

typedef struct request {
    const cli_call *call;
    tamis_profile *sampled;
    int64_t releases, population, sample;
    tamis_outsider *outsider; /* NULL: no --population */
} request;

/* ---- what is asked ---- */

static int read_sizes(request *r)
{
    const char *population = cli_value(r->call, "population"), *sample = cli_value(r->call, "sample");
    if (!population && !sample) return 0;
    if (!population) return cli_wrong_usage(r->call->command, "--sample needs --population, the records that it was drawn from");
    if (!sample) return cli_wrong_usage(r->call->command, "--population needs --sample, the records that were drawn");
    return cli_sizes(&r->population, &r->sample, r->call);
}

/* Everything that is released from the sample is composed before the sampling amplifies, once. */
static tamis_status amplify(request *r, tamis_error *err)
{
    char text[64];
    tamis_number *rate = NULL;
    if (r->population == 0) return TAMIS_OK;
    snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, r->sample, r->population);
    tamis_status status = tamis_number_read(&rate, text, err);
    if (status == TAMIS_OK) status = tamis_outsider_new(&r->outsider, r->sampled, rate, err);
    tamis_number_free(rate);
    return status;
}

static int read_request(request *r, const cli_call *call)
{
    tamis_error err = {0};
    *r = (request){.call = call};
    int code = read_sizes(r);
    if (code != 0) return code;
    tamis_status status = tamis_releases_read_file(&r->sampled, &r->releases, call->operands[0], &err);
    if (status == TAMIS_OK) status = amplify(r, &err);
    return status == TAMIS_OK ? 0 : cli_failed(&err, call->operands[0]);
}

/* ---- the curve ---- */

static void put_note(cli_note *note, tamis_bound outsider)
{
    char lower[TAMIS_DECIMAL], upper[TAMIS_DECIMAL];
    tamis_decimal_up(note->text, outsider.upper, CLI_DIGITS);
    tamis_decimal_down(lower, outsider.lower, 17);
    tamis_decimal_up(upper, outsider.upper, 17);
    snprintf(note->json, sizeof note->json, ", \"outsider\": {\"lower\": %.24s, \"upper\": %.24s}", lower, upper);
}

static tamis_status delta_of(tamis_bound *delta, cli_note *note, const void *what, const tamis_number *eps, tamis_error *err)
{
    const request *r = what;
    tamis_bound outsider;
    tamis_status status = tamis_profile_delta(delta, r->sampled, eps, err);
    if (status != TAMIS_OK || !r->outsider) return status;
    status = tamis_outsider_delta(&outsider, r->outsider, eps, err);
    put_note(note, outsider);
    return status;
}

static tamis_status epsilon_of(tamis_bound *eps, const void *what, const tamis_number *delta, tamis_error *err)
{
    return tamis_profile_epsilon(eps, ((const request *)what)->sampled, delta, err);
}

/* ---- who has what ---- */

/* One pair for each of the two: of what was asked, else of delta 0, else of a usual delta. */
typedef struct pairs {
    const char *given; /* as it was written */
    bool by_epsilon;   /* `given` is an epsilon, the two are deltas; else the other way round */
    tamis_bound sampled, outsider;
} pairs;

static tamis_status find_pairs(pairs *p, const request *r, const cli_guarantee *g, tamis_error *err)
{
    const char *eps = cli_value(r->call, "epsilon"), *delta = cli_value(r->call, "delta");
    const char *given = eps ? eps : delta ? delta : isinf(g->pure.upper) ? USUAL_DELTA : "0";
    tamis_number *number = NULL;
    *p = (pairs){.given = given, .by_epsilon = eps != NULL, .outsider = {0, INFINITY}};
    tamis_status status = tamis_number_read(&number, given, err);
    if (status == TAMIS_OK) status = (eps ? tamis_profile_delta : tamis_profile_epsilon)(&p->sampled, r->sampled, number, err);
    if (status == TAMIS_OK && r->outsider)
        status = (eps ? tamis_outsider_delta : tamis_outsider_epsilon)(&p->outsider, r->outsider, number, err);
    tamis_number_free(number);
    return status;
}

static void put_value(char cell[CLI_CELL], tamis_bound value)
{
    if (isinf(value.upper)) snprintf(cell, CLI_CELL, "none suffices");
    else tamis_decimal_up(cell, value.upper, DIGITS);
}

static void put_who(const request *r, const cli_guarantee *g, const pairs *p)
{
    cli_cells cells[4] = {{"who", "epsilon", "delta"}};
    size_t count = 1, answer = p->by_epsilon ? 2 : 1;
    snprintf(cells[count][0], CLI_CELL, "a sampled person");
    cli_cut_number(cells[count][3 - answer], p->given);
    put_value(cells[count++][answer], p->sampled);
    if (!isinf(g->pure.upper)) { /* the largest loss of all together is the sum of the largest losses */
        snprintf(cells[count][0], CLI_CELL, "  sum of the epsilons");
        put_value(cells[count][1], g->pure);
        snprintf(cells[count++][2], CLI_CELL, "0");
    }
    if (r->outsider) {
        snprintf(cells[count][0], CLI_CELL, "anybody in the frame, if the sample is secret");
        cli_cut_number(cells[count][3 - answer], p->given);
        put_value(cells[count++][answer], p->outsider);
    }
    putchar('\n');
    cli_table("lll", (const cli_cells *)cells, count, cli_plain_letters(r->call));
}

/* The pairs as tamis_meaning gives them, upper ends; NULL where no epsilon suffices. */
static tamis_status meaning(char **text, const request *r, const pairs *p, tamis_error *err)
{
    char sampled[TAMIS_DECIMAL], outsider[TAMIS_DECIMAL];
    tamis_number *given = NULL, *one = NULL, *other = NULL;
    *text = NULL;
    if (isinf(p->sampled.upper)) return TAMIS_OK;
    tamis_decimal_up(sampled, p->sampled.upper, 17);
    tamis_decimal_up(outsider, p->outsider.upper, 17);
    tamis_status status = tamis_number_read(&given, p->given, err);
    if (status == TAMIS_OK) status = tamis_number_read(&one, sampled, err);
    if (status == TAMIS_OK && r->outsider) status = tamis_number_read(&other, outsider, err);
    tamis_promise promise = {.eps = p->by_epsilon ? given : one,
                             .delta = p->by_epsilon ? one : given,
                             .outsider_eps = p->by_epsilon && other ? given : other,
                             .outsider_delta = p->by_epsilon || !other ? other : given};
    if (status == TAMIS_OK) status = (r->call->json ? tamis_meaning_json : tamis_meaning_text)(text, &promise, err);
    tamis_number_free(given);
    tamis_number_free(one);
    tamis_number_free(other);
    return status;
}

/* ---- words ---- */

static void put_subject(char *room, size_t size, const request *r)
{
    char count[32], N[32], n[32];
    cli_thousands(count, sizeof count, r->releases);
    int used = snprintf(room, size, "%s release%s about the same people, composed", count, r->releases == 1 ? "" : "s");
    if (r->outsider && used > 0)
        snprintf(room + used, size - (size_t)used, "; one simple random sample of %s out of %s",
                 cli_thousands(n, sizeof n, r->sample), cli_thousands(N, sizeof N, r->population));
}

static void explain(const request *r, const char *words)
{
    puts("\nWhat it means");
    cli_paragraph(stdout,
                  "The curve is the guarantee of a sampled person, even if it is known who was sampled. It holds if the list was "
                  "fixed before the first answer was seen, and includes everything that is released about these people. One step "
                  "replaces one record of the sample.",
                  2);
    if (r->outsider)
        cli_paragraph(stdout,
                      "The outsider's numbers hold as long as nobody outside knows who was sampled: all releases share one draw, "
                      "so they were composed first and amplified once.",
                      2);
    if (words) printf("\n%s", words);
}

static void json_head(const request *r)
{
    printf("{\"releases\": %" PRId64, r->releases);
    if (r->outsider)
        printf(", \"design\": {\"srs\": {\"population\": %" PRId64 ", \"sample\": %" PRId64 "}}", r->population, r->sample);
}

static void json_who(const char *name, const pairs *p, tamis_bound value)
{
    tamis_number *given = NULL;
    char *exact = NULL;
    if (tamis_number_read(&given, p->given, NULL) == TAMIS_OK && tamis_number_write(&exact, given, NULL) == TAMIS_OK)
        printf(", \"%s\": {\"%s\": \"%s\", \"%s\": ", name, p->by_epsilon ? "epsilon" : "delta", exact,
               p->by_epsilon ? "delta" : "epsilon");
    cli_put_bound(value);
    putchar('}');
    tamis_number_free(given);
    tamis_free(exact);
}

static int show(const request *r)
{
    char title[160];
    tamis_error err = {0};
    pairs p;
    char *words = NULL;
    cli_guarantee *g = &(cli_guarantee){0};
    put_subject(title, sizeof title, r);
    const cli_mechanism mechanism = {.what = r,
                                     .delta = delta_of,
                                     .epsilon = epsilon_of,
                                     .title = title,
                                     .note_heading = r->outsider ? "delta for an outsider" : NULL};
    int code = cli_guarantee_begin(g, r->call);
    if (code != 0) goto done;
    tamis_status status = cli_guarantee_compute(g, &mechanism, &err);
    cli_point *last = &g->points[g->count > 0 ? g->count - 1 : 0];
    if (r->outsider && last->delta.upper == 0) put_note(&last->note, (tamis_bound){0, 0}); /* where the sampled have delta 0 */
    if (status == TAMIS_OK) status = find_pairs(&p, r, g, &err);
    if (status == TAMIS_OK) status = meaning(&words, r, &p, &err);
    if (status == TAMIS_OK && r->call->json) status = cli_guarantee_ready(g, &err);
    if (status == TAMIS_OK && r->call->json) {
        json_head(r);
        cli_guarantee_json(g);
        json_who("sampled", &p, p.sampled);
        if (r->outsider) json_who("outsider", &p, p.outsider);
        printf("%s%s}\n", words ? ", \"meaning\": " : "", words ? words : "");
    } else if (status == TAMIS_OK) {
        cli_paragraph(stdout, title, 0);
        putchar('\n');
        status = cli_guarantee_show(g, &err);
        if (status == TAMIS_OK) put_who(r, g, &p);
        if (status == TAMIS_OK) explain(r, words);
    }
    code = status == TAMIS_OK ? cli_finish_output() : cli_noise_failed(&(cli_noise){.call = r->call}, &err);
done:
    tamis_free(words);
    cli_guarantee_clear(g);
    return code;
}

static int run(const cli_call *call)
{
    request r;
    int code = read_request(&r, call);
    if (code == 0) code = show(&r);
    tamis_profile_free(r.sampled);
    tamis_outsider_free(r.outsider);
    return code;
}

const cli_command cli_command_privacy_compose = {
    .name = "privacy compose",
    .purpose = "several releases together, composed exactly",
    .about =
        "Computes the exact privacy loss of the people in a sample from all releases in a list: less than the sum of the "
        "epsilons if a delta above 0 is allowed. With --population and --sample it also computes the loss to an attacker who "
        "does not know who was sampled: composed first, amplified once. Amplifying release by release would claim too much, and "
        "no option does that.\n\n"
        "The file is a list, YAML or JSON. Each release has a 'law', the kind of mechanism: laplace, gaussian, discrete_laplace, "
        "discrete_gaussian with a 'scale' (laplace also with 'eps' instead), randomized_response with 'eps', claim with 'eps' "
        "and 'delta', zcdp with 'rho'. 'sensitivity' and 'count' are 1 by default.\n\n"
        "The list must be fixed before the first answer is seen.",
    .operands = {{"FILE", .files = CLI_PLANS, .needed = true, .help = "a list of releases, YAML or JSON"}},
    .options = {{"population", "N", .help = "records in the frame of the one simple random sample"},
                {"sample", "n", .help = "records drawn from it"},
                CLI_GUARANTEE_OPTIONS},
    .examples = {{"tamis privacy compose releases.yaml --delta 1e-6", "a year of tables from one sample"},
                 {"tamis privacy compose releases.yaml --population 6194 --sample 200",
                  "also for an attacker who does not know the sample"},
                 {"echo '[{law: laplace, eps: 1, count: 10}]' >l; tamis privacy compose l", "ten tables of epsilon 1"}},
    .run = run,
};

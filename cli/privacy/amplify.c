/* tamis privacy amplify: what a sampling design leaves of an epsilon. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "guarantee.h"

#define DIGITS 5 /* of an epsilon or a delta */

typedef struct request {
    const cli_call *call;
    tamis_plan *plan;
    tamis_design *design;
    tamis_number *own_eps, *delta;
    tamis_sample_promise promise; /* as asked: of the sample, or with --inverse of the frame */
    tamis_sampling_facts facts;
    cli_svg svg;

    tamis_sample_promise sample; /* what holds for a sampled person, one release */
    tamis_bound eps_n, delta_n;  /* with --inverse */
    tamis_number *down_eps, *down_delta;
    tamis_amplified amplified;
} request;

/* ---- what is asked ---- */

static int read_design(request *r, tamis_error *err)
{
    const cli_call *call = r->call;
    const char *json = cli_value(call, "design"), *population = cli_value(call, "population"),
               *sample = cli_value(call, "sample");
    int64_t N, n;
    if ((call->operand_count > 0) + (json != NULL) + (population || sample) != 1)
        return cli_wrong_usage(call->command, "give one of a plan, --design, or --population and --sample");
    if (call->operand_count > 0) { /* a plan says by itself what is public and what is not */
        if (tamis_plan_read(&r->plan, call->operands[0], err) != TAMIS_OK ||
            tamis_plan_sampling(&r->design, &r->facts, &r->promise.eps, &r->promise.delta, r->plan, err) != TAMIS_OK)
            return cli_failed(err, call->operands[0]);
        return 0;
    }
    if (json) {
        if (tamis_design_read(&r->design, json, err) == TAMIS_OK) return 0;
        return err->status == TAMIS_INVALID ? cli_wrong_usage(call->command, "--design: %s", err->message)
                                            : cli_failed(err, NULL);
    }
    if (!population || !cli_whole(&N, population, 1, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--population needs a whole number from 1 to 2^40, such as 6194");
    if (!sample || !cli_whole(&n, sample, 1, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--sample needs a whole number, at least 1, such as 200");
    if (n > N) return cli_wrong_usage(call->command, "--sample cannot be more than the --population");
    return tamis_design_srs(&r->design, N, n, err) == TAMIS_OK ? 0 : cli_failed(err, NULL);
}

static tamis_neighbours neighbours(const char *text)
{
    return text && strcmp(text, "add_remove") == 0 ? TAMIS_ADD_REMOVE : TAMIS_REPLACE;
}

static int read_request(request *r, const cli_call *call)
{
    tamis_error err = {0};
    const char *eps = cli_value(call, "epsilon"), *delta = cli_value(call, "delta"), *releases = cli_value(call, "releases");
    const char *frame = cli_value(call, "neighbours"), *mechanism = cli_value(call, "mechanism");
    *r = (request){.call = call};
    int code = read_design(r, &err);
    if (code != 0) return code;
    if (!eps && !r->promise.eps) return cli_wrong_usage(call->command, "--epsilon is needed, such as 1 or 0.25");
    if (eps && tamis_number_read(&r->own_eps, eps, &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--epsilon: %s", err.message);
    if (tamis_number_read(&r->delta, delta ? delta : "0", &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--delta: %s", err.message);
    if (eps) r->promise.eps = r->own_eps;
    if (delta || !r->promise.delta) r->promise.delta = r->delta; /* a plan may have its own */
    r->promise.neighbours = neighbours(frame);
    r->promise.mechanism = neighbours(mechanism ? mechanism : frame);
    if (releases && !cli_whole(&r->promise.releases, releases, 1, 1000000))
        return cli_wrong_usage(call->command, "--releases needs a whole number from 1 to 10^6");
    r->facts.known |= cli_value(call, "known-sample") != NULL;
    r->facts.by_response |= cli_value(call, "nonresponse") != NULL;
    r->facts.one_of_several |= cli_value(call, "one-of-several") != NULL;
    r->facts.as_srs |= cli_value(call, "as-srs") != NULL;
    return 0;
}

static void clear_request(request *r)
{
    tamis_plan_free(r->plan);
    tamis_design_free(r->design);
    tamis_number_free(r->own_eps);
    tamis_number_free(r->delta);
    tamis_number_free(r->down_eps);
    tamis_number_free(r->down_delta);
    tamis_amplified_clear(&r->amplified);
}

/* What the library says about its parameters, said about the options. */
static int failed(const request *r, const tamis_error *err)
{
    static const char *const names[][2] = {{"eps: ", "epsilon "}, {"delta: ", "delta "}};
    for (size_t i = 0; err->status == TAMIS_INVALID && i < sizeof names / sizeof *names; i++)
        if (strncmp(err->message, names[i][0], strlen(names[i][0])) == 0)
            return cli_wrong_usage(r->call->command, "--%s%s", names[i][1], err->message + strlen(names[i][0]));
    return cli_failed(err, NULL);
}

/* ---- numbers ---- */

/* The lower end as a number, all its digits. */
static tamis_status read_down(tamis_number **number, double x, tamis_error *err)
{
    char text[TAMIS_DECIMAL];
    tamis_decimal_down(text, x, 17);
    return tamis_number_read(number, text, err);
}

static tamis_status compute(request *r, tamis_error *err)
{
    tamis_status status = tamis_sampling_facts_check(&r->facts, r->design, err);
    r->sample = r->promise;
    if (status == TAMIS_OK && cli_value(r->call, "inverse")) {
        status = tamis_amplify_design_inverse(&r->eps_n, &r->delta_n, r->design, &r->promise, err);
        if (status == TAMIS_OK) status = read_down(&r->down_eps, r->eps_n.lower, err);
        if (status == TAMIS_OK) status = read_down(&r->down_delta, r->delta_n.lower, err);
        r->sample.eps = r->down_eps;
        r->sample.delta = r->down_delta;
    }
    if (status == TAMIS_OK) status = tamis_amplify_design(&r->amplified, r->design, &r->sample, err);
    return status;
}

/* ---- the curve ---- */

static const char *const rows[] = {"0.1", "0.2", "0.5", "1", "2", "5", "10"};
#define ROWS (sizeof rows / sizeof *rows)
#define POINTS 40

typedef struct curve {
    tamis_bound at[ROWS];        /* of the table */
    double x[POINTS], y[POINTS]; /* of the plot */
} curve;

static tamis_status at(tamis_bound *eps_pop, const request *r, const char *text, tamis_error *err)
{
    tamis_sample_promise promise = r->sample;
    tamis_amplified amplified;
    tamis_number *eps = NULL, *zero = NULL;
    tamis_status status = tamis_number_read(&eps, text, err);
    if (status == TAMIS_OK) status = tamis_number_read(&zero, "0", err);
    promise.eps = eps;
    promise.delta = zero;
    if (status == TAMIS_OK) status = tamis_amplify_design(&amplified, r->design, &promise, err);
    if (status == TAMIS_OK) {
        *eps_pop = amplified.eps;
        tamis_amplified_clear(&amplified);
    }
    tamis_number_free(eps);
    tamis_number_free(zero);
    return status;
}

static tamis_status follow(curve *c, const request *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double end = fmax(1, fmin(20, 2 * cli_approximately(r->sample.eps)));
    for (size_t i = 0; i < ROWS && status == TAMIS_OK; i++) status = at(&c->at[i], r, rows[i], err);
    for (int i = 0; i < POINTS && status == TAMIS_OK; i++) {
        char text[TAMIS_DECIMAL];
        tamis_bound eps;
        c->x[i] = end * i / (POINTS - 1);
        tamis_decimal_up(text, c->x[i], 17);
        status = at(&eps, r, text, err);
        c->y[i] = eps.upper;
    }
    return status;
}

static const struct {
    const char *theorem, *words;
} theorems[] = {
    {"srs", "simple random sampling"},
    {"srs_with_replacement", "independent draws of one record, with replacement"},
    {"poisson", "each record drawn independently"},
    {"strongly_rayleigh", "unequal probabilities, fixed size; one exchange couples samples"},
    {"stratified", "strata, each by itself"},
    {"cluster", "whole clusters, which come and go together"},
    {"two_stage", "two stages"},
    {"systematic", "every k-th record of a public list, one cluster of them"},
    {"census", "everybody"},
};

static const char *words_of(const char *theorem)
{
    for (size_t i = 0; i < sizeof theorems / sizeof *theorems; i++)
        if (strcmp(theorems[i].theorem, theorem) == 0) return theorems[i].words;
    return theorem;
}

static void draw(tamis_plot *plot, tamis_plot_curve curves[2], const curve *c, const request *r)
{
    curves[0] = (tamis_plot_curve){"a person of the frame", c->x, c->y, POINTS, false};
    const char *sampled = r->promise.releases > 1 ? "a sampled person, each release" : "a sampled person";
    curves[1] = (tamis_plot_curve){sampled, c->x, c->x, POINTS, true};
    *plot = (tamis_plot){.title = "What sampling leaves of epsilon",
                         .subtitle = words_of(r->amplified.theorem),
                         .x = {.label = "epsilon of each release, on the sample"},
                         .y = {.label = "epsilon for a person of the frame"},
                         .curves = curves,
                         .curve_count = 2};
}

/* ---- text ---- */

static void put_heading(const request *r)
{
    char N[32], n[32];
    int64_t sample = tamis_design_sample(r->design);
    cli_thousands(N, sizeof N, tamis_design_population(r->design));
    cli_thousands(n, sizeof n, sample);
    printf("Design: %s", words_of(r->amplified.theorem));
    if (cli_value(r->call, "design") || sample < 0) putchar('\n'); /* the size is random, or nobody has to know it */
    else printf("; %s of %s\n", n, N);
    printf("One step is one record %s\n",
           r->promise.neighbours == TAMIS_REPLACE ? "replaced in the frame" : "added to the frame or removed");
    if (r->promise.releases > 1)
        printf("%" PRId64 " releases of one sample: composed first, amplified once\n", r->promise.releases);
}

/* What was asked, as it was written; an epsilon of the plan exactly. */
static void put_asked(char cell[CLI_CELL], const request *r, const char *option, const tamis_number *x)
{
    const char *text = cli_value(r->call, option);
    char *exact = NULL;
    if (!text && tamis_number_write(&exact, x, NULL) == TAMIS_OK) text = exact;
    cli_cut_number(cell, text ? text : "");
    tamis_free(exact);
}

/* Whether a part has exactly what a sampled person has: then it is printed as it was asked, not rounded up. */
static bool unchanged(const request *r, const tamis_amplified_part *p)
{
    return p->take_all && r->promise.releases <= 1 && r->promise.neighbours == TAMIS_REPLACE &&
           r->promise.mechanism == TAMIS_REPLACE && strcmp(p->theorem, "srs_with_replacement") != 0 &&
           !cli_value(r->call, "inverse");
}

/* The part with the largest epsilon. */
static const tamis_amplified_part *worst_part(const tamis_amplified *a)
{
    const tamis_amplified_part *worst = a->parts;
    for (size_t i = 1; i < a->count; i++)
        if (a->parts[i].eps.upper > worst->eps.upper) worst = &a->parts[i];
    return worst;
}

static void put_pair(char eps[CLI_CELL], char delta[CLI_CELL], const request *r, const tamis_amplified_part *p)
{
    if (unchanged(r, p)) {
        put_asked(eps, r, "epsilon", r->promise.eps);
        put_asked(delta, r, "delta", r->promise.delta);
    } else {
        tamis_decimal_up(eps, p->eps.upper, DIGITS);
        tamis_decimal_up(delta, p->delta.upper, DIGITS);
    }
}

/* Releases add up: exact as words, where a product would have to be rounded. */
static void put_times(char cell[CLI_CELL], int64_t releases, const char *each)
{
    if (strcmp(each, "0") == 0) snprintf(cell, CLI_CELL, "0");
    else snprintf(cell, CLI_CELL, "%" PRId64 " x %.40s", releases, each);
}

static void put_result(const request *r, bool ascii)
{
    bool inverse = cli_value(r->call, "inverse"), several = r->promise.releases > 1;
    size_t last = several ? 3 : 2; /* the frame's row */
    cli_cells cells[4] = {{"who", "epsilon", "delta"}};
    const char *step = r->promise.neighbours == r->promise.mechanism ? "" /* what epsilon counts, where that is another step */
                       : r->promise.mechanism == TAMIS_REPLACE       ? ", who is replaced"
                                                                     : ", who is there or not";
    snprintf(cells[1][0], CLI_CELL, "a sampled person%s%s", step, several ? ", each release" : "");
    snprintf(cells[last][0], CLI_CELL, "anybody of the frame, %s secret", several ? "in all, sample" : "if the sample is");
    put_asked(cells[inverse ? last : 1][1], r, "epsilon", r->promise.eps);
    put_asked(cells[inverse ? last : 1][2], r, "delta", r->promise.delta);
    if (inverse) {
        tamis_decimal_down(cells[1][1], r->eps_n.lower, DIGITS);
        tamis_decimal_down(cells[1][2], r->delta_n.lower, DIGITS);
        puts("What may be spent on the sample for this target:");
    } else {
        tamis_amplified_part whole = *worst_part(&r->amplified); /* its epsilon, and the largest delta */
        if (!unchanged(r, &whole)) whole.delta = r->amplified.delta;
        put_pair(cells[last][1], cells[last][2], r, &whole);
    }
    if (several) {
        snprintf(cells[2][0], CLI_CELL, "a sampled person%s, in all", step);
        for (size_t i = 1; i <= 2; i++) put_times(cells[2][i], r->promise.releases, cells[1][i]);
    }
    putchar('\n');
    cli_table("lll", (const cli_cells *)cells, last + 1, ascii);
}

#define PARTS 40 /* strata listed one by one */

static void put_parts(const request *r, bool ascii)
{
    cli_cells cells[PARTS + 1] = {{"stratum", "units", "epsilon", "delta", "theorem"}};
    const tamis_amplified *a = &r->amplified;
    size_t count = a->count < PARTS ? a->count : PARTS;
    if (a->count < 2) return;
    for (size_t i = 0; i < count; i++) {
        const tamis_amplified_part *p = &a->parts[i];
        const char *name = tamis_plan_stratum(r->plan, (size_t)p->stratum), *whole = p->take_all ? ", taken whole" : "";
        if (name) snprintf(cells[i + 1][0], CLI_CELL, "%.30s%s", name, whole);
        else snprintf(cells[i + 1][0], CLI_CELL, "%" PRId64 "%s", p->stratum, whole);
        cli_thousands(cells[i + 1][1], CLI_CELL, p->units);
        put_pair(cells[i + 1][2], cells[i + 1][3], r, p);
        snprintf(cells[i + 1][4], CLI_CELL, "%s", p->theorem);
    }
    putchar('\n');
    cli_table("lrlll", (const cli_cells *)cells, count + 1, ascii);
    if (count < a->count) printf("and %zu more; --json lists all\n", a->count - count);
}

static void put_curve(const request *r, const curve *c, bool ascii)
{
    bool same = unchanged(r, worst_part(&r->amplified));
    cli_cells cells[ROWS + 1] = {{"epsilon on the sample", "for a person of the frame"}};
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(cells[i + 1][0], CLI_CELL, "%s", rows[i]);
        if (same) snprintf(cells[i + 1][1], CLI_CELL, "%s", rows[i]);
        else tamis_decimal_up(cells[i + 1][1], c->at[i].upper, DIGITS);
    }
    putchar('\n');
    cli_table("ll", (const cli_cells *)cells, ROWS + 1, ascii);
}

/* Upper ends, all their digits. */
static tamis_status read_up(tamis_number **eps, tamis_number **delta, const tamis_amplified *a, tamis_error *err)
{
    char text[TAMIS_DECIMAL];
    tamis_decimal_up(text, a->eps.upper, 17);
    tamis_status status = tamis_number_read(eps, text, err);
    tamis_decimal_up(text, a->delta.upper, 17);
    return status == TAMIS_OK ? tamis_number_read(delta, text, err) : status;
}

/* What a sampled person has, where that is not as it was written: by all releases, and by a step of the frame where the
 * mechanism counts steps of another kind. It is what a census would leave. */
static tamis_status sampled_in_all(tamis_number **eps, tamis_number **delta, const request *r, tamis_error *err)
{
    tamis_sample_promise promise = r->sample;
    tamis_amplified amplified = {0};
    tamis_design *census = NULL;
    if (promise.mechanism == TAMIS_REPLACE) promise.neighbours = TAMIS_REPLACE; /* it compares samples of one size only */
    if (promise.releases <= 1 && promise.neighbours == promise.mechanism) return TAMIS_OK;
    tamis_status status = tamis_design_census(&census, 1, err);
    if (status == TAMIS_OK) status = tamis_amplify_design(&amplified, census, &promise, err);
    if (status == TAMIS_OK) status = read_up(eps, delta, &amplified, err);
    tamis_amplified_clear(&amplified);
    tamis_design_free(census);
    return status;
}

/* The numbers of the guarantee as the text of tamis_meaning, upper ends. */
static tamis_status meaning(char **text, const request *r, bool json, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL, *outsider_eps = NULL, *outsider_delta = NULL;
    tamis_status status = sampled_in_all(&eps, &delta, r, err);
    if (status == TAMIS_OK) status = read_up(&outsider_eps, &outsider_delta, &r->amplified, err);
    tamis_promise promise = {eps ? eps : r->sample.eps, delta ? delta : r->sample.delta, outsider_eps, outsider_delta, NULL};
    if (status == TAMIS_OK) status = (json ? tamis_meaning_json : tamis_meaning_text)(text, &promise, err);
    tamis_number_free(eps);
    tamis_number_free(delta);
    tamis_number_free(outsider_eps);
    tamis_number_free(outsider_delta);
    return status;
}

static tamis_status show(request *r, tamis_error *err)
{
    bool ascii = cli_plain_letters(r->call);
    curve c;
    tamis_plot plot;
    tamis_plot_curve curves[2];
    char *picture = NULL, *words = NULL;
    tamis_status status = follow(&c, r, err);
    draw(&plot, curves, &c, r);
    if (status == TAMIS_OK) status = cli_svg_write(&r->svg, &plot, err);
    plot.title = plot.subtitle = NULL;
    if (status == TAMIS_OK) status = tamis_plot_text(&picture, &plot, ascii ? TAMIS_LETTERS_ASCII : TAMIS_LETTERS_BRAILLE, err);
    if (status == TAMIS_OK) status = meaning(&words, r, false, err);
    if (status == TAMIS_OK) {
        put_heading(r);
        put_result(r, ascii);
        put_parts(r, ascii);
        put_curve(r, &c, ascii);
        printf("\n%s", picture);
        puts("\nWhat it means");
        cli_paragraph(stdout,
                      "The last line of the first table holds as long as nobody outside knows or learns who was "
                      "sampled, and the selection looked at nothing that is protected. To whoever saw the interviewer "
                      "only what a sampled person has is promised.",
                      2);
        printf("\n%s", words);
    }
    tamis_free(picture);
    tamis_free(words);
    return status;
}

/* ---- JSON ---- */

static void put_number(const char *name, const tamis_number *x)
{
    char *exact = NULL;
    if (tamis_number_write(&exact, x, NULL) == TAMIS_OK) printf("\"%s\": \"%s\"", name, exact);
    tamis_free(exact);
}

static void put_bounds(tamis_bound eps, tamis_bound delta)
{
    fputs("\"epsilon\": ", stdout);
    cli_put_bound(eps);
    fputs(", \"delta\": ", stdout);
    cli_put_bound(delta);
}

static tamis_status show_json(request *r, tamis_error *err)
{
    const tamis_amplified *a = &r->amplified;
    curve c;
    tamis_plot plot;
    tamis_plot_curve curves[2];
    char *words = NULL;
    tamis_status status = follow(&c, r, err);
    draw(&plot, curves, &c, r);
    if (status == TAMIS_OK) status = cli_svg_write(&r->svg, &plot, err);
    if (status == TAMIS_OK) status = meaning(&words, r, true, err);
    if (status != TAMIS_OK) return status;
    printf("{\"theorem\": \"%s\", \"releases\": %" PRId64 ", \"sample\": {", a->theorem,
           r->promise.releases > 1 ? r->promise.releases : 1);
    put_number("epsilon", r->sample.eps);
    fputs(", ", stdout);
    put_number("delta", r->sample.delta);
    fputs("}, ", stdout);
    if (cli_value(r->call, "inverse")) {
        fputs("\"may_be_spent\": {", stdout);
        put_bounds(r->eps_n, r->delta_n);
        fputs("}, ", stdout);
    }
    fputs("\"outsider\": {", stdout);
    put_bounds(a->eps, a->delta);
    printf("}, \"worst\": %" PRId64 ", \"parts\": [", a->worst);
    for (size_t i = 0; i < a->count; i++) {
        const tamis_amplified_part *p = &a->parts[i];
        printf("%s{\"stratum\": %" PRId64 ", \"take_all\": %s, \"units\": %" PRId64 ", \"worst\": %" PRId64
               ", \"theorem\": \"%s\", ",
               i > 0 ? ", " : "", p->stratum, p->take_all ? "true" : "false", p->units, p->worst, p->theorem);
        put_bounds(p->eps, p->delta);
        putchar('}');
    }
    fputs("], \"curve\": [", stdout);
    for (size_t i = 0; i < ROWS; i++) {
        printf("%s{\"epsilon\": \"%s\", \"outsider\": ", i > 0 ? ", " : "", rows[i]);
        cli_put_bound(c.at[i]);
        putchar('}');
    }
    printf("], \"meaning\": %s}\n", words);
    tamis_free(words);
    return TAMIS_OK;
}

static int run(const cli_call *call)
{
    request r;
    tamis_error err = {0};
    int code = read_request(&r, call);
    if (code == 0) code = cli_svg_open(&r.svg, call);
    if (code == 0) {
        tamis_status status = compute(&r, &err);
        if (status == TAMIS_OK) status = call->json ? show_json(&r, &err) : show(&r, &err);
        code = status == TAMIS_OK ? cli_finish_output() : failed(&r, &err);
    }
    cli_svg_close(&r.svg);
    clear_request(&r);
    return code;
}

extern const cli_command cli_command_privacy_amplify;
const cli_command cli_command_privacy_amplify = {
    .name = "privacy amplify",
    .purpose = "what a sampling design leaves of an epsilon",
    .about = "A release is epsilon-private for the people of a sample. Somebody who does not know who was sampled learns less: "
             "this command says how much less, for simple random samples, strata, unequal probabilities, clusters and "
             "stages, and refuses where nothing is proved.\n\n"
             "The design is that of a plan, a simple random sample, or written as in docs/compute.md, section Designs. "
             "With --inverse, epsilon and delta are a target for the frame, and the answer is what may be spent on the "
             "sample, rounded down.\n\n"
             "What makes amplification void is refused with its reason: a sample that is known, nonresponse counted as "
             "sampling, one of several releases taken alone, clusters taken for a simple random sample.",
    .operands = (const cli_argument[]){{.name = "PLAN.yaml",
                                        .help = "a plan: its design, its epsilon, and whether the sample is secret",
                                        .files = CLI_PLANS},
                                       {0}},
    .options =
        (const cli_argument[]){
            {.name = "epsilon", .value = "E", .help = "of each release, on the sample; a plan has its own"},
            {.name = "delta", .value = "D", .help = "of each release, on the sample (default 0, or that of the plan)"},
            {.name = "population", .value = "N", .help = "records in the frame of a simple random sample"},
            {.name = "sample", .value = "n", .help = "records drawn from it"},
            {.name = "design", .value = "JSON", .help = "any design"},
            {.name = "inverse", .help = "epsilon and delta are wanted for the frame: what may be spent?"},
            {.name = "releases",
             .value = "K",
             .help = "number of releases from this sample (composed first, then amplified once)"},
            {.name = "neighbours",
             .value = "WORD",
             .choices = "replace add_remove",
             .help = "what changes in the frame: replace "
                     "(default) or add_remove"},
            {.name = "mechanism",
             .value = "WORD",
             .choices = "replace add_remove",
             .help = "what epsilon counts on the sample, in "
                     "the same words (default: as --neighbours)"},
            {.name = "known-sample", .help = "somebody outside knows who was sampled"},
            {.name = "nonresponse", .help = "the sample is who chose to answer"},
            {.name = "one-of-several", .help = "epsilon is that of one release, and the sample has others"},
            {.name = "as-srs", .help = "insist on log(1 + rate (e^epsilon - 1))"},
            {.name = "svg", .value = "FILE", .help = "also write the curve as a picture; replaces FILE"},
            {.name = "ascii", .help = "the plot in plain letters, as where the locale has no others"},
            {0}},
    .examples = (const cli_example[]){{"tamis privacy amplify --population 6194 --sample 200 --epsilon 1",
                                       "what does a person of the frame have?"},
                                      {"tamis privacy amplify --population 6194 --sample 200 --epsilon 0.1 --inverse",
                                       "what may be spent for epsilon 0.1 in the frame?"},
                                      {"tamis privacy amplify --population 100 --sample 1 --epsilon 1 --releases 10",
                                       "ten releases of one sample"},
                                      {"tamis privacy amplify --epsilon 1 --design '{\"census\": {\"population\": 9}}'",
                                       "any design, as JSON"},
                                      {0}},
    .run = run,
};

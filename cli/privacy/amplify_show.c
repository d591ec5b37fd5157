/* The answer of tamis privacy amplify: numbers, a curve, strata, JSON. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "amplify.h"

#define DIGITS 5 /* of an epsilon or a delta */

/* ---- the curve ---- */

static const char *const rows[] = {"0.1", "0.2", "0.5", "1", "2", "5", "10"};
#define ROWS (sizeof rows / sizeof *rows)
#define POINTS 40

typedef struct curve {
    tamis_bound at[ROWS];        /* of the table */
    double x[POINTS], y[POINTS]; /* of the plot */
} curve;

static tamis_status at(tamis_bound *eps_pop, const amplify_request *r, const char *text, tamis_error *err)
{
    tamis_sample_promise promise = r->sample;
    tamis_amplified amplified;
    tamis_number *eps = NULL, *zero = NULL;
    promise.pure = promise.mu_squared = promise.rho = NULL; /* the curve is that of pure epsilons */
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

static tamis_status follow(curve *c, const amplify_request *r, tamis_error *err)
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
    {"strongly_rayleigh", "unequal probabilities, fixed sample size; samples with and without a unit differ by one exchange"},
    {"stratified", "strata, sampled independently"},
    {"cluster", "clusters, whose units are drawn together"},
    {"two_stage", "two stages"},
    {"within_clusters", "the second stage alone, inside drawn clusters; it holds even if these are known"},
    {"systematic", "every k-th record of a public list: one cluster"},
    {"census", "everybody"},
};

static const char *words_of(const char *theorem)
{
    for (size_t i = 0; i < sizeof theorems / sizeof *theorems; i++)
        if (strcmp(theorems[i].theorem, theorem) == 0) return theorems[i].words;
    return theorem;
}

static void draw(tamis_plot *plot, tamis_plot_curve curves[2], const curve *c, const amplify_request *r)
{
    curves[0] = (tamis_plot_curve){"a person in the frame", c->x, c->y, POINTS, false};
    const char *sampled = r->promise.releases > 1 ? "a sampled person, each release" : "a sampled person";
    curves[1] = (tamis_plot_curve){sampled, c->x, c->x, POINTS, true};
    *plot = (tamis_plot){.title = "Epsilon after amplification by sampling",
                         .subtitle = words_of(r->amplified.theorem),
                         .x = {.label = "epsilon of each release, on the sample"},
                         .y = {.label = "epsilon for a person in the frame"},
                         .curves = curves,
                         .curve_count = 2};
}

/* ---- text ---- */

static void put_heading(const amplify_request *r)
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
static void put_asked(char cell[CLI_CELL], const amplify_request *r, const char *option, const tamis_number *x)
{
    const char *text = cli_value(r->call, option);
    char *exact = NULL;
    if (!text && tamis_number_write(&exact, x, NULL) == TAMIS_OK) text = exact;
    cli_cut_number(cell, text ? text : "");
    tamis_free(exact);
}

/* Whether a part has exactly what a sampled person has: then it is printed as it was asked, not rounded up. */
static bool unchanged(const amplify_request *r, const tamis_amplified_part *p)
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

static void put_pair(char eps[CLI_CELL], char delta[CLI_CELL], const amplify_request *r, const tamis_amplified_part *p)
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

static void put_result(const amplify_request *r, bool ascii)
{
    bool inverse = cli_value(r->call, "inverse"), several = r->promise.releases > 1;
    size_t last = several ? 3 : 2; /* the frame's row */
    cli_cells cells[4] = {{"who", "epsilon", "delta"}};
    const char *step = r->promise.neighbours == r->promise.mechanism ? "" /* what epsilon counts, where that is another step */
                       : r->promise.mechanism == TAMIS_REPLACE       ? ", who is replaced"
                                                                     : ", who is added or removed";
    snprintf(cells[1][0], CLI_CELL, "a sampled person%s%s", step, several ? ", each release" : "");
    snprintf(cells[last][0], CLI_CELL, "anybody in the frame, %s secret", several ? "in all, sample" : "if the sample is");
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

static void put_parts(const amplify_request *r, bool ascii)
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

static void put_curve(const amplify_request *r, const curve *c, bool ascii)
{
    bool same = unchanged(r, worst_part(&r->amplified));
    cli_cells cells[ROWS + 1] = {{"epsilon on the sample", "for a person in the frame"}};
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
static tamis_status sampled_in_all(tamis_number **eps, tamis_number **delta, const amplify_request *r, tamis_error *err)
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
static tamis_status meaning(char **text, const amplify_request *r, bool json, tamis_error *err)
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

tamis_status amplify_show(amplify_request *r, tamis_error *err)
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
                      "The last line of the first table holds as long as nobody outside knows or learns who was sampled, and the "
                      "selection did not depend on protected values. It replaces the epsilon of a sampled person; it is not "
                      "added to it. Against somebody who saw the interviewer, only the guarantee of a sampled person holds.",
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

tamis_status amplify_show_json(amplify_request *r, tamis_error *err)
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

/* tamis privacy design: the Horvitz-Thompson total under the design of a plan, as a mechanism. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

#define MOST_PARTS 20 /* rows of the table of strata */

/* What holds in each stratum. */
typedef struct parts {
    tamis_ht_part *list;
    size_t count;
} parts;

typedef struct request {
    const cli_call *call;
    cli_noise noise;
    tamis_outline *outline;
    tamis_design *design;
    tamis_number *from, *to, *grid; /* of the values; grid is NULL if any number between is possible */
    tamis_number *step;             /* of discrete noise; NULL if it is not asked for, or if there is none */
    tamis_ht_range range;
    parts asked; /* see find_parts */
} request;

/* ---- what is asked ---- */

static bool is_discrete(tamis_noise_kind kind)
{
    return kind == TAMIS_NOISE_DISCRETE_LAPLACE || kind == TAMIS_NOISE_DISCRETE_GAUSSIAN;
}

/* FROM:TO or FROM:TO:STEP. */
static int read_range(request *r)
{
    const char *text = cli_value(r->call, "range"), *column = cli_value(r->call, "column");
    tamis_number **const numbers[] = {&r->from, &r->to, &r->grid};
    tamis_error err = {0};
    if (text && column) return cli_wrong_usage(r->call->command, "give either --range or --column, not both");
    if (column) {
        tamis_status status = tamis_outline_range(&r->from, &r->to, &r->grid, r->outline, column, &err);
        return status == TAMIS_OK ? 0 : cli_failed(&err, r->call->operands[0]);
    }
    if (!text) text = "0:1:1";
    for (size_t i = 0; i < 3 && text; i++) {
        char part[TAMIS_NUMBER_DIGITS] = "";
        const char *colon = strchr(text, ':');
        size_t length = colon ? (size_t)(colon - text) : strlen(text);
        if (length < sizeof part) memcpy(part, text, length);
        if (!*part) break;
        if (tamis_number_read(numbers[i], part, &err) != TAMIS_OK)
            return cli_wrong_usage(r->call->command, "--range: %s", err.message);
        text = colon ? colon + 1 : NULL;
    }
    if (!r->to || text)
        return cli_wrong_usage(r->call->command, "--range needs the least and the largest value, such as 0:4000, and for "
                                                 "discrete noise their step, such as 0:4000:1");
    if (!(cli_approximately(r->from) < cli_approximately(r->to)))
        return cli_wrong_usage(r->call->command, "--range FROM:TO needs FROM below TO");
    return 0;
}

/* The grid of discrete noise. A target is also answered without one, as long as that noise is not the one asked for. */
static int find_step(request *r)
{
    static const char digits[] = "; without one the totals are on no grid, and the noise would not hide their digits";
    const char *column = cli_value(r->call, "column");
    tamis_error err = {0};
    if (!is_discrete(r->noise.kind) && !r->noise.target_eps) return 0;
    tamis_status status = tamis_ht_range_step(&r->step, &r->range, &err);
    if (status == TAMIS_OK || (status != TAMIS_SYSTEM && !is_discrete(r->noise.kind))) return 0;
    if (!r->grid && status == TAMIS_INVALID && !column)
        return cli_wrong_usage(r->call->command, "--range: discrete noise needs the step of the values, such as 0:4000:1%s",
                               digits);
    if (!r->grid && status == TAMIS_INVALID)
        snprintf(err.message, sizeof err.message, "columns.%.200s: discrete noise needs a step%s", column, digits);
    return cli_failed(&err, r->call->operands[0]);
}

static int read_request(request *r, const cli_call *call)
{
    tamis_error err = {0}, inner = {0};
    *r = (request){.call = call};
    int code = cli_noise_read(&r->noise, call);
    if (code != 0) return code;
    if (tamis_outline_read(&r->outline, call->operands[0], &err) != TAMIS_OK) return cli_failed(&err, call->operands[0]);
    if (tamis_outline_sampling(&r->design, r->outline, &inner) != TAMIS_OK) {
        err.status = inner.status;
        snprintf(err.message, sizeof err.message, "design: %.4000s", inner.message);
        return cli_failed(&err, call->operands[0]);
    }
    code = read_range(r);
    if (code != 0) return code;
    r->range = (tamis_ht_range){
        .design = r->design, .from = r->from, .to = r->to, .grid = r->grid, .noise = r->noise.kind, .scale = r->noise.scale};
    code = find_step(r);
    if (is_discrete(r->noise.kind)) r->range.step = r->step;
    return code;
}

static void clear_request(request *r)
{
    tamis_number_free(r->from);
    tamis_number_free(r->to);
    tamis_number_free(r->grid);
    tamis_number_free(r->step);
    tamis_design_free(r->design);
    tamis_outline_free(r->outline);
    tamis_free(r->asked.list);
    cli_noise_clear(&r->noise);
}

/* ---- strata ---- */

/* The name of a stratum, or its number. */
static const char *name_of(char room[CLI_CELL], const request *r, size_t stratum)
{
    const char *name = tamis_outline_stratum(r->outline, stratum);
    if (name) snprintf(room, CLI_CELL, "%.*s", CLI_CELL - 1, name);
    else snprintf(room, CLI_CELL, "%zu", stratum + 1);
    return room;
}

/* The largest of all parts, and the one that has it. */
static tamis_bound largest(size_t *worst, const parts *p)
{
    tamis_bound all = {0, 0};
    *worst = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i].value.upper > all.upper) *worst = i;
        all.lower = fmax(all.lower, p->list[i].value.lower);
        all.upper = fmax(all.upper, p->list[i].value.upper);
    }
    return all;
}

/* The largest of the parts, which are freed, also after a failure: the library gives them then too. */
static tamis_status take(tamis_bound *value, cli_note *note, const request *r, parts *p, tamis_status status)
{
    size_t worst = 0;
    char name[CLI_CELL];
    if (status == TAMIS_OK) *value = largest(&worst, p);
    if (status == TAMIS_OK && note && p->count > 0) {
        bool exact = p->list[worst].exact;
        snprintf(note->text, sizeof note->text, "%s", exact ? "exactly" : "at most");
        if (p->count > 1)
            snprintf(note->text + strlen(note->text), sizeof note->text - strlen(note->text), ", hardest in %s%.40s",
                     tamis_outline_stratum(r->outline, worst) ? "" : "stratum ", name_of(name, r, worst));
        snprintf(note->json, sizeof note->json, ", \"exact\": %s, \"stratum\": %zu", exact ? "true" : "false", worst + 1);
    }
    tamis_free(p->list);
    return status;
}

static tamis_status delta_of(tamis_bound *delta, cli_note *note, const void *what, const tamis_number *eps, tamis_error *err)
{
    const request *r = what;
    parts p = {0};
    tamis_status status = tamis_ht_range_delta(&p.list, &p.count, &r->range, eps, err);
    return take(delta, note, r, &p, status);
}

static tamis_status epsilon_of(tamis_bound *eps, const void *what, const tamis_number *delta, tamis_error *err)
{
    const request *r = what;
    parts p = {0};
    tamis_status status = tamis_ht_range_epsilon(&p.list, &p.count, &r->range, delta, err);
    return take(eps, NULL, r, &p, status);
}

static tamis_status pure_of(tamis_bound *eps, const void *what, tamis_error *err)
{
    const request *r = what;
    parts p = {0};
    tamis_status status = tamis_ht_range_pure(&p.list, &p.count, &r->range, err);
    return take(eps, NULL, r, &p, status);
}

/* What was asked, stratum by stratum: delta at --epsilon, epsilon at --delta, else epsilon at delta 0. */
static tamis_status find_parts(void *what, const cli_guarantee *g, tamis_error *err)
{
    request *r = what;
    parts *p = &r->asked;
    return g->eps     ? tamis_ht_range_delta(&p->list, &p->count, &r->range, g->eps, err)
           : g->delta ? tamis_ht_range_epsilon(&p->list, &p->count, &r->range, g->delta, err)
                      : tamis_ht_range_pure(&p->list, &p->count, &r->range, err);
}

typedef struct place {
    double value;
    size_t part;
} place;

static int worse_first(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return x->part < y->part ? -1 : 1;
}

static const char *reason(const char *theorem)
{
    static const char *const words[][2] = {{"independent", "units drawn independently"},
                                           {"exchange", "exchange of records"},
                                           {"any_design", "holds for any design"},
                                           {"srs_window", "simple random sample, known number of ones"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], theorem) == 0) return words[i][1];
    return theorem;
}

static tamis_status show_parts(const void *what, const cli_guarantee *g, tamis_error *err)
{
    const request *r = what;
    const parts *p = &r->asked;
    cli_cells rows[MOST_PARTS + 1] = {{"stratum", "units", "drawn with probability", "", "known", "by"}};
    place *order = calloc(p->count, sizeof *order);
    tamis_status status = order ? TAMIS_OK : TAMIS_SYSTEM;
    size_t shown = p->count < MOST_PARTS ? p->count : MOST_PARTS;
    if (!order) *err = (tamis_error){.status = TAMIS_SYSTEM, .message = "out of memory"};
    snprintf(rows[0][3], CLI_CELL, "%s", g->eps ? "delta" : "epsilon");
    for (size_t i = 0; order && i < p->count; i++) order[i] = (place){p->list[i].value.upper, i};
    if (order) qsort(order, p->count, sizeof *order, worse_first);
    for (size_t i = 0; status == TAMIS_OK && i < shown; i++) {
        const tamis_ht_part *part = &p->list[order[i].part];
        tamis_bound pi;
        char(*row)[CLI_CELL] = rows[i + 1];
        status = tamis_inclusion_first(&pi, r->design, &part->unit, 1, err);
        if (status != TAMIS_OK) break;
        name_of(row[0], r, order[i].part);
        cli_thousands(row[1], CLI_CELL, part->count);
        snprintf(row[2], CLI_CELL, "%.4g", pi.upper);
        tamis_decimal_up(row[3], part->value.upper, CLI_DIGITS);
        snprintf(row[4], CLI_CELL, "%s", part->exact ? "exactly" : "at most");
        snprintf(row[5], CLI_CELL, "%s", reason(part->theorem));
    }
    if (status == TAMIS_OK) {
        printf("\nThe hardest to protect first%s\n", g->eps || g->delta ? "" : ", for delta 0");
        cli_table("lrrrll", (const cli_cells *)rows, shown + 1, cli_plain_letters(r->call));
        if (shown < p->count) printf("and %zu more strata\n", p->count - shown);
    }
    free(order);
    return status;
}

static void json_parts(const void *what, const cli_guarantee *g)
{
    const parts *p = &((const request *)what)->asked;
    fputs(", \"strata\": [", stdout);
    for (size_t i = 0; i < p->count; i++) {
        const tamis_ht_part *part = &p->list[i];
        printf("%s{\"stratum\": %zu, \"units\": %" PRId64 ", \"worst\": %" PRId64
               ", \"exact\": %s, \"theorem\": \"%s\", \"%s\": ",
               i > 0 ? ", " : "", i + 1, part->count, part->unit, part->exact ? "true" : "false", part->theorem,
               g->eps ? "delta" : "epsilon");
        cli_put_bound(part->value);
        putchar('}');
    }
    putchar(']');
}

/* ---- words ---- */

static void write_exact(char *room, size_t size, const tamis_number *number)
{
    char *exact = NULL;
    tamis_status status = tamis_number_write(&exact, number, NULL);
    snprintf(room, size, "%.40s", status == TAMIS_OK ? exact : "?");
    tamis_free(exact);
}

static void put_subject(char *room, size_t size, const request *r)
{
    char N[32], from[48], to[48], grid[48] = "", values[200];
    write_exact(from, sizeof from, r->from);
    write_exact(to, sizeof to, r->to);
    if (r->grid) write_exact(grid, sizeof grid, r->grid);
    if (strcmp(from, "0") == 0 && strcmp(to, "1") == 0 && (r->range.step || strcmp(grid, "1") == 0))
        snprintf(values, sizeof values, "0 or 1");
    else
        snprintf(values, sizeof values, "%s%s%s between %s and %s", r->grid ? "a multiple of " : "", grid, r->grid ? "," : "",
                 from, to);
    const char *name = tamis_design_name(r->design);
    const char *words = strcmp(name, "strata") == 0   ? "stratified"
                        : strcmp(name, "stages") == 0 ? "cluster or two-stage"
                        : strcmp(name, "srs") == 0    ? "simple random"
                                                      : name;
    snprintf(room, size, "Sample from %s units, %s; every value is %s",
             cli_thousands(N, sizeof N, tamis_design_population(r->design)), words, values);
}

static void put_published(char *room, size_t size, const request *r)
{
    char step[48] = "";
    if (r->noise.kind == TAMIS_NOISE_NONE) {
        snprintf(room, size, "published without noise: the estimated total");
        return;
    }
    if (r->range.step) write_exact(step, sizeof step, r->range.step);
    snprintf(room, size, "published with %s noise on the estimated total, scale %s%s%s", cli_kinds[r->noise.kind].words,
             cli_noise_scale(&r->noise), *step ? " steps of " : "", step);
}

static void json_head(const void *what)
{
    const request *r = what;
    char from[48], to[48], step[48];
    write_exact(from, sizeof from, r->from);
    write_exact(to, sizeof to, r->to);
    printf("{\"design\": %s, \"range\": [\"%s\", \"%s\"]", tamis_outline_design(r->outline), from, to);
    if (r->grid) {
        write_exact(step, sizeof step, r->grid);
        printf(", \"grid\": \"%s\"", step);
    }
    if (r->range.step || (r->noise.target_eps && r->step)) {
        write_exact(step, sizeof step, r->step);
        printf(", \"step\": \"%s\"", step);
    }
    cli_noise_json(&r->noise, "total");
}

static void explain(const void *what, const cli_guarantee *g)
{
    const request *r = what;
    char text[1024], words[256], N[32];
    cli_thousands(N, sizeof N, tamis_design_population(r->design));
    puts("\nWhat it means");
    if (g) {
        cli_guarantee_words(words, sizeof words, g);
        snprintf(
            text, sizeof text,
            "For each of the %s units of the frame, sampled or not: if its value changes within the bounds, the probabilities of "
            "any set of results %s. This holds against an attacker who knows all other values, but not who was sampled.",
            N, words);
        cli_paragraph(stdout, text, 2);
    }
    if (strstr(tamis_outline_design(r->outline), "srs_with_replacement"))
        cli_paragraph(
            stdout,
            "A unit counts once, however often it was drawn, divided by the probability that it is drawn at all. An "
            "estimate that adds up all draws, as that of a release does, may reveal more: none of these numbers is for it.",
            2);
    cli_paragraph(stdout,
                  "The bounds, and the sizes and probabilities of the design, are taken as public. Where a number is an upper "
                  "bound, the true value may be smaller, but nothing better is proved.",
                  2);
    if (r->noise.kind == TAMIS_NOISE_LAPLACE || r->noise.kind == TAMIS_NOISE_GAUSSIAN) cli_noise_warn();
}

/* ---- --target ---- */

static tamis_ht_range with_noise(const request *r, tamis_noise_kind kind, const tamis_number *scale)
{
    tamis_ht_range range = r->range;
    range.noise = kind;
    range.scale = scale;
    range.step = is_discrete(kind) ? r->step : NULL;
    return range;
}

static double unit_of(const void *what, tamis_noise_kind kind)
{
    const request *r = what;
    return is_discrete(kind) && r->step ? cli_approximately(r->step) : 1;
}

static const char *missing(const void *what, tamis_noise_kind kind)
{
    const request *r = what;
    if (!is_discrete(kind) || r->step) return NULL;
    return r->grid ? "no common step" : "needs a step";
}

static tamis_status scale_of(tamis_bound *scale, const void *what, tamis_noise_kind kind, const tamis_number *eps,
                             const tamis_number *delta, tamis_error *err)
{
    const tamis_ht_range range = with_noise(what, kind, NULL);
    return tamis_ht_range_scale(scale, &range, eps, delta, err);
}

static tamis_status delta_with(tamis_bound *delta, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                               const tamis_number *eps, tamis_error *err)
{
    const tamis_ht_range range = with_noise(what, kind, scale);
    parts p = {0};
    tamis_status status = tamis_ht_range_delta(&p.list, &p.count, &range, eps, err);
    return take(delta, NULL, what, &p, status);
}

static tamis_status epsilon_with(tamis_bound *eps, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                                 const tamis_number *delta, tamis_error *err)
{
    const tamis_ht_range range = with_noise(what, kind, scale);
    parts p = {0};
    tamis_status status = tamis_ht_range_epsilon(&p.list, &p.count, &range, delta, err);
    return take(eps, NULL, what, &p, status);
}

/* ---- the answer ---- */

static int answer(request *r)
{
    char title[400], subtitle[240], step[48] = "", grid[80];
    put_subject(title, sizeof title, r);
    put_published(subtitle, sizeof subtitle, r);
    if (r->step) write_exact(step, sizeof step, r->step);
    if (*step) snprintf(grid, sizeof grid, "grid of %s", step);
    else snprintf(grid, sizeof grid, "-");
    const cli_mechanism mechanism = {
        r, delta_of, epsilon_of, pure_of, .note_heading = "known", .title = title, .subtitle = subtitle};
    cli_noisy noisy = {r, scale_of, delta_with, epsilon_with, unit_of, missing, .on = {""}};
    for (size_t k = 1; k < CLI_KINDS; k++) noisy.on[k] = k < TAMIS_NOISE_DISCRETE_LAPLACE ? "total" : grid;
    const cli_answer answer = {&r->noise, title, subtitle, r, json_head, explain, find_parts, json_parts, show_parts};
    return cli_answer_asked(&answer, &mechanism, &noisy);
}

static int run(const cli_call *call)
{
    request r;
    int code = read_request(&r, call);
    if (code == 0) code = answer(&r);
    clear_request(&r);
    return code;
}

const cli_command cli_command_privacy_design = {
    .name = "privacy design",
    .purpose = "privacy of any design: strata, clusters, pps",
    .about =
        "The estimated total of a survey is already random, because nobody outside knows who was sampled. This command computes "
        "how private that is for each unit of the frame, by stratum, for any design, and how much noise is still needed. Each "
        "number is marked as exact or as an upper bound.\n\n"
        "The file is a plan, of which only the design and the bounds of --column are used, or a design alone, in YAML or JSON. "
        "Designs that a release does not support are accepted too, written as in docs/compute.md; strata may have names.\n\n"
        "Discrete noise is on the coarsest grid that contains every value times every weight; its scale counts steps of that "
        "grid. It needs the step of the values, of which all of them are multiples; without one it is refused.",
    .operands = {{"PLAN", .files = CLI_PLANS, .needed = true, .help = "a plan or a design, YAML or JSON"}},
    .options = {{"range", "FROM:TO",
                 .help = "the bounds of every value; default 0:1, a yes/no question; FROM:TO:STEP if all are "
                         "multiples of a step"},
                {"column", "NAME", .help = "use the bounds and the step that the plan gives for this column"},
                CLI_NOISE_OPTIONS(" on the total", " on the total's grid"),
                CLI_GUARANTEE_OPTIONS},
    .examples = {{"tamis privacy design plan.yaml --column enroll --laplace 200000",
                  "the total of a column of the plan, with noise"},
                 {"tamis privacy design plan.yaml --target 1,1e-6", "how much noise for a count?"},
                 {"echo 'bernoulli: {rate: 1/9, population: 99}' >d; tamis privacy design d", "a design by itself"}},
    .run = run,
};

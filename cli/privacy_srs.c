/* tamis privacy srs: the Horvitz-Thompson total of a yes/no question under simple random sampling, as a mechanism. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "guarantee.h"

static const struct {
    const char *option, *words, *law, *on;
} kinds[] = {
    [TAMIS_NOISE_NONE] = {NULL, "no noise", "none", NULL},
    [TAMIS_NOISE_LAPLACE] = {"laplace", "Laplace", "laplace", "total"},
    [TAMIS_NOISE_GAUSSIAN] = {"gaussian", "Gaussian", "gaussian", "total"},
    [TAMIS_NOISE_DISCRETE_LAPLACE] = {"discrete-laplace", "discrete Laplace", "discrete_laplace", "sample count"},
    [TAMIS_NOISE_DISCRETE_GAUSSIAN] = {"discrete-gaussian", "discrete Gaussian", "discrete_gaussian", "sample count"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct request {
    const cli_call *call;
    tamis_ht_srs srs;
    tamis_number *scale, *target_eps, *target_delta;
} request;

/* ---- what is asked ---- */

static int read_window(request *r)
{
    const cli_call *call = r->call;
    const char *text = cli_value(call, "ones"), *colon = strchr(text, ':');
    char low[32] = "";
    if (colon && colon - text < (ptrdiff_t)sizeof low) memcpy(low, text, (size_t)(colon - text));
    if (!colon || !cli_whole(&r->srs.low, low, 0, TAMIS_MAX_UNITS) || !cli_whole(&r->srs.high, colon + 1, 0, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--ones needs two whole numbers, the least and the most, such as 400:5794");
    if (r->srs.low >= r->srs.high)
        return cli_wrong_usage(call->command, "--ones LOW:HIGH needs LOW below HIGH: with one possible number nobody's value "
                               "could be another");
    if (r->srs.high > r->srs.N)
        return cli_wrong_usage(call->command, "--ones cannot be more than the --population");
    return 0;
}

static int read_noise(request *r)
{
    tamis_error err = {0};
    const char *first = NULL;
    for (size_t k = 1; k < KINDS; k++) {
        const char *text = cli_value(r->call, kinds[k].option);
        if (!text) continue;
        if (first) return cli_wrong_usage(r->call->command, "--%s and --%s exclude each other", first, kinds[k].option);
        first = kinds[k].option;
        r->srs.noise = (tamis_noise_kind)k;
        if (tamis_number_read(&r->scale, text, &err) != TAMIS_OK)
            return cli_wrong_usage(r->call->command, "--%s: %s", first, err.message);
    }
    r->srs.scale = r->scale;
    return 0;
}

static int read_target(request *r)
{
    tamis_error err = {0};
    const char *text = cli_value(r->call, "target"), *comma = text ? strchr(text, ',') : NULL;
    char eps[TAMIS_NUMBER_DIGITS] = "";
    if (!text) return 0;
    if (cli_value(r->call, "epsilon") || cli_value(r->call, "delta"))
        return cli_wrong_usage(r->call->command, "--target excludes --epsilon and --delta");
    if (comma && comma - text < (ptrdiff_t)sizeof eps) memcpy(eps, text, (size_t)(comma - text));
    if (!*eps) return cli_wrong_usage(r->call->command, "--target needs an epsilon and a delta, such as 0.5,1e-6");
    if (tamis_number_read(&r->target_eps, eps, &err) != TAMIS_OK ||
        tamis_number_read(&r->target_delta, comma + 1, &err) != TAMIS_OK)
        return cli_wrong_usage(r->call->command, "--target: %s", err.message);
    return 0;
}

static int read_request(request *r, const cli_call *call)
{
    *r = (request){.call = call};
    if (!cli_whole(&r->srs.N, cli_value(call, "population"), 1, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--population needs a whole number from 1 to 2^40, such as 6194");
    if (!cli_whole(&r->srs.n, cli_value(call, "sample"), 1, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--sample needs a whole number, at least 1, such as 200");
    if (r->srs.n > r->srs.N) return cli_wrong_usage(call->command, "--sample cannot be more than the --population");
    int code = read_window(r);
    if (code == 0) code = read_noise(r);
    return code == 0 ? read_target(r) : code;
}

static void clear_request(request *r)
{
    tamis_number_free(r->scale);
    tamis_number_free(r->target_eps);
    tamis_number_free(r->target_delta);
}

/* What the library says about its parameters, said about the options. */
static int failed(const request *r, const tamis_error *err)
{
    bool target = cli_value(r->call, "target");
    const char *const names[][2] = {{"eps: ", target ? "target: epsilon " : "epsilon "},
                                    {"delta: ", target ? "target: delta " : "delta "},
                                    {"scale: ", kinds[r->srs.noise].option ? kinds[r->srs.noise].option : "scale"}};
    for (size_t i = 0; err->status == TAMIS_INVALID && i < sizeof names / sizeof *names; i++)
        if (strncmp(err->message, names[i][0], strlen(names[i][0])) == 0)
            return cli_wrong_usage(r->call->command, "--%s%s%s", names[i][1], i == 2 ? " " : "", err->message + strlen(names[i][0]));
    return cli_failed(err, NULL);
}

/* ---- the mechanism ---- */

static tamis_status delta_of(tamis_bound *delta, cli_note *note, const void *what, const tamis_number *eps, tamis_error *err)
{
    tamis_ht_worst worst;
    tamis_status status = tamis_ht_srs_delta(delta, &worst, what, eps, err);
    if (status != TAMIS_OK || !worst.order) return status;
    int64_t first = worst.order == '-' ? worst.t : worst.t + 1, second = worst.order == '-' ? worst.t + 1 : worst.t;
    char a[32], b[32];
    snprintf(note->text, sizeof note->text, "%s ones against %s", cli_thousands(a, sizeof a, first),
             cli_thousands(b, sizeof b, second));
    snprintf(note->json, sizeof note->json, ", \"worst\": [%" PRId64 ", %" PRId64 "]", first, second);
    return status;
}

static tamis_status epsilon_of(tamis_bound *eps, const void *what, const tamis_number *delta, tamis_error *err)
{
    return tamis_ht_srs_epsilon(eps, what, delta, err);
}

static tamis_status pure_of(tamis_bound *eps, const void *what, tamis_error *err)
{
    return tamis_ht_srs_pure(eps, what, err);
}

/* ---- words ---- */

static void put_subject(char *room, size_t size, const tamis_ht_srs *s)
{
    char N[32], n[32], low[32], high[32];
    snprintf(room, size, "Simple random sample of %s out of %s people; %s to %s of them have the value 1",
             cli_thousands(n, sizeof n, s->n), cli_thousands(N, sizeof N, s->N), cli_thousands(low, sizeof low, s->low),
             cli_thousands(high, sizeof high, s->high));
}

static void put_published(char *room, size_t size, const request *r)
{
    char N[32], n[32];
    const tamis_ht_srs *s = &r->srs;
    const char *scale = s->noise == TAMIS_NOISE_NONE ? "" : cli_value(r->call, kinds[s->noise].option);
    if (s->noise == TAMIS_NOISE_NONE)
        snprintf(room, size, "published without noise: %s/%s times the ones in the sample", cli_thousands(N, sizeof N, s->N),
                 cli_thousands(n, sizeof n, s->n));
    else
        snprintf(room, size, "published with %s noise of scale %s on the %s", kinds[s->noise].words, scale,
                 kinds[s->noise].on);
}

static bool touches_an_end(const tamis_ht_srs *s)
{
    return s->low == 0 || s->high == s->N;
}

static void explain(const request *r, const cli_guarantee *g)
{
    const tamis_ht_srs *s = &r->srs;
    char text[1024], words[256], N[32], n[32], low[32], high[32];
    cli_thousands(N, sizeof N, s->N), cli_thousands(n, sizeof n, s->n), cli_thousands(low, sizeof low, s->low), cli_thousands(high, sizeof high, s->high);
    puts("\nWhat it means");
    if (g) {
        cli_guarantee_words(words, sizeof words, g);
        snprintf(text, sizeof text,
                 "For each of the %s people, sampled or not: with their value 0 or 1, the probabilities of what is published "
                 "%s. This holds against an attacker who knows the values of all the others, but not who was sampled.", N, words);
        cli_paragraph(stdout, text, 2);
    }
    snprintf(text, sizeof text,
             "It is taken as public, and not learned from these answers, that at least %s and at most %s of them have the value "
             "1. If you cannot vouch for that, ask with --ones 0:%" PRId64 ".", low, high, s->N);
    if (!touches_an_end(s)) cli_paragraph(stdout, text, 2);
    snprintf(text, sizeof text,
             "Nothing is assumed about how many have the value 1 at the %s end: if %s else has it, the sample without noise gives "
             "the odd one out away whenever it is drawn, so without noise delta is never below n/N = %s/%s, whatever the epsilon.",
             s->low == 0 ? "lower" : "upper", s->low == 0 ? "nobody" : "everybody", n, N);
    if (touches_an_end(s)) cli_paragraph(stdout, text, 2);
    if (s->noise == TAMIS_NOISE_LAPLACE || s->noise == TAMIS_NOISE_GAUSSIAN)
        cli_paragraph(stdout, "Continuous noise exists on paper only: what a program draws has gaps that can be seen. To "
                      "publish, take a discrete kind; 'tamis noise' draws them exactly.", 2);
}

static void json_head(const request *r)
{
    const tamis_ht_srs *s = &r->srs;
    char *exact = NULL;
    printf("{\"design\": {\"srs\": {\"population\": %" PRId64 ", \"sample\": %" PRId64 "}}, \"ones\": [%" PRId64 ", %" PRId64 "]",
           s->N, s->n, s->low, s->high);
    printf(", \"noise\": {\"law\": \"%s\"", kinds[s->noise].law);
    if (r->scale && tamis_number_write(&exact, r->scale, NULL) == TAMIS_OK)
        printf(", \"scale\": \"%s\", \"on\": \"%s\"", exact, kinds[s->noise].on);
    tamis_free(exact);
    putchar('}');
}

/* ---- --epsilon, --delta, or the curve alone ---- */

static int show(const request *r)
{
    char title[160], subtitle[160];
    tamis_error err = {0};
    cli_guarantee *g = &(cli_guarantee){0};
    put_subject(title, sizeof title, &r->srs);
    put_published(subtitle, sizeof subtitle, r);
    const cli_mechanism mechanism = {
        .what = &r->srs, .delta = delta_of, .epsilon = epsilon_of, .pure = pure_of, .note_heading = "hardest to protect",
        .title = title, .subtitle = subtitle, .limit_name = "n/N", .limit = (double)r->srs.n / (double)r->srs.N};
    int code = cli_guarantee_begin(g, r->call);
    if (code != 0) goto done;
    tamis_status status = cli_guarantee_compute(g, &mechanism, &err);
    if (status == TAMIS_OK && r->call->json) {
        json_head(r);
        status = cli_guarantee_json(g, &err);
        puts("}");
    } else if (status == TAMIS_OK) {
        cli_paragraph(stdout, title, 0);
        cli_paragraph(stdout, subtitle, 0);
        putchar('\n');
        status = cli_guarantee_show(g, &err);
        if (status == TAMIS_OK) explain(r, g);
    }
    code = status == TAMIS_OK ? cli_finish_output() : failed(r, &err);
done:
    cli_guarantee_clear(g);
    return code;
}

/* ---- --target ---- */

typedef struct answer {
    tamis_noise_kind noise;
    tamis_bound scale;
    char told[TAMIS_DECIMAL]; /* a scale that was checked to meet the target */
} answer;

static bool meets(tamis_bound delta, const tamis_number *target)
{
    return delta.upper == 0 || delta.upper <= nextafter(cli_approximately(target), 0);
}

/* Few digits if the scale that they tell meets the target, else all of them: larger noise of a discrete law is not always
 * better, so that what is told has to be tried. */
static tamis_status find_scale(answer *a, const request *r, tamis_error *err)
{
    tamis_ht_srs srs = r->srs;
    srs.noise = a->noise;
    srs.scale = NULL;
    tamis_status status = tamis_ht_srs_scale(&a->scale, &srs, r->target_eps, r->target_delta, err);
    for (int digits = CLI_DIGITS; status == TAMIS_OK && a->scale.upper > 0 && !isinf(a->scale.upper); digits = 17) {
        tamis_number *scale = NULL;
        tamis_bound met = {0, 1};
        tamis_decimal_up(a->told, a->scale.upper, digits);
        if (digits == 17) break;
        status = tamis_number_read(&scale, a->told, err);
        srs.scale = scale;
        if (status == TAMIS_OK) status = tamis_ht_srs_delta(&met, NULL, &srs, r->target_eps, err);
        tamis_number_free(scale);
        if (meets(met, r->target_delta)) break;
    }
    return status;
}

/* The standard deviation of the noise, on the total. */
static double spread(const tamis_ht_srs *s, tamis_noise_kind noise, double scale)
{
    double weight = (double)s->N / (double)s->n, q = exp(-1 / scale);
    switch (noise) {
    case TAMIS_NOISE_LAPLACE: return sqrt(2) * scale;
    case TAMIS_NOISE_DISCRETE_LAPLACE: return weight * sqrt(2 * q) / (1 - q);
    case TAMIS_NOISE_DISCRETE_GAUSSIAN: return weight * scale; /* a little less */
    default: return scale;
    }
}

/* The largest standard deviation of the estimate itself, over the window. */
static double sampling_error(const tamis_ht_srs *s)
{
    double N = (double)s->N, n = (double)s->n, t = fmin(fmax(N / 2, (double)s->low), (double)s->high);
    return N < 2 ? 0 : sqrt(N * (N - n) / n * t * (N - t) / N / (N - 1));
}

static void show_scales(const request *r, const answer *answers, size_t count, tamis_bound given)
{
    cli_cells rows[KINDS] = {{"noise", "on the", "smallest scale", "standard error it adds"}};
    char subject[160];
    put_subject(subject, sizeof subject, &r->srs);
    cli_paragraph(stdout, subject, 0);
    printf("noise that meets epsilon,delta = %s\n\n", cli_value(r->call, "target"));
    if (r->scale) {
        char delta[TAMIS_DECIMAL];
        tamis_decimal_up(delta, given.upper, CLI_DIGITS);
        printf("%s noise of scale %s: delta %s, %s\n\n", kinds[r->srs.noise].words, cli_value(r->call, kinds[r->srs.noise].option),
               delta, meets(given, r->target_delta) ? "which is enough" : "which is too much");
    }
    for (size_t i = 0; i < count; i++) {
        const answer *a = &answers[i];
        char (*row)[CLI_CELL] = rows[i + 1];
        snprintf(row[0], CLI_CELL, "%s", kinds[a->noise].words);
        snprintf(row[1], CLI_CELL, "%s", kinds[a->noise].on);
        snprintf(row[2], CLI_CELL, "%s", a->scale.upper == 0 ? "no noise needed" : isinf(a->scale.upper) ? "none suffices" : a->told);
        if (a->told[0]) cli_about(row[3], CLI_CELL, spread(&r->srs, a->noise, a->scale.upper));
        else snprintf(row[3], CLI_CELL, "%s", a->scale.upper == 0 ? "0" : "");
    }
    cli_table("llrr", (const cli_cells *)rows, count + 1, cli_plain_letters(r->call));
    printf("the standard error of the sampling itself: at most %s\n", cli_about(subject, sizeof subject, sampling_error(&r->srs)));
    explain(r, NULL);
}

static int find_noise(const request *r)
{
    tamis_error err = {0};
    answer answers[KINDS] = {0};
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    cli_progress progress;
    tamis_bound given = {0, 1};
    if (cli_value(r->call, "svg")) return cli_wrong_usage(r->call->command, "--svg shows a curve, --target has none");
    cli_progress_begin(&progress, r->call);
    if (r->scale) status = tamis_ht_srs_delta(&given, NULL, &r->srs, r->target_eps, &err);
    for (size_t k = 1; k < KINDS && status == TAMIS_OK; k++) {
        if (r->srs.noise != TAMIS_NOISE_NONE && r->srs.noise != (tamis_noise_kind)k) continue;
        answers[count].noise = (tamis_noise_kind)k;
        if (cli_progress_step(&progress, (double)k / KINDS, 0)) {
            err = (tamis_error){TAMIS_SYSTEM, "stopped before the end"};
            status = TAMIS_SYSTEM;
        } else {
            status = find_scale(&answers[count++], r, &err);
        }
    }
    cli_progress_end(&progress);
    if (status != TAMIS_OK) return failed(r, &err);
    if (!r->call->json) {
        show_scales(r, answers, count, given);
        return cli_finish_output();
    }
    json_head(r);
    if (r->scale) {
        fputs(", \"delta\": ", stdout);
        cli_put_bound(given);
    }
    fputs(", \"scales\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        printf("%s{\"law\": \"%s\", \"on\": \"%s\", \"scale\": ", i > 0 ? ", " : "", kinds[answers[i].noise].law,
               kinds[answers[i].noise].on);
        cli_put_bound(answers[i].scale);
        putchar('}');
    }
    puts("]}");
    return cli_finish_output();
}

static int run(const cli_call *call)
{
    request r;
    int code = read_request(&r, call);
    if (code == 0) code = r.target_eps ? find_noise(&r) : show(&r);
    clear_request(&r);
    return code;
}

extern const cli_command cli_command_privacy_srs;
const cli_command cli_command_privacy_srs = {
    .name = "privacy srs",
    .purpose = "of a simple random sample, with or without noise",
    .about = "A survey asks a yes/no question; n of N people are drawn at random and the number of yes in the population is "
             "estimated. The draw is secret, so the estimate is random already: this command says how private that is, for "
             "every one of the N people, and how much noise is still needed.\n\n"
             "The answer depends on what is public about the number of yes, --ones LOW:HIGH: where nearly nobody or "
             "nearly everybody says yes, the odd one out is seen. Without options about epsilon and delta, the whole curve "
             "is shown.\n\n"
             "Laplace and Gaussian noise is added to the estimated total, discrete noise to the number of ones in the "
             "sample. 'scale' is that of the density exp(-|x|/scale) or exp(-x^2/(2 scale^2)).",
    .options = (const cli_argument[]){
        {.name = "population", .value = "N", .needed = true, .help = "people in the population"},
        {.name = "sample", .value = "n", .needed = true, .help = "people in the sample, drawn without replacement"},
        {.name = "ones", .value = "LOW:HIGH", .needed = true, .help = "how many say yes, as far as it is public"},
        {.name = "laplace", .value = "B", .help = "Laplace noise of scale B on the total"},
        {.name = "gaussian", .value = "S", .help = "Gaussian noise of standard deviation S on the total"},
        {.name = "discrete-laplace", .value = "S", .help = "discrete Laplace noise on the sample count"},
        {.name = "discrete-gaussian", .value = "S", .help = "discrete Gaussian noise on the sample count"},
        {.name = "target", .value = "E,D", .help = "the smallest noise of each kind for epsilon E and delta D; of one kind "
                                                   "if its option is given"},
        CLI_GUARANTEE_OPTIONS,
        {0}},
    .examples = (const cli_example[]){
        {"tamis privacy srs --population 6194 --sample 200 --ones 400:5794", "how private is the sample itself?"},
        {"tamis privacy srs --population 6194 --sample 200 --ones 9:6185 --delta 1e-6",
         "which epsilon, if yes may be rare or common?"},
        {"tamis privacy srs --population 9 --sample 3 --ones 0:9 --target 1,1e-4", "how much noise if nothing is public?"},
        {"tamis privacy srs --population 9 --sample 3 --ones 2:7 --laplace 3 --svg a.svg",
         "the curve with noise, and a picture of it"},
        {0}},
    .run = run,
};

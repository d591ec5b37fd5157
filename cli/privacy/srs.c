/* tamis privacy srs: the Horvitz-Thompson total of a yes/no question under simple random sampling, as a mechanism. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "target.h"

typedef struct request {
    const cli_call *call;
    tamis_ht_srs srs;
    cli_noise noise;
} request;

static const char *const added_to[CLI_KINDS] = {"", "total", "total", "sample count", "sample count"};

/* ---- what is asked ---- */

static int read_window(request *r)
{
    const cli_call *call = r->call;
    const char *text = cli_value(call, "ones"), *colon = strchr(text, ':');
    char low[32] = "";
    if (colon && colon - text < (ptrdiff_t)sizeof low) memcpy(low, text, (size_t)(colon - text));
    if (!colon || !cli_whole(&r->srs.low, low, 0, TAMIS_MAX_UNITS) || !cli_whole(&r->srs.high, colon + 1, 0, TAMIS_MAX_UNITS))
        return cli_wrong_usage(call->command, "--ones needs two whole numbers, the smallest and the largest, such as 400:5794");
    if (r->srs.low >= r->srs.high)
        return cli_wrong_usage(call->command, "--ones LOW:HIGH needs LOW below HIGH, so that one person's value can differ");
    if (r->srs.high > r->srs.population) return cli_wrong_usage(call->command, "--ones cannot be more than the --population");
    return 0;
}

static int read_request(request *r, const cli_call *call)
{
    *r = (request){.call = call};
    int code = cli_sizes(&r->srs.population, &r->srs.sample, call);
    if (code == 0) code = read_window(r);
    if (code == 0) code = cli_noise_read(&r->noise, call);
    r->srs.noise = r->noise.kind;
    r->srs.scale = r->noise.scale;
    return code;
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

static tamis_status pure_of(tamis_bound *eps, const void *what, tamis_error *err) { return tamis_ht_srs_pure(eps, what, err); }

/* ---- words ---- */

static void put_subject(char *room, size_t size, const tamis_ht_srs *s)
{
    char N[32], n[32], low[32], high[32];
    snprintf(room, size, "Simple random sample of %s out of %s people; %s to %s of them have the value 1",
             cli_thousands(n, sizeof n, s->sample), cli_thousands(N, sizeof N, s->population),
             cli_thousands(low, sizeof low, s->low), cli_thousands(high, sizeof high, s->high));
}

static void put_published(char *room, size_t size, const request *r)
{
    char N[32], n[32];
    const tamis_ht_srs *s = &r->srs;
    if (s->noise == TAMIS_NOISE_NONE)
        snprintf(room, size, "published without noise: %s/%s times the ones in the sample",
                 cli_thousands(N, sizeof N, s->population), cli_thousands(n, sizeof n, s->sample));
    else
        snprintf(room, size, "published with %s noise of scale %s on the %s", cli_kinds[s->noise].words,
                 cli_noise_scale(&r->noise), added_to[s->noise]);
}

static bool touches_an_end(const tamis_ht_srs *s) { return s->low == 0 || s->high == s->population; }

/* The largest standard deviation of the estimate itself, over the window. */
static double sampling_error(const tamis_ht_srs *s)
{
    double N = (double)s->population, n = (double)s->sample, t = fmin(fmax(N / 2, (double)s->low), (double)s->high);
    return N < 2 ? 0 : sqrt(N * (N - n) / n * t * (N - t) / N / (N - 1));
}

static void explain(const void *what, const cli_guarantee *g)
{
    const request *r = what;
    const tamis_ht_srs *s = &r->srs;
    char text[1024], words[256], N[32], n[32], low[32], high[32];
    if (!g) printf("sampling standard error, for comparison: at most %s\n", cli_about(text, sizeof text, sampling_error(s)));
    cli_thousands(N, sizeof N, s->population), cli_thousands(n, sizeof n, s->sample), cli_thousands(low, sizeof low, s->low),
        cli_thousands(high, sizeof high, s->high);
    puts("\nWhat it means");
    if (g) {
        cli_guarantee_words(words, sizeof words, g);
        snprintf(
            text, sizeof text,
            "For each of the %s people, sampled or not: if their value changes between 0 and 1, the probabilities of any set of "
            "results %s. This holds against an attacker who knows the values of all the others, but not who was sampled.",
            N, words);
        cli_paragraph(stdout, text, 2);
    }
    snprintf(text, sizeof text,
             "It is assumed to be public, and not learned from these answers, that at least %s and at most %s of them have the "
             "value 1. If you cannot be sure of that, use --ones 0:%" PRId64 ".",
             low, high, s->population);
    if (!touches_an_end(s)) cli_paragraph(stdout, text, 2);
    snprintf(text, sizeof text,
             "Nothing is assumed at the %s end about how many have the value 1. If %s else has it, a sample without noise gives "
             "the odd one out away whenever that person is drawn, so without noise delta is never below n/N = %s/%s, whatever "
             "the epsilon.",
             s->low == 0 ? "lower" : "upper", s->low == 0 ? "nobody" : "everybody", n, N);
    if (touches_an_end(s)) cli_paragraph(stdout, text, 2);
    if (s->noise == TAMIS_NOISE_LAPLACE || s->noise == TAMIS_NOISE_GAUSSIAN) cli_noise_warn();
}

static void json_head(const void *what)
{
    const request *r = what;
    const tamis_ht_srs *s = &r->srs;
    printf("{\"design\": {\"srs\": {\"population\": %" PRId64 ", \"sample\": %" PRId64 "}}, \"ones\": [%" PRId64 ", %" PRId64 "]",
           s->population, s->sample, s->low, s->high);
    cli_noise_json(&r->noise, added_to[s->noise]);
}

/* ---- --target ---- */

static tamis_status scale_of(tamis_bound *scale, const void *what, tamis_noise_kind kind, const tamis_number *eps,
                             const tamis_number *delta, tamis_error *err)
{
    tamis_ht_srs srs = *(const tamis_ht_srs *)what;
    srs.noise = kind;
    srs.scale = NULL;
    return tamis_ht_srs_scale(scale, &srs, eps, delta, err);
}

static tamis_status delta_with(tamis_bound *delta, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                               const tamis_number *eps, tamis_error *err)
{
    tamis_ht_srs srs = *(const tamis_ht_srs *)what;
    srs.noise = kind;
    srs.scale = scale;
    return tamis_ht_srs_delta(delta, NULL, &srs, eps, err);
}

static tamis_status epsilon_with(tamis_bound *eps, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                                 const tamis_number *delta, tamis_error *err)
{
    tamis_ht_srs srs = *(const tamis_ht_srs *)what;
    srs.noise = kind;
    srs.scale = scale;
    return tamis_ht_srs_epsilon(eps, &srs, delta, err);
}

static double unit_of(const void *what, tamis_noise_kind kind)
{
    const tamis_ht_srs *s = what;
    bool on_total = kind == TAMIS_NOISE_LAPLACE || kind == TAMIS_NOISE_GAUSSIAN;
    return on_total ? 1 : (double)s->population / (double)s->sample;
}

/* ---- the answer ---- */

static int answer(request *r)
{
    char title[160], subtitle[160];
    put_subject(title, sizeof title, &r->srs);
    put_published(subtitle, sizeof subtitle, r);
    const double rate = (double)r->srs.sample / (double)r->srs.population;
    const cli_mechanism mechanism = {&r->srs, delta_of, epsilon_of, pure_of, "hardest to protect", title, subtitle, "n/N", rate};
    cli_noisy noisy = {&r->srs, scale_of, delta_with, epsilon_with, unit_of, NULL, {0}};
    memcpy(noisy.on, added_to, sizeof added_to);
    const cli_answer answer = {&r->noise, title, subtitle, r, json_head, explain, NULL, NULL, NULL};
    return cli_answer_asked(&answer, &mechanism, &noisy);
}

static int run(const cli_call *call)
{
    request r;
    int code = read_request(&r, call);
    if (code == 0) code = answer(&r);
    cli_noise_clear(&r.noise);
    return code;
}

const cli_command cli_command_privacy_srs = {
    .name = "privacy srs",
    .purpose = "privacy of a simple random sample, with or without noise",
    .about =
        "A survey asks a yes/no question. n of N people are drawn at random, and the number of yes in the population is "
        "estimated. The draw is secret, so the estimate is already random: this command computes how private that is for each of "
        "the N people, and how much noise is still needed.\n\n"
        "The answer depends on what is public about the number of yes, --ones LOW:HIGH: where nearly nobody or nearly everybody "
        "says yes, the odd one out can be recognised. Without --epsilon, --delta or --target the whole curve is shown.\n\n"
        "Laplace and Gaussian noise is added to the estimated total, discrete noise to the number of ones in the sample. "
        "'scale' is that of the density exp(-|x|/scale) or exp(-x^2/(2 scale^2)).",
    .options = {{"population", "N", .needed = true, .help = "people in the population"},
                {"sample", "n", .needed = true, .help = "people in the sample, drawn without replacement"},
                {"ones", "LOW:HIGH", .needed = true, .help = "public bounds of the number of yes"},
                CLI_NOISE_OPTIONS(" on the total", " on the sample count"),
                CLI_GUARANTEE_OPTIONS},
    .examples = {{"tamis privacy srs --population 6194 --sample 200 --ones 400:5794", "how private is the sample itself?"},
                 {"tamis privacy srs --population 6194 --sample 200 --ones 9:6185 --delta 1e-6",
                  "which epsilon, if yes may be rare or very common?"},
                 {"tamis privacy srs --population 9 --sample 3 --ones 0:9 --target 1,1e-4",
                  "how much noise if nothing is public?"},
                 {"tamis privacy srs --population 9 --sample 3 --ones 2:7 --laplace 3 --svg a.svg",
                  "the curve with noise, and a picture of it"}},
    .run = run,
};

/* tamis privacy noise: the exact guarantee of noise alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

typedef struct request {
    const cli_call *call;
    cli_noise noise;
    tamis_number *sensitivity;
} request;

/* ---- the curve ---- */

static tamis_status delta_of(tamis_bound *delta, cli_note *note, const void *what, const tamis_number *eps, tamis_error *err)
{
    (void)note;
    return tamis_profile_delta(delta, what, eps, err);
}

static tamis_status epsilon_of(tamis_bound *eps, const void *what, const tamis_number *delta, tamis_error *err)
{
    return tamis_profile_epsilon(eps, what, delta, err);
}

static const char *sensitivity_text(const request *r)
{
    const char *text = cli_value(r->call, "sensitivity");
    return text ? text : "1";
}

static void put_subject(char *room, size_t size, const request *r)
{
    if (r->noise.scale)
        snprintf(room, size, "%s noise of scale %s on a number that one person changes by at most %s",
                 cli_kinds[r->noise.kind].words, cli_noise_scale(&r->noise), sensitivity_text(r));
    else snprintf(room, size, "Noise on a number that one person changes by at most %s", sensitivity_text(r));
    if (*room >= 'a') *room = (char)(*room - 'a' + 'A');
}

static void json_head(const void *what)
{
    const request *r = what;
    char *exact = NULL;
    if (tamis_number_write(&exact, r->sensitivity, NULL) == TAMIS_OK) printf("{\"sensitivity\": \"%s\"", exact);
    tamis_free(exact);
    cli_noise_json(&r->noise, NULL);
}

static void explain(const void *what, const cli_guarantee *g)
{
    const request *r = what;
    char text[512], words[256];
    puts("\nWhat it means");
    if (g) {
        cli_guarantee_words(words, sizeof words, g);
        snprintf(text, sizeof text,
                 "If one person's answer changes, the probabilities of any set of results %s. This holds against an attacker who "
                 "knows all other answers, and who answered.",
                 words);
        cli_paragraph(stdout, text, 2);
    }
    if (r->noise.kind != TAMIS_NOISE_DISCRETE_LAPLACE && r->noise.kind != TAMIS_NOISE_DISCRETE_GAUSSIAN) cli_noise_warn();
}

static int show(request *r)
{
    char title[400];
    tamis_error err = {0};
    tamis_profile *profile = NULL;
    put_subject(title, sizeof title, r);
    if (tamis_profile_noise(&profile, r->noise.kind, r->noise.scale, r->sensitivity, &err) != TAMIS_OK)
        return cli_noise_failed(&r->noise, &err);
    const cli_mechanism mechanism = {.what = profile, .delta = delta_of, .epsilon = epsilon_of, .title = title};
    int code = cli_answer_guarantee(
        &(cli_answer){.noise = &r->noise, .title = title, .what = r, .json_head = json_head, .explain = explain}, &mechanism);
    tamis_profile_free(profile);
    return code;
}

/* ---- the smallest scale ---- */

static tamis_status delta_with(tamis_bound *delta, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                               const tamis_number *eps, tamis_error *err)
{
    tamis_profile *profile = NULL;
    tamis_status status = tamis_profile_noise(&profile, kind, scale, ((const request *)what)->sensitivity, err);
    if (status == TAMIS_OK) status = tamis_profile_delta(delta, profile, eps, err);
    tamis_profile_free(profile);
    return status;
}

static tamis_status scale_of(tamis_bound *scale, const void *what, tamis_noise_kind kind, const tamis_number *eps,
                             const tamis_number *delta, tamis_error *err)
{
    return tamis_noise_scale(scale, kind, ((const request *)what)->sensitivity, eps, delta, err);
}

static double unit_of(const void *what, tamis_noise_kind kind)
{
    (void)what, (void)kind;
    return 1;
}

static int find_noise(request *r)
{
    char subject[400];
    const cli_noisy noisy = {.what = r, .scale = scale_of, .delta = delta_with, .unit = unit_of};
    put_subject(subject, sizeof subject, r);
    return cli_answer_target(
        &(cli_answer){.noise = &r->noise, .title = subject, .what = r, .json_head = json_head, .explain = explain}, &noisy);
}

static int read_request(request *r, const cli_call *call)
{
    tamis_error err = {0};
    *r = (request){.call = call};
    int code = cli_noise_read(&r->noise, call);
    if (code != 0) return code;
    if (tamis_number_read(&r->sensitivity, sensitivity_text(r), &err) != TAMIS_OK)
        return cli_wrong_usage(call->command, "--sensitivity: %s", err.message);
    int64_t steps;
    bool whole = cli_whole(&steps, sensitivity_text(r), 1, TAMIS_MAX_STEP);
    if (!(cli_approximately(r->sensitivity) > 0)) return cli_wrong_usage(call->command, "--sensitivity must be positive");
    bool discrete = r->noise.kind != TAMIS_NOISE_LAPLACE && r->noise.kind != TAMIS_NOISE_GAUSSIAN;
    if (!whole && discrete && (r->noise.scale || r->noise.target_eps))
        return cli_wrong_usage(call->command, "--sensitivity must be a whole number up to 2^30 for discrete noise; for other "
                                              "values choose --laplace or --gaussian");
    if (!r->noise.scale && !r->noise.target_eps)
        return cli_wrong_usage(call->command, "give --laplace B, --gaussian S, --discrete-laplace S or --discrete-gaussian S; or "
                                              "--target E,D for the smallest noise of each kind");
    return 0;
}

static int run(const cli_call *call)
{
    request r;
    int code = read_request(&r, call);
    if (code == 0) code = r.noise.target_eps ? find_noise(&r) : show(&r);
    tamis_number_free(r.sensitivity);
    cli_noise_clear(&r.noise);
    return code;
}

const cli_command cli_command_privacy_noise = {
    .name = "privacy noise",
    .purpose = "noise alone: the guarantee of a sampled person",
    .about = "A number is published with noise, and one person can change the number by at most the sensitivity. This command "
             "computes the exact delta for each epsilon, and how much noise a target needs. Nothing is assumed about sampling: "
             "the guarantee holds against an attacker who knows who was sampled.\n\n"
             "'scale' is that of the density exp(-|x|/scale), or exp(-x^2/(2 scale^2)). The discrete distributions have "
             "probabilities proportional to these on the whole numbers, and need a whole sensitivity.",
    .options = {{"sensitivity", "D", .help = "how much one person can change the number; default 1"},
                CLI_NOISE_OPTIONS("", ""),
                CLI_GUARANTEE_OPTIONS},
    .examples = {{"tamis privacy noise --discrete-laplace 2", "a count with noise of scale 2"},
                 {"tamis privacy noise --gaussian 400 --sensitivity 100 --delta 1e-6", "which epsilon at delta 1e-6?"},
                 {"tamis privacy noise --target 1,1e-6 --sensitivity 100", "the smallest noise of each kind"}},
    .run = run,
};

/* Noise from the command line, and the smallest noise for a target. */
#include "target.h"

#include <math.h>
#include <string.h>

const cli_kind cli_kinds[CLI_KINDS] = {
    [TAMIS_NOISE_NONE] = {NULL, "no noise", "none"},
    [TAMIS_NOISE_LAPLACE] = {"laplace", "Laplace", "laplace"},
    [TAMIS_NOISE_GAUSSIAN] = {"gaussian", "Gaussian", "gaussian"},
    [TAMIS_NOISE_DISCRETE_LAPLACE] = {"discrete-laplace", "discrete Laplace", "discrete_laplace"},
    [TAMIS_NOISE_DISCRETE_GAUSSIAN] = {"discrete-gaussian", "discrete Gaussian", "discrete_gaussian"},
};

/* ---- options ---- */

static int read_kind(cli_noise *n)
{
    tamis_error err = {0};
    const char *first = NULL;
    for (size_t k = 1; k < CLI_KINDS; k++) {
        const char *text = cli_value(n->call, cli_kinds[k].option);
        if (!text) continue;
        if (first) return cli_wrong_usage(n->call->command, "give either --%s or --%s, not both", first, cli_kinds[k].option);
        first = cli_kinds[k].option;
        n->kind = (tamis_noise_kind)k;
        if (tamis_number_read(&n->scale, text, &err) != TAMIS_OK)
            return cli_wrong_usage(n->call->command, "--%s: %s", first, err.message);
    }
    return 0;
}

static int read_target(cli_noise *n)
{
    tamis_error err = {0};
    const char *text = cli_value(n->call, "target"), *comma = text ? strchr(text, ',') : NULL;
    char eps[TAMIS_NUMBER_DIGITS] = "";
    if (!text) return 0;
    if (cli_value(n->call, "epsilon") || cli_value(n->call, "delta"))
        return cli_wrong_usage(n->call->command, "give either --target, or --epsilon or --delta");
    if (cli_value(n->call, "svg")) return cli_wrong_usage(n->call->command, "--svg draws a curve, and --target has none");
    if (comma && comma - text < (ptrdiff_t)sizeof eps) memcpy(eps, text, (size_t)(comma - text));
    if (!*eps) return cli_wrong_usage(n->call->command, "--target needs an epsilon and a delta, such as 0.5,1e-6");
    if (tamis_number_read(&n->target_eps, eps, &err) != TAMIS_OK ||
        tamis_number_read(&n->target_delta, comma + 1, &err) != TAMIS_OK)
        return cli_wrong_usage(n->call->command, "--target: %s", err.message);
    return 0;
}

int cli_noise_read(cli_noise *n, const cli_call *call)
{
    *n = (cli_noise){.call = call};
    int code = read_kind(n);
    return code == 0 ? read_target(n) : code;
}

void cli_noise_clear(cli_noise *n)
{
    tamis_number_free(n->scale);
    tamis_number_free(n->target_eps);
    tamis_number_free(n->target_delta);
    *n = (cli_noise){0};
}

const char *cli_noise_scale(const cli_noise *n)
{
    return n->kind == TAMIS_NOISE_NONE ? "" : cli_value(n->call, cli_kinds[n->kind].option);
}

void cli_noise_json(const cli_noise *n, const char *on)
{
    char *exact = NULL;
    printf(", \"noise\": {\"law\": \"%s\"", cli_kinds[n->kind].law);
    if (n->scale && tamis_number_write(&exact, n->scale, NULL) == TAMIS_OK) printf(", \"scale\": \"%s\"", exact);
    if (n->scale && on) printf(", \"on\": \"%s\"", on);
    tamis_free(exact);
    putchar('}');
}

void cli_noise_warn(void)
{
    cli_paragraph(stdout,
                  "Continuous noise exists only on paper: floating-point noise has gaps that can reveal the data. To publish, "
                  "use discrete noise, which 'tamis noise' draws exactly.",
                  2);
}

int cli_noise_failed(const cli_noise *n, const tamis_error *err)
{
    const char *target = cli_value(n->call, "target") ? "target: " : "", *kind = cli_kinds[n->kind].option;
    const char *const names[][2] = {{"eps: ", "epsilon"}, {"delta: ", "delta"}, {"scale: ", kind ? kind : "scale"}};
    for (size_t i = 0; err->status == TAMIS_INVALID && i < sizeof names / sizeof *names; i++)
        if (strncmp(err->message, names[i][0], strlen(names[i][0])) == 0)
            return cli_wrong_usage(n->call->command, "--%s%s %s", i < 2 ? target : "", names[i][1],
                                   err->message + strlen(names[i][0]));
    return cli_failed(err, NULL);
}

/* ---- the smallest noise ---- */

/* Whether noise of this scale meets the target. The target may lie between two doubles: delta is compared on the safe side, and
 * where that leaves it open, or too much work, epsilon at the target's delta decides, which is 0 where delta is met exactly. */
static tamis_status meets(bool *met, tamis_bound *delta, const cli_noise *n, const cli_noisy *m, tamis_noise_kind kind,
                          const tamis_number *scale, tamis_error *err)
{
    const double target = cli_approximately(n->target_delta);
    tamis_bound eps;
    tamis_status status = m->delta(delta, m->what, kind, scale, n->target_eps, err);
    if (status == TAMIS_UNABLE) *delta = (tamis_bound){0, 1};
    *met = status == TAMIS_OK && (delta->upper == 0 || delta->upper <= nextafter(target, 0));
    bool open = !*met && delta->lower <= nextafter(target, INFINITY) && (status == TAMIS_OK || status == TAMIS_UNABLE);
    if (!open || !m->epsilon || m->epsilon(&eps, m->what, kind, scale, n->target_delta, NULL) != TAMIS_OK) return status;
    *met = eps.upper == 0 || eps.upper <= nextafter(cli_approximately(n->target_eps), 0);
    return TAMIS_OK;
}

/* Few digits if the scale that they write meets the target, else all of them. What is printed has to be tried: larger noise of a
 * discrete law is not always better, and an enclosure of 1 ends a little above it. */
static tamis_status find_scale(cli_scale *s, const cli_noise *n, const cli_noisy *m, tamis_error *err)
{
    tamis_status status = m->scale(&s->scale, m->what, s->kind, n->target_eps, n->target_delta, err);
    if (status != TAMIS_OK || s->scale.upper == 0 || isinf(s->scale.upper)) return status;
    bool met = false;
    for (int up = 0; up <= 1 && !met && status == TAMIS_OK; up++) {
        tamis_number *scale = NULL;
        tamis_bound delta = {0, 1};
        if (up) tamis_decimal_up(s->shown, s->scale.upper, CLI_DIGITS);
        else tamis_decimal_down(s->shown, s->scale.upper, CLI_DIGITS);
        status = tamis_number_read(&scale, s->shown, err);
        if (status == TAMIS_OK) status = meets(&met, &delta, n, m, s->kind, scale, err);
        tamis_number_free(scale);
    }
    if (!met) tamis_decimal_up(s->shown, s->scale.upper, 17);
    return status;
}

tamis_status cli_target_find(cli_target *t, const cli_noise *noise, const cli_noisy *noisy, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    cli_progress progress;
    size_t certified = 0;
    *t = (cli_target){.noise = noise, .noisy = noisy, .given = {0, 1}};
    cli_progress_begin(&progress, noise->call);
    if (noise->scale) status = meets(&t->enough, &t->given, noise, noisy, noise->kind, noise->scale, err);
    for (int k = 1; k < CLI_KINDS && status == TAMIS_OK; k++) {
        if (noise->kind != TAMIS_NOISE_NONE && noise->kind != (tamis_noise_kind)k) continue;
        cli_scale *scale = &t->scales[t->count++];
        scale->kind = (tamis_noise_kind)k;
        scale->missing = noisy->missing ? noisy->missing(noisy->what, scale->kind) : NULL;
        if (scale->missing) continue;
        status = cli_go_on(&progress, (double)k / CLI_KINDS, err);
        if (status == TAMIS_OK) status = find_scale(scale, noise, noisy, err);
        certified += status == TAMIS_OK;
        if (status == TAMIS_UNABLE && noise->kind == TAMIS_NOISE_NONE) { /* the others may do */
            *scale = (cli_scale){.kind = scale->kind, .scale = {0, INFINITY}, .unable = true};
            status = TAMIS_OK;
        }
    }
    cli_progress_end(&progress);
    return status == TAMIS_OK && certified == 0 ? TAMIS_UNABLE : status;
}

/* The standard deviation of the noise, about. */
static double spread(tamis_noise_kind kind, double scale)
{
    double q = exp(-1 / scale);
    switch (kind) {
    case TAMIS_NOISE_LAPLACE: return sqrt(2) * scale;
    case TAMIS_NOISE_DISCRETE_LAPLACE: return sqrt(2 * q) / (1 - q);
    default: return scale; /* a little less, if discrete */
    }
}

void cli_target_show(const cli_target *t)
{
    cli_cells rows[CLI_KINDS] = {{"noise"}};
    const cli_noise *n = t->noise;
    bool on = t->noisy->on[0];
    size_t c = 1;
    printf("noise that meets epsilon,delta = %s\n\n", cli_value(n->call, "target"));
    if (n->scale) {
        char delta[TAMIS_DECIMAL];
        tamis_decimal_up(delta, t->given.upper, CLI_DIGITS);
        printf("%s noise of scale %s: delta %s, %s\n\n", cli_kinds[n->kind].words, cli_noise_scale(n), delta,
               t->enough ? "which is enough" : "which is too large");
    }
    if (on) snprintf(rows[0][c++], CLI_CELL, "on the");
    snprintf(rows[0][c++], CLI_CELL, "smallest scale");
    snprintf(rows[0][c], CLI_CELL, "standard error it adds");
    for (size_t i = 0; i < t->count; i++) {
        const cli_scale *s = &t->scales[i];
        char(*row)[CLI_CELL] = rows[i + 1];
        c = 0;
        snprintf(row[c++], CLI_CELL, "%s", cli_kinds[s->kind].words);
        if (on) snprintf(row[c++], CLI_CELL, "%s", t->noisy->on[s->kind]);
        snprintf(row[c++], CLI_CELL, "%s",
                 s->missing              ? s->missing
                 : s->unable             ? "not certified"
                 : s->scale.upper == 0   ? "no noise needed"
                 : isinf(s->scale.upper) ? "none suffices"
                                         : s->shown);
        if (s->shown[0]) cli_about(row[c], CLI_CELL, t->noisy->unit(t->noisy->what, s->kind) * spread(s->kind, s->scale.upper));
        else snprintf(row[c], CLI_CELL, "%s", s->scale.upper == 0 && !s->missing ? "0" : "");
    }
    cli_table(on ? "llrr" : "lrr", (const cli_cells *)rows, t->count + 1, cli_plain_letters(n->call));
}

void cli_target_json(const cli_target *t)
{
    if (t->noise->scale) {
        fputs(", \"delta\": ", stdout);
        cli_put_bound(t->given);
    }
    fputs(", \"scales\": [", stdout);
    for (size_t i = 0; i < t->count; i++) {
        const cli_scale *s = &t->scales[i];
        printf("%s{\"law\": \"%s\"", i > 0 ? ", " : "", cli_kinds[s->kind].law);
        if (t->noisy->on[0]) printf(", \"on\": \"%s\"", t->noisy->on[s->kind]);
        fputs(", \"scale\": ", stdout);
        if (s->missing) printf("null, \"reason\": \"%s\"", s->missing);
        else cli_put_bound(s->scale);
        putchar('}');
    }
    putchar(']');
}

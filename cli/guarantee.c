/* The numbers of a guarantee: which epsilons are looked at, and their deltas. */
#include "guarantee.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8           /* of the table, about */
#define POINTS_A_ROW 4   /* of the curve */
#define NEGLIGIBLE 1e-12 /* a delta that nobody waits for: there the curve ends */
#define FLAT 1.02        /* of the limit: a curve that falls no further ends there too */
#define SMALLEST_POWER -24
#define LARGEST_POWER 5 /* e^32 protects nobody */

int cli_guarantee_begin(cli_guarantee *g, const cli_call *call)
{
    *g = (cli_guarantee){.call = call};
    if (cli_value(call, "epsilon") && cli_value(call, "delta"))
        return cli_wrong_usage(call->command, "give either --epsilon or --delta: the other is the answer");
    int code = cli_number(&g->eps, call, "epsilon");
    if (code == 0) code = cli_number(&g->delta, call, "delta");
    return code == 0 ? cli_svg_open(&g->svg, call) : code;
}

void cli_guarantee_clear(cli_guarantee *g)
{
    tamis_number_free(g->eps);
    tamis_number_free(g->delta);
    tamis_free(g->exact);
    for (size_t i = 0; i < CLI_CURVE; i++) tamis_free(g->points[i].exact);
    cli_svg_close(&g->svg);
    *g = (cli_guarantee){0};
}

/* ---- the curve ---- */

typedef struct work {
    const cli_mechanism *m;
    cli_progress progress;
    int done, expected;
    double powers[LARGEST_POWER - SMALLEST_POWER + 1]; /* upper deltas at powers of two; negative: not known yet */
} work;

static tamis_status delta_at(tamis_bound *delta, cli_note *note, work *w, const char *eps, tamis_error *err)
{
    tamis_number *number = NULL;
    *note = (cli_note){0};
    tamis_status status = cli_go_on(&w->progress, (double)w->done / w->expected, err);
    if (status == TAMIS_OK) status = tamis_number_read(&number, eps, err);
    if (status == TAMIS_OK) status = w->m->delta(delta, note, w->m->what, number, err);
    tamis_number_free(number);
    if (w->done + 1 < w->expected) w->done++;
    return status;
}

static tamis_status at_power(double *upper, work *w, int power, tamis_error *err)
{
    double *known = &w->powers[power - SMALLEST_POWER];
    tamis_status status = TAMIS_OK;
    if (*known < 0) {
        char eps[TAMIS_DECIMAL];
        tamis_bound delta;
        cli_note note;
        snprintf(eps, sizeof eps, power < 0 ? "1/%d" : "%d", 1 << abs(power));
        status = delta_at(&delta, &note, w, eps, err);
        if (status == TAMIS_UNABLE) { /* far out, where delta is nothing: the curve itself will show what cannot be done */
            status = TAMIS_OK;
            delta.upper = 0;
        }
        *known = delta.upper;
    }
    *upper = *known;
    return status;
}

/* The first power of two at which delta is at most `level`, or which is at least `pure`. Upwards from below, by two and then
 * one back: far out a delta can be much work. */
static tamis_status first_power(int *power, work *w, double level, double pure, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int step = 2;
    *power = SMALLEST_POWER;
    while (status == TAMIS_OK && *power < LARGEST_POWER) {
        double delta = 0;
        if (ldexp(1, *power) < pure) status = at_power(&delta, w, *power, err);
        if (delta <= level && (step == -1 || *power == SMALLEST_POWER)) break;
        if (delta <= level) {
            step = -1;
        } else if (step == -1) {
            (*power)++;
            break;
        }
        *power += step;
    }
    if (*power > LARGEST_POWER) *power = LARGEST_POWER;
    return status;
}

/* Where the curve ends: delta is nothing, or falls no further. */
static tamis_status find_end(double *end, work *w, double pure, tamis_error *err)
{
    int power = 0;
    double last = 0;
    tamis_status status = first_power(&power, w, NEGLIGIBLE, pure, err);
    if (status == TAMIS_OK && power == LARGEST_POWER && ldexp(1, power) < pure) {
        status = at_power(&last, w, power, err);
        if (status == TAMIS_OK && last > NEGLIGIBLE) status = first_power(&power, w, FLAT * last, pure, err);
    }
    *end = power == SMALLEST_POWER && last > 0 ? 1 : fmin(ldexp(1, power), pure);
    if (!(*end > 0)) *end = 1;
    if (status == TAMIS_OK && last == 0 && power < 0 && *end < pure) { /* three quarters of it may do */
        char eps[TAMIS_DECIMAL];
        tamis_bound delta;
        cli_note note;
        snprintf(eps, sizeof eps, "3/%d", 4 << -power);
        status = delta_at(&delta, &note, w, eps, err);
        if (delta.upper <= NEGLIGIBLE) *end *= 0.75;
    }
    return status;
}

/* From 0 to `end`, and to the epsilon that was asked for, in round steps of about `end` / ROWS, each cut into POINTS_A_ROW.
 * Every epsilon is an exact fraction. */
static tamis_status walk(cli_guarantee *g, work *w, double end, double asked, tamis_error *err)
{
    int exponent = (int)floor(log10(end / ROWS));
    double rest = end / ROWS / pow(10, exponent);
    int digit = rest < 1.41 ? 1 : rest < 3.16 ? 2 : rest < 7.07 ? 5 : 10;
    double step = digit * pow(10, exponent) / POINTS_A_ROW;
    int last = (int)ceil(end / step - 1e-9);
    last += (POINTS_A_ROW - last % POINTS_A_ROW) % POINTS_A_ROW; /* to the next row */
    w->expected = w->done + last + 2;
    double pure = g->pure.upper;
    for (int i = 0; i <= last && g->count + 1 < CLI_CURVE; i++) {
        cli_point *p = &g->points[g->count];
        p->row = i % POINTS_A_ROW == 0;
        p->x = i * step;
        if (p->row) snprintf(p->eps, sizeof p->eps, "%de%d", i / POINTS_A_ROW * digit, exponent);
        else snprintf(p->eps, sizeof p->eps, "%de%d/%d", i * digit, exponent, POINTS_A_ROW);
        if (p->x >= pure && g->count > 0 && g->points[g->count - 1].delta.upper > 0) { /* where delta becomes 0 */
            *p = (cli_point){.x = pure, .row = true};
            tamis_decimal_up(p->eps, pure, 17);
            g->count++;
            break;
        }
        tamis_status status = delta_at(&p->delta, &p->note, w, p->eps, err);
        if (status != TAMIS_OK) return status;
        g->count++;
        if (p->delta.upper == 0 || (p->row && p->delta.upper <= NEGLIGIBLE && p->x >= asked)) break;
    }
    return TAMIS_OK;
}

#define EXACT_DIGITS 8 /* 1/64 is 0.015625 */

/* Whether delta is certainly 0 at the decimal below the pure epsilon. */
static bool is_enough(cli_guarantee *g, int digits)
{
    const cli_mechanism *m = g->mechanism;
    tamis_number *eps = NULL;
    tamis_bound delta;
    cli_note note;
    tamis_decimal_down(g->pure_text, g->pure.upper, digits);
    const bool enough = g->pure.lower <= strtod(g->pure_text, NULL) && tamis_number_read(&eps, g->pure_text, NULL) == TAMIS_OK &&
                        m->delta(&delta, &note, m->what, eps, NULL) == TAMIS_OK && delta.upper == 0;
    tamis_number_free(eps);
    return enough;
}

/* The pure epsilon: exact if EXACT_DIGITS digits are enough, else rounded up to CLI_DIGITS. The double above 1/10 rounds up to
 * 0.1001, so decimals below it are tried first: one of them is printed if delta is certainly 0 there. */
static void write_pure(cli_guarantee *g)
{
    for (int digits = CLI_DIGITS; isfinite(g->pure.upper) && digits <= EXACT_DIGITS; digits++)
        if (is_enough(g, digits)) return;
    tamis_decimal_up(g->pure_text, g->pure.upper, CLI_DIGITS);
}

static tamis_status find_pure(tamis_bound *eps, const cli_mechanism *m, tamis_error *err)
{
    tamis_number *zero = NULL;
    if (m->pure) return m->pure(eps, m->what, err);
    tamis_status status = tamis_number_read(&zero, "0", err);
    if (status == TAMIS_OK) status = m->epsilon(eps, m->what, zero, err);
    tamis_number_free(zero);
    return status;
}

tamis_status cli_guarantee_compute(cli_guarantee *g, const cli_mechanism *mechanism, tamis_error *err)
{
    work w = {.m = mechanism, .expected = 50};
    double end = 1, asked = 0;
    g->mechanism = mechanism;
    for (size_t i = 0; i < sizeof w.powers / sizeof *w.powers; i++) w.powers[i] = -1;
    cli_progress_begin(&w.progress, g->call);
    tamis_status status = find_pure(&g->pure, mechanism, err);
    if (status == TAMIS_OK) write_pure(g);
    if (status == TAMIS_OK && g->eps) status = mechanism->delta(&g->answer, &g->note, mechanism->what, g->eps, err);
    if (status == TAMIS_OK && g->delta) status = mechanism->epsilon(&g->answer, mechanism->what, g->delta, err);
    if (status == TAMIS_OK) status = find_end(&end, &w, g->pure.upper, err);
    if (g->eps) asked = cli_approximately(g->eps);
    if (g->delta && isfinite(g->answer.upper)) asked = g->answer.upper;
    if (asked > end && asked <= ldexp(1, LARGEST_POWER)) end = asked;
    if (status == TAMIS_OK) status = walk(g, &w, end, asked, err);
    cli_progress_end(&w.progress);
    return status;
}

/* What a guarantee means, for readers: a table of three attackers, a JSON list, a picture. */
#include "setting/meaning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/plot.h>

#include "base/table.h"
#include "num/bound.h"
#include "num/number.h"

typedef struct line {
    const char *who, *label;
    bool claimed;
    tamis_meaning meaning;
} line;

#define LINES 3

static tamis_status lines_of(line lines[LINES], const tamis_promise *p, tamis_error *err)
{
    tamis_status status;
    if (!p) return tmi_fail(err, TAMIS_INVALID, "promise: NULL");
    if (!p->outsider_eps != !p->outsider_delta)
        return tmi_fail(err, TAMIS_INVALID, "outsider_eps, outsider_delta: give both or neither");
    lines[0] = (line){.who = "nosy neighbour", .label = "knows who was sampled", .claimed = true};
    lines[2] = (line){.who = "outsider", .label = "outsider", .claimed = p->outsider_eps != NULL};
    TMI_TRY(tamis_meaning_of(&lines[0].meaning, p->eps, p->delta, err));
    if (lines[2].claimed) TMI_TRY(tamis_meaning_of(&lines[2].meaning, p->outsider_eps, p->outsider_delta, err));
    lines[1] = lines[0];
    lines[1].who = "journalist";
    lines[1].label = "journalist, any record";

done:
    return status;
}

/* ---- for people ---- */

/* x >= 1 with three significant digits, rounded up. */
static void put_up(tmi_text *text, double x)
{
    if (!(x < 1e6)) {
        tmi_text_put(text, isinf(x) ? "no bound" : "> 999999");
        return;
    }
    int digits = x >= 100 ? 0 : x >= 10 ? 1 : 2;
    double unit = pow(10, digits);
    int64_t steps = (int64_t)floor(x * unit), whole = 1;
    /* Up, until the decimal is certainly not below x: equal, or above it by more than the rounding error of these doubles. */
    while (fma(x, unit, -(double)steps) != 0 && (double)steps < x * unit * (1 + 1e-12)) steps++;
    for (int i = 0; i < digits; i++) whole *= 10;
    tmi_text_format(text, "%lld", (long long)(steps / whole));
    if (digits > 0) tmi_text_format(text, ".%0*lld", digits, (long long)(steps % whole));
}

/* A share as a percentage with one decimal, rounded up, at most 100. */
static void put_percent_up(tmi_text *text, double share)
{
    double tenths = fmin(ceil(share * 1000), 1000);
    if (tenths / 1000 < share && tenths < 1000) tenths++;
    tmi_text_format(text, "%d.%d", (int)tenths / 10, (int)tenths % 10);
}

#define COLUMNS 7

static void add_line(tmi_text_table *table, const line *l)
{
    tmi_text cells[COLUMNS];
    const char *strings[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) tmi_text_init(&cells[i]);
    tmi_text_put(&cells[0], l->label);
    if (l->claimed) {
        bool vacuous = l->meaning.except.upper >= 1; /* every output may be one of the exceptions */
        put_up(&cells[1], vacuous ? INFINITY : l->meaning.odds.upper);
        for (size_t i = 0; i < TAMIS_PRIORS; i++) put_percent_up(&cells[2 + i], vacuous ? 1 : l->meaning.posterior[i].upper);
        for (size_t i = 0; i < TAMIS_ALARMS; i++) put_percent_up(&cells[2 + TAMIS_PRIORS + i], l->meaning.found[i].upper);
    } else {
        tmi_text_put(&cells[1], "none");
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        strings[i] = cells[i].bytes;
        if (cells[i].failed) table->failed = true;
    }
    tmi_table_row(table, strings);
    for (size_t i = 0; i < COLUMNS; i++) tmi_text_clear(&cells[i]);
}

/* 11 delta with four significant digits, rounded up; `upper` is the double above it. */
static tamis_status write_exception(char *written, const tamis_number *delta, double upper, tamis_error *err)
{
    tamis_number *eleven = NULL, *exact = NULL, *shorter = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&eleven, 11, 1, err));
    TMI_TRY(tmi_number_mul(&exact, delta, eleven, err));
    tamis_decimal_down(written, upper, 4);
    TMI_TRY(tamis_number_read(&shorter, written, err));
    if (tmi_number_compare(shorter, exact) < 0) tamis_decimal_up(written, upper, 4);

done:
    tmi_number_frees(&eleven, &exact, &shorter, NULL);
    return status;
}

static tamis_status put_delta(tmi_text *text, const line lines[LINES], const tamis_number *delta, tamis_error *err)
{
    tmi_text p;
    char written[TMI_DECIMAL];
    double worst = lines[0].meaning.except.upper;
    if (lines[2].claimed) worst = fmax(worst, lines[2].meaning.except.upper);
    if (worst == 0) return TAMIS_OK;
    tamis_status status = write_exception(written, delta, worst, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&p);
    if (worst < 1) {
        tmi_text_format(&p, "Delta: with probability at most %s the output is one for which odds and beliefs are not bounded,",
                        written);
        tmi_text_put(&p, " for an attacker who knows all other records. The columns of detection include delta.");
    } else {
        tmi_text_put(&p, "Delta: too large to bound odds or beliefs. The columns of detection include delta.");
    }
    if (p.failed) text->failed = true;
    else tmi_text_wrap(text, "  ", "  ", p.bytes);
    tmi_text_clear(&p);
    return TAMIS_OK;
}

static const char *unit_of(const tamis_promise *promise) { return promise->unit ? promise->unit : "person"; }

static void put_explanation(tmi_text *text, const char *unit)
{
    tmi_text p;
    tmi_text_init(&p);
    tmi_text_format(&p,
                    "Upper bounds, whatever the attacker knew before. Odds: the factor by which the odds of any guess about one "
                    "%s can grow, compared with a world without that %s's answers. Belief: what a belief of 1, 10 or 50 %% can "
                    "become, in %%. Detected: the power, in %%, of a test with 1 or 5 %% false positives. A journalist picks any "
                    "sampled record; an outsider does not know who was sampled.",
                    unit, unit);
    if (p.failed) text->failed = true;
    else tmi_text_wrap(text, "  ", "  ", p.bytes);
    tmi_text_clear(&p);
}

/* Two lines above the heading. No cell is wider than its heading or the second label, so the columns stay in place. */
#define ABOVE_HEADING \
    "                         odds of a  belief in a guess        detected with\n" \
    "                        guess grow  can rise from            false positives\n"

tamis_status tmi_write_meaning(tmi_text *text, const tamis_promise *promise, tamis_error *err)
{
    static const char *const heading[COLUMNS] = {"who wants to know", "at most by", "1 % to", "10 % to",
                                                 "50 % to",           "of 1 %",     "of 5 %"};
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    line lines[LINES];
    tamis_status status = lines_of(lines, promise, err);
    if (status != TAMIS_OK) return status;
    tmi_text_table table;
    tmi_table_init(&table, COLUMNS, align);
    tmi_text_put(text, ABOVE_HEADING);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < LINES; i++) add_line(&table, &lines[i]);
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    put_explanation(text, unit_of(promise));
    bool outsider = promise->outsider_delta && tmi_number_compare(promise->outsider_delta, promise->delta) > 0;
    return put_delta(text, lines, outsider ? promise->outsider_delta : promise->delta, err);
}

/* ---- JSON ---- */

static void put_bounds(tmi_json_out *out, const char *key, const char *const *names, const tamis_bound *list, size_t count)
{
    tmi_json_add_open(out, key, '{');
    for (size_t i = 0; i < count; i++) { tmi_json_add_bound(out, names[i], list[i]); }
    tmi_json_close(out, '}');
}

static const char *const priors[TAMIS_PRIORS] = {"0.01", "0.1", "0.5"}, *const alarms[TAMIS_ALARMS] = {"0.01", "0.05"};

static void put_percents(tmi_json_out *out, const char *key, const char *const *names, const tamis_bound *list, size_t count,
                         bool vacuous)
{
    tmi_json_add_open(out, key, '{');
    for (size_t i = 0; i < count; i++) {
        tmi_text text;
        tmi_text_init(&text);
        put_percent_up(&text, vacuous ? 1 : list[i].upper);
        tmi_text_put(&text, " %");
        tmi_json_add_taken(out, names[i], &text);
    }
    tmi_json_close(out, '}');
}

/* The numbers of a line as the table says them, rounded up. */
static void put_shown(tmi_json_out *out, const line *l)
{
    const bool vacuous = l->meaning.except.upper >= 1;
    tmi_text odds;
    tmi_text_init(&odds);
    put_up(&odds, vacuous ? INFINITY : l->meaning.odds.upper);
    tmi_json_add_open(out, "shown", '{');
    tmi_json_add_taken(out, "odds", &odds);
    put_percents(out, "posterior", priors, l->meaning.posterior, TAMIS_PRIORS, vacuous);
    put_percents(out, "found", alarms, l->meaning.found, TAMIS_ALARMS, false);
    tmi_json_close(out, '}');
}

tamis_status tmi_put_meaning_shown(tmi_json_out *out, const tamis_promise *promise, tamis_error *err)
{
    line lines[LINES];
    tamis_status status = lines_of(lines, promise, err);
    if (status != TAMIS_OK) return status;
    tmi_json_open(out, '[');
    for (size_t i = 0; i < LINES; i++) {
        if (!lines[i].claimed) continue;
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "who", lines[i].who);
        put_shown(out, &lines[i]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    return TAMIS_OK;
}

static tamis_status put_list(tmi_json_out *out, const tamis_promise *promise, bool shown, tamis_error *err)
{
    line lines[LINES];
    tamis_status status = lines_of(lines, promise, err);
    if (status != TAMIS_OK) return status;
    tmi_json_open(out, '[');
    for (size_t i = 0; i < LINES; i++) {
        if (!lines[i].claimed) continue;
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "who", lines[i].who);
        tmi_json_add_bound(out, "odds", lines[i].meaning.odds);
        tmi_json_add_bound(out, "except", lines[i].meaning.except);
        put_bounds(out, "posterior", priors, lines[i].meaning.posterior, TAMIS_PRIORS);
        put_bounds(out, "found", alarms, lines[i].meaning.found, TAMIS_ALARMS);
        if (shown) put_shown(out, &lines[i]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    return TAMIS_OK;
}

tamis_status tmi_put_meaning(tmi_json_out *out, const tamis_promise *promise, tamis_error *err)
{
    return put_list(out, promise, false, err);
}

/* ---- public ---- */

static tamis_status begin(char **text, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    return TAMIS_OK;
}

tamis_status tamis_meaning_text(char **text, const tamis_promise *promise, tamis_error *err)
{
    tmi_text t;
    tamis_status status = begin(text, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&t);
    status = tmi_write_meaning(&t, promise, err);
    if (status == TAMIS_OK) return tmi_text_take(text, &t, err);
    tmi_text_clear(&t);
    return status;
}

tamis_status tamis_meaning_json(char **json, const tamis_promise *promise, tamis_error *err)
{
    tmi_text t;
    tmi_json_out out;
    tamis_status status = begin(json, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&t);
    tmi_json_out_init(&out, &t, true);
    status = put_list(&out, promise, true, err);
    tmi_text_put(&t, "\n");
    if (status == TAMIS_OK) return tmi_text_take(json, &t, err);
    tmi_text_clear(&t);
    return status;
}

#define STEPS 100
#define LONGEST_UNIT 50 /* bytes of a name that fits the title */

/* The curve of an eps; the lower ends would look the same. */
static tamis_status curve_of(double *y, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int64_t i = 0; i <= STEPS; i++) {
        tamis_number *prior = NULL;
        tamis_bound bound = {0, 1};
        status = tmi_number_ratio(&prior, i, STEPS, err);
        if (status == TAMIS_OK) status = tmi_posterior(&bound, prior, eps, delta, err);
        tamis_number_free(prior);
        if (status != TAMIS_OK) return status;
        y[i] = 100 * bound.upper;
    }
    return status;
}

tamis_status tamis_meaning_svg(char **svg, const tamis_promise *promise, tamis_error *err)
{
    double x[STEPS + 1], sampled[STEPS + 1], outsider[STEPS + 1];
    line lines[LINES];
    char title[100], label[100];
    tamis_status status = begin(svg, err);
    if (status == TAMIS_OK) status = lines_of(lines, promise, err); /* also looks at what was given */
    if (status != TAMIS_OK) return status;
    const char *unit = strlen(unit_of(promise)) <= LONGEST_UNIT ? unit_of(promise) : "unit";
    snprintf(title, sizeof title, "How far can a belief about one %s move?", unit);
    snprintf(label, sizeof label, "belief without the %s's answers, %%", unit);
    for (int i = 0; i <= STEPS; i++) x[i] = 100.0 * i / STEPS;
    TMI_TRY(curve_of(sampled, promise->eps, promise->delta, err));
    if (lines[2].claimed) TMI_TRY(curve_of(outsider, promise->outsider_eps, promise->outsider_delta, err));
    const tamis_plot_curve curves[] = {
        {.name = "no change", .x = x, .y = x, .count = STEPS + 1, .reference = true},
        {.name = "who knows who was sampled", .x = x, .y = sampled, .count = STEPS + 1},
        {.name = "outsider", .x = x, .y = outsider, .count = STEPS + 1},
    };
    const tamis_plot plot = {.title = title,
                             .subtitle = "highest possible belief, whatever was known before",
                             .x = {.label = label, .to = 100},
                             .y = {.label = "belief after the release, %", .to = 100},
                             .curves = curves,
                             .curve_count = lines[2].claimed ? 3 : 2};
    status = tamis_plot_svg(svg, &plot, err);

done:
    return status;
}

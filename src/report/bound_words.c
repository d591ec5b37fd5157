#include "report/bound_words.h"

#include <math.h>

#include "base/decimal.h"
#include "base/table.h"
#include "num/number.h"
#include "report/report.h"
#include "report/report_words.h"
#include "schedule/guesses.h"

/* Of the statement how many rows are above a bound. */
#define CONFIDENCE 0.95

/* Errors that differ by less are the same for people: the expected ones are not known better. */
#define SAME 1.05

/* "250,000", "1,953.12" */
static void put_number(tmi_text *text, double x)
{
    if (x >= 1000) tmi_text_rounded(text, x, x == floor(x) ? 0 : 2);
    else tmi_text_format(text, "%.3g", x);
}

static void put_value(tmi_text *text, const tamis_number *x) { put_number(text, tmi_number_nearest(x)); }

/* "an eighth of the budget" would need a list of words. */
static void put_cost(tmi_text *text, const tmi_schedule *s, const tmi_bound_task *t)
{
    tmi_text_put(text, s->gaussian ? "rho " : "epsilon ");
    tmi_text_number_up(text, t->part);
}

static void put_above(tmi_text *text, const tmi_bound_task *t, const tmi_private_bound *b)
{
    const double above = tmi_rows_above(t, b, CONFIDENCE);
    if (isnan(above)) {
        tmi_text_put(text, "It is the largest candidate, and how many rows are above it is not known.");
        return;
    }
    tmi_text_format(text, "With probability %.0f %% at most ", 100 * CONFIDENCE);
    put_number(text, above);
    tmi_text_put(text, " rows are above it, whatever the data are.");
}

void tmi_list_bounds(tmi_lines *lines, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->bound_task_count; i++) {
        const tmi_bound_task *t = &s->bound_tasks[i];
        const tmi_private_bound *b = tmi_bound_of_task(s, t);
        tmi_text words;
        tmi_text_init(&words);
        tmi_text_format(&words, "Values of %s above a bound that %s with ", b->column.name,
                        b->found ? "was found" : "will be found");
        put_cost(&words, s, t);
        tmi_text_put(&words, ", ");
        if (!b->found) {
            tmi_text_put(&words, "at most ");
            put_value(&words, b->declared->to);
            tmi_text_put(&words, ", count as that bound: estimates and intervals are for these values.");
        } else {
            put_value(&words, b->column.to);
            tmi_text_put(&words, ", count as that bound: estimates and intervals are for these values. ");
            put_above(&words, t, b);
        }
        tmi_lines_take(lines, &words);
    }
}

void tmi_put_bounds_found(tmi_json_out *out, const tmi_schedule *s)
{
    if (s->bound_task_count == 0) return;
    tmi_json_add_open(out, "bounds", '[');
    for (size_t i = 0; i < s->bound_task_count; i++) {
        const tmi_private_bound *b = tmi_bound_of_task(s, &s->bound_tasks[i]);
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "column", b->column.name);
        tmi_json_add_real(out, "to", tmi_number_nearest(b->column.to));
        tmi_json_add_real(out, "rows_above_at_most", tmi_rows_above(&s->bound_tasks[i], b, CONFIDENCE));
        tmi_json_add_real(out, "confidence", CONFIDENCE);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

void tmi_bounds_words(tmi_text *text, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->bound_task_count; i++) {
        const tmi_private_bound *b = tmi_bound_of_task(s, &s->bound_tasks[i]);
        tmi_text_format(text, " The bound of %s is one of %d public candidates, chosen by the exponential mechanism with ",
                        b->column.name, b->most + 1);
        put_cost(text, s, &s->bound_tasks[i]);
        tmi_text_put(text, " before anything else is measured.");
    }
}

/* ---- in advance ---- */

/* How many times larger the errors of a column's statistics would be with the public bound `beyond`, and how many statistics
 * these are: the geometric mean; NaN if that is not known. */
static double times_of(size_t *count, const tmi_preview *p, const tmi_private_bound *b)
{
    const tmi_schedule *s = &p->schedule;
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        if (t->column != &b->column && t->second != &b->column) continue;
        const double ratio = 1 - tmi_alternative_gain(&p->public_bounds, p->expected_statistics, i);
        if (!(ratio > 0) || !isfinite(ratio)) continue;
        sum += log(ratio);
        ++*count;
    }
    return *count > 0 ? exp(sum / (double)*count) : NAN;
}

/* A bound below the mean that is likelier than this is worth a warning. */
#define LIKELY 0.02

static double below_mean(const tmi_schedule *s, const tmi_bound_task *t)
{
    tmi_sizes z;
    tmi_sizes_make(&z, s);
    return tmi_bound_below_mean(t, tmi_bound_of_task(s, t), z.sample * z.response);
}

static bool is_guessed(const tmi_private_bound *b) { return b->declared->typical != NULL; }

static void put_verdict(tmi_text *text, double times, const tmi_private_bound *b)
{
    if (isnan(times)) return;
    tmi_text_put(text, times > SAME       ? " With `to: "
                       : times < 1 / SAME ? " DOES NOT HELP: with `to: "
                                          : " Hardly helps: with `to: ");
    tmi_text_number(text, b->declared->to);
    tmi_text_put(text, "` and all of the budget errors would be ");
    const double factor = fmax(times, 1 / times);
    if (factor > SAME)
        tmi_text_format(text, "%.*f times %s.", factor < 2 ? 2 : factor < 10 ? 1 : 0, factor, times > 1 ? "larger" : "smaller");
    else tmi_text_put(text, "the same.");
}

void tmi_write_bounds(tmi_text *text, const tmi_preview *p)
{
    const tmi_schedule *s = &p->schedule;
    for (size_t i = 0; i < s->bound_task_count; i++) {
        const tmi_bound_task *t = &s->bound_tasks[i];
        const tmi_private_bound *b = tmi_bound_of_task(s, t);
        size_t count;
        const double times = times_of(&count, p, b);
        tmi_text line;
        tmi_text_init(&line);
        tmi_text_format(&line, "Private bound of %s: one of %d, ", b->column.name, b->most + 1);
        put_number(&line, ldexp(tmi_number_nearest(b->declared->to), -b->most));
        tmi_text_put(&line, " to ");
        put_value(&line, b->declared->to);
        tmi_text_put(&line, ", found with ");
        put_cost(&line, s, t);
        if (is_guessed(b)) {
            tmi_text_put(&line, "; errors are for ");
            put_value(&line, b->column.to);
            tmi_text_put(&line, ", which `typical` leads to.");
            if (below_mean(s, t) > LIKELY)
                tmi_text_format(
                    &line,
                    " TOO FEW ROWS: with probability %.0f %% the bound would be below the mean, and most of the values "
                    "clamped. Helps: a larger share of the budget, a smaller `beyond`, or a public bound.",
                    100 * below_mean(s, t));
            else put_verdict(&line, times, b);
        } else {
            tmi_text_put(&line, "; errors are for the largest one: `typical: {mean, sd}` says which one to expect.");
        }
        tmi_text_wrap_taken(text, "", "  ", &line);
    }
}

void tmi_put_bounds_expected(tmi_json_out *out, const tmi_preview *p)
{
    const tmi_schedule *s = &p->schedule;
    if (s->bound_task_count == 0) return;
    tmi_json_add_open(out, "bounds", '[');
    for (size_t i = 0; i < s->bound_task_count; i++) {
        const tmi_private_bound *b = tmi_bound_of_task(s, &s->bound_tasks[i]);
        size_t count;
        const double times = times_of(&count, p, b);
        tmi_put_bound_task(out, s, &s->bound_tasks[i]);
        tmi_json_add_open(out, "guess", '{');
        tmi_json_add_boolean(out, "from_typical", is_guessed(b));
        tmi_add_exact(out, "to", b->column.to);
        tmi_json_add_integer(out, "statistics", (int64_t)count);
        tmi_json_add_real(out, "error_of_public_bound", times);
        tmi_json_add_real(out, "below_mean", below_mean(s, &s->bound_tasks[i]));
        tmi_json_close(out, '}');
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

/* tamis_check: everything that can be said before a row is read. */
#include <math.h>
#include <string.h>
#include <tamis/release.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "num/number.h"
#include "release/feasible.h"
#include "release/promise.h"
#include "release/request.h"
#include "release/results.h"
#include "release/outlook.h"

struct tamis_preview {
    tmi_schedule schedule;
    tmi_account account;
    tmi_outlook *outlooks; /* one a statistic */
};

/* An estimate whose error is above a third of its size is not published by most agencies. */
#define DROWNED (1.0 / 3)

void tamis_preview_free(tamis_preview *preview)
{
    if (!preview) return;
    tmi_account_clear(&preview->account);
    tmi_schedule_clear(&preview->schedule);
    tmi_free(preview->outlooks);
    tmi_free(preview);
}

tamis_status tamis_check(tamis_preview **preview, const tamis_plan *plan, tamis_error *err)
{
    if (!preview) return tmi_fail(err, TAMIS_INVALID, "preview: expected a place for the result, got NULL");
    *preview = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: expected a plan, got NULL");
    tamis_preview *p = tmi_alloc(1, sizeof *p);
    if (!p) return tmi_fail_memory(err);
    tmi_asking asking = {0}; /* that these can be made is the answer */
    tmi_certificate certificate = {0};
    tamis_status status;
    TMI_TRY(tmi_schedule_make(&p->schedule, plan, NULL, err));
    TMI_TRY(tmi_certificate_of(&certificate, &p->schedule, err));
    TMI_TRY(tmi_asking_make(&asking, &p->schedule, err));
    if (plan->ledger) TMI_TRY(tmi_account_look(&p->account, &p->schedule, &(tmi_payment){.ledger = plan->ledger, .leftover = ""}, err));
    TMI_TRY(tmi_account_foresee(&p->account, &p->schedule, err));
    TMI_TRY(tmi_check_feasible(&p->schedule, &asking, &certificate, err));
    p->outlooks = tmi_alloc(plan->statistic_count, sizeof *p->outlooks);
    if (!p->outlooks) {
        status = tmi_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < plan->statistic_count; i++) tmi_outlook_make(&p->outlooks[i], &p->schedule, i);
    *preview = p;
    p = NULL;

done:
    tmi_asking_clear(&asking);
    tmi_certificate_clear(&certificate);
    tamis_preview_free(p);
    return status;
}

/* Noise falls with the budget (epsilon, the root of rho) and with the sample: what would bring it down to a third. */
static double times_too_large(const tmi_outlook *o)
{
    double size = isnan(o->expected) ? o->range : o->expected;
    return size > 0 ? o->noise_sd / (DROWNED * size) : INFINITY;
}

static void put_advice(tmi_text *text, const tamis_preview *p, size_t i)
{
    const tmi_schedule *s = &p->schedule;
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    double times = times_too_large(&p->outlooks[i]), n = (double)s->plan->design.sample, N = (double)s->plan->design.population;
    double budget = tmi_number_nearest(loss->rho ? loss->rho : loss->epsilon);
    tmi_text_put(text, "the noise will drown the ");
    tmi_statistic_title(text, s->plan, i);
    if (isinf(times)) return; /* nothing is expected of it */
    tmi_text_format(text, "; %s ", loss->rho ? "a rho of" : "an epsilon of");
    tmi_text_format(text, "%.2g", budget * (loss->rho ? times * times : times) * 1.005);
    bool larger = n > 0 && n * times <= N;
    if (larger) tmi_text_put(text, ", or a sample of ");
    if (larger) tmi_text_rounded(text, ceil(n * times), 0);
    tmi_text_put(text, " would not");
}

/* Noise against the expected size if the plan gives one, against the range otherwise. */
static bool is_drowned(const tmi_outlook *o)
{
    double size = isnan(o->expected) ? o->range : o->expected;
    return o->noise_sd > DROWNED * size;
}

/* ---- JSON ---- */

static void put_statistic(tmi_json_out *out, const tamis_preview *p, size_t i)
{
    const tmi_plan_statistic *s = &p->schedule.plan->statistics[i];
    const tmi_outlook *o = &p->outlooks[i];
    tmi_json_open(out, '{');
    tmi_json_key(out, "statistic");
    tmi_json_put_string(out, tmi_statistic_name(s));
    tmi_json_key(out, "column");
    tmi_json_put_string(out, s->column ? s->column->name : NULL);
    tmi_json_key(out, "by");
    tmi_json_open(out, '[');
    for (size_t j = 0; j < s->by_count; j++) tmi_json_put_string(out, s->by[j]->name);
    tmi_json_close(out, ']');
    tmi_json_key(out, "known");
    tmi_json_put_boolean(out, p->schedule.uses[i].known);
    tmi_json_key(out, "noise_sd");
    tmi_json_put_real(out, o->noise_sd);
    tmi_json_key(out, "share_of_range");
    tmi_json_put_real(out, o->range > 0 ? o->noise_sd / o->range : TMI_NULL);
    tmi_json_key(out, "sampling_se");
    tmi_json_put_real(out, o->sampling_sd);
    tmi_json_key(out, "share_of_expected");
    tmi_json_put_real(out, o->expected > 0 ? o->noise_sd / o->expected : TMI_NULL);
    tmi_json_key(out, "warning");
    tmi_text advice;
    tmi_text_init(&advice);
    if (is_drowned(o)) put_advice(&advice, p, i);
    if (advice.failed) out->text->failed = true;
    tmi_json_put_string(out, advice.bytes);
    tmi_text_clear(&advice);
    tmi_json_close(out, '}');
}

/* A list of the lines of a text; NULL: none. */
static void put_lines(tmi_json_out *out, const char *text)
{
    tmi_json_open(out, '[');
    for (const char *line = text; line && *line; line += strcspn(line, "\n") + 1) {
        char *one = tmi_copy_text(line, strcspn(line, "\n"));
        if (one) tmi_json_put_string(out, one);
        else out->text->failed = true;
        tmi_free(one);
    }
    tmi_json_close(out, ']');
}

tamis_status tamis_preview_json(char **text, const tamis_preview *preview, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: expected a place for the result, got NULL");
    *text = NULL;
    if (!preview) return tmi_fail(err, TAMIS_INVALID, "preview: expected a preview, got NULL");
    const tmi_schedule *s = &preview->schedule;
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, true);
    tmi_json_open(&out, '{');
    tmi_json_key(&out, "tamis");
    tmi_json_put_integer(&out, 1);
    tmi_json_key(&out, "survey");
    tmi_json_put_string(&out, s->plan->survey);
    tmi_json_key(&out, "design");
    tmi_put_design(&out, s);
    tmi_json_key(&out, "measurements");
    tmi_json_open(&out, '[');
    for (size_t i = 0; i < s->measurement_count; i++) {
        tmi_put_measurement(&out, s, &s->measurements[i]);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_key(&out, "statistics");
    tmi_json_open(&out, '[');
    for (size_t i = 0; i < s->plan->statistic_count; i++) put_statistic(&out, preview, i);
    tmi_json_close(&out, ']');
    tmi_json_key(&out, "guarantee");
    tmi_put_guarantee(&out, s);
    tmi_json_key(&out, "would_spend");
    tmi_put_spent(&out, s);
    tmi_json_key(&out, "spent");
    tmi_put_spending(&out, &preview->account, &preview->account.spent);
    tmi_json_key(&out, "left");
    tmi_put_spending(&out, &preview->account, &preview->account.left);
    tmi_json_key(&out, "would_leave");
    tmi_put_spending(&out, &(tmi_account){.has_spending = preview->account.has_then}, &preview->account.then_left);
    tmi_json_key(&out, "ledger");
    tmi_put_entry(&out, &preview->account);
    tmi_json_key(&out, "unpublished");
    put_lines(&out, preview->account.unpublished);
    tmi_json_key(&out, "warnings");
    tmi_put_warnings(&out, s);
    tmi_json_key(&out, "declared_public");
    tmi_put_declared(&out, s);
    tmi_json_key(&out, "not_covered");
    tmi_put_not_covered(&out, s);
    tmi_json_close(&out, '}');
    tmi_text_put(&json, "\n");
    return tmi_text_take(text, &json, err);
}

/* ---- for people ---- */

/* A row of at most six cells, each made by a small text; `cells` are cleared. */
static void add_row(tmi_text_table *table, tmi_text *cells, size_t count)
{
    const char *strings[TMI_TABLE_COLUMNS];
    for (size_t i = 0; i < count; i++) {
        strings[i] = cells[i].bytes;
        if (cells[i].failed) table->failed = true;
    }
    tmi_table_row(table, strings);
    for (size_t i = 0; i < count; i++) tmi_text_clear(&cells[i]);
}

static void put_percent(tmi_text *text, double share)
{
    if (!isfinite(share)) return;
    double percent = 100 * share;
    tmi_text_rounded(text, percent, percent > 0 && percent < 10 ? tmi_decimals_of(percent) : 0);
    tmi_text_put(text, " %");
}

static void write_statistics(tmi_text *text, const tamis_preview *p)
{
    static const char *const heading[] = {"", "noise ±", "of the range", "of the expected", "sampling ±", ""};
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    tmi_text_table table;
    tmi_table_init(&table, 6, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < p->schedule.plan->statistic_count; i++) {
        const tmi_outlook *o = &p->outlooks[i];
        tmi_text cells[6];
        for (size_t c = 0; c < 6; c++) tmi_text_init(&cells[c]);
        tmi_statistic_title(&cells[0], p->schedule.plan, i);
        if (p->schedule.uses[i].known) {
            tmi_text_put(&cells[1], "known");
        } else {
            tmi_text_rounded(&cells[1], o->noise_sd, tmi_decimals_of(o->noise_sd));
            put_percent(&cells[2], o->range > 0 ? o->noise_sd / o->range : TMI_NULL);
            put_percent(&cells[3], o->expected > 0 ? o->noise_sd / o->expected : TMI_NULL);
            if (isfinite(o->sampling_sd)) tmi_text_rounded(&cells[4], o->sampling_sd, tmi_decimals_of(o->sampling_sd));
            if (is_drowned(o)) tmi_text_put(&cells[5], "drowned in noise");
        }
        add_row(&table, cells, 6);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_wrap(text, "  ", "  ", "Noise ± is one standard deviation. The expected size follows from the population and from "
                  "`typical`, where the plan gives it, as if groups were of equal size and nothing missing: in a group half as "
                  "large the noise of a mean is twice as large. Drowned in noise: the noise is above a third of the expected "
                  "size, or of the range where none is expected.");
    for (size_t i = 0; i < p->schedule.plan->statistic_count; i++) {
        if (p->schedule.uses[i].known || !is_drowned(&p->outlooks[i])) continue;
        tmi_text advice;
        tmi_text_init(&advice);
        put_advice(&advice, p, i);
        if (advice.failed) text->failed = true;
        else tmi_text_wrap(text, "  WARNING: ", "    ", advice.bytes);
        tmi_text_clear(&advice);
    }
}

/* Around which value. */
static void put_centre(tmi_text *text, const tmi_quantity *q)
{
    if (!q->x || q->x->conditions || q->x->by_stratum || q->centre_x == 0) return;
    tmi_text_put(text, " minus ");
    tmi_text_real(text, (double)q->centre_x * q->x->grid.step);
}

/* For people: six digits, without an exponent where that is short enough. */
static void put_short(tmi_text *text, double x)
{
    if (x >= 1e3 && x < 1e12) tmi_text_rounded(text, x, 0);
    else tmi_text_format(text, "%.6g", x);
}

#define LETTERS 8 /* more kinds of inequality than there are */

/* The inequalities behind the sensitivities, each once. */
typedef struct inequalities {
    tmi_text words[LETTERS];
    size_t count;
    bool failed;
} inequalities;

/* Its letter, taken up if it is new. */
static char letter_of(inequalities *list, const tmi_schedule *s, size_t i)
{
    tmi_text words;
    size_t k = 0;
    tmi_text_init(&words);
    tmi_measurement_inequality(&words, &s->measurements[i], &s->plan->privacy);
    list->failed = list->failed || words.failed;
    while (k < list->count && !words.failed && strcmp(list->words[k].bytes, words.bytes) != 0) k++;
    if (k == list->count && k < LETTERS && !words.failed) list->words[list->count++] = words;
    else tmi_text_clear(&words);
    return (char)('a' + k);
}

static void write_inequalities(tmi_text *text, inequalities *list)
{
    if (list->failed) text->failed = true;
    for (size_t k = 0; k < list->count; k++) {
        char letter[] = "  a  ";
        letter[2] = (char)('a' + k);
        tmi_text_wrap(text, letter, "     ", list->words[k].bytes);
        tmi_text_clear(&list->words[k]);
    }
}

static void write_measurements(tmi_text *text, const tmi_schedule *s)
{
    const char *heading[] = {"measured with noise", "cells", "sensitivity  ", s->gaussian ? "rho" : "epsilon", "noise scale"};
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    inequalities list = {.count = 0};
    tmi_text_table table;
    tmi_table_init(&table, 5, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        for (size_t h = 0; h < m->law_count; h++) {
            tmi_text cells[5];
            for (size_t c = 0; c < 5; c++) tmi_text_init(&cells[c]);
            if (h == 0) tmi_measurement_name(&cells[0], m);
            if (h == 0) put_centre(&cells[0], &m->quantity);
            if (m->law_count > 1) tmi_text_format(&cells[0], "%s%s", h == 0 ? ": " : "  ", s->plan->design.strata[h].name);
            tmi_text_rounded(&cells[1], (double)(m->cells / m->law_count), 0);
            double unit = tmi_measurement_unit(m, &s->sampling, h);
            put_short(&cells[2], unit * (s->gaussian ? sqrt(tmi_number_nearest(m->laws[h].l2_squared)) : (double)m->laws[h].l1));
            tmi_text_format(&cells[2], " %c", letter_of(&list, s, i));
            put_short(&cells[3], tmi_number_nearest(m->part));
            put_short(&cells[4], unit * tmi_number_nearest(m->laws[h].scale));
            add_row(&table, cells, 5);
        }
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    write_inequalities(text, &list);
    tmi_text_wrap(text, "  ", "  ", "Sensitivity and scale are in the units of the data. Squares, and what is called spread, serve "
                  "the sampling errors.");
}

tamis_status tamis_preview_text(char **text, const tamis_preview *preview, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: expected a place for the result, got NULL");
    *text = NULL;
    if (!preview) return tmi_fail(err, TAMIS_INVALID, "preview: expected a preview, got NULL");
    const tmi_schedule *s = &preview->schedule;
    tmi_text t;
    tmi_text_init(&t);
    tmi_write_heading(&t, s->plan, "what this plan would release (no data were read)");
    write_statistics(&t, preview);
    tmi_text_put(&t, "\n");
    if (s->measurement_count > 0) {
        write_measurements(&t, s);
        tmi_text_put(&t, "\n");
    }
    tmi_write_promise(&t, s, false);
    tmi_write_declared(&t, s);
    tmi_write_account(&t, s, &preview->account);
    for (const char *line = preview->account.unpublished; line && *line; line += strcspn(line, "\n") + 1) {
        char *one = tmi_copy_text(line, strcspn(line, "\n"));
        if (one) tmi_text_wrap(&t, "  ", "  ", one);
        else t.failed = true;
        tmi_free(one);
    }
    return tmi_text_take(text, &t, err);
}

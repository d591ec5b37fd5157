/* What would lower the errors of a plan most, for each of its statistics. */
#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "base/table.h"
#include "num/bound.h"
#include "num/number.h"
#include "report/preview.h"
#include "report/promise.h"
#include "report/results.h"
#include "schedule/expected/change.h"

#define LITTLE 0.03 /* lower by less is not worth a change: then the error is that of the sample */

static const char *const names[TMI_ALTERNATIVES] = {"twice_the_budget", "delta",     "secret_sample", "half_the_range",
                                                    "half_the_groups",  "other_law", "each_by_itself"};

const char *tmi_alternative_name(tmi_alternative_kind kind) { return names[kind]; }

/* As a decimal if it is a short one. */
static void put_decimal(tmi_text *text, const tamis_number *number)
{
    char digits[40];
    tamis_number *read = NULL;
    snprintf(digits, sizeof digits, "%.6g", tmi_number_nearest(number));
    const tamis_status status = tamis_number_read(&read, digits, NULL);
    if (status == TAMIS_SYSTEM) text->failed = true;
    if (read && tmi_number_compare(read, number) == 0) tmi_text_put(text, digits);
    else tmi_text_number(text, number);
    tamis_number_free(read);
}

void tmi_put_loss_words(tmi_text *text, const tmi_plan_loss *loss)
{
    tmi_text_put(text, loss->rho ? "rho " : "epsilon ");
    put_decimal(text, loss->rho ? loss->rho : loss->epsilon);
    if (!loss->delta) return;
    tmi_text_put(text, ", delta ");
    put_decimal(text, loss->delta);
}

static void put_words(tmi_text *text, const tmi_preview *p, tmi_alternative_kind kind)
{
    tmi_plan_loss twice = p->remedies[TMI_TWICE_THE_BUDGET].loss;
    switch (kind) {
    case TMI_TWICE_THE_BUDGET:
        twice.delta = NULL; /* it is the plan's */
        tmi_put_loss_words(text, &twice);
        break;
    case TMI_WITH_DELTA: tmi_text_put(text, "a delta of " TMI_DELTA_TRIED); break;
    case TMI_SECRET_SAMPLE: tmi_text_put(text, "a secret sample"); break;
    case TMI_HALF_THE_RANGE: tmi_text_put(text, "half the range"); break;
    case TMI_HALF_THE_GROUPS: tmi_text_put(text, "half the groups"); break;
    default: tmi_text_put(text, "a larger sample"); break;
    }
}

/* ---- the best ---- */

/* The geometric mean over the statistics of a line, of those that it concerns. */
static double gain_of(const tmi_preview *p, tmi_alternative_kind kind, const size_t *leader, size_t i)
{
    double logs = 0, count = 0;
    for (size_t k = i; k < p->schedule.plan->asked_count; k++) {
        if ((leader ? leader[k] : k) != i) continue;
        const double gain = tmi_alternative_gain(&p->remedies[kind], p->expected_statistics, k);
        if (!(gain < 1)) continue;
        logs += log(1 - gain);
        count++;
    }
    return count > 0 ? 1 - exp(logs / count) : -INFINITY;
}

/* Of the kinds from `first` on; TMI_REMEDIES if none is worth it. */
static tmi_alternative_kind best_of(double *gain, const tmi_preview *p, tmi_alternative_kind first, const size_t *leader,
                                    size_t i)
{
    tmi_alternative_kind best = TMI_REMEDIES;
    *gain = LITTLE;
    for (tmi_alternative_kind kind = first; kind < TMI_REMEDIES; kind++) {
        const double own = gain_of(p, kind, leader, i);
        if (!(own > *gain)) continue;
        *gain = own;
        best = kind;
    }
    return best;
}

/* Where no error is known, no change of it is. */
static bool is_foreseen(const tmi_preview *p, size_t i)
{
    const tmi_expected_statistic *f = &p->expected_statistics[i];
    return f->count > 0 && !isnan(tmi_expected_group_error(&f->groups[0]));
}

/* ---- text ---- */

#define COLUMNS 5

static void put_percent(tmi_text *text, double gain)
{
    tmi_text_rounded(text, 100 * gain, 0);
    tmi_text_put(text, " %");
}

static void add_row(tmi_text_table *table, const tmi_preview *p, const size_t *leader, const size_t *sizes, size_t i)
{
    tmi_text cells[COLUMNS];
    double gain, free;
    const tmi_alternative_kind best = best_of(&gain, p, 0, leader, i), other = best_of(&free, p, TMI_HALF_THE_RANGE, leader, i);
    for (size_t k = 0; k < COLUMNS; k++) tmi_text_init(&cells[k]);
    tmi_statistic_title(&cells[0], p->schedule.plan, i);
    if (sizes[i] > 1) tmi_text_format(&cells[0], " and %zu more", sizes[i] - 1);
    if (is_foreseen(p, i)) put_words(&cells[1], p, best);
    else tmi_text_put(&cells[1], "not known");
    if (best < TMI_REMEDIES) put_percent(&cells[2], gain);
    if (other < TMI_REMEDIES && other != best) {
        put_words(&cells[3], p, other);
        put_percent(&cells[4], free);
    }
    tmi_table_row_taken(table, cells);
}

static void write_note(tmi_text *text, const tmi_preview *p)
{
    tmi_text note;
    tmi_text_init(&note);
    tmi_text_put(&note, "Of these changes, each tried on the plan as a whole");
    if (p->schedule.plan->statistic_count > TMI_FEW_STATISTICS) tmi_text_put(&note, " with the tables that it has now");
    tmi_text_put(&note, ": twice the budget");
    if (p->remedies[TMI_WITH_DELTA].possible) tmi_text_put(&note, "; a delta of " TMI_DELTA_TRIED);
    if (p->remedies[TMI_SECRET_SAMPLE].possible) {
        tmi_text_put(&note, "; a secret sample, with which ");
        tmi_put_loss_words(&note, &p->remedies[TMI_SECRET_SAMPLE].loss);
        tmi_text_format(&note, " for a sampled %s is ", p->schedule.plan->privacy.unit);
        tmi_put_loss_words(&note, &p->schedule.plan->privacy.loss);
        tmi_text_put(&note, " for everybody else of the frame");
    }
    tmi_text_put(&note, "; ranges of half the width (what is beyond is clamped: see tamis study bounds); groups taken together "
                        "in pairs, for the error relative to size. The last two change no guarantee.");
    tmi_text_wrap_taken(text, "  ", "  ", &note);
}

void tmi_write_remedies(tmi_text *text, const tmi_preview *p, const size_t *leader, const size_t *sizes)
{
    static const char *const heading[COLUMNS] = {"", "helps most", "error lower by", "same budget", "by"};
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_LEFT, TMI_RIGHT, TMI_LEFT, TMI_RIGHT};
    tmi_text_table table;
    if (p->schedule.measurement_count == 0) return;
    tmi_text_put(text, "\n");
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < p->schedule.plan->asked_count; i++)
        if (leader[i] == i && !tmi_is_known(&p->schedule, i)) add_row(&table, p, leader, sizes, i);
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    write_note(text, p);
}

/* A change, and for which lines it is the best. */
typedef struct use {
    double least, most; /* of the gains */
    size_t lines;
} use;

static void add_use(use *u, double gain)
{
    if (u->lines++ == 0) u->least = u->most = gain;
    u->least = fmin(u->least, gain);
    u->most = fmax(u->most, gain);
}

/* The change that is best for most lines. */
static void put_use(tmi_text *text, const tmi_preview *p, const use uses[TMI_REMEDIES], const char *before)
{
    tmi_alternative_kind kind = 0;
    for (tmi_alternative_kind k = 0; k < TMI_REMEDIES; k++)
        if (uses[k].lines > uses[kind].lines) kind = k;
    if (uses[kind].lines == 0) return;
    tmi_text_put(text, before);
    put_words(text, p, kind);
    tmi_text_put(text, " (errors ");
    if (round(100 * uses[kind].least) != round(100 * uses[kind].most))
        tmi_text_format(text, "%.0f to ", round(100 * uses[kind].least));
    put_percent(text, uses[kind].most);
    tmi_text_put(text, " lower)");
}

void tmi_sum_up_remedies(tmi_text *text, const tmi_preview *p, const size_t *leader, const size_t *sizes)
{
    use best[TMI_REMEDIES] = {{0}}, same[TMI_REMEDIES] = {{0}};
    size_t lines = 0, sampled = 0;
    tmi_text line;
    (void)sizes;
    for (size_t i = 0; i < p->schedule.plan->asked_count; i++) {
        double gain, free;
        if (leader[i] != i || tmi_is_known(&p->schedule, i) || !is_foreseen(p, i)) continue;
        const tmi_alternative_kind first = best_of(&gain, p, 0, leader, i),
                                   other = best_of(&free, p, TMI_HALF_THE_RANGE, leader, i);
        lines++;
        if (first < TMI_REMEDIES) add_use(&best[first], gain);
        else sampled++;
        if (other < TMI_REMEDIES && other != first) add_use(&same[other], free);
    }
    if (lines == 0) return;
    tmi_text_init(&line);
    put_use(&line, p, best, "Helps most: ");
    put_use(&line, p, same, line.length > 0 ? "; at the same budget: " : "Helps at the same budget: ");
    if (sampled == lines) tmi_text_put(&line, "Helps most: a larger sample");
    else if (sampled > 0) tmi_text_format(&line, "; a larger sample for %zu of %zu lines", sampled, lines);
    tmi_text_put(&line, ".");
    tmi_text_wrap_taken(text, "", "  ", &line);
}

/* ---- JSON ---- */

void tmi_put_loss(tmi_json_out *out, const tmi_plan_loss *loss)
{
    const struct {
        const char *name;
        const tamis_number *number;
    } all[] = {{"epsilon", loss->epsilon}, {"delta", loss->delta}, {"rho", loss->rho}};
    for (size_t i = 0; i < 3; i++) {
        if (!all[i].number) continue;
        tmi_json_key(out, all[i].name);
        tmi_put_exact(out, all[i].number);
    }
}

/* Losses rounded up to three digits, the gain down to whole per cent. */
static void put_shown(tmi_json_out *out, const tmi_plan_loss *loss, double gain)
{
    char number[TAMIS_DECIMAL];
    tmi_text lower;
    tmi_json_add_open(out, "shown", '{');
    const struct {
        const char *name;
        const tamis_number *number;
    } all[] = {{"epsilon", loss->epsilon}, {"delta", loss->delta}, {"rho", loss->rho}};
    for (size_t i = 0; i < 3; i++) {
        if (!all[i].number) continue;
        tamis_decimal_up(number, tmi_number_bound(all[i].number).upper, 3);
        tmi_json_add_string(out, all[i].name, number);
    }
    tmi_text_init(&lower);
    tmi_text_format(&lower, "%.0f %%", floor(100 * fmax(gain, 0)));
    tmi_json_add_taken(out, "error_lower_by", &lower);
    tmi_json_close(out, '}');
}

void tmi_put_remedies(tmi_json_out *out, const tmi_preview *p, size_t i)
{
    double gain;
    if (tmi_is_known(&p->schedule, i)) return;
    const tmi_alternative_kind best = best_of(&gain, p, 0, NULL, i);
    if (is_foreseen(p, i)) tmi_json_add_string(out, "helps_most", best < TMI_REMEDIES ? names[best] : "larger_sample");
    else tmi_json_add_null(out, "helps_most");
    tmi_json_add_open(out, "changes", '[');
    for (tmi_alternative_kind kind = 0; kind < TMI_REMEDIES; kind++) {
        const tmi_alternative *a = &p->remedies[kind];
        if (!a->possible || isnan(a->outcomes[i].error)) continue;
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "change", names[kind]);
        tmi_put_loss(out, &a->loss);
        tmi_json_add_real(out, "noise_sd", a->outcomes[i].noise);
        tmi_json_add_real(out, "se", a->outcomes[i].error);
        tmi_json_add_real(out, "error_lower_by", tmi_alternative_gain(a, p->expected_statistics, i));
        put_shown(out, &a->loss, tmi_alternative_gain(a, p->expected_statistics, i));
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

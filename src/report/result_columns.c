#include "report/result_columns.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "report/report_words.h"
#include "report/results.h"

void tmi_result_columns_clear(tmi_result_columns *t)
{
    for (size_t c = 0; t->list && c < t->count; c++) {
        tmi_free(t->list[c].name);
        tmi_free(t->list[c].valid);
        tmi_free(t->list[c].numbers);
        tmi_free(t->list[c].starts);
        tmi_text_clear(&t->list[c].bytes);
    }
    tmi_free(t->list);
    *t = (tmi_result_columns){0};
}

bool tmi_column_has(const tmi_results_column *c, size_t row) { return c->valid[row / 8] >> row % 8 & 1; }

const char *tmi_column_text(size_t *length, const tmi_results_column *c, size_t row)
{
    *length = (size_t)(c->starts[row + 1] - c->starts[row]);
    return *length > 0 ? c->bytes.bytes + c->starts[row] : "";
}

static void put_text(tmi_results_column *c, size_t row, const char *text)
{
    if (text) c->valid[row / 8] = (uint8_t)(c->valid[row / 8] | 1 << row % 8);
    else c->nulls++;
    if (text) tmi_text_put(&c->bytes, text);
    c->starts[row + 1] = (int64_t)c->bytes.length;
}

static void put_number(tmi_results_column *c, size_t row, double x)
{
    if (isnan(x)) {
        c->nulls++;
        return;
    }
    c->valid[row / 8] = (uint8_t)(c->valid[row / 8] | 1 << row % 8);
    c->numbers[row] = x;
}

static bool add_column(tmi_result_columns *t, tmi_column_role role, const char *name, bool is_text)
{
    tmi_results_column *c = &t->list[t->count++];
    c->role = role;
    c->is_text = is_text;
    c->name = tmi_copy_text(name, strlen(name));
    c->valid = tmi_alloc(t->rows / 8 + 1, 1);
    tmi_text_init(&c->bytes);
    if (is_text) c->starts = tmi_alloc(t->rows + 1, sizeof *c->starts);
    else c->numbers = tmi_alloc(t->rows + 1, sizeof *c->numbers);
    return c->name && c->valid && (is_text ? (void *)c->starts : (void *)c->numbers);
}

static const char *const before[] = {"statistic", "column", "where"}, *const after[] = {"at",    "line",        "estimate",
                                                                                        "se",    "sampling_se", "noise_sd",
                                                                                        "lower", "upper",       "confidence",
                                                                                        "df",    "cv"},
                         *const last[] = {"quality", "notes"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void put_notes(tmi_results_column *c, size_t row, const tmi_result *x)
{
    tmi_text notes;
    tmi_text_init(&notes);
    for (size_t i = 0; i < x->note_count; i++) tmi_text_format(&notes, "%s%s", i ? "; " : "", x->notes[i]);
    if (x->reason) tmi_text_format(&notes, "%s%s", notes.length ? "; " : "", x->reason);
    if (notes.failed) c->bytes.failed = true;
    put_text(c, row, notes.length ? notes.bytes : NULL);
    tmi_text_clear(&notes);
}

static void put_contrast(tmi_results_column *c, size_t row, const tmi_plan_statistic *s)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_contrast_text(&words, s);
    if (words.failed) c->bytes.failed = true;
    put_text(c, row, words.length ? words.bytes : NULL);
    tmi_text_clear(&words);
}

static void put_term(tmi_results_column *c, size_t row, const tmi_plan_statistic *s, size_t cell)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_term_text(&words, s, cell);
    if (words.failed) c->bytes.failed = true;
    put_text(c, row, words.length ? words.bytes : NULL);
    tmi_text_clear(&words);
}

static void put_row(tmi_result_columns *t, size_t row, const tmi_results *r, const tmi_result *x, const char *const *groups,
                    size_t group_count)
{
    const tmi_plan_statistic *s = &r->plan->statistics[x->statistic];
    const size_t cell = tmi_group_of(s, x->cell);
    const bool has_interval = !isnan(x->lower);
    const double numbers[] = {tmi_at_of(s, x->cell),
                              s->limit ? tmi_number_nearest(s->limit) : TMI_NULL,
                              x->estimate,
                              x->se,
                              x->sampling_se,
                              x->noise_sd,
                              x->lower,
                              x->upper,
                              has_interval ? tmi_number_nearest(s->confidence) : TMI_NULL,
                              x->df < 0 ? TMI_NULL : (double)x->df,
                              x->estimate != 0 ? x->se / fabs(x->estimate) : TMI_NULL};
    const char quality[] = {tmi_quality(r->plan, x), '\0'};
    tmi_text name;
    tmi_text_init(&name);
    tmi_result_column(&name, s);
    if (name.failed) t->list[1].bytes.failed = true;
    put_text(&t->list[0], row, tmi_statistic_name(s));
    put_text(&t->list[1], row, name.length ? name.bytes : NULL);
    put_text(&t->list[2], row, s->where ? s->where->name : NULL);
    tmi_text_clear(&name);
    tmi_results_column *c = &t->list[COUNT(before)];
    for (size_t g = 0; g < group_count; g++, c++) {
        size_t i = 0;
        while (i < s->by_count && strcmp(s->by[i]->name, groups[g]) != 0) i++;
        put_text(c, row, i < s->by_count ? tmi_cell_value(s->by, s->by_count, cell, i) : NULL);
    }
    if (tmi_has_contrasts(r->plan)) put_contrast(c++, row, s);
    if (tmi_has_models(r->plan)) put_term(c++, row, s, x->cell);
    for (size_t i = 0; i < COUNT(after); i++) put_number(c++, row, numbers[i]);
    if (tmi_has_models(r->plan)) put_number(c++, row, x->p);
    put_text(c++, row, quality[0] && quality[0] != ' ' ? quality : NULL);
    put_notes(c, row, x);
}

bool tmi_result_columns_make(tmi_result_columns *t, const tmi_results *r)
{
    const size_t most = tmi_group_columns(NULL, r->plan);
    const char **groups = tmi_alloc(most + 1, sizeof *groups);
    *t = (tmi_result_columns){.rows = r->count};
    if (!groups) return false;
    const size_t group_count = tmi_group_columns(groups, r->plan);
    bool made = true;
    t->list = tmi_alloc(COUNT(before) + group_count + 3 + COUNT(after) + COUNT(last), sizeof *t->list);
    if (!t->list) made = false;
    for (size_t i = 0; made && i < COUNT(before); i++)
        made = add_column(t, (tmi_column_role)(TMI_ROLE_STATISTIC + i), before[i], true);
    for (size_t i = 0; made && i < group_count; i++) {
        tmi_text name;
        tmi_text_init(&name);
        tmi_group_column_name(&name, groups, group_count, i);
        made = !name.failed && add_column(t, TMI_ROLE_GROUP, name.bytes, true);
        t->list[t->count > 0 ? t->count - 1 : 0].group = groups[i];
        tmi_text_clear(&name);
    }
    if (made && tmi_has_contrasts(r->plan)) made = add_column(t, TMI_ROLE_CONTRAST, "contrast", true);
    if (made && tmi_has_models(r->plan)) made = add_column(t, TMI_ROLE_TERM, "term", true);
    for (size_t i = 0; made && i < COUNT(after); i++) made = add_column(t, (tmi_column_role)(TMI_ROLE_AT + i), after[i], false);
    if (made && tmi_has_models(r->plan)) made = add_column(t, TMI_ROLE_P, "p", false);
    for (size_t i = 0; made && i < COUNT(last); i++) made = add_column(t, (tmi_column_role)(TMI_ROLE_QUALITY + i), last[i], true);
    for (size_t i = 0; made && i < r->count; i++) put_row(t, i, r, &r->list[i], groups, group_count);
    for (size_t c = 0; made && c < t->count; c++) made = !t->list[c].bytes.failed;
    tmi_free(groups);
    return made;
}

/* The results of a release or of an estimate as one Arrow record batch: for data frames. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "report/report_words.h"
#include "report/results.h"

/* A column while it is filled, and then what an ArrowArray points to. Texts are Arrow's large ones; numbers are doubles. */
typedef struct column {
    char *name;
    bool is_text;
    uint8_t *valid;
    int64_t nulls;
    double *numbers;
    int64_t *starts;
    tmi_text bytes;
    const void *buffers[3];
} column;

typedef struct table {
    column *columns;
    size_t count, rows;
    struct ArrowArray *arrays, **array_list; /* of the columns */
    struct ArrowSchema *fields, **field_list;
    const void *no_buffer[1];
} table;

static void free_table(table *t)
{
    if (!t) return;
    for (size_t c = 0; t->columns && c < t->count; c++) {
        tmi_free(t->columns[c].name);
        tmi_free(t->columns[c].valid);
        tmi_free(t->columns[c].numbers);
        tmi_free(t->columns[c].starts);
        tmi_text_clear(&t->columns[c].bytes);
    }
    tmi_free(t->columns);
    tmi_free(t->arrays);
    tmi_free(t->array_list);
    tmi_free(t->fields);
    tmi_free(t->field_list);
    tmi_free(t);
}

/* ---- filling ---- */

static void put_text(column *c, size_t row, const char *text)
{
    if (text) c->valid[row / 8] = (uint8_t)(c->valid[row / 8] | 1 << row % 8);
    else c->nulls++;
    if (text) tmi_text_put(&c->bytes, text);
    c->starts[row + 1] = (int64_t)c->bytes.length;
}

static void put_number(column *c, size_t row, double x)
{
    if (isnan(x)) {
        c->nulls++;
        return;
    }
    c->valid[row / 8] = (uint8_t)(c->valid[row / 8] | 1 << row % 8);
    c->numbers[row] = x;
}

static bool add_column(table *t, const char *name, bool is_text)
{
    column *c = &t->columns[t->count++];
    c->is_text = is_text;
    c->name = tmi_copy_text(name, strlen(name));
    c->valid = tmi_alloc(t->rows / 8 + 1, 1);
    tmi_text_init(&c->bytes);
    if (is_text) c->starts = tmi_alloc(t->rows + 1, sizeof *c->starts);
    else c->numbers = tmi_alloc(t->rows + 1, sizeof *c->numbers);
    return c->name && c->valid && (is_text ? (void *)c->starts : (void *)c->numbers);
}

/* ---- what is in the columns, the same in Python and in R ---- */

static const char *const before[] = {"statistic", "column", "where"}, *const after[] = {"at",    "line",        "estimate",
                                                                                        "se",    "sampling_se", "noise_sd",
                                                                                        "lower", "upper",       "confidence",
                                                                                        "df",    "cv"},
                         *const last[] = {"quality", "notes"};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static void put_notes(column *c, size_t row, const tmi_result *x)
{
    tmi_text notes;
    tmi_text_init(&notes);
    for (size_t i = 0; i < x->note_count; i++) tmi_text_format(&notes, "%s%s", i ? "; " : "", x->notes[i]);
    if (x->reason) tmi_text_format(&notes, "%s%s", notes.length ? "; " : "", x->reason);
    if (notes.failed) c->bytes.failed = true;
    put_text(c, row, notes.length ? notes.bytes : NULL);
    tmi_text_clear(&notes);
}

static void put_contrast(column *c, size_t row, const tmi_plan_statistic *s)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_contrast_text(&words, s);
    if (words.failed) c->bytes.failed = true;
    put_text(c, row, words.length ? words.bytes : NULL);
    tmi_text_clear(&words);
}

static void put_term(column *c, size_t row, const tmi_plan_statistic *s, size_t cell)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_term_text(&words, s, cell);
    if (words.failed) c->bytes.failed = true;
    put_text(c, row, words.length ? words.bytes : NULL);
    tmi_text_clear(&words);
}

static void put_row(table *t, size_t row, const tmi_results *r, const tmi_result *x, const char *const *groups,
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
    const char quality[] = {tmi_quality(s, x), '\0'};
    tmi_text name;
    tmi_text_init(&name);
    tmi_result_column(&name, s);
    if (name.failed) t->columns[1].bytes.failed = true;
    put_text(&t->columns[0], row, tmi_statistic_name(s));
    put_text(&t->columns[1], row, name.length ? name.bytes : NULL);
    put_text(&t->columns[2], row, s->where ? s->where->name : NULL);
    tmi_text_clear(&name);
    column *c = &t->columns[COUNT(before)];
    for (size_t g = 0; g < group_count; g++, c++) {
        size_t i = 0;
        while (i < s->by_count && strcmp(s->by[i]->name, groups[g]) != 0) i++;
        put_text(c, row, i < s->by_count ? tmi_cell_value(s->by, s->by_count, cell, i) : NULL);
    }
    if (tmi_has_contrasts(r->plan)) put_contrast(c++, row, s);
    if (tmi_has_models(r->plan)) {
        put_term(c++, row, s, x->cell);
        put_number(c++, row, x->p);
    }
    for (size_t i = 0; i < COUNT(after); i++) put_number(c++, row, numbers[i]);
    put_text(c++, row, quality[0] && quality[0] != ' ' ? quality : NULL);
    put_notes(c, row, x);
}

static bool fill(table *t, const tmi_results *r)
{
    const size_t most = tmi_group_columns(NULL, r->plan);
    const char **groups = tmi_alloc(most + 1, sizeof *groups);
    if (!groups) return false;
    const size_t group_count = tmi_group_columns(groups, r->plan);
    bool made = true;
    t->rows = r->count;
    t->columns = tmi_alloc(COUNT(before) + group_count + 3 + COUNT(after) + COUNT(last), sizeof *t->columns);
    if (!t->columns) made = false;
    for (size_t i = 0; made && i < COUNT(before); i++) made = add_column(t, before[i], true);
    for (size_t i = 0; made && i < group_count; i++) {
        tmi_text name;
        tmi_text_init(&name);
        tmi_group_column_name(&name, groups, group_count, i);
        made = !name.failed && add_column(t, name.bytes, true);
        tmi_text_clear(&name);
    }
    if (made && tmi_has_contrasts(r->plan)) made = add_column(t, "contrast", true);
    if (made && tmi_has_models(r->plan)) made = add_column(t, "term", true) && add_column(t, "p", false);
    for (size_t i = 0; made && i < COUNT(after); i++) made = add_column(t, after[i], false);
    for (size_t i = 0; made && i < COUNT(last); i++) made = add_column(t, last[i], true);
    for (size_t i = 0; made && i < r->count; i++) put_row(t, i, r, &r->list[i], groups, group_count);
    for (size_t c = 0; made && c < t->count; c++) made = !t->columns[c].bytes.failed;
    tmi_free(groups);
    return made;
}

/* ---- the C data interface ---- */

/* The schema and the array are released by themselves, and each owns what it points to: so there are two tables. */
static void release_schema(struct ArrowSchema *schema)
{
    table *t = schema->private_data;
    for (size_t c = 0; c < t->count; c++)
        if (t->fields[c].release) t->fields[c].release(&t->fields[c]);
    free_table(t);
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    table *t = array->private_data;
    for (size_t c = 0; c < t->count; c++)
        if (t->arrays[c].release) t->arrays[c].release(&t->arrays[c]);
    free_table(t);
    array->release = NULL;
}

/* A consumer may move a child away; what it points to stays with its parent, which must outlive it, unless the child owns it. So
 * children own nothing here, and are released by marking them so. */
static void release_field(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_child(struct ArrowArray *array) { array->release = NULL; }

static bool make_lists(table *t, bool arrays)
{
    if (arrays) {
        t->arrays = tmi_alloc(t->count, sizeof *t->arrays);
        t->array_list = tmi_alloc(t->count, sizeof *t->array_list);
        return t->arrays && t->array_list;
    }
    t->fields = tmi_alloc(t->count, sizeof *t->fields);
    t->field_list = tmi_alloc(t->count, sizeof *t->field_list);
    return t->fields && t->field_list;
}

static void give_array(struct ArrowArray *array, table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        column *c = &t->columns[i];
        c->buffers[0] = c->nulls > 0 ? c->valid : NULL;
        c->buffers[1] = c->is_text ? (const void *)c->starts : (const void *)c->numbers;
        c->buffers[2] = c->is_text ? (c->bytes.bytes ? c->bytes.bytes : "") : NULL;
        t->arrays[i] = (struct ArrowArray){.length = (int64_t)t->rows,
                                           .null_count = c->nulls,
                                           .n_buffers = c->is_text ? 3 : 2,
                                           .buffers = c->buffers,
                                           .release = release_child};
        t->array_list[i] = &t->arrays[i];
    }
    *array = (struct ArrowArray){.length = (int64_t)t->rows,
                                 .n_buffers = 1,
                                 .buffers = t->no_buffer,
                                 .n_children = (int64_t)t->count,
                                 .children = t->array_list,
                                 .release = release_array,
                                 .private_data = t};
}

static void give_schema(struct ArrowSchema *schema, table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        t->fields[i] = (struct ArrowSchema){.format = t->columns[i].is_text ? "U" : "g",
                                            .name = t->columns[i].name,
                                            .flags = ARROW_FLAG_NULLABLE,
                                            .release = release_field};
        t->field_list[i] = &t->fields[i];
    }
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = (int64_t)t->count,
                                   .children = t->field_list,
                                   .release = release_schema,
                                   .private_data = t};
}

tamis_status tmi_results_arrow(struct ArrowSchema *schema, struct ArrowArray *array, const tmi_results *r, tamis_error *err)
{
    table *names = tmi_alloc(1, sizeof *names), *rows = tmi_alloc(1, sizeof *rows);
    tmi_results empty = *r;
    empty.count = 0; /* the schema has the names alone */
    *schema = (struct ArrowSchema){0};
    *array = (struct ArrowArray){0};
    if (!names || !rows || !fill(names, &empty) || !fill(rows, r) || !make_lists(names, false) || !make_lists(rows, true)) {
        free_table(names);
        free_table(rows);
        return tmi_fail_memory(err);
    }
    give_schema(schema, names);
    give_array(array, rows);
    return TAMIS_OK;
}

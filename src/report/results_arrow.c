/* The results of a release or of an estimate as one Arrow record batch: for data frames. */
#include <string.h>

#include "base/memory.h"
#include "report/result_columns.h"
#include "report/results.h"

#define BUFFERS 3 /* which rows have a value; numbers, or where texts begin; the texts */

/* What a schema or an array points to. */
typedef struct table {
    tmi_result_columns columns;
    struct ArrowArray *arrays, **array_list; /* of the columns */
    const void *(*buffers)[BUFFERS];
    struct ArrowSchema *fields, **field_list;
    const void *no_buffer[1];
} table;

static void free_table(table *t)
{
    if (!t) return;
    tmi_result_columns_clear(&t->columns);
    tmi_free(t->arrays);
    tmi_free(t->array_list);
    tmi_free(t->buffers);
    tmi_free(t->fields);
    tmi_free(t->field_list);
    tmi_free(t);
}

/* The schema and the array are released by themselves, and each owns what it points to: so there are two tables. */
static void release_schema(struct ArrowSchema *schema)
{
    table *t = schema->private_data;
    for (size_t c = 0; c < t->columns.count; c++)
        if (t->fields[c].release) t->fields[c].release(&t->fields[c]);
    free_table(t);
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    table *t = array->private_data;
    for (size_t c = 0; c < t->columns.count; c++)
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
        t->arrays = tmi_alloc(t->columns.count, sizeof *t->arrays);
        t->array_list = tmi_alloc(t->columns.count, sizeof *t->array_list);
        t->buffers = tmi_alloc(t->columns.count, sizeof *t->buffers);
        return t->arrays && t->array_list && t->buffers;
    }
    t->fields = tmi_alloc(t->columns.count, sizeof *t->fields);
    t->field_list = tmi_alloc(t->columns.count, sizeof *t->field_list);
    return t->fields && t->field_list;
}

static void give_array(struct ArrowArray *array, table *t)
{
    for (size_t i = 0; i < t->columns.count; i++) {
        const tmi_results_column *c = &t->columns.list[i];
        const void **buffers = t->buffers[i];
        buffers[0] = c->nulls > 0 ? c->valid : NULL;
        buffers[1] = c->is_text ? (const void *)c->starts : (const void *)c->numbers;
        buffers[2] = c->is_text ? (c->bytes.bytes ? c->bytes.bytes : "") : NULL;
        t->arrays[i] = (struct ArrowArray){.length = (int64_t)t->columns.rows,
                                           .null_count = c->nulls,
                                           .n_buffers = c->is_text ? BUFFERS : BUFFERS - 1,
                                           .buffers = buffers,
                                           .release = release_child};
        t->array_list[i] = &t->arrays[i];
    }
    *array = (struct ArrowArray){.length = (int64_t)t->columns.rows,
                                 .n_buffers = 1,
                                 .buffers = t->no_buffer,
                                 .n_children = (int64_t)t->columns.count,
                                 .children = t->array_list,
                                 .release = release_array,
                                 .private_data = t};
}

static void give_schema(struct ArrowSchema *schema, table *t)
{
    for (size_t i = 0; i < t->columns.count; i++) {
        t->fields[i] = (struct ArrowSchema){.format = t->columns.list[i].is_text ? "U" : "g",
                                            .name = t->columns.list[i].name,
                                            .flags = ARROW_FLAG_NULLABLE,
                                            .release = release_field};
        t->field_list[i] = &t->fields[i];
    }
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = (int64_t)t->columns.count,
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
    if (!names || !rows || !tmi_result_columns_make(&names->columns, &empty) || !tmi_result_columns_make(&rows->columns, r) ||
        !make_lists(names, false) || !make_lists(rows, true)) {
        free_table(names);
        free_table(rows);
        return tmi_fail_memory(err);
    }
    give_schema(schema, names);
    give_array(array, rows);
    return TAMIS_OK;
}

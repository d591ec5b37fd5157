#include "collect/coding.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

#define COLUMNS (1 << 14) /* in a file: names are compared pairwise */

static bool listed(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

static const tamis_categories *categories_of(const char *name, const tamis_collection *c)
{
    for (size_t i = 0; i < c->categories_count; i++)
        if (strcmp(c->categories[i].column, name) == 0) return &c->categories[i];
    return NULL;
}

/* ---- the names of the bits ---- */

static tamis_status add_bit(tmi_coding *coding, const char *column, const char *category, tamis_error *err)
{
    tmi_packed_form *form = &coding->form;
    if (form->bits == TMI_PACKED_BITS) return tmi_fail(err, TAMIS_INVALID, "a report has at most %d bits", TMI_PACKED_BITS);
    char **names = tmi_realloc(form->names, form->bits + 1, sizeof *names);
    if (!names) return tmi_fail_memory(err);
    form->names = names;
    tmi_text name;
    tmi_text_init(&name);
    tmi_text_put(&name, column);
    if (category) tmi_text_format(&name, "=%s", category);
    tamis_status status = tmi_text_take(&names[form->bits], &name, err);
    if (status == TAMIS_OK) form->bits++;
    return status;
}

static tamis_status add_bits(tmi_coding *coding, tmi_coded_column *column, const tamis_collection *c, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    column->first = coding->form.bits;
    column->missing = c->missing_bit != 0;
    if (column->as == TMI_YES_NO) TMI_TRY(add_bit(coding, column->name, NULL, err));
    else
        for (size_t i = 0; i < column->categories->count; i++)
            TMI_TRY(add_bit(coding, column->name, column->categories->values[i], err));
    if (column->missing) TMI_TRY(add_bit(coding, column->name, "missing", err));
    column->bits = coding->form.bits - column->first;
    if (column->bits == 1) coding->alone++;
    else coding->one_hot++;
done:
    return status;
}

/* ---- the columns ---- */

static tamis_status code_column(tmi_coding *coding, size_t i, const tamis_collection *c, const tmi_cells *cells, tamis_error *err)
{
    tmi_coded_column *column = &coding->columns[i];
    const char *name = column->name;
    bool is_id = c->id && strcmp(name, c->id) == 0;
    column->categories = categories_of(name, c);
    column->as = is_id                                                      ? TMI_IS_ID
                 : c->columns && !listed(name, c->columns, c->column_count) ? TMI_LEFT_OUT
                 : column->categories                                       ? TMI_ONE_HOT
                                                                            : TMI_YES_NO;
    if (is_id) coding->id = i;
    if (column->as == TMI_LEFT_OUT) coding->left_out++;
    if (column->as < TMI_YES_NO) return TAMIS_OK;
    if (strchr(name, '='))
        return tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "column %zu: '=' is not allowed in a name, it marks categories",
                             i + 1);
    return add_bits(coding, column, c, err);
}

static bool in_file(const tmi_coding *coding, const char *name)
{
    for (size_t i = 0; i < coding->count; i++)
        if (strcmp(coding->columns[i].name, name) == 0) return true;
    return false;
}

/* Every column that is requested by name must exist and be requested only once. */
static tamis_status check_asked(const tmi_coding *coding, const tamis_collection *c, const tmi_cells *cells, tamis_error *err)
{
    if (c->id && coding->id == SIZE_MAX)
        return tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "there is no id column %s", c->id);
    if (c->id && (listed(c->id, c->columns, c->columns ? c->column_count : 0) || categories_of(c->id, c)))
        return tmi_fail(err, TAMIS_INVALID, "%s: an id column cannot be an answer as well", c->id);
    for (size_t i = 0; c->columns && i < c->column_count; i++) {
        if (!in_file(coding, c->columns[i]))
            return tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "there is no column %s", c->columns[i]);
        if (listed(c->columns[i], c->columns, i))
            return tmi_fail(err, TAMIS_INVALID, "columns: %s is given twice", c->columns[i]);
    }
    for (size_t i = 0; i < c->categories_count; i++) {
        const tamis_categories *k = &c->categories[i];
        if (!in_file(coding, k->column))
            return tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "there is no column %s, for which categories are given",
                                 k->column);
        if (categories_of(k->column, c) != k) return tmi_fail(err, TAMIS_INVALID, "categories: %s is given twice", k->column);
        if (listed("", k->values, k->count))
            return tmi_fail(err, TAMIS_INVALID, "categories: %s has an empty category; an empty cell is a missing answer",
                            k->column);
        if (k->count < 2) return tmi_fail(err, TAMIS_INVALID, "categories: %s needs at least two", k->column);
        if (c->columns && !listed(k->column, c->columns, c->column_count))
            return tmi_fail(err, TAMIS_INVALID, "categories: %s is not one of the requested columns", k->column);
    }
    return TAMIS_OK;
}

static tamis_status code_columns(tmi_coding *coding, const tmi_cells *cells, const tamis_collection *c, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (cells->count > COLUMNS) return tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "more than %d columns", COLUMNS);
    if (!(coding->columns = tmi_alloc(cells->count, sizeof *coding->columns))) return tmi_fail_memory(err);
    for (size_t i = 0; i < cells->count; i++, coding->count++) {
        const char *name = tmi_cell_at(cells, i);
        if (in_file(coding, name))
            return tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "column %zu has the same name as another column", i + 1);
        if (!(coding->columns[i].name = tmi_copy_text(name, strlen(name)))) return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < coding->count; i++) TMI_TRY(code_column(coding, i, c, cells, err));
    TMI_TRY(check_asked(coding, c, cells, err));
    if (coding->form.bits == 0) status = tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "there is no column to report");
done:
    return status;
}

tamis_status tmi_coding_init(tmi_coding *coding, const tmi_cells *cells, const tamis_collection *c, tamis_error *err)
{
    tamis_status status;
    *coding = (tmi_coding){.id = SIZE_MAX};
    if (cells->count == 1 && tmi_cell_at(cells, 0)[0] == '\0')
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, cells->path, 1, "the first line is empty; it must name the columns"));
    TMI_TRY(code_columns(coding, cells, c, err));
    TMI_TRY(tmi_number_copy(&coding->form.lie, c->lie, err));
    TMI_TRY(tmi_number_copy(&coding->form.lie_zero, c->lie_zero ? c->lie_zero : c->lie, err));
    if (c->id && !(coding->form.id = tmi_copy_text(c->id, strlen(c->id)))) TMI_TRY(tmi_fail_memory(err));
    tamis_error reason;
    status = tmi_packed_form_check(&coding->form, &reason);
    if (status != TAMIS_OK) status = tmi_fail_as_file(err, &reason, cells->path);
done:
    if (status != TAMIS_OK) tmi_coding_clear(coding);
    return status;
}

void tmi_coding_clear(tmi_coding *coding)
{
    for (size_t i = 0; coding->columns && i < coding->count; i++) tmi_free(coding->columns[i].name);
    tmi_free(coding->columns);
    tmi_packed_form_clear(&coding->form);
    *coding = (tmi_coding){0};
}

/* ---- one cell ---- */

static const char *const yes_words[] = {"1", "yes", "true"}, *const no_words[] = {"0", "no", "false"};

static bool is_word(const char *cell, const char *const words[3])
{
    return strcasecmp(cell, words[0]) == 0 || strcasecmp(cell, words[1]) == 0 || strcasecmp(cell, words[2]) == 0;
}

tamis_status tmi_code_cell(size_t *set, const tmi_coded_column *column, const char *cell, const tmi_cells *cells,
                           tamis_error *err)
{
    const tamis_categories *k = column->categories;
    *set = SIZE_MAX;
    if (cell[0] == '\0') {
        *set = column->bits - 1;
        if (column->missing) return TAMIS_OK;
        return tmi_fail_file(err, TAMIS_INVALID, cells->path, cells->line,
                             "column %s: the answer is missing (missing answers can have a bit of their own)", column->name);
    }
    if (column->as == TMI_YES_NO) {
        if (is_word(cell, no_words)) return TAMIS_OK;
        *set = 0;
        if (is_word(cell, yes_words)) return TAMIS_OK;
        return tmi_fail_file(err, TAMIS_INVALID, cells->path, cells->line, "column %s: must be 1 or 0, yes or no, true or false",
                             column->name);
    }
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->values[i], cell) == 0) *set = i;
    if (*set != SIZE_MAX) return TAMIS_OK;
    return tmi_fail_file(err, TAMIS_INVALID, cells->path, cells->line, "column %s: not one of its %zu categories", column->name,
                         k->count);
}

const char *tmi_coded_answer(const tmi_coded_column *column, size_t set)
{
    if (column->missing && set == column->bits - 1) return "";
    if (column->as == TMI_ONE_HOT) return column->categories->values[set];
    return set == 0 ? "1" : "0";
}

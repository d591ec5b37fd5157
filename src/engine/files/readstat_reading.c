#include "engine/files/readstat_reading.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- values ---- */

static double number_of(readstat_value_t value)
{
    switch (tmi_readstat()->value_type(value)) {
    case READSTAT_TYPE_INT8: return value.v.i8_value;
    case READSTAT_TYPE_INT16: return value.v.i16_value;
    case READSTAT_TYPE_INT32: return value.v.i32_value;
    case READSTAT_TYPE_FLOAT: return (double)value.v.float_value;
    case READSTAT_TYPE_DOUBLE: return value.v.double_value;
    default: return (double)NAN;
    }
}

static bool is_string(readstat_type_t type) { return tmi_readstat()->type_class(type) == READSTAT_TYPE_CLASS_STRING; }

static tmi_form form_of(readstat_type_t type)
{
    return is_string(type)                ? TMI_FORM_TEXT
           : type == READSTAT_TYPE_DOUBLE ? TMI_FORM_DOUBLE
           : type == READSTAT_TYPE_FLOAT  ? TMI_FORM_FLOAT
                                          : TMI_FORM_EXACT;
}

/* Typical size of a number that is used as a label, in bytes. */
#define SHORT_TEXT 24

/* ---- labels ---- */

void tmi_readstat_clear(tmi_readstat_reading *r)
{
    for (size_t i = 0; i < r->label_count; i++) {
        tmi_free(r->labels[i].set);
        tmi_free(r->labels[i].code);
        tmi_free(r->labels[i].text);
    }
    for (size_t c = 0; r->list && c < r->count; c++) {
        tmi_readstat_column *w = &r->list[c];
        if (w->numbers) tmi_wipe(w->numbers, TMI_SCAN_ROWS * sizeof *w->numbers);
        if (w->bytes) tmi_wipe(w->bytes, w->room);
        if (w->category) tmi_wipe(w->category, TMI_SCAN_ROWS * sizeof *w->category);
        tmi_free(w->numbers);
        tmi_free(w->category);
        tmi_free(w->cells);
        tmi_free(w->bytes);
        tmi_free(w->set);
        tmi_free(w->labels);
    }
    tmi_free(r->list);
    tmi_free(r->labels);
    for (size_t v = 0; r->names && v < r->variable_count; v++) tmi_free(r->names[v]);
    tmi_free(r->names);
    tmi_free(r->first);
    tmi_free(r->raw);
}

tamis_status tmi_readstat_init(tmi_readstat_reading *r, const char *given, const tmi_column *const *columns,
                               tmi_codes *const *codes, size_t count, tamis_error *err)
{
    *r = (tmi_readstat_reading){.given = given, .count = count, .row_count = -1, .status = TAMIS_OK, .err = err};
    r->list = tmi_alloc(count, sizeof *r->list);
    r->raw = tmi_alloc(count, sizeof *r->raw);
    if (!r->list || !r->raw) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) r->list[c] = (tmi_readstat_column){.column = columns[c], .codes = codes[c]};
    return TAMIS_OK;
}

static int out_of_memory(tmi_readstat_reading *r)
{
    r->status = tmi_fail_memory(r->err);
    return READSTAT_HANDLER_ABORT;
}

int tmi_readstat_label_handler(const char *set, readstat_value_t value, const char *text, void *context)
{
    tmi_readstat_reading *r = context;
    const bool is_text = is_string(tmi_readstat()->value_type(value));
    if (!set || !text || tmi_readstat()->value_is_system_missing(value) || tmi_readstat()->value_is_tagged_missing(value))
        return READSTAT_HANDLER_OK;
    if ((r->label_count & (r->label_count - 1)) == 0) { /* room doubles at powers of two */
        tmi_readstat_label *labels = tmi_realloc(r->labels, r->label_count > 0 ? 2 * r->label_count : 1, sizeof *labels);
        if (!labels) return out_of_memory(r);
        r->labels = labels;
    }
    const char *code = is_text && tmi_readstat()->string_value(value) ? tmi_readstat()->string_value(value) : "";
    tmi_readstat_label *l = &r->labels[r->label_count++];
    *l = (tmi_readstat_label){.is_string = is_text, .number = is_text ? 0 : number_of(value)};
    l->set = tmi_copy_text(set, strlen(set));
    l->text = tmi_copy_text(text, strlen(text));
    l->code = tmi_copy_text(code, strlen(code));
    return l->set && l->text && l->code ? READSTAT_HANDLER_OK : out_of_memory(r);
}

/* Chooses the codes of a category that are counted as their labels: the label is listed, and the code is not. */
tamis_status tmi_readstat_choose_labels(tmi_readstat_reading *r, tamis_error *err)
{
    for (size_t c = 0; c < r->count; c++) {
        tmi_readstat_column *w = &r->list[c];
        if (!w->set || w->column->kind != TMI_CATEGORY) continue;
        w->labels = tmi_alloc(r->label_count, sizeof *w->labels);
        if (!w->labels) return tmi_fail_memory(err);
        for (size_t i = 0; i < r->label_count; i++) {
            const tmi_readstat_label *l = &r->labels[i];
            char text[TMI_NUMBER_TEXT];
            if (strcmp(l->set, w->set) != 0 || !tmi_is_listed(w->codes, TMI_FORM_TEXT, l->text, strlen(l->text))) continue;
            const char *code = l->is_string ? l->code : text;
            if (!l->is_string) tmi_double_text(text, l->number);
            if (!tmi_is_listed(w->codes, w->form, code, strlen(code))) w->labels[w->label_count++] = i;
        }
    }
    return TAMIS_OK;
}

/* ---- variables ---- */

int tmi_readstat_metadata_handler(readstat_metadata_t *metadata, void *context)
{
    tmi_readstat_reading *r = context;
    r->row_count = tmi_readstat()->get_row_count(metadata);
    return READSTAT_HANDLER_OK;
}

static bool make_variables(tmi_readstat_reading *r, size_t count)
{
    int *first = tmi_realloc(r->first, count, sizeof *first);
    if (first) r->first = first;
    char **names = tmi_realloc(r->names, count, sizeof *names);
    if (names) r->names = names;
    if (!first || !names) return false;
    for (; r->variable_count < count; r->variable_count++) {
        first[r->variable_count] = -1;
        names[r->variable_count] = NULL;
    }
    return true;
}

/* Also called in the second reading, after the first one has filled it in. If no column is requested, the first variable is
 * read so that rows are counted. */
int tmi_readstat_variable_handler(int index, readstat_variable_t *variable, const char *set, void *context)
{
    tmi_readstat_reading *r = context;
    const size_t i = (size_t)index;
    const char *name = tmi_readstat()->variable_get_name(variable); /* NULL if it is empty */
    if (i >= r->variable_count && !make_variables(r, i + 1)) return out_of_memory(r);
    if (name && !r->names[i] && !(r->names[i] = tmi_copy_text(name, strlen(name)))) return out_of_memory(r);
    r->first[i] = -1;
    for (size_t c = r->count; c-- > 0;) {
        tmi_readstat_column *w = &r->list[c];
        if (!name || strcmp(w->column->name, name) != 0) continue;
        w->next = r->first[i];
        r->first[i] = (int)c;
        w->found = true;
        w->form = form_of(tmi_readstat()->variable_get_type(variable));
        w->is_date = w->form != TMI_FORM_TEXT && tmi_is_date_format(r->formats, tmi_readstat()->variable_get_format(variable));
        if (!set || w->set) continue;
        w->set = tmi_copy_text(set, strlen(set));
        if (!w->set) return out_of_memory(r);
    }
    return r->first[i] >= 0 || (i == 0 && r->count == 0) ? READSTAT_HANDLER_OK : READSTAT_HANDLER_SKIP_VARIABLE;
}

/* ---- rows ---- */

bool tmi_readstat_make_room(tmi_readstat_column *w)
{
    if (w->column->kind == TMI_CATEGORY) {
        w->category = tmi_alloc(TMI_SCAN_ROWS, sizeof *w->category);
        return w->category;
    }
    if (w->column->kind == TMI_LABEL) {
        w->cells = tmi_alloc(TMI_SCAN_ROWS, sizeof *w->cells);
        w->room = TMI_SCAN_ROWS * SHORT_TEXT;
        w->bytes = tmi_alloc(w->room, 1);
        return w->cells && w->bytes;
    }
    w->numbers = tmi_alloc(TMI_SCAN_ROWS, sizeof *w->numbers);
    return w->numbers;
}

/* While a piece is being collected, a cell's bytes may move: only its length and order are kept, and that it is present. */
static int add_text(tmi_readstat_reading *r, tmi_readstat_column *w, const char *bytes, size_t length)
{
    if (length > w->room - w->used) {
        const size_t room = 2 * w->room + length;
        char *more = tmi_regrow(w->bytes, w->used, room, 1);
        if (!more) return out_of_memory(r);
        w->bytes = more;
        w->room = room;
    }
    memcpy(w->bytes + w->used, bytes, length);
    w->used += length;
    w->cells[r->rows - 1] = (tmi_cell){"", length};
    return READSTAT_HANDLER_OK;
}

tamis_status tmi_readstat_hand_out(tmi_readstat_reading *r, tamis_error *err)
{
    const size_t n = r->rows;
    for (size_t c = 0; c < r->count; c++) {
        tmi_readstat_column *w = &r->list[c];
        const char *at = w->bytes;
        for (size_t i = 0; w->cells && i < n; i++) {
            if (w->cells[i].bytes) w->cells[i].bytes = at;
            at += w->cells[i].length;
        }
        r->raw[c] = (tmi_raw){.numbers = w->numbers, .texts = w->cells, .codes = w->category, .form = w->form};
    }
    r->base += (int64_t)n;
    r->rows = 0;
    const double share = r->row_count > 0 ? fmin((double)r->base / (double)r->row_count, 1) : -1;
    const double done = share < 0 ? -1 : ((double)r->file + share) / (double)r->file_count;
    tamis_status status = n > 0 ? r->take(r->context, r->raw, n, done, err) : TAMIS_OK;
    for (size_t c = 0; c < r->count; c++) r->list[c].used = 0;
    return status;
}

static int begin_row(tmi_readstat_reading *r)
{
    if (r->rows == TMI_SCAN_ROWS && (r->status = tmi_readstat_hand_out(r, r->err)) != TAMIS_OK) return READSTAT_HANDLER_ABORT;
    for (size_t c = 0; c < r->count; c++) {
        if (r->list[c].numbers) r->list[c].numbers[r->rows] = (double)NAN;
        if (r->list[c].cells) r->list[c].cells[r->rows] = (tmi_cell){0};
        if (r->list[c].category) r->list[c].category[r->rows] = tmi_code(r->list[c].codes, TMI_FORM_TEXT, NULL, 0);
    }
    r->rows++;
    return READSTAT_HANDLER_OK;
}

/* A float is a missing code if it is the code rounded to a float. */
static bool is_float_code(const tmi_column *column, double x)
{
    for (size_t i = 0; i < column->missing_code_count; i++)
        if ((double)(float)column->missing_codes[i] == x) return true;
    return false;
}

/* The code in a category: that of the value's own text, or of its label. */
static int32_t code_of(const tmi_readstat_reading *r, const tmi_readstat_column *w, bool is_string_value, double number,
                       tmi_cell text)
{
    for (size_t i = 0; i < w->label_count; i++) {
        const tmi_readstat_label *l = &r->labels[w->labels[i]];
        const tmi_cell code = tmi_trimmed(l->code, strlen(l->code));
        const bool same_text = code.length == text.length && memcmp(code.bytes, text.bytes, text.length) == 0;
        if (l->is_string == is_string_value && (is_string_value ? same_text : l->number == number))
            return tmi_code(w->codes, TMI_FORM_TEXT, l->text, strlen(l->text));
    }
    return tmi_code(w->codes, w->form, text.bytes, text.length);
}

static int take_number(tmi_readstat_reading *r, tmi_readstat_column *w, double x)
{
    char text[TMI_NUMBER_TEXT];
    int answer = READSTAT_HANDLER_OK;
    if (w->numbers) {
        w->numbers[r->rows - 1] = w->form == TMI_FORM_FLOAT && is_float_code(w->column, x) ? (double)NAN : x;
        return answer;
    }
    if (!isfinite(x)) return answer;
    const tmi_cell cell = {text, tmi_double_text(text, x)};
    if (w->category) w->category[r->rows - 1] = code_of(r, w, false, x, cell);
    else answer = add_text(r, w, cell.bytes, cell.length);
    tmi_wipe(text, cell.length);
    return answer;
}

static int take_string(tmi_readstat_reading *r, tmi_readstat_column *w, const char *text)
{
    const tmi_cell cell = tmi_trimmed(text, strlen(text));
    if (!w->category) return add_text(r, w, cell.bytes, cell.length);
    w->category[r->rows - 1] = code_of(r, w, true, 0, cell);
    return READSTAT_HANDLER_OK;
}

int tmi_readstat_value_handler(int row, readstat_variable_t *variable, readstat_value_t value, void *context)
{
    tmi_readstat_reading *r = context;
    const size_t v = (size_t)tmi_readstat()->variable_get_index(variable);
    if ((int64_t)row >= r->base + (int64_t)r->rows && begin_row(r) != READSTAT_HANDLER_OK) return READSTAT_HANDLER_ABORT;
    if (v >= r->variable_count || tmi_readstat()->value_is_missing(value, variable)) return READSTAT_HANDLER_OK;
    for (int c = r->first[v]; c >= 0; c = r->list[c].next) {
        tmi_readstat_column *w = &r->list[c];
        const bool is_text = w->form == TMI_FORM_TEXT;
        const char *text = is_text ? tmi_readstat()->string_value(value) : NULL;
        if (is_text && !text) continue;
        const int answer = is_text ? take_string(r, w, text) : take_number(r, w, number_of(value));
        if (answer != READSTAT_HANDLER_OK) return answer;
    }
    return READSTAT_HANDLER_OK;
}

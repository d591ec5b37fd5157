/* Files of SPSS, Stata and SAS, read by ReadStat and handed out as a scanner does: the rest of the engine is scan.c.
 *
 * A file is read twice: first what its variables are and how their codes are labelled (in Stata's files labels come after
 * the rows), then the rows. A category may name a code or its label, so that a labelled code is counted as its label
 * where that, and not the code, is among the values. What the file itself says is missing (system missing, Stata's .a to
 * .z, SPSS's user-missing values and ranges) is missing. Dates are numbers with a format: as such they are labels and categories,
 * and nothing that is summed.                                                                                        */
#include <math.h>
#include <readstat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/article.h"
#include "base/memory.h"
#include "base/words.h"
#include "engine/files/files.h"
#include "engine/files/readstat_class.h"
#include "engine/files/scan.h"

typedef readstat_error_t parse_file(readstat_parser_t *parser, const char *path, void *context);

static const struct {
    const char *ending, *name;
    parse_file *parse;
    tmi_format_of formats;
} kinds[] = {
    {".sav", "SPSS", readstat_parse_sav, TMI_SPSS_FORMAT},   {".zsav", "SPSS", readstat_parse_sav, TMI_SPSS_FORMAT},
    {".dta", "Stata", readstat_parse_dta, TMI_STATA_FORMAT}, {".sas7bdat", "SAS", readstat_parse_sas7bdat, TMI_SAS_FORMAT},
    {".xpt", "SAS transport", readstat_parse_xport, TMI_SAS_FORMAT},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static size_t kind_of(const char *name)
{
    size_t k = 0;
    while (k < KINDS && !tmi_ends_in(name, kinds[k].ending)) k++;
    return k;
}

bool tmi_is_readstat_file(const char *name)
{
    return kind_of(name) < KINDS;
}

typedef struct file_scanner {
    tmi_scanner scanner;
    tmi_file *files;
    size_t file_count;
} file_scanner;

/* ---- values ---- */

static double number_of(readstat_value_t value)
{
    switch (readstat_value_type(value)) {
    case READSTAT_TYPE_INT8: return value.v.i8_value;
    case READSTAT_TYPE_INT16: return value.v.i16_value;
    case READSTAT_TYPE_INT32: return value.v.i32_value;
    case READSTAT_TYPE_FLOAT: return (double)value.v.float_value;
    case READSTAT_TYPE_DOUBLE: return value.v.double_value;
    default: return (double)NAN;
    }
}

static bool is_string(readstat_type_t type)
{
    return readstat_type_class(type) == READSTAT_TYPE_CLASS_STRING;
}

static tmi_form form_of(readstat_type_t type)
{
    return is_string(type)                  ? TMI_FORM_TEXT
           : type == READSTAT_TYPE_DOUBLE ? TMI_FORM_DOUBLE
           : type == READSTAT_TYPE_FLOAT  ? TMI_FORM_FLOAT
                                          : TMI_FORM_EXACT;
}

/* Bytes of a number that is used as a label, as a rule. */
#define SHORT_TEXT 24

/* ---- labels ---- */

/* A label of a code, of all those in the file. */
typedef struct label {
    char *set;
    bool is_string;
    double number;
    char *code, *text; /* code: of strings */
} label;

/* A column that is asked for, in one file. */
typedef struct wanted {
    const tmi_column *column;
    const tmi_codes *codes; /* of a category */
    bool found;
    char *set; /* of labels; NULL: none */
    size_t *labels; /* those that are counted instead of their codes */
    size_t label_count;
    int next; /* the next column of the same variable; -1: none */

    double *numbers;   /* of a piece: one of these three */
    int32_t *category;
    tmi_cell *cells;
    char *bytes;       /* of the cells */
    size_t used, room;
    tmi_form form;
    bool is_date; /* a number that is shown as a date or time */
} wanted;

typedef struct reading {
    const char *given; /* the file's name in messages */
    wanted *list;
    size_t count;
    label *labels;
    size_t label_count;
    int *first; /* of each variable: the first column that asks for it, -1: none */
    char **names; /* of each variable; NULL: none */
    size_t variable_count;
    int64_t row_count; /* -1: not known */

    tmi_raw *raw;
    int64_t base;  /* rows before this piece */
    size_t rows;   /* in it */
    size_t file, file_count;
    tmi_take_raw *take;
    void *context;
    tamis_status status; /* why we stopped */
    tamis_error *err;
} reading;

static void clear_reading(reading *r)
{
    for (size_t i = 0; i < r->label_count; i++) {
        tmi_free(r->labels[i].set);
        tmi_free(r->labels[i].code);
        tmi_free(r->labels[i].text);
    }
    for (size_t c = 0; r->list && c < r->count; c++) {
        wanted *w = &r->list[c];
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

static tamis_status make_reading(reading *r, const char *given, const tmi_column *const *columns, tmi_codes *const *codes,
                                 size_t count, tamis_error *err)
{
    *r = (reading){.given = given, .count = count, .row_count = -1, .status = TAMIS_OK, .err = err};
    r->list = tmi_alloc(count, sizeof *r->list);
    r->raw = tmi_alloc(count, sizeof *r->raw);
    if (!r->list || !r->raw) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) r->list[c] = (wanted){.column = columns[c], .codes = codes[c]};
    return TAMIS_OK;
}

static int out_of_memory(reading *r)
{
    r->status = tmi_fail_memory(r->err);
    return READSTAT_HANDLER_ABORT;
}

static int take_label(const char *set, readstat_value_t value, const char *text, void *context)
{
    reading *r = context;
    const bool is_text = is_string(readstat_value_type(value));
    if (!set || !text || readstat_value_is_system_missing(value) || readstat_value_is_tagged_missing(value))
        return READSTAT_HANDLER_OK;
    if ((r->label_count & (r->label_count - 1)) == 0) { /* room doubles at powers of two */
        label *labels = tmi_realloc(r->labels, r->label_count > 0 ? 2 * r->label_count : 1, sizeof *labels);
        if (!labels) return out_of_memory(r);
        r->labels = labels;
    }
    const char *code = is_text && readstat_string_value(value) ? readstat_string_value(value) : "";
    label *l = &r->labels[r->label_count++];
    *l = (label){.is_string = is_text, .number = is_text ? 0 : number_of(value)};
    l->set = tmi_copy_text(set, strlen(set));
    l->text = tmi_copy_text(text, strlen(text));
    l->code = tmi_copy_text(code, strlen(code));
    return l->set && l->text && l->code ? READSTAT_HANDLER_OK : out_of_memory(r);
}

/* The codes of a category that are counted as their labels: those labels are listed, and the codes are not. */
static tamis_status choose_labels(reading *r, tamis_error *err)
{
    for (size_t c = 0; c < r->count; c++) {
        wanted *w = &r->list[c];
        if (!w->set || w->column->kind != TMI_CATEGORY) continue;
        w->labels = tmi_alloc(r->label_count, sizeof *w->labels);
        if (!w->labels) return tmi_fail_memory(err);
        for (size_t i = 0; i < r->label_count; i++) {
            const label *l = &r->labels[i];
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

static int take_metadata(readstat_metadata_t *metadata, void *context)
{
    reading *r = context;
    r->row_count = readstat_get_row_count(metadata);
    return READSTAT_HANDLER_OK;
}

static bool make_variables(reading *r, size_t count)
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

/* Also called in the second reading, when what the first one said is there already. Without any column the first variable is
 * read, so that rows are counted. */
static int take_variable(int index, readstat_variable_t *variable, const char *set, void *context)
{
    reading *r = context;
    const size_t i = (size_t)index;
    const char *name = readstat_variable_get_name(variable); /* NULL if it is empty */
    if (i >= r->variable_count && !make_variables(r, i + 1)) return out_of_memory(r);
    if (name && !r->names[i] && !(r->names[i] = tmi_copy_text(name, strlen(name)))) return out_of_memory(r);
    r->first[i] = -1;
    for (size_t c = r->count; c-- > 0;) {
        wanted *w = &r->list[c];
        if (!name || strcmp(w->column->name, name) != 0) continue;
        w->next = r->first[i];
        r->first[i] = (int)c;
        w->found = true;
        w->form = form_of(readstat_variable_get_type(variable));
        w->is_date = w->form != TMI_FORM_TEXT &&
                     tmi_is_date_format(kinds[kind_of(r->given)].formats, readstat_variable_get_format(variable));
        if (!set || w->set) continue;
        w->set = tmi_copy_text(set, strlen(set));
        if (!w->set) return out_of_memory(r);
    }
    return r->first[i] >= 0 || (i == 0 && r->count == 0) ? READSTAT_HANDLER_OK : READSTAT_HANDLER_SKIP_VARIABLE;
}

/* ---- rows ---- */

static bool make_room(wanted *w)
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

/* While a piece is gathered, a cell's bytes may move: only its length and order are known, and that it is there. */
static int add_text(reading *r, wanted *w, const char *bytes, size_t length)
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

static tamis_status hand_out(reading *r, tamis_error *err)
{
    const size_t n = r->rows;
    for (size_t c = 0; c < r->count; c++) {
        wanted *w = &r->list[c];
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

static int begin_row(reading *r)
{
    if (r->rows == TMI_SCAN_ROWS && (r->status = hand_out(r, r->err)) != TAMIS_OK) return READSTAT_HANDLER_ABORT;
    for (size_t c = 0; c < r->count; c++) {
        if (r->list[c].numbers) r->list[c].numbers[r->rows] = (double)NAN;
        if (r->list[c].cells) r->list[c].cells[r->rows] = (tmi_cell){0};
        if (r->list[c].category) r->list[c].category[r->rows] = tmi_code(r->list[c].codes, TMI_FORM_TEXT, NULL, 0);
    }
    r->rows++;
    return READSTAT_HANDLER_OK;
}

/* A float is a missing code if it is the code rounded to one. */
static bool is_float_code(const tmi_column *column, double x)
{
    for (size_t i = 0; i < column->missing_code_count; i++)
        if ((double)(float)column->missing_codes[i] == x) return true;
    return false;
}

/* The code of a category: that of the code's own text, or of its label. */
static int32_t code_of(const reading *r, const wanted *w, bool is_string_value, double number, tmi_cell text)
{
    for (size_t i = 0; i < w->label_count; i++) {
        const label *l = &r->labels[w->labels[i]];
        const tmi_cell code = tmi_trimmed(l->code, strlen(l->code));
        const bool same_text = code.length == text.length && memcmp(code.bytes, text.bytes, text.length) == 0;
        if (l->is_string == is_string_value && (is_string_value ? same_text : l->number == number))
            return tmi_code(w->codes, TMI_FORM_TEXT, l->text, strlen(l->text));
    }
    return tmi_code(w->codes, w->form, text.bytes, text.length);
}

static int take_number(reading *r, wanted *w, double x)
{
    char text[TMI_NUMBER_TEXT];
    int answer = READSTAT_HANDLER_OK;
    if (w->numbers) {
        w->numbers[r->rows - 1] = w->form == TMI_FORM_FLOAT && is_float_code(w->column, x) ? (double)NAN : x;
        return answer;
    }
    if (!isfinite(x)) return answer;
    const tmi_cell cell = {text, tmi_double_text(text, x)};
    if (w->category)
        w->category[r->rows - 1] = code_of(r, w, false, x, cell);
    else
        answer = add_text(r, w, cell.bytes, cell.length);
    tmi_wipe(text, cell.length);
    return answer;
}

static int take_string(reading *r, wanted *w, const char *text)
{
    const tmi_cell cell = tmi_trimmed(text, strlen(text));
    if (!w->category) return add_text(r, w, cell.bytes, cell.length);
    w->category[r->rows - 1] = code_of(r, w, true, 0, cell);
    return READSTAT_HANDLER_OK;
}

static int take_value(int row, readstat_variable_t *variable, readstat_value_t value, void *context)
{
    reading *r = context;
    const size_t v = (size_t)readstat_variable_get_index(variable);
    if ((int64_t)row >= r->base + (int64_t)r->rows && begin_row(r) != READSTAT_HANDLER_OK) return READSTAT_HANDLER_ABORT;
    if (v >= r->variable_count || readstat_value_is_missing(value, variable)) return READSTAT_HANDLER_OK;
    for (int c = r->first[v]; c >= 0; c = r->list[c].next) {
        wanted *w = &r->list[c];
        const bool is_text = w->form == TMI_FORM_TEXT;
        const char *text = is_text ? readstat_string_value(value) : NULL;
        if (is_text && !text) continue;
        const int answer = is_text ? take_string(r, w, text) : take_number(r, w, number_of(value));
        if (answer != READSTAT_HANDLER_OK) return answer;
    }
    return READSTAT_HANDLER_OK;
}

/* ---- files ---- */

static void ignore_error(const char *message, void *context)
{
    (void)message; /* may quote the file */
    (void)context;
}

static tamis_status tell_trouble(const reading *r, readstat_error_t error, const char *kind, tamis_error *err)
{
    if (r->status != TAMIS_OK) return r->status; /* not all its readers end when they are told so */
    switch (error) {
    case READSTAT_OK: return TAMIS_OK;
    case READSTAT_ERROR_MALLOC: return tmi_fail_memory(err);
    case READSTAT_ERROR_CONVERT: case READSTAT_ERROR_CONVERT_BAD_STRING: case READSTAT_ERROR_CONVERT_SHORT_STRING:
    case READSTAT_ERROR_CONVERT_LONG_STRING: case READSTAT_ERROR_UNSUPPORTED_CHARSET:
        return tmi_fail_file_more(err, TAMIS_INVALID, r->given, 0, "texts in another encoding than the file says");
    case READSTAT_ERROR_READ: case READSTAT_ERROR_SEEK: case READSTAT_ERROR_ROW_COUNT_MISMATCH:
        return tmi_fail_file_more(err, TAMIS_INVALID, r->given, 0, "not %s %s file, or cut off", tmi_article(kind), kind);
    default: return tmi_fail_file_more(err, TAMIS_INVALID, r->given, 0, "not %s %s file, or damaged", tmi_article(kind), kind);
    }
}

/* What is read: the variables alone (all that may be read before the charge), with the labels of their codes, or the rows. */
typedef enum what { VARIABLES, LABELS, ROWS } what;

static tamis_status parse(reading *r, const char *path, what what, tamis_error *err)
{
    const size_t kind = kind_of(path);
    readstat_parser_t *parser = readstat_parser_init();
    if (!parser) return tmi_fail_memory(err);
    readstat_set_metadata_handler(parser, take_metadata);
    readstat_set_variable_handler(parser, take_variable);
    readstat_set_error_handler(parser, ignore_error);
    if (what == ROWS) readstat_set_value_handler(parser, take_value);
    if (what == LABELS) readstat_set_value_label_handler(parser, take_label);
    tamis_status status = tell_trouble(r, kinds[kind].parse(parser, path, r), kinds[kind].name, err);
    readstat_parser_free(parser);
    return status;
}

static const char *name_at(const void *names, size_t v)
{
    const char *name = ((const char *const *)names)[v];
    return name ? name : "";
}

/* What the variables are. INVALID names those that are not there, and those that are used as numbers and hold none. */
static tamis_status look_into(reading *r, const char *path, what what, tamis_error *err)
{
    tamis_status status;
    const tmi_source_part part = {.file = r->given};
    TMI_TRY(parse(r, path, what, err));
    for (size_t c = 0; c < r->count; c++) {
        const wanted *w = &r->list[c];
        tamis_status one = TAMIS_OK;
        if (!w->found)
            one = tmi_fail_column(err, r->given, "there is", w->column->name, name_at, r->names, r->variable_count);
        else if (w->column->kind == TMI_NUMBER)
            one = tmi_class_check(w->is_date ? TMI_CLASS_DATE : tmi_class_of(w->form), &part, w->column->name, err);
        if (one != TAMIS_OK) status = one;
    }
    if (status == TAMIS_OK) status = choose_labels(r, err);
done:
    return status;
}

static tamis_status scan_file(const file_scanner *s, size_t f, const tmi_column *const *columns, tmi_codes *const *codes,
                              size_t count, tmi_take_raw *take, void *context, tamis_error *err)
{
    const tmi_file *file = &s->files[f];
    reading r;
    tamis_status status;
    TMI_TRY(make_reading(&r, file->given, columns, codes, count, err));
    what before = VARIABLES;
    for (size_t c = 0; c < count; c++)
        if (columns[c]->kind == TMI_CATEGORY) before = LABELS;
    TMI_TRY(look_into(&r, file->given, before, err));
    for (size_t c = 0; c < count; c++)
        if (!make_room(&r.list[c])) TMI_TRY(tmi_fail_memory(err));
    r.take = take;
    r.context = context;
    r.file = f;
    r.file_count = s->file_count;
    TMI_TRY(parse(&r, file->given, ROWS, err));
    if (r.row_count >= 0 && r.base + (int64_t)r.rows != r.row_count)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, file->given, 0, "the file is cut off"));
    TMI_TRY(hand_out(&r, err));
done:
    clear_reading(&r);
    return status;
}

/* ---- the scanner ---- */

static void free_scanner(tmi_scanner *scanner)
{
    file_scanner *s = scanner->state;
    for (size_t f = 0; f < s->file_count; f++) tmi_file_clear(&s->files[f]);
    tmi_free(s->files);
    tmi_free(s);
}

/* What file f holds in the columns, and that it fits the files before it. */
static tamis_status check_file(tmi_form *seen, const tmi_file *file, const tmi_column *const *columns, tmi_codes *const *codes,
                               size_t count, tamis_error *err)
{
    reading r;
    tamis_status status;
    TMI_TRY(make_reading(&r, file->given, columns, codes, count, err));
    const tmi_source_part part = {.file = file->given};
    if (!file->path) goto done; /* it is not there, and that was said */
    TMI_TRY(look_into(&r, file->given, VARIABLES, err));
    for (size_t c = 0; c < count; c++) {
        if (columns[c]->kind == TMI_NUMBER) continue;
        if (tmi_form_join(&seen[c], r.list[c].form, &part, columns[c]->name, err) != TAMIS_OK) status = TAMIS_INVALID;
        if (codes[c] && tmi_codes_check(codes[c], r.list[c].form, err) != TAMIS_OK) status = TAMIS_INVALID;
    }
done:
    clear_reading(&r);
    return status;
}

static tamis_status check(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                          tamis_progress *progress, void *context, tamis_error *err)
{
    file_scanner *s = scanner->state;
    tmi_form *seen = tmi_alloc(count, sizeof *seen);
    (void)progress;
    (void)context;
    if (!seen) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) seen[c] = TMI_FORM_ANY;
    tamis_status status = tmi_files_find(s->files, s->file_count, err);
    for (size_t f = 0; f < s->file_count && (status == TAMIS_OK || status == TAMIS_INVALID); f++) {
        const tamis_status one = check_file(seen, &s->files[f], columns, codes, count, err);
        if (one != TAMIS_OK) status = one;
    }
    tmi_free(seen);
    return status;
}

static tamis_status scan(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                         size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err)
{
    const file_scanner *s = scanner->state;
    tamis_status status = TAMIS_OK;
    for (size_t f = part; f < s->file_count && status == TAMIS_OK; f += parts)
        status = scan_file(s, f, columns, codes, count, take, context, err);
    return status;
}

tamis_status tmi_engine_readstat(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *engine = NULL;
    if (!source || !source->files || source->file_count == 0)
        return tmi_fail(err, TAMIS_INVALID, "the source names no file");
    file_scanner *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    s->scanner = (tmi_scanner){.name = "readstat", .state = s, .check = check, .scan = scan, .in_parts = true,
                               .free = free_scanner};
    s->files = tmi_alloc(source->file_count, sizeof *s->files);
    if (!s->files) status = tmi_fail_memory(err);
    for (size_t f = 0; status == TAMIS_OK && f < source->file_count; f++) {
        const char *name = source->files[f] ? source->files[f] : "";
        if (!tmi_is_readstat_file(name))
            status = tmi_fail_file(err, TAMIS_INVALID, name, 0, "not all files of the source are of SPSS, Stata or SAS (.sav, "
                                   ".zsav, .dta, .sas7bdat, .xpt)");
        else
            status = tmi_file_init(&s->files[s->file_count++], name, err);
    }
    if (status == TAMIS_OK) return tmi_engine_take_scanner(engine, &s->scanner, threads, err);
    free_scanner(&s->scanner);
    return status;
}

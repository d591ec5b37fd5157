/* Files of SPSS, Stata and SAS, read by ReadStat and handed out as a scanner; scan.c is the rest of the engine.
 *
 * A file is read twice: first its variables and the labels of their codes (Stata stores labels after the rows), then the rows.
 * A category may name a code or its label: a labelled code is counted as its label if the label, and not the code, is among
 * the values. Values that the file declares missing (system missing, Stata's .a to .z, SPSS's user-missing values and ranges)
 * are missing. Dates are numbers with a format: they can be labels and categories, but cannot be summed. */
#include <readstat.h>
#include <string.h>

#include "base/article.h"
#include "base/memory.h"
#include "base/words.h"
#include "engine/files/readstat_reading.h"
#include "engine/files/scan.h"

typedef readstat_error_t parse_file(readstat_parser_t *parser, const char *path, void *context);

#define PARSE(kind) \
    static readstat_error_t parse_##kind(readstat_parser_t *parser, const char *path, void *context) \
    { \
        return tmi_readstat()->parse_##kind(parser, path, context); \
    }
PARSE(sav)
PARSE(dta)
PARSE(sas7bdat)
PARSE(xport)

static const struct {
    const char *ending, *name;
    parse_file *parse;
    tmi_format_of formats;
} kinds[] = {
    {".sav", "SPSS", parse_sav, TMI_SPSS_FORMAT},           {".zsav", "SPSS", parse_sav, TMI_SPSS_FORMAT},
    {".dta", "Stata", parse_dta, TMI_STATA_FORMAT},         {".sas7bdat", "SAS", parse_sas7bdat, TMI_SAS_FORMAT},
    {".xpt", "SAS transport", parse_xport, TMI_SAS_FORMAT},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static size_t kind_of(const char *name)
{
    size_t k = 0;
    while (k < KINDS && !tmi_ends_in(name, kinds[k].ending)) k++;
    return k;
}

bool tmi_is_readstat_file(const char *name) { return kind_of(name) < KINDS; }

/* ---- files ---- */

static void ignore_error(const char *message, void *context)
{
    (void)message; /* may quote the file */
    (void)context;
}

static tamis_status tell_trouble(const tmi_readstat_reading *r, readstat_error_t error, const char *kind, tamis_error *err)
{
    if (r->status != TAMIS_OK) return r->status; /* not all of its readers stop when they are asked to */
    switch (error) {
    case READSTAT_OK: return TAMIS_OK;
    case READSTAT_ERROR_MALLOC: return tmi_fail_memory(err);
    case READSTAT_ERROR_CONVERT:
    case READSTAT_ERROR_CONVERT_BAD_STRING:
    case READSTAT_ERROR_CONVERT_SHORT_STRING:
    case READSTAT_ERROR_CONVERT_LONG_STRING:
    case READSTAT_ERROR_UNSUPPORTED_CHARSET:
        return tmi_fail_file_more(err, TAMIS_INVALID, r->given, 0, "texts are not in the encoding that the file declares");
    case READSTAT_ERROR_READ:
    case READSTAT_ERROR_SEEK:
    case READSTAT_ERROR_ROW_COUNT_MISMATCH:
        return tmi_fail_file_more(err, TAMIS_INVALID, r->given, 0, "not %s %s file, or cut off", tmi_article(kind), kind);
    default: return tmi_fail_file_more(err, TAMIS_INVALID, r->given, 0, "not %s %s file, or damaged", tmi_article(kind), kind);
    }
}

/* What is read: only the variables (all that may be read before the charge), also the labels of their codes, or the rows. */
typedef enum what { VARIABLES, LABELS, ROWS } what;

static tamis_status parse(tmi_readstat_reading *r, const char *path, what what, tamis_error *err)
{
    const size_t kind = kind_of(path);
    const tamis_status loaded = tmi_readstat_load(err);
    if (loaded != TAMIS_OK) return loaded;
    readstat_parser_t *parser = tmi_readstat()->parser_init();
    if (!parser) return tmi_fail_memory(err);
    r->formats = kinds[kind].formats;
    tmi_readstat()->set_metadata_handler(parser, tmi_readstat_metadata_handler);
    tmi_readstat()->set_variable_handler(parser, tmi_readstat_variable_handler);
    tmi_readstat()->set_error_handler(parser, ignore_error);
    if (what == ROWS) tmi_readstat()->set_value_handler(parser, tmi_readstat_value_handler);
    if (what == LABELS) tmi_readstat()->set_value_label_handler(parser, tmi_readstat_label_handler);
    tamis_status status = tell_trouble(r, kinds[kind].parse(parser, path, r), kinds[kind].name, err);
    tmi_readstat()->parser_free(parser);
    return status;
}

static const char *name_at(const void *names, size_t v)
{
    const char *name = ((const char *const *)names)[v];
    return name ? name : "";
}

/* Reads the variables. INVALID names those that are missing, and those that are used as numbers but are not numeric. */
static tamis_status look_into(tmi_readstat_reading *r, const char *path, what what, tamis_error *err)
{
    tamis_status status;
    const tmi_source_part part = {.file = r->given};
    TMI_TRY(parse(r, path, what, err));
    for (size_t c = 0; c < r->count; c++) {
        const tmi_readstat_column *w = &r->list[c];
        tamis_status one = TAMIS_OK;
        if (!w->found) one = tmi_fail_column(err, r->given, "there is", w->column->name, name_at, r->names, r->variable_count);
        else if (w->column->kind == TMI_NUMBER)
            one = tmi_class_check(w->is_date ? TMI_CLASS_DATE : tmi_class_of(w->form), &part, w->column->name, err);
        if (one != TAMIS_OK) status = one;
    }
    if (status == TAMIS_OK) status = tmi_readstat_choose_labels(r, err);
done:
    return status;
}

static tamis_status scan_file(const tmi_file_scanner *s, size_t f, const tmi_column *const *columns, tmi_codes *const *codes,
                              size_t count, tmi_take_raw *take, void *context, tamis_error *err)
{
    const tmi_file *file = &s->files[f];
    tmi_readstat_reading r;
    tamis_status status;
    TMI_TRY(tmi_readstat_init(&r, file->given, columns, codes, count, err));
    what before = VARIABLES;
    for (size_t c = 0; c < count; c++)
        if (columns[c]->kind == TMI_CATEGORY) before = LABELS;
    TMI_TRY(look_into(&r, file->given, before, err));
    for (size_t c = 0; c < count; c++)
        if (!tmi_readstat_make_room(&r.list[c])) TMI_TRY(tmi_fail_memory(err));
    r.take = take;
    r.context = context;
    r.file = f;
    r.file_count = s->file_count;
    TMI_TRY(parse(&r, file->given, ROWS, err));
    if (r.row_count >= 0 && r.base + (int64_t)r.rows != r.row_count)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, file->given, 0, "the file is cut off"));
    TMI_TRY(tmi_readstat_hand_out(&r, err));
done:
    tmi_readstat_clear(&r);
    return status;
}

/* ---- the scanner ---- */

/* Checks the columns of file f, and that they fit the files before it. */
static tamis_status check_file(tmi_form *seen, const tmi_file *file, const tmi_column *const *columns, tmi_codes *const *codes,
                               size_t count, tamis_error *err)
{
    tmi_readstat_reading r;
    tamis_status status;
    TMI_TRY(tmi_readstat_init(&r, file->given, columns, codes, count, err));
    const tmi_source_part part = {.file = file->given};
    if (!file->path) goto done; /* it is missing, which was reported */
    TMI_TRY(look_into(&r, file->given, VARIABLES, err));
    for (size_t c = 0; c < count; c++) {
        if (columns[c]->kind == TMI_NUMBER) continue;
        if (tmi_form_join(&seen[c], r.list[c].form, &part, columns[c]->name, err) != TAMIS_OK) status = TAMIS_INVALID;
        if (codes[c] && tmi_codes_check(codes[c], r.list[c].form, err) != TAMIS_OK) status = TAMIS_INVALID;
    }
done:
    tmi_readstat_clear(&r);
    return status;
}

static tamis_status check(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                          const tamis_watch *watch, tamis_error *err)
{
    tmi_file_scanner *s = scanner->state;
    tmi_form *seen = tmi_alloc(count, sizeof *seen);
    (void)watch;
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
    const tmi_file_scanner *s = scanner->state;
    tamis_status status = TAMIS_OK;
    for (size_t f = part; f < s->file_count && status == TAMIS_OK; f += parts)
        status = scan_file(s, f, columns, codes, count, take, context, err);
    return status;
}

tamis_status tmi_engine_readstat(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    return tmi_engine_of_files(engine, source, (tmi_scanner){.name = "readstat", .check = check, .scan = scan},
                               tmi_is_readstat_file,
                               "not all files of the source are SPSS, Stata or SAS files (.sav, .zsav, .dta, .sas7bdat, .xpt)",
                               threads, err);
}

/* The headers of SPSS, Stata and SAS files. If a file is cut off or damaged after the description of its variables, the labels
 * of codes may be lost (Stata keeps them at the end), but nothing else. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/canonical.h"
#include "engine/core/header.h"
#include "engine/files/files.h"
#include "engine/files/readstat_api.h"
#include "engine/files/readstat_class.h"

typedef struct reading {
    tmi_header *header;
    tmi_format_of formats;
    tamis_status status; /* why we stopped */
    tamis_error *err;
} reading;

static int stop(reading *r)
{
    r->status = tmi_fail_memory(r->err);
    return READSTAT_HANDLER_ABORT;
}

static int take_metadata(readstat_metadata_t *metadata, void *context)
{
    reading *r = context;
    const char *label = tmi_readstat()->get_file_label(metadata);
    if (!label || !*label || r->header->label) return READSTAT_HANDLER_OK;
    r->header->label = tmi_copy_text(label, strlen(label));
    return r->header->label ? READSTAT_HANDLER_OK : stop(r);
}

static int take_variable(int index, readstat_variable_t *variable, const char *set, void *context)
{
    reading *r = context;
    const char *name = tmi_readstat()->variable_get_name(variable);
    const bool text = tmi_readstat()->type_class(tmi_readstat()->variable_get_type(variable)) == READSTAT_TYPE_CLASS_STRING;
    (void)index;
    if (r->status != TAMIS_OK) return READSTAT_HANDLER_ABORT; /* not every ReadStat reader stops at once */
    const tmi_header_type type = text ? TMI_HEADER_TEXT
                                 : tmi_is_date_format(r->formats, tmi_readstat()->variable_get_format(variable))
                                     ? TMI_HEADER_DATE
                                     : TMI_HEADER_NUMBER;
    r->status = tmi_header_add(r->header, name ? name : "", tmi_readstat()->variable_get_label(variable), type, r->err);
    if (r->status != TAMIS_OK) return READSTAT_HANDLER_ABORT;
    tmi_header_column *column = &r->header->columns[r->header->count - 1];
    if (set && *set && !(column->set = tmi_copy_text(set, strlen(set)))) return stop(r);
    for (int i = 0; !text && i < tmi_readstat()->variable_get_missing_ranges_count(variable) && i < TMI_HEADER_MISSING; i++) {
        double *range = column->missing[column->missing_count++];
        range[0] = tmi_readstat()->double_value(tmi_readstat()->variable_get_missing_range_lo(variable, i));
        range[1] = tmi_readstat()->double_value(tmi_readstat()->variable_get_missing_range_hi(variable, i));
    }
    return READSTAT_HANDLER_OK;
}

/* The set of this name, created if it is new; NULL if memory runs out. */
static tmi_header_set *set_named(tmi_header *h, const char *name)
{
    for (size_t s = 0; s < h->set_count; s++)
        if (strcmp(h->sets[s].name, name) == 0) return &h->sets[s];
    tmi_header_set *sets = tmi_realloc(h->sets, h->set_count + 1, sizeof *sets);
    if (!sets) return NULL;
    h->sets = sets;
    sets[h->set_count] = (tmi_header_set){.name = tmi_copy_text(name, strlen(name)),
                                          .codes = tmi_alloc(TMI_HEADER_CODES, sizeof *sets->codes)};
    tmi_header_set *set = &sets[h->set_count++];
    return set->name && set->codes ? set : NULL;
}

static int take_label(const char *name, readstat_value_t value, const char *label, void *context)
{
    reading *r = context;
    char number[TMI_NUMBER_TEXT];
    if (!name || !label || tmi_readstat()->value_is_system_missing(value) || tmi_readstat()->value_is_tagged_missing(value))
        return READSTAT_HANDLER_OK;
    tmi_header_set *set = set_named(r->header, name);
    if (!set) return stop(r);
    if (set->count == TMI_HEADER_CODES) return READSTAT_HANDLER_OK;
    const char *code = number;
    const bool text = tmi_readstat()->value_type_class(value) == READSTAT_TYPE_CLASS_STRING;
    if (text) code = tmi_readstat()->string_value(value);
    else tmi_double_text(number, tmi_readstat()->double_value(value));
    if (!code || !*code) return READSTAT_HANDLER_OK;
    tmi_header_code *one = &set->codes[set->count++];
    one->code = tmi_copy_text(code, strlen(code));
    one->number = text ? (double)NAN : tmi_readstat()->double_value(value);
    one->label = tmi_copy_text(label, strlen(label));
    return one->code && one->label ? READSTAT_HANDLER_OK : stop(r);
}

static void ignore_error(const char *message, void *context) { (void)message, (void)context; }

typedef readstat_error_t parse_file(readstat_parser_t *parser, const char *path, void *context);

tamis_status tmi_header_readstat(tmi_header *header, const char *file, tamis_error *err)
{
    const bool stata = tmi_ends_in(file, ".dta"), sas = tmi_ends_in(file, ".sas7bdat"), transport = tmi_ends_in(file, ".xpt");
    reading r = {header, stata ? TMI_STATA_FORMAT : sas || transport ? TMI_SAS_FORMAT : TMI_SPSS_FORMAT, TAMIS_OK, err};
    tmi_file found = {0};
    tamis_status status = tmi_file_init(&found, file, err);
    if (status == TAMIS_OK) status = tmi_file_find(&found, err);
    tmi_file_clear(&found);
    if (status == TAMIS_OK) status = tmi_readstat_load(err);
    if (status != TAMIS_OK) return status;
    readstat_parser_t *parser = tmi_readstat()->parser_init();
    if (!parser) return tmi_fail_memory(err);
    parse_file *parse = stata       ? tmi_readstat()->parse_dta
                        : sas       ? tmi_readstat()->parse_sas7bdat
                        : transport ? tmi_readstat()->parse_xport
                                    : tmi_readstat()->parse_sav;
    tmi_readstat()->set_metadata_handler(parser, take_metadata);
    tmi_readstat()->set_variable_handler(parser, take_variable);
    tmi_readstat()->set_value_label_handler(parser, take_label);
    tmi_readstat()->set_error_handler(parser, ignore_error);
    const readstat_error_t trouble = parse(parser, file, &r);
    tmi_readstat()->parser_free(parser);
    if (r.status != TAMIS_OK) return r.status;
    if (trouble == READSTAT_ERROR_MALLOC) return tmi_fail_memory(err);
    if (header->count > 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "%s: must be an SPSS, Stata or SAS file, going by its name; its header cannot be read",
                    file);
}

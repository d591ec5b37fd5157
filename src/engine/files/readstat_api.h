/* ReadStat, loaded when the first file of SPSS, Stata or SAS is read. readstat.h gives the types; the functions are looked up by
 * name, so nothing links against ReadStat. */
#ifndef TMI_ENGINE_FILES_READSTAT_API_H
#define TMI_ENGINE_FILES_READSTAT_API_H

#include <readstat.h>

#include "base/error.h"

/* Every function of ReadStat that we call, without its prefix. */
/* clang-format off */
#define TMI_READSTAT_FUNCTIONS(X) \
    X(double_value) X(get_file_label) X(get_row_count) X(parse_dta) X(parse_sas7bdat) X(parse_sav) X(parse_xport) \
    X(parser_free) X(parser_init) X(set_error_handler) X(set_metadata_handler) X(set_value_handler) \
    X(set_value_label_handler) X(set_variable_handler) X(string_value) X(type_class) X(value_is_missing) \
    X(value_is_system_missing) X(value_is_tagged_missing) X(value_type) X(value_type_class) X(variable_get_format) \
    X(variable_get_index) X(variable_get_label) X(variable_get_missing_range_hi) X(variable_get_missing_range_lo) \
    X(variable_get_missing_ranges_count) X(variable_get_name) X(variable_get_type)
/* clang-format on */

typedef struct tmi_readstat_api {
#define TMI_READSTAT_MEMBER(name) __typeof__(&readstat_##name) name;
    TMI_READSTAT_FUNCTIONS(TMI_READSTAT_MEMBER)
#undef TMI_READSTAT_MEMBER
} tmi_readstat_api;

/* Loads it once per process. SYSTEM if it is not installed or lacks a function. */
tamis_status tmi_readstat_load(tamis_error *err);

/* The loaded functions. Needs a tmi_readstat_load that succeeded. */
const tmi_readstat_api *tmi_readstat(void);

#endif

#include "engine/duckdb/types.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "engine/core/sql.h"
#include "engine/duckdb/functions.h"

tmi_class tmi_duckdb_class(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_UHUGEINT:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL: return TMI_CLASS_NUMBER;
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_ENUM: return TMI_CLASS_TEXT;
    case DUCKDB_TYPE_DATE:
    case DUCKDB_TYPE_TIME:
    case DUCKDB_TYPE_TIME_TZ:
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
    case DUCKDB_TYPE_INTERVAL: return TMI_CLASS_DATE;
    case DUCKDB_TYPE_BOOLEAN: return TMI_CLASS_BOOLEAN;
    case DUCKDB_TYPE_SQLNULL: return TMI_CLASS_OPEN;
    default: return TMI_CLASS_OTHER;
    }
}

bool tmi_duckdb_is_nested(duckdb_type type)
{
    return type == DUCKDB_TYPE_LIST || type == DUCKDB_TYPE_STRUCT || type == DUCKDB_TYPE_MAP || type == DUCKDB_TYPE_ARRAY ||
           type == DUCKDB_TYPE_UNION || type == DUCKDB_TYPE_BLOB;
}

/* ---- collations ---- */

/* The end of the quoted text at `at`. */
static const char *after_quoted(const char *at)
{
    const char quote = *at++;
    while (*at && (*at != quote || at[1] == quote)) at += *at == quote ? 2 : 1;
    return *at ? at + 1 : at;
}

static bool is_word(char c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80); }

static const char *after_word(const char *at)
{
    while (is_word(*at)) at++;
    return at;
}

/* Whether the token from `at` to `end` is this name, quoted or not. */
static bool is_name(const char *at, const char *end, const char *name)
{
    if (*at != '"') return strlen(name) == (size_t)(end - at) && memcmp(at, name, (size_t)(end - at)) == 0;
    for (at++; at < end - 1; at++, name++) {
        if (*at != *name) return false;
        if (*at == '"') at++;
    }
    return *name == '\0';
}

/* CREATE TABLE name(column TYPE ..., column TYPE ...); */
bool tmi_duckdb_is_collated(const char *definition, const char *column)
{
    int depth = 0;
    bool named = false, at_name = false;
    for (const char *at = definition, *end; *at; at = end) {
        const bool quoted = *at == '"' || *at == '\'';
        end = quoted ? after_quoted(at) : is_word(*at) ? after_word(at) : at + 1;
        if (*at == ' ' || *at == '\n' || *at == '\t') continue;
        if (depth == 1 && at_name) {
            named = is_name(at, end, column);
            at_name = false;
        } else if (named && end - at == 7 && strncasecmp(at, "COLLATE", 7) == 0) {
            return true;
        }
        depth += (*at == '(') - (*at == ')');
        if ((*at == '(' || *at == ',') && depth == 1) at_name = true;
    }
    return false;
}

/* ---- forms ---- */

/* JSON can write equal values in many ways. */
static bool is_json(duckdb_result *result, size_t k)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_logical_type type = api->column_logical_type(result, k);
    char *alias = type ? api->logical_type_get_alias(type) : NULL;
    const bool found = alias && strcasecmp(alias, "JSON") == 0;
    api->free(alias);
    if (type) api->destroy_logical_type(&type);
    return found;
}

tmi_form tmi_duckdb_form(duckdb_result *result, size_t k, const char *definition)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    const duckdb_type type = api->column_type(result, k);
    switch (type) {
    case DUCKDB_TYPE_BOOLEAN: return TMI_FORM_BOOLEAN;
    case DUCKDB_TYPE_DOUBLE: return TMI_FORM_DOUBLE;
    case DUCKDB_TYPE_FLOAT: return TMI_FORM_FLOAT;
    case DUCKDB_TYPE_DATE: return TMI_FORM_DATE;
    case DUCKDB_TYPE_UUID: return TMI_FORM_UUID;
    case DUCKDB_TYPE_SQLNULL: return TMI_FORM_ANY;
    case DUCKDB_TYPE_ENUM: return TMI_FORM_TEXT;
    case DUCKDB_TYPE_VARCHAR:
        return is_json(result, k) || (definition && tmi_duckdb_is_collated(definition, api->column_name(result, k)))
                   ? TMI_FORM_NONE
                   : TMI_FORM_TEXT;
    default: return tmi_duckdb_class(type) == TMI_CLASS_NUMBER ? TMI_FORM_EXACT : TMI_FORM_NONE;
    }
}

void tmi_duckdb_write_canonical(tmi_text *sql, duckdb_type type, const char *name)
{
    const bool is_real = type == DUCKDB_TYPE_FLOAT || type == DUCKDB_TYPE_DOUBLE;
    const char *before = is_real                       ? "tamis_number(CAST("
                         : type == DUCKDB_TYPE_DECIMAL ? "tamis_decimal(CAST("
                         : type == DUCKDB_TYPE_DATE    ? "replace(CAST("
                                                       : "TRY_CAST(";
    tmi_text_put(sql, before);
    tmi_sql_name(sql, name);
    tmi_text_put(sql, is_real                       ? " AS DOUBLE))"
                      : type == DUCKDB_TYPE_DECIMAL ? " AS VARCHAR))"
                      : type == DUCKDB_TYPE_DATE    ? " AS VARCHAR), ' (BC)', ' BC')"
                                                    : " AS VARCHAR)");
}

/* ---- functions ---- */

static void texts_of_numbers(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_vector vector = api->data_chunk_get_vector(input, 0);
    const uint64_t *validity = api->vector_get_validity(vector);
    const double *numbers = api->vector_get_data(vector);
    char text[TMI_NUMBER_TEXT];
    (void)info;
    for (size_t i = 0; i < api->data_chunk_get_size(input); i++) {
        const size_t length = tmi_duckdb_is_null(validity, i) ? 0 : tmi_double_text(text, numbers[i]);
        api->vector_assign_string_element_len(output, i, text, length);
    }
    tmi_wipe(text, sizeof text);
}

static void texts_of_decimals(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_vector vector = api->data_chunk_get_vector(input, 0);
    const uint64_t *validity = api->vector_get_validity(vector);
    const duckdb_string_t *decimals = api->vector_get_data(vector);
    char text[TMI_NUMBER_TEXT];
    (void)info;
    for (size_t i = 0; i < api->data_chunk_get_size(input); i++) {
        const size_t length = tmi_duckdb_is_null(validity, i) ? 0 : tmi_decimal_text(text, tmi_duckdb_cell(&decimals[i]));
        api->vector_assign_string_element_len(output, i, text, length);
    }
    tmi_wipe(text, sizeof text);
}

static bool register_one(const char *name, duckdb_type from, duckdb_scalar_function_t function, duckdb_connection connection)
{
    const tmi_duckdb_api *api = tmi_duckdb();
    duckdb_scalar_function made = api->create_scalar_function();
    duckdb_logical_type argument = api->create_logical_type(from), text = api->create_logical_type(DUCKDB_TYPE_VARCHAR);
    api->scalar_function_set_name(made, name);
    api->scalar_function_add_parameter(made, argument);
    api->scalar_function_set_return_type(made, text);
    api->scalar_function_set_special_handling(made); /* NULL reaches us */
    api->scalar_function_set_function(made, function);
    const bool done = api->register_scalar_function(connection, made) == DuckDBSuccess;
    api->destroy_logical_type(&argument);
    api->destroy_logical_type(&text);
    api->destroy_scalar_function(&made);
    return done;
}

tamis_status tmi_duckdb_types_register(tmi_duckdb_session *session, tamis_error *err)
{
    const bool done = register_one("tamis_number", DUCKDB_TYPE_DOUBLE, texts_of_numbers, session->connection) &&
                      register_one("tamis_decimal", DUCKDB_TYPE_VARCHAR, texts_of_decimals, session->connection);
    return done ? TAMIS_OK : tmi_fail(err, TAMIS_SYSTEM, "DuckDB did not accept the functions of tamis");
}

/* What we call of DuckDB's C interface, as its duckdb.h of version 1.5.6 declares it: for builds that have no duckdb.h, since the
 * functions are looked up by name in the library that is found when it is used (api.h). A test compares the
 * functions with the real header.
 *
 * Copyright 2018-2025 Stichting DuckDB Foundation; the MIT license. */
#ifndef TMI_ENGINE_DUCKDB_DECLARED_H
#define TMI_ENGINE_DUCKDB_DECLARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUCKDB_API_VERSION_MAJOR 1
#define DUCKDB_API_VERSION_MINOR 5
#define DUCKDB_API_VERSION_PATCH 6

typedef enum duckdb_state { DuckDBSuccess = 0, DuckDBError = 1 } duckdb_state;

typedef struct duckdb_hugeint {
    uint64_t lower;
    int64_t upper;
} duckdb_hugeint;

typedef struct {
    union {
        struct {
            uint32_t length;
            char prefix[4];
            char *ptr;
        } pointer;
        struct {
            uint32_t length;
            char inlined[12];
        } inlined;
    } value;
} duckdb_string_t;

typedef uint64_t idx_t;

typedef struct duckdb_list_entry {
    uint64_t offset, length;
} duckdb_list_entry;

typedef struct duckdb_query_progress_type {
    double percentage;
    uint64_t rows_processed;
    uint64_t total_rows_to_process;
} duckdb_query_progress_type;

typedef struct duckdb_result {
    idx_t deprecated_column_count;
    idx_t deprecated_row_count;
    idx_t deprecated_rows_changed;
    void *deprecated_columns;
    char *deprecated_error_message;
    void *internal_data;
} duckdb_result;

typedef enum DUCKDB_TYPE {
    DUCKDB_TYPE_BOOLEAN = 1,
    DUCKDB_TYPE_TINYINT = 2,
    DUCKDB_TYPE_SMALLINT = 3,
    DUCKDB_TYPE_INTEGER = 4,
    DUCKDB_TYPE_BIGINT = 5,
    DUCKDB_TYPE_UTINYINT = 6,
    DUCKDB_TYPE_USMALLINT = 7,
    DUCKDB_TYPE_UINTEGER = 8,
    DUCKDB_TYPE_UBIGINT = 9,
    DUCKDB_TYPE_FLOAT = 10,
    DUCKDB_TYPE_DOUBLE = 11,
    DUCKDB_TYPE_TIMESTAMP = 12,
    DUCKDB_TYPE_DATE = 13,
    DUCKDB_TYPE_TIME = 14,
    DUCKDB_TYPE_INTERVAL = 15,
    DUCKDB_TYPE_HUGEINT = 16,
    DUCKDB_TYPE_VARCHAR = 17,
    DUCKDB_TYPE_BLOB = 18,
    DUCKDB_TYPE_DECIMAL = 19,
    DUCKDB_TYPE_TIMESTAMP_S = 20,
    DUCKDB_TYPE_TIMESTAMP_MS = 21,
    DUCKDB_TYPE_TIMESTAMP_NS = 22,
    DUCKDB_TYPE_ENUM = 23,
    DUCKDB_TYPE_LIST = 24,
    DUCKDB_TYPE_STRUCT = 25,
    DUCKDB_TYPE_MAP = 26,
    DUCKDB_TYPE_UUID = 27,
    DUCKDB_TYPE_UNION = 28,
    DUCKDB_TYPE_TIME_TZ = 30,
    DUCKDB_TYPE_TIMESTAMP_TZ = 31,
    DUCKDB_TYPE_UHUGEINT = 32,
    DUCKDB_TYPE_ARRAY = 33,
    DUCKDB_TYPE_SQLNULL = 36
} DUCKDB_TYPE;
typedef enum duckdb_pending_state {
    DUCKDB_PENDING_RESULT_READY = 0,
    DUCKDB_PENDING_ERROR = 2,
    DUCKDB_PENDING_NO_TASKS_AVAILABLE = 3
} duckdb_pending_state;
typedef int duckdb_error_type; /* an enum there */
typedef DUCKDB_TYPE duckdb_type;
typedef struct _duckdb_database {
    void *internal_ptr;
} * duckdb_database;
typedef struct _duckdb_connection {
    void *internal_ptr;
} * duckdb_connection;
typedef struct _duckdb_prepared_statement {
    void *internal_ptr;
} * duckdb_prepared_statement;
typedef struct _duckdb_pending_result {
    void *internal_ptr;
} * duckdb_pending_result;
typedef struct _duckdb_config {
    void *internal_ptr;
} * duckdb_config;
typedef struct _duckdb_logical_type {
    void *internal_ptr;
} * duckdb_logical_type;
typedef struct _duckdb_data_chunk {
    void *internal_ptr;
} * duckdb_data_chunk;
typedef struct _duckdb_vector {
    void *internal_ptr;
} * duckdb_vector;
typedef struct _duckdb_scalar_function {
    void *internal_ptr;
} * duckdb_scalar_function;
typedef struct _duckdb_aggregate_function {
    void *internal_ptr;
} * duckdb_aggregate_function;
typedef struct _duckdb_aggregate_state {
    void *internal_ptr;
} * duckdb_aggregate_state;
typedef struct _duckdb_function_info {
    void *internal_ptr;
} * duckdb_function_info;
typedef void (*duckdb_delete_callback_t)(void *data);
typedef idx_t (*duckdb_aggregate_state_size)(duckdb_function_info info);
typedef void (*duckdb_aggregate_init_t)(duckdb_function_info info, duckdb_aggregate_state state);
typedef void (*duckdb_aggregate_update_t)(duckdb_function_info info, duckdb_data_chunk input, duckdb_aggregate_state *states);
typedef void (*duckdb_aggregate_combine_t)(duckdb_function_info info, duckdb_aggregate_state *source,
                                           duckdb_aggregate_state *target, idx_t count);
typedef void (*duckdb_aggregate_finalize_t)(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_vector result,
                                            idx_t count, idx_t offset);
typedef void (*duckdb_scalar_function_t)(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output);

const char *duckdb_library_version(void);
duckdb_state duckdb_create_config(duckdb_config *out_config);
duckdb_state duckdb_set_config(duckdb_config config, const char *name, const char *option);
void duckdb_destroy_config(duckdb_config *config);
duckdb_state duckdb_open_ext(const char *path, duckdb_database *out_database, duckdb_config config, char **out_error);
void duckdb_close(duckdb_database *database);
duckdb_state duckdb_connect(duckdb_database database, duckdb_connection *out_connection);
void duckdb_disconnect(duckdb_connection *connection);
void duckdb_free(void *ptr);
duckdb_state duckdb_query(duckdb_connection connection, const char *query, duckdb_result *out_result);
void duckdb_destroy_result(duckdb_result *result);
duckdb_error_type duckdb_result_error_type(duckdb_result *result);
const char *duckdb_result_error(duckdb_result *result);
idx_t duckdb_column_count(duckdb_result *result);
const char *duckdb_column_name(duckdb_result *result, idx_t col);
duckdb_type duckdb_column_type(duckdb_result *result, idx_t col);
duckdb_logical_type duckdb_column_logical_type(duckdb_result *result, idx_t col);
char *duckdb_logical_type_get_alias(duckdb_logical_type type);
void duckdb_vector_assign_string_element_len(duckdb_vector vector, idx_t index, const char *str, idx_t str_len);
duckdb_state duckdb_prepare(duckdb_connection connection, const char *query, duckdb_prepared_statement *out_prepared_statement);
const char *duckdb_prepare_error(duckdb_prepared_statement prepared_statement);
void duckdb_destroy_prepare(duckdb_prepared_statement *prepared_statement);
duckdb_state duckdb_pending_prepared(duckdb_prepared_statement prepared_statement, duckdb_pending_result *out_result);
duckdb_state duckdb_pending_prepared_streaming(duckdb_prepared_statement prepared_statement, duckdb_pending_result *out_result);
duckdb_pending_state duckdb_pending_execute_task(duckdb_pending_result pending_result);
const char *duckdb_pending_error(duckdb_pending_result pending_result);
duckdb_state duckdb_execute_pending(duckdb_pending_result pending_result, duckdb_result *out_result);
void duckdb_destroy_pending(duckdb_pending_result *pending_result);
duckdb_query_progress_type duckdb_query_progress(duckdb_connection connection);
void duckdb_interrupt(duckdb_connection connection);
duckdb_data_chunk duckdb_fetch_chunk(duckdb_result result);
void duckdb_destroy_data_chunk(duckdb_data_chunk *chunk);
idx_t duckdb_data_chunk_get_size(duckdb_data_chunk chunk);
duckdb_vector duckdb_data_chunk_get_vector(duckdb_data_chunk chunk, idx_t col_idx);
void *duckdb_vector_get_data(duckdb_vector vector);
uint64_t *duckdb_vector_get_validity(duckdb_vector vector);
duckdb_vector duckdb_list_vector_get_child(duckdb_vector vector);
duckdb_state duckdb_list_vector_reserve(duckdb_vector vector, idx_t required_capacity);
duckdb_state duckdb_list_vector_set_size(duckdb_vector vector, idx_t size);
duckdb_logical_type duckdb_create_logical_type(duckdb_type type);
duckdb_logical_type duckdb_create_list_type(duckdb_logical_type type);
void duckdb_destroy_logical_type(duckdb_logical_type *type);
duckdb_scalar_function duckdb_create_scalar_function(void);
void duckdb_destroy_scalar_function(duckdb_scalar_function *scalar_function);
void duckdb_scalar_function_set_name(duckdb_scalar_function scalar_function, const char *name);
void duckdb_scalar_function_add_parameter(duckdb_scalar_function scalar_function, duckdb_logical_type type);
void duckdb_scalar_function_set_return_type(duckdb_scalar_function scalar_function, duckdb_logical_type type);
void duckdb_scalar_function_set_function(duckdb_scalar_function scalar_function, duckdb_scalar_function_t function);
void duckdb_scalar_function_set_special_handling(duckdb_scalar_function scalar_function);
void duckdb_scalar_function_set_extra_info(duckdb_scalar_function scalar_function, void *extra_info,
                                           duckdb_delete_callback_t destroy);
void *duckdb_scalar_function_get_extra_info(duckdb_function_info info);
duckdb_state duckdb_register_scalar_function(duckdb_connection con, duckdb_scalar_function scalar_function);
duckdb_aggregate_function duckdb_create_aggregate_function(void);
void duckdb_destroy_aggregate_function(duckdb_aggregate_function *aggregate_function);
void duckdb_aggregate_function_set_name(duckdb_aggregate_function aggregate_function, const char *name);
void duckdb_aggregate_function_add_parameter(duckdb_aggregate_function aggregate_function, duckdb_logical_type type);
void duckdb_aggregate_function_set_return_type(duckdb_aggregate_function aggregate_function, duckdb_logical_type type);
void duckdb_aggregate_function_set_functions(duckdb_aggregate_function aggregate_function, duckdb_aggregate_state_size state_size,
                                             duckdb_aggregate_init_t state_init, duckdb_aggregate_update_t update,
                                             duckdb_aggregate_combine_t combine, duckdb_aggregate_finalize_t finalize);
void duckdb_aggregate_function_set_special_handling(duckdb_aggregate_function aggregate_function);
void duckdb_aggregate_function_set_extra_info(duckdb_aggregate_function aggregate_function, void *extra_info,
                                              duckdb_delete_callback_t destroy);
void *duckdb_aggregate_function_get_extra_info(duckdb_function_info info);
void duckdb_aggregate_function_set_error(duckdb_function_info info, const char *error);
duckdb_state duckdb_register_aggregate_function(duckdb_connection con, duckdb_aggregate_function aggregate_function);

#endif

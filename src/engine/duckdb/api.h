/* DuckDB, loaded when it is first needed and not before: libduckdb.so is 70 MB, and `tamis --version` must not wait for it.
 * duckdb.h gives the types; the functions are looked up by name, so nothing links against DuckDB. */
#ifndef TMI_ENGINE_DUCKDB_API_H
#define TMI_ENGINE_DUCKDB_API_H

#include <duckdb.h>

#include "base/error.h"

/* Every function of DuckDB that we call, without its prefix. */
/* clang-format off */
#define TMI_DUCKDB_FUNCTIONS(X)                                                                                       \
    X(library_version) X(create_config) X(set_config) X(destroy_config) X(open_ext) X(close) X(connect)               \
    X(disconnect) X(free)                                                                                             \
    X(query) X(destroy_result) X(result_error_type) X(result_error) X(column_count) X(column_name) X(column_type)     \
    X(column_logical_type) X(logical_type_get_alias) X(vector_assign_string_element_len)                              \
    X(prepare) X(prepare_error) X(destroy_prepare) X(pending_prepared) X(pending_prepared_streaming)                  \
    X(pending_execute_task) X(pending_error) X(execute_pending) X(destroy_pending) X(query_progress) X(interrupt)     \
    X(fetch_chunk) X(destroy_data_chunk) X(data_chunk_get_size) X(data_chunk_get_vector)                              \
    X(vector_get_data) X(vector_get_validity) X(list_vector_get_child) X(list_vector_reserve)                         \
    X(list_vector_set_size) X(create_logical_type) X(create_list_type) X(destroy_logical_type)                        \
    X(create_scalar_function) X(destroy_scalar_function) X(scalar_function_set_name)                                  \
    X(scalar_function_add_parameter) X(scalar_function_set_return_type) X(scalar_function_set_function)               \
    X(scalar_function_set_special_handling) X(scalar_function_set_extra_info) X(scalar_function_get_extra_info)       \
    X(register_scalar_function) X(create_aggregate_function) X(destroy_aggregate_function)                            \
    X(aggregate_function_set_name) X(aggregate_function_add_parameter) X(aggregate_function_set_return_type)          \
    X(aggregate_function_set_functions)                                                                               \
    X(aggregate_function_set_special_handling) X(aggregate_function_set_extra_info)                                   \
    X(aggregate_function_get_extra_info) X(aggregate_function_set_error) X(register_aggregate_function)
/* clang-format on */

typedef struct tmi_duckdb_api {
#define TMI_DUCKDB_MEMBER(name) __typeof__(&duckdb_##name) name;
    TMI_DUCKDB_FUNCTIONS(TMI_DUCKDB_MEMBER)
#undef TMI_DUCKDB_MEMBER
} tmi_duckdb_api;

/* Loads it once per process. It stays loaded until the process ends, because it has threads and thread-local state of its own.
 * If it is not installed or lacks a function: NULL, and SYSTEM in err with what to do. */
const tmi_duckdb_api *tmi_duckdb_load(tamis_error *err);

/* The loaded functions, for DuckDB's callbacks, which have no pointer of ours to them. */
const tmi_duckdb_api *tmi_duckdb(void);

#endif

/* What the types of DuckDB mean for tamis: which hold numbers, and which have a canonical form (engine/core/canonical.h), as SQL
 * writes it. A collation belongs to a column of a DuckDB file and is known from nothing but the statement that made the table. */
#ifndef TMI_ENGINE_DUCKDB_TYPES_H
#define TMI_ENGINE_DUCKDB_TYPES_H

#include "engine/core/canonical.h"
#include "engine/duckdb/session.h"

/* The class of a type. */
tmi_class tmi_duckdb_class(duckdb_type type);

/* Whether it holds lists or bytes, which nothing here can read. */
bool tmi_duckdb_is_nested(duckdb_type type);

/* The form of column k of a result. `definition` is the statement that made the table, NULL: none. */
tmi_form tmi_duckdb_form(duckdb_result *result, size_t k, const char *definition);

/* The canonical text of column `name` of this type in SQL, "" or NULL where it is missing; of texts, with the blanks around
 * them. */
void tmi_duckdb_write_canonical(tmi_text *sql, duckdb_type type, const char *name);

/* Makes the functions known that canonical texts are written with:
 *     tamis_number(DOUBLE) -> VARCHAR       tamis_decimal(VARCHAR) -> VARCHAR                                              */
tamis_status tmi_duckdb_types_register(tmi_duckdb_session *session, tamis_error *err);

/* Whether the statement gives the column a collation. */
bool tmi_duckdb_is_collated(const char *definition, const char *column);

#endif

/* What DuckDB's types mean for tamis: which contain numbers, and which have a canonical form (engine/core/canonical.h) and how
 * SQL writes it. The collation of a column of a DuckDB file is known only from the statement that created the table. */
#ifndef TMI_ENGINE_DUCKDB_TYPES_H
#define TMI_ENGINE_DUCKDB_TYPES_H

#include "engine/core/canonical.h"
#include "engine/duckdb/session.h"

/* The class of a type. */
tmi_class tmi_duckdb_class(duckdb_type type);

/* Whether it contains lists or bytes, which cannot be read here. */
bool tmi_duckdb_is_nested(duckdb_type type);

/* The form of column k of a result. `definition` is the statement that created the table; NULL: none. */
tmi_form tmi_duckdb_form(duckdb_result *result, size_t k, const char *definition);

/* The canonical text of column `name` of this type in SQL, "" or NULL where it is missing. Texts keep their surrounding
 * blanks. */
void tmi_duckdb_write_canonical(tmi_text *sql, duckdb_type type, const char *name);

/* Registers the functions that write canonical texts:
 *     tamis_number(DOUBLE) -> VARCHAR       tamis_decimal(VARCHAR) -> VARCHAR                                        */
tamis_status tmi_duckdb_types_register(tmi_duckdb_session *session, tamis_error *err);

/* Whether the statement gives the column a collation. */
bool tmi_duckdb_is_collated(const char *definition, const char *column);

#endif

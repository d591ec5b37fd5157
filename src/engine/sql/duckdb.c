/* The words of DuckDB, for DuckDB's that are asked through SQL alone. Texts of a plan are hexadecimal: no setting of a
 * session can change what they mean. COLLATE "C" undoes the collation of a column, which a cast to VARCHAR would keep. */
#include <string.h>

#include "engine/sql/dialect.h"

static void put_text(tmi_text *sql, const char *text)
{
    tmi_text_put(sql, "decode(unhex('");
    for (; *text; text++) tmi_text_format(sql, "%02x", (unsigned)(unsigned char)*text);
    tmi_text_put(sql, "'))");
}

/* The zeros at the end of a fraction, and its point, are taken off. */
#define NO_ZEROS(x) "CASE WHEN contains(" x ", '.') THEN rtrim(rtrim(" x ", '0'), '.') ELSE " x " END"
#define DECIMAL NO_ZEROS("CAST($ AS VARCHAR)")

/* All 1074 digits that a double may have after the point: they are exact. -0 has the digits of 0. */
#define DIGITS "format('{:.1074f}', CAST($ AS DOUBLE) + 0)"
#define REAL "CASE WHEN abs(CAST($ AS DOUBLE)) <= 1.7976931348623157e308 THEN " NO_ZEROS(DIGITS) " END"

static void canonical(tmi_text *sql, const char *quoted, tmi_sql_type type)
{
    tmi_sql_word(sql,
                 type == TMI_SQL_NUMERIC                           ? DECIMAL
                 : type == TMI_SQL_DOUBLE || type == TMI_SQL_FLOAT ? REAL
                 : type == TMI_SQL_DATE                            ? "replace(CAST($ AS VARCHAR), ' (BC)', ' BC')"
                                                                   : "CAST($ AS VARCHAR)",
                 quoted);
}

static tmi_sql_type type_of(const char *word)
{
    static const struct {
        const char *word;
        tmi_sql_type type;
    } known[] = {
        {"TINYINT", TMI_SQL_INTEGER},  {"SMALLINT", TMI_SQL_INTEGER}, {"INTEGER", TMI_SQL_INTEGER},
        {"BIGINT", TMI_SQL_INTEGER},   {"UTINYINT", TMI_SQL_INTEGER}, {"USMALLINT", TMI_SQL_INTEGER},
        {"UINTEGER", TMI_SQL_INTEGER}, {"UBIGINT", TMI_SQL_INTEGER},  {"HUGEINT", TMI_SQL_NUMERIC},
        {"UHUGEINT", TMI_SQL_NUMERIC}, {"DOUBLE", TMI_SQL_DOUBLE},    {"FLOAT", TMI_SQL_FLOAT},
        {"BOOLEAN", TMI_SQL_BOOLEAN},  {"VARCHAR", TMI_SQL_TEXT},     {"DATE", TMI_SQL_DATE},
        {"UUID", TMI_SQL_UUID},        {"JSON", TMI_SQL_OTHER_TEXT},  {"TIME", TMI_SQL_TIME},
        {"INTERVAL", TMI_SQL_TIME},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i].word) == 0) return known[i].type;
    return strncmp(word, "DECIMAL(", 8) == 0                                      ? TMI_SQL_NUMERIC
           : strncmp(word, "ENUM(", 5) == 0                                       ? TMI_SQL_TEXT
           : strncmp(word, "TIMESTAMP", 9) == 0 || strncmp(word, "TIME ", 5) == 0 ? TMI_SQL_TIME
                                                                                  : TMI_SQL_OTHER;
}

static const char *const unsteady[] = {
    "SAMPLE", "STREAMING_SAMPLE", "RESERVOIR_SAMPLE", "LIMIT", "STREAMING_LIMIT", "LIMIT_PERCENT", "TOP_N", "random(",
    "uuid(",  "gen_random_uuid(", "nextval(",         NULL};

const tmi_dialect tmi_dialect_duckdb = {
    .name = "duckdb",
    .quote = '"',
    .integer = "CAST($ AS BIGINT)",
    .small_integer = "CAST($ AS INTEGER)",
    .real = "CAST('$' AS DOUBLE)",
    .small_list = "CAST([$] AS INTEGER[])",
    .list = "CAST([$] AS BIGINT[])",
    .real_list = "CAST([$] AS DOUBLE[])",
    .text = put_text,
    .element = "",
    .at_code = "[$ + 1]",
    .at_rank = "[$]",
    .as_real = "CAST($ AS DOUBLE)",
    .as_integer = "CAST($ AS BIGINT)",
    .truth = "CAST($ AS BIGINT)",
    .numeric_as_real = "CAST(CAST($ AS VARCHAR) AS DOUBLE)",
    .reciprocal = "(1e0 / nullif($, 0e0))",
    .answer = "CAST($ AS VARCHAR)",
    .step = " AS (",
    .materialized = " AS MATERIALIZED (",
    .barrier = "",
    .exists = "SELECT 1 FROM",
    .binary = " COLLATE \"C\"",
    .trim = "trim($, decode(unhex('20090a0b0c0d')))",
    .canonical = canonical,
    .compares_reals = true,
    .has_real_texts = true,
    .bytes_of_hex = "unhex('$')",
    .digest = "unhex(sha256(coalesce($, '')))",
    .bytes_and = " || ",
    .first_byte = "CAST('0x' || substr(sha256($), 1, 2) AS INTEGER)",
    .order_key = "sha256(concat('$', lower(hex(",
    .order_digest = ")), ',', ",
    .order_value = "coalesce(CAST($ AS VARCHAR), ''), ',', ",
    .order_end = "copy))",
    .as_exact = "CAST($ AS HUGEINT)",
    .whole_part = "CAST(",
    .quotient = " // ",
    .integer_part = " AS BIGINT)",
    .has_filter = true,
    .text_type = "VARCHAR",
    .type_of = "typeof($)",
    .version = "version()",
    .names = "concat(', ', substr(typeof(tamis_t), 8))",
    .name_begins = ", ",
    .name_ends = " ",
    .numbers = "(SELECT range AS i FROM range($))",
    .array = "[$]",
    .explain = "EXPLAIN ",
    .unsteady = unsteady,
    .type = type_of,
    .tested = "",
};

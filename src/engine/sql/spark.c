/* The words of Spark SQL, 3.5 and 4, in ANSI mode. Texts of a plan are hexadecimal: Spark replaces ${...} even inside
 * literals, and what a backslash means in them is a setting.
 *
 *     lists     a text that is split and cast: it is folded into a constant, however long it is; get() is NULL outside
 *     sums      of BIGINT where they stay below 2^62, otherwise of decimals, which have 38 digits
 *     doubles   have no canonical text here: shortest digits are not the exact value. Categories of doubles are compared as
 *               numbers, labels of doubles are refused
 *     labels    each byte as one character: Spark's strings need not be UTF-8, and trim() would take a blank after a broken
 *               character for a part of it
 *     steps     as few as can be: what a step computes becomes one Java method, and one of more than 8,000 bytes is never
 *               compiled. The terms of sums become many small methods, and equal parts of them are computed once, but only those
 *               that every row needs: nothing after THEN
 *     units     windows: one reading of the table, one exchange of its rows                                            */
#include <string.h>

#include "engine/sql/dialect.h"

static void put_text(tmi_text *sql, const char *text)
{
    tmi_text_put(sql, "CAST(X'");
    for (; *text; text++) tmi_text_format(sql, "%02X", (unsigned)(unsigned char)*text);
    tmi_text_put(sql, "' AS STRING)");
}

#define TRIM(text) "trim(BOTH CAST(X'20090A0B0C0D' AS STRING) FROM " text ")"

/* In ANSI mode a decimal as a text has no exponent. */
#define TEXT "CAST($ AS STRING)"
#define DECIMAL \
    "CASE WHEN locate('.', " TEXT ") > 0 THEN trim(TRAILING '.' FROM trim(TRAILING '0' FROM " TEXT ")) ELSE " TEXT " END"

/* Years from 10000 on have a sign before them, and the year 0 is 1 BC. */
#define DATE \
    "CASE WHEN year($) > 9999 THEN substr(" TEXT ", 2) WHEN year($) < 1 THEN concat(lpad(CAST(1 - year($) AS STRING), 4, '0'), " \
    "substr(" TEXT ", -6), ' BC') ELSE " TEXT " END"

static void canonical(tmi_text *sql, const char *quoted, tmi_sql_type type)
{
    tmi_sql_word(sql, type == TMI_SQL_NUMERIC ? DECIMAL : type == TMI_SQL_DATE ? DATE : TEXT, quoted);
}

/* A string with a collation has another word, and counts as a text without one form. */
static tmi_sql_type type_of(const char *word)
{
    static const struct {
        const char *word;
        tmi_sql_type type;
    } known[] = {
        {"tinyint", TMI_SQL_INTEGER}, {"smallint", TMI_SQL_INTEGER}, {"int", TMI_SQL_INTEGER},
        {"bigint", TMI_SQL_INTEGER},  {"float", TMI_SQL_FLOAT},      {"double", TMI_SQL_DOUBLE},
        {"boolean", TMI_SQL_BOOLEAN}, {"string", TMI_SQL_TEXT},      {"date", TMI_SQL_DATE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i].word) == 0) return known[i].type;
    return strncmp(word, "decimal(", 8) == 0                                         ? TMI_SQL_NUMERIC
           : strncmp(word, "timestamp", 9) == 0 || strncmp(word, "interval", 8) == 0 ? TMI_SQL_TIME
           : strncmp(word, "string", 6) == 0 || strncmp(word, "varchar", 7) == 0 || strncmp(word, "char", 4) == 0
               ? TMI_SQL_OTHER_TEXT
               : TMI_SQL_OTHER;
}

static const char *const unsteady[] = {"Sample ",
                                       "GlobalLimit",
                                       "LocalLimit",
                                       "CollectLimit",
                                       "TakeOrderedAndProject",
                                       "rand(",
                                       "randn(",
                                       "uuid(",
                                       "shuffle(",
                                       "monotonically_increasing_id(",
                                       "spark_partition_id(",
                                       NULL};

const tmi_dialect tmi_dialect_spark = {
    .name = "spark",
    .quote = '`',
    .integer = "($L)",
    .small_integer = "($)",
    .real = "($D)",
    .small_list = "CAST(split('$', ',') AS ARRAY<INT>)",
    .list = "CAST(split('$', ',') AS ARRAY<BIGINT>)",
    .real_list = "CAST(split('$', ',') AS ARRAY<DOUBLE>)",
    .text = put_text,
    .element = "get(",
    .at_code = ", CAST($ AS INT))",
    .at_rank = ", CAST(least($, 2147483647L) AS INT) - 1)",
    .as_real = "CAST($ AS DOUBLE)",
    .as_integer = "CAST($ AS BIGINT)",
    .truth = "CAST($ AS BIGINT)",
    .numeric_as_real = "CAST($ AS DOUBLE)",
    .reciprocal = "(1D / nullif($, 0D))",
    .answer = "CAST($ AS STRING)",
    .step = " AS (",
    .materialized = " AS (",
    .barrier = "",
    .exists = "SELECT 1 FROM",
    .binary = "",
    .trim = TRIM("$"),
    .label = TRIM("decode(CAST($ AS BINARY), 'ISO-8859-1')"),
    .canonical = canonical,
    .compares_reals = true,
    .bytes_of_hex = "unhex('$')",
    .digest = "unhex(sha2(encode(coalesce($, ''), 'ISO-8859-1'), 256))",
    .bytes_and = ", ",
    .first_byte = "CAST(conv(substr(sha2(concat($), 256), 1, 2), 16, 10) AS INT)",
    .order_key = "sha2(CAST(concat('$', lower(hex(",
    .order_digest = ")), ',', ",
    .order_value = "coalesce(CAST($ AS STRING), ''), ',', ",
    .order_end = "CAST(copy AS STRING)) AS BINARY), 256)",
    .as_exact = "CAST($ AS DECIMAL(19,0))",
    .whole_part = "CAST(",
    .quotient = " div ",
    .integer_part = " AS BIGINT)",
    .as_wide = "CAST($ AS DECIMAL(28,0))",
    .inlines = true,
    .windows = true,
    .text_type = "STRING",
    .type_of = "typeof($)",
    .version = "version()",
    .names = "concat(',', substr(typeof(struct(tamis_t.*)), 8))",
    .name_begins = ",",
    .name_ends = ":",
    .numbers = "(SELECT id AS i FROM range($))",
    .array = "array($)",
    .explain = "EXPLAIN ",
    .unsteady = unsteady,
    .type = type_of,
    .tested = "4.3.", /* tests/engine/spark.c */
};

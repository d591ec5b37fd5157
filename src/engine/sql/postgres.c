/* The words of PostgreSQL. OFFSET '0'::bigint keeps a step from being merged into the next one, which would compute its columns
 * once for every use. (OFFSET 0 would too, but it becomes a bigint only after the planner has decided about parallel workers,
 * and then it cannot use them.) The values of a row are joined as an array: a chain of || is as deep as it is long, and a
 * server's stack is small. */
#include <string.h>

#include "engine/core/sql.h"
#include "engine/sql/dialect.h"

/* Drops trailing zeros of a fraction. NaN and infinities, which have no scale, become NULL. */
#define NUMERIC "CASE WHEN scale($) = 0 THEN $::text WHEN scale($) > 0 THEN rtrim(rtrim($::text, '0'), '.') END"

/* Most are integers below 2^63. For others, x = m * 2^(e - 1075) with the bits of m and e: beyond 2^63 that is an integer,
 * below it x = m * 5^k / 10^k with k = 1075 - e (e = 0 counts as 1, without the hidden bit of m). Integer powers of integers
 * are exact in numeric. */
#define BITS "('x' || encode(float8send($), 'hex'))::bit(64)::bigint"
#define EXPONENT "(" BITS " >> 52 & 2047)::int"
#define MANTISSA "((" BITS " & 4503599627370495) + CASE WHEN " EXPONENT " > 0 THEN 4503599627370496 ELSE 0 END)::numeric"
#define DOUBLE \
    "CASE WHEN $ = trunc($) AND abs($) < '9223372036854775808'::float8 THEN $::bigint::text WHEN abs($) <= " \
    "'1.7976931348623157e308'::float8 THEN CASE WHEN $ < 0 THEN '-' ELSE '' END || CASE WHEN abs($) >= " \
    "'9223372036854775808'::float8 THEN split_part((" MANTISSA " * '2'::numeric ^ (" EXPONENT " - 1075)::numeric)::text, " \
    "'.', 1) ELSE rtrim(rtrim(((" MANTISSA " * '5'::numeric ^ (1075 - greatest(" EXPONENT ", 1))::numeric)::text || 'e-' || " \
    "(1075 - greatest(" EXPONENT ", 1)))::numeric::text, '0'), '.') END END"

static void canonical(tmi_text *sql, const char *quoted, tmi_sql_type type)
{
    tmi_text real;
    if (type != TMI_SQL_FLOAT && type != TMI_SQL_DOUBLE) {
        tmi_sql_word(sql, type == TMI_SQL_NUMERIC ? NUMERIC : "$::text", quoted);
        return;
    }
    tmi_text_init(&real);
    tmi_sql_word(&real, "$::float8", quoted);
    if (real.failed) sql->failed = true;
    else tmi_sql_word(sql, DOUBLE, real.bytes);
    tmi_text_clear(&real);
}

/* Texts that a collation calls equal although their bytes differ have no canonical form: then the word is none of a type. */
#define TYPE_OF \
    "(CASE WHEN EXISTS (SELECT 1 FROM pg_collation WHERE NOT collisdeterministic AND (pg_collation_for($) = " \
    "quote_ident(collname) OR pg_collation_for($) LIKE '%.' || quote_ident(collname))) THEN 'collated' ELSE " \
    "pg_typeof($)::text END)"

static tmi_sql_type type_of(const char *word)
{
    static const struct {
        const char *word;
        tmi_sql_type type;
    } known[] = {
        {"smallint", TMI_SQL_INTEGER},
        {"integer", TMI_SQL_INTEGER},
        {"bigint", TMI_SQL_INTEGER},
        {"real", TMI_SQL_FLOAT},
        {"double precision", TMI_SQL_DOUBLE},
        {"numeric", TMI_SQL_NUMERIC},
        {"boolean", TMI_SQL_BOOLEAN},
        {"text", TMI_SQL_TEXT},
        {"character varying", TMI_SQL_TEXT},
        {"name", TMI_SQL_TEXT},
        {"character", TMI_SQL_OTHER_TEXT},
        {"citext", TMI_SQL_OTHER_TEXT},
        {"collated", TMI_SQL_OTHER_TEXT},
        {"date", TMI_SQL_DATE},
        {"uuid", TMI_SQL_UUID},
        {"interval", TMI_SQL_TIME},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i].word) == 0) return known[i].type;
    return strncmp(word, "time", 4) == 0 ? TMI_SQL_TIME : TMI_SQL_OTHER;
}

static const char *const unsteady[] = {"Sample Scan", "Limit", "random(", "gen_random_uuid(", "nextval(", "uuid_generate", NULL};

const tmi_dialect tmi_dialect_postgres = {
    .name = "postgres",
    .quote = '"',
    .integer = "'$'::bigint",
    .small_integer = "'$'::int",
    .real = "'$'::float8",
    .small_list = "('{$}'::int[])",
    .list = "('{$}'::bigint[])",
    .real_list = "('{$}'::float8[])",
    .text = tmi_sql_text,
    .element = "",
    .at_code = "[$ + 1]",
    .at_rank = "[least($, 2147483647)::int]",
    .as_real = "$::float8",
    .as_integer = "$::bigint",
    .truth = "$::int::bigint",
    /* From 2^1024 - 2^970 on the nearest double is infinite, which is missing; up to 2^-1075 it is 0. NaN sorts above all
     * others. */
    .numeric_as_real = "CASE WHEN abs($) <= 2.4703282292062327208e-324 THEN 0::float8 WHEN abs($) < "
                       "1.79769313486231580793728971405303415079934132710037826936e308 THEN $::float8 END",
    .reciprocal = "('1'::float8 / $)",
    .answer = "$",
    .step = " AS NOT MATERIALIZED (",
    .materialized = " AS MATERIALIZED (",
    .barrier = " OFFSET '0'::bigint",
    .exists = "SELECT FROM",
    .binary = " COLLATE \"C\"",
    .trim = "btrim($, E' \\t\\n\\x0b\\f\\r')",
    .canonical = canonical,
    .has_real_texts = true,
    .bytes_of_hex = "decode('$', 'hex')",
    .digest =
        "sha256(decode(replace(coalesce($, ''), E'\\\\', E'\\\\\\\\'), 'escape'))", /* the bytes as the server stores them */
    .bytes_and = " || ",
    .first_byte = "get_byte(sha256($), 0)",
    .order_key = "sha256(decode('$' || encode(",
    .order_digest = ", 'hex') || ',' || array_to_string(ARRAY[",
    .order_value = "$, ",
    .order_end = "copy]::bigint[], ',', ''), 'escape'))",
    .buckets = "width_bucket(",
    .as_exact = "$::numeric",
    .whole_part = "div(",
    .quotient = ", ",
    .integer_part = ")::bigint",
    .as_term = "($)::int",
    .shifts = true,
    .has_any = true,
    .has_filter = true,
    .text_type = "text",
    .type_of = TYPE_OF,
    .version = "version()",
    .numbers = "(SELECT generate_series(0, $ - 1) AS i)",
    .array = "(ARRAY[$])",
    .explain = "EXPLAIN VERBOSE ",
    .unsteady = unsteady,
    .type = type_of,
    .tested = "",
};

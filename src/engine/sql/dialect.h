/* The words in which databases differ. A word is written around its operand, whose place is $; a word without $ is written as
 * it is. What all dialects share is in the writer (engine/sql/sql.h). */
#ifndef TMI_ENGINE_SQL_DIALECT_H
#define TMI_ENGINE_SQL_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef enum tmi_sql_type {
    TMI_SQL_DOUBLE,
    TMI_SQL_FLOAT,
    TMI_SQL_INTEGER,
    TMI_SQL_BOOLEAN,
    TMI_SQL_NUMERIC,
    TMI_SQL_TEXT,
    TMI_SQL_DATE,
    TMI_SQL_UUID,
    TMI_SQL_OTHER_TEXT, /* without a canonical form: CHAR(n), citext, some collations */
    TMI_SQL_TIME,       /* times, timestamps, intervals: without a canonical form too */
    TMI_SQL_OTHER
} tmi_sql_type;

typedef struct tmi_dialect {
    const char *name;
    char quote; /* around names; doubled inside */

    /* literals; a text is never written with an escape that a setting could change */
    const char *integer, *small_integer, *real;
    const char *small_list, *list, *real_list; /* with commas */
    void (*text)(tmi_text *sql, const char *text);

    /* An element of a list: before the list, and after it around a code from 0 on, or around a rank from 1 on. NULL where there
     * is no such element. */
    const char *element, *at_code, *at_rank;

    /* casts */
    const char *as_real, *as_integer;
    const char *truth;           /* a boolean as an integer */
    const char *numeric_as_real; /* a decimal as the nearest double; missing where that is infinite */
    const char *reciprocal;      /* of a double that is not 0 */
    const char *answer;          /* what is returned, as a text where the database does not do that itself */

    /* steps */
    const char *step, *materialized; /* between its name and its query */
    const char *barrier;             /* after a step that is not to be merged into the next one; "": there is none */
    const char *exists;              /* the beginning of a query whose rows alone matter */

    /* texts */
    const char *binary; /* after a text: compared by its bytes from here on */
    const char *trim;   /* the six blanks of ASCII off both ends */
    const char *label;  /* a text as a label, without these blanks, in the form that `digest` takes; NULL: as `trim` */
    void (*canonical)(tmi_text *sql, const char *quoted, tmi_sql_type type);
    bool compares_reals; /* categories of doubles and floats are compared as numbers, not as canonical texts */
    bool has_real_texts; /* a double has a canonical text; otherwise it cannot be a label */

    /* SHA-256 */
    const char *bytes_of_hex; /* a literal */
    const char *digest;       /* of a text, NULL as the empty one: bytes */
    const char *bytes_and;    /* between bytes that are joined, inside first_byte */
    const char *first_byte;   /* of the digest of bytes, as an integer */
    /* the place of a row among those of its unit: around the key in hexadecimal digits, after the digest of the unit, around
     * each value, and `copy` with the end */
    const char *order_key, *order_digest, *order_value, *order_end;

    const char *buckets; /* how many elements of a list are at most an operand: before both; NULL: a tree of cases */
    /* A point or its bound in a type whose products and sums are exact here, and the whole part of a quotient of two such numbers
     * as an integer: before both, between and after them. */
    const char *as_exact, *whole_part, *quotient, *integer_part;
    const char *as_term; /* a term that fits 32 bits, where sums of those are faster; NULL: they are not */
    const char *as_wide; /* a term of a sum that may pass 2^62; NULL: all sums are wide enough */
    bool shifts;         /* >> of a negative integer rounds down */
    bool has_any;        /* = ANY (list); otherwise IN */
    bool has_filter;     /* count(*) FILTER (WHERE ...); otherwise cases are counted */
    bool inlines;        /* sums contain the points of their factors, and the engine itself computes once what they share */
    bool windows;        /* the rows of a unit are counted, told apart and ordered by windows, in one reading of the table */

    /* what only sources of SQL need (engine/statements): the type of texts, an operand's type as a word, the engine's
     * version, a table of this many numbers from 0 on in one column `i`, a list of expressions, and what comes before a
     * statement that is only planned */
    const char *text_type, *type_of, *version, *numbers, *array, *explain;
    /* The names of all columns of `tamis_t` in one text, each between `name_begins` and `name_ends`, with or without its quotes.
     * NULL: the engine itself tells names in capital and small letters apart. */
    const char *names, *name_begins, *name_ends;
    const char *const *unsteady; /* words of a plan whose scan may differ from one reading to the next; NULL ends them */
    tmi_sql_type (*type)(const char *word);
    const char *tested; /* how the versions begin that our own tests have run; NULL: none */
} tmi_dialect;

extern const tmi_dialect tmi_dialect_postgres, tmi_dialect_duckdb, tmi_dialect_spark;

/* A name in its quotes. */
void tmi_sql_quote(tmi_text *sql, const tmi_dialect *dialect, const char *name);

/* The word with its operand; or its two ends, around an operand that is longer. */
void tmi_sql_word(tmi_text *sql, const char *word, const char *operand);
void tmi_sql_before(tmi_text *sql, const char *word);
void tmi_sql_after(tmi_text *sql, const char *word);

/* An integer and a double as literals of their types. */
void tmi_sql_integer(tmi_text *sql, const tmi_dialect *dialect, int64_t value);
void tmi_sql_real(tmi_text *sql, const tmi_dialect *dialect, double value);

#endif

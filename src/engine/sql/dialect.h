/* The words in which databases differ. A word is written around its operand, whose place is $; a word without $ is written as it
 * is. What all dialects share is in the writer (engine/sql/sql.h). */
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

    /* literals; a text is never written with an escape that a setting could change */
    const char *integer, *small_integer, *real;
    const char *small_list, *list, *real_list; /* with commas */
    void (*text)(tmi_text *sql, const char *text);

    /* casts */
    const char *as_real, *as_integer, *as_small_integer;
    const char *truth;           /* a boolean as an integer */
    const char *numeric_as_real; /* a decimal as the nearest double; missing where that is infinite */
    const char *answer;          /* what is returned, as a text where the database does not do that itself */

    /* steps */
    const char *step, *materialized; /* between its name and its query */
    const char *barrier;             /* after a step that is not to be merged into the next one; "": there is none */
    const char *exists;              /* the beginning of a query whose rows alone matter */

    /* texts */
    const char *binary; /* after a text: compared by its bytes from here on */
    const char *trim;   /* the six blanks of ASCII off both ends */
    void (*canonical)(tmi_text *sql, const char *quoted, tmi_sql_type type);

    /* SHA-256 */
    const char *bytes_of_hex; /* a literal */
    const char *digest;       /* of a text, NULL as the empty one: bytes */
    const char *first_byte;   /* of the digest of bytes, as an integer */
    /* the place of a row among those of its unit: around the key in hexadecimal digits, after the digest of the unit, around each
     * value, and after `copy` */
    const char *order_key, *order_digest, *order_value, *order_end;

    const char *buckets; /* how many elements of a list are at most an operand: before both; NULL: a tree of cases */
    const char *as_term; /* a term that fits 32 bits, where sums of those are faster; NULL: they are not */
    bool shifts;         /* >> of a negative integer rounds down */
} tmi_dialect;

extern const tmi_dialect tmi_dialect_postgres;

/* The word with its operand; or its two ends, around an operand that is longer. */
void tmi_sql_word(tmi_text *sql, const char *word, const char *operand);
void tmi_sql_before(tmi_text *sql, const char *word);
void tmi_sql_after(tmi_text *sql, const char *word);

/* An integer and a double as literals of their types. */
void tmi_sql_integer(tmi_text *sql, const tmi_dialect *dialect, int64_t value);
void tmi_sql_real(tmi_text *sql, const tmi_dialect *dialect, double value);

#endif

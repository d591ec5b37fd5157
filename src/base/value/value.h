/* A tree of values: what YAML and JSON are both read into, and what rooms hand each other instead of text. Scalars are kept as
 * they were written: a scalar of YAML is a text, and whoever reads it decides what is a number, so that "no" and "1e3" cannot
 * change their meaning on the way. A value of YAML has its place in the file; one of JSON, which machines write, has none (0). */
#ifndef TMI_BASE_VALUE_VALUE_H
#define TMI_BASE_VALUE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum tmi_value_kind {
    TMI_VALUE_NULL,
    TMI_VALUE_BOOLEAN,
    TMI_VALUE_INTEGER,
    TMI_VALUE_REAL,
    TMI_VALUE_TEXT,
    TMI_VALUE_LIST,
    TMI_VALUE_MAP
} tmi_value_kind;

/* Values are small, because lists of JSON are long. Those of a list or map are one after the other in memory; see
 * tmi_value_first. */
typedef struct tmi_value tmi_value;

struct tmi_value {
    tmi_value_kind kind : 8;
    bool quoted : 1; /* a text that was written with quotes */
    bool placed : 1; /* it has a key, a place and a parent */
    bool places : 1; /* of a list or map: its values have them; of a map they always do */
    bool last : 1;   /* no value comes after it in its list or map */
    uint32_t count;  /* of a list or map */
    union {
        int64_t integer; /* of an integer; 1 of true, 0 of false */
        double real;
        char *text;       /* of a text, UTF-8 without a zero byte inside */
        tmi_value *items; /* of a list or map; only value.c knows how far they are apart */
    };
};

/* Where a person wrote a value and its key: lines and columns from 1, without a key the value twice; and the bytes [begin, end)
 * of both, quotes and brackets included. An empty value has no bytes: begin and end are where it could be written. */
typedef struct tmi_place {
    int line, column, key_line, key_column;
    uint32_t begin, end, key_begin, key_end;
} tmi_place;

/* ---- making; every function returns NULL or false without memory ---- */

/* A new last value of the list or map `parent`, under a copy of `key`; NULL: no parent, no key. The root is the caller's.
 * Pointers to earlier values of the parent may not be used any more. */
tmi_value *tmi_value_new(tmi_value *parent, const char *key, tmi_value_kind kind);
bool tmi_value_set_text(tmi_value *value, const char *bytes, size_t length);
void tmi_value_set_place(tmi_value *value, tmi_place place); /* of a value that is placed */

/* After the last value of a list or map. Of equal keys, which only YAML has until its reader complains, the first is found. */
bool tmi_value_close(tmi_value *value);

/* The first value of a closed map whose key an earlier one has too; NULL if there is none. */
const tmi_value *tmi_value_repeated(const tmi_value *map);

/* Makes a new value, of the same kind, what another one is, with all below it. */
bool tmi_value_fill(tmi_value *copy, const tmi_value *value);

/* A copy that the caller frees; of NULL, NULL. */
tamis_status tmi_value_copy(tmi_value **copy, const tmi_value *value, tamis_error *err);

void tmi_value_free(tmi_value *root);

/* ---- asking; of NULL or a value of another kind the answer is NULL, 0 or false ---- */

tmi_value_kind tmi_value_kind_of(const tmi_value *value); /* of NULL, TMI_VALUE_NULL */
bool tmi_value_is_true(const tmi_value *value);
int64_t tmi_value_integer(const tmi_value *value);
double tmi_value_real(const tmi_value *value); /* of an integer too */
const char *tmi_value_string(const tmi_value *value);

size_t tmi_value_size(const tmi_value *list_or_map);
const tmi_value *tmi_value_at(const tmi_value *list, size_t index);

/* The values of a list or map in the order of the file; NULL: there are none, or no more. */
const tmi_value *tmi_value_first(const tmi_value *list_or_map);
const tmi_value *tmi_value_next(const tmi_value *value);

/* Value `index` of a map in the order of its keys. */
const tmi_value *tmi_value_sorted(const tmi_value *map, size_t index);

/* NULL, or no place, of a value that is not placed. */
const char *tmi_value_key(const tmi_value *value);
const tmi_value *tmi_value_parent(const tmi_value *value);
tmi_place tmi_value_place(const tmi_value *value);

const tmi_value *tmi_value_get(const tmi_value *map, const char *key);

/* The value of a key if it is of that kind, else NULL; a text, or ""; an integer, or 0; whether it is true. */
const tmi_value *tmi_value_field(const tmi_value *map, const char *key, tmi_value_kind kind);
const char *tmi_value_field_text(const tmi_value *map, const char *key);
int64_t tmi_value_whole(const tmi_value *map, const char *key);
bool tmi_value_true(const tmi_value *map, const char *key);

/* The key after `key`; NULL: the first one. NULL after the last one. In the order of the file. */
const char *tmi_value_next_key(const tmi_value *map, const char *key);

/* Whether two values are the same. 1 and 1.0 are different. */
bool tmi_value_equal(const tmi_value *x, const tmi_value *y);

/* The first key of `map` that is not among the `count` keys, or NULL: for "extra field" errors. */
const char *tmi_value_extra_key(const tmi_value *map, const char *const *keys, size_t count);

/* The first key other than `except` (may be NULL) of which two maps do not hold the same value, or only one holds any; NULL if
 * there is none. Lives as long as both. */
const char *tmi_value_difference(const tmi_value *x, const tmi_value *y, const char *except);

/* A key as a message shows it: long ones are not repeated. */
const char *tmi_value_short_name(const char *key);

#endif

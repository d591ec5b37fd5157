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

typedef struct tmi_value tmi_value;

struct tmi_value {
    tmi_value_kind kind;
    int line, column;         /* of the value, from 1 */
    int key_line, key_column; /* of its key; without a key, of the value */
    bool quoted;              /* a text that was written with quotes */
    char *key;                /* in a map */
    char *text;               /* of a text, UTF-8 without a zero byte inside; else NULL */
    tmi_value *parent, *next, *first;
    size_t count;      /* of a list or map, whose values are first, first->next, ... in the order of the file */
    tmi_value **items; /* the same once it is closed: of a list in order, of a map by key */
    union {
        int64_t integer; /* of an integer; 1 of true, 0 of false */
        double real;
        tmi_value *last; /* of a list or map */
    };
};

/* ---- making; every function returns NULL or false without memory ---- */

/* A new last value of the list or map `parent`, under a copy of `key`; NULL: no parent, no key. The root is the caller's. */
tmi_value *tmi_value_new(tmi_value *parent, const char *key, tmi_value_kind kind);
bool tmi_value_set_text(tmi_value *value, const char *bytes, size_t length);

/* After the last value of a list or map. Of equal keys, which only YAML has until its reader complains, the first is found. */
bool tmi_value_close(tmi_value *value);

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

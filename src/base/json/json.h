/* JSON, strictly: duplicate keys, trailing text, NaN and numbers beyond 64 bits are errors. jansson reads; writing
 * is a few lines of our own because a certified number must be printed rounded outwards, which jansson cannot do.    */
#ifndef TMI_BASE_JSON_JSON_H
#define TMI_BASE_JSON_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* ---- reading ---- */

typedef struct tmi_json tmi_json; /* a value inside a document; lives as long as the document */

typedef enum tmi_json_kind {
    TMI_JSON_NULL,
    TMI_JSON_BOOLEAN,
    TMI_JSON_INTEGER,
    TMI_JSON_REAL,
    TMI_JSON_STRING,
    TMI_JSON_LIST,
    TMI_JSON_OBJECT
} tmi_json_kind;

/* Parses one document; the caller frees it with tmi_json_free; NULL on failure. INVALID (with position) on malformed text,
 * SYSTEM if memory runs out; jansson now and then takes the second for the first. */
tamis_status tmi_json_read(tmi_json **document, const char *bytes, size_t length, tamis_error *err);

/* The same for a long text: `watch` is asked now and then, and SYSTEM, "cancelled", comes of its wish to stop. */
tamis_status tmi_json_read_watched(tmi_json **document, const char *bytes, size_t length, tmi_watch *watch, tamis_error *err);
void tmi_json_free(tmi_json *document);

/* A second owner of a value, which then outlives the document that it is in; each owner frees it. */
tmi_json *tmi_json_share(const tmi_json *value);

tmi_json_kind tmi_json_kind_of(const tmi_json *value);
bool tmi_json_is_true(const tmi_json *value);
int64_t tmi_json_integer(const tmi_json *value);
double tmi_json_real(const tmi_json *value);        /* of an integer too */
const char *tmi_json_string(const tmi_json *value); /* strings with an inner zero byte are refused on reading */

size_t tmi_json_size(const tmi_json *list_or_object);
const tmi_json *tmi_json_at(const tmi_json *list, size_t index);
const tmi_json *tmi_json_get(const tmi_json *object, const char *key); /* NULL if absent */

/* The value of a key if it is of that kind, else NULL; a text, or ""; an integer, or 0; whether it is true. `object` may be NULL
 * or of any kind. */
const tmi_json *tmi_json_field(const tmi_json *object, const char *key, tmi_json_kind kind);
const char *tmi_json_text(const tmi_json *object, const char *key);
int64_t tmi_json_whole(const tmi_json *object, const char *key);
bool tmi_json_true(const tmi_json *object, const char *key);

/* The key after `key`; NULL: the first one. NULL after the last one. In the order of the document. */
const char *tmi_json_next_key(const tmi_json *object, const char *key);

/* Whether two values are the same. 1 and 1.0 are different. */
bool tmi_json_equal(const tmi_json *x, const tmi_json *y);

/* The first key of `object` that is not among the `count` keys, or NULL: for "extra field" errors. */
const char *tmi_json_extra_key(const tmi_json *object, const char *const *keys, size_t count);

/* A key as a message shows it: long ones are not repeated. */
const char *tmi_json_short_name(const char *key);

/* The first key other than `except` (may be NULL) of which two objects do not hold the same value, or only one holds any; NULL
 * if there is none. 1 and 1.0 are different. Lives as long as both. */
const char *tmi_json_difference(const tmi_json *x, const tmi_json *y, const char *except);

/* The value as text, the same for equal values: on one line, keys in alphabetical order. */
tamis_status tmi_json_canonical(tmi_text *text, const tmi_json *value, tamis_error *err);

/* ---- writing: a text, or a tree of values, by the same calls ---- */

#define TMI_JSON_DEPTH 16

typedef struct tmi_json_out {
    tmi_text *text; /* of a tree only its flags are used: something failed, it was stopped */
    unsigned depth;
    bool pretty, keyed, filled[TMI_JSON_DEPTH]; /* keyed: a key was written, its value comes next */
    bool is_tree;
    const char *key; /* of the value that comes next in a tree */
    tmi_json *root, *open[TMI_JSON_DEPTH];
} tmi_json_out;

void tmi_json_out_init(tmi_json_out *out, tmi_text *text, bool pretty);
void tmi_json_open(tmi_json_out *out, char bracket);             /* '{' or '[' */
void tmi_json_close(tmi_json_out *out, char bracket);            /* '}' or ']' */
void tmi_json_key(tmi_json_out *out, const char *key);           /* lives until its value is written */
void tmi_json_put_string(tmi_json_out *out, const char *string); /* NULL writes null */
void tmi_json_put_taken(tmi_json_out *out, tmi_text *string);    /* clears the text; an empty one writes null */
bool tmi_is_utf8(const char *string);                            /* then it is written as it is */
void tmi_json_put_integer(tmi_json_out *out, int64_t value);
void tmi_json_put_boolean(tmi_json_out *out, bool value);
void tmi_json_put_null(tmi_json_out *out);
void tmi_json_put_number(tmi_json_out *out, const char *text);     /* a number already written, such as 1.5e-7 */
void tmi_json_put_value(tmi_json_out *out, const tmi_json *value); /* canonical; in a tree the value itself, shared */

/* A key with its value, or with the opening bracket of its value. */
void tmi_json_add_string(tmi_json_out *out, const char *key, const char *string);
void tmi_json_add_taken(tmi_json_out *out, const char *key, tmi_text *string); /* clears the text; an empty one writes null */
void tmi_json_add_integer(tmi_json_out *out, const char *key, int64_t value);
void tmi_json_add_boolean(tmi_json_out *out, const char *key, bool value);
void tmi_json_add_null(tmi_json_out *out, const char *key);
void tmi_json_add_integers(tmi_json_out *out, const char *key, const int64_t *list, size_t count); /* a list; NULL: empty */
void tmi_json_add_open(tmi_json_out *out, const char *key, char bracket);

/* A tree that is being made: what is written to `out` becomes a value, the one that reading the text would have given. */
typedef struct tmi_json_tree {
    tmi_json_out out;
    tmi_text text;
} tmi_json_tree;

void tmi_json_tree_begin(tmi_json_tree *tree, tmi_watch *watch); /* watch: asked now and then; NULL: nobody */

/* Hands the value to the caller, who frees it; NULL on failure. SYSTEM if any write failed, "cancelled" if it was stopped. */
tamis_status tmi_json_tree_end(tmi_json **value, tmi_json_tree *tree, tamis_error *err);

#endif

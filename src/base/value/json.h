/* JSON, strictly: duplicate keys, trailing text, NaN and numbers beyond 64 bits are errors. */
#ifndef TMI_BASE_VALUE_JSON_H
#define TMI_BASE_VALUE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lines.h"
#include "base/text.h"
#include "base/value/value.h"

/* ---- reading ---- */

/* Parses one document into a tree, which the caller frees with tmi_value_free; NULL on failure. INVALID on malformed text,
 * with the place of the first character that cannot be right; SYSTEM if memory runs out. */
tamis_status tmi_json_read(tmi_value **document, const char *bytes, size_t length, tamis_error *err);

/* The same for a long text: `watch` is asked now and then, and SYSTEM, "cancelled", comes of its wish to stop. */
tamis_status tmi_json_read_watched(tmi_value **document, const char *bytes, size_t length, tmi_watch *watch, tamis_error *err);

/* The value as text, the same for equal values: on one line, keys in alphabetical order. The second gives a new text, which the
 * caller frees with tmi_free. */
tamis_status tmi_json_canonical(tmi_text *text, const tmi_value *value, tamis_error *err);
tamis_status tmi_json_canonical_text(char **json, const tmi_value *value, tamis_error *err);

/* ---- writing: a text, or a tree of values, by the same calls ---- */

#define TMI_JSON_DEPTH 20 /* a YAML tree, which has 16 levels at most, inside an object */

typedef struct tmi_json_out {
    tmi_text *text; /* of a tree only its flags are used: something failed, it was stopped */
    unsigned depth;
    bool pretty, keyed, filled[TMI_JSON_DEPTH]; /* keyed: a key was written, its value comes next */
    bool is_tree;
    const char *key; /* of the value that comes next in a tree */
    tmi_value *root, *open[TMI_JSON_DEPTH];
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
void tmi_json_put_number(tmi_json_out *out, const char *text);      /* a number already written, such as 1.5e-7 */
void tmi_json_put_value(tmi_json_out *out, const tmi_value *value); /* canonical; in a tree a copy */

/* NaN and infinities, which JSON does not know, become null. */
void tmi_json_put_real(tmi_json_out *out, double x);
void tmi_json_add_real(tmi_json_out *out, const char *key, double x);

/* A key with its value, or with the opening bracket of its value. */
void tmi_json_add_string(tmi_json_out *out, const char *key, const char *string);
void tmi_json_add_taken(tmi_json_out *out, const char *key, tmi_text *string); /* clears the text; an empty one writes null */
void tmi_json_add_integer(tmi_json_out *out, const char *key, int64_t value);
void tmi_json_add_boolean(tmi_json_out *out, const char *key, bool value);
void tmi_json_add_null(tmi_json_out *out, const char *key);
void tmi_json_add_integers(tmi_json_out *out, const char *key, const int64_t *list, size_t count); /* a list; NULL: empty */
void tmi_json_add_lines(tmi_json_out *out, const char *key, tmi_lines *lines); /* a list of texts; clears the lines */
void tmi_json_add_open(tmi_json_out *out, const char *key, char bracket);

/* A tree that is being made: what is written to `out` becomes a value, the one that reading the text would have given. */
typedef struct tmi_json_tree {
    tmi_json_out out;
    tmi_text text;
} tmi_json_tree;

void tmi_json_tree_begin(tmi_json_tree *tree, tmi_watch *watch); /* watch: asked now and then; NULL: nobody */

/* Hands the value to the caller, who frees it; NULL on failure. SYSTEM if any write failed, "cancelled" if it was stopped. */
tamis_status tmi_json_tree_end(tmi_value **value, tmi_json_tree *tree, tamis_error *err);

#endif

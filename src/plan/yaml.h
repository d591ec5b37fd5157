/* A YAML file as a tree of texts, lists and maps, each with its place in the file. The only file that sees libfyaml is
 * yaml.c: everything else works on this tree, whose scalars are texts (the schema decides what is a number, so that
 * "no" and "1e3" cannot change their meaning on the way).
 *
 * A plan is written by a person, so the tree is small by law: size, depth and number of nodes are bounded, and anchors,
 * aliases, tags and further documents are refused. An alias is how ten lines of YAML become a billion nodes.          */
#ifndef TMI_PLAN_YAML_H
#define TMI_PLAN_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define TMI_YAML_BYTES ((size_t)1 << 20) /* one megabyte: a plan with a thousand strata takes 60 kB */
#define TMI_YAML_DEPTH 16                /* the deepest key of the format has seven levels */
#define TMI_YAML_NODES 100000
#define TMI_YAML_KEYS 10000 /* keys of one map: duplicates are looked for pair by pair */

typedef enum tmi_yaml_kind { TMI_YAML_TEXT, TMI_YAML_LIST, TMI_YAML_MAP } tmi_yaml_kind;

typedef struct tmi_yaml tmi_yaml;

struct tmi_yaml {
    tmi_yaml_kind kind;
    int line, column; /* of the value, from 1 */
    char *text;       /* TMI_YAML_TEXT: UTF-8 without a zero byte inside */
    bool quoted;      /* TMI_YAML_TEXT: written with quotes */

    char *key; /* in a map */
    int key_line, key_column;
    size_t index; /* in a list, from 0 */

    tmi_yaml *parent, *first, *last, *next; /* the values of a list or map in the order of the file */
    size_t count;
};

/* Reads one document. `name` opens the error messages: name:line:column: what is wrong.
 *
 * Gives    the root, which the caller frees with tmi_yaml_free; NULL on failure. An empty document is an empty text.
 * Errors   INVALID (no YAML, beyond a limit, alias, anchor, tag), SYSTEM (memory).                                   */
tamis_status tmi_yaml_read(tmi_yaml **root, const char *name, const char *bytes, size_t length, tamis_error *err);
void tmi_yaml_free(tmi_yaml *root);

#endif

/* A YAML file as a tree of texts, lists and maps, each with its place in the file. The only file that sees libfyaml is yaml.c:
 * everything else works on this tree.
 *
 * A plan is written by a person, so the tree is small by law: size, depth and number of nodes are bounded, and anchors,
 * aliases, tags and further documents are refused. An alias is how ten lines of YAML become a billion nodes.          */
#ifndef TMI_PLAN_YAML_H
#define TMI_PLAN_YAML_H

#include "base/error.h"
#include "base/value/value.h"

#define TMI_YAML_BYTES ((size_t)1 << 20) /* one megabyte: a plan with a thousand strata takes 60 kB */
#define TMI_YAML_DEPTH 16                /* the deepest key of the format has seven levels */
#define TMI_YAML_NODES 100000
#define TMI_YAML_KEYS 10000 /* keys of one map */

/* Reads one document. `name` opens the error messages: name:line:column: what is wrong.
 *
 * Gives    the root, which the caller frees with tmi_value_free; NULL on failure. An empty document is an empty text.
 * Errors   INVALID (no YAML, beyond a limit, alias, anchor, tag), SYSTEM (memory).                                   */
tamis_status tmi_yaml_read(tmi_value **root, const char *name, const char *bytes, size_t length, tamis_error *err);

/* The same of a text that may be wrong: after a failure the root is what was read before the place of the error; NULL if that is
 * nothing, or without memory. */
tamis_status tmi_yaml_read_partly(tmi_value **root, const char *name, const char *bytes, size_t length, tamis_error *err);

/* The same from a file; a key that appears twice in a map is INVALID. */
tamis_status tmi_yaml_read_file(tmi_value **root, const char *path, tamis_error *err);

#endif

/* Texts of plans, for editors: what is in a text that need not be a plan yet, one value of it changed, a plan as a text.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_DRAFT_H
#define TAMIS_EXPERIMENTAL_DRAFT_H

#include <tamis/plan.h>

TAMIS_BEGIN

/* Any text: what can be read of it, where each value is, and every error.
 *
 *     {"ok": false,
 *      "tree": {"survey": "schools", "columns": {"enroll": {"from": "0", "to": ""}}, ...},
 *      "places": [{"path": "/columns/enroll/to", "line": 7, "column": 9, "begin": 112, "end": 112, "quoted": false,
 *                  "key": {"line": 7, "column": 5, "begin": 108, "end": 110}}, ...],
 *      "errors": [{"message": "...", "key": "columns.enroll.to", "file": "plan.yaml", "line": 7, "column": 9}, ...]}
 *
 * The tree has texts as they are written, numbers too. A path is a JSON Pointer, as tamis_plan_set takes it. Lines and columns
 * count from 1, columns in characters; begin and end are bytes, [begin, end), with quotes and brackets; a value that is not
 * written has none of its own, and begins and ends where it could be written. `key` is null in lists. Of a text that is
 * not YAML there is what was read before the error. `ok`: the text is a plan that tamis_plan_read_text reads.
 *
 * Needs    name and options as tamis_plan_read_with; at most 1 MB.
 * Gives    a text that the caller frees with tamis_free; NULL on failure. A wrong plan is no failure.
 * Errors   INVALID (NULL, options), SYSTEM (memory).                                                                  */
TAMIS_USE tamis_status tamis_draft_json(char **json, const char *name, const char *bytes, size_t length,
                                        const tamis_plan_options *options, tamis_error *err);

/* Sets, inserts or removes one value of a plan's text. All other bytes stay as they are, comments too, except what is on the
 * lines of a value that is removed.
 *
 * Needs    YAML; `path`: a JSON Pointer, "/columns/hours/to", with "-" or the next number for a new last item of a list; what is
 *          missing on the way is inserted. `value`: JSON, or NULL to remove it. A number that has to be exact is a text: "1/3".
 * Gives    the new text, which the caller frees with tamis_free; NULL on failure. It was read again, and differs from the old one
 *          at the path alone. Whether it is a plan, tamis_draft_json says.
 * Errors   INVALID (not YAML, not JSON, no such place, a place that cannot be changed by itself), SYSTEM (memory).     */
TAMIS_USE tamis_status tamis_plan_set(char **text, const char *bytes, size_t length, const char *path, const char *value,
                                      tamis_error *err);

/* A plan as YAML, as a person would write it; otherwise as tamis_plan_json. */
TAMIS_USE tamis_status tamis_plan_yaml(char **yaml, const tamis_plan *plan, tamis_error *err);

TAMIS_END

#endif

/* For editors and pages: the header of a file, and whether a release could be made. <tamis/experimental/draft.h> has the texts.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_EDITOR_H
#define TAMIS_EXPERIMENTAL_EDITOR_H

#include <tamis/init.h>
#include <tamis/release.h>

TAMIS_BEGIN

/* The header by itself, for programs: {"label": of the file or null, "columns": [{"name", "type": "number", "text", "date",
 * "other" or null if only the cells would show it, "label": or null, "codes": [{"code", "label", "missing"}] as far as they
 * have labels, at most 100}]}. No row is read. Labels may have been made from the data: they are for the people who write a plan.
 *
 * Needs    as tamis_init_yaml; `source` and `schema` are not looked at.
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   as tamis_init_yaml.                                                                                       */
TAMIS_USE tamis_status tamis_header_json(char **json, const tamis_init *init, tamis_error *err);

/* Whether a release could be made: everything that tamis_release_new checks before it charges is checked. Of the rows only what
 * all neighbours share is read: the header, types, and counts that the design fixes. Nothing is charged or written; the ledger
 * may refuse later, if others charge it meanwhile.
 *
 * Needs    as tamis_release_new.
 * Gives    {"repeated": the same was released before, and would be returned for nothing, "claims": the entry of a charge that was
 *          never published and would be taken over for nothing (absent: there is none), "would_spend", "left": of the account
 *          now, null if there is none yet, "would_leave", "shown": these as texts}; the caller frees it with tamis_free. NULL on
 *          failure.
 * Errors   those of tamis_release_new before its charge.                                                             */
TAMIS_USE tamis_status tamis_release_ready(char **json, const tamis_plan *plan, const char *folder,
                                           const tamis_release_options *options, tamis_error *err);

/* The numbers of a release as the report says them, for pages that may not round, in the order of release.json:
 *
 *     {"results": [{"words": "total of enroll by stype", "group": {"stype": "E"}, "estimate": "1,950,000", "se": "380,000",
 *                   "interval": "1,200,000 to 2,700,000", "quality": "E"}, ...]}
 *
 * The quality is E, F or null, as report.html flags it.
 *
 * Needs    a release.
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (NULL), SYSTEM (memory). */
TAMIS_USE tamis_status tamis_release_shown_json(char **json, const tamis_release *release, tamis_error *err);

TAMIS_END

#endif

/* The three lines of a promise, for the rooms that write texts. */
#ifndef TMI_SETTING_MEANING_H
#define TMI_SETTING_MEANING_H

#include <tamis/experimental/meaning.h>

#include "base/value/json.h"

/* What a belief of `prior` becomes at most; with delta above 0 (NULL: it is 0) but for outputs of probability 11 delta. */
tamis_status tmi_posterior(tamis_bound *posterior, const tamis_number *prior, const tamis_number *eps, const tamis_number *delta,
                           tamis_error *err);

/* Adds the table, with the sentence that explains it. Errors: INVALID, UNABLE, SYSTEM; the text is then as it was. */
tamis_status tmi_write_meaning(tmi_text *text, const tamis_promise *promise, tamis_error *err);

/* Puts the list [{"who", "odds", ...}, ...]. */
tamis_status tmi_put_meaning(tmi_json_out *out, const tamis_promise *promise, tamis_error *err);

/* Puts the list [{"who", "shown": {"odds": "2.72", "posterior": {"0.1": "23.2 %", ...}, "found": {...}}}, ...], rounded up. */
tamis_status tmi_put_meaning_shown(tmi_json_out *out, const tamis_promise *promise, tamis_error *err);

#endif

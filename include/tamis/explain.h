/* The settings and the designs in plain words: what each promises, assumes and allows. One screen per topic. What it says about
 * settings comes from the table of <tamis/experimental/setting.h>, what sampling adds is computed by
 * <tamis/experimental/amplification.h> as it is printed, so that the words cannot promise more than the library does. */
#ifndef TAMIS_EXPLAIN_H
#define TAMIS_EXPLAIN_H

#include <tamis/base.h>

TAMIS_BEGIN

/* Topics: "settings", "designs", the name of a setting ("sample given frame"), the name of a design as plans write it
 * ("srs", "stratified", ...) or of a method of pps ("sampford"). NULL: the list of topics.
 *
 * Gives    lines of at most 79 columns, or one JSON object; the caller frees it with tamis_free. NULL on failure.
 * Errors   INVALID (text NULL, no such topic), UNABLE, SYSTEM.                                                       */
TAMIS_USE tamis_status tamis_explain_text(char **text, const char *topic, tamis_error *err);
TAMIS_USE tamis_status tamis_explain_json(char **json, const char *topic, tamis_error *err);

/* Topic number i, from 0; NULL after the last. */
TAMIS_API const char *tamis_explain_topic(size_t i);

TAMIS_END

#endif

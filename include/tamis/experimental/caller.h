/* An engine of the caller's own, for clusters and other databases: questions as JSON, answers as JSON (docs/engines.md).
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_CALLER_H
#define TAMIS_EXPERIMENTAL_CALLER_H

#include <tamis/engine.h>

TAMIS_BEGIN

typedef struct tamis_reply tamis_reply;

/* Answers a question. Both are JSON objects; docs/engines.md describes them. The guarantee of a release rests on the
 * answer being what was asked for.
 *
 * Gives    TAMIS_OK after tamis_reply_set; another status if there is no answer. Its message is not passed on: it might
 *          contain data.                                                                                                */
typedef tamis_status tamis_answer(void *context, tamis_reply *reply, const char *question, tamis_error *err);

/* Sets the answer, which is copied. The last call wins. */
TAMIS_API void tamis_reply_set(tamis_reply *reply, const char *text);

/* A source that asks `answer`, which gets `context`. It serves releases; estimates need rows.
 *
 * Gives    a source as tamis_source_new.
 * Errors   INVALID, SYSTEM.                                                                                          */
TAMIS_USE tamis_status tamis_source_asking(tamis_source **source, tamis_answer *answer, void *context, tamis_error *err);

TAMIS_END

#endif

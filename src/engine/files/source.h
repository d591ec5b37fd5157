/* The engine of a source in the caller's memory. */
#ifndef TMI_ENGINE_FILES_SOURCE_H
#define TMI_ENGINE_FILES_SOURCE_H

#include <tamis/engine.h>
#include <tamis/experimental/caller.h>

#include "engine/core/engine.h"

/* The source outlives the engine. */
tamis_status tmi_engine_of_source(tmi_engine **engine, const tamis_source *source, unsigned threads, tamis_error *err);

/* An engine that asks the caller. */
tamis_status tmi_engine_asking(tmi_engine **engine, tamis_answer *answer, void *context, tamis_error *err);

#endif

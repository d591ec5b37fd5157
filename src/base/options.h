/* Options that can grow: structs whose first field is their own size, as the caller's header declares it. */
#ifndef TMI_BASE_OPTIONS_H
#define TMI_BASE_OPTIONS_H

#include "base/error.h"

/* Copies the options of a caller, whose struct may be older (the fields that it lacks are 0) or newer (fields that this library
 * does not know must be 0). given NULL: all zero.
 *
 * INVALID: the size is 0 or too small to be one, or an unknown field is set. `what` names the options in messages. */
tamis_status tmi_options_take(void *to, size_t size, const void *given, const char *what, tamis_error *err);

#endif

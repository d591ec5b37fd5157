/* Saying no: three kinds, one message, no data values in it. */
#ifndef TMI_ERROR_H
#define TMI_ERROR_H

#include <tamis/base.h>

/* Writes the message and returns the status, so that a failure is one line: return tmi_fail(err, TAMIS_INVALID, ...). */
tamis_status tmi_fail(tamis_error *err, tamis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a line to a message that may already hold some; used where all errors are told at once. */
tamis_status tmi_fail_more(tamis_error *err, tamis_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Out of memory. */
tamis_status tmi_fail_memory(tamis_error *err);

/* Clears the message. */
void tmi_error_reset(tamis_error *err);

/* Runs a call and leaves through `done:` with its status; needs `tamis_status status` and a label `done` in scope. */
#define TMI_TRY(call)                                                                                                 \
    do {                                                                                                              \
        status = (call);                                                                                              \
        if (status != TAMIS_OK) goto done;                                                                            \
    } while (0)

#endif

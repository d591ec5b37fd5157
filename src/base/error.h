/* Saying no: three kinds, one message, no data values in it. */
#ifndef TMI_BASE_ERROR_H
#define TMI_BASE_ERROR_H

#include <tamis/base.h>

/* Writes the message and returns the status, so that a failure is one line: return tmi_fail(err, TAMIS_INVALID, ...).
 * A format that begins with "%s:%d:%d: " names a place, by its file, line and column, in these three arguments: the error
 * keeps it as an item, for programs. */
tamis_status tmi_fail(tamis_error *err, tamis_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a line to a message that may already have some; used where all errors are reported at once. */
tamis_status tmi_fail_more(tamis_error *err, tamis_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same about a file: "FILE: ..." or, with a line above 0, "FILE: line 7: ...". */
tamis_status tmi_fail_file(tamis_error *err, tamis_status status, const char *file, int64_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
tamis_status tmi_fail_file_more(tamis_error *err, tamis_status status, const char *file, int64_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fails as another call did, with its status, message and places. */
tamis_status tmi_fail_as(tamis_error *err, const tamis_error *reason);
tamis_status tmi_fail_as_more(tamis_error *err, const tamis_error *reason);

/* The same for the one error of a reader that did not know which file it read. */
tamis_status tmi_fail_as_file(tamis_error *err, const tamis_error *reason, const char *file);

/* Out of memory; stopped by the watch. */
tamis_status tmi_fail_memory(tamis_error *err);
tamis_status tmi_fail_cancelled(tamis_error *err);

/* Gives a failure its reason for programs, unless it has one; returns the status. */
tamis_status tmi_because(tamis_error *err, const char *reason, tamis_status status);

/* The text of the last item begins with a key of the plan of so many bytes. */
void tmi_error_key(tamis_error *err, size_t length);

/* Clears the message. */
void tmi_error_reset(tamis_error *err);

/* Runs a call and leaves through `done:` with its status; needs `tamis_status status` and a label `done` in scope. */
#define TMI_TRY(call) \
    do { \
        status = (call); \
        if (status != TAMIS_OK) goto done; \
    } while (0)

#endif

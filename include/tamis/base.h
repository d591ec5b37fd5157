/* What every call shares: how it says no, where the reason is written, how long work is watched.
 *
 * A function that can fail returns a tamis_status and takes, last, a tamis_error that the caller owns (NULL if the
 * reason is not wanted). On failure its outputs hold the most pessimistic value, never old memory. The library never
 * prints, exits or aborts by itself.                                                                              */
#ifndef TAMIS_BASE_H
#define TAMIS_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#else
#define TAMIS_API
#endif

/* What stands between the two is C, also for a C++ compiler. */
#ifdef __cplusplus
#define TAMIS_BEGIN extern "C" {
#define TAMIS_END }
#else
#define TAMIS_BEGIN
#define TAMIS_END
#endif

TAMIS_BEGIN

/* The numbers are frozen; they are also the exit codes of the command (2 is its own: wrong usage). */
typedef enum tamis_status {
    TAMIS_OK = 0,
    TAMIS_SYSTEM = 1,  /* memory, disk, operating system, an engine that died, cancelled by the caller */
    TAMIS_INVALID = 3, /* the caller broke a stated need: the message names the parameter */
    TAMIS_REFUSED = 4, /* the budget or the setting forbids it */
    TAMIS_UNABLE = 5   /* could not certify within the work limit */
} tamis_status;

#define TAMIS_ERROR_SIZE 4096

/* Several plan errors are separated by newlines. A message never contains a data value. */
typedef struct tamis_error {
    tamis_status status;
    char message[TAMIS_ERROR_SIZE];
} tamis_error;

/* Called now and then during long work with the share done in [0, 1], or a negative number while it is unknown, and
 * the rows read so far. A result other than 0 asks to stop: the work ends with TAMIS_SYSTEM, nothing is published. */
typedef int tamis_progress(void *context, double share, int64_t rows);

/* "1.2.3": the version of the library that is running. */
TAMIS_API const char *tamis_version(void);

/* The same with the libraries that tamis is linked with, one a line, "GMP 6.2.1"; one that was not found on this machine
 * says so. Nothing is loaded for the answer. For bug reports, and for the record of a release.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (text is NULL), SYSTEM (memory).                                                                 */
TAMIS_API tamis_status tamis_parts_text(char **text, tamis_error *err);

/* The same as one JSON object: {"tamis": "1.2.3", "GMP": "6.2.1", ...}; null for a part that was not found. */
TAMIS_API tamis_status tamis_parts_json(char **json, tamis_error *err);

/* Frees a text that a tamis function gave; NULL is fine. */
TAMIS_API void tamis_free(void *text);

/* Releases the caches that number theory keeps for the calling thread. Call it before a thread ends. */
TAMIS_API void tamis_thread_done(void);

TAMIS_END

#endif

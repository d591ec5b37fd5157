/* What every call shares: how it fails, where the reason is written, how long work is watched.
 *
 * A function that can fail returns a tamis_status and takes, last, a tamis_error that the caller owns (NULL if the
 * reason is not wanted). On failure its outputs hold the most pessimistic value, never old memory. The library never
 * prints, exits or aborts by itself.                                                                              */
#ifndef TAMIS_BASE_H
#define TAMIS_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* TAMIS_API: a function of the library. TAMIS_USE: one whose result must be looked at; compilers warn where it is not. */
#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#define TAMIS_USE __attribute__((visibility("default"), warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_USE
#endif

/* What is between the two is C, also for a C++ compiler. */
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
#define TAMIS_ERROR_ITEMS 64 /* a line of a plan's errors has 60 bytes or more: a message has no room for others */

/* One of the errors in a message, and the place in a file that it is about. It begins at byte `begin` of the message, with the
 * file's name, and ends before the next one. */
typedef struct tamis_error_item {
    uint16_t begin;
    uint16_t file;  /* bytes of the file's name; 0: no file */
    uint16_t text;  /* the byte at which the text behind the place begins */
    uint16_t key;   /* bytes of the plan's key that the text begins with, "design.srs.population"; 0: none */
    int32_t column; /* from 1, in characters; 0: not known */
    int64_t line;   /* from 1; 0: not known */
} tamis_error_item;

/* A piece of the message; length 0: none. */
typedef struct tamis_error_piece {
    uint16_t begin, length;
} tamis_error_piece;

/* Several plan errors are separated by newlines. A message never contains a data value.
 *
 * It has its room in itself, about 5 kB, so that a failure can always be reported, also that there is no memory, and nothing has
 * to be freed. */
typedef struct tamis_error {
    tamis_status status;
    char reason[24];                  /* for programs, one of the words of docs/errors.md: "budget", "plan", ...; empty: none */
    int64_t entry;                    /* a charge that stands although this failed, by its number in the ledger; 0: none */
    tamis_error_piece amount, ledger; /* of that charge: "epsilon 1", and the ledger's path, in the message */
    size_t item_count;                /* 0: the message is one error, about no file */
    tamis_error_item items[TAMIS_ERROR_ITEMS];
    char message[TAMIS_ERROR_SIZE];
} tamis_error;

/* An error as one JSON object on one line, for programs:
 *
 *     {"code": "invalid", "reason": "plan", "message": "...", "key": "design.srs.population", "file": "plan.yaml", "line": 7,
 *      "column": 17, "charged": null, "errors": [{...}, ...]}
 *
 * `errors` has an object with code, message, key, file, line and column for each error of the message, the first of which is
 * repeated at the top. What is not known is null. `charged` is {"ledger", "entry", "amount"} if a charge stands.
 *
 * Needs    `code`: the word for the error, or NULL: that of its status, one of system, invalid, refused, unable. `file`: what
 *          an error without a file is about, or NULL.
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (json or problem is NULL), SYSTEM (memory).                                                       */
TAMIS_USE tamis_status tamis_error_json(char **json, const tamis_error *problem, const char *code, const char *file,
                                        tamis_error *err);

/* Called now and then during long work with the share done in [0, 1], or a negative number while it is unknown, and
 * the rows read so far. A result other than 0 asks to stop: the work ends with TAMIS_SYSTEM, nothing is published. */
typedef int tamis_progress(void *context, double share, int64_t rows);

/* Who watches long work, and can cancel it. All zero: nobody.
 *
 * A release, an estimate and a preview call the function 4 to 20 times a second, in the thread that made the call. Other work
 * calls it several times a second, one call at a time, but perhaps by a thread of the library. To cancel from another thread,
 * let that thread set an atomic flag in the context, and the function return it.                                     */
typedef struct tamis_watch {
    tamis_progress *progress;
    void *context;
} tamis_watch;

/* What a release has done, in this order. */
typedef enum tamis_release_phase {
    TAMIS_PHASE_CHECKED, /* everything that can be checked before the charge; nothing was spent */
    TAMIS_PHASE_CHARGED, /* the charge is durable: from here on a failure has cost something */
    TAMIS_PHASE_READ,    /* the rows were read, and the noisy numbers are durable in the ledger */
    TAMIS_PHASE_WRITTEN  /* the folder, if there is one, has its name */
} tamis_release_phase;

/* Called once after each phase, in the thread that makes the release. A release that was made before has neither CHARGED nor
 * READ. `entry`: the number of the charge in the ledger; 0: none. */
typedef void tamis_phase(void *context, tamis_release_phase phase, int64_t entry);

/* A file to be opened by its path or, if `stream` is given, an open stream whose name in messages is the path. */
typedef struct tamis_stream {
    const char *path;
    FILE *stream;
} tamis_stream;

/* The version of these headers, and as one number: major * 10000 + minor * 100 + patch. */
#define TAMIS_VERSION_TEXT "0.1.0"
#define TAMIS_VERSION_NUMBER 100

/* The same of the library that is running: "1.2.3" and 10203. */
TAMIS_API const char *tamis_version(void);
TAMIS_API int tamis_version_number(void);

/* The same with the libraries that tamis is linked with, one per line, "GMP 6.2.1"; one that was not found on this machine
 * says so. Nothing is loaded for the answer. For bug reports, and for the record of a release.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (text is NULL), SYSTEM (memory).                                                                 */
TAMIS_USE tamis_status tamis_parts_text(char **text, tamis_error *err);

/* The same as one JSON object: {"tamis": "1.2.3", "GMP": "6.2.1", ...}; null for a part that was not found. */
TAMIS_USE tamis_status tamis_parts_json(char **json, tamis_error *err);

/* Frees a text that a tamis function gave; NULL is fine. */
TAMIS_API void tamis_free(void *text);

/* Releases the caches that number theory keeps for the calling thread. Call it before a thread ends. */
TAMIS_API void tamis_thread_done(void);

TAMIS_END

#endif

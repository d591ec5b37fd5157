/* K-randomization for programs that cannot link libtamis: a phone, a questionnaire. Copy this file and tamis_client.c; C99 or
 * later, or C++; nothing is needed but the operating system's randomness, and nothing is allocated.
 *
 * An answer is one or more bits. Each bit lies with a known probability before it leaves the device: a one is reported as zero
 * with `one`, a zero as one with `zero`, exactly. docs/collection.md of tamis has the guarantee; `tamis tally` reads the
 * packed form.
 *
 * All functions return 1 if all went well and 0 if not. Then nothing must be sent: an output of a failed call is no report. */
#ifndef TAMIS_CLIENT_H
#define TAMIS_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The probability over / under. */
typedef struct tamis_client_lie {
    uint64_t over, under;
} tamis_client_lie;

/* What all clients of a collection have in common: it is public, and must be the same, name by name, for all of them. Each lie
 * is above 0, their sum is below 1. A bit of a category is named "region=north", that of a missing answer "smoker=missing";
 * names are UTF-8 without control characters, of 1 to 1024 bytes, and all different. id: the name of a column of client ids,
 * or NULL. */
typedef struct tamis_client_form {
    tamis_client_lie one, zero;
    const char *const *names;
    size_t bits; /* 1 to 65536 */
    const char *id;
} tamis_client_form;

/* The report of a bit with a fresh lie: *report is 0 or 1. */
int tamis_client_report(int *report, int bit, const tamis_client_form *form);

/* The same with a permanent lie: the same answer is reported in the same way in each wave of a collection, so that averaging
 * over waves does not undo it. `answer` is the whole answer to the question, the same text each time: "1" or "0" for yes or
 * no, the name of the category, "" for a missing one; `place` is the place of the bit's name in the form. The secret is drawn
 * once, by tamis_client_secret, and never leaves the device. All waves together reveal no more than one as long as the answer
 * stays the same; each further answer costs again, and a report that changes reveals that the answer did. */
#define TAMIS_CLIENT_SECRET 32
int tamis_client_secret(uint8_t secret[TAMIS_CLIENT_SECRET]);
int tamis_client_report_again(int *report, int bit, const tamis_client_form *form, size_t place, const char *answer,
                              const uint8_t secret[TAMIS_CLIENT_SECRET]);

/* The packed form of one person's reports, one byte 0 or 1 for each bit of the form, in `room` bytes; *size is how many it needs.
 * A server may append what clients send to one file. id: the client's id if the form has an id column, else NULL. */
int tamis_client_pack(uint8_t *bytes, size_t room, size_t *size, const uint8_t *reports, const char *id,
                      const tamis_client_form *form);

#ifdef __cplusplus
}
#endif

#endif

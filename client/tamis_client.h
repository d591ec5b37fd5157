/* Randomized response for programs that cannot link libtamis: on a phone, in a questionnaire. Copy this file and tamis_client.c.
 * They need C99 or later, or C++, and the operating system's randomness; they allocate no memory.
 *
 * An answer is one or more bits. Each bit is flipped with a known probability before it leaves the device: a one is reported as
 * zero with exactly the probability `one`, a zero as one with `zero`. docs/collection.md of tamis describes the guarantee;
 * `tamis tally` reads the packed form.
 *
 * All functions return 1 on success and 0 on failure. After a failure send nothing: its output is not a report. */
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

/* What all clients of a collection share: it is public, and must be exactly the same for all of them. Each lie probability is
 * above 0, and their sum is below 1. A bit of a category is named "region=north", that of a missing answer "smoker=missing";
 * names are UTF-8 without control characters, of 1 to 1024 bytes, and all different. id: the name of a column of client ids,
 * or NULL. */
typedef struct tamis_client_form {
    tamis_client_lie one, zero;
    const char *const *names;
    size_t bits; /* 1 to 65536 */
    const char *id;
} tamis_client_form;

/* The report of a bit with a fresh flip: *report is 0 or 1. */
int tamis_client_report(int *report, int bit, const tamis_client_form *form);

/* The same with a permanent flip: the same answer gives the same report in each wave of a collection, so that the flip cannot be
 * averaged out over waves. `answer` is the whole answer to the question, the same text each time: "1" or "0" for yes or
 * no, the name of the category, "" for a missing one; `place` is the index of the bit's name in the form. The secret is drawn
 * once, by tamis_client_secret, and never leaves the device. All waves together reveal no more than one as long as the answer
 * stays the same; each new answer costs epsilon again, and a report that changes reveals that the answer changed. */
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

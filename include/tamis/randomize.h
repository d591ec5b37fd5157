/* K-randomization at the client: answers become bits, and each bit lies with a known probability before it leaves.
 *
 * A one is reported as zero with probability `lie`, a zero as one with probability `lie_zero`; both are exact fractions and both
 * are public. The reports of a person satisfy local differential privacy whatever the collector, the network or anybody else does
 * with them. docs/collection.md has the guarantee in words, the packed form of reports, and repeated collections;
 * client/tamis_client.h is the same for programs that cannot link this library.
 *
 * Paper    krand; asymmetric lies are optimised unary encoding (Wang, Blocki, Li and Jha 2017).                       */
#ifndef TAMIS_RANDOMIZE_H
#define TAMIS_RANDOMIZE_H

#include <stdio.h>
#include <tamis/rng.h>

TAMIS_BEGIN

/* ---- bits ---- */

/* Two lie probabilities, prepared. Serves any number of threads, each with a generator of its own. */
typedef struct tamis_randomizer tamis_randomizer;

/* Needs    0 < lie, 0 < lie_zero, lie + lie_zero < 1; lie_zero NULL: the same as lie, which is then below 1/2.
 * Gives    a randomizer that the caller frees; NULL on failure. The numbers are copied.
 * Cost     microseconds. Fractions m/2^j with j <= 32 are fastest, and their time is always the same; that of others depends on
 *          the random bits, never on the answers.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_randomizer_new(tamis_randomizer **randomizer, const tamis_number *lie, const tamis_number *lie_zero,
                                            tamis_error *err);
TAMIS_API void tamis_randomizer_free(tamis_randomizer *randomizer); /* NULL is fine */

/* Replaces every bit of `count` words by its report.
 *
 * Gives    words that are all zero on failure: no truth is left in them.
 * Cost     about 0.1 nanoseconds a bit if the lies have up to four binary digits.
 * Errors   INVALID, SYSTEM (no random bits).                                                                          */
TAMIS_USE tamis_status tamis_randomize_bits(uint64_t *words, size_t count, const tamis_randomizer *randomizer, tamis_rng *rng,
                                            tamis_error *err);

/* The local guarantee: for any two sets of answers of a person, no set of reports is more than e^epsilon times as likely under
 * one as under the other. `alone` columns are coded in one bit each: the worst of log((1-lie)/lie_zero) and
 * log((1-lie_zero)/lie). `one_hot` columns in several bits of which at most one is set: two bits may differ,
 * log((1-lie)(1-lie_zero) / (lie lie_zero)).
 *
 * Gives    an enclosure of the sum over the columns, the smallest epsilon that holds; [0, inf] on failure. Publish `upper`.
 * Errors   INVALID, SYSTEM (memory). */
TAMIS_USE tamis_status tamis_randomizer_local(tamis_bound *epsilon, const tamis_randomizer *randomizer, size_t alone,
                                              size_t one_hot, tamis_error *err);

/* ---- repeated collections ---- */

/* Bytes of the secret of a client. It is drawn once, stays at the client, and is worth as much as the answers themselves. */
#define TAMIS_SECRET 32

/* A permanent lie: the same client reports the same answer to the same question in the same way for ever, so that averaging over
 * waves does not undo the lie. U is read from HMAC-SHA-256 under the secret of question and answer; the bit lies if U is below
 * its lie probability. All waves together cost the epsilon of one as long as the answer stays; each further answer of the same
 * person costs it again, and a report that changes reveals that the answer did.
 *
 * Needs    bit 0 or 1; question: the name of the bit; answer: the whole answer, which decides all bits of its column.
 * Gives    0 or 1; 0 on failure.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_randomize_again(int *report, int bit, const tamis_randomizer *randomizer,
                                             const uint8_t secret[TAMIS_SECRET], const char *question, const char *answer,
                                             tamis_error *err);

/* Reads the secret in a file; makes one if there is no such file, readable by its owner only.
 *
 * Gives    TAMIS_SECRET bytes; all zero on failure.
 * Errors   INVALID (not a secret, others may read it), SYSTEM (no random bits, disk).                                */
TAMIS_USE tamis_status tamis_secret_file(uint8_t secret[TAMIS_SECRET], const char *path, tamis_rng *rng, tamis_error *err);

/* ---- files ---- */

/* A column that is coded one-hot: one bit for each category. The list is public and fixed before anybody answers. */
typedef struct tamis_categories {
    const char *column;
    const char *const *values;
    size_t count; /* 2 or more */
} tamis_categories;

typedef struct tamis_collection {
    const tamis_number *lie, *lie_zero; /* as for tamis_randomizer_new */
    const char *const *columns;         /* those that are reported; others are left out. NULL: all of the file */
    size_t column_count;
    const tamis_categories *categories; /* columns that are not here are yes or no: 1/0, yes/no, true/false, in any case */
    size_t categories_count;
    const char *id;        /* a column that is passed on as it is, so that the collector can refuse duplicates; NULL: none */
    int missing_bit;       /* an empty cell sets a bit of its own, "COLUMN=missing"; 0: it is an error */
    int packed;            /* write the packed form; 0: CSV */
    const uint8_t *secret; /* TAMIS_SECRET bytes: permanent lies, keyed by this and the id; NULL: fresh ones */
} tamis_collection;

typedef struct tamis_randomized {
    uint64_t reports;
    size_t bits;       /* of each */
    size_t left_out;   /* columns of the file */
    tamis_bound local; /* epsilon of one person, {0, inf} on failure */
} tamis_randomized;

/* A file: to be opened by its path; or, where `stream` is given, open already, and the path is its name in messages. */
typedef struct tamis_stream {
    const char *path;
    FILE *stream;
} tamis_stream;

/* Randomizes a CSV file, one person per row. The header is kept: a column that is coded one-hot becomes its bits,
 * "region=north", in its place.
 *
 * Needs    out: a path at which there is no file, or a stream.
 * Gives    *facts. A file at a path appears complete or not at all. A stream gets whole blocks of rows, the first of them with
 *          the header: after an error it has none, or some without an end.
 * Cost     one pass, one block in memory.
 * Errors   INVALID (with the line and the column, never a value), SYSTEM. */
TAMIS_USE tamis_status tamis_randomize_file(tamis_randomized *facts, const tamis_stream *out, const tamis_stream *in,
                                            const tamis_collection *collection, tamis_rng *rng, const tamis_watch *watch,
                                            tamis_error *err);

TAMIS_END

#endif

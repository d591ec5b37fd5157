/* Randomized response at the client: answers become bits, and each bit is flipped with a known probability before it is sent.
 *
 * A one is reported as zero with probability `lie`, a zero as one with probability `lie_zero`; both are exact fractions and both
 * are public. The reports of a person satisfy local differential privacy whatever the collector, the network or anybody else does
 * with them. docs/collection.md has the guarantee in words, the packed form of reports, and repeated collections;
 * client/tamis_client.h is the same for programs that cannot link this library.
 *
 * Paper    krand; unequal lie probabilities are optimised unary encoding (Wang, Blocki, Li and Jha 2017).
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_RANDOMIZE_H
#define TAMIS_EXPERIMENTAL_RANDOMIZE_H

#include <tamis/experimental/rng.h>

TAMIS_BEGIN

/* ---- bits ---- */

/* Two lie probabilities, prepared for use. Any number of threads may share it, each with its own generator. */
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
 * Gives    words that are all zero on failure: no true answers are left in them.
 * Cost     about 0.1 nanoseconds per bit if the lie probabilities have up to four binary digits.
 * Errors   INVALID, SYSTEM (no random bits).                                                                          */
TAMIS_USE tamis_status tamis_randomize_bits(uint64_t *words, size_t count, const tamis_randomizer *randomizer, tamis_rng *rng,
                                            tamis_error *err);

/* The local guarantee: for any two sets of answers of a person, no set of reports is more than e^epsilon times as likely under
 * one as under the other. `alone` columns are coded in one bit each: the worst of log((1-lie)/lie_zero) and
 * log((1-lie_zero)/lie). `one_hot` columns in several bits, at most one of them set: two bits may differ,
 * log((1-lie)(1-lie_zero) / (lie lie_zero)).
 *
 * Gives    an enclosure of the sum over the columns, the smallest epsilon that holds; [0, inf] on failure. Publish `upper`.
 * Errors   INVALID, SYSTEM (memory). */
TAMIS_USE tamis_status tamis_randomizer_local(tamis_bound *epsilon, const tamis_randomizer *randomizer, size_t alone,
                                              size_t one_hot, tamis_error *err);

/* ---- repeated collections ---- */

/* Bytes of the secret of a client. It is drawn once, stays at the client, and is as sensitive as the answers. */
#define TAMIS_SECRET 32

/* A permanent flip: the same answer of the same client to the same question always gives the same report, so that the flip cannot
 * be averaged out over waves. U is read from HMAC-SHA-256, under the secret, of question and answer; the bit is flipped if U is
 * below its lie probability. All waves together cost the epsilon of one as long as the answer stays the same; each new answer of
 * the person costs it again, and a report that changes reveals that the answer changed.
 *
 * Needs    bit 0 or 1; question: the name of the bit; answer: the whole answer, which decides all bits of its column.
 * Gives    0 or 1; 0 on failure.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_randomize_again(int *report, int bit, const tamis_randomizer *randomizer,
                                             const uint8_t secret[TAMIS_SECRET], const char *question, const char *answer,
                                             tamis_error *err);

/* Reads the secret from a file; creates one, readable by its owner only, if there is no such file.
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
    const char *const *columns;         /* the columns to report; NULL: all columns of the file */
    size_t column_count;
    const tamis_categories *categories; /* columns that are not here are yes or no: 1/0, yes/no, true/false, in any case */
    size_t categories_count;
    const char *id;        /* a column that is copied unchanged, so that the collector can refuse duplicates; NULL: none */
    int missing_bit;       /* an empty cell sets a bit of its own, "COLUMN=missing"; 0: it is an error */
    int packed;            /* write the packed form; 0: CSV */
    const uint8_t *secret; /* TAMIS_SECRET bytes: permanent flips, keyed by this and the id; NULL: fresh ones */
} tamis_collection;

typedef struct tamis_randomized {
    uint64_t reports;
    size_t bits;       /* per report */
    size_t left_out;   /* columns of the file that are not reported */
    tamis_bound local; /* epsilon of one person, {0, inf} on failure */
} tamis_randomized;

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

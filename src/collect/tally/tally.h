/* The internals of a tally. */
#ifndef TMI_COLLECT_TALLY_TALLY_H
#define TMI_COLLECT_TALLY_TALLY_H

#include <stdbool.h>
#include <tamis/experimental/tally.h>

#include "base/error.h"
#include "base/integer.h"
#include "base/value/json.h"
#include "base/watch.h"
#include "collect/tally/clients.h"

#define TMI_TALLY_GRID 1000000             /* weights are whole multiples of 10^-6 */
#define TMI_TALLY_WEIGHT INT64_C(10000000) /* at most 10^13 < 2^44 grid units: a square is below 2^88, 10^9 of them below 2^118 */

/* Sums of weights w on the grid: over all reports, and over those with a one. */
typedef struct tmi_tally_weights {
    tmi_int128 sum, squares;
    tmi_int128 *sum_ones, *squares_ones; /* for each position */
} tmi_tally_weights;

/* Invariants: 0 <= ones[j] <= reports; the cells, if there are any, add up to reports, and those with bit j to ones[j]. */
struct tamis_tally {
    tamis_number *lie, *lie_zero; /* NULL until known */
    char *id, *weight;            /* columns; NULL: none */
    bool once, table, keep;
    size_t bits; /* 0 until the first file */
    char **names;
    int64_t reports, repeated;
    uint64_t *ones;
    uint64_t *cells; /* of whole reports, 2^bits; NULL: not asked for */
    tmi_tally_weights weights;
    tmi_clients clients;
    uint64_t *kept;     /* the reports, laid out as one long packed block; NULL: not kept */
    size_t kept_words;  /* room */
    char (*merged)[65]; /* hashes of the saved tallies that were added, so that none counts twice */
    size_t merged_count;
};

/* The first file's lie probabilities and names become those of the tally; those of a later one must be the same. Lies may be
 * NULL: those of the tally, which must be known. `path` is for messages. */
tamis_status tmi_tally_agree(tamis_tally *tally, const char *path, const tamis_number *lie, const tamis_number *lie_zero,
                             char *const *names, size_t bits, tamis_error *err);

/* INVALID if there would be more than TAMIS_TALLY_REPORTS. */
tamis_status tmi_tally_room(const tamis_tally *tally, const char *path, uint64_t more, tamis_error *err);

/* Room for `more` reports among those that are kept. */
tamis_status tmi_tally_keep_room(tamis_tally *tally, size_t more, tamis_error *err);

/* One kind of file each. */
tamis_status tmi_tally_add_csv(tamis_tally *tally, const char *path, tmi_watch *watch, tamis_error *err);
tamis_status tmi_tally_add_packed(tamis_tally *tally, const char *path, tmi_watch *watch, tamis_error *err);
tamis_status tmi_tally_add_saved(tamis_tally *tally, const char *path, const char *bytes, size_t length, tamis_error *err);

/* Writes the fields of a saved tally, except the hash, into an open object; and makes the tally that such an object describes. */
tamis_status tmi_tally_put(tmi_json_out *out, const tamis_tally *tally, tamis_error *err);
tamis_status tmi_tally_from_json(tamis_tally **tally, const char *path, const tmi_value *file, tamis_error *err);

/* An exact number as a text: "1/4". */
tamis_status tmi_tally_put_fraction(tmi_json_out *out, const char *key, const tamis_number *x, tamis_error *err);

#endif

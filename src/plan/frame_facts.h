/* What a frame file says about the units of each stratum: enough for a bound of the weights and for what sampling adds for an
 * outsider, who loses most where the probability is largest. The file is public, and a certificate has its hash
 * and these few numbers.                                                                                             */
#ifndef TMI_PLAN_FRAME_FACTS_H
#define TMI_PLAN_FRAME_FACTS_H

#include "base/sha256.h"
#include "base/value/json.h"
#include "num/number.h"

typedef struct tmi_frame_stratum {
    int64_t units, certain; /* of the frame; of them, with probability 1 */
    tamis_number *smallest; /* probability of all units */
    tamis_number *largest;  /* of those below 1; NULL: there are none */
} tmi_frame_stratum;

/* A column of sizes that bound values (`to: {times, of}`). */
typedef struct tmi_frame_bound {
    char *name;
    tamis_number *open;    /* the largest size over probability of the units that are not certain; NULL: there are none */
    tamis_number *certain; /* the largest size of those that are; NULL: there are none */
} tmi_frame_bound;

typedef struct tmi_frame_facts {
    char hash[TMI_SHA256_TEXT]; /* of the file */
    tmi_frame_stratum *strata;  /* in the order of the plan's */
    size_t count;
    tmi_frame_bound *sizes; /* of all columns that bounds are relative to, by name */
    size_t size_count;
} tmi_frame_facts;

void tmi_frame_facts_clear(tmi_frame_facts *facts);
tamis_status tmi_frame_facts_copy(tmi_frame_facts *to, const tmi_frame_facts *from, tamis_error *err);

/* The smallest probability of all; lives as long as the facts. */
const tamis_number *tmi_frame_smallest(const tmi_frame_facts *facts);
int64_t tmi_frame_size(const tmi_frame_facts *facts);

/* Of a column of sizes; NULL if there is none of that name. */
const tmi_frame_bound *tmi_frame_bound_by(const tmi_frame_facts *facts, const char *name);

/* {"sha256", "strata": [{"units", "certain", "smallest", "largest"}], "sizes": [{"column", "open", "certain"}]}, and back.
 *
 * Errors of the way back: INVALID (not such an object, another number of strata, numbers that contradict each other),
 * SYSTEM (memory); the facts are then empty. */
void tmi_put_frame_facts(tmi_json_out *out, const tmi_frame_facts *facts);
tamis_status tmi_frame_facts_read(tmi_frame_facts *facts, const tmi_value *json, size_t strata, tamis_error *err);

#endif

/* The sampled clusters (PSUs) of a weights-only design: a public file with one row per cluster, in which the columns of strata
 * and clusters have the names that they have in the survey. With it totals of clusters are compared within their stratum
 * (standard_errors.h), and the degrees of freedom are public. It is read before the charge. */
#ifndef TMI_MEASURE_FRAME_PSU_FILE_H
#define TMI_MEASURE_FRAME_PSU_FILE_H

#include "base/sha256.h"
#include "base/value/json.h"
#include "plan/plan.h"
#include "variance/group_totals.h"

/* The largest product of strata and labels: an engine distinguishes no more. */
#define TMI_MAX_PSUS (INT64_C(1) << 16)

/* What sensitivities and intervals follow from: a certificate has it. */
typedef struct tmi_psu_facts {
    char hash[TMI_SHA256_TEXT];       /* the hash of the file */
    int64_t *clusters;                /* how many clusters each stratum has */
    size_t strata;                    /* 0 if there is no list */
    bool paired;                      /* the plan has statistics for changes between waves (variance/group_totals.h): */
    int64_t pairs[TMI_CHANGE_GROUPS]; /* of clusters, in each group */
} tmi_psu_facts;

typedef struct tmi_psu_file {
    tmi_psu_facts facts;
    char **strata; /* labels of the strata, in the order of `facts`; NULL if the design has none */
    char **labels; /* labels of clusters, each once */
    size_t label_count;
    int32_t *label_of; /* the number of each cluster's label, stratum by stratum */
} tmi_psu_file;

/* Errors   INVALID names the column and row; SYSTEM; empty then.                                                      */
tamis_status tmi_psu_file_read(tmi_psu_file *psus, const tamis_plan *plan, tamis_error *err);
void tmi_psu_file_clear(tmi_psu_file *psus);

tamis_status tmi_psu_facts_copy(tmi_psu_facts *to, const tmi_psu_facts *from, tamis_error *err);
void tmi_psu_facts_clear(tmi_psu_facts *facts);

/* {"sha256", "clusters": [2, 3, ...], "pairs": [1, 0, ...]}, the last one if clusters are paired, and back. INVALID if it is
 * something else. */
void tmi_put_psu_facts(tmi_json_out *out, const tmi_psu_facts *facts);
tamis_status tmi_psu_facts_read(tmi_psu_facts *facts, const tmi_value *json, tamis_error *err);

int64_t tmi_psu_count(const tmi_psu_facts *facts);

#endif

/* How the rows fit the public list of sampled clusters: reported inside the agency only. A release sees the list alone, and a
 * cluster that is misspelt in it is a cluster without rows to it, while the rows of that cluster are in no pair. */
#ifndef TMI_ESTIMATE_PSUS_H
#define TMI_ESTIMATE_PSUS_H

#include "estimate/sample.h"
#include "measure/frame/psu_file.h"

#define TMI_PSUS_COLUMNS 2 /* that tmi_psus_add adds */

typedef struct tmi_listed_psus {
    tmi_psu_file file;
    const tmi_column *label, *stratum; /* codes of the list; the second is NULL without strata */
} tmi_listed_psus;

/* Reads the list, if the plan names one, and adds columns in which rows have the codes of the list. */
tamis_status tmi_psus_add(tmi_listed_psus *psus, tmi_columns *columns, const tamis_plan *plan, tamis_error *err);
void tmi_psus_clear(tmi_listed_psus *psus);

/* Rows whose cluster is not in the list, and clusters of the list without rows. `strata` is NULL without strata. */
tamis_status tmi_psus_compare(tmi_psu_misfits *misfits, const tmi_listed_psus *psus, const int32_t *labels, const int32_t *strata,
                              size_t rows, tamis_error *err);

#endif

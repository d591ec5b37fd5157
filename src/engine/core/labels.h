/* Labels of units and clusters. Nothing is known about them in advance, so they are collected as they come. */
#ifndef TMI_ENGINE_CORE_LABELS_H
#define TMI_ENGINE_CORE_LABELS_H

#include "engine/core/engine.h"
#include "engine/core/text.h"

/* Distinct labels, each with the code of its stratum, numbered from 0 in the order of first appearance. They are data, so they
 * are wiped when freed. */
typedef struct tmi_labels tmi_labels;
tmi_labels *tmi_labels_new(void); /* NULL if memory runs out */
void tmi_labels_free(tmi_labels *labels);

#define TMI_NO_LABEL (-1)

/* The number of a label, which is added if it is new. TMI_NO_LABEL for a cell without text. */
tamis_status tmi_labels_add(int64_t *number, tmi_labels *labels, int32_t stratum, tmi_cell text, tamis_error *err);

/* The same of many labels at once, which is faster and counts the rows of each. `strata` NULL: all are in stratum 0. A
 * row that is in none of the strata 0 to count - 1 is left out. */
tamis_status tmi_labels_add_all(tmi_labels *labels, const int32_t *strata, size_t count, const tmi_cell *texts, size_t n,
                                tamis_error *err);

int64_t tmi_labels_count(const tmi_labels *labels);

/* The text of label `number`, which must exist; valid until the next label is added. */
tmi_cell tmi_labels_text(const tmi_labels *labels, int64_t number);

/* The rows of label `number` that tmi_labels_add_all counted. */
int64_t tmi_labels_rows(const tmi_labels *labels, int64_t number);

/* counts[s] for the strata 0 to count - 1. */
void tmi_labels_count_in(int64_t *counts, size_t count, const tmi_labels *labels);

/* A TMI_GROUPS column. All labels of the source are added first; then they get their ranks and codes. The column outlives it. */
typedef struct tmi_clusters tmi_clusters;
tmi_clusters *tmi_clusters_new(const tmi_column *column);                 /* NULL if memory runs out */
void tmi_clusters_know(tmi_clusters *clusters, const tmi_labels *labels); /* instead of seeing them; they outlive it */
void tmi_clusters_free(tmi_clusters *clusters);
tamis_status tmi_clusters_see(tmi_clusters *clusters, const int32_t *strata, const tmi_cell *labels, size_t n, tamis_error *err);
tamis_status tmi_clusters_close(tmi_clusters *clusters, tamis_error *err);

/* The codes of rows: value_count of the column where a row is missing. `strata` NULL: there is only one. */
void tmi_cluster_codes(int32_t *codes, const tmi_clusters *clusters, const int32_t *strata, const tmi_cell *labels, size_t n);

#endif

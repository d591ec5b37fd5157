/* A release in memory, and how it is made with an engine of the caller's choice (tests bring their own). */
#ifndef TMI_RELEASE_RELEASE_H
#define TMI_RELEASE_RELEASE_H

#include <tamis/estimate.h>
#include <tamis/preview.h>
#include <tamis/release.h>

#include "engine/core/engine.h"
#include "measure/request/psu_slots.h"
#include "release/certificate.h"
#include "report/preview.h"
#include "report/results.h"

struct tamis_release {
    tmi_watch watch; /* of its schedule, while it is made */
    tmi_schedule schedule;
    tmi_earlier_list earlier; /* which the schedule refers to */
    tmi_int128 **noisy;       /* for each measurement one integer per cell: truth + noise */
    int64_t **answers;        /* for each quantile task its grid points: group by group, ascending in each */
    tmi_results results;
    tmi_account account;
    tmi_promised promised; /* by all of that account */
    const char *version;   /* of the program that made it */
    tmi_certificate *certificate;
    char *folder;  /* where the files are; NULL: nowhere */
    char *remarks; /* for the operator alone, one per line; NULL: none */
};

/* How a run is made. */
typedef struct tmi_run {
    const char *folder;            /* NULL: nothing is written */
    const char *ledger;            /* NULL: nobody keeps count; for tests, and studies of public data */
    bool again;                    /* pay for fresh noise although the same was released before */
    const char *new_account;       /* why a second account over the same source is opened; NULL: none is */
    const char *sign;              /* the file of the secret key; NULL: the certificate is not signed */
    const tmi_plan_source *source; /* of which a repeated release says whether it has changed; NULL: nothing is said */
    bool in_memory;                /* the rows are the caller's, and a repeated release says that it has not read them */
    const char *rows_version;      /* the caller's name for their state; NULL: none */
    bool same_rows;                /* give back what was released, of whatever version */
    tamis_watch watch;
    tamis_phase *phase; /* called after each phase; may be NULL */
    void *phase_context;
    char **ready; /* ends before the charge, and gives the answer of tamis_release_ready; NULL: a release is made */
} tmi_run;

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const tmi_run *run,
                              tamis_error *err);

/* The results, from the noisy numbers. Errors: UNABLE, SYSTEM. */
tamis_status tmi_release_read(tamis_release *release, tamis_error *err);

/* measurements.json of any numbers and points, in the order of the schedule; the caller frees the tree. SYSTEM. */
tamis_status tmi_measurements_tree(tmi_value **tree, const tmi_schedule *schedule, tmi_int128 *const *noisy,
                                   int64_t *const *answers, tamis_error *err);

/* The text of the certificate, which names the hashes of all other files; they are written into the folder on the way, if there
 * is one. `measurements`: measurements.json, which was made before. The caller frees the text. */
tamis_status tmi_release_certify(char **text, const char *measurements, const tamis_release *release, tmi_folder *folder,
                                 tamis_error *err);

/* The length of the longest measurements.json that can come of the schedule. SYSTEM. */
tamis_status tmi_measurements_longest(size_t *length, const tmi_schedule *schedule, tamis_error *err);

/* The numbers of an estimate, which keeps them. */
const tmi_results *tmi_estimate_results(const tamis_estimate *estimate);

/* Gives what an engine reports its reason: `source` if the rows do not fit the plan, else `engine`. Returns the status. */
tamis_status tmi_of_source(tamis_status status, tamis_error *err);

/* The engine that reads the rows; `how` is not NULL. Without `commands` a plan that runs a program is REFUSED. */
tamis_status tmi_engine_for(tmi_engine **engine, const tamis_plan *plan, const tamis_estimate_options *how, bool commands,
                            tamis_error *err);

#endif

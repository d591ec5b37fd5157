/* A release in memory, and the road to it with an engine of the caller's choice (tests bring their own). */
#ifndef TMI_RELEASE_H
#define TMI_RELEASE_H

#include <tamis/release.h>

#include "engine/engine.h"
#include "release/results.h"

struct tamis_release {
    tmi_schedule schedule;
    tmi_int128 **noisy; /* for each measurement one integer a cell: truth + noise */
    tmi_results results;
    tmi_account account;
    char *certificate; /* its text */
    char *folder; /* where the files are; NULL: nowhere */
};

/* How a run is made. */
typedef struct tmi_run {
    const char *folder;       /* NULL: nothing is written */
    const char *ledger;       /* NULL: nobody keeps count; for tests, and studies of public data */
    bool again;               /* pay for fresh noise although the same was released before */
    const char *new_account;  /* why a second account over the same source is opened; NULL: none is */
    tamis_progress *progress; /* may be NULL */
    void *context;
} tmi_run;

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const tmi_run *run,
                              tamis_error *err);

/* The numbers of an estimate, which keeps them. */
const tmi_results *tmi_estimate_results(const tamis_estimate *estimate);

/* The engine that a run asks for. */
tamis_status tmi_engine_for(tmi_engine **engine, const tamis_plan *plan, const tamis_run_options *options,
                            tamis_error *err);

#endif

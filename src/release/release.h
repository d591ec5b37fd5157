/* A release in memory, and the road to it with an engine of the caller's choice (tests bring their own). */
#ifndef TMI_RELEASE_H
#define TMI_RELEASE_H

#include <tamis/release.h>

#include "release/results.h"

struct tamis_release {
    tmi_schedule schedule;
    tmi_int128 **noisy; /* for each measurement one integer a cell: truth + noise */
    tmi_results results;
    char *folder; /* where the files are; NULL: nowhere */
};

tamis_status tmi_release_with(tamis_release **release, const tamis_plan *plan, tmi_engine *engine, const char *folder,
                              tamis_progress *progress, void *context, tamis_error *err);

/* Where the number of rows is public: that it is the declared one is checked before a value is read. */
tamis_status tmi_check_rows(tmi_engine *engine, const tmi_schedule *schedule, const tmi_column *const *columns,
                            size_t column_count, tamis_progress *progress, void *context, tamis_error *err);

/* The engine that a run asks for. */
tamis_status tmi_engine_for(tmi_engine **engine, const tamis_plan *plan, const tamis_run_options *options,
                            tamis_error *err);

#endif

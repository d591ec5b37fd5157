/* What can be expected of differences, quotients and contrasts before any row is read: the expected errors of the numbers that
 * they are made of, and how these vary together. */
#ifndef TMI_SCHEDULE_EXPECTED_CONTRAST_H
#define TMI_SCHEDULE_EXPECTED_CONTRAST_H

#include "schedule/expected/expected.h"

/* Sets what is expected of contrast i, from what is expected of its numbers: one entry for each of its groups, or a single one
 * where the groups of its numbers are alike. Errors: SYSTEM. */
tamis_status tmi_expected_contrast(tmi_expected_statistic *list, const tmi_schedule *schedule, size_t contrast, tamis_error *err);

#endif

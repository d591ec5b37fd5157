/* The sections of a plan, one file each, in the order in which they are read: a statistic needs the columns. */
#ifndef TMI_PLAN_SECTIONS_H
#define TMI_PLAN_SECTIONS_H

#include "plan/plan.h"
#include "plan/schema.h"

/* Each reads the value of its top-level key into the plan (`target` is the tamis_plan). */
tmi_read_value tmi_read_source, tmi_read_design, tmi_read_privacy, tmi_read_columns, tmi_read_statistics;

/* The column of that name, or NULL. */
const tmi_plan_column *tmi_plan_find_column(const tamis_plan *plan, const char *name);

/* Complains that there is no column of that name, with the nearest one, or the first number or category, to choose. */
void tmi_complain_column(tmi_reader *reader, const tmi_yaml *value, const tamis_plan *plan, const char *name,
                         bool number);

/* folder of the plan + file, unless the file is named from the root; freed with tmi_free, NULL without memory */
char *tmi_beside_plan(const char *plan, const char *file);

#endif

/* Strata by several columns, `stratified: {by: [region, area], strata: {north: {urban: {...}, rural: {...}}, ...}}`: the map of
 * the first column holds those of the second, and so on.
 *
 * They become one category that is joined from the others: its values are the strata that exist, and its codes follow from the
 * codes of the columns, so that no text of a file can be mistaken for another stratum. The columns themselves are then recodes of
 * it, as columns are that follow from the strata; what is read from the source are copies of them that no name finds.   */
#ifndef TMI_PLAN_DESIGN_JOINT_STRATA_H
#define TMI_PLAN_DESIGN_JOINT_STRATA_H

#include "plan/design_fields.h"

/* The list of columns, and the nested map with the sizes, read into the design and its columns. */
void tmi_read_joint_strata(tmi_reader *reader, const tmi_value *by, const tmi_value *strata, const tmi_plan_kind *kind,
                           tmi_drawn *drawn, const tmi_plan_stratum *common, tamis_plan *plan);

/* ---- of read.c ---- */

/* The name of a stratum, trimmed as the cells of the file are; NULL after a complaint. */
char *tmi_stratum_name(tmi_reader *reader, const tmi_value *item);

/* The declared category of strata; NULL if it is made of their names, or after a complaint. */
const tmi_plan_column *tmi_strata_column(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, const char *name);

/* The sizes of the stratum that is drawn. */
void tmi_read_stratum(tmi_reader *reader, const tmi_value *value, const tmi_plan_kind *kind, tmi_drawn *drawn,
                      const tmi_plan_stratum *common);

#endif

/* The earlier releases that a plan's changes are measured from: each folder is verified, as `tamis verify` does it, and its
 * numbers are computed again from its noisy integers (verify/earlier.c). Everything in it is public, and all of this comes before
 * the charge. */
#ifndef TMI_RELEASE_EARLIER_H
#define TMI_RELEASE_EARLIER_H

#include "measure/schedule.h"

/* Reads the numbers of all changes of the schedule's plan; empty if it has none.
 *
 * Errors   INVALID (a folder is not there or has no certificate, or a number of this wave is public), REFUSED (a folder does not
 *          verify; it is of the same wave, of other units, or has no such number with the same ranges and groups; two folders
 *          of different releases have one name), SYSTEM. */
tamis_status tmi_earlier_read(tmi_earlier_list *list, const tmi_schedule *schedule, tamis_error *err);

/* The same of one folder: the changes that are since `named` in the plan, from the folder at `path`; others stay as they are. The
 * list has its room, one entry per change. */
tamis_status tmi_earlier_read_folder(tmi_earlier_list *list, const tmi_schedule *schedule, const char *named, const char *path,
                                     tamis_error *err);

/* Room for the changes of a plan, whose `statistic` is set. SYSTEM. */
tamis_status tmi_earlier_make(tmi_earlier_list *list, const tamis_plan *plan, tamis_error *err);

#endif

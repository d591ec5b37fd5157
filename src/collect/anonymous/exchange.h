/* Anonymised whole reports of bits that all lie with the same probability: the exchange bound. */
#ifndef TMI_COLLECT_ANONYMOUS_EXCHANGE_H
#define TMI_COLLECT_ANONYMOUS_EXCHANGE_H

#include <tamis/experimental/anonymous.h>

#include "collect/anonymous/shift.h"

/* An upper bound of delta, for all answers of the others; 1 where the bound says nothing: other forms, lies that differ, more
 * bits than the work limit allows, or too few reports for n (2 lie)^bits to be some 20 at least.
 *
 * With a goal above 0 less is done: it is any upper bound that is at most the goal, or where none is in sight, one that is not.
 *
 * Cost     milliseconds for ten bits, tens of milliseconds for twenty. Errors   SYSTEM (memory). */
tamis_status tmi_exchange_delta(double *delta, const tamis_reports *reports, const tmi_loss_at *at, double goal,
                                tamis_error *err);

/* About what this bound is: not certified, for a search that is. 1 where it says nothing. Cost: less than a millisecond. */
tamis_status tmi_exchange_about(double *delta, const tamis_reports *reports, const tmi_loss_at *at, tamis_error *err);

/* Whether other bounds need not be tried: wherever they were, from 1,000 reports on with n (2 lie)^bits of at least 20, this
 * one was the smallest, and the blanket takes a hundred times as long. */
bool tmi_exchange_suffices(const tamis_reports *reports);

#endif

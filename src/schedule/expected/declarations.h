/* What a plan could declare, and by how much its errors would then be lower. Each declaration is tried on the plan: the tables
 * are chosen again, and what is expected of every statistic is compared.
 *
 * What is public takes effect by itself. A guess only decides where the budget goes, so what it is worth is what a wrong one
 * costs: if the truth were a third of what is assumed, or three times that, how far would tables chosen for the truth be better
 * than those chosen now? */
#ifndef TMI_SCHEDULE_EXPECTED_DECLARATIONS_H
#define TMI_SCHEDULE_EXPECTED_DECLARATIONS_H

#include "schedule/expected/expected.h"

typedef enum tmi_declaration_kind {
    TMI_DECLARE_COMPLETE,     /* missing: none */
    TMI_DECLARE_CONTRIBUTION, /* contribution */
    TMI_DECLARE_OF_UNITS,     /* unit_contribution */
    TMI_DECLARE_PSUS,         /* psus */
    TMI_DECLARE_DEFF,         /* deff */
    TMI_DECLARE_SAMPLE,       /* typical: {sample} */
    TMI_DECLARE_CLUSTER,      /* typical: {cluster} */
    TMI_DECLARATIONS
} tmi_declaration_kind;

typedef struct tmi_declaration {
    tmi_declaration_kind kind;
    double gain;     /* by which part the errors of the statistics that it concerns would be lower, as a geometric mean */
    size_t concerns; /* how many statistics it concerns: their error changes by more than one per cent */
    double value;    /* the design effect that was tried, or the size that is assumed now; else 0 */
} tmi_declaration;

/* Finds the declarations that gain at least five per cent, the best first. The list has room for TMI_DECLARATIONS. Needs what is
 * expected of the schedule's statistics.
 *
 * Errors   SYSTEM; none are found then.                                                                               */
tamis_status tmi_declarations_find(tmi_declaration *list, size_t *count, const tmi_schedule *schedule,
                                   const tmi_expected_statistic *now, tamis_error *err);

/* Whether a declaration of columns is about this one, which a statistic that is measured asks for. */
bool tmi_declaration_is_about(const tmi_schedule *schedule, tmi_declaration_kind kind, const tmi_plan_column *column);

#endif

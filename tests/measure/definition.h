/* Which files are neighbours, from the words of a plan: its setting, its design and its unit (docs/settings.md, docs/plan.md,
 * docs/known-issues.md). Nothing here asks a schedule what it believes: what it believes is tested against this.
 *
 * - A unit keeps its stratum where strata are declared with their sizes and design variables are public. The strata of a design
 *   that is known by its weights alone are nobody's promise.
 * - It keeps its cluster where the design counts clusters and design variables are public. Where units are drawn by themselves
 *   inside clusters, one unit may be all that shows that its cluster was drawn, so that nobody counts the clusters of a file.
 * - Of a unit with an `id` and more rows than are kept, a hash of what they contain says which ones are. That all of them have
 *   one stratum and one cluster is declared; a row without any stratum contradicts nothing that is counted before the charge,
 *   so that the row that is kept may be such a one. Quantiles that a mechanism chooses do without that declaration
 *   (docs/quantiles.md).
 * - It may be gone, or come, where the number of rows is not fixed: the design fixes none, some did not answer, the setting
 *   protects who answered, or strata and sizes are protected. Else another unit takes its place, of which everything may be
 *   missing.
 * - A unit whose probability in the frame is exactly 1 is in every sample of a fixed size, if all answer. */
#ifndef TESTS_SCHEDULE_DEFINITION_H
#define TESTS_SCHEDULE_DEFINITION_H

#include <string.h>

#include "plan/plan.h"

typedef struct definition {
    bool any_stratum, any_cluster; /* where a replaced unit may be; no stratum and no cluster included */
    bool astray;                   /* rows of a unit may have no stratum */
    bool fixed;                    /* the number of units is: nobody is gone without another in his place */
    bool counted;                  /* clusters are found by their rank among those of the file */
} definition;

static inline bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

static inline definition definition_of(const tamis_plan *plan)
{
    static const char *const fixed[] = {"srs", "census", "srs_with_replacement", "pps", "systematic"}, *const counted[] = {
                                                                                                           "cluster",
                                                                                                           "two_stage"};
    const char *kind = plan->design.kind->name;
    const bool hidden = plan->privacy.design_protected;
    const bool counts = is_one_of(kind, counted, 2) && plan->design.second != TMI_SECOND_BERNOULLI,
               answer = plan->privacy.setting->protect != TAMIS_RESPONDENTS;
    return (definition){.any_stratum = !plan->design.by || hidden,
                        .any_cluster = !counts || hidden,
                        .astray = plan->privacy.id != NULL,
                        .fixed = is_one_of(kind, fixed, 5) && !plan->design.nonresponse && answer && !hidden,
                        .counted = counts && !hidden};
}

#endif

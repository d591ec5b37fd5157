/* Four claims of too much amplification, and one formula used in the wrong place: each is refused with its reason. */
#include <tamis/experimental/amplification.h>

#include "base/error.h"
#include "base/memory.h"

/* The formula for simple random sampling needs samples with and without the unit to differ in one record. */
static tamis_status check_as_srs(const tamis_design *design, tamis_error *err)
{
    tamis_exposure *list;
    size_t count;
    tamis_status status = tamis_design_exposures(&list, &count, design, err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) {
        const tamis_exposure *e = &list[i];
        for (size_t k = 0; k < e->absence_count && status == TAMIS_OK; k++)
            if (e->absences[k].far)
                status = tmi_fail(
                    err, TAMIS_REFUSED,
                    "design: not a simple random sample: how samples with and without a unit's cluster differ is not "
                    "known, so log(1 + rate (e^eps - 1)) claims too much privacy; ask for the design itself");
            else if (e->absences[k].distance.exchanges + e->absences[k].distance.additions > 1)
                status = tmi_fail(err, TAMIS_REFUSED,
                                  "design: not a simple random sample: samples with and without a unit can differ in %lld "
                                  "records, so log(1 + rate (e^eps - 1)) claims too much privacy; ask for the design itself",
                                  (long long)(e->absences[k].distance.exchanges + e->absences[k].distance.additions));
    }
    tamis_free(list);
    return status;
}

tamis_status tamis_sampling_facts_check(const tamis_sampling_facts *facts, const tamis_design *design, tamis_error *err)
{
    if (!facts) return tmi_fail(err, TAMIS_INVALID, "facts: NULL");
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (facts->known)
        return tmi_fail(err, TAMIS_REFUSED,
                        "it is known who was sampled, so sampling does not amplify privacy, and only the epsilon of the sample "
                        "holds; a sample becomes known through interviewers who are seen, published lists of clusters and people "
                        "who talk (a plan calls a sample secret with `protect: frame` and "
                        "`secret_sample: yes`)");
    if (facts->by_response)
        return tmi_fail(err, TAMIS_REFUSED,
                        "nonresponse does not amplify privacy: response is behaviour, which others may "
                        "know, not a secret draw; use the sampling rate alone");
    if (facts->looked_at)
        return tmi_fail(err, TAMIS_REFUSED,
                        "the selection depended on protected variables, so it reveals them itself (an allocation or sizes "
                        "taken from answers, a list sorted by them, a second phase that looks at the first); draw "
                        "by public variables, or make those variables public");
    if (facts->one_of_several)
        return tmi_fail(err, TAMIS_REFUSED,
                        "releases of one sample are composed first and amplified once: amplified one by "
                        "one, they would claim too much privacy; give the epsilon and delta of all of them together");
    return facts->as_srs ? check_as_srs(design, err) : TAMIS_OK;
}

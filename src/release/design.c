#include "release/design.h"

static const tmi_design *const designs[TMI_DESIGN_WEIGHTS + 1] = {
    [TMI_DESIGN_SRS] = &tmi_design_srs,
    [TMI_DESIGN_CENSUS] = &tmi_design_census,
};

const tmi_design *tmi_design_of(const tmi_plan_design *design)
{
    return designs[design->kind];
}

/* What there is to know about each way to draw units in one stage. */
#ifndef TMI_SURVEY_DESIGN_METHOD_H
#define TMI_SURVEY_DESIGN_METHOD_H

#include "survey/design/pps.h"

typedef struct tmi_method {
    const char *name;
    /* The design with equal probabilities, of a sample size or a rate; NULL: there is none. */
    tamis_status (*equal)(tamis_design **design, int64_t population, int64_t sample, const tamis_number *rate, tamis_error *err);
    const tmi_pps_method *unequal; /* the design with a probability for each unit; NULL: there is none */
    bool by_rate, with_replacement;
    bool slow;          /* drawing takes longer than reading the frame */
    bool joint_by_list; /* joint probabilities follow from the list of probabilities, whatever its order, in a large frame too */
} tmi_method;

/* The row of a method; NULL for any other number. */
const tmi_method *tmi_method_row(tamis_method method);

/* The methods that draw a fixed number of units with unequal probabilities, by number from 0. */
#define TMI_PPS_METHODS 8
tamis_method tmi_method_pps(size_t i);

#endif

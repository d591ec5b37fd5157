/* What `tamis privacy amplify` was asked, and how the answer is shown. */
#ifndef CLI_PRIVACY_AMPLIFY_H
#define CLI_PRIVACY_AMPLIFY_H

#include "guarantee.h"

typedef struct amplify_request {
    const cli_call *call;
    tamis_plan *plan;
    tamis_design *design;
    tamis_number *own_eps, *delta;
    tamis_number *pure, *profile; /* with --rho or --mu-squared: 0, and that number */
    tamis_sample_promise promise; /* as asked: of the sample, or with --inverse of the frame */
    tamis_sampling_facts facts;
    cli_svg svg;

    tamis_sample_promise sample; /* what holds for a sampled person, one release */
    tamis_bound eps_n, delta_n;  /* with --inverse */
    tamis_number *down_eps, *down_delta;
    tamis_amplified amplified;
} amplify_request;

/* The answer for people, and as JSON. */
tamis_status amplify_show(amplify_request *r, tamis_error *err);
tamis_status amplify_show_json(amplify_request *r, tamis_error *err);

#endif

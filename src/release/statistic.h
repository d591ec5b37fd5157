/* One statistic of one file inside the library. */
#ifndef TMI_RELEASE_STATISTIC_H
#define TMI_RELEASE_STATISTIC_H

#include <tamis/statistic.h>

#include "ledger/account.h"
#include "mech/quantile/quantile.h"
#include "num/number.h"

#define TMI_WEIGHT_STEPS 65536 /* of a weight, between 0 and the largest */

#define TMI_STATISTIC_DELTA "1e-9" /* at which a rho is converted to epsilon, for people */

/* With probability at least this, an answer's rank error is below the one that is stated. */
#define TMI_STATISTIC_CONFIDENCE "0.95"

struct tamis_statistic {
    char *file, *column, *weight;
    char *ledger;   /* path */
    char *identity; /* what was asked, as JSON: the identity of the release */
    tamis_number *step, **at;
    tamis_number *epsilon, *delta, *rho; /* what is charged: epsilon, epsilon and delta, or rho; the others NULL */
    tamis_bound loss[2];                 /* that as epsilon and delta */
    tamis_quantile *quantile;
    bool add_remove;
    int64_t *points; /* the answers */
    size_t count;
    int64_t rows;   /* of the file; -1: not public, because neighbours differ in it */
    double *errors; /* rank errors, in records of the largest weight; infinite: not known */
    double *priors; /* the share of the answer's law that is the measure alone, at least; NaN: not known */
    char *kept;     /* the answers, as the ledger has them */
    tmi_account account;
};

#endif

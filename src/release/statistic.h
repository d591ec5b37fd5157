/* One statistic of one file inside the library. */
#ifndef TMI_RELEASE_STATISTIC_H
#define TMI_RELEASE_STATISTIC_H

#include <tamis/experimental/statistic.h>

#include "ledger/account.h"
#include "mech/quantile/quantile.h"
#include "num/number.h"

#define TMI_WEIGHT_STEPS 65536 /* of a weight, between 0 and the largest */

#define TMI_STATISTIC_DELTA "1e-9" /* at which a rho is converted to epsilon, for people */

/* With probability at least this, all answers are within their rank errors. */
#define TMI_STATISTIC_CONFIDENCE "0.95"

struct tamis_statistic {
    char *file, *column, *weight;
    char *ledger;   /* path */
    char *charge;   /* what was charged, in words */
    char *identity; /* what was asked, as JSON: the identity of the release */
    tamis_number *step, **at;
    tamis_number *epsilon, *delta, *rho; /* what is charged: epsilon, epsilon and delta, or rho; the others NULL */
    tamis_bound loss[2];                 /* that as epsilon and delta */
    bool delta_dropped;                  /* a delta was offered, and the noise does not need it */
    tamis_quantile *quantile;
    bool add_remove;
    int64_t *points; /* the answers */
    size_t count;
    int64_t rows;         /* of the file; -1: not public, because neighbours differ in it */
    double *errors;       /* rank errors, in records of the largest weight; infinite: not known */
    tamis_error no_error; /* its message: why not */
    double *levels;       /* two for each answer: it is the quantile of the file at a level between them; NaN: not known */
    int64_t *ends;        /* two grid points for each: the quantile of the file is between them */
    double *priors;       /* the share of the answer's law that is the measure alone, at least; NaN: not known */
    char *kept;           /* the answers, as the ledger has them */
    tmi_account account;
};

/* Errors, levels and ends of the answers at hand. Errors: SYSTEM. */
tamis_status tmi_statistic_judge(tamis_statistic *statistic, tamis_error *err);

/* Whether the ends of an answer say more than the range does. */
bool tmi_statistic_has_interval(const tamis_statistic *statistic, size_t number);

#endif

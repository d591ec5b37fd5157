/* One private statistic of one file, for a quick try: no plan, no design, one row per person.
 *
 * The order is that of a release: what is asked is checked, the charge is written to FILE.ledger and durable, random bits are
 * drawn, and only then are the values read. The ledger is created by the first call; there is no way around it. The same call
 * again returns the numbers that were kept and spends nothing.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_STATISTIC_H
#define TAMIS_EXPERIMENTAL_STATISTIC_H

#include <tamis/engine.h>
#include <tamis/experimental/quantile.h>

TAMIS_BEGIN

/* Quantiles of a column. */
typedef struct tamis_file_quantile {
    const char *file; /* what an engine reads: .csv, .parquet, .sav ... */
    const char *column;
    const char *weight;             /* a column of weights; NULL: every row counts 1 */
    const tamis_number *max_weight; /* with `weight`: larger ones count as this, and they are rounded to a 65536th of it */
    tamis_quantile_setup what;      /* its max_weight, rows_per_unit and rows are not looked at */
    const tamis_number *budget;     /* of the ledger, when it is created: epsilon, or rho if the call has one; NULL: that of this
                                         call */
    const tamis_number *budget_delta; /* its delta, if it counts one; NULL: the delta of this call */
    int again;                        /* pay for fresh numbers although the same was asked before */
    tamis_engine engine;
    tamis_watch watch;
} tamis_file_quantile;

typedef struct tamis_statistic tamis_statistic;

/* Needs    a file with the columns, numbers; a folder in which FILE.ledger can be written.
 * Gives    a statistic that the caller frees with tamis_statistic_free; NULL on failure. It is private for one row as `what`
 *          promises.
 * Errors   INVALID (what is asked, a missing file or column), REFUSED (the budget), UNABLE, SYSTEM. Until the charge nothing was
 *          read and nothing is spent; after it a failure is SYSTEM, says so, and the same call takes the charge over. No message
 *          depends on a value.
 * Paper    quantile, 3.1 (docs/papers.md#quantile-3-1).                                                              */
TAMIS_USE tamis_status tamis_statistic_quantile(tamis_statistic **statistic, const tamis_file_quantile *asked, tamis_error *err);
TAMIS_API void tamis_statistic_free(tamis_statistic *statistic); /* NULL is fine */

/* {"results": [...], "guarantee": {...}, "spent", "left", "ledger"} with the fields of release.json; and a table for people. The
 * caller frees each text with tamis_free. NULL on failure. */
TAMIS_USE tamis_status tamis_statistic_json(char **json, const tamis_statistic *statistic, tamis_error *err);
TAMIS_USE tamis_status tamis_statistic_text(char **text, const tamis_statistic *statistic, tamis_error *err);

/* What was charged for it: "epsilon 1 (entry 2 of incomes.csv.ledger)". Lives as long as the statistic. */
TAMIS_API const char *tamis_statistic_charge(const tamis_statistic *statistic);

TAMIS_END

#endif

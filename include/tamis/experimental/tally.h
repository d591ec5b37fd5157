/* The collector's side of randomized response: counting reports and estimating shares.
 *
 * Each person sent bits that were flipped with a known lie probability (docs/collection.md). A tally is the number of reports and
 * the number of ones at each position: integers, from which everything else follows. Estimates of shares are unbiased; their
 * confidence intervals are exact, by test inversion, unless reports have weights.
 *
 * A tally is filled from files: CSV with a header and values 0 and 1, the packed form, and tallies that were saved. Reports
 * whose columns or lie probabilities differ from those of the first file are an error. No message contains a value.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_TALLY_H
#define TAMIS_EXPERIMENTAL_TALLY_H

#include <tamis/engine.h>
#include <tamis/experimental/bound.h>

TAMIS_BEGIN

#define TAMIS_TALLY_REPORTS INT64_C(1000000000) /* sums of squared weights, at most 2^88 each, stay below 2^127 */
#define TAMIS_TALLY_TABLE_BITS 10               /* a table of whole reports has 2^bits cells, its covariance the square of it */

/* How reports are read; unused fields but the size are NULL or 0. */
typedef struct tamis_tally_terms {
    size_t size;                  /* sizeof(tamis_tally_terms) */
    const tamis_number *lie;      /* a one is reported as zero with this probability; NULL: as in the packed files */
    const tamis_number *lie_zero; /* a zero is reported as one with this probability; NULL: as lie */
    const char *id;               /* the column of client ids; NULL: none */
    int once;           /* only the first report of a client, in the order of the files, counts; 0: a second one is INVALID */
    const char *weight; /* the column of survey weights: CSV only, on a grid of 10^-6, above 0 and at most 10^7 */
    int keep;           /* keep the reports themselves, for tamis_tally_shuffle */
    int table;          /* count whole reports too, up to TAMIS_TALLY_TABLE_BITS bits */
} tamis_tally_terms;

typedef struct tamis_tally tamis_tally;

/* An empty tally. The terms are copied.
 *
 * Gives    a tally that the caller frees with tamis_tally_free; NULL on failure.
 * Errors   INVALID (lie probabilities not in (0, 1) or with a sum of 1 or more), SYSTEM (memory).                  */
TAMIS_USE tamis_status tamis_tally_new(tamis_tally **tally, const tamis_tally_terms *terms, tamis_error *err);
TAMIS_API void tamis_tally_free(tamis_tally *tally); /* NULL is fine */

/* Adds the reports of a file, or a saved tally. `watch` may be NULL.
 *
 * Needs    a tally on which no call has failed.
 * Cost     packed reports: memory speed. CSV: about ten million cells per second. With ids, 32 to 64 bytes of memory per client.
 * Errors   INVALID (with file and line; the tally is then unusable), SYSTEM.                                         */
TAMIS_USE tamis_status tamis_tally_add(tamis_tally *tally, const char *path, const tamis_watch *watch, tamis_error *err);

/* Reports that an engine counts: only sums leave it. */
typedef struct tamis_tally_source {
    size_t size;              /* sizeof(tamis_tally_source) */
    tamis_engine engine;      /* TAMIS_ENGINE_FITTING: the one that fits */
    const char *const *files; /* that together form one table */
    size_t file_count;
    const char *connection;   /* a PostgreSQL connection string, instead of files; NULL: none */
    const char *table;        /* in DuckDB files and in PostgreSQL; NULL: the only one */
    const tamis_source *rows; /* rows in the caller's memory, or the caller's own engine, instead of all of these; NULL: none */
    const char *columns;      /* "a,b": the columns of the bits, with values 0 and 1 */
} tamis_tally_source;

/* Needs    a tally with lie probabilities, without ids, weights and `keep`.
 * Errors   INVALID (also if a column has values other than 0 and 1), SYSTEM, and those of the engine.                     */
TAMIS_USE tamis_status tamis_tally_add_source(tamis_tally *tally, const tamis_tally_source *source, const tamis_watch *watch,
                                              tamis_error *err);

/* What was counted. tamis_tally_column: NULL if there is no such position; tamis_tally_ones: 0 then. */
TAMIS_API int64_t tamis_tally_reports(const tamis_tally *tally);
TAMIS_API int64_t tamis_tally_positions(const tamis_tally *tally);
TAMIS_API const char *tamis_tally_column(const tamis_tally *tally, int64_t position);
TAMIS_API int64_t tamis_tally_ones(const tamis_tally *tally, int64_t position);
TAMIS_API int64_t tamis_tally_repeated(const tamis_tally *tally); /* reports left out because their client had already reported */

/* The tally as a file: strict JSON of integers and their SHA-256. Two tallies of different people can be added up.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   INVALID (nothing was added), SYSTEM.                                                                     */
TAMIS_USE tamis_status tamis_tally_write(char **text, const tamis_tally *tally, tamis_error *err);

/* The same into a file that must not exist yet; it appears complete or not at all. */
TAMIS_USE tamis_status tamis_tally_save(const tamis_tally *tally, const char *path, tamis_error *err);

/* The reports that were counted, without ids and in random order: every order is equally likely. This step removes the senders;
 * whoever runs it sees them, and must be trusted to forget them. CSV if the name ends in .csv, else
 * packed.
 *
 * Needs    a tally made with `keep`, of CSV and packed files without weights; `path` does not exist yet.
 * Errors   INVALID, SYSTEM (disk, memory, no random bits); there is no file then. */
TAMIS_USE tamis_status tamis_tally_shuffle(const tamis_tally *tally, const char *path, tamis_error *err);

/* ---- estimates ---- */

/* What to compute from a tally. All zero but the size, or no question at all (NULL): 95 % intervals for a large population,
 * delta 10^-6, no categories. */
typedef struct tamis_tally_question {
    size_t size;                    /* sizeof(tamis_tally_question) */
    const tamis_number *confidence; /* NULL: 0.95; above 0, at most 1 - 10^-9 */
    int64_t population;             /* the reporters are a simple random sample of this many people; 0: a large population */
    const char *categories;         /* "region,job": the bits region=... are the one-hot code of one answer, and so on; also with
                                       the lists that tamis randomize takes, "region=north,south;job=..."; NULL: none */
    const tamis_number *delta;      /* of the anonymous guarantee, in (0, 1); NULL: 10^-6 */
    int64_t promised;               /* reports that people were promised to hide among; 0: nothing was promised */
} tamis_tally_question;

/* The share of ones at a position. Standard errors include sampling and flips; for the interval see tamis_tally_shares. */
typedef struct tamis_tally_share {
    double estimate;        /* unbiased: it may be outside [0, 1] */
    double se;              /* of the population: sampling_se and noise_sd together */
    double sampling_se;     /* if no bit had been flipped */
    double noise_sd;        /* of the flips alone: the standard error of the share among the reporters */
    double lower, upper;    /* of the population */
    double reporters_lower; /* of the share among the people who reported; NaN with weights */
    double reporters_upper;
    double consistent; /* the nearest shares >= 0 that add up to 1 over the categories of the answer; NaN: not a category */
} tamis_tally_share;

/* Estimates for all positions.
 *
 * Without weights the intervals are exact: a share is excluded only if a count at least as extreme as the observed one is proved
 * to have probability at most (1 - confidence) / 2 on that side under it. For a large population reports are independent;
 * for a finite one the reporters are a simple random sample. With weights, estimates are those of Horvitz and Thompson, divided
 * by the sum of the weights, or by the population if it is given; their variance is that of sampling with replacement, which
 * includes the flips; the interval is estimate +- t se with reports - 1 degrees of freedom, cut to [0, 1].
 *
 * Needs    at least one report; room for as many shares as there are positions.
 * Gives    all NaN on failure, the intervals [0, 1].
 * Cost     a few milliseconds per position; tenths of a second with a finite population larger than the reporters.
 * Errors   INVALID, UNABLE, SYSTEM. */
TAMIS_USE tamis_status tamis_tally_shares(tamis_tally_share *shares, const tamis_tally *tally,
                                          const tamis_tally_question *question, tamis_error *err);

/* The shares of whole reports, 2^bits of them, bit j of the index being position j; for a large population. `covariance`, the
 * square of that many, may be NULL; so may `consistent`, the nearest shares >= 0 that add up to 1.
 *
 * Needs    a tally with a table.
 * Errors   INVALID, SYSTEM (memory); all NaN on failure.                                                            */
TAMIS_USE tamis_status tamis_tally_table(double *estimates, double *covariance, double *consistent, const tamis_tally *tally,
                                         tamis_error *err);

/* ---- the guarantee ---- */

typedef struct tamis_tally_guarantee {
    tamis_bound local;     /* epsilon of one report with its sender, all bits of it; delta is 0 */
    tamis_bound anonymous; /* epsilon at delta of what is published, if the senders are removed; at most the local one */
    tamis_bound promised;  /* the same for the promised number of reports; equal to it if enough were received */
    int64_t positions;     /* number of positions at which two answers of a person can differ */
} tamis_tally_guarantee;

/* Needs    at least one report.
 * Gives    enclosures, `upper` being the numbers to publish; [0, inf] on failure. If the anonymous epsilon cannot be certified,
 *          its upper end is the local one, which always holds. Bits that are not declared as categories may be any, for the
 *          upper ends; for the lower ends bits of one column, by their names, are the code of one answer.
 * Cost     up to some seconds.
 * Errors   INVALID, SYSTEM. */
TAMIS_USE tamis_status tamis_tally_promise(tamis_tally_guarantee *guarantee, const tamis_tally *tally,
                                           const tamis_tally_question *question, tamis_error *err);

/* ---- output ---- */

/* Everything as one JSON object, {"results": [...], "guarantee": {...}, ...}; as a table for people; the shares as CSV.
 * docs/collection.md describes them.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure.
 * Errors   as tamis_tally_shares and tamis_tally_promise.                                                            */
TAMIS_USE tamis_status tamis_tally_json(char **text, const tamis_tally *tally, const tamis_tally_question *question,
                                        tamis_error *err);
TAMIS_USE tamis_status tamis_tally_text(char **text, const tamis_tally *tally, const tamis_tally_question *question,
                                        tamis_error *err);
TAMIS_USE tamis_status tamis_tally_csv(char **text, const tamis_tally *tally, const tamis_tally_question *question,
                                       tamis_error *err);

/* ---- publishing ---- */

/* What happens if the account was already charged for equal counts. Counts alone do not show whether they come from the same
 * reports, whose loss was charged, or from others, say of the next wave, that happen to have the same sums. */
typedef enum tamis_tally_repeat {
    TAMIS_TALLY_REPEAT_REFUSED, /* REFUSED: the caller has to say which it is */
    TAMIS_TALLY_REPEAT_FREE,    /* the same reports: nothing is charged */
    TAMIS_TALLY_REPEAT_CHARGED  /* other reports: charged again */
} tamis_tally_repeat;

typedef enum tamis_tally_form { TAMIS_TALLY_TEXT, TAMIS_TALLY_JSON, TAMIS_TALLY_CSV } tamis_tally_form;

/* Where a tally is published; unused fields are NULL. */
typedef struct tamis_tally_publication {
    size_t size; /* sizeof(tamis_tally_publication) */
    tamis_tally_form form;
    const char *folder;  /* must not exist yet: release.json, release.csv, report.html, certificate.json */
    const char *sign;    /* the file of a secret key (<tamis/key.h>): also writes certificate.sig */
    const char *save;    /* as tamis_tally_save */
    const char *shuffle; /* as tamis_tally_shuffle */
    const char *ledger;  /* the file of a ledger: the local epsilon is charged to the account of `survey` */
    const char *survey;
    const tamis_number *budget; /* epsilon: the budget of a new account */
    tamis_tally_repeat repeat;
    char **charge; /* gets what was charged, "epsilon 2 (entry 7 of FILE)", freed by the caller with tamis_free */
} tamis_tally_publication;

/* Computes the results, once; charges the account; writes the folder and the other files, each of which appears complete or not
 * at all; and gives the results in one of the forms above. The loss is that of a person who reported, against somebody who
 * knows who sent which report.
 *
 * If it fails after the charge, or is stopped, the same call again goes on and pays nothing; `repeat` is about tallies that were
 * published.
 *
 * Gives    a text that the caller frees with tamis_free; NULL on failure, and no folder and no file then.
 * Errors   INVALID, REFUSED (the budget, or counts that were charged before), UNABLE, SYSTEM (after the charge: the message
 *          names its entry, its amount and what to do). */
TAMIS_USE tamis_status tamis_tally_publish(char **text, const tamis_tally *tally, const tamis_tally_question *question,
                                           const tamis_tally_publication *publication, tamis_error *err);

/* Whether the folder, or the file, is or has the certificate of a tally; and whether it is correct: everything is recomputed from
 * the counts in it. `key`: the file of a public key with which it must be signed, or NULL. The text is for people, the
 * JSON {"ok", "problems", "signature"}; the caller frees either with tamis_free.
 *
 * Errors   INVALID (there is no certificate, or it cannot be read), SYSTEM. 0 and NULL then.                           */
TAMIS_API int tamis_tally_is_certificate(const char *path);
TAMIS_USE tamis_status tamis_tally_verify_text(int *ok, char **text, const char *path, const char *key, tamis_error *err);
TAMIS_USE tamis_status tamis_tally_verify_json(int *ok, char **json, const char *path, const char *key, tamis_error *err);

TAMIS_END

#endif

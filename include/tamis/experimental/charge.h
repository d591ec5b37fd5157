/* Charges of one's own: what tamis_release_new does with a ledger, for mechanisms that the library does not have. The order is
 * that of <tamis/ledger.h>.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_CHARGE_H
#define TAMIS_EXPERIMENTAL_CHARGE_H

#include <tamis/experimental/profile.h>
#include <tamis/ledger.h>

TAMIS_BEGIN

typedef struct tamis_charge {
    const char *survey;  /* whose account */
    const char *wave;    /* NULL, or which wave of the survey: {"name": "2026-Q3", "groups": ["A", "B"], "same_sample": true}.
                            With `groups`, the rotation groups in it, it is a loss of the people in these groups alone: the caller
                            sees to it that groups are fixed and public, and records replaced within them. `same_sample`: the
                            sample of the wave before, which needs the same frozen fields */
    const char *release; /* a name for people, such as that of the plan's file */
    tamis_coin amount;   /* the loss of a sampled person by everything in `measures` together. An epsilon without a delta may have
                            its rho beside it, for accounts that count in rho: the caller sees to it that both hold; NULL, or more
                            than that: epsilon tanh(epsilon/2) */
    /* NULL, or mu^2 of an amount of rho, or of an epsilon without a delta, that is a Gaussian release: given all earlier answers
       its laws are no easier to tell apart than two normal laws mu standard deviations apart. The caller sees to it. For accounts
       that count in mu^2; of an epsilon the smaller of this and 4 Phi^-1(e^epsilon / (1 + e^epsilon))^2 counts */
    const tamis_number *mu_squared;
    tamis_coin budget;  /* the first charge fixes that of the account (tamis_ledger_raise raises it); a later one may have a
                            lower limit of its own, or none: all NULL */
    const char *frozen; /* a JSON object: design, unit, id, ...: fixed by the first charge of the survey and wave, compared field
                            by field; unit, protect, given and design_variables are the same in all waves. "source" in it is not
                            kept, "outsider", if it is there, says what sampling adds: {"design": a design as tamis_design_read
                            takes it}, or a text with the reason why nothing is claimed; it is kept, but not compared */
    const char *measures; /* the identity of the release, everything that shapes its numbers: two charges of an account with the
                             same text ask for the same release */
    int again;            /* pay for fresh noise although the same was released before */
    /* the parts of the declared source, a JSON list of texts, noted when the account is opened; NULL: not said. "file PATH" and
       "file PATH table NAME", the path as seen from the ledger's folder, are also compared as files: two names of one file are
       one part */
    const char *source;
    const char *new_account; /* NULL, or why a survey without an account gets one although another account of the ledger has a
                                part of its source: recorded with the account */
    const char *leftover;    /* NULL: nobody can claim this charge, and it claims none. Else the folder, by its absolute path, in
                             which unpublished numbers stay if this process is killed: whoever claims or voids the charge deletes
                             it first. Empty: there is none. The folder is named like ".june.Xa81kQ": a dot, a name, a dot, six
                             letters or digits; it holds only files. The folder that it is in exists, and no part of the path
                             is a link */
} tamis_charge;

#define TAMIS_LEDGER_HASH 65
#define TAMIS_LEDGER_TIME 21

typedef struct tamis_charged {
    int64_t entry;                /* the number of the charge, and the head of the chain after it: for the certificate */
    char hash[TAMIS_LEDGER_HASH]; /* 64 hexadecimal digits */
    char time[TAMIS_LEDGER_TIME]; /* when it was charged: 2026-11-16T03:17:40Z */
    int clock_behind;             /* the clock of this computer is earlier than the last entry, whose time was used */
    char *measurements;           /* not NULL: the same was released before. Nothing was spent; these are the numbers that
                                     were kept, and the other fields are those of the earlier charge */
    int created, opened;          /* it is the first charge of its ledger, of its account, that was not voided */
    char *new_account;            /* the reason that was recorded when its account was opened; NULL: none */
    int64_t unpublished;          /* not 0: this charge of the same release was never published and was claimed (by
                                     tamis_ledger_ask: would be); nothing more is spent */
    int other_source;             /* with measurements: they were made from another declared source than that of this charge */
    int64_t claim;                /* the number of the entry by which the charge was last claimed; 0: it never was */
    int unfinished;               /* with measurements: the process that kept them ended before it had published them, or just
                                     after; never so for a charge without `leftover` */
    char *rows_version; /* with measurements: the caller's name for the state of the rows that they were made from; NULL:
                                     it gave none */
} tamis_charged;

/* Charges a release to the account of its survey, which is opened by its first charge. The same release again gets the
 * numbers of the earlier one, unless `again` asks for fresh ones; or takes over an earlier charge that was never published:
 * both cost nothing. A second account over the same source, that is with a part in common, needs a reason; what has no `source`
 * is compared by the frozen field of that name.
 *
 * Needs    texts in UTF-8, names of 1 to TAMIS_LEDGER_NAME bytes, others of at most TAMIS_LEDGER_TEXT; epsilon and rho from
 *          0 to TAMIS_MAX_LOSS (of <tamis/experimental/profile.h>), delta from 0 to 1; a budget has an epsilon or rho that is
 *          not 0, and a delta below 1.
 * Gives    the entry, or the earlier one and its release. With `leftover` the ledger holds a lock on the charge until it is
 *          released or the ledger is freed, in a file beside it (FILE-charge-N; an open file for each). On failure all
 *          zero, but for the entry of a charge that is known to be on the disk. The caller clears it with
 *          tamis_charged_clear. On OK the charge is on the disk, whatever happens next.
 * Cost     one wait for the disk.
 * Errors   REFUSED (the budget does not allow it, or is above that of the account; a frozen field differs: the message names it;
 *          no theorem adds this kind of amount to the account; a second account over the same source without a reason; the same
 *          release is just being made by a process that lives; what an interrupted one has left cannot be deleted), INVALID
 *          (also: a reason for a new account where there is one already), UNABLE (the sum of rhos could not be converted),
 *          SYSTEM. On INVALID and REFUSED nothing was spent. On SYSTEM it is unknown whether the charge reached the disk:
 *          if it did, it stays. */
TAMIS_USE tamis_status tamis_ledger_charge(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge,
                                           tamis_error *err);

/* The same question without the charge: `entry` is 0 unless the same was released before. For previews; the ledger may be
 * open for reading only. */
TAMIS_USE tamis_status tamis_ledger_ask(tamis_charged *charged, tamis_ledger *ledger, const tamis_charge *charge,
                                        tamis_error *err);

TAMIS_API void tamis_charged_clear(tamis_charged *charged);

/* Notes that what was charged as `entry` has been released, and keeps its noisy numbers: never noise, never data. Only what
 * is noted may be published: call it first, then give the output its name.
 *
 * Needs    an entry that is a charge and not released yet; measurements as above. One that was charged with `leftover`: by
 *          the ledger that charged it, or the last one that claimed it.
 * Errors   INVALID, REFUSED (it was voided, or claimed by another: the numbers must not be published), SYSTEM. */
TAMIS_USE tamis_status tamis_ledger_released(tamis_ledger *ledger, int64_t entry, const char *measurements, tamis_error *err);

/* All charges of an account as one epsilon and delta of a sampled person: what sampling amplifies, once. Rhos are
 * converted: in an account of (epsilon, delta) at what is left of its delta, in one of rho at `delta` (NULL: 10^-9).
 *
 * Gives    exact numbers that the caller frees, rounded up where rhos were converted; NULL on failure.
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                         */
TAMIS_USE tamis_status tamis_ledger_sample(tamis_number **eps, tamis_number **delta, const tamis_ledger *ledger, size_t account,
                                           const tamis_number *at, tamis_error *err);

/* The design under "outsider" in the frozen fields, as tamis_design_read takes it. NULL if there is none; *reason (may be NULL)
 * then says why no number is claimed. Both live until the ledger is used again. */
TAMIS_API const char *tamis_ledger_design(const char **reason, const tamis_ledger *ledger, size_t account);

/* ---- looking ---- */

/* Accounts in the order of their opening; what other processes wrote later is seen with the next charge. */
TAMIS_API size_t tamis_ledger_accounts(const tamis_ledger *ledger);
TAMIS_API const char *tamis_ledger_survey(const tamis_ledger *ledger, size_t account); /* NULL if there is none */

/* The account of a survey; -1 if there is none. */
TAMIS_API int64_t tamis_ledger_find(const tamis_ledger *ledger, const char *survey);

/* What was spent or is left, in the account's own coin: rho, or epsilon and delta. */
#define TAMIS_SPENDING_WORDS 160
typedef struct tamis_spending {
    int in_rho, in_mu;
    tamis_bound epsilon, delta;       /* if not in_rho */
    tamis_bound rho;                  /* in_rho; also the sum of rhos in an account of (epsilon, delta), and what may be added to
                                   it: {0, 0} as long as there was none */
    tamis_bound mu_squared;           /* in_mu: the same of mu^2, where an account of (epsilon, delta) adds it up */
    char words[TAMIS_SPENDING_WORDS]; /* "epsilon 0.1, delta 1e-06": exact where a short decimal is; else what was spent is
                                         rounded up, and a budget, or what is left of it, down */
} tamis_spending;

/* With rotation groups: the largest number of what some group has spent, the smallest of what is left to one.
 *
 * Needs    an account of the ledger; any output may be NULL.
 * Gives    the upper end of `spent` and the lower end of `left` are the ones to publish. On failure [0, inf] and [0, 1].
 * Errors   INVALID, UNABLE, SYSTEM (memory).                                                                         */
TAMIS_USE tamis_status tamis_ledger_spending(tamis_spending *budget, tamis_spending *spent, tamis_spending *left,
                                             const tamis_ledger *ledger, size_t account, tamis_error *err);

TAMIS_END

#endif
